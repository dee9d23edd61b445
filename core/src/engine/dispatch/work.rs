//! What a round of leases asks of its host, and carrying it in a host without a queue of its own.

use crate::api::{Lease, RailCall, Work};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::rail::{Carrier, RailAnswer, Request};
use crate::store::record::TaskKey;

use super::{LeaseTasks, Receive, ReportAnswer};

/// How many tasks are carried in one round, each round being two commits or three.
const ROUND: usize = 64;

/// What a round of leases asks of its host.
#[derive(Debug, Default)]
pub struct Round {
    /// What is known without asking: report it.
    pub answers: Vec<ReportAnswer>,
    /// Calls to operators inside the gateway: run [`Receive`] for each, and hand the results to [`Round::received`].
    pub inside: Vec<(RailCall, TaskKey)>,
    /// Calls to other operators: have a carrier send the [request](Engine::request) of each, made at the last moment, and
    /// report what [`Engine::decode`] makes of the result.
    pub outside: Vec<(RailCall, TaskKey)>,
    /// Why one of the leases is missing here. It is taken again when it ends; the others are not held up.
    pub fault: Option<Error>,
}

impl Round {
    /// Takes the results of [`Round::inside`], in that order. A call that failed says nothing about its fate: it may have
    /// arrived.
    pub fn received(&mut self, results: Vec<Result<RailAnswer>>) {
        for ((call, key), result) in self.inside.drain(..).zip(results) {
            let answer = result.unwrap_or(RailAnswer::Unknown);
            self.answers.push(ReportAnswer { subject: call.subject, answer, lease: Some(key) });
        }
    }
}

impl Engine {
    /// Sorts leases by what each asks of the host.
    pub fn round(&self, leases: Vec<Lease>) -> Round {
        let mut round = Round::default();
        for Lease { key, work } in leases {
            match work {
                Work::Callback { subject, answer } => round.answers.push(ReportAnswer { subject, answer, lease: Some(key) }),
                Work::Call(call) => match self.rail(call.provider) {
                    Ok(rail) if rail.inside().is_some() => round.inside.push((call, key)),
                    Ok(_) => round.outside.push((call, key)),
                    Err(error) => round.fault = Some(error),
                },
            }
        }
        round
    }

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
        let mut round = self.round(leases);
        for (call, key) in std::mem::take(&mut round.outside) {
            let subject = call.subject;
            match self.ask(call, carrier) {
                Ok(answer) => round.answers.push(ReportAnswer { subject, answer, lease: Some(key) }),
                Err(error) => round.fault = Some(error),
            }
        }
        round.received(self.run_all(round.inside.iter().map(|(call, _)| Receive(call.clone()))));
        // They are decided in the order of the leases.
        round.answers.sort_by_key(|report| report.lease);
        for report in self.run_all(round.answers) {
            report?;
        }
        round.fault.map_or(Ok(count), Err)
    }

    /// Asks one operator now, outside the outbox.
    pub(crate) fn ask(&self, call: RailCall, carrier: &dyn Carrier) -> Result<RailAnswer> {
        match self.request(&call)? {
            Request::Inside => self.run(Receive(call)),
            Request::TooLate => Ok(RailAnswer::Unknown),
            Request::Http(request) => Ok(self.decode(&call, &carrier.carry(&request))),
        }
    }
}
