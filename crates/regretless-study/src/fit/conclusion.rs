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
    /// The verdict, and what to decide by.
    pub sentence: String,
    /// What the model saves against simple rules and decisions that were made, and what limits the
    /// verdict.
    pub remarks: Vec<String>,
}

impl FitVerdict {
    pub(crate) fn of(results: &BacktestResults, plan: &FitPlan) -> Self {
        let tried = plan.method.to_string();
        let reference = results.methods.first();
        let reference = reference.map_or_else(String::new, |method| method.name.clone());
        let simple = simple_model(results, &reference);
        // What a simple rule decides; decisions that were made have a sentence of their own.
        let best = best_of(results, |method| method.name != tried && !method.is_given);
        let best = best.unwrap_or_else(|| simple.clone());
        let shared = shared_least_squares().to_string();
        let is_model = |name: &str| name == tried || name == reference || name == shared;
        let rule = best_of(results, |method| {
            !is_model(&method.name) && !method.is_given
        });
        let against_best = results.verdict_against(&best, &tried);
        let chosen = if is_better(&results.verdict_against(&simple, &tried)) {
            tried.clone()
        } else {
            simple
        };
        let mut stated = vec![against_best];
        // The tried method against least squares, which need not be the best of the others.
        if chosen == tried && best != reference && tried != reference {
            stated.push(results.verdict_against(&reference, &tried));
        }
        let of_model = rule.map(|rule| results.verdict_against(&rule, &chosen));
        let is_rule_better = of_model.as_ref().is_some_and(is_worse);
        if let Some(of_model) = of_model {
            // What is recommended comes first.
            let place = if is_rule_better { 0 } else { stated.len() };
            stated.insert(place, of_model);
        }
        let mut sentences: Vec<String> = Vec::new();
        for verdict in &stated {
            // Nothing is compared with itself, and nothing is said twice.
            let is_new = verdict.method != verdict.reference;
            let sentence = verdict.sentence();
            if is_new && !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        let first = if sentences.is_empty() {
            "nothing else is compared".to_owned()
        } else {
            sentences.remove(0)
        };
        let sentence = if is_rule_better {
            format!("{first}: decide by it, which needs no model")
        } else {
            format!("{first}; the model is {chosen}")
        };
        let mut remarks = sentences;
        if is_rule_better {
            remarks.push(format!(
                "the model that is written all the same is {chosen}"
            ));
        }
        remarks.extend(present_sentence(results, &chosen));
        let of_best = results.present_remark();
        let limits = results.remarks.iter();
        remarks.extend(
            limits
                .filter(|remark| Some(*remark) != of_best.as_ref())
                .cloned(),
        );
        Self {
            sentence,
            chosen,
            remarks,
        }
    }
}

/// What the model saves against the decisions that were made.
fn present_sentence(results: &BacktestResults, chosen: &str) -> Option<String> {
    let model = results
        .methods
        .iter()
        .find(|method| method.name == chosen)?;
    let verdict = results.verdict_against_present(model)?;
    verdict.interval.map(|_| verdict.sentence())
}

/// The name of the method with the lowest total cost among some; in a maximization the highest.
fn best_of(
    results: &BacktestResults,
    is_included: impl Fn(&MethodHistory) -> bool,
) -> Option<String> {
    let minimized = |method: &&MethodHistory| results.saving(method.total_cost(), 0.0);
    let methods = results.methods.iter();
    let included = methods.filter(|method| is_included(method));
    let best = included.min_by(|a, b| minimized(a).total_cmp(&minimized(b)));
    best.map(|method| method.name.clone())
}

fn is_better(verdict: &Verdict) -> bool {
    verdict.significance() == Significance::Better
}

fn is_worse(verdict: &Verdict) -> bool {
    verdict.significance() == Significance::Worse
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
