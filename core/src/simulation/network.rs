//! What is on its way between the nodes and the operators: it may be lost, late, repeated, and arrive in any order.

use crate::api::{RailCall, Subject};
use crate::engine::{Exchange, LeaseTasks, NumberEvents, Receive, ReportAnswer, Step};
use crate::env::Env as _;
use crate::rail::{Carried, HttpReply, HttpRequest, Inbound, RailAnswer};
use crate::store::record::TaskKey;
use crate::time::Millis;

use super::Part;
use super::customers::Again;
use super::model::{Line, Verdict};
use super::rails::{Callback, Entry, Fate, Operator, Road};
use super::world::{World, fault, in_doubt};

/// How long a request may be on its way at most.
const LONGEST_MS: Millis = 29_000;
/// How long what is late takes.
const LATE: [Millis; 3] = [9_000, 20_000, 28_000];
/// How long what a proxy passes on later takes: most of it is still under way when others look for it.
const LATER: [Millis; 3] = [20_000, 28_000, 28_000];
/// The call of a request whose answer nobody waits for.
const NOBODY: u64 = 0;

/// Something that is about to happen.
pub(super) enum Message {
    /// A request leaves, or the exchange ends.
    Leave(u64),
    /// A request arrives at an operator.
    Arrive { call: u64, request: HttpRequest, sent: Millis },
    /// A reply arrives at the node that asked.
    Back { call: u64, carried: Carried },
    /// A call reaches an operator inside the gateway.
    Inside { node: usize, life: u64, call: RailCall, key: TaskKey },
    /// A node reports an answer.
    Report { node: usize, life: u64, report: ReportAnswer },
    /// An operator reports something unasked.
    Callback(Callback),
}

/// An exchange that a node holds.
pub(super) struct OnWire {
    pub(super) node: usize,
    life: u64,
    exchange: Exchange<RailCall>,
    key: TaskKey,
}

/// What a proxy says that has no answer for its client.
fn bad_gateway() -> Carried {
    Carried::Answered(HttpReply { status: 502, headers: Vec::new(), body: Vec::new() })
}

impl World<'_> {
    /// A node leases what is due, and begins with it.
    pub(super) fn lease(&mut self, most: u64) -> Verdict {
        let (node, limit) = (self.node(), if self.calm { most } else { 1 + self.random.below(most) } as usize);
        let undisturbed = self.store.is_calm();
        let leases = match self.run(node, LeaseTasks::up_to(limit))? {
            Ok(leases) => leases,
            // Everybody's payments wait for it.
            Err(error) if undisturbed => return Err(format!("nothing is leased, and nothing disturbs it: {error}")),
            Err(_) => return Ok(()),
        };
        let life = self.nodes[node].life;
        let mut round = self.nodes[node].engine.round(leases);
        self.wire.extend(round.answers.drain(..).map(|report| Message::Report { node, life, report }));
        self.wire.extend(round.inside.drain(..).map(|(call, key)| Message::Inside { node, life, call, key }));
        for (call, key) in round.outside {
            let exchange = self.nodes[node].engine.exchange(call).map_err(fault)?;
            self.calls_made += 1;
            self.calls.insert(self.calls_made, OnWire { node, life, exchange, key });
            self.send(Message::Leave(self.calls_made));
        }
        Ok(())
    }

    /// Events get their places in the feeds and the trees.
    pub(super) fn number(&mut self) -> Verdict {
        let (node, limit) = (self.node(), 1 + self.random.below(60) as usize);
        let _ = self.run(node, NumberEvents { limit })?;
        self.look_at_log()
    }

    /// Sends something, which may take its time.
    fn send(&mut self, message: Message) {
        let slow = self.random.one_in(if self.is_sluggish() { 2 } else { 6 });
        let takes = self.random.pick(&LATE);
        if slow && self.has(Part::Losses) {
            self.late.push((self.env.now() + takes, message));
        } else {
            self.wire.push(message);
        }
    }

    /// Something on its way arrives: the more there is, the more of it, so that most is in time.
    pub(super) fn deliver(&mut self) -> Verdict {
        (0..=self.wire.len() / 6).try_for_each(|_| self.deliver_one())
    }

    fn deliver_one(&mut self) -> Verdict {
        if self.calm {
            self.wire.extend(self.late.drain(..).map(|(_, message)| message));
        }
        if self.wire.is_empty() {
            return Ok(());
        }
        let at = self.random.index(self.wire.len());
        let message = self.wire.swap_remove(at);
        self.receive(message)
    }

    fn receive(&mut self, message: Message) -> Verdict {
        match message {
            Message::Leave(call) => self.leave(call),
            Message::Arrive { call, request, sent } => self.arrive(call, &request, sent),
            Message::Back { call, carried } => self.back(call, &carried),
            Message::Inside { node, life, call, key } => self.inside(node, life, call, key),
            Message::Report { node, life, report } => self.report(node, life, report),
            Message::Callback(callback) => self.callback(&callback),
        }
    }

    /// Time passes, and what is late arrives when it does.
    pub(super) fn wait(&mut self, until: Millis) -> Verdict {
        while let Some(next) = (0..self.late.len()).min_by_key(|n| self.late[*n].0).filter(|n| self.late[*n].0 <= until) {
            let (at, message) = self.late.swap_remove(next);
            self.env.advance_to(at);
            self.receive(message)?;
        }
        self.env.advance_to(until);
        Ok(())
    }

    fn leave(&mut self, no: u64) -> Verdict {
        let Some(call) = self.calls.get_mut(&no) else { return Ok(()) };
        let engine = &self.nodes[call.node].engine;
        match call.exchange.step(engine) {
            Step::Done(answer) => {
                let report = ReportAnswer { subject: call.exchange.question().subject, answer, lease: Some(call.key) };
                let (node, life) = (call.node, call.life);
                self.calls.remove(&no);
                self.wire.push(Message::Report { node, life, report });
            }
            Step::Token(request) | Step::Send(request) => {
                let sent = self.env.now();
                // What pays is late more often than what asks about it.
                let is_passed_on = request.method == "PUT" && self.random.one_in(5) && self.is_sluggish() && self.has(Part::Losses);
                match if is_passed_on { Road::Broken } else { self.road() } {
                    Road::Closed => self.wire.push(Message::Back { call: no, carried: Carried::NotSent }),
                    Road::LostThere => self.wire.push(Message::Back { call: no, carried: Carried::Lost }),
                    Road::Broken if self.is_sluggish() || self.random.one_in(2) => {
                        let takes = self.random.pick(&LATER);
                        self.late.push((sent + takes, Message::Arrive { call: NOBODY, request, sent }));
                        self.wire.push(Message::Back { call: no, carried: bad_gateway() });
                    }
                    Road::Free | Road::LostBack | Road::Broken => self.send(Message::Arrive { call: no, request, sent }),
                }
            }
        }
        Ok(())
    }

    /// What happens on the way this time.
    fn road(&mut self) -> Road {
        let drawn = self.random.below(24);
        match drawn {
            _ if !self.has(Part::Losses) => Road::Free,
            0 => Road::Closed,
            1 => Road::LostThere,
            2 | 3 => Road::LostBack,
            4 | 5 => Road::Broken,
            _ => Road::Free,
        }
    }

    fn arrive(&mut self, call: u64, request: &HttpRequest, sent: Millis) -> Verdict {
        // Nothing is on its way for longer: the connection is gone.
        if self.env.now() - sent > LONGEST_MS {
            self.wire.push(Message::Back { call, carried: Carried::Lost });
            return Ok(());
        }
        let (lies, now) = (self.has(Part::Lies), self.env.now());
        let Some((id, key)) = Operator::addressed(&request.url) else { return Err(format!("nobody is at {}", request.url)) };
        let Some(operator) = self.operators.iter_mut().find(|it| it.id == id) else { return Err(format!("there is no {id}")) };
        let carried = operator.take(request, &mut self.random, lies, now);
        let key = key.to_owned();
        self.tell(|| format!("{} {key}: {carried:?}", request.method));
        self.note_line(&key)?;
        let carried = match self.road() {
            Road::LostBack => Carried::Lost,
            Road::Broken => bad_gateway(),
            Road::Free | Road::Closed | Road::LostThere => carried,
        };
        self.send(Message::Back { call, carried });
        Ok(())
    }

    /// Tells the model what an operator has in its books.
    fn note_line(&mut self, key: &str) -> Verdict {
        for operator in &self.operators {
            if let Some(entry) = operator.books.get(key) {
                let Entry { fate, executed, open, denied, claimed, .. } = *entry;
                let line =
                    Line { amount: entry.amount.into(), executed, open: open > 0, returned: fate == Fate::Returned, denied, claimed };
                self.model.writes(key, line)?;
            }
        }
        Ok(())
    }

    pub(super) fn note_books(&mut self) -> Verdict {
        let keys: Vec<String> = self.operators.iter().flat_map(|operator| operator.books.keys().cloned()).collect();
        keys.iter().try_for_each(|key| self.note_line(key))
    }

    fn back(&mut self, no: u64, carried: &Carried) -> Verdict {
        let Some(call) = self.calls.get_mut(&no) else { return Ok(()) };
        call.exchange.heard(&self.nodes[call.node].engine, carried);
        self.wire.push(Message::Leave(no));
        Ok(())
    }

    fn inside(&mut self, node: usize, life: u64, call: RailCall, key: TaskKey) -> Verdict {
        if self.nodes[node].life != life {
            return Ok(());
        }
        let subject = call.subject;
        let received = self.run_here(node, Receive(call))?;
        if self.nodes[node].life == life
            && let Some(answer) = received.unwrap_or(Some(RailAnswer::Unknown))
        {
            self.wire.push(Message::Report { node, life, report: ReportAnswer { subject, answer, lease: Some(key) } });
        }
        Ok(())
    }

    fn report(&mut self, node: usize, life: u64, report: ReportAnswer) -> Verdict {
        if self.nodes[node].life != life {
            return Ok(());
        }
        if self.has(Part::Repeats) && self.random.one_in(12) {
            self.wire.push(Message::Report { node, life, report: report.clone() });
        }
        // One that fails is not made again: the lease ends.
        let _ = self.run(node, report)?;
        Ok(())
    }

    /// An operator goes on with what it has, and may call back.
    pub(super) fn proceed(&mut self) -> Verdict {
        let (which, returns) = (self.random.index(self.operators.len()), self.has(Part::Lies));
        let Some(callback) = self.operators[which].proceed(&mut self.random, returns) else { return Ok(()) };
        self.note_line(&callback.key)?;
        if self.has(Part::Callbacks) {
            // Another operator, or who has its secret, says something about what is not its own.
            if self.random.one_in(5) {
                let by = self.operators[(which + 1) % self.operators.len()].id;
                let word = if callback.word == "paid" { "refused" } else { "paid" };
                self.wire.push(Message::Callback(Callback { by, word, ..callback.clone() }));
            }
            for _ in 0..self.random.below(3) {
                self.wire.push(Message::Callback(callback.clone()));
            }
        }
        Ok(())
    }

    pub(super) fn call_back_about_all(&mut self) {
        let all = self.operators.iter().flat_map(Operator::callbacks).map(Message::Callback);
        self.wire.extend(all);
    }

    pub(super) fn callback(&mut self, callback: &Callback) -> Verdict {
        let node = self.node();
        let headers = callback.headers();
        let inbound =
            Inbound { rail_key: None, source: None, headers: &headers, body: callback.word.as_bytes(), now: self.nodes[node].engine.now() };
        let Ok(Ok(Some(reported))) = self.nodes[node].engine.read_callback(callback.by, None, inbound) else { return Ok(()) };
        self.tell(|| format!("{} calls back about {}: {}", callback.by, callback.key, callback.word));
        let taken = self.run(node, ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None })?;
        if taken.as_ref().is_err_and(in_doubt) {
            self.unanswered = Some(Again::Callback(callback.clone()));
        }
        let (Subject::Attempt(no, _) | Subject::Reversal(no, _)) = reported.subject;
        // An operator that was told so says it once.
        match self.numbers.get(&no).filter(|_| taken.is_ok()) {
            Some(id) => self.model.tells(id),
            None => Ok(()),
        }
    }
}
