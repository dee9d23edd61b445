//! The embedded gateway of the demo: a real engine over a real SQLite file, a clock that is set by hand, and a host that
//! sends the outbox's tasks like the server's worker.

use std::path::Path;
use std::sync::Arc;

use railgate::api::{BalanceView, Caller, EventView, ReversalView, SettlementView, Subject, Target, Work};
use railgate::engine::verify::{VerifyReport, verify};
use railgate::engine::{Config, Create, Engine, Enroll, LeaseTasks, Receive, ReportAnswer, Reverse};
use railgate::env::{Env, ManualEnv};
use railgate::ids::SettlementNo;
use railgate::money::{Currency, Money};
use railgate::rail::RailAnswer;
use railgate::route::{FeeRule, Percent, ProviderSpec};
use railgate::store::record::{SettlementRecord, TaskKey};
use railgate::store::sqlite::SqliteStore;
use railgate::time::Millis;
use railgate::validate::parse_reverse;

use super::plays::{Play, Script};
use crate::cli::failure::{Done, Failure};

/// The time at which the demo begins, whenever it is run: 2026-01-05T09:00:00Z.
const BEGIN: Millis = 1_767_603_600_000;
/// How long a payment may take to come to rest; a bounce takes a day.
const HORIZON: Millis = 26 * 3_600_000;
/// How long a person thinks before changing their mind.
const A_MOMENT: Millis = 2_000;
/// More steps than any payment needs; a demo that takes more has a bug.
const MOST_STEPS: usize = 1_000;

/// A payment that was played, and what there is to show about it.
pub(super) struct Performed {
    pub(super) play: Play,
    /// The payment in the store.
    pub(super) record: SettlementRecord,
    /// The payment as its owner sees it.
    pub(super) view: SettlementView,
    pub(super) events: Vec<EventView>,
    pub(super) reversals: Vec<ReversalView>,
    /// What happened without an event.
    pub(super) asides: Vec<Aside>,
}

/// A noteworthy action that is not an event.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Aside {
    /// Milliseconds since the Unix epoch.
    #[serde(skip)]
    pub(super) at: Millis,
    /// The actor: the client or the rail.
    pub(super) actor: &'static str,
    /// The action and its result.
    pub(super) text: String,
    /// Whether the result is as it must be.
    pub(super) ok: bool,
}

/// The gateway, its clock and its only client.
pub(super) struct Stage {
    engine: Engine,
    store: Arc<SqliteStore>,
    env: Arc<ManualEnv>,
    caller: Caller,
    asides: Vec<(SettlementNo, Aside)>,
}

impl Stage {
    /// Opens a fresh gateway over the file `path`, and enrols a client.
    pub(super) fn open(path: &Path, seed: u64) -> Done<Self> {
        let store = Arc::new(SqliteStore::open(path).map_err(railgate::Error::from)?);
        let env = Arc::new(ManualEnv::new(BEGIN, seed));
        let engine = Engine::open(store.clone(), env.clone(), config())?;
        let enrolled = engine.run(Enroll { name: "Demo client".to_owned(), key: None })?;
        Ok(Self { engine, store, env, caller: enrolled.caller, asides: Vec::new() })
    }

    /// The client's public id.
    pub(super) fn client_id(&self) -> String {
        format!("cli_{}", self.caller.client_id)
    }

    /// The client's balances now.
    pub(super) fn balances(&self) -> Done<Vec<BalanceView>> {
        Ok(self.engine.balances(&self.caller)?)
    }

    /// The report of `railgate ledger verify` on the store.
    pub(super) fn verify(&self) -> Done<VerifyReport> {
        Ok(verify(&*self.store, &mut |_| {})?)
    }

    /// The settlement in its current state, for the sums at the end: a late event may have changed it since it was shown.
    pub(super) fn record(&self, no: SettlementNo) -> Done<SettlementRecord> {
        self.engine.settlement_by_number(no)?.ok_or_else(|| Failure::new("a settlement that was made is not there"))
    }

    /// Plays one payment until it rests.
    pub(super) fn perform(&mut self, play: Play) -> Done<Performed> {
        let created = self.create(&play, play.amount)?;
        let no = created.no;
        let target = Target::Reference(created.reference.clone());
        let horizon = created.created_at + HORIZON;
        if play.script == Script::Cancel {
            self.pause();
            self.reverse(no, &target, "{}")?;
        }
        self.run_until_quiet(horizon)?;
        match play.script {
            Script::Pay | Script::Cancel => {}
            Script::PayTwice => self.pay_again(&play, no)?,
            Script::Reverse => {
                self.pause();
                self.reverse(no, &target, r#"{"reason":"customer_request"}"#)?;
            }
            Script::ReverseInParts => {
                self.pause();
                self.reverse(no, &target, r#"{"amount":30.00,"reason":"incorrect_amount"}"#)?;
                self.run_until_quiet(horizon)?;
                self.pause();
                self.reverse_too_much(no, &target)?;
                self.reverse(no, &target, r#"{"reason":"customer_request"}"#)?;
            }
        }
        self.run_until_quiet(horizon)?;
        self.curtain(play, no)
    }

    fn curtain(&mut self, play: Play, no: SettlementNo) -> Done<Performed> {
        let record = self.record(no)?;
        let (own, rest) = std::mem::take(&mut self.asides).into_iter().partition(|(of, _)| *of == no);
        self.asides = rest;
        let own: Vec<(SettlementNo, Aside)> = own;
        Ok(Performed {
            view: self.engine.view(&record, self.caller.client_id),
            events: self.engine.events(&record, 0, usize::from(u16::MAX))?,
            reversals: self.engine.reversals(&record)?,
            asides: own.into_iter().map(|(_, aside)| aside).collect(),
            record,
            play,
        })
    }

    fn create(&self, play: &Play, amount: &str) -> Done<SettlementRecord> {
        match self.try_create(play, amount)? {
            Ok((settlement, _)) => Ok(settlement),
            Err(error) => Err(error.into()),
        }
    }

    /// Uses the same bytes, the same validation and the same command as the HTTP interface.
    fn try_create(&self, play: &Play, amount: &str) -> Done<railgate::Result<(SettlementRecord, bool)>> {
        let Play { name, to, currency, .. } = play;
        let body = format!(r#"{{"amount":{amount},"currency":"{currency}","to":"{to}","reference":"{name}"}}"#);
        let request = Box::new(self.engine.parse_create(body.as_bytes())?);
        Ok(self.engine.run(Create { caller: self.caller, request }).map(|made| (*made.settlement, made.replayed)))
    }

    fn pay_again(&mut self, play: &Play, no: SettlementNo) -> Done {
        self.pause();
        // The same amount in another form: 10.5 is 10.50.
        let amount = play.amount.trim_end_matches('0');
        let (same, replayed) = self.try_create(play, amount)??;
        let text = format!("sends it again as {amount}: gets the original, pays nothing");
        self.aside(no, "client", text, replayed && same.no == no);
        self.pause();
        let refused = self.try_create(play, "11.00")?.err().map(|error| error.code.as_str());
        let text = "another amount, same reference: reference_conflict";
        self.aside(no, "client", text.to_owned(), refused == Some("reference_conflict"));
        Ok(())
    }

    fn reverse(&mut self, no: SettlementNo, target: &Target, body: &str) -> Done {
        let request = Box::new(parse_reverse(body.as_bytes())?);
        let command = Reverse { caller: self.caller, target: target.clone(), request, idempotency: None };
        match self.engine.run(command) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.aside(no, "client", format!("asks for it back: refused, {error}"), false);
                Ok(())
            }
        }
    }

    fn reverse_too_much(&mut self, no: SettlementNo, target: &Target) -> Done {
        let request = Box::new(parse_reverse(br#"{"amount":70.01}"#)?);
        let command = Reverse { caller: self.caller, target: target.clone(), request, idempotency: None };
        let refused = self.engine.run(command).err();
        let detail = refused.as_ref().map(|error| error.detail.to_string()).unwrap_or_default();
        let right = refused.is_some_and(|error| error.code.as_str() == "reversal_exceeds_remaining");
        self.aside(no, "client", format!("asks for 70.01 back: refused, {detail}"), right);
        self.pause();
        Ok(())
    }

    fn aside(&mut self, no: SettlementNo, actor: &'static str, text: String, ok: bool) {
        let at = self.env.now();
        self.asides.push((no, Aside { at, actor, text, ok }));
    }

    fn pause(&self) {
        self.env.advance_to(self.env.now() + A_MOMENT);
    }

    /// Carries out the outbox, setting the clock to the next due task, until nothing is due before `horizon`.
    fn run_until_quiet(&mut self, horizon: Millis) -> Done {
        for _ in 0..MOST_STEPS {
            if self.carry_due()? {
                continue;
            }
            match self.engine.next_due()? {
                Some(due) if due <= horizon => self.env.advance_to(due),
                _ => return Ok(()),
            }
        }
        Err(Failure::new(format!("the outbox did not come to rest within {MOST_STEPS} steps")))
    }

    /// Carries out what is due now. Returns whether there was anything.
    fn carry_due(&mut self) -> Done<bool> {
        let leases = self.engine.run(LeaseTasks::up_to(16))?;
        let any = !leases.is_empty();
        for lease in leases {
            let (subject, answer, callback) = match lease.work {
                Work::Callback { subject, answer } => (subject, answer, true),
                Work::Call(call) => {
                    let subject = call.subject;
                    self.take_time();
                    // Nothing delays an answer here.
                    let Some(answer) = self.engine.run(Receive(call))? else { continue };
                    (subject, answer, false)
                }
            };
            self.report(subject, answer, lease.key, callback)?;
        }
        Ok(any)
    }

    /// Reports an answer, and notes the callbacks that changed nothing, because that is half of the point.
    fn report(&mut self, subject: Subject, answer: RailAnswer, key: TaskKey, callback: bool) -> Done {
        let (Subject::Attempt(no, _) | Subject::Reversal(no, _)) = subject;
        let before = self.record(no)?.version;
        let said = answer.kind().as_str();
        self.engine.run(ReportAnswer { subject, answer, lease: Some(key) })?;
        if callback && self.record(no)?.version == before {
            self.aside(no, "rail", format!("calls back with old news ({said}): nothing changes"), true);
        }
        Ok(())
    }

    /// A call takes between 80 and 207 ms; the seed determines the exact time.
    fn take_time(&self) {
        let mut byte = [0u8];
        self.env.random(&mut byte);
        self.env.advance_to(self.env.now() + 80 + Millis::from(byte[0] >> 1));
    }
}

/// Two simulated operators that charge a small fee, and an account that is easy to do sums with.
fn config() -> Config {
    let half = FeeRule { percent: Percent::of_millionths(5_000).unwrap_or_default(), ..FeeRule::default() };
    let operator = |id: &str, name: &str| ProviderSpec { fees: vec![half.clone()], ..ProviderSpec::simulator(id, name) };
    let funded = [("EUR", 100_000), ("USD", 100_000), ("JPY", 100_000)];
    let money = |(code, minor): (&str, i64)| Currency::from_code(code).map(|currency| Money::from_minor(minor, currency));
    Config {
        providers: vec![operator("operator-a", "Simulated operator A"), operator("operator-b", "Simulated operator B")],
        sandbox_funding: funded.into_iter().filter_map(money).collect(),
        ..Config::default()
    }
}
