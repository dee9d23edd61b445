//! A receipt for people: a printable page, and plain text.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::Receipt;
use super::sheet::{CHECK, HOW, HOW_WITHOUT_CODE, Heading, Kind, Part, Row, SANDBOX, TITLE, tame};

/// On screen a sheet of paper on a desk; in print only the sheet. Print sizes are absolute, so that it fits on one page of both A4
/// and Letter, which differ by 6 mm in width and 18 mm in height. Text by others stays within its line, no matter how many
/// combining marks are stacked on a letter.
const STYLE: &str = "\
:root{color-scheme:light;--ink:#14181f;--soft:#5a6372;--line:#e2e5ea;--tone:#0a6b4b}\
*{box-sizing:border-box}\
body{margin:0;padding:3rem 1rem;font:16px/1.5 system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;color:var(--ink);background:#eef0f3}\
main{max-width:46rem;margin:0 auto;padding:3rem;background:#fff;border-top:5px solid var(--tone);border-radius:6px;\
box-shadow:0 1px 3px #14181f24,0 12px 32px #14181f14}\
.partly{--tone:#8a5200}.back{--tone:#8f1d2c}\
header{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.25rem 2rem}\
h1{margin:0;font-size:1.125rem;font-weight:650}\
p{margin:0}\
.issuer{color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}\
.sandbox{margin-top:1.25rem;padding:.5rem .875rem;border:1.5px dashed #b42318;border-radius:4px;color:#b42318;font-weight:600}\
.sum{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1.5rem;margin:1.75rem 0 .5rem}\
.amount{font-size:clamp(1.75rem,6.5vw,2.75rem);line-height:1.15;font-weight:680;letter-spacing:-.015em;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}\
.amount span{font-size:.5em;font-weight:600;letter-spacing:.02em;color:var(--soft)}\
.status{padding:.2rem .8rem;border:1.5px solid var(--tone);border-radius:1rem;color:var(--tone);font-size:.875rem;font-weight:650}\
h2{margin:2rem 0 .375rem;font-size:.75rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}\
table{width:100%;border-collapse:collapse;border-top:1px solid var(--line)}\
th,td{padding:.5rem 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:baseline;overflow-wrap:anywhere}\
th{width:9.5rem;padding-inline-end:1rem;font-weight:400;color:var(--soft);overflow-wrap:normal}\
td{font-variant-numeric:tabular-nums}\
td div{overflow:hidden;margin:-.125rem 0;padding:.125rem 0}\
th small{display:block;font-size:.75rem}\
.record{font-size:.875rem}\
.check{display:flex;gap:1.75rem;margin-top:2.5rem;align-items:flex-start}\
.check svg{display:block;width:62mm;max-width:100%;flex:none;margin:-2mm}\
.check div{min-width:0}\
.check h2{margin-top:0}\
.check p{color:var(--soft);font-size:.8125rem}\
.check .jws{margin-top:.75rem;font:9px/1.45 ui-monospace,'SFMono-Regular',Menlo,Consolas,'Noto Sans Mono',monospace;word-break:break-all}\
@media(max-width:40rem){\
body{padding:0;background:#fff}\
main{padding:1.75rem 1.125rem;border-radius:0;box-shadow:none}\
.check{flex-direction:column}\
.check svg{align-self:center}\
th,td{display:block;width:auto;padding:0;border:0}th{padding-top:.5rem;font-size:.8125rem}td{padding-bottom:.5rem;border-bottom:1px solid var(--line)}\
th small{display:inline}}\
@page{margin:14mm 16mm}\
@media print{\
body{padding:0;font-size:10pt;line-height:1.4;background:none}\
main{max-width:none;padding:5mm 0 0;border-radius:0;box-shadow:none;print-color-adjust:exact}\
.amount{font-size:28pt}.sum{margin-top:5mm}h2{margin-top:6mm}\
th,td{padding:1.35mm 0}th{width:38mm}\
.check{margin-top:7mm;flex-direction:row}.check .jws{font-size:5.8pt}\
tr,.sum,.sandbox,.check{break-inside:avoid}h2{break-after:avoid}}";

/// The page's `Content-Security-Policy`: allows its own style, and nothing else.
pub fn content_security_policy() -> String {
    policy_of(STYLE)
}

/// The policy of a page that has this style, and nothing else.
pub(crate) fn policy_of(style: &str) -> String {
    let style = STANDARD.encode(Sha256::digest(style));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

impl Receipt {
    /// A printable page: self-contained, without scripts, and completely escaped.
    pub fn html(&self) -> String {
        let Heading { amount, currency, status, tone, sandbox, issuer } = self.heading();
        let mut out = String::with_capacity(48 * 1_024);
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>Receipt {}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main class=\"{}\">\n\
             <header>\n<h1>{TITLE}</h1>\n<p class=\"issuer\"><bdi>{}</bdi></p>\n</header>\n",
            escape(&tame(&self.claims.reference)),
            tone.as_str(),
            escape(&issuer)
        );
        if sandbox {
            let _ = writeln!(out, "<p class=\"sandbox\">{SANDBOX}</p>");
        }
        let _ = write!(
            out,
            "<div class=\"sum\">\n<p class=\"amount\">{} <span>{}</span></p>\n<p class=\"status\">{status}</p>\n</div>\n",
            escape(&amount),
            escape(currency)
        );
        let rows = self.rows();
        for (part, class) in [(Part::Payment, "payment"), (Part::Record, "record")] {
            let _ = write!(out, "<h2>{}</h2>\n<table class=\"{class}\">\n<tbody>\n", part.title());
            rows.iter().filter(|row| row.part == part).for_each(|row| push_row(&mut out, row));
            out.push_str("</tbody>\n</table>\n");
        }
        // A receipt that is too long for a code is still valid.
        let (svg, how) = self.svg().map_or((String::new(), HOW_WITHOUT_CODE), |svg| (svg, HOW));
        let _ = write!(
            out,
            "<section class=\"check\">\n{svg}\n<div>\n<h2>{CHECK}</h2>\n<p>{how}</p>\n<p class=\"jws\" dir=\"ltr\">{}</p>\n</div>\n\
             </section>\n</main>\n</body>\n</html>\n",
            escape(&self.jws)
        );
        out
    }

    /// Plain text, one item per line, the JWS last.
    pub fn text(&self) -> String {
        let heading = self.heading();
        let mut out = format!("{TITLE}\n");
        if heading.sandbox {
            out.push_str(SANDBOX);
            out.push('\n');
        }
        out.push('\n');
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(out, "{:<16} {value}", format!("{name}:"));
        };
        line("Amount", &format!("{} {}", heading.amount, heading.currency));
        line("Status", heading.status);
        for row in self.rows() {
            line(row.name, &row.value);
        }
        out.push('\n');
        out.push_str(&self.jws);
        out.push('\n');
        out
    }
}

fn push_row(out: &mut String, row: &Row<'_>) {
    let (name, value) = (row.name, escape(&row.value));
    let _ = match row.kind {
        Kind::Plain => writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>"),
        Kind::Code => writeln!(out, "<tr><th scope=\"row\">{name}</th><td><div><bdi>{value}</bdi></div></td></tr>"),
        Kind::Words => {
            writeln!(out, "<tr><th scope=\"row\">{name} <small>not signed</small></th><td><div dir=\"auto\">{value}</div></td></tr>")
        }
    };
}

/// Escapes text for use inside an element or a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
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
