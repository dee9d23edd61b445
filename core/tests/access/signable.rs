//! One command of every kind that a client can sign.

use railgate::api::SettlementView;
use railgate::bundle::EXAMPLE;
use railgate::engine::{
    AskBundle, BundleAsk, BundleBy, DecidePayment, EnrollDevice, MakeDeviceCode, PutUser, RemoveSubscription, RenameDevice, RevokeDevice,
    Shown, Subscribe,
};
use railgate::validate::bundle::parse_bundle;
use railgate::validate::mobile::parse_user;
use railgate::validate::notification::parse_subscription;

use super::*;

/// A command, and its name in the audit trail.
pub type Signable = (AuditAction, AnyCommand);

pub fn signable_as<C>(action: AuditAction, command: C) -> Signable
where
    C: Command + Sync + Debug,
    C::Output: Debug,
{
    (action, AnyCommand::new(command))
}

/// One command of every kind that can be signed, except creates; each can succeed.
pub fn signable(w: &World) -> Vec<Signable> {
    let client = w.client(1);
    let caller = client.caller;
    w.add_key(&client, 2).unwrap();
    let token = token_hash(&w.token(client.key).text).unwrap();
    for reference in ["done", "fresh"] {
        w.run(w.create(&client, reference, "10")).unwrap();
        if reference == "done" {
            while w.engine.work(64, &()).unwrap() > 0 {}
        }
    }
    let settlement = w.engine.settlement(&caller, &target("done")).unwrap().no;
    let completed = parse_advance(br#"{"to":"completed"}"#).unwrap();
    let mut commands = vec![
        signable_as(AuditAction::Enroll, enrolment("New", 11)),
        signable_as(AuditAction::EnrollLive, EnrollLive { caller, key: public(13) }),
        signable_as(AuditAction::IssueToken, IssueToken { key: client.key, scopes: None, session: None }),
        signable_as(AuditAction::RevokeToken, RevokeToken { caller, key: client.key, token }),
        signable_as(AuditAction::AddKey, add_key(&client, 15)),
        signable_as(AuditAction::RevokeKey, RevokeKey { caller, key: public(2).id() }),
        signable_as(AuditAction::CheckSettlement, NoteCheck(settlement)),
        signable_as(AuditAction::Fund, Fund { caller, money: Money::from_minor(5, Currency::from_code("EUR").unwrap()) }),
        signable_as(AuditAction::AdvanceSettlement, Advance { caller, target: target("done"), request: completed }),
        signable_as(AuditAction::SetFaults, SetFaults { caller, faults: FaultsView::default() }),
        signable_as(AuditAction::ResetSandbox, Reset { caller }),
        signable_as(AuditAction::ReverseSettlement, reverse(caller, "fresh", "")),
        signable_as(AuditAction::ReverseSettlement, reverse(caller, "done", "")),
    ];
    commands.extend(webhook_changes(w, caller));
    commands.push(signable_as(AuditAction::Enroll, EnrollStranger { enroll: enrolment("Newer", 17), invitation: None }));
    commands.push(signable_as(AuditAction::SetClock, SetClock { caller, request: ClockRequest::default() }));
    commands.extend(user_changes(w, caller));
    commands.extend(bundle_changes(w, &client));
    let kinds: BTreeSet<String> = commands.iter().map(|(_, command)| kind(command)).collect();
    assert_eq!(kinds, kinds_with_deeds(), "every kind that leaves a deed of a client's is in the list");
    commands
}

/// One change of every kind to the client's webhooks.
fn webhook_changes(w: &World, caller: Caller) -> Vec<Signable> {
    let topic = Topic::Event(EventType::SettlementCompleted);
    let (id, other) = (new_webhook(w, caller), new_webhook(w, caller));
    let parcel = w.run(TestWebhook { caller, id, topic }).unwrap();
    let delivery = w.engine.delivery_view(&parcel.deliveries[0]).unwrap().id;
    let delivery = Ulid::parse(delivery.strip_prefix("dlv_").unwrap()).unwrap();
    // There must be something to replay.
    w.run(NumberEvents { limit: 100 }).unwrap();
    let patch = WebhookPatch { description: Some(Some("The accounts".to_owned())), ..WebhookPatch::default() };
    vec![
        signable_as(AuditAction::CreateWebhook, new_hook(caller, None)),
        signable_as(AuditAction::UpdateWebhook, UpdateWebhook { caller, id, patch }),
        signable_as(AuditAction::EnableWebhook, EnableWebhook { caller, id }),
        signable_as(AuditAction::RotateWebhookSecret, RotateWebhookSecret { caller, id, grace_ms: 3_600_000 }),
        signable_as(AuditAction::TestWebhook, TestWebhook { caller, id, topic }),
        signable_as(AuditAction::RedeliverWebhook, Redeliver { caller, id, delivery }),
        signable_as(AuditAction::ReplayWebhook, Replay { caller, id, since: 0, until: i64::MAX, after: 0, before: 0 }),
        signable_as(AuditAction::DeleteWebhook, DeleteWebhook { caller, id: other }),
    ]
}

pub fn new_webhook(w: &World, caller: Caller) -> Ulid {
    let made = w.run(new_hook(caller, None)).unwrap();
    assert!(made.secret.is_some());
    made.endpoint.id
}

/// One change of every kind to the client's end users, by itself and on their devices.
fn user_changes(w: &World, caller: Caller) -> Vec<Signable> {
    let (limits, _) = parse_user(br#"{"limits":[{"currency":"EUR","approval_over":100}]}"#).unwrap();
    let make = |name: &str| MakeDeviceCode { caller, name: name.to_owned(), limits: limits.clone(), link: "app:{code}".to_owned() };
    let enrol = |name: &str, n| {
        let platform = "android".to_owned();
        let code = w.run(make(name)).unwrap().code;
        EnrollDevice { code, key: public(n), platform, app_version: None, model: None, label: None, attestation: None }
    };
    let phone = w.run(enrol("ada", 19)).unwrap();
    let lost = w.run(enrol("ada", 21)).unwrap().device.id;
    let (user, key, device) = (Caller { user: Some(phone.user.no), ..caller }, phone.key.no, phone.device.id);
    let waiting = w.run(create(&w.engine, user, r#"{"amount":200,"currency":"EUR","to":"sim:ok","reference":"waiting"}"#)).unwrap();
    let subscribe = |path: &str| Subscribe { caller: user, key, new: parse_subscription(subscription(path).as_bytes()).unwrap() };
    let subscribed = w.run(subscribe("old")).unwrap().id;
    let view = w.engine.view(&waiting.settlement, caller.client_id);
    let (shown, settlement) = (shown(&view), Ulid::parse(view.id.strip_prefix("stl_").unwrap()).unwrap());
    vec![
        signable_as(AuditAction::PutUser, PutUser { caller, name: "eve".to_owned(), limits: None, status: None }),
        signable_as(AuditAction::MakeDeviceCode, make("eve")),
        signable_as(AuditAction::EnrollDevice, enrol("bob", 23)),
        signable_as(AuditAction::RenameDevice, RenameDevice { caller: user, device, label: "the blue one".to_owned() }),
        signable_as(AuditAction::RevokeDevice, RevokeDevice { caller, device: lost }),
        signable_as(AuditAction::ApprovePayment, DecidePayment { caller: user, key, settlement, approve: true, shown, reason: None }),
        signable_as(AuditAction::Subscribe, subscribe("new")),
        signable_as(AuditAction::Unsubscribe, RemoveSubscription { caller: user, id: subscribed }),
    ]
}

fn shown(view: &SettlementView) -> Shown {
    let money = format!("{} {}", view.amount.as_str(), view.currency).parse().unwrap();
    Shown { money, to: view.to.parse().unwrap(), reference: view.reference.parse().unwrap(), payee_name: None }
}

/// The key of the example in RFC 8291, section 5.
fn subscription(path: &str) -> String {
    let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    format!(r#"{{"endpoint":"https://push.example.com/{path}","keys":{{"p256dh":"{p256dh}","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}}}"#)
}

/// One change of every kind that a partner makes to its bundles.
fn bundle_changes(w: &World, client: &Client) -> Vec<Signable> {
    let write = || w.engine.read_bundle(&client.caller, client.key, None, parse_bundle(EXAMPLE.as_bytes()).unwrap()).unwrap();
    let (by, id) = (BundleBy::Partner(client.caller, client.key), w.run(write()).unwrap().id);
    let ask = AskBundle { by, id, expected: None, ask: BundleAsk::Submit, comment: None };
    vec![signable_as(AuditAction::CreateBundle, write()), signable_as(AuditAction::SubmitBundle, ask)]
}

/// The name of a command's type.
fn kind(command: &AnyCommand) -> String {
    format!("{command:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// The commands that record a client's action in the audit trail, taken from the engine's sources: a new one must be added to the
/// list above. Creates have separate tests.
fn kinds_with_deeds() -> BTreeSet<String> {
    const BY_OPERATORS: [&str; 19] = [
        "access/operator.rs",
        "operator/act.rs",
        "operator/approval.rs",
        "reconcile/begin.rs",
        "operator/people.rs",
        "money/movement.rs",
        "access/invite.rs",
        "review/resolve.rs",
        "setup/agree.rs",
        "setup/credit.rs",
        "setup/put.rs",
        "group/any.rs",
        "engine/once.rs",
        "event_log/epoch.rs",
        "event_log/repair.rs",
        "cell/leave.rs",
        "cell/arrive.rs",
        "bundle/publish.rs",
        "bundle/review.rs",
    ];
    let mut kinds = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !BY_OPERATORS.iter().any(|other| path.ends_with(other)) {
                let source = std::fs::read_to_string(path).unwrap();
                let bodies = source.split("\nimpl").filter_map(|item| item.split_once("Command for ")?.1.split_once(" {\n"));
                kinds.extend(bodies.filter(|(_, body)| body.contains("fn deed(")).map(|(name, _)| name.to_owned()));
            }
        }
    }
    assert!(kinds.remove("Create"));
    kinds
}
