//! The linear relaxation: a sparse set of edges as columns, one row per node, cuts as further rows.
//!
//! Costs inside are shifted by node multipliers and scaled: as every node has degree 2 this moves the
//! objective by a constant and leaves the optimal points alone, while the numbers become small and mostly
//! positive whatever the costs were. What comes out is in the units of the costs again.
//!
//! Cuts are known by their place in a pool that never forgets, so that a basis can be taken up again
//! after rows were dropped: it names the cuts that were tight, and these return.

use super::cuts::{Cut, Nesting};
use super::price::Prices;
use crate::solve::Failure;
use crate::solve::highs::{Basic, Basis, Columns, Lp, Outcome, Point, Rows, Simplex, Stand};
use crate::solve::tour::edges::Distances;

/// The two nodes an edge joins, the lower first.
pub(super) type Ends = [u32; 2];

const ABSENT: u32 = u32::MAX;
/// Solves that a row may be slack before it is dropped.
const PATIENCE: u32 = 6;

/// Shift and scale of costs.
#[derive(Debug, Clone, Default)]
pub(super) struct Units {
    pub(super) multipliers: Vec<f64>,
    /// Costs times this are what the linear relaxation sees; a power of two.
    pub(super) factor: f64,
}

impl Units {
    /// Units in which these edges have costs of moderate size.
    pub(super) fn fitting(distances: &Distances, multipliers: &[f64], edges: &[Ends]) -> Self {
        let mut units = Self { multipliers: multipliers.to_vec(), factor: 1.0 };
        let total: f64 = edges.iter().map(|ends| units.inner(distances, *ends).abs()).sum();
        let mean = total / edges.len().max(1) as f64;
        if mean > 0.0 && mean.is_finite() {
            units.factor = 2.0_f64.powi((2.0 - mean.log2().round()).clamp(-500.0, 500.0) as i32);
        }
        units
    }

    fn inner(&self, distances: &Distances, [i, j]: Ends) -> f64 {
        self.factor * (distances.between(i, j) - self.multipliers[i as usize] - self.multipliers[j as usize])
    }

    /// What a total inside is in the costs' own units.
    fn outer(&self, total: f64) -> f64 {
        total / self.factor + 2.0 * self.multipliers.iter().sum::<f64>()
    }

    fn inner_total(&self, total: f64) -> f64 {
        (total - 2.0 * self.multipliers.iter().sum::<f64>()) * self.factor
    }
}

/// A basis that survives changes of rows and columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    columns: Box<[Stand]>,
    degrees: Box<[Stand]>,
    /// Cuts that are not slack, by their place in the pool.
    tight: Box<[u32]>,
}

/// The linear relaxation and its solver.
#[derive(Debug)]
pub(super) struct Master {
    nodes: usize,
    lp: Lp,
    units: Units,
    pub(super) edges: Vec<Ends>,
    bounds: Vec<[f64; 2]>,
    /// Columns at each node.
    at: Vec<Vec<u32>>,
    pool: Vec<Cut>,
    /// Row of each cut of the pool, behind the rows of the nodes.
    row_of: Vec<u32>,
    /// Cut of each row.
    cut_of: Vec<u32>,
    /// Solves for which each row has been slack.
    idle: Vec<u32>,
    pub(super) point: Point,
    counts: Vec<u32>,
    nesting: Nesting,
    method: Option<Simplex>,
}

impl Master {
    /// The solver, to be used again.
    pub(super) fn into_lp(self) -> Lp {
        self.lp
    }

    /// Degree rows and no edges yet, in a solver that may have been used before.
    pub(super) fn within(mut lp: Lp, nodes: usize, units: Units) -> Result<Self, Failure> {
        lp.clear()?;
        lp.set_option(c"simplex_dual_edge_weight_strategy", 1)?;
        lp.set_option(c"simplex_scale_strategy", 0)?;
        lp.set_option(c"dual_feasibility_tolerance", 1e-9)?;
        lp.set_option(c"primal_feasibility_tolerance", 1e-9)?;
        let mut rows = Rows::default();
        (0..nodes).for_each(|_| rows.push([2.0, 2.0], []));
        lp.add_rows(&rows)?;
        Ok(Self {
            nodes,
            lp,
            units,
            edges: Vec::new(),
            bounds: Vec::new(),
            at: vec![Vec::new(); nodes],
            pool: Vec::new(),
            row_of: Vec::new(),
            cut_of: Vec::new(),
            idle: Vec::new(),
            point: Point::default(),
            counts: Vec::new(),
            nesting: Nesting::default(),
            method: None,
        })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Costs times this are what the linear relaxation sees.
    pub(super) fn factor(&self) -> f64 {
        self.units.factor
    }

    /// Adds edges as columns.
    pub(super) fn add_edges(&mut self, distances: &Distances, edges: &[Ends]) -> Result<(), Failure> {
        let rows = self.cut_of.iter().enumerate().map(|(row, cut)| (row as u32, &self.pool[*cut as usize]));
        self.nesting.fill(self.nodes, rows);
        let mut columns = Columns::default();
        let mut inside: Vec<(usize, f64)> = Vec::new();
        for ends in edges {
            inside.clear();
            inside.extend(ends.iter().map(|node| (*node as usize, 1.0)));
            self.nesting.around_both(ends[0], ends[1], |row| {
                let row = self.nodes + row as usize;
                match inside.last_mut() {
                    Some(last) if last.0 == row => last.1 += 1.0,
                    _ => inside.push((row, 1.0)),
                }
            });
            columns.push(self.units.inner(distances, *ends), [0.0, 1.0], inside.iter().copied());
            ends.iter().for_each(|node| self.at[*node as usize].push(self.edges.len() as u32));
            self.edges.push(*ends);
            self.bounds.push([0.0, 1.0]);
        }
        self.lp.add_columns(&columns)
    }

    /// Adds cuts to the pool and as rows; rows that have been slack for long go first.
    pub(super) fn add_cuts(&mut self, cuts: Vec<Cut>) -> Result<(), Failure> {
        self.drop_idle()?;
        let first = self.pool.len() as u32;
        let numbers: Vec<u32> = (first..first + cuts.len() as u32).collect();
        self.pool.extend(cuts);
        self.row_of.resize(self.pool.len(), ABSENT);
        self.add_rows(&numbers)
    }

    fn add_rows(&mut self, cuts: &[u32]) -> Result<(), Failure> {
        let mut rows = Rows::default();
        self.counts.resize(self.edges.len(), 0);
        for number in cuts {
            let entries = self.entries(*number);
            let most = f64::from(self.pool[*number as usize].most);
            rows.push([f64::NEG_INFINITY, most], entries);
            self.row_of[*number as usize] = self.cut_of.len() as u32;
            self.cut_of.push(*number);
            self.idle.push(0);
        }
        self.lp.add_rows(&rows)
    }

    /// Coefficients of a cut: how many of its sets hold each edge.
    fn entries(&mut self, cut: u32) -> Vec<(usize, f64)> {
        let mut touched = Vec::new();
        for set in &self.pool[cut as usize].sets {
            for node in set {
                for column in &self.at[*node as usize] {
                    let [low, high] = self.edges[*column as usize];
                    if low == *node && set.binary_search(&high).is_ok() {
                        if self.counts[*column as usize] == 0 {
                            touched.push(*column);
                        }
                        self.counts[*column as usize] += 1;
                    }
                }
            }
        }
        touched.sort_unstable();
        touched.iter().map(|c| (*c as usize, f64::from(std::mem::take(&mut self.counts[*c as usize])))).collect()
    }

    /// Drops rows that have been slack for long, if that is worth the trouble.
    fn drop_idle(&mut self) -> Result<(), Failure> {
        let idle = self.idle.iter().filter(|idle| **idle > PATIENCE).count();
        if idle < 10 + self.idle.len() / 4 {
            return Ok(());
        }
        let Some(basis) = self.lp.basis() else { return Ok(()) };
        let stands = &basis.rows[self.nodes..];
        let doomed: Vec<bool> =
            self.idle.iter().zip(stands).map(|(idle, stand)| *idle > PATIENCE && *stand == Stand::Basic).collect();
        self.delete_rows(&doomed, basis)
    }

    fn delete_rows(&mut self, doomed: &[bool], mut basis: Basis) -> Result<(), Failure> {
        let mask: Vec<bool> = std::iter::repeat_n(false, self.nodes).chain(doomed.iter().copied()).collect();
        self.lp.delete_rows(&mask)?;
        retain_unmarked(&mut basis.rows, &mask);
        retain_unmarked(&mut self.idle, doomed);
        self.cut_of
            .iter()
            .zip(doomed)
            .filter(|(_, doomed)| **doomed)
            .for_each(|(cut, _)| self.row_of[*cut as usize] = ABSENT);
        retain_unmarked(&mut self.cut_of, doomed);
        self.cut_of.iter().enumerate().for_each(|(row, cut)| self.row_of[*cut as usize] = row as u32);
        self.lp.set_basis(&basis)
    }

    /// Drops the marked columns but those in the basis.
    pub(super) fn drop_edges(&mut self, mut doomed: Vec<bool>) -> Result<(), Failure> {
        let basis = self.lp.basis();
        let stands = basis.iter().flat_map(|basis| &basis.columns);
        doomed.iter_mut().zip(stands).for_each(|(doomed, stand)| *doomed &= *stand != Stand::Basic);
        let doomed = &doomed[..];
        self.lp.delete_columns(doomed)?;
        retain_unmarked(&mut self.edges, doomed);
        retain_unmarked(&mut self.bounds, doomed);
        self.at.iter_mut().for_each(Vec::clear);
        for (column, ends) in self.edges.iter().enumerate() {
            ends.iter().for_each(|node| self.at[*node as usize].push(column as u32));
        }
        self.counts.truncate(self.edges.len());
        let Some(mut basis) = basis else { return Ok(()) };
        retain_unmarked(&mut basis.columns, doomed);
        self.lp.set_basis(&basis)
    }

    /// Limits an edge to these values.
    pub(super) fn set_bounds(&mut self, column: usize, bounds: [f64; 2]) -> Result<(), Failure> {
        if self.bounds[column] != bounds {
            self.bounds[column] = bounds;
            self.lp.set_column_bounds(column, bounds)?;
        }
        Ok(())
    }

    /// Least and greatest value of an edge.
    pub(super) fn bounds(&self, column: usize) -> [f64; 2] {
        self.bounds[column]
    }

    /// Lets solves stop once the objective is above this.
    pub(super) fn stop_above(&mut self, total: f64) -> Result<(), Failure> {
        self.lp.stop_above(if total.is_finite() { self.units.inner_total(total) } else { total })
    }

    /// Solves and reads the point.
    pub(super) fn solve(&mut self, method: Simplex) -> Result<Outcome, Failure> {
        let outcome = self.run(method)?;
        if outcome == Outcome::Optimal || outcome == Outcome::BoundPassed {
            self.lp.read_point(&mut self.point)?;
            let rows = self.point.dual[self.nodes..].iter();
            self.idle.iter_mut().zip(rows).for_each(|(idle, dual)| *idle = if *dual < 0.0 { 0 } else { *idle + 1 });
        }
        Ok(outcome)
    }

    /// Solves only.
    pub(super) fn run(&mut self, method: Simplex) -> Result<Outcome, Failure> {
        if self.method != Some(method) {
            self.lp.use_simplex(method)?;
            self.method = Some(method);
        }
        self.lp.solve()
    }

    /// Objective of the last solve.
    pub(super) fn objective(&self) -> f64 {
        self.units.outer(self.lp.objective())
    }

    /// Dual values of the last solve as prices.
    pub(super) fn read_prices(&self, prices: &mut Prices) {
        let (factor, dual) = (self.units.factor, &self.point.dual);
        let potential = self.units.multipliers.iter().zip(dual).map(|(multiplier, dual)| multiplier + dual / factor);
        let cuts = self.cut_of.iter().map(|cut| &self.pool[*cut as usize]);
        prices.load(potential, dual[self.nodes..].iter().zip(cuts).map(|(dual, cut)| (-dual / factor, cut)));
    }

    /// What prices prove for the edges in here, within their present bounds.
    pub(super) fn bound(&self, distances: &Distances, prices: &Prices) -> f64 {
        let paid = self.edges.iter().zip(&self.bounds).map(|([i, j], [lower, upper])| {
            let reduced = prices.reduced(distances.between(*i, *j), *i, *j);
            reduced * if reduced < 0.0 { upper } else { lower }
        });
        prices.constant + paid.sum::<f64>()
    }

    /// The present basis.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        let basis = self.lp.basis()?;
        let (degrees, cuts) = basis.rows.split_at(self.nodes);
        let tight = self.cut_of.iter().zip(cuts).filter(|(_, stand)| **stand != Stand::Basic).map(|(cut, _)| *cut);
        Some(Snapshot { columns: basis.columns.into(), degrees: degrees.into(), tight: tight.collect() })
    }

    /// Takes up a basis again; cuts that were tight in it return.
    pub(super) fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        let missing: Vec<u32> =
            snapshot.tight.iter().copied().filter(|cut| self.row_of[*cut as usize] == ABSENT).collect();
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        let mut columns = snapshot.columns.to_vec();
        columns.resize(self.edges.len(), Stand::Lower);
        let mut rows = snapshot.degrees.to_vec();
        rows.resize(self.nodes + self.cut_of.len(), Stand::Basic);
        snapshot.tight.iter().for_each(|cut| rows[self.nodes + self.row_of[*cut as usize] as usize] = Stand::Upper);
        self.lp.set_basis(&Basis { columns, rows })
    }

    /// Starts from a basis of these very columns and rows.
    pub(super) fn take_up(&mut self, basis: &Basis) -> Result<(), Failure> {
        self.lp.set_basis(basis)
    }

    /// Starts from a tour: its edges, in order, make a basis; an odd ring does as it is, an even one
    /// gives one edge for a chord that closes an odd ring.
    pub(super) fn start_from_tour(&mut self, order: &[u32]) -> Result<(), Failure> {
        let mut place = vec![0_u32; self.nodes];
        order.iter().enumerate().for_each(|(at, node)| place[*node as usize] = at as u32);
        let on_tour = |ends: &Ends| {
            let [low, high] = ends.map(|node| place[node as usize]);
            low.abs_diff(high) == 1 || low.abs_diff(high) as usize == self.nodes - 1
        };
        let mut columns: Vec<Stand> =
            self.edges.iter().map(|ends| if on_tour(ends) { Stand::Basic } else { Stand::Lower }).collect();
        if self.nodes.is_multiple_of(2) {
            let even = |ends: &Ends| place[ends[0] as usize].abs_diff(place[ends[1] as usize]).is_multiple_of(2);
            let chord = self.edges.iter().position(even);
            let (Some(chord), Some(left)) = (chord, self.edges.iter().position(|e| closes(e, order))) else {
                return Ok(());
            };
            columns[chord] = Stand::Basic;
            columns[left] = Stand::Upper;
        }
        self.lp.set_basis(&Basis { columns, rows: vec![Stand::Lower; self.nodes] })
    }

    /// Where columns and rows stand.
    pub(super) fn stands(&self) -> Option<Basis> {
        self.lp.basis()
    }

    /// Members of the basis.
    pub(super) fn members(&mut self) -> Result<Vec<Basic>, Failure> {
        self.lp.basic_variables()
    }

    /// What the duals gain when a member of the basis becomes dearer by one.
    pub(super) fn inverse_row(&mut self, member: usize, out: &mut Vec<f64>) -> Result<(), Failure> {
        self.lp.inverse_row(member, out)
    }

    /// The cuts that are rows, in their order.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &Cut> + Clone {
        self.cut_of.iter().map(|cut| &self.pool[*cut as usize])
    }

    /// Dual values of cuts in the units of costs; never positive at an optimum.
    pub(super) fn cut_duals(&self) -> impl Iterator<Item = f64> + '_ {
        self.point.dual[self.nodes..].iter().map(|dual| dual / self.units.factor)
    }
}

fn closes(ends: &Ends, order: &[u32]) -> bool {
    order.first().is_some_and(|first| ends.contains(first)) && order.last().is_some_and(|last| ends.contains(last))
}

/// Keeps the items whose mark is not set.
fn retain_unmarked<T>(items: &mut Vec<T>, marks: &[bool]) {
    let mut marks = marks.iter();
    items.retain(|_| !marks.next().copied().unwrap_or(false));
}
