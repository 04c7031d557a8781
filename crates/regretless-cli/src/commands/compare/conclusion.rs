//! What a comparison says, in sentences: whether a trained method is worth it, and which figures
//! not to trust.

use regretless::experiment::MeanAndDeviation;
use regretless::loss::BaseError;
use regretless::train::Baseline;

use super::run::ComparedMethod;
use super::summary::{ComparisonSummary, SummaryRow};
use crate::output::number;

/// How much larger than that of least squares the error of a method may be before it is named.
/// Twenty percent is far beyond what chance on a test set or the choice of an epoch by regret
/// explains.
const ERROR_RATIO_WARNING_THRESHOLD: f64 = 1.2;

/// The verdict first, then warnings. A comparison that lacks runs has no verdict. Where all seeds
/// are tested on the same rows, they say nothing about other rows.
pub fn sentences(summary: &ComparisonSummary, whole: bool, same_rows: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if whole {
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
        let enough = match &baseline.method {
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
        // What a training that had not converged would have reached is not known.
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
            "Nothing{how} decides better than {} (mean test regret {}; the best method, {}, has \
                {}){end}.",
            baseline.loss,
            number(simple),
            method.loss,
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
        method.loss, baseline.loss
    );
    let differences: Vec<f64> = paired(method, baseline);
    Some(match MeanAndDeviation::of(&differences).interval() {
        None => format!("{claim}, on one seed; more seeds tell whether that is chance."),
        Some(_) if same_rows => {
            format!(
                "{claim}; all seeds are tested on the same rows, so that other rows may say \
                    otherwise."
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

/// Regret of one less that of the other, seed by seed.
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
        .map(|line| line.loss.as_str())
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
            the figures."
    ))
}

/// Methods that minimise an error of the costs and yet have more of it than least squares.
fn worse_than_least_squares(summary: &ComparisonSummary) -> Vec<String> {
    let simple = ComparedMethod::Baseline(Baseline::LeastSquares);
    let Some(simple) = summary.lines.iter().find(|line| line.method == simple) else {
        return Vec::new();
    };
    let mut sentences = Vec::new();
    for line in &summary.lines {
        let Some(error) = line.method.own_error() else {
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
                    against {}): it is not \
                 trained as it should be, and ratios to it flatter the others.",
                line.loss,
                number(own),
                number(other)
            ));
        }
    }
    sentences
}
