//! Row problems from their parts, without reading the problem file again for every row.
//!
//! On a knapsack of 32 items a row problem from the template takes longer than its solve; the graph
//! of a road network would be read again for every row.

use std::sync::Arc;

use serde_json::Value;

use super::template::{PathStep, Step, Template};
#[cfg(feature = "highs")]
use crate::error::Error;
use crate::error::Result;
use crate::problem::assignment::Assignment;
use crate::problem::graph_path::{GraphPath, GraphRow};
#[cfg(feature = "highs")]
use crate::problem::linear::{LinearChange, LinearSlot, LinearSlots};
use crate::problem::min_cost_flow::MinCostFlow;
use crate::problem::multiple_choice_knapsack::MultipleChoiceKnapsack;
use crate::problem::spanning_tree::SpanningTree;
use crate::problem::storage::StorageProblem;
use crate::problem::transport::Transport;
use crate::problem::{Knapsack, ProblemKind, ProblemSpec};
#[cfg(feature = "highs")]
use crate::problem::{LinearFile, LinearProblem};

/// How the problem of a row is built.
#[derive(Debug)]
pub(super) enum FastPath {
    /// A knapsack in which only capacities differ: the dimension of each value.
    Capacities {
        knapsack: Knapsack,
        dimensions: Vec<usize>,
    },
    /// An assignment: the pair of each value.
    Pairs {
        assignment: Assignment,
        pairs: Vec<usize>,
    },
    /// A multiple-choice knapsack: the number that each value replaces.
    Offers {
        knapsack: MultipleChoiceKnapsack,
        slots: Vec<OfferSlot>,
    },
    /// A flow: the number that each value replaces.
    Flow {
        flow: MinCostFlow,
        slots: Vec<FlowSlot>,
    },
    /// A transport: the number that each value replaces.
    Transport {
        transport: Transport,
        slots: Vec<TransportSlot>,
    },
    /// Paths in a graph: what each value is.
    GraphPath {
        base: GraphPath,
        /// The numbers that are the same in all rows, where the others stand beside them.
        fixed: GraphRow,
        slots: Vec<GraphSlot>,
    },
    /// A spanning tree: the edge that each value is about.
    SpanningTree {
        base: SpanningTree,
        edges: Vec<usize>,
    },
    /// A storage: what each value is.
    Storage {
        base: StorageProblem,
        /// Whether the level at the end is that at the beginning.
        final_is_initial: bool,
        slots: Vec<StorageSlot>,
    },
    /// A linear problem: the number that each value replaces.
    #[cfg(feature = "highs")]
    Linear {
        base: LinearProblem,
        slots: Vec<LinearSlot>,
    },
}

/// A number of a multiple-choice knapsack.
#[derive(Debug, Clone, Copy)]
pub(super) enum OfferSlot {
    Capacity,
    /// The weight of an offer.
    Weight(usize),
    /// Whether an offer is present.
    Present(usize),
}

/// A number of a flow problem.
#[derive(Debug, Clone, Copy)]
pub(super) enum FlowSlot {
    /// What a node sends.
    Supply(usize),
    /// Bounds of an arc.
    Capacity(usize),
    Lower(usize),
    /// Whether an arc is present.
    Present(usize),
}

/// A number of a transport problem.
#[derive(Debug, Clone, Copy)]
pub(super) enum TransportSlot {
    /// What a source has, and a destination needs.
    Supply(usize),
    Demand(usize),
    /// The most of a lane.
    Capacity(usize),
    /// Whether a lane is present.
    Present(usize),
}

/// What a value of a row is in a problem of paths.
#[derive(Debug, Clone, Copy)]
pub(super) enum GraphSlot {
    /// A number of the source: the node, its row or its column.
    Source(usize),
    Target(usize),
    /// Whether the arc, or the node of a grid, with this number is open.
    Present(usize),
}

/// What a value of a row is in a storage problem.
#[derive(Debug, Clone, Copy)]
pub(super) enum StorageSlot {
    Capacity,
    Initial,
    FinalMin,
    MinLevel,
    ChargeEfficiency,
    DischargeEfficiency,
    /// A limit or inflow: of one step, or of all.
    ChargeLimit(Option<usize>),
    DischargeLimit(Option<usize>),
    Inflow(Option<usize>),
}

impl FastPath {
    /// The fast path of a template, if there is one; `base` is the problem with placeholders.
    ///
    /// # Errors
    /// When a linear problem, which has no other path, does not have the named rows and columns, or
    /// a number is set twice.
    #[cfg_attr(
        not(feature = "highs"),
        expect(unused_variables, reason = "linear problems need HiGHS")
    )]
    pub(super) fn new(
        template: &Template,
        spec: &ProblemSpec,
        base: &Arc<dyn ProblemKind>,
    ) -> Result<Option<Self>> {
        match spec {
            ProblemSpec::Knapsack(knapsack) => Ok(Self::capacities(template, knapsack)),
            ProblemSpec::Assignment(assignment) => Ok(Self::pairs(template, assignment)),
            ProblemSpec::MultipleChoiceKnapsack(knapsack) => Ok(Self::offers(template, knapsack)),
            ProblemSpec::MinCostFlow(flow) => Ok(Self::flow(template, flow)),
            ProblemSpec::Transport(transport) => Ok(Self::transport(template, transport)),
            ProblemSpec::GraphPath(graph) => Ok(Some(Self::graph_path(template, graph))),
            ProblemSpec::SpanningTree(tree) => Ok(Some(Self::spanning_tree(template, tree))),
            ProblemSpec::Storage(storage) => Ok(Some(Self::storage(template, storage))),
            #[cfg(feature = "highs")]
            ProblemSpec::Linear(file) => Self::linear(template, file, base.as_ref())
                .map(Some)
                .map_err(Error::setting),
            _ => Ok(None),
        }
    }

    /// The file of a linear problem is read once: a model holds its content, and the file may be
    /// gone when rows are decided.
    #[cfg(feature = "highs")]
    fn linear(
        template: &Template,
        file: &LinearFile,
        base: &dyn ProblemKind,
    ) -> std::result::Result<Self, String> {
        let base: &dyn std::any::Any = base;
        let Some(base) = base.downcast_ref::<LinearProblem>() else {
            return Err("the problem is not linear".into());
        };
        let names = LinearSlots::new(base);
        let mut slots = Vec::new();
        for place in template.places() {
            let mut path = Vec::new();
            for step in &place.path {
                match step {
                    PathStep::Key(key) => path.push(key.as_str()),
                    PathStep::Index(_) => {
                        return Err("a linear problem has names, not lists".into());
                    }
                }
            }
            match path.as_slice() {
                ["present"] => slots.extend((0..base.num_costs()).map(LinearSlot::Present)),
                path => slots.push(names.slot(path)?),
            }
        }
        let mut all = slots.clone();
        for (path, _) in file.changes() {
            all.push(names.slot(&path)?);
        }
        names.check_distinct(&all)?;
        let changes_columns = |slot: &LinearSlot| {
            matches!(
                slot,
                LinearSlot::Lower(_)
                    | LinearSlot::Upper(_)
                    | LinearSlot::Fixed(_)
                    | LinearSlot::Present(_)
            )
        };
        // Bounds of a row would replace those of a column that is absent in all rows.
        if !file.present.is_empty() && slots.iter().any(changes_columns) {
            return Err(
                "some columns are absent in all rows, and columns of the table change \
                bounds; take `present` from columns of the table too"
                    .into(),
            );
        }
        let base = base.clone();
        Ok(Self::Linear { base, slots })
    }

    fn graph_path(template: &Template, graph: &GraphPath) -> Self {
        let mut slots = Vec::new();
        let mut fixed = GraphRow::default();
        for place in template.places() {
            let (key, first) = match place.path.as_slice() {
                [PathStep::Key(key), PathStep::Index(index)] => (key.as_str(), *index),
                [PathStep::Key(key), ..] => (key.as_str(), 0),
                _ => continue,
            };
            // The numbers of a list that do not come from columns.
            let listed = template.spec().get(key).and_then(Value::as_array);
            let numbers = || match listed {
                Some(list) => list
                    .iter()
                    .map(|value| value.as_f64().unwrap_or(0.0))
                    .collect(),
                None => vec![0.0; place.columns.count],
            };
            match key {
                "source" => fixed.source = numbers(),
                "target" => fixed.target = numbers(),
                _ => fixed.present = Some(graph.open_flags()),
            }
            let indices = first..first + place.columns.count;
            slots.extend(indices.map(|index| match key {
                "source" => GraphSlot::Source(index),
                "target" => GraphSlot::Target(index),
                _ => GraphSlot::Present(index),
            }));
        }
        Self::GraphPath {
            base: graph.clone(),
            fixed,
            slots,
        }
    }

    fn spanning_tree(template: &Template, tree: &SpanningTree) -> Self {
        let mut edges = Vec::new();
        for place in template.places() {
            let first = match place.path.as_slice() {
                [_, PathStep::Index(edge)] => *edge,
                _ => 0,
            };
            edges.extend(first..first + place.columns.count);
        }
        let base = tree.clone();
        Self::SpanningTree { base, edges }
    }

    fn storage(template: &Template, storage: &StorageProblem) -> Self {
        let mut slots = Vec::new();
        for place in template.places() {
            let [PathStep::Key(key), rest @ ..] = place.path.as_slice() else {
                continue;
            };
            let count = place.columns.count;
            let steps: Vec<Option<usize>> = match rest {
                [PathStep::Index(step)] => vec![Some(*step)],
                _ if count > 1 => (0..count).map(Some).collect(),
                _ => vec![None],
            };
            slots.extend(steps.into_iter().filter_map(|step| match key.as_str() {
                "capacity" => Some(StorageSlot::Capacity),
                "initial" => Some(StorageSlot::Initial),
                "final_min" => Some(StorageSlot::FinalMin),
                "min_level" => Some(StorageSlot::MinLevel),
                "charge_efficiency" => Some(StorageSlot::ChargeEfficiency),
                "discharge_efficiency" => Some(StorageSlot::DischargeEfficiency),
                "charge_limit" => Some(StorageSlot::ChargeLimit(step)),
                "discharge_limit" => Some(StorageSlot::DischargeLimit(step)),
                "inflow" => Some(StorageSlot::Inflow(step)),
                _ => None,
            }));
        }
        Self::Storage {
            base: storage.clone(),
            final_is_initial: template.spec().get("final_min").is_none(),
            slots,
        }
    }

    fn capacities(template: &Template, knapsack: &Knapsack) -> Option<Self> {
        let dimensions = list_positions(template, "capacity")?;
        let knapsack = knapsack.clone();
        Some(Self::Capacities {
            knapsack,
            dimensions,
        })
    }

    fn offers(template: &Template, knapsack: &MultipleChoiceKnapsack) -> Option<Self> {
        let mut slots = Vec::new();
        for place in template.places() {
            let all = 0..place.columns.count;
            let path: Vec<Step<'_>> = place.path.iter().map(PathStep::as_step).collect();
            match path.as_slice() {
                [Step::Key("capacity")] => slots.push(OfferSlot::Capacity),
                [Step::Key("weights")] => slots.extend(all.map(OfferSlot::Weight)),
                [Step::Key("weights"), Step::Index(offer)] => {
                    slots.push(OfferSlot::Weight(*offer));
                }
                [
                    Step::Key("weights"),
                    Step::Index(group),
                    Step::Index(position),
                ] => {
                    let first = knapsack.choice().groups.offers(*group).start;
                    slots.push(OfferSlot::Weight(first + position));
                }
                [Step::Key("present")] => slots.extend(all.map(OfferSlot::Present)),
                [Step::Key("present"), Step::Index(offer)] => {
                    slots.push(OfferSlot::Present(*offer));
                }
                _ => return None,
            }
        }
        let knapsack = knapsack.clone();
        Some(Self::Offers { knapsack, slots })
    }

    fn flow(template: &Template, flow: &MinCostFlow) -> Option<Self> {
        let mut slots = Vec::new();
        for place in template.places() {
            let slot = |key: &str| -> Option<fn(usize) -> FlowSlot> {
                match key {
                    "supply" => Some(FlowSlot::Supply),
                    "capacity" => Some(FlowSlot::Capacity),
                    "lower" => Some(FlowSlot::Lower),
                    "present" => Some(FlowSlot::Present),
                    _ => None,
                }
            };
            let path: Vec<Step<'_>> = place.path.iter().map(PathStep::as_step).collect();
            match path.as_slice() {
                [Step::Key(key)] => slots.extend((0..place.columns.count).map(slot(key)?)),
                [Step::Key(key), Step::Index(index)] => slots.push(slot(key)?(*index)),
                [Step::Key("supply"), Step::Key(node)] => {
                    let place = flow.arcs().nodes().place(node)?;
                    slots.push(FlowSlot::Supply(place as usize));
                }
                _ => return None,
            }
        }
        let flow = flow.clone();
        Some(Self::Flow { flow, slots })
    }

    fn transport(template: &Template, transport: &Transport) -> Option<Self> {
        let mut slots = Vec::new();
        for place in template.places() {
            let slot = |key: &str| -> Option<fn(usize) -> TransportSlot> {
                match key {
                    "supply" => Some(TransportSlot::Supply),
                    "demand" => Some(TransportSlot::Demand),
                    "capacity" => Some(TransportSlot::Capacity),
                    "present" => Some(TransportSlot::Present),
                    _ => None,
                }
            };
            let path: Vec<Step<'_>> = place.path.iter().map(PathStep::as_step).collect();
            match path.as_slice() {
                [Step::Key(key)] => slots.extend((0..place.columns.count).map(slot(key)?)),
                [Step::Key(key), Step::Index(index)] => slots.push(slot(key)?(*index)),
                _ => return None,
            }
        }
        let transport = transport.clone();
        Some(Self::Transport { transport, slots })
    }

    fn pairs(template: &Template, assignment: &Assignment) -> Option<Self> {
        Some(Self::Pairs {
            assignment: assignment.clone(),
            pairs: list_positions(template, "present")?,
        })
    }

    /// The problem of a row with these values.
    pub(super) fn row_problem(
        &self,
        values: &[f64],
    ) -> std::result::Result<Arc<dyn ProblemKind>, String> {
        match self {
            Self::Capacities {
                knapsack,
                dimensions,
            } => {
                let mut capacity = knapsack.capacity().to_vec();
                for (dimension, value) in dimensions.iter().zip(values) {
                    capacity[*dimension] = *value;
                }
                let row = knapsack.with_capacity(capacity);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::Pairs { assignment, pairs } => {
                let mut present = stated_flags(assignment.present(), assignment.num_costs());
                for (pair, value) in pairs.iter().zip(values) {
                    present[*pair] = *value == 1.0;
                }
                let row = assignment.with_present(present);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::Offers { knapsack, slots } => {
                let row = offers_of_row(knapsack, slots, values);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::Flow { flow, slots } => {
                let row = flow_of_row(flow, slots, values);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::Transport { transport, slots } => {
                let row = transport_of_row(transport, slots, values);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::GraphPath { base, fixed, slots } => {
                let mut row = fixed.clone();
                for (slot, value) in slots.iter().zip(values) {
                    match *slot {
                        GraphSlot::Source(index) => row.source[index] = *value,
                        GraphSlot::Target(index) => row.target[index] = *value,
                        GraphSlot::Present(item) => {
                            if let Some(present) = &mut row.present {
                                present[item] = *value != 0.0;
                            }
                        }
                    }
                }
                Ok(Arc::new(base.of_row(&row)?))
            }
            Self::SpanningTree { base, edges } => {
                let mut present = vec![true; base.num_costs()];
                for (edge, value) in edges.iter().zip(values) {
                    present[*edge] = *value != 0.0;
                }
                let row = base.with_present(present);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            Self::Storage {
                base,
                final_is_initial,
                slots,
            } => {
                let mut numbers = base.numbers().clone();
                let set = |list: &mut [f64], step: Option<usize>, value: f64| match step {
                    Some(step) => list[step] = value,
                    None => list.fill(value),
                };
                for (slot, value) in slots.iter().zip(values) {
                    match *slot {
                        StorageSlot::Capacity => numbers.capacity = *value,
                        StorageSlot::Initial => numbers.initial = *value,
                        StorageSlot::FinalMin => numbers.final_min = *value,
                        StorageSlot::MinLevel => numbers.min_level = *value,
                        StorageSlot::ChargeEfficiency => numbers.charge_efficiency = *value,
                        StorageSlot::DischargeEfficiency => numbers.discharge_efficiency = *value,
                        StorageSlot::ChargeLimit(step) => {
                            set(&mut numbers.charge_limit, step, *value);
                        }
                        StorageSlot::DischargeLimit(step) => {
                            set(&mut numbers.discharge_limit, step, *value);
                        }
                        StorageSlot::Inflow(step) => set(&mut numbers.inflow, step, *value),
                    }
                }
                if *final_is_initial {
                    numbers.final_min = numbers.initial;
                }
                let row = StorageProblem::new(numbers);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            #[cfg(feature = "highs")]
            Self::Linear { base, slots } => {
                let slots = slots.iter().zip(values);
                let changes: Vec<LinearChange> = slots
                    .map(|(slot, value)| LinearChange {
                        slot: *slot,
                        value: *value,
                    })
                    .collect();
                Ok(Arc::new(base.with_changes(&changes)?))
            }
        }
    }
}

/// The place in a list of each value of a row, if all values stand in that list: `key` refers to
/// columns as a whole, or some of its entries do.
fn list_positions(template: &Template, key: &str) -> Option<Vec<usize>> {
    let mut positions = Vec::new();
    for place in template.places() {
        match place.path.as_slice() {
            [PathStep::Key(found)] if found == key => positions.extend(0..place.columns.count),
            [PathStep::Key(found), PathStep::Index(index)] if found == key => {
                positions.push(*index);
            }
            _ => return None,
        }
    }
    Some(positions)
}

/// A multiple-choice knapsack with the numbers of a row.
fn offers_of_row(
    knapsack: &MultipleChoiceKnapsack,
    slots: &[OfferSlot],
    values: &[f64],
) -> Result<MultipleChoiceKnapsack> {
    let choice = knapsack.choice();
    let (mut capacity, mut weights, mut present) = (None, None, None);
    for (slot, value) in slots.iter().zip(values) {
        match slot {
            OfferSlot::Capacity => capacity = Some(*value),
            OfferSlot::Weight(offer) => {
                let weights = weights.get_or_insert_with(|| choice.groups.weights().to_vec());
                weights[*offer] = *value;
            }
            OfferSlot::Present(offer) => {
                let present = present.get_or_insert_with(|| match &choice.present {
                    Some(present) => present.to_vec(),
                    None => vec![true; choice.groups.num_offers()],
                });
                present[*offer] = *value == 1.0;
            }
        }
    }
    knapsack.with_numbers(weights, present, capacity)
}

/// Flags of all items; those that the problem states, or else ones.
fn stated_flags(present: Option<&[bool]>, count: usize) -> Vec<bool> {
    present.map_or_else(|| vec![true; count], <[bool]>::to_vec)
}

/// A flow problem with the numbers of a row.
fn flow_of_row(flow: &MinCostFlow, slots: &[FlowSlot], values: &[f64]) -> Result<MinCostFlow> {
    let mut limits = flow.stated_limits().clone();
    let mut present = stated_flags(flow.present(), flow.num_costs());
    for (slot, value) in slots.iter().zip(values) {
        match slot {
            FlowSlot::Supply(node) => limits.supply[*node] = *value,
            FlowSlot::Capacity(arc) => limits.upper[*arc] = *value,
            FlowSlot::Lower(arc) => limits.lower[*arc] = *value,
            FlowSlot::Present(arc) => present[*arc] = *value == 1.0,
        }
    }
    flow.with_limits(limits, Some(present))
}

/// A transport problem with the numbers of a row.
fn transport_of_row(
    transport: &Transport,
    slots: &[TransportSlot],
    values: &[f64],
) -> Result<Transport> {
    let mut numbers = transport.numbers().clone();
    let mut present = stated_flags(transport.present(), transport.num_costs());
    for (slot, value) in slots.iter().zip(values) {
        match slot {
            TransportSlot::Supply(source) => numbers.supply[*source] = *value,
            TransportSlot::Demand(destination) => numbers.demand[*destination] = *value,
            TransportSlot::Capacity(lane) => numbers.capacity[*lane] = *value,
            TransportSlot::Present(lane) => present[*lane] = *value == 1.0,
        }
    }
    transport.with_numbers(numbers, Some(present))
}
