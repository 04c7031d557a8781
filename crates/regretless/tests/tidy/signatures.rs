//! Parameters have names: no tuple is taken apart in a signature.
//!
//! Private helpers of ten lines or less may do so.

use std::collections::BTreeSet;
use std::fs;

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::{CRATES, check, files, root, shown};

/// Most lines of a private function that may take a tuple apart in its signature.
const MAX_HELPER_LINES: usize = 10;

#[derive(Default)]
struct TupleParameters(Vec<String>);

impl TupleParameters {
    fn inspect(&mut self, signature: &syn::Signature, private: bool, lines: usize) {
        let destructured = signature.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => matches!(*typed.pat, syn::Pat::Tuple(_)),
            syn::FnArg::Receiver(_) => false,
        });
        if destructured && !(private && lines <= MAX_HELPER_LINES) {
            self.0.push(signature.ident.to_string());
        }
    }
}

fn line_count(item: &impl Spanned) -> usize {
    let span = item.span();
    span.end().line - span.start().line + 1
}

fn is_private(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Inherited)
}

impl<'ast> Visit<'ast> for TupleParameters {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.inspect(&item.sig, is_private(&item.vis), line_count(item));
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.inspect(&item.sig, is_private(&item.vis), line_count(item));
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.inspect(&item.sig, false, line_count(item));
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn no_signature_takes_a_tuple_apart() {
    let mut found = BTreeSet::new();
    for (_, folder) in CRATES {
        for path in files(&root().join(folder).join("src"), &["rs"]) {
            // Helpers of tests may return and take tuples.
            if shown(&path).contains("src/tests/") {
                continue;
            }
            let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            let mut functions = TupleParameters::default();
            functions.visit_file(&file);
            for function in functions.0 {
                found.insert(format!("{}: {function}", shown(&path)));
            }
        }
    }
    check("tuple", &found);
}
