//! Losses: the value of a prediction and its gradient with respect to the predicted costs.
//!
//! Every loss is a function of one instance and one prediction that returns value and gradient
//! together, in closed form. Adding a loss takes one file here, its `mod` line, one entry of
//! `registry.rs` and one line of documentation. The file implements [`LossDefinition`] (name,
//! [`LossProperties`], building for a table) and [`Loss`] (or `DecisionGradient`), and states in
//! its `FAMILY` the names, how options are parsed, and examples; the examples are part of the
//! gradient, scale, determinism and training tests.
//!
//! A loss is selected by its name. The file of each loss has its formula, with which these values
//! can be checked by hand:
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! for (name, value) in [
//!     ("MSE", (1.0 + 1.0) / 3.0),
//!     ("MSE(O,S)", (1.0 + 1.0) / 3.0 / 14.0),
//!     ("MAE(O)", (1.0 + 1.0) / 3.0),
//!     ("SPO+", 2.0 * 2.0 - 1.0 - 0.0),
//!     ("MAP", 2.0 - 1.0),
//!     ("NCE", 2.0 - (2.0 + 1.0) / 2.0),
//!     ("SCE", 2.0 - 1.0),
//!     ("LTR(point)", (1.0 + 1.0) / 2.0),
//!     ("LTR(pair)", 2.0 - 1.0),
//!     ("PG(sigma=4)", (1.0 + 9.0) / 4.0),
//!     ("DBB", 2.0 - 1.0),
//!     ("NID(distance)", 1.0 + 1.0),
//!     ("RFY", 0.5 - 0.5 + 2.0 - 1.0),
//!     ("LAVA", (1.0 + 0.0) / 2.0),
//! ] {
//!     let loss: LossSpec = name.parse()?;
//!     let result = loss.evaluate(&problem, &prediction, &costs)?;
//!     assert!((result.value - value).abs() < 1e-9, "{name}: {}", result.value);
//! }
//! # Ok::<(), regretless::Error>(())
//! ```
//!
//! A custom loss is a method as it is (`Method::from`); after [`LossSpec::register`] its name can
//! be used in texts, too:
//!
//! ```
//! use std::fmt;
//!
//! use regretless::label::LabeledDataset;
//! use regretless::loss::{Loss, LossDefinition, LossInput, LossProperties, LossSpec};
//! use regretless::observer::Observer;
//! use regretless::oracle::{Oracle, OracleWorker};
//! use regretless::{Method, Problem, Result, Sense};
//!
//! #[derive(Debug, Clone, Copy)]
//! struct FourthPower;
//!
//! impl fmt::Display for FourthPower {
//!     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         f.write_str("fourth-power")
//!     }
//! }
//!
//! impl LossDefinition for FourthPower {
//!     fn properties(&self) -> LossProperties {
//!         LossProperties { checks_gradient: true, ..LossProperties::SOLVER_FREE }
//!     }
//!
//!     fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
//!         Ok(Box::new(*self))
//!     }
//! }
//!
//! impl Loss for FourthPower {
//!     fn evaluate(
//!         &self,
//!         input: &LossInput<'_>,
//!         _: &mut OracleWorker<'_>,
//!         gradient: &mut [f64],
//!     ) -> Result<f64> {
//!         let mut value = 0.0;
//!         for (j, slope) in gradient.iter_mut().enumerate() {
//!             let error = input.prediction[j] - input.costs[j];
//!             value += error.powi(4);
//!             *slope = 4.0 * error.powi(3);
//!         }
//!         Ok(value)
//!     }
//! }
//!
//! let loss = LossSpec::from(FourthPower);
//! loss.check_gradient(&Problem::top_k(3, 1, Sense::Minimize)?, &[[1.0, 2.0, 3.0]])?;
//! loss.register()?;
//! let method: Method = "MAE(O,S) then fourth-power lr 0.001".parse()?;
//! assert_eq!(method.to_string(), "MAE(O,S) then fourth-power lr 0.001");
//! # Ok::<(), regretless::Error>(())
//! ```

use std::borrow::Cow;

pub(crate) use self::cost_sensitive::NormalizingProjection;
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::oracle::OracleWorker;
use crate::random::{Purpose, RandomStream};
use crate::solve::Solution;

mod batch;
pub(crate) mod buffer;
pub(crate) mod cave;
pub(crate) mod contrastive;
pub(crate) mod cost_sensitive;
mod decision_gradient;
pub(crate) mod frank_wolfe;
mod gradient_check;
mod instance;
pub(crate) mod lava;
pub(crate) mod layer;
mod name_options;
pub(crate) mod noise;
pub(crate) mod perturbation_gradient;
pub(crate) mod pfyl;
mod properties;
pub(crate) mod ranking;
mod registry;
pub(crate) mod self_contrastive;
mod spec;
pub(crate) mod spo_plus;

pub use batch::{BatchLoss, BatchLossInput};
pub use cost_sensitive::{
    BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization, SinglePrecisionInput,
};
pub use decision_gradient::SparseGradient;
pub(crate) use decision_gradient::{DecisionGradient, GradientAccumulator};
pub use instance::LossValue;
pub use properties::LossProperties;
pub use spec::{LossDefinition, LossSpec};

/// Key of the noise that perturbed losses draw: the same on every thread, different in every epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoiseKey {
    /// Seed of the training.
    pub seed: u64,
    /// Epoch; 0 in evaluation, so all epochs are evaluated with the same noise.
    pub epoch: usize,
}

/// One instance and the prediction for it; costs are minimized.
#[derive(Debug, Clone, Copy)]
pub struct LossInput<'a> {
    /// Row of the table.
    pub instance: usize,
    /// True costs.
    pub costs: &'a [f64],
    /// Predicted costs.
    pub prediction: &'a [f64],
    /// The label: the optimal decision under the true costs.
    pub label: &'a Decision,
    /// Key of the noise.
    pub noise: NoiseKey,
}

impl LossInput<'_> {
    /// Solves the problem under some costs; the worker keeps the solution until the next call.
    ///
    /// # Errors
    /// When the solve fails; the error names the instance.
    pub fn solve<'k>(
        &self,
        worker: &'k mut OracleWorker<'_>,
        costs: &[f64],
    ) -> Result<&'k Solution> {
        worker
            .solve_from(costs, Some(self.label))
            .map_err(|failure| Error::solver(self.instance, failure))
    }

    /// As [`Self::solve`], for losses that are defined by the least cost of a decision. If the
    /// costs leave no optimal decision, as those of a graph with a negative cycle, it is the
    /// optimum of a relaxation, so the loss keeps its bound; its entries need not be those of a
    /// decision.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub(crate) fn minimize<'k>(
        &self,
        worker: &'k mut OracleWorker<'_>,
        costs: &[f64],
    ) -> Result<&'k Solution> {
        worker
            .minimize_from(costs, self.label)
            .map_err(|failure| Error::solver(self.instance, failure))
    }

    /// The random stream of this instance.
    fn stream(&self) -> RandomStream {
        RandomStream::new(
            Purpose::Loss,
            self.noise.seed,
            [self.noise.epoch as u64, self.instance as u64],
        )
    }
}

/// Value and gradient of one instance.
pub trait Loss: Send + Sync {
    /// The loss of a prediction; writes its gradient with respect to the predicted costs.
    ///
    /// # Errors
    /// When a solve fails.
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64>;

    /// The same with the gradient as a list of entries.
    ///
    /// # Errors
    /// When a solve fails.
    fn evaluate_sparse(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut SparseGradient,
    ) -> Result<f64> {
        let mut row = buffer::zeros(input.prediction.len());
        let value = self.evaluate(input, worker, &mut row)?;
        gradient.clear();
        gradient.push_nonzeros(&row);
        Ok(value)
    }

    /// Value and gradient of a row in single precision, if the loss has a fast path for it; equal
    /// to [`Self::evaluate`] up to rounding.
    fn evaluate_single(
        &self,
        _input: &SinglePrecisionInput<'_>,
        _gradient: &mut [f32],
    ) -> Option<f64> {
        None
    }

    /// The factor that scales gradients to the order of 1, whatever the number of costs.
    ///
    /// Adam's steps vanish for gradients smaller than its ε, and gradients of scale-invariant
    /// losses shrink with the number of costs. Training minimizes the loss times this factor and
    /// reports the loss itself.
    fn rescaling(&self, _costs: usize) -> f64 {
        1.0
    }

    /// The power of the unit of costs that the rescaled gradient with respect to predictions is
    /// proportional to: with costs in cents in place of euros, gradients of squared errors are a
    /// hundred times as large, those of absolute errors are the same.
    fn gradient_degree(&self) -> i32 {
        0
    }

    /// The loss as a sum over costs, if it is one, so fused training can evaluate it together with
    /// the predictor.
    fn separable(&self) -> Option<SeparableLoss<'_>> {
        None
    }

    /// The loss of whole batches, if it is evaluated for batches; training then does not call
    /// [`Self::evaluate`].
    fn batch_loss(&self) -> Option<&dyn BatchLoss> {
        None
    }

    /// Called after all instances of a batch, of a gradient step or an evaluation.
    fn end_batch(&self, _is_gradient_step: bool) {}

    /// State that changes from batch to batch; empty for all but adaptive losses.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores a state that [`Self::state`] returned.
    fn restore(&self, _state: &[f64]) {}
}

/// A loss that is a sum over costs, with or without normalization.
#[derive(Debug, Clone, Copy)]
pub struct SeparableLoss<'a> {
    /// Squared or absolute.
    pub error: BaseError,
    /// Which direction of error counts.
    pub side: &'a ErrorSide,
    /// Whether vectors are scaled to unit norm first.
    pub scale_invariant: bool,
    /// The projection that is applied to vectors before that, if there is one.
    pub projection: Option<&'a NormalizingProjection>,
    /// Limits of cost ranges, one row per instance.
    pub limits: Option<&'a Matrix>,
}

/// The decisions of the solution pool that are feasible for the instance; an error if it is empty.
fn pool_decisions<'a>(
    input: &LossInput<'_>,
    worker: &mut OracleWorker<'a>,
    name: impl Fn() -> String,
) -> Result<Cow<'a, [Decision]>> {
    let pool = worker
        .feasible_pool(input.prediction)
        .map_err(|failure| Error::solver(input.instance, failure))?;
    if pool.is_empty() {
        Err(Error::EmptyPool { method: name() })
    } else {
        Ok(pool)
    }
}
