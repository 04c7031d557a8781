//! Shortest path between two nodes of a directed graph, with a cost per arc; or of a grid in which
//! a step leads to one of 4 or 8 neighbors, with a cost per node.
//!
//! The solver, and its rule for negative costs, are in `solve/graph_path`. Labels are stricter:
//! true costs with a negative cycle are refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::ProblemKind;
use super::arc_table::{ArcTable, NodeName, node_value};
use super::flexible_fields::PresentList;
use super::subset::absences;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::graph_path::{CostPlace, Graph, GraphPathSolver, PathNetwork};

mod family;
mod fixing;
mod kind;

pub(super) use family::FAMILY;

/// Most steps of the search for an order in which a path visits its nodes. A shortest path needs
/// one per node, so the limit is for decisions of others.
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
        match problem.capabilities().failure_reasons.infeasibility() {
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

/// What differs per row: the numbers of the ends, empty if they are fixed, and the open arcs.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphRow {
    pub source: Vec<f64>,
    pub target: Vec<f64>,
    pub present: Option<Vec<bool>>,
}
