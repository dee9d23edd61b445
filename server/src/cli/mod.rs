//! The command line: one binary for the server, its clients and its operators.
//!
//! `serve` and `config` read `settings`; the client commands use HTTP like any other client; the
//! operator's commands work on the store itself; `demo` starts its own gateway.

mod audit;
mod bundle;
mod bundles;
mod clients;
mod copy;
mod curl;
mod demo;
mod enroll;
mod events;
mod failure;
mod health;
mod http;
mod keys;
mod log;
mod migrate;
mod nodes;
mod operator;
mod operators;
mod problem;
mod profile;
mod proof;
mod proxy;
mod quality;
mod rails;
mod receipt;
mod reconcile;
mod render;
mod repair;
mod reverse;
mod review;
mod serve;
mod session;
mod settings;
mod settle;
mod setup;
mod show;
mod sim;
#[cfg(feature = "simulation")]
mod simulate;
mod stores;
mod terminal;
mod users;
mod webhooks;

use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use failure::{Done, EXIT_USAGE, Failure};
use http::Wire;
use settings::{ServeArgs, Settings};
use terminal::{Terminal, complain};

const ABOUT: &str = "A payment settlement gateway: one interface to pay, trace, reverse and reconcile";

const EXAMPLES: &str = "\
To try it on its own:
  railgate demo

As a server, and as its client in another terminal:
  railgate serve
  railgate enroll
  railgate settle 10.50 EUR sim:ok --wait 5
  railgate events REF
  railgate reverse REF
  railgate balance

Exit codes: 0 done, 1 the operation failed (the reason is on standard error), 2 wrong usage;
railgate curl: 22 for a response other than 2xx. Each command's --help has examples.";

const SERVE_EXAMPLES: &str = "\
Examples:
  railgate serve
  railgate serve --listen 127.0.0.1:0 --store sqlite:/var/lib/railgate/railgate.db
  railgate serve --store memory: --metrics-listen off --log-level warn

Standard output's first line is `listening on http://HOST:PORT`; the log goes to standard error.
SIGINT and SIGTERM let calls in flight finish.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  railgate config check
  RAILGATE_LISTEN=127.0.0.1:9000 railgate config check --config railgate.toml";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  railgate completions bash > /etc/bash_completion.d/railgate
  railgate completions zsh > ~/.zfunc/_railgate
  railgate completions fish > ~/.config/fish/completions/railgate.fish";

#[derive(Debug, Parser)]
#[command(name = "railgate", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every client command.
#[derive(Debug, Clone, clap::Args)]
struct Global {
    /// The server [default: the profile's, else http://127.0.0.1:8080]
    #[arg(long, global = true, value_name = "URL", env = "RAILGATE_SERVER", hide_env_values = true, help_heading = "Client options")]
    server: Option<String>,
    /// The profile to act as, made by `railgate enroll`
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "RAILGATE_PROFILE",
        hide_env_values = true,
        default_value = "default",
        help_heading = "Client options"
    )]
    profile: String,
    /// Trust the certificates in this PEM file instead of the system's when the server uses https
    #[arg(long, global = true, value_name = "FILE", env = "RAILGATE_CACERT", hide_env_values = true, help_heading = "Client options")]
    cacert: Option<PathBuf>,
    /// Allow sending tokens over http:// to another machine, where anybody on the network can read them
    #[arg(long, global = true, help_heading = "Client options")]
    insecure_http: bool,
    /// Print JSON as the server sent it, instead of tables
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
}

impl Global {
    fn wire(&self) -> Wire {
        Wire { cacert: self.cacert.clone(), insecure_http: self.insecure_http }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Inspect the server's settings
    Config(ConfigArgs),
    Demo(demo::DemoArgs),
    Enroll(enroll::EnrollArgs),
    Settle(settle::SettleArgs),
    Check(settle::CheckArgs),
    Status(show::StatusArgs),
    Events(events::EventsArgs),
    Reverse(reverse::ReverseArgs),
    List(show::ListArgs),
    Balance(show::BalanceArgs),
    Statement(show::StatementArgs),
    Health(health::HealthArgs),
    Receipt(receipt::ReceiptArgs),
    Webhooks(webhooks::WebhooksArgs),
    Users(users::UsersArgs),
    Curl(curl::CurlArgs),
    Proxy(proxy::ProxyArgs),
    Sim(sim::SimArgs),
    Clients(clients::ClientsArgs),
    Operators(operators::OperatorsArgs),
    Providers(setup::ProvidersArgs),
    Routes(setup::RoutesArgs),
    Limits(setup::LimitsArgs),
    Rails(rails::RailsArgs),
    Bundle(bundle::BundleArgs),
    Bundles(bundles::BundlesArgs),
    Review(review::ReviewArgs),
    Reconcile(reconcile::ReconcileArgs),
    Keys(keys::KeysArgs),
    Audit(audit::AuditArgs),
    Ledger(operator::LedgerArgs),
    Log(log::LogArgs),
    Nodes(nodes::NodesArgs),
    Quality(quality::QualityArgs),
    Backup(operator::BackupArgs),
    Migrate(migrate::MigrateArgs),
    Copy(copy::CopyArgs),
    /// Print a shell completion script
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, clap::Args)]
struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the settings that `railgate serve` would use, and where each comes from
    #[command(after_help = CONFIG_EXAMPLES)]
    Check(Box<ServeArgs>),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) | Err(Failure::PipeClosed) => ExitCode::SUCCESS,
        Err(Failure::Stopped(reason)) => {
            complain(&reason);
            ExitCode::from(reason.exit_code())
        }
    }
}

fn run(Cli { global, command }: Cli) -> Done {
    let terminal = &Terminal::detect();
    let global = &global;
    match command {
        Command::Serve(args) => serve(*args),
        Command::Config(ConfigArgs { command: ConfigCommand::Check(args) }) => config_check(*args, global, terminal),
        Command::Demo(args) => demo::run(&args, global, terminal),
        Command::Enroll(args) => wait_for(enroll::run(args, global, terminal)),
        Command::Settle(args) => wait_for(settle::settle(args, global, terminal)),
        Command::Check(args) => wait_for(settle::check(args, global, terminal)),
        Command::Status(args) => wait_for(show::status(args, global, terminal)),
        Command::Events(args) => wait_for(events::run(args, global, terminal)),
        Command::Reverse(args) => wait_for(reverse::run(args, global, terminal)),
        Command::List(args) => wait_for(show::list(args, global, terminal)),
        Command::Balance(args) => wait_for(show::balance(args, global, terminal)),
        Command::Statement(args) => wait_for(show::statement(args, global, terminal)),
        Command::Health(args) => wait_for(health::run(args, global, terminal)),
        Command::Receipt(args) => wait_for(receipt::run(args, global, terminal)),
        Command::Webhooks(args) => wait_for(webhooks::run(args, global, terminal)),
        Command::Users(args) => wait_for(users::run(args, global, terminal)),
        Command::Curl(args) => wait_for(curl::run(args, global, terminal)),
        Command::Proxy(args) => wait_for(proxy::run(args, global, terminal)),
        Command::Sim(args) => wait_for(sim::run(args, global, terminal)),
        Command::Clients(args) => clients::run(args, global, terminal),
        Command::Operators(args) => operators::run(args, global, terminal),
        Command::Providers(args) => setup::providers(args, global, terminal),
        Command::Routes(args) => setup::routes(args, global, terminal),
        Command::Limits(args) => setup::limits(args, global, terminal),
        Command::Rails(args) => rails::run(args, global, terminal),
        Command::Bundle(args) => bundle::run(args, global, terminal),
        Command::Bundles(args) => bundles::run(args, global, terminal),
        Command::Review(args) => review::run(args, global, terminal),
        Command::Reconcile(args) => reconcile::run(args, global, terminal),
        Command::Keys(args) => keys::run(args, global, terminal),
        Command::Audit(args) => audit::run(args, global, terminal),
        Command::Ledger(args) => operator::ledger(args, global, terminal),
        Command::Log(args) => log::run(args, global, terminal),
        Command::Nodes(args) => nodes::run(args, global, terminal),
        Command::Quality(args) => quality::run(args, global, terminal),
        Command::Backup(args) => operator::backup(args, global, terminal),
        Command::Migrate(args) => migrate::run(args, global, terminal),
        Command::Copy(args) => copy::run(args, global, terminal),
        Command::Completions { shell } => completions(shell, terminal),
    }
}

/// Runs a client command, which needs no second thread.
fn wait_for(conversation: impl Future<Output = Done>) -> Done {
    current()?.block_on(conversation)
}

/// A runtime without a second thread.
fn current() -> Done<tokio::runtime::Runtime> {
    runtime(tokio::runtime::Builder::new_current_thread())
}

fn runtime(mut builder: tokio::runtime::Builder) -> Done<tokio::runtime::Runtime> {
    builder.enable_all().build().map_err(|error| Failure::caused("cannot start the runtime", error))
}

fn serve(args: ServeArgs) -> Done {
    let settings = resolve(args)?;
    let served = runtime(tokio::runtime::Builder::new_multi_thread())?.block_on(serve::serve(settings));
    served.map_err(|error| Failure::new(failure::chain(&error)))
}

fn resolve(args: ServeArgs) -> Done<Settings> {
    args.resolve().map_err(|error| {
        let failure = match error.problems.as_slice() {
            [one] => return Failure::usage(one.to_string()).hint("railgate serve --help names every setting"),
            many => Failure::usage(format!("{} settings are wrong", many.len())),
        };
        let failure = error.problems.iter().fold(failure, |failure, problem| failure.detail(problem.to_string()));
        failure.exit(EXIT_USAGE).hint("railgate serve --help names every setting")
    })
}

fn config_check(args: ServeArgs, global: &Global, terminal: &Terminal) -> Done {
    let settings = resolve(args)?;
    if !global.json {
        return terminal.raw(settings.describe().as_bytes());
    }
    let rows =
        settings.rows().map(|(name, value, origin)| serde_json::json!({ "name": name, "value": value, "origin": origin.to_string() }));
    let document = serde_json::json!({ "settings": rows.collect::<Vec<_>>() });
    terminal.json(document.to_string().as_bytes())
}

fn completions(shell: Shell, terminal: &Terminal) -> Done {
    // Into memory first: the generator panics when its output is closed, and a closed pipe is no error.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "railgate", &mut script);
    terminal.raw(&script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_or_commands_below_it() {
        fn check(command: &clap::Command) {
            if command.has_subcommands() {
                command.get_subcommands().for_each(check);
            } else {
                let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(after.starts_with("Examples:"), "{} has no examples", command.get_name());
            }
        }
        check(&Cli::command());
    }
}
