//! Evaluation of sequential 3-exchanges, without modifying the tour.
//!
//! The nodes t1 to t6 are those of the header of the parent module: t2 is the start of the path and
//! t1 its end. Offsets count the steps from t2 along the path.

use super::hamiltonian_path::HamiltonianPath;
use crate::complete_graph::EdgeCostMatrix;
use crate::tsp::array_tour::ArrayTour;
use crate::tsp::candidates::CandidateEdges;

/// A sequential exchange: reversals of path segments, end nodes, and the gain before closing.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeExchange {
    /// First and last offset of each reversal; equal offsets are no reversal.
    pub(super) reversals: [(usize, usize); 3],
    /// The nodes t3 to t6; t5 and t6 repeat t4 when only two edges are exchanged.
    pub(super) nodes: [u32; 4],
    pub(super) gain: f64,
}

/// Read-only inputs of the search.
pub(super) struct LinKernighanInput<'a> {
    pub(super) edge_costs: &'a EdgeCostMatrix,
    pub(super) candidates: &'a CandidateEdges,
    /// Gains up to this count as rounding errors.
    pub(super) tolerance: f64,
}

impl LinKernighanInput<'_> {
    #[inline]
    pub(super) fn cost(&self, first: u32, second: u32) -> f64 {
        self.edge_costs.between(first, second)
    }

    /// The first exchange that closes with a gain, else the one of largest partial gain.
    pub(super) fn best_exchange(
        &self,
        tour: &ArrayTour,
        path: HamiltonianPath,
        gain: f64,
        added: &[(u32, u32)],
    ) -> Option<EdgeExchange> {
        let mut best: Option<EdgeExchange> = None;
        let last = tour.order().len() - 1;
        for (t3, cost) in self.candidates.neighbors(path.start) {
            // The gain criterion: partial sums of a sequential exchange must stay positive. If a
            // cyclic sum is positive, some rotation of it has this property, so nothing is lost
            // (Lin and Kernighan 1973).
            let gain = gain - cost;
            if gain <= self.tolerance {
                // Candidates are sorted by α-value and not by cost, so the next one may still be
                // cheaper.
                continue;
            }
            let t3_offset = path.offset(tour, *t3);
            // Offset 1 is the path's neighbor of the start, whose edge cannot be added; the end
            // would close the tour.
            if t3_offset < 2 || t3_offset == last {
                continue;
            }
            let step = LinKernighanStep {
                tour,
                path,
                t3: *t3,
                t3_offset,
                gain,
                added,
            };
            if self.remove_near_edge(&step, &mut best) || self.remove_far_edge(&step, &mut best) {
                break;
            }
        }
        best
    }

    /// Removes the edge from t3 to its neighbor t4 on the start's side. The result is a path, which
    /// may already close to a cheaper tour (2-opt).
    fn remove_near_edge(&self, step: &LinKernighanStep, best: &mut Option<EdgeExchange>) -> bool {
        let t3_offset = step.t3_offset;
        let t4 = step.path.at(step.tour, t3_offset - 1);
        // An edge that was added must not be removed again: moves would not end.
        if step.was_added(step.t3, t4) {
            return false;
        }
        let gain = step.gain + self.cost(step.t3, t4);
        let two_exchange = EdgeExchange {
            reversals: [(0, t3_offset - 1), (0, 0), (0, 0)],
            nodes: [step.t3, t4, t4, t4],
            gain,
        };
        // First improvement: the tour closes, and deeper exchanges are not needed.
        if gain - self.cost(t4, step.path.end) > self.tolerance {
            *best = Some(two_exchange);
            return true;
        }
        for (t5, cost) in self.candidates.neighbors(t4) {
            let gain = gain - cost;
            if gain <= self.tolerance {
                continue;
            }
            let t5_offset = step.path.offset(step.tour, *t5);
            // t5 must not be joined to t4 already, and not be the end, at which nothing can be
            // removed.
            if t5_offset == t3_offset
                || t5_offset + 2 == t3_offset
                || t5_offset + 1 == t3_offset
                || *t5 == step.path.end
            {
                continue;
            }
            // In the path after the first exchange, t6 precedes t5 when seen from the start.
            // The first exchange reversed the nodes up to t4, so those before t3 are seen in the
            // other direction.
            let (t6_offset, last) = if t5_offset > t3_offset {
                (t5_offset - 1, t5_offset - 1)
            } else {
                (t5_offset + 1, t3_offset - 2 - t5_offset)
            };
            let t6 = step.path.at(step.tour, t6_offset);
            let reversals = [(0, t3_offset - 1), (0, last), (0, 0)];
            if self.offer(
                step,
                EdgeExchange {
                    reversals,
                    nodes: [step.t3, t4, *t5, t6],
                    gain,
                },
                best,
            ) {
                return true;
            }
        }
        false
    }

    /// Removes the edge from t3 to its neighbor t4 on the end's side. The nodes from the start to
    /// t3 then form a cycle, which t5 must break.
    fn remove_far_edge(&self, step: &LinKernighanStep, best: &mut Option<EdgeExchange>) -> bool {
        let t3_offset = step.t3_offset;
        let t4 = step.path.at(step.tour, t3_offset + 1);
        if step.was_added(step.t3, t4) {
            return false;
        }
        let gain = step.gain + self.cost(step.t3, t4);
        for (t5, cost) in self.candidates.neighbors(t4) {
            let gain = gain - cost;
            if gain <= self.tolerance {
                continue;
            }
            let t5_offset = step.path.offset(step.tour, *t5);
            // t5 on the cycle between start and t3 only: another one would not break the cycle.
            if t5_offset >= t3_offset {
                continue;
            }
            // The edge of the cycle at t5 can be removed on either side.
            let t6 = step.path.at(step.tour, t5_offset + 1);
            let reversals = [
                (0, t3_offset),
                (0, t3_offset - t5_offset - 1),
                (t3_offset - t5_offset, t3_offset),
            ];
            if self.offer(
                step,
                EdgeExchange {
                    reversals,
                    nodes: [step.t3, t4, *t5, t6],
                    gain,
                },
                best,
            ) {
                return true;
            }
            // The start itself has no node before it.
            if t5_offset > 0 {
                let t6 = step.path.at(step.tour, t5_offset - 1);
                let reversals = [(0, t5_offset - 1), (t5_offset, t3_offset), (0, 0)];
                if self.offer(
                    step,
                    EdgeExchange {
                        reversals,
                        nodes: [step.t3, t4, *t5, t6],
                        gain,
                    },
                    best,
                ) {
                    return true;
                }
            }
        }
        false
    }

    /// Adds the gain of removing {t5, t6} and stores the exchange in `best` if it is the best so
    /// far; `true` when it closes to a cheaper tour.
    #[inline]
    fn offer(
        &self,
        step: &LinKernighanStep,
        mut exchange: EdgeExchange,
        best: &mut Option<EdgeExchange>,
    ) -> bool {
        let [_, _, t5, t6] = exchange.nodes;
        if step.was_added(t5, t6) {
            return false;
        }
        exchange.gain += self.cost(t5, t6);
        let closes = exchange.gain - self.cost(t6, step.path.end) > self.tolerance;
        // An exchange that does not close is kept for the next depth, if it is the best.
        if closes || best.is_none_or(|best| exchange.gain > best.gain) {
            *best = Some(exchange);
        }
        closes
    }
}

/// A path whose start t2 is to be joined to t3, `t3_offset` steps away from it.
struct LinKernighanStep<'a> {
    tour: &'a ArrayTour,
    path: HamiltonianPath,
    t3: u32,
    t3_offset: usize,
    gain: f64,
    added: &'a [(u32, u32)],
}

impl LinKernighanStep<'_> {
    /// Whether the current move added this edge. Such an edge is not removed again, so every move
    /// is finite.
    #[inline]
    fn was_added(&self, first: u32, second: u32) -> bool {
        self.added
            .iter()
            .any(|pair| *pair == (first, second) || *pair == (second, first))
    }
}
