//! Where the money of a payment is, by the transfers of its own journal.

use railgate::api::{ReversalStatus, SettlementStatus};
use railgate::ledger::{Owner, Transfer, TransferKind};

use crate::End;

/// What each payment is, and what it costs, in cents.
pub const AMOUNT: i64 = 1_000;
pub const FEE: i64 = 25;

/// The transfers of a payment that count, each with the account opposite the client's and its amount in cents.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Money {
    /// On hold.
    pub held: Vec<(Owner, i64)>,
    /// Paid.
    pub paid: Vec<(Owner, i64)>,
    /// Announced as coming back.
    pub coming: Vec<(Owner, i64)>,
    /// Given back.
    pub back: Vec<(Owner, i64)>,
}

impl Money {
    /// Adds a journal up. Requires each transfer to be between a client and somebody else, and to resolve only what is pending as it is.
    pub fn of(journal: &[Transfer]) -> Self {
        let (mut money, mut pending) = (Self::default(), Vec::<&Transfer>::new());
        for transfer in journal {
            match transfer.kind {
                TransferKind::Pending => pending.push(transfer),
                TransferKind::Post | TransferKind::Void => {
                    let resolved = |it: &&Transfer| it.n == transfer.resolves;
                    let at = pending.iter().position(resolved).unwrap_or_else(|| panic!("nothing is pending that {transfer:?} resolves"));
                    let same = Transfer { kind: TransferKind::Pending, n: transfer.resolves, resolves: 0, at: 0, ..transfer.clone() };
                    assert_eq!(Transfer { at: 0, ..pending.remove(at).clone() }, same);
                }
                TransferKind::Single => {}
            }
            if matches!(transfer.kind, TransferKind::Post | TransferKind::Single) {
                money.put(transfer, false);
            }
        }
        pending.into_iter().for_each(|transfer| money.put(transfer, true));
        money
    }

    fn put(&mut self, transfer: &Transfer, pending: bool) {
        let (list, other) = match (transfer.debit.owner(), transfer.credit.owner(), pending) {
            (Owner::Client(_), other, true) => (&mut self.held, other),
            (Owner::Client(_), other, false) => (&mut self.paid, other),
            (other, Owner::Client(_), true) => (&mut self.coming, other),
            (other, Owner::Client(_), false) => (&mut self.back, other),
            (..) => panic!("{transfer:?} is none of the client's"),
        };
        list.push((other, transfer.amount));
    }

    /// Where the money must be at an end, if the last attempt was at this provider.
    pub fn at(end: &End, provider: Owner) -> Self {
        let (amount, fee) = ((provider, AMOUNT), (Owner::Fees, FEE));
        let paid = Self { paid: vec![amount, fee], ..Self::default() };
        match end.status {
            SettlementStatus::Accepted | SettlementStatus::Submitted | SettlementStatus::Unknown => {
                Self { held: vec![amount, fee], ..Self::default() }
            }
            SettlementStatus::Failed | SettlementStatus::Cancelled => Self::default(),
            SettlementStatus::Completed if end.reversal == Some(ReversalStatus::Unknown) => Self { coming: vec![amount], ..paid },
            SettlementStatus::Completed => paid,
            SettlementStatus::PartiallyReversed => unreachable!("reversals are of the whole amount"),
            SettlementStatus::Reversed => Self { back: vec![amount, fee], ..paid },
            // The fee was for the payment, whatever becomes of it.
            SettlementStatus::Returned => Self { back: vec![amount], ..paid },
        }
    }
}
