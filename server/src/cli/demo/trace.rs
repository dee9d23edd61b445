//! The demo's view of a payment: its story, its trace with every step in plain words, and its end.

use comfy_table::{Cell, ColumnConstraint, LineStyle, Table, Width};
use railgate::api::EventView;
use railgate::store::record::EventType;
use railgate::time::{Millis, parse_rfc3339};
use serde::Deserialize;

use super::stage::{Aside, Performed};
use crate::cli::failure::Done;
use crate::cli::terminal::{Terminal, Tone};
use railgate::money::grouped;

/// The widths of all columns but the last, which takes what is left.
const WIDTHS: [u16; 4] = [9, 22, 21, 6];

/// Shows everything about one payment.
pub(super) fn show(terminal: &Terminal, n: usize, it: &Performed) -> Done {
    let title = format!("{n:>2}  {}", it.play.name);
    let rule = usize::from(terminal.width()).saturating_sub(title.chars().count() + 1);
    terminal.line(format_args!("{} {}", terminal.paint(Tone::Strong, &title), terminal.paint(Tone::Dim, "─".repeat(rule))))?;
    terminal.line(format_args!("    {}", it.play.story))?;
    let view = &it.view;
    let (amount, currency) = (grouped(view.amount.as_str()), &view.currency);
    let what = format!("    {amount} {currency} to {}, fee {} {currency}, {}", view.to, view.fee.as_str(), view.id);
    terminal.line(terminal.paint(Tone::Dim, what))?;
    terminal.line("")?;
    terminal.show(&table(terminal, it))?;
    terminal.line("")?;
    terminal.line(ending(terminal, it))?;
    terminal.line("")
}

fn table(terminal: &Terminal, it: &Performed) -> Table {
    let mut table = terminal.table(&["    after", "event", "from → to", "actor", "what it means"]);
    // The title's rule is right above.
    table.style_mut().header_separator = LineStyle::none();
    let begin = it.record.created_at;
    let mut rows: Vec<(Millis, Vec<Cell>)> = it
        .events
        .iter()
        .map(|event| {
            let at = parse_rfc3339(&event.at).unwrap_or(begin);
            (at, event_row(event, it, at - begin))
        })
        .collect();
    rows.extend(it.asides.iter().map(|aside| (aside.at, aside_row(aside, aside.at - begin))));
    // Stable: simultaneous events keep their order.
    rows.sort_by_key(|(at, _)| *at);
    table.add_rows(rows.into_iter().map(|(_, row)| row));
    for (column, width) in table.column_iter_mut().zip(WIDTHS) {
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width + 2)));
    }
    table
}

fn event_row(event: &EventView, it: &Performed, after: Millis) -> Vec<Cell> {
    let to = event.to.map_or("", |state| state.as_str());
    let change = match event.from {
        Some(from) if from.as_str() != to => arrow(from.as_str(), to),
        _ => to.to_owned(),
    };
    let kind = event.kind.as_str();
    let name = match event.attempt {
        Some(n) if it.record.attempts > 1 && kind.starts_with("attempt.") => format!("{kind} #{n}"),
        _ => kind.replacen("settlement.partially_", "settlement.\n  partially_", 1),
    };
    let tone = match event.kind {
        EventType::SettlementDiscrepancy => Tone::Warn,
        _ => Tone::of_state(to),
    };
    // Events of the settlement stand out; those of its attempts and reversals explain them.
    let name = if kind.starts_with("settlement.") { Tone::Strong.cell(name) } else { Cell::new(name) };
    vec![Tone::Dim.cell(offset(after)), name, tone.cell(change), actor(event.actor.as_str()), Cell::new(meaning(event, it))]
}

fn aside_row(aside: &Aside, after: Millis) -> Vec<Cell> {
    let (mark, tone) = if aside.ok { ("·", Tone::Dim) } else { ("✗", Tone::Bad) };
    vec![Tone::Dim.cell(offset(after)), Tone::Dim.cell(mark), Cell::new(""), actor(aside.actor), tone.cell(&aside.text)]
}

fn actor(name: &str) -> Cell {
    Tone::Dim.cell(name)
}

/// On one line if it fits.
fn arrow(from: &str, to: &str) -> String {
    let long = from.len() + to.len() + 3 > usize::from(WIDTHS[2]);
    if long { format!("{from} →\n{to}") } else { format!("{from} → {to}") }
}

/// `+ 30.1 s`, right-aligned in its column so that it is easy to scan.
fn offset(ms: Millis) -> String {
    let (s, m, h) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    let text = match ms {
        ..1_000 => format!("+{ms} ms"),
        1_000..60_000 => format!("+{s}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("+{m}m {:02}s", s % 60),
        3_600_000..86_400_000 => format!("+{h}h {:02}m", m % 60),
        _ => format!("+{}d {:02}h", h / 24, h % 24),
    };
    format!("{text:>9}")
}

/// The members of an event's data that are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Data {
    provider: String,
    code: String,
    amount: String,
    reason: String,
    needs_review: bool,
}

/// What an event means, for somebody who has not read the manual.
fn meaning(event: &EventView, it: &Performed) -> String {
    let data: Data = serde_json::from_str(event.data.get()).unwrap_or_default();
    let currency = &it.view.currency;
    match event.kind {
        EventType::SettlementAccepted => format!("stored; {} {currency} held", grouped(it.view.total_debit.as_str())),
        EventType::SettlementSubmitted if event.from.is_some_and(|from| from.as_str() == "unknown") => {
            "the operator has it: on its way again".to_owned()
        }
        EventType::SettlementSubmitted => "from now on it may have left".to_owned(),
        EventType::SettlementUnknown if data.needs_review => "no end for a day: a person must look".to_owned(),
        EventType::SettlementUnknown => "nobody knows: money stays held".to_owned(),
        EventType::SettlementCompleted => "paid: the held money is gone".to_owned(),
        EventType::SettlementFailed => "proved not paid: money is free".to_owned(),
        EventType::SettlementCancelled if data.reason == "expired" => "ran out before it was sent".to_owned(),
        EventType::SettlementCancelled if data.reason == "declined" => "declined by its user: money is free".to_owned(),
        EventType::SettlementCancelled => "withdrawn unsent: money is free".to_owned(),
        EventType::SettlementPartiallyReversed => "a part of it is back".to_owned(),
        EventType::SettlementReversed => "all of it is back".to_owned(),
        EventType::SettlementReturned => "it bounced: the money is back, the fee is not".to_owned(),
        EventType::SettlementDiscrepancy => "contradicts what was proved: no money moves, a person must look".to_owned(),
        EventType::SettlementReviewed => "a person looked at it".to_owned(),
        EventType::AttemptStarted => format!("stored; now sent to {}", data.provider),
        EventType::AttemptAnswered => answered(event, &data),
        EventType::ReversalAccepted => format!("{} {currency} announced", grouped(&data.amount)),
        EventType::ReversalSubmitted => "stored; now sent".to_owned(),
        EventType::ReversalUnknown => "the answer was lost; we ask".to_owned(),
        EventType::ReversalCompleted => "the operator gave it back".to_owned(),
        EventType::ReversalFailed => format!("refused ({}): nothing moves", data.code),
        EventType::ApprovalRequested => "waits until its user approves it".to_owned(),
        EventType::ApprovalApproved => "its user approved it".to_owned(),
        EventType::ApprovalDeclined => "its user declined it".to_owned(),
        EventType::BalanceDeposited => "paid in".to_owned(),
        EventType::BalanceWithdrawn => "paid out".to_owned(),
        EventType::BalanceCreditChanged => "credit set: no money moves".to_owned(),
        EventType::BundleCreated
        | EventType::BundleEdited
        | EventType::BundleCommented
        | EventType::BundleTested
        | EventType::BundlePublicationAsked
        | EventType::BundlePublicationFailed
        | EventType::BundleSuperseded
        | EventType::BundleTestAsked
        | EventType::BundleSubmitted
        | EventType::BundleInReview
        | EventType::BundleApproved
        | EventType::BundleRejected
        | EventType::BundleChangesRequested
        | EventType::BundleWithdrawn
        | EventType::BundlePublished
        | EventType::BundleRevoked => "a step of a bundle".to_owned(),
    }
}

fn answered(event: &EventView, data: &Data) -> String {
    let to = event.to.map_or("", |state| state.as_str());
    let was_unknown = event.from.is_some_and(|from| from.as_str() == "unknown");
    match (to, was_unknown) {
        ("completed", false) => "the operator says: paid".to_owned(),
        ("completed", true) => "now it is known: paid".to_owned(),
        ("accepted", _) => "taken; how it ends comes later".to_owned(),
        ("declined", false) => format!("refused: {}", data.code),
        ("declined", true) => "now it is known: refused".to_owned(),
        ("not_sent", _) => "no connection: nothing was sent".to_owned(),
        ("unknown", _) => "the answer was lost".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// The time until the last event.
pub(super) fn lasted(it: &Performed) -> String {
    let last = it.events.last().and_then(|event| parse_rfc3339(&event.at)).unwrap_or(it.record.created_at);
    offset(last - it.record.created_at).trim_start().trim_start_matches('+').to_owned()
}

fn ending(terminal: &Terminal, it: &Performed) -> String {
    let status = it.record.status.as_str();
    let review = if it.record.needs_review { ", waits for a person" } else { "" };
    let found = terminal.paint(Tone::of_state(status), format_args!("{status}{review}"));
    match verdict(it) {
        Verdict::AsPromised => format!("    {} {found}", terminal.paint(Tone::Good, "✓")),
        Verdict::NothingPromised => format!("    {} {found}", terminal.paint(Tone::Dim, "·")),
        Verdict::Broken(why) => format!("    {} {found}: {}", terminal.paint(Tone::Bad, "✗"), terminal.paint(Tone::Bad, why)),
    }
}

/// Whether a payment ended as the demo promises.
pub(super) enum Verdict {
    AsPromised,
    /// The demo shows it without promising anything.
    NothingPromised,
    /// It ended differently; the text tells how.
    Broken(String),
}

/// Compares how a payment ended with how it had to.
pub(super) fn verdict(it: &Performed) -> Verdict {
    if let Some(aside) = it.asides.iter().find(|aside| !aside.ok) {
        return Verdict::Broken(format!("not as it must be: the {} {}", aside.actor, aside.text));
    }
    match it.play.ending {
        None => Verdict::NothingPromised,
        Some(ending) if ending.status == it.record.status && ending.needs_review == it.record.needs_review => Verdict::AsPromised,
        Some(ending) => {
            let review = if ending.needs_review { " and waiting for a person" } else { "" };
            Verdict::Broken(format!("it had to end {}{review}", ending.status.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_short_and_keep_the_order_of_magnitude() {
        for (ms, text) in [
            (0, "+0 ms"),
            (999, "+999 ms"),
            (5_120, "+5.1 s"),
            (59_999, "+59.9 s"),
            (61_000, "+1m 01s"),
            (3_660_000, "+1h 01m"),
            (90_000_000, "+1d 01h"),
        ] {
            assert_eq!(offset(ms).trim_start(), text);
            assert_eq!(offset(ms).len(), 9);
        }
    }
}
