//! `auto`: one default for whoever does not want to choose.
//!
//! Two races, both judged by regret on validation rows. First, cost-sensitive losses that need no
//! solve while they train: MSE, MAE(O,S) and MSE(O,S), in a few epochs of large, shrinking steps.
//! Then the winner is trained on with SPO+, its solver calls answered as well as the budget allows:
//! exactly, by the tight relaxation, by local search, by the plain relaxation, or from a pool.
//! Where each item has features of its own, SPO+ starts afresh, since one-sided losses say little
//! there, and from the winner too if that is affordable.
//!
//! What is affordable is planned from the work of a solve, counted while labels were found
//! (`solve_times`), never from a clock, so that the same seed and budget give the same model on any
//! machine. The one exception is a solver of the user's own, whose work nobody can count: its
//! seconds are stated (`auto 60s solve 0.5s`), or timed once, and the report then says so. The loss
//! is rescaled throughout: large tours would stall otherwise.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{FitResult, StageTrainer, TrainingContext, TrainingSettings, TrainingStage, train};
use crate::error::{Error, Result};
use crate::loss::{BaseError, CosSpec, ErrorSide, LossSpec};
use crate::predict::PredictorSpec;
use crate::problem::ProblemSpec;

mod racing;
mod solve_times;

use racing::CandidateRace;

/// A method by its label, or the choice left to the program: `auto`, `auto 120s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Method {
    /// Races within a budget.
    Auto(AutoBudget),
    /// One method.
    Stages(Box<TrainingStage>),
}

/// The budget of [`Approach::Auto`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoBudget {
    /// Processor seconds of training, labels and the final evaluation not counted, as planned
    /// beforehand.
    pub seconds: f64,
    /// Seconds of one solve as the user states them; needed for solvers of the user's own only.
    pub solve_seconds: Option<f64>,
}

impl AutoBudget {
    /// Seconds unless told otherwise.
    const DEFAULT_SECONDS: f64 = 60.0;
}

impl Default for AutoBudget {
    fn default() -> Self {
        Self {
            seconds: Self::DEFAULT_SECONDS,
            solve_seconds: None,
        }
    }
}

/// One candidate of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateReport {
    /// What was trained.
    pub method: String,
    /// Its mean regret on the validation rows that judge; none where it failed or nothing was
    /// affordable.
    pub regret: Option<f64>,
    /// What the regret is that of.
    #[serde(default)]
    pub scoring: ScoringKind,
    /// Seconds it took.
    pub seconds: f64,
}

/// How a candidate was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoringKind {
    /// By the regret of its decisions.
    #[default]
    Exact,
    /// By the regret of decisions of the linear relaxation, where exact solves take too long.
    Relaxed,
    /// Not at all: even that takes too long.
    Unscored,
    /// It could not be trained or judged.
    Failed,
}

/// MAE(O,S): the strongest loss that needs no solve beyond the labels.
impl Default for Method {
    fn default() -> Self {
        let loss = CosSpec {
            side: ErrorSide::OneSided,
            scale_invariant: true,
            ..CosSpec::plain(BaseError::Absolute)
        };
        Self::Stages(Box::new(LossSpec::from(loss).into()))
    }
}

impl Method {
    /// Trains: one method, or whatever wins.
    ///
    /// # Errors
    /// As [`train`]; candidates that fail leave the race, unless all do.
    pub fn train(
        &self,
        task: &TrainingContext<'_>,
        (predictor, settings): (&PredictorSpec, TrainingSettings),
        problem: &ProblemSpec,
    ) -> Result<(FitResult, Vec<CandidateReport>)> {
        match self {
            Self::Stages(method) => {
                let trainer =
                    StageTrainer::new(method.as_ref().clone(), predictor.clone(), settings);
                Ok((train(task, &trainer, problem)?, Vec::new()))
            }
            Self::Auto(auto) => {
                CandidateRace::new(task, (predictor, settings), (problem, *auto))?.run()
            }
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stages(method) => method.fmt(f),
            Self::Auto(auto) => auto.fmt(f),
        }
    }
}

impl fmt::Display for AutoBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("auto")?;
        if self.seconds != Self::DEFAULT_SECONDS {
            write!(f, " {}s", self.seconds)?;
        }
        self.solve_seconds
            .map_or(Ok(()), |seconds| write!(f, " solve {seconds}s"))
    }
}

/// Reads `60s` or `60`.
fn read_seconds(word: &str) -> Option<f64> {
    word.trim_end_matches('s')
        .parse::<f64>()
        .ok()
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

impl AutoBudget {
    /// Reads what follows the word `auto`.
    fn read(rest: &str) -> Result<Self> {
        let wrong = || {
            Error::setting(format!(
                "auto takes seconds, and seconds of one solve of your own solver, not '{}': auto \
                    120s solve 0.5s",
                rest.trim()
            ))
        };
        let mut auto = Self::default();
        let words: Vec<&str> = rest.split_whitespace().collect();
        let mut words = words.as_slice();
        if let [seconds, rest @ ..] = words
            && *seconds != "solve"
        {
            auto.seconds = read_seconds(seconds).ok_or_else(wrong)?;
            words = rest;
        }
        match words {
            [] => Ok(auto),
            ["solve", seconds] => {
                auto.solve_seconds = Some(read_seconds(seconds).ok_or_else(wrong)?);
                Ok(auto)
            }
            _ => Err(wrong()),
        }
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().strip_prefix("auto") {
            Some(rest) => AutoBudget::read(rest).map(Self::Auto),
            None => Ok(Self::Stages(Box::new(text.parse()?))),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::{AutoBudget, Method};

    #[test]
    fn approaches_read_back_as_they_were_written() {
        for name in [
            "auto",
            "auto 120s",
            "auto 0.5s",
            "auto 120s solve 0.5s",
            "auto solve 2s",
            "MAE(O,S)",
            "MAE(O,S) then SPO+",
        ] {
            assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
        }
        assert_eq!(
            "auto 60".parse::<Method>().unwrap(),
            Method::Auto(AutoBudget::default())
        );
        assert!(
            "auto soon"
                .parse::<Method>()
                .unwrap_err()
                .to_string()
                .contains("auto 120s")
        );
        assert!("autumn".parse::<Method>().is_err());
        assert!("auto 60s solve".parse::<Method>().is_err());
        assert!("auto 60s solve -1s".parse::<Method>().is_err());
    }
}
