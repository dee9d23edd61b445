//! An operator decides about something that needs review.

use serde_json::json;

use crate::engine::dispatch::Said;
use crate::engine::group::{Command, Decision, Deed, Prefetch};
use crate::engine::settlement::{Change, Note};
use crate::error::{Error, ErrorCode, Result, excerpt};
use crate::ids::{ClientNo, KeyNo, SettlementNo, Ulid};
use crate::lifecycle::review::{self, Next, Resolution};
use crate::rail::{FailureCode, RailAnswer};
use crate::store::record::{Actor, AuditAction, EventType, Key, ReversalRecord, ReviewReason, SettlementRecord};
use crate::store::{Lookup, Write};
use crate::trace::settlement_ulid;
use crate::validate::evidence;

use super::queue::{Mark, reviews_of};

/// Decides about a settlement that needs review, or about one of its reversals.
///
/// A confirmed outcome changes the attempt or reversal, the settlement and its money as if the rail had reported it, with an operator
/// as the actor. If the rail later reports something else, that is a discrepancy, as after an answer of the rail.
#[derive(Debug, Clone)]
pub struct ResolveReview {
    /// The settlement's id.
    pub settlement: Ulid,
    /// The number of its reversal, from 1, if the decision is about one; `None` for the settlement itself.
    pub reversal: Option<u16>,
    /// The decision.
    pub resolution: Resolution,
    /// What proves it, for the audit trail: 1 to 500 printable characters. Clients never see it.
    pub evidence: String,
    /// The version of the settlement that the operator has seen; `None` for whichever there is.
    pub expected: Option<u32>,
}

/// The output of a [`ResolveReview`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewed {
    /// The settlement's number.
    pub settlement: SettlementNo,
    /// The client that owns it.
    pub client: ClientNo,
}

impl Command for ResolveReview {
    type Output = Reviewed;

    /// A repeat finds that nothing waits any more; but putting off twice puts off longer.
    fn is_repeatable(&self) -> bool {
        self.resolution != Resolution::KeepWaiting
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Reviewed> {
        evidence(&self.evidence)?;
        let no = d.engine.id_key.open(self.settlement);
        let record: Option<SettlementRecord> = d.overlay.get(&Key::Settlement(no))?;
        let record = record.filter(|record| settlement_ulid(&d.engine.id_key, record) == self.settlement);
        let record = record.ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))?;
        if let Some(expected) = self.expected.filter(|expected| *expected != record.version) {
            let said = format!("it changed after you looked at it: it is at version {} now, not {expected}", record.version);
            return Err(Error::with(ErrorCode::VersionConflict, said));
        }
        let reviewed = Reviewed { settlement: no, client: record.client };
        let change = Change::of(d.engine, record, d.overlay.now);
        match self.reversal {
            None => self.settlement(d, change)?,
            Some(n) => self.reversal(d, change, n)?,
        }
        Ok(reviewed)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        let no = prefetch.engine.id_key.open(self.settlement);
        prefetch.add([Key::Settlement(no)].into_iter().chain(self.reversal.map(|n| Key::Reversal((no, n)))).map(Lookup::Get));
    }

    fn deed(&self, done: Option<&Reviewed>) -> Option<Deed> {
        // What is not valid is recorded too, but not at any length.
        let evidence = evidence(&self.evidence).unwrap_or_else(|_| excerpt(&self.evidence).into_owned());
        let mut detail = json!({ "evidence": evidence, "resolution": self.resolution.as_str() });
        if let Some(n) = self.reversal {
            detail["reversal"] = n.into();
        }
        let deed = Deed::new(AuditAction::ResolveReview).name(format!("stl_{}", self.settlement)).detail(detail.to_string());
        Some(match done {
            Some(done) => deed.target(done.settlement.0).of(done.client, KeyNo(0)),
            None => deed,
        })
    }
}

impl ResolveReview {
    /// Decides about the settlement itself.
    fn settlement(&self, d: &mut Decision<'_, '_>, mut change: Change<'_>) -> Result<()> {
        let (no, status) = (change.record.no, change.record.status);
        let rows = reviews_of(d.overlay, no)?;
        if !change.record.needs_review && !mutated!(ReviewedTwice) {
            return Err(not_waiting(format!("the settlement is {} and does not wait for a person", status.as_str())));
        }
        if let Some(n) = rows.keys().next().filter(|_| !rows.contains_key(&0)) {
            return Err(not_waiting(format!("its reversal {n} waits for a person, not the settlement itself")));
        }
        let next = review::settlement(status, self.resolution);
        let answer = match next {
            Next::Completed | Next::Failed => {
                let attempt = d.engine.attempt(d.overlay, no, change.record.attempts)?;
                // Whoever decides has seen what the statement says.
                if rows.get(&0).is_some_and(|row| row.reason == ReviewReason::InStatement) {
                    change.mark(Mark::Close(0));
                }
                if !attempt.status.is_open() {
                    let said = "its last attempt has failed and the next one has not left yet: there is no outcome to confirm";
                    return Err(Error::with(ErrorCode::InvalidState, said));
                }
                Some(attempt)
            }
            Next::Cleared => {
                change.mark(Mark::Close(0));
                None
            }
            Next::KeepWaiting => {
                change.mark(Mark::PutOff(0));
                None
            }
            Next::Refuse => return Err(self.refused("settlement", status.as_str(), |it| review::settlement(status, it))),
        };
        self.note(d, &mut change, None);
        match answer {
            Some(attempt) => {
                let said = Said { answer: &confirmed(next), by: Actor::Operator };
                d.engine.attempt_answered(d.overlay, d.writer, change, attempt, said).map(drop)
            }
            None => change.update(d.overlay).map(drop),
        }
    }

    /// Decides about the reversal `n`.
    fn reversal(&self, d: &mut Decision<'_, '_>, mut change: Change<'_>, n: u16) -> Result<()> {
        let no = change.record.no;
        let found: Option<ReversalRecord> = if n == 0 { None } else { d.overlay.get(&Key::Reversal((no, n)))? };
        let mut reversal = found.ok_or_else(|| Error::new(ErrorCode::ReversalNotFound))?;
        let status = reversal.status;
        if !reversal.needs_review {
            return Err(not_waiting(format!("the reversal is {} and does not wait for a person", status.as_str())));
        }
        let next = review::reversal(status, self.resolution);
        match next {
            Next::Completed | Next::Failed => {}
            Next::Cleared => change.mark(Mark::Close(n)),
            Next::KeepWaiting => change.mark(Mark::PutOff(n)),
            Next::Refuse => return Err(self.refused("reversal", status.as_str(), |it| review::reversal(status, it))),
        }
        self.note(d, &mut change, Some(&reversal));
        match next {
            Next::Completed | Next::Failed => {
                let said = Said { answer: &confirmed(next), by: Actor::Operator };
                return d.engine.reversal_answered(d.overlay, change, reversal, said).map(drop);
            }
            Next::Cleared => {
                reversal.needs_review = false;
                change.write(Write::Replace(reversal.into()));
            }
            Next::KeepWaiting | Next::Refuse => {}
        }
        change.update(d.overlay).map(drop)
    }

    /// Adds the event: the decision, but not the evidence, which is not for clients.
    fn note(&self, d: &Decision<'_, '_>, change: &mut Change<'_>, reversal: Option<&ReversalRecord>) {
        let state = change.record.status.name();
        let resolution = self.resolution.as_str();
        let data = match reversal {
            None => format!(r#"{{"resolution":"{resolution}"}}"#),
            Some(reversal) => format!(r#"{{"resolution":"{resolution}","reversal":"rev_{}"}}"#, d.engine.reversal_ulid(reversal)),
        };
        change.event(EventType::SettlementReviewed, Note::new(Some(state), state, Actor::Operator).data(data));
    }

    /// Why the resolution does not fit, and which ones do.
    fn refused(&self, what: &str, status: &str, next: impl Fn(Resolution) -> Next) -> Error {
        let fits: Vec<&str> = Resolution::ALL.iter().filter(|it| next(**it) != Next::Refuse).map(|it| it.as_str()).collect();
        let said = format!("the {what} is {status}: {} does not fit, only {}", self.resolution.as_str(), fits.join(", "));
        Error::with(ErrorCode::InvalidState, said)
    }
}

/// The answer of a rail that would have the same outcome.
const fn confirmed(next: Next) -> RailAnswer {
    match next {
        Next::Completed => RailAnswer::Completed { rail_reference: None },
        Next::Failed => RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: false, rail_code: None },
        Next::Cleared | Next::KeepWaiting | Next::Refuse => RailAnswer::Unknown,
    }
}

fn not_waiting(said: String) -> Error {
    Error::with(ErrorCode::ReviewNotFound, said)
}
