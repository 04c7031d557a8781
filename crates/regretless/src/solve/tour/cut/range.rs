//! How far each cost may move while the optimal basis of a relaxation stays optimal.
//!
//! An edge out of the basis may move until its reduced cost changes sign. When the cost of an edge in the
//! basis moves by Δ, the reduced cost d of every other edge moves by −Δ·α, where α is its entry in that
//! edge's row of B⁻¹A; the range ends where the first of them, or the first dual of a tight cut, changes
//! sign. Edges that are no columns count like all others. They are tried in the order of |d|: once |d|
//! exceeds what any α of the row could undo within the range found so far, the rest cannot matter.

use super::begin::number;
use super::cuts::Nesting;
use super::master::Ends;
use super::root::Root;
use crate::solve::Failure;
use crate::solve::highs::{Basic, Stand};
use crate::solve::relax::Ranges;
use crate::solve::tour::edges::Distances;

/// Entries of a row that are smaller count as zero.
const TINY: f64 = 1e-9;

/// The ranges of all costs after [`Root::tighten`].
pub(super) fn ranges(root: &mut Root, distances: &Distances) -> Result<Ranges, Failure> {
    let nodes = distances.nodes();
    let Some(basis) = root.master.stands() else {
        return Err(Failure::Engine("the relaxation has no basis".into()));
    };
    let mut stand = vec![Stand::Lower; nodes * (nodes - 1) / 2];
    for (ends, column) in root.master.edges.iter().zip(&basis.columns) {
        stand[number(nodes, *ends) as usize] = *column;
    }
    let mut found = Ranges { lower: vec![f64::NEG_INFINITY; stand.len()], upper: vec![f64::INFINITY; stand.len()] };
    let mut near = Vec::new();
    root.prices.scan(distances, f64::INFINITY, |i, j, reduced| {
        let (edge, cost) = (number(nodes, [i, j]) as usize, distances.between(i, j));
        match stand[edge] {
            Stand::Basic => return,
            Stand::Upper => found.upper[edge] = cost - reduced.min(0.0),
            Stand::Lower | Stand::Zero | Stand::Nonbasic => found.lower[edge] = cost - reduced.max(0.0),
        }
        near.push(Near { margin: reduced.abs(), ends: [i, j], upper: stand[edge] == Stand::Upper });
    });
    let mut search = Search::new(root, &basis.rows, near);
    for (member, basic) in root.master.members()?.into_iter().enumerate() {
        if let Basic::Column(column) = basic {
            root.master.inverse_row(member, &mut search.row)?;
            let [down, up] = search.range();
            let ends = root.master.edges[column];
            let (edge, cost) = (number(nodes, ends) as usize, distances.between(ends[0], ends[1]));
            (found.lower[edge], found.upper[edge]) = (cost - down, cost + up);
        }
    }
    Ok(found)
}

/// An edge out of the basis.
#[derive(Debug, Clone, Copy)]
struct Near {
    /// Absolute reduced cost.
    margin: f64,
    ends: Ends,
    /// Whether its value is 1.
    upper: bool,
}

/// What the ratio tests look at.
struct Search {
    nodes: usize,
    near: Vec<Near>,
    /// Tight cuts: their rows and absolute duals, and the sets of each.
    tight: Vec<(usize, f64)>,
    nesting: Nesting,
    /// How many sets each tight cut has.
    sets: Vec<(u32, Vec<u32>)>,
    row: Vec<f64>,
    cap: Vec<f64>,
}

impl Search {
    fn new(root: &Root, rows: &[Stand], mut near: Vec<Near>) -> Self {
        let nodes = root.master.nodes();
        near.sort_unstable_by(|a, b| a.margin.total_cmp(&b.margin).then(a.ends.cmp(&b.ends)));
        let master = &root.master;
        let is_tight = |row: &usize| rows[nodes + row] != Stand::Basic;
        let duals: Vec<f64> = master.cut_duals().collect();
        let tight = (0..duals.len()).filter(is_tight).map(|row| (nodes + row, duals[row].min(0.0).abs())).collect();
        let mut nesting = Nesting::default();
        let cuts = master.cuts().enumerate().filter(|(row, _)| is_tight(row));
        nesting.fill(nodes, cuts.clone().map(|(row, cut)| ((nodes + row) as u32, cut)));
        let sets = cuts.flat_map(|(row, cut)| cut.sets.iter().map(move |set| ((nodes + row) as u32, set.to_vec())));
        Self { nodes, near, tight, nesting, sets: sets.collect(), row: Vec::new(), cap: Vec::new() }
    }

    /// How far the cost behind the present row may fall and rise.
    fn range(&mut self) -> [f64; 2] {
        let mut limit = [f64::INFINITY; 2];
        for (row, dual) in &self.tight {
            // The dual −|dual| must not become positive.
            shorten(&mut limit, *dual, self.row[*row]);
        }
        let most = self.greatest_entry();
        for near in &self.near {
            if near.margin > limit[0].max(limit[1]) * most {
                break;
            }
            let entry = self.entry(near.ends);
            shorten(&mut limit, near.margin, if near.upper { -entry } else { entry });
        }
        limit
    }

    /// Entry of the present row for an edge.
    fn entry(&self, [i, j]: Ends) -> f64 {
        let mut entry = self.row[i as usize] + self.row[j as usize];
        self.nesting.around_both(i, j, |row| entry += self.row[row as usize]);
        entry
    }

    /// A bound on the absolute entries of all edges.
    fn greatest_entry(&mut self) -> f64 {
        self.cap.clear();
        self.cap.resize(self.nodes, 0.0);
        for (row, set) in &self.sets {
            let entry = self.row[*row as usize].abs();
            if entry > TINY {
                set.iter().for_each(|node| self.cap[*node as usize] += entry);
            }
        }
        let caps = self.cap.iter().zip(&self.row).map(|(sets, own)| 2.0 * own.abs() + sets);
        caps.fold(0.0, f64::max)
    }
}

/// Shortens the limits so that a margin that moves by −Δ·entry stays non-negative.
fn shorten([down, up]: &mut [f64; 2], margin: f64, entry: f64) {
    if entry > TINY {
        *up = up.min(margin / entry);
    } else if entry < -TINY {
        *down = down.min(margin / -entry);
    }
}
