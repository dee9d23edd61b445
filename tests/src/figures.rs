//! What benchmarks measured, for `./bench`: it compares each figure with the last recorded one.

use std::fs::OpenOptions;
use std::io::Write as _;

/// Adds a figure to the file that `RAILGATE_FIGURES` names, if it names one.
pub fn figure(name: &str, value: f64) {
    let Some(path) = std::env::var_os("RAILGATE_FIGURES") else { return };
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("the file of figures");
    writeln!(file, "{name}\t{value:.1}").expect("a figure is written");
}
