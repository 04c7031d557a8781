//! The groups of a multiple-choice knapsack and the weights of their offers.

/// No offer: the group chooses nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Offers, numbered group by group.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferGroups {
    /// The first offer of each group, and the number of offers.
    starts: Vec<u32>,
    weights: Vec<f64>,
    /// The offers of each group by increasing weight; those of equal weight by number.
    by_weight: Vec<u32>,
    /// The group of each offer.
    group_of: Vec<u32>,
}

impl OfferGroups {
    /// Groups of these sizes with one weight per offer.
    pub fn new(sizes: &[usize], weights: Vec<f64>) -> Self {
        let mut starts = vec![0];
        let mut group_of = Vec::with_capacity(weights.len());
        for (group, size) in (0..).zip(sizes) {
            group_of.extend(std::iter::repeat_n(group, *size));
            starts.push(group_of.len() as u32);
        }
        let mut groups = Self {
            starts,
            weights,
            by_weight: (0..group_of.len() as u32).collect(),
            group_of,
        };
        groups.sort();
        groups
    }

    /// The same groups with other weights.
    pub fn with_weights(&self, weights: Vec<f64>) -> Self {
        let mut groups = Self {
            weights,
            by_weight: (0..self.weights.len() as u32).collect(),
            ..self.clone()
        };
        groups.sort();
        groups
    }

    fn sort(&mut self) {
        let weights = &self.weights;
        for ends in self.starts.windows(2) {
            let offers = &mut self.by_weight[ends[0] as usize..ends[1] as usize];
            // Stable, so equal weights stay in the order of their numbers.
            offers.sort_by(|a, b| weights[*a as usize].total_cmp(&weights[*b as usize]));
        }
    }

    /// Number of groups.
    pub fn num_groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of offers.
    pub fn num_offers(&self) -> usize {
        self.weights.len()
    }

    /// The weight of each offer.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The numbers of the offers of a group.
    pub fn offers(&self, group: usize) -> std::ops::Range<usize> {
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// The offers of a group by increasing weight.
    pub fn by_weight(&self, group: usize) -> &[u32] {
        &self.by_weight[self.offers(group)]
    }

    /// The group of an offer.
    pub fn group_of(&self, offer: usize) -> usize {
        self.group_of[offer] as usize
    }

    /// The weight of an offer, or 0 for no offer.
    pub(super) fn weight(&self, offer: u32) -> f64 {
        if offer == NONE {
            0.0
        } else {
            self.weights[offer as usize]
        }
    }
}
