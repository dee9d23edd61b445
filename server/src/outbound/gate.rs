//! A connection on which nothing leaves late.
//!
//! A host can stand still at any moment, for hours: stopped, or suspended with its whole machine. What it was about to send then leaves
//! when it goes on, after others have asked what became of it. Therefore the time is looked at here, where bytes are handed to the
//! system, by a clock that counts the standstill.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use railgate::env::Env;
use railgate::time::Millis;

/// What a connection may send, as its user sets it for each request.
pub(super) struct Pass {
    clock: Arc<dyn Env>,
    /// Of [`Env::steady`].
    leave_by: AtomicI64,
    /// Whether bytes may have left since it was set.
    used: AtomicBool,
    /// Whether bytes were held back since it was set.
    late: AtomicBool,
}

impl Pass {
    pub(super) fn new(clock: Arc<dyn Env>) -> Arc<Self> {
        Arc::new(Self { clock, leave_by: AtomicI64::new(Millis::MAX), used: AtomicBool::new(false), late: AtomicBool::new(false) })
    }

    /// Lets the next request leave until then.
    pub(super) fn set(&self, leave_by: Option<Millis>) {
        self.leave_by.store(leave_by.unwrap_or(Millis::MAX), Ordering::SeqCst);
        self.used.store(false, Ordering::SeqCst);
        self.late.store(false, Ordering::SeqCst);
    }

    pub(super) fn may_have_left(&self) -> bool {
        self.used.load(Ordering::SeqCst)
    }

    pub(super) fn was_late(&self) -> bool {
        self.late.load(Ordering::SeqCst)
    }

    fn check(&self) -> io::Result<()> {
        if self.clock.steady() <= self.leave_by.load(Ordering::SeqCst) && !self.was_late() {
            return Ok(());
        }
        self.late.store(true, Ordering::SeqCst);
        Err(io::Error::new(io::ErrorKind::TimedOut, "it is too late to send"))
    }
}

/// A connection with a pass.
pub(super) struct Gate<S> {
    stream: S,
    pass: Arc<Pass>,
}

impl<S> Gate<S> {
    pub(super) fn new(stream: S, pass: Arc<Pass>) -> Self {
        Self { stream, pass }
    }
}

impl<S: Read + Unpin> Read for Gate<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, into)
    }
}

impl<S: Write + Unpin> Write for Gate<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.pass.check()?;
        this.pass.used.store(true, Ordering::SeqCst);
        Pin::new(&mut this.stream).poll_write(cx, bytes)
    }

    /// What TLS has encrypted but the system did not take yet leaves here.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.pass.may_have_left() {
            this.pass.check()?;
        }
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    /// Shutting TLS down would send what was held back.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.pass.check().is_err() { Poll::Ready(Ok(())) } else { Pin::new(&mut this.stream).poll_shutdown(cx) }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.pass.check()?;
        this.pass.used.store(true, Ordering::SeqCst);
        Pin::new(&mut this.stream).poll_write_vectored(cx, bytes)
    }
}
