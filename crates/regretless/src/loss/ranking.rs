//! Learning to rank: predicted costs should put a pool Γ of known decisions in the order of their
//! true costs.
//!
//! ```text
//! LTR(point) = mean_Γ ((ĉ − c)·x)²
//! LTR(pair)  = Σ_Γ max(0, ĉ·x_best − ĉ·x) / (|Γ| − 1)       x_best = the cheapest of Γ under c
//! LTR(list)  = −Σ_Γ p(x) ln p̂(x)      p = softmax over Γ of −c·x,  p̂ = softmax over Γ of −ĉ·x
//! ```
//!
//! Source: Mandi, Bucarey, Mulamba and Guns, "Decision-focused learning: through the lens of
//! learning to rank" (2022). Solves per evaluation: none; the pool is refreshed as for MAP. Use
//! `LTR(pair)` or `LTR(list)` where a pool of decisions is at hand; the listwise one is smooth, the
//! pairwise one indifferent to the scale of differences.

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossInput, buffer, pool_decisions};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::oracle::OracleWorker;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The cost of each decision.
    Pointwise,
    /// Each decision with the best of the pool.
    Pairwise,
    /// The distribution over the whole pool.
    Listwise,
}

impl Ranking {
    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        match ["point", "pair", "list"].map(|kind| options.flag(kind)) {
            [true, false, false] => Ok(Self::Pointwise),
            [false, true, false] => Ok(Self::Pairwise),
            [false, false, true] => Ok(Self::Listwise),
            _ => Err(Error::setting(
                "LTR needs its kind: choose one of LTR(point), LTR(pair), LTR(list)",
            )),
        }
    }

    fn pointwise(query: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let share = 1.0 / pool.len() as f64;
        let each = pool.iter().map(|x| {
            let error = x.dot(query.prediction) - x.dot(query.costs);
            x.add_to(2.0 * share * error, gradient);
            error * error
        });
        each.sum::<f64>() * share
    }

    fn pairwise(query: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let priced = pool.iter().map(|x| (x, x.dot(query.costs)));
        let cheapest = priced.fold((&pool[0], f64::INFINITY), |min, next| {
            if next.1 < min.1 { next } else { min }
        });
        let (best, min) = (cheapest.0, cheapest.0.dot(query.prediction));
        let share = 1.0 / (pool.len().max(2) - 1) as f64;
        let mut total = 0.0;
        for x in pool {
            let excess = min - x.dot(query.prediction);
            if excess > 0.0 {
                best.add_to(share, gradient);
                x.add_to(-share, gradient);
                total += share * excess;
            }
        }
        total
    }

    fn listwise(query: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let (mut truth, mut found) = (buffer::zeros(pool.len()), buffer::zeros(pool.len()));
        log_softmax(pool, query.costs, &mut truth);
        log_softmax(pool, query.prediction, &mut found);
        let mut total = 0.0;
        for ((x, truth), found) in pool.iter().zip(truth.iter()).zip(found.iter()) {
            total -= truth.exp() * found;
            x.add_to(truth.exp() - found.exp(), gradient);
        }
        total
    }
}

/// Logarithms of the softmax of negated costs.
fn log_softmax(pool: &[Decision], costs: &[f64], out: &mut [f64]) {
    out.iter_mut()
        .zip(pool)
        .for_each(|(score, x)| *score = -x.dot(costs));
    let max = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shift = max
        + out
            .iter()
            .map(|score| (score - max).exp())
            .sum::<f64>()
            .ln();
    out.iter_mut().for_each(|score| *score -= shift);
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Pointwise => "point",
            Self::Pairwise => "pair",
            Self::Listwise => "list",
        };
        f.write_str(&LossNameBuilder::default().flag(kind, true).with_name("LTR"))
    }
}

impl Loss for Ranking {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let pool = pool_decisions(worker, || self.to_string())?;
        gradient.fill(0.0);
        Ok(match self {
            Self::Pointwise => Self::pointwise(query, pool, gradient),
            Self::Pairwise => Self::pairwise(query, pool, gradient),
            Self::Listwise => Self::listwise(query, pool, gradient),
        })
    }

    fn calls_solver(&self) -> bool {
        true
    }

    fn uses_pool(&self) -> bool {
        true
    }
}
