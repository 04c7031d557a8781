//! Conclusions of a comparison in sentences: whether training pays off, and which results are
//! unreliable.

use regretless::baseline::Baseline;
use regretless::experiment::MeanAndDeviation;
use regretless::loss::BaseError;

use super::run::ComparedMethod;
use super::summary::{ComparisonSummary, SummaryRow};
use crate::output::number;

/// Prediction error relative to least squares above which a method is reported. Twenty percent is
/// far more than chance on a test set or the selection of the epoch by regret explains.
const ERROR_RATIO_WARNING_THRESHOLD: f64 = 1.2;

/// The verdict first, then warnings. An incomplete comparison has no verdict. Where all seeds are
/// tested on the same rows, nothing follows for other rows.
pub fn sentences(summary: &ComparisonSummary, is_complete: bool, same_rows: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if is_complete {
        sentences.extend(conclusion(summary, same_rows));
    }
    sentences.extend(not_converged(summary));
    sentences.extend(worse_than_least_squares(summary));
    sentences
}

fn best(summary: &ComparisonSummary, is_baseline: bool) -> Option<(&SummaryRow, f64)> {
    let lines = summary
        .lines
        .iter()
        .filter(|line| line.is_baseline == is_baseline);
    let regrets = lines.filter_map(|line| Some((line, line.test_regret?)));
    regrets.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether the best trained method decides better than the best baseline.
fn conclusion(summary: &ComparisonSummary, same_rows: bool) -> Option<String> {
    let (method, reached) = best(summary, false)?;
    let (baseline, simple) = best(summary, true)?;
    if reached >= simple {
        let enough = match &baseline.compared {
            ComparedMethod::Baseline(Baseline::LeastSquares) => {
                "a linear regression is enough here"
            }
            ComparedMethod::Baseline(Baseline::HistoryMean) => {
                "the features do not help these decisions"
            }
            ComparedMethod::Baseline(Baseline::PreviousRow) => {
                "repeating the last row is enough here"
            }
            ComparedMethod::Method(_) => return None,
        };
        // What a converged training would reach is unknown.
        let (how, enough) = if is_still_falling(method) {
            (", as trained here,", "")
        } else {
            ("", enough)
        };
        let end = if enough.is_empty() {
            String::new()
        } else {
            format!(": {enough}")
        };
        return Some(format!(
            "No method{how} decides better than {} (mean test regret {}; the best method, {}, has \
                {}){end}.",
            baseline.method,
            number(simple),
            method.method,
            number(reached)
        ));
    }
    let less = if simple > 0.0 {
        format!("{:.1} %", 100.0 * (1.0 - reached / simple))
    } else {
        "no".into()
    };
    let claim = format!(
        "{} has {less} less test regret than {}, the best baseline",
        method.method, baseline.method
    );
    let differences: Vec<f64> = paired(method, baseline);
    Some(match MeanAndDeviation::of(&differences).interval() {
        None => format!("{claim}, on one seed; more seeds show whether that is chance."),
        Some(_) if same_rows => {
            format!(
                "{claim}; all seeds are tested on the same rows, so that other rows may differ."
            )
        }
        Some(interval) if interval.upper >= 0.0 => {
            format!(
                "{claim}, but over {} seeds the difference is within chance.",
                differences.len()
            )
        }
        Some(_) => format!(
            "{claim}; the difference is beyond chance over {} seeds.",
            differences.len()
        ),
    })
}

fn is_still_falling(line: &SummaryRow) -> bool {
    2 * line.still_falling > line.runs
}

/// Differences of regret, seed by seed.
fn paired(one: &SummaryRow, other: &SummaryRow) -> Vec<f64> {
    let mut differences = Vec::new();
    for (seed, regret) in &one.regrets {
        if let Some((_, simple)) = other.regrets.iter().find(|(other, _)| other == seed) {
            differences.push(regret - simple);
        }
    }
    differences
}

fn not_converged(summary: &ComparisonSummary) -> Option<String> {
    let named: Vec<&str> = summary
        .lines
        .iter()
        .filter(|line| is_still_falling(line))
        .map(|line| line.method.as_str())
        .collect();
    let what = match named.as_slice() {
        [] => return None,
        [one] => format!("{one} has not converged: its training loss was"),
        many => format!(
            "Not converged: {}. Their training losses were",
            many.join("; ")
        ),
    };
    Some(format!(
        "{what} still falling at the end; more --epochs or a larger --learning-rate would change \
            the results."
    ))
}

/// Methods that minimize a prediction error and yet have more of it than least squares.
fn worse_than_least_squares(summary: &ComparisonSummary) -> Vec<String> {
    let simple = ComparedMethod::Baseline(Baseline::LeastSquares);
    let Some(simple) = summary.lines.iter().find(|line| line.compared == simple) else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    for line in &summary.lines {
        let Some(error) = line.compared.own_error() else {
            continue;
        };
        let (name, own, other) = match error {
            BaseError::Squared => ("squared", line.test_mse, simple.test_mse),
            BaseError::Absolute => ("absolute", line.test_mae, simple.test_mae),
        };
        if let (Some(own), Some(other)) = (own, other)
            && own > ERROR_RATIO_WARNING_THRESHOLD * other
        {
            sentences.push(format!(
                "{} predicts worse than least squares under its own error (mean {name} error {} \
                    instead of {}): it is undertrained, and ratios to it flatter the other \
                    methods.",
                line.method,
                number(own),
                number(other)
            ));
        }
    }
    sentences
}
