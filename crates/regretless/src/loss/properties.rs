//! Properties of a loss that determine what training prepares, stated once per loss.

use super::InstanceWeighting;

/// Properties of a loss that determine what training prepares. Each loss states them in one value
/// ([`super::LossDefinition::properties`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossProperties {
    /// Training solves the problem for this loss, so oracle settings (cache, relaxation, local
    /// search) have an effect.
    pub calls_solver: bool,
    /// An evaluation solves the problem or projects onto a normal cone. The rows of a batch are
    /// then evaluated on several threads.
    pub is_expensive: bool,
    /// The loss compares the label with the decisions of the solution pool
    /// ([`crate::oracle::OracleWorker::pool_decisions`]).
    /// Before each training step, the optimal decisions under the predictions of the batch are
    /// added to the pool.
    pub uses_pool: bool,
    /// The gradient is a linear combination of this many decisions, hence sparse.
    pub gradient_decisions: Option<usize>,
    /// The loss can be 0 although there is regret. Instance weights C_i = regret / loss of a
    /// baseline are then unreliable for predictions that differ much from the baseline's.
    pub can_vanish: bool,
    /// Predictions times a positive factor have the same loss: predicted costs are correct up to a
    /// per-row scale factor.
    pub is_scale_invariant: bool,
    /// The loss has no lower bound, so its training never converges.
    pub is_unbounded: bool,
    /// The loss is a mean over the costs of an instance: those that do not exist are left out.
    pub is_mean_over_costs: bool,
    /// The loss compares predicted with true values and uses nothing that only costs have:
    /// it can train predictions of quantities, too.
    pub compares_values: bool,
    /// Before training, the gradient is compared with differences of values on a few rows, and a
    /// wrong one is refused. For custom losses.
    pub checks_gradient: bool,
    /// How instances are weighted by the regret of a baseline.
    pub weighting: InstanceWeighting,
}

impl LossProperties {
    /// A loss that evaluates predictions without solving anything.
    pub const SOLVER_FREE: Self = Self {
        calls_solver: false,
        is_expensive: false,
        uses_pool: false,
        gradient_decisions: None,
        can_vanish: false,
        is_scale_invariant: false,
        is_unbounded: false,
        is_mean_over_costs: false,
        compares_values: false,
        checks_gradient: false,
        weighting: InstanceWeighting::Equal,
    };

    /// A loss that solves the problem in each evaluation.
    pub const CALLS_SOLVER: Self = Self {
        calls_solver: true,
        is_expensive: true,
        ..Self::SOLVER_FREE
    };

    /// About how many entries the gradient has if a decision has `selected` nonzeros; `None` if it
    /// is dense.
    pub fn num_gradient_entries(&self, selected: usize) -> Option<usize> {
        self.gradient_decisions
            .map(|decisions| decisions * selected)
    }
}
