//! Giant tour: all routes in one cyclic sequence in which the depot appears once per vehicle, and
//! the local moves 2-opt, or-opt and swap on it.

/// All routes in one cyclic sequence.
#[derive(Debug, Clone, Default)]
pub(super) struct GiantTour {
    pub(super) order: Vec<u32>,
    /// Position of each customer.
    position: Vec<u32>,
    /// Positions of the depot copies.
    pub(super) depots: Vec<u32>,
    /// Whether each customer is in `active`.
    is_active: Vec<bool>,
    /// Customers whose neighborhood is to be searched.
    active: Vec<u32>,
    pub(super) cost: f64,
    /// Penalty of infeasible routes; zero if and only if all are feasible.
    pub(super) penalty: f64,
}

impl GiantTour {
    /// A giant tour in this order, with all customers active.
    pub(super) fn new(order: Vec<u32>, nodes: usize) -> Self {
        let mut giant_tour = Self {
            order,
            position: vec![0; nodes],
            is_active: vec![false; nodes],
            ..Self::default()
        };
        giant_tour.update_positions();
        for customer in 1..nodes as u32 {
            giant_tour.activate(customer);
        }
        giant_tour
    }

    /// Recomputes the positions; required after every change of the order.
    pub(super) fn update_positions(&mut self) {
        self.depots.clear();
        for (position, node) in self.order.iter().enumerate() {
            self.position[*node as usize] = position as u32;
            // All copies of the depot are node 0: only their positions tell them apart.
            if *node == 0 {
                self.depots.push(position as u32);
            }
        }
    }

    pub(super) fn position(&self, customer: u32) -> usize {
        self.position[customer as usize] as usize
    }

    /// The node after a position.
    pub(super) fn after(&self, position: usize) -> u32 {
        self.order[wrap_position(position + 1, self.order.len())]
    }

    /// The node before a position.
    pub(super) fn before(&self, position: usize) -> u32 {
        self.order[wrap_position(position + self.order.len() - 1, self.order.len())]
    }

    /// Cost including the penalty.
    pub(super) fn penalized_cost(&self) -> f64 {
        self.cost + self.penalty
    }

    /// Whether all routes are feasible.
    pub(super) fn is_feasible(&self) -> bool {
        self.penalty == 0.0
    }

    /// Consecutive nodes of the cyclic sequence.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let shifted = self.order.iter().cycle().skip(1);
        self.order.iter().copied().zip(shifted.copied())
    }

    /// Marks a customer to be searched again; the depot is ignored.
    pub(super) fn activate(&mut self, node: u32) {
        if node != 0 && !std::mem::replace(&mut self.is_active[node as usize], true) {
            self.active.push(node);
        }
    }

    /// Removes and returns an active customer.
    pub(super) fn next_active(&mut self) -> Option<u32> {
        let customer = self.active.pop()?;
        self.is_active[customer as usize] = false;
        Some(customer)
    }

    /// The nonempty routes.
    pub(super) fn routes(&self) -> Vec<Vec<u32>> {
        let first = self.depots.first().map_or(0, |first| *first as usize);
        // Routes begin at a depot, so the sequence is cut there and not where the array begins.
        let (before, after) = self.order.split_at(first);
        let order = [after, before].concat();
        order
            .split(|node| *node == 0)
            // Unused vehicles are two depot copies in a row.
            .filter(|route| !route.is_empty())
            .map(<[u32]>::to_vec)
            .collect()
    }
}

/// A position modulo the size, for positions below twice the size: without a division.
#[inline]
fn wrap_position(position: usize, size: usize) -> usize {
    if position >= size {
        position - size
    } else {
        position
    }
}

/// A local move, given by positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocalMove {
    /// 2-opt: reverses the positions `first..=last`, cyclically.
    TwoOpt { first: usize, last: usize },
    /// Or-opt: moves the `count` nodes from position `first` to between `to` and the position after
    /// it, reversed or not.
    OrOpt {
        first: usize,
        count: usize,
        to: usize,
        reversed: bool,
    },
    /// Swap: exchanges the nodes of two positions.
    Swap { first: usize, second: usize },
}

/// Longest segment of an or-opt move: the value of Or (1976).
const MAX_OR_OPT_SEGMENT: usize = 3;
/// Number of moves in [`LocalMove::joining`]: two 2-opt moves, four or-opt moves per segment
/// length, two swaps.
const MOVES_PER_PAIR: usize = 2 + 4 * MAX_OR_OPT_SEGMENT + 2;

impl LocalMove {
    /// All moves that make the nodes at two positions adjacent, in the order in which they are
    /// tried, except those that are impossible in a sequence of this size.
    pub(super) fn joining(at: usize, other: usize, size: usize) -> impl Iterator<Item = Self> {
        let after = |position: usize, by: usize| wrap_position(position + by, size);
        let before = |position: usize, by: usize| wrap_position(position + size - by, size);
        // The array is filled in a fixed order of moves; a placeholder is never returned, as every
        // slot is overwritten.
        let placeholder = Self::Swap {
            first: at,
            second: at,
        };
        let mut moves = [placeholder; MOVES_PER_PAIR];
        moves[0] = Self::TwoOpt {
            first: after(at, 1),
            last: other,
        };
        moves[1] = Self::TwoOpt {
            first: at,
            last: before(other, 1),
        };
        for count in 1..=MAX_OR_OPT_SEGMENT {
            // The segment begins or ends at `at`, and is inserted after or before `other`.
            // A segment that ends at `at` begins `count − 1` positions before it.
            let (starting_at, ending_at) = (at, before(at, count - 1));
            let (after_other, before_other) = (other, before(other, 1));
            let or_opt = |first: usize, to: usize, reversed: bool| Self::OrOpt {
                first,
                count,
                to,
                reversed,
            };
            let slot = 2 + 4 * (count - 1);
            moves[slot] = or_opt(starting_at, after_other, false);
            moves[slot + 1] = or_opt(ending_at, after_other, true);
            moves[slot + 2] = or_opt(starting_at, before_other, true);
            moves[slot + 3] = or_opt(ending_at, before_other, false);
        }
        moves[MOVES_PER_PAIR - 2] = Self::Swap {
            first: at,
            second: after(other, 1),
        };
        moves[MOVES_PER_PAIR - 1] = Self::Swap {
            first: at,
            second: before(other, 1),
        };
        moves
            .into_iter()
            .filter(move |local_move| local_move.is_possible(size))
    }

    /// Whether the move changes the sequence and its positions do not overlap.
    fn is_possible(self, size: usize) -> bool {
        match self {
            Self::TwoOpt { first, last } => {
                // Reversing one node, or all but one, changes nothing in a cycle.
                let count = wrap_position(last + size - first, size) + 1;
                count > 1 && count + 1 < size
            }
            Self::OrOpt {
                first, count, to, ..
            } => {
                let distance = wrap_position(to + size - first, size);
                // The place of insertion must be outside of the segment, and not next to where it
                // is now.
                distance >= count && distance + 1 < size && count + 2 < size
            }
            Self::Swap { first, second } => {
                let distance = wrap_position(second + size - first, size);
                // Adjacent nodes are exchanged by other moves; here their common edge would be
                // counted twice.
                distance > 1 && distance + 1 < size
            }
        }
    }

    /// Decrease of the cost: the edges removed minus the edges added. The letters name the nodes at
    /// the ends of these edges in the order of the sequence.
    pub(super) fn gain(self, order: &[u32], cost: impl Fn(u32, u32) -> f64) -> f64 {
        let size = order.len();
        let node = |position: usize, by: usize| order[wrap_position(position + by, size)];
        match self {
            Self::TwoOpt { first, last } => {
                let (a, b, c, d) = (
                    node(first, size - 1),
                    order[first],
                    order[last],
                    node(last, 1),
                );
                cost(a, b) + cost(c, d) - cost(a, c) - cost(b, d)
            }
            Self::OrOpt {
                first,
                count,
                to,
                reversed,
            } => {
                let (a, b, c, d) = (
                    node(first, size - 1),
                    order[first],
                    node(first, count - 1),
                    node(first, count),
                );
                let (e, f) = (order[to], node(to, 1));
                let removed = cost(a, b) + cost(c, d) + cost(e, f);
                let added = if reversed {
                    cost(e, c) + cost(b, f)
                } else {
                    cost(e, b) + cost(c, f)
                };
                removed - cost(a, d) - added
            }
            Self::Swap { first, second } => {
                let (a, b, c) = (node(first, size - 1), order[first], node(first, 1));
                let (d, e, f) = (node(second, size - 1), order[second], node(second, 1));
                let removed = cost(a, b) + cost(b, c) + cost(d, e) + cost(e, f);
                removed - cost(a, e) - cost(e, c) - cost(d, b) - cost(b, f)
            }
        }
    }

    /// Writes the order after the move; its first node may change.
    pub(super) fn write(self, order: &[u32], out: &mut Vec<u32>) {
        let size = order.len();
        out.clear();
        match self {
            Self::TwoOpt { first, last } => {
                // The last position may be before the first one, since the segment is cyclic.
                let count = wrap_position(last + size - first, size) + 1;
                out.extend(
                    (0..count).map(|offset| order[wrap_position(last + size - offset, size)]),
                );
                // The rest follows in its direction: the written order begins at the segment, which
                // is the same cycle.
                out.extend((count..size).map(|offset| order[wrap_position(first + offset, size)]));
            }
            Self::OrOpt {
                first,
                count,
                to,
                reversed,
            } => {
                // The nodes between the segment and its new place come first, then the segment,
                // then the rest.
                let last = wrap_position(to + size - first, size);
                out.extend((count..=last).map(|offset| order[wrap_position(first + offset, size)]));
                let segment = (0..count).map(|offset| {
                    order[wrap_position(
                        first + if reversed { count - 1 - offset } else { offset },
                        size,
                    )]
                });
                out.extend(segment);
                out.extend(
                    (last + 1..size).map(|offset| order[wrap_position(first + offset, size)]),
                );
            }
            Self::Swap { first, second } => {
                out.extend_from_slice(order);
                out.swap(first, second);
            }
        }
    }

    /// Positions whose neighbors change; positions may repeat.
    pub(super) fn changed_positions(self, size: usize) -> [usize; 6] {
        let next = |position: usize, by: usize| wrap_position(position + by, size);
        match self {
            // At most six positions change; a shorter list is padded with repetitions, which
            // activate no other nodes.
            Self::TwoOpt { first, last } => [
                first,
                last,
                next(first, size - 1),
                next(last, 1),
                first,
                last,
            ],
            Self::OrOpt {
                first, count, to, ..
            } => [
                next(first, size - 1),
                first,
                next(first, count - 1),
                next(first, count),
                to,
                next(to, 1),
            ],
            Self::Swap { first, second } => [
                next(first, size - 1),
                first,
                next(first, 1),
                next(second, size - 1),
                second,
                next(second, 1),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GiantTour, LocalMove};

    fn cost(i: u32, j: u32) -> f64 {
        f64::from((i * 7 + j * 7) % 11 + (i * j) % 5)
    }

    fn total_cost(order: &[u32]) -> f64 {
        GiantTour::new(order.to_vec(), order.len())
            .pairs()
            .map(|(i, j)| cost(i, j))
            .sum()
    }

    #[test]
    fn every_move_has_its_gain_keeps_all_nodes_and_joins_two() {
        let order: Vec<u32> = vec![3, 0, 5, 1, 7, 2, 6, 4, 8];
        let (size, mut out, mut tried) = (order.len(), Vec::new(), 0);
        for at in 0..size {
            for other in (0..size).filter(|other| *other != at) {
                for local_move in LocalMove::joining(at, other, size) {
                    tried += 1;
                    local_move.write(&order, &mut out);
                    assert_eq!(
                        total_cost(&order) - local_move.gain(&order, cost),
                        total_cost(&out),
                        "{local_move:?}: {out:?}"
                    );
                    let mut sorted = out.clone();
                    sorted.sort_unstable();
                    assert_eq!(
                        sorted,
                        (0..size as u32).collect::<Vec<_>>(),
                        "{local_move:?}"
                    );
                    let giant_tour = GiantTour::new(out.clone(), size);
                    let pair = [order[at], order[other]];
                    assert!(
                        giant_tour
                            .pairs()
                            .any(|(i, j)| pair == [i, j] || pair == [j, i]),
                        "{local_move:?}"
                    );
                }
            }
        }
        assert!(tried > 500, "{tried}");
    }

    #[test]
    fn routes_are_the_segments_between_depots() {
        let giant_tour = GiantTour::new(vec![2, 1, 0, 0, 3, 0, 4], 5);
        assert_eq!(giant_tour.routes(), [vec![3], vec![4, 2, 1]]);
    }
}
