//! What callers leave behind that are no clients, or that never become customers.

use railgate::engine::Config;
use railgate::engine::verify::verify;
use railgate::store::record::{AllowanceRecord, ClientRecord, InvitationRecord};
use railgate::store::typed;

use super::*;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn stranger(n: u8, invitation: Option<&str>) -> Signed<EnrollStranger> {
    let command = EnrollStranger { enroll: enrolment(&format!("Client {n}"), n), invitation: invitation.map(str::to_owned) };
    signed_by_nobody(n, command)
}

fn settings(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = sealing();
    change(&mut config);
    config
}

/// Runs a test over each store, at a gateway with these settings.
fn over_each_store_with(config: &Config, test: impl Fn(World)) {
    test(World::over(Arc::new(MemoryStore::new()), config.clone()));
    let dir = Dir::new();
    test(World::over(dir.open(), config.clone()));
}

fn count(w: &World, kind: impl Fn(&Record) -> bool) -> usize {
    w.everything().iter().filter(|record| kind(record)).count()
}

#[test]
fn a_refused_enrolment_leaves_nothing_behind() {
    over_each_store(|w| {
        w.run(stranger(1, None)).unwrap();
        let before = w.everything();
        let long = EnrollStranger { enroll: enrolment(&"x".repeat(60_000), 2), invitation: None };
        assert_eq!(code(w.run(signed_by_nobody(2, long))), "invalid_fields");
        assert_eq!(code(w.run(signed_by_nobody(3, EnrollStranger { enroll: enrolment("Again", 1), invitation: None }))), "key_exists");
        assert_eq!(w.everything(), before, "no name, no nonce, no record of the refusal");
        let pair = codes(&w.engine, [stranger(1, None), stranger(2, None), stranger(1, None)]);
        assert_eq!(pair, ["nonce_replayed", "ok", "nonce_replayed"]);
        w.assert_sound();
    });
}

#[test]
fn a_client_that_never_pays_has_no_place_in_the_ledger_and_its_money_all_the_same() {
    over_each_store(|w| {
        let ledger = |w: &World| count(w, |record| matches!(record, Record::Transfer(_) | Record::Account(_)));
        let client = w.client(1);
        assert_eq!(w.engine.balances(&client.caller).unwrap().len(), sealing().sandbox_funding.len());
        assert_eq!(w.engine.balance(&client.caller, "EUR").unwrap().available.as_str(), "1000000.00");
        assert_eq!(code(w.run(w.create(&client, "big", "1000000.01"))), "insufficient_funds");
        assert_eq!(ledger(&w), 0);
        let group = [w.create(&client, "one", "10"), w.create(&client, "two", "999980"), w.create(&client, "three", "20")];
        assert_eq!(codes(&w.engine, group), ["ok", "ok", "insufficient_funds"], "in one group the money is there once");
        assert_eq!(w.engine.balance(&client.caller, "EUR").unwrap().available.as_str(), "10.00");
        assert_eq!(w.engine.balance(&client.caller, "USD").unwrap().available.as_str(), "1000000.00");
        assert_eq!(count(&w, |record| matches!(record, Record::Allowance(_))), 0);
        w.assert_sound();
    });
}

#[test]
fn two_nodes_that_open_one_client_s_accounts_credit_them_once() {
    over_each_store(|w| {
        let client = w.client(1);
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let fast = Arc::new(w.node(sealing()));
        let (node, first) = (fast.clone(), w.create(&client, "fast", "600000"));
        slow.before_commit(move || drop(node.run(first).unwrap()));
        assert_eq!(code(late.run(w.create(&client, "late", "600000"))), "insufficient_funds");
        let euros = Money::from_minor(100, Currency::from_code("EUR").unwrap());
        late.run(Fund { caller: client.caller, money: euros }).unwrap();
        assert_eq!(w.engine.balance(&client.caller, "EUR").unwrap().ledger.as_str(), "1000001.00");
        w.assert_sound();
    });
}

#[test]
fn a_client_that_pays_while_another_node_suspends_it_as_unused_is_refused_or_stays() {
    over_each_store(|w| {
        let client = w.client(1);
        w.client(2);
        w.pass(31 * DAY);
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let fast = w.node(sealing());
        slow.before_commit(move || assert!(fast.run(Maintain).is_ok()));
        let paid = late.run(w.create(&client, "late", "10"));
        let record: Option<ClientRecord> = typed(w.store.get(&Key::Client(client.caller.client)).unwrap()).unwrap();
        assert_eq!((paid.is_ok(), record.unwrap().suspended), (false, true));
        w.assert_sound();
    });
}

#[test]
fn refusals_in_a_loop_are_recorded_for_a_while_and_then_counted() {
    over_each_store(|w| {
        let (client, other) = (w.client(1), w.client(2));
        let big = |n: u8| signed(&client, n, w.create(&client, "big", "2000000"));
        assert!((3..=200).all(|n| code(w.run(big(n))) == "insufficient_funds"));
        assert_eq!(w.audit().len(), 60);
        assert_eq!(code(w.run(signed(&other, 1, w.create(&other, "big", "2000000")))), "insufficient_funds");
        w.run(signed(&client, 2, w.create(&client, "good", "1"))).unwrap();
        assert_eq!(w.audit().len(), 62, "another client's refusal, and what is done, are recorded");
        w.pass(HOUR);
        w.run(Maintain).unwrap();
        let last = w.audit().pop().unwrap();
        assert_eq!(
            (last.client, last.action, last.refused.as_deref()),
            (client.caller.client, AuditAction::MoreRefusals, Some("more_refusals"))
        );
        assert_eq!(last.name.as_deref(), Some("138 within the hour from 2026-11-21T10:38:17.042Z"));
        assert_eq!(w.audit().len(), 63);
        assert_eq!(code(w.run(big(201))), "insufficient_funds");
        assert_eq!(w.audit().len(), 64, "a new hour");
        w.assert_sound();
    });
}

#[test]
fn refusals_leave_the_trail_after_their_time_and_what_was_done_stays() {
    over_each_store_with(&settings(|config| config.audit_refusals_ms = 3 * DAY), |w| {
        let client = w.client(1);
        w.run(signed(&client, 1, w.create(&client, "good", "1"))).unwrap();
        assert_eq!(code(w.run(signed(&client, 2, w.create(&client, "big", "2000000")))), "insufficient_funds");
        w.pass(3 * DAY);
        w.run(Maintain).unwrap();
        assert_eq!(w.audit().len(), 2);
        w.pass(1);
        w.run(Maintain).unwrap();
        let rows = w.audit();
        assert_eq!((rows.len(), rows[0].refused.as_deref()), (1, None));
        w.pass(400 * DAY);
        w.run(Maintain).unwrap();
        assert_eq!(w.audit(), rows);
    });
}

#[test]
fn a_gateway_may_take_no_new_clients() {
    over_each_store_with(&settings(|config| config.enrollment = Enrollment::Off), |w| {
        let before = w.everything();
        assert_eq!(code(w.run(stranger(1, None))), "enrollment_closed");
        assert_eq!(code(w.engine.admits_strangers()), "enrollment_closed");
        assert_eq!(w.everything(), before);
        w.run(enrolment("Own", 2)).unwrap();
    });
}

#[test]
fn an_invitation_serves_for_one_client_and_only_its_hash_is_stored() {
    over_each_store_with(&settings(|config| config.enrollment = Enrollment::Invited), |w| {
        let invite = || w.operate(Invite { ttl_ms: DAY }).unwrap().code;
        let (first, second, late) = (invite(), invite(), invite());
        assert_eq!(w.audit().iter().map(|row| row.action).collect::<Vec<_>>(), [AuditAction::Invite; 3]);
        assert!(!format!("{:?}", w.everything()).contains(&first));
        for wrong in [None, Some("inv_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), Some("")] {
            assert_eq!(code(w.run(stranger(1, wrong))), "invitation_invalid");
        }
        assert_eq!(codes(&w.engine, [stranger(1, Some(&first)), stranger(2, Some(&first))]), ["ok", "invitation_invalid"]);
        assert_eq!(code(w.run(stranger(2, Some(&first)))), "invitation_invalid");
        // A key that is enrolled already does not use it up.
        let again = EnrollStranger { enroll: enrolment("Again", 1), invitation: Some(second.clone()) };
        assert_eq!(code(w.run(signed_by_nobody(9, again))), "key_exists");
        w.run(stranger(2, Some(&second))).unwrap();
        w.pass(DAY);
        assert_eq!(code(w.run(stranger(3, Some(&late)))), "invitation_invalid");
        w.pass(1);
        w.run(Maintain).unwrap();
        assert_eq!(count(&w, |record| matches!(record, Record::Invitation(InvitationRecord { .. }))), 0);
    });
}

#[test]
fn an_invitation_that_was_withdrawn_serves_for_nobody_and_both_are_on_record() {
    over_each_store_with(&settings(|config| config.enrollment = Enrollment::Invited), |w| {
        let invite = || w.operate(Invite { ttl_ms: DAY }).unwrap();
        let (withdrawn, kept) = (invite(), invite());
        assert_eq!(InvitationId::parse(&withdrawn.id.to_string()), Some(withdrawn.id));
        for wrong in ["", "0011223344", "00112233445566", "00112233445g", "0011223344EE"] {
            assert_eq!(InvitationId::parse(wrong), None, "{wrong}");
        }
        w.operate(WithdrawInvitation(withdrawn.id)).unwrap();
        assert_eq!(code(w.run(stranger(1, Some(&withdrawn.code)))), "invitation_invalid");
        assert_eq!(code(w.operate(WithdrawInvitation(withdrawn.id))), "invitation_invalid");
        w.run(stranger(1, Some(&kept.code))).unwrap();
        assert_eq!(code(w.operate(WithdrawInvitation(kept.id))), "invitation_invalid");
        let (first, second) = (withdrawn.id.to_string(), kept.id.to_string());
        let rows: Vec<_> = w.audit().into_iter().map(|row| (row.action, row.name.unwrap_or_default(), row.refused.is_none())).collect();
        let expected = [
            (AuditAction::Invite, first.clone(), true),
            (AuditAction::Invite, second.clone(), true),
            (AuditAction::WithdrawInvitation, first.clone(), true),
            (AuditAction::WithdrawInvitation, first, false),
            (AuditAction::Enroll, String::new(), true),
            (AuditAction::WithdrawInvitation, second, false),
        ];
        assert_eq!(rows, expected);
        // What a group has used, nobody withdraws: of two that meet, the first one counts.
        let last = invite();
        let (enrolled, refused) = together(&w.engine, stranger(2, Some(&last.code)), Operated(WithdrawInvitation(last.id)));
        assert!(enrolled.is_ok());
        assert_eq!(code(refused), "invitation_invalid");
    });
}

#[test]
fn of_two_nodes_that_take_one_invitation_one_enrols() {
    let config = settings(|config| config.enrollment = Enrollment::Invited);
    over_each_store_with(&config, |w| {
        let code_of = w.operate(Invite { ttl_ms: DAY }).unwrap().code;
        let slow = Meddling::over(w.store.clone());
        let late = Engine::open(slow.clone(), w.env.clone(), config.clone()).unwrap();
        let (node, first) = (Arc::new(w.node(config.clone())), stranger(1, Some(&code_of)));
        slow.before_commit(move || drop(node.run(first).unwrap()));
        assert_eq!(code(late.run(stranger(2, Some(&code_of)))), "invitation_invalid");
        assert_eq!(count(&w, |record| matches!(record, Record::Client(_))), 1);
    });
}

#[test]
fn no_more_clients_enrol_than_the_cap_allows_until_some_expire() {
    over_each_store_with(&settings(|config| config.enrollment_cap = 3), |w| {
        let other = w.node(settings(|config| config.enrollment_cap = 3));
        w.run(stranger(1, None)).unwrap();
        other.run(stranger(2, None)).unwrap();
        // A number that a refused enrolment drew is no client.
        assert_eq!(code(w.run(signed_by_nobody(8, EnrollStranger { enroll: enrolment("Again", 1), invitation: None }))), "key_exists");
        w.run(stranger(3, None)).unwrap();
        assert_eq!(codes(&w.engine, [stranger(4, None), stranger(5, None)]), ["enrollment_full"; 2]);
        assert_eq!(code(other.run(stranger(4, None))), "enrollment_full");
        w.pass(31 * DAY);
        w.run(Maintain).unwrap();
        w.pass(HOUR);
        w.run(Maintain).unwrap();
        let again = |n: u8| EnrollStranger { enroll: enrolment("Later", n), invitation: None };
        w.run(again(6)).unwrap();
        other.run(again(7)).unwrap();
        w.assert_sound();
    });
}

#[test]
fn a_client_that_never_paid_expires_with_all_it_had_but_the_record_of_what_it_did() {
    over_each_store(|w| {
        let (unused, paying, live, suspended, newest) = (w.client(1), w.client(2), w.client(3), w.client(4), w.client(5));
        w.run(signed(&unused, 1, add_key(&unused, 11))).unwrap();
        new_webhook(&w, unused.caller);
        w.run(w.create(&paying, "paid", "1")).unwrap();
        w.live(&live, 13);
        w.operate(Suspend(suspended.caller.client_id)).unwrap();
        w.run(stranger(15, None)).unwrap();
        w.pass(30 * DAY);
        w.run(Maintain).unwrap();
        assert!(w.engine.signatory(&public(1).id()).is_ok());
        let token = w.token(unused.key);
        w.pass(1);
        w.run(Maintain).unwrap();
        assert_eq!(code(w.engine.signatory(&public(1).id())), "client_suspended", "for a while before it is removed");
        assert_eq!(code(w.run(w.create(&unused, "late", "1"))), "account_not_found", "a call that was admitted just before");
        w.run(w.create(&paying, "paid-again", "1")).unwrap();
        w.pass(HOUR / 6);
        w.run(Maintain).unwrap();
        let (client, key) = (unused.caller.client, unused.key);
        assert_eq!(code(w.engine.signatory(&public(1).id())), "key_unknown");
        assert_eq!(code(w.engine.authenticate(&token.text)), "token_invalid");
        assert_eq!(code(w.run(signed(&unused, 20, w.create(&unused, "late", "1")))), "account_not_found");
        assert!(w.store.get(&Key::Client(client)).unwrap().is_none() && w.store.get(&Key::Key(key)).unwrap().is_none());
        w.assert_sound();
        for kept in [paying, live, suspended] {
            assert!(w.store.get(&Key::Client(kept.caller.client)).unwrap().is_some());
        }
        assert!(w.store.get(&Key::Client(newest.caller.client)).unwrap().is_none());
        assert_eq!(w.audit().iter().filter(|row| row.client == client && row.refused.is_none()).count(), 1, "the added key");
        // Its last token and webhook go with the next rounds of maintenance.
        w.pass(2 * DAY);
        w.run(Maintain).unwrap();
        w.run(Maintain).unwrap();
        let of_it = |record: &Record| match record {
            Record::Token(token) => token.client == client,
            Record::Allowance(AllowanceRecord { client: whose, .. }) => *whose == client,
            Record::EndpointSecret(_) | Record::Queue(_) => true,
            _ => false,
        };
        assert_eq!(count(&w, of_it), 0);
        assert!(verify(&*w.store, &mut |_| {}).unwrap().is_ok());
        // The highest numbers stay, so that no other client gets them.
        let numbers = |w: &World| (w.client(21).caller.client, w.client(22).key);
        let next = numbers(&w.node(sealing()));
        assert!(next.0.0 == 7 && next.1.0 > 8, "{next:?}");
    });
}

#[test]
fn a_payment_and_the_expiry_of_its_client_exclude_each_other() {
    over_each_store(|w| {
        let (early, late, _) = (w.client(1), w.client(2), w.client(3));
        w.pass(31 * DAY);
        let slow = Meddling::over(w.store.clone());
        let node = Engine::open(slow.clone(), w.env.clone(), sealing()).unwrap();
        let (other, first) = (Arc::new(w.node(sealing())), w.create(&early, "paid", "1"));
        let fast = other.clone();
        slow.before_commit(move || drop(fast.run(first).unwrap()));
        node.run(Maintain).unwrap();
        assert!(w.engine.signatory(&public(1).id()).is_ok(), "it has paid just in time");
        assert_eq!(code(w.engine.signatory(&public(2).id())), "client_suspended");

        w.operate(Resume(late.caller.client_id)).unwrap();
        w.pass(HOUR);
        w.run(Maintain).unwrap();
        assert!(w.engine.signatory(&public(2).id()).is_ok(), "an operator has decided otherwise");
        w.pass(31 * DAY);
        slow.before_commit(move || {
            other.run(Maintain).unwrap();
        });
        assert_eq!(code(node.run(w.create(&late, "paid", "1"))), "account_not_found");
        w.assert_sound();
    });
}

#[test]
fn a_client_that_asks_for_live_access_at_the_last_moment_stays() {
    over_each_store(|w| {
        let (client, _) = (w.client(1), w.client(2));
        w.pass(31 * DAY);
        w.run(Maintain).unwrap();
        // Admitted by a node that has not noticed yet.
        w.run(EnrollLive { caller: client.caller, key: public(3) }).unwrap();
        w.pass(HOUR);
        w.run(Maintain).unwrap();
        assert!(w.engine.signatory(&public(1).id()).is_ok());
        w.run(w.create(&client, "paid", "1")).unwrap();
        w.assert_sound();
    });
}
