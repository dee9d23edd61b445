//! A client that moves to another gateway: what it finds there, what it leaves behind, and that it is never at both.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use std::sync::Arc;

use crate::support::{START, enroll, reverse, target};
use railgate::api::{Caller, NewWebhook, PlaceState, SignedBy, TermsBody};
use railgate::auth::{KeyId, Nonce, ScopeSet, Signer, SoftwareKey};
use railgate::engine::{
    AddKey, Approve, ChangedWebhook, Command, Create, CreateWebhook, Enroll, EnrollLive, IssueToken, MoveMoney, NumberEvents, Operated,
    PutTerms, Relocation, RelocationOrder, RelocationStep, Resume, Revoke, SetCredit, Signed, Suspend, verify,
};
use railgate::env::{Env, ManualEnv};
use railgate::ids::KeyNo;
use railgate::ledger::Mode;
use railgate::lifecycle::BundleStatus;
use railgate::participant::Reference;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::seal::MasterKeys;
use railgate::store::conformance::fixtures;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::Key;
use railgate::store::record::{
    AuditAction, AuditRecord, BundleRecord, ElsewhereRecord, EndpointRecord, MovementKind, RecordKind, SignedWith,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, Write, typed_all};
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::json;

const A: &str = "https://a.pay.example";
const B: &str = "https://b.pay.example";

/// One of the two gateways.
struct Cell {
    store: Arc<dyn Store>,
    env: Arc<ManualEnv>,
    config: Config,
    engine: Engine,
}

impl Cell {
    fn over(store: Arc<dyn Store>, n: u8) -> Self {
        let provider = |id, mode| ProviderSpec::new(id, id, mode, &Simulator);
        let providers = vec![provider("play", Mode::Sandbox), provider("real", Mode::Live)];
        let config = Config { providers, master: Some(Arc::new(MasterKeys::generate(1, [n; 32]))), ..Config::default() };
        let env = Arc::new(ManualEnv::new(START, u64::from(n)));
        let engine = Engine::open(store.clone(), env.clone(), config.clone()).unwrap();
        Self { store, env, config, engine }
    }

    /// Another node of the gateway, or the only one after a restart.
    fn node(&self) -> Engine {
        Engine::open(self.store.clone(), self.env.clone(), self.config.clone()).unwrap()
    }

    fn run<C: Command>(&self, command: C) -> Result<C::Output, Error> {
        self.engine.run(command)
    }

    fn pay(&self, caller: Caller, reference: &str) -> Result<(), Error> {
        self.engine.follow_setup().unwrap();
        pay(&self.engine, caller, reference, "msisdn:+254700000001")
    }

    fn work(&self) {
        while self.engine.work(64, &()).unwrap() > 0 {}
        while self.run(NumberEvents { limit: 1_000 }).unwrap().more {}
    }

    fn euros(&self, caller: Caller) -> String {
        self.engine.balance(&caller, "EUR").unwrap().available.as_str().to_owned()
    }

    #[track_caller]
    fn assert_sound(&self) {
        let report = verify::verify(&*self.store, &mut |_| {}).unwrap();
        assert!(report.is_ok(), "{:#?}", report.problems);
    }
}

fn pay(engine: &Engine, caller: Caller, reference: &str, to: &str) -> Result<(), Error> {
    let body = json!({ "amount": "10.00", "currency": "EUR", "to": to, "reference": reference }).to_string();
    let request = Box::new(engine.parse_create(body.as_bytes()).unwrap());
    engine.run(Create { caller, request }).map(drop)
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

/// A client at the first gateway, and another one at each.
struct World {
    a: Cell,
    b: Cell,
    caller: Caller,
    key: KeyNo,
    live_key: KeyId,
    webhook: EndpointRecord,
    secret: String,
}

impl World {
    fn new() -> Self {
        Self::over([Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new())])
    }

    /// The client has 60.00 EUR, of 100.00 that were paid in, after five payments of which one came back.
    fn over([a, b]: [Arc<dyn Store>; 2]) -> Self {
        let (a, b) = (Cell::over(a, 9), Cell::over(b, 7));
        enroll(&a.engine, "Another");
        enroll(&b.engine, "A third");
        enroll(&b.engine, "A fourth");
        let enrolled = a.run(Enroll { name: "Shop".to_owned(), key: Some(SoftwareKey::ed25519(&[1; 32]).public_key()) }).unwrap();
        let caller = enrolled.caller;
        let live = a.run(EnrollLive { caller, key: SoftwareKey::ed25519(&[2; 32]).public_key() }).unwrap();
        a.run(Operated(Approve { client: caller.client_id, key: None })).unwrap();
        let live_caller = Caller { mode: Mode::Live, ..caller };
        let new = NewWebhook { url: "https://example.com/hook".to_owned(), topics: None, description: None };
        let ChangedWebhook { endpoint, secret } = a.run(CreateWebhook { caller: live_caller, new: new.clone() }).unwrap();
        a.run(CreateWebhook { caller, new }).unwrap();
        let world = Self {
            a,
            b,
            caller,
            key: enrolled.key.unwrap().no,
            live_key: live.id,
            webhook: endpoint,
            secret: secret.unwrap().to_text().to_string(),
        };
        world.agree(json!({
            "limits": [{ "mode": "live", "currency": "EUR", "max": "50", "daily_value": "90" }],
            "credit": { "EUR": "5.00" }, "reversal_days": 30,
        }));
        world.deposit("100.00 EUR", "bank-1").unwrap();
        for n in 1..=5 {
            world.a.pay(world.live(), &format!("inv-{n}")).unwrap();
        }
        world.a.pay(caller, "play-1").unwrap();
        world.a.work();
        world.a.run(reverse(world.live(), "inv-5", r#"{"reference":"back-1"}"#)).unwrap();
        world.a.work();
        assert_eq!(world.a.euros(world.live()), "60.00");
        world
    }

    fn live(&self) -> Caller {
        Caller { mode: Mode::Live, ..self.caller }
    }

    /// The client at the second gateway.
    fn there(&self) -> Caller {
        self.b.engine.follow_setup().unwrap();
        self.b.engine.signatory(&self.live_key).unwrap().caller
    }

    fn agree(&self, mut terms: serde_json::Value) {
        terms["client"] = format!("cli_{}", self.caller.client_id).into();
        let body: TermsBody = serde_json::from_value(terms).unwrap();
        self.a.run(Operated(PutTerms { terms: vec![(body, None)], reason: None })).unwrap();
        self.a.engine.follow_setup().unwrap();
    }

    fn deposit(&self, money: &str, reference: &str) -> Result<(), Error> {
        self.operates(&self.a, MovementKind::Deposit, money, reference)
    }

    /// What an operator does at one of the two gateways.
    fn operates(&self, cell: &Cell, kind: MovementKind, money: &str, reference: &str) -> Result<(), Error> {
        let (client, evidence) = (self.caller.client_id, "line 7".to_owned());
        let (money, reference): (_, Reference) = (money.parse().unwrap(), reference.parse().unwrap());
        match kind {
            MovementKind::Deposit | MovementKind::Withdrawal => {
                cell.run(Operated(MoveMoney { client, kind, money, reference, evidence })).map(drop)
            }
            MovementKind::CreditLine => {
                let (credit, expected, reason) = (money, None, None);
                cell.run(Operated(SetCredit { client, credit, reference, evidence, expected, reason })).map(drop)
            }
        }
    }

    fn order(&self) -> RelocationOrder {
        RelocationOrder { client: self.caller.client_id, from_url: A.to_owned(), to_url: B.to_owned(), reason: "A is full".to_owned() }
    }

    fn signed<C: Command>(&self, n: u8, command: C) -> Result<C::Output, Error> {
        let nonce = Nonce { hash: [n; 32], expires_at: START + 900_000 };
        let by = SignedBy { client: self.caller.client, key: self.key, with: SignedWith::Key, nonce };
        self.a.run(Signed { by, command })
    }

    /// Moves the client to the end, or until `stop` says so after a step. Each step is one of a new process.
    fn moves(&self, stop: impl Fn(&RelocationStep) -> bool) -> Result<Vec<RelocationStep>, Error> {
        let mut steps = Vec::new();
        loop {
            let (from, to) = (self.a.node(), self.b.node());
            let step = Relocation::new(&from, &to, self.order())?.step()?;
            match step {
                RelocationStep::Done => return Ok(steps),
                RelocationStep::Wait(ms) => [&self.a, &self.b].map(|cell| cell.env.advance_to(cell.env.now() + ms)).iter().for_each(drop),
                step => {
                    let stops = stop(&step);
                    steps.push(step);
                    if stops {
                        return Ok(steps);
                    }
                }
            }
            self.assert_at_one_place();
        }
    }

    /// New engines, which know what the stores say, take a payment of the client at one gateway at most.
    fn assert_at_one_place(&self) {
        let (a, b) = (self.a.node(), self.b.node());
        let here = a.client_place(self.caller.client).is_none_or(|place| place.state == PlaceState::Stayed);
        let there = b.signatory(&self.live_key).is_ok();
        assert!(!(here && there));
    }

    fn obstacles(&self) -> Vec<&'static str> {
        let (from, to) = (self.a.node(), self.b.node());
        Relocation::new(&from, &to, self.order()).unwrap().obstacles().unwrap().iter().map(|it| it.code).collect()
    }

    /// That the client is at the second gateway with everything, and the first one is the archive.
    #[track_caller]
    fn assert_moved(&self) {
        self.a.engine.follow_setup().unwrap();
        let there = self.there();
        assert_eq!((self.a.euros(self.live()), self.b.euros(there)), ("0.00".to_owned(), "60.00".to_owned()));
        assert_eq!(self.b.euros(Caller { mode: Mode::Sandbox, ..there }), "999990.00");
        let refused = self.a.pay(self.live(), "new").unwrap_err();
        assert_eq!((refused.code, refused.other_gateway.as_deref()), (ErrorCode::ClientMoved, Some(B)));
        self.b.pay(there, "new").unwrap();
        self.b.work();
        for cell in [&self.a, &self.b] {
            cell.work();
            cell.assert_sound();
        }
    }
}

/// The stores of both gateways, and the folder that has them.
type Stores = ([Arc<dyn Store>; 2], Option<tempfile::TempDir>);

/// In memory, and in SQLite files.
fn each_kind() -> Vec<Stores> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| -> Arc<dyn Store> { Arc::new(SqliteStore::open(folder.path().join(name)).unwrap()) };
    let files = [file("a.db"), file("b.db")];
    vec![([Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new())], None), (files, Some(folder))]
}

#[test]
fn a_client_moves_with_all_that_it_has() {
    for (stores, _folder) in each_kind() {
        let world = World::over(stores);
        let money = || vec!["60.00 EUR".parse().unwrap()];
        let steps = world.moves(|_| false).unwrap();
        // Five payments, one of the sandbox, and a reversal; then a deposit.
        let expected = [
            RelocationStep::Left,
            RelocationStep::Arrived,
            RelocationStep::Remembered(7),
            RelocationStep::Remembered(1),
            RelocationStep::MovedOut(money()),
            RelocationStep::TakenIn(money()),
            RelocationStep::Switched,
            RelocationStep::Welcomed,
        ];
        assert_eq!(steps, expected);
        world.assert_moved();
        let there = world.there();
        let (here, now) = (world.a.engine.client_detail(there.client_id).unwrap(), world.b.engine.client_detail(there.client_id).unwrap());
        assert_eq!(serde_json::to_value(&here.terms).unwrap(), serde_json::to_value(&now.terms).unwrap());
        assert_eq!(serde_json::to_value(&here.keys).unwrap(), serde_json::to_value(&now.keys).unwrap());
        assert_eq!((here.place.unwrap().state, now.place.unwrap().state), (PlaceState::Moved, PlaceState::Arrived));
        // A webhook that the new gateway signs is verified with the secret that its owner has.
        let endpoints: Vec<EndpointRecord> = typed_all(world.b.store.scan(&Scan::endpoints_of(there.client, Mode::Live)).unwrap()).unwrap();
        assert_eq!((endpoints.len(), endpoints[0].id, &endpoints[0].url), (1, world.webhook.id, &world.webhook.url));
        let secrets = world.b.engine.webhook_secrets(endpoints[0].no).unwrap();
        assert_eq!((secrets.len(), secrets[0].to_text().as_str()), (1, world.secret.as_str()));
        // Both ledgers say where the money went.
        let evidence = |cell: &Cell, caller: Caller| cell.engine.movement(&caller, &reference(world.b.node().gateway_identity())).unwrap();
        let (left, came) = (evidence(&world.a, world.live()), evidence(&world.b, there));
        assert_eq!((left.kind, came.kind), (MovementKind::Withdrawal, MovementKind::Deposit));
        let audited: Vec<AuditRecord> = typed_all(world.b.store.scan(&Scan::all(RecordKind::Audit, usize::MAX)).unwrap()).unwrap();
        assert!(
            audited.iter().any(|it| it.action == AuditAction::MoveClient && it.detail.as_ref().is_some_and(|it| it.contains("A is full")))
        );
    }
}

fn reference(gateway: String) -> String {
    format!("move-{gateway}-EUR-1")
}

#[test]
fn the_old_gateway_is_the_archive_and_begins_nothing_new() {
    let world = World::new();
    world.moves(|_| false).unwrap();
    world.a.engine.follow_setup().unwrap();
    let add = AddKey { caller: world.caller, key: SoftwareKey::ed25519(&[3; 32]).public_key(), label: None, scopes: ScopeSet::CLIENT };
    let hook = CreateWebhook {
        caller: world.caller,
        new: NewWebhook { url: "https://example.com/2".to_owned(), topics: None, description: None },
    };
    let live = EnrollLive { caller: world.caller, key: SoftwareKey::ed25519(&[4; 32]).public_key() };
    assert_eq!(code(world.signed(1, add)), "client_moved");
    assert_eq!(code(world.signed(2, hook).map(|it| it.endpoint)), "client_moved");
    assert_eq!(code(world.signed(3, live)), "client_moved");
    assert_eq!(code(world.deposit("1.00 EUR", "late")), "client_moved");
    assert_eq!(code(world.a.run(Operated(Approve { client: world.caller.client_id, key: None }))), "client_moved");
    // A token to read with, the payment itself, the answer to one that was sent twice, and its reversal.
    world.signed(4, IssueToken { key: world.key, scopes: None, session: None }).map(drop).unwrap();
    assert_eq!(world.a.engine.settlement(&world.live(), &target("inv-1")).unwrap().status.as_str(), "completed");
    world.a.pay(world.live(), "inv-1").unwrap();
    world.signed(5, reverse(world.live(), "inv-1", r#"{"reference":"back-2"}"#)).map(drop).unwrap();
    world.a.work();
    assert_eq!(world.a.euros(world.live()), "10.00");
    // What came back follows, once; under the addresses of before.
    let (from, to) = (world.a.node(), world.b.node());
    let elsewhere = RelocationOrder { to_url: "https://c.pay.example".to_owned(), ..world.order() };
    assert_eq!(code(Relocation::new(&from, &to, elsewhere).unwrap().step()), "invalid_state");
    assert_eq!(world.moves(|_| false).unwrap().len(), 2);
    assert_eq!(world.moves(|_| false).unwrap(), []);
    assert_eq!((world.a.euros(world.live()), world.b.euros(world.there())), ("0.00".to_owned(), "70.00".to_owned()));
    // Or it is paid out.
    world.signed(6, reverse(world.live(), "inv-2", "{}")).map(drop).unwrap();
    world.a.work();
    let (client, kind, evidence) = (world.caller.client_id, MovementKind::Withdrawal, "transfer 4711".to_owned());
    let (money, reference) = ("10.00 EUR".parse().unwrap(), "out-1".parse().unwrap());
    world.a.run(Operated(MoveMoney { client, kind, money, reference, evidence })).unwrap();
    assert_eq!(world.moves(|_| false).unwrap(), []);
    // Nobody pays it there any more.
    let other = world.a.engine.clients(false, None, 10).unwrap().data[0].client_id.clone();
    let other = world.a.engine.client_no(railgate::ids::Ulid::parse(&other[4..]).unwrap()).map(|no| (no, other)).unwrap();
    let payer = Caller::client(other.0, railgate::ids::Ulid::parse(&other.1[4..]).unwrap(), Mode::Sandbox);
    let refused = pay(&world.a.engine, payer, "to-shop", &format!("participant:cli_{}", world.caller.client_id)).unwrap_err();
    assert_eq!(refused.fields[0].code, "participant_not_found");
    world.a.assert_sound();
    world.b.assert_sound();
}

#[test]
fn a_reference_is_used_once_at_both() {
    let world = World::new();
    world.moves(|_| false).unwrap();
    let there = world.there();
    let refused = world.b.pay(there, "inv-1").unwrap_err();
    assert_eq!((refused.code, refused.other_gateway.as_deref()), (ErrorCode::ReferenceElsewhere, Some(A)));
    let id = world.a.engine.settlement(&world.live(), &target("inv-1")).map(|it| world.a.engine.view(&it, there.client_id).id).unwrap();
    assert!(refused.detail.contains(&format!("{id} at {A}")), "{}", refused.detail);
    assert_eq!(code(world.b.pay(Caller { mode: Mode::Sandbox, ..there }, "play-1")), "reference_elsewhere");
    world.b.pay(there, "inv-6").unwrap();
    world.b.work();
    let back = |reference: &str| world.b.run(reverse(there, "inv-6", &json!({ "amount": 1, "reference": reference }).to_string()));
    assert_eq!(code(back("back-1").map(drop)), "reference_elsewhere");
    back("back-2").unwrap();
    world.b.work();
    // The limits of the day go on: 40 of 90 were paid there, one payment of which came back; it counts.
    for n in 7..=9 {
        world.b.pay(there, &format!("inv-{n}")).unwrap();
    }
    assert_eq!(code(world.b.pay(there, "inv-10")), "limit_daily_value");
    // Others have references of their own.
    let other = enroll(&world.b.engine, "A fifth");
    world.b.pay(other, "inv-1").unwrap();
    world.b.work();
    world.b.assert_sound();
}

#[test]
fn a_move_that_is_stopped_after_any_step_goes_on() {
    const STEPS: usize = 8;
    for stop in 1..=STEPS {
        for (stores, _folder) in each_kind() {
            let world = World::over(stores);
            let left = std::cell::Cell::new(stop);
            let mut done = world.moves(|_| left.replace(left.get() - 1) == 1).unwrap();
            assert_eq!(done.len(), stop);
            let switched = done.contains(&RelocationStep::Switched);
            let refused = code(pay(&world.a.node(), world.live(), "meanwhile", "msisdn:+254700000001"));
            assert_eq!(refused, if switched { "client_moved" } else { "client_moving" });
            done.extend(world.moves(|_| false).unwrap());
            assert_eq!(done.len(), STEPS, "no step is done twice: {done:?}");
            world.assert_moved();
        }
    }
}

#[test]
fn a_commit_that_fails_or_whose_answer_is_lost_does_no_harm() {
    for fault in [CommitFault::Unavailable, CommitFault::LostBefore, CommitFault::LostAfter, CommitFault::Conflict] {
        for which in 0..2 {
            for n in 0..6 {
                let stores = [Arc::new(Faulty::new(MemoryStore::new())), Arc::new(Faulty::new(MemoryStore::new()))];
                let world = World::over([stores[0].clone(), stores[1].clone()]);
                stores[which].script((0..n).map(|_| None).chain([Some(fault)]));
                while world.moves(|_| false).is_err() {}
                stores.iter().for_each(|store| store.calm());
                world.assert_moved();
            }
        }
    }
}

#[test]
fn everything_in_the_way_is_said_at_once() {
    let world = World::new();
    assert_eq!(world.obstacles(), [""; 0]);
    world.a.pay(world.live(), "open").unwrap();
    world.a.run(Operated(Suspend(world.caller.client_id))).unwrap();
    let bundle = BundleRecord { status: BundleStatus::Submitted, ..fixtures::bundle(1, world.caller.client.0, 1) };
    world.a.store.commit(&fixtures::commit([fixtures::insert(bundle)])).unwrap();
    assert_eq!(world.obstacles(), ["suspended", "settlement_open", "money_open", "bundle_open"]);
    assert_eq!(code(world.moves(|_| false)), "invalid_state");
    world.a.store.commit(&fixtures::commit([Write::Delete(Key::Bundle(1))])).unwrap();
    world.a.run(Operated(Resume(world.caller.client_id))).unwrap();
    world.a.work();
    // Into its credit: 5.00 of it are used.
    for n in ["c-1", "c-2", "c-3"] {
        world.a.pay(world.live(), n).unwrap();
    }
    world.a.work();
    assert_eq!(world.obstacles(), [""; 0]);
    world.agree(json!({ "credit": { "EUR": "50.00" } }));
    for n in ["c-4", "c-5"] {
        world.a.pay(world.live(), n).unwrap();
        world.a.work();
    }
    world.a.pay(world.live(), "c-6").unwrap();
    world.a.work();
    assert_eq!(world.obstacles(), ["credit_in_use"]);
    assert!(world.b.engine.client_detail(world.caller.client_id).is_err());
    // Its key is somebody else's there.
    world.deposit("50.00 EUR", "bank-2").unwrap();
    world.b.run(Enroll { name: "A twin".to_owned(), key: Some(SoftwareKey::ed25519(&[1; 32]).public_key()) }).unwrap();
    assert_eq!(world.obstacles(), ["key_there"]);
}

#[test]
fn a_payment_of_a_node_that_has_not_heard_of_the_move_is_finished_first() {
    let world = World::new();
    let late = world.a.node();
    assert_eq!(world.moves(|_| true).unwrap(), [RelocationStep::Left]);
    pay(&late, world.live(), "late", "msisdn:+254700000001").unwrap();
    assert_eq!(code(world.moves(|_| false)), "invalid_state");
    assert!(world.b.engine.client_detail(world.caller.client_id).is_err(), "nothing was copied");
    // Its operator answers, and the move goes on.
    world.a.work();
    let steps = world.moves(|step| matches!(step, RelocationStep::MovedOut(_))).unwrap();
    assert_eq!(steps.last(), Some(&RelocationStep::MovedOut(vec!["50.00 EUR".parse().unwrap()])));
    // From the moment on at which its money left, no node can spend more than the credit.
    assert_eq!(code(pay(&late, world.live(), "later", "msisdn:+254700000001")), "insufficient_funds");
    world.moves(|_| false).unwrap();
    assert_eq!(world.b.euros(world.there()), "50.00");
    assert_eq!(code(world.b.pay(world.there(), "late")), "reference_elsewhere");
}

#[test]
fn while_it_moves_the_client_is_refused_at_both_and_may_stay() {
    let world = World::new();
    world.moves(|_| true).unwrap();
    world.a.engine.follow_setup().unwrap();
    assert_eq!(code(world.a.pay(world.live(), "new")), "client_moving");
    assert_eq!(code(world.signed(1, reverse(world.live(), "inv-1", "{}")).map(drop)), "client_moving");
    assert_eq!(code(world.deposit("1.00 EUR", "late")), "client_moving");
    assert_eq!(code(world.a.run(Operated(Revoke { client: world.caller.client_id, key: world.live_key }))), "client_moving");
    let (from, to) = (world.a.node(), world.b.node());
    Relocation::new(&from, &to, world.order()).unwrap().abort().unwrap();
    world.a.pay(world.live(), "new").unwrap();
    world.a.work();
    // And goes after all.
    world.moves(|step| *step == RelocationStep::Arrived).unwrap();
    let (from, to) = (world.a.node(), world.b.node());
    assert_eq!(code(Relocation::new(&from, &to, world.order()).unwrap().abort()), "invalid_state");
    world.b.engine.follow_setup().unwrap();
    assert_eq!(code(world.b.engine.signatory(&world.live_key)), "client_moving");
    assert_eq!(code(world.b.run(Operated(Resume(world.caller.client_id)))), "client_moving");
    world.moves(|_| false).unwrap();
    assert_eq!(world.b.euros(world.there()), "50.00");
}

#[test]
fn what_operators_did_at_the_old_gateway_is_not_done_again_at_the_new_one() {
    use MovementKind::{CreditLine, Deposit, Withdrawal};
    let world = World::new();
    // A name that only looks like one of a move.
    let done = [
        (Deposit, "3.00 EUR", "wire-7", "deposit of 3.00 EUR"),
        (Deposit, "2.00 EUR", "move-in-EUR-1", "deposit of 2.00 EUR"),
        (Withdrawal, "1.00 EUR", "out-7", "withdrawal of 1.00 EUR"),
        (CreditLine, "9.00 EUR", "line-7", "credit line of 9.00 EUR"),
    ];
    for (kind, money, reference, _) in done {
        world.operates(&world.a, kind, money, reference).unwrap();
    }
    world.moves(|_| false).unwrap();
    let there = world.there();
    assert_eq!(world.b.euros(there), "64.00");
    for (kind, money, reference, what) in done {
        let refused = world.operates(&world.b, kind, money, reference).unwrap_err();
        assert_eq!((refused.code, refused.other_gateway.as_deref()), (ErrorCode::ReferenceElsewhere, Some(A)), "{reference}");
        assert!(refused.detail.contains(&format!("a {what} at {A}")), "{}", refused.detail);
        // Also as something else.
        let other = if kind == Deposit { Withdrawal } else { Deposit };
        assert_eq!(code(world.operates(&world.b, other, "1.00 EUR", reference)), "reference_elsewhere");
    }
    assert_eq!(world.b.euros(there), "64.00");
    for reference in ["wire-8", "inv-1"] {
        world.operates(&world.b, Deposit, "1.00 EUR", reference).unwrap();
        world.operates(&world.b, Deposit, "1.00 EUR", reference).unwrap();
    }
    assert_eq!(world.b.euros(there), "66.00");
    world.b.work();
    world.b.assert_sound();
}

#[test]
fn a_client_of_many_payments_takes_all_its_references_along() {
    let world = World::new();
    let body = |n: usize| json!({ "amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("many-{n}") }).to_string();
    let create = |n| Create { caller: world.caller, request: Box::new(world.a.engine.parse_create(body(n).as_bytes()).unwrap()) };
    assert!(world.a.engine.run_all((0..1_200).map(create)).iter().all(Result::is_ok));
    world.a.work();
    world.moves(|_| false).unwrap();
    let kept: Vec<ElsewhereRecord> = typed_all(world.b.store.scan(&Scan::all(RecordKind::Elsewhere, usize::MAX)).unwrap()).unwrap();
    assert_eq!(kept.len(), 1_208);
    assert_eq!(code(world.b.pay(Caller { mode: Mode::Sandbox, ..world.there() }, "many-0")), "reference_elsewhere");
    world.b.assert_sound();
}

#[test]
fn a_second_move_keeps_what_the_first_one_brought() {
    let world = World::new();
    world.moves(|_| false).unwrap();
    let c = Cell::over(Arc::new(MemoryStore::new()), 5);
    let order = RelocationOrder { from_url: B.to_owned(), to_url: "https://c.pay.example".to_owned(), ..world.order() };
    world.b.pay(world.there(), "inv-6").unwrap();
    world.operates(&world.b, MovementKind::Deposit, "1.00 EUR", "bank-2").unwrap();
    world.b.work();
    let mut relocation = Relocation::new(&world.b.engine, &c.engine, order).unwrap();
    loop {
        match relocation.step().unwrap() {
            RelocationStep::Done => break,
            RelocationStep::Wait(ms) => [&world.b, &c].map(|cell| cell.env.advance_to(cell.env.now() + ms)).iter().for_each(drop),
            _ => {}
        }
    }
    let there = c.engine.signatory(&world.live_key).unwrap().caller;
    let at = |reference: &str| c.pay(there, reference).unwrap_err().other_gateway.clone();
    assert_eq!((at("inv-1").as_deref(), at("inv-6").as_deref()), (Some(A), Some(B)));
    let again = |reference| world.operates(&c, MovementKind::Deposit, "100.00 EUR", reference).unwrap_err().other_gateway.clone();
    assert_eq!((again("bank-1").as_deref(), again("bank-2").as_deref()), (Some(A), Some(B)));
    // A client comes to a gateway once.
    let order = RelocationOrder { from_url: "https://c.pay.example".to_owned(), to_url: A.to_owned(), ..world.order() };
    let back = Relocation::new(&c.engine, &world.a.engine, order);
    assert_eq!(code(back.and_then(|mut back| back.step())), "invalid_state");
}
