//! Conclusions of a comparison in sentences: whether training pays off, and which results are
//! unreliable.

use regretless::baseline::Baseline;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization};
use regretless::method::Method;
use regretless::predict::PredictorSpec;

use super::summary::{ComparisonSummary, SummaryRow};
use crate::experiment::{CellMethod, ConfidenceInterval, MeanAndDeviation, SeedDesign};
use crate::text::number;

/// Prediction error relative to least squares above which a method is reported. Twenty percent is
/// far more than chance on a test set explains.
const ERROR_RATIO_WARNING_THRESHOLD: f64 = 1.2;

/// The beginning of a headline that claims nothing.
pub const UNCERTAIN_CLAIM: &str =
    "Training for decisions was better on this table, but it is not certain that it pays off";

/// What the results of a comparison say.
#[derive(Clone, Copy)]
pub struct ComparisonVerdict<'a> {
    pub summary: &'a ComparisonSummary,
    /// How the seeds depend on each other.
    pub design: SeedDesign,
    /// The unit of costs; empty where it is not known.
    pub unit: &'a str,
}

impl ComparisonVerdict<'_> {
    /// The verdict first, then warnings. An incomplete comparison has no verdict.
    pub fn sentences(&self, is_complete: bool) -> Vec<String> {
        let mut sentences = Vec::new();
        if is_complete {
            sentences.extend(self.verdict());
        }
        sentences.extend(convergence_warning(self.summary));
        sentences.extend(prediction_error_warnings(self.summary));
        sentences
    }

    /// The verdict in plain words, for readers who do not know the methods: whether the best method
    /// that is trained for decisions has less regret than the best one that is not, which is a
    /// baseline or minimizes a prediction error. None where one of both is missing.
    pub fn headline(&self) -> Option<String> {
        let decision = lowest_regret(self.summary, is_trained_for_decisions)?;
        let other = lowest_regret(self.summary, |row| !is_trained_for_decisions(row))?;
        let [with, without] = [&decision, &other].map(|contender| {
            let (name, regret) = (&contender.row.method, self.amount(contender.regret));
            format!("{name} loses {regret} per row")
        });
        if decision.regret >= other.regret {
            let condition = if has_converged(decision.row) {
                ""
            } else {
                ", as it was done here,"
            };
            return Some(format!(
                "Training for decisions{condition} does not pay off on this table: {with}, the \
                 best method without it, {without}."
            ));
        }
        let interval = self.interval_of_best(&decision, &other, is_trained_for_decisions);
        let is_significant = interval.is_some_and(|interval| interval.upper < 0.0);
        let claim = if is_significant {
            "Training for decisions pays off on this table"
        } else {
            UNCERTAIN_CLAIM
        };
        Some(format!(
            "{claim}: {with}, the best method without it, {without}."
        ))
    }

    /// With a predictor that is not linear, least squares and MSE are different references: the
    /// regret of both. None where one of them is missing.
    pub fn references(&self, predictor: &PredictorSpec) -> Option<String> {
        if *predictor == PredictorSpec::Linear {
            return None;
        }
        let is_squares =
            |row: &SummaryRow| minimized_error(&row.compared) == Some(BaseError::Squared);
        let squares = lowest_regret(self.summary, is_squares)?;
        let least_squares = CellMethod::Baseline(Baseline::LeastSquares);
        let linear = lowest_regret(self.summary, |row| row.compared == least_squares)?;
        Some(format!(
            "References: {} with {predictor} has mean test regret {}, least squares, which is \
             linear, {}.",
            squares.row.method,
            self.amount(squares.regret),
            self.amount(linear.regret)
        ))
    }

    /// Whether the best trained method has less regret than the reference: the best baseline or,
    /// where a method that minimizes a prediction error is better than that, this method. The
    /// headline has the same reference.
    fn verdict(&self) -> Option<String> {
        let method = lowest_regret(self.summary, |row| !row.is_baseline)?;
        let baseline = lowest_regret(self.summary, |row| row.is_baseline)?;
        if method.regret >= baseline.regret {
            return self.no_improvement(&method, &baseline);
        }
        let Some(decision) = lowest_regret(self.summary, is_trained_for_decisions) else {
            return Some(self.improvement(&method, &baseline, |row| !row.is_baseline));
        };
        let other = lowest_regret(self.summary, |row| !is_trained_for_decisions(row))?;
        if decision.regret < other.regret {
            Some(self.improvement(&decision, &other, is_trained_for_decisions))
        } else {
            self.no_improvement(&decision, &other)
        }
    }

    /// The 95 % interval of the difference of regrets between the best of some methods and a
    /// reference. It allows for the choice of the best.
    fn interval_of_best(
        &self,
        method: &Contender<'_>,
        reference: &Contender<'_>,
        is_candidate: impl Fn(&SummaryRow) -> bool,
    ) -> Option<ConfidenceInterval> {
        let candidates = self.summary.rows.iter().filter(|row| is_candidate(row));
        let differences = paired_differences(method.row, reference.row);
        let differences = MeanAndDeviation::of(&differences);
        self.design.interval(&differences, candidates.count())
    }

    /// By how much the best of some methods is better than the reference, and whether the
    /// difference is significant: whether its interval excludes 0.
    fn improvement(
        &self,
        method: &Contender<'_>,
        baseline: &Contender<'_>,
        is_candidate: impl Fn(&SummaryRow) -> bool,
    ) -> String {
        // Labels of a heuristic need not be optimal, so that regrets may be negative.
        let reduction = if baseline.regret > 0.0 {
            format!("{:.1} % ", 100.0 * (1.0 - method.regret / baseline.regret))
        } else {
            String::new()
        };
        let kind = if baseline.row.is_baseline {
            "baseline"
        } else {
            "method that is not trained for decisions"
        };
        let claim = format!(
            "{} has {reduction}less test regret than {}, the best {kind}",
            method.row.method, baseline.row.method
        );
        let seeds = paired_differences(method.row, baseline.row).len();
        if seeds < 2 {
            return format!("{claim}, on one seed; more seeds show whether that is significant.");
        }
        match self.interval_of_best(method, baseline, is_candidate) {
            None => format!(
                "{claim}; all seeds are tested on the same rows, so that results on other rows may \
                 differ, and more seeds do not tell. A backtest tests more of them."
            ),
            Some(interval) if interval.upper >= 0.0 => {
                format!("{claim}, but the difference over {seeds} seeds is not significant (95 %).")
            }
            Some(_) => {
                format!("{claim}; the difference over {seeds} seeds is significant (95 %).")
            }
        }
    }

    fn no_improvement(&self, method: &Contender<'_>, baseline: &Contender<'_>) -> Option<String> {
        let implication = match &baseline.row.compared {
            CellMethod::Baseline(Baseline::LeastSquares) => "a linear regression is enough here",
            CellMethod::Baseline(Baseline::TrainingMean) => {
                "the features do not help these decisions"
            }
            CellMethod::Baseline(Baseline::PreviousRow) => "repeating the last row is enough here",
            CellMethod::Given { .. } => "this forecaster is enough here",
            CellMethod::Trained(_) => "training for decisions does not pay off here",
        };
        let [group, rest] = if baseline.row.is_baseline {
            ["method", "the best method"]
        } else {
            ["method that is trained for decisions", "the best of them"]
        };
        // The regret of a method that has not converged may still improve.
        let (condition, end) = if has_converged(method.row) {
            ("", format!(": {implication}"))
        } else {
            (", as trained here,", String::new())
        };
        Some(format!(
            "No {group}{condition} decides better than {} (mean test regret {}; {rest}, {}, has \
             {}){end}.",
            baseline.row.method,
            self.amount(baseline.regret),
            method.row.method,
            self.amount(method.regret)
        ))
    }

    /// A number in the unit of costs.
    fn amount(&self, value: f64) -> String {
        let number = number(value);
        if self.unit.is_empty() {
            number
        } else {
            format!("{number} {}", self.unit)
        }
    }
}

/// A method or baseline with its mean test regret.
pub struct Contender<'a> {
    pub row: &'a SummaryRow,
    regret: f64,
}

/// The method or baseline of the lowest mean test regret among some.
pub fn lowest_regret(
    summary: &ComparisonSummary,
    is_included: impl Fn(&SummaryRow) -> bool,
) -> Option<Contender<'_>> {
    let rows = summary.rows.iter().filter(|row| is_included(row));
    let contenders = rows.filter_map(|row| {
        let regret = row.test_regret?;
        Some(Contender { row, regret })
    });
    contenders.min_by(|a, b| a.regret.total_cmp(&b.regret))
}

/// Whether a method minimizes more than a prediction error.
fn is_trained_for_decisions(row: &SummaryRow) -> bool {
    !row.is_baseline && minimized_error(&row.compared).is_none()
}

/// Whether the training loss has converged on at least half of the seeds.
fn has_converged(row: &SummaryRow) -> bool {
    2 * row.not_converged <= row.runs
}

/// Differences of regret on the seeds of both.
fn paired_differences(method: &SummaryRow, baseline: &SummaryRow) -> Vec<f64> {
    let mut differences = Vec::new();
    for (seed, regret) in &method.regrets {
        if let Some(baseline_regret) = baseline.regrets.get(seed) {
            differences.push(regret - baseline_regret);
        }
    }
    differences
}

fn convergence_warning(summary: &ComparisonSummary) -> Option<String> {
    let names: Vec<&str> = summary
        .rows
        .iter()
        .filter(|row| !has_converged(row))
        .map(|row| row.method.as_str())
        .collect();
    let subject = match names.as_slice() {
        [] => return None,
        [name] => format!("{name} has not converged: its training loss was"),
        names => format!(
            "Not converged: {}. Their training losses were",
            names.join("; ")
        ),
    };
    Some(format!(
        "{subject} still decreasing at the end; more epochs or a larger learning rate may \
            change the results."
    ))
}

/// Methods that minimize a prediction error and yet have more of it than least squares.
fn prediction_error_warnings(summary: &ComparisonSummary) -> Vec<String> {
    let least_squares = CellMethod::Baseline(Baseline::LeastSquares);
    let Some(least_squares) = summary
        .rows
        .iter()
        .find(|row| row.compared == least_squares)
    else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    for row in &summary.rows {
        let Some(error) = minimized_error(&row.compared) else {
            continue;
        };
        let (name, trained, lowest) = match error {
            BaseError::Squared => ("squared", row.test_mse, least_squares.test_mse),
            BaseError::Absolute => ("absolute", row.test_mae, least_squares.test_mae),
        };
        if let (Some(trained), Some(lowest)) = (trained, lowest)
            && trained > ERROR_RATIO_WARNING_THRESHOLD * lowest
        {
            sentences.push(format!(
                "{} predicts worse than least squares although it minimizes the {name} error \
                 (mean {} instead of {}): too few epochs, or an epoch that is selected by another \
                 criterion (try more epochs, and select the last one). Ratios to it can make the \
                 other methods look better than they are.",
                row.method,
                number(trained),
                number(lowest)
            ));
        }
    }
    sentences
}

/// The prediction error that a method minimizes, squared or absolute; none for other losses.
fn minimized_error(method: &CellMethod) -> Option<BaseError> {
    let CellMethod::Trained(Method::Stages(stages)) = method else {
        return None;
    };
    let [stage] = stages.as_slice() else {
        return None;
    };
    match stage.loss.downcast_ref::<CostSensitiveSpec>() {
        Some(CostSensitiveSpec {
            error,
            side: ErrorSide::Both,
            normalization: Normalization::None,
            weighting: InstanceWeighting::Equal,
        }) => Some(*error),
        _ => None,
    }
}
