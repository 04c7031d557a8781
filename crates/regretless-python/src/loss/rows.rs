//! Evaluation of a loss on rows of predictions, in single or double precision, on several threads.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::label::LabeledDataset;
use regretless::loss::{BatchLoss, BatchLossInput, LossInput, NoiseKey};
use regretless::observer::{NoopObserver, Observer};
use regretless::oracle::{Oracle, OracleWorker, SolutionPool, StepId, TrainingOracle};
use regretless::parallel::Threads;
use regretless::{Decision, Error, Result};

use super::Loss;
use crate::arrays::{array1, array2};
use crate::call::lock;
use crate::call_observer::{PyCall, detached};

/// Predicted values from which losses without solver calls use several threads; below, starting
/// threads takes longer than the work.
const MIN_PARALLEL_VALUES: usize = 1 << 16;

/// Single or double precision.
pub(super) trait Float: numpy::Element + Copy + Sync {
    /// Converts to double precision.
    fn to_f64(self) -> f64;
    /// Rounds to this precision.
    fn from_f64(value: f64) -> Self;
    /// Reads the true costs of an instance, rounded to this precision.
    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>);
}

impl Float for f32 {
    fn to_f64(self) -> f64 {
        self.into()
    }

    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>) {
        out.clear();
        let costs = data.data().costs().row(instance);
        out.extend(costs.iter().map(|cost| f64::from(*cost)));
    }
}

impl Float for f64 {
    fn to_f64(self) -> f64 {
        self
    }

    fn from_f64(value: f64) -> Self {
        value
    }

    fn read_costs(data: &LabeledDataset, instance: usize, out: &mut Vec<f64>) {
        data.data().costs().read(instance, out);
    }
}

/// Predicted costs, row by row.
pub(super) struct Predictions<'a, T> {
    pub(super) values: &'a [T],
    pub(super) rows: usize,
    pub(super) cols: usize,
}

/// Rows that are evaluated together.
struct GivenBatch<'a, T> {
    predictions: &'a Predictions<'a, T>,
    rows: &'a [usize],
    step: StepId,
}

/// The value and gradient of one row.
struct LossSlot<'a, T> {
    value: Result<f64>,
    gradient: &'a mut [T],
    /// Decisions solved for this row.
    solved: Vec<Decision>,
}

/// Scratch of one thread.
struct RowWorker<'o> {
    oracle: OracleWorker<'o>,
    buffers: RowBuffers,
}

/// One row in double precision.
#[derive(Default)]
struct RowBuffers {
    costs: Vec<f64>,
    prediction: Vec<f64>,
    gradient: Vec<f64>,
}

/// Checks that all predictions are finite.
fn check_finite<T: Float>(predictions: &Predictions<'_, T>) -> PyResult<()> {
    let invalid = |value: &T| !value.to_f64().is_finite();
    let Some(position) = predictions.values.iter().position(invalid) else {
        return Ok(());
    };
    let (row, column) = (position / predictions.cols, position % predictions.cols);
    let value = predictions.values[position].to_f64();
    Err(PyValueError::new_err(format!(
        "predictions: row {row}, column c{column}: {value} is not a finite number (rows counted \
         from 0)"
    )))
}

impl Loss {
    /// The rows that predictions belong to, each with a label.
    pub(super) fn check_rows(
        &self,
        rows: Option<Vec<usize>>,
        count: usize,
    ) -> PyResult<Vec<usize>> {
        let remedy = match rows {
            Some(_) => "",
            None => "; pass rows= to say which rows of C they belong to",
        };
        let rows = rows.unwrap_or_else(|| (0..self.data.len()).collect());
        if rows.len() != count {
            return Err(PyValueError::new_err(format!(
                "{count} rows of predictions for {} instances{remedy}",
                rows.len()
            )));
        }
        for row in &rows {
            match self.has_label.get(*row) {
                Some(true) => (),
                Some(false) => {
                    return Err(PyValueError::new_err(format!(
                        "row {row} has no decision, so its loss is unknown"
                    )));
                }
                None => {
                    return Err(PyValueError::new_err(format!(
                        "row {row} does not exist; there are {}",
                        self.has_label.len()
                    )));
                }
            }
        }
        Ok(rows)
    }

    /// Values and gradients times the factor, in place.
    pub(super) fn rescaled<'py>(
        &self,
        result: Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if self.factor == 1.0 {
            return Ok(result);
        }
        for array in &result {
            array.call_method1("__imul__", (self.factor,))?;
        }
        Ok(result)
    }

    /// Losses and gradients as numpy arrays.
    pub(super) fn evaluate_arrays<'py, T: Float>(
        &self,
        py: Python<'py>,
        predictions: &Predictions<'_, T>,
        rows: Option<Vec<usize>>,
        step: StepId,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rows = self.check_rows(rows, predictions.rows)?;
        let width = self.data.data().costs().cols();
        if predictions.cols != width {
            return Err(PyValueError::new_err(format!(
                "{} costs are predicted per row and there are {width}",
                predictions.cols
            )));
        }
        check_finite(predictions)?;
        let mut gradients = vec![T::from_f64(0.0); predictions.values.len()];
        let runs_functions = self.loss.batch_loss().is_some();
        let values = if self.stage.loss.properties().calls_solver || runs_functions {
            let call = PyCall::new(false);
            let function_oracle = self.function_oracle(&call)?;
            let oracle = function_oracle.as_ref().unwrap_or(&self.oracle);
            let values = call.run(py, |observer| {
                self.evaluate_rows(predictions, &rows, &mut gradients, step, oracle, observer)
            });
            self.add_counts(function_oracle.as_ref());
            values?
        } else {
            let (oracle, observer) = (&self.oracle, &NoopObserver);
            detached(py, || {
                self.evaluate_rows(predictions, &rows, &mut gradients, step, oracle, observer)
            })?
        };
        let gradients = array2(py, gradients, predictions.rows, width)?;
        (array1(py, values), gradients).into_pyobject(py)
    }

    /// Evaluates the losses of rows and writes their gradients.
    fn evaluate_rows<T: Float>(
        &self,
        predictions: &Predictions<'_, T>,
        rows: &[usize],
        gradients: &mut [T],
        step: StepId,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let cols = predictions.cols;
        // An evaluation must not change the pool: training would depend on evaluations.
        if step.is_gradient_step {
            self.add_labels_to_pool();
        }
        let mut training_oracle = self.training_oracle(oracle)?;
        let mut solved = Vec::new();
        let properties = self.stage.loss.properties();
        if properties.uses_pool && step.is_gradient_step {
            solved =
                self.solve_for_pool(predictions, rows, step, &mut training_oracle, observer)?;
        }
        if let Some(batch_loss) = self.loss.batch_loss() {
            let batch = GivenBatch {
                predictions,
                rows,
                step,
            };
            return self.evaluate_batch(batch_loss, &batch, gradients, &training_oracle);
        }
        let slot = |gradient| LossSlot {
            value: Err(Error::Interrupted),
            gradient,
            solved: Vec::new(),
        };
        let mut slots: Vec<LossSlot<'_, T>> = gradients.chunks_exact_mut(cols).map(slot).collect();
        let single = Threads::single_threaded();
        let threads = if properties.is_expensive {
            oracle.solver_threads()
        } else if predictions.values.len() >= MIN_PARALLEL_VALUES {
            oracle.threads()
        } else {
            &single
        };
        let new_worker = || RowWorker {
            oracle: training_oracle.worker(),
            buffers: RowBuffers::default(),
        };
        let work = |worker: &mut RowWorker<'_>, index: usize, slot: &mut LossSlot<'_, T>| {
            if observer.interrupted() {
                return;
            }
            let instance = rows[index];
            training_oracle.prepare_worker(&mut worker.oracle, step, instance);
            let prediction = &predictions.values[index * cols..][..cols];
            worker.buffers.read(prediction, &self.data, instance);
            self.evaluate_row(worker, instance, step.epoch, slot);
        };
        threads.fill_slots(&mut slots, new_worker, work);
        self.loss.end_batch(step.is_gradient_step);
        if step.is_gradient_step {
            // In the order of the rows, whatever thread has solved them.
            for slot in &mut slots {
                solved.append(&mut slot.solved);
            }
            if let Some(pool) = lock(&self.pool).as_mut() {
                pool.extend(&solved);
            }
        }
        slots.into_iter().map(|slot| slot.value).collect()
    }

    /// Solves for the predictions of some rows, whose decisions join the pool.
    fn solve_for_pool<T: Float>(
        &self,
        predictions: &Predictions<'_, T>,
        rows: &[usize],
        step: StepId,
        oracle: &mut TrainingOracle<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Decision>> {
        let values = predictions.values.iter();
        let mut minimized: Vec<f64> = values.map(|value| value.to_f64()).collect();
        for (prediction, row) in minimized.chunks_exact_mut(predictions.cols).zip(rows) {
            self.data.minimize_prediction(*row, prediction);
        }
        let label = |instance: usize| self.data.optimal_decision(instance);
        let solved = oracle.solve_for_pool(step, rows, &minimized, label, observer)?;
        oracle.add_to_pool(&solved);
        Ok(solved)
    }

    /// Evaluates all rows at once.
    fn evaluate_batch<T: Float>(
        &self,
        batch_loss: &dyn BatchLoss,
        batch: &GivenBatch<'_, T>,
        gradients: &mut [T],
        oracle: &TrainingOracle<'_>,
    ) -> Result<Vec<f64>> {
        let GivenBatch {
            predictions,
            rows,
            step,
        } = *batch;
        let cols = predictions.cols;
        let (mut minimized, mut costs) = (Vec::new(), Vec::new());
        let mut buffers = RowBuffers::default();
        for (prediction, instance) in predictions.values.chunks_exact(cols).zip(rows) {
            buffers.read(prediction, &self.data, *instance);
            minimized.extend_from_slice(&buffers.prediction);
            costs.extend_from_slice(&buffers.costs);
        }
        let noise = NoiseKey {
            seed: self.seed,
            epoch: step.epoch,
        };
        let data = &self.data;
        let input = BatchLossInput::new(data, rows, &costs, &minimized, noise, oracle, step);
        let mut evaluated = vec![0.0; costs.len()];
        let mut values = batch_loss.evaluate_batch(&input, &mut evaluated)?;
        self.loss.end_batch(step.is_gradient_step);
        if step.is_gradient_step
            && let Some(pool) = lock(&self.pool).as_mut()
        {
            pool.extend(input.into_solved().iter().flatten());
        }
        let slots = gradients.chunks_exact_mut(cols).zip(&mut values);
        for (index, (gradient, value)) in slots.enumerate() {
            let mut slot = LossSlot {
                value: Ok(*value),
                gradient,
                solved: Vec::new(),
            };
            let entries = &mut evaluated[index * cols..][..cols];
            if let Some(present) = self.data.data().present_costs(rows[index]) {
                let is_mean = self.stage.loss.properties().is_mean_over_costs;
                leave_out_absent(present, is_mean, &mut slot, entries);
            }
            self.write_gradient(entries, slot.gradient);
            *value = slot.value?;
        }
        Ok(values)
    }

    /// The oracle with the settings of the loss and its solution pool.
    fn training_oracle<'o>(&self, oracle: &'o Oracle) -> Result<TrainingOracle<'o>> {
        let mut training_oracle = self
            .stage
            .training_oracle(oracle, self.seed)?
            .with_pool([], self.stage.loss.properties().uses_pool);
        if let Some(pool) = self.current_pool() {
            training_oracle.replace_pool(pool);
        }
        Ok(training_oracle)
    }

    /// The solution pool; the labels of the rows themselves if it is still empty.
    fn current_pool(&self) -> Option<SolutionPool> {
        let pool = lock(&self.pool).clone()?;
        if pool.decisions().is_empty() {
            return lock(&self.pending_labels).clone().or(Some(pool));
        }
        Some(pool)
    }

    /// Evaluates the row that was read into the worker's buffers.
    fn evaluate_row<T: Float>(
        &self,
        worker: &mut RowWorker<'_>,
        instance: usize,
        epoch: usize,
        slot: &mut LossSlot<'_, T>,
    ) {
        let RowWorker { oracle, buffers } = worker;
        let input = LossInput {
            instance,
            costs: &buffers.costs,
            prediction: &buffers.prediction,
            label: self.data.optimal_decision(instance),
            noise: NoiseKey {
                seed: self.seed,
                epoch,
            },
        };
        oracle.set_instance(instance);
        slot.value = self.loss.evaluate(&input, oracle, &mut buffers.gradient);
        slot.solved = oracle.take_solved();
        if let Some(present) = self.data.data().present_costs(instance) {
            let is_mean = self.stage.loss.properties().is_mean_over_costs;
            leave_out_absent(present, is_mean, slot, &mut buffers.gradient);
        }
        self.write_gradient(&buffers.gradient, slot.gradient);
    }

    /// Writes the gradient by minimized costs as that by costs in the user's sense.
    fn write_gradient<T: Float>(&self, minimized: &[f64], out: &mut [T]) {
        let sense = self.data.sense();
        for (out, entry) in out.iter_mut().zip(minimized) {
            *out = T::from_f64(sense.convert(*entry));
        }
    }
}

/// Leaves absent costs out of the gradient and, if the loss is a mean over costs, out of the mean,
/// as training does.
fn leave_out_absent<T>(
    present: &[bool],
    is_mean_over_costs: bool,
    slot: &mut LossSlot<'_, T>,
    gradient: &mut [f64],
) {
    let count = present.iter().filter(|exists| **exists).count();
    let factor = if is_mean_over_costs {
        present.len() as f64 / count.max(1) as f64
    } else {
        1.0
    };
    if let Ok(value) = &mut slot.value {
        *value *= factor;
    }
    for (entry, exists) in gradient.iter_mut().zip(present) {
        *entry = if *exists { factor * *entry } else { 0.0 };
    }
}

impl RowBuffers {
    /// Reads one row of predictions and its true costs, minimized and in the same precision.
    fn read<T: Float>(&mut self, prediction: &[T], data: &LabeledDataset, instance: usize) {
        self.prediction.clear();
        self.prediction
            .extend(prediction.iter().map(|value| value.to_f64()));
        data.minimize_prediction(instance, &mut self.prediction);
        T::read_costs(data, instance, &mut self.costs);
        self.gradient.resize(prediction.len(), 0.0);
    }
}
