//! What the codes of the API mean: for each, whether it proves that nothing was paid, and why it failed.
//!
//! ```
//! let table = railgate::rail::gsma::codes::markdown();
//! assert!(table.contains("| `insufficientFunds` | declined: `insufficient_funds` | yes |"));
//! ```

use serde_json::Value;

use crate::api::RailCall;
use crate::lifecycle::named_enum;
use crate::rail::{FailureCode, HttpReply, RailAnswer};

named_enum! {
    /// The category of an error.
    pub enum Category {
        /// A rule of the operator forbids it.
        BusinessRule = "businessRule",
        /// The request is not as the API wants it.
        Validation = "validation",
        /// Somebody is not authorised, or did not authorise it.
        Authorisation = "authorisation",
        /// An account or a resource does not exist.
        Identification = "identification",
        /// Something failed inside the operator.
        Internal = "internal",
        /// The operator does not work at the moment.
        ServiceUnavailable = "serviceUnavailable",
    }
}

named_enum! {
    /// An error.
    pub enum Code {
        /// Any; its category says more.
        GenericError = "genericError",
        /// Too many payments on a day.
        DailyVolumeLimitExceeded = "dailyVolumeLimitExceeded",
        /// Too much paid on a day.
        DailyValueLimitExceeded = "dailyValueLimitExceeded",
        /// Too many payments in a week.
        WeeklyVolumeLimitExceeded = "weeklyVolumeLimitExceeded",
        /// Too much paid in a week.
        WeeklyValueLimitExceeded = "weeklyValueLimitExceeded",
        /// Too many payments in a month.
        MonthlyVolumeLimitExceeded = "monthlyVolumeLimitExceeded",
        /// Too much paid in a month.
        MonthlyValueLimitExceeded = "monthlyValueLimitExceeded",
        /// Too many payments of the account.
        AccountMaxTotalVolumeExceeded = "accountMaxTotalVolumeExceeded",
        /// Too much paid by the account.
        AccountMaxTotalValueExceeded = "accountMaxTotalValueExceeded",
        /// The amount is too small.
        LessThanTransactionMinValue = "lessThanTransactionMinValue",
        /// The amount is too large.
        GreaterThanTransactionMaxValue = "greaterThanTransactionMaxValue",
        /// The payee's account may not hold so much.
        MaxBalanceExceeded = "maxBalanceExceeded",
        /// Payer and payee are the same.
        SamePartiesError = "samePartiesError",
        /// A request with this id was made before.
        DuplicateRequest = "duplicateRequest",
        /// The account that pays does not have so much.
        InsufficientFunds = "insufficientFunds",
        /// An account or a transaction is in a state that does not allow it.
        IncorrectState = "incorrectState",
        /// Less than is due.
        UnderPaymentNotAllowed = "underPaymentNotAllowed",
        /// More than is due.
        OverPaymentNotAllowed = "overPaymentNotAllowed",
        /// Too many requests.
        RateLimitError = "rateLimitError",
        /// The type of transaction is not allowed.
        TransactionTypeError = "transactionTypeError",
        /// There is no mandate.
        NoMandateAuthority = "noMandateAuthority",
        /// A link between accounts does not allow it.
        LinkViolation = "linkViolation",
        /// The country that the money comes from is not allowed.
        CountryofOriginNotPermitted = "countryofOriginNotPermitted",
        /// A nationality is not allowed.
        NationalityNotPermitted = "nationalityNotPermitted",
        /// A document does not identify anybody here.
        IdDocumentNotSupported = "idDocumentNotSupported",
        /// Documents of that country do not identify anybody here.
        IssuingCountryNotSupported = "issuingCountryNotSupported",
        /// A quote is not valid any more.
        QuoteHasExpired = "quoteHasExpired",
        /// An identifier stands for nothing.
        IdentifierError = "identifierError",
        /// A value is too long or too short.
        LengthError = "lengthError",
        /// A value does not have the form that it must have.
        FormatError = "formatError",
        /// A value is negative.
        NegativeValue = "negativeValue",
        /// The currency is not settled here.
        CurrencyNotSupported = "currencyNotSupported",
        /// A value is missing.
        MandatoryValueNotSupplied = "mandatoryValueNotSupplied",
        /// A list has no such position.
        InvalidOffset = "invalidOffset",
        /// The client is not authorised.
        ClientAuthorisationError = "clientAuthorisationError",
        /// Somebody was asked and declined.
        RequestDeclined = "requestDeclined",
        /// The party that services the request is not authorised.
        ServicingPartyAuthorisationError = "servicingPartyAuthorisationError",
        /// The party that requests it is not authorised.
        RequestingPartyAuthorisationError = "requestingPartyAuthorisationError",
    }
}

named_enum! {
    /// The status of a transaction. The API lets operators use other words, which say nothing for certain.
    pub enum TransactionStatus {
        /// It was carried out.
        Completed = "completed",
        /// It is being worked on.
        Pending = "pending",
        /// It was not carried out.
        Failed = "failed",
        /// It was refused.
        Declined = "declined",
        /// It was refused.
        Rejected = "rejected",
        /// It was called off.
        Cancelled = "cancelled",
        /// It was not carried out in time, and will not be.
        Expired = "expired",
        /// It was carried out, and taken back.
        Reversed = "reversed",
    }
}

/// What the status of a transaction says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    UnderWay,
    Refused,
    TakenBack,
}

impl TransactionStatus {
    pub(super) const fn standing(self) -> Standing {
        match self {
            Self::Completed => Standing::Done,
            Self::Pending => Standing::UnderWay,
            Self::Failed | Self::Declined | Self::Rejected | Self::Cancelled | Self::Expired => Standing::Refused,
            Self::Reversed => Standing::TakenBack,
        }
    }
}

/// What a request that moves money is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Payment,
    Reversal,
}

impl About {
    pub(super) fn of(call: &RailCall) -> Self {
        if call.paid_as.is_some() { Self::Reversal } else { Self::Payment }
    }
}

/// What an error proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// It was refused for this reason, and another provider may be tried.
    Elsewhere(FailureCode),
    /// It was refused for this reason, which holds for every provider.
    Final(FailureCode),
    /// Nothing.
    Nothing,
}

/// What an error in answer to a payment proves. The categories of errors of the operator itself prove nothing, whatever the code.
const fn proof(category: Category, code: Code) -> Proof {
    use FailureCode as F;
    use Proof::{Elsewhere, Final, Nothing};
    match category {
        Category::BusinessRule | Category::Validation | Category::Authorisation | Category::Identification => {}
        Category::Internal | Category::ServiceUnavailable => return Nothing,
    }
    match code {
        Code::GenericError => match category {
            Category::BusinessRule | Category::Validation => Elsewhere(F::Other),
            Category::Authorisation => Elsewhere(F::NotAllowed),
            Category::Identification => Elsewhere(F::RecipientNotFound),
            Category::Internal | Category::ServiceUnavailable => Nothing,
        },
        Code::DailyVolumeLimitExceeded
        | Code::DailyValueLimitExceeded
        | Code::WeeklyVolumeLimitExceeded
        | Code::WeeklyValueLimitExceeded
        | Code::MonthlyVolumeLimitExceeded
        | Code::MonthlyValueLimitExceeded
        | Code::AccountMaxTotalVolumeExceeded
        | Code::AccountMaxTotalValueExceeded
        | Code::GreaterThanTransactionMaxValue => Elsewhere(F::OverLimit),
        // The payee's account is full, whoever pays.
        Code::MaxBalanceExceeded => Final(F::OverLimit),
        Code::LessThanTransactionMinValue | Code::UnderPaymentNotAllowed | Code::OverPaymentNotAllowed | Code::NegativeValue => {
            Elsewhere(F::InvalidAmount)
        }
        Code::InsufficientFunds => Elsewhere(F::InsufficientFunds),
        Code::IncorrectState => Final(F::AccountBlocked),
        Code::RateLimitError => Elsewhere(F::ProviderOffline),
        Code::TransactionTypeError
        | Code::NoMandateAuthority
        | Code::LinkViolation
        | Code::CurrencyNotSupported
        | Code::ClientAuthorisationError
        | Code::ServicingPartyAuthorisationError
        | Code::RequestingPartyAuthorisationError => Elsewhere(F::NotAllowed),
        // Whom a provider may not pay, and what somebody declined, is not tried on others.
        Code::SamePartiesError
        | Code::CountryofOriginNotPermitted
        | Code::NationalityNotPermitted
        | Code::IdDocumentNotSupported
        | Code::IssuingCountryNotSupported
        | Code::RequestDeclined => Final(F::NotAllowed),
        Code::IdentifierError => Elsewhere(F::RecipientNotFound),
        Code::QuoteHasExpired | Code::LengthError | Code::FormatError | Code::MandatoryValueNotSupplied => Elsewhere(F::Other),
        // The operator has it: what became of it is another question. And no payment has an offset.
        Code::DuplicateRequest | Code::InvalidOffset => Nothing,
    }
}

/// Why a reversal failed, where that is not as for a payment.
const fn of_reversal(reason: FailureCode) -> FailureCode {
    match reason {
        // What is not found or cannot be given back is the payment, not the recipient.
        FailureCode::RecipientNotFound => FailureCode::Other,
        FailureCode::AccountBlocked | FailureCode::AccountClosed => FailureCode::NotAllowed,
        FailureCode::InsufficientFunds
        | FailureCode::Duplicate
        | FailureCode::OverLimit
        | FailureCode::ProviderOffline
        | FailureCode::InvalidAmount
        | FailureCode::NotAllowed
        | FailureCode::Other => reason,
    }
}

/// Whether only a request that moves money can fail for it, so that in answer to a question it is the answer to that request.
const fn is_of_money(code: Code) -> bool {
    match code {
        Code::DailyVolumeLimitExceeded
        | Code::DailyValueLimitExceeded
        | Code::WeeklyVolumeLimitExceeded
        | Code::WeeklyValueLimitExceeded
        | Code::MonthlyVolumeLimitExceeded
        | Code::MonthlyValueLimitExceeded
        | Code::AccountMaxTotalVolumeExceeded
        | Code::AccountMaxTotalValueExceeded
        | Code::LessThanTransactionMinValue
        | Code::GreaterThanTransactionMaxValue
        | Code::MaxBalanceExceeded
        | Code::SamePartiesError
        | Code::InsufficientFunds
        | Code::UnderPaymentNotAllowed
        | Code::OverPaymentNotAllowed
        | Code::TransactionTypeError
        | Code::CountryofOriginNotPermitted
        | Code::NationalityNotPermitted
        | Code::QuoteHasExpired => true,
        Code::GenericError
        | Code::DuplicateRequest
        | Code::IncorrectState
        | Code::RateLimitError
        | Code::NoMandateAuthority
        | Code::LinkViolation
        | Code::IdDocumentNotSupported
        | Code::IssuingCountryNotSupported
        | Code::IdentifierError
        | Code::LengthError
        | Code::FormatError
        | Code::NegativeValue
        | Code::CurrencyNotSupported
        | Code::MandatoryValueNotSupplied
        | Code::InvalidOffset
        | Code::ClientAuthorisationError
        | Code::RequestDeclined
        | Code::ServicingPartyAuthorisationError
        | Code::RequestingPartyAuthorisationError => false,
    }
}

/// An error as the API defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) category: Category,
    code: Code,
}

impl Fault {
    /// Reads an error. Older versions of the API write the same words with other capitals.
    pub(super) fn read(body: &Value) -> Option<Self> {
        let (category, code) = (body["errorCategory"].as_str()?, body["errorCode"].as_str()?);
        let category = *Category::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(category))?;
        let code = *Code::ALL.iter().find(|known| known.as_str().eq_ignore_ascii_case(code))?;
        Some(Self { category, code })
    }

    /// The error in an answer with which the operator says that the request is at fault, or itself; `None` if it is not the API's
    /// own, or if status and category contradict each other on whose fault it is.
    pub(super) fn of(reply: &HttpReply) -> Option<Self> {
        let fault = Self::read(&reply.json()?)?;
        let ours = match fault.category {
            Category::BusinessRule | Category::Validation | Category::Authorisation | Category::Identification => true,
            Category::Internal | Category::ServiceUnavailable => false,
        };
        // 408 is the answer of somebody who gave up waiting.
        let says_ours = (400..500).contains(&reply.status) && reply.status != 408;
        let says_theirs = (500..600).contains(&reply.status);
        ((ours && says_ours) || (!ours && says_theirs)).then_some(fault)
    }

    /// That what was asked about does not exist.
    pub(super) fn finds_nothing(self) -> bool {
        self.category == Category::Identification
    }

    /// See [`is_of_money`].
    pub(super) fn is_of_money(self) -> bool {
        self.category == Category::BusinessRule && is_of_money(self.code)
    }

    /// The refusal, if it is one.
    pub(super) fn refuses(self, about: About) -> Option<RailAnswer> {
        let (code, elsewhere_ok) = match proof(self.category, self.code) {
            Proof::Elsewhere(code) => (code, true),
            Proof::Final(code) => (code, false),
            Proof::Nothing => return None,
        };
        let code = if about == About::Reversal { of_reversal(code) } else { code };
        Some(RailAnswer::Declined { code, elsewhere_ok, rail_code: Some(self.rail_code()) })
    }

    /// The end of a request whose state is that it failed, with the error that goes with it. That it failed is proof, whatever the
    /// operator's reason, unless the reason is that the request was there before.
    pub(super) fn failed(error: &Value, about: About) -> RailAnswer {
        let fault = Self::read(error);
        let rail_code = fault.map(Self::rail_code);
        if fault.is_some_and(|fault| fault.code == Code::DuplicateRequest) {
            return RailAnswer::Unknown;
        }
        let refused = fault.and_then(|fault| fault.refuses(about));
        refused.unwrap_or(RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: true, rail_code })
    }

    fn rail_code(self) -> String {
        format!("{}.{}", self.category.as_str(), self.code.as_str())
    }
}

/// The tables of `docs/rails/gsma.md`.
pub fn markdown() -> String {
    let mut out = String::from("| code | a payment is | elsewhere | a reversal is | counts at `/responses` |\n|---|---|---|---|---|\n");
    let mut row = |name: &str, category: Category, code: Code| {
        let row = match proof(category, code) {
            Proof::Nothing => format!("| {name} | unknown | | unknown | |\n"),
            proof @ (Proof::Elsewhere(reason) | Proof::Final(reason)) => {
                let elsewhere = if matches!(proof, Proof::Elsewhere(_)) { "yes" } else { "no" };
                let counts = if is_of_money(code) { "yes" } else { "" };
                let (payment, reversal) = (reason.as_str(), of_reversal(reason).as_str());
                format!("| {name} | declined: `{payment}` | {elsewhere} | declined: `{reversal}` | {counts} |\n")
            }
        };
        out.push_str(&row.replace(" |  |", " | |"));
    };
    for code in Code::ALL {
        if *code == Code::GenericError {
            for category in Category::ALL {
                row(&format!("`genericError`, category `{}`", category.as_str()), *category, *code);
            }
        } else {
            row(&format!("`{}`", code.as_str()), Category::BusinessRule, *code);
        }
    }
    out.push_str("\n| status of a transaction | a payment is | a reversal is |\n|---|---|---|\n");
    for status in TransactionStatus::ALL {
        let (payment, reversal) = match status.standing() {
            Standing::Done => ("completed", "completed"),
            Standing::UnderWay => ("accepted", "accepted"),
            Standing::Refused => ("declined: `other`", "declined: `other`"),
            Standing::TakenBack => ("returned; completed, if the gateway had it reversed", "unknown"),
        };
        out.push_str(&format!("| `{}` | {payment} | {reversal} |\n", status.as_str()));
    }
    out + "| any other | unknown | unknown |\n"
}
