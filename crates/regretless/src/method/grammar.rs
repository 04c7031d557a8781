//! The grammar of method names: parses and prints methods, stages and the settings of a stage.
//!
//! ```text
//! method   = "auto" [seconds] ["solve" seconds] ["with" stages {"or" stages}]  |  stages
//!          | "least squares"  |  "ridge(" penalty ")"
//! stages   = stage {"then" stage}
//! stage    = loss {oracle setting | label setting | override}
//! override = "lr" x | "epochs" n | "rows-per-epoch" n | "batch-size" n | "lr-decay"
//! ```
//!
//! Losses are parsed in `loss/spec.rs`, oracle settings in `oracle/settings.rs`, label settings in
//! `label/training.rs`. Settings at their defaults are not printed.

use std::fmt;
use std::str::FromStr;

use super::{AutoBudget, Method, StageOverrides, TrainingStage};
use crate::error::{Error, Result};
use crate::label::TrainingLabels;
use crate::loss::LossSpec;
use crate::oracle::OracleSettings;
use crate::renamed;

/// The name of linear regression in closed form.
const LEAST_SQUARES: &str = "least squares";
/// What names of predictors that all costs share begin with.
pub(super) const SHARED: &str = "shared ";

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(rest) = text.trim().strip_prefix("auto") {
            return parse_auto(rest);
        }
        if let Some(method) = parse_closed_form(text.trim())? {
            return Ok(method);
        }
        parse_stages(text).map(Self::Stages)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto { budget, candidates } => {
                budget.fmt(f)?;
                for (index, stages) in candidates.iter().enumerate() {
                    f.write_str(if index == 0 { " with " } else { " or " })?;
                    write_stages(f, stages)?;
                }
                Ok(())
            }
            Self::LeastSquares { penalty, is_shared } => {
                if *is_shared {
                    f.write_str(SHARED)?;
                }
                if *penalty == 0.0 {
                    f.write_str(LEAST_SQUARES)
                } else {
                    write!(f, "ridge({penalty})")
                }
            }
            Self::InvalidCombination(name) => f.write_str(name),
            Self::Stages(stages) => write_stages(f, stages),
        }
    }
}

/// Parses least squares or ridge regression; `None` for other methods.
fn parse_closed_form(text: &str) -> Result<Option<Method>> {
    let shared = text.strip_prefix(SHARED);
    let (text, is_shared) = (shared.unwrap_or(text), shared.is_some());
    if text == LEAST_SQUARES {
        return Ok(Some(Method::LeastSquares {
            penalty: 0.0,
            is_shared,
        }));
    }
    let penalty = text
        .strip_prefix("ridge(")
        .and_then(|rest| rest.strip_suffix(')'));
    let Some(penalty) = penalty else {
        return Ok(None);
    };
    match penalty.trim().parse::<f64>() {
        Ok(penalty) if penalty.is_finite() && penalty > 0.0 => {
            Ok(Some(Method::LeastSquares { penalty, is_shared }))
        }
        _ => Err(
            Error::setting(format!("'{text}': the penalty must be a positive number"))
                .with_remedy("write ridge(0.1), or least squares for none"),
        ),
    }
}

/// Parses `stage {"then" stage}`.
fn parse_stages(text: &str) -> Result<Vec<TrainingStage>> {
    // With its spaces: no word of a loss or a setting contains them.
    text.split(" then ").map(parse_stage).collect()
}

fn write_stages(f: &mut fmt::Formatter<'_>, stages: &[TrainingStage]) -> fmt::Result {
    for (index, stage) in stages.iter().enumerate() {
        if index > 0 {
            f.write_str(" then ")?;
        }
        write!(f, "{stage}")?;
    }
    Ok(())
}

/// Parses the text after the word `auto`.
fn parse_auto(text: &str) -> Result<Method> {
    let (budget, candidates) = match text.split_once(" with ") {
        Some((budget, candidates)) => {
            let candidates: Result<_> = candidates.split(" or ").map(parse_stages).collect();
            (budget, candidates?)
        }
        None => (text, Vec::new()),
    };
    Ok(Method::Auto {
        budget: AutoBudget::parse(budget)?,
        candidates,
    })
}

impl TryFrom<String> for Method {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.to_string()
    }
}

impl FromStr for TrainingStage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse::<Method>()?.into_single_stage()
    }
}

impl fmt::Display for TrainingStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            loss,
            oracle,
            labels,
            overrides,
        } = self;
        write!(f, "{loss}{oracle}{labels}{overrides}")
    }
}

fn parse_stage(text: &str) -> Result<TrainingStage> {
    let words = split_words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [loss, settings @ ..] = words.as_slice() else {
        return Err(Error::unknown("loss", text, &LossSpec::usage()));
    };
    let mut stage = TrainingStage::from(loss.parse::<LossSpec>()?);
    let mut rest = settings;
    while let Some(word) = rest.first() {
        let is_setting = parse_setting(&mut stage, &mut rest)
            .map_err(|error| Error::setting(format!("method '{text}': {error}")))?;
        if !is_setting {
            return Err(unknown_setting(text, word));
        }
    }
    stage.check()?;
    Ok(stage)
}

/// Parses one setting from the front of a list of words; false if there is none.
fn parse_setting(stage: &mut TrainingStage, words: &mut &[&str]) -> Result<bool> {
    Ok(stage.oracle.read(words)? || stage.labels.read(words)? || stage.overrides.parse(words)?)
}

/// Splits at white space outside brackets.
fn split_words(text: &str) -> Vec<String> {
    let (mut words, mut depth) = (vec![String::new()], 0_i32);
    for c in text.chars() {
        // Arguments of a loss may have spaces: `PFYL(samples=2, sigma=0.5)` is one word.
        depth += i32::from(c == '(') - i32::from(c == ')');
        match words.last_mut() {
            Some(word) if !c.is_whitespace() || depth > 0 => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn unknown_setting(text: &str, word: &str) -> Error {
    let choices = [
        OracleSettings::EXAMPLES.as_slice(),
        &TrainingLabels::EXAMPLES,
        &StageOverrides::USAGE,
        &["then another method"],
    ];
    let subject = format!("setting in method '{text}':");
    Error::unknown(&subject, word, &choices.concat())
}

impl StageOverrides {
    /// How overrides look, for error messages.
    const USAGE: [&'static str; 5] = [
        "lr 0.001",
        "epochs 5",
        "rows-per-epoch 300",
        "batch-size 8",
        "lr-decay",
    ];

    /// Parses one override from the front of a list of words; false if there is none.
    fn parse(&mut self, words: &mut &[&str]) -> Result<bool> {
        let [name, rest @ ..] = *words else {
            return Ok(false);
        };
        let argument = rest.first().copied().unwrap_or_default();
        let (is_repeated, num_arguments) = match *name {
            "lr" | "learning_rate" => {
                let rate = parse_rate(name, argument)?;
                (self.learning_rate.replace(rate).is_some(), 1)
            }
            "epochs" => {
                let epochs = parse_count(name, argument, 0)?;
                (self.epochs.replace(epochs).is_some(), 1)
            }
            "rows-per-epoch" => {
                let rows = parse_count(name, argument, 1)?;
                (self.rows_per_epoch.replace(rows).is_some(), 1)
            }
            "batch-size" => {
                let rows = parse_count(name, argument, 1)?;
                (self.batch_size.replace(rows).is_some(), 1)
            }
            "lr-decay" => (std::mem::replace(&mut self.lr_decay, true), 0),
            "rows" => return Err(renamed::refuse(name, "rows-per-epoch")),
            "batch" => return Err(renamed::refuse(name, "batch-size")),
            "decay" => return Err(renamed::refuse(name, "lr-decay")),
            _ => return Ok(false),
        };
        if is_repeated {
            return Err(Error::setting(format!("'{name}' is given twice")));
        }
        *words = &rest[num_arguments..];
        Ok(true)
    }
}

impl fmt::Display for StageOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.learning_rate {
            write!(f, " lr {rate}")?;
        }
        if let Some(epochs) = self.epochs {
            write!(f, " epochs {epochs}")?;
        }
        if let Some(rows) = self.rows_per_epoch {
            write!(f, " rows-per-epoch {rows}")?;
        }
        if let Some(rows) = self.batch_size {
            write!(f, " batch-size {rows}")?;
        }
        if self.lr_decay {
            f.write_str(" lr-decay")?;
        }
        Ok(())
    }
}

fn parse_count(name: &str, text: &str, min: usize) -> Result<usize> {
    match text.parse::<usize>() {
        Ok(count) if count >= min => Ok(count),
        Ok(_) | Err(_) => Err(Error::setting(format!(
            "{name} takes an integer of at least {min}, not '{text}': {name} 5"
        ))),
    }
}

fn parse_rate(name: &str, text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        Ok(_) | Err(_) => Err(Error::setting(format!(
            "{name} takes a number above 0, not '{text}': lr 0.001"
        ))),
    }
}

impl AutoBudget {
    /// Parses the text after the word `auto`, without candidates.
    fn parse(text: &str) -> Result<Self> {
        let invalid = || {
            Error::setting(format!(
                "auto takes its budget in seconds, and the seconds of one solve of a user-defined \
                 solver, not '{}': auto 120s solve 0.5s",
                text.trim()
            ))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (seconds, solve_seconds) = match words.as_slice() {
            [] => (None, None),
            ["solve", solve] => (None, Some(*solve)),
            [seconds] => (Some(*seconds), None),
            [seconds, "solve", solve] => (Some(*seconds), Some(*solve)),
            _ => return Err(invalid()),
        };
        let mut budget = Self::default();
        if let Some(word) = seconds {
            budget.seconds = parse_seconds(word).ok_or_else(invalid)?;
        }
        if let Some(word) = solve_seconds {
            budget.solve_seconds = Some(parse_seconds(word).ok_or_else(invalid)?);
        }
        Ok(budget)
    }
}

/// Parses `60s` or `60`.
fn parse_seconds(word: &str) -> Option<f64> {
    let seconds = word.trim_end_matches('s').parse::<f64>().ok()?;
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

impl fmt::Display for AutoBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("auto")?;
        if self.seconds != Self::DEFAULT_SECONDS {
            write!(f, " {}s", self.seconds)?;
        }
        if let Some(seconds) = self.solve_seconds {
            write!(f, " solve {seconds}s")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
