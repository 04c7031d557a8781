//! Assignment of agents to tasks, of which some pairs may be forbidden.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::flexible_fields::{self, PresentList};
use super::subset::absences;
use super::{ProblemKind, Sense};
use crate::data::{CostNames, check_names};
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::assignment::{AssignmentSolver, HallViolator, find_hall_violator};
use crate::text::first_names;

mod family;
mod kind;

pub(super) use family::{FAMILY, members_of_file};

/// Most pairs whose costs have names: more names would take more memory than the costs.
const MAX_NAMED_PAIRS: usize = 1 << 22;

/// Every member of the smaller side gets exactly one of the larger side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AssignmentFields", into = "AssignmentFields")]
pub struct Assignment {
    pairs: Arc<AssignmentPairs>,
    /// Which pairs are present, as the problem file says.
    present: Option<Arc<[bool]>>,
    /// Which pairs are present and not forbidden; `None` if all are.
    allowed: Option<Arc<[bool]>>,
}

/// What assignments of one problem file share, whichever pairs are present.
#[derive(Debug, PartialEq)]
struct AssignmentPairs {
    agents: AssignmentSide,
    tasks: AssignmentSide,
    sense: Sense,
    forbidden: Vec<[usize; 2]>,
    /// Which pairs are not forbidden; `None` if all are.
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
    #[serde(default = "flexible_fields::minimize")]
    sense: Sense,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<[MemberField; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<PresentList>,
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
        // A list only if something is forbidden: without one the solver need not look up pairs.
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
        // Hall (1935): the smaller side can be matched unless some of its members have, together,
        // fewer partners than they are. Such members are the most useful message.
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

/// The names `agent-task` of all costs, if agents or tasks have names and all are different.
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
