//! Gradients against finite differences, at points where nothing ties.

use regretless::Decision;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::LabeledDataset;
use regretless::loss::{CostSensitiveSpec, Loss, LossInput, LossSpec, NoiseKey, SparseGradient};
use regretless::observer::NoopObserver;
use regretless::oracle::{Oracle, TrainingOracle};
use regretless::problem::{GridPath, ProblemKind};
use std::sync::Arc;

const STEP: f64 = 1e-6;

/// A path of 3 by 3 nodes: true costs, a prediction, and all six paths as the pool.
struct Place {
    oracle: Oracle,
    costs: [f64; 12],
    prediction: [f64; 12],
    best: Decision,
    pool: Vec<Decision>,
    /// Ten rows of the same costs, of which the last is asked about.
    data: LabeledDataset,
}

impl Place {
    fn new() -> Self {
        let path = GridPath::new(3, 3).unwrap();
        let number = |seed: f64, j: usize| 1.5 + (seed * (j as f64 + 1.3)).sin();
        let costs = std::array::from_fn(|j| number(2.1, j));
        let prediction = std::array::from_fn(|j| number(3.7, j));
        let all = (0..1_u32 << 12)
            .map(|bits| Decision::from_indices((0..12).filter(|j| bits >> j & 1 == 1)));
        let pool: Vec<Decision> = all
            .filter(|decision| path.check(decision).is_ok())
            .collect();
        assert_eq!(pool.len(), 6);
        let oracle = Oracle::new(Arc::new(path));
        let best = oracle.worker().solve(&costs).unwrap().decision;
        let features = Features::new(
            Matrix::new(10, 1, vec![0.0; 10]).unwrap(),
            FeatureShape::Wide,
            None,
        )
        .unwrap();
        let rows = Dataset::new(
            features,
            Matrix::from_f64(10, 12, &costs.repeat(10)).unwrap(),
            None,
        )
        .unwrap();
        let data = LabeledDataset::solve(rows, &oracle, &NoopObserver).unwrap();
        Self {
            oracle,
            costs,
            prediction,
            best,
            pool,
            data,
        }
    }

    fn built(&self, label: &str) -> (LossSpec, Box<dyn Loss>) {
        let spec: LossSpec = label.parse().unwrap();
        let loss = spec.build(&self.data, &self.oracle, &NoopObserver).unwrap();
        (spec, loss)
    }

    fn evaluate(&self, loss: &dyn Loss, prediction: &[f64]) -> (f64, Vec<f64>) {
        let noise = NoiseKey { seed: 4, epoch: 2 };
        let query = LossInput {
            instance: 9,
            costs: &self.costs,
            prediction,
            label: &self.best,
            noise,
        };
        let answering = TrainingOracle::exact(&self.oracle).with_pool(&self.pool, true);
        let mut gradient = vec![0.0; 12];
        let value = loss
            .evaluate(&query, &mut answering.worker(), &mut gradient)
            .unwrap();
        (value, gradient)
    }

    fn check(&self, spec: &LossSpec, loss: &dyn Loss, tolerance: f64) {
        let (_, gradient) = self.evaluate(loss, &self.prediction);
        assert!(
            gradient.iter().any(|g| g.abs() > 1e-3),
            "{spec}: no gradient to check"
        );
        for (j, found) in gradient.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = self.prediction;
                moved[j] += step;
                self.evaluate(loss, &moved).0
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(
                (found - slope).abs() < tolerance,
                "{spec}, cost {j}: gradient {found}, slope {slope}"
            );
        }
    }
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
        "SCE",
        "SCE_c",
        "LTR(point)",
        "LTR(pair)",
        "LTR(list)",
        "PG(sigma=0.8)",
        "PG(central,sigma=0.8)",
        "CaVE",
        "LAVA",
        "MAE(O,S)",
    ] {
        let (spec, loss) = place.built(label);
        place.check(&spec, loss.as_ref(), 1e-6);
    }
}

/// Inside the cone is where the nearest point leads on to the mean normal.
#[test]
fn cave_from_inside_aligns_with_a_point_beyond_the_nearest() {
    let place = Place::new();
    let cone = place.oracle.cone(&place.best).unwrap();
    let v = place.prediction.map(|p| -p);
    let length = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = |aim: &[f64]| {
        v.iter().zip(aim).map(|(v, p)| v * p).sum::<f64>() / (length(&v) * length(aim))
    };
    for (label, nearest) in [
        ("CaVE(inner)", cone.project(&v)),
        ("CaVE(inner,steps=1)", cone.project_with_limit(&v, 1)),
    ] {
        let unit = nearest.iter().map(|p| p / length(&nearest));
        let aim: Vec<f64> = unit
            .zip(cone.mean_normal())
            .map(|(p, normal)| 0.8 * p + 0.2 * normal)
            .collect();
        let (value, _) = place.evaluate(place.built(label).1.as_ref(), &place.prediction);
        assert!(
            (value - (1.0 - cosine(&aim))).abs() < 1e-12,
            "{label}: {value}"
        );
        assert!(
            (value - (1.0 - cosine(&nearest))).abs() > 1e-4,
            "{label} is no different"
        );
    }
}

/// A list of entries says the same as a row, for losses that have a list of their own and for those
/// that do not.
#[test]
fn listed_gradients_equal_whole_ones() {
    let place = Place::new();
    for label in [
        "SPO+",
        "PFYL",
        "PFYL(mul)",
        "MAP",
        "MAP_c",
        "NCE",
        "PG",
        "PG(central)",
        "LTR(list)",
        "CaVE",
        "LAVA",
    ] {
        let (spec, loss) = place.built(label);
        let (value, gradient) = place.evaluate(loss.as_ref(), &place.prediction);
        let mut entries = SparseGradient::default();
        let noise = NoiseKey { seed: 4, epoch: 2 };
        let prediction = &place.prediction;
        let query = LossInput {
            instance: 9,
            costs: &place.costs,
            prediction,
            label: &place.best,
            noise,
        };
        let answering = TrainingOracle::exact(&place.oracle).with_pool(&place.pool, true);
        for _ in 0..2 {
            assert_eq!(
                loss.evaluate_sparse(&query, &mut answering.worker(), &mut entries)
                    .unwrap(),
                value,
                "{spec}"
            );
        }
        let mut sums = vec![0.0; 12];
        entries
            .as_slice()
            .iter()
            .for_each(|(j, g)| sums[*j as usize] += g);
        let same = sums
            .iter()
            .zip(&gradient)
            .all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(same, "{spec}: {sums:?} and {gradient:?}");
    }
}

#[test]
fn gradients_of_regularised_decisions_agree_with_finite_differences() {
    let place = Place::new();
    for label in [
        "RFY(tol=1e-14)",
        "RFY(lambda=0.3,tol=1e-14)",
        "RFW(lambda=2,tol=1e-14)",
        "RFW(lambda=2,tol=1e-14,distance)",
    ] {
        let (spec, loss) = place.built(label);
        place.check(&spec, loss.as_ref(), 1e-4);
    }
}

#[test]
fn losses_of_the_truth_are_zero_where_they_should_be() {
    let place = Place::new();
    for label in ["SPO+", "MAP", "MAP_c", "NCE_c", "LTR(point)", "LTR(pair)"] {
        let (value, _) = place.evaluate(place.built(label).1.as_ref(), &place.costs);
        assert!(value.abs() < 1e-12, "{label}: {value}");
    }
    let (value, _) = place.evaluate(place.built("PFYL").1.as_ref(), &place.costs);
    assert!(value > 0.0, "noise makes PFYL positive: {value}");
}

#[test]
fn noise_differs_by_seed_epoch_and_instance_and_repeats_itself() {
    let place = Place::new();
    let (_, loss) = place.built("PFYL(samples=1)");
    let value = |seed: u64, epoch: usize, instance: usize| {
        let noise = NoiseKey { seed, epoch };
        let query = LossInput {
            instance,
            costs: &place.costs,
            prediction: &place.prediction,
            label: &place.best,
            noise,
        };
        loss.evaluate(&query, &mut place.oracle.worker(), &mut [0.0; 12])
            .unwrap()
    };
    let reference = value(1, 2, 3);
    assert_eq!(reference, value(1, 2, 3));
    assert!(
        [value(2, 2, 3), value(1, 3, 3), value(1, 2, 4)]
            .iter()
            .all(|other| *other != reference)
    );
}

#[test]
fn properties_say_what_an_evaluation_does() {
    for spec in LossSpec::examples().unwrap() {
        let place = Place::new();
        let loss = spec
            .build(&place.data, &place.oracle, &NoopObserver)
            .unwrap();
        let before = place.oracle.counts();
        place.evaluate(loss.as_ref(), &place.prediction);
        let solves = (place.oracle.counts() - before).exact;
        let properties = spec.properties();
        assert_eq!(
            solves > 0,
            properties.calls_solver && !properties.uses_pool,
            "{spec}: {solves} solves"
        );
        assert!(
            properties.is_expensive || !properties.calls_solver,
            "{spec}"
        );
        assert_eq!(
            loss.separable().is_some(),
            spec.downcast_ref::<CostSensitiveSpec>().is_some(),
            "{spec}"
        );
    }
}
