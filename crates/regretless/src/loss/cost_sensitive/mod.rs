//! The cost-sensitive family: squared or absolute error, one-sided, scale-invariant, weighted.
//!
//! ```text
//! loss_i = C_i · (1/d) · Σ_j  v_j(ĉ, c) · e(ĉ_j, c_j)        e squared or absolute
//! ```
//!
//! The loss of instance i with true costs c and predicted costs ĉ, d of each; C_i is the weight of
//! the instance, v_j that of the error of cost j.
//!
//! Source: Schutte, Berden, Guns, Postek and Yorke-Smith, "Scalable decision-focused learning
//! through cost-sensitive regression" (2026). Components, all of them fields of
//! [`CostSensitiveSpec`]:
//!
//! * **O** (one-sided): only errors that can change the decision count. Underpredicting the cost of
//!   a selected variable and overpredicting that of an unselected one is free.
//! * **O_S** (sensitivity-based): as O, but errors are free up to the limit of the range within
//!   which the relaxed optimum stays optimal when only this cost changes; beyond it the whole error
//!   counts.
//! * **S** (scale-invariant): both vectors are scaled to unit norm first, since decisions do not
//!   depend on the scale of costs.
//! * **E** (equality-invariant), instead of S: both vectors are projected onto the null space of
//!   the equality constraints Ax = b of the problem, then scaled to unit norm, since decisions do
//!   not change when costs c become αc + Aᵀy. Zero loss implies zero regret: with O it means
//!   Pĉ/‖Pĉ‖ = Pc/‖Pc‖ + δ with δ ≤ 0 for chosen and δ ≥ 0 for other items; for every feasible x
//!   the difference x − x* is in the null space of A, so ĉᵀ(x − x*)/‖Pĉ‖ = cᵀ(x − x*)/‖Pc‖ + δᵀ(x −
//!   x*) ≥ 0.
//! * **C** (instance costs) and its variants **W(w)**, **IC(k)**, **EIC(k)**: weights per instance
//!   from a baseline trained with the other components (`train/weighting.rs`).
//! * **tau=t** (pinball): weight t for underprediction and 1−t for overprediction.
//! * **D** (dual-weighted), for predicted quantities such as demands: a unit too few weighs what it
//!   costs at the labeled optimum, a unit too many likewise (`prices.rs`).
//!
//! Solves per evaluation: none. O needs the labels, O_S one relaxed solve and C one exact solve per
//! instance, all before training. Use `MAE(O,S)` first: it is the strongest loss that needs no
//! solve beyond the labels.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let value = |name: &str, prediction: [f64; 3]| -> regretless::Result<f64> {
//!     let loss: LossSpec = name.parse()?;
//!     Ok(loss.evaluate(&problem, &prediction, &[1.0, 2.0, 3.0])?.value)
//! };
//! let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
//! // Errors 1, −1, 0: the first is an overprediction, the second an underprediction.
//! assert!(close(value("MSE", [2.0, 1.0, 3.0])?, 2.0 / 3.0));
//! assert!(close(value("MAE", [2.0, 1.0, 3.0])?, 2.0 / 3.0));
//! assert!(close(value("MAE(tau=0.3)", [2.0, 1.0, 3.0])?, (0.7 + 0.3) / 3.0));
//! // Both errors can change the decision; errors −1 and 1 of the same costs cannot.
//! assert!(close(value("MAE(O)", [2.0, 1.0, 3.0])?, 2.0 / 3.0));
//! assert_eq!(value("MAE(O)", [0.0, 3.0, 3.0])?, 0.0);
//! // Predicted and true costs have the norm √14; errors are divided by it.
//! assert!(close(value("MSE(S)", [2.0, 1.0, 3.0])?, 2.0 / 3.0 / 14.0));
//! assert!(close(value("MAE(O,S)", [2.0, 1.0, 3.0])?, 2.0 / 3.0 / 14.0_f64.sqrt()));
//! // One of three is chosen: the mean is removed, which leaves (0, −1, 1) and (−1, 0, 1).
//! assert!(close(value("MSE(E)", [2.0, 1.0, 3.0])?, 2.0 / 3.0 / 2.0));
//! assert_eq!(value("MAE(O,E)", [3.0, 5.0, 7.0])?, 0.0);
//! # Ok::<(), regretless::Error>(())
//! ```

mod evaluate;
mod name;
mod prices;
mod projection;
mod sensitivity;
mod single_precision;

pub use evaluate::CostSensitiveLoss;
pub(crate) use projection::NormalizingProjection;
pub use single_precision::SinglePrecisionInput;

use self::prices::ErrorPrices;
use self::projection::RowProjections;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::loss::registry::LossFamily;
use crate::loss::{Loss, LossDefinition, LossProperties};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::VariableBounds;
use crate::solve::relaxation::CostRangeKind;

/// How an error is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseError {
    /// (ĉ − c)²: `MSE`.
    Squared,
    /// |ĉ − c|: `MAE`.
    Absolute,
}

/// Which direction of error counts.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorSide {
    /// Both directions, fully.
    Both,
    /// Underprediction with weight τ, overprediction with 1−τ; one τ for all outputs or one each.
    Pinball(Vec<f64>),
    /// Only the direction that can change the decision.
    OneSided,
    /// Only errors that leave the range within which the relaxed decision stays optimal.
    Sensitive(CostRangeKind),
    /// Both directions of predicted quantities, each by what a unit costs at the labeled optimum,
    /// moved by this share towards what it costs if nothing couples the quantities; `None` where
    /// the share is chosen by validation.
    DualWeighted(Option<f64>),
}

/// What is done to predicted and true costs before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Nothing.
    None,
    /// Both vectors are scaled to unit norm (S).
    UnitNorm,
    /// Both vectors are projected onto the null space of the equality constraints, then scaled to
    /// unit norm (E).
    EqualityInvariant,
}

/// How instances are weighted, given the regret and loss of a baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InstanceWeighting {
    /// Equally.
    Equal,
    /// C: regret divided by loss.
    InstanceCosts,
    /// W(w): w times regret plus 1−w (Lawless and Zhou 2022).
    Reweighted(f64),
    /// IC(k): instance costs recomputed in each of k rounds of training.
    Iterative(usize),
    /// EIC(k): as IC; the baseline of a round is the mean of all models so far.
    Ensemble(usize),
}

impl InstanceWeighting {
    /// How often a model is trained; all rounds but the first are weighted.
    pub fn num_rounds(self) -> usize {
        match self {
            Self::Equal => 1,
            Self::InstanceCosts | Self::Reweighted(_) => 2,
            Self::Iterative(rounds) | Self::Ensemble(rounds) => rounds,
        }
    }

    /// Whether the model is the mean of the networks of all rounds.
    pub fn is_ensemble(self) -> bool {
        matches!(self, Self::Ensemble(_))
    }
}

/// A loss of the family.
#[derive(Debug, Clone, PartialEq)]
pub struct CostSensitiveSpec {
    /// Squared or absolute.
    pub error: BaseError,
    /// Which direction counts.
    pub side: ErrorSide,
    /// What is done to the vectors first.
    pub normalization: Normalization,
    /// How instances are weighted.
    pub weighting: InstanceWeighting,
}

impl CostSensitiveSpec {
    /// Plain mean squared or absolute error.
    pub fn plain(error: BaseError) -> Self {
        Self {
            error,
            side: ErrorSide::Both,
            normalization: Normalization::None,
            weighting: InstanceWeighting::Equal,
        }
    }

    /// The same with one-sided errors (O).
    #[must_use]
    pub fn one_sided(self) -> Self {
        Self {
            side: ErrorSide::OneSided,
            ..self
        }
    }

    /// The same on vectors of unit norm (S).
    #[must_use]
    pub fn scale_invariant(self) -> Self {
        Self {
            normalization: Normalization::UnitNorm,
            ..self
        }
    }

    /// The same on vectors of unit norm without what the equality constraints absorb (E).
    #[must_use]
    pub fn equality_invariant(self) -> Self {
        Self {
            normalization: Normalization::EqualityInvariant,
            ..self
        }
    }

    /// Whether it can train predictions of quantities: their scale matters, and a decision says
    /// nothing about the direction of an error.
    fn compares_values(&self) -> bool {
        let has_values_side = match self.side {
            ErrorSide::Both | ErrorSide::Pinball(_) | ErrorSide::DualWeighted(_) => true,
            ErrorSide::OneSided | ErrorSide::Sensitive(_) => false,
        };
        has_values_side && self.normalization == Normalization::None
    }

    /// The same with instances weighted.
    #[must_use]
    pub fn weighted(self, weighting: InstanceWeighting) -> Self {
        Self { weighting, ..self }
    }
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["MSE", "MAE"],
    usage: &["MSE or MAE with components, such as MAE(O,S)"],
    parse: |_, options| Ok(options.take_text().parse::<CostSensitiveSpec>()?.into()),
    examples: &[
        "MSE",
        "MSE(S)",
        "MSE(O)",
        "MSE(O,S)",
        "MSE(O,E)",
        "MSE(tau=0.3)",
        "MSE(tau=0.3,S)",
        "MAE",
        "MAE(S)",
        "MAE(O)",
        "MAE(O,S)",
        "MAE(tau=0.3)",
        "MAE(tau=0.3,S)",
        "MAE(E)",
    ],
};

impl LossDefinition for CostSensitiveSpec {
    fn properties(&self) -> LossProperties {
        LossProperties {
            can_vanish: matches!(self.side, ErrorSide::Sensitive(_)),
            weighting: self.weighting,
            is_scale_invariant: match self.normalization {
                Normalization::None => false,
                Normalization::UnitNorm | Normalization::EqualityInvariant => true,
            },
            is_mean_over_costs: true,
            compares_values: self.compares_values(),
            ..LossProperties::SOLVER_FREE
        }
    }

    fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        if self.normalization == Normalization::EqualityInvariant {
            oracle.require_equality_constraints()?;
        }
        match self.side {
            ErrorSide::Sensitive(kind) => oracle.require_ranges(kind),
            ErrorSide::DualWeighted(_) => oracle.require_quantities("D"),
            ErrorSide::Both | ErrorSide::OneSided | ErrorSide::Pinball(_) => Ok(()),
        }
    }

    fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Loss>> {
        let problem = oracle.problem();
        let mut loss = CostSensitiveLoss::new(self.clone(), problem.choices().bounds())
            .with_row_bounds(row_bounds(data, oracle)?);
        if self.normalization == Normalization::EqualityInvariant {
            let projections = RowProjections::new(data, oracle);
            loss = loss.with_projections(projections.map_err(|e| e.for_method(&self.to_string()))?);
        }
        loss = loss.with_mean_norm_of(data.data().costs());
        // The directions of the pinball loss are those of the user's costs; maximization swaps
        // them.
        if problem.sense().is_maximize() {
            loss = loss.with_pinball_swapped();
        }
        if let ErrorSide::Sensitive(kind) = self.side {
            let limits = sensitivity::limits(data, oracle, kind, &self.to_string(), observer)?;
            loss = loss.with_limits(limits);
        }
        if let ErrorSide::DualWeighted(shrinkage) = self.side {
            loss = loss.with_prices(ErrorPrices::new(data, oracle, shrinkage)?);
        }
        Ok(Box::new(loss))
    }
}

/// The bounds of the variables of each row, if they differ between rows; empty otherwise.
fn row_bounds(data: &LabeledDataset, oracle: &Oracle) -> Result<Vec<VariableBounds>> {
    let bounds = oracle.problem().choices().bounds();
    if !oracle.has_row_problems() {
        return Ok(Vec::new());
    }
    let mut all = Vec::with_capacity(data.len());
    for row in 0..data.len() {
        // A row without a label is not evaluated, and may have no problem.
        all.push(if data.has_label(row) {
            let problem = oracle.row_problem(row);
            problem
                .map_err(|failure| Error::solver(row, failure))?
                .choices()
                .bounds()
        } else {
            bounds.clone()
        });
    }
    if all.iter().all(|row| *row == bounds) {
        all.clear();
    }
    Ok(all)
}

/// The direction of error in one cost that can change the decision, given the value of its variable
/// in the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MisleadingDirection {
    /// Strictly between its bounds: both directions.
    Both,
    /// Fixed by its bounds: neither.
    Neither,
    /// At its upper bound: overprediction.
    Over,
    /// At its lower bound: underprediction.
    Under,
}

impl MisleadingDirection {
    fn of(value: f64, lower: f64, upper: f64) -> Self {
        match (value <= lower, value >= upper) {
            (true, true) => Self::Neither,
            (false, true) => Self::Over,
            (true, false) => Self::Under,
            (false, false) => Self::Both,
        }
    }

    /// Whether an error counts: in this direction, and larger than the free error, which has the
    /// sign of the error or is 0.
    fn counts(self, error: f64, free_error: f64) -> bool {
        match self {
            Self::Over => error > free_error,
            Self::Under => error < free_error,
            Self::Neither => false,
            Self::Both => true,
        }
    }
}

/// The misleading direction of every variable of a label.
fn misleading_directions(
    label: &Decision,
    bounds: &VariableBounds,
    out: &mut Vec<MisleadingDirection>,
    count: usize,
) {
    out.clear();
    match bounds {
        VariableBounds::Binary => out.resize(count, MisleadingDirection::Under),
        VariableBounds::Box { lower, upper } => out.extend(
            lower
                .iter()
                .zip(upper)
                .map(|(l, u)| MisleadingDirection::of(0.0, *l, *u)),
        ),
    }
    for (j, value) in label.iter() {
        out[j] = match bounds {
            VariableBounds::Binary => MisleadingDirection::of(value, 0.0, 1.0),
            VariableBounds::Box { lower, upper } => {
                MisleadingDirection::of(value, lower[j], upper[j])
            }
        };
    }
}
