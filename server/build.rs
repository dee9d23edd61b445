//! Embeds the browser sites that `scripts/web.sh` left in `web/dist`, compressed; none if it has not run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const BUILT: &str = "web/dist";
const COMPRESSED: &str = "br";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={BUILT}");
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("cargo sets {name}")));
    let root = variable("CARGO_MANIFEST_DIR")?.join(BUILT);
    let mut found = Vec::new();
    if env::var_os("CARGO_FEATURE_CONSOLE").is_some() && root.is_dir() {
        collect(&root, &mut found)?;
    }
    found.sort();
    let mut code = String::from("&[\n");
    for path in found {
        let name = path.strip_prefix(&root).map_err(io::Error::other)?.with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
    }
    code.push_str("]\n");
    fs::write(variable("OUT_DIR")?.join("site_files.rs"), code)
}

/// All compressed files below `folder`.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == COMPRESSED) {
            found.push(path);
        }
    }
    Ok(())
}
