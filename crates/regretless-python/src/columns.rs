//! Features as Python passes them: one array, or columns of numbers, texts, categories and dates.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use regretless::data::{FeatureOptions, Features};
use regretless::predict::CostModel;

use crate::arrays::features;
use crate::call_observer::warn;
use crate::error::to_py_err;

/// One column: its name, its kind and its values.
type TypedColumn<'py> = (String, String, Bound<'py, PyAny>);

/// How columns become features, as the keywords of `train` say it.
#[pyclass(frozen, module = "regretless._core", name = "_FeatureSettings")]
#[derive(Default)]
pub struct FeatureSettings {
    /// The options.
    pub options: FeatureOptions,
}

#[pymethods]
impl FeatureSettings {
    #[new]
    fn new(
        categories: Vec<String>,
        target_statistics: Vec<String>,
        dates: Vec<String>,
        holidays: Vec<String>,
        missing: &str,
    ) -> PyResult<Self> {
        let refuse_gaps = match missing {
            "impute" => false,
            "error" => true,
            other => {
                let choices = ["impute", "error"];
                return Err(to_py_err(regretless::Error::unknown(
                    "missing", other, &choices,
                )));
            }
        };
        let options = FeatureOptions {
            categories,
            target_statistics,
            dates,
            holidays,
            refuse_gaps,
        };
        options.check().map_err(to_py_err)?;
        Ok(Self { options })
    }

    /// Whether nothing was said.
    #[getter]
    fn is_default(&self) -> bool {
        self.options == FeatureOptions::default()
    }

    /// Which of these columns are texts even if they hold numbers.
    fn text_columns(&self, names: Vec<String>) -> Vec<String> {
        text_columns(&self.options, names)
    }
}

/// Which of these columns are texts even if they hold numbers.
pub fn text_columns(options: &FeatureOptions, mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| options.is_text(name));
    names
}

/// The features of a table for training: an array, or a list of columns, which are encoded when the
/// table is split.
pub fn training_features(
    value: &Bound<'_, PyAny>,
    names: Option<Vec<String>>,
    options: FeatureOptions,
) -> PyResult<Features> {
    match value.cast::<PyList>() {
        Ok(columns) => raw_features(columns, options, true),
        Err(_) => features(value, names, None),
    }
}

/// The features of a table as a model expects them, with a warning for values that it does not
/// know.
pub fn model_features(value: &Bound<'_, PyAny>, model: &CostModel) -> PyResult<Features> {
    let trained = &model.metadata.features;
    if model.metadata.encoding.is_none() {
        return features(value, None, Some(trained));
    }
    let raw = if let Ok(columns) = value.cast::<PyList>() {
        raw_features(columns, FeatureOptions::default(), false)?
    } else {
        // An array has the columns of the table, or the features themselves.
        let columns = model.column_names();
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

/// The features of columns. In training, columns of type category are categories unless the options
/// say something else of them.
fn raw_features(
    columns: &Bound<'_, PyList>,
    mut options: FeatureOptions,
    is_training: bool,
) -> PyResult<Features> {
    let columns: Vec<TypedColumn<'_>> = columns.extract()?;
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
                if kind == "categories" && is_training && !options.names_column(&name) {
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
