//! Operators that are paid by `PUT {base_url}/{key}`, and asked by `GET`.

use super::{HttpReply, HttpRequest, Rail, RailAnswer, Request};
use crate::api::{Action, RailCall};
use crate::route::{Capabilities, ProviderSpec};

pub(super) struct Courier;

impl Rail for Courier {
    fn kind(&self) -> &'static str {
        "courier"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: false, reverse: false, partial_reverse: false, inquiry: true, idempotent_submit: true }
    }

    fn encode(&self, call: &RailCall, provider: &ProviderSpec) -> Request {
        let pays = matches!(call.action, Action::Submit | Action::Reverse);
        let base = provider.base_url.as_deref().unwrap_or_default();
        Request::Http(HttpRequest {
            method: if pays { "PUT" } else { "GET" },
            url: format!("{base}/{}", call.rail_key),
            headers: Vec::new(),
            body: if pays { call.money.decimal().into_bytes() } else { Vec::new() },
            timeout_ms: 5_000,
            repeatable: !pays,
        })
    }

    fn decode(&self, call: &RailCall, reply: &HttpReply) -> RailAnswer {
        match (reply.status, call.action) {
            (200, _) => RailAnswer::Completed { rail_reference: String::from_utf8(reply.body.clone()).ok() },
            (404, Action::Inquire) => RailAnswer::NotSent,
            _ => RailAnswer::Unknown,
        }
    }
}
