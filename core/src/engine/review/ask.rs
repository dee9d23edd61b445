//! Asks the rail about a settlement on behalf of a person who is to decide about it.

use crate::api::Subject;
use crate::engine::settlement::NoteCheck;
use crate::engine::{Engine, Operated};
use crate::error::Result;
use crate::ids::Ulid;
use crate::rail::{Carrier, RailAnswer};

/// What a rail says when it is asked.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Its answers: about the last attempt, then about reversals.
    pub answers: Vec<(Subject, RailAnswer)>,
    /// About how many reversals that are not final it was not asked.
    pub left_out: usize,
}

impl Engine {
    /// Asks the rail now about a settlement of any client and its reversals, and applies the answers, as a client's check would. The
    /// audit trail has the operator's question.
    ///
    /// # Errors
    /// `settlement_not_found`; `internal` if its provider is not configured any more.
    pub fn ask_the_rail(&self, settlement: Ulid, carrier: &dyn Carrier) -> Result<Asked> {
        let record = self.settlement_of_any(settlement)?;
        self.run(Operated(NoteCheck(record.no)))?;
        let (answers, left_out) = self.inquire(&record, carrier)?;
        Ok(Asked { answers, left_out })
    }
}
