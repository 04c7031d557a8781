//! Shortest path through a grid from the top left to the bottom right node, or between two other
//! nodes, with arcs to the right and down, of which some may be closed.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::family::{
    ArgumentForm, At, FieldSize, KindConstructor, KindDefinition, KindField, NumberRange,
    ProblemFamily, RowPlace, TemplateRules,
};
use super::flexible_fields::PresentList;
use super::layout::DecisionLayout;
use super::subset::absences;
use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    Problem, ProblemKind, ProblemSpec, Sense, Sensitivity, SolveCostHint, check_binary,
};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::grid_path::{
    GridCostRanging, GridNetwork, GridNode, GridPathSolver, RestrictedGridSolver, flow,
};
use crate::solve::relaxation::{AdjacentVertices, CostRanging, Relaxation, RelaxationSolver};
use crate::solve::{SearchLimits, Solver};

/// Path through a grid, from the top left to the bottom right node unless other ends are given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridPathFields")]
pub struct GridPath {
    /// Rows and columns of nodes.
    grid: [usize; 2],
    /// The first node of the path, if it is not the top left one.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<usize>,
    /// The last node of the path, if it is not the bottom right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<usize>,
    /// Which arcs are open, if not all are.
    #[serde(
        serialize_with = "serialize_flags",
        skip_serializing_if = "Option::is_none"
    )]
    present: Option<Arc<[bool]>>,
}

/// Writes flags as zeros and ones.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn serialize_flags<S: Serializer>(
    flags: &Option<Arc<[bool]>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let flags = flags.iter().flat_map(|flags| flags.iter());
    serializer.collect_seq(flags.map(|flag| u8::from(*flag)))
}

/// A serialized grid, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridPathFields {
    grid: [usize; 2],
    #[serde(default)]
    source: Option<NodeField>,
    #[serde(default)]
    target: Option<NodeField>,
    #[serde(default)]
    present: Option<PresentList>,
}

/// A node by its number, or by its row and column.
#[derive(Clone, Copy, Deserialize)]
#[serde(
    untagged,
    expecting = "a node is a number, counted row by row from 0, or [row, column]"
)]
enum NodeField {
    Number(f64),
    RowAndColumn([f64; 2]),
}

impl NodeField {
    /// The number of the node in a grid; `end` names the field.
    fn number(self, end: &str, [rows, cols]: [usize; 2]) -> Result<usize> {
        match self {
            Self::Number(number) => index_below(number, rows * cols).ok_or_else(|| {
                let last = rows * cols - 1;
                Error::setting(format!(
                    "{end} is {number}, which is no node of a {rows}x{cols} grid"
                ))
                .with_remedy(format!("nodes are numbered row by row from 0 to {last}"))
            }),
            Self::RowAndColumn([row, col]) => {
                let node = index_below(row, rows).zip(index_below(col, cols));
                let (row, col) = node.ok_or_else(|| {
                    Error::setting(format!(
                        "{end} is [{row}, {col}], which is no node of a {rows}x{cols} grid"
                    ))
                    .with_remedy("rows and columns are counted from 0")
                })?;
                Ok(row * cols + col)
            }
        }
    }
}

/// An integer from 0 to below `count`.
fn index_below(number: f64, count: usize) -> Option<usize> {
    let is_index = number >= 0.0 && number < count as f64 && number.fract() == 0.0;
    is_index.then_some(number as usize)
}

impl TryFrom<GridPathFields> for GridPath {
    type Error = Error;

    fn try_from(fields: GridPathFields) -> Result<Self> {
        let [rows, cols] = fields.grid;
        let grid = Self::new(rows, cols)?;
        let number = |node: Option<NodeField>, end: &str, default: usize| match node {
            Some(node) => node.number(end, fields.grid),
            None => Ok(default),
        };
        let source = number(fields.source, "source", 0)?;
        let target = number(fields.target, "target", rows * cols - 1)?;
        grid.restricted(source, target, fields.present.map(PresentList::into_flags))
    }
}

/// A node by its number, or by its row and column. The whole list is left out of the problem with
/// placeholders.
const END_PLACES: &[RowPlace] = &[
    RowPlace::left_out(NumberRange::Whole)
        .plural()
        .sized(FieldSize::Fixed(2)),
    RowPlace::left_out(NumberRange::Whole),
    RowPlace::left_out(NumberRange::Whole).at(&[At::Index]),
];

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "grid_path",
    summary: "The shortest path through a grid, along arcs to the right and down.",
    starter: "\
# the cheapest way through a grid, right and down
kind = \"grid_path\"
grid = [3, 3]              # fill in: rows and columns of nodes
",
    fields: &[
        KindField::required(
            "grid",
            "int",
            "Size of the grid. Nodes are numbered row by row from 0.",
        )
        .made_of(&["rows", "cols"])
        .annotated("int")
        .form(ArgumentForm::Index),
        KindField::optional(
            "source",
            "int, pair of int, column or columns, optional",
            "",
        )
        .rows(END_PLACES),
        KindField::optional(
            "target",
            "int, pair of int, column or columns, optional",
            "First and last node, as a number or as row and column; the first and the last node of \
             the grid by default.",
        )
        .rows(END_PLACES),
        KindField::present(
            "array_like of shape (d,) or columns, optional",
            "Which arcs are open (1 or 0); all by default. The cost of a closed arc may be missing \
             (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a shortest path through a grid, along arcs to the right and down.",
        positional: 2,
        examples: &[
            ">>> problem = rl.Problem.grid_path(3, 3, source=rl.column(\"from\"), \
             target=rl.column(\"to\"))",
            ">>> problem.parameters",
            "['from', 'to']",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: arcs_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn arcs_of_file(file: &Value) -> Option<usize> {
    let grid = file.get("grid")?.as_array()?;
    let [rows, cols] = [grid.first()?.as_u64()?, grid.get(1)?.as_u64()?];
    let arcs = rows.checked_mul(cols.checked_sub(1)?)?;
    let arcs = arcs.checked_add(cols.checked_mul(rows.checked_sub(1)?)?);
    arcs.map(|arcs| arcs as usize)
}

impl KindDefinition for GridPath {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn layout(&self) -> Option<DecisionLayout> {
        Some(DecisionLayout::Grid {
            rows: self.rows(),
            cols: self.cols(),
        })
    }
}

impl GridPath {
    /// A grid of `rows` by `cols` nodes.
    ///
    /// # Errors
    /// When the grid has no arc, or too many.
    pub fn new(rows: usize, cols: usize) -> Result<Self> {
        // A grid has less than two arcs per node.
        size_limits::checked_product("nodes of a grid", &[rows, cols], size_limits::MAX_COSTS / 2)?;
        if rows == 0 || cols == 0 || rows * cols < 2 {
            return Err(Error::setting(format!("a {rows}x{cols} grid has no path"))
                .with_remedy("it needs two nodes or more"));
        }
        Ok(Self {
            grid: [rows, cols],
            source: None,
            target: None,
            present: None,
        })
    }

    /// Paths from one node to another, numbered row by row from 0, along the arcs that are present:
    /// the others are closed and have no cost. `None`: all arcs are present.
    ///
    /// # Errors
    /// When a node does not exist, the number of flags is not that of the arcs, or the target
    /// cannot be reached from the source.
    pub fn restricted(
        &self,
        source: usize,
        target: usize,
        present: Option<Vec<bool>>,
    ) -> Result<Self> {
        let last = self.rows() * self.cols() - 1;
        for (end, node) in [("source", source), ("target", target)] {
            if node > last {
                NodeField::Number(node as f64).number(end, self.grid)?;
            }
        }
        let present = absences(present, self.num_costs(), "arc")?;
        let restricted = Self {
            grid: self.grid,
            source: (source != 0).then_some(source),
            target: (target != last).then_some(target),
            present: present.map(Into::into),
        };
        if restricted.network().is_connected() {
            return Ok(restricted);
        }
        let [from, to] = [source, target].map(|node| restricted.node(node));
        let reason = if to.row < from.row || to.col < from.col {
            "arcs lead right and down only"
        } else {
            "the arcs between them are closed"
        };
        Err(Error::setting(format!(
            "node {target} (row {}, column {}) cannot be reached from node {source} (row {}, \
             column {}): {reason}",
            to.row, to.col, from.row, from.col
        )))
    }

    /// The first node of the path.
    pub fn source(&self) -> usize {
        self.source.unwrap_or(0)
    }

    /// The last node of the path.
    pub fn target(&self) -> usize {
        self.target.unwrap_or(self.rows() * self.cols() - 1)
    }

    fn node(&self, number: usize) -> GridNode {
        GridNode {
            row: number / self.cols(),
            col: number % self.cols(),
        }
    }

    fn network(&self) -> GridNetwork {
        GridNetwork {
            cols: self.cols(),
            source: self.node(self.source()),
            target: self.node(self.target()),
            present: self.present.clone(),
        }
    }

    /// The solver of a grid with other ends or closed arcs; `None` for a whole grid, which has a
    /// faster one.
    fn restricted_solver(&self) -> Option<Box<RestrictedGridSolver>> {
        let is_unrestricted =
            self.source.is_none() && self.target.is_none() && self.present.is_none();
        (!is_unrestricted).then(|| Box::new(RestrictedGridSolver::new(self.network())))
    }

    /// Rows of nodes.
    pub fn rows(&self) -> usize {
        self.grid[0]
    }

    /// Columns of nodes.
    pub fn cols(&self) -> usize {
        self.grid[1]
    }
}

impl Problem {
    /// The shortest path from the first to the last node of a grid, along arcs to the right and
    /// down. Arc costs are predicted.
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::grid_path(2, 2)?;
    /// assert_eq!(problem.num_costs(), 4);
    /// assert_eq!(problem.solve(&[1.0, 2.0, 2.0, 4.0])?.objective, 3.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the grid has no arc or is too large.
    pub fn grid_path(rows: usize, cols: usize) -> Result<Self> {
        Self::from_spec(ProblemSpec::GridPath(GridPath::new(rows, cols)?))
    }
}

impl ProblemKind for GridPath {
    fn name(&self) -> String {
        format!("SP{}x{}", self.rows(), self.cols())
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        GridPathSolver::num_arcs(self.rows(), self.cols())
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        let nodes = (self.grid[0] * self.grid[1]) as f64;
        SolveCostHint::estimated(1e-8 * nodes + 3e-7, 1.0)
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        match self.restricted_solver() {
            Some(solver) => solver,
            None => Box::new(GridPathSolver::new(self.rows(), self.cols())),
        }
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let target = self.target();
        let chosen = decision.indices();
        if let Some(present) = &self.present
            && let Some(arc) = chosen.iter().find(|arc| !present[**arc as usize])
        {
            return Err(format!("arc {arc} is closed"));
        }
        // Arcs are numbered row by row, so those of a path increase along it.
        let arcs = chosen
            .iter()
            .map(|arc| flow::ends(self.cols(), *arc as usize));
        let mut node = self.source();
        for (from, to) in arcs {
            if from != node {
                return Err(format!(
                    "the path leaves node {from} but had reached node {node}"
                ));
            }
            node = to;
        }
        if node == target {
            Ok(())
        } else {
            Err(format!("the path ends at node {node}, not at {target}"))
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for GridPath {}
impl FailureReasons for GridPath {}
impl Choices for GridPath {}

impl Sensitivity for GridPath {
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(match self.restricted_solver() {
            Some(solver) => solver,
            None => Box::new(GridPathSolver::new(self.rows(), self.cols())),
        })
    }

    /// Cost ranges of a basis of the flow problem, which HiGHS computes.
    #[cfg(feature = "highs")]
    fn basis_ranging(&self, limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let mut model = flow::model(self.grid, self.source(), self.target());
        let closed = self.present.iter().flat_map(|present| present.iter());
        for (bounds, present) in model.column_bounds.iter_mut().zip(closed) {
            if !present {
                *bounds = [0.0, 0.0];
            }
        }
        let all = (0..self.num_costs()).collect();
        let relaxation = crate::solve::linear::LinearRelaxation::new(&model, &all, *limits);
        Some(Box::new(relaxation.with_present(self.present.clone())))
    }

    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(match self.restricted_solver() {
            Some(solver) => solver,
            None => Box::new(GridCostRanging::new(self.rows(), self.cols())),
        })
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(match self.restricted_solver() {
            Some(solver) => solver,
            None => Box::new(GridPathSolver::new(self.rows(), self.cols())),
        })
    }
}

impl DecisionGeometry for GridPath {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.num_costs());
        for mut balance in flow::balances(self.rows(), self.cols()) {
            if let Some(present) = &self.present {
                balance.retain(|(arc, _)| present[*arc]);
            }
            if !balance.is_empty() {
                cone.add_equation(balance);
            }
        }
        Some(cone.without_absent(self.present.as_deref()))
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        let ends = (0..self.num_costs()).map(|arc| {
            let (tail, head) = flow::ends(self.cols(), arc);
            [tail as u32, head as u32]
        });
        let is_present = |arc: usize| self.present.as_ref().is_none_or(|present| present[arc]);
        EqualityConstraints::flow_balances(self.rows() * self.cols(), ends, is_present)
    }

    /// All paths have equally many arcs.
    fn may_contain_decisions(&self) -> bool {
        false
    }
}
