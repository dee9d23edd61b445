//! What a provider of this rail is configured with.

use crate::error::FieldProblem;
use crate::participant::{Namespace, Participant};
use crate::rail::{TLS_KEY, is_address, is_common_setting};
use crate::route::ProviderSpec;
use crate::validate::json::pointer;

pub(super) const CLIENT_ID: &str = "client_id";
pub(super) const CLIENT_SECRET: &str = "client_secret";
pub(super) const API_KEY: &str = "api_key";
pub(super) const X_CLIENT_ID: &str = "x_client_id";

const TRANSACTION: &str = "transaction";
const DEBIT_PARTY_TYPE: &str = "debit_party_type";
const DEBIT_PARTY: &str = "debit_party";
const NOTIFY: &str = "notify";
const RESPONSES: &str = "responses";
const PARTIAL_REVERSALS: &str = "partial_reversals";
const NOT_FOUND_IS_PROOF: &str = "not_found_is_proof";
const TOKEN_URL: &str = "token_url";

/// The kinds of identifier of an account that the API has.
const ACCOUNT_TYPES: &[&str] = &[
    "accountcategory",
    "bankaccountno",
    "accountrank",
    "identityalias",
    "iban",
    "accountid",
    "msisdn",
    "swiftbic",
    "sortcode",
    "organisationid",
    "username",
    "walletid",
    "linkref",
    "consumerno",
    "serviceprovider",
    "storeid",
    "bankname",
    "bankaccounttitle",
    "emailaddress",
    "mandatereference",
];
const VALUE_MAX: usize = 256;
const BOOLEANS: &[&str] = &["true", "false"];

/// The settings of a provider, which [`configure`] accepted.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a>(pub(super) &'a ProviderSpec);

impl<'a> Settings<'a> {
    fn get(self, name: &str) -> Option<&'a str> {
        self.0.settings.get(name).map(String::as_str)
    }

    /// The type of transaction with which payees are paid.
    pub(super) fn transaction(self) -> &'a str {
        self.get(TRANSACTION).unwrap_or("disbursement")
    }

    /// The account that pays, if the operator does not know it anyway.
    pub(super) fn debit_party(self) -> Option<(&'a str, &'a str)> {
        self.get(DEBIT_PARTY_TYPE).zip(self.get(DEBIT_PARTY))
    }

    /// Whether the operator is to call back.
    pub(super) fn wants_callbacks(self) -> bool {
        self.get(NOTIFY) != Some("polling")
    }

    /// Whether the operator says again what it answered.
    pub(super) fn has_responses(self) -> bool {
        self.get(RESPONSES) != Some("false")
    }

    pub(super) fn token_url(self) -> Option<&'a str> {
        self.get(TOKEN_URL)
    }
}

/// How the API names the account of a participant; `None` if it cannot.
pub(super) fn account_of(to: &Participant) -> Option<(&'static str, &str)> {
    let kind = match to.namespace() {
        Namespace::Msisdn => "msisdn",
        Namespace::Iban => "iban",
        Namespace::Acct => "accountid",
        Namespace::Wallet => "walletid",
        Namespace::Alias => "identityalias",
        Namespace::Email => "emailaddress",
        Namespace::Business => "organisationid",
        Namespace::Device | Namespace::Participant | Namespace::Sim => return None,
    };
    Some((kind, to.identifier()))
}

/// Checks the settings, and derives what the provider supports.
pub(super) fn configure(provider: &mut ProviderSpec) -> Vec<FieldProblem> {
    let mut problems: Vec<FieldProblem> = provider.settings.iter().filter_map(|(name, value)| setting(name, value)).collect();
    let mut require = |needed: bool, pointer: String, said: &str| {
        if needed {
            problems.push(FieldProblem::new(pointer, "required", said));
        }
    };
    let (settings, secrets) = (&provider.settings, &provider.secrets.0);
    let has = |name: &str| settings.contains_key(name);
    require(
        provider.base_url.is_none(),
        "/base_url".to_owned(),
        "is required: the address of the API, such as https://api.example/v1.2/mm",
    );
    for (one, other) in [(DEBIT_PARTY_TYPE, DEBIT_PARTY), (DEBIT_PARTY, DEBIT_PARTY_TYPE)] {
        require(has(one) && !has(other), format!("/settings/{other}"), "is required beside the other half of the account that pays");
    }
    // Secrets that are left out stay as they are: only those that are given can be checked.
    if !secrets.is_empty() {
        let wants_tokens = has(TOKEN_URL) || secrets.contains_key(CLIENT_ID) || secrets.contains_key(CLIENT_SECRET);
        require(wants_tokens && !has(TOKEN_URL), format!("/settings/{TOKEN_URL}"), "is required: where the client's secrets are exchanged");
        for name in [CLIENT_ID, CLIENT_SECRET] {
            require(wants_tokens && !secrets.contains_key(name), format!("/secrets/{name}"), "is required to ask for access tokens");
        }
    }
    let known = [CLIENT_ID, CLIENT_SECRET, API_KEY, TLS_KEY];
    for name in secrets.keys().filter(|name| !known.contains(&name.as_str())) {
        let said = format!("is not a secret of this rail; it has: {}", known.join(", "));
        problems.push(FieldProblem::new(format!("/secrets{}", pointer(name)), "unknown_field", said));
    }
    if provider.secrets.get(API_KEY).is_some_and(|key| !is_header_value(key)) {
        problems.push(FieldProblem::new(format!("/secrets/{API_KEY}"), "invalid_characters", HEADER_VALUE));
    }
    let is_set = |name: &str| settings.get(name).is_some_and(|value| value == "true");
    provider.capabilities.partial_reverse = is_set(PARTIAL_REVERSALS);
    provider.capabilities.inquiry = is_set(NOT_FOUND_IS_PROOF);
    problems
}

const HEADER_VALUE: &str = "must be 1 to 256 visible ASCII characters";

fn is_header_value(text: &str) -> bool {
    (1..=VALUE_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What is wrong about a setting.
fn setting(name: &str, value: &str) -> Option<FieldProblem> {
    let one_of = |known: &[&str]| (!known.contains(&value)).then(|| ("unknown_value", format!("must be one of {}", known.join(", "))));
    let problem = match name {
        name if is_common_setting(name) => None,
        TRANSACTION => one_of(&["disbursement", "transfer"]),
        NOTIFY => one_of(&["callback", "polling"]),
        RESPONSES | PARTIAL_REVERSALS | NOT_FOUND_IS_PROOF => one_of(BOOLEANS),
        DEBIT_PARTY_TYPE => one_of(ACCOUNT_TYPES),
        DEBIT_PARTY => {
            let fits = (1..=VALUE_MAX).contains(&value.chars().count()) && !value.contains(char::is_control);
            (!fits).then(|| ("invalid_characters", format!("must be 1 to {VALUE_MAX} characters, none of them control characters")))
        }
        X_CLIENT_ID => (!is_header_value(value)).then(|| ("invalid_characters", HEADER_VALUE.to_owned())),
        TOKEN_URL => (!is_address(value))
            .then(|| ("url_malformed", "must be an http or https address without user name, query and fragment".to_owned())),
        _ => Some(("unknown_field", "is not a setting of this rail".to_owned())),
    };
    problem.map(|(code, said)| FieldProblem::new(format!("/settings{}", pointer(name)), code, said))
}
