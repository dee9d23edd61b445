//! `railgate review`: what waits for a person, decided by the gateway's operator on the store itself.

use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use railgate::Engine;
use railgate::api::{CaseAnswerView, CaseView, ReviewView, StatementFindingView};
use railgate::engine::{Operated, ResolveReview};
use railgate::ids::Ulid;
use railgate::lifecycle::Resolution;
use railgate::lifecycle::attempt::AnswerKind;
use railgate::time::{Millis, parse_rfc3339};
use railgate::webhook::Cidr;
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::keys::failed;
use super::render::{self, decimal, short_time, state};
use super::stores::{StoreArg, StorePlace};
use super::terminal::{Terminal, Tone, align_right, number, printable};
use crate::carrier::OneByOne;
use crate::master;

const LIST_EXAMPLES: &str = "\
Examples:
  railgate review list
  railgate review list --all
  railgate review list --store sqlite:/var/lib/railgate/railgate.db --json

Oldest first. A payment or reversal waits here if nobody knows its outcome after a day, or if its provider
contradicts what was proved.";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate review show stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate review show stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB --ask
      Asks the provider now, from this machine, about the payment and its reversals. Its answers count like those to the
      gateway's own questions, and may end the wait. It needs the master keys, because the provider's secrets are sealed.";

const RESOLVE_EXAMPLES: &str = "\
Examples:
  railgate review resolve stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB --resolution confirmed_completed \\
      --evidence 'Statement of 24 November, line 7'
      Posts the money as if the provider had reported the payment as carried out.
  railgate review resolve stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB --resolution confirmed_failed --reversal 1 \\
      --evidence 'Call with the provider, ticket 4711'
  railgate review resolve stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB --resolution keep_waiting --evidence 'Asked the provider'

Confirm an outcome only with proof: it moves money. The evidence stays in the audit trail; clients never see it.";

/// List, show and decide what waits for a person
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    command: ReviewCommand,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// List what waits for a person, of all clients
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Also what was put off and is not due yet
        #[arg(long)]
        all: bool,
        /// Show at most this many
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Show everything that is known about a settlement
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The settlement's id
        #[arg(value_name = "ID", value_parser = settlement_id)]
        id: Ulid,
        /// Ask its provider first, and apply what it says
        #[arg(long)]
        ask: bool,
        #[command(flatten)]
        store: StoreArg,
        /// The file of master keys, to ask [env: RAILGATE_MASTER_KEYS] [default: as for railgate serve]
        #[arg(long, value_name = "FILE", requires = "ask")]
        master_keys: Option<String>,
        /// Allow asking in this range of addresses although it is not public (`10.1.0.0/16`), as for `railgate serve`
        #[arg(long, value_name = "CIDR", value_delimiter = ',', env = "RAILGATE_PROVIDER_ALLOW")]
        provider_allow: Vec<Cidr>,
    },
    /// Decide about a settlement or a reversal that waits
    #[command(after_help = RESOLVE_EXAMPLES)]
    Resolve {
        /// The settlement's id
        #[arg(value_name = "ID", value_parser = settlement_id)]
        id: Ulid,
        /// What you decide
        #[arg(long, value_name = "RESOLUTION")]
        resolution: Decided,
        /// What proves it, for the audit trail: 1 to 500 characters
        #[arg(long, value_name = "TEXT")]
        evidence: String,
        /// Decide about the reversal with this number, not about the settlement itself
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        reversal: Option<u16>,
        /// Refuse if the settlement is not at this version any more
        #[arg(long, value_name = "VERSION")]
        version: Option<u32>,
        #[command(flatten)]
        store: StoreArg,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Decided {
    /// The provider carried it out
    ConfirmedCompleted,
    /// The provider did not carry it out and never will
    ConfirmedFailed,
    /// The recorded outcome stays, although something contradicts it
    AcceptDiscrepancy,
    /// There is no proof yet: ask again in a day
    KeepWaiting,
}

impl From<Decided> for Resolution {
    fn from(decided: Decided) -> Self {
        match decided {
            Decided::ConfirmedCompleted => Self::ConfirmedCompleted,
            Decided::ConfirmedFailed => Self::ConfirmedFailed,
            Decided::AcceptDiscrepancy => Self::AcceptDiscrepancy,
            Decided::KeepWaiting => Self::KeepWaiting,
        }
    }
}

/// Parses `stl_` and a ULID.
fn settlement_id(text: &str) -> Result<Ulid, String> {
    text.strip_prefix("stl_").and_then(Ulid::parse).ok_or_else(|| "a settlement id is stl_ and 26 letters and digits".to_owned())
}

pub(crate) fn run(args: ReviewArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        ReviewCommand::List { all, limit, store } => {
            let engine = store.place()?.engine(None)?;
            list(&engine, all, usize::try_from(limit).unwrap_or(usize::MAX), global, terminal)
        }
        ReviewCommand::Show { id, ask, store, master_keys, provider_allow } => {
            let (place, engine) = if ask { asking(&store, master_keys)? } else { still(&store)? };
            let unknown = |error| Failure::from(error).hint(format!("list what waits: railgate review list --store {place}"));
            let asked = ask
                .then(|| {
                    engine.ask_the_rail(id, &OneByOne::new(super::current()?, Arc::clone(engine.env()), provider_allow)).map_err(unknown)
                })
                .transpose()?;
            show(&engine.case(id, asked.as_ref()).map_err(unknown)?, asked.map_or(0, |asked| asked.left_out), global, terminal)
        }
        ReviewCommand::Resolve { id, resolution, evidence, reversal, version, store } => {
            let place = store.place()?;
            let act = ResolveReview { settlement: id, reversal, resolution: resolution.into(), evidence, expected: version };
            let engine = place.engine(None)?;
            engine.run(Operated(act)).map_err(|error| {
                Failure::from(error).hint(format!("see what is known now: railgate review show stl_{id} --store {place}"))
            })?;
            resolved(&engine.case(id, None)?, resolution.into(), global, terminal)
        }
    }
}

/// The engine for a look at the store.
fn still(store: &StoreArg) -> Done<(StorePlace, Engine)> {
    let place = store.place()?;
    let engine = place.engine(None)?;
    Ok((place, engine))
}

/// The engine for questions to providers, which have secrets.
fn asking(store: &StoreArg, master_keys: Option<String>) -> Done<(StorePlace, Engine)> {
    let (place, keys) = store.place_and_keys(master_keys)?;
    // Check the store first: a mistyped path is the likelier mistake.
    drop(place.open()?);
    let engine = place.engine(Some(Arc::new(master::load(&keys).map_err(failed)?)))?;
    Ok((place, engine))
}

fn list(engine: &Engine, all: bool, limit: usize, global: &Global, terminal: &Terminal) -> Done {
    let now = engine.now();
    let mut found = Vec::new();
    let (mut after, mut more) = (None, true);
    while more && found.len() < limit {
        let (page, next) = engine.reviews(if all { Millis::MAX } else { now }, after.as_ref(), (limit - found.len()).min(500))?;
        found.extend(page);
        more = next.is_some();
        after = next;
    }
    if global.json {
        return as_json(&ListShape { data: found, has_more: more }, terminal);
    }
    if found.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "Nothing waits for a person."));
    }
    let mut table = terminal.table(&["settlement", "reversal", "reference", "client", "why", "waits", "amount", "", "provider", "status"]);
    for it in &found {
        table.add_row(vec![
            Tone::Strong.cell(&it.settlement_id),
            number(it.reversal.map(|n| n.to_string()).unwrap_or_default()),
            Cell::new(&it.reference),
            Cell::new(&it.client_id),
            Tone::Warn.cell(it.reason.as_str()),
            number(age(now, &it.opened_at)),
            number(decimal(&it.amount)),
            Cell::new(if it.sandbox { format!("{} sandbox", it.currency) } else { it.currency.clone() }),
            Cell::new(&it.provider),
            state(it.status.as_str()),
        ]);
    }
    align_right(&mut table, [1, 5, 6]);
    terminal.show(&table)?;
    if more {
        terminal.line(terminal.paint(Tone::Dim, "There are more: --limit N"))?;
    }
    Ok(())
}

/// How long something has been waiting, in the unit that fits.
fn age(now: Millis, since: &str) -> String {
    let minutes = parse_rfc3339(since).map_or(0, |since| (now - since).max(0)) / 60_000;
    match minutes {
        0..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1_440),
    }
}

/// A page of the queue as JSON. Not by way of a [`serde_json::Value`], which would make floats of the amounts.
#[derive(Serialize)]
struct ListShape {
    data: Vec<ReviewView>,
    has_more: bool,
}

/// What the provider said, in one sentence for people.
fn answer_sentence(it: &CaseAnswerView) -> String {
    let about = match (it.attempt, it.reversal) {
        (_, Some(n)) => format!("reversal {n}"),
        (Some(n), None) => format!("attempt {n}"),
        (None, None) => String::new(),
    };
    let said = match it.answer {
        AnswerKind::Completed => "carried out",
        AnswerKind::Accepted => "accepted, not carried out yet",
        AnswerKind::Declined => "declined",
        AnswerKind::NotSent => "not found",
        AnswerKind::Unknown => "no usable answer",
        AnswerKind::Returned => "carried out, and came back",
    };
    let details = [it.code.map(|code| code.as_str().to_owned()), it.rail_code.clone(), it.rail_reference.clone()];
    let details: Vec<String> = details.into_iter().flatten().map(|text| printable(&text).to_string()).collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("The provider says now about {about}: {said}{details}")
}

fn as_json(shape: &impl Serialize, terminal: &Terminal) -> Done {
    terminal.json(&serde_json::to_vec(shape).map_err(|error| Failure::caused("cannot write JSON", error))?)
}

fn show(case: &CaseView, left_out: usize, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return as_json(case, terminal);
    }
    terminal.show(&render::settlement(terminal, &case.settlement))?;
    for it in case.asked.iter().flatten() {
        terminal.line(terminal.paint(Tone::Strong, answer_sentence(it)))?;
    }
    if left_out > 0 {
        terminal.line(terminal.paint(Tone::Warn, format_args!("It was not asked about {left_out} more reversals: ask again.")))?;
    }
    match case.waiting.as_slice() {
        [] => terminal.line(terminal.paint(Tone::Dim, "Nothing of it waits for a person."))?,
        waiting => waiting.iter().try_for_each(|it| terminal.line(terminal.paint(Tone::Warn, sentence(it))))?,
    }
    case.findings.iter().try_for_each(|it| terminal.line(terminal.paint(Tone::Warn, found(it))))?;
    let mut attempts = terminal.table(&["attempt", "provider", "status", "sent", "started", "answered"]);
    for it in &case.attempts {
        attempts.add_row(vec![
            number(it.attempt),
            Cell::new(&it.provider),
            state(it.status.as_str()),
            number(it.sends),
            Tone::Dim.cell(short_time(&it.started_at)),
            Tone::Dim.cell(it.answered_at.as_deref().map(short_time).unwrap_or_default()),
        ]);
    }
    align_right(&mut attempts, [0, 3]);
    terminal.show(&attempts)?;
    case.reversals.iter().try_for_each(|it| terminal.show(&render::reversal(terminal, it)))?;
    terminal.show(&render::events(terminal, &case.events))?;
    let mut transfers = terminal.table(&["transfer", "at", "kind", "of", "from", "to", "amount", "ends"]);
    for it in &case.transfers {
        transfers.add_row(vec![
            number(it.transfer),
            Tone::Dim.cell(short_time(&it.at)),
            Cell::new(it.kind.as_str()),
            Cell::new(it.code.as_str()),
            Cell::new(&it.debit),
            Cell::new(&it.credit),
            number(&it.amount),
            number(it.resolves.map(|n| n.to_string()).unwrap_or_default()),
        ]);
    }
    align_right(&mut transfers, [0, 6, 7]);
    terminal.show(&transfers)
}

/// What a statement says about it, in one sentence for people.
fn found(it: &StatementFindingView) -> String {
    let about = it.reversal.map(|n| format!(" of reversal {n}")).unwrap_or_default();
    let line = it.line.as_ref().map_or_else(
        || "the statement does not have it".to_owned(),
        |line| {
            let references = printable(&line.references.join(", "));
            let (amount, currency, at) = (decimal(&line.amount), &line.currency, &line.booked_at);
            format!("line {} of the statement: {} {amount} {currency}, booked {at}, {references}", line.line, line.direction.as_str())
        },
    );
    format!("Statement{about}: {}; {line} ({})", it.kind.as_str(), it.reconciliation_id)
}

/// What waits, since when and why.
fn sentence(it: &ReviewView) -> String {
    let what = it.reversal.map_or_else(|| "the settlement".to_owned(), |n| format!("reversal {n}"));
    let since = short_time(&it.opened_at);
    let put_off = if it.due_at > it.opened_at { format!(", put off until {}", short_time(&it.due_at)) } else { String::new() };
    format!("Waits for a person: {what}, {}, since {since}{put_off}", it.reason.as_str())
}

fn resolved(case: &CaseView, resolution: Resolution, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return as_json(case, terminal);
    }
    let it = &case.settlement;
    terminal.line(format_args!(
        "{} {} ({}): {}; it is {}",
        terminal.paint(Tone::Good, "✓"),
        it.id,
        printable(&it.reference),
        resolution.as_str(),
        it.status.as_str()
    ))?;
    case.waiting.iter().try_for_each(|it| terminal.line(sentence(it)))
}

#[cfg(test)]
mod tests {
    use railgate::time::rfc3339;

    use super::*;

    #[test]
    fn settlements_are_named_in_full() {
        assert!(settlement_id("stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB").is_ok());
        assert!(settlement_id("invoice-1").is_err() && settlement_id("stl_").is_err());
    }

    #[test]
    fn every_resolution_has_its_name() {
        let names = Decided::value_variants().iter().filter_map(|it| it.to_possible_value()).map(|it| it.get_name().to_owned());
        assert_eq!(names.collect::<Vec<_>>(), Resolution::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    }

    #[test]
    fn an_age_is_short() {
        let since = rfc3339(0);
        assert_eq!([0, 59, 60, 2_879, 2_880].map(|minutes| age(minutes * 60_000, &since)), ["0 min", "59 min", "1 h", "47 h", "2 d"]);
    }
}
