//! What was paid, by the operators' books, compared with what the gateway says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use railgate::Engine;
use railgate::engine::ReportAnswer;
use railgate::engine::verify::verify;
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::{ClientNo, SettlementNo, Ulid};
use railgate::lifecycle::{ReversalStatus, SettlementStatus};
use railgate::rail::{Carried, Carrier, HttpRequest, Inbound};
use railgate::store::record::{AttemptRecord, ClientRecord, Key, ReversalRecord, SettlementRecord};
use railgate::store::{Scan, Store, typed_all};

use super::{Books, Entry, Intent, Placed};

/// Longer than any chain of inquiries takes to call a person.
const REST_MS: i64 = 30 * 3_600_000;
/// How long operators take at most to do what they took on.
const OPERATORS_MS: i64 = 120_000;

/// The operator that a request is for.
pub(super) fn called(operators: &[Placed], request: &HttpRequest) -> usize {
    operators.iter().position(|placed| request.url.starts_with(&placed.base_url)).expect("one of the operators is called")
}

/// Takes a callback as the server does: with which status, or `None` if it is rejected.
///
/// # Panics
/// If it is not for an address of a gateway, or the store fails.
pub fn receive(engine: &Engine, callback: &HttpRequest) -> Option<u16> {
    let (_, rest) = callback.url.split_once("/api/v1/rails/").expect("an address of the gateway");
    let (provider, rest) = rest.split_once("/callbacks").expect("an address of callbacks");
    let headers: Vec<(&str, &str)> = callback.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let inbound = Inbound { rail_key: None, source: None, headers: &headers, body: &callback.body, now: engine.now() };
    // What a mixed-up operator reports is rejected.
    let reported = engine.read_callback(provider, rest.strip_prefix('/'), inbound).expect("read").ok().flatten()?;
    engine.run(ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None }).expect("reported");
    Some(reported.status)
}

/// A network on which nothing goes wrong.
struct Reliable<'w> {
    operators: Mutex<&'w mut Vec<Placed>>,
    env: &'w ManualEnv,
}

impl Carrier for Reliable<'_> {
    fn carry(&self, request: &HttpRequest) -> Carried {
        let mut operators = self.operators.lock().expect("no panics");
        let at = called(&operators, request);
        let operator = &mut operators[at].operator;
        operator.intend(Intent::Does);
        Carried::Answered(operator.serve(request, self.env.now()))
    }
}

/// Lets a day pass on which nothing goes wrong: afterwards nothing is left to do but to wait for people.
pub(super) fn bring_to_rest(engine: &Engine, env: &ManualEnv, operators: &mut Vec<Placed>) {
    let (begin, end) = (env.now(), env.now() + REST_MS);
    while env.now() < end {
        let due: Vec<HttpRequest> = operators.iter_mut().flat_map(|placed| placed.operator.callbacks(env.now())).collect();
        due.iter().for_each(|callback| _ = receive(engine, callback));
        engine.work_until_quiet(&Reliable { operators: Mutex::new(operators), env }).expect("worked");
        let next = engine.next_due().expect("read").unwrap_or(end);
        let soon = if env.now() < begin + OPERATORS_MS { env.now() + 30_000 } else { end };
        env.advance_to(next.min(soon).max(env.now() + 1));
    }
}

/// Requires that what the gateway says is what the operators did.
pub(super) fn compare(store: &dyn Store, engine: &Engine, operators: &[Placed]) {
    let report = verify(store, &mut |_| {}).expect("verified");
    assert!(report.is_ok(), "{:#?}", report.problems);
    let clients: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(ClientNo(0)), 100)).expect("read")).expect("clients");
    let all = store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX)).expect("read");
    let all: Vec<SettlementRecord> = typed_all(all).expect("settlements");
    let mut known = BTreeSet::new();
    for record in all {
        let client = clients.iter().find(|client| client.no == record.client).expect("its client");
        known.extend(check(store, &record, &key_of(engine, &record, client.id), operators));
    }
    let done = operators.iter().map(|placed| placed.operator.books()).flat_map(|books| books.paid.keys().chain(books.given_back.keys()));
    let unknown: Vec<_> = done.filter(|key| !known.contains(*key)).collect();
    assert!(unknown.is_empty(), "nobody knows what was done under {unknown:?}");
}

/// What the keys of a settlement at its rail begin with.
fn key_of(engine: &Engine, record: &SettlementRecord, client: Ulid) -> String {
    engine.view(record, client).id.to_string().trim_start_matches("stl_").to_owned()
}

/// How often the operators did something under these keys, and how much of it in all.
fn done(operators: &[Placed], keys: &[String], of: fn(&Books) -> &BTreeMap<String, Entry>) -> (u32, i64) {
    let found = operators.iter().flat_map(|placed| keys.iter().filter_map(move |key| of(placed.operator.books()).get(key)));
    found.fold((0, 0), |(times, sum), entry| (times + entry.times, sum + i64::from(entry.times) * entry.amount))
}

/// Compares one settlement, and returns the keys of its attempts and reversals.
fn check(store: &dyn Store, record: &SettlementRecord, key: &str, operators: &[Placed]) -> Vec<String> {
    let attempts: Vec<AttemptRecord> = typed_all(store.scan(&Scan::attempts(record.no)).expect("read")).expect("attempts");
    let mut keys: Vec<String> = attempts.iter().map(|attempt| format!("{key}-{}", attempt.n)).collect();
    let paid = done(operators, &keys, |books| &books.paid);
    let named = format!("{} ({key}) is {} and was paid {paid:?}", record.reference.as_str(), record.status.as_str());
    match record.status {
        SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed | SettlementStatus::Returned => {
            assert_eq!(paid, (1, record.amount), "{named}");
        }
        SettlementStatus::Failed | SettlementStatus::Cancelled => assert_eq!(paid.0, 0, "{named}"),
        SettlementStatus::Accepted => panic!("{named}: nothing of it was sent for a day"),
        // The hold stays: that the books balance was verified.
        SettlementStatus::Submitted | SettlementStatus::Unknown => assert!(record.needs_review && paid.0 <= 1, "{named}"),
    }
    let reversals: Vec<ReversalRecord> = typed_all(store.scan(&Scan::reversals(record.no)).expect("read")).expect("reversals");
    for reversal in reversals {
        keys.push(format!("{key}-R{}", reversal.n));
        let back = done(operators, &keys[keys.len() - 1..], |books| &books.given_back);
        let named = format!("{named}, reversal {} is {} and was given back {back:?}", reversal.n, reversal.status.as_str());
        match reversal.status {
            ReversalStatus::Completed => assert_eq!(back, (1, reversal.amount), "{named}"),
            ReversalStatus::Failed => assert_eq!(back.0, 0, "{named}"),
            ReversalStatus::Accepted | ReversalStatus::Submitted | ReversalStatus::Unknown => {
                assert!(reversal.needs_review && back.0 <= 1, "{named}");
            }
        }
    }
    keys
}
