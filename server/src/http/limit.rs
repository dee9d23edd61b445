//! Rate limits of clients and addresses.
//!
//! Each process counts for itself: with several nodes, each one grants the whole quota. Nothing is stored, and a restart
//! resets the counts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::limit::{Decision, Gcra};
use railgate::time::Millis;

use crate::config::RateLimits;
use crate::gateway::Tenant;

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Per minute and address: failed authentications, and new clients.
const FAILURES: u32 = 60;
const ENROLLMENTS: u32 = 30;

/// All limits, or none.
pub(crate) struct Limits(Option<Box<All>>);

struct All {
    sandbox: Option<Quotas>,
    live: Option<Quotas>,
    failures: Buckets<IpAddr>,
    enrollments: Buckets<IpAddr>,
}

/// The quotas of each client in one mode.
struct Quotas {
    reads: Quota<ClientNo>,
    writes: Quota<ClientNo>,
}

/// A limit that is announced to the client in headers.
struct Quota<K> {
    name: &'static str,
    policy: HeaderValue,
    buckets: Buckets<K>,
}

impl Limits {
    /// Grants each client these quotas, in the sandbox and live; `None` for no quota. Without any, nothing is limited.
    pub(crate) fn new(sandbox: Option<RateLimits>, live: Option<RateLimits>) -> Self {
        let all = || All {
            sandbox: sandbox.map(Quotas::new),
            live: live.map(Quotas::new),
            failures: Buckets::per_minute(FAILURES),
            enrollments: Buckets::per_minute(ENROLLMENTS),
        };
        Self((sandbox.is_some() || live.is_some()).then(|| Box::new(all())))
    }

    /// Counts `cost` uses by an authenticated client. `None`: there is no limit.
    pub(crate) fn client(&self, tenant: Tenant, write: bool, cost: u32, now: Millis) -> Option<Decision> {
        self.quota(tenant.mode, write).map(|quota| quota.buckets.take(tenant.client, cost, now))
    }

    /// What [`Limits::client`] would decide about one use. Counts nothing.
    pub(crate) fn client_has_left(&self, tenant: Tenant, write: bool, now: Millis) -> Option<Decision> {
        self.quota(tenant.mode, write).map(|quota| quota.buckets.look(tenant.client, now))
    }

    /// Counts a failed authentication from this address. `true`: there were too many, and the caller should get 429 instead
    /// of 401. Correct calls are never refused for that, nor is any key or client: anyone can send wrong calls in another's
    /// name.
    pub(crate) fn failure(&self, peer: IpAddr, now: Millis) -> bool {
        self.0.as_ref().is_some_and(|all| !all.failures.take(network(peer), 1, now).allowed)
    }

    /// Whether this address has used up its failures for now. Counts nothing.
    pub(crate) fn has_failed_out(&self, peer: IpAddr, now: Millis) -> bool {
        self.0.as_ref().is_some_and(|all| !all.failures.look(network(peer), now).allowed)
    }

    /// Counts an enrollment from this address.
    ///
    /// # Errors
    /// The number of seconds until the next one is allowed.
    pub(crate) fn enrollment(&self, peer: IpAddr, now: Millis) -> Result<(), u32> {
        let Some(all) = &self.0 else { return Ok(()) };
        let decision = all.enrollments.take(network(peer), 1, now);
        if decision.allowed { Ok(()) } else { Err(decision.retry_after_s) }
    }

    /// Adds the headers for a decision of [`Limits::client`], after draft-ietf-httpapi-ratelimit-headers: the quota, what is
    /// left of it, and the seconds until it is whole again; on a refusal also `Retry-After`.
    pub(crate) fn announce(&self, headers: &mut HeaderMap, mode: Mode, write: bool, decision: Decision) {
        let Some(quota) = self.quota(mode, write) else { return };
        headers.insert(RATELIMIT_POLICY, quota.policy.clone());
        let mut text = String::with_capacity(32);
        let _ = write!(text, "\"{}\";r={};t={}", quota.name, decision.remaining, decision.reset_s);
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(RATELIMIT, value);
        }
        if !decision.allowed {
            headers.insert(RETRY_AFTER, HeaderValue::from(decision.retry_after_s));
        }
    }

    fn quota(&self, mode: Mode, write: bool) -> Option<&Quota<ClientNo>> {
        let all = self.0.as_ref()?;
        let quotas = match mode {
            Mode::Sandbox => all.sandbox.as_ref()?,
            Mode::Live => all.live.as_ref()?,
        };
        Some(if write { &quotas.writes } else { &quotas.reads })
    }
}

impl Quotas {
    fn new(rates: RateLimits) -> Self {
        Self { reads: Quota::new("reads", rates.reads_per_minute), writes: Quota::new("writes", rates.writes_per_minute) }
    }
}

impl<K: Copy + Eq + Hash> Quota<K> {
    fn new(name: &'static str, quota: u32) -> Self {
        let buckets = Buckets::per_minute(quota);
        // A parameter of ours says that each node counts for itself.
        let policy = format!("\"{name}\";q={};w=60;per=\"node\"", buckets.gcra.quota());
        // Letters, digits and quotes only.
        let policy = HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static(""));
        Self { name, policy, buckets }
    }
}

/// A user with one IPv6 address usually has all of its /64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

const SHARDS: usize = 16;
/// The most callers that a shard remembers.
const ROOM: usize = 8_192;
/// Shards with fewer callers are not swept.
const SMALL: usize = 256;
const SWEEP_EVERY_US: i64 = 1_000_000;

/// One limit for each of many callers. A caller with its whole quota is forgotten.
struct Buckets<K> {
    gcra: Gcra,
    hash: RandomState,
    shards: [Mutex<Shard<K>>; SHARDS],
}

struct Shard<K> {
    states: HashMap<K, i64>,
    /// The number of callers that triggers the next sweep.
    sweep_at: usize,
    swept_us: i64,
}

impl<K: Copy + Eq + Hash> Buckets<K> {
    fn per_minute(quota: u32) -> Self {
        let shard = |_| Mutex::new(Shard { states: HashMap::new(), sweep_at: SMALL, swept_us: 0 });
        Self { gcra: Gcra::per_minute(quota), hash: RandomState::new(), shards: std::array::from_fn(shard) }
    }

    /// What would be decided about one use. Counts nothing.
    fn look(&self, caller: K, now: Millis) -> Decision {
        let shard = &self.shards[self.hash.hash_one(caller) as usize % SHARDS];
        let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = shard.states.get(&caller).copied().unwrap_or(0);
        self.gcra.take(&mut state, now.saturating_mul(1_000))
    }

    fn take(&self, caller: K, cost: u32, now: Millis) -> Decision {
        let now_us = now.saturating_mul(1_000);
        let shard = &self.shards[self.hash.hash_one(caller) as usize % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = shard.states.get_mut(&caller) {
            return self.gcra.take_many(state, cost, now_us);
        }
        if shard.states.len() >= shard.sweep_at {
            shard.make_room(&self.gcra, now_us);
        }
        let mut state = 0;
        let decision = self.gcra.take_many(&mut state, cost, now_us);
        shard.states.insert(caller, state);
        decision
    }
}

impl<K: Copy + Eq + Hash> Shard<K> {
    fn make_room(&mut self, gcra: &Gcra, now_us: i64) {
        // Under a flood of callers hardly any can be forgotten, so another sweep soon after would be in vain. A clock that was
        // set back must not stop the sweeps.
        if !(0..SWEEP_EVERY_US).contains(&(now_us - self.swept_us)) {
            self.states.retain(|_, state| !gcra.is_full(*state, now_us));
            self.sweep_at = (2 * self.states.len()).clamp(SMALL, ROOM);
            self.swept_us = now_us;
        }
        if self.states.len() >= ROOM
            && let Some(any) = self.states.keys().next().copied()
        {
            self.states.remove(&any);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_795_257_497_042;

    fn limits(reads: u32, writes: u32) -> Limits {
        let rates = RateLimits { reads_per_minute: reads, writes_per_minute: writes };
        Limits::new(Some(rates), Some(rates))
    }

    fn sandbox(client: u32) -> Tenant {
        Tenant { client: ClientNo(client), mode: Mode::Sandbox }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn each_client_has_its_own_quota_of_reads_and_of_writes() {
        let limits = limits(3, 1);
        let allowed = |client, write, now| limits.client(sandbox(client), write, 1, now).unwrap().allowed;
        assert_eq!([0; 4].map(|_| allowed(1, false, NOW)), [true, true, true, false]);
        assert_eq!([0; 2].map(|_| allowed(1, true, NOW)), [true, false]);
        assert!(allowed(2, false, NOW) && allowed(2, true, NOW));
        assert!(!allowed(1, false, NOW + 19_999) && allowed(1, false, NOW + 20_000));
        let live = Tenant { mode: Mode::Live, ..sandbox(1) };
        assert!(limits.client(live, true, 1, NOW).unwrap().allowed, "live calls have a quota of their own");
    }

    #[test]
    fn what_costs_more_uses_up_more() {
        let limits = limits(10, 600);
        let taken = |cost| limits.client(sandbox(1), true, cost, NOW).unwrap();
        assert_eq!((taken(599).remaining, taken(2).allowed, taken(1).remaining), (1, false, 0));
    }

    #[test]
    fn off_limits_nothing_and_says_nothing() {
        let limits = Limits::new(None, None);
        for _ in 0..10_000 {
            assert_eq!(limits.client(sandbox(1), true, 1, NOW), None);
            assert!(!limits.failure(ip("192.0.2.1"), NOW));
            assert_eq!(limits.enrollment(ip("192.0.2.1"), NOW), Ok(()));
        }
        let mut headers = HeaderMap::new();
        limits.announce(&mut headers, Mode::Sandbox, true, Gcra::per_minute(1).take(&mut 0, 0));
        assert!(headers.is_empty());
    }

    #[test]
    fn answers_carry_the_quota_and_what_is_left_as_structured_fields() {
        let limits = limits(3_000, 1);
        let headers = |write| {
            let mut headers = HeaderMap::new();
            limits.announce(&mut headers, Mode::Sandbox, write, limits.client(sandbox(7), write, 1, NOW).unwrap());
            let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (text("ratelimit-policy").unwrap(), text("ratelimit").unwrap(), text("retry-after"))
        };
        let told = |policy: &str, left: &str, retry: Option<&str>| (policy.to_owned(), left.to_owned(), retry.map(str::to_owned));
        assert_eq!(headers(false), told("\"reads\";q=3000;w=60;per=\"node\"", "\"reads\";r=2999;t=1", None));
        assert_eq!(headers(true), told("\"writes\";q=1;w=60;per=\"node\"", "\"writes\";r=0;t=60", None));
        assert_eq!(headers(true), told("\"writes\";q=1;w=60;per=\"node\"", "\"writes\";r=0;t=60", Some("60")));
    }

    #[test]
    fn failures_are_counted_by_address_and_by_ipv6_network() {
        let limits = limits(1, 1);
        let failed = |peer: &str, times: usize| (0..times).filter(|_| limits.failure(ip(peer), NOW)).count();
        assert!(!limits.has_failed_out(ip("192.0.2.1"), NOW));
        assert_eq!(failed("192.0.2.1", 60), 0);
        assert!(limits.has_failed_out(ip("192.0.2.1"), NOW) && !limits.has_failed_out(ip("192.0.2.2"), NOW));
        assert_eq!(failed("192.0.2.1", 5), 5);
        assert_eq!(failed("::ffff:192.0.2.1", 1), 1, "the same address in another form");
        assert_eq!(failed("192.0.2.2", 1), 0);
        assert_eq!((failed("2001:db8:0:1::1", 30), failed("2001:db8:0:1:ffff::2", 31)), (0, 1));
        assert_eq!(failed("2001:db8:0:2::1", 1), 0);
        assert!(!limits.failure(ip("192.0.2.1"), NOW + 60_000));
    }

    #[test]
    fn enrollments_are_counted_by_address_and_say_when_to_come_back() {
        let limits = limits(1, 1);
        for _ in 0..30 {
            assert_eq!(limits.enrollment(ip("192.0.2.1"), NOW), Ok(()));
        }
        assert_eq!(limits.enrollment(ip("192.0.2.1"), NOW), Err(2));
        assert_eq!(limits.enrollment(ip("192.0.2.1"), NOW + 2_000), Ok(()));
        assert_eq!(limits.enrollment(ip("192.0.2.2"), NOW), Ok(()));
    }

    #[test]
    fn who_has_its_quota_back_is_forgotten_and_a_flood_has_bounds() {
        let buckets = Buckets::per_minute(60);
        let held = || buckets.shards.iter().map(|shard| shard.lock().unwrap().states.len()).sum::<usize>();
        for caller in 0..3_000u32 {
            buckets.take(caller, 1, NOW);
        }
        assert_eq!(held(), 3_000);
        for caller in 0..20_000u32 {
            buckets.take(1_000_000 + caller, 1, NOW + 60_000 + i64::from(caller) * 10);
        }
        assert!(held() < 8_192, "{} are remembered", held());
        for caller in 0..(2 * SHARDS * ROOM) as u32 {
            buckets.take(caller, 1, NOW + 600_000);
        }
        assert!(held() <= SHARDS * ROOM, "{} are remembered", held());
    }
}
