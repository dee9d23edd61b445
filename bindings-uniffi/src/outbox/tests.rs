//! Entries are sent only on behalf of their client; calls with a lost response and cancelled calls are resolved.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use async_trait::async_trait;
use futures_lite::future::{block_on, pending, poll_once};
use railgate::sandbox::{Options, Sandbox};
use railgate::store::memory::MemoryStore;
use serde_json::Value;

use super::*;
use crate::{
    Decimal, Environment, HttpRequest, HttpResponse, HttpTransport, ReversalReason, ReversalRequest, Signer, SignerError, SoftwareSigner,
    TransportError,
};

/// The fate of a call.
enum Fate {
    Carried,
    /// Executed, and the response is lost.
    Lost,
    /// It disappears, and it is unknown whether it arrived.
    Held,
    Refused(u16, &'static str),
}

/// A gateway where every key belongs to one client.
struct Gateway {
    client_id: &'static str,
    sandbox: Sandbox,
    tokens: Mutex<VecDeque<Fate>>,
    calls: Mutex<VecDeque<Fate>>,
    /// Calls that arrived, except those for challenges and tokens.
    seen: Mutex<Vec<String>>,
}

impl Gateway {
    fn new(client_id: &'static str) -> Arc<Self> {
        let sandbox = Sandbox::open(Arc::new(MemoryStore::new()), &Options::default(), [7; 32], now()).unwrap();
        let (tokens, calls, seen) = Default::default();
        Arc::new(Self { client_id, sandbox, tokens, calls, seen })
    }

    fn fated(&self, fates: impl IntoIterator<Item = Fate>) {
        self.calls.lock().unwrap().extend(fates);
    }

    fn seen(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    fn carry_out(&self, path: &str, body: &str) -> Value {
        let parts: Vec<&str> = path.trim_start_matches("/api/v1/").split('/').collect();
        match parts[..] {
            ["auth", "challenges"] => json!({"challenge": "c", "expires_in": 300}),
            ["auth", "tokens"] => json!({"access_token": "t", "expires_in": 900, "client_id": self.client_id}),
            ["auth", "enrollments"] => json!({"client_id": self.client_id, "key_id": "k", "status": "active", "webhook_secret": null}),
            // The code names the user.
            ["mobile", "devices"] => {
                let user = serde_json::from_str::<serde_json::Value>(body).unwrap()["code"].clone();
                let device = json!({"id": "dev_1", "user": user, "key_id": "k", "name": null, "platform": "android", "app_version": null,
                    "model": null, "created_at": "2026-11-21T11:53:17.042Z", "revoked_at": null});
                json!({"client_id": self.client_id, "environment": "sandbox", "access_token": "t", "expires_in": 900, "device": device})
            }
            ["gateway", "settlements"] => serde_json::to_value(self.sandbox.client().create_json(body).unwrap().settlement).unwrap(),
            ["gateway", "settlements", reference] => serde_json::to_value(self.sandbox.client().settlement(reference).unwrap()).unwrap(),
            ["gateway", "settlements", reference, "reverse"] => {
                serde_json::to_value(self.sandbox.client().reverse_json(reference, body, None).unwrap().view).unwrap()
            }
            _ => panic!("{path}"),
        }
    }
}

#[async_trait]
impl HttpTransport for Gateway {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TransportError> {
        let path = request.url.trim_start_matches("https://pay.example");
        let fate = match path {
            "/api/v1/auth/challenges" => None,
            "/api/v1/auth/tokens" => self.tokens.lock().unwrap().pop_front(),
            _ => {
                self.seen.lock().unwrap().push(path.to_owned());
                self.calls.lock().unwrap().pop_front()
            }
        };
        let carry_out = || self.carry_out(path, std::str::from_utf8(&request.body).unwrap());
        let (status, body) = match fate.unwrap_or(Fate::Carried) {
            Fate::Carried => (200, carry_out()),
            Fate::Lost => {
                carry_out();
                return Err(TransportError::NoAnswer { detail: "lost".to_owned() });
            }
            Fate::Held => pending().await,
            Fate::Refused(status, code) => (status, json!({"code": code, "detail": "no"})),
        };
        let id = request.headers.into_iter().find(|header| header.name == "x-request-id").unwrap();
        Ok(HttpResponse { status, headers: vec![id], body: body.to_string().into_bytes() })
    }

    /// Short pauses end at once, long ones never.
    async fn pause(&self, ms: u64) -> Result<(), TransportError> {
        if ms > 30_000 { pending().await } else { Ok(()) }
    }
}

fn client(gateway: &Arc<Gateway>, key: u8, session: Option<String>) -> Arc<GatewayClient> {
    let signer = SoftwareSigner::new(Some(vec![key; 32])).unwrap();
    GatewayClient::new("https://pay.example".to_owned(), Environment::Sandbox, signer, gateway.clone(), session).unwrap()
}

fn enrolled(gateway: &Arc<Gateway>) -> Arc<GatewayClient> {
    let client = client(gateway, 1, None);
    block_on(client.enroll("shop".to_owned(), None)).unwrap();
    client
}

fn request(reference: &str) -> SettlementRequest {
    SettlementRequest {
        amount: Decimal::parse("1").unwrap(),
        currency: "EUR".to_owned(),
        to: "sim:ok".to_owned(),
        reference: reference.to_owned(),
        description: None,
        metadata: [].into(),
        provider: None,
        quote_id: None,
        expires_at: None,
        user: None,
    }
}

fn open(folder: &tempfile::TempDir, client: &Arc<GatewayClient>) -> Result<Arc<Outbox>, GatewayError> {
    block_on(open_outbox(folder.path().join("outbox").to_str().unwrap().to_owned(), client.clone()))
}

fn stands(outbox: &Outbox, reference: &str) -> OutboxState {
    block_on(outbox.entry(reference.to_owned())).unwrap().unwrap().state
}

/// Runs `work` until `done`.
#[track_caller]
fn until(mut work: Pin<&mut impl Future<Output = Result<(), GatewayError>>>, done: impl Fn() -> bool) {
    while !done() {
        if let Some(ended) = block_on(poll_once(work.as_mut())) {
            ended.unwrap();
            assert!(done(), "it has ended");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_session_is_one_keys_and_an_outbox_never_sends_as_another_client() {
    let (folder, first) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let kept = enrolled(&first).session().unwrap();
    let same = client(&first, 1, Some(kept.clone()));
    block_on(open(&folder, &same).unwrap().put(request("inv-1"))).unwrap();

    // A session of another key, or of an earlier version without key, is ignored.
    let second = Gateway::new("cli_2");
    let mut unnamed: Value = serde_json::from_str(&kept).unwrap();
    unnamed.as_object_mut().unwrap().remove("key_id").unwrap();
    for (key, session) in [(2, kept.clone()), (1, unnamed.to_string())] {
        let other = client(&second, key, Some(session));
        let Err(GatewayError::Invalid { problem }) = open(&folder, &other) else { panic!("it was opened") };
        assert_eq!(problem.code, "not_enrolled");
        assert_eq!(block_on(other.enroll("shop".to_owned(), None)).unwrap().client_id, "cli_2");
        let Err(GatewayError::Storage { problem }) = open(&folder, &other) else { panic!("it was opened") };
        assert_eq!(problem.code, "storage_owner");
    }

    // The key itself now belongs to another client: the open outbox sends nothing, whatever is tried.
    let moved = client(&second, 1, Some(kept));
    let outbox = open(&folder, &moved).unwrap();
    let Err(GatewayError::Storage { problem }) = block_on(moved.enroll("shop".to_owned(), None)) else { panic!("it was enrolled") };
    assert_eq!(problem.code, "storage_owner");
    moved.link.session(|session| session.restore(&railgate::client::Snapshot::default()));
    let before = second.seen();
    block_on(outbox.flush()).unwrap();
    let Err(GatewayError::Storage { problem }) = block_on(moved.create(request("inv-2"))) else { panic!("it was sent") };
    assert_eq!((problem.code.as_str(), second.seen()), ("storage_owner", before));
    let entry = block_on(outbox.entry("inv-1".to_owned())).unwrap().unwrap();
    assert!(entry.state == OutboxState::Queued && entry.problem.unwrap().0.contains("storage_owner"));
}

/// A network that loses every response; records what was sent.
#[derive(Default)]
struct Silence(Mutex<Vec<HttpRequest>>);

#[async_trait]
impl HttpTransport for Silence {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TransportError> {
        self.0.lock().unwrap().push(request);
        Err(TransportError::NoAnswer { detail: "silence".to_owned() })
    }

    async fn pause(&self, _: u64) -> Result<(), TransportError> {
        Ok(())
    }
}

#[test]
fn a_session_is_left_aside_at_another_address_and_in_another_environment() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let kept = enrolled(&gateway).session().unwrap();
    for (base, environment) in [("https://other.example", Environment::Sandbox), ("https://pay.example", Environment::Live)] {
        let (signer, silence) = (SoftwareSigner::new(Some(vec![1; 32])).unwrap(), Arc::new(Silence::default()));
        let client = GatewayClient::new(base.to_owned(), environment, signer, silence.clone(), Some(kept.clone())).unwrap();
        let Err(GatewayError::Invalid { problem }) = open(&folder, &client) else { panic!("it was opened") };
        assert_eq!(problem.code, "not_enrolled");
        block_on(client.create(request("inv-1"))).unwrap_err();
        let sent = silence.0.lock().unwrap();
        assert!(!sent.is_empty() && sent.iter().all(|request| request.url == format!("{base}/api/v1/auth/challenges")));
        assert!(!sent.iter().flat_map(|request| &request.headers).any(|header| header.name == "authorization"));
    }
}

/// A key whose user refuses from some point on; counts how often they were asked.
struct Asked {
    key: Arc<SoftwareSigner>,
    refuses: AtomicBool,
    times: AtomicUsize,
}

#[async_trait]
impl Signer for Asked {
    fn public_key(&self) -> Result<Vec<u8>, SignerError> {
        self.key.public_key()
    }

    async fn sign(&self, message: Vec<u8>) -> Result<Vec<u8>, SignerError> {
        self.times.fetch_add(1, SeqCst);
        if self.refuses.load(SeqCst) { Err(SignerError::Unavailable { detail: "no".to_owned() }) } else { self.key.sign(message).await }
    }
}

#[test]
fn a_user_who_refuses_to_sign_is_asked_once() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let key = SoftwareSigner::new(Some(vec![1; 32])).unwrap();
    let signer = Arc::new(Asked { key, refuses: AtomicBool::new(false), times: AtomicUsize::new(0) });
    let client = GatewayClient::new("https://pay.example".to_owned(), Environment::Sandbox, signer.clone(), gateway.clone(), None).unwrap();
    block_on(client.enroll("shop".to_owned(), None)).unwrap();
    block_on(client.create(request("inv-0"))).unwrap();
    signer.refuses.store(true, SeqCst);
    let asked = || signer.times.swap(0, SeqCst);
    asked();

    let back = || ReversalRequest { reference: "back-1".to_owned(), amount: None, reason: None, description: None };
    assert!(matches!(block_on(client.create(request("inv-1"))), Err(GatewayError::Unsigned { .. })));
    assert_eq!(asked(), 1);
    assert!(matches!(block_on(client.settlement("inv-0".to_owned())), Err(GatewayError::Unsigned { .. })));
    assert_eq!(asked(), 1);
    assert!(matches!(block_on(client.reverse("inv-0".to_owned(), back())), Err(GatewayError::Unsigned { .. })));
    assert_eq!(asked(), 1);
    let follower = client.follow("inv-0".to_owned()).unwrap();
    assert!(matches!(block_on(follower.next()), Err(GatewayError::Unsigned { .. })));
    assert_eq!(asked(), 1);

    // However many entries there are, until the app asks for something to be sent.
    let outbox = open(&folder, &client).unwrap();
    for reference in ["inv-1", "inv-2", "inv-3"] {
        block_on(outbox.put(request(reference))).unwrap();
    }
    let mut run = pin!(outbox.run());
    let told = |entry: &OutboxEntry| entry.problem.as_ref().is_some_and(|problem| problem.0.contains("not_signed"));
    let entries = || block_on(outbox.entries()).unwrap();
    until(run.as_mut(), || entries().iter().any(told));
    for _ in 0..20 {
        assert!(block_on(poll_once(run.as_mut())).is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(signer.times.load(SeqCst), 1);
    let entries = entries();
    assert!(entries.iter().all(|entry| entry.state == OutboxState::Queued) && entries.iter().any(told));
    signer.refuses.store(false, SeqCst);
    block_on(outbox.wake()).unwrap();
    until(run.as_mut(), || ["inv-1", "inv-2", "inv-3"].iter().all(|reference| stands(&outbox, reference) == OutboxState::Delivered));
}

#[test]
fn a_key_that_does_not_sign_rests_longer_each_time() {
    let mut shy = Shy::default();
    assert_eq!(shy.rests(0), None);
    for (times, rest) in [(1, 60_000), (2, 120_000), (9, 15_360_000), (10, LONGEST_REST_MS), (99, LONGEST_REST_MS)] {
        shy.times = times - 1;
        shy.did_not_sign(7);
        assert_eq!((shy.rests(7), shy.rests(7 + rest), shy.rests(-1)), (Some(7 + rest), None, (times < 10).then_some(7 + rest)));
    }
}

#[test]
fn what_a_later_try_of_a_reversal_is_refused_for_says_nothing_about_an_earlier_one() {
    let back = |reference: &str| ReversalRequest {
        reference: reference.to_owned(),
        amount: Decimal::parse("0.5"),
        reason: Some(ReversalReason::Fraud),
        description: None,
    };
    let gateway = Gateway::new("cli_1");
    let client = enrolled(&gateway);
    block_on(client.create(request("inv-1"))).unwrap();
    gateway.sandbox.work(now()).unwrap();
    let reverse = |reference: &str| block_on(client.reverse("inv-1".to_owned(), back(reference)));

    gateway.fated([Fate::Lost, Fate::Refused(403, "client_suspended")]);
    let Err(GatewayError::Unanswered { problem }) = reverse("back-1") else { panic!("nobody can know") };
    assert_eq!((problem.code.as_str(), problem.retryable), ("client_suspended", true));
    // A repetition of the call finds out.
    assert!(reverse("back-1").unwrap().reversal.is_some());
    assert_eq!(gateway.sandbox.client().reversals("inv-1").unwrap().len(), 1);

    // Refused while a token is fetched.
    gateway.fated([Fate::Lost, Fate::Refused(401, "token_expired")]);
    gateway.tokens.lock().unwrap().push_back(Fate::Refused(401, "key_revoked"));
    let Err(GatewayError::Unanswered { problem }) = reverse("back-2") else { panic!("nobody can know") };
    assert_eq!(problem.code, "key_revoked");

    // Without an earlier attempt, a refusal is definite.
    gateway.fated([Fate::Refused(403, "client_suspended")]);
    assert!(matches!(reverse("back-3"), Err(GatewayError::Refused { .. })));
}

#[test]
fn a_try_whose_carrying_is_cancelled_is_made_again() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let outbox = open(&folder, &enrolled(&gateway)).unwrap();

    // Cancelled after the disk's thread has handed the attempt out, and before it is taken.
    block_on(outbox.put(request("early"))).unwrap();
    {
        let mut run = pin!(outbox.run());
        assert!(block_on(poll_once(run.as_mut())).is_none());
        // The thread may already have reached the response.
        while stands(&outbox, "early") == OutboxState::Queued {}
    }
    until(pin!(outbox.run()), || stands(&outbox, "early") == OutboxState::Delivered);

    // Cancelled in flight, while another run has nothing else to wait for.
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let outbox = open(&folder, &enrolled(&gateway)).unwrap();
    let before = gateway.seen();
    gateway.fated([Fate::Held]);
    block_on(outbox.put(request("late"))).unwrap();
    let mut run = pin!(outbox.run());
    {
        let mut flush = pin!(outbox.flush());
        until(flush.as_mut(), || gateway.seen() > before);
        assert_eq!(stands(&outbox, "late"), OutboxState::Sending);
        for _ in 0..20 {
            assert!(block_on(poll_once(run.as_mut())).is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    until(run.as_mut(), || stands(&outbox, "late") == OutboxState::Delivered);
}

/// Runs `work` until it only waits.
fn idle<T>(mut work: Pin<&mut impl Future<Output = T>>) {
    for _ in 0..20 {
        assert!(block_on(poll_once(work.as_mut())).is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_put_in_and_cancelled_is_sent_and_told() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let outbox = open(&folder, &enrolled(&gateway)).unwrap();
    let watcher = outbox.watch().unwrap();
    let (mut run, mut next) = (pin!(outbox.run()), pin!(watcher.next()));
    idle(run.as_mut());
    idle(next.as_mut());
    {
        let mut put = pin!(outbox.put(request("inv-1")));
        // The disk's thread continues it.
        let _ = block_on(poll_once(put.as_mut()));
        while block_on(outbox.entry("inv-1".to_owned())).unwrap().is_none() {}
    }
    until(run.as_mut(), || stands(&outbox, "inv-1") == OutboxState::Delivered);
    assert_eq!(block_on(next).unwrap()[0].reference, "inv-1");
}

#[test]
fn what_is_created_in_a_sandbox_and_cancelled_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let options = crate::SandboxOptions { name: "shop".to_owned(), issuer: "me".to_owned(), seed: None, now: None };
    let sandbox = block_on(crate::open_sandbox(folder.path().join("s").to_str().unwrap().to_owned(), options)).unwrap();
    let watcher = sandbox.follow_feed(0, None).unwrap();
    let mut next = pin!(watcher.next());
    idle(next.as_mut());
    {
        let mut create = pin!(sandbox.create(request("inv-1")));
        let _ = block_on(poll_once(create.as_mut()));
        while block_on(sandbox.status("inv-1".to_owned())).is_err() {}
    }
    assert_eq!(block_on(next).unwrap()[0].event.reference, "inv-1");
}

#[test]
fn a_try_that_was_given_up_is_not_forgotten_when_storing_that_fails() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let client = enrolled(&gateway);
    drop(open(&folder, &client).unwrap());
    // The disk is full for the entry as long as there is another entry, `full`.
    let full = "CREATE TRIGGER full BEFORE UPDATE ON entry WHEN new.reference = 'inv-1' AND EXISTS (SELECT 1 FROM entry WHERE reference = 'full') \
                BEGIN SELECT raise(ABORT, 'the disk is full'); END";
    rusqlite::Connection::open(folder.path().join("outbox")).unwrap().execute_batch(full).unwrap();
    let outbox = open(&folder, &client).unwrap();
    block_on(outbox.put(request("inv-1"))).unwrap();
    let before = gateway.seen();
    gateway.fated([Fate::Held]);
    until(pin!(outbox.flush()), || gateway.seen() > before);

    block_on(outbox.put(request("full"))).unwrap();
    let error = block_on(outbox.flush()).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(stands(&outbox, "inv-1"), OutboxState::Sending);
    block_on(outbox.withdraw("full".to_owned())).unwrap();
    block_on(outbox.remove("full".to_owned())).unwrap();

    // Cancelled at its first wait, unless the disk was faster.
    let _ = block_on(poll_once(pin!(outbox.settle_given_up())));
    block_on(outbox.flush()).unwrap();
    assert_eq!(stands(&outbox, "inv-1"), OutboxState::Delivered);
    assert!(outbox.given_up.lock().unwrap().is_empty());
}

#[test]
fn what_has_ended_is_removed_and_what_has_not_stays() {
    let (folder, gateway) = (tempfile::tempdir().unwrap(), Gateway::new("cli_1"));
    let outbox = open(&folder, &enrolled(&gateway)).unwrap();
    let watcher = outbox.watch().unwrap();
    for reference in ["inv-1", "inv-2"] {
        block_on(outbox.put(request(reference))).unwrap();
    }
    assert_eq!(block_on(watcher.next()).unwrap().len(), 2);
    let remove = |reference: &str| block_on(outbox.remove(reference.to_owned())).map_err(|error| error.problem().code.clone());
    assert_eq!(remove("inv-1"), Err("invalid_state".to_owned()));
    assert_eq!(remove("inv-3"), Err("settlement_not_found".to_owned()));
    block_on(outbox.withdraw("inv-1".to_owned())).unwrap();
    assert_eq!(block_on(outbox.prune(Instant(i64::MAX))).unwrap(), 1);
    assert!(block_on(outbox.entry("inv-1".to_owned())).unwrap().is_none());
    assert_eq!(stands(&outbox, "inv-2"), OutboxState::Queued);

    // Added again, it is reported like any other, although its last reported change was deleted.
    let again = block_on(outbox.put(request("inv-1"))).unwrap();
    assert_eq!(block_on(watcher.next()).unwrap(), [again]);
}

#[test]
fn what_one_end_user_has_queued_is_not_sent_as_another() {
    let (gateway, folder) = (Gateway::new("cli_1"), tempfile::tempdir().unwrap());
    let device_of = |user: &str, key: u8| {
        let client = client(&gateway, key, None);
        block_on(client.enroll_device(user.to_owned(), "android".to_owned(), None, None, None, None)).unwrap();
        client
    };
    let ada = device_of("ada", 1);
    let outbox = open(&folder, &ada).unwrap();
    block_on(outbox.put(request("p-1"))).unwrap();
    drop(outbox);
    let Err(GatewayError::Storage { problem }) = open(&folder, &device_of("ben", 2)) else { panic!() };
    assert_eq!(problem.code, "storage_owner");
    // After a restart, and with another key of the same user.
    let again = client(&gateway, 1, Some(ada.session().unwrap()));
    drop(open(&folder, &again).unwrap());
    block_on(open(&folder, &device_of("ada", 3)).unwrap().flush()).unwrap();
}

#[test]
fn a_repeat_after_its_end_finds_out_what_became_of_it() {
    let (gateway, folder) = (Gateway::new("cli_1"), tempfile::tempdir().unwrap());
    let outbox = open(&folder, &enrolled(&gateway)).unwrap();
    let ended = || SettlementRequest { expires_at: Some(Instant(1_000)), ..request("p-1") };
    let kept = block_on(outbox.put(ended())).unwrap();
    assert_eq!(block_on(outbox.put(ended())).unwrap().reference, kept.reference, "adding it again changes nothing");
}
