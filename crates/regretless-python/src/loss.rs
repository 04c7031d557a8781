//! Losses: value and gradient of predictions.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::label::LabeledDataset;
use regretless::loss::{InstanceWeighting, LossInput, NoiseKey};
use regretless::observer::{NoopObserver, Observer};
use regretless::oracle::{Oracle, OracleWorker, SolutionPool, StepId, TrainingOracle};
use regretless::parallel::Threads;
use regretless::train::TrainingStage;
use regretless::{Error, Result};

use crate::arrays::{ArrayOwnership, ArrayRows as Given, rectangle, row, row_numbers, rows_of};
use crate::call_observer::{PyCall, detached};
use crate::error::to_py_err;
use crate::label::{Labels, costs_only, with_labels};
use crate::names::check_order;
use crate::problem::Problem;

/// A loss on a table of costs: how wrong predictions are, and in which direction to change them.
///
/// * `loss`: every label that `train` takes for one method, such as "MAE(O,S)", "SPO+",
///   "PFYL(samples=4)", "SPO+ relax", "MAP cache 5%".
/// * `problem`: what is decided.
/// * `C`: true costs, one row per instance.
/// * `labels`: their best decisions; found now unless given.
/// * `seed`: of the noise that perturbed losses draw.
/// * `share_pool`: another Loss of the same method and problem, whose pool of known decisions this
///   one shares.
///
/// Methods that compare with known decisions (MAP, NCE, LTR) or answer from them ("cache 5%") keep
/// a pool. It begins with the best decisions of C and grows only by `evaluate(..., training=True)`.
///
/// Values are computed in float64 from C as it was given, and from float32 where the predictions
/// are float32: true costs and predictions are then rounded alike.
///
/// Components that weight instances by the regret of a trained baseline (C, W, IC, EIC) belong to
/// `train`.
#[pyclass(frozen, module = "regretless")]
pub struct Loss {
    method: TrainingStage,
    loss: Box<dyn regretless::loss::Loss>,
    data: Arc<LabeledDataset>,
    /// Whether each row has a best decision.
    known: Vec<bool>,
    /// Who solves; where the problem is a function, each call makes its own.
    oracle: Oracle,
    threads: Option<usize>,
    problem: Py<Problem>,
    seed: u64,
    /// Decisions known so far, where the method keeps them; losses may share them.
    pool: Arc<Mutex<Option<SolutionPool>>>,
}

/// Numbers beyond which losses that solve nothing are worth several threads.
const MIN_PARALLEL_VALUES: usize = 1 << 16;

/// A number of either precision.
trait Float: numpy::Element + Copy + Sync {
    /// In double precision.
    fn wide(self) -> f64;
    /// Rounded to its own.
    fn rounded(value: f64) -> Self;
    /// True costs of an instance as far as this precision holds them.
    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>);
}

impl Float for f32 {
    fn wide(self) -> f64 {
        self.into()
    }

    fn rounded(value: f64) -> Self {
        value as Self
    }

    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend(
            data.data()
                .costs()
                .row(instance)
                .iter()
                .map(|cost| f64::from(*cost)),
        );
    }
}

impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }

    fn rounded(value: f64) -> Self {
        value
    }

    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>) {
        data.data().costs().read(instance, out);
    }
}

/// Where value and gradient of one row go.
struct LossSlot<'a, T> {
    value: Result<f64>,
    gradient: &'a mut [T],
    found: Vec<regretless::Decision>,
}

/// Rows in double precision, in memory that a thread uses again and again.
#[derive(Default)]
struct RowBuffers {
    costs: Vec<f64>,
    prediction: Vec<f64>,
    gradient: Vec<f64>,
}

#[pymethods]
impl Loss {
    #[new]
    #[pyo3(signature = (loss, problem, C, *, labels=None, seed=0, threads=None, progress=false, share_pool=None))]
    fn new(
        py: Python<'_>,
        loss: &str,
        problem: &Bound<'_, Problem>,
        C: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, Labels>>,
        seed: u64,
        threads: Option<usize>,
        progress: bool,
        share_pool: Option<&Bound<'_, Self>>,
    ) -> PyResult<Self> {
        let method: TrainingStage = loss.parse().map_err(to_py_err)?;
        single(&method).map_err(to_py_err)?;
        let kept = problem;
        let problem = kept.get();
        let call = PyCall::new(progress);
        let oracle = problem.oracle(&call, threads, None).map_err(to_py_err)?;
        let data = costs_only(problem, C, ArrayOwnership::Copy)?;
        let data = with_labels(py, problem, (&call, &oracle), data, labels)?;
        let (data, loss, pool) = call.run(py, |observer| {
            let rows = data.rows();
            let other =
                method
                    .labels
                    .apply(&data, &rows, &method.stage_name(), &oracle, observer)?;
            let data = other.map_or(data, Arc::new);
            let loss = method.loss.build(&data, &oracle, observer)?;
            let best = rows.iter().map(|row| data.optimal_decision(*row));
            let pool = TrainingOracle::new(&oracle, method.oracle, seed)
                .map_err(|error| error.for_method(&method.stage_name()))?
                .with_pool(best, method.loss.capabilities().uses_pool)
                .pool()
                .cloned();
            Ok((data, loss, pool))
        })?;
        let mut known = vec![false; data.len()];
        data.rows().into_iter().for_each(|row| known[row] = true);
        let pool = match share_pool {
            None => Arc::new(Mutex::new(pool)),
            Some(other) => other.get().shared_pool(&method, kept, pool)?,
        };
        let problem = kept.clone().unbind();
        Ok(Self {
            method,
            loss,
            data,
            known,
            oracle,
            threads,
            problem,
            seed,
            pool,
        })
    }

    /// The loss of each row of predictions and its gradient with respect to the predicted costs.
    ///
    /// * `predictions`: one row per instance, in the user's sense.
    /// * `rows`: which rows of C they belong to, all in order unless given.
    /// * `epoch`: perturbed losses draw other noise in every epoch.
    /// * `batch`: with a cache, another coin for every batch of an epoch.
    /// * `training`: whether this is a step of a training. Methods that compare with known
    ///   decisions then first solve for the best decisions under the predictions (with a cache,
    ///   where the coin says so), which join the pool, as `train` does; what a method with a cache
    ///   solves joins it afterwards. Otherwise the pool stays as it is, and methods with a cache
    ///   are answered from it.
    ///
    /// Returns (values, gradients): float64 of shape (n,), and an array like the predictions.
    #[pyo3(signature = (predictions, rows=None, *, epoch=0, batch=0, training=false))]
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
        if let Some(found) = crate::single_precision::evaluate(
            (&*self.loss, &self.data),
            predictions,
            rows.as_deref(),
        )? {
            return Ok(found);
        }
        let step = StepId {
            epoch,
            batch,
            training,
        };
        check_order(predictions, "predictions", self.problem.get())?;
        match rows_of(predictions, "predictions")? {
            (Given::Single(numbers), shape) => {
                self.evaluate_arrays(py, (numbers.as_slice()?, shape), rows, step)
            }
            (Given::Double(numbers), shape) => {
                self.evaluate_arrays(py, (numbers.as_slice()?, shape), rows, step)
            }
        }
    }

    /// The label of the loss.
    #[getter]
    fn name(&self) -> String {
        self.method.stage_name()
    }

    /// The problem whose decisions count.
    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.problem.clone_ref(py)
    }

    /// Whether an evaluation in a training solves, so that it takes its time.
    #[getter]
    fn solves(&self) -> bool {
        let capabilities = self.method.loss.capabilities();
        capabilities.evaluates_in_parallel || capabilities.uses_pool
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

/// One method that needs no training to be evaluated.
fn single(method: &TrainingStage) -> Result<()> {
    method.check()?;
    if method.then.is_some() {
        return Err(Error::setting(
            "a loss is one method; 'then' belongs to train",
        ));
    }
    if method.loss.capabilities().weighting != InstanceWeighting::Equal {
        let message = format!(
            "{} weights instances by the regret of a trained baseline",
            method.loss
        );
        return Err(Error::setting(format!(
            "{message}; use train, or leave the weighting out"
        )));
    }
    Ok(())
}

fn check_finite<T: Float>(numbers: &[T], cols: usize) -> PyResult<()> {
    let Some(at) = numbers.iter().position(|number| !number.wide().is_finite()) else {
        return Ok(());
    };
    let (row, column, number) = (at / cols, at % cols, numbers[at].wide());
    let place = format!("predictions: row {row}, column c{column}");
    Err(PyValueError::new_err(format!(
        "{place}: {number} is not a finite number (rows counted from 0)"
    )))
}

impl Loss {
    fn rows(&self, rows: Option<Vec<usize>>, count: usize) -> PyResult<Vec<usize>> {
        let rows = rows.unwrap_or_else(|| (0..self.data.len()).collect());
        if rows.len() != count {
            return Err(PyValueError::new_err(format!(
                "{count} rows of predictions for {} instances",
                rows.len()
            )));
        }
        match rows
            .iter()
            .find(|row| !self.known.get(**row).is_some_and(|known| *known))
        {
            None => Ok(rows),
            Some(row) if *row >= self.known.len() => Err(PyValueError::new_err(format!(
                "row {row} does not exist; there are {}",
                self.known.len()
            ))),
            Some(row) => Err(PyValueError::new_err(format!(
                "row {row} has no decision, so its loss is unknown"
            ))),
        }
    }

    /// Values and gradients for Python.
    fn evaluate_arrays<'py, T: Float>(
        &self,
        py: Python<'py>,
        (predictions, shape): (&[T], [usize; 2]),
        rows: Option<Vec<usize>>,
        step: StepId,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rows = self.rows(rows, shape[0])?;
        let right = self.data.data().costs().cols();
        if shape[1] != right {
            let message = format!(
                "{} costs are predicted per row and there are {right}",
                shape[1]
            );
            return Err(PyValueError::new_err(message));
        }
        check_finite(predictions, shape[1])?;
        let mut gradients = vec![T::rounded(0.0); predictions.len()];
        let values = if self.method.loss.capabilities().calls_solver {
            let (call, problem) = (PyCall::new(false), self.problem.get());
            let own = problem
                .is_function()
                .then(|| problem.oracle(&call, self.threads, None));
            let own = own.transpose().map_err(to_py_err)?;
            let oracle = own.as_ref().unwrap_or(&self.oracle);
            call.run(py, |observer| {
                self.evaluate_rows(
                    predictions,
                    (&rows, &mut gradients),
                    step,
                    (oracle, observer),
                )
            })?
        } else {
            let nobody = (&self.oracle, &NoopObserver as &dyn Observer);
            detached(py, || {
                self.evaluate_rows(predictions, (&rows, &mut gradients), step, nobody)
            })?
        };
        (row(py, values), rectangle(py, gradients, shape)?).into_pyobject(py)
    }

    fn evaluate_rows<T: Float>(
        &self,
        predictions: &[T],
        (rows, gradients): (&[usize], &mut [T]),
        step: StepId,
        (oracle, observer): (&Oracle, &dyn Observer),
    ) -> Result<Vec<f64>> {
        let cols = self.data.data().costs().cols();
        let mut answering = self.training_oracle(oracle)?;
        let mut found = Vec::new();
        let capabilities = self.method.loss.capabilities();
        if capabilities.uses_pool && step.training {
            let sense = self.data.sense();
            let minimised: Vec<f64> = predictions
                .iter()
                .map(|number| sense.convert(number.wide()))
                .collect();
            let best = |instance: usize| self.data.optimal_decision(instance);
            found = answering.solve_for_pool(step, rows, &minimised, best, observer)?;
            answering.add_to_pool(&found);
        }
        let slot = |gradient| LossSlot {
            value: Err(Error::Interrupted),
            gradient,
            found: Vec::new(),
        };
        let mut slots: Vec<LossSlot<'_, T>> = gradients.chunks_exact_mut(cols).map(slot).collect();
        let one = Threads::single_threaded();
        let threads = match capabilities.evaluates_in_parallel {
            true => oracle.solver_threads(),
            false if predictions.len() >= MIN_PARALLEL_VALUES => oracle.threads(),
            false => &one,
        };
        let work = |(worker, memory): &mut (OracleWorker<'_>, RowBuffers),
                    index: usize,
                    slot: &mut LossSlot<'_, T>| {
            if !observer.interrupted() {
                worker.set_cache_action(answering.cache_action(step, rows[index]));
                memory.read(
                    &predictions[index * cols..][..cols],
                    &self.data,
                    rows[index],
                );
                self.evaluate_row(memory, (rows[index], step.epoch), (worker, slot));
            }
        };
        threads.fill_slots(
            &mut slots,
            || (answering.worker(), RowBuffers::default()),
            work,
        );
        self.loss.end_batch(step.training);
        if step.training {
            slots
                .iter_mut()
                .for_each(|slot| found.append(&mut slot.found));
            if let Some(pool) = self
                .pool
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut()
            {
                pool.extend(&found);
            }
        }
        slots.into_iter().map(|slot| slot.value).collect()
    }

    /// The pool of this loss for another one, whose decisions join it.
    fn shared_pool(
        &self,
        method: &TrainingStage,
        problem: &Bound<'_, Problem>,
        theirs: Option<SolutionPool>,
    ) -> PyResult<Arc<Mutex<Option<SolutionPool>>>> {
        if self.method.stage_name() != method.stage_name() || !problem.eq(&self.problem)? {
            return Err(PyValueError::new_err(
                "share_pool must be a loss of the same method and problem",
            ));
        }
        if let (Some(pool), Some(theirs)) = (
            self.pool
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut(),
            theirs.as_ref(),
        ) {
            pool.extend(theirs.decisions());
        }
        Ok(Arc::clone(&self.pool))
    }

    /// The oracle as the method wants it to answer, with the decisions known so far.
    fn training_oracle<'o>(&self, oracle: &'o Oracle) -> Result<TrainingOracle<'o>> {
        let mut answering = TrainingOracle::new(oracle, self.method.oracle, self.seed)
            .map_err(|error| error.for_method(&self.name()))?
            .with_pool([], self.method.loss.capabilities().uses_pool);
        if let Some(pool) = self
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
        {
            answering.replace_pool(pool);
        }
        Ok(answering)
    }

    fn evaluate_row<T: Float>(
        &self,
        memory: &mut RowBuffers,
        (instance, epoch): (usize, usize),
        (worker, slot): (&mut OracleWorker<'_>, &mut LossSlot<'_, T>),
    ) {
        let RowBuffers {
            costs,
            prediction,
            gradient,
        } = memory;
        let draw = NoiseKey {
            seed: self.seed,
            epoch,
        };
        let query = LossInput {
            instance,
            costs,
            prediction,
            best: self.data.optimal_decision(instance),
            draw,
        };
        worker.set_instance(instance);
        slot.value = self.loss.evaluate(&query, worker, gradient);
        slot.found = worker.take_solved();
        let sense = self.data.sense();
        slot.gradient
            .iter_mut()
            .zip(gradient)
            .for_each(|(out, entry)| *out = T::rounded(sense.convert(*entry)));
    }
}

impl RowBuffers {
    /// Takes one row of predictions and its true costs, to be minimised and rounded alike.
    fn read<T: Float>(&mut self, prediction: &[T], data: &LabeledDataset, instance: usize) {
        let sense = data.sense();
        self.prediction.clear();
        self.prediction
            .extend(prediction.iter().map(|number| sense.convert(number.wide())));
        T::read_costs(data, instance, &mut self.costs);
        self.gradient.resize(prediction.len(), 0.0);
    }
}
