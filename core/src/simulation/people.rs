//! The people who run a simulated gateway: they move money, set limits, and decide about what nobody else can know.

use crate::auth::{Signer as _, SoftwareKey};
use crate::engine::{
    ActRequest, Acted, DecideApproval, Engine, EnrollOperator, Expire, InviteOperator, Maintain, Operate, Operation, OperatorBy, Release,
    Signed,
};
use crate::env::Env as _;
use crate::error::{Error, ErrorCode};
use crate::ids::{OperatorNo, Ulid};
use crate::store::record::{OperatorAct, OperatorRole};

use super::customers::Again;
use super::model::{Outcome, Person, Verdict, Wish};
use super::world::{World, fault, in_doubt, operated};

/// Those who run the gateway, and what waits for them.
#[derive(Default)]
pub(super) struct Staff {
    people: Vec<(OperatorBy, Person)>,
    references: u64,
    /// What was asked for.
    requests: Vec<Ulid>,
    /// Who asks for what in this step.
    wish: Option<(usize, Wish)>,
}

impl Staff {
    pub(super) fn enrol(eye: &Engine) -> Result<Self, Error> {
        let mut staff = Self::default();
        let roles = [
            (OperatorRole::Admin, None),
            (OperatorRole::Agent, None),
            (OperatorRole::Approver, None),
            // Whoever was invited by somebody counts as that one.
            (OperatorRole::Approver, Some(0)),
            (OperatorRole::Agent, Some(0)),
        ];
        for (n, (role, by)) in roles.into_iter().enumerate() {
            let invited_by: Option<OperatorNo> = by.map(|by: usize| staff.people[by].0.no);
            let invited = operated(eye, InviteOperator { name: format!("Person {n}"), role, by: invited_by, reason: None })?;
            let key = SoftwareKey::ed25519(&[100 + n as u8; 32]).public_key();
            let new = eye.run(EnrollOperator { code: invited.code, key, name: None })?;
            let may_confirm = matches!(role, OperatorRole::Admin | OperatorRole::Approver);
            staff.people.push((OperatorBy { no: new.operator.no, key: new.key.no }, Person { line: by.unwrap_or(n), may_confirm }));
        }
        Ok(staff)
    }

    pub(super) fn for_model(&self) -> Vec<Person> {
        self.people.iter().map(|(_, person)| *person).collect()
    }
}

impl World<'_> {
    /// Somebody of the staff does something.
    pub(super) fn act(&mut self) -> Verdict {
        match self.random.below(10) {
            0..=3 => self.ask_to_move(),
            4 => self.ask_for_limits(),
            5..=8 => self.decide(),
            _ => self.resolve().map(drop),
        }
    }

    fn ask_to_move(&mut self) -> Verdict {
        let client = self.random.index(self.customers.len());
        let out = self.random.one_in(6);
        // Sometimes the same once more.
        if !self.random.one_in(8) {
            self.staff.references += 1;
        }
        let minor = if out { 1_000 } else { 20_000 };
        let reference = format!("wire-{client}-{}", self.staff.references);
        let body = format!(
            r#"{{"currency":"EUR","amount":"{}.00","reference":"{reference}","evidence":"line {}"}}"#,
            minor / 100,
            self.staff.references
        );
        let act = if out { OperatorAct::Withdraw } else { OperatorAct::Deposit };
        let wish = Wish::Move { client, amount: if out { -minor } else { minor }, reference };
        let subject = format!("cli_{}", self.customers[client].caller.client_id);
        self.ask(act, &subject, &body, wish).map(drop)
    }

    fn ask_for_limits(&mut self) -> Verdict {
        let client = self.random.index(self.customers.len());
        let (value, count) = (10 + self.random.below(60), 5 + self.random.below(40));
        let body = format!(r#"{{"mode":"live","currency":"EUR","daily_value":"{value}.00","daily_count":{count},"reason":"a rule"}}"#);
        let subject = format!("cli_{}", self.customers[client].caller.client_id);
        let wish = Wish::Limits { client, value: i128::from(value) * 100, count: count.into() };
        self.ask(OperatorAct::SetLimits, &subject, &body, wish).map(drop)
    }

    /// Somebody asks for what a second person must confirm. Returns whether it was not refused.
    fn ask(&mut self, act: OperatorAct, subject: &str, body: &str, wish: Wish) -> Result<bool, String> {
        let (node, who) = (self.node(), self.random.index(self.staff.people.len()));
        let by = self.staff.people[who].0;
        let request = ActRequest { act, subject, body: body.as_bytes(), expected: None };
        let Ok(operate) = Operate::read(&self.nodes[node].engine, by, request) else { return Ok(false) };
        self.staff.wish = Some((who, wish.clone()));
        let signed = Signed { by: self.signed_by(by.no.party(), by.key), command: operate };
        let asked = self.run(node, signed)?;
        self.staff.wish = None;
        self.tell(|| {
            format!("person {who} asks for {wish:?}: {}", asked.as_ref().map_or_else(ToString::to_string, |_| "it waits".to_owned()))
        });
        let taken = asked.is_ok();
        match asked {
            Ok(Operation::Done { acted: Acted::Moved(moved), .. }) if moved.replayed => match wish {
                Wish::Move { client, amount, reference } => self.model.told_of_movement(client, &reference, amount),
                Wish::Limits { .. } | Wish::Outcome { .. } => Err(format!("{wish:?} moved money")),
            },
            Ok(Operation::Done { .. }) => Err(format!("one person alone did {wish:?}")),
            Ok(Operation::Asked(asked)) => self.model.told_of_request(&format!("apr_{}", asked.id), "pending"),
            Err(_) => Ok(()),
        }
        .map(|()| taken)
    }

    pub(super) fn look_at_approval(&mut self, id: Ulid, undone: bool) -> Verdict {
        match self.eye.approval(id) {
            Ok(view) => {
                if !self.staff.requests.contains(&id) {
                    self.staff.requests.push(id);
                }
                let status = view.status.as_str();
                self.model.waits(&view.id, self.staff.wish.clone(), status, self.env.now(), undone)?;
            }
            Err(error) if error.code == ErrorCode::ApprovalNotFound => {
                self.staff.requests.retain(|known| *known != id);
                self.model.waits_no_more(&format!("apr_{id}"))?;
            }
            Err(error) => return Err(fault(error)),
        }
        self.follow_setup();
        Ok(())
    }

    /// Everything that waits, or waited, is as it was last seen.
    pub(super) fn look_at_requests(&mut self) -> Verdict {
        for id in &self.staff.requests {
            let status = self.eye.approval(*id).map_err(|error| format!("apr_{id} is gone: {error}"))?.status.as_str();
            self.model.waits(&format!("apr_{id}"), None, status, self.env.now(), false)?;
        }
        Ok(())
    }

    /// Somebody decides about a request, whether they may or not.
    fn decide(&mut self) -> Verdict {
        let latest = self.staff.requests.len().min(12);
        let Some(approval) = self.staff.requests.iter().rev().nth(self.random.index(latest)).copied() else { return Ok(()) };
        let (who, confirm) = (self.random.index(self.staff.people.len()), !self.random.one_in(8));
        self.decide_as(who, approval, confirm).map(drop)
    }

    pub(super) fn decide_as(&mut self, who: usize, approval: Ulid, confirm: bool) -> Result<bool, String> {
        let (node, by) = (self.node(), self.staff.people[who].0);
        self.model.confirming = confirm.then(|| (format!("apr_{approval}"), who));
        let command = DecideApproval { by, approval, confirm, comment: None };
        let signed = Signed { by: self.signed_by(by.no.party(), by.key), command };
        let decided = self.run(node, signed)?;
        self.model.confirming = None;
        if decided.as_ref().is_err_and(in_doubt) {
            self.unanswered = Some(Again::Decision { who, approval, confirm });
        }
        if decided.is_ok() {
            self.model.told_of_request(&format!("apr_{approval}"), if confirm { "confirmed" } else { "declined" })?;
        }
        Ok(decided.is_ok())
    }

    /// Somebody looks at what waits for a person, and decides by the operators' books. Returns whether that was not refused.
    fn resolve(&mut self) -> Result<bool, String> {
        let reviews = self.eye.reviews_page(true, None, 20).map_err(fault)?.data;
        let Some(review) = reviews.get(self.random.index(reviews.len())) else { return Ok(false) };
        let is_final = !matches!(review.status.as_str(), "accepted" | "submitted" | "unknown");
        let outcome = match review.reversal {
            Some(n) => self.model.outcome_of_reversal(&review.settlement_id, n),
            None => self.model.outcome(&review.settlement_id),
        };
        let resolution = match outcome {
            _ if is_final => "accept_discrepancy",
            _ if review.sandbox => "keep_waiting",
            // Something may still be on its way.
            Outcome::Open | Outcome::Unpaid if !self.calm => "keep_waiting",
            Outcome::Paid => "confirmed_completed",
            Outcome::Open | Outcome::Unpaid => "confirmed_failed",
        };
        let (id, settlement) = (review.id.clone(), review.settlement_id.clone());
        let body = format!(r#"{{"resolution":"{resolution}","evidence":"their books"}}"#);
        if matches!(resolution, "confirmed_completed" | "confirmed_failed") {
            return self.ask(OperatorAct::ResolveReview, &id, &body, Wish::Outcome { settlement });
        }
        // Perhaps two of them at the same time.
        let mut taken = false;
        for _ in 0..1 + self.random.below(2) {
            let (node, by) = (self.node(), self.staff.people[0].0);
            let request = ActRequest { act: OperatorAct::ResolveReview, subject: &id, body: body.as_bytes(), expected: None };
            let Ok(operate) = Operate::read(&self.nodes[node].engine, by, request) else { return Ok(false) };
            let signed = Signed { by: self.signed_by(by.no.party(), by.key), command: operate };
            taken |= self.run(node, signed)?.is_ok();
        }
        Ok(taken)
    }

    /// Decides about everything that waits for a person, as far as it can be decided. Returns whether something changed: a
    /// refused decision spends its nonce, and may be taken later.
    pub(super) fn resolve_all(&mut self) -> Result<bool, String> {
        let due = self.eye.reviews_page(false, None, 1).map_err(fault)?.data;
        if due.is_empty() {
            return Ok(false);
        }
        let mut changed = self.resolve()?;
        let waits = |id: &Ulid| self.eye.approval(*id).is_ok_and(|view| view.status.as_str() == "pending");
        let waiting: Vec<Ulid> = self.staff.requests.iter().copied().filter(waits).collect();
        for approval in waiting {
            // One of these is not the asker, nor goes back to the same person.
            for who in [0, 2] {
                changed |= self.decide_as(who, approval, true)?;
            }
        }
        Ok(changed)
    }

    /// What hosts do from time to time, and a node that is replaced by a newer one.
    pub(super) fn keep_house(&mut self) -> Verdict {
        let node = self.node();
        match self.random.below(3) {
            0 => drop(self.run(node, Maintain)?),
            1 => {
                let expired = self.nodes[node].engine.expired(None, 20).map(|it| it.settlements).unwrap_or_default();
                let _ = self.run(node, Expire { settlements: expired })?;
            }
            _ => {
                let _ = self.run_here(node, Release)?;
                self.restart(node)?;
            }
        }
        Ok(())
    }
}
