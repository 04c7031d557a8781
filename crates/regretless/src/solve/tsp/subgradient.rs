//! Subgradient ascent: node multipliers that raise the bound of a 1-tree.
//!
//! With multipliers π the reduced cost of an edge is c_ij − π_i − π_j; the cheapest 1-tree by
//! reduced cost plus 2·Σπ bounds every tour from below (Held and Karp 1970, 1971). A node of degree
//! d moves its multiplier along 2 − d; steps follow Polyak's rule towards the cost of a known tour
//! and mix in the last direction (Volgenant and Jonker 1982).

/// Something that grows cheapest 1-trees.
pub trait OneTreeBuilder {
    /// Grows the cheapest 1-tree under these multipliers. Returns the bound, infinite when there is
    /// no 1-tree.
    fn build(&mut self, multipliers: &[f64]) -> f64;

    /// How many edges of the last tree meet at each node.
    fn degrees(&self) -> &[u32];
}

/// How far an ascent goes.
#[derive(Debug, Clone, Copy)]
pub struct AscentTarget {
    /// Cost of a known tour: what the steps aim at.
    pub target: f64,
    /// The ascent stops as soon as the bound exceeds this.
    pub enough: f64,
    /// Most trees grown.
    pub steps: usize,
    /// Share of Polyak's step that is taken at first.
    pub pace: f64,
    /// Trees without a better bound after which the pace is halved.
    pub patience: usize,
}

/// Buffers of an ascent, kept between calls.
#[derive(Debug, Clone, Default)]
pub struct SubgradientAscent {
    current: Vec<f64>,
    last: Vec<f64>,
}

/// Share of the present subgradient in a direction; the rest is the last one.
const CURRENT_SUBGRADIENT_WEIGHT: f64 = 0.7;

impl SubgradientAscent {
    /// Raises the bound from the given multipliers and leaves the best ones found in their place.
    pub fn run(
        &mut self,
        one_tree: &mut impl OneTreeBuilder,
        multipliers: &mut [f64],
        goal: &AscentTarget,
    ) -> f64 {
        self.current.clear();
        self.current.extend_from_slice(multipliers);
        self.last.clear();
        let (mut best, mut pace, mut idle) = (f64::NEG_INFINITY, goal.pace, 0);
        for _ in 0..goal.steps {
            if crate::cancellation::requested() {
                break;
            }
            let bound = one_tree.build(&self.current);
            if bound > best {
                best = bound;
                multipliers.copy_from_slice(&self.current);
                idle = 0;
            } else {
                idle += 1;
            }
            if bound > goal.enough || !self.step(one_tree.degrees(), pace * (goal.target - bound)) {
                break;
            }
            if idle >= goal.patience {
                pace *= 0.5;
                idle = 0;
            }
        }
        best
    }

    /// Moves along the mixed direction; `false` when the tree is a tour and there is nowhere to go.
    fn step(&mut self, degrees: &[u32], distance: f64) -> bool {
        let slope = |degree: u32| 2.0 - f64::from(degree);
        let square: f64 = degrees.iter().map(|degree| slope(*degree).powi(2)).sum();
        if square == 0.0 {
            return false;
        }
        if self.last.is_empty() {
            self.last
                .extend(degrees.iter().map(|degree| slope(*degree)));
        }
        let size = distance / square;
        for ((multiplier, last), degree) in self.current.iter_mut().zip(&mut self.last).zip(degrees)
        {
            let present = slope(*degree);
            *multiplier += size
                * (CURRENT_SUBGRADIENT_WEIGHT * present
                    + (1.0 - CURRENT_SUBGRADIENT_WEIGHT) * *last);
            *last = present;
        }
        true
    }
}
