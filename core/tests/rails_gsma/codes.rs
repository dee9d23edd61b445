//! The table of `docs/rails/gsma.md` shows what the rail does: it is generated from the rail, and each of its rows is played.

use std::path::PathBuf;

use railgate::api::{ReversalStatus, SettlementStatus};
use railgate::rail::{Carried, HttpRequest};
use serde_json::json;

use super::support::*;

const GENERATED: &str = "--test engine rails_gsma -->\n";

fn page() -> (PathBuf, String) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rails/gsma.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
fn the_tables_are_what_the_rail_does() {
    let (path, text) = page();
    let (written, _) = text.split_once(GENERATED).unwrap();
    let expected = format!("{written}{GENERATED}\n{}", railgate::rail::gsma::codes::markdown());
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(text, expected, "run `RAILGATE_BLESS=1 cargo test -p railgate --test engine rails_gsma` and look at the difference");
    }
}

/// The cells of the rows of the generated tables.
fn rows(columns: usize) -> Vec<Vec<String>> {
    let (_, text) = page();
    let tables = text.split_once(GENERATED).unwrap().1.to_owned();
    let row = |line: &str| -> Vec<String> { line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect() };
    let rows: Vec<_> = tables.lines().map(row).filter(|row| row.len() == columns && row[0].starts_with('`')).collect();
    assert!(!rows.is_empty());
    rows
}

/// What is between the backticks of a cell, or else the cell.
fn plain(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or(cell)
}

/// The answer that a row is about.
fn answer(row: &[String]) -> Carried {
    let category = row[0].split('`').nth(3).unwrap_or("businessRule");
    error(if matches!(category, "internal" | "serviceUnavailable") { 500 } else { 400 }, category, plain(&row[0]))
}

#[test]
fn each_code_does_to_a_payment_what_its_row_says() {
    let rows = rows(5);
    assert_eq!(rows.len(), 38 + 5, "the codes of the API, and the generic one in each category");
    for row in rows {
        let world = World::with(vec![provider("one", json!({}), json!({})), provider("two", json!({}), json!({}))]);
        let operator = Script::new(|request: &HttpRequest| match (request.method, request.url.starts_with(ONE)) {
            ("POST", true) => answer(&row),
            ("POST", false) => replied(201, transaction(&sent(request), "P-2", "completed")),
            _ => Carried::Lost,
        });
        let view = world.pay(&operator, 0);
        let found = (view.status, view.provider.as_str(), view.failure.map(|it| it.code.as_str().to_owned()));
        let expected = match row[2].as_str() {
            "yes" => (SettlementStatus::Completed, "two", None),
            "no" => (SettlementStatus::Failed, "one", Some(plain(&row[1]).to_owned())),
            _ => (SettlementStatus::Unknown, "one", None),
        };
        assert_eq!(found, expected, "{row:?}");
        if row[2] == "yes" {
            let world = World::new();
            let view = world.pay(&Script::new(|_: &HttpRequest| answer(&row)), 0);
            assert_eq!(view.failure.unwrap().code.as_str(), plain(&row[1]), "{row:?}");
        }
    }
}

#[test]
fn each_code_does_to_a_reversal_and_a_question_what_its_row_says() {
    for row in rows(5) {
        let world = World::paid();
        let operator = Script::new(|request: &HttpRequest| if request.method == "POST" { answer(&row) } else { Carried::Lost });
        let status = world.reverse(&operator, 0);
        let failure = world.shop().reversal("r", "back").unwrap().failure.map(|it| it.code.as_str().to_owned());
        let expected = match row[3].as_str() {
            "unknown" => (ReversalStatus::Unknown, None),
            declined => (ReversalStatus::Failed, Some(plain(declined).to_owned())),
        };
        assert_eq!((status, failure), expected, "{row:?}");

        let world = World::new();
        let operator = Script::new(|request: &HttpRequest| if request.method == "POST" { Carried::Lost } else { answer(&row) });
        let expected = if row[4] == "yes" { SettlementStatus::Failed } else { SettlementStatus::Unknown };
        assert_eq!(world.pay(&operator, 10_000).status, expected, "{row:?}");
    }
}

#[test]
fn each_status_of_a_transaction_means_what_its_row_says() {
    for row in rows(3) {
        let world = World::new();
        let status = plain(&row[0]).to_owned();
        let operator = Script::new(|request: &HttpRequest| replied(201, transaction(&sent(request), "P-1", &status)));
        let expected = match row[1].split([':', ';']).next().unwrap() {
            "completed" => SettlementStatus::Completed,
            "accepted" => SettlementStatus::Submitted,
            "declined" => SettlementStatus::Failed,
            "returned" => SettlementStatus::Returned,
            other => panic!("{other}"),
        };
        assert_eq!(world.pay(&operator, 0).status, expected, "{row:?}");
    }
}
