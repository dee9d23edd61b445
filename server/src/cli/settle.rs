//! `railgate settle` and `railgate check`: paying, and checks before and after.

use comfy_table::Cell;
use hyper::header::{HeaderName, HeaderValue};
use railgate::api::{AmountInput, CheckView, CreateBody, ReconcileView, RouteStepView, SettlementView};
use railgate::lifecycle::SettlementStatus;
use railgate::rail::PayeeMatch;
use railgate::route::health::Health;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{ApiResponse, Ask, encode};
use super::problem::read;
use super::render;
use super::session::{Session, unique_name};
use super::terminal::{Terminal, Tone, note};

const SETTLE_EXAMPLES: &str = "\
Examples:
  railgate settle 10.50 EUR sim:ok
  railgate settle 1200 JPY acct:12345678 --reference inv-2026-0042 --description 'November rent'
  railgate settle 25 EUR sim:slow-30s --wait 30 --json
  railgate settle 3 EUR sim:ok --metadata order=77 --metadata shop=Riga

The reference names the payment for ever: running the same command with the same --reference again
never pays twice; it shows the existing payment. So if the connection breaks, this command
repeats the request by itself; if it gives up, repeat it yourself with the printed reference.
Exit code 1 if the request is refused, or if the payment is known to have failed.";

const CHECK_EXAMPLES: &str = "\
Examples:
  railgate check 10.50 EUR sim:close-match
      Before paying: is it valid, what does it cost, who is the payee? Nothing is created or moved.
  railgate check inv-2026-0042
      After paying: asks the operator now, and compares record, ledger and trace with its answer.

Exit code 1 if the payment would be refused, or if anything does not agree.";

/// Optional parts of a payment
#[derive(Debug, clap::Args)]
pub(crate) struct Extras {
    /// Your name for it: up to 64 letters, digits, dots, dashes, underscores; generated and printed if left out
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// A note for people, up to 140 characters
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A key and value of your own; may be repeated up to 50 times
    #[arg(long = "metadata", value_name = "KEY=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// Only this provider
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
}

/// Pay AMOUNT in CURRENCY to the participant TO
#[derive(Debug, clap::Args)]
#[command(after_help = SETTLE_EXAMPLES)]
pub(crate) struct SettleArgs {
    /// A plain decimal, such as 10.50
    #[arg(value_name = "AMOUNT", allow_negative_numbers = true)]
    amount: String,
    /// ISO 4217 code, such as EUR
    #[arg(value_name = "CURRENCY")]
    currency: String,
    /// namespace:identifier, such as msisdn:+37120000001 or sim:ok
    #[arg(value_name = "TO")]
    to: String,
    #[command(flatten)]
    extras: Extras,
    /// Wait up to this many seconds until it is final
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=30))]
    wait: Option<u64>,
}

/// Before paying: would it be accepted, and what would it cost? After: do record, ledger and operator agree?
#[derive(Debug, clap::Args)]
#[command(
    after_help = CHECK_EXAMPLES,
    override_usage = "railgate check [OPTIONS] AMOUNT CURRENCY TO\n       railgate check [OPTIONS] REF"
)]
pub(crate) struct CheckArgs {
    /// AMOUNT CURRENCY TO of a payment to be made, or the reference or id of an existing one
    #[arg(value_name = "WHAT", required = true, num_args = 1..=3, allow_negative_numbers = true)]
    what: Vec<String>,
    #[command(flatten)]
    extras: Extras,
}

pub(crate) async fn settle(args: SettleArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let reference = match &args.extras.reference {
        Some(reference) => reference.clone(),
        None => {
            let made_up = unique_name()?;
            // Printed before anything is sent: whatever happens from here on, it can be looked up.
            note(format_args!("reference {made_up}"));
            made_up
        }
    };
    let mut ask = Ask::post("/gateway/settlements", body([&args.amount, &args.currency, &args.to], &args.extras, &reference));
    if let Some(seconds) = args.wait {
        ask = ask.with(HeaderName::from_static("prefer"), prefer(seconds)).patient(seconds);
    }
    let again = format!("--reference {reference} makes sure that it is paid only once");
    let answer = session.call_until_answered(ask, &again).await?;
    report(&answer, global, terminal)
}

fn report(answer: &ApiResponse, global: &Global, terminal: &Terminal) -> Done {
    let settlement: SettlementView = read(answer)?;
    if global.json {
        terminal.json(&answer.body)?;
    } else {
        if answer.header("idempotent-replayed") == Some("true") {
            terminal.line(terminal.paint(Tone::Warn, "This reference was used before for the same request; nothing was paid again."))?;
        }
        terminal.show(&render::settlement(terminal, &settlement))?;
    }
    match (settlement.status, settlement.failure) {
        (SettlementStatus::Failed, Some(failure)) => Err(Failure::new(format!("the payment failed: {}", render::failure(&failure)))
            .hint("no money moved; to try again, use a new --reference")),
        (status @ (SettlementStatus::Failed | SettlementStatus::Cancelled), _) => {
            Err(Failure::new(format!("the payment is {}", status.as_str())))
        }
        _ => Ok(()),
    }
}

pub(crate) async fn check(args: CheckArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.what.as_slice() {
        [reference] => reconcile(reference, global, terminal).await,
        [amount, currency, to] => preflight([amount, currency, to], &args.extras, global, terminal).await,
        _ => Err(Failure::usage("check takes either AMOUNT CURRENCY TO, or one REF").hint("railgate check --help has examples")),
    }
}

async fn preflight(payment: [&str; 3], extras: &Extras, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let reference = extras.reference.clone().map_or_else(unique_name, Ok)?;
    let answer = session.call(Ask::post("/gateway/settlements/check", body(payment, extras, &reference))).await?;
    let found: CheckView = read(&answer)?;
    if global.json {
        terminal.json(&answer.body)?;
    } else {
        show_preflight(payment, &found, terminal)?;
    }
    if found.ok { Ok(()) } else { Err(Failure::new("this payment would be refused")) }
}

fn show_preflight([amount, currency, to]: [&str; 3], found: &CheckView, terminal: &Terminal) -> Done {
    let verdict = if found.ok { Tone::Good.cell("would be accepted") } else { Tone::Bad.cell("would be refused") };
    let payee = &found.payee;
    let name = payee.display_name.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
    let tone = match payee.payee_match {
        PayeeMatch::Match => Tone::Good,
        PayeeMatch::CloseMatch => Tone::Warn,
        PayeeMatch::NoMatch => Tone::Bad,
        PayeeMatch::NotAvailable => Tone::Plain,
    };
    let mut rows = vec![("payment", Tone::Strong.cell(format!("{amount} {currency} to {to}"))), ("verdict", verdict)];
    // For an invalid request, nothing else is determined.
    if found.quote.is_some() || found.funds_available {
        rows.push(("payee", tone.cell(format!("{}{name}", payee.payee_match.as_str()))));
        rows.push(("funds", if found.funds_available { Cell::new("enough") } else { Tone::Bad.cell("not enough") }));
    }
    if !found.route.is_empty() {
        let step = |step: &RouteStepView| match (step.why, step.health) {
            (None, Health::Up) => step.provider.clone(),
            (None, health) => format!("{} ({})", step.provider, health.as_str()),
            (Some(why), _) => format!("{} ({})", step.provider, why.as_str().replace('_', " ")),
        };
        rows.push(("route", Cell::new(found.route.iter().map(step).collect::<Vec<_>>().join(", then "))));
    }
    if let Some(quote) = &found.quote {
        rows.push(("fee", Cell::new(format!("{} {currency}", render::decimal(&quote.fee)))));
        rows.push(("total debit", Cell::new(format!("{} {currency}, by {}", render::decimal(&quote.total_debit), quote.provider))));
        rows.push(("quote until", Cell::new(render::short_time(&quote.expires_at))));
    }
    terminal.show(&terminal.card(rows))?;
    for (list, tone) in [(&found.problems, Tone::Bad), (&found.warnings, Tone::Warn)] {
        if !list.is_empty() {
            terminal.line("")?;
            terminal.show(&render::field_notes(terminal, list, tone))?;
        }
    }
    Ok(())
}

async fn reconcile(reference: &str, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let ask = Ask::post(format!("/gateway/settlements/{}/check", encode(reference)), "{}").patient(30);
    let answer = session.call(ask).await?;
    let found: ReconcileView = read(&answer)?;
    if global.json {
        terminal.json(&answer.body)?;
    } else {
        let verdict = match found.consistent {
            true => terminal.paint(Tone::Good, "Record, ledger, trace and operator agree."),
            false => terminal.paint(Tone::Bad, "They do not agree:"),
        };
        terminal.line(verdict)?;
        for finding in &found.findings {
            terminal.line(format_args!("  {}  {}", terminal.paint(Tone::Warn, &finding.code), finding.message))?;
        }
        terminal.line("")?;
        terminal.show(&render::settlement(terminal, &found.settlement))?;
    }
    if found.consistent { Ok(()) } else { Err(Failure::new("the settlement is not consistent")) }
}

/// The create request. The amount is sent exactly as it was typed, so that the server reports what is wrong with it.
fn body([amount, currency, to]: [&str; 3], extras: &Extras, reference: &str) -> String {
    let create = CreateBody {
        amount: AmountInput::typed(amount),
        currency: currency.to_owned(),
        to: to.to_owned(),
        reference: reference.to_owned(),
        description: extras.description.clone(),
        metadata: (!extras.metadata.is_empty()).then(|| extras.metadata.iter().cloned().collect()),
        provider: extras.provider.clone(),
        ..CreateBody::default()
    };
    serde_json::to_string(&create).unwrap_or_default()
}

fn prefer(seconds: u64) -> HeaderValue {
    HeaderValue::try_from(format!("wait={seconds}")).unwrap_or(HeaderValue::from_static("wait=0"))
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    if key.is_empty() {
        return Err("the key before = is missing".to_owned());
    }
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_may_hold_further_equals_signs() {
        assert_eq!(pair("k=a=b"), Ok(("k".to_owned(), "a=b".to_owned())));
        assert!(pair("k").is_err() && pair("=v").is_err());
    }
}
