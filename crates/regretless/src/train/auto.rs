//! `auto`: one default for whoever does not want to choose.
//!
//! Two races, both judged by regret on validation rows. First, cost-sensitive losses that need no solve while they
//! train: MSE, MAE(O,S) and MSE(O,S), in a few epochs of large, shrinking steps. Then the winner is trained on with
//! SPO+, its questions answered as well as the budget allows: exactly, by the tight relaxation, by local search, by the
//! plain relaxation, or from a pool. Where each item has features of its own, SPO+ starts afresh, since one-sided losses
//! say little there, and from the winner too if that is affordable.
//!
//! What is affordable is planned from rough times of a solve on one thread, never from a clock, so that the same
//! seed and budget give the same model on any machine. The loss is rescaled throughout: large tours would
//! stall otherwise.

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Method, Recipe, Select, Settings, Task, TrainReport, Trained, train};
use crate::data::Shape;
use crate::error::{Error, Result};
use crate::evaluate::{predicted, regrets};
use crate::loss::{BaseError, Cos, LossSpec, Side};
use crate::predict::{Model, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::solve::Limits;
use crate::solve::relax::Relaxation;

/// Validation rows that judge at most.
const MOST_JUDGES: usize = 400;
/// Most epochs of one competitor: as steps shrink to nothing, more would change little.
const MOST_EPOCHS: usize = 20;
/// How much larger than usual the first of the shrinking steps is.
const HASTE: f64 = 10.0;

/// A method by its label, or the choice left to the program: `auto`, `auto 120s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Approach {
    /// Races within a budget.
    Auto(Auto),
    /// One method.
    Method(Box<Method>),
}

/// The budget of [`Approach::Auto`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auto {
    /// Seconds on one thread of a usual machine, as planned beforehand.
    pub seconds: f64,
}

impl Default for Auto {
    fn default() -> Self {
        Self { seconds: 60.0 }
    }
}

/// One competitor of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What was trained.
    pub method: String,
    /// Its mean regret on the rows that judge; none where it failed.
    pub regret: Option<f64>,
    /// Seconds it took.
    pub seconds: f64,
}

/// MAE(O,S): the strongest loss that needs no solve beyond the labels.
impl Default for Approach {
    fn default() -> Self {
        let loss = Cos { side: Side::OneSided, scale_invariant: true, ..Cos::plain(BaseError::Absolute) };
        Self::Method(Box::new(LossSpec::Cos(loss).into()))
    }
}

impl Approach {
    /// Trains: one method, or whatever wins.
    ///
    /// # Errors
    /// As [`train`]; competitors that fail leave the race, unless all do.
    pub fn train(
        &self,
        task: &Task<'_>,
        (predictor, settings): (&PredictorSpec, Settings),
        problem: &ProblemSpec,
    ) -> Result<(Trained, Vec<Tried>)> {
        match self {
            Self::Method(method) => {
                let recipe = Recipe::new(method.as_ref().clone(), predictor.clone(), settings);
                Ok((train(task, &recipe, problem)?, Vec::new()))
            }
            Self::Auto(auto) => Race::new(task, (predictor, settings), (problem, *auto))?.run(),
        }
    }
}

/// Everything the competitors share.
struct Race<'a> {
    task: &'a Task<'a>,
    predictor: &'a PredictorSpec,
    settings: Settings,
    problem: &'a ProblemSpec,
    seconds: f64,
    judges: Vec<usize>,
    tried: Vec<Tried>,
    /// Regret, model and report of the best so far.
    best: Option<(f64, Trained)>,
    began: Instant,
}

impl<'a> Race<'a> {
    fn new(
        task: &'a Task<'a>,
        (predictor, settings): (&'a PredictorSpec, Settings),
        (problem, auto): (&'a ProblemSpec, Auto),
    ) -> Result<Self> {
        if task.split.validation.is_empty() {
            return Err(Error::setting("auto judges by validation rows; give some, or choose a loss"));
        }
        let settings = Settings { rescale: true, select: Select::ValidationLoss, join_validation: false, ..settings };
        let mut judges = task.split.validation.clone();
        let affordable = 0.02 * auto.seconds / effort(problem);
        judges.truncate((affordable as usize).clamp(10, MOST_JUDGES));
        let (tried, best, began) = (Vec::new(), None, Instant::now());
        Ok(Self { task, predictor, settings, problem, seconds: auto.seconds, judges, tried, best, began })
    }

    fn run(mut self) -> Result<(Trained, Vec<Tried>)> {
        let mut failure = None;
        for label in self.first_race() {
            self.enter(&label, None).unwrap_or_else(|error| failure = Some(error));
            self.stop_if_asked(&failure)?;
        }
        let winner = self.best.as_ref().map(|(_, trained)| trained.model.clone());
        for (label, afresh) in self.second_race() {
            let start = if afresh { None } else { winner.as_ref() };
            self.enter(&label, start).unwrap_or_else(|error| failure = Some(error));
            self.stop_if_asked(&failure)?;
        }
        let (_, mut trained) = match (self.best, failure) {
            (Some(best), _) => best,
            (None, failure) => return Err(failure.unwrap_or(Error::Interrupted)),
        };
        trained.report.seconds = self.began.elapsed().as_secs_f64();
        Ok((trained, self.tried))
    }

    fn stop_if_asked(&self, failure: &Option<Error>) -> Result<()> {
        let asked = self.task.watch.interrupted() || matches!(failure, Some(Error::Interrupted));
        if asked { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Losses that need no solve while they train, or one per row.
    fn first_race(&self) -> Vec<String> {
        let (rate, epochs) = (HASTE * self.settings.learning_rate, self.settings.epochs.min(MOST_EPOCHS));
        let label = |loss: &str| format!("{loss} lr {rate} epochs {epochs} decay");
        ["MSE", "MAE(O,S)", "MSE(O,S)"].map(label).into()
    }

    /// Training rows of an epoch.
    fn rows(&self) -> f64 {
        self.settings.rows_of_epoch(self.task.split.train.len()) as f64
    }

    /// Ways to train on with SPO+, and whether they start afresh.
    fn second_race(&self) -> Vec<(String, bool)> {
        let rows = self.rows();
        let (Some((answers, seconds)), rate) = (self.answers(), self.settings.learning_rate) else { return Vec::new() };
        let affordable = (0.8 * self.seconds / (seconds * rows)) as usize;
        let local = matches!(self.task.data.data().features().shape(), Shape::Long { .. });
        let entries = [(HASTE * rate, local), (HASTE * rate, false)];
        let runs = if local && affordable >= 6 { 2 } else { 1 };
        let each = (affordable / runs).clamp(1, MOST_EPOCHS);
        let label = |rate: f64| format!("SPO+{answers} lr {rate} epochs {each} decay");
        entries[..runs].iter().map(|(rate, afresh)| (label(*rate), *afresh)).collect()
    }

    /// The best way to answer questions of which three epochs are affordable, and its seconds a question.
    fn answers(&self) -> Option<(&'static str, f64)> {
        let problem = self.task.oracle.problem();
        let (exact, limits) = (effort(self.problem), Limits::default());
        let mut ways = vec![("", exact)];
        if problem.relaxer(Relaxation::Tight, &limits).is_some() {
            ways.push((" relax tight", exact * relaxed_share(self.problem)));
        }
        if problem.quick_search(&limits).is_some() {
            ways.push((" lk quick", exact * 0.1));
        }
        if problem.relaxer(Relaxation::Plain, &limits).is_some() {
            ways.push((" relax", exact * relaxed_share(self.problem)));
        }
        ways.push((" cache 5%", exact * 0.05));
        let affordable = |(_, seconds): &(&str, f64)| 3.0 * seconds * self.rows() <= 0.8 * self.seconds;
        ways.into_iter().find(affordable)
    }

    /// Trains and judges a competitor.
    fn enter(&mut self, label: &str, start: Option<&Model>) -> Result<()> {
        let mut settings = self.settings;
        if label.starts_with("SPO+") {
            // To judge epochs would take solves; where steps shrink to nothing the last one is as good as any.
            settings.select = Select::Last;
        }
        let mut recipe = Recipe::new(label.parse::<Method>()?, self.predictor.clone(), settings);
        recipe.start = start.cloned();
        let begun = Instant::now();
        let outcome = train(self.task, &recipe, self.problem).and_then(|trained| Ok((self.judge(&trained)?, trained)));
        let method = start.map_or_else(|| label.to_string(), |start| format!("{} then {label}", start.about.loss));
        let regret = outcome.as_ref().ok().map(|(regret, _)| *regret);
        self.tried.push(Tried { method, regret, seconds: begun.elapsed().as_secs_f64() });
        let (regret, trained) = outcome?;
        let rounds = |best: &TrainReport| best.rounds.clone();
        if self.best.as_ref().is_none_or(|(least, _)| regret < *least) {
            let mut trained = trained;
            if let (Some(_), Some((_, before))) = (start, &self.best) {
                trained.report.rounds = [rounds(&before.report), trained.report.rounds].concat();
                trained.report.solves = trained.report.solves + before.report.solves;
            }
            self.best = Some((regret, trained));
        }
        Ok(())
    }

    fn judge(&self, trained: &Trained) -> Result<f64> {
        let data = self.task.data;
        let predictions = predicted(&trained.model, data, &self.judges)?;
        let regrets = regrets(&predictions, data, &self.judges, (self.task.oracle, self.task.watch))?;
        Ok(regrets.iter().sum::<f64>() / regrets.len() as f64)
    }
}

/// Rough seconds of one solve on one thread: a plan, not a promise.
fn effort(problem: &ProblemSpec) -> f64 {
    let tour = |nodes: usize| 1e-4 * (nodes as f64 / 20.0).powf(2.3);
    match problem {
        ProblemSpec::ShortestPath(path) => 1e-8 * (path.grid[0] * path.grid[1]) as f64 + 3e-7,
        ProblemSpec::TopK(_) => 1e-6,
        ProblemSpec::Knapsack(sack) => {
            let (items, rows) = (sack.weights.first().map_or(0, Vec::len) as f64, sack.weights.len() as f64);
            1e-5 * (items / 32.0).powf(1.8) * rows.max(2.0) / 2.0
        }
        ProblemSpec::Tsp(tsp) => tour(tsp.nodes),
        ProblemSpec::Cvrp(cvrp) => 0.04 * ((cvrp.demands.len() + 1) as f64 / 20.0).powf(2.0),
        ProblemSpec::Linear(_) | ProblemSpec::LinearArrays(_) | ProblemSpec::Given(_) => 1e-2,
        #[cfg(feature = "highs")]
        ProblemSpec::Schedule(_) => 0.3,
    }
}

/// What a relaxed solve takes of an exact one.
fn relaxed_share(problem: &ProblemSpec) -> f64 {
    match problem {
        ProblemSpec::ShortestPath(_) | ProblemSpec::TopK(_) => 1.0,
        ProblemSpec::Knapsack(_) | ProblemSpec::Linear(_) | ProblemSpec::LinearArrays(_) | ProblemSpec::Given(_) => 0.2,
        ProblemSpec::Tsp(tsp) => {
            if tsp.nodes <= 64 {
                1.0
            } else {
                0.3
            }
        }
        ProblemSpec::Cvrp(_) => 0.03,
        #[cfg(feature = "highs")]
        ProblemSpec::Schedule(_) => 0.05,
    }
}

impl fmt::Display for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => method.fmt(f),
            Self::Auto(auto) if *auto == Auto::default() => f.write_str("auto"),
            Self::Auto(auto) => write!(f, "auto {}s", auto.seconds),
        }
    }
}

impl FromStr for Approach {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(rest) = text.trim().strip_prefix("auto") else { return Ok(Self::Method(Box::new(text.parse()?))) };
        if rest.trim().is_empty() {
            return Ok(Self::Auto(Auto::default()));
        }
        let seconds = rest.trim().trim_end_matches('s').parse::<f64>().ok().filter(|s| s.is_finite() && *s > 0.0);
        let wrong = || Error::setting(format!("auto takes seconds, not '{}': auto 120s", rest.trim()));
        Ok(Self::Auto(Auto { seconds: seconds.ok_or_else(wrong)? }))
    }
}

impl TryFrom<String> for Approach {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Approach> for String {
    fn from(approach: Approach) -> Self {
        approach.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{Approach, Auto};

    #[test]
    fn approaches_read_back_as_they_were_written() {
        for label in ["auto", "auto 120s", "auto 0.5s", "MAE(O,S)", "MAE(O,S) then SPO+"] {
            assert_eq!(label.parse::<Approach>().unwrap().to_string(), label);
        }
        assert_eq!("auto 60".parse::<Approach>().unwrap(), Approach::Auto(Auto::default()));
        assert!("auto soon".parse::<Approach>().unwrap_err().to_string().contains("auto 120s"));
        assert!("autumn".parse::<Approach>().is_err());
    }
}
