//! Losses that are evaluated for a whole batch at once, such as functions of other languages, for
//! which one call per batch is much faster than one per instance.

use std::cell::{Cell, RefCell};

use super::{LossInput, NoiseKey};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::oracle::{OracleWorker, StepId, TrainingOracle};
use crate::solve::Solution;

/// Values and gradients of the instances of a batch. The value of an instance depends on its own
/// prediction only: training and evaluation divide rows into batches differently.
pub trait BatchLoss {
    /// The loss of each instance; writes the gradients with respect to the predicted costs, one
    /// row after the other.
    ///
    /// # Errors
    /// When a solve fails, or the loss cannot be evaluated.
    fn evaluate_batch(&self, input: &BatchLossInput<'_>, gradients: &mut [f64])
    -> Result<Vec<f64>>;
}

/// Instances and the predictions for them; costs are minimized. All numbers are stored one row
/// after the other.
pub struct BatchLossInput<'a> {
    /// Rows of the table.
    pub instances: &'a [usize],
    /// True costs.
    pub costs: &'a [f64],
    /// Predicted costs.
    pub predictions: &'a [f64],
    /// The labels: the optimal decisions under the true costs.
    pub labels: Vec<&'a Decision>,
    /// Key of the noise.
    pub noise: NoiseKey,
    solver: BatchSolver<'a>,
}

/// Solves one instance under a cost vector.
type InstanceSolver<'a> = Box<dyn FnMut(&[f64]) -> Result<Solution> + 'a>;

/// Handles the solver calls of a batch.
enum BatchSolver<'a> {
    /// On the threads of an oracle.
    Oracle {
        oracle: &'a TrainingOracle<'a>,
        step: StepId,
        /// Number of calls so far: warm starts are stored by instance and call.
        num_calls: Cell<usize>,
        /// Decisions solved for each instance, for the pool.
        solved: RefCell<Vec<Vec<Decision>>>,
    },
    /// The solver of a single instance.
    Instance(RefCell<InstanceSolver<'a>>),
}

impl<'a> BatchLossInput<'a> {
    /// A batch of a training step, whose solver calls `oracle` handles.
    pub fn new(
        data: &'a LabeledDataset,
        instances: &'a [usize],
        costs: &'a [f64],
        predictions: &'a [f64],
        noise: NoiseKey,
        oracle: &'a TrainingOracle<'a>,
        step: StepId,
    ) -> Self {
        let label = |instance: &usize| data.optimal_decision(*instance);
        Self {
            instances,
            costs,
            predictions,
            labels: instances.iter().map(label).collect(),
            noise,
            solver: BatchSolver::Oracle {
                oracle,
                step,
                num_calls: Cell::new(0),
                solved: RefCell::new(vec![Vec::new(); instances.len()]),
            },
        }
    }

    /// A batch of one instance, for [`super::Loss::evaluate`] of a batch loss.
    pub fn of_instance(input: &'a LossInput<'a>, worker: &'a mut OracleWorker<'_>) -> Self {
        let solve = |costs: &[f64]| input.solve(worker, costs).cloned();
        Self {
            instances: std::slice::from_ref(&input.instance),
            costs: input.costs,
            predictions: input.prediction,
            labels: vec![input.label],
            noise: input.noise,
            solver: BatchSolver::Instance(RefCell::new(Box::new(solve))),
        }
    }

    /// Number of costs of an instance.
    pub fn num_costs(&self) -> usize {
        self.costs.len() / self.instances.len().max(1)
    }

    /// Solves the problem of every instance under its row of some costs, as the oracle settings of
    /// the stage say: exactly, relaxed, by a heuristic or from the cache.
    ///
    /// # Errors
    /// When a solve fails, which the error names, or there is not one row of costs per instance.
    pub fn solve(&self, costs: &[f64]) -> Result<Vec<Solution>> {
        if costs.len() != self.costs.len() {
            return Err(Error::setting(format!(
                "a batch of {} instances has {} costs, and {} are to be solved for",
                self.instances.len(),
                self.costs.len(),
                costs.len()
            )));
        }
        match &self.solver {
            BatchSolver::Instance(solve) => Ok(vec![solve.borrow_mut()(costs)?]),
            BatchSolver::Oracle {
                oracle,
                step,
                num_calls,
                solved,
            } => {
                let call_index = num_calls.replace(num_calls.get() + 1);
                let solver = OracleCall {
                    oracle,
                    step: *step,
                    call_index,
                };
                let mut solutions = Vec::with_capacity(self.instances.len());
                for (index, result) in solver.solve(self, costs).into_iter().enumerate() {
                    let SolvedRow {
                        solution,
                        mut solved_decisions,
                    } = result?;
                    solved.borrow_mut()[index].append(&mut solved_decisions);
                    solutions.push(solution);
                }
                Ok(solutions)
            }
        }
    }

    /// The decisions that were solved for, of each instance, for the solution pool.
    pub fn into_solved(self) -> Vec<Vec<Decision>> {
        match self.solver {
            BatchSolver::Oracle { solved, .. } => solved.into_inner(),
            BatchSolver::Instance(_) => vec![Vec::new(); self.instances.len()],
        }
    }
}

/// One solver call of every instance of a batch.
struct OracleCall<'a> {
    oracle: &'a TrainingOracle<'a>,
    step: StepId,
    call_index: usize,
}

/// The solution of an instance.
struct SolvedRow {
    solution: Solution,
    /// Its decision, if it is new to the pool.
    solved_decisions: Vec<Decision>,
}

impl OracleCall<'_> {
    /// The solutions in the order of the instances.
    fn solve(&self, input: &BatchLossInput<'_>, costs: &[f64]) -> Vec<Result<SolvedRow>> {
        let width = input.num_costs();
        let mut results: Vec<Result<SolvedRow>> = Vec::new();
        results.resize_with(input.instances.len(), || Err(Error::Interrupted));
        let (instances, labels) = (input.instances, input.labels.as_slice());
        let expected = |index: usize| self.oracle.expected_seconds(instances[index]);
        let work = |worker: &mut OracleWorker<'_>, index: usize, slot: &mut Result<SolvedRow>| {
            let instance = instances[index];
            self.oracle.prepare_worker(worker, self.step, instance);
            worker.set_instance_call(instance, self.call_index);
            let row = &costs[index * width..][..width];
            let solution = worker.solve_from(row, Some(labels[index])).cloned();
            *slot = match solution {
                Ok(solution) => Ok(SolvedRow {
                    solution,
                    solved_decisions: worker.take_solved(),
                }),
                Err(failure) => Err(Error::solver(instance, failure)),
            };
        };
        let threads = self.oracle.oracle().solver_threads();
        threads.fill_longest_first(&mut results, expected, || self.oracle.worker(), work);
        results
    }
}
