//! What handlers take: a request whose sender is authenticated, and whose body was read after that and within its limits.

use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Query, RawPathParams, Request};
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Uri};
use railgate::api::{Caller, Credential, SignedBy, Target};
use railgate::engine::{Command, PARAMETERS_MAX, Signed};
use railgate::error::{FieldProblem, excerpt};
use railgate::ids::KeyNo;
use railgate::time::{Millis, parse_rfc3339};
use railgate::{Error, ErrorCode};

use super::App;
use super::authenticate::{Admitted, Head, Shown};
use super::body::{self, BODY, Held, Sender};
use super::connections::Link;
use super::context::{Context, Origin};
use super::limit::network;
use super::negotiate::{self, JSON};
use super::problem::HttpError;
use super::route::Asks;

/// Any request; records its route for the middleware.
pub(crate) struct Noted;

impl<S: Send + Sync> FromRequestParts<S> for Noted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        noted(parts);
        Ok(Self)
    }
}

pub(crate) fn noted(parts: &mut Parts) -> Arc<Context> {
    // The middleware puts it there; a router called without the middleware responds without an id.
    let context = parts.extensions.remove::<Arc<Context>>();
    let context = context.unwrap_or_else(|| Arc::new(Context::new(HeaderValue::from_static("none"), Origin::HERE)));
    if let Some(route) = parts.extensions.get::<MatchedPath>() {
        context.set_route(route);
    }
    context
}

/// A request without a body, from a client that meets `A`.
pub(crate) struct Open<A> {
    /// The authenticated client.
    pub(crate) caller: Caller,
    /// The key that signed.
    pub(crate) key: KeyNo,
    pub(crate) headers: HeaderMap,
    pub(crate) uri: Uri,
    /// The connection that it came on, if it came on one.
    pub(super) link: Option<Arc<Link>>,
    asked: PhantomData<A>,
}

impl<A: Asks> FromRequestParts<App> for Open<A> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let context = noted(parts);
        context.set_access(A::ACCESS);
        if body::is_announced(&parts.headers) {
            return Err(Error::with(ErrorCode::MalformedRequest, "this call takes no body").into());
        }
        let admitted = app.gate.admit(A::ACCESS, Shown { head: Head { parts, context: &context }, body: &[] })?;
        let (headers, link) = (std::mem::take(&mut parts.headers), context.origin.link.clone());
        let Credential { caller, key, .. } = admitted.credential;
        Ok(Self { caller, key, headers, uri: parts.uri.clone(), link, asked: PhantomData })
    }
}

/// Like [`Open`], from a client that accepts JSON.
pub(crate) struct Authenticated<A>(pub(crate) Open<A>);

impl<A: Asks> FromRequestParts<App> for Authenticated<A> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let open = Open::from_request_parts(parts, app).await?;
        negotiate::choose(&open.headers, &[JSON])?;
        Ok(Self(open))
    }
}

/// A request with a JSON body of at most `MAX` bytes, from a client that meets `A`. An omitted optional body is empty.
pub(crate) struct Posted<A, const MAX: usize = BODY> {
    /// The authenticated client.
    pub(crate) caller: Caller,
    /// The credential whose key signed.
    pub(crate) credential: Credential,
    /// Head, body and context.
    pub(crate) raw: Raw<MAX>,
    by: SignedBy,
    asked: PhantomData<A>,
}

impl<A: Asks, const MAX: usize> FromRequest<App> for Posted<A, MAX> {
    type Rejection = HttpError;

    async fn from_request(request: Request, app: &App) -> Result<Self, HttpError> {
        let (mut parts, body) = request.into_parts();
        let context = noted(&mut parts);
        context.set_access(A::ACCESS);
        let head = Head { parts: &parts, context: &context };
        let known = check_head::<MAX>(&parts).and_then(|()| {
            let proven = app.gate.prove_head(A::ACCESS, head)?;
            let held = app.bodies.hold(Sender::client(proven.caller()), &parts.headers, MAX)?;
            Ok((proven, held))
        });
        let (proven, held) = match known {
            Ok(known) => known,
            Err(error) => return Err(unread(body, &parts, error)),
        };
        let raw = Raw::read(parts, body, context, held, app).await?;
        let Admitted { credential, by } = app.gate.complete(proven, A::ACCESS, raw.shown())?;
        Ok(Self { caller: credential.caller, credential, raw, by, asked: PhantomData })
    }
}

impl<A, const MAX: usize> Posted<A, MAX> {
    pub(crate) fn body(&self) -> &[u8] {
        &self.raw.body
    }

    /// The connection that it came on, if it came on one.
    pub(super) fn link(&self) -> Option<&Link> {
        self.raw.context.origin.link.as_deref()
    }

    /// Counts what the call costs beyond the one use that was counted already.
    pub(crate) fn charge(&self, app: &App, cost: usize) -> Result<(), Error> {
        match cost {
            0 | 1 => Ok(()),
            _ => app.gate.count(&self.raw.context, &self.caller, true, cost - 1),
        }
    }

    /// Carries out the command that this request asks for.
    pub(crate) async fn run<C: Command>(&self, app: &App, command: C) -> Result<C::Output, Error> {
        app.gateway.run(&self.caller, self.signed(command)).await
    }

    /// Adds the signature of this request to the command that it asks for.
    pub(crate) fn signed<C: Command>(&self, command: C) -> Signed<C> {
        if !command.is_repeatable() {
            self.raw.context.set_once();
        }
        Signed { by: self.by.clone(), command }
    }

    /// The same for one of the commands that it asks for, with a nonce of its own where each is looked up with its command.
    pub(crate) fn signed_element<C: Command>(&self, app: &App, index: usize, command: C) -> Signed<C> {
        let index = if app.gateway.engine().is_remote() { index } else { 0 };
        let Signed { by, command } = self.signed(command);
        Signed { by: SignedBy { nonce: by.nonce.of_element(index), ..by }, command }
    }
}

/// A request with a JSON body, whose sender is unknown or not known yet.
pub(crate) struct Raw<const MAX: usize = BODY> {
    pub(crate) parts: Parts,
    pub(crate) body: Bytes,
    pub(crate) context: Arc<Context>,
    /// The memory that the body takes.
    _held: Option<Held>,
}

impl<const MAX: usize> Raw<MAX> {
    /// What the authenticator checks.
    pub(crate) fn shown(&self) -> Shown<'_> {
        Shown { head: Head { parts: &self.parts, context: &self.context }, body: &self.body }
    }

    async fn read(parts: Parts, body: Body, context: Arc<Context>, held: Option<Held>, app: &App) -> Result<Self, Error> {
        let body = body::read(body, MAX, app.limits.body_read).await?;
        if !body.is_empty() {
            negotiate::require_json(&parts.headers)?;
        }
        Ok(Self { parts, body, context, _held: held })
    }
}

impl<const MAX: usize> FromRequest<App> for Raw<MAX> {
    type Rejection = HttpError;

    async fn from_request(request: Request, app: &App) -> Result<Self, HttpError> {
        let (mut parts, body) = request.into_parts();
        let context = noted(&mut parts);
        let stranger = Sender::Stranger(network(context.origin.peer));
        let held = check_head::<MAX>(&parts).and_then(|()| app.bodies.hold(stranger, &parts.headers, MAX));
        match held {
            Ok(held) => Ok(Self::read(parts, body, context, held, app).await?),
            Err(error) => Err(unread(body, &parts, error)),
        }
    }
}

/// Checks what a head says about the two bodies.
fn check_head<const MAX: usize>(parts: &Parts) -> Result<(), Error> {
    body::check_length(&parts.headers, MAX)?;
    negotiate::choose(&parts.headers, &[JSON])?;
    if body::is_declared(&parts.headers) {
        negotiate::require_json(&parts.headers)?;
    }
    Ok(())
}

/// Refuses a request whose body was not read.
fn unread(body: Body, parts: &Parts, error: Error) -> HttpError {
    body::discard(body, &parts.headers);
    error.into()
}

/// `{ref}`, and the last variable part of the path.
pub(crate) struct Named {
    target: Option<Target>,
    last: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let Ok(params) = RawPathParams::from_request_parts(parts, state).await else {
            return Ok(Self { target: None, last: None });
        };
        let target = params.iter().find(|(name, _)| *name == "ref").and_then(|(_, text)| Target::parse(text));
        let last = params.iter().last().map(|(_, text)| text.to_owned());
        Ok(Self { target, last })
    }
}

impl Named {
    /// The settlement that the path names. Text that cannot name one counts as not found.
    pub(crate) fn target(&self) -> Result<&Target, Error> {
        self.target.as_ref().ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
    }

    /// The last variable part of the path.
    pub(crate) fn last(&self) -> &str {
        self.last.as_deref().unwrap_or_default()
    }
}

/// The query's pairs, in order.
pub(crate) fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, Error> {
    // Counted before it is read: each parameter costs memory.
    if uri.query().is_some_and(|query| query.split('&').count() > PARAMETERS_MAX) {
        let detail = format!("the query may have at most {PARAMETERS_MAX} parameters");
        return Err(Error::with(ErrorCode::MalformedRequest, detail));
    }
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri);
    pairs.map(|query| query.0).map_err(|_| Error::with(ErrorCode::MalformedRequest, "the query cannot be read"))
}

/// Query parameters, read one by one; all problems with them are reported together.
pub(crate) struct Params {
    left: Vec<(String, String)>,
    problems: Vec<FieldProblem>,
}

impl Params {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Error> {
        Ok(Self { left: pairs(uri)?, problems: Vec::new() })
    }

    /// A whole number, if the parameter is there.
    pub(crate) fn number<N>(&mut self, name: &'static str, range: RangeInclusive<N>) -> Option<N>
    where
        N: FromStr + PartialOrd + Display,
    {
        let value = self.text(name)?;
        let number = value.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let message = format!("{name} must be a whole number from {} to {}", range.start(), range.end());
            self.problems.push(FieldProblem::new(name, "out_of_range", message));
        }
        number
    }

    /// Whether the parameter is this word, which stands in place of a number.
    pub(crate) fn is_word(&mut self, name: &'static str, word: &str) -> bool {
        let is = self.left.iter().find(|(given, _)| given == name).is_some_and(|(_, value)| value == word);
        is && self.text(name).is_some()
    }

    /// One of `all`, by its wire name, if the parameter is there.
    pub(crate) fn choice<T: Copy>(&mut self, name: &'static str, all: &[T], as_str: impl Fn(T) -> &'static str) -> Option<T> {
        let value = self.text(name)?;
        self.chosen(name, &value, all, &as_str)
    }

    /// Some of `all`, by their wire names: the parameter may be repeated.
    pub(crate) fn choices<T: Copy>(&mut self, name: &'static str, all: &[T], as_str: impl Fn(T) -> &'static str) -> Vec<T> {
        let (given, left): (Vec<_>, _) = std::mem::take(&mut self.left).into_iter().partition(|(given, _)| given == name);
        self.left = left;
        given.iter().filter_map(|(_, value)| self.chosen(name, value, all, &as_str)).collect()
    }

    fn chosen<T: Copy>(&mut self, name: &'static str, value: &str, all: &[T], as_str: &impl Fn(T) -> &'static str) -> Option<T> {
        let chosen = all.iter().copied().find(|one| as_str(*one) == value);
        if chosen.is_none() {
            let known: Vec<_> = all.iter().map(|one| as_str(*one)).collect();
            self.problems.push(FieldProblem::new(name, "unknown_value", format!("{name} must be one of {}", known.join(", "))));
        }
        chosen
    }

    /// A time, if the parameter is there.
    pub(crate) fn time(&mut self, name: &'static str) -> Option<Millis> {
        let value = self.text(name)?;
        let time = parse_rfc3339(&value);
        if time.is_none() {
            let message = format!("{:?} is not an RFC 3339 time, such as 2026-01-31T12:00:00Z", excerpt(&value));
            self.problems.push(FieldProblem::new(name, "time_malformed", message));
        }
        time
    }

    /// The parameter's text, if it is there.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        let at = self.left.iter().position(|(given, _)| given == name)?;
        let (_, value) = self.left.remove(at);
        if self.left.iter().any(|(given, _)| given == name) {
            self.left.retain(|(given, _)| given != name);
            self.problems.push(FieldProblem::new(name, "duplicate_parameter", "the parameter may appear once"));
        }
        Some(value)
    }

    /// Refuses invalid and unknown parameters.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        for (name, _) in self.left {
            let name = excerpt(&name);
            let message = format!("{name:?} is not a parameter of this call");
            self.problems.push(FieldProblem::new(name, "unknown_parameter", message));
        }
        if self.problems.is_empty() { Ok(()) } else { Err(Error::invalid(self.problems)) }
    }
}

/// The seconds of `Prefer: wait=N` (RFC 7240), at most `most`.
pub(crate) fn prefer_wait(headers: &HeaderMap, most: u32) -> Option<u32> {
    const PREFER: HeaderName = HeaderName::from_static("prefer");
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split([',', ';'])).map(str::trim);
    let wait = preferences.find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"').parse().ok())?
    })?;
    Some(most.min(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_is_found_among_preferences_and_capped() {
        let wait = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", value.parse().unwrap());
            prefer_wait(&headers, 30)
        };
        assert_eq!(wait("wait=5"), Some(5));
        assert_eq!(wait("respond-async, WAIT = 100"), Some(30));
        assert_eq!(wait("wait=\"7\"; foo"), Some(7));
        assert_eq!(wait("wait=-1"), None);
        assert_eq!(wait("return=minimal"), None);
    }

    #[test]
    fn parameters_are_checked_together() {
        let uri: Uri = "/x?wait=99&version=2&version=3&more=1".parse().unwrap();
        let mut params = Params::of(&uri).unwrap();
        assert_eq!(params.number("wait", 0..=30), None);
        assert_eq!(params.number("version", 0..=9), Some(2));
        let codes: Vec<_> = params.finish().unwrap_err().into_fields().into_iter().map(|field| (field.pointer, field.code)).collect();
        let expected = [("wait", "out_of_range"), ("version", "duplicate_parameter"), ("more", "unknown_parameter")];
        assert_eq!(codes, expected.map(|(name, code)| (name.to_owned(), code.into())));
    }

    #[test]
    fn parameters_are_few_and_repeated_in_part() {
        let many: Uri = format!("/x?{}", "a&".repeat(64)).parse().unwrap();
        assert_eq!(Params::of(&many).err().map(|error| error.code), Some(ErrorCode::MalformedRequest));
        let long: Uri = format!("/x?{}=1", "a".repeat(60_000)).parse().unwrap();
        let refused = Params::of(&long).unwrap().finish().unwrap_err();
        assert!(refused.fields[0].pointer.len() < 80 && refused.fields[0].message.len() < 200, "{refused:?}");
    }
}
