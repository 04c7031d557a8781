//! Losses: value and gradient of predictions.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::data::Matrix;
use regretless::label::Labelled;
use regretless::loss::{Draw, Query, Weighting};
use regretless::oracle::{Answering, Asker, Occasion, Oracle, Pool};
use regretless::train::Method;
use regretless::watch::Watch;
use regretless::{Error, Result};

use crate::arrays::{Keep, finite_matrix, rectangle, row, row_numbers};
use crate::error::raise;
use crate::label::{Labels, costs_only, with_labels};
use crate::problem::Problem;

/// A loss on a table of costs: how wrong predictions are, and in which direction to change them.
///
/// * `loss`: every label that `train` takes for one method, such as "MAE(O,S)", "SPO+", "PFYL(samples=4)",
///   "SPO+ relax", "MAP cache 5%".
/// * `problem`: what is decided.
/// * `C`: true costs, one row per instance.
/// * `labels`: their best decisions; found now unless given.
/// * `seed`: of the noise that perturbed losses draw.
///
/// Components that weight instances by the regret of a trained baseline (C, W, IC, EIC) belong to `train`.
#[pyclass(frozen, module = "regretless")]
pub struct Loss {
    method: Method,
    loss: Box<dyn regretless::loss::Loss>,
    data: Arc<Labelled>,
    oracle: Oracle,
    problem: Py<Problem>,
    seed: u64,
    /// Decisions known so far, where the method keeps them.
    pool: Mutex<Option<Pool>>,
}

/// Value and gradient of one row.
struct Slot {
    value: Result<f64>,
    gradient: Vec<f64>,
    found: Vec<regretless::Decision>,
}

/// Where in a training predictions come from.
#[derive(Clone, Copy)]
struct Moment {
    epoch: usize,
    batch: usize,
    training: bool,
}

#[pymethods]
impl Loss {
    #[new]
    #[pyo3(signature = (loss, problem, C, *, labels=None, seed=0, threads=None, progress=false))]
    fn new(
        py: Python<'_>,
        loss: &str,
        problem: &Bound<'_, Problem>,
        C: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, Labels>>,
        seed: u64,
        threads: Option<usize>,
        progress: bool,
    ) -> PyResult<Self> {
        let method: Method = loss.parse().map_err(raise)?;
        single(&method).map_err(raise)?;
        let kept = problem;
        let problem = kept.get();
        let oracle = problem.oracle(threads, None).map_err(raise)?;
        let data = costs_only(C, Keep::Copied)?;
        let data = with_labels(py, (problem, &oracle), data, labels, progress)?;
        let (data, loss, pool) = problem.call(progress).run(py, |watch| {
            let rows = data.rows();
            let other = method.labels.apply(&data, &rows, &method.stage_label(), (&oracle, watch))?;
            let data = other.map_or(data, Arc::new);
            let loss = method.loss.build(&data, &oracle, watch)?;
            let best = rows.iter().map(|row| data.best(*row));
            let pool = Answering::new(&oracle, method.oracle, (loss_label(&method).as_str(), seed))?
                .knowing(best, loss.compares())
                .pool()
                .cloned();
            Ok((data, loss, pool))
        })?;
        Ok(Self { method, loss, data, oracle, problem: kept.clone().unbind(), seed, pool: Mutex::new(pool) })
    }

    /// The loss of each row of predictions and its gradient with respect to the predicted costs.
    ///
    /// * `predictions`: one row per instance, in the user's sense.
    /// * `rows`: which rows of C they belong to, all in order unless given.
    /// * `epoch`: perturbed losses draw other noise in every epoch.
    /// * `batch`: with a cache, another coin for every batch of an epoch.
    /// * `training`: whether decisions found now join the pool of methods that keep one.
    ///
    /// Returns (values, gradients): float64 of shape (n,), and an array like the predictions.
    #[pyo3(signature = (predictions, rows=None, *, epoch=0, batch=0, training=false))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        predictions: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
        epoch: usize,
        batch: usize,
        training: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let double = predictions.cast::<numpy::PyArray2<f64>>().is_ok();
        let wanted = Numbers::read(predictions, double)?;
        let rows = rows.map(|rows| row_numbers(rows, "rows")).transpose()?;
        let rows = self.rows(rows, wanted.rows)?;
        if wanted.cols != self.data.data().costs().cols() {
            let right = self.data.data().costs().cols();
            return Err(PyValueError::new_err(format!(
                "{} costs are predicted per row and there are {right}",
                wanted.cols
            )));
        }
        let moment = Moment { epoch, batch, training };
        let work = |watch: &dyn Watch| self.judge(&wanted, &rows, moment, watch);
        let problem = self.problem.get();
        let slots = if self.method.loss.asks() {
            problem.call(false).run(py, work)?
        } else {
            py.detach(|| work(&regretless::watch::Silent)).map_err(raise)?
        };
        let sign = self.data.sense().sign();
        let values = slots.iter().map(|slot| slot.value.as_ref().map_or(f64::NAN, |value| *value)).collect();
        let entries = slots.iter().flat_map(|slot| &slot.gradient).map(|entry| sign * entry);
        let shape = [wanted.rows, wanted.cols];
        let gradients = if double {
            rectangle(py, entries.collect::<Vec<f64>>(), shape)?.into_any()
        } else {
            rectangle(py, entries.map(|entry| entry as f32).collect::<Vec<f32>>(), shape)?.into_any()
        };
        (row(py, values), gradients).into_pyobject(py)
    }

    /// The label of the loss.
    #[getter]
    fn name(&self) -> String {
        loss_label(&self.method)
    }

    /// The problem whose decisions count.
    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.problem.clone_ref(py)
    }

    /// Whether an evaluation solves, so that it takes its time.
    #[getter]
    fn solves(&self) -> bool {
        self.loss.solves()
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    fn __repr__(&self) -> String {
        format!("<regretless.Loss {} on {} rows>", self.name(), self.data.len())
    }
}

fn loss_label(method: &Method) -> String {
    method.stage_label()
}

/// One method that needs no training to be evaluated.
fn single(method: &Method) -> Result<()> {
    method.check()?;
    if method.then.is_some() {
        return Err(Error::setting("a loss is one method; 'then' belongs to train"));
    }
    if method.loss.weighting() != Weighting::Equal {
        let message = format!("{} weights instances by the regret of a trained baseline", method.loss);
        return Err(Error::setting(format!("{message}; use train, or leave the weighting out")));
    }
    Ok(())
}

/// Predictions to be minimised, in double precision.
struct Numbers {
    values: Vec<f64>,
    rows: usize,
    cols: usize,
}

impl Numbers {
    fn read(value: &Bound<'_, PyAny>, double: bool) -> PyResult<Self> {
        if !double {
            let matrix: Matrix = finite_matrix(value, "predictions", Keep::Borrowed)?;
            let values = matrix.as_slice().iter().map(|v| f64::from(*v)).collect();
            return Ok(Self { values, rows: matrix.rows(), cols: matrix.cols() });
        }
        let array = value.extract::<numpy::PyReadonlyArray2<'_, f64>>()?;
        let view = array.as_array();
        let values: Vec<f64> = view.iter().copied().collect();
        let (rows, cols) = view.dim();
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(Self { values, rows, cols }),
            Some(at) => Err(PyValueError::new_err(format!(
                "predictions: row {}, column c{}: {} is not a finite number (rows counted from 0)",
                at / cols,
                at % cols,
                values[at]
            ))),
        }
    }
}

impl Loss {
    fn rows(&self, rows: Option<Vec<usize>>, count: usize) -> PyResult<Vec<usize>> {
        let rows = rows.unwrap_or_else(|| (0..self.data.len()).collect());
        if rows.len() != count {
            return Err(PyValueError::new_err(format!("{count} rows of predictions for {} instances", rows.len())));
        }
        let known = self.data.rows();
        match rows.iter().find(|row| known.binary_search(row).is_err()) {
            None => Ok(rows),
            Some(row) if *row >= self.data.len() => {
                Err(PyValueError::new_err(format!("row {row} does not exist; there are {}", self.data.len())))
            }
            Some(row) => Err(PyValueError::new_err(format!("row {row} has no decision, so its loss is unknown"))),
        }
    }

    fn judge(&self, predicted: &Numbers, rows: &[usize], moment: Moment, watch: &dyn Watch) -> Result<Vec<Slot>> {
        let mut answering = Answering::new(&self.oracle, self.method.oracle, (self.name().as_str(), self.seed))?
            .knowing([], self.loss.compares());
        if let Some(pool) = self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            answering.replace_pool(pool);
        }
        let occasion = Occasion { epoch: moment.epoch, batch: moment.batch, training: moment.training };
        let mut slots: Vec<Slot> = Vec::new();
        slots.resize_with(rows.len(), || Slot {
            value: Err(Error::Interrupted),
            gradient: Vec::new(),
            found: Vec::new(),
        });
        let one = regretless::parallel::Threads::one();
        let threads = if self.loss.solves() { self.oracle.threads() } else { &one };
        threads.fill(
            &mut slots,
            || answering.asker(),
            |asker, index, slot| {
                if !watch.interrupted() {
                    asker.take_turn(answering.turn(occasion, rows[index]));
                    self.judge_one(predicted, (index, rows[index]), moment, (asker, slot));
                }
            },
        );
        self.loss.batch_done(moment.training);
        if moment.training && answering.pool().is_some() {
            slots.iter().for_each(|slot| answering.keep(&slot.found));
            *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = answering.pool().cloned();
        }
        match slots.iter_mut().find_map(|slot| slot.value.is_err().then(|| std::mem::replace(&mut slot.value, Ok(0.0))))
        {
            Some(Err(error)) => Err(error),
            _ => Ok(slots),
        }
    }

    fn judge_one(
        &self,
        predicted: &Numbers,
        (index, instance): (usize, usize),
        moment: Moment,
        (asker, slot): (&mut Asker<'_>, &mut Slot),
    ) {
        let sign = self.data.sense().sign();
        let costs: Vec<f64> = self.data.data().costs().row(instance).iter().map(|cost| f64::from(*cost)).collect();
        let prediction: Vec<f64> =
            predicted.values[index * predicted.cols..][..predicted.cols].iter().map(|cost| sign * cost).collect();
        let draw = Draw { seed: self.seed, epoch: moment.epoch };
        let best = self.data.best(instance);
        let query = Query { instance, costs: &costs, prediction: &prediction, best, draw };
        slot.gradient.resize(predicted.cols, 0.0);
        asker.about(instance);
        slot.value = self.loss.evaluate(&query, asker, &mut slot.gradient);
        slot.found = asker.take_found();
    }
}
