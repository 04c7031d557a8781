//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::{GraphPath, GraphRow, ShapeKind};
use crate::data::NodeNames;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::family::{
    At, EntryNames, FieldSize, KindConstructor, KindDefinition, KindField, NumberRange,
    Placeholder, ProblemFamily, RowPlace, TemplateRules,
};
use crate::problem::layout::DrawnNodes;
use crate::problem::parametric::{NumberRows, Place, RowParametric, RowSetter, Template};
use crate::problem::subset::absences;
use crate::problem::{Problem, ProblemSpec};

/// The number of a node, which may be negative if it is a name; in a grid, its row and column too.
const END_PLACES: &[RowPlace] = &[
    RowPlace::with(Placeholder::Mark, NumberRange::Finite)
        .named(EntryNames::NodeNumbers)
        .plural()
        .sized(FieldSize::Fixed(2)),
    RowPlace::with(Placeholder::Mark, NumberRange::Finite).named(EntryNames::NodeNumbers),
    RowPlace::with(Placeholder::Mark, NumberRange::Finite)
        .named(EntryNames::NodeNumbers)
        .at(&[At::Index]),
];

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "graph_path",
    summary: "The shortest path in a directed graph, or over the nodes of a grid.",
    starter: "\
# the cheapest way through a network: one cost per arc
kind = \"graph_path\"
# arcs may come from a table: arcs = { file = \"roads.csv\", from = \"from\", to = \"to\" }
arcs = [[\"home\", \"bridge\"], [\"bridge\", \"work\"], [\"home\", \"work\"]]   # fill in
source = \"home\"            # fill in, or { column = \"from\" } if it differs per row
target = \"work\"            # fill in
",
    fields: &[
        KindField::optional(
            "arcs",
            "sequence of pairs or dict, optional",
            "Arcs as (from, to) or (from, to, name), in the order of the costs. Nodes are texts or \
             whole numbers. Among named arcs, one without a name is called \"from-to\", a name \
             that no other arc may have. Or a CSV file: {\"file\": \"arcs.csv\", \
             \"from\": \"from\", \"to\": \"to\", \"name\": \"name\"}, with the names of its \
             columns; \"name\" is optional.",
        ),
        KindField::optional("source", "str, int, column, or columns, optional", "")
            .rows(END_PLACES),
        KindField::optional(
            "target",
            "str, int, column, or columns, optional",
            "First and last node. In a grid a number, counted row by row from 0, or row and \
             column; the first and the last node by default.",
        )
        .rows(END_PLACES),
        KindField::optional(
            "grid",
            "pair of int, optional",
            "Rows and columns of a grid, instead of `arcs`. Costs belong to its nodes, row by \
             row; a path pays for all its nodes, both ends included.",
        ),
        KindField::optional(
            "neighbors",
            "{4, 8}, default 4",
            "Steps in a grid: to the sides, or also diagonally.",
        )
        .annotated("int | None"),
        KindField::present(
            "array_like of shape (d,) or columns, optional",
            "Which arcs, or nodes of a grid, are open (1 or 0); all by default. The cost of a \
             closed one may be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a shortest path in a directed graph, or over the nodes of a grid.",
        positional: 1,
        raises: "If an arc leads from a node to itself, an end is a node of no arc, or no path \
                 leads from one end to the other.",
        notes: "Costs may be negative. If a cycle of the graph has a negative length, predicted \
                costs below 0 count as 0 in the search and the status is \"limit reached\"; true \
                costs are refused.",
        examples: &[
            ">>> arcs = [(\"home\", \"bridge\"), (\"bridge\", \"work\"), (\"home\", \"work\")]",
            ">>> problem = rl.Problem.graph_path(arcs, source=rl.column(\"start\"), \
             target=\"work\")",
            ">>> problem.solve([2, 3, 6], parameters={\"start\": \"home\"}).decision",
            "array([1., 1., 0.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: items_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

/// Nodes of a grid, or arcs.
fn items_of_file(file: &Value) -> Option<usize> {
    match file.get("grid").and_then(Value::as_array) {
        Some(grid) => {
            let [rows, cols] = [grid.first()?.as_u64()?, grid.get(1)?.as_u64()?];
            rows.checked_mul(cols).map(|nodes| nodes as usize)
        }
        None => file.get("arcs")?.as_array().map(Vec::len),
    }
}

impl KindDefinition for GraphPath {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }

    /// The names of the nodes; `None` for a grid.
    fn node_names(&self) -> Option<&Arc<NodeNames>> {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => Some(arcs.nodes()),
            ShapeKind::Grid(_) => None,
        }
    }

    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        let arcs = match &self.shape.kind {
            ShapeKind::Arcs(arcs) => Some(arcs),
            ShapeKind::Grid(_) => None,
        };
        Some(DrawnNodes {
            count: arcs.map_or(0, |arcs| arcs.nodes().list().len()),
            depot: false,
            arcs,
        })
    }
}

impl RowParametric for GraphPath {
    type Numbers = GraphRow;

    /// Lists may have numbers beside those that come from columns.
    fn row_numbers(&self, template: &Template) -> GraphRow {
        let numbers = |key: &str| -> Vec<f64> {
            let mut places = template.places().iter();
            let place = places.find(|place| place.field() == key);
            match (place, template.spec().get(key).and_then(Value::as_array)) {
                (None, _) => Vec::new(),
                (Some(_), Some(list)) => list
                    .iter()
                    .map(|value| value.as_f64().unwrap_or(0.0))
                    .collect(),
                (Some(place), None) => vec![0.0; place.columns.count],
            }
        };
        GraphRow {
            source: numbers("source"),
            target: numbers("target"),
            present: template.has_places_in("present").then(|| self.open_flags()),
        }
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<GraphRow>> {
        let list = |set| RowSetter::of_list(place, set);
        match place.field() {
            "source" => list(|row, index, value| row.source[index] = value),
            "target" => list(|row, index, value| row.target[index] = value),
            _ => list(|row, item, value| {
                if let Some(present) = &mut row.present {
                    present[item] = value != 0.0;
                }
            }),
        }
    }

    /// The same problem with other ends and open arcs. Whether a path exists is found out by the
    /// solver.
    fn of_row(&self, row: GraphRow) -> std::result::Result<Self, String> {
        let place = |end: &str, numbers: &[f64], fixed: u32| -> std::result::Result<u32, String> {
            let found = match (&self.shape.kind, numbers) {
                (_, []) => return Ok(fixed),
                (ShapeKind::Arcs(arcs), [number]) => arcs.nodes().place_of_number(*number),
                (ShapeKind::Grid(grid), [number]) => grid.place(*number),
                (ShapeKind::Grid(grid), [row, col]) => grid.place_at(*row, *col),
                _ => None,
            };
            found.ok_or_else(|| match &self.shape.kind {
                ShapeKind::Arcs(arcs) => format!(
                    "{end} = {numbers:?} is no node; the nodes are {}",
                    arcs.nodes().first()
                ),
                ShapeKind::Grid(grid) => grid.no_node(end, &format!("{numbers:?}")).to_string(),
            })
        };
        let present = match row.present {
            Some(flags) => {
                let flags = absences(Some(flags), self.num_costs(), self.shape.item());
                flags.map_err(|error| error.to_string())?.map(Into::into)
            }
            None => self.present.clone(),
        };
        Ok(Self {
            shape: Arc::clone(&self.shape),
            source: place("source", &row.source, self.source)?,
            target: place("target", &row.target, self.target)?,
            present,
        })
    }
}

impl Problem {
    /// The shortest path from one node of a directed graph to another. Arc costs are predicted, in
    /// the order of the arcs; nodes have names. Arcs in a file, and ends that differ per row, are
    /// written in a problem file.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let arcs = [["home", "bridge"], ["bridge", "work"], ["home", "work"], ["work", "home"]];
    /// let problem = Problem::graph_path(arcs, "home", "work")?;
    /// let path = problem.solve(&[2.0, 3.0, 6.0, 1.0])?;
    /// assert_eq!((path.objective, path.decision.indices()), (5.0, &[0, 1][..]));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When an arc leads from a node to itself, an end is a node of no arc, or no path leads from
    /// one end to the other.
    pub fn graph_path<T: AsRef<str>>(
        arcs: impl IntoIterator<Item = [T; 2]>,
        source: &str,
        target: &str,
    ) -> Result<Self> {
        let graph = GraphPath::new(arcs, source, target)?;
        Self::from_spec(ProblemSpec::GraphPath(graph))
    }

    /// The cheapest path from the first to the last node of a grid, by steps to 4 or 8 neighbors.
    /// Costs of nodes are predicted, row by row; a path pays for all its nodes, both ends included.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let map = Problem::node_grid_path(2, 3, 8)?;
    /// let path = map.solve(&[1.0, 9.0, 9.0, 9.0, 2.0, 1.0])?;
    /// assert_eq!(path.decision.indices(), [0, 4, 5]);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the grid is empty or too large, or the number of neighbors is neither 4 nor 8.
    pub fn node_grid_path(rows: usize, cols: usize, neighbors: u8) -> Result<Self> {
        let grid = GraphPath::node_grid(rows, cols, neighbors)?;
        Self::from_spec(ProblemSpec::GraphPath(grid))
    }
}
