//! Providers and routes as data: changed by operators, in force on every node, and never overwritten unseen.

use std::sync::{Arc, Barrier};

use crate::plain_rail::PlainRail;
use crate::support::{START, Sandbox, sealing};
use proptest::prelude::*;
use railgate::api::{ProviderBody, RoutesBody, Verdict};
use railgate::engine::{Operated, PutProviders, PutRoutes, SwitchProvider, document_of, table_of};
use railgate::env::ManualEnv;
use railgate::rail::Rails;
use railgate::route::Availability;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, Record, RecordKind, SetupRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate::validate::provider::{parse_provider, parse_routes};
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::json;

fn config() -> Config {
    Config { rails: Rails::built_in().with(PlainRail), ..sealing() }
}

/// Each kind of store, with the file that it needs.
fn stores() -> Vec<(Arc<dyn Store>, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("setup.db")).unwrap();
    vec![(Arc::new(MemoryStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

fn provider(id: &str, more: serde_json::Value) -> ProviderBody {
    let mut body = json!({"id": id, "name": id, "rail": "plain", "mode": "sandbox", "base_url": "https://one.example"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(body).unwrap()
}

fn put(engine: &Engine, providers: Vec<(ProviderBody, Option<i64>)>) -> Result<Vec<i64>, Error> {
    engine.run(Operated(PutProviders { providers, reason: Some("a contract".to_owned()) }))
}

fn put_one(engine: &Engine, provider: ProviderBody) -> Result<i64, Error> {
    put(engine, vec![(provider, None)]).map(|versions| versions[0])
}

fn put_routes(engine: &Engine, routes: serde_json::Value, expected: Option<i64>) -> Result<i64, Error> {
    let table: RoutesBody = serde_json::from_value(json!({ "routes": routes })).unwrap();
    engine.run(Operated(PutRoutes { table, expected, reason: None }))
}

fn rows(store: &dyn Store) -> Vec<SetupRecord> {
    typed_all(store.scan(&Scan::all(RecordKind::Setup, usize::MAX)).unwrap()).unwrap()
}

/// The ids of the providers that a payment of ten euros tries, in order.
fn tried(s: &Sandbox, engine: &Engine, to: &str) -> Vec<String> {
    let body = json!({"amount": 10, "currency": "EUR", "to": to, "reference": "r"}).to_string();
    let route = engine.preflight(&s.caller, body.as_bytes()).unwrap().view.route;
    route.into_iter().filter(|step| step.verdict == Verdict::In).map(|step| step.provider).collect()
}

const PHONE: &str = "msisdn:+254700000001";

#[test]
fn a_change_is_in_force_on_every_node_and_after_a_restart() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let other = Engine::open(store.clone(), s.env.clone(), config()).unwrap();
        assert_eq!(tried(&s, &other, PHONE), ["simulator", "simulator-backup"]);
        let version = put_one(&s.engine, provider("acme", json!({"namespaces": ["msisdn"], "fees": [{"flat": "0.30"}]}))).unwrap();
        assert_eq!(version, 1);
        for engine in [&s.engine, &other] {
            assert!(engine.follow_setup().unwrap() && !engine.follow_setup().unwrap());
            assert_eq!(tried(&s, engine, PHONE), ["simulator", "simulator-backup", "acme"]);
            assert_eq!(tried(&s, engine, "acct:1"), ["simulator", "simulator-backup"], "it serves telephones only");
        }
        // A built-in provider is changed like any other, and keeps its place.
        s.engine
            .run(Operated(SwitchProvider { id: "simulator".to_owned(), to: Availability::Maintenance, expected: None, reason: None }))
            .unwrap();
        let restarted = Engine::open(store.clone(), s.env.clone(), config()).unwrap();
        assert_eq!(tried(&s, &restarted, PHONE), ["simulator-backup", "acme"]);
        s.engine
            .run(Operated(SwitchProvider { id: "simulator".to_owned(), to: Availability::Enabled, expected: None, reason: None }))
            .unwrap();
        other.follow_setup().unwrap();
        assert_eq!(tried(&s, &other, PHONE), ["simulator", "simulator-backup", "acme"]);
        let reasons: Vec<_> = rows(&*store).into_iter().map(|row| row.reason).collect();
        assert_eq!(reasons, [Some("a contract".to_owned()), None, None]);
    }
}

#[test]
fn a_change_that_a_standby_does_not_have_is_in_force_nowhere_once_it_took_over() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let simulators = ["simulator", "simulator-backup"];
        let took_over_without = |lost: &[i64]| {
            let writes = lost.iter().map(|revision| Write::Delete(Key::Setup(*revision))).collect();
            store.commit(&Commit { writes }).unwrap();
        };
        put_one(&s.engine, provider("acme", json!({}))).unwrap();
        put_routes(&s.engine, json!([{"mode": "sandbox", "namespace": "msisdn", "providers": [{"id": "acme", "priority": 1}]}]), None)
            .unwrap();
        put_one(&s.engine, provider("acme", json!({"enabled": false}))).unwrap();
        assert!(s.engine.follow_setup().unwrap());
        assert!(tried(&s, &s.engine, PHONE).is_empty());
        took_over_without(&[3]);
        assert!(s.engine.follow_setup().unwrap() && !s.engine.follow_setup().unwrap());
        assert_eq!(tried(&s, &s.engine, PHONE), ["acme"]);

        // The next change is made under a number that was in force as something else.
        took_over_without(&[2]);
        assert_eq!(put_one(&s.engine, provider("bold", json!({}))).unwrap(), 2);
        assert!(s.engine.follow_setup().unwrap());
        assert_eq!(tried(&s, &s.engine, PHONE), [&simulators[..], &["acme", "bold"]].concat());

        took_over_without(&[1, 2]);
        assert!(s.engine.follow_setup().unwrap() && !s.engine.follow_setup().unwrap());
        assert_eq!((tried(&s, &s.engine, PHONE), s.engine.applied_providers().len()), (simulators.map(String::from).to_vec(), 0));
    }
}

#[test]
fn nothing_is_overwritten_unseen() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let acme = || provider("acme", json!({}));
        let named = |name: &str| ProviderBody { name: name.to_owned(), ..acme() };
        assert_eq!(put(&s.engine, vec![(acme(), Some(0))]).unwrap(), [1]);
        assert_eq!(put(&s.engine, vec![(acme(), Some(0))]).unwrap_err().code, ErrorCode::VersionConflict, "it is there by now");
        assert_eq!(put(&s.engine, vec![(acme(), Some(1))]).unwrap(), [1], "nothing changed, so there is no new version");
        assert_eq!(put(&s.engine, vec![(named("Acme"), Some(1))]).unwrap(), [2]);
        assert_eq!(put(&s.engine, vec![(named("ACME"), Some(1))]).unwrap_err().code, ErrorCode::VersionConflict);

        // All providers of a command, or none.
        let both = vec![(provider("bold", json!({})), None), (named("Late"), Some(1))];
        assert_eq!(put(&s.engine, both).unwrap_err().code, ErrorCode::VersionConflict);
        assert_eq!(rows(&*store).len(), 2);
        let both = vec![(provider("bold", json!({})), Some(0)), (named("Late"), Some(2))];
        assert_eq!(put(&s.engine, both).unwrap(), [3, 4]);

        let live = put_one(&s.engine, ProviderBody { mode: "live".to_owned(), ..acme() }).unwrap_err();
        assert_eq!((live.fields[0].pointer.as_ref(), live.fields[0].code.as_ref()), ("/mode", "cannot_change"));
        let simulated = ProviderBody { rail: "simulator".to_owned(), mode: "live".to_owned(), ..provider("play", json!({})) };
        assert_eq!(put_one(&s.engine, simulated).unwrap_err().fields[0].code, "rail_sandbox_only");
    }
}

#[test]
fn nodes_that_change_something_at_once_both_succeed() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let (nodes, start) = (4, Arc::new(Barrier::new(4)));
        let threads: Vec<_> = (0..nodes)
            .map(|node| {
                let (store, start) = (store.clone(), start.clone());
                std::thread::spawn(move || {
                    let env = Arc::new(ManualEnv::new(START, 10 + node));
                    let engine = Engine::open(store, env, config()).unwrap();
                    start.wait();
                    for n in 0..5 {
                        let put = || put_one(&engine, provider(&format!("p-{node}-{n}"), json!({})));
                        // A command that met others too often is told to try again.
                        while let Err(error) = put() {
                            assert!(error.retryable, "{error}");
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        s.engine.follow_setup().unwrap();
        let revisions: Vec<i64> = rows(&*store).iter().map(|row| row.revision).collect();
        assert_eq!(revisions, (1..=20).collect::<Vec<_>>());
        let mut numbers: Vec<_> = s.engine.applied_providers().iter().map(|it| it.no).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 20, "each has a number of its own");
    }
}

#[test]
fn secrets_are_sealed_kept_and_never_shown() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        put_one(&s.engine, provider("acme", json!({"secrets": {"secret": "whispered"}}))).unwrap();
        // Replaced without secrets: those that it has stay.
        put_one(&s.engine, provider("acme", json!({"name": "Acme"}))).unwrap();
        let other = Engine::open(store.clone(), s.env.clone(), config()).unwrap();
        let applied = other.applied_providers().remove(0);
        assert_eq!((applied.spec.name.as_str(), applied.spec.secrets.get("secret")), ("Acme", Some("whispered")));
        let written = provider("acme", json!({"secrets": {"secret": "whispered"}}));
        let shown = format!("{applied:?} {written:?} {}", serde_json::to_string(&document_of(&applied.spec)).unwrap());
        assert!(!shown.contains("whispered"), "{shown}");
        for row in rows(&*store) {
            let all = format!("{} {}", row.document, String::from_utf8_lossy(&row.secrets));
            assert!(!all.contains("whispered"), "{all}");
        }
        let have_some = |store: &dyn Store| rows(store).iter().map(|row| !row.secrets.is_empty()).collect::<Vec<_>>();
        assert_eq!(have_some(&*store), [false, true], "the last row alone has them");

        // A program without the master key reads everything else, and neither changes secrets nor loses them.
        let blind = Engine::open(store.clone(), s.env.clone(), Config { master: None, ..config() }).unwrap();
        assert_eq!(blind.applied_providers().len(), 1);
        assert!(put_one(&blind, provider("acme", json!({"secrets": {"secret": "x"}}))).is_err());
        assert!(put_one(&blind, provider("acme", json!({"name": "ACME"}))).is_err(), "it cannot keep what it cannot open");
        assert_eq!(have_some(&*store), [false, true]);

        // Replaced by none.
        put_one(&s.engine, provider("acme", json!({"secrets": {}}))).unwrap();
        other.follow_setup().unwrap();
        assert_eq!(other.applied_providers()[0].spec.secrets.get("secret"), None);
        assert_eq!(have_some(&*store), [false; 3]);
    }
}

#[test]
fn secrets_move_to_a_new_master_key() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store.clone(), config(), 1);
    put_one(&s.engine, provider("acme", json!({"secrets": {"secret": "whispered"}}))).unwrap();
    put_one(&s.engine, provider("bold", json!({}))).unwrap();
    let master = config().master.unwrap();
    let old = railgate::seal::MasterKeys::parse(&master.to_text()).unwrap();
    let id = master.prepend([7; 32]);
    let new = railgate::seal::MasterKeys::new(vec![(id, [7; 32])]).unwrap();
    let engine = Engine::open(store.clone(), s.env.clone(), Config { master: Some(master.clone()), ..config() }).unwrap();
    engine.reseal().unwrap();
    assert_eq!(rows(&*store).len(), 3, "the provider with secrets has a further row");
    assert_eq!(engine.reseal().unwrap(), 0);
    engine.follow_setup().unwrap();
    assert_eq!(engine.applied_providers()[0].spec.secrets.get("secret"), Some("whispered"));
    let with_new = Engine::open(store.clone(), s.env.clone(), Config { master: Some(Arc::new(new)), ..config() }).unwrap();
    assert_eq!(with_new.applied_providers()[0].spec.secrets.get("secret"), Some("whispered"), "the old key is not needed any more");
    let with_old = Engine::open(store, s.env.clone(), Config { master: Some(Arc::new(old)), ..config() });
    assert!(with_old.is_err(), "the old key alone no longer opens them");
}

#[test]
fn routes_decide_who_is_tried_and_in_which_order() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        put(&s.engine, vec![(provider("acme", json!({})), None), (provider("bold", json!({})), None)]).unwrap();
        let phones = json!([
            {"mode": "sandbox", "namespace": "msisdn", "providers": [{"id": "bold", "priority": 2}, {"id": "acme", "priority": 1}]},
            {"mode": "sandbox", "namespace": "msisdn", "prefix": "+255", "currency": "EUR", "providers": [{"id": "simulator", "priority": 1}]},
        ]);
        let version = put_routes(&s.engine, phones.clone(), Some(0)).unwrap();
        s.engine.follow_setup().unwrap();
        assert_eq!(tried(&s, &s.engine, PHONE), ["acme", "bold"]);
        assert_eq!(tried(&s, &s.engine, "msisdn:+255700000001"), ["simulator"]);
        assert_eq!(tried(&s, &s.engine, "acct:1"), ["simulator", "simulator-backup", "acme", "bold"], "no entry about accounts");

        let wrong =
            json!([{"mode": "live", "namespace": "iban", "providers": [{"id": "acme", "priority": 1}, {"id": "none", "priority": 1}]}]);
        let refused = put_routes(&s.engine, wrong, None).unwrap_err();
        let found: Vec<_> = refused.fields.iter().map(|problem| (&*problem.pointer, &*problem.code)).collect();
        assert_eq!(found, [("/routes/0/providers/0/id", "mode_mismatch"), ("/routes/0/providers/1/id", "provider_unknown")]);
        assert_eq!(put_routes(&s.engine, json!([]), Some(version - 1)).unwrap_err().code, ErrorCode::VersionConflict);
        put_routes(&s.engine, json!([]), Some(version)).unwrap();
        s.engine.follow_setup().unwrap();
        assert_eq!(tried(&s, &s.engine, PHONE), ["simulator", "simulator-backup", "acme", "bold"]);
    }
}

#[test]
fn a_payment_in_flight_never_returns_to_a_provider_that_had_it() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    s.pay("r", "sim:failover");
    // The first provider declines it. Before the second one is tried, the table turns round.
    let table = json!([{"mode": "sandbox", "namespace": "sim",
        "providers": [{"id": "simulator-backup", "priority": 1}, {"id": "simulator", "priority": 2}]}]);
    put_routes(&s.engine, table, None).unwrap();
    s.engine.follow_setup().unwrap();
    s.work();
    assert_eq!((s.view("r").status.as_str(), s.view("r").provider.as_str()), ("completed", "simulator-backup"));
    // A provider that was switched off ends what it has.
    s.pay("slow", "sim:slow-30s");
    s.work();
    for id in ["simulator", "simulator-backup"] {
        s.engine.run(Operated(SwitchProvider { id: id.to_owned(), to: Availability::Disabled, expected: None, reason: None })).unwrap();
    }
    s.engine.follow_setup().unwrap();
    let refused = s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"none"}"#).unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoRoute);
    s.pass(60_000);
    assert_eq!(s.status("slow"), "completed");
    s.assert_sound();
}

#[test]
fn every_change_is_in_the_audit_trail() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    put(&s.engine, vec![(provider("acme", json!({})), None), (provider("bold", json!({})), None)]).unwrap();
    put_routes(&s.engine, json!([{"mode": "sandbox", "namespace": "iban", "providers": [{"id": "none", "priority": 1}]}]), None)
        .unwrap_err();
    for to in Availability::ALL {
        s.engine.run(Operated(SwitchProvider { id: "acme".to_owned(), to: *to, expected: None, reason: None })).unwrap();
    }
    let trail: Vec<(&str, Option<String>, Option<String>)> = s
        .store
        .scan(&Scan::all(RecordKind::Audit, usize::MAX))
        .unwrap()
        .into_iter()
        .filter_map(|record| if let Record::Audit(row) = record { Some((row.action.as_str(), row.name, row.refused)) } else { None })
        .collect();
    let named = |action, name: &str| (action, Some(name.to_owned()), None);
    let expected = [
        named("put_provider", "acme, bold"),
        ("put_routes", None, Some("invalid_fields".to_owned())),
        named("enable_provider", "acme"),
        named("disable_provider", "acme"),
        named("maintain_provider", "acme"),
    ];
    assert_eq!(trail, expected);
}

fn decimal() -> impl Strategy<Value = String> {
    (0u32..100, 0u32..10_000).prop_map(|(whole, part)| format!("{whole}.{part:04}"))
}

proptest! {
    /// What is shown can be applied again, and then means the same.
    #[test]
    fn a_provider_is_shown_as_it_was_written(
        flat in decimal(), percent in decimal(), min in 1u32..1_000, more in 0u32..1_000, from in 1u32..1_000,
        enabled: bool, maintenance: bool, connect in proptest::option::of(1u64..1_000), some: bool,
    ) {
        let mut body = json!({
            "id": "acme", "name": "Acme", "rail": "plain", "mode": "live", "enabled": enabled, "maintenance": maintenance && enabled,
            "limits": {"EUR": {"min": min, "max": (min + more).to_string()}, "JPY": {"max": 5}},
            "fees": [
                {"flat": flat, "percent": percent},
                {"currency": "KES", "namespace": "msisdn", "min": "0.5", "max": 7, "tiers": [
                    {"from": from, "percent": percent}, {"from": from + 1, "flat": flat}
                ]},
            ],
            "settings": {"a": "b"}, "countries": ["KE"],
        });
        if some {
            body["namespaces"] = json!(["msisdn", "iban"]);
            body["currencies"] = json!(["KES", "EUR"]);
        }
        if let Some(connect) = connect {
            body["timeouts"] = json!({"connect_ms": connect});
        }
        let rails = config().rails;
        let read = |text: &str| parse_provider(text.as_bytes(), &rails).unwrap().spec;
        let spec = read(&body.to_string());
        let shown = document_of(&spec);
        prop_assert_eq!(&read(&serde_json::to_string(&shown).unwrap()), &spec);

        let table = json!({"routes": [
            {"mode": "live", "namespace": "msisdn", "prefix": "+254", "currency": "KES", "min": min, "max": min + more,
             "providers": [{"id": "acme", "priority": min, "weight": more}]},
            {"mode": "sandbox", "namespace": "iban", "providers": [{"id": "acme", "priority": 1}]},
        ]});
        let rules = parse_routes(table.to_string().as_bytes()).unwrap();
        let shown = serde_json::to_string(&table_of(&rules)).unwrap();
        prop_assert_eq!(parse_routes(shown.as_bytes()).unwrap(), rules);
    }
}
