//! Losses: value and gradient of predictions.

mod function;
mod pool;
mod registry;
mod rows;

use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::data::{FeatureOptions, Matrix, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::loss::InstanceWeighting;
use regretless::method::{Method, TrainingStage};
use regretless::notes::{Note, PlannedTraining, findings_of_split};
use regretless::observer::Observer;
use regretless::oracle::{Oracle, SolutionPool, SolveCounts, StepId};
use regretless::solve::SearchLimits;
use regretless::{Error, Result};

use crate::arrays::{ArrayOwnership, ArrayRows, f64_rows, row_numbers, rows_of};
use crate::call::lock;
use crate::call_observer::{PyCall, detached};
use crate::columns::training_features;
use crate::error::to_py_err;
use crate::keywords::seed_number;
use crate::label::{costs_only, given_labels, labeled_table};
use crate::names::check_order_of_table;
use crate::notes::raise_notes;
use crate::observed_costs::missing_predictions;
use crate::parameters::ParameterList;
use crate::problem::Problem;
use crate::results::to_python;
use crate::single_precision;
use crate::train::check_table;
pub use function::LossRequest;
use pool::PoolState;
pub use registry::{parse_method, register_loss, resolve_loss, set_loss_resolver};
use rows::Predictions;

/// A loss on a table of true costs; `regretless.Loss` is its class in Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Loss")]
pub struct Loss {
    stage: TrainingStage,
    loss: Box<dyn regretless::loss::Loss>,
    data: Arc<LabeledDataset>,
    /// Whether each row has an optimal decision.
    has_label: Vec<bool>,
    /// The oracle; for a Python function each call makes its own.
    oracle: Oracle,
    threads: Option<usize>,
    problem: Py<Problem>,
    seed: u64,
    /// Counts of the oracle before the first evaluation.
    initial_counts: SolveCounts,
    /// Solver calls of a Python function.
    function_counts: Mutex<SolveCounts>,
    /// The solution pool, if the loss uses one; losses may share it.
    pool: Arc<Mutex<Option<SolutionPool>>>,
    /// Labels that join the pool in the first training step.
    pending_labels: Mutex<Option<SolutionPool>>,
    /// The factor of values and gradients.
    factor: f64,
}

#[pymethods]
impl Loss {
    #[new]
    fn new(
        py: Python<'_>,
        problem: &Bound<'_, Problem>,
        C: &Bound<'_, PyAny>,
        loss: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        parameters: Option<ParameterList<'_>>,
        #[pyo3(from_py_with = seed_number)] seed: u64,
        threads: Option<usize>,
        progress: bool,
        pool_from: Option<&Bound<'_, Self>>,
        rescale_loss: bool,
    ) -> PyResult<Self> {
        let stage = parse_stage(loss)?;
        check_single_loss(&stage).map_err(to_py_err)?;
        let labels = given_labels(labels)?;
        let py_problem = problem;
        let problem = py_problem.get();
        let call = PyCall::new(progress);
        let table = costs_only(problem, C, parameters, ArrayOwnership::Copy)?;
        let (limits, row_parameters) = (SearchLimits::default(), table.data().parameters());
        let oracle = problem
            .oracle(&call, threads, None, limits, row_parameters)
            .map_err(to_py_err)?;
        stage.check_problem(&oracle).map_err(to_py_err)?;
        let data = labeled_table(py, problem, &call, &oracle, table, labels)?.rows;
        let (data, loss, pool) =
            call.run(py, |observer| built(&stage, data, &oracle, seed, observer))?;
        let mut has_label = vec![false; data.len()];
        for row in data.rows() {
            has_label[row] = true;
        }
        let (pool, pending_labels) = match pool_from {
            None => (Arc::new(Mutex::new(pool)), None),
            Some(other) => (other.get().shared_pool(&stage, py_problem)?, pool),
        };
        let factor = if rescale_loss {
            loss.rescaling(data.data().costs().cols())
        } else {
            1.0
        };
        let built = Self {
            stage,
            loss,
            data,
            has_label,
            initial_counts: oracle.counts(),
            function_counts: Mutex::default(),
            oracle,
            threads,
            problem: py_problem.clone().unbind(),
            seed,
            pool,
            pending_labels: Mutex::new(pending_labels),
            factor,
        };
        // A loss that shares its pool with this one was checked before.
        if pool_from.is_none() && built.stage.loss.properties().checks_gradient {
            built.check_gradient(py)?;
        }
        Ok(built)
    }

    /// The loss of each row of predictions, and its gradient.
    #[pyo3(name = "_evaluate_rows")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        predictions: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
        epoch: usize,
        batch: usize,
        training: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rows = rows.map(|rows| row_numbers(rows, "rows")).transpose()?;
        if self.data.data().has_plain_costs() {
            let fast =
                single_precision::evaluate(&*self.loss, &self.data, predictions, rows.as_deref())?;
            if let Some(result) = fast {
                return self.rescaled(result);
            }
        }
        let step = StepId {
            epoch,
            batch,
            is_gradient_step: training,
        };
        let cost_names = self.data.data().cost_names();
        check_order_of_table(predictions, "predictions", self.problem.get(), cost_names)?;
        let (array, [count, cols]) = rows_of(predictions, "predictions")?;
        let result = match array {
            ArrayRows::Single(array) => {
                let values = array.as_slice()?;
                let predictions = Predictions {
                    values,
                    rows: count,
                    cols,
                };
                self.evaluate_arrays(py, &predictions, rows, step)
            }
            ArrayRows::Double(array) => {
                let values = array.as_slice()?;
                let predictions = Predictions {
                    values,
                    rows: count,
                    cols,
                };
                self.evaluate_arrays(py, &predictions, rows, step)
            }
        };
        self.rescaled(result?)
    }

    /// Name of the loss.
    #[getter]
    fn name(&self) -> String {
        self.stage.to_string()
    }

    /// The problem.
    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.problem.clone_ref(py)
    }

    /// Whether evaluations in training may call the solver: with `cache 5%` for some batches, with
    /// `cache 0%` for none.
    #[getter]
    fn calls_solver(&self) -> bool {
        let properties = self.stage.loss.properties();
        properties.is_expensive || properties.uses_pool
    }

    /// Solver calls of all evaluations so far by kind.
    #[pyo3(name = "_counts")]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = *lock(&self.function_counts) + (self.oracle.counts() - self.initial_counts);
        to_python(py, &counts)
    }

    /// The factor by which training multiplies the loss.
    #[pyo3(name = "_rescaling")]
    fn rescaling(&self) -> f64 {
        self.loss.rescaling(self.data.data().costs().cols())
    }

    /// Whether predictions times a positive factor have the same loss.
    #[getter]
    #[pyo3(name = "_is_scale_invariant")]
    fn is_scale_invariant(&self) -> bool {
        self.stage.loss.properties().is_scale_invariant
    }

    /// Rows that have an optimal decision.
    #[pyo3(name = "_labeled_rows")]
    fn labeled_rows(&self) -> Vec<usize> {
        self.data.rows()
    }

    /// Raise the notes about the table and this loss, before a custom predictor is trained on them.
    #[pyo3(name = "_raise_table_notes")]
    fn raise_notes(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        split: [Vec<usize>; 3],
        times: Option<Vec<String>>,
    ) -> PyResult<()> {
        let features = training_features(features, names, FeatureOptions::default())?;
        let data = self.data.with_features(features).map_err(to_py_err)?;
        let [train, validation, test] = split;
        let split = SplitIndices {
            train,
            validation,
            test,
            ..SplitIndices::default()
        };
        let methods = [Method::Stages(vec![self.stage.clone()])];
        let notes = detached(py, || {
            let findings =
                findings_of_split(&data, &split, |check| check_table(times.as_deref(), check))?;
            Ok(PlannedTraining::new(&methods, &data, &self.oracle, &findings).notes())
        })?;
        raise_notes(py, self.problem.get(), &notes)
    }

    /// Start the solution pool with the labels of these rows only, those that are trained on.
    #[pyo3(name = "_start_pool")]
    fn start_pool(&self, rows: Vec<usize>) -> PyResult<()> {
        let rows = self.check_rows(Some(rows.clone()), rows.len())?;
        let decisions = rows.iter().map(|row| self.data.optimal_decision(*row));
        let uses_pool = self.stage.loss.properties().uses_pool;
        let training_oracle = self.stage.training_oracle(&self.oracle, self.seed);
        let pool = training_oracle
            .map_err(to_py_err)?
            .with_pool(decisions, uses_pool)
            .pool()
            .cloned();
        *lock(&self.pool) = pool;
        Ok(())
    }

    /// Take the labels out of the solution pool until the first training step: the rows of the
    /// first step are not known to be for training.
    #[pyo3(name = "_defer_labels")]
    fn defer_labels(&self) -> PyResult<()> {
        let labels = lock(&self.pool).clone();
        *lock(&self.pending_labels) = labels;
        self.start_pool(Vec::new())
    }

    /// Add the labels to the solution pool, as the first training step does.
    #[pyo3(name = "_add_labels_to_pool")]
    fn add_labels_to_pool(&self) {
        let labels = lock(&self.pending_labels).take();
        if let (Some(pool), Some(labels)) = (lock(&self.pool).as_mut(), labels) {
            pool.extend(labels.decisions());
        }
    }

    /// Whether the labels wait for the first training step to join the solution pool.
    #[pyo3(name = "_has_pending_labels")]
    fn has_pending_labels(&self) -> bool {
        lock(&self.pending_labels).is_some()
    }

    /// The solution pool as a dict of lists; None without one.
    #[pyo3(name = "_pool_state")]
    fn pool_state(&self) -> Option<PoolState> {
        lock(&self.pool).as_ref().map(PoolState::of)
    }

    /// Replace the solution pool by one of `_pool_state`.
    #[pyo3(name = "_set_pool_state")]
    fn set_pool_state(&self, state: Option<PoolState>) -> PyResult<()> {
        let mut pool = lock(&self.pool);
        if state.is_some() != pool.is_some() {
            return Err(PyValueError::new_err(
                "the solution pool belongs to another loss",
            ));
        }
        let num_costs = self.data.data().costs().cols();
        *pool = state.map(|state| state.pool(num_costs)).transpose()?;
        Ok(())
    }

    /// Evaluate the decisions that follow from predictions of some rows; fields of `Evaluation`.
    /// Where `leaves_out` is true, costs whose prediction is NaN have none. The notes about test
    /// rows are raised where `are_test_rows` is.
    #[pyo3(name = "_evaluate_predictions")]
    fn evaluate_decisions<'py>(
        &self,
        py: Python<'py>,
        predictions: &Bound<'py, PyAny>,
        rows: Vec<usize>,
        leaves_out: bool,
        are_test_rows: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mut numbers, [count, cols]) = f64_rows(predictions, "predictions")?;
        let rows = self.check_rows(Some(rows), count)?;
        for (prediction, row) in numbers.chunks_exact_mut(cols).zip(&rows) {
            self.data.minimize_prediction(*row, prediction);
        }
        let mut predictions = Matrix::from_f64(count, cols, &numbers).map_err(to_py_err)?;
        if !self.data.data().has_plain_costs() {
            let numbers = Arc::new(numbers);
            predictions = predictions.with_f64_values(numbers).map_err(to_py_err)?;
        }
        let call = PyCall::new(false);
        let function_oracle = self.function_oracle(&call)?;
        let oracle = function_oracle.as_ref().unwrap_or(&self.oracle);
        let missing = missing_predictions(leaves_out);
        let evaluation = call.run(py, |observer| {
            let (data, rows) = (&self.data, &rows);
            Evaluation::of_partial_predictions(&predictions, missing, data, rows, oracle, observer)
        });
        self.add_counts(function_oracle.as_ref());
        let evaluation = evaluation?;
        if are_test_rows {
            let notes = Note::of_test(&evaluation, &self.data, &rows, oracle);
            raise_notes(py, self.problem.get(), &notes)?;
        }
        to_python(py, &evaluation)
    }

    /// The labels of all rows by their proven quality.
    #[pyo3(name = "_label_counts")]
    fn label_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data.label_counts(&self.data.rows()))
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Loss {} on {} rows>",
            self.name(),
            self.data.len()
        )
    }
}

/// Raise a `ValueError` if `Loss` would refuse a loss for a problem, whatever the costs.
#[pyfunction]
#[pyo3(name = "_check_loss")]
pub fn check_loss(problem: &Bound<'_, Problem>, loss: &Bound<'_, PyAny>) -> PyResult<()> {
    let stage = parse_stage(loss)?;
    check_single_loss(&stage).map_err(to_py_err)?;
    let call = PyCall::new(false);
    let oracle = problem
        .get()
        .oracle_without_rows(&call)
        .map_err(to_py_err)?;
    stage.check_problem(&oracle).map_err(to_py_err)
}

/// The single stage of a name or of a custom loss.
fn parse_stage(loss: &Bound<'_, PyAny>) -> PyResult<TrainingStage> {
    let method = parse_method(Some(loss))?;
    if matches!(method, Method::Auto { .. }) {
        return Err(PyValueError::new_err(format!(
            "'{method}' is a search over methods, not a loss; use train, or name a loss such as \
             \"MAE(O,S)\""
        )));
    }
    method.into_single_stage().map_err(to_py_err)
}

/// A loss with its data, whose labels may be those of the stage, and its solution pool.
type BuiltLoss = (
    Arc<LabeledDataset>,
    Box<dyn regretless::loss::Loss>,
    Option<SolutionPool>,
);

fn built(
    stage: &TrainingStage,
    data: Arc<LabeledDataset>,
    oracle: &Oracle,
    seed: u64,
    observer: &dyn Observer,
) -> Result<BuiltLoss> {
    let rows = data.rows();
    let changed = stage.training_labels(&data, &rows, oracle, observer)?;
    let data = changed.map_or(data, Arc::new);
    let loss = stage.loss.build(&data, oracle, observer)?;
    let decisions = rows.iter().map(|row| data.optimal_decision(*row));
    let pool = stage
        .training_oracle(oracle, seed)?
        .with_pool(decisions, stage.loss.properties().uses_pool)
        .pool()
        .cloned();
    Ok((data, loss, pool))
}

/// Refuses methods that cannot be evaluated without a training.
fn check_single_loss(stage: &TrainingStage) -> Result<()> {
    if stage.loss.properties().weighting != InstanceWeighting::Equal {
        return Err(Error::setting(format!(
            "{} weights instances by the regret of a trained baseline",
            stage.loss
        ))
        .with_remedy("use train, or leave the weighting out"));
    }
    Ok(())
}

impl Loss {
    /// Compares the gradient with differences of values on the first few rows, as training does.
    fn check_gradient(&self, py: Python<'_>) -> PyResult<()> {
        let rows = self.data.rows();
        let call = PyCall::new(false);
        let function_oracle = self.function_oracle(&call)?;
        let oracle = function_oracle.as_ref().unwrap_or(&self.oracle);
        let checked = call.run(py, |_| {
            let (spec, loss) = (&self.stage.loss, self.loss.as_ref());
            spec.check_built_gradient(loss, &self.data, &rows, oracle, self.seed)
        });
        self.add_counts(function_oracle.as_ref());
        checked
    }

    /// The oracle of a Python function during a call; none for other problems.
    fn function_oracle(&self, call: &PyCall) -> PyResult<Option<Oracle>> {
        let problem = self.problem.get();
        if !problem.is_function() {
            return Ok(None);
        }
        let (threads, parameters) = (self.threads, self.data.data().parameters());
        let oracle = problem.oracle(call, threads, None, SearchLimits::default(), parameters);
        oracle.map(Some).map_err(to_py_err)
    }

    /// Adds the solver calls of the oracle of a call.
    fn add_counts(&self, function_oracle: Option<&Oracle>) {
        if let Some(oracle) = function_oracle {
            let mut counts = lock(&self.function_counts);
            *counts = *counts + oracle.counts();
        }
    }

    /// The solution pool of this loss for another one.
    fn shared_pool(
        &self,
        stage: &TrainingStage,
        problem: &Bound<'_, Problem>,
    ) -> PyResult<Arc<Mutex<Option<SolutionPool>>>> {
        if self.stage.to_string() != stage.to_string() || !problem.eq(&self.problem)? {
            return Err(PyValueError::new_err(
                "pool_from must be a loss of the same name and problem",
            ));
        }
        Ok(Arc::clone(&self.pool))
    }
}
