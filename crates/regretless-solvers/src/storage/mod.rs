//! Charging and discharging a storage over a horizon of prices, by backward dynamic programming on
//! piecewise linear functions of the stored level.
//!
//! The cost-to-go of a step is the cheapest of all changes of the level plus the cost-to-go of the
//! level after it. While prices are not negative, both are convex, and the pieces of both, sorted
//! by slope, are the pieces of the result (an infimal convolution). At a negative price it pays to
//! lose energy, and because charging and discharging are mutually exclusive in a step, the function
//! is not convex any more: then each of the two is a minimum over a sliding window. Both are exact.
//!
//! The relaxation lets a step charge and discharge at once; its changes have a convex cost at any
//! price, so it is solved by convolutions only.
//!
//! Ties go to the smallest amount, then to discharging.

mod piecewise;

use std::sync::Arc;

use self::piecewise::{
    LevelPoint, Piece, PiecewiseLinear, RELATIVE_LENGTH_TOLERANCE, StageCost, convolve,
    convolve_convex,
};
use super::relaxation::{CostRanges, CostRanging, RelaxationSolver};
use super::{Solution, SolveFailure, Solver, check_not_stopped};
use regretless_base::decision::Decision;

/// Differences of objectives below this, relative to their size, are rounding.
const RELATIVE_COST_TOLERANCE: f64 = 1e-9;

/// Most solves to find one end of a cost range. Each solve finds a decision with a smaller range; a
/// range with more steps than this has not been seen.
const MAX_RANGE_STEPS: usize = 200;

/// The numbers of a storage; lists have one number per step.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageNumbers {
    /// Lowest level.
    pub min_level: f64,
    /// Highest level.
    pub capacity: f64,
    /// Level before the first step.
    pub initial: f64,
    /// Lowest level after the last step.
    pub final_min: f64,
    /// Most that may be charged.
    pub charge_limit: Vec<f64>,
    /// Most that may be discharged.
    pub discharge_limit: Vec<f64>,
    /// Stored part of what is charged.
    pub charge_efficiency: f64,
    /// Delivered part of what is taken out.
    pub discharge_efficiency: f64,
    /// What flows in by itself.
    pub inflow: Vec<f64>,
}

impl StorageNumbers {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.charge_limit.len()
    }

    /// Levels that differ by less than this are the same.
    fn tolerance(&self) -> f64 {
        let largest = self
            .inflow
            .iter()
            .fold(self.capacity, |most, inflow| most.max(inflow.abs()));
        RELATIVE_LENGTH_TOLERANCE * largest.max(self.min_level.abs())
    }

    /// The change of the level by an amount that is bought, or sold if it is negative.
    pub fn change(&self, amount: f64) -> f64 {
        if amount >= 0.0 {
            amount * self.charge_efficiency
        } else {
            amount / self.discharge_efficiency
        }
    }

    /// Charging only or discharging only, and what of the inflow is kept.
    fn exclusive_stage(&self, step: usize, price: f64, stage: &mut StageCost) {
        let charge = self.charge_limit[step] * self.charge_efficiency;
        let discharge = self.discharge_limit[step] / self.discharge_efficiency;
        let [charge, discharge] = [
            Piece {
                length: charge,
                slope: price / self.charge_efficiency,
            },
            Piece {
                length: discharge,
                slope: price * self.discharge_efficiency,
            },
        ];
        // Lengths are changes of the level, so efficiencies divide the slopes.
        let inflow = self.inflow[step];
        // Inflow may pass unused; a loss cannot be avoided.
        let pass = Piece {
            length: inflow.max(0.0),
            slope: 0.0,
        };
        // The lowest change: everything is discharged, and a loss is taken.
        stage.start = -discharge.length + inflow.min(0.0);
        stage.value = -price * self.discharge_limit[step];
        stage.pieces.clear();
        // All inflow is kept unless the level would be worth more without it.
        // Pieces are taken from the lowest change upwards: the first ones give up what is cheapest
        // to give up.
        let order = if price >= 0.0 {
            [pass, discharge, charge]
        } else {
            [discharge, charge, pass]
        };
        stage
            .pieces
            .extend(order.iter().filter(|piece| piece.length > 0.0));
    }

    /// The same for the relaxation, which charges and discharges at once if that pays.
    fn relaxed_stage(&self, step: usize, price: f64, stage: &mut StageCost) {
        self.exclusive_stage(step, price, stage);
        stage
            .pieces
            // Sorted by slope, the stage is convex: with a negative price it charges and discharges
            // at once.
            .sort_by(|first, second| first.slope.total_cmp(&second.slope));
    }

    /// The amount bought or sold for a change of the level, and of what inflow is kept.
    fn amount(&self, step: usize, price: f64, change: f64) -> f64 {
        let charge = self.charge_limit[step] * self.charge_efficiency;
        let discharge = self.discharge_limit[step] / self.discharge_efficiency;
        let inflow = self.inflow[step];
        let own = if price >= 0.0 {
            (change - inflow).max(-discharge)
        } else {
            (change - inflow.min(0.0)).min(charge)
        };
        self.amount_of(step, own)
    }

    /// The amount bought or sold for a change of the level by charging or discharging.
    fn amount_of(&self, step: usize, own: f64) -> f64 {
        let amount = if own >= 0.0 {
            own / self.charge_efficiency
        } else {
            own * self.discharge_efficiency
        };
        let amount = amount.clamp(-self.discharge_limit[step], self.charge_limit[step]);
        // Below the tolerance a change is rounding, and would show up as a tiny trade.
        if own.abs() <= self.tolerance() {
            0.0
        } else {
            amount
        }
    }
}

/// Which stages are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StageRule {
    Exclusive,
    Relaxed,
}

/// The solver of one storage.
#[derive(Debug, Clone)]
pub struct StorageSolver {
    numbers: Arc<StorageNumbers>,
    /// The cost-to-go before each step, and after the last.
    costs_to_go: Vec<PiecewiseLinear>,
    pieces: Vec<Piece>,
    stage: StageCost,
    amounts: Vec<f64>,
}

impl StorageSolver {
    /// A solver for a storage of these numbers.
    pub fn new(numbers: Arc<StorageNumbers>) -> Self {
        Self {
            costs_to_go: vec![PiecewiseLinear::default(); numbers.steps() + 1],
            pieces: Vec::new(),
            stage: StageCost::default(),
            amounts: Vec::new(),
            numbers,
        }
    }

    /// Solves another storage from now on; `false`, with nothing changed, for another number of
    /// steps.
    pub fn move_to(&mut self, numbers: &Arc<StorageNumbers>) -> bool {
        let is_same_length = self.numbers.steps() == numbers.steps();
        if is_same_length {
            self.numbers = Arc::clone(numbers);
        }
        is_same_length
    }

    fn set_stage(&mut self, step: usize, price: f64, rule: StageRule) {
        match rule {
            StageRule::Exclusive => self.numbers.exclusive_stage(step, price, &mut self.stage),
            StageRule::Relaxed => self.numbers.relaxed_stage(step, price, &mut self.stage),
        }
    }

    /// Computes the cost-to-go of all levels before every step.
    fn compute_costs_to_go(&mut self, prices: &[f64], rule: StageRule) -> Result<(), SolveFailure> {
        let numbers = Arc::clone(&self.numbers);
        let tolerance = numbers.tolerance();
        let steps = numbers.steps();
        let last = &mut self.costs_to_go[steps];
        last.points.clear();
        let lowest = numbers.final_min.max(numbers.min_level);
        for level in [lowest, numbers.capacity] {
            let is_new = last
                .points
                .last()
                .is_none_or(|point| level > point.level + tolerance);
            if is_new {
                last.points.push(LevelPoint { level, value: 0.0 });
            }
        }
        for step in (0..steps).rev() {
            check_not_stopped()?;
            self.set_stage(step, prices[step], rule);
            // The two are neighbors in one vector, of which one is written.
            let (before, after) = self.costs_to_go.split_at_mut(step + 1);
            let (result, after) = (&mut before[step], &after[0]);
            // After a negative price the function is often convex again a few steps earlier.
            // Merging slopes takes linear time; the general case has a window per piece.
            if self.stage.is_convex() && after.is_convex() {
                convolve_convex(after, &self.stage, &mut self.pieces, result, tolerance);
            } else {
                convolve(after, &self.stage, result, tolerance);
            }
            result.cut([numbers.min_level, numbers.capacity], tolerance);
            if result.points.is_empty() {
                return Err(SolveFailure::Infeasible);
            }
        }
        let feasible = self.costs_to_go[0].interval();
        // Rounding errors of all steps add up.
        let slack = tolerance * steps as f64;
        let is_feasible = |[lowest, highest]: &[f64; 2]| {
            numbers.initial >= lowest - slack && numbers.initial <= highest + slack
        };
        match feasible.filter(is_feasible) {
            Some(_) => Ok(()),
            None => Err(SolveFailure::Infeasible),
        }
    }

    /// Follows the best changes from the initial level.
    fn follow(&mut self, prices: &[f64], rule: StageRule) {
        let numbers = Arc::clone(&self.numbers);
        self.amounts.clear();
        let mut level = numbers.initial;
        for (step, price) in prices.iter().copied().enumerate() {
            self.set_stage(step, price, rule);
            let next = self.best_level(step, level);
            let change = next - level;
            self.amounts.push(match rule {
                // Relaxed changes may charge and discharge at once; only their net cost is known.
                StageRule::Exclusive => numbers.amount(step, price, change),
                // The cost of a relaxed change is the price of its amount.
                StageRule::Relaxed if price != 0.0 => self.stage.cost(change) / price,
                StageRule::Relaxed => numbers.amount(step, 0.0, change),
            });
            level = next;
        }
    }

    /// The best level after a step from a level: at a breakpoint of the cost-to-go or of the stage.
    fn best_level(&self, step: usize, level: f64) -> f64 {
        let after = &self.costs_to_go[step + 1];
        let Some([lowest, highest]) = after.interval() else {
            return level;
        };
        let [from, to] = [level + self.stage.start, level + self.stage.end()];
        // The level without charging and discharging.
        let idle = level + self.numbers.inflow[step];
        let mut best = LevelPoint {
            level,
            value: f64::INFINITY,
        };
        let mut consider = |next: f64| {
            let next = next.clamp(lowest, highest);
            let value = self.stage.cost(next - level) + after.value(next);
            // The smallest positive scale keeps the comparison defined for values of 0.
            let scale = RELATIVE_LENGTH_TOLERANCE * value.abs().max(1e-300);
            let is_better = value < best.value - scale;
            let is_tied = value < best.value + scale;
            let is_nearer = (next - idle).abs() < (best.level - idle).abs();
            // Ties go to the level nearest to idling, so decisions do not trade for nothing.
            if is_better || (is_tied && is_nearer) {
                best = LevelPoint {
                    level: next,
                    // The lower value is kept, or else a chain of ties could drift upwards.
                    value: value.min(best.value),
                };
            }
        };
        let mut kink = from;
        consider(kink);
        for piece in &self.stage.pieces {
            kink += piece.length;
            consider(kink);
        }
        // Only breakpoints that the step can reach.
        let first = after.points.partition_point(|point| point.level <= from);
        for point in after.points[first..]
            .iter()
            .take_while(|point| point.level < to)
        {
            consider(point.level);
        }
        best.level
    }

    fn decide(&mut self, prices: &[f64], rule: StageRule) -> Result<Solution, SolveFailure> {
        self.compute_costs_to_go(prices, rule)?;
        self.follow(prices, rule);
        let decision = Decision::from_dense(&self.amounts);
        let objective = decision.dot(prices);
        Ok(Solution::optimal(decision, objective))
    }
}

impl Solver for StorageSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.decide(costs, StageRule::Exclusive)
    }
}

impl RelaxationSolver for StorageSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.decide(costs, StageRule::Relaxed)
    }
}

/// The optimal objective is a concave function of one price. Newton's method on it (Eisner and
/// Severance, 1976) finds the price at which another decision becomes better: it starts from a
/// decision with the least, or the most, of that step, and replaces it by the optimal one at the
/// price where both cost the same, until none is better.
impl CostRanging for StorageSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let optimal = self.solve(costs)?;
        let mut ranges = CostRanges::unbounded(costs.len());
        for step in 0..costs.len() {
            ranges.upper[step] = self.range_end(costs, &optimal, step, 1.0)?;
            ranges.lower[step] = self.range_end(costs, &optimal, step, -1.0)?;
        }
        Ok(ranges)
    }
}

impl StorageSolver {
    /// The price of a step up to which a decision stays optimal: above its own for a direction of
    /// 1, below it for -1.
    fn range_end(
        &mut self,
        costs: &[f64],
        optimal: &Solution,
        step: usize,
        direction: f64,
    ) -> Result<f64, SolveFailure> {
        let mut unit = vec![0.0; costs.len()];
        unit[step] = direction;
        // The decision with the least of this step, or the most: the first line of Newton's method.
        let mut other = self.solve(&unit)?.decision;
        let own_amount = optimal.decision.value(step);
        let scale: f64 = costs.iter().map(|cost| cost.abs()).sum();
        let amount_tolerance = 1e-9 * (own_amount.abs() + self.numbers.capacity);
        let mut changed = costs.to_vec();
        for _ in 0..MAX_RANGE_STEPS {
            let less = direction * (own_amount - other.value(step));
            // No decision has less: the cost may change without limit.
            if less <= amount_tolerance {
                return Ok(if changed[step] == costs[step] {
                    direction * f64::INFINITY
                } else {
                    changed[step]
                });
            }
            let excess = (other.dot(costs) - optimal.objective).max(0.0);
            // The price at which both decisions cost the same.
            changed[step] = costs[step] + direction * excess / less;
            let found = self.solve(&changed)?;
            let own = optimal.decision.dot(&changed);
            let amounts = self.numbers.capacity + own_amount.abs();
            let rounding = RELATIVE_COST_TOLERANCE * (own.abs() + scale * amounts);
            // No better decision at this price: it is the end of the range.
            if found.objective >= own - rounding {
                return Ok(changed[step]);
            }
            other = found.decision;
        }
        Ok(changed[step])
    }
}
