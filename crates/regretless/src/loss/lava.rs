//! LAVA: no vertex next to the best one may look better.
//!
//! ```text
//! d_a = −ĉ·(x_a − x_rel)      x_rel the relaxed optimum under c, x_a the vertices next to it
//! loss = mean over a of d_a where d_a ≥ −threshold, else 0
//! ```
//!
//! In a linear programme a vertex is best when and only when no vertex next to it is better, so a
//! loss of 0 or less in every term means the right decision. The threshold (0.1) lets go of
//! neighbours that are worse by more than that.
//!
//! Source: Berden, Mahmutoğulları, Tsouros and Guns, "Solver-free decision-focused learning for
//! linear optimization problems" (2025). Solves per evaluation: none. Needs one relaxed solve per
//! row, before training, and a problem that knows the vertices next to a relaxed optimum. Use it on
//! linear programmes and problems whose relaxation is close; on degenerate ones there are many
//! neighbours.

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossInput};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};
use crate::solve::relaxation::VertexDelta;

/// The loss in writing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LavaSpec {
    /// How much worse a neighbour may look before it is let go.
    pub threshold: f64,
}

impl LavaSpec {
    const THRESHOLD: f64 = 0.1;

    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            threshold: options.positive("threshold", Self::THRESHOLD)?,
        })
    }

    /// The loss for one table: finds the neighbours of every row.
    ///
    /// # Errors
    /// When the problem does not know them, a relaxation has no optimum, or the user interrupts.
    pub fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<LavaLoss> {
        let costs = data.data().costs();
        let mut ways: Vec<Vec<VertexDelta>> = vec![Vec::new(); costs.rows()];
        observer.begin("adjacent vertices", costs.rows() as u64);
        let keep = |_: usize, (_, found), slot: &mut Vec<VertexDelta>| *slot = found;
        oracle.adjacent_vertices_all(costs, &mut ways, keep, (&self.to_string(), observer))?;
        observer.end();
        Ok(LavaLoss {
            threshold: self.threshold,
            ways,
        })
    }
}

impl fmt::Display for LavaSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            &LossNameBuilder::default()
                .number("threshold", self.threshold, Self::THRESHOLD)
                .with_name("LAVA"),
        )
    }
}

/// The loss, ready for one table.
#[derive(Debug, Clone)]
pub struct LavaLoss {
    threshold: f64,
    /// The ways to the neighbours of each row's relaxed optimum.
    ways: Vec<Vec<VertexDelta>>,
}

impl LavaLoss {
    /// The loss with known ways to the neighbours of each row's relaxed optimum.
    pub fn new(threshold: f64, ways: Vec<Vec<VertexDelta>>) -> Self {
        Self { threshold, ways }
    }
}

impl Loss for LavaLoss {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        _asker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let ways = &self.ways[query.instance];
        let share = 1.0 / ways.len().max(1) as f64;
        let mut total = 0.0;
        gradient.fill(0.0);
        for way in ways {
            let gain = -way.dot(query.prediction);
            if gain >= -self.threshold {
                total += share * gain;
                way.add_to(-share, gradient);
            }
        }
        Ok(total)
    }
}
