//! Reversals of payments between two clients.

use crate::support;
use railgate::lifecycle::SettlementStatus;
use railgate::rail::FailureCode;

use super::*;

#[test]
fn a_reversal_takes_the_money_back_at_once_in_parts_and_in_whole() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "10", "r").unwrap();
        let got = t.received(&t.bob).id;
        let part = t.reverse(&t.ann, "r", r#"{"amount": 4, "reason": "duplicate", "reference": "back", "description": "oops"}"#).unwrap();
        let reversal = part.reversal.unwrap();
        assert_eq!((reversal.status.as_str(), part.settlement.status.as_str()), ("completed", "partially_reversed"));
        assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("999994.00".to_owned(), "1000006.00".to_owned()));
        let side = t.received(&t.bob);
        assert_eq!((side.status.as_str(), side.reversed_amount.as_str()), ("partially_reversed", "4.00"));
        assert_eq!(t.trace(&t.bob, &got), ["settlement.completed", "reversal.completed", "settlement.partially_reversed"]);
        let record = t.engine().settlement(&t.bob, &target(&got)).unwrap();
        let theirs = t.engine().reversals(&record).unwrap().remove(0);
        assert_eq!((theirs.reason.map(|reason| reason.as_str()), theirs.reference, theirs.description), (Some("duplicate"), None, None));

        let again = t.reverse(&t.ann, "r", r#"{"amount": 4, "reason": "duplicate", "reference": "back", "description": "oops"}"#).unwrap();
        assert!(again.replayed && t.euros(&t.ann) == "999994.00");
        let rest = t.reverse(&t.ann, "r", "").unwrap();
        assert_eq!((rest.settlement.status, t.received(&t.bob).status.as_str()), (SettlementStatus::Reversed, "reversed"));
        assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("1000000.00".to_owned(), "1000000.00".to_owned()));
        assert_eq!(t.reverse(&t.ann, "r", "").unwrap_err().code, ErrorCode::AlreadyReversed);
        assert_eq!(t.s.store.scan(&Scan::all(RecordKind::Task, 9)).unwrap(), []);
        let receipt = t.engine().receipt(&t.bob, &target(&got)).unwrap();
        assert_eq!((receipt.claims.rev.as_str(), receipt.claims.supersedes.is_some()), ("10.00", true));
        t.assert_sound();
    });
}

#[test]
fn without_the_money_the_reversal_fails_and_nothing_moves() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "10", "r").unwrap();
        let got = t.received(&t.bob).id;
        t.pay(&t.bob, &t.eve, "1000001", "away").unwrap();
        let refused = t.reverse(&t.ann, "r", "").unwrap();
        let reversal = refused.reversal.unwrap();
        assert_eq!((reversal.status.as_str(), refused.settlement.status.as_str()), ("failed", "completed"));
        assert_eq!(reversal.failure.unwrap().code, FailureCode::InsufficientFunds);
        assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("999990.00".to_owned(), "9.00".to_owned()));
        assert_eq!(t.trace(&t.bob, &got), ["settlement.completed"], "the payee learns nothing");
        assert_eq!(t.trace(&t.ann, "r")[5..], ["reversal.accepted", "reversal.submitted", "reversal.failed"]);
        // What it has can be taken back, and later the rest.
        assert_eq!(t.reverse(&t.ann, "r", r#"{"amount": 9}"#).unwrap().reversal.unwrap().status.as_str(), "completed");
        t.pay(&t.eve, &t.bob, "1", "again").unwrap();
        assert_eq!(t.reverse(&t.ann, "r", "").unwrap().settlement.status, SettlementStatus::Reversed);
        t.assert_sound();
    });
}

#[test]
fn money_on_hold_is_not_taken_back() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "10", "r").unwrap();
        let held = json!({ "amount": "1000005", "currency": "EUR", "to": "sim:pending", "reference": "held" });
        t.send(&t.bob, &held.to_string()).unwrap();
        assert_eq!(t.reverse(&t.ann, "r", "").unwrap().reversal.unwrap().status.as_str(), "failed");
        t.assert_sound();
    });
}

#[test]
fn a_payee_cannot_reverse_what_it_received() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "10", "r").unwrap();
        let got = t.received(&t.bob).id;
        let refused = t.reverse(&t.bob, &got, "").unwrap_err();
        assert_eq!(refused.code, ErrorCode::ReversalNotSupported);
        assert!(refused.detail.contains("make a payment"), "{}", refused.detail);
        t.reverse(&t.ann, "r", "").unwrap();
        assert_eq!(t.reverse(&t.bob, &got, "").unwrap_err().code, ErrorCode::ReversalNotSupported);
        assert_eq!(t.reverse(&t.eve, &got, "").unwrap_err().code, ErrorCode::SettlementNotFound);
        t.assert_sound();
    });
}

#[test]
fn a_payment_and_its_reversal_may_share_a_commit_with_others() {
    over_each_store(|t| {
        let pays = |from, to, amount, reference| create(t.engine(), from, &body(&to, amount, reference));
        t.pay(&t.bob, &t.eve, "1000000", "all").unwrap();
        let (paid, back) = together(t.engine(), pays(t.ann, t.bob, "10", "r"), support::reverse(t.ann, "r", r#"{"amount": 3}"#));
        paid.unwrap();
        assert_eq!(back.unwrap().reversal.unwrap().status.as_str(), "completed");
        let (spent, back) = together(t.engine(), pays(t.bob, t.ann, "7", "away"), support::reverse(t.ann, "r", ""));
        spent.unwrap();
        assert_eq!(back.unwrap().reversal.unwrap().status.as_str(), "failed", "it was just spent");
        t.assert_sound();
    });
}
