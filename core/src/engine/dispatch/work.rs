//! Carrying the outbox in a host without a queue of its own.

use crate::api::{Lease, Work};
use crate::engine::Engine;
use crate::error::Result;
use crate::rail::{Carrier, RailAnswer, Request};

use super::{Answer, LeaseTasks, Receive};

/// How many tasks are carried in one round, each round being two commits or three.
const ROUND: usize = 64;

impl Engine {
    /// Does what is due now, and what comes due by that; how many tasks that was. Requests travel by `carrier`; with `&()`,
    /// which carries nothing, only operators inside the gateway are reached.
    pub fn work_until_quiet(&self, carrier: &dyn Carrier) -> Result<usize> {
        let mut done = 0;
        loop {
            match self.work(ROUND, carrier)? {
                0 => return Ok(done),
                more => done += more,
            }
        }
    }

    /// Does up to `limit` of the tasks that are due, and says how many it did. Call it until it says none, then again
    /// at [`Engine::next_due`]. Each step is one commit for all tasks of the round, as in a server.
    pub fn work(&self, limit: usize, carrier: &dyn Carrier) -> Result<usize> {
        let leases = self.run(LeaseTasks { limit })?;
        let count = leases.len();
        for report in self.run_all(self.carry(leases, carrier)?) {
            report?;
        }
        Ok(count)
    }

    /// Asks the operator behind each lease; gives the reports to hand back.
    fn carry(&self, leases: Vec<Lease>, carrier: &dyn Carrier) -> Result<Vec<Answer>> {
        let (mut inside, mut reports) = (Vec::new(), Vec::with_capacity(leases.len()));
        for Lease { key, work } in leases {
            let lease = Some(key);
            match work {
                Work::Callback { subject, answer } => reports.push(Answer { subject, answer, lease }),
                Work::Call(call) => match self.request(&call)? {
                    // Its place among the reports is kept: they are decided in the order of the leases.
                    Request::Inside => {
                        inside.push((reports.len(), Receive(call.clone())));
                        reports.push(Answer { subject: call.subject, answer: RailAnswer::Unknown, lease });
                    }
                    Request::TooLate => reports.push(Answer { subject: call.subject, answer: RailAnswer::Unknown, lease }),
                    Request::Http(request) => {
                        let answer = self.decode(&call, &carrier.carry(&request));
                        reports.push(Answer { subject: call.subject, answer, lease });
                    }
                },
            }
        }
        let (places, calls): (Vec<usize>, Vec<Receive>) = inside.into_iter().unzip();
        for (place, answer) in places.into_iter().zip(self.run_all(calls)) {
            reports[place].answer = answer?;
        }
        Ok(reports)
    }

    /// Asks one operator now, outside the outbox.
    pub(crate) fn ask(&self, call: crate::api::Call, carrier: &dyn Carrier) -> Result<RailAnswer> {
        match self.request(&call)? {
            Request::Inside => self.run(Receive(call)),
            Request::TooLate => Ok(RailAnswer::Unknown),
            Request::Http(request) => Ok(self.decode(&call, &carrier.carry(&request))),
        }
    }
}
