//! `D` without a number: the shrinkage of its prices with the lowest validation regret.
//!
//! The trainings with the tried values run one after the other without checkpoints, as those of
//! `auto` do; ties go to the lower value.

use super::Trainer;
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::method::{Method, TrainingStage};
use crate::observer::InterruptOnlyObserver;
use crate::parallel::Timer;
use crate::predict::CostModel;
use crate::problem::ProblemSpec;
use crate::report::TrainReport;
use crate::train::TrainingContext;

impl Trainer {
    /// The best of the trainings with the tried shrinkages; `None` where no stage leaves the
    /// shrinkage open.
    ///
    /// # Errors
    /// When there are no validation rows to choose by, and as [`Trainer::train`].
    pub(super) fn fit_shrinkage(
        &self,
        stages: &[TrainingStage],
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
    ) -> Result<Option<(CostModel, TrainReport)>> {
        let variants = TrainingStage::with_shrinkages(stages);
        if variants.is_empty() {
            return Ok(None);
        }
        let rows = &context.split.validation;
        if rows.is_empty() || self.settings.train_on_validation {
            return Err(Error::setting(format!(
                "'{}' chooses its shrinkage by the regret on validation rows, of which there are \
                 none",
                self.method
            ))
            .with_remedy("hold out validation rows, or state the shrinkage, such as D(0.25)"));
        }
        let timer = Timer::start();
        let mut best: Option<(f64, CostModel, TrainReport)> = None;
        for variant in variants {
            let trainer = Self {
                method: Method::Stages(variant),
                ..self.clone()
            };
            let (model, report) = trainer.fit_parameters(context, problem, None)?;
            let observer = InterruptOnlyObserver(context.observer);
            let (data, oracle) = (context.data, context.oracle);
            let regret = Evaluation::of_model(&model, data, rows, oracle, &observer)?.regret;
            if best.as_ref().is_none_or(|(least, ..)| regret < *least) {
                best = Some((regret, model, report));
            }
        }
        Ok(best.map(|(_, model, report)| {
            let report = TrainReport {
                seconds: timer.seconds(),
                cpu_seconds: timer.cpu_seconds(),
                ..report
            };
            (model, report)
        }))
    }
}
