//! Filters of lists, their query parameters, and pages.

use railgate::api::{EntriesView, Page, SettlementView};
use serde::Deserialize;

use crate::error::{GatewayError, Problem};
use crate::mirror::Give;
use crate::names::{Direction, SettlementStatus};
use crate::values::{Decimal, Instant};
use crate::views::{Settlement, StatementEntry};

/// Selects settlements: those that match everything that is set.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct SettlementFilter {
    /// In one of these states; in any by default.
    #[uniffi(default = [])]
    pub statuses: Vec<SettlementStatus>,
    /// ISO 4217 code.
    #[uniffi(default = None)]
    pub currency: Option<String>,
    /// By the provider with this id.
    #[uniffi(default = None)]
    pub provider: Option<String>,
    /// To this participant, `namespace:identifier`.
    #[uniffi(default = None)]
    pub to: Option<String>,
    /// With this reference.
    #[uniffi(default = None)]
    pub reference: Option<String>,
    /// Of the client's end user of this name.
    #[uniffi(default = None)]
    pub user: Option<String>,
    /// Only payments by the client, or only payments to it.
    #[uniffi(default = None)]
    pub direction: Option<Direction>,
    /// Only those in which no real money moves (`true`), or only those in which it does (`false`).
    #[uniffi(default = None)]
    pub sandbox: Option<bool>,
    /// Only those that are flagged for review by a person, or only those that are not.
    #[uniffi(default = None)]
    pub needs_review: Option<bool>,
    /// Created at this time or later.
    #[uniffi(default = None)]
    pub created_from: Option<Instant>,
    /// Created before this time.
    #[uniffi(default = None)]
    pub created_to: Option<Instant>,
    /// Of this amount or more, in whatever currency.
    #[uniffi(default = None)]
    pub min_amount: Option<Decimal>,
    /// Of this amount or less.
    #[uniffi(default = None)]
    pub max_amount: Option<Decimal>,
    /// Page size, 1 to 200.
    #[uniffi(default = 50)]
    pub limit: u32,
    /// `next_cursor` of the previous page.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
}

/// The parameters of a query.
pub(crate) type Pairs = Vec<(String, String)>;

/// The parameters that are set.
pub(crate) fn pairs<const N: usize>(parts: [(&str, Option<String>); N]) -> Pairs {
    parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A path with a query.
pub(crate) fn below(path: &str, query: Pairs) -> String {
    let mut path = path.to_owned();
    for (n, (name, value)) in query.into_iter().enumerate() {
        path.push(if n == 0 { '?' } else { '&' });
        path.push_str(&format!("{name}={}", percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC)));
    }
    path
}

impl SettlementFilter {
    /// The query parameters. A status without a name is an error: to leave it out would list everything.
    pub(crate) fn query(self) -> Result<Pairs, GatewayError> {
        let (limit, cursor) = (self.limit, self.cursor.clone());
        let mut query = pairs([("limit", Some(limit.to_string())), ("cursor", cursor)]);
        query.extend(self.selection()?);
        Ok(query)
    }

    /// The query parameters without those of a page.
    pub(crate) fn selection(self) -> Result<Pairs, GatewayError> {
        let Self { statuses, currency, provider, to, reference, user, direction, sandbox, needs_review, created_from, created_to, .. } =
            self;
        let (min_amount, max_amount) = (self.min_amount, self.max_amount);
        let unknown = |what| GatewayError::invalid(Problem::local("invalid_fields", format!("this {what} cannot be searched for")));
        let direction = direction.map(|direction| direction.name().ok_or_else(|| unknown("direction"))).transpose()?;
        let mut query = pairs([
            ("currency", currency),
            ("provider", provider),
            ("to", to),
            ("reference", reference),
            ("user", user),
            ("direction", direction.map(str::to_owned)),
            ("sandbox", sandbox.map(|it| it.to_string())),
            ("needs_review", needs_review.map(|it| it.to_string())),
            ("created_from", created_from.map(Instant::rfc3339)),
            ("created_to", created_to.map(Instant::rfc3339)),
            ("min_amount", min_amount.map(Decimal::shortest)),
            ("max_amount", max_amount.map(Decimal::shortest)),
        ]);
        for status in statuses {
            query.push(("status".to_owned(), status.name().ok_or_else(|| unknown("status"))?.to_owned()));
        }
        Ok(query)
    }
}

/// A page of settlements.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct SettlementPage {
    /// The settlements, newest first.
    pub data: Vec<Settlement>,
    /// Whether there are more after this page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

impl Give<SettlementPage> for Page<SettlementView> {
    fn give(self) -> Result<SettlementPage, GatewayError> {
        let Self { data, has_more, next_cursor } = self;
        Ok(SettlementPage { data: data.give()?, has_more, next_cursor })
    }
}

/// Selects lines of a statement.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct StatementFilter {
    /// Posted at this time or later.
    #[uniffi(default = None)]
    pub since: Option<Instant>,
    /// Posted before this time.
    #[uniffi(default = None)]
    pub until: Option<Instant>,
    /// Page size, 1 to 200.
    #[uniffi(default = 50)]
    pub limit: u32,
    /// `next_cursor` of the previous page.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
}

impl StatementFilter {
    pub(crate) fn query(self) -> Pairs {
        let Self { since, until, limit, cursor } = self;
        let (since, until) = (since.map(Instant::rfc3339), until.map(Instant::rfc3339));
        pairs([("limit", Some(limit.to_string())), ("from", since), ("to", until), ("cursor", cursor)])
    }
}

/// A page of a statement.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct StatementPage {
    /// The lines, newest first.
    pub data: Vec<StatementEntry>,
    /// Whether there are more after this page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

impl Give<StatementPage> for EntriesView {
    fn give(self) -> Result<StatementPage, GatewayError> {
        let Self { data, has_more, next_cursor } = self;
        Ok(StatementPage { data: data.give()?, has_more, next_cursor })
    }
}
