//! Changes of providers and routes.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::secrets_place;
use super::show::{document_of, table_of};
use crate::api::{ProviderBody, RoutesBody};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay, ROUNDS};
use crate::error::{Error, ErrorCode, FieldProblem, Result, excerpt};
use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::rail::books;
use crate::route::{Availability, ProviderSpec, Secrets};
use crate::store::record::{AuditAction, ProviderRecord, Record, RecordKind, SetupRecord, SetupSubject};
use crate::store::{CommitError, Scan, Write, typed_all};
use crate::validate::provider::{parse_provider, parse_routes};

/// Adds providers, or replaces each whole: all of them, or none. Returns their new versions.
#[derive(Debug, Clone)]
pub struct PutProviders {
    /// The providers, each with the version that it replaces: 0 for a new one, `None` for whichever there is. Secrets that are left out
    /// stay as they are.
    pub providers: Vec<(ProviderBody, Option<i64>)>,
    /// Why, for the record.
    pub reason: Option<String>,
}

impl Command for PutProviders {
    type Output = Vec<i64>;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<i64>> {
        let mut rows = Rows::read(d.overlay)?;
        let reason = self.reason.as_deref();
        let puts = self.providers.iter();
        puts.map(|(body, expected)| d.engine.put_provider(d.overlay, &mut rows, body, *expected, reason)).collect()
    }

    fn deed(&self, _: Option<&Vec<i64>>) -> Option<Deed> {
        let ids: Vec<&str> = self.providers.iter().map(|(body, _)| body.id.as_str()).collect();
        Some(Deed::new(AuditAction::PutProvider).name(excerpt(&ids.join(", "))))
    }
}

/// Decides whether a provider takes new payments. Those that it has are followed to their end in any case. Returns its new version.
#[derive(Debug, Clone)]
pub struct SwitchProvider {
    /// The provider's id.
    pub id: String,
    /// Whether it takes new payments.
    pub to: Availability,
    /// The version that it changes; `None` for whichever there is.
    pub expected: Option<i64>,
    /// Why, for the record.
    pub reason: Option<String>,
}

impl Command for SwitchProvider {
    type Output = i64;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<i64> {
        let mut rows = Rows::read(d.overlay)?;
        let spec = d.engine.provider_in(&rows, &self.id)?;
        let spec = spec.ok_or_else(|| Error::with(ErrorCode::ProviderNotFound, format!("there is no provider {:?}", excerpt(&self.id))))?;
        let body = document_of(&ProviderSpec { availability: self.to, ..spec });
        d.engine.put_provider(d.overlay, &mut rows, &body, self.expected, self.reason.as_deref())
    }

    fn deed(&self, _: Option<&i64>) -> Option<Deed> {
        let action = match self.to {
            Availability::Enabled => AuditAction::EnableProvider,
            Availability::Disabled => AuditAction::DisableProvider,
            Availability::Maintenance => AuditAction::MaintainProvider,
        };
        Some(Deed::new(action).name(&*self.id))
    }
}

/// Replaces the table of routes. Returns its new version.
#[derive(Debug, Clone)]
pub struct PutRoutes {
    /// The whole table.
    pub table: RoutesBody,
    /// The version that it replaces: 0 if there never was one, `None` for whichever there is.
    pub expected: Option<i64>,
    /// Why, for the record.
    pub reason: Option<String>,
}

impl Command for PutRoutes {
    type Output = i64;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<i64> {
        let table = serde_json::to_string(&self.table).map_err(Error::internal)?;
        let rules = parse_routes(table.as_bytes())?;
        let document = serde_json::to_string(&table_of(&rules)).map_err(Error::internal)?;
        let mut rows = Rows::read(d.overlay)?;
        let mut problems = Vec::new();
        for (n, rule) in rules.iter().enumerate() {
            if d.engine.routes().are_between_clients(rule.namespace) {
                let said = "payments to clients of this gateway are settled on its books, and have no other route";
                problems.push(FieldProblem::new(format!("/routes/{n}/namespace"), "reserved", said));
            }
            for (m, choice) in rule.providers.iter().enumerate() {
                let (code, said) = match d.engine.provider_in(&rows, &choice.id)?.map(|spec| spec.mode) {
                    Some(mode) if mode == rule.mode => continue,
                    Some(mode) => ("mode_mismatch", format!("is a provider of the {} environment", mode.as_str())),
                    None => ("provider_unknown", "is not the id of a provider".to_owned()),
                };
                problems.push(FieldProblem::new(format!("/routes/{n}/providers/{m}/id"), code, said));
            }
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let (subject, provider) = (SetupSubject::Routes, ProviderNo(0));
        let (at, secrets, reason) = (d.overlay.now, Vec::new(), self.reason.clone());
        rows.append(
            d.overlay,
            self.expected,
            |row| row.subject == subject,
            |revision| Ok(SetupRecord { revision, subject, provider, at, document, secrets, reason, client: None }),
        )
    }

    fn deed(&self, _: Option<&i64>) -> Option<Deed> {
        Some(Deed::new(AuditAction::PutRoutes))
    }
}

impl Engine {
    /// The mode of a provider, with what other nodes have just changed; `None` if there is none.
    pub(crate) fn mode_of_provider(&self, overlay: &Overlay<'_>, id: &str) -> Result<Option<Mode>> {
        Ok(self.provider_in(&Rows::read(overlay)?, id)?.map(|spec| spec.mode))
    }

    /// A provider as the rows, or else the program, have it, without its secrets.
    fn provider_in(&self, rows: &Rows, id: &str) -> Result<Option<ProviderSpec>> {
        match rows.number(id).and_then(|no| rows.last(|row| is_about(row, no))) {
            Some(row) => Ok(Some(parse_provider(row.document.as_bytes(), &self.config.rails)?.spec)),
            None => Ok(self.config.providers.iter().find(|spec| spec.id == id).cloned()),
        }
    }

    fn put_provider(
        &self,
        overlay: &mut Overlay<'_>,
        rows: &mut Rows,
        body: &ProviderBody,
        expected: Option<i64>,
        reason: Option<&str>,
    ) -> Result<i64> {
        let given = serde_json::to_string(body).map(Zeroizing::new).map_err(Error::internal)?;
        let request = parse_provider(given.as_bytes(), &self.config.rails)?;
        if body.id == books::ID {
            return Err(Error::field("/id", "reserved", "the gateway itself is this provider: give yours another id"));
        }
        if self.provider_in(rows, &body.id)?.is_some_and(|spec| spec.mode != request.spec.mode) {
            return Err(Error::field("/mode", "cannot_change", "a provider keeps its environment: give the other one an id of its own"));
        }
        let document = serde_json::to_string(&document_of(&request.spec)).map_err(Error::internal)?;
        let provider = rows.number_or_new(overlay, &body.id)?;
        let secrets = match rows.last(|row| is_about(row, provider)) {
            Some(row) if !request.gives_secrets => self.secrets_of(row)?,
            Some(_) | None => request.spec.secrets,
        };
        let (at, reason) = (overlay.now, reason.map(str::to_owned));
        rows.append(
            overlay,
            expected,
            |row| is_about(row, provider),
            |revision| {
                let secrets = self.sealed_secrets(revision, &secrets)?;
                Ok(SetupRecord { revision, subject: SetupSubject::Provider, provider, at, document, secrets, reason, client: None })
            },
        )
    }

    /// Adds a row with the same secrets under the first master key for each provider whose secrets are not sealed under it.
    pub(crate) fn reseal_setup(&self, is_stale: impl Fn(&[u8]) -> bool) -> Result<usize> {
        for _ in 0..ROUNDS {
            let mut overlay = Overlay::new(&*self.store, self.now());
            let mut rows = Rows::read(&overlay)?;
            let mut count = 0;
            for no in rows.providers.iter().map(|provider| provider.no).collect::<Vec<_>>() {
                let Some(row) = rows.last(|row| is_about(row, no)).filter(|row| is_stale(&row.secrets)).cloned() else { continue };
                let secrets = self.secrets_of(&row)?;
                rows.append(
                    &mut overlay,
                    None,
                    |row| is_about(row, no),
                    |revision| Ok(SetupRecord { revision, secrets: self.sealed_secrets(revision, &secrets)?, reason: None, ..row }),
                )?;
                count += 1;
            }
            if overlay.commit.writes.is_empty() {
                return Ok(count);
            }
            match self.store.commit(&overlay.commit) {
                Ok(()) => return Ok(count),
                // Another node changed something meanwhile.
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
            }
        }
        Err(Error::new(ErrorCode::StoreUnavailable))
    }

    fn sealed_secrets(&self, revision: i64, secrets: &Secrets) -> Result<Vec<u8>> {
        if secrets.0.is_empty() {
            return Ok(Vec::new());
        }
        let plain: BTreeMap<&str, &str> = secrets.0.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect();
        let plain = serde_json::to_vec(&plain).map(Zeroizing::new).map_err(Error::internal)?;
        let no_master = || Error::internal("there is no master key to seal a provider's secrets with");
        self.seal(&secrets_place(revision), &plain).ok_or_else(no_master)
    }
}

/// The version of a provider; 0 for one that the configuration does not have.
pub(crate) fn provider_version(overlay: &Overlay<'_>, id: &str) -> Result<i64> {
    let rows = Rows::read(overlay)?;
    let row = rows.number(id).and_then(|no| rows.last(|row| is_about(row, no)));
    Ok(row.map_or(0, |row| row.revision))
}

/// The version of the table of routes; 0 if there never was one.
pub(crate) fn routes_version(overlay: &Overlay<'_>) -> Result<i64> {
    Ok(Rows::read(overlay)?.last(|row| row.subject == SetupSubject::Routes).map_or(0, |row| row.revision))
}

/// The entries of the table of routes, with what other nodes have just changed.
#[cfg(feature = "bundles")]
pub(crate) fn routes_in(overlay: &Overlay<'_>) -> Result<Vec<crate::route::RouteRule>> {
    match Rows::read(overlay)?.last(|row| row.subject == SetupSubject::Routes) {
        Some(row) => parse_routes(row.document.as_bytes()),
        None => Ok(Vec::new()),
    }
}

/// The whole configuration so far, with what this group and this command add.
pub(crate) struct Rows {
    setup: Vec<SetupRecord>,
    providers: Vec<ProviderRecord>,
}

impl Rows {
    pub(crate) fn read(overlay: &Overlay<'_>) -> Result<Self> {
        let mut setup: Vec<SetupRecord> = typed_all(overlay.store.scan(&Scan::all(RecordKind::Setup, usize::MAX))?)?;
        let mut providers: Vec<ProviderRecord> = typed_all(overlay.store.scan(&Scan::all(RecordKind::Provider, usize::MAX))?)?;
        for record in overlay.inserted() {
            if let Record::Setup(row) = record {
                setup.push(row.clone());
            } else if let Record::Provider(provider) = record {
                providers.push(provider.clone());
            }
        }
        Ok(Self { setup, providers })
    }

    pub(crate) fn last(&self, is_wanted: impl Fn(&SetupRecord) -> bool) -> Option<&SetupRecord> {
        self.setup.iter().rev().find(|row| is_wanted(row))
    }

    fn number(&self, id: &str) -> Option<ProviderNo> {
        self.providers.iter().find(|provider| provider.id == id).map(|provider| provider.no)
    }

    fn number_or_new(&mut self, overlay: &mut Overlay<'_>, id: &str) -> Result<ProviderNo> {
        if let Some(no) = self.number(id) {
            return Ok(no);
        }
        let last = self.providers.iter().map(|provider| provider.no.0).max().unwrap_or(0);
        let no = ProviderNo(last.checked_add(1).ok_or_else(|| Error::internal("there are too many providers"))?);
        let provider = ProviderRecord { no, id: id.to_owned() };
        overlay.insert(provider.clone());
        self.providers.push(provider);
        Ok(no)
    }

    /// Adds a row after all others, unless its subject is not as expected; none if nothing changes. If another node adds a row too,
    /// this group is decided again.
    pub(crate) fn append(
        &mut self,
        overlay: &mut Overlay<'_>,
        expected: Option<i64>,
        is_subject: impl Fn(&SetupRecord) -> bool,
        row: impl FnOnce(i64) -> Result<SetupRecord>,
    ) -> Result<i64> {
        let current = self.last(is_subject);
        let version = current.map_or(0, |row| row.revision);
        if expected.is_some_and(|expected| expected != version) {
            return Err(Error::with(ErrorCode::VersionConflict, format!("it was changed meanwhile: it is at version {version} now")));
        }
        let revision = self.setup.last().map_or(0, |row| row.revision) + 1;
        let row = row(revision)?;
        if current.is_some_and(|same| same.document == row.document && row.secrets.is_empty() && same.secrets.is_empty()) {
            return Ok(version);
        }
        if let Some(before) = current.filter(|before| !before.secrets.is_empty()) {
            overlay.write(Write::Replace(SetupRecord { secrets: Vec::new(), ..before.clone() }.into()));
        }
        overlay.insert(row.clone());
        self.setup.push(row);
        Ok(revision)
    }
}

fn is_about(row: &SetupRecord, provider: ProviderNo) -> bool {
    row.subject == SetupSubject::Provider && row.provider == provider
}
