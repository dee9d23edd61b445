//! How long and how often a call is tried.

/// How long and how often a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of tries, including the first. A fetch counts as a try only if it fails.
    pub tries: u32,
    /// How long a response may take, in milliseconds.
    pub timeout_ms: u64,
    /// The first pause, in milliseconds. It doubles after each failure.
    pub pause_ms: u64,
    /// The longest pause, in milliseconds. If the gateway asks for a longer one, the call ends at once.
    pub longest_pause_ms: u64,
    /// Whether to retry if the first try cannot connect to the gateway.
    pub unconnected: bool,
}

impl RetryPolicy {
    /// The pause after the `failures`-th failure in a row: a random value between half of a doubling time and all of it.
    pub(super) fn backoff_ms(&self, failures: u32, random: [u8; 16]) -> u64 {
        let doubled = self.pause_ms.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let whole = doubled.min(self.longest_pause_ms).min(u64::from(u32::MAX));
        let (half, share) = (whole / 2, u64::from(u16::from_be_bytes([random[0], random[1]])));
        half + (whole - half) * share / u64::from(u16::MAX)
    }
}
