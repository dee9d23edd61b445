//! The rails of the engine's providers: the request for each call, and the meaning of each reply.

use std::sync::Arc;

use crate::api::{Action, PayeeView, RailCall, Subject};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::{ProviderNo, Ulid};
use crate::participant::Participant;
use crate::rail::{Callback, Carried, Rail, RailAnswer, Request};
use crate::route::ProviderSpec;
use crate::route::health::Outcome;
use crate::store::record::{Key, SettlementRecord};
use crate::store::typed;
use crate::time::Millis;
use crate::trace::settlement_ulid;

const fn moves_money(action: Action) -> bool {
    match action {
        Action::Submit | Action::Reverse => true,
        Action::Inquire | Action::InquireReversal => false,
    }
}

/// What the result of a call that moves money says about the provider. To refuse a payment is an answer as good as any.
const fn outcome(carried: &Carried, answer: &RailAnswer) -> Outcome {
    match (carried, answer) {
        (Carried::NotSent | Carried::Lost, _) | (Carried::Answered(_), RailAnswer::Unknown) => Outcome::Failed,
        (
            Carried::Answered(_),
            RailAnswer::Completed { .. }
            | RailAnswer::Accepted { .. }
            | RailAnswer::Declined { .. }
            | RailAnswer::NotSent
            | RailAnswer::Returned { .. },
        ) => Outcome::Answered,
    }
}

impl Engine {
    /// The request for a call. A request that moves money is abandoned at the call's `not_after`, even if the rail's own timeout is
    /// longer: by then an inquiry may prove that it never arrived.
    ///
    /// # Errors
    /// `internal` if the call's provider is no longer configured.
    pub fn request(&self, call: &RailCall) -> Result<Request> {
        let moves_money = moves_money(call.action);
        let left = u64::try_from(call.not_after.saturating_sub(self.now())).unwrap_or(0);
        if moves_money && left == 0 {
            return Ok(Request::TooLate);
        }
        let mut request = self.rail(call.provider)?.encode(call, &*self.provider(call.provider)?);
        if let Request::Http(http) = &mut request
            && moves_money
        {
            http.timeout_ms = http.timeout_ms.min(left);
        }
        Ok(request)
    }

    /// The result of a call that was carried for `took_ms` milliseconds. What it says about the provider is taken note of; call this
    /// once for each call.
    pub fn heard(&self, call: &RailCall, carried: &Carried, took_ms: Millis) -> RailAnswer {
        let answer = self.decode(call, carried);
        if let Some(pulse) = self.routes().pulse(call.provider)
            && moves_money(call.action)
        {
            pulse.hear(outcome(carried, &answer), took_ms);
        }
        answer
    }

    /// An inquiry that could not be sent says nothing about its subject.
    fn decode(&self, call: &RailCall, carried: &Carried) -> RailAnswer {
        match (carried, call.action) {
            (Carried::NotSent, Action::Submit | Action::Reverse) => RailAnswer::NotSent,
            (Carried::NotSent, Action::Inquire | Action::InquireReversal) | (Carried::Lost, _) => RailAnswer::Unknown,
            (Carried::Answered(reply), _) => self.rail(call.provider).map_or(RailAnswer::Unknown, |rail| rail.decode(call, reply)),
        }
    }

    /// The attempt or reversal that a callback is about; `None` if this gateway made no such attempt or reversal at that provider.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn subject_of(&self, provider: ProviderNo, callback: &Callback) -> Result<Option<Subject>> {
        let Some((ulid, which)) = callback.rail_key.split_once('-') else { return Ok(None) };
        let Some(ulid) = Ulid::parse(ulid) else { return Ok(None) };
        let no = self.id_key.open(ulid);
        let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(no))?)?;
        let Some(record) = record.filter(|record| settlement_ulid(&self.id_key, record) == ulid) else { return Ok(None) };
        let reversal = which.strip_prefix('R').and_then(|n| n.parse().ok()).filter(|n| (1..=record.reversals).contains(n));
        let attempt = which.parse().ok().filter(|n| (1..=record.attempts).contains(n));
        let at_provider = match (attempt, reversal) {
            (Some(n), _) => self.attempt_provider(&record, n)? == Some(provider),
            (None, Some(_)) => record.provider == provider,
            (None, None) => false,
        };
        let subject = attempt.map(|n| Subject::Attempt(no, n)).or(reversal.map(|n| Subject::Reversal(no, n)));
        Ok(subject.filter(|_| at_provider))
    }

    fn attempt_provider(&self, record: &SettlementRecord, n: u16) -> Result<Option<ProviderNo>> {
        let attempt: Option<crate::store::record::AttemptRecord> = typed(self.store.get(&Key::Attempt((record.no, n)))?)?;
        Ok(attempt.map(|attempt| attempt.provider))
    }

    /// The payee behind a participant, as far as the provider's rail knows without asking.
    pub(crate) fn payee(&self, provider: ProviderNo, to: &Participant) -> PayeeView {
        self.rail(provider).map_or(PayeeView::UNKNOWN, |rail| rail.payee(to))
    }

    /// Whether the provider's answer "not sent" to `action` is proof.
    pub(crate) fn proves_not_sent(&self, provider: ProviderNo, action: Action) -> bool {
        let rail = self.rail(provider).and_then(|rail| Ok((rail, self.provider(provider)?)));
        // Once the provider's configuration is gone, only submits and reversals count as proof: they were sent while it was there.
        rail.map_or(matches!(action, Action::Submit | Action::Reverse), |(rail, spec)| rail.proves_not_sent(action, &spec))
    }

    /// A provider's id, for people and metrics.
    pub fn provider_name(&self, provider: ProviderNo) -> String {
        self.provider_id(provider)
    }

    pub(crate) fn rail(&self, provider: ProviderNo) -> Result<&dyn Rail> {
        let spec = self.provider(provider)?;
        let rail = self.config.rails.get(&spec.rail).or_else(|| self.between_clients.rail(&spec.rail));
        rail.ok_or_else(|| Error::internal(format!("there is no rail {}", spec.rail)))
    }

    pub(crate) fn provider(&self, provider: ProviderNo) -> Result<Arc<ProviderSpec>> {
        self.routes().provider(provider).cloned().ok_or_else(|| Error::internal(format!("provider {} is not configured", provider.0)))
    }
}
