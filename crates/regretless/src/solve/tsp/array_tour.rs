//! A tour as an array of nodes, changed by reversals only.
//!
//! Reversing a path or the rest of the tour gives the same tour read in the other direction, so the
//! shorter of the two is reversed. A reversal of places is its own inverse: repeating the logged
//! reversals backwards undoes them, whatever direction the tour is read in.

/// A closed tour that can be changed and taken back.
#[derive(Debug, Clone, Default)]
pub struct ArrayTour {
    order: Vec<u32>,
    place: Vec<u32>,
    log: Vec<(u32, u32)>,
}

impl ArrayTour {
    /// Overwrites the tour; the log is emptied.
    pub fn set(&mut self, order: &[u32]) {
        self.order.clear();
        self.order.extend_from_slice(order);
        self.place.resize(order.len(), 0);
        for (place, node) in order.iter().enumerate() {
            self.place[*node as usize] = place as u32;
        }
        self.log.clear();
    }

    /// The nodes in order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The node after this one.
    #[inline]
    pub fn next(&self, node: u32) -> u32 {
        let place = self.place[node as usize] as usize + 1;
        self.order[if place == self.order.len() { 0 } else { place }]
    }

    /// The node before this one.
    #[inline]
    pub fn previous(&self, node: u32) -> u32 {
        let place = self.place[node as usize] as usize;
        self.order[if place == 0 {
            self.order.len() - 1
        } else {
            place - 1
        }]
    }

    /// Where a node stands.
    #[inline]
    pub fn place(&self, node: u32) -> usize {
        self.place[node as usize] as usize
    }

    /// The node at a place.
    #[inline]
    pub fn at(&self, place: usize) -> u32 {
        self.order[place]
    }

    /// Reverses the path that leads forward from one node to another, or the rest of the tour.
    pub fn reverse(&mut self, first: u32, last: u32) {
        let nodes = self.order.len();
        let (start, end) = (self.place(first), self.place(last));
        let count = if end >= start {
            end - start + 1
        } else {
            end + nodes - start + 1
        };
        if 2 * count <= nodes {
            self.log.push((start as u32, count as u32));
        } else {
            let after = if end + 1 == nodes { 0 } else { end + 1 };
            self.log.push((after as u32, (nodes - count) as u32));
        }
        let (start, count) = self.log[self.log.len() - 1];
        self.swap_range(start as usize, count as usize);
    }

    /// How many reversals can be taken back.
    pub fn changes(&self) -> usize {
        self.log.len()
    }

    /// Takes back all reversals but the first `changes`.
    pub fn undo_to(&mut self, changes: usize) {
        while self.log.len() > changes {
            if let Some((start, count)) = self.log.pop() {
                self.swap_range(start as usize, count as usize);
            }
        }
    }

    /// Makes all changes final.
    pub fn keep(&mut self) {
        self.log.clear();
    }

    fn swap_range(&mut self, start: usize, count: usize) {
        let nodes = self.order.len();
        let (mut low, mut high) = (start, (start + count).wrapping_sub(1) % nodes);
        for _ in 0..count / 2 {
            let (a, b) = (self.order[low], self.order[high]);
            (self.order[low], self.order[high]) = (b, a);
            (self.place[b as usize], self.place[a as usize]) = (low as u32, high as u32);
            low = if low + 1 == nodes { 0 } else { low + 1 };
            high = if high == 0 { nodes - 1 } else { high - 1 };
        }
    }
}
