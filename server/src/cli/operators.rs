//! `railgate operators`: the people who run the gateway, on the store itself.

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use railgate::api::OperatorView;
use railgate::engine::{ChangeRole, InviteOperator, Operated, RevokeOperator};
use railgate::ids::Ulid;
use railgate::store::record::{OperatorRole, OperatorStatus};

use super::Global;
use super::failure::{Done, Failure};
use super::render::short_time;
use super::stores::StoreArg;
use super::terminal::{Terminal, Tone, note};

const INVITE_EXAMPLES: &str = "\
Examples:
  railgate operators invite Ada --role admin
  railgate operators invite 'Grace H.' --role approver --store sqlite:/var/lib/railgate/railgate.db --json

Prints a code with which the operator enrols a key within seven days:
  railgate enroll --operator CODE --server https://pay.example.com
Roles: a viewer reads; an agent also acts; an approver also confirms what others asked for; an admin also
invites and revokes operators. Operators invited here were invited by nobody: they may confirm each other's acts.";

const LIST_EXAMPLES: &str = "\
Examples:
  railgate operators list
  railgate operators list --json";

const REVOKE_EXAMPLES: &str = "\
Examples:
  railgate operators revoke opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB --reason 'left the company'

All keys and tokens of the operator end. A running server notices within five seconds. What the operator had
asked for and nobody has confirmed yet can no longer be confirmed.";

const ROLE_EXAMPLES: &str = "\
Examples:
  railgate operators role opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB approver --reason promoted";

/// Invite, list and revoke the people who run the gateway
#[derive(Debug, Args)]
pub(crate) struct OperatorsArgs {
    #[command(subcommand)]
    command: OperatorsCommand,
}

#[derive(Debug, Subcommand)]
enum OperatorsCommand {
    /// Invite somebody to be an operator
    #[command(after_help = INVITE_EXAMPLES)]
    Invite {
        /// A name for people
        #[arg(value_name = "NAME")]
        name: String,
        /// What they may do
        #[arg(long, value_enum)]
        role: Role,
        /// Why, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        store: StoreArg,
    },
    /// List the operators
    #[command(after_help = LIST_EXAMPLES)]
    List(StoreArg),
    /// Change what an operator may do
    #[command(after_help = ROLE_EXAMPLES)]
    Role {
        /// The operator's id
        #[arg(value_name = "OPERATOR", value_parser = operator_id)]
        operator: Ulid,
        /// What they may do from now on
        #[arg(value_enum)]
        role: Role,
        /// Why, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        store: StoreArg,
    },
    /// Revoke an operator, or an invitation that was not used
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke {
        /// The operator's id
        #[arg(value_name = "OPERATOR", value_parser = operator_id)]
        operator: Ulid,
        /// Why, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        store: StoreArg,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Role {
    /// Reads everything
    Viewer,
    /// Also acts on clients, money, providers, routes and reviews
    Agent,
    /// Also confirms what others asked for
    Approver,
    /// Also invites and revokes operators
    Admin,
}

impl From<Role> for OperatorRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Agent => Self::Agent,
            Role::Approver => Self::Approver,
            Role::Admin => Self::Admin,
        }
    }
}

/// Parses `opr_` and a ULID.
fn operator_id(text: &str) -> Result<Ulid, String> {
    text.strip_prefix("opr_").and_then(Ulid::parse).ok_or_else(|| "an operator's id is opr_ and 26 letters and digits".to_owned())
}

pub(crate) fn run(args: OperatorsArgs, global: &Global, terminal: &Terminal) -> Done {
    match args.command {
        OperatorsCommand::Invite { name, role, reason, store } => {
            let engine = store.place()?.engine(None)?;
            let invited = engine.run(Operated(InviteOperator { name, role: role.into(), by: None, reason }))?;
            let view = engine.operator_view(&invited.operator)?;
            if global.json {
                return terminal.json(serde_json::json!({ "operator": view, "code": invited.code }).to_string().as_bytes());
            }
            terminal.line(&invited.code)?;
            let until = view.expires_at.as_deref().map(short_time).unwrap_or_default();
            note(format_args!(
                "{} ({}), {}; the code is shown only this once and valid until {until}",
                view.id,
                view.name,
                view.role.as_str()
            ));
            Ok(())
        }
        OperatorsCommand::List(store) => list(&store.place()?.engine(None)?.operators()?.data, global, terminal),
        OperatorsCommand::Role { operator, role, reason, store } => {
            let engine = store.place()?.engine(None)?;
            let act = ChangeRole { operator, role: role.into(), by: None, reason };
            let changed = engine.run(Operated(act)).map_err(unknown)?;
            done(&engine.operator_view(&changed)?, &format!("is {} now", changed.role.as_str()), global, terminal)
        }
        OperatorsCommand::Revoke { operator, reason, store } => {
            let engine = store.place()?.engine(None)?;
            let revoked = engine.run(Operated(RevokeOperator { operator, by: None, reason })).map_err(unknown)?;
            done(&engine.operator_view(&revoked)?, "revoked", global, terminal)
        }
    }
}

fn unknown(error: railgate::Error) -> Failure {
    Failure::from(error).hint("list the operators: railgate operators list")
}

fn done(view: &OperatorView, what: &str, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return terminal.json(serde_json::json!({ "operator": view }).to_string().as_bytes());
    }
    terminal.line(format_args!("{} {} ({}) {what}", terminal.paint(Tone::Good, "✓"), view.id, view.name))
}

fn list(operators: &[OperatorView], global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        return terminal.json(serde_json::json!({ "data": operators }).to_string().as_bytes());
    }
    if operators.is_empty() {
        return terminal.line(terminal.paint(Tone::Dim, "No operators. Invite one: railgate operators invite NAME --role admin"));
    }
    let mut table = terminal.table(&["operator", "name", "role", "status", "invited by", "since"]);
    for it in operators {
        let tone = match it.status {
            OperatorStatus::Active => Tone::Good,
            OperatorStatus::Invited => Tone::Warn,
            OperatorStatus::Revoked => Tone::Dim,
        };
        table.add_row(vec![
            Tone::Strong.cell(&it.id),
            Cell::new(&it.name),
            Cell::new(it.role.as_str()),
            tone.cell(it.status.as_str()),
            Cell::new(it.invited_by.as_deref().unwrap_or("the command line")),
            Cell::new(short_time(it.enrolled_at.as_deref().unwrap_or(&it.created_at))),
        ]);
    }
    terminal.show(&table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_its_name() {
        let names = Role::value_variants().iter().filter_map(|it| it.to_possible_value()).map(|it| it.get_name().to_owned());
        assert_eq!(names.collect::<Vec<_>>(), OperatorRole::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    }
}
