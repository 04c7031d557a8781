//! What a loss does during training and what it offers, stated once per loss.

use super::InstanceWeighting;

/// What training has to prepare for a loss. Each loss states it in one value
/// ([`super::LossDefinition::capabilities`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capabilities {
    /// Training solves the problem for this loss, so oracle settings (cache, relaxation, local
    /// search) have an effect.
    pub calls_solver: bool,
    /// One evaluation takes long enough to spread a batch over threads: solves or projections.
    pub evaluates_in_parallel: bool,
    /// The loss compares with the solution pool ([`crate::oracle::OracleWorker::pool_decisions`]).
    /// Before each training step, the optimal decisions under the predictions of the batch are
    /// added to the pool.
    pub uses_pool: bool,
    /// The gradient is a sum of this many decisions, few enough to list its entries.
    pub gradient_decisions: Option<usize>,
    /// The loss can be 0 although there is regret, which makes instance costs (regret over loss)
    /// unreliable far from the baseline.
    pub can_vanish: bool,
    /// How instances are weighted by the regret of a baseline.
    pub weighting: InstanceWeighting,
}

impl Capabilities {
    /// A loss that evaluates predictions without solving anything.
    pub const SOLVER_FREE: Self = Self {
        calls_solver: false,
        evaluates_in_parallel: false,
        uses_pool: false,
        gradient_decisions: None,
        can_vanish: false,
        weighting: InstanceWeighting::Equal,
    };

    /// A loss that solves the problem in each evaluation.
    pub const CALLS_SOLVER: Self = Self {
        calls_solver: true,
        evaluates_in_parallel: true,
        ..Self::SOLVER_FREE
    };

    /// About how many entries the gradient has if a decision has `selected` nonzeros; `None` if it
    /// is dense.
    pub fn num_gradient_entries(&self, selected: usize) -> Option<usize> {
        self.gradient_decisions
            .map(|decisions| decisions * selected)
    }
}
