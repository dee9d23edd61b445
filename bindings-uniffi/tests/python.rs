//! The Python package as shipped: built into a wheel, installed, and tested by pytest against a real gateway.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::path::PathBuf;
use std::process::Command;

use railgate_tests::binary::Server;
use railgate_tests::interop::run;
use railgate_tests::stage::Stage;
use support::{command, package, scratch};

/// A virtual environment with exactly what the tests need, made once.
fn own_python() -> PathBuf {
    let wanted = concat!(env!("CARGO_MANIFEST_DIR"), "/python/requirements.txt");
    let venv = scratch().of("venv");
    let (python, made_from) = (venv.join("bin/python"), venv.join("made-from"));
    if std::fs::read(&made_from).ok() != Some(std::fs::read(wanted).unwrap()) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv)).unwrap_or_else(|error| panic!("{error}"));
        let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--require-hashes", "--requirement", wanted];
        run(command(&python).args(pip)).unwrap_or_else(|error| panic!("{error}"));
        std::fs::copy(wanted, &made_from).unwrap();
    }
    python
}

#[test]
fn the_wheel_passes_its_tests() {
    let _alone = scratch().locked("python");
    let python = own_python();
    let made = package("python", &[("PYTHON", &python)]);
    let wheel = std::fs::read_dir(made.join("dist")).unwrap().next().unwrap().unwrap().path();
    let name = wheel.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("railgate-0.1.0-py3-none-") && name.ends_with(".whl"), "{name}");
    let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index", "--force-reinstall"];
    run(command(&python).args(pip).arg(&wheel)).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &[]);
    let url = format!("http://{}", server.address);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/python/examples/settle.py");
    let printed = run(command(&python).arg(example).arg(&url)).unwrap_or_else(|error| panic!("{error}"));
    assert!(printed.ends_with("receipt 25.00 EUR completed\n"), "{printed}");

    let (inviting, invitation) = Server::inviting(&folder.path().join("inviting.db"));
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/python/tests");
    let mut pytest = command(&python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", tests]).env("RAILGATE_TEST_URL", url);
    pytest.env("RAILGATE_TEST_INVITING", format!("http://{}", inviting.address)).env("RAILGATE_TEST_INVITATION", invitation);
    let stage = Stage::set(&[]);
    let printed = run(stage.show(&mut pytest).env("PYTHONDONTWRITEBYTECODE", "1")).unwrap_or_else(|error| panic!("{error}"));
    println!("{printed}");
    assert!(printed.contains(" passed") && !printed.contains("skipped"), "{printed}");
    stage.assert_played();
}
