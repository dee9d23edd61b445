//! What apps can name in Kotlin, Swift and Python: types, members and their types, as text beside this file. Whatever is gone or
//! different from there breaks an app; `RAILGATE_BLESS=1` writes the text again, for a review of the difference.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[allow(dead_code, reason = "the tests of the packages need the rest")]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use support::generated;

const OWN: &str = env!("CARGO_MANIFEST_DIR");

/// How declarations look in a language.
struct Language {
    name: &'static str,
    /// What the generator writes, and where what is written by hand is.
    generated: &'static str,
    by_hand: &'static str,
    extension: &'static str,
    /// How a line with a public type, or something else outside of types, begins.
    outer: &'static [&'static str],
    /// How one with a member begins, which is indented once.
    inner: &'static [&'static str],
}

const KOTLIN: Language = Language {
    name: "kotlin",
    generated: "dev/railgate/railgate.kt",
    by_hand: "kotlin/src/main/kotlin/dev/railgate",
    extension: "kt",
    outer: &[
        "public ",
        "interface ",
        "fun interface ",
        "class ",
        "open class ",
        "data class ",
        "enum class ",
        "sealed class ",
        "sealed interface ",
        "object ",
        "fun ",
        "suspend fun ",
        "val ",
        "typealias ",
    ],
    inner: &["public ", "fun ", "suspend fun ", "val ", "var ", "class ", "data class ", "object ", "constructor(", "abstract "],
};

const SWIFT: Language = Language {
    name: "swift",
    generated: "Railgate.swift",
    by_hand: "swift/Sources/Railgate",
    extension: "swift",
    outer: &["public ", "open "],
    inner: &["public ", "open ", "case ", "func ", "var "],
};

const PYTHON: Language = Language {
    name: "python",
    generated: "railgate.py",
    by_hand: "python/src/railgate",
    extension: "py",
    outer: &["class ", "def ", "async def "],
    inner: &["def ", "async def ", "class "],
};

/// What generated code has for itself: parts of names.
const INTERNAL: [&str; 27] = [
    "uniffi",
    "rustbuffer",
    "ffi",
    "foreignbytes",
    "internalexception",
    "internalerror",
    "nohandle",
    "disposable",
    "lift(",
    "lower(",
    "read(buf",
    "read(from",
    "write(",
    "check_lower",
    "def _",
    "class _",
    "allocationsize",
    "destroy(",
    "contractversion",
    "callstatus",
    "handle:",
    "rust_buffer",
    "hash(into",
    "func ==",
    "hashcode",
    "tostring",
    "errordescription",
];

impl Language {
    /// The declarations in a source: of types, and of their members.
    fn declarations(&self, source: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut of: Option<String> = None;
        for line in source.lines() {
            let (text, indent) = (line.trim_start(), line.len() - line.trim_start().len());
            let text = text.split(" // ").next().unwrap().trim_end_matches(['{', ' ', ':']).trim_end();
            let internal = INTERNAL.iter().any(|part| text.to_lowercase().contains(part)) && !text.contains("__init__");
            let begins = |with: &[&str]| with.iter().any(|start| text.starts_with(start));
            match indent {
                0 if begins(self.outer) => {
                    of = (!internal).then(|| text.to_owned());
                    found.extend(of.clone());
                }
                // The end of a declaration begins with a bracket.
                0 if text.starts_with(char::is_alphanumeric) => of = None,
                4 if of.is_some() && !internal && (begins(self.inner) || self.is_constant(text)) => found.push(format!("    {text}")),
                _ => {}
            }
        }
        found
    }

    /// A constant of an enumeration; in Swift, these are cases.
    fn is_constant(&self, text: &str) -> bool {
        let name: String = text.chars().take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_').collect();
        self.name != "swift" && name.len() > 1 && text[name.len()..].trim_start().starts_with(['=', ',', ';', '('])
            || text == name && !name.is_empty()
    }

    fn surface(&self) -> String {
        let made = generated(self.name);
        let mut sources = vec![made.join(self.generated)];
        let by_hand = std::fs::read_dir(Path::new(OWN).join(self.by_hand)).unwrap().map(|entry| entry.unwrap().path());
        let mut by_hand: Vec<PathBuf> = by_hand.filter(|path| path.extension().is_some_and(|end| end == self.extension)).collect();
        by_hand.sort();
        // Modules whose name begins with a line are internal, whatever is in them.
        sources.extend(by_hand.into_iter().filter(|path| !path.file_name().unwrap().to_str().unwrap().starts_with('_')));
        let all = sources.iter().flat_map(|path| self.declarations(&std::fs::read_to_string(path).unwrap()));
        all.fold(String::new(), |text, line| text + &line + "\n")
    }

    fn holds(&self) {
        let file = format!("{OWN}/tests/surface/{}.txt", self.name);
        let now = self.surface();
        if std::env::var_os("RAILGATE_BLESS").is_some() {
            std::fs::write(&file, &now).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap();
        let gone: Vec<_> = qualified(&kept).difference(&qualified(&now)).cloned().collect();
        let new: Vec<_> = qualified(&now).difference(&qualified(&kept)).cloned().collect();
        let bless = "RAILGATE_BLESS=1 cargo test --workspace --locked --test surface";
        assert!(gone.is_empty(), "gone or different in {}, which breaks apps; if it is meant, {bless}: {gone:#?}, now {new:#?}", self.name);
        assert!(kept == now, "new or elsewhere in {}: {bless}, and look at the difference: {new:#?}", self.name);
        assert!(kept.lines().count() > 500 && kept.contains("GatewayClient"), "the surface of {} is not found", self.name);
    }
}

/// Each declaration, members with that of their type.
fn qualified(surface: &str) -> BTreeSet<String> {
    let mut of = "";
    let of_each = surface.lines().map(|line| {
        of = if line.starts_with(' ') { of } else { line };
        if line == of { line.to_owned() } else { format!("{of} … {}", line.trim_start()) }
    });
    of_each.collect()
}

#[test]
fn of_kotlin() {
    KOTLIN.holds();
}

#[test]
fn of_swift() {
    SWIFT.holds();
}

#[test]
fn of_python() {
    PYTHON.holds();
}
