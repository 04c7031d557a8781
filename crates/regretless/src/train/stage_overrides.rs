//! What one method of a recipe may spend: its own learning rate, batch, number of epochs and rows
//! of each.
//!
//! In writing they stand behind the method they are for: `MAE(O,S) then SPO+ lr 0.001 epochs 5`.
//! What is not given comes from the settings.

use std::fmt;

use super::TrainingSettings;
use crate::error::{Error, Result};
use crate::renamed;

/// Settings of one method that win over those of the whole training.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageOverrides {
    /// Size of a step.
    pub learning_rate: Option<f64>,
    /// Most passes over the training rows.
    pub epochs: Option<usize>,
    /// Rows of an epoch.
    pub rows: Option<usize>,
    /// Rows per step.
    pub batch: Option<usize>,
    /// Whether steps shrink to nothing over the epochs.
    pub decay: bool,
}

impl StageOverrides {
    /// How settings look, for messages.
    pub const EXAMPLES: [&'static str; 5] = [
        "lr 0.001",
        "epochs 5",
        "rows-per-epoch 300",
        "batch-size 8",
        "lr-decay",
    ];

    /// Reads one setting from the front of a list of words, if it is one; the rest stays.
    ///
    /// # Errors
    /// When the setting is given twice or its number makes no sense.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        let Some((name, mut rest)) = words.split_first() else {
            return Ok(false);
        };
        let twice = match *name {
            "epochs" => self
                .epochs
                .replace(read_count(name, &mut rest, 0)?)
                .is_some(),
            "rows-per-epoch" => self.rows.replace(read_count(name, &mut rest, 1)?).is_some(),
            "batch-size" => self
                .batch
                .replace(read_count(name, &mut rest, 1)?)
                .is_some(),
            "lr" | "learning_rate" => self
                .learning_rate
                .replace(read_rate(name, &mut rest)?)
                .is_some(),
            "lr-decay" => std::mem::replace(&mut self.decay, true),
            "rows" => return Err(renamed::refuse(name, "rows-per-epoch")),
            "batch" => return Err(renamed::refuse(name, "batch-size")),
            "decay" => return Err(renamed::refuse(name, "lr-decay")),
            _ => return Ok(false),
        };
        if twice {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        *words = rest;
        Ok(true)
    }

    /// The settings with this budget.
    pub(super) fn apply_to(self, settings: TrainingSettings) -> TrainingSettings {
        TrainingSettings {
            learning_rate: self.learning_rate.unwrap_or(settings.learning_rate),
            epochs: self.epochs.unwrap_or(settings.epochs),
            rows_per_epoch: self.rows.or(settings.rows_per_epoch),
            batch_size: self.batch.unwrap_or(settings.batch_size),
            lr_decay: self.decay || settings.lr_decay,
            ..settings
        }
    }
}

/// The first word as a whole number of at least this size.
fn read_count(name: &str, words: &mut &[&str], min: usize) -> Result<usize> {
    let number = take(words);
    let count = number.parse::<usize>().ok().filter(|count| *count >= min);
    count.ok_or_else(|| {
        Error::setting(format!(
            "{name} takes a whole number, not '{number}': {name} 5"
        ))
    })
}

/// The first word as the size of a step.
fn read_rate(name: &str, words: &mut &[&str]) -> Result<f64> {
    let number = take(words);
    let rate = number
        .parse::<f64>()
        .ok()
        .filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| {
        Error::setting(format!(
            "{name} takes a number above 0, not '{number}': lr 0.001"
        ))
    })
}

fn take<'w>(words: &mut &[&'w str]) -> &'w str {
    let Some((first, rest)) = words.split_first() else {
        return "";
    };
    *words = rest;
    first
}

impl fmt::Display for StageOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.learning_rate {
            write!(f, " lr {rate}")?;
        }
        for (name, count) in [
            ("epochs", self.epochs),
            ("rows-per-epoch", self.rows),
            ("batch-size", self.batch),
        ] {
            count.map_or(Ok(()), |count| write!(f, " {name} {count}"))?;
        }
        f.write_str(if self.decay { " lr-decay" } else { "" })
    }
}
