//! The rails of the engine's providers.

use std::sync::Arc;

use crate::api::{Action, PayeeView};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::ProviderNo;
use crate::participant::Participant;
use crate::rail::{Link, Rail};
use crate::route::{Availability, ProviderSpec};

impl Engine {
    /// The payee behind a participant, as far as the provider's rail knows without asking.
    pub(crate) fn payee(&self, provider: ProviderNo, to: &Participant) -> PayeeView {
        self.rail(provider).map_or(PayeeView::UNKNOWN, |rail| rail.payee(to))
    }

    /// Whether the provider's answer "not sent" to `action` is proof.
    pub(crate) fn proves_not_sent(&self, provider: ProviderNo, action: Action) -> bool {
        if mutated!(NotFoundIsProof) {
            return true;
        }
        let rail = self.rail(provider).and_then(|rail| Ok((rail, self.provider(provider)?)));
        // Once the provider's configuration is gone, only submits and reversals count as proof: they were sent while it was there.
        rail.map_or(matches!(action, Action::Submit | Action::Reverse), |(rail, spec)| rail.proves_not_sent(action, &spec))
    }

    /// Whether a provider is inside the gateway: then run [`Receive`](super::Receive) for its calls.
    ///
    /// # Errors
    /// `internal` if it is not configured.
    pub fn is_inside(&self, provider: ProviderNo) -> Result<bool> {
        Ok(self.rail(provider)?.inside().is_some())
    }

    /// The providers that can be asked [how they are](super::Heartbeat), each as it is configured now. Those that are disabled are not
    /// asked.
    pub fn with_heartbeat(&self) -> Vec<(ProviderNo, Arc<ProviderSpec>)> {
        let (routes, now) = (self.routes(), self.now());
        let can_say = |no, provider: &ProviderSpec| {
            let link = Link { provider, token: None, callback_url: None, asked: None, now };
            routes.pulse(no).is_some() && self.rail(no).is_ok_and(|rail| rail.heartbeat(&link).is_some())
        };
        let asked = routes.providers().filter(|(no, spec)| spec.availability != Availability::Disabled && can_say(*no, spec));
        asked.map(|(no, spec)| (no, Arc::clone(spec))).collect()
    }

    /// A provider's id, for people and metrics.
    pub fn provider_name(&self, provider: ProviderNo) -> String {
        self.provider_id(provider).into()
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
