//! Makes bundles, and replaces their content.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::api::{BundleSecretsBody, BundleView, Caller};
use crate::bundle::digest_of;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::{Answers, Engine};
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::{KeyNo, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::bundle::{BundleInput, BundleStatus};
use crate::store::record::{AuditAction, BundlePartRecord, BundleRecord, BundleStepKind, BundleStepRecord, Digest32, Key, Record, Version};
use crate::store::{Scan, Unique, Write, typed, typed_all};
use crate::validate::bundle::{BundleContent, MANIFEST, Manifest, parse_manifest};
use crate::validate::json::pointer;

use super::{
    BUNDLES_MAX, BundleBy, KEPT_MAX, OPEN_MAX, REPORT, Step, begin, bundle_name, next, place, require_room, require_version, take,
};

/// Makes a bundle, or replaces the content of a draft: a new revision.
#[derive(Debug, Clone)]
pub struct WriteBundle {
    caller: Caller,
    key: KeyNo,
    /// The bundle, and the version of it that is replaced; `None` for a new one.
    bundle: Option<(Ulid, Option<u32>)>,
    content: Arc<Content>,
}

/// Content that was held against all rules.
#[derive(Debug)]
struct Content {
    given: BundleContent,
    provider: String,
    release: String,
    digest: Digest32,
    bytes: i64,
}

impl Engine {
    /// Reads what a partner sent, for a new bundle, or for a bundle at a version, if given.
    ///
    /// # Errors
    /// `bundle_not_found`, `malformed_json`, and `invalid_fields` with everything that is wrong with it.
    pub fn read_bundle(
        &self,
        caller: &Caller,
        key: KeyNo,
        bundle: Option<(Ulid, Option<u32>)>,
        content: BundleContent,
    ) -> Result<WriteBundle> {
        let secrets = match (&content.secrets, bundle) {
            (Some(given), _) => given.clone(),
            (None, None) => BundleSecretsBody::default(),
            (None, Some((id, _))) => {
                let found: Option<BundleRecord> = typed(self.store.find(&Unique::BundleId(id))?)?;
                let found = found.filter(|it| it.client == caller.client && it.mode == caller.mode);
                self.bundle_secrets(&found.ok_or_else(|| Error::new(ErrorCode::BundleNotFound))?)?
            }
        };
        let mut problems = content.problems();
        let manifest = match parse_manifest(&content.manifest, &secrets, &self.config.rails) {
            Ok(manifest) => {
                problems.extend(self.places_refused(&manifest));
                Some(manifest)
            }
            Err(error) if error.code == ErrorCode::InvalidFields => {
                problems.extend(error.into_fields());
                None
            }
            Err(error) => return Err(error),
        };
        match manifest {
            Some(manifest) if problems.is_empty() => {
                let documents = content.documents.iter().map(|document| (document.name.as_str(), document.content.as_slice()));
                let digest = digest_of(&content.manifest, documents);
                let bytes = i64::try_from(content.bytes()).unwrap_or(i64::MAX);
                let content = Content { given: content, provider: manifest.id, release: manifest.version, digest, bytes };
                Ok(WriteBundle { caller: *caller, key, bundle, content: Arc::new(content) })
            }
            Some(_) | None => Err(Error::invalid(problems)),
        }
    }

    /// Where endpoints must not be. The one for tests may be on this machine if webhooks may; the live one never.
    pub(super) fn places_refused(&self, manifest: &Manifest) -> Vec<FieldProblem> {
        let mut problems = Vec::new();
        for (mode, name) in [(Mode::Sandbox, "sandbox"), (Mode::Live, "live")] {
            let Some(url) = manifest.provider(mode).and_then(|provider| provider.base_url.as_deref()) else { continue };
            let mut guard = self.config.webhook_guard.clone();
            guard.insecure_loopback &= mode == Mode::Sandbox;
            if let Err(refusal) = guard.check_url(url) {
                problems.push(FieldProblem::new(format!("/manifest/{name}/base_url"), "url_refused", refusal.to_string()));
            }
            // Some rails are told further addresses, such as where access tokens are issued.
            let settings = manifest.provider(mode).into_iter().flat_map(|provider| &provider.settings);
            for (setting, value) in settings.filter(|(_, value)| value.starts_with("http://") || value.starts_with("https://")) {
                if let Err(refusal) = guard.check_url(value) {
                    let place = format!("/manifest/settings{}", pointer(setting));
                    problems.push(FieldProblem::new(place, "url_refused", refusal.to_string()));
                }
            }
        }
        problems
    }
}

impl Command for WriteBundle {
    type Output = BundleRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let by = BundleBy::Partner(self.caller, self.key);
        match self.bundle {
            None => {
                let bundle = self.fresh(d)?;
                self.require_space(d, bundle.no, bundle.bytes, true)?;
                self.keep(d, bundle.no, 1);
                Ok(begin(d, bundle, Step::of(BundleStepKind::Created, by, BundleStatus::Draft).data(self.facts())))
            }
            Some((id, expected)) => {
                let bundle = by.find(d, id)?;
                require_version(&bundle, expected)?;
                let status = next(&bundle, BundleInput::Edit)?;
                require_room(&bundle)?;
                let dropped = if was_submitted(d, &bundle)? { 0 } else { drop_revision(d, &bundle)? };
                let bytes = bundle.bytes - dropped + self.content.bytes;
                self.require_space(d, bundle.no, bytes, false)?;
                let revision = bundle.revision + 1;
                self.keep(d, bundle.no, revision);
                let sealed = match &self.content.given.secrets {
                    Some(secrets) => sealed(d, bundle.no, secrets)?,
                    None => bundle.sealed.clone(),
                };
                let (provider, release) = (self.content.provider.clone(), self.content.release.clone());
                let bundle = BundleRecord { provider, release, revision, digest: self.content.digest, bytes, sealed, ..bundle };
                Ok(take(d, bundle, Step::of(BundleStepKind::Edited, by, status).data(self.facts())))
            }
        }
    }

    fn touched(_: &BundleRecord) -> usize {
        // Its documents are as much as a group should have.
        100
    }

    fn deed(&self, done: Option<&BundleRecord>) -> Option<Deed> {
        let action = if self.bundle.is_some() { AuditAction::EditBundle } else { AuditAction::CreateBundle };
        let id = done.map(|bundle| bundle.id).or(self.bundle.map(|(id, _)| id));
        let name = id.map_or_else(|| self.content.provider.clone(), bundle_name);
        Some(Deed::new(action).name(name).detail(self.facts().to_string()))
    }
}

impl Answers for WriteBundle {
    type View = BundleView;

    fn view(&self, d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<BundleView> {
        // The parts were just written, and nothing is stored yet.
        d.engine.written_view(bundle, &self.content.given, self.key, d.overlay.now)
    }
}

impl WriteBundle {
    fn facts(&self) -> serde_json::Value {
        json!({ "digest": crate::trace::hex(&self.content.digest), "release": self.content.release })
    }

    fn fresh(&self, d: &mut Decision<'_, '_>) -> Result<BundleRecord> {
        let now = d.overlay.now;
        let no = d.writer.journal().0;
        let sealed = match &self.content.given.secrets {
            Some(secrets) => sealed(d, no, secrets)?,
            None => Vec::new(),
        };
        Ok(BundleRecord {
            no,
            id: d.engine.fresh_ulid(now),
            client: self.caller.client,
            mode: self.caller.mode,
            status: BundleStatus::Draft,
            provider: self.content.provider.clone(),
            release: self.content.release.clone(),
            revision: 1,
            digest: self.content.digest,
            bytes: self.content.bytes,
            steps: 0,
            head: [0; 32],
            submission: 0,
            report: 0,
            sealed,
            in_sandbox: false,
            in_live: false,
            publishing: None,
            with_routes: false,
            conformance: None,
            due: None,
            owner: 0,
            tries: 0,
            created_at: now,
            updated_at: now,
            version: Version::default(),
        })
    }

    /// Writes the manifest and the documents.
    fn keep(&self, d: &mut Decision<'_, '_>, bundle: i64, revision: u32) {
        let (key, at) = (self.key, d.overlay.now);
        let given = &self.content.given;
        let part = |n: u16, name: &str, digest: Digest32, content: &[u8]| BundlePartRecord {
            bundle,
            revision,
            n,
            name: name.to_owned(),
            digest,
            key,
            at,
            content: content.to_vec(),
        };
        d.overlay.insert(part(0, MANIFEST, self.content.digest, given.manifest.as_bytes()));
        for (n, document) in (1..).zip(&given.documents) {
            d.overlay.insert(part(n, &document.name, Sha256::digest(&document.content).into(), &document.content));
        }
    }

    /// Refuses more than what is kept for one client. `bytes` is what the bundle `no` has from now on.
    fn require_space(&self, d: &Decision<'_, '_>, no: i64, bytes: i64, is_new: bool) -> Result<()> {
        let Caller { client, mode, .. } = self.caller;
        let stored: Vec<BundleRecord> = typed_all(d.overlay.store.scan(&Scan::bundles_of(client, mode, i64::MAX, BUNDLES_MAX + 1))?)?;
        let made = d.overlay.inserted().filter_map(|record| if let Record::Bundle(it) = record { Some(it.clone()) } else { None });
        let made = made.filter(|it| (it.client, it.mode) == (client, mode));
        let others: Vec<BundleRecord> = stored.into_iter().chain(made).filter(|it| it.no != no).collect();
        let open = others.iter().filter(|it| !it.status.is_final()).count();
        let kept: i64 = others.iter().map(|it| it.bytes).sum::<i64>().saturating_add(bytes);
        let said = if is_new && open >= OPEN_MAX {
            format!("{open} bundles are open already, the maximum")
        } else if is_new && others.len() >= BUNDLES_MAX {
            format!("there are {BUNDLES_MAX} bundles already, the maximum")
        } else if kept > KEPT_MAX {
            "all revisions of all bundles may have 100 MiB in all".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::with(ErrorCode::TooManyBundles, said))
    }
}

fn sealed(d: &Decision<'_, '_>, no: i64, secrets: &BundleSecretsBody) -> Result<Vec<u8>> {
    let is_empty = |part: &Option<crate::api::SecretTexts>| part.as_ref().is_none_or(|it| it.0.is_empty());
    if is_empty(&secrets.sandbox) && is_empty(&secrets.live) {
        return Ok(Vec::new());
    }
    let plain = serde_json::to_vec(secrets).map(Zeroizing::new).map_err(Error::internal)?;
    d.engine.seal(&place(no), &plain).ok_or_else(|| Error::internal("there is no master key to seal a bundle's secrets with"))
}

/// Whether the last revision was submitted: then it stays.
fn was_submitted(d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<bool> {
    if bundle.submission == 0 {
        return Ok(false);
    }
    let step: Option<BundleStepRecord> = d.overlay.get(&Key::BundleStep((bundle.no, bundle.submission)))?;
    Ok(step.is_some_and(|step| step.revision == bundle.revision))
}

/// Removes the last revision, which nobody but its partner has seen. Returns how many bytes it had.
fn drop_revision(d: &mut Decision<'_, '_>, bundle: &BundleRecord) -> Result<i64> {
    let stored: Vec<BundlePartRecord> = typed_all(d.overlay.store.scan(&Scan::bundle_parts(bundle.no, bundle.revision))?)?;
    let mut bytes = 0;
    for part in stored.iter().filter(|part| part.n != REPORT) {
        bytes += i64::try_from(part.content.len()).unwrap_or(i64::MAX);
        d.overlay.write(Write::Delete(Key::BundlePart((part.bundle, part.revision, part.n))));
    }
    Ok(bytes)
}
