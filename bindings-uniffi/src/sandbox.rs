//! The gateway on the device: the server's engine, with play money and the simulated operator, over SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use blocking::unblock;
use event_listener::Event as Signal;
use railgate::ErrorCode;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::sqlite::SqliteStore;

use crate::client::{SettlementFilter, SettlementPage};
use crate::error::{FieldProblem, GatewayError, Problem};
use crate::link::now;
use crate::mirror::Give;
use crate::request::{ReversalRequest, SettlementRequest};
use crate::signing::seed;
use crate::values::{Decimal, Instant};
use crate::views::{Balance, Check, Event, FeedEvent, Receipt, Reconciliation, Reversal, Reversed, Settlement, Status};

/// How a sandbox is opened.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct SandboxOptions {
    /// The client's name, 1 to 100 characters.
    #[uniffi(default = "Sandbox")]
    pub name: String,
    /// Who signs receipts.
    #[uniffi(default = "railgate")]
    pub issuer: String,
    /// 32 bytes, random by default; give them only to repeat a run byte for byte.
    #[uniffi(default = None)]
    pub seed: Option<Vec<u8>>,
    /// The time to begin with, for the same purpose; the device's unless given.
    #[uniffi(default = None)]
    pub now: Option<Instant>,
}

/// What working on what was due came to.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct SandboxWork {
    /// When there is more to do; none when nothing is due by itself.
    pub due: Option<Instant>,
    /// How many tasks were carried out.
    pub done: u64,
}

/// A sandbox gateway with one client, in a file. It uses no network. Its methods wait for the disk on another thread, and may
/// be called from any thread, concurrently.
///
/// What is due at once is carried out with the call; what is due later when [`SandboxGateway::work`] is called.
#[derive(uniffi::Object)]
pub struct SandboxGateway {
    sandbox: Arc<Sandbox>,
    changed: Arc<Signal>,
}

/// What the engine says about a call, as a server would have said it.
fn refused(error: railgate::Error) -> GatewayError {
    let (code, status) = (error.code, error.code.http_status());
    let local = Problem::local(code.as_str(), error.detail.to_string());
    let problems = error.into_fields().into_iter().map(FieldProblem::from).collect();
    let problem = Problem { retryable: code.retryable(), problems, status: Some(status), ..local };
    match code {
        ErrorCode::InvalidFields | ErrorCode::MalformedJson => GatewayError::Invalid { problem },
        ErrorCode::StoreUnavailable | ErrorCode::Internal => GatewayError::Storage { problem },
        _ => GatewayError::Refused { problem },
    }
}

/// Opens the sandbox in the file at `path`, and makes it if there is none; the first time its accounts are funded.
///
/// # Errors
/// `Storage`, such as when another process has it open; `Invalid`.
#[uniffi::export]
pub async fn open_sandbox(path: String, options: SandboxOptions) -> Result<Arc<SandboxGateway>, GatewayError> {
    let SandboxOptions { name, issuer, seed: given, now: at } = options;
    let seed = seed(given)?;
    let open = move || {
        let store = SqliteStore::open(path)
            .map_err(|error| GatewayError::Storage { problem: Problem::local("storage_failed", error.to_string()) })?;
        let at = at.map_or_else(now, |at| at.0);
        Sandbox::open(Arc::new(store), &Options { name, issuer }, seed, at).map_err(refused)
    };
    Ok(Arc::new(SandboxGateway { sandbox: Arc::new(unblock(open).await?), changed: Arc::new(Signal::new()) }))
}

impl SandboxGateway {
    /// Looks at something.
    async fn look<C: Give<T> + Send + 'static, T: Send + 'static>(
        &self,
        look: impl FnOnce(&Sandbox) -> railgate::error::Result<C> + Send + 'static,
    ) -> Result<T, GatewayError> {
        let sandbox = self.sandbox.clone();
        unblock(move || {
            sandbox.tick(now());
            look(&sandbox).map_err(refused)?.give()
        })
        .await
    }

    /// Changes something, and carries out what is due at once. It is told in the disk's thread: a change is made even if nobody
    /// waits any more for whoever asked for it.
    async fn change<C: Give<T> + Send + 'static, T: Send + 'static>(
        &self,
        change: impl FnOnce(&Sandbox) -> railgate::error::Result<C> + Send + 'static,
    ) -> Result<T, GatewayError> {
        let changed = self.changed.clone();
        let change = self.look(move |sandbox| {
            let made = change(sandbox).and_then(|made| sandbox.work(now()).map(|_| made));
            changed.notify(usize::MAX);
            made
        });
        change.await
    }
}

#[uniffi::export]
impl SandboxGateway {
    /// One call as text: `{"call": …}` in, `{"status", "ok"}` or `{"status", "error"}` out, the same bytes on every platform.
    /// `now`: the device's time unless given.
    ///
    /// # Errors
    /// None: they are in the answer.
    #[uniffi::method(default(now = None))]
    pub async fn call(&self, request: String, now: Option<Instant>) -> Result<String, GatewayError> {
        let (sandbox, changed, at) = (self.sandbox.clone(), self.changed.clone(), now.map_or_else(crate::link::now, |at| at.0));
        let call = move || {
            let answer = sandbox.call(at, &request);
            changed.notify(usize::MAX);
            answer
        };
        Ok(unblock(call).await)
    }

    /// Carries out what is due: calls to the simulated operator, its answers and call-backs. `now`: the device's time unless
    /// given.
    ///
    /// # Errors
    /// `Storage`.
    #[uniffi::method(default(now = None))]
    pub async fn work(&self, now: Option<Instant>) -> Result<SandboxWork, GatewayError> {
        let (sandbox, changed, at) = (self.sandbox.clone(), self.changed.clone(), now.map_or_else(crate::link::now, |at| at.0));
        let work = move || {
            let worked = sandbox.work(at);
            changed.notify(usize::MAX);
            worked
        };
        let worked = unblock(work).await.map_err(refused)?;
        Ok(SandboxWork { due: worked.due.map(Instant), done: u64::try_from(worked.done).unwrap_or(u64::MAX) })
    }

    /// Creates a settlement; the same request once more gives the same settlement.
    ///
    /// # Errors
    /// `Invalid` with every problem, `Refused`, `Storage`.
    pub async fn create(&self, request: SettlementRequest) -> Result<Settlement, GatewayError> {
        self.change(move |sandbox| Ok(sandbox.client().create_json(&request.body())?.settlement)).await
    }

    /// What a create would meet now; nothing is done.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn check(&self, request: SettlementRequest) -> Result<Check, GatewayError> {
        self.look(move |sandbox| sandbox.client().check_json(&request.body())).await
    }

    /// The settlement with this reference or id.
    ///
    /// # Errors
    /// `Refused` with code `settlement_not_found`, `Storage`.
    pub async fn settlement(&self, reference: String) -> Result<Settlement, GatewayError> {
        self.look(move |sandbox| sandbox.client().settlement(&reference)).await
    }

    /// Its status.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn status(&self, reference: String) -> Result<Status, GatewayError> {
        self.look(move |sandbox| sandbox.client().status(&reference)).await
    }

    /// Its trace, oldest first: all of it.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn events(&self, reference: String) -> Result<Vec<Event>, GatewayError> {
        self.look(move |sandbox| Ok(sandbox.client().events(&reference, 0, usize::from(u16::MAX))?.data)).await
    }

    /// Settlements, newest first.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn settlements(&self, filter: SettlementFilter) -> Result<SettlementPage, GatewayError> {
        let query = filter.query()?;
        self.look(move |sandbox| sandbox.client().list(&query)).await
    }

    /// Gives back a settlement, or a part of it. Safe to repeat by its reference.
    ///
    /// # Errors
    /// As [`SandboxGateway::create`].
    pub async fn reverse(&self, reference: String, request: ReversalRequest) -> Result<Reversed, GatewayError> {
        self.change(move |sandbox| Ok(sandbox.client().reverse_json(&reference, &request.body(), None)?.view)).await
    }

    /// Its reversals.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn reversals(&self, reference: String) -> Result<Vec<Reversal>, GatewayError> {
        self.look(move |sandbox| sandbox.client().reversals(&reference)).await
    }

    /// Compares the record, the books, the trace and what the simulated operator says.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn reconcile(&self, reference: String) -> Result<Reconciliation, GatewayError> {
        self.change(move |sandbox| sandbox.client().reconcile(&reference)).await
    }

    /// Its receipt; what counts is `jws`.
    ///
    /// # Errors
    /// `Refused` with code `not_completed`, and as ever.
    pub async fn receipt(&self, reference: String) -> Result<Receipt, GatewayError> {
        self.look(move |sandbox| Ok(sandbox.client().receipt(&reference)?.view())).await
    }

    /// The keys that receipts are signed with, for [`verify_receipt`](crate::verify_receipt).
    ///
    /// # Errors
    /// `Storage`.
    pub async fn receipt_keys(&self) -> Result<String, GatewayError> {
        self.look(|sandbox| sandbox.keys()).await
    }

    /// What the accounts hold: play money.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn balances(&self) -> Result<Vec<Balance>, GatewayError> {
        self.look(|sandbox| sandbox.client().balances()).await
    }

    /// Puts more play money into an account.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn fund(&self, currency: String, amount: Decimal) -> Result<Balance, GatewayError> {
        let body = serde_json::json!({"currency": currency, "amount": amount.shortest()}).to_string();
        self.change(move |sandbox| sandbox.client().fund_json(&body)).await
    }

    /// Every event of the gateway after the position `after`, and each that happens.
    ///
    /// # Errors
    /// None.
    pub fn watch(&self, after: i64) -> Result<Arc<SandboxWatcher>, GatewayError> {
        let (sandbox, changed) = (self.sandbox.clone(), self.changed.clone());
        Ok(Arc::new(SandboxWatcher { sandbox, changed, seen: AtomicI64::new(after) }))
    }
}

/// The events of a sandbox. The packages make an async iterator, a `Flow` and an `AsyncSequence` of it.
#[derive(uniffi::Object)]
pub struct SandboxWatcher {
    sandbox: Arc<Sandbox>,
    changed: Arc<Signal>,
    seen: AtomicI64,
}

/// How many events are handed out at once.
const AT_ONCE: usize = 100;

#[uniffi::export]
impl SandboxWatcher {
    /// What has happened since the last call; waits until something has.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn next(&self) -> Result<Vec<FeedEvent>, GatewayError> {
        loop {
            let listener = self.changed.listen();
            let (sandbox, seen) = (self.sandbox.clone(), self.seen.load(Ordering::SeqCst));
            let page = unblock(move || sandbox.client().feed(seen, AT_ONCE)).await.map_err(refused)?;
            if !page.data.is_empty() {
                self.seen.store(page.next_after, Ordering::SeqCst);
                return page.data.give();
            }
            listener.await;
        }
    }
}
