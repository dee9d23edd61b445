//! Deprecated routes: each response says when the route stops, and afterwards there is a problem in its place.

use axum::body::Body;
use hyper::{Method, Request};
use railgate::store::memory::MemoryStore;
use railgate_server::config::DeprecatedRoutes;
use railgate_server::http::{Day, Deprecated};
use serde_json::json;

use super::support::{Answer, SETTLEMENTS, service_with};

const STATUS: &str = "/api/v1/gateway/settlements/{ref}/status";
const RECORD: &str = "/api/v1/gateway/settlements/{ref}";
/// Two routes, as if they were replaced.
const OLD: &[Deprecated] = &[
    Deprecated::new(Method::GET, STATUS, Day::new(2026, 11, 1), Day::new(2027, 11, 1), RECORD),
    Deprecated::new(Method::POST, SETTLEMENTS, Day::new(2026, 11, 1), Day::new(2028, 2, 28), "/api/v1/gateway/settlements/batch"),
];
const LAST_MOMENT: i64 = 1_825_027_199_999; // 2027-10-31T23:59:59.999Z

fn announced(answer: &Answer, sunset: &str, successor: &str) {
    assert_eq!(answer.header("deprecation"), Some("@1793491200"));
    assert_eq!(answer.header("sunset"), Some(sunset));
    let link = answer.header("link").unwrap();
    assert!(link.starts_with(&format!(r#"<{successor}>; rel="successor-version", "#)), "{link}");
    assert!(link.contains(r#"</docs/problems/version_sunset>; rel="deprecation""#), "{link}");
}

#[tokio::test]
async fn a_deprecated_route_announces_its_end_and_then_stops() {
    let service = service_with(std::sync::Arc::new(MemoryStore::new()), |hosted| hosted.edge.deprecated = DeprecatedRoutes(OLD)).await;
    let (path, successor) = (format!("{SETTLEMENTS}/r/status"), format!("{SETTLEMENTS}/r"));
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "r"});
    let made = service.post(SETTLEMENTS, &body).await.expect(201);
    announced(&made, "Mon, 28 Feb 2028 00:00:00 GMT", "/api/v1/gateway/settlements/batch");
    let sunset = "Mon, 01 Nov 2027 00:00:00 GMT";
    announced(&service.get(&path).await.expect(200), sunset, &successor);
    let bare = || Request::get(&path).body(Body::empty()).unwrap();
    // Refusals, too.
    announced(&service.exchange(bare()).await.expect(401), sunset, &successor);
    for other in [successor.as_str(), "/healthz", "/api/v1/gateway/settlements"] {
        assert_eq!(service.get(other).await.header("deprecation"), None, "{other}");
    }

    service.env.advance_to(LAST_MOMENT);
    announced(&service.exchange(bare()).await.expect(401), sunset, &successor);
    service.env.advance_to(LAST_MOMENT + 1);
    let stopped = service.exchange(bare()).await;
    announced(&stopped, sunset, &successor);
    let problem = stopped.problem(410, "version_sunset");
    assert_eq!(problem["detail"], format!("the route stopped on 2027-11-01; use {successor}"));
    // A body that nobody reads does no harm, and the other route goes on.
    let create = Request::post(SETTLEMENTS).header("content-type", "application/json").body(Body::from(body.to_string())).unwrap();
    service.exchange(create).await.problem(401, "token_missing");
    service.running.stop().await;
}

#[tokio::test]
async fn the_served_document_marks_deprecated_routes() {
    let service = service_with(std::sync::Arc::new(MemoryStore::new()), |hosted| hosted.edge.deprecated = DeprecatedRoutes(OLD)).await;
    let document = service.get("/openapi.json").await.expect(200).json();
    let mut marked: Vec<(&str, &str)> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let deprecated = item.as_object().unwrap().iter().filter(|(_, operation)| operation["deprecated"] == true);
        marked.extend(deprecated.map(|(method, _)| (method.as_str(), path.as_str())));
    }
    marked.sort_unstable();
    assert_eq!(marked, [("get", STATUS), ("post", SETTLEMENTS)]);
    service.running.stop().await;
}

#[tokio::test]
async fn an_unknown_version_names_the_known_ones() {
    let service = super::support::service().await;
    let problem = service.get("/api/v9/gateway/settlements").await.problem(404, "route_not_found");
    assert_eq!(problem["detail"], "unknown version of the interface; v1 is under /api/v1");
}
