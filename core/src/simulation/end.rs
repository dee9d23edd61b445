//! How a world comes to its end, and what must be so then.

use std::collections::BTreeMap;

use crate::api::Caller;
use crate::engine::verify::verify;
use crate::env::Env as _;
use crate::ledger::Mode;

use super::model::Verdict;
use super::rails::Operator;
use super::random::Random;
use super::store::Calm;
use super::world::{DAY, World, cents, fault};

/// After how many turns a world that nobody disturbs any more must have come to its end.
pub(super) const TURNS: u32 = 100_000;
pub(super) const ENDLESS: &str = "something goes on for ever";

impl World<'_> {
    /// Ends everything that is under way: nothing is disturbed any more, everybody answers the truth, and time passes.
    pub(super) fn settle(&mut self) -> Verdict {
        self.step = self.plan.steps;
        self.random = Random::of(self.plan.seed, u64::MAX - 1);
        self.store.arm(None);
        self.store.calm();
        self.store.confirm();
        self.calm = true;
        (self.races, self.raced) = (false, false);
        self.nodes.iter().for_each(|node| node.clock.set_right());
        let end = self.env.now() + 60 * DAY;
        let mut told = false;
        for _ in 0..TURNS {
            if self.env.now() >= end {
                return self.settle_webhooks();
            }
            if !(self.wire.is_empty() && self.late.is_empty()) {
                self.deliver()?;
                continue;
            }
            let before = self.store.commits();
            self.lease(64)?;
            if !self.wire.is_empty() || self.store.commits() > before {
                continue;
            }
            // Also what they took after they were well behaved.
            if self.operators.iter_mut().map(Operator::finish).max() == Some(true) || !told {
                told = true;
                self.note_books()?;
                self.call_back_about_all();
                continue;
            }
            if self.resolve_all()? || self.consent_to_all()? {
                continue;
            }
            let Some(due) = self.eye.next_due().map_err(fault)? else { return self.settle_webhooks() };
            self.env.advance_to(due.max(self.env.now() + 1));
        }
        Err(ENDLESS.to_owned())
    }

    /// What must be so once everything has ended.
    pub(super) fn check_end(&mut self) -> Verdict {
        self.look_at_all()?;
        self.model.ends()?;
        self.check_feeds()?;
        self.check_statements()?;
        self.check_webhooks()?;
        self.check_stored()?;
        let report = verify(&Calm(self.store.clone()), &mut |_| {}).map_err(fault)?;
        if !report.is_ok() || report.received_twice > 0 {
            return Err(format!("verification: {:?}, received twice: {}", report.problems, report.received_twice));
        }
        Ok(())
    }

    /// The lines of each client's statement add up to what it has.
    fn check_statements(&self) -> Verdict {
        for (client, customer) in self.customers.iter().enumerate() {
            for mode in [Mode::Sandbox, Mode::Live] {
                let caller = Caller { mode, ..customer.caller };
                let Ok(request) = self.eye.statement_request(&caller, "EUR", (None, None), None, 1_000_000) else { continue };
                let lines = self.eye.statement(&request).map_err(fault)?.data;
                self.model.adds_up(client, mode == Mode::Live, lines.iter().map(|line| cents(line.amount.as_str())).sum())?;
            }
        }
        Ok(())
    }

    /// Each feed has every event of its client and mode once, without gaps, and each of a settlement in order.
    fn check_feeds(&self) -> Verdict {
        for (client, customer) in self.customers.iter().enumerate() {
            for mode in [Mode::Sandbox, Mode::Live] {
                let feed = self.eye.feed(&Caller { mode, ..customer.caller }, 0, 1_000_000).map_err(fault)?;
                let due = self.model.events(client, mode == Mode::Live);
                if !feed.iter().map(|it| it.position).eq(1..=due as i64) {
                    return Err(format!("the {} feed of client {client} has {} events of {due}", mode.as_str(), feed.len()));
                }
                let mut last: BTreeMap<&str, u32> = BTreeMap::new();
                for event in feed.iter().map(|it| &it.event) {
                    let Some(id) = event.settlement_id.as_deref() else { continue };
                    let before = last.insert(id, event.sequence).unwrap_or(0);
                    if event.sequence != before + 1 {
                        return Err(format!("in a feed, event {} of {id} follows {before}", event.sequence));
                    }
                }
            }
        }
        Ok(())
    }
}
