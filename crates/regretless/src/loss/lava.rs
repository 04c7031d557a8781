//! LAVA, loss via adjacent vertex alignment: no vertex adjacent to the optimal one should have a
//! lower predicted cost.
//!
//! c are the true and ĉ the predicted costs.
//!
//! ```text
//! d_a = −ĉ·(x_a − x_rel)      x_rel the relaxed optimum under c, x_a its adjacent vertices
//! loss = mean over a of d_a where d_a ≥ −threshold, else 0
//! ```
//!
//! A vertex of a linear program is optimal if and only if no adjacent vertex is better, so a loss
//! of 0 or less in every term means the optimal decision. Adjacent vertices that are worse by more
//! than the threshold (0.1) are ignored.
//!
//! Source: Berden, Mahmutoğulları, Tsouros and Guns, "Solver-free decision-focused learning for
//! linear optimization problems" (2025). Solves per evaluation: none. Needs one relaxed solve per
//! row, before training, and a problem that lists the vertices adjacent to a relaxed optimum. Use
//! it on linear programs and on problems whose relaxed optima are mostly integral; degenerate
//! vertices have many neighbors.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! let loss = "LAVA".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! // Items 1 and 2 are adjacent to item 0: d = 2 − 1, and 2 − 3, which is below −0.1.
//! assert_eq!(loss.value, (1.0 + 0.0) / 2.0);
//! assert_eq!(loss.gradient, [0.5, -0.5, 0.0]);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::registry::LossFamily;
use super::{Loss, LossDefinition, LossInput, LossProperties};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};
use crate::solve::relaxation::VertexDelta;

/// The loss before it is built for a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LavaSpec {
    /// How much worse an adjacent vertex may be before it is ignored.
    pub threshold: f64,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["LAVA"],
    usage: &["LAVA"],
    parse: |_, options| Ok(LavaSpec::read(options)?.into()),
    examples: &["LAVA"],
};

impl LavaSpec {
    /// The default in its authors' code.
    const DEFAULT_THRESHOLD: f64 = 0.1;

    fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            threshold: options.positive("threshold", Self::DEFAULT_THRESHOLD)?,
        })
    }
}

impl fmt::Display for LavaSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            &LossNameBuilder::default()
                .number("threshold", self.threshold, Self::DEFAULT_THRESHOLD)
                .with_name("LAVA"),
        )
    }
}

impl LossDefinition for LavaSpec {
    fn properties(&self) -> LossProperties {
        LossProperties::SOLVER_FREE
    }

    fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        oracle.require_adjacent_vertices()
    }

    /// Finds the adjacent vertices of every row.
    fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Loss>> {
        let costs = data.data().costs();
        let mut deltas: Vec<Vec<VertexDelta>> = vec![Vec::new(); costs.rows()];
        observer.begin("adjacent vertices", costs.rows() as u64);
        let store = |_, _, adjacent, slot: &mut Vec<VertexDelta>| *slot = adjacent;
        oracle
            .adjacent_vertices_all(
                costs,
                &mut deltas,
                |row| data.has_label(row),
                store,
                observer,
            )
            .map_err(|error| error.for_method(&self.to_string()))?;
        observer.end();
        Ok(Box::new(LavaLoss::new(self.threshold, deltas)))
    }
}

/// The loss, built for one table.
#[derive(Debug, Clone)]
pub struct LavaLoss {
    threshold: f64,
    /// Differences between the adjacent vertices and the relaxed optimum, per row.
    deltas: Vec<Vec<VertexDelta>>,
}

impl LavaLoss {
    /// The loss, given the differences between the adjacent vertices and each row's relaxed
    /// optimum.
    pub fn new(threshold: f64, deltas: Vec<Vec<VertexDelta>>) -> Self {
        Self { threshold, deltas }
    }
}

impl Loss for LavaLoss {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        _worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let deltas = &self.deltas[input.instance];
        let weight = 1.0 / deltas.len().max(1) as f64;
        let mut total = 0.0;
        gradient.fill(0.0);
        for delta in deltas {
            let gain = -delta.dot(input.prediction);
            if gain >= -self.threshold {
                total += weight * gain;
                delta.add_to(-weight, gradient);
            }
        }
        Ok(total)
    }
}
