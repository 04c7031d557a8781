//! Solution pool: distinct feasible decisions, sparse and bounded in number.
//!
//! The contents of a pool and their order depend only on the order of [`SolutionPool::add`]. A full
//! pool evicts its oldest decision. Ties go to the decision with the lower index.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::decision::Decision;

/// Relative difference of two known costs that is rounding: they are differences of objectives.
const FIXED_COST_TOLERANCE: f64 = 1e-9;

/// Distinct decisions.
#[derive(Debug, Clone, Default)]
pub struct SolutionPool {
    decisions: Vec<Decision>,
    /// Indices of the decisions with each hash.
    by_hash: HashMap<u64, Vec<usize>>,
    capacity: usize,
    /// Index of the decision that a full pool evicts next.
    oldest: usize,
}

impl SolutionPool {
    /// An empty pool for at most `capacity` decisions; at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            ..Self::default()
        }
    }

    /// Adds a decision unless the pool holds it already.
    pub fn add(&mut self, decision: &Decision) {
        let hash = hash(decision);
        if let Some(indices) = self.by_hash.get(&hash)
            && indices.iter().any(|i| self.decisions[*i] == *decision)
        {
            return;
        }
        let index = if self.decisions.len() < self.capacity {
            self.decisions.push(decision.clone());
            self.decisions.len() - 1
        } else {
            self.evict_oldest(decision)
        };
        self.by_hash.entry(hash).or_default().push(index);
    }

    fn evict_oldest(&mut self, decision: &Decision) -> usize {
        let index = self.oldest;
        // A ring: decisions are replaced where they are, so the indices of the others stay valid.
        self.oldest = (index + 1) % self.capacity;
        let evicted = std::mem::replace(&mut self.decisions[index], decision.clone());
        let hash = hash(&evicted);
        if let Some(indices) = self.by_hash.get_mut(&hash) {
            indices.retain(|other| *other != index);
            if indices.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
        index
    }

    /// A pool with these decisions in this order, of which `oldest` is evicted next.
    pub fn from_parts(capacity: usize, decisions: Vec<Decision>, oldest: usize) -> Self {
        // Hashes are not part of a checkpoint: those of another version of Rust may differ.
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, decision) in decisions.iter().enumerate() {
            by_hash.entry(hash(decision)).or_default().push(index);
        }
        Self {
            decisions,
            by_hash,
            capacity: capacity.max(1),
            oldest,
        }
    }

    /// The capacity and the index of the decision that is evicted next.
    pub fn eviction_state(&self) -> (usize, usize) {
        (self.capacity, self.oldest)
    }

    /// All decisions.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Whether the known costs of all decisions are the same, up to rounding.
    pub(super) fn has_one_fixed_cost(&self) -> bool {
        let Some(first) = self.decisions.first().map(Decision::fixed) else {
            return true;
        };
        let rounding = FIXED_COST_TOLERANCE * first.abs();
        let mut fixed = self.decisions.iter().map(Decision::fixed);
        fixed.all(|other| (other - first).abs() <= rounding)
    }

    /// The cheapest decision under these costs and its objective; `None` when the pool is empty.
    pub fn cheapest(&self, costs: &[f64]) -> Option<(&Decision, f64)> {
        self.cheapest_of(costs, |_| true)
    }

    /// The same among the decisions that a filter accepts; it is called once for each.
    pub(super) fn cheapest_of(
        &self,
        costs: &[f64],
        mut accepts: impl FnMut(&Decision) -> bool,
    ) -> Option<(&Decision, f64)> {
        let mut cheapest: Option<(&Decision, f64)> = None;
        for decision in &self.decisions {
            if !accepts(decision) {
                continue;
            }
            let objective = decision.dot(costs);
            // Strictly less, since ties go to the lower index.
            if cheapest.is_none_or(|(_, least)| objective < least) {
                cheapest = Some((decision, objective));
            }
        }
        cheapest
    }
}

impl<'d> Extend<&'d Decision> for SolutionPool {
    fn extend<I: IntoIterator<Item = &'d Decision>>(&mut self, decisions: I) {
        for decision in decisions {
            self.add(decision);
        }
    }
}

fn hash(decision: &Decision) -> u64 {
    let mut hasher = DefaultHasher::new();
    decision.indices().hash(&mut hasher);
    for value in decision.values().into_iter().flatten() {
        // Bits, as equality of decisions is exact; the hash only finds candidates for the
        // comparison.
        value.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::SolutionPool;
    use crate::decision::Decision;

    fn pool(capacity: usize, items: &[u32]) -> Vec<u32> {
        let mut pool = SolutionPool::new(capacity);
        items
            .iter()
            .for_each(|item| pool.add(&Decision::from_indices([*item])));
        pool.decisions()
            .iter()
            .map(|decision| decision.indices()[0])
            .collect()
    }

    #[test]
    fn known_costs_of_decisions_are_compared() {
        let mut pool = SolutionPool::new(10);
        assert!(pool.has_one_fixed_cost());
        pool.add(&Decision::from_indices([0]).with_fixed(3.0));
        pool.add(&Decision::from_indices([1]).with_fixed(3.0 + 1e-12));
        assert!(pool.has_one_fixed_cost());
        pool.add(&Decision::from_indices([1]).with_fixed(4.0));
        assert!(!pool.has_one_fixed_cost());
    }

    #[test]
    fn every_decision_is_kept_once() {
        assert_eq!(pool(10, &[3, 1, 3, 2, 1]), [3, 1, 2]);
        let mut mixed = SolutionPool::new(10);
        mixed.add(&Decision::from_dense(&[0.5, 0.0]));
        mixed.add(&Decision::from_dense(&[1.0, 0.0]));
        mixed.add(&Decision::from_dense(&[0.5, 0.0]));
        assert_eq!(mixed.decisions().len(), 2);
    }

    #[test]
    fn a_full_pool_evicts_its_oldest_decision_and_may_add_it_again() {
        assert_eq!(pool(2, &[1, 2, 3]), [3, 2]);
        assert_eq!(pool(2, &[1, 2, 3, 2, 1]), [3, 1]);
    }

    #[test]
    fn the_cheapest_decision_is_the_first_of_equals_and_an_empty_pool_has_none() {
        let mut pool = SolutionPool::new(5);
        assert!(pool.cheapest(&[1.0, 1.0]).is_none());
        pool.extend(&[Decision::from_indices([1]), Decision::from_indices([0])]);
        assert_eq!(pool.cheapest(&[1.0, 1.0]).unwrap().0.indices(), [1]);
        assert_eq!(
            pool.cheapest(&[0.5, 1.0]),
            Some((&Decision::from_indices([0]), 0.5))
        );
    }
}
