//! One gradient step: forward pass of a batch, its losses, and the backward pass to the parameters.

use std::sync::Arc;

use self::instance_result::InstanceResult;
use super::parallel_threshold::ParallelThreshold;
use super::{PreparedData, WeightedLoss};
use crate::data::{FeatureShape, Matrix, first_not_finite};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::loss::buffer::{self, ScratchBuffer};
use crate::loss::{BatchLoss, BatchLossInput, LossInput, NoiseKey};
use crate::oracle::{OracleWorker, StepId, TrainingOracle};
use crate::parallel::Threads;
use crate::predict::{Network, Tape};

mod instance_result;

/// Rows evaluated at a time outside training. Untuned: large enough to fill a matrix product, small
/// enough for the cache.
const EVALUATION_ROWS_PER_CHUNK: usize = 256;

/// The buffers of a step, reused from step to step.
#[derive(Debug)]
pub(super) struct BatchWorkspace<'a> {
    /// Handles the solver calls of the loss.
    oracle: TrainingOracle<'a>,
    /// The factor by which training multiplies the loss.
    factor: f64,
    /// Whether gradients are lists of entries.
    sparse: bool,
    parallel_threshold: ParallelThreshold,
    rows: Vec<f32>,
    tape: Tape,
    predictions: Vec<f64>,
    /// Results of the instances evaluated last; entries beyond them are from earlier, larger
    /// batches.
    results: Vec<InstanceResult>,
    values: Vec<f64>,
    output_gradient: Vec<f32>,
    gradient: Vec<f32>,
}

impl<'a> BatchWorkspace<'a> {
    /// The oracle that handles the solver calls of the loss.
    pub(super) fn training_oracle(&mut self) -> &mut TrainingOracle<'a> {
        &mut self.oracle
    }

    pub(super) fn new(factor: f64, oracle: TrainingOracle<'a>) -> Self {
        Self {
            oracle,
            factor,
            sparse: false,
            parallel_threshold: ParallelThreshold::default(),
            rows: Vec::new(),
            tape: Tape::default(),
            predictions: Vec::new(),
            results: Vec::new(),
            values: Vec::new(),
            output_gradient: Vec::new(),
            gradient: Vec::new(),
        }
    }

    /// The same with sparse gradients if that is less work: if entries are few and every output has
    /// parameters of its own.
    pub(super) fn with_sparse_gradients(
        self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        network: &Network,
    ) -> Self {
        let data = prepared.context.data;
        // With hidden layers or shared weights, an entry of the gradient reaches all parameters.
        let separate_outputs =
            network.is_linear() && data.data().features().shape() == FeatureShape::Wide;
        // One label stands for all: decisions of one problem have about the same number of entries.
        let first_row = prepared.context.split.train.first();
        let selected = first_row.map_or(0, |row| data.optimal_decision(*row).indices().len());
        let few_entries = weighted_loss
            .properties
            .num_gradient_entries(selected)
            .is_some_and(|entries| 2 * entries <= data.data().costs().cols());
        Self {
            sparse: separate_outputs && few_entries,
            ..self
        }
    }

    /// Predicts the costs of these instances.
    pub(super) fn predict(
        &mut self,
        prepared: &PreparedData<'_>,
        network: &Network,
        instances: &[usize],
    ) {
        self.rows.clear();
        for instance in instances {
            let row = prepared.features.instance(*instance);
            self.rows.extend_from_slice(row);
        }
        network.predict(&self.rows, &mut self.tape);
        prepared
            .output
            .write(self.tape.outputs(), &mut self.predictions);
        let data = prepared.context.data.data();
        if !data.has_plain_costs() {
            let width = data.costs().cols();
            let predictions = self.predictions.chunks_exact_mut(width);
            for (prediction, instance) in predictions.zip(instances) {
                data.complete_prediction(*instance, prediction);
            }
        }
    }

    /// Losses and gradients of the instances predicted last; returns the sum of the losses.
    pub(super) fn evaluate(
        &mut self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        step: StepId,
        instances: &[usize],
    ) -> Result<f64> {
        if weighted_loss.properties.uses_pool && step.is_gradient_step {
            self.refresh_pool(prepared, step, instances)?;
        }
        let width = prepared.context.data.data().costs().cols();
        // Never shortened: the buffers of a smaller last batch are needed again in the next epoch.
        let slots = self.results.len().max(instances.len());
        self.results.resize_with(slots, InstanceResult::default);
        match weighted_loss.loss.batch_loss() {
            Some(loss) => self.evaluate_batch(prepared, weighted_loss, loss, step, instances)?,
            None => self.evaluate_instances(prepared, weighted_loss, step, instances),
        }
        self.values.clear();
        for ((index, result), instance) in self.results.iter_mut().enumerate().zip(instances) {
            // After the batch and in its order, so the pool is the same for any number of threads.
            if step.is_gradient_step {
                self.oracle.add_to_pool(&result.solved);
            }
            let prediction = &self.predictions[index * width..][..width];
            let value = result.take_finite_value(prediction, step.epoch, *instance)?;
            self.values.push(value);
        }
        weighted_loss.loss.end_batch(step.is_gradient_step);
        Ok(self.values.iter().sum())
    }

    /// Evaluates the instances one by one, on several threads if that takes long.
    fn evaluate_instances(
        &mut self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        step: StepId,
        instances: &[usize],
    ) {
        let width = prepared.context.data.data().costs().cols();
        let noise = noise_key(prepared, step);
        let (oracle, predictions, sparse) = (&self.oracle, &self.predictions, self.sparse);
        let results = &mut self.results[..instances.len()];
        // Losses without solver calls do not need the problem of the row.
        let properties = weighted_loss.properties;
        let uses_worker =
            properties.calls_solver || properties.is_expensive || properties.uses_pool;
        let work = |worker: &mut OracleWorker<'_>, index: usize, result: &mut InstanceResult| {
            let prediction = &predictions[index * width..][..width];
            let instance = instances[index];
            if uses_worker {
                worker.set_cache_action(oracle.cache_action(step, instance));
                worker.set_instance(instance);
            }
            let data = prepared.context.data;
            let costs = true_costs(data, instance);
            let input = LossInput {
                instance,
                costs: &costs,
                prediction,
                label: data.optimal_decision(instance),
                noise,
            };
            result.value = if sparse {
                result.evaluate_sparse(weighted_loss, &input, worker)
            } else {
                result.evaluate_dense(weighted_loss, &input, worker)
            };
            if let Some(present) = data.data().present_costs(instance) {
                let is_mean_over_costs = weighted_loss.properties.is_mean_over_costs;
                result.leave_out_absent(present, is_mean_over_costs);
            }
            result.solved = worker.take_solved();
        };
        let calling_thread = Threads::single_threaded();
        // Without solves a row takes less time than to wake a thread.
        let threads = if weighted_loss.properties.is_expensive {
            oracle.oracle().solver_threads()
        } else {
            &calling_thread
        };
        self.parallel_threshold
            .run(threads, instances.len(), |threads| {
                let expected = |index: usize| oracle.expected_seconds(instances[index]);
                threads.fill_longest_first(results, expected, || oracle.worker(), work);
            });
    }

    /// Evaluates all instances at once.
    fn evaluate_batch(
        &mut self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        loss: &dyn BatchLoss,
        step: StepId,
        instances: &[usize],
    ) -> Result<()> {
        let data = prepared.context.data;
        let width = data.data().costs().cols();
        if let Some(index) = first_not_finite(&self.predictions) {
            return Err(Error::NonFinite {
                quantity: "prediction",
                epoch: step.epoch,
                instance: instances[index / width],
                output: Some(index % width),
            });
        }
        let mut costs = Vec::with_capacity(self.predictions.len());
        for instance in instances {
            costs.extend_from_slice(&true_costs(data, *instance));
        }
        let noise = noise_key(prepared, step);
        let (predictions, oracle) = (&self.predictions, &self.oracle);
        let input = BatchLossInput::new(data, instances, &costs, predictions, noise, oracle, step);
        let mut gradients = vec![0.0; costs.len()];
        let values = loss.evaluate_batch(&input, &mut gradients)?;
        if values.len() != instances.len() {
            return Err(Error::setting(format!(
                "the loss '{}' returned {} values for {} instances",
                prepared.stage.loss,
                values.len(),
                instances.len()
            )));
        }
        let solved = input.into_solved();
        let results = self.results.iter_mut().zip(instances);
        for ((index, (result, instance)), mut solved) in results.enumerate().zip(solved) {
            let weight = weighted_loss.weight(*instance);
            let gradient = &gradients[index * width..][..width];
            result.gradient.clear();
            result.gradient.extend(gradient.iter().map(|g| weight * g));
            result.value = Ok(weight * values[index]);
            if let Some(present) = data.data().present_costs(*instance) {
                result.leave_out_absent(present, weighted_loss.properties.is_mean_over_costs);
            }
            result.solved.clear();
            result.solved.append(&mut solved);
        }
        Ok(())
    }

    /// Adds the optimal decisions under the predictions of a batch to the pool, if the cache draws
    /// a solve.
    fn refresh_pool(
        &mut self,
        prepared: &PreparedData<'_>,
        step: StepId,
        instances: &[usize],
    ) -> Result<()> {
        let (data, observer) = (prepared.context.data, prepared.context.observer);
        let label = |instance: usize| data.optimal_decision(instance);
        let decisions =
            self.oracle
                .solve_for_pool(step, instances, &self.predictions, label, observer)?;
        self.oracle.add_to_pool(&decisions);
        Ok(())
    }

    /// Gradient of the mean loss, times the factor, with respect to the parameters.
    pub(super) fn backpropagate(
        &mut self,
        prepared: &PreparedData<'_>,
        network: &Network,
        instances: usize,
    ) -> &[f32] {
        let factor = self.factor / instances as f64;
        let results = &self.results[..instances];
        self.gradient.resize(network.parameters().len(), 0.0);
        if self.sparse {
            self.gradient.fill(0.0);
            let scale = &prepared.output.scale;
            for (row, result) in self.rows.chunks_exact(network.num_features()).zip(results) {
                let entries = result.entries.as_slice().iter();
                let scaled = entries.map(|(j, g)| {
                    let j = *j as usize;
                    (j, (factor * scale[j] * g) as f32)
                });
                network.add_sparse(row, scaled, &mut self.gradient);
            }
        } else {
            self.output_gradient.clear();
            for result in results {
                let output = &prepared.output;
                output.backward(&result.gradient, factor, &mut self.output_gradient);
            }
            network.backpropagate(
                &self.rows,
                &mut self.tape,
                &self.output_gradient,
                &mut self.gradient,
            );
        }
        &self.gradient
    }

    /// Predicted costs of any number of instances, minimized and finite.
    pub(super) fn predictions(
        &mut self,
        prepared: &PreparedData<'_>,
        network: &Network,
        epoch: usize,
        instances: &[usize],
    ) -> Result<Matrix> {
        let width = prepared.context.data.data().costs().cols();
        let has_plain_costs = prepared.context.data.data().has_plain_costs();
        let mut costs = Vec::with_capacity(instances.len() * width);
        let mut totals = Vec::new();
        for chunk in instances.chunks(EVALUATION_ROWS_PER_CHUNK) {
            self.predict(prepared, network, chunk);
            costs.extend(self.predictions.iter().map(|cost| *cost as f32));
            if !has_plain_costs {
                totals.extend_from_slice(&self.predictions);
            }
        }
        if let Some(index) = costs.iter().position(|cost| !cost.is_finite()) {
            let (instance, output) = (instances[index / width], Some(index % width));
            return Err(Error::NonFinite {
                quantity: "prediction",
                epoch,
                instance,
                output,
            });
        }
        let matrix = Matrix::new(instances.len(), width, costs)?;
        if has_plain_costs {
            Ok(matrix)
        } else {
            matrix.with_f64_values(Arc::new(totals))
        }
    }

    /// Losses of any number of instances.
    pub(super) fn losses(
        &mut self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        network: &Network,
        epoch: usize,
        instances: &[usize],
    ) -> Result<Vec<f64>> {
        let step = StepId {
            epoch,
            batch: 0,
            is_gradient_step: false,
        };
        let mut losses = Vec::with_capacity(instances.len());
        for chunk in instances.chunks(EVALUATION_ROWS_PER_CHUNK) {
            self.predict(prepared, network, chunk);
            self.evaluate(prepared, weighted_loss, step, chunk)?;
            losses.extend_from_slice(&self.values);
        }
        Ok(losses)
    }

    /// Losses of given predictions, one row per instance.
    pub(super) fn losses_of(
        &mut self,
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        predictions: &Matrix,
        instances: &[usize],
    ) -> Result<Vec<f64>> {
        self.predictions.clear();
        let mut row = Vec::new();
        for position in 0..predictions.rows() {
            predictions.read(position, &mut row);
            self.predictions.extend_from_slice(&row);
        }
        let step = StepId {
            epoch: 0,
            batch: 0,
            is_gradient_step: false,
        };
        self.evaluate(prepared, weighted_loss, step, instances)?;
        Ok(std::mem::take(&mut self.values))
    }
}

/// The key of the noise of a step.
fn noise_key(prepared: &PreparedData<'_>, step: StepId) -> NoiseKey {
    NoiseKey {
        seed: prepared.settings().seed,
        // Evaluations draw the same noise in every epoch, so their losses can be compared.
        epoch: if step.is_gradient_step { step.epoch } else { 0 },
    }
}

/// The true costs of an instance. Totals with large known parts differ in digits that single
/// precision does not have.
fn true_costs(data: &LabeledDataset, instance: usize) -> ScratchBuffer {
    if data.data().has_plain_costs() {
        let costs = data.data().costs().row(instance).iter();
        buffer::filled(costs.map(|cost| f64::from(*cost)))
    } else {
        let mut totals = Vec::new();
        data.data().costs().read(instance, &mut totals);
        buffer::filled(totals.into_iter())
    }
}
