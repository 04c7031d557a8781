//! Labels: the best decision of every instance, found once and kept.

use crate::data::Dataset;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::oracle::Oracle;
use crate::problem::Sense;
use crate::solve::Solution;
use crate::watch::Watch;

mod file;
mod robust;
mod store;
mod training;

pub use robust::Robust;
pub use store::{LabelReport, LabelSource, LabelStore};
pub use training::TrainingLabels;

/// A table whose instances know their best decisions. Its costs are to be minimised: those of a
/// maximisation were negated on the way in.
#[derive(Debug, Clone)]
pub struct Labelled {
    data: Dataset,
    sense: Sense,
    best: Vec<Solution>,
}

impl Labelled {
    /// Finds the best decision of every instance.
    ///
    /// # Errors
    /// When the table does not fit the problem, an instance has no decision, or the user interrupts.
    pub fn solve(mut data: Dataset, oracle: &Oracle, watch: &dyn Watch) -> Result<Self> {
        let sense = Self::turn(&mut data, oracle)?;
        let best = Self::best_of(&data, oracle, watch)?;
        Ok(Self { data, sense, best })
    }

    /// The best decision of every instance of a table whose costs are to be minimised.
    fn best_of(data: &Dataset, oracle: &Oracle, watch: &dyn Watch) -> Result<Vec<Solution>> {
        watch.begin("labelling", data.len() as u64);
        let answers = oracle.solve_all(data.costs(), watch)?;
        watch.end();
        let best = answers.into_iter().enumerate();
        best.map(|(instance, answer)| answer.map_err(|failure| Error::Solver { instance, failure })).collect()
    }

    /// Joins a table with best decisions that are already known; each is checked.
    ///
    /// # Errors
    /// When numbers do not match or a decision is not feasible.
    pub fn known(mut data: Dataset, oracle: &Oracle, best: Vec<Solution>) -> Result<Self> {
        let sense = Self::turn(&mut data, oracle)?;
        if best.len() != data.len() {
            let message = format!("{} labels for {} instances", best.len(), data.len());
            return Err(Error::data(message));
        }
        for (instance, solution) in best.iter().enumerate() {
            let wrong = |message| Error::data(format!("label of instance {instance}: {message}"));
            oracle.problem().check(&solution.decision).map_err(wrong)?;
        }
        Ok(Self { data, sense, best })
    }

    /// Checks the width of the table and makes its costs costs to be minimised.
    fn turn(data: &mut Dataset, oracle: &Oracle) -> Result<Sense> {
        let problem = oracle.problem();
        if data.costs().cols() != problem.num_costs() {
            let (found, right) = (data.costs().cols(), problem.num_costs());
            let message = format!("the table has {found} costs per instance, {} needs {right}", problem.name());
            return Err(Error::data(message));
        }
        let sense = problem.sense();
        sense.flip(data.costs_mut().as_mut_slice());
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

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    /// The best decision of an instance.
    pub fn best(&self, instance: usize) -> &Decision {
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

    /// Cost of an instance's best decision, recomputed from the table.
    pub fn best_objective(&self, instance: usize) -> f64 {
        self.best(instance).dot(self.data.costs().row(instance))
    }
}
