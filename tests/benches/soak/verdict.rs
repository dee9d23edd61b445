//! Whether it holds: what must be flat is, over the last three quarters, and nothing failed.

use std::fmt::Write as _;

use super::Ended;
use super::samples::Sample;

/// What a payment of this load takes in a SQLite file: its events, tasks, transfers and statement lines, a quarter of a reversal, its
/// webhook deliveries and the spent nonces. As docs/operations/sizing.md says.
const SQLITE_BYTES: f64 = 3_500.0;
/// How far from that it may be.
const BYTES_WITHIN: f64 = 0.2;
/// What the write-ahead log of a SQLite file may have, in MiB: four times the length from which it is copied into the file, since it
/// grows meanwhile.
const MOST_WAL_MIB: f64 = 125.0;

/// What must not grow: its name and unit, and by how much it may over the last three quarters: a share of its median, and so much more.
struct Flat {
    name: &'static str,
    of: fn(&Sample) -> f64,
    share: f64,
    more: f64,
}

const FLAT: [Flat; 9] = [
    Flat { name: "memory, MiB", of: |it| it.rss_mib, share: 0.1, more: 0.0 },
    Flat { name: "open descriptors", of: |it| it.descriptors, share: 0.1, more: 2.0 },
    Flat { name: "threads", of: |it| it.threads, share: 0.1, more: 1.0 },
    Flat { name: "create p50, ms", of: |it| it.create.p50, share: 0.25, more: 0.5 },
    Flat { name: "create p99, ms", of: |it| it.create.p99, share: 0.5, more: 5.0 },
    Flat { name: "read p50, ms", of: |it| it.read.p50, share: 0.25, more: 0.5 },
    Flat { name: "read p99, ms", of: |it| it.read.p99, share: 0.5, more: 5.0 },
    Flat { name: "webhook p99, ms after the event", of: |it| it.webhook.p99, share: 0.5, more: 10.0 },
    Flat { name: "stream p99, ms after the event", of: |it| it.stream.p99, share: 0.5, more: 10.0 },
];

/// The verdict.
pub struct Verdict {
    pub holds: bool,
    pub text: String,
}

impl Verdict {
    /// Adds a line, with what was seen.
    fn line(&mut self, what: &str, seen: &str, bound: &str, holds: bool) {
        self.holds &= holds;
        let _ = writeln!(self.text, "| {what} | {seen} | {bound} | {} |", if holds { "holds" } else { "**does not hold**" });
    }
}

/// Of these samples and this end.
pub fn of(samples: &[Sample], ended: &Ended, peak: Option<f64>, rate: f64, postgres: bool) -> Verdict {
    let last = samples.last().cloned().unwrap_or_default();
    let mut it = Verdict { holds: samples.len() >= 8, text: String::new() };
    let measured = peak.map_or(String::new(), |peak| format!(", half of the {peak:.0} measured"));
    let _ = writeln!(it.text, "{:.0} minutes at {rate:.0} calls a second{measured}: {:.0} payments.\n", last.seconds / 60.0, last.made);
    it.text.push_str("| what | seen | bound | |\n|---|---|---|---|\n");
    let late = &samples[samples.len() / 4..];
    flat(&mut it, late);
    let kept = median(late.iter().map(|sample| sample.rate));
    it.line("calls a second, median", &format!("{kept:.0}"), &format!("{:.0} at least", 0.95 * rate), kept >= 0.95 * rate);
    files(&mut it, late, postgres);
    ends(&mut it, &last, ended);
    it
}

fn flat(it: &mut Verdict, late: &[Sample]) {
    for Flat { name, of, share, more } in &FLAT {
        let points: Vec<(f64, f64)> = late.iter().map(|sample| (sample.seconds, of(sample))).collect();
        let middle = median(points.iter().map(|point| point.1));
        let length = points.last().map_or(0.0, |point| point.0) - points.first().map_or(0.0, |point| point.0);
        let (grown, most) = (slope(&points) * length, share * middle + more);
        let seen = format!("median {middle:.2}, trend {grown:+.2}");
        it.line(name, &seen, &format!("grows by {most:.2} at most"), grown <= most);
    }
}

fn files(it: &mut Verdict, late: &[Sample], postgres: bool) {
    let (Some(first), Some(last)) = (late.first(), late.last()) else { return };
    let bytes = (last.database_mib - first.database_mib) * 1_048_576.0 / (last.made - first.made);
    let seen = format!("{bytes:.0} bytes");
    if postgres {
        let _ = writeln!(it.text, "| the database grows by, for each payment | {seen} | | |");
        return;
    }
    let within = (bytes / SQLITE_BYTES - 1.0).abs() <= BYTES_WITHIN;
    it.line("the file grows by, for each payment", &seen, &format!("{SQLITE_BYTES:.0} ± {:.0} %", 100.0 * BYTES_WITHIN), within);
    let wal = late.iter().map(|sample| sample.wal_mib).fold(0.0, f64::max);
    it.line("the write-ahead log, at most", &format!("{wal:.0} MiB"), &format!("{MOST_WAL_MIB:.0} MiB"), wal <= MOST_WAL_MIB);
}

fn ends(it: &mut Verdict, last: &Sample, ended: &Ended) {
    let Ended { failed, first, made, by_webhook, by_stream, repeated, forged, verified } = ended;
    it.line("calls that failed", &format!("{failed} {}", first.join("; ")), "none", *failed == 0);
    it.line("responses of 500 and more", &format!("{:.0}", last.faults.abs()), "none", last.faults == 0.0);
    let told = format!("{by_webhook} by webhooks ({repeated} repeated), {by_stream} by streams");
    it.line("payments that were told", &told, &format!("{made}, each"), made == by_webhook && made == by_stream);
    it.line("deliveries that are not genuine", &forged.to_string(), "none", *forged == 0);
    let (said, took, ok) = verified;
    it.line("`ledger verify`", &format!("{said} ({:.0} s)", took.as_secs_f64()), "finds nothing", *ok);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The slope of the line through the points: the median of those between all pairs (Theil and Sen), which a few outliers do not move.
fn slope(points: &[(f64, f64)]) -> f64 {
    let pairs = points.iter().enumerate().flat_map(|(n, a)| points[n + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0)));
    median(pairs)
}
