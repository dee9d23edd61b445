//! Metrics for the operator, in the OpenMetrics text format on a separate listener.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabel as _, EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use railgate::engine::DueReviews;
use railgate::ledger::Mode;
use railgate::lifecycle::attempt::AnswerKind;
use railgate::route::health::{BreakerState, Health, Reading};
use railgate::time::Millis;
use railgate::{ErrorCode, Result};

/// The content type of [`Metrics::encode`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Histogram buckets from a tenth of a millisecond to the longest wait: responses and commits take anything in between.
const SECONDS: [f64; 15] = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0, 30.0];
const SIZES: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0];

/// Labels, in the order in which they are encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Labels<const N: usize>([(&'static str, Label); N]);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Label {
    Fixed(&'static str),
    Shared(Arc<str>),
    Number(u16),
}

impl<const N: usize> EncodeLabelSet for Labels<N> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (name, value) in &self.0 {
            match value {
                Label::Fixed(text) => (*name, *text).encode(encoder.encode_label())?,
                Label::Shared(text) => (*name, &**text).encode(encoder.encode_label())?,
                Label::Number(number) => (*name, *number).encode(encoder.encode_label())?,
            }
        }
        Ok(())
    }
}

/// All metrics. Shared; each method may be called from any thread.
pub struct Metrics {
    registry: Registry,
    requests: Family<Labels<3>, Counter>,
    durations: Family<Labels<1>, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    connections: Gauge,
    connections_refused: Counter,
    connections_evicted: Counter,
    refusals: Family<Labels<1>, Counter>,
    group_size: Histogram,
    commit: Histogram,
    queue: Family<Labels<1>, Gauge>,
    created: Counter,
    replayed: Counter,
    failed: Family<Labels<1>, Counter>,
    answers: Family<Labels<2>, Counter>,
    rails: Family<Labels<1>, Histogram, fn() -> Histogram>,
    leased: Counter,
    deliveries: Family<Labels<1>, Counter>,
    due: Gauge,
    lag: Gauge<f64, AtomicU64>,
    reviews: Family<Labels<1>, Gauge>,
    review_age: Family<Labels<1>, Gauge<f64, AtomicU64>>,
    reviews_amount: Family<Labels<2>, Gauge>,
    breakers: Family<Labels<2>, Gauge>,
    health: Family<Labels<2>, Gauge>,
    heartbeats: Family<Labels<2>, Counter>,
    success: Family<Labels<1>, Gauge<f64, AtomicU64>>,
    p95: Family<Labels<1>, Gauge<f64, AtomicU64>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Histogram::new(SECONDS);
        let mut all = Self {
            registry: Registry::with_prefix("railgate"),
            requests: Family::default(),
            durations: Family::new_with_constructor(seconds),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            connections_evicted: Counter::default(),
            refusals: Family::default(),
            group_size: Histogram::new(SIZES),
            commit: seconds(),
            queue: Family::default(),
            created: Counter::default(),
            replayed: Counter::default(),
            failed: Family::default(),
            answers: Family::default(),
            rails: Family::new_with_constructor(seconds),
            leased: Counter::default(),
            deliveries: Family::default(),
            due: Gauge::default(),
            lag: Gauge::default(),
            reviews: Family::default(),
            review_age: Family::default(),
            reviews_amount: Family::default(),
            breakers: Family::default(),
            health: Family::default(),
            heartbeats: Family::default(),
            success: Family::default(),
            p95: Family::default(),
        };
        all.register();
        all
    }
}

/// Counts one in a gauge until it is dropped.
struct Counted(Gauge);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("http_requests", "Answered requests by route template, method and status", self.requests.clone());
        r.register_with_unit("http_request_duration", "Time to the response head by route template", Unit::Seconds, self.durations.clone());
        r.register("http_requests_in_flight", "Requests being answered", self.in_flight.clone());
        r.register("http_connections", "Open connections", self.connections.clone());
        let refused = "Connections closed at once because their address had its share";
        r.register("http_connections_refused", refused, self.connections_refused.clone());
        r.register("http_connections_evicted", "Idle connections that made room for new ones", self.connections_evicted.clone());
        r.register("http_problems", "Problem responses by code", self.refusals.clone());
        r.register("commit_group_size", "Commands decided and committed together", self.group_size.clone());
        r.register_with_unit("commit_duration", "Time to decide and commit a group", Unit::Seconds, self.commit.clone());
        r.register("queue_depth", "Commands waiting for the writer by lane", self.queue.clone());
        r.register("settlements_created", "New settlements", self.created.clone());
        r.register("settlements_replayed", "Creates whose settlement existed already", self.replayed.clone());
        r.register("commands_refused", "Commands that failed, by code", self.failed.clone());
        r.register("rail_answers", "Answers of providers by kind", self.answers.clone());
        r.register_with_unit("rail_request_duration", "Time from a request to a provider to its reply", Unit::Seconds, self.rails.clone());
        r.register("outbox_tasks_leased", "Outbox tasks taken by the worker", self.leased.clone());
        r.register("webhook_attempts", "Webhook delivery attempts by outcome", self.deliveries.clone());
        r.register("outbox_tasks_due", "Outbox tasks that are due, counted up to 10,000", self.due.clone());
        r.register_with_unit("outbox_lag", "How long the oldest due task has been waiting", Unit::Seconds, self.lag.clone());
        r.register("reviews_due", "What waits for a person and is due, counted up to 10,000", self.reviews.clone());
        let oldest = "How long the oldest due review has been waiting";
        r.register_with_unit("reviews_oldest_age", oldest, Unit::Seconds, self.review_age.clone());
        r.register("reviews_amount_minor", "What the due reviews add up to, in minor units of the currency", self.reviews_amount.clone());
        r.register("provider_breaker", "1 for the state of a provider's breaker, 0 for the others", self.breakers.clone());
        r.register("provider_health", "1 for how a provider is, 0 for the others", self.health.clone());
        r.register("provider_heartbeats", "Answers of providers to the question how they are", self.heartbeats.clone());
        let success = "Share of the payments and reversals of the last minute that a provider answered";
        r.register_with_unit("provider_success", success, Unit::Ratios, self.success.clone());
        let p95 = "Time within which 95 % of a provider's answers of the last minute came";
        r.register_with_unit("provider_p95", p95, Unit::Seconds, self.p95.clone());
    }

    /// All metrics as OpenMetrics text.
    pub fn encode(&self) -> String {
        let mut text = String::with_capacity(16 * 1024);
        if encode(&mut text, &self.registry).is_err() {
            let _ = writeln!(text, "# EOF");
        }
        text
    }

    pub(crate) fn request_begun(&self) {
        self.in_flight.inc();
    }

    pub(crate) fn request_dropped(&self) {
        self.in_flight.dec();
    }

    pub(crate) fn answered(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let route: Arc<str> = route.into();
        self.durations.get_or_create(&Labels([("route", Label::Shared(Arc::clone(&route)))])).observe(took.as_secs_f64());
        let labels = [("route", Label::Shared(route)), ("method", Label::Fixed(method)), ("status", Label::Number(status))];
        self.requests.get_or_create(&Labels(labels)).inc();
    }

    pub(crate) fn problem(&self, code: ErrorCode) {
        self.refusals.get_or_create(&Labels([("code", Label::Fixed(code.as_str()))])).inc();
    }

    /// Counts an open connection until the returned value is dropped, even if its task is aborted.
    pub(crate) fn connection(&self) -> impl Drop + Send + use<> {
        self.connections.inc();
        Counted(self.connections.clone())
    }

    /// Counts a connection that was refused because of its address.
    pub(crate) fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// Counts an idle connection that was ended to make room for another.
    pub(crate) fn connection_evicted(&self) {
        self.connections_evicted.inc();
    }

    /// Counts a committed group of commands, of which `created` made settlements.
    pub(crate) fn group(&self, size: usize, created: usize, took: Duration) {
        self.created.inc_by(u64::try_from(created).unwrap_or(u64::MAX));
        self.group_size.observe(f64::from(u32::try_from(size).unwrap_or(u32::MAX)));
        self.commit.observe(took.as_secs_f64());
    }

    pub(crate) fn queued(&self, client: usize, worker: usize) {
        for (lane, waiting) in [("client", client), ("worker", worker)] {
            let gauge = self.queue.get_or_create(&Labels([("lane", Label::Fixed(lane))]));
            gauge.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        }
    }

    /// Counts a create that was answered as a replay.
    pub(crate) fn replayed(&self) {
        self.replayed.inc();
    }

    /// Counts a refused command.
    pub(crate) fn failed(&self, code: ErrorCode) {
        self.failed.get_or_create(&Labels([("code", Label::Fixed(code.as_str()))])).inc();
    }

    /// Counts a provider's answer, or its absence.
    pub(crate) fn rail_answer(&self, provider: &str, kind: AnswerKind) {
        let labels = [("provider", Label::Shared(provider.into())), ("answer", Label::Fixed(kind.as_str()))];
        self.answers.get_or_create(&Labels(labels)).inc();
    }

    /// Counts what a provider says of itself; `None` if it does not say.
    pub(crate) fn heartbeat(&self, provider: &str, said: Option<Health>) {
        let said = said.map_or("none", Health::as_str);
        self.heartbeats.get_or_create(&Labels([("provider", Label::Shared(provider.into())), ("health", Label::Fixed(said))])).inc();
    }

    /// Records the round trip of a request to a provider.
    pub(crate) fn rail_took(&self, provider: &str, took: Duration) {
        self.rails.get_or_create(&Labels([("provider", Label::Shared(provider.into()))])).observe(took.as_secs_f64());
    }

    /// Counts a webhook attempt; `None` if there was no response.
    pub(crate) fn delivered(&self, status: Option<u16>) {
        let class = match status {
            None => "no_answer",
            Some(200..=299) => "2xx",
            Some(300..=399) => "3xx",
            Some(400..=499) => "4xx",
            Some(_) => "5xx",
        };
        self.deliveries.get_or_create(&Labels([("answer", Label::Fixed(class))])).inc();
    }

    pub(crate) fn leased(&self, tasks: usize) {
        self.leased.inc_by(tasks as u64);
    }

    /// Sets the state of the outbox, which is read when the metrics are scraped.
    pub(crate) fn outbox(&self, due: usize, lag: Duration) {
        self.due.set(i64::try_from(due).unwrap_or(i64::MAX));
        self.lag.set(lag.as_secs_f64());
    }

    /// Sets what this server knows about whether providers answer, which is read when the metrics are scraped. Those that are not
    /// in `readings` any more have no figures.
    pub(crate) fn providers(&self, readings: &[(String, Reading)]) {
        self.breakers.clear();
        self.health.clear();
        self.success.clear();
        self.p95.clear();
        for (provider, reading) in readings {
            let provider = Label::Shared(provider.as_str().into());
            for state in BreakerState::ALL {
                let labels = Labels([("provider", provider.clone()), ("state", Label::Fixed(state.as_str()))]);
                self.breakers.get_or_create(&labels).set(i64::from(*state == reading.breaker));
            }
            for health in Health::ALL {
                let labels = Labels([("provider", provider.clone()), ("health", Label::Fixed(health.as_str()))]);
                self.health.get_or_create(&labels).set(i64::from(*health == reading.health));
            }
            let labels = Labels([("provider", provider)]);
            if let Some(rate) = reading.success_rate {
                self.success.get_or_create(&labels).set(rate);
            }
            if let Some(ms) = reading.p95_ms {
                self.p95.get_or_create(&labels).set(Duration::from_millis(ms).as_secs_f64());
            }
        }
    }

    /// Sets the state of the queue of reviews, which is read when the metrics are scraped.
    pub(crate) fn reviews(&self, due: &DueReviews, now: Millis) {
        for mode in Mode::ALL {
            let labels = Labels([("environment", Label::Fixed(mode.as_str()))]);
            let (count, oldest) = due.waiting.get(mode).copied().unwrap_or((0, now));
            let age = Duration::from_millis(u64::try_from(now - oldest).unwrap_or(0));
            self.reviews.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
            self.review_age.get_or_create(&labels).set(age.as_secs_f64());
        }
        self.reviews_amount.clear();
        for ((mode, currency), minor) in &due.at_stake {
            let labels = Labels([("environment", Label::Fixed(mode.as_str())), ("currency", Label::Fixed(currency.code()))]);
            self.reviews_amount.get_or_create(&labels).set(*minor);
        }
    }
}

#[cfg(test)]
mod tests {
    use railgate::money::Currency;

    use super::*;

    #[test]
    fn the_text_names_routes_by_template_and_ends_properly() {
        let metrics = Metrics::default();
        metrics.answered("/api/v1/gateway/settlements/{ref}", "GET", 200, Duration::from_millis(3));
        metrics.group(17, 3, Duration::from_micros(800));
        metrics.queued(3, 1);
        metrics.problem(ErrorCode::SettlementNotFound);
        let text = metrics.encode();
        for line in [
            "railgate_http_requests_total{route=\"/api/v1/gateway/settlements/{ref}\",method=\"GET\",status=\"200\"} 1",
            "railgate_commit_group_size_count 1",
            "railgate_queue_depth{lane=\"client\"} 3",
            "railgate_http_problems_total{code=\"settlement_not_found\"} 1",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    /// Every metric, with every label.
    fn complete() -> String {
        let metrics = Metrics::default();
        metrics.answered("/healthz", "GET", 200, Duration::ZERO);
        metrics.problem(ErrorCode::Internal);
        metrics.group(1, 1, Duration::ZERO);
        metrics.queued(1, 1);
        metrics.failed(ErrorCode::Internal);
        metrics.rail_answer("one", AnswerKind::Unknown);
        metrics.rail_took("one", Duration::ZERO);
        metrics.heartbeat("one", None);
        metrics.delivered(None);
        metrics.providers(&[("one".to_owned(), Reading { success_rate: Some(1.0), p95_ms: Some(1), ..Reading::NONE })]);
        let at_stake = [((Mode::Live, Currency::from_code("EUR").unwrap()), 1)].into_iter().collect();
        metrics.reviews(&DueReviews { waiting: [(Mode::Live, (1, 0))].into(), at_stake }, 0);
        metrics.encode()
    }

    /// The names and labels that begin with `railgate_` in a text of queries: each name, with the labels in the braces behind it.
    fn used(queries: &str) -> Vec<(String, Vec<String>)> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut found = Vec::new();
        for (at, _) in queries.match_indices("railgate_") {
            let (name, rest) = queries[at..].split_at(queries[at..].find(|c| !is_name(c)).unwrap_or(queries.len() - at));
            let braces = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
            let labels = braces.split(',').filter_map(|pair| Some(pair.split_once('=')?.0.trim().trim_end_matches(['!']).to_owned()));
            found.push((name.to_owned(), labels.collect()));
        }
        found
    }

    #[test]
    fn alerts_and_dashboard_ask_for_metrics_that_exist_and_the_dashboard_for_all() {
        let served = complete();
        let dashboard = include_str!("../../docs/operations/grafana/railgate.json").replace("\\\"", "\"");
        let alerts = include_str!("../../docs/operations/prometheus/alerts.yml");
        let shown = used(&dashboard);
        for (name, labels) in shown.iter().cloned().chain(used(alerts)) {
            let sample = served.lines().find(|line| line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' '])));
            let sample = sample.unwrap_or_else(|| panic!("there is no metric {name}"));
            for label in labels.iter().filter(|label| !["instance", "job"].contains(&label.as_str())) {
                assert!(sample.contains(&format!("{label}=\"")), "{name} has no label {label}: {sample}");
            }
        }
        for line in served.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
            let family = line.split(' ').next().unwrap();
            assert!(shown.iter().any(|(name, _)| name.starts_with(family)), "the dashboard does not show {family}");
        }
    }

    #[test]
    fn a_provider_s_figures_are_those_of_now() {
        let metrics = Metrics::default();
        let down =
            Reading { health: Health::Down, breaker: BreakerState::Open, success_rate: Some(0.25), p95_ms: Some(1_500), ..Reading::NONE };
        metrics.providers(&[("one".to_owned(), down), ("two".to_owned(), Reading::NONE)]);
        let text = metrics.encode();
        for line in [
            "railgate_provider_breaker{provider=\"one\",state=\"open\"} 1",
            "railgate_provider_breaker{provider=\"one\",state=\"closed\"} 0",
            "railgate_provider_breaker{provider=\"two\",state=\"closed\"} 1",
            "railgate_provider_health{provider=\"one\",health=\"down\"} 1",
            "railgate_provider_health{provider=\"one\",health=\"up\"} 0",
            "railgate_provider_health{provider=\"two\",health=\"up\"} 1",
            "railgate_provider_success_ratios{provider=\"one\"} 0.25",
            "railgate_provider_p95_seconds{provider=\"one\"} 1.5",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("success_ratios{provider=\"two\"}"), "nothing was sent to it");
        metrics.providers(&[]);
        assert!(!metrics.encode().contains("provider=\"one\""), "it is not configured any more");
    }
}
