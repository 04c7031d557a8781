//! What the user already has: decisions that were made, and costs that others predicted.

use std::path::Path;
use std::sync::Arc;

use regretless::Decision;
use regretless::data::{
    CostMatching, CostNames, InstanceKeys, Layout, Matrix, TableSource, WideColumns,
};
use regretless::error::InputPlace;
use regretless::{Error, Problem, Result};
use regretless_study::backtest::{GivenMethod, Periods};
use regretless_study::text::first_columns;

use super::History;
use crate::args::{BacktestOptions, DataOptions};
use crate::input::{TableFormat, in_file, predictions, require};

/// The name of the user's decisions in tables.
const DECISIONS_NAME: &str = "present decisions";

/// All methods that the options give.
pub fn methods(options: &BacktestOptions, history: &History) -> Result<Vec<GivenMethod>> {
    let mut methods = Vec::new();
    let cost_names = history.labeled.data.data().cost_names().to_vec();
    for entry in options.predictions.iter().flatten() {
        let (name, file) = entry.split_once('=').ok_or_else(|| {
            Error::setting(format!("'{entry}' does not name its predictions"))
                .with_remedy("write --predictions NAME=FILE")
        })?;
        let file = Path::new(file);
        methods.push(GivenMethod::Predictions {
            name: name.trim().to_owned(),
            costs: Arc::new(rows_of_file(file, &cost_names, options, history)?.values),
        });
    }
    if let Some(decisions) = &options.decisions {
        let auxiliary = history
            .labeled
            .problem
            .kind()
            .model_parts()
            .auxiliary_names();
        let rows = match decision_file(decisions) {
            Some(file) => {
                let names = [&cost_names, auxiliary].concat();
                rows_of_file(file, &names, options, history)
            }
            None => match &history.decision_columns {
                Some(columns) => rows_of_columns(columns, options, history),
                None => return Err(no_columns()),
            },
        };
        let rows = rows.map_err(|error| explain_known_costs(error, auxiliary))?;
        methods.push(GivenMethod::Decisions {
            name: DECISIONS_NAME.into(),
            columns: rows.values.cols(),
            decisions: Arc::new(rows.decisions()),
        });
    }
    Ok(methods)
}

/// Adds to an error of reading decisions that the values of columns with known costs are needed,
/// too.
fn explain_known_costs(error: Error, auxiliary: &[String]) -> Error {
    // Cells below the header have remedies of their own.
    let is_in_header = |place: InputPlace| place.row.is_none_or(|row| row <= 1);
    if auxiliary.is_empty() || !error.place().is_none_or(is_in_header) {
        return error;
    }
    error.with_remedy(format!(
        "decisions need a column for each cost and for each column of the problem with a known \
         cost: {}",
        first_columns(auxiliary)
    ))
}

/// The options of the table, without the columns of decisions as features.
pub fn without_decisions(options: &BacktestOptions) -> Result<DataOptions> {
    let mut data = options.data.clone();
    if let Some(decisions) = &options.decisions
        && decision_file(decisions).is_none()
    {
        if matches!(data.layout()?, Layout::Long(_)) {
            return Err(Error::setting(
                "decisions of a long table cannot be read from its columns",
            )
            .with_remedy("give --decisions a file with a column for each item"));
        }
        data.ignore
            .get_or_insert_default()
            .extend(decisions.iter().cloned());
    }
    Ok(data)
}

/// The file of decisions, if it is one: its name has the ending of a table.
fn decision_file(decisions: &[String]) -> Option<&Path> {
    match decisions {
        [only] if TableFormat::of_input(Path::new(only)).is_ok() => Some(Path::new(only)),
        _ => None,
    }
}

/// Values for rows of the table, in the order of the problem: one for each cost and, in decisions,
/// one for each column with a known cost.
struct GivenRows {
    /// NaN in rows without values.
    values: Matrix,
}

impl GivenRows {
    /// The rows of a file, in the order of the table; `matched` has the row of the file for each
    /// row of the table.
    fn new(file_rows: &Matrix, matched: &[Option<usize>]) -> Result<Self> {
        let columns = file_rows.cols();
        let mut values = Vec::with_capacity(matched.len() * columns);
        for row in matched {
            match row {
                Some(row) => values.extend_from_slice(file_rows.row(*row)),
                None => values.extend(std::iter::repeat_n(f32::NAN, columns)),
            }
        }
        Ok(Self {
            values: Matrix::new(matched.len(), columns, values)?,
        })
    }

    /// The rows as decisions.
    fn decisions(&self) -> Vec<Option<Decision>> {
        let mut decisions = Vec::with_capacity(self.values.rows());
        for row in 0..self.values.rows() {
            let values: Vec<f64> = self
                .values
                .row(row)
                .iter()
                .copied()
                .map(f64::from)
                .collect();
            let is_given = values.iter().all(|value| value.is_finite());
            decisions.push(is_given.then(|| Decision::from_dense(&values)));
        }
        decisions
    }
}

/// The rows of a file with these columns, found by their times; an array has the rows of the table.
fn rows_of_file(
    file: &Path,
    names: &[String],
    options: &BacktestOptions,
    history: &History,
) -> Result<GivenRows> {
    let csv = &options.data.csv;
    let values = predictions(file, names, csv)?;
    let rows = history.labeled.data.len();
    let matched = match TableFormat::of_input(file)? {
        TableFormat::Npy if values.rows() != rows => {
            return Err(Error::data(format!(
                "the array has {} rows, the table has {rows}",
                values.rows()
            ))
            .in_file(file));
        }
        TableFormat::Npy => (0..rows).map(Some).collect(),
        TableFormat::Csv => {
            let time = require(options.origin.time.as_ref(), "--time")?;
            let layout = Layout::Wide(WideColumns::default());
            let keys = InstanceKeys::read_csv(file, &layout, Some(&time), csv.dialect(file)?)?;
            let keys = keys.unwrap_or_else(|| InstanceKeys::numbered(0));
            let times = Periods::from_times(keys.values()).map_err(in_file(file))?;
            history
                .labeled
                .periods
                .match_rows(&times, rows)
                .map_err(in_file(file))?
        }
    };
    GivenRows::new(&values, &matched)
}

/// The columns of the table that hold decisions, as rows in the order of the problem.
fn rows_of_columns(
    columns: &DecisionColumns,
    options: &BacktestOptions,
    history: &History,
) -> Result<GivenRows> {
    let file = match &history.source {
        TableSource::Csv { file, .. } => file,
        TableSource::CsvPair { features, .. } => features,
        TableSource::Npy { .. } => return Err(no_columns()),
    };
    // The costs may be in another order now.
    let table_costs = history.table_costs.to_vec();
    let mut ordered = Vec::with_capacity(columns.names.len());
    for cost in history.labeled.data.data().cost_names().to_vec() {
        let position = table_costs.iter().position(|name| *name == cost);
        let position = position.unwrap_or(ordered.len());
        ordered.push(columns.names[position].clone());
    }
    ordered.extend_from_slice(&columns.names[table_costs.len()..]);
    let values = predictions(file, &ordered, &options.data.csv)?;
    let all: Vec<Option<usize>> = (0..values.rows()).map(Some).collect();
    GivenRows::new(&values, &all)
}

fn no_columns() -> Error {
    Error::setting("arrays have no columns of decisions").with_remedy("give --decisions a file")
}

/// The columns of a table that hold decisions.
#[derive(Debug)]
pub struct DecisionColumns {
    /// The column of each cost of the table, then of each column with a known cost.
    pub names: Vec<String>,
    /// Which column belongs to which cost, if only positions say so.
    pub note: Option<String>,
}

impl DecisionColumns {
    /// The columns that the options name; `None` if decisions are in a file or there are none.
    pub fn of_table(
        options: &BacktestOptions,
        source: &TableSource,
        costs: &CostNames,
        problem: &Problem,
    ) -> Result<Option<Self>> {
        let patterns = match &options.decisions {
            Some(patterns) if decision_file(patterns).is_none() => patterns,
            Some(_) | None => return Ok(None),
        };
        if matches!(source, TableSource::Npy { .. }) {
            return Err(no_columns());
        }
        let cost_patterns = options.data.costs.as_deref().unwrap_or_default();
        let auxiliary = problem.kind().model_parts().auxiliary_names();
        let found = source.matching_columns(patterns)?;
        let columns = match (patterns.as_slice(), cost_patterns) {
            ([pattern], [cost_pattern]) => {
                let named = columns_by_pattern(pattern, cost_pattern, costs, auxiliary);
                Self::matched(found, named, costs, auxiliary)
            }
            _ => Self::matched(found, None, costs, auxiliary),
        };
        let columns = columns.map_err(|error| explain_known_costs(error, auxiliary))?;
        Ok(Some(columns))
    }

    /// Matches the columns that were found with costs and columns of known costs. They are matched
    /// by name if all names are alike, else by position. `named` are the columns that a pattern
    /// says, of which some may be missing: a missing one is refused when it is read.
    fn matched(
        found: Vec<String>,
        named: Option<Vec<String>>,
        costs: &CostNames,
        auxiliary: &[String],
    ) -> Result<Self> {
        if let Some(matching) = CostMatching::by_similar_names(&found, costs, auxiliary) {
            return Ok(Self::of_matching(found, &matching));
        }
        let is_found = |column: &String| found.contains(column);
        if let Some(names) = named.filter(|names| names.iter().any(is_found)) {
            return Ok(Self { names, note: None });
        }
        if found.len() != costs.len() + auxiliary.len() {
            let known = match auxiliary.len() {
                0 => String::new(),
                count => format!(" and {count} columns with known costs"),
            };
            return Err(Error::setting(format!(
                "{} columns of decisions for {} costs{known}",
                found.len(),
                costs.len()
            ))
            .with_remedy("give one column for each cost, with the same names or in their order"));
        }
        let all = costs.followed_by(auxiliary);
        let matching = CostMatching::by_position("decisions", &found, &all);
        Ok(Self::of_matching(found, &matching))
    }

    fn of_matching(mut names: Vec<String>, matching: &CostMatching) -> Self {
        matching.apply_to_row(&mut names);
        let note = matching.warning().map(|note| {
            format!("{note}; give both the same names with another beginning to match by name")
        });
        Self { names, note }
    }
}

/// The columns that a pattern such as `chosen_*` says if the costs have a pattern such as `c_*`:
/// cost `c_north` has the column `chosen_north`, and the column `stock` with a known cost has
/// `chosen_stock`.
fn columns_by_pattern(
    pattern: &str,
    cost_pattern: &str,
    costs: &CostNames,
    auxiliary: &[String],
) -> Option<Vec<String>> {
    let (prefix, suffix) = pattern.split_once('*')?;
    let (cost_prefix, cost_suffix) = cost_pattern.split_once('*')?;
    let mut columns = Vec::with_capacity(costs.len() + auxiliary.len());
    for cost in costs.iter() {
        let stem = cost.strip_prefix(cost_prefix)?;
        let stem = stem.strip_suffix(cost_suffix)?;
        columns.push(format!("{prefix}{stem}{suffix}"));
    }
    let known = auxiliary.iter();
    columns.extend(known.map(|name| format!("{prefix}{name}{suffix}")));
    Some(columns)
}

#[cfg(test)]
mod tests {
    use super::{DecisionColumns, columns_by_pattern};
    use regretless::data::CostNames;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The matched columns of a table with these columns of decisions.
    fn matched(
        found: &[&str],
        patterns: [&str; 2],
        costs: &[&str],
        auxiliary: &[&str],
    ) -> regretless::Result<DecisionColumns> {
        let (costs, auxiliary) = (CostNames::from(list(costs)), list(auxiliary));
        let [pattern, cost_pattern] = patterns;
        let named = columns_by_pattern(pattern, cost_pattern, &costs, &auxiliary);
        DecisionColumns::matched(list(found), named, &costs, &auxiliary)
    }

    #[test]
    fn columns_have_the_order_of_the_costs_whose_names_they_have() {
        let costs = ["m_tea", "m_bread", "m_coffee"];
        let listed = ["was_coffee", "was_tea", "was_bread"];
        let columns = matched(&listed, ["", ""], &costs, &[]).unwrap();
        assert_eq!(columns.names, ["was_tea", "was_bread", "was_coffee"]);
        assert_eq!(columns.note, None);
        let same = matched(&["m_bread", "m_coffee", "m_tea"], ["", ""], &costs, &[]).unwrap();
        assert_eq!((same.names, same.note), (list(&costs), None));
    }

    #[test]
    fn columns_with_known_costs_are_matched_by_name_too() {
        let (costs, auxiliary) = (["c_north", "c_south"], ["stock"]);
        let expected = ["was_north", "was_south", "was_stock"];
        for patterns in [["was_*", "c_*"], ["", ""]] {
            let found = ["was_stock", "was_south", "was_north"];
            let columns = matched(&found, patterns, &costs, &auxiliary).unwrap();
            assert_eq!(columns.names, expected);
            assert_eq!(columns.note, None);
        }
        let full_names = ["was_stock", "was_c_south", "was_c_north"];
        let columns = matched(&full_names, ["was_*", "c_*"], &costs, &auxiliary).unwrap();
        assert_eq!(columns.names, ["was_c_north", "was_c_south", "was_stock"]);
    }

    #[test]
    fn other_names_are_matched_by_position_with_a_note() {
        let costs = ["c_north", "c_south"];
        let columns = matched(&["b", "a"], ["", ""], &costs, &[]).unwrap();
        assert_eq!(columns.names, ["b", "a"]);
        let note = columns.note.unwrap();
        assert!(
            note.starts_with(
                "decisions are matched to costs by position: c_north from b, c_south from a;"
            ),
            "{note}"
        );
        let known = matched(&["b", "a", "s"], ["", ""], &costs, &["stock"]).unwrap();
        assert!(known.note.unwrap().contains("stock from s"));
        assert!(matched(&["b"], ["", ""], &costs, &[]).is_err());
        assert!(matched(&["b", "a"], ["", ""], &costs, &["stock"]).is_err());
        let numbered = matched(&["d1", "d2"], ["", ""], &["c0", "c1"], &[]).unwrap();
        assert_eq!(numbered.note, None);
    }

    #[test]
    fn a_pattern_says_which_columns_are_meant_where_more_or_fewer_match_it() {
        let costs = ["c_north", "c_south"];
        for found in [
            &["was_north", "was_south", "was_total"][..],
            &["was_north", "was_total"],
        ] {
            let columns = matched(found, ["was_*", "c_*"], &costs, &[]).unwrap();
            assert_eq!(columns.names, ["was_north", "was_south"]);
        }
    }
}
