//! Runs the target that `RAILGATE_FUZZ` names under libFuzzer.
#![no_main]

#[path = "../../src/fuzz.rs"]
mod fuzz;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var("RAILGATE_FUZZ").expect("RAILGATE_FUZZ names a target");
    fuzz::TARGETS.iter().find(|(other, _)| *other == name).expect("there is a target of this name").1
});

fuzz_target!(|input: &[u8]| {
    TARGET(input);
});
