//! The search of `auto`: successive halving over folds, then the average of the best candidates.

use std::collections::BTreeSet;
use std::time::Instant;

use super::candidate::{
    self, Candidate, CandidateKind, FoldResult, LOSSES_WITH_FEW_SOLVES, LearningSchedule,
    SENSITIVITY_LOSS,
};
use super::ensemble::{
    self, AVERAGED_CANDIDATES, Average, LEAST_SQUARES_TOLERANCE, PairedDifference,
};
use super::folds::{Fold, folds};
use super::scoring::{RegretScorer, ScoringPlan};
use super::selection;
use super::solve_times::{SECONDS_PER_WORK_UNIT, SolveTimeSource, SolveTimes};
use super::training_time::TrainingTime;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, MissingPredictions};
use crate::method::{AutoBudget, TrainingStage};
use crate::oracle::{CacheSettings, Heuristic, OracleSettings, SolveCounts};
use crate::parallel::Timer;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::report::{CandidateReport, ScoredRegrets, ScoringKind, SearchReport, TrainReport};
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::solve::relaxation::Relaxation;
use crate::train::{StagedTraining, TrainingContext, linear_fit};

/// Numbers of folds that are tried, the first that fits in the budget. Five are the usual number.
const FOLDS: [usize; 2] = [5, 3];
/// Fractions of the budget that are planned for scoring, for training without solves and for
/// training with solves. Untuned: the remainder is a reserve, since estimates are rough.
const SCORING_SHARE: f64 = 0.25;
const ARITHMETIC_SHARE: f64 = 0.25;
const SOLVER_SHARE: f64 = 0.4;
/// Fraction of the budget after which nothing is started.
const USED_SHARE: f64 = 0.85;
/// Fewer scored rows in a fold do not justify several folds.
const MIN_ROWS_OF_FOLDS: usize = 50;
/// Candidates that are planned for: all of them on the first fold, and those kept on the others.
const PLANNED_CANDIDATES: f64 = 24.0;
/// Candidates of a budget that does not allow scoring so many: least squares, three losses without
/// solves, and SPO+.
const FEW_CANDIDATES: f64 = 5.0;
const FEW_LOSSES: [&str; 3] = ["MSE", "MAE(O,S)", "MSE(O,S)"];
/// Candidates that call the solver, as planned for one fold.
const PLANNED_SOLVER_CANDIDATES: f64 = 4.0;
/// Candidates that are kept for all folds at least.
const KEPT_CANDIDATES: usize = 9;
/// Maximum and minimum number of epochs of the shorter schedule. With a decaying learning rate,
/// more than 20 change little on most tables; the longer schedule shows whether they do.
const MAX_EPOCHS: usize = 20;
/// The initial learning rate, which decays, as a multiple of the constant one of the settings.
/// Trades progress in few epochs against stability.
const RATE_FACTOR: f64 = 10.0;
/// A batch has at most one of this many parts of the rows, so that small tables have enough steps.
const MIN_STEPS_PER_EPOCH: usize = 16;
/// Epochs of a solver-calling loss that several folds need, and that oracle settings need with one
/// fold. Trades the accuracy of decisions against the number of gradient steps.
const MIN_SOLVER_EPOCHS_WITH_FOLDS: f64 = 10.0;
const MIN_SOLVER_EPOCHS: f64 = 3.0;
/// Solve ratio of the cache, which is used if nothing else is affordable. Trades the accuracy of
/// decisions against solves.
const CACHE_SOLVE_RATIO: f64 = 0.05;
/// The batch size of these candidates.
const SMALL_BATCH_SIZE: usize = 8;
/// Predictors whose best candidate has a higher regret than this multiple of the lowest one are
/// not trained with solves.
const MAX_REGRET_RATIO: f64 = 1.5;
/// Candidates whose longer schedule is tried, and the fraction of the budget that one of them may
/// take on all folds.
const LONGER_CANDIDATES: usize = 4;
const MAX_LONGER_SHARE: f64 = 0.1;
/// Projections onto normal cones and cost ranges are tried where an exact solve takes longer than
/// this many projections, as on tours and routes: elsewhere they were never among the best.
const SLOW_SOLVE_RATIO: f64 = 3.0;
/// Candidates of fewer epochs have small batches, which halve the solver calls that are needed
/// (measured on TSP100).
const MAX_SMALL_BATCH_EPOCHS: usize = 10;

/// Everything the candidates share.
pub(crate) struct AutoSearch<'a> {
    context: &'a TrainingContext<'a>,
    predictors: Vec<PredictorSpec>,
    settings: TrainingSettings,
    problem: &'a ProblemSpec,
    budget: f64,
    time: TrainingTime,
    folds: Vec<Fold>,
    scorer: RegretScorer,
    /// Whether the budget allows only a few candidates.
    has_few_candidates: bool,
    schedule: LearningSchedule,
    /// Whether a multiple of the costs has the same decisions.
    is_scale_invariant: bool,
    candidates: Vec<Candidate>,
    /// Planned seconds of the arithmetic of all trainings so far.
    arithmetic_seconds: f64,
    timer: Timer,
    initial_counts: SolveCounts,
    initial_work: u64,
    failure: Option<Error>,
}

impl<'a> AutoSearch<'a> {
    pub(crate) fn new(
        context: &'a TrainingContext<'a>,
        predictor: Option<&PredictorSpec>,
        settings: TrainingSettings,
        problem: &'a ProblemSpec,
        budget: AutoBudget,
    ) -> Result<Self> {
        if context.split.validation.is_empty() {
            return Err(Error::setting("auto needs validation rows")
                .with_remedy("give some, or choose a loss"));
        }
        let settings = TrainingSettings {
            standardize: true,
            scale_costs: true,
            rescale_loss: true,
            select: SelectionCriterion::Last,
            train_on_validation: false,
            ..settings
        };
        let timer = Timer::start();
        let (initial_counts, initial_work) = (context.oracle.counts(), context.oracle.work());
        let times = SolveTimes::estimate(context, budget)?;
        let time = TrainingTime::new(context.data.data(), times);
        let predictors = candidate::predictors(predictor);
        let rows = context.split.train.len() + context.split.validation.len();
        let planner = Planner {
            budget: budget.seconds,
            rows,
            time: &time,
            settings: &settings,
            predictors: &predictors,
        };
        let FoldPlan {
            num_folds,
            scoring: plan,
            has_few_candidates,
        } = planner.folds(context.split.validation.len());
        let folds = folds(context.split, num_folds, plan.max_rows(), settings.seed);
        plan.warn(context, &times);
        let scorer = plan.scorer(context, &folds)?;
        let schedule = planner.schedule(folds[0].split.train.len());
        Ok(Self {
            is_scale_invariant: has_scale_invariant_decisions(context),
            context,
            predictors,
            settings,
            problem,
            budget: budget.seconds,
            time,
            folds,
            scorer,
            has_few_candidates,
            schedule,
            candidates: Vec::new(),
            arithmetic_seconds: 0.0,
            timer,
            initial_counts,
            initial_work,
            failure: None,
        })
    }

    /// Trains the candidates, those of the user too, and returns the average of the best.
    /// Candidates of the search that fail are left out.
    ///
    /// # Errors
    /// When all candidates or one of the user's fail, candidates of the user cannot be compared, or
    /// the user interrupts.
    pub(crate) fn run(mut self, users: &[Vec<TrainingStage>]) -> Result<(CostModel, TrainReport)> {
        self.try_first_candidates()?;
        if matches!(self.scorer, RegretScorer::None) {
            if !users.is_empty() {
                return Err(Error::setting(
                    "the budget of auto does not allow it to compare candidates",
                )
                .with_remedy("give it more seconds, or train the method without auto"));
            }
        } else {
            if !self.has_few_candidates {
                self.try_losses_with_few_solves()?;
            }
            self.try_candidates_of_user(users)?;
            self.try_solver_losses()?;
            if !self.has_few_candidates {
                self.try_longer_schedules()?;
            }
        }
        let num_folds = self.halve_over_folds()?;
        self.result(num_folds)
    }

    /// Closed forms and losses without solves; only one if candidates cannot be scored.
    fn try_first_candidates(&mut self) -> Result<()> {
        let (oracle, rows) = (self.context.oracle, self.num_training_rows());
        if matches!(self.scorer, RegretScorer::None) {
            let predictors = &self.predictors[..1];
            let only = ["MAE(O,S)"];
            let candidates =
                candidate::trained(&only, oracle, predictors, self.schedule, &self.time, rows)?;
            return self.try_all(candidates);
        }
        if self.predictors.contains(&PredictorSpec::Linear) {
            self.try_all(candidate::closed_forms())?;
        }
        let (schedule, time) = (self.schedule, &self.time);
        let candidates = if self.has_few_candidates {
            let predictors = &self.predictors[..1];
            candidate::trained(&FEW_LOSSES, oracle, predictors, schedule, time, rows)?
        } else {
            candidate::without_solves(oracle, &self.predictors, schedule, time, rows)?
        };
        self.try_all(candidates)
    }

    /// The longer schedule for the best candidates so far.
    fn try_longer_schedules(&mut self) -> Result<()> {
        let rows = self.num_training_rows();
        let mut longer = Vec::new();
        for index in self.ranking(1).into_iter().take(LONGER_CANDIDATES) {
            let Candidate {
                kind: CandidateKind::Trained { stage, start },
                predictor,
                ..
            } = &self.candidates[index]
            else {
                continue;
            };
            let stage = candidate::with_longer_schedule(stage);
            let start = start.map(|index| (index, &self.candidates[index]));
            let next = candidate::from_stage(stage, start, predictor, &self.time, rows);
            if next.planned_seconds <= MAX_LONGER_SHARE * self.budget / self.folds.len() as f64 {
                longer.push(next);
            }
        }
        self.try_all(longer)
    }

    /// Losses that solve every row once or twice.
    fn try_losses_with_few_solves(&mut self) -> Result<()> {
        let predictors = self.competitive_predictors();
        let mut losses = LOSSES_WITH_FEW_SOLVES.to_vec();
        if self.has_slow_solves() {
            losses.push(SENSITIVITY_LOSS);
        }
        let candidates = candidate::trained(
            &losses,
            self.context.oracle,
            &predictors,
            self.schedule,
            &self.time,
            self.num_training_rows(),
        )?;
        let seconds = self.solver_seconds_per_candidate();
        let affordable = candidates
            .into_iter()
            .filter(|next| next.planned_seconds <= seconds);
        self.try_all(affordable.collect())
    }

    /// Methods that the user named, for every predictor; a stage has the schedule of the search
    /// where it has no settings of its own. They are trained whatever the budget is, and a warning
    /// says where one exceeds it.
    fn try_candidates_of_user(&mut self, users: &[Vec<TrainingStage>]) -> Result<()> {
        let rows = self.num_training_rows();
        for stages in users {
            for predictor in self.predictors.clone() {
                let mut start = None;
                for stage in stages {
                    let stage = self.schedule.complete(stage.clone());
                    let earlier = start.map(|index| (index, &self.candidates[index]));
                    let next = candidate::from_stage(stage, earlier, &predictor, &self.time, rows);
                    let left = (self.budget - self.used_seconds()).max(0.0);
                    if next.planned_seconds > left {
                        self.context.observer.warn(&format!(
                            "the candidate {} is planned for {:.0} s, and {left:.0} s of the \
                             budget of auto are left",
                            next.name, next.planned_seconds
                        ));
                    }
                    self.candidates.push(next);
                    let index = self.candidates.len() - 1;
                    self.train(index, 0)?;
                    if self.candidates[index].has_failed {
                        return Err(self.failure.take().unwrap_or(Error::Interrupted));
                    }
                    start = Some(index);
                }
            }
        }
        Ok(())
    }

    /// Losses that call the solver in every step.
    fn try_solver_losses(&mut self) -> Result<()> {
        let mut candidates = Vec::new();
        for predictor in self.competitive_predictors() {
            let ranking = self.ranking(1);
            let mut of_predictor = ranking.into_iter().filter(|index| {
                let candidate = &self.candidates[*index];
                candidate.predictor == predictor && !candidate.is_closed_form()
            });
            let best = of_predictor.next();
            let losses: &[&str] = if self.has_few_candidates {
                &["SPO+"]
            } else {
                &["SPO+", "PFYL"]
            };
            for loss in losses {
                let stage: TrainingStage = loss.parse()?;
                candidates.extend(self.solver_candidate(&stage, best, &predictor));
                if self.folds.len() > 1 {
                    candidates.extend(self.solver_candidate(&stage, None, &predictor));
                }
            }
            let cave: TrainingStage = "CaVE(inner)".parse()?;
            let tries_projections = self.has_slow_solves() && !self.has_few_candidates;
            if tries_projections && cave.check_problem(self.context.oracle).is_ok() {
                candidates.extend(self.solver_candidate(&cave, best, &predictor));
            }
        }
        self.try_all(candidates)
    }

    /// A candidate of a loss that calls the solver, with the most accurate oracle settings that
    /// allow enough epochs; `None` if none do.
    fn solver_candidate(
        &self,
        stage: &TrainingStage,
        start: Option<usize>,
        predictor: &PredictorSpec,
    ) -> Option<Candidate> {
        let (rows, seconds) = (
            self.num_training_rows(),
            self.solver_seconds_per_candidate(),
        );
        for settings in self.oracle_settings(stage) {
            let mut stage = stage.clone();
            stage.oracle = settings;
            if stage.check_problem(self.context.oracle).is_err() {
                continue;
            }
            let epochs = seconds / self.time.epoch(&stage, predictor, rows);
            if epochs < MIN_SOLVER_EPOCHS {
                continue;
            }
            let epochs = (epochs as usize).min(MAX_EPOCHS);
            let batch_size = if epochs <= MAX_SMALL_BATCH_EPOCHS {
                self.schedule.batch_size.min(SMALL_BATCH_SIZE)
            } else {
                self.schedule.batch_size
            };
            let schedule = LearningSchedule {
                epochs,
                batch_size,
                ..self.schedule
            };
            let stage = schedule.apply_to(stage);
            let start = start.map(|index| (index, &self.candidates[index]));
            return Some(candidate::from_stage(
                stage, start, predictor, &self.time, rows,
            ));
        }
        None
    }

    /// Oracle settings that the problem offers, the most accurate ones first.
    fn oracle_settings(&self, stage: &TrainingStage) -> Vec<OracleSettings> {
        let exact = OracleSettings::default();
        if !stage.loss.properties().calls_solver {
            return vec![exact];
        }
        let times = &self.time.times;
        let relaxed = |kind: Relaxation| OracleSettings {
            relaxation: Some(kind),
            ..exact
        };
        let heuristic = |heuristic: Heuristic| OracleSettings {
            heuristic: Some(heuristic),
            ..exact
        };
        let mut settings = vec![exact];
        if times.tight.is_some() {
            settings.push(relaxed(Relaxation::Tight));
        }
        if times.fast_local_search.is_some() {
            settings.push(heuristic(Heuristic::FastLocalSearch));
            settings.push(heuristic(Heuristic::LocalSearchFromLabel));
        }
        if times.plain.is_some() {
            settings.push(relaxed(Relaxation::Plain));
        }
        if self.context.oracle.require_checks().is_ok() {
            settings.push(OracleSettings {
                cache: Some(CacheSettings::new(CACHE_SOLVE_RATIO)),
                ..exact
            });
        }
        settings
    }

    /// Whether exact solves take far longer than projections and relaxations.
    fn has_slow_solves(&self) -> bool {
        self.time.times.exact > SLOW_SOLVE_RATIO * self.time.projection()
    }

    /// Predictors whose best candidate is not far behind.
    fn competitive_predictors(&self) -> Vec<PredictorSpec> {
        let best_of = |predictor: &PredictorSpec| {
            let of_predictor = self.candidates.iter().filter(|c| c.predictor == *predictor);
            of_predictor
                .map(|c| c.mean_regret(1))
                .fold(f64::INFINITY, f64::min)
        };
        let lowest = self
            .predictors
            .iter()
            .map(best_of)
            .fold(f64::INFINITY, f64::min);
        let mut predictors = self.predictors.clone();
        predictors.retain(|predictor| best_of(predictor) <= MAX_REGRET_RATIO * lowest);
        predictors.sort_by(|a, b| best_of(a).total_cmp(&best_of(b)));
        predictors
    }

    /// How many candidates the budget allows on the other folds, from what they took so far.
    fn affordable_candidates(&self, folds_left: usize) -> usize {
        let trained: usize = self.candidates.iter().map(|c| c.folds.len()).sum();
        let mean = self.used_seconds() / trained.max(1) as f64;
        let left = (USED_SHARE * self.budget - self.used_seconds()).max(0.0);
        (left / (mean * folds_left.max(1) as f64)) as usize
    }

    /// Seconds that a candidate that calls the solver may take on one fold.
    fn solver_seconds_per_candidate(&self) -> f64 {
        let left = (USED_SHARE * self.budget - self.used_seconds()).max(0.0);
        let planned = SOLVER_SHARE * self.budget;
        let candidates = if self.has_few_candidates {
            1.0
        } else {
            PLANNED_SOLVER_CANDIDATES
        };
        planned.min(left) / (self.folds.len() as f64 * candidates)
    }

    fn num_training_rows(&self) -> usize {
        self.folds[0].split.train.len()
    }

    /// Counted work of solves in seconds, or their number times the estimated seconds, and the
    /// planned arithmetic.
    fn used_seconds(&self) -> f64 {
        let times = &self.time.times;
        let solves = match times.source {
            SolveTimeSource::Counted => {
                SECONDS_PER_WORK_UNIT * (self.context.oracle.work() - self.initial_work) as f64
            }
            SolveTimeSource::Size | SolveTimeSource::Stated | SolveTimeSource::Timed => {
                let counts = self.context.oracle.counts() - self.initial_counts;
                let relaxed = times.tight.or(times.plain).unwrap_or(times.exact);
                let heuristic = times.fast_local_search.unwrap_or(times.exact);
                counts.exact as f64 * times.exact
                    + counts.relaxed as f64 * relaxed
                    + counts.heuristic as f64 * heuristic
            }
        };
        let counts = self.context.oracle.counts() - self.initial_counts;
        let projections = counts.projected as f64 * self.time.projection();
        self.arithmetic_seconds + projections + solves
    }

    fn is_budget_used(&self) -> bool {
        self.used_seconds() > USED_SHARE * self.budget
    }

    /// Trains and scores candidates on the first fold, as far as the budget goes.
    fn try_all(&mut self, candidates: Vec<Candidate>) -> Result<()> {
        for candidate in candidates {
            if self.candidates.iter().any(|known| !known.folds.is_empty()) && self.is_budget_used()
            {
                break;
            }
            self.candidates.push(candidate);
            self.train(self.candidates.len() - 1, 0)?;
        }
        Ok(())
    }

    /// Trains and scores the better candidates on the other folds, and returns the number of folds
    /// that are complete.
    fn halve_over_folds(&mut self) -> Result<usize> {
        let mut kept = self.ranking(1);
        for fold in 1..self.folds.len() {
            // All of them if that is affordable, else fewer from fold to fold.
            let affordable = self.affordable_candidates(self.folds.len() - fold);
            kept.truncate(affordable.max(KEPT_CANDIDATES));
            // The result is compared with least squares, which is on all folds therefore.
            if let Some(index) = self.least_squares(fold)
                && !self.is_budget_used()
            {
                self.train(index, fold)?;
            }
            for (position, index) in kept.iter().enumerate() {
                if self.is_budget_used() {
                    // The best candidates go first: those that are missing are left out, unless the
                    // best one is among them.
                    if position == 0 {
                        return Ok(fold);
                    }
                    break;
                }
                self.train(*index, fold)?;
            }
            kept.retain(|index| self.candidates[*index].folds.len() > fold);
            kept.sort_by(|a, b| self.compare(*a, *b, fold + 1));
        }
        Ok(self.folds.len())
    }

    fn compare(&self, a: usize, b: usize, num_folds: usize) -> std::cmp::Ordering {
        let [first, second] = [a, b].map(|index| self.candidates[index].mean_regret(num_folds));
        // Candidates are in order of simplicity: ties go to the earlier one.
        first.total_cmp(&second).then(a.cmp(&b))
    }

    /// Candidates with these folds, those of the lowest regret first.
    fn ranking(&self, num_folds: usize) -> Vec<usize> {
        let is_complete = |index: &usize| {
            let candidate = &self.candidates[*index];
            !candidate.has_failed && candidate.folds.len() >= num_folds
        };
        let mut order: Vec<usize> = (0..self.candidates.len()).filter(is_complete).collect();
        order.sort_by(|a, b| self.compare(*a, *b, num_folds));
        order
    }

    /// Trains and scores a candidate on a fold, after the one it starts from.
    fn train(&mut self, index: usize, fold: usize) -> Result<()> {
        if self.candidates[index].has_failed || self.candidates[index].folds.len() > fold {
            return Ok(());
        }
        let start = match &self.candidates[index].kind {
            CandidateKind::Trained { start, .. } => *start,
            CandidateKind::ClosedForm { .. } => None,
        };
        if let Some(start) = start {
            self.train(start, fold)?;
            if self.candidates[start].has_failed {
                self.candidates[index].has_failed = true;
                return Ok(());
            }
        }
        let started = Instant::now();
        let result = self.fold_result(index, fold);
        let candidate = &mut self.candidates[index];
        candidate.seconds += started.elapsed().as_secs_f64();
        match result {
            Ok(result) => candidate.folds.push(result),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                candidate.has_failed = true;
                self.failure = Some(error);
            }
        }
        if self.context.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    fn fold_result(&mut self, index: usize, fold: usize) -> Result<FoldResult> {
        let candidate = &self.candidates[index];
        let context = TrainingContext {
            split: &self.folds[fold].split,
            ..*self.context
        };
        let (model, rounds) = match &candidate.kind {
            CandidateKind::ClosedForm { penalty } => {
                (linear_fit(&context, self.problem, *penalty)?, Vec::new())
            }
            CandidateKind::Trained { stage, start } => {
                let mut settings = self.settings;
                // Models of different folds start from different parameters.
                settings.seed = settings.seed.wrapping_add(fold as u64);
                let source = self.time.times.source;
                if stage.loss.properties().calls_solver && source == SolveTimeSource::Counted {
                    // Solves under predicted costs can take longer than those under the true
                    // costs, which the plan is based on.
                    let work = self.solver_seconds_per_candidate() / SECONDS_PER_WORK_UNIT;
                    settings.work_limit = Some(work as u64);
                }
                let start = start.map(|index| &self.candidates[index].folds[fold].model);
                let training = StagedTraining {
                    stages: std::slice::from_ref(stage),
                    predictor: &candidate.predictor,
                    settings,
                    start,
                    problem: self.problem,
                };
                let (model, report) = training.run(&context, None)?;
                (model, report.rounds)
            }
        };
        if let CandidateKind::Trained { stage, .. } = &candidate.kind {
            let rows = context.split.train.len();
            let arithmetic = self.time.arithmetic(stage, &candidate.predictor, rows);
            self.arithmetic_seconds += arithmetic;
        }
        let rows = &self.folds[fold].scored;
        let predictions = model.predict_instances(self.context.data, rows)?;
        let missing = model.missing_predictions();
        let regrets = self
            .scorer
            .regrets(self.context, &predictions, missing, rows)?;
        Ok(FoldResult {
            norm_factor: self.norm_factor(&predictions, rows),
            model,
            regrets,
            row_weights: self.row_weights(rows),
            rounds,
        })
    }

    /// The weights of some rows, where rows have weights.
    fn row_weights(&self, rows: &[usize]) -> Option<Vec<f64>> {
        let weights = self.context.data.data().row_weights()?;
        Some(rows.iter().map(|row| weights[*row]).collect())
    }

    /// Multiplies values of the scored rows of the first folds by the weights of the rows.
    fn count_by_weight(&self, values: &mut [f64], num_folds: usize) {
        let mut weights = Vec::new();
        for fold in &self.folds[..num_folds] {
            weights.extend(self.row_weights(&fold.scored).into_iter().flatten());
        }
        candidate::times_row_weights(values, &weights);
    }

    /// What predictions are multiplied by, so that their mean norm is that of the true costs; 1
    /// where decisions depend on the scale.
    fn norm_factor(&self, predictions: &Matrix, rows: &[usize]) -> f64 {
        if !self.is_scale_invariant {
            return 1.0;
        }
        let costs = self.context.data.data().costs();
        let weights = self.row_weights(rows);
        let (mut predicted, mut actual) = (0.0, 0.0);
        for (position, row) in rows.iter().enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[position]);
            let (mut predicted_square, mut actual_square) = (0.0, 0.0);
            for (prediction, cost) in predictions.row(position).iter().zip(costs.row(*row)) {
                // A cost that no training row has has no prediction.
                if !prediction.is_nan() {
                    predicted_square += f64::from(*prediction).powi(2);
                    actual_square += f64::from(*cost).powi(2);
                }
            }
            predicted += weight * predicted_square.sqrt();
            actual += weight * actual_square.sqrt();
        }
        if predicted > 0.0 && actual > 0.0 {
            actual / predicted
        } else {
            1.0
        }
    }

    /// The average of the best candidates.
    fn result(mut self, num_folds: usize) -> Result<(CostModel, TrainReport)> {
        let ranking = self.ranking(num_folds);
        let Some(best) = ranking.first().copied() else {
            return Err(self.failure.take().unwrap_or(Error::Interrupted));
        };
        let chosen = self.choose_average(&ranking, num_folds)?;
        let least_squares = self.least_squares(num_folds);
        let members = match least_squares {
            Some(index) if self.is_as_good(index, &chosen, num_folds) => vec![index],
            Some(_) | None => chosen.members.clone(),
        };
        let is_least_squares = least_squares.is_some_and(|index| members == [index]);
        let models: Vec<&Candidate> = members.iter().map(|i| &self.candidates[*i]).collect();
        let regrets = if is_least_squares {
            models[0].regrets(num_folds)
        } else {
            chosen.regrets
        };
        let factor = self.cost_factor(&models, num_folds)?;
        let mut model = ensemble::average_of_folds(&models, num_folds, factor)?;
        model.metadata.seed = self.settings.seed;
        model.metadata.method = method_name(&models);
        let validation = self.held_out_evaluation(&models, factor, num_folds)?;
        let rounds = self.candidates[members[0]].folds[0].rounds.clone();
        let solves = self.context.oracle.counts() - self.initial_counts;
        let report = TrainReport {
            timed_solve_seconds: self.timed_solve_seconds(),
            candidates: self.candidate_reports(best, &members, num_folds),
            search: self.search_report(regrets, is_least_squares, num_folds),
            held_out: validation,
            ..TrainReport::new(rounds, solves, &self.timer)
        };
        Ok((model, report))
    }

    /// The average of the best candidates that has the lowest regret, or nearly so.
    fn choose_average(&self, ranking: &[usize], num_folds: usize) -> Result<Average> {
        let mut averages = vec![Average {
            members: vec![ranking[0]],
            regrets: self.candidates[ranking[0]].regrets(num_folds),
        }];
        let is_scored = !matches!(self.scorer, RegretScorer::None);
        for count in AVERAGED_CANDIDATES {
            if count < 2 || count > ranking.len() || !is_scored {
                continue;
            }
            let members = ranking[..count].to_vec();
            let models: Vec<&Candidate> = members.iter().map(|i| &self.candidates[*i]).collect();
            let mut regrets = Vec::new();
            for (number, fold) in self.folds[..num_folds].iter().enumerate() {
                let average = ensemble::average_of_fold(&models, number, 1.0)?;
                let predictions = average.predict_instances(self.context.data, &fold.scored)?;
                let missing = average.missing_predictions();
                let scored = &fold.scored;
                let of_fold = self
                    .scorer
                    .regrets(self.context, &predictions, missing, scored)?;
                regrets.extend(of_fold);
            }
            self.count_by_weight(&mut regrets, num_folds);
            averages.push(Average { members, regrets });
        }
        ensemble::choose(averages).ok_or(Error::Interrupted)
    }

    /// The candidate of least squares.
    fn least_squares(&self, num_folds: usize) -> Option<usize> {
        self.candidates.iter().position(|candidate| {
            candidate.kind == CandidateKind::ClosedForm { penalty: 0.0 }
                && candidate.folds.len() >= num_folds
        })
    }

    fn is_as_good(&self, index: usize, chosen: &Average, num_folds: usize) -> bool {
        let regrets = self.candidates[index].regrets(num_folds);
        PairedDifference::of(&regrets, &chosen.regrets).is_within(LEAST_SQUARES_TOLERANCE)
    }

    /// What averaged predictions are multiplied by, so that their squared error is least; decisions
    /// do not change. 1 where they would.
    fn cost_factor(&self, models: &[&Candidate], num_folds: usize) -> Result<f64> {
        if !self.is_scale_invariant {
            return Ok(1.0);
        }
        let costs = self.context.data.data().costs();
        let (mut product, mut square) = (0.0, 0.0);
        for (number, fold) in self.folds[..num_folds].iter().enumerate() {
            let average = ensemble::average_of_fold(models, number, 1.0)?;
            let predictions = average.predict_instances(self.context.data, &fold.scored)?;
            let weights = self.row_weights(&fold.scored);
            for (position, row) in fold.scored.iter().enumerate() {
                let weight = weights.as_ref().map_or(1.0, |weights| weights[position]);
                let pairs = predictions.row(position).iter().zip(costs.row(*row));
                for (predicted, cost) in pairs.filter(|(predicted, _)| !predicted.is_nan()) {
                    product += weight * f64::from(*predicted) * f64::from(*cost);
                    square += weight * f64::from(*predicted).powi(2);
                }
            }
        }
        Ok(if product > 0.0 && square > 0.0 {
            product / square
        } else {
            1.0
        })
    }

    /// The evaluation of the validation rows by models that were not trained on them, if the result
    /// was trained on them. Where the budget ended before all folds, the validation rows that every
    /// model was trained on are left out.
    fn held_out_evaluation(
        &self,
        models: &[&Candidate],
        factor: f64,
        num_folds: usize,
    ) -> Result<Option<Evaluation>> {
        if self.folds.len() < 2 {
            return Ok(None);
        }
        let is_validation: BTreeSet<usize> =
            self.context.split.validation.iter().copied().collect();
        let mut rows_by_fold = Vec::with_capacity(num_folds);
        for fold in &self.folds[..num_folds] {
            let mut rows = fold.held_out.clone();
            rows.retain(|row| is_validation.contains(row));
            rows_by_fold.push(rows);
        }
        if rows_by_fold.iter().all(Vec::is_empty) {
            let folds = self.folds[..num_folds].iter();
            rows_by_fold = folds.map(|fold| fold.held_out.clone()).collect();
        }
        let rows = rows_by_fold.concat();
        let mut values = Vec::with_capacity(rows.len() * self.time.costs());
        let mut missing = MissingPredictions::Refused;
        for (number, rows) in rows_by_fold.iter().enumerate() {
            let average = ensemble::average_of_fold(models, number, factor)?;
            let predictions = average.predict_instances(self.context.data, rows)?;
            values.extend_from_slice(predictions.as_slice());
            if average.has_unobserved_costs() {
                missing = MissingPredictions::LeftOut;
            }
        }
        let predictions = Matrix::new(rows.len(), self.time.costs(), values)?;
        let TrainingContext {
            data,
            oracle,
            observer,
            ..
        } = *self.context;
        let evaluation = Evaluation::of_partial_predictions(
            &predictions,
            missing,
            data,
            &rows,
            oracle,
            observer,
        )?;
        Ok(Some(evaluation))
    }

    /// Warns where the plan is based on a measured time.
    fn timed_solve_seconds(&self) -> Option<f64> {
        if self.time.times.source != SolveTimeSource::Timed {
            return None;
        }
        let seconds = self.time.times.exact;
        self.context.observer.warn(&format!(
            "auto measured {seconds} s for a solve and planned with it, so another run may give \
             another model; 'solve {seconds}s' after auto makes runs reproducible"
        ));
        Some(seconds)
    }

    fn search_report(
        &self,
        mut regrets: Vec<f64>,
        is_least_squares: bool,
        num_folds: usize,
    ) -> Option<SearchReport> {
        if matches!(self.scorer, RegretScorer::None) {
            return None;
        }
        // Least squares is not chosen for its regret, but in spite of it.
        if !is_least_squares {
            for (regret, optimism) in regrets.iter_mut().zip(self.optimism(num_folds)) {
                *regret += optimism;
            }
        }
        let mut objectives = Vec::with_capacity(regrets.len());
        for fold in &self.folds[..num_folds] {
            for row in &fold.scored {
                objectives.push(self.context.data.optimal_objective(*row).abs());
            }
        }
        self.count_by_weight(&mut objectives, num_folds);
        let least_squares = self.least_squares(num_folds);
        let baseline = least_squares.map(|index| self.candidates[index].regrets(num_folds));
        let scored = ScoredRegrets {
            model: &regrets,
            least_squares: baseline.as_deref().filter(|_| !is_least_squares),
            objectives: &objectives,
            order: self.context.split.row_order(),
        };
        let used_seconds = self.used_seconds();
        Some(SearchReport::new(
            &scored,
            is_least_squares,
            num_folds,
            used_seconds,
        ))
    }

    /// What the choice among the candidates with these folds adds to the regret of each scored row.
    fn optimism(&self, num_folds: usize) -> Vec<f64> {
        let mut complete = self.ranking(num_folds);
        // In order of simplicity, as ties are decided.
        complete.sort_unstable();
        let regrets: Vec<Vec<f64>> = complete
            .iter()
            .map(|index| self.candidates[*index].regrets(num_folds))
            .collect();
        let folds = self.folds[..num_folds].iter();
        let rows_of_folds: Vec<usize> = folds.map(|fold| fold.scored.len()).collect();
        selection::optimism(&regrets, &selection::parts(&rows_of_folds))
    }

    fn candidate_reports(
        &self,
        best: usize,
        members: &[usize],
        num_folds: usize,
    ) -> Vec<CandidateReport> {
        let best = &self.candidates[best];
        let mut reports = Vec::with_capacity(self.candidates.len());
        for (index, candidate) in self.candidates.iter().enumerate() {
            let folds = candidate.folds.len();
            let regrets = candidate.regrets(folds);
            let is_scored = !candidate.has_failed && !regrets.is_empty();
            let mean = candidate.mean_regret(folds);
            let common = folds.min(num_folds);
            let difference =
                PairedDifference::of(&candidate.regrets(common), &best.regrets(common));
            let scoring = if candidate.has_failed {
                ScoringKind::Failed
            } else {
                self.scorer.kind()
            };
            reports.push(CandidateReport {
                method: candidate.name.clone(),
                predictor: candidate.predictor.to_string(),
                folds,
                regret: is_scored.then_some(mean),
                difference: is_scored.then_some(difference.mean),
                standard_error: is_scored.then_some(difference.standard_error),
                is_chosen: members.contains(&index),
                scoring,
                seconds: candidate.seconds,
            });
        }
        reports
    }
}

/// The candidates of an average, by name.
fn method_name(models: &[&Candidate]) -> String {
    let mut names: Vec<String> = Vec::new();
    for candidate in models {
        names.push(match &candidate.predictor {
            PredictorSpec::Linear => candidate.name.clone(),
            network @ PredictorSpec::Mlp { .. } => format!("{} ({network})", candidate.name),
        });
    }
    match names.as_slice() {
        [name] => name.clone(),
        names => format!("mean of {}: {}", names.len(), names.join("; ")),
    }
}

/// Whether decisions stay the same when all predicted costs are multiplied by a positive number:
/// nothing else is part of the objective.
fn has_scale_invariant_decisions(context: &TrainingContext<'_>) -> bool {
    let rows = context.split.train.iter();
    !context.oracle.problem().has_known_costs()
        && rows
            .map(|row| context.data.optimal_decision(*row))
            .all(|decision| decision.fixed() == 0.0)
}

/// Folds and how they are scored.
struct FoldPlan {
    num_folds: usize,
    scoring: ScoringPlan,
    has_few_candidates: bool,
}

/// Plans folds and schedule within the budget.
struct Planner<'p> {
    budget: f64,
    /// Rows for training and validation.
    rows: usize,
    time: &'p TrainingTime,
    settings: &'p TrainingSettings,
    predictors: &'p [PredictorSpec],
}

impl Planner<'_> {
    /// Number of folds, and how they are scored: several folds if the budget allows a loss that
    /// calls the solver in each of them.
    fn folds(&self, validation_rows: usize) -> FoldPlan {
        for num_folds in FOLDS {
            let rows_of_fold = self.rows / num_folds;
            if rows_of_fold == 0 {
                continue;
            }
            let kept = (num_folds - 1) as f64 * KEPT_CANDIDATES as f64;
            let scoring = self.scoring(PLANNED_CANDIDATES + kept, rows_of_fold);
            let has_enough_rows = scoring.max_rows() >= rows_of_fold.min(MIN_ROWS_OF_FOLDS);
            if matches!(scoring, ScoringPlan::Exact(_))
                && has_enough_rows
                && self.allows_solver_loss(num_folds)
                && self.epochs_without_solves(num_folds) >= MAX_EPOCHS
            {
                return FoldPlan {
                    num_folds,
                    scoring,
                    has_few_candidates: false,
                };
            }
        }
        let scoring = self.scoring(PLANNED_CANDIDATES, validation_rows);
        let has_few_candidates = !matches!(scoring, ScoringPlan::Exact(_));
        FoldPlan {
            num_folds: 1,
            scoring: if has_few_candidates {
                self.scoring(FEW_CANDIDATES, validation_rows)
            } else {
                scoring
            },
            has_few_candidates,
        }
    }

    /// How each of these candidates is scored on a fold.
    fn scoring(&self, num_candidates: f64, rows_of_fold: usize) -> ScoringPlan {
        let seconds = SCORING_SHARE * self.budget / num_candidates;
        ScoringPlan::choose(&self.time.times, seconds, rows_of_fold)
    }

    /// Whether a solver-calling loss has enough epochs on every fold, by exact solves or by local
    /// search.
    fn allows_solver_loss(&self, num_folds: usize) -> bool {
        let times = &self.time.times;
        let call = match times.fast_local_search {
            Some(seconds) => times.exact.min(seconds),
            None => times.exact,
        };
        let seconds = SOLVER_SHARE * self.budget / (num_folds as f64 * PLANNED_SOLVER_CANDIDATES);
        MIN_SOLVER_EPOCHS_WITH_FOLDS * call * self.rows as f64 <= seconds
    }

    /// Epochs of each candidate without solves that the budget allows.
    fn epochs_without_solves(&self, num_folds: usize) -> usize {
        let kept = (num_folds - 1) as f64 * KEPT_CANDIDATES as f64;
        let stage = TrainingStage::from(crate::loss::CostSensitiveSpec::plain(
            crate::loss::BaseError::Squared,
        ));
        let mut epoch = 0.0;
        for predictor in self.predictors {
            epoch += self.time.epoch(&stage, predictor, self.rows) / self.predictors.len() as f64;
        }
        let epochs = ARITHMETIC_SHARE * self.budget / ((PLANNED_CANDIDATES + kept) * epoch);
        epochs.max(1.0) as usize
    }

    fn schedule(&self, training_rows: usize) -> LearningSchedule {
        let epochs = MAX_EPOCHS
            .min(self.settings.epochs)
            .min(self.epochs_without_solves(1));
        let batch_size = (training_rows / MIN_STEPS_PER_EPOCH).clamp(1, self.settings.batch_size);
        LearningSchedule {
            learning_rate: RATE_FACTOR * self.settings.learning_rate,
            epochs,
            batch_size,
        }
    }
}
