//! [`Verdict`]: what a method saves against a reference, how certain that is, and one sentence
//! about it. Trainings, comparisons and backtests conclude in its words.

use regretless_base::statistics::{CONFIDENCE, ConfidenceInterval};
use regretless_base::text::amount;

/// Largest saving that the interval of the best method allows where the reference is enough, as a
/// fraction of the regret of the reference. Untuned: a tenth of what better decisions could save at
/// most is hardly worth a model.
const MAX_NEGLIGIBLE_SAVING: f64 = 0.1;

/// What a method saves against a reference, and whether that is certain.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The method.
    pub method: String,
    /// Which methods it stands for.
    pub scope: VerdictScope,
    /// What it is compared with.
    pub reference: String,
    /// The mean regret of the reference.
    pub reference_regret: f64,
    /// The mean saving. In a maximization, what the method gains.
    pub saving: f64,
    /// Its interval; none where it would not hold.
    pub interval: Option<ConfidenceInterval>,
    /// The unit of savings.
    pub unit: AmountUnit,
    /// What the interval is from, such as `64 test rows`; empty where the results say so.
    pub basis: String,
    /// What there must be more of to decide what is not certain.
    pub evidence: &'static str,
    /// What follows where the reference is as good; none where nothing does.
    pub implication: Option<&'static str>,
    /// Whether the training loss of the method has converged; otherwise nothing follows from
    /// regrets that are not lower.
    pub has_converged: bool,
    /// Why nothing is claimed.
    pub untested: Option<String>,
}

/// The methods that a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictScope {
    /// One that was named beforehand.
    OneMethod,
    /// The best of all.
    AllMethods,
    /// The best of those that are trained for decisions.
    DecisionFocused,
}

/// What the numbers of a verdict prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Significance {
    /// The method is better: the interval of its saving is above 0.
    Better,
    /// It may save a lot, or nothing.
    Open,
    /// It is not better, or not by much.
    NotBetter,
    /// There is too little to tell.
    Untested,
}

impl Verdict {
    /// What the numbers prove.
    pub fn significance(&self) -> Significance {
        if self.untested.is_some() {
            return Significance::Untested;
        }
        let negligible = MAX_NEGLIGIBLE_SAVING * self.reference_regret;
        match self.interval {
            Some(interval) if interval.lower > 0.0 => Significance::Better,
            Some(interval) if self.saving > 0.0 && interval.upper > negligible => {
                Significance::Open
            }
            Some(_) | None => Significance::NotBetter,
        }
    }

    /// The verdict in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self.significance() {
            Significance::Untested => self.untested.clone().unwrap_or_default(),
            Significance::Better => self.claim(),
            Significance::Open => self.doubt(),
            Significance::NotBetter => self.denial(),
        }
    }

    /// What the method saves, certain or not.
    pub fn claim(&self) -> String {
        let (saving, share, details) = (self.saving_text(), self.share(), self.details());
        let (method, reference) = (&self.method, &self.reference);
        if self.unit.is_maximize {
            format!("`{method}` gains {saving} more than {reference}{share}{details}")
        } else {
            format!("`{method}` saves {saving} against {reference}{share}{details}")
        }
    }

    /// That the best of all methods may save something although it is not certain to be better.
    pub fn remark(&self) -> Option<String> {
        let is_told = self.scope == VerdictScope::AllMethods
            && self.significance() == Significance::NotBetter
            && self.saving > 0.0;
        let interval = self.interval.filter(|_| is_told)?;
        Some(format!(
            "the best of them, `{}`, {} {}, which is not certain ({})",
            self.method,
            self.unit.verb(),
            self.saving_text(),
            range_text(interval)
        ))
    }

    /// That the method may save a lot, or nothing.
    fn doubt(&self) -> String {
        let (method, reference) = (&self.method, &self.reference);
        let verb = self.unit.verb();
        let (saving, details) = (self.saving_text(), self.details());
        let claim = match self.scope {
            VerdictScope::OneMethod => {
                format!(
                    "`{method}` is not certain to beat {reference}: it {verb} {saving}{details}"
                )
            }
            VerdictScope::AllMethods => format!(
                "no method is certain to beat {reference} on this table: `{method}` {verb} \
                 {saving}{details}"
            ),
            VerdictScope::DecisionFocused => format!(
                "no decision-focused method is certain to beat {reference} on this table: \
                 `{method}` {verb} {saving}{details}"
            ),
        };
        format!("{claim}; more {} may decide", self.evidence)
    }

    /// That the reference is as good.
    fn denial(&self) -> String {
        let (method, reference) = (&self.method, &self.reference);
        let condition = if self.has_converged {
            ""
        } else {
            ", as trained here,"
        };
        let (verb, saving, details) = (self.unit.verb(), self.saving_text(), self.details());
        let mut sentence = match self.scope {
            VerdictScope::OneMethod if self.saving < 0.0 => format!(
                "`{method}`{condition} does not beat {reference}: {}",
                self.loss_text()
            ),
            VerdictScope::OneMethod => {
                format!(
                    "`{method}`{condition} does not beat {reference}: it {verb} {saving}{details}"
                )
            }
            VerdictScope::AllMethods => {
                format!("no method{condition} beats {reference} on this table")
            }
            VerdictScope::DecisionFocused => format!(
                "no decision-focused method{condition} beats {reference} on this table: the best, \
                 `{method}`, {verb} {saving}{details}"
            ),
        };
        if let Some(implication) = self.implication.filter(|_| self.has_converged) {
            sentence += "; ";
            sentence += implication;
        }
        sentence
    }

    fn saving_text(&self) -> String {
        let precision = self
            .interval
            .map_or(0.0, |interval| interval.upper - interval.lower);
        self.unit.rate(self.saving, precision)
    }

    /// What a method loses whose saving is negative, with the ends of the interval as losses, too.
    fn loss_text(&self) -> String {
        let loss = Self {
            saving: -self.saving,
            interval: self.interval.map(|interval| ConfidenceInterval {
                mean: -interval.mean,
                lower: -interval.upper,
                upper: -interval.lower,
            }),
            ..self.clone()
        };
        let (amount, details) = (loss.saving_text(), loss.details());
        if self.unit.is_maximize {
            format!("it gains {amount} less{details}")
        } else {
            format!("it costs {amount} more{details}")
        }
    }

    /// The saving as a share of the regret: without a unit, an amount alone says little.
    fn share(&self) -> String {
        // Labels of a heuristic need not be optimal, so regrets may be negative.
        if self.unit.name.is_empty() && self.reference_regret > 0.0 {
            let percent = 100.0 * self.saving / self.reference_regret;
            format!(", {percent:.1} % less regret")
        } else {
            String::new()
        }
    }

    /// The interval and what it is from, in parentheses.
    fn details(&self) -> String {
        match (self.interval, self.basis.as_str()) {
            (None, _) => String::new(),
            (Some(interval), "") => format!(" ({})", range_text(interval)),
            (Some(interval), basis) => format!(" ({}; {basis})", range_text(interval)),
        }
    }
}

/// How amounts are called in sentences. They are those of the tables, so there is one number for
/// one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountUnit {
    /// The unit of costs; empty where it is not known.
    pub name: String,
    /// What an amount is the mean of: `a day`, `per period` or `per decision`.
    pub per: &'static str,
    /// Whether costs are gains.
    pub is_maximize: bool,
}

impl AmountUnit {
    /// An amount as people say it, with the digits of the precision: `1,240 EUR`.
    pub fn amount(&self, value: f64, precision: f64) -> String {
        self.with_name(&amount(value, precision))
    }

    /// A mean: `1,240 EUR a day`.
    pub fn rate(&self, value: f64, precision: f64) -> String {
        format!("{} {}", self.amount(value, precision), self.per)
    }

    /// A number in this unit.
    pub fn with_name(&self, number: &str) -> String {
        if self.name.is_empty() {
            number.to_owned()
        } else {
            format!("{number} {}", self.name)
        }
    }

    /// What a good method does.
    fn verb(&self) -> &'static str {
        if self.is_maximize { "gains" } else { "saves" }
    }
}

/// The ends of an interval: `95 %: 890 to 1,610`.
pub fn range_text(interval: ConfidenceInterval) -> String {
    let precision = interval.upper - interval.lower;
    let [lower, upper] = [interval.lower, interval.upper].map(|end| amount(end, precision));
    let percent = 100.0 * CONFIDENCE;
    format!("{percent} %: {lower} to {upper}")
}

/// Names the methods whose trainings have not converged.
pub fn convergence_remark(names: &[&str]) -> Option<String> {
    let subject = match names {
        [] => return None,
        [name] => format!("{name} has not converged: its training loss was"),
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
