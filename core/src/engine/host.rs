//! Carrying the outbox where there is no network: every call goes to the simulated operator in this process.

use crate::api::{Command, Lease, Outcome, Subject, Work};
use crate::error::Result;
use crate::rail::RailAnswer;
use crate::route::RailKind;

use super::Engine;

impl Engine {
    /// Does up to `limit` of the tasks that are due, and says how many it did. Call it until it says none, then again
    /// at [`Engine::next_due`]. Each step is one commit for all tasks of the round, as in a server.
    pub fn work(&self, limit: usize) -> Result<usize> {
        let Outcome::Leased(leases) = self.run(Command::Lease { limit })? else { return Ok(0) };
        let count = leases.len();
        for report in self.execute(self.carry(leases)?).results {
            report?;
        }
        Ok(count)
    }

    /// Asks the operator behind each lease; gives the reports to hand back.
    fn carry(&self, leases: Vec<Lease>) -> Result<Vec<Command>> {
        let calls: Vec<Command> = leases
            .iter()
            .filter_map(|lease| match &lease.work {
                Work::Call(call) => match call.rail {
                    RailKind::Simulator => Some(Command::Simulate(call.clone())),
                },
                Work::Callback { .. } => None,
            })
            .collect();
        let mut answers = self.execute(calls).results.into_iter();
        leases
            .into_iter()
            .map(|lease| {
                let (subject, answer) = match lease.work {
                    Work::Callback { subject, answer } => (subject, answer),
                    Work::Call(call) => (call.subject, simulated(answers.next())?),
                };
                Ok(report(subject, answer, lease.key))
            })
            .collect()
    }
}

fn simulated(outcome: Option<Result<Outcome>>) -> Result<RailAnswer> {
    match outcome.transpose()? {
        Some(Outcome::Simulated(answer)) => Ok(answer),
        _ => Ok(RailAnswer::Unknown),
    }
}

fn report(subject: Subject, answer: RailAnswer, lease: crate::store::record::TaskKey) -> Command {
    Command::Answer { subject, answer, lease: Some(lease) }
}
