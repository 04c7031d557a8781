//! Golden files of losses, with values that released implementations computed.
//!
//! A file states a problem, which the solvers of the crate solve, and the inputs of the losses.
//! Costs and predictions are converted to minimization form: negated if the problem is a
//! maximization.

use std::sync::Arc;

use regretless::Decision;
use regretless::loss::layer::DecisionLayer;
use regretless::loss::noise::NoiseSource;
use regretless::loss::{Loss, LossInput, NoiseKey};
use regretless::oracle::{CacheAction, Oracle, OracleWorker, TrainingOracle};
use regretless::problem::{
    DecisionGeometry, GridPath, KindCapabilities, Knapsack, ProblemKind, Sense, Tsp,
};
use regretless::solve::cone::NormalCone;
use regretless::solve::{SearchLimits, Solver};
use serde_json::Value;

use crate::tests::common::{assert_close, golden, numbers, rows, subtour_sets};

/// A golden file of losses and its inputs in minimization form.
pub struct GoldenCase {
    pub name: &'static str,
    pub file: Value,
    pub oracle: Oracle,
    pub sign: f64,
    pub costs: Vec<Vec<f64>>,
    pub labels: Vec<Decision>,
    pub pool: Vec<Decision>,
}

/// A loss of decisions that a layer must return unchanged; any number works.
const CONSTANT_LOSS: f64 = 7.0;

fn decisions(value: &Value) -> Vec<Decision> {
    rows(value)
        .iter()
        .map(|x| Decision::from_dense(x))
        .collect()
}

fn problem(spec: &Value, inputs: &Value) -> Arc<dyn ProblemKind> {
    match spec["kind"].as_str().unwrap() {
        "knapsack" => {
            Arc::new(Knapsack::new(rows(&spec["weights"]), numbers(&spec["capacity"])).unwrap())
        }
        "tsp" => Arc::new(TspWithSubtours::read(
            spec["nodes"].as_u64().unwrap() as usize,
            inputs,
        )),
        _ => Arc::new(GridPath::new(4, 5).unwrap()),
    }
}

/// A TSP whose normal cones have the binding subtour constraints that the solver of the released
/// implementation had added by the end.
#[derive(Debug)]
struct TspWithSubtours {
    tsp: Tsp,
    /// Node sets of the constraints that bind at a tour.
    subtours: Vec<(Decision, Vec<Vec<usize>>)>,
}

impl TspWithSubtours {
    fn read(nodes: usize, inputs: &Value) -> Self {
        let normals = inputs["tight_constraint_normals"]
            .as_array()
            .into_iter()
            .flatten();
        let subtours = normals.map(|normals| subtour_sets(nodes, &rows(normals)));
        Self {
            tsp: Tsp::new(nodes).unwrap(),
            subtours: decisions(&inputs["true_sol"])
                .into_iter()
                .zip(subtours)
                .collect(),
        }
    }
}

impl ProblemKind for TspWithSubtours {
    fn name(&self) -> String {
        self.tsp.name()
    }

    fn sense(&self) -> Sense {
        self.tsp.sense()
    }

    fn num_costs(&self) -> usize {
        self.tsp.num_costs()
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        self.tsp.solver(limits)
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.tsp.check(decision)
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            geometry: self,
            ..KindCapabilities::NONE
        }
    }
}

impl DecisionGeometry for TspWithSubtours {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let (_, subtours) = self.subtours.iter().find(|(tour, _)| tour == decision)?;
        Some(self.tsp.cone_with_subtours(decision, subtours))
    }
}

impl GoldenCase {
    /// All golden files of losses.
    pub fn all() -> Vec<Self> {
        let names = ["losses_sp4x5_min", "losses_ks10_max", "losses_tsp7_min"];
        names.into_iter().map(Self::read).collect()
    }

    /// All golden files of CaVE, which also hold normal cones.
    pub fn all_cave() -> Vec<Self> {
        ["cave_sp4x5_min", "cave_ks10_max", "cave_tsp7_min"]
            .into_iter()
            .map(Self::read)
            .collect()
    }

    fn read(name: &'static str) -> Self {
        let file = golden(name);
        let sign = if file["sense"] == "max" { -1.0 } else { 1.0 };
        let inputs = &file["inputs"];
        let oracle = Oracle::new(problem(&file["problem"], inputs));
        let (labels, pool) = (
            decisions(&inputs["true_sol"]),
            inputs.get("pool").map(decisions).unwrap_or_default(),
        );
        let costs = multiplied(sign, &rows(&inputs["true_cost"]));
        Self {
            name,
            sign,
            oracle,
            costs,
            labels,
            pool,
            file,
        }
    }

    /// The golden values of a loss.
    pub fn golden(&self, loss: &str) -> &Value {
        &self.file["losses"][loss]
    }

    pub fn number(&self, loss: &str, name: &str) -> f64 {
        self.golden(loss)[name].as_f64().unwrap()
    }

    /// Predictions of a loss in minimization form; those of the file if the loss has none of its
    /// own.
    pub fn predictions(&self, loss: &str) -> Vec<Vec<f64>> {
        let predictions = &self.golden(loss)["pred"];
        multiplied(
            self.sign,
            &rows(if predictions.is_null() {
                &self.file["inputs"]["pred"]
            } else {
                predictions
            }),
        )
    }

    /// Golden noise of a loss. Additive noise is added to costs, so it is negated with them.
    pub fn noise(&self, loss: &str, multiplicative: bool) -> NoiseSource {
        let noise = &self.golden(loss)["noise"];
        if let Some(other) = noise.as_str().and_then(|text| text.strip_prefix("as ")) {
            return self.noise(other, multiplicative);
        }
        let sign = if multiplicative { 1.0 } else { self.sign };
        let instances = noise.as_array().unwrap().iter();
        NoiseSource::Supplied(
            instances
                .map(|instance| multiplied(sign, &rows(instance)).concat())
                .collect(),
        )
    }

    pub fn input<'a>(&'a self, instance: usize, prediction: &'a [f64]) -> LossInput<'a> {
        let (costs, label) = (&self.costs[instance], &self.labels[instance]);
        LossInput {
            instance,
            costs,
            prediction,
            label,
            noise: NoiseKey::default(),
        }
    }

    /// Compares values and gradients with the golden ones, which are in the sense of the user.
    pub fn check(
        &self,
        golden: &str,
        loss: &dyn Loss,
        training_oracle: &TrainingOracle<'_>,
        tolerance: f64,
    ) {
        self.check_with(golden, loss, &mut training_oracle.worker(), tolerance);
    }

    /// The same, with every solver call replaced by a lookup in the solution pool.
    pub fn check_with_lookups(
        &self,
        golden: &str,
        loss: &dyn Loss,
        training_oracle: &TrainingOracle<'_>,
    ) {
        let mut worker = training_oracle.worker();
        worker.set_cache_action(CacheAction::Lookup);
        self.check_with(golden, loss, &mut worker, 1e-8);
    }

    fn check_with(
        &self,
        golden: &str,
        loss: &dyn Loss,
        worker: &mut OracleWorker<'_>,
        tolerance: f64,
    ) {
        let context = format!("{} {golden}", self.name);
        let (mut values, mut gradients) = (Vec::new(), Vec::new());
        for (instance, prediction) in self.predictions(golden).iter().enumerate() {
            let mut gradient = vec![f64::NAN; prediction.len()];
            values.push(
                loss.evaluate(&self.input(instance, prediction), worker, &mut gradient)
                    .unwrap(),
            );
            gradients.extend(
                gradient
                    .iter()
                    .map(|g| self.sign * g / self.costs.len() as f64),
            );
        }
        let expected = self.golden(golden);
        assert_close(
            &values,
            &numbers(&expected["per_instance"]),
            tolerance,
            &context,
        );
        assert_close(
            &gradients,
            &rows(&expected["grad_of_mean"]).concat(),
            tolerance,
            &format!("{context} gradient"),
        );
    }

    /// Compares decisions and vector-Jacobian products with the golden ones.
    pub fn check_layer(&self, golden: &str, layer: &dyn DecisionLayer, tolerance: f64) {
        let context = format!("{} {golden}", self.name);
        let expected = self.golden(golden);
        let upstream = rows(&expected["upstream"]);
        let (mut decisions, mut gradients) = (Vec::new(), Vec::new());
        for (instance, prediction) in self.predictions(golden).iter().enumerate() {
            let mut gradient = vec![f64::NAN; prediction.len()];
            let mut loss_of_decision = |decision: &[f64], out: &mut [f64]| {
                decisions.extend_from_slice(decision);
                out.copy_from_slice(&upstream[instance]);
                CONSTANT_LOSS
            };
            let input = self.input(instance, prediction);
            let value = layer
                .decide(
                    &input,
                    &mut self.oracle.worker(),
                    &mut loss_of_decision,
                    &mut gradient,
                )
                .unwrap();
            assert_eq!(value, CONSTANT_LOSS, "{context}");
            gradients.extend(gradient.iter().map(|g| self.sign * g));
        }
        assert_close(
            &decisions,
            &rows(&expected["forward"]).concat(),
            1e-8,
            &context,
        );
        assert_close(
            &gradients,
            &rows(&expected["vjp"]).concat(),
            tolerance,
            &format!("{context} gradient"),
        );
    }
}

/// All numbers times a sign.
pub fn multiplied(sign: f64, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter()
        .map(|row| row.iter().map(|value| sign * value).collect())
        .collect()
}
