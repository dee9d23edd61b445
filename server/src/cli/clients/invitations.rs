//! Invitations to enrol: making, listing and withdrawing them.

use clap::Args;
use comfy_table::Cell;
use railgate::engine::{InvitationId, Invite, Operated, WithdrawInvitation};
use railgate::store::record::{InvitationRecord, Key};
use railgate::store::{Scan, Store, typed_all};
use railgate::time::{Millis, rfc3339};
use serde::Serialize;

use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::render::short_time;
use crate::cli::session::now;
use crate::cli::stores::StoreArg;
use crate::cli::terminal::{Terminal, Tone, note};

pub(super) const INVITE_EXAMPLES: &str = "\
Examples:
  railgate clients invite
  railgate clients invite --days 1 --store sqlite:/var/lib/railgate/railgate.db --json

Prints a code that enrols one client: railgate enroll --invitation CODE. It is shown only this once; the store
keeps only its hash. Servers with --enrollment invited require one.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  railgate clients invitations
  railgate clients invitations --json
  railgate clients invitations --withdraw 3f9a1c04be72
      Its code enrols nobody any more.

An invitation is named by the first digits of its code's hash, because nothing else of the code is stored. One
that was used is not listed: railgate audit shows who enrolled.";

#[derive(Debug, Args)]
pub(super) struct InviteArgs {
    /// For how many days the invitation is valid
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=365))]
    days: u16,
    #[command(flatten)]
    store: StoreArg,
}

#[derive(Debug, Args)]
pub(super) struct InvitationsArgs {
    /// Withdraw this invitation
    #[arg(long, value_name = "INVITATION", value_parser = invitation_id)]
    withdraw: Option<InvitationId>,
    #[command(flatten)]
    store: StoreArg,
}

fn invitation_id(text: &str) -> Result<InvitationId, String> {
    InvitationId::parse(text).ok_or_else(|| "an invitation is named by 12 hexadecimal digits".to_owned())
}

pub(super) fn invite(args: &InviteArgs, global: &Global, terminal: &Terminal) -> Done {
    let engine = args.store.place()?.engine(None)?;
    let invitation = engine.run(Operated(Invite { ttl_ms: Millis::from(args.days) * 86_400_000 }))?;
    let (id, expires_at) = (invitation.id.to_string(), rfc3339(invitation.expires_at));
    if global.json {
        let document = serde_json::json!({ "invitation": invitation.code, "invitation_id": id, "expires_at": expires_at });
        return terminal.json(document.to_string().as_bytes());
    }
    terminal.line(&invitation.code)?;
    note(format_args!("invitation {id}, valid for one enrolment until {}; the code is shown only this once", short_time(&expires_at)));
    Ok(())
}

pub(super) fn run(args: &InvitationsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.withdraw {
        Some(id) => withdraw(id, &args.store, global, terminal),
        None => list(&args.store, global, terminal),
    }
}

/// An invitation in the list.
#[derive(Serialize)]
struct InvitationShape {
    invitation_id: String,
    created_at: String,
    expires_at: String,
}

fn list(store: &StoreArg, global: &Global, terminal: &Terminal) -> Done {
    let now = now();
    let mut valid = all(&*store.place()?.open()?)?;
    // What has expired is removed when the server next tidies up.
    valid.retain(|invitation| invitation.expires_at > now);
    valid.sort_by_key(|invitation| invitation.created_at);
    let shape = |it: &InvitationRecord| InvitationShape {
        invitation_id: InvitationId::of(it).to_string(),
        created_at: rfc3339(it.created_at),
        expires_at: rfc3339(it.expires_at),
    };
    let shown: Vec<InvitationShape> = valid.iter().map(shape).collect();
    if global.json {
        return terminal.json(serde_json::json!({ "data": shown }).to_string().as_bytes());
    }
    if shown.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No invitations."));
    }
    let mut table = terminal.table(&["invitation", "made", "expires"]);
    for it in &shown {
        let times = [&it.created_at, &it.expires_at].map(|time| Cell::new(short_time(time)));
        table.add_row([Tone::Strong.cell(&it.invitation_id)].into_iter().chain(times));
    }
    terminal.show(&table)
}

fn withdraw(id: InvitationId, store: &StoreArg, global: &Global, terminal: &Terminal) -> Done {
    let engine = store.place()?.engine(None)?;
    let hint = "list the invitations: railgate clients invitations";
    engine.run(Operated(WithdrawInvitation(id))).map_err(|error| Failure::from(error).hint(hint))?;
    if global.json {
        return terminal.json(serde_json::json!({ "done": "withdrawn", "invitation_id": id.to_string() }).to_string().as_bytes());
    }
    terminal.line(format_args!("{} invitation {id} withdrawn", terminal.paint(Tone::Good, "✓")))
}

/// Every invitation that is stored, in the order of their hashes.
fn all(store: &dyn Store) -> Done<Vec<InvitationRecord>> {
    let mut found: Vec<InvitationRecord> = Vec::new();
    loop {
        let after = found.last().map_or([0; 32], |last| last.hash);
        let page = store.scan(&Scan::after(&Key::Invitation(after), 500)).and_then(typed_all).map_err(railgate::Error::from)?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend::<Vec<InvitationRecord>>(page);
    }
}
