//! Gradients against finite differences, at predictions without ties.

use regretless::Decision;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::LabeledDataset;
use regretless::loss::{CostSensitiveSpec, Loss, LossInput, LossSpec, NoiseKey, SparseGradient};
use regretless::observer::NoopObserver;
use regretless::oracle::{Oracle, TrainingOracle};
use regretless::problem::{GridPath, ProblemKind};
use std::sync::Arc;

/// Step of the central differences.
const STEP: f64 = 1e-6;

/// Paths in a grid of 3 by 3 nodes: true costs, a prediction, and all six paths as the solution
/// pool.
struct LossFixture {
    oracle: Oracle,
    costs: [f64; 12],
    prediction: [f64; 12],
    label: Decision,
    pool: Vec<Decision>,
    /// Ten rows of the same costs; losses are evaluated on the last one.
    data: LabeledDataset,
}

impl LossFixture {
    fn new() -> Self {
        let path = GridPath::new(3, 3).unwrap();
        let number = |seed: f64, j: usize| 1.5 + (seed * (j as f64 + 1.3)).sin();
        let costs = std::array::from_fn(|j| number(2.1, j));
        let prediction = std::array::from_fn(|j| number(3.7, j));
        let subsets = (0..1_u32 << 12)
            .map(|bits| Decision::from_indices((0..12).filter(|j| bits >> j & 1 == 1)));
        let pool: Vec<Decision> = subsets
            .filter(|decision| path.check(decision).is_ok())
            .collect();
        assert_eq!(pool.len(), 6);
        let oracle = Oracle::new(Arc::new(path));
        let label = oracle.worker().solve(&costs).unwrap().decision;
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
            label,
            pool,
            data,
        }
    }

    fn build(&self, loss_name: &str) -> (LossSpec, Box<dyn Loss>) {
        let spec: LossSpec = loss_name.parse().unwrap();
        let loss = spec.build(&self.data, &self.oracle, &NoopObserver).unwrap();
        (spec, loss)
    }

    fn evaluate(&self, loss: &dyn Loss, prediction: &[f64]) -> (f64, Vec<f64>) {
        let noise = NoiseKey { seed: 4, epoch: 2 };
        let input = LossInput {
            instance: 9,
            costs: &self.costs,
            prediction,
            label: &self.label,
            noise,
        };
        let training_oracle = TrainingOracle::exact(&self.oracle).with_pool(&self.pool, true);
        let mut gradient = vec![0.0; 12];
        let value = loss
            .evaluate(&input, &mut training_oracle.worker(), &mut gradient)
            .unwrap();
        (value, gradient)
    }

    fn check(&self, spec: &LossSpec, loss: &dyn Loss, tolerance: f64) {
        let (_, gradient) = self.evaluate(loss, &self.prediction);
        assert!(
            gradient.iter().any(|g| g.abs() > 1e-3),
            "{spec}: no gradient to check"
        );
        for (j, actual) in gradient.iter().enumerate() {
            let value_at = |step: f64| {
                let mut shifted = self.prediction;
                shifted[j] += step;
                self.evaluate(loss, &shifted).0
            };
            let slope = (value_at(STEP) - value_at(-STEP)) / (2.0 * STEP);
            assert!(
                (actual - slope).abs() < tolerance,
                "{spec}, cost {j}: gradient {actual}, slope {slope}"
            );
        }
    }
}

#[test]
fn gradients_of_losses_agree_with_finite_differences() {
    let fixture = LossFixture::new();
    for loss_name in [
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
        let (spec, loss) = fixture.build(loss_name);
        fixture.check(&spec, loss.as_ref(), 1e-6);
    }
}

/// `CaVE(inner)` aligns the prediction with a point inside the cone: 0.8 times the normalized
/// nearest point plus 0.2 times the mean normal.
#[test]
fn cave_inner_aligns_with_a_point_inside_the_cone() {
    let fixture = LossFixture::new();
    let cone = fixture.oracle.cone(&fixture.label).unwrap();
    let negated = fixture.prediction.map(|p| -p);
    let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = |target: &[f64]| {
        negated.iter().zip(target).map(|(v, p)| v * p).sum::<f64>()
            / (norm(&negated) * norm(target))
    };
    for (loss_name, nearest) in [
        ("CaVE(inner)", cone.project(&negated)),
        ("CaVE(inner,steps=1)", cone.project_with_limit(&negated, 1)),
    ] {
        let unit = nearest.iter().map(|p| p / norm(&nearest));
        let target: Vec<f64> = unit
            .zip(cone.mean_normal())
            .map(|(p, normal)| 0.8 * p + 0.2 * normal)
            .collect();
        let (_, loss) = fixture.build(loss_name);
        let (value, _) = fixture.evaluate(loss.as_ref(), &fixture.prediction);
        assert!(
            (value - (1.0 - cosine(&target))).abs() < 1e-12,
            "{loss_name}: {value}"
        );
        assert!(
            (value - (1.0 - cosine(&nearest))).abs() > 1e-4,
            "{loss_name} does not differ from the nearest point"
        );
    }
}

/// For losses that compute a sparse gradient and for those that convert a dense one.
#[test]
fn sparse_gradients_equal_dense_ones() {
    let fixture = LossFixture::new();
    for loss_name in [
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
        let (spec, loss) = fixture.build(loss_name);
        let (value, gradient) = fixture.evaluate(loss.as_ref(), &fixture.prediction);
        let mut entries = SparseGradient::default();
        let noise = NoiseKey { seed: 4, epoch: 2 };
        let prediction = &fixture.prediction;
        let input = LossInput {
            instance: 9,
            costs: &fixture.costs,
            prediction,
            label: &fixture.label,
            noise,
        };
        let training_oracle = TrainingOracle::exact(&fixture.oracle).with_pool(&fixture.pool, true);
        for _ in 0..2 {
            assert_eq!(
                loss.evaluate_sparse(&input, &mut training_oracle.worker(), &mut entries)
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
fn gradients_of_regularized_decisions_agree_with_finite_differences() {
    let fixture = LossFixture::new();
    for loss_name in [
        "RFY(tol=1e-14)",
        "RFY(lambda=0.3,tol=1e-14)",
        "RFW(lambda=2,tol=1e-14)",
        "RFW(lambda=2,tol=1e-14,distance)",
    ] {
        let (spec, loss) = fixture.build(loss_name);
        fixture.check(&spec, loss.as_ref(), 1e-4);
    }
}

#[test]
fn losses_of_true_costs_are_zero_where_they_should_be() {
    let fixture = LossFixture::new();
    for loss_name in ["SPO+", "MAP", "MAP_c", "NCE_c", "LTR(point)", "LTR(pair)"] {
        let (_, loss) = fixture.build(loss_name);
        let (value, _) = fixture.evaluate(loss.as_ref(), &fixture.costs);
        assert!(value.abs() < 1e-12, "{loss_name}: {value}");
    }
    let (_, loss) = fixture.build("PFYL");
    let (value, _) = fixture.evaluate(loss.as_ref(), &fixture.costs);
    assert!(value > 0.0, "noise makes PFYL positive: {value}");
}

#[test]
fn noise_depends_on_seed_epoch_and_instance_only() {
    let fixture = LossFixture::new();
    let (_, loss) = fixture.build("PFYL(samples=1)");
    let value = |seed: u64, epoch: usize, instance: usize| {
        let noise = NoiseKey { seed, epoch };
        let input = LossInput {
            instance,
            costs: &fixture.costs,
            prediction: &fixture.prediction,
            label: &fixture.label,
            noise,
        };
        loss.evaluate(&input, &mut fixture.oracle.worker(), &mut [0.0; 12])
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
fn properties_agree_with_the_solver_calls_of_an_evaluation() {
    for spec in LossSpec::examples().unwrap() {
        let fixture = LossFixture::new();
        let loss = spec
            .build(&fixture.data, &fixture.oracle, &NoopObserver)
            .unwrap();
        let before = fixture.oracle.counts();
        fixture.evaluate(loss.as_ref(), &fixture.prediction);
        let solves = (fixture.oracle.counts() - before).exact;
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
