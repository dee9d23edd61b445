//! Calls of the sandbox. What they return is read as the text that a gateway would send, and most of them are lines of JSON: all of them
//! share the code that carries one out and reads its answer, because an app ships it.

use std::collections::BTreeMap;

use railgate::sandbox::Sandbox;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::on_disk;
use crate::error::GatewayError;
use crate::link::{Boxed, now, view};
use crate::request::written;
use crate::sandbox::{SandboxGateway, refused};

/// A call of the sandbox: its name, members that are text, its body.
pub(crate) fn line(call: &str, members: &[(&str, &str)], body: &str) -> String {
    let mut line = format!(r#"{{"call":"{call}""#);
    for (name, text) in members {
        line.push_str(&format!(r#","{name}":{}"#, written(text)));
    }
    if !body.is_empty() {
        line.push_str(r#","body":"#);
        line.push_str(body);
    }
    line.push('}');
    line
}

/// The call that lists settlements; a parameter may be repeated.
pub(crate) fn listing(members: &[(&str, &str)], query: &[(String, String)]) -> String {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    query.iter().for_each(|(name, value)| all.entry(name).or_default().push(value));
    let mut line = line("list", members, "");
    line.truncate(line.len() - 1);
    format!(r#"{line},"query":{}}}"#, written(&all))
}

/// A view as text, as a gateway sends it.
pub(crate) fn json(view: &impl Serialize) -> railgate::error::Result<String> {
    serde_json::to_string(view).map_err(railgate::Error::internal)
}

impl SandboxGateway {
    /// Reads something.
    pub(crate) fn look(
        &self,
        look: impl FnOnce(&Sandbox) -> railgate::error::Result<String> + Send + 'static,
    ) -> Boxed<'_, Result<String, GatewayError>> {
        let sandbox = self.sandbox.clone();
        let look = move || {
            sandbox.tick(now());
            look(&sandbox)
        };
        Box::pin(async move { on_disk(look).await?.map_err(refused) })
    }

    /// Changes something, does the tasks that are due at once and notifies the watchers. It is completed even if the caller was
    /// cancelled. `repeatable`: whether it is safe to do it twice.
    pub(crate) fn change(
        &self,
        repeatable: bool,
        change: impl FnOnce(&Sandbox) -> railgate::error::Result<String> + Send + 'static,
    ) -> Boxed<'_, Result<String, GatewayError>> {
        Box::pin(async move { self.writes.carry_out(repeatable, change).await.map_err(refused) })
    }

    /// Makes a call that reads.
    pub(crate) fn read(&self, line: String) -> Boxed<'_, Result<String, GatewayError>> {
        self.look(move |sandbox| sandbox.ask(now(), &line))
    }

    /// Makes a call that changes something; `repeatable` as in [`SandboxGateway::change`].
    pub(crate) fn write(&self, repeatable: bool, line: String) -> Boxed<'_, Result<String, GatewayError>> {
        self.change(repeatable, move |sandbox| sandbox.ask(now(), &line))
    }

    /// Makes a call that may change the clock: that is durable before anything happens by it, so this is not one write.
    pub(crate) fn write_clock(&self, line: String) -> Boxed<'_, Result<String, GatewayError>> {
        let changed = self.changed.clone();
        self.look(move |sandbox| {
            let made = sandbox.ask(now(), &line).and_then(|made| sandbox.work(now()).map(|_| made));
            changed.notify(usize::MAX);
            made
        })
    }
}

/// The view in the answer to a call.
pub(crate) fn shown<T: DeserializeOwned>(answer: Result<String, GatewayError>) -> Result<T, GatewayError> {
    let answer = answer?;
    view(answer.split_once(r#""ok":"#).and_then(|(_, view)| view.strip_suffix('}')).unwrap_or_default().as_bytes())
}
