//! Dynamic programming (Bellman 1957) for one dimension with small integer weights.
//!
//! For every load up to the capacity it keeps the objectives of the best *two* selections. If the
//! second best is clearly worse, the best selection is the unique optimum, which branch and bound
//! returns too; otherwise ties are left to branch and bound, so both always return the same
//! selection. Its time does not depend on the costs, while branch and bound takes long when costs
//! are nearly proportional to weights, as predicted costs of similar items are.

use super::incumbent::min_improvement;
use super::items::KnapsackItems;

/// Largest number of loads times items. A dynamic program of this size takes about 9 µs of an AMD
/// EPYC core; one of 48 items and 61 loads takes 2 µs where branch and bound takes 90 to 200 µs
/// (the trainings of bench/backtest_energy.py).
const MAX_CELLS: usize = 1 << 14;
/// How much clearer than the tolerance of branch and bound a unique optimum must be.
const TOLERANCE_FACTOR: f64 = 4.0;

/// Integer weights of the items of a knapsack, and buffers.
#[derive(Debug)]
pub(super) struct KnapsackDynamicProgram {
    /// In multiples of their greatest common divisor.
    weights: Vec<usize>,
    /// The largest load, in the same unit.
    capacity: usize,
    /// Items of negative cost that fit.
    items: Vec<u32>,
    /// For each number of items, starting with 0, the largest gain by load.
    best: Vec<f64>,
    /// The gain of the second best selection by load, before and after the latest item.
    second: [Vec<f64>; 2],
}

impl KnapsackDynamicProgram {
    /// The program of a knapsack; none if it has several dimensions, weights that are not integers,
    /// or too large a capacity.
    pub(super) fn new(items: &KnapsackItems) -> Option<Self> {
        let (row, granularity, limit) = items.only_row()?;
        let is_integer = |weight: &f64| *weight >= 0.0 && weight.fract() == 0.0;
        if !row.iter().all(is_integer) || limit < 0.0 {
            return None;
        }
        let capacity = (limit / granularity).floor();
        if (capacity + 1.0) * row.len() as f64 > MAX_CELLS as f64 {
            // Compared in floating point: the product of large numbers would overflow an integer.
            return None;
        }
        let weights = row.iter().map(|weight| (weight / granularity) as usize);
        Some(Self {
            weights: weights.collect(),
            capacity: capacity as usize,
            items: Vec::new(),
            best: Vec::new(),
            second: [Vec::new(), Vec::new()],
        })
    }

    /// The unique optimal selection for costs to be minimized, in increasing order; none if another
    /// one is as good.
    pub(super) fn solve(&mut self, costs: &[f64]) -> Option<Vec<u32>> {
        self.items.clear();
        // Items of nonnegative cost never improve a selection, and those that do not fit are in
        // none.
        for (item, weight) in self.weights.iter().enumerate() {
            if costs[item] < 0.0 && *weight <= self.capacity {
                self.items.push(item as u32);
            }
        }
        let loads = self.capacity + 1;
        self.best.clear();
        self.best.resize((self.items.len() + 1) * loads, 0.0);
        for second in &mut self.second {
            second.clear();
            // No second selection yet.
            second.resize(loads, f64::NEG_INFINITY);
        }
        for (position, item) in self.items.iter().enumerate() {
            let (before, after) = self.best.split_at_mut((position + 1) * loads);
            let [second, next_second] = &mut self.second;
            let step = ItemStep {
                weight: self.weights[*item as usize],
                gain: -costs[*item as usize],
                best: &before[position * loads..],
                second,
            };
            step.add(&mut after[..loads], next_second);
            self.second.swap(0, 1);
        }
        let gain = self.best[self.items.len() * loads + self.capacity];
        // The margin is wider than the tolerance of branch and bound, so both find the same
        // selection wherever this one returns any.
        let margin = TOLERANCE_FACTOR * min_improvement(gain, 0.0);
        // Also refuses infinite gains.
        let is_unique = gain - self.second[0][self.capacity] > margin;
        (is_unique && gain.is_finite()).then(|| self.selection())
    }

    /// The selection of the largest gain, which is unique.
    fn selection(&self) -> Vec<u32> {
        let loads = self.capacity + 1;
        let mut load = self.capacity;
        let mut chosen = Vec::new();
        for (position, item) in self.items.iter().enumerate().rev() {
            let without = self.best[position * loads + load];
            // An item is in the selection if it raises the gain; since the optimum is unique, no
            // ties need a rule.
            if self.best[(position + 1) * loads + load] > without {
                load -= self.weights[*item as usize];
                chosen.push(*item);
            }
        }
        chosen.reverse();
        chosen
    }
}

/// An item, and the gains of the best two selections without it by load.
#[derive(Clone, Copy)]
struct ItemStep<'a> {
    weight: usize,
    gain: f64,
    best: &'a [f64],
    second: &'a [f64],
}

impl ItemStep<'_> {
    /// Writes the gains of the best two selections that may have the item.
    fn add(self, best: &mut [f64], second: &mut [f64]) {
        let weight = self.weight;
        // Below its weight an item cannot be added.
        best[..weight].copy_from_slice(&self.best[..weight]);
        second[..weight].copy_from_slice(&self.second[..weight]);
        let loads = self.best.len() - weight;
        let (best, second) = (&mut best[weight..][..loads], &mut second[weight..][..loads]);
        let best_without = &self.best[weight..][..loads];
        let second_without = &self.second[weight..][..loads];
        let (best_below, second_below) = (&self.best[..loads], &self.second[..loads]);
        // Six slices of one length: the compiler vectorizes this loop.
        for load in 0..loads {
            let (without, with) = (best_without[load], best_below[load] + self.gain);
            // The second best is the smaller of the two bests, or a second best of either side.
            let others = larger(second_without[load], second_below[load] + self.gain);
            best[load] = larger(without, with);
            second[load] = larger(smaller(without, with), others);
        }
    }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a > b { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::super::KnapsackBranchAndBound;
    use crate::warm_start::WarmStart;
    use crate::{SearchLimits, Solution, Solver};
    use regretless_base::random::{Purpose, RandomStream};

    /// A knapsack with its costs.
    struct Instance {
        weights: Vec<f64>,
        capacity: f64,
        costs: Vec<f64>,
    }

    impl Instance {
        /// Costs are proportional to weights up to noise, as predicted costs may be, or integers,
        /// which have ties; some are positive.
        fn random(number: u64, has_ties: bool) -> Self {
            let mut stream = RandomStream::new(Purpose::Benchmark, 5, [number, 0]);
            let count = 1 + stream.index_below(30);
            let mut weights = Vec::new();
            let mut costs = Vec::new();
            for _ in 0..count {
                let weight = [0.0, 3.0, 5.0, 7.0, 12.0][stream.index_below(5)];
                let noise = stream.normal();
                let cost = 4.0 - 6.0 * weight + noise;
                weights.push(weight);
                costs.push(if has_ties { cost.round() } else { cost });
            }
            let capacity = stream.index_below(90) as f64;
            Self {
                weights,
                capacity,
                costs,
            }
        }

        fn solver(&self) -> KnapsackBranchAndBound {
            let weights = [self.weights.clone()];
            KnapsackBranchAndBound::new(&weights, &[self.capacity], SearchLimits::default())
        }

        /// By branch and bound alone.
        fn searched(&self) -> Solution {
            let mut solver = self.solver();
            solver.dynamic_program = None;
            solver.solve(&self.costs).unwrap()
        }
    }

    #[test]
    fn solutions_are_those_of_branch_and_bound() {
        let mut unique = 0;
        for number in 0..400 {
            let instance = Instance::random(number, number % 2 == 0);
            let mut solver = instance.solver();
            // Items without any weight have none.
            if let Some(program) = solver.dynamic_program.as_mut() {
                unique += usize::from(program.solve(&instance.costs).is_some());
            }
            let solution = solver.solve(&instance.costs).unwrap();
            assert_eq!(solution, instance.searched(), "instance {number}");
            let mut warm_start = WarmStart::new(true);
            for _ in 0..2 {
                let warm = solver.solve_warm(&instance.costs, &mut warm_start).unwrap();
                assert_eq!(warm.decision, solution.decision, "instance {number}");
            }
        }
        assert!((200..400).contains(&unique), "{unique}");
    }

    #[test]
    fn a_tie_is_left_to_branch_and_bound() {
        let mut solver =
            KnapsackBranchAndBound::new(&[vec![2.0, 2.0, 4.0]], &[4.0], SearchLimits::default());
        let program = solver.dynamic_program.as_mut().unwrap();
        // Weights and capacity in units of 2.
        assert_eq!(
            (program.weights.as_slice(), program.capacity),
            (&[1, 1, 2][..], 2)
        );
        assert_eq!(program.solve(&[-2.0, -2.0, -4.0]), None);
        assert_eq!(program.solve(&[-2.0, -2.1, -4.0]), Some(vec![0, 1]));
        assert_eq!(program.solve(&[1.0, 0.0, 2.0]), Some(vec![]));
        assert_eq!(program.solve(&[f64::NEG_INFINITY, -1.0, -1.0]), None);
    }

    #[test]
    fn weights_that_are_not_integers_and_several_dimensions_have_no_program() {
        let program = |weights: &[Vec<f64>], capacity: &[f64]| {
            let limits = SearchLimits::default();
            KnapsackBranchAndBound::new(weights, capacity, limits).dynamic_program
        };
        assert!(program(&[vec![1.0, 2.0]], &[2.5]).is_some());
        assert!(program(&[vec![1.0, 2.5]], &[2.5]).is_none());
        assert!(program(&[vec![1.0, 2.0], vec![1.0, 1.0]], &[2.0, 1.0]).is_none());
        assert!(program(&[vec![1.0, 2.0]], &[1e9]).is_none());
        // Other capacities may have one.
        let mut solver =
            KnapsackBranchAndBound::new(&[vec![1.0, 2.0]], &[1e9], SearchLimits::default());
        assert!(solver.set_capacity(&[vec![1.0, 2.0]], &[2.0]));
        assert_eq!(solver.solve(&[-1.0, -3.0]).unwrap().decision.indices(), [1]);
        assert!(solver.dynamic_program.is_some());
    }
}
