//! Lists of settlements: from query parameters to pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::api::{Caller, Page, SettlementView};
use crate::auth::base64url;
use crate::error::{Error, ErrorCode, FieldProblem, Result, excerpt};
use crate::ids::{ClientNo, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::{Direction, SettlementStatus};
use crate::money::Currency;
use crate::participant::Participant;
use crate::store::record::SettlementRecord;
use crate::store::{AmountBound, Place, Scan, SettlementFilter, typed, typed_all};
use crate::time::parse_rfc3339;

use crate::engine::Engine;

const DEFAULT_LIMIT: usize = 50;
const MOST: usize = 200;
/// How many of its owner's settlements a page with filters examines. One that finds too few ends early, with a cursor that goes on.
const EXAMINED: usize = 4_000;
/// The most parameters of a query, repeated ones included.
pub const PARAMETERS_MAX: usize = 64;

/// A parsed list request: which settlements, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// Filters; a settlement must match all of them.
    pub filter: SettlementFilter,
    /// Maximum number per page, 1 to 200.
    pub limit: usize,
    /// The page starts after the settlement in this cursor.
    cursor: Option<String>,
    /// Only payments of the client's end user of this name.
    user: Option<String>,
    /// No settlement can match, because a filter names something that does not exist.
    empty: bool,
}

impl ListRequest {
    /// The sandbox settlements that are open, in the largest pages, after a cursor.
    pub(crate) fn open_in_sandbox(cursor: Option<String>) -> Self {
        let status = vec![SettlementStatus::Accepted, SettlementStatus::Submitted, SettlementStatus::Unknown];
        let filter = SettlementFilter { status, mode: Some(Mode::Sandbox), ..SettlementFilter::default() };
        Self { filter, limit: MOST, cursor, user: None, empty: false }
    }

    /// The cursor, as it was sent.
    pub(crate) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Whether no settlement can match.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }

    /// The request for the next page, for hosts that stream whole lists; `None` after the last page.
    pub fn next(&self, page: &Page<SettlementView>) -> Option<Self> {
        page.next_cursor.clone().map(|cursor| Self { cursor: Some(cursor), ..self.clone() })
    }
}

impl Engine {
    /// Parses the query parameters of a list. Reports every faulty parameter by name.
    pub fn parse_list(&self, query: &[(String, String)]) -> Result<ListRequest> {
        if query.len() > PARAMETERS_MAX {
            let detail = format!("the query may have at most {PARAMETERS_MAX} parameters");
            return Err(Error::with(ErrorCode::MalformedRequest, detail));
        }
        let mut request = ListRequest { filter: SettlementFilter::default(), limit: DEFAULT_LIMIT, cursor: None, user: None, empty: false };
        let mut problems = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in query {
            if name != "status" && seen.contains(&name.as_str()) {
                problems.push(FieldProblem::new(excerpt(name), "duplicate_parameter", "the parameter may appear once"));
                continue;
            }
            seen.push(name);
            if name == "cursor" {
                request.cursor = Some(value.clone());
            } else if let Err((code, message)) = self.parameter(&mut request, name, value) {
                problems.push(FieldProblem::new(excerpt(name), code, message));
            }
        }
        if problems.is_empty() { Ok(request) } else { Err(Error::invalid(problems)) }
    }

    fn parameter(&self, request: &mut ListRequest, name: &str, value: &str) -> Result<(), (&'static str, String)> {
        let filter = &mut request.filter;
        match name {
            "limit" => {
                request.limit = value
                    .parse()
                    .ok()
                    .filter(|n| (1..=MOST).contains(n))
                    .ok_or_else(|| ("out_of_range", format!("limit must be a whole number from 1 to {MOST}")))?;
            }
            "status" => {
                let status =
                    SettlementStatus::from_name(value).ok_or_else(|| ("unknown_value", format!("{:?} is not a status", excerpt(value))))?;
                filter.status.push(status);
            }
            "currency" => {
                let currency = Currency::from_code(value)
                    .ok_or_else(|| ("currency_unknown", format!("{:?} is not an ISO 4217 code", excerpt(value))))?;
                filter.currency = Some(currency);
            }
            "provider" => {
                filter.provider = self.routes().number(value);
                request.empty |= filter.provider.is_none();
            }
            "to" => {
                let to = Participant::parse(value).map_err(|e| (e.code(), e.to_string()))?;
                filter.to = Some(to.as_str().to_owned());
            }
            "user" => request.user = Some(value.to_owned()),
            "reference" => filter.reference = Some(value.to_owned()),
            "sandbox" => filter.mode = Some(if boolean(value)? { Mode::Sandbox } else { Mode::Live }),
            "needs_review" => filter.needs_review = Some(boolean(value)?),
            "direction" => {
                let direction =
                    Direction::from_name(value).ok_or_else(|| ("unknown_value", format!("{:?} is not a direction", excerpt(value))))?;
                filter.direction = Some(direction);
            }
            "created_from" => filter.created_from = Some(time(value)?),
            "created_to" => filter.created_to = Some(time(value)?),
            "min_amount" => filter.min_amount = Some(bound(value, Rounding::Up)?),
            "max_amount" => filter.max_amount = Some(bound(value, Rounding::Down)?),
            _ => return Err(("unknown_parameter", format!("{:?} is not a parameter of this list", excerpt(name)))),
        }
        Ok(())
    }

    /// One page of the caller's settlements, newest first. A sandbox credential only sees sandbox settlements. A page with filters may
    /// have fewer than `limit` settlements, or none, and still a cursor: it examines only so many.
    pub fn list(&self, caller: &Caller, request: &ListRequest) -> Result<Page<SettlementView>> {
        let mut filter = request.filter.clone();
        let hidden = match (caller.mode, filter.mode) {
            (Mode::Sandbox, Some(Mode::Live)) => true,
            (Mode::Sandbox, None | Some(Mode::Sandbox)) => {
                filter.mode = Some(Mode::Sandbox);
                false
            }
            (Mode::Live, _) => false,
        };
        let is_nobody = match (caller.user, &request.user) {
            // A device sees its user's, whatever it asks for.
            (Some(no), _) => {
                filter.user = Some(no);
                false
            }
            (None, Some(name)) => {
                filter.user = self.user_number(caller, name)?;
                filter.user.is_none()
            }
            (None, None) => false,
        };
        if hidden || is_nobody || request.empty {
            return Ok(Page { data: Vec::new(), has_more: false, next_cursor: None });
        }
        let before = request.cursor.as_deref().map(|cursor| self.open_cursor(caller, cursor)).transpose()?;
        let (records, next) = self.page_of(caller.client, filter, before, request.limit)?;
        let next_cursor = next.map(|next| self.cursor(caller, next));
        let data = records.iter().map(|record| self.view(record, caller.client_id)).collect();
        Ok(Page { data, has_more: next_cursor.is_some(), next_cursor })
    }

    /// The next settlements that match, and the place after which the next page begins.
    fn page_of(
        &self,
        client: ClientNo,
        mut filter: SettlementFilter,
        before: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<SettlementRecord>, Option<Place>)> {
        let filtered = filter != SettlementFilter::default();
        let mut records: Vec<SettlementRecord> = Vec::new();
        for examined in [examined_first(limit), EXAMINED] {
            if filtered {
                let last = Scan::nth_settlement_of(client, &filter, before, examined.min(EXAMINED));
                filter.from = typed(self.store.scan(&last)?.pop())?.as_ref().map(place_of);
            }
            records = typed_all(self.store.scan(&Scan::settlements_of(client, &filter, before, limit + 1))?)?;
            if records.len() > limit || filter.from.is_none() {
                break;
            }
        }
        if records.len() > limit {
            records.truncate(limit);
            filter.from = records.last().map(place_of);
        }
        Ok((records, filter.from))
    }
}

/// Most pages are full soon: only what few settlements match is looked for among many.
fn examined_first(limit: usize) -> usize {
    4 * limit + 1
}

fn boolean(value: &str) -> Result<bool, (&'static str, String)> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(("wrong_type", format!("{:?} is neither true nor false", excerpt(value)))),
    }
}

fn time(value: &str) -> Result<i64, (&'static str, String)> {
    parse_rfc3339(value)
        .ok_or_else(|| ("time_malformed", format!("{:?} is not an RFC 3339 time, such as 2026-01-31T12:00:00Z", excerpt(value))))
}

enum Rounding {
    Up,
    Down,
}

impl Engine {
    /// The cursor of the page after this place. Masked and bound to the client, it reveals nothing internal, and opening it takes no
    /// read.
    fn cursor(&self, caller: &Caller, (at, no): Place) -> String {
        let salt = self.id_key.child("cursor", no, caller.client.0, at).0 as u64;
        cursor_of(self.id_key.seal(no, at, salt))
    }

    fn open_cursor(&self, caller: &Caller, text: &str) -> Result<Place> {
        let id = id_of(text)?;
        let place = (id.at_ms(), self.id_key.open(id));
        if self.cursor(caller, place) == text { Ok(place) } else { Err(Error::new(ErrorCode::InvalidCursor)) }
    }
}

fn place_of(record: &SettlementRecord) -> Place {
    (record.created_at, record.no)
}

/// A cursor for the page after the item with this public id.
pub(crate) fn cursor_of(id: Ulid) -> String {
    URL_SAFE_NO_PAD.encode(id.0.to_be_bytes())
}

/// The public id in a cursor. The list must check that the item exists.
pub(crate) fn id_of(cursor: &str) -> Result<Ulid> {
    base64url(cursor).map(|bytes| Ulid(u128::from_be_bytes(bytes))).ok_or_else(|| Error::new(ErrorCode::InvalidCursor))
}

/// A decimal bound in minor units, for each number of decimals. A bound between two minor units is rounded so that
/// exactly the amounts within it match.
fn bound(value: &str, rounding: Rounding) -> Result<AmountBound, (&'static str, String)> {
    let malformed = || ("amount_malformed", format!("{:?} is not a decimal amount, such as 10.50", excerpt(value)));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 15 || fraction.len() > 15 || !digits(whole) || !digits(fraction) || value.ends_with('.') {
        return Err(malformed());
    }
    let unscaled: i128 = format!("{whole}{fraction}").parse().map_err(|_| malformed())?;
    let mut minor = [0i64; 5];
    for (scale, out) in minor.iter_mut().enumerate() {
        let scaled = unscaled * 10i128.pow(scale as u32);
        let unit = 10i128.pow(fraction.len() as u32);
        let rounded = match rounding {
            Rounding::Up => (scaled + unit - 1) / unit,
            Rounding::Down => scaled / unit,
        };
        *out = i64::try_from(rounded).unwrap_or(i64::MAX);
    }
    Ok(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_between_two_minor_units_takes_in_exactly_what_lies_within() {
        assert_eq!(bound("10.5", Rounding::Up).unwrap(), [11, 105, 1050, 10_500, 105_000]);
        assert_eq!(bound("10.5", Rounding::Down).unwrap(), [10, 105, 1050, 10_500, 105_000]);
        assert_eq!(bound("0.005", Rounding::Up).unwrap(), [1, 1, 1, 5, 50]);
        assert_eq!(bound("999999999999999", Rounding::Up).unwrap()[4], i64::MAX);
        for bad in ["", "-1", "1e3", ".5", "5.", "1.2.3", "1 ", "٣"] {
            assert!(bound(bad, Rounding::Up).is_err(), "{bad}");
        }
    }
}
