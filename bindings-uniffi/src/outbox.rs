//! The outbox: settlements that are created without network, kept on the device and each sent once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blocking::unblock;
use event_listener::Event as Signal;
use futures_lite::future::or;
use railgate::client::outbox::{Heard, OutboxError, OutboxFile, Step, Try};
use railgate::client::{Call, Verdict};
use serde_json::json;

use crate::client::GatewayClient;
use crate::error::{GatewayError, Problem};
use crate::link::{Ended, Link, answer_heard, now, other_client};
use crate::mirror::{Give as _, mirror_enum};
use crate::request::SettlementRequest;
use crate::values::{Instant, Json};
use crate::views::Settlement;

mirror_enum! {
    /// Where a settlement of the outbox stands.
    OutboxState of railgate::client::outbox::OutboxState {
        /// Stored; nothing that has left can still be carried out.
        Queued = "queued",
        /// A try is in flight.
        Sending = "sending",
        /// A try left, and no answer came that can be trusted: the gateway may have it or not.
        Unknown = "unknown",
        /// The gateway has it; the settlement says how it goes on.
        Delivered = "delivered",
        /// The gateway refused it and nothing of it can arrive any more: nothing is paid.
        Refused = "refused",
        /// Withdrawn while nothing of it could be carried out.
        Withdrawn = "withdrawn",
    }
}

/// A settlement of the outbox.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct OutboxEntry {
    /// The reference of the settlement.
    pub reference: String,
    /// Where it stands.
    pub state: OutboxState,
    /// How many tries were started.
    pub tries: u32,
    /// When the next is due, or when the settlement is looked at next; none when nothing more is sent.
    pub next_at: Option<Instant>,
    /// What stood in the way of the latest try: a problem document.
    pub problem: Option<Json>,
    /// The settlement as the gateway showed it last.
    pub settlement: Option<Settlement>,
    /// When it was put in.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
    /// Grows with every change of any entry of the outbox.
    pub change: i64,
}

fn entry(kept: railgate::client::outbox::OutboxEntry) -> Result<OutboxEntry, GatewayError> {
    let railgate::client::outbox::OutboxEntry {
        reference,
        body: _,
        state,
        tries,
        next_at,
        problem,
        settlement,
        created_at,
        updated_at,
        change,
    } = kept;
    let settlement = settlement.map(|text| serde_json::from_str(&text)).transpose();
    Ok(OutboxEntry {
        reference,
        state: state.give()?,
        tries,
        next_at: next_at.map(Instant),
        problem: problem.map(Json),
        settlement: settlement.map_err(|error| storage("storage_corrupt", error.to_string()))?,
        created_at: Instant(created_at),
        updated_at: Instant(updated_at),
        change,
    })
}

fn storage(code: &str, detail: String) -> GatewayError {
    GatewayError::Storage { problem: Problem::local(code, detail) }
}

impl From<OutboxError> for GatewayError {
    fn from(error: OutboxError) -> Self {
        let detail = error.to_string();
        let invalid = |code| Self::invalid(Problem::local(code, detail.clone()));
        match error {
            OutboxError::ReferenceTaken => invalid("reference_conflict"),
            OutboxError::Absent => invalid("settlement_not_found"),
            OutboxError::State(_) => invalid("invalid_state"),
            OutboxError::InUse => storage("storage_in_use", detail),
            OutboxError::NotAnOutbox => storage("storage_corrupt", detail),
            OutboxError::Newer => storage("storage_version", detail),
            OutboxError::OtherOwner(_) => storage("storage_owner", detail),
            OutboxError::File(_) => storage("storage_failed", detail),
        }
    }
}

/// Settlements that are created without network: kept in a file of the device, each sent once when there is one. Every try
/// is stored before it leaves and bears the same reference, so that a process that is killed at any moment neither loses nor
/// repeats a payment. What cannot be known is shown as `unknown`, never as refused.
#[derive(uniffi::Object)]
pub struct Outbox {
    file: Arc<OutboxFile>,
    link: Arc<Link>,
    /// In whose name it was opened.
    client_id: String,
    changed: Arc<Signal>,
    given_up: Arc<GivenUp>,
    shy: Mutex<Shy>,
}

/// A key that did not sign. It may ask its user each time, for each entry.
#[derive(Default)]
struct Shy {
    /// How often in a row.
    times: u32,
    /// Until then nothing more is asked of it.
    until: i64,
}

const FIRST_REST_MS: i64 = 60_000;
const LONGEST_REST_MS: i64 = 6 * 3_600_000;

impl Shy {
    fn did_not_sign(&mut self, now: i64) {
        self.times += 1;
        let doubled = FIRST_REST_MS.checked_shl((self.times - 1).min(16)).unwrap_or(LONGEST_REST_MS);
        self.until = now + doubled.min(LONGEST_REST_MS);
    }

    /// Until when it is left alone. What is further away was set down by a clock that has been put back since.
    fn rests(&self, now: i64) -> Option<i64> {
        Some(self.until).filter(|until| *until > now && until - now <= LONGEST_REST_MS)
    }
}

/// Tries whose carrying was cancelled: what they did nobody knows.
type GivenUp = Mutex<Vec<Try>>;

/// A try that is being carried. Dropped before the end, it counts as given up.
struct Carried {
    tried: Option<Try>,
    given_up: Arc<GivenUp>,
    changed: Arc<Signal>,
}

/// What is to be done now.
enum Due {
    Carry(Carried, Box<Try>),
    Wait(i64),
    Nothing,
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let Some(tried) = self.tried.take() {
            self.given_up.lock().unwrap_or_else(PoisonError::into_inner).push(tried);
            // Whoever runs may have looked already, and found nothing that is due.
            self.changed.notify(usize::MAX);
        }
    }
}

/// What is stored about a try that has no answer.
fn problem_of(error: &GatewayError) -> String {
    let problem = error.problem();
    json!({"code": problem.code, "detail": problem.detail, "retryable": problem.retryable}).to_string()
}

impl Outbox {
    /// Runs `work` where waiting for the disk hurts nobody.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&OutboxFile) -> Result<T, OutboxError> + Send + 'static,
    ) -> Result<T, GatewayError> {
        let file = self.file.clone();
        Ok(unblock(move || work(&file)).await?)
    }

    /// Changes something, and tells it where the disk's thread is: what is stored is told even if nobody waits any more for
    /// whoever asked for it.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&OutboxFile) -> Result<T, OutboxError> + Send + 'static,
    ) -> Result<T, GatewayError> {
        let changed = self.changed.clone();
        let change = self.with(move |file| {
            let made = work(file)?;
            changed.notify(usize::MAX);
            Ok(made)
        });
        change.await
    }

    fn shy(&self) -> MutexGuard<'_, Shy> {
        self.shy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody asks for something to be sent: the key may be asked again.
    fn ask_again(&self) {
        *self.shy() = Shy::default();
    }

    /// Carries one try to the gateway and stores what was heard.
    async fn carry(&self, mut carried: Carried, tried: Try) -> Result<(), GatewayError> {
        let ended = match self.link.client_id() {
            Some(client_id) if client_id == self.client_id => self.link.carry(Call::new(tried.request.clone()), 1, |_| true).await,
            // In another's name it would be paid again.
            Some(_) | None => Ended { verdict: Verdict::NotDone, last: Err(other_client()) },
        };
        let verdict = ended.verdict;
        // An answer that did not grant what the try needs is none to the try.
        let last = if verdict == Verdict::NotDone { Err(ended.error()) } else { ended.last };
        match (&last, verdict) {
            (Err(error), Verdict::NotDone) if error.is_unsigned() => self.shy().did_not_sign(now()),
            // The key was not asked, or it has signed.
            (Err(_), Verdict::NotDone) => {}
            (Ok(_) | Err(_), _) => self.ask_again(),
        }
        let stored = self.change(move |file| match (&last, verdict) {
            (Ok(answer), _) => file.heard(&tried, &answer_heard(answer), now()),
            (Err(error), Verdict::NotDone) => file.heard(&tried, &Heard::NotSent { problem: &problem_of(error) }, now()),
            (Err(error), _) => file.heard(&tried, &Heard::NoAnswer { problem: &problem_of(error) }, now()),
        });
        stored.await?;
        carried.tried = None;
        Ok(())
    }

    /// Stores that tries were given up. Until that is done they stay in the list: storing may fail, and this may be cancelled,
    /// too. To store one twice changes nothing.
    async fn settle_given_up(&self) -> Result<(), GatewayError> {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if given_up.is_empty() {
            return Ok(());
        }
        let problem = problem_of(&GatewayError::unanswered("cancelled", "it was cancelled on its way"));
        let stored = self.change(move |file| {
            given_up.iter().try_for_each(|tried| file.heard(tried, &Heard::NoAnswer { problem: &problem }, now()).map(drop))?;
            Ok(given_up)
        });
        let stored = stored.await?;
        let same = |one: &Try, other: &Try| (one.entry, one.number, one.kind) == (other.entry, other.number, other.kind);
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.retain(|tried| !stored.iter().any(|stored| same(stored, tried)));
        Ok(())
    }

    /// Carries all that is due now; when the next is due.
    async fn carry_due(&self) -> Result<Option<i64>, GatewayError> {
        loop {
            self.settle_given_up().await?;
            if let Some(until) = self.shy().rests(now()) {
                return Ok(Some(until));
            }
            let (given_up, changed) = (self.given_up.clone(), self.changed.clone());
            // The disk's thread goes on if this is cancelled meanwhile: what it gave out to nobody counts as given up, too.
            let due = self.with(move |file| {
                Ok(match file.next(now())? {
                    Step::Send(tried) => {
                        changed.notify(usize::MAX);
                        Due::Carry(Carried { tried: Some((*tried).clone()), given_up, changed }, tried)
                    }
                    Step::Wait(at) => Due::Wait(at),
                    Step::Idle => Due::Nothing,
                })
            });
            match due.await? {
                Due::Carry(carried, tried) => self.carry(carried, *tried).await?,
                Due::Wait(at) => return Ok(Some(at)),
                Due::Nothing => return Ok(None),
            }
        }
    }
}

/// Opens the outbox in the file at `path`, and makes it if there is none. It belongs to `client` as it is enrolled: the same
/// file is not opened for another.
///
/// # Errors
/// `Storage`: `storage_in_use`, `storage_owner`, `storage_version`, `storage_corrupt`, `storage_failed`; `Invalid` with code
/// `not_enrolled` if the client is not enrolled or its session was not kept.
#[uniffi::export]
pub async fn open_outbox(path: String, client: Arc<GatewayClient>) -> Result<Arc<Outbox>, GatewayError> {
    let client_id = client.link.client_id();
    let client_id = client_id.ok_or_else(|| GatewayError::invalid(Problem::local("not_enrolled", "the client is not enrolled")))?;
    let owner = format!("{} {} {client_id}", client.base, client.mode.as_str());
    let file = unblock(move || OutboxFile::open(&PathBuf::from(path), &owner, now())).await?;
    let (file, changed) = (Arc::new(file), Arc::new(Signal::new()));
    Ok(Arc::new(Outbox { file, link: client.link.clone(), client_id, changed, given_up: Arc::default(), shy: Mutex::default() }))
}

#[uniffi::export]
impl Outbox {
    /// Puts in a settlement; when this returns, it is on disk. Putting in the same one again changes nothing.
    ///
    /// # Errors
    /// `Invalid` with every problem, or `reference_conflict`; `Storage`.
    pub async fn put(&self, request: SettlementRequest) -> Result<OutboxEntry, GatewayError> {
        let body = request.checked_body(Instant(now()))?;
        self.ask_again();
        let kept = self.change(move |file| file.put(&request.reference, &body, now())).await?;
        entry(kept)
    }

    /// Sends what is due, and returns when nothing is: for a background task with little time.
    ///
    /// # Errors
    /// `Storage`. What went wrong with an entry is in the entry.
    pub async fn flush(&self) -> Result<(), GatewayError> {
        self.ask_again();
        // What was given up on its way is due now, too.
        self.settle_given_up().await?;
        self.with(|file| file.wake(now())).await?;
        self.carry_due().await.map(drop)
    }

    /// Sends what is due, whenever it is due, and follows what was sent to its end, for as long as the app runs. It runs
    /// until it is cancelled.
    ///
    /// A key that does not sign, as its user may have refused, is left alone: for a minute, and twice as long each time, up to
    /// six hours. Entries stay queued meanwhile, and [`Outbox::wake`], [`Outbox::put`] and [`Outbox::flush`] end it.
    ///
    /// # Errors
    /// `Storage`, and `Unanswered` if the transport can wait no longer.
    pub async fn run(&self) -> Result<(), GatewayError> {
        loop {
            let listener = self.changed.listen();
            match self.carry_due().await? {
                None => listener.await,
                Some(at) => {
                    let something = async {
                        listener.await;
                        Ok(())
                    };
                    or(self.link.pause((at - now()).clamp(0, LONGEST_PAUSE_MS)), something).await?;
                }
            }
        }
    }

    /// Call this when there is a network again, or a user who can sign: everything that waits becomes due now.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn wake(&self) -> Result<(), GatewayError> {
        self.ask_again();
        self.change(|file| file.wake(now())).await
    }

    /// Withdraws an entry of which nothing can be carried out.
    ///
    /// # Errors
    /// `Invalid` with code `invalid_state` if something may have left, or `settlement_not_found`; `Storage`.
    pub async fn withdraw(&self, reference: String) -> Result<OutboxEntry, GatewayError> {
        let kept = self.change(move |file| file.withdraw(&reference, now())).await?;
        entry(kept)
    }

    /// Removes an entry that was refused or withdrawn, or whose settlement has come to its end. It is shown no more, and no
    /// watcher tells of it. The gateway keeps the settlement: what was delivered and is put in once more is not paid again. But it
    /// is a new entry, which may end as refused or withdrawn and knows nothing of the first.
    ///
    /// # Errors
    /// `Invalid` with code `invalid_state` if something is still to be sent or followed, or `settlement_not_found`; `Storage`.
    pub async fn remove(&self, reference: String) -> Result<(), GatewayError> {
        self.with(move |file| file.remove(&reference)).await
    }

    /// Removes all entries that [`Outbox::remove`] would and that changed last before this time; how many those were.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn prune(&self, before: Instant) -> Result<u64, GatewayError> {
        let removed = self.with(move |file| file.prune(before.0)).await?;
        Ok(removed.try_into().unwrap_or(u64::MAX))
    }

    /// The entry with this reference.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn entry(&self, reference: String) -> Result<Option<OutboxEntry>, GatewayError> {
        self.with(move |file| file.entry(&reference)).await?.map(entry).transpose()
    }

    /// All entries, those that changed last at the end.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn entries(&self) -> Result<Vec<OutboxEntry>, GatewayError> {
        let kept = self.with(|file| file.changes(0, u32::MAX)).await?;
        kept.into_iter().map(entry).collect()
    }

    /// Every entry in its present state, and then each entry whenever it changes.
    ///
    /// # Errors
    /// None.
    pub fn watch(&self) -> Result<Arc<OutboxWatcher>, GatewayError> {
        let (file, changed) = (self.file.clone(), self.changed.clone());
        Ok(Arc::new(OutboxWatcher { file, changed, seen: AtomicI64::new(0) }))
    }
}

/// The device's clock may be put forward or back while [`Outbox::run`] waits.
const LONGEST_PAUSE_MS: i64 = 60_000;
/// How many changes are handed out at once.
const AT_ONCE: u32 = 100;

/// The changes of an outbox. The packages make an async iterator, a `Flow` and an `AsyncSequence` of it.
#[derive(uniffi::Object)]
pub struct OutboxWatcher {
    file: Arc<OutboxFile>,
    changed: Arc<Signal>,
    seen: AtomicI64,
}

#[uniffi::export]
impl OutboxWatcher {
    /// What has changed since the last call, in its present state; waits until something has.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn next(&self) -> Result<Vec<OutboxEntry>, GatewayError> {
        loop {
            let listener = self.changed.listen();
            let (file, seen) = (self.file.clone(), self.seen.load(Ordering::SeqCst));
            let changes = unblock(move || file.changes(seen, AT_ONCE)).await?;
            if let Some(last) = changes.last() {
                self.seen.store(last.change, Ordering::SeqCst);
                return changes.into_iter().map(entry).collect();
            }
            listener.await;
        }
    }
}

#[cfg(test)]
mod tests;
