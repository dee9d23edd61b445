//! Operators' calls: about all clients, and only for people with keys of their own.

pub(super) mod approvals;
pub(super) mod bundles;
pub(super) mod changes;
pub(super) mod clients;
pub(super) mod money;
pub(super) mod people;
pub(super) mod providers;
pub(super) mod quality;
pub(super) mod reconciliations;
pub(super) mod reviews;
pub(super) mod settlements;

use hyper::header::{HeaderMap, IF_MATCH};
use hyper::{StatusCode, Uri};
use railgate::api::{Caller, OperationView};
use railgate::engine::{ActRequest, Acted, Operate, Operation, OperatorBy};
use railgate::ids::{OperatorNo, Ulid};
use railgate::store::record::{MovementKind, OperatorAct};
use railgate::{Error, ErrorCode, Result};

use super::App;
use super::extract::{Params, Posted};
use super::keyed::{Keyed, marked};
use super::response::{HandlerResult, json};
use super::route::Asks;

pub(super) use reconciliations::PATH as RECONCILIATIONS;

/// The default and the most of a page.
const PAGE: (usize, usize) = (50, 200);

/// The operator who calls.
pub(in crate::http) fn operator_of(caller: &Caller) -> Result<OperatorNo> {
    // No client's credential has a scope of operators.
    caller.client.operator().ok_or_else(|| Error::internal("a client has a scope of operators"))
}

/// Who acts.
pub(in crate::http) fn acting<A: Asks>(posted: &Posted<A>) -> Result<OperatorBy> {
    Ok(OperatorBy { no: operator_of(&posted.caller)?, key: posted.credential.key })
}

/// Carries out what a call asks for, and answers with what `shown` has; or keeps it for a second operator. A repeat under the same
/// `Idempotency-Key` does nothing, and shows what there is by then.
pub(in crate::http) async fn act<A: Asks>(
    app: &App,
    keyed: &Keyed<A>,
    act: OperatorAct,
    subject: &str,
    shown: impl AsyncFnOnce() -> HandlerResult,
) -> HandlerResult {
    let expected = if_match(&keyed.raw.parts.headers, act)?;
    // A repeat is answered as the first call was, even if what it names has changed since.
    let (body, is_new, is_repeated) = match keyed.kept(app).await? {
        Some(answer) => (answer.body, false, true),
        None => {
            let request = ActRequest { act, subject, body: keyed.body(), expected };
            let by = acting(keyed)?;
            let operate = app.gateway.read(&keyed.caller, |engine| Operate::read(engine, by, request)).await?;
            let answer = keyed.once(app, operate).await?;
            let is_repeated = answer.is_repeated();
            let mut is_new = !is_repeated;
            if let Some(Operation::Done { acted, .. }) = &answer.output {
                in_force(app, keyed.caller, acted).await?;
                is_new = !matches!(acted, Acted::Moved(moved) if moved.replayed);
            }
            (answer.body, is_new, is_repeated)
        }
    };
    let response = match serde_json::from_str(&body).map_err(Error::internal)? {
        OperationView::Asked(asked) => json(StatusCode::ACCEPTED, &asked)?,
        OperationView::Moved(moved) => {
            let status = match moved.kind {
                MovementKind::Deposit | MovementKind::Withdrawal if is_new => StatusCode::CREATED,
                // What is set was there before.
                MovementKind::Deposit | MovementKind::Withdrawal | MovementKind::CreditLine => StatusCode::OK,
            };
            json(status, &moved)?
        }
        OperationView::Done => shown().await?,
    };
    marked(response, is_repeated)
}

/// What was done holds on this node from the next call on; other nodes follow within seconds.
pub(super) async fn in_force(app: &App, caller: Caller, acted: &Acted) -> Result<()> {
    let has_setup_changed = match acted {
        Acted::Client(client) => {
            app.gate.forget(client.no);
            false
        }
        Acted::Version(_) => true,
        Acted::Moved(moved) => match moved.movement.kind {
            MovementKind::CreditLine => true,
            MovementKind::Deposit | MovementKind::Withdrawal => false,
        },
        Acted::Reviewed(_) => false,
        Acted::Bundle(_) => true,
    };
    if has_setup_changed {
        app.gateway.read(&caller, |engine| engine.follow_setup()).await?;
    }
    Ok(())
}

/// The version in `If-Match`; `None` for whichever there is. A table that is replaced whole must name it; what has no versions must not.
fn if_match(headers: &HeaderMap, act: OperatorAct) -> Result<Option<i64>> {
    let takes = match act {
        OperatorAct::PutRoutes | OperatorAct::PutProvider | OperatorAct::ResolveReview => true,
        OperatorAct::EnableProvider | OperatorAct::DisableProvider | OperatorAct::MaintainProvider => true,
        OperatorAct::PublishBundle | OperatorAct::RevokeBundle => true,
        OperatorAct::SetLimits | OperatorAct::SetFees | OperatorAct::SetFloor | OperatorAct::SetSessionSignatures => true,
        OperatorAct::ApproveClient | OperatorAct::SuspendClient | OperatorAct::ResumeClient => false,
        OperatorAct::Deposit | OperatorAct::Withdraw => false,
    };
    if headers.get(IF_MATCH).is_none() {
        let said = "PUT replaces the whole table: If-Match must have the ETag that was read, or * for whichever there is";
        return if act == OperatorAct::PutRoutes { Err(Error::with(ErrorCode::MalformedRequest, said)) } else { Ok(None) };
    }
    if !takes {
        return Err(Error::with(ErrorCode::MalformedRequest, "this call changes nothing that has versions: leave out If-Match"));
    }
    version_in_if_match(headers)
}

/// The version in `If-Match`; `None` without one, and for `*`.
pub(in crate::http) fn version_in_if_match(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).and_then(|text| text.parse().ok());
    let said = || Error::with(ErrorCode::MalformedRequest, "If-Match must have the ETag of the version that is replaced, such as \"12\"");
    version.map(Some).ok_or_else(said)
}

/// The page that a call asks for: parameters that are its own are read by `more`.
pub(in crate::http) fn page<T>(uri: &Uri, more: impl FnOnce(&mut Params) -> T) -> Result<(usize, Option<String>, T)> {
    let mut params = Params::of(uri)?;
    let limit = params.number("limit", 1..=PAGE.1).unwrap_or(PAGE.0);
    let cursor = params.text("cursor");
    let own = more(&mut params);
    params.finish()?;
    Ok((limit, cursor, own))
}

/// The ULID behind `prefix` in a path or cursor.
pub(in crate::http) fn id(text: &str, prefix: &str, unknown: ErrorCode) -> Result<Ulid> {
    text.strip_prefix(prefix).and_then(Ulid::parse).ok_or_else(|| Error::new(unknown))
}
