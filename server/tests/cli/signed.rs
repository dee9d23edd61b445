//! Keys, profiles and signatures as a user sees them: enrolment, the proxy, and calls for other programs.

use std::net::TcpListener;
use std::process::Command;

use super::answering;
use super::support::{Home, Run, World, railgate};

fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find(|line| line.starts_with(name))
}

#[test]
fn a_profile_holds_the_key_and_is_not_given_up_by_accident() {
    let world = World::start();
    let enrolled = world.run(&["enroll", "--name", "Shop"]).ok();
    for shown in ["cli_", "ecdsa-p256-sha256", "sandbox", "whsec_", "1,000,000.00"] {
        assert!(enrolled.out.contains(shown), "{shown} in {}", enrolled.out);
    }
    let path = world.path("home/profiles/default.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let secret = line(&before, "private_key").unwrap().split('"').nth(1).unwrap();
    assert!(secret.len() == 43 && !enrolled.out.contains(secret) && !enrolled.err.contains(secret));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let taken = world.run(&["enroll"]).fails(1);
    assert!(taken.err.contains("exists already") && taken.err.contains("--force"), "{}", taken.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);

    let other = world.run(&["enroll", "--force", "--algorithm", "ed25519", "--show-token", "--json"]).ok();
    assert!(other.json()["access_token"].as_str().is_some_and(|token| token.starts_with("rg_sandbox_")), "{}", other.out);
    world.run(&["balance", "--profile", "default.old"]).ok();
    let hidden = world.run(&["enroll", "--profile", "second", "--json"]).ok();
    assert!(!hidden.out.contains("rg_sandbox_") && hidden.json()["client_id"].is_string(), "{}", hidden.out);
}

#[test]
fn a_token_is_kept_until_its_last_minute_and_then_taken_anew() {
    let world = World::enrolled();
    let path = world.path("home/profiles/default.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    world.run(&["balance"]).ok();
    let same = std::fs::read_to_string(&path).unwrap();
    assert_eq!(line(&same, "access_token"), line(&before, "access_token"));

    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let soon = format!("expires_at = \"{}\"", railgate::time::rfc3339(now + 50_000));
    std::fs::write(&path, same.replace(line(&same, "expires_at").unwrap(), &soon)).unwrap();
    world.run(&["balance"]).ok();
    let after = std::fs::read_to_string(&path).unwrap();
    assert_ne!(line(&after, "access_token"), line(&before, "access_token"));
    assert_eq!(line(&after, "private_key"), line(&before, "private_key"));
    // A token and a challenge that the server refuses are replaced, and the call is made.
    let lost = after.replace(line(&after, "access_token").unwrap(), "access_token = \"rg_sandbox_nonsense\"");
    let lost = lost.replace(line(&lost, "challenge =").unwrap(), "challenge = \"c1.AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA\"");
    std::fs::write(&path, lost).unwrap();
    world.run(&["curl", "POST", "/auth/tokens", "{}"]).ok();
    world.run(&["balance"]).ok();
}

#[test]
fn an_enrolment_whose_answer_was_lost_goes_on_with_the_same_key() {
    const CHALLENGE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"challenge\":\"c1.a.b\",\"expires_in\":300}";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let asked = answering(listener.try_clone().unwrap(), vec![CHALLENGE, ""]);
    let home = Home::new();
    let lost = home.run(&["enroll", "--server", &server]).fails(1);
    assert!(lost.err.contains("broke before the response came"), "{}", lost.err);
    let asked = asked.join().unwrap();
    assert!(asked[1].contains("/auth/enrollments") && !asked[1].contains("authorization:"), "{}", asked[1]);
    let path = home.path("home/profiles/default.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let early = home.run(&["balance"]).fails(1);
    assert!(early.err.contains("was not answered") && early.err.contains("railgate enroll"), "{}", early.err);

    // The server is back, and has the key.
    const EXISTS: &str = "HTTP/1.1 409 Conflict\r\nconnection: close\r\n\r\n{\"code\":\"key_exists\",\"status\":409}";
    const TOKEN: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"access_token\":\"t\",\"expires_in\":900}";
    const BALANCES: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":[{\"account\":\"main\",\"currency\":\"EUR\",\
        \"sandbox\":true,\"available\":5.00,\"reserved\":0.00,\"pending\":0.00,\"ledger\":5.00,\"as_of\":\"2026-11-21T10:38:17.042Z\"}]}";
    let again = answering(listener, vec![EXISTS, TOKEN, BALANCES]);
    let Run { out, err, .. } = home.run(&["enroll", "--server", &server]).ok();
    assert!(err.contains("continuing with the key") && out.contains("5.00"), "{err}{out}");
    let asked = again.join().unwrap();
    assert!(asked[0].contains("/auth/enrollments") && asked[1].contains("/auth/tokens") && asked[2].contains("/balances"));
    let after = std::fs::read_to_string(&path).unwrap();
    assert_eq!(line(&after, "private_key"), line(&before, "private_key"));
    assert!(line(&before, "enrolling").is_some() && line(&after, "enrolling").is_none());
}

#[test]
fn an_old_profile_and_a_key_that_nobody_took_say_what_to_do() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("home/profiles")).unwrap();
    let old = "server = \"http://127.0.0.1:9\"\nclient_id = \"cli_x\"\nenvironment = \"sandbox\"\naccess_token = \"t\"\n";
    std::fs::write(home.path("home/profiles/default.toml"), old).unwrap();
    let refused = home.run(&["balance"]).fails(1);
    assert!(refused.err.contains("holds no key") && refused.err.contains("enroll --force"), "{}", refused.err);
    let unreachable = home.run(&["enroll", "--profile", "new", "--server", "http://127.0.0.1:9"]).fails(1);
    assert!(unreachable.err.contains("cannot reach"), "{}", unreachable.err);
    assert!(!home.path("home/profiles/new.toml").exists(), "a key that was never sent is not kept");
}

#[test]
fn tokens_do_not_travel_in_clear() {
    for server in ["http://10.0.0.5:8080", "http://pay.example.com"] {
        let refused = railgate(&["enroll", "--server", server], None).fails(2);
        assert!(refused.err.contains("would see the token") && refused.err.contains("--insecure-http"), "{}", refused.err);
    }
    // Nobody listens there, so this is as far as it gets.
    let sent = railgate(&["enroll", "--server", "http://localhost:9", "--insecure-http"], None).fails(1);
    assert!(sent.err.contains("cannot reach"), "{}", sent.err);
    let missing = railgate(&["enroll", "--server", "https://localhost:9", "--cacert", "/nowhere.pem"], None).fails(1);
    assert!(missing.err.contains("/nowhere.pem"), "{}", missing.err);
}

#[test]
fn a_server_that_speaks_https_is_trusted_by_its_certificate_alone() {
    let home = Home::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = [("cert.pem", made.cert.pem()), ("key.pem", made.signing_key.serialize_pem())].map(|(name, pem)| {
        let path = home.path(name);
        std::fs::write(&path, pem).unwrap();
        path.display().to_string()
    });
    let [cert, key] = &files;
    let world = World::start_with(home, &["--tls-cert", cert, "--tls-key", key]);
    let port = world.url().rsplit(':').next().unwrap();
    let server = format!("https://localhost:{port}");
    let line = |args: &[&str]| world.elsewhere(&[args, &["--server", &server]].concat());
    line(&["enroll", "--cacert", cert]).ok();
    let paid = line(&["settle", "1", "EUR", "sim:ok", "--wait", "30", "--cacert", cert]).ok();
    assert!(paid.out.contains("completed"), "{}", paid.out);
    let stranger = line(&["balance"]).fails(1);
    assert!(stranger.err.contains("cannot reach") && stranger.err.contains("certificate"), "{}", stranger.err);
    let plain = world.elsewhere(&["balance", "--server", &format!("http://localhost:{port}")]).fails(1);
    assert!(!plain.out.contains("EUR"), "{}", plain.out);
}

#[test]
fn the_proxy_signs_for_plain_clients_and_not_for_web_pages() {
    let world = World::enrolled();
    let proxy = world.proxy();
    let host = proxy.url.strip_prefix("http://").unwrap().to_owned();
    let create = |reference: &str, host: &str, more: &str| {
        let body = format!(r#"{{"amount":2.00,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
        let length = body.len();
        proxy.raw(&format!(
            "POST /api/v1/gateway/settlements HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer nonsense\r\nsignature: x=:x:\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}"
        ))
    };
    let made = create("plain", &host, "prefer: wait=30\r\n");
    assert!(made.starts_with("HTTP/1.1 201 Created\r\n") && made.contains(r#""status":"completed""#), "{made}");
    for (what, answer) in [
        ("another site", create("page", &host, "origin: https://evil.example\r\n")),
        ("a sandboxed frame", create("page", &host, "origin: null\r\n")),
        ("a form of another site", create("page", &host, "sec-fetch-site: cross-site\r\n")),
        ("a name that was made to point here", create("page", "rebound.example:8090", "")),
    ] {
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n") && answer.contains("application/problem+json"), "{what}: {answer}");
    }
    let list = world.run(&["list", "--json"]).ok();
    assert!(list.out.contains("plain") && !list.out.contains("page"), "{}", list.out);

    let stream = proxy.raw(&format!("GET /api/v1/gateway/settlements/plain HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
    assert!(stream.starts_with("HTTP/1.1 200 OK\r\n") && stream.contains(r#""reference":"plain""#), "{stream}");
    let large =
        format!("POST /api/v1/gateway/settlements/batch HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1048577\r\nconnection: close\r\n\r\n");
    let refused = proxy.raw(&(large + &"x".repeat(1_048_577)));
    assert!(refused.starts_with("HTTP/1.1 413 "), "{}", &refused[..refused.len().min(200)]);
}

#[test]
fn a_proxy_that_runs_does_not_write_over_a_new_key() {
    let world = World::enrolled();
    let proxy = world.proxy();
    let host = proxy.url.strip_prefix("http://").unwrap().to_owned();
    world.run(&["enroll", "--force"]).ok();
    let file = world.path("home/profiles/default.toml");
    let new = std::fs::read_to_string(&file).unwrap();
    // The revocation makes the proxy get another token for its old key, which it would save if it could.
    let call = |method: &str, path: &str| {
        proxy.raw(&format!("{method} /api/v1{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"))
    };
    let revoked = call("POST", "/auth/tokens/revoke");
    assert!(revoked.starts_with("HTTP/1.1 204 "), "{revoked}");
    let read = call("GET", "/balances");
    assert!(read.starts_with("HTTP/1.1 200 "), "{read}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), new);
}

#[cfg(unix)]
#[test]
fn the_proxy_ends_when_it_is_told_to() {
    let world = World::enrolled();
    for signal in ["-INT", "-TERM"] {
        let proxy = world.proxy();
        assert!(Command::new("kill").args([signal, &proxy.id().to_string()]).status().unwrap().success());
        assert_eq!(proxy.wait(), Some(0), "{signal}");
    }
}

#[test]
fn a_trace_is_followed_through_the_proxy_while_it_grows() {
    let world = World::enrolled();
    world.settled("1", "sim:ok", "followed");
    let proxy = world.proxy();
    let host = proxy.url.strip_prefix("http://").unwrap().to_owned();
    let mut stream = std::net::TcpStream::connect(&host).unwrap();
    let ask = format!("GET /api/v1/gateway/settlements/followed/events HTTP/1.1\r\nhost: {host}\r\naccept: text/event-stream\r\n\r\n");
    std::io::Write::write_all(&mut stream, ask.as_bytes()).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream)).map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.contains("settlement.completed")), "what was there comes first");
    // The stream is still open: new events arrive on it.
    world.run(&["reverse", "followed"]).ok();
    assert!(lines.by_ref().any(|line| line.contains("reversal.completed")));
}

#[test]
fn a_call_is_printed_for_curl_and_is_good_once() {
    let world = World::enrolled();
    let body = r#"{"amount":1.50,"currency":"EUR","to":"sim:ok","reference":"it-s","description":"it's \"quoted\" $HOME"}"#;
    let printed = world.run(&["curl", "POST", "/gateway/settlements", body, "--print-curl"]).ok();
    assert!(printed.err.contains("valid once and for five minutes"), "{}", printed.err);
    for part in ["curl ", "-H 'signature: sig1=:", "-H 'signature-input: sig1=(", "-H 'authorization: Bearer rg_sandbox_", world.url()] {
        assert!(printed.out.contains(part), "{part} in {}", printed.out);
    }
    assert!(world.run(&["list"]).ok().out.contains("No payments."), "it was not sent");
    assert!(Command::new("curl").arg("--version").output().is_ok(), "there is no curl here; ./check installs what the tests need");
    let run = || {
        let out = Command::new("sh").arg("-c").arg(format!("{} -s -o /dev/stderr -w '%{{http_code}}'", printed.out.trim_end())).output();
        let out = out.unwrap();
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let (first, said) = run();
    assert_eq!(first, "201", "{said}");
    let (second, said) = run();
    assert!(second == "401" && said.contains("nonce_replayed"), "{second} {said}");
}
