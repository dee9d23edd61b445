//! Queries for more than single records: pages of one kind, described as data.
//!
//! A scan consists of a kind, conditions on its columns, an order and a limit. Every existing scan has a constructor here; there
//! are no others. Both databases render it from that description ([`sql`]), and the stores without a database execute it on plain
//! rows ([`walk`]).

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) mod sql;
mod walk;

use super::cell::Cell;
use super::column::Column;
use super::declare::place;
use super::record::*;
use crate::ids::{ClientNo, EndpointNo, ProviderNo, SettlementNo, UserNo};
use crate::ledger::{AccountId, Mode};
use crate::lifecycle::{BundleStatus, Direction, SettlementStatus};
use crate::money::Currency;
use crate::time::Millis;

/// One of a closed set of paged scans. `after` and `before` are exclusive; a scan returns at most `limit` records, where
/// `usize::MAX` means all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scan {
    shape: Shape,
    /// The values that the tests compare with, in order.
    cells: Vec<Cell>,
    limit: usize,
}

/// All of a scan except its values: it determines the statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    kind: RecordKind,
    tests: Vec<(u8, Is)>,
    order: Order,
    limit: Limit,
}

/// A condition on a column. No condition is true for NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Is {
    /// Equal to a value.
    Equal,
    /// Greater than a value.
    Above,
    /// Greater than or equal to a value.
    From,
    /// Less than a value.
    Below,
    /// Less than or equal to a value.
    UpTo,
    /// The primary key sorts after another one, given by as many values as the key has columns.
    Behind,
    /// Together with a primary key of one column, less than a pair of values.
    Before,
    /// Together with a primary key of one column, greater than or equal to a pair of values.
    NotBefore,
    /// A flag has this value. It is a literal in the statement because an index may require a constant condition.
    Flag(bool),
    /// Not this code. A literal for the same reason.
    Not(u8),
    /// The two lowest bits are 0.
    LowBitsZero,
    /// A code in a set with one bit per code.
    OneOf,
    /// Any of these codes, which are all that exist. Rows are clustered by code: each code is walked separately, and the walks are
    /// merged.
    Each(&'static [u8]),
    /// An amount of at least (or at most) one of five values, selected by the number of decimals of its currency.
    AtLeast,
    AtMost,
}

/// The order of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// By primary key, ascending.
    Key,
    /// By primary key, descending.
    KeyBackwards,
    /// By these columns, ascending.
    By(&'static [u8]),
    /// By these columns, descending.
    ByBackwards(&'static [u8]),
}

/// How a statement expresses the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Limit {
    None,
    One,
    Given,
    /// Only the last one of as many as given.
    Last,
}

/// Which settlements a list shows. Empty fields do not restrict it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SettlementFilter {
    /// Any of these statuses.
    pub status: Vec<SettlementStatus>,
    /// This currency.
    pub currency: Option<Currency>,
    /// This provider.
    pub provider: Option<ProviderNo>,
    /// This receiving participant, as canonical text.
    pub to: Option<String>,
    /// This reference.
    pub reference: Option<String>,
    /// This mode.
    pub mode: Option<Mode>,
    /// Created at or after this time.
    pub created_from: Option<Millis>,
    /// Created before this time.
    pub created_to: Option<Millis>,
    /// At least this amount, compared by value in each settlement's own currency.
    pub min_amount: Option<AmountBound>,
    /// At most this amount.
    pub max_amount: Option<AmountBound>,
    /// Flagged for review (`true`) or not (`false`).
    pub needs_review: Option<bool>,
    /// Only payments by their owner, or only payments to it.
    pub direction: Option<Direction>,
    /// Only payments of this end user.
    pub user: Option<UserNo>,
    /// At this place or a newer one: where a page stops to look.
    pub from: Option<Place>,
}

/// A decimal amount as a bound, in minor units for each number of decimals that a currency can have (0 to 4).
///
/// Computed once, so that a store only compares integers. Indexed by [`Currency::minor_units`].
pub type AmountBound = [i64; 5];

/// A settlement's place in its owner's list: when it was created, and its number.
pub type Place = (Millis, SettlementNo);

/// The index of a column. A wrong name does not compile.
macro_rules! column {
    ($kind:ident.$column:ident) => {
        const { place(RecordKind::$kind.lines(), stringify!($column)) }
    };
}

/// An order by these columns.
macro_rules! by {
    ($kind:ident: $($column:ident),+) => {
        Order::By(columns!($kind: $($column),+))
    };
}

/// The indexes of these columns.
macro_rules! columns {
    ($kind:ident: $($column:ident),+) => {
        const { &[$(place(RecordKind::$kind.lines(), stringify!($column))),+] }
    };
}

/// Scans for every kind.
impl Scan {
    /// Records of a kind by primary key, from the first one. Texts are ordered byte by byte.
    pub fn all(kind: RecordKind, limit: usize) -> Self {
        let given = if limit == usize::MAX { Limit::None } else { Limit::Given };
        Self { shape: Shape { kind, tests: Vec::new(), order: Order::Key, limit: given }, cells: Vec::new(), limit }
    }

    /// Like [`Scan::all`], but after a key, which need not exist.
    pub fn after(key: &Key, limit: usize) -> Self {
        let mut scan = Self::all(key.kind(), limit);
        scan.shape.tests.push((0, Is::Behind));
        // Only JSON can fail to be written, and keys contain none.
        let _ = key.bind(&mut scan.cells);
        scan
    }

    /// The record of a kind with the highest primary key, if there is one.
    pub fn last(kind: RecordKind) -> Self {
        Self::all(kind, usize::MAX).backwards().one()
    }

    /// The kind of its records.
    pub const fn kind(&self) -> RecordKind {
        self.shape.kind
    }

    /// The maximum number of records that it returns.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    fn backwards(mut self) -> Self {
        self.shape.order = Order::KeyBackwards;
        self
    }

    fn one(mut self) -> Self {
        (self.shape.limit, self.limit) = (Limit::One, 1);
        self
    }

    fn by(mut self, order: Order) -> Self {
        self.shape.order = order;
        self
    }

    /// Adds a condition that needs no value, or whose value has already been added.
    fn that(mut self, column: u8, is: Is) -> Self {
        self.shape.tests.push((column, is));
        self
    }

    fn with(mut self, column: u8, is: Is, value: impl Column) -> Self {
        // Only JSON can fail to be written, and nothing is compared with JSON.
        let _ = value.put(&mut self.cells);
        self.that(column, is)
    }

    fn with_some(self, column: u8, is: Is, value: Option<impl Column>) -> Self {
        match value {
            Some(value) => self.with(column, is, value),
            None => self,
        }
    }

    /// The children of a settlement; none for a number without a settlement.
    fn children(kind: RecordKind, of: SettlementNo) -> Self {
        let scan = Self::all(kind, usize::MAX).with(0, Is::From, (of, 0u16));
        match Column::refusal(&of) {
            None => scan.with(0, Is::UpTo, (of, u16::MAX)),
            Some(_) => scan.with(0, Is::UpTo, i64::MIN),
        }
    }
}

/// Scans for settlements and what belongs to them.
impl Scan {
    /// Of a client's settlements, newest first and older than `before` if given, the one at place `n`, from 1; none if there are fewer. Of
    /// the filter, only the times of creation and the user count: those are in an index, in which the others are counted without reading
    /// them.
    pub fn nth_settlement_of(client: ClientNo, filter: &SettlementFilter, before: Option<Place>, n: usize) -> Self {
        let SettlementFilter { created_from, created_to, user, .. } = *filter;
        let counted = SettlementFilter { created_from, created_to, user, ..SettlementFilter::default() };
        let mut scan = Self::settlements_of(client, &counted, before, n);
        scan.shape.limit = Limit::Last;
        scan
    }

    /// A client's settlements, newest first; older than `before` if given.
    pub fn settlements_of(client: ClientNo, filter: &SettlementFilter, before: Option<Place>, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit);
        // A user belongs to one client, and has an index.
        let scan = if filter.user.is_some() { scan } else { scan.with(column!(Settlement.client), Is::Equal, client) };
        let scan = scan.by(Order::ByBackwards(columns!(Settlement: created_at, no))).matching(filter);
        scan.at(Is::NotBefore, filter.from).at(Is::Before, before)
    }

    /// Only settlements that match the filter, except for its place.
    fn matching(self, filter: &SettlementFilter) -> Self {
        let SettlementFilter {
            status,
            currency,
            provider,
            to,
            reference,
            mode,
            created_from,
            created_to,
            min_amount,
            max_amount,
            needs_review,
            direction,
            user,
            from: _,
        } = filter;
        let set = status.iter().fold(0i64, |set, status| set | 1 << status.code());
        let mut scan = self
            .with_some(column!(Settlement.status), Is::OneOf, Some(set).filter(|_| !status.is_empty()))
            .with_some(column!(Settlement.currency), Is::Equal, *currency)
            .with_some(column!(Settlement.provider), Is::Equal, *provider)
            .with_some(column!(Settlement.recipient), Is::Equal, to.clone())
            .with_some(column!(Settlement.reference), Is::Equal, reference.clone())
            .with_some(column!(Settlement.mode), Is::Equal, *mode)
            .with_some(column!(Settlement.created_at), Is::From, *created_from)
            .with_some(column!(Settlement.created_at), Is::Below, *created_to)
            .with_some(column!(Settlement.hold), Is::Equal, direction.filter(|it| *it == Direction::Incoming).map(|_| 0u16))
            .with_some(column!(Settlement.hold), Is::Above, direction.filter(|it| *it == Direction::Outgoing).map(|_| 0u16))
            .with_some(column!(Settlement.app_user), Is::Equal, *user);
        // Only the usual number of decimals always occurs in the statement, and SQLite accepts no value beyond the last parameter.
        scan.shape.limit = Limit::Given;
        for (bound, is) in [(min_amount, Is::AtLeast), (max_amount, Is::AtMost)] {
            if let Some(bound) = bound {
                scan.cells.extend(bound.map(Cell::Int));
                scan = scan.that(column!(Settlement.amount), is);
            }
        }
        match needs_review {
            Some(flag) => scan.that(column!(Settlement.needs_review), Is::Flag(*flag)),
            None => scan,
        }
    }

    /// Compares with a place in a list of settlements.
    fn at(self, is: Is, place: Option<Place>) -> Self {
        let Some((at, no)) = place else { return self };
        self.pair(column!(Settlement.created_at), is, at, no)
    }

    /// Compares a column and the key with a pair of values.
    fn pair(mut self, column: u8, is: Is, value: impl Column, key: impl Column) -> Self {
        // Numbers can be written.
        let _ = value.put(&mut self.cells).and_then(|()| key.put(&mut self.cells));
        self.that(column, is)
    }

    /// Settlements that wait to be sent and expired before this time, the earliest first; after the one at this place if given.
    pub fn expired_before(before: Millis, after: Option<Place>, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit).by(by!(Settlement: expires_at, no));
        let scan = scan.with(column!(Settlement.status), Is::Equal, SettlementStatus::Accepted);
        let scan = scan.with(column!(Settlement.expires_at), Is::Below, before);
        match after {
            Some((at, no)) => scan.pair(column!(Settlement.expires_at), Is::NotBefore, at, SettlementNo(no.0.saturating_add(1))),
            None => scan,
        }
    }

    /// [`Scan::expired_before`], of one client in one mode.
    pub fn expired_of(client: ClientNo, mode: Mode, before: Millis, limit: usize) -> Self {
        let scan = Self::expired_before(before, None, limit).with(column!(Settlement.client), Is::Equal, client);
        scan.with(column!(Settlement.mode), Is::Equal, mode)
    }

    /// A settlement's events by sequence number, above `after`.
    pub fn events(settlement: SettlementNo, after: u32, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Event, limit).with(column!(Event.k), Is::Above, (settlement, after));
        scan.with(column!(Event.k), Is::UpTo, (settlement, u16::MAX))
    }

    /// All attempts of a settlement, by number.
    pub fn attempts(of: SettlementNo) -> Self {
        Self::children(RecordKind::Attempt, of)
    }

    /// All reversals of a settlement, by number.
    pub fn reversals(of: SettlementNo) -> Self {
        Self::children(RecordKind::Reversal, of)
    }

    /// All transfers of a journal number, by `n`.
    pub fn transfers(of: SettlementNo) -> Self {
        Self::children(RecordKind::Transfer, of)
    }

    /// The simulated operator's payments for a settlement.
    pub fn sim_payments(of: SettlementNo) -> Self {
        Self::children(RecordKind::SimPayment, of)
    }

    /// Tasks with a key above `after` that are due at or before `until`, by key; `Millis::MAX` for all.
    pub fn tasks(after: TaskKey, until: Millis, limit: usize) -> Self {
        // Nothing is due before the earliest time that a key can express.
        let last = if until < i64::MIN >> 20 { i64::MIN } else { until.min(i64::MAX >> 20) << 20 | 0xf_ffff };
        let scan = Self::all(RecordKind::Task, limit).with(column!(Task.key), Is::Above, after);
        scan.with(column!(Task.key), Is::UpTo, last)
    }

    /// Tasks of which the clock of a client's sandbox knows, with a key above `after` and up to one due at `until`, by key.
    pub fn tasks_of(client: ClientNo, after: TaskKey, until: Millis, limit: usize) -> Self {
        Self::tasks(after, until, limit).with(column!(Task.client), Is::Equal, client)
    }

    /// Clocks that were first changed at or after this time, in that order.
    pub fn clocks_since(since: Millis, limit: usize) -> Self {
        Self::all(RecordKind::Clock, limit).by(by!(Clock: since)).with(column!(Clock.since), Is::From, since)
    }

    /// A client's accounts, by key.
    pub fn accounts_of(client: ClientNo) -> Self {
        // They are adjacent to those of other owners with the same number, which differ in the two lowest bits.
        Self::accounts_numbered(client.0.into()).that(column!(Account.id), Is::LowBitsZero)
    }

    /// The lines of an account's statement, newest first: from the number `from` on, and below `before`.
    pub fn entries(account: AccountId, from: i64, before: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Entry, limit).backwards().with(column!(Entry.account), Is::Equal, account);
        scan.with(column!(Entry.n), Is::From, from).with(column!(Entry.n), Is::Below, before)
    }

    /// The last line of an account's statement, if there is one.
    pub fn last_entry(account: AccountId) -> Self {
        Self::last(RecordKind::Entry).with(column!(Entry.account), Is::Equal, account)
    }

    /// The accounts of every owner with this number, by key: a provider's, and a client's.
    pub fn accounts_numbered(no: i64) -> Self {
        let from = no << 16;
        let scan = Self::all(RecordKind::Account, usize::MAX).with(column!(Account.id), Is::From, from);
        scan.with(column!(Account.id), Is::UpTo, from | 0xffff)
    }

    /// Idempotency records created before this time, oldest first.
    pub fn idempotency_before(created: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Idempotency, limit).by(by!(Idempotency: created_at));
        scan.with(column!(Idempotency.created_at), Is::Below, created)
    }
}

/// Scans for authentication.
impl Scan {
    /// A client's keys, by number.
    pub fn keys_of(client: ClientNo) -> Self {
        Self::all(RecordKind::Key, usize::MAX).with(column!(Key.client), Is::Equal, client)
    }

    /// Nonces that expired before this time, oldest first.
    pub fn nonces_expired_before(expired: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Nonce, limit).by(by!(Nonce: expires_at));
        scan.with(column!(Nonce.expires_at), Is::Below, expired)
    }

    /// The nonce that expires last.
    pub fn last_nonce() -> Self {
        Self::all(RecordKind::Nonce, 1).by(Order::ByBackwards(columns!(Nonce: expires_at))).one()
    }

    /// Tokens that expired before this time, oldest first.
    pub fn tokens_expired_before(expired: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Token, limit).by(by!(Token: expires_at));
        scan.with(column!(Token.expires_at), Is::Below, expired)
    }
}

/// Scans for enrolment and the audit trail.
impl Scan {
    /// Allowances that are unused since before this time, oldest first.
    pub fn allowances_before(since: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Allowance, limit).by(by!(Allowance: since));
        scan.with(column!(Allowance.since), Is::Below, since)
    }

    /// Invitations that expired before this time, oldest first.
    pub fn invitations_expired_before(expired: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Invitation, limit).by(by!(Invitation: expires_at));
        scan.with(column!(Invitation.expires_at), Is::Below, expired)
    }

    /// Audit records of refusals before this time, oldest first.
    pub fn refusals_before(at: Millis, limit: usize) -> Self {
        // Every code sorts after the empty text, and NULL fails the comparison.
        let scan = Self::all(RecordKind::Audit, limit).by(by!(Audit: at)).with(column!(Audit.refused), Is::Above, String::new());
        scan.with(column!(Audit.at), Is::Below, at)
    }
}

/// Scans for operators.
impl Scan {
    /// What operators did to a client's accounts, by reference, after this one.
    pub fn movements_of(client: ClientNo, after: &str, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Movement, limit).by(by!(Movement: reference)).with(column!(Movement.client), Is::Equal, client);
        scan.with(column!(Movement.reference), Is::Above, after.to_owned())
    }

    /// What operators asked for, newest first, below the number `before` (`i64::MAX` for the newest): with this stored status, or all.
    pub fn approvals(status: Option<ApprovalStatus>, before: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Approval, limit).backwards().with(column!(Approval.no), Is::Below, before);
        scan.with_some(column!(Approval.status), Is::Equal, status)
    }

    /// Settlements of all clients that match the filter, newest first by number: below `before`, and not below the `from` of the filter.
    pub fn settlements(filter: &SettlementFilter, from: SettlementNo, before: SettlementNo, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit).backwards().with(column!(Settlement.no), Is::From, from);
        scan.with(column!(Settlement.no), Is::Below, before).matching(filter)
    }

    /// Settlements at a provider by number, above `after` and up to `last`.
    pub fn settlements_at(provider: ProviderNo, after: SettlementNo, last: SettlementNo, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit).with(column!(Settlement.no), Is::Above, after);
        scan.with(column!(Settlement.no), Is::UpTo, last).with(column!(Settlement.provider), Is::Equal, provider)
    }

    /// Reconciliations below the number `before` (`i64::MAX` for the newest), newest first; of this provider, or all.
    pub fn reconciliations(provider: Option<ProviderNo>, before: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Reconciliation, limit).backwards().with(column!(Reconciliation.no), Is::Below, before);
        scan.with_some(column!(Reconciliation.provider), Is::Equal, provider)
    }

    /// The findings of a reconciliation by number, above `after`; of this kind, or all.
    pub fn findings(run: i64, kind: Option<FindingKind>, after: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Finding, limit).with(column!(Finding.run), Is::Equal, run);
        scan.with(column!(Finding.n), Is::Above, after).with_some(column!(Finding.kind), Is::Equal, kind)
    }

    /// What reconciliations found about a settlement, in the order in which it was found.
    pub fn findings_of(settlement: SettlementNo, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Finding, limit).by(by!(Finding: run, n));
        scan.with(column!(Finding.settlement), Is::Equal, settlement)
    }

    /// The pages of what a reconciliation matched, by number, above `after`.
    pub fn matches(run: i64, after: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Matches, limit).with(column!(Matches.run), Is::Equal, run);
        scan.with(column!(Matches.n), Is::Above, after)
    }

    /// Audit records below the number `before` (`i64::MAX` for the newest), newest first.
    pub fn audit_before(before: i64, limit: usize) -> Self {
        Self::all(RecordKind::Audit, limit).backwards().with(column!(Audit.no), Is::Below, before)
    }
}

/// Scans for the mobile API.
impl Scan {
    /// A client's end users in one mode, by name, after this one.
    pub fn users_of(client: ClientNo, mode: Mode, after: &str, limit: usize) -> Self {
        let scan = Self::all(RecordKind::User, limit).by(by!(User: name)).with(column!(User.client), Is::Equal, client);
        scan.with(column!(User.mode), Is::Equal, mode).with(column!(User.name), Is::Above, after.to_owned())
    }

    /// Settlements of the end user in the filter that match it, newest first.
    pub fn settlements_of_user(filter: &SettlementFilter, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit);
        scan.by(Order::ByBackwards(columns!(Settlement: created_at, no))).matching(filter)
    }

    /// An end user's devices, revoked ones too, by the numbers of their keys.
    pub fn devices_of(user: UserNo) -> Self {
        Self::all(RecordKind::Device, usize::MAX).with(column!(Device.app_user), Is::Equal, user)
    }

    /// The codes with which devices of an end user may enrol.
    pub fn device_codes_of(user: UserNo) -> Self {
        Self::all(RecordKind::DeviceCode, usize::MAX).with(column!(DeviceCode.app_user), Is::Equal, user)
    }

    /// Codes of devices that expired before this time, oldest first.
    pub fn device_codes_expired_before(expired: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::DeviceCode, limit).by(by!(DeviceCode: expires_at));
        scan.with(column!(DeviceCode.expires_at), Is::Below, expired)
    }
}

/// Scans for bundles.
impl Scan {
    /// Bundles below the number `before` (`i64::MAX` for the newest), newest first; in this state, or all.
    pub fn bundles(status: Option<BundleStatus>, before: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Bundle, limit).backwards().with(column!(Bundle.no), Is::Below, before);
        scan.with_some(column!(Bundle.status), Is::Equal, status)
    }

    /// A client's bundles in one mode, like [`Scan::bundles`].
    pub fn bundles_of(client: ClientNo, mode: Mode, before: i64, limit: usize) -> Self {
        let scan = Self::bundles(None, before, limit).with(column!(Bundle.client), Is::Equal, client);
        scan.with(column!(Bundle.mode), Is::Equal, mode)
    }

    /// Bundles whose test is due at or before `until`, earliest first.
    pub fn bundles_due(until: Millis, limit: usize) -> Self {
        Self::all(RecordKind::Bundle, limit).by(by!(Bundle: due, no)).with(column!(Bundle.due), Is::UpTo, until)
    }

    /// The parts of a revision of a bundle, the manifest first.
    pub fn bundle_parts(bundle: i64, revision: u32) -> Self {
        let scan = Self::all(RecordKind::BundlePart, usize::MAX).with(column!(BundlePart.bundle), Is::Equal, bundle);
        scan.with(column!(BundlePart.revision), Is::Equal, revision)
    }

    /// The manifest of the last revision of a bundle that is kept before this one.
    pub fn kept_before(bundle: i64, revision: u32) -> Self {
        let scan = Self::all(RecordKind::BundlePart, usize::MAX).backwards().with(column!(BundlePart.bundle), Is::Equal, bundle);
        scan.with(column!(BundlePart.revision), Is::Below, revision).with(column!(BundlePart.n), Is::Equal, 0u16).one()
    }

    /// The steps of a bundle by number, above `after`.
    pub fn bundle_steps(bundle: i64, after: u32, limit: usize) -> Self {
        let scan = Self::all(RecordKind::BundleStep, limit).with(column!(BundleStep.bundle), Is::Equal, bundle);
        scan.with(column!(BundleStep.n), Is::Above, after)
    }
}

/// Scans for what devices measured.
impl Scan {
    /// What a client's devices measured of one thing, in the hours and days that begin from `from` on and before `to`, by key.
    pub fn quality(client: ClientNo, mode: Mode, metric: &str, from: Millis, to: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Quality, limit).with(column!(Quality.owner), Is::Equal, (client, mode));
        let scan = scan.with(column!(Quality.metric), Is::Equal, metric.to_owned());
        scan.with(column!(Quality.begins_at), Is::From, from).with(column!(Quality.begins_at), Is::Below, to)
    }

    /// What devices of any client measured of one thing, in the hours, or in the days, that begin from `from` on and before `to`, oldest
    /// first; of both modes.
    pub fn quality_of_all(is_day: bool, metric: &str, from: Millis, to: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Quality, limit).by(by!(Quality: begins_at)).that(column!(Quality.is_day), Is::Flag(is_day));
        let scan = scan.with(column!(Quality.metric), Is::Equal, metric.to_owned());
        scan.with(column!(Quality.begins_at), Is::From, from).with(column!(Quality.begins_at), Is::Below, to)
    }

    /// What was measured in hours, or in days, that began before this time, oldest first.
    pub fn quality_before(is_day: bool, begun: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Quality, limit).by(by!(Quality: begins_at)).that(column!(Quality.is_day), Is::Flag(is_day));
        scan.with(column!(Quality.begins_at), Is::Below, begun)
    }

    /// What devices reported on days before this one, by day.
    pub fn quality_seen_before(day: i64, limit: usize) -> Self {
        Self::all(RecordKind::QualitySeen, limit).with(column!(QualitySeen.day), Is::Below, day)
    }
}

/// Scans for reviews.
impl Scan {
    /// What waits for a person and is due at or before `until`, earliest first; after the one with this time and key if given.
    pub fn reviews(until: Millis, after: Option<(Millis, SettlementNo, u16)>, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Review, limit).by(by!(Review: due, k)).with(column!(Review.due), Is::UpTo, until);
        let Some((due, settlement, child)) = after else { return scan };
        // The first key after it: a settlement has far fewer reversals than a key has room for.
        scan.pair(column!(Review.due), Is::NotBefore, due, (settlement, child.saturating_add(1)))
    }

    /// Settlements that need review, of all clients.
    pub fn flagged(limit: usize) -> Self {
        let scan = Self::all(RecordKind::Settlement, limit).by(by!(Settlement: client, created_at, no));
        scan.that(column!(Settlement.needs_review), Is::Flag(true))
    }

    /// Of a settlement, everything that waits for a person: itself first, then its reversals.
    pub fn reviews_of(settlement: SettlementNo) -> Self {
        Self::children(RecordKind::Review, settlement)
    }
}

/// Scans for notifications.
impl Scan {
    /// A user's notifications below the number `before` (`i64::MAX` for the newest), newest first; only unread ones, if asked for.
    pub fn notifications_of(user: UserNo, unread: bool, before: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Notification, limit).backwards().with(column!(Notification.app_user), Is::Equal, user);
        let scan = scan.with(column!(Notification.n), Is::Below, before);
        if unread { scan.that(column!(Notification.unread), Is::Flag(true)) } else { scan }
    }

    /// A user's notifications above the number `after`, by number.
    pub fn notifications_after(user: UserNo, after: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Notification, limit).with(column!(Notification.app_user), Is::Equal, user);
        scan.with(column!(Notification.n), Is::Above, after)
    }

    /// A user's last notification, if there is one.
    pub fn last_notification(user: UserNo) -> Self {
        Self::last(RecordKind::Notification).with(column!(Notification.app_user), Is::Equal, user)
    }

    /// Of a user's notifications, newest first, the one at place `n`, from 1; none if there are fewer.
    pub fn nth_notification(user: UserNo, n: usize) -> Self {
        let mut scan = Self::all(RecordKind::Notification, n).backwards().with(column!(Notification.app_user), Is::Equal, user);
        scan.shape.limit = Limit::Last;
        scan
    }

    /// Notifications of any user of what happened before this time, oldest first.
    pub fn notifications_before(at: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Notification, limit).by(by!(Notification: at));
        scan.with(column!(Notification.at), Is::Below, at)
    }
}

/// Scans for the log and webhooks.
impl Scan {
    /// A client's feed in one mode by position, above `after`.
    pub fn feed(client: ClientNo, mode: Mode, after: i64, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Feed, limit).with(column!(Feed.owner), Is::Equal, (client, mode));
        scan.with(column!(Feed.position), Is::Above, after)
    }

    /// The last entry of a client's feed, if there is one.
    pub fn last_feed(client: ClientNo, mode: Mode) -> Self {
        Self::last(RecordKind::Feed).with(column!(Feed.owner), Is::Equal, (client, mode))
    }

    /// A client's endpoints in one mode, without removed ones, by number.
    pub fn endpoints_of(client: ClientNo, mode: Mode) -> Self {
        let scan = Self::all(RecordKind::Endpoint, usize::MAX).with(column!(Endpoint.client), Is::Equal, client);
        scan.with(column!(Endpoint.mode), Is::Equal, mode).that(column!(Endpoint.status), Is::Not(EndpointStatus::Removed.code()))
    }

    /// An endpoint's secrets, by number.
    pub fn endpoint_secrets(of: EndpointNo) -> Self {
        Self::all(RecordKind::EndpointSecret, usize::MAX).with(column!(EndpointSecret.endpoint), Is::Equal, of)
    }

    /// Queues due at or before `until`, earliest first: those whose last delivery failed (`troubled`), or the others.
    pub fn queues(troubled: bool, until: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Queue, limit).by(by!(Queue: due, endpoint));
        scan.that(column!(Queue.troubled), Is::Flag(troubled)).with(column!(Queue.due), Is::UpTo, until)
    }

    /// An endpoint's deliveries due at or before `until`, earliest first.
    pub fn deliveries_due(endpoint: EndpointNo, until: Millis, limit: usize) -> Self {
        let scan = Self::all(RecordKind::Delivery, limit).by(by!(Delivery: due, no));
        scan.with(column!(Delivery.endpoint), Is::Equal, endpoint).with(column!(Delivery.due), Is::UpTo, until)
    }

    /// An endpoint's deliveries, newest first, below `before` (`i64::MAX` for the newest): those with `status`, or all.
    pub fn deliveries_of(endpoint: EndpointNo, before: i64, status: Option<DeliveryStatus>, limit: usize) -> Self {
        const ALL: &[u8] = &{
            let mut codes = [0; DeliveryStatus::ALL.len()];
            let mut at = 0;
            while at < codes.len() {
                codes[at] = DeliveryStatus::ALL[at].code();
                at += 1;
            }
            codes
        };
        let scan = Self::all(RecordKind::Delivery, limit).backwards().with(column!(Delivery.endpoint), Is::Equal, endpoint);
        let scan = scan.with(column!(Delivery.no), Is::Below, before);
        match status {
            Some(status) => scan.with(column!(Delivery.status), Is::Equal, status),
            None => scan.that(column!(Delivery.status), Is::Each(ALL)),
        }
    }

    /// Deliveries of any endpoint below this number, by number.
    pub fn deliveries_before(before: i64, limit: usize) -> Self {
        Self::all(RecordKind::Delivery, limit).with(column!(Delivery.no), Is::Below, before)
    }
}

impl Is {
    /// The number of values that it compares with, in a table whose primary key has `key` columns.
    fn width(self, key: u8) -> usize {
        match self {
            Is::Equal | Is::Above | Is::From | Is::Below | Is::UpTo | Is::OneOf => 1,
            Is::Behind => key.into(),
            Is::Before | Is::NotBefore => 2,
            Is::Flag(_) | Is::Not(_) | Is::LowBitsZero | Is::Each(_) => 0,
            Is::AtLeast | Is::AtMost => 5,
        }
    }
}
