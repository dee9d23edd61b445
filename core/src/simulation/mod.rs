//! Whole deployments in one thread, from one number: several nodes over one store, clients, the people who run the gateway, operators,
//! receivers of webhooks, and a network between them. Everything fails, lies, repeats itself and comes late, and a model that shares
//! nothing with the engine says after every step whether what must hold still holds.
//!
//! ```
//! use railgate::simulation::{Plan, play};
//!
//! let played = play(&Plan { steps: 200, ..Plan::of(7) });
//! assert_eq!(played.failure, None);
//! // The same number, the same world.
//! assert_eq!(play(&Plan { steps: 200, ..Plan::of(7) }).commits, played.commits);
//! ```
//!
//! A step is one event of the world: a call of a client or an operator, a lease, a request or an answer that arrives, a callback, a try of
//! a webhook, a crash, the passing of time. What a step does is drawn from the seed and its number alone, so that [`shrink`] can leave
//! others out. After the last step nothing is disturbed any more, everybody answers the truth, and everything must come to an end.
//!
//! `RELIABILITY.md` says what is checked, and which faults of the engine it finds.

mod clocks;
mod customers;
mod end;
mod look;
mod model;
mod network;
mod people;
mod rails;
mod random;
mod receivers;
mod shrink;
mod statements;
mod store;
mod stored;
mod users;
mod world;

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::engine::Engine;
use crate::lifecycle::named_enum;
use crate::store::Store;

pub use shrink::shrink;
use world::World;

/// How many steps a world has, unless somebody says otherwise.
pub const STEPS: u64 = 2_000;
/// After how many steps everything is looked at, also what did not change.
const LOOK_AT_ALL: u64 = 500;

named_enum! {
    /// A part of the world that can be left out, to see whether a failure needs it.
    pub enum Part {
        /// Faults of the store.
        Store = "store",
        /// Processes that end.
        Crashes = "crashes",
        /// Time that passes in leaps, and nodes whose clocks differ and are set anew.
        Clock = "clock",
        /// Requests and answers that get lost.
        Losses = "losses",
        /// Operators that say something else than their books, and payments that come back.
        Lies = "lies",
        /// Callbacks, also of others than who was asked.
        Callbacks = "callbacks",
        /// Calls, requests and reports that are sent again.
        Repeats = "repeats",
        /// Payments that are given back.
        Reversals = "reversals",
        /// Payments between clients.
        Books = "books",
        /// Payments with play money.
        Sandbox = "sandbox",
        /// End users, whose phones pay and who are asked.
        Users = "users",
        /// Clocks of sandboxes that are put ahead.
        Clocks = "clocks",
        /// Clients that look for what is not theirs.
        Strangers = "strangers",
        /// Receivers of webhooks.
        Webhooks = "webhooks",
        /// The people who run the gateway. Without them, nobody has real money.
        Staff = "staff",
        /// Statements of operators, which are compared with the settlements.
        Statements = "statements",
        /// Maintenance, and nodes that are replaced.
        Housekeeping = "housekeeping",
    }
}

/// What is told about a world.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Story {
    /// Nothing, unless it fails.
    #[default]
    Nothing,
    /// What happens to the settlement with this id or reference.
    Of(String),
    /// Everything.
    All,
}

/// Which world is played.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What everything is drawn from.
    pub seed: u64,
    /// How many steps it has.
    pub steps: u64,
    /// The parts that are left out.
    pub without: Vec<Part>,
    /// The steps that are taken; `None` for all.
    pub only: Option<BTreeSet<u64>>,
    /// What is told about it.
    pub story: Story,
    /// Whether a standby that takes over may lack acknowledged commits, as without synchronous replication. Nothing that moves money can
    /// survive that: such a world fails.
    pub lose_acknowledged: bool,
}

impl Plan {
    /// A whole world.
    pub fn of(seed: u64) -> Self {
        Self { seed, steps: STEPS, ..Self::default() }
    }

    /// The steps that are taken.
    fn taken(&self) -> impl Iterator<Item = u64> {
        let only = self.only.as_ref();
        (0..self.steps).filter(move |step| only.is_none_or(|only| only.contains(step)))
    }
}

/// The flags of the command that plays it.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--seed {}", self.seed)?;
        if self.steps != STEPS {
            write!(f, " --steps {}", self.steps)?;
        }
        if !self.without.is_empty() {
            write!(f, " --without {}", self.without.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(","))?;
        }
        if self.lose_acknowledged {
            f.write_str(" --lose-acknowledged")?;
        }
        if let Some(only) = &self.only {
            write!(f, " --only {}", only.iter().map(u64::to_string).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

/// What did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In which step; the number of steps if it was in the end.
    pub step: u64,
    /// What, for people.
    pub said: String,
}

/// A world that was played.
pub struct Played {
    /// What did not hold, if something did not.
    pub failure: Option<Failure>,
    /// How many steps were taken.
    pub steps: u64,
    /// How many commits the store made.
    pub commits: u64,
    /// How many settlements there are.
    pub settlements: usize,
    /// What was asked to be told.
    pub story: Vec<String>,
    /// What is stored in the end, and an engine over it.
    pub end: Option<(Arc<dyn Store>, Engine)>,
}

/// Plays a world, up to what does not hold or to its end.
pub fn play(plan: &Plan) -> Played {
    let mut played = Played { failure: None, steps: 0, commits: 0, settlements: 0, story: Vec::new(), end: None };
    let mut world = match World::new(plan) {
        Ok(world) => world,
        Err(said) => {
            played.failure = Some(Failure { step: 0, said });
            return played;
        }
    };
    for step in plan.taken() {
        played.steps += 1;
        played.failure = attempt(step, || {
            world.step(step)?;
            if step % LOOK_AT_ALL == LOOK_AT_ALL - 1 { world.look_at_all().and_then(|()| world.check_outbox()) } else { Ok(()) }
        });
        if played.failure.is_some() {
            break;
        }
    }
    if played.failure.is_none() {
        played.failure = attempt(plan.steps, || {
            world.check_outbox()?;
            world.settle()?;
            world.check_end()
        });
    }
    played.commits = world.commits();
    played.settlements = world.settlements();
    played.story = match &plan.story {
        Story::Nothing => Vec::new(),
        Story::Of(reference) => world.story_of(reference),
        Story::All => world.take_story(),
    };
    played.end = Some(world.into_end());
    played
}

/// Runs part of a world. That something panics is as bad as that something does not hold.
fn attempt(step: u64, run: impl FnOnce() -> Result<(), String>) -> Option<Failure> {
    let said = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.err()?,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            format!("a panic: {}", text.unwrap_or("without a message"))
        }
    };
    Some(Failure { step, said })
}
