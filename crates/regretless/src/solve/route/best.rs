//! The best routes known, and when a better set of routes is out of reach.

use crate::solve::Limits;
use crate::solve::tour::edges::Distances;

/// When a subtree may be dropped: its bound is above the cost of the best routes less rounding noise; if
/// all costs are multiples of one unit, less that unit and more noise; or less the gap that limits allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    noise: f64,
    /// By how much less better routes cost at least.
    step: f64,
    gap: f64,
}

impl Rules {
    pub(super) fn new(distances: &Distances, limits: Limits) -> Self {
        let noise = distances.noise();
        // Routes have up to twice as many edges as nodes.
        let step = distances.grain().map_or(noise, |grain| (grain - 4.0 * noise).max(noise));
        Self { noise, step, gap: limits.gap }
    }

    fn level(&self, cost: f64) -> f64 {
        let exact = cost - self.step;
        if self.gap > 0.0 { exact.min(cost - self.gap * cost.abs() + self.noise) } else { exact }
    }

    /// Whether nothing cheaper can exist when all else costs at least `floor`.
    pub(super) fn proves(&self, floor: f64, cost: f64) -> bool {
        floor >= cost - self.step
    }
}

/// The best routes, as uses of edges.
#[derive(Debug, Clone)]
pub(super) struct Best {
    /// Sorted numbers of edges with how often they are used.
    pub(super) uses: Vec<(u32, f64)>,
    pub(super) cost: f64,
    /// Subtrees with a bound above this are of no interest.
    pub(super) level: f64,
}

impl Best {
    /// No routes yet.
    pub(super) fn none() -> Self {
        Self { uses: Vec::new(), cost: f64::INFINITY, level: f64::INFINITY }
    }

    /// Takes the routes if they are cheaper; whether they were.
    pub(super) fn offer(&mut self, mut uses: Vec<(u32, f64)>, costs: &[f64], rules: &Rules) -> bool {
        uses.sort_unstable_by_key(|(edge, _)| *edge);
        let cost: f64 = uses.iter().map(|(edge, times)| times * costs[*edge as usize]).sum();
        let better = cost < self.cost;
        if better {
            (self.uses, self.cost, self.level) = (uses, cost, rules.level(cost));
        }
        better
    }
}
