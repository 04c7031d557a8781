//! Retired terms do not occur in messages, help, comments and documentation.

use std::collections::BTreeSet;
use std::fs;

use crate::{check, files, root, shown};

/// Files that name retired terms on purpose: the lists of this test, the changelog, and the parser
/// that refuses old words of method names with the new ones.
const EXEMPT: [&str; 3] = [
    "crates/regretless/tests/tidy",
    "CHANGELOG",
    "crates/regretless/src/oracle/settings.rs",
];

/// "So" is enough for a result, and "to" for a purpose.
#[test]
fn sources_do_not_say_so_that() {
    let mut found = BTreeSet::new();
    for path in files(&root(), &["rs", "py", "pyi"]) {
        let place = shown(&path);
        if place.starts_with(EXEMPT[0]) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut is_after_so = false;
        for (number, line) in text.lines().enumerate() {
            // Comments and texts go on in the next line.
            let is_mark = |word: &&str| !matches!(*word, "///" | "//!" | "//" | "#" | "\\");
            for word in line.split_whitespace().filter(is_mark) {
                let word = word.trim_matches('"');
                if is_after_so && word == "that" {
                    found.insert(format!("{place}:{}", number + 1));
                }
                is_after_so = word == "so" || word == "So";
            }
        }
    }
    check("so that", &found);
}

#[test]
fn retired_terms_do_not_come_back() {
    let terms: Vec<&str> = include_str!("retired_terms.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    assert!(
        terms.len() > 20,
        "the list of retired terms has {}",
        terms.len()
    );
    let mut found = BTreeSet::new();
    for path in files(&root(), &["rs", "py", "pyi", "md", "toml"]) {
        let place = shown(&path);
        if EXEMPT.iter().any(|exempt| place.starts_with(exempt)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        for term in &terms {
            if contains_words(&text, term) {
                found.insert(format!("{place}: {term}"));
            }
        }
    }
    check("term", &found);
}

/// Whether a text contains a term that is not part of a longer word.
fn contains_words(text: &str, term: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(term).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + term.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
