use std::sync::atomic::AtomicBool;
use std::time::Duration;

use railgate::engine::Enroll;
use railgate::env::ManualEnv;
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::{Store, StoreError};
use railgate::{Config, ErrorCode};

use super::*;

/// A memory store that panics in its next commit on demand.
#[derive(Default)]
struct Fragile {
    panic_next: AtomicBool,
}

impl Hooks for Fragile {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if let Call::Commit(_) = call {
            assert!(!self.panic_next.swap(false, Ordering::SeqCst), "as told");
            // Slow enough for a group to gather meanwhile.
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

/// A store on another machine with so many readers.
struct Far(usize);

impl Hooks for Far {
    fn is_remote(&self) -> bool {
        true
    }

    fn readers(&self) -> usize {
        self.0
    }
}

fn gateway(limits: QueueLimits) -> (Gateway, Arc<Hooked<Fragile>>, Arc<Metrics>) {
    let store = Arc::new(Hooked::<Fragile>::default());
    let engine = Engine::open(store.clone(), Arc::new(ManualEnv::new(1_800_000_000_000, 7)), Config::default()).unwrap();
    let metrics = Arc::new(Metrics::default());
    (Gateway::start(Arc::new(engine), Arc::clone(&metrics), limits).unwrap(), store, metrics)
}

fn enroll(name: &str) -> Enroll {
    Enroll { name: name.to_owned(), key: None }
}

#[tokio::test]
async fn commands_that_wait_together_are_committed_together() {
    let (gateway, _, metrics) = gateway(QueueLimits::default());
    let call = |n| {
        let gateway = gateway.clone();
        tokio::spawn(async move { gateway.run_all(Tenant::STRANGER, vec![enroll(&format!("client {n}")), enroll("")]).await })
    };
    let tasks: Vec<_> = (0..100).map(call).collect();
    for task in tasks {
        let results = task.await.unwrap().unwrap();
        assert!(matches!(results.as_slice(), [Ok(_), Err(error)] if error.code == ErrorCode::InvalidFields));
    }
    let text = metrics.encode();
    let groups: u32 = text.lines().find_map(|line| line.strip_prefix("railgate_commit_group_size_count ")?.parse().ok()).unwrap();
    assert!(groups < 50, "100 calls took {groups} commits");
}

#[tokio::test]
async fn a_panic_ends_its_group_and_nothing_else() {
    let (gateway, store, _) = gateway(QueueLimits::default());
    store.panic_next.store(true, Ordering::SeqCst);
    assert_eq!(gateway.run(Tenant::STRANGER, enroll("unlucky")).await.unwrap_err().code, ErrorCode::Internal);
    assert!(gateway.run(Tenant::STRANGER, enroll("lucky")).await.is_ok());
    gateway.shutdown().await;
}

#[tokio::test]
async fn what_was_accepted_is_carried_out_before_the_end_and_nothing_after_it() {
    let (gateway, _, _) = gateway(QueueLimits { waiting: 1_000, waiting_of_one: 1_000, group: 8 });
    let mut waiting = Vec::new();
    for n in 0..200 {
        let gateway = gateway.clone();
        waiting.push(tokio::spawn(async move { gateway.run(Tenant::STRANGER, enroll(&format!("client {n}"))).await }));
    }
    // On this runtime's only thread, each task runs until it waits for its result.
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    gateway.shutdown().await;
    for task in waiting {
        assert!(task.await.unwrap().is_ok());
    }
    assert!(!gateway.is_open());
    assert_eq!(gateway.run(Tenant::STRANGER, enroll("late")).await.unwrap_err().code, ErrorCode::StoreUnavailable);
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_and_says_that_nothing_was_done() {
    let (gateway, _, _) = gateway(QueueLimits { waiting: 4, waiting_of_one: 4, group: 2 });
    let call = |_| {
        let gateway = gateway.clone();
        tokio::spawn(async move { gateway.run(Tenant::STRANGER, enroll("x")).await })
    };
    let calls: Vec<_> = (0..200).map(call).collect();
    let mut refused = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.code, ErrorCode::StoreUnavailable);
                refused += 1;
            }
        }
    }
    assert!((100..200).contains(&refused), "{refused}");
}

#[test]
fn a_thread_without_a_runtime_can_wait_too() {
    let (gateway, _, _) = gateway(QueueLimits::default());
    assert_eq!(gateway.run_blocking(Tenant::STRANGER, enroll("sync")).unwrap().name, "sync");
}

#[tokio::test]
async fn a_read_that_panics_is_an_error_and_no_more() {
    let (gateway, ..) = gateway(QueueLimits::default());
    let read = gateway.read(Tenant::STRANGER, |_| -> Result<()> { panic!("as told") }).await;
    let scan = gateway.scan(Tenant::STRANGER, |_| -> Result<()> { panic!("as told") }).await;
    let lookups = Lookups::new(Arc::clone(&gateway.shared.engine));
    let at_the_gate = lookups.read(|_| -> Result<()> { panic!("as told") });
    for error in [read, scan, at_the_gate].map(Result::unwrap_err) {
        assert_eq!(error.code, ErrorCode::Internal);
        assert!(!error.is_damage(), "no webhook is given up for it");
    }
}

/// How many places there are for one tenant, and for all.
async fn places(turns: &Turns) -> [usize; 2] {
    let (mut held, mut of_one) = (Vec::new(), None);
    for client in 1.. {
        let before = held.len();
        let tenant = Tenant { client: ClientNo(client), mode: Mode::Sandbox };
        while let Ok(turn) = turns.take(tenant).await {
            held.push(turn);
        }
        of_one.get_or_insert(held.len());
        if held.len() == before {
            break;
        }
    }
    [of_one.unwrap(), held.len()]
}

#[tokio::test(start_paused = true)]
async fn reads_at_once_have_bounds_by_the_kind_of_database() {
    let start = |store: Arc<dyn Store>| {
        let engine = Engine::open(store, Arc::new(ManualEnv::new(1_800_000_000_000, 7)), Config::default()).unwrap();
        Gateway::start(Arc::new(engine), Arc::default(), QueueLimits::default()).unwrap()
    };
    let near = start(Arc::new(MemoryStore::new()));
    let cores = std::thread::available_parallelism().unwrap().get().max(2);
    assert_eq!(places(&near.shared.scans).await, [cores / 2, cores]);
    for (readers, scans) in [(1_000, [8, 32]), (32, [8, 16]), (8, [2, 4]), (4, [1, 2]), (2, [1, 1])] {
        let far = start(Hooked::with(Arc::new(MemoryStore::new()), Far(readers)));
        assert_eq!(places(&far.shared.scans).await, scans, "{readers}");
        assert_eq!(places(&far.shared.reads).await, [16, 64]);
    }
}
