//! The linear relaxation of a multiple-choice knapsack: Sinha and Zoltners (1979), Zemel (1980).
//!
//! In each group, only the offers on the upper left hull of weight and value matter. Every group
//! begins with its lightest offer on the hull. The steps from one offer of a hull to the next, by
//! decreasing gain per weight, are taken while they fit. The first one that does not fit is taken
//! in part. The steps that fit are found by repeated selection of the median, without sorting, in
//! linear time (Dyer 1984).

use super::groups::{NONE, OfferGroups};

/// Offers that compete: which of them exist, and whether a group may choose nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfferRules<'a> {
    pub(super) groups: &'a OfferGroups,
    pub(super) present: Option<&'a [bool]>,
    pub(super) is_optional: bool,
}

impl OfferRules<'_> {
    pub(super) fn is_present(&self, offer: usize) -> bool {
        self.present.is_none_or(|present| present[offer])
    }
}

/// A point of a hull.
#[derive(Debug, Clone, Copy)]
struct HullPoint {
    offer: u32,
    weight: f64,
    cost: f64,
}

/// The step from one point of a hull to the next.
#[derive(Debug, Clone, Copy)]
struct HullStep {
    /// Decrease of the cost per weight: positive, and decreasing along a hull.
    efficiency: f64,
    weight: f64,
    /// Orders steps of equal efficiency; increasing along a hull.
    number: u32,
    group: u32,
    /// The offer that the step leads to.
    offer: u32,
}

/// The relaxed optimum, and the memory of earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct LinearOptimum {
    hull: Vec<HullPoint>,
    steps: Vec<HullStep>,
    /// The choice of each group; that of the group of `partial` is replaced in part.
    pub(super) choices: Vec<u32>,
    /// What is left of the capacity.
    pub(super) slack: f64,
    /// The value of a unit of capacity.
    pub(super) price: f64,
    /// The offer that replaces a choice in part.
    pub(super) partial: Option<u32>,
    /// The lowest cost.
    pub(super) cost: f64,
}

impl LinearOptimum {
    /// Minimizes; the lightest choices fit.
    pub(super) fn solve(&mut self, rules: OfferRules<'_>, costs: &[f64], capacity: f64) {
        self.choices.clear();
        self.steps.clear();
        let mut lightest = 0.0;
        for group in 0..rules.groups.num_groups() {
            self.build_hull(rules, costs, group);
            let first = self.hull.first().map_or(NONE, |point| point.offer);
            lightest += rules.groups.weight(first);
            self.choices.push(first);
            let mut efficiency = f64::INFINITY;
            for points in self.hull.windows(2) {
                let weight = points[1].weight - points[0].weight;
                // Rounding must not change the order along a hull.
                // Efficiencies must decrease along a hull, or else a later step could be taken
                // before an earlier one.
                efficiency = ((points[0].cost - points[1].cost) / weight).min(efficiency);
                self.steps.push(HullStep {
                    efficiency,
                    weight,
                    number: self.steps.len() as u32,
                    group: group as u32,
                    offer: points[1].offer,
                });
            }
        }
        let taken = self.count_steps_that_fit(capacity - lightest);
        for step in &self.steps[..taken] {
            let choice = &mut self.choices[step.group as usize];
            // Steps of a group are taken in order of weight, but the selection leaves them
            // unsorted: the heaviest one counts.
            if rules.groups.weight(step.offer) > rules.groups.weight(*choice) {
                *choice = step.offer;
            }
        }
        let chosen = self.choices.iter().map(|offer| rules.groups.weight(*offer));
        // Summed anew: the differences of the steps have rounding errors.
        self.slack = capacity - chosen.sum::<f64>();
        let chosen = self.choices.iter().filter(|offer| **offer != NONE);
        self.cost = chosen.map(|offer| costs[*offer as usize]).sum();
        let partial = self.steps.get(taken);
        self.partial = partial.map(|step| step.offer);
        self.price = partial.map_or(0.0, |step| step.efficiency);
        // The partial step is worth the price per unit of what is left.
        self.cost -= self.price * self.slack;
    }

    /// The fraction of the partial offer, below 1.
    pub(super) fn fraction(&self, groups: &OfferGroups) -> f64 {
        let Some(partial) = self.partial else {
            return 0.0;
        };
        let replaced = self.choices[groups.group_of(partial as usize)];
        let step = groups.weight(partial) - groups.weight(replaced);
        (self.slack / step).clamp(0.0, 1.0)
    }

    /// The offers of a group that are optimal at some price of the capacity, by increasing weight
    /// and decreasing cost.
    fn build_hull(&mut self, rules: OfferRules<'_>, costs: &[f64], group: usize) {
        self.hull.clear();
        if rules.is_optional {
            self.hull.push(HullPoint {
                offer: NONE,
                weight: 0.0,
                cost: 0.0,
            });
        }
        for offer in rules.groups.by_weight(group) {
            let index = *offer as usize;
            if !rules.is_present(index) {
                continue;
            }
            let point = HullPoint {
                offer: *offer,
                weight: rules.groups.weights()[index],
                cost: costs[index],
            };
            // Dominated: heavier, and not cheaper.
            if self.hull.last().is_some_and(|last| last.cost <= point.cost) {
                continue;
            }
            if self
                .hull
                .last()
                .is_some_and(|last| last.weight == point.weight)
            {
                self.hull.pop();
            }
            // The middle point is above the line between its neighbors, so no price makes it
            // optimal.
            while let [.., before, last] = self.hull.as_slice()
                && (before.cost - last.cost) * (point.weight - last.weight)
                    <= (last.cost - point.cost) * (last.weight - before.weight)
            {
                self.hull.pop();
            }
            self.hull.push(point);
        }
    }

    /// Moves the most efficient steps that fit to the front, and behind them the first that does
    /// not; returns how many fit.
    fn count_steps_that_fit(&mut self, mut capacity: f64) -> usize {
        let (mut first, mut end) = (0, self.steps.len());
        while first < end {
            let open = &mut self.steps[first..end];
            let middle = open.len() / 2;
            // A selection instead of sorting: only the prefix that fits is needed (Dyer 1984, Zemel
            // 1984).
            open.select_nth_unstable_by(middle, |a, b| {
                b.efficiency
                    .total_cmp(&a.efficiency)
                    .then(a.number.cmp(&b.number))
            });
            // All up to the middle fit, so the last step is behind it.
            let weight: f64 = open[..=middle].iter().map(|step| step.weight).sum();
            if weight <= capacity {
                capacity -= weight;
                first += middle + 1;
            } else {
                // The middle step may be the first that does not fit.
                end = first + middle;
            }
        }
        first
    }
}
