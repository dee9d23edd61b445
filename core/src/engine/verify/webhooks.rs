//! Verifies that webhooks have what they need, and that waiting deliveries will be noticed.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ids::{EndpointNo, SettlementNo};
use crate::store::record::{DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, QueueRecord};
use crate::store::{Scan, Store, typed, typed_all};
use crate::time::Millis;

use super::{PAGE, VerifyReport};

/// How many numbers above the highest endpoint are searched for records without an endpoint.
const BEYOND: u32 = 64;
const MOST_MISSING: usize = 100_000;

/// Verifies every endpoint, and searches for records of endpoints that do not exist.
pub(super) fn webhooks(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let mut next = EndpointNo(1);
    let mut after = EndpointNo(0);
    loop {
        let page: Vec<EndpointRecord> = typed_all(store.scan(&Scan::after(&Key::Endpoint(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.no;
        for endpoint in &page {
            left_behind(store, report, next.0..endpoint.no.0)?;
            next = EndpointNo(endpoint.no.0.saturating_add(1));
            one_endpoint(store, report, endpoint)?;
        }
    }
    left_behind(store, report, next.0..next.0.saturating_add(BEYOND))
}

fn one_endpoint(store: &dyn Store, report: &mut VerifyReport, endpoint: &EndpointRecord) -> Result<()> {
    let what = format!("{}_{}", if endpoint.push.is_some() { "psh" } else { "whk" }, endpoint.id);
    report.webhooks += u64::from(endpoint.status != EndpointStatus::Removed);
    // Only the number of a removed endpoint is left.
    let removed = endpoint.status == EndpointStatus::Removed;
    let owner = endpoint.client.user().map_or(Key::Client(endpoint.client), Key::User);
    if !removed && store.get(&owner)?.is_none() {
        report.problem(&what, "webhook_without_client", format!("its owner, number {}, is missing", endpoint.client.0));
    }
    let secrets: Vec<EndpointSecretRecord> = typed_all(store.scan(&Scan::endpoint_secrets(endpoint.no))?)?;
    if !removed && secrets.last().is_none_or(|newest| newest.until.is_some()) {
        report.problem(&what, "webhook_without_secret", "it has no secret without an end date");
    }
    match typed::<QueueRecord>(store.get(&Key::Queue(endpoint.no))?)? {
        None if removed => {}
        None => report.problem(&what, "webhook_without_queue", "nothing is delivered to it: its queue is missing"),
        Some(queue) if endpoint.status == EndpointStatus::Enabled => waiting(store, report, &what, &queue)?,
        Some(_) => {}
    }
    deliveries(store, report, &what, endpoint.no)
}

/// Verifies that an enabled endpoint's queue is not idle while a delivery waits.
fn waiting(store: &dyn Store, report: &mut VerifyReport, what: &str, queue: &QueueRecord) -> Result<()> {
    let first = Scan::deliveries_due(queue.endpoint, Millis::MAX, 1);
    let first: Option<DeliveryRecord> = typed(store.scan(&first)?.pop())?;
    if first.is_some() && queue.due.is_none() {
        report.problem(what, "delivery_stranded", "a delivery waits for it, but its queue is idle");
    }
    Ok(())
}

fn deliveries(store: &dyn Store, report: &mut VerifyReport, what: &str, endpoint: EndpointNo) -> Result<()> {
    let mut before = i64::MAX;
    let mut faults: BTreeMap<&'static str, (u64, i64)> = BTreeMap::new();
    loop {
        let page: Vec<DeliveryRecord> = typed_all(store.scan(&Scan::deliveries_of(endpoint, before, None, PAGE))?)?;
        let Some(last) = page.last() else { break };
        before = last.no;
        report.deliveries += page.len() as u64;
        for delivery in &page {
            let mut fault = |code| faults.entry(code).or_insert((0, delivery.no)).0 += 1;
            if (delivery.status == DeliveryStatus::Pending) != delivery.due.is_some() {
                fault("delivery_state");
            }
            let about = (delivery.settlement, delivery.n);
            if about.0 != SettlementNo(0) && store.get(&Key::Event(about))?.is_none() {
                fault("delivery_without_event");
            }
        }
    }
    for (code, (count, no)) in faults {
        let wrong = if code == "delivery_state" { "wait without being due, or are due without waiting" } else { "have no event" };
        report.problem(what, code, format!("{count} of its deliveries {wrong}, the newest is number {no}"));
    }
    Ok(())
}

/// Searches for records of endpoints with these numbers, which do not exist.
fn left_behind(store: &dyn Store, report: &mut VerifyReport, numbers: std::ops::Range<u32>) -> Result<()> {
    // Unused numbers leave gaps, but never as large as this.
    if numbers.len() > MOST_MISSING {
        let message = format!("none has a number from {} on, but a later one exists", numbers.start);
        report.problem("webhooks", "webhook_numbers", message);
        return Ok(());
    }
    for endpoint in numbers.map(EndpointNo) {
        let what = || format!("webhook number {}", endpoint.0);
        if store.get(&Key::Queue(endpoint))?.is_some() {
            report.problem(what(), "queue_without_webhook", "its queue exists, but it does not");
        }
        if !store.scan(&Scan::endpoint_secrets(endpoint))?.is_empty() {
            report.problem(what(), "secret_without_webhook", "its secret exists, but it does not");
        }
        if !store.scan(&Scan::deliveries_of(endpoint, i64::MAX, None, 1))?.is_empty() {
            report.problem(what(), "delivery_without_webhook", "it has deliveries, but it does not exist");
        }
    }
    Ok(())
}
