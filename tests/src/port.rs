//! Ports for servers that come back where they were.

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system gives ports from 32768 on to outgoing connections (Linux): while a server is down, one of them would take its
/// place, or even be connected to itself.
const RANGE: std::ops::Range<u64> = 20_000..32_000;

/// Where to look next. Nobody is given what somebody else is about to listen on.
static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(0)));

/// A port of 127.0.0.1 where nobody listens, and that nobody is given again.
pub fn free() -> u16 {
    let size = RANGE.end - RANGE.start;
    let ports = (0..size).filter_map(|_| u16::try_from(RANGE.start + NEXT.fetch_add(1, Ordering::Relaxed) % size).ok());
    // Whoever bound it to find out would hold it a little longer than meant: a process that is started meanwhile inherits it.
    ports.into_iter().find(|port| TcpStream::connect(("127.0.0.1", *port)).is_err()).expect("a free port")
}
