//! `railgate audit`: the audit trail, read from the store itself.

use std::collections::HashMap;

use comfy_table::Cell;
use railgate::ids::{ClientNo, EndpointNo, KeyNo, SettlementNo, Ulid};
use railgate::store::record::{AuditAction, AuditRecord, EndpointRecord, Key, KeyRecord, SettlementRecord, TaskKey};
use railgate::store::{Scan, Store, typed, typed_all};
use railgate::time::{parse_rfc3339, rfc3339};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Global;
use super::clients::{all, by_id, client_id};
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, printable};

const EXAMPLES: &str = "\
Examples:
  railgate audit --since 2026-11-21T00:00:00Z
  railgate audit --client cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB --limit 1000
  railgate audit --after 1849583012345678 --json
      Continues after a row that was shown, by its number.

Oldest first. Contains every signed change, every refusal of one, and what operators did.";

/// How many rows are read at a time.
const PAGE: usize = 1_000;

/// Show who did what, and the outcome
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Only records about this client
    #[arg(long, value_name = "CLIENT", value_parser = client_id)]
    client: Option<Ulid>,
    /// Only records after this number
    #[arg(long, value_name = "NO")]
    after: Option<i64>,
    /// Only records from this time on (RFC 3339)
    #[arg(long, value_name = "TIME", conflicts_with = "after")]
    since: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    store: StoreArg,
}

/// A row of the output.
#[derive(Serialize)]
struct Row {
    no: i64,
    at: String,
    /// Who acted: a `client`, or the `operator`.
    by: &'static str,
    /// The client that acted, or that was acted on.
    client_id: Option<String>,
    key_id: Option<String>,
    action: &'static str,
    target: Option<String>,
    /// `done`, or the code of the refusal.
    outcome: String,
    /// What an operator decided and why.
    detail: Option<Box<RawValue>>,
}

pub(crate) fn run(args: AuditArgs, global: &Global, terminal: &Terminal) -> Done {
    let store = args.store.place()?.open()?;
    let only = args.client.map(|id| by_id(&*store, id)).transpose()?.map(|client| client.no);
    let after = match &args.since {
        Some(text) => {
            let at = parse_rfc3339(text).ok_or_else(|| Failure::usage(format!("{text:?} is not a time")).hint("2026-11-21T00:00:00Z"))?;
            TaskKey::new(at, 0).0.saturating_sub(1)
        }
        None => args.after.unwrap_or(i64::MIN),
    };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let (records, more) = collect(&*store, only, after, limit)?;
    let mut names = Names::of(&*store)?;
    let rows: Vec<Row> = records.iter().map(|record| names.row(record)).collect::<Done<_>>()?;
    if global.json {
        let document = serde_json::json!({ "data": rows, "has_more": more });
        return terminal.json(document.to_string().as_bytes());
    }
    show(&rows, more, terminal)
}

/// At most `limit` records, and whether there are more.
fn collect(store: &dyn Store, only: Option<ClientNo>, mut after: i64, limit: usize) -> Done<(Vec<AuditRecord>, bool)> {
    let mut found: Vec<AuditRecord> = Vec::new();
    loop {
        let page = store.scan(&Scan::after(&Key::Audit(after), PAGE)).and_then(typed_all::<AuditRecord>).map_err(railgate::Error::from)?;
        let Some(last) = page.last() else { return Ok((found, false)) };
        after = last.no;
        for record in page.into_iter().filter(|record| only.is_none_or(|client| record.client == client)) {
            if found.len() == limit {
                return Ok((found, true));
            }
            found.push(record);
        }
    }
}

/// What a target's number identifies.
enum Subject {
    Client,
    Key,
    Settlement,
    Webhook,
    Nothing,
}

impl Subject {
    fn of(action: AuditAction) -> Self {
        match action {
            AuditAction::Enroll | AuditAction::ApproveClient | AuditAction::SuspendClient | AuditAction::ResumeClient => Self::Client,
            AuditAction::EnrollLive | AuditAction::IssueToken | AuditAction::RevokeToken | AuditAction::AddKey | AuditAction::RevokeKey => {
                Self::Key
            }
            AuditAction::CreateSettlement
            | AuditAction::ReverseSettlement
            | AuditAction::CheckSettlement
            | AuditAction::ResolveReview
            | AuditAction::AdvanceSettlement => Self::Settlement,
            AuditAction::CreateWebhook
            | AuditAction::UpdateWebhook
            | AuditAction::DeleteWebhook
            | AuditAction::RotateWebhookSecret
            | AuditAction::EnableWebhook
            | AuditAction::TestWebhook
            | AuditAction::RedeliverWebhook
            | AuditAction::ReplayWebhook => Self::Webhook,
            AuditAction::RotateSecret
            | AuditAction::Fund
            | AuditAction::SetFaults
            | AuditAction::ResetSandbox
            | AuditAction::MoreRefusals
            | AuditAction::Invite
            | AuditAction::WithdrawInvitation
            | AuditAction::PutProvider
            | AuditAction::EnableProvider
            | AuditAction::DisableProvider
            | AuditAction::MaintainProvider
            | AuditAction::PutRoutes
            | AuditAction::PutTerms
            | AuditAction::Deposit
            | AuditAction::Withdraw => Self::Nothing,
        }
    }
}

/// The public names of numbers, each looked up once.
struct Names<'a> {
    store: &'a dyn Store,
    clients: HashMap<ClientNo, String>,
    keys: HashMap<KeyNo, String>,
}

impl<'a> Names<'a> {
    fn of(store: &'a dyn Store) -> Done<Self> {
        let clients = all(store)?.into_iter().map(|client| (client.no, format!("cli_{}", client.id))).collect();
        Ok(Self { store, clients, keys: HashMap::new() })
    }

    fn row(&mut self, record: &AuditRecord) -> Done<Row> {
        let client_id = self.clients.get(&record.client).cloned();
        let key_id = if record.key == KeyNo(0) { None } else { self.key(record.key)? };
        let target = match (&record.name, record.target) {
            (Some(name), 0) => Some(name.clone()),
            (_, 0) => None,
            (_, no) => Some(self.target(record.action, no)?),
        };
        let by_operator = record.key == KeyNo(0) && !matches!(record.action, AuditAction::Enroll | AuditAction::MoreRefusals);
        Ok(Row {
            no: record.no,
            by: if by_operator { "operator" } else { "client" },
            at: rfc3339(record.at),
            client_id,
            key_id,
            action: record.action.as_str(),
            target,
            outcome: record.refused.clone().unwrap_or_else(|| "done".to_owned()),
            detail: record.detail.clone().and_then(|detail| RawValue::from_string(detail).ok()),
        })
    }

    fn target(&mut self, action: AuditAction, no: i64) -> Done<String> {
        let small = u32::try_from(no).unwrap_or(0);
        let named = match Subject::of(action) {
            Subject::Client => self.clients.get(&ClientNo(small)).cloned(),
            Subject::Key => self.key(KeyNo(small))?,
            Subject::Settlement => {
                let found: Option<SettlementRecord> = self.found(&Key::Settlement(SettlementNo(no)))?;
                found.map(|settlement| settlement.reference.as_str().to_owned())
            }
            Subject::Webhook => {
                let found: Option<EndpointRecord> = self.found(&Key::Endpoint(EndpointNo(small)))?;
                found.map(|endpoint| format!("whk_{}", endpoint.id))
            }
            Subject::Nothing => None,
        };
        Ok(named.unwrap_or_else(|| format!("no. {no}")))
    }

    fn key(&mut self, no: KeyNo) -> Done<Option<String>> {
        if let Some(known) = self.keys.get(&no) {
            return Ok(Some(known.clone()));
        }
        let found: Option<KeyRecord> = self.found(&Key::Key(no))?;
        let id = found.map(|key| key.id.to_string());
        self.keys.extend(id.clone().map(|id| (no, id)));
        Ok(id)
    }

    fn found<T: TryFrom<railgate::store::record::Record, Error = railgate::store::record::Record>>(&self, key: &Key) -> Done<Option<T>> {
        Ok(self.store.get(key).and_then(typed).map_err(railgate::Error::from)?)
    }
}

fn show(rows: &[Row], more: bool, terminal: &Terminal) -> Done {
    let Some(last) = rows.last() else { return terminal.line(terminal.paint(Tone::Dim, "Nothing was done.")) };
    let mut table = terminal.table(&["when", "who", "key", "action", "on what", "outcome"]);
    let mut details = Vec::new();
    for row in rows {
        let who = if row.by == "operator" { row.by } else { row.client_id.as_deref().unwrap_or("nobody") };
        // Enough of a thumbprint to tell keys apart; --json prints all of it.
        let key: String = row.key_id.as_deref().unwrap_or_default().chars().take(8).collect();
        let tone = if row.outcome == "done" { Tone::Good } else { Tone::Bad };
        table.add_row(vec![
            Cell::new(short_time(&row.at)),
            Tone::Strong.cell(who),
            Tone::Dim.cell(key),
            Cell::new(row.action),
            Cell::new(row.target.as_deref().unwrap_or_default()),
            tone.cell(&row.outcome),
        ]);
        if let Some(detail) = &row.detail {
            details.push(format!("{}  {}", short_time(&row.at), printable(detail.get())));
        }
    }
    terminal.show(&table)?;
    for detail in details {
        terminal.line(terminal.paint(Tone::Dim, detail))?;
    }
    if more {
        terminal.line(terminal.paint(Tone::Dim, format_args!("There are more: --after {}", last.no)))?;
    }
    Ok(())
}
