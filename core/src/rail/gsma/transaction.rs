//! Transactions as the operator describes them, in answers and callbacks.

use serde_json::Value;

use super::codes::{Standing, TransactionStatus};
use super::place::Place;
use super::{About, settings, stored};
use crate::api::RailCall;
use crate::money::Amount;
use crate::rail::{FailureCode, RailAnswer};

/// A transaction that contradicts nothing of the call.
pub(super) struct Transaction<'a> {
    /// The operator's reference.
    pub(super) reference: &'a str,
    /// For a reversal, the transaction whose money it gives back, if it says so.
    pub(super) original: Option<&'a str>,
    /// Whether it has our key, which no other transaction has.
    pub(super) names_us: bool,
    status: &'a str,
}

/// Reads a transaction; `None` if it is not one, or if it is another than that of the call.
pub(super) fn read<'a>(body: &'a Value, call: &RailCall) -> Option<Transaction<'a>> {
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let reference = text("transactionReference").filter(|of| matches!(Place::of_reference(of), Some(Place::Transaction(_))))?;
    let key = text("requestingOrganisationTransactionReference");
    let original = text("originalTransactionReference").filter(|_| About::of(call) == About::Reversal);
    let (kind, fits) = (text("type")?, key.is_none_or(|key| key == call.rail_key));
    let (amount, currency) = (text("amount"), text("currency"));
    let is_amount = |text: &str| Amount::parse(text).is_ok() && Amount::parse(text) == Amount::parse(&call.money.decimal());
    let is_currency = |code: &str| code == call.money.currency().code();
    let fits = fits
        && match About::of(call) {
            About::Payment => {
                matches!(kind, "disbursement" | "transfer")
                    && amount.is_some_and(is_amount)
                    && currency.is_some_and(is_currency)
                    && (body["creditParty"].is_null() || pays(&body["creditParty"], call))
            }
            About::Reversal => {
                let paid = call.paid_as.as_ref().and_then(|(_, reference)| stored(reference.as_deref()));
                kind == "reversal"
                    && amount.is_none_or(is_amount)
                    && currency.is_none_or(is_currency)
                    && original.is_none_or(|of| !matches!(paid, Some(Place::Transaction(paid)) if paid != of))
            }
        };
    let status = text("transactionStatus")?;
    fits.then_some(Transaction { reference, original, names_us: key.is_some(), status })
}

/// Whether these identifiers are those of our payee's account. An operator may add others, and write a telephone number without plus.
fn pays(parties: &Value, call: &RailCall) -> bool {
    let Some((key, value)) = settings::account_of(&call.to) else { return false };
    let ours = |party: &&Value| party["key"].as_str().is_some_and(|found| found.eq_ignore_ascii_case(key));
    let plain = |text: &str| text.trim_start_matches('+').to_owned();
    let same = |found: &Value| found.as_str().is_some_and(|found| found == value || (key == "msisdn" && plain(found) == plain(value)));
    parties.as_array().and_then(|parties| parties.iter().find(ours)).is_some_and(|party| same(&party["value"]))
}

impl Transaction<'_> {
    /// What became of the call's payment or reversal.
    pub(super) fn answer(&self, call: &RailCall) -> RailAnswer {
        let rail_reference = Some(self.reference.to_owned());
        let Some(status) = TransactionStatus::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(self.status)) else {
            return RailAnswer::Unknown;
        };
        let refused = || RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: true, rail_code: Some(status.as_str().to_owned()) };
        match (status.standing(), About::of(call)) {
            (Standing::Done, About::Payment | About::Reversal) => RailAnswer::Completed { rail_reference },
            (Standing::UnderWay, About::Payment | About::Reversal) => RailAnswer::Accepted { rail_reference },
            (Standing::Refused, About::Payment | About::Reversal) => refused(),
            // If money was given back at our request, that is what it says.
            (Standing::TakenBack, About::Payment) if call.given_back => RailAnswer::Completed { rail_reference },
            (Standing::TakenBack, About::Payment) => RailAnswer::Returned { rail_code: Some(status.as_str().to_owned()) },
            (Standing::TakenBack, About::Reversal) => RailAnswer::Unknown,
        }
    }
}
