//! `railgate events`: a payment's trace, so far or as it grows.

use std::time::Duration;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::api::{EventView, Page};
use railgate::lifecycle::{SettlementStatus, StateName};
use railgate::store::record::EventType;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, NoAnswer, Stream, encode};
use super::problem::read;
use super::render;
use super::session::Session;
use super::terminal::{Terminal, note};

/// The pauses before a lost stream is opened again; the last one repeats for as long as it takes.
const PAUSES_MS: [u64; 5] = [250, 500, 1_000, 2_000, 5_000];

const EXAMPLES: &str = "\
Examples:
  railgate events inv-2026-0042
  railgate events inv-2026-0042 --follow
      Shows each event as it happens, until interrupted; a lost connection is taken up where it broke.
  railgate events inv-2026-0042 --until-final --json | jq -r .type
      Ends with the event that makes the payment final.";

/// Shows what happened to a payment, event by event
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// Goes on as new events happen
    #[arg(long)]
    follow: bool,
    /// Follows, and ends once the payment is final
    #[arg(long)]
    until_final: bool,
}

pub(crate) async fn run(args: EventsArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    let path = format!("/gateway/settlements/{}/events", encode(&args.target));
    if args.follow || args.until_final {
        let follower = Follower { terminal, json: global.json, until_final: args.until_final, last_id: None };
        return follower.run(&mut session, &path).await;
    }
    let mut all: Vec<EventView> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.sequence);
        let answer = session.call(Ask::get(format!("{path}?after={after}&limit=200"))).await?;
        let page: Page<EventView> = read(&answer)?;
        if global.json {
            terminal.json(&answer.body)?;
        }
        let more = page.has_more && page.data.last().is_some_and(|event| event.sequence > after);
        all.extend(page.data);
        match (more, global.json) {
            (true, _) => {}
            (false, true) => return Ok(()),
            (false, false) => return terminal.show(&render::events(terminal, &all)),
        }
    }
}

struct Follower<'a> {
    terminal: &'a Terminal,
    json: bool,
    until_final: bool,
    last_id: Option<String>,
}

impl Follower<'_> {
    async fn run(mut self, session: &mut Session, path: &str) -> Done {
        let mut lost = 0;
        let mut connected_once = false;
        loop {
            let cause = match session.stream(self.ask(path)?).await? {
                Ok(stream) => {
                    connected_once = true;
                    let before = self.last_id.clone();
                    match self.drain(stream).await? {
                        Ended::Final => return Ok(()),
                        Ended::Lost(cause) => {
                            // A stream that brought something was a good one: begin counting anew.
                            lost = if self.last_id == before { lost } else { 0 };
                            cause
                        }
                    }
                }
                Err(cause) if !connected_once => return Err(session.unanswered(&cause)),
                Err(NoAnswer::NotSent(cause) | NoAnswer::Lost(cause)) => cause,
            };
            let pause = PAUSES_MS[lost.min(PAUSES_MS.len() - 1)];
            lost += 1;
            note(format_args!("the stream from {} broke off ({cause}); taking it up again", session.server()));
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn ask(&self, path: &str) -> Done<Ask> {
        let ask = Ask::get(path).with(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let Some(id) = &self.last_id else { return Ok(ask) };
        let id = HeaderValue::from_str(id).map_err(|_| Failure::new("the server sent an event id that no header can carry"))?;
        Ok(ask.with(HeaderName::from_static("last-event-id"), id))
    }

    async fn drain(&mut self, mut stream: Stream) -> Done<Ended> {
        let kind = stream.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("").to_owned();
        if !kind.starts_with("text/event-stream") {
            return Err(Failure::new(format!("the server does not stream events here: it sent {kind:?}")));
        }
        let mut parser = Parser::default();
        loop {
            let piece = match stream.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(Ended::Lost("the server ended it".to_owned())),
                Err(NoAnswer::NotSent(cause) | NoAnswer::Lost(cause)) => return Ok(Ended::Lost(cause)),
            };
            for message in parser.push(&piece) {
                if self.tell(message)? {
                    return Ok(Ended::Final);
                }
            }
        }
    }

    /// Shows one event; says whether it was the last that is wanted.
    fn tell(&mut self, message: Message) -> Done<bool> {
        if let Some(id) = message.id {
            self.last_id = Some(id);
        }
        if message.data.is_empty() {
            return Ok(false);
        }
        let event: Option<EventView> = serde_json::from_str(&message.data).ok();
        match &event {
            Some(event) if !self.json => self.terminal.line(render::event_line(self.terminal, event))?,
            // Also what only a newer server says: as it came.
            Some(_) | None => self.terminal.json(message.data.as_bytes())?,
        }
        Ok(self.until_final && event.is_some_and(|event| ends(event.kind, event.to)))
    }
}

/// Whether the event is the one that made its settlement final.
fn ends(kind: EventType, to: Option<StateName>) -> bool {
    let status = to.and_then(|to| SettlementStatus::from_name(to.as_str()));
    kind.as_str().starts_with("settlement.") && status.is_some_and(SettlementStatus::is_final)
}

enum Ended {
    Final,
    Lost(String),
}

/// One message of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct Message {
    id: Option<String>,
    data: String,
}

/// Reads `text/event-stream` (WHATWG HTML, section 9.2) as it arrives, in pieces that may end anywhere.
#[derive(Default)]
struct Parser {
    pending: Vec<u8>,
    message: Message,
}

impl Parser {
    fn push(&mut self, piece: &[u8]) -> Vec<Message> {
        self.pending.extend_from_slice(piece);
        let mut done = Vec::new();
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']), &mut done);
        }
        done
    }

    fn line(&mut self, line: &str, done: &mut Vec<Message>) {
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            if message != Message::default() {
                done.push(message);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.message.id = Some(value.to_owned()),
            "data" => {
                if !self.message.data.is_empty() {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
            }
            // An empty name is a comment, which keeps the connection alive; `event` is said in the data as well.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_the_same_however_it_is_cut() {
        let text = b": hello\r\n\r\nid: 1\r\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nretry: 5\n\nid: 2\ndata:b\n\ndata: cut o";
        let whole = Parser::default().push(text);
        let message = |id: &str, data: &str| Message { id: Some(id.to_owned()), data: data.to_owned() };
        assert_eq!(whole, [message("1", "{\"a\":\n1}"), message("2", "b")]);
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let pieces: Vec<Message> = text.chunks(size).flat_map(|piece| parser.push(piece)).collect();
            assert_eq!(pieces, whole, "pieces of {size}");
        }
    }

    #[test]
    fn only_a_settlement_s_own_final_state_ends_its_trace() {
        assert!(ends(EventType::SettlementCompleted, Some(StateName::Completed)));
        assert!(ends(EventType::SettlementFailed, Some(StateName::Failed)));
        assert!(!ends(EventType::SettlementSubmitted, Some(StateName::Submitted)));
        assert!(!ends(EventType::AttemptAnswered, Some(StateName::Completed)));
        assert!(!ends(EventType::ReversalFailed, Some(StateName::Failed)));
    }
}
