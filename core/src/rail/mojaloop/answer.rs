//! The meaning of what the adapter replies.
//!
//! Nothing is paid before the quote is accepted, so until then every refusal is proof. Afterwards, only what the scheme or the payee's
//! provider say about the transfer itself is. A reply about another transfer, or one that does not fit what was asked, says nothing.

use serde_json::Value;

use super::{codes, in_scheme, onward, party, settings, transfer_id};
use crate::api::{PayeeView, RailCall};
use crate::lifecycle::named_enum;
use crate::money::{Amount, Currency, Money};
use crate::rail::{FailureCode, Heard, HttpReply, HttpRequest, Link, Payee, PayeeMatch, RailAnswer};

/// The rail's own code of a transfer that the scheme has ended without paying.
const ABORTED: &str = "ABORTED";
/// The longest name of a payee, in characters.
const NAME_MAX_CHARS: usize = 128;

named_enum! {
    /// What the adapter was asked.
    pub enum Step {
        /// To begin a transfer.
        Begin = "POST",
        /// To go on with the payee that it found.
        AcceptParty = "accept party",
        /// To pay as quoted.
        AcceptQuote = "accept quote",
        /// To stop, because of the quote.
        RefuseQuote = "refuse quote",
        /// To stop, because it wants to pay in another currency.
        RefuseConversion = "refuse conversion",
    }
}

named_enum! {
    /// What the adapter says it is at with a transfer.
    pub enum State {
        /// It found the payee.
        WaitingForParty = "WAITING_FOR_PARTY_ACCEPTANCE",
        /// It has a quote.
        WaitingForQuote = "WAITING_FOR_QUOTE_ACCEPTANCE",
        /// It has a quote in another currency.
        WaitingForConversion = "WAITING_FOR_CONVERSION_ACCEPTANCE",
        /// It is done. What the scheme did is in the [`TransferState`].
        Completed = "COMPLETED",
        /// It stopped, because it was told to.
        Aborted = "ABORTED",
        /// It met an error.
        Error = "ERROR_OCCURRED",
    }
}

named_enum! {
    /// What the scheme says about a transfer.
    pub enum TransferState {
        /// It has the transfer.
        Received = "RECEIVED",
        /// It has reserved the money.
        Reserved = "RESERVED",
        /// It has paid.
        Committed = "COMMITTED",
        /// It has not paid, and will not.
        Aborted = "ABORTED",
    }
}

/// Where a payment goes from a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    AcceptParty,
    JudgeQuote,
    RefuseConversion,
    /// It is as the scheme says.
    AsTransferred,
    /// It ended unpaid.
    Refused,
    /// It is as the code of the error says.
    AsCoded,
    Unknown,
}

/// What a state in reply to a step leads to. The adapter is never told the same twice.
pub(super) const fn turn(step: Step, state: State) -> Turn {
    match (step, state) {
        (Step::Begin, State::WaitingForParty) => Turn::AcceptParty,
        (Step::Begin | Step::AcceptParty, State::WaitingForQuote) => Turn::JudgeQuote,
        (Step::Begin | Step::AcceptParty | Step::AcceptQuote, State::WaitingForConversion) => Turn::RefuseConversion,
        (Step::AcceptParty | Step::AcceptQuote | Step::RefuseQuote | Step::RefuseConversion, State::WaitingForParty)
        | (Step::AcceptQuote | Step::RefuseQuote | Step::RefuseConversion, State::WaitingForQuote)
        | (Step::RefuseQuote | Step::RefuseConversion, State::WaitingForConversion) => Turn::Unknown,
        (Step::Begin | Step::AcceptParty | Step::AcceptQuote | Step::RefuseQuote | Step::RefuseConversion, State::Completed) => {
            Turn::AsTransferred
        }
        (Step::Begin | Step::AcceptParty | Step::AcceptQuote | Step::RefuseQuote | Step::RefuseConversion, State::Aborted)
        | (Step::RefuseQuote | Step::RefuseConversion, State::Error) => Turn::Refused,
        (Step::Begin | Step::AcceptParty | Step::AcceptQuote, State::Error) => Turn::AsCoded,
    }
}

impl Step {
    /// The body of the request, but for the one that begins.
    pub(super) const fn body(self) -> &'static str {
        match self {
            Self::Begin => "",
            Self::AcceptParty => r#"{"acceptParty":true}"#,
            Self::AcceptQuote => r#"{"acceptQuote":true}"#,
            Self::RefuseQuote => r#"{"acceptQuote":false}"#,
            Self::RefuseConversion => r#"{"acceptConversion":false}"#,
        }
    }

    /// What a request asked; the one that pays, if that cannot be told.
    fn of(asked: Option<&HttpRequest>) -> Self {
        let Some(asked) = asked else { return Self::AcceptQuote };
        if asked.method == "POST" {
            return Self::Begin;
        }
        Self::ALL.iter().copied().find(|step| step.body().as_bytes() == asked.body).unwrap_or(Self::AcceptQuote)
    }

    /// Whether nothing can have been paid when the adapter refuses this, unless its reply has something of a quote.
    const fn is_early(self) -> bool {
        match self {
            Self::Begin | Self::AcceptParty => true,
            Self::AcceptQuote | Self::RefuseQuote | Self::RefuseConversion => false,
        }
    }
}

/// The meaning of a reply to a payment, or what to tell the adapter next.
pub(super) fn submitted(call: &RailCall, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
    let step = Step::of(link.asked);
    let body = reply.json().unwrap_or_default();
    let (transfer, is_error) = match reply.status {
        200 => (&body, false),
        400.. => (&body["transferState"], true),
        _ => return Heard::Answer(RailAnswer::Unknown),
    };
    if is_error && transfer.as_object().is_none_or(serde_json::Map::is_empty) {
        return Heard::Answer(unread(step, reply.status));
    }
    let state = transfer["currentState"].as_str().and_then(State::from_name);
    let Some(state) = state.filter(|state| is_about(call, transfer) && is_error == (*state == State::Error)) else {
        return Heard::Answer(RailAnswer::Unknown);
    };
    let next = |step| Heard::Ask(onward(call, link, step));
    Heard::Answer(match turn(step, state) {
        Turn::AcceptParty => return next(Step::AcceptParty),
        Turn::JudgeQuote => return next(objection(call, link, transfer).map_or(Step::AcceptQuote, |_| Step::RefuseQuote)),
        Turn::RefuseConversion => return next(Step::RefuseConversion),
        Turn::AsTransferred => transferred(call, transfer),
        // It contradicts itself.
        Turn::Refused | Turn::AsCoded if !transfer["fulfil"].is_null() => RailAnswer::Unknown,
        Turn::Refused => refused(call, link, step, transfer),
        Turn::AsCoded => codes::answer(code_of(&body), reply.status, step.is_early() && !has_quote(transfer)),
        Turn::Unknown => RailAnswer::Unknown,
    })
}

/// The meaning of a reply to the question what became of a payment. The adapter asks the scheme.
pub(super) fn inquired(call: &RailCall, reply: &HttpReply) -> RailAnswer {
    let Some(body) = reply.json() else { return RailAnswer::Unknown };
    if reply.status != 200 {
        let of_another = body["transferState"]["transferId"].as_str().is_some_and(|id| id != transfer_id(&call.rail_key));
        let is_unknown_there = code_of(&body).is_some_and(|code| code == codes::TRANSFER_NOT_FOUND);
        return if is_unknown_there && !of_another { RailAnswer::NotSent } else { RailAnswer::Unknown };
    }
    if !has_id_of(call, &body) {
        return RailAnswer::Unknown;
    }
    match body["currentState"].as_str().and_then(State::from_name) {
        Some(State::Completed) => transferred(call, &body),
        // Who could accept has given up.
        Some(State::WaitingForParty | State::WaitingForQuote | State::WaitingForConversion) => RailAnswer::NotSent,
        Some(State::Aborted) => aborted(),
        Some(State::Error) | None => RailAnswer::Unknown,
    }
}

/// The payee that the scheme knows; `None` if it does not say.
pub(super) fn payee(payee: &Payee, reply: &HttpReply) -> Option<PayeeView> {
    let body = reply.json()?;
    if reply.status != 200 {
        let found = &body["errorInformation"]["errorCode"];
        return (found == codes::PARTY_NOT_FOUND).then_some(PayeeView { display_name: None, payee_match: PayeeMatch::NoMatch });
    }
    let (found, (id_type, id)) = (&body["party"]["body"], party(&payee.to)?);
    let info = &found["partyIdInfo"];
    let is_meant =
        info["partyIdType"] == id_type && info["partyIdentifier"].as_str().is_some_and(|found| in_scheme(&payee.to, found) == id);
    if body["currentState"] != State::Completed.as_str() || !is_meant {
        return None;
    }
    Some(PayeeView { display_name: name_of(found), payee_match: PayeeMatch::Match })
}

fn name_of(party: &Value) -> Option<String> {
    let parts = &party["personalInfo"]["complexName"];
    let whole = party["name"].as_str().map(str::to_owned).unwrap_or_else(|| {
        let parts = ["firstName", "middleName", "lastName"].iter().filter_map(|part| parts[part].as_str());
        parts.collect::<Vec<_>>().join(" ")
    });
    let name = whole.trim();
    (!name.is_empty() && name.chars().count() <= NAME_MAX_CHARS && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// The meaning of a refusal that says nothing about the transfer: the adapter, or what stands before it, did not take the request.
fn unread(step: Step, status: u16) -> RailAnswer {
    let code = match status {
        401 | 403 => FailureCode::NotAllowed,
        400 | 404 | 405 | 413 | 415 | 422 => FailureCode::Other,
        _ => return RailAnswer::Unknown,
    };
    match step.is_early() {
        true => RailAnswer::Declined { code, elsewhere_ok: true, rail_code: Some(format!("http_{status}")) },
        false => RailAnswer::Unknown,
    }
}

/// What the scheme did.
fn transferred(call: &RailCall, transfer: &Value) -> RailAnswer {
    let state = transfer["fulfil"]["body"]["transferState"].as_str().and_then(TransferState::from_name);
    state.map_or(RailAnswer::Unknown, |state| of_scheme(state, &transfer_id(&call.rail_key)))
}

/// The meaning of the scheme's state of the transfer `id`.
pub(super) fn of_scheme(state: TransferState, id: &str) -> RailAnswer {
    let rail_reference = Some(id.to_owned());
    match state {
        TransferState::Committed => RailAnswer::Completed { rail_reference },
        TransferState::Received | TransferState::Reserved => RailAnswer::Accepted { rail_reference },
        TransferState::Aborted => aborted(),
    }
}

fn aborted() -> RailAnswer {
    RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: true, rail_code: Some(ABORTED.to_owned()) }
}

/// The end of a payment that was refused: by the gateway, for its reason, or by the adapter.
fn refused(call: &RailCall, link: &Link<'_>, step: Step, transfer: &Value) -> RailAnswer {
    let objection = match step {
        // Without the quote, the reason of most refusals.
        Step::RefuseQuote if transfer["quoteResponse"].is_null() => Objection::Fee,
        Step::RefuseQuote => objection(call, link, transfer).unwrap_or(Objection::Fee),
        Step::RefuseConversion => Objection::Conversion,
        Step::Begin | Step::AcceptParty | Step::AcceptQuote => return aborted(),
    };
    RailAnswer::Declined { code: objection.failure(), elsewhere_ok: true, rail_code: Some(objection.as_str().to_owned()) }
}

named_enum! {
    /// Why the gateway does not accept what the scheme offers.
    pub enum Objection {
        /// The scheme adds more than the client pays.
        Fee = "quote_fee",
        /// The payee would get less.
        Amount = "quote_amount",
        /// The transfer would be in another currency.
        Currency = "quote_currency",
        /// The quote cannot be read.
        Unreadable = "quote_unreadable",
        /// Somebody would have to convert the money first.
        Conversion = "conversion",
    }
}

impl Objection {
    /// The gateway's code for it.
    pub(super) const fn failure(self) -> FailureCode {
        match self {
            Self::Fee => FailureCode::OverLimit,
            Self::Amount => FailureCode::InvalidAmount,
            Self::Currency | Self::Conversion => FailureCode::NotAllowed,
            Self::Unreadable => FailureCode::Other,
        }
    }
}

/// What is wrong with a quote, if anything is.
fn objection(call: &RailCall, link: &Link<'_>, transfer: &Value) -> Option<Objection> {
    let quote = &transfer["quoteResponse"]["body"];
    let money = |name| {
        let Value::Object(money) = &quote[name] else { return None };
        let currency = money.get("currency")?.as_str()?;
        let amount = Amount::parse(money.get("amount")?.as_str()?).ok()?;
        Some((Currency::from_code(currency), amount))
    };
    let (currency, wanted) = (Some(call.money.currency()), of_money(call.money));
    let Some((quoted_in, quoted)) = money("transferAmount") else { return Some(Objection::Unreadable) };
    if quoted_in != currency {
        return Some(Objection::Currency);
    }
    match (money("payeeReceiveAmount"), &quote["payeeReceiveAmount"]) {
        (None, Value::Null) => {}
        (Some((received_in, received)), _) if received_in == currency && wanted.is_some_and(|wanted| received >= wanted) => {}
        (Some(_), _) => return Some(Objection::Amount),
        (None, _) => return Some(Objection::Unreadable),
    }
    let most = call.money.minor().checked_add(call.fee).and_then(|most| of_money(Money::from_minor(most, call.money.currency())));
    let is_fine = settings::is_set(link.provider, settings::ABSORB_FEES) || most.is_some_and(|most| quoted <= most);
    (!is_fine).then_some(Objection::Fee)
}

fn of_money(money: Money) -> Option<Amount> {
    Amount::parse(&money.decimal()).ok()
}

/// Whether a reply is about the transfer of a call, in all that says which one it is.
fn is_about(call: &RailCall, transfer: &Value) -> bool {
    let amount = || Amount::parse(transfer["amount"].as_str()?).ok()?.to_money(call.money.currency()).ok();
    has_id_of(call, transfer)
        && transfer["homeTransactionId"] == call.rail_key.as_str()
        && transfer["currency"] == call.money.currency().code()
        && amount() == Some(call.money)
        && party(&call.to).is_some_and(|(id_type, id)| transfer["to"]["idType"] == id_type && transfer["to"]["idValue"] == id)
}

fn has_id_of(call: &RailCall, transfer: &Value) -> bool {
    transfer["transferId"] == transfer_id(&call.rail_key).as_str()
}

/// Whether the adapter got as far as a quote, so that it may have paid if it accepts quotes by itself.
fn has_quote(transfer: &Value) -> bool {
    ["quoteResponse", "fxQuotesResponse", "fxQuoteResponse", "prepare", "fulfil"].iter().any(|part| !transfer[part].is_null())
}

/// The scheme's code of an error.
fn code_of(body: &Value) -> Option<&str> {
    let of_scheme = body["transferState"]["lastError"]["mojaloopError"]["errorInformation"]["errorCode"].as_str();
    // The adapter repeats it there, or has the status of its reply there.
    let code = of_scheme.or_else(|| body["statusCode"].as_str())?;
    (code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit())).then_some(code)
}
