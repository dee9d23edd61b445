//! Brings a store to rest: does all remaining tasks, under a clock that runs ahead, and decides about what waits for a person.

use std::sync::Arc;

use railgate::engine::{NumberEvents, Recover, ResolveReview};
use railgate::env::ManualEnv;
use railgate::ids::Ulid;
use railgate::lifecycle::review::Resolution;
use railgate::store::Store;
use railgate::store::record::ReviewReason;
use railgate::{Config, Engine};

/// How many times due are worked through before somebody looks at the queue of reviews,
const LOOK_EVERY: u32 = 64;
/// and how long everything has had to end by itself by then: the leap of the clock alone makes it look a day old.
const BY_ITSELF_MS: i64 = 2 * 86_400_000;

/// Does all tasks and numbers all events. What has no end by itself is decided to have failed, and contradictions are accepted. Nothing
/// else may use the store. Returns the engine that did it.
pub fn run_to_rest(store: &Arc<dyn Store>) -> Engine {
    let begun = i64::MAX >> 22;
    let env = Arc::new(ManualEnv::new(begun, 1));
    let engine = Engine::open(Arc::clone(store), env.clone(), Config::default()).expect("an engine");
    engine.run(Recover).expect("recovering");
    for turn in 1_u32.. {
        match engine.next_due().expect("reading") {
            Some(due) => {
                env.advance_to(due);
                engine.work(1_000, &()).expect("working");
                if turn.is_multiple_of(LOOK_EVERY) && due > begun + BY_ITSELF_MS {
                    decide(&engine);
                }
            }
            None if decide(&engine) => {}
            None => break,
        }
    }
    while engine.run(NumberEvents { limit: 1_000 }).expect("numbering").more {}
    engine
}

/// Decides about everything that waits for a person; returns whether anything did.
fn decide(engine: &Engine) -> bool {
    let (waiting, _) = engine.reviews(i64::MAX, None, usize::MAX).expect("reading");
    for review in &waiting {
        let resolution = match review.reason {
            ReviewReason::NoEndForADay | ReviewReason::InStatement => Resolution::ConfirmedFailed,
            ReviewReason::Discrepancy | ReviewReason::StatementDiffers => Resolution::AcceptDiscrepancy,
        };
        let settlement = review.settlement_id.strip_prefix("stl_").and_then(Ulid::parse).expect("an id");
        let evidence = "in the end".to_owned();
        engine
            .run(ResolveReview { settlement, reversal: review.reversal, resolution, evidence, expected: None })
            .expect("a decision that fits");
    }
    !waiting.is_empty()
}
