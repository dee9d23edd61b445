//! What a command is, and how a group holds commands of different kinds.
//!
//! A command is a type of its own: what it decides and answers, what it reads first, what the audit trail says of it, and whether
//! it may be repeated stand beside each other in its file. A group runs them through [`Pending`], which knows no kind.

use crate::Error;
use crate::error::Result;
use crate::ids::{ClientNo, KeyNo};
use crate::store::Lookup;
use crate::store::record::AuditAction;

use super::overlay::Overlay;
use super::writer::Writer;
use crate::engine::Engine;

/// What a command decides over: the store as its group has left it so far.
pub struct Decision<'g, 's> {
    pub(crate) engine: &'g Engine,
    pub(crate) overlay: &'g mut Overlay<'s>,
    pub(crate) writer: &'g mut Writer,
}

/// What a command reads before anything else, so that a group's reads become one round trip.
pub struct Prefetch<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) wanted: Vec<Lookup>,
}

/// What the audit trail says of a command, besides when.
pub struct Deed {
    pub(crate) action: AuditAction,
    /// Whose deed it counts as, where that is not who signed.
    pub(crate) of: Option<(ClientNo, KeyNo)>,
    /// The number of what it concerns; 0 if it has none yet.
    pub(crate) target: i64,
    /// What the caller named, for what has no number.
    pub(crate) name: Option<String>,
}

impl Deed {
    pub(crate) fn new(action: AuditAction) -> Self {
        Self { action, of: None, target: 0, name: None }
    }

    pub(crate) fn target(self, target: impl Into<i64>) -> Self {
        Self { target: target.into(), ..self }
    }

    pub(crate) fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    pub(crate) fn of(self, client: ClientNo, key: KeyNo) -> Self {
        Self { of: Some((client, key)), ..self }
    }
}

/// One thing to do. The commands of a group are decided in order and become durable together; each succeeds or fails alone.
pub trait Command: Send + 'static {
    /// What comes of it.
    type Output: Send + 'static;

    /// Whether carrying it out twice does no more than once: what is named by its sender is found again, and what only sets
    /// something does not care.
    fn is_repeatable(&self) -> bool;

    /// Decides it. What it writes is kept if it succeeds, and forgotten if not.
    ///
    /// # Errors
    /// Why it is refused, or why the store cannot be read.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Self::Output>;

    /// Its sender named what it makes: sent again it is answered as the replay that it is, so that a signed one burns no nonce
    /// where it succeeds.
    fn names_itself(&self) -> bool {
        false
    }

    /// A refusal stands even where the group could not be committed. Not so where the refusal is a part of that commit.
    fn refusal_stands(&self) -> bool {
        true
    }

    /// Adds what it reads first.
    fn prefetch(&self, _prefetch: &mut Prefetch<'_>) {}

    /// How many numbers of settlements and fundings it draws.
    fn numbers(&self, _engine: &Engine) -> usize {
        0
    }

    /// What the audit trail says of it: `done` is what came of it, `None` if it was refused.
    fn deed(&self, _done: Option<&Self::Output>) -> Option<Deed> {
        None
    }

    /// Whether the answer only tells of an earlier commit.
    fn is_replay(_output: &Self::Output) -> bool {
        false
    }

    /// How many settlements, events or deliveries it touched: its share of the group's time.
    fn touched(_output: &Self::Output) -> usize {
        1
    }
}

/// A command in a group, and what came of it.
pub struct Slot<C: Command> {
    command: C,
    result: Option<Result<C::Output>>,
}

impl<C: Command> Slot<C> {
    /// A command that waits to be decided.
    pub fn new(command: C) -> Self {
        Self { command, result: None }
    }

    /// What came of it; `None` if its group ended without an answer, by a panic: then nobody knows whether it was carried out.
    pub fn into_result(self) -> Option<Result<C::Output>> {
        self.result
    }
}

/// A command of any kind in a group. There is one implementation: [`Slot`].
pub trait Pending: Send {
    /// Decides the command, and keeps what came of it; whether it succeeded.
    fn decide(&mut self, d: &mut Decision<'_, '_>) -> bool;
    /// As of [`Command::prefetch`].
    fn prefetch(&self, prefetch: &mut Prefetch<'_>);
    /// As of [`Command::numbers`].
    fn numbers(&self, engine: &Engine) -> usize;
    /// Forgets what came of it.
    fn reset(&mut self);
    /// Its group was not committed: `why` tells the reason, given whether the command is repeatable. A refusal that stands stays.
    fn refuse(&mut self, why: &dyn Fn(bool) -> Error);
    /// Whether the answer only tells of an earlier commit.
    fn is_replay(&self) -> bool;
    /// As of [`Command::touched`]; 1 for what was refused.
    fn touched(&self) -> usize;
    /// Why it was refused.
    fn error(&self) -> Option<&Error>;
}

/// Only a store on another machine is worth asking ahead; a program without one does not contain it.
pub(super) const PREFETCHES: bool = cfg!(any(feature = "postgres", feature = "testkit"));

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
        matches!(&self.result, Some(Ok(output)) if C::is_replay(output))
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
