//! `railgate limits`: what is agreed with each client.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::Engine;
use railgate::engine::{AppliedTerms, Operated, PutTerms, terms_of};
use railgate::ids::{ClientNo, Ulid};
use railgate::ledger::Mode;
use railgate::money::{Currency, Money};
use railgate::store::record::{ClientRecord, Key, UsageRecord};
use railgate::store::{Store, Unique, typed};
use railgate::terms::{ClientLimits, Terms, UsageId, Used};
use railgate::time::rfc3339;

use super::plan::Plan;
use super::{ApplyArgs, carry_out, file, written};
use crate::cli::Global;
use crate::cli::clients::client_id;
use crate::cli::failure::{Done, Failure};
use crate::cli::render::short_time;
use crate::cli::stores::StoreArg;
use crate::cli::terminal::{Terminal, Tone, align_right};

const LIST_EXAMPLES: &str = "\
Examples:
  railgate limits list
  railgate limits list --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate limits show cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate limits show cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --json > shop.json
      What apply takes.";

const APPLY_EXAMPLES: &str = "\
Examples:
  railgate limits apply limits.toml --dry-run
  railgate limits apply limits.toml --reason 'contract of November'
  railgate limits show cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --json | railgate limits apply - --yes

A file in TOML, or in JSON:
  [[clients]]
  client = \"cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB\"
  credit = { EUR = \"2500\" }
  fees = [{ currency = \"EUR\", flat = \"0.10\" }]
  reversal_days = 30
  session_signatures = { live = \"all\" }

  [[clients.limits]]
  mode = \"live\"
  currency = \"EUR\"
  max = \"1000\"
  daily_value = \"20000\"
  daily_count = 500

Each client's terms are replaced whole; clients that the file does not name keep theirs. Payments of a day are counted
from the moment at which a daily limit is in force; those that fail or are cancelled do not count. A day is UTC. Credit
is how far below zero the available live money may fall. All changes are made, or none.";

/// List, show or replace what each client may pay
#[derive(Debug, Args)]
pub(crate) struct LimitsArgs {
    #[command(subcommand)]
    command: LimitsCommand,
}

#[derive(Debug, Subcommand)]
enum LimitsCommand {
    /// List the limits of all clients, and how much of them is used today
    #[command(after_help = LIST_EXAMPLES)]
    List(StoreArg),
    /// Show a client's limits, credit and fees as a file for apply has them
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The client's id
        #[arg(value_name = "CLIENT", value_parser = client_id)]
        client: Ulid,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Replace the limits, credit and fees of the clients in a file
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
}

pub(crate) fn limits(args: LimitsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        LimitsCommand::List(store) => {
            let place = store.place()?;
            list(&*place.open()?, &place.engine(None)?, global, terminal)
        }
        LimitsCommand::Show { client, store } => {
            let place = store.place()?;
            let no = number(&*place.open()?, client)?;
            let applied = place.engine(None)?.applied_terms(no);
            written(&terms_of(client, &applied.map(|it| (*it.terms).clone()).unwrap_or_default()), global, terminal)
        }
        LimitsCommand::Apply(args) => apply(&args, global, terminal),
    }
}

fn number(store: &dyn Store, client: Ulid) -> Done<ClientNo> {
    let found: Option<ClientRecord> = store.find(&Unique::ClientId(client)).and_then(typed).map_err(railgate::Error::from)?;
    let missing = || Failure::new(format!("there is no client cli_{client}")).hint("list the clients: railgate clients list");
    found.map(|client| client.no).ok_or_else(missing)
}

fn apply(args: &ApplyArgs, global: &Global, terminal: &Terminal) -> Done {
    let given = file::terms(&args.file)?;
    let engine = args.on.engine()?;
    let applied = engine.all_applied_terms();
    let before = |client: Ulid| applied.iter().find(|(_, it)| it.client == client).map(|(_, it)| it);
    let plan = Plan::of_terms(&given, |client| before(client).map(|it| terms_of(client, &it.terms)))?;
    let version = |client| before(client).map_or(0, |it| it.version);
    let terms = given.iter().map(|it| (terms_of(it.client, &it.terms), Some(version(it.client)))).collect();
    let put = PutTerms { terms, reason: args.on.reason.clone() };
    carry_out(args, &plan, global, terminal, || engine.run(Operated(put)).map(drop))
}

/// A client's limits in one mode and currency, and how much of them is used today.
struct Line<'a> {
    limits: &'a ClientLimits,
    used: Used,
}

fn lines<'a>(store: &dyn Store, client: ClientNo, terms: &'a Terms, now: i64) -> Done<Vec<Line<'a>>> {
    let line = |limits: &'a ClientLimits| {
        let id = UsageId::new(client, limits.mode, limits.currency, now);
        let found: Option<UsageRecord> = store.get(&Key::Usage(id)).and_then(typed).map_err(railgate::Error::from)?;
        Ok(Line { limits, used: found.map(|usage| usage.used).unwrap_or_default() })
    };
    terms.limits.iter().map(line).collect()
}

fn list(store: &dyn Store, engine: &Engine, global: &Global, terminal: &Terminal) -> Done {
    let all = engine.all_applied_terms();
    if global.json {
        let each = all.iter().map(|(client, it)| shape(store, engine, *client, it));
        let data: Vec<_> = each.collect::<Done<_>>()?;
        return terminal.json(serde_json::json!({ "data": data }).to_string().as_bytes());
    }
    if all.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No client has limits, credit or fees of its own."));
    }
    let headings = ["client", "mode", "one payment", "value today", "payments today", "credit", "changed"];
    let mut table = terminal.table(&headings);
    align_right(&mut table, [3, 4, 5]);
    for (client, it) in &all {
        let id = format!("cli_{}", it.client);
        let changed = format!("{}, version {}", short_time(&rfc3339(it.updated_at)), it.version);
        for Line { limits, used } in lines(store, *client, &it.terms, engine.now())? {
            let money = |minor| Money::from_minor(minor, limits.currency).decimal();
            let credit = it.terms.credit(limits.mode, limits.currency);
            table.add_row(vec![
                Tone::Strong.cell(&id),
                Cell::new(format!("{} {}", limits.mode.as_str(), limits.currency)),
                Cell::new(range(limits)),
                Cell::new(of(money(used.value), limits.daily_value.map(money))),
                Cell::new(of(used.count.to_string(), limits.daily_count.map(|count| count.to_string()))),
                Cell::new(if credit > 0 { money(credit) } else { String::new() }),
                Cell::new(&changed),
            ]);
        }
        for credit in it.terms.credit.iter().filter(|credit| it.terms.limits(Mode::Live, **credit).is_none()) {
            let mode = format!("live {}", credit.currency());
            let none = || Cell::new("");
            table.add_row(vec![
                Tone::Strong.cell(&id),
                Cell::new(mode),
                none(),
                none(),
                none(),
                Cell::new(credit.decimal()),
                Cell::new(&changed),
            ]);
        }
    }
    terminal.show(&table)
}

fn range(limits: &ClientLimits) -> String {
    let money = |minor| Money::from_minor(minor, limits.currency).decimal();
    match (limits.min, limits.max) {
        (None, None) => "any".to_owned(),
        (Some(min), None) => format!("from {}", money(min)),
        (None, Some(max)) => format!("up to {}", money(max)),
        (Some(min), Some(max)) => format!("{} to {}", money(min), money(max)),
    }
}

/// How much of a limit is used. Without a limit nothing may be counted.
fn of(used: String, most: Option<String>) -> String {
    most.map_or_else(|| "no limit".to_owned(), |most| format!("{used} of {most}"))
}

fn shape(store: &dyn Store, engine: &Engine, client: ClientNo, it: &AppliedTerms) -> Done<serde_json::Value> {
    let money = |minor, currency: Currency| Money::from_minor(minor, currency).decimal();
    let today: Vec<_> = lines(store, client, &it.terms, engine.now())?
        .into_iter()
        .filter(|line| line.limits.counts())
        .map(|Line { limits, used }| {
            let (mode, currency) = (limits.mode.as_str(), limits.currency.code());
            serde_json::json!({ "mode": mode, "currency": currency, "value": money(used.value, limits.currency), "count": used.count })
        })
        .collect();
    let terms = terms_of(it.client, &it.terms);
    Ok(serde_json::json!({ "terms": terms, "today": today, "version": it.version, "updated_at": rfc3339(it.updated_at) }))
}
