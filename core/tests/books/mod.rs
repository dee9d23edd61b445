//! Payments between two clients: both see their own side, the money moves in one commit, and reversals bring it back or say why not.

mod model;
#[cfg(feature = "testkit")]
mod nodes;
mod payees;
mod reversals;

use std::sync::Arc;

use crate::support::live::in_both_modes;
use crate::support::town::{Town, body, participant, town};
use crate::support::{create, enroll, sealing, target, together};
use railgate::api::Caller;
use railgate::engine::verify;
use railgate::ids::SettlementNo;
use railgate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use railgate::money::Currency;
use railgate::receipt::verify_receipt;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{RecordKind, SettlementMore, SettlementRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write};
use railgate::{Engine, Error, ErrorCode};
use serde_json::json;

fn over_each_store(test: impl Fn(Town)) {
    over_each_store_alone(|store| test(town(store)));
}

fn over_each_store_alone(test: impl Fn(Arc<dyn Store>)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("books.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    stores.into_iter().for_each(test);
}

#[test]
fn both_clients_have_a_settlement_of_their_own() {
    over_each_store(|t| {
        let request = json!({ "amount": "12.50", "currency": "EUR", "to": participant(&t.bob), "reference": "inv-1",
            "description": "Two wheels", "metadata": { "secret": "of Ann" } });
        let paid = t.send(&t.ann, &request.to_string()).unwrap();
        assert_eq!((paid.status.as_str(), paid.direction.as_str(), paid.from.clone()), ("completed", "outgoing", None));
        assert_eq!((paid.provider.as_str(), paid.fee.as_str(), paid.total_debit.as_str()), ("books", "0.00", "12.50"));
        assert_eq!(t.s.store.scan(&Scan::all(RecordKind::Task, 9)).unwrap(), [], "nothing is left to do");

        let got = t.received(&t.bob);
        assert_eq!((got.status.as_str(), got.direction.as_str()), ("completed", "incoming"));
        assert_eq!((got.from.clone(), got.to.to_string()), (Some(participant(&t.ann)), participant(&t.bob)));
        assert_eq!((got.amount.as_str(), got.total_debit.as_str(), got.provider.as_str()), ("12.50", "0.00", "books"));
        assert_eq!((got.description.as_deref(), got.metadata.len(), got.attempts), (Some("Two wheels"), 0, 0));
        assert_eq!((got.reference.as_str(), got.completed_at.is_some()), (got.id.as_str(), true), "its id is its reference");
        assert!(!serde_json::to_string(&got).unwrap().contains("inv-1"), "the payer's reference is the payer's");

        assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("999987.50".to_owned(), "1000012.50".to_owned()));
        let steps = ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"];
        assert_eq!(t.trace(&t.ann, "inv-1"), steps);
        assert_eq!(t.trace(&t.bob, &got.reference), ["settlement.completed"]);
        t.assert_sound();
    });
}

#[test]
fn nobody_sees_the_side_of_somebody_else() {
    over_each_store(|t| {
        let paid = t.pay(&t.ann, &t.bob, "5", "inv-1").unwrap();
        let got = t.received(&t.bob);
        let sees = |caller: &Caller, name: &str| t.engine().settlement(caller, &target(name)).map_err(|error| error.code).is_ok();
        for (name, who) in [(paid.id.as_str(), "ann"), ("inv-1", "ann"), (got.id.as_str(), "bob")] {
            assert_eq!((sees(&t.ann, name), sees(&t.bob, name), sees(&t.eve, name)), (who == "ann", who == "bob", false), "{name}");
        }
        let ids = |caller: &Caller, query: &[(&str, &str)]| t.list(caller, query).into_iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!((ids(&t.ann, &[]), ids(&t.bob, &[]), ids(&t.eve, &[])), (vec![paid.id], vec![got.id], vec![]));
        t.pay(&t.bob, &t.ann, "1", "back").unwrap();
        assert_eq!(ids(&t.bob, &[]).len(), 2, "a list without a filter shows both directions");
        assert_eq!(ids(&t.bob, &[("direction", "incoming")]), [got.id]);
        assert_eq!(ids(&t.ann, &[("direction", "outgoing")]), [paid.id]);
        assert_eq!(ids(&t.bob, &[("reference", &got.reference)]), [got.id]);
        let unknown = t.engine().parse_list(&[("direction".to_owned(), "sideways".to_owned())]).unwrap_err();
        assert_eq!(unknown.fields[0].code, "unknown_value");
        t.assert_sound();
    });
}

#[test]
fn each_has_its_events_its_statement_and_its_receipt() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "7", "inv-1").unwrap();
        t.number();
        let feed = |caller: &Caller| t.engine().feed(caller, 0, 99).unwrap().iter().map(|it| it.event.kind.as_str()).collect::<Vec<_>>();
        assert_eq!((feed(&t.ann).len(), feed(&t.bob), feed(&t.eve).len()), (5, vec!["settlement.completed"], 0));
        let last = |caller: &Caller| {
            let request = t.engine().statement_request(caller, "EUR", (None, None), None, 9).unwrap();
            let line = t.engine().statement(&request).unwrap().data.remove(0);
            (line.amount.as_str().to_owned(), line.balance.as_str().to_owned(), line.reference.unwrap())
        };
        let got = t.received(&t.bob);
        assert_eq!(last(&t.ann), ("-7.00".to_owned(), "999993.00".to_owned(), "inv-1".to_owned()));
        assert_eq!(last(&t.bob), ("7.00".to_owned(), "1000007.00".to_owned(), got.reference.to_string()));
        let keys = t.engine().receipt_jwks().unwrap();
        for (caller, reference) in [(&t.ann, "inv-1"), (&t.bob, got.reference.as_str())] {
            let receipt = t.engine().receipt(caller, &target(reference)).unwrap();
            let claims = verify_receipt(&receipt.jws, &keys).unwrap();
            assert_eq!((claims.reference.as_str(), claims.from.clone()), (reference, format!("cli_{}", t.ann.client_id)));
            assert_eq!((claims.amt.as_str(), claims.provider.as_str()), ("7.00", "books"));
            assert!(t.engine().proof(caller, &target(reference)).is_ok());
            let checked = t.engine().reconcile(caller, &target(reference), &[], 0).unwrap();
            assert!(checked.consistent, "{:?}", checked.findings);
        }
        // The first event says who paid how much, and its hash covers that.
        let record = t.engine().settlement(&t.bob, &target(&got.id)).unwrap();
        let data = t.engine().events(&record, 0, 9).unwrap().remove(0).data.get().to_owned();
        let told = json!({ "amount": "7.00", "currency": "EUR", "from": participant(&t.ann), "to": participant(&t.bob) });
        assert_eq!(data, told.to_string());
    });
}

#[test]
fn the_same_create_again_pays_nothing_more() {
    over_each_store(|t| {
        let first = t.pay(&t.ann, &t.bob, "3", "inv-1").unwrap();
        let again = t.engine().run(create(t.engine(), t.ann, &body(&t.bob, "3.00", "inv-1"))).unwrap();
        assert!(again.replayed);
        let (one, two) = together(
            t.engine(),
            create(t.engine(), t.ann, &body(&t.bob, "4", "inv-2")),
            create(t.engine(), t.ann, &body(&t.bob, "4", "inv-2")),
        );
        assert_eq!((one.unwrap().replayed, two.unwrap().replayed), (false, true));
        assert_eq!(t.pay(&t.ann, &t.eve, "3", "inv-1").unwrap_err().code, ErrorCode::ReferenceConflict);
        assert_eq!((t.euros(&t.bob), t.list(&t.bob, &[]).len()), ("1000007.00".to_owned(), 2));
        // What became of the payee since then changes nothing about what was paid.
        t.engine().run(railgate::engine::Suspend(t.bob.client_id)).unwrap();
        assert_eq!(t.pay(&t.ann, &t.bob, "3", "inv-1").unwrap().id, first.id);
        t.assert_sound();
    });
}

#[test]
fn what_arrives_can_be_spent_by_the_next_command_of_the_same_commit() {
    over_each_store(|t| {
        t.pay(&t.bob, &t.eve, "1000000", "all").unwrap();
        let pays = |from, to, amount, reference| create(t.engine(), from, &body(&to, amount, reference));
        let (to_bob, to_ann) = together(t.engine(), pays(t.ann, t.bob, "10", "one"), pays(t.bob, t.ann, "10", "two"));
        assert!(to_bob.is_ok() && to_ann.is_ok());
        let (too_early, to_bob) = together(t.engine(), pays(t.bob, t.ann, "10", "three"), pays(t.ann, t.bob, "10", "four"));
        assert_eq!(too_early.unwrap_err().code, ErrorCode::InsufficientFunds);
        assert!(to_bob.is_ok(), "a refused command leaves no trace");
        assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("999990.00".to_owned(), "10.00".to_owned()));
        t.assert_sound();
    });
}

#[test]
fn operators_count_a_payment_once() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "3", "inv-1").unwrap();
        let overview = t.engine().overview(0, i64::MAX / 4).unwrap();
        assert_eq!((overview.counted, overview.figures.len(), overview.figures[0].provider.as_str()), (1, 1, "books"));
        let all = t.engine().list_all(&t.engine().parse_list(&[]).unwrap()).unwrap();
        assert_eq!(all.data.len(), 2, "and find both sides");
        assert!(t.engine().all_positions().unwrap().iter().all(|position| position.provider != "books"));
    });
}

#[test]
fn a_pair_that_somebody_changed_is_found() {
    let t = town(Arc::new(MemoryStore::new()));
    t.pay(&t.ann, &t.bob, "3", "inv-1").unwrap();
    let record = |caller: &Caller, reference: &str| t.engine().settlement(caller, &target(reference)).unwrap();
    let (paid, got) = (record(&t.ann, "inv-1"), record(&t.bob, &t.received(&t.bob).id));
    let codes = |changed: SettlementRecord, back: &SettlementRecord| {
        let write = |record: SettlementRecord| Write::Update { expected: record.version, record: record.into() };
        t.s.store.commit(&Commit { writes: vec![write(changed)] }).unwrap();
        let report = verify::verify(&*t.s.store, &mut |_| {}).unwrap();
        t.s.store.commit(&Commit { writes: vec![write(back.clone())] }).unwrap();
        report.problems.iter().map(|problem| problem.code).filter(|code| code.starts_with("pair_")).collect::<Vec<_>>()
    };
    let with = |record: &SettlementRecord, change: &dyn Fn(&mut SettlementMore)| {
        let mut changed = record.clone();
        change(Arc::make_mut(changed.more.as_mut().unwrap()));
        changed
    };
    let side = |change: fn(&mut railgate::store::record::OtherSide)| {
        move |more: &mut SettlementMore| {
            if let Some(side) = &mut more.other_side {
                change(side);
            }
        }
    };
    assert_eq!(codes(SettlementRecord { amount: 2_00, ..got.clone() }, &got), ["pair_differs", "pair_differs"]);
    assert_eq!(codes(SettlementRecord { reversed: 1, ..paid.clone() }, &paid), ["pair_differs", "pair_differs"]);
    assert_eq!(codes(with(&paid, &side(|side| side.settlement = 99)), &paid), ["pair_missing", "pair_differs"]);
    assert_eq!(codes(with(&got, &side(|side| side.from = None)), &got), ["pair_differs", "pair_differs"]);
    assert_eq!(codes(with(&got, &|more| more.other_side = None), &got), ["pair_differs", "pair_differs"]);
    t.assert_sound();
}

#[test]
fn money_that_stays_between_the_clients_is_found() {
    let t = town(Arc::new(MemoryStore::new()));
    t.pay(&t.ann, &t.bob, "3", "inv-1").unwrap();
    let books = t.engine().routes().books(Mode::Sandbox).unwrap().0;
    let account = |owner| AccountId::new(owner, Mode::Sandbox, Currency::from_code("EUR").unwrap());
    let (kind, code) = (TransferKind::Single, TransferCode::Funding);
    let (debit, credit) = (account(Owner::Funding), account(Owner::Provider(books)));
    let stray = Transfer { journal: SettlementNo(999), n: 1, kind, code, debit, credit, amount: 1, resolves: 0, at: 0 };
    t.s.store.commit(&Commit { writes: vec![Write::Post(stray)] }).unwrap();
    let report = verify::verify(&*t.s.store, &mut |_| {}).unwrap();
    let found: Vec<_> = report.problems.iter().map(|problem| (problem.what.as_str(), problem.code)).collect();
    assert_eq!(found, [("books EUR sandbox", "books_not_zero")]);
}
