//! Flow of least cost through a network: supplies, demands, capacities.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arc_table::ArcTable;
use super::flexible_fields::{self, PresentList};
use super::flow_numbers::{FlowBounds, check_number};
use super::subset::{absences, present_without};
use super::{
    ChoiceFixing, Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons,
    KindCapabilities, ProblemKind, Sense, Sensitivity, SolveCostHint, VariableBounds,
};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::cone::NormalCone;
use crate::solve::network_flow::{
    DemandCut, ExactFlowRanging, FlowLimits, FlowNetwork, NetworkFlowSolver,
};
use crate::solve::relaxation::{CostRanging, VertexSolver};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

mod family;

pub(super) use family::FAMILY;

/// Largest violation of a constraint, relative to the largest supply or flow (absolute below 1).
pub(super) const FLOW_CHECK_TOLERANCE: f64 = 1e-7;

/// Sum of supplies and demands, relative to their size, that counts as rounding error.
const BALANCE_TOLERANCE: f64 = 1e-9;

/// Most arcs of a network that is checked for a feasible flow when it is built. Untuned: the check
/// takes as long as a solve, and the solve of a larger network reports the same reason.
pub(super) const MAX_CHECKED_ARCS: usize = 1 << 17;

/// A flow from nodes with a supply to nodes with a demand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MinCostFlowFields", into = "MinCostFlowFields")]
pub struct MinCostFlow {
    arcs: Arc<ArcTable>,
    network: Arc<FlowNetwork>,
    /// Lower and upper bounds as stated; absent arcs keep theirs.
    stated: Arc<FlowLimits>,
    present: Option<Arc<[bool]>>,
    /// The same with bounds of 0 for absent arcs.
    limits: Arc<FlowLimits>,
    sense: Sense,
}

/// A serialized flow problem, not validated.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MinCostFlowFields {
    arcs: ArcTable,
    supply: SupplyField,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capacity: Option<FlowBounds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lower: Option<FlowBounds>,
    #[serde(default = "flexible_fields::minimize")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
}

/// Supplies by the names of nodes, or of all nodes in order.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`supply` is a table of nodes and numbers, or a list with a number for each node"
)]
enum SupplyField {
    ByName(BTreeMap<String, f64>),
    InOrder(Vec<f64>),
}

impl SupplyField {
    fn into_numbers(self, arcs: &ArcTable) -> Result<Vec<f64>> {
        let count = arcs.nodes().list().len();
        match self {
            Self::InOrder(supply) if supply.len() == count => Ok(supply),
            Self::InOrder(supply) => Err(Error::setting(format!(
                "`supply` has {} values for {count} nodes",
                supply.len()
            ))
            .with_remedy(format!("the nodes are, in order, {}", arcs.nodes().first()))),
            Self::ByName(by_name) => {
                let mut supply = vec![0.0; count];
                for (name, number) in by_name {
                    let place = arcs.nodes().place(&name).ok_or_else(|| {
                        Error::setting(format!("`supply` names '{name}', which no arc does"))
                            .with_remedy(format!("the first nodes are {}", arcs.nodes().first()))
                    })?;
                    supply[place as usize] = number;
                }
                Ok(supply)
            }
        }
    }
}

impl TryFrom<MinCostFlowFields> for MinCostFlow {
    type Error = Error;

    fn try_from(fields: MinCostFlowFields) -> Result<Self> {
        let count = fields.arcs.len();
        let supply = fields.supply.into_numbers(&fields.arcs)?;
        let numbers = |bounds: Option<FlowBounds>, missing: f64, field: &str| match bounds {
            Some(bounds) => bounds.into_numbers(count, missing, field, "arc"),
            None => Ok(vec![missing; count]),
        };
        let upper = numbers(fields.capacity, f64::INFINITY, "capacity")?;
        let lower = numbers(fields.lower, 0.0, "lower")?;
        let ends = fields.arcs.ends();
        let network = FlowNetwork {
            nodes: supply.len(),
            tails: ends.iter().map(|ends| ends[0]).collect(),
            heads: ends.iter().map(|ends| ends[1]).collect(),
            num_costs: count,
        };
        let stated = Arc::new(FlowLimits {
            supply,
            lower,
            upper,
        });
        let problem = Self {
            arcs: Arc::new(fields.arcs),
            network: Arc::new(network),
            limits: Arc::clone(&stated),
            stated,
            present: None,
            sense: fields.sense,
        };
        let present = fields.present.map(PresentList::into_flags);
        problem.with_limits(FlowLimits::clone(&problem.stated), present)
    }
}

impl From<MinCostFlow> for MinCostFlowFields {
    fn from(problem: MinCostFlow) -> Self {
        let names = problem.arcs.nodes().list().iter();
        let supplies = names.zip(&problem.stated.supply);
        let supply = supplies.filter(|(_, supply)| **supply != 0.0);
        Self {
            supply: SupplyField::ByName(
                supply
                    .map(|(name, supply)| (name.clone(), *supply))
                    .collect(),
            ),
            capacity: FlowBounds::from_numbers(&problem.stated.upper, f64::INFINITY),
            lower: FlowBounds::from_numbers(&problem.stated.lower, 0.0),
            sense: problem.sense,
            present: problem.present.as_deref().map(PresentList::from_flags),
            arcs: ArcTable::clone(&problem.arcs),
        }
    }
}

impl MinCostFlow {
    /// A flow through these arcs, by the names of their two nodes. `supply` is what nodes send,
    /// negative for a demand; `capacity` has the most flow of each arc.
    ///
    /// # Errors
    /// When a node does not exist, a number is not finite or negative, or lists have different
    /// lengths.
    pub fn new<T: AsRef<str>>(
        arcs: impl IntoIterator<Item = [T; 2]>,
        supply: &[(&str, f64)],
        capacity: Option<Vec<f64>>,
    ) -> Result<Self> {
        let arcs = ArcTable::new(arcs, None)?;
        let count = arcs.len();
        let supply = supply
            .iter()
            .map(|(name, number)| ((*name).to_owned(), *number));
        let supply = SupplyField::ByName(supply.collect()).into_numbers(&arcs)?;
        let fields = MinCostFlowFields {
            arcs,
            supply: SupplyField::InOrder(supply),
            capacity: None,
            lower: None,
            sense: flexible_fields::minimize(),
            present: None,
        };
        let problem = Self::try_from(fields)?;
        match capacity {
            Some(upper) if upper.len() == count => {
                let limits = FlowLimits {
                    upper,
                    ..FlowLimits::clone(&problem.stated)
                };
                problem.with_limits(limits, None)
            }
            Some(upper) => Err(Error::setting(format!(
                "`capacity` has {} values for {count} arcs",
                upper.len()
            ))),
            None => Ok(problem),
        }
    }

    /// The same network with other limits and, if given, only some arcs.
    ///
    /// # Errors
    /// When a number is not finite or negative, or no arc is present.
    fn with_limits(&self, stated: FlowLimits, present: Option<Vec<bool>>) -> Result<Self> {
        let present = absences(present, self.arcs.len(), "arc")?;
        for (place, supply) in (0..).zip(&stated.supply) {
            check_number(*supply, f64::NEG_INFINITY, false, || {
                format!("the supply of node {}", self.arcs.node(place))
            })?;
        }
        for arc in 0..self.arcs.len() {
            let [lower, upper] = [stated.lower[arc], stated.upper[arc]];
            check_number(lower, 0.0, false, || {
                format!("the lower bound of {}", self.arcs.describe(arc))
            })?;
            check_number(upper, lower, true, || {
                format!("the capacity of {}", self.arcs.describe(arc))
            })?;
        }
        let stated = Arc::new(stated);
        let mut limits = Arc::clone(&stated);
        if let Some(present) = &present {
            let limits = Arc::make_mut(&mut limits);
            for (arc, _) in present.iter().enumerate().filter(|(_, present)| !**present) {
                limits.lower[arc] = 0.0;
                limits.upper[arc] = 0.0;
            }
        }
        Ok(Self {
            stated,
            limits,
            present: present.map(Arc::from),
            ..self.clone()
        })
    }

    /// Whether each arc is present; `None` if all are.
    fn present(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    /// Checks that a flow exists.
    ///
    /// # Errors
    /// When supplies and demands are not balanced, or nodes need more than can reach them.
    fn check_feasible(&self) -> Result<()> {
        if self.arcs.len() > MAX_CHECKED_ARCS {
            return Ok(());
        }
        match self.infeasibility() {
            Some(reason) => Err(Error::setting(format!("no flow is feasible: {reason}"))),
            None => Ok(()),
        }
    }

    fn flow_solver(&self) -> NetworkFlowSolver {
        NetworkFlowSolver::new(Arc::clone(&self.network), &self.limits)
    }
}

/// Medians: 0.4 ms for 10,000 arcs between 200 nodes, 3.5 ms for 10,000 arcs between 2,000 nodes.
pub(super) fn flow_cost_hint(nodes: usize, arcs: usize) -> SolveCostHint {
    let (nodes, arcs) = (nodes as f64, arcs as f64);
    // Pivots grow with the nodes; each searches a block and moves a subtree.
    SolveCostHint::estimated(nodes * (1e-8 * arcs.sqrt() + 7e-7) + 1e-8 * arcs, 1.0)
}

impl ProblemKind for MinCostFlow {
    fn name(&self) -> String {
        let (nodes, arcs) = (self.network.nodes, self.arcs.len());
        let name = format!("flow through {nodes} nodes and {arcs} arcs");
        match &self.present {
            Some(present) => {
                let count = present.iter().filter(|present| **present).count();
                format!("{name} ({count} of {arcs} arcs present)")
            }
            None => name,
        }
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.arcs.len()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        flow_cost_hint(self.network.nodes, self.arcs.len())
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(self.flow_solver())
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<NetworkFlowSolver>()
            .is_some_and(|solver| solver.set_limits(&self.network, &self.limits))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        let mut flow = vec![0.0; self.num_costs()];
        for (arc, value) in decision.iter() {
            match flow.get_mut(arc) {
                Some(flow) => *flow = value,
                None => return Err(format!("arc {arc} of {} does not exist", flow.len())),
            }
        }
        let supplies = self.limits.supply.iter();
        let largest = supplies
            .chain(&flow)
            .fold(1.0_f64, |max, number| max.max(number.abs()));
        let tolerance = FLOW_CHECK_TOLERANCE * largest;
        let mut left = self.limits.supply.clone();
        for (arc, flow) in flow.iter().enumerate() {
            let [lower, upper] = [self.limits.lower[arc], self.limits.upper[arc]];
            if !(*flow >= lower - tolerance && *flow <= upper + tolerance) {
                let arc = self.arcs.describe(arc);
                return Err(format!("{arc} carries {flow}, not {lower} to {upper}"));
            }
            let [tail, head] = self.arcs.ends()[arc];
            left[tail as usize] -= flow;
            left[head as usize] += flow;
        }
        match (0..).zip(&left).find(|(_, left)| left.abs() > tolerance) {
            Some((place, left)) => Err(format!(
                "node {} keeps {left} of what it gets and has",
                self.arcs.node(place)
            )),
            None => Ok(()),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for MinCostFlow {
    fn cost_names(&self) -> Option<&CostNames> {
        self.arcs.cost_names()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }
}

impl FailureReasons for MinCostFlow {
    fn infeasibility(&self) -> Option<String> {
        let supply = &self.limits.supply;
        let total: f64 = supply.iter().map(|supply| supply.abs()).sum();
        let balance: f64 = supply.iter().sum();
        if balance.abs() > BALANCE_TOLERANCE * total.max(1.0) {
            let demand: f64 = supply.iter().filter(|supply| **supply < 0.0).sum();
            return Some(format!(
                "supplies sum to {} and demands to {}; they have to be equal",
                balance - demand,
                -demand
            ));
        }
        let cut = DemandCut::find(&self.network, &self.limits)?;
        // With lower bounds, nodes without a demand may have to send more than they get.
        let has_demand = |node: &usize| supply[*node] < 0.0;
        let is_shown = |node: &usize| has_demand(node) || !cut.nodes.iter().any(has_demand);
        let nodes = cut.nodes.iter().copied().filter(is_shown);
        let names: Vec<&str> = nodes.map(|node| self.arcs.node(node as u32)).collect();
        let (demand, capacity) = (cut.demand, cut.capacity);
        Some(match names.as_slice() {
            [name] => format!("node {name} needs {demand}, but only {capacity} can reach it"),
            _ => format!(
                "the nodes {} need {demand} together, but only {capacity} can reach them",
                first_names(names)
            ),
        })
    }
}

impl Sensitivity for MinCostFlow {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(Box::new(self.flow_solver()))
    }

    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(Box::new(ExactFlowRanging(self.flow_solver())))
    }
}

impl DecisionGeometry for MinCostFlow {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut point = vec![0.0; self.num_costs()];
        decision.write_dense(&mut point);
        let bounds = self.limits.lower.iter().zip(&self.limits.upper);
        let bounds: Vec<[f64; 2]> = bounds.map(|(lower, upper)| [*lower, *upper]).collect();
        let mut cone = NormalCone::new(&point, &bounds);
        let mut balances = vec![Vec::new(); self.network.nodes];
        for (arc, [tail, head]) in self.arcs.ends().iter().enumerate() {
            if self.present().is_none_or(|present| present[arc]) {
                balances[*tail as usize].push((arc, 1.0));
                balances[*head as usize].push((arc, -1.0));
            }
        }
        for balance in balances.into_iter().filter(|balance| !balance.is_empty()) {
            cone.add_equation(balance);
        }
        Some(cone.without_absent(self.present.as_deref()))
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        let is_present = |arc: usize| self.present().is_none_or(|present| present[arc]);
        let ends = self.arcs.ends().iter().copied();
        EqualityConstraints::flow_balances(self.network.nodes, ends, is_present)
    }
}

impl Choices for MinCostFlow {
    fn bounds(&self) -> VariableBounds {
        VariableBounds::Box {
            lower: self.limits.lower.clone(),
            upper: self.limits.upper.clone(),
        }
    }

    /// Without these arcs.
    fn leave_out(&self, costs: &[u32]) -> ChoiceFixing {
        let present = present_without(self.present(), self.arcs.len(), costs);
        match self.with_limits(FlowLimits::clone(&self.stated), Some(present)) {
            Ok(problem) => ChoiceFixing::restricted_to(problem),
            // No arc is left.
            Err(_) => ChoiceFixing::Infeasible,
        }
    }
}
