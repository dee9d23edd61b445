//! `railgate enroll`: a key, and the first session at a server, saved as a profile.

use comfy_table::Cell;
use hyper::body::Bytes;
use railgate::api::{BalanceView, BalancesView, EnrollmentView, OperatorEnrollmentView};
use railgate::auth::Algorithm;
use railgate::client::{self, Verdict};
use railgate::ledger::Mode;

use super::Global;
use super::failure::Done;
use super::http::Ask;
use super::problem::{Problem, read};
use super::profile::{Profile, ProfileFile};
use super::render;
use super::session::{DEFAULT_SERVER, Ended, Session};
use super::terminal::{Terminal, Tone, note};

const EXAMPLES: &str = "\
Examples:
  railgate enroll
      A new sandbox client at http://127.0.0.1:8080, saved as the profile \"default\".
  railgate enroll --server https://pay.example.com --profile staging --name 'Acme payments'
  railgate enroll --server https://pay.example.com --invitation inv_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate enroll --live
      Requests live access for the profile's client, with a new key in the profile default-live.
      An operator approves it: railgate clients approve cli_…
  railgate enroll --operator opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB --profile ada
      Enrols as an operator of the gateway, with a code of `railgate operators invite`.
  railgate enroll --force
      Enrols a new client; the old profile is kept as default.old
      (default.old2 if that exists, and so on).

The profile is a file that only you can read, in $RAILGATE_HOME/profiles or the platform's
configuration folder. It contains the private key, which never leaves this machine. It is written before
anything is sent: if the response is lost, the same command continues with the same key.";

/// The name of a client that gives none.
const NAME: &str = "railgate cli";

/// Make a key, enrol it as a new sandbox client, and save it as a profile
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EnrollArgs {
    /// The client's name, for people [default: railgate cli; an operator's: that of the invitation]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The key's signature algorithm
    #[arg(long, value_enum, default_value_t = KeyKind::P256)]
    algorithm: KeyKind,
    /// The code of an invitation, for a gateway that requires one
    #[arg(long, value_name = "CODE")]
    invitation: Option<String>,
    /// Request live access for the profile's client, with a new key
    #[arg(long, conflicts_with_all = ["name", "show_token", "invitation"])]
    live: bool,
    /// The profile for the live key [default: the profile's name with -live added]
    #[arg(long, value_name = "NAME", requires = "live")]
    live_profile: Option<String>,
    /// Enrol as an operator of the gateway, with the code of an invitation
    #[arg(long, value_name = "CODE", conflicts_with_all = ["live", "invitation"])]
    operator: Option<String>,
    /// Enrol a new client even if the profile exists; the old profile is kept as NAME.old
    #[arg(long)]
    force: bool,
    /// Print the access token
    #[arg(long)]
    show_token: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KeyKind {
    /// ECDSA over P-256, which the key store of every phone and cloud supports
    P256,
    /// Ed25519
    Ed25519,
}

impl From<KeyKind> for Algorithm {
    fn from(kind: KeyKind) -> Self {
        match kind {
            KeyKind::P256 => Self::EcdsaP256Sha256,
            KeyKind::Ed25519 => Self::Ed25519,
        }
    }
}

pub(crate) async fn run(args: EnrollArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.operator.clone() {
        Some(code) => operator(&code, args, global, terminal).await,
        None if args.live => live(args, global, terminal).await,
        None => sandbox(args, global, terminal).await,
    }
}

async fn sandbox(args: EnrollArgs, global: &Global, terminal: &Terminal) -> Done {
    let file = ProfileFile::named(&global.profile)?;
    let (mut session, fresh) = begin(&file, Mode::Sandbox, &args, global)?;
    let ask = from_api(&session, |api| api.enroll_request(args.name.as_deref().unwrap_or(NAME), args.invitation.as_deref()))?;
    let ended = session.exchange(ask).await?;
    tidy(&file, fresh, &ended);
    if is_known(&ended) {
        return resumed(session, terminal, global).await;
    }
    let answer = session.accepted(ended)?;
    let enrolled: EnrollmentView = read(&answer)?;
    session.update(|profile| {
        profile.client_id.clone_from(&enrolled.client_id);
        profile.environment = enrolled.environment.as_str().to_owned();
        profile.enrolling = false;
    })?;
    if global.json {
        let token = enrolled.token.as_ref().map_or("", |token| &token.access_token);
        return terminal.json(&document(&answer.body, token, args.show_token));
    }
    show(&session, enrolled.webhook_secret.as_deref(), &enrolled.balances, args.show_token, terminal)
}

/// A session with a key that is saved and not enrolled yet: the key of an earlier attempt if there was one. Returns
/// whether the key is new.
fn begin(file: &ProfileFile, mode: Mode, args: &EnrollArgs, global: &Global) -> Done<(Session, bool)> {
    // An unreadable profile is replaced only with --force; nothing in it can be used.
    let old = match file.load() {
        Ok(old) => old,
        Err(_) if args.force => None,
        Err(error) => return Err(error),
    };
    let resumes = |old: &Profile| old.enrolling && old.mode() == mode && global.server.as_ref().is_none_or(|server| at(server, old));
    if let Some(old) = old.as_ref().filter(|old| !args.force && resumes(old)) {
        note(format_args!("continuing with the key of the profile {:?}: its enrolment was not answered", file.name()));
        return Ok((Session::of(global, file.clone(), Some(old.clone()))?, false));
    }
    if old.is_some() && !args.force {
        return Err(file.taken());
    }
    // A replaced profile still names the server.
    let server = global.server.clone().or(old.map(|old| old.server)).unwrap_or_else(|| DEFAULT_SERVER.to_owned());
    let mut profile = Profile::with_new_key(&server, mode, args.algorithm.into())?;
    profile.server = normal(&profile).unwrap_or(server);
    // The session before the file: an unusable address must not create a profile.
    let session = Session::of(global, file.clone(), Some(profile.clone()))?;
    if args.force
        && let Some(kept) = file.set_aside()?
    {
        note(format_args!("the old profile is kept as {kept:?}"));
    }
    file.save(&profile, false)?;
    Ok((session, true))
}

fn at(server: &str, profile: &Profile) -> bool {
    normal(&Profile { server: server.to_owned(), ..profile.clone() }).is_some_and(|base| base == profile.server)
}

/// The profile's address in the form that is signed.
fn normal(profile: &Profile) -> Option<String> {
    client::Session::new(&profile.server, profile.mode(), profile.key().ok()?.public_key()).ok().map(|api| api.base().to_owned())
}

fn from_api(session: &Session, request: impl FnOnce(&client::Session) -> client::Request) -> Done<Ask> {
    let request = session.api().map(request).ok_or_else(|| session.file().missing())?;
    let mut ask = Ask::post("", Bytes::from(request.body));
    ask.path = request.path;
    Ok(ask)
}

/// Removes the profile of a key that the server certainly did not accept; keeps that of a key that it may have accepted.
fn tidy(file: &ProfileFile, fresh: bool, ended: &Ended) {
    let certainly_not = matches!(ended.verdict, Verdict::Refused | Verdict::NotDone) && !is_known(ended);
    if fresh && certainly_not {
        file.remove();
    }
}

/// Whether the key is enrolled already.
fn is_known(ended: &Ended) -> bool {
    ended.last.as_ref().is_ok_and(|answer| Problem::of(answer).code == "key_exists")
}

/// Continues after the response to an enrolment was lost: the key is enrolled.
async fn resumed(mut session: Session, terminal: &Terminal, global: &Global) -> Done {
    let answer = session.call(Ask::get("/balances")).await?;
    session.update(|profile| profile.enrolling = false)?;
    note("the key was enrolled before; the response was lost, and with it the webhook secret and the client's id");
    if global.json {
        let profile = session.profile();
        let key = profile.map(|profile| profile.key_id.as_str());
        let document = serde_json::json!({ "key_id": key, "environment": profile.map(|p| p.environment.as_str()), "resumed": true });
        return terminal.json(document.to_string().as_bytes());
    }
    let BalancesView { data: balances } = read(&answer)?;
    show(&session, None, &balances, false, terminal)
}

fn show(session: &Session, webhook_secret: Option<&str>, balances: &[BalanceView], show_token: bool, terminal: &Terminal) -> Done {
    let file = session.file();
    let Some(profile) = session.profile() else { return Err(file.missing()) };
    let known = |text: &str| if text.is_empty() { Tone::Dim.cell("unknown") } else { Tone::Strong.cell(text) };
    let mut rows = vec![
        ("client", known(&profile.client_id)),
        ("key", Cell::new(format!("{} ({})", profile.key_id, profile.key_algorithm))),
        ("environment", Cell::new(&profile.environment)),
        ("server", Cell::new(&profile.server)),
        ("profile", Cell::new(format!("{} ({})", file.name(), file.path().display()))),
        ("token until", Cell::new(render::short_time(&profile.expires_at))),
    ];
    if show_token {
        rows.push(("token", Cell::new(&profile.access_token)));
    }
    if let Some(secret) = webhook_secret {
        rows.push(("webhook secret", Cell::new(format!("{secret} (shown only this once)"))));
    }
    terminal.show(&terminal.card(rows))?;
    if !balances.is_empty() {
        terminal.line("")?;
        terminal.show(&render::balances(terminal, balances))?;
    }
    let currency = balances.first().map_or("EUR", |balance| balance.currency.as_str());
    terminal.line("")?;
    terminal.line(format_args!("Try: railgate settle 10 {currency} sim:ok --wait 5"))
}

async fn live(args: EnrollArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let name = args.live_profile.clone().unwrap_or_else(|| format!("{}-live", global.profile));
    let file = ProfileFile::named(&name)?;
    let server = session.server().to_owned();
    let there = Global { server: Some(server), profile: name, ..global.clone() };
    // The new key's profile is saved first; the client's current key authenticates the call.
    let (mut waiting, fresh) = begin(&file, Mode::Live, &args, &there)?;
    let Some(profile) = waiting.profile() else { return Err(file.missing()) };
    let key = profile.key()?;
    let ask = from_api(&session, |api| api.enroll_live_request(&key.public_key()))?;
    let ended = session.exchange_with_new_key(ask, key).await?;
    tidy(&file, fresh, &ended);
    if !is_known(&ended) {
        session.accepted(ended)?;
    }
    let client_id = session.profile().map(|profile| profile.client_id.clone()).unwrap_or_default();
    waiting.update(|profile| {
        profile.client_id.clone_from(&client_id);
        profile.enrolling = false;
    })?;
    let Some(profile) = waiting.profile() else { return Err(file.missing()) };
    if global.json {
        let document = serde_json::json!({ "client_id": client_id, "key_id": profile.key_id, "environment": "live", "status": "pending", "profile": file.name() });
        return terminal.json(document.to_string().as_bytes());
    }
    let rows = vec![
        ("client", Tone::Strong.cell(&client_id)),
        ("key", Cell::new(format!("{} ({})", profile.key_id, profile.key_algorithm))),
        ("environment", Cell::new("live")),
        ("status", Tone::Moving.cell("pending")),
        ("profile", Cell::new(format!("{} ({})", file.name(), file.path().display()))),
    ];
    terminal.show(&terminal.card(rows))?;
    terminal.line("")?;
    let client = if client_id.is_empty() { "cli_…" } else { &client_id };
    terminal.line(format_args!("An operator of the gateway must approve it: railgate clients approve {client}"))?;
    terminal.line(format_args!("Then: railgate balance --profile {}", file.name()))
}

async fn operator(code: &str, args: EnrollArgs, global: &Global, terminal: &Terminal) -> Done {
    let file = ProfileFile::named(&global.profile)?;
    let (mut session, fresh) = begin(&file, Mode::Live, &args, global)?;
    let ask = from_api(&session, |api| api.enroll_operator_request(code, args.name.as_deref()))?;
    let ended = session.exchange(ask).await?;
    tidy(&file, fresh, &ended);
    if is_known(&ended) {
        session.update(|profile| profile.enrolling = false)?;
        return terminal.line("The key was enrolled before; the response was lost, and with it the operator's id.");
    }
    let answer = session.accepted(ended)?;
    let enrolled: OperatorEnrollmentView = read(&answer)?;
    session.update(|profile| {
        profile.client_id.clone_from(&enrolled.operator.id);
        profile.enrolling = false;
    })?;
    if global.json {
        return terminal.json(&document(&answer.body, &enrolled.token.access_token, args.show_token));
    }
    let it = &enrolled.operator;
    let rows = vec![
        ("operator", Tone::Strong.cell(&it.id)),
        ("name", Cell::new(&it.name)),
        ("role", Cell::new(it.role.as_str())),
        ("key", Cell::new(&enrolled.key_id)),
        ("profile", Cell::new(format!("{} ({})", file.name(), file.path().display()))),
    ];
    terminal.show(&terminal.card(rows))?;
    terminal.line("")?;
    terminal.line(format_args!("Try: railgate curl GET /operator/clients --profile {}", file.name()))
}

/// The server's document, with the token redacted unless it was asked for. The rest is unchanged, byte for byte.
fn document(body: &[u8], token: &str, show_token: bool) -> Vec<u8> {
    match std::str::from_utf8(body) {
        Ok(text) if !show_token && !token.is_empty() => text.replace(token, "(hidden, see --show-token)").into_bytes(),
        _ => body.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_hidden_and_nothing_else_changes() {
        let body = br#"{"access_token":"rg_sandbox_x","balances":[{"available":1000000.00}]}"#;
        let hidden = String::from_utf8(document(body, "rg_sandbox_x", false)).unwrap();
        assert_eq!(hidden, r#"{"access_token":"(hidden, see --show-token)","balances":[{"available":1000000.00}]}"#);
        assert_eq!(document(body, "rg_sandbox_x", true), body);
    }
}
