//! Rows for training, validation and test.

use std::collections::HashSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{Split, SplitIndices, SplitRule};
use regretless::label::LabeledSplit;

use crate::arrays::row_numbers;
use crate::error::to_py_err;

/// The column of times that a split such as "time:date,0.2" names; `None` for any other text.
#[pyfunction]
#[pyo3(name = "_time_column")]
pub fn time_column(split: &str) -> Option<String> {
    match split.parse::<SplitRule>() {
        Ok(rule @ SplitRule::Time { .. }) => {
            let split = rule.with_seed(0);
            Some(split.time_column().unwrap_or_default().to_owned())
        }
        _ => None,
    }
}

/// The rows of each part. A split by time has the `times` of all rows and is the text of its rule,
/// or a list of none, one or two fractions.
pub fn split_of(
    split: Option<&Bound<'_, PyAny>>,
    times: Option<&[String]>,
    rows: usize,
    seed: u64,
) -> PyResult<SplitIndices> {
    let (Some(times), Some(split)) = (times, split) else {
        return parse_split(split, rows, seed);
    };
    if times.len() != rows {
        return Err(PyValueError::new_err(format!(
            "split: {} times for {rows} rows",
            times.len()
        )));
    }
    let split = if let Ok(text) = split.extract::<String>() {
        text.parse::<SplitRule>().map_err(to_py_err)?.with_seed(0)
    } else {
        let by_time = Split::by_time("time");
        match split.extract::<Vec<f64>>()?[..] {
            [] => by_time,
            [both] => by_time.validation(both).test(both),
            [validation, test, ..] => by_time.validation(validation).test(test),
        }
    };
    split.apply_to_times(times).map_err(to_py_err)
}

/// The split by time that is suggested if the features of a table have dates.
pub fn suggested_split(rows: &LabeledSplit) -> Option<String> {
    let column = rows.data.data().features().date_column();
    column.map(|column| format!("split=\"time:{column}\""))
}

/// A split by fractions, numbers of rows, or lists of rows.
fn parse_split(split: Option<&Bound<'_, PyAny>>, rows: usize, seed: u64) -> PyResult<SplitIndices> {
    let Some(split) = split else {
        return SplitRule::DEFAULT
            .with_seed(seed)
            .apply(rows)
            .map_err(to_py_err);
    };
    let apply = |text: &str| {
        text.parse::<SplitRule>()
            .and_then(|rule| rule.with_seed(seed).apply(rows))
            .map_err(to_py_err)
    };
    if let Ok(text) = split.extract::<String>() {
        return apply(&text);
    }
    if split.extract::<f64>().is_ok() {
        return apply(&split.str()?.to_string());
    }
    let parts: Vec<Bound<'_, PyAny>> = split.try_iter()?.collect::<PyResult<_>>()?;
    if parts.iter().all(|part| part.extract::<f64>().is_ok()) {
        let mut numbers = Vec::with_capacity(parts.len());
        for part in &parts {
            numbers.push(part.str()?.to_string());
        }
        return apply(&numbers.join(","));
    }
    split_by_rows(&parts, rows)
}

/// A split by lists of rows for training, validation and test.
pub fn split_by_rows(parts: &[Bound<'_, PyAny>], rows: usize) -> PyResult<SplitIndices> {
    if parts.len() > 3 {
        return Err(PyValueError::new_err(
            "split has rows for training, validation and test; there are more than three lists",
        ));
    }
    let list = |number: usize| match parts.get(number) {
        Some(part) => split_part(part, rows),
        None => Ok(Vec::new()),
    };
    let split = SplitIndices {
        train: list(0)?,
        validation: list(1)?,
        test: list(2)?,
        rule: "given by row numbers".into(),
        is_chronological: false,
    };
    check_disjoint(&split.train, &split.validation, "training and validation")?;
    check_disjoint(&split.train, &split.test, "training and test")?;
    check_disjoint(&split.validation, &split.test, "validation and test")?;
    Ok(split)
}

fn split_part(part: &Bound<'_, PyAny>, rows: usize) -> PyResult<Vec<usize>> {
    let list = row_numbers(part, "split")?;
    match list.iter().find(|row| **row >= rows) {
        Some(row) => Err(PyValueError::new_err(format!(
            "split: row {row} does not exist; the table has {rows}"
        ))),
        None => Ok(list),
    }
}

fn check_disjoint(first: &[usize], second: &[usize], names: &str) -> PyResult<()> {
    let first: HashSet<&usize> = first.iter().collect();
    match second.iter().find(|row| first.contains(row)) {
        None => Ok(()),
        Some(row) => Err(PyValueError::new_err(format!(
            "split: row {row} is among the rows for {names}; results measured on rows of both \
             are biased"
        ))),
    }
}
