//! A 4-ary heap of nodes by distance; equal distances go to the node with the lower number.
//!
//! Four children per entry share a cache line, so that it is faster here than a binary heap. An
//! entry whose node was reached on a shorter way since stays in the heap and is skipped by the
//! search.

/// Children per entry.
const ARITY: usize = 4;

/// A node at a distance.
#[derive(Debug, Clone, Copy)]
pub struct NearestNode {
    pub distance: f64,
    pub node: u32,
}

/// Distance and node as one number, which is compared without a branch: a distance is not negative,
/// so that its bits are ordered as it is.
type HeapKey = u128;

fn key(distance: f64, node: u32) -> HeapKey {
    HeapKey::from(distance.to_bits()) << u32::BITS | HeapKey::from(node)
}

fn distance(key: HeapKey) -> f64 {
    f64::from_bits((key >> u32::BITS) as u64)
}

/// The heap; its memory is reused.
#[derive(Debug, Clone, Default)]
pub struct NodeHeap {
    keys: Vec<HeapKey>,
}

impl NodeHeap {
    pub fn clear(&mut self) {
        self.keys.clear();
    }

    /// The distance of the nearest node.
    pub fn first(&self) -> Option<f64> {
        self.keys.first().map(|key| distance(*key))
    }

    /// Adds a node at a distance of 0 or more.
    pub fn push(&mut self, distance: f64, node: u32) {
        let new = key(distance, node);
        let mut place = self.keys.len();
        self.keys.push(new);
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if new >= self.keys[parent] {
                break;
            }
            self.keys[place] = self.keys[parent];
            place = parent;
        }
        self.keys[place] = new;
    }

    pub fn pop(&mut self) -> Option<NearestNode> {
        let last = self.keys.pop()?;
        let first = self.keys.first().copied().unwrap_or(last);
        let count = self.keys.len();
        let mut place = 0;
        loop {
            let children = ARITY * place + 1;
            if children >= count {
                break;
            }
            let mut least = (self.keys[children], children);
            for (child, key) in
                (children..).zip(&self.keys[children..(children + ARITY).min(count)])
            {
                if *key < least.0 {
                    least = (*key, child);
                }
            }
            if least.0 >= last {
                break;
            }
            self.keys[place] = least.0;
            place = least.1;
        }
        if count > 0 {
            self.keys[place] = last;
        }
        Some(NearestNode {
            distance: distance(first),
            node: first as u32,
        })
    }
}
