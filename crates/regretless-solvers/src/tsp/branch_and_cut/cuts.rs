//! Valid inequalities of the TSP polytope, as families of node sets.
//!
//! A cut is a list of sets S with Σ x(E(S)) ≤ `max`, where x(E(S)) is the total value of the edges
//! inside S. One set with right-hand side |S| − 1 is a subtour elimination constraint (Dantzig,
//! Fulkerson and Johnson 1954). A handle H and an odd number t ≥ 3 of teeth T with right-hand side
//! |H| + Σ|T| − (3t + 1)/2 are a comb (Chvátal 1973); with single edges as teeth it is a blossom or
//! 2-matching inequality (Edmonds 1965). As every node has degree 2, a set and its complement yield
//! the same inequality: the smaller one is used, which keeps rows sparse.

/// A valid inequality.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TspCut {
    /// Sorted nodes of each set.
    pub(super) sets: Vec<Box<[u32]>>,
    /// Right-hand side: the maximum number of tour edges inside the sets together.
    pub(super) max: u32,
}

impl TspCut {
    /// The subtour elimination constraint of a set; `None` when the set or its complement has fewer
    /// than two nodes.
    pub(super) fn subtour(nodes: usize, set: &[u32]) -> Option<Self> {
        // With degree equations, the constraints of a set and of its complement are equivalent; the
        // smaller set has fewer nonzeros.
        let set = smaller_side(nodes, set);
        // A set of one node would give the constraint 0 ≤ 0.
        let max = (set.len() as u32).checked_sub(1).filter(|max| *max > 0)?;
        Some(Self {
            sets: vec![set],
            max,
        })
    }

    /// The comb inequality of a handle and an odd number of teeth that each cross it.
    pub(super) fn comb(nodes: usize, handle: &[u32], teeth: &[Vec<u32>]) -> Self {
        debug_assert!(teeth.len() >= 3 && teeth.len() % 2 == 1);
        let sets = std::iter::once(handle).chain(teeth.iter().map(Vec::as_slice));
        let sets: Vec<_> = sets.map(|set| smaller_side(nodes, set)).collect();
        // In the form "edges inside the sets", a comb of t teeth has the right side |H| + Σ|T| −
        // ⌈3t/2⌉. The complement of a set changes both sides by the same number.
        let size: usize = sets.iter().map(|set| set.len()).sum();
        Self {
            max: (size - (3 * teeth.len()).div_ceil(2)) as u32,
            sets,
        }
    }
}

/// The set or its complement, whichever is smaller, sorted; at equal size the one without node 0.
fn smaller_side(nodes: usize, set: &[u32]) -> Box<[u32]> {
    let mut sorted = set.to_vec();
    sorted.sort_unstable();
    // At equal size one of both must be chosen by a rule, so equal cuts compare equal.
    if 2 * sorted.len() < nodes || (2 * sorted.len() == nodes && sorted[0] != 0) {
        return sorted.into();
    }
    let mut excluded = sorted.into_iter().peekable();
    (0..nodes as u32)
        .filter(|node| excluded.next_if_eq(node).is_none())
        // Both sequences are sorted, so one pass over the excluded nodes is enough.
        .collect()
}

/// For every node the sets that contain it, so the sets that contain an edge are found quickly.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeSetIndex {
    /// The sets that contain node v: `sets[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    sets: Vec<u32>,
    /// The cut of each set.
    cut_of: Vec<u32>,
    /// The nodes of all sets, one set after the other.
    set_nodes: Vec<u32>,
    /// End of each set in `set_nodes`.
    end: Vec<u32>,
}

impl NodeSetIndex {
    /// Indexes the sets of these cuts; each cut is paired with a number that identifies it.
    pub(super) fn fill<'a>(
        &mut self,
        nodes: usize,
        cuts: impl Iterator<Item = (u32, &'a TspCut)> + Clone,
    ) {
        self.cut_of.clear();
        self.set_nodes.clear();
        self.end.clear();
        self.start.clear();
        self.start.resize(nodes + 2, 0);
        for (id, cut) in cuts.clone() {
            // Counting sort: counts are shifted by two places, so the starts are in place after the
            // second pass has advanced them by one.
            for set in &cut.sets {
                self.cut_of.push(id);
                self.set_nodes.extend_from_slice(set);
                self.end.push(self.set_nodes.len() as u32);
                for node in set {
                    self.start[*node as usize + 2] += 1;
                }
            }
        }
        for node in 2..nodes + 2 {
            self.start[node] += self.start[node - 1];
        }
        self.sets.clear();
        self.sets.resize(self.start[nodes + 1] as usize, 0);
        for (index, set) in cuts.flat_map(|(_, cut)| &cut.sets).enumerate() {
            for node in set {
                let slot = &mut self.start[*node as usize + 1];
                self.sets[*slot as usize] = index as u32;
                *slot += 1;
            }
        }
    }

    #[inline]
    fn sets_with(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.sets[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Visits every set that contains a node, in the order of the cuts: its cut and its larger
    /// nodes.
    pub(super) fn visit_larger_nodes(&self, node: u32, mut visit: impl FnMut(u32, &[u32])) {
        for set in self.sets_with(node) {
            let set = *set as usize;
            let start = match set {
                0 => 0,
                _ => self.end[set - 1],
            };
            let set_nodes = &self.set_nodes[start as usize..self.end[set] as usize];
            let first_larger = set_nodes.partition_point(|other| *other <= node);
            visit(self.cut_of[set], &set_nodes[first_larger..]);
        }
    }

    /// Visits the cut of every set that contains both nodes, in the order of the cuts.
    #[inline]
    pub(super) fn visit_cuts_with_both(&self, first: u32, second: u32, mut visit: impl FnMut(u32)) {
        // Both lists are sorted by set: a merge finds the common ones.
        let (a, b) = (self.sets_with(first), self.sets_with(second));
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                visit(self.cut_of[a[i] as usize]);
            }
            let (low, high) = (a[i], b[j]);
            // At a match both sides advance.
            i += usize::from(low <= high);
            j += usize::from(high <= low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeSetIndex, TspCut};

    #[test]
    fn the_smaller_side_of_a_set_is_kept() {
        assert_eq!(
            TspCut::subtour(6, &[3, 1]),
            Some(TspCut {
                sets: vec![[1, 3].into()],
                max: 1
            })
        );
        assert_eq!(
            TspCut::subtour(6, &[5, 0, 2, 4]),
            TspCut::subtour(6, &[1, 3])
        );
        assert_eq!(
            TspCut::subtour(6, &[0, 1, 2]),
            TspCut::subtour(6, &[3, 4, 5])
        );
        assert_eq!(
            (TspCut::subtour(6, &[2]), TspCut::subtour(3, &[0, 1, 2])),
            (None, None)
        );
    }

    #[test]
    fn sets_that_contain_an_edge_are_found() {
        let cuts = [
            TspCut::comb(12, &[0, 1, 2], &[vec![0, 4], vec![1, 5], vec![2, 6]]),
            TspCut::subtour(12, &[0, 1, 4]).unwrap(),
        ];
        assert_eq!(cuts[0].max, 3 + 6 - 5);
        let mut set_index = NodeSetIndex::default();
        set_index.fill(12, (0..).zip(&cuts));
        let around = |i, j| {
            let mut visited = Vec::new();
            set_index.visit_cuts_with_both(i, j, |cut| visited.push(cut));
            visited
        };
        assert_eq!(
            (around(0, 1), around(0, 4), around(2, 6), around(4, 5)),
            (vec![0, 1], vec![0, 1], vec![0], vec![])
        );
        let mut visited = Vec::new();
        set_index.visit_larger_nodes(1, |cut, larger| visited.push((cut, larger.to_vec())));
        assert_eq!(visited, [(0, vec![2]), (0, vec![5]), (1, vec![4])]);
    }
}
