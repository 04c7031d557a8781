//! Solvers and checks.

use super::Assignment;
use crate::data::CostNames;
use crate::decision::Decision;
use crate::problem::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    ProblemKind, Sense, Sensitivity, SolveCostHint, check_binary,
};
use crate::solve::assignment::AssignmentSolver;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{CostRanging, VertexSolver};
use crate::solve::{SearchLimits, Solver};

impl ProblemKind for Assignment {
    fn name(&self) -> String {
        let name = format!("assignment {}x{}", self.agents(), self.tasks());
        match &self.allowed {
            Some(allowed) => {
                let count = allowed.iter().filter(|allowed| **allowed).count();
                format!("{name} ({count} of {} pairs allowed)", allowed.len())
            }
            None => name,
        }
    }

    fn sense(&self) -> Sense {
        self.pairs.sense
    }

    fn num_costs(&self) -> usize {
        self.agents() * self.tasks()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.allowed.as_deref()
    }

    /// Medians on low-rank costs: 10 µs for 25x25, 290 µs for 100x100, 18 µs for 60x100.
    fn solve_cost_hint(&self) -> SolveCostHint {
        let rows = self.agents().min(self.tasks()) as f64;
        let pairs = self.num_costs() as f64;
        let per_scan = if self.agents() == self.tasks() {
            2.8e-10
        } else {
            4e-11
        };
        SolveCostHint::estimated(per_scan * rows * pairs + 1e-8 * pairs, 1.0)
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.assignment_solver()
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<AssignmentSolver>()
            .is_some_and(|solver| {
                solver.set_allowed(self.agents(), self.tasks(), self.allowed.clone())
            })
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let (agents, tasks) = (&self.pairs.agents, &self.pairs.tasks);
        let mut has_task = vec![false; agents.count];
        let mut has_agent = vec![false; tasks.count];
        for pair in decision.indices() {
            let pair = *pair as usize;
            let (agent, task) = (pair / tasks.count, pair % tasks.count);
            let shown = || format!("agent {} and task {}", agents.name(agent), tasks.name(task));
            if !self.is_allowed(pair) {
                return Err(format!(
                    "{} are assigned, but the pair is forbidden",
                    shown()
                ));
            }
            if std::mem::replace(&mut has_task[agent], true) {
                return Err(format!("agent {} has two tasks", agents.name(agent)));
            }
            if std::mem::replace(&mut has_agent[task], true) {
                return Err(format!("task {} has two agents", tasks.name(task)));
            }
        }
        let (assigned, needed) = (decision.indices().len(), agents.count.min(tasks.count));
        if assigned == needed {
            Ok(())
        } else {
            Err(format!("{assigned} pairs are assigned, {needed} needed"))
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for Assignment {
    fn cost_names(&self) -> Option<&CostNames> {
        self.pairs.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }
}

impl FailureReasons for Assignment {}
impl Choices for Assignment {}

impl Sensitivity for Assignment {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.assignment_solver())
    }

    /// They are at least as wide as those of any basis, so they serve both kinds.
    fn exact_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        Some(self.assignment_solver())
    }
}

impl DecisionGeometry for Assignment {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let (agents, tasks) = (self.agents(), self.tasks());
        let mut cone = NormalCone::binary(decision, self.num_costs());
        let mut assigned = [vec![0.0; agents], vec![0.0; tasks]];
        for (pair, value) in decision.iter() {
            assigned[0][pair / tasks] += value;
            assigned[1][pair % tasks] += value;
        }
        // Each member of the smaller side is assigned, each of the larger side at most once.
        let bounds = |count: usize| [f64::from(u8::from(count == agents.min(tasks))), 1.0];
        let entry = |pair: usize| self.is_allowed(pair).then_some((pair, 1.0));
        for (agent, sum) in assigned[0].iter().enumerate() {
            let entries = (0..tasks).filter_map(|task| entry(agent * tasks + task));
            cone.add_row_if_binding(bounds(agents), *sum, entries);
        }
        for (task, sum) in assigned[1].iter().enumerate() {
            let entries = (0..agents).filter_map(|agent| entry(agent * tasks + task));
            cone.add_row_if_binding(bounds(tasks), *sum, entries);
        }
        Some(cone.without_absent(self.allowed.as_deref()))
    }

    /// Each member of the smaller side is assigned once; of two equal sides, each member of both.
    fn equality_constraints(&self) -> EqualityConstraints {
        let (agents, tasks) = (self.agents(), self.tasks());
        if self.allowed.is_none() {
            return if agents < tasks {
                EqualityConstraints::Groups(vec![tasks; agents])
            } else {
                EqualityConstraints::Matrix {
                    rows: agents,
                    columns: tasks,
                    with_rows: agents == tasks,
                }
            };
        }
        let mut of_agents = vec![Vec::new(); agents];
        let mut of_tasks = vec![Vec::new(); tasks];
        for pair in (0..self.num_costs()).filter(|pair| self.is_allowed(*pair)) {
            of_agents[pair / tasks].push((pair as u32, 1.0));
            of_tasks[pair % tasks].push((pair as u32, 1.0));
        }
        EqualityConstraints::from_rows(match agents.cmp(&tasks) {
            std::cmp::Ordering::Less => of_agents,
            std::cmp::Ordering::Equal => [of_agents, of_tasks].concat(),
            std::cmp::Ordering::Greater => of_tasks,
        })
    }

    /// All assignments have equally many pairs.
    fn may_contain_decisions(&self) -> bool {
        false
    }
}
