//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::{Transport, TransportNumbers};
use crate::error::{Error, Result};
use crate::problem::ProblemKind;
use crate::problem::assignment::members_of_file;
use crate::problem::family::{
    ArgumentForm, At, FieldSize, InfinityRule, KindConstructor, KindDefinition, KindField,
    NumberRange, Placeholder, ProblemFamily, RowPlace, TemplateRules,
};
use crate::problem::layout::DecisionLayout;
use crate::problem::parametric::{
    NumberRows, Place, RowParametric, RowSetter, Template, stated_flags,
};
use crate::problem::{Problem, ProblemSpec};

/// Number of sources and destinations up to which lanes are drawn. Untuned: more are a tangle.
const MAX_NODES_OF_LANES: usize = 40;

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "transport",
    summary: "The cheapest transport from sources with a supply to destinations with a demand.",
    starter: "\
# which source serves which destination: one cost per pair
kind = \"transport\"
supply = [4.0, 3.5]        # fill in: of the sources
demand = [2.0, 1.0]        # fill in: of the destinations
",
    fields: &[
        KindField::required("supply", "array_like or columns", "").rows(&[
            RowPlace::number(0.0).sized(FieldSize::ByFile(size_of_sources)),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::required(
            "demand",
            "array_like or columns",
            "What each source has, and each destination needs. Sources may keep some of theirs. \
             Costs are those of the lanes, source by source.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::ByFile(size_of_destinations)),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::optional(
            "capacity",
            "float, array_like of shape (sources, destinations), or columns, optional",
            "Most of each lane; infinite by default.",
        )
        .form(ArgumentForm::FlowBounds)
        .rows(CAPACITY_PLACES),
        KindField::optional("sources", "int or sequence of str, optional", "")
            .annotated("int | Sequence[str] | None"),
        KindField::optional(
            "destinations",
            "int or sequence of str, optional",
            "Names; costs are then called \"source-destination\". Or their number, if supply or \
             demand come from columns.",
        )
        .annotated("int | Sequence[str] | None"),
        KindField::sense("\"minimize\""),
        KindField::present(
            "array_like of shape (sources, destinations), or columns, optional",
            "Which lanes exist (1 or 0); all by default. The costs of other lanes may be missing \
             (NaN).",
        )
        .form(ArgumentForm::Cells),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a transport from sources with a supply to destinations with a demand.",
        positional: 2,
        raises: "If the demands cannot be met; the message names destinations that need too \
                 much.",
        examples: &[
            ">>> problem = rl.Problem.transport([4, 3], rl.columns(\"need\"), destinations=2)",
            ">>> problem.solve([1, 2, 3, 1], parameters={\"need\": [2, 3]}).decision.reshape(2, 2)",
            "array([[2., 0.],",
            "       [0., 3.]], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    infinity: InfinityRule::AsText,
    template: TemplateRules {
        listed_items: lanes_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn size_of_destinations(file: &Value, _items: Option<usize>) -> Result<FieldSize> {
    side_of_file(file, ["destinations", "demand"])
}

fn size_of_sources(file: &Value, _items: Option<usize>) -> Result<FieldSize> {
    side_of_file(file, ["sources", "supply"])
}

/// Capacities of lanes or arcs, which may be infinite.
pub(in crate::problem) const CAPACITY_PLACES: &[RowPlace] = &[
    RowPlace::with(Placeholder::Text("inf"), NumberRange::Bound).sized(FieldSize::Items),
    RowPlace::with(Placeholder::Text("inf"), NumberRange::Bound).at(&[At::Index]),
];

fn lanes_of_file(file: &Value) -> Option<usize> {
    let sources = members_of_file(file, &["sources", "supply"])?;
    sources.checked_mul(members_of_file(file, &["destinations", "demand"])?)
}

fn side_of_file(file: &Value, keys: [&str; 2]) -> Result<FieldSize> {
    let [key, _] = keys;
    let count = members_of_file(file, &keys).ok_or_else(|| {
        Error::setting(format!(
            "the problem file does not state the number of {key}"
        ))
        .with_remedy(format!("add `{key} = ` and their number or names"))
    })?;
    Ok(FieldSize::Fixed(count))
}

impl KindDefinition for Transport {
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

    fn layout(&self) -> Option<DecisionLayout> {
        let nodes = self.sources() + self.destinations();
        (nodes <= MAX_NODES_OF_LANES).then(|| DecisionLayout::Lanes {
            sources: (0..self.sources())
                .map(|index| self.source(index))
                .collect(),
            destinations: (0..self.destinations())
                .map(|index| self.destination(index))
                .collect(),
        })
    }
}

/// The numbers of a row.
#[derive(Debug, Clone)]
pub(in crate::problem) struct TransportRow {
    numbers: TransportNumbers,
    present: Vec<bool>,
}

impl RowParametric for Transport {
    type Numbers = TransportRow;

    fn row_numbers(&self, _template: &Template) -> TransportRow {
        TransportRow {
            numbers: TransportNumbers::clone(&self.numbers),
            present: stated_flags(self.present(), self.num_costs()),
        }
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<TransportRow>> {
        let list = |set| RowSetter::of_list(place, set);
        match place.field() {
            "supply" => list(|row, source, value| row.numbers.supply[source] = value),
            "demand" => list(|row, destination, value| row.numbers.demand[destination] = value),
            "capacity" => list(|row, lane, value| row.numbers.capacity[lane] = value),
            "present" => list(|row, lane, value| row.present[lane] = value == 1.0),
            _ => None,
        }
    }

    fn of_row(&self, row: TransportRow) -> std::result::Result<Self, String> {
        self.with_numbers(row.numbers, Some(row.present))
            .map_err(|error| error.to_string())
    }
}

impl Problem {
    /// The cheapest transport from sources with a supply to destinations with a demand; sources
    /// may keep some of theirs. `capacity` has the most of each lane, source by source. Costs of
    /// lanes are predicted, in the same order.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::transport(vec![4.0, 3.0], vec![2.0, 3.0], None)?;
    /// let solution = problem.solve(&[1.0, 2.0, 3.0, 1.0])?;
    /// assert_eq!(solution.objective, 5.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a number is not finite or negative, or the demands cannot be met.
    pub fn transport(
        supply: Vec<f64>,
        demand: Vec<f64>,
        capacity: Option<Vec<f64>>,
    ) -> Result<Self> {
        let transport = Transport::new(supply, demand, capacity)?;
        Self::from_spec(ProblemSpec::Transport(transport))
    }
}
