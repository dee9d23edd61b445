//! Receipts as a user fetches and verifies them.

use railgate::auth::{Signer as _, SoftwareKey};
use railgate::receipt::{Receipt, verify_receipt};

use super::support::{World, railgate};

#[test]
fn a_receipt_is_fetched_in_each_form_and_checked_without_a_network() {
    let world = World::enrolled();
    world.settled("10.50", "sim:ok", "inv-1");
    let text = world.run(&["receipt", "get", "inv-1"]).ok().out;
    assert!(text.starts_with("Payment receipt\n") && text.contains("10.50 EUR"), "{text}");
    let json = world.run(&["receipt", "get", "inv-1", "--json"]).ok();
    let jws = json.json()["jws"].as_str().unwrap().to_owned();
    assert_eq!(world.run(&["receipt", "get", "inv-1", "--format", "jose"]).ok().out.trim_end(), jws);
    assert!(world.run(&["receipt", "get", "inv-1", "--format", "svg"]).ok().out.starts_with("<svg "));
    let page = world.path("receipt.html").display().to_string();
    assert_eq!(world.run(&["receipt", "get", "inv-1", "--format", "html", "--out", &page]).ok().out, "");
    assert!(std::fs::read_to_string(&page).unwrap().contains(&jws));
    let paper = world.path("receipt.pdf").display().to_string();
    assert_eq!(world.run(&["receipt", "get", "inv-1", "--format", "pdf", "--out", &paper]).ok().out, "");
    assert!(std::fs::read(&paper).unwrap().starts_with(b"%PDF-1.7\n"));

    // With the server's keys, from the JWS and from the JSON.
    for input in [&jws, &json.out] {
        let checked = world.run_with_input(&["receipt", "verify", "-"], input).ok().out;
        assert!(checked.starts_with("Genuine") && checked.contains("10.50 EUR") && checked.contains("inv-1"), "{checked}");
    }
    // With keys in a file, and no server.
    let keys = world.run(&["curl", "GET", "/.well-known/jwks.json"]).ok().out;
    let (file, jwks) = (world.path("receipt.jws").display().to_string(), world.path("jwks.json").display().to_string());
    std::fs::write(&jwks, keys).unwrap();
    std::fs::write(&file, format!("{jws}\n")).unwrap();
    let offline = ["receipt", "verify", &file, "--jwks", &jwks, "--json"];
    assert_eq!(railgate(&offline, None).ok().json()["ref"], "inv-1");
    std::fs::write(&file, jws.replacen("eyJ", "eyK", 1)).unwrap();
    let forged = railgate(&offline, None).fails(1);
    assert!(forged.err.contains("not genuine") && forged.out.is_empty(), "{}", forged.err);
}

#[test]
fn a_receipt_of_anybody_does_nothing_to_the_terminal() {
    let world = World::enrolled();
    world.settled("10.50", "sim:ok", "inv-1");
    let jws = world.run(&["receipt", "get", "inv-1", "--format", "jose"]).ok().out;
    let keys = world.run(&["curl", "GET", "/.well-known/jwks.json"]).ok().out;
    let mut claims = verify_receipt(jws.trim(), &keys).unwrap();
    let evil = "\u{1b}[2J\u{202e}x";
    for text in [&mut claims.iss, &mut claims.reference, &mut claims.to, &mut claims.provider] {
        text.push_str(evil);
    }
    let key = SoftwareKey::p256(&[7; 32]).unwrap();
    let (file, jwks) = (world.path("foreign.jws").display().to_string(), world.path("foreign.json").display().to_string());
    std::fs::write(&file, Receipt::sign(claims, None, &key).unwrap().jws).unwrap();
    std::fs::write(&jwks, format!(r#"{{"keys":[{}]}}"#, key.public_key().jwk())).unwrap();
    let shown = railgate(&["receipt", "verify", &file, "--jwks", &jwks], None).ok().out;
    assert!(shown.starts_with("Genuine") && !shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    assert_eq!(shown.matches("\u{fffd}[2J\u{fffd}x").count(), 4, "{shown:?}");
}

#[test]
fn what_has_no_receipt_is_told_and_nothing_is_written() {
    let world = World::enrolled();
    world.run(&["settle", "10.50", "EUR", "sim:pending", "--reference", "inv-2"]).ok();
    let out = world.path("none.txt");
    let refused = world.run(&["receipt", "get", "inv-2", "--out", &out.display().to_string()]).fails(1);
    assert!(refused.err.contains("409 not_completed") && refused.err.contains("railgate status"), "{}", refused.err);
    assert!(!out.exists());
    world.run(&["receipt", "verify", "/nowhere/at/all"]).fails(1);
}

#[test]
fn a_payment_is_proved_to_be_in_the_log() {
    let world = World::enrolled();
    world.settled("10.50", "sim:ok", "inv-3");
    let file = world.path("inv.tlog-proof").display().to_string();
    let shown = world.run(&["receipt", "proof", "inv-3", "--out", &file]).ok().out;
    assert!(shown.starts_with("It holds") && shown.contains("stl_") && shown.contains("leaf"), "{shown}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("c2sp.org/tlog-proof@v1\n"));
    let keys = world.run(&["curl", "GET", "/log/keys"]).ok().out;
    world.run(&["receipt", "proof", "inv-3", "--key", keys.trim_end()]).ok();
    // The key of another log.
    let other = "railgate/log+8ec8a1a7+AfB4OgSHOlnUBxA1Ej6Tn4cqCZlGPRHpBwxYCqW9Xxyc";
    let refused = world.run(&["receipt", "proof", "inv-3", "--key", other]).fails(1);
    assert!(refused.out.is_empty() && refused.err.contains("key"), "{}", refused.err);
    assert!(world.run(&["receipt", "proof", "nothing"]).fails(1).err.contains("404 settlement_not_found"));
}
