//! `railgate operators`, and operators who call a running server.

use super::support::World;

/// Invites somebody and enrols them under a profile of that name.
fn person(world: &World, name: &str, role: &str) -> String {
    let code = world.operate(&["operators", "invite", name, "--role", role]).ok();
    let code = code.out.trim().to_owned();
    assert!(code.starts_with("opi_"), "{code}");
    world.run(&["enroll", "--operator", &code, "--profile", name]).ok();
    code
}

#[test]
fn an_operator_is_invited_enrols_and_calls() {
    let world = World::enrolled();
    let none = world.operate(&["operators", "list"]).ok();
    assert!(none.out.contains("railgate operators invite"), "{}", none.out);
    let code = person(&world, "ada", "agent");
    person(&world, "grace", "approver");
    let again = world.run(&["enroll", "--operator", &code, "--profile", "eve"]).fails(1);
    assert!(again.err.contains("invitation_invalid"), "{}", again.err);
    let listed = world.operate(&["operators", "list", "--json"]).ok().json();
    let people = listed["data"].as_array().unwrap();
    assert_eq!(people.iter().map(|it| it["role"].as_str().unwrap()).collect::<Vec<_>>(), ["agent", "approver"]);
    assert!(people.iter().all(|it| it["invited_by"].is_null() && it["status"] == "active"));

    let clients = world.run(&["curl", "GET", "/operator/clients", "--profile", "ada"]).ok().json();
    let client = clients["data"][0]["client_id"].as_str().unwrap().to_owned();
    let path = format!("/operator/clients/{client}/deposits");
    let body = r#"{"currency":"EUR","amount":"25.00","reference":"w-1","evidence":"line 7","reason":"first"}"#;
    let asked = world.run(&["curl", "POST", &path, body, "--profile", "ada"]).ok().json();
    let approval = asked["approval"]["id"].as_str().unwrap().to_owned();
    let confirm = format!("/operator/approvals/{approval}/confirm");
    let refused = world.run(&["curl", "POST", &confirm, "{}", "--profile", "ada"]).fails(22);
    assert!(refused.out.contains("insufficient_scope"), "{}", refused.out);
    world.run(&["curl", "POST", &confirm, r#"{"comment":"compared"}"#, "--profile", "grace"]).ok();
    let audit = world.operate(&["audit", "--json"]).ok().json();
    let deposit = audit["data"].as_array().unwrap().iter().find(|row| row["action"] == "deposit").unwrap().clone();
    assert_eq!((&deposit["operator_id"], &deposit["detail"]["asked_by"]), (&people[1]["id"], &people[0]["id"]));
    assert!(world.operate(&["audit"]).ok().out.contains(people[1]["id"].as_str().unwrap()));

    // The client's own profile is no operator's.
    let refused = world.run(&["curl", "GET", "/operator/clients"]).fails(22);
    assert!(refused.out.contains("insufficient_scope"), "{}", refused.out);
    let ada = people[0]["id"].as_str().unwrap();
    let changed = world.operate(&["operators", "role", ada, "viewer", "--reason", "moved"]).ok();
    assert!(changed.out.contains("is viewer now"), "{}", changed.out);
    world.operate(&["operators", "revoke", ada, "--reason", "left"]).ok();
    let unknown = world.operate(&["operators", "revoke", "opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB"]).fails(1);
    assert!(unknown.err.contains("railgate operators list"), "{}", unknown.err);
    // A fresh token is refused at once; a cached one within seconds.
    let gone = world.run(&["enroll", "--operator", &code, "--profile", "late"]).fails(1);
    assert!(gone.err.contains("invitation_invalid"), "{}", gone.err);
    world.operate(&["ledger", "verify"]).ok();
}
