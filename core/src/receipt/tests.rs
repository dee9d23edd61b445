//! The content and the forms of a receipt, and what is not a valid one.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::auth::{PublicKey, RustCrypto, SoftwareKey, Verify as _, parse_jwk};
use crate::error::ErrorCode;
use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::money::{Currency, grouped};
use crate::participant::{Participant, Reference};
use crate::store::record::SettlementMore;

const AT: i64 = 1_795_257_497_042;

fn key(n: u8) -> SoftwareKey {
    SoftwareKey::p256(&[n; 32]).unwrap()
}

fn jwks(keys: &[&SoftwareKey]) -> String {
    format!("{{\"keys\":[{}]}}", keys.iter().map(|key| key.public_key().jwk()).collect::<Vec<_>>().join(","))
}

fn record(amount: i64, currency: &str, to: &str) -> SettlementRecord {
    SettlementRecord {
        no: SettlementNo(7),
        client: ClientNo(1),
        reference: Reference::parse("inv-1").unwrap(),
        mode: Mode::Sandbox,
        status: SettlementStatus::Completed,
        version: 5,
        needs_review: false,
        amount,
        currency: Currency::from_code(currency).unwrap(),
        to: Participant::parse(to).unwrap(),
        provider: ProviderNo(1),
        fee: 5,
        reversed: 0,
        reversing: 0,
        attempts: 1,
        reversals: 0,
        transfers: 4,
        hold: 1,
        salt: 9,
        head: [0xab; 32],
        created_at: AT,
        updated_at: AT,
        completed_at: Some(AT),
        expires_at: None,
        more: None,
        user: None,
    }
}

fn of(record: &SettlementRecord) -> Claims {
    let moment = Moment { n: 5, at: AT, hash: [0xab; 32] };
    claims("https://pay.example", &IdKey([1; 16]), Ulid(3), "simulator", record, (moment, None))
}

fn receipt() -> Receipt {
    Receipt::sign(of(&record(1_050, "EUR", "iban:DE89370400440532013000")), None, &key(1)).unwrap()
}

#[track_caller]
fn refused(jws: &str, jwks: &str) -> String {
    let error = verify_receipt(jws, jwks).unwrap_err();
    assert_eq!(error.code, ErrorCode::ReceiptInvalid, "{jws}");
    error.detail.to_string()
}

fn part(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// Signs an arbitrary header and payload.
fn signed(header: &str, payload: &str, key: &SoftwareKey) -> String {
    let input = format!("{}.{}", part(header), part(payload));
    let signature = key.sign(input.as_bytes()).unwrap();
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn unpacked(receipt: &Receipt) -> (String, String) {
    let mut parts = receipt.jws.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
    let mut next = || String::from_utf8(parts.next().unwrap()).unwrap();
    (next(), next())
}

#[test]
fn a_receipt_says_what_the_contract_names() {
    let receipt = receipt();
    let (header, payload) = unpacked(&receipt);
    let kid = key(1).public_key().id();
    assert_eq!(header, format!(r#"{{"alg":"ES256","kid":"{kid}","typ":"settlement-receipt+jwt"}}"#));
    let payload: Value = serde_json::from_str(&payload).unwrap();
    let names: Vec<&str> = payload.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = vec![
        "iss",
        "jti",
        "iat",
        "sub",
        "env",
        "ref",
        "amt",
        "cur",
        "fee",
        "from",
        "to",
        "status",
        "settled_at",
        "provider",
        "rail_ref",
        "rev",
        "ev",
    ];
    wanted.sort_unstable();
    let mut found = names.clone();
    found.sort_unstable();
    assert_eq!(found, wanted);
    assert_eq!((&payload["amt"], &payload["cur"], &payload["fee"]), (&"10.50".into(), &"EUR".into(), &"0.05".into()));
    assert_eq!((&payload["to"], &payload["iat"], &payload["ev"]["n"]), (&"iban:***3000".into(), &1_795_257_497_i64.into(), &5.into()));
    assert_eq!(payload["ev"]["head"], "ab".repeat(32));
    assert_eq!(payload["settled_at"], "2026-11-21T10:38:17.042Z");
    assert!(payload["jti"].as_str().unwrap().starts_with("rcpt_") && payload["sub"].as_str().unwrap().starts_with("stl_"));
    assert_eq!(verify_receipt(&receipt.jws, &jwks(&[&key(2), &key(1)])).unwrap(), receipt.claims);
    // The same state results in the same bytes.
    let again = Receipt::sign(receipt.claims.clone(), None, &key(1)).unwrap();
    assert_eq!(again, receipt);
}

#[test]
fn the_payee_is_shown_by_namespace_and_at_most_half_of_the_rest() {
    for (to, masked) in [
        ("msisdn:+254700000001", "msisdn:***0001"),
        ("iban:DE89370400440532013000", "iban:***3000"),
        ("acct:12345678901", "acct:***01"),
        ("acct:123456", "acct:***56"),
        ("acct:12345", "acct:***"),
        ("sim:ok", "sim:***"),
        ("email:ann@example.org", "email:***.org"),
        ("alias:مطعم-الزيتونة", "alias:***تونة"),
        ("wallet:日本語", "wallet:***"),
    ] {
        let claims = of(&record(1, "EUR", to));
        assert_eq!(claims.to, masked);
        let identifier = to.split_once(':').unwrap().1.chars().count();
        let shown = masked.split_once("***").unwrap().1.chars().count();
        assert!(shown <= 4 && shown * 2 <= identifier, "{to}");
    }
}

#[test]
fn amounts_have_their_currency_s_decimals() {
    for (minor, currency, amt, fee) in [
        (1_050, "EUR", "10.50", "0.05"),
        (1_050, "JPY", "1050", "5"),
        (1_050, "KWD", "1.050", "0.005"),
        (999_999_999_999_999, "EUR", "9999999999999.99", "0.05"),
    ] {
        let receipt = Receipt::sign(of(&record(minor, currency, "sim:ok")), None, &key(1)).unwrap();
        let read = verify_receipt(&receipt.jws, &jwks(&[&key(1)])).unwrap();
        assert_eq!((read.amt.as_str(), read.fee.as_str()), (amt, fee));
        let view = serde_json::to_string(&receipt.view()).unwrap();
        assert!(view.contains(&format!("\"amount\":{amt},\"currency\":\"{currency}\",\"fee\":{fee},")), "{view}");
        assert!(receipt.text().contains(&format!("Amount:          {} {currency}\n", grouped(amt))), "{}", receipt.text());
    }
}

#[test]
fn a_later_receipt_names_the_one_before() {
    let record = record(1_050, "EUR", "sim:ok");
    let moment = |n, at| Moment { n, at, hash: [n as u8; 32] };
    let made = |moments| claims("x", &IdKey([1; 16]), Ulid(3), "simulator", &record, moments);
    let first = made((moment(5, AT), None));
    let second = made((moment(8, AT + 1_000), Some(moment(5, AT))));
    assert_eq!((first.supersedes.as_ref(), second.supersedes.as_ref()), (None, Some(&first.jti)));
    assert_ne!(first.jti, second.jti);
    let receipt = Receipt::sign(second.clone(), None, &key(1)).unwrap();
    assert_eq!(verify_receipt(&receipt.jws, &jwks(&[&key(1)])).unwrap(), second);
    assert!(receipt.html().contains(&first.jti) && receipt.text().contains(&first.jti));
}

#[test]
fn whatever_is_changed_is_noticed() {
    let receipt = receipt();
    let keys = jwks(&[&key(1)]);
    // Every character: replaced by another of the alphabet, by another byte, removed.
    for at in 0..receipt.jws.len() {
        let (before, after) = (&receipt.jws[..at], &receipt.jws[at + 1..]);
        let other = if receipt.jws[at..].starts_with('A') { 'B' } else { 'A' };
        for changed in [format!("{before}{other}{after}"), format!("{before}={after}"), format!("{before}{after}")] {
            assert!(verify_receipt(&changed, &keys).is_err(), "at {at}: {changed}");
        }
    }
    // Every claim, signed by somebody else's key under the right name.
    let (header, payload) = unpacked(&receipt);
    assert_eq!(refused(&signed(&header, &payload, &key(2)), &keys), "the signature does not match");
    let parts: Vec<&str> = receipt.jws.split('.').collect();
    let forged = payload.replace("10.50", "99.50");
    assert_ne!(forged, payload);
    assert_eq!(refused(&[parts[0], &part(&forged), parts[2]].join("."), &keys), "the signature does not match");
    for (jws, _) in [("", ""), (".", ""), ("..", ""), ("a.b.c", ""), (&format!("{}.x", receipt.jws) as &str, ""), (&"A".repeat(9_000), "")]
    {
        refused(jws, &keys);
    }
    for spaced in [format!(" {}", receipt.jws), format!("{}\n", receipt.jws), receipt.jws.replace('.', " .")] {
        refused(&spaced, &keys);
    }
}

#[test]
fn only_the_one_header_will_do() {
    let receipt = receipt();
    let (header, payload) = unpacked(&receipt);
    let (keys, signer) = (jwks(&[&key(1)]), key(1));
    let kid = signer.public_key().id().to_string();
    let with = |more: &str| header.replace("}", &format!(",{more}}}"));
    for (header, why) in [
        (header.replace("ES256", "none"), "alg must be ES256"),
        (header.replace("ES256", "HS256"), "alg must be ES256"),
        (header.replace("ES256", "es256"), "alg must be ES256"),
        (header.replace("settlement-receipt+jwt", "JWT"), "typ must be settlement-receipt+jwt"),
        (header.replace("settlement-receipt+jwt", "application/settlement-receipt+jwt"), "typ must be settlement-receipt+jwt"),
        (format!(r#"{{"alg":"ES256","kid":"{kid}"}}"#), "typ must be settlement-receipt+jwt"),
        (header.replace(&kid, "nobody"), "kid names no key of the set"),
        (r#"{"alg":"ES256","typ":"settlement-receipt+jwt"}"#.to_owned(), "kid is missing"),
        (format!(r#"{{"kid":"{kid}","typ":"settlement-receipt+jwt"}}"#), "alg is missing"),
        (with(r#""crit":["exp"]"#), "the header must not have \"crit\""),
        (with(r#""b64":false"#), "the header must not have \"b64\""),
        (with(&format!(r#""jwk":{}"#, signer.public_key().jwk())), "the header must not have \"jwk\""),
        (with(r#""jku":"https://evil.example""#), "the header must not have \"jku\""),
        (with(r#""alg":"ES256""#), "the header has \"alg\" twice"),
        (with(r#""\u0061lg":"ES256""#), "the header has \"alg\" twice"),
        ("[]".to_owned(), "the header is not a JSON object"),
        ("{".to_owned(), "the header is not JSON"),
        (header.replace("\"ES256\"", "1"), "alg is not text"),
    ] {
        assert_eq!(refused(&signed(&header, &payload, &signer), &keys), why, "{header}");
    }
}

#[test]
fn every_claim_is_there_once_and_of_its_kind() {
    let receipt = receipt();
    let (header, payload) = unpacked(&receipt);
    let (keys, signer) = (jwks(&[&key(1)]), key(1));
    let with = |more: &str| format!("{},{more}}}", payload.strip_suffix('}').unwrap());
    let accepted = |payload: &str| verify_receipt(&signed(&header, payload, &signer), &keys);
    // Claims of a later version are ignored; null counts as an absent optional claim.
    assert_eq!(accepted(&with(r#""later":{"x":1}"#)).unwrap(), receipt.claims);
    assert_eq!(accepted(&with(r#""supersedes":null"#)).unwrap(), receipt.claims);
    for (payload, why) in [
        (with(r#""amt":"10.50""#), "the payload has \"amt\" twice"),
        (with(r#""later":1,"later":1"#), "the payload has \"later\" twice"),
        (with(r#""supersedes":"rcpt_x""#), "supersedes is not what it should be"),
        (payload.replace("10.50", "10.5"), "amt is not what it should be"),
        (payload.replace("\"10.50\"", "10.50"), "amt is not text"),
        (payload.replace("10.50", "-1.50"), "amt is not what it should be"),
        (payload.replace("10.50", "1e1.50"), "amt is not what it should be"),
        (payload.replace("EUR", "EUX"), "cur is not what it should be"),
        (payload.replace("sandbox", "Sandbox"), "env is not what it should be"),
        (payload.replace("completed", "accepted"), "status is not that of a settled payment"),
        (payload.replace("rcpt_", "stl_"), "jti is not what it should be"),
        (payload.replace("\"n\":5", "\"n\":5.0"), "n is not a whole number"),
        (payload.replace("\"n\":5", "\"n\":\"5\""), "n is not a whole number"),
        (payload.replace("\"n\":5", "\"n\":5,\"n\":6"), "ev has \"n\" twice"),
        (payload.replace("abab", "ABAB"), "head is not what it should be"),
        (payload.replace("\"iat\":", "\"nbf\":"), "iat is missing"),
        (payload.replace("2026-11-21T", "yesterday "), "settled_at is not what it should be"),
        ("7".to_owned(), "the payload is not a JSON object"),
        (String::new(), "the payload is not JSON"),
    ] {
        assert_eq!(refused(&signed(&header, &payload, &signer), &keys), why, "{payload}");
    }
}

#[test]
fn a_key_set_may_hold_others_and_must_be_one() {
    let receipt = receipt();
    let own = key(1).public_key().jwk();
    let others = r#"{"kty":"RSA","n":"AQ","e":"AQAB"},{"kty":"oct","k":"AQ"},{},7"#;
    let named = own.replace("\"kty\"", "\"kid\":\"any\",\"use\":\"sig\",\"alg\":\"ES256\",\"kty\"");
    for keys in [format!(r#"{{"keys":[{others},{own}]}}"#), format!(r#"{{"keys":[{named}],"more":1}}"#)] {
        assert!(verify_receipt(&receipt.jws, &keys).is_ok(), "{keys}");
    }
    let encrypts = own.replace("\"kty\"", "\"use\":\"enc\",\"kty\"");
    let misnamed = key(2).public_key().jwk().replace("\"kty\"", &format!("\"kid\":\"{}\",\"kty\"", receipt.key_id));
    for (keys, why) in [
        (jwks(&[&key(2)]), "kid names no key of the set"),
        (format!(r#"{{"keys":[{encrypts}]}}"#), "kid names no key of the set"),
        (format!(r#"{{"keys":[{misnamed}]}}"#), "kid names no key of the set"),
        (r#"{"keys":[]}"#.to_owned(), "the key set has no keys"),
        (r#"{"keys":{}}"#.to_owned(), "the key set has no keys"),
        (format!(r#"{{"keys":[{own}],"keys":[{own}]}}"#), "the key set has \"keys\" twice"),
        (own.clone(), "keys is missing"),
        ("[]".to_owned(), "the key set is not a JSON object"),
        (String::new(), "the key set is not JSON"),
    ] {
        assert_eq!(refused(&receipt.jws, &keys), why, "{keys}");
    }
    // An Ed25519 key with that name is not for ES256.
    let edwards = SoftwareKey::ed25519(&[1; 32]);
    let (header, payload) = unpacked(&receipt);
    let header = header.replace(&receipt.key_id.to_string(), &edwards.public_key().id().to_string());
    assert_eq!(refused(&signed(&header, &payload, &edwards), &jwks(&[&edwards])), "kid names a key that is not for ES256");
}

#[test]
fn people_read_amounts_in_groups_and_times_in_words() {
    let mut record = record(1_234_567_890, "KWD", "sim:ok");
    record.reversed = 1_000;
    record.status = SettlementStatus::PartiallyReversed;
    let receipt = Receipt::sign(of(&record), Some("two\nlines\tof it".to_owned()), &key(1)).unwrap();
    let heading = receipt.heading();
    assert_eq!((heading.amount.as_str(), heading.currency, heading.status), ("1,234,567.890", "KWD", "Paid, a part of it given back"));
    let rows = receipt.rows();
    let value = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.value.as_ref());
    assert_eq!(value("Settled"), Some("21 November 2026, 10:38:17 UTC"));
    assert_eq!((value("Fee"), value("Given back")), (Some("0.005 KWD"), Some("1.000 KWD")));
    assert_eq!((value("Description"), value("Replaces")), (Some("two lines of it"), None));
    // That does not affect the signed content.
    let read = verify_receipt(&receipt.jws, &jwks(&[&key(1)])).unwrap();
    assert_eq!((read.amt.as_str(), read.settled_at.as_str()), ("1234567.890", "2026-11-21T10:38:17.042Z"));
    let nothing_back = Receipt::sign(of(&self::record(1, "JPY", "sim:ok")), None, &key(1)).unwrap();
    assert!(nothing_back.rows().iter().all(|row| row.name != "Given back"));
}

/// Text by others in every place where it can occur.
fn hostile(text: &str) -> Receipt {
    let mut record = record(1_050, "EUR", "sim:ok");
    record.more = Some(Arc::new(SettlementMore { rail_reference: Some(text.to_owned()), ..SettlementMore::default() }));
    let mut claims = of(&record);
    claims.iss = format!("https://pay.example/{text}");
    Receipt::sign(claims, Some(text.to_owned()), &key(1)).unwrap()
}

#[test]
fn a_receipt_is_drawn_elsewhere_from_its_parts() {
    let described = |description: Option<&str>| Receipt { description: description.map(str::to_owned), ..receipt() };
    let mut nameless = receipt();
    nameless.claims.rail_ref = Some(String::new());
    nameless.claims.supersedes = Some("rcpt_=".to_owned());
    for one in [receipt(), hostile("=\0\n\"é"), described(Some("")), described(Some("=")), nameless] {
        let again = Receipt::of_parts(one.parts()).unwrap();
        assert_eq!(again, one);
        for form in [Form::Page, Form::Image, Form::Text] {
            assert_eq!(again.drawn(form).unwrap(), one.drawn(form).unwrap());
            assert_eq!(Form::of(form.content_type().split(';').next().unwrap()), Some(form));
        }
    }
    assert_eq!(Form::of("application/pdf"), None);
    let parts = receipt().parts();
    for other in [parts[1..].to_vec(), parts[..parts.len() - 1].to_vec(), [parts.clone(), vec![String::new()]].concat(), Vec::new()] {
        assert_eq!(Receipt::of_parts(other).unwrap_err().code, ErrorCode::ReceiptInvalid);
    }
}

#[test]
fn the_page_shows_any_text_and_runs_none() {
    let hostile_text = "<script>alert(1)</script><img src=x onerror='a'> \"&amp;";
    let page = hostile(hostile_text).html();
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("onerror='"), "{page}");
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt; &quot;&amp;amp;";
    assert_eq!(page.matches(escaped).count(), 4);
    for outside in ["http:", "src=", "href=", "url(", "@import", " style="] {
        let found = page.replace("http://www.w3.org/2000/svg", "").replace(escaped, "");
        assert!(!found.contains(outside), "{outside}");
    }

    // Long, non-Latin and right-to-left.
    for text in ["मुंबई".repeat(28), "東京都渋谷区".repeat(20), "فاتورة رقم 17 שלום".to_owned(), "x".repeat(140)]
    {
        let receipt = hostile(&text);
        let page = receipt.html();
        assert!(page.contains(&format!("<div dir=\"auto\">{text}</div>")) && page.contains(&format!("<bdi>{text}</bdi>")), "{text}");
        assert!(receipt.text().contains(&format!("Description:     {text}\n")));
        assert_eq!(verify_receipt(&receipt.jws, &jwks(&[&key(1)])).unwrap(), receipt.claims);
        assert_eq!(decoded(&receipt.svg().unwrap()), receipt.jws);
        let code = receipt.code(Drawing::default()).unwrap();
        let (dark, lit) = (code.modules(), code.bars.iter().map(|bar| bar.length).sum::<usize>());
        assert_eq!((dark.len(), dark.iter().filter(|module| **module == 1).count()), (code.side * code.side, lit));
    }

    // Characters that would turn or break the surrounding text are replaced; the signature covers the original text.
    let receipt = hostile("a\u{202e}b\u{2066}\nStatus: Paid\u{7}");
    for form in [receipt.html(), receipt.text()] {
        assert!(form.contains("a\u{fffd}b\u{fffd} Status: Paid\u{fffd}"), "{form}");
    }
    assert_eq!(verify_receipt(&receipt.jws, &jwks(&[&key(1)])).unwrap(), receipt.claims);
}

#[test]
fn a_live_receipt_does_not_say_sandbox() {
    let mut record = record(1_050, "EUR", "sim:ok");
    let says = |record: &SettlementRecord| {
        let receipt = Receipt::sign(of(record), None, &key(1)).unwrap();
        assert_eq!(receipt.view().sandbox, record.mode.is_sandbox());
        (receipt.html().contains("no money was moved"), receipt.text().contains("no money was moved"))
    };
    assert_eq!(says(&record), (true, true));
    record.mode = Mode::Live;
    assert_eq!(says(&record), (false, false));
}

#[test]
fn the_policy_lets_the_page_s_own_style_through() {
    let page = receipt().html();
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    use sha2::{Digest as _, Sha256};
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style));
    let policy = content_security_policy();
    assert!(policy.contains(&format!("style-src 'sha256-{hash}'")) && policy.starts_with("default-src 'none';"), "{policy}");
    assert_eq!(page.matches("<style>").count(), 1);
}

/// What a scanner reads from one of our SVGs: it is drawn with four pixels per module and passed to an independent decoder.
fn decoded(svg: &str) -> String {
    let side: usize = svg.split_once("viewBox=\"0 0 ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    let path = svg.rsplit_once(" d=\"").unwrap().1.split_once('"').unwrap().0;
    let mut dark = vec![false; side * side];
    for run in path.split('z').filter(|run| !run.is_empty()) {
        let (x, rest) = run.strip_prefix('M').unwrap().split_once(' ').unwrap();
        let (y, rest) = rest.split_once('h').unwrap();
        let length = rest.split_once('v').unwrap().0;
        let (x, y, length): (usize, usize, usize) = (x.parse().unwrap(), y.parse().unwrap(), length.parse().unwrap());
        dark[y * side + x..][..length].fill(true);
    }
    let shade = |x: usize, y: usize| if dark[y / 4 * side + x / 4] { 0 } else { 255 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(side * 4, side * 4, shade);
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1);
    grids[0].decode().unwrap().1
}

#[test]
fn a_code_is_drawn_as_it_is_wanted() {
    let receipt = receipt();
    let of = |level, margin, size| receipt.drawn_as(Drawing { level, margin, size }, Some("Paid <twice>")).unwrap();
    let side = |svg: &str| svg.split_once("viewBox=\"0 0 ").unwrap().1.split_once(' ').unwrap().0.parse::<usize>().unwrap();
    let mut last = 0;
    for level in Level::ALL {
        let svg = of(level, 4, Some(300));
        assert_eq!(decoded(&svg), receipt.jws, "{level:?}");
        assert!(svg.contains(" width=\"300\" height=\"300\" ") && svg.contains("<title>Paid &lt;twice&gt;</title>"), "{svg}");
        assert!(side(&svg) > last, "a higher level needs more modules");
        last = side(&svg);
    }
    let (wide, bare) = (of(Level::L, 10, None), of(Level::L, 0, None));
    assert_eq!(side(&wide), side(&bare) + 20);
    assert!(bare.contains(&format!(" width=\"{0}\" height=\"{0}\" ", 4 * side(&bare))), "{bare}");
    for level in Level::ALL {
        let drawing = Drawing { level, ..Drawing::default() };
        assert!(
            Code::of(&vec![b'x'; level.max_bytes()], drawing).is_some() && Code::of(&vec![b'x'; level.max_bytes() + 1], drawing).is_none()
        );
    }
}

#[test]
fn the_code_holds_the_whole_jws() {
    let receipt = receipt();
    let svg = receipt.svg().unwrap();
    assert_eq!(decoded(&svg), receipt.jws);
    assert!(receipt.html().contains(&svg));
    // The longest possible receipt: every text at its limit.
    let mut record = record(999_999_999_999_999, "KWD", "participant:x");
    record.reference = Reference::parse(&"R".repeat(64)).unwrap();
    let mut claims = of(&record);
    claims.iss = format!("https://{}.example", "a".repeat(200));
    claims.rail_ref = Some("r".repeat(200));
    claims.supersedes = Some(claims.jti.clone());
    let longest = Receipt::sign(claims, None, &key(1)).unwrap();
    assert_eq!(decoded(&longest.svg().unwrap()), longest.jws);
    // A receipt that is too long for a code causes an error and no panic.
    let mut claims = of(&record);
    claims.rail_ref = Some("r".repeat(4_000));
    let huge = Receipt::sign(claims, None, &key(1)).unwrap();
    assert_eq!(huge.svg().unwrap_err().code, ErrorCode::Internal);
    assert!(huge.html().contains(&huge.jws) && !huge.html().contains("<svg"));
}

/// Wycheproof's JWS tests with P-256 keys. Their headers have no `typ`; otherwise they are verified like receipts.
///
/// Tests for other algorithms are skipped: only ES256 is ever accepted.
#[test]
fn published_signatures_are_judged_as_published() {
    for name in ["wycheproof/json_web_signature_test.json", "wycheproof/json_web_key_test.json"] {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors")).join(name);
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut counts = (0, 0);
        for group in file["testGroups"].as_array().unwrap() {
            let public = if group["public"].is_null() { &group["private"] } else { &group["public"] };
            let keys = public["keys"].as_array().cloned().unwrap_or_else(|| vec![public.clone()]);
            if !keys.iter().any(|key| key["crv"] == "P-256") {
                continue;
            }
            let find = |kid: &str| -> Option<PublicKey> {
                let key = keys.iter().find(|key| key["kid"] == kid)?;
                let mut key = key.clone();
                key.as_object_mut().unwrap().remove("d");
                parse_jwk(&key.to_string()).ok()
            };
            for test in group["tests"].as_array().unwrap() {
                let jws = test["jws"].as_str().map_or_else(|| test["jws"].to_string(), str::to_owned);
                let accepted = Pending::open(&jws, None, find).is_ok_and(|pending| {
                    let key = parse_jwk(&pending.jwk());
                    key.is_ok_and(|key| RustCrypto.verify(&key, pending.signed(), pending.signature()))
                });
                assert_eq!(accepted, test["result"] == "valid", "{name} {}: {}", test["tcId"], test["comment"]);
                if accepted { counts.0 += 1 } else { counts.1 += 1 }
            }
        }
        assert!(counts.1 > 0, "{name}: {counts:?}");
        eprintln!("{name}: {counts:?} accepted and refused");
    }
}
