//! Changes of what is agreed with clients.

use crate::api::TermsBody;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result, excerpt};
use crate::ids::{ClientNo, KeyNo, ProviderNo, Ulid};
use crate::money::Money;
use crate::route::FeeRule;
use crate::store::Unique;
use crate::store::record::{AuditAction, ClientRecord, SetupRecord, SetupSubject};
use crate::terms::{ClientLimits, LimitsEdit, Terms};
use crate::validate::terms::parse_terms;

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

/// A part of a client's terms.
#[derive(Debug, Clone)]
pub enum TermsEdit {
    /// The limits in one mode and currency.
    Limits(LimitsEdit),
    /// All fees.
    Fees(Vec<FeeRule>),
    /// The credit in one currency; zero for none.
    Credit(Money),
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
        let row = rows.last(|row| is_of(row, client));
        let mut terms = match row {
            Some(row) => parse_terms(row.document.as_bytes())?.terms,
            None => Terms::default(),
        };
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
            TermsEdit::Credit(credit) => {
                terms.credit.retain(|it| it.currency() != credit.currency());
                if credit.minor() > 0 {
                    terms.credit.push(*credit);
                }
            }
        }
        let version = put(d.overlay, &mut rows, &terms_of(self.client, &terms), self.expected, self.reason.as_deref())?;
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
        self.terms.iter().map(|(body, expected)| put(d.overlay, &mut rows, body, *expected, self.reason.as_deref())).collect()
    }

    fn deed(&self, _: Option<&Vec<i64>>) -> Option<Deed> {
        let clients: Vec<&str> = self.terms.iter().map(|(body, _)| body.client.as_str()).collect();
        Some(Deed::new(AuditAction::PutTerms).name(excerpt(&clients.join(", "))))
    }
}

/// Writes the terms of one client, and returns their version.
fn put(overlay: &mut Overlay<'_>, rows: &mut Rows, body: &TermsBody, expected: Option<i64>, reason: Option<&str>) -> Result<i64> {
    let given = serde_json::to_string(body).map_err(Error::internal)?;
    let request = parse_terms(given.as_bytes())?;
    let client: Option<ClientRecord> = overlay.find(&Unique::ClientId(request.client))?;
    let missing = || Error::with(ErrorCode::ClientNotFound, format!("there is no client {}", excerpt(&body.client)));
    let client = client.ok_or_else(missing)?.no;
    let document = serde_json::to_string(&terms_of(request.client, &request.terms)).map_err(Error::internal)?;
    let (subject, provider, at) = (SetupSubject::Terms, ProviderNo(0), overlay.now);
    let row = |revision| {
        let (secrets, reason) = (Vec::new(), reason.map(str::to_owned));
        Ok(SetupRecord { revision, subject, provider, at, document, secrets, reason, client: Some(client) })
    };
    rows.append(overlay, expected, |row| is_of(row, client), row)
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
