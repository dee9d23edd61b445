//! What was paid through each provider, as the ledger has it.

use crate::api::PositionView;
use crate::engine::Engine;
use crate::engine::group::overflow;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::Owner;
use crate::money::Money;
use crate::store::record::AccountRecord;
use crate::store::{Scan, typed_all};

impl Engine {
    /// The positions of a provider, one for each currency that was ever paid through it.
    ///
    /// # Errors
    /// `provider_not_found`.
    pub fn positions(&self, provider: &str) -> Result<Vec<PositionView>> {
        let routes = self.routes();
        let found = routes.providers().find(|(_, spec)| spec.id == provider).map(|(no, _)| no);
        self.positions_of(found.ok_or_else(|| Error::new(ErrorCode::ProviderNotFound))?, provider)
    }

    /// The positions of all providers.
    pub fn all_positions(&self) -> Result<Vec<PositionView>> {
        let routes = self.routes();
        let each = routes.providers().map(|(no, spec)| self.positions_of(no, &spec.id));
        Ok(each.collect::<Result<Vec<_>>>()?.concat())
    }

    fn positions_of(&self, no: ProviderNo, provider: &str) -> Result<Vec<PositionView>> {
        let accounts: Vec<AccountRecord> = typed_all(self.store.scan(&Scan::accounts_numbered(no.0.into()))?)?;
        let own = accounts.into_iter().filter(|account| account.id.owner() == Owner::Provider(no));
        own.map(|account| {
            let currency = account.id.currency().ok_or_else(|| Error::internal("an account has no currency"))?;
            let money = |minor: Option<i64>| minor.map(|minor| Money::from_minor(minor, currency).into()).ok_or_else(overflow);
            let pending = account.totals.credits_pending.checked_sub(account.totals.debits_pending);
            Ok(PositionView {
                provider: provider.to_owned(),
                sandbox: account.id.mode().is_sandbox(),
                currency: currency.code().to_owned(),
                posted: money(account.totals.ledger())?,
                pending: money(pending)?,
            })
        })
        .collect()
    }
}
