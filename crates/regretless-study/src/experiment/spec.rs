//! Specification of an experiment: problems, methods, seeds and training settings.
//!
//! ```toml
//! name = "mine"
//! title = "Two losses on two problems"
//! seeds = 5
//! methods = [
//!     "MSE",
//!     "MAE(O,S)",
//!     { name = "SPO+ fast", method = "SPO+ lr 0.1", training = { epochs = 10 } },
//! ]
//! problems = [
//!     { name = "KS32", split = [1000, 400, 600] },
//!     { name = "TSP100", split = [900, 100, 500], seeds = 2 },
//! ]
//!
//! [training]
//! epochs = 50
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::method::CellMethod;
use super::problem_source::ProblemSource;
use regretless::method::Method;
use regretless::predict::PredictorSpec;
use regretless::settings::TrainingSettings;
use regretless_base::error::{Error, Result};
use regretless_base::renamed::explain;

/// Experiments that are built in, by name.
const BUILT_IN_EXPERIMENTS: [(&str, &str); 10] = [
    (
        "components",
        include_str!("../../experiments/components.toml"),
    ),
    (
        "weighting",
        include_str!("../../experiments/weighting.toml"),
    ),
    ("scale", include_str!("../../experiments/scale.toml")),
    ("energy", include_str!("../../experiments/energy.toml")),
    ("solves", include_str!("../../experiments/solves.toml")),
    ("front", include_str!("../../experiments/front.toml")),
    ("auto", include_str!("../../experiments/auto.toml")),
    ("networks", include_str!("../../experiments/networks.toml")),
    ("equality", include_str!("../../experiments/equality.toml")),
    (
        "scoreboard",
        include_str!("../../experiments/scoreboard.toml"),
    ),
];

/// Settings by name that override others.
type SettingsOverrides = Map<String, Value>;

/// Problems × methods × seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// A short name; its results are written to a folder of this name, so it must pass
    /// `check_name`.
    pub name: String,
    /// Title of the report.
    pub title: String,
    /// Description in a few sentences.
    #[serde(default)]
    pub description: String,
    /// The method whose regret is the denominator of ratios.
    #[serde(default = "default_reference")]
    pub reference: String,
    /// Number of seeds (0, 1, …) of data, initial parameters and batches.
    pub seeds: u32,
    /// The first seed of problems whose rows are generated, if not 0: for rows that other
    /// experiments do not have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) first_seed: u32,
    /// Whether cells run in parallel, one thread each. Otherwise they run one after the other on
    /// all threads, so their times can be compared.
    #[serde(default)]
    pub side_by_side: bool,
    /// Figures of the report.
    #[serde(default)]
    pub figures: Vec<FigureKind>,
    /// Times that differ by less count as equal on a Pareto front, in seconds; by default 1 % of
    /// the longest training of the problem.
    #[serde(default)]
    pub equal_seconds: Option<f64>,
    /// The predictor of methods without their own. Without it `auto` chooses one, and all other
    /// methods train a linear one.
    #[serde(default)]
    pub predictor: Option<PredictorSpec>,
    /// Predictors with each of which every method without its own is run; `auto` chooses one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) predictors: Vec<PredictorSpec>,
    /// Defaults of the training settings.
    #[serde(default)]
    pub(super) profile: ExperimentProfile,
    /// Training settings that differ from those of the profile.
    #[serde(default)]
    pub training: SettingsOverrides,
    /// The problems.
    pub(super) problems: Vec<ExperimentProblem>,
    /// The methods.
    pub(super) methods: Vec<MethodEntry>,
    /// Published results by problem and method.
    #[serde(default)]
    pub published: BTreeMap<String, BTreeMap<String, PublishedResult>>,
    /// Published test regrets by problem and method, one per seed: the sum of regrets divided by
    /// the sum of best objectives. With them the report ranks all methods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) published_regrets: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// Whether it is a smoke test, whose numbers are meaningless; set by
    /// [`Experiment::smoke_version`].
    #[serde(skip)]
    pub is_smoke_test: bool,
}

/// Defaults of the training settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ExperimentProfile {
    /// Those of the paper's component table.
    #[default]
    Paper,
    /// Those for the user's own table: features standardized, loss rescaled.
    Default,
}

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Ratios of all methods as bars with deviations.
    Bars,
    /// Contribution of each component: from no component to all.
    Components,
    /// Ratio against the weight w of W(w), with C, IC and EIC as horizontal lines.
    Weighting,
    /// Regret against training time with the Pareto front.
    Pareto,
    /// Losses and regrets over epochs.
    Curves,
    /// Solves by kind.
    Solves,
    /// Decisions drawn.
    Examples,
}

/// A problem and its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExperimentProblem {
    /// The problem and the origin of its rows.
    #[serde(rename = "name")]
    pub source: ProblemSource,
    /// Rows to train, validate and test on.
    pub split: [usize; 3],
    /// Number of seeds, if different from the experiment.
    #[serde(default)]
    pub seeds: Option<u32>,
    /// Settings of this problem only.
    #[serde(default)]
    pub training: SettingsOverrides,
    /// Names of the methods that are run on this problem next to the reference; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
}

/// A method, optionally with its own name and settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub(super) enum MethodEntry {
    /// A method or baseline without settings.
    Name(CellMethod),
    /// A method with settings.
    Detailed(ExperimentMethod),
}

/// A method with settings of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExperimentMethod {
    /// Its name in tables.
    pub name: String,
    /// The method or baseline.
    pub method: CellMethod,
    /// Its own predictor.
    #[serde(default)]
    pub predictor: Option<PredictorSpec>,
    /// Its own settings.
    #[serde(default)]
    pub training: SettingsOverrides,
    /// Number of solves according to the paper.
    #[serde(default)]
    pub solves: Option<String>,
}

/// Published result of a method on a problem; entries `*` of the paper are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedResult {
    /// Regret divided by that of MSE.
    pub ratio: f64,
    /// Its standard deviation over seeds.
    #[serde(default)]
    pub sd: Option<f64>,
    /// Seconds on the authors' machine.
    #[serde(default)]
    pub seconds: Option<f64>,
}

impl ExperimentProblem {
    /// Keeps methods with these names; if none is left, the reference.
    pub(super) fn retain_methods(&mut self, names: &[String], reference: &str) {
        let has_own_methods = !self.methods.is_empty();
        self.methods.retain(|name| names.contains(name));
        if has_own_methods && self.methods.is_empty() {
            self.methods.push(reference.to_string());
        }
    }
}

impl ExperimentMethod {
    fn new(method: CellMethod) -> Self {
        Self {
            name: method.to_string(),
            method,
            predictor: None,
            training: Map::new(),
            solves: None,
        }
    }

    /// Whether it trains the predictor it is given: `auto` chooses one, baselines train none.
    fn trains_given_predictor(&self) -> bool {
        match &self.method {
            CellMethod::Trained(Method::Stages(_)) => true,
            CellMethod::Trained(
                Method::Auto { .. } | Method::LeastSquares { .. } | Method::InvalidCombination(_),
            )
            | CellMethod::Baseline(_)
            | CellMethod::Given { .. } => false,
        }
    }

    fn with_predictor(&self, predictor: &PredictorSpec) -> Self {
        Self {
            name: format!("{}, {predictor}", self.name),
            predictor: Some(predictor.clone()),
            ..self.clone()
        }
    }
}

impl TryFrom<Value> for MethodEntry {
    type Error = Error;

    /// Not derived, so the error says what is wrong with a method.
    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::String(name) => name.parse().map(Self::Name),
            other => serde_json::from_value(other)
                .map(Self::Detailed)
                .map_err(|e| Error::setting(explain(&e.to_string()))),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

pub(super) fn default_reference() -> String {
    "MSE".into()
}

impl Experiment {
    /// Names of the experiments that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN_EXPERIMENTS.iter().map(|(name, _)| *name)
    }

    /// The text of an experiment that is built in.
    ///
    /// # Errors
    /// When there is none of that name; the message lists all.
    pub fn built_in(name: &str) -> Result<&'static str> {
        let found = BUILT_IN_EXPERIMENTS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, text)| *text).ok_or_else(|| {
            Error::unknown(
                "experiment",
                name,
                &BUILT_IN_EXPERIMENTS.map(|(name, _)| name),
            )
        })
    }

    /// All methods, each with its name; with several predictors, one for each of them.
    pub(super) fn methods(&self) -> impl Iterator<Item = ExperimentMethod> + '_ {
        self.methods.iter().flat_map(|entry| {
            let method = match entry {
                MethodEntry::Name(method) => ExperimentMethod::new(method.clone()),
                MethodEntry::Detailed(method) => method.clone(),
            };
            if method.predictor.is_some() || !method.trains_given_predictor() {
                return vec![method];
            }
            match self.predictors.as_slice() {
                [] => vec![method],
                predictors => predictors
                    .iter()
                    .map(|predictor| method.with_predictor(predictor))
                    .collect(),
            }
        })
    }

    /// The predictor that a method trains; none if `auto` chooses it.
    pub(super) fn predictor_of(&self, method: &ExperimentMethod) -> Option<PredictorSpec> {
        let given = method.predictor.as_ref().or(self.predictor.as_ref());
        match &method.method {
            CellMethod::Trained(Method::Auto { .. }) => given.cloned(),
            CellMethod::Trained(Method::LeastSquares { .. }) => Some(PredictorSpec::Linear),
            CellMethod::Trained(Method::Stages(_) | Method::InvalidCombination(_))
            | CellMethod::Baseline(_)
            | CellMethod::Given { .. } => Some(given.cloned().unwrap_or(PredictorSpec::Linear)),
        }
    }

    /// Replaces the methods; every problem is run with all of them. The first one is the reference
    /// if the present reference is not among them.
    pub fn set_methods(&mut self, methods: Vec<CellMethod>) {
        self.methods = methods.into_iter().map(MethodEntry::Name).collect();
        for problem in &mut self.problems {
            problem.methods.clear();
        }
        let names: Vec<String> = self.methods().map(|method| method.name).collect();
        if let Some(first) = names.first()
            && !names.contains(&self.reference)
        {
            self.reference.clone_from(first);
        }
    }

    /// The methods that are run on a problem.
    pub(super) fn methods_of<'a>(
        &'a self,
        problem: &'a ExperimentProblem,
    ) -> impl Iterator<Item = ExperimentMethod> + 'a {
        let is_listed = |name: &String| *name == self.reference || problem.methods.contains(name);
        self.methods()
            .filter(move |method| problem.methods.is_empty() || is_listed(&method.name))
    }

    /// Number of seeds of a problem.
    pub(super) fn seeds_of(&self, problem: &ExperimentProblem) -> u32 {
        problem.seeds.unwrap_or(self.seeds)
    }

    /// The first of the consecutive seeds of a problem.
    pub(super) fn first_seed_of(&self, problem: &ExperimentProblem) -> u32 {
        match &problem.source {
            ProblemSource::Named(_) => self.first_seed,
            ProblemSource::Table(table) => table.first_seed,
        }
    }

    /// The settings of a cell: those of the profile, overridden by those of the experiment, the
    /// problem and the method.
    ///
    /// # Errors
    /// When a setting is unknown or has no such value.
    pub(super) fn settings(
        &self,
        problem: &ExperimentProblem,
        method: &ExperimentMethod,
        seed: u32,
    ) -> Result<TrainingSettings> {
        let refused = |error: serde_json::Error| {
            let message = explain(&error.to_string());
            Error::setting(format!("training settings of '{}': {message}", method.name))
        };
        let seed = u64::from(seed);
        let profile = match self.profile {
            ExperimentProfile::Paper => TrainingSettings::paper(seed),
            ExperimentProfile::Default => TrainingSettings {
                seed,
                ..TrainingSettings::default()
            },
        };
        let Value::Object(mut settings) = serde_json::to_value(profile).map_err(refused)? else {
            return Err(Error::setting("settings are a table"));
        };
        for overrides in [&self.training, &problem.training, &method.training] {
            settings.extend(overrides.clone());
        }
        serde_json::from_value(Value::Object(settings)).map_err(refused)
    }
}
