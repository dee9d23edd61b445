//! Verifies that the credit in the terms of clients and what clients were told of it agree.

use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::ids::ClientNo;
use crate::ledger::{AccountId, Mode, Owner};
use crate::money::{Currency, Money};
use crate::store::record::{MovementKind, MovementRecord, RecordKind, SetupRecord, SetupSubject};
use crate::store::{Scan, Store, typed_all};
use crate::terms::Terms;
use crate::validate::terms::parse_terms;

use super::{VerifyReport, movements};

/// The terms of all clients that there ever were, in order of their versions.
fn terms(store: &dyn Store) -> Result<Vec<(ClientNo, i64, Terms)>> {
    let rows: Vec<SetupRecord> = typed_all(store.scan(&Scan::all(RecordKind::Setup, usize::MAX))?)?;
    let of_clients = rows.into_iter().filter(|row| row.subject == SetupSubject::Terms);
    Ok(of_clients.filter_map(|row| Some((row.client?, row.revision, parse_terms(row.document.as_bytes()).ok()?.terms))).collect())
}

/// The most credit that each account ever had: it may be lower by now, or withdrawn.
pub(super) fn most(store: &dyn Store) -> Result<BTreeMap<AccountId, i64>> {
    let mut most = BTreeMap::new();
    for (client, _, terms) in terms(store)? {
        for credit in terms.credit {
            let granted = most.entry(AccountId::new(Owner::Client(client), Mode::Live, credit.currency())).or_default();
            *granted = credit.minor().max(*granted);
        }
    }
    Ok(most)
}

/// What the terms say, compared with what each change of credit says.
pub(super) struct CreditCheck {
    /// By client and version.
    terms: HashMap<(ClientNo, i64), Terms>,
    /// The changes that no movement was found for: by version, client and currency, from what to what.
    untold: BTreeMap<(i64, ClientNo, Currency), (Money, Money)>,
    /// The first version that a client was told of. Before there were such events, nobody was.
    first: i64,
}

impl CreditCheck {
    pub(super) fn begin(store: &dyn Store) -> Result<Self> {
        let mut check = Self { terms: HashMap::new(), untold: BTreeMap::new(), first: i64::MAX };
        let (mut in_force, none): (HashMap<ClientNo, i64>, _) = (HashMap::new(), Terms::default());
        for (client, version, terms) in terms(store)? {
            let before = in_force.insert(client, version).and_then(|version| check.terms.get(&(client, version))).unwrap_or(&none);
            let changes = before.credit_changes(&terms);
            check.untold.extend(changes.into_iter().map(|(from, to)| ((version, client, to.currency()), (from, to))));
            check.terms.insert((client, version), terms);
        }
        Ok(check)
    }

    /// Verifies one movement, if it is a change of credit.
    pub(super) fn movement(&mut self, record: &MovementRecord, report: &mut VerifyReport) {
        match record.kind {
            MovementKind::CreditLine => {}
            MovementKind::Deposit | MovementKind::Withdrawal => return,
        }
        let (version, to) = (record.terms.unwrap_or_default(), record.money());
        let agreed = self.terms.get(&(record.client, version)).is_some_and(|terms| terms.credit(record.mode, to.currency()) == to.minor());
        let is_sound = match record.previous() {
            // Credit that is set to what it was changes nothing in the terms, which may be of before there were such events.
            Some(from) if from == to => agreed,
            Some(from) => {
                self.first = self.first.min(version);
                agreed && self.untold.remove(&(version, record.client, to.currency())) == Some((from, to))
            }
            None => false,
        };
        if !is_sound {
            let message = format!("version {version} of the terms does not make this change, or it was told before");
            report.problem(movements::name(record), "credit_differs", message);
        }
    }

    /// Verifies, after all movements, that none is missing.
    pub(super) fn end(self, report: &mut VerifyReport) {
        for ((version, client, currency), (from, to)) in self.untold.iter().filter(|((version, ..), _)| *version >= self.first) {
            let what = format!("terms of client number {}, version {version}", client.0);
            let message = format!("its credit became {} {currency} instead of {}, and it was not told", to.decimal(), from.decimal());
            report.problem(what, "credit_not_told", message);
        }
    }
}
