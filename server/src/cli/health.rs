//! `railgate health`: the providers that payments can go to, and how they are.

use comfy_table::Cell;
use railgate::api::{ProviderView, ProvidersView};
use railgate::route::health::Health;

use super::Global;
use super::failure::Done;
use super::http::{Ask, encode};
use super::problem::read;
use super::render::short_time;
use super::session::Session;
use super::terminal::{Terminal, Tone, align_right, number};

const EXAMPLES: &str = "\
Examples:
  railgate health
  railgate health operator-kenya
  railgate health --json
      With the limits, fees and capabilities of each.

Each server judges by the payments that it sent itself in the last minute.";

/// Show the providers that payments can go to, and how they are
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HealthArgs {
    /// Only this one
    #[arg(value_name = "PROVIDER")]
    provider: Option<String>,
}

pub(crate) async fn run(args: HealthArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let path = match &args.provider {
        Some(id) => format!("/providers/{}", encode(id)),
        None => "/providers".to_owned(),
    };
    let answer = session.call(Ask::get(path)).await?;
    let providers = match args.provider {
        Some(_) => vec![read::<ProviderView>(&answer)?],
        None => read::<ProvidersView>(&answer)?.data,
    };
    if global.json {
        return terminal.json(&answer.body);
    }
    if providers.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No provider takes payments."));
    }
    let mut table = terminal.table(&["provider", "name", "mode", "takes", "currencies", "status", "answered", "95 % within", "last call"]);
    for it in &providers {
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(&it.name),
            Cell::new(if it.sandbox { "sandbox" } else { "live" }),
            Cell::new(joined(it.namespaces.as_deref())),
            Cell::new(joined(it.currencies.as_deref())),
            tone(it.status).cell(it.status.as_str()),
            number(it.success_rate.map(percent).unwrap_or_default()),
            number(it.p95_ms.map(|ms| format!("{ms} ms")).unwrap_or_default()),
            Tone::Dim.cell(it.updated_at.as_deref().map(short_time).unwrap_or_default()),
        ]);
    }
    align_right(&mut table, [6, 7]);
    terminal.show(&table)
}

fn joined(some: Option<&[String]>) -> String {
    some.map_or_else(|| "all".to_owned(), |some| some.join(", "))
}

const fn tone(health: Health) -> Tone {
    match health {
        Health::Up => Tone::Good,
        Health::Degraded | Health::Maintenance => Tone::Warn,
        Health::Down => Tone::Bad,
    }
}

/// A share of at most 1 in percent with two decimals.
#[expect(clippy::float_arithmetic, reason = "a figure for people, not an amount")]
fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_shown_in_percent() {
        assert_eq!([0.0, 0.985, 0.9999, 1.0].map(percent), ["0.00 %", "98.50 %", "99.99 %", "100.00 %"]);
    }
}
