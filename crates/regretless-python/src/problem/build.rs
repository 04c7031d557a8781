//! Construction of problems from names, files, arrays, functions and models of other libraries.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::CostNames;
use regretless::problem::{
    CostColumns, ExternalProblem, FileProblem, LinearArrays, LinearColumn, ProblemKind,
    ProblemSpec, ReadOptions, Sense,
};

use super::Problem;
use crate::arrays::{row_numbers, vector};
use crate::call_observer::catch_panic;
use crate::error::to_py_err;
use crate::function_problem::FunctionProblem;
use crate::keywords::keyword;
use crate::known_part::KnownPart;
use crate::linear;
use crate::results::to_python;
use crate::solver_function::SolverFunction;

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
            spec: Arc::new(spec),
            problem,
            function: None,
            costs: None,
            is_benchmark: false,
            warned: Arc::default(),
        }
    }

    /// The problem that a function solves.
    pub(super) fn from_function(function: SolverFunction) -> Self {
        let function = Arc::new(function);
        let problem = FunctionProblem::new(&function, None, None);
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

    /// The problem of a function with these known costs, in the words of problem files.
    pub(super) fn with_known_costs(&self, known: &Bound<'_, PyAny>) -> PyResult<Self> {
        let function = self.function.as_ref();
        let function =
            function.ok_or_else(|| PyValueError::new_err("the problem is no function"))?;
        let text = crate::train::json_text(known, "known")?;
        let part = serde_json::from_str(&text)
            .map_err(|error| PyValueError::new_err(format!("known: {error}")))?;
        let part = KnownPart::new(part, &function.problem)?;
        Ok(Self::from_function(function.with_known(known.py(), part)))
    }
}

/// The description of a problem, as `Problem` takes it: that of a problem file.
pub(super) fn description_of<'py>(
    py: Python<'py>,
    spec: &ProblemSpec,
) -> PyResult<Bound<'py, PyAny>> {
    match spec {
        ProblemSpec::Parametric { template } => to_python(py, template),
        spec => to_python(py, spec),
    }
}

/// The specification of a problem's description.
pub fn spec_of_description(description: serde_json::Value) -> regretless::Result<ProblemSpec> {
    let kind = description.get("kind").and_then(serde_json::Value::as_str);
    if kind == Some("parametric") {
        return serde_json::from_value(description)
            .map_err(|error| regretless::Error::setting(error.to_string()));
    }
    ProblemSpec::from_json(description)
}

pub(super) fn spec_of_dict(description: &Bound<'_, PyAny>) -> PyResult<ProblemSpec> {
    let text = crate::train::json_text(description, "the problem")?;
    let wrong = |message: String| PyValueError::new_err(format!("the problem: {message}"));
    let description = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    spec_of_description(description).map_err(|error| wrong(error.to_string()))
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

/// "minimize" or "maximize".
pub fn sense_word(sense: Sense) -> &'static str {
    match sense {
        Sense::Minimize => "minimize",
        Sense::Maximize => "maximize",
    }
}

/// How a model file is read: keywords of `Problem.from_file`.
pub(super) struct ModelFileOptions(pub(super) ReadOptions);

impl<'py> FromPyObject<'_, 'py> for ModelFileOptions {
    type Error = PyErr;

    fn extract(options: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options = options.to_owned();
        let file_format: Option<String> = keyword(&options, "file_format")?;
        let costs: Option<Vec<String>> = keyword(&options, "costs")?;
        let sense: Option<String> = keyword(&options, "sense")?;
        Ok(Self(ReadOptions {
            file_format: file_format
                .map(|name| name.parse())
                .transpose()
                .map_err(to_py_err)?,
            problem_number: Some(keyword(&options, "problem_number")?),
            vehicles: keyword(&options, "vehicles")?,
            single_customer_routes: keyword(&options, "single_customer_routes")?,
            costs: costs.map_or(CostColumns::All, CostColumns::Named),
            sense: sense.map(|word| parse_sense(&word)).transpose()?,
        }))
    }
}

/// One problem of a model file, with its costs.
pub(super) fn read_model_file(path: &Path, options: &ReadOptions) -> PyResult<FileProblem> {
    let mut problems = catch_panic(|| FileProblem::read(path, options).map_err(to_py_err))?;
    problems
        .pop()
        .ok_or_else(|| PyValueError::new_err(format!("{}: no problem", path.display())))
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
    /// The linear problem.
    pub(super) fn build(
        &self,
        name: &str,
        sense: Sense,
        names: Option<Vec<Option<String>>>,
    ) -> PyResult<LinearArrays> {
        let (entries, count) = linear::row_entries(self.matrix)?;
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

/// Positions of numbers that come from columns, and the names of these.
pub(super) type ColumnList = Vec<(usize, String)>;

/// The numbers of a linear problem from arrays that come from columns.
pub(super) struct ArrayColumns {
    pub(super) right_sides: ColumnList,
    pub(super) lower: ColumnList,
    pub(super) upper: ColumnList,
}

impl ArrayColumns {
    /// The specification of the problem with these references.
    pub(super) fn spec(self, problem: LinearArrays) -> PyResult<ProblemSpec> {
        let spec = ProblemSpec::LinearArrays(problem);
        if self.right_sides.is_empty() && self.lower.is_empty() && self.upper.is_empty() {
            return Ok(spec);
        }
        let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        let mut template = serde_json::to_value(&spec).map_err(wrong)?;
        for (row, name) in self.right_sides {
            let reference = serde_json::json!({ "column": name });
            for bound in ["lower", "upper"] {
                let entry = &mut template["rows"][row][bound];
                // The placeholder is where the relation bounds the row.
                if entry.is_number() {
                    *entry = reference.clone();
                }
            }
        }
        for (bound, references) in [("lower", self.lower), ("upper", self.upper)] {
            for (column, name) in references {
                template["columns"][column][bound] = serde_json::json!({ "column": name });
            }
        }
        ProblemSpec::from_json(template).map_err(to_py_err)
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
