//! Changes of what is agreed with clients.

use crate::api::TermsBody;
use crate::engine::group::{Command, Decision, Deed};
use crate::error::{Error, ErrorCode, Result, excerpt};
use crate::ids::ProviderNo;
use crate::store::Unique;
use crate::store::record::{AuditAction, ClientRecord, SetupRecord, SetupSubject};
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

impl Command for PutTerms {
    type Output = Vec<i64>;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<i64>> {
        let mut rows = Rows::read(d.overlay)?;
        let mut versions = Vec::with_capacity(self.terms.len());
        for (body, expected) in &self.terms {
            let given = serde_json::to_string(body).map_err(Error::internal)?;
            let request = parse_terms(given.as_bytes())?;
            let client: Option<ClientRecord> = d.overlay.find(&Unique::ClientId(request.client))?;
            let missing = || Error::with(ErrorCode::ClientNotFound, format!("there is no client {}", excerpt(&body.client)));
            let client = Some(client.ok_or_else(missing)?.no);
            let document = serde_json::to_string(&terms_of(request.client, &request.terms)).map_err(Error::internal)?;
            let (subject, provider, at) = (SetupSubject::Terms, ProviderNo(0), d.overlay.now);
            versions.push(rows.append(
                d.overlay,
                *expected,
                |row| (row.subject, row.client) == (subject, client),
                |revision| {
                    let (secrets, reason) = (Vec::new(), self.reason.clone());
                    Ok(SetupRecord { revision, subject, provider, at, document, secrets, reason, client })
                },
            )?);
        }
        Ok(versions)
    }

    fn deed(&self, _: Option<&Vec<i64>>) -> Option<Deed> {
        let clients: Vec<&str> = self.terms.iter().map(|(body, _)| body.client.as_str()).collect();
        Some(Deed::new(AuditAction::PutTerms).name(excerpt(&clients.join(", "))))
    }
}
