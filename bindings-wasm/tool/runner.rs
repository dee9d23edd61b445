//! Runs a module's tests in a browser, as cargo's runner for the target: wasm-bindgen's runner, pinned by the lock file.

fn main() -> Result<(), anyhow::Error> {
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os())
}
