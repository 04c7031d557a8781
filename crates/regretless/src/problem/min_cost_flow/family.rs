//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::MinCostFlow;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::arc_table::ArcTable;
use crate::problem::family::{
    ArgumentForm, At, EntryNames, FieldSize, InfinityRule, KindConstructor, KindDefinition,
    KindField, ProblemFamily, RowPlace, Step, TemplateRules,
};
use crate::problem::parametric::{
    NumberRows, Place, RowParametric, RowSetter, Template, stated_flags,
};
use crate::problem::transport::CAPACITY_PLACES;
use crate::problem::{Problem, ProblemSpec};
use crate::solve::network_flow::FlowLimits;

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "min_cost_flow",
    summary: "The cheapest flow through a network.",
    starter: "\
# how much on which arc of a network: one cost per arc
kind = \"min_cost_flow\"
arcs = [[\"plant\", \"port\"], [\"port\", \"shop\"], [\"plant\", \"shop\"]]    # fill in
supply = { plant = 3, shop = -3 }    # fill in: negative for demands
capacity = [3, 3, inf]               # optional: one number per arc
",
    fields: &[
        KindField::required(
            "arcs",
            "sequence of pairs or triples, or dict",
            "From, to and, optionally, name of each arc; nodes are texts or whole numbers. Or \
             {\"file\": \"arcs.csv\", \"from\": \"from\", \"to\": \"to\", \
             \"capacity\": \"capacity\"} with the columns of a CSV file. Costs are those of the \
             arcs.",
        ),
        KindField::required(
            "supply",
            "dict, array_like or columns",
            "What each node sends, negative for a demand, by node; nodes that are not named send \
             nothing. Or one number per node: in the order of the nodes if all are whole \
             numbers, otherwise in the order in which the arcs name them. Supplies and demands \
             have to be equal in total.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::ByFile(size_of_nodes)),
            RowPlace::number(0.0)
                .at(&[At::Key])
                .named(EntryNames::Nodes),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::optional(
            "capacity",
            "float or array_like, or columns, optional",
            "Most flow of all arcs, or of each arc; infinite by default.",
        )
        .form(ArgumentForm::FlowBounds)
        .rows(CAPACITY_PLACES),
        KindField::optional(
            "lower",
            "float or array_like, or columns, optional",
            "Least flow; 0 by default.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::Items),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::sense("\"minimize\""),
        KindField::present(
            "array_like with a flag per arc, or columns, optional",
            "Which arcs exist (1 or 0); all by default. The costs of other arcs may be missing \
             (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a flow of least cost through a network.",
        positional: 2,
        raises: "If no flow is feasible; the message names nodes that need more than can reach \
                 them.",
        notes: "A cycle of negative cost without a capacity makes the objective unbounded: such a \
                solve is an error.",
        examples: &[
            ">>> problem = rl.Problem.min_cost_flow(",
            "...     [(\"plant\", \"port\"), (\"port\", \"shop\"), (\"plant\", \"shop\")],",
            "...     {\"plant\": 4, \"shop\": -4},",
            "...     capacity=[3, 3, np.inf],",
            "... )",
            ">>> problem.solve([1, 1, 5]).decision",
            "array([3., 3., 1.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    infinity: InfinityRule::AsText,
    template: TemplateRules {
        listed_items: arcs_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn size_of_nodes(file: &Value, _items: Option<usize>) -> Result<FieldSize> {
    let nodes = ArcTable::of_file(file)?.nodes().list().len();
    Ok(FieldSize::Fixed(nodes))
}

fn arcs_of_file(file: &Value) -> Option<usize> {
    file.get("arcs")?.as_array().map(Vec::len)
}

impl KindDefinition for MinCostFlow {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        self.check_feasible()?;
        Ok(Arc::new(self.clone()))
    }

    /// With placeholders supplies and demands are not balanced.
    fn build_base(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }
}

/// The numbers of a row.
#[derive(Debug, Clone)]
pub(in crate::problem) struct FlowRow {
    limits: FlowLimits,
    present: Vec<bool>,
}

impl RowParametric for MinCostFlow {
    type Numbers = FlowRow;

    fn row_numbers(&self, _template: &Template) -> FlowRow {
        FlowRow {
            limits: FlowLimits::clone(&self.stated),
            present: stated_flags(self.present(), self.num_costs()),
        }
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<FlowRow>> {
        let list = |set| RowSetter::of_list(place, set);
        let set_supply = |row: &mut FlowRow, node: usize, value| row.limits.supply[node] = value;
        match (place.field(), place.steps().as_slice()) {
            ("supply", [Step::Key(node)]) => Some(RowSetter {
                set: set_supply,
                first: self.arcs.nodes().place(node)? as usize,
            }),
            ("supply", _) => list(set_supply),
            ("capacity", _) => list(|row, arc, value| row.limits.upper[arc] = value),
            ("lower", _) => list(|row, arc, value| row.limits.lower[arc] = value),
            ("present", _) => list(|row, arc, value| row.present[arc] = value == 1.0),
            _ => None,
        }
    }

    fn of_row(&self, row: FlowRow) -> std::result::Result<Self, String> {
        self.with_limits(row.limits, Some(row.present))
            .map_err(|error| error.to_string())
    }
}

impl Problem {
    /// The cheapest flow through a network, by the names of the two nodes of each arc. `supply` is
    /// what nodes send, negative for a demand; both have to be equal in total. `capacity` has the
    /// most flow of each arc. Arc costs are predicted.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let arcs = [["plant", "port"], ["port", "shop"], ["plant", "shop"]];
    /// let supply = [("plant", 4.0), ("shop", -4.0)];
    /// let problem = Problem::min_cost_flow(arcs, &supply, Some(vec![3.0, 3.0, 9.0]))?;
    /// let solution = problem.solve(&[1.0, 1.0, 5.0])?;
    /// assert_eq!((solution.objective, solution.decision.value(2)), (11.0, 1.0));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a node does not exist, a number is not finite or negative, lists have different
    /// lengths, or no flow is feasible: the message names nodes that need too much.
    pub fn min_cost_flow<T: AsRef<str>>(
        arcs: impl IntoIterator<Item = [T; 2]>,
        supply: &[(&str, f64)],
        capacity: Option<Vec<f64>>,
    ) -> Result<Self> {
        let flow = MinCostFlow::new(arcs, supply, capacity)?;
        Self::from_spec(ProblemSpec::MinCostFlow(flow))
    }
}
