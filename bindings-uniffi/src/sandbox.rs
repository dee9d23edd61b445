//! The gateway on the device: the server's engine, with play money and the simulated operator, over SQLite.

use std::sync::Arc;

use event_listener::Event as Signal;
use railgate::ErrorCode;
use railgate::api::{FaultsView, Rate};
use railgate::receipt::Form;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::sqlite::SqliteSandbox;

use crate::client::Data;
use crate::disk::on_disk;
use crate::error::{FieldProblem, GatewayError, Problem};
use crate::feed::{FeedFollower, feed_of};
use crate::filter::{SettlementFilter, SettlementPage};
use crate::follow::{Followed, StatusFollower};
use crate::link::{now, view};
use crate::live::Live;
use crate::mirror::Give;
use crate::raw::ReceiptForm;
use crate::request::{BatchAnswer, BatchResult, ReversalRequest, SettlementRequest, batch_body};
use crate::sandbox_line::{json, line, listing, shown};
use crate::signing::seed;
use crate::simulator::{Ended, clock_body};
use crate::values::{Decimal, Instant};
use crate::views::{
    Balance, Check, Event, FeedPage, Provider, Receipt, Reconciliation, Reversal, Reversed, SandboxClock, Scenario, Settlement, Status,
};
use crate::writes::Writes;

/// Options for opening a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct SandboxOptions {
    /// The client's name, 1 to 100 characters.
    #[uniffi(default = "Sandbox")]
    pub name: String,
    /// The issuer of receipts.
    #[uniffi(default = "railgate")]
    pub issuer: String,
    /// 32 bytes, random by default; set them only to repeat a run byte for byte.
    #[uniffi(default = None)]
    pub seed: Option<Vec<u8>>,
    /// The initial time, for the same purpose; the device's by default.
    #[uniffi(default = None)]
    pub now: Option<Instant>,
}

/// The result of doing the due tasks.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct SandboxWork {
    /// When the next task is due; none if there is none.
    pub due: Option<Instant>,
    /// The number of tasks done.
    pub done: u64,
}

/// How the simulated operator and the way to it fail. Which calls are hit follows from the seed.
#[derive(Debug, Clone, PartialEq, serde::Deserialize, uniffi::Record)]
pub struct SandboxFaults {
    /// The share of calls that do not reach the operator, from 0 to 1.
    #[uniffi(default = 0.0)]
    pub rate: f64,
    /// How long the operator takes to answer a payment or a reversal, in milliseconds; at most an hour.
    #[uniffi(default = 0)]
    pub latency_ms: u64,
    /// The share of calls whose answer is lost, from 0 to 1.
    #[uniffi(default = 0.0)]
    pub drop_answer_rate: f64,
    /// Selects which calls are hit.
    #[uniffi(default = 0)]
    pub seed: u64,
}

impl SandboxFaults {
    /// The request to set them. Shares are written without an exponent, unlike by a JSON library.
    pub(crate) fn body(&self) -> String {
        let Self { rate, latency_ms, drop_answer_rate, seed } = self;
        format!(r#"{{"rate":"{rate}","latency_ms":{latency_ms},"drop_answer_rate":"{drop_answer_rate}","seed":{seed}}}"#)
    }
}

impl Give<SandboxFaults> for FaultsView {
    fn give(self) -> Result<SandboxFaults, GatewayError> {
        let FaultsView { rate, latency_ms, drop_answer_rate, seed } = self;
        let share = |share: Rate| f64::from(share.millionths()) / 1_000_000.0;
        Ok(SandboxFaults { rate: share(rate), latency_ms, drop_answer_rate: share(drop_answer_rate), seed })
    }
}

/// A sandbox gateway with one client, in a file. It uses no network. Its methods wait for the disk on another thread and may
/// be called from any thread, concurrently.
///
/// Tasks that are due at once are done with the call, later ones when [`SandboxGateway::work`] is called.
#[derive(uniffi::Object)]
pub struct SandboxGateway {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) writes: Arc<Writes>,
    pub(crate) changed: Arc<Signal>,
}

/// Converts an error of the engine as if it came from a server.
pub(crate) fn refused(error: railgate::Error) -> GatewayError {
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

/// Opens the sandbox in the file at `path`; if there is none, creates it with funded accounts.
///
/// # Errors
/// `Storage`, for example when another process has it open; `Invalid`.
#[uniffi::export]
pub async fn open_sandbox(path: String, options: SandboxOptions) -> Result<Arc<SandboxGateway>, GatewayError> {
    let SandboxOptions { name, issuer, seed: given, now: at } = options;
    let seed = seed(given)?;
    let open = move || {
        let store = SqliteSandbox::open(path)
            .map_err(|error| GatewayError::Storage { problem: Problem::local("storage_failed", error.to_string()) })?;
        let at = at.map_or_else(now, |at| at.0);
        Sandbox::open(Arc::new(store), &Options { name, issuer }, seed, at).map_err(refused)
    };
    let (sandbox, changed) = (Arc::new(on_disk(open).await??), Arc::new(Signal::new()));
    let writes = Arc::new(Writes::new(sandbox.clone(), changed.clone()));
    Ok(Arc::new(SandboxGateway { sandbox, writes, changed }))
}

impl SandboxGateway {
    fn live(&self) -> Live {
        Live { sandbox: self.sandbox.clone(), changed: self.changed.clone() }
    }

    fn followed(&self, reference: String) -> Followed {
        Followed::Sandbox(self.live(), reference)
    }
}

#[uniffi::export]
impl SandboxGateway {
    /// Executes one call as text: `{"call": …}` in, `{"status", "ok"}` or `{"status", "error"}` out, the same bytes on every
    /// platform. `now`: the device's time by default.
    ///
    /// # Errors
    /// None: errors are in the result.
    #[uniffi::method(default(now = None))]
    pub async fn call(&self, request: String, now: Option<Instant>) -> Result<String, GatewayError> {
        let (sandbox, changed, at) = (self.sandbox.clone(), self.changed.clone(), now.map_or_else(crate::link::now, |at| at.0));
        let call = move || {
            let answer = sandbox.call(at, &request);
            changed.notify(usize::MAX);
            answer
        };
        on_disk(call).await
    }

    /// Does all due tasks: calls to the simulated operator, its answers and callbacks. `now`: the device's time by
    /// default.
    ///
    /// # Errors
    /// `Storage`.
    #[uniffi::method(default(now = None))]
    pub async fn work(&self, now: Option<Instant>) -> Result<SandboxWork, GatewayError> {
        let (sandbox, changed, at) = (self.sandbox.clone(), self.changed.clone(), now.map_or_else(crate::link::now, |at| at.0));
        let work = move || {
            let worked = sandbox.at_once(at, || ()).unwrap_or_else(|undone| Err(undone.error(true)));
            changed.notify(usize::MAX);
            worked
        };
        let worked = on_disk(work).await?.map_err(refused)?;
        Ok(SandboxWork { due: worked.due.map(Instant), done: u64::try_from(worked.done).unwrap_or(u64::MAX) })
    }

    /// Creates a settlement; a repetition of the same request returns the same settlement.
    ///
    /// # Errors
    /// `Invalid` with every problem, `Refused`, `Storage`.
    pub async fn create(&self, request: SettlementRequest) -> Result<Settlement, GatewayError> {
        shown(self.write(true, line("create", &[], &request.body())).await)
    }

    /// Creates up to 1,000 settlements in one write. Each succeeds or fails alone; the results are in the order of the requests.
    ///
    /// # Errors
    /// `Invalid` if there are too many or none; `Storage`.
    pub async fn create_batch(&self, requests: Vec<SettlementRequest>) -> Result<Vec<BatchResult>, GatewayError> {
        let body = batch_body(&requests);
        let made = self.change(true, move |sandbox| json(&sandbox.client().create_batch_json(&body)?)).await?;
        view(made.as_bytes()).map(BatchAnswer::results)
    }

    /// Returns what a create would find now. Changes nothing.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn check(&self, request: SettlementRequest) -> Result<Check, GatewayError> {
        shown(self.read(line("check", &[], &request.body())).await)
    }

    /// Returns the settlement with this reference or id.
    ///
    /// # Errors
    /// `Refused` with code `settlement_not_found`, `Storage`.
    pub async fn settlement(&self, reference: String) -> Result<Settlement, GatewayError> {
        shown(self.read(line("get", &[("ref", &reference)], "")).await)
    }

    /// Returns the status of a settlement.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn status(&self, reference: String) -> Result<Status, GatewayError> {
        shown(self.read(line("status", &[("ref", &reference)], "")).await)
    }

    /// Follows the status of a settlement, now and at each change, until it no longer changes by itself. While somebody waits, what
    /// becomes due is done.
    ///
    /// # Errors
    /// None.
    pub fn follow(&self, reference: String) -> Result<Arc<StatusFollower>, GatewayError> {
        Ok(Arc::new(StatusFollower::new(self.followed(reference))))
    }

    /// Waits until a settlement no longer changes by itself, doing what becomes due; with `reversals`, also until none of its reversals is
    /// in flight.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    #[uniffi::method(default(reversals = false))]
    pub async fn settled(&self, reference: String, reversals: bool) -> Result<Settlement, GatewayError> {
        self.followed(reference).settled(reversals).await
    }

    /// Returns the complete trace of a settlement, oldest first.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn events(&self, reference: String) -> Result<Vec<Event>, GatewayError> {
        view(self.look(move |sandbox| json(&sandbox.client().events(&reference, 0, usize::from(u16::MAX))?.data)).await?.as_bytes())
    }

    /// Returns events of all settlements after a position of the feed (0: from the beginning), oldest first, at most `limit` (1 to 200).
    ///
    /// # Errors
    /// `Refused` with `epoch_changed` if the position is past the end, or of another epoch; `Storage`.
    #[uniffi::method(default(epoch = None))]
    pub async fn feed(&self, after: i64, limit: u32, epoch: Option<u32>) -> Result<FeedPage, GatewayError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, 200);
        view(self.look(move |sandbox| json(&feed_of(sandbox, after, limit, epoch)?)).await?.as_bytes())
    }

    /// Returns a page of settlements, newest first.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn settlements(&self, filter: SettlementFilter) -> Result<SettlementPage, GatewayError> {
        shown(self.read(listing(&[], &filter.query()?)).await)
    }

    /// Reverses a settlement, in whole or in part. The reference makes it safe to repeat.
    ///
    /// # Errors
    /// As [`SandboxGateway::create`].
    pub async fn reverse(&self, reference: String, request: ReversalRequest) -> Result<Reversed, GatewayError> {
        shown(self.write(true, line("reverse", &[("ref", &reference)], &request.body())).await)
    }

    /// Returns the reversals of a settlement, oldest first.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn reversals(&self, reference: String) -> Result<Vec<Reversal>, GatewayError> {
        shown(self.read(line("reversals", &[("ref", &reference)], "")).await).map(|all: Data<Reversal>| all.data)
    }

    /// Returns one reversal of a settlement, by its id or the client's reference.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`]; `Refused` with code `reversal_not_found`.
    pub async fn reversal(&self, reference: String, id: String) -> Result<Reversal, GatewayError> {
        shown(self.read(line("reversal", &[("ref", &reference), ("id", &id)], "")).await)
    }

    /// Waits until a reversal of a settlement is completed or has failed, doing what becomes due, and returns it.
    ///
    /// # Errors
    /// As [`SandboxGateway::reversal`].
    pub async fn reversed(&self, reference: String, id: String) -> Result<Reversal, GatewayError> {
        self.followed(reference).reversed(&id).await
    }

    /// Compares the record, the ledger, the trace and the simulated operator's answer.
    ///
    /// # Errors
    /// As [`SandboxGateway::settlement`].
    pub async fn reconcile(&self, reference: String) -> Result<Reconciliation, GatewayError> {
        shown(self.write(true, line("reconcile", &[("ref", &reference)], "")).await)
    }

    /// Returns the receipt of a settlement. Its authoritative form is `jws`.
    ///
    /// # Errors
    /// `Refused` with code `not_completed` or `settlement_not_found`, `Storage`.
    pub async fn receipt(&self, reference: String) -> Result<Receipt, GatewayError> {
        shown(self.read(line("receipt", &[("ref", &reference)], "")).await)
    }

    /// Returns the receipt of a settlement in another form, byte for byte.
    ///
    /// # Errors
    /// As [`SandboxGateway::receipt`]; `Refused` with `not_acceptable` for PDF, which only servers draw.
    pub async fn receipt_as(&self, reference: String, form: ReceiptForm) -> Result<Vec<u8>, GatewayError> {
        let drawn = move |sandbox: &Sandbox| {
            let receipt = sandbox.client().receipt(&reference)?;
            let form = match form {
                ReceiptForm::Jws => return Ok(receipt.jws),
                form => Form::of(form.media_type()).ok_or_else(|| railgate::Error::new(ErrorCode::NotAcceptable))?,
            };
            receipt.drawn(form)
        };
        let text: String = self.look(drawn).await?;
        Ok(text.into_bytes())
    }

    /// Returns the keys that sign receipts, for [`verify_receipt`](crate::verify_receipt).
    ///
    /// # Errors
    /// `Storage`.
    pub async fn receipt_keys(&self) -> Result<String, GatewayError> {
        self.look(|sandbox| sandbox.keys()).await
    }

    /// Returns the simulated providers.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn providers(&self) -> Result<Vec<Provider>, GatewayError> {
        view(self.look(|sandbox| json(&sandbox.client().providers())).await?.as_bytes())
    }

    /// Returns the provider with this id.
    ///
    /// # Errors
    /// `Refused` with `provider_not_found`; `Storage`.
    pub async fn provider(&self, id: String) -> Result<Provider, GatewayError> {
        view(self.look(move |sandbox| json(&sandbox.client().provider(&id)?)).await?.as_bytes())
    }

    /// Returns the balances of all accounts: play money.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn balances(&self) -> Result<Vec<Balance>, GatewayError> {
        shown(self.read(line("balances", &[], "")).await).map(|all: Data<Balance>| all.data)
    }

    /// Returns the balance in one currency: play money.
    ///
    /// # Errors
    /// `Refused` with code `balance_not_found`; `Storage`.
    pub async fn balance(&self, currency: String) -> Result<Balance, GatewayError> {
        shown(self.read(line("balance", &[("currency", &currency)], "")).await)
    }

    /// Returns the scenarios of the simulated operator: participants, and what happens to payments to them.
    ///
    /// # Errors
    /// None.
    pub async fn scenarios(&self) -> Result<Vec<Scenario>, GatewayError> {
        shown(self.read(line("scenarios", &[], "")).await).map(|all: Data<Scenario>| all.data)
    }

    /// Adds play money to an account and returns the new balance.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn fund(&self, currency: String, amount: Decimal) -> Result<Balance, GatewayError> {
        let body = serde_json::json!({"currency": currency, "amount": amount.shortest()}).to_string();
        shown(self.write(false, line("fund", &[], &body)).await)
    }

    /// Has the simulated operator decide about a settlement now, whatever its scenario: `submitted`, `unknown`, `completed`,
    /// `failed` (with an optional code of the failure) or `returned`.
    ///
    /// # Errors
    /// `Refused` with code `invalid_state` if that cannot become of it; as [`SandboxGateway::settlement`]; `Invalid`.
    #[uniffi::method(default(code = None))]
    pub async fn advance(&self, reference: String, to: String, code: Option<String>) -> Result<Settlement, GatewayError> {
        let body = serde_json::json!({"to": to, "code": code}).to_string();
        shown(self.write(false, line("advance", &[("ref", &reference)], &body)).await)
    }

    /// Returns the clock of the sandbox.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn clock(&self) -> Result<SandboxClock, GatewayError> {
        shown(self.read(line("clock", &[], "")).await)
    }

    /// Stops the clock (`true`) or lets it run (`false`), and advances it first, in milliseconds, so that a day's wait takes a moment.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    #[uniffi::method(default(frozen = None, advance_ms = 0))]
    pub async fn set_clock(&self, frozen: Option<bool>, advance_ms: u64) -> Result<SandboxClock, GatewayError> {
        shown(self.write_clock(line("set_clock", &[], &clock_body(frozen, advance_ms))).await)
    }

    /// Returns the faults of the simulated operator.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn faults(&self) -> Result<SandboxFaults, GatewayError> {
        shown(self.read(line("faults", &[], "")).await)
    }

    /// Replaces the faults of the simulated operator.
    ///
    /// # Errors
    /// `Invalid`, `Storage`.
    pub async fn set_faults(&self, faults: SandboxFaults) -> Result<SandboxFaults, GatewayError> {
        shown(self.write(true, line("set_faults", &[], &faults.body())).await)
    }

    /// Starts again: cancels what was not sent, has the simulated operator refuse what is open, removes the faults, restores the opening
    /// balances and lets the clock run. Returns how many settlements were ended. History and references stay.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn reset(&self) -> Result<u64, GatewayError> {
        shown(self.write_clock(line("reset", &[], "")).await).map(|Ended { ended, .. }| ended)
    }

    /// Follows the events of all settlements after the position `after`: past ones, then each as it happens. While somebody waits, what
    /// becomes due is done.
    ///
    /// # Errors
    /// None.
    #[uniffi::method(default(after = 0, epoch = None))]
    pub fn follow_feed(&self, after: i64, epoch: Option<u32>) -> Result<Arc<FeedFollower>, GatewayError> {
        Ok(Arc::new(FeedFollower::of_sandbox(self.live(), after, epoch)))
    }
}
