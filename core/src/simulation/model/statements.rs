//! What comparing an operator's statement with the settlements must find.
//!
//! By the operator's books, the model knows of each line whether it is honest: asked for, with the right amount, and there once. So it knows
//!
//! - that each line that is not honest is found, and which finding it is if the settlement is as the operator has it;
//! - that an honest line is found if the settlement is still open, and is not if it is settled as the operator has it;
//! - that a payment that was left out is missing there, if it was carried out well within the time of the statement, and that nothing is
//!   that has a line;
//! - that what is found for the first time waits for a person.
//!
//! It does not know what is found of settlements about which an operator said something else than its books; of reversals while what came
//! back is not what operators gave back; of payments that came back; of what was left out near the ends of a statement, or was compared
//! before; nor what was already kept of a comparison that nobody finished.

use std::collections::BTreeSet;

use super::{DAY_MS, Model, Verdict};

/// How far from the ends of a statement something must be to be missed for certain: the grace of the providers, and a minute.
const WITHIN_MS: i64 = 2 * 3_600_000 + 60_000;
/// How long before a statement begins what it is compared with may have been created.
const LOOK_BACK_MS: i64 = 7 * DAY_MS;

/// A line of an operator's statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::simulation) struct StatementLine {
    /// Where it is in the file; `None` if it was left out.
    pub(in crate::simulation) no: Option<u64>,
    pub(in crate::simulation) key: String,
    pub(in crate::simulation) amount: i128,
    /// What the operator's books have under this key; `None` if nobody asked for it.
    pub(in crate::simulation) booked: Option<i128>,
}

/// A finding as the interface shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::simulation) struct Finding {
    pub(in crate::simulation) kind: &'static str,
    pub(in crate::simulation) line: Option<u64>,
    pub(in crate::simulation) settlement: Option<String>,
    pub(in crate::simulation) reversal: Option<u16>,
}

/// What statements had, and what was found.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// What was found: by which operator's statement, which kind, and of what.
    found: BTreeSet<(&'static str, &'static str, String)>,
    /// What may have been kept of comparisons that were not finished: keys, and the operators.
    unsure: BTreeSet<String>,
    /// The keys that statements had.
    shown: BTreeSet<String>,
}

/// The id of the settlement in a key, and whether it is about a reversal.
fn named(key: &str) -> Option<(String, bool)> {
    let (ulid, which) = key.split_once('-')?;
    Some((format!("stl_{ulid}"), which.starts_with('R')))
}

impl Model {
    /// A comparison was begun, and nobody knows how far it came.
    pub(in crate::simulation) fn compares_perhaps(&mut self, operator: &str, lines: &[StatementLine]) {
        let keys = lines.iter().map(|line| line.key.clone());
        self.statements.unsure.extend(keys.chain([operator.to_owned()]));
        self.statements.shown.extend(lines.iter().map(|line| line.key.clone()));
    }

    /// An operator's statement was compared with the settlements: each once.
    pub(in crate::simulation) fn compares(
        &mut self,
        (operator, digest, id): (&'static str, [u8; 32], &str),
        lines: &[StatementLine],
        time: (i64, i64),
        found: &[Finding],
    ) -> Verdict {
        if let Some(before) = self.compared.insert((operator, digest), id.to_owned()) {
            hold!(before == id, "a statement of {operator} was compared as {before:?} and as {id}");
            return Ok(());
        }
        let mut before = BTreeSet::new();
        for line in lines {
            let of_line = |it: &&Finding| it.line.is_some() && it.line == line.no;
            let about: Vec<&Finding> = found.iter().filter(of_line).collect();
            hold!(about.len() <= 1, "{line:?} is found more than once: {about:?}");
            match line.no {
                Some(_) => self.finds(line, before.insert(&line.key), about.first().copied())?,
                None => self.misses(line, time, found)?,
            }
        }
        for missing in found.iter().filter(|it| it.line.is_none()) {
            let is_it = |line: &&StatementLine| {
                let of =
                    named(&line.key).filter(|(id, back)| Some(id) == missing.settlement.as_ref() && *back == missing.reversal.is_some());
                line.no.is_some() && of.is_some() && missing.reversal.is_none_or(|n| line.key.ends_with(&format!("-R{n}")))
            };
            hold!(!lines.iter().any(|line| is_it(&line)), "{missing:?} is in the statement of {operator}");
        }
        self.statements.shown.extend(lines.iter().filter(|line| line.no.is_some()).map(|line| line.key.clone()));
        found.iter().try_for_each(|finding| self.waits_once(operator, lines, finding))
    }

    /// What must be found of a line, the first of its key or not.
    fn finds(&self, line: &StatementLine, is_first: bool, found: Option<&Finding>) -> Verdict {
        let kind = found.map(|finding| finding.kind);
        let Some((booked, (id, is_back))) = line.booked.zip(named(&line.key)) else {
            let nothing = found.is_some_and(|finding| finding.settlement.is_none());
            hold!(nothing && kind == Some("missing_here"), "nobody asked for {line:?}, and it is found as {found:?}");
            return Ok(());
        };
        let is_right = booked == line.amount;
        hold!(is_first && is_right || found.is_some(), "{line:?} is not found");
        let (Some(known), Some(books)) = (self.known.get(&id), self.books.get(&id)) else { return Ok(()) };
        if books.has_lie() {
            return Ok(());
        }
        let back: i128 = books.reversals.values().filter(|it| it.executed > 0).map(|it| it.amount).sum();
        let due = match known.seen.status {
            "returned" => return Ok(()),
            "completed" | "partially_reversed" | "reversed" if is_back && back != known.seen.reversed => return Ok(()),
            "completed" | "partially_reversed" | "reversed" if !is_first => Some("duplicate_there"),
            "completed" | "partially_reversed" | "reversed" => (!is_right).then_some("amount_differs"),
            _ => Some("missing_here"),
        };
        hold!(kind == due, "{line:?} is found as {kind:?}, not as {due:?}: {:?}", known.seen);
        let of = found.and_then(|finding| finding.settlement.as_ref());
        hold!(due.is_none() || of == Some(&id), "{line:?} is found of {of:?}");
        Ok(())
    }

    /// What must be found of a line that was left out.
    fn misses(&self, line: &StatementLine, (from, to): (i64, i64), found: &[Finding]) -> Verdict {
        let Some((id, false)) = named(&line.key) else { return Ok(()) };
        let (Some(known), Some(books)) = (self.known.get(&id), self.books.get(&id)) else { return Ok(()) };
        let is_settled = matches!(known.seen.status, "completed" | "partially_reversed" | "reversed");
        let is_within = known.done_at.is_some_and(|at| at > from + WITHIN_MS && at < to - WITHIN_MS && known.since > from - LOOK_BACK_MS);
        if !is_settled || !is_within || books.has_lie() || self.statements.shown.contains(&line.key) {
            return Ok(());
        }
        let is_it = |it: &Finding| it.kind == "missing_there" && it.settlement.as_ref() == Some(&id) && it.reversal.is_none();
        let (reference, at) = (&known.seen.reference, known.done_at);
        hold!(
            found.iter().any(is_it),
            "{reference}, paid at {at:?}, is not in the statement of {from} to {to}, which is not found: {found:?}"
        );
        Ok(())
    }

    /// What is found for the first time waits for a person.
    fn waits_once(&mut self, operator: &'static str, lines: &[StatementLine], finding: &Finding) -> Verdict {
        let Some(id) = &finding.settlement else { return Ok(()) };
        let key = lines.iter().find(|line| finding.line.is_some() && line.no == finding.line).map(|line| line.key.clone());
        let is_unsure = self.statements.unsure.contains(key.as_deref().unwrap_or(operator));
        let what = key.unwrap_or_else(|| format!("{id} {:?}", finding.reversal));
        let is_new = self.statements.found.insert((operator, finding.kind, what));
        let waits = self.known.get(id).is_some_and(|known| known.seen.needs_review);
        hold!(waits || !is_new || is_unsure, "{finding:?} waits for nobody");
        Ok(())
    }

    /// The ids of the comparisons that were made.
    pub(in crate::simulation) fn comparisons(&self) -> impl Iterator<Item = &str> {
        self.compared.values().map(String::as_str)
    }
}
