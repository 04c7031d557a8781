//! Trained models, from features to costs and decisions.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regretless::ExplainSettings;
use regretless::data::{CostNames, FeatureShape};
use regretless::evaluate::UnpredictedCosts;

use crate::arrays::{ArrayOwnership, array1, array2};
use crate::call_observer::{PyCall, catch_panic, detached, warn};
use crate::columns::{model_features, text_columns};
use crate::error::to_py_err;
use crate::evaluate::EvaluationArgs;
use crate::explain::true_costs;
use crate::keywords::SolveOptions;
use crate::parameters::{ParameterList, row_parameters};
use crate::problem::{Problem, spec_of_description};
use crate::results::to_python;
use crate::solutions::Solutions;

/// A trained model; `regretless.Model` is its class in Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Model")]
#[derive(Clone)]
pub struct Model {
    /// The model.
    pub model: Arc<regretless::predict::CostModel>,
    /// The folder of the file it was read from.
    folder: Option<PathBuf>,
    /// Its own problem, once built.
    own_problem: Arc<OnceLock<Py<Problem>>>,
    /// The sense of its own problem, once known; `None` if that problem cannot be built.
    trained_sense: Arc<OnceLock<Option<regretless::Sense>>>,
}

impl Model {
    /// A model that was not read from a file.
    pub fn new(model: regretless::predict::CostModel) -> Self {
        Self {
            model: Arc::new(model),
            folder: None,
            own_problem: Arc::default(),
            trained_sense: Arc::default(),
        }
    }

    /// The given problem, or the one that the model was trained for.
    fn resolve_problem(
        &self,
        py: Python<'_>,
        problem: Option<&Bound<'_, Problem>>,
    ) -> PyResult<Py<Problem>> {
        if let Some(problem) = problem {
            let trained = self.trained_sense.get_or_init(|| {
                regretless::Problem::trained_sense(&self.model, self.folder.as_deref())
            });
            let given = problem.get();
            regretless::Problem::check_sense(&given.problem, *trained).map_err(to_py_err)?;
            if let Some(note) = self
                .model
                .position_note(&given.spec, given.problem.as_ref())
            {
                given.warn_once_about(py, &note, Some(&self.model.metadata.costs))?;
            }
            return Ok(problem.clone().unbind());
        }
        if let Some(known) = self.own_problem.get() {
            return Ok(known.clone_ref(py));
        }
        let problem = catch_panic(|| {
            regretless::Problem::of_model(&self.model, self.folder.as_deref()).map_err(to_py_err)
        })?;
        let (spec, kind) = (problem.spec().clone(), problem.kind().clone());
        let built = Py::new(py, Problem::from_built(spec, kind))?;
        if self.model.needs_problem_file() {
            return Ok(built);
        }
        Ok(self.own_problem.get_or_init(|| built).clone_ref(py))
    }
}

/// Returns the problem that a model file describes: from the content of its own file, if the model
/// holds it; else that file must exist and not have changed since training.
#[pyfunction]
#[pyo3(name = "_problem_of_model")]
pub fn problem_of_model(
    description: &str,
    file_hash: Option<&str>,
    folder: PathBuf,
    file_content: Option<Vec<u8>>,
) -> PyResult<Problem> {
    let unreadable = |error: String| {
        let message = format!("the model's problem cannot be read: {error}");
        to_py_err(regretless::Error::data(message))
    };
    let problem =
        serde_json::from_str(description).map_err(|error| unreadable(error.to_string()))?;
    // A file of trees holds the description as `Problem.to_dict` returns it.
    let problem = spec_of_description(problem).map_err(|error| unreadable(error.to_string()))?;
    let problem = serde_json::to_value(problem).map_err(|error| unreadable(error.to_string()))?;
    let problem =
        regretless::Problem::of_model_metadata(&problem, file_hash, file_content, Some(&folder))
            .map_err(to_py_err)?;
    Ok(Problem::from_built(
        problem.spec().clone(),
        problem.kind().clone(),
    ))
}

#[pymethods]
impl Model {
    #[new]
    fn copy(model: &Bound<'_, Self>) -> Self {
        model.get().clone()
    }

    /// Whether the training table had texts, dates or gaps.
    #[getter]
    #[pyo3(name = "_has_encoding")]
    fn has_encoding(&self) -> bool {
        self.model.metadata.encoding.is_some()
    }

    /// Which of these columns were texts in training, even if they hold numbers.
    #[pyo3(name = "_text_columns")]
    fn text_columns(&self, names: Vec<String>) -> Vec<String> {
        text_columns(&self.model.reading_options(), names)
    }

    /// The given problem after its checks, or the one that the model was trained for.
    #[pyo3(name = "_problem", signature = (problem=None))]
    fn problem(
        &self,
        py: Python<'_>,
        problem: Option<&Bound<'_, Problem>>,
    ) -> PyResult<Py<Problem>> {
        self.resolve_problem(py, problem)
    }

    /// Predicted costs, float32.
    #[pyo3(name = "_predict")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let table = model_features(X, &self.model)?;
        let costs = detached(py, || self.model.predict(&table))?;
        if let Some(note) = self.model.unobserved_note() {
            warn(py, &note)?;
        }
        let (rows, cols) = (costs.rows(), costs.cols());
        array2(py, costs.into_vec(), rows, cols)
    }

    /// Decisions for predicted costs of rows; the problem is that of `_problem`.
    #[pyo3(name = "_decide")]
    fn decide(
        &self,
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        problem: &Bound<'_, Problem>,
        parameters: Option<ParameterList<'_>>,
        options: SolveOptions,
    ) -> PyResult<Solutions> {
        let problem = problem.get();
        let table = model_features(X, &self.model)?;
        let rows = table.instances();
        let parameters = row_parameters(problem, parameters, rows, ArrayOwnership::Borrow)?;
        let parameters = parameters.map(Arc::new);
        let matching = self
            .model
            .match_problem(problem.problem.as_ref())
            .map_err(to_py_err)?;
        if let Some(warning) = matching.warning() {
            problem.warn_once_about(py, warning, Some(&self.model.metadata.costs))?;
        }
        // A predictor of items without names serves any number of them.
        problem.check_width(match table.shape() {
            FeatureShape::Long { items } => items,
            FeatureShape::Wide => self.model.metadata.costs.len(),
        })?;
        let call = PyCall::new(options.progress);
        let width = problem.problem.num_costs();
        let model_names = Some(&self.model.metadata.costs).filter(|names| !names.are_numbered());
        let names = matching.names().or(model_names).cloned();
        let missing = self.model.missing_predictions();
        let shown_names = names.clone().unwrap_or_else(|| CostNames::numbered(width));
        let (results, is_heuristic, unpredicted) = call.run(py, |observer| {
            let predicted = self.model.predict_matched(&table, &matching)?;
            let oracle = options.oracle(problem, &call, parameters.as_ref())?;
            let costs = oracle.minimized_totals(predicted)?;
            observer.begin("deciding", costs.rows() as u64);
            let results = missing.decide_complete(&oracle, &costs, &shown_names, observer)?;
            observer.end();
            let unpredicted = UnpredictedCosts::of_rows(&costs);
            Ok((results, oracle.is_heuristic(), unpredicted))
        })?;
        if let Some(note) = unpredicted.note(&shown_names) {
            warn(py, &note)?;
        }
        let kind = problem.problem.as_ref();
        Ok(Solutions::new(results, kind, names, is_heuristic))
    }

    /// The explanation of the decision for one row as plain values, and as text; the problem is
    /// that of `_problem`.
    #[pyo3(name = "_explain")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
        alternatives: Option<usize>,
        force: Vec<String>,
        forbid: Vec<String>,
        max_solves: Option<usize>,
        problem: &Bound<'py, Problem>,
        parameters: Option<ParameterList<'py>>,
        options: SolveOptions,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let problem = problem.get();
        let table = model_features(X, &self.model)?;
        let rows = table.instances();
        let parameters = row_parameters(problem, parameters, rows, ArrayOwnership::Borrow)?;
        let parameters = parameters.map(Arc::new);
        let costs = costs.map(|costs| true_costs(problem, &self.model, costs));
        let settings = ExplainSettings {
            alternatives,
            force,
            forbid,
            costs: costs.transpose()?,
            max_solves,
            cost_names: None,
        };
        let call = PyCall::new(false);
        let explanation = call.run(py, |observer| {
            let oracle = options.oracle(problem, &call, parameters.as_ref())?;
            self.model.explain(&table, &oracle, &settings, observer)
        })?;
        let text = regretless_study::explanation::full_text(&explanation, "The row", "");
        Ok((to_python(py, &explanation)?, text))
    }

    /// Write the model to a file.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file (safetensors).
    /// force : bool, default False
    ///     Whether an existing file is replaced.
    ///
    /// Raises
    /// ------
    /// FileExistsError
    ///     If the file exists and `force` is false.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.model.save(&path, force))
    }

    /// Reads a model file.
    #[staticmethod]
    #[pyo3(name = "_load")]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = detached(py, || regretless::predict::CostModel::load(&path))?;
        Ok(Self {
            folder: path.parent().map(PathBuf::from),
            ..Self::new(model)
        })
    }

    /// Return the bytes of the model file.
    ///
    /// Returns
    /// -------
    /// bytes
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(
            py,
            &catch_panic(|| self.model.to_bytes().map_err(to_py_err))?,
        ))
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    #[pyo3(name = "_from_bytes")]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Self::new(catch_panic(|| {
            regretless::predict::CostModel::from_bytes(bytes).map_err(to_py_err)
        })?))
    }

    /// Names of the columns that the features are made of: those of `X` in training.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.model.column_names()
    }

    /// Names of the features, in the order of training. If the training table had texts, dates or
    /// gaps, a column can have several features, such as "shop=north".
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.model.metadata.features.clone()
    }

    /// Names of the costs, in the order they are predicted.
    #[getter]
    fn cost_names(&self) -> Vec<String> {
        self.model.metadata.costs.to_vec()
    }

    /// Name of the method that the model was trained with.
    #[getter]
    fn method(&self) -> String {
        self.model.metadata.method.clone()
    }

    /// Seed of the training.
    #[getter]
    fn seed(&self) -> u64 {
        self.model.metadata.seed
    }

    /// The architecture of the predictor: "linear", or "mlp:64,32" with its hidden layers.
    #[getter]
    fn predictor(&self) -> String {
        self.model.architecture()
    }

    /// Coefficients of a linear predictor, one row per cost and one column per feature (float64),
    /// in units of the original features and costs; one row for a table with features per cost.
    /// None for networks with hidden layers.
    ///
    /// Costs are `coefficients @ features + intercepts`. Rows have the names `cost_names`, columns
    /// `feature_names`.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(rows) = self.model.coefficients() else {
            return Ok(None);
        };
        let (costs, features) = (rows.len(), self.model.metadata.features.len());
        let mut values = Vec::with_capacity(costs * features);
        for row in rows {
            values.extend_from_slice(&row[..features]);
        }
        array2(py, values, costs, features).map(Some)
    }

    /// Intercepts of a linear predictor, one per row of `coefficients`, or None.
    #[getter]
    fn intercepts<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let rows = self.model.coefficients()?;
        let last = rows.iter().filter_map(|row| row.last().copied());
        Some(array1(py, last.collect()))
    }

    /// What the model was trained on and how, as a dict: program version, hash of the data, rows,
    /// split, settings, limits, and the regret found on the validation and test rows. None if the
    /// model does not record it.
    #[getter]
    fn training<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.model.training_record())
    }

    /// Return everything that the model says about itself.
    ///
    /// Returns
    /// -------
    /// dict
    ///     The JSON of `regretless inspect`.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.model.inspection())
    }

    /// The increase of the mean regret in each repeat, one row per feature; the problem is that of
    /// `_problem`.
    #[pyo3(name = "_permutation_importance")]
    fn permutation_importance<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        C: &Bound<'py, PyAny>,
        problem: &Bound<'py, Problem>,
        labels: Option<&Bound<'py, PyAny>>,
        parameters: Option<ParameterList<'py>>,
        repeats: usize,
        seed: u32,
        options: SolveOptions,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let args = EvaluationArgs::new(problem, labels, parameters, options)?;
        let found = args.permutation_importance(&self.model, X, C, repeats, u64::from(seed))?;
        array2(
            py,
            found.concat(),
            self.model.metadata.features.len(),
            repeats,
        )
    }

    fn __repr__(&self) -> String {
        let metadata = &self.model.metadata;
        format!(
            "<regretless.Model {}: {} features, {} costs>",
            metadata.method,
            metadata.features.len(),
            metadata.costs.len()
        )
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| other.get().model == self.model)
    }
}
