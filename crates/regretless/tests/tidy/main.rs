//! Rules for the text of the source code: module dependencies, names, signatures, width.
//! There are no exceptions.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot continue should fail at once"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod dependencies;
mod names;
mod patches;
mod public_api;
mod senses;
mod signatures;
mod sizes;
mod words;

/// Folders with Rust sources, by crate.
const CRATES: [(&str, &str); 7] = [
    ("regretless", "crates/regretless"),
    ("regretless-base", "crates/regretless-base"),
    ("regretless-cli", "crates/regretless-cli"),
    ("regretless-python", "crates/regretless-python"),
    ("regretless-solvers", "crates/regretless-solvers"),
    ("regretless-study", "crates/regretless-study"),
    ("bench", "bench"),
];

/// Tests inside a crate: they may use all modules and choose short names.
const LIBRARY_TESTS: &str = "/src/tests/";

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// All files below a folder that end in one of these extensions, in a fixed order.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Build output, virtual environments and caches are not sources.
            let skipped = name.starts_with('.') || name == "target" || name == "__pycache__";
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|e| extensions.iter().any(|x| e == *x))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path relative to the root, for messages.
fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Fails when a rule has findings.
fn check(rule: &str, findings: &BTreeSet<String>) {
    assert!(
        findings.is_empty(),
        "{rule}: {} findings\n{findings:#?}",
        findings.len()
    );
}

/// The syntax tree of a source file.
fn parsed(path: &Path) -> syn::File {
    syn::parse_file(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", shown(path)))
}

#[test]
fn no_line_is_wider_than_100_columns() {
    let mut wide = BTreeSet::new();
    for path in files(&root(), &["rs", "py", "pyi"]) {
        let text = fs::read_to_string(&path).unwrap();
        if text.lines().any(|line| line.chars().count() > 100) {
            wide.insert(shown(&path));
        }
    }
    check("width", &wide);
}
