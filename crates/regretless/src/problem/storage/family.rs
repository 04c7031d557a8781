//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::StorageProblem;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::family::{
    At, FieldSize, KindConstructor, KindDefinition, KindField, LARGE_CAPACITY, NumberRange,
    PLACEHOLDER_KEY, ProblemFamily, RowPlace, TemplateRules,
};
use crate::problem::layout::DecisionLayout;
use crate::problem::parametric::{NumberRows, Place, RowParametric, RowSetter, Template};
use crate::problem::{Problem, ProblemSpec};
use crate::solve::storage::StorageNumbers;

/// One number, or one of all steps or of a step: those of a storage that can stay as it is.
const STEP_PLACES: &[RowPlace] = &[
    RowPlace::number(LARGE_CAPACITY)
        .plural()
        .sized(FieldSize::Items),
    RowPlace::number(LARGE_CAPACITY),
    RowPlace::number(LARGE_CAPACITY).at(&[At::Index]),
];

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "storage",
    summary: "When to charge and discharge a battery or a reservoir at given prices.",
    starter: "\
# when to buy and when to sell, with a battery or a reservoir: one price per step
kind = \"storage\"
steps = {count}
capacity = 10.0            # fill in: highest level
charge_limit = 2.5         # fill in: most that is bought in a step
discharge_limit = 2.5      # fill in: most that is sold in a step
charge_efficiency = 0.92   # share of what is bought that is stored
discharge_efficiency = 0.95
initial = 5.0              # fill in: level before the first step
# capacity = { column = \"mwh\" }       # instead of a number that differs per row
# final_min = 0.0          # lowest level after the last step; by default the initial one
# min_level = 0.0          # lowest level of all steps
# inflow = [{ones}]        # what flows in by itself, one number per step
",
    fields: &[
        KindField::required(
            "steps",
            "int",
            "Number of steps, each of which has a price.",
        )
        .annotated("int"),
        KindField::required("capacity", "float or column", "Highest level.")
            .rows(&[RowPlace::number(LARGE_CAPACITY)]),
        KindField::required(
            "charge_limit",
            "float, array_like of shape (steps,), column or columns",
            "",
        )
        .rows(STEP_PLACES),
        KindField::required(
            "discharge_limit",
            "float, array_like of shape (steps,), column or columns",
            "Most that is bought, and sold, in a step.",
        )
        .rows(STEP_PLACES),
        KindField::optional("charge_efficiency", "float or column, default 1.0", "")
            .rows(&[RowPlace::number(1.0)]),
        KindField::optional(
            "discharge_efficiency",
            "float or column, default 1.0",
            "Shares of the bought energy that is stored, and of the energy taken out that is sold.",
        )
        .rows(&[RowPlace::number(1.0)]),
        KindField::optional(
            "initial",
            "float or column, default 0.0",
            "Level before the first step.",
        )
        .rows(&[RowPlace::left_out(NumberRange::Finite)]),
        KindField::optional(
            "final_min",
            "float or column, optional",
            "Lowest level after the last step; `initial` by default.",
        )
        .rows(&[RowPlace::left_out(NumberRange::Finite)]),
        KindField::optional("min_level", "float or column, default 0.0", "Lowest level.")
            .rows(&[RowPlace::left_out(NumberRange::Finite)]),
        KindField::optional(
            "inflow",
            "array_like of shape (steps,) or columns, optional",
            "What flows in during each step and may pass unused; negative for losses.",
        )
        .rows(STEP_PLACES),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a storage problem: charge and discharge a battery or a reservoir at given \
                  prices.",
        positional: 1,
        raises: "If a number is out of its range or the levels cannot be kept.",
        notes: "The decision has the energy bought in each step, negative if it is sold. A step \
                charges or discharges, never both, which matters at negative prices.",
        examples: &[
            ">>> battery = rl.Problem.storage(3, capacity=2, charge_limit=1, discharge_limit=2)",
            ">>> battery.solve([1, 2, 5]).decision",
            "array([ 1.,  1., -2.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: steps_of_file,
        has_order_of_costs: true,
        costs_are_steps: true,
        placeholder_key: Some(PLACEHOLDER_KEY),
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn steps_of_file(file: &Value) -> Option<usize> {
    file.get("steps")?.as_u64().map(|steps| steps as usize)
}

impl KindDefinition for StorageProblem {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }

    fn layout(&self) -> Option<DecisionLayout> {
        Some(DecisionLayout::Steps)
    }
}

/// The numbers of a row.
#[derive(Debug, Clone)]
pub(in crate::problem) struct StorageRow {
    numbers: StorageNumbers,
    /// Whether the level at the end is that at the beginning.
    final_is_initial: bool,
}

impl RowParametric for StorageProblem {
    type Numbers = StorageRow;

    fn row_numbers(&self, template: &Template) -> StorageRow {
        StorageRow {
            numbers: StorageNumbers::clone(&self.numbers),
            final_is_initial: template.spec().get("final_min").is_none(),
        }
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<StorageRow>> {
        let number = |set| RowSetter::of_list(place, set);
        let is_step = place.is_entry() || place.columns.count > 1;
        match (place.field(), is_step) {
            ("capacity", _) => number(|row, _, value| row.numbers.capacity = value),
            ("initial", _) => number(|row, _, value| row.numbers.initial = value),
            ("final_min", _) => number(|row, _, value| row.numbers.final_min = value),
            ("min_level", _) => number(|row, _, value| row.numbers.min_level = value),
            ("charge_efficiency", _) => {
                number(|row, _, value| row.numbers.charge_efficiency = value)
            }
            ("discharge_efficiency", _) => {
                number(|row, _, value| row.numbers.discharge_efficiency = value)
            }
            ("charge_limit", true) => {
                number(|row, step, value| row.numbers.charge_limit[step] = value)
            }
            ("charge_limit", false) => number(|row, _, value| row.numbers.charge_limit.fill(value)),
            ("discharge_limit", true) => {
                number(|row, step, value| row.numbers.discharge_limit[step] = value)
            }
            ("discharge_limit", false) => {
                number(|row, _, value| row.numbers.discharge_limit.fill(value))
            }
            ("inflow", true) => number(|row, step, value| row.numbers.inflow[step] = value),
            ("inflow", false) => number(|row, _, value| row.numbers.inflow.fill(value)),
            _ => None,
        }
    }

    fn of_row(&self, row: StorageRow) -> std::result::Result<Self, String> {
        let mut numbers = row.numbers;
        if row.final_is_initial {
            numbers.final_min = numbers.initial;
        }
        Self::new(numbers).map_err(|error| error.to_string())
    }
}

impl Problem {
    /// A battery over a number of steps, whose prices are predicted: at most `charge_limit` is
    /// bought and `discharge_limit` sold in a step, and it is as full at the end as at the
    /// beginning: empty. Efficiencies, levels and inflow are written in a problem file.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let battery = Problem::storage(3, 2.0, 1.0, 2.0)?;
    /// let plan = battery.solve(&[1.0, 2.0, 5.0])?;
    /// assert_eq!(plan.objective, 1.0 + 2.0 - 10.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no step, or a number is negative or not finite.
    pub fn storage(
        steps: usize,
        capacity: f64,
        charge_limit: f64,
        discharge_limit: f64,
    ) -> Result<Self> {
        let battery = StorageProblem::battery(steps, capacity, charge_limit, discharge_limit)?;
        Self::from_spec(ProblemSpec::Storage(battery))
    }
}
