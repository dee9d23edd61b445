//! The queue of the writer thread: the commands of clients, those of the outbox, and a rule for sharing a group between them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use railgate::engine::{Command, Pending, Slot};
use railgate::{Error, ErrorCode, Result};
use tokio::sync::oneshot;

use super::clients::{Clients, Tenant};

/// The two kinds of commands that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Calls of a client.
    Client(Tenant),
    /// The outbox's worker.
    Worker,
}

/// Limits of the queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// How many commands may wait in a lane; one more is refused with `store_unavailable`.
    pub waiting: usize,
    /// How many commands of one client may wait in one mode.
    pub waiting_of_one: usize,
    /// About how many commands are decided and committed together.
    pub group: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { waiting: 16_384, waiting_of_one: 2_048, group: 1_024 }
    }
}

/// One command or several, with the caller that waits for the results.
pub(crate) struct Job {
    work: Box<dyn Work>,
    lane: Lane,
    /// How many commands are not decided yet.
    size: usize,
    /// How many of them are in the current group.
    taken: usize,
}

/// Commands of one kind, with the caller that waits for them.
trait Work: Send {
    /// Adds `count` commands to a group: the first ones that are not decided yet.
    fn join<'w>(&'w mut self, count: usize, group: &mut Vec<&'w mut dyn Pending>);
    /// Sends the commands back with their results: the caller's thread, which allocated what they hold, also frees it, so that the
    /// writer does not wait for the allocator's locks. A caller that no longer listens has no effect: the commands stand.
    fn answer(self: Box<Self>);
}

struct One<C: Command> {
    slot: Slot<C>,
    reply: oneshot::Sender<Slot<C>>,
}

impl<C: Command> Work for One<C> {
    fn join<'w>(&'w mut self, _: usize, group: &mut Vec<&'w mut dyn Pending>) {
        group.push(&mut self.slot);
    }

    fn answer(self: Box<Self>) {
        let Self { slot, reply } = *self;
        let _ = reply.send(slot);
    }
}

struct Many<C: Command> {
    slots: Vec<Slot<C>>,
    /// How many were in a group.
    joined: usize,
    reply: oneshot::Sender<Vec<Slot<C>>>,
}

impl<C: Command> Work for Many<C> {
    fn join<'w>(&'w mut self, count: usize, group: &mut Vec<&'w mut dyn Pending>) {
        let waiting = self.slots.iter_mut().skip(self.joined).take(count);
        self.joined += count;
        group.extend(waiting.map(|slot| slot as &mut dyn Pending));
    }

    fn answer(self: Box<Self>) {
        let _ = self.reply.send(self.slots);
    }
}

/// The error of a caller that found too many waiting.
pub(super) fn full() -> Error {
    Error::with(ErrorCode::StoreUnavailable, "too many requests are waiting; nothing was done, try again")
}

/// The error of a caller whose reply was dropped, which happens only if its group or the writer thread panicked.
pub(super) fn lost() -> Error {
    Error::with(ErrorCode::Internal, "it is not known whether the request was carried out")
}

/// The result of a command that came back.
pub(super) fn result<C: Command>(slot: Slot<C>) -> Result<C::Output> {
    slot.into_result().unwrap_or_else(|| Err(lost()))
}

impl Job {
    pub(crate) fn one<C: Command>(lane: Lane, command: C, reply: oneshot::Sender<Slot<C>>) -> Self {
        Self { work: Box::new(One { slot: Slot::new(command), reply }), lane, size: 1, taken: 0 }
    }

    pub(crate) fn many<C: Command>(lane: Lane, commands: Vec<C>, reply: oneshot::Sender<Vec<Slot<C>>>) -> Self {
        let size = commands.len();
        let work = Many { slots: commands.into_iter().map(Slot::new).collect(), joined: 0, reply };
        Self { work: Box::new(work), lane, size, taken: 0 }
    }

    /// How many commands are not decided yet.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Chooses the next commands for a group, at most `room`; returns how many.
    pub(crate) fn take(&mut self, room: usize) -> usize {
        self.taken = self.size.min(room);
        self.taken
    }

    /// Adds the chosen commands to a group.
    pub(crate) fn join<'w>(&'w mut self, group: &mut Vec<&'w mut dyn Pending>) {
        self.work.join(self.taken, group);
    }

    /// After the group: sends the results to the caller, unless there are commands left.
    pub(crate) fn decided(mut self) -> Option<Self> {
        self.size -= self.taken;
        if self.size > 0 {
            return Some(self);
        }
        self.work.answer();
        None
    }

    /// The lane, and the number of commands in the group.
    pub(crate) fn share(&self) -> (Lane, usize) {
        (self.lane, self.taken)
    }
}

/// Both lanes, and how they share the writer.
///
/// While clients are busy, the worker's jobs are paid for with a credit of time. It grows by a third of the time that
/// clients got, so that the worker gets a quarter of the writer. A job may overdraw the credit; then the next one has to
/// wait longer. Clients count as busy for [`CALM`] after their last command: those that just got a response are about to
/// send again, and a large group of the worker would be in their way.
pub(crate) struct Lanes {
    limits: QueueLimits,
    clients: Clients,
    worker: Queue,
    /// In microseconds.
    credit: i64,
    /// When a command of a client was last taken.
    served: Option<Instant>,
    open: bool,
    asleep: bool,
}

/// Several times what a client on this machine needs to read a response and send its next request.
const CALM: Duration = Duration::from_millis(3);
/// The most that can be saved up, or overdrawn.
const CREDIT_US: i64 = 20_000;

/// The result of [`Lanes::take`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// There is a group.
    Group,
    /// Nothing yet; look again after this time, or when something arrives.
    After(Duration),
    /// Nothing waits.
    Nothing,
}

/// The cost of a group, and how it is shared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    /// How long the writer was busy with the group.
    pub(crate) took: Duration,
    /// How many settlements were touched for clients.
    pub(crate) client: usize,
    /// How many settlements were touched for the worker.
    pub(crate) worker: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    size: usize,
}

impl Queue {
    /// The next job as a whole, if it fits.
    fn pop(&mut self, room: usize) -> Option<Job> {
        let mut job = self.jobs.pop_front_if(|job| job.size <= room)?;
        self.size -= job.take(usize::MAX);
        Some(job)
    }

    /// Takes jobs while they fit, and at least one; returns their size.
    fn take(&mut self, room: usize, jobs: &mut Vec<Job>) -> usize {
        let mut taken = 0;
        while let Some(job) = self.pop(if taken == 0 { usize::MAX } else { room.saturating_sub(taken) }) {
            taken += job.size;
            jobs.push(job);
        }
        taken
    }
}

impl Lanes {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self { limits, clients: Clients::default(), worker: Queue::default(), credit: 0, served: None, open: true, asleep: false }
    }

    /// Adds a job; returns whether the writer is asleep and has to be woken.
    pub(crate) fn push(&mut self, job: Job) -> Result<bool> {
        if !self.open {
            return Err(Error::with(ErrorCode::StoreUnavailable, "the gateway is shutting down; nothing was done, try again"));
        }
        match job.lane {
            Lane::Client(tenant) => self.clients.push(tenant, job, &self.limits)?,
            Lane::Worker if self.worker.size > 0 && self.worker.size + job.size > self.limits.waiting => return Err(full()),
            Lane::Worker => {
                self.worker.size += job.size;
                self.worker.jobs.push_back(job);
            }
        }
        Ok(std::mem::take(&mut self.asleep))
    }

    /// Takes the next group, clients first. `used` is the cost of the previous group; `jobs` are those that it left unfinished.
    pub(crate) fn take(&mut self, jobs: &mut Vec<Job>, used: Used, now: Instant) -> Taken {
        self.settle(used);
        for job in jobs.drain(..).rev() {
            match job.lane {
                Lane::Client(tenant) => self.clients.put_back(tenant, job),
                Lane::Worker => {
                    self.worker.size += job.size;
                    self.worker.jobs.push_front(job);
                }
            }
        }
        let full = self.limits.group;
        let clients = self.clients.take(full, jobs);
        if clients > 0 {
            self.served = Some(now);
        }
        let busy = self.served.map_or(Duration::ZERO, |served| CALM.saturating_sub(now.duration_since(served)));
        if busy.is_zero() || !self.open {
            self.worker.take(full.saturating_sub(clients), jobs);
        } else if clients > 0 && self.credit > 0 {
            // It joins the clients' group: a separate commit would make the next clients wait for the disk once more.
            jobs.extend(self.worker.pop(usize::MAX));
        }
        match (jobs.is_empty(), self.worker.jobs.is_empty()) {
            (false, _) => Taken::Group,
            (true, false) => Taken::After(busy),
            (true, true) => Taken::Nothing,
        }
    }

    /// Splits the group's time by what was touched, and updates the credit.
    fn settle(&mut self, used: Used) {
        let all = i64::try_from(used.client + used.worker).unwrap_or(i64::MAX).max(1);
        let took = i64::try_from(used.took.as_micros()).unwrap_or(i64::MAX);
        let worker = took.saturating_mul(i64::try_from(used.worker).unwrap_or(i64::MAX)) / all;
        self.credit = (self.credit + (took - worker) / 3 - worker).clamp(-CREDIT_US, CREDIT_US);
    }

    /// Records that the writer is about to wait.
    pub(crate) fn sleep(&mut self) {
        self.asleep = true;
    }

    /// The number of commands of clients, and of the outbox, that wait.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        (self.clients.size(), self.worker.size)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    pub(crate) fn close(&mut self) {
        self.open = false;
    }
}

#[cfg(test)]
mod tests {
    use railgate::engine::Recover;
    use railgate::ids::ClientNo;
    use railgate::ledger::Mode;

    use super::*;

    fn job(lane: Lane, size: usize) -> Job {
        let (sender, _) = oneshot::channel();
        Job::many(lane, vec![Recover; size], sender)
    }

    const SANDBOX: Tenant = Tenant { client: ClientNo(1), mode: Mode::Sandbox };
    const OTHER: Tenant = Tenant { client: ClientNo(2), mode: Mode::Sandbox };
    const LIVE: Tenant = Tenant { client: ClientNo(3), mode: Mode::Live };

    fn lanes(client: usize, worker: &[usize]) -> Lanes {
        let mut lanes = Lanes::new(QueueLimits { waiting: 10_000, waiting_of_one: 8_000, group: 64 });
        for _ in 0..client {
            lanes.push(job(Lane::Client(SANDBOX), 1)).unwrap();
        }
        for &size in worker {
            lanes.push(job(Lane::Worker, size)).unwrap();
        }
        lanes
    }

    /// Takes a group as if each command took ten microseconds; returns the sizes of clients' and of the worker's parts. `left` are the
    /// jobs that are not finished.
    fn group_of(lanes: &mut Lanes, left: &mut Vec<Job>, used: &mut Used, now: Instant) -> Vec<(Lane, usize)> {
        lanes.take(left, std::mem::take(used), now);
        let shares: Vec<_> = left.iter().map(Job::share).collect();
        let (client, worker) = parts(&shares);
        *used = Used { took: Duration::from_micros(10) * u32::try_from(client + worker).unwrap(), client, worker };
        *left = left.drain(..).filter_map(Job::decided).collect();
        shares
    }

    fn parts(shares: &[(Lane, usize)]) -> (usize, usize) {
        let worker = shares.iter().filter(|(lane, _)| *lane == Lane::Worker).map(|(_, size)| size).sum();
        (shares.iter().map(|(_, size)| size).sum::<usize>() - worker, worker)
    }

    fn group(lanes: &mut Lanes, used: &mut Used, now: Instant) -> (usize, usize) {
        parts(&group_of(lanes, &mut Vec::new(), used, now))
    }

    #[test]
    fn one_that_floods_delays_no_other_and_live_goes_first() {
        let (now, mut used, mut left) = (Instant::now(), Used::default(), Vec::new());
        let mut lanes = lanes(0, &[]);
        for _ in 0..3 {
            lanes.push(job(Lane::Client(SANDBOX), 1_000)).unwrap();
        }
        assert_eq!(group_of(&mut lanes, &mut left, &mut used, now), [(Lane::Client(SANDBOX), 64)], "a batch is taken in parts");
        lanes.push(job(Lane::Client(OTHER), 1)).unwrap();
        lanes.push(job(Lane::Client(LIVE), 2)).unwrap();
        let mixed = [(Lane::Client(LIVE), 2), (Lane::Client(OTHER), 1), (Lane::Client(SANDBOX), 61)];
        assert_eq!(group_of(&mut lanes, &mut left, &mut used, now), mixed);
        for _ in 0..(3_000 - 125_usize).div_ceil(64) {
            group_of(&mut lanes, &mut left, &mut used, now);
        }
        assert!(left.is_empty() && lanes.take(&mut left, used, now) == Taken::Nothing, "every part of a batch was taken once");
    }

    #[test]
    fn a_flood_of_live_commands_leaves_sandbox_its_part() {
        let (now, mut used, mut left) = (Instant::now(), Used::default(), Vec::new());
        let mut lanes = lanes(100, &[]);
        lanes.push(job(Lane::Client(LIVE), 1_000)).unwrap();
        let parts = [(Lane::Client(LIVE), 56), (Lane::Client(SANDBOX), 8)];
        let taken = group_of(&mut lanes, &mut left, &mut used, now);
        let sandbox = taken.iter().filter(|(lane, _)| *lane == Lane::Client(SANDBOX)).map(|(_, size)| size).sum();
        assert_eq!([taken[0], (Lane::Client(SANDBOX), sandbox)], parts);
    }

    #[test]
    fn two_that_flood_share_a_group() {
        let (now, mut used, mut left) = (Instant::now(), Used::default(), Vec::new());
        let mut lanes = lanes(0, &[]);
        lanes.push(job(Lane::Client(SANDBOX), 1_000)).unwrap();
        lanes.push(job(Lane::Client(OTHER), 1_000)).unwrap();
        for _ in 0..10 {
            assert_eq!(group_of(&mut lanes, &mut left, &mut used, now).iter().map(|(_, size)| *size).collect::<Vec<_>>(), [32, 32]);
        }
    }

    #[test]
    fn idle_clients_leave_the_whole_group_to_the_worker() {
        let (now, mut used) = (Instant::now(), Used::default());
        let mut lanes = lanes(0, &[40, 20, 10]);
        assert_eq!(group(&mut lanes, &mut used, now), (0, 60));
        assert_eq!(group(&mut lanes, &mut used, now), (0, 10));
        assert_eq!(lanes.take(&mut Vec::new(), used, now), Taken::Nothing);
    }

    #[test]
    fn under_saturation_the_worker_gets_a_quarter_and_no_more() {
        let (now, mut used) = (Instant::now(), Used::default());
        let mut lanes = lanes(6_400, &[20; 300]);
        let (mut clients, mut worker) = (0, 0);
        for _ in 0..100 {
            let (c, w) = group(&mut lanes, &mut used, now);
            clients += c;
            worker += w;
        }
        assert_eq!(clients, 6_400);
        // A quarter of the whole is a third of the clients' part; the last job may overdraw.
        assert!((1_900..=2_200).contains(&worker), "{worker}");
    }

    #[test]
    fn clients_that_were_just_answered_are_waited_for() {
        let (now, mut used) = (Instant::now(), Used::default());
        let mut lanes = lanes(30, &[40, 8, 8]);
        assert_eq!(group(&mut lanes, &mut used, now), (30, 0));
        assert_eq!(lanes.take(&mut Vec::new(), std::mem::take(&mut used), now), Taken::After(CALM));
        lanes.push(job(Lane::Client(SANDBOX), 1)).unwrap();
        assert_eq!(group(&mut lanes, &mut used, now), (1, 40), "a job may overdraw what thirty commands paid in");
        lanes.push(job(Lane::Client(SANDBOX), 1)).unwrap();
        assert_eq!(group(&mut lanes, &mut used, now), (1, 0));
        assert_eq!(group(&mut lanes, &mut used, now + CALM), (0, 16));
    }

    #[test]
    fn a_job_of_the_worker_is_taken_as_a_whole() {
        let (now, mut used) = (Instant::now(), Used::default());
        let mut lanes = lanes(200, &[100, 1]);
        for _ in 0..3 {
            assert_eq!(group(&mut lanes, &mut used, now).0, 64);
        }
        assert_eq!(group(&mut lanes, &mut used, now), (8, 0), "it was overdrawn");
        assert_eq!(group(&mut lanes, &mut used, now + CALM), (0, 1));
    }

    #[test]
    fn a_full_lane_refuses_and_a_closed_one_too() {
        let mut lanes = lanes(8_000, &[]);
        assert_eq!(lanes.push(job(Lane::Client(SANDBOX), 1)).unwrap_err().code, ErrorCode::StoreUnavailable, "one has its bound");
        lanes.push(job(Lane::Client(OTHER), 2_000)).unwrap();
        assert_eq!(lanes.push(job(Lane::Client(LIVE), 1)).unwrap_err().code, ErrorCode::StoreUnavailable, "and all have theirs");
        assert!(lanes.push(job(Lane::Worker, 1)).is_ok(), "the other lane has room");
        lanes.close();
        assert_eq!(lanes.push(job(Lane::Worker, 1)).unwrap_err().code, ErrorCode::StoreUnavailable);
    }
}
