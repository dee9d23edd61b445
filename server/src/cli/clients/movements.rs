//! `railgate clients deposit|withdraw|credit-line`: real money in and out, and credit.

use clap::Args;
use railgate::Engine;
use railgate::api::Caller;
use railgate::engine::{MoveMoney, Moved, Operated, SetCredit};
use railgate::money::{Amount, Currency, Money};
use railgate::participant::Reference;
use railgate::store::record::MovementKind;

use super::{NOTICED, OnClient};
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::terminal::{Terminal, Tone, note};

pub(super) const DEPOSIT_EXAMPLES: &str = "\
Examples:
  railgate clients deposit cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB 5000 EUR --reference bank-2026-11-24-7 \\
    --evidence 'statement of 24 November, line 7'

Credits the client's live account once for each reference: the same command again changes nothing.";

pub(super) const WITHDRAW_EXAMPLES: &str = "\
Examples:
  railgate clients withdraw cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB 1200.50 EUR --reference payout-2026-11 \\
    --evidence 'transfer 4711 to the client'

Debits the client's live account once for each reference. Money on hold cannot leave.";

pub(super) const CREDIT_LINE_EXAMPLES: &str = "\
Examples:
  railgate clients credit-line cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB 2500 EUR --reference contract-2026-7 \\
    --evidence 'contract of November, paragraph 4'
  railgate clients credit-line cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB 0 EUR --reference contract-2026-7-end \\
    --evidence 'letter of 24 November'
      No credit any more.

Sets how far below zero the available live money may fall, once for each reference. The client is told. Its other
terms stay as they are; 'railgate limits apply' replaces them whole.";

#[derive(Debug, Args)]
pub(super) struct MovementArgs {
    #[command(flatten)]
    on: OnClient,
    /// The amount
    amount: String,
    /// ISO 4217 code
    currency: String,
    /// Your reference for it: a repeat with the same one changes nothing
    #[arg(long, value_name = "REFERENCE", value_parser = reference)]
    reference: Reference,
    /// What proves it, such as the line of a bank statement
    #[arg(long, value_name = "TEXT")]
    evidence: String,
}

fn reference(text: &str) -> Result<Reference, String> {
    Reference::parse(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: MovementArgs, kind: MovementKind, global: &Global, terminal: &Terminal) -> Done {
    let MovementArgs { on, amount, currency, reference, evidence } = args;
    let money = money(&amount, &currency, kind)?;
    let engine: Engine = on.store.place()?.engine(None)?;
    let client = on.client;
    let moved = match kind {
        MovementKind::Deposit | MovementKind::Withdrawal => engine.run(Operated(MoveMoney { client, kind, money, reference, evidence })),
        MovementKind::CreditLine => {
            let (expected, reason) = (None, None);
            engine.run(Operated(SetCredit { client, credit: money, reference, evidence, expected, reason }))
        }
    };
    let moved = moved.map_err(Failure::from)?;
    let what = match kind {
        MovementKind::Deposit => "credited to",
        MovementKind::Withdrawal => "debited from",
        MovementKind::CreditLine => "is the credit of",
    };
    if !global.json {
        let (mark, again) = (terminal.paint(Tone::Good, "✓"), if moved.replayed { ", as recorded before" } else { "" });
        terminal.line(format_args!("{mark} {} {currency} {what} cli_{client} ({}){again}", money.decimal(), moved.client.name))?;
    }
    match kind {
        MovementKind::Deposit | MovementKind::Withdrawal => balance(&engine, &moved, money, global, terminal),
        MovementKind::CreditLine => credit(&moved, money, global, terminal),
    }
}

/// The amount; of credit, it may be zero.
fn money(amount: &str, currency: &str, kind: MovementKind) -> Done<Money> {
    let parsed = match (kind, Amount::parse_or_zero(amount), Currency::from_code(currency)) {
        (MovementKind::CreditLine, Ok(None), Some(currency)) => Ok(Money::from_minor(0, currency)),
        (MovementKind::Deposit | MovementKind::Withdrawal | MovementKind::CreditLine, _, _) => format!("{amount} {currency}").parse(),
    };
    parsed.map_err(|error: railgate::Error| {
        let failure = Failure::usage(format!("{amount} {currency} is not an amount"));
        error.fields.iter().fold(failure, |failure, field| failure.detail(&*field.message))
    })
}

/// Shows the balance after money moved.
fn balance(engine: &Engine, moved: &Moved, money: Money, global: &Global, terminal: &Terminal) -> Done {
    let (movement, currency) = (&moved.movement, money.currency());
    let caller = Caller::client(moved.client.no, moved.client.id, movement.mode);
    let balance = engine.balance(&caller, currency.code())?;
    if global.json {
        let done = serde_json::json!({
            "kind": movement.kind.as_str(), "reference": movement.reference.as_str(), "amount": money.decimal(), "currency": currency,
            "replayed": moved.replayed, "balance": balance,
        });
        return terminal.json(done.to_string().as_bytes());
    }
    terminal.line(format_args!("live balance: {} {currency} available", crate::cli::render::decimal(&balance.available)))
}

/// Shows the credit before it was set.
fn credit(moved: &Moved, money: Money, global: &Global, terminal: &Terminal) -> Done {
    let (movement, currency) = (&moved.movement, money.currency());
    let previous = Money::from_minor(movement.previous.unwrap_or_default(), currency).decimal();
    if global.json {
        note(NOTICED);
        let done = serde_json::json!({
            "kind": movement.kind.as_str(), "reference": movement.reference.as_str(), "amount": money.decimal(), "previous": previous,
            "currency": currency, "replayed": moved.replayed,
        });
        return terminal.json(done.to_string().as_bytes());
    }
    terminal.line(format_args!("before it: {previous} {currency}"))?;
    terminal.line(NOTICED)
}
