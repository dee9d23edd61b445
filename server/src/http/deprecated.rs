//! Routes that will stop, and routes that have: declared in [`DEPRECATED`] and nowhere else.
//!
//! Until its last day, each response of such a route says when it stops and what replaces it (`Deprecation`, RFC 9745; `Sunset`, RFC
//! 8594; `Link`), and the OpenAPI document marks it. From then on it answers 410 `version_sunset`, before anything else is checked.
//! The handler of a stopped route may be removed one release later, together with its entry here.

use axum::response::{IntoResponse as _, Response};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LINK};
use hyper::{Method, Uri};
use railgate::time::{Millis, http_date};
use railgate::{Error, ErrorCode};
use utoipa::openapi::{Deprecated as Marked, OpenApi as Document, RefOr};

use super::document::{operations_of, problem};
use super::problem::HttpError;

/// The deprecated routes of this gateway.
pub const DEPRECATED: &[Deprecated] = &[];

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const DAY_S: i64 = 86_400;

/// A day, in UTC.
#[derive(Debug, Clone, Copy)]
pub struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Day {
    /// A day of the calendar, from year, month and day counted from 1. It has at most 28, so that it exists a year later, too.
    #[must_use]
    pub const fn new(year: i64, month: i64, day: i64) -> Self {
        assert!(year >= 2_000 && month >= 1 && month <= 12 && day >= 1 && day <= 28, "a day from the 1st to the 28th of a month");
        Self { year, month, day }
    }

    /// Days since 1970-01-01, after Howard Hinnant's `days_from_civil`.
    const fn number(self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, of_era) = (year / 400, year % 400);
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    /// Its first second, since the Unix epoch.
    const fn begin_s(self) -> i64 {
        self.number() * DAY_S
    }

    /// Its first second as an HTTP date (RFC 9110, section 5.6.7).
    fn http_date(self) -> String {
        http_date(self.begin_s() * 1_000)
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A route that will stop.
#[derive(Debug, Clone)]
pub struct Deprecated {
    method: Method,
    /// Its template, as in the OpenAPI document.
    path: &'static str,
    since: Day,
    sunset: Day,
    /// The template of the route that replaces it. Variable parts with the same name have the same value.
    successor: &'static str,
}

impl Deprecated {
    /// The route of this method and template, deprecated since a day, which stops with the beginning of another, at least twelve
    /// months later: with less, the program does not compile.
    #[must_use]
    pub const fn new(method: Method, path: &'static str, since: Day, sunset: Day, successor: &'static str) -> Self {
        let year_later = Day { year: since.year + 1, ..since };
        assert!(sunset.number() >= year_later.number(), "a route stops at least twelve months after it is deprecated");
        Self { method, path, since, sunset, successor }
    }

    /// The deprecated route that a request is for, if it is for one.
    pub(crate) fn find(all: &'static [Self], method: &Method, uri: &Uri) -> Option<Notice> {
        // A HEAD is answered by the route of GET.
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        let found = all.iter().filter(|route| route.method == *method);
        found.filter_map(|route| Some(Notice { route, successor: route.successor_of(uri.path())? })).next()
    }

    /// The successor's path for this path; `None` if the path is another route's.
    fn successor_of(&self, path: &str) -> Option<String> {
        let (template, given): (Vec<&str>, Vec<&str>) = (self.path.split('/').collect(), path.split('/').collect());
        if template.len() != given.len() {
            return None;
        }
        let mut successor = self.successor.to_owned();
        for (name, value) in template.into_iter().zip(given) {
            if name.starts_with('{') && !value.is_empty() {
                successor = successor.replace(name, value);
            } else if name != value {
                return None;
            }
        }
        Some(successor)
    }
}

/// What the response to a request for a deprecated route says.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    route: &'static Deprecated,
    successor: String,
}

impl Notice {
    /// The response in place of the route's, once that has stopped.
    pub(crate) fn stopped(&self, now: Millis) -> Option<Response> {
        let Deprecated { sunset, .. } = self.route;
        let detail = || format!("the route stopped on {sunset}; use {}", self.successor);
        let stopped = now >= sunset.begin_s() * 1_000;
        stopped.then(|| HttpError(Error::with(ErrorCode::VersionSunset, detail())).into_response())
    }

    /// Adds the notice to a response.
    pub(crate) fn announce(&self, headers: &mut HeaderMap) {
        let docs = ErrorCode::VersionSunset.uri();
        let link = format!(r#"<{}>; rel="successor-version", <{docs}>; rel="deprecation"; type="text/html""#, self.successor);
        let values = [(DEPRECATION, format!("@{}", self.route.since.begin_s())), (SUNSET, self.route.sunset.http_date()), (LINK, link)];
        for (name, value) in values {
            if let Ok(value) = HeaderValue::try_from(value) {
                // A page of a list may have a link of its own.
                headers.append(name, value);
            }
        }
    }
}

/// Marks the deprecated routes of the document.
pub(super) fn mark(document: &mut Document, all: &[Deprecated]) {
    for Deprecated { method, path, since, sunset, successor } in all {
        let item = document.paths.paths.get_mut(*path);
        let Some(operation) = item.and_then(|item| operations_of(item, method)) else { continue };
        operation.deprecated = Some(Marked::True);
        let notice = format!("Deprecated since {since}; stops on {sunset}. Use `{successor}`.");
        operation.description = Some(operation.description.take().map_or_else(|| notice.clone(), |text| format!("{notice}\n\n{text}")));
        operation.responses.responses.insert("410".to_owned(), RefOr::T(problem(&[ErrorCode::VersionSunset])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[Deprecated] = &[Deprecated::new(
        Method::GET,
        "/api/v1/gateway/settlements/{ref}/status",
        Day::new(2026, 2, 28),
        Day::new(2027, 2, 28),
        "/api/v1/gateway/settlements/{ref}",
    )];

    #[test]
    fn days_are_those_of_the_calendar() {
        for (day, number, text) in [
            (Day::new(2000, 1, 1), 10_957, "Sat, 01 Jan 2000 00:00:00 GMT"),
            (Day::new(2024, 2, 28), 19_781, "Wed, 28 Feb 2024 00:00:00 GMT"),
            (Day::new(2024, 3, 1), 19_783, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (Day::new(2026, 11, 21), 20_778, "Sat, 21 Nov 2026 00:00:00 GMT"),
            (Day::new(2100, 12, 28), 47_843, "Tue, 28 Dec 2100 00:00:00 GMT"),
        ] {
            assert_eq!((day.number(), day.http_date().as_str()), (number, text));
            assert_eq!(railgate::time::parse_http_date(text), Some(day.begin_s() * 1_000));
        }
    }

    #[test]
    fn a_route_is_found_by_method_and_path_and_its_successor_named() {
        let find =
            |method: &Method, path: &'static str| Deprecated::find(OLD, method, &Uri::from_static(path)).map(|notice| notice.successor);
        let successor = Some("/api/v1/gateway/settlements/inv-1".to_owned());
        assert_eq!(find(&Method::GET, "/api/v1/gateway/settlements/inv-1/status?wait=1"), successor);
        assert_eq!(find(&Method::HEAD, "/api/v1/gateway/settlements/inv-1/status"), successor);
        assert_eq!(find(&Method::POST, "/api/v1/gateway/settlements/inv-1/status"), None);
        for other in ["/api/v1/gateway/settlements/inv-1", "/api/v1/gateway/settlements//status", "/api/v1/gateway/settlements/a/b/status"]
        {
            assert_eq!(find(&Method::GET, other), None, "{other}");
        }
    }

    #[test]
    fn the_document_marks_what_is_deprecated_and_nothing_else() {
        let mut document = super::super::document(None);
        let before = serde_json::to_value(&document).unwrap();
        mark(&mut document, OLD);
        let mut after = serde_json::to_value(&document).unwrap();
        let place = "/paths/~1api~1v1~1gateway~1settlements~1{ref}~1status/get";
        let marked = after.pointer_mut(place).unwrap();
        assert_eq!(
            (&marked["deprecated"], &marked["responses"]["410"]["content"]["application/problem+json"]["example"]["code"]),
            (&true.into(), &"version_sunset".into())
        );
        assert!(marked["description"].as_str().unwrap().starts_with("Deprecated since 2026-02-28; stops on 2027-02-28."));
        *marked = before.pointer(place).unwrap().clone();
        assert_eq!(after, before);
    }

    /// A notice about a route that does not exist would never be seen.
    #[test]
    fn what_is_deprecated_and_what_replaces_it_exists() {
        let mut document = super::super::document(None);
        for route in DEPRECATED {
            let there = document.paths.paths.get_mut(route.path).is_some_and(|item| operations_of(item, &route.method).is_some());
            assert!(there && document.paths.paths.contains_key(route.successor), "{route:?}");
        }
    }
}
