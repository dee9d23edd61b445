//! Ports for servers that restart on the same address.

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Linux uses ports from 32768 on for outgoing connections: while a server is down, one of them could take its
/// port, or even connect to itself.
const RANGE: std::ops::Range<u64> = 20_000..32_000;

/// The next port to try, so that no two callers get the same one.
static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(0)));

/// A port of 127.0.0.1 that is free and is not returned again.
pub fn free() -> u16 {
    let size = RANGE.end - RANGE.start;
    let ports = (0..size).filter_map(|_| u16::try_from(RANGE.start + NEXT.fetch_add(1, Ordering::Relaxed) % size).ok());
    // Binding it as a test could hold it longer than intended: a process started meanwhile would inherit the socket.
    ports.into_iter().find(|port| TcpStream::connect(("127.0.0.1", *port)).is_err()).expect("a free port")
}
