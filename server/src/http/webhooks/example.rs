//! An example of each message, as the document shows it: one payment, one movement of money, one bundle and one webhook, told through
//! every event that they can have. A test reads each as the type that its schema describes.

use railgate::lifecycle::{BundleStatus, ReversalStatus, SettlementStatus};
use railgate::rail::FailureCode;
use railgate::store::record::{EventSubject, EventType, Topic};
use serde_json::{Value, json};

const AT: &str = "2026-11-21T12:29:56.625Z";
const CLIENT: &str = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB";
const SETTLEMENT: &str = "stl_01KAJX5Z3Y8M2N4P6Q8R0S2T4V";

/// The whole message, as it is sent.
pub(super) fn message(topic: Topic) -> Value {
    let data = match topic {
        Topic::Event(kind) => match kind.subject() {
            EventSubject::Settlement => settlement_event(kind),
            EventSubject::Movement => movement(kind),
            EventSubject::Bundle => bundle(kind),
        },
        Topic::WebhookDisabled | Topic::Notification => webhook(),
    };
    json!({"type": topic.as_str(), "timestamp": AT, "data": data})
}

/// What the event is about and what happened to it, as in `settlement.completed`.
fn parts(kind: EventType) -> (&'static str, &'static str) {
    kind.as_str().split_once('.').unwrap_or_default()
}

fn settlement_event(kind: EventType) -> Value {
    let (subject, happened) = parts(kind);
    let sequence = sequence(kind);
    let mut data = settlement(status_after(kind), sequence);
    data["sequence"] = json!(sequence);
    match subject {
        "reversal" => {
            let status = ReversalStatus::from_name(happened).unwrap_or(ReversalStatus::Accepted);
            data["reversing_amount"] = json!(if status.is_final() { 0.0 } else { 2.25 });
            data["reversal"] = reversal(status);
        }
        "approval" => {
            let (status, decided_at) = if happened == "requested" { ("pending", None) } else { (happened, Some(AT)) };
            data["user"] = json!("customer-17");
            data["approval"] = json!({"status": status, "decided_at": decided_at});
        }
        _ => data["needs_review"] = json!(happened == "discrepancy"),
    }
    data
}

/// The state in which an event leaves the payment.
fn status_after(kind: EventType) -> SettlementStatus {
    match parts(kind) {
        ("approval", _) => SettlementStatus::Accepted,
        ("attempt", _) => SettlementStatus::Submitted,
        ("reversal", _) => SettlementStatus::Completed,
        // A contradiction and its review leave the payment completed.
        (_, happened) => SettlementStatus::from_name(happened).unwrap_or(SettlementStatus::Completed),
    }
}

/// The event's place in a trace that leads to it.
fn sequence(kind: EventType) -> u32 {
    match parts(kind) {
        ("settlement", "accepted") => 1,
        ("settlement", "submitted" | "cancelled") | ("approval", "requested") => 2,
        ("attempt", "started") | ("approval", _) => 3,
        ("attempt", _) => 4,
        ("settlement", "completed" | "failed" | "unknown") => 5,
        ("reversal", "submitted") | ("settlement", "reviewed") => 7,
        ("reversal", "unknown" | "completed" | "failed") => 8,
        ("settlement", "partially_reversed" | "reversed") => 9,
        _ => 6,
    }
}

fn settlement(status: SettlementStatus, version: u32) -> Value {
    let path = |rest: &str| format!("/api/v1/gateway/settlements/invoice-2026-0001{rest}");
    let sent = !matches!(status, SettlementStatus::Accepted | SettlementStatus::Cancelled);
    let reversed = match status {
        SettlementStatus::Reversed => 10.5,
        SettlementStatus::PartiallyReversed => 2.25,
        SettlementStatus::Accepted
        | SettlementStatus::Submitted
        | SettlementStatus::Unknown
        | SettlementStatus::Completed
        | SettlementStatus::Returned
        | SettlementStatus::Failed
        | SettlementStatus::Cancelled => 0.0,
    };
    let failure = (status == SettlementStatus::Failed).then(|| failure(FailureCode::RecipientNotFound));
    json!({
        "id": SETTLEMENT, "reference": "invoice-2026-0001", "status": status, "version": version, "sandbox": false,
        "direction": "outgoing", "amount": 10.5, "amount_minor": "1050", "currency": "EUR", "from": null,
        "to": "msisdn:+254700000001", "payee": {"display_name": "A. Kamau", "match": "match"}, "fee": 0.11, "total_debit": 10.61,
        "provider": "operator-kenya", "rail_reference": sent.then_some("MP261121.1229.A40275"), "attempts": u8::from(sent),
        "failure": failure, "needs_review": false, "reversed_amount": reversed, "reversing_amount": 0.0,
        "iso_status": status.iso_status(), "description": null, "metadata": {}, "client_id": CLIENT,
        "created_at": "2026-11-21T12:29:54.031Z", "updated_at": AT, "completed_at": status.is_final().then_some(AT), "expires_at": null,
        "links": {
            "self": path(""), "status": path("/status"), "events": path("/events"), "reverse": path("/reverse"),
            "receipt": path("/receipt"),
        },
    })
}

fn failure(code: FailureCode) -> Value {
    let category = code.category().as_str();
    json!({"code": code, "category": category, "message": code.message(), "rail_code": "404", "iso_reason": code.iso_reason()})
}

fn reversal(status: ReversalStatus) -> Value {
    let failure = (status == ReversalStatus::Failed).then(|| failure(FailureCode::AccountClosed));
    json!({
        "id": "rev_01KAJX7B2C4D6E8F0G2H4J6K8M", "settlement_id": SETTLEMENT, "reference": "refund-1", "status": status,
        "iso_status": status.iso_status(), "amount": 2.25, "amount_minor": "225", "currency": "EUR", "reason": "customer_request",
        "description": null, "rail_reference": null, "failure": failure, "needs_review": false,
        "created_at": "2026-11-21T12:29:55.870Z", "updated_at": AT, "completed_at": status.is_final().then_some(AT),
    })
}

fn movement(kind: EventType) -> Value {
    let (name, reference) = match parts(kind).1 {
        "deposited" => ("deposit", "wire-2026-0001"),
        "withdrawn" => ("withdrawal", "wire-2026-0002"),
        _ => ("credit_line", "contract-2026-0001"),
    };
    let mut data = json!({"kind": name, "reference": reference, "amount": 2500.5, "currency": "EUR", "at": AT, "sequence": 1});
    if name == "credit_line" {
        data["previous"] = json!(1000.5);
    }
    data
}

fn bundle(kind: EventType) -> Value {
    let happened = parts(kind).1;
    let status = BundleStatus::from_name(happened).unwrap_or(match happened {
        "created" | "edited" => BundleStatus::Draft,
        "publication_asked" | "publication_failed" => BundleStatus::Approved,
        "superseded" => BundleStatus::Published,
        _ => BundleStatus::Submitted,
    });
    let comment = match happened {
        "commented" => Some("Is this really the largest payment?"),
        "changes_requested" => Some("The licence has expired: please attach the new one."),
        "rejected" => Some("The licence is for another country."),
        _ => None,
    };
    let conformance = match status {
        BundleStatus::Draft => None,
        BundleStatus::Submitted if happened != "tested" => Some("waiting"),
        _ => Some("passed"),
    };
    let sequence = if happened == "created" { 1 } else { 4 };
    json!({
        "id": "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "client_id": CLIENT, "mode": "live", "provider": "acme", "release": "1.0.0",
        "status": status, "revision": 1, "digest": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
        "version": sequence, "conformance": conformance, "published": {"sandbox": status == BundleStatus::Published, "live": false},
        "publishing": (happened == "publication_asked").then_some("sandbox"), "created_at": "2026-11-20T09:14:02.518Z",
        "updated_at": AT, "sequence": sequence, "comment": comment,
    })
}

fn webhook() -> Value {
    json!({
        "id": "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "url": "https://shop.example/hooks/railgate", "description": "Orders",
        "events": ["settlement.completed", "settlement.failed"], "all_events": false, "status": "failing",
        "failing_since": "2026-11-16T12:20:11.904Z", "created_at": "2026-10-02T08:00:41.377Z", "updated_at": AT,
    })
}
