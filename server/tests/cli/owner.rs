//! Webhooks as their owner manages them on the command line, with `railgate webhooks listen` as the receiver.

use serde_json::Value;

use super::support::World;
use super::webhooks::Listening;

/// A world with a webhook to this receiver: its id and its secret.
fn webhook(world: &World, url: &str) -> (String, String) {
    let made = world.run(&["webhooks", "add", url, "--json"]).ok().json();
    (made["id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
}

/// The deliveries, as soon as they meet a condition.
fn deliveries(world: &World, id: &str, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    loop {
        let list = world.run(&["webhooks", "deliveries", id, "--json"]).ok().json()["data"].as_array().unwrap().clone();
        if enough(&list) {
            return list;
        }
    }
}

#[test]
fn a_webhook_is_added_shown_changed_and_removed() {
    let world = World::enrolled();
    assert!(world.run(&["webhooks", "list"]).ok().out.contains("railgate webhooks add URL"));
    let line = ["webhooks", "add", "https://shop.example.com/h", "--event", "settlement.completed", "--description", "Orders"];
    let added = world.run(&line).ok().out;
    let id = added.split_whitespace().find(|word| word.starts_with("whk_")).unwrap().to_owned();
    assert!(added.contains("  whsec_") && added.contains("not shown again"), "{added}");
    assert!(added.contains(&format!("railgate webhooks test {id}")), "{added}");

    let list = world.run(&["webhooks", "list"]).ok().out;
    for part in [id.as_str(), "https://shop.example.com/h", "settlement.completed", "enabled", "Orders"] {
        assert!(list.contains(part), "{part} in {list}");
    }
    let shown = world.run(&["webhooks", "show", &id]).ok().out;
    assert!(shown.contains("settlement.completed") && !shown.contains("whsec_") && !list.contains("whsec_"), "{shown}");
    let changed = world.run(&["webhooks", "update", &id, "--all-events", "--description", "", "--disable", "--json"]).ok().json();
    assert_eq!((&changed["all_events"], &changed["description"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(changed["status"], "disabled");
    assert!(world.run(&["webhooks", "enable", &id]).ok().out.contains("enabled"));
    let rotated = world.run(&["webhooks", "rotate", &id, "--grace", "60"]).ok().out;
    let secret = |text: &str| text.split_whitespace().find(|word| word.starts_with("whsec_")).unwrap().to_owned();
    assert_ne!(secret(&rotated), secret(&added));
    assert!(world.run(&["webhooks", "remove", &id]).ok().out.contains("is gone"));
    let gone = world.run(&["webhooks", "show", &id]).fails(1);
    assert!(gone.err.contains("No such webhook"), "{}", gone.err);
}

#[test]
fn wrong_wishes_are_told_apart_from_wrong_usage() {
    let world = World::enrolled();
    let refused = world.run(&["webhooks", "add", "https://10.0.0.8/"]).fails(1);
    assert!(refused.err.contains("/url") && refused.err.contains("url_refused"), "{}", refused.err);
    let unknown = world.run(&["webhooks", "add", "https://shop.example.com/", "--event", "settlement.paid"]).fails(1);
    assert!(unknown.err.contains("/events/0") && unknown.err.contains("settlement.completed"), "{}", unknown.err);
    world.run(&["webhooks", "update", "whk_x"]).fails(2);
    world.run(&["webhooks", "update", "whk_x", "--enable", "--disable"]).fails(2);
    world.run(&["webhooks", "rotate", "whk_x", "--grace", "604801"]).fails(2);
    world.run(&["webhooks", "replay", "whk_x"]).fails(2);
    world.run(&["webhooks", "redeliver", "whk_x"]).fails(2);
    let since = world.run(&["webhooks", "replay", "whk_x", "--since", "yesterday"]).fails(1);
    assert!(since.err.contains("time_malformed"), "{}", since.err);
}

#[test]
fn what_happens_reaches_the_receiver_and_can_be_sent_again() {
    let world = World::enrolled();
    // The secret is known before the receiver's address is.
    let (id, secret) = webhook(&world, "http://127.0.0.1:9/");
    let mut listening = Listening::start(&["--secret", &secret]);
    world.run(&["webhooks", "update", &id, "--url", &format!("http://{}/hook", listening.address)]).ok();
    let (dead, own) = webhook(&world, "http://127.0.0.1:9/");
    assert_ne!(own, secret, "only the first webhook begins with the secret of the enrolment");

    let tested = world.run(&["webhooks", "test", &id]).ok().out;
    assert!(tested.contains("settlement.completed (evt_") && tested.contains("answered 204"), "{tested}");
    assert!(listening.entry().contains("verified  settlement.completed"));
    let refused = world.run(&["webhooks", "test", &dead]).fails(1);
    assert!(refused.out.contains("no connection") && refused.err.contains("did not accept"), "{} {}", refused.out, refused.err);

    world.settled("10.50", "sim:ok", "w-1");
    let completed = |list: &[Value]| list.iter().find(|it| it["type"] == "settlement.completed" && it["cause"] == "event").cloned();
    let list = deliveries(&world, &id, |list| completed(list).is_some_and(|it| it["status"] == "delivered"));
    let completed = completed(&list).unwrap();
    let delivery = completed["id"].as_str().unwrap();
    let shown = world.run(&["webhooks", "show", &id, delivery]).ok().out;
    assert!(shown.contains("answered 204") && shown.contains("\"reference\": \"w-1\"") && shown.contains("\"amount\": 10.50"), "{shown}");
    let table = world.run(&["webhooks", "deliveries", &id, "--status", "delivered", "--limit", "1"]).ok().out;
    assert!(table.contains("delivered") && table.contains("There are more: --all"), "{table}");

    let again = world.run(&["webhooks", "redeliver", &id, delivery, "--json"]).ok().json();
    assert_eq!((&again["cause"], &again["message_id"]), (&Value::from("redelivery"), &completed["message_id"]));
    let replayed = world.run(&["webhooks", "replay", &id, "--since", "2020-01-01T00:00:00Z"]).ok().out;
    assert!(replayed.contains("deliveries are on the way"), "{replayed}");
    let all_there = |list: &[Value]| list.iter().all(|it| it["status"] == "delivered") && list.iter().any(|it| it["cause"] == "replay");
    deliveries(&world, &id, all_there);
}

#[test]
fn a_webhook_is_managed_through_curl_and_the_proxy_too() {
    let world = World::enrolled();
    let (id, _) = webhook(&world, "https://shop.example.com/h");
    let path = format!("/webhooks/{id}");
    let patched = world.run(&["curl", "PATCH", &path, r#"{"enabled":false}"#]).ok().json();
    assert_eq!(patched["status"], "disabled");
    let proxy = world.proxy();
    let body = r#"{"description":"by proxy"}"#;
    let request = format!(
        "PATCH /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = proxy.raw(&request);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("by proxy"), "{answer}");
    let answer = proxy.raw(&format!("DELETE /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
    world.run(&["curl", "GET", &path]).fails(22);
    let removed = webhook(&world, "https://shop.example.com/h").0;
    world.run(&["curl", "DELETE", &format!("/webhooks/{removed}")]).ok();
}
