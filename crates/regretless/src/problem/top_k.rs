//! Top-k selection: exactly k of the items, or at most k.
//!
//! The smallest problem of this module, and an example for new ones.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::family::{
    ArgumentForm, KindConstructor, KindDefinition, KindField, ProblemFamily, RowPlace,
    TemplateRules,
};
use super::flexible_fields::PresentList;
use super::layout::DecisionLayout;
use super::subset::{MaybeSubset, PartialKind, Subset, absences};
use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, ProblemKind, Sense,
    Sensitivity, SolveCostHint, SolverTraits, check_binary,
};
use super::{Problem, ProblemSpec};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{CostRanging, VertexSolver};
use crate::solve::top_k::TopKSolver;
use crate::solve::{SearchLimits, Solver};

/// Choose k of the items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TopKFields")]
pub struct TopK {
    items: usize,
    k: usize,
    at_most: bool,
    sense: Sense,
    #[serde(rename = "present", skip_serializing_if = "MaybeSubset::is_all")]
    subset: MaybeSubset<Self>,
}

/// A serialized top-k problem, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopKFields {
    #[serde(deserialize_with = "number_of_items")]
    items: usize,
    k: usize,
    #[serde(default)]
    at_most: bool,
    sense: Sense,
    #[serde(default)]
    present: Option<PresentList>,
}

/// A number; for a list of names, which other kinds have here, the error says where names are from.
fn number_of_items<'de, D: Deserializer<'de>>(field: D) -> Result<usize, D::Error> {
    struct NumberOfItems;
    impl Visitor<'_> for NumberOfItems {
        type Value = usize;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the number of items (their names are those of the costs in the table)")
        }

        fn visit_i64<E: de::Error>(self, count: i64) -> Result<usize, E> {
            usize::try_from(count).map_err(|_| E::invalid_value(Unexpected::Signed(count), &self))
        }

        fn visit_u64<E: de::Error>(self, count: u64) -> Result<usize, E> {
            usize::try_from(count).map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))
        }
    }
    field.deserialize_any(NumberOfItems)
}

impl TryFrom<TopKFields> for TopK {
    type Error = Error;

    fn try_from(fields: TopKFields) -> Result<Self> {
        let TopKFields {
            items,
            k,
            at_most,
            sense,
            present,
        } = fields;
        let problem = if at_most {
            Self::at_most(items, k, sense)?
        } else {
            Self::new(items, k, sense)?
        };
        match present {
            Some(present) => problem.with_present(present.into_flags()),
            None => Ok(problem),
        }
    }
}

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "top_k",
    summary: "The k cheapest or, for a maximization, the k most valuable items.",
    starter: "\
# choose exactly k of many
kind = \"top_k\"
items = {count}
k = 2                      # fill in: how many are chosen
sense = \"maximize\"         # fill in: or \"minimize\"
# k = { column = \"drivers\" }   # instead of a number that differs per row
# at_most = true           # optional: fewer may be chosen
",
    fields: &[
        KindField::required("items", "int", "Number of items.").annotated("int"),
        KindField::required("k", "int or column", "Number of selected items.")
            .rows(&[RowPlace::whole(0)]),
        KindField::sense("\"minimize\""),
        KindField::optional(
            "at_most",
            "bool, default False",
            "Whether fewer than k items may be selected.",
        )
        .annotated("bool")
        .default("False")
        .form(ArgumentForm::FlagIfTrue),
        KindField::present(
            "array_like of shape (d,) or columns, optional",
            "Which items exist (1 or 0); all by default. An absent item is never selected, and its \
             cost may be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a top-k selection: the k cheapest or, to maximize, the k most valuable \
                  items.",
        positional: 2,
        examples: &[
            ">>> problem = rl.Problem.top_k(3, k=rl.column(\"needed\"))",
            ">>> problem.solve([5, 1, 4], parameters={\"needed\": 2}).decision",
            "array([0., 1., 1.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        items_key: Some("items"),
        has_items_field: true,
        listed_items: items_of_file,
        items_may_differ: true,
        has_order_of_costs: true,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn items_of_file(file: &Value) -> Option<usize> {
    file.get("present")?.as_array().map(Vec::len)
}

impl KindDefinition for TopK {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn items_may_differ(&self) -> bool {
        self.subset.is_all()
    }

    /// Absent items would look like items that were not chosen.
    fn layout(&self) -> Option<DecisionLayout> {
        self.subset.is_all().then_some(DecisionLayout::ITEMS)
    }
}

impl TopK {
    /// Choose exactly `k` of `items` items.
    ///
    /// # Errors
    /// When there are no items, fewer than k, or more than `size_limits::MAX_COSTS`.
    pub fn new(items: usize, k: usize, sense: Sense) -> Result<Self> {
        size_limits::checked_product("items", &[items], size_limits::MAX_COSTS)?;
        if items == 0 || k > items {
            return Err(Error::setting(format!(
                "top_k cannot choose k = {k} of {items} items"
            )));
        }
        Ok(Self {
            items,
            k,
            at_most: false,
            sense,
            subset: MaybeSubset::ALL,
        })
    }

    /// Choose at most `k` of `items` items; with `k = items` every subset is feasible.
    ///
    /// # Errors
    /// As [`TopK::new`].
    pub fn at_most(items: usize, k: usize, sense: Sense) -> Result<Self> {
        Ok(Self {
            at_most: true,
            ..Self::new(items, k, sense)?
        })
    }

    /// The same problem in which only some of the items can be chosen: one flag per item. It is
    /// solved as the choice from these items.
    ///
    /// # Errors
    /// When the number of flags is not that of the items, no item is present, or exactly k items
    /// are to be chosen and fewer are present.
    pub fn with_present(mut self, present: Vec<bool>) -> Result<Self> {
        self.subset = MaybeSubset::ALL;
        let Some(present) = absences(Some(present), self.items, "item")? else {
            return Ok(self);
        };
        let count = present.iter().filter(|present| **present).count();
        if count < self.k && !self.at_most {
            return Err(Error::setting(format!(
                "top_k cannot choose k = {} of {count} present items",
                self.k
            )));
        }
        let smaller = Self {
            items: count,
            k: self.k.min(count),
            ..self.clone()
        };
        self.subset = MaybeSubset::of(Subset::of_items(present, smaller));
        Ok(self)
    }

    /// Whether each item is present; `None` if all are.
    pub fn present(&self) -> Option<&[bool]> {
        self.subset.present()
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Number of chosen items, or the most that may be chosen.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Whether fewer than k items may be chosen.
    pub fn allows_fewer(&self) -> bool {
        self.at_most
    }

    fn min_selected(&self) -> usize {
        if self.at_most { 0 } else { self.k }
    }

    fn top_k_solver(&self) -> Box<TopKSolver> {
        Box::new(TopKSolver::new(self.items, self.min_selected(), self.k))
    }
}

impl Problem {
    /// Top-k selection: the k cheapest or, for a maximization, the k most valuable items.
    ///
    /// ```
    /// use regretless::{Problem, Sense};
    ///
    /// let problem = Problem::top_k(4, 2, Sense::Maximize)?;
    /// assert_eq!(problem.solve(&[1.0, 7.0, 3.0, 5.0])?.objective, 12.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are no items or fewer than k.
    pub fn top_k(items: usize, k: usize, sense: Sense) -> Result<Self> {
        Self::from_spec(ProblemSpec::TopK(TopK::new(items, k, sense)?))
    }
}

impl CostNaming for TopK {}
impl SolverTraits for TopK {}
impl FailureReasons for TopK {}
impl Choices for TopK {}

impl PartialKind for TopK {
    fn subset(&self) -> &MaybeSubset<Self> {
        &self.subset
    }

    fn title(&self) -> String {
        format!("top {} of {}", self.k, self.items)
    }

    fn objective_sense(&self) -> Sense {
        self.sense
    }

    fn count_costs(&self) -> usize {
        self.items
    }

    fn full_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::estimated(1e-6, 1.0)
    }

    fn full_solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.top_k_solver()
    }

    fn check_present(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.items)?;
        self.subset.check_items(decision)?;
        let chosen = decision.indices().len();
        match chosen.cmp(&self.k) {
            std::cmp::Ordering::Greater => {
                Err(format!("{chosen} items chosen, at most {} allowed", self.k))
            }
            std::cmp::Ordering::Less if !self.at_most => {
                Err(format!("{chosen} items chosen, {} needed", self.k))
            }
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal => Ok(()),
        }
    }
}

impl Sensitivity for TopK {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.top_k_solver())
    }

    /// They are at least as wide as those of any basis, so they serve both kinds.
    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(self.top_k_solver())
    }
}

impl DecisionGeometry for TopK {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.items);
        let chosen = decision.indices().len() as f64;
        cone.add_row_if_binding(
            [self.min_selected() as f64, self.k as f64],
            chosen,
            (0..self.items).map(|item| (item, 1.0)),
        );
        Some(cone)
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        if self.at_most {
            EqualityConstraints::None
        } else {
            EqualityConstraints::Groups(vec![self.items])
        }
    }

    fn may_contain_decisions(&self) -> bool {
        self.at_most
    }
}
