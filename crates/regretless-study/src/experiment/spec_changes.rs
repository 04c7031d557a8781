//! What programs do with an experiment: check it, build one of a user's table, and reduce it.

use std::collections::BTreeMap;
use std::sync::Arc;

use regretless::method::Method;
use regretless::oracle::Oracle;
use regretless::predict::PredictorSpec;
use regretless::settings::TrainingSettings;
use regretless_base::error::{Error, Result};
use regretless_base::text::check_name;
use serde_json::{Map, Value};

use super::cell_data::CellData;
use super::method::CellMethod;
use super::problem_source::{ProblemSource, TableProblem};
use super::spec::{
    Experiment, ExperimentMethod, ExperimentProblem, ExperimentProfile, FigureKind, MethodEntry,
    default_reference,
};

/// Rows for training, validation and testing of a smoke test. Untuned: any small numbers work.
const SMOKE_SPLIT: [usize; 3] = [24, 8, 8];

/// As [`SMOKE_SPLIT`], for schedules, whose solves take about a third of a second each.
const SMOKE_SPLIT_OF_SCHEDULES: [usize; 3] = [4, 2, 2];

impl Experiment {
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
    /// every part of the code runs and nothing is learned.
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
            learned, so regrets are not compared."
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
