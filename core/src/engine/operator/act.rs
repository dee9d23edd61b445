//! What operators may ask for, and how it is carried out.

use zeroize::Zeroizing;

use crate::api::{AskedView, OperationView, ProviderBody, RoutesBody};
use crate::auth::Scope;
use crate::engine::Engine;
use crate::engine::access::{Approve, Resume, Suspend};
#[cfg(feature = "bundles")]
use crate::engine::bundle::{Hands, PublishBundle, RevokeBundle};
use crate::engine::group::{Command, Decision, Deed, Prefetch};
use crate::engine::money::{MoveMoney, Moved};
use crate::engine::once::Answers;
use crate::engine::review::{ResolveReview, Reviewed};
use crate::engine::setup::{
    EditTerms, PutProviders, PutRoutes, SetCredit, SwitchProvider, TermsEdit, provider_version, routes_version, terms_version,
};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, OperatorNo, Ulid};
use crate::ledger::Mode;
use crate::lifecycle::Resolution;
use crate::money::Money;
use crate::route::Availability;
use crate::store::Unique;
#[cfg(feature = "bundles")]
use crate::store::record::BundleRecord;
use crate::store::record::{ApprovalRecord, AuditAction, ClientRecord, Key, KeyStatus, MovementKind, OperatorAct, SettlementRecord};
#[cfg(feature = "bundles")]
use crate::validate::bundle::parse_bundle_publication;
use crate::validate::operator::{
    MoveRequest, parse_approval, parse_fees, parse_floor, parse_limits, parse_movement, parse_reason, parse_resolution,
    parse_session_signatures, split_reason, with_secrets_hidden,
};
use crate::validate::provider::{parse_provider, parse_routes};

use super::approval::acting;

/// An act of an operator, as a command of the engine.
#[derive(Debug, Clone)]
pub enum Act {
    /// Live access for a client.
    Approve(Approve),
    /// The suspension of a client.
    Suspend(Suspend),
    /// The end of a suspension.
    Resume(Resume),
    /// Real money in or out.
    Move(MoveMoney),
    /// The credit of a client.
    Credit(SetCredit),
    /// Another part of a client's terms.
    Terms(EditTerms),
    /// A provider.
    Provider(PutProviders),
    /// Whether a provider takes payments.
    Switch(SwitchProvider),
    /// The table of routes.
    Routes(PutRoutes),
    /// A decision about something that needs review.
    Review(ResolveReview),
    /// The publication of a bundle.
    #[cfg(feature = "bundles")]
    Publish(PublishBundle),
    /// The revocation of a bundle.
    #[cfg(feature = "bundles")]
    Revoke(RevokeBundle),
}

/// What an act did.
#[derive(Debug, Clone)]
pub enum Acted {
    /// The client, as changed.
    Client(ClientRecord),
    /// The movement of money, or the change of credit.
    Moved(Box<Moved>),
    /// The new version of the configuration.
    Version(i64),
    /// What was reviewed.
    Reviewed(Reviewed),
    /// The bundle, as changed.
    #[cfg(feature = "bundles")]
    Bundle(Box<BundleRecord>),
}

/// The same expression for the command of any act.
macro_rules! each {
    ($act:expr, $command:ident => $result:expr) => {
        match $act {
            Act::Approve($command) => $result,
            Act::Suspend($command) => $result,
            Act::Resume($command) => $result,
            Act::Move($command) => $result,
            Act::Credit($command) => $result,
            Act::Terms($command) => $result,
            Act::Provider($command) => $result,
            Act::Switch($command) => $result,
            Act::Routes($command) => $result,
            Act::Review($command) => $result,
            #[cfg(feature = "bundles")]
            Act::Publish($command) => $result,
            #[cfg(feature = "bundles")]
            Act::Revoke($command) => $result,
        }
    };
}

/// A request of an operator, as its call has it.
#[derive(Debug, Clone, Copy)]
pub struct ActRequest<'a> {
    /// What is asked for.
    pub act: OperatorAct,
    /// What it is about: the id of a client, provider or review in the path; empty for the routes.
    pub subject: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The version of the configuration that it replaces; `None` for whichever there is.
    pub expected: Option<i64>,
}

impl Act {
    /// Reads a request. Returns the act and why it is done.
    ///
    /// # Errors
    /// `malformed_json`, `invalid_fields`; `client_not_found` or `review_not_found` for an id that none can have.
    pub fn parse(engine: &Engine, asked: ActRequest<'_>) -> Result<(Self, Option<String>)> {
        let ActRequest { act, subject, body, expected } = asked;
        let client = || {
            let id = subject.strip_prefix("cli_").and_then(Ulid::parse);
            id.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))
        };
        Ok(match act {
            OperatorAct::ApproveClient => {
                let client = client()?;
                let (key, reason) = parse_approval(body)?;
                (Self::Approve(Approve { client, key }), Some(reason))
            }
            OperatorAct::SuspendClient => (Self::Suspend(Suspend(client()?)), Some(parse_reason(body)?)),
            OperatorAct::ResumeClient => (Self::Resume(Resume(client()?)), Some(parse_reason(body)?)),
            OperatorAct::Deposit => movement(client()?, MovementKind::Deposit, body)?,
            OperatorAct::Withdraw => movement(client()?, MovementKind::Withdrawal, body)?,
            OperatorAct::SetLimits => {
                let client = client()?;
                let (limits, reason) = parse_limits(body)?;
                terms(client, TermsEdit::Limits(limits), reason, expected)
            }
            OperatorAct::SetFees => {
                let client = client()?;
                let (fees, reason) = parse_fees(body)?;
                terms(client, TermsEdit::Fees(fees), reason, expected)
            }
            OperatorAct::SetSessionSignatures => {
                let client = client()?;
                let (mode, signs, reason) = parse_session_signatures(body)?;
                terms(client, TermsEdit::Sessions(mode, signs), reason, expected)
            }
            OperatorAct::SetFloor => {
                let client = client()?;
                let MoveRequest { money: credit, reference, evidence, reason } = parse_floor(body)?;
                (Self::Credit(SetCredit { client, credit, reference, evidence, expected, reason: reason.clone() }), reason)
            }
            OperatorAct::PutProvider => {
                let (reason, body) = split_reason(body)?;
                parse_provider(body.as_bytes(), &engine.config.rails)?;
                let provider: ProviderBody = serde_json::from_str(&body).map_err(Error::internal)?;
                if provider.id != subject {
                    return Err(Error::field("/id", "id_mismatch", format!("must be the id in the path: {subject}")));
                }
                (Self::Provider(PutProviders { providers: vec![(provider, expected)], reason: Some(reason.clone()) }), Some(reason))
            }
            OperatorAct::EnableProvider => switch(subject, Availability::Enabled, body, expected)?,
            OperatorAct::DisableProvider => switch(subject, Availability::Disabled, body, expected)?,
            OperatorAct::MaintainProvider => switch(subject, Availability::Maintenance, body, expected)?,
            OperatorAct::PutRoutes => {
                let (reason, body) = split_reason(body)?;
                parse_routes(body.as_bytes())?;
                let table: RoutesBody = serde_json::from_str(&body).map_err(Error::internal)?;
                (Self::Routes(PutRoutes { table, expected, reason: Some(reason.clone()) }), Some(reason))
            }
            OperatorAct::ResolveReview => {
                let (settlement, reversal) = review_id(subject).ok_or_else(|| Error::new(ErrorCode::ReviewNotFound))?;
                let request = parse_resolution(body)?;
                let (resolution, evidence) = (request.resolution, request.evidence);
                let expected = request.version.or(expected.and_then(|version| u32::try_from(version).ok()));
                (Self::Review(ResolveReview { settlement, reversal, resolution, evidence, expected }), request.reason)
            }
            #[cfg(feature = "bundles")]
            OperatorAct::PublishBundle => {
                let id = bundle_id(subject)?;
                let (mode, with_routes, reason) = parse_bundle_publication(body)?;
                let expected = expected.and_then(|version| u32::try_from(version).ok());
                (Self::Publish(PublishBundle { id, mode, with_routes, expected, reason: reason.clone(), hands: None }), Some(reason))
            }
            #[cfg(feature = "bundles")]
            OperatorAct::RevokeBundle => {
                let (id, reason) = (bundle_id(subject)?, parse_reason(body)?);
                let expected = expected.and_then(|version| u32::try_from(version).ok());
                (Self::Revoke(RevokeBundle { id, expected, reason: reason.clone(), hands: None }), Some(reason))
            }
            #[cfg(not(feature = "bundles"))]
            OperatorAct::PublishBundle | OperatorAct::RevokeBundle => return Err(Error::new(ErrorCode::BundleNotFound)),
        })
    }

    /// Carries it out. Returns what the audit trail records of it, too.
    pub(super) fn carry_out(
        &self,
        d: &mut Decision<'_, '_>,
        by: OperatorBy,
        asked_by: Option<OperatorNo>,
    ) -> (Result<Acted>, Option<Deed>) {
        fn run<C: Command>(d: &mut Decision<'_, '_>, command: &C, acted: impl FnOnce(C::Output) -> Acted) -> (Result<Acted>, Option<Deed>) {
            let outcome = command.decide(d);
            let deed = command.deed(outcome.as_ref().ok());
            (outcome.map(acted), deed)
        }
        #[cfg(feature = "bundles")]
        let hands = Some(Hands { by, asked_by });
        #[cfg(not(feature = "bundles"))]
        let _ = (by, asked_by);
        match self {
            Self::Approve(command) => run(d, command, Acted::Client),
            Self::Suspend(command) => run(d, command, Acted::Client),
            Self::Resume(command) => run(d, command, Acted::Client),
            Self::Move(command) => run(d, command, |moved| Acted::Moved(Box::new(moved))),
            Self::Credit(command) => run(d, command, |moved| Acted::Moved(Box::new(moved))),
            Self::Terms(command) => run(d, command, |(_, version)| Acted::Version(version)),
            Self::Provider(command) => run(d, command, |versions| Acted::Version(versions.last().copied().unwrap_or_default())),
            Self::Switch(command) => run(d, command, Acted::Version),
            Self::Routes(command) => run(d, command, Acted::Version),
            Self::Review(command) => run(d, command, Acted::Reviewed),
            #[cfg(feature = "bundles")]
            Self::Publish(command) => run(d, &PublishBundle { hands, ..command.clone() }, |bundle| Acted::Bundle(Box::new(bundle))),
            #[cfg(feature = "bundles")]
            Self::Revoke(command) => run(d, &RevokeBundle { hands, ..command.clone() }, |bundle| Acted::Bundle(Box::new(bundle))),
        }
    }

    /// Whether a second operator has to confirm it.
    fn needs_second(&self, d: &Decision<'_, '_>) -> Result<bool> {
        let rules = &d.engine.config.four_eyes;
        let is_live = |id: &str| Ok::<_, Error>(d.engine.mode_of_provider(d.overlay, id)? == Some(Mode::Live));
        Ok(match self {
            Self::Approve(_) => rules.access,
            Self::Suspend(_) | Self::Resume(_) => false,
            Self::Move(_) | Self::Credit(_) => rules.money,
            Self::Terms(_) => rules.terms,
            // A provider keeps its mode for ever.
            Self::Provider(put) => rules.provider && put.providers.iter().any(|(body, _)| body.mode == Mode::Live.as_str()),
            Self::Switch(switch) => rules.provider && switch.to == Availability::Enabled && is_live(&switch.id)?,
            Self::Routes(_) => rules.routes,
            #[cfg(feature = "bundles")]
            Self::Publish(publish) => rules.provider && publish.mode == Mode::Live || rules.routes && publish.with_routes,
            // Whoever may switch a provider off alone may do this.
            #[cfg(feature = "bundles")]
            Self::Revoke(_) => false,
            Self::Review(review) => match review.resolution {
                Resolution::ConfirmedCompleted | Resolution::ConfirmedFailed if rules.outcome => {
                    at_stake(d, review)?.is_some_and(|money| money.minor() >= threshold(rules.outcome_from, money))
                }
                Resolution::ConfirmedCompleted | Resolution::ConfirmedFailed | Resolution::AcceptDiscrepancy | Resolution::KeepWaiting => {
                    false
                }
            },
        })
    }

    /// The client concerned, if there is one.
    fn client(&self, d: &Decision<'_, '_>) -> Result<ClientNo> {
        let id = match self {
            Self::Approve(command) => command.client,
            Self::Suspend(Suspend(client)) | Self::Resume(Resume(client)) => *client,
            Self::Move(command) => command.client,
            Self::Credit(command) => command.client,
            Self::Terms(command) => command.client,
            Self::Provider(_) | Self::Switch(_) | Self::Routes(_) => return Ok(ClientNo(0)),
            Self::Review(command) => return Ok(reviewed(d, command)?.map_or(ClientNo(0), |record| record.client)),
            #[cfg(feature = "bundles")]
            Self::Publish(PublishBundle { id, .. }) | Self::Revoke(RevokeBundle { id, .. }) => {
                return Ok(d.overlay.find::<BundleRecord>(&Unique::BundleId(*id))?.map_or(ClientNo(0), |bundle| bundle.client));
            }
        };
        Ok(d.overlay.find::<ClientRecord>(&Unique::ClientId(id))?.map_or(ClientNo(0), |client| client.no))
    }

    /// The version of what it changes, before it does; `None` if it changes nothing that has versions.
    pub(super) fn version(&self, d: &Decision<'_, '_>) -> Result<Option<i64>> {
        Ok(match self {
            Self::Approve(_) | Self::Suspend(_) | Self::Resume(_) | Self::Move(_) => None,
            Self::Credit(command) => Some(terms_version(d.overlay, command.client)?),
            Self::Terms(command) => Some(terms_version(d.overlay, command.client)?),
            Self::Provider(command) => match command.providers.as_slice() {
                [(body, _)] => Some(provider_version(d.overlay, &body.id)?),
                _ => None,
            },
            Self::Switch(command) => Some(provider_version(d.overlay, &command.id)?),
            Self::Routes(_) => Some(routes_version(d.overlay)?),
            Self::Review(command) => reviewed(d, command)?.map(|record| record.version.into()),
            #[cfg(feature = "bundles")]
            Self::Publish(PublishBundle { id, .. }) | Self::Revoke(RevokeBundle { id, .. }) => {
                d.overlay.find::<BundleRecord>(&Unique::BundleId(*id))?.map(|bundle| u32::from(bundle.version).into())
            }
        })
    }
}

impl Engine {
    /// The body of an approval of live access with the only key that waits, if it names none: a key that comes later must not be
    /// approved with it.
    fn with_key_named(&self, act: &Act, body: &[u8]) -> Result<Option<String>> {
        let Act::Approve(Approve { client, key: None }) = act else { return Ok(None) };
        let waiting = self.client_detail(*client)?.keys.into_iter().filter(|key| key.status == KeyStatus::Pending);
        let waiting: Vec<String> = waiting.map(|key| key.key_id).collect();
        match waiting.as_slice() {
            [] => Err(Error::with(ErrorCode::KeyNotFound, "no key of that client waits for approval")),
            [key] => {
                let (_, reason) = parse_approval(body)?;
                Ok(Some(serde_json::json!({ "key": key, "reason": reason }).to_string()))
            }
            several => {
                let said = format!("{} keys wait, so name the one: {}", several.len(), several.join(", "));
                Err(Error::field("/key", "required", said))
            }
        }
    }
}

fn movement(client: Ulid, kind: MovementKind, body: &[u8]) -> Result<(Act, Option<String>)> {
    let request = parse_movement(body)?;
    let (money, reference, evidence) = (request.money, request.reference, request.evidence);
    Ok((Act::Move(MoveMoney { client, kind, money, reference, evidence }), request.reason))
}

fn terms(client: Ulid, edit: TermsEdit, reason: String, expected: Option<i64>) -> (Act, Option<String>) {
    (Act::Terms(EditTerms { client, edit, expected, reason: Some(reason.clone()) }), Some(reason))
}

fn switch(id: &str, to: Availability, body: &[u8], expected: Option<i64>) -> Result<(Act, Option<String>)> {
    let reason = Some(parse_reason(body)?);
    Ok((Act::Switch(SwitchProvider { id: id.to_owned(), to, expected, reason: reason.clone() }), reason))
}

/// The ULID in the id of a bundle.
#[cfg(feature = "bundles")]
fn bundle_id(id: &str) -> Result<Ulid> {
    id.strip_prefix("bun_").and_then(Ulid::parse).ok_or_else(|| Error::new(ErrorCode::BundleNotFound))
}

/// The settlement in the id of a review, and the number of its reversal if the review is about one.
pub fn review_id(id: &str) -> Option<(Ulid, Option<u16>)> {
    let (settlement, reversal) = match id.split_once('.') {
        Some((settlement, n)) => (settlement, Some(n.parse().ok()?)),
        None => (id, None),
    };
    Some((Ulid::parse(settlement.strip_prefix("stl_")?)?, reversal))
}

/// The amount that a decision is about. A payment that is reversed in many small parts is as large as it was.
fn at_stake(d: &Decision<'_, '_>, review: &ResolveReview) -> Result<Option<Money>> {
    Ok(reviewed(d, review)?.map(|it| Money::from_minor(it.amount, it.currency)))
}

fn reviewed(d: &Decision<'_, '_>, review: &ResolveReview) -> Result<Option<SettlementRecord>> {
    d.overlay.get(&Key::Settlement(d.engine.id_key.open(review.settlement)))
}

/// So many units of the currency, in minor units.
fn threshold(units: i64, of: Money) -> i64 {
    units.saturating_mul(10_i64.pow(u32::from(of.currency().minor_units())))
}

/// The operator who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorBy {
    /// The operator.
    pub no: OperatorNo,
    /// The key that signed.
    pub key: KeyNo,
}

impl OperatorBy {
    /// Puts this operator's key behind what the audit trail records.
    pub(crate) fn signs(self, deed: Deed) -> Deed {
        let (client, _) = deed.of.unwrap_or((self.no.party(), self.key));
        deed.of(client, self.key)
    }
}

/// Carries out an act, or keeps it until a second operator confirms it.
#[derive(Debug, Clone)]
pub struct Operate {
    /// Who acts.
    pub by: OperatorBy,
    /// What is done.
    pub act: Act,
    /// Why.
    pub reason: Option<String>,
    /// The request, for the second operator.
    request: ApprovalRequest,
}

/// A request as it is kept for a second operator.
#[derive(Debug, Clone)]
pub(super) struct ApprovalRequest {
    /// What is asked for.
    pub(super) act: OperatorAct,
    /// What it is about.
    pub(super) subject: String,
    /// The body, with the names of secrets and without their values.
    pub(super) body: String,
    /// The whole body, if it has secrets.
    pub(super) secret: Option<Zeroizing<Vec<u8>>>,
    /// The version of the configuration that it replaces.
    pub(super) expected: Option<i64>,
}

impl Operate {
    /// Reads a request of an operator.
    ///
    /// # Errors
    /// See [`Act::parse`].
    pub fn read(engine: &Engine, by: OperatorBy, request: ActRequest<'_>) -> Result<Self> {
        let (act, reason) = Act::parse(engine, request)?;
        let named = engine.with_key_named(&act, request.body)?;
        if let Some(body) = named {
            return Self::read(engine, by, ActRequest { body: body.as_bytes(), ..request });
        }
        let ActRequest { act: kind, subject, body, expected } = request;
        let has_secrets = matches!(&act, Act::Provider(put) if put.providers.iter().any(|(body, _)| body.secrets.is_some()));
        let secret = has_secrets.then(|| Zeroizing::new(body.to_vec()));
        let body = with_secrets_hidden(body)?;
        Ok(Self { by, act, reason, request: ApprovalRequest { act: kind, subject: subject.to_owned(), body, secret, expected } })
    }

    pub(super) fn request(&self) -> &ApprovalRequest {
        &self.request
    }
}

/// The output of [`Operate`].
#[derive(Debug, Clone)]
pub enum Operation {
    /// It was carried out.
    Done {
        /// What it did.
        acted: Acted,
        /// What the audit trail records.
        deed: Option<Box<Deed>>,
    },
    /// It waits for a second operator.
    Asked(Box<ApprovalRecord>),
}

impl Command for Operate {
    type Output = Operation;

    fn is_repeatable(&self) -> bool {
        each!(&self.act, command => command.is_repeatable())
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Operation> {
        acting(d, self.by.no, Scope::OperatorAct)?;
        let needs_second = self.act.needs_second(d)? && !mutated!(NobodyConfirms);
        let (outcome, deed) = self.act.carry_out(d, self.by, None);
        let acted = outcome?;
        let done_before = matches!(&acted, Acted::Moved(moved) if moved.replayed);
        if !needs_second || done_before {
            return Ok(Operation::Done { acted, deed: deed.map(Box::new) });
        }
        // It could be done now: what is wrong with it is found at once, not by whoever is to confirm it.
        d.overlay.discard();
        let client = self.act.client(d)?;
        d.engine.ask_second(d, self, client).map(|asked| Operation::Asked(Box::new(asked)))
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        each!(&self.act, command => command.prefetch(prefetch));
    }

    fn numbers(&self, engine: &Engine) -> usize {
        each!(&self.act, command => command.numbers(engine))
    }

    fn is_replay(operation: &Operation) -> bool {
        matches!(operation, Operation::Done { acted: Acted::Moved(moved), .. } if moved.replayed)
    }

    fn deed(&self, done: Option<&Operation>) -> Option<Deed> {
        let deed = match done {
            Some(Operation::Done { deed, .. }) => deed.as_deref()?.clone(),
            Some(Operation::Asked(asked)) => {
                let detail = serde_json::json!({ "act": asked.act.as_str(), "subject": asked.subject });
                let deed = Deed::new(AuditAction::AskApproval).name(format!("apr_{}", asked.id)).detail(detail.to_string());
                if asked.client == ClientNo(0) { deed } else { deed.of(asked.client, self.by.key) }
            }
            None => each!(&self.act, command => command.deed(None))?,
        };
        Some(self.by.signs(with_reason(deed, self.reason.as_deref(), None)))
    }
}

impl Answers for Operate {
    type View = OperationView;

    fn view(&self, d: &Decision<'_, '_>, operation: &Operation) -> Result<OperationView> {
        Ok(match operation {
            Operation::Done { acted: Acted::Moved(moved), .. } => OperationView::Moved(moved.as_ref().into()),
            Operation::Done { .. } => OperationView::Done,
            Operation::Asked(approval) => OperationView::Asked(AskedView { approval: d.engine.approval_view(approval)? }),
        })
    }
}

/// Adds to a deed's detail why it was done, and who had asked for it.
pub(super) fn with_reason(mut deed: Deed, reason: Option<&str>, asked: Option<(&str, &str)>) -> Deed {
    let mut detail: serde_json::Map<String, serde_json::Value> =
        deed.detail.as_deref().and_then(|detail| serde_json::from_str(detail).ok()).unwrap_or_default();
    if let Some(reason) = reason {
        detail.insert("reason".to_owned(), reason.into());
    }
    if let Some((approval, asked_by)) = asked {
        detail.insert("approval".to_owned(), approval.into());
        detail.insert("asked_by".to_owned(), asked_by.into());
    }
    if !detail.is_empty() {
        deed.detail = Some(serde_json::Value::Object(detail).to_string());
    }
    deed
}
