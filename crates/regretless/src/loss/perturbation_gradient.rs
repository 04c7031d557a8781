//! PG: regret's derivative along the true costs, by a finite difference of the optimal value.
//!
//! ```text
//! PG          = [z(ĉ) − z(ĉ − σc)]/σ               gradient [x(ĉ) − x(ĉ − σc)]/σ
//! PG(central) = [z(ĉ + σc) − z(ĉ − σc)]/2σ         gradient [x(ĉ + σc) − x(ĉ − σc)]/2σ
//! ```
//!
//! Both tend to c·x(ĉ), the true cost of the decision, as σ tends to 0; larger σ give smoother
//! losses.
//!
//! Source: Huang and Gupta, "Decision-focused learning with directional gradients" (2024).
//! Solves per evaluation: two. Needs true costs, but no best decisions.
//! Use it where predictions cannot be right (a misspecified predictor), where SPO+ may lead astray.

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{DecisionGradient, GradientAccumulator, LossInput, buffer};
use crate::error::Result;
use crate::oracle::OracleWorker;

/// The loss and its step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerturbationGradient {
    /// σ, the step of the difference.
    pub sigma: f64,
    /// Whether the difference is taken on both sides.
    pub central: bool,
}

impl PerturbationGradient {
    const SIGMA: f64 = 0.1;

    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            central: options.flag("central"),
            sigma: options.positive("sigma", Self::SIGMA)?,
        })
    }
}

impl fmt::Display for PerturbationGradient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LossNameBuilder::default()
            .flag("central", self.central)
            .number("sigma", self.sigma, Self::SIGMA);
        f.write_str(&name.with_name("PG"))
    }
}

impl DecisionGradient for PerturbationGradient {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let (ahead, width) = if self.central {
            (self.sigma, 2.0 * self.sigma)
        } else {
            (0.0, self.sigma)
        };
        let mut value = 0.0;
        for (step, share) in [(ahead, 1.0 / width), (-self.sigma, -1.0 / width)] {
            let moved = buffer::filled(
                query
                    .prediction
                    .iter()
                    .zip(query.costs)
                    .map(|(p, c)| p + step * c),
            );
            let found = query.solve(worker, &moved)?;
            gradient.add_decision(share, &found.decision);
            value += share * found.objective;
        }
        Ok(value)
    }

    fn num_decisions(&self) -> Option<usize> {
        Some(2)
    }
}
