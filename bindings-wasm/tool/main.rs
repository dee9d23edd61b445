//! `wasm-tool MODULE.wasm FOLDER NAME`: writes FOLDER/NAME.js, its types and FOLDER/NAME_bg.wasm for a module from the compiler.
//! It is wasm-bindgen's generator, pinned by the lock file like the library, whose version must match.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [module, folder, name] = args.as_slice() else { return complain("usage: wasm-tool MODULE.wasm FOLDER NAME") };
    generate(module, folder, name).map_or_else(|error| complain(&format!("{error:?}")), |()| ExitCode::SUCCESS)
}

fn generate(module: &str, folder: &str, name: &str) -> Result<(), anyhow::Error> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        // Otherwise bundlers find the module's path and ship it a second time.
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .typescript(true)
        .out_name(name)
        .generate(folder)
}

#[allow(clippy::print_stderr, reason = "a program says on this channel why it failed")]
fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
