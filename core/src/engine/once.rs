//! Commands under an `Idempotency-Key`: the first call is carried out, and its answer kept in the same commit; a repeat gets that
//! answer, on any node. A refused call keeps nothing, so that it may be sent again.

use serde::Serialize;

use crate::api::{Caller, IdempotencyKey};
use crate::engine::group::{Command, Decision, Deed, Prefetch};
use crate::engine::{Engine, Stays};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::Mode;
use crate::store::record::{IdempotencyRecord, Key};
use crate::store::{Lookup, Write, typed};

/// A command with an answer that can be kept.
pub trait Answers: Command {
    /// The body of the answer.
    type View: Serialize;

    /// The answer to this output.
    ///
    /// # Errors
    /// Why the store cannot be read.
    fn view(&self, d: &Decision<'_, '_>, output: &Self::Output) -> Result<Self::View>;

    /// Removes what is shown only once, and says so: what is left is kept for repeats.
    fn withhold(_view: &mut Self::View) {}
}

/// The key under which a client's answer is kept.
#[derive(Debug, Clone)]
pub struct KeptUnder {
    /// The client that sent the key. The keys of its two modes are apart.
    pub caller: Caller,
    /// The key, and the fingerprint of its request.
    pub key: IdempotencyKey,
}

/// A command that is carried out once for each key.
#[derive(Debug, Clone)]
pub struct Once<C> {
    /// The key; without one, every call is carried out.
    pub key: Option<KeptUnder>,
    /// Whether it goes on with what an earlier command under this key began, and replaces the answer.
    pub goes_on: bool,
    /// The command to run.
    pub command: C,
}

/// The answer to a call, or to its first sending.
#[derive(Clone)]
pub struct Answer<T> {
    /// The body, as JSON.
    pub body: String,
    /// The output; `None` if this repeats the answer to an earlier call.
    pub output: Option<T>,
}

impl<T> Answer<T> {
    /// Whether this repeats the answer to an earlier call.
    pub fn is_repeated(&self) -> bool {
        self.output.is_none()
    }
}

impl<T> std::fmt::Debug for Answer<T> {
    /// Omits the body, which may show a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("repeated", &self.is_repeated()).finish_non_exhaustive()
    }
}

impl<C: Answers> Command for Once<C> {
    type Output = Answer<C::Output>;

    fn is_repeatable(&self) -> bool {
        self.key.is_some() || self.command.is_repeatable()
    }

    /// A key may have been taken by a command of the same group, whose commit failed.
    fn refusal_stands(&self) -> bool {
        self.key.is_none() && self.command.refusal_stands()
    }

    fn stays(&self) -> Stays {
        self.command.stays()
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Self::Output> {
        let stored = match &self.key {
            Some(key) if !self.goes_on => kept(d.overlay.get(&key.place())?, key)?,
            Some(_) | None => None,
        };
        if let Some(body) = stored {
            return Ok(Answer { body, output: None });
        }
        let output = self.command.decide(d)?;
        let mut view = self.command.view(d, &output)?;
        let body = json(&view)?;
        if let Some(key) = &self.key {
            C::withhold(&mut view);
            let record = key.record(json(&view)?, d.overlay.now);
            d.overlay.write(if self.goes_on { Write::Replace(record.into()) } else { Write::Insert(record.into()) });
        }
        Ok(Answer { body, output: Some(output) })
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add(self.key.iter().map(|key| Lookup::Get(key.place())));
        self.command.prefetch(prefetch);
    }

    fn numbers(&self, engine: &Engine) -> usize {
        self.command.numbers(engine)
    }

    fn deed(&self, done: Option<&Self::Output>) -> Option<Deed> {
        self.command.deed(done.and_then(|answer| answer.output.as_ref()))
    }

    fn is_replay(answer: &Self::Output) -> bool {
        answer.output.as_ref().is_none_or(C::is_replay)
    }

    fn touched(answer: &Self::Output) -> usize {
        answer.output.as_ref().map_or(1, C::touched)
    }
}

/// The last step of work that takes several commands, with the answer to all of it.
#[derive(Debug, Clone)]
pub struct LastStep<C, V> {
    /// The step, if one is left.
    pub command: Option<C>,
    /// The answer.
    pub view: V,
}

impl<C: Command, V: Serialize + Clone + Send + 'static> Command for LastStep<C, V> {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        self.command.as_ref().is_none_or(C::is_repeatable)
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        self.command.as_ref().map_or(Ok(()), |command| command.decide(d).map(drop))
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        self.command.iter().for_each(|command| command.prefetch(prefetch));
    }

    fn numbers(&self, engine: &Engine) -> usize {
        self.command.as_ref().map_or(0, |command| command.numbers(engine))
    }
}

impl<C: Command, V: Serialize + Clone + Send + 'static> Answers for LastStep<C, V> {
    type View = V;

    fn view(&self, _: &Decision<'_, '_>, (): &()) -> Result<V> {
        Ok(self.view.clone())
    }
}

impl Engine {
    /// The answer that is kept under a key, for work that is only worth beginning if there is none yet. Whoever is given it repeats a
    /// promise, which nobody may have heard because no standby had confirmed it.
    ///
    /// # Errors
    /// `idempotency_key_reused` if the key was used for another request; `store_unavailable`.
    pub fn kept_answer<T>(&self, key: &KeptUnder) -> Result<Option<Answer<T>>> {
        let body = kept(typed(self.store.get(&key.place())?)?, key)?;
        if body.is_some() {
            self.store.secure()?;
        }
        Ok(body.map(|body| Answer { body, output: None }))
    }
}

impl KeptUnder {
    fn place(&self) -> Key {
        place(self.caller.party(), self.caller.mode, &self.key.key)
    }

    fn record(&self, answer: String, now: crate::time::Millis) -> IdempotencyRecord {
        IdempotencyRecord {
            client: self.caller.party(),
            key: stored_key(self.caller.mode, &self.key.key),
            fingerprint: self.key.fingerprint,
            settlement: SettlementNo(0),
            reversal: 0,
            created_at: now,
            answer: Some(answer),
        }
    }
}

fn kept(stored: Option<IdempotencyRecord>, key: &KeptUnder) -> Result<Option<String>> {
    match stored {
        None => Ok(None),
        Some(IdempotencyRecord { fingerprint, answer: Some(answer), .. }) if fingerprint == key.key.fingerprint => Ok(Some(answer)),
        Some(_) => Err(Error::new(ErrorCode::IdempotencyKeyReused)),
    }
}

fn json(view: &impl Serialize) -> Result<String> {
    serde_json::to_string(view).map_err(Error::internal)
}

/// Precedes the keys of the sandbox. It ends with a character that no `Idempotency-Key` contains.
const SANDBOX: &str = "sandbox\n";

/// An `Idempotency-Key` as it is stored: the keys of each mode are their own.
pub(super) fn stored_key(mode: Mode, key: &str) -> String {
    match mode {
        Mode::Live => key.to_owned(),
        Mode::Sandbox => format!("{SANDBOX}{key}"),
    }
}

/// Where a key is stored.
pub(super) fn place(client: ClientNo, mode: Mode, key: &str) -> Key {
    Key::Idempotency((client, stored_key(mode, key)))
}
