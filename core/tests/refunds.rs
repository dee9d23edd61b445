//! What reversals give back of a fee: nothing, the share of each part, or all of it with the whole payment; exact in every case.

use std::sync::Arc;

use crate::support::{Sandbox, sealing};
use railgate::api::TermsBody;
use railgate::engine::{Operated, PutTerms};
use railgate::ledger::Mode;
use railgate::rail::simulator::Simulator;
use railgate::route::{FeeRefund, FeeRule, ProviderSpec, Units};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::record::RecordKind;
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, typed_all};
use railgate::{Config, ledger};
use serde_json::json;

fn units(text: &str) -> Units {
    Units::of(text.parse().unwrap()).unwrap()
}

/// A gateway whose provider charges 0.07 for each payment.
fn charging(store: Arc<dyn Store>, refund: Option<FeeRefund>) -> Sandbox {
    let fees = vec![FeeRule { flat: units("0.07"), refund, ..FeeRule::default() }];
    let provider = ProviderSpec { fees, ..ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator) };
    Sandbox::over(store, Config { providers: vec![provider], ..sealing() }, 1)
}

fn over_each_store(refund: Option<FeeRefund>, check: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("refunds.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        let s = charging(store, refund);
        check(&s);
        s.assert_sound();
    }
}

fn refunded(s: &Sandbox, reference: &str) -> Option<String> {
    s.view(reference).fee_refunded.map(|amount| amount.as_str().to_owned())
}

fn available(s: &Sandbox) -> String {
    s.euros().0
}

fn reverse(s: &Sandbox, reference: &str, amount: &str) {
    s.reverse(reference, &format!(r#"{{"amount":{amount}}}"#)).unwrap();
    s.work();
}

#[test]
fn a_part_gives_back_its_share_and_the_whole_all_of_it() {
    over_each_store(Some(FeeRefund::Proportional), |s| {
        let before = available(s);
        s.pay("r", "sim:ok");
        s.work();
        assert_eq!((refunded(s, "r"), s.view("r").fee.as_str()), (None, "0.07"));
        let steps: Vec<_> = ["3.33", "0.01", "3.33", "3.33"]
            .map(|part| {
                reverse(s, "r", part);
                refunded(s, "r")
            })
            .into();
        assert_eq!(steps, ["0.02", "0.02", "0.04", "0.07"].map(|text| Some(text.to_owned())));
        assert_eq!((s.status("r"), available(s)), ("reversed", before), "exactly what was there before");
    });
}

#[test]
fn the_whole_fee_comes_back_with_the_whole_payment() {
    over_each_store(Some(FeeRefund::Full), |s| {
        let before = available(s);
        s.pay("r", "sim:ok");
        s.work();
        reverse(s, "r", "9.99");
        assert_eq!(refunded(s, "r"), None);
        reverse(s, "r", "0.01");
        assert_eq!((refunded(s, "r").as_deref(), available(s)), (Some("0.07"), before));
    });
}

#[test]
fn without_a_setting_the_fee_is_kept() {
    for refund in [None, Some(FeeRefund::Nothing)] {
        over_each_store(refund, |s| {
            s.pay("r", "sim:ok");
            s.work();
            reverse(s, "r", "10");
            assert_eq!((refunded(s, "r"), available(s).as_str()), (None, "999999.93"));
            let codes: Vec<ledger::Transfer> = typed_all(s.store.scan(&Scan::all(RecordKind::Transfer, 99)).unwrap()).unwrap();
            assert!(codes.iter().all(|transfer| transfer.code != ledger::TransferCode::FeeRefund));
        });
    }
}

#[test]
fn only_completed_reversals_give_something_back() {
    over_each_store(Some(FeeRefund::Proportional), |s| {
        s.pay("fails", "sim:reverse-fail");
        s.pay("in-flight", "sim:ok");
        s.pay("returned", "sim:returned-after-1d");
        s.work();
        reverse(s, "fails", "5");
        assert_eq!(refunded(s, "fails"), None);
        s.reverse("in-flight", r#"{"amount":4}"#).unwrap();
        s.reverse("in-flight", r#"{"amount":6}"#).unwrap();
        assert_eq!(refunded(s, "in-flight"), None);
        s.work();
        assert_eq!(refunded(s, "in-flight").as_deref(), Some("0.07"));
        reverse(s, "returned", "5");
        s.pass(2 * 86_400_000);
        assert_eq!((s.status("returned"), refunded(s, "returned").as_deref()), ("returned", Some("0.03")), "a return is no reversal");
    });
}

#[test]
fn what_was_accepted_or_quoted_holds_whatever_is_agreed_later() {
    let s = charging(Arc::new(MemoryStore::new()), None);
    let agree = |refund: &str| {
        let client = format!("cli_{}", s.caller.client_id);
        let terms: TermsBody = serde_json::from_value(json!({"client": client, "fees": [{"flat": "0.10", "refund": refund}]})).unwrap();
        s.engine.run(Operated(PutTerms { terms: vec![(terms, None)], reason: None })).unwrap();
        s.engine.follow_setup().unwrap();
    };
    let body = |reference: &str| json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": reference});
    let quote = |reference: &str| {
        let checked = s.engine.preflight(&s.caller, body(reference).to_string().as_bytes()).unwrap().view;
        checked.quote.unwrap()
    };
    assert_eq!(quote("q").fee_refund, FeeRefund::Nothing);
    for refund in [FeeRefund::Proportional, FeeRefund::Full] {
        agree(refund.as_str());
        let quoted = quote(refund.as_str());
        assert_eq!((quoted.fee.as_str(), quoted.fee_refund), ("0.10", refund));
        s.create(&body(&format!("accepted-{}", refund.as_str())).to_string()).unwrap();
        agree("none");
        let mut later = body(refund.as_str());
        later["quote_id"] = json!(quoted.quote_id);
        s.create(&later.to_string()).unwrap();
        // A quote cannot be made better by its holder.
        later["reference"] = json!("forged");
        later["quote_id"] = json!(format!("{}00", quoted.quote_id));
        assert_eq!(s.create(&later.to_string()).unwrap_err().code.as_str(), "invalid_fields");
    }
    s.work();
    for reference in ["accepted-proportional", "proportional", "accepted-full", "full"] {
        reverse(&s, reference, "10");
        assert_eq!(refunded(&s, reference).as_deref(), Some("0.10"), "{reference}");
    }
    s.assert_sound();
}

#[test]
fn a_refund_is_one_line_of_the_journal() {
    let s = charging(Arc::new(MemoryStore::new()), Some(FeeRefund::Proportional));
    s.pay("r", "sim:ok");
    s.work();
    reverse(&s, "r", "10");
    let transfers: Vec<ledger::Transfer> = typed_all(s.store.scan(&Scan::all(RecordKind::Transfer, 99)).unwrap()).unwrap();
    let given = transfers.iter().filter(|transfer| transfer.code == ledger::TransferCode::FeeRefund).map(|transfer| transfer.amount);
    assert_eq!(given.collect::<Vec<_>>(), [7], "one line of the journal, from the income to the client");
}
