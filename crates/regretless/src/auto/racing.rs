//! The races of `auto`: candidates are trained one after the other and scored by validation regret.

use std::time::Instant;

use super::solve_times::{SECONDS_PER_WORK_UNIT, SolveTimeSource, SolveTimes};
use crate::data::FeatureShape;
use crate::error::{Error, Result};
use crate::evaluate::regrets;
use crate::loss::spo_plus::SpoPlus;
use crate::loss::{BaseError, CostSensitiveSpec};
use crate::method::{AutoBudget, StageOverrides, TrainingStage};
use crate::oracle::{CacheSettings, Heuristic, OracleSettings, SolveCounts};
use crate::parallel::cpu_seconds;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::report::{CandidateReport, ScoringKind};
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::solve::relaxation::Relaxation;
use crate::train::{FitResult, StagedTraining, TrainingContext};

/// Bounds on the number of validation rows that candidates are scored on. Untuned: with fewer than
/// ten rows chance decides the ranking; more than 400 take time and hardly change it.
const MAX_SCORING_ROWS: usize = 400;
const MIN_SCORING_ROWS: usize = 10;
/// Fraction of the budget for scoring one candidate, and its maximum where fewer than
/// [`MIN_SCORING_ROWS`] rows would be affordable otherwise. At most five candidates are scored, so
/// that scoring takes a tenth of the budget, and never more than a quarter.
const SCORING_SHARE: f64 = 0.02;
const MAX_SCORING_SHARE: f64 = 0.05;
/// Fraction of the budget that SPO+ is planned to take. Untuned: the remainder is for the first
/// race and scoring.
const SPO_SHARE: f64 = 0.8;
/// Fraction of the budget of counted work after which no candidate is started, and at which SPO+
/// stops. Untuned: the remainder is a reserve for solves that take longer than planned.
const WORK_SHARE: f64 = 0.9;
/// Fraction of the budget that the arithmetic of the first race may take. Untuned: its epochs are
/// usually far cheaper, so that the limit matters on very large tables only.
const ARITHMETIC_SHARE: f64 = 0.3;
/// Estimated seconds per parameter and row of an epoch: of a linear predictor in fused training,
/// and of a network with hidden layers. The order of magnitude is enough for planning.
const SECONDS_PER_LINEAR_WEIGHT: f64 = 2e-10;
const SECONDS_PER_LAYER_WEIGHT: f64 = 2e-9;
/// Maximum number of epochs of one candidate: with a decaying learning rate, more epochs change
/// little.
const MAX_EPOCHS: usize = 20;
/// The initial learning rate, which decays, as a multiple of the constant one of the settings.
/// Trades progress in few epochs against stability.
const RATE_FACTOR: f64 = 10.0;
/// Oracle settings are affordable if they allow this many epochs of SPO+. Trades the accuracy of
/// decisions against the number of gradient steps.
const MIN_SPO_EPOCHS: f64 = 3.0;
/// Solve ratio of the cache, which is used if nothing else is affordable. Trades the accuracy of
/// decisions against solves.
const CACHE_SOLVE_RATIO: f64 = 0.05;
/// Affordable epochs from which SPO+ is trained twice, from an untrained model and from the winner:
/// [`MIN_SPO_EPOCHS`] for each.
const MIN_EPOCHS_FOR_TWO_STARTS: usize = 6;
/// Number of candidates of the first race.
const NUM_FIRST_CANDIDATES: f64 = 3.0;

/// The candidate with the lowest regret so far.
struct BestCandidate {
    /// Infinite if candidates are not scored.
    regret: f64,
    trained: FitResult,
}

/// A candidate of the second race.
struct FineTuningCandidate {
    stage: TrainingStage,
    /// Whether it starts from an untrained model instead of the winner.
    from_scratch: bool,
}

/// Everything the candidates share.
pub(crate) struct CandidateRace<'a> {
    context: &'a TrainingContext<'a>,
    predictor: &'a PredictorSpec,
    settings: TrainingSettings,
    problem: &'a ProblemSpec,
    budget: f64,
    times: SolveTimes,
    scorer: ValidationScorer,
    reports: Vec<CandidateReport>,
    best: Option<BestCandidate>,
    started: Instant,
    cpu_started: Option<f64>,
    initial_counts: SolveCounts,
    initial_work: u64,
}

/// How candidates are scored.
enum ValidationScorer {
    /// By exact decisions on these rows.
    Exact(Vec<usize>),
    /// By decisions of the linear relaxation on these rows, compared with the relaxed optimum under
    /// the true costs.
    Relaxed {
        kind: Relaxation,
        rows: Vec<usize>,
        /// The relaxed optimum of each row under the true costs.
        optimal_objectives: Vec<f64>,
    },
    /// Candidates are not scored: no solver is affordable.
    None,
}

impl<'a> CandidateRace<'a> {
    pub(crate) fn new(
        context: &'a TrainingContext<'a>,
        predictor: &'a PredictorSpec,
        settings: TrainingSettings,
        problem: &'a ProblemSpec,
        budget: AutoBudget,
    ) -> Result<Self> {
        if context.split.validation.is_empty() {
            return Err(Error::setting("auto needs validation rows")
                .with_remedy("give some, or choose a loss"));
        }
        let settings = TrainingSettings {
            rescale_loss: true,
            select: SelectionCriterion::ValidationLoss,
            train_on_validation: false,
            ..settings
        };
        let (started, cpu_started) = (Instant::now(), cpu_seconds());
        let (initial_counts, initial_work) = (context.oracle.counts(), context.oracle.work());
        let times = SolveTimes::estimate(context, budget)?;
        let scorer = ValidationScorer::choose(context, &times, budget.seconds)?;
        scorer.warn_about_scoring(context, &times);
        Ok(Self {
            context,
            predictor,
            settings,
            problem,
            budget: budget.seconds,
            times,
            scorer,
            reports: Vec::new(),
            best: None,
            started,
            cpu_started,
            initial_counts,
            initial_work,
        })
    }

    /// Trains the candidates and returns the best; candidates that fail are left out.
    ///
    /// # Errors
    /// When all candidates fail, or the user interrupts.
    pub(crate) fn run(mut self) -> Result<FitResult> {
        let mut failure = None;
        for stage in self.first_candidates() {
            if self.best.is_some() && self.is_budget_used() {
                break;
            }
            self.train_candidate(stage, None)
                .unwrap_or_else(|error| failure = Some(error));
            self.check_interrupted(&failure)?;
        }
        let winner = self.best.as_ref().map(|best| best.trained.model.clone());
        for candidate in self.fine_tuning_candidates() {
            if self.is_budget_used() {
                break;
            }
            let start = winner.as_ref().filter(|_| !candidate.from_scratch);
            self.train_candidate(candidate.stage, start)
                .unwrap_or_else(|error| failure = Some(error));
            self.check_interrupted(&failure)?;
        }
        let mut trained = match (self.best, failure) {
            (Some(best), _) => best.trained,
            (None, failure) => return Err(failure.unwrap_or(Error::Interrupted)),
        };
        trained.report.seconds = self.started.elapsed().as_secs_f64();
        trained.report.cpu_seconds = cpu_seconds()
            .zip(self.cpu_started)
            .map(|(now, before)| now - before);
        trained.report.solves = self.context.oracle.counts() - self.initial_counts;
        if self.times.source == SolveTimeSource::Timed {
            let seconds = self.times.exact;
            self.context.observer.warn(&format!(
                "auto measured {seconds} s for a solve and planned with it, so another run may \
                 give another model; 'solve {seconds}s' after auto makes runs reproducible"
            ));
            trained.report.timed_solve_seconds = Some(seconds);
        }
        trained.candidates = self.reports;
        Ok(trained)
    }

    fn check_interrupted(&self, failure: &Option<Error>) -> Result<()> {
        let interrupted =
            self.context.observer.interrupted() || matches!(failure, Some(Error::Interrupted));
        if interrupted {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Counted work of this race in seconds.
    fn work_seconds(&self) -> f64 {
        SECONDS_PER_WORK_UNIT * (self.context.oracle.work() - self.initial_work) as f64
    }

    fn is_budget_used(&self) -> bool {
        self.work_seconds() > WORK_SHARE * self.budget
    }

    /// Losses that need no solve during training; only one if candidates cannot be scored.
    fn first_candidates(&self) -> Vec<TrainingStage> {
        let epochs = self.settings.epochs.min(self.affordable_epochs());
        let mse = CostSensitiveSpec::plain(BaseError::Squared);
        let mae = CostSensitiveSpec::plain(BaseError::Absolute);
        let mae = mae.one_sided().scale_invariant();
        let losses = match self.scorer {
            ValidationScorer::None => vec![mae],
            ValidationScorer::Exact(_) | ValidationScorer::Relaxed { .. } => {
                vec![mse.clone(), mae, mse.one_sided().scale_invariant()]
            }
        };
        let mut stages = Vec::new();
        for loss in losses {
            let mut stage = TrainingStage::from(loss);
            stage.overrides = self.overrides(epochs.min(MAX_EPOCHS));
            stages.push(stage);
        }
        stages
    }

    /// A large, decaying learning rate over this many epochs.
    fn overrides(&self, epochs: usize) -> StageOverrides {
        StageOverrides {
            learning_rate: Some(RATE_FACTOR * self.settings.learning_rate),
            epochs: Some(epochs),
            lr_decay: true,
            ..StageOverrides::default()
        }
    }

    /// Epochs of each candidate of the first race that the budget for arithmetic allows.
    fn affordable_epochs(&self) -> usize {
        let data = self.context.data.data();
        let (features, costs) = (data.features().names().len(), data.costs().cols());
        let (weights, seconds) = match self.predictor {
            PredictorSpec::Linear => ((features + 4) * costs, SECONDS_PER_LINEAR_WEIGHT),
            PredictorSpec::Mlp { hidden } => {
                let sizes = [&[features], hidden.as_slice(), &[costs]].concat();
                (
                    sizes.windows(2).map(|pair| pair[0] * pair[1]).sum(),
                    SECONDS_PER_LAYER_WEIGHT,
                )
            }
        };
        let epoch = seconds * weights as f64 * self.rows();
        (ARITHMETIC_SHARE * self.budget / NUM_FIRST_CANDIDATES / epoch).max(1.0) as usize
    }

    /// Training rows of an epoch.
    fn rows(&self) -> f64 {
        self.settings.rows_of_epoch(self.context.split.train.len()) as f64
    }

    /// Stages that train with SPO+.
    fn fine_tuning_candidates(&self) -> Vec<FineTuningCandidate> {
        if matches!(self.scorer, ValidationScorer::None) {
            return Vec::new();
        }
        let Some((oracle, seconds)) = self.affordable_oracle_settings() else {
            return Vec::new();
        };
        let affordable = (self.spo_seconds_left() / (seconds * self.rows())) as usize;
        let features = self.context.data.data().features();
        let per_item = matches!(features.shape(), FeatureShape::Long { .. });
        let starts: &[bool] = if per_item && affordable >= MIN_EPOCHS_FOR_TWO_STARTS {
            &[true, false]
        } else {
            &[per_item]
        };
        let epochs = (affordable / starts.len()).clamp(1, MAX_EPOCHS);
        let mut candidates = Vec::new();
        for from_scratch in starts {
            let mut stage = TrainingStage::from(SpoPlus);
            stage.oracle = oracle;
            stage.overrides = self.overrides(epochs);
            candidates.push(FineTuningCandidate {
                stage,
                from_scratch: *from_scratch,
            });
        }
        candidates
    }

    /// Seconds that SPO+ may take.
    fn spo_seconds_left(&self) -> f64 {
        (SPO_SHARE * self.budget)
            .min(WORK_SHARE * self.budget - self.work_seconds())
            .max(0.0)
    }

    /// The most accurate oracle settings that allow enough epochs, and their seconds per solver
    /// call.
    fn affordable_oracle_settings(&self) -> Option<(OracleSettings, f64)> {
        let times = &self.times;
        let exact = OracleSettings::default();
        let relaxed = |kind: Relaxation| OracleSettings {
            relaxation: Some(kind),
            ..exact
        };
        let heuristic = OracleSettings {
            heuristic: Some(Heuristic::FastLocalSearch),
            ..exact
        };
        let cached = OracleSettings {
            cache: Some(CacheSettings::new(CACHE_SOLVE_RATIO)),
            ..exact
        };
        let may_cache = self.context.oracle.require_checks().is_ok();
        let choices = [
            (exact, Some(times.exact)),
            (relaxed(Relaxation::Tight), times.tight),
            (heuristic, times.fast_local_search),
            (relaxed(Relaxation::Plain), times.plain),
            (cached, may_cache.then_some(CACHE_SOLVE_RATIO * times.exact)),
        ];
        let seconds_left = self.spo_seconds_left();
        for (settings, seconds) in choices {
            if let Some(seconds) = seconds
                && MIN_SPO_EPOCHS * seconds * self.rows() <= seconds_left
            {
                return Some((settings, seconds));
            }
        }
        None
    }

    /// Trains and scores a candidate.
    fn train_candidate(&mut self, stage: TrainingStage, start: Option<&CostModel>) -> Result<()> {
        let mut settings = self.settings;
        if stage.loss.properties().calls_solver {
            // Scoring each epoch would take solves; with a decaying learning rate the last epoch is
            // close to the best one.
            settings.select = SelectionCriterion::Last;
            if self.times.source == SolveTimeSource::Counted {
                // Solves under predicted costs can take longer than those under the true costs,
                // which the plan is based on.
                let work = self.spo_seconds_left() / SECONDS_PER_WORK_UNIT;
                settings.work_limit = Some(work as u64);
            }
        }
        let method = match start {
            Some(start) => format!("{} then {stage}", start.metadata.method),
            None => stage.to_string(),
        };
        let training = StagedTraining {
            stages: &[stage],
            predictor: self.predictor,
            settings,
            start,
            problem: self.problem,
        };
        let started = Instant::now();
        let outcome = training
            .run(self.context, None)
            .and_then(|trained| Ok((self.score(&trained)?, trained)));
        let regret = outcome.as_ref().ok().and_then(|(regret, _)| *regret);
        let scoring = if outcome.is_err() {
            ScoringKind::Failed
        } else {
            self.scorer.kind()
        };
        self.reports.push(CandidateReport {
            method,
            regret,
            scoring,
            seconds: started.elapsed().as_secs_f64(),
        });
        let (regret, mut trained) = outcome?;
        let regret = regret.unwrap_or(f64::INFINITY);
        if self.best.as_ref().is_none_or(|best| regret < best.regret) {
            if let (Some(_), Some(best)) = (start, &self.best) {
                let rounds = best.trained.report.rounds.clone();
                trained.report.rounds = [rounds, trained.report.rounds].concat();
            }
            self.best = Some(BestCandidate { regret, trained });
        }
        Ok(())
    }

    /// Scores a candidate. Scoring the first one measures the work of solves under predicted costs;
    /// if it exceeds the limit, the first candidate is scored again on fewer rows, since all
    /// candidates are scored on the same rows.
    fn score(&mut self, trained: &FitResult) -> Result<Option<f64>> {
        let (first, before) = (self.reports.is_empty(), self.work_seconds());
        let regret = self.scorer.regret(self.context, trained)?;
        let (used_seconds, max_seconds) = (
            self.work_seconds() - before,
            MAX_SCORING_SHARE * self.budget,
        );
        if let ValidationScorer::Exact(rows) = &mut self.scorer
            && first
            && self.times.source == SolveTimeSource::Counted
            && used_seconds > max_seconds
            && rows.len() > MIN_SCORING_ROWS
        {
            let affordable = (rows.len() as f64 * max_seconds / used_seconds) as usize;
            rows.truncate(affordable.max(MIN_SCORING_ROWS));
            return self.scorer.regret(self.context, trained);
        }
        Ok(regret)
    }
}

impl ValidationScorer {
    /// Exact decisions if they are affordable, else relaxed ones, else none.
    fn choose(context: &TrainingContext<'_>, times: &SolveTimes, budget: f64) -> Result<Self> {
        let validation = &context.split.validation;
        let max_rows = validation.len().min(MAX_SCORING_ROWS);
        let min_rows = validation.len().min(MIN_SCORING_ROWS);
        let affordable = |seconds: f64| {
            let usual = (SCORING_SHARE * budget / seconds) as usize;
            let at_the_limit = (MAX_SCORING_SHARE * budget / seconds) as usize;
            (at_the_limit >= min_rows).then(|| usual.clamp(min_rows, max_rows))
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
            let costs = context.data.data().costs();
            let results = context
                .oracle
                .relax_rows(costs, &rows, kind, context.observer)
                .map_err(|error| error.for_method("auto"))?;
            let mut optimal_objectives = Vec::with_capacity(rows.len());
            for (instance, result) in rows.iter().zip(results) {
                let solution = result.map_err(|failure| Error::solver(*instance, failure))?;
                optimal_objectives.push(solution.objective);
            }
            return Ok(Self::Relaxed {
                kind,
                rows,
                optimal_objectives,
            });
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

    /// Warns if the budget does not allow exact scoring.
    fn warn_about_scoring(&self, context: &TrainingContext<'_>, times: &SolveTimes) {
        let seconds = times.exact;
        let seconds = if seconds < 0.01 {
            format!("{seconds:.1e}")
        } else {
            format!("{seconds:.2}")
        };
        match self {
            Self::Exact(_) => {}
            Self::Relaxed { rows, .. } => context.observer.warn(&format!(
                "a solve takes about {seconds} s, too long for scoring; auto scores candidates by \
                 the linear relaxation on {} validation rows",
                rows.len()
            )),
            Self::None => context.observer.warn(&format!(
                "a solve takes about {seconds} s, too long for scoring within this budget; auto \
                 trains MAE(O,S), which needs no solve, without comparing it"
            )),
        }
    }

    /// Mean regret of a model on the rows for scoring; `None` if candidates are not scored.
    fn regret(&self, context: &TrainingContext<'_>, trained: &FitResult) -> Result<Option<f64>> {
        let data = context.data;
        let regrets = match self {
            Self::None => return Ok(None),
            Self::Exact(rows) => {
                let predictions = trained.model.predict_instances(data, rows)?;
                regrets(&predictions, data, rows, context.oracle, context.observer)?
            }
            Self::Relaxed {
                kind,
                rows,
                optimal_objectives,
            } => {
                let predictions = trained.model.predict_instances(data, rows)?;
                let results = context
                    .oracle
                    .relax_instances(&predictions, rows, *kind, context.observer)
                    .map_err(|error| error.for_method("auto"))?;
                let mut regrets = Vec::with_capacity(rows.len());
                for ((instance, result), optimal) in
                    rows.iter().zip(results).zip(optimal_objectives)
                {
                    let solution = result.map_err(|failure| Error::solver(*instance, failure))?;
                    regrets
                        .push(solution.decision.dot(data.data().costs().row(*instance)) - optimal);
                }
                regrets
            }
        };
        Ok(Some(regrets.iter().sum::<f64>() / regrets.len() as f64))
    }
}
