//! The error codes of the scheme (FSPIOP 1.1): the first digit says whose fault it is, the second what kind, the others which one.

use crate::lifecycle::named_enum;
use crate::rail::{FailureCode, RailAnswer};

/// No such payee.
pub(super) const PARTY_NOT_FOUND: &str = "3204";
/// No such transfer.
pub(super) const TRANSFER_NOT_FOUND: &str = "3208";

named_enum! {
    /// When a code proves that nothing was paid, and nothing will be.
    pub enum Proof {
        /// Always: it refuses the transfer.
        Always = "always",
        /// Until the quote is accepted. Afterwards the transfer may have been carried out nevertheless.
        Early = "before the quote is accepted",
        /// Never: it is about an earlier request with the same id.
        Never = "never",
    }
}

/// The meaning of a code, or of all with the same beginning that are not listed.
pub(super) struct Meaning {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) failure: FailureCode,
    pub(super) elsewhere_ok: bool,
    pub(super) proof: Proof,
}

const fn code(code: &'static str, name: &'static str, failure: FailureCode, elsewhere_ok: bool, proof: Proof) -> Meaning {
    Meaning { code, name, failure, elsewhere_ok, proof }
}

use FailureCode::{
    AccountBlocked, Duplicate, InsufficientFunds, NotAllowed, Other, OverLimit, ProviderOffline as Offline, RecipientNotFound as NotFound,
};
use Proof::{Always, Early, Never};

/// The longest beginning of a code that is here counts; the last is the beginning of all.
#[rustfmt::skip]
pub(super) const CODES: &[Meaning] = &[
    code("1000", "communication error", Offline, true, Early),
    code("1001", "the destination cannot be reached", Offline, true, Early),
    code("10", "another communication error", Offline, true, Early),
    code("2000", "server error", Other, true, Early),
    code("2001", "internal error of a server", Other, true, Early),
    code("2002", "not implemented", NotAllowed, true, Early),
    code("2003", "service unavailable", Offline, true, Early),
    code("2004", "a server timed out", Offline, true, Early),
    code("2005", "a server is busy", Offline, true, Early),
    code("20", "another error of a server", Other, true, Early),
    code("3000", "client error", Other, true, Early),
    code("3001", "unacceptable version", Other, true, Early),
    code("3002", "unknown address", Other, true, Early),
    code("3003", "information about a party could not be added", Other, true, Early),
    code("30", "another error of the client", Other, true, Early),
    code("3100", "invalid request", Other, true, Early),
    code("3101", "malformed syntax", Other, true, Early),
    code("3102", "an element is missing", Other, true, Early),
    code("3103", "too many elements", Other, true, Early),
    code("3104", "too large", Other, true, Early),
    code("3105", "invalid signature", Other, true, Early),
    code("3106", "another request with the same id came before", Duplicate, false, Never),
    code("3107", "an extension is missing", Other, true, Early),
    code("31", "another invalid request", Other, true, Early),
    code("3200", "an id is not known", NotFound, true, Early),
    code("3201", "the destination is not known", NotFound, true, Early),
    code("3202", "the payer's provider is not known", NotAllowed, true, Early),
    code("3203", "the payee's provider is not known", NotFound, true, Early),
    code(PARTY_NOT_FOUND, "the payee is not known", NotFound, true, Early),
    code("3205", "the quote is not known", Other, true, Early),
    code("3206", "the transaction request is not known", Other, true, Early),
    code("3207", "the transaction is not known", Other, true, Early),
    code(TRANSFER_NOT_FOUND, "the transfer is not known", Other, false, Never),
    code("3209", "the bulk quote is not known", Other, true, Early),
    code("3210", "the bulk transfer is not known", Other, true, Early),
    code("32", "something else is not known", Other, true, Early),
    code("3300", "expired", Other, true, Early),
    code("3301", "the transaction request expired", Other, true, Early),
    code("3302", "the quote expired", Other, true, Early),
    code("3303", "the transfer expired", Other, true, Early),
    code("33", "something else expired", Other, true, Early),
    code("4000", "error of the payer", Other, true, Always),
    code("4001", "the payer's provider lacks liquidity", InsufficientFunds, true, Always),
    code("40", "another error of the payer", Other, true, Always),
    code("4100", "the payer's side rejected the request", NotAllowed, true, Always),
    code("4101", "the payer rejected the transaction request", NotAllowed, true, Always),
    code("4102", "the payer's provider does not support such transactions", NotAllowed, true, Always),
    code("4103", "the payer does not support the currency", NotAllowed, true, Always),
    code("41", "another rejection by the payer's side", NotAllowed, true, Always),
    code("4200", "a limit of the payer", OverLimit, true, Always),
    code("42", "another limit of the payer", OverLimit, true, Always),
    // An inquiry of the same transfer may be what is not allowed.
    code("4300", "the payer's side lacks a permission", NotAllowed, true, Early),
    code("43", "the payer's side lacks another permission", NotAllowed, true, Early),
    code("4400", "the payer is blocked", NotAllowed, true, Always),
    code("44", "the payer is blocked in another way", NotAllowed, true, Always),
    code("5000", "error of the payee", Other, true, Always),
    code("5001", "the payee's provider lacks liquidity", Other, true, Always),
    code("50", "another error of the payee", Other, true, Always),
    code("5100", "the payee's side rejected the request", NotAllowed, false, Always),
    code("5101", "the payee rejected the quote", NotAllowed, false, Always),
    code("5102", "the payee's provider does not support such transactions", NotAllowed, true, Always),
    code("5103", "the payee's provider rejected the quote", NotAllowed, true, Always),
    code("5104", "the payee rejected the transaction", NotAllowed, false, Always),
    code("5105", "the payee's provider rejected the transaction", NotAllowed, true, Always),
    code("5106", "the payee does not support the currency", NotAllowed, true, Always),
    code("51", "another rejection by the payee's side", NotAllowed, false, Always),
    code("5200", "a limit of the payee", OverLimit, false, Always),
    code("52", "another limit of the payee", OverLimit, false, Always),
    code("5300", "the payee's side lacks a permission", NotAllowed, true, Always),
    code("53", "the payee's side lacks another permission", NotAllowed, true, Always),
    code("5400", "the payee is blocked", AccountBlocked, false, Always),
    code("54", "the payee is blocked in another way", AccountBlocked, false, Always),
    code("", "any other error", Other, true, Early),
];

/// The meaning of an error: of its code, or of the status of a reply that has none. `early` if the quote was not accepted.
pub(super) fn answer(code: Option<&str>, status: u16, early: bool) -> RailAnswer {
    let found = match code {
        Some(code) => CODES.iter().filter(|known| code.starts_with(known.code)).max_by_key(|known| known.code.len()),
        // The adapter waited in vain for an answer of the scheme.
        None if status == 504 => CODES.iter().find(|known| known.code == "2004"),
        None => CODES.last(),
    };
    let Some(&Meaning { failure, elsewhere_ok, proof, .. }) = found else { return RailAnswer::Unknown };
    let is_proof = match proof {
        Always => true,
        Early => early,
        Never => false,
    };
    if !is_proof {
        return RailAnswer::Unknown;
    }
    let rail_code = Some(code.map_or_else(|| format!("http_{status}"), str::to_owned));
    RailAnswer::Declined { code: failure, elsewhere_ok, rail_code }
}
