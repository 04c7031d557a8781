//! The search of `auto`: successive halving over folds, then the average of the best candidates.

use self::plan::{FoldPlan, Planner};
use self::shared::SharedSearch;
use super::candidate::{
    self, Candidate, CandidateKind, LOSSES_WITH_FEW_SOLVES, LOSSES_WITHOUT_SOLVES,
    LearningSchedule, SENSITIVITY_LOSS,
};
use super::folds::{Fold, folds};
use super::scoring::RegretScorer;
use super::solve_times::SolveTimes;
use super::training_time::TrainingTime;
use crate::error::{Error, Result};
use crate::method::{AutoBudget, TrainingStage};
use crate::oracle::SolveCounts;
use crate::parallel::Timer;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::report::TrainReport;
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::train::TrainingContext;

mod average;
mod budget;
mod halving;
mod plan;
mod reports;
mod shared;
mod solver_losses;

/// Losses of a budget that allows only a few candidates.
const FEW_LOSSES: [&str; 4] = ["MSE", "MAE(O,S)", "MSE(O,S)", "MAE(D(0.25))"];
/// Maximum and minimum number of epochs of the shorter schedule. With a decaying learning rate,
/// more than 20 change little on most tables; the longer schedule shows whether they do.
const MAX_EPOCHS: usize = 20;
/// Predictors whose best candidate has a higher regret than this multiple of the lowest one are
/// not trained with solves.
const MAX_REGRET_RATIO: f64 = 1.5;
/// Candidates whose longer schedule is tried, and the fraction of the budget that one of them may
/// take on all folds.
const LONGER_CANDIDATES: usize = 4;
const MAX_LONGER_SHARE: f64 = 0.1;

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
    /// Predictors that all costs share, if the table has columns for them.
    shared: Option<SharedSearch>,
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
        // Settings that candidates need to be comparable: without them, learning rates would mean
        // something else for every table.
        let settings = TrainingSettings {
            standardize: true,
            scale_costs: true,
            rescale_loss: true,
            select: SelectionCriterion::Last,
            train_on_validation: false,
            ..settings
        };
        let timer = Timer::start();
        // The budget is that of the search: earlier solves are subtracted.
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
        // The schedule follows from the first fold; others have the same number of rows but one.
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
            shared: None,
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
        // Without scores there is nothing to choose from: the loss that is best without solves, on
        // the first predictor.
        if matches!(self.scorer, RegretScorer::None) {
            let predictors = &self.predictors[..1];
            let only = ["MAE(O,S)"];
            let candidates =
                candidate::trained(&only, oracle, predictors, self.schedule, &self.time, rows)?;
            return self.try_all(candidates);
        }
        // In order of simplicity, since ties go to the earlier candidate.
        if self.predictors.contains(&PredictorSpec::Linear) {
            self.try_all(candidate::closed_forms())?;
            self.try_shared()?;
        }
        let (schedule, time) = (self.schedule, &self.time);
        let (losses, predictors) = if self.has_few_candidates {
            (&FEW_LOSSES[..], &self.predictors[..1])
        } else {
            (&LOSSES_WITHOUT_SOLVES[..], &self.predictors[..])
        };
        let candidates = candidate::trained(losses, oracle, predictors, schedule, time, rows)?;
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
            let time = self.time_of(self.candidates[index].is_shared);
            let mut next = candidate::from_stage(stage, start, predictor, time, rows);
            if self.candidates[index].is_shared {
                next = next.shared();
            }
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
        // Cost ranges take longer than solves, and pay only when these are slow.
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

    /// Methods that the user named, for every predictor; a stage has the schedule of the search if
    /// it has no settings of its own. They are trained whatever the budget is, and a warning says
    /// if one exceeds it.
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
                    // The user named this method, so its failure is an error of the whole search.
                    if self.candidates[index].has_failed {
                        return Err(self.failure.take().unwrap_or(Error::Interrupted));
                    }
                    start = Some(index);
                }
            }
        }
        Ok(())
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
        // The best predictor first, should the budget end.
        predictors.sort_by(|a, b| best_of(a).total_cmp(&best_of(b)));
        predictors
    }
}

/// Whether decisions stay the same when all predicted costs are multiplied by a positive number:
/// nothing else is part of the objective.
fn has_scale_invariant_decisions(context: &TrainingContext<'_>) -> bool {
    let rows = context.split.train.iter();
    // Known costs do not scale with the predictions, and decisions scale with quantities.
    !context.data.has_quantities()
        && !context.oracle.problem().row_problems().has_known_costs()
        && rows
            .map(|row| context.data.optimal_decision(*row))
            .all(|decision| decision.fixed() == 0.0)
}
