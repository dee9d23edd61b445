//! The outbox: settlements that are created without network, stored on the device and each sent once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event as Signal;
use futures_lite::future::or;
use railgate::client::outbox::{Heard, OutboxError, OutboxFile, Step, Try};
use railgate::client::{Call, Verdict};
use serde_json::json;

use crate::client::GatewayClient;
use crate::disk::on_disk;
use crate::error::{GatewayError, Problem};
use crate::link::{Ended, Link, answer_heard, now, other_client};
use crate::mirror::{Give as _, mirror_enum};
use crate::request::{AT_ANY_TIME, SettlementRequest};
use crate::values::{Instant, Json};
use crate::views::Settlement;

mirror_enum! {
    /// The state of a settlement in the outbox.
    OutboxState of railgate::client::outbox::OutboxState {
        /// Stored; nothing that was sent can still be executed.
        Queued = "queued",
        /// An attempt is in flight.
        Sending = "sending",
        /// An attempt was sent and got no trustworthy response: the gateway may or may not have it.
        Unknown = "unknown",
        /// The gateway has it; see the settlement for its status.
        Delivered = "delivered",
        /// The gateway refused it and no attempt can arrive any more: nothing is paid.
        Refused = "refused",
        /// Withdrawn while nothing of it could be executed.
        Withdrawn = "withdrawn",
    }
}

/// A settlement of the outbox.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct OutboxEntry {
    /// The reference of the settlement.
    pub reference: String,
    /// Its state.
    pub state: OutboxState,
    /// The number of attempts started.
    pub tries: u32,
    /// When the next attempt is due or the settlement is checked next; none when nothing more is sent.
    pub next_at: Option<Instant>,
    /// Why the latest attempt failed: a problem document.
    pub problem: Option<Json>,
    /// The settlement as the gateway last returned it.
    pub settlement: Option<Settlement>,
    /// When the entry was created.
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

/// Settlements that are created without network, stored in a file on the device and each sent once when there is a network. Every
/// attempt is stored before it is sent and carries the same reference, so that a process that is killed at any moment neither
/// loses nor repeats a payment. An unknown outcome is shown as `unknown`, never as refused.
#[derive(uniffi::Object)]
pub struct Outbox {
    file: Arc<OutboxFile>,
    link: Arc<Link>,
    /// The client that it was opened for.
    client_id: String,
    /// The end user whose device it was opened on, if that was known.
    user: Option<String>,
    changed: Arc<Signal>,
    given_up: Arc<GivenUp>,
    shy: Mutex<Shy>,
}

/// The backoff for a key that did not sign: it may ask its user each time, for each entry.
#[derive(Default)]
struct Shy {
    /// How often in a row it did not sign.
    times: u32,
    /// The time until which it is not asked again.
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

    /// The time until which the key is not asked. A time too far ahead is from a clock that was set back since, and is ignored.
    fn rests(&self, now: i64) -> Option<i64> {
        Some(self.until).filter(|until| *until > now && until - now <= LONGEST_REST_MS)
    }
}

/// Attempts that were cancelled while in flight: their outcome is unknown.
type GivenUp = Mutex<Vec<Try>>;

/// An attempt in flight. Dropped before it ends, it counts as given up.
struct Carried {
    tried: Option<Try>,
    given_up: Arc<GivenUp>,
    changed: Arc<Signal>,
}

/// The next step of the outbox.
enum Due {
    Carry(Carried, Box<Try>),
    Wait(i64),
    Nothing,
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let Some(tried) = self.tried.take() {
            self.given_up.lock().unwrap_or_else(PoisonError::into_inner).push(tried);
            // `run` may already have checked and found nothing due.
            self.changed.notify(usize::MAX);
        }
    }
}

/// The problem document stored for an attempt without a response.
fn problem_of(error: &GatewayError) -> String {
    let problem = error.problem();
    json!({"code": problem.code, "detail": problem.detail, "retryable": problem.retryable}).to_string()
}

impl Outbox {
    /// Runs `work` on a thread that may wait for the disk.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&OutboxFile) -> Result<T, OutboxError> + Send + 'static,
    ) -> Result<T, GatewayError> {
        let file = self.file.clone();
        Ok(on_disk(move || work(&file)).await??)
    }

    /// Changes something and notifies the watchers from the disk's thread, so that they are notified even if the caller was
    /// cancelled.
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

    /// The app asks for something to be sent: the key may be asked again.
    fn ask_again(&self) {
        *self.shy() = Shy::default();
    }

    /// Sends one attempt to the gateway and stores its result.
    async fn carry(&self, mut carried: Carried, tried: Try) -> Result<(), GatewayError> {
        // As a payment of another end user, it would be another payment.
        let is_users = self.user.is_none() || self.link.user() == self.user;
        let ended = match self.link.client_id() {
            Some(client_id) if client_id == self.client_id && is_users => {
                self.link.carry(Call::new(tried.request.clone()), 1, &|_| true).await
            }
            // On behalf of another client it would be paid again.
            Some(_) | None => Ended { verdict: Verdict::NotDone, last: Err(other_client()) },
        };
        let verdict = ended.verdict;
        // A response that did not grant a token or challenge is not a response to the attempt.
        let last = if verdict == Verdict::NotDone { Err(ended.error()) } else { ended.last };
        match (&last, verdict) {
            (Err(error), Verdict::NotDone) if error.is_unsigned() => self.shy().did_not_sign(now()),
            // The key was not asked, or it signed.
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

    /// Stores that attempts were given up. They stay in the list until that is done, because storing may fail or be cancelled, too.
    /// Storing one twice changes nothing.
    async fn settle_given_up(&self) -> Result<(), GatewayError> {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if given_up.is_empty() {
            return Ok(());
        }
        let problem = problem_of(&GatewayError::unanswered("cancelled", "it was cancelled while in flight"));
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

    /// Sends everything that is due now; returns when the next attempt is due.
    async fn carry_due(&self) -> Result<Option<i64>, GatewayError> {
        loop {
            self.settle_given_up().await?;
            if let Some(until) = self.shy().rests(now()) {
                return Ok(Some(until));
            }
            let (given_up, changed) = (self.given_up.clone(), self.changed.clone());
            // The disk's thread continues if this is cancelled meanwhile: an attempt handed out then counts as given up, too.
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

/// Opens the outbox in the file at `path`, and creates it if there is none. It belongs to the enrolled `client`, and on an end user's
/// device to that user; for another one the same file is refused.
///
/// # Errors
/// `Storage`: `storage_in_use`, `storage_owner`, `storage_version`, `storage_corrupt`, `storage_failed`; `Invalid` with code
/// `not_enrolled` if the client is not enrolled or its session was not restored.
#[uniffi::export]
pub async fn open_outbox(path: String, client: Arc<GatewayClient>) -> Result<Arc<Outbox>, GatewayError> {
    let client_id = client.link.client_id();
    let client_id = client_id.ok_or_else(|| GatewayError::invalid(Problem::local("not_enrolled", "the client is not enrolled")))?;
    let (owner, user) = (format!("{} {} {client_id}", client.base, client.mode.as_str()), client.link.user());
    let whose = user.clone();
    let file = on_disk(move || OutboxFile::open(&PathBuf::from(path), &owner, whose.as_deref(), now())).await??;
    let (file, changed) = (Arc::new(file), Arc::new(Signal::new()));
    Ok(Arc::new(Outbox { file, link: client.link.clone(), client_id, user, changed, given_up: Arc::default(), shy: Mutex::default() }))
}

#[uniffi::export]
impl Outbox {
    /// Adds a settlement; when this returns, it is on disk. Adding the same one again changes nothing.
    ///
    /// # Errors
    /// `Invalid` with every problem, or `reference_conflict`; `Storage`.
    pub async fn put(&self, request: SettlementRequest) -> Result<OutboxEntry, GatewayError> {
        let body = request.checked_body(AT_ANY_TIME)?;
        self.ask_again();
        let kept = self.change(move |file| file.put(&request.reference, &body, now())).await?;
        entry(kept)
    }

    /// Sends everything that waits and then returns: for a background task with little time.
    ///
    /// # Errors
    /// `Storage`. An error of an entry is in the entry.
    pub async fn flush(&self) -> Result<(), GatewayError> {
        self.ask_again();
        // Attempts that were given up are due now, too.
        self.settle_given_up().await?;
        self.with(|file| file.wake(now())).await?;
        self.carry_due().await.map(drop)
    }

    /// Sends entries whenever they are due and follows delivered settlements until they are final. It runs until it is
    /// cancelled.
    ///
    /// A key that does not sign, for example because its user refused, is not asked again for a minute, then twice as long each
    /// time, up to six hours. Entries stay queued; [`Outbox::wake`], [`Outbox::put`] and [`Outbox::flush`] end this backoff.
    ///
    /// # Errors
    /// `Storage`, and `Unanswered` if the transport can no longer wait.
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

    /// Makes everything that waits due now. Call it when there is a network again, or a user who can sign.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn wake(&self) -> Result<(), GatewayError> {
        self.ask_again();
        self.change(|file| file.wake(now())).await
    }

    /// Withdraws an entry, if nothing of it can be executed.
    ///
    /// # Errors
    /// `Invalid` with code `invalid_state` if something may have been sent, or `settlement_not_found`; `Storage`.
    pub async fn withdraw(&self, reference: String) -> Result<OutboxEntry, GatewayError> {
        let kept = self.change(move |file| file.withdraw(&reference, now())).await?;
        entry(kept)
    }

    /// Removes an entry that was refused or withdrawn, or whose settlement is final. It is no longer listed, and watchers do not
    /// report its removal. The gateway keeps the settlement: if a delivered one is added again, it is not paid again. But that is
    /// a new entry without a link to the first, and may end as refused or withdrawn.
    ///
    /// # Errors
    /// `Invalid` with code `invalid_state` if it must still be sent or followed, or `settlement_not_found`; `Storage`.
    pub async fn remove(&self, reference: String) -> Result<(), GatewayError> {
        self.with(move |file| file.remove(&reference)).await
    }

    /// Removes all entries that [`Outbox::remove`] accepts and that last changed before this time; returns their number.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn prune(&self, before: Instant) -> Result<u64, GatewayError> {
        let removed = self.with(move |file| file.prune(before.0)).await?;
        Ok(removed.try_into().unwrap_or(u64::MAX))
    }

    /// Returns the entry with this reference, if there is one.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn entry(&self, reference: String) -> Result<Option<OutboxEntry>, GatewayError> {
        self.with(move |file| file.entry(&reference)).await?.map(entry).transpose()
    }

    /// Returns all entries in the order of their last change.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn entries(&self) -> Result<Vec<OutboxEntry>, GatewayError> {
        let kept = self.with(|file| file.changes(0, u32::MAX)).await?;
        kept.into_iter().map(entry).collect()
    }

    /// Watches the outbox: first every entry in its current state, then each entry whenever it changes.
    ///
    /// # Errors
    /// None.
    pub fn watch(&self) -> Result<Arc<OutboxWatcher>, GatewayError> {
        let (file, changed) = (self.file.clone(), self.changed.clone());
        Ok(Arc::new(OutboxWatcher { file, changed, seen: AtomicI64::new(0) }))
    }
}

/// The longest wait of [`Outbox::run`], because the device's clock may be changed meanwhile.
const LONGEST_PAUSE_MS: i64 = 60_000;
/// The maximum number of changes returned at once.
const AT_ONCE: u32 = 100;

/// The changes of an outbox. The packages wrap it as an async iterator, a `Flow` or an `AsyncSequence`.
#[derive(uniffi::Object)]
pub struct OutboxWatcher {
    file: Arc<OutboxFile>,
    changed: Arc<Signal>,
    seen: AtomicI64,
}

#[uniffi::export]
impl OutboxWatcher {
    /// Returns the entries that changed since the last call, in their current state; waits until there are any.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn next(&self) -> Result<Vec<OutboxEntry>, GatewayError> {
        loop {
            let listener = self.changed.listen();
            let (file, seen) = (self.file.clone(), self.seen.load(Ordering::SeqCst));
            let changes = on_disk(move || file.changes(seen, AT_ONCE)).await??;
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
