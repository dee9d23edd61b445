//! `railgate bundle`: from the example to a submitted bundle, and what its test found.

use serde_json::Value;

use super::support::{Home, World};

fn path(home: &Home, name: &str) -> String {
    home.path(name).display().to_string()
}

#[test]
fn a_bundle_is_begun_checked_and_tested_without_a_server() {
    let home = Home::new();
    let acme = path(&home, "acme");
    let made = home.run(&["bundle", "init", &acme]).ok();
    assert_eq!(made.out.lines().count(), 3, "{}", made.out);
    home.run(&["bundle", "init", &acme]).fails(1);
    let checked = home.run(&["bundle", "validate", &acme, "--json"]).ok().json();
    assert_eq!((&checked["ok"], &checked["provider"]), (&Value::Bool(true), &Value::from("acme")));
    let (manifest, secrets) = (home.path("acme/manifest.json"), home.path("acme/secrets.json"));
    let text = std::fs::read_to_string(&manifest).unwrap();
    let fresh = std::fs::read_to_string(&secrets).unwrap();
    assert!(fresh.contains("whsec_") && !fresh.contains("a-long-random-text"), "secrets of its own: {fresh}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        assert_eq!(std::fs::metadata(&secrets).unwrap().permissions().mode() & 0o777, 0o600);
    }

    std::fs::write(&manifest, text.replace("\"1.0.0\"", "\"one\"").replace("KES\": {", "KSH\": {")).unwrap();
    let refused = home.run(&["bundle", "validate", &acme]).fails(1);
    assert!(refused.err.contains("/manifest/version") && refused.err.contains("/manifest/limits/KSH"), "{}", refused.err);
    std::fs::write(&manifest, text.replace("https://sandbox.acme.example/railgate", "http://127.0.0.1:1")).unwrap();
    let tested = home.run(&["bundle", "test", &acme, "--json"]).fails(1);
    assert_eq!(tested.json()["ok"], Value::Bool(false));
    let first = &tested.json()["checks"][0];
    assert!(first["says"].as_str().unwrap().starts_with("docs/rails/adapter.md#") && first["expected"].is_string(), "{first:#}");
    let schema = home.run(&["bundle", "schema"]).ok().json();
    assert_eq!(schema["title"], "Manifest of a bundle");
}

#[test]
fn a_bundle_is_submitted_changed_followed_and_withdrawn() {
    let world = World::enrolled();
    let acme = world.path("acme").display().to_string();
    world.run(&["bundle", "init", &acme]).ok();
    // Nothing listens there, so its test fails at once.
    let manifest = world.path("acme/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap().replace("https://sandbox.acme.example/railgate", "http://127.0.0.1:1");
    std::fs::write(&manifest, &text).unwrap();
    std::fs::write(world.path("acme/documents/licence.txt"), "Licence no. 4711\n").unwrap();
    let draft = world.run(&["bundle", "submit", &acme, "--draft", "--json"]).ok().json();
    assert_eq!((&draft["status"], &draft["revision"]), (&Value::from("draft"), &Value::from(1)));
    std::fs::write(&manifest, text.replace("\"1.0.0\"", "\"1.0.1\"")).unwrap();
    let sent = world.run(&["bundle", "submit", &acme, "--comment", "Ready.", "--json"]).ok().json();
    assert_eq!((&sent["id"], &sent["revision"], &sent["status"]), (&draft["id"], &Value::from(2), &Value::from("submitted")));
    let id = sent["id"].as_str().unwrap();
    let shown = loop {
        let shown = world.run(&["bundle", "status", id]).ok();
        if shown.out.contains("tested") {
            break shown.out;
        }
    };
    for part in ["acme 1.0.1", "submitted", "Ready.", "failed: it pays", "no connection", "docs/rails/adapter.md#"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(world.run(&["bundle", "status"]).ok().out.contains(id));
    assert!(world.operate(&["bundles", "list", "--status", "submitted"]).ok().out.contains(id));
    assert!(world.operate(&["bundles", "show", id]).ok().out.contains("the gateway"), "who tested it");
    let over = world.run(&["bundle", "withdraw", id, "--comment", "we start over"]).ok();
    assert!(over.out.contains("withdrawn"), "{}", over.out);
    let again = world.run(&["bundle", "withdraw", id]).fails(1);
    assert!(again.err.contains("withdrawn"), "{}", again.err);
}
