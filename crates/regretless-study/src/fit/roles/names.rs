//! Groups of columns whose names are alike.

use regretless::data::TableProfile;
use regretless_base::text::matches_pattern;

/// Columns whose names are alike: the same beginning and end, another part between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameGroup {
    pub prefix: String,
    pub suffix: String,
    /// Positions in the table.
    pub columns: Vec<usize>,
}

impl NameGroup {
    pub fn pattern(&self) -> String {
        format!("{}*{}", self.prefix, self.suffix)
    }

    /// The parts of the names that differ.
    pub fn stems<'t>(&self, table: &'t TableProfile) -> Vec<&'t str> {
        let stem = |column: &usize| {
            let name = table.columns[*column].name.as_str();
            &name[self.prefix.len()..name.len() - self.suffix.len()]
        };
        self.columns.iter().map(stem).collect()
    }
}

/// Whether a name is one of these, or matches one of these patterns.
pub(super) fn is_any(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}

/// The beginnings and ends that a name may share with others: without its trailing digits, and
/// without one of the parts that underscores separate.
pub(super) fn ends_of(name: &str) -> Vec<[String; 2]> {
    let mut ends = Vec::new();
    let without_digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if without_digits.len() < name.len() {
        ends.push([without_digits.to_owned(), String::new()]);
    }
    if let Some((prefix, _)) = name.split_once('_') {
        ends.push([format!("{prefix}_"), String::new()]);
    }
    if let Some((_, suffix)) = name.rsplit_once('_') {
        ends.push([String::new(), format!("_{suffix}")]);
    }
    ends.dedup();
    ends
}

/// A name whose parts are separated by underscores: the pair of `Ann` and `3` is `Ann-3` in a
/// problem and may be `Ann_3` or `Ann 3` in a table. It has as many bytes.
pub(super) fn with_one_separator(name: &str) -> String {
    name.replace(['-', ' ', '.', '/', ':'], "_")
}

/// Whether a name would begin or end within a word, as `a` does in `demand`.
pub(super) fn is_inside_word(prefix: &str, name: &str, suffix: &str) -> bool {
    let joins = |before: &str, after: &str| {
        before.ends_with(char::is_alphabetic) && after.starts_with(char::is_alphabetic)
    };
    joins(prefix, name) || joins(name, suffix)
}

/// Names in the order of the numbers in them; `None` where they differ in other parts.
pub(super) fn in_order_of_numbers<'n>(names: &[&'n str]) -> Option<Vec<&'n str>> {
    let mut keyed: Vec<(Vec<u64>, &str)> = Vec::with_capacity(names.len());
    let is_digit = |c: char| c.is_ascii_digit();
    let words = |name: &str| -> Vec<String> { name.split(is_digit).map(str::to_owned).collect() };
    let mut first: Option<Vec<String>> = None;
    for name in names {
        let mut text = words(name);
        text.retain(|word| !word.is_empty());
        if *first.get_or_insert_with(|| text.clone()) != text {
            return None;
        }
        let numbers = name.split(|c: char| !is_digit(c));
        let numbers = numbers.filter(|part| !part.is_empty());
        let numbers: Option<Vec<u64>> = numbers.map(|part| part.parse().ok()).collect();
        keyed.push((numbers.filter(|numbers| !numbers.is_empty())?, name));
    }
    keyed.sort();
    Some(keyed.into_iter().map(|(_, name)| name).collect())
}
