//! Solvers and checks.

use super::{BALANCE_TOLERANCE, Transport, TransportNumbers};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::problem::min_cost_flow::{FLOW_CHECK_TOLERANCE, flow_cost_hint};
use crate::problem::subset::present_without;
use crate::problem::{
    ChoiceFixing, Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons,
    KindCapabilities, ProblemKind, Sense, Sensitivity, SolveCostHint, VariableBounds,
};
use crate::solve::cone::NormalCone;
use crate::solve::network_flow::{DemandCut, ExactFlowRanging, NetworkFlowSolver};
use crate::solve::relaxation::{CostRanging, VertexSolver};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

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

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.lanes.network.num_costs
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        flow_cost_hint(self.lanes.network.nodes, self.num_costs())
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

    fn check(&self, decision: &Decision) -> Result<(), String> {
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

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for Transport {
    fn cost_names(&self) -> Option<&CostNames> {
        self.lanes.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }
}

impl FailureReasons for Transport {
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
}

impl Sensitivity for Transport {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(Box::new(self.flow_solver()))
    }

    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(Box::new(ExactFlowRanging(self.flow_solver())))
    }
}

impl DecisionGeometry for Transport {
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
        Some(cone.without_absent(self.present.as_deref()))
    }

    /// Destinations get what they need. Sources send all they have only if that is needed.
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
}

impl Choices for Transport {
    fn bounds(&self) -> VariableBounds {
        let count = self.num_costs();
        VariableBounds::Box {
            lower: vec![0.0; count],
            upper: (0..count).map(|lane| self.capacity(lane)).collect(),
        }
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
}
