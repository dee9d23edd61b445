//! Commands, and how a group holds commands of different types.
//!
//! Each command is its own type. Its file defines together what it decides and returns, what it reads first, what the audit trail
//! records of it, and whether it may be repeated. A group runs commands through [`Pending`], which is independent of their types.

use crate::Error;
use crate::error::Result;
use crate::ids::{ClientNo, KeyNo};
use crate::store::Lookup;
use crate::store::record::AuditAction;

use super::estimates::Estimates;
use super::overlay::Overlay;
use super::writer::Writer;
use crate::engine::{Engine, Stays};

/// What a command decides over: the store with the changes of its group so far.
pub struct Decision<'g, 's> {
    pub(crate) engine: &'g Engine,
    pub(crate) overlay: &'g mut Overlay<'s>,
    pub(crate) writer: &'g mut Writer,
}

/// The records that commands read first, so that a group's reads become one round trip.
pub struct Prefetch<'e> {
    pub(crate) engine: &'e Engine,
    pub(super) estimates: &'e Estimates,
    /// Whether nothing is taken for granted any more.
    pub(crate) again: bool,
    pub(crate) wanted: Vec<Lookup>,
}

/// What the audit trail records of a command, besides the time.
#[derive(Debug, Clone)]
pub struct Deed {
    pub(crate) action: AuditAction,
    /// The client and key that it counts for, if not those of the signer.
    pub(crate) of: Option<(ClientNo, KeyNo)>,
    /// The number of the record concerned; 0 if it has none yet.
    pub(crate) target: i64,
    /// The name that the caller used, for a record without a number.
    pub(crate) name: Option<String>,
    /// What was decided and why, as one JSON object.
    pub(crate) detail: Option<String>,
}

impl Deed {
    pub(crate) fn new(action: AuditAction) -> Self {
        Self { action, of: None, target: 0, name: None, detail: None }
    }

    pub(crate) fn target(self, target: impl Into<i64>) -> Self {
        Self { target: target.into(), ..self }
    }

    pub(crate) fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    pub(crate) fn detail(self, detail: String) -> Self {
        Self { detail: Some(detail), ..self }
    }

    pub(crate) fn of(self, client: ClientNo, key: KeyNo) -> Self {
        Self { of: Some((client, key)), ..self }
    }
}

/// A command. The commands of a group are decided in order and become durable together; each succeeds or fails alone.
pub trait Command: Send + 'static {
    /// The result of the command.
    type Output: Send + 'static;

    /// Whether running it twice has the same effect as running it once: its sender named what it makes, so a repeat
    /// finds that; or it only sets a value.
    fn is_repeatable(&self) -> bool;

    /// Decides the command. Its writes are kept if it succeeds, and discarded if it fails.
    ///
    /// # Errors
    /// The reason for the refusal, or why the store cannot be read.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Self::Output>;

    /// Whether its sender named what it makes, so that sending it again is a replay. If it is
    /// signed and succeeds, it burns no nonce.
    fn names_itself(&self) -> bool {
        false
    }

    /// Whether a refusal stands even if the group could not be committed. It does not if the refusal is part of that commit.
    fn refusal_stands(&self) -> bool {
        true
    }

    /// Whether a client that moves to another gateway may still have this done at the one that it leaves.
    fn stays(&self) -> Stays {
        Stays::No
    }

    /// Adds the records that it reads first.
    fn prefetch(&self, _prefetch: &mut Prefetch<'_>) {}

    /// How many numbers of settlements, fundings and movements it draws.
    fn numbers(&self, _engine: &Engine) -> usize {
        0
    }

    /// What the audit trail records of it. `done` is its output; `None` if it was refused.
    fn deed(&self, _done: Option<&Self::Output>) -> Option<Deed> {
        None
    }

    /// Whether the output only repeats an earlier commit.
    fn is_replay(_output: &Self::Output) -> bool {
        false
    }

    /// Whether success without a change confirms an earlier commit to somebody outside, who may never have got the answer to that one.
    fn confirms_earlier(&self) -> bool {
        false
    }

    /// How many settlements, events or deliveries it touched: its share of the group's time.
    fn touched(_output: &Self::Output) -> usize {
        1
    }
}

/// A command in a group, with its result.
pub struct Slot<C: Command> {
    command: C,
    result: Option<Result<C::Output>>,
}

impl<C: Command> Slot<C> {
    /// A command that waits to be decided.
    pub fn new(command: C) -> Self {
        Self { command, result: None }
    }

    /// The result; `None` if its group panicked before it got one: then it is unknown whether the command was carried out.
    pub fn into_result(self) -> Option<Result<C::Output>> {
        self.result
    }
}

/// A command of any type in a group. [`Slot`] is the only implementation.
pub trait Pending: Send {
    /// Decides the command and keeps the result. Returns whether it succeeded.
    fn decide(&mut self, d: &mut Decision<'_, '_>) -> bool;
    /// See [`Command::prefetch`].
    fn prefetch(&self, prefetch: &mut Prefetch<'_>);
    /// See [`Command::numbers`].
    fn numbers(&self, engine: &Engine) -> usize;
    /// Discards the result.
    fn reset(&mut self);
    /// Its group was not committed. `why` returns the error, given whether the command is
    /// repeatable. A refusal that stands is kept.
    fn refuse(&mut self, why: &dyn Fn(bool) -> Error);
    /// Whether the output only repeats an earlier commit, if its group changed nothing.
    fn is_replay(&self) -> bool;
    /// See [`Command::touched`]; 1 for a refused command.
    fn touched(&self) -> usize;
    /// The error, if it was refused.
    fn error(&self) -> Option<&Error>;
}

/// Whether other nodes may work over the same store. Programs without such a store do not include what that takes.
pub(crate) const SHARED: bool = cfg!(any(feature = "postgres", feature = "testkit"));

/// Prefetching only pays off for a remote store.
pub(super) const PREFETCHES: bool = SHARED;

impl<C: Command> Pending for Slot<C> {
    fn decide(&mut self, d: &mut Decision<'_, '_>) -> bool {
        self.result.insert(self.command.decide(d)).is_ok()
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        if PREFETCHES {
            self.command.prefetch(prefetch);
        }
    }

    fn numbers(&self, engine: &Engine) -> usize {
        self.command.numbers(engine)
    }

    fn reset(&mut self) {
        self.result = None;
    }

    fn refuse(&mut self, why: &dyn Fn(bool) -> Error) {
        let stands = self.command.refusal_stands() && matches!(self.result, Some(Err(_)));
        if !stands {
            self.result = Some(Err(why(self.command.is_repeatable())));
        }
    }

    fn is_replay(&self) -> bool {
        matches!(&self.result, Some(Ok(output)) if C::is_replay(output) || self.command.confirms_earlier())
    }

    fn touched(&self) -> usize {
        match &self.result {
            Some(Ok(output)) => C::touched(output),
            Some(Err(_)) | None => 1,
        }
    }

    fn error(&self) -> Option<&Error> {
        self.result.as_ref().and_then(|result| result.as_ref().err())
    }
}
