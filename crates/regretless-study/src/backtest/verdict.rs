//! What follows from a backtest: how much each method saves against least squares, how certain that
//! is, and one sentence.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::results::{BacktestResults, MethodHistory};
use regretless_base::statistics::{
    CONFIDENCE, ConfidenceInterval, MIN_PERIODS, MeanInterval, simultaneous_intervals,
};
use regretless_base::text::{amount, first_names, plural};

/// Largest saving that the interval of the best method allows where least squares is enough, as a
/// fraction of its mean regret per period. Untuned: a tenth of what better decisions could save at
/// most is hardly worth a model.
const MAX_NEGLIGIBLE_SAVING: f64 = 0.1;
/// Mean length of a year of the Gregorian calendar.
const DAYS_PER_YEAR: f64 = 365.2425;
/// Difference of the costs of a period, relative to them, that counts as none: rounding errors.
const TIE_TOLERANCE: f64 = 1e-9;

/// The conclusion of a backtest.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BacktestVerdict {
    /// The conclusion in one sentence.
    pub sentence: String,
    /// What limits it, in sentences.
    pub remarks: Vec<String>,
    /// All methods but the reference, in the order of the results.
    pub savings: Vec<MethodSaving>,
    /// Coverage of all intervals together.
    pub confidence: f64,
}

/// What a method saves against least squares. In a maximization, what it gains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodSaving {
    /// The method.
    pub name: String,
    /// Mean saving of a period.
    pub per_period: f64,
    /// Its interval, simultaneous for all methods; none below 60 periods, and where the method
    /// differs from least squares in fewer than ten or in too few blocks of them.
    pub interval: Option<ConfidenceInterval>,
    /// Length of the blocks of the bootstrap, in periods; none without an interval or where all
    /// periods save the same.
    pub block_length: Option<usize>,
    /// Mean saving of a day; none where times are numbers.
    pub per_day: Option<f64>,
    /// Mean saving of a year.
    pub per_year: Option<f64>,
    /// Fraction of periods in which it is better.
    pub won: f64,
    /// Fraction of periods in which it is worse.
    pub lost: f64,
}

impl BacktestVerdict {
    pub(super) fn new(results: &BacktestResults) -> Self {
        let Some((reference, others)) = results.methods.split_first() else {
            return Self::default();
        };
        let differences: Vec<Vec<f64>> = others
            .iter()
            .map(|method| savings(reference, method, results))
            .collect();
        let periods = results.periods.len();
        let intervals = if periods < MIN_PERIODS {
            vec![None; others.len()]
        } else {
            simultaneous_intervals(&differences)
        };
        let mut savings = Vec::with_capacity(others.len());
        for ((method, differences), interval) in others.iter().zip(&differences).zip(intervals) {
            savings.push(MethodSaving::new(
                method,
                differences,
                interval,
                results.days_per_period,
            ));
        }
        let mut verdict = Self {
            sentence: String::new(),
            remarks: Vec::new(),
            savings,
            confidence: CONFIDENCE,
        };
        verdict.conclude(results);
        verdict
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

    fn conclude(&mut self, results: &BacktestResults) {
        let periods = results.periods.len();
        if periods < MIN_PERIODS {
            self.sentence = format!(
                "too few periods to tell: {periods} were decided, at least {MIN_PERIODS} are needed"
            );
            self.remarks.extend(convergence_remark(results));
            self.remarks.extend(chosen_remarks(results));
            return;
        }
        let phrase = AmountPhrase::new(results);
        let is_better = |saving: &&MethodSaving| {
            let lower = saving.interval.map(|interval| interval.lower);
            lower.is_some_and(|lower| lower > 0.0)
        };
        let largest = |a: &&MethodSaving, b: &&MethodSaving| a.per_period.total_cmp(&b.per_period);
        match self.savings.iter().filter(is_better).max_by(largest) {
            Some(best) => self.sentence = phrase.claim(best),
            None => {
                let best = self.savings.iter().max_by(largest);
                let reference = results.methods.first();
                let regret = reference.map_or(0.0, |method| method.total_regret());
                let negligible = MAX_NEGLIGIBLE_SAVING * regret / periods as f64;
                let may_save = |best: &&MethodSaving| {
                    let upper = best.interval.map(|interval| interval.upper);
                    best.per_period > 0.0 && upper.is_some_and(|upper| upper > negligible)
                };
                if let Some(best) = best.filter(may_save) {
                    self.sentence = phrase.doubt(best);
                } else {
                    self.sentence = "no method beats least squares on this table; a linear \
                                     regression is enough"
                        .into();
                    let remark = best.and_then(|best| phrase.uncertainty(best));
                    self.remarks.extend(remark);
                }
            }
        }
        self.remarks.extend(present_remark(results));
        self.remarks.extend(convergence_remark(results));
        self.remarks.extend(chosen_remarks(results));
        let without: Vec<&str> = self
            .savings
            .iter()
            .filter(|saving| saving.interval.is_none())
            .map(|saving| saving.name.as_str())
            .collect();
        if !without.is_empty() {
            self.remarks.push(format!(
                "too few periods that differ from least squares for an interval: {}",
                without.join("; ")
            ));
        }
        let unproven: usize = results.methods.iter().map(|method| method.unproven).sum();
        if unproven > 0 {
            self.remarks.push(format!(
                "{unproven} decisions of all methods are not proven optimal for the costs they \
                 were made for"
            ));
        }
    }
}

/// How the best method compares with the decisions that were made.
fn present_remark(results: &BacktestResults) -> Option<String> {
    let present = results.present_decisions()?;
    let minimized_cost = |method: &MethodHistory| results.sense.convert(method.total_cost());
    let others = results.methods.iter().filter(|method| !method.is_given);
    let best = others.min_by(|a, b| minimized_cost(a).total_cmp(&minimized_cost(b)))?;
    if let Some(claim) = results.claim_against_present(best) {
        return Some(claim);
    }
    let saving = results.saving_against(&present.name, &best.name)?;
    let [_, range] = results.interval_text(saving.interval?);
    let verb = if results.sense.is_maximize() {
        "gains more than"
    } else {
        "saves anything against"
    };
    let [name, present] = [&best.name, &present.name];
    Some(if saving.interval?.upper < 0.0 {
        format!("{present} are better than the best method, `{name}` ({range})")
    } else {
        format!("it is not certain that the best method, `{name}`, {verb} {present} ({range})")
    })
}

/// Names the methods most of whose trainings have not converged.
fn convergence_remark(results: &BacktestResults) -> Option<String> {
    let methods = results.methods.iter();
    let names: Vec<&str> = methods
        .filter(|method| 2 * method.not_converged > results.trainings)
        .map(|method| method.name.as_str())
        .collect();
    let subject = match names.as_slice() {
        [] => return None,
        [name] => format!("{name} has not converged: its training losses were"),
        names => format!(
            "not converged: {}: their training losses were",
            names.join("; ")
        ),
    };
    Some(format!(
        "{subject} still decreasing at the end; more epochs or a larger learning rate may change \
         the results"
    ))
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
        let described = counts
            .iter()
            .map(|(candidate, count)| format!("{candidate} ({count})"));
        remarks.push(format!(
            "{} chose, in {} training{}: {}",
            method.name,
            method.chosen.len(),
            plural(method.chosen.len()),
            first_names(described)
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
        // Minimized: lower is better.
        let saving = results.sense.convert(reference - cost);
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
    /// What a method saves against another one. The interval is simultaneous for all methods, so
    /// that it holds for one that was chosen by the results. What least squares saves has the
    /// interval of the verdict with the opposite sign.
    pub(crate) fn saving_against(&self, reference: &str, method: &str) -> Option<MethodSaving> {
        let position_of = |name: &str| self.methods.iter().position(|known| known.name == name);
        let [reference, method] = [position_of(reference)?, position_of(method)?];
        let is_least_squares = method == 0;
        let [base, compared] = if is_least_squares {
            [method, reference]
        } else {
            [reference, method]
        };
        let differences: Vec<Vec<f64>> = self
            .methods
            .iter()
            .map(|other| savings(&self.methods[base], other, self))
            .collect();
        let mut interval = if self.periods.len() < MIN_PERIODS {
            None
        } else {
            simultaneous_intervals(&differences)[compared]
        };
        let mut of_periods = differences[compared].clone();
        if is_least_squares {
            interval = interval.map(|interval| MeanInterval {
                lower: -interval.upper,
                upper: -interval.lower,
                ..interval
            });
            of_periods.iter_mut().for_each(|saving| *saving = -*saving);
        }
        Some(MethodSaving::new(
            &self.methods[method],
            &of_periods,
            interval,
            self.days_per_period,
        ))
    }

    /// The decisions that were made, if they were given.
    pub(crate) fn present_decisions(&self) -> Option<&MethodHistory> {
        self.methods.iter().find(|method| method.is_given)
    }

    /// What a method saves against the decisions that were made, if that is certain.
    pub(crate) fn claim_against_present(&self, method: &MethodHistory) -> Option<String> {
        let present = self.present_decisions();
        let present = present.filter(|present| present.name != method.name)?;
        let saving = self.saving_against(&present.name, &method.name)?;
        let interval = saving.interval.filter(|interval| interval.lower > 0.0)?;
        let [mean, range] = self.interval_text(interval);
        let [name, present] = [&method.name, &present.name];
        Some(if self.sense.is_maximize() {
            format!("`{name}` gains {mean} more than {present} ({range})")
        } else {
            format!("`{name}` saves {mean} against {present} ({range})")
        })
    }

    /// An amount per period as people say it, with the digits of the precision: `1,240 EUR a day`.
    pub(crate) fn amount_text(&self, per_period: f64, precision: f64) -> String {
        AmountPhrase::new(self).with_unit(&amount(per_period, precision))
    }

    /// A mean per period and its interval: `1,240 EUR a day`, `95 %: 890 to 1,610`.
    pub(crate) fn interval_text(&self, interval: ConfidenceInterval) -> [String; 2] {
        AmountPhrase::new(self).amounts(interval)
    }
}

/// How amounts are called in sentences. They are those per period of the tables, so that there is
/// one number for one thing; where every day is a period, a period is called a day.
struct AmountPhrase<'a> {
    unit: &'a str,
    time: &'static str,
    is_maximize: bool,
}

impl<'a> AmountPhrase<'a> {
    fn new(results: &'a BacktestResults) -> Self {
        Self {
            unit: results.unit.as_deref().unwrap_or_default(),
            time: match results.days_per_period {
                Some(1.0) => "a day",
                Some(_) | None => "per period",
            },
            is_maximize: results.sense.is_maximize(),
        }
    }

    /// `1,240 EUR a day` and the interval `95 %: 890 to 1,610`.
    fn amounts(&self, interval: ConfidenceInterval) -> [String; 2] {
        let ConfidenceInterval { mean, lower, upper } = interval;
        let precision = upper - lower;
        let [mean, lower, upper] = [mean, lower, upper].map(|value| amount(value, precision));
        let percent = 100.0 * CONFIDENCE;
        [
            self.with_unit(&mean),
            format!("{percent} %: {lower} to {upper}"),
        ]
    }

    fn with_unit(&self, amount: &str) -> String {
        if self.unit.is_empty() {
            format!("{amount} {}", self.time)
        } else {
            format!("{amount} {} {}", self.unit, self.time)
        }
    }

    fn claim(&self, best: &MethodSaving) -> String {
        let Some(interval) = best.interval else {
            return String::new();
        };
        let [mean, range] = self.amounts(interval);
        let name = &best.name;
        if self.is_maximize {
            format!("`{name}` gains {mean} more than least squares ({range})")
        } else {
            format!("`{name}` saves {mean} against least squares ({range})")
        }
    }

    /// That the best method may save a lot, or nothing.
    fn doubt(&self, best: &MethodSaving) -> String {
        let Some(interval) = best.interval else {
            return String::new();
        };
        let [mean, range] = self.amounts(interval);
        let name = &best.name;
        let verb = if self.is_maximize { "gains" } else { "saves" };
        format!(
            "no method is certain to beat least squares on this table: `{name}` {verb} {mean} \
             ({range}); more periods may decide"
        )
    }

    /// How far the best method may be from least squares, where that is not certain.
    fn uncertainty(&self, best: &MethodSaving) -> Option<String> {
        let [mean, range] = self.amounts(best.interval?);
        let name = &best.name;
        let verb = if self.is_maximize { "gains" } else { "saves" };
        (best.per_period > 0.0).then(|| {
            format!("the best of them, `{name}`, {verb} {mean}, which is not certain ({range})")
        })
    }
}
