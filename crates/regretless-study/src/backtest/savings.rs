//! What follows from a backtest: how much each method saves against least squares, the verdict on
//! the best of them, and remarks.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::results::{BacktestResults, MethodHistory};
use crate::text::grouped;
use crate::verdict::{AmountUnit, Verdict, VerdictScope, convergence_remark};
use regretless_base::statistics::{
    ConfidenceInterval, FOLD_ERROR_FACTOR, MIN_PERIODS, MeanInterval, simultaneous_intervals,
    simultaneous_row_intervals,
};
use regretless_base::text::plural;

/// Mean length of a year of the Gregorian calendar.
const DAYS_PER_YEAR: f64 = 365.2425;
/// Difference of the costs of a period, relative to them, that counts as none: rounding errors.
const TIE_TOLERANCE: f64 = 1e-9;

/// Most candidates of `auto` that a remark names; the summary has all of them.
const MAX_CHOSEN_SHOWN: usize = 3;

/// What a method saves against least squares. In a maximization, what it gains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodSaving {
    /// The method.
    pub name: String,
    /// Mean saving of a period.
    pub per_period: f64,
    /// Its interval, simultaneous for all methods; none below 60 periods, and if the method differs
    /// from least squares in fewer than ten or in too few blocks of them.
    pub interval: Option<ConfidenceInterval>,
    /// Length of the blocks of the bootstrap, in periods; none without an interval or if all
    /// periods save the same.
    pub block_length: Option<usize>,
    /// Mean saving of a day; none if times are numbers.
    pub per_day: Option<f64>,
    /// Mean saving of a year.
    pub per_year: Option<f64>,
    /// Fraction of periods in which it is better.
    pub won: f64,
    /// Fraction of periods in which it is worse.
    pub lost: f64,
}

/// What all methods save against the first one, least squares, in the order of the results.
pub(super) fn savings_of(results: &BacktestResults) -> Vec<MethodSaving> {
    let Some((reference, others)) = results.methods.split_first() else {
        return Vec::new();
    };
    let differences: Vec<Vec<f64>> = others
        .iter()
        .map(|method| savings(reference, method, results))
        .collect();
    let intervals = results.intervals(&differences);
    let mut savings = Vec::with_capacity(others.len());
    for ((method, differences), interval) in others.iter().zip(&differences).zip(intervals) {
        savings.push(MethodSaving::new(
            method,
            differences,
            interval,
            results.days_per_period,
        ));
    }
    savings
}

impl BacktestResults {
    /// The verdict on the method that certainly saves most against least squares or, if none does,
    /// on the one that saves most on average.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        // Proven savings first, then those that may still be large, then any with an interval: an
        // average without an interval says least.
        let largest = |a: &&MethodSaving, b: &&MethodSaving| a.per_period.total_cmp(&b.per_period);
        let regret = self.methods.first().map_or(0.0, |least_squares| {
            least_squares.total_regret() / self.periods.len().max(1) as f64
        });
        // A method whose interval allows for a large saving leaves the verdict on all of them open,
        // whatever the best one on average proves.
        let is_open = |saving: &&MethodSaving| {
            let interval = saving.interval;
            interval.is_some_and(|interval| !Verdict::is_negligible(interval.upper, regret))
        };
        let proven = self.proven_savings().max_by(largest);
        let open = self.savings.iter().filter(is_open);
        let best = proven.or_else(|| open.max_by(largest));
        let tested = self
            .savings
            .iter()
            .filter(|saving| saving.interval.is_some());
        let best = best.or_else(|| tested.max_by(largest));
        let best = best.or_else(|| self.savings.iter().max_by(largest));
        let is_alone = best.is_none().then(|| {
            "no other method has decided the history: nothing is compared with least squares".into()
        });
        let verdict = self.verdict_on(best, self.methods.first());
        Verdict {
            scope: VerdictScope::AllMethods,
            implication: Some("a linear regression is enough"),
            untested: verdict.untested.clone().or(is_alone),
            ..verdict
        }
    }

    /// Why no interval would hold, whatever is compared.
    fn untested(&self) -> Option<String> {
        let (periods, evidence) = (self.periods.len(), self.evidence());
        if self.repeated_rows > 0 {
            return Some(format!(
                "nothing is claimed: {} of {} rows have the features and costs of another one, so \
                 models have seen what they decide; keep one of each",
                grouped(self.repeated_rows as u64),
                grouped(periods as u64)
            ));
        }
        (periods < MIN_PERIODS).then(|| {
            format!(
                "too few {evidence} to tell: {periods} were decided, at least {MIN_PERIODS} are \
                 needed"
            )
        })
    }

    /// The verdict in one sentence.
    pub fn sentence(&self) -> String {
        let stated = self.stated_verdict.clone();
        stated.unwrap_or_else(|| self.verdict().sentence())
    }

    /// The verdict on a method whose saving against a reference is known.
    fn verdict_on(
        &self,
        saving: Option<&MethodSaving>,
        reference: Option<&MethodHistory>,
    ) -> Verdict {
        let regret = reference.map_or(0.0, MethodHistory::total_regret);
        Verdict {
            method: saving.map_or_else(String::new, |saving| saving.name.clone()),
            scope: VerdictScope::OneMethod,
            reference: reference.map_or_else(String::new, |reference| reference.name.clone()),
            reference_regret: regret / self.periods.len().max(1) as f64,
            saving: saving.map_or(0.0, |saving| saving.per_period),
            interval: saving.and_then(|saving| saving.interval),
            unit: self.amount_unit(),
            basis: self.basis(),
            evidence: self.evidence(),
            implication: None,
            // A remark names the methods that have not.
            has_converged: true,
            untested: self.untested(),
        }
    }

    /// The savings that are certain.
    pub(crate) fn proven_savings(&self) -> impl Iterator<Item = &MethodSaving> {
        self.savings.iter().filter(|saving| {
            let lower = saving.interval.map(|interval| interval.lower);
            lower.is_some_and(|lower| lower > 0.0)
        })
    }

    /// What limits the verdict, in sentences.
    pub(super) fn limits(&self) -> Vec<String> {
        let is_tested = self.untested().is_none();
        if is_tested && self.savings.is_empty() {
            return Vec::new();
        }
        let mut remarks = Vec::new();
        if is_tested {
            remarks.extend(self.present_remark());
        }
        remarks.extend(self.convergence_remark());
        remarks.extend(chosen_remarks(self));
        if is_tested {
            remarks.extend(self.interval_remark());
            remarks.extend(self.unproven_remark());
        }
        remarks
    }

    /// Names the methods that have no interval.
    fn interval_remark(&self) -> Option<String> {
        let savings = self.savings.iter();
        let without: Vec<&str> = savings
            .filter(|saving| saving.interval.is_none())
            .map(|saving| saving.name.as_str())
            .collect();
        (!without.is_empty()).then(|| {
            format!(
                "too few {} that differ from least squares for an interval: {}",
                self.evidence(),
                without.join("; ")
            )
        })
    }

    fn unproven_remark(&self) -> Option<String> {
        let unproven: usize = self.methods.iter().map(|method| method.unproven).sum();
        (unproven > 0).then(|| {
            format!(
                "{unproven} decisions of all methods are not proven optimal for the costs they \
                 were made for"
            )
        })
    }

    /// How the best method compares with the decisions that were made.
    pub(crate) fn present_remark(&self) -> Option<String> {
        let others = self.methods.iter().filter(|method| !method.is_given);
        let best = others.min_by(|a, b| a.total_regret().total_cmp(&b.total_regret()))?;
        let verdict = self.verdict_against_present(best)?;
        verdict.interval.map(|_| verdict.sentence())
    }

    /// Names the methods most of whose trainings have not converged.
    fn convergence_remark(&self) -> Option<String> {
        let methods = self.methods.iter();
        let names: Vec<&str> = methods
            .filter(|method| 2 * method.not_converged > self.trainings)
            .map(|method| method.name.as_str())
            .collect();
        convergence_remark(&names)
    }

    /// The lengths of the blocks of the bootstrap in words: `4 periods` or `4 to 40 periods`; none
    /// without an interval.
    #[must_use]
    pub fn block_lengths(&self) -> Option<String> {
        let lengths = || self.savings.iter().filter_map(|saving| saving.block_length);
        let (shortest, longest) = (lengths().min()?, lengths().max()?);
        Some(if shortest == longest {
            format!("{shortest} periods")
        } else {
            format!("{shortest} to {longest} periods")
        })
    }
}

/// What `auto` chose, and in how many of its trainings, the most frequent first.
fn chosen_remarks(results: &BacktestResults) -> Vec<String> {
    let mut remarks = Vec::new();
    for method in &results.methods {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for chosen in &method.chosen {
            for candidate in &chosen.candidates {
                *counts.entry(candidate).or_default() += 1;
            }
        }
        if counts.is_empty() {
            continue;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let mut described: Vec<String> = counts
            .iter()
            .take(MAX_CHOSEN_SHOWN)
            .map(|(candidate, count)| format!("{candidate} ({count})"))
            .collect();
        if counts.len() > MAX_CHOSEN_SHOWN {
            described.push(format!("{} others", counts.len() - MAX_CHOSEN_SHOWN));
        }
        remarks.push(format!(
            "{} chose, in {} training{}: {}",
            method.name,
            method.chosen.len(),
            plural(method.chosen.len()),
            described.join(", ")
        ));
    }
    remarks
}

/// What a method saves in each period; rounding errors are no difference.
fn savings(
    reference: &MethodHistory,
    method: &MethodHistory,
    results: &BacktestResults,
) -> Vec<f64> {
    let mut savings = Vec::with_capacity(method.costs.len());
    for (reference, cost) in reference.costs.iter().zip(&method.costs) {
        let saving = results.saving(*reference, *cost);
        let size = reference.abs().max(cost.abs());
        let is_tie = saving.abs() <= TIE_TOLERANCE * size;
        savings.push(if is_tie { 0.0 } else { saving });
    }
    savings
}

impl MethodSaving {
    fn new(
        method: &MethodHistory,
        differences: &[f64],
        interval: Option<MeanInterval>,
        days_per_period: Option<f64>,
    ) -> Self {
        let count = differences.len().max(1) as f64;
        let per_period = differences.iter().sum::<f64>() / count;
        let per_day = days_per_period.map(|days| per_period / days);
        let fraction = |is_counted: fn(f64) -> bool| {
            let counted = differences.iter().filter(|saving| is_counted(**saving));
            counted.count() as f64 / count
        };
        Self {
            name: method.name.clone(),
            per_period,
            interval: interval.map(|interval| ConfidenceInterval {
                mean: per_period,
                lower: interval.lower,
                upper: interval.upper,
            }),
            block_length: interval.and_then(|interval| interval.block_length),
            per_day,
            per_year: per_day.map(|saving| saving * DAYS_PER_YEAR),
            won: fraction(|saving| saving > 0.0),
            lost: fraction(|saving| saving < 0.0),
        }
    }
}

impl BacktestResults {
    /// What a method saves against another one. The interval is simultaneous for all methods that
    /// could be compared with that one, so it holds for one that was chosen by the results. What
    /// least squares saves has the interval of the verdict with the opposite sign.
    pub(crate) fn saving_against(&self, reference: &str, method: &str) -> Option<MethodSaving> {
        let [reference, method] = [self.position_of(reference)?, self.position_of(method)?];
        let base = if method == 0 { method } else { reference };
        Some(self.saving_in_family_of(base, reference, method))
    }

    fn position_of(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|known| known.name == name)
    }

    /// What a method saves against a reference, with an interval that is simultaneous for the
    /// savings of all methods against one of both, the base.
    fn saving_in_family_of(&self, base: usize, reference: usize, method: usize) -> MethodSaving {
        let is_turned = base == method;
        let compared = if is_turned { reference } else { method };
        let differences: Vec<Vec<f64>> = self
            .methods
            .iter()
            .map(|other| savings(&self.methods[base], other, self))
            .collect();
        let mut interval = self.intervals(&differences)[compared];
        let mut of_periods = differences[compared].clone();
        if is_turned {
            interval = interval.map(|interval| MeanInterval {
                lower: -interval.upper,
                upper: -interval.lower,
                ..interval
            });
            of_periods.iter_mut().for_each(|saving| *saving = -*saving);
        }
        MethodSaving::new(
            &self.methods[method],
            &of_periods,
            interval,
            self.days_per_period,
        )
    }

    /// The decisions that were made, if they were given.
    pub(crate) fn present_decisions(&self) -> Option<&MethodHistory> {
        self.methods.iter().find(|method| method.is_given)
    }

    /// The verdict on a method against the decisions that were made, if they were given.
    pub(crate) fn verdict_against_present(&self, method: &MethodHistory) -> Option<Verdict> {
        let present = self.present_decisions();
        let present = present.filter(|present| present.name != method.name)?;
        let saving = self.saving_against(&present.name, &method.name)?;
        Some(self.verdict_on(Some(&saving), Some(present)))
    }

    /// The verdict on a method against another one, which may have been chosen by the results: its
    /// interval is simultaneous for all references of the method or, if one of both is least
    /// squares, for all methods against least squares. Without an interval if there are too few
    /// periods.
    pub(crate) fn verdict_against(&self, reference: &str, method: &str) -> Verdict {
        let known = self.methods.iter().find(|known| known.name == reference);
        let positions = self.position_of(reference).zip(self.position_of(method));
        let saving = positions.map(|(reference, method)| {
            let base = if reference == 0 { reference } else { method };
            self.saving_in_family_of(base, reference, method)
        });
        self.verdict_on(saving.as_ref(), known)
    }

    /// The intervals of mean savings, which allow for the number of methods. Those of periods allow
    /// for their order, too; rows of a cross-validation are independent but for the models that
    /// they share.
    fn intervals(&self, savings: &[Vec<f64>]) -> Vec<Option<MeanInterval>> {
        if self.untested().is_some() {
            return vec![None; savings.len()];
        }
        // Blocks of the bootstrap keep the order of the periods.
        if self.are_ordered {
            return simultaneous_intervals(savings);
        }
        simultaneous_row_intervals(savings, FOLD_ERROR_FACTOR)
    }

    /// What a decided period is called: rows without times are no periods.
    pub(crate) fn noun(&self) -> &'static str {
        if self.are_ordered { "period" } else { "row" }
    }

    /// The decided rows in words: `200 periods from 2024-07-19 to 2025-02-03`.
    fn basis(&self) -> String {
        let count = grouped(self.periods.len() as u64);
        match (self.periods.first(), self.periods.last()) {
            (Some(first), Some(last)) if self.are_ordered => {
                format!("{count} periods from {first} to {last}")
            }
            _ => format!("{count} rows, decided by models of the others"),
        }
    }

    /// What there must be more of to decide what is not certain.
    fn evidence(&self) -> &'static str {
        if self.are_ordered { "periods" } else { "rows" }
    }

    /// How amounts are called; if every day is a period, a period is called a day.
    pub(crate) fn amount_unit(&self) -> AmountUnit {
        AmountUnit {
            name: self.unit.clone().unwrap_or_default(),
            per: match self.days_per_period {
                _ if !self.are_ordered => "per decision",
                Some(1.0) => "a day",
                Some(_) | None => "per period",
            },
            is_maximize: self.sense.is_maximize(),
        }
    }
}
