//! Callbacks: what operators report on their own initiative.
//!
//! Anybody can send one. It counts if the rail authenticates it, or if it arrives at an address that the gateway gave the operator for
//! this one attempt or reversal, and that nobody else can guess.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::api::{Action, RailCall, Subject};
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::Ulid;
use crate::rail::{CALLBACK_SOURCES, CallbackError, Inbound, RailAnswer};
use crate::route::ProviderSpec;
use crate::store::record::{AttemptRecord, Key, ReversalRecord, SettlementRecord};
use crate::store::typed;
use crate::trace::settlement_ulid;
use crate::webhook::Cidr;

/// Between what an address is about and what proves that it was handed out.
const SEPARATOR: char = '.';
/// How much of the tag is in an address, in bytes.
const TAG_BYTES: usize = 16;

/// A callback that is authentic and about a call of this gateway.
#[derive(Debug, Clone)]
pub struct Reported {
    /// The attempt or reversal concerned.
    pub subject: Subject,
    /// What the operator says about it.
    pub answer: RailAnswer,
    /// The HTTP status that tells the operator that it was taken note of.
    pub status: u16,
}

/// Whether a callback comes from where the provider's settings say.
fn comes_from(spec: &ProviderSpec, inbound: &Inbound<'_>) -> bool {
    let Some(ranges) = spec.settings.get(CALLBACK_SOURCES) else { return true };
    let mut ranges = ranges.split(',').filter_map(|range| Cidr::parse(range.trim()).ok());
    inbound.source.is_some_and(|source| ranges.any(|range| range.contains(source) || range.contains(source.to_canonical())))
}

impl Engine {
    /// Says where operators reach the gateway: `base` is the address below which the routes of callbacks are, without a slash at its
    /// end. Only the first time counts.
    pub fn reached_at(&self, base: String) {
        let _ = self.callback_base.set(base);
    }

    /// Where the operator may report what becomes of the call's subject.
    pub(super) fn callback_url(&self, spec: &ProviderSpec, call: &RailCall) -> Option<String> {
        let (base, key) = (self.callback_base.get()?, &call.rail_key);
        Some(format!("{base}/{}/callbacks/{key}{SEPARATOR}{}", spec.id, self.callback_tag(&spec.id, key)))
    }

    fn callback_tag(&self, provider: &str, rail_key: &str) -> String {
        // HMAC takes keys of any length.
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.id_key.0) else { return String::new() };
        let mac = mac.chain_update(b"railgate-callback-v1\0").chain_update(provider).chain_update(b"\0").chain_update(rail_key);
        let tag = mac.finalize().into_bytes();
        base16ct::lower::encode_string(&tag[..TAG_BYTES])
    }

    /// The key that an address is about; `None` if the gateway did not hand it out.
    fn opened<'p>(&self, provider: &str, place: &'p str) -> Option<&'p str> {
        let (key, tag) = place.split_once(SEPARATOR)?;
        bool::from(self.callback_tag(provider, key).as_bytes().ct_eq(tag.as_bytes())).then_some(key)
    }

    /// What a callback of the provider `id` says. `place` is the last part of the address at which it arrived, if that is not the
    /// provider's common one. `None` if this gateway made no such attempt or reversal at that provider. Run
    /// [`ReportAnswer`](super::ReportAnswer) with it.
    ///
    /// # Errors
    /// `store_unavailable`; within: why the callback is rejected.
    pub fn read_callback(&self, id: &str, place: Option<&str>, inbound: Inbound<'_>) -> Result<Result<Option<Reported>, CallbackError>> {
        let routes = self.routes();
        let Some((no, spec)) = routes.providers().find(|(_, spec)| spec.id == id) else { return Ok(Err(CallbackError::Unsupported)) };
        let rail = self.rail(no)?;
        if !comes_from(spec, &inbound) {
            return Ok(Err(CallbackError::Unauthenticated));
        }
        let rail_key = place.map(|place| self.opened(id, place));
        if rail_key == Some(None) {
            return Ok(Err(CallbackError::Unauthenticated));
        }
        let inbound = Inbound { rail_key: rail_key.flatten(), ..inbound };
        let key = match rail.callback_key(&inbound, spec) {
            Ok(key) => key,
            Err(error) => return Ok(Err(error)),
        };
        let Some(call) = self.call_with(&key)?.filter(|call| call.provider == no || mutated!(ForeignCallback)) else { return Ok(Ok(None)) };
        let answer = rail.decode_callback(&call, &inbound);
        Ok(answer.map(|answer| Some(Reported { subject: call.subject, answer, status: rail.callback_status() })))
    }

    /// The inquiry about the attempt or reversal with this key at its rail; `None` if this gateway made no such one.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn call_with(&self, rail_key: &str) -> Result<Option<RailCall>> {
        let Some((ulid, which)) = rail_key.split_once('-') else { return Ok(None) };
        let Some(ulid) = Ulid::parse(ulid) else { return Ok(None) };
        let no = self.id_key.open(ulid);
        let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(no))?)?;
        let Some(record) = record.filter(|record| settlement_ulid(&self.id_key, record) == ulid) else { return Ok(None) };
        let call = match which.strip_prefix('R') {
            Some(n) => {
                let Ok(n) = n.parse() else { return Ok(None) };
                let reversal: Option<ReversalRecord> = typed(self.store.get(&Key::Reversal((no, n)))?)?;
                reversal.and_then(|reversal| self.reversal_call(&record, &reversal, Action::InquireReversal, 0).ok())
            }
            None => {
                let Ok(n) = which.parse() else { return Ok(None) };
                let attempt: Option<AttemptRecord> = typed(self.store.get(&Key::Attempt((no, n)))?)?;
                attempt.and_then(|attempt| self.attempt_call(&record, &attempt, Action::Inquire, 0).ok())
            }
        };
        // Another way to write the same number is not its key.
        Ok(call.filter(|call| call.rail_key == rail_key))
    }
}
