//! Columns of DataFrames: numbers, texts, categories and dates.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{FeatureOptions, Features};
use regretless::predict::CostModel;

use crate::arrays::features;
use crate::call_observer::warn;
use crate::error::to_py_err;
use crate::names::column_names;

/// One column: its name, its kind and its values.
type TypedColumn<'py> = (String, String, Bound<'py, PyAny>);

/// The features of a table for training. A DataFrame with texts, dates or gaps is read column by
/// column; it is encoded when it is split.
pub fn training_features(
    value: &Bound<'_, PyAny>,
    names: Option<Vec<String>>,
    options: FeatureOptions,
) -> PyResult<Features> {
    let module = value.py().import("regretless.tables.columns")?;
    let has_options = options != FeatureOptions::default();
    let is_table = column_names(value)?.is_some();
    if has_options && !is_table {
        return Err(PyValueError::new_err(
            "X: categories, target_statistics, dates, holidays and missing need a DataFrame, whose \
             columns have names",
        ));
    }
    let is_raw = is_table && module.call_method1("needs_encoding", (value,))?.extract()?;
    if !has_options && !is_raw {
        return features(value, names, None);
    }
    let reading = options.clone();
    table(value, None, options, &reading)
}

/// The features of a table as a model expects them, with a warning for values that it does not
/// know.
pub fn model_features(value: &Bound<'_, PyAny>, model: &CostModel) -> PyResult<Features> {
    let trained = &model.metadata.features;
    if model.metadata.encoding.is_none() {
        let module = value.py().import("regretless.tables.columns")?;
        let value = module.call_method1("model_columns", (value, trained.clone()))?;
        return features(&value, None, Some(trained));
    }
    let columns = model.column_names();
    let raw = if column_names(value)?.is_some() {
        let reading = model.reading_options();
        table(value, Some(&columns), FeatureOptions::default(), &reading)?
    } else {
        // An array has the columns of the table, or the features themselves.
        let raw = features(value, None, Some(&columns))?;
        if raw.values().cols() == columns.len() {
            raw
        } else {
            features(value, None, Some(trained))?
        }
    };
    let encoded = model.encode(&raw).map_err(in_features)?;
    for note in encoded.encoding_notes() {
        warn(value.py(), &format!("X: {note}"))?;
    }
    Ok(encoded)
}

/// The features of a table. `reading` says which columns are texts also where they hold numbers.
fn table(
    value: &Bound<'_, PyAny>,
    wanted: Option<&[String]>,
    mut options: FeatureOptions,
    reading: &FeatureOptions,
) -> PyResult<Features> {
    let module = value.py().import("regretless.tables.columns")?;
    let wanted = wanted.map(<[String]>::to_vec);
    let mut texts = column_names(value)?.unwrap_or_default();
    texts.extend(wanted.iter().flatten().cloned());
    texts.retain(|name| reading.is_text(name));
    let columns: Vec<TypedColumn<'_>> = module
        .call_method1("feature_columns", (value, wanted.clone(), texts))?
        .extract()?;
    let mut table = Features::builder();
    for (name, kind, values) in columns {
        table = match kind.as_str() {
            "numbers" => {
                let array = values.cast::<PyArray1<f32>>()?.readonly();
                let numbers = array.as_array().to_vec();
                if let Some(row) = numbers.iter().position(|number| number.is_infinite()) {
                    return Err(PyValueError::new_err(format!(
                        "X: row {row}, column {name}: {} is not a finite number (rows counted from \
                         0)",
                        numbers[row]
                    )));
                }
                table.numbers(name, numbers)
            }
            "dates" => {
                let texts: Vec<Option<String>> = values.extract()?;
                table.dates(name, texts).map_err(in_features)?
            }
            kind => {
                if kind == "categories" && wanted.is_none() && !options.names_column(&name) {
                    options.categories.push(name.clone());
                }
                let texts: Vec<Option<String>> = values.extract()?;
                table.texts(name, texts)
            }
        };
    }
    table.features(options).map_err(in_features)
}

/// An error in the features.
pub fn in_features(error: regretless::Error) -> PyErr {
    match error {
        regretless::Error::Input { .. } => PyValueError::new_err(format!("X: {error}")),
        other => to_py_err(other),
    }
}
