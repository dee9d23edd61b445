//! The bodies of requests: how large they may be, how many bytes of them are in memory at a time, and what happens to those that
//! nobody reads.
//!
//! A body is read only once the head is known to be good, into memory that was set aside for it before. A sender may hold as much
//! as is left for others, and no more than its share: the more there are, the less each gets. A quarter of the memory is kept for
//! small bodies, which are what most calls have.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::Body as _;
use hyper::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use railgate::api::Caller;
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::{Error, ErrorCode};
use tokio::time::timeout;

/// The largest body of a call, in bytes.
pub(crate) const BODY: usize = 64 * 1024;
/// The largest body of a batch, in bytes.
pub(crate) const BATCH: usize = 1024 * 1024;
/// The largest body of what a device measured, in bytes.
pub(crate) const MEASURED: usize = 256 * 1024;
/// The largest body of an enrolment, in bytes: a key and a name. Anybody may send it.
pub(crate) const ENROLMENT: usize = 8 * 1024;
/// The largest body of a device's enrolment, in bytes: a key, a code and certificates. Anybody may send it.
pub(crate) const ATTESTED: usize = 64 * 1024;
/// The largest body of a request for a challenge, in bytes. Anybody may send it.
pub(crate) const CHALLENGE: usize = 4 * 1024;

/// A body of at most this many bytes is small.
const SMALL: usize = 16 * 1024;

/// How many bytes of a body that is not read are received and thrown away, and for how long: a sender that is cut off while it
/// still sends does not get to see the response.
const DISCARDED: usize = 16 * 1024 * 1024;
const DISCARDED_FOR: Duration = Duration::from_secs(5);

/// Whose body it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    /// A live client that has signed the head.
    Live(ClientNo),
    /// A sandbox client that has signed the head.
    Sandbox(ClientNo),
    /// Somebody at this address, not known yet.
    Stranger(IpAddr),
}

impl Sender {
    /// A client that has signed the head.
    pub(crate) fn client(caller: &Caller) -> Self {
        match caller.mode {
            Mode::Live => Self::Live(caller.party()),
            Mode::Sandbox => Self::Sandbox(caller.party()),
        }
    }

    /// The index of its pool in [`Books::used`], the pool's bytes, and the most that one sender gets of them.
    fn pool(self) -> (usize, usize, usize) {
        match self {
            Self::Live(_) => (0, 32 << 20, 8 << 20),
            Self::Sandbox(_) => (1, 24 << 20, 8 << 20),
            Self::Stranger(_) => (2, 8 << 20, 1 << 20),
        }
    }
}

/// The memory for bodies, 64 MiB for the process. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct BodyMemory(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    used: [usize; 3],
    held: HashMap<Sender, usize>,
}

/// Memory that is set aside for a body, until this is dropped.
pub(crate) struct Held {
    memory: BodyMemory,
    sender: Sender,
    bytes: usize,
}

impl BodyMemory {
    /// Sets memory aside for the body that these headers announce: its length, or `most` where none is declared. `None` where there
    /// is no body.
    ///
    /// # Errors
    /// `store_unavailable` when the sender holds too much already, or all together do.
    pub(crate) fn hold(&self, sender: Sender, headers: &HeaderMap, most: usize) -> Result<Option<Held>, Error> {
        let bytes = match length(headers) {
            Length::None => return Ok(None),
            Length::Declared(bytes) => usize::try_from(bytes).unwrap_or(most).min(most),
            Length::Open => most,
        };
        self.take(sender, bytes).map(Some)
    }

    fn take(&self, sender: Sender, bytes: usize) -> Result<Held, Error> {
        let (pool, size, share) = sender.pool();
        let mut books = self.lock();
        let left = (size - books.used[pool]).checked_sub(bytes).filter(|left| bytes <= SMALL || *left >= size / 4);
        let held = books.held.get(&sender).copied().unwrap_or(0) + bytes;
        if held > left.map_or(0, |left| left.min(share)) {
            let detail = if held > share { "from this sender " } else { "" };
            let detail = format!("too many request bodies {detail}are being received at once; nothing was done, try again");
            return Err(Error::with(ErrorCode::StoreUnavailable, detail));
        }
        books.held.insert(sender, held);
        books.used[pool] += bytes;
        Ok(Held { memory: self.clone(), sender, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut books = self.memory.lock();
        books.used[self.sender.pool().0] -= self.bytes;
        if let Entry::Occupied(mut held) = books.held.entry(self.sender) {
            *held.get_mut() -= self.bytes;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

/// The length of a body, as its head announces it.
enum Length {
    None,
    Declared(u64),
    Open,
}

fn length(headers: &HeaderMap) -> Length {
    if headers.contains_key(TRANSFER_ENCODING) {
        return Length::Open;
    }
    let declared = headers.get(CONTENT_LENGTH).map(|length| length.to_str().ok().and_then(|length| length.parse().ok()));
    match declared {
        // Without a connection in between, as in a test, the body itself knows its length; it is checked when it is read.
        None | Some(Some(0)) => Length::None,
        Some(Some(bytes)) => Length::Declared(bytes),
        Some(None) => Length::Open,
    }
}

/// Whether the head announces a body.
pub(crate) fn is_announced(headers: &HeaderMap) -> bool {
    !matches!(length(headers), Length::None)
}

/// Whether the head declares a body, and not perhaps an empty one.
pub(crate) fn is_declared(headers: &HeaderMap) -> bool {
    matches!(length(headers), Length::Declared(_))
}

/// Refuses a body that is declared to be larger than `most`.
///
/// # Errors
/// `body_too_large`.
pub(crate) fn check_length(headers: &HeaderMap, most: usize) -> Result<(), Error> {
    match length(headers) {
        Length::Declared(bytes) if bytes > most as u64 => Err(too_large(most)),
        Length::Declared(_) | Length::None | Length::Open => Ok(()),
    }
}

fn too_large(most: usize) -> Error {
    Error::with(ErrorCode::BodyTooLarge, format!("the body may have at most {most} bytes"))
}

/// Reads a whole body of at most `most` bytes.
///
/// # Errors
/// `body_too_large`; `malformed_request` when it breaks off or does not arrive in time.
pub(crate) async fn read(mut body: Body, most: usize, patience: Duration) -> Result<Bytes, Error> {
    match timeout(patience, gather(&mut body, most)).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => {
            throw_away(body);
            Err(too_large(most))
        }
        Ok(Err(_)) => Err(Error::with(ErrorCode::MalformedRequest, "the body ended early or is not framed as HTTP requires")),
        Err(_) => Err(Error::with(ErrorCode::MalformedRequest, "the body did not arrive in time")),
    }
}

/// The body's bytes; `None` when there are too many.
async fn gather(body: &mut Body, most: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut first = Bytes::new();
    let mut more: Vec<u8> = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        if length > most {
            return Ok(None);
        }
        if first.is_empty() && more.is_empty() {
            first = data;
        } else {
            if more.is_empty() {
                more.reserve(length.max(8 * 1024));
                more.extend_from_slice(&first);
            }
            more.extend_from_slice(&data);
        }
    }
    Ok(Some(if more.is_empty() { first } else { more.into() }))
}

/// Throws away the body of a request that was refused by its head, while the response is on its way.
pub(crate) fn discard(body: Body, headers: &HeaderMap) {
    // With `Expect: 100-continue` the sender has not sent the body yet, and must not be asked for it.
    if !headers.contains_key(EXPECT) {
        throw_away(body);
    }
}

fn throw_away(mut body: Body) {
    if body.is_end_stream() {
        return;
    }
    let all = async move {
        let mut left = DISCARDED;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    };
    tokio::spawn(timeout(DISCARDED_FOR, all));
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn sandbox(n: u32) -> Sender {
        Sender::Sandbox(ClientNo(n))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_bound() {
        let read = async |bytes: usize| {
            let body = read(Body::from(vec![b'x'; bytes]), 10, Duration::from_secs(1)).await;
            body.map(|body| body.len()).map_err(|error| error.code)
        };
        assert_eq!(read(0).await, Ok(0));
        assert_eq!(read(10).await, Ok(10));
        assert_eq!(read(11).await, Err(ErrorCode::BodyTooLarge));
    }

    #[test]
    fn a_sender_has_a_share_and_gets_it_back() {
        let memory = BodyMemory::default();
        let mut held: Vec<_> = (0..8).map(|_| memory.take(sandbox(1), BATCH).ok().unwrap()).collect();
        assert!(memory.take(sandbox(1), 1).is_err(), "its share is used up");
        assert!(memory.take(sandbox(2), BATCH).is_ok() && memory.take(Sender::Live(ClientNo(1)), BATCH).is_ok());
        held.pop();
        assert!(memory.take(sandbox(1), BATCH).is_ok());
        held.clear();
        assert!(memory.lock().held.is_empty() && memory.lock().used == [0; 3]);
    }

    #[test]
    fn a_stranger_has_a_mebibyte_for_each_address_and_all_have_eight() {
        let memory = BodyMemory::default();
        let take = |n: u16| memory.take(Sender::Stranger(IpAddr::from([192, 0, (n >> 8) as u8, n as u8])), ENROLMENT);
        let mut held = Vec::new();
        while let Ok(more) = take(1) {
            held.push(more);
        }
        assert_eq!(held.len(), (1 << 20) / ENROLMENT);
        held.extend(take(2).ok().map(|more| vec![more]).unwrap());
        for n in 3..2_000 {
            held.extend(take(n).ok());
        }
        assert!(memory.lock().used[2] <= 8 << 20, "{}", memory.lock().used[2]);
        assert!(memory.take(sandbox(1), BATCH).is_ok() && memory.take(Sender::Live(ClientNo(1)), BATCH).is_ok());
    }

    #[test]
    fn however_many_take_what_they_can_the_next_one_finds_room() {
        let memory = BodyMemory::default();
        let mut held = Vec::new();
        for n in 0..200 {
            while let Ok(more) = memory.take(sandbox(n), BODY) {
                held.push(more);
            }
        }
        assert!(memory.lock().used[1] <= 18 << 20);
        for n in 200..300 {
            held.push(memory.take(sandbox(n), SMALL).ok().unwrap());
        }
        assert!(memory.take(Sender::Live(ClientNo(1)), BATCH).is_ok(), "live clients have memory of their own");
        let stranger = Sender::Stranger(IpAddr::from([192, 0, 2, 1]));
        assert!(memory.take(stranger, ENROLMENT).is_ok(), "and so have strangers");
    }

    #[test]
    fn memory_is_set_aside_for_what_the_head_announces() {
        let memory = BodyMemory::default();
        let bytes = |name: HeaderName, value: &'static str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            memory.hold(sandbox(1), &headers, BODY).ok().unwrap().map(|held| held.bytes)
        };
        assert_eq!(bytes(CONTENT_LENGTH, "300"), Some(300));
        assert_eq!(bytes(CONTENT_LENGTH, "0"), None);
        assert_eq!(bytes(TRANSFER_ENCODING, "chunked"), Some(BODY));
    }
}
