//! What trainings of custom predictors take from the library.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::loss::InstanceWeighting;
use regretless::method::Method;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use serde::Serialize;

use super::settings::parse_settings;
use super::split::split_of;
use crate::error::to_py_err;
use crate::loss::parse_method;
use crate::results::to_python;

/// The stages, settings and split of a training, for custom predictors.
#[pyfunction]
#[pyo3(name = "_training_plan")]
pub fn training_plan<'py>(
    py: Python<'py>,
    rows: usize,
    method: Option<&Bound<'py, PyAny>>,
    split: Option<&Bound<'py, PyAny>>,
    times: Option<Vec<String>>,
    seed: u32,
    profile: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let method = parse_method(method)?;
    let settings = parse_settings(settings, profile, u64::from(seed))?;
    let split = split_of(split, times.as_deref(), rows, u64::from(seed))?;
    settings.check(&split).map_err(to_py_err)?;
    let Method::Stages(method_stages) = &method else {
        return Err(PyValueError::new_err(format!(
            "'{method}' chooses among trainings of our own predictors; name a method such as \
             \"MAE(O,S)\" for a custom predictor"
        )));
    };
    let mut stages = Vec::new();
    for (index, stage) in method_stages.iter().enumerate() {
        if stage.loss.properties().weighting != InstanceWeighting::Equal {
            return Err(PyValueError::new_err(format!(
                "{} weights instances by the regret of a trained baseline, which only our own \
                 predictors have; leave the weighting out, or train predictor=\"linear\" or \
                 predictor=\"mlp\"",
                stage.loss
            )));
        }
        stages.push(StagePlan {
            name: stage.to_string(),
            settings: settings.for_stage(stage, index, split.train.len()),
        });
    }
    to_python(
        py,
        &TrainingPlan {
            method: &method,
            stages,
            split_text: split.to_string(),
            split: [&split.train, &split.validation, &split.test],
        },
    )
}

/// A training as Python sees it.
#[derive(Serialize)]
struct TrainingPlan<'a> {
    method: &'a Method,
    stages: Vec<StagePlan>,
    split_text: String,
    /// Rows for training, validation and test.
    split: [&'a [usize]; 3],
}

/// A stage with its settings.
#[derive(Serialize)]
struct StagePlan {
    name: String,
    settings: TrainingSettings,
}

/// What training says about the epoch that it kept, for custom predictors.
#[pyfunction]
#[pyo3(name = "_epoch_remark")]
pub fn epoch_remark(select: &str, best: usize, last: usize) -> PyResult<Option<String>> {
    let criterion: SelectionCriterion = select.parse().map_err(to_py_err)?;
    Ok(criterion.epoch_remark(best, last, "initial model", "epochs"))
}

/// The training rows of an epoch, in the order in which training visits them.
#[pyfunction]
#[pyo3(name = "_epoch_rows")]
pub fn epoch_rows(
    mut rows: Vec<usize>,
    seed: u64,
    epoch: usize,
    rows_per_epoch: Option<usize>,
) -> Vec<usize> {
    let settings = TrainingSettings {
        seed,
        rows_per_epoch,
        ..TrainingSettings::default()
    };
    settings.shuffle_rows(&mut rows, epoch);
    rows.truncate(settings.rows_of_epoch(rows.len()));
    rows
}
