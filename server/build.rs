//! Compresses what the server embeds: the fonts of receipts, the OpenAPI document as the tests have seen it, and the browser sites that
//! `scripts/web.sh` left in `web/dist`, compressed already; none of those if it has not run.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const BUILT: &str = "web/dist";
const COMPRESSED: &str = "br";
const FONTS: &str = "src/pdf/fonts";
const DOCUMENT: &str = "tests/http/snapshots/http__document__the_document_as_a_whole.snap";

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("cargo sets {name}")));
    let (here, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    for path in [BUILT, FONTS, DOCUMENT] {
        println!("cargo::rerun-if-changed={path}");
    }
    embed_sites(&here.join(BUILT), &out, has("CONSOLE"))?;
    if has("PDF") {
        for font in fs::read_dir(here.join(FONTS))? {
            let font = font?.path();
            if font.extension().is_some_and(|ending| ending == "ttf") {
                pack(&fs::read(&font)?, &out, &font.file_name().unwrap_or_default().to_string_lossy())?;
            }
        }
    }
    // A snapshot is some lines about itself, and then JSON in lines whose indentation nobody needs.
    let snapshot = fs::read_to_string(here.join(DOCUMENT))?;
    let (_, written) = snapshot.split_once("\n---\n").ok_or_else(|| io::Error::other("the snapshot of the document has no beginning"))?;
    pack(written.lines().map(str::trim_start).collect::<String>().as_bytes(), &out, "openapi.json")
}

/// Writes `NAME.deflate`, which `packed.rs` reads.
fn pack(bytes: &[u8], out: &Path, name: &str) -> io::Result<()> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(out.join(format!("{name}.deflate")), encoder.finish()?)
}

fn embed_sites(root: &Path, out: &Path, are_wanted: bool) -> io::Result<()> {
    let mut found = Vec::new();
    if are_wanted && root.is_dir() {
        collect(root, &mut found)?;
    }
    found.sort();
    let mut code = String::from("&[\n");
    for path in found {
        let name = path.strip_prefix(root).map_err(io::Error::other)?.with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
    }
    code.push_str("]\n");
    fs::write(out.join("site_files.rs"), code)
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
