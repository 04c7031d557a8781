//! Labels to train on, where they are not the best decisions under the costs of the table.
//!
//! In writing they follow the loss: `MSE(O) knn(10,0.5)` trains on robust labels ([`Robust`]);
//! `SPO+ relax labels relaxed` on the optima of the linear relaxation, so that question and label
//! live in the same polytope (Mandi, Demirović, Stuckey and Guns 2020); `labels relaxed tight`
//! takes the strongest relaxation the problem has. Rows that validate and test keep their best
//! decisions.

use std::fmt;

use super::{KnnRobustCosts, LabeledDataset};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::solve::relaxation::Relaxation;

/// How labels to train on are made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrainingLabels {
    /// Whether costs are mixed with those of similar rows first.
    pub robust: Option<KnnRobustCosts>,
    /// Which relaxation labels are optima of, if not of the problem itself.
    pub relaxed: Option<Relaxation>,
}

impl TrainingLabels {
    /// How settings look, for messages.
    pub const EXAMPLES: [&'static str; 3] =
        ["knn(10,0.5)", "labels relaxed", "labels relaxed tight"];

    /// Reads one setting from the front of a list of words, if it is one; the rest stays.
    ///
    /// # Errors
    /// When the setting is given twice or is not complete.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        let (name, twice, count) = match words {
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
                    "'labels' takes what they are: labels relaxed",
                ));
            }
            [word, ..] => match KnnRobustCosts::parse_name(word) {
                Some(robust) => ("knn", self.robust.replace(robust).is_some(), 1),
                None => return Ok(false),
            },
            [] => return Ok(false),
        };
        if twice {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        *words = &words[count..];
        Ok(true)
    }

    /// The table with these labels in the listed rows, if they are others than those it has;
    /// `method` is who asks.
    ///
    /// # Errors
    /// When the problem has no such relaxation, an instance has no decision, or the user
    /// interrupts.
    pub fn apply(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
        method: &str,
        (oracle, observer): (&Oracle, &dyn Observer),
    ) -> Result<Option<LabeledDataset>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut made = data.clone();
        if let Some(robust) = &self.robust {
            robust.average_costs(&mut made, rows);
        }
        observer.begin("labelling anew", rows.len() as u64);
        let answers = match self.relaxed {
            None => oracle.solve_rows(made.data.costs(), rows, observer)?,
            Some(kind) => oracle.relax_rows((made.data.costs(), rows), kind, (method, observer))?,
        };
        observer.end();
        for (row, answer) in rows.iter().zip(answers) {
            made.best[*row] = answer.map_err(|failure| Error::solver(*row, failure))?;
        }
        Ok(Some(made))
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
