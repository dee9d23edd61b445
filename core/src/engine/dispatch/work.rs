//! Working off the outbox in a host without its own queue.

use crate::api::{Lease, Work};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::rail::{Carrier, RailAnswer, Request};

use super::{LeaseTasks, Receive, ReportAnswer};

/// How many tasks are carried in one round. A round is two or three commits.
const ROUND: usize = 64;

impl Engine {
    /// Works off due tasks, including those that become due as a result, and returns how many. `carrier` sends the requests; with
    /// `&()`, which sends nothing, only operators inside the gateway are reached.
    pub fn work_until_quiet(&self, carrier: &dyn Carrier) -> Result<usize> {
        let mut done = 0;
        loop {
            match self.work(ROUND, carrier)? {
                0 => return Ok(done),
                more => done += more,
            }
        }
    }

    /// Works off up to `limit` due tasks and returns how many. Call it until it returns 0, then again at [`Engine::next_due`]. Each
    /// step is one commit for all tasks of the round, as in a server.
    pub fn work(&self, limit: usize, carrier: &dyn Carrier) -> Result<usize> {
        let leases = self.run(LeaseTasks { limit })?;
        let count = leases.len();
        let (reports, fault) = self.carry(leases, carrier)?;
        for report in self.run_all(reports) {
            report?;
        }
        fault.map_or(Ok(count), Err)
    }

    /// Asks the operator of each lease. Returns the reports to hand back, and the last error if any lease was left out.
    fn carry(&self, leases: Vec<Lease>, carrier: &dyn Carrier) -> Result<(Vec<ReportAnswer>, Option<Error>)> {
        let (mut inside, mut reports, mut fault) = (Vec::new(), Vec::with_capacity(leases.len()), None);
        for Lease { key, work } in leases {
            let lease = Some(key);
            match work {
                Work::Callback { subject, answer } => reports.push(ReportAnswer { subject, answer, lease }),
                Work::RailCall(call) => match self.request(&call) {
                    // The task is leased again when this lease ends. The answers to the others must not get lost.
                    Err(error) => fault = Some(error),
                    // Its place among the reports is kept: they are decided in the order of the leases.
                    Ok(Request::Inside) => {
                        inside.push((reports.len(), Receive(call.clone())));
                        reports.push(ReportAnswer { subject: call.subject, answer: RailAnswer::Unknown, lease });
                    }
                    Ok(Request::TooLate) => reports.push(ReportAnswer { subject: call.subject, answer: RailAnswer::Unknown, lease }),
                    Ok(Request::Http(request)) => {
                        let answer = self.decode(&call, &carrier.carry(&request));
                        reports.push(ReportAnswer { subject: call.subject, answer, lease });
                    }
                },
            }
        }
        let (places, calls): (Vec<usize>, Vec<Receive>) = inside.into_iter().unzip();
        for (place, answer) in places.into_iter().zip(self.run_all(calls)) {
            reports[place].answer = answer?;
        }
        Ok((reports, fault))
    }

    /// Sends one call to its operator now, outside the outbox.
    pub(crate) fn ask(&self, call: crate::api::RailCall, carrier: &dyn Carrier) -> Result<RailAnswer> {
        match self.request(&call)? {
            Request::Inside => self.run(Receive(call)),
            Request::TooLate => Ok(RailAnswer::Unknown),
            Request::Http(request) => Ok(self.decode(&call, &carrier.carry(&request))),
        }
    }
}
