//! Changes of what is agreed with clients.

use crate::api::TermsBody;
use crate::engine::Engine;
use crate::engine::cell::place_in;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result, excerpt};
use crate::ids::{ClientNo, KeyNo, ProviderNo, Ulid};
use crate::ledger::Mode;
use crate::route::FeeRule;
use crate::store::Unique;
use crate::store::record::{AuditAction, ClientRecord, SetupRecord, SetupSubject};
use crate::terms::{ClientLimits, LimitsEdit, SessionUse, Terms};
use crate::validate::terms::{TermsRequest, parse_terms};

use super::credit::tell;
use super::put::Rows;
use super::show::terms_of;

/// Replaces the terms of clients, each whole: all of them, or none. Returns their new versions.
#[derive(Debug, Clone)]
pub struct PutTerms {
    /// The terms, each with the version that they replace: 0 if there never were any, `None` for whichever there are.
    pub terms: Vec<(TermsBody, Option<i64>)>,
    /// Why, for the record.
    pub reason: Option<String>,
}

/// A part of a client's terms. Credit has a command of its own: [`SetCredit`](super::SetCredit).
#[derive(Debug, Clone)]
pub enum TermsEdit {
    /// The limits in one mode and currency.
    Limits(LimitsEdit),
    /// All fees.
    Fees(Vec<FeeRule>),
    /// Which calls sessions may sign in one mode.
    Sessions(Mode, SessionUse),
}

/// Replaces a part of a client's terms and leaves the rest as it is. Returns the client, and the new version of its terms.
#[derive(Debug, Clone)]
pub struct EditTerms {
    /// The client.
    pub client: Ulid,
    /// What is replaced.
    pub edit: TermsEdit,
    /// The version of the terms that it changes; `None` for whichever there is.
    pub expected: Option<i64>,
    /// Why, for the record.
    pub reason: Option<String>,
}

impl Command for EditTerms {
    type Output = (ClientNo, i64);

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<(ClientNo, i64)> {
        let client: Option<ClientRecord> = d.overlay.find(&Unique::ClientId(self.client))?;
        let client = client.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?.no;
        let mut rows = Rows::read(d.overlay)?;
        let mut terms = agreed(&rows, client)?;
        match &self.edit {
            TermsEdit::Limits(limits) => {
                let is_there = |it: &ClientLimits| (it.mode, it.currency) == (limits.mode, limits.currency);
                let edited = limits.after(terms.limits.iter().find(|it| is_there(it)))?;
                terms.limits.retain(|it| !is_there(it));
                if !edited.is_empty() {
                    terms.limits.push(edited);
                }
            }
            TermsEdit::Fees(fees) => terms.fees.clone_from(fees),
            TermsEdit::Sessions(mode, signs) => {
                terms.session_signatures.insert(*mode, *signs);
            }
        }
        let version = put(d.overlay, &mut rows, &terms_of(self.client, &terms), self.expected, self.reason.as_deref())?.version;
        Ok((client, version))
    }

    fn deed(&self, done: Option<&(ClientNo, i64)>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::PutTerms).name(format!("cli_{}", self.client));
        Some(match done {
            Some((client, _)) => deed.of(*client, KeyNo(0)),
            None => deed,
        })
    }
}

impl Command for PutTerms {
    type Output = Vec<i64>;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<i64>> {
        let mut rows = Rows::read(d.overlay)?;
        let replace = |(body, expected): &(TermsBody, Option<i64>)| {
            let replaced = put(d.overlay, &mut rows, body, *expected, self.reason.as_deref())?;
            tell(d, &replaced)?;
            Ok(replaced.version)
        };
        self.terms.iter().map(replace).collect()
    }

    /// One for each currency in which there is credit before or after.
    fn numbers(&self, engine: &Engine) -> usize {
        let given = self.terms.iter().map(|(body, _)| body.credit.as_ref().map_or(0, |credit| credit.len()));
        let applied = engine.all_applied_terms();
        let in_force = applied.iter().map(|(_, it)| it.terms.credit.len());
        given.chain(in_force).sum()
    }

    fn deed(&self, _: Option<&Vec<i64>>) -> Option<Deed> {
        let clients: Vec<&str> = self.terms.iter().map(|(body, _)| body.client.as_str()).collect();
        Some(Deed::new(AuditAction::PutTerms).name(excerpt(&clients.join(", "))))
    }
}

/// What is agreed with a client, by the rows so far.
pub(super) fn agreed(rows: &Rows, client: ClientNo) -> Result<Terms> {
    match rows.last(|row| is_of(row, client)) {
        Some(row) => Ok(parse_terms(row.document.as_bytes())?.terms),
        None => Ok(Terms::default()),
    }
}

/// Terms of a client that replaced others.
pub(super) struct Replaced {
    pub(super) client: ClientRecord,
    pub(super) before: Terms,
    pub(super) after: Terms,
    /// Their version.
    pub(super) version: i64,
}

/// Writes the terms of one client.
pub(super) fn put(
    overlay: &mut Overlay<'_>,
    rows: &mut Rows,
    body: &TermsBody,
    expected: Option<i64>,
    reason: Option<&str>,
) -> Result<Replaced> {
    let given = serde_json::to_string(body).map_err(Error::internal)?;
    let request = parse_terms(given.as_bytes())?;
    let client: Option<ClientRecord> = overlay.find(&Unique::ClientId(request.client))?;
    let missing = || Error::with(ErrorCode::ClientNotFound, format!("there is no client {}", excerpt(&body.client)));
    let client = client.ok_or_else(missing)?;
    if let Some(refusal) = place_in(rows, client.no)?.and_then(|place| place.refusal_to_operators()) {
        return Err(refusal);
    }
    put_for(overlay, rows, client, request, expected, reason)
}

/// Takes over the terms of a client that comes from another gateway, and tells it of its credit.
pub(crate) fn carry_over(d: &mut Decision<'_, '_>, rows: &mut Rows, client: ClientRecord, body: &TermsBody, reason: &str) -> Result<()> {
    let given = serde_json::to_string(body).map_err(Error::internal)?;
    let replaced = put_for(d.overlay, rows, client, parse_terms(given.as_bytes())?, None, Some(reason))?;
    tell(d, &replaced)
}

/// Writes the terms of this client.
fn put_for(
    overlay: &mut Overlay<'_>,
    rows: &mut Rows,
    client: ClientRecord,
    request: TermsRequest,
    expected: Option<i64>,
    reason: Option<&str>,
) -> Result<Replaced> {
    let after = request.terms;
    let before = agreed(rows, client.no)?;
    let document = serde_json::to_string(&terms_of(request.client, &after)).map_err(Error::internal)?;
    let (subject, provider, at) = (SetupSubject::Terms, ProviderNo(0), overlay.now);
    let row = |revision| {
        let (secrets, reason) = (Vec::new(), reason.map(str::to_owned));
        Ok(SetupRecord { revision, subject, provider, at, document, secrets, reason, client: Some(client.no) })
    };
    let version = rows.append(overlay, expected, |row| is_of(row, client.no), row)?;
    Ok(Replaced { client, before, after, version })
}

fn is_of(row: &SetupRecord, client: ClientNo) -> bool {
    (row.subject, row.client) == (SetupSubject::Terms, Some(client))
}

/// The version of a client's terms; 0 if there never were any.
pub(crate) fn terms_version(overlay: &Overlay<'_>, client: Ulid) -> Result<i64> {
    let client: Option<ClientRecord> = overlay.find(&Unique::ClientId(client))?;
    let client = client.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?.no;
    Ok(Rows::read(overlay)?.last(|row| is_of(row, client)).map_or(0, |row| row.revision))
}
