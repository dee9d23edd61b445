//! Checks of a payment before it is made: would a create succeed?

use crate::api::{Caller, CheckView, DecimalNumber, ExplainView, PayeeView, QuoteView, RouteStepView, Verdict};
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::{ClientNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner};
use crate::money::Money;
use crate::rail::{Payee, PayeeMatch};
use crate::route::{Charge, Payment};
use crate::store::record::{Key, UsageRecord};
use crate::store::{Unique, typed};
use crate::terms::{Terms, UsageId};
use crate::time::rfc3339;
use crate::validate::CreateRequest;

use super::create::{mode_of, no_account, told};
use super::quote::Priced;
use super::read::as_problems;
use crate::engine::Engine;
use crate::engine::dispatch::PayeeQuestion;
use crate::engine::group::Overlay;

/// The result of a pre-flight check, before the payee is looked up.
#[derive(Debug)]
pub struct Preflight {
    /// The result so far.
    pub view: CheckView,
    /// What to ask the provider, if it has more to say about the payee: pass its answer to [`Preflight::answered`].
    pub lookup: Option<PayeeQuestion>,
}

impl From<CheckView> for Preflight {
    fn from(view: CheckView) -> Self {
        Self { view, lookup: None }
    }
}

impl Preflight {
    /// Adds the answer to `lookup`. That the provider says nothing does not prevent the payment.
    pub fn answered(mut self, payee: PayeeView) -> CheckView {
        self.view.warnings.extend(payee_warning(&payee));
        self.view.payee = payee;
        self.view
    }
}

fn payee_warning(payee: &PayeeView) -> Option<FieldProblem> {
    let (code, message) = match payee.payee_match {
        PayeeMatch::CloseMatch => ("payee_close_match", "the payee's name nearly matches: show it and ask"),
        PayeeMatch::NoMatch => ("payee_no_match", "the payee's name does not match"),
        PayeeMatch::Match | PayeeMatch::NotAvailable => return None,
    };
    Some(FieldProblem::new("/to", code, message))
}

impl Engine {
    /// Checks a create body with the same validator as a create, without side effects.
    ///
    /// # Errors
    /// Only if the body is not JSON or the store fails. The result contains everything wrong with the request.
    pub fn preflight(&self, caller: &Caller, body: &[u8]) -> Result<Preflight> {
        let refused = |error: &Error| CheckView {
            ok: false,
            problems: as_problems(error),
            warnings: Vec::new(),
            quote: None,
            route: Vec::new(),
            payee: PayeeView::UNKNOWN,
            funds_available: false,
        };
        let request = match self.parse_create(body) {
            Ok(request) => request,
            Err(error) if error.code == ErrorCode::InvalidFields => return Ok(refused(&error).into()),
            Err(error) => return Err(error),
        };
        let mode = match mode_of(caller, &request) {
            Ok(mode) => mode,
            Err(error) => return Ok(refused(&error).into()),
        };
        let terms = self.terms(caller.client);
        match self.price(caller, mode, &request, &terms, self.time_now((caller.client, mode))?) {
            Ok(priced) => self.priced(caller, mode, &request, &terms, &priced),
            Err(error) => Ok(CheckView { route: self.explained(&request.payment(mode, &terms.fees)), ..refused(&error) }.into()),
        }
    }

    /// Where such a payment of a client would go, and why not elsewhere. Without a client: one with whom nothing is agreed.
    ///
    /// # Errors
    /// What is wrong with the create body; `client_not_found`.
    pub fn explain(&self, client: Option<Ulid>, body: &[u8]) -> Result<ExplainView> {
        let client = client.map(|id| self.client_no(id)).transpose()?.unwrap_or(ClientNo(0));
        let request = self.parse_create(body)?;
        let terms = self.terms(client);
        let mode = if request.sandbox == Some(true) { Mode::Sandbox } else { Mode::Live };
        Ok(ExplainView { route: self.explained(&request.payment(mode, &terms.fees)) })
    }

    /// The route of a payment, with the reason why a provider is not on it.
    fn explained(&self, payment: &Payment<'_>) -> Vec<RouteStepView> {
        let routes = self.routes();
        let money = |minor| DecimalNumber::from(Money::from_minor(minor, payment.money.currency()));
        let steps = routes.steps(payment).into_iter();
        steps
            .map(|step| RouteStepView {
                provider: step.spec.id.clone(),
                verdict: if step.out.is_none() { Verdict::In } else { Verdict::Out },
                why: step.out,
                health: step.health(),
                fee: step.charge(payment).filter(|_| step.out.is_none()).map(|charge| money(charge.fee)),
            })
            .collect()
    }

    /// What is wrong if an account does not hold so much, with the credit that its client has.
    fn shortage(&self, caller: &Caller, mode: Mode, terms: &Terms, total: Money) -> Result<Option<FieldProblem>> {
        let currency = total.currency();
        let held = self.held(AccountId::new(Owner::Client(caller.client), mode, currency))?;
        let (available, credit) = (held.and_then(|totals| totals.available()).unwrap_or(0), terms.credit(mode, currency));
        Ok(if available.saturating_add(credit) >= total.minor() {
            None
        } else if held.is_none() && credit == 0 {
            let error = no_account(currency);
            Some(FieldProblem::new("/currency", error.code.as_str(), error.detail.clone()))
        } else {
            let code = ErrorCode::InsufficientFunds;
            Some(FieldProblem::new("/amount", code.as_str(), code.title()))
        })
    }

    fn priced(&self, caller: &Caller, mode: Mode, request: &CreateRequest, terms: &Terms, priced: &Priced) -> Result<Preflight> {
        let Priced { provider, charge: Charge { fee, refund }, until } = *priced;
        let currency = request.money.currency();
        let total = request.money.minor().saturating_add(fee);
        let mut overlay = Overlay::new(&*self.store, self.now());
        let mut problems = self.user_problems(&mut overlay, caller, mode, request)?;
        let mut warnings = Vec::new();
        // To a phone, a payment that its user may not make says nothing of the client's money.
        let is_told = caller.user.is_none() || problems.is_empty();
        let mut funds_available = false;
        if is_told {
            if let Some(limits) = terms.limits(mode, request.money).filter(|limits| limits.counts()) {
                let day = Key::Usage(UsageId::new(caller.client, mode, currency, self.time_now((caller.client, mode))?));
                let used = typed::<UsageRecord>(self.store.get(&day)?)?.map(|usage| usage.used).unwrap_or_default();
                problems.extend(limits.another(request.money, used).err().map(|error| told(caller, error)).iter().flat_map(as_problems));
            }
            let short = self.shortage(caller, mode, terms, Money::from_minor(total, currency))?;
            funds_available = short.is_none();
            problems.extend(short);
        }
        let unique = Unique::SettlementReference(caller.client, request.reference.clone());
        if self.store.find(&unique)?.is_some() {
            problems.push(FieldProblem::new(
                "/reference",
                "reference_used",
                "the reference was used before: the same request is a replay and pays nothing, another one is refused",
            ));
        }
        if self.routes().pulse(provider).is_some_and(|pulse| !pulse.admits()) {
            let waits = "no provider for this payment answers now: it is accepted, and sent when one does";
            warnings.push(FieldProblem::new("/to", "provider_unavailable", waits));
        }
        let payee = match self.between_clients.payee(self, &mut overlay, mode, &request.to, request.money) {
            Ok(None) => self.payee(provider, &request.to),
            Ok(Some(client)) => PayeeView { display_name: Some(client.name), payee_match: PayeeMatch::Match },
            Err(error) if error.code.http_status() < 500 => {
                problems.extend(as_problems(&error));
                PayeeView::UNKNOWN
            }
            Err(error) => return Err(error),
        };
        warnings.extend(payee_warning(&payee));
        // An operator inside the gateway has said all it knows; so has the gateway about its own clients.
        let is_outside = self.rail(provider)?.inside().is_none();
        let asks = is_outside && self.provider(provider)?.capabilities.check_payee && payee.payee_match == PayeeMatch::NotAvailable;
        let lookup = asks.then(|| PayeeQuestion { provider, payee: Payee { to: request.to.clone(), currency } });
        let money = |minor| DecimalNumber::from(Money::from_minor(minor, currency));
        let view = CheckView {
            ok: problems.is_empty(),
            problems,
            warnings,
            quote: Some(QuoteView {
                fee: money(fee),
                fee_refund: refund,
                total_debit: money(total),
                provider: self.provider_id(provider).into(),
                expires_at: rfc3339(until),
                quote_id: self.quote_id(caller, mode, request, priced)?,
            }),
            route: self.explained(&request.payment(mode, &terms.fees)),
            payee,
            funds_available,
        };
        Ok(Preflight { view, lookup })
    }
}
