//! `railgate providers`, `railgate routes` and `railgate limits`: which operators take which payments, and what each client may pay,
//! decided by the gateway's operator on the store itself. A running server puts a change into force within seconds.

mod file;
mod limits;
mod plan;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::Engine;
use railgate::api::PositionsView;
use railgate::engine::{Operated, PutProviders, PutRoutes, SwitchProvider, document_of, table_of};
use railgate::route::{Availability, ProviderSpec, Serves};
use railgate::time::rfc3339;

use super::Global;
use super::failure::{Done, Failure};
use super::keys::failed;
use super::render::{decimal, short_time};
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, align_right, note, number};
use crate::master;
use plan::{Change, Plan};

const LIST_EXAMPLES: &str = "\
Examples:
  railgate providers list
  railgate providers list --store postgres://gateway@db.example/railgate --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate providers show operator-kenya
  railgate providers show operator-kenya --json > operator-kenya.json
      What apply takes, without the secrets: they are never shown.";

const POSITIONS_EXAMPLES: &str = "\
Examples:
  railgate providers positions
  railgate providers positions operator-kenya --json

`posted` is what was carried out, less what came back; `pending` is on hold for payments that the provider may have.
Both are accounts of the ledger, which railgate ledger verify checks.";

const APPLY_EXAMPLES: &str = "\
Examples:
  railgate providers apply providers.toml --dry-run
  railgate providers apply providers.toml --reason 'contract of November'
  railgate providers show operator-kenya --json | railgate providers apply - --yes

A file in TOML, or in JSON:
  [[providers]]
  id = \"operator-kenya\"
  name = \"Operator in Kenya\"
  rail = \"simulator\"
  mode = \"sandbox\"
  namespaces = [\"msisdn\"]
  currencies = [\"KES\"]
  secrets = { token = \"…\" }
  limits = { KES = { min = \"10\", max = \"150000\" } }
  fees = [{ flat = \"5\", percent = \"0.5\", max = \"100\" }]

Amounts and percentages are texts or whole numbers. Each provider is replaced whole, except secrets that are left out.
Providers that the file does not name stay as they are. All changes are made, or none.";

const SWITCH_EXAMPLES: &str = "\
Examples:
  railgate providers enable operator-kenya
  railgate providers disable operator-kenya --reason 'contract ended'
  railgate providers maintenance operator-kenya --reason 'announced for tonight'

Payments that a provider has are followed to their end in any case.";

const ROUTES_SHOW_EXAMPLES: &str = "\
Examples:
  railgate routes show
  railgate routes show --json > routes.json";

const ROUTES_APPLY_EXAMPLES: &str = "\
Examples:
  railgate routes apply routes.toml --dry-run
  railgate routes apply routes.toml --yes

A file in TOML, or in JSON, with the whole table:
  [[routes]]
  mode = \"sandbox\"
  namespace = \"msisdn\"
  prefix = \"+2547\"
  currency = \"KES\"
  providers = [{ id = \"operator-kenya\", priority = 1 }, { id = \"simulator\", priority = 2 }]

The longest prefix wins, then the narrowest entry. Lower priorities come first; `weight` shares among equal ones. For a
kind of participant without an entry, every enabled provider that serves it is tried, in order of id.";

const IN_FORCE: &str = "Running servers put it into force within a few seconds.";

/// List, configure, enable and disable providers
#[derive(Debug, Args)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    command: ProvidersCommand,
}

#[derive(Debug, Subcommand)]
enum ProvidersCommand {
    /// List the providers
    #[command(after_help = LIST_EXAMPLES)]
    List(StoreArg),
    /// Show a provider as a file for apply has it, without its secrets
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The provider's id
        id: String,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Show what was paid through providers, by currency
    #[command(after_help = POSITIONS_EXAMPLES)]
    Positions {
        /// Only this provider
        id: Option<String>,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Add or replace the providers in a file
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Let a provider take payments
    #[command(after_help = SWITCH_EXAMPLES)]
    Enable(SwitchArgs),
    /// Send a provider no more payments
    #[command(after_help = SWITCH_EXAMPLES)]
    Disable(SwitchArgs),
    /// Send a provider no payments for a while
    #[command(after_help = SWITCH_EXAMPLES)]
    Maintenance(SwitchArgs),
}

/// Show or replace the table of routes
#[derive(Debug, Args)]
pub(crate) struct RoutesArgs {
    #[command(subcommand)]
    command: RoutesCommand,
}

#[derive(Debug, Subcommand)]
enum RoutesCommand {
    /// Show the table of routes
    #[command(after_help = ROUTES_SHOW_EXAMPLES)]
    Show(StoreArg),
    /// Replace the table of routes
    #[command(after_help = ROUTES_APPLY_EXAMPLES)]
    Apply(ApplyArgs),
}

#[derive(Debug, Args)]
struct ApplyArgs {
    /// The file, in TOML or JSON; `-` for JSON from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Change without asking
    #[arg(long)]
    yes: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    #[command(flatten)]
    on: OnSetup,
}

#[derive(Debug, Args)]
struct SwitchArgs {
    /// The provider's id
    id: String,
    #[command(flatten)]
    on: OnSetup,
}

#[derive(Debug, Args)]
struct OnSetup {
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    store: StoreArg,
    /// The file of master keys [env: RAILGATE_MASTER_KEYS] [default: as for railgate serve]
    #[arg(long, value_name = "FILE")]
    master_keys: Option<String>,
}

impl OnSetup {
    fn engine(&self) -> Done<Engine> {
        let (place, keys) = self.store.place_and_keys(self.master_keys.clone())?;
        // Check the store first: a mistyped path is the likelier mistake.
        drop(place.open()?);
        place.engine(Some(Arc::new(master::load(&keys).map_err(failed)?)))
    }
}

pub(crate) use limits::{LimitsArgs, limits};

pub(crate) fn providers(args: ProvidersArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        ProvidersCommand::List(store) => list(&store.place()?.engine(None)?, global, terminal),
        ProvidersCommand::Show { id, store } => show(&id, &store.place()?.engine(None)?, global, terminal),
        ProvidersCommand::Positions { id, store } => positions(id.as_deref(), &store.place()?.engine(None)?, global, terminal),
        ProvidersCommand::Apply(args) => apply_providers(&args, global, terminal),
        ProvidersCommand::Enable(args) => switch(args, Availability::Enabled, global, terminal),
        ProvidersCommand::Disable(args) => switch(args, Availability::Disabled, global, terminal),
        ProvidersCommand::Maintenance(args) => switch(args, Availability::Maintenance, global, terminal),
    }
}

pub(crate) fn routes(args: RoutesArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        RoutesCommand::Show(store) => show_routes(&store.place()?.engine(None)?, global, terminal),
        RoutesCommand::Apply(args) => apply_routes(&args, global, terminal),
    }
}

fn list(engine: &Engine, global: &Global, terminal: &Terminal) -> Done {
    let (routes, applied) = (engine.routes(), engine.applied_providers());
    let changed = |spec: &ProviderSpec| applied.iter().find(|it| it.spec.id == spec.id).map(|it| (it.version, rfc3339(it.updated_at)));
    if global.json {
        let data: Vec<_> = routes
            .providers()
            .map(|(_, spec)| {
                let (version, updated_at) = changed(spec).unzip();
                let status = spec.availability.as_str();
                serde_json::json!({ "provider": document_of(spec), "status": status, "version": version, "updated_at": updated_at })
            })
            .collect();
        return terminal.json(serde_json::json!({ "data": data }).to_string().as_bytes());
    }
    let mut table = terminal.table(&["provider", "name", "rail", "mode", "takes", "currencies", "state", "changed"]);
    for (_, spec) in routes.providers() {
        let state = match spec.availability {
            Availability::Enabled => Tone::Good.cell("enabled"),
            Availability::Disabled => Tone::Dim.cell("disabled"),
            Availability::Maintenance => Tone::Warn.cell("maintenance"),
        };
        table.add_row(vec![
            Tone::Strong.cell(&spec.id),
            Cell::new(&spec.name),
            Cell::new(&spec.rail),
            Cell::new(spec.mode.as_str()),
            Cell::new(joined(&spec.namespaces, |namespace| namespace.as_str())),
            Cell::new(joined(&spec.currencies, |currency| currency.code())),
            state,
            Cell::new(
                changed(spec).map_or_else(|| "built in".to_owned(), |(version, at)| format!("{}, version {version}", short_time(&at))),
            ),
        ]);
    }
    terminal.show(&table)
}

fn joined<T: Copy>(serves: &Serves<T>, name: fn(T) -> &'static str) -> String {
    match serves {
        Serves::All => "all".to_owned(),
        Serves::Only(some) => some.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", "),
    }
}

fn positions(id: Option<&str>, engine: &Engine, global: &Global, terminal: &Terminal) -> Done {
    let data = match id {
        Some(id) => engine.positions(id)?,
        None => engine.all_positions()?,
    };
    if global.json {
        let document = serde_json::to_vec(&PositionsView { data }).map_err(|error| Failure::caused("cannot write JSON", error))?;
        return terminal.json(&document);
    }
    if data.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "Nothing was paid yet."));
    }
    let mut table = terminal.table(&["provider", "environment", "currency", "posted", "pending"]);
    for it in &data {
        table.add_row(vec![
            Tone::Strong.cell(&it.provider),
            Cell::new(if it.sandbox { "sandbox" } else { "live" }),
            Cell::new(&it.currency),
            number(decimal(&it.posted)),
            number(decimal(&it.pending)),
        ]);
    }
    align_right(&mut table, [3, 4]);
    terminal.show(&table)
}

fn show(id: &str, engine: &Engine, global: &Global, terminal: &Terminal) -> Done {
    let routes = engine.routes();
    let found = routes.providers().find(|(_, spec)| spec.id == id);
    let (_, spec) =
        found.ok_or_else(|| Failure::new(format!("there is no provider {id}")).hint("list the providers: railgate providers list"))?;
    written(&document_of(spec), global, terminal)
}

fn show_routes(engine: &Engine, global: &Global, terminal: &Terminal) -> Done {
    let (rules, _) = engine.applied_routes();
    if rules.is_empty() && !global.json {
        return terminal
            .line(terminal.paint(Tone::Dim, "No entries: every enabled provider that serves a payment is tried, in order of id."));
    }
    written(&table_of(&rules), global, terminal)
}

/// A document in the form in which it may be applied again.
fn written(document: &impl serde::Serialize, global: &Global, terminal: &Terminal) -> Done {
    let failed = |error: serde_json::Error| Failure::caused("cannot write the document", error);
    if global.json {
        return terminal.json(&serde_json::to_vec(document).map_err(failed)?);
    }
    let value = serde_json::to_value(document).map_err(failed)?;
    let text = toml::to_string_pretty(&value).map_err(|error| Failure::caused("cannot write the document", error))?;
    terminal.raw(text.as_bytes())
}

fn switch(args: SwitchArgs, to: Availability, global: &Global, terminal: &Terminal) -> Done {
    let engine = args.on.engine()?;
    let version = engine
        .run(Operated(SwitchProvider { id: args.id.clone(), to, expected: None, reason: args.on.reason }))
        .map_err(|error| Failure::from(error).hint("list the providers: railgate providers list"))?;
    if global.json {
        note(IN_FORCE);
        let done = serde_json::json!({ "provider": args.id, "status": to.as_str(), "version": version });
        return terminal.json(done.to_string().as_bytes());
    }
    let mark = terminal.paint(Tone::Good, "✓");
    let state = if to == Availability::Maintenance { "in maintenance" } else { to.as_str() };
    terminal.line(format_args!("{mark} {} is {state}", args.id))?;
    terminal.line(IN_FORCE)
}

fn apply_providers(args: &ApplyArgs, global: &Global, terminal: &Terminal) -> Done {
    let given = file::providers(&args.file)?;
    let engine = args.on.engine()?;
    let routes = engine.routes();
    let before = |id: &str| routes.providers().find(|(_, spec)| spec.id == id).map(|(_, spec)| document_of(spec));
    let plan = Plan::of_providers(&given, before)?;
    let applied = engine.applied_providers();
    let version = |id: &str| applied.iter().find(|it| it.spec.id == id).map_or(0, |it| it.version);
    let providers = given.into_iter().map(|it| (Some(version(&it.body.id)), it.body)).map(|(version, body)| (body, version)).collect();
    let put = PutProviders { providers, reason: args.on.reason.clone() };
    carry_out(args, &plan, global, terminal, || engine.run(Operated(put)).map(drop))
}

fn apply_routes(args: &ApplyArgs, global: &Global, terminal: &Terminal) -> Done {
    let table = file::routes(&args.file)?;
    let engine = args.on.engine()?;
    let (rules, version) = engine.applied_routes();
    let plan = Plan::of_routes(&table_of(&rules), &table)?;
    carry_out(args, &plan, global, terminal, || {
        let put = PutRoutes { table, expected: Some(version), reason: args.on.reason.clone() };
        engine.run(Operated(put)).map(drop)
    })
}

/// Shows what changes, asks, and changes it.
fn carry_out(args: &ApplyArgs, plan: &Plan, global: &Global, terminal: &Terminal, change: impl FnOnce() -> railgate::Result<()>) -> Done {
    if !global.json {
        plan.show(terminal)?;
    }
    let changes = plan.changes().count();
    let report = |applied: bool, terminal: &Terminal| {
        let changes: Vec<_> = plan.changes().map(Change::shape).collect();
        terminal.json(serde_json::json!({ "applied": applied, "changes": changes }).to_string().as_bytes())
    };
    if changes == 0 || args.dry_run {
        return match (global.json, changes) {
            (true, _) => report(false, terminal),
            (false, 0) => terminal.line("Nothing changes."),
            (false, _) => terminal.line("Nothing was changed: --dry-run."),
        };
    }
    if !args.yes && !agreed(args)? {
        return Err(Failure::new("nothing was changed"));
    }
    change()?;
    if global.json {
        note(IN_FORCE);
        return report(true, terminal);
    }
    terminal.line(format_args!("{} applied", terminal.paint(Tone::Good, "✓")))?;
    terminal.line(IN_FORCE)
}

/// Asks the person at the terminal.
fn agreed(args: &ApplyArgs) -> Done<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || args.file.as_os_str() == "-" {
        return Err(Failure::usage("nobody can be asked here").hint("--yes changes without asking, --dry-run only shows what would change"));
    }
    let mut stderr = std::io::stderr();
    write!(stderr, "Apply this? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(|error| Failure::caused("cannot read the answer", error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
