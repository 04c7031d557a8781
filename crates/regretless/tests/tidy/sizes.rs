//! Files and functions stay short: the numbers of longer ones may only fall.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, TraitItemFn};

use crate::{CRATES, LIBRARY_TESTS, check, files, parsed, root, shown};

/// Most lines of a file of the sources.
const MAX_LINES: usize = 500;
/// Most lines of a file of tests, which are lists of cases.
const MAX_TEST_LINES: usize = 800;
/// Tests of the Python package.
const PYTHON_TESTS: &str = "python/tests/";
/// Most lines of a function.
const MAX_FUNCTION_LINES: usize = 70;
/// Files that are longer. A change may only lower the number.
const LONG_FILES: usize = 0;
/// Functions that are longer. A change may only lower the number.
const LONG_FUNCTIONS: usize = 0;

/// A rule that some places break already: their number may only fall.
pub fn check_number(rule: &str, found: &BTreeSet<String>, known: usize) {
    if found.len() > known {
        check(rule, found);
    }
    assert!(
        found.len() == known,
        "{rule}: {} findings, lower the known number of {known}",
        found.len()
    );
}

pub fn sources() -> impl Iterator<Item = PathBuf> {
    let folders = CRATES.into_iter().map(|(_, folder)| root().join(folder));
    folders.flat_map(|folder| files(&folder.join("src"), &["rs"]))
}

/// The package, its tests, scripts and benchmarks in Python.
fn python_sources() -> Vec<PathBuf> {
    let found = files(&root(), &["py", "pyi"]);
    assert!(found.len() > 100, "found only {} files", found.len());
    found
}

/// Most lines of a file; tests may have more.
fn max_lines(path: &Path) -> usize {
    let name = shown(path);
    let is_test = name.contains(LIBRARY_TESTS)
        || path.ends_with("tests.rs")
        || name.starts_with(PYTHON_TESTS);
    if is_test { MAX_TEST_LINES } else { MAX_LINES }
}

#[test]
fn long_files_become_fewer() {
    let mut long = BTreeSet::new();
    for path in sources().chain(python_sources()) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > max_lines(&path) {
            long.insert(format!("{}: {lines} lines", shown(&path)));
        }
    }
    check_number("long file", &long, LONG_FILES);
}

/// Collects the functions of a file that are too long.
struct LongFunctions<'a> {
    file: &'a str,
    found: &'a mut BTreeSet<String>,
}

impl LongFunctions<'_> {
    fn add(&mut self, name: &proc_macro2::Ident, start: Span, body: &Block) {
        let lines = body.brace_token.span.close().end().line - start.start().line + 1;
        if lines > MAX_FUNCTION_LINES {
            self.found
                .insert(format!("{}: {name} has {lines} lines", self.file));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(
            &function.sig.ident,
            function.sig.fn_token.span,
            &function.block,
        );
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(
            &function.sig.ident,
            function.sig.fn_token.span,
            &function.block,
        );
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig.ident, function.sig.fn_token.span, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[test]
fn long_functions_become_fewer() {
    let mut found = BTreeSet::new();
    for path in sources() {
        let file = shown(&path);
        if file.contains(LIBRARY_TESTS) {
            continue;
        }
        LongFunctions {
            file: &file,
            found: &mut found,
        }
        .visit_file(&parsed(&path));
    }
    check_number("long function", &found, LONG_FUNCTIONS);
}
