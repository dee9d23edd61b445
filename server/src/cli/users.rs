//! `railgate users`: a client's end users, their limits and their devices.

use clap::{Args, Subcommand};
use comfy_table::{Cell, Table};
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use railgate::api::{
    AmountInput, DeviceCodeBody, DeviceCodeView, DevicesView, UserBody, UserLimitsBody, UserLimitsView, UserView, UsersView,
};
use railgate::store::record::UserStatus;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Ask, encode};
use super::problem::read;
use super::render::{decimal, short_time};
use super::session::{Session, unique_name};
use super::terminal::{Terminal, Tone, note};

const CODE_EXAMPLES: &str = "\
Examples:
  railgate users code customer-17
  railgate users code customer-17 --currency EUR --max 500 --approval-over 100
  railgate users code customer-17 --link 'https://app.example/enroll#{code}' --json

The code is valid for ten minutes and for one device, and replaces the one before it.";

const LIST_EXAMPLES: &str = "\
Examples:
  railgate users list
  railgate users list --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  railgate users show customer-17";

const REVOKE_EXAMPLES: &str = "\
Examples:
  railgate users revoke dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB
      `railgate users show` names the devices of a user.";

const SET_EXAMPLES: &str = "\
Examples:
  railgate users set customer-17 --currency EUR --max 500 --daily-value 1000
      Replaces all limits of the user.
  railgate users set customer-17 --status blocked
      The user's devices are refused, and nobody pays as this user.";

/// Manage your end users: codes for their devices, limits, and the devices themselves
#[derive(Debug, Args)]
pub(crate) struct UsersArgs {
    #[command(subcommand)]
    command: UsersCommand,
}

#[derive(Debug, Subcommand)]
enum UsersCommand {
    /// Make a code with which a device of a user enrols
    #[command(after_help = CODE_EXAMPLES)]
    Code {
        /// Your own name for the user
        #[arg(value_name = "USER")]
        user: String,
        #[command(flatten)]
        limits: LimitArgs,
        /// The address that opens the app, with {code} where the code goes
        #[arg(long, value_name = "URL")]
        link: Option<String>,
    },
    /// List the users
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Start where an earlier page ended
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
    /// Show a user, and their devices
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Your own name for the user
        #[arg(value_name = "USER")]
        user: String,
    },
    /// Change a user's limits, or block them
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// Your own name for the user
        #[arg(value_name = "USER")]
        user: String,
        #[command(flatten)]
        limits: LimitArgs,
        /// Whether the user's devices may call
        #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(UserStatus::ALL.iter().map(|it| it.as_str())))]
        status: Option<String>,
    },
    /// Revoke a device of a user
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke {
        /// The device's id
        #[arg(value_name = "DEVICE")]
        device: String,
    },
}

/// The limits of a user in one currency.
#[derive(Debug, Args)]
struct LimitArgs {
    /// The currency of the limits that follow; they replace all limits of the user
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// The largest payment
    #[arg(long, value_name = "AMOUNT", requires = "currency")]
    max: Option<String>,
    /// The most that the payments of a day (UTC) add up to
    #[arg(long, value_name = "AMOUNT", requires = "currency")]
    daily_value: Option<String>,
    /// The most payments of a day
    #[arg(long, value_name = "NUMBER", requires = "currency")]
    daily_count: Option<u32>,
    /// Payments of more than this wait until the user approves them
    #[arg(long, value_name = "AMOUNT", requires = "currency")]
    approval_over: Option<String>,
}

impl LimitArgs {
    fn body(self) -> Option<Vec<UserLimitsBody>> {
        let Self { currency, max, daily_value, daily_count, approval_over } = self;
        let amount = |text: Option<String>| text.as_deref().map(AmountInput::typed);
        let (max, daily_value, approval_over) = (amount(max), amount(daily_value), amount(approval_over));
        Some(vec![UserLimitsBody { currency: currency?, max, daily_value, daily_count, approval_over }])
    }
}

pub(crate) async fn run(args: UsersArgs, global: &Global, terminal: &Terminal) -> Done {
    let mut session = Session::open(global)?;
    match args.command {
        UsersCommand::Code { user, limits, link } => {
            let body = written(&DeviceCodeBody { user, limits: limits.body(), link })?;
            // Made once: a repeat would not show it.
            let answer = session.call(Ask::post("/mobile/enrollment-codes", body)).await?;
            if global.json {
                return terminal.json(&answer.body);
            }
            let DeviceCodeView { code, link, expires_at, .. } = read(&answer)?;
            terminal.line(code.unwrap_or_default())?;
            terminal.line(link.unwrap_or_default())?;
            note(format_args!("the code is shown only this once, valid for one device, and until {}", short_time(&expires_at)));
            Ok(())
        }
        UsersCommand::List { cursor } => {
            let cursor = cursor.map(|cursor| format!("&cursor={}", encode(&cursor))).unwrap_or_default();
            let answer = session.call(Ask::get(format!("/mobile/users?limit=200{cursor}"))).await?;
            if global.json {
                return terminal.json(&answer.body);
            }
            let UsersView { data, next_cursor, .. } = read(&answer)?;
            terminal.show(&users(terminal, &data))?;
            if let Some(next) = next_cursor {
                note(format_args!("there are more: --cursor {next}"));
            }
            Ok(())
        }
        UsersCommand::Show { user } => {
            let answer = session.call(Ask::get(format!("/mobile/users/{}", encode(&user)))).await?;
            let devices = session.call(Ask::get(format!("/mobile/devices?user={}", encode(&user)))).await?;
            if global.json {
                terminal.json(&answer.body)?;
                return terminal.json(&devices.body);
            }
            terminal.show(&users(terminal, &[read(&answer)?]))?;
            terminal.line("")?;
            terminal.show(&device_table(terminal, &read(&devices)?))
        }
        UsersCommand::Set { user, limits, status } => {
            let body = UserBody { limits: limits.body(), status };
            if body == UserBody::default() {
                return Err(Failure::usage("say what to change: --status, or --currency with limits"));
            }
            let key = HeaderValue::from_str(&unique_name()?).map_err(|error| Failure::usage(error.to_string()))?;
            let ask = Ask::put(format!("/mobile/users/{}", encode(&user)), written(&body)?);
            let answer = session.call(ask.with(HeaderName::from_static("idempotency-key"), key)).await?;
            if global.json { terminal.json(&answer.body) } else { terminal.show(&users(terminal, &[read(&answer)?])) }
        }
        UsersCommand::Revoke { device } => {
            session.call(Ask::new(Method::DELETE, format!("/mobile/devices/{}", encode(&device)))).await?;
            terminal.line(format_args!("{} {device} can no longer call", terminal.paint(Tone::Good, "✓")))
        }
    }
}

fn written(body: &impl serde::Serialize) -> Done<String> {
    serde_json::to_string(body).map_err(|error| Failure::usage(error.to_string()))
}

fn users(terminal: &Terminal, users: &[UserView]) -> Table {
    let mut table = terminal.table(&["user", "status", "limits", "since"]);
    for UserView { user, status, limits, created_at, .. } in users {
        let limits: Vec<String> = limits.iter().map(limit).collect();
        let cells = [user.clone(), status.as_str().to_owned(), limits.join("; "), short_time(created_at)];
        table.add_row(cells.map(Cell::new));
    }
    table
}

fn limit(limits: &UserLimitsView) -> String {
    let UserLimitsView { currency, max, daily_value, daily_count, approval_over } = limits;
    let amount = |name: &str, value: &Option<_>| value.as_ref().map(|value| format!("{name} {}", decimal(value)));
    let parts = [
        amount("at most", max),
        amount("a day", daily_value),
        daily_count.map(|count| format!("{count} a day")),
        amount("asked above", approval_over),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{currency} {}", if parts.is_empty() { "unlimited".to_owned() } else { parts.join(", ") })
}

fn device_table(terminal: &Terminal, DevicesView { data }: &DevicesView) -> Table {
    let mut table = terminal.table(&["device", "name", "platform", "model", "enrolled", "revoked"]);
    for it in data {
        let cells = [
            it.id.clone(),
            it.name.clone().unwrap_or_default(),
            [it.platform.as_str(), it.app_version.as_deref().unwrap_or_default()].join(" ").trim_end().to_owned(),
            it.model.clone().unwrap_or_default(),
            short_time(&it.created_at),
            it.revoked_at.as_deref().map(short_time).unwrap_or_default(),
        ];
        table.add_row(cells.map(Cell::new));
    }
    table
}
