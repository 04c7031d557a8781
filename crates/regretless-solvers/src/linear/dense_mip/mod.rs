//! Branch and bound for small mixed-integer programs, on a dense simplex tableau.
//!
//! HiGHS prepares every search for a long run: cuts, probing and heuristics take milliseconds
//! before the first node, which is most of the time on a model of a few dozen columns. Here a node
//! takes microseconds (Land and Doig 1960, with the penalties of Driebeek 1966 and Tomlin 1971), so
//! thousands of nodes are faster than that preparation.
//!
//! Not every model is accepted. It must be small, its entries must not differ by more than
//! [`MAX_COEFFICIENT_RATIO`] within a row, and every column must have a bound on the side its cost
//! favors. A search that does not finish within [`MAX_CELL_UPDATES`], or needs a pivot that is too
//! small, is abandoned, and HiGHS solves the model instead: that depends on model and costs only,
//! never on time. Solutions are checked against every row as those of HiGHS are.
//!
//! * `tableau`: the bounded dual simplex method. `refactor`: its refactorization.
//! * `incumbent`: the incumbent and the rounding heuristic. `search_tree`: branch and bound.

mod incumbent;
mod refactor;
mod search_tree;
mod tableau;

use self::incumbent::DenseIncumbent;
use self::search_tree::DenseSearchTree;
use self::tableau::DenseTableau;
use crate::dense_tableau::find_granularity;
use crate::highs::{LinearModel, integer_bounds};

/// Maximum number of cells (coefficients) of a tableau, rows times columns: 32 KB, the size of an
/// L1 data cache.
const MAX_CELLS: usize = 4096;
/// Maximum number of rows: the time of a refactorization grows with their cube.
const MAX_ROWS: usize = 64;
/// Largest ratio of the absolute values of two entries in a row: the tableau has no
/// equilibration, which larger ratios would need.
const MAX_COEFFICIENT_RATIO: f64 = 1e5;
/// Maximum number of cell updates before HiGHS solves the model instead: some tens of milliseconds.
const MAX_CELL_UPDATES: u64 = 30_000_000;

/// Largest absolute exponent of a row's scale, well within the range of `f64`.
const MAX_SCALE_EXPONENT: f64 = 900.0;

/// A dense model, each row scaled by a power of two.
#[derive(Debug, Default)]
struct DenseModel {
    columns: usize,
    rows: usize,
    /// Row-major.
    matrix: Vec<f64>,
    /// Lower and upper bound of every variable: columns, then activities of rows.
    bounds: Vec<[f64; 2]>,
    /// Whether each variable is an integer; activities count as continuous.
    integer: Vec<bool>,
}

/// The result of a complete search: no point has an objective below `bound`, up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DenseSearchResult {
    /// The proven lower bound.
    pub(super) bound: f64,
    /// Branch-and-bound nodes of the search.
    pub(super) nodes: u64,
    /// Whether the search was not stopped.
    pub(super) is_complete: bool,
}

/// The solver for one small model.
#[derive(Debug)]
pub(super) struct DenseMip {
    model: DenseModel,
    /// One tableau per depth of the tree.
    tableau_per_depth: Vec<DenseTableau>,
    incumbent: DenseIncumbent,
    /// Cell updates of the last search.
    cell_updates: u64,
}

/// Costs and tolerances of one search.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchRequest<'a> {
    /// Cost of every column.
    pub(super) costs: &'a [f64],
    /// Constant part of the objective; the gap is relative to the objective with it.
    pub(super) objective_offset: f64,
    /// Relative gap to the optimum that is allowed.
    pub(super) relative_gap_tolerance: f64,
    /// The power of two by which `costs` and `objective_offset` have been multiplied.
    pub(super) scale: f64,
}

impl DenseMip {
    /// A solver, if the search accepts the model.
    pub(super) fn from_model(model: &LinearModel) -> Option<Self> {
        // Sizes first: the checks below take time.
        let (columns, rows) = (model.cost.len(), model.row_bounds.len());
        let fits = rows <= MAX_ROWS && columns * rows <= MAX_CELLS && columns <= MAX_CELLS;
        if !fits || !model.integer.contains(&true) {
            return None;
        }
        let mut dense = DenseModel {
            columns,
            rows,
            matrix: vec![0.0; columns * rows],
            ..DenseModel::default()
        };
        for column in 0..columns {
            let bounds = model.column_bounds[column];
            dense.bounds.push(if model.integer[column] {
                integer_bounds(bounds)
            } else {
                bounds
            });
        }
        for row in 0..rows {
            dense.add_row(row, model)?;
        }
        dense.integer.clone_from(&model.integer);
        dense.integer.resize(columns + rows, false);
        // Rounding the bounds of an integer column may leave nothing between them.
        let is_consistent = dense.bounds.iter().all(|[lower, upper]| lower <= upper);
        is_consistent.then(|| Self {
            model: dense,
            tableau_per_depth: Vec::new(),
            incumbent: DenseIncumbent::default(),
            cell_updates: 0,
        })
    }

    /// The same solver with the allocations of another one.
    pub(super) fn with_buffers(self, previous: Self) -> Self {
        Self {
            tableau_per_depth: previous.tableau_per_depth,
            incumbent: previous.incumbent,
            ..self
        }
    }

    /// Searches, and on success writes the optimal point. `None` when HiGHS must solve the model.
    pub(super) fn search(
        &mut self,
        request: &SearchRequest<'_>,
        point: &mut Vec<f64>,
    ) -> Option<DenseSearchResult> {
        self.incumbent.reset(request, self.granularity(request));
        let mut tree = DenseSearchTree::new(
            &self.model,
            request.costs,
            &mut self.tableau_per_depth,
            &mut self.incumbent,
        );
        let outcome = tree.run();
        self.cell_updates = tree.cell_updates();
        let result = outcome?;
        point.clear();
        point.extend_from_slice(self.incumbent.point()?);
        let bound = if result.is_complete {
            // The root's bound holds whatever the search did.
            self.incumbent.proven_bound().max(result.root_bound)
        } else {
            result.root_bound
        };
        let bound = bound.min(self.incumbent.objective());
        Some(DenseSearchResult {
            bound: bound + request.objective_offset,
            nodes: result.nodes,
            is_complete: result.is_complete,
        })
    }

    /// Work of the last search in nanoseconds: a cell update takes about one.
    pub(super) fn work(&self) -> u64 {
        self.cell_updates
    }

    /// Granularity of the objective, if only integer columns have costs; else 0.
    fn granularity(&self, request: &SearchRequest<'_>) -> f64 {
        let costs = request.costs.iter().enumerate();
        let nonzero = costs.filter(|(_, cost)| **cost != 0.0);
        if nonzero
            .clone()
            // Costs of continuous columns change the objective by any amount.
            .any(|(column, _)| !self.model.integer[column])
        {
            return 0.0;
        }
        find_granularity(&nonzero.map(|(_, cost)| cost / request.scale))
            .map_or(0.0, |granularity| granularity * request.scale)
    }
}

impl DenseModel {
    fn add_row(&mut self, row: usize, model: &LinearModel) -> Option<()> {
        let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
        for (_, entry) in model.rows.entries(row) {
            let magnitude = entry.abs();
            if magnitude > 0.0 {
                min = min.min(magnitude);
                max = max.max(magnitude);
            }
        }
        // Such rows need an equilibration, which HiGHS has.
        if max > MAX_COEFFICIENT_RATIO * min {
            return None;
        }
        let scale = if max > 0.0 {
            (-max.log2().floor())
                .clamp(-MAX_SCALE_EXPONENT, MAX_SCALE_EXPONENT)
                .exp2()
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
    use crate::highs::LinearModel;

    /// Integer columns with these bounds, and one row.
    fn model(bounds: &[[f64; 2]], row: &[f64], row_bounds: [f64; 2]) -> LinearModel {
        let mut model = LinearModel {
            integer: vec![true; bounds.len()],
            cost: vec![0.0; bounds.len()],
            ..LinearModel::default()
        };
        model.column_bounds = bounds.to_vec();
        model.row_bounds.push(row_bounds);
        std::sync::Arc::make_mut(&mut model.rows).push(row.iter().copied().enumerate());
        model
    }

    fn search(model: &LinearModel, costs: &[f64], gap: f64) -> Option<(Vec<f64>, f64)> {
        let mut point = Vec::new();
        let proof = DenseMip::from_model(model)?.search(
            &SearchRequest {
                costs,
                objective_offset: 10.0,
                relative_gap_tolerance: gap,
                scale: 1.0,
            },
            &mut point,
        )?;
        Some((point, proof.bound))
    }

    #[test]
    fn integer_columns_are_solved_to_optimality() {
        let equation = model(
            &[[0.0, 9.0], [-2.0, 4.0], [0.0, 1.0]],
            &[3.0, 5.0, -7.0],
            [8.0, 8.0],
        );
        // 3x + 5y − 7z = 8: (1, 1, 0), (6, −2, 0), (0, 3, 1) and (5, 0, 1) are all feasible points.
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
    fn unsuitable_models_are_left_to_highs() {
        let infinite = f64::INFINITY;
        let open = model(&[[0.0, infinite]], &[1.0], [-infinite, 4.5]);
        assert_eq!(search(&open, &[1.0], 0.0), Some((vec![0.0], 10.0)));
        assert_eq!(
            search(&open, &[-1.0], 0.0),
            None,
            "the column has no bound on the side its cost favors"
        );
        let wide = model(&[[0.0, 1.0], [0.0, 1.0]], &[1.0, -1e7], [-infinite, 0.0]);
        assert!(
            DenseMip::from_model(&wide).is_none(),
            "entries of very different magnitude"
        );
        let none = model(&[[0.0, 1.0], [0.0, 1.0]], &[1.0, 1.0], [3.0, infinite]);
        assert_eq!(
            search(&none, &[1.0, 1.0], 0.0),
            None,
            "HiGHS confirms infeasibility"
        );
        let mut continuous = none;
        continuous.integer.fill(false);
        assert!(DenseMip::from_model(&continuous).is_none());
    }

    #[test]
    fn a_gap_is_reported_unless_the_granularity_closes_it() {
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
