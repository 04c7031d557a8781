//! What one method of a recipe may spend: its own learning rate and number of epochs.
//!
//! In writing they stand behind the method they are for: `MAE(O,S) then SPO+ lr 0.001 epochs 5`. What is not given comes
//! from the settings.

use std::fmt;

use super::Settings;
use crate::error::{Error, Result};

/// Settings of one method that win over those of the whole training.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Size of a step.
    pub learning_rate: Option<f64>,
    /// Most passes over the training rows.
    pub epochs: Option<usize>,
}

impl Budget {
    /// How settings look, for messages.
    pub const CHOICES: [&'static str; 2] = ["lr 0.001", "epochs 5"];

    /// Reads one setting from the front of a list of words, if it is one; the rest stays.
    ///
    /// # Errors
    /// When the setting is given twice or its number makes no sense.
    pub fn read(&mut self, words: &mut &[&str]) -> Result<bool> {
        let [name @ ("lr" | "learning_rate" | "epochs"), rest @ ..] = *words else { return Ok(false) };
        let number = rest.first().copied().unwrap_or_default();
        let twice = if *name == "epochs" {
            let epochs = number.parse::<usize>().ok();
            let wrong = || Error::setting(format!("epochs takes a whole number, not '{number}': epochs 5"));
            self.epochs.replace(epochs.ok_or_else(wrong)?).is_some()
        } else {
            let rate = number.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
            let wrong = || Error::setting(format!("{name} takes a number above 0, not '{number}': lr 0.001"));
            self.learning_rate.replace(rate.ok_or_else(wrong)?).is_some()
        };
        if twice {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        *words = &rest[1..];
        Ok(true)
    }

    /// The settings with this budget.
    pub(super) fn of(self, settings: Settings) -> Settings {
        Settings {
            learning_rate: self.learning_rate.unwrap_or(settings.learning_rate),
            epochs: self.epochs.unwrap_or(settings.epochs),
            ..settings
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.learning_rate {
            write!(f, " lr {rate}")?;
        }
        self.epochs.map_or(Ok(()), |epochs| write!(f, " epochs {epochs}"))
    }
}
