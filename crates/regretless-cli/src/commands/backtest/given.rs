//! What the user already has: decisions that were made, and costs that others predicted.

use std::path::Path;
use std::sync::Arc;

use regretless::Decision;
use regretless::backtest::{GivenMethod, Periods};
use regretless::data::{InstanceKeys, Layout, Matrix, TableSource, WideColumns};
use regretless::error::InputPlace;
use regretless::{Error, Result};

use super::super::first_names;
use super::History;
use crate::args::{BacktestOptions, DataOptions};
use crate::input::{TableFormat, in_file, predictions, require};

/// The name of the user's decisions in tables.
const DECISIONS_NAME: &str = "present decisions";

/// All methods that the options give.
pub fn methods(options: &BacktestOptions, history: &History) -> Result<Vec<GivenMethod>> {
    let mut methods = Vec::new();
    let cost_names = history.data.data().cost_names().to_vec();
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
        let auxiliary = history.problem.kind().auxiliary_names();
        let rows = match decision_file(decisions) {
            Some(file) => {
                let names = [&cost_names, auxiliary].concat();
                rows_of_file(file, &names, options, history)
            }
            None => rows_of_columns(decisions, options, history),
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
        first_names(auxiliary)
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
    let rows = history.data.len();
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
                .periods
                .match_rows(&times, rows)
                .map_err(in_file(file))?
        }
    };
    GivenRows::new(&values, &matched)
}

/// The columns of the table that hold decisions, one for each column of the problem.
fn rows_of_columns(
    patterns: &[String],
    options: &BacktestOptions,
    history: &History,
) -> Result<GivenRows> {
    let file = match &history.source {
        TableSource::Csv { file, .. } => file,
        TableSource::CsvPair { features, .. } => features,
        TableSource::Npy { .. } => {
            return Err(Error::setting("arrays have no columns of decisions")
                .with_remedy("give --decisions a file"));
        }
    };
    let cost_patterns = options.data.costs.clone().unwrap_or_default();
    let table_costs = history.table_costs.to_vec();
    let auxiliary = history.problem.kind().auxiliary_names();
    let columns = decision_columns(patterns, &cost_patterns, &table_costs, auxiliary)?;
    // The costs may be in another order now.
    let mut ordered = Vec::with_capacity(columns.len());
    for cost in history.data.data().cost_names().to_vec() {
        let position = table_costs.iter().position(|name| *name == cost);
        let position = position.unwrap_or(ordered.len());
        ordered.push(columns[position].clone());
    }
    ordered.extend_from_slice(&columns[table_costs.len()..]);
    let values = predictions(file, &ordered, &options.data.csv)?;
    let all: Vec<Option<usize>> = (0..values.rows()).map(Some).collect();
    GivenRows::new(&values, &all)
}

/// The column of the decision for each cost, then for each column with a known cost. A pattern such
/// as `chosen_*` fits a pattern of the costs such as `c_*`: cost `c_north` has the column
/// `chosen_north`, and the column `stock` with a known cost has `chosen_stock`. Otherwise columns
/// are listed in the order of the costs, those of known costs behind them.
fn decision_columns(
    patterns: &[String],
    cost_patterns: &[String],
    costs: &[String],
    auxiliary: &[String],
) -> Result<Vec<String>> {
    if let ([pattern], [costs_pattern]) = (patterns, cost_patterns)
        && let Some((prefix, suffix)) = pattern.split_once('*')
        && let Some((cost_prefix, cost_suffix)) = costs_pattern.split_once('*')
    {
        let column = |cost: &String| {
            let rest = cost.strip_prefix(cost_prefix)?;
            let stem = rest.strip_suffix(cost_suffix)?;
            Some(format!("{prefix}{stem}{suffix}"))
        };
        let columns: Option<Vec<String>> = costs.iter().map(column).collect();
        if let Some(mut columns) = columns {
            let known = auxiliary.iter();
            columns.extend(known.map(|name| format!("{prefix}{name}{suffix}")));
            return Ok(columns);
        }
    }
    if patterns.iter().any(|name| name.contains('*')) {
        return Err(Error::setting(format!(
            "the decisions '{}' do not fit the costs '{}'",
            patterns.join(","),
            cost_patterns.join(",")
        ))
        .with_remedy("use one pattern with one * for both, or list a column for each cost"));
    }
    if patterns.len() != costs.len() + auxiliary.len() {
        let known = match auxiliary.len() {
            0 => String::new(),
            count => format!(" and {count} columns with known costs"),
        };
        return Err(Error::setting(format!(
            "{} columns of decisions for {} costs{known}",
            patterns.len(),
            costs.len()
        ))
        .with_remedy("list a column for each cost, in their order"));
    }
    Ok(patterns.to_vec())
}

#[cfg(test)]
mod tests {
    use super::decision_columns;

    fn columns(patterns: &[&str], cost_patterns: &[&str], costs: &[&str]) -> Option<Vec<String>> {
        complete_columns(patterns, cost_patterns, costs, &[])
    }

    fn complete_columns(
        patterns: &[&str],
        cost_patterns: &[&str],
        costs: &[&str],
        auxiliary: &[&str],
    ) -> Option<Vec<String>> {
        let [patterns, cost_patterns, costs, auxiliary] =
            [patterns, cost_patterns, costs, auxiliary]
                .map(|list| list.iter().map(|s| s.to_string()).collect::<Vec<_>>());
        decision_columns(&patterns, &cost_patterns, &costs, &auxiliary).ok()
    }

    #[test]
    fn columns_with_known_costs_follow_those_of_costs() {
        let (costs, auxiliary) = (["c_north", "c_south"], ["stock"]);
        let by_pattern = complete_columns(&["was_*"], &["c_*"], &costs, &auxiliary).unwrap();
        assert_eq!(by_pattern, ["was_north", "was_south", "was_stock"]);
        let listed = complete_columns(&["a", "b", "s"], &["c_*"], &costs, &auxiliary).unwrap();
        assert_eq!(listed, ["a", "b", "s"]);
        assert_eq!(
            complete_columns(&["a", "b"], &["c_*"], &costs, &auxiliary),
            None
        );
    }

    #[test]
    fn columns_of_decisions_are_found_by_pattern_or_listed() {
        let costs = ["c_north", "c_south"];
        let by_pattern = columns(&["chosen_*_x"], &["c_*"], &costs).unwrap();
        assert_eq!(by_pattern, ["chosen_north_x", "chosen_south_x"]);
        let listed = columns(&["b", "a"], &["c_*"], &costs).unwrap();
        assert_eq!(listed, ["b", "a"]);
        assert_eq!(columns(&["a"], &["c_*"], &costs), None);
        assert_eq!(columns(&["d_*"], &["c_north", "c_south"], &costs), None);
        assert_eq!(columns(&["d_*", "e"], &["c_*"], &costs), None);
    }
}
