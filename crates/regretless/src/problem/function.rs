//! A problem that is solved by a Rust function: costs in, decision out. The function may get the
//! parameters of the row too.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{
    Choices, KindCapabilities, ProblemKind, RowProblems, SolverThreading, SolverTraits,
    VariableBounds,
};
use crate::data::ParameterColumns;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::sense::Sense;
use crate::solve::{SearchLimits, Solution, SolveFailure, Solver};

/// Largest distance of a value from 0 or 1 that counts as rounding of the user's solver: MIP
/// solvers accept 1e-6 to 1e-5 as integral.
const INTEGRALITY_TOLERANCE: f64 = 1e-5;

/// From costs and the row's parameters to a decision.
type Function = dyn Fn(&[f64], &[f64]) -> Option<Vec<f64>> + Send + Sync;

/// A user's function and whether threads may call it at the same time.
#[derive(Clone)]
pub(super) struct SharedFunction {
    function: Arc<Function>,
    threading: SolverThreading,
}

impl SharedFunction {
    /// A function that several threads may call at the same time.
    pub(super) fn concurrent(
        function: impl Fn(&[f64], &[f64]) -> Option<Vec<f64>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            function: Arc::new(function),
            threading: SolverThreading::OwnThreads,
        }
    }

    /// A function that is called once at a time, in the order of the rows.
    pub(super) fn serialized(
        function: impl FnMut(&[f64]) -> Option<Vec<f64>> + Send + 'static,
    ) -> Self {
        let locked = Mutex::new(function);
        Self {
            function: Arc::new(move |costs: &[f64], _parameters: &[f64]| {
                let mut function = locked.lock().unwrap_or_else(PoisonError::into_inner);
                (*function)(costs)
            }),
            threading: SolverThreading::Serialized,
        }
    }
}

/// A function as a problem.
pub(super) struct FunctionProblem {
    name: String,
    sense: Sense,
    num_costs: usize,
    function: SharedFunction,
    /// The parameters of a row that the function gets.
    columns: Vec<ParameterColumns>,
    /// Their values, in the problem of one row.
    values: Arc<[f64]>,
}

impl FunctionProblem {
    pub(super) fn new(
        name: &str,
        sense: Sense,
        num_costs: usize,
        function: SharedFunction,
    ) -> Result<Self> {
        if num_costs == 0 {
            return Err(Error::setting(format!("the problem '{name}' has no costs")));
        }
        Ok(Self {
            name: name.to_owned(),
            sense,
            num_costs,
            function,
            columns: Vec::new(),
            values: Arc::new([]),
        })
    }

    /// The same for a function that gets parameters of the row: names, and numbers per row.
    pub(super) fn with_parameters(self, parameters: &[(&str, usize)]) -> Result<Self> {
        let mut columns: Vec<ParameterColumns> = Vec::with_capacity(parameters.len());
        for (name, count) in parameters {
            if *count == 0 || columns.iter().any(|other| other.pattern == *name) {
                return Err(Error::setting(format!(
                    "the parameter '{name}' is named twice or has no numbers"
                )));
            }
            columns.push(ParameterColumns {
                pattern: (*name).to_owned(),
                count: *count,
                names: None,
            });
        }
        Ok(Self { columns, ..self })
    }
}

impl fmt::Debug for FunctionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionProblem")
            .field("name", &self.name)
            .field("sense", &self.sense)
            .field("num_costs", &self.num_costs)
            .finish_non_exhaustive()
    }
}

impl ProblemKind for FunctionProblem {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.num_costs
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(FunctionSolver {
            sense: self.sense,
            num_costs: self.num_costs,
            function: self.function.clone(),
            values: Arc::clone(&self.values),
            costs: Vec::new(),
        })
    }

    /// Only the function defines what is feasible; the number of variables is checked.
    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        match decision.indices().last() {
            Some(last) if *last as usize >= self.num_costs => {
                Err(format!("variable {last} does not exist"))
            }
            _ => Ok(()),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            row_problems: self,
            solver_traits: self,
            choices: self,
            ..KindCapabilities::NONE
        }
    }
}

impl RowProblems for FunctionProblem {
    fn parameters(&self) -> &[ParameterColumns] {
        &self.columns
    }

    fn row_problem(&self, values: &[f64]) -> std::result::Result<Arc<dyn ProblemKind>, String> {
        Ok(Arc::new(Self {
            name: self.name.clone(),
            sense: self.sense,
            num_costs: self.num_costs,
            function: self.function.clone(),
            columns: Vec::new(),
            values: values.into(),
        }))
    }

    /// Without parameters, every decision that the function returns is one of any row.
    fn checks_constraints(&self) -> bool {
        self.columns.is_empty()
    }
}

impl SolverTraits for FunctionProblem {
    fn heuristic_remedy(&self) -> Option<&'static str> {
        Some("solve it exactly, or read regret as relative to it")
    }

    fn has_search_settings(&self) -> bool {
        false
    }

    fn solver_calls(&self) -> SolverThreading {
        self.function.threading
    }
}

impl Choices for FunctionProblem {
    fn bounds(&self) -> VariableBounds {
        VariableBounds::Box {
            lower: vec![f64::NEG_INFINITY; self.num_costs],
            upper: vec![f64::INFINITY; self.num_costs],
        }
    }
}

/// Calls the function with costs in the user's sense.
struct FunctionSolver {
    sense: Sense,
    num_costs: usize,
    function: SharedFunction,
    /// The parameters of the row.
    values: Arc<[f64]>,
    costs: Vec<f64>,
}

impl Solver for FunctionSolver {
    fn solve(&mut self, costs: &[f64]) -> std::result::Result<Solution, SolveFailure> {
        self.costs.clear();
        self.costs.extend_from_slice(costs);
        self.sense.convert_slice(&mut self.costs);
        let Some(mut values) = (self.function.function)(&self.costs, &self.values) else {
            return Err(SolveFailure::Infeasible);
        };
        if values.len() != self.num_costs {
            let (found, expected) = (values.len(), self.num_costs);
            return Err(SolveFailure::SolverError(format!(
                "the function returned {found} values for {expected} costs"
            )));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(SolveFailure::SolverError(format!(
                "value {bad} of the decision is not finite"
            )));
        }
        round_to_binary(&mut values);
        let decision = Decision::from_dense(&values);
        let objective = decision.dot(costs);
        Ok(Solution::optimal(decision, objective))
    }
}

/// Rounds values that are all 0 or 1 up to the tolerance of MIP solvers, so 0.9999999 counts as 1;
/// other decisions stay as they are.
fn round_to_binary(values: &mut [f64]) {
    let is_binary = |value: &f64| {
        let rounded = value.round();
        (rounded == 0.0 || rounded == 1.0) && (value - rounded).abs() <= INTEGRALITY_TOLERANCE
    };
    if values.iter().all(is_binary) {
        values.iter_mut().for_each(|value| *value = value.round());
    }
}
