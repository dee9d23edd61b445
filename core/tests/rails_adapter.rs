//! The rail of adapters: what it sends, what each answer means, callbacks, and whole payments over it. `docs/rails/adapter.md` shows the
//! table of answers; `RAILGATE_BLESS=1` regenerates it.

use crate::adapter_says::{NOT_FOUND, NOT_FOUND_WRONG, NOT_OF_PAYMENT, OF_PAYMENT, OF_REVERSAL, PAYMENT, REVERSAL};
use crate::scripted::{START, Script, World, replied};
use railgate::api::{Action, PayeeView, RailCall, ReversalStatus, ReverseRequest, SettlementStatus, Subject};
use railgate::engine::{Heartbeat, ReportAnswer, Step};
use railgate::env::Env as _;
use railgate::ids::{ClientNo, ProviderNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::money::Currency;
use railgate::rail::adapter::{Adapter, CALLBACK_SECRET, Status, TOKEN};
use railgate::rail::{
    CallbackError, Carried, FailureCode, Heard, HttpReply, HttpRequest, Inbound, Link, Payee, PayeeMatch, Rail as _, RailAnswer, Rails,
    Request,
};
use railgate::route::ProviderSpec;
use railgate::route::health::Health;
use railgate::validate::provider::parse_provider;
use railgate::webhook::{ID, SIGNATURE, TIMESTAMP, WebhookSecret, sign};
use serde_json::{Value, json};

const URL: &str = "https://adapter.example/acme/";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_cmFpbGdhdGUgZG9jdW1lbnRhdGlvbiBleGFtcGxlICE=";

fn spec(id: &str) -> ProviderSpec {
    let mut spec = ProviderSpec::new(id, id, Mode::Sandbox, &Adapter);
    spec.base_url = Some(URL.to_owned());
    spec.secrets.0.insert(TOKEN.to_owned(), "let-me-in".to_owned().into());
    spec.secrets.0.insert(CALLBACK_SECRET.to_owned(), SECRET.to_owned().into());
    spec
}

fn world() -> World {
    let world =
        World::over(vec![spec("acme"), ProviderSpec { base_url: Some("https://b.example".into()), ..spec("b") }], Rails::built_in());
    world.gateway.engine().reached_at("https://gate.example/api/v1/rails".to_owned());
    world
}

fn call(action: Action) -> RailCall {
    let is_payment = matches!(action, Action::Submit | Action::Inquire);
    let no = SettlementNo(1);
    RailCall {
        subject: if is_payment { Subject::Attempt(no, 1) } else { Subject::Reversal(no, 1) },
        client: ClientNo(1),
        action,
        provider: ProviderNo(1),
        rail_key: if is_payment { PAYMENT } else { REVERSAL }.to_owned(),
        paid_as: (!is_payment).then(|| (PAYMENT.to_owned(), None)),
        rail_reference: None,
        money: if is_payment { "10 EUR" } else { "4 EUR" }.parse().unwrap(),
        given_back: false,
        fee: 0,
        to: "msisdn:+254700000001".parse().unwrap(),
        reference: "inv-1".parse().unwrap(),
        description: None,
        mode: Mode::Sandbox,
        tries: 0,
        not_after: i64::MAX,
        leave_by: i64::MAX,
    }
}

fn link(spec: &ProviderSpec) -> Link<'_> {
    Link { provider: spec, token: None, callback_url: None, asked: None, now: START }
}

fn encoded(call: &RailCall, link: &Link<'_>) -> HttpRequest {
    match Adapter.encode(call, link) {
        Request::Http(request) => request,
        other => panic!("{other:?}"),
    }
}

fn decoded(action: Action, status: u16, body: &str) -> RailAnswer {
    let reply = HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() };
    match Adapter.decode(&call(action), &link(&spec("acme")), &reply) {
        Heard::Answer(answer) => answer,
        Heard::Ask(request) => panic!("{request:?}"),
    }
}

/// An answer as the lists of `adapter_says` write it.
fn words(answer: &RailAnswer) -> String {
    let text = |text: &Option<String>| text.as_ref().map(|text| format!(" {text}")).unwrap_or_default();
    match answer {
        RailAnswer::Completed { rail_reference } => format!("completed{}", text(rail_reference)),
        RailAnswer::Accepted { rail_reference } => format!("accepted{}", text(rail_reference)),
        RailAnswer::Declined { code, elsewhere_ok, rail_code } => {
            format!("declined {}{}{}", code.as_str(), text(rail_code), if *elsewhere_ok { ", elsewhere" } else { "" })
        }
        RailAnswer::Returned { rail_code } => format!("returned{}", text(rail_code)),
        RailAnswer::NotSent => "not sent".to_owned(),
        RailAnswer::Unknown => "unknown".to_owned(),
    }
}

#[test]
fn every_answer_about_a_payment_and_a_reversal_means_one_thing() {
    for (action, answers) in [(Action::Submit, OF_PAYMENT), (Action::Inquire, OF_PAYMENT), (Action::Reverse, OF_REVERSAL)] {
        for (body, means) in answers {
            assert_eq!(words(&decoded(action, 200, body)), *means, "{body}");
            assert_eq!(words(&decoded(action, 201, body)), *means, "{body}");
            for status in [100, 204, 301, 400, 401, 404, 409, 422, 429, 500, 503] {
                assert_eq!(decoded(action, status, body), RailAnswer::Unknown, "{status} {body}");
            }
        }
    }
    for body in NOT_OF_PAYMENT {
        for action in [Action::Submit, Action::Inquire] {
            assert_eq!(decoded(action, 200, body), RailAnswer::Unknown, "{body}");
        }
    }
    for about_another in [
        r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-2"}"#,
        r#"{"status":"completed","reversal":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-R2"}"#,
        r#"{"status":"completed","amount":"10.00"}"#,
    ] {
        assert_eq!(decoded(Action::InquireReversal, 200, about_another), RailAnswer::Unknown, "{about_another}");
    }
    let (short, long) = ("x".repeat(128), "x".repeat(129));
    let referring =
        |reference: &str| decoded(Action::Submit, 200, &json!({"status": "completed", "rail_reference": reference}).to_string());
    assert_eq!(words(&referring(&short)), format!("completed {short}"));
    assert_eq!(referring(&long), RailAnswer::Unknown);
    let huge = format!(r#"{{"status":"completed","x":"{}"}}"#, "x".repeat(64 << 10));
    assert_eq!(decoded(Action::Submit, 200, &huge), RailAnswer::Unknown, "more than 64 KiB");
}

#[test]
fn only_an_adapter_s_own_word_proves_that_nothing_was_taken() {
    for action in [Action::Inquire, Action::InquireReversal] {
        for (body, proves) in NOT_FOUND {
            let expected = if *proves { RailAnswer::NotSent } else { RailAnswer::Unknown };
            // What names the payment alone is not about its reversal.
            let expected = if action == Action::InquireReversal && body.contains("payment") { RailAnswer::Unknown } else { expected };
            assert_eq!(decoded(action, 404, body), expected, "{body}");
            assert_eq!(decoded(action, 410, body), RailAnswer::Unknown);
        }
        for body in NOT_FOUND_WRONG.iter().chain(&["", "<html>404</html>", r#"{"authoritative":true,"payment":"another"}"#]) {
            assert_eq!(decoded(action, 404, body), RailAnswer::Unknown, "{body}");
        }
    }
    for action in [Action::Submit, Action::Reverse] {
        assert_eq!(decoded(action, 404, r#"{"authoritative":true}"#), RailAnswer::Unknown, "it was not asked that");
    }
    for (inquiry, proves) in [("authoritative", true), ("advisory", false)] {
        let mut spec = spec("acme");
        spec.settings.insert("inquiry".to_owned(), inquiry.to_owned());
        assert_eq!(Adapter.configure(&mut spec), []);
        assert_eq!(Adapter.proves_not_sent(Action::Inquire, &spec), proves);
        assert!(Adapter.proves_not_sent(Action::Submit, &spec), "that it could not be reached always is");
    }
}

#[test]
fn requests_say_exactly_what_is_to_be_done() {
    let spec = spec("acme");
    let with_callback = Link { callback_url: Some("https://gate.example/cb"), ..link(&spec) };
    let described = RailCall { description: Some("for \"Jane\"".to_owned()), ..call(Action::Submit) };
    let sent = |call: &RailCall, link: &Link<'_>| {
        let request = encoded(call, link);
        assert!(request.signed);
        assert!(request.headers.contains(&("authorization".to_owned(), "Bearer let-me-in".to_owned())));
        assert_eq!(request.repeatable, request.method == "GET", "the engine asks before anything is sent again");
        let body: Value = if request.body.is_empty() { Value::Null } else { serde_json::from_slice(&request.body).unwrap() };
        (request.method, request.url, body)
    };
    let payment = format!("https://adapter.example/acme/railgate/v1/payments/{PAYMENT}");
    let reversal = format!("{payment}/reversals/{REVERSAL}");
    let body = json!({
        "settlement_id": "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "reference": "inv-1", "amount": "10.00", "currency": "EUR",
        "to": "msisdn:+254700000001", "mode": "sandbox",
    });
    assert_eq!(sent(&call(Action::Submit), &link(&spec)), ("PUT", payment.clone(), body.clone()));
    let mut full = body;
    full["description"] = json!("for \"Jane\"");
    full["callback_url"] = json!("https://gate.example/cb");
    assert_eq!(sent(&described, &with_callback), ("PUT", payment.clone(), full));
    assert_eq!(sent(&call(Action::Inquire), &with_callback), ("GET", payment, Value::Null));
    let asked = RailCall { description: Some("duplicate".to_owned()), ..call(Action::Reverse) };
    let give_back = json!({"amount": "4.00", "currency": "EUR", "reason": "duplicate", "callback_url": "https://gate.example/cb"});
    assert_eq!(sent(&asked, &with_callback), ("PUT", reversal.clone(), give_back));
    assert_eq!(sent(&call(Action::InquireReversal), &link(&spec)), ("GET", reversal, Value::Null));
    let orphan = RailCall { paid_as: None, ..call(Action::Reverse) };
    assert_eq!(Adapter.encode(&orphan, &link(&spec)), Request::Known(RailAnswer::Unknown));
}

#[test]
fn payees_are_shown_as_the_adapter_knows_them() {
    let spec = spec("acme");
    let payee = Payee { to: "msisdn:+254700000001".parse().unwrap(), currency: Currency::from_code("EUR").unwrap() };
    let request = Adapter.look_up_payee(&payee, &link(&spec)).unwrap();
    assert_eq!((request.method, &*request.url), ("POST", "https://adapter.example/acme/railgate/v1/payees"));
    assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), json!({"to": "msisdn:+254700000001", "currency": "EUR"}));
    assert!(request.repeatable && request.signed);
    let view = |status: u16, body: &str| {
        let reply = HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() };
        match Adapter.decode_payee(&payee, &link(&spec), &reply) {
            Heard::Answer(PayeeView { payee_match, display_name }) => (payee_match, display_name),
            Heard::Ask(request) => panic!("{request:?}"),
        }
    };
    let jane = || Some("Jane W.".to_owned());
    assert_eq!(view(200, r#"{"match":"match","display_name":"Jane W."}"#), (PayeeMatch::Match, jane()));
    assert_eq!(view(200, r#"{"match":"close_match","display_name":"Jane W."}"#), (PayeeMatch::CloseMatch, jane()));
    assert_eq!(view(200, r#"{"match":"match"}"#), (PayeeMatch::Match, None));
    assert_eq!(view(200, r#"{"match":"no_match","display_name":"Jane W."}"#), (PayeeMatch::NoMatch, None));
    assert_eq!(view(200, r#"{"match":"not_available"}"#), (PayeeMatch::NotAvailable, None));
    let long = json!({"match": "match", "display_name": "x".repeat(129)}).to_string();
    for wrong in [r#"{"match":"maybe"}"#, r#"{"display_name":"Jane"}"#, r#"{"match":"match","display_name":"\u202eenaJ"}"#, "[]", "", &long]
    {
        assert_eq!(view(200, wrong), (PayeeMatch::NotAvailable, None), "{wrong}");
    }
    for status in [201, 404, 500] {
        assert_eq!(view(status, r#"{"match":"match"}"#), (PayeeMatch::NotAvailable, None), "{status}");
    }
    let without = ProviderSpec { capabilities: railgate::route::Capabilities { check_payee: false, ..spec.capabilities }, ..spec.clone() };
    assert_eq!(Adapter.look_up_payee(&payee, &link(&without)), None);
}

#[test]
fn a_heartbeat_is_one_of_four_words() {
    let said = |status: u16, body: &str| Adapter.decode_heartbeat(&HttpReply { status, headers: Vec::new(), body: body.into() });
    for health in Health::ALL {
        assert_eq!(said(200, &format!(r#"{{"status":"{}"}}"#, health.as_str())), Some(*health));
        assert_eq!(said(503, &format!(r#"{{"status":"{}"}}"#, health.as_str())), None);
    }
    for wrong in [r#"{"status":"fine"}"#, "{}", "up", ""] {
        assert_eq!(said(200, wrong), None, "{wrong}");
    }
}

/// The problems of a provider whose settings and secrets are these.
fn problems(settings: &Value, secrets: &Value) -> Vec<(String, String)> {
    let body = json!({
        "id": "acme", "name": "Acme", "rail": "adapter", "mode": "live", "base_url": URL, "settings": settings, "secrets": secrets,
    });
    let refused = parse_provider(body.to_string().as_bytes(), &Rails::built_in()).err();
    let fields = refused.map(|error| error.into_fields()).unwrap_or_default();
    fields.into_iter().map(|it| (it.pointer, it.code.into_owned())).collect()
}

#[test]
fn a_provider_says_what_its_adapter_supports_and_nothing_unknown() {
    let body = |settings: Value| {
        let body = json!({"id": "a", "name": "A", "rail": "adapter", "mode": "live", "base_url": URL, "settings": settings});
        parse_provider(body.to_string().as_bytes(), &Rails::built_in()).unwrap().spec.capabilities
    };
    let all = Adapter.capabilities();
    assert_eq!(body(json!({})), all);
    assert_eq!(body(json!({"payees": "yes", "reversals": "partial", "inquiry": "authoritative"})), all);
    let least = body(json!({"payees": "no", "reversals": "none", "inquiry": "advisory"}));
    assert_eq!(
        (least.check_payee, least.reverse, least.partial_reverse, least.inquiry, least.idempotent_submit),
        (false, false, false, false, true)
    );
    let full = body(json!({"reversals": "full"}));
    assert_eq!((full.reverse, full.partial_reverse), (true, false));

    let both = format!("{SECRET} {OTHER_SECRET}");
    assert_eq!(problems(&json!({"callback_sources": "192.0.2.0/24"}), &json!({"token": "t", "callback_secret": both})), []);
    let found = problems(
        &json!({"payees": "maybe", "reversals": "", "inquiry": "no", "token/x": "t"}),
        &json!({"token": "two words", "callback_secret": "whsec_x", "password": "p"}),
    );
    let expected = [
        ("/settings/inquiry", "setting_malformed"),
        ("/settings/payees", "setting_malformed"),
        ("/settings/reversals", "setting_malformed"),
        ("/settings/token~1x", "setting_unknown"),
        ("/secrets/callback_secret", "secret_malformed"),
        ("/secrets/password", "secret_unknown"),
        ("/secrets/token", "secret_malformed"),
    ];
    assert_eq!(found, expected.map(|(pointer, code)| (pointer.to_owned(), code.to_owned())));
    let three = format!("{both} {SECRET}");
    assert_eq!(problems(&json!({}), &json!({"callback_secret": three})).len(), 1);
    let nowhere = json!({"id": "a", "name": "A", "rail": "adapter", "mode": "live"}).to_string();
    let refused = parse_provider(nowhere.as_bytes(), &Rails::built_in()).unwrap_err().into_fields();
    assert_eq!((&*refused[0].pointer, &*refused[0].code), ("/base_url", "required"));
}

#[test]
fn a_payment_and_its_reversals_travel_through_a_gateway() {
    let world = world();
    let adapter = Script::new(|_, url: &str| match url.contains("/reversals/") {
        true => replied(200, r#"{"status":"completed","rail_reference":"R-1"}"#),
        false => replied(200, r#"{"status":"completed","rail_reference":"P-1"}"#),
    });
    let paid = world.pay(&adapter, 0);
    assert_eq!((paid.status, paid.rail_reference.as_deref()), (SettlementStatus::Completed, Some("P-1")));
    let part = ReverseRequest { amount: "4".parse().ok(), reference: "part".parse().ok(), ..ReverseRequest::default() };
    world.shop().reverse("r", part).unwrap();
    world.pass(&adapter, 0);
    assert_eq!(world.shop().reversal("r", "part").unwrap().status, ReversalStatus::Completed);
    let asked = adapter.asked.lock().unwrap();
    let [payment, reversal] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(reversal.url.rsplit_once("/reversals/").unwrap().0, payment.url);
    let body: Value = serde_json::from_slice(&payment.body).unwrap();
    assert_eq!(body["settlement_id"], paid.id.as_str());
    assert!(body["callback_url"].as_str().unwrap().starts_with("https://gate.example/api/v1/rails/acme/callbacks/"));
    assert!(payment.headers.iter().any(|(name, value)| name == "signature-input" && value.contains(r#"tag="railgate-rail""#)));
}

#[test]
fn an_inquiry_ends_the_doubt_and_only_proof_lets_another_pay() {
    let inquired = |status: u16, body: &'static str, ms: i64| {
        let world = world();
        let adapter = Script::new(move |method: &str, url: &str| match (method, url.contains("//b.")) {
            (_, true) => replied(200, r#"{"status":"completed"}"#),
            ("PUT", false) => Carried::Lost,
            (_, false) => replied(status, body),
        });
        let view = world.pay(&adapter, ms);
        let puts = adapter.asked().iter().filter(|asked| asked.starts_with("PUT")).count();
        (view.status, view.provider.to_string(), puts)
    };
    let acme = || "acme".to_owned();
    assert_eq!(inquired(200, r#"{"status":"completed"}"#, 10_000), (SettlementStatus::Completed, acme(), 1));
    assert_eq!(inquired(200, r#"{"status":"declined","code":"over_limit"}"#, 10_000), (SettlementStatus::Failed, acme(), 1));
    assert_eq!(inquired(404, r#"{"authoritative":true}"#, 10_000), (SettlementStatus::Unknown, acme(), 1), "it may still be on its way");
    assert_eq!(inquired(404, r#"{"authoritative":false}"#, 86_400_000), (SettlementStatus::Unknown, acme(), 1));
    assert_eq!(inquired(404, "", 86_400_000), (SettlementStatus::Unknown, acme(), 1));
    let (status, provider, puts) = inquired(404, r#"{"authoritative":true}"#, 86_400_000);
    assert_eq!((status, provider.as_str()), (SettlementStatus::Completed, "b"), "each time it proves that nothing arrived");
    assert_eq!(puts, 4, "three under the same key, and one elsewhere");
}

/// A callback of an adapter, as it arrives.
struct Callback {
    body: Vec<u8>,
    headers: [(&'static str, String); 3],
}

impl Callback {
    fn signed(secret: &str, at: i64, body: &Value) -> Self {
        let (body, at_s) = (body.to_string().into_bytes(), at / 1_000);
        let signature = sign(&[WebhookSecret::parse(secret).unwrap()], "cb-1", at_s, &body);
        Self { body, headers: [(ID, "cb-1".to_owned()), (TIMESTAMP, at_s.to_string()), (SIGNATURE, signature)] }
    }

    /// What a gateway reads.
    fn read(&self, world: &World, provider: &str, place: Option<&str>) -> Result<Option<(Subject, String)>, CallbackError> {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let inbound = Inbound { rail_key: None, source: None, headers: &headers, body: &self.body, now: world.env.now() };
        let read = world.gateway.engine().read_callback(provider, place, inbound).unwrap()?;
        Ok(read.map(|reported| {
            let words = words(&reported.answer);
            world.gateway.engine().run(ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None }).unwrap();
            (reported.subject, words)
        }))
    }
}

/// The last two parts of a URL below `callbacks/`, and the key of a payment that was just taken.
fn taken(world: &World) -> (String, String) {
    let adapter = Script::new(|_, _| replied(202, r#"{"status":"accepted","rail_reference":"P-1"}"#));
    assert_eq!(world.pay(&adapter, 0).status, SettlementStatus::Submitted);
    let asked = adapter.asked.lock().unwrap();
    let body: Value = serde_json::from_slice(&asked[0].body).unwrap();
    let place = body["callback_url"].as_str().unwrap().rsplit_once('/').unwrap().1.to_owned();
    (asked[0].url.rsplit_once('/').unwrap().1.to_owned(), place)
}

#[test]
fn a_signed_callback_completes_a_payment_once_and_a_later_one_returns_it() {
    let world = world();
    let (key, place) = taken(&world);
    let done = Callback::signed(SECRET, START, &json!({"payment": key, "status": "completed", "rail_reference": "P-1", "amount": "10.00"}));
    for place in [None, Some(place.as_str()), None] {
        let (subject, said) = done.read(&world, "acme", place).unwrap().unwrap();
        assert!(matches!(subject, Subject::Attempt(_, 1)));
        assert_eq!(said, "completed P-1");
        let view = world.shop().settlement("r").unwrap();
        assert_eq!((view.status, view.needs_review), (SettlementStatus::Completed, false), "a repeat changes nothing");
    }
    let back = Callback::signed(SECRET, START, &json!({"payment": key, "status": "returned", "rail_code": "B 3"}));
    back.read(&world, "acme", None).unwrap().unwrap();
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Returned);
}

#[test]
fn a_callback_about_a_reversal_names_both() {
    let world = world();
    let (key, place) = taken(&world);
    Callback::signed(SECRET, START, &json!({"payment": key, "status": "completed"})).read(&world, "acme", None).unwrap();
    world.shop().reverse("r", ReverseRequest { reference: "back".parse().ok(), ..ReverseRequest::default() }).unwrap();
    let adapter = Script::new(|_, _| replied(200, r#"{"status":"accepted"}"#));
    world.pass(&adapter, 0);
    let asked = adapter.asked.lock().unwrap();
    let reversal = asked[0].url.rsplit_once('/').unwrap().1;
    let about = |payment: &str, reversal: &str| {
        Callback::signed(SECRET, START, &json!({"payment": payment, "reversal": reversal, "status": "completed"}))
    };
    let another = "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1";
    assert_eq!(about(another, reversal).read(&world, "acme", None), Err(CallbackError::Malformed), "not a reversal of that payment");
    assert_eq!(about(&key, &key).read(&world, "acme", None), Err(CallbackError::Malformed));
    assert!(about(&key, &format!("{reversal}9")).read(&world, "acme", None).unwrap().is_none());
    let (subject, _) = about(&key, reversal).read(&world, "acme", Some(&place)).unwrap().unwrap();
    assert!(matches!(subject, Subject::Reversal(_, 1)));
    assert_eq!(world.shop().reversal("r", "back").unwrap().status, ReversalStatus::Completed);
}

#[test]
fn a_callback_that_is_not_authentic_or_not_about_this_payment_changes_nothing() {
    let world = world();
    let (key, place) = taken(&world);
    let body = json!({"payment": key, "status": "completed"});
    let good = Callback::signed(SECRET, START, &body);
    let refused = |callback: &Callback, provider: &str, place: Option<&str>| callback.read(&world, provider, place).unwrap_err();
    assert_eq!(refused(&Callback::signed(OTHER_SECRET, START, &body), "acme", None), CallbackError::Unauthenticated);
    assert_eq!(refused(&Callback::signed(OTHER_SECRET, START, &body), "acme", Some(&place)), CallbackError::Unauthenticated);
    assert_eq!(refused(&Callback::signed(SECRET, START - 301_000, &body), "acme", None), CallbackError::Unauthenticated, "replayed");
    assert_eq!(refused(&Callback::signed(SECRET, START + 301_000, &body), "acme", None), CallbackError::Unauthenticated);
    let altered = Callback { body: body.to_string().replace("completed", "declined").into_bytes(), headers: good.headers.clone() };
    assert_eq!(refused(&altered, "acme", None), CallbackError::Unauthenticated);
    for missing in 0..3 {
        let mut headers = good.headers.clone();
        headers[missing].0 = "x-other";
        assert_eq!(refused(&Callback { body: good.body.clone(), headers }, "acme", None), CallbackError::Unauthenticated);
    }
    assert_eq!(refused(&good, "acme", Some("guessed")), CallbackError::Unauthenticated);
    assert!(good.read(&world, "b", None).unwrap().is_none(), "it went to another provider");
    for wrong in [
        json!({"status": "completed"}),
        json!({"payment": key}),
        json!({"payment": key, "status": "unknown"}),
        json!({"payment": key, "status": "completed", "amount": "10.01"}),
        json!({"payment": key, "status": "completed", "currency": "KES"}),
        json!({"payment": key, "status": "completed", "code": "other"}),
        json!([key]),
    ] {
        assert_eq!(refused(&Callback::signed(SECRET, START, &wrong), "acme", None), CallbackError::Malformed, "{wrong}");
    }
    let another = json!({"payment": "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1", "status": "completed"});
    assert!(Callback::signed(SECRET, START, &another).read(&world, "acme", None).unwrap().is_none());
    assert_eq!(refused(&Callback::signed(SECRET, START, &another), "acme", Some(&place)), CallbackError::Malformed, "not its address");
    assert_eq!(world.shop().settlement("r").unwrap().status, SettlementStatus::Submitted);
}

#[test]
fn without_a_secret_there_are_no_callbacks_and_with_two_either_signs() {
    let with = |secret: Option<String>| {
        let mut spec = spec("acme");
        spec.secrets.0.remove(CALLBACK_SECRET);
        spec.secrets.0.extend(secret.map(|secret| (CALLBACK_SECRET.to_owned(), secret.into())));
        let world = World::over(vec![spec], Rails::built_in());
        world.gateway.engine().reached_at("https://gate.example/api/v1/rails".to_owned());
        world
    };
    let both = with(Some(format!("{OTHER_SECRET} {SECRET}")));
    let (key, _) = taken(&both);
    for secret in [SECRET, OTHER_SECRET] {
        let callback = Callback::signed(secret, START, &json!({"payment": key, "status": "completed"}));
        assert!(callback.read(&both, "acme", None).unwrap().is_some());
    }
    let none = with(None);
    let (key, place) = taken(&none);
    let callback = Callback::signed(SECRET, START, &json!({"payment": key, "status": "completed"}));
    assert_eq!(callback.read(&none, "acme", Some(&place)), Err(CallbackError::Unsupported));
}

#[test]
fn an_adapter_is_asked_how_it_is() {
    let world = world();
    let engine = world.gateway.engine();
    let mut exchange = engine.exchange(Heartbeat(engine.routes().number("acme").unwrap())).unwrap();
    let Step::Send(request) = exchange.step(engine) else { panic!("it is asked") };
    assert_eq!((request.method, &*request.url, request.timeout_ms), ("GET", "https://adapter.example/acme/railgate/v1/health", 5_000));
    exchange.heard(engine, &replied(200, r#"{"status":"degraded"}"#));
    assert!(matches!(exchange.step(engine), Step::Done(Some(Health::Degraded))));
    assert_eq!(engine.provider_by_id(&world.client.caller, "acme").unwrap().status, Health::Degraded, "its word counts");
}

/// The part of the page that this test writes.
fn table() -> String {
    let cell = |action, status, body: &str| match decoded(action, status, body) {
        RailAnswer::Completed { .. } => "`completed`",
        RailAnswer::Accepted { .. } => "`accepted`: asked again later",
        RailAnswer::Declined { elsewhere_ok: false, .. } => "`declined`",
        RailAnswer::Declined { elsewhere_ok: true, .. } => "`declined`; another provider may be tried",
        RailAnswer::Returned { .. } => "`returned`",
        RailAnswer::NotSent => "proof that nothing was taken",
        RailAnswer::Unknown => "unknown",
    };
    let mut rows: Vec<(String, u16, String)> = Vec::new();
    for status in Status::ALL {
        let status = status.as_str();
        rows.push((format!("200, 201, 202 with `{{\"status\": \"{status}\"}}`"), 200, format!(r#"{{"status":"{status}"}}"#)));
    }
    for (what, status, body) in [
        ("… `declined` with `\"elsewhere_ok\": true`", 200, r#"{"status":"declined","elsewhere_ok":true}"#),
        ("… `completed` or `accepted` with a `code` or with `\"elsewhere_ok\": true`", 200, r#"{"status":"completed","code":"other"}"#),
        ("… about another payment, reversal, amount or currency", 200, r#"{"status":"completed","currency":"XXX"}"#),
        ("… that does not fit the schema, or is longer than 64 KiB", 200, r#"{"status":"ok"}"#),
        ("404 with `{\"authoritative\": true}`", 404, r#"{"authoritative":true}"#),
        ("404 with `{\"authoritative\": false}`", 404, r#"{"authoritative":false}"#),
        ("404 with anything else", 404, ""),
        ("409", 409, ""),
        ("any other status", 500, ""),
    ] {
        rows.push((what.to_owned(), status, body.to_owned()));
    }
    let mut page =
        "| answer | to a payment | to the question about it | to a reversal | to the question about it |\n|---|---|---|---|---|\n"
            .to_owned();
    for (what, status, body) in rows {
        let cells = [Action::Submit, Action::Inquire, Action::Reverse, Action::InquireReversal].map(|action| cell(action, status, &body));
        page += &format!("| {what} | {} |\n", cells.join(" | "));
    }
    page += "\n| `code` | means | ISO 20022 |\n|---|---|---|\n";
    for code in FailureCode::ALL {
        let answer = decoded(Action::Submit, 200, &format!(r#"{{"status":"declined","code":"{}"}}"#, code.as_str()));
        assert!(matches!(answer, RailAnswer::Declined { code: read, .. } if read == *code));
        page += &format!("| `{}` | {} | {} |\n", code.as_str(), code.message(), code.iso_reason());
    }
    page
}

#[test]
fn the_page_shows_what_the_code_does() {
    const BEGIN: &str = "<!-- written by the test of the rail: begin -->\n";
    const END: &str = "<!-- end -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rails/adapter.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
    } else {
        assert_eq!(shown, table(), "run `RAILGATE_BLESS=1 cargo test -p railgate --test engine rails_adapter` and look at the difference");
    }
    let example = page.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let file: Value = toml::from_str(example).unwrap();
    let provider = parse_provider(file["providers"][0].to_string().as_bytes(), &Rails::built_in()).unwrap().spec;
    assert_eq!((provider.rail.as_str(), provider.secrets.0.len()), ("adapter", 2));
}
