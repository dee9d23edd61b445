//! Operators that are not real, but keep real books: what tests of rails call.
//!
//! An [`Operator`] is a state object without I/O. [`simulate`] plays a seeded story with two of them, two nodes, faults and crashes, in
//! memory; [`Listening`] has one serve requests on this machine's loopback, with faults of its own. Afterwards the operators' books,
//! which are the truth of what was paid, are compared with the gateway's.
//!
//! To test a rail, write its operator here, and two tests: one that runs [`simulate_many`] over it, and one that runs
//! [`kill_many`] over it; and have [`freeze`] freeze it.

mod adapter;
mod agenda;
mod callbacks;
mod frozen;
pub mod gsma;
mod listening;
pub mod mojaloop;
pub mod schema;
mod secured;
mod simulation;
mod story;
mod truth;

use std::collections::BTreeMap;

use railgate::rail::{HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::time::Millis;

pub use adapter::{ADAPTERS, CARELESS, QUIET};
pub use frozen::{Frozen, freeze};
pub use listening::Listening;
pub(crate) use listening::{read, write};
pub use simulation::{simulate, simulate_many};
pub use story::{apply_beside, kill_many, paying_through};
pub use truth::receive;

/// The ids of the two providers in every test.
const IDS: [&str; 2] = ["first", "second"];

/// An operator. All amounts are in minor units.
pub trait Operator: Send {
    /// Serves a request that arrived, and does what it asks for.
    fn serve(&mut self, request: &HttpRequest, now: Millis) -> HttpReply;

    /// The callbacks that are due. The address of each is one that the gateway gave with a payment, or that of its provider.
    fn callbacks(&mut self, now: Millis) -> Vec<HttpRequest>;

    /// When something is due next, if anything is: callbacks that wait are due already.
    fn next_due(&self) -> Option<Millis>;

    /// What it does with the next payments and reversals that arrive.
    fn intend(&mut self, intent: Intent);

    /// Ends all access tokens.
    fn end_tokens(&mut self);

    /// Has the next answer be about another payment than the one asked about.
    fn mix_up(&mut self);

    /// Until then, it does not find what it is asked about, although it has it.
    fn hide_until(&mut self, at: Millis);

    /// What was paid.
    fn books(&self) -> &Books;
}

/// What an operator does with a payment or a reversal that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intent {
    /// Does it at once.
    #[default]
    Does,
    /// Takes it, and does it after so many milliseconds.
    DoesAfter(Millis),
    /// Refuses it.
    Refuses,
    /// Takes it, and refuses it after so many milliseconds.
    RefusesAfter(Millis),
}

/// What an operator did, by the gateway's own key of each attempt and reversal.
#[derive(Debug, Default)]
pub struct Books {
    /// What was paid under each key of an attempt, and how often.
    pub paid: BTreeMap<String, Entry>,
    /// What was given back under each key of a reversal, and how often.
    pub given_back: BTreeMap<String, Entry>,
}

/// An entry in an operator's books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// How often: more than once is what must never be.
    pub times: u32,
    /// How much, in minor units, each time.
    pub amount: i64,
}

impl Books {
    /// Notes a payment.
    pub fn pay(&mut self, key: &str, amount: i64) {
        note(&mut self.paid, key, amount);
    }

    /// Notes a reversal.
    pub fn give_back(&mut self, key: &str, amount: i64) {
        note(&mut self.given_back, key, amount);
    }
}

fn note(entries: &mut BTreeMap<String, Entry>, key: &str, amount: i64) {
    let entry = entries.entry(key.to_owned()).or_default();
    entry.times += 1;
    entry.amount = amount;
}

/// A rail under test.
pub struct Cast {
    /// The rails, this one among them.
    pub rails: fn() -> Rails,
    /// A provider at this base URL, with this id, in the sandbox. Its secrets and settings fit what `operator` makes.
    pub provider: fn(id: &str, base_url: &str) -> ProviderSpec,
    /// The operator behind a provider. It accepts only what such a provider sends.
    pub operator: fn(id: &str, base_url: &str) -> Box<dyn Operator>,
    /// Participants that it pays.
    pub payees: &'static [&'static str],
    /// Whether the operator keeps its word that what it does not find does not exist. If so, it is never told to hide anything.
    pub finds_everything: bool,
}

/// An operator, and where it is.
pub(crate) struct Placed {
    base_url: String,
    operator: Box<dyn Operator>,
}

impl Placed {
    fn new(cast: &Cast, id: &str, base_url: String) -> Self {
        Self { operator: (cast.operator)(id, &base_url), base_url }
    }
}

/// A number that whoever runs the tests has set.
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Numbers from a seed: xorshift.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Milliseconds from 1 to `most`.
    pub fn ms(&mut self, most: u64) -> Millis {
        Millis::try_from(1 + self.below(most)).unwrap_or(1)
    }

    /// What an operator does.
    pub fn intent(&mut self) -> Intent {
        match self.below(8) {
            0..=3 => Intent::Does,
            4 => Intent::DoesAfter(self.ms(90_000)),
            5 | 6 => Intent::Refuses,
            _ => Intent::RefusesAfter(self.ms(90_000)),
        }
    }
}
