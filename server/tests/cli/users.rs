//! A client's end users on the command line.

use super::support::World;

#[test]
fn a_user_gets_a_code_and_limits_and_is_blocked() {
    let world = World::enrolled();
    let made = world.run(&["users", "code", "ada", "--currency", "EUR", "--max", "500", "--approval-over", "100"]).ok();
    let lines: Vec<&str> = made.out.lines().collect();
    assert_eq!(lines[0].len(), 19, "{}", made.out);
    assert!(lines[1].starts_with(&format!("railgate:enroll?code={}", lines[0])), "{}", made.out);
    assert!(made.err.contains("only this once"), "{}", made.err);
    let listed = world.run(&["users", "list"]).ok().out;
    assert!(listed.contains("ada") && listed.contains("EUR at most 500.00, asked above 100.00"), "{listed}");

    let waiting = world.run(&["curl", "POST", "/gateway/settlements", &payment("250")]).ok().json();
    assert_eq!((&waiting["status"], &waiting["approval"]["status"]), (&"accepted".into(), &"pending".into()));
    let blocked = world.run(&["users", "set", "ada", "--status", "blocked", "--json"]).ok().json();
    assert_eq!((&blocked["status"], blocked["limits"][0]["max"].as_f64()), (&"blocked".into(), Some(500.0)));
    let refused = world.run(&["curl", "POST", "/gateway/settlements", &payment("251")]).fails(22);
    assert!(refused.out.contains("user_blocked"), "{}", refused.out);
    assert!(world.run(&["users", "show", "ada"]).ok().out.contains("blocked"));
    world.run(&["users", "set", "ada"]).fails(2);
    world.run(&["users", "set", "ada", "--max", "5"]).fails(2);
    assert!(world.run(&["users", "show", "bob"]).fails(1).err.contains("No such user"));
    world.run(&["users", "revoke", "dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB"]).fails(1);
}

fn payment(amount: &str) -> String {
    format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"r-{amount}","user":"ada"}}"#)
}
