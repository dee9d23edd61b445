//! What an engine does besides settling, and which depends on who hosts it.
//!
//! A server has many clients with keys and tokens, delivers webhooks, keeps a public log, seals its secrets and has an
//! operator. An engine inside a tab or an app has one client, which is the program around it. The rest of the engine reaches
//! what differs through [`Hosting`] only, so that none of a server's part is linked into a program that never opens one.

use zeroize::Zeroizing;

#[cfg(feature = "sandbox")]
use crate::api::Enrolled;
use crate::api::{Command, Outcome};
#[cfg(feature = "sandbox")]
use crate::auth::Algorithm;
use crate::auth::PublicKey;
use crate::error::{Error, Result};
#[cfg(feature = "sandbox")]
use crate::store::record::{FeedRecord, LoggedChange};
use crate::store::record::{Key, SANDBOX_KEY, TaskRecord};

use super::ahead::of_tasks;
#[cfg(feature = "sandbox")]
use super::log::{changes_of, last_position, log_head};
use super::overlay::Overlay;
use super::{Engine, Writer};

/// Who hosts an engine.
pub(super) trait Hosting: Send + Sync {
    /// Makes the store ready, or refuses one that another kind of host works on.
    fn begin(&self, engine: &Engine) -> Result<()>;
    /// Looks up what the commands will read first, where each read is a journey.
    fn look_ahead(&self, engine: &Engine, overlay: &mut Overlay<'_>, commands: &[Command]) -> Result<()>;
    /// The same for tasks that are about to be leased.
    fn look_ahead_of(&self, overlay: &mut Overlay<'_>, due: &[TaskRecord]) -> Result<()>;
    /// Decides what [`Engine`] does not decide for every host.
    fn decide(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome>;
    /// Adds to the group's commit what the events in it ask for.
    fn note_events(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer) -> Result<()>;
    /// Makes due now what is leased besides tasks, by this engine if it is leaving, by others if not; says how much that was.
    fn free(&self, engine: &Engine, overlay: &mut Overlay<'_>, leaving: bool) -> Result<usize>;
    /// How a secret is kept at `place`; `None` if this host keeps none.
    fn seal(&self, engine: &Engine, place: &str, secret: &[u8]) -> Option<Vec<u8>>;
    /// What [`Hosting::seal`] kept.
    fn unseal(&self, engine: &Engine, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>>;
    /// A receipt key as the store has it; `None` if it is none.
    fn receipt_key(&self, point: &[u8]) -> Option<PublicKey>;
}

/// A server.
pub(super) struct Server;

impl Hosting for Server {
    fn begin(&self, engine: &Engine) -> Result<()> {
        if engine.store.get(&Key::Meta(SANDBOX_KEY.to_owned()))?.is_some() {
            return Err(Error::internal("the store is the sandbox of an app: a server needs one of its own"));
        }
        engine.begin_log()
    }

    fn look_ahead(&self, engine: &Engine, overlay: &mut Overlay<'_>, commands: &[Command]) -> Result<()> {
        engine.look_ahead(overlay, commands)
    }

    fn look_ahead_of(&self, overlay: &mut Overlay<'_>, due: &[TaskRecord]) -> Result<()> {
        overlay.look_up(of_tasks(due))
    }

    fn decide(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome> {
        engine.decide_hosted(overlay, writer, command)
    }

    fn note_events(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer) -> Result<()> {
        engine.note_events(overlay, writer)
    }

    fn free(&self, engine: &Engine, overlay: &mut Overlay<'_>, leaving: bool) -> Result<usize> {
        if leaving {
            engine.leave_log(overlay)?
        } else {
            engine.take_over_log(overlay)?
        }
        engine.free_queues(overlay, &|owner| engine.frees(owner, leaving))
    }

    fn seal(&self, engine: &Engine, place: &str, secret: &[u8]) -> Option<Vec<u8>> {
        engine.seal_under_master(place, secret)
    }

    fn unseal(&self, engine: &Engine, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        engine.unseal_under_master(place, sealed)
    }

    fn receipt_key(&self, point: &[u8]) -> Option<PublicKey> {
        PublicKey::p256(point)
    }
}

impl Engine {
    /// What only a server is told to do.
    fn decide_hosted(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome> {
        match command {
            Command::Enroll { name, key } => self.enroll(overlay, writer, name, key.as_ref()),
            Command::EnrollLive { caller, key } => self.enroll_live(overlay, writer, caller, key),
            Command::IssueToken { key, scopes } => self.issue_token(overlay, *key, *scopes),
            Command::RevokeToken { caller, token } => self.revoke_token(overlay, caller, token),
            Command::AddKey { caller, key, label, scopes } => self.add_key(overlay, writer, caller, key, label.as_deref(), *scopes),
            Command::RevokeKey { caller, key } => self.revoke_key(overlay, caller, key),
            Command::Signed { by, command } => self.signed(overlay, writer, by, command),
            Command::Operate(operation) => self.operated(overlay, writer, command, operation),
            Command::Log { limit } => self.log(overlay, writer, *limit),
            Command::Webhook { caller, change } => self.change_webhook(overlay, writer, caller, change),
            Command::LeaseQueues { healthy, troubled, under_way } => {
                self.lease_queues(overlay, writer.outrun, (*healthy, *troubled), under_way)
            }
            Command::Delivered { endpoint, tries } => self.delivered(overlay, writer, *endpoint, tries),
            Command::Tested { delivery, tried } => self.tested(overlay, *delivery, tried),
            Command::Maintain => self.maintain(overlay, writer),
            Command::Note { .. }
            | Command::Fund { .. }
            | Command::Create { .. }
            | Command::Reverse { .. }
            | Command::Lease { .. }
            | Command::Answer { .. }
            | Command::Simulate(_)
            | Command::Recover
            | Command::Release => Err(Error::internal("every engine decides this by itself")),
        }
    }
}

/// A program that has the engine for itself, such as a tab or an app: see [`crate::sandbox`].
#[cfg(feature = "sandbox")]
pub(super) struct Alone;

/// What stands before a secret that is kept as it is. No sealed value begins with it.
#[cfg(feature = "sandbox")]
const PLAIN: u8 = 0;

#[cfg(feature = "sandbox")]
impl Hosting for Alone {
    fn begin(&self, engine: &Engine) -> Result<()> {
        match log_head(&*engine.store)? {
            None => Ok(()),
            Some(_) => Err(Error::internal("the store is that of a server: a sandbox needs one of its own")),
        }
    }

    /// Its store is beside it.
    fn look_ahead(&self, _: &Engine, _: &mut Overlay<'_>, _: &[Command]) -> Result<()> {
        Ok(())
    }

    fn look_ahead_of(&self, _: &mut Overlay<'_>, _: &[TaskRecord]) -> Result<()> {
        Ok(())
    }

    fn decide(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome> {
        match command {
            Command::Enroll { name, key: None } => {
                let (caller, name) = engine.enroll_client(overlay, writer, name, |_| None)?;
                Ok(Outcome::Enrolled(Box::new(Enrolled { caller, name, key: None, token: None, webhook_secret: None })))
            }
            Command::Enroll { key: Some(_), .. }
            | Command::EnrollLive { .. }
            | Command::IssueToken { .. }
            | Command::RevokeToken { .. }
            | Command::AddKey { .. }
            | Command::RevokeKey { .. }
            | Command::Signed { .. }
            | Command::Operate(_)
            | Command::Log { .. }
            | Command::Webhook { .. }
            | Command::LeaseQueues { .. }
            | Command::Delivered { .. }
            | Command::Tested { .. }
            | Command::Maintain => Err(Error::internal("only a server's engine takes this command")),
            Command::Note { .. }
            | Command::Fund { .. }
            | Command::Create { .. }
            | Command::Reverse { .. }
            | Command::Lease { .. }
            | Command::Answer { .. }
            | Command::Simulate(_)
            | Command::Recover
            | Command::Release => Err(Error::internal("every engine decides this by itself")),
        }
    }

    /// With one writer and no log, each event gets its place in its owner's feed at once.
    fn note_events(&self, engine: &Engine, overlay: &mut Overlay<'_>, _: &mut Writer) -> Result<()> {
        let changes = changes_of(&overlay.commit)?;
        let Some(LoggedChange { client, mode, .. }) = changes.first() else { return Ok(()) };
        // There is one client, and so one feed.
        let mut position = last_position(&*engine.store, *client, *mode)?;
        for change in &changes {
            for (index, event) in change.events.iter().enumerate() {
                position += 1;
                overlay.insert(FeedRecord {
                    client: change.client,
                    mode: change.mode,
                    position,
                    settlement: change.settlement,
                    n: change.sequence(index),
                    at: event.at,
                    leaf: position - 1,
                });
            }
        }
        overlay.settle();
        Ok(())
    }

    fn free(&self, _: &Engine, _: &mut Overlay<'_>, _: bool) -> Result<usize> {
        Ok(0)
    }

    /// As it is: whoever can read the store of a tab or an app can read whatever would open it as well.
    fn seal(&self, _: &Engine, _: &str, secret: &[u8]) -> Option<Vec<u8>> {
        Some([&[PLAIN], secret].concat())
    }

    fn unseal(&self, _: &Engine, _: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        match sealed.split_first() {
            Some((&PLAIN, secret)) => Ok(Zeroizing::new(secret.to_vec())),
            Some(_) | None => Err(Error::internal("a secret of the sandbox is not as it was written")),
        }
    }

    /// Nobody else writes its store, and the arithmetic of a curve takes more room than a page has.
    fn receipt_key(&self, point: &[u8]) -> Option<PublicKey> {
        PublicKey::from_stored(Algorithm::EcdsaP256Sha256, point)
    }
}
