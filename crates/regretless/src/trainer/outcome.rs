//! [`TrainingOutcome`]: a trained model, the report of its training and its evaluation.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Trainer;
use crate::baseline::Baseline;
use crate::evaluate::Evaluation;
use crate::label::LabelCounts;
use crate::method::Method;
use crate::note::Note;
use crate::oracle::Heuristic;
use crate::predict::CostModel;
use crate::report::TrainReport;
use crate::settings::TrainingSettings;
use crate::statistics::{RowOrder, mean_interval};
use crate::text::plural;
use crate::train::TrainingContext;

/// A trained model and its evaluation.
///
/// Serialized it is the report of a training, with everything but the model.
#[derive(Debug, Clone)]
pub struct TrainingOutcome {
    /// What was trained.
    pub method: Method,
    /// The settings of the training.
    pub settings: TrainingSettings,
    /// The model, its predictions in the user's sense.
    pub model: CostModel,
    /// Rounds, epochs, solves and seconds.
    pub report: TrainReport,
    /// On the validation rows, if there are any and the model was evaluated.
    pub validation: Option<Evaluation>,
    /// On the test rows, if there are any and the model was evaluated.
    pub test: Option<Evaluation>,
    /// Of the decision for the mean of the training costs, on the test rows: the regret without a
    /// model.
    pub training_mean: Option<Evaluation>,
    /// Of least squares, on the test rows; none if their solves take long.
    pub least_squares: Option<Evaluation>,
    /// Of decisions for the costs of the row before, on the test rows; none if rows are not in
    /// order of time or their solves take long.
    pub previous_row: Option<Evaluation>,
    /// Baselines whose regret is significantly lower.
    pub(crate) significantly_better: Vec<Baseline>,
    /// The heuristic that made decisions, if they were not exact.
    pub heuristic: Option<Heuristic>,
    /// The labels of all rows by their proven quality.
    pub labels: LabelCounts,
    /// Whether solves had a time limit, so results are not reproducible.
    pub has_time_limit: bool,
    /// Numbers of rows and how they were divided, in words.
    pub split: String,
    /// What the user should know about it.
    pub notes: Vec<Note>,
}

impl TrainingOutcome {
    /// That of a model that is not evaluated yet.
    pub(super) fn new(
        trainer: &Trainer,
        model: CostModel,
        report: TrainReport,
        context: &TrainingContext<'_>,
    ) -> Self {
        Self {
            method: trainer.method.clone(),
            settings: trainer.settings,
            model,
            report,
            validation: None,
            test: None,
            training_mean: None,
            least_squares: None,
            previous_row: None,
            significantly_better: Vec::new(),
            heuristic: context.oracle.heuristic(),
            labels: context.data.label_counts(&context.data.rows()),
            has_time_limit: context.oracle.limits().seconds.is_some(),
            split: context.split.to_string(),
            notes: Vec::new(),
        }
    }

    /// The evaluation of a baseline on the test rows, if it was compared.
    pub fn baseline(&self, baseline: Baseline) -> Option<&Evaluation> {
        match baseline {
            Baseline::LeastSquares => self.least_squares.as_ref(),
            Baseline::TrainingMean => self.training_mean.as_ref(),
            Baseline::PreviousRow => self.previous_row.as_ref(),
        }
    }

    /// The evaluation of a baseline that has less test regret than the model.
    pub fn better_baseline(&self, baseline: Baseline) -> Option<&Evaluation> {
        let test = self.test.as_ref()?;
        let evaluation = self.baseline(baseline)?;
        (evaluation.regret < test.regret).then_some(evaluation)
    }

    /// That a baseline has less test regret than the model, and whether chance explains it.
    pub fn baseline_remark(&self, baseline: Baseline) -> Option<String> {
        let rows = self.better_baseline(baseline)?.instances;
        let (plural, description) = (plural(rows), baseline.description());
        let observation = format!("on {rows} test row{plural} {description} has");
        Some(if self.significantly_better.contains(&baseline) {
            format!("{observation} significantly less regret")
        } else {
            format!("{observation} less regret; the difference may be chance")
        })
    }

    /// The baselines whose lower regret chance does not explain: those with an interval of the
    /// difference above 0.
    pub(super) fn find_significant_baselines(&mut self, order: RowOrder) {
        let Some(test) = &self.test else {
            return;
        };
        let mut significant = Vec::new();
        for baseline in Baseline::ALL {
            let Some(better) = self.better_baseline(baseline) else {
                continue;
            };
            let pairs = test.regrets.iter().zip(&better.regrets);
            let differences: Vec<f64> = pairs.map(|(own, other)| own - other).collect();
            let interval = mean_interval(&differences, order, 1.0);
            if interval.is_some_and(|interval| interval.lower > 0.0) {
                significant.push(baseline);
            }
        }
        self.significantly_better = significant;
    }

    /// Whether the same command trains the same model again.
    fn is_reproducible(&self) -> bool {
        self.report.timed_solve_seconds.is_none()
            && !self.settings.stops_by_clock()
            && !self.has_time_limit
    }
}

impl Serialize for TrainingOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const MAX_FIELDS: usize = 22;
        let (report, metadata) = (&self.report, &self.model.metadata);
        let mut fields = serializer.serialize_struct("TrainingOutcome", MAX_FIELDS)?;
        fields.serialize_field("method", &self.method)?;
        fields.serialize_field("seed", &self.settings.seed)?;
        fields.serialize_field("split", &self.split)?;
        fields.serialize_field("features", &metadata.features)?;
        // For `auto` that of the best candidate.
        fields.serialize_field("chosen_method", &metadata.method)?;
        fields.serialize_field("candidates", &report.candidates)?;
        if let Some(search) = &report.search {
            fields.serialize_field("search", search)?;
        }
        fields.serialize_field("best_epoch", &report.best_epoch())?;
        let stopped = report.rounds.last().map(|round| round.stopped);
        fields.serialize_field("stopped", &stopped)?;
        fields.serialize_field("validation", &self.validation)?;
        fields.serialize_field("test", &self.test)?;
        fields.serialize_field("training_mean", &self.training_mean)?;
        fields.serialize_field("solves", &report.solves.total())?;
        fields.serialize_field("solves_by_kind", &report.solves)?;
        fields.serialize_field("seconds", &report.seconds)?;
        fields.serialize_field("cpu_seconds", &report.cpu_seconds)?;
        fields.serialize_field("heuristic", &self.heuristic)?;
        fields.serialize_field("labels", &self.labels)?;
        fields.serialize_field("select", &self.settings.select)?;
        if let Some(seconds) = &report.timed_solve_seconds {
            fields.serialize_field("timed_solve_seconds", seconds)?;
        }
        fields.serialize_field("reproducible", &self.is_reproducible())?;
        fields.end()
    }
}
