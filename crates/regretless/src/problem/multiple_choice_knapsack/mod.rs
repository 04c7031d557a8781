//! Multiple-choice knapsack: one offer per group, such as a customer, within a capacity.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::flexible_fields::PresentList;
use super::subset::{absences, clear_absent};
use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    ProblemKind, Sense, Sensitivity, SolveCostHint, check_binary,
};
use crate::data::{CostNames, matched_by_position};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::multiple_choice::{MultipleChoiceSolver, OfferChoice, OfferGroups};
use crate::solve::relaxation::VertexSolver;
use crate::solve::{SearchLimits, Solver};

mod family;

pub(super) use family::FAMILY;

/// The time of a relaxed solve over that of an exact one; measured on 10,000 and 100,000 offers.
const RELAXED_RATIO: f64 = 0.4;

/// Choose one offer of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    try_from = "MultipleChoiceKnapsackFields",
    into = "MultipleChoiceKnapsackFields"
)]
pub struct MultipleChoiceKnapsack {
    choice: OfferChoice,
    sense: Sense,
}

/// A serialized multiple-choice knapsack, not validated.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MultipleChoiceKnapsackFields {
    weights: WeightsField,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<usize>>,
    capacity: f64,
    #[serde(default)]
    optional: bool,
    #[serde(default = "default_sense")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
}

/// Values are gains unless the problem file says otherwise.
fn default_sense() -> Sense {
    Sense::Maximize
}

/// Weights: one list per group, or one list of all offers, whose groups have stated sizes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`weights` is one list of numbers per group, or one list of all numbers with the \
                 sizes of the groups in `groups`"
)]
enum WeightsField {
    Groups(Vec<Vec<f64>>),
    Offers(Vec<f64>),
}

impl TryFrom<MultipleChoiceKnapsackFields> for MultipleChoiceKnapsack {
    type Error = Error;

    fn try_from(fields: MultipleChoiceKnapsackFields) -> Result<Self> {
        let (sizes, weights) = match (fields.weights, fields.groups) {
            (WeightsField::Groups(groups), None) => {
                (groups.iter().map(Vec::len).collect(), groups.concat())
            }
            (WeightsField::Groups(groups), Some(sizes)) => {
                let listed: Vec<usize> = groups.iter().map(Vec::len).collect();
                if listed != sizes {
                    return Err(Error::setting(
                        "`groups` has other sizes than the lists of `weights`",
                    )
                    .with_remedy("leave out `groups`"));
                }
                (sizes, groups.concat())
            }
            (WeightsField::Offers(weights), Some(sizes)) => (sizes, weights),
            (WeightsField::Offers(_), None) => {
                return Err(
                    Error::setting("`weights` is one list of numbers").with_remedy(
                        "write one list per group, or the sizes of the groups as `groups`",
                    ),
                );
            }
        };
        let problem = Self::from_sizes(&sizes, weights, fields.capacity, fields.optional)?;
        let problem = problem.with_sense(fields.sense);
        match fields.present {
            Some(present) => problem.with_numbers(None, Some(present.into_flags()), None),
            None => Ok(problem),
        }
    }
}

impl From<MultipleChoiceKnapsack> for MultipleChoiceKnapsackFields {
    fn from(problem: MultipleChoiceKnapsack) -> Self {
        let OfferChoice {
            groups,
            present,
            is_optional,
            capacity,
        } = problem.choice;
        let weights = (0..groups.num_groups())
            .map(|group| groups.weights()[groups.offers(group)].to_vec())
            .collect();
        Self {
            weights: WeightsField::Groups(weights),
            groups: None,
            capacity,
            optional: is_optional,
            sense: problem.sense,
            present: present.as_deref().map(PresentList::from_flags),
        }
    }
}

impl MultipleChoiceKnapsack {
    /// Groups of offers with these weights. Each group chooses one offer or, if `optional`, at most
    /// one; values are maximized.
    ///
    /// # Errors
    /// When there is no offer, a number is negative or not finite, or the lightest offers exceed
    /// the capacity.
    pub fn new(weights: &[Vec<f64>], capacity: f64, optional: bool) -> Result<Self> {
        let sizes: Vec<usize> = weights.iter().map(Vec::len).collect();
        Self::from_sizes(&sizes, weights.concat(), capacity, optional)
    }

    fn from_sizes(
        sizes: &[usize],
        weights: Vec<f64>,
        capacity: f64,
        is_optional: bool,
    ) -> Result<Self> {
        size_limits::checked_product("offers", &[weights.len()], size_limits::MAX_COSTS)?;
        let total = sizes
            .iter()
            .try_fold(0_usize, |sum, size| sum.checked_add(*size));
        if total != Some(weights.len()) {
            return Err(Error::setting(format!(
                "`groups` has other sizes than the {} weights",
                weights.len()
            )));
        }
        if weights.is_empty() {
            return Err(Error::setting("a multiple-choice knapsack without offers"));
        }
        check_weights(&weights)?;
        let problem = Self {
            choice: OfferChoice {
                groups: Arc::new(OfferGroups::new(sizes, weights)),
                present: None,
                is_optional,
                capacity,
            },
            sense: default_sense(),
        };
        problem.checked()
    }

    /// The same problem with another objective sense.
    #[must_use]
    pub fn with_sense(self, sense: Sense) -> Self {
        Self { sense, ..self }
    }

    /// The same problem with other numbers, if they are given: the weight of each offer, whether
    /// each offer is present, and the capacity. Weights of absent offers are not read.
    ///
    /// # Errors
    /// When a list has another length than the offers, a number is negative or not finite, a group
    /// that has to choose has no offer, or the lightest offers exceed the capacity.
    fn with_numbers(
        &self,
        weights: Option<Vec<f64>>,
        present: Option<Vec<bool>>,
        capacity: Option<f64>,
    ) -> Result<Self> {
        let mut changed = self.clone();
        let choice = &mut changed.choice;
        if let Some(present) = present {
            let present = absences(Some(present), choice.groups.num_offers(), "offer")?;
            choice.present = present.map(Arc::from);
        }
        if let Some(mut weights) = weights {
            clear_absent(&mut weights, choice.present.as_deref());
            check_weights(&weights)?;
            choice.groups = Arc::new(choice.groups.with_weights(weights));
        }
        choice.capacity = capacity.unwrap_or(choice.capacity);
        changed.checked()
    }

    fn groups(&self) -> &OfferGroups {
        &self.choice.groups
    }

    fn is_present(&self, offer: usize) -> bool {
        let present = self.choice.present.as_ref();
        present.is_none_or(|present| present[offer])
    }

    fn checked(self) -> Result<Self> {
        let capacity = self.choice.capacity;
        if !(capacity >= 0.0 && capacity.is_finite()) {
            return Err(Error::setting(format!(
                "the capacity {capacity} is not a number >= 0"
            )));
        }
        // The lightest offer of every group is a selection: if it fits, there is a feasible one,
        // and else there is none.
        let lightest = self.choice.lightest();
        if lightest <= self.choice.limit() {
            return Ok(self);
        }
        let mut groups = 0..self.groups().num_groups();
        let has_offer = |group: usize| {
            let mut offers = self.groups().offers(group);
            offers.any(|offer| self.is_present(offer))
        };
        Err(match groups.find(|group| !has_offer(*group)) {
            Some(group) => Error::setting(format!("group {group} has no offer"))
                .with_remedy("`optional = true` lets a group choose nothing"),
            None => Error::setting(format!(
                "the lightest offers of all groups weigh {lightest}, more than the capacity \
                 {capacity}"
            )),
        })
    }

    fn choice_solver(&self, limits: &SearchLimits) -> Box<MultipleChoiceSolver> {
        Box::new(MultipleChoiceSolver::new(self.choice.clone(), *limits))
    }
}

fn check_weights(weights: &[f64]) -> Result<()> {
    let is_weight = |weight: &f64| *weight >= 0.0 && weight.is_finite();
    match weights.iter().position(|weight| !is_weight(weight)) {
        Some(offer) => Err(Error::setting(format!(
            "the weight {} of offer {offer} is not a number >= 0",
            weights[offer]
        ))),
        None => Ok(()),
    }
}

impl ProblemKind for MultipleChoiceKnapsack {
    fn name(&self) -> String {
        let groups = self.groups();
        let suffix = self.choice.present.as_ref().map(|present| {
            let count = present.iter().filter(|present| **present).count();
            format!(" ({count} of {} offers present)", present.len())
        });
        format!(
            "multiple-choice knapsack of {} groups with {} offers{}",
            groups.num_groups(),
            groups.num_offers(),
            suffix.unwrap_or_default()
        )
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.groups().num_offers()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.choice.present.as_deref()
    }

    /// Medians: 0.23 ms for 10,000 offers, 2.3 ms for 100,000.
    fn solve_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::estimated(2.3e-8 * self.num_costs() as f64 + 2e-6, RELAXED_RATIO)
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        self.choice_solver(limits)
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        match solver.downcast_mut::<MultipleChoiceSolver>() {
            Some(solver) => {
                solver.set_choice(self.choice.clone());
                true
            }
            None => false,
        }
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let groups = self.groups();
        let mut has_offer = vec![false; groups.num_groups()];
        for offer in decision.indices() {
            let offer = *offer as usize;
            if !self.is_present(offer) {
                return Err(format!("offer {offer} is chosen, but it is absent"));
            }
            let group = groups.group_of(offer);
            if std::mem::replace(&mut has_offer[group], true) {
                return Err(format!("group {group} has two offers"));
            }
        }
        if !self.choice.is_optional
            && let Some(group) = has_offer.iter().position(|has_offer| !has_offer)
        {
            return Err(format!("group {group} has no offer"));
        }
        let load = decision.dot(groups.weights());
        if load > self.choice.limit() {
            return Err(format!(
                "load {load} exceeds capacity {}",
                self.choice.capacity
            ));
        }
        Ok(())
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for MultipleChoiceKnapsack {
    fn position_note(&self, costs: &CostNames) -> Option<String> {
        let weights = self.groups().weights();
        matched_by_position("weights", costs, |offer| weights[offer].to_string())
    }
}

impl FailureReasons for MultipleChoiceKnapsack {}
impl Choices for MultipleChoiceKnapsack {}

impl Sensitivity for MultipleChoiceKnapsack {
    fn vertex_solver(&self, limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.choice_solver(limits))
    }
}

impl DecisionGeometry for MultipleChoiceKnapsack {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let groups = self.groups();
        let mut cone = NormalCone::binary(decision, self.num_costs());
        let mut chosen = vec![0.0; groups.num_groups()];
        for (offer, value) in decision.iter() {
            chosen[groups.group_of(offer)] += value;
        }
        let present = |offer: &usize| self.is_present(*offer);
        let fewest = f64::from(u8::from(!self.choice.is_optional));
        for (group, sum) in chosen.iter().enumerate() {
            let offers = groups.offers(group).filter(present);
            cone.add_row_if_binding([fewest, 1.0], *sum, offers.map(|offer| (offer, 1.0)));
        }
        let offers = (0..self.num_costs()).filter(present);
        cone.add_row_if_binding(
            [f64::NEG_INFINITY, self.choice.capacity],
            decision.dot(groups.weights()),
            offers.map(|offer| (offer, groups.weights()[offer])),
        );
        Some(cone.without_absent(self.choice.present.as_deref()))
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        let groups = self.groups();
        let offers = (0..groups.num_groups()).map(|group| groups.offers(group));
        if self.choice.is_optional {
            return EqualityConstraints::None;
        }
        if self.choice.present.is_none() {
            return EqualityConstraints::Groups(offers.map(|offers| offers.len()).collect());
        }
        EqualityConstraints::from_rows(offers.map(|offers| {
            let present = offers.filter(|offer| self.is_present(*offer));
            present.map(|offer| (offer as u32, 1.0)).collect()
        }))
    }

    /// An offer of every group is chosen unless groups are optional.
    fn may_contain_decisions(&self) -> bool {
        self.choice.is_optional
    }
}
