//! `railgate webhooks add|list|show|update|remove|enable|rotate`: a client's own webhooks.

use clap::{Args, Subcommand};
use hyper::Method;
use railgate::api::{DeliveryView, NewWebhookBody, RotationBody, WebhookPatchBody, WebhookView, WebhooksView};
use serde_json::json;

use super::history::{self, HistoryCommand};
use super::pretty;
use super::tables;
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::http::{ApiResponse, Ask, encode};
use crate::cli::problem::read;
use crate::cli::session::Session;
use crate::cli::terminal::{Terminal, Tone};

const ADD_EXAMPLES: &str = "\
Examples:
  railgate webhooks add https://shop.example.com/hooks/railgate
      Gets every event. The printed secret verifies what arrives; it is shown only this once.
  railgate webhooks add https://shop.example.com/hooks/paid --event settlement.completed --event settlement.failed
  railgate webhooks add http://127.0.0.1:8095/
      Delivers to `railgate webhooks listen`, if the gateway runs on this machine too.";

const LIST_EXAMPLES: &str = "\
Examples:
  railgate webhooks list
  railgate webhooks list --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate webhooks show whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate webhooks show whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB dlv_01KAJX3NBC5W8ZP9D2R4T6V8YB
      One of its deliveries, with what was sent and the response.";

const UPDATE_EXAMPLES: &str = "\
Examples:
  railgate webhooks update whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --url https://shop.example.com/v2/hooks
  railgate webhooks update whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --event settlement.completed
      From now on only this type; --all-events for everything again.
  railgate webhooks update whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --disable";

const REMOVE_EXAMPLES: &str = "\
Examples:
  railgate webhooks remove whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB";

const ENABLE_EXAMPLES: &str = "\
Examples:
  railgate webhooks enable whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB
      Pending deliveries are made; `railgate webhooks replay` sends the events in the meantime.";

const ROTATE_EXAMPLES: &str = "\
Examples:
  railgate webhooks rotate whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB
      For a day, deliveries carry a signature of the old secret too.
  railgate webhooks rotate whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB --grace 0
      The old secret has leaked: it ends at once.";

#[derive(Debug, Subcommand)]
pub(super) enum OwnerCommand {
    /// Send events to a URL from now on
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArgs),
    /// List this client's webhooks
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show a webhook, or one of its deliveries
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        #[command(flatten)]
        which: Which,
        /// One of its deliveries
        #[arg(value_name = "DELIVERY")]
        delivery: Option<String>,
    },
    /// Change a webhook
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(UpdateArgs),
    /// Remove a webhook
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(Which),
    /// Enable a webhook that was disabled, by you or because it failed
    #[command(after_help = ENABLE_EXAMPLES)]
    Enable(Which),
    /// Give a webhook a new secret
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate {
        #[command(flatten)]
        which: Which,
        /// For how many seconds the old secret also signs, at most 604800 [default: 86400]
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=604_800))]
        grace: Option<u32>,
    },
    #[command(flatten)]
    History(HistoryCommand),
}

/// The argument that names a webhook.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The webhook (whk_…)
    #[arg(value_name = "WEBHOOK")]
    id: String,
}

impl Which {
    /// The webhook's path, followed by `rest`.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/webhooks/{}{rest}", encode(&self.id))
    }
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// Where deliveries go
    #[arg(value_name = "URL")]
    url: String,
    /// Only this type of event; may be repeated
    #[arg(long = "event", value_name = "TYPE")]
    events: Vec<String>,
    /// A description, up to 200 characters
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct UpdateArgs {
    #[command(flatten)]
    which: Which,
    /// Where deliveries go
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Only this type of event; may be repeated
    #[arg(long = "event", value_name = "TYPE", conflicts_with = "all_events")]
    events: Vec<String>,
    /// All types of events, including future ones
    #[arg(long)]
    all_events: bool,
    /// A description, up to 200 characters; empty to remove it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Stop delivering
    #[arg(long, conflicts_with = "enable")]
    disable: bool,
    /// Deliver again
    #[arg(long)]
    enable: bool,
}

pub(super) async fn run(command: OwnerCommand, global: &Global, terminal: &Terminal) -> Done {
    let session = &mut Session::open(global)?;
    match command {
        OwnerCommand::Add(args) => add(&args, session, global, terminal).await,
        OwnerCommand::List => list(session, global, terminal).await,
        OwnerCommand::Show { which, delivery: None } => {
            let answer = session.call(Ask::get(which.path(""))).await?;
            show(&answer, global, terminal)
        }
        OwnerCommand::Show { which, delivery: Some(delivery) } => {
            let answer = session.call(Ask::get(which.path(&format!("/deliveries/{}", encode(&delivery))))).await?;
            show_delivery(&answer, global, terminal)
        }
        OwnerCommand::Update(args) => {
            let mut ask = Ask::post(args.which.path(""), body(&patch(&args)?));
            ask.method = Method::PATCH;
            let answer = session.call(ask).await?;
            show(&answer, global, terminal)
        }
        OwnerCommand::Remove(which) => {
            session.call(Ask::new(Method::DELETE, which.path(""))).await?;
            if global.json {
                return terminal.json(json!({ "removed": which.id }).to_string().as_bytes());
            }
            terminal.line(format_args!("{} {} is gone", terminal.paint(Tone::Good, "✓"), which.id))
        }
        OwnerCommand::Enable(which) => {
            let answer = session.call(Ask::new(Method::POST, which.path("/enable"))).await?;
            show(&answer, global, terminal)
        }
        OwnerCommand::Rotate { which, grace } => {
            let answer = session.call(Ask::post(which.path("/rotate-secret"), body(&RotationBody { grace }))).await?;
            show(&answer, global, terminal)
        }
        OwnerCommand::History(command) => history::run(command, session, global, terminal).await,
    }
}

async fn add(args: &AddArgs, session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    let events = (!args.events.is_empty()).then(|| args.events.clone());
    let new = NewWebhookBody { url: args.url.clone(), events, description: args.description.clone() };
    let answer = session.call(Ask::post("/webhooks", body(&new))).await?;
    show(&answer, global, terminal)?;
    if global.json {
        return Ok(());
    }
    let made: WebhookView = read(&answer)?;
    terminal.line(terminal.paint(Tone::Dim, format_args!("Try it: railgate webhooks test {}", made.id)))
}

async fn list(session: &mut Session, global: &Global, terminal: &Terminal) -> Done {
    let answer = session.call(Ask::get("/webhooks")).await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    let page: WebhooksView = read(&answer)?;
    if page.data.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No webhooks. railgate webhooks add URL makes one."));
    }
    terminal.show(&tables::webhooks(terminal, &page.data))
}

/// A request body as JSON.
pub(super) fn body(body: &impl serde::Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

/// The changes of an `update`.
fn patch(args: &UpdateArgs) -> Done<WebhookPatchBody> {
    let events = (!args.events.is_empty()).then(|| Some(args.events.clone()));
    let patch = WebhookPatchBody {
        url: args.url.clone(),
        events: if args.all_events { Some(None) } else { events },
        description: args.description.as_ref().map(|text| (!text.is_empty()).then(|| text.clone())),
        enabled: (args.enable || args.disable).then_some(args.enable),
    };
    if patch == WebhookPatchBody::default() {
        return Err(Failure::usage("there is nothing to change").hint("railgate webhooks update --help lists what can be changed"));
    }
    Ok(patch)
}

/// Shows a webhook; its secret, if there is one, is shown only this once.
fn show(answer: &ApiResponse, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return terminal.json(&answer.body);
    }
    let it: WebhookView = read(answer)?;
    terminal.show(&tables::webhook(terminal, &it))?;
    let Some(secret) = &it.secret else { return Ok(()) };
    terminal.line("")?;
    terminal.line("Its secret verifies what arrives. Keep it now: it is not shown again.")?;
    terminal.line(format_args!("  {}", terminal.paint(Tone::Strong, secret)))?;
    terminal.line("")
}

/// Shows a delivery, with what was or will be sent.
pub(super) fn show_delivery(answer: &ApiResponse, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return terminal.json(&answer.body);
    }
    let it: DeliveryView = read(answer)?;
    terminal.show(&tables::delivery(terminal, &it))?;
    terminal.line("")?;
    terminal.line(pretty::body(it.payload.get().as_bytes(), |key| terminal.paint(Tone::Dim, key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_sends_what_is_named_and_nothing_else() {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            update: UpdateArgs,
        }
        let body = |line: &[&str]| {
            let args = <Only as clap::Parser>::try_parse_from(["update", "whk_1"].iter().chain(line)).map_err(drop)?;
            patch(&args.update).map(|patch| json!(patch)).map_err(drop)
        };
        assert_eq!(body(&["--url", "https://x", "--event", "a", "--event", "b"]), Ok(json!({"url": "https://x", "events": ["a", "b"]})));
        assert_eq!(
            body(&["--all-events", "--description", "", "--enable"]),
            Ok(json!({"events": null, "description": null, "enabled": true}))
        );
        assert_eq!(body(&["--disable"]), Ok(json!({"enabled": false})));
        for wrong in [&[][..], &["--enable", "--disable"], &["--event", "a", "--all-events"]] {
            assert_eq!(body(wrong), Err(()), "{wrong:?}");
        }
    }
}
