//! Minimum spanning tree: the cheapest edges that connect all nodes of an undirected graph.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::arc_table::ArcTable;
use super::family::{KindConstructor, KindDefinition, KindField, ProblemFamily, TemplateRules};
use super::flexible_fields::PresentList;
use super::layout::DrawnNodes;
use super::parametric::{NumberRows, Place, RowParametric, RowSetter, Template, stated_flags};
use super::subset::absences;
use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    ProblemKind, Sense, Sensitivity, SolveCostHint, check_binary,
};
use super::{Problem, ProblemSpec};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::complete_graph::num_edges;
use crate::solve::relaxation::{CostRanging, VertexSolver};
use crate::solve::spanning_tree::{SpanningTreeSolver, TreeNetwork};
use crate::solve::{SearchLimits, Solver};

/// A tree that connects all nodes.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "SpanningTreeFields")]
pub struct SpanningTree {
    shape: Arc<TreeShape>,
    sense: Sense,
    network: TreeNetwork,
}

#[derive(Debug, PartialEq)]
enum TreeShape {
    /// All pairs of this many nodes.
    Complete(usize),
    Edges(ArcTable),
}

/// The ends of the edges follow from the shape.
impl PartialEq for SpanningTree {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.sense == other.sense
            && self.network.present == other.network.present
    }
}

/// A serialized problem, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpanningTreeFields {
    #[serde(default)]
    nodes: Option<usize>,
    #[serde(default)]
    edges: Option<ArcTable>,
    #[serde(default = "minimize")]
    sense: Sense,
    #[serde(default)]
    present: Option<PresentList>,
}

fn minimize() -> Sense {
    Sense::Minimize
}

/// A problem as it is written.
#[derive(Serialize)]
struct WrittenSpanningTree<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<&'a ArcTable>,
    sense: Sense,
    #[serde(skip_serializing_if = "Option::is_none")]
    present: Option<Vec<u8>>,
}

impl Serialize for SpanningTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (nodes, edges) = match self.shape.as_ref() {
            TreeShape::Complete(nodes) => (Some(*nodes), None),
            TreeShape::Edges(edges) => (None, Some(edges)),
        };
        let flags = |present: &Arc<[bool]>| present.iter().copied().map(u8::from).collect();
        let written = WrittenSpanningTree {
            nodes,
            edges,
            sense: self.sense,
            present: self.network.present.as_ref().map(flags),
        };
        written.serialize(serializer)
    }
}

impl TryFrom<SpanningTreeFields> for SpanningTree {
    type Error = Error;

    fn try_from(fields: SpanningTreeFields) -> Result<Self> {
        let shape = match (fields.nodes, fields.edges) {
            (Some(nodes), None) => TreeShape::Complete(nodes),
            (None, Some(edges)) => TreeShape::Edges(edges),
            _ => {
                let message = "a spanning_tree problem has `nodes` or `edges`";
                return Err(Error::setting(message).with_remedy(
                    "write nodes = 20 for all pairs of 20 nodes, edges = [[\"a\", \"b\"], …], or \
                     edges = { file = \"edges.csv\" }",
                ));
            }
        };
        let problem = Self::of_shape(shape, fields.sense)?;
        match fields.present {
            Some(present) => {
                let problem = problem.with_present(present.into_flags())?;
                match problem.infeasibility() {
                    Some(message) => Err(Error::setting(message)),
                    None => Ok(problem),
                }
            }
            None => Ok(problem),
        }
    }
}

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "spanning_tree",
    summary: "The cheapest edges that connect all nodes.",
    starter: "\
# the cheapest cables that connect all places: one cost per edge
kind = \"spanning_tree\"
edges = [[\"a\", \"b\"], [\"b\", \"c\"], [\"a\", \"c\"]]    # fill in, or nodes = 20 for all pairs
# sense = \"maximize\"       # optional
",
    fields: &[
        KindField::optional(
            "edges",
            "sequence of pairs or dict, optional",
            "Edges as (node, node) or (node, node, name), in the order of the costs; or a CSV \
             file, as in `graph_path`.",
        ),
        KindField::optional(
            "nodes",
            "int, optional",
            "Number of nodes, instead of `edges`: all pairs 0-1, 0-2, …, 1-2, … are joined.",
        )
        .annotated("int | None"),
        KindField::sense("\"minimize\""),
        KindField::present(
            "array_like of shape (d,) or columns, optional",
            "Which edges exist (1 or 0); all by default. The cost of an absent one may be missing \
             (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a minimum spanning tree: the cheapest edges that connect all nodes.",
        positional: 1,
        raises: "If the edges do not connect all nodes.",
        examples: &[
            ">>> problem = rl.Problem.spanning_tree(\
             [(\"a\", \"b\"), (\"b\", \"c\"), (\"a\", \"c\")])",
            ">>> problem.solve([1, 5, 2]).decision",
            "array([1., 0., 1.], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: edges_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn edges_of_file(file: &Value) -> Option<usize> {
    match file.get("nodes").and_then(Value::as_u64) {
        Some(nodes) => {
            let pairs = nodes.checked_mul(nodes.checked_sub(1)?)?;
            Some(pairs as usize / 2)
        }
        None => file.get("edges")?.as_array().map(Vec::len),
    }
}

impl KindDefinition for SpanningTree {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }

    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        Some(DrawnNodes {
            count: self.nodes(),
            depot: false,
            arcs: self.edges(),
        })
    }
}

impl RowParametric for SpanningTree {
    /// Whether each edge is present.
    type Numbers = Vec<bool>;

    fn row_numbers(&self, _template: &Template) -> Vec<bool> {
        stated_flags(self.network.present.as_deref(), self.num_costs())
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<Vec<bool>>> {
        RowSetter::of_list(place, |row, edge, value| row[edge] = value != 0.0)
    }

    fn of_row(&self, present: Vec<bool>) -> std::result::Result<Self, String> {
        self.with_present(present)
            .map_err(|error| error.to_string())
    }
}

impl SpanningTree {
    /// Number of nodes.
    fn nodes(&self) -> usize {
        match &*self.shape {
            TreeShape::Complete(nodes) => *nodes,
            TreeShape::Edges(edges) => edges.nodes().list().len(),
        }
    }

    /// The edges, if they are not all pairs of nodes.
    fn edges(&self) -> Option<&ArcTable> {
        match &*self.shape {
            TreeShape::Complete(_) => None,
            TreeShape::Edges(edges) => Some(edges),
        }
    }

    /// Trees of edges between named nodes, each of which has a cost.
    ///
    /// # Errors
    /// When an edge is invalid, or the edges do not connect all nodes.
    pub fn new<T: AsRef<str>>(edges: impl IntoIterator<Item = [T; 2]>) -> Result<Self> {
        let edges = ArcTable::new(edges, None)?;
        Self::of_shape(TreeShape::Edges(edges), Sense::Minimize)
    }

    fn of_shape(shape: TreeShape, sense: Sense) -> Result<Self> {
        let (num_nodes, ends) = match &shape {
            TreeShape::Complete(nodes) => {
                size_limits::pairs("edges", *nodes)?;
                if *nodes < 2 {
                    return Err(Error::setting(format!("{nodes} nodes have no edge")));
                }
                let mut ends = Vec::with_capacity(num_edges(*nodes));
                for first in 0..*nodes as u32 {
                    ends.extend((first + 1..*nodes as u32).map(|second| [first, second]));
                }
                (*nodes, ends)
            }
            TreeShape::Edges(edges) => (edges.nodes().list().len(), edges.ends().to_vec()),
        };
        let problem = Self {
            network: TreeNetwork {
                num_nodes,
                ends: ends.into(),
                present: None,
            },
            shape: Arc::new(shape),
            sense,
        };
        match problem.infeasibility() {
            Some(message) => Err(Error::setting(message)),
            None => Ok(problem),
        }
    }

    /// The same graph with these edges only. Whether they connect all nodes is found out by the
    /// solver.
    ///
    /// # Errors
    /// When there is not one flag per edge, or no edge is present.
    fn with_present(&self, present: Vec<bool>) -> Result<Self> {
        let present = absences(Some(present), self.num_costs(), "edge")?;
        let mut problem = self.clone();
        problem.network.present = present.map(Into::into);
        Ok(problem)
    }

    fn tree_solver(&self) -> Box<SpanningTreeSolver> {
        Box::new(SpanningTreeSolver::new(self.network.clone()))
    }

    fn describe_node(&self, node: u32) -> String {
        match self.shape.as_ref() {
            TreeShape::Complete(_) => format!("node {node}"),
            TreeShape::Edges(edges) => format!("node '{}'", edges.node(node)),
        }
    }
}

impl Problem {
    /// The cheapest tree that connects all nodes of an undirected graph. Edge costs are predicted,
    /// in the order of the edges; nodes have names.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::spanning_tree([["a", "b"], ["b", "c"], ["a", "c"]])?;
    /// let tree = problem.solve(&[1.0, 5.0, 2.0])?;
    /// assert_eq!((tree.objective, tree.decision.indices()), (3.0, &[0, 2][..]));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When an edge joins a node with itself, or the edges do not connect all nodes.
    pub fn spanning_tree<T: AsRef<str>>(edges: impl IntoIterator<Item = [T; 2]>) -> Result<Self> {
        Self::from_spec(ProblemSpec::SpanningTree(SpanningTree::new(edges)?))
    }
}

impl ProblemKind for SpanningTree {
    fn name(&self) -> String {
        let (nodes, edges) = (self.network.num_nodes, self.num_costs());
        format!("spanning tree of {nodes} nodes and {edges} edges")
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.network.ends.len()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.network.present.as_deref()
    }

    /// Fitted to medians on road-like networks: 32 µs for 1,000 edges, 2.7 ms for 60,000.
    fn solve_cost_hint(&self) -> SolveCostHint {
        let edges = self.num_costs() as f64;
        SolveCostHint::estimated(3e-9 * edges * edges.log2().max(1.0) + 1e-6, 1.0)
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.tree_solver()
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<SpanningTreeSolver>()
            .is_some_and(|solver| solver.move_to(&self.network))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let chosen = decision.indices();
        if let Some(absent) = chosen.iter().find(|edge| !self.network.is_present(**edge)) {
            return Err(format!("edge {absent} is chosen, but it is absent"));
        }
        let needed = self.network.num_nodes - 1;
        if chosen.len() != needed {
            return Err(format!(
                "{} edges are chosen, a tree has {needed}",
                chosen.len()
            ));
        }
        // A tree reaches all nodes from any of them.
        let mut neighbors = vec![Vec::new(); self.network.num_nodes];
        for edge in chosen {
            let [first, second] = self.network.ends[*edge as usize];
            neighbors[first as usize].push(second);
            neighbors[second as usize].push(first);
        }
        let mut is_reached = vec![false; self.network.num_nodes];
        let mut open = vec![0_u32];
        is_reached[0] = true;
        while let Some(node) = open.pop() {
            for next in &neighbors[node as usize] {
                if !std::mem::replace(&mut is_reached[*next as usize], true) {
                    open.push(*next);
                }
            }
        }
        match is_reached.iter().position(|reached| !reached) {
            Some(node) => Err(format!(
                "the chosen edges do not connect {} with {}",
                self.describe_node(node as u32),
                self.describe_node(0)
            )),
            None => Ok(()),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for SpanningTree {
    fn cost_names(&self) -> Option<&CostNames> {
        match self.shape.as_ref() {
            TreeShape::Complete(_) => None,
            TreeShape::Edges(edges) => edges.cost_names(),
        }
    }

    fn may_have_cost_names(&self) -> bool {
        matches!(self.shape.as_ref(), TreeShape::Edges(_))
    }
}

impl FailureReasons for SpanningTree {
    fn infeasibility(&self) -> Option<String> {
        let parts = self.network.parts()?;
        let first = parts.first()?;
        let other = parts.iter().position(|part| part != first)?;
        let reason = if self.network.present.is_some() {
            " that are present"
        } else {
            ""
        };
        let [from, to] = [0, other as u32].map(|node| self.describe_node(node));
        Some(format!("no edges{reason} connect {to} with {from}"))
    }
}

impl Choices for SpanningTree {}

impl Sensitivity for SpanningTree {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.tree_solver())
    }

    /// They are at least as wide as those of any basis, so they serve both kinds.
    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(self.tree_solver())
    }
}

impl DecisionGeometry for SpanningTree {
    /// A tree has one edge less than nodes.
    fn equality_constraints(&self) -> EqualityConstraints {
        match &self.network.present {
            None => EqualityConstraints::Groups(vec![self.num_costs()]),
            Some(present) => {
                let edges = (0..).zip(present.iter()).filter(|(_, present)| **present);
                EqualityConstraints::from_rows([edges.map(|(edge, _)| (edge, 1.0)).collect()])
            }
        }
    }

    /// All spanning trees have equally many edges.
    fn may_contain_decisions(&self) -> bool {
        false
    }
}
