//! Many callers at once.

use std::collections::HashSet;

use axum::body::Body;
use railgate::store::hooked::{Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use serde_json::json;

use super::support::{Answer, SETTLEMENTS, service, service_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_reference_sent_a_hundred_times_at_once_is_one_settlement() {
    let service = std::sync::Arc::new(service().await);
    let body = json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": "once"}).to_string();
    let send = |_| {
        let (service, body) = (service.clone(), body.clone());
        tokio::spawn(async move { service.post_text(SETTLEMENTS, body).await })
    };
    let calls: Vec<_> = (0..100).map(send).collect();
    let (mut created, mut replayed, mut ids) = (0, 0, HashSet::new());
    for call in calls {
        let answer = call.await.unwrap();
        match answer.status.as_u16() {
            201 => created += 1,
            200 => replayed += 1,
            other => panic!("{other}: {}", answer.text()),
        }
        assert_eq!(answer.header("idempotent-replayed").is_some(), answer.status == 200);
        ids.insert(answer.json()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!((created, replayed, ids.len()), (1, 99, 1));
    service.until("once", "completed").await;
    assert_eq!(service.get("/api/v1/balances/EUR").await.json()["ledger"].to_string(), "999990.0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn partial_reversals_at_once_never_exceed_the_amount() {
    let service = std::sync::Arc::new(service().await);
    service.settled("split", "sim:ok").await;
    let send = |n: u32| {
        let service = service.clone();
        let body = json!({"amount": 7, "reference": format!("part-{n}")}).to_string();
        tokio::spawn(async move {
            let request = service.request("POST", &format!("{SETTLEMENTS}/split/reverse")).header("content-type", "application/json");
            service.send(request.body(Body::from(body)).unwrap()).await
        })
    };
    let calls: Vec<_> = (0..40).map(send).collect();
    let mut made = 0;
    for call in calls {
        let answer = call.await.unwrap();
        if answer.status == 201 {
            made += 1;
        } else {
            answer.problem(409, "reversal_exceeds_remaining");
        }
    }
    assert_eq!(made, 14, "14 × 7 = 98 of 100");
    let path = format!("{SETTLEMENTS}/split");
    while service.get(&path).await.json()["reversing_amount"].as_f64() != Some(0.0) {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let record = service.get(&path).await.json();
    assert_eq!((record["reversed_amount"].to_string(), record["reversing_amount"].to_string()), ("98.0".to_owned(), "0.0".to_owned()));
    let check = service.post(&format!("{path}/check"), &json!({})).await.expect(200).json();
    assert_eq!(check["consistent"], true, "{check:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crowd_is_settled_to_the_last_cent() {
    let service = std::sync::Arc::new(service().await);
    let send = |n: u32| {
        let service = service.clone();
        let body = json!({"amount": "1.25", "currency": "EUR", "to": "msisdn:+254700000001", "reference": format!("crowd-{n}")});
        tokio::spawn(async move { service.post(SETTLEMENTS, &body).await.expect(201) })
    };
    let calls: Vec<_> = (0..400).map(send).collect();
    for call in calls {
        call.await.unwrap();
    }
    for n in 0..400 {
        service.until(&format!("crowd-{n}"), "completed").await;
    }
    let balance = service.get("/api/v1/balances/EUR").await.json();
    assert_eq!((balance["ledger"].to_string(), balance["reserved"].to_string()), ("999500.0".to_owned(), "0.0".to_owned()));
}

/// A store on another machine.
struct Far;

impl Hooks for Far {
    fn is_remote(&self) -> bool {
        true
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_takes_several_commits_is_answered_element_by_element_though_one_is_refused() {
    let service = service_with(Hooked::with(std::sync::Arc::new(MemoryStore::new()), Far), |_| ()).await;
    let pay = |n: usize| {
        let amount = if n == 1 { 2_000_000 } else { 1 };
        json!({"amount": amount, "currency": "EUR", "to": "sim:ok", "reference": format!("many-{n}")})
    };
    // A tenant has 256 places in a commit at most.
    let body = json!({"settlements": (0..600).map(pay).collect::<Vec<_>>()});
    let statuses = |answer: Answer| -> Vec<i64> {
        answer.expect(200).json()["results"].as_array().unwrap().iter().map(|it| it["status"].as_i64().unwrap()).collect()
    };
    let url = format!("{SETTLEMENTS}/batch");
    let first = statuses(service.post(&url, &body).await);
    assert_eq!((first[1], first.iter().filter(|status| **status == 201).count()), (422, 599), "{first:?}");
    let again = statuses(service.post(&url, &body).await);
    assert_eq!((again[1], again.iter().filter(|status| **status == 200).count()), (422, 599), "{again:?}");
}
