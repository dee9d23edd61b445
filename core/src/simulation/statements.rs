//! What operators say of a day, as a file that the gateway compares with what it has.

use std::io::{self, BufRead};

use sha2::{Digest as _, Sha256};

use crate::engine::{BeginReconciliation, Begun, KeepReconciled, Kept, Operated, ReconcileHost, Statement};
use crate::env::Env as _;
use crate::error::{Error, Result};
use crate::ids::OperatorNo;
use crate::store::record::StatementFormat;
use crate::time::rfc3339;

use super::model::Verdict;
use super::rails::Fate;
use super::world::{World, fault};

/// The columns, as the providers are configured for them.
pub(super) const COLUMNS: [(&str, &str); 5] = [
    ("statement_amount", "Amount"),
    ("statement_currency", "Currency"),
    ("statement_date", "Time"),
    ("statement_references", "Key"),
    ("statement_entry", "Entry"),
];

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
    fn run<C: crate::engine::Command>(&mut self, command: C) -> Result<C::Output> {
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

impl World<'_> {
    /// An operator sends what is in its books, perhaps what it has sent before, and somebody has it compared.
    pub(super) fn compare(&mut self) -> Verdict {
        let (which, again) = (self.random.index(self.operators.len()), self.random.one_in(3));
        let earlier = self.statements[which].clone().filter(|_| again);
        let text = earlier.unwrap_or_else(|| self.statement_of(which));
        self.statements[which] = Some(text.clone());
        let provider = self.operators[which].id;
        let digest = Sha256::digest(&text).into();
        let by = OperatorNo(0);
        let order = BeginReconciliation {
            provider: provider.to_owned(),
            name: "books.csv".to_owned(),
            digest,
            format: StatementFormat::Csv,
            by,
            again: false,
        };
        let node = self.node();
        let reader = crate::engine::Engine::open(self.store(), self.env.clone(), self.config.clone()).map_err(fault)?;
        let mut host = Host { world: self, node, seen: Ok(()) };
        let made = reader.reconcile_file(order, &mut Text(text), &mut host);
        host.seen?;
        let Ok(made) = made else { return Ok(()) };
        let id = self.eye.reconciliation_view(&made).map_err(fault)?.id;
        self.model.compares(provider, digest, &id)
    }

    /// What is in an operator's books so far.
    fn statement_of(&self, which: usize) -> String {
        let mut text = "Time,Entry,Key,Amount,Currency\n".to_owned();
        let mut line = |at, key: &str, minor: i64| {
            let sign = if minor < 0 { "-" } else { "" };
            let amount = format!("{sign}{}.{:02}", minor.abs() / 100, minor.abs() % 100);
            text.push_str(&format!("{},E-{key},{key},{amount},EUR\n", rfc3339(at)));
        };
        for (key, entry) in self.operators[which].books.iter().filter(|(_, entry)| matches!(entry.fate, Fate::Done)) {
            line(entry.at, key, if key.contains("-R") { entry.amount } else { -entry.amount });
        }
        line(self.env.now(), "end", 1);
        text
    }
}
