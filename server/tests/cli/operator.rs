//! The operator's commands on a store that a server is running on.

use railgate::env::{Env as _, SystemEnv};
use railgate::time::rfc3339;

use super::support::{Home, World};

fn client_id(world: &World) -> String {
    let list = world.operate(&["clients", "list", "--json"]).ok().json();
    list["data"][0]["client_id"].as_str().unwrap().to_owned()
}

/// Repeats a call until its result changes: the server looks at the store every few seconds.
fn eventually(world: &World, code: i32) -> super::Run {
    loop {
        let run = world.run(&["balance"]);
        if run.code == Some(code) {
            return run;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_suspended_client_is_refused_by_a_running_server_until_it_is_resumed() {
    let world = World::enrolled();
    let client = client_id(&world);
    let done = world.operate(&["clients", "suspend", &client]).ok();
    assert!(done.out.contains("suspended") && done.out.contains("within five seconds"), "{}", done.out);
    let refused = eventually(&world, 1);
    assert!(refused.err.contains("client_suspended"), "{}", refused.err);
    assert!(world.operate(&["clients", "list"]).ok().out.contains("suspended"));
    world.operate(&["clients", "resume", &client]).ok();
    eventually(&world, 0);
    let nobody = world.operate(&["clients", "suspend", "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"]).fails(1);
    assert!(nobody.err.contains("No such client") && nobody.err.contains("clients list"), "{}", nobody.err);
}

#[test]
fn the_server_of_a_store_is_listed_until_it_stops() {
    let world = World::enrolled();
    let nodes = loop {
        let nodes = world.operate(&["nodes", "--json"]).ok().json()["data"].take();
        if nodes != serde_json::json!([]) {
            break nodes;
        }
        std::thread::yield_now();
    };
    let (node, text) = (&nodes[0], world.operate(&["nodes"]).ok().out);
    assert_eq!((&node["up"], &node["version"]), (&true.into(), &env!("CARGO_PKG_VERSION").into()), "{nodes}");
    for member in ["id", "host", "address", "version"] {
        assert!(text.contains(node[member].as_str().unwrap()), "{member} in {text}");
    }
    assert!(text.contains("up"), "{text}");
}

#[test]
fn what_devices_of_all_clients_measured_is_summarised_together() {
    let world = World::enrolled();
    let measured = |profile: &str, os: &str, value: u32| {
        let at = rfc3339(SystemEnv::default().now());
        let point =
            serde_json::json!({"id": format!("measured-{value}"), "metric": "app.start", "value": value, "unit": "ms", "at": at, "os": os});
        let body = serde_json::json!({"items": [point]}).to_string();
        world.run(&["curl", "POST", "/mobile/quality", &body, "--profile", profile]).ok();
    };
    let summary = |more: &[&str]| world.operate(&[&["quality", "app.start", "--environment", "sandbox"], more].concat()).ok();
    assert!(summary(&[]).out.contains("Nothing was measured"));
    // Each client reports with one key, which counts as one device.
    measured("default", "ios 26", 10);
    for n in 1..4 {
        let profile = format!("client-{n}");
        world.run(&["enroll", "--profile", &profile]).ok();
        measured(&profile, "ios 26", 10 + n);
    }
    let few = summary(&["--by", "os"]).out;
    assert!(few.contains("4 points are not shown") && !few.contains("ios 26"), "{few}");
    world.run(&["enroll", "--profile", "client-4"]).ok();
    measured("client-4", "ios 26", 20);
    let shown = summary(&["--by", "os", "--by", "day", "--json"]).json();
    let group = &shown["groups"][0];
    assert_eq!((&group["os"], &group["count"], &group["min"], &shown["withheld"]), (&"ios 26".into(), &5.into(), &10.into(), &0.into()));
    let table = summary(&["--by", "os"]).out;
    assert!(["ios 26", "p95", "20", "ms"].iter().all(|part| table.contains(part)) && !table.contains("not shown"), "{table}");
    let live = world.operate(&["quality", "app.start", "--json"]).ok().json();
    assert_eq!((&live["environment"], &live["groups"]), (&"live".into(), &serde_json::json!([])));
    let refused = world.operate(&["quality", "app.start", "--by", "os", "--by", "os"]).fails(1);
    assert!(refused.err.contains("each time another one"), "{}", refused.err);
    world.operate(&["quality", "App Start"]).fails(2);
}

#[test]
fn a_statement_that_lacks_lines_gets_them_while_the_server_runs() {
    let world = World::enrolled();
    let whole = world.operate(&["ledger", "repair-statements"]).ok();
    assert!(whole.out.contains("no statement lacks lines"), "{}", whole.out);
    for reference in ["one", "two"] {
        world.run(&["settle", "10", "EUR", "sim:ok", "--reference", reference, "--wait", "30"]).ok();
    }
    let lines = || world.run(&["statement", "EUR", "--json"]).ok().json()["data"].as_array().unwrap().clone();
    while lines().len() < 3 {
        std::thread::yield_now();
    }
    // As an older server would have left it: the last payment has no line.
    let database = rusqlite::Connection::open(world.path("railgate.db")).unwrap();
    database.execute_batch("DELETE FROM entry WHERE n = 3").unwrap();
    let broken = world.operate(&["ledger", "verify"]).fails(1);
    assert!(broken.err.contains("repair-statements"), "{}", broken.err);
    let check = world.operate(&["ledger", "repair-statements", "--check", "--json"]).fails(1);
    let lacks = &check.json()["data"][0];
    assert_eq!((lacks["lines"].as_u64(), lacks["added"].as_u64(), lacks["difference"].as_f64()), (Some(1), Some(0), Some(-10.0)));
    let done = world.operate(&["ledger", "repair-statements"]).ok();
    assert!(done.out.contains(lacks["client_id"].as_str().unwrap()) && done.out.contains("-10.00"), "{}", done.out);
    world.operate(&["ledger", "repair-statements", "--check"]).ok();
    world.operate(&["ledger", "verify"]).ok();
    let all = lines();
    assert_eq!((all.len(), &all[0]["reference"], all[0]["balance"].as_f64()), (3, &"two".into(), Some(999_980.0)));
    let trail = world.operate(&["audit"]).ok().out;
    assert!(trail.contains("repair_statement") && trail.contains("sandbox EUR: 1 lines"), "{trail}");

    // What no transfer explains is told, and stays.
    database.execute_batch("UPDATE entry SET balance = balance + 1 WHERE n = 3").unwrap();
    let unexplained = world.operate(&["ledger", "repair-statements"]).fails(1);
    assert!(unexplained.out.contains("unexplained") && unexplained.err.contains("no transfers explain"), "{unexplained:?}");
}

#[test]
fn an_invitation_enrols_one_client() {
    let world = World::start_with(Home::new(), &["--enrollment", "invited"]);
    let uninvited = world.run(&["enroll"]).fails(1);
    assert!(uninvited.err.contains("invitation_invalid") && uninvited.err.contains("--invitation"), "{}", uninvited.err);
    let code = world.operate(&["clients", "invite"]).ok().out.trim().to_owned();
    world.run(&["enroll", "--invitation", &code]).ok();
    let used = world.run(&["enroll", "--invitation", &code, "--profile", "another"]).fails(1);
    assert!(used.err.contains("was used"), "{}", used.err);
    let told = world.operate(&["clients", "invite", "--days", "1", "--json"]).ok().json();
    assert!(told["invitation"].as_str().unwrap().starts_with("inv_") && told["expires_at"].is_string(), "{told}");
    let trail = world.operate(&["audit"]).ok();
    assert!(trail.out.contains("invite") && !trail.out.contains(&code), "{}", trail.out);
}

#[test]
fn an_invitation_is_listed_until_it_is_used_or_withdrawn() {
    let world = World::start_with(Home::new(), &["--enrollment", "invited"]);
    let list = || world.operate(&["clients", "invitations", "--json"]).ok().json()["data"].as_array().unwrap().clone();
    assert!(world.operate(&["clients", "invitations"]).ok().out.contains("No invitations"));
    let invite = || world.operate(&["clients", "invite", "--json"]).ok().json();
    let (first, second) = (invite(), invite());
    let listed = list();
    assert_eq!(listed.len(), 2);
    for made in [&first, &second] {
        let row = listed.iter().find(|row| row["invitation_id"] == made["invitation_id"]).unwrap();
        assert!(row["expires_at"] == made["expires_at"] && row["created_at"].is_string(), "{row}");
    }
    assert!(!listed.iter().any(|row| row.to_string().contains("inv_")), "no code is stored");
    let text = |made: &serde_json::Value, member: &str| made[member].as_str().unwrap().to_owned();
    assert!(world.operate(&["clients", "invitations"]).ok().out.contains(&text(&first, "invitation_id")));

    let withdraw = |made: &serde_json::Value| world.operate(&["clients", "invitations", "--withdraw", &text(made, "invitation_id")]);
    assert!(withdraw(&first).ok().out.contains("withdrawn"));
    let refused = world.run(&["enroll", "--invitation", &text(&first, "invitation")]).fails(1);
    assert!(refused.err.contains("invitation_invalid"), "{}", refused.err);
    let again = withdraw(&first).fails(1);
    assert!(again.err.contains("used or withdrawn") && again.err.contains("clients invitations"), "{}", again.err);
    world.operate(&["clients", "invitations", "--withdraw", "inv_x"]).fails(2);

    world.run(&["enroll", "--invitation", &text(&second, "invitation")]).ok();
    assert!(list().is_empty());
    let trail = world.operate(&["audit"]).ok();
    let row = trail.out.lines().find(|line| line.contains("withdraw_invitation")).unwrap();
    assert!(row.contains(&text(&first, "invitation_id")) && row.contains("operator"), "{}", trail.out);
}

#[test]
fn a_live_key_waits_for_its_approval() {
    let world = World::enrolled();
    let client = client_id(&world);
    let none = world.operate(&["clients", "list", "--pending"]).ok();
    assert!(none.out.contains("No key is pending"), "{}", none.out);
    let asked = world.run(&["enroll", "--live"]).ok();
    assert!(asked.out.contains("pending") && asked.out.contains(&format!("railgate clients approve {client}")), "{}", asked.out);
    let waiting = world.run(&["balance", "--profile", "default-live"]).fails(1);
    assert!(waiting.err.contains("enrollment_pending"), "{}", waiting.err);
    let listed = world.operate(&["clients", "list", "--pending", "--json"]).ok().json();
    assert_eq!((listed["data"][0]["client_id"].as_str(), listed["data"][0]["pending_keys"].as_u64()), (Some(client.as_str()), Some(1)));

    world.operate(&["clients", "approve", &client]).ok();
    let keys = world.operate(&["clients", "keys", &client, "--json"]).ok().json();
    let live = keys["data"].as_array().unwrap().iter().find(|key| key["environment"] == "live").unwrap().clone();
    assert_eq!(live["status"], "active");
    let profile = std::fs::read_to_string(world.path("home/profiles/default-live.toml")).unwrap();
    assert!(profile.contains(live["key_id"].as_str().unwrap()) && profile.contains("environment = \"live\""), "the key in the profile");
    world.run(&["curl", "GET", "/auth/keys", "--profile", "default-live"]).ok();
    let again = world.operate(&["clients", "approve", &client]).fails(1);
    assert!(again.err.contains("waits for approval"), "{}", again.err);

    world.operate(&["clients", "keys", &client, "--revoke", live["key_id"].as_str().unwrap()]).ok();
    let keys = world.operate(&["clients", "keys", &client]).ok();
    assert!(keys.out.contains("revoked"), "{}", keys.out);
}

#[test]
fn of_several_keys_that_wait_the_operator_says_which() {
    let world = World::enrolled();
    let client = client_id(&world);
    world.run(&["enroll", "--live"]).ok();
    world.run(&["enroll", "--live", "--live-profile", "intruder"]).ok();
    let keys = || world.operate(&["clients", "keys", &client, "--json"]).ok().json()["data"].as_array().unwrap().clone();
    let live: Vec<String> =
        keys().iter().filter(|key| key["environment"] == "live").map(|key| key["key_id"].as_str().unwrap().to_owned()).collect();
    let unsaid = world.operate(&["clients", "approve", &client]).fails(1);
    assert!(live.len() == 2 && live.iter().all(|key| unsaid.err.contains(key.as_str())) && unsaid.err.contains("--key"), "{}", unsaid.err);
    assert_eq!(keys().iter().filter(|key| key["status"] == "pending").count(), 2);
    let said = world.operate(&["clients", "approve", &client, "--key", &live[0]]).ok();
    assert!(said.out.contains(&live[0]), "{}", said.out);
    assert_eq!(
        keys().iter().filter(|key| key["status"] == "pending").map(|key| key["key_id"].clone()).collect::<Vec<_>>(),
        [live[1].as_str()]
    );
}

#[test]
fn a_changed_history_is_told_with_its_first_broken_link() {
    let world = World::enrolled();
    for reference in ["one", "two"] {
        world.settled("1", "sim:ok", reference);
    }
    let copy = world.path("copy.db");
    world.operate(&["backup", "--to", copy.to_str().unwrap()]).ok();
    let store = format!("sqlite:{}", copy.display());
    let verify = |more: &[&str]| world.elsewhere(&[&["ledger", "verify", "--store", &store], more].concat());
    let sound = verify(&[]).ok();
    assert!(sound.out.contains("everything agrees") && !sound.out.contains("broken"), "{}", sound.out);

    let change = "UPDATE event SET at = at + 1 WHERE k = (SELECT max(no) FROM settlement) << 16 | 2";
    assert_eq!(rusqlite::Connection::open(&copy).unwrap().execute(change, []).unwrap(), 1);
    let told = verify(&[]).fails(1);
    let report = verify(&["--json"]).fails(1).json();
    let first = &report["first_broken"];
    assert_eq!((first["sequence"].as_u64(), first["code"].as_str()), (Some(2), Some("trail_broken")), "{report}");
    let settlement = first["settlement"].as_str().unwrap();
    let two = world.run(&["status", "two", "--json"]).ok().json();
    assert_eq!(two["id"], settlement);
    assert!(told.out.contains(&format!("First broken link: {settlement}, event 2 (trail_broken")), "{}", told.out);
    assert!(told.err.contains(&format!("event 2 of {settlement}")), "{}", told.err);
}

#[test]
fn the_audit_trail_tells_who_did_what() {
    let world = World::enrolled();
    let client = client_id(&world);
    world.run(&["settle", "1", "EUR", "sim:ok", "--reference", "audited"]).ok();
    world.run(&["settle", "2", "EUR", "sim:ok", "--reference", "audited"]).fails(1);
    world.operate(&["clients", "suspend", &client]).ok();
    let trail = world.operate(&["audit", "--client", &client, "--json"]).ok().json();
    let rows: Vec<(&str, &str, &str)> = trail["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["action"].as_str().unwrap(), row["target"].as_str().unwrap_or_default(), row["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ("enroll", client.as_str(), "done"),
            ("create_settlement", "audited", "done"),
            ("create_settlement", "audited", "reference_conflict"),
            ("suspend_client", client.as_str(), "done"),
        ]
    );
    assert!(trail["data"][1]["key_id"].is_string() && trail["data"][3]["key_id"].is_null(), "{trail}");
    assert_eq!((&trail["data"][1]["by"], &trail["data"][3]["by"]), (&"client".into(), &"operator".into()));
    let after = trail["data"][2]["no"].as_i64().unwrap().to_string();
    let rest = world.operate(&["audit", "--after", &after]).ok();
    assert!(rest.out.contains("operator") && rest.out.contains("suspend_client") && !rest.out.contains("audited"), "{}", rest.out);
    let first = world.operate(&["audit", "--limit", "1"]).ok();
    assert!(first.out.contains("enroll") && first.out.contains("--after"), "{}", first.out);
}

#[test]
fn the_gateway_s_keys_are_replaced_while_it_runs() {
    let world = World::enrolled();
    let before = world.operate(&["keys", "list", "--json"]).ok().json();
    assert_eq!(before["master_keys"]["ids"], serde_json::json!([1]));
    let kinds = |list: &serde_json::Value| -> Vec<(String, u64, bool)> {
        let rows = list["data"].as_array().unwrap().iter();
        rows.map(|row| (row["kind"].as_str().unwrap().to_owned(), row["no"].as_u64().unwrap(), row["retired_at"].is_null())).collect()
    };
    assert_eq!(
        kinds(&before),
        [("challenge", 1, true), ("receipt", 1, true), ("log", 1, true)].map(|(kind, no, used)| (kind.to_owned(), no, used))
    );

    world.operate(&["keys", "rotate", "challenge"]).ok();
    world.run(&["balance"]).ok();
    world.operate(&["keys", "rotate", "receipt"]).ok();
    world.operate(&["keys", "rotate", "log"]).ok();
    let after = world.operate(&["keys", "list", "--json"]).ok().json();
    let of = |kind| [(kind, 1, false), (kind, 2, true)];
    let expected = [of("challenge"), of("receipt"), of("log")].concat();
    assert_eq!(kinds(&after), expected.into_iter().map(|(kind, no, used)| (kind.to_owned(), no, used)).collect::<Vec<_>>());

    let rotated = world.operate(&["keys", "rotate", "master"]).ok();
    assert!(rotated.out.contains("master key 2") && rotated.out.contains("backup"), "{}", rotated.out);
    let sealed = world.operate(&["keys", "list", "--json"]).ok().json();
    assert_eq!(sealed["master_keys"]["ids"], serde_json::json!([2, 1]));
    assert!(sealed["data"].as_array().unwrap().iter().all(|row| row["master_key"] == 2), "{sealed}");
    let file = std::fs::read_to_string(world.path("railgate.db.keys")).unwrap();
    let secret = file.lines().find_map(|line| line.strip_prefix("2:")).unwrap();
    assert!(!rotated.out.contains(secret) && !sealed.to_string().contains(secret), "secrets are not shown");
    world.run(&["balance"]).ok();
}

#[test]
fn a_rotation_that_broke_off_is_finished_by_the_next() {
    let world = World::enrolled();
    // The state of a rotation that ended before anything was sealed again.
    railgate_server::master::rotate(&world.path("railgate.db.keys")).unwrap();
    let half = world.operate(&["keys", "list", "--json"]).ok().json();
    assert_eq!(half["master_keys"]["ids"], serde_json::json!([2, 1]));
    assert!(half["data"].as_array().unwrap().iter().all(|row| row["master_key"] == 1), "{half}");
    world.operate(&["keys", "rotate", "challenge"]).ok();
    let done = world.operate(&["keys", "rotate", "master", "--json"]).ok().json();
    // Two challenge keys, the receipt key, the log's key and the client's webhook secret.
    assert_eq!((done["master_key"].as_u64(), done["resealed"].as_u64()), (Some(3), Some(5)), "{done}");
    let whole = world.operate(&["keys", "list", "--json"]).ok().json();
    assert!(whole["data"].as_array().unwrap().iter().all(|row| row["master_key"] == 3), "{whole}");
}

#[cfg(unix)]
#[test]
fn master_keys_that_others_can_read_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start();
    let file = world.path("railgate.db.keys");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = world.operate(&["keys", "list"]).fails(1);
    assert!(refused.err.contains("open to others (mode 0644)") && refused.err.contains("chmod 600"), "{}", refused.err);
    let missing = world.operate(&["keys", "list", "--master-keys", "/nowhere/master.keys"]).fails(1);
    assert!(missing.err.contains("no file of master keys at /nowhere/master.keys"), "{}", missing.err);
}

#[test]
fn what_is_not_there_is_not_made() {
    let home = Home::new();
    let path = home.path("typo.db");
    let store = format!("sqlite:{}", path.display());
    for line in [
        &["clients", "list"][..],
        &["clients", "suspend", "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"],
        &["audit"],
        &["keys", "rotate", "challenge"],
        &["keys", "rotate", "master"],
    ] {
        let refused = home.run(&[line, &["--store", &store]].concat()).fails(1);
        assert!(refused.err.contains("there is no store"), "{line:?}: {}", refused.err);
    }
    assert!(!path.exists() && !home.path("typo.db.keys").exists());
}

#[test]
fn real_money_is_credited_and_debited_once_for_each_reference() {
    let world = World::enrolled();
    let client = client_id(&world);
    let deposit = ["clients", "deposit", &client, "5000", "EUR", "--reference", "bank-7", "--evidence", "statement, line 7"];
    let done = world.operate(&deposit).ok().out;
    assert!(done.contains("5000.00 EUR credited to") && done.contains("live balance: 5,000.00 EUR"), "{done}");
    assert!(world.operate(&deposit).ok().out.contains("as recorded before"));
    let other = world.operate(&["clients", "deposit", &client, "1", "EUR", "--reference", "bank-7", "--evidence", "x"]).fails(1);
    assert!(other.err.contains("reference_conflict"), "{}", other.err);
    let withdraw = |amount: &str| {
        world.operate(&["clients", "withdraw", &client, amount, "EUR", "--reference", "out-1", "--evidence", "transfer 4711", "--json"])
    };
    assert!(withdraw("5000.01").fails(1).err.contains("5000.00 are available"));
    assert_eq!(withdraw("1200.50").ok().json()["balance"]["available"].to_string(), "3799.5");
    assert!(
        world
            .operate(&["clients", "deposit", &client, "1.005", "EUR", "--reference", "b", "--evidence", "x"])
            .fails(2)
            .err
            .contains("decimals")
    );
    let line = |amount: &str, reference: &str| {
        world.operate(&["clients", "credit-line", &client, amount, "EUR", "--reference", reference, "--evidence", "contract", "--json"])
    };
    assert_eq!(line("2500", "line-1").ok().json()["previous"], "0.00");
    assert_eq!(line("2500", "line-1").ok().json()["replayed"], true);
    assert!(line("2501", "line-1").fails(1).err.contains("reference_conflict"));
    let ended = world.operate(&["clients", "credit-line", &client, "0", "EUR", "--reference", "line-2", "--evidence", "letter"]).ok().out;
    assert!(ended.contains("0.00 EUR is the credit of") && ended.contains("before it: 2500.00 EUR"), "{ended}");
    for wrong in ["-1", "0.001", "many"] {
        line(wrong, "line-3").fails(2);
    }
    let trail = world.operate(&["audit", "--client", &client]).ok().out;
    assert!(trail.contains("deposit") && trail.contains("bank-7 5000.00 EUR"), "{trail}");
    assert!(trail.contains("set_credit") && trail.contains("line-1 2500.00 EUR"), "{trail}");
    world.operate(&["ledger", "verify"]).ok();
}
