//! What reads input that a stranger chose: one function for each kind, which fails by a panic if something does not hold.
//!
//! `scripts/fuzz.sh` runs them with input that grows by what it reaches, and `cargo test --test fuzz` with the corpus that is kept.

use std::collections::BTreeMap;
use std::str;
use std::sync::Arc;

use railgate::api::{Action, RailCall, Subject};
use railgate::auth::{Message, SignatureInput, TAG, check_content_digest, find_signature, parse_jwk};
use railgate::engine::verify::verify;
use railgate::ids::{ClientNo, ProviderNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::log::{Checkpoint, LogKey, TilePath};
use railgate::money::{Amount, Currency, Money};
use railgate::participant::{Participant, Reference};
use railgate::rail::{Heard, HttpReply, Link, RailAnswer, Rails, Request};
use railgate::receipt::verify_receipt;
use railgate::reconcile::{self, Settings};
use railgate::route::ProviderSpec;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::journal::JournalStore;
use railgate::store::memory::MemoryStore;
use railgate::traceparent::TraceParent;
use railgate::validate::bundle::{BUNDLE_MAX_BYTES, DOCUMENTS_MAX, MANIFEST, pack_bundle, unpack_bundle};
use railgate::validate::{self, AnyCurrency};
use railgate::webhook::{self, SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret};

/// Reads one input; returns whether it was accepted.
pub type Target = fn(&[u8]) -> bool;

/// Every target, by its name.
pub const TARGETS: &[(&str, Target)] = &[
    ("answers", answers),
    ("amounts", amounts),
    ("archives", archives),
    ("bodies", bodies),
    ("engine", engine),
    ("journal", journal),
    ("log", log),
    ("participants", participants),
    ("receipts", receipts),
    ("signatures", signatures),
    ("statements", statements),
    ("webhooks", webhooks),
];

/// 2026-11-24, in milliseconds.
const NOW: i64 = 1_795_257_497_042;

/// The first byte, which chooses something, and the rest.
fn chosen(input: &[u8]) -> (usize, &[u8]) {
    input.split_first().map_or((0, input), |(first, rest)| (usize::from(*first), rest))
}

/// Lines of text, and what comes after the first `count` of them.
fn lines(input: &[u8], count: usize) -> Option<(Vec<&str>, &[u8])> {
    let mut parts = input.splitn(count + 1, |byte| *byte == b'\n');
    let lines = parts.by_ref().take(count).map(str::from_utf8).collect::<Result<_, _>>().ok()?;
    Some((lines, parts.next().unwrap_or_default()))
}

/// A refusal is the caller's fault, and says where.
fn refused<T>(read: railgate::Result<T>) -> Option<T> {
    read.map_err(|error| {
        assert!(error.code.http_status() < 500, "{error:?}");
        assert!(!error.to_string().is_empty());
        let problem: serde_json::Value = serde_json::from_str(&error.problem_json()).expect("a problem is JSON");
        assert_eq!(problem["code"], error.code.as_str());
    })
    .ok()
}

/// The bodies of calls.
fn bodies(input: &[u8]) -> bool {
    let (which, body) = chosen(input);
    let rails = Rails::built_in();
    match which % 16 {
        0 => {
            let request = refused(validate::parse_create(body, &AnyCurrency, NOW));
            assert!(request.as_ref().is_none_or(|request| request.money.minor() > 0));
            request.is_some()
        }
        1 => refused(validate::parse_batch(body, &AnyCurrency, NOW)).is_some_and(|all| all.into_iter().filter_map(refused).count() > 0),
        2 => refused(validate::parse_reverse(body)).is_some(),
        3 => refused(validate::access::parse_enroll(body)).is_some(),
        4 => refused(validate::access::parse_token(body)).is_some(),
        5 => refused(validate::access::parse_new_key(body)).is_some(),
        6 => refused(validate::mobile::parse_user(body)).is_some(),
        7 => refused(validate::mobile::parse_device_enrollment(body)).is_some(),
        8 => refused(validate::mobile::parse_decision(body)).is_some(),
        9 => refused(validate::operator::parse_movement(body)).is_some(),
        10 => refused(validate::operator::parse_limits(body)).is_some(),
        11 => refused(validate::operator::parse_resolution(body)).is_some(),
        12 => refused(validate::provider::parse_provider(body, &rails)).is_some(),
        13 => refused(validate::provider::parse_routes(body)).is_some(),
        14 => refused(validate::quality::parse_quality(body, NOW)).is_some(),
        _ => refused(validate::webhook::parse_new_webhook(body)).is_some(),
    }
}

/// Amounts are read as they are written, in every currency in which they have no more than 15 digits.
fn amounts(input: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(input) else { return false };
    let Ok(amount) = Amount::parse(text) else { return false };
    for money in Currency::all().filter_map(|currency| amount.to_money(currency).ok()) {
        let written = format!("{} {}", money.decimal(), money.currency().code());
        if money.minor() < 1_000_000_000_000_000 {
            assert_eq!(written.parse::<Money>().ok(), Some(money), "{written}");
        }
    }
    true
}

/// Participants and references stay what they are, and are masked.
fn participants(input: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(input) else { return false };
    let (participant, reference) = (Participant::parse(text), Reference::parse(text));
    let accepted = participant.is_ok() || reference.is_ok();
    if let Ok(participant) = participant {
        assert_eq!(Participant::parse(participant.as_str()).as_ref(), Ok(&participant));
        assert_eq!(Participant::from_stored(participant.as_str().to_owned()).as_ref(), Some(&participant));
        assert!(participant.masked().starts_with(participant.namespace().as_str()));
    }
    if let Ok(reference) = reference {
        assert_eq!(Reference::parse(reference.as_str()).as_ref(), Ok(&reference));
    }
    accepted
}

/// The fields of a signed message, over RFC 9421 and RFC 8941.
fn signatures(input: &[u8]) -> bool {
    let Some((head, body)) = lines(input, 4) else { return false };
    let [method, uri, first, second] = head[..] else { return false };
    let _ = SignatureInput::parse_field(first);
    let _ = check_content_digest(second, body);
    let fields = [
        ("authorization", &b"Bearer rg"[..]),
        ("signature-input", first.as_bytes()),
        ("signature", second.as_bytes()),
        ("content-digest", second.as_bytes()),
    ];
    let message = Message { method, target_uri: uri, status: None, fields: &fields };
    let Some(signed) = refused(find_signature(&message, TAG)) else { return false };
    let _ = (signed.key_id(), signed.check_coverage(&message, !body.is_empty()), signed.check_created(NOW));
    let Some(base) = refused(signed.base(&message)) else { return false };
    assert!(base.contains("\"@signature-params\": "), "{base}");
    true
}

/// A webhook is believed with the signature of a secret, and only then.
fn webhooks(input: &[u8]) -> bool {
    let Some((head, body)) = lines(input, 3) else { return false };
    let [id, timestamp, signature] = head[..] else { return false };
    let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
    let headers = SignedHeaders { id, timestamp, signature };
    let now = headers.timestamp_s().unwrap_or(0);
    let secrets = [secret];
    let said = webhook::verify(&secrets, &headers, body, now, TOLERANCE_S);
    let own = webhook::sign(&secrets, id, now, body);
    assert!(said.is_err() || signature.split(' ').any(|one| one == own), "{signature}");
    let said = webhook::verify(&secrets, &SignedHeaders { signature: &own, ..headers }, body, now, TOLERANCE_S);
    assert!(matches!(said, Ok(()) | Err(VerifyError::Malformed(_))), "{said:?}");
    said.is_ok()
}

/// Receipts, the keys that they are verified with, and keys of callers.
fn receipts(input: &[u8]) -> bool {
    let Some((head, keys)) = lines(input, 1) else { return false };
    let Ok(keys) = str::from_utf8(keys) else { return false };
    let (receipt, key) = (verify_receipt(head[0], keys).is_ok(), parse_jwk(keys).ok());
    if let Some(key) = &key {
        assert_eq!(parse_jwk(&key.jwk()).ok().map(|key| key.id()), Some(key.id()));
    }
    receipt || key.is_some()
}

/// Checkpoints, keys and tiles of the log, and contexts of traces.
fn log(input: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(input) else { return false };
    let checkpoint = Checkpoint::parse(text);
    if let Some(checkpoint) = &checkpoint {
        assert_eq!(Checkpoint::parse(&checkpoint.text()).map(|it| it.text()), Some(checkpoint.text()));
    }
    checkpoint.is_some() | TilePath::parse(text).is_some() | LogKey::parse(text).is_some() | text.parse::<TraceParent>().is_ok()
}

/// A statement of a provider: a table, camt.053, camt.054, or entries of the GSMA API.
fn statements(input: &[u8]) -> bool {
    let table = [
        ("account", "+254700000000"),
        ("amount", "Amount"),
        ("currency", "=EUR"),
        ("date", "Date"),
        ("references", "Reference,Key"),
        ("participant", "Party"),
    ];
    let settings: BTreeMap<String, String> =
        table.iter().map(|(name, column)| (format!("statement_{name}"), (*column).to_owned())).collect();
    let settings = Settings::parse(&settings).expect("these are settings");
    let mut read = 0;
    let head = reconcile::read(&mut &*input, &settings, &mut |line| {
        read += 1;
        assert!(line.amount >= 0);
        Ok(())
    });
    let Some(head) = refused(head) else { return false };
    assert_eq!(u64::from(head.lines), read);
    read > 0
}

/// Archives of bundles.
fn archives(input: &[u8]) -> bool {
    let Some(content) = refused(unpack_bundle(input)) else { return false };
    let documents: Vec<_> = content.documents.iter().map(|one| (one.name.as_str(), one.content.as_slice())).collect();
    let files: Vec<_> = [(MANIFEST, content.manifest.as_bytes())].into_iter().chain(documents).collect();
    assert!(files.len() <= DOCUMENTS_MAX + 1);
    assert!(files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() <= BUNDLE_MAX_BYTES);
    // Nobody's program unpacks one over the other.
    assert!((1..files.len()).all(|n| files[..n].iter().all(|(name, _)| !name.eq_ignore_ascii_case(files[n].0))));
    let again = unpack_bundle(&pack_bundle(&files)).expect("what was unpacked can be packed");
    assert_eq!((&again.manifest, &again.documents), (&content.manifest, &content.documents));
    true
}

/// What an operator's server answers, by each protocol, to each kind of call.
fn answers(input: &[u8]) -> bool {
    let Some((head, body)) = lines(input, 3) else { return false };
    let [which, status, header] = head[..] else { return false };
    let rails = Rails::built_in();
    let kinds = ["adapter", "gsma", "mojaloop"];
    let which = which.bytes().next().map_or(0, usize::from);
    let rail = rails.get(kinds[which % kinds.len()]).expect("a built-in rail");
    let spec = ProviderSpec { base_url: Some("https://operator.example".into()), ..ProviderSpec::new("acme", "Acme", Mode::Sandbox, rail) };
    let action = [Action::Submit, Action::Inquire, Action::Reverse, Action::InquireReversal][which / kinds.len() % 4];
    let is_payment = matches!(action, Action::Submit | Action::Inquire);
    let call = RailCall {
        subject: if is_payment { Subject::Attempt(SettlementNo(1), 1) } else { Subject::Reversal(SettlementNo(1), 1) },
        client: ClientNo(1),
        action,
        provider: ProviderNo(1),
        rail_key: "rg-1".to_owned(),
        paid_as: (!is_payment).then(|| ("rg-0".to_owned(), Some("R1".to_owned()))),
        rail_reference: None,
        money: Money::from_minor(1_000, Currency::from_code("EUR").expect("EUR")),
        given_back: false,
        fee: 0,
        to: Participant::parse("msisdn:+254700000001").expect("a payee"),
        reference: Reference::parse("inv-1").expect("a reference"),
        description: None,
        mode: Mode::Sandbox,
        tries: 0,
        not_after: i64::MAX,
        leave_by: i64::MAX,
    };
    let headers = header.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let reply = HttpReply { status: status.parse().unwrap_or(200), headers: headers.into_iter().collect(), body: body.to_vec() };
    let _ = (rail.decode_token(&reply), rail.decode_heartbeat(&reply));
    let link = Link { provider: &spec, token: None, callback_url: None, asked: None, now: NOW };
    let Request::Http(mut asked) = rail.encode(&call, &link) else { return false };
    // An answer may lead to the next question, which is answered with the same.
    for _ in 0..4 {
        let heard = rail.decode(&call, &Link { asked: Some(&asked), ..link }, &reply);
        match heard {
            Heard::Answer(answer) => return answer != RailAnswer::Unknown,
            Heard::Ask(next) => asked = next,
        }
    }
    false
}

/// A journal is what was written, or it is refused; what it holds can be written again.
fn journal(input: &[u8]) -> bool {
    let (which, bytes) = chosen(input);
    let (snapshot, entries) = if which % 2 == 0 { (None, bytes) } else { (Some(bytes), &[][..]) };
    let Ok(restored) = JournalStore::restore(snapshot, entries) else { return false };
    let snapshot = restored.store.snapshot().expect("what was read can be written");
    let again = JournalStore::restore(Some(&snapshot), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.store.snapshot().ok(), Some(snapshot));
    true
}

/// A sandbox, four bytes a call. In the end its books agree with its settlements.
fn engine(input: &[u8]) -> bool {
    let store = Arc::new(MemoryStore::new());
    let options = Options::parse("{}").expect("options");
    let sandbox = Sandbox::open(Arc::<MemoryStore>::clone(&store), &options, [7; 32], NOW).expect("a sandbox");
    let (mut now, mut done) = (NOW, 0);
    for call in input.as_chunks::<4>().0.iter().take(64) {
        let [what, which, amount, scenario] = *call;
        let reference = format!("r{}", which % 8);
        let to = [
            "ok",
            "slow-30s",
            "pending",
            "decline-insufficient_funds",
            "timeout-then-ok",
            "timeout-then-fail",
            "late-ok-after-fail",
            "duplicate-callback",
            "out-of-order",
            "failover",
            "returned-after-1d",
            "reverse-fail",
            "reverse-unknown",
        ];
        let to = to[usize::from(scenario) % to.len()];
        let request = match what % 8 {
            0 | 1 => format!(
                r#"{{"call":"create","body":{{"amount":{}.{:02},"currency":"EUR","to":"sim:{to}","reference":"{reference}"}}}}"#,
                u32::from(amount) * 97,
                amount % 100
            ),
            2 => format!(r#"{{"call":"reverse","ref":"{reference}","body":{{"amount":{}}}}}"#, amount % 50),
            3 => format!(r#"{{"call":"reverse","ref":"{reference}","body":{{}}}}"#),
            4 => format!(
                r#"{{"call":"advance","ref":"{reference}","body":{{"to":"{}"}}}}"#,
                ["completed", "failed"][usize::from(amount) % 2]
            ),
            5 => format!(r#"{{"call":"reconcile","ref":"{reference}"}}"#),
            6 => format!(r#"{{"call":"set_clock","body":{{"advance_ms":{}}}}}"#, u32::from(amount) * 660_000),
            _ => {
                now += i64::from(amount) * 1_000;
                sandbox.work(now).expect("the work is done");
                continue;
            }
        };
        let answer: serde_json::Value = serde_json::from_str(&sandbox.call(now, &request)).expect("an answer is JSON");
        assert!(answer["status"].as_u64().is_some_and(|status| (200..500).contains(&status)), "{request}: {answer}");
        done += usize::from(answer["ok"].is_object());
    }
    let report = verify(&*store, &mut |_| {}).expect("the store can be read");
    // Its events are in a feed, and in no log.
    let problems: Vec<_> = report.problems.iter().filter(|problem| problem.code != "leaf_differs").collect();
    assert!(problems.is_empty(), "{problems:?}");
    done > 2
}
