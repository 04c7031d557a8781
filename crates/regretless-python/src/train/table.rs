//! Tables of trainings: features and costs, checked and encoded.

use std::collections::{BTreeMap, HashSet};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use regretless::data::{CostNames, DataCheck, Dataset, FeatureOptions, Finding};
use regretless::job::MatchedTable;

use crate::arrays::{ArrayOwnership, matrix, vector};
use crate::columns::training_features;
use crate::error::to_py_err;
use crate::label::with_parameters;
use crate::names::{column_names, open_table};
use crate::parameters::{ParameterList, row_parameters};
use crate::problem::Problem;

/// The findings of a table, with the order of its rows if their times are known.
pub fn check_table(
    times: Option<&[String]>,
    check: DataCheck<'_>,
) -> regretless::Result<Vec<Finding>> {
    match times {
        Some(times) => check.run_with_times(times),
        None => Ok(check.run()),
    }
}

/// A checked data set.
pub fn dataset(
    problem: &Problem,
    x: &Bound<'_, PyAny>,
    c: &Bound<'_, PyAny>,
    feature_names: Option<Vec<String>>,
    cost_names: Option<Vec<String>>,
    options: FeatureOptions,
) -> PyResult<Dataset> {
    let costs = matrix(c, "C", ArrayOwnership::Borrow)?;
    let names = cost_names.or_else(|| column_names(c)).map(CostNames::from);
    if let Some(names) = &names {
        warn_about_costs_among_features(problem, x, names)?;
    }
    let features = training_features(x, feature_names, options)?;
    let data = if problem.problem.may_have_absent_costs() {
        Dataset::with_missing_costs(features, costs, names)
    } else {
        Dataset::new(features, costs, names)
    };
    data.map_err(|error| match error {
        regretless::Error::Input { ref place, .. } if place.row.is_some() => {
            PyValueError::new_err(format!("C: {error}"))
        }
        other => to_py_err(other),
    })
}

/// Warns if columns of the costs are among the features.
fn warn_about_costs_among_features(
    problem: &Problem,
    x: &Bound<'_, PyAny>,
    cost_names: &CostNames,
) -> PyResult<()> {
    let feature_names: HashSet<String> = match x.cast::<PyList>() {
        // Columns of several types: a name comes first.
        Ok(columns) => columns
            .iter()
            .map(|column| column.get_item(0)?.extract())
            .collect::<PyResult<_>>()?,
        Err(_) => column_names(x).into_iter().flatten().collect(),
    };
    let shared: Vec<String> = cost_names
        .iter()
        .filter(|name| feature_names.contains(name.as_ref()))
        .map(|name| format!("'{name}'"))
        .collect();
    if shared.is_empty() {
        return Ok(());
    }
    let warning = format!(
        "X has columns that C has too ({}): the true costs are not known when decisions are made; \
         leave them out of X",
        shared.join(", ")
    );
    problem.warn_once(x.py(), &warning)
}

/// What the encoding of a table does to columns, and which it does not use, by name.
pub(super) struct EncodingSummary {
    pub(super) encoded: BTreeMap<String, String>,
    pub(super) unused: BTreeMap<String, String>,
}

impl EncodingSummary {
    pub(super) fn of(data: &Dataset) -> Self {
        let encoding = data.features().encoding();
        let encoded = encoding.map(|encoding| encoding.descriptions());
        let mut unused = BTreeMap::new();
        for (name, reason) in encoding
            .iter()
            .flat_map(|encoding| encoding.unused_columns())
        {
            unused.insert(name.to_owned(), reason.to_owned());
        }
        Self {
            encoded: encoded.into_iter().flatten().collect(),
            unused,
        }
    }
}

/// The table of a study: its costs are in the order of the problem's.
pub fn study_table<'py>(
    problem: &Problem,
    x: &Bound<'py, PyAny>,
    c: &Bound<'py, PyAny>,
    parameters: Option<ParameterList<'py>>,
) -> PyResult<MatchedTable> {
    let data = dataset(problem, x, c, None, None, FeatureOptions::default())?;
    let parameters = row_parameters(problem, parameters, data.len(), ArrayOwnership::Copy)?;
    let table = open_table(x.py(), problem, with_parameters(data, parameters)?)?;
    problem.check_width(table.data().costs().cols())?;
    Ok(table)
}

/// The table with row weights.
pub(super) fn with_row_weights(
    table: MatchedTable,
    weights: &Bound<'_, PyAny>,
) -> PyResult<MatchedTable> {
    let weights = vector(weights, "weights")?;
    table.weighted(weights).map_err(|error| match error {
        regretless::Error::Input { .. } => PyValueError::new_err(format!("weights: {error}")),
        other => to_py_err(other),
    })
}
