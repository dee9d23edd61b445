//! The audit trail: who did what, with which result.

use railgate::ids::EndpointNo;
use railgate::store::record::{EndpointRecord, SecretKind};
use railgate::store::{Commit, Write, typed};

use super::*;

/// The content of a row, without its number and time.
type Row = (u32, u32, AuditAction, i64, Option<String>, Option<String>);

fn row(record: &AuditRecord) -> Row {
    (record.client.0, record.key.0, record.action, record.target, record.name.clone(), record.refused.clone())
}

#[test]
fn every_signed_change_leaves_one_record_of_who_and_what() {
    over_each_store(|w| {
        let commands = signable(&w);
        let credential = w.engine.signatory(&public(1).id()).unwrap();
        let client = Client { caller: credential.caller, key: credential.key };
        let settlement = |reference: &str| w.engine.settlement(&client.caller, &target(reference)).unwrap().no.0;
        let (done, fresh) = (settlement("done"), settlement("fresh"));
        for (n, (action, command)) in (1..).zip(commands) {
            let of_nobody = action == AuditAction::Enroll;
            let command = if of_nobody { signed_by_nobody(n, command) } else { signed(&client, n, command) };
            w.run(command).unwrap();
            assert_eq!(w.audit().len(), usize::from(n), "{action:?}");
        }
        let rows: Vec<Row> = w.audit().iter().map(row).collect();
        let of = |n: u8| i64::from(w.engine.signatory(&public(n).id()).map_or(0, |c| c.key.0));
        let by = |action, target| (client.caller.client.0, client.key.0, action, target, None, None);
        let new = w.engine.signatory(&public(11).id()).unwrap();
        assert_eq!(rows[0], (new.caller.client.0, new.key.0, AuditAction::Enroll, i64::from(new.caller.client.0), None, None));
        assert_eq!(rows[2], by(AuditAction::IssueToken, i64::from(client.key.0)));
        assert_eq!(rows[3], by(AuditAction::RevokeToken, i64::from(client.key.0)));
        assert_eq!(rows[4], by(AuditAction::AddKey, of(15)));
        assert_eq!(rows[6], by(AuditAction::CheckSettlement, done));
        let (who, with, action, target, name, refused) = rows[7].clone();
        assert_eq!((who, with, action, target), (client.caller.client.0, client.key.0, AuditAction::Fund, 0));
        assert_eq!((name.as_deref(), refused), (Some("EUR"), None));
        assert_eq!(rows[8], by(AuditAction::AdvanceSettlement, done));
        assert_eq!(rows[9], by(AuditAction::SetFaults, 0));
        assert_eq!(rows[10], by(AuditAction::ResetSandbox, 0));
        assert_eq!(rows[11], by(AuditAction::ReverseSettlement, fresh));
        assert_eq!(rows[12], by(AuditAction::ReverseSettlement, done));
        let webhook = |n: u32| {
            let stored: Option<EndpointRecord> = typed(w.store.get(&Key::Endpoint(EndpointNo(n))).unwrap()).unwrap();
            i64::from(stored.unwrap().no.0)
        };
        let of_webhooks = [
            (AuditAction::CreateWebhook, webhook(4)),
            (AuditAction::UpdateWebhook, webhook(1)),
            (AuditAction::EnableWebhook, webhook(1)),
            (AuditAction::RotateWebhookSecret, webhook(1)),
            (AuditAction::TestWebhook, webhook(1)),
            (AuditAction::RedeliverWebhook, webhook(1)),
            (AuditAction::ReplayWebhook, 0),
            (AuditAction::DeleteWebhook, webhook(2)),
        ];
        for (row, (action, target)) in rows[13..].iter().zip(of_webhooks) {
            assert_eq!((row.0, row.1, row.2, row.3), (client.caller.client.0, client.key.0, action, target));
            assert_eq!(row.4.is_some(), target == 0, "{action:?}: a webhook whose number is not known is named by its id");
        }
        assert!([1, 5].iter().all(|n| rows[*n].3 > 0 && rows[*n].4.is_none()), "keys are named by their numbers: {rows:?}");
    });
}

#[test]
fn a_refusal_is_recorded_with_its_code_and_what_was_named() {
    over_each_store(|w| {
        let client = w.client(1);
        assert_eq!(code(w.run(signed(&client, 1, w.create(&client, "big", "2000000")))), "insufficient_funds");
        assert_eq!(code(w.run(signed(&client, 2, add_key(&client, 1)))), "key_exists");
        let rows: Vec<Row> = w.audit().iter().map(row).collect();
        let text = |text: &str| Some(text.to_owned());
        let (who, with) = (client.caller.client.0, client.key.0);
        assert_eq!(rows[0], (who, with, AuditAction::CreateSettlement, 0, text("big"), text("insufficient_funds")));
        assert_eq!(rows[1], (who, with, AuditAction::AddKey, 0, text(&public(1).id().to_string()), text("key_exists")));
        assert_eq!(rows.len(), 2);
    });
}

#[test]
fn what_an_operator_does_is_recorded() {
    over_each_store(|w| {
        let client = w.client(1);
        let asked = w.run(EnrollLive { caller: client.caller, key: public(2) }).unwrap();
        w.engine.challenge_keys().unwrap();
        let id = client.caller.client_id;
        w.operate(Approve { client: id, key: None }).unwrap();
        w.operate(Suspend(id)).unwrap();
        w.operate(Resume(id)).unwrap();
        w.operate(Revoke { client: id, key: asked.id }).unwrap();
        w.operate(Rotate(SecretKind::Receipt)).unwrap();
        let no = i64::from(client.caller.client.0);
        let rows: Vec<Row> = w.audit().iter().map(row).collect();
        let theirs = client.caller.client.0;
        let by_operator = |action, target| (theirs, 0, action, target, None, None);
        let expected = [
            by_operator(AuditAction::ApproveClient, no),
            by_operator(AuditAction::SuspendClient, no),
            by_operator(AuditAction::ResumeClient, no),
            by_operator(AuditAction::RevokeKey, i64::from(asked.no.0)),
            (0, 0, AuditAction::RotateSecret, 0, Some("receipt".to_owned()), None),
        ];
        assert_eq!(rows, expected);
        // Refusals are recorded too; this one concerns no existing client.
        w.operate(Suspend(Ulid(7))).unwrap_err();
        let refused = w.audit().iter().map(row).next_back().unwrap();
        let name = Some(format!("cli_{}", Ulid(7)));
        assert_eq!(refused, (0, 0, AuditAction::SuspendClient, 0, name, Some("client_not_found".to_owned())));
    });
}

#[test]
fn the_trail_grows_and_outlives_the_process() {
    let dir = Dir::new();
    let w = World::over(dir.open(), sealing());
    let client = w.client(1);
    for n in 1..=20 {
        w.run(signed(&client, n, w.create(&client, &format!("r{n}"), "1"))).unwrap();
        w.pass(i64::from(n % 3));
    }
    let rows = w.audit();
    assert_eq!(rows.len(), 20);
    let numbers: Vec<i64> = rows.iter().map(|row| row.no).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!(rows.iter().map(|row| row.target).is_sorted_by(|a, b| a < b), "in the order of what happened");
    let now = w.env.now();
    drop(w);

    let w = World::over(dir.open(), sealing());
    assert_eq!(w.audit(), rows);
    w.env.advance_to(now + 1);
    w.run(signed(&client, 30, w.create(&client, "later", "1"))).unwrap();
    let more = w.audit();
    assert_eq!((more.len(), &more[..20]), (21, &rows[..]));
}

#[test]
fn an_act_of_a_node_whose_clock_is_behind_is_a_change_too() {
    over_each_store(|w| {
        let client = w.client(1);
        w.run(signed(&client, 1, w.create(&client, "r", "10"))).unwrap();
        let mark = || w.engine.changes().unwrap().mark;
        let before = mark();
        assert_eq!(mark(), before, "nothing happened");
        let late = AuditRecord { no: w.audit()[0].no - 1, ..w.audit()[0].clone() };
        w.store.commit(&Commit { writes: vec![Write::Insert(late.into())] }).unwrap();
        assert_ne!(mark(), before);
    });
}
