//! Losses that are Python functions of a batch (`regretless.loss`).
//!
//! The function sees costs, decisions and gradients in the objective sense of the user's problem;
//! the sign is applied here and nowhere else. During a call from Python it runs on the thread that
//! made the call, as a solver function does (`call.rs`), and otherwise, in the command line of the
//! package, on a thread of its own. In both cases the thread of the library waits for it and
//! answers its solver calls, so they are counted, cached and relaxed as those of any loss.

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use regretless::label::LabeledDataset;
use regretless::loss::{
    BatchLoss, BatchLossInput, Loss, LossDefinition, LossInput, LossProperties, LossSpec,
};
use regretless::observer::Observer;
use regretless::oracle::{Oracle, OracleWorker};
use regretless::{Error, Result, Sense};

use crate::arrays::{array1, array2, f64_rows};
use crate::call::{CallState, lock};
use crate::function_locks::FunctionLockGuard;
use crate::problem::sense_word;

/// A `regretless.losses.custom.OwnLoss`.
pub struct LossFunction {
    /// The object in Python.
    own: Py<PyAny>,
    name: String,
    /// Calls the user's function with a dictionary and checks what it returns.
    evaluate: Py<PyAny>,
    calls_solver: bool,
    checks_gradient: bool,
    /// Hash of its source.
    fingerprint: String,
    /// Address of the user's function, which is alive as long as this.
    identity: usize,
}

impl LossFunction {
    fn new(own: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            own: own.clone().unbind(),
            name: own.getattr("name")?.extract()?,
            evaluate: own.getattr("_evaluate")?.unbind(),
            calls_solver: own.getattr("calls_solver")?.extract()?,
            checks_gradient: own.getattr("check_gradient")?.extract()?,
            fingerprint: own.getattr("fingerprint")?.extract()?,
            // Options make another function of it, whose state is that of the user's.
            identity: own.getattr("user_function")?.as_ptr() as usize,
        })
    }

    /// Address of the object that holds its state.
    pub fn identity(&self) -> usize {
        self.identity
    }

    /// Calls the function on this thread.
    fn call(&self, py: Python<'_>, request: &LossRequest) -> PyResult<LossOutput> {
        let LossBatch {
            rows,
            predictions,
            costs,
            decisions,
            objectives,
            epoch,
            seed,
        } = &request.batch;
        let (count, width) = (rows.len(), predictions.len() / rows.len().max(1));
        let table = |numbers: &Vec<f64>| array2(py, numbers.clone(), count, width);
        let given = PyDict::new(py);
        given.set_item("predicted", table(predictions)?)?;
        given.set_item("true", table(costs)?)?;
        given.set_item("decisions", table(decisions)?)?;
        given.set_item("objectives", array1(py, objectives.clone()))?;
        given.set_item("rows", array1(py, rows.clone()))?;
        given.set_item("epoch", epoch)?;
        given.set_item("seed", seed)?;
        given.set_item("sense", sense_word(request.sense))?;
        let solve = Bound::new(py, request.solve_handle(count, width))?;
        given.set_item("solve", &solve)?;
        let returned = self.evaluate.bind(py).call1((given,));
        // Drops the handle's channels: later calls of it fail.
        lock(&solve.get().link).take();
        let (values, gradients) = returned?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let (gradients, _) = f64_rows(&gradients, "gradients")?;
        Ok(LossOutput {
            values: crate::arrays::vector(&values, "values")?,
            gradients,
        })
    }
}

/// The specification of a loss that is a Python function.
#[derive(Clone)]
struct FunctionLossSpec(Arc<LossFunction>);

impl fmt::Debug for FunctionLossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionLossSpec({})", self.0.name)
    }
}

impl fmt::Display for FunctionLossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl LossDefinition for FunctionLossSpec {
    fn properties(&self) -> LossProperties {
        let properties = if self.0.calls_solver {
            LossProperties::CALLS_SOLVER
        } else {
            LossProperties::SOLVER_FREE
        };
        LossProperties {
            checks_gradient: self.0.checks_gradient,
            ..properties
        }
    }

    fn fingerprint(&self) -> Option<String> {
        Some(self.0.fingerprint.clone())
    }

    fn with_options(&self, options: &[[String; 2]]) -> Option<Result<LossSpec>> {
        Some(Python::attach(|py| {
            let own = self.0.own.bind(py);
            let changed = own.call_method1("_with_options", (options.to_vec(),));
            let changed = changed.and_then(|own| loss_spec(&own));
            changed.map_err(|error| Error::setting(error.value(py).to_string()))
        }))
    }

    fn build(&self, data: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(FunctionLoss {
            function: Arc::clone(&self.0),
            sense: data.sense(),
        }))
    }
}

/// The loss for one table.
struct FunctionLoss {
    function: Arc<LossFunction>,
    sense: Sense,
}

impl Loss for FunctionLoss {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let batch = BatchLossInput::of_instance(input, worker);
        let values = self.evaluate_batch(&batch, gradient)?;
        let value = values.first().copied();
        value.ok_or_else(|| Error::setting(format!("'{}' returned no value", self.function.name)))
    }

    fn batch_loss(&self) -> Option<&dyn BatchLoss> {
        Some(self)
    }
}

impl BatchLoss for FunctionLoss {
    fn evaluate_batch(
        &self,
        input: &BatchLossInput<'_>,
        gradients: &mut [f64],
    ) -> Result<Vec<f64>> {
        let (messages, received) = channel();
        let (answers, answered) = channel();
        let call = CallState::of_this_thread();
        let request = LossRequest {
            function: Arc::clone(&self.function),
            batch: self.batch(input),
            messages,
            answered: Mutex::new(Some(answered)),
            sense: self.sense,
            call: call.clone(),
        };
        let output = match call {
            Some(call) => {
                call.request_loss(request)?;
                self.serve(input, &received, |answer| {
                    // A function that has ended does not wait for the answer.
                    let _ = answers.send(answer);
                    call.wake();
                })
            }
            None => std::thread::scope(|scope| {
                scope.spawn(move || Python::attach(|py| request.run(py)));
                self.serve(input, &received, |answer| {
                    let _ = answers.send(answer);
                })
            }),
        }?;
        for (gradient, given) in gradients.iter_mut().zip(self.turned(&output.gradients)) {
            *gradient = given;
        }
        Ok(output.values)
    }
}

impl FunctionLoss {
    /// Minimized numbers in the user's sense, or the other way round.
    fn turned(&self, numbers: &[f64]) -> Vec<f64> {
        let numbers = numbers.iter();
        numbers.map(|number| self.sense.convert(*number)).collect()
    }

    /// The numbers of a batch in the user's sense.
    fn batch(&self, input: &BatchLossInput<'_>) -> LossBatch {
        let width = input.num_costs();
        let mut decisions = vec![0.0; input.costs.len()];
        let mut objectives = Vec::with_capacity(input.instances.len());
        for (index, label) in input.labels.iter().enumerate() {
            let entries = index * width..(index + 1) * width;
            label.write_dense(&mut decisions[entries.clone()]);
            objectives.push(label.dot(&input.costs[entries]));
        }
        LossBatch {
            rows: input.instances.iter().map(|row| *row as i64).collect(),
            predictions: self.turned(input.predictions),
            costs: self.turned(input.costs),
            decisions,
            objectives: self.turned(&objectives),
            epoch: input.noise.epoch,
            seed: input.noise.seed,
        }
    }

    /// Answers the solver calls of the function until it has returned.
    fn serve(
        &self,
        input: &BatchLossInput<'_>,
        received: &Receiver<LossMessage>,
        answer: impl Fn(SolveAnswer),
    ) -> Result<LossOutput> {
        let mut failure = None;
        loop {
            match received.recv() {
                Ok(LossMessage::Solve(costs)) => {
                    let costs = self.turned(&costs);
                    answer(match input.solve(&costs) {
                        Ok(solutions) => {
                            let width = input.num_costs();
                            let mut decisions = vec![0.0; costs.len()];
                            let rows = decisions.chunks_exact_mut(width);
                            for (row, solution) in rows.zip(&solutions) {
                                solution.decision.write_dense(row);
                            }
                            let objectives = solutions.iter().map(|solution| solution.objective);
                            Ok(SolvedBatch {
                                decisions,
                                objectives: self.turned(&objectives.collect::<Vec<f64>>()),
                            })
                        }
                        Err(error) => {
                            let message = match error {
                                Error::Interrupted => None,
                                ref other => Some(other.to_string()),
                            };
                            failure.get_or_insert(error);
                            Err(message)
                        }
                    });
                }
                Ok(LossMessage::Returned(output)) => return Ok(output),
                // A failed solve, which the function has not handled, is the reason.
                Ok(LossMessage::Failed(error)) => return Err(failure.unwrap_or(error)),
                Err(_) => return Err(Error::Interrupted),
            }
        }
    }
}

/// The arguments of the function, in the user's sense; tables are stored row by row.
#[derive(Debug)]
struct LossBatch {
    rows: Vec<i64>,
    predictions: Vec<f64>,
    costs: Vec<f64>,
    decisions: Vec<f64>,
    objectives: Vec<f64>,
    epoch: usize,
    seed: u64,
}

/// What the function returned.
#[derive(Debug)]
struct LossOutput {
    values: Vec<f64>,
    gradients: Vec<f64>,
}

/// From the function to the thread that waits for it.
#[derive(Debug)]
enum LossMessage {
    /// Solve for these costs, in the user's sense.
    Solve(Vec<f64>),
    Returned(LossOutput),
    Failed(Error),
}

/// Decisions and objectives in the user's sense.
#[derive(Debug)]
struct SolvedBatch {
    decisions: Vec<f64>,
    objectives: Vec<f64>,
}

/// The solutions, or the message of a failure; none if the user interrupted.
type SolveAnswer = std::result::Result<SolvedBatch, Option<String>>;

/// A call of a loss function.
pub struct LossRequest {
    function: Arc<LossFunction>,
    batch: LossBatch,
    messages: Sender<LossMessage>,
    /// Until the handle takes it.
    answered: Mutex<Option<Receiver<SolveAnswer>>>,
    sense: Sense,
    /// The call from Python that runs the function, if there is one.
    call: Option<Arc<CallState>>,
}

impl fmt::Debug for LossRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LossRequest({}, {:?})", self.function.name, self.sense)
    }
}

impl LossRequest {
    /// The loss function.
    pub fn function(&self) -> &LossFunction {
        &self.function
    }

    fn solve_handle(&self, rows: usize, cols: usize) -> SolveHandle {
        SolveHandle {
            link: Mutex::new(lock(&self.answered).take().map(|answered| SolveLink {
                messages: self.messages.clone(),
                answered: Mutex::new(answered),
                call: self.call.clone(),
            })),
            rows,
            cols,
        }
    }

    /// Calls the function on this thread under its lock, outside a call from Python.
    fn run(self, py: Python<'_>) {
        let this = [std::thread::current().id()];
        let guard = FunctionLockGuard::wait(py, self.function.identity, &this, |_| Ok(()));
        let result = guard.and_then(|_guard| self.function.call(py, &self));
        let message = match result {
            Ok(output) => LossMessage::Returned(output),
            Err(error) => LossMessage::Failed(self.describe(py, &error)),
        };
        // The receiver waits until this message.
        let _ = self.messages.send(message);
    }

    /// Calls the function on this thread; the exception, if there is one, is returned.
    pub fn run_in_call(&self, py: Python<'_>) -> Option<PyErr> {
        match self.function.call(py, self) {
            Ok(output) => {
                let _ = self.messages.send(LossMessage::Returned(output));
                None
            }
            Err(error) => Some(error),
        }
    }

    /// Ends a call whose exception is raised elsewhere.
    pub fn fail(&self) {
        let error = Error::setting(format!("the loss '{}' failed", self.function.name));
        let _ = self.messages.send(LossMessage::Failed(error));
    }

    /// The error of the command line for an exception; prints its traceback unless it is a refusal
    /// of ours.
    fn describe(&self, py: Python<'_>, error: &PyErr) -> Error {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Error::Interrupted;
        }
        let text = error.value(py).to_string();
        if error.value(py).hasattr("_is_refused_loss").unwrap_or(false) {
            return Error::setting(text);
        }
        error.display(py);
        let kind = error.get_type(py).name().map(|name| name.to_string());
        let kind = kind.unwrap_or_else(|_| "an exception".into());
        Error::setting(format!(
            "the loss '{}' raised {kind}: {text}",
            self.function.name
        ))
    }
}

/// The channels of a function to the thread that waits for it.
struct SolveLink {
    messages: Sender<LossMessage>,
    answered: Mutex<Receiver<SolveAnswer>>,
    call: Option<Arc<CallState>>,
}

/// Solves the problem of every row of a batch: the argument `solve` of a loss.
#[pyclass(frozen, module = "regretless")]
pub struct SolveHandle {
    link: Mutex<Option<SolveLink>>,
    rows: usize,
    cols: usize,
}

#[pymethods]
impl SolveHandle {
    /// Solve the problem of each row of the batch under its row of costs.
    ///
    /// Parameters
    /// ----------
    /// costs : array_like of shape (rows, costs)
    ///     Costs in the sense of the problem.
    ///
    /// Returns
    /// -------
    /// decisions : ndarray of shape (rows, costs)
    ///     Optimal decisions, as the method's settings ("relax", "cache 5%") say.
    /// objectives : ndarray of shape (rows,)
    ///     Their objectives under `costs`.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (numbers, shape) = f64_rows(costs, "solve: costs")?;
        if shape != [self.rows, self.cols] {
            return Err(PyValueError::new_err(format!(
                "solve: the batch has {} rows of {} costs, not {} of {}",
                self.rows, self.cols, shape[0], shape[1]
            )));
        }
        let link = lock(&self.link).take().ok_or_else(|| {
            PyRuntimeError::new_err(
                "solve can be called only while the loss is evaluated, by one thread at a time",
            )
        })?;
        let answer = link.ask(py, numbers);
        *lock(&self.link) = Some(link);
        match answer? {
            Ok(solved) => {
                let decisions = array2(py, solved.decisions, self.rows, self.cols)?;
                (decisions, array1(py, solved.objectives)).into_pyobject(py)
            }
            Err(Some(message)) => Err(PyRuntimeError::new_err(message)),
            Err(None) => Err(PyKeyboardInterrupt::new_err(())),
        }
    }
}

impl SolveLink {
    fn ask(&self, py: Python<'_>, costs: Vec<f64>) -> PyResult<SolveAnswer> {
        let ended = || PyRuntimeError::new_err("the call that could solve has ended");
        self.messages
            .send(LossMessage::Solve(costs))
            .map_err(|_| ended())?;
        match &self.call {
            Some(call) => call.wait_for(py, &self.answered),
            None => py
                .detach(|| lock(&self.answered).recv())
                .map_err(|_| ended()),
        }
    }
}

/// The specification of an `OwnLoss`.
pub(super) fn loss_spec(own: &Bound<'_, PyAny>) -> PyResult<LossSpec> {
    Ok(FunctionLossSpec(Arc::new(LossFunction::new(own)?)).into())
}
