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
use crate::statistics::{ConfidenceInterval, RowOrder, mean_interval};
use crate::text::plural;
use crate::train::TrainingContext;
use crate::verdict::{AmountUnit, Verdict, VerdictScope};

/// Percent of a fraction.
const PERCENT: f64 = 100.0;

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
    /// How the test rows follow each other.
    pub(crate) order: RowOrder,
    /// Whether costs are gains.
    pub(crate) is_maximize: bool,
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
            order: context.split.row_order(),
            is_maximize: context.data.sense().is_maximize(),
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

    /// The evaluation of a baseline whose mean test regret is lower than that of the model, whether
    /// or not that is chance.
    pub fn better_baseline(&self, baseline: Baseline) -> Option<&Evaluation> {
        let test = self.test.as_ref()?;
        let evaluation = self.baseline(baseline)?;
        (evaluation.regret < test.regret).then_some(evaluation)
    }

    /// The verdict on the model against a baseline on the test rows; none where the baseline was
    /// not compared or is the model.
    pub fn verdict(&self, baseline: Baseline) -> Option<Verdict> {
        let is_model = baseline == Baseline::LeastSquares && self.method == Method::least_squares();
        let evaluation = self.baseline(baseline).filter(|_| !is_model)?;
        self.verdict_against(baseline, evaluation, "")
    }

    /// The verdict on the model against the decisions of a baseline in the test rows; none without
    /// test rows. `unit` is that of costs.
    pub fn verdict_against(
        &self,
        baseline: Baseline,
        reference: &Evaluation,
        unit: &str,
    ) -> Option<Verdict> {
        let test = self.test.as_ref()?;
        let (saving, interval) = saving_of_rows(&test.regrets, &reference.regrets, self.order);
        let rows = test.instances;
        Some(Verdict {
            method: self.method.to_string(),
            scope: VerdictScope::OneMethod,
            reference: baseline.to_string(),
            reference_regret: reference.regret,
            saving,
            interval,
            unit: AmountUnit {
                name: unit.to_owned(),
                per: "per decision",
                is_maximize: self.is_maximize,
            },
            basis: format!("{rows} test row{}", plural(rows)),
            evidence: "test rows",
            implication: Some(baseline.sufficiency()),
            has_converged: self.report.has_converged() != Some(false),
            untested: None,
        })
    }

    /// What the model of `auto` saves against least squares on the rows that its search scored;
    /// none if it is that of least squares, and for other methods. On other rows, such as those of
    /// a backtest, models of other trainings are compared.
    pub fn search_verdict(&self) -> Option<Verdict> {
        let search = self.report.search.as_ref()?;
        let least_squares = search.least_squares_regret?;
        if search.is_least_squares {
            return None;
        }
        let saving = PERCENT * (least_squares - search.expected_regret);
        let interval = search.improvement.map(|[lower, upper]| ConfidenceInterval {
            mean: saving,
            lower: PERCENT * lower,
            upper: PERCENT * upper,
        });
        Some(Verdict {
            method: self.method.to_string(),
            scope: VerdictScope::OneMethod,
            reference: Baseline::LeastSquares.to_string(),
            reference_regret: PERCENT * least_squares,
            saving,
            interval,
            unit: AmountUnit {
                name: "%".into(),
                per: "of the best objective",
                is_maximize: self.is_maximize,
            },
            basis: search.basis(),
            evidence: "rows",
            implication: Some(Baseline::LeastSquares.sufficiency()),
            has_converged: true,
            untested: None,
        })
    }

    /// What the search of `auto` says about least squares, in a sentence that names its rows.
    pub fn search_sentence(&self) -> Option<String> {
        let search = self.report.search.as_ref()?;
        if search.is_least_squares {
            return Some(format!(
                "`{}` is least squares here: by {} no other candidate is clearly better",
                self.method,
                search.basis()
            ));
        }
        Some(self.search_verdict()?.sentence())
    }

    /// Whether the same command trains the same model again.
    fn is_reproducible(&self) -> bool {
        self.report.timed_solve_seconds.is_none()
            && !self.settings.stops_by_clock()
            && !self.has_time_limit
    }
}

/// What a model saves on average against a reference with these regrets on the same rows, and the
/// interval; none where too few rows differ, or too few are in order of time.
fn saving_of_rows(
    own: &[f64],
    reference: &[f64],
    order: RowOrder,
) -> (f64, Option<ConfidenceInterval>) {
    let pairs = reference.iter().zip(own);
    let savings: Vec<f64> = pairs.map(|(reference, own)| reference - own).collect();
    let mean = savings.iter().sum::<f64>() / savings.len().max(1) as f64;
    (mean, mean_interval(&savings, order, 1.0))
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
