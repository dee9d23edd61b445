//! Logs: structured lines on standard error, written by a separate thread so that no request waits for a terminal.
//!
//! `tracing-appender` is not used: at 40,000 lines a second it makes each request three times as expensive, writes a hundred
//! times as often, brings nine crates, and does not report how many lines it dropped.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use railgate::time::rfc3339;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Text for people.
    Pretty,
}

impl LogFormat {
    /// [`LogFormat::Pretty`] if standard error is a terminal, else JSON.
    pub fn fitting() -> Self {
        if io::stderr().is_terminal() { Self::Pretty } else { Self::Json }
    }
}

/// Reads a level (`info`) or a filter (`info,railgate_server=debug`).
///
/// # Errors
/// A message for people that tells what is wrong.
pub fn parse_filter(text: &str) -> Result<EnvFilter, String> {
    let wrong = |cause| format!("{cause}; one of off, error, warn, info, debug, trace, or target=level pairs");
    EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).parse(text).map_err(wrong)
}

/// A subscriber that writes lines of this format to `writer`.
pub fn subscriber<W>(format: LogFormat, filter: EnvFilter, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    match format {
        LogFormat::Json => Box::new(lines.event_format(JsonLine).finish()),
        LogFormat::Pretty => Box::new(lines.with_ansi(io::stderr().is_terminal()).finish()),
    }
}

/// One JSON object per line: time, level, the event's fields, and its origin. There is a line for every request, and this
/// costs a quarter of what the general formatter does.
struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let meta = event.metadata();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = rfc3339(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        write!(out, "{{\"timestamp\":\"{now}\",\"level\":\"{}\"", meta.level().as_str())?;
        let mut members = Members { out: out.by_ref(), result: Ok(()) };
        event.record(&mut members);
        members.result?;
        writeln!(out, ",\"target\":\"{}\"}}", meta.target())
    }
}

/// Writes an event's fields as members of an object.
struct Members<'w> {
    out: Writer<'w>,
    result: fmt::Result,
}

impl Members<'_> {
    fn raw(&mut self, field: &Field, value: impl fmt::Display) {
        if self.result.is_ok() {
            self.result = write!(self.out, ",\"{}\":{value}", field.name());
        }
    }

    fn text(&mut self, field: &Field, value: &str) {
        self.raw(field, Quoted(value));
    }
}

impl Visit for Members<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.raw(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.raw(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.raw(field, value);
    }
}

/// Text as a JSON string.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        let mut rest = self.0;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c.is_control()) {
            let (plain, special) = rest.split_at(at);
            f.write_str(plain)?;
            let mut left = special.chars();
            match left.next() {
                Some(c @ ('"' | '\\')) => write!(f, "\\{c}")?,
                Some(c) => write!(f, "\\u{:04x}", u32::from(c))?,
                None => {}
            }
            rest = left.as_str();
        }
        f.write_str(rest)?;
        f.write_char('"')
    }
}

/// Owns the log's thread; dropping it writes everything logged so far.
pub struct LogGuard {
    lines: Arc<Lines>,
    thread: Option<JoinHandle<()>>,
}

/// Starts logging for the whole process. A second call has no effect.
///
/// # Errors
/// If the system cannot create a thread.
pub fn init(format: LogFormat, filter: EnvFilter) -> io::Result<LogGuard> {
    let lines = Arc::new(Lines::default());
    let own = Arc::clone(&lines);
    let thread = std::thread::Builder::new().name("railgate-log".to_owned()).spawn(move || own.write_out(io::stderr()))?;
    if tracing::subscriber::set_global_default(subscriber(format, filter, LineWriter(Arc::clone(&lines)))).is_ok() {
        log_panics();
    }
    Ok(LogGuard { lines, thread: Some(thread) })
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.lines.lock().closed = true;
        self.lines.something.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Logs where a panic happened, and its text only if it is a literal: formatted texts may contain user data.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(withheld)");
        tracing::error!(place, text, "panic");
    }));
}

/// Lines to be written, in a bounded buffer.
#[derive(Default)]
struct Lines {
    buffer: Mutex<Buffer>,
    something: Condvar,
}

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// The number of lines dropped because the buffer was full: nobody reads standard error.
    dropped: usize,
    /// The thread is waiting for the first line.
    asleep: bool,
    /// A line should be written without waiting for more.
    urgent: bool,
    closed: bool,
}

const ROOM: usize = 8 << 20;
/// How long lines are gathered before a write.
const GATHER: Duration = Duration::from_millis(50);

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8], urgent: bool) {
        let mut buffer = self.lock();
        if buffer.bytes.len() + line.len() > ROOM {
            buffer.dropped += 1;
            return;
        }
        buffer.bytes.extend_from_slice(line);
        buffer.urgent |= urgent;
        if std::mem::take(&mut buffer.asleep) || urgent {
            self.something.notify_one();
        }
    }

    fn write_out(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        loop {
            let (dropped, closed) = self.gather(&mut lines);
            let _ = out.write_all(&lines);
            if dropped > 0 {
                let _ = writeln!(out, "{{\"level\":\"WARN\",\"message\":\"log lines were dropped\",\"count\":{dropped}}}");
            }
            let _ = out.flush();
            lines.clear();
            if closed {
                return;
            }
        }
    }

    /// Waits for lines and takes them all.
    fn gather(&self, lines: &mut Vec<u8>) -> (usize, bool) {
        let mut buffer = self.lock();
        while buffer.bytes.is_empty() && !buffer.closed {
            buffer.asleep = true;
            buffer = self.something.wait(buffer).unwrap_or_else(PoisonError::into_inner);
        }
        if !buffer.urgent && !buffer.closed {
            let gathering = |buffer: &mut Buffer| !buffer.urgent && !buffer.closed;
            let waited = self.something.wait_timeout_while(buffer, GATHER, gathering);
            buffer = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        buffer.asleep = false;
        buffer.urgent = false;
        std::mem::swap(&mut buffer.bytes, lines);
        (std::mem::take(&mut buffer.dropped), buffer.closed)
    }
}

/// Hands lines to [`Lines`].
struct LineWriter(Arc<Lines>);

/// A writer for one line.
struct Line<'l> {
    lines: &'l Lines,
    urgent: bool,
}

impl<'l> MakeWriter<'l> for LineWriter {
    type Writer = Line<'l>;

    fn make_writer(&'l self) -> Line<'l> {
        Line { lines: &self.0, urgent: false }
    }

    fn make_writer_for(&'l self, meta: &Metadata<'_>) -> Line<'l> {
        Line { lines: &self.0, urgent: *meta.level() <= Level::WARN }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.push(line, self.urgent);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_pushed_is_written_and_too_much_is_counted() {
        let lines = Arc::new(Lines::default());
        lines.push(b"one\n", false);
        lines.push(&vec![b'x'; ROOM], false);
        lines.push(b"two\n", true);
        lines.lock().closed = true;
        let mut out = Vec::new();
        lines.write_out(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("one\ntwo\n"), "{text}");
        assert!(text.contains("\"count\":1"));
    }

    #[test]
    fn a_line_is_json_whatever_is_in_it() {
        let lines = Arc::new(Lines::default());
        let json = subscriber(LogFormat::Json, parse_filter("trace").unwrap(), LineWriter(Arc::clone(&lines)));
        tracing::subscriber::with_default(json, || {
            let none: Option<&str> = None;
            tracing::info!(count = 3u16, none, text = "a \"b\"\n\\", shown = %'x', neg = -1, yes = true, "said {}", "it");
        });
        let line = String::from_utf8(lines.lock().bytes.clone()).unwrap();
        let line: serde_json::Value = serde_json::from_str(line.strip_suffix('\n').unwrap()).unwrap();
        let member = |name: &str| line[name].to_string();
        assert_eq!([member("count"), member("shown"), member("neg"), member("yes")], ["3", "\"x\"", "-1", "true"]);
        assert_eq!((line["text"].as_str(), line["message"].as_str()), (Some("a \"b\"\n\\"), Some("said it")));
        assert_eq!((line["level"].as_str(), line.get("none")), (Some("INFO"), None));
    }

    #[test]
    fn filters_are_checked() {
        assert!(parse_filter("debug").is_ok());
        assert!(parse_filter("info,railgate_server=trace").is_ok());
        assert!(parse_filter("railgate_server=loud").unwrap_err().contains("debug"));
    }
}
