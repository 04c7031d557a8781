//! A search over whole numbers for small models, on a dense tableau of our own.
//!
//! HiGHS prepares every search as if it were a long one: cuts, probing and heuristics cost
//! milliseconds before the first node, which is most of the time on a model of a few dozen columns.
//! Here a node costs microseconds (Land and Doig 1960, with the penalties of Driebeek 1966 and
//! Tomlin 1971), so that thousands of them are cheaper than one preparation.
//!
//! Not every model is taken. It must be small, its numbers must not differ by more than [`RATIO`]
//! within a row, and every column must have a bound on the side its cost pushes it to. A search
//! that comes to nothing within [`MAX_CELL_UPDATES`], or meets a doubtful pivot, gives up, and HiGHS
//! starts from the beginning: that depends on model and costs only, never on time. What is found is
//! checked against every row as HiGHS's answers are.
//!
//! * `tableau`: the bounded dual simplex method. `refresh`: the same numbers anew, from the data.
//! * `best`: the best point so far and good guesses. `tree`: the search.

mod incumbent;
mod refactor;
mod search_tree;
mod tableau;

use self::incumbent::DenseIncumbent;
use self::search_tree::DenseSearchTree;
use self::tableau::DenseTableau;
use crate::solve::highs::{LinearModel, integer_bounds};
use crate::solve::knapsack::step;

/// Most cells of a tableau: rows times columns.
const MAX_CELLS: usize = 4096;
/// Most rows; a tableau is computed anew in the third power of them.
const MAX_ROWS: usize = 64;
/// Greatest ratio of the sizes of two entries in a row.
const MAX_COEFFICIENT_RATIO: f64 = 1e5;
/// Most changes of cells before HiGHS takes over: some tens of milliseconds.
const MAX_CELL_UPDATES: u64 = 30_000_000;

/// What is searched: a model, dense, each row scaled by a power of two.
#[derive(Debug, Default)]
struct DenseModel {
    columns: usize,
    rows: usize,
    /// Row after row.
    matrix: Vec<f64>,
    /// Least and greatest value of every variable: columns, then activities of rows.
    bounds: Vec<[f64; 2]>,
    /// Whether each variable takes whole numbers only; activities count as any numbers.
    integer: Vec<bool>,
}

/// A proof that no point costs less than `bound`, up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoundProof {
    /// The bound.
    pub(super) bound: f64,
    /// Nodes of the search.
    pub(super) nodes: u64,
}

/// The engine for one small model.
#[derive(Debug)]
pub(super) struct DenseMip {
    data: DenseModel,
    levels: Vec<DenseTableau>,
    best: DenseIncumbent,
    /// Changes of cells of the last search.
    changes: u64,
}

/// What a search goes by.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchRequest<'a> {
    /// Cost of every column.
    pub(super) costs: &'a [f64],
    /// Constant part of the objective, which the gap is relative to as well.
    pub(super) offset: f64,
    /// Share of the objective by which the answer may miss the optimum.
    pub(super) gap: f64,
    /// What the costs were multiplied by.
    pub(super) scale: f64,
}

impl DenseMip {
    /// An engine, if the model is of the kind this search is made for.
    pub(super) fn of(model: &LinearModel) -> Option<Self> {
        let (columns, rows) = (model.cost.len(), model.row_bounds.len());
        let fits = rows <= MAX_ROWS && columns * rows <= MAX_CELLS && columns <= MAX_CELLS;
        if !fits || !model.integer.contains(&true) {
            return None;
        }
        let mut data = DenseModel {
            columns,
            rows,
            matrix: vec![0.0; columns * rows],
            ..DenseModel::default()
        };
        for column in 0..columns {
            let bounds = model.column_bounds[column];
            data.bounds.push(if model.integer[column] {
                integer_bounds(bounds)
            } else {
                bounds
            });
        }
        for row in 0..rows {
            data.add_row(row, model)?;
        }
        data.integer = model
            .integer
            .iter()
            .copied()
            .chain((0..rows).map(|_| false))
            .collect();
        let sound = data.bounds.iter().all(|[lower, upper]| lower <= upper);
        sound.then(|| Self {
            data,
            levels: Vec::new(),
            best: DenseIncumbent::default(),
            changes: 0,
        })
    }

    /// Searches; on success the best point is written. `None` when HiGHS must decide.
    pub(super) fn search(
        &mut self,
        request: &SearchRequest<'_>,
        point: &mut Vec<f64>,
    ) -> Option<BoundProof> {
        self.best.reset(request, self.granularity(request));
        let mut tree = DenseSearchTree::new(
            &self.data,
            request.costs,
            (&mut self.levels, &mut self.best),
        );
        let found = tree.run();
        self.changes = tree.changes();
        let (lowest, nodes) = found?;
        point.clear();
        point.extend_from_slice(self.best.point()?);
        let bound = self
            .best
            .proven_bound()
            .max(lowest)
            .min(self.best.objective());
        Some(BoundProof {
            bound: bound + request.offset,
            nodes,
        })
    }

    /// Work of the last search in nanoseconds: a change of a cell takes about one.
    pub(super) fn work(&self) -> u64 {
        self.changes
    }

    /// By how much two objectives differ at least, if only whole columns cost something and their
    /// costs lie on a grid; else 0.
    fn granularity(&self, request: &SearchRequest<'_>) -> f64 {
        let paid = request
            .costs
            .iter()
            .enumerate()
            .filter(|(_, cost)| **cost != 0.0);
        if paid.clone().any(|(column, _)| !self.data.integer[column]) {
            return 0.0;
        }
        step(&paid.map(|(_, cost)| cost / request.scale)).map_or(0.0, |step| step * request.scale)
    }
}

impl DenseModel {
    fn add_row(&mut self, row: usize, model: &LinearModel) -> Option<()> {
        let sizes = || {
            model
                .rows
                .entries(row)
                .map(|(_, entry)| entry.abs())
                .filter(|size| *size > 0.0)
        };
        let (min, max) = (
            sizes().fold(f64::INFINITY, f64::min),
            sizes().fold(0.0, f64::max),
        );
        if max > MAX_COEFFICIENT_RATIO * min {
            return None;
        }
        let scale = if max > 0.0 {
            (-max.log2().floor()).clamp(-900.0, 900.0).exp2()
        } else {
            1.0
        };
        for (column, entry) in model.rows.entries(row) {
            self.matrix[row * self.columns + column] = entry * scale;
        }
        self.bounds
            .push(model.row_bounds[row].map(|bound| bound * scale));
        Some(())
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.matrix[row * self.columns..][..self.columns]
    }
}

#[cfg(test)]
mod tests {
    use super::{DenseMip, SearchRequest};
    use crate::solve::highs::LinearModel;

    /// Columns with these bounds, all whole, and one row.
    fn model(bounds: &[[f64; 2]], row: &[f64], row_bounds: [f64; 2]) -> LinearModel {
        let mut model = LinearModel {
            integer: vec![true; bounds.len()],
            cost: vec![0.0; bounds.len()],
            ..LinearModel::default()
        };
        model.column_bounds = bounds.to_vec();
        model.row_bounds.push(row_bounds);
        model.rows.push(row.iter().copied().enumerate());
        model
    }

    fn search(model: &LinearModel, costs: &[f64], gap: f64) -> Option<(Vec<f64>, f64)> {
        let mut point = Vec::new();
        let proof = DenseMip::of(model)?.search(
            &SearchRequest {
                costs,
                offset: 10.0,
                gap,
                scale: 1.0,
            },
            &mut point,
        )?;
        Some((point, proof.bound))
    }

    #[test]
    fn whole_columns_are_searched_to_the_end() {
        let equation = model(
            &[[0.0, 9.0], [-2.0, 4.0], [0.0, 1.0]],
            &[3.0, 5.0, -7.0],
            [8.0, 8.0],
        );
        // 3x + 5y − 7z = 8: (1, 1, 0), (6, −2, 0), (0, 3, 1) and (5, 0, 1) are all there is.
        assert_eq!(
            search(&equation, &[1.0, 0.5, 0.75], 0.0),
            Some((vec![1.0, 1.0, 0.0], 11.5))
        );
        assert_eq!(
            search(&equation, &[1.0, -1.5, 0.75], 0.0),
            Some((vec![0.0, 3.0, 1.0], 6.25))
        );
        assert_eq!(
            search(&equation, &[-1.0, 0.25, 0.5], 0.0),
            Some((vec![6.0, -2.0, 0.0], 3.5))
        );
    }

    #[test]
    fn what_it_is_not_made_for_is_left_to_highs() {
        let infinite = f64::INFINITY;
        let open = model(&[[0.0, infinite]], &[1.0], [-infinite, 4.5]);
        assert_eq!(search(&open, &[1.0], 0.0), Some((vec![0.0], 10.0)));
        assert_eq!(
            search(&open, &[-1.0], 0.0),
            None,
            "nothing holds the column where its cost pushes it"
        );
        let wide = model(&[[0.0, 1.0], [0.0, 1.0]], &[1.0, -1e7], [-infinite, 0.0]);
        assert!(
            DenseMip::of(&wide).is_none(),
            "numbers of very different size"
        );
        let none = model(&[[0.0, 1.0], [0.0, 1.0]], &[1.0, 1.0], [3.0, infinite]);
        assert_eq!(
            search(&none, &[1.0, 1.0], 0.0),
            None,
            "HiGHS confirms that nothing is feasible"
        );
        let mut continuous = none;
        continuous.integer.fill(false);
        assert!(DenseMip::of(&continuous).is_none());
    }

    #[test]
    fn a_gap_is_proved_as_such_unless_costs_leave_nothing_between() {
        let items = model(
            &[[0.0, 1.0]; 6],
            &[3.0, 5.0, 4.0, 7.0, 2.0, 6.0],
            [-f64::INFINITY, 13.0],
        );
        let (point, bound) = search(
            &items,
            &[-0.501, -0.702, -0.6003, -0.9004, -0.4005, -0.8006],
            0.3,
        )
        .unwrap();
        let cost: f64 = point
            .iter()
            .zip([-0.501, -0.702, -0.6003, -0.9004, -0.4005, -0.8006])
            .map(|(x, c)| x * c)
            .sum();
        assert!(
            bound < cost + 10.0 && bound >= 0.7 * (cost + 10.0),
            "{bound} {cost}"
        );
        let (point, bound) = search(&items, &[-5.0, -7.0, -6.0, -9.0, -4.0, -8.0], 1e-3).unwrap();
        let cost: f64 = point
            .iter()
            .zip([-5.0, -7.0, -6.0, -9.0, -4.0, -8.0])
            .map(|(x, c)| x * c)
            .sum();
        assert_eq!(bound, cost + 10.0);
    }
}
