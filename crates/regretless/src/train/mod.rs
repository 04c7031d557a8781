//! Training: from labelled data to a model.
//!
//! [`train`] is the way in. It prepares the data, trains once or, where the loss weights instances by
//! the regret of a baseline, several rounds (`weighting.rs`); each round is the loop in `fit.rs`, each
//! step of it is in `step.rs`, and `select.rs` decides which epoch is kept and when to stop.

use std::time::Instant;

use crate::data::{Features, Split};
use crate::error::{Error, Result};
use crate::label::Labelled;
use crate::loss::{Loss, LossSpec, Weighting};
use crate::oracle::Oracle;
use crate::predict::{About, InputMap, Model, Network, OutputMap, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::watch::Watch;

mod fit;
mod optimizer;
mod report;
mod select;
mod settings;
mod step;
mod weighting;

pub use optimizer::Optimizer;
pub use report::{EpochReport, RoundReport, Stopped, TrainReport};
pub use select::Select;
pub use settings::Settings;
pub use weighting::{instance_costs, reweighted};

/// What is trained on, and with whose help.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Instances with their best decisions.
    pub data: &'a Labelled,
    /// Which of them train and validate.
    pub split: &'a Split,
    /// Solves the problem where a loss, an instance weight or the validation needs it.
    pub oracle: &'a Oracle,
    /// Watches the progress.
    pub watch: &'a dyn Watch,
}

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// What is minimised.
    pub loss: LossSpec,
    /// What is trained.
    pub predictor: PredictorSpec,
    /// How.
    pub settings: Settings,
}

/// A trained model and how it came about.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model, its predictions in the user's sense.
    pub model: Model,
    /// What happened.
    pub report: TrainReport,
}

/// Trains a model; the same data and recipe give the same bytes, whatever the number of threads.
///
/// # Errors
/// When the recipe does not fit the data, a value is not finite, a solve fails, or the user interrupts.
pub fn train(task: &Task<'_>, recipe: &Recipe, problem: &ProblemSpec) -> Result<Trained> {
    recipe.settings.check(task.split)?;
    let (started, solves_before) = (Instant::now(), task.oracle.solves());
    let ready = Ready::new(task, recipe);
    let rounds = Rounds::of(recipe.loss.weighting());
    let mut members: Vec<Network> = Vec::new();
    let mut reports = Vec::new();
    let mut weights = None;
    let loss = recipe.loss.build(task.data, task.oracle, task.watch)?;
    for round in 1..=rounds.count {
        let objective = Objective { loss: loss.as_ref(), weights: weights.as_deref() };
        let (network, report) = fit::fit(&ready, objective, ready.start(&members))?;
        if !rounds.ensemble {
            members.clear();
        }
        members.push(network);
        reports.push(report);
        if round < rounds.count {
            weights = Some(weighting::weights(&ready, loss.as_ref(), &members, rounds.rule)?);
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let report = TrainReport { rounds: reports, seconds, solves: task.oracle.solves() - solves_before };
    Ok(Trained { model: ready.model(members, problem)?, report })
}

/// What a round minimises: a loss, its instances weighted or all alike.
#[derive(Clone, Copy)]
struct Objective<'a> {
    loss: &'a dyn Loss,
    /// One factor per row of the table.
    weights: Option<&'a [f64]>,
}

impl Objective<'_> {
    fn weight(&self, instance: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[instance])
    }

    /// The factor that brings gradients to the order of 1.
    fn rescaling(&self, costs: usize) -> f64 {
        let mean = self.weights.map_or(1.0, |w| w.iter().sum::<f64>() / w.len().max(1) as f64);
        self.loss.rescaling(costs) / if mean > 0.0 { mean } else { 1.0 }
    }
}

/// How often a loss is trained, and what happens between.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    count: usize,
    ensemble: bool,
    rule: weighting::Rule,
}

impl Rounds {
    fn of(weighting: Weighting) -> Self {
        let rule = weighting::Rule::RegretOverLoss;
        match weighting {
            Weighting::Equal => Self { count: 1, ensemble: false, rule },
            Weighting::InstanceCosts => Self { count: 2, ensemble: false, rule },
            Weighting::Reweighted(w) => Self { count: 2, ensemble: false, rule: weighting::Rule::Reweighted(w) },
            Weighting::Iterative(count) => Self { count, ensemble: false, rule },
            Weighting::Ensemble(count) => Self { count, ensemble: true, rule },
        }
    }
}

/// A task with everything that is computed once: scaled features and the maps around the network.
struct Ready<'a> {
    task: &'a Task<'a>,
    recipe: &'a Recipe,
    features: Features,
    input: Option<InputMap>,
    output: OutputMap,
}

impl<'a> Ready<'a> {
    fn new(task: &'a Task<'a>, recipe: &'a Recipe) -> Self {
        let data = task.data.data();
        let mut features = data.features().clone();
        let input = recipe.settings.standardize.then(|| InputMap::fit(&features, &task.split.train));
        if let Some(map) = &input {
            map.apply(&mut features);
        }
        let fitted = OutputMap::fit(data, &task.split.train);
        let output = if recipe.settings.output_map { fitted } else { OutputMap::identity(fitted.scale.len()) };
        Self { task, recipe, features, input, output }
    }

    /// A fresh network, or the last one where retraining starts from the baseline.
    fn start(&self, members: &[Network]) -> Network {
        match members.last() {
            Some(baseline) if self.recipe.settings.warm_start => baseline.clone(),
            _ => {
                let (features, outputs) = (self.features.names().len(), self.output.scale.len());
                self.recipe.predictor.build(features, outputs, self.recipe.settings.seed)
            }
        }
    }

    fn model(self, members: Vec<Network>, problem: &ProblemSpec) -> Result<Model> {
        let data = self.task.data;
        let output = if data.sense().sign() < 0.0 { self.output.negated() } else { self.output };
        let problem = serde_json::to_value(problem);
        let about = About {
            loss: self.recipe.loss.to_string(),
            problem: problem.map_err(|e| Error::setting(format!("the problem cannot be written down: {e}")))?,
            seed: self.recipe.settings.seed,
            features: self.features.names().to_vec(),
            costs: data.data().cost_names().to_vec(),
            shape: self.features.shape(),
        };
        Ok(Model { members, input: self.input, output, about })
    }
}
