//! The browser sites: served if the setting says so, protected, and without a second answer for what the interface serves.

use std::sync::Arc;

use axum::body::Body;
use railgate::store::memory::MemoryStore;

use super::support::{Answer, Service, service, service_with};

async fn with_sites() -> Service {
    service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.console = true).await
}

async fn get(service: &Service, path: &str, header: (&str, &str)) -> Answer {
    service.send(service.request("GET", path).header(header.0, header.1).body(Body::empty()).unwrap()).await
}

/// Whether this build has the sites.
fn are_built(page: &Answer) -> bool {
    page.status == 200
}

#[tokio::test]
async fn without_the_setting_there_are_none() {
    for path in ["/console", "/console/settlements", "/docs"] {
        let answer = get(&service().await, path, ("accept", "*/*")).await.expect(404);
        assert_eq!(answer.json()["code"], "route_not_found", "{path}");
    }
}

#[tokio::test]
async fn every_address_of_a_site_is_its_page_or_says_how_to_build_it() {
    let service = with_sites().await;
    let pages = ["/console", "/console/", "/console/settlements/inv-1", "/docs", "/docs/start/first-settlement"];
    for path in pages {
        let page = get(&service, path, ("accept-encoding", "identity")).await;
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert!(!policy.replace("'wasm-unsafe-eval'", "").contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        if are_built(&page) {
            assert_eq!(page.header("cache-control"), Some("no-cache"));
            let tag = page.header("etag").unwrap().to_owned();
            get(&service, path, ("if-none-match", &tag)).await.expect(304);
            get(&service, "/console/assets/gone.js", ("accept", "*/*")).await.expect(404);
        } else {
            assert!(page.expect(404).text().contains("scripts/web.sh"));
        }
    }
    // The pages of the documentation are known when it is built: what is not among them is not there.
    let unknown = get(&service, "/docs/no-such-page", ("accept-encoding", "identity")).await.expect(404);
    assert_eq!(unknown.header("content-type"), Some("text/html; charset=utf-8"));
}

#[tokio::test]
async fn the_interface_keeps_its_own_pages_and_methods() {
    let service = with_sites().await;
    let page = get(&service, "/docs/problems/reference_conflict", ("accept", "text/html")).await.expect(200);
    assert!(page.text().contains("reference_conflict"));
    let request = service.request("POST", "/console").body(Body::empty()).unwrap();
    assert_eq!(service.send(request).await.expect(405).json()["code"], "method_not_allowed");
}
