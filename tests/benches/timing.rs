//! Whether a comparison with a secret takes longer the more of it is right: each place that docs/security-checks.md lists, measured as
//! dudect does (Reparaz, Balasch and Verbauwhede, 2017).
//!
//! Two inputs, one whose first byte is wrong and one whose last byte is, in random turns; the times of both are compared by Welch's t,
//! over all samples and over those below several percentiles, since interruptions lengthen some. An absolute t above 4.5 is a
//! difference. The first line is a comparison that ends at the first wrong byte, after the same HMAC: it must be found, or nothing is
//! measured. The exit code is 1 if it is not, or if another place differs.
//!
//! Arguments: `--samples N` of each place (1000000), a tenth where the whole engine is behind it.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use railgate::auth::{ChallengeKeys, KeyId, SessionBinding, SessionId, Signer as _, SoftwareKey, token_end, token_text};
use railgate::engine::{EnrollOperator, InviteOperator, Operated};
use railgate::ids::IdKey;
use railgate::ledger::Mode;
use railgate::rail::{CallbackError, Carried, Carrier, HttpRequest, Inbound, Rails};
use railgate::route::{ProviderSpec, Secrets};
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use railgate::webhook::{SignedHeaders, TOLERANCE_S, WebhookSecret, sign, verify};
use railgate::{Config, Gateway};
use sha2::{Digest as _, Sha256};

const NOW: i64 = 1_795_257_497_042;
/// Of webhooks, and of the callbacks of the provider.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// More than that is a difference.
const DIFFERS: f64 = 4.5;
/// Below which share of all times samples count.
const CROPS: [f64; 7] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25];

/// What is called with an input: whether it takes it, which it never may.
type Taken<'p> = Box<dyn Fn(&str) -> bool + 'p>;

/// A comparison, and wrong inputs: at the first byte, and at the last one. There are several of each, so that what decodes them does not
/// tell both apart.
struct Place<'p> {
    name: &'static str,
    wrong: [Vec<String>; 2],
    taken: Taken<'p>,
    slow: bool,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let given = args.iter().position(|arg| arg == "--samples").and_then(|at| args.get(at + 1)?.parse().ok());
    let samples: usize = given.unwrap_or(1_000_000);
    println!("what is compared | samples | ns, first byte wrong | ns, last byte wrong | largest t | differs");
    println!("-----------------|--------:|---------------------:|--------------------:|----------:|--------");
    let mut as_it_should = true;
    let world = World::new();
    for (n, place) in places(&world).iter().enumerate() {
        let count = if place.slow { samples / 10 } else { samples };
        let times = measured(place, count);
        let (t, [first, last]) = (largest_t(&times), times.each_ref().map(|times| median(times)));
        let differs = t.abs() > DIFFERS;
        println!("{} | {count} | {first:.0} | {last:.0} | {t:.2} | {}", place.name, if differs { "yes" } else { "no" });
        as_it_should &= differs == (n == 0);
    }
    assert!(as_it_should, "the naive comparison must differ, and no other");
}

/// The times of both inputs, in nanoseconds.
fn measured(place: &Place<'_>, count: usize) -> [Vec<f64>; 2] {
    let mut times = [Vec::with_capacity(count), Vec::with_capacity(count)];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let warm_up = count / 20;
    // Both are read from the same place.
    let mut input = String::with_capacity(1_024);
    for n in 0..count + warm_up {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let class = usize::from(random & 1 == 1);
        input.clear();
        input.push_str(&place.wrong[class][(random >> 33) as usize % place.wrong[class].len()]);
        let begun = Instant::now();
        let taken = (place.taken)(black_box(&input));
        let took = begun.elapsed();
        assert!(!black_box(taken), "{}: a wrong input is taken", place.name);
        if n >= warm_up {
            times[class].push(took.as_nanos() as f64);
        }
    }
    times
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The t with the largest absolute value of all crops.
fn largest_t(times: &[Vec<f64>; 2]) -> f64 {
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let most = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    let crops = CROPS.iter().map(|share| welch(&times.each_ref().map(|some| moments(some, most(*share)))));
    crops.fold(0.0, |worst: f64, t| if t.abs() > worst.abs() { t } else { worst })
}

/// Count, mean and variance of the times up to `most`.
fn moments(times: &[f64], most: f64) -> (f64, f64, f64) {
    let kept = || times.iter().filter(|time| **time <= most);
    let count = kept().count() as f64;
    let mean = kept().sum::<f64>() / count;
    let variance = kept().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (count, mean, variance)
}

fn welch([first, last]: &[(f64, f64, f64); 2]) -> f64 {
    let error = (first.2 / first.0 + last.2 / last.0).sqrt();
    if error > 0.0 { (last.1 - first.1) / error } else { 0.0 }
}

/// Wrong ones of `bytes`, of which the last `tag` are compared: another first byte of those, or another last one.
fn wrong(bytes: &[u8], tag: usize, encode: impl Fn(&[u8]) -> String) -> [Vec<String>; 2] {
    let with = |at: usize, other: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= other;
        encode(&bytes)
    };
    [bytes.len() - tag, bytes.len() - 1].map(|at| (1..=u8::MAX).map(|other| with(at, other)).collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).expect("hex"), 16).expect("hex")).collect()
}

fn places(world: &World) -> Vec<Place<'_>> {
    vec![
        naive(),
        code_of_a_session(),
        tag_of_a_token(),
        tag_of_a_challenge(),
        signature_of_a_webhook(),
        world.tag_of_a_quote(),
        world.tag_of_a_callback(),
        world.code_of_an_operator(),
    ]
}

fn naive() -> Place<'static> {
    let mac = || Hmac::<Sha256>::new_from_slice(&[7; 32]).expect("any key").chain_update([b'x'; 300]).finalize().into_bytes();
    let taken = move |given: &str| {
        let mut given = given.as_bytes().chunks(2).map(|two| (two[0] & 15) << 4 | two[1] & 15);
        mac().iter().all(|byte| given.next().is_some_and(|other| black_box(other) == *byte))
    };
    // Two letters a byte whose value is in their last four bits, so that decoding takes no time that depends on them.
    let encode = |bytes: &[u8]| bytes.iter().flat_map(|byte| [(64 | byte >> 4) as char, (64 | byte & 15) as char]).collect();
    Place { name: "**naive, after an HMAC**", wrong: wrong(&mac(), 32, encode), taken: Box::new(taken), slow: false }
}

fn code_of_a_session() -> Place<'static> {
    let bound = SessionBinding { token: "rg_sandbox_token", mode: Mode::Sandbox, key: KeyId([1; 32]), session: SessionId([2; 16]) };
    let key = bound.derive(&[3; 32]);
    let taken = move |given: &str| {
        let code: [u8; 32] = STANDARD.decode(given).expect("base64").try_into().expect("32 bytes");
        key.verify(&[b'x'; 300], &code)
    };
    let wrong = wrong(&key.sign(&[b'x'; 300]), 32, |bytes| STANDARD.encode(bytes));
    Place { name: "code of a call in a session", wrong, taken: Box::new(taken), slow: false }
}

fn tag_of_a_token() -> Place<'static> {
    let text = token_text(&IdKey([4; 16]), Mode::Sandbox, &[5; 32], NOW);
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_start_matches("rg_sandbox_")).expect("base64");
    let wrong = wrong(&bytes, 8, |bytes| format!("rg_sandbox_{}", URL_SAFE_NO_PAD.encode(bytes)));
    Place { name: "tag of a token", wrong, taken: Box::new(|given| token_end(&IdKey([4; 16]), given).is_some()), slow: false }
}

fn tag_of_a_challenge() -> Place<'static> {
    let keys = ChallengeKeys::new(vec![(1, [7; 32])]).expect("a key");
    let challenge = keys.issue(Mode::Sandbox, NOW, [3; 11]);
    let (body, tag) = challenge.rsplit_once('.').expect("a tag");
    let tag = URL_SAFE_NO_PAD.decode(tag).expect("base64");
    let wrong = wrong(&tag, tag.len(), |tag| format!("{body}.{}.AAAAAAAAAAAAAAAA", URL_SAFE_NO_PAD.encode(tag)));
    Place { name: "tag of a challenge", wrong, taken: Box::new(move |given| keys.check(given, Mode::Sandbox, NOW).is_ok()), slow: false }
}

fn signature_of_a_webhook() -> Place<'static> {
    let secrets = vec![WebhookSecret::parse(SECRET).expect("a secret")];
    let body = [b'x'; 300];
    let made = sign(&secrets, "msg_1", NOW / 1_000, &body);
    let signature = STANDARD.decode(made.trim_start_matches("v1,")).expect("base64");
    let wrong = wrong(&signature, 32, |bytes| format!("v1,{}", STANDARD.encode(bytes)));
    let timestamp = (NOW / 1_000).to_string();
    let taken = move |given: &str| {
        let headers = SignedHeaders { id: "msg_1", timestamp: &timestamp, signature: given };
        verify(&secrets, &headers, &body, NOW / 1_000, TOLERANCE_S).is_ok()
    };
    Place { name: "signature of a webhook, or of an adapter's callback", wrong, taken: Box::new(taken), slow: false }
}

/// A gateway with a client and a provider that calls back.
struct World {
    gateway: Gateway,
    client: railgate::api::Enrolled,
    /// The last part of an address that was given out for callbacks.
    place: String,
}

/// Notes where an operator is asked to call back.
#[derive(Default)]
struct Noted(Mutex<String>);

impl Carrier for Noted {
    fn carry(&self, request: &HttpRequest) -> Carried {
        let body: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&request.body).unwrap_or_default();
        if let Some(url) = body.get("callback_url").and_then(|url| url.as_str()) {
            url.rsplit('/').next().unwrap_or_default().clone_into(&mut self.0.lock().expect("no panics"));
        }
        Carried::NotSent
    }
}

impl World {
    fn new() -> Self {
        let secrets = [("token", "token-of-acme-long-enough"), ("callback_secret", SECRET)];
        let secrets = Secrets(secrets.into_iter().map(|(name, secret)| (name.to_owned(), secret.to_owned().into())).collect());
        let acme = ProviderSpec::new("acme", "Acme", Mode::Sandbox, &railgate::rail::adapter::Adapter);
        let acme = ProviderSpec { base_url: Some("https://acme.example".to_owned()), secrets, ..acme };
        let mut config = Config { rails: Rails::built_in(), master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), ..Config::sandbox() };
        config.providers.push(acme);
        let gateway = Gateway::open(MemoryStore::new(), config).expect("a gateway");
        gateway.engine().reached_at("https://gate.example/api/v1/rails".to_owned());
        let client = gateway.enroll("Shop").expect("enrolled");
        let paid = r#"{"amount":1,"currency":"EUR","to":"msisdn:+254700000001","reference":"a","provider":"acme"}"#;
        gateway.client(&client).create_json(paid).expect("accepted");
        let noted = Noted::default();
        gateway.work_with(&noted).expect("worked");
        let place = noted.0.into_inner().expect("no panics");
        assert!(place.contains('.'), "the operator is told where to call back: {place:?}");
        Self { gateway, client, place }
    }

    fn tag_of_a_quote(&self) -> Place<'_> {
        let client = self.gateway.client(&self.client);
        let body = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"q"}"#;
        let quote = client.check_json(body).expect("checked").quote.expect("a quote").quote_id;
        let wrong = wrong(&unhex(quote.trim_start_matches("quo_")), 16, |bytes| {
            body.replace('}', &format!(r#","quote_id":"quo_{}"}}"#, hex(bytes)))
        });
        Place { name: "tag of a quote (a create)", wrong, taken: Box::new(move |given| client.create_json(given).is_ok()), slow: true }
    }

    fn tag_of_a_callback(&self) -> Place<'_> {
        let (key, tag) = self.place.split_once('.').expect("a tag");
        let wrong = wrong(&unhex(tag), 16, |tag| format!("{key}.{}", hex(tag)));
        let body = format!(r#"{{"payment":"{key}","status":"completed"}}"#);
        let secret = [WebhookSecret::parse(SECRET).expect("a secret")];
        let (at, signature) = ((NOW / 1_000).to_string(), sign(&secret, "msg_1", NOW / 1_000, body.as_bytes()));
        let taken = move |place: &str| {
            let headers = [("webhook-id", "msg_1"), ("webhook-timestamp", &*at), ("webhook-signature", &*signature)];
            let inbound = Inbound { rail_key: None, source: None, headers: &headers, body: body.as_bytes(), now: NOW };
            let read = self.gateway.engine().read_callback("acme", Some(place), inbound).expect("read");
            !matches!(read, Err(CallbackError::Unauthenticated))
        };
        assert!(taken(&self.place), "the right address is told from a wrong one");
        Place { name: "tag of a callback's address", wrong, taken: Box::new(taken), slow: true }
    }

    /// What is compared is the code's hash: of two wrong codes, one has a hash whose first two bytes are right.
    fn code_of_an_operator(&self) -> Place<'_> {
        let engine = self.gateway.engine();
        let invite = InviteOperator { name: "Ada".to_owned(), role: OperatorRole::Agent, by: None, reason: None };
        let code = engine.run(Operated(invite)).expect("invited").code;
        let right = Sha256::digest(&code);
        let stem = &code[..code.len() - 6];
        let found = |wanted: &dyn Fn(&[u8]) -> bool| -> Vec<String> {
            let others = (0..32_u32.pow(5)).map(|n| {
                let digit = |at: u32| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[(n >> (5 * at) & 31) as usize] as char;
                format!("{stem}{}{}", (0..5).map(digit).collect::<String>(), &code[code.len() - 1..])
            });
            others.filter(|other| *other != code && wanted(&Sha256::digest(other))).take(32).collect()
        };
        let wrong = [found(&|hash| hash[0] != right[0]), found(&|hash| hash[..2] == right[..2])];
        let key = Arc::new(SoftwareKey::ed25519(&[9; 32])).public_key();
        let taken = move |given: &str| engine.run(EnrollOperator { code: given.to_owned(), key, name: None }).is_ok();
        Place { name: "code of an operator, by its hash", wrong, taken: Box::new(taken), slow: true }
    }
}
