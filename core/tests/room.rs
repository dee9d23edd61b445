//! What an engine knows of the room in its store: a disk that is full refuses what is large first.
#![cfg(feature = "testkit")]

use std::sync::Arc;

use crate::support::Sandbox;
use railgate::engine::TryWriting;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::{Config, ErrorCode};

#[test]
fn only_a_commit_that_takes_as_much_room_as_the_refused_one_shows_that_there_is_room() {
    let store = Arc::new(Faulty::new(MemoryStore::new()));
    let s = Sandbox::over(store.clone(), Config::sandbox(), 1);
    assert!(s.engine.takes_writes());

    let pays = |reference: &str| s.create(&format!(r#"{{"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "{reference}"}}"#));
    store.script([Some(CommitFault::Unavailable)]);
    assert_eq!(pays("a").unwrap_err().code, ErrorCode::StoreUnavailable);
    assert!(!s.engine.takes_writes());

    // Something small still finds a place.
    s.engine.run(TryWriting::Remove).unwrap();
    assert!(!s.engine.takes_writes());

    // A conflict says nothing about room, however often it is tried.
    store.script([Some(CommitFault::Conflict); 8]);
    assert_eq!(pays("b").unwrap_err().code, ErrorCode::StoreUnavailable);
    assert!(!s.engine.takes_writes());

    pays("c").unwrap();
    assert!(s.engine.takes_writes());
}
