//! [`Verdict`]: what a method saves against a reference, how certain that is, and one sentence
//! about it. Trainings, comparisons and backtests conclude in its words.

use crate::statistics::{CONFIDENCE, ConfidenceInterval};
use crate::text::amount;

/// Largest saving that the interval of the best method allows if the reference is enough, as a
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
    /// Its interval; none if it would not hold.
    pub interval: Option<ConfidenceInterval>,
    /// The unit of savings.
    pub unit: AmountUnit,
    /// The rows that the interval is from, such as `64 test rows`.
    pub basis: String,
    /// What there must be more of to decide what is not certain.
    pub evidence: &'static str,
    /// What follows if the reference is as good; none if nothing does.
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

impl VerdictScope {
    /// What the methods are called; none for a single one.
    fn noun(self) -> Option<&'static str> {
        match self {
            Self::OneMethod => None,
            Self::AllMethods => Some("compared method"),
            Self::DecisionFocused => Some("compared decision-focused method"),
        }
    }
}

/// What the numbers of a verdict prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Significance {
    /// The method is better: the interval of its saving is above 0.
    Better,
    /// The reference is better: the interval is below 0.
    Worse,
    /// The method saves little at most.
    Negligible,
    /// The interval allows for a saving that is worth it, and for none.
    Open,
    /// There is too little to tell.
    Untested,
}

impl Verdict {
    /// What the numbers prove.
    pub fn significance(&self) -> Significance {
        let Some(interval) = self.interval.filter(|_| self.untested.is_none()) else {
            return Significance::Untested;
        };
        if interval.lower > 0.0 {
            Significance::Better
        // Before the test of size: a method that is certainly worse is not one that saves little.
        } else if interval.upper < 0.0 {
            Significance::Worse
        } else if Self::is_negligible(interval.upper, self.reference_regret) {
            Significance::Negligible
        } else {
            Significance::Open
        }
    }

    /// Whether a saving is hardly worth a model instead of a reference with this regret.
    pub fn is_negligible(saving: f64, reference_regret: f64) -> bool {
        saving <= MAX_NEGLIGIBLE_SAVING * reference_regret
    }

    /// The verdict in one sentence, without a full stop. It claims no more than the interval
    /// proves.
    pub fn sentence(&self) -> String {
        match self.significance() {
            Significance::Untested => self.ignorance(),
            Significance::Better => self.claim(),
            Significance::Worse => self.denial("beats", &self.reference_claim()),
            Significance::Negligible => self.denial("saves much against", &self.upper_bound()),
            Significance::Open => self.doubt(),
        }
    }

    /// What the method saves.
    fn claim(&self) -> String {
        let (share, details) = (self.share(), self.details());
        let difference = self.difference(&format!("`{}`", self.method), &self.reference);
        difference + &share + &details
    }

    /// What the reference saves against the method.
    fn reference_claim(&self) -> String {
        let opposite = self.opposite();
        let method = format!("`{}`{}", self.method, self.own_condition());
        opposite.difference(&format!("`{}`", self.reference), &method) + &opposite.details()
    }

    /// The same with losses instead of savings: the saving and the ends of the interval are
    /// negated, so both have the same numbers.
    fn opposite(&self) -> Self {
        Self {
            saving: -self.saving,
            interval: self.interval.map(|interval| ConfidenceInterval {
                mean: -interval.mean,
                lower: -interval.upper,
                upper: -interval.lower,
            }),
            ..self.clone()
        }
    }

    /// What the method does, and the interval of that: a saving below 0 is called a loss, and the
    /// interval is that of the loss.
    fn effect(&self) -> [String; 2] {
        if self.saving < 0.0 {
            let opposite = self.opposite();
            let loss = opposite.saving_text();
            let effect = if self.unit.is_maximize {
                format!("loses {loss}")
            } else {
                format!("costs {loss} more")
            };
            return [effect, opposite.details()];
        }
        let (verb, saving) = (self.unit.verb(), self.saving_text());
        [format!("{verb} {saving}"), self.details()]
    }

    /// That the method saves little at most.
    fn upper_bound(&self) -> String {
        let (method, reference) = (&self.method, &self.reference);
        let condition = self.own_condition();
        let [effect, details] = self.effect();
        format!(
            "`{method}`{condition} decides hardly better than {reference}, if at all: it \
             {effect}{details}"
        )
    }

    /// That one saves an amount against another one.
    fn difference(&self, better: &str, worse: &str) -> String {
        let saving = self.saving_text();
        if self.unit.is_maximize {
            format!("{better} gains {saving} more than {worse}")
        } else {
            format!("{better} saves {saving} against {worse}")
        }
    }

    /// That there is too little to tell.
    fn ignorance(&self) -> String {
        let (method, reference, evidence) = (&self.method, &self.reference, self.evidence);
        self.untested.clone().unwrap_or_else(|| {
            let [effect, _] = self.effect();
            format!(
                "`{method}` is not certain to beat {reference}: it {effect}, but too few \
                 {evidence} differ for an interval ({})",
                self.basis
            )
        })
    }

    /// That the method may save a lot, or nothing.
    fn doubt(&self) -> String {
        let (method, reference) = (&self.method, &self.reference);
        let [effect, details] = self.effect();
        let claim = match self.scope.noun() {
            None => {
                format!("`{method}` is not certain to beat {reference}: it {effect}{details}")
            }
            Some(noun) => {
                format!("no {noun} is certain to beat {reference}: `{method}` {effect}{details}")
            }
        };
        format!("{claim}; more {} may decide", self.evidence)
    }

    /// That no method has a property, proven by a finding about the best one.
    fn denial(&self, property: &str, finding: &str) -> String {
        let reference = &self.reference;
        let (mut sentence, subject) = match self.scope.noun() {
            None => (finding.to_owned(), ""),
            Some(noun) => (
                format!(
                    "no {noun}{} {property} {reference}: {finding}",
                    self.condition()
                ),
                "compared with these, ",
            ),
        };
        if let Some(implication) = self.implication.filter(|_| self.has_converged) {
            sentence += &format!("; {subject}{implication}");
        }
        sentence
    }

    /// The limit of a denial.
    fn condition(&self) -> &'static str {
        if self.has_converged {
            ""
        } else {
            " as trained here"
        }
    }

    /// The limit of a denial about a single method; about several it comes before them.
    fn own_condition(&self) -> &'static str {
        match self.scope.noun() {
            None => self.condition(),
            Some(_) => "",
        }
    }

    fn saving_text(&self) -> String {
        let precision = self
            .interval
            .map_or(0.0, |interval| interval.upper - interval.lower);
        self.unit.rate(self.saving, precision)
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
    /// The unit of costs; empty if it is not known.
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

#[cfg(test)]
mod tests {
    use super::{AmountUnit, Significance, Verdict, VerdictScope};
    use crate::statistics::ConfidenceInterval;

    fn verdict(saving: f64, interval: Option<[f64; 2]>, is_maximize: bool) -> Verdict {
        Verdict {
            method: "SPO+".into(),
            scope: VerdictScope::OneMethod,
            reference: "least squares".into(),
            reference_regret: 10.0,
            saving,
            interval: interval.map(|[lower, upper]| ConfidenceInterval {
                mean: saving,
                lower,
                upper,
            }),
            unit: AmountUnit {
                name: "EUR".into(),
                per: "a day",
                is_maximize,
            },
            basis: "90 days".into(),
            evidence: "days",
            implication: None,
            has_converged: true,
            untested: None,
        }
    }

    #[test]
    fn a_saving_below_0_is_called_a_loss_with_the_interval_of_the_loss() {
        let open = verdict(-0.6, Some([-3.0, 1.8]), false);
        assert_eq!(open.significance(), Significance::Open);
        let sentence = open.sentence();
        let expected = "it costs 0.6 EUR a day more (95 %: -1.8 to 3.0; 90 days)";
        assert!(sentence.contains(expected), "{sentence}");
        let negligible = verdict(-0.6, Some([-2.0, 0.8]), true);
        assert_eq!(negligible.significance(), Significance::Negligible);
        let sentence = negligible.sentence();
        let expected = "it loses 0.6 EUR a day (95 %: -0.8 to 2.0; 90 days)";
        assert!(sentence.contains(expected), "{sentence}");
        let untested = verdict(-17.5, None, true).sentence();
        assert!(
            untested.contains("it loses 17.50 EUR a day, but too few days"),
            "{untested}"
        );
        // Savings stay what they are.
        let saved = verdict(0.6, Some([-1.8, 3.0]), false).sentence();
        assert!(
            saved.contains("it saves 0.6 EUR a day (95 %: -1.8 to 3.0; 90 days)"),
            "{saved}"
        );
    }
}
