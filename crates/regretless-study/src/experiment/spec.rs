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
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cell_data::CellData;
use super::method::CellMethod;
use super::problem_source::{ProblemSource, TableProblem};
use regretless::method::Method;
use regretless::oracle::Oracle;
use regretless::predict::PredictorSpec;
use regretless::settings::TrainingSettings;
use regretless_base::error::{Error, Result};
use regretless_base::renamed::explain;
use regretless_base::text::check_name;

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

/// Rows for training, validation and testing of a smoke test. Untuned: any small numbers work.
const SMOKE_SPLIT: [usize; 3] = [24, 8, 8];

/// As [`SMOKE_SPLIT`], for schedules, whose solves take about a third of a second each.
const SMOKE_SPLIT_OF_SCHEDULES: [usize; 3] = [4, 2, 2];

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
    /// all threads, so that their times can be compared.
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
    /// Those of one's own table: features standardized, loss rescaled.
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
    /// Keeps methods with these names; where none is left, the reference.
    fn retain_methods(&mut self, names: &[String], reference: &str) {
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

    /// Not derived, so that the error says what is wrong with a method.
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

fn default_reference() -> String {
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

    /// The predictor that a method trains; none where `auto` chooses it.
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

    /// Checks everything before anything is run.
    ///
    /// # Errors
    /// When a name cannot be a folder name, a method occurs twice, the reference is missing, or a
    /// setting is invalid.
    pub fn check(&self) -> Result<()> {
        check_name("the experiment", &self.name)?;
        for problem in &self.problems {
            // Cells of a table are not stored in a folder of its name.
            if let ProblemSource::Named(named) = &problem.source {
                check_name("a problem", &named.to_string())?;
            }
        }
        let names: Vec<String> = self.methods().map(|method| method.name).collect();
        let repeated = names
            .iter()
            .enumerate()
            .find_map(|(i, name)| names[..i].contains(name).then_some(name));
        if let Some(name) = repeated {
            return Err(Error::setting(format!(
                "experiment '{}' has the method '{name}' twice",
                self.name
            )));
        }
        if !names.contains(&self.reference) {
            let message = format!(
                "experiment '{}' lacks its reference '{}'",
                self.name, self.reference
            );
            return Err(Error::setting(message).with_remedy("add it to its methods"));
        }
        if self.problems.is_empty()
            || self
                .problems
                .iter()
                .any(|problem| self.seeds_of(problem) == 0)
        {
            return Err(Error::setting(format!(
                "experiment '{}' needs a problem and a seed",
                self.name
            )));
        }
        if let Some(seconds) = self.equal_seconds
            && !(seconds.is_finite() && seconds >= 0.0)
        {
            return Err(Error::setting(format!(
                "experiment '{}': equal_seconds must be 0 or more, not {seconds}",
                self.name
            )));
        }
        for problem in &self.problems {
            if let Some(name) = problem.methods.iter().find(|name| !names.contains(name)) {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                return Err(Error::unknown(
                    &format!("method of {}:", problem.source),
                    name,
                    &known,
                ));
            }
            self.methods_of(problem)
                .try_for_each(|method| self.settings(problem, &method, 0).map(drop))?;
        }
        Ok(())
    }

    /// A smoke test: the same with few rows, seeds and epochs and a small problem of each kind, so
    /// that every part of the code runs and nothing is learned.
    #[must_use]
    pub fn smoke_version(mut self) -> Self {
        let quick_methods: Vec<String> = self
            .methods()
            .filter(|method| !matches!(method.method, CellMethod::Trained(Method::Auto { .. })))
            .map(|method| method.name)
            .collect();
        let mut problems: Vec<ExperimentProblem> = Vec::new();
        for problem in self.problems {
            let ProblemSource::Named(named) = problem.source else {
                continue;
            };
            if !named.is_in_smoke_tests() {
                continue;
            }
            let (split, methods) = if named.is_schedule() {
                // `auto` solves a thousand schedules.
                (SMOKE_SPLIT_OF_SCHEDULES, quick_methods.clone())
            } else {
                (SMOKE_SPLIT, problem.methods)
            };
            let source = ProblemSource::Named(named.smoke_version());
            if problems.iter().all(|other| other.source != source) {
                problems.push(ExperimentProblem {
                    source,
                    split,
                    methods,
                    seeds: None,
                    training: Map::new(),
                });
            }
        }
        self.problems = problems;
        self.seeds = self.seeds.min(2);
        self.name = format!("{}-smoke", self.name);
        self.title = format!("Smoke test: {}", self.title);
        self.description =
            "A smoke test: two epochs on a few rows show that every part runs. Nothing is \
            learned, so that regrets are not compared."
                .into();
        self.is_smoke_test = true;
        self.figures.retain(|figure| match figure {
            FigureKind::Curves | FigureKind::Solves | FigureKind::Examples => true,
            FigureKind::Bars
            | FigureKind::Components
            | FigureKind::Weighting
            | FigureKind::Pareto => false,
        });
        self.published.clear();
        self.published_regrets.clear();
        self.training.insert("epochs".into(), 2.into());
        self
    }

    /// An experiment with one problem, whose labeled rows exist already: every method on every
    /// seed, one thread per cell. `data` has the rows of consecutive seeds, from `first_seed` on.
    /// Training and evaluation have the limits and the heuristic of the oracle.
    ///
    /// # Errors
    /// When the problem cannot be stored or has no such heuristic.
    pub fn comparison(
        name: String,
        first_seed: u32,
        data: Vec<CellData>,
        oracle: &Oracle,
        methods: &[CellMethod],
        predictor: Option<PredictorSpec>,
        training: &TrainingSettings,
    ) -> Result<Self> {
        let Ok(Value::Object(mut training)) = serde_json::to_value(training) else {
            return Err(Error::setting("training settings are a table"));
        };
        // Each run has the seed of its rows.
        training.remove("seed");
        let seeds = u32::try_from(data.len())
            .map_err(|_| Error::setting("seeds must stay below 4294967296"))?;
        let split = data.first().map_or([0; 3], |data| data.split.counts());
        let table = TableProblem::new(name, first_seed, oracle, data)?;
        let problem = ExperimentProblem {
            source: ProblemSource::Table(Arc::new(table)),
            split,
            seeds: None,
            training: Map::new(),
            methods: Vec::new(),
        };
        Ok(Self {
            name: "comparing".into(),
            title: String::new(),
            description: String::new(),
            reference: default_reference(),
            seeds,
            first_seed: 0,
            side_by_side: true,
            figures: Vec::new(),
            equal_seconds: None,
            predictor,
            predictors: Vec::new(),
            profile: ExperimentProfile::Paper,
            training,
            problems: vec![problem],
            methods: methods.iter().cloned().map(MethodEntry::Name).collect(),
            published: BTreeMap::new(),
            published_regrets: BTreeMap::new(),
            is_smoke_test: false,
        })
    }

    /// Sets the number of seeds of all problems.
    pub fn set_seeds(&mut self, seeds: u32) {
        self.seeds = seeds;
        for problem in &mut self.problems {
            problem.seeds = None;
        }
    }

    /// Keeps problems and methods with one of these names, and always the reference.
    ///
    /// # Errors
    /// When a name is neither a problem nor a method.
    pub fn retain_named(&mut self, names: &[String]) -> Result<()> {
        let methods: Vec<ExperimentMethod> = self.methods().collect();
        let is_same = |name: &str, other: &String| name.eq_ignore_ascii_case(other.trim());
        let is_named_problem = |problem: &ExperimentProblem| {
            names
                .iter()
                .any(|name| is_same(&problem.source.to_string(), name))
        };
        let is_named_method =
            |method: &ExperimentMethod| names.iter().any(|name| is_same(&method.name, name));
        for name in names {
            let known = self
                .problems
                .iter()
                .any(|problem| is_same(&problem.source.to_string(), name))
                || methods.iter().any(|method| is_same(&method.name, name));
            if !known {
                let problems = self
                    .problems
                    .iter()
                    .map(|problem| problem.source.to_string());
                let choices: Vec<String> = problems
                    .chain(methods.into_iter().map(|method| method.name))
                    .collect();
                let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
                return Err(Error::unknown("problem or method", name, &choices));
            }
        }
        if self.problems.iter().any(is_named_problem) {
            self.problems.retain(is_named_problem);
        }
        if methods.iter().any(is_named_method) {
            let reference = self.reference.clone();
            let kept = methods
                .into_iter()
                .filter(|entry| is_named_method(entry) || entry.name == reference);
            self.methods = kept.map(MethodEntry::Detailed).collect();
            let kept: Vec<String> = self.methods().map(|method| method.name).collect();
            self.problems
                .iter_mut()
                .for_each(|problem| problem.retain_methods(&kept, &self.reference));
        }
        Ok(())
    }
}
