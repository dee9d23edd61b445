//! Lists of payments: each filter against a plain one over everything, pages, and what is refused.

use std::sync::Arc;

use crate::support::live::{both_modes, live};
use crate::support::{Sandbox, sealing};
use railgate::api::{Caller, Page, SettlementView};
use railgate::engine::ListRequest;
use railgate::store::memory::MemoryStore;
use railgate::{Error, ErrorCode};

const DAY: i64 = 86_400_000;

fn parsed(s: &Sandbox, query: &[(&str, &str)]) -> Result<ListRequest, Error> {
    let pairs: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    s.engine.parse_list(&pairs)
}

fn pages(s: &Sandbox, caller: &Caller, query: &[(&str, &str)]) -> Vec<Page<SettlementView>> {
    let (mut next, mut pages) = (Some(parsed(s, query).unwrap()), Vec::new());
    while let Some(request) = next {
        let page = s.engine.list(caller, &request).unwrap();
        assert_eq!(page.has_more, page.next_cursor.is_some());
        next = request.next(&page);
        pages.push(page);
    }
    pages
}

fn references(pages: &[Page<SettlementView>]) -> Vec<&str> {
    pages.iter().flat_map(|page| &page.data).map(|it| it.reference.as_str()).collect()
}

/// Payments of all kinds in both modes, one a second, the newest first.
fn payments(s: &Sandbox) -> Vec<SettlementView> {
    let amounts = [("EUR", "10.50"), ("JPY", "10"), ("KWD", "10.505"), ("EUR", "0.01"), ("KWD", "0.001"), ("EUR", "999.99")];
    let payees = ["sim:ok", "sim:decline-over_limit", "msisdn:+254700000001", "acct:42", "sim:timeout-never", "sim:reverse-unknown"];
    for (n, to) in payees.iter().cycle().take(36).enumerate() {
        let (currency, amount) = amounts[(n / 3) % amounts.len()];
        let is_live = n % 3 == 2 && currency == "EUR" && !to.starts_with("sim:");
        let body = format!(r#"{{"amount":"{amount}","currency":"{currency}","to":"{to}","reference":"r-{n}","sandbox":{}}}"#, !is_live);
        let request = Box::new(s.engine.parse_create(body.as_bytes()).unwrap());
        s.engine.run(railgate::engine::Create { caller: live(s.caller), request }).unwrap();
        s.pass(1_000);
        if *to == "sim:reverse-unknown" {
            s.reverse(&format!("r-{n}"), "").unwrap();
        }
    }
    s.pass(2 * DAY);
    let all = pages(s, &live(s.caller), &[("limit", "200")]);
    assert_eq!((all.len(), all[0].data.len()), (1, 36));
    all.into_iter().flat_map(|page| page.data).collect()
}

/// A decimal number in 10⁻¹⁵.
fn exact(decimal: &str) -> i128 {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    format!("{whole}{fraction:0<15}").parse().unwrap()
}

/// Whether a payment is one of those that a parameter asks for.
fn matches(it: &SettlementView, name: &str, value: &str) -> bool {
    match name {
        "status" => it.status.as_str() == value,
        "currency" => it.currency == value,
        "provider" => it.provider == value,
        "to" => it.to == value,
        "reference" => it.reference == value,
        "sandbox" => it.sandbox.to_string() == value,
        "needs_review" => it.needs_review.to_string() == value,
        "direction" => it.direction.as_str() == value,
        "created_from" => it.created_at.as_str() >= value,
        "created_to" => it.created_at.as_str() < value,
        "min_amount" => exact(it.amount.as_str()) >= exact(value),
        "max_amount" => exact(it.amount.as_str()) <= exact(value),
        _ => panic!("{name}"),
    }
}

#[test]
fn each_filter_finds_what_it_says_alone_and_with_every_other() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    let all = payments(&s);
    let (third, last) = (all[2].created_at, all[35].created_at);
    let mut filters = vec![
        ("status", "completed"),
        ("status", "failed"),
        ("status", "unknown"),
        ("currency", "EUR"),
        ("currency", "KWD"),
        ("provider", "play"),
        ("provider", "real"),
        ("to", "acct:42"),
        ("reference", "r-7"),
        ("sandbox", "true"),
        ("sandbox", "false"),
        ("needs_review", "true"),
        ("needs_review", "false"),
        ("direction", "outgoing"),
        ("direction", "incoming"),
    ];
    filters.extend([
        ("created_from", third.as_str()),
        ("created_to", third.as_str()),
        ("created_from", last.as_str()),
        ("created_to", last.as_str()),
    ]);
    for bound in [
        "0",
        "0.001",
        "0.0011",
        "0.01",
        "0.011",
        "10",
        "10.5",
        "10.500",
        "10.501",
        "10.505",
        "10.5051",
        "999.99",
        "000000000001000",
        "999.989999999999999",
    ] {
        filters.extend([("min_amount", bound), ("max_amount", bound)]);
    }
    for caller in [s.caller, live(s.caller)] {
        let visible: Vec<_> = all.iter().filter(|it| it.sandbox || !caller.mode.is_sandbox()).collect();
        for one in &filters {
            for other in &filters {
                let query = [*one, *other];
                // A parameter appears once, but for the status, of which any counts.
                let query = if one.0 == other.0 { &query[..1] } else { &query[..] };
                let wanted: Vec<_> = visible.iter().filter(|it| query.iter().all(|(name, value)| matches(it, name, value))).collect();
                let wanted: Vec<_> = wanted.iter().map(|it| it.reference.as_str()).collect();
                assert_eq!(references(&pages(&s, &caller, query)), wanted, "{query:?}");
            }
        }
        let either = pages(&s, &caller, &[("status", "failed"), ("status", "unknown")]);
        let wanted: Vec<_> =
            visible.iter().filter(|it| ["failed", "unknown"].contains(&it.status.as_str())).map(|it| it.reference.as_str()).collect();
        assert_eq!(references(&either), wanted);
        assert!(!wanted.is_empty());
    }
    assert!(all.iter().any(|it| it.needs_review) && all.iter().any(|it| !it.sandbox));
}

#[test]
fn pages_end_where_the_list_does() {
    let s = Sandbox::new();
    for n in 0..12 {
        s.pay(&n.to_string(), if n % 4 == 0 { "acct:42" } else { "sim:ok" });
    }
    let sizes = |query: &[(&str, &str)]| pages(&s, &s.caller, query).iter().map(|page| page.data.len()).collect::<Vec<_>>();
    assert_eq!(sizes(&[]), [12]);
    for (limit, expected) in
        [("1", vec![1; 12]), ("5", vec![5, 5, 2]), ("6", vec![6, 6]), ("11", vec![11, 1]), ("12", vec![12]), ("13", vec![12])]
    {
        assert_eq!(sizes(&[("limit", limit)]), expected, "limit {limit}");
    }
    for (limit, expected) in [("1", vec![1, 1, 1]), ("2", vec![2, 1]), ("3", vec![3]), ("4", vec![3])] {
        assert_eq!(sizes(&[("limit", limit), ("to", "acct:42")]), expected, "limit {limit}, filtered");
    }
    assert_eq!(sizes(&[("to", "acct:43")]), [0]);
    assert_eq!(sizes(&[("provider", "nobody")]), [0], "what does not exist finds nothing");
}

#[test]
fn a_page_that_is_full_early_does_not_promise_more_than_there_is() {
    let s = Sandbox::new();
    for n in 0..30 {
        s.pay(&n.to_string(), if n < 28 { "sim:ok" } else { "acct:42" });
    }
    let found = pages(&s, &s.caller, &[("limit", "2"), ("to", "acct:42")]);
    assert_eq!((found.len(), references(&found)), (1, vec!["29", "28"]));
}

#[test]
fn what_a_reset_ends_is_what_is_open_in_the_sandbox() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    payments(&s);
    s.pay("open", "sim:pending");
    let real = r#"{"amount":1,"currency":"EUR","to":"acct:42","reference":"real"}"#;
    s.engine.run(crate::support::create(&s.engine, live(s.caller), real)).unwrap();
    let ended = s.engine.list(&live(s.caller), &s.engine.parse_reset(b"").unwrap()).unwrap().data;
    assert!(ended.iter().all(|it| it.sandbox && ["accepted", "submitted", "unknown"].contains(&it.status.as_str())), "{ended:?}");
    assert!(ended.iter().any(|it| it.reference == "open") && ended.iter().any(|it| it.status.as_str() == "unknown"));
}

#[test]
fn a_parameter_that_says_nothing_is_refused_by_its_name() {
    let s = Sandbox::new();
    let refused = |name: &str, value: &str| -> (String, String) {
        let error = parsed(&s, &[(name, value)]).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidFields);
        (error.fields[0].pointer.to_string(), error.fields[0].code.to_string())
    };
    let (long, longer) = ("999999999999999", "9999999999999999");
    for name in ["min_amount", "max_amount"] {
        for value in
            ["", ".", ".5", "1.", "1..2", "1.2.3", "a", "1a", "1.a", "-1", "+1", "1e3", "1,5", " 1", longer, &format!("1.{longer}")]
        {
            assert_eq!(refused(name, value), (name.to_owned(), "amount_malformed".to_owned()), "{value:?}");
        }
        assert!(parsed(&s, &[(name, long)]).is_ok() && parsed(&s, &[(name, &format!("1.{long}"))]).is_ok());
    }
    for (name, value, code) in [
        ("limit", "0", "out_of_range"),
        ("limit", "201", "out_of_range"),
        ("limit", "x", "out_of_range"),
        ("status", "done", "unknown_value"),
        ("currency", "EURO", "currency_unknown"),
        ("to", "x", "participant_malformed"),
        ("sandbox", "yes", "wrong_type"),
        ("needs_review", "1", "wrong_type"),
        ("direction", "up", "unknown_value"),
        ("created_from", "today", "time_malformed"),
        ("created_to", "2026", "time_malformed"),
        ("colour", "red", "unknown_parameter"),
    ] {
        assert_eq!(refused(name, value), (name.to_owned(), code.to_owned()), "{name}={value}");
    }
    let twice = parsed(&s, &[("limit", "1"), ("limit", "1")]).unwrap_err();
    assert_eq!(twice.fields[0].code, "duplicate_parameter");
    let many = |count: usize| parsed(&s, &vec![("status", "failed"); count]);
    let most = (1..).find(|count| many(*count).is_err()).unwrap();
    assert_eq!((most, many(most).unwrap_err().code), (65, ErrorCode::MalformedRequest));
}
