//! Learning to rank (LTR): predicted costs should order a solution pool Γ as the true costs do.
//!
//! c are the true and ĉ the predicted costs, x is a decision of Γ.
//!
//! ```text
//! LTR(point) = mean_Γ ((ĉ − c)·x)²
//! LTR(pair)  = Σ_Γ max(0, ĉ·x_best − ĉ·x) / (|Γ| − 1)      x_best = the cheapest of Γ under c
//! LTR(list)  = −Σ_Γ p(x) ln p̂(x)      p = softmax over Γ of −c·x,  p̂ = softmax over Γ of −ĉ·x
//! ```
//!
//! Source: Mandi, Bucarey, Mulamba and Guns, "Decision-focused learning: through the lens of
//! learning to rank" (2022). Solves per evaluation: none; the pool is refreshed as for MAP. Needs a
//! pool. Use `LTR(pair)` or `LTR(list)` when solves are expensive and decisions repeat; the
//! listwise loss is smooth. The gradient of the pairwise one depends only on which decisions are
//! predicted to be cheaper than x_best, not on by how much; the loss is 0 for ĉ = 0.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // The pool holds items 0 and 1: predicted costs 2 and 1, true costs 1 and 2.
//! let loss = "LTR(point)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, (1.0 + 1.0) / 2.0);
//! let loss = "LTR(pair)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 2.0 - 1.0);
//! assert_eq!(loss.gradient, [1.0, -1.0, 0.0]);
//! // p = (q, 1 − q) and p̂ = (1 − q, q) with q = 1/(1 + 1/e).
//! let q = 1.0 / (1.0 + (-1.0_f64).exp());
//! let loss = "LTR(list)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert!((loss.value + q * (1.0 - q).ln() + (1.0 - q) * q.ln()).abs() < 1e-9);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::registry::LossFamily;
use super::{Loss, LossDefinition, LossInput, LossProperties, buffer, pool_decisions};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// Which quantities are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The cost of each decision.
    Pointwise,
    /// Each decision with the cheapest of the pool under the true costs.
    Pairwise,
    /// The probability distributions over the pool.
    Listwise,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["LTR"],
    usage: &["LTR(point)", "LTR(pair)", "LTR(list)"],
    parse: |_, options| Ok(Ranking::read(options)?.into()),
    examples: &["LTR(point)", "LTR(pair)", "LTR(list)"],
};

impl Ranking {
    fn read(options: &mut LossOptions) -> Result<Self> {
        match ["point", "pair", "list"].map(|kind| options.flag(kind)) {
            [true, false, false] => Ok(Self::Pointwise),
            [false, true, false] => Ok(Self::Pairwise),
            [false, false, true] => Ok(Self::Listwise),
            _ => Err(Error::setting(
                "LTR needs its kind: choose one of LTR(point), LTR(pair), LTR(list)",
            )),
        }
    }

    fn pointwise(input: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let weight = 1.0 / pool.len() as f64;
        let mut sum = 0.0;
        for x in pool {
            let error = x.dot(input.prediction) - x.dot(input.costs);
            x.add_to(2.0 * weight * error, gradient);
            sum += error * error;
        }
        sum * weight
    }

    fn pairwise(input: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let (mut cheapest, mut min_cost) = (&pool[0], f64::INFINITY);
        for x in pool {
            let cost = x.dot(input.costs);
            if cost < min_cost {
                (cheapest, min_cost) = (x, cost);
            }
        }
        let predicted_cost = cheapest.dot(input.prediction);
        let weight = 1.0 / (pool.len().max(2) - 1) as f64;
        let mut total = 0.0;
        for x in pool {
            let excess = predicted_cost - x.dot(input.prediction);
            if excess > 0.0 {
                cheapest.add_to(weight, gradient);
                x.add_to(-weight, gradient);
                total += weight * excess;
            }
        }
        total
    }

    fn listwise(input: &LossInput<'_>, pool: &[Decision], gradient: &mut [f64]) -> f64 {
        let (mut log_p, mut log_p_hat) = (buffer::zeros(pool.len()), buffer::zeros(pool.len()));
        log_softmax(pool, input.costs, &mut log_p);
        log_softmax(pool, input.prediction, &mut log_p_hat);
        let mut total = 0.0;
        for ((x, log_p), log_p_hat) in pool.iter().zip(log_p.iter()).zip(log_p_hat.iter()) {
            total -= log_p.exp() * log_p_hat;
            x.add_to(log_p.exp() - log_p_hat.exp(), gradient);
        }
        total
    }
}

/// Logarithms of the softmax of negated costs.
fn log_softmax(pool: &[Decision], costs: &[f64], out: &mut [f64]) {
    for (score, x) in out.iter_mut().zip(pool) {
        *score = -x.dot(costs);
    }
    let max = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = out.iter().map(|score| (score - max).exp()).sum();
    let shift = max + sum.ln();
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

impl LossDefinition for Ranking {
    fn properties(&self) -> LossProperties {
        LossProperties {
            uses_pool: true,
            ..LossProperties::CALLS_SOLVER
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl Loss for Ranking {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let pool = pool_decisions(input, worker, || self.to_string())?;
        gradient.fill(0.0);
        Ok(match self {
            Self::Pointwise => Self::pointwise(input, &pool, gradient),
            Self::Pairwise => Self::pairwise(input, &pool, gradient),
            Self::Listwise => Self::listwise(input, &pool, gradient),
        })
    }
}
