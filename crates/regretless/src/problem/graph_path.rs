//! Shortest path between two nodes of a directed graph, with a cost per arc; or of a grid in which
//! a step leads to one of 4 or 8 neighbors, with a cost per node.
//!
//! The solver, and its rule for negative costs, are in `solve/graph_path`. Labels are stricter:
//! true costs with a negative cycle are refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::arc_table::{ArcTable, NodeName, node_value};
use super::family::{
    At, EntryNames, FieldSize, KindConstructor, KindDefinition, KindField, NumberRange,
    Placeholder, ProblemFamily, RowPlace, TemplateRules,
};
use super::flexible_fields::PresentList;
use super::layout::DrawnNodes;
use super::parametric::{Place, RowBuilder, RowKind, RowSetter, Template, number_rows};
use super::subset::absences;
use super::{
    ChoiceFixing, EqualityConstraints, FixedChoices, ProblemKind, Sense, SolveCostHint,
    check_binary,
};
use crate::data::{CostNames, NodeNames};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::graph_path::{CostPlace, Graph, GraphPathSolver, PathNetwork};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

/// Most steps of the search for an order in which a path visits its nodes. A shortest path needs
/// one per node, so that the limit is for decisions of others.
const MAX_ORDER_STEPS: usize = 1_000_000;

/// Path between two nodes of a graph.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "GraphPathFields")]
pub struct GraphPath {
    shape: Arc<GraphShape>,
    source: u32,
    target: u32,
    /// Which arcs, or nodes of a grid, are open, if not all are.
    present: Option<Arc<[bool]>>,
}

/// The graph, shared by the problems of all rows.
#[derive(Debug)]
struct GraphShape {
    kind: ShapeKind,
    graph: Arc<Graph>,
}

#[derive(Debug, PartialEq)]
enum ShapeKind {
    Arcs(ArcTable),
    Grid(NodeGrid),
}

/// A grid with costs on its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeGrid {
    rows: usize,
    cols: usize,
    neighbors: u8,
}

/// The graph follows from the kind.
impl PartialEq for GraphShape {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// A serialized problem, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphPathFields {
    #[serde(default)]
    arcs: Option<ArcTable>,
    #[serde(default)]
    grid: Option<[usize; 2]>,
    #[serde(default)]
    neighbors: Option<u8>,
    #[serde(default)]
    source: Option<GraphNodeField>,
    #[serde(default)]
    target: Option<GraphNodeField>,
    #[serde(default)]
    present: Option<PresentList>,
}

/// An end of the path.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "a node is the name of one; in a grid it is a number, counted row by row from 0, \
                 or [row, column]"
)]
enum GraphNodeField {
    Name(NodeName),
    RowAndColumn([f64; 2]),
    /// What stands for the node in the problem that row problems are built from.
    Placeholder {
        differs_per_row: bool,
    },
}

impl GraphNodeField {
    fn is_placeholder(&self) -> bool {
        matches!(self, Self::Placeholder { differs_per_row } if *differs_per_row)
    }
}

/// A problem as it is written.
#[derive(Serialize)]
struct WrittenGraphPath<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    arcs: Option<&'a ArcTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbors: Option<u8>,
    source: Value,
    target: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    present: Option<Vec<u8>>,
}

impl Serialize for GraphPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (arcs, grid) = match &self.shape.kind {
            ShapeKind::Arcs(arcs) => (Some(arcs), None),
            ShapeKind::Grid(grid) => (None, Some(*grid)),
        };
        let node = |place: u32| match arcs {
            Some(arcs) => node_value(arcs.nodes(), place),
            None => json!(place),
        };
        let flags = |present: &Arc<[bool]>| present.iter().copied().map(u8::from).collect();
        let written = WrittenGraphPath {
            arcs,
            grid: grid.map(|grid| [grid.rows, grid.cols]),
            neighbors: grid.map(|grid| grid.neighbors),
            source: node(self.source),
            target: node(self.target),
            present: self.present.as_ref().map(flags),
        };
        written.serialize(serializer)
    }
}

impl TryFrom<GraphPathFields> for GraphPath {
    type Error = Error;

    fn try_from(fields: GraphPathFields) -> Result<Self> {
        let shape = match (fields.arcs, fields.grid) {
            (Some(_), None) if fields.neighbors.is_some() => {
                return Err(Error::setting(
                    "`neighbors` belongs to `grid`, not to `arcs`",
                ));
            }
            (Some(arcs), None) => GraphShape::of_arcs(arcs)?,
            (None, Some([rows, cols])) => {
                GraphShape::of_grid(rows, cols, fields.neighbors.unwrap_or(4))?
            }
            _ => {
                return Err(Error::setting("a graph_path problem has `arcs` or `grid`")
                    .with_remedy(
                        "write arcs = [[\"a\", \"b\"], …], arcs = { file = \"arcs.csv\" }, or \
                         grid = [rows, columns] for costs on nodes",
                    ));
            }
        };
        let last = shape.graph.num_nodes() as u32 - 1;
        let is_placeholder = |node: &Option<GraphNodeField>| {
            node.as_ref().is_some_and(GraphNodeField::is_placeholder)
        };
        let has_placeholder = is_placeholder(&fields.source) || is_placeholder(&fields.target);
        let [source, target] = [
            ("source", fields.source, 0),
            ("target", fields.target, last),
        ]
        .map(|(end, node, corner)| match (node, &shape.kind) {
            (Some(node), _) if node.is_placeholder() => Ok(None),
            (Some(node), _) => shape.place(end, node).map(Some),
            (None, ShapeKind::Grid(_)) => Ok(Some(corner)),
            (None, ShapeKind::Arcs(_)) => Err(Error::setting(format!("`{end}` is missing"))
                .with_remedy("name a node, or a column of the table with a node per row")),
        });
        let present = absences(
            fields.present.map(PresentList::into_flags),
            shape.graph.num_costs(),
            shape.item(),
        )?;
        let (source, target) = (source?, target?);
        let problem = Self {
            // A problem with placeholders has a path: an empty one.
            source: source.or(target).unwrap_or(0),
            target: target.or(source).unwrap_or(0),
            shape: Arc::new(shape),
            present: present.map(Into::into),
        };
        match problem.infeasibility() {
            Some(message) if !has_placeholder => Err(Error::setting(message)),
            _ => Ok(problem),
        }
    }
}

impl GraphShape {
    fn of_arcs(arcs: ArcTable) -> Result<Self> {
        let num_nodes = arcs.nodes().list().len();
        Ok(Self {
            graph: Arc::new(Graph::with_arc_costs(num_nodes, arcs.ends())),
            kind: ShapeKind::Arcs(arcs),
        })
    }

    fn of_grid(rows: usize, cols: usize, neighbors: u8) -> Result<Self> {
        // Each node has up to eight arcs.
        let nodes = &[rows, cols];
        size_limits::checked_product("nodes of a grid", nodes, size_limits::MAX_COSTS / 8)?;
        if rows == 0 || cols == 0 {
            return Err(Error::setting(format!("a {rows}x{cols} grid has no node")));
        }
        if neighbors != 4 && neighbors != 8 {
            return Err(Error::setting(format!(
                "neighbors = {neighbors} is neither 4 nor 8"
            )));
        }
        Ok(Self {
            kind: ShapeKind::Grid(NodeGrid {
                rows,
                cols,
                neighbors,
            }),
            graph: Arc::new(Graph::grid_with_node_costs(rows, cols, neighbors == 8)),
        })
    }

    /// What has a cost.
    fn item(&self) -> &'static str {
        match self.graph.cost_place() {
            CostPlace::Arcs => "arc",
            CostPlace::Nodes => "node",
        }
    }

    /// The place of a node; `end` is the field that names it.
    fn place(&self, end: &str, node: GraphNodeField) -> Result<u32> {
        match (&self.kind, node) {
            (ShapeKind::Arcs(arcs), GraphNodeField::Name(NodeName(name))) => {
                arcs.nodes().place(&name).ok_or_else(|| {
                    Error::setting(format!("{end} is '{name}', which is a node of no arc"))
                        .with_remedy(format!("the nodes are {}", arcs.nodes().first()))
                })
            }
            (ShapeKind::Grid(grid), GraphNodeField::Name(NodeName(name))) => {
                let number = name.parse().unwrap_or(f64::NAN);
                grid.place(number).ok_or_else(|| grid.no_node(end, &name))
            }
            (ShapeKind::Grid(grid), GraphNodeField::RowAndColumn([row, col])) => grid
                .place_at(row, col)
                .ok_or_else(|| grid.no_node(end, &format!("[{row}, {col}]"))),
            (ShapeKind::Arcs(_), GraphNodeField::RowAndColumn([row, col])) => Err(Error::setting(
                format!("{end} is [{row}, {col}], which is no name of a node"),
            )),
            (_, GraphNodeField::Placeholder { .. }) => {
                Err(Error::setting(format!("{end} is not the name of a node")))
            }
        }
    }

    /// A node for messages.
    fn describe(&self, place: u32) -> String {
        match &self.kind {
            ShapeKind::Arcs(arcs) => format!("node '{}'", arcs.node(place)),
            ShapeKind::Grid(grid) => {
                let [row, col] = [place as usize / grid.cols, place as usize % grid.cols];
                format!("node {place} (row {row}, column {col})")
            }
        }
    }
}

impl NodeGrid {
    /// The node of a number.
    fn place(&self, number: f64) -> Option<u32> {
        let count = self.rows * self.cols;
        let is_node = number >= 0.0 && number < count as f64 && number.fract() == 0.0;
        is_node.then_some(number as u32)
    }

    /// The node in a row and column.
    fn place_at(&self, row: f64, col: f64) -> Option<u32> {
        let is_in_row = col >= 0.0 && col < self.cols as f64 && col.fract() == 0.0;
        self.place(row * self.cols as f64 + col)
            .filter(|_| is_in_row)
    }

    fn no_node(&self, end: &str, node: &str) -> Error {
        let Self { rows, cols, .. } = self;
        Error::setting(format!(
            "{end} is {node}, which is no node of a {rows}x{cols} grid"
        ))
        .with_remedy(format!(
            "nodes are numbered row by row from 0 to {}, or named by [row, column]",
            rows * cols - 1
        ))
    }
}

/// The number of a node, which may be negative where it is a name; in a grid, its row and column
/// too.
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
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "graph_path",
    summary: "The shortest path in a directed graph, or over the nodes of a grid.",
    fields: &[
        KindField::optional(
            "arcs",
            "sequence of pairs or dict, optional",
            "Arcs as (from, to) or (from, to, name), in the order of the costs. Nodes are texts or \
             whole numbers. Among named arcs, one without a name is called \"from-to\", a name that \
             no other arc may have. Or a CSV file: {\"file\": \"arcs.csv\", \"from\": \"from\", \
             \"to\": \"to\", \"name\": \"name\"}, with the names of its columns; \"name\" is optional.",
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
            "Rows and columns of a grid, in the place of `arcs`. Costs belong to its nodes, row by \
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
        raises: "Where an arc leads from a node to itself, an end is a node of no arc, or no path \
                 leads from one end to the other.",
        notes: "Costs may be negative. Where a cycle of the graph has a negative length, predicted \
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

    fn row_builder(
        &self,
        template: &Template,
        _base: &dyn ProblemKind,
    ) -> Result<Option<Box<dyn RowBuilder>>> {
        Ok(number_rows(self, template))
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

impl RowKind for GraphPath {
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

impl GraphPath {
    /// Paths along arcs between named nodes; each arc has a cost.
    ///
    /// # Errors
    /// When an arc is invalid, an end is a node of no arc, or no path leads from one to the other.
    pub fn new<T: AsRef<str>>(
        arcs: impl IntoIterator<Item = [T; 2]>,
        source: &str,
        target: &str,
    ) -> Result<Self> {
        Self::try_from(GraphPathFields {
            arcs: Some(ArcTable::new(arcs, None)?),
            grid: None,
            neighbors: None,
            source: Some(GraphNodeField::Name(NodeName(source.into()))),
            target: Some(GraphNodeField::Name(NodeName(target.into()))),
            present: None,
        })
    }

    /// Paths from the first to the last node of a grid, each of which has a cost, along steps to 4
    /// or 8 neighbors.
    ///
    /// # Errors
    /// When the grid is empty or too large, or the number of neighbors is neither 4 nor 8.
    pub fn node_grid(rows: usize, cols: usize, neighbors: u8) -> Result<Self> {
        Self::try_from(GraphPathFields {
            arcs: None,
            grid: Some([rows, cols]),
            neighbors: Some(neighbors),
            source: None,
            target: None,
            present: None,
        })
    }

    /// Whether each arc, or node of a grid, is open.
    fn open_flags(&self) -> Vec<bool> {
        match &self.present {
            Some(present) => present.to_vec(),
            None => vec![true; self.num_costs()],
        }
    }

    fn network(&self) -> PathNetwork {
        PathNetwork {
            graph: Arc::clone(&self.shape.graph),
            source: self.source,
            target: self.target,
            present: self.present.clone(),
        }
    }

    fn path_solver(&self) -> Box<GraphPathSolver> {
        Box::new(GraphPathSolver::new(self.network()))
    }

    fn is_open(&self, cost: u32) -> bool {
        self.present
            .as_ref()
            .is_none_or(|present| present[cost as usize])
    }

    /// Checks that arcs, of which each node has at most one that leaves it, lead from the source to
    /// the target.
    fn check_arcs(&self, arcs: &ArcTable, chosen: &[u32]) -> std::result::Result<(), String> {
        let mut ends: Vec<[u32; 2]> = chosen
            .iter()
            .map(|arc| arcs.ends()[*arc as usize])
            .collect();
        ends.sort_unstable();
        let mut node = self.source;
        let mut steps = 0;
        while node != self.target {
            let first = ends.partition_point(|[from, _]| *from < node);
            let mut leaving = ends[first..].iter().take_while(|[from, _]| *from == node);
            let Some([_, to]) = leaving.next().filter(|_| steps < ends.len()) else {
                return Err(format!(
                    "the path ends at {}, not at {}",
                    self.shape.describe(node),
                    self.shape.describe(self.target)
                ));
            };
            if leaving.next().is_some() {
                return Err(format!("two arcs leave {}", self.shape.describe(node)));
            }
            node = *to;
            steps += 1;
        }
        match ends.len() - steps {
            0 => Ok(()),
            others => Err(format!("{others} of the arcs are not on the path")),
        }
    }

    /// Checks that nodes can be visited one after the other, each once, from the source to the
    /// target.
    fn check_nodes(&self, chosen: &[u32]) -> std::result::Result<(), String> {
        for node in [self.source, self.target] {
            if chosen.binary_search(&node).is_err() {
                return Err(format!(
                    "the path does not visit {}",
                    self.shape.describe(node)
                ));
            }
        }
        self.order_of_nodes(&[self.source], chosen).map(|_| ())
    }

    /// An order in which a path that begins with some nodes can visit all chosen ones, each once.
    fn order_of_nodes(
        &self,
        beginning: &[u32],
        chosen: &[u32],
    ) -> std::result::Result<Vec<u32>, String> {
        let place = |node: u32| chosen.binary_search(&node).ok();
        let mut is_visited = vec![false; chosen.len()];
        // The nodes visited so far, each with the number of its neighbor that is tried next. Those
        // of the beginning, except for the last, have no other.
        let mut way: Vec<(u32, usize)> = Vec::with_capacity(chosen.len());
        for node in beginning {
            way.push((*node, usize::MAX));
            if let Some(first) = place(*node) {
                is_visited[first] = true;
            }
        }
        if let Some((_, tried)) = way.last_mut() {
            *tried = 0;
        }
        for _ in 0..MAX_ORDER_STEPS {
            let visited = way.len();
            let Some((node, tried)) = way.last_mut() else {
                return Err("no path visits these nodes one after the other, each once".into());
            };
            if *node == self.target && visited == chosen.len() {
                return Ok(way.into_iter().map(|(node, _)| node).collect());
            }
            let arc = self.shape.graph.leaving(*node).get(*tried);
            *tried = tried.saturating_add(1);
            match arc {
                Some(arc) => {
                    if let Some(next) = place(arc.node).filter(|next| !is_visited[*next]) {
                        is_visited[next] = true;
                        way.push((arc.node, 0));
                    }
                }
                None => {
                    if let Some(last) = way.pop().and_then(|(node, _)| place(node)) {
                        is_visited[last] = false;
                    }
                }
            }
        }
        Err("it cannot be told whether a path visits these nodes".into())
    }
}

/// Why an arc or node cannot be forced.
const NO_FORCING: &str = "the shortest path through a given place of a graph with cycles is an \
    NP-hard problem";

/// The best path with fixed choices, as in the algorithm of Yen (1971): forced arcs that begin the
/// path are cut off, and arcs are closed.
impl GraphPath {
    /// The nodes that arcs lead through from the source, one after the other; `None` if they do not
    /// begin a path.
    fn nodes_along(&self, arcs: &ArcTable, chosen: &[u32]) -> Option<Vec<u32>> {
        let order = self.order_along(arcs, chosen);
        if order.len() < chosen.len() {
            return None;
        }
        let mut nodes = vec![self.source];
        for arc in order {
            let [_, to] = arcs.ends()[arc as usize];
            if nodes.contains(&to) {
                return None;
            }
            nodes.push(to);
        }
        Some(nodes)
    }

    /// The nodes of a grid with which a path begins, if these are, in order, the first ones of one;
    /// without any, the source.
    fn beginning_of_nodes(&self, nodes: &[u32]) -> Option<Vec<u32>> {
        if nodes.is_empty() {
            return Some(vec![self.source]);
        }
        let is_step = |ends: &[u32]| {
            let mut steps = self.shape.graph.leaving(ends[0]).iter();
            ends[0] != self.target && steps.any(|arc| arc.node == ends[1])
        };
        let are_steps = nodes.windows(2).all(is_step);
        (nodes[0] == self.source && are_steps).then(|| nodes.to_vec())
    }

    /// The arcs that lead on from the source, one after the other, up to the target or to a node
    /// that none of them leaves.
    fn order_along(&self, arcs: &ArcTable, chosen: &[u32]) -> Vec<u32> {
        let mut left: Vec<u32> = chosen.to_vec();
        let mut order = Vec::with_capacity(left.len());
        let mut node = self.source;
        while node != self.target
            && let Some(place) = left
                .iter()
                .position(|arc| arcs.ends()[*arc as usize][0] == node)
        {
            let arc = left.swap_remove(place);
            node = arcs.ends()[arc as usize][1];
            order.push(arc);
        }
        order
    }

    /// Paths that go on from the last of these nodes, without the others and the closed places.
    fn continued_from(&self, nodes: &[u32], closed: &[u32]) -> Self {
        let mut present = self.open_flags();
        for place in closed {
            present[*place as usize] = false;
        }
        let (source, passed) = nodes.split_last().unwrap_or((&self.source, &[]));
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => {
                for ([from, to], is_open) in arcs.ends().iter().zip(&mut present) {
                    if passed.contains(from) || passed.contains(to) {
                        *is_open = false;
                    }
                }
            }
            ShapeKind::Grid(_) => {
                for node in passed {
                    present[*node as usize] = false;
                }
            }
        }
        Self {
            shape: Arc::clone(&self.shape),
            source: *source,
            target: self.target,
            present: Some(present.into()),
        }
    }
}

/// What differs per row: the numbers of the ends, empty where they are fixed, and the open arcs.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphRow {
    pub source: Vec<f64>,
    pub target: Vec<f64>,
    pub present: Option<Vec<bool>>,
}

impl ProblemKind for GraphPath {
    fn name(&self) -> String {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => {
                let nodes = arcs.nodes().list().len();
                format!("path in a graph of {nodes} nodes and {} arcs", arcs.len())
            }
            ShapeKind::Grid(grid) => {
                let NodeGrid {
                    rows,
                    cols,
                    neighbors,
                } = grid;
                format!("path over the nodes of a {rows}x{cols} grid with {neighbors} neighbors")
            }
        }
    }

    /// Fitted to medians on road-like networks with random ends: 7 µs for 2,163 arcs, 1.1 ms for
    /// 100,000.
    fn solve_cost_hint(&self) -> SolveCostHint {
        let arcs = self.shape.graph.num_arcs() as f64;
        SolveCostHint::estimated(
            3e-10 * arcs * arcs.log2().max(1.0).powi(2) / 8.0 + 1e-6,
            1.0,
        )
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        self.shape.graph.num_costs()
    }

    fn cost_names(&self) -> Option<&CostNames> {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => arcs.cost_names(),
            ShapeKind::Grid(_) => None,
        }
    }

    fn may_have_cost_names(&self) -> bool {
        matches!(self.shape.kind, ShapeKind::Arcs(_))
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.path_solver()
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<GraphPathSolver>()
            .is_some_and(|solver| solver.move_to(&self.network()))
    }

    fn infeasibility(&self) -> Option<String> {
        if self.network().is_connected() {
            return None;
        }
        let [source, target] = [self.source, self.target].map(|node| self.shape.describe(node));
        let reason = if self.present.is_some() {
            format!(" along the {}s that are open", self.shape.item())
        } else {
            String::new()
        };
        Some(format!("{target} cannot be reached from {source}{reason}"))
    }

    fn unusable_costs(&self, costs: &[f64]) -> Option<String> {
        let cycle = self.path_solver().negative_cycle(costs).ok()??;
        let nodes = cycle.iter().map(|node| self.shape.describe(*node));
        Some(format!(
            "the costs of the cycle through {} add up to less than 0, so that no path is the \
             shortest",
            first_names(nodes)
        ))
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.path_solver())
    }

    /// Exact ranges are at least as wide as those of any basis, so that they serve both kinds.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(self.path_solver())
    }

    /// With costs on nodes the polytope of the paths is not known.
    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        match self.shape.graph.cost_place() {
            CostPlace::Arcs => Some(self.path_solver()),
            CostPlace::Nodes => None,
        }
    }

    fn has_cones(&self) -> bool {
        self.shape.graph.cost_place() == CostPlace::Arcs
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let ShapeKind::Arcs(arcs) = &self.shape.kind else {
            return None;
        };
        let mut cone = NormalCone::binary(decision, self.num_costs());
        let mut balances = vec![Vec::new(); self.shape.graph.num_nodes()];
        for (arc, [from, to]) in arcs.ends().iter().enumerate() {
            if self.is_open(arc as u32) {
                balances[*from as usize].push((arc, 1.0));
                balances[*to as usize].push((arc, -1.0));
            }
        }
        for balance in balances {
            if !balance.is_empty() {
                cone.add_equation(balance);
            }
        }
        if let Some(present) = &self.present {
            cone.remove_absent(present);
        }
        Some(cone)
    }

    /// With costs on nodes there are none: a path visits a node once or not at all.
    fn equality_constraints(&self) -> EqualityConstraints {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => EqualityConstraints::flow_balances(
                self.shape.graph.num_nodes(),
                arcs.ends().iter().copied(),
                |arc| self.is_open(arc as u32),
            ),
            ShapeKind::Grid(_) => EqualityConstraints::None,
        }
    }

    fn fix_choices(&self, fixed: &FixedChoices) -> ChoiceFixing {
        if fixed.contradict(|cost| self.is_open(cost)) {
            return ChoiceFixing::Infeasible;
        }
        let nodes = match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.nodes_along(arcs, &fixed.forced),
            ShapeKind::Grid(_) => self.beginning_of_nodes(&fixed.forced),
        };
        match nodes {
            Some(nodes) => {
                let problem = self.continued_from(&nodes, &fixed.forbidden);
                let mut added = fixed.forced.clone();
                if self.shape.graph.cost_place() == CostPlace::Nodes {
                    // The path that goes on begins with the last node.
                    added.retain(|node| *node != problem.source);
                }
                ChoiceFixing::Restricted {
                    problem: Arc::new(problem),
                    added,
                }
            }
            None if self.shape.graph.is_acyclic() => ChoiceFixing::ByCosts,
            None => ChoiceFixing::Unsupported(NO_FORCING),
        }
    }

    fn choices_in_order(&self, decision: &Decision) -> Vec<u32> {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.order_along(arcs, decision.indices()),
            ShapeKind::Grid(_) => decision.indices().to_vec(),
        }
    }

    /// Paths over the nodes of a grid are divided by the node at which they leave the best one.
    /// Several orders of the same nodes are one decision, which then is the best of several parts.
    fn divide_decisions(&self, fixed: &FixedChoices, best: &Decision) -> Option<Vec<FixedChoices>> {
        if self.shape.graph.cost_place() == CostPlace::Arcs {
            return None;
        }
        let beginning = self.beginning_of_nodes(&fixed.forced)?;
        let order = self.order_of_nodes(&beginning, best.indices()).ok()?;
        let mut parts = Vec::new();
        for place in beginning.len()..order.len() {
            let passed = &order[..place];
            for arc in self.shape.graph.leaving(order[place - 1]) {
                let is_new = arc.node != order[place] && !passed.contains(&arc.node);
                if is_new && self.is_open(arc.node) {
                    parts.push(FixedChoices {
                        forced: [passed, &[arc.node]].concat(),
                        forbidden: fixed.forbidden.clone(),
                    });
                }
            }
        }
        Some(parts)
    }

    /// A path over the nodes of a grid may visit all nodes of another one and more.
    fn may_contain_decisions(&self) -> bool {
        match &self.shape.kind {
            ShapeKind::Arcs(_) => false,
            ShapeKind::Grid(_) => true,
        }
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let chosen = decision.indices();
        if let Some(closed) = chosen.iter().find(|cost| !self.is_open(**cost)) {
            return Err(match &self.shape.kind {
                ShapeKind::Arcs(arcs) => format!("{} is closed", arcs.describe(*closed as usize)),
                ShapeKind::Grid(_) => format!("{} is closed", self.shape.describe(*closed)),
            });
        }
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.check_arcs(arcs, chosen),
            ShapeKind::Grid(_) => self.check_nodes(chosen),
        }
    }
}
