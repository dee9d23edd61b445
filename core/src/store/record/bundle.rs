//! The records of bundles: what partners describe, and every step of it.

use sha2::{Digest as _, Sha256};

use super::{Actor, BundleRecord, BundleStepRecord, EventType};
use crate::ids::SettlementNo;
use crate::lifecycle::stored_enum;
use crate::trace::hex;

stored_enum! {
    /// How the test of a bundle's sandbox endpoint is.
    pub enum ConformanceStatus {
        /// It waits for a server.
        Waiting = 1 "waiting",
        /// A server makes it.
        Running = 2 "running",
        /// No check failed.
        Passed = 3 "passed",
        /// A check failed.
        Failed = 4 "failed",
    }
}

stored_enum! {
    /// What a step of a bundle's timeline is about.
    pub enum BundleStepKind {
        /// Its partner made it.
        Created = 1 "bundle.created",
        /// Its partner replaced its content.
        Edited = 2 "bundle.edited",
        /// Its partner asked for a review.
        Submitted = 3 "bundle.submitted",
        /// Its partner withdrew it.
        Withdrawn = 4 "bundle.withdrawn",
        /// A reviewer began.
        InReview = 5 "bundle.in_review",
        /// A reviewer approved it.
        Approved = 6 "bundle.approved",
        /// A reviewer rejected it.
        Rejected = 7 "bundle.rejected",
        /// A reviewer asked for changes.
        ChangesRequested = 8 "bundle.changes_requested",
        /// Somebody said something about it.
        Commented = 9 "bundle.commented",
        /// Its sandbox endpoint was tested.
        Tested = 10 "bundle.tested",
        /// An operator asked for its publication, which a test precedes.
        PublicationAsked = 11 "bundle.publication_asked",
        /// It was published in the sandbox or live.
        Published = 12 "bundle.published",
        /// It was not published.
        PublicationFailed = 13 "bundle.publication_failed",
        /// An operator revoked it.
        Revoked = 14 "bundle.revoked",
        /// A later version took its place, in the sandbox or live.
        Superseded = 15 "bundle.superseded",
        /// Somebody asked for another test.
        TestAsked = 16 "bundle.test_asked",
    }
}

impl BundleStepKind {
    /// The event that its partner is told.
    pub(crate) const fn event(self) -> EventType {
        match self {
            Self::Created => EventType::BundleCreated,
            Self::Edited => EventType::BundleEdited,
            Self::Submitted => EventType::BundleSubmitted,
            Self::Withdrawn => EventType::BundleWithdrawn,
            Self::InReview => EventType::BundleInReview,
            Self::Approved => EventType::BundleApproved,
            Self::Rejected => EventType::BundleRejected,
            Self::ChangesRequested => EventType::BundleChangesRequested,
            Self::Commented => EventType::BundleCommented,
            Self::Tested => EventType::BundleTested,
            Self::PublicationAsked => EventType::BundlePublicationAsked,
            Self::Published => EventType::BundlePublished,
            Self::PublicationFailed => EventType::BundlePublicationFailed,
            Self::Revoked => EventType::BundleRevoked,
            Self::Superseded => EventType::BundleSuperseded,
            Self::TestAsked => EventType::BundleTestAsked,
        }
    }
}

impl BundleRecord {
    /// The number under which its events are stored, one that no settlement has.
    pub(crate) const fn journal(&self) -> SettlementNo {
        SettlementNo(self.no)
    }
}

impl BundleStepRecord {
    /// Who took it.
    pub(crate) fn actor(&self) -> Actor {
        match (self.by.0, self.by.operator()) {
            (0, _) => Actor::System,
            (_, Some(_)) => Actor::Operator,
            (_, None) => Actor::Client,
        }
    }

    /// The `data` of its event, in canonical form; `digest` is that of the step's revision, in hexadecimal digits. The feed is read
    /// with fewer rights than the timeline: what was said is covered, and not shown.
    pub(crate) fn told(&self, digest: &str) -> String {
        let (from, to, revision) = (self.from.as_str(), self.to.as_str(), self.revision);
        let [comment, data] = [&self.comment, &self.data].map(|text| text.as_deref().unwrap_or_default());
        let said = hex(&Sha256::digest(format!("{comment}\n{data}\n")));
        format!(r#"{{"bundle":{{"digest":"{digest}","from":"{from}","revision":{revision},"said_sha256":"{said}","to":"{to}"}}}}"#)
    }
}
