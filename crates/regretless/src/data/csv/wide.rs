//! Tables with one row per instance: features and costs in one file, or in two.

use std::path::Path;

use super::table::{CsvTable, NumericColumns};
use crate::data::layout::{ColumnSelection, CsvHeader, WideColumns};
use crate::data::row_times::RowTimes;
use crate::data::{CsvDialect, Dataset, FeatureShape, Features, InstanceKeys, Matrix};
use crate::error::{Error, InputPlace, Result};

/// Features and costs from one file.
pub(super) fn read(path: &Path, columns: &WideColumns, dialect: CsvDialect) -> Result<Dataset> {
    if columns.costs.is_empty() {
        return Err(Error::setting(
            "name the cost columns of the table, for instance by the pattern c*",
        ));
    }
    let mut table = CsvTable::open(path, dialect)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let costs = header.matching(&columns.costs, &columns.ignore)?;
    let features = header.features(&columns.features, &columns.ignore, &costs)?;
    let cost_names = table.names_of(&costs);
    let chosen = ColumnSelection {
        features,
        costs,
        all_remaining: columns.features.is_empty(),
    };
    let mut numbers = table.read(chosen, |_| Ok(()))?;
    let costs = Matrix::new(
        numbers.rows,
        cost_names.len(),
        std::mem::take(&mut numbers.costs),
    )?;
    Dataset::new(
        features_of(&table, numbers)?,
        costs,
        Some(cost_names.into()),
    )
}

/// Features from one file and costs from another, row by row.
pub(super) fn read_pair(
    features: &Path,
    costs: &Path,
    columns: &WideColumns,
    dialect: CsvDialect,
) -> Result<Dataset> {
    let mut feature_table = CsvTable::open(features, dialect)?;
    let mut cost_table = CsvTable::open(costs, dialect)?;
    CsvHeader::check_ignored(
        &[feature_table.header(), cost_table.header()],
        &columns.ignore,
    )?;
    let chosen = ColumnSelection {
        features: feature_table
            .header()
            .features(&columns.features, &columns.ignore, &[])?,
        costs: Vec::new(),
        all_remaining: columns.features.is_empty(),
    };
    let cost_columns = cost_table
        .header()
        .features(&columns.costs, &columns.ignore, &[])?;
    let cost_names = cost_table.names_of(&cost_columns);
    let feature_columns = feature_table.read(chosen, |_| Ok(()))?;
    let cost_columns = cost_table.read(
        ColumnSelection {
            costs: cost_columns,
            ..ColumnSelection::default()
        },
        |_| Ok(()),
    )?;
    if feature_columns.rows != cost_columns.rows {
        let other = format!("{} has {}", features.display(), feature_columns.rows);
        let message = format!(
            "{} rows of costs, but {other} rows of features; each row is one instance",
            cost_columns.rows
        );
        return Err(Error::input(InputPlace::file(costs), message));
    }
    let costs = Matrix::new(cost_columns.rows, cost_names.len(), cost_columns.costs)?;
    Dataset::new(
        features_of(&feature_table, feature_columns)?,
        costs,
        Some(cost_names.into()),
    )
}

/// The wanted features, in the wanted order.
pub(super) fn read_features(
    path: &Path,
    wanted: &[String],
    dialect: CsvDialect,
) -> Result<Features> {
    let mut table = CsvTable::open(path, dialect)?;
    let features = wanted
        .iter()
        .map(|name| table.header().column(name))
        .collect::<Result<_>>()?;
    let numbers = table.read(
        ColumnSelection {
            features,
            ..ColumnSelection::default()
        },
        |_| Ok(()),
    )?;
    features_of(&table, numbers)
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

fn features_of(table: &CsvTable, numbers: NumericColumns) -> Result<Features> {
    let names = table.names_of(&numbers.feature_columns);
    let values = Matrix::new(numbers.rows, names.len(), numbers.features)?;
    Features::new(values, FeatureShape::Wide, Some(names))
}
