//! Construction of problems from names, files, arrays, functions and models of other libraries.

use std::path::Path;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use regretless::data::CostNames;
use regretless::problem::{
    Benchmark, CostColumns, ExternalProblem, FileProblem, LinearArrays, LinearColumn, ProblemKind,
    ProblemSpec, ReadOptions, Sense,
};

use super::Problem;
use crate::arrays::{row_numbers, vector};
use crate::call_observer::catch_panic;
use crate::error::to_py_err;
use crate::function_problem::{FunctionProblem, SolverFunction};
use crate::linear;
use crate::names::column_names;

/// The name of a problem whose function the user did not name.
pub(super) const DEFAULT_FUNCTION_NAME: &str = "a Python function";

impl Problem {
    /// Builds and checks a problem.
    pub fn from_spec(spec: ProblemSpec) -> PyResult<Self> {
        let problem = catch_panic(|| spec.build().map_err(to_py_err))?;
        Ok(Self::from_built(spec, problem))
    }

    /// A problem that is built already.
    pub fn from_built(spec: ProblemSpec, problem: Arc<dyn ProblemKind>) -> Self {
        Self {
            spec,
            problem,
            function: None,
            costs: None,
            warned: Mutex::default(),
        }
    }

    /// The problem that a function solves.
    pub(super) fn from_function(function: SolverFunction) -> Self {
        let function = Arc::new(function);
        let problem = FunctionProblem {
            function: Arc::clone(&function),
            call: None,
        };
        let spec = ProblemSpec::External(function.problem.clone());
        Self {
            function: Some(function),
            ..Self::from_built(spec, Arc::new(problem))
        }
    }

    /// Reads a problem file (.toml); errors name the file.
    pub(super) fn from_problem_file(path: &Path) -> PyResult<Self> {
        let spec = ProblemSpec::read(path).map_err(to_py_err)?;
        let with_path = |error: regretless::Error| match error {
            regretless::Error::Setting { message, remedy } => {
                to_py_err(regretless::Error::Setting {
                    message: format!("{}: {message}", path.display()),
                    remedy,
                })
            }
            other => to_py_err(other.in_file(path)),
        };
        let problem = catch_panic(|| spec.build().map_err(with_path))?;
        Ok(Self::from_built(spec, problem))
    }

    /// Reads one problem of a published file, with its costs.
    pub(super) fn from_published_file(path: &Path, options: &ReadOptions) -> PyResult<Self> {
        let mut problems = catch_panic(|| FileProblem::read(path, options).map_err(to_py_err))?;
        let problem = problems
            .pop()
            .ok_or_else(|| PyValueError::new_err(format!("{}: no problem", path.display())))?;
        Ok(Self {
            costs: Some(problem.costs),
            ..Self::from_spec(problem.spec)?
        })
    }
}

/// Parses "minimize" or "maximize".
pub(super) fn parse_sense(text: &str) -> PyResult<Sense> {
    match text {
        "minimize" | "min" => Ok(Sense::Minimize),
        "maximize" | "max" => Ok(Sense::Maximize),
        _ => Err(to_py_err(regretless::Error::unknown(
            "sense",
            text,
            &["minimize", "maximize"],
        ))),
    }
}

/// The specification of a benchmark's name or of a dict.
pub(super) fn parse_description(
    description: &Bound<'_, PyAny>,
    seed: u32,
) -> PyResult<ProblemSpec> {
    if let Ok(table) = description.cast::<PyDict>() {
        let text = crate::train::json_text(table, "the problem")?;
        return serde_json::from_str(&text).map_err(|error| {
            PyValueError::new_err(format!(
                "the problem: {}",
                regretless::Error::explain_renamed(&error.to_string())
            ))
        });
    }
    let name: String = description.extract()?;
    let benchmark: Benchmark = name.parse().map_err(to_py_err)?;
    catch_panic(|| benchmark.problem(seed).map_err(to_py_err))
}

/// Columns with predicted costs: all, one name or pattern, or several.
pub(super) fn cost_columns(costs: Option<&Bound<'_, PyAny>>) -> PyResult<CostColumns> {
    Ok(match costs {
        None => CostColumns::All,
        Some(name) if name.is_instance_of::<PyString>() => {
            CostColumns::Named(vec![name.extract()?])
        }
        Some(names) => CostColumns::Named(names.extract()?),
    })
}

/// The arrays of `Problem.from_arrays`.
pub(super) struct ArrayArguments<'a, 'py> {
    pub(super) matrix: &'a Bound<'py, PyAny>,
    pub(super) right_sides: &'a Bound<'py, PyAny>,
    pub(super) relations: Option<&'a Bound<'py, PyAny>>,
    pub(super) lower: Option<&'a Bound<'py, PyAny>>,
    pub(super) upper: Option<&'a Bound<'py, PyAny>>,
    pub(super) integer: Option<&'a Bound<'py, PyAny>>,
    pub(super) costs: Option<&'a Bound<'py, PyAny>>,
    pub(super) known_costs: Option<&'a Bound<'py, PyAny>>,
}

impl ArrayArguments<'_, '_> {
    /// The linear problem; without names, columns have those of the matrix, if it has some.
    pub(super) fn build(
        &self,
        name: &str,
        sense: Sense,
        names: Option<Vec<Option<String>>>,
    ) -> PyResult<LinearArrays> {
        let (entries, count) = linear::row_entries(self.matrix)?;
        let names = match names {
            Some(names) => Some(names),
            None => column_names(self.matrix)?.map(|names| names.into_iter().map(Some).collect()),
        };
        if let Some(names) = names.as_ref().filter(|names| names.len() != count) {
            return Err(PyValueError::new_err(format!(
                "{} names for {count} variables",
                names.len()
            )));
        }
        let lower = match self.lower {
            Some(value) => linear::bounds(value, count, "lower")?,
            None => vec![Some(0.0); count],
        };
        let upper = match self.upper {
            Some(value) => linear::bounds(value, count, "upper")?,
            None => vec![None; count],
        };
        let integer = linear::flags(self.integer, count)?;
        let known_costs = match self.known_costs {
            Some(value) => linear::broadcast(value, count, "known_costs")?,
            None => vec![0.0; count],
        };
        let costs = self
            .costs
            .map(|costs| row_numbers(costs, "costs"))
            .transpose()?;
        let predicted = linear::predicted(costs, count)?;
        let column = |number: usize| LinearColumn {
            name: names.as_ref().and_then(|names| names[number].clone()),
            lower: lower[number],
            upper: upper[number],
            integer: integer[number],
            cost: (!predicted[number]).then(|| known_costs[number]),
        };
        Ok(LinearArrays {
            name: name.into(),
            sense,
            columns: (0..count).map(column).collect(),
            rows: linear::linear_rows(entries, &vector(self.right_sides, "b")?, self.relations)?,
        })
    }
}

/// Name, sense and size of the problem that a function solves.
pub(super) fn external_problem(
    num_costs: usize,
    sense: Sense,
    name: Option<String>,
    cost_names: Option<Vec<String>>,
) -> PyResult<ExternalProblem> {
    if num_costs == 0 {
        return Err(PyValueError::new_err("num_costs must be at least 1"));
    }
    let cost_names = cost_names.map(CostNames::from);
    if let Some(names) = &cost_names {
        names.check("cost").map_err(to_py_err)?;
        if names.len() != num_costs {
            return Err(PyValueError::new_err(format!(
                "{} names for {num_costs} costs",
                names.len()
            )));
        }
    }
    Ok(ExternalProblem {
        name: name.unwrap_or(DEFAULT_FUNCTION_NAME.into()),
        sense,
        costs: num_costs,
        cost_names,
    })
}

/// Reads a model of a modeling library by a function of `regretless.problems`.
pub(super) fn read_model<'py>(
    py: Python<'py>,
    function: &str,
    model: &Bound<'py, PyAny>,
    costs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let problems = py.import("regretless.problems")?;
    problems.call_method1(function, (model, costs))
}
