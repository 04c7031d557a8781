//! One step: a batch of rows is predicted, judged by the loss, and the blame sent back to the
//! parameters.

use super::parallel_threshold::ParallelThreshold;
use super::{PreparedData, WeightedLoss};
use crate::data::{FeatureShape, Matrix, first_not_finite};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::loss::{LossInput, NoiseKey, SparseGradient, buffer};
use crate::observer::Observer;
use crate::oracle::{OracleWorker, StepId, TrainingOracle};
use crate::parallel::Threads;
use crate::predict::{Network, Predictor, Tape};

/// Rows evaluated at a time outside training.
const EVALUATION_ROWS_PER_CHUNK: usize = 256;

/// The buffers of a step, reused from step to step.
#[derive(Debug)]
pub(super) struct BatchWorkspace<'a> {
    /// Answers what the loss asks.
    oracle: TrainingOracle<'a>,
    /// Training minimises the loss times this.
    factor: f64,
    /// Whether gradients are lists of entries.
    sparse: bool,
    pace: ParallelThreshold,
    rows: Vec<f32>,
    tape: Tape,
    predictions: Vec<f64>,
    /// What came of each instance evaluated last; there may be more, left from larger batches.
    outcomes: Vec<InstanceResult>,
    values: Vec<f64>,
    output_gradient: Vec<f32>,
    gradient: Vec<f32>,
}

impl<'a> BatchWorkspace<'a> {
    /// How questions are answered.
    pub(super) fn training_oracle(&mut self) -> &mut TrainingOracle<'a> {
        &mut self.oracle
    }

    pub(super) fn new(factor: f64, oracle: TrainingOracle<'a>) -> Self {
        Self {
            oracle,
            factor,
            sparse: false,
            pace: ParallelThreshold::default(),
            rows: Vec::new(),
            tape: Tape::default(),
            predictions: Vec::new(),
            outcomes: Vec::new(),
            values: Vec::new(),
            output_gradient: Vec::new(),
            gradient: Vec::new(),
        }
    }

    /// The same, listing the entries of gradients where that is less work: where they are few and
    /// every output has parameters of its own.
    pub(super) fn with_sparse_gradients(
        self,
        prepared: &PreparedData<'_>,
        objective: WeightedLoss<'_>,
        network: &Network,
    ) -> Self {
        let data = prepared.task.data;
        let own = network.is_linear() && data.data().features().shape() == FeatureShape::Wide;
        let chosen = prepared
            .task
            .split
            .train
            .first()
            .map_or(0, |row| data.optimal_decision(*row).indices().len());
        let few = objective
            .capabilities
            .num_gradient_entries(chosen)
            .is_some_and(|entries| 2 * entries <= data.data().costs().cols());
        Self {
            sparse: own && few,
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
        instances.iter().for_each(|instance| {
            self.rows
                .extend_from_slice(prepared.features.instance(*instance))
        });
        network.predict(&self.rows, &mut self.tape);
        prepared
            .output
            .write(self.tape.outputs(), &mut self.predictions);
    }

    /// Losses and gradients of the instances predicted last; returns the sum of the losses.
    pub(super) fn evaluate(
        &mut self,
        prepared: &PreparedData<'_>,
        objective: WeightedLoss<'_>,
        (step, instances): (StepId, &[usize]),
    ) -> Result<f64> {
        if objective.capabilities.uses_pool && step.training {
            self.refresh_pool(prepared, step, instances)?;
        }
        let width = prepared.task.data.data().costs().cols();
        let draw = NoiseKey {
            seed: prepared.settings().seed,
            epoch: if step.training { step.epoch } else { 0 },
        };
        let slots = self.outcomes.len().max(instances.len());
        self.outcomes.resize_with(slots, InstanceResult::default);
        let (oracle, predictions, sparse) = (&self.oracle, &self.predictions, self.sparse);
        let outcomes = &mut self.outcomes[..instances.len()];
        let work = |worker: &mut OracleWorker<'_>, index: usize, outcome: &mut InstanceResult| {
            let prediction = &predictions[index * width..][..width];
            let instance = instances[index];
            worker.set_cache_action(oracle.cache_action(step, instance));
            worker.set_instance(instance);
            let part = InstanceInput {
                prepared,
                objective,
                draw,
                instance,
                prediction,
            };
            outcome.value = if sparse {
                part.evaluate_sparse(worker, outcome)
            } else {
                part.write(worker, outcome)
            };
            outcome.found = worker.take_solved();
        };
        let one = Threads::single_threaded();
        let threads = if objective.capabilities.evaluates_in_parallel {
            oracle.oracle().solver_threads()
        } else {
            &one
        };
        self.pace.run(threads, instances.len(), |threads| {
            let expected = |index: usize| oracle.expected_seconds(instances[index]);
            threads.fill_longest_first(outcomes, expected, || oracle.worker(), work);
        });
        self.values.clear();
        for ((index, outcome), instance) in self.outcomes.iter_mut().enumerate().zip(instances) {
            if step.training {
                self.oracle.add_to_pool(&outcome.found);
            }
            let prediction = &self.predictions[index * width..][..width];
            self.values
                .push(outcome.check_finite(prediction, (step.epoch, *instance))?);
        }
        objective.loss.end_batch(step.training);
        Ok(self.values.iter().sum())
    }

    /// Lets the best decisions under the predictions of a batch join the pool, where the coin says
    /// so.
    fn refresh_pool(
        &mut self,
        prepared: &PreparedData<'_>,
        step: StepId,
        instances: &[usize],
    ) -> Result<()> {
        let (data, observer) = (prepared.task.data, prepared.task.observer);
        let best = |instance: usize| data.optimal_decision(instance);
        let found =
            self.oracle
                .solve_for_pool(step, instances, &self.predictions, best, observer)?;
        self.oracle.add_to_pool(&found);
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
        let outcomes = &self.outcomes[..instances];
        self.gradient.resize(network.parameters().len(), 0.0);
        if self.sparse {
            self.gradient.fill(0.0);
            for (row, outcome) in self.rows.chunks_exact(network.num_features()).zip(outcomes) {
                let entries = outcome
                    .entries
                    .as_slice()
                    .iter()
                    .map(|(j, g)| (*j as usize, *g));
                let entries =
                    entries.map(|(j, g)| (j, (factor * prepared.output.scale[j] * g) as f32));
                network.add_sparse(row, entries, &mut self.gradient);
            }
        } else {
            self.output_gradient.clear();
            outcomes.iter().for_each(|outcome| {
                prepared
                    .output
                    .backward(&outcome.gradient, factor, &mut self.output_gradient)
            });
            network.backpropagate(
                &self.rows,
                &mut self.tape,
                &self.output_gradient,
                &mut self.gradient,
            );
        }
        &self.gradient
    }

    /// Predicted costs of any number of instances, to be minimised; all of them numbers.
    pub(super) fn predictions(
        &mut self,
        prepared: &PreparedData<'_>,
        network: &Network,
        (epoch, instances): (usize, &[usize]),
    ) -> Result<Matrix> {
        let width = prepared.task.data.data().costs().cols();
        let mut costs = Vec::with_capacity(instances.len() * width);
        for part in instances.chunks(EVALUATION_ROWS_PER_CHUNK) {
            self.predict(prepared, network, part);
            costs.extend(self.predictions.iter().map(|cost| *cost as f32));
        }
        if let Some(bad) = costs.iter().position(|cost| !cost.is_finite()) {
            let (instance, output) = (instances[bad / width], Some(bad % width));
            return Err(Error::NonFinite {
                what: "prediction",
                epoch,
                instance,
                output,
            });
        }
        Matrix::new(instances.len(), width, costs)
    }

    /// Losses of any number of instances.
    pub(super) fn losses(
        &mut self,
        prepared: &PreparedData<'_>,
        objective: WeightedLoss<'_>,
        network: &Network,
        (epoch, instances): (usize, &[usize]),
    ) -> Result<Vec<f64>> {
        let step = StepId {
            epoch,
            batch: 0,
            training: false,
        };
        let mut losses = Vec::with_capacity(instances.len());
        for part in instances.chunks(EVALUATION_ROWS_PER_CHUNK) {
            self.predict(prepared, network, part);
            self.evaluate(prepared, objective, (step, part))?;
            losses.extend_from_slice(&self.values);
        }
        Ok(losses)
    }

    /// Losses of predictions (one row per instance) that are already known.
    pub(super) fn losses_of(
        &mut self,
        prepared: &PreparedData<'_>,
        objective: WeightedLoss<'_>,
        predictions: &Matrix,
        instances: &[usize],
    ) -> Result<Vec<f64>> {
        self.predictions.clear();
        self.predictions
            .extend(predictions.as_slice().iter().map(|cost| f64::from(*cost)));
        let step = StepId {
            epoch: 0,
            batch: 0,
            training: false,
        };
        self.evaluate(prepared, objective, (step, instances))?;
        Ok(std::mem::take(&mut self.values))
    }
}

/// One instance of a batch, before it is evaluated.
struct InstanceInput<'p> {
    prepared: &'p PreparedData<'p>,
    objective: WeightedLoss<'p>,
    draw: NoiseKey,
    instance: usize,
    prediction: &'p [f64],
}

impl InstanceInput<'_> {
    /// Value and gradient as a row.
    fn write(&self, worker: &mut OracleWorker<'_>, outcome: &mut InstanceResult) -> Result<f64> {
        outcome.gradient.resize(self.prediction.len(), 0.0);
        let value = self.with_input(|query| {
            self.objective
                .loss
                .evaluate(query, worker, &mut outcome.gradient)
        })?;
        let weight = self.objective.weight(self.instance);
        if self.objective.weights.is_some() {
            outcome.gradient.iter_mut().for_each(|g| *g *= weight);
        }
        Ok(weight * value)
    }

    /// Value and gradient as a list of entries.
    fn evaluate_sparse(
        &self,
        worker: &mut OracleWorker<'_>,
        outcome: &mut InstanceResult,
    ) -> Result<f64> {
        let value = self.with_input(|query| {
            self.objective
                .loss
                .evaluate_sparse(query, worker, &mut outcome.entries)
        })?;
        let weight = self.objective.weight(self.instance);
        outcome.entries.scale(weight);
        Ok(weight * value)
    }

    fn with_input<T>(&self, evaluate: impl FnOnce(&LossInput<'_>) -> T) -> T {
        let data = self.prepared.task.data;
        let costs = buffer::filled(
            data.data()
                .costs()
                .row(self.instance)
                .iter()
                .map(|cost| f64::from(*cost)),
        );
        let best = data.optimal_decision(self.instance);
        let (instance, prediction, draw) = (self.instance, self.prediction, self.draw);
        evaluate(&LossInput {
            instance,
            costs: &costs,
            prediction,
            best,
            draw,
        })
    }
}

/// What came of one instance.
#[derive(Debug)]
struct InstanceResult {
    value: Result<f64>,
    /// Gradient of the loss with respect to the predicted costs, one of the two forms.
    gradient: Vec<f64>,
    entries: SparseGradient,
    /// What was solved on the way.
    found: Vec<Decision>,
}

impl Default for InstanceResult {
    fn default() -> Self {
        Self {
            value: Ok(0.0),
            gradient: Vec::new(),
            entries: SparseGradient::default(),
            found: Vec::new(),
        }
    }
}

impl InstanceResult {
    /// The value, if it and its gradient are numbers.
    fn check_finite(
        &mut self,
        prediction: &[f64],
        (epoch, instance): (usize, usize),
    ) -> Result<f64> {
        let stop = |what, output| {
            Err(Error::NonFinite {
                what,
                epoch,
                instance,
                output,
            })
        };
        if let Some(output) = first_not_finite(prediction) {
            return stop("prediction", Some(output));
        }
        let value = std::mem::replace(&mut self.value, Ok(0.0))?;
        let listed = self
            .entries
            .as_slice()
            .iter()
            .find(|(_, g)| !g.is_finite())
            .map(|(j, _)| *j as usize);
        if let Some(output) = listed.or_else(|| first_not_finite(&self.gradient)) {
            return stop("gradient", Some(output));
        }
        if value.is_finite() {
            Ok(value)
        } else {
            stop("loss", None)
        }
    }
}

/// Listens for interruption only: solves within an epoch are not steps of the task on show.
pub(super) struct InterruptOnlyObserver<'a>(pub(super) &'a dyn Observer);

impl Observer for InterruptOnlyObserver<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
