//! Type names are unique in a crate, and retired identifiers do not come back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use crate::{CRATES, LIBRARY_TESTS, check, files, parsed, root, shown};

/// Two implementations of the same SIMD types, of which a build has one.
const ALTERNATIVES: &str = "crates/regretless/src/simd/portable.rs";

/// Names of the types that a file defines outside of its tests.
#[derive(Default)]
struct TypeNames(Vec<String>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Struct(item) => self.0.push(item.ident.to_string()),
            syn::Item::Enum(item) => self.0.push(item.ident.to_string()),
            syn::Item::Union(item) => self.0.push(item.ident.to_string()),
            syn::Item::Trait(item) => self.0.push(item.ident.to_string()),
            syn::Item::Type(item) => self.0.push(item.ident.to_string()),
            syn::Item::Mod(item) if item.ident == "tests" => return,
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }
}

#[test]
fn type_names_are_unique_in_a_crate() {
    let mut doubled = BTreeSet::new();
    for (name, folder) in CRATES {
        let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in files(&root().join(folder).join("src"), &["rs"]) {
            if shown(&path) == ALTERNATIVES || shown(&path).contains(LIBRARY_TESTS) {
                continue;
            }
            let mut names = TypeNames::default();
            names.visit_file(&parsed(&path));
            for found in names.0 {
                homes.entry(found).or_default().push(shown(&path));
            }
        }
        for (found, homes) in homes {
            if homes.len() > 1 {
                doubled.insert(format!("{name}: {found} in {}", homes.join(", ")));
            }
        }
    }
    check("type", &doubled);
}

#[test]
fn retired_identifiers_do_not_come_back() {
    let retired: BTreeMap<&str, &str> = include_str!("retired.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert!(
        retired.len() > 300,
        "the list of retired identifiers has {}",
        retired.len()
    );
    let mut found = BTreeSet::new();
    for (_, folder) in CRATES {
        for path in files(&root().join(folder), &["rs"]) {
            let tokens: TokenStream = fs::read_to_string(&path).unwrap().parse().unwrap();
            let mut identifiers = BTreeSet::new();
            collect_identifiers(tokens, &mut identifiers);
            for identifier in identifiers {
                if let Some(now) = retired.get(identifier.as_str()) {
                    found.insert(format!("{}: {identifier} (now {now})", shown(&path)));
                }
            }
        }
    }
    check("retired", &found);
}

fn collect_identifiers(tokens: TokenStream, out: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(identifier) => {
                out.insert(identifier.to_string());
            }
            TokenTree::Group(group) => collect_identifiers(group.stream(), out),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
