//! Carrying the outbox where there is no network: every call goes to the simulated operator in this process.

use crate::api::{Lease, Work};
use crate::error::Result;
use crate::rail::RailAnswer;
use crate::route::RailKind;

use super::{Answer, LeaseTasks, Simulate};
use crate::engine::Engine;

/// How many tasks are carried in one round, each round being two commits or three.
const ROUND: usize = 64;

impl Engine {
    /// Does what is due now, and what comes due by that; how many tasks that was.
    pub fn work_until_quiet(&self) -> Result<usize> {
        let mut done = 0;
        loop {
            match self.work(ROUND)? {
                0 => return Ok(done),
                more => done += more,
            }
        }
    }

    /// Does up to `limit` of the tasks that are due, and says how many it did. Call it until it says none, then again
    /// at [`Engine::next_due`]. Each step is one commit for all tasks of the round, as in a server.
    pub fn work(&self, limit: usize) -> Result<usize> {
        let leases = self.run(LeaseTasks { limit })?;
        let count = leases.len();
        for report in self.run_all(self.carry(leases)?) {
            report?;
        }
        Ok(count)
    }

    /// Asks the operator behind each lease; gives the reports to hand back.
    fn carry(&self, leases: Vec<Lease>) -> Result<Vec<Answer>> {
        let calls = leases.iter().filter_map(|lease| match &lease.work {
            Work::Call(call) => match call.rail {
                RailKind::Simulator => Some(Simulate(call.clone())),
            },
            Work::Callback { .. } => None,
        });
        let mut answers = self.run_all(calls).into_iter();
        let report = |Lease { key, work }: Lease| {
            let (subject, answer) = match work {
                Work::Callback { subject, answer } => (subject, answer),
                Work::Call(call) => (call.subject, answers.next().transpose()?.unwrap_or(RailAnswer::Unknown)),
            };
            Ok(Answer { subject, answer, lease: Some(key) })
        };
        leases.into_iter().map(report).collect()
    }
}
