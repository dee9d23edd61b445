//! What devices measure: taken once, summarised from sketches, and never shown of a few devices.

use crate::support;
use std::sync::Arc;

use crate::support::{START, Sandbox, enroll};
use railgate::api::{Caller, QualityGroupView, QualitySummaryView};
use railgate::engine::{Maintain, QUALITY_DAILY_MAX, QualityBy, QualityRequest, QualityTaken, TakeQuality};
use railgate::env::ManualEnv;
use railgate::ids::KeyNo;
use railgate::ledger::Mode;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{QualityRecord, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate::time::rfc3339;
use railgate::validate::quality::parse_quality;
use railgate::{Config, Engine, Error, ErrorCode};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("quality.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        let sandbox = Sandbox::over(store, Config::default(), 1);
        test(&sandbox);
        sandbox.assert_sound();
    }
}

/// A point with this id and value in milliseconds, measured at that time.
fn point(id: &str, value: i64, at: i64, more: &str) -> String {
    format!(r#"{{"id":"measured-{id}","metric":"app.start","value":{value},"unit":"ms","at":"{}"{more}}}"#, rfc3339(at))
}

fn taking(engine: &Engine, caller: Caller, device: u32, points: &[String]) -> TakeQuality {
    let body = format!(r#"{{"items":[{}]}}"#, points.join(","));
    TakeQuality { caller, key: KeyNo(device), points: parse_quality(body.as_bytes(), engine.now()).unwrap() }
}

fn take(s: &Sandbox, device: u32, points: &[String]) -> QualityTaken {
    s.engine.run(taking(&s.engine, s.caller, device, points)).unwrap()
}

/// What was taken, and what was known.
fn counts(taken: &QualityTaken) -> (usize, usize, usize) {
    (taken.accepted, taken.duplicates, taken.refused.len())
}

/// The points of each of these devices, numbered, with the same addition.
fn all_take(s: &Sandbox, devices: std::ops::Range<u32>, more: &str, values: impl Fn(u32) -> Vec<i64>) {
    for device in devices {
        let points =
            values(device).into_iter().enumerate().map(|(n, value)| point(&format!("{n}{}", more.len()), value, s.env_now(), more));
        let taken = take(s, device, &points.collect::<Vec<_>>());
        assert_eq!((taken.duplicates, taken.refused.len()), (0, 0));
    }
}

trait Now {
    fn env_now(&self) -> i64;
}

impl Now for Sandbox {
    fn env_now(&self) -> i64 {
        self.engine.now()
    }
}

fn summary(s: &Sandbox, by: &[QualityBy]) -> QualitySummaryView {
    summary_from(s, s.engine.now() - 30 * DAY, by)
}

fn summary_from(s: &Sandbox, from: i64, by: &[QualityBy]) -> QualitySummaryView {
    let request = QualityRequest::new("app.start".to_owned(), Some(from), None, by.to_vec(), s.engine.now()).unwrap();
    s.engine.quality_summary(&s.caller, &request).unwrap()
}

fn number(decimal: &railgate::api::DecimalNumber) -> f64 {
    decimal.as_str().parse().unwrap()
}

#[test]
fn a_point_counts_once_for_each_device() {
    over_each_store(|s| {
        let batch = [point("1", 5, START, ""), point("2", 6, START, ""), point("1", 7, START, "")];
        assert_eq!(counts(&take(s, 1, &batch)), (2, 1, 0));
        assert_eq!(counts(&take(s, 1, &batch)), (0, 3, 0), "the answer was lost, and it is sent again");
        assert_eq!(counts(&take(s, 2, &batch)), (2, 1, 0), "another device has ids of its own");
        assert_eq!(counts(&take(s, 1, &[point("1", 5, START - DAY, "")])), (0, 1, 0), "at whatever time");
        // As long as it can be sent again.
        s.env.advance_to(START + 7 * DAY - 1);
        s.engine.run(Maintain).unwrap();
        assert_eq!(counts(&take(s, 1, &batch)), (0, 3, 0));
        s.env.advance_to(START + 7 * DAY);
        assert_eq!(counts(&take(s, 1, &batch)), (0, 0, 3), "it is too old");
        s.env.advance_to(START + 10 * DAY);
        s.engine.run(Maintain).unwrap();
        assert_eq!(s.store.scan(&Scan::all(RecordKind::QualitySeen, 9)).unwrap(), []);
    });
}

#[test]
fn what_is_wrong_with_a_point_is_told_and_the_others_are_taken() {
    over_each_store(|s| {
        let taken = take(s, 1, &[point("1", 5, START, ""), point("2", 5, START, r#","os":"Ada""#), point("3", 5, START + HOUR, "")]);
        assert_eq!((taken.accepted, taken.refused.len()), (1, 2));
        let problems: Vec<_> = taken.refused.iter().map(|(index, errors)| (*index, &*errors[0].pointer, &*errors[0].code)).collect();
        assert_eq!(problems, [(1, "/os", "os_malformed"), (2, "/at", "at_in_future")]);
    });
}

#[test]
fn a_device_reports_so_much_a_day() {
    let s = Sandbox::new();
    let ids: Vec<String> = (0..=QUALITY_DAILY_MAX).map(|n| point(&n.to_string(), 1, START, "")).collect();
    let taken: Vec<_> = ids.chunks(500).map(|points| take(&s, 1, points)).collect();
    assert_eq!(taken.iter().map(|taken| taken.accepted).sum::<usize>(), QUALITY_DAILY_MAX);
    assert_eq!(taken.last().unwrap().refused[0].1[0].code, "too_many_points");
    assert_eq!(counts(&take(&s, 1, &ids[..2])), (0, 2, 0), "what was taken is known");
    assert_eq!(counts(&take(&s, 2, &ids[..2])), (2, 0, 0));
    s.env.advance_to(START + DAY);
    assert_eq!(counts(&take(&s, 1, &[point("next", 1, START, "")])), (1, 0, 0));
}

#[test]
fn a_group_has_figures_that_are_a_hundredth_off_at_most() {
    over_each_store(|s| {
        all_take(s, 1..6, "", |device| (0..200).map(|n| i64::from(device) + 5 * n).collect());
        all_take(s, 1..6, r#","failed":true"#, |_| vec![2_000]);
        let found = summary(s, &[]);
        assert_eq!((found.groups.len(), found.withheld, found.complete), (1, 0, true));
        let QualityGroupView { count, mean, p50, p95, p99, min, max, failure_rate, .. } = &found.groups[0];
        assert_eq!((*count, mean.as_str(), min.as_str(), max.as_str()), (1_005, "507.96", "1", "2000"));
        assert_eq!(failure_rate.text(), "0.004975");
        for (percentile, exact) in [(p50, 503.0), (p95, 955.0), (p99, 995.0)] {
            assert!((number(percentile) - exact).abs() <= exact / 100.0, "{percentile:?} is not near {exact}");
        }
    });
}

#[test]
fn groups_are_told_apart_by_what_was_asked_for() {
    over_each_store(|s| {
        let mut units = Vec::new();
        for device in 1..6 {
            let id = |n: u32| format!("{device}-{n}");
            let before = s.engine.now() - 2 * DAY;
            take(
                s,
                device,
                &[
                    point(&id(1), 10, s.engine.now(), r#","os":"android 16","network":"wifi","app_version":"3.2.0""#),
                    point(&id(2), 20, s.engine.now(), r#","os":"ios 26","network":"cellular""#),
                    point(&id(3), 30, before, r#","os":"ios 26","network":"wifi""#),
                    point(&id(4), 40, before, "").replace("\"ms\"", "\"s\""),
                ],
            );
            units.push(device);
        }
        let groups = |by: &[QualityBy]| summary(s, by).groups;
        let shown = |by, of: fn(&QualityGroupView) -> String| {
            groups(by).iter().map(|group| format!("{} {} {}", of(group), group.unit.as_str(), group.mean.as_str())).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[], |_| "all".to_owned()), ["all ms 20", "all s 40"], "units are never added up");
        assert_eq!(shown(&[QualityBy::Os], |it| it.os.clone().unwrap()), ["android 16 ms 10", "ios 26 ms 25", "unknown s 40"]);
        assert_eq!(shown(&[QualityBy::AppVersion], |it| it.app_version.clone().unwrap()), ["unknown ms 25", "3.2.0 ms 10", "unknown s 40"]);
        let network = |it: &QualityGroupView| it.network.unwrap().as_str().to_owned();
        assert_eq!(shown(&[QualityBy::Network], network), ["wifi ms 20", "cellular ms 20", "unknown s 40"]);
        let day = |it: &QualityGroupView| it.day.clone().unwrap();
        assert_eq!(shown(&[QualityBy::Day], day), ["2026-11-19 ms 30", "2026-11-21 ms 15", "2026-11-19 s 40"]);
        let hour = |it: &QualityGroupView| it.hour.clone().unwrap();
        assert_eq!(shown(&[QualityBy::Hour], hour)[1], "2026-11-21T10:00:00.000Z ms 15");
        let both = |it: &QualityGroupView| format!("{} {}", it.os.as_deref().unwrap(), it.network.unwrap().as_str());
        let by = [QualityBy::Os, QualityBy::Network];
        assert_eq!(shown(&by, both), ["android 16 wifi ms 10", "ios 26 wifi ms 30", "ios 26 cellular ms 20", "unknown unknown s 40"]);
        // A part of the time.
        let now = summary_from(s, s.engine.now(), &[]);
        assert_eq!(now.groups.iter().map(|group| group.count).collect::<Vec<_>>(), [10]);
    });
}

#[test]
fn a_range_has_bounds() {
    let request = |from, to, by: &[QualityBy]| QualityRequest::new("a".to_owned(), from, to, by.to_vec(), START);
    let refused = |request: Result<_, Error>| request.map(|_: QualityRequest| ()).unwrap_err().code;
    assert!(request(None, None, &[]).is_ok() && request(Some(START - 91 * DAY), None, &[]).is_ok());
    assert_eq!(refused(request(Some(START - 93 * DAY), None, &[])), ErrorCode::InvalidFields);
    assert_eq!(refused(request(Some(START + HOUR), None, &[])), ErrorCode::InvalidFields);
    assert_eq!(refused(request(Some(i64::MIN), Some(i64::MAX), &[])), ErrorCode::InvalidFields);
    assert_eq!(refused(request(None, None, &[QualityBy::Os, QualityBy::Os])), ErrorCode::InvalidFields);
    assert_eq!(refused(request(None, None, &[QualityBy::Os, QualityBy::Day, QualityBy::Network])), ErrorCode::InvalidFields);
}

#[test]
fn a_summary_is_of_so_many_records_and_says_when_there_are_more() {
    let s = Sandbox::new();
    all_take(&s, 1..6, "", |_| vec![5]);
    let first: QualityRecord = typed_all(s.store.scan(&Scan::all(RecordKind::Quality, 2)).unwrap()).unwrap().remove(0);
    let of_version = |n: usize| Write::Insert(QualityRecord { app_version: n.to_string(), ..first.clone() }.into());
    let add = |versions: std::ops::Range<usize>| s.store.commit(&Commit { writes: versions.map(of_version).collect() }).unwrap();
    let summarised = || {
        let summary = summary(&s, &[]);
        (summary.groups[0].count / first.points, summary.complete)
    };
    add(1..50_000);
    assert_eq!(summarised(), (50_000, true));
    add(50_000..50_001);
    assert_eq!(summarised(), (50_000, false));
}

#[test]
fn what_few_devices_measured_is_not_shown_by_itself() {
    over_each_store(|s| {
        let os = |name: &str| format!(r#","os":"{name}""#);
        all_take(s, 1..6, &os("android 16"), |_| vec![10]);
        all_take(s, 6..10, &os("ios 26"), |_| vec![20]);
        let found = summary(s, &[QualityBy::Os]);
        assert_eq!(found.groups.len(), 1);
        assert_eq!((found.groups[0].os.as_deref(), found.withheld), (Some("android 16"), 4));
        // A fifth device makes two groups of few large enough together.
        all_take(s, 10..11, &os("linux"), |_| vec![30, 40]);
        let found = summary(s, &[QualityBy::Os]);
        let other = &found.groups[1];
        assert_eq!((found.groups.len(), found.withheld), (2, 0));
        assert_eq!((other.other, other.os.as_deref(), other.count, other.max.as_str()), (true, None, 6, "40"));
        // The same device in two groups is one.
        all_take(s, 9..10, &os("windows"), |_| vec![50]);
        assert_eq!(summary(s, &[QualityBy::Os]).groups[1].count, 7);
        let stranger = enroll(&s.engine, "Another");
        let request = QualityRequest::new("app.start".to_owned(), None, None, Vec::new(), s.engine.now()).unwrap();
        let others = s.engine.quality_summary(&stranger, &request).unwrap();
        assert_eq!((others.groups.len(), others.withheld), (0, 0), "another client has its own");
    });
}

#[test]
fn operators_see_what_devices_of_all_clients_measured_together() {
    over_each_store(|s| {
        let os = |name: &str| format!(r#","os":"{name}""#);
        let stranger = enroll(&s.engine, "Another");
        let take_of = |caller: Caller, devices: std::ops::Range<u32>, os: &str, value| {
            for device in devices {
                let points = [point(&format!("{device}-{value}"), value, s.engine.now(), os)];
                assert_eq!(s.engine.run(taking(&s.engine, caller, device, &points)).unwrap().accepted, 1);
            }
        };
        let of_all = |mode, by: &[QualityBy]| {
            let request = QualityRequest::new("app.start".to_owned(), None, None, by.to_vec(), s.engine.now()).unwrap();
            s.engine.quality_summary_of_all(mode, &request).unwrap()
        };
        // Three devices of one client and two of another: no client sees them, and together they are enough.
        take_of(s.caller, 1..4, &os("android 16"), 10);
        take_of(stranger, 4..5, &os("android 16"), 40);
        let few = of_all(Mode::Sandbox, &[QualityBy::Os]);
        assert_eq!((few.groups, few.withheld), (vec![], 4), "four devices are few, whosever they are");
        take_of(stranger, 5..6, &os("android 16"), 80);
        assert_eq!(summary(s, &[]).groups, []);
        let found = of_all(Mode::Sandbox, &[QualityBy::Os]);
        let group = &found.groups[0];
        assert_eq!((found.groups.len(), found.withheld, found.complete), (1, 0, true));
        assert_eq!((group.os.as_deref(), group.count, group.mean.as_str()), (Some("android 16"), 5, "30"));
        // What few devices of one client measured in a group of their own is not told apart.
        take_of(s.caller, 1..5, &os("ios 26"), 20);
        let found = of_all(Mode::Sandbox, &[QualityBy::Os]);
        assert_eq!((found.groups.len(), found.withheld), (1, 4));
        take_of(stranger, 5..6, &os("linux"), 20);
        let found = of_all(Mode::Sandbox, &[QualityBy::Os]);
        let told: Vec<_> = found.groups.iter().map(|it| (it.other, it.os.as_deref(), it.count)).collect();
        assert_eq!((told, found.withheld), (vec![(false, Some("android 16"), 5), (true, None, 5)], 0));
        // Live is apart.
        let live = of_all(Mode::Live, &[]);
        assert_eq!((live.groups, live.withheld, live.environment), (vec![], 0, Mode::Live));
        take_of(Caller { mode: Mode::Live, ..stranger }, 1..6, "", 7);
        assert_eq!(of_all(Mode::Live, &[]).groups[0].mean.as_str(), "7");
        assert_eq!(of_all(Mode::Sandbox, &[]).groups[0].count, 10);
        // Days are among them as hours are.
        s.env.advance_to(START + 20 * DAY);
        let before = QualityRequest::new("app.start".to_owned(), Some(START - DAY), None, Vec::new(), s.engine.now()).unwrap();
        let hours = s.engine.quality_summary_of_all(Mode::Sandbox, &before).unwrap().groups;
        while s.engine.run(Maintain).unwrap() > 0 {}
        assert_eq!(s.engine.quality_summary_of_all(Mode::Sandbox, &before).unwrap().groups, hours);
    });
}

#[test]
fn the_provider_is_that_of_a_settlement_of_the_caller() {
    over_each_store(|s| {
        let own = s.pay("own", "sim:ok");
        s.work();
        let stranger = enroll(&s.engine, "Another");
        let body = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"theirs"}"#;
        let theirs = s.engine.run(support::create(&s.engine, stranger, body)).unwrap();
        let theirs = s.engine.view(&theirs.settlement, stranger.client_id);
        for device in 1..6 {
            let about = |n: u32, target: &str| point(&format!("{device}-{n}"), 10, s.engine.now(), &format!(r#","settlement":"{target}""#));
            assert_eq!(take(s, device, &[about(1, &own.id), about(2, "own"), about(3, &theirs.id), about(4, "none")]).accepted, 4);
        }
        let found = summary(s, &[QualityBy::Provider]);
        let shown: Vec<_> = found.groups.iter().map(|group| (group.provider.as_deref().unwrap(), group.count)).collect();
        assert_eq!(shown, [("none", 10), (own.provider.as_str(), 10)]);
        // Live, neither is there.
        let live = Caller { mode: Mode::Live, ..s.caller };
        let points = [point("live", 10, s.engine.now(), r#","settlement":"own""#)];
        s.engine.run(taking(&s.engine, live, 1, &points)).unwrap();
        let stored: Vec<QualityRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Quality, 99)).unwrap()).unwrap();
        assert_eq!(stored.iter().filter(|it| it.mode == Mode::Live && it.provider.0 == 0).count(), 1);
    });
}

#[test]
fn hours_become_days_and_days_end() {
    over_each_store(|s| {
        // Fifty hours, one after the other, over three days.
        for n in 0..50 {
            for device in 1..6 {
                take(s, device, &[point(&format!("{device}-{n}"), n, s.engine.now(), "")]);
            }
            s.env.advance_to(s.engine.now() + HOUR);
        }
        let measured = summary(s, &[]).groups;
        let by_day = summary(s, &[QualityBy::Day]).groups;
        assert_eq!(summary(s, &[QualityBy::Hour]).groups.len(), 50);
        s.env.advance_to(START + 11 * DAY);
        while s.engine.run(Maintain).unwrap() > 0 {}
        assert_eq!(summary(s, &[QualityBy::Hour]).groups.len(), 2 + 12, "two days are over for long, and twelve hours of the third one");
        s.env.advance_to(START + 20 * DAY);
        while s.engine.run(Maintain).unwrap() > 0 {}
        assert_eq!(summary(s, &[]).groups, measured);
        assert_eq!(summary(s, &[QualityBy::Day]).groups, by_day);
        assert_eq!(s.store.scan(&Scan::all(RecordKind::Quality, 99)).unwrap().len(), by_day.len());
        s.assert_sound();
        // The last point was measured two days after the first one.
        s.env.advance_to(START + 91 * DAY);
        while s.engine.run(Maintain).unwrap() > 0 {}
        assert_eq!(s.store.scan(&Scan::all(RecordKind::Quality, 99)).unwrap().len(), by_day.len() - 1);
        s.env.advance_to(START + 95 * DAY);
        while s.engine.run(Maintain).unwrap() > 0 {}
        assert_eq!(s.store.scan(&Scan::all(RecordKind::Quality, 99)).unwrap(), []);
    });
}

#[test]
fn nothing_is_lost_or_counted_twice_when_nodes_take_points_at_once() {
    const NODES: u32 = 3;
    const BATCHES: u32 = 40;
    over_each_store(|s| {
        std::thread::scope(|scope| {
            for node in 0..NODES {
                scope.spawn(move || {
                    let engine =
                        Engine::open(s.store.clone(), Arc::new(ManualEnv::new(START, u64::from(node) + 9)), Config::default()).unwrap();
                    for batch in 0..BATCHES {
                        // Every device sends its batch over every node, as after lost answers; all of them hit one record.
                        let points: Vec<String> = (0..5).map(|n| point(&format!("{batch}-{n}"), i64::from(batch), START, "")).collect();
                        let commands = (1..6).map(|device| taking(&engine, s.caller, device, &points)).collect::<Vec<_>>();
                        // A node that always comes second says so, and may be asked again.
                        while engine.run_all(commands.clone()).iter().any(|taken| taken.as_ref().is_err_and(|error| error.code.retryable()))
                        {
                        }
                    }
                });
            }
        });
        let found = summary(s, &[]);
        assert_eq!((found.groups[0].count, found.withheld), (i64::from(BATCHES) * 5 * 5, 0));
        assert_eq!((found.groups[0].mean.as_str(), found.groups[0].max.as_str()), ("19.5", "39"));
        assert_eq!(s.store.scan(&Scan::all(RecordKind::Quality, 9)).unwrap().len(), 1);
    });
}
