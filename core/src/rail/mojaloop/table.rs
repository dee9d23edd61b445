//! What each answer of a scheme adapter means, as tables for people: the end of `docs/rails/mojaloop.md`, which a test compares with
//! this text.
//!
//! ```
//! let tables = railgate::rail::mojaloop::table::markdown();
//!
//! assert!(tables.contains("| `3204` | the payee is not known | `recipient_not_found` | yes | before the quote is accepted |"));
//! ```

use std::fmt::Write as _;

use super::answer::{Objection, State, Step, TransferState, Turn, of_scheme, turn};
use super::codes::{self, CODES};
use crate::rail::RailAnswer;

/// The tables in Markdown.
pub fn markdown() -> String {
    let mut out = String::from("## What the adapter's `currentState` means\n\nBy what it was asked last.\n\n| |");
    let columns = |out: &mut String, count: usize| out.push_str(&format!("\n|{}\n", "---|".repeat(count)));
    Step::ALL.iter().for_each(|step| out.push_str(&format!(" {} |", step.as_str())));
    columns(&mut out, Step::ALL.len() + 1);
    for state in State::ALL {
        out.push_str(&format!("| `{}` |", state.as_str()));
        Step::ALL.iter().for_each(|step| out.push_str(&format!(" {} |", words(turn(*step, *state)))));
        out.push('\n');
    }
    out.push_str(
        "\nAn inquiry reads the scheme's state if it says `COMPLETED`, is *declined* at `ABORTED`, *unknown* at `ERROR_OCCURRED`, and ",
    );
    out.push_str(
        "*not sent* if the adapter\nstill waits. The error `3208` is *not sent* too. Both count only with `not_found_is_proof`.\n",
    );
    out.push_str("\n## What the scheme's `transferState` means\n\n| state | answer |");
    columns(&mut out, 2);
    for state in TransferState::ALL {
        let _ = writeln!(out, "| `{}` | {} |", state.as_str(), kind(&of_scheme(*state, "")));
    }
    out.push_str("\n## What the gateway does not accept\n\nAnother provider may be tried.\n\n| rail code | failure |");
    columns(&mut out, 2);
    for objection in Objection::ALL {
        let _ = writeln!(out, "| `{}` | `{}` |", objection.as_str(), objection.failure().as_str());
    }
    out.push_str("\n## What the scheme's error codes mean\n\nWhere a code is no proof, the payment is *unknown*. ");
    out.push_str(
        "An error without a code counts as `2004` if its status is 504,\nand otherwise as any other; its rail code is `http_504`.\n",
    );
    out.push_str("\n| code | meaning | failure | another provider | proof that nothing is paid |");
    columns(&mut out, 5);
    for codes::Meaning { code, name, failure, elsewhere_ok, proof } in CODES {
        let (code, elsewhere) = (format!("{code:x<4}"), if *elsewhere_ok { "yes" } else { "no" });
        let _ = writeln!(out, "| `{code}` | {name} | `{}` | {elsewhere} | {} |", failure.as_str(), proof.as_str());
    }
    out
}

const fn words(turn: Turn) -> &'static str {
    match turn {
        Turn::AcceptParty => "→ accept party",
        Turn::JudgeQuote => "→ accept quote, or refuse it",
        Turn::RefuseConversion => "→ refuse conversion",
        Turn::AsTransferred => "as the scheme's state",
        Turn::Refused => "*declined*",
        Turn::AsCoded => "as the error's code",
        Turn::Unknown => "*unknown*",
    }
}

fn kind(answer: &RailAnswer) -> String {
    format!("*{}*", answer.kind().as_str().replace('_', " "))
}
