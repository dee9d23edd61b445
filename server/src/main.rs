//! The binary `railgate`. All of its code is in the library, where it can be tested.

use std::process::ExitCode;

fn main() -> ExitCode {
    railgate_server::cli::main()
}
