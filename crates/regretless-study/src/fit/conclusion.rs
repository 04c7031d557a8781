//! The verdict of a fit: whether the method is better than everything simpler, and which model
//! follows from that.

use super::FitPlan;
use crate::backtest::{BacktestResults, MethodHistory};
use crate::verdict::{Significance, Verdict};

/// What follows from a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitVerdict {
    /// The method that is fitted to all rows: the one that was tried, if it is better than least
    /// squares, or else least squares.
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
        let chosen = if is_better(&against_reference) {
            tried
        } else {
            reference.clone()
        };
        let mut remarks = Vec::new();
        if best != reference && !is_better(&against_best) {
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
