//! RFW and RFY: decisions smoothed by a quadratic term, found by the method of Frank and Wolfe.
//!
//! ```text
//! μ(ĉ) = argmin over conv X of  ĉ·μ + Ω(μ),   Ω(μ) = λ/2 ‖μ‖²
//! RFW: the decision layer μ(ĉ); a gradient g with respect to μ goes back as −P g/λ, P the projection on the
//!      directions between the decisions that make up μ
//! RFY: the Fenchel–Young loss Ω(x*) − Ω(μ) + ĉ·(x* − μ), gradient x* − μ
//! ```
//!
//! μ is a mean of decisions. Each step solves once for the decision that is cheapest under ĉ + λμ
//! and moves towards it, or away from the dearest decision in use, whichever promises more (Guélat
//! and Marcotte 1986), by exact line search. It stops when no decision promises more than `tol`.
//!
//! Source: Blondel, Martins and Niculae, "Learning with Fenchel–Young losses" (2020); the layer:
//! Dalle, Baty, Bouvier and Parmentier (2022). Solves per evaluation: as many as steps, typically
//! 10 to 100. RFY needs the best decisions, but no true costs. Use RFY in place of PFYL where
//! gradients without noise are worth more solves; λ should be of the size of the costs.

use std::fmt;

use super::layer::{DecisionCriterion, DecisionLayer, LayerObjective};
use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossInput, buffer};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;

/// The regularised problem and how closely it is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrankWolfe {
    /// λ, the weight of the quadratic term.
    pub lambda: f64,
    /// Gap at which the search ends.
    pub tolerance: f64,
    /// Whether steps may lead away from a decision.
    pub away: bool,
    /// Most steps.
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

/// A mean of decisions.
struct ConvexCombination {
    /// Decisions and their weights, which sum to 1.
    parts: Vec<(Decision, f64)>,
    /// The mean itself, dense.
    mean: buffer::ScratchBuffer,
    /// Its cost beside the predicted ones.
    fixed: f64,
}

impl FrankWolfe {
    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        let usual = Self::default();
        Ok(Self {
            lambda: options.positive("lambda", usual.lambda)?,
            tolerance: options.positive("tol", usual.tolerance)?,
            steps: options.count("steps", usual.steps)?,
            away: !options.flag("plain"),
        })
    }

    pub(super) fn label(&self) -> LossNameBuilder {
        let usual = Self::default();
        let name = LossNameBuilder::default().number("lambda", self.lambda, usual.lambda);
        let name = name.number("tol", self.tolerance, usual.tolerance).number(
            "steps",
            self.steps,
            usual.steps,
        );
        name.flag("plain", !self.away)
    }

    /// The regularised decision.
    fn solve(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
    ) -> Result<ConvexCombination> {
        let mut blend = ConvexCombination::of(
            query.solve(worker, query.prediction)?.decision.clone(),
            query.prediction.len(),
        );
        let mut slope = buffer::zeros(query.prediction.len());
        for _ in 0..self.steps {
            for ((g, p), m) in slope
                .iter_mut()
                .zip(query.prediction)
                .zip(blend.mean.iter())
            {
                *g = p + self.lambda * m;
            }
            let here = dot(&slope, &blend.mean) + blend.fixed;
            let cheapest = query.solve(worker, &slope)?;
            let gap = here - cheapest.objective;
            if gap <= self.tolerance {
                break;
            }
            match blend
                .most_expensive(&slope)
                .filter(|(_, cost)| self.away && cost - here > gap)
            {
                Some((place, cost)) => blend.step_away(place, cost - here, self.lambda),
                None => blend.step_toward(&cheapest.decision, gap, self.lambda),
            }
        }
        Ok(blend)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl ConvexCombination {
    fn of(decision: Decision, width: usize) -> Self {
        let mut mean = buffer::zeros(width);
        decision.write_dense(&mut mean);
        Self {
            fixed: decision.fixed(),
            mean,
            parts: vec![(decision, 1.0)],
        }
    }

    /// The part with the highest cost.
    fn most_expensive(&self, costs: &[f64]) -> Option<(usize, f64)> {
        let priced = self
            .parts
            .iter()
            .enumerate()
            .map(|(place, (x, _))| (place, x.dot(costs)));
        priced.reduce(|max, next| if next.1 > max.1 { next } else { max })
    }

    /// Squared distance of the mean to a decision.
    fn distance(&self, decision: &Decision) -> f64 {
        let square = dot(&self.mean, &self.mean);
        decision
            .iter()
            .map(|(j, x)| x * (x - 2.0 * self.mean[j]))
            .sum::<f64>()
            + square
    }

    fn step_toward(&mut self, decision: &Decision, promise: f64, lambda: f64) {
        let step = (promise / (lambda * self.distance(decision))).min(1.0);
        self.scale_weights(1.0 - step);
        match self.parts.iter_mut().find(|(part, _)| part == decision) {
            Some((_, weight)) => *weight += step,
            None => self.parts.push((decision.clone(), step)),
        }
        decision.add_to(step, &mut self.mean);
        self.fixed += step * decision.fixed();
        self.parts.retain(|(_, weight)| *weight > 0.0);
    }

    fn step_away(&mut self, place: usize, promise: f64, lambda: f64) {
        let weight = self.parts[place].1;
        let max = weight / (1.0 - weight);
        let best = promise / (lambda * self.distance(&self.parts[place].0));
        let step = best.min(max);
        self.scale_weights(1.0 + step);
        let (decision, weight) = &mut self.parts[place];
        *weight -= step;
        decision.add_to(-step, &mut self.mean);
        self.fixed -= step * decision.fixed();
        if best >= max {
            self.parts.remove(place);
        }
    }

    /// Scales the mean and all weights.
    fn scale_weights(&mut self, factor: f64) {
        self.mean.iter_mut().for_each(|m| *m *= factor);
        self.parts
            .iter_mut()
            .for_each(|(_, weight)| *weight *= factor);
        self.fixed *= factor;
    }

    /// Projects a vector on the span of differences between the parts.
    fn project(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut directions: Vec<buffer::ScratchBuffer> = Vec::new();
        for (decision, _) in &self.parts[1..] {
            let mut direction = buffer::zeros(vector.len());
            decision.write_dense(&mut direction);
            self.parts[0].0.add_to(-1.0, &mut direction);
            // Twice, since rounding leaves a trace of the earlier directions.
            for earlier in directions.iter().chain(&directions) {
                let along = dot(&direction, earlier);
                direction
                    .iter_mut()
                    .zip(earlier.iter())
                    .for_each(|(d, e)| *d -= along * e);
            }
            let length = dot(&direction, &direction).sqrt();
            if length > 1e-9 {
                direction.iter_mut().for_each(|d| *d /= length);
                let along = dot(&direction, vector);
                out.iter_mut()
                    .zip(direction.iter())
                    .for_each(|(o, d)| *o += along * d);
                directions.push(direction);
            }
        }
    }
}

impl fmt::Display for FrankWolfe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label().with_name("RFY"))
    }
}

/// RFY.
impl Loss for FrankWolfe {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let blend = self.solve(query, worker)?;
        let best_square: f64 = query.best.iter().map(|(_, x)| x * x).sum();
        let omega = |square: f64| self.lambda / 2.0 * square;
        let difference =
            query.best.dot(query.prediction) - dot(query.prediction, &blend.mean) - blend.fixed;
        gradient
            .iter_mut()
            .zip(blend.mean.iter())
            .for_each(|(g, m)| *g = -m);
        query.best.add_to(1.0, gradient);
        Ok(omega(best_square) - omega(dot(&blend.mean, &blend.mean)) + difference)
    }

    fn calls_solver(&self) -> bool {
        true
    }
}

/// RFW.
impl DecisionLayer for FrankWolfe {
    fn decide(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        judge: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let blend = self.solve(query, worker)?;
        let mut upstream = buffer::zeros(gradient.len());
        let value = judge(&blend.mean, &mut upstream);
        blend.project(&upstream, gradient);
        gradient.iter_mut().for_each(|g| *g /= -self.lambda);
        Ok(value)
    }
}

impl FrankWolfe {
    /// The label of the layer.
    pub(super) fn layer_name(&self, goal: LayerObjective) -> String {
        goal.write(self.label()).with_name("RFW")
    }
}
