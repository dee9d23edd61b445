//! The whole story: a partner's bundle becomes a provider, and a user's phone approves a payment that goes through it.

use railgate::env::Env as _;
use railgate::store::record::OperatorRole;
use serde_json::{Value, json};

use super::bundles::{BUNDLES, approved, bundle, review, tested, with_adapters};
use super::mobile::{MOBILE, Phone, decision, phone_of};
use super::notifications::PushService;
use super::operators::person;
use super::partner::{Fault, Running};
use super::signed::live;
use super::support::{NOW, SETTLEMENTS, Service, live_call};

/// A partner submits a bundle, one operator reviews it and publishes it for the sandbox, and a second operator lets it go live.
async fn published(service: &Service, partner: &Running) {
    let (agent, approver) = (person(service, 81, OperatorRole::Agent).await, person(service, 82, OperatorRole::Approver).await);
    let (key, token, _) = live(service).await;
    let call = async |path: &str, body: &str| live_call(service, (&key, &token), "POST", path, body).await;
    let made = call(BUNDLES, &bundle(&partner.url, |_| ()).to_string()).await.expect(201).json();
    let id = made["id"].as_str().unwrap();
    call(&format!("{BUNDLES}/{id}/submit"), "").await.expect(200);
    tested(service, &agent, id).await;
    approved(service, &agent, id).await;
    review(service, &agent, id, "publish", json!({"mode": "sandbox", "reason": "contract signed"})).await.expect(200);
    tested(service, &agent, id).await;
    let asked = review(service, &agent, id, "publish", json!({"mode": "live", "reason": "contract signed"})).await.expect(202).json();
    let confirm = format!("/approvals/{}/confirm", asked["approval"]["id"].as_str().unwrap());
    approver.call(service, "POST", &confirm, json!({"comment": "seen"})).await.expect(200);
    assert_eq!(tested(service, &agent, id).await["published"], json!({"sandbox": true, "live": true}));
}

/// A phone of each user tells how long the payment took. Fewer than five are not told apart from others.
async fn measured(service: &Service, phone: &Phone, settlement: &Value, ms: u32) {
    let at = railgate::time::rfc3339(service.env.now());
    let point =
        json!({"id": "measured-1", "metric": "payment.answer", "value": ms, "unit": "ms", "at": at, "settlement": settlement["id"]});
    let taken = phone.call(service, "POST", &format!("{MOBILE}/quality"), json!({"items": [point]})).await.expect(200).json();
    assert_eq!(taken["accepted"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_approves_a_payment_that_goes_through_a_partners_bundle() {
    let service = with_adapters().await;
    let partner = Running::start(Fault::None, NOW).await;
    published(&service, &partner).await;
    let before = partner.paid();
    let pushes = PushService::start().await;
    for n in 0..5 {
        let user = format!("user-{n}");
        let limits = json!([{"currency": "KES", "max": 50_000, "approval_over": 1_000}]);
        let phone = phone_of(&service, 50 + n, json!({"user": user, "limits": limits})).await;
        phone.subscribe(&service, &pushes).await;
        // Otherwise a push names no payment.
        phone.call(&service, "PUT", &format!("{MOBILE}/preferences"), json!({"detail": "full"})).await.expect(200);
        let reference = format!("rent-{n}");
        let payment = json!({
            "amount": 2_500, "currency": "KES", "to": "msisdn:+254700000001", "reference": reference, "provider": "acme-sandbox", "user": user,
        });
        let waiting = service.post(SETTLEMENTS, &payment).await.expect(201).json();
        assert_eq!((&waiting["status"], &waiting["approval"]["status"]), (&json!("accepted"), &json!("pending")));

        // The phone shows what the push names, and the user approves that.
        let told = pushes.told(|told| told["data"]["kind"] == "approval.requested" && told["data"]["settlement_id"] == waiting["id"]).await;
        let path = format!("{MOBILE}/approvals/{}", told["data"]["settlement_id"].as_str().unwrap());
        let shown = phone.get(&service, &path).await.expect(200).json();
        phone.call(&service, "POST", &path, decision(&shown, "approve")).await.expect(200);
        service.until(&reference, "completed").await;
        pushes.told(|told| told["data"]["kind"] == "payment.completed" && told["data"]["settlement_id"] == waiting["id"]).await;
        let receipt = phone.get(&service, &format!("{SETTLEMENTS}/{reference}/receipt")).await.expect(200).json();
        assert_eq!((&receipt["status"], &receipt["amount"]), (&json!("completed"), &json!(2_500.0)));
        measured(&service, &phone, &waiting, 200 + u32::from(n)).await;
    }
    assert_eq!(partner.paid() - before, 5, "each payment reached the partner once");
    let summary = service.get(&format!("{MOBILE}/quality/summary?metric=payment.answer&by=provider")).await.expect(200).json();
    let group = &summary["groups"][0];
    assert_eq!((&group["provider"], &group["count"]), (&json!("acme-sandbox"), &json!(5)));
    assert_eq!((group["min"].as_f64(), group["max"].as_f64()), (Some(200.0), Some(204.0)));
    service.running.stop().await;
}
