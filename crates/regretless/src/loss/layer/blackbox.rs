//! DBB and NID: one decision, differentiated as a black box.
//!
//! ```text
//! decision x(ĉ), judged with gradient g
//! DBB: gradient [x(ĉ + λg) − x(ĉ)]/λ, the slope of a linear interpolation of the judgement
//! NID: gradient −g, as if the decision were −ĉ
//! ```
//!
//! Sources: Vlastelica Pogančić, Paulus, Musil, Martius and Rolínek, "Differentiation of blackbox
//! combinatorial solvers" (2020); Sahoo, Paulus, Vlastelica, Musil, Kuleshov and Martius,
//! "Backpropagation through combinatorial algorithms: identity with projection works" (2023).
//! Solves per evaluation: two (DBB), one (NID). λ of DBB should move decisions: of the size of the
//! costs over that of g.

use std::fmt;

use super::{DecisionCriterion, DecisionLayer, LayerObjective};
use crate::error::Result;
use crate::loss::name_options::{LossNameBuilder, LossOptions};
use crate::loss::{LossInput, buffer};
use crate::oracle::OracleWorker;

/// How the gradient passes the decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Blackbox {
    /// DBB with its λ.
    Interpolated {
        /// How far costs are moved along the gradient.
        lambda: f64,
    },
    /// NID.
    NegativeIdentity,
}

impl Blackbox {
    const LAMBDA: f64 = 10.0;

    pub(in crate::loss) fn read_interpolated(options: &mut LossOptions) -> Result<Self> {
        Ok(Self::Interpolated {
            lambda: options.positive("lambda", Self::LAMBDA)?,
        })
    }

    pub(in crate::loss) fn label(self, goal: LayerObjective) -> String {
        match self {
            Self::Interpolated { lambda } => goal
                .write(LossNameBuilder::default().number("lambda", lambda, Self::LAMBDA))
                .with_name("DBB"),
            Self::NegativeIdentity => goal.write(LossNameBuilder::default()).with_name("NID"),
        }
    }
}

impl fmt::Display for Blackbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label(LayerObjective::Regret))
    }
}

impl DecisionLayer for Blackbox {
    fn decide(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        judge: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let here = [query.solve(worker, query.prediction)?.decision.clone()];
        let mut upstream = buffer::zeros(gradient.len());
        let value = super::evaluate_mean(&here, judge, &mut upstream);
        match self {
            Self::NegativeIdentity => gradient
                .iter_mut()
                .zip(upstream.iter())
                .for_each(|(out, g)| *out = -g),
            Self::Interpolated { lambda } => {
                let moved = query
                    .prediction
                    .iter()
                    .zip(upstream.iter())
                    .map(|(p, g)| p + lambda * g);
                let there = [query
                    .solve(worker, &buffer::filled(moved))?
                    .decision
                    .clone()];
                super::write_finite_difference((&there, &here), *lambda, gradient);
            }
        }
        Ok(value)
    }
}
