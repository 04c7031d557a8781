//! The verdict of a fit: whether the method is better than everything simpler, and which model
//! follows from that.

use super::FitPlan;
use super::per_cost::shared_least_squares;
use crate::backtest::{BacktestResults, MethodHistory};
use crate::verdict::{Significance, Verdict};

/// What follows from a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitVerdict {
    /// The method that is fitted to all rows: the one that was tried, if it is better than least
    /// squares, or else least squares, shared by all costs where that is better.
    pub chosen: String,
    /// The verdict, and which model follows from it.
    pub sentence: String,
    /// What the method saves against decisions that were made, and what limits the verdict.
    pub remarks: Vec<String>,
}

impl FitVerdict {
    pub(super) fn of(results: &BacktestResults, plan: &FitPlan) -> Self {
        let tried = plan.method.to_string();
        let reference = results.methods.first();
        let reference = reference.map_or_else(String::new, |method| method.name.clone());
        let minimized = |method: &&MethodHistory| results.saving(method.total_cost(), 0.0);
        // What a simple rule decides; decisions that were made have a sentence of their own.
        let baselines = results
            .methods
            .iter()
            .filter(|method| method.name != tried && !method.is_given);
        let best = baselines.min_by(|a, b| minimized(a).total_cmp(&minimized(b)));
        let best = best.map_or_else(|| reference.clone(), |method| method.name.clone());
        let against_best = results.verdict_against(&best, &tried);
        let against_reference = results.verdict_against(&reference, &tried);
        let is_better = |verdict: &Verdict| verdict.significance() == Significance::Better;
        let simple = simple_model(results, &reference);
        let chosen = if is_better(&results.verdict_against(&simple, &tried)) {
            tried
        } else {
            simple
        };
        let mut remarks = Vec::new();
        if best != reference && best != chosen && !is_better(&against_best) {
            let of_rule = results.verdict_against(&chosen, &best);
            if is_better(&of_rule) {
                remarks.push(format!(
                    "{}: decide by it, which needs no model",
                    of_rule.sentence()
                ));
            } else {
                remarks.push(of_rule.sentence());
            }
            if chosen != reference {
                remarks.push(against_reference.sentence());
            }
        }
        remarks.extend(results.remarks.iter().cloned());
        Self {
            sentence: format!("{}; the model is {chosen}", against_best.sentence()),
            chosen,
            remarks,
        }
    }
}

/// Least squares, or the one whose coefficients all costs share: it has fewer of them, so it need
/// not be significantly better.
fn simple_model(results: &BacktestResults, reference: &str) -> String {
    let shared = shared_least_squares().to_string();
    let total = |name: &str| {
        let mut methods = results.methods.iter();
        let found = methods.find(|method| method.name == name);
        found.map_or(f64::INFINITY, |method| {
            results.saving(method.total_cost(), 0.0)
        })
    };
    if total(&shared) < total(reference) {
        shared
    } else {
        reference.to_owned()
    }
}
