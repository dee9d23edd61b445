//! Brings a store to rest: does all remaining tasks, under a clock that runs ahead.

use std::sync::Arc;

use railgate::engine::{NumberEvents, Recover};
use railgate::env::ManualEnv;
use railgate::store::Store;
use railgate::{Config, Engine};

/// Does all tasks and numbers all events. Nothing else may use the store. Returns the engine that did it.
pub fn run_to_rest(store: &Arc<dyn Store>) -> Engine {
    let env = Arc::new(ManualEnv::new(i64::MAX >> 22, 1));
    let engine = Engine::open(Arc::clone(store), env.clone(), Config::default()).expect("an engine");
    engine.run(Recover).expect("recovering");
    while let Some(due) = engine.next_due().expect("reading") {
        env.advance_to(due);
        engine.work(1_000, &()).expect("working");
    }
    while engine.run(NumberEvents { limit: 1_000 }).expect("numbering").more {}
    engine
}
