//! What a client remarks on its settlements.

use crate::api::{Caller, Target};
use crate::engine::group::{Command, Decision};
use crate::error::Result;
use crate::store::Write;
use crate::store::record::{Key, RemarkRecord};

/// Keeps a remark on a settlement, in place of an earlier one.
#[derive(Debug, Clone)]
pub struct Remark {
    /// The client that makes it.
    pub caller: Caller,
    /// The settlement.
    pub target: Target,
    /// What is remarked.
    pub text: String,
}

impl Command for Remark {
    type Output = RemarkRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<RemarkRecord> {
        let settlement = d.engine.find_target(d.overlay, &self.caller, &self.target)?.no;
        let remark = RemarkRecord { settlement, text: self.text.clone(), at: d.overlay.now };
        let earlier: Option<RemarkRecord> = d.overlay.get(&Key::Remark(settlement))?;
        let record = remark.clone().into();
        d.overlay.write(if earlier.is_some() { Write::Replace(record) } else { Write::Insert(record) });
        Ok(remark)
    }
}
