//! Training, the same as on the command line.

mod plan;
mod settings;
mod split;
mod table;

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::checkpoint::CheckpointFolder;
use regretless::job::{MatchedTable, TrainingJob};
use regretless::method::{Method, TrainingStage};
use regretless::observer::NoopObserver;
use regretless::trainer::{Trainer, TrainingOutcome};

use crate::arrays::ArrayOwnership;
use crate::call_observer::PyCall;
use crate::columns::{FeatureSettings, in_features};
use crate::error::to_py_err;
use crate::keywords::{SolveOptions, keyword, keyword_object, seed_number};
use crate::label::{given_labels, labeled_table, with_parameters};
use crate::loss::parse_method;
use crate::names::open_table;
use crate::notes::raise_notes;
use crate::parameters::{ParameterList, row_parameters};
use crate::predict::Model;
use crate::problem::Problem;
use crate::results::to_python;
pub use plan::{epoch_remark, epoch_rows, training_plan};
pub use settings::{default_settings, json_text, names_selection, parse_settings};
pub use split::{split_by_rows, split_of, suggested_split, time_column};
use table::{EncodingSummary, with_row_weights};
pub use table::{check_table, dataset, study_table};

/// The data of a training as Python passes it; `regretless.train` documents the arguments.
pub struct TrainingData<'py> {
    x: Bound<'py, PyAny>,
    c: Bound<'py, PyAny>,
    labels: Option<Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    weights: Option<Bound<'py, PyAny>>,
    split: Option<Bound<'py, PyAny>>,
    times: Option<Vec<String>>,
    feature_names: Option<Vec<String>>,
    cost_names: Option<Vec<String>>,
    features: Py<FeatureSettings>,
}

impl<'py> FromPyObject<'_, 'py> for TrainingData<'py> {
    type Error = PyErr;

    fn extract(data: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let data = data.to_owned();
        Ok(Self {
            x: data.getattr("X")?,
            c: data.getattr("C")?,
            labels: keyword_object(&data, "labels")?,
            parameters: keyword(&data, "parameters")?,
            weights: keyword_object(&data, "weights")?,
            split: keyword_object(&data, "split")?,
            times: keyword(&data, "times")?,
            feature_names: keyword(&data, "feature_names")?,
            cost_names: keyword(&data, "cost_names")?,
            features: data
                .getattr("features")?
                .cast_into::<FeatureSettings>()?
                .unbind(),
        })
    }
}

impl TrainingData<'_> {
    /// The table with its split, in the order of the problem's costs.
    fn table(&mut self, problem: &Problem, seed: u64) -> PyResult<MatchedTable> {
        let options = self.features.get().options.clone();
        let feature_names = self.feature_names.take();
        let cost_names = self.cost_names.take();
        let data = dataset(
            problem,
            &self.x,
            &self.c,
            feature_names,
            cost_names,
            options,
        )?;
        let parameters = self.parameters.take();
        let rows = data.len();
        let parameters = row_parameters(problem, parameters, rows, ArrayOwnership::Borrow)?;
        let data = with_parameters(data, parameters)?;
        let mut table = open_table(self.x.py(), problem, data)?;
        if let Some(weights) = &self.weights {
            table = with_row_weights(table, weights)?;
        }
        let split = split_of(self.split.as_ref(), self.times.as_deref(), rows, seed)?;
        problem.check_width(table.data().costs().cols())?;
        table.divided(vec![split]).map_err(in_features)
    }
}

/// The trainer of a call as Python passes it.
pub struct TrainerSettings<'py> {
    method: Option<Bound<'py, PyAny>>,
    /// Methods that `auto` compares beside its own.
    candidates: Option<Vec<Bound<'py, PyAny>>>,
    predictor: Option<String>,
    init_model: Option<Py<Model>>,
    seed: u32,
    profile: String,
    checkpoint: Option<PathBuf>,
    settings: Option<Bound<'py, PyDict>>,
}

impl<'py> FromPyObject<'_, 'py> for TrainerSettings<'py> {
    type Error = PyErr;

    fn extract(settings: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let settings = settings.to_owned();
        let candidates = keyword_object(&settings, "candidates")?;
        let init_model = keyword_object(&settings, "init_model")?;
        let keywords = keyword_object(&settings, "settings")?;
        Ok(Self {
            method: keyword_object(&settings, "method")?,
            candidates: candidates.map(|list| list.extract()).transpose()?,
            predictor: keyword(&settings, "predictor")?,
            init_model: init_model
                .map(|model| model.cast_into::<Model>().map(Bound::unbind))
                .transpose()?,
            seed: seed_number(&settings.getattr("seed")?)?,
            profile: keyword(&settings, "profile")?,
            checkpoint: keyword(&settings, "checkpoint")?,
            settings: keywords.map(Bound::cast_into::<PyDict>).transpose()?,
        })
    }
}

impl TrainerSettings<'_> {
    /// Whether the user named the criterion that chooses the epoch.
    fn is_selection_given(&self) -> bool {
        self.profile != "default" || names_selection(self.settings.as_ref())
    }

    /// The method without the candidates.
    fn method(&self, problem: &Problem) -> PyResult<Method> {
        match (&self.method, &self.candidates) {
            (None, Some(_)) => Ok(Method::auto()),
            (None, None) if problem.is_benchmark => Ok(Method::of_paper()),
            (None, None) => Ok(Method::default()),
            (Some(method), _) => parse_method(Some(method)),
        }
    }

    /// The method with the candidates, which belong to `auto`.
    fn with_candidates(&self, mut method: Method) -> PyResult<Method> {
        let Some(listed) = &self.candidates else {
            return Ok(method);
        };
        let mut parsed = Vec::with_capacity(listed.len());
        for candidate in listed {
            parsed.push(parse_candidate(candidate)?);
        }
        match &mut method {
            Method::Auto { candidates, .. } => candidates.extend(parsed),
            Method::Stages(_) | Method::LeastSquares { .. } | Method::InvalidCombination(_) => {
                return Err(PyTypeError::new_err(format!(
                    "candidates are compared by \"auto\", not by '{method}'"
                )));
            }
        }
        Ok(method)
    }

    fn trainer(&self, method: Method, threads: Option<usize>) -> PyResult<Trainer> {
        let predictor = match &self.predictor {
            Some(name) => Some(name.parse().map_err(to_py_err)?),
            None => None,
        };
        let start = self.init_model.as_ref();
        Ok(Trainer {
            method,
            predictor,
            settings: parse_settings(self.settings.as_ref(), &self.profile, u64::from(self.seed))?,
            start: start.map(|model| regretless::predict::CostModel::clone(&model.get().model)),
            threads: threads.unwrap_or(0),
        })
    }
}

/// The stages of a method that `auto` compares beside its own.
fn parse_candidate(candidate: &Bound<'_, PyAny>) -> PyResult<Vec<TrainingStage>> {
    match parse_method(Some(candidate))? {
        Method::Stages(stages) => Ok(stages),
        Method::LeastSquares { .. } => Err(PyValueError::new_err(
            "least squares and ridge regression are always candidates of \"auto\"",
        )),
        Method::Auto { .. } | Method::InvalidCombination(_) => Err(PyValueError::new_err(
            "\"auto\" is not a candidate of itself: name methods such as \"MSE(O_S)\"",
        )),
    }
}

/// A training and the fields of its report; `regretless.train` documents it.
#[pyfunction]
#[pyo3(name = "_train")]
pub fn train<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    mut table: TrainingData<'py>,
    training: TrainerSettings<'py>,
    options: SolveOptions,
) -> PyResult<(Model, Bound<'py, PyAny>)> {
    let labels = given_labels(table.labels.as_ref())?.cloned();
    let problem = problem.get();
    let planned_method = training.method(problem)?;
    let method = training.with_candidates(planned_method.clone())?;
    let mut trainer = training.trainer(method, options.threads)?;
    let matched = table.table(problem, u64::from(training.seed))?;
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, matched.data().parameters())
        .map_err(to_py_err)?;
    trainer.method.check_problem(&oracle).map_err(to_py_err)?;
    let labeled = labeled_table(py, problem, &call, &oracle, matched, labels.as_ref())?;
    let rows = &labeled.splits[0];
    let encoding = EncodingSummary::of(rows.data.data());
    let time_split = match table.split {
        Some(_) => None,
        None => suggested_split(rows),
    };
    let methods = [planned_method];
    let is_selection_given = training.is_selection_given();
    let job = TrainingJob {
        time_split: time_split.as_deref(),
        ..TrainingJob::new(rows, &oracle, &methods, &NoopObserver)
    };
    let times = table.times.as_deref();
    let prepared = call.run(py, |observer| {
        let select = (!is_selection_given).then_some(&mut trainer);
        TrainingJob { observer, ..job }.prepare(select, |check| check_table(times, check))
    })?;
    raise_notes(py, problem, &prepared.notes)?;
    let checkpoint = training.checkpoint.as_deref();
    let outcome = call.run(py, |observer| {
        fit(&trainer, &TrainingJob { observer, ..job }, checkpoint)
    })?;
    raise_notes(py, problem, &outcome.notes)?;
    let fields = to_python(py, &outcome)?;
    fields.set_item("rounds", to_python(py, &outcome.report.rounds)?)?;
    fields.set_item("encoding", encoding.encoded)?;
    fields.set_item("unused_columns", encoding.unused)?;
    Ok((Model::new(outcome.model), fields))
}

/// Trains, with checkpoints next to a model file, and evaluates.
fn fit(
    trainer: &Trainer,
    job: &TrainingJob<'_>,
    checkpoint: Option<&Path>,
) -> regretless::Result<TrainingOutcome> {
    let checkpoints = checkpoint.map(CheckpointFolder::for_model);
    let lock = checkpoints
        .as_ref()
        .map(CheckpointFolder::lock)
        .transpose()?;
    let outcome = job.run(trainer, checkpoints.as_ref())?;
    if let (Some(checkpoints), Some(lock)) = (checkpoints, lock) {
        checkpoints.remove(lock)?;
    }
    Ok(outcome)
}
