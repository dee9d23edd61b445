//! A scan over rows in a map from the bytes of their keys: which part of the map it is, what of it is wanted, and in which order.

use std::collections::BTreeMap;

use super::{Is, Order, Scan};
use crate::money::Currency;
use crate::store::cell::{Cell, KeyBytes, ordered};
use crate::store::column::Read;
use crate::store::declare::place;
use crate::store::record::{Record, RecordKind};

impl Scan {
    /// Its records among `rows`, of which `open` gives the cells, and `read` the record.
    pub(crate) fn page<R>(
        &self,
        rows: &BTreeMap<KeyBytes, R>,
        open: impl Fn(&R) -> Read<Vec<Cell>>,
        read: impl Fn(&R, Vec<Cell>) -> Read<Record>,
    ) -> Read<Vec<Record>> {
        let (from, to) = self.range();
        if from >= to {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut range = rows.range::<[u8], _>((std::ops::Bound::Included(&*from), std::ops::Bound::Excluded(&*to)));
        let by_key = !matches!(self.shape.order, Order::By(_));
        while !by_key || found.len() < self.limit {
            let next = if self.shape.order == Order::KeyBackwards { range.next_back() } else { range.next() };
            let Some((_, row)) = next else { break };
            let cells = open(row)?;
            if self.wants(&cells) {
                found.push((self.rank(&cells), read(row, cells)?));
            }
        }
        // Stable: what is alike stays in the order of keys.
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found.into_iter().take(self.limit).map(|(_, record)| record).collect())
    }

    /// Where in the order of keys it begins, and before which it ends: nothing that is wanted lies elsewhere.
    fn range(&self) -> (Vec<u8>, Vec<u8>) {
        let layout = self.shape.kind.layout();
        let (mut from, mut to) = (vec![layout.code], vec![layout.code]);
        for column in 0..layout.key {
            let of = |wanted: &[Is]| {
                let mut tests = self.tests();
                tests.find_map(|(at, is, values)| (at == column && wanted.contains(&is)).then(|| ordered(0, values)))
            };
            if let Some(value) = of(&[Is::Equal]) {
                from.extend_from_slice(&value[1..]);
                to.extend_from_slice(&value[1..]);
                continue;
            }
            if let Some(value) = of(&[Is::Above, Is::From]) {
                from.extend_from_slice(&value[1..]);
            }
            if let Some(value) = of(&[Is::Below, Is::UpTo]) {
                to.extend_from_slice(&value[1..]);
            }
            if let Some(value) = of(&[Is::Behind]) {
                from.extend_from_slice(&value[1..]);
                // The very next one that there can be.
                from.push(0);
            }
            break;
        }
        // Whatever begins so is before what counts one more. The first byte is never the highest.
        while let Some(last) = to.pop() {
            if let Some(more) = last.checked_add(1) {
                to.push(more);
                break;
            }
        }
        (from, to)
    }

    /// What must hold of which column, with the values that it is compared with.
    fn tests(&self) -> impl Iterator<Item = (u8, Is, &[Cell])> {
        let key = self.shape.kind.layout().key;
        let mut rest = self.cells.as_slice();
        self.shape.tests.iter().map(move |(column, is)| {
            let (values, behind) = rest.split_at(is.width(key).min(rest.len()));
            rest = behind;
            (*column, *is, values)
        })
    }

    fn wants(&self, row: &[Cell]) -> bool {
        self.tests().all(|(column, is, values)| {
            let Some(cell) = row.get(usize::from(column)) else { return false };
            let int = if let Cell::Int(int) = cell { Some(*int) } else { None };
            let there = |holds: fn(&Cell, &Cell) -> bool| *cell != Cell::Null && values.first().is_some_and(|value| holds(cell, value));
            match is {
                Is::Equal => there(|cell, value| cell == value),
                Is::Above => there(|cell, value| cell > value),
                Is::From => there(|cell, value| cell >= value),
                Is::Below => there(|cell, value| cell < value),
                Is::UpTo => there(|cell, value| cell <= value),
                // Where the walk begins.
                Is::Behind => true,
                Is::Flag(flag) => int == Some(flag.into()),
                Is::Not(code) => int.is_some_and(|int| int != i64::from(code)),
                Is::LowBitsZero => int.is_some_and(|int| int & 3 == 0),
                Is::OneOf => int.zip(values.first()).is_some_and(|(int, set)| matches!(set, Cell::Int(set) if set >> int & 1 == 1)),
                Is::Each(codes) => int.is_some_and(|int| codes.iter().any(|code| int == i64::from(*code))),
                Is::AtLeast => bound(row, values).is_some_and(|bound| cell >= bound),
                Is::AtMost => bound(row, values).is_some_and(|bound| cell <= bound),
            }
        })
    }

    fn rank(&self, row: &[Cell]) -> Vec<Cell> {
        match self.shape.order {
            Order::Key | Order::KeyBackwards => Vec::new(),
            Order::By(columns) => columns.iter().filter_map(|column| row.get(usize::from(*column))).cloned().collect(),
        }
    }
}

/// The one of the bounds that counts for a settlement's currency.
fn bound<'v>(settlement: &[Cell], bounds: &'v [Cell]) -> Option<&'v Cell> {
    let currency = settlement.get(usize::from(const { place(RecordKind::Settlement.lines(), "currency") }))?;
    let Cell::Int(numeric) = currency else { return None };
    bounds.get(usize::from(Currency::from_numeric(u16::try_from(*numeric).ok()?)?.minor_units()))
}
