//! Routes as one ring of nodes in which the depot appears once per vehicle, and changes to it.

/// All routes in one ring.
#[derive(Debug, Clone, Default)]
pub(super) struct GiantTour {
    pub(super) order: Vec<u32>,
    place: Vec<u32>,
    /// Places of the depots.
    pub(super) depots: Vec<u32>,
    awake: Vec<bool>,
    queue: Vec<u32>,
    pub(super) cost: f64,
    /// Extra cost for what is not allowed.
    pub(super) penalty: f64,
}

impl GiantTour {
    /// A ring in this order, all customers awake.
    pub(super) fn new(order: Vec<u32>, nodes: usize) -> Self {
        let mut giant_tour = Self {
            order,
            place: vec![0; nodes],
            awake: vec![false; nodes],
            ..Self::default()
        };
        giant_tour.update_positions();
        (1..nodes as u32).for_each(|customer| giant_tour.activate(customer));
        giant_tour
    }

    /// Must follow every change of the order.
    pub(super) fn update_positions(&mut self) {
        self.depots.clear();
        for (place, node) in self.order.iter().enumerate() {
            self.place[*node as usize] = place as u32;
            if *node == 0 {
                self.depots.push(place as u32);
            }
        }
    }

    pub(super) fn place(&self, customer: u32) -> usize {
        self.place[customer as usize] as usize
    }

    pub(super) fn after(&self, place: usize) -> u32 {
        self.order[wrap_position(place + 1, self.order.len())]
    }

    pub(super) fn before(&self, place: usize) -> u32 {
        self.order[wrap_position(place + self.order.len() - 1, self.order.len())]
    }

    pub(super) fn total(&self) -> f64 {
        self.cost + self.penalty
    }

    /// Whether nothing is in it that is not allowed.
    pub(super) fn is_feasible(&self) -> bool {
        self.penalty == 0.0
    }

    /// Neighbours in the ring.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let shifted = self.order.iter().cycle().skip(1);
        self.order.iter().copied().zip(shifted.copied())
    }

    /// Lets a customer be looked at again.
    pub(super) fn activate(&mut self, node: u32) {
        if node != 0 && !std::mem::replace(&mut self.awake[node as usize], true) {
            self.queue.push(node);
        }
    }

    /// A customer to look at.
    pub(super) fn next_active(&mut self) -> Option<u32> {
        let customer = self.queue.pop()?;
        self.awake[customer as usize] = false;
        Some(customer)
    }

    /// The routes that are not empty.
    pub(super) fn routes(&self) -> Vec<Vec<u32>> {
        let first = self.depots.first().map_or(0, |first| *first as usize);
        let (before, after) = self.order.split_at(first);
        let order = [after, before].concat();
        order
            .split(|node| *node == 0)
            .filter(|route| !route.is_empty())
            .map(<[u32]>::to_vec)
            .collect()
    }
}

/// A place of a ring of this size, from a number below twice the size: a remainder, without the
/// division.
#[inline]
fn wrap_position(place: usize, size: usize) -> usize {
    if place >= size { place - size } else { place }
}

/// A change of a ring, by places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocalMove {
    /// Turns the places `first..=last` round; `first` may be behind `last`, round the end.
    TwoOpt { first: usize, last: usize },
    /// Moves `count` places from `first` on to between `to` and the place behind it, turned round
    /// or not.
    OrOpt {
        first: usize,
        count: usize,
        to: usize,
        turned: bool,
    },
    /// Exchanges two places.
    Swap { one: usize, other: usize },
}

/// Most changes that bring two places together.
const MOVES_PER_PAIR: usize = 16;

impl LocalMove {
    /// Changes that make the nodes at two places neighbours.
    pub(super) fn joining(at: usize, other: usize, size: usize) -> impl Iterator<Item = Self> {
        let next = move |place: usize, by: usize| wrap_position(place + by, size);
        let back = move |place: usize, by: usize| wrap_position(place + size - by, size);
        (0..MOVES_PER_PAIR).filter_map(move |number| {
            let local_move = match number {
                // … at | … other | … and … | at … | other …
                0 => Self::TwoOpt {
                    first: next(at, 1),
                    last: other,
                },
                1 => Self::TwoOpt {
                    first: at,
                    last: back(other, 1),
                },
                // A stretch that begins or ends with `at` goes before or behind `other`.
                2..=13 => {
                    let (count, kind) = (1 + (number - 2) / 4, (number - 2) % 4);
                    let (forward, behind) = (kind % 2 == 0, kind / 2 == 0);
                    let first = if forward { at } else { back(at, count - 1) };
                    let to = if behind { other } else { back(other, 1) };
                    Self::OrOpt {
                        first,
                        count,
                        to,
                        turned: forward != behind,
                    }
                }
                14 => Self::Swap {
                    one: at,
                    other: next(other, 1),
                },
                _ => Self::Swap {
                    one: at,
                    other: back(other, 1),
                },
            };
            local_move.is_possible(size).then_some(local_move)
        })
    }

    fn is_possible(self, size: usize) -> bool {
        match self {
            Self::TwoOpt { first, last } => {
                let count = wrap_position(last + size - first, size) + 1;
                count > 1 && count + 1 < size
            }
            Self::OrOpt {
                first, count, to, ..
            } => {
                let distance = wrap_position(to + size - first, size);
                distance >= count && distance + 1 < size && count + 2 < size
            }
            Self::Swap { one, other } => {
                let distance = wrap_position(other + size - one, size);
                distance > 1 && distance + 1 < size
            }
        }
    }

    /// What the change saves.
    pub(super) fn gain(self, order: &[u32], cost: impl Fn(u32, u32) -> f64) -> f64 {
        let size = order.len();
        let node = |place: usize, by: usize| order[wrap_position(place + by, size)];
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
                turned,
            } => {
                let (a, b, c, d) = (
                    node(first, size - 1),
                    order[first],
                    node(first, count - 1),
                    node(first, count),
                );
                let (e, f) = (order[to], node(to, 1));
                let gone = cost(a, b) + cost(c, d) + cost(e, f);
                let joined = if turned {
                    cost(e, c) + cost(b, f)
                } else {
                    cost(e, b) + cost(c, f)
                };
                gone - cost(a, d) - joined
            }
            Self::Swap { one, other } => {
                let (a, b, c) = (node(one, size - 1), order[one], node(one, 1));
                let (d, e, f) = (node(other, size - 1), order[other], node(other, 1));
                let gone = cost(a, b) + cost(b, c) + cost(d, e) + cost(e, f);
                gone - cost(a, e) - cost(e, c) - cost(d, b) - cost(b, f)
            }
        }
    }

    /// Writes the changed order; the ring may begin elsewhere.
    pub(super) fn write(self, order: &[u32], out: &mut Vec<u32>) {
        let size = order.len();
        out.clear();
        match self {
            Self::TwoOpt { first, last } => {
                let count = wrap_position(last + size - first, size) + 1;
                out.extend((0..count).map(|step| order[wrap_position(last + size - step, size)]));
                out.extend((count..size).map(|step| order[wrap_position(first + step, size)]));
            }
            Self::OrOpt {
                first,
                count,
                to,
                turned,
            } => {
                let until = wrap_position(to + size - first, size);
                out.extend((count..=until).map(|step| order[wrap_position(first + step, size)]));
                let stretch = (0..count).map(|step| {
                    order[wrap_position(first + if turned { count - 1 - step } else { step }, size)]
                });
                out.extend(stretch);
                out.extend((until + 1..size).map(|step| order[wrap_position(first + step, size)]));
            }
            Self::Swap { one, other } => {
                out.extend_from_slice(order);
                out.swap(one, other);
            }
        }
    }

    /// Places whose neighbours change.
    pub(super) fn ends(self, size: usize) -> [usize; 6] {
        let next = |place: usize, by: usize| wrap_position(place + by, size);
        match self {
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
            Self::Swap { one, other } => [
                next(one, size - 1),
                one,
                next(one, 1),
                next(other, size - 1),
                other,
                next(other, 1),
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

    fn length(order: &[u32]) -> f64 {
        GiantTour::new(order.to_vec(), order.len())
            .pairs()
            .map(|(i, j)| cost(i, j))
            .sum()
    }

    #[test]
    fn every_change_saves_what_it_says_keeps_all_nodes_and_brings_two_together() {
        let order: Vec<u32> = vec![3, 0, 5, 1, 7, 2, 6, 4, 8];
        let (size, mut out, mut tried) = (order.len(), Vec::new(), 0);
        for at in 0..size {
            for other in (0..size).filter(|other| *other != at) {
                for local_move in LocalMove::joining(at, other, size) {
                    tried += 1;
                    local_move.write(&order, &mut out);
                    assert_eq!(
                        length(&order) - local_move.gain(&order, cost),
                        length(&out),
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
    fn routes_lie_between_depots() {
        let giant_tour = GiantTour::new(vec![2, 1, 0, 0, 3, 0, 4], 5);
        assert_eq!(giant_tour.routes(), [vec![3], vec![4, 2, 1]]);
    }
}
