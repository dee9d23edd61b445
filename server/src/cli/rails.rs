//! `railgate rails test`: finds out what is wrong with an adapter, before money depends on it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::Config;
use railgate::env::{Env as _, SystemEnv};
use railgate::ledger::Mode;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::adapter::{Adapter, CALLBACK_SECRET, REVERSALS, TOKEN};
use railgate::rail::{CallbackError, Rail as _, Rails};
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::validate::provider::parse_provider;
use railgate::webhook::{Cidr, WebhookSecret};
use serde_json::json;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use super::Global;
use super::failure::{Done, Failure};
use super::terminal::{Terminal, Tone, note, printable};
use crate::carrier::OneByOne;
use crate::conformance::{Check, Door, Plan, Received, Seen, Stand, Verdict, World, run_all};

/// The largest callback, in bytes.
const CALLBACK_MAX_BYTES: usize = 64 << 10;

const TEST_EXAMPLES: &str = "\
Examples:
  railgate rails test http://127.0.0.1:8100 --listen 127.0.0.1:8099
      The adapter finds the keys of the test at http://127.0.0.1:8099/.well-known/jwks.json.
  railgate rails test https://adapter.example --token T --callback-secret whsec_… \\
      --listen 0.0.0.0:8099 --public-url http://tester.example:8099 \\
      --to msisdn:+37120000001 --unknown-to msisdn:+37120000000 --later-to msisdn:+37120000002

It makes a handful of payments in the sandbox, and gives them back. Exit code 1 if a check fails.
docs/rails/adapter.md describes what an adapter must do.";

/// Work on the rails to operators
#[derive(Debug, Args)]
pub(crate) struct RailsArgs {
    #[command(subcommand)]
    command: RailsCommand,
}

#[derive(Debug, Subcommand)]
enum RailsCommand {
    /// Test an adapter: pay, ask, repeat, alter, reverse and forge, and say what is wrong
    #[command(after_help = TEST_EXAMPLES)]
    Test(Box<TestArgs>),
}

#[derive(Debug, Args)]
struct TestArgs {
    /// The adapter's base URL
    url: String,
    /// The bearer token that it expects
    #[arg(long, value_name = "TOKEN", env = "RAILGATE_ADAPTER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The secret that it signs callbacks with; without it, callbacks are not tested
    #[arg(long, value_name = "SECRET", env = "RAILGATE_ADAPTER_CALLBACK_SECRET", hide_env_values = true, value_parser = secret)]
    callback_secret: Option<String>,
    /// Somebody whom it pays at once, or within --wait
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000001")]
    to: Participant,
    /// Somebody whom it does not know
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000404")]
    unknown_to: Participant,
    /// Somebody whom it pays later: it accepts the payment at first
    #[arg(long, value_name = "PARTICIPANT", default_value = "msisdn:+254700000202")]
    later_to: Participant,
    /// How much to pay each time
    #[arg(long, value_name = "AMOUNT", default_value = "10.00 EUR", value_parser = amount)]
    amount: Money,
    /// Which reversals it takes
    #[arg(long, value_enum, default_value_t = Reversals::Partial)]
    reversals: Reversals,
    /// Where to serve the keys of the test and to receive callbacks; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How the adapter reaches --listen, if not at that address
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// For how many seconds to wait for what it accepted, and for callbacks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    wait: u64,
    /// Allow an adapter in this range of addresses although it is not public (`10.1.0.0/16`)
    #[arg(long, value_name = "CIDR", value_delimiter = ',', env = "RAILGATE_PROVIDER_ALLOW")]
    provider_allow: Vec<Cidr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reversals {
    /// Of any part
    Partial,
    /// Of the whole payment only
    Full,
    /// None
    None,
}

impl Reversals {
    /// The value of the provider's setting.
    fn setting(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Full => "full",
            Self::None => "none",
        }
    }
}

fn secret(text: &str) -> Result<String, String> {
    WebhookSecret::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// At least four minor units, so that it has parts.
fn amount(text: &str) -> Result<Money, String> {
    let money: Money = text.parse().map_err(|_| "write an amount and a currency, such as '10.00 EUR'".to_owned())?;
    if money.minor() >= 4 { Ok(money) } else { Err("it is too small to give parts of it back".to_owned()) }
}

pub(crate) fn run(args: RailsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        RailsCommand::Test(args) => test(&args, global, terminal),
    }
}

fn test(args: &TestArgs, global: &Global, terminal: &Terminal) -> Done {
    let plan = args.plan()?;
    let place = Place { listen: args.listen, public_url: args.public_url.as_deref(), provider_allow: &args.provider_allow };
    let checks = make(&plan, &place)?;
    ended(&args.url, &checks, global, terminal)
}

/// Shows what was found; a failed check is a failure.
pub(super) fn ended(url: &str, checks: &[Check], global: &Global, terminal: &Terminal) -> Done {
    let failed = checks.iter().filter(|check| matches!(check.verdict, Verdict::Failed(_))).count();
    if global.json {
        terminal.json(document(url, checks, failed).to_string().as_bytes())?;
    } else {
        show(checks, failed, terminal)?;
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::new("a check failed")),
        n => Err(Failure::new(format!("{n} checks failed"))),
    }
}

impl TestArgs {
    /// The adapter as a provider, checked as a file of providers is.
    fn plan(&self) -> Done<Plan> {
        let secrets = [(TOKEN, self.token.as_deref()), (CALLBACK_SECRET, self.callback_secret.as_deref())];
        let secrets: serde_json::Map<_, _> = secrets.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into()))).collect();
        let body = json!({
            "id": "adapter", "name": "adapter", "rail": Adapter.kind(), "mode": Mode::Sandbox.as_str(), "base_url": self.url,
            "settings": { REVERSALS: self.reversals.setting() }, "secrets": secrets,
        });
        let body = Zeroizing::new(body.to_string());
        let request = parse_provider(body.as_bytes(), &Rails::built_in()).map_err(|error| Failure::from(error).exit(2))?;
        Ok(Plan {
            provider: request.spec,
            to: self.to.clone(),
            unknown_to: Some(self.unknown_to.clone()),
            later_to: Some(self.later_to.clone()),
            amount: self.amount,
            wait: Duration::from_secs(self.wait),
            until: None,
            stop: Arc::default(),
        })
    }
}

/// Where a test is reached, and whom it may reach.
pub(super) struct Place<'a> {
    /// Where it serves its keys and receives callbacks.
    pub(super) listen: SocketAddr,
    /// How the operator reaches that, if not at that address.
    pub(super) public_url: Option<&'a str>,
    /// Which addresses are allowed although they are not public.
    pub(super) provider_allow: &'a [Cidr],
}

/// Makes a test with a key of its own, which it serves.
pub(super) fn make(plan: &Plan, place: &Place<'_>) -> Done<Vec<Check>> {
    let env = Arc::new(SystemEnv::default());
    let mut secret = Zeroizing::new([0; 32]);
    env.random(&mut *secret);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2);
    let runtime = super::runtime(builder)?;
    let unusable = |error| Failure::new(format!("cannot listen on {}: {error}", place.listen));
    let listener = runtime.block_on(TcpListener::bind(place.listen)).map_err(unusable)?;
    let bound = listener.local_addr().map_err(unusable)?;
    let base = place.public_url.map_or_else(|| format!("http://{bound}"), |url| url.trim_end_matches('/').to_owned());
    let config = Config { rails: Rails::built_in(), master: Some(Arc::new(MasterKeys::generate(1, *secret))), ..Config::default() };
    let carrier = Box::new(OneByOne::on(runtime.handle().clone(), env.clone(), place.provider_allow.to_vec()));
    let stand = Stand::open(plan, World { store: Arc::new(MemoryStore::new()), env, config, carrier })?;
    stand.reached_at(format!("{base}/api/v1/rails"));
    let served = Served { door: stand.door(), jwks: stand.keys()? };
    let router = Router::new()
        .route("/.well-known/jwks.json", get(async |State(served): State<Arc<Served>>| served.jwks.clone()))
        .route("/api/v1/rails/{provider}/callbacks", post(callback))
        .route("/api/v1/rails/{provider}/callbacks/{place}", post(callback_about).put(callback_about))
        .layer(DefaultBodyLimit::max(CALLBACK_MAX_BYTES))
        .with_state(Arc::new(served));
    runtime.spawn(async move { axum::serve(listener, router).await });
    note(format_args!("the keys of this test are at {base}/.well-known/jwks.json"));
    Ok(run_all(&stand, plan))
}

/// What a test serves.
struct Served {
    door: Arc<Door>,
    jwks: String,
}

async fn callback(State(served): State<Arc<Served>>, Path(provider): Path<String>, headers: HeaderMap, body: Bytes) -> StatusCode {
    served.receive(&provider, None, &headers, &body)
}

async fn callback_about(
    State(served): State<Arc<Served>>,
    Path((provider, place)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    served.receive(&provider, Some(&place), &headers, &body)
}

impl Served {
    fn receive(&self, provider: &str, place: Option<&str>, headers: &HeaderMap, body: &[u8]) -> StatusCode {
        let headers: Vec<_> = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        match self.door.receive(provider, place, None, &headers, body) {
            Received::Noted(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::OK),
            Received::Unknown | Received::Refused(CallbackError::Unsupported) => StatusCode::NOT_FOUND,
            Received::Refused(CallbackError::Unauthenticated) => StatusCode::UNAUTHORIZED,
            Received::Refused(CallbackError::Malformed) => StatusCode::BAD_REQUEST,
            Received::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

fn show(checks: &[Check], failed: usize, terminal: &Terminal) -> Done {
    let mut table = terminal.table(&["result", "check", "sent", "came"]);
    for check in checks {
        let last = check.seen.last();
        table.add_row(vec![
            tone(&check.verdict).cell(check.verdict.name()),
            Cell::new(check.about),
            Tone::Dim.cell(last.map(Seen::sent).unwrap_or_default()),
            Tone::Dim.cell(last.map(Seen::came).unwrap_or_default()),
        ]);
    }
    terminal.show(&table)?;
    for check in checks {
        let Some(why) = check.verdict.why() else { continue };
        terminal.line(format_args!(
            "\n{}: {}\n  {}",
            terminal.paint(tone(&check.verdict), check.verdict.name()),
            check.about,
            printable(why)
        ))?;
        if matches!(check.verdict, Verdict::Failed(_)) {
            terminal.line(format_args!("    expected  {} ({})", check.expected, check.says))?;
            for seen in &check.seen {
                terminal.line(format_args!("    sent  {} {}", seen.sent(), printable(&seen.body)))?;
                terminal.line(format_args!("    came  {} {}", seen.came(), printable(seen.came_body())))?;
            }
        }
    }
    let passed = checks.iter().filter(|check| check.verdict == Verdict::Passed).count();
    terminal.line(format_args!("\n{passed} of {} checks passed, {failed} failed", checks.len()))
}

const fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Passed => Tone::Good,
        Verdict::Failed(_) => Tone::Bad,
        Verdict::Advised(_) => Tone::Warn,
        Verdict::Skipped(_) => Tone::Dim,
    }
}

fn document(url: &str, checks: &[Check], failed: usize) -> serde_json::Value {
    let seen = |seen: &Seen| {
        let came = seen.status().map(|status| json!({ "status": status, "body": seen.came_body() }));
        json!({ "method": seen.method, "url": seen.url, "body": seen.body, "came": came, "took_ms": seen.took_ms })
    };
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let exchanges: Vec<_> = check.seen.iter().map(seen).collect();
            json!({ "check": check.about, "result": check.verdict.name(), "why": check.verdict.why(), "expected": check.expected, "says": check.says, "exchanges": exchanges })
        })
        .collect();
    json!({ "adapter": url, "ok": failed == 0, "failed": failed, "checks": checks })
}
