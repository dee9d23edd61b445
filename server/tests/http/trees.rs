//! The log of each mode, as its own credentials read it.

use std::sync::Arc;

use axum::body::Body;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use railgate::log::{Checkpoint, LogKey, verify_proof};
use railgate::money::Currency;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::{Commit, Store as _, Write};
use serde_json::json;

use super::signed::live;
use super::support::{Answer, NOW, SETTLEMENTS, live_call, service_with};

const LOG: &str = "/api/v1/log";

fn keys(answer: &Answer) -> Vec<LogKey> {
    answer.text().lines().map(|line| LogKey::parse(line).unwrap()).collect()
}

/// A proof as text holds under this key for the hash of the settlement's last event.
fn proved(proof: &Answer, key: &LogKey) -> Checkpoint {
    let proof = proof.json();
    let hash: Vec<u8> = proof["event_hash"].as_str().unwrap().as_bytes().chunks(2).map(byte).collect();
    verify_proof(proof["proof"].as_str().unwrap(), &hash.try_into().unwrap(), key).unwrap()
}

fn byte(digits: &[u8]) -> u8 {
    u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
}

/// Real money for the first client.
fn real_money() -> Write {
    let account = |owner| AccountId::new(owner, Mode::Live, Currency::from_code("EUR").unwrap());
    Write::Post(Transfer {
        journal: SettlementNo(-1),
        n: 1,
        kind: TransferKind::Single,
        code: TransferCode::Funding,
        debit: account(Owner::Funding),
        credit: account(Owner::Client(ClientNo(1))),
        amount: 1_000_000,
        resolves: 0,
        at: NOW,
    })
}

#[tokio::test]
async fn each_credential_reads_the_log_of_its_mode() {
    let store = Arc::new(MemoryStore::new());
    let providers =
        vec![ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator), ProviderSpec::new("real", "Real", Mode::Live, &Simulator)];
    let service = service_with(store.clone(), |hosted| hosted.engine.providers = providers).await;
    let (key, token, _) = live(&service).await;
    let real = async |method: &str, path: &str, body: &str| live_call(&service, (&*key, &token), method, path, body).await;
    store.commit(&Commit { writes: vec![real_money()] }).unwrap();

    // Live events first: the sandbox's log stays empty.
    for n in 0..3 {
        let body = json!({"amount": 1, "currency": "EUR", "to": "msisdn:+254700000001", "reference": format!("real-{n}")});
        real("POST", SETTLEMENTS, &body.to_string()).await.expect(201);
    }
    let proof = real("GET", &format!("{SETTLEMENTS}/real-2/receipt/proof"), "").await.expect(200);
    let (own, theirs) = (keys(&service.get(&format!("{LOG}/keys")).await.expect(200)), real("GET", &format!("{LOG}/keys"), "").await);
    let theirs = keys(&theirs.expect(200));
    assert_eq!(own.iter().map(|key| key.name().as_str()).collect::<Vec<_>>(), ["railgate/log"]);
    assert_eq!(theirs.iter().map(|key| key.name().as_str()).collect::<Vec<_>>(), ["railgate/log/live", "railgate/log"]);
    let checkpoint = async || own[0].open(service.get(&format!("{LOG}/checkpoint")).await.expect(200).text()).unwrap();
    assert!(proved(&proof, &theirs[0]).size >= 3);
    assert_eq!(checkpoint().await.size, 0);
    for tile in ["0/000.p/1", "entries/000.p/1"] {
        service.get(&format!("{LOG}/tile/{tile}")).await.problem(404, "tile_not_found");
        real("GET", &format!("{LOG}/tile/{tile}"), "").await.expect(200);
    }
    service.get(&format!("{SETTLEMENTS}/real-2/receipt/proof")).await.problem(404, "settlement_not_found");

    // The sandbox's first event is its log's first leaf.
    let body = json!({"amount": 1, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "play"});
    service.post(SETTLEMENTS, &body).await.expect(201);
    let path = format!("{SETTLEMENTS}/play/receipt/proof");
    let proof = service.get(&path).await.expect(200);
    assert_eq!(proved(&proof, &own[0]).origin.as_str(), "railgate/log");
    assert!(proof.json()["leaf_index"].as_u64() < proof.json()["tree_size"].as_u64());
    let size = checkpoint().await.size;
    assert!((1..=6).contains(&size), "{size}");
    let leaf = async |n: u64| service.get(&format!("{LOG}/tile/entries/000.p/{n}")).await;
    leaf(1).await.expect(200);
    leaf(7).await.problem(404, "tile_not_found");
    // A live credential reads its client's sandbox settlements too, and has the key to check their proofs.
    assert_eq!(proved(&real("GET", &path, "").await.expect(200), &theirs[1]).origin.as_str(), "railgate/log");
    let request = service.request("GET", &format!("{LOG}/tile/0/000")).body(Body::empty()).unwrap();
    service.send(request).await.problem(404, "tile_not_found");
}
