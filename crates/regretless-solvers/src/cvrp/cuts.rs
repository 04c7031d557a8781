//! Valid inequalities on sets of customers, as rows of the master LP.
//!
//! Notation: x(F) is the total value of the edges F, δ(S) are the edges that leave a set S, E(S)
//! those within S, and 0:S those between the depot and S. All inequalities bound x(δ(S))/2 − x(T)
//! for some edges T of δ(S):
//!
//! * rounded capacity: x(δ(S))/2 ≥ k(S), the demand of S in vehicle loads, rounded up (Laporte and
//!   Nobert 1983);
//! * blossom: x(δ(S))/2 − x(T) ≥ (1 − |T|)/2 for a handle S and an odd number of teeth T, edges
//!   that are used at most once (Edmonds 1965);
//! * branching: every route crosses δ(S) an even number of times, so x(δ(S))/2 is integral.
//!
//! As customers have degree 2, x(δ(S))/2 is |S| − x(E(S)), and with R the other customers also |R|
//! − x(E(R)) + x(0:S)/2 − x(0:R)/2; the row uses the form with fewer nonzeros.

pub(super) use crate::complete_graph::EdgeEnds;

/// A row of the master LP: bounds and nonzeros.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CutRow {
    pub(super) bounds: [f64; 2],
    pub(super) entries: Vec<(u32, f64)>,
}

/// An inequality on a set of customers and the edges that leave it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CvrpCut {
    /// The customers, in any order.
    pub(super) set: Vec<u32>,
    /// The edges T; empty except for blossom inequalities.
    pub(super) teeth: Vec<EdgeEnds>,
    /// Lower and upper bound of x(δ(S))/2 − x(T).
    pub(super) bounds: [f64; 2],
}

impl CvrpCut {
    /// Rounded capacity inequality: at least `vehicles` vehicles visit a set.
    pub(super) fn capacity(set: Vec<u32>, vehicles: f64) -> Self {
        Self {
            set,
            teeth: Vec::new(),
            bounds: [vehicles, f64::INFINITY],
        }
    }

    /// Blossom inequality of a handle and an odd number of edges that leave it.
    pub(super) fn blossom(set: Vec<u32>, teeth: Vec<EdgeEnds>) -> Self {
        debug_assert!(teeth.len() % 2 == 1);
        let min = (1.0 - teeth.len() as f64) / 2.0;
        Self {
            set,
            teeth,
            bounds: [min, f64::INFINITY],
        }
    }

    /// A set to branch on, without bounds yet.
    pub(super) fn branching(set: Vec<u32>) -> Self {
        Self {
            set,
            teeth: Vec::new(),
            bounds: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// The row over these columns, and the constant that must be added to its activity.
    pub(super) fn row(&self, nodes: usize, columns: &[EdgeEnds]) -> (CutRow, f64) {
        let mut inside = vec![false; nodes];
        for node in &self.set {
            inside[*node as usize] = true;
        }
        // With the degree equations of the customers, x(δ(S))/2 = |S| − x(E(S)): only edges inside
        // the set have nonzeros.
        let inside_form = |[i, j]: EdgeEnds| {
            if inside[i as usize] && inside[j as usize] {
                -1.0
            } else {
                0.0
            }
        };
        // The same sum in terms of the edges outside, by the degree equations of the other
        // customers.
        let outside_form = |[i, j]: EdgeEnds| match (i, inside[i as usize], inside[j as usize]) {
            (0, _, true) => 0.5,
            (0, _, false) => -0.5,
            (_, false, false) => -1.0,
            (_, true, _) | (_, _, true) => 0.0,
        };
        let nonzeros = |coefficient: &dyn Fn(EdgeEnds) -> f64| {
            columns
                .iter()
                .filter(|ends| coefficient(**ends) != 0.0)
                .count()
        };
        let (coefficient, size): (&dyn Fn(EdgeEnds) -> f64, usize) =
            // Both forms are equal on the degree equations; fewer nonzeros make the LP faster.
            if nonzeros(&inside_form) <= nonzeros(&outside_form) {
                (&inside_form, self.set.len())
            } else {
                (&outside_form, nodes - 1 - self.set.len())
            };
        // Teeth are subtracted in either form: they leave the set, so the first form has no entry
        // for them.
        let tooth_coefficient =
            |ends: &EdgeEnds| if self.teeth.contains(ends) { -1.0 } else { 0.0 };
        let mut entries = Vec::new();
        for (column, ends) in columns.iter().enumerate() {
            let entry = coefficient(*ends) + tooth_coefficient(ends);
            if entry != 0.0 {
                entries.push((column as u32, entry));
            }
        }
        let constant = size as f64;
        // The constant moves to the bounds, since rows have no constant term.
        let bounds = self.bounds.map(|bound| bound - constant);
        (CutRow { bounds, entries }, constant)
    }
}

#[cfg(test)]
mod tests {
    use super::{CvrpCut, EdgeEnds};

    fn edges(nodes: u32) -> Vec<EdgeEnds> {
        (0..nodes)
            .flat_map(|i| (i + 1..nodes).map(move |j| [i, j]))
            .collect()
    }

    /// Compares x(δ(S))/2 by counting with either form of the row.
    #[test]
    fn rows_count_the_edges_that_leave_a_set() {
        let columns = edges(8);
        let routes: [&[u32]; 3] = [&[1, 4, 2], &[7], &[6, 3, 5]];
        let mut used = vec![0.0; columns.len()];
        for route in routes {
            let stops = [&[0], route, &[0]].concat();
            for pair in stops.windows(2) {
                let ends = [pair[0].min(pair[1]), pair[0].max(pair[1])];
                used[columns.iter().position(|edge| *edge == ends).unwrap()] += 1.0;
            }
        }
        for set in [
            vec![1],
            vec![4, 6],
            vec![1, 2, 3],
            vec![1, 4, 2, 7, 6, 3],
            vec![5, 4, 3, 2, 1],
            vec![7],
        ] {
            let leaving = |ends: &EdgeEnds| set.contains(&ends[0]) != set.contains(&ends[1]);
            let crossing_edges = columns.iter().zip(&used).filter(|(ends, _)| leaving(ends));
            let crossings: f64 = crossing_edges.map(|(_, count)| count).sum();
            let (row, constant) = CvrpCut::branching(set.clone()).row(8, &columns);
            let entries = row.entries.iter();
            let activity: f64 = entries
                .map(|(column, coefficient)| coefficient * used[*column as usize])
                .sum();
            assert_eq!(activity + constant, crossings / 2.0, "{set:?}");
        }
    }

    #[test]
    fn teeth_are_subtracted() {
        let (row, constant) =
            CvrpCut::blossom(vec![1, 2, 3], vec![[1, 4], [0, 2], [3, 5]]).row(6, &edges(6));
        assert_eq!((row.entries.len(), constant, row.bounds[0]), (6, 3.0, -4.0));
    }
}
