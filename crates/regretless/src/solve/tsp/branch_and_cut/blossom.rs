//! Blossoms: a handle that an odd number of full edges leaves, and hardly anything else.
//!
//! For a set H and an odd set T of edges that leave it, x(δ(H) ∖ T) + Σ over T of (1 − x) ≥ 1: a
//! tour leaves H an even number of times. Handles are the parts that edges of middling value
//! connect; edges of high value that leave them are the teeth (Padberg and Hong 1980; Grötschel and
//! Holland 1987). An even number of teeth is made odd by the edge whose change of side costs least.

use super::cuts::TspCut;
use super::support_graph::{INTEGRALITY_TOLERANCE, TspSupportGraph};

/// Values this far from 0 and 1 connect a handle, one try after the other.
const HANDLE_MARGINS: [f64; 3] = [INTEGRALITY_TOLERANCE, 0.15, 0.3];
/// Least violation of a cut that is reported.
const MIN_VIOLATION: f64 = 0.02;

/// Finds violated blossoms.
pub(super) fn blossoms(support: &TspSupportGraph) -> Vec<TspCut> {
    let mut cuts: Vec<TspCut> = Vec::new();
    for margin in HANDLE_MARGINS {
        let parts = support.parts(|value| value > margin && value < 1.0 - margin);
        let mut part_of = vec![0_u32; support.nodes];
        for (number, part) in parts.iter().enumerate() {
            part.iter()
                .for_each(|node| part_of[*node as usize] = number as u32);
        }
        let mut leaving: Vec<Vec<([u32; 2], f64)>> = vec![Vec::new(); parts.len()];
        for (ends, value) in &support.edges {
            let [one, other] = ends.map(|node| part_of[node as usize]);
            if one != other {
                leaving[one as usize].push((*ends, *value));
                leaving[other as usize].push((*ends, *value));
            }
        }
        for (part, leaving) in parts.iter().zip(leaving) {
            if part.len() >= 2 && part.len() + 2 <= support.nodes {
                cuts.extend(blossom(support.nodes, part, &leaving));
            }
        }
    }
    cuts.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
    cuts.dedup();
    cuts
}

/// The most violated blossom of one handle, given the edges that leave it.
fn blossom(nodes: usize, handle: &[u32], leaving: &[([u32; 2], f64)]) -> Option<TspCut> {
    let mut tooth: Vec<bool> = leaving.iter().map(|(_, value)| *value > 0.5).collect();
    if tooth
        .iter()
        .filter(|tooth| **tooth)
        .count()
        .is_multiple_of(2)
    {
        let cost = |(_, value): &([u32; 2], f64)| (1.0 - 2.0 * value).abs();
        let min =
            (0..leaving.len()).min_by(|a, b| cost(&leaving[*a]).total_cmp(&cost(&leaving[*b])))?;
        tooth[min] = !tooth[min];
    }
    let side =
        |(tooth, (_, value)): (&bool, &([u32; 2], f64))| if *tooth { 1.0 - value } else { *value };
    let total: f64 = tooth.iter().zip(leaving).map(side).sum();
    if total > 1.0 - MIN_VIOLATION {
        return None;
    }
    let teeth: Vec<Vec<u32>> = leaving
        .iter()
        .zip(&tooth)
        .filter(|(_, tooth)| **tooth)
        .map(|((ends, _), _)| ends.to_vec())
        .collect();
    if teeth.len() >= 3 {
        Some(TspCut::comb(nodes, handle, &teeth))
    } else {
        TspCut::subtour(nodes, handle)
    }
}

#[cfg(test)]
mod tests {
    use super::blossoms;
    use crate::solve::tsp::branch_and_cut::support_graph::TspSupportGraph;

    #[test]
    fn three_full_edges_out_of_a_half_triangle_make_a_blossom() {
        // Two triangles of halves, joined by three paths of ones: all degrees 2, no loose set.
        let halves = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)].map(|(i, j)| ([i, j], 0.5));
        let ones = [(0, 3), (1, 4), (2, 5)].map(|(i, j)| ([i, j], 1.0));
        let support = TspSupportGraph {
            nodes: 6,
            edges: halves.into_iter().chain(ones).collect(),
        };
        let cuts = blossoms(&support);
        assert!(!cuts.is_empty());
        for cut in &cuts {
            let inside = |set: &[u32]| {
                let both = |ends: &[u32; 2]| ends.iter().all(|node| set.contains(node));
                support
                    .edges
                    .iter()
                    .filter(|(ends, _)| both(ends))
                    .map(|(_, value)| value)
                    .sum::<f64>()
            };
            let total: f64 = cut.sets.iter().map(|set| inside(set)).sum();
            assert!(
                cut.sets.len() == 4 && total > f64::from(cut.max) + 0.4,
                "{cut:?} {total}"
            );
        }
    }
}
