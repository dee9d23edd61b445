use super::*;

fn nothing(_: &str) -> Option<String> {
    None
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn defaults_are_complete_and_shown() {
    let config = ServeArgs::default().resolve_with(&nothing).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert!(matches!(&config.store, StoreConfig::Sqlite(path) if path.ends_with("railgate.db")));
    assert_eq!(config.token_ttl_s, 86_400);
    let table = describe(&config);
    assert_eq!(table.lines().count(), NAMES.len(), "{table}");
    assert!(table.lines().all(|line| line.ends_with("  default")), "{table}");
}

#[test]
fn the_flag_beats_the_environment_and_that_the_file() {
    let file = file("listen = \"127.0.0.1:1\"\ntoken-ttl = 61\nmax-connections = \"7\"\n");
    let env = |name: &str| match name {
        "RAILGATE_LISTEN" => Some("127.0.0.1:2".to_owned()),
        "RAILGATE_TOKEN_TTL" => Some("62".to_owned()),
        "RAILGATE_LOG" => Some(String::new()),
        _ => None,
    };
    let args = ServeArgs { config: Some(file.path().to_owned()), listen: Some("[::1]:3".to_owned()), ..ServeArgs::default() };
    let config = args.resolve_with(&env).unwrap();
    assert_eq!((config.listen.port(), config.token_ttl_s, config.max_connections), (3, 62, 7));
    let origin = |name| config.settings().find(|row| row.0 == name).unwrap().2.clone();
    assert_eq!(origin("listen"), Origin::Flag);
    assert_eq!(origin("token-ttl"), Origin::Environment("RAILGATE_TOKEN_TTL".to_owned()));
    assert_eq!(origin("max-connections"), Origin::File(file.path().to_owned()));
    assert_eq!(origin("log"), Origin::Default);
}

#[test]
fn everything_wrong_is_told_at_once_with_its_origin_and_what_is_right() {
    let file = file("listn = \"x\"\nsynchronous = true\n");
    let env = |name: &str| (name == "RAILGATE_METRICS_LISTEN").then(|| "everywhere".to_owned());
    let args = ServeArgs {
        config: Some(file.path().to_owned()),
        listen: Some("0.0.0.0:80".to_owned()),
        store: Some("postgres://db".to_owned()),
        log_level: Some("a=b=c".to_owned()),
        token_ttl: Some("5".to_owned()),
        public_url: Some("ftp://x".to_owned()),
        ..ServeArgs::default()
    };
    let error = args.resolve_with(&env).unwrap_err();
    let text = error.to_string();
    for part in [
        "listn (file ",
        "there are listen, metrics-listen",
        "listen (command line) is \"0.0.0.0:80\": must be a loopback address",
        "metrics-listen (environment variable RAILGATE_METRICS_LISTEN) is \"everywhere\": must be IP:PORT",
        "store (command line) is \"postgres://db\": must be sqlite:PATH or memory:",
        "synchronous (file ",
        "not boolean",
        "log-level (command line)",
        "token-ttl (command line) is \"5\"",
        "public-url (command line)",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(error.problems.len(), 8);
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_named() {
    let missing = ServeArgs { config: Some("/no/such/file.toml".into()), ..ServeArgs::default() };
    assert!(missing.resolve_with(&nothing).unwrap_err().to_string().contains("/no/such/file.toml"));
    let broken = file("listen = \n");
    let env = |name: &str| (name == "RAILGATE_CONFIG").then(|| broken.path().display().to_string());
    let text = ServeArgs::default().resolve_with(&env).unwrap_err().to_string();
    assert!(text.contains("RAILGATE_CONFIG") && text.contains("must be TOML"), "{text}");
}
