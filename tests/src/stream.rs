//! The feed of a client as a stream of server-sent events.

use std::io::{Error, Result};
use std::net::SocketAddr;

use serde_json::Value;

use crate::client::{Account, Client, call};

/// An open stream.
pub struct Stream {
    client: Client,
    text: String,
}

/// What stands between two blank lines: an event, a pause before the next attempt, or a sign of life.
pub struct Block(String);

impl Block {
    /// A field's value; its name ends in a colon.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
    }

    /// The position and the event, if it has one.
    ///
    /// # Panics
    /// If it is malformed.
    pub fn event(&self) -> Option<(usize, Value)> {
        let (position, data) = (self.field("id:")?, self.field("data:")?);
        Some((position.parse().expect("a position"), serde_json::from_str(data).expect("JSON")))
    }
}

impl Stream {
    /// Opens one behind this position.
    ///
    /// # Errors
    /// The node is gone, or asks to come later.
    ///
    /// # Panics
    /// If it is refused.
    pub fn open(account: &Account, address: SocketAddr, after: usize) -> Result<Self> {
        let mut client = account.connect(address)?;
        let mut request = call("GET", "/api/v1/gateway/events", None);
        request.headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        request.headers.push(("last-event-id".to_owned(), after.to_string()));
        let bytes = client.signed(request)?;
        let connection = client.connection();
        connection.put(&bytes)?;
        let (status, headers) = connection.head()?;
        if status == 503 {
            return Err(Error::other("later"));
        }
        assert_eq!(status, 200, "{headers:?}");
        Ok(Self { client, text: String::new() })
    }

    /// The next block; `None` once the node has ended the stream.
    ///
    /// # Errors
    /// The connection broke.
    ///
    /// # Panics
    /// If the stream ends within a block.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = Block(block.to_owned());
                self.text = rest.to_owned();
                return Ok(Some(block));
            }
            let chunk = self.client.connection().chunk()?;
            if chunk.is_empty() {
                assert!(self.text.is_empty(), "the stream ended in the middle of {:?}", self.text);
                return Ok(None);
            }
            self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }
}
