//! The cost-sensitive family: squared or absolute error, one-sided, scale-invariant, weighted.
//!
//! ```text
//! loss_i = C_i · (1/d) · Σ_j  w_j(ĉ, c) · e(ĉ_j, c_j)        e squared or absolute
//! ```
//!
//! Source: Schutte, Berden, Guns, Postek and Yorke-Smith, "Scalable decision-focused learning
//! through cost-sensitive regression" (2026). Components, all of them fields of [`Cos`]:
//!
//! * **O** (one-sided): only errors that can mislead count. Under-pricing what is chosen anyway and
//!   over-pricing what is left anyway is free.
//! * **O_S** (sensitivity-based): as O, but the free side reaches to the end of the range within
//!   which the relaxed optimum stays optimal when this cost alone moves; beyond it the whole error
//!   counts.
//! * **S** (scale-invariant): both vectors are brought to unit length first, since decisions do not
//!   depend on the scale of costs.
//! * **C** (instance costs) and its relatives **W(w)**, **IC(k)**, **EIC(k)**: weights per instance
//!   from a baseline trained with the other components (the training recipe does that).
//! * **tau=t** (pinball): weight t for under-prediction and 1−t for over-prediction.
//!
//! Solves per evaluation: none. O needs the best decisions, O_S one relaxed solve and C one exact
//! solve per instance, all before training. Use `MAE(O,S)` first: it is the strongest member that
//! needs no solve beyond the labels.

mod evaluate;
mod name;
mod sensitivity;
mod single_precision;

pub use evaluate::CosLoss;
pub use single_precision::SinglePrecisionInput;

use crate::data::{Matrix, norm};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::VariableBounds;
use crate::solve::relaxation::CostRangeKind;

/// How an error is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseError {
    /// (ĉ − c)², the `MSE` of the label.
    Squared,
    /// |ĉ − c|, the `MAE` of the label.
    Absolute,
}

/// Which direction of error counts.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorSide {
    /// Both directions, fully.
    Both,
    /// Under-prediction with weight τ, over-prediction with 1−τ; one τ for all outputs or one each.
    Pinball(Vec<f64>),
    /// Only the direction that can mislead the decision.
    OneSided,
    /// Only what leaves the range within which the relaxed decision stays best.
    Sensitive(CostRangeKind),
}

/// How instances are weighted, given the regret and loss of a baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InstanceWeighting {
    /// All alike.
    Equal,
    /// C: regret divided by loss.
    InstanceCosts,
    /// W(w): w times regret plus 1−w (Lawless and Zhou 2022).
    Reweighted(f64),
    /// IC(k): instance costs found anew in each of k rounds of training.
    Iterative(usize),
    /// EIC(k): as IC, the baseline of a round being the mean of all models so far.
    Ensemble(usize),
}

/// A member of the family.
#[derive(Debug, Clone, PartialEq)]
pub struct CosSpec {
    /// Squared or absolute.
    pub error: BaseError,
    /// Which direction counts.
    pub side: ErrorSide,
    /// Whether vectors are brought to unit length first.
    pub scale_invariant: bool,
    /// How instances are weighted.
    pub weighting: InstanceWeighting,
}

impl CosSpec {
    /// Plain mean squared or absolute error.
    pub fn plain(error: BaseError) -> Self {
        Self {
            error,
            side: ErrorSide::Both,
            scale_invariant: false,
            weighting: InstanceWeighting::Equal,
        }
    }

    /// The loss for one table.
    ///
    /// # Errors
    /// When the problem cannot give what a component needs, or the user interrupts.
    pub fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<CosLoss> {
        let problem = oracle.problem();
        let mut loss = CosLoss::new(self.clone(), problem.bounds())
            .with_typical_norm(mean_norm(data.data().costs()));
        // The pinball's directions are those of the user's costs, which a maximisation turns round.
        if problem.sense().is_maximize() {
            loss = loss.with_pinball_swapped();
        }
        if let ErrorSide::Sensitive(kind) = self.side {
            loss = loss.with_limits(sensitivity::limits(
                data,
                oracle,
                kind,
                (&self.to_string(), observer),
            )?);
        }
        Ok(loss)
    }

    /// All components on both errors, for tests that every loss must pass.
    pub fn examples() -> Vec<Self> {
        let mut all = Vec::new();
        for error in [BaseError::Squared, BaseError::Absolute] {
            for side in [
                ErrorSide::Both,
                ErrorSide::OneSided,
                ErrorSide::Pinball(vec![0.3]),
            ] {
                for scale_invariant in [false, true] {
                    all.push(Self {
                        side: side.clone(),
                        scale_invariant,
                        ..Self::plain(error)
                    });
                }
            }
        }
        all
    }
}

/// Mean Euclidean length of the rows, never 0.
fn mean_norm(costs: &Matrix) -> f64 {
    let total: f64 = (0..costs.rows()).map(|i| norm(costs.row(i))).sum();
    (total / costs.rows().max(1) as f64).max(1e-12)
}

/// What each variable's best value says about the direction that can mislead: +1 over-prediction,
/// −1 under-prediction, 0 both, and [`MisleadingDirection::FREE`] neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MisleadingDirection(i8);

impl MisleadingDirection {
    const BOTH: Self = Self(0);
    const FREE: Self = Self(2);
    const OVER: Self = Self(1);
    const UNDER: Self = Self(-1);

    fn of(value: f64, lower: f64, upper: f64) -> Self {
        match (value <= lower, value >= upper) {
            (true, true) => Self::FREE,
            (false, true) => Self::OVER,
            (true, false) => Self::UNDER,
            (false, false) => Self::BOTH,
        }
    }

    /// Whether an error counts that goes beyond `free` (which has the sign of the error, or is 0).
    fn counts(self, error: f64, free: f64) -> bool {
        match self {
            Self::OVER => error > free,
            Self::UNDER => error < free,
            Self::FREE => false,
            _ => true,
        }
    }
}

/// The guide of every variable of a decision.
fn misleading_directions(
    best: &crate::decision::Decision,
    bounds: &VariableBounds,
    out: &mut Vec<MisleadingDirection>,
    count: usize,
) {
    out.clear();
    match bounds {
        VariableBounds::Binary => out.resize(count, MisleadingDirection::UNDER),
        VariableBounds::Box { lower, upper } => out.extend(
            lower
                .iter()
                .zip(upper)
                .map(|(l, u)| MisleadingDirection::of(0.0, *l, *u)),
        ),
    }
    for (j, value) in best.iter() {
        out[j] = match bounds {
            VariableBounds::Binary => MisleadingDirection::of(value, 0.0, 1.0),
            VariableBounds::Box { lower, upper } => {
                MisleadingDirection::of(value, lower[j], upper[j])
            }
        };
    }
}
