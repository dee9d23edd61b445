//! The outbox of a device with a simulated, seeded gateway and network: requests and responses are lost, late or duplicated,
//! the device's clock jumps, and the process is killed between any two steps. Nothing is lost, and nothing refused is paid.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use railgate::client::outbox::{Heard, LATE_MS, OutboxEntry, OutboxError, OutboxFile, OutboxState, Step, Try, TryKind};
use railgate::time::{Millis, parse_rfc3339, rfc3339};
use rusqlite::Connection;
use serde_json::{Value, json};

const OWNER: &str = "https://pay.example sandbox cli_1";
const START: Millis = 1_763_733_600_000;

/// SplitMix64: a small seeded generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((z ^ (z >> 31)) % u64::try_from(n).unwrap()).unwrap()
    }
}

/// A gateway with limited funds that refuses expired requests, even repetitions of paid ones, because it checks that first.
/// The real one does so if its rules changed in between.
struct Gateway {
    funds: i64,
    /// The version and the amount, by reference.
    paid: BTreeMap<String, (u32, i64)>,
}

fn field(body: &str, name: &str) -> String {
    serde_json::from_str::<Value>(body).unwrap()[name].as_str().unwrap().to_owned()
}

fn amount(body: &str) -> i64 {
    field(body, "amount").parse().unwrap()
}

fn expires(body: &str) -> Millis {
    parse_rfc3339(&field(body, "expires_at")).unwrap()
}

/// The amount of another device's settlements.
const FOREIGN: i64 = 77;

impl Gateway {
    fn answer(&mut self, kind: TryKind, reference: &str, body: &str, now: Millis) -> (u16, String) {
        let there = |(version, amount): (u32, i64)| {
            let status = if version > 2 { "completed" } else { "submitted" };
            json!({"reference": reference, "version": version, "status": status, "amount_minor": (amount * 100).to_string(),
                   "currency": "EUR", "to": "sim:ok", "description": null, "metadata": {}})
            .to_string()
        };
        if kind != TryKind::Create {
            return match self.paid.get_mut(reference) {
                Some(paid) => {
                    paid.0 += 1;
                    (200, there(*paid))
                }
                None => (404, r#"{"code":"settlement_not_found"}"#.to_owned()),
            };
        }
        if expires(body) <= now {
            return (422, r#"{"code":"invalid_fields"}"#.to_owned());
        }
        match self.paid.get(reference) {
            Some((_, FOREIGN)) => return (409, r#"{"code":"reference_conflict"}"#.to_owned()),
            Some(paid) => return (200, there(*paid)),
            None => {}
        }
        if self.funds < amount(body) {
            return (422, r#"{"code":"insufficient_funds"}"#.to_owned());
        }
        self.funds -= amount(body);
        self.paid.insert(reference.to_owned(), (1, amount(body)));
        (201, there((1, amount(body))))
    }
}

struct World {
    random: Random,
    /// The time by the gateway's clock.
    now: Millis,
    /// How far the device's clock is ahead of the gateway's.
    ahead: Millis,
    gateway: Gateway,
    /// Attempts that are still in flight, and when they arrive.
    late: Vec<(Millis, Try)>,
    /// Earlier responses, to be duplicated.
    heard: Vec<(Try, u16, String, Millis)>,
    put: usize,
    /// The final states of entries that were removed and not added again.
    removed: BTreeMap<String, OutboxState>,
    /// Entries that were delivered, removed and added again.
    again: BTreeSet<String>,
}

fn body_of(tried: &Try) -> String {
    String::from_utf8(tried.request.body.clone()).unwrap()
}

impl World {
    fn device(&self) -> Millis {
        self.now + self.ahead
    }

    fn pass(&mut self, ms: Millis) {
        self.now += ms;
        let now = self.now;
        let (arrived, late) = std::mem::take(&mut self.late).into_iter().partition(|(at, _)| *at <= now);
        self.late = late;
        let arrived: Vec<(Millis, Try)> = arrived;
        for (at, tried) in arrived {
            self.gateway.answer(tried.kind, &tried.reference, &body_of(&tried), at);
        }
    }

    fn put(&mut self, outbox: &OutboxFile) {
        let reference = format!("inv-{}", self.put);
        let expires = self.now + if self.random.below(3) == 0 { 60_000 } else { 365 * 86_400_000 };
        let (amount, expires) = ((1 + self.random.below(9)).to_string(), rfc3339(expires));
        let body = json!({"amount": amount, "currency": "EUR", "to": "sim:ok", "reference": reference, "expires_at": expires}).to_string();
        if self.random.below(6) == 0 {
            // Another device used the reference.
            self.gateway.paid.insert(reference.clone(), (1, FOREIGN));
        }
        self.put += 1;
        let entry = outbox.put(&reference, &body, self.device()).unwrap();
        assert_eq!((entry.state, entry.tries), (OutboxState::Queued, 0));
    }

    /// Decides the fate of an attempt; false if the process is killed before it gets a response.
    fn carry(&mut self, outbox: &OutboxFile, tried: Try, honest: bool) -> bool {
        let fate = if honest { 9 } else { self.random.below(10) };
        let (at, device) = (self.now, self.device());
        let heard = |heard: &Heard<'_>| drop(outbox.heard(&tried, heard, device).unwrap());
        match fate {
            0 => heard(&Heard::NotSent { problem: "{}" }),
            1 => heard(&Heard::NoAnswer { problem: "{}" }),
            2 | 3 => {
                let arrives = self.now + self.random.below(LATE_MS);
                self.late.push((arrives, tried.clone()));
                if fate == 3 {
                    return false;
                }
                heard(&Heard::NoAnswer { problem: "{}" });
            }
            4 => heard(&Heard::Response { status: 429, body: br#"{"code":"rate_limited"}"#, date: Some(at) }),
            _ => {
                let (status, body) = self.gateway.answer(tried.kind, &tried.reference, &body_of(&tried), self.now);
                match fate {
                    5 => return false,
                    6 => heard(&Heard::NoAnswer { problem: "{}" }),
                    _ => heard(&Heard::Response { status, body: body.as_bytes(), date: Some(at) }),
                }
                self.heard.push((tried, status, body, at));
            }
        }
        true
    }

    /// An earlier response arrives again, however old it is.
    fn hear_again(&mut self, outbox: &OutboxFile) {
        let count = i64::try_from(self.heard.len()).unwrap();
        if count > 0 {
            let (tried, status, body, at) = &self.heard[usize::try_from(self.random.below(count)).unwrap()];
            let answer = Heard::Response { status: *status, body: body.as_bytes(), date: Some(*at) };
            outbox.heard(tried, &answer, self.device()).unwrap();
        }
    }

    /// Removes finished entries, and sometimes adds them again.
    fn remove(&mut self, outbox: &OutboxFile) {
        for entry in outbox.changes(0, 1_000).unwrap() {
            match outbox.remove(&entry.reference) {
                Ok(()) if self.random.below(2) == 0 => {
                    let again = outbox.put(&entry.reference, &entry.body, self.device()).unwrap();
                    assert_eq!((again.state, again.tries), (OutboxState::Queued, 0));
                    if entry.state == OutboxState::Delivered {
                        self.again.insert(entry.reference);
                    }
                }
                Ok(()) => drop(self.removed.insert(entry.reference, entry.state)),
                Err(error) => assert!(matches!(error, OutboxError::State(_)) && !entry.has_ended(), "{error}: {entry:?}"),
            }
        }
    }

    fn step(&mut self, outbox: OutboxFile, path: &Path) -> OutboxFile {
        // The clock is corrected, or set wrong by hours or years.
        if self.random.below(10) == 0 {
            self.ahead = [0, 3_600_000, -3_600_000, 10 * 365 * 86_400_000][usize::try_from(self.random.below(4)).unwrap()];
        }
        match self.random.below(8) {
            0 if self.put < 8 => self.put(&outbox),
            0 | 1 => {
                let ms = self.random.below(200_000);
                self.pass(ms);
            }
            2 => self.gateway.funds += self.random.below(6),
            3 => self.hear_again(&outbox),
            4 if self.random.below(6) == 0 => drop(outbox.withdraw("inv-1", self.device())),
            4 if self.random.below(6) == 0 => self.remove(&outbox),
            5 => outbox.wake(self.device()).unwrap(),
            _ => {
                if let Step::Send(tried) = outbox.next(self.device()).unwrap()
                    && !self.carry(&outbox, *tried, false)
                {
                    drop(outbox);
                    return OutboxFile::open(path, OWNER, None, self.device()).unwrap();
                }
            }
        }
        outbox
    }
}

fn play(seed: u64) -> BTreeMap<&'static str, usize> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    let gateway = Gateway { funds: 12, paid: BTreeMap::new() };
    let mut world = World {
        random: Random(seed),
        now: START,
        ahead: 0,
        gateway,
        late: Vec::new(),
        heard: Vec::new(),
        put: 0,
        removed: BTreeMap::new(),
        again: BTreeSet::new(),
    };
    let mut outbox = OutboxFile::open(&path, OWNER, None, world.device()).unwrap();
    for _ in 0..160 {
        outbox = world.step(outbox, &path);
    }
    // The network is reliable from now on; attempts in flight still arrive at their time.
    loop {
        match outbox.next(world.device()).unwrap() {
            Step::Send(tried) => assert!(world.carry(&outbox, *tried, true)),
            Step::Wait(at) => world.pass(at - world.device()),
            Step::Idle => break,
        }
    }
    world.pass(LATE_MS);
    let entries = outbox.changes(0, 1_000).unwrap();
    assert!(entries.iter().all(OutboxEntry::has_ended), "seed {seed}: {entries:?}");
    assert_eq!(entries.len() + world.removed.len(), world.put, "seed {seed}: an entry is lost");
    let mut ends = BTreeMap::new();
    for (reference, state) in entries.into_iter().map(|entry| (entry.reference, entry.state)).chain(world.removed) {
        let paid = world.gateway.paid.get(&reference).is_some_and(|(_, amount)| *amount != FOREIGN);
        // Added again and then withdrawn or refused, it was paid the first time, which was reported.
        let told = state == OutboxState::Delivered || world.again.contains(&reference);
        assert_eq!(told, paid, "seed {seed}: {reference} is {state:?}");
        *ends.entry(state.as_str()).or_default() += 1;
    }
    ends
}

#[test]
fn every_settlement_ends_as_the_gateway_has_it() {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..60 {
        for (state, count) in play(seed) {
            *all.entry(state).or_default() += count;
        }
    }
    // The seeds reach every final state.
    assert_eq!(all.keys().copied().collect::<Vec<_>>(), ["delivered", "refused", "withdrawn"], "{all:?}");
}

fn open(path: &Path, owner: &str) -> Result<OutboxFile, OutboxError> {
    OutboxFile::open(path, owner, None, START)
}

#[test]
fn a_file_passes_from_no_end_user_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    let of = |user: Option<&str>| OutboxFile::open(&path, OWNER, user, START);
    // As a program left it that knew of no users, and one that has not learnt yet whose device it is on.
    drop(of(None).unwrap());
    drop(of(Some("ada")).unwrap());
    assert!(matches!(of(Some("ben")), Err(OutboxError::OtherOwner(_))));
    drop(of(None).unwrap());
    drop(of(Some("ada")).unwrap());
    assert!(matches!(open(&path, "somebody else"), Err(OutboxError::OtherOwner(_))));
}

#[test]
fn a_file_is_opened_by_one_and_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    let first = open(&path, OWNER).unwrap();
    assert!(matches!(open(&path, OWNER), Err(OutboxError::InUse)));
    drop(first);
    assert!(matches!(open(&path, "somebody else"), Err(OutboxError::OtherOwner(owner)) if owner == OWNER));
    drop(open(&path, OWNER).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(matches!(open(&path, OWNER), Err(OutboxError::Newer)));

    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE somebody (s)").unwrap();
    assert!(matches!(open(&other, OWNER), Err(OutboxError::NotAnOutbox)));
    std::fs::write(&other, "no database at all, but long enough".repeat(50)).unwrap();
    assert!(matches!(open(&other, OWNER), Err(OutboxError::NotAnOutbox)));
}

#[test]
fn the_app_may_put_in_the_same_twice_and_take_back_what_has_not_left() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = open(&folder.path().join("outbox.db"), OWNER).unwrap();
    let put = outbox.put("inv-1", "a", START).unwrap();
    assert_eq!(outbox.put("inv-1", "a", START + 1).unwrap(), put);
    assert!(matches!(outbox.put("inv-1", "b", START), Err(OutboxError::ReferenceTaken)));
    assert!(matches!(outbox.withdraw("inv-2", START), Err(OutboxError::Absent)));

    let Step::Send(tried) = outbox.next(START).unwrap() else { panic!("nothing is due") };
    assert!(matches!(outbox.withdraw("inv-1", START), Err(OutboxError::State(OutboxState::Sending))));
    assert!(matches!(outbox.next(START).unwrap(), Step::Idle), "it is under way already");
    outbox.heard(&tried, &Heard::NotSent { problem: "{}" }, START).unwrap();
    assert!(matches!(outbox.next(START).unwrap(), Step::Wait(at) if at > START));
    assert_eq!(outbox.withdraw("inv-1", START).unwrap().state, OutboxState::Withdrawn);
    assert!(matches!(outbox.next(START + 3_600_000).unwrap(), Step::Idle));
    let changes = outbox.changes(put.change, 10).unwrap();
    assert_eq!(changes.len(), 1);
    assert!(outbox.changes(changes[0].change, 10).unwrap().is_empty());
}

#[test]
fn what_has_ended_may_be_removed_and_news_of_it_are_no_news_of_its_successor() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = open(&folder.path().join("outbox.db"), OWNER).unwrap();
    assert!(matches!(outbox.remove("inv-1"), Err(OutboxError::Absent)));
    outbox.put("inv-1", "a", START).unwrap();
    assert!(matches!(outbox.remove("inv-1"), Err(OutboxError::State(OutboxState::Queued))));
    let Step::Send(first) = outbox.next(START).unwrap() else { panic!("nothing is due") };
    assert!(matches!(outbox.remove("inv-1"), Err(OutboxError::State(OutboxState::Sending))));
    let refusal = Heard::Response { status: 422, body: br#"{"code":"insufficient_funds"}"#, date: Some(START) };
    assert_eq!(outbox.heard(&first, &refusal, START).unwrap().unwrap().state, OutboxState::Refused);
    assert_eq!(outbox.prune(START).unwrap(), 0, "it changed at that moment, not before");
    outbox.remove("inv-1").unwrap();
    assert!(outbox.entry("inv-1").unwrap().is_none());
    assert!(outbox.heard(&first, &refusal, START).unwrap().is_none());

    let put = outbox.put("inv-1", "a", START).unwrap();
    assert_eq!((put.state, put.tries), (OutboxState::Queued, 0));
    let Step::Send(second) = outbox.next(START).unwrap() else { panic!("nothing is due") };
    assert_eq!((second.number, second.kind), (first.number, first.kind));
    assert!(outbox.heard(&first, &refusal, START).unwrap().is_none());
    assert_eq!(outbox.entry("inv-1").unwrap().unwrap().state, OutboxState::Sending, "what was sent now may be paid");
    outbox.put("inv-2", "b", START).unwrap();
    outbox.withdraw("inv-2", START).unwrap();
    assert_eq!(outbox.prune(START + 1).unwrap(), 1);
    let left: Vec<String> = outbox.changes(0, 10).unwrap().into_iter().map(|entry| entry.reference).collect();
    assert_eq!(left, ["inv-1"]);
}

/// An entry with one attempt without a response, and a later one that the gateway refused at `START`.
fn doubtful(folder: &Path) -> OutboxFile {
    let outbox = open(&folder.join("outbox.db"), OWNER).unwrap();
    outbox.put("inv-1", "a", START).unwrap();
    let Step::Send(lost) = outbox.next(START).unwrap() else { panic!("nothing is due") };
    outbox.heard(&lost, &Heard::NoAnswer { problem: "{}" }, START).unwrap();
    outbox.wake(START).unwrap();
    let Step::Send(refused) = outbox.next(START).unwrap() else { panic!("nothing is due") };
    let answer = Heard::Response { status: 422, body: br#"{"code":"insufficient_funds"}"#, date: Some(START) };
    let entry = outbox.heard(&refused, &answer, START).unwrap();
    assert_eq!(entry.unwrap().state, OutboxState::Unknown, "the first may be paid yet");
    outbox
}

/// The entry's state after the gateway reports, `passed` after its refusal, that it does not know the reference.
fn absent(outbox: &OutboxFile, device: Millis, passed: Option<Millis>) -> OutboxState {
    let Step::Send(asked) = outbox.next(device).unwrap() else { panic!("nothing is due") };
    assert_eq!(asked.kind, TryKind::Ask);
    let date = passed.map(|passed| START + passed);
    outbox
        .heard(&asked, &Heard::Response { status: 404, body: br#"{"code":"settlement_not_found"}"#, date }, device)
        .unwrap()
        .unwrap()
        .state
}

#[test]
fn a_device_whose_clock_is_put_forward_does_not_give_up_what_can_still_be_paid() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = doubtful(folder.path());
    assert!(matches!(outbox.next(START).unwrap(), Step::Wait(at) if at == START + LATE_MS));
    let later = START + 10 * 365 * 86_400_000;
    assert_eq!(absent(&outbox, later, Some(1_000)), OutboxState::Unknown);
    assert!(matches!(outbox.next(later).unwrap(), Step::Wait(at) if at == later + LATE_MS - 1_000), "then it is asked again");
    assert_eq!(absent(&outbox, later + LATE_MS, None), OutboxState::Unknown, "there is no response with a date");
    assert_eq!(absent(&outbox, later + 2 * LATE_MS, Some(LATE_MS - 1)), OutboxState::Unknown);
    assert_eq!(absent(&outbox, later + 3 * LATE_MS, Some(LATE_MS)), OutboxState::Refused);
}

#[test]
fn a_device_whose_clock_is_put_back_goes_on_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = doubtful(folder.path());
    assert_eq!(absent(&outbox, START - 10 * 365 * 86_400_000, Some(LATE_MS)), OutboxState::Refused);
}

/// An outbox that an app of before left is opened by every later one: what was in flight is asked about, and nothing is sent twice.
#[test]
fn an_outbox_of_before_opens_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.db");
    Connection::open(&path).unwrap().execute_batch(include_str!("../../core/tests/golden/outbox-1.sql")).unwrap();
    let file = OutboxFile::open(&path, OWNER, None, START + 60_000).unwrap();
    let mut entries = file.changes(0, 99).unwrap();
    entries.sort_by(|one, other| one.reference.cmp(&other.reference));
    let seen: Vec<_> = entries.iter().map(|it| (it.reference.as_str(), it.state.as_str(), it.tries, it.settlement.is_some())).collect();
    let expected = [
        ("delivered", "delivered", 1, true),
        ("queued", "queued", 0, false),
        ("refused", "refused", 1, false),
        ("sending", "unknown", 1, false),
        ("unknown", "unknown", 1, false),
        ("withdrawn", "withdrawn", 0, false),
    ];
    assert_eq!(seen, expected);
    assert_eq!(entries[2].problem.as_deref(), Some(r#"{"code":"insufficient_funds","title":"The account does not hold enough"}"#));
    let mut sent = Vec::new();
    while let Step::Send(tried) = file.next(START + 60_000).unwrap() {
        sent.push((tried.reference.clone(), tried.number, tried.kind == TryKind::Create));
    }
    sent.sort();
    let due = [("queued", 1), ("sending", 2), ("unknown", 2)].map(|(reference, number)| (reference.to_owned(), number, true));
    assert_eq!(sent, due, "under the same references, which the gateway takes once");
}
