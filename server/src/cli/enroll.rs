//! `railgate enroll`: the first session at a server, kept as a profile.

use comfy_table::Cell;
use serde::Deserialize;

use super::Global;
use super::failure::Done;
use super::http::{Ask, Http};
use super::problem::{refused, unanswered};
use super::profile::{Profile, ProfileFile};
use super::render;
use super::session::{DEFAULT_SERVER, now};
use super::shapes::{Balance, read};
use super::terminal::{Terminal, Tone};

const EXAMPLES: &str = "\
Examples:
  railgate enroll
      A new sandbox client at http://127.0.0.1:8080, kept as the profile \"default\".
  railgate enroll --server http://10.0.0.5:8080 --profile staging --name 'Acme payments'
  railgate enroll --force
      Gives up the client that the profile holds and takes a new one.

The profile is a file that only you can read, in $RAILGATE_HOME/profiles or the platform's
configuration folder. It holds the access token, which is not printed.";

/// Enrols a new sandbox client and keeps its credentials as a profile
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EnrollArgs {
    /// The client's name, for people
    #[arg(long, value_name = "NAME", default_value = "railgate cli")]
    name: String,
    /// Overwrites the profile if there is one: its client can then not be reached any more
    #[arg(long)]
    force: bool,
    /// Prints the access token
    #[arg(long)]
    show_token: bool,
}

#[derive(Deserialize)]
struct Enrolled {
    client_id: String,
    environment: String,
    access_token: String,
    expires_in: i64,
    #[serde(default)]
    balances: Vec<Balance>,
}

pub(crate) async fn run(args: EnrollArgs, global: &Global, terminal: &Terminal) -> Done {
    let file = ProfileFile::named(&global.profile)?;
    // Looked at before the server is asked, so that no client is made that nobody will hold.
    if !args.force && file.path().exists() {
        return Err(file.taken());
    }
    // A profile that is given up still says where; one that cannot be read says nothing.
    let old = file.load().ok().flatten().map(|profile| profile.server);
    let server = global.server.clone().or(old);
    let http = Http::new(server.as_deref().unwrap_or(DEFAULT_SERVER))?;
    let body = serde_json::json!({ "client_name": args.name }).to_string();
    let answer = http.send(&Ask::post("/auth/enrollments", body)).await?.map_err(|cause| unanswered(http.base(), &cause))?;
    if !answer.status.is_success() {
        return Err(refused(&answer, file.name()));
    }
    let enrolled: Enrolled = read(&answer)?;
    let profile = keep(&file, &http, &enrolled, args.force)?;
    if global.json {
        return terminal.json(&document(&answer.body, &profile.access_token, args.show_token));
    }
    let mut rows = vec![
        ("client", Tone::Strong.cell(&profile.client_id)),
        ("environment", Cell::new(&profile.environment)),
        ("server", Cell::new(&profile.server)),
        ("profile", Cell::new(format!("{} ({})", file.name(), file.path().display()))),
        ("token until", Cell::new(render::short_time(&profile.expires_at))),
    ];
    if args.show_token {
        rows.push(("token", Cell::new(&profile.access_token)));
    }
    terminal.show(&terminal.card(rows))?;
    if !enrolled.balances.is_empty() {
        terminal.line("")?;
        terminal.show(&render::balances(terminal, &enrolled.balances))?;
    }
    let currency = enrolled.balances.first().map_or("EUR", |balance| balance.currency.as_str());
    terminal.line("")?;
    terminal.line(format_args!("Try: railgate settle 10 {currency} sim:ok --wait 5"))
}

fn keep(file: &ProfileFile, http: &Http, enrolled: &Enrolled, replace: bool) -> Done<Profile> {
    let mut profile = Profile {
        server: http.base().to_owned(),
        client_id: enrolled.client_id.clone(),
        environment: enrolled.environment.clone(),
        access_token: String::new(),
        issued_at: String::new(),
        expires_at: String::new(),
    };
    profile.renew(enrolled.access_token.clone(), now(), enrolled.expires_in);
    file.save(&profile, replace)?;
    Ok(profile)
}

/// The server's document, the token blotted out unless it was asked for. The rest stays as it came, to the byte.
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
