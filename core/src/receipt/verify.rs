//! Verifies a receipt offline, with only the gateway's public keys. Every host reaches the same decision.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{ALG, Claims, TYP, Trace};
use crate::auth::{Algorithm, KeyId, PublicKey, RustCrypto, Verify as _, read_unchecked_jwk};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::lifecycle::SettlementStatus;
use crate::money::Currency;
use crate::time::parse_rfc3339;
use crate::validate::json::{Pairs, Value};

/// The maximum length of a receipt, in bytes.
const LONGEST: usize = 8 * 1_024;
/// The maximum number of keys: more than any gateway has had.
const MOST_KEYS: usize = 1_000;

/// The claims of a genuine receipt: one signed by a key in `jwks`, a JWK set as a gateway publishes it at `/.well-known/jwks.json`.
///
/// The check is strict. The receipt must be a compact JWS in canonical base64url whose header has `alg` (ES256), `kid` (the RFC
/// 7638 thumbprint of a P-256 key in the set) and `typ` (`settlement-receipt+jwt`) and nothing else: no `crit`, no `b64` and no
/// embedded key. There must be no duplicate members anywhere, and every claim must be present and have the right type. Unknown
/// claims are ignored. Only the gateway can tell whether a later receipt supersedes this one.
///
/// # Errors
/// [`ErrorCode::ReceiptInvalid`]; the detail says what is wrong.
pub fn verify_receipt(jws: &str, jwks: &str) -> Result<Claims> {
    let pending = begin(jws, jwks)?;
    pending.finish(RustCrypto.verify(&pending.key, pending.signed(), pending.signature()))
}

/// The first half of [`verify_receipt`], for a host that verifies signatures itself, as browsers do: checks everything except the
/// signature, and returns the data for that check.
///
/// # Errors
/// [`ErrorCode::ReceiptInvalid`]; the detail says what is wrong.
pub fn begin(jws: &str, jwks: &str) -> Result<Pending> {
    let keys = Keys::parse(jwks)?;
    Pending::open(jws, Some(TYP), |kid| keys.find(kid))
}

/// A receipt whose signature has not been checked. Until then, nothing in it can be trusted.
#[derive(Clone)]
pub struct Pending {
    key: PublicKey,
    signed: String,
    signature: [u8; 64],
    payload: Vec<u8>,
}

fn refuse(detail: impl Into<Cow<'static, str>>) -> Error {
    Error::with(ErrorCode::ReceiptInvalid, detail)
}

impl Pending {
    /// `typ` is the required value in the header; `None` if there must not be one.
    pub(super) fn open(jws: &str, typ: Option<&str>, key: impl FnOnce(&str) -> Option<PublicKey>) -> Result<Self> {
        if jws.len() > LONGEST {
            return Err(refuse("it is too long for a receipt"));
        }
        let parts: Vec<&str> = jws.split('.').collect();
        let [header, payload, signature] = parts.as_slice() else {
            return Err(refuse("it is not a compact JWS: three parts separated by dots"));
        };
        let signed = jws[..header.len() + 1 + payload.len()].to_owned();
        let key = check_header(&decode(header, "the header")?, typ, key)?;
        let payload = decode(payload, "the payload")?;
        let signature = decode(signature, "the signature")?.try_into().map_err(|_| refuse("the signature must be 64 bytes"))?;
        Ok(Self { key, signed, signature, payload })
    }

    /// The public key to check with, as a JWK with only the required members. It may not be on the curve: if it cannot be imported,
    /// the receipt is invalid.
    pub fn jwk(&self) -> String {
        self.key.jwk()
    }

    /// The signed bytes, for ECDSA over P-256 with SHA-256.
    pub fn signed(&self) -> &[u8] {
        self.signed.as_bytes()
    }

    /// The signature, `r‖s`.
    pub fn signature(&self) -> &[u8; 64] {
        &self.signature
    }

    /// The receipt's claims, provided that its signature is `valid`.
    ///
    /// # Errors
    /// [`ErrorCode::ReceiptInvalid`]; the detail says what is wrong.
    pub fn finish(&self, valid: bool) -> Result<Claims> {
        if !valid {
            return Err(refuse("the signature does not match"));
        }
        read_claims(text(&self.payload, "the payload")?)
    }
}

/// The decoder accepts no padding, no other alphabet and no stray bits, so that a part has only one encoding.
fn decode(part: &str, name: &'static str) -> Result<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| refuse(format!("{name} is not base64url without padding")))
}

fn check_header(header: &[u8], typ: Option<&str>, key: impl FnOnce(&str) -> Option<PublicKey>) -> Result<PublicKey> {
    let header = Members::parse(text(header, "the header")?, "the header")?;
    if let Some((name, _)) = header.0.iter().find(|(name, _)| !matches!(name.as_ref(), "alg" | "kid" | "typ")) {
        return Err(refuse(format!("the header must not have {name:?}")));
    }
    if header.text("alg")? != ALG {
        return Err(refuse("alg must be ES256"));
    }
    match (typ, header.find("typ").is_some()) {
        (None, false) => {}
        (Some(wanted), true) if header.text("typ")? == wanted => {}
        (Some(_) | None, _) => return Err(refuse(format!("typ must be {TYP}"))),
    }
    let key = key(&header.text("kid")?).ok_or_else(|| refuse("kid names no key of the set"))?;
    match key.algorithm() {
        Algorithm::EcdsaP256Sha256 => Ok(key),
        Algorithm::Ed25519 => Err(refuse("kid names a key that is not for ES256")),
    }
}

fn text<'a>(bytes: &'a [u8], name: &'static str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| refuse(format!("{name} is not UTF-8")))
}

/// The keys of a set, by thumbprint. The set's own `kid`s are ignored, so that no two keys can be confused.
struct Keys(Vec<PublicKey>);

impl Keys {
    /// The set may contain keys of other kinds and for other uses (RFC 7517, section 5).
    fn parse(jwks: &str) -> Result<Self> {
        let set = Members::parse(jwks, "the key set")?;
        let keys = set.get("keys")?.elements(MOST_KEYS).map_err(|_| refuse("the key set has no keys"))?;
        let usable = keys.into_iter().filter_map(|key| read_unchecked_jwk(key).ok());
        Ok(Self(usable.collect()))
    }

    fn find(&self, kid: &str) -> Option<PublicKey> {
        let id = KeyId::parse(kid)?;
        self.0.iter().find(|key| key.id() == id).copied()
    }
}

/// The members of a JSON object, without duplicates.
struct Members<'a>(Pairs<'a>);

impl<'a> Members<'a> {
    fn parse(json: &'a str, name: &'static str) -> Result<Self> {
        Self::of(Value::parse(json).map_err(|_| refuse(format!("{name} is not JSON")))?, name)
    }

    fn of(value: Value<'a>, name: &'static str) -> Result<Self> {
        let members = value.members().map_err(|_| refuse(format!("{name} is not a JSON object")))?;
        let mut seen = BTreeSet::new();
        if let Some((member, _)) = members.iter().find(|(member, _)| !seen.insert(member.as_ref())) {
            return Err(refuse(format!("{name} has {member:?} twice")));
        }
        Ok(Self(members))
    }

    fn find(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    fn get(&self, name: &str) -> Result<Value<'a>> {
        self.find(name).ok_or_else(|| refuse(format!("{name} is missing")))
    }

    fn text(&self, name: &str) -> Result<String> {
        // With any content: a rail's reference may contain anything.
        serde_json::from_str(self.get(name)?.raw()).map_err(|_| refuse(format!("{name} is not text")))
    }

    /// Text that passes `good`. The dispatch here and below is dynamic to keep the module small for pages that load it.
    fn checked(&self, name: &str, good: &dyn Fn(&str) -> bool) -> Result<String> {
        let text = self.text(name)?;
        if good(&text) { Ok(text) } else { Err(refuse(format!("{name} is not what it should be"))) }
    }

    /// A prefix followed by a ULID.
    fn id(&self, name: &str, prefix: &str) -> Result<String> {
        self.checked(name, &|text| text.strip_prefix(prefix).is_some_and(|id| Ulid::parse(id).is_some()))
    }

    /// Text, or `None` if the member is `null` or absent.
    fn optional(&self, name: &str, read: &dyn Fn(&Self) -> Result<String>) -> Result<Option<String>> {
        if self.find(name).is_none_or(|value| value.raw() == "null") { Ok(None) } else { read(self).map(Some) }
    }

    /// A JSON number without a fraction.
    fn whole<T: std::str::FromStr>(&self, name: &str) -> Result<T> {
        self.get(name)?.raw().parse().map_err(|_| refuse(format!("{name} is not a whole number")))
    }
}

fn read_claims(payload: &str) -> Result<Claims> {
    let it = Members::parse(payload, "the payload")?;
    let ev = Members::of(it.get("ev")?, "ev")?;
    let cur = it.checked("cur", &|code| Currency::from_code(code).is_some())?;
    let decimals = Currency::from_code(&cur).map_or(0, Currency::minor_units);
    let money = |name| it.checked(name, &|text| is_decimal(text, decimals));
    let status = SettlementStatus::from_name(&it.text("status")?).filter(|status| status.is_paid());
    Ok(Claims {
        iss: it.checked("iss", &|text| !text.is_empty())?,
        jti: it.id("jti", "rcpt_")?,
        iat: it.whole("iat")?,
        sub: it.id("sub", "stl_")?,
        env: it.checked("env", &|env| matches!(env, "sandbox" | "live"))?,
        reference: it.text("ref")?,
        amt: money("amt")?,
        fee: money("fee")?,
        rev: money("rev")?,
        cur,
        from: it.id("from", "cli_")?,
        to: it.text("to")?,
        status: status.ok_or_else(|| refuse("status is not that of a settled payment"))?,
        settled_at: it.checked("settled_at", &|text| parse_rfc3339(text).is_some())?,
        provider: it.text("provider")?,
        rail_ref: it.optional("rail_ref", &|it| it.text("rail_ref"))?,
        ev: Trace { n: ev.whole("n")?, head: ev.checked("head", &|text| text.len() == 64 && text.bytes().all(is_hex))? },
        supersedes: it.optional("supersedes", &|it| it.id("supersedes", "rcpt_"))?,
    })
}

/// `12.50` for a currency with two decimals, `12` for one without.
fn is_decimal(text: &str, decimals: u8) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        None => decimals == 0 && digits(text),
        Some((whole, fraction)) => fraction.len() == usize::from(decimals) && digits(whole) && digits(fraction),
    }
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
