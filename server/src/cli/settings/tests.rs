use super::*;
use crate::config::RateLimits;

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
    let settings = ServeArgs::default().resolve_with(&nothing).unwrap();
    let config = &settings.serve;
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert!(matches!(&config.store, StoreConfig::Sqlite(path) if path.ends_with("railgate.db")));
    assert_eq!(config.token_ttl_s, 900);
    assert_eq!(config.edge.rate, Some(RateLimits { reads_per_minute: 3_000, writes_per_minute: 600 }));
    assert!(config.edge.tls.is_none() && config.edge.cors_origins.is_empty() && config.edge.public_url.is_none());
    assert!(config.master_keys.as_ref().is_some_and(|path| path.ends_with("railgate.db.keys")));
    assert_eq!(shown(&settings, "plain-http"), "off");
    let table = settings.describe();
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
    let settings = args.resolve_with(&env).unwrap();
    let config = &settings.serve;
    assert_eq!((config.listen.port(), config.token_ttl_s, config.max_connections), (3, 62, 7));
    let origin = |name| settings.rows().find(|row| row.0 == name).unwrap().2.clone();
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
        store: Some("mysql://db".to_owned()),
        log_level: Some("a=b=c".to_owned()),
        token_ttl: Some("90000".to_owned()),
        public_url: Some("ftp://x".to_owned()),
        ..ServeArgs::default()
    };
    let error = args.resolve_with(&env).unwrap_err();
    let text = error.to_string();
    for part in [
        "listn (file ",
        "the settings are listen, metrics-listen",
        "listen (command line) is \"0.0.0.0:80\": is beyond loopback",
        "metrics-listen (environment variable RAILGATE_METRICS_LISTEN) is \"everywhere\": must be IP:PORT",
        "store (command line) is \"mysql://db\": must be sqlite:PATH, postgres://USER@HOST/DATABASE or memory:",
        "synchronous (file ",
        "not boolean",
        "log-level (command line)",
        "token-ttl (command line) is \"90000\": must be a number of seconds from 60 to 86400",
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

/// The displayed value of a setting.
fn shown<'s>(settings: &'s Settings, name: &str) -> &'s str {
    settings.rows().find(|row| row.0 == name).unwrap().1
}

/// The problems of `args`, each as one line.
fn wrong(args: ServeArgs) -> Vec<String> {
    args.resolve_with(&nothing).unwrap_err().problems.iter().map(ToString::to_string).collect()
}

fn given(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn beyond_loopback_is_encrypted_here_or_in_front_and_known_by_its_public_address() {
    let open = || ServeArgs { listen: given("0.0.0.0:443"), store: given("memory:"), ..ServeArgs::default() };
    let public = || ServeArgs { public_url: given("https://pay.example.com/"), ..open() };
    let text = wrong(public()).join("\n");
    assert!(text.starts_with("listen (command line) is \"0.0.0.0:443\"") && text.contains("--tls-cert"), "{text}");
    assert!(text.contains("--plain-http on"), "{text}");
    let plain = ServeArgs { plain_http: given("on"), ..public() }.resolve_with(&nothing).unwrap();
    assert_eq!(shown(&plain, "plain-http"), "on");
    assert_eq!(plain.serve.edge.public_url.as_deref(), Some("https://pay.example.com"));
    let tls = |args| ServeArgs { tls_cert: given("/c.pem"), tls_key: given("/k.pem"), ..args };
    let config = tls(public()).resolve_with(&nothing).unwrap().serve;
    assert_eq!(config.edge.tls, Some(TlsFiles { cert: "/c.pem".into(), key: "/k.pem".into() }));
    for unknown in [tls(open()), ServeArgs { plain_http: given("on"), ..open() }] {
        let text = wrong(unknown);
        assert!(text.len() == 1 && text[0].starts_with("public-url (default): is required"), "{text:?}");
    }
    let half = wrong(ServeArgs { tls_cert: given("/c.pem"), ..public() });
    assert!(half.len() == 1 && half[0].contains("tls-cert (command line) is \"/c.pem\": must come with tls-key"), "{half:?}");
    let half = wrong(ServeArgs { tls_key: given("/k.pem"), ..ServeArgs::default() });
    assert!(half.len() == 1 && half[0].starts_with("tls-key") && half[0].contains("must come with tls-cert"), "{half:?}");
}

#[test]
fn figures_leave_this_machine_only_when_that_is_allowed() {
    let open = || ServeArgs { metrics_listen: given("0.0.0.0:9090"), ..ServeArgs::default() };
    let text = wrong(open());
    assert!(text.len() == 1 && text[0].contains("must be a loopback address") && text[0].contains("--plain-http on"), "{text:?}");
    let allowed = ServeArgs { plain_http: given("on"), ..open() }.resolve_with(&nothing).unwrap();
    assert_eq!(allowed.serve.metrics_listen.unwrap().port(), 9_090);
}

#[test]
fn origins_come_from_repeated_flags_a_list_or_one_text() {
    let listed = file("cors-origin = [\"https://a.example\", \"http://localhost:5173\"]\nrate-limit = \"off\"\n");
    let config = |args: ServeArgs, env: &dyn Fn(&str) -> Option<String>| {
        ServeArgs { config: Some(listed.path().to_owned()), ..args }.resolve_with(env).unwrap()
    };
    let in_file = config(ServeArgs::default(), &nothing);
    assert_eq!(in_file.serve.edge.cors_origins, ["https://a.example", "http://localhost:5173"]);
    assert_eq!(in_file.serve.edge.rate, None);
    assert!(in_file.describe().contains("https://a.example,http://localhost:5173"), "{}", in_file.describe());
    let env = |name: &str| (name == "RAILGATE_CORS_ORIGIN").then(|| "https://b.example, https://c.example".to_owned());
    assert_eq!(config(ServeArgs::default(), &env).serve.edge.cors_origins, ["https://b.example", "https://c.example"]);
    let flags = ServeArgs { cors_origin: vec!["https://d.example".to_owned(), "https://e.example".to_owned()], ..ServeArgs::default() };
    assert_eq!(config(flags, &env).serve.edge.cors_origins, ["https://d.example", "https://e.example"]);

    let text = wrong(ServeArgs { cors_origin: vec!["*".to_owned()], ..ServeArgs::default() });
    assert!(text.len() == 1 && text[0].contains("without path or wildcard"), "{text:?}");
    let mixed = file("cors-origin = [1]\n");
    let text = wrong(ServeArgs { config: Some(mixed.path().to_owned()), ..ServeArgs::default() });
    assert!(text.len() == 1 && text[0].contains("must be a list of texts"), "{text:?}");
}

#[test]
fn master_keys_lie_beside_the_store_or_where_they_are_told() {
    let keys = |store: &str, given: Option<String>| {
        let args = ServeArgs { store: Some(store.to_owned()), master_keys: given, ..ServeArgs::default() };
        args.resolve_with(&nothing).unwrap().serve.master_keys
    };
    assert_eq!(keys("sqlite:/data/pay.db", None), Some("/data/pay.db.keys".into()));
    assert_eq!(keys("sqlite:/data/pay.db", given("/secrets/keys")), Some("/secrets/keys".into()));
    assert_eq!(keys("memory:", None), None);
    assert_eq!(keys("memory:", given("/secrets/keys")), None);
}

#[test]
fn the_password_of_a_database_is_shown_nowhere() {
    let shown = [
        ("postgres://gateway:geheim@db.example/railgate", "postgres://gateway:***@db.example/railgate"),
        ("postgres://gateway@db.example/railgate?sslmode=require", "postgres://gateway@db.example/railgate?sslmode=require"),
        ("postgresql://u:a?geheim@h1:1,h2:2/db?password=geheim&x=y", "postgresql://u:***@h1:1,h2:2/db?password=***&x=y"),
        ("postgres://u:ge@heim:geheim@h/db?sslpassword=geheim", "postgres://u:***@h/db?sslpassword=***"),
        ("postgres://db.example/railgate", "postgres://db.example/railgate"),
        ("postgres://h:1/db?user=g&password=ge@heim", "postgres://h:1/db?user=g&password=***"),
        ("postgres://h/db?Password=ge@heim&sslmode=require", "postgres://h/db?Password=***&sslmode=require"),
    ];
    for (url, expected) in shown {
        let args = ServeArgs { store: Some(url.to_owned()), data_dir: Some("/data".to_owned()), ..ServeArgs::default() };
        let settings = args.resolve_with(&|_| None).unwrap();
        let config = &settings.serve;
        let StoreConfig::Postgres(database) = &config.store else { panic!("{url}") };
        assert_eq!((database.reveal(), database.to_string().as_str()), (url, expected));
        assert_eq!(config.master_keys.as_deref(), Some(Path::new("/data/railgate.keys")));
        assert!(config.is_shared());
        for text in [settings.describe(), format!("{settings:?}")] {
            assert!(!text.contains("geheim") && !text.contains("ge@heim") && text.contains(expected), "{text}");
        }
    }
}

#[test]
fn a_database_on_another_machine_is_verified_where_that_is_wanted() {
    let over = |url: &str, tls: Option<&str>| ServeArgs {
        store: Some(url.to_owned()),
        db_tls: tls.map(str::to_owned),
        data_dir: given("/data"),
        ..ServeArgs::default()
    };
    let read = |url: &str, tls| over(url, tls).resolve_with(&nothing).map(|settings| settings.serve.db_tls);
    assert_eq!(read("postgres://g@db.example/railgate", None).unwrap(), DatabaseTls::AsUrl);
    for url in ["postgres://g@db.example/railgate?sslmode=verify-full", "postgres://g@127.0.0.1/railgate", "sqlite:/a.db"] {
        assert_eq!(read(url, Some("verify-full")).unwrap(), DatabaseTls::VerifyFull, "{url}");
    }
    let weak = wrong(over("postgres://g:geheim@db.example/railgate?sslmode=require", Some("verify-full")));
    assert!(weak.len() == 1 && weak[0].starts_with("store (command line)") && weak[0].contains("sslmode=verify-full"), "{weak:?}");
    assert!(!weak[0].contains("geheim"), "{weak:?}");
    let unknown = wrong(over("memory:", Some("require")));
    assert!(unknown.len() == 1 && unknown[0].contains("must be as-url or verify-full"), "{unknown:?}");
}

#[test]
fn nor_is_that_of_an_address_that_is_wrong() {
    let wrong =
        ["POSTGRES://u:geheim@h/db", "postgresql+psycopg://u:geheim@h/db", " postgres://u:geheim@h/db", "mysql://h/db?password=geheim"];
    for url in wrong {
        let args = ServeArgs { store: Some(url.to_owned()), ..ServeArgs::default() };
        let error = args.resolve_with(&|_| None).unwrap_err().to_string();
        assert!(error.contains("***") && !error.contains("geheim"), "{error}");
    }
}
