//! A receipt for people: a page to print, and plain text.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::Receipt;
use crate::lifecycle::SettlementStatus;

const STYLE: &str = "\
:root{color-scheme:light}\
body{margin:2rem auto;max-width:44rem;padding:0 1rem;font:16px/1.45 system-ui,sans-serif;color:#111;background:#fff}\
h1{margin:0;font-size:1.4rem}\
.amount{margin:.25rem 0 1rem;font-size:2rem;font-weight:600}\
.test{padding:.5rem .75rem;border:2px solid #a40000;color:#a40000;font-weight:600}\
table{width:100%;border-collapse:collapse}\
th,td{padding:.35rem 0;border-bottom:1px solid #ccc;text-align:start;vertical-align:top;overflow-wrap:anywhere}\
th{width:11rem;padding-inline-end:1rem;font-weight:400;color:#555}\
.code{display:block;width:70mm;margin:1.5rem 0 .5rem}\
.jws{font:9px/1.3 ui-monospace,monospace;overflow-wrap:anywhere}\
.note{color:#555;font-size:.85rem}\
@page{margin:15mm}@media print{body{margin:0;max-width:none;font-size:11pt}tr,.code{break-inside:avoid}}";

/// What a browser may do with the page, as `Content-Security-Policy`: show it with the style that it brings, nothing else.
pub fn content_security_policy() -> String {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

const SANDBOX: &str = "Sandbox: no money was moved.";
const CODE: &str = "The code holds the signed receipt below.";
const HOW: &str = "The signed receipt, a JWS (ES256). Its key stands at /.well-known/jwks.json of the issuer.";

impl Receipt {
    /// A page to print: complete in itself, without scripts, everything in it escaped.
    pub fn html(&self) -> String {
        let claims = &self.claims;
        let reference = escape(&claims.reference);
        let mut out = String::with_capacity(48 * 1_024);
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>Receipt {reference}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>Payment receipt</h1>\n<p class=\"amount\">{} {}</p>\n",
            escape(&claims.amt),
            escape(&claims.cur)
        );
        if claims.env == "sandbox" {
            let _ = writeln!(out, "<p class=\"test\">{SANDBOX}</p>");
        }
        out.push_str("<table>\n<tbody>\n");
        for (name, value) in self.rows() {
            let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td><bdi>{}</bdi></td></tr>", escape(&value));
        }
        if let Some(description) = &self.description {
            let text = escape(description);
            let _ = writeln!(out, "<tr><th scope=\"row\">Description<br>(not signed)</th><td dir=\"auto\">{text}</td></tr>");
        }
        out.push_str("</tbody>\n</table>\n");
        // One that is too long for a code is still a receipt.
        if let Ok(svg) = self.svg() {
            let _ = write!(out, "<div class=\"code\">{svg}</div>\n<p class=\"note\">{CODE}</p>\n");
        }
        let _ = write!(
            out,
            "<p class=\"note\">{HOW}</p>\n<p class=\"jws\">{}</p>\n\
             </main>\n</body>\n</html>\n",
            escape(&self.jws)
        );
        out
    }

    /// Plain text, a line each, the JWS last.
    pub fn text(&self) -> String {
        let mut out = String::from("Payment receipt\n");
        if self.claims.env == "sandbox" {
            out.push_str(SANDBOX);
            out.push('\n');
        }
        out.push('\n');
        let paid = format!("{} {}", self.claims.amt, self.claims.cur);
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(out, "{:<16} {}", format!("{name}:"), tame(value));
        };
        line("Amount", &paid);
        for (name, value) in self.rows() {
            line(name, &value);
        }
        if let Some(description) = &self.description {
            line("Description", description);
        }
        out.push('\n');
        out.push_str(&self.jws);
        out.push('\n');
        out
    }

    fn rows(&self) -> Vec<(&'static str, Cow<'_, str>)> {
        let claims = &self.claims;
        let money = |amount: &str| Cow::Owned(format!("{amount} {}", claims.cur));
        let mut rows: Vec<(&'static str, Cow<'_, str>)> = vec![
            ("Status", Cow::Borrowed(status(claims.status))),
            ("Settled", Cow::Borrowed(&claims.settled_at)),
            ("From", Cow::Borrowed(&claims.from)),
            ("To", Cow::Borrowed(&claims.to)),
            ("Reference", Cow::Borrowed(&claims.reference)),
            ("Fee", money(&claims.fee)),
            ("Given back", money(&claims.rev)),
            ("Provider", Cow::Borrowed(&claims.provider)),
        ];
        if let Some(reference) = &claims.rail_ref {
            rows.push(("Rail reference", Cow::Borrowed(reference)));
        }
        rows.push(("Settlement", Cow::Borrowed(&claims.sub)));
        rows.push(("Receipt", Cow::Borrowed(&claims.jti)));
        if let Some(before) = &claims.supersedes {
            rows.push(("Replaces", Cow::Borrowed(before)));
        }
        rows.push(("Issuer", Cow::Borrowed(&claims.iss)));
        rows
    }
}

fn status(status: SettlementStatus) -> &'static str {
    match status {
        SettlementStatus::Completed => "Paid",
        SettlementStatus::PartiallyReversed => "Paid, a part of it given back",
        SettlementStatus::Reversed => "Paid and given back in full",
        SettlementStatus::Returned => "Paid and returned by the provider",
        SettlementStatus::Accepted
        | SettlementStatus::Submitted
        | SettlementStatus::Unknown
        | SettlementStatus::Failed
        | SettlementStatus::Cancelled => "Not paid",
    }
}

/// Text of others without what acts on the text around it: control characters, and those that turn the direction of
/// writing. Letters that run from right to left by themselves stay as they are.
fn tame(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
    if text.contains(acts) { Cow::Owned(text.replace(acts, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// Text inside an element or a quoted attribute.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in tame(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
