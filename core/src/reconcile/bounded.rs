//! A reader that gives out no more than so many bytes for one token, so that no token takes more memory.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::TOKEN_MAX;

/// How far a [`Bounded`] reader is.
#[derive(Clone, Default)]
pub(super) struct Progress(Rc<State>);

#[derive(Default)]
struct State {
    /// The bytes given out.
    at: Cell<u64>,
    /// Where the current token begins.
    token: Cell<u64>,
}

impl Progress {
    /// The next token begins here.
    pub(super) fn token(&self) {
        self.0.token.set(self.0.at.get());
    }

    /// How many bytes were given out.
    pub(super) fn at(&self) -> u64 {
        self.0.at.get()
    }

    /// How many bytes the current token may still take.
    fn left(&self) -> usize {
        let taken = usize::try_from(self.0.at.get() - self.0.token.get()).unwrap_or(usize::MAX);
        TOKEN_MAX.saturating_sub(taken)
    }
}

/// See the module.
pub(super) struct Bounded<'a> {
    source: &'a mut dyn BufRead,
    progress: Progress,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(source: &'a mut dyn BufRead) -> (Self, Progress) {
        let progress = Progress::default();
        (Self { source, progress: progress.clone() }, progress)
    }
}

impl BufRead for Bounded<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left = self.progress.left();
        let bytes = self.source.fill_buf()?;
        if left == 0 && !bytes.is_empty() {
            return Err(io::Error::other(format!("one element may have at most {TOKEN_MAX} bytes")));
        }
        Ok(&bytes[..bytes.len().min(left)])
    }

    fn consume(&mut self, amount: usize) {
        let at = &self.progress.0.at;
        at.set(at.get() + amount as u64);
        self.source.consume(amount);
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}
