//! `railgate events`: a payment's trace, so far or followed live.

use std::pin::pin;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::api::{EventView, Page};
use railgate::lifecycle::{SettlementStatus, StateName};
use railgate::store::record::EventType;
use sse_stream::Sse;
use tokio_stream::StreamExt as _;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, NoAnswer, Stream, encode};
use super::problem::read;
use super::render;
use super::session::Session;
use super::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  railgate events inv-2026-0042
  railgate events inv-2026-0042 --follow
      Shows each event as it happens, until interrupted; a lost connection is resumed.
  railgate events inv-2026-0042 --until-final --json | jq -r .type
      Ends with the event that makes the payment final.";

/// Show what happened to a payment, event by event
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsArgs {
    /// The reference or id of the payment
    #[arg(value_name = "REF")]
    target: String,
    /// Keep showing new events as they happen
    #[arg(long)]
    follow: bool,
    /// Follow until the payment is final
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
        let mut broke: Option<(String, u32)> = None;
        loop {
            let stream = session.stream(self.ask(path)?, broke.clone()).await?;
            let before = self.last_id.clone();
            match self.drain(stream).await? {
                Ended::Final => return Ok(()),
                Ended::Lost(cause) => {
                    // A stream that delivered something was a good one: reset the count.
                    let times = broke.filter(|_| self.last_id == before).map_or(0, |(_, times)| times);
                    broke = Some((cause, times.saturating_add(1)));
                }
            }
        }
    }

    fn ask(&self, path: &str) -> Done<Ask> {
        let ask = Ask::get(path).with(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let Some(id) = &self.last_id else { return Ok(ask) };
        let id = HeaderValue::from_str(id).map_err(|_| Failure::new("the server sent an event id that no header can carry"))?;
        Ok(ask.with(HeaderName::from_static("last-event-id"), id))
    }

    async fn drain(&mut self, stream: Stream) -> Done<Ended> {
        let kind = stream.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("").to_owned();
        if !kind.starts_with("text/event-stream") {
            return Err(Failure::new(format!("the server does not stream events here: it sent {kind:?}")));
        }
        let mut events = pin!(stream.events());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) if self.tell(&event)? => return Ok(Ended::Final),
                Ok(_) => {}
                Err(NoAnswer::NotSent(cause) | NoAnswer::Lost(cause)) => return Ok(Ended::Lost(cause)),
            }
        }
        Ok(Ended::Lost("the server closed it".to_owned()))
    }

    /// Shows one event; returns whether it was the last one wanted.
    fn tell(&mut self, event: &Sse) -> Done<bool> {
        self.last_id = event.id.clone().or_else(|| self.last_id.take());
        let data = event.data.as_deref().unwrap_or_default();
        if data.is_empty() {
            return Ok(false);
        }
        let event: Option<EventView> = serde_json::from_str(data).ok();
        match &event {
            Some(event) if !self.json => self.terminal.line(render::event_line(self.terminal, event))?,
            // Including events that only a newer server has: unchanged.
            Some(_) | None => self.terminal.json(data.as_bytes())?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_settlement_s_own_final_state_ends_its_trace() {
        assert!(ends(EventType::SettlementCompleted, Some(StateName::Completed)));
        assert!(ends(EventType::SettlementFailed, Some(StateName::Failed)));
        assert!(!ends(EventType::SettlementSubmitted, Some(StateName::Submitted)));
        assert!(!ends(EventType::AttemptAnswered, Some(StateName::Completed)));
        assert!(!ends(EventType::ReversalFailed, Some(StateName::Failed)));
    }
}
