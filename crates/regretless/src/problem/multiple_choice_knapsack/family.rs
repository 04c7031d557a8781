//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::MultipleChoiceKnapsack;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::family::{
    ArgumentForm, At, FieldSize, KindConstructor, KindDefinition, KindField, ProblemFamily,
    RowPlace, Step, TemplateRules,
};
use crate::problem::layout::DecisionLayout;
use crate::problem::parametric::{
    NumberRows, Place, RowParametric, RowSetter, Template, stated_flags,
};
use crate::problem::{Problem, ProblemSpec};

/// A capacity that any offers fit in, whatever the unit of their weights.
const UNLIMITED_BUDGET: f64 = 1e100;

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "multiple_choice_knapsack",
    summary: "One offer of each group within a capacity.",
    starter: "\
# one option for each customer or product, within a budget
kind = \"multiple_choice_knapsack\"
weights = [[1.0, 2.0], [1.0, 2.0]]    # fill in: one list per group, with what each option uses
capacity = 3.0                         # fill in: the budget
sense = \"maximize\"                     # or \"minimize\"
# optional = true                      # a group may choose nothing
",
    fields: &[
        KindField::required(
            "weights",
            "sequence of sequences, or columns",
            "The weights of the offers of each group, such as a customer; an array of shape \
             (groups, offers) if all groups have equally many. `columns` of all offers, with \
             `groups`, if they differ per row.",
        )
        .rows(&[
            // All offers in one list, with the sizes of the groups.
            RowPlace::number(1.0).sized(FieldSize::Items),
            RowPlace::number(1.0).at(&[At::Index]),
            RowPlace::number(1.0).at(&[At::Index, At::Index]),
        ]),
        KindField::required(
            "capacity",
            "float or column",
            "Most weight of all chosen offers, such as a budget.",
        )
        .rows(&[RowPlace::number(UNLIMITED_BUDGET)]),
        KindField::optional(
            "optional",
            "bool, default False",
            "Whether a group may choose nothing.",
        )
        .annotated("bool")
        .default("False")
        .form(ArgumentForm::Flag),
        KindField::sense("\"maximize\""),
        KindField::optional(
            "groups",
            "sequence of int, optional",
            "Number of offers of each group, if the weights come from columns.",
        )
        .annotated("Sequence[int] | None"),
        KindField::present(
            "array_like with a flag per offer, or columns, optional",
            "Which offers can be chosen (1 or 0); all by default. The values of other offers may \
             be missing (NaN).",
        )
        .form(ArgumentForm::Cells),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a multiple-choice knapsack: one offer of each group within a capacity.",
        positional: 2,
        raises: "If the lightest offers of all groups exceed the capacity, or numbers are \
                 negative.",
        notes: "Values are those of the offers, group by group.",
        examples: &[
            ">>> problem = rl.Problem.multiple_choice_knapsack(",
            "...     [[1, 3], [2, 4]], capacity=rl.column(\"budget\")",
            "... )",
            ">>> problem.solve([1, 6, 2, 5], parameters={\"budget\": 5}).decision",
            "array([0., 1., 1., 0.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: offers_of_file,
        has_order_of_costs: true,
        columns_text: Some(
            "weights (all, with the sizes of the groups as `groups`, or single ones), capacity, \
             present",
        ),
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

/// The sum of the sizes of the groups.
fn offers_of_file(file: &Value) -> Option<usize> {
    let mut offers = 0_usize;
    match file.get("groups").and_then(Value::as_array) {
        Some(sizes) => {
            for size in sizes {
                offers = offers.checked_add(size.as_u64()? as usize)?;
            }
        }
        None => {
            for group in file.get("weights")?.as_array()? {
                offers = offers.checked_add(group.as_array()?.len())?;
            }
        }
    }
    Some(offers)
}

impl KindDefinition for MultipleChoiceKnapsack {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }

    fn layout(&self) -> Option<DecisionLayout> {
        Some(DecisionLayout::ITEMS)
    }
}

/// The numbers of a row; lists that no row changes stay shared.
#[derive(Debug, Clone, Default)]
pub(in crate::problem) struct OfferRow {
    capacity: Option<f64>,
    weights: Vec<f64>,
    present: Vec<bool>,
}

impl RowParametric for MultipleChoiceKnapsack {
    type Numbers = OfferRow;

    fn row_numbers(&self, template: &Template) -> OfferRow {
        let mut row = OfferRow::default();
        if template.has_places_in("weights") {
            row.weights = self.groups().weights().to_vec();
        }
        if template.has_places_in("present") {
            row.present = stated_flags(self.present_costs(), self.num_costs());
        }
        row
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<OfferRow>> {
        let set_weight = |row: &mut OfferRow, offer: usize, value| row.weights[offer] = value;
        match (place.field(), place.steps().as_slice()) {
            ("capacity", _) => {
                RowSetter::of_list(place, |row, _, value| row.capacity = Some(value))
            }
            ("present", _) => {
                RowSetter::of_list(place, |row, offer, value| row.present[offer] = value == 1.0)
            }
            ("weights", [Step::Index(group), Step::Index(position)]) => Some(RowSetter {
                set: set_weight,
                first: self.groups().offers(*group).start + position,
            }),
            ("weights", _) => RowSetter::of_list(place, set_weight),
            _ => None,
        }
    }

    fn of_row(&self, row: OfferRow) -> std::result::Result<Self, String> {
        let weights = (!row.weights.is_empty()).then_some(row.weights);
        let present = (!row.present.is_empty()).then_some(row.present);
        self.with_numbers(weights, present, row.capacity)
            .map_err(|error| error.to_string())
    }
}

impl Problem {
    /// One offer of each group, such as a customer, within a capacity: one list of weights per
    /// group. With `optional` a group may choose nothing. Values are predicted and maximized.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let weights = vec![vec![1.0, 3.0], vec![2.0, 4.0]];
    /// let problem = Problem::multiple_choice_knapsack(&weights, 5.0, false)?;
    /// let solution = problem.solve(&[1.0, 6.0, 2.0, 5.0])?;
    /// assert_eq!((solution.objective, solution.decision.indices()), (8.0, &[1, 2][..]));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no offer, a number is negative or not finite, or the lightest offers exceed
    /// the capacity.
    pub fn multiple_choice_knapsack(
        weights: &[Vec<f64>],
        capacity: f64,
        optional: bool,
    ) -> Result<Self> {
        let knapsack = MultipleChoiceKnapsack::new(weights, capacity, optional)?;
        Self::from_spec(ProblemSpec::MultipleChoiceKnapsack(knapsack))
    }
}
