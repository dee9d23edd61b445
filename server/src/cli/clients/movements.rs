//! `railgate clients deposit|withdraw`: real money in and out.

use clap::Args;
use railgate::Engine;
use railgate::api::Caller;
use railgate::engine::{MoveMoney, Operated};
use railgate::money::Money;
use railgate::participant::Reference;
use railgate::store::record::MovementKind;

use super::OnClient;
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::terminal::{Terminal, Tone};

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
    let money: Money = format!("{amount} {currency}").parse().map_err(|error: railgate::Error| {
        error
            .fields
            .iter()
            .fold(Failure::usage(format!("{amount} {currency} is not an amount")), |failure, field| failure.detail(&*field.message))
    })?;
    let engine: Engine = on.store.place()?.engine(None)?;
    let moved = engine.run(Operated(MoveMoney { client: on.client, kind, money, reference, evidence })).map_err(Failure::from)?;
    let caller = Caller { client: moved.client.no, client_id: moved.client.id, mode: moved.movement.mode };
    let balance = engine.balance(&caller, currency.as_str())?;
    if global.json {
        let done = serde_json::json!({
            "kind": kind.as_str(), "reference": moved.movement.reference.as_str(), "amount": money.decimal(), "currency": currency,
            "replayed": moved.replayed, "balance": balance,
        });
        return terminal.json(done.to_string().as_bytes());
    }
    let (mark, again) = (terminal.paint(Tone::Good, "✓"), if moved.replayed { ", as recorded before" } else { "" });
    let what = if kind == MovementKind::Deposit { "credited to" } else { "debited from" };
    terminal.line(format_args!("{mark} {} {currency} {what} cli_{} ({}){again}", money.decimal(), on.client, moved.client.name))?;
    terminal.line(format_args!("live balance: {} {currency} available", crate::cli::render::decimal(&balance.available)))
}
