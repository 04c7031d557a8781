//! The verdict of a fit: whether the method is better than everything simpler, and which model
//! follows from that.

use super::FitPlan;
use crate::backtest::{BacktestResults, MethodHistory};
use crate::verdict::Significance;

/// What follows from a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitVerdict {
    /// The method that is fitted to all rows: the one that was tried, where it is better than all
    /// baselines, or else least squares.
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
        let minimized = |method: &&MethodHistory| results.sense.convert(method.total_cost());
        // What a simple rule decides; decisions that were made have a sentence of their own.
        let baselines = results
            .methods
            .iter()
            .filter(|method| method.name != tried && !method.is_given);
        let best = baselines.min_by(|a, b| minimized(a).total_cmp(&minimized(b)));
        let best = best.map_or_else(|| reference.clone(), |method| method.name.clone());
        let against_best = results.verdict_against(&best, &tried);
        let against_reference = results.verdict_against(&reference, &tried);
        let is_better = [&against_best, &against_reference]
            .into_iter()
            .all(|verdict| verdict.significance() == Significance::Better);
        let mut remarks = Vec::new();
        let chosen = if is_better {
            tried.clone()
        } else {
            reference.clone()
        };
        if !is_better && best != reference {
            let simple = results.verdict_against(&reference, &best);
            if simple.significance() == Significance::Better {
                remarks.push(format!("{}; decide by it", simple.sentence()));
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
