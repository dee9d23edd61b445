//! What a connection's bytes tell about it: when a request has arrived, and when its response is sent.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as Frames, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connections::Link;

/// The body of a request; reports its end, or that nobody reads it any more.
pub(super) struct Arriving {
    body: Incoming,
    link: Arc<Link>,
    request: u64,
    arrived: bool,
}

impl Arriving {
    /// The body of a request whose head has just arrived.
    pub(super) fn body(body: Incoming, link: &Arc<Link>) -> Body {
        let request = link.request();
        if body.is_end_stream() {
            link.begin(request);
            return Body::new(body);
        }
        link.hear();
        Body::new(Self { body, link: Arc::clone(link), request, arrived: false })
    }

    fn arrive(&mut self) {
        if !std::mem::replace(&mut self.arrived, true) {
            self.link.begin(self.request);
        }
    }
}

impl Frames for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.arrive();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.arrive();
    }
}

/// The body of a response; reports that all of it has been handed over.
pub(super) struct Leaving {
    body: Body,
    link: Arc<Link>,
}

impl Leaving {
    pub(super) fn new(body: Body, link: Arc<Link>) -> Self {
        Self { body, link }
    }
}

impl Frames for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.link.hand_over();
    }
}

/// A connection's stream; reports when everything that was handed over is sent, and, while a call is held, when the other end closes.
pub(super) struct Wire<S> {
    stream: S,
    link: Arc<Link>,
    /// A byte of the next request, which came while a call was held.
    early: Option<u8>,
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, link: Arc<Link>) -> Self {
        Self { stream, link, early: None }
    }
}

impl<S: AsyncRead + Unpin> Wire<S> {
    /// Nobody reads while a request is answered, so the end of the stream would not be noticed. One byte is enough to notice it.
    fn listen(&mut self, cx: &mut Context<'_>) {
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        if self.early.is_some() {
            return;
        }
        match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.early = Some(byte[0]),
            Poll::Ready(_) => self.link.hang_up(),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0
            && let Some(byte) = self.early.take()
        {
            buffer.put_slice(&[byte]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// The HTTP side flushes whenever it has nothing else to do, and only when all of its own buffers are written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        if flushed.is_ok() {
            self.link.flushed();
        }
        if self.link.is_held() {
            self.listen(cx);
        }
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
