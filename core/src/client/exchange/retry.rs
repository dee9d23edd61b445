//! How long and how often a call is tried.

/// How long and how often a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// At most so many tries, the first among them. What is fetched for a try counts as a try where that fails.
    pub tries: u32,
    /// How long an answer may take, in milliseconds.
    pub timeout_ms: u64,
    /// The first pause, which doubles, in milliseconds.
    pub pause_ms: u64,
    /// The longest pause, in milliseconds. Where the gateway asks for more, the caller is told at once.
    pub longest_pause_ms: u64,
    /// A gateway that cannot be connected to at the first try is tried again, too.
    pub unconnected: bool,
}

impl RetryPolicy {
    /// The pause after the `failures`-th failure in a row: between half and the whole of a time that doubles.
    pub(super) fn backoff_ms(&self, failures: u32, random: [u8; 16]) -> u64 {
        let doubled = self.pause_ms.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let whole = doubled.min(self.longest_pause_ms).min(u64::from(u32::MAX));
        let (half, share) = (whole / 2, u64::from(u16::from_be_bytes([random[0], random[1]])));
        half + (whole - half) * share / u64::from(u16::MAX)
    }
}
