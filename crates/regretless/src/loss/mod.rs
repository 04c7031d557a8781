//! Losses: how wrong a prediction is, and in which direction to change it.
//!
//! Every loss is a function of one instance and one prediction that returns value and gradient
//! together, in closed form. Adding one is one file here, one variant of [`LossSpec`], and one line in
//! [`LossSpec::examples`], which puts it under the gradient, scale, determinism and training tests.

use std::fmt;
use std::str::FromStr;

use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::Labelled;
use crate::oracle::{Asker, Oracle};
use crate::random::{Purpose, Stream};
use crate::solve::Solution;
use crate::watch::Watch;

pub(crate) mod buffer;
pub mod cave;
pub mod contrastive;
pub mod cos;
pub mod frank_wolfe;
mod gradient;
pub mod lava;
pub mod layer;
pub mod noise;
mod options;
pub mod perturbation_gradient;
pub mod pfyl;
pub mod ranking;
pub mod spo_plus;

pub use cave::Cave;
pub use contrastive::Contrastive;
pub use cos::{BaseError, Cos, Side, Weighting};
pub use frank_wolfe::FrankWolfe;
pub use gradient::{Entries, OfDecisions, Sink};
pub use lava::Lava;
pub use layer::blackbox::Blackbox;
pub use layer::implicit::ImplicitMle;
pub use layer::perturbed::PerturbedOptimizer;
pub use layer::{Goal, Judged, Layer};
pub use perturbation_gradient::PerturbationGradient;
pub use pfyl::Pfyl;
pub use ranking::Ranking;
pub use spo_plus::SpoPlus;

use options::Options;

/// Which noise a perturbed method draws: the same on every thread, another in every epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Draw {
    /// Seed of the training.
    pub seed: u64,
    /// Epoch; 0 wherever nothing is trained, so that epochs are judged with the same noise.
    pub epoch: usize,
}

/// One instance and what is predicted for it; costs are to be minimised.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Row of the table.
    pub instance: usize,
    /// True costs.
    pub costs: &'a [f64],
    /// Predicted costs.
    pub prediction: &'a [f64],
    /// Best decision under the true costs.
    pub best: &'a Decision,
    /// Which noise is drawn.
    pub draw: Draw,
}

impl Query<'_> {
    /// Asks for the best decision under some costs; the asker keeps the answer until the next question.
    ///
    /// # Errors
    /// When there is none; the error names the instance.
    pub fn ask<'k>(&self, asker: &'k mut Asker<'_>, costs: &[f64]) -> Result<&'k Solution> {
        asker.ask(costs).map_err(|failure| Error::Solver { instance: self.instance, failure })
    }

    /// The random stream of this instance.
    fn stream(&self) -> Stream {
        Stream::new(Purpose::Loss, self.draw.seed, [self.draw.epoch as u64, self.instance as u64])
    }
}

/// Value and gradient of one instance.
pub trait Loss: Send + Sync {
    /// The loss of a prediction; writes its gradient with respect to the predicted costs.
    ///
    /// # Errors
    /// When a solve that the loss needs has no answer.
    fn evaluate(&self, query: &Query<'_>, asker: &mut Asker<'_>, gradient: &mut [f64]) -> Result<f64>;

    /// The same, listing the entries of the gradient.
    ///
    /// # Errors
    /// As above.
    fn evaluate_sparse(&self, query: &Query<'_>, asker: &mut Asker<'_>, gradient: &mut Entries) -> Result<f64> {
        let mut row = buffer::zeros(query.prediction.len());
        let value = self.evaluate(query, asker, &mut row)?;
        gradient.clear();
        gradient.list(&row);
        Ok(value)
    }

    /// About how many entries the gradient has where a decision has `chosen`, if it can do without a whole row.
    fn entries(&self, _chosen: usize) -> Option<usize> {
        None
    }

    /// The factor that brings gradients to the order of 1, whatever the number of costs.
    ///
    /// Adam forgets gradients smaller than its ε; under scale-invariant losses they shrink with the
    /// number of costs. Training minimises the loss times this factor and reports the loss itself.
    fn rescaling(&self, _costs: usize) -> f64 {
        1.0
    }

    /// The loss as a sum over costs, if it is one, so that it can be fused with a linear predictor.
    fn separable(&self) -> Option<Separable<'_>> {
        None
    }

    /// Whether an evaluation asks the oracle, so that a batch is worth spreading over threads.
    fn solves(&self) -> bool {
        false
    }

    /// Whether the loss compares with known decisions ([`Asker::known`]). Training then keeps a pool and,
    /// before each step, lets the best decisions under the predictions of the batch join it.
    fn compares(&self) -> bool {
        false
    }

    /// All instances of a batch were evaluated, for training or only to judge.
    fn batch_done(&self, _training: bool) {}

    /// What the loss has learned from the batches so far; empty for all but adaptive ones.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Goes on from such a state.
    fn restore(&self, _state: &[f64]) {}
}

/// A loss that is a sum over costs, after normalisation or without.
#[derive(Debug, Clone, Copy)]
pub struct Separable<'a> {
    /// Squared or absolute.
    pub error: BaseError,
    /// Which direction of error counts.
    pub side: &'a Side,
    /// Whether vectors are brought to unit length first.
    pub scale_invariant: bool,
    /// Ends of cost ranges, one row per instance.
    pub limits: Option<&'a Matrix>,
}

/// A loss in writing, by the label the literature prints.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LossSpec {
    /// The cost-sensitive family.
    Cos(Cos),
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
    Blackbox(Blackbox, Goal),
    /// Mean decisions under normal noise.
    Perturbed(PerturbedOptimizer, Goal),
    /// Mean decisions under Sum-of-Gamma noise.
    Implicit(ImplicitMle, Goal),
    /// Decisions smoothed by a quadratic term.
    Regularised(FrankWolfe, Goal),
    /// The Fenchel–Young loss of such decisions.
    RegularisedFy(FrankWolfe),
    /// Costs aligned with the cone of the best decision.
    Cave(Cave),
    /// The best vertex against those next to it.
    Lava(Lava),
}

impl LossSpec {
    /// How labels look, for messages.
    pub const CHOICES: [&'static str; 21] = [
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

    /// The loss itself, for one table. What it needs beyond the best decisions is computed here, once.
    ///
    /// # Errors
    /// When the problem cannot give what the loss needs, or the user interrupts.
    pub fn build(&self, data: &Labelled, oracle: &Oracle, watch: &dyn Watch) -> Result<Box<dyn Loss>> {
        Ok(match self {
            Self::Cos(cos) => Box::new(cos.build(data, oracle, watch)?),
            Self::SpoPlus => Box::new(SpoPlus),
            Self::Pfyl(loss) => Box::new(loss.clone()),
            Self::Contrastive(loss) => Box::new(*loss),
            Self::Ranking(loss) => Box::new(*loss),
            Self::PerturbationGradient(loss) => Box::new(*loss),
            Self::Blackbox(layer, goal) => Box::new(Judged { layer: *layer, goal: *goal }),
            Self::Perturbed(layer, goal) => Box::new(Judged { layer: layer.clone(), goal: *goal }),
            Self::Implicit(layer, goal) => Box::new(Judged { layer: layer.build(), goal: *goal }),
            Self::Regularised(layer, goal) => Box::new(Judged { layer: *layer, goal: *goal }),
            Self::RegularisedFy(loss) => Box::new(*loss),
            Self::Cave(loss) => Box::new(loss.build(oracle)?),
            Self::Lava(loss) => Box::new(loss.build(data, oracle, watch)?),
        })
    }

    /// The member of the cost-sensitive family that this is, if it is one.
    pub fn cos(&self) -> Option<&Cos> {
        if let Self::Cos(cos) = self { Some(cos) } else { None }
    }

    /// Whether training asks for decisions, so that it matters how questions are answered.
    pub fn asks(&self) -> bool {
        !matches!(self, Self::Cos(_) | Self::Cave(_) | Self::Lava(_))
    }

    /// How instances are weighted by the regret of a baseline.
    pub fn weighting(&self) -> Weighting {
        self.cos().map_or(Weighting::Equal, |cos| cos.weighting)
    }

    /// Whether the loss can be zero although there is regret, in a way that upsets instance costs.
    pub fn may_vanish(&self) -> bool {
        self.cos().is_some_and(|cos| matches!(cos.side, Side::Sensitive(_)))
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
            "CaVE(hybrid,ratio=0.5)",
            "CaVE+",
            "CaVE+(hybrid)",
            "LAVA",
        ];
        let others = others.iter().filter_map(|label| label.parse().ok());
        Cos::examples().into_iter().map(Self::Cos).chain(others).collect()
    }

    /// The loss of this name with these options.
    fn named(name: &str, options: &mut Options) -> Result<Option<Self>> {
        if let Some(loss) = Contrastive::named(name) {
            return Ok(Some(Self::Contrastive(loss)));
        }
        Ok(Some(match name.to_ascii_uppercase().as_str() {
            "SPO+" => Self::SpoPlus,
            "PFYL" => Self::Pfyl(Pfyl::read(options)?),
            "LTR" => Self::Ranking(Ranking::read(options)?),
            "PG" => Self::PerturbationGradient(PerturbationGradient::read(options)?),
            "DBB" => Self::Blackbox(Blackbox::read_interpolated(options)?, Goal::read(options)),
            "NID" => Self::Blackbox(Blackbox::NegativeIdentity, Goal::read(options)),
            "DPO" => Self::Perturbed(PerturbedOptimizer::read(options)?, Goal::read(options)),
            "I-MLE" | "IMLE" => Self::Implicit(ImplicitMle::read(options, false)?, Goal::read(options)),
            "AI-MLE" | "AIMLE" => Self::Implicit(ImplicitMle::read(options, true)?, Goal::read(options)),
            "RFW" => Self::Regularised(FrankWolfe::read(options)?, Goal::read(options)),
            "RFY" => Self::RegularisedFy(FrankWolfe::read(options)?),
            "CAVE" => Self::Cave(Cave::read(options, false)?),
            "CAVE+" => Self::Cave(Cave::read(options, true)?),
            "LAVA" => Self::Lava(Lava::read(options)?),
            _ => return Ok(None),
        }))
    }
}

/// The known decisions, of which a loss that compares needs at least one.
fn known<'a>(asker: &Asker<'a>, label: impl Fn() -> String) -> Result<&'a [Decision]> {
    let pool = asker.known();
    if pool.is_empty() { Err(Error::EmptyPool { method: label() }) } else { Ok(pool) }
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
            Self::Regularised(layer, goal) => f.write_str(&layer.layer_label(*goal)),
            Self::RegularisedFy(loss) => loss.fmt(f),
            Self::Cave(loss) => loss.fmt(f),
            Self::Lava(loss) => loss.fmt(f),
        }
    }
}

impl FromStr for LossSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, mut options) = Options::of(text);
        if ["MSE", "MAE"].contains(&name.to_ascii_uppercase().as_str()) {
            return text.parse().map(Self::Cos);
        }
        let spec = Self::named(&name, &mut options)?;
        let spec = spec.ok_or_else(|| Error::unknown("loss", text, &Self::CHOICES))?;
        options.end()?;
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
        assert_eq!(examples.len(), 12 + 28, "an example has a label that cannot be read");
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
        for (label, word) in [("LTR", "LTR(pair)"), ("DBB(lambda=0)", "above 0"), ("NID(sigma=1)", "distance")] {
            let message = label.parse::<LossSpec>().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
