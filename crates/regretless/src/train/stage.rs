//! Methods in writing: a loss, how its questions are answered, on which labels it trains, what it
//! may spend, and what follows.
//!
//! ```text
//! SPO+      SPO+ relax      PFYL cache 5%      MAP cache 0%      MSE(O) knn(10,0.5)
//! SPO+ relax labels relaxed      MAE(O,S) then SPO+      MAE(O,S) then SPO+ lr 0.001 epochs 5
//! ```

use std::fmt;
use std::str::FromStr;

use super::StageOverrides;
use crate::error::{Error, Result};
use crate::label::TrainingLabels;
use crate::loss::LossSpec;
use crate::oracle::{Heuristic, OracleSettings};

/// A way to train, by the label that reports print.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrainingStage {
    /// What is minimised.
    pub loss: LossSpec,
    /// How the questions of the loss are answered.
    pub oracle: OracleSettings,
    /// Which labels it trains on.
    pub labels: TrainingLabels,
    /// What it may spend.
    pub budget: StageOverrides,
    /// The method that trains on from the result.
    pub then: Option<Box<TrainingStage>>,
}

impl From<LossSpec> for TrainingStage {
    fn from(loss: LossSpec) -> Self {
        Self {
            loss,
            oracle: OracleSettings::default(),
            labels: TrainingLabels::default(),
            budget: StageOverrides::default(),
            then: None,
        }
    }
}

impl TrainingStage {
    /// This method and those that follow.
    pub fn stages(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |method| method.then.as_deref())
    }

    /// The label of this stage alone.
    pub fn stage_name(&self) -> String {
        format!("{}{}{}{}", self.loss, self.oracle, self.labels, self.budget)
    }

    /// Roughly how many questions per row this stage answers by a solve, where it has this many
    /// epochs unless it says otherwise.
    pub(crate) fn estimated_solver_calls(&self, epochs: usize) -> f64 {
        let share = self.oracle.cache.map_or(1.0, |cache| cache.solve_ratio);
        let epochs = self.budget.epochs.unwrap_or(epochs) as f64;
        if self.loss.capabilities().calls_solver {
            share * epochs
        } else {
            0.0
        }
    }

    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// When questions are to be answered in a certain way and the loss asks none; memories help
    /// with those that judge epochs too, and so with every loss. When settings contradict each
    /// other.
    pub fn check(&self) -> Result<()> {
        self.oracle.check()?;
        if self.oracle != self.oracle.exactness_preserving()
            && !self.loss.capabilities().calls_solver
        {
            let message = format!("'{}' asks no questions during training, so that", self.loss);
            return Err(Error::setting(format!(
                "{message} '{}' means nothing here",
                self.oracle.to_string().trim()
            )));
        }
        if self.oracle.heuristic == Some(Heuristic::LocalSearchFromLabel)
            && self.labels.relaxed.is_some()
        {
            return Err(Error::setting(
                "'local-search:from-label' starts from integral labels, and 'labels relaxed' are \
                 fractional; leave one of them out, or use 'local-search:fast'",
            ));
        }
        Ok(())
    }

    fn parse_stage(text: &str) -> Result<Self> {
        let words = words(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((loss, mut rest)) = words.split_first().map(|(loss, rest)| (*loss, rest)) else {
            return Err(Error::unknown("loss", text, &LossSpec::usage()));
        };
        let mut method = Self::from(loss.parse::<LossSpec>()?);
        while let Some(word) = rest.first() {
            let known = method
                .parse_modifier(&mut rest)
                .map_err(|e| Error::setting(format!("method '{text}': {e}")))?;
            if !known {
                return Err(unknown(text, word));
            }
        }
        method.check()?;
        Ok(method)
    }

    /// Reads what may stand behind a loss, if it is that.
    fn parse_modifier(&mut self, words: &mut &[&str]) -> Result<bool> {
        Ok(self.oracle.read(words)? || self.labels.read(words)? || self.budget.read(words)?)
    }
}

/// Splits at white space outside brackets.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut depth) = (vec![String::new()], 0_i32);
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match words.last_mut() {
            Some(word) if !c.is_whitespace() || depth > 0 => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn unknown(text: &str, word: &str) -> Error {
    let choices = [
        OracleSettings::EXAMPLES.as_slice(),
        &TrainingLabels::EXAMPLES,
        &StageOverrides::EXAMPLES,
        &["then another method"],
    ];
    let choices = choices.concat();
    Error::unknown(&format!("addition in method '{text}':"), word, &choices)
}

impl fmt::Display for TrainingStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stage_name())?;
        self.then
            .as_ref()
            .map_or(Ok(()), |then| write!(f, " then {then}"))
    }
}

impl FromStr for TrainingStage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let stages: Vec<Self> = text
            .split(" then ")
            .map(Self::parse_stage)
            .collect::<Result<_>>()?;
        let joined = stages.into_iter().rev().reduce(|later, earlier| Self {
            then: Some(Box::new(later)),
            ..earlier
        });
        joined.ok_or_else(|| Error::unknown("loss", text, &LossSpec::usage()))
    }
}

impl TryFrom<String> for TrainingStage {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<TrainingStage> for String {
    fn from(method: TrainingStage) -> Self {
        method.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::TrainingStage;

    #[test]
    fn labels_read_back_as_they_were_written() {
        for name in [
            "SPO+",
            "SPO+ relax",
            "SPO+ relax tight cache 5%",
            "PFYL(mul,sigma=0.5) cache 7%",
            "SPO+ cache 0% per-instance capacity 500",
            "SPO+ relax tight warm",
            "PFYL cache 5% warm certify memory 200MB",
            "MAE(O,S) certify",
            "SPO+ local-search",
            "MAE(O,S) lr 0.05 epochs 20 lr-decay then SPO+ local-search:fast lr 0.05 epochs 2 \
             batch-size 8 lr-decay",
            "SPO+ local-search:from-label lr 0.2 epochs 1 rows-per-epoch 300 batch-size 8 lr-decay",
            "CaVE(inner,steps=8) rows-per-epoch 300",
            "SPO+ cache 50% node-limit 100",
            "MSE(O,S) knn(10,0.5)",
            "MAE(O,S) then SPO+ cache 5% then PFYL",
            "SPO+ relax labels relaxed",
            "SPO+ relax tight knn(3,0.25) labels relaxed tight lr 0.1",
            "MAE(O,S) epochs 9 then SPO+ cache 5% lr 0.001 epochs 5",
        ] {
            assert_eq!(name.parse::<TrainingStage>().unwrap().to_string(), name);
        }
        assert_eq!(
            "spo+  relax".parse::<TrainingStage>().unwrap().to_string(),
            "SPO+ relax"
        );
        assert_eq!(
            "mse( o , s) knn"
                .parse::<TrainingStage>()
                .unwrap()
                .to_string(),
            "MSE(O,S) knn(10,0.5)"
        );
        assert_eq!(
            "SPO+ epochs 3 learning_rate 1e-3"
                .parse::<TrainingStage>()
                .unwrap()
                .to_string(),
            "SPO+ lr 0.001 epochs 3"
        );
        assert_eq!(
            "PFYL(samples=10,sigma=1)"
                .parse::<TrainingStage>()
                .unwrap()
                .to_string(),
            "PFYL"
        );
    }

    #[test]
    fn what_is_not_understood_is_answered_with_the_choices() {
        let message = |name: &str| name.parse::<TrainingStage>().unwrap_err().to_string();
        assert!(message("SPO").contains("SPO+"), "{}", message("SPO"));
        assert!(message("").contains("PFYL"), "{}", message(""));
        assert!(
            message("SPO+ fast").contains("relax tight"),
            "{}",
            message("SPO+ fast")
        );
        assert!(
            message("SPO+ cache 105%").contains("0% to 100%"),
            "{}",
            message("SPO+ cache 105%")
        );
        assert!(
            message("SPO+ cache").contains("cache 5%"),
            "{}",
            message("SPO+ cache")
        );
        assert!(
            message("SPO+ relax relax").contains("twice"),
            "{}",
            message("SPO+ relax relax")
        );
        assert!(
            message("SPO+(samples=3)").contains("no options"),
            "{}",
            message("SPO+(samples=3)")
        );
        assert!(
            message("PFYL(sample=3)").contains("samples"),
            "{}",
            message("PFYL(sample=3)")
        );
        assert!(
            message("PFYL(samples=0)").contains("whole number"),
            "{}",
            message("PFYL(samples=0)")
        );
        assert!(
            message("PFYL(sigma=-1)").contains("above 0"),
            "{}",
            message("PFYL(sigma=-1)")
        );
        assert!(
            message("MSE relax").contains("no questions"),
            "{}",
            message("MSE relax")
        );
        assert!(
            message("MSE local-search").contains("no questions"),
            "{}",
            message("MSE local-search")
        );
        assert!(
            message("SPO+ warm warm").contains("twice"),
            "{}",
            message("SPO+ warm warm")
        );
        assert!(
            message("SPO+ local-search node-limit 5").contains("twice"),
            "{}",
            message("SPO+ local-search node-limit 5")
        );
        assert!(
            message("SPO+ node-limit").contains("node-limit 100"),
            "{}",
            message("SPO+ node-limit")
        );
        assert!(
            message("SPO+ node-limit 0").contains("node-limit 100"),
            "{}",
            message("SPO+ node-limit 0")
        );
        assert!(
            message("SPO+ warm memory 5").contains("200MB"),
            "{}",
            message("SPO+ warm memory 5")
        );
        assert!(
            message("SPO+ memory 5MB").contains("without 'warm'"),
            "{}",
            message("SPO+ memory 5MB")
        );
        assert!(
            message("SPO+ relax local-search").contains("exclude"),
            "{}",
            message("SPO+ relax local-search")
        );
        assert!(
            message("SPO+ warm node-limit 9").contains("earlier solver calls"),
            "{}",
            message("SPO+ warm node-limit 9")
        );
        assert!(
            message("MSE then ").contains("SPO+"),
            "{}",
            message("MSE then ")
        );
        assert!(
            message("SPO+ lr 0").contains("above 0"),
            "{}",
            message("SPO+ lr 0")
        );
        assert!(
            message("SPO+ lr").contains("lr 0.001"),
            "{}",
            message("SPO+ lr")
        );
        assert!(
            message("SPO+ epochs many").contains("whole number"),
            "{}",
            message("SPO+ epochs many")
        );
        assert!(
            message("SPO+ epochs 1 epochs 2").contains("twice"),
            "{}",
            message("SPO+ epochs 1 epochs 2")
        );
        assert!(
            message("SPO+ batch-size 0").contains("batch-size 5"),
            "{}",
            message("SPO+ batch-size 0")
        );
        assert!(
            message("SPO+ lr-decay lr-decay").contains("twice"),
            "{}",
            message("SPO+ lr-decay lr-decay")
        );
        assert!(
            message("SPO+ batch 8").contains("'batch-size'"),
            "{}",
            message("SPO+ batch 8")
        );
        assert!(
            message("SPO+ rows 8").contains("'rows-per-epoch'"),
            "{}",
            message("SPO+ rows 8")
        );
        assert!(
            message("SPO+ decay").contains("'lr-decay'"),
            "{}",
            message("SPO+ decay")
        );
        assert!(
            message("SPO+ labels").contains("labels relaxed"),
            "{}",
            message("SPO+ labels")
        );
        assert!(
            message("SPO+ quick").contains("epochs 5"),
            "{}",
            message("SPO+ quick")
        );
        assert!(
            message("MSE knn(0)").contains("knn"),
            "{}",
            message("MSE knn(0)")
        );
    }
}
