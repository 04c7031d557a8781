//! Conclusions of a comparison: the verdict, and which results are unreliable.

use regretless::baseline::Baseline;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization};
use regretless::method::Method;
use regretless::predict::PredictorSpec;
use regretless_base::text::plural;

use super::summary::{ComparisonSummary, SummaryRow};
use crate::experiment::{CellMethod, MeanAndDeviation, SeedDesign};
use crate::text::number;
use crate::verdict::{AmountUnit, Verdict, VerdictScope, convergence_remark};

/// Prediction error relative to least squares above which a method is reported. Twenty percent is
/// far more than chance on a test set explains.
const ERROR_RATIO_WARNING_THRESHOLD: f64 = 1.2;

impl ComparisonSummary {
    /// The verdict on the best method that is trained for decisions, against the best one that is
    /// not: a baseline, a method that minimizes a prediction error, or given predictions. If no
    /// method is trained for decisions, on the best trained method against the best baseline. None
    /// where one of both is missing.
    pub(super) fn verdict(
        &self,
        design: SeedDesign,
        unit: AmountUnit,
        test_rows: usize,
    ) -> Option<Verdict> {
        let has_decision_focused = self.rows.iter().any(is_trained_for_decisions);
        let is_candidate = if has_decision_focused {
            is_trained_for_decisions
        } else {
            |row: &SummaryRow| !row.is_baseline
        };
        let method = lowest_regret(self, is_candidate)?;
        let reference = lowest_regret(self, |row| !is_candidate(row))?;
        let candidates = self.rows.iter().filter(|row| is_candidate(row)).count();
        // Paired by seed: what makes a seed easy or hard for both cancels out.
        let savings = paired_savings(method.row, reference.row);
        let saving = reference.regret - method.regret;
        let rows = format!("{test_rows} test row{}", plural(test_rows));
        let mut verdict = Verdict {
            method: method.row.method.clone(),
            scope: if has_decision_focused {
                VerdictScope::DecisionFocused
            } else {
                VerdictScope::AllMethods
            },
            reference: reference.row.method.clone(),
            reference_regret: reference.regret,
            saving,
            // It allows for the choice of the best.
            interval: design.interval(&MeanAndDeviation::of(&savings), candidates),
            unit,
            basis: format!("{} seeds, {rows} each", savings.len()),
            evidence: "rows or seeds",
            implication: Some(implication(&reference.row.compared)),
            has_converged: has_converged(method.row),
            untested: None,
        };
        // Without an interval nothing is claimed, but the means are shown.
        if verdict.interval.is_none() {
            let [own, other] = [method.regret, reference.regret].map(number);
            let question = format!(
                "whether `{}` decides better than {} on {rows}: mean regrets are {own} and {other}",
                verdict.method, verdict.reference
            );
            verdict.untested = Some(if savings.len() < 2 {
                format!("one seed does not tell {question}; more seeds may decide")
            } else {
                format!(
                    "{} seeds that are tested on the same rows do not tell {question}; a backtest \
                     tests more rows",
                    savings.len()
                )
            });
        }
        Some(verdict)
    }

    /// Results that are unreliable.
    pub(super) fn warnings(&self) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| !has_converged(row));
        let not_converged: Vec<&str> = rows.map(|row| row.method.as_str()).collect();
        let mut warnings = Vec::new();
        warnings.extend(convergence_remark(&not_converged));
        warnings.extend(prediction_error_warnings(self));
        warnings
    }

    /// With a predictor that is not linear, least squares and MSE are different references: the
    /// regret of both. None if one of them is missing.
    pub(super) fn references(
        &self,
        predictor: &PredictorSpec,
        unit: &AmountUnit,
    ) -> Option<String> {
        if *predictor == PredictorSpec::Linear {
            return None;
        }
        let is_squares =
            |row: &SummaryRow| minimized_error(&row.compared) == Some(BaseError::Squared);
        let squares = lowest_regret(self, is_squares)?;
        let least_squares = CellMethod::Baseline(Baseline::LeastSquares);
        let linear = lowest_regret(self, |row| row.compared == least_squares)?;
        Some(format!(
            "References: {} with {predictor} has mean test regret {}, least squares, which is \
             linear, {}.",
            squares.row.method,
            unit.with_name(&number(squares.regret)),
            unit.with_name(&number(linear.regret))
        ))
    }
}

/// What follows if no method is better than a reference.
fn implication(reference: &CellMethod) -> &'static str {
    match reference {
        CellMethod::Baseline(baseline) => baseline.sufficiency(),
        CellMethod::Given { .. } => "this forecaster is enough",
        CellMethod::Trained(_) => "training for decisions does not pay off here",
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
    // Most seeds decide: a single slow training does not make the mean unreliable.
    2 * row.not_converged <= row.runs
}

/// What a method saves against a reference on the seeds of both.
fn paired_savings(method: &SummaryRow, reference: &SummaryRow) -> Vec<f64> {
    let mut savings = Vec::new();
    for (seed, regret) in &method.regrets {
        if let Some(reference_regret) = reference.regrets.get(seed) {
            savings.push(reference_regret - regret);
        }
    }
    savings
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
