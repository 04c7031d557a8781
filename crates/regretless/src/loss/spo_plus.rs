//! SPO+: the convex upper bound of regret.
//!
//! ```text
//! loss = −z(2ĉ − c) + 2ĉ·x* − z*        z(q) = min q·x,  z* = c·x*
//! gradient = 2(x* − x(2ĉ − c))
//! ```
//!
//! Source: Elmachtoub and Grigas, "Smart 'Predict, then Optimize'" (2022). Solves per evaluation:
//! one, at 2ĉ − c. Needs the best decisions. Use it where a solve is cheap, or with `cache` or
//! `relax` where it is not: the strongest known surrogate on most small problems, without a setting
//! to tune.

use super::{DecisionGradient, GradientAccumulator, LossInput, buffer};
use crate::error::Result;
use crate::oracle::OracleWorker;

/// The loss; it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoPlus;

impl DecisionGradient for SpoPlus {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let beyond = buffer::filled(
            query
                .prediction
                .iter()
                .zip(query.costs)
                .map(|(p, c)| 2.0 * p - c),
        );
        let tempting = query.solve(worker, &beyond)?;
        gradient.add_decision(2.0, query.best);
        gradient.add_decision(-2.0, &tempting.decision);
        Ok(2.0 * query.best.dot(query.prediction)
            - query.best.dot(query.costs)
            - tempting.objective)
    }

    fn num_decisions(&self) -> Option<usize> {
        Some(2)
    }
}
