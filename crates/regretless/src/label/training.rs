//! Labels for training that are not the optimal decisions under the costs of the table.
//!
//! In the name of a method they follow the loss: `MSE(O) knn(10,0.5)` trains on robust labels
//! ([`KnnRobustCosts`]); `SPO+ relax labels relaxed` on the optima of the linear relaxation, so
//! solver calls and labels are in the same polytope (Mandi, Demirović, Stuckey and Guns 2020);
//! `labels relaxed tight` uses the tight relaxation, the strongest one of the problem. Rows for
//! validation and testing keep their optimal decisions.

use std::fmt;

use super::{KnnRobustCosts, LabeledDataset};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::solve::relaxation::Relaxation;

/// The labels for training.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TrainingLabels {
    /// Costs averaged with those of similar rows first, if any.
    pub robust: Option<KnnRobustCosts>,
    /// The relaxation whose optima are the labels, if not the problem itself.
    pub relaxed: Option<Relaxation>,
}

impl TrainingLabels {
    /// Examples for messages.
    pub const EXAMPLES: [&'static str; 3] =
        ["knn(10,0.5)", "labels relaxed", "labels relaxed tight"];

    /// Parses one setting at the front of a list of words and removes it; false, and nothing
    /// removed, if there is none.
    ///
    /// # Errors
    /// When the setting is given twice or is incomplete.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        let (name, is_repeated, num_words) = match words {
            ["labels", "relaxed", "tight", ..] => (
                "labels",
                self.relaxed.replace(Relaxation::Tight).is_some(),
                3,
            ),
            ["labels", "relaxed", ..] => (
                "labels",
                self.relaxed.replace(Relaxation::Plain).is_some(),
                2,
            ),
            ["labels", ..] => {
                return Err(Error::setting(
                    "'labels' needs the kind of labels: labels relaxed",
                ));
            }
            [word, ..] => match KnnRobustCosts::parse_name(word) {
                Some(robust) => ("knn", self.robust.replace(robust).is_some(), 1),
                None => return Ok(false),
            },
            [] => return Ok(false),
        };
        if is_repeated {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        *words = &words[num_words..];
        Ok(true)
    }

    /// The table with these labels in the listed rows; `None` if the labels are the optimal
    /// decisions. `method` is the name of the method for errors.
    ///
    /// # Errors
    /// When the problem has no such relaxation, an instance cannot be solved, or the observer
    /// interrupts.
    pub fn apply(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
        method: &str,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Option<LabeledDataset>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut relabeled = data.clone();
        if let Some(robust) = &self.robust {
            oracle
                .require_plain_costs()
                .map_err(|error| error.for_method(method))?;
            robust.replace_costs_by_averages(&mut relabeled, rows);
        }
        observer.begin("relabeling", rows.len() as u64);
        let results = match self.relaxed {
            None => oracle.solve_rows(relabeled.data.costs(), rows, observer)?,
            Some(kind) => oracle
                .relax_rows(relabeled.data.costs(), rows, kind, observer)
                .map_err(|error| error.for_method(method))?,
        };
        observer.end();
        for (row, result) in rows.iter().zip(results) {
            relabeled.labels[*row] = result.map_err(|failure| Error::solver(*row, failure))?;
        }
        Ok(Some(relabeled))
    }
}

impl fmt::Display for TrainingLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(robust) = self.robust {
            write!(f, " {robust}")?;
        }
        match self.relaxed {
            None => Ok(()),
            Some(Relaxation::Plain) => f.write_str(" labels relaxed"),
            Some(Relaxation::Tight) => f.write_str(" labels relaxed tight"),
        }
    }
}
