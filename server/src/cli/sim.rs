//! `railgate sim`: the simulator of the profile's sandbox.

use comfy_table::Cell;
use railgate::api::{AmountInput, BalanceView, FundBody, ScenariosView};

use super::Global;
use super::failure::Done;
use super::http::Ask;
use super::problem::read;
use super::render;
use super::session::Session;
use super::terminal::{Terminal, Tone};

const SCENARIOS_EXAMPLES: &str = "\
Examples:
  railgate sim scenarios
  railgate settle 10.50 EUR sim:timeout-then-ok

Payments to any other payee complete at once.";

const FUND_EXAMPLES: &str = "\
Examples:
  railgate sim fund 250 EUR
  railgate sim fund 1000000 CHF

Each run adds the amount again. An account may be credited with 10,000,000,000 in all.";

/// Control the sandbox's simulated operator
#[derive(Debug, clap::Args)]
pub(crate) struct SimArgs {
    #[command(subcommand)]
    command: SimCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SimCommand {
    /// List the payees that make the operator refuse, delay, lose or return a payment
    #[command(after_help = SCENARIOS_EXAMPLES)]
    Scenarios,
    Fund(FundArgs),
}

/// Add play money to an account of the sandbox
#[derive(Debug, clap::Args)]
#[command(after_help = FUND_EXAMPLES)]
struct FundArgs {
    /// A plain decimal, such as 250.00
    #[arg(value_name = "AMOUNT", allow_negative_numbers = true)]
    amount: String,
    /// ISO 4217 code, such as EUR
    #[arg(value_name = "CURRENCY")]
    currency: String,
}

pub(crate) async fn run(args: SimArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        SimCommand::Scenarios => scenarios(global, terminal).await,
        SimCommand::Fund(args) => fund(&args, global, terminal).await,
    }
}

async fn scenarios(global: &Global, terminal: &Terminal) -> Done {
    let answer = Session::open(global)?.call(Ask::get("/simulator/scenarios")).await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    let mut table = terminal.table(&["to", "what happens"]);
    for it in read::<ScenariosView>(&answer)?.data {
        table.add_row(vec![Tone::Strong.cell(&it.to), Cell::new(&it.description)]);
    }
    terminal.show(&table)
}

async fn fund(args: &FundArgs, global: &Global, terminal: &Terminal) -> Done {
    let body = FundBody { currency: args.currency.clone(), amount: AmountInput::typed(&args.amount) };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let answer = Session::open(global)?.call(Ask::post("/simulator/fund", body)).await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    terminal.show(&render::balances(terminal, &[read::<BalanceView>(&answer)?]))
}
