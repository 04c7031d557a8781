//! The integer optimum of a multiple-choice knapsack: a core and lists of states, after Pisinger
//! (1995).
//!
//! At the price of the relaxed optimum every offer has a loss against the choice of its group, and
//! unused capacity loses its price: the cost of a selection is the relaxed cost plus its losses.
//! Only offers whose loss is below that of the best selection known so far can be part of a better
//! one, and only groups with such offers, the core, are searched: by dynamic programming over lists
//! of states (capacity left, loss so far), of which dominated ones are removed. A state is removed
//! too if its bound is no better than the best selection: what is left of the capacity costs at
//! least the smallest loss per weight of the groups to come. These are in the order of that ratio,
//! so the bound rises fast. Each state with capacity left is itself a selection.

use super::groups::NONE;
use super::linear_relaxation::{LinearOptimum, OfferRules};
use regretless_base::cancellation;

/// Improvements below this relative size do not count: the tolerance of the capacity, 1e-9, can
/// change the objective by as much.
const OBJECTIVE_TOLERANCE: f64 = 1.1e-9;

/// States between two polls of the cancellation.
const POLL_INTERVAL: u64 = 4096;

/// An offer of the core.
#[derive(Debug, Clone, Copy)]
struct CoreOffer {
    offer: u32,
    /// Its weight less that of the group's choice.
    weight: f64,
    loss: f64,
}

/// A group of the core: its offers other than the choice.
#[derive(Debug, Clone, Copy)]
struct CoreGroup {
    first: u32,
    end: u32,
    /// The smallest loss per weight of heavier offers, and of lighter ones.
    heavier_ratio: f64,
    lighter_ratio: f64,
}

/// A partial selection: the groups to come keep their choices.
#[derive(Debug, Clone, Copy)]
struct SelectionState {
    /// What is left of the capacity; negative if lighter offers have to follow.
    slack: f64,
    loss: f64,
    /// Its last entry in the history.
    last: u32,
}

/// An offer of a selection, and the entry before it.
#[derive(Debug, Clone, Copy)]
struct HistoryEntry {
    offer: u32,
    before: u32,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEnd {
    Complete,
    WithinGap,
    Stopped,
}

/// The search, and the memory of earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct CoreSearch {
    offers: Vec<CoreOffer>,
    groups: Vec<CoreGroup>,
    states: Vec<SelectionState>,
    next_states: Vec<SelectionState>,
    /// Position in the list of states for each offer of a group.
    heads: Vec<usize>,
    history: Vec<HistoryEntry>,
    /// The least loss of a selection, and its last entry in the history.
    best_loss: f64,
    best_last: u32,
    price: f64,
    min_improvement: f64,
    pub(super) nodes: u64,
}

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct CoreLimits {
    pub(super) nodes: u64,
    /// The search ends at this loss.
    pub(super) loss: f64,
}

impl CoreSearch {
    /// Finds the best selection and writes it over the choices of the relaxed optimum.
    pub(super) fn run(
        &mut self,
        rules: OfferRules<'_>,
        costs: &[f64],
        optimum: &mut LinearOptimum,
        limits: CoreLimits,
    ) -> SearchEnd {
        self.nodes = 0;
        self.price = optimum.price;
        self.history.clear();
        self.best_last = NONE;
        // The relaxed optimum without its partial offer is feasible, and loses the price of the
        // capacity that is left.
        self.best_loss = optimum.price * optimum.slack;
        self.min_improvement = OBJECTIVE_TOLERANCE * optimum.cost.abs();
        // No selection can be better by more than the tolerance.
        if self.best_loss <= self.min_improvement {
            return SearchEnd::Complete;
        }
        // A good selection first: it excludes more offers from the core.
        self.find_single_change(rules, costs, optimum);
        self.find_core(rules, costs, optimum);
        let end = self.search(optimum.slack, limits);
        let mut entry = self.best_last;
        while entry != NONE {
            let HistoryEntry { offer, before } = self.history[entry as usize];
            let (group, offer) = split_entry(rules, offer);
            optimum.choices[group] = offer;
            entry = before;
        }
        end
    }

    /// The best selection that differs in one group, or in another group besides the partial offer.
    fn find_single_change(
        &mut self,
        rules: OfferRules<'_>,
        costs: &[f64],
        optimum: &LinearOptimum,
    ) {
        let mut best = None;
        let partial = optimum.partial.map(|offer| {
            let group = rules.groups.group_of(offer as usize);
            let step = rules.groups.weight(offer) - rules.groups.weight(optimum.choices[group]);
            (offer, group, optimum.slack - step)
        });
        // Changing one group already finds many optima.
        for_each_change(rules, costs, optimum, |change| {
            let slack = optimum.slack - change.weight;
            if slack >= 0.0 {
                let loss = change.loss + self.price * slack;
                if loss < self.best_loss {
                    self.best_loss = loss;
                    best = Some((change, None));
                }
            }
            if let Some((offer, group, slack)) = partial
                && group != change.group
                && slack >= change.weight
            // Together with the partial offer, in whole.
            {
                let loss = change.loss + self.price * (slack - change.weight);
                if loss < self.best_loss {
                    self.best_loss = loss;
                    best = Some((change, Some(offer)));
                }
            }
        });
        if let Some((change, partial)) = best {
            let entries = [Some(change.entry(rules)), partial];
            for offer in entries.into_iter().flatten() {
                self.best_last = self.push_history(offer, self.best_last);
            }
        }
    }

    /// Finds the groups with offers whose loss is below that of the best selection.
    fn find_core(&mut self, rules: OfferRules<'_>, costs: &[f64], optimum: &LinearOptimum) {
        self.offers.clear();
        self.groups.clear();
        // An offer that alone loses as much as the best selection is in no better one.
        let cutoff = self.best_loss - self.min_improvement;
        let mut current = usize::MAX;
        let (offers, groups) = (&mut self.offers, &mut self.groups);
        for_each_change(rules, costs, optimum, |change| {
            if change.loss >= cutoff {
                return;
            }
            if change.group != current {
                current = change.group;
                groups.push(CoreGroup {
                    first: offers.len() as u32,
                    end: offers.len() as u32,
                    heavier_ratio: f64::INFINITY,
                    lighter_ratio: f64::INFINITY,
                });
            }
            if let Some(group) = groups.last_mut() {
                group.end += 1;
                // An offer of the same weight has an infinite ratio, or NaN, which `min` ignores.
                let ratio = change.loss / change.weight.abs();
                if change.weight > 0.0 {
                    group.heavier_ratio = group.heavier_ratio.min(ratio);
                } else {
                    group.lighter_ratio = group.lighter_ratio.min(ratio);
                }
            }
            offers.push(CoreOffer {
                offer: change.entry(rules),
                weight: change.weight,
                loss: change.loss,
            });
        });
        let ratio = |group: &CoreGroup| group.heavier_ratio.min(group.lighter_ratio);
        // Stable: equal ratios stay in the order of the groups.
        // Groups of small ratio first: they decide most, so states are dominated early.
        self.groups.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        // From here on, the smallest ratios of a group and all groups behind it.
        let mut heavier = f64::INFINITY;
        let mut lighter = f64::INFINITY;
        // Backwards: each group gets the minimum over itself and all behind it.
        for group in self.groups.iter_mut().rev() {
            heavier = heavier.min(group.heavier_ratio);
            lighter = lighter.min(group.lighter_ratio);
            group.heavier_ratio = heavier;
            group.lighter_ratio = lighter;
        }
    }

    fn search(&mut self, slack: f64, limits: CoreLimits) -> SearchEnd {
        self.states.clear();
        self.states.push(SelectionState {
            slack,
            loss: 0.0,
            last: NONE,
        });
        for position in 0..self.groups.len() {
            if self.states.is_empty() {
                break;
            }
            if self.best_loss <= limits.loss {
                return SearchEnd::WithinGap;
            }
            if cancellation::requested() || !self.add_group(position, limits.nodes) {
                return SearchEnd::Stopped;
            }
        }
        SearchEnd::Complete
    }

    /// Adds the offers of a group to all states; `false` if the search was stopped.
    fn add_group(&mut self, position: usize, max_nodes: u64) -> bool {
        let CoreGroup { first, end, .. } = self.groups[position];
        // The bound of a state is that of the groups to come; unused capacity loses the price.
        let following = self.groups.get(position + 1);
        let heavier = following.map_or(self.price, |group| group.heavier_ratio.min(self.price));
        let lighter = following.map_or(f64::INFINITY, |group| group.lighter_ratio);
        let offers = first as usize..end as usize;
        self.next_states.clear();
        self.heads.clear();
        // The choice itself, then each offer.
        self.heads.resize(offers.len() + 1, 0);
        let mut least_total = f64::INFINITY;
        // The lists of all offers are sorted by capacity left, so merging them needs no sorting.
        loop {
            // The state with the most capacity left among the next ones of all offers.
            let mut next: Option<(usize, SelectionState)> = None;
            for (option, head) in self.heads.iter().enumerate() {
                let Some(state) = self.states.get(*head) else {
                    continue;
                };
                let mut state = *state;
                if let Some(number) = option.checked_sub(1) {
                    let offer = self.offers[offers.start + number];
                    state.slack -= offer.weight;
                    state.loss += offer.loss;
                }
                if next.is_none_or(|(_, best)| state.slack > best.slack) {
                    next = Some((option, state));
                }
            }
            let Some((option, mut state)) = next else {
                break;
            };
            self.heads[option] += 1;
            // A state with more capacity left that would lose less as it is dominates this one.
            let total = state.loss + self.price * state.slack;
            let bound = if state.slack >= 0.0 {
                state.loss + heavier * state.slack
            } else {
                state.loss - lighter * state.slack
            };
            // Both tests at once: dominated by an earlier state, or not better than the best
            // selection.
            if total >= least_total || bound >= self.best_loss - self.min_improvement {
                continue;
            }
            self.nodes += 1;
            if self.nodes > max_nodes
                || (self.nodes.is_multiple_of(POLL_INTERVAL) && cancellation::requested())
            {
                return false;
            }
            least_total = total;
            if let Some(number) = option.checked_sub(1) {
                let offer = self.offers[offers.start + number].offer;
                state.last = self.push_history(offer, state.last);
            }
            // A state without further changes is a selection.
            if state.slack >= 0.0 && total < self.best_loss - self.min_improvement {
                self.best_loss = total;
                self.best_last = state.last;
            }
            self.next_states.push(state);
        }
        // The old states become the buffer of the next group.
        std::mem::swap(&mut self.states, &mut self.next_states);
        true
    }

    fn push_history(&mut self, offer: u32, before: u32) -> u32 {
        self.history.push(HistoryEntry { offer, before });
        self.history.len() as u32 - 1
    }
}

/// A choice of a group other than that of the relaxed optimum.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChoiceChange {
    pub(super) group: usize,
    /// The offer; `NONE` for no offer.
    pub(super) offer: u32,
    /// Its weight less that of the group's choice.
    pub(super) weight: f64,
    /// What it costs more than the choice at the price of the capacity; 0 or more.
    pub(super) loss: f64,
}

impl ChoiceChange {
    /// The change as an entry of the history: no offer of group `g` follows all offers.
    fn entry(&self, rules: OfferRules<'_>) -> u32 {
        if self.offer == NONE {
            (rules.groups.num_offers() + self.group) as u32
        } else {
            self.offer
        }
    }
}

/// The group and the offer of an entry of the history.
fn split_entry(rules: OfferRules<'_>, entry: u32) -> (usize, u32) {
    match (entry as usize).checked_sub(rules.groups.num_offers()) {
        Some(group) => (group, NONE),
        None => (rules.groups.group_of(entry as usize), entry),
    }
}

/// Visits every offer of every group that the relaxed optimum does not choose, group by group.
pub(super) fn for_each_change(
    rules: OfferRules<'_>,
    costs: &[f64],
    optimum: &LinearOptimum,
    mut visit: impl FnMut(ChoiceChange),
) {
    let price = optimum.price;
    for (group, choice) in optimum.choices.iter().enumerate() {
        let chosen_weight = rules.groups.weight(*choice);
        let chosen_cost = match *choice {
            NONE => 0.0,
            choice => costs[choice as usize],
        };
        let mut change = |offer: u32, cost: f64, weight: f64| {
            let weight = weight - chosen_weight;
            visit(ChoiceChange {
                group,
                offer,
                weight,
                // Rounding may make the loss of an optimal offer slightly negative.
                loss: (cost - chosen_cost + price * weight).max(0.0),
            });
        };
        if rules.is_optional && *choice != NONE {
            change(NONE, 0.0, 0.0);
        }
        for offer in rules.groups.offers(group) {
            if offer as u32 != *choice && rules.is_present(offer) {
                change(offer as u32, costs[offer], rules.groups.weights()[offer]);
            }
        }
    }
}
