//! The queue of the writer thread: two bounded lanes, and a rule for sharing a group between them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use railgate::engine::{Command, Pending, Slot};
use railgate::{Error, ErrorCode, Result};
use tokio::sync::oneshot;

/// The two kinds of commands that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Calls of clients.
    Client,
    /// The outbox's worker.
    Worker,
}

/// Limits of the queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// How many commands may wait in a lane; one more is refused with `store_unavailable`.
    pub waiting: usize,
    /// About how many commands are decided and committed together.
    pub group: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { waiting: 16_384, group: 1_024 }
    }
}

/// One command or several, with the caller that waits for the results.
pub(crate) struct Job {
    work: Box<dyn Work>,
    lane: Lane,
    size: usize,
}

/// Commands of one kind in a group, with the caller that waits for them.
trait Work: Send {
    fn join<'w>(&'w mut self, group: &mut Vec<&'w mut dyn Pending>);
    /// Sends the results. A caller that no longer listens has no effect: the commands stand.
    fn answer(self: Box<Self>);
}

struct One<C: Command> {
    slot: Slot<C>,
    reply: oneshot::Sender<Result<C::Output>>,
}

impl<C: Command> Work for One<C> {
    fn join<'w>(&'w mut self, group: &mut Vec<&'w mut dyn Pending>) {
        group.push(&mut self.slot);
    }

    fn answer(self: Box<Self>) {
        let Self { slot, reply } = *self;
        let _ = reply.send(slot.into_result().unwrap_or_else(|| Err(lost())));
    }
}

struct Many<C: Command> {
    slots: Vec<Slot<C>>,
    reply: oneshot::Sender<Vec<Result<C::Output>>>,
}

impl<C: Command> Work for Many<C> {
    fn join<'w>(&'w mut self, group: &mut Vec<&'w mut dyn Pending>) {
        group.extend(self.slots.iter_mut().map(|slot| slot as &mut dyn Pending));
    }

    fn answer(self: Box<Self>) {
        let results = self.slots.into_iter().map(|slot| slot.into_result().unwrap_or_else(|| Err(lost())));
        let _ = self.reply.send(results.collect());
    }
}

/// The error of a caller whose reply was dropped, which happens only if its group or the writer thread panicked.
pub(super) fn lost() -> Error {
    Error::with(ErrorCode::Internal, "it is not known whether the request was carried out")
}

impl Job {
    pub(crate) fn one<C: Command>(lane: Lane, command: C, reply: oneshot::Sender<Result<C::Output>>) -> Self {
        Self { work: Box::new(One { slot: Slot::new(command), reply }), lane, size: 1 }
    }

    pub(crate) fn many<C: Command>(lane: Lane, commands: Vec<C>, reply: oneshot::Sender<Vec<Result<C::Output>>>) -> Self {
        let size = commands.len();
        Self { work: Box::new(Many { slots: commands.into_iter().map(Slot::new).collect(), reply }), lane, size }
    }

    /// Adds the commands to a group.
    pub(crate) fn join<'w>(&'w mut self, group: &mut Vec<&'w mut dyn Pending>) {
        self.work.join(group);
    }

    /// Sends the results to the caller.
    pub(crate) fn answer(self) {
        self.work.answer();
    }

    /// The lane, and the number of commands.
    pub(crate) fn share(&self) -> (Lane, usize) {
        (self.lane, self.size)
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
    client: Queue,
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
    fn pop(&mut self, room: usize) -> Option<Job> {
        let job = self.jobs.pop_front_if(|job| job.size <= room)?;
        self.size -= job.size;
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
        Self { limits, client: Queue::default(), worker: Queue::default(), credit: 0, served: None, open: true, asleep: false }
    }

    /// Adds a job; returns whether the writer is asleep and has to be woken.
    pub(crate) fn push(&mut self, job: Job) -> Result<bool> {
        if !self.open {
            return Err(Error::with(ErrorCode::StoreUnavailable, "the gateway is shutting down; nothing was done, try again"));
        }
        let limit = self.limits.waiting;
        let queue = match job.lane {
            Lane::Client => &mut self.client,
            Lane::Worker => &mut self.worker,
        };
        // A job larger than the whole queue is accepted when nothing else waits.
        if queue.size > 0 && queue.size + job.size > limit {
            return Err(Error::with(ErrorCode::StoreUnavailable, "too many requests are waiting; nothing was done, try again"));
        }
        queue.size += job.size;
        queue.jobs.push_back(job);
        Ok(std::mem::take(&mut self.asleep))
    }

    /// Takes the next group, clients first. `used` is the cost of the previous group.
    pub(crate) fn take(&mut self, jobs: &mut Vec<Job>, used: Used, now: Instant) -> Taken {
        self.settle(used);
        let full = self.limits.group;
        let clients = self.client.take(full, jobs);
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

    /// The number of commands that wait in a lane.
    pub(crate) fn waiting(&self, lane: Lane) -> usize {
        match lane {
            Lane::Client => self.client.size,
            Lane::Worker => self.worker.size,
        }
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

    use super::*;

    fn job(lane: Lane, size: usize) -> Job {
        let (sender, _) = oneshot::channel();
        Job::many(lane, vec![Recover; size], sender)
    }

    fn lanes(client: usize, worker: &[usize]) -> Lanes {
        let mut lanes = Lanes::new(QueueLimits { waiting: 10_000, group: 64 });
        for _ in 0..client {
            lanes.push(job(Lane::Client, 1)).unwrap();
        }
        for &size in worker {
            lanes.push(job(Lane::Worker, size)).unwrap();
        }
        lanes
    }

    /// Takes a group as if each command took ten microseconds; returns the sizes of clients' and of the worker's jobs.
    fn group(lanes: &mut Lanes, used: &mut Used, now: Instant) -> (usize, usize) {
        let mut jobs = Vec::new();
        lanes.take(&mut jobs, std::mem::take(used), now);
        let of = |lane| jobs.iter().filter(|job| job.lane == lane).map(|job| job.size).sum::<usize>();
        let (client, worker) = (of(Lane::Client), of(Lane::Worker));
        *used = Used { took: Duration::from_micros(10) * u32::try_from(client + worker).unwrap(), client, worker };
        (client, worker)
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
        lanes.push(job(Lane::Client, 1)).unwrap();
        assert_eq!(group(&mut lanes, &mut used, now), (1, 40), "a job may overdraw what thirty commands paid in");
        lanes.push(job(Lane::Client, 1)).unwrap();
        assert_eq!(group(&mut lanes, &mut used, now), (1, 0));
        assert_eq!(group(&mut lanes, &mut used, now + CALM), (0, 16));
    }

    #[test]
    fn a_job_larger_than_a_group_is_taken_with_nothing_after_it() {
        let (now, mut used) = (Instant::now(), Used::default());
        let mut lanes = lanes(0, &[100, 1]);
        lanes.push(job(Lane::Client, 200)).unwrap();
        lanes.push(job(Lane::Client, 1)).unwrap();
        assert_eq!(group(&mut lanes, &mut used, now), (200, 0));
        assert_eq!(group(&mut lanes, &mut used, now), (1, 100), "paid in by two hundred");
        assert_eq!(group(&mut lanes, &mut used, now + CALM), (0, 1));
    }

    #[test]
    fn a_full_lane_refuses_and_a_closed_one_too() {
        let mut lanes = lanes(10_000, &[]);
        assert_eq!(lanes.push(job(Lane::Client, 1)).unwrap_err().code, ErrorCode::StoreUnavailable);
        assert!(lanes.push(job(Lane::Worker, 1)).is_ok(), "the other lane has room");
        lanes.close();
        assert_eq!(lanes.push(job(Lane::Worker, 1)).unwrap_err().code, ErrorCode::StoreUnavailable);
    }
}
