//! The credit of a client's live account: how an operator sets it, and what its client is told wherever it changes.

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::money::{Moved, deed, made_before, make};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::participant::Reference;
use crate::store::Unique;
use crate::store::record::{ClientRecord, MovementKind, MovementRecord, ReferenceKind};
use crate::validate::evidence;

use super::agree::{Replaced, agreed, put};
use super::put::Rows;
use super::show::terms_of;

/// Sets how far below zero the available money of a client's live account may fall: once for each reference. The rest of its terms stays
/// as it is.
///
/// Credit that is set to what it is already is recorded and told like any other.
#[derive(Debug, Clone)]
pub struct SetCredit {
    /// The client's id.
    pub client: Ulid,
    /// The credit from now on; zero for none.
    pub credit: Money,
    /// The operator's reference, unique for each client, also among deposits and withdrawals: a repeat of the same change changes nothing.
    pub reference: Reference,
    /// What proves it, such as the paragraph of a contract: 1 to 500 printable characters.
    pub evidence: String,
    /// The version of the terms that it changes; `None` for whichever there is.
    pub expected: Option<i64>,
    /// Why, for the record.
    pub reason: Option<String>,
}

impl Command for SetCredit {
    type Output = Moved;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Moved> {
        let evidence = evidence(&self.evidence)?;
        let Self { credit, reference, .. } = self;
        if credit.minor() < 0 {
            return Err(Error::field("/credit", "out_of_range", "must be zero or more"));
        }
        let client: ClientRecord = d.overlay.find(&Unique::ClientId(self.client))?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?;
        let asked = (MovementKind::CreditLine, *credit, evidence.as_str());
        if let Some(movement) = made_before(d.overlay, client.no, reference, asked)? {
            return Ok(Moved { movement, client, replayed: true });
        }
        d.engine.require_unused(d.overlay, client.no, ReferenceKind::Movement, reference.as_str())?;
        let mut rows = Rows::read(d.overlay)?;
        let mut terms = agreed(&rows, client.no)?;
        let previous = terms.credit(Mode::Live, credit.currency());
        terms.credit.retain(|it| it.currency() != credit.currency());
        terms.credit.extend(Some(*credit).filter(|credit| credit.minor() > 0));
        let replaced = put(d.overlay, &mut rows, &terms_of(self.client, &terms), self.expected, self.reason.as_deref())?;
        let movement = line(d, &replaced, (previous, *credit), (reference.clone(), evidence));
        make(d, &movement);
        Ok(Moved { movement, client, replayed: false })
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn is_replay(moved: &Moved) -> bool {
        moved.replayed
    }

    fn deed(&self, done: Option<&Moved>) -> Option<Deed> {
        Some(match done {
            Some(moved) => moved.movement.deed(),
            None => deed(MovementKind::CreditLine, &self.reference, self.credit),
        })
    }
}

/// Tells a client of the credit that its new terms change, with the version of the terms as its reference. They were replaced whole, so
/// nobody gave evidence.
pub(super) fn tell(d: &mut Decision<'_, '_>, replaced: &Replaced) -> Result<()> {
    for (previous, credit) in replaced.before.credit_changes(&replaced.after) {
        let reference = unused(d.overlay, replaced, credit.currency())?;
        let movement = line(d, replaced, (previous.minor(), credit), (reference, String::new()));
        make(d, &movement);
        d.record(movement.deed(), None, None);
    }
    Ok(())
}

/// The reference of what a version of the terms changes. An operator may have given it to something else: then it is numbered.
fn unused(overlay: &Overlay<'_>, replaced: &Replaced, currency: Currency) -> Result<Reference> {
    let first = format!("terms-{}-{currency}", replaced.version);
    let mut text = first.clone();
    for n in 2.. {
        let taken: Option<MovementRecord> = overlay.find(&Unique::MovementReference(replaced.client.no, text.clone()))?;
        if taken.is_none() {
            break;
        }
        text = format!("{first}-{n}");
    }
    Ok(Reference::from_stored(text))
}

fn line(
    d: &mut Decision<'_, '_>,
    replaced: &Replaced,
    (previous, credit): (i64, Money),
    (reference, evidence): (Reference, String),
) -> MovementRecord {
    MovementRecord {
        journal: d.writer.journal(),
        client: replaced.client.no,
        reference,
        kind: MovementKind::CreditLine,
        mode: Mode::Live,
        currency: credit.currency(),
        amount: credit.minor(),
        evidence,
        at: d.overlay.now,
        previous: Some(previous),
        terms: Some(replaced.version),
    }
}
