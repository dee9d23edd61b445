//! What a group of commands is about to read, looked up in one journey where the store is on another machine.
//!
//! Nothing depends on it: what is not looked up here is read when it is needed.

use std::collections::{HashMap, HashSet};

use crate::api::{Command, SignedBy, Subject, Target};
use crate::error::Result;
use crate::ledger::{AccountId, Mode, Owner};
use crate::store::record::{Key, Record, TaskKind, TaskRecord};
use crate::store::{Lookup, Scan, Unique};

use super::Engine;
use super::create::mode_of;
use super::overlay::Overlay;
use super::simulate::sim_payment;

impl Engine {
    /// Looks up what the commands will read first.
    pub(super) fn look_ahead(&self, overlay: &mut Overlay<'_>, commands: &[Command]) -> Result<()> {
        if !overlay.store.is_remote() {
            return Ok(());
        }
        let mut wanted = Vec::with_capacity(2 * commands.len());
        for command in commands {
            self.reads_of(command, &mut wanted);
        }
        overlay.look_up(wanted)
    }

    fn reads_of(&self, command: &Command, wanted: &mut Vec<Lookup>) {
        match command {
            Command::Create { caller, request } => {
                let mode = mode_of(caller, request).unwrap_or(caller.mode);
                wanted.push(account(Owner::Client(caller.client), mode, request.money.currency()));
            }
            Command::Signed { by, command } => {
                wanted.extend(standing(by, command));
                self.reads_of(command, wanted);
            }
            Command::Reverse { caller, target, idempotency, .. } => {
                wanted.push(match target {
                    Target::Reference(reference) => Lookup::Find(Unique::SettlementReference(caller.client, reference.as_str().to_owned())),
                    Target::Id(id) => Lookup::Get(Key::Settlement(self.id_key.open(*id))),
                });
                wanted.extend(idempotency.iter().map(|key| Lookup::Get(Key::Idempotency((caller.client, key.key.clone())))));
            }
            Command::Answer { subject, lease, .. } => {
                wanted.extend(lease.iter().map(|key| Lookup::Get(Key::Task(*key))));
                wanted.extend(subject_of(*subject));
            }
            Command::Simulate(call) => wanted.push(Lookup::Get(Key::SimPayment(sim_payment(call.subject)))),
            Command::Delivered { endpoint, tries } => {
                wanted.extend(tries.iter().map(|tried| Lookup::Get(Key::Delivery(tried.delivery))));
                wanted.extend([Lookup::Get(Key::Endpoint(*endpoint)), Lookup::Get(Key::Queue(*endpoint))]);
            }
            Command::Fund { caller, money } => wanted.push(account(Owner::Client(caller.client), Mode::Sandbox, money.currency())),
            Command::Enroll { .. }
            | Command::EnrollLive { .. }
            | Command::IssueToken { .. }
            | Command::RevokeToken { .. }
            | Command::AddKey { .. }
            | Command::RevokeKey { .. }
            | Command::Note { .. }
            | Command::Operate(_)
            | Command::Lease { .. }
            | Command::Log { .. }
            | Command::Webhook { .. }
            | Command::LeaseQueues { .. }
            | Command::Tested { .. }
            | Command::Recover
            | Command::Release
            | Command::Maintain => {}
        }
    }
}

/// What was looked up; nothing of it is there unless somebody looks ahead.
pub(super) trait Known {
    /// What is known of a record under its primary key.
    fn get(&self, key: &Key) -> Option<Vec<Record>>;
    /// What is known of a record under a further unique key.
    fn find(&self, unique: &Unique) -> Option<Vec<Record>>;
    /// What is known of a page.
    fn scan(&self, scan: &Scan) -> Option<Vec<Record>>;
    /// Whether this was looked up.
    fn has(&self, lookup: &Lookup) -> bool;
    /// Takes over what was found.
    fn learn(&mut self, wanted: Vec<Lookup>, found: Vec<Vec<Record>>);
}

#[derive(Default)]
struct LookedUp(HashMap<Lookup, Vec<Record>>);

impl Known for LookedUp {
    fn get(&self, key: &Key) -> Option<Vec<Record>> {
        self.0.get(&Lookup::Get(key.clone())).cloned()
    }

    fn find(&self, unique: &Unique) -> Option<Vec<Record>> {
        self.0.get(&Lookup::Find(unique.clone())).cloned()
    }

    fn scan(&self, scan: &Scan) -> Option<Vec<Record>> {
        self.0.get(&Lookup::Scan(scan.clone())).cloned()
    }

    fn has(&self, lookup: &Lookup) -> bool {
        self.0.contains_key(lookup)
    }

    fn learn(&mut self, wanted: Vec<Lookup>, found: Vec<Vec<Record>>) {
        self.0.extend(wanted.into_iter().zip(found));
    }
}

impl Overlay<'_> {
    /// Looks up at once what is about to be read one by one, where each read is a journey. Settlements come first: their
    /// children are written without a condition of their own, so that a child may be newer than its settlement, whose version
    /// then refuses the commit, but never older. What cannot be read in company is read alone when it is needed.
    pub(super) fn look_up(&mut self, wanted: impl IntoIterator<Item = Lookup>) -> Result<()> {
        if !self.store.is_remote() {
            return Ok(());
        }
        let mut seen = HashSet::new();
        let mut new = |lookup: &Lookup| match lookup {
            Lookup::Get(key) if self.touched(key) => false,
            Lookup::Get(_) | Lookup::Find(_) | Lookup::Scan(_) => {
                !self.looked_up.as_ref().is_some_and(|known| known.has(lookup)) && seen.insert(lookup.clone())
            }
        };
        let mut wanted: Vec<Lookup> = wanted.into_iter().filter(|lookup| new(lookup)).collect();
        wanted.sort_by_key(|lookup| !matches!(lookup, Lookup::Get(Key::Settlement(_)) | Lookup::Find(Unique::SettlementReference(..))));
        if wanted.len() < 2 {
            return Ok(());
        }
        match self.store.look_up(&wanted) {
            Ok(found) => self.looked_up.get_or_insert_with(|| Box::new(LookedUp::default())).learn(wanted, found),
            Err(error) if error.retryable => return Err(error.into()),
            // Damage is the affair of who comes across it, not of all who are in this group.
            Err(_) => {}
        }
        Ok(())
    }
}

/// What is read of tasks that are about to be leased.
pub(super) fn of_tasks(tasks: &[TaskRecord]) -> impl Iterator<Item = Lookup> + '_ {
    tasks.iter().flat_map(|task| {
        let (no, n) = (task.settlement, task.child);
        subject_of(match task.kind {
            TaskKind::Dispatch | TaskKind::Inquire | TaskKind::SimulatorCallback => Subject::Attempt(no, n),
            TaskKind::Reverse | TaskKind::InquireReversal => Subject::Reversal(no, n),
        })
    })
}

fn subject_of(subject: Subject) -> [Lookup; 2] {
    match subject {
        Subject::Attempt(no, n) => [Lookup::Get(Key::Settlement(no)), Lookup::Get(Key::Attempt((no, n)))],
        Subject::Reversal(no, n) => [Lookup::Get(Key::Settlement(no)), Lookup::Get(Key::Reversal((no, n)))],
    }
}

/// Whether the signer still may, and whether this very call was decided before.
fn standing(by: &SignedBy, command: &Command) -> Vec<Lookup> {
    let mut wanted = vec![Lookup::Get(Key::Nonce(by.nonce.hash))];
    if !matches!(command, Command::Create { .. }) {
        wanted.extend([Lookup::Get(Key::Key(by.key)), Lookup::Get(Key::Client(by.client))]);
    }
    wanted
}

fn account(owner: Owner, mode: Mode, currency: crate::money::Currency) -> Lookup {
    Lookup::Get(Key::Account(AccountId::new(owner, mode, currency)))
}
