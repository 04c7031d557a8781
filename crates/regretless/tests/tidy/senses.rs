//! Costs and objectives change their sign at few places: the number of conversions may only fall.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{ExprMethodCall, ImplItem, Item, ItemMod, Visibility};

use crate::sizes::{check_number, sources};
use crate::{LIBRARY_TESTS, parsed, root, shown};

/// Calls of the methods that convert between the user's sense and minimization. A change may only
/// lower the number.
const CONVERSIONS: usize = 28;

/// The methods of `Sense` that convert numbers: those with a sign that leave its module.
fn conversions() -> BTreeSet<String> {
    let file = parsed(&root().join("crates/regretless/src/sense.rs"));
    let mut names = BTreeSet::new();
    for item in &file.items {
        let Item::Impl(block) = item else { continue };
        for item in &block.items {
            let ImplItem::Fn(method) = item else { continue };
            if !matches!(method.vis, Visibility::Inherited) {
                names.insert(method.sig.ident.to_string());
            }
        }
    }
    // A question, which changes no number.
    assert!(names.remove("is_maximize"));
    assert!(names.contains("convert"));
    names
}

/// Collects the calls of a file outside its tests.
struct Conversions<'a> {
    file: &'a str,
    names: &'a BTreeSet<String>,
    found: &'a mut BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Conversions<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if self.names.contains(&call.method.to_string()) {
            let place = call.method.span().start();
            let (line, column) = (place.line, place.column);
            self.found.insert(format!("{}:{line}:{column}", self.file));
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[test]
fn conversions_between_senses_become_fewer() {
    let names = conversions();
    let mut found = BTreeSet::new();
    for path in sources() {
        let file = shown(&path);
        let is_counted = file.starts_with("crates/") && !file.ends_with("/sense.rs");
        if is_counted && !file.contains(LIBRARY_TESTS) {
            Conversions {
                file: &file,
                names: &names,
                found: &mut found,
            }
            .visit_file(&parsed(&path));
        }
    }
    check_number("conversion between senses", &found, CONVERSIONS);
}
