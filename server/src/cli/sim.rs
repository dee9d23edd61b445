//! `railgate sim`: the simulator of the profile's sandbox.

use std::borrow::Cow;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use comfy_table::Cell;
use hyper::header::{HeaderName, HeaderValue};
use railgate::api::{
    AdvanceBody, AmountInput, BalanceView, ClockBody, ClockView, FaultsBody, FaultsView, FundBody, Rate, ResetBody, ResetView,
    ScenariosView, SettlementView,
};
use railgate::rail::FailureCode;
use railgate::rail::simulator::Outcome;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, encode};
use super::problem::read;
use super::render;
use super::session::{Session, unique_name};
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

const ADVANCE_EXAMPLES: &str = "\
Examples:
  railgate settle 10.50 EUR sim:pending --reference inv-7
  railgate sim advance inv-7 completed
  railgate sim advance inv-7 returned
  railgate sim advance inv-8 failed --code account_closed

The operator sticks to its decision, whatever the payee's scenario would have brought.";

const FAULTS_EXAMPLES: &str = "\
Examples:
  railgate sim faults
  railgate sim faults --rate 0.1 --drop-answer-rate 0.05 --seed 7
  railgate sim faults --latency 2000
  railgate sim faults --none

What is given replaces all faults; what is left out is 0. The same seed and calls have the same faults.";

const CLOCK_EXAMPLES: &str = "\
Examples:
  railgate sim clock
  railgate sim clock --advance 1d
  railgate sim clock --advance 90s --freeze
  railgate sim clock --run

Whatever becomes due on the way is carried out at its own time. Nobody else's sandbox follows this clock,
and nothing live. Time never goes back.";

const RESET_EXAMPLES: &str = "\
Examples:
  railgate sim reset

Payments that were not sent are cancelled; the operator refuses those that are open. History stays, so
new payments need new references.";

/// How often a clock that is on its way is looked at.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// Control the sandbox's simulated operator, or play a whole deployment
#[derive(Debug, clap::Args)]
#[cfg_attr(feature = "simulation", command(args_conflicts_with_subcommands = true, after_help = super::simulate::EXAMPLES))]
#[command(arg_required_else_help = true)]
pub(crate) struct SimArgs {
    #[cfg(feature = "simulation")]
    #[command(flatten)]
    simulate: super::simulate::SimulateArgs,
    #[command(subcommand)]
    command: Option<SimCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum SimCommand {
    /// List the payees that make the operator refuse, delay, lose or return a payment
    #[command(after_help = SCENARIOS_EXAMPLES)]
    Scenarios,
    Fund(FundArgs),
    Advance(AdvanceArgs),
    Clock(ClockArgs),
    Faults(FaultsArgs),
    /// Start the sandbox again: end what is open, remove the faults, let the clock run, restore the opening balances
    #[command(after_help = RESET_EXAMPLES)]
    Reset,
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

/// Decide what becomes of a payment: the operator answers now
#[derive(Debug, clap::Args)]
#[command(after_help = ADVANCE_EXAMPLES)]
struct AdvanceArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// What the operator does with it
    #[arg(value_name = "TO", value_parser = names(Outcome::ALL, Outcome::as_str))]
    to: String,
    /// Why it fails [default: other]
    #[arg(long, value_name = "CODE", value_parser = names(FailureCode::ALL, FailureCode::as_str))]
    code: Option<String>,
}

/// Show the clock of the sandbox, stop it, let it run, or put it ahead
#[derive(Debug, clap::Args)]
#[command(after_help = CLOCK_EXAMPLES)]
struct ClockArgs {
    /// Stop it, after the advance if there is one
    #[arg(long)]
    freeze: bool,
    /// Let it run
    #[arg(long, conflicts_with = "freeze")]
    run: bool,
    /// Put it ahead: a number with ms, s, m, h or d, such as 90s or 1d; at most 366d
    #[arg(long, value_name = "TIME", value_parser = span)]
    advance: Option<u64>,
}

/// A span of time in milliseconds.
fn span(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let span = unit.and_then(|unit| number.parse::<u64>().ok()?.checked_mul(unit));
    span.ok_or_else(|| "must be a whole number with ms, s, m, h or d, such as 90s or 1d".to_owned())
}

/// Show the faults of the operator and of the way to it, or replace them
#[derive(Debug, clap::Args)]
#[command(after_help = FAULTS_EXAMPLES)]
struct FaultsArgs {
    /// The share of calls that do not reach the operator, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    rate: Option<Rate>,
    /// How long the operator takes to answer a payment or a reversal, in milliseconds
    #[arg(long, value_name = "MS")]
    latency: Option<u64>,
    /// The share of calls whose answer is lost after the operator has done what was asked, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    drop_answer_rate: Option<Rate>,
    /// Selects which calls are hit
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// No faults any more
    #[arg(long, conflicts_with_all = ["rate", "latency", "drop_answer_rate", "seed"])]
    none: bool,
}

fn share(text: &str) -> Result<Rate, String> {
    Rate::parse(text).ok_or_else(|| "must be a number from 0 to 1 with at most 6 decimals".to_owned())
}

pub(super) fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> PossibleValuesParser {
    all.iter().map(|one| name(*one)).into()
}

pub(crate) async fn run(args: SimArgs, global: &Global, terminal: &Terminal) -> Done {
    #[cfg(feature = "simulation")]
    if let Some(plan) = args.simulate.plan() {
        return super::simulate::run(&plan, terminal);
    }
    let Some(command) = args.command else { return Err(Failure::usage("say what to do: railgate sim --help lists it")) };
    match command {
        SimCommand::Scenarios => scenarios(global, terminal).await,
        SimCommand::Fund(args) => fund(&args, global, terminal).await,
        SimCommand::Advance(args) => advance(args, global, terminal).await,
        SimCommand::Clock(args) => clock(&args, global, terminal).await,
        SimCommand::Faults(args) => faults(&args, global, terminal).await,
        SimCommand::Reset => reset(global, terminal).await,
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

/// The request under a key of its own, so that it is carried out once however often it is sent.
fn named(ask: Ask) -> Done<Ask> {
    let key = HeaderValue::from_str(&unique_name()?).map_err(|error| Failure::caused("cannot name the request", error))?;
    Ok(ask.with(HeaderName::from_static("idempotency-key"), key))
}

async fn fund(args: &FundArgs, global: &Global, terminal: &Terminal) -> Done {
    let body = FundBody { currency: args.currency.clone(), amount: AmountInput::typed(&args.amount) };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let ask = named(Ask::post("/simulator/fund", body))?;
    let answer = Session::open(global)?.call_until_answered(ask, "it is added once").await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    terminal.show(&render::balances(terminal, &[read::<BalanceView>(&answer)?]))
}

async fn advance(args: AdvanceArgs, global: &Global, terminal: &Terminal) -> Done {
    let body = AdvanceBody { to: Cow::Owned(args.to), code: args.code.map(Cow::Owned) };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let path = format!("/simulator/settlements/{}/advance", encode(&args.target));
    // Asked twice, it finds the payment as it is asked to be.
    let answer = Session::open(global)?.call_until_answered(Ask::post(path, body), "asking again changes nothing more").await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    terminal.show(&render::settlement(terminal, &read::<SettlementView>(&answer)?))
}

async fn clock(args: &ClockArgs, global: &Global, terminal: &Terminal) -> Done {
    let ClockArgs { freeze, run, advance } = *args;
    let frozen = (freeze || run).then_some(freeze);
    let mut session = Session::open(global)?;
    let mut answer = if frozen.is_some() || advance.is_some() {
        let body = serde_json::to_string(&ClockBody { frozen, advance_ms: advance }).unwrap_or_default();
        let ask = named(Ask::put("/simulator/clock", body).patient(30))?;
        session.call_until_answered(ask, "it sets the clock once").await?
    } else {
        session.call(Ask::get("/simulator/clock")).await?
    };
    let mut view: ClockView = read(&answer)?;
    // Whoever put it ahead waits until it is there.
    while advance.is_some() && view.advancing_to.is_some() {
        tokio::time::sleep(ON_ITS_WAY).await;
        answer = session.call(Ask::get("/simulator/clock")).await?;
        view = read(&answer)?;
    }
    if global.json {
        return terminal.json(&answer.body);
    }
    let mut card = vec![
        ("sandbox time", Cell::new(&view.now)),
        ("state", Cell::new(if view.frozen { "stopped" } else { "runs" })),
        ("ahead", Cell::new(format!("{} s", view.ahead_ms.div_euclid(1_000)))),
    ];
    card.extend(view.advancing_to.map(|to| ("on its way to", Cell::new(to))));
    terminal.show(&terminal.card(card))
}

async fn faults(args: &FaultsArgs, global: &Global, terminal: &Terminal) -> Done {
    let FaultsArgs { rate, latency, drop_answer_rate, seed, none } = *args;
    let changes = none || rate.is_some() || latency.is_some() || drop_answer_rate.is_some() || seed.is_some();
    let mut session = Session::open(global)?;
    let answer = if changes {
        let body = FaultsBody { rate, latency_ms: latency, drop_answer_rate, seed };
        let body = serde_json::to_string(&body).unwrap_or_default();
        session.call_until_answered(Ask::put("/simulator/faults", body), "it sets the same faults again").await?
    } else {
        session.call(Ask::get("/simulator/faults")).await?
    };
    if global.json {
        return terminal.json(&answer.body);
    }
    let FaultsView { rate, latency_ms, drop_answer_rate, seed } = read(&answer)?;
    terminal.show(&terminal.card(vec![
        ("calls not sent", Cell::new(rate.text())),
        ("answers lost", Cell::new(drop_answer_rate.text())),
        ("latency", Cell::new(format!("{latency_ms} ms"))),
        ("seed", Cell::new(seed)),
    ]))
}

async fn reset(global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let (mut cursor, mut total) = (None, ResetView::default());
    loop {
        let body = serde_json::to_string(&ResetBody { cursor }).unwrap_or_default();
        let answer = session.call_until_answered(Ask::post("/simulator/reset", body).patient(30), "a reset can be repeated").await?;
        let part: ResetView = read(&answer)?;
        total = ResetView { ended: total.ended + part.ended, still_open: total.still_open + part.still_open, next_cursor: None };
        cursor = part.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if global.json {
        return terminal.json(serde_json::to_string(&total).unwrap_or_default().as_bytes());
    }
    terminal.line(terminal.paint(Tone::Good, format_args!("The sandbox starts again. Payments that were ended: {}.", total.ended)))?;
    match total.still_open {
        0 => Ok(()),
        open => terminal.line(terminal.paint(Tone::Warn, format_args!("Still open, at providers that are not simulated: {open}."))),
    }
}
