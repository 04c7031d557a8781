//! RFW (regularized Frank–Wolfe) and RFY (regularized Fenchel–Young): decisions regularized by a
//! quadratic term, computed by the Frank–Wolfe method.
//!
//! ĉ are the predicted costs, x* is the label, conv X the convex hull of the decisions.
//!
//! ```text
//! μ(ĉ) = argmin over conv X of  ĉ·μ + Ω(μ),   Ω(μ) = λ/2 ‖μ‖²
//! RFW: the decision layer μ(ĉ); a gradient g with respect to μ becomes −P g/λ, P the projection
//!      on the span of differences between the decisions that μ combines
//! RFY: the Fenchel–Young loss Ω(x*) − Ω(μ) + ĉ·(x* − μ), gradient x* − μ
//! ```
//!
//! μ is a convex combination of decisions. Each step solves once for the decision that is cheapest
//! under ĉ + λμ and steps toward it, or away from the most expensive decision in the combination,
//! whichever has the larger gap (away steps: Guélat and Marcotte 1986), by exact line search. The
//! method stops when the Frank–Wolfe gap is at most `tol`.
//!
//! Source: Blondel, Martins and Niculae, "Learning with Fenchel–Young losses" (2020); the layer:
//! Dalle, Baty, Bouvier and Parmentier (2022). Solves per evaluation: as many as steps, typically
//! 10 to 100. RFY needs the labels, but no true costs. Use RFY in place of PFYL when gradients
//! without noise are worth more solves; λ should be of the order of the costs.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // μ = (1/4, 3/4, 0): ĉ + 2μ is equal in its first two entries.
//! let close = |a: f64, b: f64| (a - b).abs() < 1e-3;
//! let loss = "RFY(lambda=2)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert!(close(loss.value, 1.0 - (1.0 / 16.0 + 9.0 / 16.0) + 2.0 - (0.5 + 0.75)));
//! assert!(close(loss.gradient[0], 0.75) && close(loss.gradient[1], -0.75));
//! let loss = "RFW(lambda=2)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert!(close(loss.value, 0.25 + 1.5 - 1.0));
//! assert!(close(loss.gradient[0], 0.25) && close(loss.gradient[1], -0.25));
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::layer::{DecisionCriterion, DecisionLayer, LayerDefinition, LayerLoss, LayerObjective};
use super::name_options::{LossNameBuilder, LossOptions};
use super::registry::LossFamily;
use super::{Loss, LossDefinition, LossInput, LossProperties, buffer};
use crate::decision::Decision;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// The regularized problem and how closely it is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrankWolfe {
    /// λ, the weight of the quadratic term.
    pub lambda: f64,
    /// Frank–Wolfe gap at which the search stops.
    pub tolerance: f64,
    /// Whether away steps are used.
    pub away: bool,
    /// Maximum number of steps.
    pub steps: usize,
}

impl Default for FrankWolfe {
    fn default() -> Self {
        Self {
            lambda: 1.0,
            tolerance: 1e-6,
            away: true,
            steps: 1000,
        }
    }
}

/// Directions with a smaller norm are linearly dependent on the earlier ones. Untuned: above
/// rounding error, below any difference of two decisions.
const MIN_DIRECTION_NORM: f64 = 1e-9;

/// A convex combination of decisions.
struct ConvexCombination {
    /// The active set: decisions with positive weights, which sum to 1.
    active_set: Vec<(Decision, f64)>,
    /// The combination μ itself, dense.
    mu: buffer::ScratchBuffer,
    /// The mean of the fixed costs of the decisions, which do not depend on the predicted costs.
    fixed_cost: f64,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["RFW", "RFY"],
    usage: &["RFW or RFY"],
    parse: |name, options| {
        let layer = FrankWolfe::read(options)?;
        Ok(match name {
            "RFY" => layer.into(),
            _ => {
                let objective = LayerObjective::read(options);
                LayerLoss { layer, objective }.into()
            }
        })
    },
    examples: &["RFW", "RFY"],
};

impl FrankWolfe {
    fn read(options: &mut LossOptions) -> Result<Self> {
        let default = Self::default();
        Ok(Self {
            lambda: options.positive("lambda", default.lambda)?,
            tolerance: options.positive("tol", default.tolerance)?,
            steps: options.count("steps", default.steps)?,
            away: !options.flag("plain"),
        })
    }

    fn name_options(&self) -> LossNameBuilder {
        let default = Self::default();
        LossNameBuilder::default()
            .number("lambda", self.lambda, default.lambda)
            .number("tol", self.tolerance, default.tolerance)
            .number("steps", self.steps, default.steps)
            .flag("plain", !self.away)
    }

    /// The regularized decision.
    fn solve(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
    ) -> Result<ConvexCombination> {
        let mut combination = ConvexCombination::of(
            input.minimize(worker, input.prediction)?.decision.clone(),
            input.prediction.len(),
        );
        let mut objective_gradient = buffer::zeros(input.prediction.len());
        for _ in 0..self.steps {
            for ((g, p), m) in objective_gradient
                .iter_mut()
                .zip(input.prediction)
                .zip(combination.mu.iter())
            {
                *g = p + self.lambda * m;
            }
            let current = dot(&objective_gradient, &combination.mu) + combination.fixed_cost;
            let cheapest = input.minimize(worker, &objective_gradient)?;
            let gap = current - cheapest.objective;
            if gap <= self.tolerance {
                break;
            }
            match combination
                .most_expensive(&objective_gradient)
                .filter(|(_, cost)| self.away && cost - current > gap)
            {
                Some((index, cost)) => combination.step_away(index, cost - current, self.lambda),
                None => combination.step_toward(&cheapest.decision, gap, self.lambda),
            }
        }
        Ok(combination)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl ConvexCombination {
    fn of(decision: Decision, num_costs: usize) -> Self {
        let mut mu = buffer::zeros(num_costs);
        decision.write_dense(&mut mu);
        Self {
            fixed_cost: decision.fixed(),
            mu,
            active_set: vec![(decision, 1.0)],
        }
    }

    /// The decision of the active set with the highest cost.
    fn most_expensive(&self, costs: &[f64]) -> Option<(usize, f64)> {
        let costs_of_decisions = self
            .active_set
            .iter()
            .enumerate()
            .map(|(index, (x, _))| (index, x.dot(costs)));
        costs_of_decisions.reduce(|max, next| if next.1 > max.1 { next } else { max })
    }

    /// Squared distance of the combination to a decision.
    fn squared_distance(&self, decision: &Decision) -> f64 {
        let squared_norm = dot(&self.mu, &self.mu);
        decision
            .iter()
            .map(|(j, x)| x * (x - 2.0 * self.mu[j]))
            .sum::<f64>()
            + squared_norm
    }

    fn step_toward(&mut self, decision: &Decision, gap: f64, lambda: f64) {
        let step = (gap / (lambda * self.squared_distance(decision))).min(1.0);
        self.scale_weights(1.0 - step);
        match self
            .active_set
            .iter_mut()
            .find(|(active, _)| active == decision)
        {
            Some((_, weight)) => *weight += step,
            None => self.active_set.push((decision.clone(), step)),
        }
        decision.add_to(step, &mut self.mu);
        self.fixed_cost += step * decision.fixed();
        self.active_set.retain(|(_, weight)| *weight > 0.0);
    }

    fn step_away(&mut self, index: usize, gap: f64, lambda: f64) {
        let weight = self.active_set[index].1;
        let max = weight / (1.0 - weight);
        let exact_step = gap / (lambda * self.squared_distance(&self.active_set[index].0));
        let step = exact_step.min(max);
        self.scale_weights(1.0 + step);
        let (decision, weight) = &mut self.active_set[index];
        *weight -= step;
        decision.add_to(-step, &mut self.mu);
        self.fixed_cost -= step * decision.fixed();
        if exact_step >= max {
            self.active_set.remove(index);
        }
    }

    /// Scales μ and all weights.
    fn scale_weights(&mut self, factor: f64) {
        self.mu.iter_mut().for_each(|m| *m *= factor);
        self.active_set
            .iter_mut()
            .for_each(|(_, weight)| *weight *= factor);
        self.fixed_cost *= factor;
    }

    /// Projects a vector on the span of differences between the decisions of the active set.
    fn project(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut directions: Vec<buffer::ScratchBuffer> = Vec::new();
        for (decision, _) in &self.active_set[1..] {
            let mut direction = buffer::zeros(vector.len());
            decision.write_dense(&mut direction);
            self.active_set[0].0.add_to(-1.0, &mut direction);
            // Gram–Schmidt twice: rounding errors remain after the first pass.
            for earlier in directions.iter().chain(&directions) {
                let coefficient = dot(&direction, earlier);
                direction
                    .iter_mut()
                    .zip(earlier.iter())
                    .for_each(|(d, e)| *d -= coefficient * e);
            }
            let norm = dot(&direction, &direction).sqrt();
            if norm > MIN_DIRECTION_NORM {
                direction.iter_mut().for_each(|d| *d /= norm);
                let coefficient = dot(&direction, vector);
                out.iter_mut()
                    .zip(direction.iter())
                    .for_each(|(o, d)| *o += coefficient * d);
                directions.push(direction);
            }
        }
    }
}

impl fmt::Display for FrankWolfe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_options().with_name("RFY"))
    }
}

/// RFY.
impl LossDefinition for FrankWolfe {
    fn properties(&self) -> LossProperties {
        LossProperties::CALLS_SOLVER
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

/// RFW.
impl LayerDefinition for FrankWolfe {
    type Layer = Self;

    fn loss_name(&self, objective: LayerObjective) -> String {
        objective.add_to_name(self.name_options()).with_name("RFW")
    }

    fn build_layer(&self) -> Self {
        *self
    }
}

/// RFY.
impl Loss for FrankWolfe {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let combination = self.solve(input, worker)?;
        let label_squared_norm: f64 = input.label.iter().map(|(_, x)| x * x).sum();
        let omega = |square: f64| self.lambda / 2.0 * square;
        let difference = input.label.dot(input.prediction)
            - dot(input.prediction, &combination.mu)
            - combination.fixed_cost;
        gradient
            .iter_mut()
            .zip(combination.mu.iter())
            .for_each(|(g, m)| *g = -m);
        input.label.add_to(1.0, gradient);
        Ok(omega(label_squared_norm) - omega(dot(&combination.mu, &combination.mu)) + difference)
    }
}

/// RFW.
impl DecisionLayer for FrankWolfe {
    fn decide(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        criterion: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let combination = self.solve(input, worker)?;
        let mut upstream = buffer::zeros(gradient.len());
        let value = criterion(&combination.mu, &mut upstream);
        combination.project(&upstream, gradient);
        gradient.iter_mut().for_each(|g| *g /= -self.lambda);
        Ok(value)
    }
}
