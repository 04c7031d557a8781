//! Names of the family: `MSE`, `MAE(O,S)`, `MSE(C,O,S)`, `MSE(W(0.4))`, `MAE(EIC(3),S)`,
//! `MSE(tau=0.3)`.

use std::fmt;
use std::str::FromStr;

use super::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization};
use crate::error::{Error, Result};
use crate::solve::relaxation::CostRangeKind;

/// Components as they may be typed, for error messages.
const COMPONENT_NAMES: [&str; 11] = [
    "C",
    "O",
    "S",
    "E",
    "O_S",
    "O_S(exact)",
    "W(w) with w from 0 to 1",
    "IC(k)",
    "EIC(k)",
    "tau=t",
    "D or D(a) with a from 0 to 1, for quantities",
];

/// Rounds of IC and EIC by default: more rounds take more time and update the weights more often.
const DEFAULT_ROUNDS: usize = 3;

impl fmt::Display for CostSensitiveSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut components = Vec::new();
        match self.weighting {
            InstanceWeighting::Equal => {}
            InstanceWeighting::InstanceCosts => components.push("C".to_owned()),
            InstanceWeighting::Reweighted(w) => components.push(format!("W({w})")),
            InstanceWeighting::Iterative(rounds) => components.push(format!("IC({rounds})")),
            InstanceWeighting::Ensemble(rounds) => components.push(format!("EIC({rounds})")),
        }
        match &self.side {
            ErrorSide::Both => {}
            ErrorSide::OneSided => components.push("O".into()),
            ErrorSide::Sensitive(CostRangeKind::Basis) => components.push("O_S".into()),
            ErrorSide::Sensitive(CostRangeKind::Exact) => components.push("O_S(exact)".into()),
            ErrorSide::DualWeighted(None) => components.push("D".into()),
            ErrorSide::DualWeighted(Some(shrinkage)) => components.push(format!("D({shrinkage})")),
            ErrorSide::Pinball(taus) => {
                let taus: Vec<String> = taus.iter().map(f64::to_string).collect();
                components.push(format!("tau={}", taus.join(":")));
            }
        }
        match self.normalization {
            Normalization::None => {}
            Normalization::UnitNorm => components.push("S".into()),
            Normalization::EqualityInvariant => components.push("E".into()),
        }
        let base = match self.error {
            BaseError::Squared => "MSE",
            BaseError::Absolute => "MAE",
        };
        if components.is_empty() {
            f.write_str(base)
        } else {
            write!(f, "{base}({})", components.join(","))
        }
    }
}

impl FromStr for CostSensitiveSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (base, components) = match compact.split_once('(') {
            Some((base, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| unknown(text))?;
                (base, inside)
            }
            None => (compact.as_str(), ""),
        };
        let mut spec = match base.to_ascii_uppercase().as_str() {
            "MSE" => Self::plain(BaseError::Squared),
            "MAE" => Self::plain(BaseError::Absolute),
            _ => return Err(unknown(text)),
        };
        for component in components.split(',').filter(|c| !c.is_empty()) {
            spec.add(component, text)?;
        }
        Ok(spec)
    }
}

impl CostSensitiveSpec {
    fn add(&mut self, component: &str, name: &str) -> Result<()> {
        let repeated = || {
            Err(Error::setting(format!(
                "loss '{name}': '{component}' contradicts another component"
            )))
        };
        let upper = component.to_ascii_uppercase();
        let normalization = match upper.as_str() {
            "S" => Some(Normalization::UnitNorm),
            "E" => Some(Normalization::EqualityInvariant),
            _ => None,
        };
        if let Some(normalization) = normalization {
            if std::mem::replace(&mut self.normalization, normalization) != Normalization::None {
                return repeated();
            }
        } else if let Some(side) = side(&upper, name)? {
            if std::mem::replace(&mut self.side, side) != ErrorSide::Both {
                return repeated();
            }
        } else {
            let weighting = weighting(&upper, name)?;
            if std::mem::replace(&mut self.weighting, weighting) != InstanceWeighting::Equal {
                return repeated();
            }
        }
        Ok(())
    }
}

fn side(component: &str, name: &str) -> Result<Option<ErrorSide>> {
    match component {
        "O" => return Ok(Some(ErrorSide::OneSided)),
        "O_S" | "O_S(BASIS)" => return Ok(Some(ErrorSide::Sensitive(CostRangeKind::Basis))),
        "O_S(EXACT)" => return Ok(Some(ErrorSide::Sensitive(CostRangeKind::Exact))),
        "D" => return Ok(Some(ErrorSide::DualWeighted(None))),
        _ => {}
    }
    if let Some(share) = component
        .strip_prefix("D(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let share = share
            .parse::<f64>()
            .ok()
            .filter(|share| (0.0..=1.0).contains(share));
        let fixed = |share| ErrorSide::DualWeighted(Some(share));
        return share.map(fixed).map(Some).ok_or_else(|| {
            Error::setting(format!("loss '{name}': D(a) takes a number from 0 to 1"))
        });
    }
    let Some(values) = component.strip_prefix("TAU=") else {
        return Ok(None);
    };
    let tau = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|tau| (0.0..=1.0).contains(tau))
    };
    match values.split(':').map(tau).collect::<Option<Vec<f64>>>() {
        Some(taus) => Ok(Some(ErrorSide::Pinball(taus))),
        None => Err(Error::setting(format!(
            "loss '{name}': tau is a number from 0 to 1 (or one per cost, a:b:c)"
        ))),
    }
}

fn weighting(component: &str, name: &str) -> Result<InstanceWeighting> {
    let argument = |name: &str| {
        component
            .strip_prefix(name)?
            .strip_prefix('(')?
            .strip_suffix(')')
    };
    let rounds = |text: &str| text.parse::<usize>().ok().filter(|k| *k >= 1);
    let invalid = |reason: &str| Error::setting(format!("loss '{name}': {reason}"));
    match component {
        "C" => return Ok(InstanceWeighting::InstanceCosts),
        "IC" => return Ok(InstanceWeighting::Iterative(DEFAULT_ROUNDS)),
        "EIC" => return Ok(InstanceWeighting::Ensemble(DEFAULT_ROUNDS)),
        _ => {}
    }
    if let Some(text) = argument("W") {
        let weight = text.parse::<f64>().ok().filter(|w| (0.0..=1.0).contains(w));
        return weight
            .map(InstanceWeighting::Reweighted)
            .ok_or_else(|| invalid("W(w) takes a number from 0 to 1"));
    }
    if let Some(text) = argument("EIC") {
        return rounds(text)
            .map(InstanceWeighting::Ensemble)
            .ok_or_else(|| invalid("EIC(k) takes an integer from 1"));
    }
    if let Some(text) = argument("IC") {
        return rounds(text)
            .map(InstanceWeighting::Iterative)
            .ok_or_else(|| invalid("IC(k) takes an integer from 1"));
    }
    Err(Error::unknown(
        &format!("component in loss '{name}':"),
        component,
        &COMPONENT_NAMES,
    ))
}

fn unknown(text: &str) -> Error {
    let components = COMPONENT_NAMES.join(", ");
    Error::setting(format!("unknown loss '{text}'")).with_remedy(format!(
        "choose MSE or MAE, with components in brackets such as MAE(O,S); \
            components: {components}"
    ))
}

#[cfg(test)]
mod tests {
    use super::CostSensitiveSpec;

    #[test]
    fn names_parse_and_print_as_themselves() {
        for name in [
            "MSE",
            "MAE(O,S)",
            "MSE(C,O,S)",
            "MSE(W(0.4))",
            "MAE(EIC(3),S)",
            "MSE(IC(2),O)",
            "MAE(tau=0.3,S)",
            "MSE(C,O_S,S)",
            "MAE(O_S(exact))",
            "MSE(E)",
            "MAE(C,O,E)",
            "MSE(O_S,E)",
            "MAE(D)",
            "MSE(C,D(0.25))",
        ] {
            assert_eq!(name.parse::<CostSensitiveSpec>().unwrap().to_string(), name);
        }
        assert_eq!(
            "mse( s , o,C )"
                .parse::<CostSensitiveSpec>()
                .unwrap()
                .to_string(),
            "MSE(C,O,S)"
        );
    }

    #[test]
    fn errors_name_the_loss_and_the_choices() {
        for name in [
            "",
            "RMSE",
            "MSE(X)",
            "MSE(O",
            "MSE(O,O)",
            "MSE(O,tau=0.1)",
            "MSE(W(2))",
            "MSE(IC(0))",
            "MSE(C,W(1))",
            "MSE(S,E)",
            "MSE(E,E)",
            "MAE(D(2))",
            "MAE(O,D)",
        ] {
            let message = name.parse::<CostSensitiveSpec>().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        assert!(
            "MSE(X)"
                .parse::<CostSensitiveSpec>()
                .unwrap_err()
                .to_string()
                .contains("EIC(k)")
        );
    }
}
