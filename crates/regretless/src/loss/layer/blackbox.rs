//! DBB (differentiation of black-box solvers) and NID (negative identity): one decision,
//! differentiated without knowledge of the solver.
//!
//! ĉ are the predicted costs, x(q) is the optimal decision under costs q.
//!
//! ```text
//! decision x(ĉ), whose value has gradient g
//! DBB: gradient [x(ĉ + λg) − x(ĉ)]/λ, the slope of a linear interpolation of the value
//! NID: gradient −g, as if the decision were −ĉ
//! ```
//!
//! Sources: Vlastelica Pogančić, Paulus, Musil, Martius and Rolínek, "Differentiation of blackbox
//! combinatorial solvers" (2020); Sahoo, Paulus, Vlastelica, Musil, Kuleshov and Martius,
//! "Backpropagation through combinatorial algorithms: identity with projection works" (2023).
//! Solves per evaluation: two (DBB), one (NID). Needs the labels. Use DBB with a λ large enough to
//! change decisions: of the order of the costs over that of g.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // Regret 2 − 1 with gradient g = c; under ĉ + 10c = (12, 21, 33) item 0 is the cheapest.
//! let loss = "DBB".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 1.0);
//! assert_eq!(loss.gradient, [0.1, -0.1, 0.0]);
//! let loss = "NID".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.gradient, [-1.0, -2.0, -3.0]);
//! // Squared distance ‖(0, 1, 0) − (1, 0, 0)‖² with gradient g = (−2, 2, 0).
//! let loss = "NID(distance)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 2.0);
//! assert_eq!(loss.gradient, [2.0, -2.0, 0.0]);
//! # Ok::<(), regretless::Error>(())
//! ```

use super::{DecisionCriterion, DecisionLayer, LayerDefinition, LayerLoss, LayerObjective};
use crate::error::Result;
use crate::loss::name_options::{LossNameBuilder, LossOptions};
use crate::loss::registry::LossFamily;
use crate::loss::{LossInput, buffer};
use crate::oracle::OracleWorker;

/// How the gradient passes the decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Blackbox {
    /// DBB with its λ.
    Interpolated {
        /// Step along the gradient.
        lambda: f64,
    },
    /// NID.
    NegativeIdentity,
}

pub(in crate::loss) static FAMILY: LossFamily = LossFamily {
    names: &["DBB", "NID"],
    usage: &["DBB", "NID"],
    parse: |name, options| {
        let layer = match name {
            "DBB" => Blackbox::read_interpolated(options)?,
            _ => Blackbox::NegativeIdentity,
        };
        let objective = LayerObjective::read(options);
        Ok(LayerLoss { layer, objective }.into())
    },
    examples: &["DBB", "DBB(lambda=2,distance)", "NID", "NID(distance)"],
};

impl Blackbox {
    /// The default in its authors' code.
    const DEFAULT_LAMBDA: f64 = 10.0;

    fn read_interpolated(options: &mut LossOptions) -> Result<Self> {
        Ok(Self::Interpolated {
            lambda: options.positive("lambda", Self::DEFAULT_LAMBDA)?,
        })
    }
}

impl LayerDefinition for Blackbox {
    type Layer = Self;

    fn loss_name(&self, objective: LayerObjective) -> String {
        let options = LossNameBuilder::default();
        match self {
            Self::Interpolated { lambda } => objective
                .add_to_name(options.number("lambda", *lambda, Self::DEFAULT_LAMBDA))
                .with_name("DBB"),
            Self::NegativeIdentity => objective.add_to_name(options).with_name("NID"),
        }
    }

    fn build_layer(&self) -> Self {
        *self
    }
}

impl DecisionLayer for Blackbox {
    fn decide(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        criterion: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let decision = [input.solve(worker, input.prediction)?.decision.clone()];
        let mut upstream = buffer::zeros(gradient.len());
        let value = super::evaluate_mean(&decision, criterion, &mut upstream);
        match self {
            Self::NegativeIdentity => {
                for (out, g) in gradient.iter_mut().zip(upstream.iter()) {
                    *out = -g;
                }
            }
            Self::Interpolated { lambda } => {
                let pairs = input.prediction.iter().zip(upstream.iter());
                let perturbed = buffer::filled(pairs.map(|(p, g)| p + lambda * g));
                let forward = [input.solve(worker, &perturbed)?.decision.clone()];
                super::write_finite_difference(&forward, &decision, *lambda, gradient);
            }
        }
        Ok(value)
    }
}
