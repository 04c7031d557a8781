//! The linear relaxation: edges as columns, degrees and inequalities around sets as rows.
//!
//! Row 0 is the depot, whose degree is at most twice the vehicles; row i is customer i, of degree
//! 2. Costs inside are scaled by a power of two to moderate size; what comes out is in the units of
//! the costs. Further rows come and go as in any [`Sheet`].

use super::cuts::{CutRow, CvrpCut, EdgeEnds};
use super::fleet::Fleet;
use crate::solve::SolveFailure;
use crate::solve::complete_graph::DistanceMatrix;
pub(super) use crate::solve::cutting_plane::BasisSnapshot;
use crate::solve::cutting_plane::{LpRelaxation, retain_unmarked, scaling_factor};
use crate::solve::highs::{LpColumns, LpRows, LpStatus, SimplexMethod};

/// Solves that a row may be slack before it is dropped.
const MAX_SLACK_SOLVES: u32 = 10;

/// The linear relaxation and its solver.
#[derive(Debug)]
pub(super) struct CvrpMasterLp {
    nodes: usize,
    most_depot: f64,
    relaxation: LpRelaxation,
    factor: f64,
    pub(super) edges: Vec<EdgeEnds>,
    pub(super) costs: Vec<f64>,
    /// Bounds that hold everywhere.
    pub(super) base: Vec<[f64; 2]>,
    pool: Vec<CutRow>,
    /// Present bounds of each row of the pool.
    limits: Vec<[f64; 2]>,
}

impl CvrpMasterLp {
    /// The relaxation by degrees alone.
    pub(super) fn new(fleet: &Fleet, distances: &DistanceMatrix) -> Result<Self, SolveFailure> {
        let nodes = fleet.nodes() as u32;
        let most_depot = 2.0 * fleet.vehicles as f64;
        let edges: Vec<EdgeEnds> = (0..nodes)
            .flat_map(|i| (i + 1..nodes).map(move |j| [i, j]))
            .collect();
        let edges: Vec<EdgeEnds> = edges
            .into_iter()
            .filter(|ends| fleet.max_edge_uses(*ends) > 0.0)
            .collect();
        let costs: Vec<f64> = edges
            .iter()
            .map(|[i, j]| distances.between(*i, *j))
            .collect();
        let base: Vec<[f64; 2]> = edges
            .iter()
            .map(|ends| [0.0, fleet.max_edge_uses(*ends)])
            .collect();
        let mut rows = LpRows::default();
        rows.push([f64::NEG_INFINITY, most_depot], []);
        (1..nodes).for_each(|_| rows.push([2.0, 2.0], []));
        let mut relaxation = LpRelaxation::new(&rows, MAX_SLACK_SOLVES)?;
        let factor = scaling_factor(costs.iter().copied(), 3.0);
        let mut columns = LpColumns::default();
        for ((ends, cost), bounds) in edges.iter().zip(&costs).zip(&base) {
            columns.push(
                cost * factor,
                *bounds,
                ends.iter().map(|node| (*node as usize, 1.0)),
            );
        }
        relaxation.add_columns(&columns, base.iter().copied())?;
        let (nodes, pool, limits) = (fleet.nodes(), Vec::new(), Vec::new());
        Ok(Self {
            nodes,
            most_depot,
            relaxation,
            factor,
            edges,
            costs,
            base,
            pool,
            limits,
        })
    }

    /// Value of each edge at the point that the last solve ended at.
    pub(super) fn values(&self) -> &[f64] {
        &self.relaxation.point.value
    }

    /// Adds rows around sets; returns the place of the first in the pool.
    pub(super) fn add_cuts(&mut self, cuts: &[CvrpCut]) -> Result<u32, SolveFailure> {
        let usual = |place: u32| self.limits[place as usize] == self.pool[place as usize].bounds;
        self.relaxation.drop_slack_rows(|place| !usual(place))?;
        for cut in cuts {
            let (row, _) = cut.row(self.nodes, &self.edges);
            self.limits.push(row.bounds);
            self.pool.push(row);
        }
        let places = self.relaxation.reserve_cuts(cuts.len());
        self.add_rows(&places)?;
        Ok((self.pool.len() - cuts.len()) as u32)
    }

    fn add_rows(&mut self, places: &[u32]) -> Result<(), SolveFailure> {
        let mut rows = LpRows::default();
        for place in places {
            let entries = self.pool[*place as usize].entries.iter();
            rows.push(
                self.limits[*place as usize],
                entries.map(|(column, value)| (*column as usize, *value)),
            );
        }
        self.relaxation.add_rows(places, &rows)
    }

    /// Drops the marked columns but those in the basis; returns which are gone.
    pub(super) fn drop_edges(&mut self, delete: Vec<bool>) -> Result<Vec<bool>, SolveFailure> {
        let gone = self.relaxation.drop_columns(delete)?;
        let mut kept = 0;
        let number = |gone: &bool| {
            kept += u32::from(!gone);
            (!gone).then(|| kept - 1)
        };
        let numbers: Vec<Option<u32>> = gone.iter().map(number).collect();
        for row in &mut self.pool {
            let entries = row
                .entries
                .iter()
                .filter_map(|(column, value)| Some((numbers[*column as usize]?, *value)));
            row.entries = entries.collect();
        }
        retain_unmarked(&mut self.edges, &gone);
        retain_unmarked(&mut self.costs, &gone);
        retain_unmarked(&mut self.base, &gone);
        Ok(gone)
    }

    /// Limits an edge to these values.
    pub(super) fn set_bounds(
        &mut self,
        column: usize,
        bounds: [f64; 2],
    ) -> Result<(), SolveFailure> {
        self.relaxation.set_bounds(column, bounds)
    }

    /// Least and greatest value of an edge at present.
    pub(super) fn bounds(&self, column: usize) -> [f64; 2] {
        self.relaxation.bounds()[column]
    }

    /// What a row of the pool is at the present point.
    pub(super) fn activity(&self, place: u32) -> f64 {
        let entries = &self.pool[place as usize].entries;
        entries
            .iter()
            .map(|(column, value)| value * self.values()[*column as usize])
            .sum()
    }

    /// Limits a row of the pool to these values; it becomes a row if it is none.
    pub(super) fn set_limits(&mut self, place: u32, limits: [f64; 2]) -> Result<(), SolveFailure> {
        if self.limits[place as usize] == limits {
            return Ok(());
        }
        self.limits[place as usize] = limits;
        match self.relaxation.row(place) {
            None => self.add_rows(&[place]),
            Some(row) => self.relaxation.lp.set_row_bounds(row, limits),
        }
    }

    /// Limits of a row of the pool at present.
    pub(super) fn limits(&self, place: u32) -> [f64; 2] {
        self.limits[place as usize]
    }

    /// Takes back all bounds and limits that do not hold everywhere.
    pub(super) fn reset_bounds(&mut self) -> Result<(), SolveFailure> {
        (0..self.edges.len()).try_for_each(|column| self.set_bounds(column, self.base[column]))?;
        for place in 0..self.pool.len() {
            let usual = self.pool[place].bounds;
            if self.limits[place] != usual {
                self.set_limits(place as u32, usual)?;
            }
        }
        Ok(())
    }

    /// Lets solves stop once the objective is above this.
    pub(super) fn set_objective_bound(&mut self, total: f64) -> Result<(), SolveFailure> {
        self.relaxation.lp.set_objective_bound(total * self.factor)
    }

    /// Lets solves stop after so many steps.
    pub(super) fn limit_iterations(&mut self, max: Option<u32>) -> Result<(), SolveFailure> {
        self.relaxation.lp.limit_iterations(max)
    }

    /// Solves and reads the point.
    pub(super) fn solve(&mut self) -> Result<LpStatus, SolveFailure> {
        self.relaxation.solve(SimplexMethod::Dual)
    }

    /// Solves only.
    pub(super) fn run(&mut self) -> Result<LpStatus, SolveFailure> {
        self.relaxation.run(SimplexMethod::Dual)
    }

    /// Objective of the last solve.
    pub(super) fn objective(&self) -> f64 {
        self.relaxation.lp.objective() / self.factor
    }

    /// What the duals of the last solve prove within the present bounds; overwrites `reduced` with
    /// the reduced costs of all edges. Duals of the wrong sign count as zero, so this is a bound
    /// whatever they are.
    pub(super) fn bound(&self, reduced: &mut Vec<f64>) -> f64 {
        reduced.clone_from(&self.costs);
        let dual = |row: usize| self.relaxation.point.dual[row] / self.factor;
        let depot = dual(0).min(0.0);
        let mut total =
            depot * self.most_depot + (1..self.nodes).map(|row| 2.0 * dual(row)).sum::<f64>();
        for ([i, j], reduced) in self.edges.iter().zip(reduced.iter_mut()) {
            *reduced -= dual(*j as usize) + if *i == 0 { depot } else { dual(*i as usize) };
        }
        for (row, place) in self.relaxation.cut_indices().iter().enumerate() {
            let (price, limits) = (dual(self.nodes + row), self.limits[*place as usize]);
            let limit = if price > 0.0 { limits[0] } else { limits[1] };
            if price != 0.0 && limit.is_finite() {
                total += price * limit;
                let entries = &self.pool[*place as usize].entries;
                entries
                    .iter()
                    .for_each(|(column, value)| reduced[*column as usize] -= price * value);
            }
        }
        let paid = reduced
            .iter()
            .zip(self.relaxation.bounds())
            .map(|(reduced, [lower, upper])| reduced * if *reduced < 0.0 { upper } else { lower });
        total + paid.sum::<f64>()
    }

    /// How far each cost may move, alone, before the optimal basis changes.
    pub(super) fn cost_ranges(&mut self) -> Result<Vec<[f64; 2]>, SolveFailure> {
        let ranges = self.relaxation.lp.cost_ranges()?;
        let outer = |(lower, upper): (f64, f64)| [lower / self.factor, upper / self.factor];
        Ok(ranges
            .lower
            .into_iter()
            .zip(ranges.upper)
            .map(outer)
            .collect())
    }

    /// The present basis.
    pub(super) fn snapshot(&self) -> Option<BasisSnapshot> {
        self.relaxation.snapshot()
    }

    /// Takes up a basis again; rows that were tight in it return.
    pub(super) fn restore(&mut self, snapshot: &BasisSnapshot) -> Result<(), SolveFailure> {
        let missing = self.relaxation.missing(snapshot);
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        self.relaxation.restore(snapshot)
    }
}
