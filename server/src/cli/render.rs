//! How settlements, events and balances look in a terminal.

use comfy_table::{Cell, ColumnConstraint, Table};
use railgate::api::{
    BalanceView, DecimalNumber, EntryView, EventView, FailureView, FieldProblem, ReversalView, SettlementView, StatusView,
};
use railgate::lifecycle::{IsoStatus, StateName};
use railgate::money::grouped;

use super::terminal::{Terminal, Tone, align_right, number, printable};

/// A state, in its colour.
pub(crate) fn state(name: &str) -> Cell {
    Tone::of_state(name).cell(name)
}

/// `1,000,000.00`.
pub(crate) fn decimal(number: &DecimalNumber) -> String {
    grouped(number.as_str())
}

/// A failure in one line.
pub(crate) fn failure(it: &FailureView) -> String {
    format!("{}: {} ({})", it.code.as_str(), it.message, it.iso_reason)
}

/// A time without the `T` and the milliseconds: `2026-11-21 10:38:17Z`.
pub(crate) fn short_time(at: &str) -> String {
    match (at.split_once('T'), at.split_once('.')) {
        (Some((date, _)), Some((upto_seconds, _))) => format!("{date} {}Z", &upto_seconds[(date.len() + 1).min(upto_seconds.len())..]),
        _ => at.to_owned(),
    }
}

/// A time to the minute, for lists.
fn minute(at: &str) -> String {
    let short = short_time(at);
    short.get(..16).map(str::to_owned).unwrap_or(short)
}

/// A status and its ISO 20022 name.
fn standing(status: &str, iso: IsoStatus) -> Cell {
    Tone::of_state(status).cell(format!("{status} ({})", iso.as_str()))
}

/// One settlement in full.
pub(crate) fn settlement(terminal: &Terminal, it: &SettlementView) -> Table {
    let money = |number| Cell::new(format!("{} {}", decimal(number), it.currency));
    let mut rows = vec![
        ("reference", Tone::Strong.cell(&it.reference)),
        ("id", Cell::new(it.id)),
        ("status", standing(it.status.as_str(), it.iso_status)),
        ("amount", Tone::Strong.cell(format!("{} {}", decimal(&it.amount), it.currency))),
        ("to", Cell::new(&it.to)),
    ];
    if let Some(from) = &it.from {
        rows.push(("from", Cell::new(from)));
    }
    if !it.fee.is_zero() {
        rows.push(("fee", money(&it.fee)));
        rows.push(("total debit", money(&it.total_debit)));
    }
    let tries = if it.attempts > 1 { format!(" (attempt {})", it.attempts) } else { String::new() };
    rows.push(("provider", Cell::new(format!("{}{tries}", it.provider))));
    if let Some(reference) = &it.rail_reference {
        rows.push(("rail reference", Cell::new(reference)));
    }
    if let Some(why) = &it.failure {
        rows.push(("failure", Tone::Bad.cell(failure(why))));
    }
    if it.needs_review {
        rows.push(("review", Tone::Warn.cell("a person must look at it")));
    }
    if !it.reversed_amount.is_zero() {
        rows.push(("reversed", money(&it.reversed_amount)));
    }
    if !it.reversing_amount.is_zero() {
        rows.push(("being reversed", money(&it.reversing_amount)));
    }
    if let Some(description) = &it.description {
        rows.push(("description", Cell::new(description)));
    }
    rows.push(("created", Cell::new(short_time(&it.created_at))));
    if let Some(at) = &it.completed_at {
        rows.push(("final since", Cell::new(short_time(at))));
    }
    rows.push(("mode", Cell::new(if it.sandbox { "sandbox: no real money moves" } else { "live" })));
    terminal.card(rows)
}

/// A settlement's status.
pub(crate) fn status(terminal: &Terminal, it: &StatusView) -> Table {
    let mut rows = vec![
        ("reference", Tone::Strong.cell(&it.reference)),
        ("id", Cell::new(it.id)),
        ("status", standing(it.status.as_str(), it.iso_status)),
        ("final", Cell::new(if it.is_final { "yes" } else { "not yet" })),
    ];
    if let Some(why) = &it.failure {
        rows.push(("failure", Tone::Bad.cell(failure(why))));
    }
    if it.needs_review {
        rows.push(("review", Tone::Warn.cell("a person must look at it")));
    }
    rows.push(("version", Cell::new(it.version)));
    rows.push(("updated", Cell::new(short_time(&it.updated_at))));
    terminal.card(rows)
}

/// A list of settlements.
pub(crate) fn settlements(terminal: &Terminal, list: &[SettlementView]) -> Table {
    let mut table = terminal.table(&["created (UTC)", "reference", "amount", "", "to", "status", ""]);
    for it in list {
        let note = match (&it.failure, it.needs_review) {
            (_, true) => Tone::Warn.cell("review"),
            (Some(failure), false) => Tone::Bad.cell(failure.code.as_str()),
            (None, false) if !it.reversed_amount.is_zero() => Tone::Back.cell(format!("−{}", decimal(&it.reversed_amount))),
            (None, false) => Cell::new(""),
        };
        table.add_row(vec![
            Tone::Dim.cell(minute(&it.created_at)),
            Tone::Strong.cell(&it.reference),
            number(decimal(&it.amount)),
            Cell::new(&it.currency),
            Cell::new(it.from.as_ref().map_or_else(|| it.to.to_string(), |from| format!("from {from}"))),
            state(it.status.as_str()),
            note,
        ]);
    }
    align_right(&mut table, [2]);
    if let Some(created) = table.column_mut(0) {
        created.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

fn named(state: Option<StateName>) -> &'static str {
    state.map_or("", StateName::as_str)
}

/// A trace.
pub(crate) fn events(terminal: &Terminal, list: &[EventView]) -> Table {
    let mut table = terminal.table(&["#", "at", "event", "from", "to", "actor", "attempt"]);
    for it in list {
        table.add_row(vec![
            number(it.sequence),
            Tone::Dim.cell(&it.at),
            Cell::new(it.kind.as_str()),
            Tone::Dim.cell(named(it.from)),
            state(named(it.to)),
            Cell::new(it.actor.as_str()),
            Cell::new(it.attempt.map(|n| n.to_string()).unwrap_or_default()),
        ]);
    }
    align_right(&mut table, [0]);
    table
}

/// One event on one line, for a followed trace: columns as wide as their usual content.
pub(crate) fn event_line(terminal: &Terminal, it: &EventView) -> String {
    let (from, to) = (named(it.from), named(it.to));
    let change = match (from.is_empty(), from == to) {
        (true, _) | (_, true) => to.to_owned(),
        (false, false) => format!("{from} → {to}"),
    };
    let attempt = it.attempt.map(|n| format!("#{n}")).unwrap_or_default();
    let line = format!(
        "{:>3}  {}  {:<24}  {}  {:<6} {attempt}",
        it.sequence,
        terminal.paint(Tone::Dim, &it.at),
        it.kind.as_str(),
        terminal.paint(Tone::of_state(to), format_args!("{change:<24}")),
        it.actor.as_str(),
    );
    line.trim_end().to_owned()
}

/// A reversal.
pub(crate) fn reversal(terminal: &Terminal, it: &ReversalView) -> Table {
    let mut rows = vec![("reversal", Tone::Strong.cell(&it.id)), ("status", state(it.status.as_str()))];
    rows.push(("amount", Tone::Strong.cell(format!("{} {}", decimal(&it.amount), it.currency))));
    if let Some(reference) = &it.reference {
        rows.push(("reference", Cell::new(reference)));
    }
    if let Some(reason) = &it.reason {
        rows.push(("reason", Cell::new(reason.as_str())));
    }
    if let Some(why) = &it.failure {
        rows.push(("failure", Tone::Bad.cell(failure(why))));
    }
    terminal.card(rows)
}

/// Balances, one currency per row.
pub(crate) fn balances(terminal: &Terminal, list: &[BalanceView]) -> Table {
    // Few have credit: without any, its column is left out.
    let has_credit = list.iter().any(|it| !it.credit.is_zero());
    let credit = has_credit.then_some("credit");
    let columns: Vec<&str> =
        ["account", "currency", "available"].into_iter().chain(credit).chain(["reserved", "pending", "ledger"]).collect();
    let mut table = terminal.table(&columns);
    for it in list {
        let plain = |it: &DecimalNumber| number(decimal(it));
        let faint = |it: &DecimalNumber| if it.is_zero() { plain(it).add_attribute(comfy_table::Attribute::Dim) } else { plain(it) };
        let mut row = vec![Cell::new(&*it.account), Tone::Strong.cell(&it.currency), plain(&it.available)];
        row.extend(has_credit.then(|| faint(&it.credit)));
        row.extend([faint(&it.reserved), faint(&it.pending), plain(&it.ledger)]);
        table.add_row(row);
    }
    align_right(&mut table, 2..columns.len());
    table
}

/// Lines of a statement.
pub(crate) fn entries(terminal: &Terminal, list: &[EntryView]) -> Table {
    let mut table = terminal.table(&["#", "posted", "type", "reference", "amount", "balance", ""]);
    for it in list {
        table.add_row(vec![
            number(it.number),
            Cell::new(short_time(&it.at)),
            Cell::new(&*it.kind),
            Tone::Strong.cell(printable(it.reference.as_deref().unwrap_or_default())),
            number(decimal(&it.amount)),
            number(decimal(&it.balance)),
            Cell::new(&it.currency),
        ]);
    }
    align_right(&mut table, [0, 4, 5]);
    table
}

/// Problems and warnings of a request.
pub(crate) fn field_notes(terminal: &Terminal, list: &[FieldProblem], tone: Tone) -> Table {
    let mut table = terminal.table(&["field", "code", "what would be right"]);
    for it in list {
        table.add_row(vec![Cell::new(&it.pointer), tone.cell(&it.code), Cell::new(&it.message)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shortened_and_odd_ones_left_alone() {
        assert_eq!(short_time("2026-11-21T10:38:17.042Z"), "2026-11-21 10:38:17Z");
        for odd in ["", "yesterday", "2026-11-21", "1.5"] {
            assert_eq!(short_time(odd), odd);
        }
    }
}
