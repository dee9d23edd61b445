//! Money that enters and leaves the gateway: play money for the sandbox, real money by its operator.

mod movement;
mod position;
mod statement;

use crate::api::{BalanceView, Caller};
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch, SHARED, Writer, account};
use crate::engine::{Answers, Engine};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::{AccountId, Mode, Owner, SUM_MAX, Totals, Transfer, TransferCode, TransferKind};
use crate::money::Currency;
use crate::money::Money;
use crate::store::record::{AccountRecord, AllowanceRecord, AuditAction, Key};
use crate::store::{Write, typed};
use crate::time::Millis;

pub use movement::{MoveMoney, Moved};
pub(crate) use movement::{deed, made_before, make};
pub use statement::StatementRequest;

/// Adds play money to a client's sandbox account.
#[derive(Debug, Clone)]
pub struct Fund {
    /// The client to credit.
    pub caller: Caller,
    /// The amount, which must be positive.
    pub money: Money,
}

impl Command for Fund {
    /// What the account holds afterwards.
    type Output = Totals;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Totals> {
        let Self { caller, money } = self;
        if money.minor() <= 0 {
            return Err(Error::field("/amount", "amount_not_positive", "the amount must be more than zero"));
        }
        let now = d.engine.time_of(d.overlay, (caller.client, Mode::Sandbox))?;
        let account = AccountId::new(Owner::Client(caller.client), Mode::Sandbox, money.currency());
        let mut totals = d.overlay.totals(account)?;
        let unused = totals == Totals::default();
        let opens = unused && d.engine.draw_allowance(d.overlay, d.writer, caller.client)?;
        if SHARED && unused && !opens {
            // Another node may have opened the account between the two reads.
            totals = d.overlay.totals_anew(account)?;
        }
        let opening = if opens { d.engine.opening_balance(money.currency()) } else { 0 };
        let minor = |units: i64| units.saturating_mul(10_i64.pow(u32::from(money.currency().minor_units())));
        let most = d.engine.config.play_money_max.map_or(SUM_MAX, |units| minor(units).min(SUM_MAX));
        let credited = (totals.credits_posted + opening).checked_add(money.minor());
        let Some(credits_posted) = credited.filter(|credited| *credited <= most) else {
            let most = Money::from_minor(most, money.currency());
            let detail = format!("an account of the sandbox is credited with at most {} {} in all", most.decimal(), most.currency());
            return Err(Error::with(ErrorCode::AmountAboveMaximum, detail));
        };
        d.overlay.post(funding(d.writer.journal(), 1, caller.client, *money, now));
        Ok(Totals { credits_posted, ..totals })
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([account(Owner::Client(self.caller.client), Mode::Sandbox, self.money.currency())]);
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn deed(&self, _: Option<&Totals>) -> Option<Deed> {
        Some(Deed::new(AuditAction::Fund).name(self.money.currency().code()))
    }
}

impl Answers for Fund {
    type View = BalanceView;

    fn view(&self, d: &Decision<'_, '_>, totals: &Totals) -> Result<BalanceView> {
        d.engine.balance_view(AccountId::new(Owner::Client(self.caller.client), Mode::Sandbox, self.money.currency()), totals)
    }
}

impl Engine {
    /// What a client's account holds, or will be opened with; `None` of a client that never held the currency.
    pub(crate) fn held(&self, account: AccountId) -> Result<Option<Totals>> {
        let read = || Ok(typed::<AccountRecord>(self.store.get(&Key::Account(account))?)?.map(|it| it.totals));
        if let Some(totals) = read()? {
            return Ok(Some(totals));
        }
        let Owner::Client(client) = account.owner() else { return Ok(None) };
        match self.opening(client, account.mode())? {
            Some(opening) => Ok(opening.into_iter().find(|(id, _)| *id == account).map(|(_, totals)| totals)),
            // Its accounts may have been opened between the two reads.
            None if SHARED => read(),
            None => Ok(None),
        }
    }

    /// The accounts that a client gets with the first use of its money; `None` if it has used it, and in live mode.
    pub(crate) fn opening(&self, client: ClientNo, mode: Mode) -> Result<Option<Vec<(AccountId, Totals)>>> {
        if !mode.is_sandbox() || !self.has_allowance(client)? {
            return Ok(None);
        }
        let account = |money: &Money| AccountId::new(Owner::Client(client), mode, money.currency());
        let totals = |money: &Money| Totals { credits_posted: money.minor(), ..Totals::default() };
        Ok(Some(self.config.sandbox_funding.iter().map(|money| (account(money), totals(money))).collect()))
    }

    /// What a new sandbox client has in this currency, in minor units.
    pub(crate) fn opening_balance(&self, currency: Currency) -> i64 {
        self.config.sandbox_funding.iter().filter(|money| money.currency() == currency).map(|money| money.minor()).sum()
    }

    /// Whether the client has not used its money yet.
    fn has_allowance(&self, client: ClientNo) -> Result<bool> {
        let found: Option<AllowanceRecord> = typed(self.store.get(&Key::Allowance(client))?)?;
        Ok(found.is_some_and(|allowance| !allowance.is_leaving()))
    }

    /// Credits the opening balances of a client that has not used its money yet, all in one journal. Only one commit can, because it
    /// removes the allowance, and none of a client that is about to be removed. Returns whether there was one.
    pub(crate) fn draw_allowance(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, client: ClientNo) -> Result<bool> {
        let key = Key::Allowance(client);
        let found: Option<AllowanceRecord> = overlay.get(&key)?;
        let Some(allowance) = found.filter(|allowance| !allowance.is_leaving()) else { return Ok(false) };
        // A deletion alone does not require that the record is as it was read.
        overlay.write(allowance.changed(allowance.since));
        overlay.write(Write::Delete(key));
        let (journal, now) = (writer.journal(), self.time_of(overlay, (client, Mode::Sandbox))?);
        for (n, money) in (1..).zip(&self.config.sandbox_funding) {
            overlay.post(funding(journal, n, client, *money, now));
        }
        Ok(true)
    }
}

impl AllowanceRecord {
    /// Whether the client is about to be removed.
    pub(crate) fn is_leaving(&self) -> bool {
        self.since < 0
    }

    /// The write that changes it, if it still is as it was read.
    pub(crate) fn changed(&self, since: Millis) -> Write {
        let record = Self { version: self.version + 1, since, ..self.clone() };
        Write::Update { record: record.into(), expected: self.version }
    }
}

pub(crate) fn funding(journal: SettlementNo, n: u16, client: ClientNo, money: Money, at: Millis) -> Transfer {
    let account = |owner| AccountId::new(owner, Mode::Sandbox, money.currency());
    Transfer {
        journal,
        n,
        kind: TransferKind::Single,
        code: TransferCode::Funding,
        debit: account(Owner::Funding),
        credit: account(Owner::Client(client)),
        amount: money.minor(),
        resolves: 0,
        at,
    }
}
