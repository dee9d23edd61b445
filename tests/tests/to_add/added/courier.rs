//! Operators that are paid by `PUT {base_url}/{key}`, and asked by `GET`.

use super::{Heard, HttpReply, HttpRequest, Link, Rail, RailAnswer, Request};
use crate::api::{Action, RailCall};
use crate::route::Capabilities;

pub(super) struct Courier;

impl Rail for Courier {
    fn kind(&self) -> &'static str {
        "courier"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: false, reverse: false, partial_reverse: false, inquiry: true, idempotent_submit: true }
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        let pays = matches!(call.action, Action::Submit | Action::Reverse);
        let url = format!("{}/{}", link.provider.base_url.as_deref().unwrap_or_default(), call.rail_key);
        Request::Http(match pays {
            true => HttpRequest::new("PUT", url).body(call.money.decimal()),
            false => HttpRequest::new("GET", url),
        })
    }

    fn decode(&self, call: &RailCall, _: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(match (reply.status, call.action) {
            (200, _) => RailAnswer::Completed { rail_reference: String::from_utf8(reply.body.clone()).ok() },
            (404, Action::Inquire) => RailAnswer::NotSent,
            _ => RailAnswer::Unknown,
        })
    }
}
