//! Adjacent vertices of the relaxed optimum.
//!
//! An edge leaves a vertex along changes of choices. With a partial offer, a change of another
//! offer is balanced by the partial one, up to the first share that becomes 0. Without one, and
//! with unused capacity, each offer can replace its group's choice, as far as the capacity allows.
//! If the choices fill the capacity exactly, the edges are the changes to offers that are no
//! heavier, and the pairs of a heavier and a lighter offer in proportions that keep the weight.
//! Changes of small loss are listed first.

use super::MultipleChoiceSolver;
use super::core_search::{ChoiceChange, for_each_change};
use super::groups::NONE;
use crate::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::{Solution, SolveFailure};
use regretless_base::decision::Decision;

/// Shares and slacks below this count as 0: above the rounding errors of sums of weights.
const SHARE_TOLERANCE: f64 = 1e-12;

impl MultipleChoiceSolver {
    /// Writes the change of one group's choice to an offer, by this share.
    fn push_change(&self, change: &ChoiceChange, share: f64, entries: &mut Vec<(u32, f64)>) {
        entries.push((change.offer, share));
        entries.push((self.optimum.choices[change.group], -share));
    }

    /// The vertices next to one whose choices leave this much capacity.
    fn next_to_choices(&self, changes: &[ChoiceChange], slack: f64) -> Vec<VertexDelta> {
        let mut deltas = Vec::new();
        let is_full = slack <= SHARE_TOLERANCE * self.choice.capacity.max(1.0);
        for change in changes {
            // Lighter offers need no capacity: the neighbor is a whole change.
            let share = if change.weight <= 0.0 {
                1.0
            // The vertex is degenerate at a full capacity: heavier offers can only change together
            // with lighter ones.
            } else if is_full {
                continue;
            } else {
                // A heavier offer is taken up to the capacity, at most as a whole.
                (slack / change.weight).min(1.0)
            };
            let mut entries = Vec::new();
            self.push_change(change, share, &mut entries);
            deltas.push(delta(entries));
        }
        if !is_full {
            return deltas;
        }
        let lighter = || changes.iter().filter(|change| change.weight < 0.0);
        for heavy in changes.iter().filter(|change| change.weight > 0.0) {
            for light in lighter() {
                if deltas.len() >= MAX_ADJACENT_VERTICES {
                    return deltas;
                }
                // Shares in the proportion that keeps the weight; those of one group are at most 1
                // together.
                let [to_heavy, to_light] = [-light.weight, heavy.weight];
                // In one group both changes replace the same choice, whose share is at most 1.
                let largest = if heavy.group == light.group {
                    to_heavy + to_light
                } else {
                    to_heavy.max(to_light)
                };
                let mut entries = Vec::new();
                self.push_change(heavy, to_heavy / largest, &mut entries);
                self.push_change(light, to_light / largest, &mut entries);
                deltas.push(delta(entries));
            }
        }
        deltas
    }

    /// The vertices next to one with a partial offer, of which this share is taken.
    fn next_to_partial(
        &self,
        changes: &[ChoiceChange],
        partial: u32,
        fraction: f64,
    ) -> Vec<VertexDelta> {
        let groups = &self.choice.groups;
        let group = groups.group_of(partial as usize);
        let choice = self.optimum.choices[group];
        let step = groups.weight(partial) - groups.weight(choice);
        let mut deltas = Vec::new();
        // Less of the partial offer, and capacity left.
        deltas.push(delta(vec![(partial, -fraction), (choice, fraction)]));
        for change in changes.iter().filter(|change| change.offer != partial) {
            // For each share of the offer, this much of the choice moves to the partial offer.
            // The capacity stays full: what the change needs, the partial offer gives up.
            let moved = -change.weight / step;
            let is_own_group = change.group == group;
            // What the choice of the partial offer's group loses for each share.
            let choice_loss = moved + f64::from(u8::from(is_own_group));
            let mut share = f64::INFINITY;
            if choice_loss > 0.0 {
                // The choice of the partial offer's group has what the partial offer leaves.
                share = share.min((1.0 - fraction) / choice_loss);
            }
            if moved < 0.0 {
                // The partial offer cannot fall below 0.
                share = share.min(fraction / -moved);
            }
            if !is_own_group {
                share = share.min(1.0);
            }
            let mut entries = Vec::new();
            self.push_change(change, share, &mut entries);
            entries.push((partial, share * moved));
            entries.push((choice, -share * moved));
            deltas.push(delta(entries));
        }
        deltas
    }
}

/// The difference of two vertices from changes of shares; those of no offer are no variables.
fn delta(mut entries: Vec<(u32, f64)>) -> VertexDelta {
    entries.retain(|entry| entry.0 != NONE);
    entries.sort_by_key(|entry| entry.0);
    let mut merged: Vec<(u32, f64)> = Vec::with_capacity(entries.len());
    for (offer, share) in entries {
        match merged.last_mut() {
            Some(last) if last.0 == offer => last.1 += share,
            _ => merged.push((offer, share)),
        }
    }
    merged.retain(|entry| entry.1.abs() > SHARE_TOLERANCE);
    Decision::from_entries(merged)
}

impl AdjacentVertices for MultipleChoiceSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        self.relax_within(costs, self.choice.capacity)?;
        let mut changes = Vec::with_capacity(costs.len());
        for_each_change(self.choice.rules(), costs, &self.optimum, |change| {
            changes.push(change);
        });
        // In order of loss, so a truncated list has the nearest vertices.
        changes.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let fraction = self.optimum.fraction(&self.choice.groups);
        let mut deltas = match self.optimum.partial {
            Some(partial) if fraction > SHARE_TOLERANCE => {
                self.next_to_partial(&changes, partial, fraction)
            }
            _ => self.next_to_choices(&changes, self.optimum.slack),
        };
        deltas.truncate(MAX_ADJACENT_VERTICES);
        Ok((self.relaxed_solution(costs), deltas))
    }
}
