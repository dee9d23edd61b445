//! Executes a scan on rows in a map by key bytes: selects the part of the map, filters it and orders it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Is, Limit, Order, Scan};
use crate::money::Currency;
use crate::store::cell::{Cell, KeyBytes, append, ordered};
use crate::store::column::Read;
use crate::store::declare::place;
use crate::store::record::{Record, RecordKind};

impl Scan {
    /// The matching records in `rows`. `open` returns at least the cells of a row in a set of columns, each at its place, and `read`
    /// the record.
    pub(crate) fn page<R>(
        &self,
        rows: &BTreeMap<KeyBytes, R>,
        open: impl Fn(&R, u32) -> Read<Vec<Cell>>,
        read: impl Fn(&R, Vec<Cell>) -> Read<Record>,
    ) -> Read<Vec<Record>> {
        let tests = self.tests();
        let columns = self.columns();
        let (from, to) = self.range(&tests);
        let mut found = Vec::new();
        if from >= to {
            return Ok(found);
        }
        let mut range = rows.range::<KeyBytes, _>(from..to);
        // For another order: maps the ordering columns and the key to the key.
        let mut ranked = BTreeMap::new();
        // The rows before the only one that is wanted.
        let skip = if self.shape.limit == Limit::Last { self.limit.saturating_sub(1) } else { 0 };
        let (limit, mut passed) = (self.limit - skip, 0);
        while found.len() < limit {
            let next = if self.shape.order == Order::KeyBackwards { range.next_back() } else { range.next() };
            let Some((key, row)) = next else { break };
            let cells = open(row, columns)?;
            if !wants(&tests, &cells) {
                continue;
            }
            match self.shape.order {
                Order::Key | Order::KeyBackwards if passed < skip => passed += 1,
                Order::Key | Order::KeyBackwards => found.push(read(row, cells)?),
                Order::By(by) | Order::ByBackwards(by) => {
                    let mut rank = ordered(0, by.iter().filter_map(|column| cells.get(usize::from(*column))));
                    rank.extend_from_slice(key);
                    ranked.insert(KeyBytes::from(rank), key.clone());
                }
            }
        }
        let ranks: &mut dyn Iterator<Item = &KeyBytes> = match self.shape.order {
            Order::ByBackwards(_) => &mut ranked.values().rev(),
            Order::By(_) | Order::Key | Order::KeyBackwards => &mut ranked.values(),
        };
        for row in ranks.skip(skip).take(limit).filter_map(|key| rows.get(key)) {
            found.push(read(row, open(row, columns)?)?);
        }
        Ok(found)
    }

    /// The range of keys that contains all wanted rows: start (inclusive) and end (exclusive).
    fn range(&self, tests: &[Tested<'_>]) -> (KeyBytes, KeyBytes) {
        let layout = self.shape.kind.layout();
        let (mut from, mut to) = (vec![layout.code], vec![layout.code]);
        for column in 0..layout.key {
            let of = |wanted: &[Is]| tests.iter().find(|test| test.column == column && wanted.contains(&test.is));
            let bound = |bytes: &mut Vec<u8>, test: &Tested<'_>| {
                test.values.iter().for_each(|value| append(bytes, value, column + 1 < layout.key));
            };
            if let Some(test) = of(&[Is::Equal]) {
                bound(&mut from, test);
                bound(&mut to, test);
                continue;
            }
            if let Some(test) = of(&[Is::Above, Is::From]) {
                bound(&mut from, test);
            }
            if let Some(test) = of(&[Is::Below, Is::UpTo]) {
                bound(&mut to, test);
            }
            if let Some(test) = of(&[Is::Behind]) {
                from.extend_from_slice(&ordered(0, test.values)[1..]);
                // The smallest key after this one.
                from.push(0);
            }
            break;
        }
        // Every key with this prefix sorts before the prefix plus one. The first byte is never the highest.
        while let Some(last) = to.pop() {
            if let Some(more) = last.checked_add(1) {
                to.push(more);
                break;
            }
        }
        (from.into(), to.into())
    }

    /// The columns of a row that it needs, with one bit per column: those that it tests and those that it orders by.
    fn columns(&self) -> u32 {
        let by: &[u8] = match self.shape.order {
            Order::By(columns) | Order::ByBackwards(columns) => columns,
            Order::Key | Order::KeyBackwards => &[],
        };
        let tested = self.shape.tests.iter().fold(0, |set, (column, is)| {
            set | 1 << column
                | match is {
                    Is::AtLeast | Is::AtMost => 1 << CURRENCY,
                    // They compare the primary key as well.
                    Is::Before | Is::NotBefore => 1,
                    _ => 0,
                }
        });
        by.iter().fold(tested, |set, column| set | 1 << column)
    }

    fn tests(&self) -> Vec<Tested<'_>> {
        let key = self.shape.kind.layout().key;
        let mut rest = self.cells.as_slice();
        let mut tests = Vec::with_capacity(self.shape.tests.len());
        for (column, is) in &self.shape.tests {
            let (values, behind) = rest.split_at(is.width(key).min(rest.len()));
            tests.push(Tested { column: *column, is: *is, values });
            rest = behind;
        }
        tests
    }
}

/// The index of a settlement's currency column.
const CURRENCY: u8 = place(RecordKind::Settlement.lines(), "currency");

/// A condition on a column, with the values to compare with.
struct Tested<'s> {
    column: u8,
    is: Is,
    values: &'s [Cell],
}

fn wants(tests: &[Tested<'_>], row: &[Cell]) -> bool {
    tests.iter().all(|Tested { column, is, values }| {
        let Some(cell) = row.get(usize::from(*column)) else { return false };
        let int = if let Cell::Int(int) = cell { Some(*int) } else { None };
        // No condition is true for NULL.
        let order = values.first().filter(|_| *cell != Cell::Null).map(|value| cell.cmp(value));
        match *is {
            Is::Equal => order.is_some_and(Ordering::is_eq),
            Is::Above => order.is_some_and(Ordering::is_gt),
            Is::From => order.is_some_and(Ordering::is_ge),
            Is::Below => order.is_some_and(Ordering::is_lt),
            Is::UpTo => order.is_some_and(Ordering::is_le),
            // The walk starts there.
            Is::Behind => true,
            Is::Before => pair(row, *column).is_some_and(|pair| pair < (values.first(), values.get(1))),
            Is::NotBefore => pair(row, *column).is_some_and(|pair| pair >= (values.first(), values.get(1))),
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

/// A column, and the primary key of one column.
fn pair(row: &[Cell], column: u8) -> Option<(Option<&Cell>, Option<&Cell>)> {
    Some((Some(row.get(usize::from(column))?), Some(row.first()?)))
}

/// The bound that applies to a settlement's currency.
fn bound<'v>(settlement: &[Cell], bounds: &'v [Cell]) -> Option<&'v Cell> {
    let currency = settlement.get(usize::from(CURRENCY))?;
    let Cell::Int(numeric) = currency else { return None };
    bounds.get(usize::from(Currency::from_numeric(u16::try_from(*numeric).ok()?)?.minor_units()))
}
