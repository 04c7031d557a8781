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
use crate::function_problem::{FunctionProblem, KnownPart, SolverFunction};
use crate::linear;
use crate::names::column_names;
use crate::results::to_python;

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

    /// Reads one problem of a published file, with its costs.
    ///
    /// `changes` replace what the file of a linear model says, for all rows or per row.
    pub(super) fn from_published_file(
        path: &Path,
        options: &ReadOptions,
        changes: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut problems = catch_panic(|| FileProblem::read(path, options).map_err(to_py_err))?;
        let problem = problems
            .pop()
            .ok_or_else(|| PyValueError::new_err(format!("{}: no problem", path.display())))?;
        let mut spec = problem.spec;
        if let Some(name) = changes.keys().iter().next() {
            if !matches!(spec, ProblemSpec::Linear(_)) {
                return Err(PyValueError::new_err(format!(
                    "{name} changes a linear model (.mps, .lp), and {} is none",
                    path.display()
                )));
            }
            let description = to_python(changes.py(), &spec)?;
            let module = changes.py().import("regretless.tables.parameters")?;
            let changed = module.call_method1("with_fields", (description, changes))?;
            spec = spec_of_dict(&changed)?;
        }
        Ok(Self {
            costs: Some(problem.costs),
            ..Self::from_spec(spec)?
        })
    }

    /// A problem of a kind from the fields of a problem file: numbers, arrays and references to
    /// columns; fields that are `None` are left out.
    pub(super) fn from_fields<'py>(
        py: Python<'py>,
        kind: &str,
        fields: &[(&str, Option<Bound<'py, PyAny>>)],
    ) -> PyResult<Self> {
        let table = PyDict::new(py);
        for (name, value) in fields {
            table.set_item(name, value)?;
        }
        let module = py.import("regretless.tables.parameters")?;
        let description = module.call_method1("describe", (kind, table))?;
        Self::from_spec(spec_of_dict(&description)?)
    }

    /// The same problem with a known part of the costs.
    pub(super) fn with_known_costs(&self, known: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = known.py();
        let module = py.import("regretless.tables.parameters")?;
        let known = module.call_method1("known_costs", (known,))?;
        if let Some(function) = &self.function {
            let text = crate::train::json_text(&known, "known")?;
            let known = serde_json::from_str(&text)
                .map_err(|error| PyValueError::new_err(format!("known: {error}")))?;
            let known = KnownPart::new(known, &function.problem)?;
            return Ok(Self::from_function(function.with_known(py, known)));
        }
        let fields = PyDict::new(py);
        fields.set_item("known", known)?;
        let description = description_of(py, &self.spec)?;
        let changed = module.call_method1("with_fields", (description, fields))?;
        Ok(Self {
            costs: self.costs.clone(),
            ..Self::from_spec(spec_of_dict(&changed)?)?
        })
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

fn spec_of_dict(description: &Bound<'_, PyAny>) -> PyResult<ProblemSpec> {
    let text = crate::train::json_text(description, "the problem")?;
    let wrong = |message: String| PyValueError::new_err(format!("the problem: {message}"));
    let description = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    spec_of_description(description).map_err(|error| wrong(error.to_string()))
}

/// An objective sense as problem files write it, from how a user writes it.
pub(super) fn sense_field<'py>(py: Python<'py>, sense: &str) -> PyResult<Bound<'py, PyAny>> {
    let sense = parse_sense(sense)?;
    Ok(PyString::new(py, sense_word(sense)).into_any())
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

/// The specification of a benchmark's name or of a dict.
pub(super) fn parse_description(
    description: &Bound<'_, PyAny>,
    seed: u32,
) -> PyResult<ProblemSpec> {
    if let Ok(table) = description.cast::<PyDict>() {
        let module = table.py().import("regretless.tables.parameters")?;
        return spec_of_dict(&module.call_method1("as_plain", (table,))?);
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

/// A list of numbers and references to columns.
pub(super) struct ColumnEntries<'py> {
    /// The numbers, with 0 in the place of references.
    pub(super) numbers: Bound<'py, PyAny>,
    /// References by their position, as problem files write them.
    pub(super) columns: Vec<(usize, serde_json::Value)>,
}

impl<'py> ColumnEntries<'py> {
    /// Takes the references out of a list.
    pub(super) fn split(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let module = value.py().import("regretless.tables.parameters")?;
        let found = module.call_method1("split_references", (value,))?;
        let (numbers, names): (Bound<'py, PyAny>, Vec<(usize, String)>) = found.extract()?;
        let reference = |(position, name)| (position, serde_json::json!({ "column": name }));
        Ok(Self {
            numbers,
            columns: names.into_iter().map(reference).collect(),
        })
    }
}

/// The numbers of a linear problem from arrays that come from columns.
pub(super) struct ArrayColumns {
    pub(super) right_sides: Vec<(usize, serde_json::Value)>,
    pub(super) lower: Vec<(usize, serde_json::Value)>,
    pub(super) upper: Vec<(usize, serde_json::Value)>,
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
        for (row, reference) in self.right_sides {
            for bound in ["lower", "upper"] {
                let entry = &mut template["rows"][row][bound];
                // The placeholder is where the relation bounds the row.
                if entry.is_number() {
                    *entry = reference.clone();
                }
            }
        }
        for (bound, references) in [("lower", self.lower), ("upper", self.upper)] {
            for (column, reference) in references {
                template["columns"][column][bound] = reference;
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
