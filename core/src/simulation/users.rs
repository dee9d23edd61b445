//! End users of clients: their phones pay, what is large waits until they approve it, and nobody else can. And clients that put the clocks
//! of their sandboxes ahead, so that what waits has waited too long.

use crate::api::{Caller, Target};
use crate::auth::{Signer as _, SoftwareKey};
use crate::engine::{DecidePayment, Engine, EnrollDevice, Expire, MakeDeviceCode, SetClock, Shown, Signed};
use crate::error::{Error, ErrorCode};
use crate::ids::{KeyNo, Ulid};
use crate::ledger::Mode;
use crate::money::Money;
use crate::validate::mobile::parse_user;
use crate::validate::simulator::parse_clock;

use super::customers::{Again, Customer};
use super::look::time_of;
use super::model::Verdict;
use super::world::{World, fault, in_doubt};

/// What a user may pay without being asked.
const LIMITS: &str = r#"{"limits":[{"currency":"EUR","approval_over":"3.00"}]}"#;
/// By how much a client puts its clock ahead.
const AHEAD: [&str; 5] = ["1000", "61000", "3600001", "3600001", "90000000"];

/// A user's phone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phone {
    pub(super) caller: Caller,
    pub(super) key: KeyNo,
}

impl Phone {
    /// One for each mode, the sandbox's first.
    pub(super) fn pair(eye: &Engine, client: Caller, n: u8) -> Result<[Self; 2], Error> {
        let one = |mode, key: u8| -> Result<Self, Error> {
            let caller = Caller { mode, ..client };
            let (limits, _) = parse_user(LIMITS.as_bytes())?;
            let code = MakeDeviceCode { caller, name: format!("user {n}"), limits, link: "app:{code}".to_owned() };
            let (code, key) = (eye.run(code)?.code, SoftwareKey::ed25519(&[key; 32]).public_key());
            let (platform, unsaid) = ("any".to_owned(), None);
            let phone = EnrollDevice { code, key, platform, app_version: None, model: None, label: unsaid, attestation: None };
            let new = eye.run(phone)?;
            Ok(Self { caller: Caller { user: Some(new.user.no), ..caller }, key: new.key.no })
        };
        Ok([one(Mode::Sandbox, n + 180)?, one(Mode::Live, n + 210)?])
    }
}

impl World<'_> {
    /// A user looks at what waits, and decides; or somebody who is not the user tries to, or for another amount.
    pub(super) fn consent(&mut self) -> Verdict {
        let waiting: Vec<String> = self.model.waiting_for_users().map(str::to_owned).collect();
        let Some(id) = waiting.get(self.random.index(waiting.len())).cloned() else { return Ok(()) };
        let approve = !self.random.one_in(4);
        let strange = self.random.below(6);
        self.decide_as_user(&id, approve, (strange == 0, strange == 1)).map(drop)
    }

    /// Returns whether it was decided.
    pub(super) fn decide_as_user(&mut self, id: &str, approve: bool, (by_stranger, misled): (bool, bool)) -> Result<bool, String> {
        let Some(seen) = self.model.seen(id) else { return Ok(false) };
        let (client, live, amount) = (seen.client, seen.live, seen.amount);
        let owner = if by_stranger { (client + 1) % self.customers.len() } else { client };
        let phone = self.customers[owner].phones[usize::from(live)];
        let caller = Caller { mode: Mode::Live, ..self.customers[client].caller };
        let target = Target::parse(id).ok_or_else(|| format!("{id} is no id"))?;
        let record = self.eye.settlement(&caller, &target).map_err(fault)?;
        let minor = i64::try_from(amount).map_err(fault)? + i64::from(misled);
        let shown = Shown {
            money: Money::from_minor(minor, record.currency),
            to: record.to.clone(),
            reference: record.reference.clone(),
            payee_name: None,
        };
        let settlement = Ulid::parse(id.trim_start_matches("stl_")).ok_or_else(|| format!("{id} is no id"))?;
        let command = DecidePayment { caller: phone.caller, key: phone.key, settlement, approve, shown, reason: None };
        let signed = Signed { by: self.signed_by(phone.caller.client, phone.key), command };
        let node = self.node();
        self.model.consenting = (approve && !by_stranger && !misled).then(|| id.to_owned());
        let decided = self.run(node, signed)?;
        self.model.consenting = None;
        match decided {
            Ok(_) if by_stranger || misled => Err(format!("{id} was decided by a stranger ({by_stranger}) or for {minor} ({misled})")),
            Ok(_) => self.model.decides(id, approve).map(|()| true),
            Err(error) => {
                let known = [
                    ErrorCode::ApprovalDecided,
                    ErrorCode::PaymentApprovalNotFound,
                    ErrorCode::NonceReplayed,
                    ErrorCode::SettlementNotFound,
                ];
                if in_doubt(&error) {
                    self.unanswered = (!by_stranger && !misled).then(|| Again::Consent { id: id.to_owned(), approve });
                }
                if in_doubt(&error) || known.contains(&error.code) || misled && error.code == ErrorCode::InvalidFields {
                    Ok(false)
                } else {
                    Err(format!("{id} is not decided: {error}"))
                }
            }
        }
    }

    /// A client puts the clock of its sandbox ahead.
    pub(super) fn put_ahead(&mut self) -> Verdict {
        let who = self.random.index(self.customers.len());
        let ms = self.random.pick(&AHEAD);
        let request = parse_clock(format!(r#"{{"advance_ms":{ms}}}"#).as_bytes()).map_err(fault)?;
        let node = self.node();
        let Customer { caller, key, .. } = self.customers[who];
        let by = self.signed_by(caller.client, key);
        match self.run(node, Signed { by, command: SetClock { caller, request } })? {
            Ok(set) => self.model.puts_ahead(who, time_of(set.advancing_to.as_ref().unwrap_or(&set.now))?),
            Err(error) if in_doubt(&error) || error.code == ErrorCode::NonceReplayed => {}
            Err(error) => return Err(format!("the clock of client {who} is not put ahead: {error}")),
        }
        self.look_at_terms()
    }

    /// Everybody decides about what waits for them; what has waited too long is cancelled. Returns whether something changed: a refused
    /// decision spends its nonce, and changes nothing else.
    pub(super) fn consent_to_all(&mut self) -> Result<bool, String> {
        let waiting: Vec<String> = self.model.waiting_for_users().map(str::to_owned).collect();
        let mut changed = false;
        for id in waiting {
            changed |= self.decide_as_user(&id, true, (false, false))?;
        }
        let settlements = self.eye.expired(None, 1_000).map_err(fault)?.settlements;
        let node = self.node();
        Ok(self.run(node, Expire { settlements })?.map_err(fault)? > 0 || changed)
    }
}
