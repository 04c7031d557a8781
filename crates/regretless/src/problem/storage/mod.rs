//! Storage: charge and discharge a battery or a reservoir over a horizon of prices.
//!
//! Each step has one cost, its price. The decision of a step is the energy that is bought, or sold
//! if it is negative. Charging and discharging are mutually exclusive in a step.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::flexible_fields::NumberOrList;
use super::{
    Choices, CostNaming, DecisionGeometry, FailureReasons, KindCapabilities, ProblemKind, Sense,
    Sensitivity, SolveCostHint, VariableBounds,
};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::relaxation::{CostRangeKind, CostRanging, Relaxation, RelaxationSolver};
use crate::solve::storage::{StorageNumbers, StorageSolver};
use crate::solve::{SearchLimits, Solver};

mod family;

pub(super) use family::FAMILY;

/// Most steps: the functions of all of them are stored, each with some pieces per step.
const MAX_STEPS: usize = 100_000;

/// How far a level or an amount may be out of its limits, relative to the largest number of the
/// storage.
const RELATIVE_TOLERANCE: f64 = 1e-7;

/// A storage that is charged and discharged.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "StorageFields")]
pub struct StorageProblem {
    numbers: Arc<StorageNumbers>,
}

/// A serialized problem, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StorageFields {
    steps: usize,
    capacity: f64,
    #[serde(default)]
    initial: f64,
    #[serde(default)]
    final_min: Option<f64>,
    #[serde(default)]
    min_level: f64,
    charge_limit: NumberOrList,
    discharge_limit: NumberOrList,
    #[serde(default = "no_loss")]
    charge_efficiency: f64,
    #[serde(default = "no_loss")]
    discharge_efficiency: f64,
    #[serde(default)]
    inflow: Option<NumberOrList>,
    /// Whether some numbers are placeholders of those of rows, so they need not fit together.
    #[serde(default)]
    differs_per_row: bool,
}

fn no_loss() -> f64 {
    1.0
}

impl TryFrom<StorageFields> for StorageProblem {
    type Error = Error;

    fn try_from(fields: StorageFields) -> Result<Self> {
        let steps = fields.steps;
        size_limits::checked_product("steps", &[steps], MAX_STEPS)?;
        if steps == 0 {
            return Err(Error::setting("a storage needs one step or more"));
        }
        let list = |name: &str, numbers: NumberOrList| match numbers.0.as_slice() {
            [number] => Ok(vec![*number; steps]),
            list if list.len() == steps => Ok(numbers.0),
            list => Err(Error::setting(format!(
                "{name} has {} numbers for {steps} steps",
                list.len()
            ))
            .with_remedy("write one number, or one per step")),
        };
        let numbers = StorageNumbers {
            min_level: fields.min_level,
            capacity: fields.capacity,
            initial: fields.initial,
            final_min: fields.final_min.unwrap_or(fields.initial),
            charge_limit: list("charge_limit", fields.charge_limit)?,
            discharge_limit: list("discharge_limit", fields.discharge_limit)?,
            charge_efficiency: fields.charge_efficiency,
            discharge_efficiency: fields.discharge_efficiency,
            inflow: match fields.inflow {
                Some(inflow) => list("inflow", inflow)?,
                None => vec![0.0; steps],
            },
        };
        if fields.differs_per_row {
            let numbers = Arc::new(numbers);
            return Ok(Self { numbers });
        }
        Self::new(numbers)
    }
}

/// A list as problem files write it: one number if all are the same.
fn written(numbers: &[f64]) -> Value {
    match numbers {
        [first, ..] if numbers.iter().all(|number| number == first) => json!(first),
        numbers => json!(numbers),
    }
}

impl Serialize for StorageProblem {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let numbers = self.numbers.as_ref();
        let mut object = Map::new();
        object.insert("steps".into(), json!(numbers.steps()));
        for (name, number) in [
            ("capacity", numbers.capacity),
            ("initial", numbers.initial),
            ("final_min", numbers.final_min),
            ("min_level", numbers.min_level),
            ("charge_efficiency", numbers.charge_efficiency),
            ("discharge_efficiency", numbers.discharge_efficiency),
        ] {
            object.insert(name.into(), json!(number));
        }
        object.insert("charge_limit".into(), written(&numbers.charge_limit));
        object.insert("discharge_limit".into(), written(&numbers.discharge_limit));
        if numbers.inflow.iter().any(|inflow| *inflow != 0.0) {
            object.insert("inflow".into(), written(&numbers.inflow));
        }
        object.serialize(serializer)
    }
}

impl StorageProblem {
    /// A storage with these numbers.
    ///
    /// # Errors
    /// When a number is not finite or out of its range, or no decision is feasible.
    fn new(numbers: StorageNumbers) -> Result<Self> {
        check_numbers(&numbers)?;
        let storage = Self {
            numbers: Arc::new(numbers),
        };
        match storage.infeasibility() {
            Some(message) => Err(Error::setting(message)),
            None => Ok(storage),
        }
    }

    /// A battery without losses that is empty at the beginning.
    ///
    /// # Errors
    /// When there is no step, or a number is negative or not finite.
    pub fn battery(
        steps: usize,
        capacity: f64,
        charge_limit: f64,
        discharge_limit: f64,
    ) -> Result<Self> {
        Self::try_from(StorageFields {
            steps,
            capacity,
            initial: 0.0,
            final_min: None,
            min_level: 0.0,
            charge_limit: NumberOrList(vec![charge_limit]),
            discharge_limit: NumberOrList(vec![discharge_limit]),
            charge_efficiency: 1.0,
            discharge_efficiency: 1.0,
            inflow: None,
            differs_per_row: false,
        })
    }

    fn storage_solver(&self) -> Box<StorageSolver> {
        Box::new(StorageSolver::new(Arc::clone(&self.numbers)))
    }

    fn tolerance(&self) -> f64 {
        let numbers = self.numbers.as_ref();
        let lists = [
            &numbers.charge_limit,
            &numbers.discharge_limit,
            &numbers.inflow,
        ];
        let largest = lists
            .into_iter()
            .flatten()
            .fold(numbers.capacity, |most, number| most.max(number.abs()));
        RELATIVE_TOLERANCE * largest
    }

    /// The levels that can be reached after each step with these amounts, or with any amounts
    /// within the limits: the first step that has none.
    fn first_step_without_level(&self, amounts: Option<&[f64]>) -> Option<usize> {
        let (numbers, tolerance) = (self.numbers.as_ref(), self.tolerance());
        let mut levels = [numbers.initial, numbers.initial];
        for step in 0..numbers.steps() {
            let [least, most] = match amounts {
                Some(amounts) => [amounts[step], amounts[step]],
                None => [-numbers.discharge_limit[step], numbers.charge_limit[step]],
            };
            let inflow = numbers.inflow[step];
            // Inflow may pass unused; a loss cannot be avoided.
            levels[0] += numbers.change(least) + inflow.min(0.0);
            levels[1] += numbers.change(most) + inflow;
            let is_last = step + 1 == numbers.steps();
            let lowest = if is_last {
                numbers.final_min.max(numbers.min_level)
            } else {
                numbers.min_level
            };
            levels = [levels[0].max(lowest), levels[1].min(numbers.capacity)];
            if levels[0] > levels[1] + tolerance {
                return Some(step);
            }
        }
        None
    }
}

fn check_numbers(numbers: &StorageNumbers) -> Result<()> {
    let StorageNumbers {
        min_level,
        capacity,
        initial,
        final_min,
        ..
    } = numbers;
    let all = [capacity, min_level, initial, final_min];
    let lists = [
        &numbers.charge_limit,
        &numbers.discharge_limit,
        &numbers.inflow,
    ];
    if !(all.into_iter().chain(lists.into_iter().flatten())).all(|number| number.is_finite()) {
        return Err(Error::setting("the numbers of a storage are finite")
            .with_remedy("a large number stands for no limit"));
    }
    for (name, efficiency) in [
        ("charge_efficiency", numbers.charge_efficiency),
        ("discharge_efficiency", numbers.discharge_efficiency),
    ] {
        if !(efficiency > 0.0 && efficiency <= 1.0) {
            return Err(Error::setting(format!(
                "{name} = {efficiency} is not above 0 and up to 1"
            ))
            .with_remedy("it is the share of the energy that is not lost"));
        }
    }
    for (name, limits) in [
        ("charge_limit", &numbers.charge_limit),
        ("discharge_limit", &numbers.discharge_limit),
    ] {
        if let Some(limit) = limits.iter().find(|limit| **limit < 0.0) {
            return Err(Error::setting(format!("{name} = {limit} is negative")));
        }
    }
    if min_level > capacity {
        return Err(Error::setting(format!(
            "min_level = {min_level} is above capacity = {capacity}"
        )));
    }
    for (name, level) in [("initial", initial), ("final_min", final_min)] {
        let is_too_low = name == "initial" && level < min_level;
        if is_too_low || level > capacity {
            return Err(Error::setting(format!(
                "{name} = {level} is not between min_level = {min_level} and capacity = {capacity}"
            )));
        }
    }
    Ok(())
}

impl ProblemKind for StorageProblem {
    fn name(&self) -> String {
        format!("storage over {} steps", self.numbers.steps())
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        self.numbers.steps()
    }

    /// Fitted to medians: 11 µs for 48 steps at prices that are not negative, 150 µs if some are;
    /// predictions have both signs.
    fn solve_cost_hint(&self) -> SolveCostHint {
        let steps = self.numbers.steps() as f64;
        SolveCostHint::estimated(2e-8 * steps * steps + 1e-6, 0.2)
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.storage_solver()
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<StorageSolver>()
            .is_some_and(|solver| solver.move_to(&self.numbers))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        let (numbers, tolerance) = (self.numbers.as_ref(), self.tolerance());
        let steps = numbers.steps();
        if let Some(last) = decision
            .indices()
            .last()
            .filter(|last| **last as usize >= steps)
        {
            return Err(format!("step {last} of {steps} does not exist"));
        }
        let mut amounts = vec![0.0; steps];
        decision.write_dense(&mut amounts);
        for (step, amount) in amounts.iter().enumerate() {
            let (charge, discharge) = (numbers.charge_limit[step], numbers.discharge_limit[step]);
            if *amount > charge + tolerance || *amount < -discharge - tolerance {
                return Err(format!(
                    "the amount {amount} of step {step} is not between {} and {charge}",
                    -discharge
                ));
            }
        }
        match self.first_step_without_level(Some(&amounts)) {
            Some(step) => Err(format!(
                "the level after step {step} is out of its limits (counted from 0)"
            )),
            None => Ok(()),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl FailureReasons for StorageProblem {
    fn infeasibility(&self) -> Option<String> {
        let numbers = self.numbers.as_ref();
        let step = self.first_step_without_level(None)?;
        Some(if step + 1 == numbers.steps() {
            format!(
                "the storage cannot have the level final_min = {} after the last step",
                numbers.final_min
            )
        } else {
            format!(
                "no level between min_level = {} and capacity = {} can be reached after step \
                 {step} (counted from 0)",
                numbers.min_level, numbers.capacity
            )
        })
    }
}

impl CostNaming for StorageProblem {}

impl Sensitivity for StorageProblem {
    /// The relaxation lets a step charge and discharge at once, which pays at negative prices only.
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.storage_solver())
    }

    /// Exact ranges are those of the decision itself, whatever the basis, so they serve both kinds.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(self.storage_solver())
    }
}

impl DecisionGeometry for StorageProblem {
    /// Exclusive modes cut off vertices of the relaxation.
    fn has_vertex_decisions(&self) -> bool {
        false
    }
}

impl Choices for StorageProblem {
    fn bounds(&self) -> VariableBounds {
        let negative = |limit: &f64| -limit;
        VariableBounds::Box {
            lower: self.numbers.discharge_limit.iter().map(negative).collect(),
            upper: self.numbers.charge_limit.clone(),
        }
    }
}
