//! Labels: the best decision of every instance, found once and kept.

use crate::data::{CostSide, Dataset, Matrix};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::problem::match_costs;
use crate::sense::Sense;
use crate::solve::{Solution, SolveFailure};

mod data_split;
mod file;
mod knn_robust;
mod label_parts;
mod store;
mod training;

pub(crate) use data_split::FeatureLayout;
pub use data_split::{DataPart, DataSplit, Row};
pub use knn_robust::KnnRobustCosts;
pub use label_parts::Shard;
pub use store::{LabelReport, LabelSource, LabelStore, ShardReport};
pub use training::TrainingLabels;

/// A table whose instances know their best decisions. Its costs are to be minimised: those of a
/// maximisation were negated on the way in.
#[derive(Debug, Clone)]
pub struct LabeledDataset {
    data: Dataset,
    sense: Sense,
    best: Vec<Solution>,
    /// Rows without a decision; what stands for their best decision is empty.
    failed: Vec<usize>,
}

/// A warning where costs that are kept in single precision alone differ by so little that rounding
/// may change decisions.
fn coarse_costs(costs: &Matrix) -> Option<String> {
    if costs.has_f64_values() {
        return None;
    }
    let row = costs.first_coarse_row()?;
    let size = costs
        .row(row)
        .iter()
        .fold(0.0_f32, |max, cost| max.max(cost.abs()));
    Some(format!(
        "the costs of row {row} (counted from 0) are of the size {size:e} and hardly differ: \
            tables are kept in single \
         precision, about seven digits, and rounding may change decisions; subtract what all costs \
         of a row have in common"
    ))
}

impl LabeledDataset {
    /// Finds the best decision of every instance.
    ///
    /// # Errors
    /// When the table does not fit the problem, an instance has no decision, or the user
    /// interrupts.
    pub fn solve(mut data: Dataset, oracle: &Oracle, observer: &dyn Observer) -> Result<Self> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if let Some(warning) = coarse_costs(data.costs()) {
            observer.warn(&warning);
        }
        observer.begin("labelling", data.len() as u64);
        let answers = oracle.solve_all(data.costs(), observer)?;
        observer.end();
        let best = answers.into_iter().enumerate();
        let best = best
            .map(|(instance, answer)| answer.map_err(|failure| Error::solver(instance, failure)));
        Ok(Self {
            data,
            sense,
            best: best.collect::<Result<_>>()?,
            failed: Vec::new(),
        })
    }

    /// Finds the best decision of every instance that has one; the others are listed with the
    /// reason, and are not among the [`Labelled::rows`].
    ///
    /// # Errors
    /// When the table does not fit the problem, no instance has a decision, or the user interrupts.
    pub fn solve_feasible(
        mut data: Dataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<(usize, SolveFailure)>)> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if let Some(warning) = coarse_costs(data.costs()) {
            observer.warn(&warning);
        }
        observer.begin("labelling", data.len() as u64);
        let answers = oracle.solve_all(data.costs(), observer)?;
        observer.end();
        let mut failed = Vec::new();
        let labelled = Self::from_partial_results(data, sense, answers, &mut failed)?;
        Ok((labelled, failed))
    }

    /// A table whose costs are to be minimised, with the answers of all its rows; failures go to
    /// `failed`.
    fn from_partial_results(
        data: Dataset,
        sense: Sense,
        answers: Vec<SolveResult>,
        failed: &mut Vec<(usize, SolveFailure)>,
    ) -> Result<Self> {
        let mut kept = |(row, answer): (usize, SolveResult)| {
            answer.unwrap_or_else(|failure| {
                failed.push((row, failure));
                Solution::optimal(Decision::from_indices([]), 0.0)
            })
        };
        let best: Vec<Solution> = answers.into_iter().enumerate().map(&mut kept).collect();
        match failed.first() {
            Some((instance, failure)) if failed.len() == best.len() => {
                Err(Error::solver(*instance, failure.clone()))
            }
            _ => Ok(Self {
                data,
                sense,
                best,
                failed: failed.iter().map(|(row, _)| *row).collect(),
            }),
        }
    }

    /// Joins a table with best decisions that are already known, in the order of the problem's
    /// costs; each is checked.
    ///
    /// # Errors
    /// When numbers do not match or a decision is not feasible.
    pub fn from_decisions(mut data: Dataset, oracle: &Oracle, best: Vec<Solution>) -> Result<Self> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if best.len() != data.len() {
            let message = format!("{} labels for {} instances", best.len(), data.len());
            return Err(Error::data(message));
        }
        for (instance, solution) in best.iter().enumerate() {
            let wrong = |message| Error::data(format!("label of instance {instance}: {message}"));
            oracle.problem().check(&solution.decision).map_err(wrong)?;
        }
        Ok(Self {
            data,
            sense,
            best,
            failed: Vec::new(),
        })
    }

    /// The same labels for a table of the same costs, whose features may be others.
    ///
    /// # Errors
    /// When the costs are others; names the first row.
    pub fn with_dataset(&self, mut data: Dataset, oracle: &Oracle) -> Result<Self> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if data.len() != self.len() {
            return Err(Error::data(format!(
                "{} labels for {} instances",
                self.len(),
                data.len()
            )));
        }
        // Where both have the digits of double precision, these must be the same too.
        let exact = data.costs().has_f64_values() && self.data.costs().has_f64_values();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut same = |row: &usize| {
            if exact {
                self.data.costs().read(*row, &mut ours);
                data.costs().read(*row, &mut theirs);
                return ours == theirs;
            }
            data.costs().row(*row) == self.data.costs().row(*row)
        };
        match (0..data.len()).find(|row| !same(row)) {
            Some(row) => Err(Error::data(format!(
                "the labels were made for other costs: row {row} differs"
            ))),
            None => Ok(Self {
                data,
                sense,
                best: self.best.clone(),
                failed: self.failed.clone(),
            }),
        }
    }

    /// Brings costs into the order of the problem, checks the width of the table and makes its
    /// costs costs to be minimised.
    fn prepare_costs(data: &mut Dataset, oracle: &Oracle) -> Result<Sense> {
        let problem = oracle.problem();
        let matching = match_costs(
            CostSide::new("the table", data.cost_names()),
            problem.as_ref(),
        )?;
        data.apply(&matching)?;
        if data.costs().cols() != problem.num_costs() {
            let (found, right) = (data.costs().cols(), problem.num_costs());
            let message = format!(
                "the table has {found} costs per instance, {} needs {right}",
                problem.name()
            );
            return Err(Error::data(message));
        }
        let sense = problem.sense();
        sense.convert_matrix(data.costs_mut())?;
        Ok(sense)
    }

    /// The table, its costs to be minimised.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Whether the user's problem is a minimisation.
    pub fn sense(&self) -> Sense {
        self.sense
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.best.len()
    }

    /// The rows that have a best decision: all, but for those an engine found none for.
    pub fn rows(&self) -> Vec<usize> {
        (0..self.len())
            .filter(|row| self.failed.binary_search(row).is_err())
            .collect()
    }

    /// Whether a row exists and has a best decision.
    pub fn has(&self, row: usize) -> bool {
        row < self.len() && self.failed.binary_search(&row).is_err()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    /// The best decision of an instance.
    pub fn optimal_decision(&self, instance: usize) -> &Decision {
        &self.best[instance].decision
    }

    /// What is known about the best decision of an instance.
    pub fn solution(&self, instance: usize) -> &Solution {
        &self.best[instance]
    }

    /// All best decisions.
    pub fn solutions(&self) -> &[Solution] {
        &self.best
    }

    /// Mean work of finding the labels of these rows in nanoseconds, as
    /// [`crate::solve::Solver::work`] counts; none where nobody counted.
    pub fn mean_work(&self, rows: &[usize]) -> Option<f64> {
        let total: u64 = rows.iter().map(|row| self.best[*row].work).sum();
        (total > 0).then(|| total as f64 / rows.len() as f64)
    }

    /// Cost of an instance's best decision, recomputed from the table.
    pub fn optimal_objective(&self, instance: usize) -> f64 {
        self.data
            .costs()
            .objective_of(self.optimal_decision(instance), instance)
    }
}
