//! Double-entry book-keeping with two-phase transfers: a pending transfer holds money, a post moves it, a void lets go.
//!
//! An account has four growing-or-shrinking totals, as in TigerBeetle: debits and credits, each pending and posted.
//! Every transfer debits one account and credits another with the same amount, so over all accounts of a currency
//! debits equal credits, pending and posted alike, at every commit. Amounts are minor units, always positive.

use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::lifecycle::stored_enum;
use crate::money::Currency;
use crate::time::Millis;

stored_enum! {
    /// Real money or play money. The two never meet: an account, and so a transfer, belongs to one.
    pub enum Mode {
        /// No real money moves.
        Sandbox = 1 "sandbox",
        /// Real money.
        Live = 2 "live",
    }
}

impl Mode {
    /// Whether it is the sandbox.
    pub const fn is_sandbox(self) -> bool {
        match self {
            Self::Sandbox => true,
            Self::Live => false,
        }
    }
}

/// Whose account it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A client's own money. Available never falls below zero.
    Client(ClientNo),
    /// What was paid out through a provider; no floor.
    Provider(ProviderNo),
    /// Where money enters; no floor.
    Funding,
    /// What the gateway earns; no floor.
    Fees,
}

/// An account's key: owner, mode and currency packed into one number (owner kind, mode, currency, owner).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountId(pub i64);

impl AccountId {
    /// The account of `owner` in `currency` and `mode`.
    pub fn new(owner: Owner, mode: Mode, currency: Currency) -> Self {
        let (kind, number) = match owner {
            Owner::Client(no) => (0, i64::from(no.0)),
            Owner::Provider(no) => (1, i64::from(no.0)),
            Owner::Funding => (2, 0),
            Owner::Fees => (3, 0),
        };
        Self(number << 16 | i64::from(currency.numeric()) << 4 | i64::from(mode.code()) << 2 | kind)
    }

    /// Whose account this is.
    pub fn owner(self) -> Owner {
        let number = self.0 >> 16;
        match self.0 & 3 {
            0 => Owner::Client(ClientNo(number as u32)),
            1 => Owner::Provider(ProviderNo(number as u16)),
            2 => Owner::Funding,
            _ => Owner::Fees,
        }
    }

    /// Its mode.
    pub fn mode(self) -> Mode {
        Mode::from_code((self.0 >> 2 & 3) as u8).unwrap_or(Mode::Sandbox)
    }

    /// Its currency; `None` only for a number that no account has.
    pub fn currency(self) -> Option<Currency> {
        Currency::from_numeric((self.0 >> 4 & 0xfff) as u16)
    }

    /// Whether its available money has a floor of zero.
    pub fn has_floor(self) -> bool {
        match self.owner() {
            Owner::Client(_) => true,
            Owner::Provider(_) | Owner::Funding | Owner::Fees => false,
        }
    }
}

/// The four totals of an account, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Held, not yet gone.
    pub debits_pending: i64,
    /// Gone.
    pub debits_posted: i64,
    /// Announced, not yet here.
    pub credits_pending: i64,
    /// Here.
    pub credits_posted: i64,
}

impl Totals {
    /// What may be spent: posted money less what is held. `None` on overflow.
    pub fn available(&self) -> Option<i64> {
        self.ledger()?.checked_sub(self.debits_pending)
    }

    /// What the books say is here, held or not.
    pub fn ledger(&self) -> Option<i64> {
        self.credits_posted.checked_sub(self.debits_posted)
    }

    /// Adds a change; `None` on overflow.
    pub fn plus(&self, delta: &Totals) -> Option<Totals> {
        Some(Totals {
            debits_pending: self.debits_pending.checked_add(delta.debits_pending)?,
            debits_posted: self.debits_posted.checked_add(delta.debits_posted)?,
            credits_pending: self.credits_pending.checked_add(delta.credits_pending)?,
            credits_posted: self.credits_posted.checked_add(delta.credits_posted)?,
        })
    }
}

stored_enum! {
    /// What a transfer does to the totals.
    pub enum TransferKind {
        /// Holds: both sides pending.
        Pending = 1 "pending",
        /// Moves what an earlier pending transfer held.
        Post = 2 "post",
        /// Lets go of what an earlier pending transfer held.
        Void = 3 "void",
        /// Moves at once, without a hold before.
        Single = 4 "single",
    }
}

stored_enum! {
    /// Why money moves.
    pub enum TransferCode {
        /// Money enters.
        Funding = 1 "funding",
        /// A settlement's amount.
        Payment = 2 "payment",
        /// A settlement's fee.
        Fee = 3 "fee",
        /// A reversal's amount, back to the client.
        Reversal = 4 "reversal",
        /// A bounced payment, back to the client.
        Return = 5 "return",
    }
}

/// One immutable line of the journal. Post and void repeat the accounts and amount of the transfer that they resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The settlement it belongs to; a number without a settlement for funding.
    pub journal: SettlementNo,
    /// Its place within the journal number, from 1.
    pub n: u16,
    /// What it does.
    pub kind: TransferKind,
    /// Why.
    pub code: TransferCode,
    /// The account that gives.
    pub debit: AccountId,
    /// The account that takes.
    pub credit: AccountId,
    /// Minor units, more than zero.
    pub amount: i64,
    /// For post and void: the `n` of the pending transfer; else 0.
    pub resolves: u16,
    /// When.
    pub at: Millis,
}

impl Transfer {
    /// The change of the debited and of the credited account.
    pub fn deltas(&self) -> [(AccountId, Totals); 2] {
        let a = self.amount;
        let (pending, posted) = match self.kind {
            TransferKind::Pending => (a, 0),
            TransferKind::Post => (-a, a),
            TransferKind::Void => (-a, 0),
            TransferKind::Single => (0, a),
        };
        [
            (self.debit, Totals { debits_pending: pending, debits_posted: posted, ..Totals::default() }),
            (self.credit, Totals { credits_pending: pending, credits_posted: posted, ..Totals::default() }),
        ]
    }

    /// The transfer that resolves this pending one, `kind` being post or void.
    pub fn resolve(&self, kind: TransferKind, n: u16, at: Millis) -> Transfer {
        Transfer { n, kind, resolves: self.n, at, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eur() -> Currency {
        Currency::from_code("EUR").unwrap()
    }

    #[test]
    fn an_account_id_tells_what_it_was_made_of() {
        let largest = Owner::Client(ClientNo(u32::MAX));
        for owner in [Owner::Client(ClientNo(1)), largest, Owner::Provider(ProviderNo(u16::MAX)), Owner::Funding, Owner::Fees] {
            for &mode in Mode::ALL {
                for currency in Currency::all() {
                    let id = AccountId::new(owner, mode, currency);
                    assert_eq!((id.owner(), id.mode(), id.currency()), (owner, mode, Some(currency)));
                }
            }
        }
    }

    #[test]
    fn every_kind_of_transfer_balances() {
        for &kind in TransferKind::ALL {
            let transfer = Transfer {
                journal: SettlementNo(1),
                n: 1,
                kind,
                code: TransferCode::Payment,
                debit: AccountId::new(Owner::Client(ClientNo(1)), Mode::Sandbox, eur()),
                credit: AccountId::new(Owner::Provider(ProviderNo(1)), Mode::Sandbox, eur()),
                amount: 1050,
                resolves: 0,
                at: 0,
            };
            let [(_, d), (_, c)] = transfer.deltas();
            assert_eq!((d.debits_pending, d.debits_posted), (c.credits_pending, c.credits_posted));
        }
    }

    #[test]
    fn pending_then_post_or_void_leaves_no_hold() {
        let hold = Transfer {
            journal: SettlementNo(1),
            n: 1,
            kind: TransferKind::Pending,
            code: TransferCode::Payment,
            debit: AccountId::new(Owner::Client(ClientNo(1)), Mode::Sandbox, eur()),
            credit: AccountId::new(Owner::Provider(ProviderNo(1)), Mode::Sandbox, eur()),
            amount: 1050,
            resolves: 0,
            at: 0,
        };
        let funded = Totals { credits_posted: 2000, ..Totals::default() };
        let held = funded.plus(&hold.deltas()[0].1).unwrap();
        assert_eq!(held.available(), Some(950));
        let posted = held.plus(&hold.resolve(TransferKind::Post, 2, 0).deltas()[0].1).unwrap();
        assert_eq!((posted.available(), posted.debits_pending), (Some(950), 0));
        let voided = held.plus(&hold.resolve(TransferKind::Void, 2, 0).deltas()[0].1).unwrap();
        assert_eq!(voided, funded);
    }
}
