//! Settings of a training from keywords.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use regretless::optimizer::Optimizer;
use regretless::settings::TrainingSettings;
use serde_json::Value;

use crate::error::to_py_err;

/// The settings of a profile, overridden by keywords.
pub fn parse_settings(
    keywords: Option<&Bound<'_, PyDict>>,
    profile: &str,
    seed: u64,
) -> PyResult<TrainingSettings> {
    let defaults = match profile {
        "default" => TrainingSettings {
            seed,
            ..TrainingSettings::default()
        },
        "paper" => TrainingSettings::paper(seed),
        _ => {
            return Err(to_py_err(regretless::Error::unknown(
                "profile",
                profile,
                &["default", "paper"],
            )));
        }
    };
    let invalid = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
    let mut table = serde_json::to_value(defaults).map_err(invalid)?;
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let names = table
            .as_object()
            .map(|settings| settings.keys().cloned().collect::<Vec<_>>())
            .unwrap_or_default();
        if !names.contains(&name) || name == "seed" {
            let is_setting = |word: &str| names.iter().any(|known| known == word);
            let message = match regretless::Error::renamed_word(&name, is_setting) {
                Some(new) => format!("train() got '{name}'; it is called '{new}' now"),
                None if name == "ignore" => "there is no setting 'ignore' in Python: leave the \
                     columns out of X"
                    .into(),
                None => {
                    let choices = names.join(", ");
                    format!("train() has no setting '{name}'; choose one of: {choices}")
                }
            };
            return Err(PyTypeError::new_err(message));
        }
        table[&name] = setting_value(&name, &value)?;
        serde_json::from_value::<TrainingSettings>(table.clone()).map_err(|error| {
            let text = in_plain_words(&error.to_string());
            let text = regretless::Error::explain_renamed(&text);
            PyValueError::new_err(format!("{name}: {text}"))
        })?;
    }
    serde_json::from_value(table).map_err(invalid)
}

/// A message of serde without names of Rust's types.
fn in_plain_words(message: &str) -> String {
    message
        .replace("expected usize", "expected an integer of at least 0")
        .replace("expected u64", "expected an integer of at least 0")
        .replace("expected f64", "expected a number")
}

/// The default settings of `train` as JSON; the type stub lists them, and a test compares.
#[pyfunction]
#[pyo3(name = "_default_settings")]
pub fn default_settings() -> PyResult<String> {
    serde_json::to_string(&TrainingSettings::default())
        .map_err(|error| PyValueError::new_err(format!("settings: {error}")))
}

fn setting_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let invalid = |error: serde_json::Error| PyValueError::new_err(format!("{name}: {error}"));
    if name == "optimizer" && value.is_instance_of::<PyString>() {
        let optimizer: Optimizer = value.extract::<String>()?.parse().map_err(to_py_err)?;
        return serde_json::to_value(optimizer).map_err(invalid);
    }
    // numpy scalars become Python numbers.
    let plain = if value.hasattr("item")? {
        value.call_method0("item")?
    } else {
        value.clone()
    };
    serde_json::from_str(&json_text(&plain, name)?).map_err(invalid)
}

/// A Python value as JSON, which has finite numbers only; `what` is its name in messages.
pub fn json_text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("allow_nan", false)?;
    let text = py
        .import("json")?
        .call_method("dumps", (value,), Some(&options));
    let text = text.map_err(|error| {
        if !error.is_instance_of::<PyValueError>(py) {
            return error;
        }
        if value.extract::<f64>().is_ok() {
            return PyValueError::new_err(format!("{what}: {value} is not a finite number"));
        }
        PyValueError::new_err(format!(
            "{what} holds a number that is not finite: {}",
            error.value(py)
        ))
    })?;
    text.extract()
}

/// Whether settings name the criterion that selects epochs.
pub fn names_selection(settings: Option<&Bound<'_, PyDict>>) -> bool {
    settings.is_some_and(|settings| settings.contains("select").unwrap_or(false))
}
