//! Limits the bytes of responses that their readers have not taken yet.
//!
//! A response is in memory until it is sent. A client that opens many connections, asks for long lists and reads none of them
//! would fill it. Small responses cost nothing here: the number of connections bounds them.

use std::net::IpAddr;

use axum::response::Response;
use hyper::body::Body as _;
use railgate::ids::Ulid;
use railgate::{Error, ErrorCode, Result};

use super::limit::network;
use super::response::Kept;
use crate::shares::{InHand, Share, Shares};

/// Responses up to this size, in bytes, are not counted.
const SMALL: usize = 16 * 1024;
/// Of the room that is free, one reader may have this part.
const PART: usize = 8;

/// The responses that are not sent yet.
pub(super) struct Unsent {
    /// The room for responses to clients, and for those to callers without a credential.
    clients: (Shares<Reader>, usize),
    strangers: (Shares<Reader>, usize),
}

/// Who is to read a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reader {
    Client(Ulid),
    Address(IpAddr),
}

/// Room that a response occupies until it is dropped.
pub(super) type Room = Share<Reader>;

impl Reader {
    pub(super) fn of(client: Option<Ulid>, peer: IpAddr) -> Self {
        client.map_or_else(|| Self::Address(network(peer)), Self::Client)
    }
}

impl Unsent {
    /// Responses may occupy `room` bytes, and those to callers without a credential an eighth of that besides.
    pub(super) fn new(room: usize) -> Self {
        Self { clients: (Shares::default(), room), strangers: (Shares::default(), room / 8) }
    }

    fn pool(&self, reader: Reader) -> &(Shares<Reader>, usize) {
        match reader {
            Reader::Client(_) => &self.clients,
            Reader::Address(_) => &self.strangers,
        }
    }

    /// Reserves the room that a response occupies. `done`: the call has taken effect, so its response is not refused, whatever
    /// else is unread.
    ///
    /// # Errors
    /// `rate_limited` when this reader leaves too much unread, `store_unavailable` when others do.
    pub(super) fn reserve(&self, reader: Reader, response: &Response, done: bool) -> Result<Option<Room>> {
        // A stream has no size, and produces what it sends as its reader takes it.
        let body = response.body();
        let size = body.size_hint().exact().and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        if size <= SMALL || response.extensions().get::<Kept>().is_some() {
            return Ok(None);
        }
        let (taken, most) = self.pool(reader);
        let room = taken.take(reader, size, |in_hand| done || in_hand.leaves_enough(size, *most, PART));
        room.map(Some).map_err(refusal)
    }

    /// Refuses a call that takes effect, and whose response may be long, while its reader leaves too much unread.
    ///
    /// # Errors
    /// `rate_limited`.
    pub(super) fn check(&self, reader: Reader) -> Result<()> {
        let (taken, most) = self.pool(reader);
        let in_hand = taken.in_hand(reader);
        if in_hand.own == 0 || in_hand.leaves_enough(0, *most, PART) { Ok(()) } else { Err(refusal(in_hand)) }
    }
}

fn refusal(in_hand: InHand) -> Error {
    if in_hand.own > 0 {
        Error::with(ErrorCode::RateLimited, "too many bytes of earlier responses were not read yet; read them, or close their connections")
    } else {
        Error::with(ErrorCode::StoreUnavailable, "too many responses wait for their readers; nothing was done, try again")
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    const READER: Reader = Reader::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn body(size: usize) -> Response {
        Response::new(Body::from(vec![b'x'; size]))
    }

    #[test]
    fn small_responses_and_streams_cost_nothing_and_long_ones_their_size() {
        let unsent = Unsent::new(64 * 1024 * 1024);
        assert!(unsent.reserve(READER, &body(SMALL), false).unwrap().is_none());
        let stream = Response::new(Body::from_stream(tokio_stream::iter([Ok::<_, std::io::Error>("x")])));
        assert!(unsent.reserve(READER, &stream, false).unwrap().is_none());
        let room = unsent.reserve(READER, &body(SMALL + 1), false).unwrap();
        assert_eq!(unsent.pool(READER).0.in_hand(READER).own, SMALL + 1);
        drop(room);
        assert_eq!(unsent.pool(READER).0.in_hand(READER).own, 0);
        let mut kept = body(SMALL + 1);
        kept.extensions_mut().insert(Kept);
        assert!(unsent.reserve(READER, &kept, false).unwrap().is_none());
    }

    #[test]
    fn who_reads_nothing_is_refused_and_others_are_not() {
        let unsent = Unsent::new(8 * 1024 * 1024);
        let client = |n: u8| Reader::Client(Ulid::parse(&format!("01KAJX3M7Q5W8ZP9D2R4T6V8Y{n}")).unwrap());
        let mut unread = Vec::new();
        let refused = loop {
            match unsent.reserve(client(1), &body(100_000), false) {
                Ok(room) => unread.push(room),
                Err(error) => break error,
            }
        };
        assert_eq!((unread.len(), refused.code), (9, ErrorCode::RateLimited));
        assert!(unsent.check(client(1)).is_ok(), "there is room for a little more");
        // What has been done is answered.
        unread.push(unsent.reserve(client(1), &body(200_000), true).unwrap());
        assert_eq!(unsent.check(client(1)).unwrap_err().code, ErrorCode::RateLimited);
        assert!(unsent.check(client(2)).is_ok());
        unread.push(unsent.reserve(client(2), &body(200_000), false).unwrap());
        let most = unsent.reserve(client(3), &body(2_000_000), false);
        assert_eq!(most.err().unwrap().code, ErrorCode::StoreUnavailable);
        // Strangers have room of their own.
        unread.push(unsent.reserve(READER, &body(100_000), false).unwrap());
        assert_eq!(unsent.reserve(READER, &body(100_000), false).err().unwrap().code, ErrorCode::RateLimited);
    }
}
