//! What operators say of a day, as a file that the gateway compares with what it has.

use std::io::{self, BufRead};

use sha2::{Digest as _, Sha256};

use crate::api::StatementFindingView;
use crate::engine::{BeginReconciliation, Begun, Engine, KeepReconciled, Kept, Operated, ReconcileHost, Statement};
use crate::env::Env as _;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::OperatorNo;
use crate::store::record::StatementFormat;
use crate::time::{Millis, rfc3339};

use super::Part;
use super::clocks::SKEW;
use super::model::{Finding, StatementLine, Verdict};
use super::rails::Fate;
use super::world::{World, fault};

/// The columns, as the providers are configured for them.
pub(super) const COLUMNS: [(&str, &str); 6] = [
    ("statement_amount", "Amount"),
    ("statement_currency", "Currency"),
    ("statement_date", "Time"),
    ("statement_references", "Key"),
    ("statement_entry", "Entry"),
    ("statement_grace_hours", "2"),
];
/// What nobody pays.
const NOBODYS: i64 = 12_345_678;
/// For how long a host has a comparison that it does not go on with.
const HELD_MS: Millis = 600_000;

/// A file in memory.
struct Text(String);

impl Statement for Text {
    fn open(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(self.0.as_bytes()))
    }
}

/// Runs what a reconciliation consists of at one node, as its host does.
struct Host<'w, 'p> {
    world: &'w mut World<'p>,
    node: usize,
    seen: Verdict,
}

impl Host<'_, '_> {
    fn run<C: crate::engine::Command + Clone>(&mut self, command: C) -> Result<C::Output> {
        match self.world.run(self.node, command) {
            Ok(result) => result,
            Err(said) => {
                self.seen = Err(said.clone());
                Err(Error::internal(said))
            }
        }
    }
}

impl ReconcileHost for Host<'_, '_> {
    fn begin(&mut self, command: BeginReconciliation) -> Result<Begun> {
        self.run(Operated(command))
    }

    fn keep(&mut self, command: KeepReconciled) -> Result<Kept> {
        self.run(command)
    }
}

/// What an operator sent of its books.
#[derive(Clone)]
pub(super) struct Sent {
    text: String,
    lines: Vec<StatementLine>,
    /// From when to when it is, the end excluded.
    time: (Millis, Millis),
}

impl World<'_> {
    /// An operator sends what is in its books, perhaps what it has sent before, and somebody has it compared.
    pub(super) fn compare(&mut self) -> Verdict {
        let (which, again) = (self.random.index(self.operators.len()), self.random.one_in(3));
        let earlier = self.statements[which].clone().filter(|_| again);
        let sent = earlier.unwrap_or_else(|| self.statement_of(which));
        self.statements[which] = Some(sent.clone());
        let provider = self.operators[which].id;
        let digest = Sha256::digest(&sent.text).into();
        let order = BeginReconciliation {
            provider: provider.to_owned(),
            name: "books.csv".to_owned(),
            digest,
            format: StatementFormat::Csv,
            by: OperatorNo(0),
            again: false,
        };
        let (node, is_calm) = (self.node(), self.store.is_calm() && !self.races);
        let reader = Engine::open(self.store(), self.env.clone(), self.config.clone()).map_err(fault)?;
        let mut host = Host { world: self, node, seen: Ok(()) };
        let made = reader.reconcile_file(order, &mut Text(sent.text), &mut host);
        host.seen?;
        let made = match made {
            Ok(made) => made,
            // Its host stopped on the way, and the next one waits for it.
            Err(error) if error.code == ErrorCode::RequestInProgress && self.env.now() <= self.unfinished[which] => return Ok(()),
            Err(error) if is_calm => return Err(format!("a statement of {provider} is not compared: {error}")),
            Err(_) => {
                self.unfinished[which] = self.env.now() + HELD_MS + 2 * SKEW;
                self.model.compares_perhaps(provider, &sent.lines);
                return Ok(());
            }
        };
        let id = self.eye.reconciliation_view(&made).map_err(fault)?.id;
        let found = self.findings(&id)?;
        self.tell(|| format!("a statement of {provider} is compared as {id}: {found:?}"));
        self.model.compares((provider, digest, &id), &sent.lines, sent.time, &found)
    }

    fn findings(&self, id: &str) -> Result<Vec<Finding>, String> {
        let found = self.eye.findings(id, None, None, 100_000).map_err(fault)?.data;
        let finding = |it: StatementFindingView| Finding {
            kind: it.kind.as_str(),
            line: it.line.map(|line| line.line),
            settlement: it.settlement_id,
            reversal: it.reversal,
        };
        Ok(found.into_iter().map(finding).collect())
    }

    /// Every comparison that was made is there.
    pub(super) fn look_at_comparisons(&self) -> Verdict {
        let is_there = |id| self.eye.reconciliation(id).map(drop).map_err(|error| format!("{id} was compared and is gone: {error}"));
        self.model.comparisons().try_for_each(is_there)
    }

    /// What is in an operator's books so far. One that lies leaves a line out, has one twice, or has a wrong amount.
    fn statement_of(&mut self, which: usize) -> Sent {
        let (now, lies) = (self.env.now(), self.has(Part::Lies));
        let mut text = "Time,Entry,Key,Amount,Currency\n".to_owned();
        let (mut lines, mut from, mut row) = (Vec::new(), now, 1);
        let mut line = |at, key: &str, minor: i64| {
            let sign = if minor < 0 { "-" } else { "" };
            let amount = format!("{sign}{}.{:02}", minor.abs() / 100, minor.abs() % 100);
            text.push_str(&format!("{},E-{key},{key},{amount},EUR\n", rfc3339(at)));
            from = from.min(at);
            row += 1;
            Some(row)
        };
        for (key, entry) in self.operators[which].books.iter().filter(|(_, entry)| matches!(entry.fate, Fate::Done)) {
            let (drawn, sign) = (if lies { self.random.below(24) } else { 24 }, if key.contains("-R") { 1 } else { -1 });
            let wrong = i64::from(drawn == 0);
            let times = [0, 2].get(usize::try_from(drawn).unwrap_or(9).wrapping_sub(1)).copied().unwrap_or(1);
            let mut say = |no| {
                lines.push(StatementLine {
                    no,
                    key: key.clone(),
                    amount: (entry.amount + wrong).into(),
                    booked: Some(entry.amount.into()),
                });
            };
            if times == 0 {
                say(None);
            }
            (0..times).for_each(|_| say(line(entry.at, key, sign * (entry.amount + wrong))));
        }
        // Nobody asked for this, whatever else there is.
        let no = line(now, "end", NOBODYS);
        lines.push(StatementLine { no, key: "end".to_owned(), amount: NOBODYS.into(), booked: None });
        Sent { text, lines, time: (from, now + 1) }
    }
}
