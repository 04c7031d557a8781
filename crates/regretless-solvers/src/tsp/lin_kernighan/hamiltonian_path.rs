//! The Hamiltonian path that remains when an edge is removed from the tour.

use crate::tsp::array_tour::ArrayTour;

/// The tour without the edge between two adjacent nodes: a Hamiltonian path from `start` to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HamiltonianPath {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether the orientation of the array leads from start to end.
    forward: bool,
}

impl HamiltonianPath {
    #[inline]
    pub(super) fn new(tour: &ArrayTour, start: u32, end: u32) -> Self {
        Self {
            start,
            end,
            forward: tour.next(end) == start,
        }
    }

    /// Number of steps from the start of the path to a node.
    #[inline]
    pub(super) fn offset(self, tour: &ArrayTour, node: u32) -> usize {
        let (from, to) = (tour.position(self.start), tour.position(node));
        // Against the orientation of the array, offsets count down.
        let (low, high) = if self.forward { (from, to) } else { (to, from) };
        if high >= low {
            high - low
        } else {
            high + tour.order().len() - low
        }
    }

    /// The node this many steps from the start of the path.
    #[inline]
    pub(super) fn at(self, tour: &ArrayTour, offset: usize) -> u32 {
        let (nodes, from) = (tour.order().len(), tour.position(self.start));
        let position = if self.forward {
            from + offset
        } else {
            from + nodes - offset
        };
        // At most one wrap, since both are below the number of nodes.
        tour.at(if position >= nodes {
            position - nodes
        } else {
            position
        })
    }

    /// Reverses the segment between two offsets; the end of the path never moves.
    pub(super) fn reverse(&mut self, tour: &mut ArrayTour, from: usize, to: usize) {
        let (first, last) = (self.at(tour, from), self.at(tour, to));
        if self.forward {
            tour.reverse(first, last);
        } else {
            tour.reverse(last, first);
        }
        let start = if from == 0 { last } else { self.start };
        // `reverse` may have reversed the complement, which turns the orientation of the array: it
        // is computed anew.
        *self = Self::new(tour, start, self.end);
    }
}
