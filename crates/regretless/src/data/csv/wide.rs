//! Tables with one row per instance: features and costs in one file, or in two.

use std::path::Path;
use std::sync::Arc;

use super::CsvInput;
use super::feature_cells::FeatureCells;
use super::table::{CsvTable, SelectedColumns};
use crate::data::layout::{ColumnSelection, CsvHeader, WantedFeatures, WideColumns};
use crate::data::row_times::RowTimes;
use crate::data::{
    CsvDialect, Dataset, FeatureShape, Features, InstanceKeys, Matrix, ParameterColumns,
    RowParameters,
};
use crate::error::{Error, InputPlace, Result};

/// The feature of a table of which only the costs are read. No header has this name by accident.
pub(super) const PLACEHOLDER_FEATURE: &str = "#none";

/// Features and costs from one file.
pub(super) fn read(path: &Path, columns: &WideColumns, input: CsvInput<'_>) -> Result<Dataset> {
    if columns.costs.is_empty() {
        return Err(Error::setting(
            "name the cost columns of the table, for instance by the pattern c*",
        ));
    }
    let problem = input.problem;
    let mut table = input.open(path)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let costs = header.matching(&columns.costs, &columns.ignore)?;
    let parameters = header.parameters(problem.parameters_in_files())?;
    header.check_known(&costs, &parameters)?;
    let features = header.features(&columns.features, &columns.ignore, &costs)?;
    let cost_names = table.names_of(&costs);
    let parameter_names = table.names_of(&parameters);
    let chosen = ColumnSelection {
        features,
        costs,
        cells: FeatureCells::Inferred(columns.options.clone()),
        parameters,
        costs_may_be_empty: problem.may_have_absent_costs,
    };
    let mut numbers = table.read(chosen, |_| Ok(()))?;
    let costs = Matrix::new(
        numbers.rows,
        cost_names.len(),
        std::mem::take(&mut numbers.costs),
    )?;
    let parameters = parameters_of(parameter_names, &mut numbers)?;
    // All costs are finite but those that do not exist.
    Dataset::from_finite_parts(features_of(numbers)?, costs, Some(cost_names.into()))?
        .with_any_parameters(parameters)
}

/// Reads features from one file and costs from another, one row per instance in both. Without
/// patterns for the costs, every column of their file is one that is no parameter. The file of the
/// features is not read if they are placeholders.
///
/// # Errors
/// As [`super::read_for`], and when the files have different numbers of rows.
pub(in crate::data) fn read_pair(
    features: &Path,
    costs: &Path,
    columns: &WideColumns,
    input: CsvInput<'_>,
) -> Result<Dataset> {
    let has_parameters = input.problem.parameters_in_files().next().is_some();
    // Parameters may be in the file of the features, which is then read for them.
    if input.problem.without_features && !(has_parameters && features != costs) {
        return read_costs(costs, columns, input);
    }
    read_both(features, costs, columns, input)
}

/// Features from one file and costs from another, row by row. Parameters are in the first, or else
/// in the second.
fn read_both(
    features: &Path,
    costs: &Path,
    columns: &WideColumns,
    input: CsvInput<'_>,
) -> Result<Dataset> {
    let problem = input.problem;
    let mut feature_table = input.open(features)?;
    let mut cost_table = input.open(costs)?;
    CsvHeader::check_ignored(
        &[feature_table.header(), cost_table.header()],
        &columns.ignore,
    )?;
    let is_with_costs = |parameter: &&ParameterColumns| {
        let is_in = |table: &CsvTable| !table.header().parameter(&parameter.pattern).is_empty();
        is_in(&cost_table) && !is_in(&feature_table)
    };
    let (with_costs, with_features): (Vec<_>, Vec<_>) =
        problem.parameters_in_files().partition(is_with_costs);
    let header = feature_table.header();
    let features_wanted = if problem.without_features {
        Vec::new()
    } else {
        header.features(&columns.features, &columns.ignore, &[])?
    };
    let chosen = ColumnSelection {
        features: features_wanted,
        cells: FeatureCells::Inferred(columns.options.clone()),
        parameters: header.parameters(with_features.into_iter())?,
        ..ColumnSelection::default()
    };
    let mut parameter_names = feature_table.names_of(&chosen.parameters);
    let header = cost_table.header();
    let cost_parameters = header.parameters(with_costs.into_iter())?;
    parameter_names.extend(cost_table.names_of(&cost_parameters));
    let cost_columns = if columns.costs.is_empty() {
        header.features(&[], &columns.ignore, &cost_parameters)?
    } else {
        header.features(&columns.costs, &columns.ignore, &[])?
    };
    header.check_known(&cost_columns, &cost_parameters)?;
    let cost_names = cost_table.names_of(&cost_columns);
    let mut feature_columns = feature_table.read(chosen, |_| Ok(()))?;
    let cost_columns = cost_table.read(
        ColumnSelection {
            costs: cost_columns,
            parameters: cost_parameters,
            costs_may_be_empty: problem.may_have_absent_costs,
            ..ColumnSelection::default()
        },
        |_| Ok(()),
    )?;
    let rows = cost_columns.rows;
    if feature_columns.rows != rows {
        let other = format!("{} has {}", features.display(), feature_columns.rows);
        let message =
            format!("{rows} rows of costs, but {other} rows of features; each row is one instance");
        return Err(Error::input(InputPlace::file(costs), message));
    }
    feature_columns.parameters.extend(cost_columns.parameters);
    let parameters = parameters_of(parameter_names, &mut feature_columns)?;
    let costs = Matrix::new(rows, cost_names.len(), cost_columns.costs)?;
    let features = if problem.without_features {
        placeholder_features(feature_columns.rows)?
    } else {
        features_of(feature_columns)?
    };
    Dataset::from_finite_parts(features, costs, Some(cost_names.into()))?
        .with_any_parameters(parameters)
}

/// Costs and parameters from one file; the table has one feature, which is always 0.
fn read_costs(path: &Path, columns: &WideColumns, input: CsvInput<'_>) -> Result<Dataset> {
    let problem = input.problem;
    let mut table = input.open(path)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let parameters = header.parameters(problem.parameters_in_files())?;
    let costs = if columns.costs.is_empty() {
        header.features(&[], &columns.ignore, &parameters)?
    } else {
        header.features(&columns.costs, &columns.ignore, &[])?
    };
    header.check_known(&costs, &parameters)?;
    let cost_names = table.names_of(&costs);
    let parameter_names = table.names_of(&parameters);
    let chosen = ColumnSelection {
        costs,
        parameters,
        costs_may_be_empty: problem.may_have_absent_costs,
        ..ColumnSelection::default()
    };
    let mut numbers = table.read(chosen, |_| Ok(()))?;
    let parameters = parameters_of(parameter_names, &mut numbers)?;
    let costs = Matrix::new(numbers.rows, cost_names.len(), numbers.costs)?;
    let features = placeholder_features(numbers.rows)?;
    Dataset::from_finite_parts(features, costs, Some(cost_names.into()))?
        .with_any_parameters(parameters)
}

/// The wanted features, in the wanted order, and the parameters.
pub(super) fn read_features(
    path: &Path,
    wanted: &WantedFeatures<'_>,
    input: CsvInput<'_>,
) -> Result<(Features, RowParameters)> {
    let mut table = input.open(path)?;
    let header = table.header();
    let mut chosen = wanted.selection(header)?;
    chosen.parameters = header.parameters(input.problem.parameters_in_files())?;
    let parameter_names = table.names_of(&chosen.parameters);
    let mut numbers = table.read(chosen, |_| Ok(()))?;
    let parameters = parameters_of(parameter_names, &mut numbers)?;
    Ok((features_of(numbers)?, parameters))
}

/// The parameters of a table under their names.
fn parameters_of(names: Vec<String>, numbers: &mut SelectedColumns) -> Result<RowParameters> {
    let mut parameters = RowParameters::new(numbers.rows);
    for (name, values) in names
        .into_iter()
        .zip(std::mem::take(&mut numbers.parameters))
    {
        parameters = parameters.with_column(name, 1, Arc::new(values))?;
    }
    Ok(parameters)
}

/// The time of every row.
pub(super) fn read_times(path: &Path, column: &str, dialect: CsvDialect) -> Result<RowTimes> {
    let mut table = CsvTable::open(path, dialect)?;
    let column = table.header().column(column)?;
    let mut times = RowTimes::default();
    table.read(ColumnSelection::default(), |table| {
        let time = table.time(column)?;
        times
            .push(&time)
            .map_err(|message| table.cell_error(column, message))
    })?;
    Ok(times)
}

/// The cells of a column, one per instance.
pub(super) fn read_keys(path: &Path, column: &str, dialect: CsvDialect) -> Result<InstanceKeys> {
    let mut table = CsvTable::open(path, dialect)?;
    let index = table.header().column(column)?;
    let mut keys = Vec::new();
    table.read(ColumnSelection::default(), |table| {
        keys.push(table.text(index)?.to_owned());
        Ok(())
    })?;
    Ok(InstanceKeys::new(column, keys))
}

/// One feature, which is always 0.
fn placeholder_features(rows: usize) -> Result<Features> {
    let names = Some(vec![PLACEHOLDER_FEATURE.into()]);
    Features::new(Matrix::zeros(rows, 1), FeatureShape::Wide, names)
}

fn features_of(numbers: SelectedColumns) -> Result<Features> {
    Features::from_raw_table(numbers.features, FeatureShape::Wide)
}
