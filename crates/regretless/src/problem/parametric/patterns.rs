//! Patterns instead of names: `rhs = { "demand_*" = { column = "d_*" } }` stands for one entry per
//! name that matches, and its column has what `*` matches in place of its own `*`.

use std::collections::HashSet;

use super::json::{PathStep, ShownPath};
use super::place::Place;
use crate::data::ParameterColumns;
use crate::error::{Error, Result};
use crate::text::{first_names, matches_pattern};

/// Whether a name stands for those that match it.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// What `*` stands for in a name; `None` if the name does not match the pattern, which has one `*`.
pub(super) fn matched_part<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let (prefix, suffix) = pattern.split_once('*')?;
    matches_pattern(pattern, name).then(|| &name[prefix.len()..name.len() - suffix.len()])
}

/// Checks that a pattern of names and its column have one `*` each; `shown` is where the pattern
/// is.
pub(super) fn check_stars(shown: &str, pattern: &str, column: &str) -> Result<()> {
    let has_one = |text: &str| text.matches('*').count() == 1;
    if has_one(pattern) && has_one(column) {
        return Ok(());
    }
    Err(Error::setting(format!(
        "'{shown}' and the column '{column}' need one * each"
    ))
    .with_remedy("the part that * matches is the same in both"))
}

/// The error for a pattern that stands for nothing.
pub(super) fn no_match<T: AsRef<str>>(shown: &str, names: impl IntoIterator<Item = T>) -> Error {
    Error::setting(format!("'{shown}' matches no name"))
        .with_remedy(format!("the names are {}", first_names(names)))
}

/// The beginning of an entry's path, and what `*` stands for in it.
struct PartialPath<'n> {
    path: Vec<PathStep>,
    matched: Option<&'n str>,
}

impl Place {
    /// The places that one with patterns stands for, in the order of the names. `names` are those
    /// that each step of its path after the first may have.
    pub(super) fn expand(&self, names: &[&[String]]) -> Result<Vec<Self>> {
        let shown = ShownPath(&self.path).to_string();
        let Some((field, steps)) = self.path.split_first() else {
            return Ok(Vec::new());
        };
        let patterns = steps.iter().filter_map(|step| match step {
            PathStep::Key(name) if is_pattern(name) => Some(name),
            PathStep::Key(_) | PathStep::Index(_) => None,
        });
        for pattern in patterns {
            check_stars(&shown, pattern, &self.columns.pattern)?;
        }
        let mut found = vec![PartialPath {
            path: vec![field.clone()],
            matched: None,
        }];
        for (step, names) in steps.iter().zip(names) {
            let mut longer = Vec::new();
            for partial in found {
                partial.extend(step, names, &mut longer);
            }
            found = longer;
        }
        if found.is_empty() {
            return Err(no_match(&shown, names.iter().flat_map(|names| *names)));
        }
        let place = |partial: PartialPath<'_>| Self {
            path: partial.path,
            columns: ParameterColumns {
                pattern: self
                    .columns
                    .pattern
                    .replace('*', partial.matched.unwrap_or_default()),
                count: 1,
                names: None,
            },
            rule: self.rule,
        };
        Ok(found.into_iter().map(place).collect())
    }
}

impl<'n> PartialPath<'n> {
    /// Appends the paths that are one step longer: those of the names that match, with the same
    /// part in place of `*` in all steps.
    fn extend(self, step: &PathStep, names: &'n [String], longer: &mut Vec<Self>) {
        let with_step = |step: PathStep, matched| Self {
            path: [self.path.as_slice(), &[step]].concat(),
            matched,
        };
        let pattern = match step {
            PathStep::Key(pattern) if is_pattern(pattern) => pattern,
            PathStep::Key(_) | PathStep::Index(_) => {
                longer.push(with_step(step.clone(), self.matched));
                return;
            }
        };
        match self.matched {
            None => {
                for name in names {
                    if let Some(part) = matched_part(pattern, name) {
                        longer.push(with_step(PathStep::Key(name.clone()), Some(part)));
                    }
                }
            }
            Some(part) => {
                let name = pattern.replace('*', part);
                let known: HashSet<&str> = names.iter().map(String::as_str).collect();
                if known.contains(name.as_str()) {
                    longer.push(with_step(PathStep::Key(name), self.matched));
                }
            }
        }
    }
}
