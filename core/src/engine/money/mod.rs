//! Play money for the sandbox.

use crate::api::Caller;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Prefetch, account, overflow};
use crate::error::{Error, Result};
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use crate::money::Money;
use crate::store::record::AuditAction;
use crate::time::Millis;

/// Adds play money to a client's sandbox account.
#[derive(Debug, Clone)]
pub struct Fund {
    /// The client to credit.
    pub caller: Caller,
    /// The amount, which must be positive.
    pub money: Money,
}

impl Command for Fund {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let Self { caller, money } = self;
        if money.minor() <= 0 {
            return Err(Error::field("/amount", "amount_not_positive", "the amount must be more than zero"));
        }
        let account = AccountId::new(Owner::Client(caller.client), Mode::Sandbox, money.currency());
        let ledger = d.overlay.totals(account)?.ledger().and_then(|l| l.checked_add(money.minor()));
        ledger.filter(|l| *l < i64::MAX / 4).ok_or_else(overflow)?;
        d.overlay.post(funding(d.writer.journal(), caller.client, *money, d.overlay.now));
        Ok(())
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([account(Owner::Client(self.caller.client), Mode::Sandbox, self.money.currency())]);
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::Fund).name(self.money.currency().code()))
    }
}

pub(crate) fn funding(journal: SettlementNo, client: ClientNo, money: Money, at: Millis) -> Transfer {
    let account = |owner| AccountId::new(owner, Mode::Sandbox, money.currency());
    Transfer {
        journal,
        n: 1,
        kind: TransferKind::Single,
        code: TransferCode::Funding,
        debit: account(Owner::Funding),
        credit: account(Owner::Client(client)),
        amount: money.minor(),
        resolves: 0,
        at,
    }
}
