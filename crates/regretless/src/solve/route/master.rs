//! The linear relaxation: edges as columns, degrees and inequalities around sets as rows.
//!
//! Row 0 is the depot, whose degree is at most twice the vehicles; row i is customer i, of degree 2.
//! Costs inside are scaled by a power of two to moderate size; what comes out is in the units of the
//! costs. Further rows are known by their place in a pool that never forgets, so that a basis can be
//! taken up again after rows were dropped: it names the rows that were tight, and these return.

use super::fleet::Fleet;
use super::rows::{Cut, Ends, Row};
use crate::solve::Failure;
use crate::solve::highs::{Basis, Columns, Lp, Outcome, Point, Rows, Simplex, Stand};
use crate::solve::tour::edges::Distances;

const ABSENT: u32 = u32::MAX;
/// Solves that a row may be slack before it is dropped.
const PATIENCE: u32 = 10;

/// A basis that survives changes of rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    columns: Box<[Stand]>,
    degrees: Box<[Stand]>,
    /// Rows of the pool that are not slack.
    tight: Box<[(u32, Stand)]>,
}

/// The linear relaxation and its solver.
#[derive(Debug)]
pub(super) struct Master {
    nodes: usize,
    most_depot: f64,
    lp: Lp,
    factor: f64,
    pub(super) edges: Vec<Ends>,
    pub(super) costs: Vec<f64>,
    /// Bounds that hold everywhere.
    pub(super) base: Vec<[f64; 2]>,
    bounds: Vec<[f64; 2]>,
    pool: Vec<Row>,
    /// Present bounds of each row of the pool.
    limits: Vec<[f64; 2]>,
    row_of: Vec<u32>,
    cut_of: Vec<u32>,
    idle: Vec<u32>,
    pub(super) point: Point,
}

impl Master {
    /// The relaxation by degrees alone.
    pub(super) fn new(fleet: &Fleet, distances: &Distances) -> Result<Self, Failure> {
        let nodes = fleet.nodes() as u32;
        let most_depot = 2.0 * fleet.vehicles as f64;
        let edges: Vec<Ends> = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| [i, j])).collect();
        let edges: Vec<Ends> = edges.into_iter().filter(|ends| fleet.most_uses(*ends) > 0.0).collect();
        let costs: Vec<f64> = edges.iter().map(|[i, j]| distances.between(*i, *j)).collect();
        let base: Vec<[f64; 2]> = edges.iter().map(|ends| [0.0, fleet.most_uses(*ends)]).collect();
        let mut master = Self {
            nodes: fleet.nodes(),
            most_depot,
            lp: Lp::new()?,
            factor: fitting_factor(&costs),
            bounds: base.clone(),
            edges,
            costs,
            base,
            pool: Vec::new(),
            limits: Vec::new(),
            row_of: Vec::new(),
            cut_of: Vec::new(),
            idle: Vec::new(),
            point: Point::default(),
        };
        master.begin()?;
        Ok(master)
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.lp.set_option(c"simplex_dual_edge_weight_strategy", 1)?;
        self.lp.set_option(c"simplex_scale_strategy", 0)?;
        self.lp.set_option(c"dual_feasibility_tolerance", 1e-9)?;
        self.lp.set_option(c"primal_feasibility_tolerance", 1e-9)?;
        self.lp.use_simplex(Simplex::Dual)?;
        let mut rows = Rows::default();
        rows.push([f64::NEG_INFINITY, self.most_depot], []);
        (1..self.nodes).for_each(|_| rows.push([2.0, 2.0], []));
        self.lp.add_rows(&rows)?;
        let mut columns = Columns::default();
        for ((ends, cost), bounds) in self.edges.iter().zip(&self.costs).zip(&self.base) {
            columns.push(cost * self.factor, *bounds, ends.iter().map(|node| (*node as usize, 1.0)));
        }
        self.lp.add_columns(&columns)
    }

    /// Adds rows around sets; returns the place of the first in the pool.
    pub(super) fn add_cuts(&mut self, cuts: &[Cut]) -> Result<u32, Failure> {
        self.drop_idle()?;
        let first = self.pool.len() as u32;
        for cut in cuts {
            let (row, _) = cut.row(self.nodes, &self.edges);
            self.limits.push(row.bounds);
            self.pool.push(row);
            self.row_of.push(ABSENT);
        }
        let places: Vec<u32> = (first..self.pool.len() as u32).collect();
        self.add_rows(&places)?;
        Ok(first)
    }

    fn add_rows(&mut self, places: &[u32]) -> Result<(), Failure> {
        let mut rows = Rows::default();
        for place in places {
            let row = &self.pool[*place as usize];
            let entries = row.entries.iter().map(|(column, value)| (*column as usize, *value));
            rows.push(self.limits[*place as usize], entries);
            self.row_of[*place as usize] = self.cut_of.len() as u32;
            self.cut_of.push(*place);
            self.idle.push(0);
        }
        self.lp.add_rows(&rows)
    }

    /// Drops rows that have been slack for long, if that is worth the trouble.
    fn drop_idle(&mut self) -> Result<(), Failure> {
        let idle = self.idle.iter().filter(|idle| **idle > PATIENCE).count();
        if idle < 10 + self.idle.len() / 4 {
            return Ok(());
        }
        let Some(basis) = self.lp.basis() else { return Ok(()) };
        let stands = &basis.rows[self.nodes..];
        let doomed = self.idle.iter().zip(stands).zip(&self.cut_of).map(|((idle, stand), place)| {
            let special = self.limits[*place as usize] != self.pool[*place as usize].bounds;
            *idle > PATIENCE && *stand == Stand::Basic && !special
        });
        let doomed: Vec<bool> = doomed.collect();
        self.delete_rows(&doomed, basis)
    }

    fn delete_rows(&mut self, doomed: &[bool], mut basis: Basis) -> Result<(), Failure> {
        let mask: Vec<bool> = std::iter::repeat_n(false, self.nodes).chain(doomed.iter().copied()).collect();
        self.lp.delete_rows(&mask)?;
        retain_unmarked(&mut basis.rows, &mask);
        retain_unmarked(&mut self.idle, doomed);
        let gone = self.cut_of.iter().zip(doomed).filter(|(_, doomed)| **doomed);
        gone.for_each(|(place, _)| self.row_of[*place as usize] = ABSENT);
        retain_unmarked(&mut self.cut_of, doomed);
        self.cut_of.iter().enumerate().for_each(|(row, place)| self.row_of[*place as usize] = row as u32);
        self.lp.set_basis(&basis)
    }

    /// Drops the marked columns but those in the basis.
    pub(super) fn drop_edges(&mut self, mut doomed: Vec<bool>) -> Result<Vec<bool>, Failure> {
        let Some(mut basis) = self.lp.basis() else { return Ok(vec![false; doomed.len()]) };
        doomed.iter_mut().zip(&basis.columns).for_each(|(doomed, stand)| *doomed &= *stand != Stand::Basic);
        self.lp.delete_columns(&doomed)?;
        let mut kept = 0;
        let numbers: Vec<u32> = doomed
            .iter()
            .map(|doomed| {
                kept += u32::from(!doomed);
                if *doomed { ABSENT } else { kept - 1 }
            })
            .collect();
        for row in &mut self.pool {
            row.entries.iter_mut().for_each(|(column, _)| *column = numbers[*column as usize]);
            row.entries.retain(|(column, _)| *column != ABSENT);
        }
        retain_unmarked(&mut self.edges, &doomed);
        retain_unmarked(&mut self.costs, &doomed);
        retain_unmarked(&mut self.base, &doomed);
        retain_unmarked(&mut self.bounds, &doomed);
        retain_unmarked(&mut basis.columns, &doomed);
        self.lp.set_basis(&basis)?;
        Ok(doomed)
    }

    /// Limits an edge to these values.
    pub(super) fn set_bounds(&mut self, column: usize, bounds: [f64; 2]) -> Result<(), Failure> {
        if self.bounds[column] != bounds {
            self.bounds[column] = bounds;
            self.lp.set_column_bounds(column, bounds)?;
        }
        Ok(())
    }

    /// Least and greatest value of an edge at present.
    pub(super) fn bounds(&self, column: usize) -> [f64; 2] {
        self.bounds[column]
    }

    /// What a row of the pool is at the present point.
    pub(super) fn activity(&self, place: u32) -> f64 {
        let entries = &self.pool[place as usize].entries;
        entries.iter().map(|(column, value)| value * self.point.value[*column as usize]).sum()
    }

    /// Limits a row of the pool to these values; it becomes a row if it is none.
    pub(super) fn set_limits(&mut self, place: u32, limits: [f64; 2]) -> Result<(), Failure> {
        if self.limits[place as usize] == limits {
            return Ok(());
        }
        self.limits[place as usize] = limits;
        match self.row_of[place as usize] {
            ABSENT => self.add_rows(&[place]),
            row => self.lp.set_row_bounds(self.nodes + row as usize, limits),
        }
    }

    /// Limits of a row of the pool at present.
    pub(super) fn limits(&self, place: u32) -> [f64; 2] {
        self.limits[place as usize]
    }

    /// Takes back all bounds and limits that do not hold everywhere.
    pub(super) fn release(&mut self) -> Result<(), Failure> {
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
    pub(super) fn stop_above(&mut self, total: f64) -> Result<(), Failure> {
        self.lp.stop_above(total * self.factor)
    }

    /// Lets solves stop after so many steps.
    pub(super) fn limit_steps(&mut self, most: Option<u32>) -> Result<(), Failure> {
        self.lp.limit_iterations(most)
    }

    /// Solves and reads the point.
    pub(super) fn solve(&mut self) -> Result<Outcome, Failure> {
        let outcome = self.lp.solve()?;
        if outcome == Outcome::Optimal || outcome == Outcome::BoundPassed {
            self.lp.read_point(&mut self.point)?;
            let duals = self.point.dual[self.nodes..].iter();
            self.idle.iter_mut().zip(duals).for_each(|(idle, dual)| *idle = if *dual != 0.0 { 0 } else { *idle + 1 });
        }
        Ok(outcome)
    }

    /// Solves only.
    pub(super) fn run(&mut self) -> Result<Outcome, Failure> {
        self.lp.solve()
    }

    /// Objective of the last solve.
    pub(super) fn objective(&self) -> f64 {
        self.lp.objective() / self.factor
    }

    /// What the duals of the last solve prove within the present bounds; overwrites `reduced` with the
    /// reduced costs of all edges. Duals of the wrong sign count as zero, so this is a bound whatever
    /// they are.
    pub(super) fn bound(&self, reduced: &mut Vec<f64>) -> f64 {
        reduced.clone_from(&self.costs);
        let dual = |row: usize| self.point.dual[row] / self.factor;
        let depot = dual(0).min(0.0);
        let mut total = depot * self.most_depot + (1..self.nodes).map(|row| 2.0 * dual(row)).sum::<f64>();
        for ([i, j], reduced) in self.edges.iter().zip(reduced.iter_mut()) {
            *reduced -= dual(*j as usize) + if *i == 0 { depot } else { dual(*i as usize) };
        }
        for (row, place) in self.cut_of.iter().enumerate() {
            let (price, limits) = (dual(self.nodes + row), self.limits[*place as usize]);
            let limit = if price > 0.0 { limits[0] } else { limits[1] };
            if price != 0.0 && limit.is_finite() {
                total += price * limit;
                let entries = &self.pool[*place as usize].entries;
                entries.iter().for_each(|(column, value)| reduced[*column as usize] -= price * value);
            }
        }
        let paid = reduced
            .iter()
            .zip(&self.bounds)
            .map(|(reduced, [lower, upper])| reduced * if *reduced < 0.0 { upper } else { lower });
        total + paid.sum::<f64>()
    }

    /// How far each cost may move, alone, before the optimal basis changes.
    pub(super) fn cost_ranges(&mut self) -> Result<Vec<[f64; 2]>, Failure> {
        let ranges = self.lp.cost_ranges()?;
        let outer = |(lower, upper): (f64, f64)| [lower / self.factor, upper / self.factor];
        Ok(ranges.lower.into_iter().zip(ranges.upper).map(outer).collect())
    }

    /// The present basis.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        let basis = self.lp.basis()?;
        let (degrees, cuts) = basis.rows.split_at(self.nodes);
        let tight = self.cut_of.iter().copied().zip(cuts.iter().copied()).filter(|(_, stand)| *stand != Stand::Basic);
        Some(Snapshot { columns: basis.columns.into(), degrees: degrees.into(), tight: tight.collect() })
    }

    /// Takes up a basis again; rows that were tight in it return.
    pub(super) fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        let places = snapshot.tight.iter().map(|(place, _)| *place);
        let missing: Vec<u32> = places.filter(|place| self.row_of[*place as usize] == ABSENT).collect();
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        let mut rows = snapshot.degrees.to_vec();
        rows.resize(self.nodes + self.cut_of.len(), Stand::Basic);
        for (place, stand) in &snapshot.tight {
            rows[self.nodes + self.row_of[*place as usize] as usize] = *stand;
        }
        self.lp.set_basis(&Basis { columns: snapshot.columns.to_vec(), rows })
    }
}

/// A power of two that brings costs to moderate size.
fn fitting_factor(costs: &[f64]) -> f64 {
    let mean = costs.iter().map(|cost| cost.abs()).sum::<f64>() / costs.len().max(1) as f64;
    if mean > 0.0 && mean.is_finite() {
        2.0_f64.powi((3.0 - mean.log2().round()).clamp(-500.0, 500.0) as i32)
    } else {
        1.0
    }
}

/// Keeps the items whose mark is not set.
fn retain_unmarked<T>(items: &mut Vec<T>, marks: &[bool]) {
    let mut marks = marks.iter();
    items.retain(|_| !marks.next().copied().unwrap_or(false));
}
