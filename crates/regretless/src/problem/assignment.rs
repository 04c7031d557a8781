//! Assignment of agents to tasks, of which some pairs may be forbidden.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::family::{
    ArgumentForm, KindConstructor, KindDefinition, KindField, ProblemFamily, TemplateRules,
};
use super::flexible_fields::PresentList;
use super::parametric::{
    Place, RowBuilder, RowKind, RowSetter, Template, number_rows, stated_flags,
};
use super::subset::absences;
use super::{EqualityConstraints, ProblemKind, Sense, SolveCostHint, check_binary};
use crate::data::{CostNames, check_names};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::assignment::{AssignmentSolver, HallViolator, find_hall_violator};
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

/// Most pairs whose costs have names: more names would take more memory than the costs.
const MAX_NAMED_PAIRS: usize = 1 << 22;

/// Every member of the smaller side gets exactly one of the larger side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AssignmentFields", into = "AssignmentFields")]
pub struct Assignment {
    pairs: Arc<AssignmentPairs>,
    /// Which pairs are present, as the problem file says.
    present: Option<Arc<[bool]>>,
    /// Which pairs are present and not forbidden; `None` where all are.
    allowed: Option<Arc<[bool]>>,
}

/// What assignments of one problem file share, whichever pairs are present.
#[derive(Debug, PartialEq)]
struct AssignmentPairs {
    agents: AssignmentSide,
    tasks: AssignmentSide,
    sense: Sense,
    forbidden: Vec<[usize; 2]>,
    /// Which pairs are not forbidden; `None` where all are.
    allowed: Option<Arc<[bool]>>,
    cost_names: Option<CostNames>,
}

/// The agents or the tasks.
#[derive(Debug, PartialEq)]
struct AssignmentSide {
    count: usize,
    /// Their names, if the problem file lists them.
    names: Option<Vec<String>>,
}

/// A serialized assignment, not validated.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssignmentFields {
    agents: SideField,
    tasks: SideField,
    #[serde(default = "default_sense")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<[MemberField; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
}

/// Costs are paid unless the problem file says otherwise.
fn default_sense() -> Sense {
    Sense::Minimize
}

/// Agents or tasks: how many there are, or their names.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "agents and tasks are a number, or a list of names"
)]
pub(super) enum SideField {
    Count(usize),
    Names(Vec<MemberField>),
}

/// An agent or a task: its number, counted from 0, or its name.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "an agent or a task is a number or a name")]
pub(super) enum MemberField {
    Number(u64),
    Name(String),
}

impl MemberField {
    pub(super) fn into_name(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Name(name) => name,
        }
    }
}

impl AssignmentSide {
    fn new(field: SideField, what: &str) -> Result<Self> {
        let names = match field {
            SideField::Count(count) => {
                return Ok(Self { count, names: None });
            }
            SideField::Names(names) => names,
        };
        let names: Vec<String> = names.into_iter().map(MemberField::into_name).collect();
        check_names(&names, what)?;
        Ok(Self {
            count: names.len(),
            names: Some(names),
        })
    }

    fn name(&self, index: usize) -> String {
        match &self.names {
            Some(names) => names[index].clone(),
            None => index.to_string(),
        }
    }

    /// The index of an agent or a task; `what` is which of the two.
    fn index(&self, member: MemberField, what: &str) -> Result<usize> {
        let found = match (&self.names, &member) {
            (None, MemberField::Number(number)) => usize::try_from(*number)
                .ok()
                .filter(|index| *index < self.count),
            (None, MemberField::Name(_)) => None,
            (Some(names), _) => {
                let name = member.clone().into_name();
                names.iter().position(|known| *known == name)
            }
        };
        found.ok_or_else(|| {
            let last = self.count.saturating_sub(1);
            let remedy = match self.names {
                Some(_) => format!("use a name of the list `{what}s`"),
                None => format!("{what}s are numbered from 0 to {last}"),
            };
            let name = member.into_name();
            Error::setting(format!(
                "`forbidden` names the {what} {name}, which does not exist"
            ))
            .with_remedy(remedy)
        })
    }

    fn field(&self) -> SideField {
        match &self.names {
            Some(names) => SideField::Names(names.iter().cloned().map(MemberField::Name).collect()),
            None => SideField::Count(self.count),
        }
    }

    fn member_field(&self, index: usize) -> MemberField {
        match &self.names {
            Some(names) => MemberField::Name(names[index].clone()),
            None => MemberField::Number(index as u64),
        }
    }

    /// Some members for a message: "agents Ann, Ben".
    fn list(&self, what: &str, members: &[usize]) -> String {
        let names = members.iter().map(|index| self.name(*index));
        let plural = if members.len() == 1 { "" } else { "s" };
        format!("{what}{plural} {}", first_names(names))
    }
}

impl TryFrom<AssignmentFields> for Assignment {
    type Error = Error;

    fn try_from(fields: AssignmentFields) -> Result<Self> {
        let agents = AssignmentSide::new(fields.agents, "agent")?;
        let tasks = AssignmentSide::new(fields.tasks, "task")?;
        let mut forbidden = Vec::with_capacity(fields.forbidden.len());
        for [agent, task] in fields.forbidden {
            forbidden.push([agents.index(agent, "agent")?, tasks.index(task, "task")?]);
        }
        let problem = Self::from_sides(agents, tasks, forbidden, fields.sense)?;
        match fields.present {
            Some(present) => problem.with_present(present.into_flags()),
            None => Ok(problem),
        }
    }
}

impl From<Assignment> for AssignmentFields {
    fn from(problem: Assignment) -> Self {
        let pairs = &problem.pairs;
        let forbidden = pairs.forbidden.iter().map(|[agent, task]| {
            [
                pairs.agents.member_field(*agent),
                pairs.tasks.member_field(*task),
            ]
        });
        Self {
            agents: pairs.agents.field(),
            tasks: pairs.tasks.field(),
            sense: pairs.sense,
            forbidden: forbidden.collect(),
            present: problem.present.as_deref().map(PresentList::from_flags),
        }
    }
}

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "assignment",
    summary: "Every member of the smaller side gets exactly one of the larger side.",
    fields: &[
        KindField::required("agents", "int or sequence of str", "")
            .annotated("int | Sequence[str]"),
        KindField::required(
            "tasks",
            "int or sequence of str",
            "How many there are, or their names. Costs are those of the pairs, agent by agent; \
             with names they are called \"agent-task\".",
        )
        .annotated("int | Sequence[str]"),
        KindField::sense("\"minimize\""),
        KindField::optional(
            "forbidden",
            "sequence of pairs, optional",
            "Pairs (agent, task) that are never assigned, by name, or by number where there are no \
             names.",
        )
        .annotated("Sequence[tuple[Any, Any]] | None"),
        KindField::present(
            "array_like of shape (agents, tasks) or (agents * tasks,) or columns, optional",
            "Which pairs may be assigned (1 or 0); all by default. The costs of other pairs may be \
             missing (NaN).",
        )
        .form(ArgumentForm::Cells),
    ],
    constructor: Some(KindConstructor {
        summary: "Build an assignment of agents to tasks.",
        details: "Every member of the smaller side gets exactly one of the larger side.",
        positional: 2,
        raises: "Where no assignment is left; the message names agents that may do too few tasks.",
        examples: &[
            ">>> problem = rl.Problem.assignment([\"Ann\", \"Ben\"], 3, forbidden=[(\"Ann\", 0)])",
            ">>> problem.solve([1, 4, 5, 2, 3, 9]).decision.reshape(2, 3)",
            "array([[0., 1., 0.],",
            "       [1., 0., 0.]], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: pairs_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn pairs_of_file(file: &Value) -> Option<usize> {
    members_of_file(file, &["agents"])?.checked_mul(members_of_file(file, &["tasks"])?)
}

/// How many members a side has: the number, or the length of the list, under the first of the keys
/// that a file has one of.
pub(super) fn members_of_file(file: &Value, keys: &[&str]) -> Option<usize> {
    let mut stated = keys.iter().filter_map(|key| match file.get(key)? {
        Value::Array(members) => Some(members.len()),
        value => value.as_u64().map(|count| count as usize),
    });
    stated.next()
}

impl KindDefinition for Assignment {
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
}

impl RowKind for Assignment {
    /// Whether each pair is present.
    type Numbers = Vec<bool>;

    fn row_numbers(&self, _template: &Template) -> Vec<bool> {
        stated_flags(self.present.as_deref(), self.num_costs())
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<Vec<bool>>> {
        RowSetter::of_list(place, |row, pair, value| row[pair] = value == 1.0)
    }

    fn of_row(&self, present: Vec<bool>) -> std::result::Result<Self, String> {
        self.with_present(present)
            .map_err(|error| error.to_string())
    }
}

impl Assignment {
    /// Assignment of `agents` agents to `tasks` tasks without the forbidden pairs of an agent and a
    /// task, all numbered from 0.
    ///
    /// # Errors
    /// When there is no agent or no task, a pair does not exist, or no assignment is left.
    pub fn new(
        agents: usize,
        tasks: usize,
        forbidden: &[[usize; 2]],
        sense: Sense,
    ) -> Result<Self> {
        let [agents, tasks] = [agents, tasks].map(|count| AssignmentSide { count, names: None });
        for [agent, task] in forbidden {
            agents.index(MemberField::Number(*agent as u64), "agent")?;
            tasks.index(MemberField::Number(*task as u64), "task")?;
        }
        Self::from_sides(agents, tasks, forbidden.to_vec(), sense)
    }

    fn from_sides(
        agents: AssignmentSide,
        tasks: AssignmentSide,
        forbidden: Vec<[usize; 2]>,
        sense: Sense,
    ) -> Result<Self> {
        let count = size_limits::checked_product(
            "pairs of an agent and a task",
            &[agents.count, tasks.count],
            size_limits::MAX_COSTS,
        )?;
        if count == 0 {
            return Err(Error::setting(format!(
                "{} agents and {} tasks have no assignment",
                agents.count, tasks.count
            ))
            .with_remedy("it needs one of each or more"));
        }
        let allowed = (!forbidden.is_empty()).then(|| {
            let mut allowed = vec![true; count];
            for [agent, task] in &forbidden {
                allowed[agent * tasks.count + task] = false;
            }
            Arc::from(allowed)
        });
        let cost_names = cost_names(&agents, &tasks);
        let problem = Self {
            present: None,
            allowed: allowed.clone(),
            pairs: Arc::new(AssignmentPairs {
                agents,
                tasks,
                sense,
                forbidden,
                allowed,
                cost_names,
            }),
        };
        problem.check_feasible()?;
        Ok(problem)
    }

    /// The same problem in which only some pairs can be assigned: one flag per pair, agent by
    /// agent. Forbidden pairs stay forbidden.
    ///
    /// # Errors
    /// When the number of flags is not that of the pairs, or no assignment is left.
    pub fn with_present(&self, present: Vec<bool>) -> Result<Self> {
        let present = absences(Some(present), self.num_costs(), "pair")?;
        let allowed = match (&present, &self.pairs.allowed) {
            (None, allowed) => allowed.clone(),
            (Some(present), None) => Some(Arc::from(present.as_slice())),
            (Some(present), Some(allowed)) => {
                let both = present.iter().zip(allowed.iter());
                Some(
                    both.map(|(present, allowed)| *present && *allowed)
                        .collect(),
                )
            }
        };
        let problem = Self {
            pairs: Arc::clone(&self.pairs),
            present: present.map(Arc::from),
            allowed,
        };
        problem.check_feasible()?;
        Ok(problem)
    }

    fn agents(&self) -> usize {
        self.pairs.agents.count
    }

    fn tasks(&self) -> usize {
        self.pairs.tasks.count
    }

    fn is_allowed(&self, pair: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed[pair])
    }

    /// Checks that an assignment is left.
    fn check_feasible(&self) -> Result<()> {
        if self.allowed.is_none() {
            return Ok(());
        }
        let (agents, tasks) = (&self.pairs.agents, &self.pairs.tasks);
        let (agent_count, task_count) = (agents.count, tasks.count);
        if agent_count <= task_count {
            let is_allowed = |agent: usize, task: usize| self.is_allowed(agent * task_count + task);
            let violator = find_hall_violator(agent_count, task_count, is_allowed);
            violator.map_or(Ok(()), |violator| {
                let HallViolator { rows, columns } = violator;
                let who = agents.list("agent", &rows);
                Err(no_assignment(&match columns.as_slice() {
                    [] => format!("{who} may do no task"),
                    _ => format!("{who} may do only {}", tasks.list("task", &columns)),
                }))
            })
        } else {
            let is_allowed = |task: usize, agent: usize| self.is_allowed(agent * task_count + task);
            let violator = find_hall_violator(task_count, agent_count, is_allowed);
            violator.map_or(Ok(()), |violator| {
                let HallViolator { rows, columns } = violator;
                let what = tasks.list("task", &rows);
                Err(no_assignment(&match columns.as_slice() {
                    [] => format!("{what} can be done by no agent"),
                    _ => format!(
                        "{what} can be done only by {}",
                        agents.list("agent", &columns)
                    ),
                }))
            })
        }
    }

    fn assignment_solver(&self) -> Box<AssignmentSolver> {
        let allowed = self.allowed.clone();
        Box::new(AssignmentSolver::new(self.agents(), self.tasks(), allowed))
    }
}

fn no_assignment(reason: &str) -> Error {
    Error::setting(format!("no assignment is left: {reason}"))
        .with_remedy("remove pairs from `forbidden`, or allow further ones in `present`")
}

/// The names `agent-task` of all costs, where agents or tasks have names and all are different.
fn cost_names(agents: &AssignmentSide, tasks: &AssignmentSide) -> Option<CostNames> {
    let has_names = agents.names.is_some() || tasks.names.is_some();
    if !has_names || agents.count * tasks.count > MAX_NAMED_PAIRS {
        return None;
    }
    let mut names = Vec::with_capacity(agents.count * tasks.count);
    for agent in 0..agents.count {
        let agent = agents.name(agent);
        for task in 0..tasks.count {
            names.push(format!("{agent}-{}", tasks.name(task)));
        }
    }
    check_names(&names, "pair").is_ok().then(|| names.into())
}

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

    fn sense(&self) -> Sense {
        self.pairs.sense
    }

    fn num_costs(&self) -> usize {
        self.agents() * self.tasks()
    }

    fn cost_names(&self) -> Option<&CostNames> {
        self.pairs.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.allowed.as_deref()
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

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.assignment_solver())
    }

    /// Exact ranges are at least as wide as those of any basis, so that they serve both kinds.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(self.assignment_solver())
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(self.assignment_solver())
    }

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
        if let Some(allowed) = &self.allowed {
            cone.remove_absent(allowed);
        }
        Some(cone)
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

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
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
}
