//! Separation of blossom (2-matching) inequalities.
//!
//! Let δ(H) be the edges that leave a set H of nodes, and x(F) the total value of the edges F. For
//! a handle H and an odd set T ⊆ δ(H) of teeth, x(δ(H) ∖ T) + Σ over T of (1 − x) ≥ 1, because a
//! tour crosses δ(H) an even number of times. Handles are the connected components of the edges of
//! fractional value; edges of value above one half that leave a handle are its teeth (Padberg and
//! Hong 1980; Grötschel and Holland 1987). If the number of teeth is even, the edge whose change
//! from tooth to non-tooth, or back, reduces the violation least makes it odd.

use super::cuts::TspCut;
use super::support_graph::{INTEGRALITY_TOLERANCE, TspSupportGraph};
use crate::complete_graph::EdgeEnds;

/// An edge is fractional when its value is at least this far from 0 and 1; each margin yields other
/// handles. Larger margins tolerate points that are almost half-integral.
const HANDLE_MARGINS: [f64; 3] = [INTEGRALITY_TOLERANCE, 0.15, 0.3];
/// Smallest violation of a reported cut. Less violated cuts rarely raise the bound.
const MIN_VIOLATION: f64 = 0.02;

/// Finds violated blossom inequalities.
pub(super) fn separate_blossoms(support: &TspSupportGraph) -> Vec<TspCut> {
    let mut cuts: Vec<TspCut> = Vec::new();
    for margin in HANDLE_MARGINS {
        let handles = support.components(|value| value > margin && value < 1.0 - margin);
        let mut handle_of = vec![0_u32; support.nodes];
        // Edges of nearly integral value would join handles that the fractional edges keep apart.
        for (index, handle) in handles.iter().enumerate() {
            for node in handle {
                handle_of[*node as usize] = index as u32;
            }
        }
        let mut leaving: Vec<Vec<(EdgeEnds, f64)>> = vec![Vec::new(); handles.len()];
        for (ends, value) in &support.edges {
            // Nodes of no component have a handle of their own: `components` returns every node,
            // alone if no kept edge meets it.
            let [first, second] = ends.map(|node| handle_of[node as usize]);
            if first != second {
                leaving[first as usize].push((*ends, *value));
                leaving[second as usize].push((*ends, *value));
            }
        }
        for (handle, leaving) in handles.iter().zip(leaving) {
            // A handle of one node, or all but one, has the degree constraint only.
            if handle.len() >= 2 && handle.len() + 2 <= support.nodes {
                cuts.extend(blossom(support.nodes, handle, &leaving));
            }
        }
    }
    // Different margins often give the same handle, and so the same cut.
    cuts.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
    cuts.dedup();
    cuts
}

/// The most violated blossom inequality of one handle; `leaving` are the edges that leave it.
fn blossom(nodes: usize, handle: &[u32], leaving: &[(EdgeEnds, f64)]) -> Option<TspCut> {
    // For a given handle the left side is least when each leaving edge contributes the smaller of x
    // and 1 − x.
    let mut is_tooth: Vec<bool> = leaving.iter().map(|(_, value)| *value > 0.5).collect();
    let num_teeth = is_tooth.iter().filter(|is_tooth| **is_tooth).count();
    // The number of teeth must be odd: changing the edge that is closest to one half costs least.
    if num_teeth.is_multiple_of(2) {
        let flip_cost = |edge: usize| (1.0 - 2.0 * leaving[edge].1).abs();
        let edges = 0..leaving.len();
        let cheapest = edges.min_by(|a, b| flip_cost(*a).total_cmp(&flip_cost(*b)))?;
        is_tooth[cheapest] = !is_tooth[cheapest];
    }
    // The inequality x(δ(H)∖T) + |T| − x(T) ≥ 1 in terms of all leaving edges.
    let terms = is_tooth.iter().zip(leaving);
    let left_side: f64 = terms
        .map(|(is_tooth, (_, value))| if *is_tooth { 1.0 - value } else { *value })
        .sum();
    if left_side > 1.0 - MIN_VIOLATION {
        return None;
    }
    // Each tooth is the pair of ends of one edge, which makes the comb inequality a blossom.
    let mut teeth: Vec<Vec<u32>> = Vec::new();
    for (is_tooth, (ends, _)) in is_tooth.iter().zip(leaving) {
        if *is_tooth {
            teeth.push(ends.to_vec());
        }
    }
    // With one tooth the inequality is no stronger than the subtour constraint of the handle.
    if teeth.len() >= 3 {
        Some(TspCut::comb(nodes, handle, &teeth))
    } else {
        TspCut::subtour(nodes, handle)
    }
}

#[cfg(test)]
mod tests {
    use super::separate_blossoms;
    use crate::tsp::branch_and_cut::support_graph::TspSupportGraph;

    #[test]
    fn three_full_edges_at_a_half_integral_triangle_are_a_blossom() {
        // Two triangles of halves, joined by three edges of ones: all degrees 2, no violated
        // subtour.
        let halves = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)].map(|(i, j)| ([i, j], 0.5));
        let ones = [(0, 3), (1, 4), (2, 5)].map(|(i, j)| ([i, j], 1.0));
        let support = TspSupportGraph {
            nodes: 6,
            edges: halves.into_iter().chain(ones).collect(),
        };
        let cuts = separate_blossoms(&support);
        assert!(!cuts.is_empty());
        for cut in &cuts {
            let inside = |set: &[u32]| {
                let both = |ends: &[u32; 2]| ends.iter().all(|node| set.contains(node));
                let edges = support.edges.iter().filter(|(ends, _)| both(ends));
                edges.map(|(_, value)| value).sum::<f64>()
            };
            let total: f64 = cut.sets.iter().map(|set| inside(set)).sum();
            assert!(
                cut.sets.len() == 4 && total > f64::from(cut.max) + 0.4,
                "{cut:?} {total}"
            );
        }
    }
}
