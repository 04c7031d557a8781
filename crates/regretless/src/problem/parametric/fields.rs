//! Which numbers of a problem may differ per row.

use serde_json::{Value, json};

use super::template::{PathStep, Step};

/// A number that fits wherever a capacity is checked against placeholders of weights and demands.
const LARGE_CAPACITY: f64 = 1e9;

/// A capacity that any offers fit in, whatever the unit of their weights.
const UNLIMITED_BUDGET: f64 = 1e100;

/// A place of a problem file that may hold a reference to columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// What stands there in the problem with placeholders; `None` where the place is left out.
    pub placeholder: Option<Value>,
    pub size: FieldSize,
    pub numbers: Numbers,
}

/// How many numbers a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldSize {
    One,
    /// One per item, node, customer or arc.
    Items,
    /// One per node of a network.
    Nodes,
    /// One per source, or per destination, of a transport.
    Sources,
    Destinations,
    /// One per predicted cost of a linear problem.
    Costs,
    /// This many; 0 stands for one per dimension of a knapsack.
    Fixed(usize),
}

/// Which numbers a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Finite numbers.
    Finite,
    /// Numbers of which one sign may be infinite: a bound that is not there.
    Bound,
    /// Whole numbers of 0 or more.
    Whole,
    /// 0 or 1.
    ZeroOrOne,
}

impl Field {
    fn one(placeholder: f64) -> Self {
        Self {
            placeholder: Some(json!(placeholder)),
            size: FieldSize::One,
            numbers: Numbers::Finite,
        }
    }

    fn whole(placeholder: u32) -> Self {
        Self {
            placeholder: Some(json!(placeholder)),
            size: FieldSize::One,
            numbers: Numbers::Whole,
        }
    }

    fn left_out(numbers: Numbers) -> Self {
        Self {
            placeholder: None,
            size: FieldSize::One,
            numbers,
        }
    }

    fn with_size(self, size: FieldSize) -> Self {
        Self { size, ..self }
    }

    /// The field at a path in a problem of a kind; `None` where it cannot differ per row.
    pub(super) fn at(kind: &str, path: &[PathStep], is_plural: bool) -> Option<Self> {
        let steps: Vec<Step<'_>> = path.iter().map(PathStep::as_step).collect();
        match (kind, steps.as_slice()) {
            (
                "knapsack"
                | "top_k"
                | "tsp"
                | "cvrp"
                | "grid_path"
                | "assignment"
                | "multiple_choice_knapsack"
                | "min_cost_flow"
                | "transport"
                | "graph_path"
                | "spanning_tree",
                [Step::Key("present"), rest @ ..],
            ) => Self::present(rest),
            ("knapsack", steps) => Self::knapsack(steps, is_plural),
            ("min_cost_flow" | "transport", steps) => Self::flow(kind, steps),
            ("multiple_choice_knapsack", steps) => Self::multiple_choice_knapsack(steps),
            ("top_k", [Step::Key("k")]) => Some(Self::whole(0)),
            ("cvrp", [Step::Key("demands")]) => Some(Self::one(0.0).with_size(FieldSize::Items)),
            ("cvrp", [Step::Key("demands"), Step::Index(_)]) => Some(Self::one(0.0)),
            ("cvrp", [Step::Key("capacity")]) => Some(Self::one(LARGE_CAPACITY)),
            ("cvrp", [Step::Key("vehicles")]) => Some(Self::whole(1)),
            // The number of a node, which may be negative where it is a name.
            ("graph_path", [Step::Key("source" | "target")]) if is_plural => {
                Some(Self::left_out(Numbers::Finite).with_size(FieldSize::Fixed(2)))
            }
            (
                "graph_path",
                [Step::Key("source" | "target")] | [Step::Key("source" | "target"), Step::Index(_)],
            ) => Some(Self::left_out(Numbers::Finite)),
            ("grid_path", [Step::Key("source" | "target")]) if is_plural => {
                Some(Self::left_out(Numbers::Whole).with_size(FieldSize::Fixed(2)))
            }
            ("grid_path", [Step::Key("source" | "target")]) => Some(Self::left_out(Numbers::Whole)),
            ("grid_path", [Step::Key("source" | "target"), Step::Index(_)]) => {
                // The whole list is left out of the problem with placeholders.
                Some(Self::left_out(Numbers::Whole))
            }
            ("storage", steps) => Self::storage(steps, is_plural),
            ("linear", steps) => Self::linear(steps),
            ("linear_arrays", steps) => Self::linear_arrays(steps),
            ("schedule", steps) => Self::schedule(steps),
            _ => None,
        }
    }

    fn present(rest: &[Step<'_>]) -> Option<Self> {
        let one = Self {
            placeholder: Some(json!(1)),
            size: FieldSize::One,
            numbers: Numbers::ZeroOrOne,
        };
        match rest {
            [] => Some(one.with_size(FieldSize::Items)),
            [Step::Index(_)] => Some(one),
            _ => None,
        }
    }

    fn knapsack(steps: &[Step<'_>], is_plural: bool) -> Option<Self> {
        match steps {
            [Step::Key("capacity")] if is_plural => {
                Some(Self::one(LARGE_CAPACITY).with_size(FieldSize::Fixed(0)))
            }
            [Step::Key("capacity")] | [Step::Key("capacity"), Step::Index(_)] => {
                Some(Self::one(LARGE_CAPACITY))
            }
            [Step::Key("weights")] | [Step::Key("weights"), Step::Index(_)] => {
                Some(Self::one(1.0).with_size(FieldSize::Items))
            }
            [Step::Key("weights"), Step::Index(_), Step::Index(_)] => Some(Self::one(1.0)),
            _ => None,
        }
    }

    fn multiple_choice_knapsack(steps: &[Step<'_>]) -> Option<Self> {
        match steps {
            [Step::Key("capacity")] => Some(Self::one(UNLIMITED_BUDGET)),
            // All offers in one list, with the sizes of the groups.
            [Step::Key("weights")] => Some(Self::one(1.0).with_size(FieldSize::Items)),
            [Step::Key("weights"), Step::Index(_)]
            | [Step::Key("weights"), Step::Index(_), Step::Index(_)] => Some(Self::one(1.0)),
            _ => None,
        }
    }

    fn flow(kind: &str, steps: &[Step<'_>]) -> Option<Self> {
        let capacity = Self {
            placeholder: Some(json!("inf")),
            size: FieldSize::One,
            numbers: Numbers::Bound,
        };
        match (kind, steps) {
            (_, [Step::Key("capacity")]) => Some(capacity.with_size(FieldSize::Items)),
            (_, [Step::Key("capacity"), Step::Index(_)]) => Some(capacity),
            ("min_cost_flow", [Step::Key("supply")]) => {
                Some(Self::one(0.0).with_size(FieldSize::Nodes))
            }
            ("transport", [Step::Key("supply")]) => {
                Some(Self::one(0.0).with_size(FieldSize::Sources))
            }
            ("transport", [Step::Key("demand")]) => {
                Some(Self::one(0.0).with_size(FieldSize::Destinations))
            }
            ("min_cost_flow", [Step::Key("lower")]) => {
                Some(Self::one(0.0).with_size(FieldSize::Items))
            }
            ("min_cost_flow", [Step::Key("supply"), Step::Key(_) | Step::Index(_)])
            | ("min_cost_flow", [Step::Key("lower"), Step::Index(_)])
            | ("transport", [Step::Key("supply" | "demand"), Step::Index(_)]) => {
                Some(Self::one(0.0))
            }
            _ => None,
        }
    }

    /// The placeholders are those of a storage that can stay as it is.
    fn storage(steps: &[Step<'_>], is_plural: bool) -> Option<Self> {
        match steps {
            [Step::Key("capacity")] => Some(Self::one(LARGE_CAPACITY)),
            [Step::Key("initial" | "final_min")] => Some(Self::left_out(Numbers::Finite)),
            [Step::Key("min_level")] => Some(Self::left_out(Numbers::Finite)),
            [Step::Key("charge_efficiency" | "discharge_efficiency")] => Some(Self::one(1.0)),
            [Step::Key("charge_limit" | "discharge_limit" | "inflow")] if is_plural => {
                Some(Self::one(LARGE_CAPACITY).with_size(FieldSize::Items))
            }
            [Step::Key("charge_limit" | "discharge_limit")]
            | [
                Step::Key("charge_limit" | "discharge_limit" | "inflow"),
                Step::Index(_),
            ]
            | [Step::Key("inflow")] => Some(Self::one(LARGE_CAPACITY)),
            _ => None,
        }
    }

    fn linear(steps: &[Step<'_>]) -> Option<Self> {
        match steps {
            [Step::Key("rhs" | "fixed"), Step::Key(_)] => Some(Self::left_out(Numbers::Finite)),
            [
                Step::Key("row_lower" | "row_upper" | "lower" | "upper"),
                Step::Key(_),
            ] => Some(Self::left_out(Numbers::Bound)),
            [Step::Key("coefficients"), Step::Key(_), Step::Key(_)] => {
                Some(Self::left_out(Numbers::Finite))
            }
            [Step::Key("present"), Step::Key(_)] => Some(Self::left_out(Numbers::ZeroOrOne)),
            [Step::Key("present")] => {
                Some(Self::left_out(Numbers::ZeroOrOne).with_size(FieldSize::Costs))
            }
            _ => None,
        }
    }

    fn linear_arrays(steps: &[Step<'_>]) -> Option<Self> {
        match steps {
            [
                Step::Key("columns" | "rows"),
                Step::Index(_),
                Step::Key("lower" | "upper"),
            ] => Some(Self::left_out(Numbers::Bound)),
            [Step::Key("columns"), Step::Index(_), Step::Key("cost")] => Some(Self::one(0.0)),
            [
                Step::Key("rows"),
                Step::Index(_),
                Step::Key("entries"),
                Step::Index(_),
                Step::Index(1),
            ] => Some(Self::one(1.0)),
            _ => None,
        }
    }

    fn schedule(steps: &[Step<'_>]) -> Option<Self> {
        match steps {
            [Step::Key("machines"), Step::Index(_), Step::Index(_)] => {
                Some(Self::one(LARGE_CAPACITY))
            }
            [
                Step::Key("tasks"),
                Step::Index(_),
                Step::Key("uses"),
                Step::Index(_),
            ] => Some(Self::one(0.0)),
            [Step::Key("tasks"), Step::Index(_), Step::Key("power")] => Some(Self::one(0.0)),
            [Step::Key("tasks"), Step::Index(_), Step::Key("duration")] => Some(Self::whole(1)),
            [Step::Key("tasks"), Step::Index(_), Step::Key("earliest")] => Some(Self::whole(0)),
            // The last slot of a day.
            [Step::Key("tasks"), Step::Index(_), Step::Key("latest")] => Some(Self::whole(48)),
            _ => None,
        }
    }
}

/// What may differ per row in problems of a kind, for messages.
pub(super) fn fields_of(kind: &str) -> &'static str {
    match kind {
        "knapsack" => "weights, capacity, present",
        "top_k" => "k, present",
        "tsp" => "present",
        "cvrp" => "demands, capacity, vehicles, present",
        "assignment" => "present",
        "min_cost_flow" => "supply, capacity, lower, present",
        "transport" => "supply, demand, capacity, present",
        "multiple_choice_knapsack" => {
            "weights (all, with the sizes of the groups as `groups`, or single ones), capacity, \
             present"
        }
        "grid_path" | "graph_path" => "source, target, present",
        "spanning_tree" => "present",
        "storage" => {
            "capacity, initial, final_min, min_level, charge_limit, discharge_limit, \
             charge_efficiency, discharge_efficiency, inflow"
        }
        "linear" => {
            "rhs, row_lower, row_upper, lower, upper, fixed, coefficients, present, each by name"
        }
        "linear_arrays" => "lower and upper bounds, costs of columns, entries of rows",
        "schedule" => "capacities of machines and all numbers of tasks",
        _ => "nothing",
    }
}
