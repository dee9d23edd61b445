//! `railgate bundle`: describes a provider, checks and tests the description on this machine, and submits it.

mod files;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use comfy_table::Cell;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH};
use railgate::api::{BundleSummaryView, BundleTimelineView, BundlesView, ConformanceReport};
use railgate::bundle::schema;
use railgate::lifecycle::BundleStatus;
use railgate::rail::Rails;
use railgate::validate::bundle::{BundleContent, Manifest, ZIP, parse_manifest};
use railgate::webhook::Cidr;
use railgate::{Error, ErrorCode};

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, encode};
use super::problem::read;
use super::rails::{Place, ended, make};
use super::render::short_time;
use super::session::{Session, unique_name};
use super::terminal::{Terminal, Tone, note, printable};
use crate::conformance::Plan;

const INIT_EXAMPLES: &str = "\
Examples:
  railgate bundle init
  railgate bundle init acme
      Writes acme/manifest.json, acme/secrets.json with new secrets, and acme/documents/.";
const VALIDATE_EXAMPLES: &str = "\
Examples:
  railgate bundle validate
  railgate bundle validate acme --json
  railgate bundle validate acme.zip

Checks everything that the gateway checks when a bundle is sent, except where endpoints may be. Exit code 1 if something is wrong.";
const TEST_EXAMPLES: &str = "\
Examples:
  railgate bundle test acme --listen 127.0.0.1:8099
      The sandbox endpoint finds the keys of the test at http://127.0.0.1:8099/.well-known/jwks.json.
  railgate bundle test acme --listen 0.0.0.0:8099 --public-url http://tester.example:8099

The same test that the gateway makes after the submission and before the publication. Exit code 1 if a check fails.";
const SUBMIT_EXAMPLES: &str = "\
Examples:
  railgate bundle submit acme
  railgate bundle submit acme --draft
  railgate bundle submit acme --id bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB --comment 'with the new licence'

Sends the bundle, and asks for a review. If a bundle about the same provider is a draft, or changes of it were requested, its content is
replaced; otherwise a new one is made.";
const STATUS_EXAMPLES: &str = "\
Examples:
  railgate bundle status
  railgate bundle status bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB";
const WITHDRAW_EXAMPLES: &str = "\
Examples:
  railgate bundle withdraw bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB --comment 'we start over'";
const SCHEMA_EXAMPLES: &str = "\
Examples:
  railgate bundle schema > manifest.schema.json";

/// Describe a provider to a gateway, as a partner
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    #[command(subcommand)]
    command: BundleCommand,
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    /// Write an example to start from
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// The folder
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Check a bundle, without a server
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(BundleFiles),
    /// Test the sandbox endpoint from this machine
    #[command(after_help = TEST_EXAMPLES)]
    Test(Box<TestArgs>),
    /// Send a bundle, and ask for a review
    #[command(after_help = SUBMIT_EXAMPLES)]
    Submit(SubmitArgs),
    /// Show your bundles, or one with its timeline and what its test found
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// The bundle
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Give a bundle up
    #[command(after_help = WITHDRAW_EXAMPLES)]
    Withdraw {
        /// The bundle
        #[arg(value_name = "ID")]
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        comment: Option<String>,
    },
    /// Print the JSON Schema of manifests
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

#[derive(Debug, Args)]
struct BundleFiles {
    /// A folder with manifest.json, secrets.json and documents/, a zip archive, or a JSON file
    #[arg(default_value = ".", value_name = "PATH")]
    path: PathBuf,
}

#[derive(Debug, Args)]
struct TestArgs {
    #[command(flatten)]
    files: BundleFiles,
    /// Where to serve the keys of the test and to receive callbacks; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How the endpoint reaches --listen, if not at that address
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// For how many seconds to wait for what it accepted, and for callbacks
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    wait: u64,
    /// Allow an endpoint in this range of addresses although it is not public (`10.1.0.0/16`)
    #[arg(long, value_name = "CIDR", value_delimiter = ',', env = "RAILGATE_PROVIDER_ALLOW")]
    provider_allow: Vec<Cidr>,
}

#[derive(Debug, Args)]
struct SubmitArgs {
    #[command(flatten)]
    files: BundleFiles,
    /// The bundle whose content is replaced
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// What to tell the reviewers
    #[arg(long, value_name = "TEXT", conflicts_with = "draft")]
    comment: Option<String>,
    /// Only send it; a review is asked for another time
    #[arg(long)]
    draft: bool,
}

pub(crate) fn run(args: BundleArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        BundleCommand::Init { folder } => files::init(&folder, terminal),
        BundleCommand::Validate(files) => validate(&files, global, terminal),
        BundleCommand::Test(args) => test(&args, global, terminal),
        BundleCommand::Submit(args) => super::wait_for(submit(args, global, terminal)),
        BundleCommand::Status { id: None } => super::wait_for(list(global, terminal)),
        BundleCommand::Status { id: Some(id) } => super::wait_for(status(id, global, terminal)),
        BundleCommand::Withdraw { id, comment } => super::wait_for(withdraw(id, comment, global, terminal)),
        BundleCommand::Schema => {
            let text = serde_json::to_string_pretty(&schema()).map_err(|error| Failure::caused("the schema cannot be written", error))?;
            terminal.line(text)
        }
    }
}

/// A bundle that the gateway would take.
fn checked(content: &BundleContent) -> Result<Manifest, Error> {
    let mut problems = content.problems();
    match parse_manifest(&content.manifest, &content.secrets.clone().unwrap_or_default(), &Rails::built_in()) {
        Ok(manifest) if problems.is_empty() => Ok(manifest),
        Ok(_) => Err(Error::invalid(problems)),
        Err(error) if error.code == ErrorCode::InvalidFields => {
            problems.extend(error.into_fields());
            Err(Error::invalid(problems))
        }
        Err(error) => Err(error),
    }
}

fn validate(files: &BundleFiles, global: &Global, terminal: &Terminal) -> Done {
    let content = files::read(&files.path)?;
    match checked(&content) {
        Ok(manifest) if global.json => {
            let document = serde_json::json!({ "ok": true, "provider": manifest.id, "release": manifest.version });
            terminal.json(document.to_string().as_bytes())
        }
        Ok(manifest) => {
            let documents = content.documents.len();
            terminal.line(format_args!(
                "{} {} {}: the manifest and {documents} documents are as the gateway wants them",
                terminal.paint(Tone::Good, "✓"),
                manifest.id,
                manifest.version
            ))
        }
        Err(error) if global.json => {
            terminal.json(serde_json::json!({ "ok": false, "problem": error.problem() }).to_string().as_bytes())?;
            Err(error.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn test(args: &TestArgs, global: &Global, terminal: &Terminal) -> Done {
    let manifest = checked(&files::read(&args.files.path)?)?;
    let plan = Plan {
        provider: manifest.sandbox,
        to: manifest.test.to,
        unknown_to: manifest.test.unknown_to,
        later_to: manifest.test.later_to,
        amount: manifest.test.amount,
        wait: Duration::from_secs(args.wait),
        until: None,
        stop: Arc::default(),
    };
    let url = plan.provider.base_url.clone().unwrap_or_default();
    let place = Place { listen: args.listen, public_url: args.public_url.as_deref(), provider_allow: &args.provider_allow };
    ended(&url, &make(&plan, &place)?, global, terminal)
}

async fn submit(args: SubmitArgs, global: &Global, terminal: &Terminal) -> Done {
    let content = files::read(&args.files.path)?;
    let manifest = checked(&content)?;
    let mut session = Session::open(global)?;
    let open = match args.id {
        Some(id) => Some(summary(&mut session, &id).await?),
        None => being_written(&mut session, &manifest.id).await?,
    };
    let path = open.as_ref().map_or_else(|| "/bundles".to_owned(), |it| format!("/bundles/{}", it.id));
    let method = if open.is_some() { Method::PUT } else { Method::POST };
    let mut ask = Ask::new(method, path).with(CONTENT_TYPE, HeaderValue::from_static(ZIP)).with(KEY, header(&unique_name()?)?);
    if let Some(it) = &open {
        ask = ask.with(IF_MATCH, tag(it.version)?);
    }
    ask.body = Some(files::packed(&content).into());
    let answer = session.call_until_answered(ask, "it has a key of its own, so that it is taken once").await?;
    let mut bundle: BundleSummaryView = read(&answer)?;
    note(format_args!("{} is revision {}", bundle.id, bundle.revision));
    if !args.draft {
        bundle = step(&mut session, &bundle.id, "submit", args.comment.as_deref(), Some(bundle.version)).await?;
    }
    shown(&bundle, global, terminal)?;
    if !args.draft {
        note(format_args!("its sandbox endpoint is being tested: railgate bundle status {}", bundle.id));
    }
    Ok(())
}

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

fn header(text: &str) -> Done<HeaderValue> {
    HeaderValue::from_str(text).map_err(|error| Failure::caused("not a header", error))
}

fn tag(version: u32) -> Done<HeaderValue> {
    header(&format!("\"{version}\""))
}

/// The bundle about this provider that its partner works on.
async fn being_written(session: &mut Session, provider: &str) -> Done<Option<BundleSummaryView>> {
    for status in [BundleStatus::ChangesRequested, BundleStatus::Draft] {
        let answer = session.call(Ask::get(format!("/bundles?status={}&limit=200", status.as_str()))).await?;
        let page: BundlesView = read(&answer)?;
        if let Some(found) = page.data.into_iter().find(|it| it.provider == provider) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

async fn summary(session: &mut Session, id: &str) -> Done<BundleSummaryView> {
    read(&session.call(Ask::get(format!("/bundles/{}", encode(id)))).await?)
}

async fn step(session: &mut Session, id: &str, what: &str, comment: Option<&str>, version: Option<u32>) -> Done<BundleSummaryView> {
    let body = comment.map(|comment| serde_json::json!({ "comment": comment }).to_string()).unwrap_or_default();
    let mut ask = Ask::post(format!("/bundles/{}/{what}", encode(id)), body).with(KEY, header(&unique_name()?)?);
    if let Some(version) = version {
        ask = ask.with(IF_MATCH, tag(version)?);
    }
    read(&session.call_until_answered(ask, "it has a key of its own, so that it is done once").await?)
}

async fn withdraw(id: String, comment: Option<String>, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let bundle = step(&mut session, &id, "withdraw", comment.as_deref(), None).await?;
    shown(&bundle, global, terminal)
}

async fn list(global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let answer = session.call(Ask::get("/bundles?limit=200")).await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    let page: BundlesView = read(&answer)?;
    let mut table = terminal.table(&["id", "provider", "version", "status", "revision", "test", "changed"]);
    for it in &page.data {
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(printable(&it.provider)),
            Cell::new(printable(&it.release)),
            tone(it.status).cell(it.status.as_str()),
            Cell::new(it.revision),
            Cell::new(it.conformance.map_or("", |it| it.as_str())),
            Tone::Dim.cell(short_time(&it.updated_at)),
        ]);
    }
    terminal.show(&table)
}

async fn status(id: String, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let answer = session.call(Ask::get(format!("/bundles/{}", encode(&id)))).await?;
    if global.json {
        return terminal.json(&answer.body);
    }
    let bundle: BundleSummaryView = read(&answer)?;
    shown(&bundle, global, terminal)?;
    let steps: BundleTimelineView = read(&session.call(Ask::get(format!("/bundles/{}/timeline?limit=200", encode(&id)))).await?)?;
    let mut table = terminal.table(&["#", "at", "step", "revision", "said"]);
    for it in &steps.data {
        let said = it.comment.as_deref().map(printable).unwrap_or_default();
        table.add_row(vec![
            Cell::new(it.sequence),
            Tone::Dim.cell(short_time(&it.at)),
            Cell::new(it.kind.as_str().trim_start_matches("bundle.")),
            Cell::new(it.revision),
            Cell::new(said),
        ]);
    }
    terminal.line("")?;
    terminal.show(&table)?;
    report(&session.call(Ask::get(format!("/bundles/{}/conformance", encode(&id)))).await?, terminal)
}

/// Shows what the last test found that its partner has to change.
fn report(answer: &super::http::ApiResponse, terminal: &Terminal) -> Done {
    #[derive(serde::Deserialize)]
    struct Last {
        report: Option<ConformanceReport>,
    }
    let Some(report) = read::<Last>(answer)?.report else { return Ok(()) };
    for check in report.checks.iter().filter(|check| check.result == "failed" || check.result == "advice") {
        let tone = if check.result == "failed" { Tone::Bad } else { Tone::Warn };
        terminal.line(format_args!("\n{}: {}", terminal.paint(tone, printable(&check.result)), printable(&check.check)))?;
        terminal.line(format_args!("  {}", printable(check.why.as_deref().unwrap_or_default())))?;
        terminal.line(format_args!("  expected: {} ({})", printable(&check.expected), printable(&check.says)))?;
        for it in check.exchanges.iter().filter(|_| check.result == "failed") {
            terminal.line(format_args!("    sent  {} {} {}", printable(&it.method), printable(&it.url), printable(&it.body)))?;
            let came = it
                .came
                .as_ref()
                .map_or_else(|| format!("nothing in {} ms", it.took_ms), |it| format!("{} {}", it.status, printable(&it.body)));
            terminal.line(format_args!("    came  {came}"))?;
        }
    }
    Ok(())
}

fn shown(bundle: &BundleSummaryView, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        let document = serde_json::to_vec(bundle).map_err(|error| Failure::caused("the bundle cannot be written", error))?;
        return terminal.json(&document);
    }
    let published = match (bundle.published.sandbox, bundle.published.live) {
        (false, false) => "nowhere",
        (true, false) => "in the sandbox",
        (false, true) => "live",
        (true, true) => "in the sandbox and live",
    };
    terminal.show(&terminal.card(vec![
        ("id", Tone::Strong.cell(&bundle.id)),
        ("provider", Cell::new(format!("{} {}", printable(&bundle.provider), printable(&bundle.release)))),
        ("status", tone(bundle.status).cell(bundle.status.as_str())),
        ("revision", Cell::new(bundle.revision)),
        ("digest", Tone::Dim.cell(&bundle.digest)),
        ("test", Cell::new(bundle.conformance.map_or("not yet", |it| it.as_str()))),
        ("published", Cell::new(published)),
    ]))
}

const fn tone(status: BundleStatus) -> Tone {
    match status {
        BundleStatus::Approved | BundleStatus::Published => Tone::Good,
        BundleStatus::Rejected | BundleStatus::Revoked => Tone::Bad,
        BundleStatus::ChangesRequested => Tone::Warn,
        BundleStatus::Submitted | BundleStatus::InReview => Tone::Moving,
        BundleStatus::Withdrawn => Tone::Back,
        BundleStatus::Draft => Tone::Plain,
    }
}
