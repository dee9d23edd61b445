//! Double-entry bookkeeping with two-phase transfers: a pending transfer holds money, a post moves it, a void releases it.
//!
//! ```
//! use railgate::ids::{ClientNo, ProviderNo, SettlementNo};
//! use railgate::ledger::{AccountId, Mode, Owner, Totals, Transfer, TransferCode, TransferKind};
//! use railgate::money::Currency;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let euro = Currency::from_code("EUR").ok_or("not a currency")?;
//! let account = |owner| AccountId::new(owner, Mode::Sandbox, euro);
//! let hold = Transfer {
//!     journal: SettlementNo(1),
//!     n: 1,
//!     kind: TransferKind::Pending,
//!     code: TransferCode::Payment,
//!     debit: account(Owner::Client(ClientNo(1))),
//!     credit: account(Owner::Provider(ProviderNo(1))),
//!     amount: 10_50,
//!     resolves: 0,
//!     at: 1_795_257_497_042,
//! };
//!
//! // The client has 20.00. Held money cannot be spent again, but is still there until it is posted.
//! let start = Totals { credits_posted: 20_00, ..Totals::default() };
//! let [(_, debit), _] = hold.deltas();
//! let held = start.plus(&debit).ok_or("overflow")?;
//! assert_eq!((held.available(), held.ledger()), (Some(9_50), Some(20_00)));
//!
//! let posted = Transfer { kind: TransferKind::Post, n: 2, resolves: 1, at: hold.at + 800, ..hold };
//! let [(_, debit), _] = posted.deltas();
//! let paid = held.plus(&debit).ok_or("overflow")?;
//! assert_eq!((paid.available(), paid.ledger()), (Some(9_50), Some(9_50)));
//! # Ok(())
//! # }
//! ```
//!
//! As in TigerBeetle, an account has four totals: debits and credits, each pending and posted. Every transfer debits one account
//! and credits another with the same amount. So over all accounts of a currency, debits equal credits at every commit, both pending
//! and posted. Amounts are positive numbers of minor units.

use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::lifecycle::stored_enum;
use crate::money::Currency;
use crate::time::Millis;

stored_enum! {
    /// Real money or play money. The two never mix: an account, and therefore a transfer, belongs to one of them.
    pub enum Mode {
        /// No real money moves.
        Sandbox = 1 "sandbox",
        /// Real money.
        Live = 2 "live",
    }
}

impl Mode {
    /// Whether this is the sandbox.
    pub const fn is_sandbox(self) -> bool {
        match self {
            Self::Sandbox => true,
            Self::Live => false,
        }
    }
}

/// The owner of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A client; the available balance never falls below zero.
    Client(ClientNo),
    /// The money paid out through a provider; may be negative.
    Provider(ProviderNo),
    /// The source of money that enters the system; may be negative.
    Funding,
    /// The gateway's fee income; may be negative.
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

    /// The account's owner.
    pub fn owner(self) -> Owner {
        let number = self.0 >> 16;
        match self.0 & 3 {
            0 => Owner::Client(ClientNo(number as u32)),
            1 => Owner::Provider(ProviderNo(number as u16)),
            2 => Owner::Funding,
            _ => Owner::Fees,
        }
    }

    /// The account's mode.
    pub fn mode(self) -> Mode {
        Mode::from_code((self.0 >> 2 & 3) as u8).unwrap_or(Mode::Sandbox)
    }

    /// The account's currency; `None` only for a number that no account has.
    pub fn currency(self) -> Option<Currency> {
        Currency::from_numeric((self.0 >> 4 & 0xfff) as u16)
    }

    /// Whether its available balance must not fall below zero.
    pub fn has_floor(self) -> bool {
        match self.owner() {
            Owner::Client(_) => true,
            Owner::Provider(_) | Owner::Funding | Owner::Fees => false,
        }
    }
}

/// More than any sum of money reaches: far enough from the largest number that adding two does not overflow.
pub(crate) const SUM_MAX: i64 = i64::MAX / 4;

/// The four totals of an account, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Money on hold, not yet paid out.
    pub debits_pending: i64,
    /// Money paid out.
    pub debits_posted: i64,
    /// Money announced, not yet received.
    pub credits_pending: i64,
    /// Money received.
    pub credits_posted: i64,
}

impl Totals {
    /// The amount that can be spent: the posted balance minus holds. `None` on overflow.
    pub fn available(&self) -> Option<i64> {
        self.ledger()?.checked_sub(self.debits_pending)
    }

    /// The posted balance, including holds. `None` on overflow.
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
    /// The effect of a transfer on the totals.
    pub enum TransferKind {
        /// Holds the amount: pending on both sides.
        Pending = 1 "pending",
        /// Moves the amount that an earlier pending transfer holds.
        Post = 2 "post",
        /// Releases the amount that an earlier pending transfer holds.
        Void = 3 "void",
        /// Moves the amount at once, without an earlier hold.
        Single = 4 "single",
    }
}

stored_enum! {
    /// The reason for a transfer.
    pub enum TransferCode {
        /// Money that enters the system.
        Funding = 1 "funding",
        /// A settlement's amount.
        Payment = 2 "payment",
        /// A settlement's fee.
        Fee = 3 "fee",
        /// A reversal's amount, back to the client.
        Reversal = 4 "reversal",
        /// A bounced payment, back to the client.
        Return = 5 "return",
        /// Real money that a client paid in.
        Deposit = 6 "deposit",
        /// Real money that was paid out to a client.
        Withdrawal = 7 "withdrawal",
        /// What a reversal gives back of a settlement's fee.
        FeeRefund = 8 "fee_refund",
    }
}

/// An immutable line of the journal. Post and void repeat the accounts and the amount of the transfer that they resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The settlement that it belongs to; for a funding, a number without a settlement.
    pub journal: SettlementNo,
    /// Its number within the settlement or funding, from 1.
    pub n: u16,
    /// The effect on the totals.
    pub kind: TransferKind,
    /// The reason.
    pub code: TransferCode,
    /// The account to debit.
    pub debit: AccountId,
    /// The account to credit.
    pub credit: AccountId,
    /// Minor units, more than zero.
    pub amount: i64,
    /// For post and void, the `n` of the pending transfer; otherwise 0.
    pub resolves: u16,
    /// When it was posted.
    pub at: Millis,
}

impl Transfer {
    /// The changes to the debited and the credited account.
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
        let resolved = |kind| Transfer { kind, n: 2, resolves: 1, ..hold.clone() }.deltas()[0].1;
        let posted = held.plus(&resolved(TransferKind::Post)).unwrap();
        assert_eq!((posted.available(), posted.debits_pending), (Some(950), 0));
        let voided = held.plus(&resolved(TransferKind::Void)).unwrap();
        assert_eq!(voided, funded);
    }
}
