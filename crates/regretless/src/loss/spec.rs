//! Specifications of losses: parsed from and printed as the names the literature uses, and built
//! for a table.

use std::any::Any;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::name_options::LossOptions;
use super::registry::{self, LOSS_FAMILIES};
use super::{Loss, LossProperties};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;

/// A loss with its settings, before it is built for a table.
///
/// `Display` prints its name with the options that differ from their defaults; two losses with the
/// same name are the same loss.
pub trait LossDefinition: Any + fmt::Debug + fmt::Display + Send + Sync {
    /// Properties of the loss that determine what training prepares.
    fn properties(&self) -> LossProperties;

    /// A hash of what the values depend on beyond the name, such as the source of a function.
    /// Checkpoints and results are used again only if it is the same.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// The loss with options of its name, such as `margin=0.1`, as texts; `None` for a loss without
    /// options. For custom losses: those that are built in parse their options themselves.
    fn with_options(&self, _options: &[[String; 2]]) -> Option<Result<LossSpec>> {
        None
    }

    /// Checks that the problem has what the loss needs, before anything is solved.
    ///
    /// # Errors
    /// When it lacks something, which the error names.
    fn check_problem(&self, _oracle: &Oracle) -> Result<()> {
        Ok(())
    }

    /// The loss for one table. What it needs beyond the labels is computed here, once.
    ///
    /// # Errors
    /// When the problem lacks what the loss needs, or the user interrupts.
    fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Loss>>;
}

/// The specification of any loss; cheap to clone.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LossSpec(Arc<dyn LossDefinition>);

impl LossSpec {
    /// The same loss with options of its name; `None` if it has no options.
    pub(super) fn with_options(&self, options: &[[String; 2]]) -> Option<Result<Self>> {
        self.0.with_options(options)
    }

    /// Properties of the loss that determine what training prepares.
    pub fn properties(&self) -> LossProperties {
        self.0.properties()
    }

    /// Checks that the problem has what the loss needs, before anything is solved.
    ///
    /// # Errors
    /// When it lacks something, which the error names.
    pub fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        if !self.properties().compares_values {
            let remedy = "use MAE(D), MSE(D), MAE(tau=0.7), MAE, MSE, least squares or auto";
            oracle.require_costs(&format!("'{self}'"), remedy)?;
        }
        self.0
            .check_problem(oracle)
            .map_err(|error| error.for_method(&self.to_string()))
    }

    /// The loss for one table. What it needs beyond the labels is computed here, once.
    ///
    /// # Errors
    /// When the problem lacks what the loss needs, or the user interrupts.
    pub fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Loss>> {
        self.check_problem(oracle)?;
        self.0.build(data, oracle, observer)
    }

    /// A hash of what the values depend on beyond the name.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        self.0.fingerprint()
    }

    /// The definition behind the specification, if it is of this type.
    pub fn downcast_ref<D: LossDefinition>(&self) -> Option<&D> {
        let definition: &dyn Any = self.0.as_ref();
        definition.downcast_ref()
    }

    /// How the names of losses look, for error messages.
    pub fn usage() -> Vec<&'static str> {
        LOSS_FAMILIES
            .iter()
            .flat_map(|family| family.usage)
            .copied()
            .collect()
    }

    /// One or more losses of every family, for tests that all losses must pass.
    ///
    /// # Errors
    /// When the name of an example does not parse.
    pub fn examples() -> Result<Vec<Self>> {
        LOSS_FAMILIES
            .iter()
            .flat_map(|family| family.examples)
            .map(|name| name.parse())
            .collect()
    }
}

impl<D: LossDefinition> From<D> for LossSpec {
    fn from(definition: D) -> Self {
        Self(Arc::new(definition))
    }
}

impl PartialEq for LossSpec {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for LossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for LossSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, mut options) = LossOptions::split_name(text);
        let Some(family) = registry::family(&name) else {
            if let Some(own) = registry::own_loss(text.trim()) {
                return Ok(own);
            }
            let unknown = || Err(Error::unknown("loss", text, &Self::usage()));
            let found = registry::with_options(text.trim());
            let found = found.or_else(|| registry::resolve(text.trim()));
            return found.unwrap_or_else(unknown);
        };
        let spec = (family.parse)(&name.to_ascii_uppercase(), &mut options)?;
        options.finish()?;
        Ok(spec)
    }
}

impl TryFrom<String> for LossSpec {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<LossSpec> for String {
    fn from(spec: LossSpec) -> Self {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::LossSpec;
    use crate::loss::registry::LOSS_FAMILIES;

    #[test]
    fn every_example_parses_and_prints_as_its_own_name() {
        for family in LOSS_FAMILIES {
            assert!(!family.examples.is_empty(), "{:?}", family.names);
            for name in family.examples {
                let spec: LossSpec = name.parse().unwrap();
                assert_eq!(spec.to_string(), *name);
            }
        }
        LossSpec::examples().unwrap();
    }

    #[test]
    fn no_two_families_share_a_name() {
        let mut names: Vec<String> = LOSS_FAMILIES
            .iter()
            .flat_map(|family| family.names)
            .map(|name| name.to_ascii_uppercase())
            .collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn names_are_read_in_any_case_and_options_in_any_order() {
        for (typed, printed) in [
            ("spo+", "SPO+"),
            ("map_C", "MAP_c"),
            ("ltr( list )", "LTR(list)"),
            ("pfyl(sigma=2,samples=10,mul)", "PFYL(mul,sigma=2)"),
            ("imle(lambda=10)", "I-MLE"),
            ("RFY(plain,tol=1e-9)", "RFY(tol=0.000000001,plain)"),
        ] {
            assert_eq!(typed.parse::<LossSpec>().unwrap().to_string(), printed);
        }
        for (name, word) in [
            ("LTR", "LTR(pair)"),
            ("DBB(lambda=0)", "above 0"),
            ("NID(sigma=1)", "distance"),
        ] {
            let message = name.parse::<LossSpec>().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
