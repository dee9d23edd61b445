//! The waiting commands of clients: a line for each client and mode, served in turn, so that one that sends much delays no other.

use std::collections::{HashMap, VecDeque};

use railgate::api::Caller;
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::{Error, ErrorCode, Result};

use super::lanes::{Job, QueueLimits, full};

/// A client in one mode: what is divided fairly is divided between tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tenant {
    /// The client, or one of its end users, under the number of their keys; 0 for callers that are not known yet, and for the gateway
    /// itself.
    pub client: ClientNo,
    /// Live tenants are served first.
    pub mode: Mode,
}

impl Tenant {
    /// All callers that have no credential yet.
    pub const STRANGER: Self = Self { client: ClientNo(0), mode: Mode::Sandbox };
    /// The gateway itself.
    pub const GATEWAY: Self = Self { client: ClientNo(0), mode: Mode::Live };
}

impl From<&Caller> for Tenant {
    fn from(caller: &Caller) -> Self {
        Self { client: caller.party(), mode: caller.mode }
    }
}

/// How many commands of a tenant are taken in its turn.
const TURN: usize = 16;
/// The most commands of a tenant in one group: others that arrive meanwhile wait for the end of the group. Larger groups would hardly
/// be cheaper per command.
const MOST: usize = 256;
/// While both modes wait, sandbox tenants get one in so many places of a group.
const SANDBOX_PART: usize = 8;

/// All lines.
#[derive(Default)]
pub(crate) struct Clients {
    lines: HashMap<Tenant, Line>,
    /// The tenants of each mode whose lines are not empty, in the order of their turns.
    live: VecDeque<Tenant>,
    sandbox: VecDeque<Tenant>,
    size: usize,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Job>,
    size: usize,
}

impl Clients {
    /// Adds a job at the end of the tenant's line.
    pub(crate) fn push(&mut self, tenant: Tenant, job: Job, limits: &QueueLimits) -> Result<()> {
        // A job larger than a whole queue is accepted when nothing else waits in it.
        if self.size > 0 && self.size + job.size() > limits.waiting {
            return Err(full());
        }
        let size = job.size();
        let line = self.line(tenant);
        if line.size > 0 && line.size + size > limits.waiting_of_one {
            return Err(Error::with(ErrorCode::StoreUnavailable, "too many of your requests are waiting; nothing was done, try again"));
        }
        line.size += size;
        line.jobs.push_back(job);
        self.size += size;
        Ok(())
    }

    /// Puts back what is left of a job, before everything else in its tenant's line.
    pub(crate) fn put_back(&mut self, tenant: Tenant, job: Job) {
        self.size += job.size();
        let line = self.line(tenant);
        line.size += job.size();
        line.jobs.push_front(job);
    }

    /// A tenant's line. One that is new gets its turn last.
    fn line(&mut self, tenant: Tenant) -> &mut Line {
        self.lines.entry(tenant).or_insert_with(|| {
            match tenant.mode {
                Mode::Live => self.live.push_back(tenant),
                Mode::Sandbox => self.sandbox.push_back(tenant),
            }
            Line::default()
        })
    }

    /// Takes up to `room` commands, in turns, live tenants first. A job that does not fit is taken in part. Returns how many.
    pub(crate) fn take(&mut self, room: usize, jobs: &mut Vec<Job>) -> usize {
        let kept = if self.sandbox.is_empty() { 0 } else { room / SANDBOX_PART };
        let live = self.serve(Mode::Live, room - kept, jobs);
        live + self.serve(Mode::Sandbox, room - live, jobs)
    }

    fn serve(&mut self, mode: Mode, mut room: usize, jobs: &mut Vec<Job>) -> usize {
        let ring = match mode {
            Mode::Live => &mut self.live,
            Mode::Sandbox => &mut self.sandbox,
        };
        // First the parts, then the commands: a tenant's commands stay together and in order.
        let mut turns: VecDeque<(Tenant, usize)> = VecDeque::new();
        let mut parts: Vec<(Tenant, usize)> = Vec::new();
        while room > 0 {
            let Some((tenant, part)) = ring.pop_front().map(|tenant| (tenant, 0)).or_else(|| turns.pop_front()) else { break };
            let waiting = self.lines.get(&tenant).map_or(0, |line| line.size.min(MOST));
            let more = (waiting - part).min(TURN).min(room);
            room -= more;
            match part + more {
                part if part < waiting => turns.push_back((tenant, part)),
                part => parts.push((tenant, part)),
            }
        }
        let mut all = 0;
        for (tenant, part) in parts.into_iter().chain(turns) {
            let Some(line) = self.lines.get_mut(&tenant) else { continue };
            let before = line.size;
            all += line.take(part, jobs);
            self.size -= before - line.size;
            if line.size == 0 {
                self.lines.remove(&tenant);
            } else {
                ring.push_back(tenant);
            }
        }
        all
    }

    /// How many commands wait.
    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

impl Line {
    /// Takes up to `room` commands and returns how many. Of a job that is taken in part, the rest is put back after the group.
    fn take(&mut self, room: usize, jobs: &mut Vec<Job>) -> usize {
        let mut taken = 0;
        while taken < room
            && let Some(mut job) = self.jobs.pop_front()
        {
            self.size -= job.size();
            taken += job.take(room - taken);
            jobs.push(job);
        }
        taken
    }
}
