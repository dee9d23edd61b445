//! What of a client goes with it in one commit, read at the gateway that it leaves.

use zeroize::Zeroizing;

use crate::api::TermsBody;
use crate::engine::Engine;
use crate::engine::access::webhook_place;
use crate::engine::setup::terms_of;
use crate::engine::webhook::{secret_place, used_mark};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, Ulid};
use crate::ledger::{AccountId, Mode};
use crate::money::Money;
use crate::store::record::{AccountRecord, ClientRecord, EndpointRecord, EndpointSecretRecord, Key, KeyRecord, MetaRecord, UsageRecord};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::terms::{UsageId, Used};
use crate::time::Millis;

/// A secret of a webhook, and what it says.
pub(crate) type Opened = (EndpointSecretRecord, Zeroizing<Vec<u8>>);

/// Everything of a client that is small. Secrets are open.
pub(crate) struct Packed {
    pub(crate) client: ClientRecord,
    pub(crate) keys: Vec<KeyRecord>,
    /// Its own webhook secret, if it has one.
    pub(crate) webhook_secret: Option<Zeroizing<Vec<u8>>>,
    /// Whether a webhook got that secret.
    pub(crate) secret_used: bool,
    /// Its webhooks, each with its secrets.
    pub(crate) endpoints: Vec<(EndpointRecord, Vec<Opened>)>,
    /// What is agreed with it.
    pub(crate) terms: Option<TermsBody>,
    /// What it has in the sandbox.
    pub(crate) play_money: Vec<Money>,
    /// What counts for today's limits.
    pub(crate) used: Vec<(UsageId, Used)>,
}

impl Engine {
    /// The client with this id.
    pub(super) fn client_with(&self, id: Ulid) -> Result<ClientRecord> {
        typed(self.store.find(&Unique::ClientId(id))?)?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))
    }

    /// What goes with a client.
    pub(super) fn pack(&self, id: Ulid) -> Result<Packed> {
        let client = self.client_with(id)?;
        let no = client.no;
        let open = |place: String, sealed: &[u8]| self.unseal(&place, sealed);
        let webhook_secret = if client.webhook_secret.is_empty() { None } else { Some(open(webhook_place(no), &client.webhook_secret)?) };
        let used: Option<MetaRecord> = typed(self.store.get(&Key::Meta(used_mark(no)))?)?;
        let keys = typed_all(self.store.scan(&Scan::keys_of(no))?)?;
        let mut endpoints = Vec::new();
        for mode in [Mode::Sandbox, Mode::Live] {
            for endpoint in typed_all::<EndpointRecord>(self.store.scan(&Scan::endpoints_of(no, mode))?)? {
                let secrets: Vec<EndpointSecretRecord> = typed_all(self.store.scan(&Scan::endpoint_secrets(endpoint.no))?)?;
                let opened = secrets.into_iter().map(|secret| {
                    let opened = open(secret_place(endpoint.no, secret.n), &secret.sealed)?;
                    Ok((secret, opened))
                });
                let opened = opened.collect::<Result<_>>()?;
                endpoints.push((endpoint, opened));
            }
        }
        let terms = self.applied_terms(no).map(|it| terms_of(id, &it.terms));
        let play_money = self.accounts(no)?.into_iter().filter_map(|it| {
            let account: AccountId = it.id;
            let available = it.totals.available().filter(|available| *available > 0 && account.mode().is_sandbox())?;
            Some(Money::from_minor(available, account.currency()?))
        });
        let play_money = play_money.collect();
        let used_today = self.used_on(no, self.now())?;
        Ok(Packed { client, keys, webhook_secret, secret_used: used.is_some(), endpoints, terms, play_money, used: used_today })
    }

    /// The client's accounts.
    pub(super) fn accounts(&self, client: ClientNo) -> Result<Vec<AccountRecord>> {
        Ok(typed_all(self.store.scan(&Scan::accounts_of(client))?)?)
    }

    /// What counts for the limits of a client on the day of this time.
    fn used_on(&self, client: ClientNo, at: Millis) -> Result<Vec<(UsageId, Used)>> {
        let terms = self.terms(client);
        let mut used = Vec::new();
        for limits in terms.limits.iter().filter(|limits| limits.counts()) {
            let id = UsageId::new(client, limits.mode, limits.currency, at);
            let found: Option<UsageRecord> = typed(self.store.get(&Key::Usage(id))?)?;
            used.extend(found.filter(|it| it.used != Used::default()).map(|it| (id, it.used)));
        }
        Ok(used)
    }
}
