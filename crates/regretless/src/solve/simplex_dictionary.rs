//! A vertex of a linear programme seen from one of its bases: the edges that leave it, and how far
//! its costs may move.
//!
//! Every basic variable is written as `value − Σ cell · (move of a nonbasic variable)`. Moving one
//! nonbasic variable off its bound until a variable meets a bound of its own leads along an edge to
//! an adjacent vertex: one ratio test per column finds them all when the vertex has one basis.
//!
//! Where basic variables stand at a bound themselves the vertex is *degenerate*: it has several
//! bases, and a column may be blocked at once. Exchanging the blocking variable leads to another
//! basis of the same vertex, with other columns free. Bases are visited depth first in the order of
//! columns and rows, up to [`MAX_BASES`]; edges found from several bases count once. The list can
//! then be incomplete, but whatever is on it is adjacent. Nothing is drawn at random.

use std::collections::HashSet;

use super::relaxation::{CostRanges, MAX_ADJACENT_VERTICES};

/// Most bases of a degenerate vertex that are visited.
pub(super) const MAX_BASES: usize = 250;
/// Distance to a bound below which a variable stands at it.
const BOUND_TOLERANCE: f64 = 1e-9;
/// Share of a column's greatest cell below which a cell counts as 0.
const ZERO_TOLERANCE: f64 = 1e-10;
/// Least size of a cell that may be pivoted on, as a share of its column's greatest.
const PIVOT_TOLERANCE: f64 = 1e-7;

/// A variable of the programme: a column, or the activity or slack of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct DictionaryVariable {
    /// Its number; costs are asked for and moves are told by it.
    pub(super) number: u32,
    /// Where it stands.
    pub(super) value: f64,
    /// Least and greatest value.
    pub(super) bounds: [f64; 2],
}

impl DictionaryVariable {
    fn is_fixed(&self) -> bool {
        self.bounds[0] == self.bounds[1]
    }

    /// Room up to which it counts as being at a bound.
    fn bound_tolerance(&self) -> f64 {
        BOUND_TOLERANCE * self.value.abs().max(1.0)
    }

    /// How far it can go down or up.
    fn slack(&self, up: bool) -> f64 {
        if up {
            self.bounds[1] - self.value
        } else {
            self.value - self.bounds[0]
        }
    }
}

/// Moves of all variables along an edge, by increasing number.
pub(super) type EdgeDirection = Vec<(u32, f64)>;

/// Basic and nonbasic variables, and how they depend on each other.
#[derive(Debug, Clone, Default)]
pub(super) struct SimplexDictionary {
    basics: Vec<DictionaryVariable>,
    nonbasics: Vec<DictionaryVariable>,
    /// Column after column, one cell per basic variable.
    cells: Vec<f64>,
}

/// What stops a column.
enum RatioTest {
    /// It can go this far; infinite along a ray.
    Unblocked(f64),
    /// It cannot move at all because of these rows.
    Blocked(Vec<usize>),
}

impl SimplexDictionary {
    /// A corner with these basic variables and no column yet.
    pub(super) fn new(basics: Vec<DictionaryVariable>) -> Self {
        Self {
            basics,
            ..Self::default()
        }
    }

    /// Adds a nonbasic variable and its column, one cell per basic variable.
    pub(super) fn push(
        &mut self,
        variable: DictionaryVariable,
        cells: impl IntoIterator<Item = f64>,
    ) {
        self.nonbasics.push(variable);
        self.cells.extend(cells);
        debug_assert_eq!(self.cells.len(), self.basics.len() * self.nonbasics.len());
    }

    fn column(&self, column: usize) -> &[f64] {
        &self.cells[column * self.basics.len()..][..self.basics.len()]
    }

    /// How far each cost may move alone while this basis stays optimal: no reduced cost changes its
    /// sign. Told are the ranges of variables numbered below `count`; the absent have none.
    pub(super) fn cost_ranges(&self, cost: impl Fn(u32) -> f64, count: usize) -> CostRanges {
        let basic: Vec<f64> = self
            .basics
            .iter()
            .map(|variable| cost(variable.number))
            .collect();
        let mut rows = vec![[f64::NEG_INFINITY, f64::INFINITY]; basic.len()];
        let mut ranges = CostRanges::unbounded(count);
        for (at, variable) in self.nonbasics.iter().enumerate() {
            let own = cost(variable.number);
            let reduced = own
                - self
                    .column(at)
                    .iter()
                    .zip(&basic)
                    .map(|(cell, cost)| cell * cost)
                    .sum::<f64>();
            for up in [true, false]
                .into_iter()
                .filter(|up| variable.slack(*up) > variable.bound_tolerance())
            {
                let reduced = if up {
                    reduced.max(0.0)
                } else {
                    reduced.min(0.0)
                };
                self.tighten_ranges(&mut rows, at, (reduced, up));
                let ends = if up {
                    &mut ranges.lower
                } else {
                    &mut ranges.upper
                };
                if let Some(end) = ends.get_mut(variable.number as usize) {
                    *end = own - reduced;
                }
            }
        }
        for ((variable, [lower, upper]), cost) in self.basics.iter().zip(rows).zip(basic) {
            if (variable.number as usize) < count {
                ranges.lower[variable.number as usize] = cost + lower;
                ranges.upper[variable.number as usize] = cost + upper;
            }
        }
        ranges
    }

    /// Keeps changes of basic costs within what leaves a column's reduced cost its sign.
    fn tighten_ranges(&self, rows: &mut [[f64; 2]], column: usize, (reduced, up): (f64, bool)) {
        let cells = self.column(column);
        let min = ZERO_TOLERANCE * largest(cells);
        for ([lower, upper], cell) in rows
            .iter_mut()
            .zip(cells)
            .filter(|(_, cell)| cell.abs() > min)
        {
            let ratio = reduced / cell;
            if up == (*cell > 0.0) {
                *upper = upper.min(ratio);
            } else {
                *lower = lower.max(ratio);
            }
        }
    }

    /// Moves to the adjacent vertices, in the order they are found.
    pub(super) fn adjacent_vertices(mut self) -> Vec<EdgeDirection> {
        self.pivot_out_fixed();
        let mut walk = BasisTraversal {
            several: self.is_degenerate(),
            ..BasisTraversal::default()
        };
        walk.bases.insert(self.basis());
        let mut open = vec![(walk.visit(&self), None)];
        while let Some((exchanges, way_back)) = open.last_mut() {
            match exchanges.pop() {
                None => {
                    if let Some((row, column)) = *way_back {
                        self.pivot(row, column);
                    }
                    open.pop();
                }
                Some((row, column)) if walk.is_unvisited(&self, row, column) => {
                    self.pivot(row, column);
                    let next = walk.visit(&self);
                    open.push((next, Some((row, column))));
                }
                Some(_) => {}
            }
        }
        walk.found
    }

    /// Takes variables that cannot move out of the basis, so that they block nothing.
    fn pivot_out_fixed(&mut self) {
        for row in 0..self.basics.len() {
            let size = |column: &usize| self.column(*column)[row].abs();
            let movable =
                (0..self.nonbasics.len()).filter(|column| !self.nonbasics[*column].is_fixed());
            let largest = movable.max_by(|a, b| size(a).total_cmp(&size(b)).then(b.cmp(a)));
            if let Some(column) = largest
                .filter(|column| self.basics[row].is_fixed() && size(column) > PIVOT_TOLERANCE)
            {
                self.pivot(row, column);
            }
        }
    }

    fn is_degenerate(&self) -> bool {
        let at_bound = |variable: &DictionaryVariable| {
            [true, false]
                .iter()
                .any(|up| variable.slack(*up) <= variable.bound_tolerance())
        };
        self.basics.iter().any(at_bound)
    }

    /// Numbers of the basic variables, which name the basis.
    fn basis(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.basics.iter().map(|variable| variable.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// How far a column can go.
    fn ratio(&self, column: usize, up: bool) -> RatioTest {
        let mut step = self.nonbasics[column].bounds[1] - self.nonbasics[column].bounds[0];
        let mut blocking = Vec::new();
        let cells = self.column(column);
        let greatest = largest(cells);
        for (row, cell) in cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| cell.abs() > ZERO_TOLERANCE * greatest)
        {
            let room = self.basics[row].slack((*cell < 0.0) == up);
            if room <= self.basics[row].bound_tolerance() {
                blocking.push(row);
            }
            step = step.min(room / cell.abs());
        }
        if blocking.is_empty() {
            RatioTest::Unblocked(step)
        } else {
            RatioTest::Blocked(blocking)
        }
    }

    /// What moves, and by how much, when a column goes this far.
    fn edge_direction(&self, column: usize, by: f64) -> EdgeDirection {
        let cells = self.column(column);
        let min = ZERO_TOLERANCE * largest(cells);
        let rows = self
            .basics
            .iter()
            .zip(cells)
            .filter(|(_, cell)| cell.abs() > min);
        let mut moves: EdgeDirection = rows
            .map(|(variable, cell)| (variable.number, -cell * by))
            .collect();
        moves.push((self.nonbasics[column].number, by));
        moves.sort_unstable_by_key(|(number, _)| *number);
        moves
    }

    /// Exchanges a basic variable for a nonbasic one without moving either; the same again undoes
    /// it.
    fn pivot(&mut self, row: usize, column: usize) {
        let height = self.basics.len();
        let own = self.column(column).to_vec();
        let inverse = 1.0 / own[row];
        for (at, cells) in self.cells.chunks_exact_mut(height).enumerate() {
            let share = cells[row] * inverse;
            if at == column {
                cells.iter_mut().for_each(|cell| *cell *= -inverse);
                cells[row] = inverse;
            } else if share != 0.0 {
                cells
                    .iter_mut()
                    .zip(&own)
                    .for_each(|(cell, own)| *cell -= share * own);
                cells[row] = share;
            }
        }
        std::mem::swap(&mut self.basics[row], &mut self.nonbasics[column]);
    }
}

/// What the search over the bases of a vertex has seen.
#[derive(Default)]
struct BasisTraversal {
    /// Whether there can be several bases; edges of one basis are all different.
    several: bool,
    bases: HashSet<Vec<u32>>,
    /// Numbers of the moving variables, which name an edge.
    edges: HashSet<Vec<u32>>,
    found: Vec<EdgeDirection>,
}

impl BasisTraversal {
    /// Notes the edges that are free in a basis; returns the exchanges that lead to others, last
    /// one first.
    fn visit(&mut self, dictionary: &SimplexDictionary) -> Vec<(usize, usize)> {
        let mut exchanges = Vec::new();
        for (column, variable) in dictionary
            .nonbasics
            .iter()
            .enumerate()
            .filter(|(_, variable)| !variable.is_fixed())
        {
            for up in [true, false]
                .into_iter()
                .filter(|up| variable.slack(*up) > variable.bound_tolerance())
            {
                match dictionary.ratio(column, up) {
                    RatioTest::Unblocked(step) => {
                        self.record_edge(dictionary, column, if up { step } else { -step })
                    }
                    RatioTest::Blocked(rows) => {
                        let cells = dictionary.column(column);
                        let large =
                            |row: &usize| cells[*row].abs() > PIVOT_TOLERANCE * largest(cells);
                        exchanges.extend(rows.into_iter().filter(large).map(|row| (row, column)));
                    }
                }
            }
        }
        exchanges.reverse();
        exchanges
    }

    fn record_edge(&mut self, dictionary: &SimplexDictionary, column: usize, by: f64) {
        if by.is_finite() && self.found.len() < MAX_ADJACENT_VERTICES {
            let moves = dictionary.edge_direction(column, by);
            if !self.several
                || self
                    .edges
                    .insert(moves.iter().map(|(number, _)| *number).collect())
            {
                self.found.push(moves);
            }
        }
    }

    /// Whether an exchange leads to a basis not seen before, which then counts as seen.
    fn is_unvisited(&mut self, dictionary: &SimplexDictionary, row: usize, column: usize) -> bool {
        if self.bases.len() >= MAX_BASES || self.found.len() >= MAX_ADJACENT_VERTICES {
            return false;
        }
        let mut numbers = dictionary.basis();
        let leaving = dictionary.basics[row].number;
        numbers.retain(|number| *number != leaving);
        let entering = dictionary.nonbasics[column].number;
        numbers.insert(
            numbers.partition_point(|number| *number < entering),
            entering,
        );
        self.bases.insert(numbers)
    }
}

/// The greatest size of a cell, at least 1.
fn largest(cells: &[f64]) -> f64 {
    cells.iter().fold(1.0, |max: f64, cell| max.max(cell.abs()))
}
