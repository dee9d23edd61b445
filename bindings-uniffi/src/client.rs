//! A gateway's client: typed calls of the HTTP interface.

use std::sync::Arc;

use railgate::ErrorCode;
use railgate::api::Target;
use railgate::client::outbox::shows;
use railgate::client::{Call, Request, Session};
use railgate::ledger::Mode;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{GatewayError, Problem};
use crate::feed::FeedFollower;
use crate::filter::{SettlementFilter, SettlementPage, below};
use crate::follow::{Followed, StatusFollower};
use crate::host::{HttpResponse, HttpTransport, Signer};
use crate::link::{Boxed, Link, NewKey, TRIES, public_key_of, read, unique_name};
use crate::names::KeyStatus;
use crate::request::{AT_ANY_TIME, BatchAnswer, BatchResult, ReversalRequest, SettlementRequest, batch_body};
use crate::views::{Balance, Check, Event, FeedPage, Provider, Receipt, Reconciliation, Reversal, Reversed, Settlement, Status};

pub(crate) const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

/// Whether real money moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum Environment {
    /// Play money.
    Sandbox,
    /// Real money.
    Live,
}

impl From<Environment> for Mode {
    fn from(environment: Environment) -> Self {
        match environment {
            Environment::Sandbox => Self::Sandbox,
            Environment::Live => Self::Live,
        }
    }
}

/// The result of an enrolment. The secret is shown only this once.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct Enrollment {
    /// `cli_` and a ULID.
    pub client_id: String,
    /// The key's RFC 7638 thumbprint.
    pub key_id: String,
    /// `pending` until an operator approves the key.
    pub status: KeyStatus,
    /// The secret that verifies webhooks; absent for a key that was already enrolled.
    pub webhook_secret: Option<String>,
    /// The balances of the new accounts.
    #[serde(default)]
    pub balances: Vec<Balance>,
}

#[derive(Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: Vec<T>,
    #[serde(default)]
    has_more: bool,
}

/// A client of a gateway on behalf of the device's key. Every method may be called from any thread, concurrently; none blocks.
///
/// A cancelled call may have been executed: repeat it with the same reference to find out.
#[derive(uniffi::Object)]
pub struct GatewayClient {
    pub(crate) link: Arc<Link>,
    pub(crate) base: String,
    pub(crate) mode: Mode,
}

impl GatewayClient {
    /// Makes a call that is idempotent.
    pub(crate) fn call<T: DeserializeOwned>(&self, request: Request) -> Boxed<'_, Result<T, GatewayError>> {
        self.link.call(Call::new(request).repeatable(), TRIES)
    }

    /// [`GatewayClient::call`], whose response may take `extra_ms` longer.
    pub(crate) fn slow_call<T: DeserializeOwned>(&self, request: Request, extra_ms: u64) -> Boxed<'_, Result<T, GatewayError>> {
        self.link.call(Call::new(request).repeatable().extra(extra_ms), TRIES)
    }

    /// Makes a call that enrols a new key; both keys sign it.
    pub(crate) async fn by_both<T: DeserializeOwned>(&self, request: Request, key: &NewKey) -> Result<T, GatewayError> {
        self.link.carry_with(key, request).await.read()
    }

    /// A settlement whose changes are awaited.
    fn followed(&self, reference: &str) -> Result<Followed, GatewayError> {
        Ok(Followed::Server(self.link.clone(), path_of(reference, "")?))
    }

    pub(crate) fn look<T: DeserializeOwned>(&self, path: String) -> Boxed<'_, Result<T, GatewayError>> {
        self.call(Request::new("GET", &path))
    }
}

/// An id or a reference, for a path; anything else cannot be found.
pub(crate) fn part(id: &str, none: ErrorCode) -> Result<&str, GatewayError> {
    let fits = (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if !fits || id == "." || id == ".." {
        return Err(GatewayError::invalid(Problem::local(none.as_str(), none.title())));
    }
    Ok(id)
}

/// A call that is carried out once, however often it is sent after a lost response.
pub(crate) fn once(method: &str, path: &str, body: String) -> Result<Request, GatewayError> {
    let mut request = Request { method: method.to_owned(), ..Request::post(path, body) };
    request.headers.push(("idempotency-key".to_owned(), unique_name()?));
    Ok(request)
}

/// The path of a settlement, with `part` appended.
pub(crate) fn path_of(reference: &str, part: &str) -> Result<String, GatewayError> {
    Ok(format!("{SETTLEMENTS}/{}{part}", target_of(reference)?))
}

/// A settlement's reference or id, for a path.
pub(crate) fn target_of(reference: &str) -> Result<Target, GatewayError> {
    Target::parse(reference)
        .ok_or_else(|| GatewayError::invalid(Problem::local("settlement_not_found", "this is neither a reference nor an id")))
}

#[uniffi::export]
impl GatewayClient {
    /// A client of the gateway at `base_url`, its public address, such as `https://pay.example.com`.
    /// `session`: the result of [`GatewayClient::session`] in an earlier run; that of another key, address or
    /// environment is ignored.
    ///
    /// # Errors
    /// `Invalid` if the address or the stored session cannot be read, `Unsigned` if the key cannot.
    #[uniffi::constructor(default(session = None))]
    pub fn new(
        base_url: String,
        environment: Environment,
        signer: Arc<dyn Signer>,
        transport: Arc<dyn HttpTransport>,
        session: Option<String>,
    ) -> Result<Arc<Self>, GatewayError> {
        let session_of_key = Session::new(&base_url, environment.into(), public_key_of(&*signer)?)?;
        let base = session_of_key.base().to_owned();
        let link = Arc::new(Link::new(session_of_key, transport, signer));
        if let Some(session) = session {
            link.restore(&session)?;
        }
        Ok(Arc::new(Self { link, base, mode: environment.into() }))
    }

    /// The session, to store between two runs. It contains a token: keep it as safe as a password.
    ///
    /// # Errors
    /// None.
    pub fn session(&self) -> Result<String, GatewayError> {
        Ok(self.link.keep())
    }

    /// The key's RFC 7638 thumbprint, for an operator to compare.
    ///
    /// # Errors
    /// None.
    pub fn key_id(&self) -> Result<String, GatewayError> {
        Ok(self.link.session(|session: &mut Session| session.public_key().id().to_string()))
    }

    /// Enrols the device's key as a new sandbox client called `name`, with the code of an `invitation` (`inv_…`) if the gateway's
    /// operator requires one. A key that is already enrolled, such as after a lost
    /// response, stays with its client: no second client is made, and the result has no webhook secret, which is shown only once.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`: it may be enrolled, repeat the call to find out; `Unsigned`; `Storage` with code
    /// `storage_owner` if the stored session is another client's.
    #[uniffi::method(default(invitation = None))]
    pub async fn enroll(&self, name: String, invitation: Option<String>) -> Result<Enrollment, GatewayError> {
        let request = self.link.session(|session| session.enroll_request(&name, invitation.as_deref()));
        match self.link.carry(Call::new(request), 1, &|_| true).await.read() {
            Err(GatewayError::Refused { problem }) if problem.code == ErrorCode::KeyExists.as_str() => {
                let client_id = self.link.identify().await?;
                let (key_id, balances) = (self.key_id()?, self.balances().await?);
                Ok(Enrollment { client_id, key_id, status: KeyStatus::Active, webhook_secret: None, balances })
            }
            enrolled => enrolled,
        }
    }

    /// Creates a settlement. After a lost response it is retried with the same reference: nothing is paid twice.
    ///
    /// # Errors
    /// `Invalid` before anything is sent; `Refused`: nothing is paid; `Unanswered`: it may be paid, repeat the call to find
    /// out; `Unsigned`.
    pub async fn create(&self, request: SettlementRequest) -> Result<Settlement, GatewayError> {
        let body = request.checked_body(AT_ANY_TIME)?;
        let call = Call::new(Request::post(SETTLEMENTS, body.clone())).repeatable();
        // Another settlement under the same reference is never mistaken for this one.
        let answers = move |answer: &HttpResponse| matches!(answer.status, 200 | 201) && shows(&request.reference, &body, &answer.body);
        self.link.carry(call, TRIES, &answers).await.read()
    }

    /// Creates up to 1,000 settlements in one call. Each succeeds or fails alone; the results are in the order of the requests. After a
    /// lost response it is retried with the same references: nothing is paid twice.
    ///
    /// # Errors
    /// `Refused` if there are too many or none; `Unanswered`: they may be paid, repeat the call to find out; `Unsigned`.
    pub async fn create_batch(&self, requests: Vec<SettlementRequest>) -> Result<Vec<BatchResult>, GatewayError> {
        let call = Call::new(Request::post(&format!("{SETTLEMENTS}/batch"), batch_body(&requests))).repeatable();
        let count = requests.len();
        let answers = move |answer: &HttpResponse| read::<BatchAnswer>(answer).is_ok_and(|answer| answer.results.len() == count);
        self.link.carry(call, TRIES, &answers).await.read().map(BatchAnswer::results)
    }

    /// Returns what a create would find now: every problem, the cost, the route. Changes nothing.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn check(&self, request: SettlementRequest) -> Result<Check, GatewayError> {
        self.call(Request::post(&format!("{SETTLEMENTS}/check"), request.body())).await
    }

    /// Returns the settlement with this reference or id.
    ///
    /// # Errors
    /// `Refused` with code `settlement_not_found`; `Unanswered`, `Unsigned`.
    pub async fn settlement(&self, reference: String) -> Result<Settlement, GatewayError> {
        self.look(path_of(&reference, "")?).await
    }

    /// Returns the status of a settlement.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn status(&self, reference: String) -> Result<Status, GatewayError> {
        self.look(path_of(&reference, "/status")?).await
    }

    /// Follows the status of a settlement, now and at each change, until it no longer changes by itself.
    ///
    /// # Errors
    /// `Invalid` if this is neither a reference nor an id.
    pub fn follow(&self, reference: String) -> Result<Arc<StatusFollower>, GatewayError> {
        Ok(Arc::new(StatusFollower::new(self.followed(&reference)?)))
    }

    /// Waits until a settlement no longer changes by itself; with `reversals`, also until none of its reversals is in flight. This may
    /// take days: cancel the call to end it.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    #[uniffi::method(default(reversals = false))]
    pub async fn settled(&self, reference: String, reversals: bool) -> Result<Settlement, GatewayError> {
        self.followed(&reference)?.settled(reversals).await
    }

    /// Returns the complete trace of a settlement, oldest first.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn events(&self, reference: String) -> Result<Vec<Event>, GatewayError> {
        let path = path_of(&reference, "/events")?;
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.sequence);
            let page: Data<Event> = self.look(format!("{path}?limit=200&after={after}")).await?;
            let ends = !page.has_more || page.data.is_empty();
            events.extend(page.data);
            if ends {
                return Ok(events);
            }
        }
    }

    /// Returns events of all the client's settlements after a position of its feed (0: from the beginning), oldest first, at
    /// most `limit` (1 to 200). `epoch` is that of an earlier page, which the position is of.
    ///
    /// # Errors
    /// `Refused`, with `epoch_changed` if a backup was restored since; `Unanswered`, `Unsigned`.
    #[uniffi::method(default(epoch = None))]
    pub async fn feed(&self, after: i64, limit: u32, epoch: Option<u32>) -> Result<FeedPage, GatewayError> {
        let epoch = epoch.map(|epoch| format!("&epoch={epoch}")).unwrap_or_default();
        self.look(format!("/api/v1/gateway/events?after={after}&limit={limit}{epoch}")).await
    }

    /// Follows the events of all the client's settlements after the position `after`: past ones, then each as it happens. `epoch` is that
    /// of an earlier page, which the position is of.
    ///
    /// # Errors
    /// None.
    #[uniffi::method(default(after = 0, epoch = None))]
    pub fn follow_feed(&self, after: i64, epoch: Option<u32>) -> Result<Arc<FeedFollower>, GatewayError> {
        Ok(Arc::new(FeedFollower::of_server(self.link.clone(), after, epoch)))
    }

    /// Returns a page of settlements, newest first.
    ///
    /// # Errors
    /// `Invalid` for a status that this version does not know, `Refused`, `Unanswered`, `Unsigned`.
    pub async fn settlements(&self, filter: SettlementFilter) -> Result<SettlementPage, GatewayError> {
        self.look(below(SETTLEMENTS, filter.query()?)).await
    }

    /// Reverses a settlement, in whole or in part; if nothing was sent yet, it is cancelled. The reference makes it safe to repeat.
    ///
    /// # Errors
    /// `Refused`, such as `reversal_exceeds_remaining`: nothing is reversed; `Unanswered`: it may be reversed, repeat the call to
    /// find out; `Unsigned`.
    pub async fn reverse(&self, reference: String, request: ReversalRequest) -> Result<Reversed, GatewayError> {
        self.call(Request::post(&path_of(&reference, "/reverse")?, request.body())).await
    }

    /// Returns the reversals of a settlement, oldest first.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn reversals(&self, reference: String) -> Result<Vec<Reversal>, GatewayError> {
        let page: Data<Reversal> = self.look(path_of(&reference, "/reversals")?).await?;
        Ok(page.data)
    }

    /// Returns one reversal of a settlement, by its id or the client's reference.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`]; `Refused` with code `reversal_not_found`.
    pub async fn reversal(&self, reference: String, id: String) -> Result<Reversal, GatewayError> {
        self.followed(&reference)?.reversal(&id).await
    }

    /// Waits until a reversal of a settlement is completed or has failed, and returns it.
    ///
    /// # Errors
    /// As [`GatewayClient::reversal`].
    pub async fn reversed(&self, reference: String, id: String) -> Result<Reversal, GatewayError> {
        self.followed(&reference)?.reversed(&id).await
    }

    /// Asks the rail now and compares its answer with the record, the ledger and the trace.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn reconcile(&self, reference: String) -> Result<Reconciliation, GatewayError> {
        self.call(Request::post(&path_of(&reference, "/check")?, "{}".to_owned())).await
    }

    /// Returns the receipt of a settlement. Its authoritative form is `jws`.
    ///
    /// # Errors
    /// `Refused` with code `not_completed`; `Unanswered`, `Unsigned`.
    pub async fn receipt(&self, reference: String) -> Result<Receipt, GatewayError> {
        self.look(path_of(&reference, "/receipt")?).await
    }

    /// Returns the keys that the gateway signs receipts with, for [`verify_receipt`](crate::verify_receipt). Store them.
    ///
    /// # Errors
    /// `Unanswered`; `Refused`, for example by a rate limit.
    pub async fn receipt_keys(&self) -> Result<String, GatewayError> {
        let keys: crate::values::Json = self.link.call_unsigned(Request::new("GET", "/.well-known/jwks.json")).await.read()?;
        Ok(keys.0)
    }

    /// Returns the providers that the client's payments can go to, and how they are.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn providers(&self) -> Result<Vec<Provider>, GatewayError> {
        let page: Data<Provider> = self.look("/api/v1/providers".to_owned()).await?;
        Ok(page.data)
    }

    /// Returns the provider with this id.
    ///
    /// # Errors
    /// `Refused` with `provider_not_found`, `Unanswered`, `Unsigned`; `Invalid` for a text that is not an id.
    pub async fn provider(&self, id: String) -> Result<Provider, GatewayError> {
        self.look(format!("/api/v1/providers/{}", part(&id, ErrorCode::ProviderNotFound)?)).await
    }

    /// Returns the balances of the client's accounts.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn balances(&self) -> Result<Vec<Balance>, GatewayError> {
        let page: Data<Balance> = self.look("/api/v1/balances".to_owned()).await?;
        Ok(page.data)
    }
}
