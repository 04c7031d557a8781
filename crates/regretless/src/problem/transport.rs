//! Transport from sources with a supply to destinations with a demand, along a lane between any
//! two.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::assignment::{MemberField, SideField, members_of_file};
use super::family::{
    ArgumentForm, At, FieldSize, InfinityRule, KindConstructor, KindDefinition, KindField,
    NumberRange, Placeholder, ProblemFamily, RowPlace, TemplateRules,
};
use super::flexible_fields::PresentList;
use super::flow_numbers::{FlowBounds, check_number};
use super::layout::DecisionLayout;
use super::min_cost_flow::{FLOW_CHECK_TOLERANCE, MAX_CHECKED_ARCS, flow_cost_hint};
use super::parametric::{
    Place, RowBuilder, RowKind, RowSetter, Template, number_rows, stated_flags,
};
use super::subset::{absences, present_without};
use super::{ChoiceFixing, EqualityConstraints, ProblemKind, Sense, SolveCostHint, VariableBounds};
use crate::data::{CostNames, check_names};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::network_flow::{
    BasisFlowRanging, DemandCut, ExactFlowRanging, FlowLimits, FlowNetwork, NetworkFlowSolver,
};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

/// Most lanes whose costs have names: more names would take more memory than the costs.
const MAX_NAMED_LANES: usize = 1 << 22;

/// Demand beyond the supply, relative to it, that counts as rounding error.
const BALANCE_TOLERANCE: f64 = 1e-9;

/// What goes from each source to each destination. Sources may keep some of their supply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TransportFields", into = "TransportFields")]
pub struct Transport {
    lanes: Arc<TransportLanes>,
    numbers: Arc<TransportNumbers>,
    present: Option<Arc<[bool]>>,
    sense: Sense,
}

/// Sources, destinations, and the network of their lanes. Behind the lanes, an arc leads from every
/// source to a further node, which takes what is left.
#[derive(Debug, PartialEq)]
struct TransportLanes {
    sources: Option<Vec<String>>,
    destinations: Option<Vec<String>>,
    network: Arc<FlowNetwork>,
    cost_names: Option<CostNames>,
}

/// What sources have, destinations need, and lanes carry.
#[derive(Debug, Clone, PartialEq)]
struct TransportNumbers {
    supply: Vec<f64>,
    demand: Vec<f64>,
    /// The most of each lane; may be infinite.
    capacity: Vec<f64>,
}

/// A serialized transport problem, not validated.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TransportFields {
    supply: Vec<f64>,
    demand: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sources: Option<SideField>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destinations: Option<SideField>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capacity: Option<FlowBounds>,
    #[serde(default = "default_sense")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
}

/// Costs are paid unless the problem file says otherwise.
fn default_sense() -> Sense {
    Sense::Minimize
}

impl TryFrom<TransportFields> for Transport {
    type Error = Error;

    fn try_from(fields: TransportFields) -> Result<Self> {
        let [sources, destinations] = [fields.supply.len(), fields.demand.len()];
        let count = size_limits::checked_product(
            "lanes between a source and a destination",
            &[sources, destinations],
            size_limits::MAX_COSTS,
        )?;
        if count == 0 {
            return Err(Error::setting(format!(
                "{sources} sources and {destinations} destinations have no lane"
            ))
            .with_remedy("it needs one of each or more"));
        }
        let source_names = side_names(fields.sources, sources, "source")?;
        let destination_names = side_names(fields.destinations, destinations, "destination")?;
        let capacity = match fields.capacity {
            Some(bounds) => bounds.into_numbers(count, f64::INFINITY, "capacity", "lane")?,
            None => vec![f64::INFINITY; count],
        };
        let cost_names = cost_names([&source_names, &destination_names], [sources, destinations]);
        let numbers = TransportNumbers {
            supply: fields.supply,
            demand: fields.demand,
            capacity,
        };
        let problem = Self {
            lanes: Arc::new(TransportLanes {
                network: Arc::new(network(sources, destinations)),
                sources: source_names,
                destinations: destination_names,
                cost_names,
            }),
            numbers: Arc::new(numbers.clone()),
            present: None,
            sense: fields.sense,
        };
        problem.with_numbers(numbers, fields.present.map(PresentList::into_flags))
    }
}

impl From<Transport> for TransportFields {
    fn from(problem: Transport) -> Self {
        Self {
            supply: problem.numbers.supply.clone(),
            demand: problem.numbers.demand.clone(),
            sources: side_field(&problem.lanes.sources),
            destinations: side_field(&problem.lanes.destinations),
            capacity: FlowBounds::from_numbers(&problem.numbers.capacity, f64::INFINITY),
            sense: problem.sense,
            present: problem.present.as_deref().map(PresentList::from_flags),
        }
    }
}

/// The names of sources or destinations, of which there are `count`, if they have some.
fn side_names(field: Option<SideField>, count: usize, what: &str) -> Result<Option<Vec<String>>> {
    let (stated, names) = match field {
        None => return Ok(None),
        Some(SideField::Count(stated)) => (stated, None),
        Some(SideField::Names(names)) => {
            let names: Vec<String> = names.into_iter().map(MemberField::into_name).collect();
            check_names(&names, what)?;
            (names.len(), Some(names))
        }
    };
    if stated != count {
        return Err(Error::setting(format!(
            "`{what}s` states {stated} {what}s, but {count} have a number"
        )));
    }
    Ok(names)
}

fn side_field(names: &Option<Vec<String>>) -> Option<SideField> {
    let names = names.as_ref()?.iter().cloned();
    Some(SideField::Names(names.map(MemberField::Name).collect()))
}

/// Lanes from every source to every destination, then an arc from every source to a further node.
fn network(sources: usize, destinations: usize) -> FlowNetwork {
    let (mut tails, mut heads) = (Vec::new(), Vec::new());
    for source in 0..sources {
        tails.extend(std::iter::repeat_n(source as u32, destinations));
        heads.extend((0..destinations).map(|destination| (sources + destination) as u32));
    }
    let kept = (sources + destinations) as u32;
    tails.extend(0..sources as u32);
    heads.extend(std::iter::repeat_n(kept, sources));
    FlowNetwork {
        nodes: sources + destinations + 1,
        tails,
        heads,
        num_costs: sources * destinations,
    }
}

/// The names `source-destination` of all costs, where these have names and all are different.
fn cost_names(names: [&Option<Vec<String>>; 2], counts: [usize; 2]) -> Option<CostNames> {
    let has_names = names.iter().any(|names| names.is_some());
    if !has_names || counts[0] * counts[1] > MAX_NAMED_LANES {
        return None;
    }
    let name = |side: usize, index: usize| match names[side] {
        Some(names) => names[index].clone(),
        None => index.to_string(),
    };
    let mut all = Vec::with_capacity(counts[0] * counts[1]);
    for source in 0..counts[0] {
        let source = name(0, source);
        all.extend((0..counts[1]).map(|destination| format!("{source}-{}", name(1, destination))));
    }
    check_names(&all, "lane").is_ok().then(|| all.into())
}

/// Number of sources and destinations up to which lanes are drawn. Untuned: more are a tangle.
const MAX_NODES_OF_LANES: usize = 40;

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "transport",
    summary: "The cheapest transport from sources with a supply to destinations with a demand.",
    fields: &[
        KindField::required("supply", "array_like or columns", "").rows(&[
            RowPlace::number(0.0).sized(FieldSize::ByFile(|file, _| {
                side_of_file(file, ["sources", "supply"])
            })),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::required(
            "demand",
            "array_like or columns",
            "What each source has, and each destination needs. Sources may keep some of theirs. \
             Costs are those of the lanes, source by source.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::ByFile(|file, _| {
                side_of_file(file, ["destinations", "demand"])
            })),
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
            "Names; costs are then called \"source-destination\". Or their number, where supply or \
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
        raises: "Where the demands cannot be met; the message names destinations that need too \
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

/// Capacities of lanes or arcs, which may be infinite.
pub(super) const CAPACITY_PLACES: &[RowPlace] = &[
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

    fn row_builder(
        &self,
        template: &Template,
        _base: &dyn ProblemKind,
    ) -> Result<Option<Box<dyn RowBuilder>>> {
        Ok(number_rows(self, template))
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
pub(super) struct TransportRow {
    numbers: TransportNumbers,
    present: Vec<bool>,
}

impl RowKind for Transport {
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

impl Transport {
    /// Transport from sources with these supplies to destinations with these demands. `capacity`
    /// has the most of each lane, source by source.
    ///
    /// # Errors
    /// When there is no source or destination, a number is not finite or negative, or the number of
    /// capacities is not that of the lanes.
    pub fn new(supply: Vec<f64>, demand: Vec<f64>, capacity: Option<Vec<f64>>) -> Result<Self> {
        let problem = Self::try_from(TransportFields {
            supply,
            demand,
            sources: None,
            destinations: None,
            capacity: None,
            sense: default_sense(),
            present: None,
        })?;
        match capacity {
            Some(capacity) if capacity.len() == problem.num_costs() => {
                let numbers = TransportNumbers {
                    capacity,
                    ..TransportNumbers::clone(&problem.numbers)
                };
                problem.with_numbers(numbers, None)
            }
            Some(capacity) => Err(Error::setting(format!(
                "`capacity` has {} values for {} lanes",
                capacity.len(),
                problem.num_costs()
            ))),
            None => Ok(problem),
        }
    }

    /// The same lanes with other numbers and, where given, only some of them.
    ///
    /// # Errors
    /// When a number is not finite or negative, or no lane is present.
    fn with_numbers(&self, numbers: TransportNumbers, present: Option<Vec<bool>>) -> Result<Self> {
        let present = absences(present, self.num_costs(), "lane")?;
        for (source, supply) in numbers.supply.iter().enumerate() {
            check_number(*supply, 0.0, false, || {
                format!("the supply of source {}", self.source(source))
            })?;
        }
        for (destination, demand) in numbers.demand.iter().enumerate() {
            check_number(*demand, 0.0, false, || {
                format!(
                    "the demand of destination {}",
                    self.destination(destination)
                )
            })?;
        }
        for (lane, capacity) in numbers.capacity.iter().enumerate() {
            check_number(*capacity, 0.0, true, || {
                format!("the capacity of {}", self.lane(lane))
            })?;
        }
        Ok(Self {
            numbers: Arc::new(numbers),
            present: present.map(Arc::from),
            ..self.clone()
        })
    }

    /// Whether each lane is present; `None` where all are.
    fn present(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn sources(&self) -> usize {
        self.numbers.supply.len()
    }

    fn destinations(&self) -> usize {
        self.numbers.demand.len()
    }

    fn source(&self, index: usize) -> String {
        match &self.lanes.sources {
            Some(names) => names[index].clone(),
            None => index.to_string(),
        }
    }

    fn destination(&self, index: usize) -> String {
        match &self.lanes.destinations {
            Some(names) => names[index].clone(),
            None => index.to_string(),
        }
    }

    /// A lane, for messages.
    fn lane(&self, lane: usize) -> String {
        let [source, destination] = [lane / self.destinations(), lane % self.destinations()];
        format!(
            "the lane from source {} to destination {}",
            self.source(source),
            self.destination(destination)
        )
    }

    fn is_present(&self, lane: usize) -> bool {
        self.present().is_none_or(|present| present[lane])
    }

    /// The most of a lane; 0 where it is absent.
    fn capacity(&self, lane: usize) -> f64 {
        if self.is_present(lane) {
            self.numbers.capacity[lane]
        } else {
            0.0
        }
    }

    fn limits(&self) -> FlowLimits {
        let TransportNumbers { supply, demand, .. } = &*self.numbers;
        let arcs = self.num_costs() + self.sources();
        let mut upper = vec![f64::INFINITY; arcs];
        for (lane, upper) in upper.iter_mut().take(self.num_costs()).enumerate() {
            *upper = self.capacity(lane);
        }
        let kept = supply.iter().sum::<f64>() - demand.iter().sum::<f64>();
        let mut balance = supply.clone();
        balance.extend(demand.iter().map(|demand| -demand));
        // Demand beyond the supply is infeasible, up to rounding.
        let total = supply.iter().sum::<f64>().max(1.0);
        let is_rounding = kept < 0.0 && kept >= -BALANCE_TOLERANCE * total;
        balance.push(if is_rounding { 0.0 } else { -kept });
        FlowLimits {
            supply: balance,
            lower: vec![0.0; arcs],
            upper,
        }
    }

    /// Checks that the demands can be met.
    ///
    /// # Errors
    /// When they cannot: the message names destinations that need too much.
    fn check_feasible(&self) -> Result<()> {
        if self.num_costs() > MAX_CHECKED_ARCS {
            return Ok(());
        }
        match self.infeasibility() {
            Some(reason) => Err(Error::setting(format!(
                "no transport is feasible: {reason}"
            ))),
            None => Ok(()),
        }
    }

    fn flow_solver(&self) -> NetworkFlowSolver {
        NetworkFlowSolver::new(Arc::clone(&self.lanes.network), &self.limits())
    }
}

impl ProblemKind for Transport {
    fn name(&self) -> String {
        let name = format!("transport {}x{}", self.sources(), self.destinations());
        match &self.present {
            Some(present) => {
                let count = present.iter().filter(|present| **present).count();
                format!("{name} ({count} of {} lanes present)", present.len())
            }
            None => name,
        }
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        flow_cost_hint(self.lanes.network.nodes, self.num_costs())
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.lanes.network.num_costs
    }

    fn cost_names(&self) -> Option<&CostNames> {
        self.lanes.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }

    fn bounds(&self) -> VariableBounds {
        let count = self.num_costs();
        VariableBounds::Box {
            lower: vec![0.0; count],
            upper: (0..count).map(|lane| self.capacity(lane)).collect(),
        }
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    /// Without these lanes.
    fn leave_out(&self, costs: &[u32]) -> ChoiceFixing {
        let present = present_without(self.present(), self.num_costs(), costs);
        match self.with_numbers(TransportNumbers::clone(&self.numbers), Some(present)) {
            Ok(problem) => ChoiceFixing::restricted_to(problem),
            // No lane is left.
            Err(_) => ChoiceFixing::Infeasible,
        }
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(self.flow_solver())
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<NetworkFlowSolver>()
            .is_some_and(|solver| solver.set_limits(&self.lanes.network, &self.limits()))
    }

    fn infeasibility(&self) -> Option<String> {
        let supply: f64 = self.numbers.supply.iter().sum();
        let demand: f64 = self.numbers.demand.iter().sum();
        if demand > supply + BALANCE_TOLERANCE * supply.max(1.0) {
            return Some(format!(
                "the destinations need {demand}, more than the {supply} that the sources have"
            ));
        }
        let cut = DemandCut::find(&self.lanes.network, &self.limits())?;
        let sources = self.sources();
        let destinations = sources..sources + self.destinations();
        let names = cut
            .nodes
            .iter()
            .filter(|node| destinations.contains(node))
            .map(|node| self.destination(node - sources));
        Some(format!(
            "too little can reach the destinations {}: {} is missing",
            first_names(names),
            cut.demand - cut.capacity
        ))
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(self.flow_solver()))
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(match kind {
            CostRangeKind::Basis => Box::new(BasisFlowRanging(self.flow_solver())),
            CostRangeKind::Exact => Box::new(ExactFlowRanging(self.flow_solver())),
        })
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(Box::new(self.flow_solver()))
    }

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let count = self.num_costs();
        let mut point = vec![0.0; count];
        decision.write_dense(&mut point);
        let bounds: Vec<[f64; 2]> = (0..count).map(|lane| [0.0, self.capacity(lane)]).collect();
        let mut cone = NormalCone::new(&point, &bounds);
        let (sources, destinations) = (self.sources(), self.destinations());
        let entry = |lane: usize| self.is_present(lane).then_some((lane, 1.0));
        for (source, supply) in self.numbers.supply.iter().enumerate() {
            let lanes = source * destinations..(source + 1) * destinations;
            let sent = point[lanes.clone()].iter().sum();
            let bounds = [f64::NEG_INFINITY, *supply];
            cone.add_row_if_binding(bounds, sent, lanes.filter_map(entry));
        }
        for destination in 0..destinations {
            let lanes = (0..sources).map(|source| source * destinations + destination);
            let entries: Vec<(usize, f64)> = lanes.filter_map(entry).collect();
            if !entries.is_empty() {
                cone.add_equation(entries);
            }
        }
        if let Some(present) = &self.present {
            cone.remove_absent(present);
        }
        Some(cone)
    }

    /// Destinations get what they need. Sources send all they have only where that is needed.
    fn equality_constraints(&self) -> EqualityConstraints {
        let TransportNumbers { supply, demand, .. } = &*self.numbers;
        let (sources, destinations) = (supply.len(), demand.len());
        let (supply, demand): (f64, f64) = (supply.iter().sum(), demand.iter().sum());
        let is_balanced = (supply - demand).abs() <= BALANCE_TOLERANCE * supply.max(1.0);
        if self.present.is_none() {
            return EqualityConstraints::Matrix {
                rows: sources,
                columns: destinations,
                with_rows: is_balanced,
            };
        }
        let mut of_sources = vec![Vec::new(); sources];
        let mut of_destinations = vec![Vec::new(); destinations];
        for lane in (0..self.num_costs()).filter(|lane| self.is_present(*lane)) {
            of_sources[lane / destinations].push((lane as u32, 1.0));
            of_destinations[lane % destinations].push((lane as u32, 1.0));
        }
        if !is_balanced {
            of_sources.clear();
        }
        EqualityConstraints::from_rows([of_destinations, of_sources].concat())
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        let count = self.num_costs();
        let TransportNumbers { supply, demand, .. } = &*self.numbers;
        let numbers = supply.iter().chain(demand);
        let largest = numbers.fold(1.0_f64, |max, number| max.max(*number));
        let tolerance = FLOW_CHECK_TOLERANCE * largest;
        let mut sent = vec![0.0; self.sources()];
        let mut received = vec![0.0; self.destinations()];
        for (lane, value) in decision.iter() {
            if lane >= count {
                return Err(format!("lane {lane} of {count} does not exist"));
            }
            let capacity = self.capacity(lane);
            if !(value >= -tolerance && value <= capacity + tolerance) {
                let lane = self.lane(lane);
                return Err(format!("{lane} carries {value}, not 0 to {capacity}"));
            }
            sent[lane / self.destinations()] += value;
            received[lane % self.destinations()] += value;
        }
        for (source, (sent, supply)) in sent.iter().zip(supply).enumerate() {
            if *sent > supply + tolerance {
                let source = self.source(source);
                return Err(format!("source {source} sends {sent} and has {supply}"));
            }
        }
        for (destination, (received, demand)) in received.iter().zip(demand).enumerate() {
            if (received - demand).abs() > tolerance {
                let destination = self.destination(destination);
                return Err(format!(
                    "destination {destination} gets {received} and needs {demand}"
                ));
            }
        }
        Ok(())
    }
}
