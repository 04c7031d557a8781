//! Trained models, from features to costs and decisions.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use regretless::ExplainSettings;
use regretless::data::{CostNames, FeatureShape};
use regretless::evaluate::UnpredictedCosts;

use crate::arrays::{ArrayOwnership, array1, array2};
use crate::call_observer::{PyCall, catch_panic, detached, warn};
use crate::columns::model_features;
use crate::error::to_py_err;
use crate::evaluate::EvaluationArgs;
use crate::explain::{choice_names, one_row, true_costs};
use crate::frames::{FrameTemplate, column_names_or_numbers, table_like};
use crate::keywords::{refuse_unknown, search_limits};
use crate::label::Labels;
use crate::parameters::{ParameterArgs, one_row_parameters};
use crate::problem::{Problem, spec_of_description};
use crate::results::to_python;
use crate::solutions::Solutions;

/// A trained model: predicts costs from features and decides.
///
/// `train` returns models, `Model.load` reads them; the command line uses the same files.
#[pyclass(frozen, module = "regretless")]
pub struct Model {
    /// The model.
    pub model: regretless::predict::CostModel,
    /// The folder of the file it was read from.
    folder: Option<PathBuf>,
    /// Its own problem, once built.
    own_problem: OnceLock<Py<Problem>>,
    /// The sense of its own problem, once known; `None` if that problem cannot be built.
    trained_sense: OnceLock<Option<regretless::Sense>>,
}

impl Model {
    /// A model that was not read from a file.
    pub fn new(model: regretless::predict::CostModel) -> Self {
        Self {
            model,
            folder: None,
            own_problem: OnceLock::new(),
            trained_sense: OnceLock::new(),
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
    /// Predict costs.
    ///
    /// Parameters
    /// ----------
    /// X : array_like or DataFrame of shape (n, p)
    ///     Features. Columns of a DataFrame are found by the names of training, and other columns
    ///     are ignored; a name that only the index has is read from the index. Values of texts that
    ///     no training row has are counted in a warning.
    ///
    /// Returns
    /// -------
    /// ndarray or DataFrame of shape (n, d)
    ///     float32; a DataFrame where `X` is one, with its index and the cost names. NaN, with a
    ///     warning, for a cost that no training row has.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other features than those of training.
    fn predict(&self, py: Python<'_>, X: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let table = model_features(X, &self.model)?;
        let costs = detached(py, || self.model.predict(&table))?;
        if let Some(note) = self.model.unobserved_note() {
            warn(py, &note)?;
        }
        let (rows, cols) = (costs.rows(), costs.cols());
        let frame = FrameTemplate::of(X, self.cost_names())?;
        table_like(frame.as_ref(), array2(py, costs.into_vec(), rows, cols)?)
    }

    /// Predict costs and solve the problem for each row.
    ///
    /// Parameters
    /// ----------
    /// X : array_like or DataFrame of shape (n, p)
    ///     Features.
    /// problem : Problem, optional
    ///     Another problem than that of training; the model's costs are matched to it by name. The
    ///     model holds the problem it was trained for, also one that was read from a file.
    /// parameters : mapping, DataFrame or list of str, optional
    ///     Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`; by
    ///     default the columns of `X` that the problem reads.
    /// threads, progress, heuristic, gap, nodes, seconds : optional
    ///     As in `Problem.solve_all`.
    ///
    /// Returns
    /// -------
    /// Solutions
    ///     One decision per row; `decisions` and `values` are DataFrames where `X` is one, and
    ///     `to_frame` is the table that `regretless decide` writes. What a cost belongs to that no
    ///     training row has is left out, with a warning; a row that needs it has no decision.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the problem is a Python function and not given, or its costs do not match.
    ///
    /// Examples
    /// --------
    /// >>> decisions = model.decide(X_new).decisions
    #[pyo3(
        signature = (
            X, *, problem=None, parameters=None, threads=None, progress=false, heuristic=None,
            gap=None, nodes=None, seconds=None, **unknown
        ),
        text_signature = "($self, X, *, problem=None, parameters=None, threads=None, \
            progress=False, heuristic=None, gap=None, nodes=None, seconds=None)"
    )]
    fn decide(
        &self,
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        problem: Option<&Bound<'_, Problem>>,
        parameters: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Solutions> {
        refuse_unknown("Model.decide", unknown)?;
        let limits = search_limits(gap, nodes, seconds)?;
        let problem = self.resolve_problem(py, problem)?;
        let problem = problem.get();
        let table = model_features(X, &self.model)?;
        let parameters = ParameterArgs::of_features(parameters, X)
            .read(problem, table.instances(), ArrayOwnership::Borrow)?
            .map(Arc::new);
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
        let call = PyCall::new(progress);
        let width = problem.problem.num_costs();
        let model_names = Some(&self.model.metadata.costs).filter(|names| !names.are_numbered());
        let names = matching.names().or(model_names).cloned();
        let missing = self.model.missing_predictions();
        let shown_names = names.clone().unwrap_or_else(|| CostNames::numbered(width));
        let (results, is_heuristic, unpredicted) = call.run(py, |observer| {
            let predicted = self.model.predict_matched(&table, &matching)?;
            let oracle = problem.oracle(&call, threads, heuristic, limits, parameters.as_ref())?;
            let costs = problem.minimized_costs(&oracle, predicted)?;
            observer.begin("deciding", costs.rows() as u64);
            let results = missing.decide_complete(&oracle, &costs, &shown_names, observer)?;
            observer.end();
            let unpredicted = UnpredictedCosts::of_rows(&costs);
            Ok((results, oracle.is_heuristic(), unpredicted))
        })?;
        if let Some(note) = unpredicted.note(&shown_names) {
            warn(py, &note)?;
        }
        let frame = FrameTemplate::of(X, column_names_or_numbers(names.as_ref(), width))?;
        let kind = problem.problem.as_ref();
        Ok(Solutions::new(results, kind, names, is_heuristic).with_frame(frame))
    }

    /// Explain the decision for one row.
    ///
    /// Parameters
    /// ----------
    /// X : array_like, Series or DataFrame of shape (p,) or (1, p)
    ///     Features of the row.
    /// costs : array_like, Series or DataFrame of shape (d,) or (1, d), optional
    ///     True costs of the row, once they are known: the regret is then split over the costs.
    /// alternatives : int, optional
    ///     Number of the best other decisions to list; 3 by default, where decisions are binary or
    ///     have integer columns.
    /// force, forbid : str or list of str, optional
    ///     Names of costs whose choice is forced or forbidden, one at a time: the result says what
    ///     it costs. In a linear problem also columns of known cost, such as set-ups; forbidden
    ///     quantities are 0.
    /// max_solves : int, optional
    ///     Maximum number of solves of each part (cost ranges, other decisions, features); by
    ///     default 250, or as many as take about a minute. A choice that the costs fix may take a
    ///     few, which count as one.
    /// problem : Problem, optional
    ///     Another problem than that of training.
    /// parameters : mapping, DataFrame or list of str, optional
    ///     Parameters of the row, as in `decide`; numbers by name are enough.
    /// threads, heuristic, gap, nodes, seconds : optional
    ///     As in `Problem.solve_all`.
    ///
    /// Returns
    /// -------
    /// Explanation
    ///     How far each predicted cost may move, the best other decisions and their prices, what
    ///     forced and forbidden choices cost, where the regret comes from, and which features moved
    ///     the predictions.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an unknown name, several rows, true costs that are missing, or a list or a choice
    ///     where decisions are not binary.
    ///
    /// Notes
    /// -----
    /// Prices, ranges and objectives are under the predicted costs; the regret is under the true
    /// ones. The same numbers as `regretless explain`.
    ///
    /// Examples
    /// --------
    /// >>> explanation = model.explain(X[0], costs=C[0], force="c1")
    /// >>> explanation.alternatives.decisions[0].price
    #[pyo3(
        signature = (
            X, *, costs=None, alternatives=None, force=None, forbid=None, max_solves=None,
            problem=None, parameters=None, threads=None, heuristic=None, gap=None, nodes=None,
            seconds=None, **unknown
        ),
        text_signature = "($self, X, *, costs=None, alternatives=None, force=None, forbid=None, \
            max_solves=None, problem=None, parameters=None, threads=None, heuristic=None, \
            gap=None, nodes=None, seconds=None)"
    )]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        costs: Option<&Bound<'py, PyAny>>,
        alternatives: Option<usize>,
        force: Option<&Bound<'py, PyAny>>,
        forbid: Option<&Bound<'py, PyAny>>,
        max_solves: Option<usize>,
        problem: Option<&Bound<'py, Problem>>,
        parameters: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        refuse_unknown("Model.explain", unknown)?;
        let limits = search_limits(gap, nodes, seconds)?;
        let problem = self.resolve_problem(py, problem)?;
        let problem = problem.get();
        let row = one_row(X)?;
        let table = model_features(&row, &self.model)?;
        let parameters = one_row_parameters(parameters)?;
        let parameters = ParameterArgs::of_features(parameters.as_ref(), &row)
            .read(problem, table.instances(), ArrayOwnership::Borrow)?
            .map(Arc::new);
        let costs = costs.map(|costs| true_costs(problem, &self.model, costs));
        let settings = ExplainSettings {
            alternatives,
            force: choice_names(force)?,
            forbid: choice_names(forbid)?,
            costs: costs.transpose()?,
            max_solves,
        };
        let call = PyCall::new(false);
        let explanation = call.run(py, |observer| {
            let oracle = problem.oracle(&call, threads, heuristic, limits, parameters.as_ref())?;
            self.model.explain(&table, &oracle, &settings, observer)
        })?;
        let module = py.import("regretless._explanation")?;
        let text = regretless_study::explanation::full_text(&explanation, "The row", "");
        module.call_method1("with_text", (to_python(py, &explanation)?, text))
    }

    /// Evaluate the model by the decisions that follow from its predictions.
    ///
    /// Parameters
    /// ----------
    /// X : array_like or DataFrame of shape (n, p)
    ///     Features.
    /// C : array_like or DataFrame of shape (n, d)
    ///     True costs.
    /// problem : Problem, optional
    ///     Another problem than that of training.
    /// labels : Labels, optional
    ///     Optimal decisions under the true costs; solved here by default.
    /// parameters : mapping, DataFrame or list of str, optional
    ///     Parameters of the rows, as in `decide`.
    /// threads, progress, heuristic, gap, nodes, seconds : optional
    ///     As in `Problem.solve_all`.
    ///
    /// Returns
    /// -------
    /// Evaluation
    ///     As the function `evaluate` returns it.
    ///
    /// Examples
    /// --------
    /// >>> model.evaluate(X_test, C_test).normalized_regret
    #[pyo3(signature = (
        X, C, *, problem=None, labels=None, parameters=None, threads=None, progress=false,
        heuristic=None, gap=None, nodes=None, seconds=None
    ))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        C: &Bound<'py, PyAny>,
        problem: Option<&Bound<'py, Problem>>,
        labels: Option<&Bound<'py, Labels>>,
        parameters: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = self.resolve_problem(py, problem)?;
        let args = EvaluationArgs {
            problem: problem.get(),
            labels,
            parameters,
            threads,
            progress,
            heuristic,
            limits: search_limits(gap, nodes, seconds)?,
        };
        args.evaluate_model(&self.model, X, C)?.object(py)
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
    ///     Where the file exists and `force` is false.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.model.save(&path, force))
    }

    /// Read a model from a file.
    ///
    /// Nothing in the file is executed, and damage is detected by a checksum.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     A file that `save` or the command line wrote.
    ///
    /// Returns
    /// -------
    /// Model
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Where the file is damaged or of another kind.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        let model = detached(class.py(), || regretless::predict::CostModel::load(&path))?;
        Ok(Self {
            model,
            folder: path.parent().map(PathBuf::from),
            own_problem: OnceLock::new(),
            trained_sense: OnceLock::new(),
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

    /// Read a model from the bytes of a model file.
    ///
    /// Parameters
    /// ----------
    /// bytes : bytes
    ///     What `to_bytes` returned.
    ///
    /// Returns
    /// -------
    /// Model
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Self::new(catch_panic(|| {
            regretless::predict::CostModel::from_bytes(bytes).map_err(to_py_err)
        })?))
    }

    /// Names of the columns that the features are made of: those of `X` in training.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.model.column_names()
    }

    /// Names of the features, in the order of training. Where the training table had texts, dates
    /// or gaps, a column can have several features, such as "shop=north".
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

    /// The problem that the model was trained for.
    ///
    /// Raises ValueError where it is a Python function, which no model holds.
    #[getter]
    fn problem(&self, py: Python<'_>) -> PyResult<Py<Problem>> {
        self.resolve_problem(py, None)
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
    /// split, settings, limits, and the regret found on the validation and test rows. None where
    /// the model does not record it.
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

    /// Measure the importance of each feature by the regret that follows when it is shuffled.
    ///
    /// Parameters
    /// ----------
    /// X : array_like or DataFrame of shape (n, p)
    ///     Features, best of rows that the model was not trained on.
    /// C : array_like or DataFrame of shape (n, d)
    ///     True costs.
    /// problem : Problem, optional
    ///     Another problem than that of training.
    /// labels : Labels, optional
    ///     Optimal decisions under the true costs; solved here by default.
    /// parameters : mapping, DataFrame or list of str, optional
    ///     Parameters of the rows, as in `decide`.
    /// repeats : int, default 5
    ///     Shuffles of each feature.
    /// seed : int, default 0
    ///     Seed of the shuffles.
    /// threads, progress, heuristic, gap, nodes, seconds : optional
    ///     As in `Problem.solve_all`.
    ///
    /// Returns
    /// -------
    /// DataFrame or dict of ndarray
    ///     `regret_increase`, the mean over the repeats of the increase of the mean regret, and its
    ///     `deviation`, one entry per feature. A DataFrame with the names of the features as its
    ///     index (pandas) or in a column `feature` (polars) where `X` is one, else a dict of
    ///     arrays with `feature`.
    ///
    /// Notes
    /// -----
    /// Solves every row once per feature and repeat. The same numbers as `regretless inspect
    /// MODEL --data TABLE`.
    ///
    /// Examples
    /// --------
    /// >>> model.permutation_importance(X_test, C_test)
    #[pyo3(signature = (
        X, C, *, problem=None, labels=None, parameters=None, repeats=5, seed=0, threads=None,
        progress=false, heuristic=None, gap=None, nodes=None, seconds=None
    ))]
    fn permutation_importance<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        C: &Bound<'py, PyAny>,
        problem: Option<&Bound<'py, Problem>>,
        labels: Option<&Bound<'py, Labels>>,
        parameters: Option<&Bound<'py, PyAny>>,
        repeats: usize,
        seed: u32,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
        gap: Option<f64>,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = self.resolve_problem(py, problem)?;
        let args = EvaluationArgs {
            problem: problem.get(),
            labels,
            parameters,
            threads,
            progress,
            heuristic,
            limits: search_limits(gap, nodes, seconds)?,
        };
        let found = args.permutation_importance(&self.model, X, C, repeats, u64::from(seed))?;
        let frames = py.import("regretless._frames")?;
        let names = self.model.metadata.features.clone();
        let values = array2(py, found.concat(), names.len(), repeats)?;
        frames.call_method1("importance_table", (X, names, values))
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        (rebuild, (self.to_bytes(py)?,)).into_pyobject(py)
    }
}
