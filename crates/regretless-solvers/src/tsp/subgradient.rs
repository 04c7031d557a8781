//! Subgradient ascent on node multipliers, which raises the bound of the minimum 1-tree.
//!
//! With multipliers π the reduced cost of an edge is c_ij − π_i − π_j; the minimum 1-tree by
//! reduced cost plus 2·Σπ is a lower bound on the cost of every tour (Held and Karp 1970, 1971). A
//! subgradient at a node of degree d is 2 − d; steps follow Polyak's rule towards the cost of a
//! known tour and are averaged with the previous subgradient (Volgenant and Jonker 1982).

/// Builds minimum 1-trees.
pub trait OneTreeBuilder {
    /// Builds the minimum 1-tree under these multipliers. Returns its bound, infinite when there is
    /// no 1-tree.
    fn build(&mut self, multipliers: &[f64]) -> f64;

    /// Degree of each node in the last 1-tree.
    fn degrees(&self) -> &[u32];
}

/// Target and schedule of an ascent.
#[derive(Debug, Clone, Copy)]
pub struct AscentTarget {
    /// Cost of a known tour, the target value of Polyak's step rule.
    pub tour_cost: f64,
    /// The ascent stops as soon as the bound exceeds this.
    pub cutoff: f64,
    /// Number and size of the steps.
    pub schedule: AscentSchedule,
}

/// Number and size of the steps of an ascent.
#[derive(Debug, Clone, Copy)]
pub struct AscentSchedule {
    /// Maximum number of steps; each builds one 1-tree.
    pub max_steps: usize,
    /// Initial factor of Polyak's step.
    pub step_factor: f64,
    /// Steps without a better bound after which the factor is halved.
    pub patience: usize,
}

impl AscentSchedule {
    /// The same with another number of steps.
    pub const fn with_max_steps(self, max_steps: usize) -> Self {
        Self { max_steps, ..self }
    }
}

/// Buffers of an ascent, kept between calls.
#[derive(Debug, Clone, Default)]
pub struct SubgradientAscent {
    current: Vec<f64>,
    last_subgradient: Vec<f64>,
}

/// Weight of the current subgradient in a direction; the previous one has the remaining weight. The
/// value is that of Helsgaun (2000).
const CURRENT_SUBGRADIENT_WEIGHT: f64 = 0.7;

impl SubgradientAscent {
    /// Raises the bound from these multipliers and overwrites them with those of the highest bound,
    /// which it returns.
    pub fn run(
        &mut self,
        one_tree: &mut impl OneTreeBuilder,
        multipliers: &mut [f64],
        target: &AscentTarget,
    ) -> f64 {
        self.current.clear();
        self.current.extend_from_slice(multipliers);
        self.last_subgradient.clear();
        let schedule = &target.schedule;
        let (mut max_bound, mut factor, mut stalled) = (f64::NEG_INFINITY, schedule.step_factor, 0);
        for _ in 0..schedule.max_steps {
            if regretless_base::cancellation::requested() {
                break;
            }
            let bound = one_tree.build(&self.current);
            if bound > max_bound {
                max_bound = bound;
                multipliers.copy_from_slice(&self.current);
                stalled = 0;
            } else {
                stalled += 1;
            }
            // Polyak's step: with the optimal value as the target, every step comes closer to
            // optimal multipliers. The cost of a tour bounds that value from above only, hence the
            // factor.
            let distance = factor * (target.tour_cost - bound);
            // A bound above the cutoff needs no further step, and a tour is a zero of the
            // subgradient.
            if bound > target.cutoff || !self.step(one_tree.degrees(), distance) {
                break;
            }
            if stalled >= schedule.patience {
                // No progress: the target is too far above the best bound, and steps jump over the
                // maximum.
                factor *= 0.5;
                stalled = 0;
            }
        }
        max_bound
    }

    /// Moves along the averaged direction; `false` when the 1-tree is a tour and its subgradient is
    /// zero.
    fn step(&mut self, degrees: &[u32], distance: f64) -> bool {
        let subgradient = |degree: u32| 2.0 - f64::from(degree);
        let squares = degrees.iter().map(|degree| subgradient(*degree).powi(2));
        let squared_norm: f64 = squares.sum();
        // All degrees are 2: the 1-tree is a tour and the multipliers are optimal.
        if squared_norm == 0.0 {
            return false;
        }
        if self.last_subgradient.is_empty() {
            self.last_subgradient
                .extend(degrees.iter().map(|degree| subgradient(*degree)));
        }
        let step = distance / squared_norm;
        let multipliers = self.current.iter_mut().zip(&mut self.last_subgradient);
        for ((multiplier, last), degree) in multipliers.zip(degrees) {
            let current = subgradient(*degree);
            // The average with the last subgradient damps the zigzag between neighboring 1-trees.
            *multiplier += step
                * (CURRENT_SUBGRADIENT_WEIGHT * current
                    + (1.0 - CURRENT_SUBGRADIENT_WEIGHT) * *last);
            *last = current;
        }
        true
    }
}
