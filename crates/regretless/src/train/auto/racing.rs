//! The races of `auto`: candidates are trained one after the other and judged by validation regret.

use std::time::Instant;

use super::solve_times::{SolveTimeSource, SolveTimes};
use super::{AutoBudget, CandidateReport, ScoringKind};
use crate::data::FeatureShape;
use crate::error::{Error, Result};
use crate::evaluate::{predict_rows, regrets};
use crate::oracle::SolveCounts;
use crate::parallel::cpu_seconds;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::solve::relaxation::Relaxation;
use crate::train::{
    FitResult, SelectionCriterion, StageTrainer, TrainingContext, TrainingSettings, TrainingStage,
    train,
};

/// Most and fewest validation rows that judge. Fewer than ten rank candidates by chance.
const MAX_SCORING_ROWS: usize = 400;
const MIN_SCORING_ROWS: usize = 10;
/// Share of the budget that judging one candidate takes, and the most it may take where fewer than
/// [`MIN_SCORING_ROWS`] rows would be affordable otherwise. At most five candidates are judged.
const SCORING_SHARE: f64 = 0.02;
const MAX_SCORING_SHARE: f64 = 0.05;
/// Share of the budget that SPO+ is planned to take.
const SPO_SHARE: f64 = 0.8;
/// Share of the budget of counted work after which nothing is begun, and at which SPO+ stops.
const WORK_SHARE: f64 = 0.9;
/// Share of the budget that the first race may take for arithmetic.
const ARITHMETIC_SHARE: f64 = 0.3;
/// Seconds per parameter and row of an epoch: what a linear predictor takes on wide registers, and
/// what layers take.
const SECONDS_PER_WEIGHT: [f64; 2] = [2e-10, 2e-9];
/// Most epochs of one candidate: as steps shrink to nothing, more would change little.
const MAX_EPOCHS: usize = 20;
/// How much larger than usual the first of the shrinking steps is.
const RATE_FACTOR: f64 = 10.0;

/// Everything the candidates share.
pub(super) struct CandidateRace<'a> {
    task: &'a TrainingContext<'a>,
    predictor: &'a PredictorSpec,
    settings: TrainingSettings,
    problem: &'a ProblemSpec,
    budget: f64,
    times: SolveTimes,
    judges: ValidationScorer,
    tried: Vec<CandidateReport>,
    /// Regret, model and report of the best so far; infinite where nothing judges.
    best: Option<(f64, FitResult)>,
    began: Instant,
    spent_before: Option<f64>,
    counts: SolveCounts,
    work: u64,
}

/// Who judges the candidates.
enum ValidationScorer {
    /// Exact decisions on these rows.
    Exact(Vec<usize>),
    /// Decisions of the linear relaxation on these rows, beside the relaxed optimum under the true
    /// costs.
    Relaxed {
        kind: Relaxation,
        rows: Vec<usize>,
        min: Vec<f64>,
    },
    /// Nothing is affordable.
    None,
}

impl<'a> CandidateRace<'a> {
    pub(super) fn new(
        task: &'a TrainingContext<'a>,
        (predictor, settings): (&'a PredictorSpec, TrainingSettings),
        (problem, auto): (&'a ProblemSpec, AutoBudget),
    ) -> Result<Self> {
        if task.split.validation.is_empty() {
            return Err(Error::setting(
                "auto judges by validation rows; give some, or choose a loss",
            ));
        }
        let settings = TrainingSettings {
            rescale_loss: true,
            select: SelectionCriterion::ValidationLoss,
            train_on_validation: false,
            ..settings
        };
        let (began, spent_before) = (Instant::now(), cpu_seconds());
        let (counts, work) = (task.oracle.counts(), task.oracle.work());
        let times = SolveTimes::of(task, problem, auto)?;
        let judges = ValidationScorer::choose(task, &times, auto.seconds)?;
        judges.warn_about_scoring(task, &times);
        Ok(Self {
            task,
            predictor,
            settings,
            problem,
            budget: auto.seconds,
            times,
            judges,
            tried: Vec::new(),
            best: None,
            began,
            spent_before,
            counts,
            work,
        })
    }

    pub(super) fn run(mut self) -> Result<(FitResult, Vec<CandidateReport>)> {
        let mut failure = None;
        for name in self.first_candidates() {
            if self.best.is_some() && self.is_budget_used() {
                break;
            }
            self.train_candidate(&name, None)
                .unwrap_or_else(|error| failure = Some(error));
            self.check_interrupted(&failure)?;
        }
        let winner = self.best.as_ref().map(|(_, trained)| trained.model.clone());
        for (name, afresh) in self.fine_tuning_candidates() {
            if self.is_budget_used() {
                break;
            }
            let start = if afresh { None } else { winner.as_ref() };
            self.train_candidate(&name, start)
                .unwrap_or_else(|error| failure = Some(error));
            self.check_interrupted(&failure)?;
        }
        let (_, mut trained) = match (self.best, failure) {
            (Some(best), _) => best,
            (None, failure) => return Err(failure.unwrap_or(Error::Interrupted)),
        };
        trained.report.seconds = self.began.elapsed().as_secs_f64();
        trained.report.cpu_seconds = cpu_seconds()
            .zip(self.spent_before)
            .map(|(now, before)| now - before);
        trained.report.solves = self.task.oracle.counts() - self.counts;
        if self.times.source == SolveTimeSource::Timed {
            let seconds = self.times.exact;
            self.task.observer.warn(&format!(
                "auto timed a solve at {seconds} s and planned from that, so that another run may \
                    give another model; \
                 'solve {seconds}s' behind auto states it and makes runs reproducible"
            ));
            trained.report.timed_solve_seconds = Some(seconds);
        }
        Ok((trained, self.tried))
    }

    fn check_interrupted(&self, failure: &Option<Error>) -> Result<()> {
        let asked = self.task.observer.interrupted() || matches!(failure, Some(Error::Interrupted));
        if asked {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Counted work of this race in seconds.
    fn work_seconds(&self) -> f64 {
        1e-9 * (self.task.oracle.work() - self.work) as f64
    }

    fn is_budget_used(&self) -> bool {
        self.work_seconds() > WORK_SHARE * self.budget
    }

    /// Losses that need no solve while they train, or one per row; one alone where nothing judges.
    fn first_candidates(&self) -> Vec<String> {
        let rate = RATE_FACTOR * self.settings.learning_rate;
        let epochs = self
            .settings
            .epochs
            .min(MAX_EPOCHS)
            .min(self.affordable_epochs());
        let name = |loss: &&str| format!("{loss} lr {rate} epochs {epochs} lr-decay");
        match self.judges {
            ValidationScorer::None => ["MAE(O,S)"].iter().map(name).collect(),
            ValidationScorer::Exact(_) | ValidationScorer::Relaxed { .. } => {
                ["MSE", "MAE(O,S)", "MSE(O,S)"].iter().map(name).collect()
            }
        }
    }

    /// Epochs of each of three candidates that the arithmetic leaves time for.
    fn affordable_epochs(&self) -> usize {
        let data = self.task.data.data();
        let (features, costs) = (data.features().names().len(), data.costs().cols());
        let (weights, seconds) = match self.predictor {
            PredictorSpec::Linear => ((features + 4) * costs, SECONDS_PER_WEIGHT[0]),
            PredictorSpec::Mlp { hidden } => {
                let sizes = [&[features], hidden.as_slice(), &[costs]].concat();
                (
                    sizes.windows(2).map(|pair| pair[0] * pair[1]).sum(),
                    SECONDS_PER_WEIGHT[1],
                )
            }
        };
        let epoch = seconds * weights as f64 * self.rows();
        (ARITHMETIC_SHARE * self.budget / 3.0 / epoch).max(1.0) as usize
    }

    /// Training rows of an epoch.
    fn rows(&self) -> f64 {
        self.settings.rows_of_epoch(self.task.split.train.len()) as f64
    }

    /// Ways to train on with SPO+, and whether they start afresh.
    fn fine_tuning_candidates(&self) -> Vec<(String, bool)> {
        if matches!(self.judges, ValidationScorer::None) {
            return Vec::new();
        }
        let rows = self.rows();
        let (Some((answers, seconds)), rate) =
            (self.affordable_solve_mode(), self.settings.learning_rate)
        else {
            return Vec::new();
        };
        let affordable = (self.spo_seconds_left() / (seconds * rows)) as usize;
        let local = matches!(
            self.task.data.data().features().shape(),
            FeatureShape::Long { .. }
        );
        let entries = [(RATE_FACTOR * rate, local), (RATE_FACTOR * rate, false)];
        let runs = if local && affordable >= 6 { 2 } else { 1 };
        let each = (affordable / runs).clamp(1, MAX_EPOCHS);
        let name = |rate: f64| format!("SPO+{answers} lr {rate} epochs {each} lr-decay");
        entries[..runs]
            .iter()
            .map(|(rate, afresh)| (name(*rate), *afresh))
            .collect()
    }

    /// Seconds that SPO+ may take.
    fn spo_seconds_left(&self) -> f64 {
        (SPO_SHARE * self.budget)
            .min(WORK_SHARE * self.budget - self.work_seconds())
            .max(0.0)
    }

    /// The best way to answer solver calls of which three epochs are affordable, and its seconds a
    /// call.
    fn affordable_solve_mode(&self) -> Option<(&'static str, f64)> {
        let times = &self.times;
        let ways = [
            ("", Some(times.exact)),
            (" relax tight", times.tight),
            (" local-search:fast", times.quick),
            (" relax", times.plain),
            (" cache 5%", Some(0.05 * times.exact)),
        ];
        let left = self.spo_seconds_left();
        let ways = ways
            .into_iter()
            .filter_map(|(way, seconds)| Some((way, seconds?)));
        ways.into_iter()
            .find(|(_, seconds)| 3.0 * seconds * self.rows() <= left)
    }

    /// Trains and judges a candidate.
    fn train_candidate(&mut self, name: &str, start: Option<&CostModel>) -> Result<()> {
        let mut settings = self.settings;
        if name.starts_with("SPO+") {
            // To judge epochs would take solves; where steps shrink to nothing the last one is as
            // good as any.
            settings.select = SelectionCriterion::Last;
            if self.times.source == SolveTimeSource::Counted {
                // Predicted costs can be harder to solve for than the true ones that the plan
                // knows.
                settings.work_limit = Some((1e9 * self.spo_seconds_left()) as u64);
            }
        }
        let mut trainer = StageTrainer::new(
            name.parse::<TrainingStage>()?,
            self.predictor.clone(),
            settings,
        );
        trainer.start = start.cloned();
        let begun = Instant::now();
        let outcome = train(self.task, &trainer, self.problem)
            .and_then(|trained| Ok((self.score(&trained)?, trained)));
        let method = start.map_or_else(
            || name.to_string(),
            |start| format!("{} then {name}", start.about.loss),
        );
        let regret = outcome.as_ref().ok().and_then(|(regret, _)| *regret);
        let scoring = if outcome.is_err() {
            ScoringKind::Failed
        } else {
            self.judges.kind()
        };
        self.tried.push(CandidateReport {
            method,
            regret,
            scoring,
            seconds: begun.elapsed().as_secs_f64(),
        });
        let (regret, mut trained) = outcome?;
        let regret = regret.unwrap_or(f64::INFINITY);
        if self.best.as_ref().is_none_or(|(min, _)| regret < *min) {
            if let (Some(_), Some((_, before))) = (start, &self.best) {
                trained.report.rounds =
                    [before.report.rounds.clone(), trained.report.rounds].concat();
            }
            self.best = Some((regret, trained));
        }
        Ok(())
    }

    /// Judges a candidate. The first one shows what decisions under predicted costs take; where its
    /// rows have to be fewer it is judged again, since all candidates are judged on the same rows.
    fn score(&mut self, trained: &FitResult) -> Result<Option<f64>> {
        let (first, before) = (self.tried.is_empty(), self.work_seconds());
        let regret = self.judges.regret(self.task, trained)?;
        let (took, allowed) = (
            self.work_seconds() - before,
            MAX_SCORING_SHARE * self.budget,
        );
        if let ValidationScorer::Exact(rows) = &mut self.judges
            && first
            && self.times.source == SolveTimeSource::Counted
            && took > allowed
            && rows.len() > MIN_SCORING_ROWS
        {
            let affordable = (rows.len() as f64 * allowed / took) as usize;
            rows.truncate(affordable.max(MIN_SCORING_ROWS));
            return self.judges.regret(self.task, trained);
        }
        Ok(regret)
    }
}

impl ValidationScorer {
    /// Exact decisions if they are affordable, else relaxed ones, else nobody.
    fn choose(task: &TrainingContext<'_>, times: &SolveTimes, budget: f64) -> Result<Self> {
        let validation = &task.split.validation;
        let max = validation.len().min(MAX_SCORING_ROWS);
        let fewest = validation.len().min(MIN_SCORING_ROWS);
        let affordable = |seconds: f64| {
            let usual = (SCORING_SHARE * budget / seconds) as usize;
            let at_most = (MAX_SCORING_SHARE * budget / seconds) as usize;
            (at_most >= fewest).then(|| usual.clamp(fewest, max))
        };
        if let Some(rows) = affordable(times.exact) {
            return Ok(Self::Exact(validation[..rows].to_vec()));
        }
        for (kind, seconds) in [
            (Relaxation::Tight, times.tight),
            (Relaxation::Plain, times.plain),
        ] {
            let Some(rows) = seconds.and_then(affordable) else {
                continue;
            };
            let rows = validation[..rows].to_vec();
            let costs = task.data.data().costs().select_rows(&rows);
            let mut min = Vec::with_capacity(rows.len());
            for answer in task
                .oracle
                .relax_all(&costs, kind, task.observer)
                .map_err(|error| error.for_method("auto"))?
            {
                let instance = rows[min.len()];
                min.push(
                    answer
                        .map_err(|failure| Error::solver(instance, failure))?
                        .objective,
                );
            }
            return Ok(Self::Relaxed { kind, rows, min });
        }
        Ok(Self::None)
    }

    fn kind(&self) -> ScoringKind {
        match self {
            Self::Exact(_) => ScoringKind::Exact,
            Self::Relaxed { .. } => ScoringKind::Relaxed,
            Self::None => ScoringKind::Unscored,
        }
    }

    /// Says what a budget does not allow.
    fn warn_about_scoring(&self, task: &TrainingContext<'_>, times: &SolveTimes) {
        let seconds = times.exact;
        let seconds = if seconds < 0.01 {
            format!("{seconds:.1e}")
        } else {
            format!("{seconds:.2}")
        };
        match self {
            Self::Exact(_) => {}
            Self::Relaxed { rows, .. } => task.observer.warn(&format!(
                "a solve takes about {seconds} s, too long to judge by; auto judges candidates by \
                    the linear relaxation \
                 on {} validation rows",
                rows.len()
            )),
            Self::None => task.observer.warn(&format!(
                "a solve takes about {seconds} s, too long to judge by within this budget; auto \
                    trains MAE(O,S), which \
                 needs no solve, and compares it with nothing"
            )),
        }
    }

    /// Mean regret of a model on the rows that judge; none where nobody does.
    fn regret(&self, task: &TrainingContext<'_>, trained: &FitResult) -> Result<Option<f64>> {
        let data = task.data;
        let regrets = match self {
            Self::None => return Ok(None),
            Self::Exact(rows) => {
                let predictions = predict_rows(&trained.model, data, rows)?;
                regrets(&predictions, data, rows, task.oracle, task.observer)?
            }
            Self::Relaxed { kind, rows, min } => {
                let predictions = predict_rows(&trained.model, data, rows)?;
                let answers = task
                    .oracle
                    .relax_all(&predictions, *kind, task.observer)
                    .map_err(|error| error.for_method("auto"))?;
                let mut regrets = Vec::with_capacity(rows.len());
                for ((instance, answer), min) in rows.iter().zip(answers).zip(min) {
                    let solution = answer.map_err(|failure| Error::solver(*instance, failure))?;
                    regrets.push(solution.decision.dot(data.data().costs().row(*instance)) - min);
                }
                regrets
            }
        };
        Ok(Some(regrets.iter().sum::<f64>() / regrets.len() as f64))
    }
}
