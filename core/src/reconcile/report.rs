//! A reconciliation as a printable page: self-contained, without scripts, and completely escaped.

use crate::api::{ReconciliationView, StatementFindingView};
use crate::receipt::{escape, tame};
use crate::store::record::FindingKind;

const STYLE: &str = "\
    body{font:14px/1.45 system-ui,sans-serif;color:#1b1f24;background:#fff;margin:2rem auto;max-width:72rem;padding:0 1rem}\
    h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.25rem 0}\
    table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #d5d9de}\
    thead th{border-bottom:2px solid #1b1f24}tbody.facts th{width:14rem;font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}\
    td small{color:#57606a;display:block;overflow-wrap:anywhere}.waits{font-weight:600}\
    @media print{body{margin:0;max-width:none;font-size:11px}thead{display:table-header-group}tr{break-inside:avoid}}";

/// The page's beginning: what was compared, and how it ended. One [`html_row`] for each finding follows, then [`HTML_END`].
pub fn html_begin(run: &ReconciliationView) -> String {
    let text = |text: &str| escape(&tame(text));
    let time = |at: &Option<String>| at.as_deref().unwrap_or("–").to_owned();
    let facts = [
        ("File", format!("<bdi>{}</bdi> ({})", text(&run.file), run.format.as_str())),
        ("SHA-256", format!("<bdi>{}</bdi>", run.sha256)),
        ("Period", format!("{} to {}", time(&run.period_from), time(&run.period_to))),
        ("Compared", format!("{}, {}", time(&run.finished_at), run.status.as_str())),
        ("Lines", format!("{} compared, {} do not count", run.lines, run.skipped)),
        (
            "Matched",
            format!(
                "{} by the provider’s reference, {} by the gateway’s key, {} by amount and date",
                run.matched.rail_reference, run.matched.rail_key, run.matched.amount
            ),
        ),
        ("Missing here", run.missing_here.to_string()),
        ("Missing there", run.missing_there.to_string()),
        ("Amount differs", run.amount_differs.to_string()),
        ("Duplicate there", run.duplicate_there.to_string()),
    ];
    let facts: String = facts.iter().map(|(name, value)| format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Reconciliation {provider}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>Reconciliation: {provider}</h1>\n<p>{id}</p>\n<table>\n<tbody class=\"facts\">\n\
         {facts}</tbody>\n</table>\n<h2>Findings</h2>\n<table>\n<thead><tr><th>No.</th><th>Finding</th><th>Here</th><th>There</th>\
         <th>Connected by</th></tr></thead>\n<tbody>\n",
        provider = text(&run.provider),
        id = run.id,
    )
}

/// A finding as a row of the page.
pub fn html_row(finding: &StatementFindingView) -> String {
    let text = |text: &str| format!("<bdi>{}</bdi>", escape(&tame(text)));
    let small = |parts: Vec<String>| parts.into_iter().map(|part| format!("<small>{part}</small>")).collect::<String>();
    let here = match (&finding.amount, &finding.currency) {
        (Some(amount), Some(currency)) => {
            let status = finding.status.map_or("", |status| status.as_str());
            let what = finding.reversal.map_or_else(String::new, |n| format!(", reversal {n}"));
            let reference = finding.reference.as_deref().map(&text).unwrap_or_default();
            let id = finding.settlement_id.clone().unwrap_or_default();
            format!("{} {currency}, {status}{what}{}", amount.as_str(), small(vec![reference, id]))
        }
        (_, _) => "–".to_owned(),
    };
    let there = finding.line.as_ref().map_or_else(
        || "–".to_owned(),
        |line| {
            let mut parts = vec![format!("line {}, {}, {}", line.line, line.booked_at, line.direction.as_str())];
            parts.extend(line.references.iter().map(|it| text(it)));
            parts.extend([&line.participant, &line.text].into_iter().flatten().map(|it| text(it)));
            format!("{} {}{}", line.amount.as_str(), line.currency, small(parts))
        },
    );
    let waits = if finding.waits { "<small class=\"waits\">waits for a person</small>" } else { "" };
    let by = finding.matched_by.map_or_else(|| "–".to_owned(), |by| format!("{}, {} %", by.as_str().replace('_', " "), finding.confidence));
    format!(
        "<tr><td class=\"n\">{}</td><td>{}{waits}</td><td>{here}</td><td>{there}</td><td>{by}</td></tr>\n",
        finding.n,
        words(finding.kind)
    )
}

/// The page's end.
pub const HTML_END: &str = "</tbody>\n</table>\n</body>\n</html>\n";

/// A finding in words.
const fn words(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::MissingHere => "missing here",
        FindingKind::MissingThere => "missing there",
        FindingKind::AmountDiffers => "amount differs",
        FindingKind::DuplicateThere => "duplicate there",
    }
}

/// The header of [`csv_cells`].
pub const CSV_HEADER: [&str; 20] = [
    "n",
    "kind",
    "settlement_id",
    "reversal",
    "reference",
    "client_id",
    "status",
    "amount",
    "currency",
    "matched_by",
    "confidence",
    "waits",
    "line",
    "line_direction",
    "line_amount",
    "line_currency",
    "line_booked_at",
    "line_references",
    "line_participant",
    "line_text",
];

/// A finding as a row of a table, in the order of [`CSV_HEADER`]. A missing value is empty; several references are apart by a space.
pub fn csv_cells(finding: &StatementFindingView) -> [String; 20] {
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let line = finding.line.as_ref();
    let of_line = |get: &dyn Fn(&crate::api::StatementLineView) -> String| line.map(get).unwrap_or_default();
    [
        finding.n.to_string(),
        finding.kind.as_str().to_owned(),
        some(&finding.settlement_id),
        finding.reversal.map(|n| n.to_string()).unwrap_or_default(),
        some(&finding.reference),
        some(&finding.client_id),
        finding.status.map(|it| it.as_str().to_owned()).unwrap_or_default(),
        finding.amount.as_ref().map(|it| it.as_str().to_owned()).unwrap_or_default(),
        some(&finding.currency),
        finding.matched_by.map(|it| it.as_str().to_owned()).unwrap_or_default(),
        finding.confidence.to_string(),
        finding.waits.to_string(),
        of_line(&|it| it.line.to_string()),
        of_line(&|it| it.direction.as_str().to_owned()),
        of_line(&|it| it.amount.as_str().to_owned()),
        of_line(&|it| it.currency.clone()),
        of_line(&|it| it.booked_at.clone()),
        of_line(&|it| it.references.join(" ")),
        of_line(&|it| some(&it.participant)),
        of_line(&|it| some(&it.text)),
    ]
}

/// The page's `Content-Security-Policy`: allows its own style, and nothing else.
pub fn content_security_policy() -> String {
    crate::receipt::policy_of(STYLE)
}
