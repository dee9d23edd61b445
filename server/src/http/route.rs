//! Routes: the types of a handler's arguments define who may call it, and its attribute everything else. The router, the
//! check and the document are all derived from the two, so that they cannot differ.
//!
//! To add a route, write a handler and name it in the `routes!` of its file.

use axum::Router;
use axum::extract::{Path, State};
use axum::handler::Handler;
use axum::routing::MethodRouter;
use hyper::{HeaderMap, Uri};
use railgate::auth::Scope;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::PathItemExt as _;
use utoipa_axum::router::UtoipaMethodRouter;

use super::App;
use super::document::{add_idempotency_key, operations};
use super::extract::{Authenticated, Named, Noted, Open, Posted, Raw};
use super::keyed::Keyed;
use super::upload::{Kind, Uploaded};
use super::webhooks::Place;

/// What a route requires of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: the call need not be signed.
    Unsigned,
    /// A signature by the key in the body; there is no credential yet.
    Enrolling,
    /// A signature by an enrolled key, without a token.
    Key,
    /// A token with any scopes, and a signature by its key or in its session.
    Token,
    /// A token with this scope, and a signature by its key or in its session.
    Scope(Scope),
    /// The same, or a token of an end user's device, which sees and makes its user's payments only.
    Shared(Scope),
    /// A token of an end user's device, and for every change a signature by the device's key itself.
    Consent,
}

/// Whether what changes something under this scope must be signed by the key itself.
const fn is_for_keys(scope: Scope) -> bool {
    match scope {
        Scope::KeysWrite | Scope::OperatorRead | Scope::OperatorAct | Scope::OperatorApprove | Scope::Admin => true,
        Scope::BundlesWrite | Scope::BundlesReview => true,
        Scope::SettlementsRead | Scope::SettlementsWrite | Scope::SettlementsReverse | Scope::ReceiptsRead | Scope::BalancesRead => false,
        Scope::ProvidersRead | Scope::WebhooksRead | Scope::WebhooksWrite | Scope::Mobile | Scope::Simulator => false,
    }
}

impl Access {
    /// Whether the key itself must sign such a call, and no session may: what is done with keys and tokens, and what operators do.
    pub(crate) fn needs_key(self, writes: bool) -> bool {
        match self {
            Self::Unsigned | Self::Enrolling | Self::Key => true,
            Self::Token => writes,
            Self::Scope(scope) | Self::Shared(scope) => writes && is_for_keys(scope),
            Self::Consent => writes,
        }
    }

    fn needs_token(self) -> bool {
        match self {
            Self::Token | Self::Scope(_) | Self::Shared(_) | Self::Consent => true,
            Self::Unsigned | Self::Enrolling | Self::Key => false,
        }
    }
}

/// An [`Access`] as a type: a handler that takes a `Posted<SettlementsWrite>` runs only for callers with that scope.
pub(crate) trait Asks: Send + Sync + 'static {
    const ACCESS: Access;
}

macro_rules! asks {
    ($($name:ident = $access:expr;)*) => {$(
        #[doc = concat!("See `", stringify!($access), "`.")]
        pub(crate) struct $name;

        impl Asks for $name {
            const ACCESS: Access = $access;
        }
    )*};
}

asks! {
    KeyAlone = Access::Key;
    AnyToken = Access::Token;
    SettlementsRead = Access::Scope(Scope::SettlementsRead);
    SettlementsWrite = Access::Scope(Scope::SettlementsWrite);
    OwnRead = Access::Shared(Scope::SettlementsRead);
    OwnWrite = Access::Shared(Scope::SettlementsWrite);
    OwnReceipts = Access::Shared(Scope::ReceiptsRead);
    OwnDevices = Access::Shared(Scope::KeysWrite);
    AsMobile = Access::Scope(Scope::Mobile);
    Consenting = Access::Consent;
    SettlementsReverse = Access::Scope(Scope::SettlementsReverse);
    ReceiptsRead = Access::Scope(Scope::ReceiptsRead);
    BalancesRead = Access::Scope(Scope::BalancesRead);
    ProvidersRead = Access::Scope(Scope::ProvidersRead);
    WebhooksRead = Access::Scope(Scope::WebhooksRead);
    WebhooksWrite = Access::Scope(Scope::WebhooksWrite);
    KeysWrite = Access::Scope(Scope::KeysWrite);
    Simulator = Access::Scope(Scope::Simulator);
    BundlesWrite = Access::Scope(Scope::BundlesWrite);
    AsReviewer = Access::Scope(Scope::BundlesReview);
    AsViewer = Access::Scope(Scope::OperatorRead);
    AsAgent = Access::Scope(Scope::OperatorAct);
    AsApprover = Access::Scope(Scope::OperatorApprove);
    AsAdmin = Access::Scope(Scope::Admin);
}

/// An argument of a handler, with what it requires of the caller.
pub(crate) trait Argument {
    const ACCESS: Option<Access> = None;
    /// Whether it takes an `Idempotency-Key`.
    const KEYED: bool = false;
}

impl Argument for State<App> {}
impl Argument for Named {}
impl Argument for Place {}
impl Argument for Path<String> {}
impl Argument for Path<(String, String)> {}
impl Argument for Uri {}
impl Argument for HeaderMap {}

impl Argument for Noted {
    const ACCESS: Option<Access> = Some(Access::Unsigned);
}

// A handler that takes the raw request checks the sender itself.
impl<const MAX: usize> Argument for Raw<MAX> {
    const ACCESS: Option<Access> = Some(Access::Unsigned);
}

impl<A: Asks> Argument for Open<A> {
    const ACCESS: Option<Access> = Some(A::ACCESS);
}

impl<A: Asks> Argument for Authenticated<A> {
    const ACCESS: Option<Access> = Some(A::ACCESS);
}

impl<A: Asks, const MAX: usize> Argument for Posted<A, MAX> {
    const ACCESS: Option<Access> = Some(A::ACCESS);
}

impl<A: Asks, const MAX: usize> Argument for Keyed<A, MAX> {
    const ACCESS: Option<Access> = Some(A::ACCESS);
    const KEYED: bool = true;
}

impl<A: Asks, K: Kind> Argument for Uploaded<A, K> {
    const ACCESS: Option<Access> = Some(A::ACCESS);
    const KEYED: bool = true;
}

/// A handler's arguments. Does not compile unless one of them defines who may call it.
pub(crate) trait Signature<Arguments> {
    const ACCESS: Access;
    const KEYED: bool;
}

macro_rules! signatures {
    ($($($argument:ident)+;)*) => {$(
        impl<H, F, $($argument: Argument),+> Signature<($($argument,)+)> for H
        where
            H: Fn($($argument),+) -> F,
        {
            const ACCESS: Access = said(&[$($argument::ACCESS),+]);
            const KEYED: bool = $($argument::KEYED)||+;
        }
    )*};
}

signatures! {
    A;
    A B;
    A B C;
}

const fn said(arguments: &[Option<Access>]) -> Access {
    let mut n = 0;
    while n < arguments.len() {
        if let Some(access) = arguments[n] {
            return access;
        }
        n += 1;
    }
    panic!("a handler takes one argument that says who may call it")
}

/// A route as its handler documents it, with what the handler requires of a caller.
pub(super) fn documented<Arguments, H>(_: &H, (schemas, mut paths, router): UtoipaMethodRouter<App>) -> UtoipaMethodRouter<App>
where
    H: Signature<Arguments>,
{
    if !H::ACCESS.needs_token() {
        for operation in paths.paths.values_mut().flat_map(operations) {
            // An empty requirement documents that no token is needed.
            operation.security = Some(vec![SecurityRequirement::default()]);
        }
    }
    if H::KEYED {
        paths.paths.values_mut().flat_map(operations).for_each(add_idempotency_key);
    }
    (schemas, paths, router)
}

/// A handler as the router serves it, under the path and methods of `P`, its documentation.
pub(super) fn served<P, Arguments, H>(router: Router<App>, handler: H) -> Router<App>
where
    P: utoipa::Path,
    H: Handler<Arguments, App>,
    Arguments: 'static,
{
    let methods =
        P::methods().into_iter().fold(MethodRouter::new(), |router, method| router.on(method.to_method_filter(), handler.clone()));
    router.route(&P::path(), methods)
}

/// The routes of a file, from its handlers: to be served, and to be described. A server describes them only when it is asked, because that
/// takes longer, and more memory, than all else at its start.
macro_rules! routes {
    ($($handler:ident),+ $(,)?) => {
        /// Serves the routes of this file.
        pub(in crate::http) fn served(router: axum::Router<$crate::http::App>) -> axum::Router<$crate::http::App> {
            $(let router = pastey::paste! { $crate::http::route::served::<[<__path_ $handler>], _, _>(router, $handler) };)+
            router
        }

        /// Describes the routes of this file.
        pub(in crate::http) fn described() -> utoipa_axum::router::OpenApiRouter<$crate::http::App> {
            utoipa_axum::router::OpenApiRouter::default()
                $(.routes($crate::http::route::documented(&$handler, utoipa_axum::routes!($handler))))+
        }
    };
}

pub(super) use routes;
