//! Newsvendor: how much of each item to order before its demand is known, within a shared capacity.
//!
//! Demands are predicted, not costs. The order is placed for the predicted demands; the true ones
//! then decide what is sold, what is left and what was short, which is the recourse.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::family::{
    At, FieldSize, KindConstructor, KindDefinition, KindField, LARGE_CAPACITY, ProblemFamily,
    RowPlace, TemplateRules,
};
use super::flexible_fields::{ItemsField, NumberOrList};
use super::layout::DecisionLayout;
use super::parametric::{NumberRows, Place, RowParametric, RowSetter, Template};
use super::{
    ChoiceFixing, Choices, CostNaming, FixedChoices, KindCapabilities, Problem, ProblemKind,
    ProblemSpec, Recourse, Sense, SolveCostHint, VariableBounds,
};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::newsvendor::{NewsvendorNumbers, NewsvendorSolver};
use crate::solve::{SearchLimits, Solver};

/// Relative excess of a load over the capacity that is rounding error.
const LOAD_TOLERANCE: f64 = 1e-9;

/// Items to order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NewsvendorFields", into = "NewsvendorText")]
pub struct Newsvendor {
    numbers: Arc<NewsvendorNumbers>,
    names: Option<CostNames>,
}

/// A serialized newsvendor, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewsvendorFields {
    under_cost: NumberOrList,
    over_cost: NumberOrList,
    #[serde(default)]
    weights: Option<NumberOrList>,
    #[serde(default)]
    capacity: Option<f64>,
    #[serde(default)]
    items: Option<ItemsField>,
}

/// As it is written to models.
#[derive(Serialize)]
struct NewsvendorText {
    under_cost: Vec<f64>,
    over_cost: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<CostNames>,
}

impl From<Newsvendor> for NewsvendorText {
    fn from(problem: Newsvendor) -> Self {
        let numbers = Arc::unwrap_or_clone(problem.numbers);
        let has_capacity = numbers.capacity.is_finite();
        Self {
            under_cost: numbers.under_cost,
            over_cost: numbers.over_cost,
            weights: has_capacity.then_some(numbers.weights),
            capacity: has_capacity.then_some(numbers.capacity),
            items: problem.names,
        }
    }
}

impl TryFrom<NewsvendorFields> for Newsvendor {
    type Error = Error;

    fn try_from(fields: NewsvendorFields) -> Result<Self> {
        let stated = match &fields.items {
            Some(ItemsField::Count(count)) => Some(*count),
            Some(ItemsField::Names(names)) => Some(names.len()),
            None => None,
        };
        let lists = [
            Some(&fields.under_cost),
            Some(&fields.over_cost),
            fields.weights.as_ref(),
        ];
        let longest = lists.into_iter().flatten().map(|list| list.0.len()).max();
        let items = stated.or(longest).unwrap_or_default();
        let list = |name: &str, numbers: NumberOrList| match numbers.0.as_slice() {
            [number] => Ok(vec![*number; items]),
            list if list.len() == items => Ok(numbers.0),
            list => Err(Error::setting(format!(
                "{name} has {} numbers for {items} items",
                list.len()
            ))
            .with_remedy("write one number, or one per item")),
        };
        let weights = match (fields.weights, fields.capacity) {
            (Some(_), None) => {
                return Err(Error::setting("weights without a capacity have no effect")
                    .with_remedy("state the capacity, or leave the weights out"));
            }
            (Some(weights), Some(_)) => list("weights", weights)?,
            (None, _) => vec![1.0; items],
        };
        let mut problem = Self::new(NewsvendorNumbers {
            under_cost: list("under_cost", fields.under_cost)?,
            over_cost: list("over_cost", fields.over_cost)?,
            weights,
            capacity: fields.capacity.unwrap_or(f64::INFINITY),
        })?;
        if let Some(field) = fields.items {
            problem.names = field.into_names(items)?;
        }
        Ok(problem)
    }
}

impl Newsvendor {
    /// Items with these numbers.
    ///
    /// # Errors
    /// When there is no item, or a number is negative or not finite.
    fn new(numbers: NewsvendorNumbers) -> Result<Self> {
        let items = numbers.items();
        size_limits::checked_product("items", &[items], size_limits::MAX_COSTS)?;
        if items == 0 {
            return Err(Error::setting("a newsvendor needs one item or more"));
        }
        for (name, list) in [
            ("under_cost", &numbers.under_cost),
            ("over_cost", &numbers.over_cost),
            ("weights", &numbers.weights),
        ] {
            let is_invalid = |number: &&f64| !(number.is_finite() && **number >= 0.0);
            if let Some(number) = list.iter().find(is_invalid) {
                return Err(Error::setting(format!(
                    "{name} = {number} is not a number of 0 or more"
                )));
            }
        }
        if numbers.capacity.is_nan() || numbers.capacity < 0.0 {
            return Err(Error::setting(format!(
                "capacity = {} is not a number of 0 or more",
                numbers.capacity
            )));
        }
        Ok(Self {
            numbers: Arc::new(numbers),
            names: None,
        })
    }
}

/// One number, one per item, or that of an item.
const ITEM_PLACES: &[RowPlace] = &[
    RowPlace::number(1.0).plural().sized(FieldSize::Items),
    RowPlace::number(1.0),
    RowPlace::number(1.0).at(&[At::Index]),
];

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "newsvendor",
    summary: "How much of each item to order before its demand is known.",
    starter: "\
# how much to bake, order or prepare before the demand is known
kind = \"newsvendor\"
items = [{names}]
under_cost = [{ones}]      # fill in: what a unit short costs, its margin
over_cost = [{ones}]       # fill in: what a unit left costs, its price less what it is still worth
# weights = [{ones}]       # optional, with capacity: what a unit takes of it
# capacity = 100.0         # optional: shared by all items
# capacity = { column = \"space\" }   # instead of a number that differs per row
",
    fields: &[
        KindField::required(
            "under_cost",
            "float, array_like of shape (d,), column or columns",
            "What a unit of demand that is not met costs, per item: its lost margin.",
        )
        .rows(ITEM_PLACES),
        KindField::required(
            "over_cost",
            "float, array_like of shape (d,), column or columns",
            "What a unit that is left costs, per item: its price less what it is still worth.",
        )
        .rows(ITEM_PLACES),
        KindField::optional(
            "weights",
            "float, array_like of shape (d,), column or columns, optional",
            "What a unit takes of the capacity, per item; 1 by default.",
        )
        .rows(ITEM_PLACES),
        KindField::optional(
            "capacity",
            "float or column, optional",
            "Capacity that all items share; none by default.",
        )
        .rows(&[RowPlace::number(LARGE_CAPACITY)]),
        KindField::optional(
            "items",
            "int or sequence of str, optional",
            "Names of the items, by which columns of demands are matched; or their number.",
        )
        .annotated("int | Sequence[str] | None"),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a newsvendor problem: how much of each item to order before its demand is \
                  known.",
        positional: 2,
        raises: "Where arrays do not belong together or numbers are negative.",
        notes: "Demands are predicted instead of costs. The objective, which is maximized, is the \
                margin (`under_cost`) of every unit that is sold less `over_cost` for every unit \
                that is left, under the true demands.",
        examples: &[
            ">>> weights = [1, 2]",
            ">>> problem = rl.Problem.newsvendor([3, 4], [1, 2], weights=weights, capacity=8)",
            ">>> problem.solve([5, 4]).decision",
            "array([5. , 1.5], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        items_key: Some("items"),
        items_have_names: true,
        listed_items: items_of_file,
        has_order_of_costs: true,
        predicts_quantities: true,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn items_of_file(file: &Value) -> Option<usize> {
    let lists = ["under_cost", "over_cost", "weights"];
    let mut lengths = lists
        .iter()
        .filter_map(|name| file.get(name)?.as_array().map(Vec::len));
    lengths.next()
}

impl KindDefinition for Newsvendor {
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

impl RowParametric for Newsvendor {
    type Numbers = NewsvendorNumbers;

    fn row_numbers(&self, _template: &Template) -> NewsvendorNumbers {
        NewsvendorNumbers::clone(&self.numbers)
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<NewsvendorNumbers>> {
        let number = |set| RowSetter::of_list(place, set);
        let is_item = place.is_entry() || place.columns.count > 1;
        match (place.field(), is_item) {
            ("capacity", _) => number(|row, _, value| row.capacity = value),
            ("under_cost", true) => number(|row, item, value| row.under_cost[item] = value),
            ("under_cost", false) => number(|row, _, value| row.under_cost.fill(value)),
            ("over_cost", true) => number(|row, item, value| row.over_cost[item] = value),
            ("over_cost", false) => number(|row, _, value| row.over_cost.fill(value)),
            ("weights", true) => number(|row, item, value| row.weights[item] = value),
            ("weights", false) => number(|row, _, value| row.weights.fill(value)),
            _ => None,
        }
    }

    fn of_row(&self, numbers: NewsvendorNumbers) -> std::result::Result<Self, String> {
        let problem = Self::new(numbers).map_err(|error| error.to_string())?;
        Ok(Self {
            names: self.names.clone(),
            ..problem
        })
    }
}

impl Problem {
    /// How much of each item to order before its demand is known: a unit short costs `under_cost`,
    /// a unit left `over_cost`. Demands are predicted. A shared capacity is written in a problem
    /// file.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::newsvendor(vec![3.0, 4.0], vec![1.0, 2.0])?;
    /// // What is predicted is ordered, and earns its margin.
    /// assert_eq!(problem.solve(&[5.0, 4.0])?.objective, 31.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the lists differ in length or a number is negative or not finite.
    pub fn newsvendor(under_cost: Vec<f64>, over_cost: Vec<f64>) -> Result<Self> {
        let fields = NewsvendorFields {
            under_cost: NumberOrList(under_cost),
            over_cost: NumberOrList(over_cost),
            weights: None,
            capacity: None,
            items: None,
        };
        Self::from_spec(ProblemSpec::Newsvendor(Newsvendor::try_from(fields)?))
    }
}

impl ProblemKind for Newsvendor {
    fn name(&self) -> String {
        format!("newsvendor with {} items", self.numbers.items())
    }

    fn sense(&self) -> Sense {
        Sense::Maximize
    }

    fn num_costs(&self) -> usize {
        self.numbers.items()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::estimated(1e-8 * self.numbers.items() as f64 + 1e-7, 1.0)
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(NewsvendorSolver::new(Arc::clone(&self.numbers)))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        let items = self.numbers.items();
        for (item, amount) in decision.iter() {
            if item >= items {
                return Err(format!("item {item} of {items} does not exist"));
            }
            if amount.is_nan() || amount < 0.0 {
                return Err(format!("the amount {amount} of item {item} is negative"));
            }
        }
        let (load, capacity) = (self.numbers.load(decision), self.numbers.capacity);
        if load > capacity * (1.0 + LOAD_TOLERANCE) {
            return Err(format!("the load {load} exceeds the capacity {capacity}"));
        }
        Ok(())
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            names: self,
            choices: self,
            recourse: self,
            ..KindCapabilities::NONE
        }
    }
}

impl CostNaming for Newsvendor {
    fn cost_names(&self) -> Option<&CostNames> {
        self.names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }
}

impl Choices for Newsvendor {
    fn bounds(&self) -> VariableBounds {
        let items = self.numbers.items();
        VariableBounds::Box {
            lower: vec![0.0; items],
            upper: vec![f64::INFINITY; items],
        }
    }

    fn leave_out(&self, _items: &[u32]) -> ChoiceFixing {
        ChoiceFixing::Unsupported("a demand without a prediction has no order")
    }

    fn fix_choices(&self, _fixed: &FixedChoices) -> ChoiceFixing {
        ChoiceFixing::NotBinary
    }
}

impl Recourse for Newsvendor {
    fn predicts_quantities(&self) -> bool {
        true
    }

    fn objective(&self, decision: &Decision, values: &[f64]) -> f64 {
        self.numbers.objective(decision, values)
    }

    fn unusable_values(&self, values: &[f64]) -> Option<String> {
        let item = values.iter().position(|negated| *negated > 0.0)?;
        let name = match &self.names {
            Some(names) => names.get(item).into_owned(),
            None => format!("of item {item}"),
        };
        Some(format!("the demand {name} is {}, below 0", -values[item]))
    }

    /// A unit short costs its margin less the worth of the capacity it leaves to others; a unit too
    /// many costs what is lost on it and the capacity it takes from others, also of an item that
    /// nobody wants. An item of which the capacity allows less than the demand is ordered as much
    /// whatever more is predicted.
    fn error_prices(&self, label: &Decision, values: &[f64], under: &mut [f64], over: &mut [f64]) {
        let numbers = self.numbers.as_ref();
        let capacity_price = numbers.capacity_price(label);
        for item in 0..numbers.items() {
            let capacity = capacity_price * numbers.weights[item];
            under[item] = (numbers.under_cost[item] - capacity).max(0.0);
            let (ordered, demand) = (label.value(item), -values[item]);
            // What nobody wants is not in the plan, but a forecast above 0 puts it there if it
            // earns more than the capacity that it takes.
            let is_ordered = if demand > 0.0 {
                ordered >= demand
            } else {
                numbers.under_cost[item] > capacity
            };
            over[item] = if is_ordered {
                numbers.over_cost[item] + capacity
            } else {
                0.0
            };
        }
    }

    fn plain_prices(&self, under: &mut [f64], over: &mut [f64]) {
        under.copy_from_slice(&self.numbers.under_cost);
        over.copy_from_slice(&self.numbers.over_cost);
    }
}
