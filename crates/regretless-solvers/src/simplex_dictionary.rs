//! The simplex dictionary (Chvátal 1983) of an LP vertex: its adjacent vertices and cost ranges.
//!
//! Every basic variable is written as `value − Σ coefficient · (change of a nonbasic variable)`,
//! with one column of coefficients per nonbasic variable. Moving one nonbasic variable off its
//! bound until a variable reaches a bound leads along an edge to an adjacent vertex: one ratio test
//! per column finds all adjacent vertices if the vertex has one basis.
//!
//! If basic variables are at a bound themselves the vertex is *degenerate*: it has several bases,
//! and a column may be blocked at step 0. Exchanging the blocking variable leads to another basis
//! of the same vertex, in which other columns are not blocked. Bases are visited depth first in the
//! order of columns and rows, up to [`MAX_BASES`]; edges found from several bases count once. The
//! list may then be incomplete, but every vertex on it is adjacent. The traversal is deterministic.

use std::collections::HashSet;

use super::relaxation::{CostRanges, MAX_ADJACENT_VERTICES};

/// Maximum number of bases of a degenerate vertex that are visited: their number can be
/// exponential. A larger value takes more time and misses fewer edges.
pub(super) const MAX_BASES: usize = 250;
/// Distance to a bound, relative to the value (at least 1), below which a variable counts as being
/// at it.
const BOUND_TOLERANCE: f64 = 1e-9;
/// Fraction of a column's largest coefficient below which a coefficient counts as 0: well above
/// rounding errors, well below the pivot tolerance.
const ZERO_TOLERANCE: f64 = 1e-10;
/// Smallest absolute value of a pivot, as a fraction of its column's largest coefficient: smaller
/// pivots would amplify rounding errors.
const PIVOT_TOLERANCE: f64 = 1e-7;

/// A variable of the LP: a column, or the activity or slack of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct DictionaryVariable {
    /// Its number, which identifies it in costs and edge directions.
    pub(super) number: u32,
    /// Its value.
    pub(super) value: f64,
    /// Lower and upper bound.
    pub(super) bounds: [f64; 2],
}

impl DictionaryVariable {
    fn is_fixed(&self) -> bool {
        self.bounds[0] == self.bounds[1]
    }

    /// Slack up to which it counts as being at a bound.
    fn bound_tolerance(&self) -> f64 {
        BOUND_TOLERANCE * self.value.abs().max(1.0)
    }

    /// Distance to its upper or lower bound.
    fn slack(&self, up: bool) -> f64 {
        if up {
            self.bounds[1] - self.value
        } else {
            self.value - self.bounds[0]
        }
    }
}

/// Changes of all variables along an edge, by increasing number.
pub(super) type EdgeDirection = Vec<(u32, f64)>;

/// Basic and nonbasic variables, and the coefficients of the equations between them.
#[derive(Debug, Clone, Default)]
pub(super) struct SimplexDictionary {
    basics: Vec<DictionaryVariable>,
    nonbasics: Vec<DictionaryVariable>,
    /// Column-major, one coefficient per basic variable.
    coefficients: Vec<f64>,
}

/// Result of the ratio test of a column.
enum RatioTest {
    /// Length of the step; infinite along a ray.
    Unblocked(f64),
    /// These rows block it at step 0.
    Blocked(Vec<usize>),
}

impl SimplexDictionary {
    /// A dictionary with these basic variables and no column yet.
    pub(super) fn new(basics: Vec<DictionaryVariable>) -> Self {
        Self {
            basics,
            ..Self::default()
        }
    }

    /// Adds a nonbasic variable and its column, one coefficient per basic variable.
    pub(super) fn push(
        &mut self,
        variable: DictionaryVariable,
        coefficients: impl IntoIterator<Item = f64>,
    ) {
        self.nonbasics.push(variable);
        self.coefficients.extend(coefficients);
        debug_assert_eq!(
            self.coefficients.len(),
            self.basics.len() * self.nonbasics.len()
        );
    }

    fn column(&self, column: usize) -> &[f64] {
        &self.coefficients[column * self.basics.len()..][..self.basics.len()]
    }

    /// Cost ranging: the interval of each cost, the others fixed, within which this basis stays
    /// optimal, that is, no reduced cost changes its sign. For variables numbered below `count`;
    /// variables that are not in the dictionary have unbounded ranges.
    pub(super) fn cost_ranges(&self, cost: impl Fn(u32) -> f64, count: usize) -> CostRanges {
        let basics = self.basics.iter();
        let basic_costs: Vec<f64> = basics.map(|variable| cost(variable.number)).collect();
        let mut row_ranges = vec![[f64::NEG_INFINITY, f64::INFINITY]; basic_costs.len()];
        let mut ranges = CostRanges::unbounded(count);
        for (column, variable) in self.nonbasics.iter().enumerate() {
            let column_cost = cost(variable.number);
            let terms = self.column(column).iter().zip(&basic_costs);
            let products = terms.map(|(coefficient, cost)| coefficient * cost);
            let reduced = column_cost - products.sum::<f64>();
            for up in [true, false] {
                // A variable at a bound limits the range in the direction that it can move.
                if variable.slack(up) <= variable.bound_tolerance() {
                    continue;
                }
                // Rounding may give a reduced cost the wrong sign.
                let reduced = if up {
                    reduced.max(0.0)
                } else {
                    reduced.min(0.0)
                };
                self.tighten_ranges(&mut row_ranges, column, reduced, up);
                let ends = if up {
                    &mut ranges.lower
                } else {
                    &mut ranges.upper
                };
                // Raising the cost of a variable that can only rise keeps the basis optimal, and
                // vice versa.
                if let Some(end) = ends.get_mut(variable.number as usize) {
                    *end = column_cost - reduced;
                }
            }
        }
        let basics = self.basics.iter().zip(row_ranges);
        for ((variable, [lower, upper]), cost) in basics.zip(basic_costs) {
            if (variable.number as usize) < count {
                ranges.lower[variable.number as usize] = cost + lower;
                ranges.upper[variable.number as usize] = cost + upper;
            }
        }
        ranges
    }

    /// Tightens the ranges of basic costs to keep the sign of a column's reduced cost.
    fn tighten_ranges(&self, row_ranges: &mut [[f64; 2]], column: usize, reduced: f64, up: bool) {
        let coefficients = self.column(column);
        let min = ZERO_TOLERANCE * max_abs_coefficient(coefficients);
        for ([lower, upper], coefficient) in row_ranges.iter_mut().zip(coefficients) {
            // Rounding errors would make the range arbitrarily small.
            if coefficient.abs() <= min {
                continue;
            }
            let ratio = reduced / coefficient;
            if up == (*coefficient > 0.0) {
                *upper = upper.min(ratio);
            } else {
                *lower = lower.max(ratio);
            }
        }
    }

    /// Differences to the adjacent vertices, in the order of the traversal.
    pub(super) fn adjacent_vertices(mut self) -> Vec<EdgeDirection> {
        // Fixed basic variables would block every step at 0.
        self.pivot_out_fixed();
        let mut traversal = BasisTraversal {
            is_degenerate: self.is_degenerate(),
            ..BasisTraversal::default()
        };
        traversal.bases.insert(self.basis());
        let mut stack = vec![(traversal.visit(&self), None)];
        // Depth first with an explicit stack: the number of bases bounds the depth.
        while let Some((exchanges, undo)) = stack.last_mut() {
            match exchanges.pop() {
                None => {
                    // The same exchange undoes the pivot, so no dictionary is copied.
                    if let Some((row, column)) = *undo {
                        self.pivot(row, column);
                    }
                    stack.pop();
                }
                Some((row, column)) if traversal.is_unvisited(&self, row, column) => {
                    self.pivot(row, column);
                    let next = traversal.visit(&self);
                    stack.push((next, Some((row, column))));
                }
                Some(_) => {}
            }
        }
        traversal.directions
    }

    /// Drives fixed variables out of the basis, so they block nothing.
    fn pivot_out_fixed(&mut self) {
        for row in 0..self.basics.len() {
            let magnitude = |column: &usize| self.column(*column)[row].abs();
            let movable =
                (0..self.nonbasics.len()).filter(|column| !self.nonbasics[*column].is_fixed());
            let largest =
                // Ties go to the smaller column, so the traversal has one order.
                movable.max_by(|a, b| magnitude(a).total_cmp(&magnitude(b)).then(b.cmp(a)));
            if let Some(column) = largest
                && self.basics[row].is_fixed()
                && magnitude(&column) > PIVOT_TOLERANCE
            {
                self.pivot(row, column);
            }
        }
    }

    fn is_degenerate(&self) -> bool {
        let at_bound = |variable: &DictionaryVariable| {
            let slack = variable.slack(true).min(variable.slack(false));
            slack <= variable.bound_tolerance()
        };
        self.basics.iter().any(at_bound)
    }

    /// Sorted numbers of the basic variables, which identify the basis.
    fn basis(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.basics.iter().map(|variable| variable.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Ratio test of a column: how far its variable can increase (`up`) or decrease.
    fn ratio_test(&self, column: usize, up: bool) -> RatioTest {
        let mut step = self.nonbasics[column].bounds[1] - self.nonbasics[column].bounds[0];
        let mut blocking = Vec::new();
        let coefficients = self.column(column);
        let min = ZERO_TOLERANCE * max_abs_coefficient(coefficients);
        for (row, coefficient) in coefficients.iter().enumerate() {
            if coefficient.abs() <= min {
                continue;
            }
            let slack = self.basics[row].slack((*coefficient < 0.0) == up);
            // Blocked at step 0: the basis is degenerate, and another basis of the vertex has this
            // edge or none.
            if slack <= self.basics[row].bound_tolerance() {
                blocking.push(row);
            }
            step = step.min(slack / coefficient.abs());
        }
        if blocking.is_empty() {
            RatioTest::Unblocked(step)
        } else {
            RatioTest::Blocked(blocking)
        }
    }

    /// Changes of all variables when the variable of a column changes by `step`.
    fn edge_direction(&self, column: usize, step: f64) -> EdgeDirection {
        let coefficients = self.column(column);
        let min = ZERO_TOLERANCE * max_abs_coefficient(coefficients);
        let mut direction = EdgeDirection::new();
        for (variable, coefficient) in self.basics.iter().zip(coefficients) {
            if coefficient.abs() > min {
                direction.push((variable.number, -coefficient * step));
            }
        }
        direction.push((self.nonbasics[column].number, step));
        direction.sort_unstable_by_key(|(number, _)| *number);
        direction
    }

    /// Exchanges a basic variable for a nonbasic one without changing values; the same exchange
    /// undoes it.
    fn pivot(&mut self, row: usize, column: usize) {
        let height = self.basics.len();
        let pivot_column = self.column(column).to_vec();
        let inverse = 1.0 / pivot_column[row];
        for (other, coefficients) in self.coefficients.chunks_exact_mut(height).enumerate() {
            let factor = coefficients[row] * inverse;
            // The pivot column becomes that of the variable that left.
            if other == column {
                for coefficient in &mut *coefficients {
                    *coefficient *= -inverse;
                }
                coefficients[row] = inverse;
            } else if factor != 0.0 {
                for (coefficient, pivot) in coefficients.iter_mut().zip(&pivot_column) {
                    *coefficient -= factor * pivot;
                }
                coefficients[row] = factor;
            }
        }
        std::mem::swap(&mut self.basics[row], &mut self.nonbasics[column]);
    }
}

/// Bases and edges found by the traversal of a vertex.
#[derive(Default)]
struct BasisTraversal {
    /// Whether there can be several bases; the edges of a single basis are distinct.
    is_degenerate: bool,
    bases: HashSet<Vec<u32>>,
    /// Numbers of the variables that change along an edge, which identify it.
    edges: HashSet<Vec<u32>>,
    /// The directions of the edges, in the order in which they were found.
    directions: Vec<EdgeDirection>,
}

impl BasisTraversal {
    /// Records the unblocked edges of a basis; returns the exchanges, as pairs of row and column,
    /// that lead to other bases, the last exchange first.
    fn visit(&mut self, dictionary: &SimplexDictionary) -> Vec<(usize, usize)> {
        let mut exchanges = Vec::new();
        for (column, variable) in dictionary.nonbasics.iter().enumerate() {
            for up in [true, false] {
                if variable.is_fixed() || variable.slack(up) <= variable.bound_tolerance() {
                    continue;
                }
                match dictionary.ratio_test(column, up) {
                    RatioTest::Unblocked(step) => {
                        self.record_edge(dictionary, column, if up { step } else { -step });
                    }
                    RatioTest::Blocked(rows) => {
                        let coefficients = dictionary.column(column);
                        let min = PIVOT_TOLERANCE * max_abs_coefficient(coefficients);
                        // Smaller pivots would spoil the dictionary for all that follow.
                        for row in rows {
                            if coefficients[row].abs() > min {
                                exchanges.push((row, column));
                            }
                        }
                    }
                }
            }
        }
        // The stack takes the last one first.
        exchanges.reverse();
        exchanges
    }

    fn record_edge(&mut self, dictionary: &SimplexDictionary, column: usize, step: f64) {
        if step.is_finite() && self.directions.len() < MAX_ADJACENT_VERTICES {
            let direction = dictionary.edge_direction(column, step);
            let numbers = direction.iter().map(|(number, _)| *number);
            // Several bases have the same edge: the variables that change identify it.
            if !self.is_degenerate || self.edges.insert(numbers.collect()) {
                self.directions.push(direction);
            }
        }
    }

    /// Whether an exchange leads to an unvisited basis, which is then marked as visited.
    fn is_unvisited(&mut self, dictionary: &SimplexDictionary, row: usize, column: usize) -> bool {
        if self.bases.len() >= MAX_BASES || self.directions.len() >= MAX_ADJACENT_VERTICES {
            return false;
        }
        let mut numbers = dictionary.basis();
        let leaving = dictionary.basics[row].number;
        numbers.retain(|number| *number != leaving);
        let entering = dictionary.nonbasics[column].number;
        // Kept sorted, so equal bases have equal lists.
        numbers.insert(
            numbers.partition_point(|number| *number < entering),
            entering,
        );
        self.bases.insert(numbers)
    }
}

/// The largest absolute value of a coefficient, at least 1.
fn max_abs_coefficient(coefficients: &[f64]) -> f64 {
    coefficients
        .iter()
        .fold(1.0, |max: f64, coefficient| max.max(coefficient.abs()))
}
