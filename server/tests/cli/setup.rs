//! `railgate providers` and `railgate routes`, on a store that a server is running on.

use super::support::World;

const FILE: &str = r#"
[[providers]]
id = "acme"
name = "Acme Pay"
rail = "simulator"
mode = "sandbox"
namespaces = ["msisdn"]
secrets = { token = "whispered" }
limits = { EUR = { max = "500" } }
fees = [{ flat = "0.10", percent = "0.5" }]

[[providers]]
id = "bold"
name = "Bold"
rail = "simulator"
mode = "sandbox"
"#;

fn route(world: &World) -> serde_json::Value {
    let body = r#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"}"#;
    world.run(&["curl", "POST", "/gateway/settlements/check", body]).ok().json()
}

/// Repeats a check until the server has put a change into force.
fn until_tried_first(world: &World, provider: &str) -> serde_json::Value {
    loop {
        let check = route(world);
        if check["route"].as_array().unwrap().iter().find(|step| step["verdict"] == "in").unwrap()["provider"] == provider {
            return check;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_file_of_providers_is_shown_asked_about_and_applied() {
    let world = World::enrolled();
    let file = world.path("providers.toml");
    std::fs::write(&file, FILE).unwrap();
    let file = file.to_str().unwrap();
    let shown = world.operate(&["providers", "apply", file, "--dry-run"]).ok();
    assert!(shown.out.contains("+ provider acme") && shown.out.contains("Nothing was changed"), "{}", shown.out);
    assert!(!shown.out.contains("whispered"), "{}", shown.out);
    let unasked = world.operate(&["providers", "apply", file]).fails(2);
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    assert!(!world.operate(&["providers", "list"]).ok().out.contains("acme"), "nothing was applied so far");

    world.operate(&["providers", "apply", file, "--yes", "--reason", "contract"]).ok();
    assert!(
        world.operate(&["providers", "apply", file, "--dry-run"]).ok().out.contains("~ provider acme"),
        "secrets are always given anew"
    );
    let listed = world.operate(&["providers", "list", "--json"]).ok();
    assert!(!listed.out.contains("whispered"), "{}", listed.out);
    let ids: Vec<_> = listed.json()["data"].as_array().unwrap().iter().map(|it| it["provider"]["id"].clone()).collect();
    assert_eq!(ids, ["simulator", "simulator-backup", "acme", "bold"]);

    // What is shown can be changed and applied; secrets stay.
    let saved = world.path("acme.json");
    let shown = world.operate(&["providers", "show", "acme", "--json"]).ok().out;
    std::fs::write(&saved, shown.replace("Acme Pay", "Acme")).unwrap();
    let changed = world.operate(&["providers", "apply", saved.to_str().unwrap(), "--yes"]).ok();
    assert!(changed.out.contains("~ provider acme") && changed.out.contains(r#"name: "Acme Pay" → "Acme""#), "{}", changed.out);
    assert_eq!(changed.out.matches(" → ").count(), 1, "{}", changed.out);
    let toml = world.operate(&["providers", "show", "acme"]).ok().out;
    assert!(toml.contains("name = \"Acme\"") && toml.contains("flat = \"0.1\""), "{toml}");
}

#[test]
fn a_running_server_follows_routes_and_switches() {
    let world = World::enrolled();
    let file = world.path("setup.toml");
    std::fs::write(&file, FILE).unwrap();
    world.operate(&["providers", "apply", file.to_str().unwrap(), "--yes"]).ok();
    let table = "[[routes]]\nmode = \"sandbox\"\nnamespace = \"msisdn\"\nprefix = \"+254\"\n\
                 providers = [{ id = \"acme\", priority = 1 }, { id = \"bold\", priority = 2 }]\n";
    let path = world.path("routes.toml");
    std::fs::write(&path, table).unwrap();
    let applied = world.operate(&["routes", "apply", path.to_str().unwrap(), "--yes"]).ok();
    assert!(applied.out.contains("+ the table of routes") && applied.out.contains("within a few seconds"), "{}", applied.out);
    let check = until_tried_first(&world, "acme");
    let step = |provider: &str, verdict: &str, why: Option<&str>, fee: Option<f64>, health: &str| serde_json::json!({ "provider": provider, "verdict": verdict, "why": why, "fee": fee, "health": health });
    assert_eq!(check["route"], serde_json::json!([step("acme", "in", None, Some(0.15), "up"), step("bold", "in", None, Some(0.0), "up")]));
    world.operate(&["providers", "maintenance", "acme", "--reason", "tonight"]).ok();
    let check = until_tried_first(&world, "bold");
    assert_eq!(check["route"][0], step("acme", "out", Some("maintenance"), None, "maintenance"));
    world.operate(&["providers", "enable", "acme"]).ok();
    until_tried_first(&world, "acme");
    assert_eq!(world.operate(&["routes", "show"]).ok().out.matches("[[routes]]").count(), 1);

    let unknown = table.replace("\"bold\"", "\"none\"");
    std::fs::write(&path, unknown).unwrap();
    let refused = world.operate(&["routes", "apply", path.to_str().unwrap(), "--yes"]).fails(1);
    assert!(refused.err.contains("/routes/0/providers/1/id") && refused.err.contains("provider_unknown"), "{}", refused.err);
    let nobody = world.operate(&["providers", "disable", "none"]).fails(1);
    assert!(nobody.err.contains("provider_not_found") && nobody.err.contains("providers list"), "{}", nobody.err);
    let trail = world.operate(&["audit"]).ok().out;
    for action in ["put_provider", "put_routes", "maintain_provider", "enable_provider"] {
        assert!(trail.contains(action), "{action} in {trail}");
    }
    world.operate(&["ledger", "verify"]).ok();
}

#[test]
fn a_client_sees_how_the_providers_are() {
    let world = World::enrolled();
    let all = world.run(&["health"]).ok().out;
    for part in ["simulator", "simulator-backup", "sandbox", "up"] {
        assert!(all.contains(part), "{part} in {all}");
    }
    world.operate(&["providers", "maintenance", "simulator-backup"]).ok();
    while world.run(&["health", "simulator-backup", "--json"]).ok().json()["status"] != "maintenance" {
        std::thread::yield_now();
    }
    world.operate(&["providers", "disable", "simulator-backup"]).ok();
    while world.run(&["health"]).ok().out.contains("simulator-backup") {
        std::thread::yield_now();
    }
    let gone = world.run(&["health", "simulator-backup"]).fails(1);
    assert!(gone.err.contains("No such provider"), "{}", gone.err);
}

#[test]
fn a_file_of_limits_is_shown_asked_about_and_applied() {
    let world = World::enrolled();
    let client = world.operate(&["clients", "list", "--json"]).ok().json()["data"][0]["client_id"].as_str().unwrap().to_owned();
    let text = format!(
        "[[clients]]\nclient = \"{client}\"\ncredit = {{ EUR = \"25\" }}\nreversal_days = 30\n\
         [[clients.limits]]\nmode = \"sandbox\"\ncurrency = \"EUR\"\nmax = \"60\"\ndaily_value = 100\n"
    );
    let file = world.path("limits.toml");
    std::fs::write(&file, &text).unwrap();
    let file = file.to_str().unwrap();
    assert!(world.operate(&["limits", "list"]).ok().out.contains("No client has limits"));
    let shown = world.operate(&["limits", "apply", file, "--dry-run"]).ok();
    assert!(shown.out.contains(&format!("+ client {client}")) && shown.out.contains("Nothing was changed"), "{}", shown.out);
    world.operate(&["limits", "apply", file, "--yes", "--reason", "contract"]).ok();
    let body = |amount: &str, reference: &str| format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
    let check = |amount: &str| world.run(&["curl", "POST", "/gateway/settlements/check", &body(amount, "r")]).ok().json();
    while check("60.01")["ok"] == true {
        std::thread::yield_now();
    }
    assert_eq!(check("60.01")["problems"][0]["code"], "amount_above_maximum");
    world.run(&["curl", "POST", "/gateway/settlements", &body("59.50", "r-1")]).ok();
    let refused = world.run(&["curl", "POST", "/gateway/settlements", &body("40.51", "r-2")]).fails(22);
    assert!(refused.out.contains("limit_daily_value") && refused.out.contains("40.50 of 100.00 EUR are left today"), "{}", refused.out);
    let listed = world.operate(&["limits", "list"]).ok().out;
    for part in ["sandbox EUR", "up to 60.00", "59.50 of 100.00", "live EUR", "25.00"] {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    let today = &world.operate(&["limits", "list", "--json"]).ok().json()["data"][0]["today"];
    assert_eq!(today, &serde_json::json!([{ "mode": "sandbox", "currency": "EUR", "value": "59.50", "count": 1 }]));

    // What is shown can be applied, and says the same.
    let saved = world.path("limits.json");
    std::fs::write(&saved, world.operate(&["limits", "show", &client, "--json"]).ok().out).unwrap();
    assert!(world.operate(&["limits", "apply", saved.to_str().unwrap(), "--yes"]).ok().out.contains("Nothing changes."));
    let unknown = world.path("unknown.toml");
    std::fs::write(&unknown, text.replace(&client, "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")).unwrap();
    assert!(world.operate(&["limits", "apply", unknown.to_str().unwrap(), "--yes"]).fails(1).err.contains("client_not_found"));
    std::fs::write(&unknown, text.replace("max = \"60\"", "max = \"-1\"")).unwrap();
    assert!(world.operate(&["limits", "apply", unknown.to_str().unwrap(), "--yes"]).fails(1).err.contains("/limits/0/max"));
    assert!(world.operate(&["audit"]).ok().out.contains("put_terms"));
    world.operate(&["ledger", "verify"]).ok();
}
