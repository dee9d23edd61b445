//! What must hold, worked out from the outside: from what was asked, from the answers as they appear on the interface, and from the
//! operators' own books. It shares nothing with the engine: no state machine, no ledger, no limits, only texts and numbers.

use std::collections::{BTreeMap, BTreeSet};

macro_rules! hold {
    ($condition:expr, $($said:tt)+) => {
        if !$condition {
            return Err(format!($($said)+));
        }
    };
}

mod people;
mod promises;
mod statements;

use people::Request;
pub(super) use people::{Person, Wish};
pub(super) use promises::Back;
use promises::Promises;
use statements::Compared;
pub(super) use statements::{Finding, StatementLine};

/// Why something must not be so.
pub(super) type Verdict = Result<(), String>;

const DAY_MS: i64 = 86_400_000;
/// How far a node's clock is from the true time at most.
const SKEW_MS: i64 = 5_000;
/// What a user pays without being asked.
const UNASKED: i128 = 300;

/// A settlement as the interface shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) client: usize,
    pub(super) live: bool,
    pub(super) incoming: bool,
    pub(super) reference: String,
    pub(super) to: String,
    pub(super) status: &'static str,
    pub(super) version: u32,
    pub(super) amount: i128,
    pub(super) fee: i128,
    pub(super) fee_back: i128,
    pub(super) reversed: i128,
    pub(super) reversing: i128,
    /// The public ids of its reversals.
    pub(super) reversals: Vec<String>,
    pub(super) needs_review: bool,
    /// What its user says, if the user is asked.
    pub(super) approval: Option<&'static str>,
    /// When it was accepted, by the clock of the node.
    pub(super) created_at: i64,
}

/// A new event of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) sequence: u32,
    pub(super) kind: &'static str,
    pub(super) from: Option<&'static str>,
    pub(super) to: Option<&'static str>,
    pub(super) hash: Option<String>,
    pub(super) prev: Option<String>,
}

/// A balance as the interface shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Balance {
    pub(super) ledger: i128,
    pub(super) available: i128,
    pub(super) reserved: i128,
    pub(super) pending: i128,
}

/// What the payments of a day may add up to, and how many they may be.
type Limits = (i128, i128);

/// Whether a payment is of real money, how much, and to whom.
type Asked = (bool, i128, String);

#[derive(Debug, Clone)]
struct Known {
    seen: Seen,
    /// The hash of its last event, and its version then.
    head: Option<String>,
    day: i64,
    /// When it was first seen, and when as paid.
    since: i64,
    done_at: Option<i64>,
    /// Whether it counts for the limits of its day.
    counted: bool,
    /// Whether something contradicted what was proved, and a person was called.
    disputed: bool,
}

/// A line of an operator's books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) amount: i128,
    pub(super) executed: u32,
    pub(super) open: bool,
    pub(super) returned: bool,
    /// Whether the operator once said that it had not paid what it had, or that it had paid what it had not.
    pub(super) denied: bool,
    pub(super) claimed: bool,
}

#[derive(Debug, Clone, Default)]
struct Books {
    payments: BTreeMap<String, Line>,
    reversals: BTreeMap<String, Line>,
}

/// What clients asked for about the reversals of a settlement.
#[derive(Debug, Clone, Default)]
struct Reversals {
    /// The ids that answers named.
    named: BTreeSet<String>,
    /// The calls without an answer that may each have made one.
    perhaps: BTreeSet<String>,
    /// Which id was the answer to a call, however often it was sent.
    by_call: BTreeMap<String, String>,
}

/// What the operators' books say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Paid,
    Open,
    Unpaid,
}

/// What is known about the world.
#[derive(Debug, Default)]
pub(super) struct Model {
    people: Vec<Person>,
    /// What a first use credits an account with that holds play money.
    play_money: i128,
    /// The fee of what leaves through an operator.
    fee: i128,
    accounts: BTreeMap<(usize, bool), Balance>,
    known: BTreeMap<String, Known>,
    by_reference: BTreeMap<(usize, String), String>,
    asked: BTreeMap<(usize, String), BTreeSet<Asked>>,
    promises: Promises,
    books: BTreeMap<String, Books>,
    reversals: BTreeMap<String, Reversals>,
    /// What was confirmed, by which request, and is in force: the last of these.
    limits: BTreeMap<usize, Vec<(String, Limits)>>,
    used: BTreeMap<(usize, i64), (i128, i128)>,
    requests: BTreeMap<String, Request>,
    allowed: BTreeMap<(usize, String), i128>,
    moved: BTreeMap<(usize, String), i128>,
    compared: BTreeMap<(&'static str, [u8; 32]), String>,
    statements: Compared,
    /// Which payment its user approves in this step.
    pub(super) consenting: Option<String>,
    /// Who tries to confirm which request in this step.
    pub(super) confirming: Option<(String, usize)>,
}

impl Seen {
    fn is_alive(&self) -> bool {
        !matches!(self.status, "failed" | "cancelled")
    }

    fn is_open(&self) -> bool {
        matches!(self.status, "accepted" | "submitted" | "unknown")
    }

    fn is_between_clients(&self) -> bool {
        self.to.starts_with("participant:")
    }

    /// What it does to the account of its client.
    fn effect(&self) -> Balance {
        let (ledger, reserved, pending) = match self.status {
            _ if self.incoming => (self.amount - self.reversed, 0, 0),
            "failed" | "cancelled" => (0, 0, 0),
            "returned" => (self.fee_back - self.fee, 0, self.reversing),
            _ if self.is_open() => (0, self.amount + self.fee, 0),
            _ => (self.reversed + self.fee_back - self.amount - self.fee, 0, self.reversing),
        };
        Balance { ledger, available: ledger - reserved, reserved, pending }
    }
}

impl Balance {
    fn add(&mut self, other: Self, sign: i128) {
        self.ledger += sign * other.ledger;
        self.available += sign * other.available;
        self.reserved += sign * other.reserved;
        self.pending += sign * other.pending;
    }
}

/// How a settlement may go on.
fn may_become(from: &str, to: &str) -> bool {
    from == to
        || match from {
            "accepted" => matches!(to, "submitted" | "cancelled" | "completed"),
            "submitted" => matches!(to, "unknown" | "completed" | "failed"),
            "unknown" => matches!(to, "submitted" | "completed" | "failed"),
            "completed" | "partially_reversed" => matches!(to, "partially_reversed" | "reversed" | "returned"),
            _ => false,
        }
}

impl Model {
    pub(super) fn new(people: Vec<Person>, play_money: i128, fee: i128) -> Self {
        Self { people, play_money, fee, ..Self::default() }
    }

    /// A client asks for a payment.
    pub(super) fn asks(&mut self, client: usize, live: bool, reference: &str, amount: i128, to: &str) {
        self.asked.entry((client, reference.to_owned())).or_default().insert((live, amount, to.to_owned()));
    }

    /// A payment was refused because there is not enough money, or too much was paid on this day.
    pub(super) fn refused(&self, (client, live): (usize, bool), amount: i128, fee: i128, now: i64, code: &str) -> Verdict {
        match code {
            "insufficient_funds" => {
                let available = self.accounts.get(&(client, live)).map_or(0, |account| account.available);
                hold!(available < amount + fee, "{amount} and a fee of {fee} were refused with {available} available");
            }
            "limit_daily_value" | "limit_daily_count" => {
                let used = |at: i64| self.used.get(&(client, at.div_euclid(DAY_MS))).copied().unwrap_or_default();
                let Some((value, count)) = self.limits_of(client).filter(|_| live) else {
                    return Err(format!("{amount} was refused as {code} without a limit"));
                };
                let full = |used: Limits| if code == "limit_daily_value" { used.0 + amount > value } else { used.1 + 1 > count };
                // At midnight, it may be another day at the node.
                let (from, to) = (used(now - SKEW_MS), used(now + SKEW_MS));
                hold!(full(from) || full(to), "{amount} was refused as {code} with {from:?} of {value} and {count} used");
            }
            _ => {}
        }
        Ok(())
    }

    /// A settlement is seen after it changed; `undone` if a standby took over that lacks its last changes.
    pub(super) fn sees(&mut self, seen: Seen, trace: &[Event], now: i64, undone: bool) -> Verdict {
        self.allows(&seen)?;
        let old = self.known.get(&seen.id);
        let known = match old {
            // Its trace is told from the beginning.
            Some(old) if undone => {
                let head = follows(&Seen { status: "accepted", version: 0, ..seen.clone() }, None, &seen, trace)?;
                Known { seen, head, ..old.clone() }
            }
            Some(old) => {
                let same =
                    (&old.seen.reference, &old.seen.to, old.seen.client, old.seen.live, old.seen.amount, old.seen.fee, old.seen.incoming);
                let is = (&seen.reference, &seen.to, seen.client, seen.live, seen.amount, seen.fee, seen.incoming);
                hold!(same == is, "{} was {same:?} and is {is:?}", seen.id);
                let head = follows(&old.seen, old.head.as_deref(), &seen, trace)?;
                let decided = old.seen.approval != seen.approval;
                hold!(!decided || old.seen.approval == Some("pending"), "{old:?} is decided otherwise: {seen:?}");
                let by_user = self.consenting.as_ref() == Some(&seen.id);
                hold!(!decided || seen.approval != Some("approved") || by_user, "its user did not approve {seen:?}");
                Known { seen, head, ..old.clone() }
            }
            None => {
                let place = (seen.client, seen.reference.clone());
                let before = self.by_reference.insert(place.clone(), seen.id.clone());
                hold!(before.is_none(), "{} is {before:?} and {}", seen.reference, seen.id);
                let wish = (seen.live, seen.amount, seen.to.clone());
                let is_asked = seen.incoming || self.asked.get(&place).is_some_and(|asked| asked.contains(&wish));
                hold!(is_asked, "nobody asked for {seen:?}");
                let must_ask = !seen.incoming && seen.reference.contains("phone") && seen.amount > UNASKED;
                hold!(must_ask == (seen.approval == Some("pending")), "its user must be asked ({must_ask}): {seen:?}");
                let head = follows(&Seen { status: "accepted", version: 0, ..seen.clone() }, None, &seen, trace)?;
                let by_node = seen.live && (seen.created_at - now).abs() > SKEW_MS;
                hold!(!by_node, "at {now}, it is accepted: {seen:?}");
                let counted = seen.live && !seen.incoming && self.limits_of(seen.client).is_some();
                Known { day: seen.created_at.div_euclid(DAY_MS), seen, head, since: now, done_at: None, counted, disputed: false }
            }
        };
        let is_done = !matches!(known.seen.status, "accepted" | "submitted" | "unknown");
        let known = Known {
            done_at: known.done_at.filter(|_| is_done).or_else(|| is_done.then_some(now)),
            disputed: known.disputed || known.seen.needs_review || trace.iter().any(|event| event.kind == "settlement.discrepancy"),
            ..known
        };
        self.agrees(&known.seen)?;
        self.keeps(&known.seen)?;
        if undone {
            self.promises.keep_trace(&known.seen.id, trace)?;
        }
        let is_new = !self.known.contains_key(&known.seen.id);
        let (client, id) = (known.seen.client, known.seen.id.clone());
        let (day, counted) = (known.day, known.counted);
        self.forget(&id);
        self.book(&known, 1);
        self.known.insert(id, known);
        if is_new && counted {
            let used = self.used.get(&(client, day)).copied().unwrap_or_default();
            let (value, count) = self.limits_of(client).unwrap_or_default();
            hold!(used.0 <= value && used.1 <= count, "{used:?} of {value} and {count} are used");
        }
        Ok(())
    }

    /// A settlement is not there any more, because a standby took over.
    pub(super) fn is_gone(&mut self, id: &str) -> Verdict {
        let Some(known) = self.forget(id) else { return Ok(()) };
        let place = (known.seen.client, known.seen.reference.clone());
        self.by_reference.remove(&place);
        self.promises.keep_trace(id, &[])?;
        hold!(!self.books.contains_key(id), "{} was sent and is gone", known.seen.reference);
        Ok(())
    }

    fn forget(&mut self, id: &str) -> Option<Known> {
        let known = self.known.remove(id)?;
        self.book(&known, -1);
        Some(known)
    }

    fn book(&mut self, known: &Known, sign: i128) {
        let Seen { client, live, amount, .. } = known.seen;
        let play_money = self.play_money;
        let opening = Balance { ledger: play_money, available: play_money, ..Balance::default() };
        let account = self.accounts.entry((client, live)).or_insert_with(|| if live { Balance::default() } else { opening });
        account.add(known.seen.effect(), sign);
        if known.counted && known.seen.is_alive() {
            let used = self.used.entry((client, known.day)).or_default();
            (used.0, used.1) = (used.0 + sign * amount, used.1 + sign);
        }
    }

    /// Whether a settlement by itself can be so.
    fn allows(&self, seen: &Seen) -> Verdict {
        let Seen { amount, fee, fee_back, reversed, reversing, .. } = *seen;
        hold!(reversed >= 0 && reversing >= 0 && reversed + reversing <= amount, "more than {amount} is given back: {seen:?}");
        let due = if seen.live && !seen.incoming && !seen.is_between_clients() { self.fee } else { 0 };
        hold!(fee == due, "the fee is {due}: {seen:?}");
        let back = if reversed == amount { fee } else { fee * reversed / amount };
        hold!(fee_back == back, "{back} of the fee is to be given back: {seen:?}");
        let fits = match seen.status {
            "reversed" => reversed == amount,
            "partially_reversed" => reversed > 0 && reversed < amount,
            "returned" => true,
            _ => reversed == 0,
        };
        hold!(fits, "{seen:?}");
        let Some(asked) = self.reversals.get(&seen.id) else {
            hold!(seen.reversals.is_empty() || seen.incoming, "nobody asked for the reversals of {seen:?}");
            return Ok(());
        };
        let others = seen.reversals.iter().filter(|id| !asked.named.contains(*id)).count();
        hold!(others <= asked.perhaps.len(), "{others} reversals of {seen:?} are more than were asked for: {asked:?}");
        Ok(())
    }

    /// Whether a settlement agrees with the operators' books.
    fn agrees(&self, seen: &Seen) -> Verdict {
        if !seen.live || seen.is_between_clients() {
            return Ok(());
        }
        let books = self.books.get(&seen.id);
        let lines = || books.iter().flat_map(|books| books.payments.values());
        if books.is_some_and(Books::denies) {
            return Ok(());
        }
        let claimed = books.is_some_and(Books::has_lie);
        let paid = lines().any(|line| line.executed > 0 && !line.returned);
        let was_paid = lines().any(|line| line.executed > 0);
        let open = lines().any(|line| line.open);
        match seen.status {
            "failed" | "cancelled" => hold!(!paid && !open, "{} is {} and an operator pays it: {books:?}", seen.reference, seen.status),
            "completed" | "partially_reversed" | "reversed" => {
                hold!(was_paid || claimed, "{} is {} and nobody was paid", seen.reference, seen.status);
            }
            _ => {}
        }
        let back: i128 =
            books.iter().flat_map(|books| books.reversals.values()).filter(|line| line.executed > 0).map(|line| line.amount).sum();
        hold!(seen.reversed <= back || claimed, "{} of {} came back, and operators gave back {back}", seen.reversed, seen.reference);
        Ok(())
    }

    /// An operator wrote this line into its books under a key, which begins with the id of the settlement.
    pub(super) fn writes(&mut self, key: &str, line: Line) -> Verdict {
        let Some((ulid, which)) = key.split_once('-') else { return Err(format!("an operator got the key {key}")) };
        let id = format!("stl_{ulid}");
        let Some(known) = self.known.get(&id) else { return Err(format!("an operator got {key}, of which nothing is stored")) };
        let approval = known.seen.approval;
        hold!(approval.is_none_or(|it| it == "approved"), "{} was sent, and its user said: {approval:?}", known.seen.reference);
        let books = self.books.entry(id).or_default();
        if which.starts_with('R') {
            books.reversals.insert(key.to_owned(), line);
        } else {
            books.payments.insert(key.to_owned(), line);
        }
        // Who is told that it was not paid may pay once more; who is told that it was never does.
        if books.denies() {
            return Ok(());
        }
        let paid: u32 = books.payments.values().map(|line| line.executed).sum();
        hold!(paid <= 1, "{} was paid {paid} times: {books:?}", known.seen.reference);
        hold!(
            paid == 0 || known.seen.is_alive() || books.payments.values().any(|it| it.returned),
            "{} is {} and is paid: {books:?}",
            known.seen.reference,
            known.seen.status
        );
        hold!(books.reversals.values().all(|line| line.executed <= 1), "{} was reversed twice: {books:?}", known.seen.reference);
        let back: i128 = books.reversals.values().filter(|line| line.executed > 0).map(|line| line.amount).sum();
        hold!(back <= known.seen.amount, "{back} of {} came back: {books:?}", known.seen.amount);
        Ok(())
    }

    /// An account as the interface shows it now.
    pub(super) fn holds(&self, client: usize, live: bool, is: Balance) -> Verdict {
        let opening = Balance { ledger: self.play_money, available: self.play_money, ..Balance::default() };
        let due = match self.accounts.get(&(client, live)) {
            Some(account) => *account,
            // Play money may be shown before it is used.
            None if !live && is == opening => opening,
            None => Balance::default(),
        };
        hold!(is == due, "client {client} has {is:?} and must have {due:?} ({})", if live { "live" } else { "sandbox" });
        hold!(is.available >= 0, "client {client} has {is:?}");
        Ok(())
    }

    /// The lines of the statement of an account add up to this.
    pub(super) fn adds_up(&self, client: usize, live: bool, sum: i128) -> Verdict {
        // Play money is there from the first payment on, and that may be gone.
        let is_used = live || self.settlements().any(|seen| (seen.client, seen.live) == (client, live));
        let due = self.accounts.get(&(client, live)).filter(|_| is_used).map_or(0, |account| account.ledger);
        hold!(sum == due, "the statement of client {client} adds up to {sum}, not {due}");
        Ok(())
    }

    /// Everybody has answered, and time has passed: nothing is left open.
    pub(super) fn ends(&self) -> Verdict {
        self.keeps_all()?;
        for Known { seen, disputed, .. } in self.known.values() {
            hold!(!seen.is_open() && seen.reversing == 0, "it never ends: {seen:?}");
            self.agrees(seen)?;
            let Some(books) = self.books.get(&seen.id).filter(|books| !books.denies()) else { continue };
            let claimed = books.has_lie();
            let returned = books.payments.values().any(|line| line.returned);
            let paid = books.payments.values().any(|line| line.executed > 0 && !line.returned);
            let back: i128 = books.reversals.values().filter(|line| line.executed > 0).map(|line| line.amount).sum();
            let fits = match seen.status {
                "returned" => returned,
                // What comes back while it is given back is left to a person.
                "completed" | "partially_reversed" | "reversed" => paid || claimed || returned && (*disputed || back > 0),
                _ => !paid,
            };
            hold!(fits, "{seen:?} and {books:?}");
            hold!(back == seen.reversed || returned || claimed, "operators gave back {back}: {seen:?}");
        }
        for (account, is) in &self.accounts {
            hold!(is.reserved == 0 && is.pending == 0, "{account:?} has {is:?}");
        }
        Ok(())
    }

    /// The settlements as they were last seen.
    pub(super) fn settlements(&self) -> impl Iterator<Item = &Seen> {
        self.known.values().map(|known| &known.seen)
    }

    /// The ids of the payments that wait for their users.
    pub(super) fn waiting_for_users(&self) -> impl Iterator<Item = &str> {
        self.settlements().filter(|seen| seen.approval == Some("pending")).map(|seen| seen.id.as_str())
    }

    /// A settlement as it was last seen.
    pub(super) fn seen(&self, id: &str) -> Option<&Seen> {
        self.known.get(id).map(|known| &known.seen)
    }

    /// How many events a client has in a mode: those of traces, and one for each movement of real money.
    pub(super) fn events(&self, client: usize, live: bool) -> u64 {
        let own = self.settlements().filter(|seen| (seen.client, seen.live) == (client, live));
        let moved = self.moved.keys().filter(|(of, _)| live && *of == client).count() as u64;
        own.map(|seen| u64::from(seen.version)).sum::<u64>() + moved
    }

    /// The id under which a client's reference is known.
    pub(super) fn id_of(&self, client: usize, reference: &str) -> Option<&str> {
        self.by_reference.get(&(client, reference.to_owned())).map(String::as_str)
    }

    /// Whether money was paid, or may still be, according to the operators.
    pub(super) fn outcome(&self, id: &str) -> Outcome {
        let lines = || self.books.get(id).into_iter().flat_map(|books| books.payments.values());
        if lines().any(|line| line.executed > 0) {
            Outcome::Paid
        } else if lines().any(|line| line.open) {
            Outcome::Open
        } else {
            Outcome::Unpaid
        }
    }

    /// The same of the reversal with this number.
    pub(super) fn outcome_of_reversal(&self, id: &str, n: u16) -> Outcome {
        let key = format!("{}-R{n}", id.trim_start_matches("stl_"));
        match self.books.get(id).and_then(|books| books.reversals.get(&key)) {
            Some(line) if line.executed > 0 => Outcome::Paid,
            Some(line) if line.open => Outcome::Open,
            Some(_) | None => Outcome::Unpaid,
        }
    }

    /// Which version of a settlement was seen last.
    pub(super) fn version(&self, id: &str) -> u32 {
        self.known.get(id).map_or(0, |known| known.seen.version)
    }
}

impl Books {
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.payments.values().chain(self.reversals.values())
    }

    fn has_lie(&self) -> bool {
        self.lines().any(|line| line.denied || line.claimed)
    }

    /// Whether an operator once said that it had not paid what it had. One that only claims to have paid moves no money too often.
    fn denies(&self) -> bool {
        self.lines().any(|line| line.denied)
    }
}

/// Whether the new events go on where the trace ended, each with the hash of the one before it, and lead to the state that is shown.
/// Returns the hash of the last.
fn follows(old: &Seen, head: Option<&str>, new: &Seen, trace: &[Event]) -> Result<Option<String>, String> {
    let (mut status, mut head, mut last, mut flagged) = (old.status, head.map(str::to_owned), old.version, old.needs_review);
    for event in trace {
        if event.sequence != last + 1 || event.prev != head || event.hash.is_none() {
            return Err(format!("the trace of {} goes on after {last} with {event:?}", new.reference));
        }
        (last, head) = (event.sequence, event.hash.clone());
        flagged |= matches!(event.kind, "settlement.discrepancy" | "settlement.unknown" | "reversal.unknown");
        if event.kind == "settlement.reviewed" && !flagged {
            return Err(format!("{} was reviewed and did not wait for a person", new.reference));
        }
        let Some(to) = event.to.filter(|_| event.kind.starts_with("settlement.")) else { continue };
        if !may_become(status, to) || event.from.is_some_and(|from| from != status) {
            return Err(format!("{} is {status}, and then: {event:?}", new.reference));
        }
        status = to;
    }
    if (last, status) != (new.version, new.status) {
        return Err(format!("{} is shown as {} at {}, and its trace ends as {status} at {last}", new.reference, new.status, new.version));
    }
    Ok(head)
}
