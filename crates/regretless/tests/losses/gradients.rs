//! Gradients against finite differences, at points where nothing ties.

use regretless::Decision;
use regretless::loss::{Draw, Loss, LossSpec, Query};
use regretless::oracle::{Answering, Oracle};
use regretless::problem::{Problem, ShortestPath};
use std::sync::Arc;

const STEP: f64 = 1e-6;

/// A path of 3 by 3 nodes: true costs, a prediction, and all six paths as the pool.
struct Place {
    oracle: Oracle,
    costs: [f64; 12],
    prediction: [f64; 12],
    best: Decision,
    pool: Vec<Decision>,
}

impl Place {
    fn new() -> Self {
        let path = ShortestPath { grid: [3, 3] };
        let number = |seed: f64, j: usize| 1.5 + (seed * (j as f64 + 1.3)).sin();
        let costs = std::array::from_fn(|j| number(2.1, j));
        let prediction = std::array::from_fn(|j| number(3.7, j));
        let all = (0..1_u32 << 12).map(|bits| Decision::choosing((0..12).filter(|j| bits >> j & 1 == 1)));
        let pool: Vec<Decision> = all.filter(|decision| path.check(decision).is_ok()).collect();
        assert_eq!(pool.len(), 6);
        let oracle = Oracle::new(Arc::new(path));
        let best = oracle.asker().solve(&costs).unwrap().decision;
        Self { oracle, costs, prediction, best, pool }
    }

    fn evaluate(&self, loss: &dyn Loss, prediction: &[f64]) -> (f64, Vec<f64>) {
        let draw = Draw { seed: 4, epoch: 2 };
        let query = Query { instance: 9, costs: &self.costs, prediction, best: &self.best, draw };
        let answering = Answering::exactly(&self.oracle).knowing(&self.pool, true);
        let mut gradient = vec![0.0; 12];
        let value = loss.evaluate(&query, &mut answering.asker(), &mut gradient).unwrap();
        (value, gradient)
    }

    fn check(&self, spec: &LossSpec, loss: &dyn Loss, tolerance: f64) {
        let (_, gradient) = self.evaluate(loss, &self.prediction);
        assert!(gradient.iter().any(|g| g.abs() > 1e-3), "{spec}: no gradient to check");
        for (j, found) in gradient.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = self.prediction;
                moved[j] += step;
                self.evaluate(loss, &moved).0
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((found - slope).abs() < tolerance, "{spec}, cost {j}: gradient {found}, slope {slope}");
        }
    }
}

/// The label of a loss, built without a table.
fn built(label: &str) -> (LossSpec, Box<dyn Loss>) {
    let spec: LossSpec = label.parse().unwrap();
    let loss: Box<dyn Loss> = match spec.clone() {
        LossSpec::SpoPlus => Box::new(regretless::loss::SpoPlus),
        LossSpec::Pfyl(loss) => Box::new(loss),
        LossSpec::Contrastive(loss) => Box::new(loss),
        LossSpec::Ranking(loss) => Box::new(loss),
        LossSpec::PerturbationGradient(loss) => Box::new(loss),
        LossSpec::RegularisedFy(loss) => Box::new(loss),
        LossSpec::Regularised(layer, goal) => Box::new(regretless::loss::Judged { layer, goal }),
        other => panic!("{other} has no derivative to check"),
    };
    (spec, loss)
}

#[test]
fn gradients_of_losses_agree_with_finite_differences() {
    let place = Place::new();
    for label in [
        "SPO+",
        "PFYL",
        "PFYL(mul,samples=5,sigma=0.7)",
        "MAP",
        "MAP_c",
        "NCE",
        "NCE_c",
        "LTR(point)",
        "LTR(pair)",
        "LTR(list)",
        "PG(sigma=0.8)",
        "PG(central,sigma=0.8)",
    ] {
        let (spec, loss) = built(label);
        place.check(&spec, loss.as_ref(), 1e-6);
    }
}

#[test]
fn gradients_of_regularised_decisions_agree_with_finite_differences() {
    let place = Place::new();
    for label in
        ["RFY(tol=1e-14)", "RFY(lambda=0.3,tol=1e-14)", "RFW(lambda=2,tol=1e-14)", "RFW(lambda=2,tol=1e-14,distance)"]
    {
        let (spec, loss) = built(label);
        place.check(&spec, loss.as_ref(), 1e-4);
    }
}

#[test]
fn losses_of_the_truth_are_zero_where_they_should_be() {
    let place = Place::new();
    for label in ["SPO+", "MAP", "MAP_c", "NCE_c", "LTR(point)", "LTR(pair)"] {
        let (value, _) = place.evaluate(built(label).1.as_ref(), &place.costs);
        assert!(value.abs() < 1e-12, "{label}: {value}");
    }
    let (value, _) = place.evaluate(built("PFYL").1.as_ref(), &place.costs);
    assert!(value > 0.0, "noise makes PFYL positive: {value}");
}

#[test]
fn noise_differs_by_seed_epoch_and_instance_and_repeats_itself() {
    let place = Place::new();
    let (_, loss) = built("PFYL(samples=1)");
    let value = |seed: u64, epoch: usize, instance: usize| {
        let draw = Draw { seed, epoch };
        let query = Query { instance, costs: &place.costs, prediction: &place.prediction, best: &place.best, draw };
        loss.evaluate(&query, &mut place.oracle.asker(), &mut [0.0; 12]).unwrap()
    };
    let reference = value(1, 2, 3);
    assert_eq!(reference, value(1, 2, 3));
    assert!([value(2, 2, 3), value(1, 3, 3), value(1, 2, 4)].iter().all(|other| *other != reference));
}
