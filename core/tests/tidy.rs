//! Rules for the repository as a whole: the map of the code matches the tree, every public module shows how it is used, and nothing
//! names an address that the project does not own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The sources of the crates whose modules must be on the map.
const SOURCES: [&str; 4] = ["core/src", "server/src", "bindings-wasm/src", "bindings-uniffi/src"];

/// Every file below `folder`, relative to the root.
fn files(folder: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => open.push(path),
                false => found.push(path.into_os_string().into_string().unwrap()),
            }
        }
    }
    found
}

/// The paths named by the map of the code, with `{a,b}` expanded, and names without a folder completed by the path before them.
fn mapped() -> BTreeSet<String> {
    let guide = fs::read_to_string(Path::new(ROOT).join("CONTRIBUTING.md")).unwrap();
    let map = guide.split("\n## Code map\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut paths = BTreeSet::new();
    for row in map.lines().filter(|line| line.starts_with('|')) {
        let mut folder = String::new();
        // Every second piece between backticks is code.
        for code in row.rsplit_once(" | ").map_or("", |(_, cell)| cell).split('`').skip(1).step_by(2) {
            if !code.contains('/') && !code.contains('.') {
                continue;
            }
            let whole = if code.contains('/') { code.to_owned() } else { format!("{folder}/{code}") };
            folder = whole.trim_end_matches('/').rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned());
            match whole.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
                Some((before, (names, after))) => paths.extend(names.split(',').map(|name| format!("{before}{name}{after}"))),
                None => drop(paths.insert(whole)),
            }
        }
    }
    paths
}

#[test]
fn the_map_names_every_module_and_only_what_there_is() {
    let paths = mapped();
    assert!(paths.len() > 50, "the map cannot be read: {paths:?}");
    let missing: Vec<_> = paths.iter().filter(|path| !Path::new(ROOT).join(path).exists()).collect();
    assert!(missing.is_empty(), "on the map and not in the tree: {missing:#?}");
    let too_wide: Vec<_> = SOURCES.iter().take(2).filter(|whole| paths.contains(&format!("{whole}/"))).collect();
    assert!(too_wide.is_empty(), "a whole crate says nothing: {too_wide:?}");
    // A module's file represents its folder too, and the folder its file.
    let on_map = |file: &str| {
        let module = file.trim_end_matches(".rs");
        paths.iter().any(|path| match path.strip_suffix('/') {
            Some(folder) => file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest == ".rs"),
            None => path == file || module.strip_prefix(path.trim_end_matches(".rs")).is_some_and(|rest| rest.starts_with('/')),
        })
    };
    let mut lost: Vec<_> = SOURCES
        .iter()
        .flat_map(|source| files(source))
        .filter(|file| {
            file.ends_with(".rs") && !SOURCES.iter().any(|at| *file == format!("{at}/lib.rs") || *file == format!("{at}/main.rs"))
        })
        .filter(|file| !on_map(file))
        .collect();
    lost.sort();
    assert!(lost.is_empty(), "in the tree and not on the map: {lost:#?}");
}

/// The file of a public module, and the files of its public submodules, relative to the root; `folder` has the files of the
/// modules that `declares` declares.
fn public_modules(folder: &str, declares: &str) -> Vec<String> {
    let names = declares.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut found = Vec::new();
    for name in names {
        let inner = format!("{folder}/{name}");
        let file = [format!("{inner}.rs"), format!("{inner}/mod.rs")].into_iter().find(|file| Path::new(ROOT).join(file).exists());
        let file = file.unwrap_or_else(|| panic!("{inner} has no file"));
        found.extend(public_modules(&inner, &fs::read_to_string(Path::new(ROOT).join(&file)).unwrap()));
        found.push(file);
    }
    found
}

/// Whether the documentation at the top of a module has a block of code that compiles as a doctest, at least with some features.
fn has_example(source: &str) -> bool {
    let documentation = source.lines().take_while(|line| line.starts_with("//!") || line.starts_with("#![cfg_attr("));
    let mut open = false;
    let mut found = false;
    for line in documentation {
        match (line.strip_prefix("//! ```"), line.rsplit_once("doc = \"```")) {
            (Some(_), _) if open => open = false,
            // With and without the features that the example needs, a block starts with different lines.
            (Some(kind), _) | (_, Some((_, kind))) => {
                open = true;
                found |= matches!(kind.trim_end_matches("\")]"), "" | "rust" | "no_run" | "should_panic");
            }
            (None, None) => {}
        }
    }
    found
}

#[test]
fn every_public_module_opens_with_an_example() {
    assert!(has_example("//! Text.\n//!\n//! ```\n//! let a = 1;\n//! ```\n"));
    assert!(has_example(
        "#![cfg_attr(feature = \"a\", doc = \"```\")]\n#![cfg_attr(not(feature = \"a\"), doc = \"```ignore\")]\n//! ```\n"
    ));
    assert!(!has_example("//! ```text\n//! words\n//! ```\n\n/// ```\n/// let a = 1;\n/// ```\n"));

    let modules = public_modules("core/src", &fs::read_to_string(Path::new(ROOT).join("core/src/lib.rs")).unwrap());
    assert!(modules.len() > 30, "the modules cannot be read: {modules:?}");
    let without: Vec<_> = modules.iter().filter(|file| !has_example(&fs::read_to_string(Path::new(ROOT).join(file)).unwrap())).collect();
    assert!(without.is_empty(), "these public modules have no example that runs: {without:#?}");
}

/// Problem types, packages and documents contain no address that somebody else could take.
#[test]
fn nothing_names_an_address_that_the_project_does_not_own() {
    // Concatenated, so that this file does not contain them.
    let foreign = [["railgate", ".dev"].concat(), ["github.com/", "railgate"].concat()];
    let found = Command::new("git").args(["grep", "-lF", "-e", &foreign[0], "-e", &foreign[1]]).current_dir(ROOT).output();
    match found.map(|found| (found.status.code(), found.stdout)) {
        Ok((Some(1), _)) => {}
        Ok((Some(0), files)) => panic!("these files name an address that is not ours:\n{}", String::from_utf8_lossy(&files)),
        // Sources without their repository.
        other => eprintln!("not checked: {other:?}"),
    }
}

#[test]
fn every_end_to_end_test_belongs_to_a_part_of_check() {
    let check = fs::read_to_string(Path::new(ROOT).join("check")).unwrap();
    let listed: BTreeSet<&str> =
        check.split("found tests/tests ").skip(1).flat_map(|rest| rest.lines().next().unwrap().split([' ', ';'])).collect();
    let targets = fs::read_dir(Path::new(ROOT).join("tests/tests")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for target in targets.filter(|name| name.ends_with(".rs") || Path::new(ROOT).join("tests/tests").join(name).join("main.rs").exists()) {
        assert!(listed.contains(target.trim_end_matches(".rs")), "{target} is in no part of ./check");
    }
}

/// A file that `core/tests/main.rs` does not name is never compiled.
#[test]
fn every_test_of_the_engine_is_part_of_its_program() {
    let folder = Path::new(ROOT).join("core/tests");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    let named: BTreeSet<&str> = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let file = entry.file_name().into_string().unwrap();
        let is_module = file.ends_with(".rs") || entry.path().join("mod.rs").exists();
        let name = file.trim_end_matches(".rs");
        assert!(!is_module || ["main", "mutations"].contains(&name) || named.contains(name), "core/tests/main.rs does not name {name}");
    }
}

/// `docs/security-checks.md` names files and, after each, tests that are in it.
#[test]
fn every_test_that_the_security_checks_name_exists() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/security-checks.md")).unwrap();
    let is_name = |word: &str| word.contains('_') && word.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let (mut file, mut tests) = (String::new(), 0);
    for word in page.split('`').skip(1).step_by(2) {
        if word.ends_with(".rs") {
            file = fs::read_to_string(Path::new(ROOT).join(word)).unwrap_or_else(|error| panic!("{word}: {error}"));
        } else if is_name(word) && word != "unsafe_code" {
            assert!(file.contains(&format!("fn {word}(")), "there is no test {word} where the page says");
            tests += 1;
        }
    }
    assert!(tests > 40, "{tests}");
}
