//! Compares the lines of a statement with the settlements at its provider: by reference and key while the settlements are walked, and
//! then, what is left, by amount, time and participant.

use std::collections::HashMap;
use std::ops::Range;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{ProviderNo, SettlementNo};
use crate::lifecycle::{Direction, ReversalStatus, SettlementStatus};
use crate::reconcile::{Compact, Done, Item, LINES_MAX, Lines, Place, RETURN, REVERSAL, State, judge, likely, party, unusable};
use crate::store::record::{FindingKind, Key, MatchedBy, ReconciliationRecord, Record, ReversalRecord, ReviewReason, SettlementRecord};
use crate::store::{Lookup, Scan, typed_all};
use crate::time::Millis;
use crate::trace::settlement_ulid;

use super::earlier::{Earlier, packed};

/// How many settlements are read at a time.
const PAGE: usize = 1_000;

/// The most findings of one reconciliation.
pub(super) const FINDINGS_MAX: usize = 100_000;
/// The most payments that no line names: either a line without a name is about one, or it is a finding.
const REST_MAX: usize = LINES_MAX as usize + FINDINGS_MAX;

/// Why a statement is not compared to its end.
pub(super) fn too_many(count: usize) -> Error {
    unusable("line 1", format!("{count} differences and more are too many to look at: is it a statement of this provider?"))
}

/// A finding before its texts are known.
pub(super) struct Draft {
    pub(super) kind: FindingKind,
    pub(super) settlement: SettlementNo,
    pub(super) place: Place,
    pub(super) line: Option<u32>,
    pub(super) by: Option<MatchedBy>,
    pub(super) confidence: u16,
    pub(super) reason: Option<ReviewReason>,
}

/// What a comparison found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) drafts: Vec<Draft>,
    /// What matches, with the identity of the line.
    pub(super) matches: Vec<(i64, u64)>,
    pub(super) by_reference: u32,
    pub(super) by_key: u32,
    pub(super) by_amount: u32,
}

pub(super) struct Comparison<'a> {
    pub(super) engine: &'a Engine,
    pub(super) provider: ProviderNo,
    pub(super) lines: Lines,
    pub(super) grace: Millis,
    pub(super) found: Found,
    /// What no line names, of the time that matters.
    rest: Vec<Item>,
    near: Range<Millis>,
}

/// A line that names something of a settlement.
struct Named {
    line: u32,
    by: MatchedBy,
    place: Place,
}

impl<'a> Comparison<'a> {
    /// A comparison of these lines; what was carried out outside of `near` is compared with those only that name it.
    pub(super) fn new(engine: &'a Engine, provider: ProviderNo, lines: Lines, grace: Millis, near: Range<Millis>) -> Self {
        Self { engine, provider, lines, grace, found: Found::default(), rest: Vec::new(), near }
    }

    /// Walks the settlements at the provider above `first` and up to `last`, and those that keys name beyond.
    pub(super) fn walk(&mut self, first: SettlementNo, last: SettlementNo, runs: &[ReconciliationRecord]) -> Result<()> {
        let store = &*self.engine.store;
        let (mut after, mut earlier) = (first, Earlier::of(store, runs, first));
        loop {
            let page: Vec<SettlementRecord> = typed_all(store.scan(&Scan::settlements_at(self.provider, after, last, PAGE))?)?;
            let Some(end) = page.last().map(|record| record.no) else { break };
            after = end;
            let before = earlier.take(end)?;
            self.meet_all(&page, &before)?;
        }
        let named = self.lines.open_keys();
        let mut earlier = Earlier::of(store, runs, named.first().copied().unwrap_or(last));
        for page in named.chunks(PAGE) {
            let lookups: Vec<Lookup> = page.iter().map(|no| Lookup::Get(Key::Settlement(*no))).collect();
            let found = store.look_up(&lookups)?.into_iter().flatten();
            let page = found.filter_map(|it| if let Record::Settlement(it) = it { Some(it) } else { None });
            // Of those that were walked, what a key names that is still open does not exist.
            let is_new = |it: &SettlementRecord| it.provider != self.provider || it.no <= first || it.no > last;
            let page: Vec<SettlementRecord> = page.filter(is_new).collect();
            let before = page.last().map_or(Ok(HashMap::new()), |last| earlier.take(last.no))?;
            self.meet_all(&page, &before)?;
        }
        Ok(())
    }

    fn meet_all(&mut self, page: &[SettlementRecord], before: &HashMap<i64, u64>) -> Result<()> {
        let with: Vec<SettlementNo> = page.iter().filter(|record| record.reversals > 0).map(|record| record.no).collect();
        let scans: Vec<Lookup> = with.iter().map(|no| Lookup::Scan(Scan::reversals(*no))).collect();
        let mut reversals: HashMap<SettlementNo, Vec<ReversalRecord>> = HashMap::new();
        for (no, found) in with.into_iter().zip(self.engine.store.look_up(&scans)?) {
            reversals.insert(no, typed_all(found)?);
        }
        page.iter().for_each(|record| self.meet(record, reversals.get(&record.no).map_or(&[], Vec::as_slice), before));
        if self.rest.len() > REST_MAX { Err(too_many(self.rest.len())) } else { Ok(()) }
    }

    /// Compares one settlement with the lines that name it.
    fn meet(&mut self, record: &SettlementRecord, reversals: &[ReversalRecord], before: &HashMap<i64, u64>) {
        let items = items(record, reversals, self.provider);
        let mut taken: Vec<Place> = Vec::new();
        for Named { line, by, place } in self.named(record, reversals) {
            let compact = self.lines.all[line as usize];
            let Some(item) = meant(record, &items, place, &compact, &taken, before) else { continue };
            let is_before = match (taken.contains(&item.place), before.get(&packed(item.settlement, item.place))) {
                (true, _) => Done::Other,
                (false, Some(entry)) if *entry == compact.entry => Done::Same,
                (false, Some(_)) => Done::Other,
                (false, None) => Done::No,
            };
            let verdict = judge(&compact, &item, is_before);
            self.lines.all[line as usize].done = true;
            taken.push(item.place);
            match verdict {
                None => self.matched(&item, compact.entry, by, is_before),
                Some(kind) => self.differs(kind, &item, line, by, 100),
            }
        }
        let known = |item: &&Item| !taken.contains(&item.place) && !before.contains_key(&packed(item.settlement, item.place));
        self.rest.extend(items.iter().filter(known).filter(|item| item.state != State::Dead && self.near.contains(&item.at)));
    }

    fn matched(&mut self, item: &Item, entry: u64, by: MatchedBy, before: Done) {
        let count = match by {
            MatchedBy::RailReference => &mut self.found.by_reference,
            MatchedBy::RailKey => &mut self.found.by_key,
            MatchedBy::Amount => &mut self.found.by_amount,
        };
        *count += 1;
        if before == Done::No {
            self.found.matches.push((packed(item.settlement, item.place), entry));
        }
    }

    fn differs(&mut self, kind: FindingKind, item: &Item, line: u32, by: MatchedBy, confidence: u16) {
        let reason = if item.state == State::Open { ReviewReason::InStatement } else { ReviewReason::StatementDiffers };
        let (settlement, place) = (item.settlement, item.place);
        let draft = Draft { kind, settlement, place, line: Some(line), by: Some(by), confidence, reason: Some(reason) };
        // It was found there, even if not as it should be: a later statement must not have it again.
        if item.state == State::Done && kind == FindingKind::AmountDiffers {
            self.found.matches.push((packed(settlement, place), self.lines.all[line as usize].entry));
        }
        self.found.drafts.push(draft);
    }

    /// The lines that name something of a settlement: by the provider's reference, then by key.
    fn named(&self, record: &SettlementRecord, reversals: &[ReversalRecord]) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut refer = |reference: Option<&String>, place: Place| {
            let lines = reference.into_iter().flat_map(|it| self.lines.referring(it));
            found.extend(lines.map(|line| Named { line, by: MatchedBy::RailReference, place }));
        };
        if record.provider == self.provider {
            reversals.iter().for_each(|it| refer(it.rail_reference.as_ref(), it.n | REVERSAL));
            refer(record.more.as_ref().and_then(|more| more.rail_reference.as_ref()), record.attempts);
        }
        let id = settlement_ulid(&self.engine.id_key, record);
        let keyed = self.lines.keyed(record.no, id);
        found.extend(keyed.map(|line| Named { line, by: MatchedBy::RailKey, place: self.lines.all[line as usize].place }));
        // Of one line, the first that names something counts; then the lines in their order.
        found.sort_by_key(|it| it.line);
        found.dedup_by_key(|it| it.line);
        found.retain(|it| !self.lines.all[it.line as usize].done);
        found
    }

    /// Compares what is left: lines that name nothing, and what no line names. What was carried out in `due` must be in the statement.
    pub(super) fn finish(mut self, due: Option<(Millis, Millis)>) -> Found {
        let mut rest = std::mem::take(&mut self.rest);
        for pair in likely(&self.lines, &rest, self.grace) {
            let (line, item) = (self.lines.all[pair.line as usize], rest[pair.item]);
            self.lines.all[pair.line as usize].done = true;
            rest[pair.item].state = State::Dead;
            match judge(&line, &item, Done::No) {
                None => self.matched(&item, line.entry, MatchedBy::Amount, Done::No),
                Some(kind) => self.differs(kind, &item, pair.line, MatchedBy::Amount, pair.confidence),
            }
        }
        let unknown = (0u32..).zip(&self.lines.all).filter(|(_, line)| !line.done).map(|(line, _)| line);
        let none = |line| Draft {
            kind: FindingKind::MissingHere,
            settlement: SettlementNo(0),
            place: 0,
            line: Some(line),
            by: None,
            confidence: 0,
            reason: None,
        };
        self.found.drafts.extend(unknown.map(none));
        let is_due = |item: &&Item| item.state == State::Done && due.is_some_and(|(from, to)| (from..to).contains(&item.at));
        let missing = |item: &Item| Draft {
            kind: FindingKind::MissingThere,
            settlement: item.settlement,
            place: item.place,
            line: None,
            by: None,
            confidence: 100,
            reason: Some(ReviewReason::StatementDiffers),
        };
        self.found.drafts.extend(rest.iter().filter(is_due).map(missing));
        self.found.drafts.sort_by_key(|draft| (draft.line.unwrap_or(u32::MAX), draft.settlement, draft.place));
        self.found
    }
}

/// What the gateway has of a settlement at a provider: the payment, and its reversals.
fn items(record: &SettlementRecord, reversals: &[ReversalRecord], provider: ProviderNo) -> Vec<Item> {
    use SettlementStatus as S;
    if record.provider != provider {
        return Vec::new();
    }
    let state = match record.status {
        S::Submitted | S::Unknown => State::Open,
        S::Completed | S::PartiallyReversed | S::Reversed | S::Returned => State::Done,
        S::Accepted | S::Failed | S::Cancelled => State::Dead,
    };
    let payment = Item {
        settlement: record.no,
        place: record.attempts,
        side: Direction::Outgoing,
        amount: record.amount,
        currency: record.currency.numeric(),
        party: party(record.to.identifier()),
        at: record.completed_at.unwrap_or(record.created_at),
        state,
    };
    let reversal = |it: &ReversalRecord| Item {
        place: it.n | REVERSAL,
        side: Direction::Incoming,
        amount: it.amount,
        at: it.completed_at.unwrap_or(it.created_at),
        state: match it.status {
            ReversalStatus::Submitted | ReversalStatus::Unknown => State::Open,
            ReversalStatus::Completed => State::Done,
            ReversalStatus::Accepted | ReversalStatus::Failed => State::Dead,
        },
        ..payment
    };
    std::iter::once(payment).chain(reversals.iter().map(reversal)).collect()
}

/// What a line is about that names a place in a settlement; `None` if there is no such place. What came back under the key of the payment
/// may be any of several equal reversals: one that this line matched before, then one that none did.
fn meant(
    record: &SettlementRecord,
    items: &[Item],
    place: Place,
    line: &Compact,
    taken: &[Place],
    before: &HashMap<i64, u64>,
) -> Option<Item> {
    if place & REVERSAL != 0 {
        return items.iter().find(|item| item.place == place).copied();
    }
    let payment = items.first().filter(|item| item.place == place).copied();
    match line.side {
        Direction::Outgoing if payment.is_some() => payment,
        // An attempt that was given up, and that the provider carried out all the same.
        Direction::Outgoing => (place <= record.attempts).then(|| nothing(record, place, Direction::Outgoing, record.amount)),
        Direction::Incoming => {
            let fits =
                |it: &&Item| it.place & REVERSAL != 0 && it.amount == line.amount && it.state != State::Dead && !taken.contains(&it.place);
            let claim = |it: &&Item| match before.get(&packed(it.settlement, it.place)) {
                Some(entry) if *entry == line.entry => 0,
                None => 1,
                Some(_) => 2,
            };
            let rest = record.amount - record.reversed;
            let back = nothing(record, RETURN, Direction::Incoming, rest);
            let state = if record.status == SettlementStatus::Returned { State::Done } else { State::Dead };
            Some(items.iter().filter(fits).min_by_key(claim).copied().unwrap_or(Item { state, ..back }))
        }
    }
}

/// Something that the gateway has not carried out.
fn nothing(record: &SettlementRecord, place: Place, side: Direction, amount: i64) -> Item {
    Item {
        settlement: record.no,
        place,
        side,
        amount,
        currency: record.currency.numeric(),
        party: 0,
        at: record.updated_at,
        state: State::Dead,
    }
}
