//! Training: from labelled data to a model.
//!
//! [`train`] is the way in. It prepares the data, trains once or, where the loss weights instances by
//! the regret of a baseline, several rounds (`weighting.rs`); each round is the loop in `fit.rs`, each
//! step of it is in `step.rs`, and `select.rs` decides which epoch is kept and when to stop.

use std::time::Instant;

use crate::data::{Features, Split};
use crate::error::{Error, Result};
use crate::label::Labelled;
use crate::loss::{Loss, Weighting};
use crate::oracle::{Answering, Oracle};
use crate::predict::{About, InputMap, Model, Network, OutputMap, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::watch::Watch;

mod engine;
mod fit;
mod fused;
mod method;
mod optimizer;
mod report;
mod select;
mod settings;
mod step;
mod weighting;

pub use method::Method;
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
    /// What is minimised, and how its questions are answered.
    pub method: Method,
    /// What is trained.
    pub predictor: PredictorSpec,
    /// How.
    pub settings: Settings,
    /// A trained model to start from; its networks and maps are used, whatever the predictor above.
    pub start: Option<Model>,
}

impl Recipe {
    /// A recipe that starts afresh.
    pub fn new(method: impl Into<Method>, predictor: PredictorSpec, settings: Settings) -> Self {
        Self { method: method.into(), predictor, settings, start: None }
    }
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
    let (started, counts_before) = (Instant::now(), task.oracle.counts());
    let split = recipe.settings.rows(task.split);
    let mut model = recipe.start.clone();
    let mut rounds = Vec::new();
    for (place, method) in recipe.method.stages().enumerate() {
        let settings = if place == 0 { recipe.settings } else { recipe.settings.later() };
        let robust = method.robust.map(|robust| robust.apply(task.data, &split.train, (task.oracle, task.watch)));
        let robust = robust.transpose()?;
        let task = Task { data: robust.as_ref().unwrap_or(task.data), split: &split, ..*task };
        let stage = Stage { method, predictor: &recipe.predictor, settings, start: model.as_ref() };
        let (trained, mut reports) = stage.run(&task, problem)?;
        model = Some(trained);
        rounds.append(&mut reports);
    }
    let mut model = model.ok_or_else(|| Error::setting("nothing to train"))?;
    model.about.loss = recipe.method.to_string();
    let counts = task.oracle.counts() - counts_before;
    let report = TrainReport { rounds, seconds: started.elapsed().as_secs_f64(), solves: counts };
    Ok(Trained { model, report })
}

/// One method of those a recipe trains one after the other.
#[derive(Clone, Copy)]
struct Stage<'a> {
    method: &'a Method,
    predictor: &'a PredictorSpec,
    settings: Settings,
    start: Option<&'a Model>,
}

impl Stage<'_> {
    fn run(&self, task: &Task<'_>, problem: &ProblemSpec) -> Result<(Model, Vec<RoundReport>)> {
        self.method.check()?;
        let ready = Ready::new(task, self)?;
        let rounds = Rounds::of(self.method.loss.weighting());
        let mut members: Vec<Network> = Vec::new();
        let mut reports = Vec::new();
        let mut weights = None;
        let loss = self.method.loss.build(task.data, task.oracle, task.watch)?;
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
        Ok((ready.model(members, problem)?, reports))
    }
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
    stage: &'a Stage<'a>,
    features: Features,
    input: Option<InputMap>,
    output: OutputMap,
    /// Where training starts, unless afresh.
    network: Option<Network>,
}

impl<'a> Ready<'a> {
    fn new(task: &'a Task<'a>, stage: &'a Stage<'a>) -> Result<Self> {
        let data = task.data.data();
        let mut features = data.features().clone();
        let settings = &stage.settings;
        let (input, output, network) = match stage.start {
            Some(model) => continued(model, task)?,
            None => {
                let input = settings.standardize.then(|| InputMap::fit(&features, &task.split.train));
                let fitted = OutputMap::fit(data, &task.split.train);
                let output = if settings.output_map { fitted } else { OutputMap::identity(fitted.scale.len()) };
                (input, output, None)
            }
        };
        if let Some(map) = &input {
            map.apply(&mut features);
        }
        Ok(Self { task, stage, features, input, output, network })
    }

    fn settings(&self) -> &Settings {
        &self.stage.settings
    }

    /// The factor training multiplies the loss by.
    fn rescaling(&self, objective: Objective<'_>) -> f64 {
        let settings = self.settings();
        let rescale = settings.rescale && settings.optimizer.ignores_scale();
        if rescale { objective.rescaling(self.task.data.data().costs().cols()) } else { 1.0 }
    }

    /// The last network where retraining starts from the baseline, the network of the model to start from, or
    /// a fresh one.
    fn start(&self, members: &[Network]) -> Network {
        let baseline = members.last().filter(|_| self.settings().warm_start);
        baseline.or(self.network.as_ref()).cloned().unwrap_or_else(|| {
            let (features, outputs) = (self.features.names().len(), self.output.scale.len());
            self.stage.predictor.build(features, outputs, self.settings().seed)
        })
    }

    /// The oracle as the method wants it to answer, knowing the best decisions of the training rows.
    fn answering(&self, loss: &dyn Loss) -> Result<Answering<'a>> {
        let method = self.stage.method;
        let asks = (&*method.stage_label(), self.settings().seed);
        let best = self.task.split.train.iter().map(|row| self.task.data.best(*row));
        let answering = Answering::new(self.task.oracle, method.oracle, asks)?.knowing(best, loss.compares());
        Ok(answering.remembering(self.task.data.len()))
    }

    /// The oracle as it judges: exactly, with the help of memories where the method wants them.
    fn judging(&self) -> Result<Answering<'a>> {
        let method = self.stage.method;
        let asks = (&*method.stage_label(), self.settings().seed);
        let answering = Answering::new(self.task.oracle, method.oracle.harmless(), asks)?;
        Ok(answering.remembering(self.task.data.len()))
    }

    fn model(self, members: Vec<Network>, problem: &ProblemSpec) -> Result<Model> {
        let data = self.task.data;
        let output = if data.sense().sign() < 0.0 { self.output.negated() } else { self.output };
        let problem = serde_json::to_value(problem);
        let about = About {
            loss: self.stage.method.to_string(),
            problem: problem.map_err(|e| Error::setting(format!("the problem cannot be written down: {e}")))?,
            seed: self.stage.settings.seed,
            features: self.features.names().to_vec(),
            costs: data.data().cost_names().to_vec(),
            shape: self.features.shape(),
        };
        Ok(Model { members, input: self.input, output, about })
    }
}

/// The maps and the network of a model that is trained on, its costs to be minimised.
fn continued(model: &Model, task: &Task<'_>) -> Result<(Option<InputMap>, OutputMap, Option<Network>)> {
    let data = task.data.data();
    model.check(data.features())?;
    if model.about.costs.len() != data.costs().cols() {
        let (known, found) = (model.about.costs.len(), data.costs().cols());
        return Err(Error::setting(format!("the model to start from predicts {known} costs, the table has {found}")));
    }
    let [network] = model.members.as_slice() else {
        let count = model.members.len();
        return Err(Error::setting(format!(
            "the model to start from is the mean of {count} networks, which cannot be trained on; start from a single one"
        )));
    };
    let output = model.output.clone();
    let output = if task.data.sense().sign() < 0.0 { output.negated() } else { output };
    Ok((model.input.clone(), output, Some(network.clone())))
}
