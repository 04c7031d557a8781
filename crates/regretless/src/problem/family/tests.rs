//! Families are complete, and the pages of their kinds say what they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::ProblemFamily;
use crate::problem::ProblemSpec;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The page of a kind; kinds that only programs and experiments write have none.
fn page(family: &ProblemFamily) -> Option<String> {
    let name = family.name.replace('_', "-");
    let text = fs::read_to_string(root().join(format!("docs/problems/{name}.md"))).ok();
    assert!(
        text.is_some() || family.constructor.is_none(),
        "{} has no page",
        family.name
    );
    text
}

#[test]
fn every_starter_is_a_valid_file_that_says_what_to_fill_in() {
    let costs: Vec<String> = ["eur_a", "eur_\"b\"", "eur_c"].map(str::to_owned).to_vec();
    for family in ProblemFamily::all() {
        let Some(text) = family.starter(None) else {
            assert!(
                family.constructor.is_none(),
                "{} has no starter",
                family.name
            );
            continue;
        };
        assert!(text.contains("# fill in"), "{text}");
        assert!(
            family.in_words().is_some_and(|words| words.len() > 20),
            "{text}"
        );
        for text in [Some(text), family.starter(Some(&costs))] {
            let text = text.unwrap();
            let built = ProblemSpec::from_toml(&text).and_then(|spec| spec.build());
            if cfg!(feature = "highs") || family.name != "cvrp" {
                assert!(built.is_ok(), "{text}\n{:?}", built.err());
            }
        }
    }
}

#[test]
fn the_page_of_a_kind_has_its_fields_and_its_row_parameters() {
    let navigation = fs::read_to_string(root().join("mkdocs.yml")).unwrap();
    let mut pages = 0;
    for family in ProblemFamily::all() {
        let Some(page) = page(family) else {
            continue;
        };
        pages += 1;
        let name = family.name;
        assert!(page.contains(&format!("kind = \"{name}\"")), "{name}");
        let file = format!("problems/{}.md", name.replace('_', "-"));
        assert!(navigation.contains(&file), "{file} is not in mkdocs.yml");
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = page.split(|c| !is_word(c)).collect();
        for field in family.fields {
            let field = field.name;
            assert!(words.contains(field), "{file} does not have `{field}`");
        }
        let rows = page
            .lines()
            .find(|line| line.starts_with("| row parameters |"));
        let rows = rows.unwrap_or_else(|| panic!("{file} has no row parameters"));
        for field in family.fields.iter().filter(|field| !field.rows.is_empty()) {
            let named = rows.contains(&format!("`{}`", field.name));
            // Bounds, or all numbers, stand for several fields.
            let is_summed_up = rows.contains("bounds") || rows.contains("all numbers");
            assert!(
                named || is_summed_up,
                "{file}: `{}` may differ per row",
                field.name
            );
        }
    }
    assert!(pages >= 13, "{pages} pages");
}

#[test]
fn constructors_are_complete() {
    for family in ProblemFamily::all() {
        assert!(family.summary.ends_with('.'), "{}", family.name);
        let names: BTreeSet<&str> = family.fields.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), family.fields.len(), "{}", family.name);
        let Some(constructor) = &family.constructor else {
            continue;
        };
        assert!(constructor.summary.starts_with("Build "), "{}", family.name);
        assert!(!constructor.examples.is_empty(), "{}", family.name);
        let mut arguments = 0;
        let mut is_optional = false;
        for field in family.fields {
            assert!(!field.shape.is_empty(), "{}.{}", family.name, field.name);
            if arguments < constructor.positional {
                assert!(!is_optional || field.default.is_some(), "{}", family.name);
                is_optional |= field.default.is_some();
            }
            arguments += field.arguments.len().max(1);
        }
        assert!(
            family
                .fields
                .last()
                .is_some_and(|field| !field.doc.is_empty())
        );
        assert!(constructor.positional <= arguments, "{}", family.name);
    }
}
