//! A gateway's client: the calls of the HTTP interface, typed.

use std::sync::Arc;

use railgate::ErrorCode;
use railgate::api::{Page, SettlementView, Target};
use railgate::client::outbox::shows;
use railgate::client::{Call, Request, Session};
use railgate::ledger::Mode;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{GatewayError, Problem};
use crate::follow::StatusFollower;
use crate::host::{HttpResponse, HttpTransport, Signer};
use crate::link::{Link, NewKey, TRIES, now, public_key_of, read};
use crate::mirror::Give;
use crate::names::{KeyStatus, SettlementStatus};
use crate::request::{ReversalRequest, SettlementRequest};
use crate::values::Instant;
use crate::views::{Balance, Check, Event, FeedPage, Receipt, Reconciliation, Reversal, Reversed, Settlement, Status};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

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

/// What enrolling gave. There is no other time at which the secret is shown.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct Enrollment {
    /// `cli_` and a ULID.
    pub client_id: String,
    /// The key's RFC 7638 thumbprint.
    pub key_id: String,
    /// `pending` until an operator approves.
    pub status: KeyStatus,
    /// Verifies webhooks.
    pub webhook_secret: Option<String>,
    /// What the new accounts hold.
    #[serde(default)]
    pub balances: Vec<Balance>,
}

/// A page of settlements.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct SettlementPage {
    /// The page, newest first.
    pub data: Vec<Settlement>,
    /// Whether there is more behind it.
    pub has_more: bool,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// Which settlements.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct SettlementFilter {
    /// In this state.
    #[uniffi(default = None)]
    pub status: Option<SettlementStatus>,
    /// ISO 4217 code.
    #[uniffi(default = None)]
    pub currency: Option<String>,
    /// Created then or later.
    #[uniffi(default = None)]
    pub created_from: Option<Instant>,
    /// Created before.
    #[uniffi(default = None)]
    pub created_to: Option<Instant>,
    /// Page size, 1 to 200.
    #[uniffi(default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
}

impl SettlementFilter {
    /// The query parameters that it is; none is left out for a status that has no name, which would list everything.
    pub(crate) fn query(self) -> Result<Vec<(String, String)>, GatewayError> {
        let Self { status, currency, created_from, created_to, limit, cursor } = self;
        let unknown = || GatewayError::invalid(Problem::local("invalid_fields", "this status is not one to look for"));
        let status = status.map(|status| status.name().ok_or_else(unknown)).transpose()?;
        let parts = [
            ("limit", Some(limit.to_string())),
            ("status", status.map(str::to_owned)),
            ("currency", currency),
            ("created_from", created_from.map(Instant::rfc3339)),
            ("created_to", created_to.map(Instant::rfc3339)),
            ("cursor", cursor),
        ];
        Ok(parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    }
}

impl Give<SettlementPage> for Page<SettlementView> {
    fn give(self) -> Result<SettlementPage, GatewayError> {
        let Self { data, has_more, next_cursor } = self;
        Ok(SettlementPage { data: data.give()?, has_more, next_cursor })
    }
}

#[derive(Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: Vec<T>,
    #[serde(default)]
    has_more: bool,
}

/// A gateway, in the name of the device's key. Every method may be called from any thread, and many at once; none blocks.
///
/// A call that is cancelled may have been carried out: the same call with the same reference finds out.
#[derive(uniffi::Object)]
pub struct GatewayClient {
    pub(crate) link: Arc<Link>,
    pub(crate) base: String,
    pub(crate) mode: Mode,
}

impl GatewayClient {
    /// A call that changes nothing, or the same however often it is made.
    pub(crate) async fn call<T: DeserializeOwned>(&self, request: Request) -> Result<T, GatewayError> {
        self.link.carry(Call::new(request).repeatable(), TRIES, |answer| read::<T>(answer).is_ok()).await.read()
    }

    /// A call that brings a new key.
    pub(crate) async fn by_both<T: DeserializeOwned>(&self, request: Request, key: &NewKey) -> Result<T, GatewayError> {
        self.link.carry_with(key, request).await.read()
    }

    pub(crate) async fn look<T: DeserializeOwned>(&self, path: String) -> Result<T, GatewayError> {
        self.call(Request::new("GET", &path)).await
    }
}

/// The path of a settlement's part.
pub(crate) fn path_of(reference: &str, part: &str) -> Result<String, GatewayError> {
    let target = Target::parse(reference)
        .ok_or_else(|| GatewayError::invalid(Problem::local("settlement_not_found", "this is neither a reference nor an id")))?;
    Ok(format!("{SETTLEMENTS}/{target}{part}"))
}

#[uniffi::export]
impl GatewayClient {
    /// A client of the gateway at `base_url`, the address that it calls itself, such as `https://pay.example.com`.
    /// `session`: what [`GatewayClient::session`] gave in an earlier run; that of another key, address or
    /// environment is left aside.
    ///
    /// # Errors
    /// `Invalid` if the address or the kept session cannot be read, `Unsigned` if the key cannot.
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

    /// What to keep between two runs. It holds a token: keep it as safe as a password.
    ///
    /// # Errors
    /// None.
    pub fn session(&self) -> Result<String, GatewayError> {
        Ok(self.link.keep())
    }

    /// The key's RFC 7638 thumbprint: what an operator compares.
    ///
    /// # Errors
    /// None.
    pub fn key_id(&self) -> Result<String, GatewayError> {
        Ok(self.link.session(|session: &mut Session| session.public_key().id().to_string()))
    }

    /// Enrols the device's key as a new sandbox client, called `name`. A key that is enrolled already, as after a lost answer,
    /// is still that client's: there is no second one, and no webhook secret, which is shown once.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`: it may be enrolled, and the same call later finds out; `Unsigned`; `Storage` with code
    /// `storage_owner` if the kept session is another client's.
    pub async fn enroll(&self, name: String) -> Result<Enrollment, GatewayError> {
        let request = self.link.session(|session| session.enroll_request(&name));
        match self.link.carry(Call::new(request), 1, |_| true).await.read() {
            Err(GatewayError::Refused { problem }) if problem.code == ErrorCode::KeyExists.as_str() => {
                let client_id = self.link.identify().await?;
                let (key_id, balances) = (self.key_id()?, self.balances().await?);
                Ok(Enrollment { client_id, key_id, status: KeyStatus::Active, webhook_secret: None, balances })
            }
            enrolled => enrolled,
        }
    }

    /// Creates a settlement. A try whose answer got lost is made again, with the same reference: nothing is paid twice.
    ///
    /// # Errors
    /// `Invalid` before anything is sent; `Refused`: nothing is paid; `Unanswered`: it may be paid, and the same call later
    /// finds out; `Unsigned`.
    pub async fn create(&self, request: SettlementRequest) -> Result<Settlement, GatewayError> {
        let body = request.checked_body(Instant(now()))?;
        let call = Call::new(Request::post(SETTLEMENTS, body.clone())).repeatable();
        // A settlement that somebody else made under the reference is never taken for this one.
        let answers = |answer: &HttpResponse| matches!(answer.status, 200 | 201) && shows(&request.reference, &body, &answer.body);
        self.link.carry(call, TRIES, answers).await.read()
    }

    /// What a create would meet now: every problem, the cost, the route; nothing is done.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn check(&self, request: SettlementRequest) -> Result<Check, GatewayError> {
        self.call(Request::post(&format!("{SETTLEMENTS}/check"), request.body())).await
    }

    /// The settlement with this reference or id.
    ///
    /// # Errors
    /// `Refused` with code `settlement_not_found`, and as ever.
    pub async fn settlement(&self, reference: String) -> Result<Settlement, GatewayError> {
        self.look(path_of(&reference, "")?).await
    }

    /// Its status.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn status(&self, reference: String) -> Result<Status, GatewayError> {
        self.look(path_of(&reference, "/status")?).await
    }

    /// Its status now and at each change, until nothing more happens by itself.
    ///
    /// # Errors
    /// `Invalid` if this is neither a reference nor an id.
    pub fn follow(&self, reference: String) -> Result<Arc<StatusFollower>, GatewayError> {
        Ok(Arc::new(StatusFollower::new(self.link.clone(), path_of(&reference, "/status")?)))
    }

    /// Its trace, oldest first: all of it.
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

    /// Events of all the client's settlements behind a place in its feed (0: from the beginning), oldest first, at most
    /// `limit` (1 to 200).
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn feed(&self, after: i64, limit: u32) -> Result<FeedPage, GatewayError> {
        self.look(format!("/api/v1/gateway/events?after={after}&limit={limit}")).await
    }

    /// Settlements, newest first.
    ///
    /// # Errors
    /// `Invalid` for a status that this version does not know, `Refused`, `Unanswered`, `Unsigned`.
    pub async fn settlements(&self, filter: SettlementFilter) -> Result<SettlementPage, GatewayError> {
        let mut path = SETTLEMENTS.to_owned();
        for (n, (name, value)) in filter.query()?.into_iter().enumerate() {
            path.push(if n == 0 { '?' } else { '&' });
            path.push_str(&format!("{name}={}", percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC)));
        }
        self.look(path).await
    }

    /// Gives back a settlement, or a part of it; one that nobody sent yet is cancelled. Safe to repeat by its reference.
    ///
    /// # Errors
    /// `Refused`, such as `reversal_exceeds_remaining`: nothing is given back; `Unanswered`: it may be given back, and the same
    /// call later finds out; `Unsigned`.
    pub async fn reverse(&self, reference: String, request: ReversalRequest) -> Result<Reversed, GatewayError> {
        self.call(Request::post(&path_of(&reference, "/reverse")?, request.body())).await
    }

    /// Its reversals.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn reversals(&self, reference: String) -> Result<Vec<Reversal>, GatewayError> {
        let page: Data<Reversal> = self.look(path_of(&reference, "/reversals")?).await?;
        Ok(page.data)
    }

    /// Asks the rail now, and compares the record, the books, the trace and what the rail says.
    ///
    /// # Errors
    /// As [`GatewayClient::settlement`].
    pub async fn reconcile(&self, reference: String) -> Result<Reconciliation, GatewayError> {
        self.call(Request::post(&path_of(&reference, "/check")?, "{}".to_owned())).await
    }

    /// Its receipt; what counts is `jws`.
    ///
    /// # Errors
    /// `Refused` with code `not_completed`, and as ever.
    pub async fn receipt(&self, reference: String) -> Result<Receipt, GatewayError> {
        self.look(path_of(&reference, "/receipt")?).await
    }

    /// The keys that the gateway signs receipts with, for [`verify_receipt`](crate::verify_receipt); to be kept.
    ///
    /// # Errors
    /// `Unanswered`; `Refused`, as when one asks too often.
    pub async fn receipt_keys(&self) -> Result<String, GatewayError> {
        let keys: crate::values::Json = self.link.call_unsigned(Request::new("GET", "/.well-known/jwks.json")).await.read()?;
        Ok(keys.0)
    }

    /// What the client's accounts hold.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn balances(&self) -> Result<Vec<Balance>, GatewayError> {
        let page: Data<Balance> = self.look("/api/v1/balances".to_owned()).await?;
        Ok(page.data)
    }
}
