//! Transport from sources with a supply to destinations with a demand, along a lane between any
//! two.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::assignment::{MemberField, SideField};
use super::flexible_fields::{self, PresentList};
use super::flow_numbers::{FlowBounds, check_number};
use super::min_cost_flow::MAX_CHECKED_ARCS;
use super::subset::absences;
use super::{ProblemKind, Sense};
use crate::data::{CostNames, check_names};
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::network_flow::{FlowLimits, FlowNetwork, NetworkFlowSolver};

mod family;
mod kind;

pub(super) use family::{CAPACITY_PLACES, FAMILY};

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
    #[serde(default = "flexible_fields::minimize")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
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

/// The names `source-destination` of all costs, if these have names and all are different.
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
            sense: flexible_fields::minimize(),
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

    /// The same lanes with other numbers and, if given, only some of them.
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

    /// Whether each lane is present; `None` if all are.
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

    /// The most of a lane; 0 if it is absent.
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
        match self.capabilities().failure_reasons.infeasibility() {
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
