//! Estimated seconds of training on one thread, from the number of multiplications and of solver
//! calls: never measured, so the plan is the same on every machine.

use super::solve_times::SolveTimes;
use crate::data::{Dataset, FeatureShape};
use crate::loss::InstanceWeighting;
use crate::method::TrainingStage;
use crate::oracle::{Heuristic, OracleSettings};
use crate::predict::PredictorSpec;
use crate::solve::relaxation::Relaxation;

/// Seconds per parameter and row of an epoch: of a linear predictor in fused training, and of a
/// network with hidden layers. Measured on SP5x5 and TSP100 with one thread of a 2.6 GHz Xeon:
/// 1.5e-10 to 2.5e-10, and 4e-10 to 7e-10.
const SECONDS_PER_LINEAR_WEIGHT: f64 = 2e-10;
const SECONDS_PER_LAYER_WEIGHT: f64 = 7e-10;
/// The same if a loss calls the solver, which excludes fused training.
const SECONDS_PER_WEIGHT_WITH_SOLVES: f64 = 1e-9;
/// Seconds of a row beside the products: shuffling, loss, optimizer.
const SECONDS_PER_ROW: f64 = 5e-7;
/// Seconds of a projection onto a normal cone, and those per cost, measured with `CaVE(inner)` on
/// SP5x5 (60 µs) and CVRP20 (100 µs).
const PROJECTION_SECONDS: f64 = 4e-5;
const PROJECTION_SECONDS_PER_COST: f64 = 5e-7;
/// Seconds of a local search that starts from the label over those of the fast one, measured on
/// TSP100.
pub(super) const FROM_LABEL_TIME_RATIO: f64 = 0.5;

/// What training on a table costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrainingTime {
    features: usize,
    outputs: usize,
    /// Rows of features per instance: its items in a long table.
    rows_per_instance: usize,
    costs: usize,
    pub(super) times: SolveTimes,
}

impl TrainingTime {
    pub(super) fn new(data: &Dataset, times: SolveTimes) -> Self {
        let costs = data.costs().cols();
        let (outputs, rows_per_instance) = match data.features().shape() {
            FeatureShape::Wide => (costs, 1),
            FeatureShape::Long { items } => (1, items),
        };
        Self {
            features: data.features().names().len(),
            outputs,
            rows_per_instance,
            costs,
            times,
        }
    }

    /// Number of costs of an instance.
    pub(super) fn costs(&self) -> usize {
        self.costs
    }

    /// Multiplications of the forward pass for one instance.
    fn products(&self, predictor: &PredictorSpec) -> f64 {
        let hidden: &[usize] = match predictor {
            PredictorSpec::Linear => &[],
            PredictorSpec::Mlp { hidden } => hidden,
        };
        // Four more features stand for the bias and the Gram matrix of a fused step.
        let sizes = [&[self.features + 4], hidden, &[self.outputs]].concat();
        let weights: usize = sizes.windows(2).map(|pair| pair[0] * pair[1]).sum();
        (weights * self.rows_per_instance) as f64
    }

    /// Seconds of the arithmetic of one instance.
    fn instance(&self, stage: &TrainingStage, predictor: &PredictorSpec) -> f64 {
        let per_weight = if stage.loss.properties().is_expensive {
            SECONDS_PER_WEIGHT_WITH_SOLVES
        } else {
            match predictor {
                PredictorSpec::Linear => SECONDS_PER_LINEAR_WEIGHT,
                PredictorSpec::Mlp { .. } => SECONDS_PER_LAYER_WEIGHT,
            }
        };
        SECONDS_PER_ROW + per_weight * self.products(predictor)
    }

    /// Seconds of one epoch over this many rows.
    pub(super) fn epoch(
        &self,
        stage: &TrainingStage,
        predictor: &PredictorSpec,
        rows: usize,
    ) -> f64 {
        let properties = stage.loss.properties();
        let solver = if properties.calls_solver {
            // The gradient of SPO+ is made of two decisions, one of which is the label.
            // Losses without a number of decisions are counted as two.
            let decisions = properties.gradient_decisions.unwrap_or(2).max(2);
            (decisions - 1) as f64 * self.solver_call(&stage.oracle)
        } else if properties.is_expensive {
            self.projection()
        } else {
            0.0
        };
        (self.instance(stage, predictor) + solver) * rows as f64
    }

    /// Seconds of a stage without its solves and projections.
    pub(super) fn arithmetic(
        &self,
        stage: &TrainingStage,
        predictor: &PredictorSpec,
        rows: usize,
    ) -> f64 {
        let rounds = stage.loss.properties().weighting.num_rounds();
        let epochs = rounds * stage.overrides.epochs.unwrap_or(1);
        self.instance(stage, predictor) * (epochs * rows) as f64
    }

    /// Seconds of a stage with its epochs: all rounds, and the solves that weight instances.
    pub(super) fn stage(
        &self,
        stage: &TrainingStage,
        predictor: &PredictorSpec,
        rows: usize,
    ) -> f64 {
        let epochs = stage.overrides.epochs.unwrap_or(1) as f64;
        let epoch = self.epoch(stage, predictor, rows);
        match stage.loss.properties().weighting {
            InstanceWeighting::Equal => epochs * epoch,
            weighting => {
                let rounds = weighting.num_rounds() as f64;
                // Weights are the regrets of the model so far, which take a solve per row and
                // round.
                rounds * epochs * epoch + (rounds - 1.0) * self.times.exact * rows as f64
            }
        }
    }

    /// Seconds of one projection onto a normal cone.
    pub(super) fn projection(&self) -> f64 {
        PROJECTION_SECONDS + PROJECTION_SECONDS_PER_COST * self.costs as f64
    }

    /// Seconds of one solver call under these settings.
    pub(super) fn solver_call(&self, settings: &OracleSettings) -> f64 {
        let times = &self.times;
        let seconds = match (settings.relaxation, settings.heuristic) {
            (Some(Relaxation::Tight), _) => times.tight,
            (Some(Relaxation::Plain), _) => times.plain,
            (None, Some(Heuristic::LocalSearchFromLabel)) => times
                .fast_local_search
                .map(|seconds| FROM_LABEL_TIME_RATIO * seconds),
            (None, Some(_)) => times.fast_local_search,
            (None, None) => Some(times.exact),
        };
        // A cache draws this fraction of the calls.
        let solve_ratio = settings.cache.map_or(1.0, |cache| cache.solve_ratio);
        solve_ratio * seconds.unwrap_or(times.exact)
    }
}
