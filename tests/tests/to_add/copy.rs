//! A copy of the workspace, changed as the additions say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::additions::Edit;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// What cargo needs to build it.
const FILES: [&str; 3] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];
const CRATES: [&str; 6] = ["core", "server", "tests", "bindings-wasm", "bindings-wasm/tool", "bindings-uniffi"];
const PARTS: [&str; 6] = ["Cargo.toml", "build.rs", "src", "tests", "benches", "examples"];

/// The text of a file of the repository.
pub(super) fn text(file: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Files by their paths from the root.
pub(super) struct Workspace(BTreeMap<PathBuf, Vec<u8>>);

impl Workspace {
    /// The workspace as it is.
    pub(super) fn new() -> Self {
        let mut copy = Self(BTreeMap::new());
        for file in FILES {
            copy.take(Path::new(file));
        }
        for (member, part) in CRATES.iter().flat_map(|member| PARTS.map(|part| (member, part))) {
            copy.take(&Path::new(member).join(part));
        }
        copy.rename_version();
        copy
    }

    fn take(&mut self, path: &Path) {
        let from = Path::new(ROOT).join(path);
        if from.is_dir() {
            for entry in fs::read_dir(from).unwrap() {
                self.take(&path.join(entry.unwrap().file_name()));
            }
        } else if from.is_file() {
            self.0.insert(path.to_owned(), fs::read(from).unwrap());
        }
    }

    /// Gives its crates a version of their own: cargo tells crates of two workspaces apart by that alone, and would otherwise take
    /// one for the other where both are built in one target folder.
    fn rename_version(&mut self) {
        let manifest: String = self.read("Cargo.toml");
        let version = manifest.split("version = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
        let (old, new) = (format!("version = \"{version}\""), format!("version = \"{version}-added\""));
        self.write("Cargo.toml", manifest.replacen(&old, &new, 1));
        let packages = self.read("Cargo.lock");
        let packages = packages.split("\n\n").map(|package| match package.contains("name = \"railgate") {
            true => package.replacen(&old, &new, 1),
            false => package.to_owned(),
        });
        self.write("Cargo.lock", packages.collect::<Vec<_>>().join("\n\n"));
    }

    fn read(&self, file: &str) -> String {
        let bytes = self.0.get(Path::new(file)).unwrap_or_else(|| panic!("there is no {file}"));
        String::from_utf8(bytes.clone()).unwrap()
    }

    fn write(&mut self, file: &str, text: String) {
        self.0.insert(file.into(), text.into_bytes());
    }

    /// Changes a file.
    pub(super) fn apply(&mut self, edit: &Edit) {
        let text = match *edit {
            Edit::New { file, text } => {
                assert!(!self.0.contains_key(Path::new(file)), "{file} is there already");
                text.to_owned()
            }
            Edit::Before { file, at, text } => self.around(file, at, |at| [text, at].concat()),
            Edit::After { file, at, text } => self.around(file, at, |at| [at, text].concat()),
            Edit::Last { file, of, text } => {
                let (before, after) = self.split(file, of);
                let (items, rest) = after.split_at(closing(&after));
                let comma = if items.starts_with('{') || items.trim_end().ends_with([',', '[']) { "" } else { ", " };
                [&before, of, items, comma, text, rest].concat()
            }
        };
        self.write(edit.file(), text);
    }

    fn around(&self, file: &str, at: &str, change: impl Fn(&str) -> String) -> String {
        let (before, after) = self.split(file, at);
        [before, change(at), after].concat()
    }

    /// A file before and after a text that is in it once.
    fn split(&self, file: &str, at: &str) -> (String, String) {
        let text = self.read(file);
        let parts: Vec<&str> = text.split(at).collect();
        let [before, after] = parts[..] else { panic!("{file} has {at:?} {} times and not once", parts.len() - 1) };
        (before.to_owned(), after.to_owned())
    }

    /// Makes the folder hold these files and no others. What is there already is not touched, so that it is not built again.
    pub(super) fn lay_out(&self, folder: &Path) {
        remove_others(folder, folder, &self.0);
        for (path, bytes) in &self.0 {
            let path = folder.join(path);
            if fs::read(&path).ok().as_ref() != Some(bytes) {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, bytes).unwrap();
            }
        }
    }
}

fn remove_others(root: &Path, folder: &Path, wanted: &BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            remove_others(root, &path, wanted);
        } else if !wanted.contains_key(path.strip_prefix(root).unwrap()) {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Where the first bracket of a text, which may be of any kind, is closed.
fn closing(text: &str) -> usize {
    let open = text.find(['[', '{', '(']).unwrap();
    let (open, close) = match text.as_bytes()[open] {
        b'[' => ('[', ']'),
        b'{' => ('{', '}'),
        _ => ('(', ')'),
    };
    let mut depth = 0;
    let closes = |letter: char| {
        depth += i32::from(letter == open) - i32::from(letter == close);
        letter == close && depth == 0
    };
    text.find(closes).unwrap_or_else(|| panic!("{open} is not closed"))
}
