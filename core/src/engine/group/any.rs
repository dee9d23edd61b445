//! Commands of any type in one list, for tests that mix them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::engine::{Engine, Stays};
use crate::error::Result;

use super::{Command, Decision, Deed, Prefetch};

/// A command of any type. A clone is the same command again.
#[derive(Clone)]
pub struct AnyCommand(Arc<dyn Erased + Send + Sync>);

/// The output of an [`AnyCommand`].
pub struct AnyOutput {
    value: Box<dyn Any + Send>,
    debug: String,
    replay: bool,
    touched: usize,
}

impl AnyOutput {
    /// Converts the output into its type.
    ///
    /// # Errors
    /// The output itself, if it has another type.
    pub fn downcast<T: 'static>(self) -> Result<T, Self> {
        let Self { value, debug, replay, touched } = self;
        value.downcast().map(|value| *value).map_err(|value| Self { value, debug, replay, touched })
    }

    /// The output, if it has this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl fmt::Debug for AnyOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.debug)
    }
}

impl fmt::Debug for AnyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.shown())
    }
}

impl AnyCommand {
    /// Wraps a command.
    pub fn new<C>(command: C) -> Self
    where
        C: Command + Sync + fmt::Debug,
        C::Output: fmt::Debug,
    {
        Self(Arc::new(command))
    }

    /// The command, if it has this type.
    pub fn get<C: 'static>(&self) -> Option<&C> {
        self.0.as_any().downcast_ref()
    }
}

trait Erased {
    fn as_any(&self) -> &dyn Any;
    fn shown(&self) -> String;
    fn is_repeatable(&self) -> bool;
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<AnyOutput>;
    fn names_itself(&self) -> bool;
    fn stays(&self) -> Stays;
    fn refusal_stands(&self) -> bool;
    fn prefetch(&self, prefetch: &mut Prefetch<'_>);
    fn numbers(&self, engine: &Engine) -> usize;
    fn deed(&self, done: Option<&AnyOutput>) -> Option<Deed>;
    fn confirms_earlier(&self) -> bool;
}

impl<C> Erased for C
where
    C: Command + fmt::Debug,
    C::Output: fmt::Debug,
{
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn shown(&self) -> String {
        format!("{self:?}")
    }

    fn is_repeatable(&self) -> bool {
        Command::is_repeatable(self)
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<AnyOutput> {
        let output = Command::decide(self, d)?;
        let (debug, replay, touched) = (format!("{output:?}"), C::is_replay(&output), C::touched(&output));
        Ok(AnyOutput { value: Box::new(output), debug, replay, touched })
    }

    fn names_itself(&self) -> bool {
        Command::names_itself(self)
    }

    fn stays(&self) -> Stays {
        Command::stays(self)
    }

    fn refusal_stands(&self) -> bool {
        Command::refusal_stands(self)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        Command::prefetch(self, prefetch);
    }

    fn numbers(&self, engine: &Engine) -> usize {
        Command::numbers(self, engine)
    }

    fn deed(&self, done: Option<&AnyOutput>) -> Option<Deed> {
        Command::deed(self, done.and_then(AnyOutput::get))
    }

    fn confirms_earlier(&self) -> bool {
        Command::confirms_earlier(self)
    }
}

impl Command for AnyCommand {
    type Output = AnyOutput;

    fn is_repeatable(&self) -> bool {
        self.0.is_repeatable()
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<AnyOutput> {
        self.0.decide(d)
    }

    fn names_itself(&self) -> bool {
        self.0.names_itself()
    }

    fn stays(&self) -> Stays {
        self.0.stays()
    }

    fn refusal_stands(&self) -> bool {
        self.0.refusal_stands()
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        self.0.prefetch(prefetch);
    }

    fn numbers(&self, engine: &Engine) -> usize {
        self.0.numbers(engine)
    }

    fn deed(&self, done: Option<&AnyOutput>) -> Option<Deed> {
        self.0.deed(done)
    }

    fn is_replay(output: &AnyOutput) -> bool {
        output.replay
    }

    fn confirms_earlier(&self) -> bool {
        self.0.confirms_earlier()
    }

    fn touched(output: &AnyOutput) -> usize {
        output.touched
    }
}
