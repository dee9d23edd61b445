//! Checks that the demo's money adds up: what the client had, what its payments did, and what the ledger reports.
//!
//! The two sides are counted separately. The expected side is computed from the settlements alone; the other side is the
//! ledger's.

use comfy_table::Cell;
use railgate::api::BalanceView;
use railgate::lifecycle::SettlementStatus;
use railgate::money::{Currency, Money};
use railgate::store::record::SettlementRecord;
use serde::Serialize;

use crate::cli::failure::Done;
use crate::cli::terminal::{Terminal, Tone, align_right, number};
use railgate::money::grouped;

/// One currency's account, in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Sum {
    /// ISO 4217 code.
    pub(super) currency: String,
    /// The balance in the ledger before.
    pub(super) opening: i64,
    /// Paid out.
    pub(super) paid: i64,
    /// Charged for the payments.
    pub(super) fees: i64,
    /// Given back by reversals and bounces.
    pub(super) returned: i64,
    /// The balance that the ledger must report now: opening − paid − fees + returned.
    pub(super) expected: i64,
    /// The balance that it reports.
    pub(super) closing: i64,
    /// What must be held: amount and fee of all payments that are not final.
    pub(super) expected_held: i64,
    /// What the ledger holds.
    pub(super) held: i64,
    /// How many payments are not final.
    pub(super) open: usize,
}

impl Sum {
    /// Whether both sides agree.
    pub(super) fn adds_up(&self) -> bool {
        self.expected == self.closing && self.expected_held == self.held
    }
}

/// Adds up every currency of the client.
pub(super) fn add_up(before: &[BalanceView], after: &[BalanceView], settlements: &[SettlementRecord]) -> Vec<Sum> {
    after
        .iter()
        .map(|now| {
            let of = |settlement: &&SettlementRecord| settlement.currency.code() == now.currency;
            let opening = before.iter().find(|then| then.currency == now.currency).map_or(0, |then| minor(then.ledger.as_str()));
            let mut sum = Sum {
                currency: now.currency.clone(),
                opening,
                paid: 0,
                fees: 0,
                returned: 0,
                expected: 0,
                closing: minor(now.ledger.as_str()),
                expected_held: 0,
                held: minor(now.reserved.as_str()),
                open: 0,
            };
            settlements.iter().filter(of).for_each(|settlement| count(&mut sum, settlement));
            sum.expected = sum.opening - sum.paid - sum.fees + sum.returned;
            sum
        })
        .collect()
}

/// How much of a payment came back, in minor units. A bounce brings back whatever was not reversed before.
pub(super) fn came_back(settlement: &SettlementRecord) -> i64 {
    if settlement.status == SettlementStatus::Returned { settlement.amount } else { settlement.reversed }
}

fn count(sum: &mut Sum, settlement: &SettlementRecord) {
    let SettlementRecord { status, amount, fee, .. } = settlement;
    if status.is_paid() {
        sum.paid += amount;
        sum.fees += fee;
        sum.returned += came_back(settlement);
    }
    if !status.is_final() {
        sum.expected_held += amount + fee;
        sum.open += 1;
    }
}

/// A decimal of the ledger in minor units: it always has as many decimals as its currency.
fn minor(decimal: &str) -> i64 {
    decimal.replace('.', "").parse().unwrap_or(i64::MIN)
}

/// Shows the sums as a table, and below it how each currency adds up, or that it does not.
pub(super) fn show(terminal: &Terminal, sums: &[Sum]) -> Done {
    let mut table = terminal.table(&["    balance", "before", "− paid", "− fees", "+ came back", "= after", "ledger says", "held", ""]);
    for sum in sums {
        let text = |minor| grouped(&decimal(minor, &sum.currency));
        let mark = if sum.adds_up() { Tone::Good.cell("✓") } else { Tone::Bad.cell("✗") };
        table.add_row(vec![
            Tone::Strong.cell(format!("    {}", sum.currency)),
            number(text(sum.opening)),
            number(text(sum.paid)),
            number(text(sum.fees)),
            number(text(sum.returned)),
            number(text(sum.expected)),
            number(text(sum.closing)),
            number(text(sum.held)),
            mark,
        ]);
    }
    align_right(&mut table, 1..8);
    terminal.show(&table)?;
    terminal.line("")?;
    sums.iter().try_for_each(|sum| terminal.line(proof(terminal, sum)))
}

fn proof(terminal: &Terminal, sum: &Sum) -> String {
    let text = |minor| grouped(&decimal(minor, &sum.currency));
    let Sum { currency, opening, paid, fees, returned, expected, closing, expected_held, held, open } = sum;
    let (opening, paid, fees, returned) = (text(*opening), text(*paid), text(*fees), text(*returned));
    let equation = format!("{currency}  {opening} − {paid} − {fees} + {returned} = {}", text(*expected));
    let ledger = match expected == closing {
        true => "as the ledger says".to_owned(),
        false => format!("but the ledger says {}", text(*closing)),
    };
    let hold = match (expected_held == held, open) {
        (true, 0) => "nothing held".to_owned(),
        (true, open) => format!("{} held for {open} on the way", text(*held)),
        (false, _) => format!("{} held, not {}", text(*held), text(*expected_held)),
    };
    let (mark, tone) = if sum.adds_up() { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
    format!("    {} {equation}, {ledger}; {hold}", terminal.paint(tone, mark))
}

fn decimal(minor: i64, currency: &str) -> String {
    match Currency::from_code(currency) {
        Some(currency) => Money::from_minor(minor, currency).decimal(),
        None => minor.to_string(),
    }
}

/// A cell with the outcome of a payment, for the overview.
pub(super) fn outcome(status: &str, needs_review: bool) -> Cell {
    let review = if needs_review { ", review" } else { "" };
    Tone::of_state(status).cell(format!("{status}{review}"))
}
