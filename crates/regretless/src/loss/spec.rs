//! Losses in writing: which there are, how their labels are read and written, how each is built for
//! a table.

use std::fmt;
use std::str::FromStr;

use super::name_options::LossOptions;
use super::{
    Blackbox, Cave, Contrastive, CosSpec, ErrorSide, FrankWolfe, ImplicitMle, InstanceWeighting,
    LavaSpec, LayerLoss, LayerObjective, Loss, PerturbationGradient, PerturbedOptimizer, Pfyl,
    Ranking, SpoPlus,
};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;

/// A loss in writing, by the label the literature prints.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LossSpec {
    /// The cost-sensitive family.
    Cos(CosSpec),
    /// The convex upper bound of regret.
    SpoPlus,
    /// The perturbed Fenchel–Young loss.
    Pfyl(Pfyl),
    /// The best decision against a pool.
    Contrastive(Contrastive),
    /// A pool in the right order.
    Ranking(Ranking),
    /// Regret's derivative along the true costs.
    PerturbationGradient(PerturbationGradient),
    /// Decisions differentiated as a black box.
    Blackbox(Blackbox, LayerObjective),
    /// Mean decisions under normal noise.
    Perturbed(PerturbedOptimizer, LayerObjective),
    /// Mean decisions under Sum-of-Gamma noise.
    Implicit(ImplicitMle, LayerObjective),
    /// Decisions smoothed by a quadratic term.
    Regularized(FrankWolfe, LayerObjective),
    /// The Fenchel–Young loss of such decisions.
    RegularizedFy(FrankWolfe),
    /// Costs aligned with the cone of the best decision.
    Cave(Cave),
    /// The best vertex against those next to it.
    Lava(LavaSpec),
}

impl LossSpec {
    /// How labels look, for messages.
    pub const EXAMPLES: [&'static str; 21] = [
        "MSE or MAE with components, such as MAE(O,S)",
        "SPO+",
        "PFYL",
        "PFYL(mul)",
        "MAP",
        "MAP_c",
        "NCE",
        "NCE_c",
        "LTR(point)",
        "LTR(pair)",
        "LTR(list)",
        "PG",
        "DBB",
        "NID",
        "DPO",
        "I-MLE",
        "AI-MLE",
        "RFW or RFY",
        "CaVE",
        "CaVE+",
        "LAVA",
    ];

    /// The loss itself, for one table. What it needs beyond the best decisions is computed here,
    /// once.
    ///
    /// # Errors
    /// When the problem cannot give what the loss needs, or the user interrupts.
    pub fn build(
        &self,
        data: &LabeledDataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Loss>> {
        Ok(match self {
            Self::Cos(cos) => Box::new(cos.build(data, oracle, observer)?),
            Self::SpoPlus => Box::new(SpoPlus),
            Self::Pfyl(loss) => Box::new(loss.clone()),
            Self::Contrastive(loss) => Box::new(*loss),
            Self::Ranking(loss) => Box::new(*loss),
            Self::PerturbationGradient(loss) => Box::new(*loss),
            Self::Blackbox(layer, goal) => Box::new(LayerLoss {
                layer: *layer,
                goal: *goal,
            }),
            Self::Perturbed(layer, goal) => Box::new(LayerLoss {
                layer: layer.clone(),
                goal: *goal,
            }),
            Self::Implicit(layer, goal) => Box::new(LayerLoss {
                layer: layer.build(),
                goal: *goal,
            }),
            Self::Regularized(layer, goal) => Box::new(LayerLoss {
                layer: *layer,
                goal: *goal,
            }),
            Self::RegularizedFy(loss) => Box::new(*loss),
            Self::Cave(loss) => Box::new(loss.build(oracle)?),
            Self::Lava(loss) => Box::new(loss.build(data, oracle, observer)?),
        })
    }

    /// The member of the cost-sensitive family that this is, if it is one.
    pub fn cos(&self) -> Option<&CosSpec> {
        if let Self::Cos(cos) = self {
            Some(cos)
        } else {
            None
        }
    }

    /// Whether training asks for decisions, so that it matters how questions are answered.
    pub fn calls_solver(&self) -> bool {
        !matches!(self, Self::Cos(_) | Self::Cave(_) | Self::Lava(_))
    }

    /// How instances are weighted by the regret of a baseline.
    pub fn weighting(&self) -> InstanceWeighting {
        self.cos()
            .map_or(InstanceWeighting::Equal, |cos| cos.weighting)
    }

    /// Whether the loss can be zero although there is regret, in a way that upsets instance costs.
    pub fn can_vanish(&self) -> bool {
        self.cos()
            .is_some_and(|cos| matches!(cos.side, ErrorSide::Sensitive(_)))
    }

    /// One or more of every kind, for tests that all losses must pass.
    pub fn examples() -> Vec<Self> {
        let others = [
            "SPO+",
            "PFYL",
            "PFYL(mul,samples=4,sigma=0.5)",
            "MAP",
            "MAP_c",
            "NCE",
            "NCE_c",
            "LTR(point)",
            "LTR(pair)",
            "LTR(list)",
            "PG",
            "PG(central,sigma=0.5)",
            "DBB",
            "DBB(lambda=2,distance)",
            "NID",
            "NID(distance)",
            "DPO",
            "DPO(mul,plain)",
            "I-MLE(samples=3)",
            "I-MLE(central,samples=2,distance)",
            "AI-MLE(samples=3)",
            "RFW",
            "RFY",
            "CaVE",
            "CaVE(inner)",
            "CaVE(inner,steps=2)",
            "CaVE(hybrid,ratio=0.5)",
            "CaVE+",
            "CaVE+(hybrid)",
            "LAVA",
        ];
        let built = |name: &&&str| cfg!(feature = "clarabel") || !name.starts_with("CaVE+");
        let others = others
            .iter()
            .filter(built)
            .filter_map(|name| name.parse().ok());
        CosSpec::examples()
            .into_iter()
            .map(Self::Cos)
            .chain(others)
            .collect()
    }

    /// The loss of this name with these options.
    fn parse_name(name: &str, options: &mut LossOptions) -> Result<Option<Self>> {
        if let Some(loss) = Contrastive::parse_name(name) {
            return Ok(Some(Self::Contrastive(loss)));
        }
        Ok(Some(match name.to_ascii_uppercase().as_str() {
            "SPO+" => Self::SpoPlus,
            "PFYL" => Self::Pfyl(Pfyl::read(options)?),
            "LTR" => Self::Ranking(Ranking::read(options)?),
            "PG" => Self::PerturbationGradient(PerturbationGradient::read(options)?),
            "DBB" => Self::Blackbox(
                Blackbox::read_interpolated(options)?,
                LayerObjective::read(options),
            ),
            "NID" => Self::Blackbox(Blackbox::NegativeIdentity, LayerObjective::read(options)),
            "DPO" => Self::Perturbed(
                PerturbedOptimizer::read(options)?,
                LayerObjective::read(options),
            ),
            "I-MLE" | "IMLE" => Self::Implicit(
                ImplicitMle::read(options, false)?,
                LayerObjective::read(options),
            ),
            "AI-MLE" | "AIMLE" => Self::Implicit(
                ImplicitMle::read(options, true)?,
                LayerObjective::read(options),
            ),
            "RFW" => Self::Regularized(FrankWolfe::read(options)?, LayerObjective::read(options)),
            "RFY" => Self::RegularizedFy(FrankWolfe::read(options)?),
            "CAVE" => Self::Cave(Cave::read(options, false)?),
            "CAVE+" => Self::Cave(Cave::read(options, true)?),
            "LAVA" => Self::Lava(LavaSpec::read(options)?),
            _ => return Ok(None),
        }))
    }
}

impl fmt::Display for LossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cos(cos) => cos.fmt(f),
            Self::SpoPlus => f.write_str("SPO+"),
            Self::Pfyl(loss) => loss.fmt(f),
            Self::Contrastive(loss) => loss.fmt(f),
            Self::Ranking(loss) => loss.fmt(f),
            Self::PerturbationGradient(loss) => loss.fmt(f),
            Self::Blackbox(layer, goal) => f.write_str(&layer.label(*goal)),
            Self::Perturbed(layer, goal) => f.write_str(&layer.label(*goal)),
            Self::Implicit(layer, goal) => f.write_str(&layer.label(*goal)),
            Self::Regularized(layer, goal) => f.write_str(&layer.layer_name(*goal)),
            Self::RegularizedFy(loss) => loss.fmt(f),
            Self::Cave(loss) => loss.fmt(f),
            Self::Lava(loss) => loss.fmt(f),
        }
    }
}

impl FromStr for LossSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, mut options) = LossOptions::of(text);
        if ["MSE", "MAE"].contains(&name.to_ascii_uppercase().as_str()) {
            return text.parse().map(Self::Cos);
        }
        let spec = Self::parse_name(&name, &mut options)?;
        let spec = spec.ok_or_else(|| Error::unknown("loss", text, &Self::EXAMPLES))?;
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

    #[test]
    fn every_example_reads_back_as_it_was_written() {
        let examples = LossSpec::examples();
        assert_eq!(
            examples.len(),
            12 + if cfg!(feature = "clarabel") { 30 } else { 28 },
            "an example has a label that cannot be read"
        );
        for example in examples {
            assert_eq!(example.to_string().parse::<LossSpec>().unwrap(), example);
        }
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
