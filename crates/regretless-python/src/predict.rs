//! Models: features in, predicted costs out.

use std::path::PathBuf;

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use regretless::evaluate::match_model;
use regretless::problem::ModelProblem;

use crate::arrays::{features, rectangle};
use crate::call_observer::{PyCall, catch_panic, detached};
use crate::error::to_py_err;
use crate::oracle::Solutions;
use crate::problem::Problem;

/// A trained model. Its file is the same that the command line writes and reads.
#[pyclass(frozen, module = "regretless")]
pub struct Model {
    /// The model.
    pub model: regretless::predict::CostModel,
    /// The folder of its file, if it was read from one.
    folder: Option<PathBuf>,
}

impl Model {
    /// A model that comes from no file.
    pub fn new(model: regretless::predict::CostModel) -> Self {
        Self {
            model,
            folder: None,
        }
    }

    /// The problem given, or else the one the model was trained for.
    fn problem(&self, py: Python<'_>, given: Option<&Bound<'_, Problem>>) -> PyResult<Py<Problem>> {
        if let Some(problem) = given {
            return Ok(problem.clone().unbind());
        }
        let about = &self.model.about;
        let written = ModelProblem {
            problem: &about.problem,
            file_hash: about.problem_file_hash.as_deref(),
            folder: self.folder.as_deref(),
        };
        let (spec, problem) = written.build().map_err(to_py_err)?;
        Py::new(py, Problem::from_built(spec, problem))
    }
}

/// The problem that a file of a model describes; the model file it names must be what it was at
/// training.
#[pyfunction]
#[pyo3(name = "_problem_of_model")]
pub fn problem_of_model(
    description: &str,
    file_hash: Option<&str>,
    folder: PathBuf,
) -> PyResult<Problem> {
    let problem = serde_json::from_str(description).map_err(|error| {
        to_py_err(regretless::Error::data(format!(
            "the model's problem cannot be read: {error}"
        )))
    })?;
    let (spec, problem) = ModelProblem {
        problem: &problem,
        file_hash,
        folder: Some(&folder),
    }
    .build()
    .map_err(to_py_err)?;
    Ok(Problem::from_built(spec, problem))
}

#[pymethods]
impl Model {
    /// Predicted costs, one row per row of X (float32), in the user's sense.
    ///
    /// A table with column names must have the names the model was trained on, in their order.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let table = features(X, None, Some(&self.model.about.features))?;
        let costs = detached(py, || self.model.predict(&table))?;
        let shape = [costs.rows(), costs.cols()];
        rectangle(py, costs.into_vec(), shape)
    }

    /// Predicts and decides: Solutions with one decision per row of X.
    ///
    /// problem: what is decided, if not the problem the model was trained for; the model's costs
    /// are matched to it by name. A problem that was read from a model file (.mps, .lp) is read
    /// again, and must not have changed since training.
    #[pyo3(signature = (X, problem=None, *, threads=None, progress=false, heuristic=None))]
    fn decide(
        &self,
        py: Python<'_>,
        X: &Bound<'_, PyAny>,
        problem: Option<&Bound<'_, Problem>>,
        threads: Option<usize>,
        progress: bool,
        heuristic: Option<&str>,
    ) -> PyResult<Solutions> {
        let problem = self.problem(py, problem)?;
        let problem = problem.get();
        let table = features(X, None, Some(&self.model.about.features))?;
        let sense = problem.problem.sense();
        let matching = match_model(&self.model, problem.problem.as_ref()).map_err(to_py_err)?;
        if let Some(notice) = matching.notice() {
            problem.warn_once(py, notice)?;
        }
        problem.check_width(self.model.about.costs.len())?;
        let call = PyCall::new(progress);
        let answers = call.run(py, |observer| {
            let mut costs = self.model.predict_matched(&table, &matching)?;
            sense.convert_matrix(&mut costs)?;
            let oracle = problem.oracle(&call, threads, heuristic)?;
            observer.begin("deciding", costs.rows() as u64);
            let answers = oracle.solve_all(&costs, observer)?;
            observer.end();
            Ok(answers)
        })?;
        let own = Some(&self.model.about.costs).filter(|names| !names.are_numbered());
        let names = matching.names().or(own).cloned();
        Ok(Solutions::new(answers, sense, problem.problem.num_costs()).with_cost_names(names))
    }

    /// Writes the model file; refuses to replace a file unless force.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        detached(py, || self.model.save(&path, force))
    }

    /// Reads a model file; nothing in it is executed, and every damage is noticed.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: PathBuf) -> PyResult<Self> {
        let model = detached(class.py(), || regretless::predict::CostModel::load(&path))?;
        Ok(Self {
            model,
            folder: path.parent().map(PathBuf::from),
        })
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(
            py,
            &catch_panic(|| self.model.to_bytes().map_err(to_py_err))?,
        ))
    }

    /// The model in the bytes of a model file.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Self::new(catch_panic(|| {
            regretless::predict::CostModel::from_bytes(bytes).map_err(to_py_err)
        })?))
    }

    /// Names of the features, in the order the model expects them.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.model.about.features.clone()
    }

    /// Names of the costs, in the order they are predicted.
    #[getter]
    fn cost_names(&self) -> Vec<String> {
        self.model.about.costs.to_vec()
    }

    /// The label of the loss it was trained with.
    #[getter]
    fn loss(&self) -> String {
        self.model.about.loss.clone()
    }

    /// The seed of the training.
    #[getter]
    fn seed(&self) -> u64 {
        self.model.about.seed
    }

    fn __repr__(&self) -> String {
        let about = &self.model.about;
        format!(
            "<regretless.Model {}: {} features, {} costs>",
            about.loss,
            about.features.len(),
            about.costs.len()
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
