//! A follower of the feed that uses any available node and resumes at its position.

use std::collections::HashSet;
use std::io::{Error, Result};
use std::net::SocketAddr;

use railgate_tests::client::{Account, call};
use serde_json::Value;

/// The position and the events received.
#[derive(Default)]
pub struct Follower {
    /// The hash of each event, by its position.
    heard: Vec<String>,
    /// The completed settlements.
    pub completed: HashSet<String>,
    /// The last `retry` of a stream.
    pub retry: Option<String>,
}

impl Follower {
    /// The number of events received.
    pub fn count(&self) -> usize {
        self.heard.len()
    }

    /// Follows a node from its position until the stream ends or `enough` events are received; returns whether they were.
    pub fn follow(&mut self, account: &Account, address: SocketAddr, enough: &dyn Fn(&Self) -> bool) -> Result<bool> {
        let mut client = account.connect(address)?;
        let mut request = call("GET", "/api/v1/gateway/events", None);
        request.headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        request.headers.push(("last-event-id".to_owned(), self.heard.len().to_string()));
        let bytes = client.signed(request)?;
        let connection = client.connection();
        connection.put(&bytes)?;
        let (status, headers) = connection.head()?;
        if status == 503 {
            return Err(Error::other("later"));
        }
        assert_eq!(status, 200, "{headers:?}");
        let mut text = String::new();
        loop {
            let chunk = connection.chunk()?;
            if chunk.is_empty() {
                assert!(text.is_empty(), "the stream ended in the middle of {text:?}");
                return Ok(false);
            }
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some((block, rest)) = text.split_once("\n\n") {
                self.hear(block);
                text = rest.to_owned();
            }
            if enough(self) {
                return Ok(true);
            }
        }
    }

    fn hear(&mut self, block: &str) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(retry) = field("retry:") {
            self.retry = Some(retry.to_owned());
        }
        let (Some(position), Some(data)) = (field("id:"), field("data:")) else { return };
        assert_eq!(position, (self.heard.len() + 1).to_string(), "an event was missed or duplicated");
        let event: Value = serde_json::from_str(data).unwrap();
        self.heard.push(event["hash"].as_str().unwrap().to_owned());
        if event["type"] == "settlement.completed" {
            self.completed.insert(event["reference"].as_str().unwrap().to_owned());
        }
    }

    /// Asserts that the received events are a prefix of the feed.
    pub fn assert_heard(&self, feed: &[impl AsRef<str>]) {
        assert!(self.heard.len() <= feed.len(), "{} events of {} were heard", self.heard.len(), feed.len());
        for (position, (heard, there)) in (1..).zip(self.heard.iter().zip(feed)) {
            assert_eq!(heard, there.as_ref(), "at position {position}");
        }
    }
}
