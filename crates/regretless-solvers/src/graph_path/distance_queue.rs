//! A queue of nodes by distance; equal distances go to the node with the lower number.
//!
//! Dijkstra's algorithm never adds a distance below that of the node it scans, nor one above it by
//! more than the largest cost. Distances are therefore divided into a ring of buckets (Dial 1969),
//! and only the bucket of the nearest nodes is a heap, which has few entries. It is a 4-ary heap:
//! four children per entry share a cache line. An entry whose node was reached on a shorter way
//! since stays in the queue and is skipped by the search.

/// Children per entry of the heap.
const ARITY: usize = 4;
/// Buckets of the ring, a power of two. On a road network of 20,000 nodes 64 to 128 were the
/// fastest; with 1024, passing empty buckets took a fifth of the time.
const NUM_BUCKETS: usize = 128;
/// Smaller graphs have no buckets: passing empty ones would take longer than a heap.
const MIN_NODES_FOR_BUCKETS: usize = 2000;

/// A node at a distance.
#[derive(Debug, Clone, Copy)]
pub struct NearestNode {
    pub distance: f64,
    pub node: u32,
}

/// Distance and node as one number, which is compared without a branch: a distance is not negative,
/// so its bits are ordered as it is.
type HeapKey = u128;

#[inline]
fn key(distance: f64, node: u32) -> HeapKey {
    // Equal distances are ordered by node, so the order of a search does not depend on the heap.
    HeapKey::from(distance.to_bits()) << u32::BITS | HeapKey::from(node)
}

#[inline]
fn distance(key: HeapKey) -> f64 {
    f64::from_bits((key >> u32::BITS) as u64)
}

/// The queue; its memory is reused.
#[derive(Debug, Clone)]
pub struct DistanceQueue {
    /// The entries of the current bucket, as a heap.
    heap: Vec<HeapKey>,
    /// The entries of later buckets, in any order.
    buckets: Vec<Vec<HeapKey>>,
    /// Number of the current bucket.
    current: u64,
    /// Entries outside the heap.
    waiting: usize,
    /// Buckets per unit of distance; 0 for a single bucket.
    buckets_per_unit: f64,
}

impl DistanceQueue {
    /// An empty queue for a graph with this many nodes.
    pub fn new(num_nodes: usize) -> Self {
        let has_buckets = num_nodes >= MIN_NODES_FOR_BUCKETS;
        Self {
            heap: Vec::new(),
            buckets: vec![Vec::new(); if has_buckets { NUM_BUCKETS } else { 0 }],
            current: 0,
            waiting: 0,
            buckets_per_unit: 0.0,
        }
    }

    /// Removes all entries; the next ones are those of a search whose largest cost is `max_cost`; 0
    /// if that is not known.
    pub fn restart(&mut self, max_cost: f64) {
        self.heap.clear();
        // Only buckets with entries need to be cleared, and they lie ahead of the current one.
        while self.waiting > 0 {
            self.current += 1;
            let bucket = &mut self.buckets[self.current as usize % NUM_BUCKETS];
            self.waiting -= bucket.len();
            bucket.clear();
        }
        self.current = 0;
        // Two buckets are spare: the first and the last one of a cost are not full.
        let buckets_per_unit = (NUM_BUCKETS - 2) as f64 / max_cost;
        let has_buckets = !self.buckets.is_empty() && max_cost > 0.0;
        // A subnormal largest cost would give infinitely many buckets.
        self.buckets_per_unit = if has_buckets && buckets_per_unit.is_finite() {
            buckets_per_unit
        } else {
            0.0
        };
    }

    /// Whether the nearest node is in the bucket of the last one. With a single bucket this says
    /// nothing about their distances, and the answer is no.
    #[inline]
    pub fn continues_bucket(&self) -> bool {
        self.buckets_per_unit > 0.0 && !self.heap.is_empty()
    }

    /// The distance of the nearest node.
    #[inline]
    pub fn first(&mut self) -> Option<f64> {
        self.fill_heap();
        self.heap.first().map(|key| distance(*key))
    }

    /// Adds a node at a distance of 0 or more.
    #[inline]
    pub fn push(&mut self, distance: f64, node: u32) {
        let new = key(distance, node);
        let bucket = (distance * self.buckets_per_unit) as u64;
        // Entries of the current bucket belong into the heap, which decides their order.
        if bucket <= self.current {
            self.push_to_heap(new);
        } else {
            // The ring is long enough: an entry is at most the largest cost ahead of the current
            // distance.
            self.buckets[bucket as usize % NUM_BUCKETS].push(new);
            self.waiting += 1;
        }
    }

    /// Moves on to the next bucket with entries if the heap is empty.
    #[inline]
    fn fill_heap(&mut self) {
        if self.heap.is_empty() && self.waiting > 0 {
            self.move_to_next_bucket();
        }
    }

    fn move_to_next_bucket(&mut self) {
        while self.heap.is_empty() {
            self.current += 1;
            let bucket = &mut self.buckets[self.current as usize % NUM_BUCKETS];
            self.waiting -= bucket.len();
            // Taken out, as the heap is filled through `self`.
            let mut entries = std::mem::take(bucket);
            for entry in entries.drain(..) {
                self.push_to_heap(entry);
            }
            // The memory of the bucket is kept.
            self.buckets[self.current as usize % NUM_BUCKETS] = entries;
        }
    }

    #[inline]
    fn push_to_heap(&mut self, new: HeapKey) {
        let mut place = self.heap.len();
        self.heap.push(new);
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if new >= self.heap[parent] {
                break;
            }
            // Entries move down one by one, and the new one is written once.
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = new;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<NearestNode> {
        self.fill_heap();
        // The last entry fills the gap at the top; for a single entry both are the same.
        let last = self.heap.pop()?;
        let first = self.heap.first().copied().unwrap_or(last);
        let count = self.heap.len();
        let mut place = 0;
        loop {
            let children = ARITY * place + 1;
            if children >= count {
                break;
            }
            // Four children per entry: fewer levels than with two, and they share a cache line.
            let mut least = (self.heap[children], children);
            for (child, key) in
                (children..).zip(&self.heap[children..(children + ARITY).min(count)])
            {
                if *key < least.0 {
                    least = (*key, child);
                }
            }
            if least.0 >= last {
                break;
            }
            self.heap[place] = least.0;
            place = least.1;
        }
        if count > 0 {
            self.heap[place] = last;
        }
        Some(NearestNode {
            distance: distance(first),
            node: first as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DistanceQueue;
    use regretless_base::random::{Purpose, RandomStream};

    /// As in a search: a popped distance is the least, and new ones are at most a cost above it.
    #[test]
    fn nodes_are_popped_by_distance() {
        for max_cost in [0.0, 1e-300, 0.7, 1e9] {
            let mut stream = RandomStream::new(Purpose::Benchmark, 0, [0, 0]);
            let mut queue = DistanceQueue::new(4000);
            for _ in 0..3 {
                queue.restart(max_cost);
                queue.push(0.0, 0);
                let mut expected = vec![(0.0, 0)];
                for node in 1..2000 {
                    expected.sort_by(|a: &(f64, u32), b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
                    let (distance, number) = expected.pop().unwrap();
                    assert_eq!(queue.first(), Some(distance));
                    let found = queue.pop().unwrap();
                    assert_eq!((found.distance, found.node), (distance, number));
                    for twin in 0..1 + node % 2 {
                        let next = distance + stream.uniform(0.0, 1.0) * max_cost;
                        queue.push(next, 2 * node + twin);
                        expected.push((next, 2 * node + twin));
                    }
                }
            }
        }
    }
}
