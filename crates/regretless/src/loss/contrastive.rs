//! Contrastive losses: the best decision against a pool Γ of known ones.
//!
//! ```text
//! MAP = max_Γ  ĉ·x* − ĉ·x          gradient x* − x_worst
//! NCE = mean_Γ ĉ·x* − ĉ·x          gradient x* − mean_Γ x
//! MAP_c, NCE_c: the same with ĉ − c in place of ĉ
//! ```
//!
//! MAP is never below 0 once x* is in the pool, and 0 when no known decision looks better than the
//! best one. NCE pushes the best decision below the average one and is unbounded; NCE_c and MAP_c
//! compare errors, so that a right prediction costs nothing.
//!
//! Source: Mulamba, Mandi, Diligenti, Lombardi, Bucarey and Guns, "Contrastive losses and solution
//! caching for predict-and-optimize" (2021). Solves per evaluation: none; training refreshes the
//! pool with one solve per row and epoch (`MAP cache 5%`: with one in twenty, `MAP cache 0%`: with
//! none). Use `MAP cache 0%` where solves are dear and decisions repeat; the pool must hold
//! decisions worth comparing with.

use std::fmt;

use super::{DecisionGradient, GradientAccumulator, LossInput, pool_decisions};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;

/// How comparisons with the pool are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolReduction {
    /// The one that looks best (MAP).
    Worst,
    /// All of them (NCE).
    Mean,
}

/// A contrastive loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contrastive {
    /// How comparisons are joined.
    pub rivals: PoolReduction,
    /// Whether errors ĉ − c are compared instead of predictions.
    pub centred: bool,
}

impl Contrastive {
    /// All four, by their labels.
    pub(super) const NAMES: [(&'static str, Self); 4] = [
        (
            "MAP",
            Self {
                rivals: PoolReduction::Worst,
                centred: false,
            },
        ),
        (
            "MAP_c",
            Self {
                rivals: PoolReduction::Worst,
                centred: true,
            },
        ),
        (
            "NCE",
            Self {
                rivals: PoolReduction::Mean,
                centred: false,
            },
        ),
        (
            "NCE_c",
            Self {
                rivals: PoolReduction::Mean,
                centred: true,
            },
        ),
    ];

    /// The loss of this name, written in any case.
    pub(super) fn parse_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, loss)| *loss)
    }

    /// What a decision costs under the compared vector.
    fn compared_objective(self, query: &LossInput<'_>, decision: &Decision) -> f64 {
        let predicted = decision.dot(query.prediction);
        if self.centred {
            predicted - decision.dot(query.costs)
        } else {
            predicted
        }
    }
}

impl fmt::Display for Contrastive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES
            .iter()
            .find(|(_, loss)| loss == self)
            .map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl DecisionGradient for Contrastive {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let pool = pool_decisions(worker, || self.to_string())?;
        let price = |decision: &Decision| self.compared_objective(query, decision);
        gradient.add_decision(1.0, query.best);
        let rival = match self.rivals {
            PoolReduction::Worst => {
                let priced = pool.iter().map(|x| (x, price(x)));
                let (worst, cost) = priced.fold((&pool[0], f64::INFINITY), |min, next| {
                    if next.1 < min.1 { next } else { min }
                });
                gradient.add_decision(-1.0, worst);
                cost
            }
            PoolReduction::Mean => {
                let share = 1.0 / pool.len() as f64;
                pool.iter().for_each(|x| gradient.add_decision(-share, x));
                pool.iter().map(price).sum::<f64>() * share
            }
        };
        Ok(price(query.best) - rival)
    }

    fn num_decisions(&self) -> Option<usize> {
        (self.rivals == PoolReduction::Worst).then_some(2)
    }

    fn uses_pool(&self) -> bool {
        true
    }
}
