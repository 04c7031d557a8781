//! Solver calls of a training before it begins: how many there are, and how long they take.

use crate::label::time_estimate::MIN_ANNOUNCED_SECONDS;
use crate::method::{Method, TrainingStage};
use crate::problem::SolveSeconds;
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::text::duration;
use crate::train::TrainingContext;
use crate::trainer::Trainer;

/// Seconds of validation by regret, on one core of the reference machine, up to which it remains
/// the default. Untuned: a minute is what a user waits without asking why.
const MAX_DEFAULT_VALIDATION_SECONDS: f64 = 60.0;
/// Seconds of solving the test rows, on one core of the reference machine, up to which another
/// model is evaluated on them for comparison. Untuned: short beside a training.
const MAX_COMPARISON_SECONDS: f64 = 5.0;
/// Seconds per unit of counted work: solvers count nanoseconds.
const SECONDS_PER_WORK_UNIT: f64 = 1e-9;

/// Solver calls of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlannedSolves {
    /// Of the losses of all stages; an estimate if a cache is used.
    training: u64,
    /// To score epochs by validation regret.
    validation: u64,
    /// To evaluate the trained model on validation and test rows.
    evaluation: u64,
}

impl PlannedSolves {
    fn new(
        stages: &[TrainingStage],
        settings: &TrainingSettings,
        context: &TrainingContext<'_>,
    ) -> Self {
        let split = context.split;
        let mut training = 0.0;
        let mut evaluations = 0;
        for stage in stages {
            let per_row = stage.estimated_solves_per_row(settings.epochs);
            training += per_row * settings.rows_of_epoch(split.train.len()) as f64;
            // Epoch 0 is scored too.
            evaluations += 1 + stage.overrides.epochs.unwrap_or(settings.epochs);
        }
        let validation = match settings.select {
            SelectionCriterion::ValidationRegret => evaluations * split.validation.len(),
            SelectionCriterion::ValidationLoss
            | SelectionCriterion::TrainingLoss
            | SelectionCriterion::Last => 0,
        };
        Self {
            training: training as u64,
            validation: validation as u64,
            evaluation: (split.validation.len() + split.test.len()) as u64,
        }
    }

    fn total(&self) -> u64 {
        self.training + self.validation + self.evaluation
    }
}

impl Trainer {
    /// Seconds of the solves that the losses of the method call, on one core of the reference
    /// machine and by counted work: the same on every machine. None for `auto`, heuristics, and
    /// solvers of the user's program.
    pub fn loss_solve_seconds(&self, context: &TrainingContext<'_>) -> Option<f64> {
        let Method::Stages(stages) = &self.method else {
            return None;
        };
        let solves = PlannedSolves::new(stages, &self.settings, context).training;
        counted_solve_seconds(context).map(|seconds| seconds * solves as f64)
    }

    /// Selects epochs by validation loss instead of validation regret where the solves of the
    /// latter would take more than a minute and longer than those of all labels; returns what to
    /// tell the user then. For settings that the user did not choose. The times are counted work,
    /// so the choice is the same on every machine; methods whose loss needs solves are left as
    /// they are. Solvers that do not count, such as functions of the user's, are left as they are
    /// too, but the user is told if their measured times are long.
    pub(crate) fn select_affordably(&mut self, context: &TrainingContext<'_>) -> Option<String> {
        let Method::Stages(stages) = &self.method else {
            return None;
        };
        let calls_solver = |stage: &TrainingStage| stage.loss.properties().calls_solver;
        if stages.iter().any(calls_solver) {
            return None;
        }
        let planned = PlannedSolves::new(stages, &self.settings, context);
        let counted = counted_solve_seconds(context);
        let seconds = counted.or_else(|| context.data.solve_seconds())?;
        let validation_seconds = seconds * planned.validation as f64;
        let label_seconds = seconds * context.data.len() as f64;
        if validation_seconds <= MAX_DEFAULT_VALIDATION_SECONDS.max(label_seconds) {
            return None;
        }
        if counted.is_none() {
            return Some(format!(
                "selecting the epoch by validation regret takes {} solves, about {} by the time of \
                 the labels; select = validation-loss takes none (a measured time never changes \
                 the selection by itself: the model would depend on the machine)",
                planned.validation,
                duration(validation_seconds)
            ));
        }
        self.settings.select = SelectionCriterion::ValidationLoss;
        Some(format!(
            "epochs are selected by validation loss: validation regret would need {} more solves, \
             about {} of processor time; select = validation-regret does so",
            planned.validation,
            duration(validation_seconds)
        ))
    }

    /// Announces the solver calls of a training and their time, if it is long.
    pub(crate) fn announce_solves(&self, context: &TrainingContext<'_>) {
        let Method::Stages(stages) = &self.method else {
            return;
        };
        let planned = PlannedSolves::new(stages, &self.settings, context);
        let measured = context.data.solve_seconds();
        let Some(seconds) = measured.or_else(|| counted_solve_seconds(context)) else {
            return;
        };
        let threads = context.oracle.solver_threads().count();
        let estimate = seconds * planned.total() as f64 / threads as f64;
        if estimate < MIN_ANNOUNCED_SECONDS {
            return;
        }
        let mut parts = Vec::new();
        for (count, purpose) in [
            (planned.training, "of the loss"),
            (planned.validation, "of validation rows to select an epoch"),
            (planned.evaluation, "to evaluate the model"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {purpose}"));
            }
        }
        context.observer.inform(&format!(
            "training: about {} solves to come ({}), about {}",
            planned.total(),
            parts.join(", "),
            duration(estimate)
        ));
    }
}

impl TrainingContext<'_> {
    /// Whether there are test rows and solving them takes seconds.
    pub(crate) fn has_cheap_test(&self) -> bool {
        let rows = self.split.test.len();
        let seconds = counted_solve_seconds(self).map(|seconds| seconds * rows as f64);
        rows > 0 && seconds.is_some_and(|seconds| seconds <= MAX_COMPARISON_SECONDS)
    }
}

/// Seconds of an exact solve by counted work or by the size of the problem: the same on every
/// machine. `None` for solvers of the user's program.
fn counted_solve_seconds(context: &TrainingContext<'_>) -> Option<f64> {
    if context.oracle.heuristic().is_some() {
        return None;
    }
    let rows = context.data.rows();
    let counted = context.data.mean_work(&rows);
    match context.oracle.problem().solve_cost_hint().exact {
        SolveSeconds::Estimated(seconds) => Some(seconds),
        SolveSeconds::Counted(_) => counted.map(|work| SECONDS_PER_WORK_UNIT * work),
        SolveSeconds::Unknown => None,
    }
}
