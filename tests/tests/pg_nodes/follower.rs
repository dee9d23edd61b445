//! A follower of the feed that uses any available node and resumes at its position.

use std::collections::HashSet;
use std::io::Result;
use std::net::SocketAddr;

use railgate_tests::client::Account;
use railgate_tests::stream::{Block, Stream};

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
        let mut stream = Stream::open(account, address, self.heard.len())?;
        while let Some(block) = stream.next_block()? {
            self.hear(&block);
            if enough(self) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn hear(&mut self, block: &Block) {
        if let Some(retry) = block.field("retry:") {
            self.retry = Some(retry.to_owned());
        }
        let Some((position, event)) = block.event() else { return };
        assert_eq!(position, self.heard.len() + 1, "an event was missed or duplicated");
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
