//! `railgate reconcile`, on a store that a server is running on.

use railgate::env::{Env as _, SystemEnv};
use railgate::time::rfc3339;

use super::support::World;

const DAY: i64 = 86_400_000;

/// A world whose simulated operator writes tables.
fn world() -> World {
    let world = World::enrolled();
    let settings = r#"{"providers": [{"id": "simulator", "name": "Simulated operator", "rail": "simulator", "mode": "sandbox", "settings": {
        "statement_amount": "Amount", "statement_currency": "=EUR", "statement_date": "Time", "statement_references": "Reference"}}]}"#;
    std::fs::write(world.path("providers.json"), settings).unwrap();
    world.operate(&["providers", "apply", world.path("providers.json").to_str().unwrap(), "--yes"]).ok();
    world
}

fn file(world: &World, rows: &[(&str, &str)]) -> String {
    let now = SystemEnv::default().now();
    let mut text = "Time,Reference,Amount\n".to_owned();
    let mut row = |at: i64, reference: &str, amount: &str| text.push_str(&format!("{},{reference},{amount}\n", rfc3339(at)));
    row(now - 2 * DAY, "begin", "-0.01");
    rows.iter().for_each(|(reference, amount)| row(now, reference, amount));
    row(now + 2 * DAY, "end", "-0.02");
    let path = world.path("statement.csv");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn rail_reference(world: &World, reference: &str) -> String {
    let list = world.run(&["list", "--json"]).ok().json();
    let found = list["data"].as_array().unwrap().iter().find(|it| it["reference"] == reference).unwrap().clone();
    found["rail_reference"].as_str().unwrap().to_owned()
}

#[test]
fn a_statement_is_compared_beside_a_running_server() {
    let world = world();
    for reference in ["fine", "lost", "wrong"] {
        world.settled("10", "sim:ok", reference);
    }
    let path = file(&world, &[(&rail_reference(&world, "fine"), "-10.00"), (&rail_reference(&world, "wrong"), "-9.00")]);
    let compare = |more: &[&str]| world.operate(&[&["reconcile", "--provider", "simulator", "--statement", &path], more].concat());
    let shown = compare(&[]).ok().out;
    for part in ["amount_differs", "missing_there", "missing_here", "wrong", "9.00 EUR", "1 by reference", "statement.csv (csv)", "yes"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    let json = compare(&["--json"]).ok();
    let first = json.json();
    assert_eq!((&first["reconciliation"]["lines"], first["findings"].as_array().unwrap().len()), (&4.into(), 4));
    assert!(json.out.contains(r#""amount":9.00"#), "amounts keep their digits: {}", json.out);
    assert_eq!(compare(&["--json"]).ok().json(), first, "the same file again changes nothing");
    let id = first["reconciliation"]["id"].as_str().unwrap();

    let csv = world.operate(&["reconcile", "show", id, "--format", "csv"]).ok().out;
    assert_eq!((csv.lines().count(), csv.lines().next().unwrap().starts_with("n,kind,")), (5, true), "{csv}");
    let html = world.operate(&["reconcile", "show", id, "--format", "html"]).ok().out;
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n") && html.contains("amount differs"), "{html}");
    let listed = world.operate(&["reconcile", "list", "--provider", "simulator"]).ok().out;
    assert!(listed.contains(id) && listed.contains("statement.csv"), "{listed}");
    let review = world.operate(&["review", "list"]).ok().out;
    assert!(review.contains("lost") && review.contains("statement_differs"), "{review}");
    let lost = first["findings"].as_array().unwrap().iter().find(|it| it["reference"] == "lost").unwrap();
    let case = world.operate(&["review", "show", lost["settlement_id"].as_str().unwrap()]).ok().out;
    assert!(case.contains("missing_there") && case.contains(id), "{case}");
    world.operate(&["ledger", "verify"]).ok();
}

#[test]
fn a_file_that_is_no_statement_is_refused_with_its_line() {
    let world = world();
    let path = file(&world, &[("a", "-1.005")]);
    let refused = world.operate(&["reconcile", "--provider", "simulator", "--statement", &path]).fails(1);
    assert!(refused.err.contains("line 3") && refused.err.contains("1.005"), "{}", refused.err);
    let missing = world.operate(&["reconcile", "--provider", "simulator", "--statement", "/nowhere.csv"]).fails(1);
    assert!(missing.err.contains("cannot read /nowhere.csv"), "{}", missing.err);
    let unknown = world.operate(&["reconcile", "--provider", "nobody", "--statement", &path]).fails(1);
    assert!(unknown.err.contains("provider"), "{}", unknown.err);
    world.operate(&["reconcile", "--provider", "simulator"]).fails(2);
    assert!(world.operate(&["reconcile", "list"]).ok().out.contains("Nothing was compared yet"));
    let hint = world.operate(&["reconcile", "show", "rec_x"]).fails(1);
    assert!(hint.err.contains("hint: list what was compared: railgate reconcile list"), "{}", hint.err);
}
