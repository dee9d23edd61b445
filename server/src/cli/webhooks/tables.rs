//! How webhooks and their deliveries look in a terminal.

use comfy_table::{Cell, Table};
use railgate::api::{DeliveryView, TestView, WebhookView};

use crate::cli::render::short_time;
use crate::cli::terminal::{Terminal, Tone, number, printable};

/// A state of a webhook or a delivery, in its colour.
fn state(name: &str) -> Cell {
    match name {
        "enabled" | "delivered" => Tone::Good,
        "failing" | "gone" | "failed" => Tone::Bad,
        "disabled" => Tone::Warn,
        "pending" => Tone::Moving,
        _ => Tone::Plain,
    }
    .cell(name)
}

/// A webhook in full.
pub(super) fn webhook(terminal: &Terminal, it: &WebhookView) -> Table {
    let events = if it.all_events { "all".to_owned() } else { it.events.join(", ") };
    let mut rows = vec![("webhook", Tone::Strong.cell(&it.id)), ("url", Cell::new(&it.url)), ("status", state(it.status.as_str()))];
    if let Some(since) = &it.failing_since {
        rows.push(("failing since", Tone::Bad.cell(short_time(since))));
    }
    rows.push(("events", Cell::new(events)));
    if let Some(description) = &it.description {
        rows.push(("description", Cell::new(printable(description))));
    }
    rows.push(("made", Cell::new(short_time(&it.created_at))));
    rows.push(("changed", Cell::new(short_time(&it.updated_at))));
    terminal.card(rows)
}

/// A list of webhooks.
pub(super) fn webhooks(terminal: &Terminal, list: &[WebhookView]) -> Table {
    let mut table = terminal.table(&["webhook", "url", "events", "status", "description"]);
    for it in list {
        let events = match (it.all_events, it.events.as_slice()) {
            (true, _) => "all".to_owned(),
            (false, [one]) => one.to_string(),
            (false, some) => format!("{} types", some.len()),
        };
        let description = printable(it.description.as_deref().unwrap_or_default());
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(&it.url),
            Cell::new(events),
            state(it.status.as_str()),
            Cell::new(description),
        ]);
    }
    table
}

/// The response of a receiver, in short.
fn answered(status: Option<u16>, error: Option<&str>) -> String {
    match (status, error) {
        (Some(status), _) => format!("answered {status}"),
        (None, Some(error)) => printable(error),
        (None, None) => String::new(),
    }
}

/// A list of deliveries.
pub(super) fn deliveries(terminal: &Terminal, list: &[DeliveryView]) -> Table {
    let mut table = terminal.table(&["made (UTC)", "delivery", "event", "why", "status", "tries", "last", "next"]);
    for it in list {
        let last = it.last_attempt.as_ref().map(|last| answered(last.status, last.error.as_deref()));
        table.add_row(vec![
            Tone::Dim.cell(short_time(&it.created_at)),
            Tone::Strong.cell(&it.id),
            Cell::new(&*it.topic),
            Tone::Dim.cell(it.cause.as_str()),
            state(it.status.as_str()),
            number(it.attempts),
            Cell::new(last.unwrap_or_default()),
            Cell::new(it.next_attempt_at.as_deref().map(short_time).unwrap_or_default()),
        ]);
    }
    table
}

/// A delivery in full, except for its payload.
pub(super) fn delivery(terminal: &Terminal, it: &DeliveryView) -> Table {
    let mut rows = vec![
        ("delivery", Tone::Strong.cell(&it.id)),
        ("event", Cell::new(format!("{} ({})", it.topic, it.message_id))),
        ("why", Cell::new(it.cause.as_str())),
        ("status", state(it.status.as_str())),
        ("tries", Cell::new(it.attempts)),
        ("made", Cell::new(short_time(&it.created_at))),
    ];
    if let Some(last) = &it.last_attempt {
        rows.push(("last tried", Cell::new(format!("{} ({} ms)", short_time(&last.at), last.took_ms))));
        rows.push(("last response", Cell::new(answered(last.status, last.error.as_deref()))));
        if !last.response_excerpt.is_empty() {
            rows.push(("its body", Cell::new(printable(&last.response_excerpt))));
        }
    }
    if let Some(next) = &it.next_attempt_at {
        rows.push(("tried next", Cell::new(short_time(next))));
    }
    terminal.card(rows)
}

/// The result of a test.
pub(super) fn tested(terminal: &Terminal, it: &TestView) -> Table {
    let answer = format!("{} ({} ms)", answered(it.response.status, it.response.error.as_deref()), it.response.took_ms);
    let mut rows = vec![
        ("event", Cell::new(format!("{} ({})", it.delivery.topic, it.delivery.message_id))),
        ("receiver", if it.delivered { Tone::Good } else { Tone::Bad }.cell(answer)),
    ];
    if !it.response.excerpt.is_empty() {
        rows.push(("its body", Cell::new(printable(&it.response.excerpt))));
    }
    terminal.card(rows)
}
