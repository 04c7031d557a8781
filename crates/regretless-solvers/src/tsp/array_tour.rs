//! A tour as an array of nodes, modified by reversals of segments (2-opt moves) only.
//!
//! Reversing a segment or its complement yields the same cyclic tour up to orientation, so the
//! shorter of the two is reversed. A reversal of positions is its own inverse: applying the logged
//! reversals in reverse order undoes them, whatever the orientation.

/// A closed tour with an undo log.
#[derive(Debug, Clone, Default)]
pub struct ArrayTour {
    order: Vec<u32>,
    /// Position of each node in `order`.
    position: Vec<u32>,
    /// First position and length of each reversal since the last commit.
    log: Vec<(u32, u32)>,
}

impl ArrayTour {
    /// Overwrites the tour and clears the undo log.
    pub fn set(&mut self, order: &[u32]) {
        self.order.clear();
        self.order.extend_from_slice(order);
        self.position.resize(order.len(), 0);
        for (position, node) in order.iter().enumerate() {
            self.position[*node as usize] = position as u32;
        }
        self.log.clear();
    }

    /// The nodes in visiting order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The node after this one.
    #[inline]
    pub fn next(&self, node: u32) -> u32 {
        let position = self.position[node as usize] as usize + 1;
        self.order[if position == self.order.len() {
            0
        } else {
            position
        }]
    }

    /// The node before this one.
    #[inline]
    pub fn previous(&self, node: u32) -> u32 {
        let position = self.position[node as usize] as usize;
        self.order[if position == 0 {
            self.order.len() - 1
        } else {
            position - 1
        }]
    }

    /// Position of a node in the array.
    #[inline]
    pub fn position(&self, node: u32) -> usize {
        self.position[node as usize] as usize
    }

    /// The node at a position.
    #[inline]
    pub fn at(&self, position: usize) -> u32 {
        self.order[position]
    }

    /// Reverses the segment from `first` forward to `last`, or its complement if that is shorter.
    pub fn reverse(&mut self, first: u32, last: u32) {
        let nodes = self.order.len();
        let (start, end) = (self.position(first), self.position(last));
        let count = if end >= start {
            end - start + 1
        } else {
            end + nodes - start + 1
        };
        // Reversing a segment and reversing its complement give the same cycle, read in opposite
        // directions: the shorter one is enough, so a reversal moves at most half of the nodes.
        if 2 * count <= nodes {
            self.log.push((start as u32, count as u32));
        } else {
            let after = if end + 1 == nodes { 0 } else { end + 1 };
            // The log has what was reversed in fact, so undoing repeats exactly that.
            self.log.push((after as u32, (nodes - count) as u32));
        }
        let (start, count) = self.log[self.log.len() - 1];
        self.reverse_positions(start as usize, count as usize);
    }

    /// Number of reversals in the undo log.
    pub fn changes(&self) -> usize {
        self.log.len()
    }

    /// Undoes all logged reversals but the first `changes`.
    pub fn undo_to(&mut self, changes: usize) {
        while self.log.len() > changes {
            // A reversal of positions is its own inverse.
            if let Some((start, count)) = self.log.pop() {
                self.reverse_positions(start as usize, count as usize);
            }
        }
    }

    /// Commits all changes: they can no longer be undone.
    pub fn commit(&mut self) {
        self.log.clear();
    }

    /// Reverses `count` consecutive positions from `start` on, cyclically.
    fn reverse_positions(&mut self, start: usize, count: usize) {
        let nodes = self.order.len();
        // An empty segment has no last position: the wrapping subtraction keeps the remainder
        // defined, and the loop below does nothing.
        let (mut low, mut high) = (start, (start + count).wrapping_sub(1) % nodes);
        for _ in 0..count / 2 {
            let (a, b) = (self.order[low], self.order[high]);
            (self.order[low], self.order[high]) = (b, a);
            (self.position[b as usize], self.position[a as usize]) = (low as u32, high as u32);
            // Comparisons instead of remainders: a division per step would take longer than the
            // swap.
            low = if low + 1 == nodes { 0 } else { low + 1 };
            high = if high == 0 { nodes - 1 } else { high - 1 };
        }
    }
}
