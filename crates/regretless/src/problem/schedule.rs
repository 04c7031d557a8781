//! Energy-aware scheduling (the ICON challenge): run tasks on machines at minimum energy cost.
//!
//! Each task starts once, on one machine, no earlier than its earliest start and in time for its
//! latest end; on every machine and in every slot the running tasks fit its capacities. Cost j is
//! the price of energy in slot j: the decision is the energy used in each slot, and the start times
//! are auxiliary columns of a mixed-integer model.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::family::{
    At, KindDefinition, KindField, LARGE_CAPACITY, ProblemFamily, RowPlace, TemplateRules,
};
use super::layout::DecisionLayout;
use super::{LinearBuilder, LinearProblem, ProblemKind, Sense, VariableDomain};
use crate::error::{Error, Result};
use crate::size_limits::read_text_file;

/// Slots of a day.
const SLOTS_PER_DAY: usize = 48;

/// Tasks, machines and the length of a slot.
///
/// ```
/// use regretless::Problem;
/// use regretless::problem::ProblemSpec;
///
/// // A task of two half-hours with a power of 10, at any time of the day, as in a problem file.
/// let spec: ProblemSpec = serde_json::from_str(
///     r#"{"kind": "schedule", "minutes": 30.0, "machines": [[1.0]], "tasks": [
///         {"duration": 2, "earliest": 0, "latest": 48, "power": 10.0, "uses": [1.0]}]}"#,
/// ).map_err(|error| regretless::Error::setting(error.to_string()))?;
/// let problem = Problem::from_spec(spec)?;
/// let mut prices = [3.0; 48];
/// (prices[7], prices[8]) = (1.0, 2.0);
/// assert_eq!(problem.solve(&prices)?.objective, 15.0);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Minutes of a slot.
    pub(crate) minutes: f64,
    /// Capacities of each machine, one per resource.
    pub(crate) machines: Vec<Vec<f64>>,
    /// The tasks.
    pub(crate) tasks: Vec<ScheduledTask>,
}

/// A task that runs without interruption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduledTask {
    /// Duration in slots.
    pub duration: usize,
    /// First slot it may start in.
    pub earliest: usize,
    /// Slot by which it has ended.
    pub latest: usize,
    /// Power while it runs.
    pub power: f64,
    /// Use of each resource while it runs.
    pub uses: Vec<f64>,
}

/// The kind, as problem files see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "schedule",
    summary: "Which task runs when, on which machine, at prices of energy.",
    fields: &[
        KindField::in_files("minutes"),
        KindField::in_files("machines")
            .rows(&[RowPlace::number(LARGE_CAPACITY).at(&[At::Index, At::Index])]),
        KindField::in_files("tasks").rows(&[
            RowPlace::number(0.0).at(&[At::Index, At::Named("uses"), At::Index]),
            RowPlace::number(0.0).at(&[At::Index, At::Named("power")]),
            RowPlace::whole(1).at(&[At::Index, At::Named("duration")]),
            RowPlace::whole(0).at(&[At::Index, At::Named("earliest")]),
            RowPlace::whole(SLOTS_PER_DAY as u32).at(&[At::Index, At::Named("latest")]),
        ]),
    ],
    template: TemplateRules {
        costs_are_steps: true,
        columns_text: Some("capacities of machines and all numbers of tasks"),
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

impl KindDefinition for Schedule {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.linear()?))
    }

    fn layout(&self) -> Option<DecisionLayout> {
        Some(DecisionLayout::Steps)
    }
}

impl Schedule {
    /// Reads an instance of the challenge.
    ///
    /// # Errors
    /// When the file cannot be read or is incomplete.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text_file(path)?;
        let mut words = text.split_whitespace().map(str::parse::<f64>);
        let schedule = Self::from_words(&mut || words.next()?.ok());
        schedule.ok_or_else(|| {
            let message = "not a load file: slot length, resources, machines and tasks are needed";
            Error::setting(format!("{}: {message}", path.display()))
        })
    }

    fn from_words(next: &mut impl FnMut() -> Option<f64>) -> Option<Self> {
        let minutes = next()?;
        let resources = next()? as usize;
        let take = |next: &mut dyn FnMut() -> Option<f64>, count: usize| {
            (0..count).map(|_| next()).collect::<Option<Vec<f64>>>()
        };
        let machines = (0..next()? as usize).map(|_| {
            // Number, idle, startup and shutdown costs, which the model does not use.
            take(next, 4)?;
            take(next, resources)
        });
        let machines = machines.collect::<Option<Vec<_>>>()?;
        let tasks = (0..next()? as usize).map(|_| {
            let fields = take(next, 5)?;
            let uses = take(next, resources)?;
            let [_, duration, earliest, latest, power] = fields[..] else {
                return None;
            };
            Some(ScheduledTask {
                duration: duration as usize,
                earliest: earliest as usize,
                latest: latest as usize,
                power,
                uses,
            })
        });
        Some(Self {
            minutes,
            machines,
            tasks: tasks.collect::<Option<_>>()?,
        })
    }

    /// The mixed-integer model.
    ///
    /// # Errors
    /// When a task cannot run or a value is invalid.
    pub fn linear(&self) -> Result<LinearProblem> {
        let mut build = LinearBuilder::new(
            format!("schedule of {} tasks", self.tasks.len()),
            Sense::Minimize,
        );
        let hours = self.minutes / 60.0;
        let max: f64 = self.tasks.iter().map(|task| task.power * hours).sum();
        let energy: Vec<usize> = (0..SLOTS_PER_DAY)
            .map(|slot| {
                build.predicted(
                    format!("slot{slot}"),
                    VariableDomain::Continuous([0.0, max]),
                )
            })
            .collect();
        let mut used: Vec<Vec<(usize, f64)>> =
            energy.iter().map(|column| vec![(*column, -1.0)]).collect();
        let resources = self.machines.first().map_or(0, Vec::len);
        let mut loads = vec![Vec::new(); self.machines.len() * SLOTS_PER_DAY * resources];
        for (number, task) in self.tasks.iter().enumerate() {
            let starts = self.starts(number, task)?;
            let mut once = Vec::new();
            for (machine, start) in starts {
                let column = build.auxiliary(
                    format!("task{number}_machine{machine}_start{start}"),
                    VariableDomain::Binary,
                    0.0,
                );
                once.push((column, 1.0));
                for slot in start..start + task.duration {
                    used[slot].push((column, task.power * hours));
                    for (resource, uses) in task.uses.iter().enumerate() {
                        loads[(machine * SLOTS_PER_DAY + slot) * resources + resource]
                            .push((column, *uses));
                    }
                }
            }
            build.row([1.0, 1.0], once);
        }
        for entries in used {
            build.row([0.0, 0.0], entries);
        }
        for (index, entries) in loads.into_iter().enumerate() {
            // A single task fits: other machines are not among its starts.
            if entries.len() > 1 {
                let capacity =
                    self.machines[index / (SLOTS_PER_DAY * resources)][index % resources];
                build.row([f64::NEG_INFINITY, capacity], entries);
            }
        }
        build.without_names();
        Ok(build.build()?.without_cost_names())
    }

    /// Machines and slots in which a task may start.
    fn starts(&self, number: usize, task: &ScheduledTask) -> Result<Vec<(usize, usize)>> {
        let refuse = |message: &str| Error::setting(format!("task {number} {message}"));
        if task.uses.len() != self.machines.first().map_or(0, Vec::len) {
            return Err(refuse("does not use the resources that machines have"));
        }
        let last = task
            .latest
            .min(SLOTS_PER_DAY)
            .checked_sub(task.duration)
            .ok_or_else(|| refuse("does not end in time"))?;
        let fits = |capacity: &Vec<f64>| {
            task.uses
                .iter()
                .zip(capacity)
                .all(|(uses, capacity)| uses <= capacity)
        };
        let machines = self
            .machines
            .iter()
            .enumerate()
            .filter(|(_, capacity)| fits(capacity));
        let starts: Vec<(usize, usize)> = machines
            .flat_map(|(machine, _)| (task.earliest..=last).map(move |start| (machine, start)))
            .collect();
        if starts.is_empty() {
            Err(refuse("can start nowhere"))
        } else {
            Ok(starts)
        }
    }
}
