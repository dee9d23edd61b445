//! Records from the engine and from JSON agree, and unreadable input is a typed error.

use std::sync::Arc;

use railgate::sandbox::{Options, Sandbox};
use railgate::store::memory::MemoryStore;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::mirror::Give;
use crate::*;

const NOW: i64 = 1_795_257_497_042;

fn sandbox() -> Sandbox {
    Sandbox::open(Arc::new(MemoryStore::new()), &Options::default(), [7; 32], NOW).unwrap()
}

/// Asserts that a view converts to the same record directly and through JSON.
#[track_caller]
fn agree<T: DeserializeOwned + PartialEq + std::fmt::Debug>(view: impl Give<T> + Serialize) -> T {
    let by_json: T = serde_json::from_str(&serde_json::to_string(&view).unwrap()).unwrap();
    let given = view.give().unwrap();
    assert_eq!(by_json, given);
    given
}

#[test]
fn records_are_the_same_from_the_engine_and_from_json() {
    let sandbox = sandbox();
    for (reference, to) in [("paid", "sim:ok"), ("failed", "sim:decline-recipient_not_found")] {
        let request = SettlementRequest {
            amount: Decimal::parse("10.5").unwrap(),
            currency: "EUR".to_owned(),
            to: to.to_owned(),
            reference: reference.to_owned(),
            description: Some("November".to_owned()),
            metadata: [("order".to_owned(), "42".to_owned())].into(),
            provider: None,
            quote_id: None,
            expires_at: Some(Instant(NOW + 3_600_000)),
            user: None,
        };
        let check: Check = agree(sandbox.client().check_json(&request.body()).unwrap());
        assert!(check.ok && check.quote.is_some());
        sandbox.client().create_json(&request.body()).unwrap();
        sandbox.work(NOW).unwrap();
        let settlement: Settlement = agree(sandbox.client().settlement(reference).unwrap());
        assert_eq!((settlement.amount.to_string().as_str(), settlement.expires_at), ("10.50", Some(Instant(NOW + 3_600_000))));
        agree::<Status>(sandbox.client().status(reference).unwrap());
        agree::<Reconciliation>(sandbox.client().reconcile(reference).unwrap());
        let events: Vec<Event> = sandbox.client().events(reference, 0, 100).unwrap().data.into_iter().map(agree).collect();
        assert_eq!(
            events.last().map(|event| event.to_state),
            Some(Some(if reference == "paid" { StateName::Completed } else { StateName::Failed }))
        );
    }
    assert_eq!(
        sandbox.client().settlement("failed").unwrap().give().unwrap().failure.map(|failure| failure.code),
        Some(FailureCode::RecipientNotFound)
    );
    agree::<Receipt>(sandbox.client().receipt("paid").unwrap().view());
    let back = ReversalRequest {
        reference: "back-1".to_owned(),
        amount: Decimal::parse("0.5"),
        reason: Some(ReversalReason::Fraud),
        description: None,
    };
    agree::<Reversed>(sandbox.client().reverse_json("paid", &back.body(), None).unwrap().view);
    sandbox.client().reversals("paid").unwrap().into_iter().for_each(|reversal| drop(agree::<Reversal>(reversal)));
    sandbox.client().balances().unwrap().into_iter().for_each(|balance| drop(agree::<Balance>(balance)));
    sandbox.client().providers().into_iter().for_each(|provider| drop(agree::<Provider>(provider)));
    sandbox.client().feed(0, 100).unwrap().data.into_iter().for_each(|event| drop(agree::<FeedEvent>(event)));
    let page: SettlementPage = agree(sandbox.client().list(&[]).unwrap());
    assert_eq!(page.data.len(), 2);
}

#[test]
fn a_provider_is_the_same_from_the_engine_and_from_json() {
    let text = r#"{"id": "operator-kenya", "name": "Operator in Kenya", "rail": "gsma", "sandbox": false, "namespaces": ["msisdn"],
        "currencies": ["KES"], "countries": ["KE"], "limits": {"KES": {"min": 10.00, "max": 150000.00}},
        "fees": [{"currency": "KES", "namespace": "msisdn", "flat": 5, "percent": 0.5, "min": 0, "max": 100,
            "tiers": [{"from": 100, "flat": 3, "percent": 0}], "refund": "full"}],
        "capabilities": {"check_payee": true, "reverse": true, "partial_reverse": false, "inquiry": true, "idempotent_submit": true},
        "status": "degraded", "success_rate": 0.9, "p95_ms": 1500, "updated_at": "2026-11-21T10:53:17.042Z"}"#;
    let provider: Provider = agree(serde_json::from_str::<railgate::api::ProviderView>(text).unwrap());
    assert_eq!((provider.status, provider.success_rate), (ProviderHealth::Degraded, Some(0.9)));
    assert_eq!(provider.limits["KES"].min.to_string(), "10.00");
    assert_eq!(provider.fees[0].tiers[0].from_amount.to_string(), "100");
}

#[test]
fn a_batch_is_the_same_from_the_engine_and_from_json() {
    let (sandbox, wanted) = (sandbox(), ["1", "0", "1"].map(|amount| request(amount, "b-1")));
    let view = sandbox.client().create_batch_json(&crate::request::batch_body(&wanted)).unwrap();
    let by_json: crate::request::BatchAnswer = serde_json::from_str(&serde_json::to_string(&view).unwrap()).unwrap();
    let given: Vec<BatchResult> = view.give().unwrap();
    assert_eq!(by_json.results(), given);
    assert_eq!(given.iter().map(|result| result.status).collect::<Vec<_>>(), [201, 422, 200]);
    assert_eq!(given[1].problem.as_ref().unwrap().problems[0].pointer, "/amount");
    for (count, code) in [(0, "too_few"), (1_001, "too_many")] {
        let body = crate::request::batch_body(&vec![request("1", "b-2"); count]);
        assert_eq!(sandbox.client().create_batch_json(&body).unwrap_err().into_fields()[0].code, code);
    }
}

fn request(amount: &str, reference: &str) -> SettlementRequest {
    SettlementRequest {
        amount: Decimal::parse(amount).unwrap(),
        currency: "EUR".to_owned(),
        to: "sim:ok".to_owned(),
        reference: reference.to_owned(),
        description: None,
        metadata: [].into(),
        provider: None,
        quote_id: None,
        expires_at: None,
        user: None,
    }
}

#[test]
fn what_only_servers_say_is_the_same_from_their_views_and_from_json() {
    let webhook = r#"{"id": "whk_1", "url": "https://shop.example/hooks", "events": ["settlement.completed"], "all_events": false,
        "description": null, "status": "failing", "failing_since": "2026-11-21T10:53:17.042Z", "created_at": "2026-11-21T10:53:17.042Z",
        "updated_at": "2026-11-21T10:53:17.042Z", "secret_shown": true}"#;
    let webhook: Webhook = agree(serde_json::from_str::<railgate::api::WebhookView>(webhook).unwrap());
    assert_eq!((webhook.status, webhook.secret, webhook.secret_shown), (WebhookStatus::Failing, None, true));
    let test = r#"{"delivery": {"id": "dlv_1", "message_id": "evt_1", "type": "settlement.failed", "cause": "test", "status": "failed",
        "attempts": 1, "next_attempt_at": null, "last_attempt": {"at": "2026-11-21T10:53:17.042Z", "took_ms": 12, "status": 500,
        "error": null, "response_excerpt": "no"}, "created_at": "2026-11-21T10:53:17.042Z", "payload": {"amount": 10.50}},
        "delivered": false, "response": {"status": 500, "took_ms": 12, "excerpt": "no", "error": null}}"#;
    let test: WebhookTest = agree(serde_json::from_str::<railgate::api::TestView>(test).unwrap());
    assert_eq!(test.delivery.payload, Json(r#"{"amount": 10.50}"#.to_owned()));
    let line = r#"{"number": 7, "at": "2026-11-21T10:53:17.042Z", "type": "fee", "amount": -0.10, "balance": 99.90, "currency": "EUR",
        "reference": "inv-1", "settlement_id": "stl_1", "description": null}"#;
    let line: StatementEntry = agree(serde_json::from_str::<railgate::api::EntryView>(line).unwrap());
    assert_eq!((line.kind.as_str(), line.amount.to_string().as_str()), ("fee", "-0.10"));
    let moved = r#"{"kind": "credit_line", "reference": "line-1", "amount": 500.00, "previous": 100.00, "currency": "EUR",
        "at": "2026-11-21T10:53:17.042Z"}"#;
    let moved: Movement = agree(serde_json::from_str::<railgate::api::BalanceMovementView>(moved).unwrap());
    assert_eq!((moved.kind, moved.previous.map(|it| it.to_string())), (MovementKind::CreditLine, Some("100.00".to_owned())));
    let proof = r#"{"settlement_id": "stl_1", "reference": "inv-1", "event_id": "evt_1", "sequence": 5, "event_hash": "00", "salt": "11",
        "leaf_index": 4, "tree_size": 9, "path": ["22", "33"], "checkpoint": "c", "proof": "p"}"#;
    agree::<Proof>(serde_json::from_str::<railgate::api::ProofView>(proof).unwrap());
}

#[test]
fn what_users_are_told_and_devices_measure_is_the_same_from_views_and_from_json() {
    let page = r#"{"data": [{"id": "ntf_1", "kind": "approval.requested", "at": "2026-11-21T10:53:17.042Z", "read_at": null,
        "title": "A payment waits", "body": "250.00 EUR", "lang": "en", "dir": "ltr", "settlement_id": "stl_1", "amount": "250.00",
        "currency": "EUR", "expires_at": "2026-11-21T11:53:17.042Z"}], "unread_count": 3, "has_more": false, "next_cursor": null}"#;
    let page: NotificationPage = agree(serde_json::from_str::<railgate::api::NotificationsView>(page).unwrap());
    let told = &page.data[0];
    assert_eq!((told.kind, told.amount.map(|it| it.to_string()).as_deref()), (NotificationKind::ApprovalRequested, Some("250.00")));
    let subscriptions = r#"{"application_server_key": "BCVx", "data": [{"id": "psh_1", "push_service": "https://push.example.net",
        "this_device": true, "locale": null, "created_at": "2026-11-21T10:53:17.042Z", "expires_at": null, "failing_since": null}]}"#;
    agree::<PushSubscriptions>(serde_json::from_str::<railgate::api::PushSubscriptionsView>(subscriptions).unwrap());
    let wanted: NotificationPreferences = serde_json::from_str(
        r#"{"detail": "full", "locale": null, "quiet_hours": {"from": "22:00", "to": "07:00", "time_zone": "Africa/Cairo"},
        "kinds": {"payment.completed": {"inbox": true, "push": false}}}"#,
    )
    .unwrap();
    assert_eq!(wanted.quiet_hours.map(|it| (it.from_time, it.to_time)), Some(("22:00".to_owned(), "07:00".to_owned())));
    let taken =
        r#"{"accepted": 1, "duplicates": 0, "refused": [{"index": 1, "errors": [{"pointer": "/os", "code": "c", "message": "m"}]}]}"#;
    agree::<QualityTaken>(serde_json::from_str::<railgate::api::QualityTakenView>(taken).unwrap());
    let summary = r#"{"metric": "call.answer", "environment": "sandbox", "from": "2026-11-21T10:00:00.000Z",
        "to": "2026-11-21T11:00:00.000Z", "groups": [{"hour": "2026-11-21T10:00:00.000Z", "network": "wifi", "unit": "ms", "count": 5,
        "mean": 12.5, "p50": 12, "p95": 13, "p99": 13, "min": 12, "max": 13, "failure_rate": 0.25}, {"other": true, "unit": "ms",
        "count": 5, "mean": 1, "p50": 1, "p95": 1, "p99": 1, "min": 1, "max": 1, "failure_rate": 0}], "withheld": 2, "complete": true}"#;
    let summary: QualitySummary = agree(serde_json::from_str::<railgate::api::QualitySummaryView>(summary).unwrap());
    assert_eq!((summary.groups[0].network, summary.groups[0].failure_rate), (Some(NetworkKind::Wifi), 0.25));
    assert_eq!(summary.groups.iter().map(|group| group.other).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn what_is_missing_or_of_another_kind_is_no_record() {
    for text in ["[]", "null", "7", r#"{"inbox": true}"#, r#"{"inbox": true, "push": 1}"#, r#"{"inbox": true, "push": null}"#] {
        assert!(serde_json::from_str::<NotificationChannels>(text).is_err(), "{text}");
    }
    let read: NotificationChannels = serde_json::from_str(r#"{"new": {"a": [1]}, "p\u0075sh": false, "inbox": true}"#).unwrap();
    assert_eq!(read, NotificationChannels { inbox: true, push: false });
}

#[test]
fn a_genuine_receipt_says_what_it_says_and_one_that_was_changed_nothing() {
    let sandbox = sandbox();
    sandbox.client().create_json(r#"{"amount": 10.5, "currency": "EUR", "to": "sim:ok", "reference": "inv-1"}"#).unwrap();
    sandbox.work(NOW).unwrap();
    let (receipt, keys) = (sandbox.client().receipt("inv-1").unwrap(), sandbox.keys().unwrap());
    let claims = verify_receipt(receipt.jws.clone(), keys.clone()).unwrap();
    assert_eq!((claims.reference.as_str(), claims.amount.to_string().as_str()), ("inv-1", "10.50"));
    assert_eq!((claims.issued_at, claims.settled_at), (Instant(NOW / 1000 * 1000), Instant(NOW)));
    let changed = receipt.jws.replacen("eyJpc3Mi", "eyJpc3Nj", 1);
    for (jws, jwks) in [(changed, keys), (receipt.jws, r#"{"keys":[]}"#.to_owned())] {
        let Err(GatewayError::NotGenuine { problem }) = verify_receipt(jws, jwks) else { panic!("it was accepted") };
        assert_eq!(problem.code, "receipt_invalid");
    }
}

#[test]
fn names_of_a_newer_gateway_are_read() {
    let status: SettlementStatus = serde_json::from_str(r#""of_tomorrow""#).unwrap();
    assert_eq!((status, status.name()), (SettlementStatus::Unrecognised, None));
    for known in railgate::store::record::EventType::ALL {
        let given: EventType = agree(*known);
        assert_eq!(given.name(), Some(known.as_str()));
    }
}

#[test]
fn decimals_are_read_by_their_characters() {
    for (text, shortest) in [("10.50", "10.5"), ("0.10", "0.1"), ("1000", "1000"), ("-0.00", "0"), ("9999999999999.99", "9999999999999.99")]
    {
        let read: Decimal = serde_json::from_str(text).unwrap();
        assert_eq!((read.to_string(), read.shortest()), (text.trim_start_matches('-').to_owned(), shortest.to_owned()));
    }
    for bad in ["1e3", "", "ten", "1,5", "NaN", "10000000000000000000000000000000"] {
        assert_eq!(Decimal::parse(bad), None, "{bad}");
    }
}

#[test]
fn a_time_that_cannot_be_written_is_invalid() {
    let lift = |ms| <Instant as uniffi::Lift<UniFfiTag>>::try_lift(ms);
    for (text, ms) in [("0001-01-01T00:00:00.000Z", -62_135_596_800_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999)] {
        let read = lift(ms).unwrap();
        assert_eq!(read.rfc3339(), text);
        assert!(lift(ms.signum() + ms).unwrap_err().is::<GatewayError>());
        let store = Arc::new(MemoryStore::new());
        if let Ok(sandbox) = Sandbox::open(store, &Options::default(), [7; 32], ms) {
            drop(sandbox.work(ms));
        }
    }
    assert!(lift(i64::MAX).is_err() && lift(i64::MIN).is_err());
}

#[test]
fn a_filter_by_an_unknown_status_is_invalid() {
    let by = |statuses: &[SettlementStatus]| SettlementFilter {
        statuses: statuses.to_vec(),
        currency: None,
        provider: None,
        to: Some("sim:ok".to_owned()),
        reference: None,
        user: None,
        direction: None,
        sandbox: Some(true),
        needs_review: None,
        created_from: None,
        created_to: None,
        min_amount: Decimal::parse("10.50"),
        max_amount: None,
        limit: 5,
        cursor: None,
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<_> { pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect() };
    let wanted = [("to", "sim:ok"), ("sandbox", "true"), ("min_amount", "10.5")];
    assert_eq!(by(&[]).query().unwrap(), pairs(&[&[("limit", "5")], wanted.as_slice()].concat()));
    let states = by(&[SettlementStatus::Failed, SettlementStatus::Unknown]);
    assert_eq!(states.selection().unwrap(), pairs(&[wanted.as_slice(), &[("status", "failed"), ("status", "unknown")]].concat()));
    assert!(matches!(by(&[SettlementStatus::Unrecognised]).query(), Err(GatewayError::Invalid { .. })));
}
