//! Losses: how wrong a prediction is, and in which direction to change it.
//!
//! Every loss is a function of one instance and one prediction that returns value and gradient
//! together, in closed form. Adding one is one file here, one variant of [`LossSpec`], and one line
//! in [`LossSpec::examples`], which puts it under the gradient, scale, determinism and training
//! tests.

use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::oracle::OracleWorker;
use crate::random::{Purpose, RandomStream};
use crate::solve::Solution;

pub(crate) mod buffer;
pub mod cave;
pub mod contrastive;
pub mod cos;
mod decision_gradient;
pub mod frank_wolfe;
pub mod lava;
pub mod layer;
mod name_options;
pub mod noise;
pub mod perturbation_gradient;
pub mod pfyl;
pub mod ranking;
mod spec;
pub mod spo_plus;

pub use cave::Cave;
pub use contrastive::Contrastive;
pub use cos::{BaseError, CosSpec, ErrorSide, InstanceWeighting, SinglePrecisionInput};
pub use decision_gradient::{DecisionGradient, GradientAccumulator, SparseGradient};
pub use frank_wolfe::FrankWolfe;
pub use lava::LavaSpec;
pub use layer::blackbox::Blackbox;
pub use layer::implicit::ImplicitMle;
pub use layer::perturbed::PerturbedOptimizer;
pub use layer::{DecisionLayer, LayerLoss, LayerObjective};
pub use perturbation_gradient::PerturbationGradient;
pub use pfyl::Pfyl;
pub use ranking::Ranking;
pub use spec::LossSpec;
pub use spo_plus::SpoPlus;

/// Which noise a perturbed method draws: the same on every thread, another in every epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoiseKey {
    /// Seed of the training.
    pub seed: u64,
    /// Epoch; 0 wherever nothing is trained, so that epochs are judged with the same noise.
    pub epoch: usize,
}

/// One instance and what is predicted for it; costs are to be minimised.
#[derive(Debug, Clone, Copy)]
pub struct LossInput<'a> {
    /// Row of the table.
    pub instance: usize,
    /// True costs.
    pub costs: &'a [f64],
    /// Predicted costs.
    pub prediction: &'a [f64],
    /// Best decision under the true costs.
    pub best: &'a Decision,
    /// Which noise is drawn.
    pub draw: NoiseKey,
}

impl LossInput<'_> {
    /// Asks for the best decision under some costs; the asker keeps the answer until the next
    /// question.
    ///
    /// # Errors
    /// When there is none; the error names the instance.
    pub fn solve<'k>(
        &self,
        worker: &'k mut OracleWorker<'_>,
        costs: &[f64],
    ) -> Result<&'k Solution> {
        worker
            .solve_from(costs, Some(self.best))
            .map_err(|failure| Error::solver(self.instance, failure))
    }

    /// The random stream of this instance.
    fn stream(&self) -> RandomStream {
        RandomStream::new(
            Purpose::Loss,
            self.draw.seed,
            [self.draw.epoch as u64, self.instance as u64],
        )
    }
}

/// Value and gradient of one instance.
pub trait Loss: Send + Sync {
    /// The loss of a prediction; writes its gradient with respect to the predicted costs.
    ///
    /// # Errors
    /// When a solve that the loss needs has no answer.
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64>;

    /// The same, listing the entries of the gradient.
    ///
    /// # Errors
    /// As above.
    fn evaluate_sparse(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut SparseGradient,
    ) -> Result<f64> {
        let mut row = buffer::zeros(query.prediction.len());
        let value = self.evaluate(query, worker, &mut row)?;
        gradient.clear();
        gradient.push_nonzeros(&row);
        Ok(value)
    }

    /// Value and gradient of a row in single precision, where the loss has a fast way for such; the
    /// same but for rounding.
    fn evaluate_single(
        &self,
        _query: &SinglePrecisionInput<'_>,
        _gradient: &mut [f32],
    ) -> Option<f64> {
        None
    }

    /// About how many entries the gradient has where a decision has `chosen`, if it can do without
    /// a whole row.
    fn num_gradient_entries(&self, _chosen: usize) -> Option<usize> {
        None
    }

    /// The factor that brings gradients to the order of 1, whatever the number of costs.
    ///
    /// Adam forgets gradients smaller than its ε; under scale-invariant losses they shrink with the
    /// number of costs. Training minimises the loss times this factor and reports the loss itself.
    fn rescaling(&self, _costs: usize) -> f64 {
        1.0
    }

    /// The loss as a sum over costs, if it is one, so that it can be fused with a linear predictor.
    fn separable(&self) -> Option<SeparableLoss<'_>> {
        None
    }

    /// Whether an evaluation asks the oracle, so that a batch is worth spreading over threads.
    fn calls_solver(&self) -> bool {
        false
    }

    /// Whether the loss compares with known decisions ([`OracleWorker::known`]). Training then keeps a
    /// pool and, before each step, lets the best decisions under the predictions of the batch join
    /// it.
    fn uses_pool(&self) -> bool {
        false
    }

    /// All instances of a batch were evaluated, for training or only to judge.
    fn end_batch(&self, _training: bool) {}

    /// What the loss has learned from the batches so far; empty for all but adaptive ones.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Goes on from such a state.
    fn restore(&self, _state: &[f64]) {}
}

/// A loss that is a sum over costs, after normalisation or without.
#[derive(Debug, Clone, Copy)]
pub struct SeparableLoss<'a> {
    /// Squared or absolute.
    pub error: BaseError,
    /// Which direction of error counts.
    pub side: &'a ErrorSide,
    /// Whether vectors are brought to unit length first.
    pub scale_invariant: bool,
    /// Ends of cost ranges, one row per instance.
    pub limits: Option<&'a Matrix>,
}

/// The known decisions, of which a loss that compares needs at least one.
fn pool_decisions<'a>(
    worker: &OracleWorker<'a>,
    name: impl Fn() -> String,
) -> Result<&'a [Decision]> {
    let pool = worker.pool_decisions();
    if pool.is_empty() {
        Err(Error::EmptyPool { method: name() })
    } else {
        Ok(pool)
    }
}
