//! Combines the writes of a commit into a few statements without changing their meaning.
//!
//! Independent writes may be made in any order, so those of one kind become one statement. Dependent writes are separated by
//! layers: a write that touches a key which an earlier write touches is in a later layer. Nearly every commit has only one layer.

use std::collections::{BTreeMap, HashMap};

use super::cells::Batch;
use super::tables::{Action, statements};
use crate::store::cell::KeyBytes;
use crate::store::column::Sink as _;
use crate::store::record::{Key, Record, RecordKind};
use crate::store::shared::{Counts, Deltas};
use crate::store::{Commit, StoreError, Write};

/// The work of one transaction.
pub(super) struct Plan {
    /// The statements, in order.
    pub(super) steps: Vec<Step>,
    /// The sums of the transfers.
    pub(super) deltas: Deltas,
    /// The sums of what is counted.
    pub(super) counts: Counts,
    /// A new row that is never changed or removed, if there is one: if it exists, the whole commit was made.
    pub(super) witness: Option<Record>,
}

/// One statement.
pub(super) struct Step {
    /// The kind of its rows.
    pub(super) kind: RecordKind,
    /// The action on the table.
    pub(super) action: Action,
    /// The rows.
    pub(super) batch: Batch,
    /// The index of the write for each row.
    pub(super) writes: Vec<usize>,
    /// Whether it depends on no other statement of the transaction.
    pub(super) is_first: bool,
}

/// A key that two writes can both touch.
#[derive(PartialEq, Eq, Hash)]
enum Mark {
    Key(Key),
    Unique(KeyBytes),
}

/// The highest layer so far for each key.
#[derive(Default)]
struct Layers {
    marks: HashMap<Mark, u32>,
    /// The layers of inserts and deletes in tables with a further unique key. A delete does not tell which such key it frees: every
    /// insert must therefore stay before or after it, as in the commit.
    tables: HashMap<(RecordKind, Action), u32>,
}

impl Plan {
    /// Refuses only writes that no row can represent.
    pub(super) fn new(commit: &Commit) -> Result<Self, StoreError> {
        let mut layers = Layers { marks: HashMap::with_capacity(commit.writes.len()), ..Layers::default() };
        let mut witness = None;
        // Ordered by table and then by key: two commits that touch the same rows lock them in the same order and cannot deadlock.
        let mut groups: BTreeMap<(u32, RecordKind, Action), Vec<(Key, usize)>> = BTreeMap::new();
        for (index, write) in commit.writes.iter().enumerate() {
            let Some((key, action)) = target(write) else { continue };
            if witness.is_none() {
                witness = match write {
                    Write::Insert(record @ (Record::Event(_) | Record::Audit(_))) => Some(record.clone()),
                    Write::Post(transfer) => Some(transfer.clone().into()),
                    Write::Insert(_) | Write::Update { .. } | Write::Replace(_) | Write::Delete(_) => None,
                    Write::Count { .. } | Write::Floor { .. } | Write::Absent(_) => None,
                };
            }
            let layer = layers.of(write, &key, action)?;
            groups.entry((layer, key.kind(), action)).or_default().push((key, index));
        }
        let steps = groups.into_iter().map(|((layer, kind, action), mut group)| {
            group.sort_unstable();
            Ok(Step { is_first: layer == 0, ..step(kind, action, group, commit)? })
        });
        Ok(Self { steps: steps.collect::<Result<_, StoreError>>()?, deltas: Deltas::of(commit), counts: Counts::of(commit), witness })
    }
}

/// The row to write; `None` for what is added up instead.
fn target(write: &Write) -> Option<(Key, Action)> {
    match write {
        Write::Insert(record) => Some((record.key(), Action::Insert)),
        Write::Update { record, .. } | Write::Replace(record) => Some((record.key(), Action::Replace)),
        Write::Post(transfer) => Some((Key::Transfer((transfer.journal, transfer.n)), Action::Insert)),
        Write::Count { .. } | Write::Floor { .. } => None,
        Write::Delete(key) => Some((key.clone(), Action::Delete)),
        Write::Absent(key) => Some((key.clone(), Action::Miss)),
    }
}

impl Layers {
    fn of(&mut self, write: &Write, key: &Key, action: Action) -> Result<u32, StoreError> {
        let kind = key.kind();
        let unique = if let Write::Insert(record) = write { unique(record)? } else { None };
        let marks = [Some(Mark::Key(key.clone())), unique];
        let opposite = match action {
            Action::Insert => Some(Action::Delete),
            Action::Delete => Some(Action::Insert),
            Action::Replace | Action::Miss => None,
        };
        let has_unique = kind.layout().unique != 0;
        let opposite = opposite.filter(|_| has_unique).and_then(|action| self.tables.get(&(kind, action)));
        let before = marks.iter().flatten().filter_map(|mark| self.marks.get(mark)).chain(opposite).max();
        let layer = before.map_or(0, |before| before + 1);
        self.marks.extend(marks.into_iter().flatten().map(|mark| (mark, layer)));
        if has_unique {
            let highest = self.tables.entry((kind, action)).or_default();
            *highest = layer.max(*highest);
        }
        Ok(layer)
    }
}

/// The further unique key of a new record.
fn unique(record: &Record) -> Result<Option<Mark>, StoreError> {
    Ok(record.kind().layout().unique_key::<true>(record)?.map(Mark::Unique))
}

fn step(kind: RecordKind, action: Action, group: Vec<(Key, usize)>, commit: &Commit) -> Result<Step, StoreError> {
    let mut batch = Batch::new(&statements(kind).write(action).kinds);
    for (_, index) in &group {
        match &commit.writes[*index] {
            Write::Insert(record) | Write::Replace(record) => record.bind::<true, _>(&mut batch)?,
            Write::Update { record, expected } => {
                record.bind::<true, _>(&mut batch)?;
                batch.int((*expected).into())?;
            }
            Write::Post(transfer) => transfer.bind(&mut batch)?,
            Write::Count { .. } | Write::Floor { .. } => {}
            Write::Delete(key) | Write::Absent(key) => key.bind(&mut batch)?,
        }
    }
    Ok(Step { kind, action, batch, writes: group.into_iter().map(|(_, index)| index).collect(), is_first: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SettlementNo;
    use crate::store::record::{MetaRecord, ProviderRecord, TaskKey};

    fn meta(name: &str) -> Record {
        MetaRecord { name: name.to_owned(), value: Vec::new() }.into()
    }

    fn provider(no: u16, id: &str) -> Record {
        ProviderRecord { no: crate::ids::ProviderNo(no), id: id.to_owned() }.into()
    }

    fn steps(writes: Vec<Write>) -> Vec<(RecordKind, Action, Vec<usize>)> {
        let plan = Plan::new(&Commit { writes }).unwrap();
        plan.steps.into_iter().map(|step| (step.kind, step.action, step.writes)).collect()
    }

    #[test]
    fn what_has_nothing_in_common_is_one_statement_a_kind_in_the_order_of_keys() {
        let gone = |no| Write::Delete(Key::Task(TaskKey(no)));
        let found = steps(vec![gone(7), Write::Insert(meta("b")), gone(5), Write::Replace(meta("c")), Write::Insert(meta("a"))]);
        let expected = [
            (RecordKind::Task, Action::Delete, vec![2, 0]),
            (RecordKind::Meta, Action::Insert, vec![4, 1]),
            (RecordKind::Meta, Action::Replace, vec![3]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_touches_the_same_key_keeps_its_order() {
        let life = vec![
            Write::Insert(meta("a")),
            Write::Replace(meta("a")),
            Write::Delete(Key::Meta("a".to_owned())),
            Write::Insert(meta("a")),
            Write::Insert(meta("b")),
        ];
        let expected = [
            (RecordKind::Meta, Action::Insert, vec![0, 4]),
            (RecordKind::Meta, Action::Replace, vec![1]),
            (RecordKind::Meta, Action::Delete, vec![2]),
            (RecordKind::Meta, Action::Insert, vec![3]),
        ];
        assert_eq!(steps(life), expected);
    }

    #[test]
    fn a_unique_key_that_a_delete_may_free_is_taken_behind_it() {
        let gone = |no| Write::Delete(Key::Provider(crate::ids::ProviderNo(no)));
        let writes = vec![Write::Insert(provider(1, "p")), Write::Insert(provider(2, "p")), gone(3), Write::Insert(provider(4, "q"))];
        let expected = [
            (RecordKind::Provider, Action::Insert, vec![0]),
            (RecordKind::Provider, Action::Insert, vec![1]),
            (RecordKind::Provider, Action::Delete, vec![2]),
            (RecordKind::Provider, Action::Insert, vec![3]),
        ];
        assert_eq!(steps(writes), expected);
        assert_eq!(steps(vec![Write::Delete(Key::Event((SettlementNo(1), 1)))]), [(RecordKind::Event, Action::Delete, vec![0])]);
    }
}
