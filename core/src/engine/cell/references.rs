//! The references that a client used, or operators for it, and its `Idempotency-Key`s, page by page.

use crate::engine::Engine;
use crate::error::Result;
use crate::ids::ClientNo;
use crate::store::record::{ElsewhereRecord, IdempotencyRecord, Key, MovementRecord, ReferenceKind, ReversalRecord, SettlementRecord};
use crate::store::{Place, Scan, SettlementFilter, typed_all};

use crate::ids::SettlementNo;

use super::leave::is_of_a_move;

/// How many records are read at a time, and written in one commit.
const PAGE: usize = 500;

/// Where the reading goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Cursor {
    /// The client's settlements with their reversals, newest first, before this one.
    Settlements(Option<Place>),
    /// What operators did to its accounts, after this reference.
    Movements(String),
    /// What it had used before it came to the gateway that it leaves, after this one.
    Elsewhere(ReferenceKind, String),
    /// The answers that are kept under its keys, after this key.
    Answers(String),
    /// All was read.
    #[default]
    End,
}

/// What is written in one commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Page {
    /// What was used: for what, the reference, the public id of what has it or what it is, and the gateway's address.
    used: Vec<(ReferenceKind, String, String, String)>,
    /// The answers, with their keys.
    pub(super) answers: Vec<IdempotencyRecord>,
}

impl Page {
    /// The records of a client with this number.
    pub(super) fn references(&self, client: ClientNo) -> impl Iterator<Item = ElsewhereRecord> {
        self.used.iter().cloned().map(move |(kind, reference, id, url)| ElsewhereRecord { client, kind, reference, id, url })
    }

    /// The keys of all of its records.
    pub(super) fn keys(&self, client: ClientNo) -> impl Iterator<Item = Key> {
        let used = self.used.iter().map(move |(kind, reference, ..)| Key::Elsewhere((client, *kind, reference.clone())));
        used.chain(self.answers.iter().map(move |answer| Key::Idempotency((client, answer.key.clone()))))
    }

    /// How many records it has.
    pub(super) fn len(&self) -> usize {
        self.used.len() + self.answers.len()
    }
}

impl Cursor {
    /// The beginning.
    pub(super) const fn begin() -> Self {
        Self::Settlements(None)
    }
}

impl Engine {
    /// The next page of what a client used, and where to go on. `url` is the address of this gateway.
    pub(super) fn page_of_used(&self, client: ClientNo, url: &str, cursor: Cursor) -> Result<(Page, Cursor)> {
        match cursor {
            Cursor::Settlements(before) => self.settlements_used(client, url, before),
            Cursor::Movements(after) => self.movements_used(client, url, &after),
            Cursor::Elsewhere(kind, reference) => {
                let after = Key::Elsewhere((client, kind, reference));
                let mut found: Vec<ElsewhereRecord> = typed_all(self.store.scan(&Scan::after(&after, PAGE))?)?;
                let full = found.len() == PAGE;
                found.retain(|record| record.client == client);
                let next = match found.last().filter(|_| full && found.len() == PAGE) {
                    Some(last) => Cursor::Elsewhere(last.kind, last.reference.clone()),
                    None => Cursor::Answers(String::new()),
                };
                let used = found.into_iter().map(|it| (it.kind, it.reference, it.id, it.url)).collect();
                Ok((Page { used, answers: Vec::new() }, next))
            }
            Cursor::Answers(key) => {
                let scan = Scan::after(&Key::Idempotency((client, key)), PAGE);
                let mut answers: Vec<IdempotencyRecord> = typed_all(self.store.scan(&scan)?)?;
                let full = answers.len() == PAGE;
                answers.retain(|answer| answer.client == client);
                let next = match answers.last().filter(|_| full && answers.len() == PAGE) {
                    Some(last) => Cursor::Answers(last.key.clone()),
                    None => Cursor::End,
                };
                // Without an answer of its own, it is that of a settlement which is not at the other gateway.
                answers.retain(|answer| answer.answer.is_some());
                let here_only = |answer| IdempotencyRecord { settlement: SettlementNo(0), reversal: 0, ..answer };
                Ok((Page { used: Vec::new(), answers: answers.into_iter().map(here_only).collect() }, next))
            }
            Cursor::End => Ok((Page::default(), Cursor::End)),
        }
    }

    fn settlements_used(&self, client: ClientNo, url: &str, before: Option<Place>) -> Result<(Page, Cursor)> {
        let scan = Scan::settlements_of(client, &SettlementFilter::default(), before, PAGE);
        let found: Vec<SettlementRecord> = typed_all(self.store.scan(&scan)?)?;
        let next = match found.last().filter(|_| found.len() == PAGE) {
            Some(last) => Cursor::Settlements(Some((last.created_at, last.no))),
            // No reference is so short: the first one comes after.
            None => Cursor::Movements(String::new()),
        };
        let mut used = Vec::new();
        for record in &found {
            let reference = record.reference.as_str();
            // What it was paid has a reference that no client can choose.
            if !reference.starts_with("stl_") {
                used.push((ReferenceKind::Settlement, reference.to_owned(), self.settlement_id(record), url.to_owned()));
            }
            if record.reversals == 0 {
                continue;
            }
            for reversal in typed_all::<ReversalRecord>(self.store.scan(&Scan::reversals(record.no))?)? {
                let Some(reference) = &reversal.reference else { continue };
                let id = format!("rev_{}", self.reversal_ulid(&reversal));
                used.push((ReferenceKind::Reversal, reference.as_str().to_owned(), id, url.to_owned()));
            }
        }
        Ok((Page { used, answers: Vec::new() }, next))
    }

    fn movements_used(&self, client: ClientNo, url: &str, after: &str) -> Result<(Page, Cursor)> {
        let found: Vec<MovementRecord> = typed_all(self.store.scan(&Scan::movements_of(client, after, PAGE))?)?;
        let next = match found.last().filter(|_| found.len() == PAGE) {
            Some(last) => Cursor::Movements(last.reference.as_str().to_owned()),
            None => Cursor::Elsewhere(ReferenceKind::Settlement, String::new()),
        };
        // What no operator named is named anew at the other gateway: the credit that came with the terms, and the move itself.
        let named = found.iter().filter(|it| !it.evidence.is_empty() && !is_of_a_move(it));
        let used = named.map(|it| {
            let what = format!("{} of {} {}", it.kind.as_str().replace('_', " "), it.money().decimal(), it.currency);
            (ReferenceKind::Movement, it.reference.as_str().to_owned(), what, url.to_owned())
        });
        Ok((Page { used: used.collect(), answers: Vec::new() }, next))
    }
}
