//! `railgate reverse`: reverses a payment, or cancels one that was not sent yet.

use std::borrow::Cow;

use clap::builder::PossibleValuesParser;
use hyper::header::{HeaderName, HeaderValue};
use railgate::api::{AmountInput, ReverseBody, ReverseView};
use railgate::validate::ReversalReason;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, encode};
use super::problem::read;
use super::render;
use super::session::{Session, unique_name};
use super::terminal::{Terminal, Tone};

const EXAMPLES: &str = "\
Examples:
  railgate reverse inv-2026-0042
      Reverses all that is left; a payment that was not sent yet is cancelled instead.
  railgate reverse inv-2026-0042 --amount 3.50 --reason customer_request --reference refund-7

The request carries its own Idempotency-Key, so that it is repeated safely when the connection
breaks. With --idempotency-key you can repeat it yourself.";

/// Reverse a payment, in whole or in part, or cancel one that was not sent yet
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReverseArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// The amount, in the payment's currency [default: all that is left]
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    amount: Option<String>,
    /// The reason
    #[arg(long, value_name = "REASON", value_parser = reasons())]
    reason: Option<String>,
    /// Your name for the reversal
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// A note for people, up to 140 characters
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The key by which a retry is recognised [default: a random one]
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

fn reasons() -> PossibleValuesParser {
    ReversalReason::ALL.iter().map(|reason| reason.as_str()).into()
}

pub(crate) async fn run(args: ReverseArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let key = args.idempotency_key.clone().map_or_else(unique_name, Ok)?;
    let value = HeaderValue::from_str(&key).map_err(|_| Failure::usage("the idempotency key has characters that no header can carry"))?;
    let ask = Ask::post(format!("/gateway/settlements/{}/reverse", encode(&args.target)), body(&args))
        .with(HeaderName::from_static("idempotency-key"), value);
    let again = format!("--idempotency-key {key} makes sure that it is reversed only once");
    let answer = session.call_until_answered(ask, &again).await?;
    let ReverseView { reversal, settlement } = read(&answer)?;
    if global.json {
        return terminal.json(&answer.body);
    }
    match &reversal {
        Some(reversal) => terminal.show(&render::reversal(terminal, reversal))?,
        None => terminal.line(terminal.paint(Tone::Back, "Nothing had been sent yet: the payment was cancelled."))?,
    }
    terminal.line("")?;
    terminal.show(&render::settlement(terminal, &settlement))
}

fn body(args: &ReverseArgs) -> String {
    let reverse = ReverseBody {
        amount: args.amount.as_deref().map(AmountInput::typed),
        reason: args.reason.clone().map(Cow::Owned),
        reference: args.reference.clone(),
        description: args.description.clone(),
    };
    serde_json::to_string(&reverse).unwrap_or_default()
}
