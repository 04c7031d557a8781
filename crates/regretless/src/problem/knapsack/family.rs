//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::Knapsack;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::family::{
    ArgumentForm, At, FieldSize, KindConstructor, KindDefinition, KindField, LARGE_CAPACITY,
    ProblemFamily, RowPlace, TemplateRules,
};
use crate::problem::layout::DecisionLayout;
use crate::problem::parametric::{NumberRows, Place, RowParametric, RowSetter, Template};
use crate::problem::{Problem, ProblemSpec};

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "knapsack",
    summary: "The most valuable items within capacities.",
    starter: "\
# choose what fits: into a van, a day, a budget
kind = \"knapsack\"
items = [{names}]
weights = [[{ones}]]       # fill in: one list per dimension, one number per item
capacity = [2.0]           # fill in: one number per dimension
# capacity = { column = \"minutes\" }   # instead of numbers that differ per row
# present = { columns = \"open_*\" }    # optional: items that exist, per row
",
    fields: &[
        KindField::required(
            "weights",
            "array_like of shape (d,) or (m, d), or columns",
            "Weights of the items, in one dimension or in several. `columns`, or a list with a \
             `column` per item, if they differ per row.",
        )
        .form(ArgumentForm::ItemWeights)
        .rows(&[
            RowPlace::number(1.0).sized(FieldSize::Items),
            RowPlace::number(1.0)
                .at(&[At::Index])
                .plural()
                .sized(FieldSize::Items),
            RowPlace::number(1.0)
                .at(&[At::Index])
                .sized(FieldSize::ByFile(size_of_weights)),
            RowPlace::number(1.0).at(&[At::Index, At::Index]),
        ]),
        KindField::required(
            "capacity",
            "float, array_like of shape (m,), or column",
            "Capacity, or one per dimension.",
        )
        .form(ArgumentForm::Capacities)
        .rows(&[
            RowPlace::number(LARGE_CAPACITY)
                .plural()
                .sized(FieldSize::ByFile(size_of_capacities)),
            RowPlace::number(LARGE_CAPACITY),
            RowPlace::number(LARGE_CAPACITY).at(&[At::Index]),
        ]),
        KindField::optional(
            "items",
            "int or sequence of str, optional",
            "Names of the items, by which columns of costs are matched; or their number, if all \
             weights come from columns.",
        )
        .annotated("int | Sequence[str] | None"),
        KindField::present(
            "array_like of shape (d,) or columns, optional",
            "Which items exist (1 or 0); all by default. An absent item is never selected, and its \
             cost may be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a knapsack problem: the most valuable items within capacities.",
        positional: 2,
        raises: "If arrays do not belong together or numbers are negative.",
        examples: &[
            ">>> problem = rl.Problem.knapsack([4, 3, 5], capacity=rl.column(\"truck_capacity\"))",
            ">>> capacities = {\"truck_capacity\": np.array([8.0, 5.0])}",
            ">>> problem.solve_all([[10, 7, 12], [10, 7, 12]], parameters=capacities).objectives",
            "array([19., 12.])",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        items_key: Some("items"),
        items_have_names: true,
        listed_items: items_of_file,
        items_may_differ: true,
        has_order_of_costs: true,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn size_of_capacities(file: &Value, _items: Option<usize>) -> Result<FieldSize> {
    Ok(FieldSize::Fixed(dimensions_of_file(file)))
}

/// The number of items by the first list of weights that has numbers, or by their flags.
fn items_of_file(file: &Value) -> Option<usize> {
    let length = |value: &Value| value.as_array().map(Vec::len);
    let weights = file.get("weights").and_then(Value::as_array);
    let from_weights = weights.and_then(|rows| match rows.first()? {
        Value::Number(_) => Some(rows.len()),
        _ => rows.iter().find_map(length),
    });
    from_weights.or_else(|| length(file.get("present")?))
}

/// A list of numbers, or of columns with one number each, is one row of weights unless there are
/// several capacities.
fn dimensions_of_file(file: &Value) -> usize {
    let rows = file.get("weights").and_then(Value::as_array);
    let has_rows = rows.is_some_and(|rows| rows.iter().any(Value::is_array));
    match (file.get("capacity"), rows) {
        (Some(Value::Array(capacities)), _) => capacities.len(),
        (_, Some(rows)) if has_rows => rows.len(),
        _ => 1,
    }
}

/// `weights = [{ column = "a" }, { column = "b" }]`: one number per item, each from a column of its
/// own, unless there are as many capacities.
fn size_of_weights(file: &Value, items: Option<usize>) -> Result<FieldSize> {
    let rows = file.get("weights").and_then(Value::as_array);
    let is_listed = items.is_some() && rows.map(Vec::len) == items;
    Ok(if is_listed && dimensions_of_file(file) == 1 {
        FieldSize::One
    } else {
        FieldSize::Items
    })
}

impl KindDefinition for Knapsack {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }

    /// Absent items would look like items that were not chosen.
    fn layout(&self) -> Option<DecisionLayout> {
        self.subset.is_all().then(|| DecisionLayout::Items {
            weights: self.weights.to_vec(),
            capacity: self.capacity.clone(),
        })
    }
}

/// Rows in which only capacities differ share the weights.
impl RowParametric for Knapsack {
    type Numbers = Vec<f64>;

    fn row_numbers(&self, _template: &Template) -> Vec<f64> {
        self.capacity.clone()
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<Vec<f64>>> {
        match place.field() {
            "capacity" => RowSetter::of_list(place, |row, index, value| row[index] = value),
            _ => None,
        }
    }

    fn of_row(&self, capacity: Vec<f64>) -> std::result::Result<Self, String> {
        self.with_capacity(capacity)
            .map_err(|error| error.to_string())
    }
}

impl Problem {
    /// The most valuable items within capacities: one row of weights and one capacity per
    /// dimension. Values are predicted.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::knapsack(vec![vec![4.0, 3.0, 5.0]], vec![8.0])?;
    /// let solution = problem.solve(&[10.0, 7.0, 12.0])?;
    /// assert_eq!((solution.objective, solution.decision.indices()), (19.0, &[1, 2][..]));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When rows have different lengths or numbers are negative or not finite.
    pub fn knapsack(weights: Vec<Vec<f64>>, capacity: Vec<f64>) -> Result<Self> {
        Self::from_spec(ProblemSpec::Knapsack(Knapsack::new(weights, capacity)?))
    }
}
