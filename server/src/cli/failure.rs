//! How a command fails: one line for people, what to do about it, and an exit code.

use std::fmt;
use std::io;

/// The operation failed.
pub(crate) const EXIT_FAILED: u8 = 1;
/// The command line was wrong.
pub(crate) const EXIT_USAGE: u8 = 2;
/// `railgate curl` got a response other than 2xx; the code of `curl --fail`.
pub(crate) const EXIT_HTTP: u8 = 22;

/// What a command returns.
pub(crate) type Done<T = ()> = Result<T, Failure>;

/// Why a command stopped early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has seen enough (`railgate list | head -1`): not an error.
    PipeClosed,
    /// Anything else.
    Stopped(Box<Reason>),
}

/// What is shown to the person at the terminal.
#[derive(Debug)]
pub(crate) struct Reason {
    /// One line, without a full stop.
    message: String,
    /// Further lines, such as the invalid fields of a request.
    details: Vec<String>,
    /// What to do about it.
    hint: Option<String>,
    /// The process's exit code.
    exit: u8,
}

impl Failure {
    /// The operation failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Stopped(Box::new(Reason { message: message.into(), details: Vec::new(), hint: None, exit: EXIT_FAILED }))
    }

    /// The command line was wrong in a way that only showed after parsing.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).exit(EXIT_USAGE)
    }

    /// The operation failed because of `cause`.
    pub(crate) fn caused(what: impl fmt::Display, cause: impl std::error::Error) -> Self {
        Self::new(format!("{what}: {}", chain(&cause)))
    }

    /// Adds what to do about it. Replaces an earlier hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Stopped(reason) = &mut self {
            reason.hint = Some(hint.into());
        }
        self
    }

    /// Adds a line below the message.
    pub(crate) fn detail(mut self, line: impl Into<String>) -> Self {
        if let Self::Stopped(reason) = &mut self {
            reason.details.push(line.into());
        }
        self
    }

    /// Ends the process with this code instead of 1.
    pub(crate) fn exit(mut self, exit: u8) -> Self {
        if let Self::Stopped(reason) = &mut self {
            reason.exit = exit;
        }
        self
    }
}

impl Reason {
    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit
    }

    /// The message alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The lines below the message, the hint last.
    pub(crate) fn below(&self) -> impl Iterator<Item = String> {
        let details = self.details.iter().map(|line| format!("  {line}"));
        details.chain(self.hint.iter().map(|hint| format!("hint: {hint}")))
    }
}

/// Only for writing output: every other I/O error gets its context where it happens.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::new(format!("cannot write the output: {error}")),
        }
    }
}

/// Errors of the engine, in the embedded gateway and in the operator's commands. Only here the cause is shown: the person
/// at this terminal owns the store.
impl From<railgate::Error> for Failure {
    fn from(error: railgate::Error) -> Self {
        let mut failure = Self::new(chain(&error));
        for field in &error.fields {
            failure = failure.detail(format!("{}  {}  {}", field.pointer, field.code, field.message));
        }
        failure
    }
}

/// An error and all its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        // Many wrappers repeat their cause's text; it is printed once.
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = inner.source();
    }
    text
}
