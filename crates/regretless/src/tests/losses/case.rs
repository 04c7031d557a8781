//! A golden file of losses: its problem with a real engine, its inputs in minimising form, its
//! checks.

use std::sync::Arc;

use regretless::Decision;
use regretless::loss::layer::DecisionLayer;
use regretless::loss::noise::NoiseSource;
use regretless::loss::{Loss, LossInput, NoiseKey};
use regretless::oracle::{CacheAction, Oracle, OracleWorker, TrainingOracle};
use regretless::problem::{GridPath, Knapsack, ProblemKind, Sense, Tsp};
use regretless::solve::cone::NormalCone;
use regretless::solve::{SearchLimits, Solver};
use serde_json::Value;

use crate::tests::common::{assert_close, golden, numbers, rings, rows};

pub struct Case {
    pub name: &'static str,
    pub file: Value,
    pub oracle: Oracle,
    pub sign: f64,
    pub costs: Vec<Vec<f64>>,
    pub best: Vec<Decision>,
    pub pool: Vec<Decision>,
}

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
        "tsp" => Arc::new(CutTours::read(
            spec["nodes"].as_u64().unwrap() as usize,
            inputs,
        )),
        _ => Arc::new(GridPath::new(4, 5).unwrap()),
    }
}

/// Tours with the rings that the released code's solver had forbidden by the end, as far as they
/// bind.
#[derive(Debug)]
struct CutTours {
    tours: Tsp,
    rings: Vec<(Decision, Vec<Vec<usize>>)>,
}

impl CutTours {
    fn read(nodes: usize, inputs: &Value) -> Self {
        let normals = inputs["tight_constraint_normals"]
            .as_array()
            .into_iter()
            .flatten();
        let rings = normals.map(|normals| rings(nodes, &rows(normals)));
        Self {
            tours: Tsp::new(nodes).unwrap(),
            rings: decisions(&inputs["true_sol"])
                .into_iter()
                .zip(rings)
                .collect(),
        }
    }
}

impl ProblemKind for CutTours {
    fn name(&self) -> String {
        self.tours.name()
    }

    fn sense(&self) -> Sense {
        self.tours.sense()
    }

    fn num_costs(&self) -> usize {
        self.tours.num_costs()
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        self.tours.solver(limits)
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let (_, rings) = self.rings.iter().find(|(tour, _)| tour == decision)?;
        Some(self.tours.cone_with_subtours(decision, rings))
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.tours.check(decision)
    }
}

impl Case {
    /// All golden files of losses; none, and a word about it, where they are absent.
    pub fn all() -> Vec<Self> {
        let names = ["losses_sp4x5_min", "losses_ks10_max", "losses_tsp7_min"];
        names.into_iter().map(Self::read).collect()
    }

    /// All golden files of cones.
    pub fn cones() -> Vec<Self> {
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
        let (best, pool) = (
            decisions(&inputs["true_sol"]),
            inputs.get("pool").map(decisions).unwrap_or_default(),
        );
        let costs = turned(sign, &rows(&inputs["true_cost"]));
        Self {
            name,
            sign,
            oracle,
            costs,
            best,
            pool,
            file,
        }
    }

    /// The golden values of a loss, or a part of the file that it refers to.
    pub fn golden(&self, loss: &str) -> &Value {
        &self.file["losses"][loss]
    }

    pub fn number(&self, loss: &str, name: &str) -> f64 {
        self.golden(loss)[name].as_f64().unwrap()
    }

    /// Predictions of a loss (its own, or those of the file), to be minimized.
    pub fn predictions(&self, loss: &str) -> Vec<Vec<f64>> {
        let own = &self.golden(loss)["pred"];
        turned(
            self.sign,
            &rows(if own.is_null() {
                &self.file["inputs"]["pred"]
            } else {
                own
            }),
        )
    }

    /// Noise of a loss, given; additive noise is added to costs and so turns with them.
    pub fn noise(&self, loss: &str, multiplicative: bool) -> NoiseSource {
        let own = &self.golden(loss)["noise"];
        if let Some(other) = own.as_str().and_then(|text| text.strip_prefix("as ")) {
            return self.noise(other, multiplicative);
        }
        let sign = if multiplicative { 1.0 } else { self.sign };
        let instances = own.as_array().unwrap().iter();
        NoiseSource::Supplied(
            instances
                .map(|instance| turned(sign, &rows(instance)).concat())
                .collect(),
        )
    }

    pub fn query<'a>(&'a self, instance: usize, prediction: &'a [f64]) -> LossInput<'a> {
        let (costs, best) = (&self.costs[instance], &self.best[instance]);
        LossInput {
            instance,
            costs,
            prediction,
            label: best,
            noise: NoiseKey::default(),
        }
    }

    /// Compares values and gradients with the golden ones, which are in the user's sense.
    pub fn check(
        &self,
        golden: &str,
        loss: &dyn Loss,
        answering: &TrainingOracle<'_>,
        tolerance: f64,
    ) {
        self.check_with(golden, loss, &mut answering.worker(), tolerance);
    }

    /// The same with every question answered from the pool.
    pub fn check_recalling(&self, golden: &str, loss: &dyn Loss, answering: &TrainingOracle<'_>) {
        let mut worker = answering.worker();
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
        let what = format!("{} {golden}", self.name);
        let (mut values, mut gradients) = (Vec::new(), Vec::new());
        for (instance, prediction) in self.predictions(golden).iter().enumerate() {
            let mut gradient = vec![f64::NAN; prediction.len()];
            values.push(
                loss.evaluate(&self.query(instance, prediction), worker, &mut gradient)
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
            &what,
        );
        assert_close(
            &gradients,
            &rows(&expected["grad_of_mean"]).concat(),
            tolerance,
            &format!("{what} gradient"),
        );
    }

    /// Compares decisions and the gradients sent back with the golden ones.
    pub fn check_layer(&self, golden: &str, layer: &dyn DecisionLayer, tolerance: f64) {
        let what = format!("{} {golden}", self.name);
        let expected = self.golden(golden);
        let upstream = rows(&expected["upstream"]);
        let (mut decisions, mut gradients) = (Vec::new(), Vec::new());
        for (instance, prediction) in self.predictions(golden).iter().enumerate() {
            let mut gradient = vec![f64::NAN; prediction.len()];
            let mut judge = |decision: &[f64], out: &mut [f64]| {
                decisions.extend_from_slice(decision);
                out.copy_from_slice(&upstream[instance]);
                7.0
            };
            let query = self.query(instance, prediction);
            let value = layer
                .decide(&query, &mut self.oracle.worker(), &mut judge, &mut gradient)
                .unwrap();
            assert_eq!(value, 7.0, "{what}");
            gradients.extend(gradient.iter().map(|g| self.sign * g));
        }
        assert_close(
            &decisions,
            &rows(&expected["forward"]).concat(),
            1e-8,
            &what,
        );
        assert_close(
            &gradients,
            &rows(&expected["vjp"]).concat(),
            tolerance,
            &format!("{what} gradient"),
        );
    }
}

/// All numbers times a sign.
pub fn turned(sign: f64, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter()
        .map(|row| row.iter().map(|value| sign * value).collect())
        .collect()
}
