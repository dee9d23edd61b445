//! `railgate clients`: which clients may call, decided by the gateway's operator on the store itself.

mod invitations;
mod movements;
mod show;

use clap::{Args, Subcommand};
use comfy_table::Cell;
use railgate::Engine;
use railgate::api::ClientView;
use railgate::auth::KeyId;
use railgate::engine::{Approve, Command, Operated, Resume, Revoke, Suspend};
use railgate::ids::{ClientNo, Ulid};
use railgate::store::record::{ClientRecord, Key, KeyRecord, KeyStatus, MovementKind};
use railgate::store::{Scan, Store, Unique, typed, typed_all};
use railgate::time::rfc3339;
use serde::Serialize;

use super::Global;
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, align_right, note, number};

const LIST_EXAMPLES: &str = "\
Examples:
  railgate clients list
  railgate clients list --pending
  railgate clients list --store sqlite:/var/lib/railgate/railgate.db --json";

const APPROVE_EXAMPLES: &str = "\
Examples:
  railgate clients list --pending
  railgate clients approve cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB
      Lets the client's pending live key sign. If several are pending, name one.
  railgate clients approve cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --key kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k

Compare the key id with the client over another channel: whoever has that key moves real money.";

const SUSPEND_EXAMPLES: &str = "\
Examples:
  railgate clients suspend cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB

Every call of the client is refused (client_suspended), even with tokens that it already has. Accepted
payments continue. A running server notices within five seconds.";

const RESUME_EXAMPLES: &str = "\
Examples:
  railgate clients resume cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB";

const KEYS_EXAMPLES: &str = "\
Examples:
  railgate clients keys cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB
  railgate clients keys cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k
      The key can never sign again, and its tokens become invalid.";

const NOTICED: &str = "A running server notices within five seconds.";

/// List, invite, approve and suspend clients
#[derive(Debug, Args)]
pub(crate) struct ClientsArgs {
    #[command(subcommand)]
    command: ClientsCommand,
}

#[derive(Debug, Subcommand)]
enum ClientsCommand {
    /// List the clients
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only clients with a key that awaits approval
        #[arg(long)]
        pending: bool,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Show a client: its keys, its live money, and whether it moved
    #[command(after_help = show::EXAMPLES)]
    Show(OnClient),
    /// Approve a client's pending live key
    #[command(after_help = APPROVE_EXAMPLES)]
    Approve {
        #[command(flatten)]
        on: OnClient,
        /// The key to approve; required if several are pending
        #[arg(long, value_name = "KEY", value_parser = key_id, allow_hyphen_values = true)]
        key: Option<KeyId>,
    },
    /// Make an invitation, with which one client enrols
    #[command(after_help = invitations::INVITE_EXAMPLES)]
    Invite(invitations::InviteArgs),
    /// List the invitations that were not used, or withdraw one
    #[command(after_help = invitations::LIST_EXAMPLES)]
    Invitations(invitations::InvitationsArgs),
    /// Refuse all further calls of a client
    #[command(after_help = SUSPEND_EXAMPLES)]
    Suspend(OnClient),
    /// Accept a suspended client's calls again
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(OnClient),
    /// Credit what a client paid in, in real money
    #[command(after_help = movements::DEPOSIT_EXAMPLES)]
    Deposit(movements::MovementArgs),
    /// Debit what a client was paid out, in real money
    #[command(after_help = movements::WITHDRAW_EXAMPLES)]
    Withdraw(movements::MovementArgs),
    /// Set how far below zero a client's live money may fall
    #[command(after_help = movements::CREDIT_LINE_EXAMPLES)]
    CreditLine(movements::MovementArgs),
    /// List a client's keys, or revoke one
    #[command(after_help = KEYS_EXAMPLES)]
    Keys {
        #[command(flatten)]
        on: OnClient,
        /// Revoke this key
        #[arg(long, value_name = "KEY", value_parser = key_id, allow_hyphen_values = true)]
        revoke: Option<KeyId>,
    },
}

#[derive(Debug, Args)]
struct OnClient {
    /// The client's id
    #[arg(value_name = "CLIENT", value_parser = client_id)]
    client: Ulid,
    #[command(flatten)]
    store: StoreArg,
}

/// Parses `cli_` and a ULID.
pub(super) fn client_id(text: &str) -> Result<Ulid, String> {
    text.strip_prefix("cli_").and_then(Ulid::parse).ok_or_else(|| "a client id is cli_ and 26 letters and digits".to_owned())
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).ok_or_else(|| "a key id is a thumbprint, 43 characters of base64url".to_owned())
}

pub(crate) fn run(args: ClientsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        ClientsCommand::List { pending, store } => list(pending, &store, global, terminal),
        ClientsCommand::Show(on) => show::run(&on, global, terminal),
        ClientsCommand::Approve { on, key } => {
            let key = key.map_or_else(|| only_pending(&on), |key| Ok(Some(key)))?;
            let what = |_: &ClientRecord, shape: &ClientView| match key {
                Some(key) => format!("{key} of {}", whole(shape)),
                None => whole(shape),
            };
            operate(&on, Approve { client: on.client, key }, what, "approved", global, terminal)
        }
        ClientsCommand::Invite(args) => invitations::invite(&args, global, terminal),
        ClientsCommand::Invitations(args) => invitations::run(&args, global, terminal),
        ClientsCommand::Suspend(on) => operate(&on, Suspend(on.client), |_, shape| whole(shape), "suspended", global, terminal),
        ClientsCommand::Resume(on) => operate(&on, Resume(on.client), |_, shape| whole(shape), "resumed", global, terminal),
        ClientsCommand::Deposit(args) => movements::run(args, MovementKind::Deposit, global, terminal),
        ClientsCommand::Withdraw(args) => movements::run(args, MovementKind::Withdrawal, global, terminal),
        ClientsCommand::CreditLine(args) => movements::run(args, MovementKind::CreditLine, global, terminal),
        ClientsCommand::Keys { on, revoke: Some(key) } => {
            let what = |key: &KeyRecord, shape: &ClientView| format!("{} of {}", key.id, shape.client_id);
            operate(&on, Revoke { client: on.client, key }, what, "revoked", global, terminal)
        }
        ClientsCommand::Keys { on, revoke: None } => keys(&on, global, terminal),
    }
}

fn list(pending: bool, store: &StoreArg, global: &Global, terminal: &Terminal) -> Done {
    let store = store.place()?.open()?;
    let mut shown = Vec::new();
    for client in all(&*store)? {
        let shape = ClientView::of(&client, &keys_of(&*store, client.no)?);
        if !pending || shape.pending_keys > 0 {
            shown.push(shape);
        }
    }
    if global.json {
        return terminal.json(serde_json::json!({ "data": shown }).to_string().as_bytes());
    }
    if shown.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, if pending { "No key is pending." } else { "No clients." }));
    }
    let mut table = terminal.table(&["client", "name", "since", "state", "sandbox keys", "live keys", "pending"]);
    for it in &shown {
        let pending = if it.pending_keys > 0 { Tone::Warn.cell(it.pending_keys) } else { number("") };
        let state = if it.suspended { Tone::Bad.cell("suspended") } else { Tone::Good.cell("active") };
        table.add_row(vec![
            Tone::Strong.cell(&it.client_id),
            Cell::new(&it.name),
            Cell::new(short_time(&it.created_at)),
            state,
            number(it.sandbox_keys),
            number(it.live_keys),
            pending,
        ]);
    }
    align_right(&mut table, [4, 5, 6]);
    terminal.show(&table)
}

/// Every client, oldest first.
pub(super) fn all(store: &dyn Store) -> Done<Vec<ClientRecord>> {
    let mut clients: Vec<ClientRecord> = Vec::new();
    loop {
        let after = clients.last().map_or(ClientNo(0), |client| client.no);
        let page = store.scan(&Scan::after(&Key::Client(after), 500)).map_err(railgate::Error::from)?;
        if page.is_empty() {
            return Ok(clients);
        }
        clients.extend(typed_all::<ClientRecord>(page).map_err(railgate::Error::from)?);
    }
}

/// A client's keys, oldest first.
pub(super) fn keys_of(store: &dyn Store, client: ClientNo) -> Done<Vec<KeyRecord>> {
    let found = store.scan(&Scan::keys_of(client)).and_then(typed_all);
    Ok(found.map_err(railgate::Error::from)?)
}

/// The client with this public id.
pub(super) fn by_id(store: &dyn Store, id: Ulid) -> Done<ClientRecord> {
    let found: Option<ClientRecord> = store.find(&Unique::ClientId(id)).and_then(typed).map_err(railgate::Error::from)?;
    found.ok_or_else(|| Failure::new(format!("there is no client cli_{id}")).hint("list the clients: railgate clients list"))
}

/// A key in the list.
#[derive(Serialize)]
struct KeyShape {
    key_id: String,
    algorithm: &'static str,
    environment: &'static str,
    status: &'static str,
    label: Option<String>,
    scope: String,
    created_at: String,
    revoked_at: Option<String>,
}

impl From<&KeyRecord> for KeyShape {
    fn from(key: &KeyRecord) -> Self {
        Self {
            key_id: key.id.to_string(),
            algorithm: key.public.algorithm().as_str(),
            environment: key.mode.as_str(),
            status: key.status.as_str(),
            label: key.label.clone(),
            scope: key.scopes.to_string(),
            created_at: rfc3339(key.created_at),
            revoked_at: key.revoked_at.map(rfc3339),
        }
    }
}

fn keys(on: &OnClient, global: &Global, terminal: &Terminal) -> Done {
    let store = on.store.place()?.open()?;
    let client = by_id(&*store, on.client)?;
    let keys: Vec<KeyShape> = keys_of(&*store, client.no)?.iter().map(KeyShape::from).collect();
    if global.json {
        return terminal.json(serde_json::json!({ "data": keys }).to_string().as_bytes());
    }
    let mut table = terminal.table(&["key", "algorithm", "environment", "status", "label", "since"]);
    for key in &keys {
        let tone = match key.status {
            "active" => Tone::Good,
            "pending" => Tone::Warn,
            _ => Tone::Dim,
        };
        table.add_row(vec![
            Tone::Strong.cell(&key.key_id),
            Cell::new(key.algorithm),
            Cell::new(key.environment),
            tone.cell(key.status),
            Cell::new(key.label.as_deref().unwrap_or_default()),
            Cell::new(short_time(&key.created_at)),
        ]);
    }
    terminal.show(&table)
}

/// The only pending key, so that none is approved that arrived after the operator looked; `None` if none is pending.
fn only_pending(on: &OnClient) -> Done<Option<KeyId>> {
    let store = on.store.place()?.open()?;
    // An unknown client is left to the engine, because its refusals are recorded.
    let Ok(client) = by_id(&*store, on.client) else { return Ok(None) };
    let mut waiting = keys_of(&*store, client.no)?;
    waiting.retain(|key| key.status == KeyStatus::Pending);
    match waiting.as_slice() {
        [] => Ok(None),
        [key] => Ok(Some(key.id)),
        several => {
            let ids: Vec<String> = several.iter().map(|key| key.id.to_string()).collect();
            Err(Failure::new(format!("{} keys of cli_{} are pending: {}", several.len(), on.client, ids.join(", ")))
                .hint("ask the client over another channel which one is its own, then approve it: --key KEY"))
        }
    }
}

fn whole(shape: &ClientView) -> String {
    format!("{} ({})", shape.client_id, shape.name)
}

/// Carries out an operator's command on a client; `what` names its object.
fn operate<C: Command>(
    on: &OnClient,
    act: C,
    what: impl FnOnce(&C::Output, &ClientView) -> String,
    done: &str,
    global: &Global,
    terminal: &Terminal,
) -> Done {
    let place = on.store.place()?;
    let engine: Engine = place.engine(None)?;
    let outcome = engine.run(Operated(act)).map_err(|error| {
        let hint = format!("list the clients: railgate clients list --store {place}");
        Failure::from(error).hint(hint)
    })?;
    drop(engine);
    let store = place.open()?;
    let client = by_id(&*store, on.client)?;
    let shape = ClientView::of(&client, &keys_of(&*store, client.no)?);
    if global.json {
        note(NOTICED);
        return terminal.json(serde_json::json!({ "done": done, "client": shape }).to_string().as_bytes());
    }
    let what = what(&outcome, &shape);
    terminal.line(format_args!("{} {what} {done}", terminal.paint(Tone::Good, "✓")))?;
    terminal.line(NOTICED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_and_keys_are_named_in_full() {
        assert!(client_id("cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB").is_ok());
        assert!(client_id("01KAJX3M7Q5W8ZP9D2R4T6V8YB").is_err() && client_id("cli_").is_err());
        assert!(key_id("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").is_ok() && key_id("kPrK").is_err());
    }
}
