//! Who can be paid, for what fee, and what a check says about it.

use railgate::api::{PayeeView, ProviderBody, RoutesBody, TermsBody};
use railgate::auth::{PublicKey, Signer as _, SoftwareKey};
use railgate::engine::{Approve, EnrollLive, MoveMoney, Operated, PutProviders, PutRoutes, PutTerms, Resume, Revoke, Suspend};
use railgate::store::record::MovementKind;

use super::*;
use crate::support::live::live;

impl Town {
    fn check(&self, from: &Caller, body: &str) -> railgate::api::CheckView {
        self.engine().preflight(from, body.as_bytes()).unwrap().view
    }

    fn agree(&self, client: &Caller, terms: serde_json::Value) {
        let mut body = json!({ "client": format!("cli_{}", client.client_id) });
        body.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
        let body: TermsBody = serde_json::from_value(body).unwrap();
        self.engine().run(Operated(PutTerms { terms: vec![(body, None)], reason: None })).unwrap();
        self.engine().follow_setup().unwrap();
    }

    pub(super) fn deposit(&self, client: &Caller, money: &str) {
        let (client, reference) = (client.client_id, "bank-1".parse().unwrap());
        let evidence = "line 7".to_owned();
        let kind = MovementKind::Deposit;
        self.engine().run(Operated(MoveMoney { client, kind, money: money.parse().unwrap(), reference, evidence })).unwrap();
    }

    /// Gives a client live access with this key.
    pub(super) fn approve(&self, client: &Caller, n: u8) -> railgate::auth::KeyId {
        let key = self.engine().run(EnrollLive { caller: *client, key: key(n) }).unwrap();
        self.engine().run(Approve { client: client.client_id, key: Some(key.id) }).unwrap();
        key.id
    }
}

fn key(n: u8) -> PublicKey {
    SoftwareKey::ed25519(&[n; 32]).public_key()
}

fn not_found(error: &Error) -> bool {
    let field = error.fields.first().map(|field| (field.pointer.as_ref(), field.code.as_ref()));
    error.code == ErrorCode::InvalidFields && field == Some(("/to", "participant_not_found"))
}

#[test]
fn whoever_cannot_be_paid_is_not_found_and_nothing_moves() {
    over_each_store(|t| {
        let nobody = Caller { client_id: railgate::ids::Ulid(7), ..t.bob };
        t.engine().run(Suspend(t.eve.client_id)).unwrap();
        let small = participant(&t.bob).to_lowercase();
        let before = t.s.store.scan(&Scan::all(RecordKind::Transfer, 99)).unwrap().len();
        for to in [participant(&nobody), participant(&t.eve), small, "participant:shop".to_owned(), "participant:cli_".to_owned()] {
            let body = json!({ "amount": 5, "currency": "EUR", "to": to, "reference": "r" }).to_string();
            let refused = t.send(&t.ann, &body).unwrap_err();
            assert!(not_found(&refused), "{to}: {refused:?}");
            let checked = t.check(&t.ann, &body);
            let problems: Vec<_> = checked.problems.iter().map(|it| (it.pointer.to_string(), it.code.to_string())).collect();
            assert_eq!(problems, [("/to".to_owned(), "participant_not_found".to_owned())], "{to}");
            assert_eq!((checked.ok, checked.payee.display_name), (false, None));
        }
        assert_eq!(t.pay(&t.ann, &t.ann, "5", "r").unwrap_err().code, ErrorCode::SameParty);
        assert_eq!(t.s.store.scan(&Scan::all(RecordKind::Transfer, 99)).unwrap().len(), before);
        assert!(t.list(&t.ann, &[]).is_empty());
        t.engine().run(Resume(t.eve.client_id)).unwrap();
        t.pay(&t.ann, &t.eve, "5", "r").unwrap();
        t.assert_sound();
    });
}

#[test]
fn a_client_that_is_suspended_earlier_in_the_group_is_not_paid() {
    let t = town(Arc::new(MemoryStore::new()));
    let (_, refused) = together(t.engine(), Suspend(t.bob.client_id), create(t.engine(), t.ann, &body(&t.bob, "5", "r")));
    assert!(not_found(&refused.unwrap_err()));
}

#[test]
fn real_money_goes_only_to_clients_with_live_access() {
    over_each_store(|t| {
        t.deposit(&t.ann, "100.00 EUR");
        let ann = live(t.ann);
        assert!(not_found(&t.pay(&ann, &t.bob, "5", "r").unwrap_err()), "no key");
        let asked = t.engine().run(EnrollLive { caller: t.bob, key: key(8) }).unwrap();
        let refused = t.pay(&ann, &t.bob, "5", "r").unwrap_err();
        assert!(not_found(&refused), "a key that nobody approved: {refused:?}");
        t.engine().run(Approve { client: t.bob.client_id, key: Some(asked.id) }).unwrap();
        let paid = t.pay(&ann, &t.bob, "5", "r").unwrap();
        assert_eq!((paid.status.as_str(), paid.sandbox), ("completed", false));
        assert_eq!((t.euros(&ann), t.euros(&live(t.bob))), ("95.00".to_owned(), "5.00".to_owned()));
        assert_eq!(t.euros(&t.bob), "1000000.00", "play money is apart");
        assert_eq!(t.list(&t.bob, &[]).len(), 0, "and a sandbox credential sees nothing of it");
        t.engine().run(Revoke { client: t.bob.client_id, key: asked.id }).unwrap();
        assert!(not_found(&t.pay(&ann, &t.bob, "5", "r-2").unwrap_err()), "a revoked key");
        t.assert_sound();
    });
}

#[test]
fn a_payee_that_never_used_its_money_still_has_all_of_it() {
    over_each_store(|t| {
        t.pay(&t.ann, &t.bob, "5", "r").unwrap();
        assert_eq!(t.engine().balance(&t.bob, "USD").unwrap().available.as_str(), "1000000.00");
        assert_eq!(t.euros(&t.bob), "1000005.00");
        t.pay(&t.bob, &t.ann, "1000005", "all").unwrap();
        assert_eq!(t.pay(&t.bob, &t.ann, "0.01", "more").unwrap_err().code, ErrorCode::InsufficientFunds, "it is credited once");
        t.assert_sound();
    });
}

#[test]
fn a_check_names_the_payee_and_the_books() {
    over_each_store(|t| {
        let checked = t.check(&t.ann, &body(&t.bob, "5", "r"));
        let PayeeView { display_name, payee_match } = checked.payee;
        assert_eq!((checked.ok, display_name.as_deref(), payee_match.as_str()), (true, Some("Bob's bikes"), "match"));
        let route: Vec<_> = checked.route.iter().map(|step| (step.provider.as_str(), step.verdict.as_str())).collect();
        assert_eq!(route, [("books", "in")]);
        let quote = checked.quote.unwrap();
        assert_eq!((quote.provider.as_str(), quote.fee.as_str()), ("books", "0.00"));
        let mut quoted: serde_json::Value = serde_json::from_str(&body(&t.bob, "5", "r")).unwrap();
        quoted["quote_id"] = json!(quote.quote_id);
        quoted["provider"] = json!("books");
        assert_eq!(t.send(&t.ann, &quoted.to_string()).unwrap().status.as_str(), "completed");
        let elsewhere = json!({ "amount": 5, "currency": "EUR", "to": participant(&t.bob), "reference": "p", "provider": "play" });
        assert_eq!(t.send(&t.ann, &elsewhere.to_string()).unwrap_err().code, ErrorCode::NoRoute);
        let other = json!({ "amount": 5, "currency": "EUR", "to": "sim:ok", "reference": "p", "provider": "books" });
        assert_eq!(t.send(&t.ann, &other.to_string()).unwrap_err().code, ErrorCode::NoRoute);
    });
}

#[test]
fn only_a_fee_agreed_for_payments_between_clients_applies_to_them() {
    over_each_store(|t| {
        t.agree(&t.ann, json!({ "fees": [{ "flat": "0.30" }] }));
        assert_eq!(t.pay(&t.ann, &t.bob, "5", "free").unwrap().fee.as_str(), "0.00");
        t.agree(&t.ann, json!({ "fees": [{ "flat": "0.30" }, { "namespace": "participant", "flat": "0.05", "refund": "full" }] }));
        let paid = t.pay(&t.ann, &t.bob, "5", "fee").unwrap();
        assert_eq!((paid.fee.as_str(), paid.total_debit.as_str(), t.received(&t.bob).fee.as_str()), ("0.05", "5.05", "0.00"));
        let back = t.reverse(&t.ann, "fee", "").unwrap().settlement;
        assert_eq!(t.engine().view(&back, t.ann.client_id).fee_refunded.unwrap().as_str(), "0.05");
        assert_eq!(t.euros(&t.ann), "999995.00");
        t.assert_sound();
    });
}

#[test]
fn limits_of_the_payer_hold_and_those_of_the_payee_do_not() {
    over_each_store(|t| {
        let day = json!({ "limits": [{ "mode": "sandbox", "currency": "EUR", "max": "8", "daily_value": "10" }] });
        t.agree(&t.ann, day.clone());
        t.agree(&t.bob, day);
        assert_eq!(t.pay(&t.ann, &t.bob, "9", "r").unwrap_err().code, ErrorCode::AmountAboveMaximum);
        t.pay(&t.ann, &t.bob, "8", "r").unwrap();
        assert_eq!(t.pay(&t.ann, &t.bob, "3", "r-2").unwrap_err().code, ErrorCode::LimitDailyValue);
        t.pay(&t.eve, &t.bob, "500", "r").unwrap();
        t.assert_sound();
    });
}

#[test]
fn an_account_that_could_not_hold_the_money_is_not_paid() {
    let t = town(Arc::new(MemoryStore::new()));
    t.deposit(&t.ann, "9000000000000.00 EUR");
    t.approve(&t.bob, 8);
    // As if it had received almost all that fits.
    let account = |owner| AccountId::new(owner, Mode::Live, Currency::from_code("EUR").unwrap());
    let (kind, code, amount) = (TransferKind::Single, TransferCode::Funding, i64::MAX / 4 - 10_00);
    let (debit, credit) = (account(Owner::Funding), account(Owner::Client(t.bob.client)));
    let nearly = Transfer { journal: SettlementNo(1_000_001), n: 1, kind, code, debit, credit, amount, resolves: 0, at: 0 };
    t.s.store.commit(&Commit { writes: vec![Write::Post(nearly)] }).unwrap();
    assert!(not_found(&t.pay(&live(t.ann), &t.bob, "10", "just-too-much").unwrap_err()));
    t.pay(&live(t.ann), &t.bob, "9.99", "fits").unwrap();
    assert!(not_found(&t.pay(&live(t.ann), &t.bob, "1", "too-much").unwrap_err()));
}

#[test]
fn nobody_configures_the_books() {
    let t = town(Arc::new(MemoryStore::new()));
    let provider: ProviderBody =
        serde_json::from_value(json!({ "id": "books", "name": "Mine", "rail": "simulator", "mode": "sandbox" })).unwrap();
    let refused = t.engine().run(Operated(PutProviders { providers: vec![(provider, None)], reason: None })).unwrap_err();
    assert_eq!((refused.fields[0].pointer.as_ref(), refused.fields[0].code.as_ref()), ("/id", "reserved"));
    let unknown = json!({ "id": "mine", "name": "Mine", "rail": "books", "mode": "live" }).to_string();
    let unknown = railgate::validate::provider::parse_provider(unknown.as_bytes(), &railgate::rail::Rails::built_in());
    assert_eq!(unknown.map(drop).unwrap_err().fields[0].code, "rail_unknown");
    let entry = json!({ "mode": "sandbox", "namespace": "participant", "providers": [{ "id": "play", "priority": 1 }] });
    let table: RoutesBody = serde_json::from_value(json!({ "routes": [entry] })).unwrap();
    let refused = t.engine().run(Operated(PutRoutes { table, expected: None, reason: None })).unwrap_err();
    assert_eq!((refused.fields[0].pointer.as_ref(), refused.fields[0].code.as_ref()), ("/routes/0/namespace", "reserved"));
    let ids = |caller: &Caller| t.engine().providers(caller).into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!((ids(&t.ann), ids(&live(t.ann))), (vec!["play".to_owned()], vec!["play".to_owned(), "real".to_owned()]));
    let shown = t.engine().provider_by_id(&t.ann, "books").unwrap();
    assert_eq!((shown.namespaces, shown.capabilities.reverse), (Some(vec!["participant".to_owned()]), true));
    let config =
        railgate::Config { providers: vec![railgate::route::ProviderSpec::simulator("books", "Mine")], ..railgate::Config::default() };
    assert!(Engine::open(Arc::new(MemoryStore::new()), t.s.env.clone(), config).is_err());
}
