//! Reads: bundles as their partner and as reviewers see them.

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::api::{
    BundleChangeView, BundleDiffView, BundleFindingView, BundleSecretsView, BundleSignatureView, BundleStepView, BundleSummaryView,
    BundleTimelineView, BundleView, BundlesView, Caller, ConformanceView, DocumentView, PublishedView, SecretTexts,
};
use crate::bundle::changes;
use crate::engine::Engine;
use crate::engine::operator::AuditNames;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, Ulid};
use crate::lifecycle::bundle::BundleStatus;
use crate::store::record::{BundlePartRecord, BundleRecord, BundleStepKind, BundleStepRecord, ClientRecord, Key};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::{Millis, rfc3339};
use crate::trace::hex;
use crate::validate::bundle::{BundleContent, document_type};

use super::{REPORT, STEPS_MAX};

/// How many bundles a page of one client's examines.
const EXAMINED: usize = 2_000;

/// Who reads.
#[derive(Debug, Clone, Copy)]
pub enum BundleReader {
    /// A partner: its own bundles, in the mode of its credential.
    Partner(Caller),
    /// An operator: all of them.
    Operator,
}

/// Which bundles a list shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct BundleScope {
    /// In this state.
    pub status: Option<BundleStatus>,
    /// Of this client. Only for operators.
    pub client: Option<Ulid>,
}

impl Engine {
    fn bundle_record(&self, reader: BundleReader, id: Ulid) -> Result<BundleRecord> {
        let found: Option<BundleRecord> = typed(self.store.find(&Unique::BundleId(id))?)?;
        let visible = |it: &BundleRecord| match reader {
            BundleReader::Partner(caller) => it.client == caller.client && it.mode == caller.mode,
            BundleReader::Operator => true,
        };
        found.filter(visible).ok_or_else(|| Error::new(ErrorCode::BundleNotFound))
    }

    /// A bundle.
    ///
    /// # Errors
    /// `bundle_not_found`, also for another client's.
    pub fn bundle(&self, reader: BundleReader, id: Ulid) -> Result<BundleView> {
        let bundle = self.bundle_record(reader, id)?;
        let parts: Vec<BundlePartRecord> = typed_all(self.store.scan(&Scan::bundle_parts(bundle.no, bundle.revision))?)?;
        let manifest = parts.iter().find(|part| part.n == 0).ok_or_else(|| Error::internal("a manifest is missing"))?;
        let documents = parts.iter().filter(|part| part.n != 0 && part.n != REPORT).map(document_view).collect();
        let mut view = self.view_of(&bundle, &manifest.content, documents)?;
        view.signatures.extend(self.partner_signature(&bundle, manifest.key, manifest.at)?);
        let steps: Vec<BundleStepRecord> = typed_all(self.store.scan(&Scan::bundle_steps(bundle.no, 0, STEPS_MAX as usize * 2))?)?;
        let approved = steps.iter().rev().find(|it| it.kind == BundleStepKind::Approved && it.revision == bundle.revision);
        if let Some(step) = approved {
            let mut names = AuditNames::of(&*self.store);
            view.signatures.push(BundleSignatureView {
                role: "reviewer".to_owned(),
                by: names.party(step.by)?.unwrap_or_default(),
                key_id: names.key_id(step.key)?,
                digest: hex(&bundle.digest),
                at: rfc3339(step.at),
            });
        }
        if let Some(step) = steps.iter().find(|it| it.n == bundle.submission) {
            view.findings = findings_in(step)?;
        }
        Ok(view)
    }

    /// The view of a bundle whose content was just written.
    pub(super) fn written_view(&self, bundle: &BundleRecord, content: &BundleContent, key: KeyNo, at: Millis) -> Result<BundleView> {
        let documents = content.documents.iter().map(|document| DocumentView {
            media_type: document_type(&document.name).unwrap_or("application/octet-stream").to_owned(),
            bytes: document.content.len() as u64,
            sha256: hex(&Sha256::digest(&document.content)),
            name: document.name.clone(),
        });
        let mut view = self.view_of(bundle, content.manifest.as_bytes(), documents.collect())?;
        view.signatures.extend(self.partner_signature(bundle, key, at)?);
        Ok(view)
    }

    fn view_of(&self, bundle: &BundleRecord, manifest: &[u8], documents: Vec<DocumentView>) -> Result<BundleView> {
        let text = std::str::from_utf8(manifest).map_err(Error::internal)?;
        let secrets = self.bundle_secrets(bundle)?;
        let names = |texts: Option<SecretTexts>| texts.map(|texts| texts.0.into_keys().collect()).unwrap_or_default();
        Ok(BundleView {
            summary: self.bundle_summary(bundle)?,
            manifest: serde_json::from_str::<Box<RawValue>>(text).map_err(Error::internal)?,
            documents,
            secrets: BundleSecretsView { sandbox: names(secrets.sandbox), live: names(secrets.live) },
            findings: Vec::new(),
            signatures: Vec::new(),
        })
    }

    fn partner_signature(&self, bundle: &BundleRecord, key: KeyNo, at: Millis) -> Result<Option<BundleSignatureView>> {
        let mut names = AuditNames::of(&*self.store);
        Ok(names.party(bundle.client)?.map(|by| names.key_id(key).map(|key_id| (by, key_id))).transpose()?.map(|(by, key_id)| {
            BundleSignatureView { role: "partner".to_owned(), by, key_id, digest: hex(&bundle.digest), at: rfc3339(at) }
        }))
    }

    /// What lists show of a bundle.
    pub(crate) fn bundle_summary(&self, bundle: &BundleRecord) -> Result<BundleSummaryView> {
        Ok(BundleSummaryView {
            id: format!("bun_{}", bundle.id),
            client_id: format!("cli_{}", self.client_of(bundle.client)?),
            mode: bundle.mode,
            provider: bundle.provider.clone(),
            release: bundle.release.clone(),
            status: bundle.status,
            revision: bundle.revision,
            digest: hex(&bundle.digest),
            version: bundle.version.into(),
            conformance: bundle.conformance,
            published: PublishedView { sandbox: bundle.in_sandbox, live: bundle.in_live },
            publishing: bundle.publishing,
            created_at: rfc3339(bundle.created_at),
            updated_at: rfc3339(bundle.updated_at),
        })
    }

    /// A page of bundles, newest first, after the one with the id `cursor`.
    ///
    /// # Errors
    /// `invalid_cursor`, `client_not_found`.
    pub fn bundles(&self, reader: BundleReader, scope: BundleScope, cursor: Option<&str>, limit: usize) -> Result<BundlesView> {
        let invalid = || Error::new(ErrorCode::InvalidCursor);
        let before = match cursor {
            Some(cursor) => {
                let id = cursor.strip_prefix("bun_").and_then(Ulid::parse).ok_or_else(invalid)?;
                self.bundle_record(reader, id).map_err(|_| invalid())?.no
            }
            None => i64::MAX,
        };
        let only: Option<ClientNo> = match scope.client {
            Some(id) => {
                let client: Option<ClientRecord> = typed(self.store.find(&Unique::ClientId(id))?)?;
                Some(client.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?.no)
            }
            None => None,
        };
        let (scan, most) = match (reader, only, scope.status) {
            (BundleReader::Partner(caller), ..) => (Scan::bundles_of(caller.client, caller.mode, before, EXAMINED), EXAMINED),
            (BundleReader::Operator, None, status) => (Scan::bundles(status, before, limit + 1), limit + 1),
            (BundleReader::Operator, Some(_), status) => (Scan::bundles(status, before, EXAMINED), EXAMINED),
        };
        let examined: Vec<BundleRecord> = typed_all(self.store.scan(&scan)?)?;
        let end = examined.last().filter(|_| examined.len() == most).map(|last| last.id);
        let wanted = |it: &BundleRecord| scope.status.is_none_or(|status| it.status == status) && only.is_none_or(|only| it.client == only);
        let mut found: Vec<BundleRecord> = examined.into_iter().filter(wanted).collect();
        let next = if found.len() > limit {
            found.truncate(limit);
            found.last().map(|last| last.id)
        } else {
            end
        };
        let data = found.iter().map(|bundle| self.bundle_summary(bundle)).collect::<Result<_>>()?;
        Ok(BundlesView { data, has_more: next.is_some(), next_cursor: next.map(|id| format!("bun_{id}")) })
    }

    /// The timeline of a bundle, oldest first, after the step `after`.
    ///
    /// # Errors
    /// `bundle_not_found`.
    pub fn bundle_timeline(&self, reader: BundleReader, id: Ulid, after: u32, limit: usize) -> Result<BundleTimelineView> {
        let bundle = self.bundle_record(reader, id)?;
        let mut steps: Vec<BundleStepRecord> = typed_all(self.store.scan(&Scan::bundle_steps(bundle.no, after, limit + 1))?)?;
        let has_more = steps.len() > limit;
        steps.truncate(limit);
        let mut names = AuditNames::of(&*self.store);
        let mut data = Vec::with_capacity(steps.len());
        for step in steps {
            data.push(BundleStepView {
                sequence: step.n,
                kind: step.kind,
                at: rfc3339(step.at),
                by: if step.by == ClientNo(0) { None } else { names.party(step.by)? },
                key_id: names.key_id(step.key)?,
                revision: step.revision,
                from: step.from,
                to: step.to,
                comment: step.comment,
                data: step.data.and_then(|data| RawValue::from_string(data).ok()),
            });
        }
        Ok(BundleTimelineView { data, has_more })
    }

    /// How two revisions differ; by default the last one from the one before it that is kept.
    ///
    /// # Errors
    /// `bundle_not_found`, also if there is no such revision any more.
    pub fn bundle_diff(&self, reader: BundleReader, id: Ulid, from: Option<u32>, to: Option<u32>) -> Result<BundleDiffView> {
        let bundle = self.bundle_record(reader, id)?;
        let to = to.unwrap_or(bundle.revision);
        let from = match from {
            Some(from) => Some(from),
            None => {
                let kept: Option<BundlePartRecord> = typed(self.store.scan(&Scan::kept_before(bundle.no, to))?.into_iter().next())?;
                kept.map(|manifest| manifest.revision)
            }
        };
        let to_parts = self.kept_revision(&bundle, to)?;
        let from_parts = from.map_or(Ok(Vec::new()), |from| self.kept_revision(&bundle, from))?;
        let text = |parts: &[BundlePartRecord]| {
            let manifest = parts.iter().find(|part| part.n == 0);
            manifest.map_or("{}".to_owned(), |part| String::from_utf8_lossy(&part.content).into_owned())
        };
        let mut all = changes(&text(&from_parts), &text(&to_parts));
        all.extend(document_changes(&from_parts, &to_parts));
        Ok(BundleDiffView { from: from.unwrap_or(0), to, changes: all })
    }

    /// A revision that must be there. Of one that was never submitted, at most the report of its test is kept.
    fn kept_revision(&self, bundle: &BundleRecord, revision: u32) -> Result<Vec<BundlePartRecord>> {
        let parts = self.revision(bundle, revision)?;
        let said = "the bundle has no such revision: only those that were submitted are kept";
        if parts.iter().any(|part| part.n == 0) { Ok(parts) } else { Err(Error::with(ErrorCode::BundleNotFound, said)) }
    }

    fn revision(&self, bundle: &BundleRecord, revision: u32) -> Result<Vec<BundlePartRecord>> {
        Ok(typed_all(self.store.scan(&Scan::bundle_parts(bundle.no, revision))?)?)
    }

    /// How the test of a bundle is, with the last report.
    ///
    /// # Errors
    /// `bundle_not_found`.
    pub fn bundle_conformance(&self, reader: BundleReader, id: Ulid) -> Result<ConformanceView> {
        let bundle = self.bundle_record(reader, id)?;
        let step: Option<BundleStepRecord> =
            if bundle.report == 0 { None } else { typed(self.store.get(&Key::BundleStep((bundle.no, bundle.report)))?)? };
        let part: Option<BundlePartRecord> = match &step {
            Some(step) => typed(self.store.get(&Key::BundlePart((bundle.no, step.revision, REPORT)))?)?,
            None => None,
        };
        let report = part.and_then(|part| String::from_utf8(part.content).ok()).and_then(|text| RawValue::from_string(text).ok());
        Ok(ConformanceView {
            status: bundle.conformance,
            revision: step.as_ref().map(|step| step.revision),
            at: step.map(|step| rfc3339(step.at)),
            report,
        })
    }

    /// A document of a bundle's revision, or of its last one: its type, and its bytes.
    ///
    /// # Errors
    /// `bundle_not_found`.
    pub fn bundle_document(&self, reader: BundleReader, id: Ulid, name: &str, revision: Option<u32>) -> Result<(&'static str, Vec<u8>)> {
        let bundle = self.bundle_record(reader, id)?;
        let parts = self.revision(&bundle, revision.unwrap_or(bundle.revision))?;
        let found = parts.into_iter().find(|part| part.n != 0 && part.n != REPORT && part.name == name);
        let part = found.ok_or_else(|| Error::with(ErrorCode::BundleNotFound, "the revision has no such document"))?;
        Ok((document_type(&part.name).unwrap_or("application/octet-stream"), part.content))
    }
}

fn document_view(part: &BundlePartRecord) -> DocumentView {
    DocumentView {
        name: part.name.clone(),
        media_type: document_type(&part.name).unwrap_or("application/octet-stream").to_owned(),
        bytes: part.content.len() as u64,
        sha256: hex(&part.digest),
    }
}

fn findings_in(step: &BundleStepRecord) -> Result<Vec<BundleFindingView>> {
    #[derive(serde::Deserialize)]
    struct Submitted {
        findings: Vec<BundleFindingView>,
    }
    let Some(data) = &step.data else { return Ok(Vec::new()) };
    serde_json::from_str::<Submitted>(data).map(|it| it.findings).map_err(Error::internal)
}

fn document_changes(from: &[BundlePartRecord], to: &[BundlePartRecord]) -> Vec<BundleChangeView> {
    let digest = |parts: &[BundlePartRecord], name: &str| {
        let part = parts.iter().find(|part| part.n != 0 && part.n != REPORT && part.name == name)?;
        RawValue::from_string(format!("\"{}\"", hex(&part.digest))).ok()
    };
    let mut names: Vec<&str> =
        from.iter().chain(to).filter(|part| part.n != 0 && part.n != REPORT).map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names.into_iter().map(|name| (name, digest(from, name), digest(to, name)));
    changed
        .filter(|(_, before, after)| before.as_ref().map(|it| it.get()) != after.as_ref().map(|it| it.get()))
        .map(|(name, before, after)| BundleChangeView { pointer: format!("/documents/{name}"), before, after })
        .collect()
}
