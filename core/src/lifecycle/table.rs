//! The lifecycles as tables for people: the content of `docs/lifecycle.md`, which a test compares with this text.
//!
//! ```
//! let tables = railgate::lifecycle::table::markdown();
//!
//! let paid = tables.lines().find(|line| line.starts_with("| `attempt_completed` |"));
//! assert!(paid.is_some_and(|row| row.starts_with("| `attempt_completed` | **discrepancy** | → completed | → completed |")));
//! ```

use std::fmt::Write as _;

use super::attempt::{self, AnswerKind, AttemptStatus};
use super::bundle::{self, BundleInput, BundleStatus};
use super::reversal::{self, Ask, ReversalStatus, Undo};
use super::review::{self, Resolution};
use super::settlement::{self, SettlementInput, SettlementStatus};

/// A Markdown table for each lifecycle, with every state and every input.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Lifecycles: every state × every input\n\n\
         Generated from the transition functions in `core/src/lifecycle`; a test fails when this page and the code differ.\n\
         `→ state` moves there, `·` changes nothing, **discrepancy** flags the settlement for a person, *refused* is an error to the caller.\n",
    );
    section(
        &mut out,
        "Settlement",
        SettlementStatus::ALL,
        |s| s.as_str(),
        SettlementInput::ALL,
        |i| i.as_str(),
        |&s, &i| match settlement::transition(s, i) {
            settlement::Next::To(to) => format!("→ {}", to.as_str()),
            settlement::Next::Stay => "·".to_owned(),
            settlement::Next::Discrepancy => "**discrepancy**".to_owned(),
            settlement::Next::Refuse => "*refused*".to_owned(),
        },
    );
    section(
        &mut out,
        "Undoing a settlement, by what the client asks back",
        SettlementStatus::ALL,
        |s| s.as_str(),
        Ask::ALL,
        |a| a.as_str(),
        |&s, &a| match reversal::undo(s, a) {
            Undo::Cancel => "→ cancelled".to_owned(),
            Undo::Reverse => "a reversal begins".to_owned(),
            Undo::Refuse(code) => format!("*refused*: `{}`", code.as_str()),
        },
    );
    section(
        &mut out,
        "Attempt, by the rail's answer",
        AttemptStatus::ALL,
        |s| s.as_str(),
        AnswerKind::ALL,
        |a| a.as_str(),
        |&s, &a| match attempt::transition(s, a) {
            attempt::Next::To(to) => format!("→ {}", to.as_str()),
            attempt::Next::Stay => "·".to_owned(),
            attempt::Next::Contradiction => "**contradiction**".to_owned(),
            attempt::Next::Bounced => "bounced".to_owned(),
            attempt::Next::PaidAndBounced => "→ completed, then bounced".to_owned(),
        },
    );
    section(
        &mut out,
        "Reversal, by the rail's answer",
        ReversalStatus::ALL,
        |s| s.as_str(),
        AnswerKind::ALL,
        |a| a.as_str(),
        |&s, &a| match reversal::transition(s, a) {
            reversal::Next::To(to) => format!("→ {}", to.as_str()),
            reversal::Next::Stay => "·".to_owned(),
            reversal::Next::Discrepancy => "**discrepancy**".to_owned(),
        },
    );
    section(
        &mut out,
        "Settlement that needs review, by what a person decides",
        SettlementStatus::ALL,
        |s| s.as_str(),
        Resolution::ALL,
        |r| r.as_str(),
        |&s, &r| resolved(review::settlement(s, r)),
    );
    section(
        &mut out,
        "Reversal that needs review, by what a person decides",
        ReversalStatus::ALL,
        |s| s.as_str(),
        Resolution::ALL,
        |r| r.as_str(),
        |&s, &r| resolved(review::reversal(s, r)),
    );
    section(
        &mut out,
        "Bundle of a partner",
        BundleStatus::ALL,
        |s| s.as_str(),
        BundleInput::ALL,
        |i| i.as_str(),
        |&s, &i| match bundle::transition(s, i) {
            bundle::Next::To(to) => format!("→ {}", to.as_str()),
            bundle::Next::Stay => "stays".to_owned(),
            bundle::Next::Refuse => "*refused*".to_owned(),
        },
    );
    out
}

fn resolved(next: review::Next) -> String {
    let text = match next {
        review::Next::Completed => "→ completed",
        review::Next::Failed => "→ failed",
        review::Next::Cleared => "needs no review any more",
        review::Next::KeepWaiting => "review again in a day",
        review::Next::Refuse => "*refused*",
    };
    text.to_owned()
}

fn section<S, I>(
    out: &mut String,
    title: &str,
    states: &[S],
    state: impl Fn(&S) -> &'static str,
    inputs: &[I],
    input: impl Fn(&I) -> &'static str,
    cell: impl Fn(&S, &I) -> String,
) {
    let _ = write!(out, "\n## {title}\n\n| input \\ state |");
    states.iter().for_each(|s| _ = write!(out, " {} |", state(s)));
    let _ = write!(out, "\n|---|{}\n", "---|".repeat(states.len()));
    for i in inputs {
        let _ = write!(out, "| `{}` |", input(i));
        states.iter().for_each(|s| _ = write!(out, " {} |", cell(s, i)));
        out.push('\n');
    }
}
