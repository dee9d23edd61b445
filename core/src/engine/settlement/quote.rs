//! Quotes: a fee that is valid for a limited time. Nothing is stored; the quote's id contains its terms, under a MAC.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::api::Caller;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::route::{Availability, Charge, FeeRefund};
use crate::time::Millis;
use crate::trace::hex;
use crate::validate::CreateRequest;

use crate::engine::Engine;

const PREFIX: &str = "quo_";
/// Expiry, fee and provider.
const PROMISE: usize = 18;
const TAG: usize = 16;

/// What a payment costs, at whom, and how long that holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Priced {
    pub(crate) provider: ProviderNo,
    pub(crate) charge: Charge,
    /// When a quote of them expires.
    pub(crate) until: Millis,
}

impl Engine {
    /// The id of a quote for `request`: expiry, fee, provider and, if reversals give something of the fee back, how much, with a tag
    /// that binds them to the caller and the request.
    pub(crate) fn quote_id(&self, caller: &Caller, mode: Mode, request: &CreateRequest, priced: &Priced) -> Result<String> {
        let mut bytes = Vec::with_capacity(PROMISE + TAG);
        bytes.extend(priced.until.to_be_bytes());
        bytes.extend(priced.charge.fee.to_be_bytes());
        bytes.extend(priced.provider.0.to_be_bytes());
        bytes.extend(refund_code(priced.charge.refund));
        let tag = self.quote_tag(&bytes, caller, mode, request)?;
        bytes.extend(tag);
        Ok(format!("{PREFIX}{}", hex(&bytes)))
    }

    /// The terms of a quote, if this gateway issued it for this very payment and it is still valid.
    pub(crate) fn quoted(&self, quote: &str, caller: &Caller, mode: Mode, request: &CreateRequest, now: Millis) -> Result<Priced> {
        let unknown = || Error::field("/quote_id", "quote_unknown", "not a quote of this gateway for this payment");
        let bytes = quote.strip_prefix(PREFIX).and_then(unhex).filter(|b| b.len() >= PROMISE + TAG).ok_or_else(unknown)?;
        let (promise, tag) = bytes.split_at(bytes.len() - TAG);
        if !bool::from(self.quote_tag(promise, caller, mode, request)?.as_slice().ct_eq(tag)) {
            return Err(unknown());
        }
        let until = i64::from_be_bytes(array(&promise[..8]));
        let fee = i64::from_be_bytes(array(&promise[8..16]));
        let provider = ProviderNo(u16::from_be_bytes(array(&promise[16..18])));
        let refund = FeeRefund::ALL.iter().copied().find(|refund| promise[PROMISE..].iter().copied().eq(refund_code(*refund)));
        let charge = Charge { fee, refund: refund.ok_or_else(unknown)? };
        if until <= now {
            return Err(Error::new(ErrorCode::QuoteExpired));
        }
        let routes = self.routes();
        if routes.is_books(provider) != routes.are_between_clients(request.to.namespace()) {
            return Err(Error::with(ErrorCode::QuoteExpired, "payments to this payee go another way now"));
        }
        let spec = routes.provider(provider).filter(|spec| spec.availability == Availability::Enabled);
        let spec = spec.ok_or_else(|| Error::with(ErrorCode::QuoteExpired, "the quote's provider takes no payments any more"))?;
        if request.provider.as_ref().is_some_and(|pinned| *pinned != spec.id) {
            return Err(Error::field("/provider", "provider_differs", "the quote is for another provider"));
        }
        Ok(Priced { provider, charge, until })
    }

    fn quote_tag(&self, promise: &[u8], caller: &Caller, mode: Mode, request: &CreateRequest) -> Result<Vec<u8>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.id_key.0).map_err(|_| Error::new(ErrorCode::Internal))?;
        mac.update(b"railgate-quote-v1\0");
        mac.update(promise);
        mac.update(&caller.client.0.to_be_bytes());
        mac.update(&[mode.code()]);
        mac.update(&request.money.minor().to_be_bytes());
        mac.update(request.money.currency().code().as_bytes());
        mac.update(request.to.as_str().as_bytes());
        Ok(mac.finalize().into_bytes()[..TAG].to_vec())
    }
}

/// No byte for a fee that is kept: so an id is as short as it was before fees could be given back.
fn refund_code(refund: FeeRefund) -> Option<u8> {
    match refund {
        FeeRefund::Nothing => None,
        FeeRefund::Proportional => Some(1),
        FeeRefund::Full => Some(2),
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}
