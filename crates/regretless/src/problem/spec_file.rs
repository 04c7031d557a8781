//! Problem files: a problem specification as TOML.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::ProblemSpec;
use super::arc_table::{names_arc_file, read_arc_files};
use super::family::{InfinityRule, ProblemFamily};
use super::parametric::is_template;
use crate::error::{Error, InputPlace, Result};
use crate::renamed::{explain, new_word};
use crate::size_limits::read_text_file;
use crate::text::UNKNOWN_QUANTITY_REMEDY;

/// What stands behind values of a file to begin with that must be stated.
const FILL_IN: &str = "# fill in";

impl ProblemSpec {
    /// The problem of a problem file that was read into a JSON value. Files of arcs that it names
    /// are read.
    ///
    /// # Errors
    /// When the value describes no problem.
    pub fn from_json(mut content: Value) -> Result<Self> {
        if names_arc_file(&content) {
            read_arc_files(&mut content, Path::new(""))?;
        }
        if is_template(&content) {
            return Ok(Self::Parametric { template: content });
        }
        serde_json::from_value(content).map_err(|error| Error::setting(explain(&error.to_string())))
    }

    /// The problem of the text of a problem file that refers to columns of a table; `None` if it
    /// refers to none.
    ///
    /// # Errors
    /// When the text is no TOML, or a number is infinite where that has no meaning.
    pub fn template_from_toml(text: &str) -> Result<Option<Self>> {
        let table = toml::from_str(text).map_err(|error| Error::setting(error.message()))?;
        Self::template_of(&table)
    }

    /// The problem of the text of a problem file; paths in it are relative to the working
    /// directory.
    ///
    /// # Errors
    /// As [`ProblemSpec::template_from_toml`], and when the text describes no problem.
    pub fn from_toml(text: &str) -> Result<Self> {
        let refused = |error: toml::de::Error| Error::setting(explain(error.message()));
        let table: toml::Table = toml::from_str(text).map_err(refused)?;
        check_kind(&table)?;
        if let Some(content) = Self::content_with_arcs(&table, Path::new(""))? {
            return Self::from_json(content);
        }
        if let Some(template) = Self::template_of(&table)? {
            return Ok(template);
        }
        toml::Value::Table(table).try_into().map_err(refused)
    }

    /// The content of a problem file that names a file of arcs, with these arcs; `None` if it names
    /// none.
    fn content_with_arcs(table: &toml::Table, folder: &Path) -> Result<Option<Value>> {
        if !names_arc_file(&json!(table)) {
            return Ok(None);
        }
        let infinity = InfinityRule::of_table(table);
        let mut content = Value::Object(infinity.table_to_json(table, "")?);
        read_arc_files(&mut content, folder)?;
        Ok(Some(content))
    }

    fn template_of(table: &toml::Table) -> Result<Option<Self>> {
        // Infinite numbers do not matter for this question.
        let is_template = is_template(&json!(table));
        if !is_template {
            return Ok(None);
        }
        let infinity = InfinityRule::of_table(table);
        let template = Value::Object(infinity.table_to_json(table, "")?);
        Ok(Some(Self::Parametric { template }))
    }

    /// Refuses a problem file that still has `# fill in` behind a value, as the files that
    /// `regretless new` writes do.
    ///
    /// # Errors
    /// When it does, with the line, and when the file cannot be read.
    pub fn check_filled_in(path: &Path) -> Result<()> {
        let text = read_text_file(path)?;
        let open = text.lines().position(|line| line.contains(FILL_IN));
        let Some(line) = open else {
            return Ok(());
        };
        let place = InputPlace::file(path).row(line as u64 + 1);
        Err(Error::input(
            place,
            format!("the line still has '{FILL_IN}' behind its value"),
        )
        .with_remedy("write the value of your problem and remove these words"))
    }

    /// Reads a problem file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// When the file cannot be read or contains no valid problem; the error has the line.
    pub fn read(path: &Path) -> Result<Self> {
        if is_model_file(path) {
            let name = path.display();
            return Err(
                Error::setting(format!("{name} is a model, not a problem file")).with_remedy(
                    format!(
                        "write a TOML file with kind = \"linear\", file = \"{name}\", costs = [...]"
                    ),
                ),
            );
        }
        let text = read_text_file(path)?;
        let refused = |error: &toml::de::Error| {
            let line = error
                .span()
                .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            let refused = Error::setting(format!(
                "{}: {place}{}",
                path.display(),
                explain(error.message())
            ));
            if error.message().starts_with("invalid type: string") {
                refused.with_remedy(
                    "a number that differs per row is { column = \"name\" }, with the name of the \
                     column",
                )
            } else {
                refused
            }
        };
        let table: toml::Table = toml::from_str(&text).map_err(|error| refused(&error))?;
        // An error in another file, such as that of the arcs, has its place already.
        let in_file = |error: Error| match error {
            Error::Setting { message, remedy } => Error::Setting {
                message: format!("{}: {message}", path.display()),
                remedy,
            },
            other => other,
        };
        check_kind(&table).map_err(in_file)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(content) = Self::content_with_arcs(&table, folder).map_err(in_file)? {
            return Self::from_json(content).map_err(in_file);
        }
        let template = Self::template_of(&table).map_err(in_file)?;
        let spec: Self = match template {
            Some(template) => template,
            None => toml::from_str(&text).map_err(|error| refused(&error))?,
        };
        match (spec.file(), path.parent()) {
            (Some(file), Some(folder)) => Ok(spec.with_file(&folder.join(file))),
            _ => Ok(spec),
        }
    }
}

/// Whether a file is an MPS or LP model by its extension.
fn is_model_file(path: &Path) -> bool {
    let content = crate::compressed::uncompressed_path(path);
    let extension = content.extension().unwrap_or_default();
    ["mps", "lp"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Parts of the names of problems whose demand is unknown when deciding.
const UNKNOWN_DEMAND_WORDS: [&str; 5] = [
    "newsvendor",
    "newsboy",
    "inventory",
    "lot_siz",
    "stochastic",
];

/// Checks the kind of a problem before its fields, which depend on it. Words that were renamed
/// have messages of their own.
fn check_kind(table: &toml::Table) -> Result<()> {
    let Some(kind) = table.get("kind").and_then(toml::Value::as_str) else {
        return Ok(());
    };
    let is_kind = |word: &str| {
        let mut families = ProblemFamily::all().iter();
        word == ProblemSpec::PARAMETRIC || families.any(|family| family.name == word)
    };
    if is_kind(kind) || new_word(kind, is_kind).is_some() {
        return Ok(());
    }
    if cfg!(not(feature = "highs")) && kind == "schedule" {
        let message = "schedules need HiGHS, which this build was made without \
            (cargo feature `highs`)";
        return Err(Error::setting(message));
    }
    if UNKNOWN_DEMAND_WORDS.iter().any(|word| kind.contains(word)) {
        let error = Error::setting(format!("unknown kind '{kind}'"));
        return Err(error.with_remedy(UNKNOWN_QUANTITY_REMEDY.to_owned()));
    }
    let families = ProblemFamily::all().iter();
    let shown = families.filter(|family| !family.is_stored_only);
    let kinds: Vec<&str> = shown.map(|family| family.name).collect();
    Err(Error::unknown("kind", kind, &kinds))
}

impl InfinityRule {
    /// The rule of a problem file.
    fn of_table(table: &toml::Table) -> Self {
        let kind = table.get("kind").and_then(toml::Value::as_str);
        ProblemFamily::named(kind.unwrap_or_default()).infinity
    }

    fn table_to_json(self, table: &toml::Table, path: &str) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        for (key, value) in table {
            let place = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            // Known costs are finite in all kinds.
            let infinity = if place == "known" {
                Self::Refused
            } else {
                self
            };
            if let Some(value) = infinity.to_json(value, &place, key)? {
                object.insert(key.clone(), value);
            }
        }
        Ok(object)
    }

    /// A value as JSON; `None` if it is left out. `key` is the last one of the path.
    fn to_json(self, value: &toml::Value, path: &str, key: &str) -> Result<Option<Value>> {
        Ok(Some(match value {
            toml::Value::String(text) => json!(text),
            toml::Value::Integer(number) => json!(number),
            toml::Value::Float(number) if number.is_finite() => json!(number),
            toml::Value::Float(number) => return self.infinite(*number, path, key),
            toml::Value::Boolean(value) => json!(value),
            toml::Value::Datetime(date) => json!(date.to_string()),
            toml::Value::Array(values) => {
                let mut array = Vec::with_capacity(values.len());
                for (number, value) in values.iter().enumerate() {
                    // Values of an array are identified by position: none is left out.
                    let place = format!("{path}[{number}]");
                    array.extend(self.to_json(value, &place, "")?);
                }
                Value::Array(array)
            }
            toml::Value::Table(table) => Value::Object(self.table_to_json(table, path)?),
        }))
    }

    fn infinite(self, number: f64, path: &str, key: &str) -> Result<Option<Value>> {
        let refused = |reason: &str| Err(Error::setting(format!("{path} = {number}: {reason}")));
        match (self, key) {
            _ if number.is_nan() => refused("this is not a number"),
            (Self::AsText, _) => Ok(Some(json!(number.to_string()))),
            (Self::AsMissingBound, "lower") if number < 0.0 => Ok(None),
            (Self::AsMissingBound, "upper") if number > 0.0 => Ok(None),
            (Self::AsMissingBound, "lower") => refused("no number is above this lower bound"),
            (Self::AsMissingBound, "upper") => refused("no number is below this upper bound"),
            (Self::AsMissingBound | Self::Refused, _) => refused("a finite number is expected"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step should show where")]

    use serde_json::json;

    use super::ProblemSpec;

    fn template(text: &str) -> Result<serde_json::Value, String> {
        match ProblemSpec::template_from_toml(text) {
            Ok(Some(ProblemSpec::Parametric { template })) => Ok(template),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_kind_that_does_not_exist_is_refused_before_its_fields() {
        let message = |text: &str| ProblemSpec::from_toml(text).unwrap_err().to_string();
        let found = message("kind = 'knapsak'\nweights = { columns = 'w_*' }\nbeer = 3");
        let expected = "unknown kind 'knapsak'; did you mean 'knapsack'?";
        assert!(found.starts_with(expected), "{found}");
        let found = message("kind = 'travelling'");
        assert!(found.contains("choose one of: knapsack, "), "{found}");
        assert!(!found.contains("parametric"), "{found}");
    }

    #[test]
    fn problems_with_unknown_demand_have_a_remedy_of_their_own() {
        for kind in ["newsboy", "multi_item_newsvendor", "inventory"] {
            let error = ProblemSpec::from_toml(&format!("kind = '{kind}'")).unwrap_err();
            let message = error.to_string();
            for words in ["kind newsvendor", "multiple-choice knapsack"] {
                assert!(message.contains(words), "{message}");
            }
        }
    }

    #[test]
    fn every_kind_is_listed() {
        for family in super::ProblemFamily::all() {
            let kind = family.name;
            let message = ProblemSpec::from_json(json!({ "kind": kind }));
            let message = message.map_or_else(|error| error.to_string(), |_| String::new());
            assert!(!message.contains("unknown variant"), "{kind}: {message}");
        }
    }

    #[test]
    fn infinite_numbers_are_texts_or_missing_bounds() {
        let linear = "kind = 'linear'\nfile = 'p.lp'\nrhs = { a = { column = 'd' } }\n\
                      upper = { late = inf, soon = 2.5 }\nlower = { late = -inf }";
        let found = template(linear).unwrap();
        assert_eq!(found["upper"], json!({"late": "inf", "soon": 2.5}));
        assert_eq!(found["lower"], json!({"late": "-inf"}));
        let arrays = "kind = 'linear_arrays'\nname = 'p'\nsense = 'minimize'\n\
                      columns = [{ lower = -inf, upper = 1.0 }]\n\
                      rows = [{ lower = { column = 'd' }, upper = inf, entries = [[0, 1.0]] }]";
        let found = template(arrays).unwrap();
        assert_eq!(found["columns"], json!([{"upper": 1.0}]));
        let row = json!([{"lower": {"column": "d"}, "entries": [[0, 1.0]]}]);
        assert_eq!(found["rows"], row);
    }

    #[test]
    fn infinite_numbers_without_a_meaning_are_refused_with_their_place() {
        let arrays = "kind = 'linear_arrays'\nname = 'p'\nsense = 'minimize'\n\
                      columns = [{ LOWER }]\n\
                      rows = [{ lower = { column = 'd' }, entries = [[0, ENTRY]] }]";
        let knapsack = "kind = 'knapsack'\nweights = [[1.0, inf]]\ncapacity = { column = 'c' }";
        let linear = "kind = 'linear'\nfile = 'p.lp'\nrhs = { a = { column = 'd' } }\nKEY";
        let cases = [
            (
                arrays.replace("LOWER", "lower = inf").replace("ENTRY", "1"),
                "columns[0].lower = inf: no number is above this lower bound",
            ),
            (
                arrays
                    .replace("LOWER", "upper = -inf")
                    .replace("ENTRY", "1"),
                "columns[0].upper = -inf: no number is below this upper bound",
            ),
            (
                arrays.replace("LOWER", "").replace("ENTRY", "inf"),
                "rows[0].entries[0][1] = inf: a finite number is expected",
            ),
            (
                knapsack.to_owned(),
                "weights[0][1] = inf: a finite number is expected",
            ),
            (
                linear.replace("KEY", "known = [inf]"),
                "known[0] = inf: a finite number is expected",
            ),
            (
                linear.replace("KEY", "upper = { b = nan }"),
                "upper.b = NaN: this is not a number",
            ),
        ];
        for (text, expected) in cases {
            let message = template(&text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
