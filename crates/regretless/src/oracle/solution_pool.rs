//! A pool of known decisions: each once, sparse, bounded.
//!
//! Which decisions a pool holds, and in which order, depends on the order of [`Pool::add`] only.
//! When the pool is full the oldest decision leaves. Ties between decisions go to the place with
//! the lower number.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::decision::Decision;

/// Distinct decisions.
#[derive(Debug, Clone, Default)]
pub struct SolutionPool {
    decisions: Vec<Decision>,
    /// Places of the decisions with this hash.
    places: HashMap<u64, Vec<usize>>,
    capacity: usize,
    /// The place that is given away next once the pool is full.
    oldest: usize,
}

impl SolutionPool {
    /// An empty pool for at most this many decisions, at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            ..Self::default()
        }
    }

    /// Adds a decision unless it is known already.
    pub fn add(&mut self, decision: &Decision) {
        let hash = hash(decision);
        let known = self.places.get(&hash);
        if known.is_some_and(|places| {
            places
                .iter()
                .any(|place| self.decisions[*place] == *decision)
        }) {
            return;
        }
        let place = if self.decisions.len() < self.capacity {
            self.decisions.push(decision.clone());
            self.decisions.len() - 1
        } else {
            self.evict_oldest(decision)
        };
        self.places.entry(hash).or_default().push(place);
    }

    fn evict_oldest(&mut self, decision: &Decision) -> usize {
        let place = self.oldest;
        self.oldest = (place + 1) % self.capacity;
        let left = std::mem::replace(&mut self.decisions[place], decision.clone());
        let hash = hash(&left);
        if let Some(places) = self.places.get_mut(&hash) {
            places.retain(|other| *other != place);
            if places.is_empty() {
                self.places.remove(&hash);
            }
        }
        place
    }

    /// A pool with these decisions at these places, of which `oldest` is given away next.
    pub fn from_parts(capacity: usize, decisions: Vec<Decision>, oldest: usize) -> Self {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        decisions
            .iter()
            .enumerate()
            .for_each(|(place, decision)| places.entry(hash(decision)).or_default().push(place));
        Self {
            decisions,
            places,
            capacity: capacity.max(1),
            oldest,
        }
    }

    /// Most decisions it may hold, and the place that is given away next.
    pub fn eviction_state(&self) -> (usize, usize) {
        (self.capacity, self.oldest)
    }

    /// All decisions.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// The cheapest decision under these costs and what it costs; `None` when the pool is empty.
    pub fn cheapest(&self, costs: &[f64]) -> Option<(&Decision, f64)> {
        let priced = self
            .decisions
            .iter()
            .map(|decision| (decision, decision.dot(costs)));
        priced.reduce(|best, next| if next.1 < best.1 { next } else { best })
    }
}

impl<'d> Extend<&'d Decision> for SolutionPool {
    fn extend<I: IntoIterator<Item = &'d Decision>>(&mut self, decisions: I) {
        decisions
            .into_iter()
            .for_each(|decision| self.add(decision));
    }
}

fn hash(decision: &Decision) -> u64 {
    let mut hasher = DefaultHasher::new();
    decision.indices().hash(&mut hasher);
    decision
        .values()
        .into_iter()
        .flatten()
        .for_each(|value| value.to_bits().hash(&mut hasher));
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
    fn every_decision_is_kept_once() {
        assert_eq!(pool(10, &[3, 1, 3, 2, 1]), [3, 1, 2]);
        let mut mixed = SolutionPool::new(10);
        mixed.add(&Decision::from_dense(&[0.5, 0.0]));
        mixed.add(&Decision::from_dense(&[1.0, 0.0]));
        mixed.add(&Decision::from_dense(&[0.5, 0.0]));
        assert_eq!(mixed.decisions().len(), 2);
    }

    #[test]
    fn a_full_pool_gives_up_its_oldest_decision_and_may_take_it_back() {
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
