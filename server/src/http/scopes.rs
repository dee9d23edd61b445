//! Who may call which route: one table. A test holds it and the router together.

use std::collections::HashMap;
use std::sync::LazyLock;

use railgate::auth::Scope;

/// What a route asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: the call need not be signed.
    Unsigned,
    /// A signature by the key in the body; there is no credential yet.
    Enrolling,
    /// A signature by an enrolled key, without a token.
    Key,
    /// A token, whatever it may do, and a signature by its key.
    Token,
    /// A token with this scope, and a signature by its key.
    Scope(Scope),
}

const API: &str = "/api/v1";

/// Method, path below `/api/v1` (from the root where it begins with `//`), access.
const TABLE: &[(&str, &str, Access)] = &[
    ("POST", "/auth/challenges", Access::Unsigned),
    ("POST", "/auth/enrollments", Access::Enrolling),
    ("POST", "/auth/tokens", Access::Key),
    ("POST", "/auth/tokens/revoke", Access::Token),
    ("GET", "/auth/keys", Access::Token),
    ("POST", "/auth/keys", Access::Scope(Scope::KeysWrite)),
    ("DELETE", "/auth/keys/{kid}", Access::Scope(Scope::KeysWrite)),
    ("POST", "/gateway/settlements", Access::Scope(Scope::SettlementsWrite)),
    ("GET", "/gateway/settlements", Access::Scope(Scope::SettlementsRead)),
    ("POST", "/gateway/settlements/batch", Access::Scope(Scope::SettlementsWrite)),
    ("POST", "/gateway/settlements/check", Access::Scope(Scope::SettlementsWrite)),
    ("GET", "/gateway/settlements/export", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/gateway/settlements/{ref}", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/gateway/settlements/{ref}/status", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/gateway/settlements/{ref}/events", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/gateway/settlements/{ref}/receipt", Access::Scope(Scope::ReceiptsRead)),
    ("GET", "/gateway/settlements/{ref}/receipt/proof", Access::Scope(Scope::ReceiptsRead)),
    ("GET", "/gateway/events", Access::Scope(Scope::SettlementsRead)),
    ("POST", "/gateway/settlements/{ref}/reverse", Access::Scope(Scope::SettlementsReverse)),
    ("POST", "/gateway/settlements/{ref}/check", Access::Scope(Scope::SettlementsWrite)),
    ("GET", "/gateway/settlements/{ref}/reversals", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/gateway/settlements/{ref}/reversals/{id}", Access::Scope(Scope::SettlementsRead)),
    ("GET", "/balances", Access::Scope(Scope::BalancesRead)),
    ("GET", "/balances/{currency}", Access::Scope(Scope::BalancesRead)),
    ("POST", "/webhooks", Access::Scope(Scope::WebhooksWrite)),
    ("GET", "/webhooks", Access::Scope(Scope::WebhooksRead)),
    ("GET", "/webhooks/{id}", Access::Scope(Scope::WebhooksRead)),
    ("PATCH", "/webhooks/{id}", Access::Scope(Scope::WebhooksWrite)),
    ("DELETE", "/webhooks/{id}", Access::Scope(Scope::WebhooksWrite)),
    ("POST", "/webhooks/{id}/enable", Access::Scope(Scope::WebhooksWrite)),
    ("POST", "/webhooks/{id}/rotate-secret", Access::Scope(Scope::WebhooksWrite)),
    ("POST", "/webhooks/{id}/test", Access::Scope(Scope::WebhooksWrite)),
    ("POST", "/webhooks/{id}/replay", Access::Scope(Scope::WebhooksWrite)),
    ("GET", "/webhooks/{id}/deliveries", Access::Scope(Scope::WebhooksRead)),
    ("GET", "/webhooks/{id}/deliveries/{delivery}", Access::Scope(Scope::WebhooksRead)),
    ("POST", "/webhooks/{id}/deliveries/{delivery}/redeliver", Access::Scope(Scope::WebhooksWrite)),
    ("GET", "/log/checkpoint", Access::Token),
    ("GET", "/log/keys", Access::Token),
    ("GET", "/log/tile/{*tile}", Access::Token),
    ("GET", "/simulator/scenarios", Access::Token),
    ("GET", "//.well-known/jwks.json", Access::Unsigned),
    ("GET", "//docs/problems", Access::Unsigned),
    ("GET", "//docs/problems/{code}", Access::Unsigned),
    ("GET", "//healthz", Access::Unsigned),
    ("GET", "//readyz", Access::Unsigned),
    ("GET", "//openapi.json", Access::Unsigned),
];

static ROUTES: LazyLock<HashMap<String, Vec<(&'static str, Access)>>> = LazyLock::new(|| {
    let mut all: HashMap<String, Vec<_>> = HashMap::new();
    for (method, path, access) in routes() {
        all.entry(path).or_default().push((method, access));
    }
    all
});

/// Every route's method, whole path and access.
pub(crate) fn routes() -> impl Iterator<Item = (&'static str, String, Access)> {
    TABLE.iter().map(|(method, path, access)| {
        let path = path.strip_prefix('/').filter(|rest| rest.starts_with('/')).map_or_else(|| format!("{API}{path}"), str::to_owned);
        (*method, path, *access)
    })
}

/// What the route asks; `None` for one that is not in the table, which nobody may call. `HEAD` is a `GET`.
pub(crate) fn access(method: &str, path: &str) -> Option<Access> {
    let method = if method == "HEAD" { "GET" } else { method };
    ROUTES.get(path)?.iter().find(|(known, _)| *known == method).map(|(_, access)| *access)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_table_and_the_router_name_the_same_routes() {
        let document = serde_json::to_value(crate::http::document(None)).unwrap();
        let mut routed = BTreeMap::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                // An empty requirement is how the document says that no token is asked for.
                let without_token = operation["security"] == serde_json::json!([{}]);
                routed.insert((method.to_uppercase(), path.clone()), without_token);
            }
        }
        let table: BTreeMap<_, _> = routes()
            .map(|(method, path, access)| {
                let without_token = matches!(access, Access::Unsigned | Access::Enrolling | Access::Key);
                // The document has no sign for the rest of a path.
                ((method.to_owned(), path.replace("{*", "{")), without_token)
            })
            .collect();
        // The probes and the document itself have nothing to do with tokens.
        let odd: Vec<_> = table.iter().filter(|(route, without)| routed.get(*route) != Some(*without)).collect();
        assert!(odd.is_empty(), "in the table and not so in the router: {odd:?}");
        let missing: Vec<_> = routed.keys().filter(|route| !table.contains_key(*route)).collect();
        assert!(missing.is_empty(), "in the router and not in the table: {missing:?}");
        assert_eq!(table.len(), TABLE.len(), "a route stands in the table twice");
    }

    #[test]
    fn a_route_that_is_not_in_the_table_is_nobodys() {
        assert_eq!(access("GET", "/api/v1/gateway/settlements/{ref}"), Some(Access::Scope(Scope::SettlementsRead)));
        assert_eq!(access("HEAD", "/healthz"), Some(Access::Unsigned));
        assert_eq!(access("DELETE", "/api/v1/gateway/settlements/{ref}"), None);
        assert_eq!(access("GET", "/api/v1/nothing"), None);
    }
}
