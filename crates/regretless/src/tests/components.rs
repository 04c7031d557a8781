//! Value and gradient of the cost-sensitive family, against golden vectors and the paper's
//! propositions.

use std::sync::Arc;

use crate::tests::common::{Case, assert_close, golden, numbers, rows};
use proptest::prelude::{ProptestConfig, prop, prop_assert, proptest};
use regretless::Decision;
use regretless::loss::{
    BaseError, CostSensitiveSpec, ErrorSide, Loss, LossInput, LossSpec, NoiseKey,
};
use regretless::oracle::Oracle;
use regretless::problem::{Sense, TopK, VariableBounds};
use regretless::train::instance_costs;

const CASES: [&str; 3] = [
    "components_sp4x5_min",
    "components_ks10_max",
    "components_tsp7_min",
];

fn free_choice(items: usize) -> Oracle {
    Oracle::new(Arc::new(
        TopK::at_most(items, items, Sense::Minimize).unwrap(),
    ))
}

/// A family member without problem-specific bounds.
fn binary(spec: CostSensitiveSpec) -> regretless::loss::cost_sensitive::CostSensitiveLoss {
    regretless::loss::cost_sensitive::CostSensitiveLoss::new(spec, VariableBounds::Binary)
}

fn value(loss: &dyn Loss, costs: &[f64], prediction: &[f64], best: &Decision) -> f64 {
    let oracle = free_choice(costs.len());
    let mut gradient = vec![0.0; costs.len()];
    let query = LossInput {
        instance: 0,
        costs,
        prediction,
        label: best,
        noise: NoiseKey::default(),
    };
    loss.evaluate(&query, &mut oracle.worker(), &mut gradient)
        .unwrap()
}

#[test]
fn values_gradients_and_instance_costs_equal_the_golden_vectors() {
    for name in CASES {
        let file = golden(name);
        let case = Case::new(&file["inputs"], &file["sense"]);
        let regrets = numbers(&file["baseline_regret"]);
        for (label, expected) in file["components"].as_object().unwrap() {
            let loss = binary(label.replace("Os", "O_S").parse().unwrap())
                .with_limits(case.limits(&file["inputs"]));
            let what = format!("{name} {label}");
            let (values, gradients) = case.evaluate(&loss, &case.predictions);
            case.assert_equal(&expected["plain"], &values, &gradients, &what);
            let costs = instance_costs(&regrets, &values, &case.best_objectives(), false);
            assert_close(
                &costs,
                &numbers(&expected["instance_costs"]),
                1e-8,
                &format!("{what} instance costs"),
            );
            let others = case.inner(&rows(&expected["with_costs"]["pred"]));
            let (values, gradients) = case.evaluate(&loss, &others);
            let weigh = |rows: Vec<f64>| {
                rows.iter()
                    .zip(&costs)
                    .map(|(v, c)| v * c)
                    .collect::<Vec<f64>>()
            };
            let weighed: Vec<Vec<f64>> = gradients
                .iter()
                .zip(&costs)
                .map(|(g, c)| g.iter().map(|x| x * c).collect())
                .collect();
            case.assert_equal(
                &expected["with_costs"],
                &weigh(values),
                &weighed,
                &format!("{what} weighted"),
            );
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    let costs = [1.0, -2.0, 0.5, 3.0, -0.7];
    let prediction = [0.8, -1.5, 0.9, 2.2, -1.3];
    let best = Decision::from_indices([1, 4]);
    let oracle = free_choice(5);
    for spec in LossSpec::examples().unwrap() {
        let Some(cost_sensitive) = spec.downcast_ref::<CostSensitiveSpec>() else {
            continue;
        };
        let loss = binary(cost_sensitive.clone());
        let mut gradient = [0.0; 5];
        let query = LossInput {
            instance: 0,
            costs: &costs,
            prediction: &prediction,
            label: &best,
            noise: NoiseKey::default(),
        };
        loss.evaluate(&query, &mut oracle.worker(), &mut gradient)
            .unwrap();
        for j in 0..5 {
            let at = |step: f64| {
                let mut moved = prediction;
                moved[j] += step;
                value(&loss, &costs, &moved, &best)
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!(
                (slope - gradient[j]).abs() < 1e-7,
                "{spec}, output {j}: {slope} and {}",
                gradient[j]
            );
        }
    }
}

#[test]
fn a_variable_between_its_bounds_is_always_penalised() {
    let bounds = VariableBounds::Box {
        lower: vec![0.0, -1.0, 0.0, 2.0],
        upper: vec![2.0, 5.0, 3.0, 2.0],
    };
    let spec = CostSensitiveSpec {
        side: ErrorSide::OneSided,
        ..CostSensitiveSpec::plain(BaseError::Absolute)
    };
    let loss = regretless::loss::cost_sensitive::CostSensitiveLoss::new(spec, bounds);
    // At its upper bound, at its lower, between, and fixed.
    let best = Decision::from_dense(&[2.0, -1.0, 1.5, 2.0]);
    let costs = [1.0; 4];
    let oracle = free_choice(4);
    let counted = |shift: f64| {
        let mut gradient = [0.0; 4];
        let prediction = costs.map(|c| c + shift);
        let query = LossInput {
            instance: 0,
            costs: &costs,
            prediction: &prediction,
            label: &best,
            noise: NoiseKey::default(),
        };
        loss.evaluate(&query, &mut oracle.worker(), &mut gradient)
            .unwrap();
        gradient.map(|g| g != 0.0)
    };
    assert_eq!(counted(0.5), [true, false, true, false]);
    assert_eq!(counted(-0.5), [false, true, true, false]);
}

#[test]
fn mean_squared_error_is_recovered_from_the_general_form() {
    let (costs, prediction, none) = ([1.0, 2.0, 3.0], [1.5, 1.0, 3.0], Decision::default());
    let half = CostSensitiveSpec {
        side: ErrorSide::Pinball(vec![0.5]),
        ..CostSensitiveSpec::plain(BaseError::Squared)
    };
    let general = 2.0 * value(&binary(half), &costs, &prediction, &none);
    assert_eq!(
        general,
        value(
            &binary(CostSensitiveSpec::plain(BaseError::Squared)),
            &costs,
            &prediction,
            &none
        )
    );
}

#[test]
fn each_output_can_have_its_own_quantile() {
    let taus = CostSensitiveSpec {
        side: ErrorSide::Pinball(vec![0.1, 0.9]),
        ..CostSensitiveSpec::plain(BaseError::Absolute)
    };
    let none = Decision::default();
    let low = value(&binary(taus.clone()), &[0.0, 0.0], &[-1.0, -1.0], &none);
    let high = value(&binary(taus), &[0.0, 0.0], &[1.0, 1.0], &none);
    assert_close(
        &[low, high],
        &[(0.1 + 0.9) / 2.0, (0.9 + 0.1) / 2.0],
        1e-15,
        "pinball",
    );
}

#[test]
fn a_zero_prediction_has_a_finite_gradient_under_normalisation() {
    let oracle = free_choice(3);
    for error in [BaseError::Squared, BaseError::Absolute] {
        let loss = binary(CostSensitiveSpec {
            scale_invariant: true,
            ..CostSensitiveSpec::plain(error)
        });
        let mut gradient = [0.0; 3];
        let query = LossInput {
            instance: 0,
            costs: &[3.0, 4.0, 0.0],
            prediction: &[0.0; 3],
            label: &Decision::default(),
            noise: NoiseKey::default(),
        };
        let value = loss
            .evaluate(&query, &mut oracle.worker(), &mut gradient)
            .unwrap();
        assert!(
            value.is_finite() && gradient.iter().all(|g| g.abs() < 1.0),
            "{gradient:?}"
        );
        assert!(
            gradient[0] < 0.0 && gradient[1] < 0.0,
            "the step must lead towards the truth"
        );
    }
}

#[test]
fn weights_by_regret_over_loss_make_the_baseline_loss_equal_its_regret() {
    let (regrets, losses, best) = ([2.0, 0.5, 3.0], [0.1, 0.2, 4.0], [10.0; 3]);
    let weights = instance_costs(&regrets, &losses, &best, false);
    let weighted: f64 = weights.iter().zip(losses).map(|(w, l)| w * l).sum();
    assert!((weighted - regrets.iter().sum::<f64>()).abs() < 1e-12);
}

#[test]
fn instances_without_regret_or_without_loss_get_the_mean_weight() {
    assert_eq!(
        instance_costs(
            &[0.0, 2.0, 6.0, 1.0],
            &[1.0, 1.0, 2.0, 0.0],
            &[1.0; 4],
            false
        ),
        [2.5, 2.0, 3.0, 2.5]
    );
    let clipped = instance_costs(&[0.0, 1.0, 2.0, 100.0], &[1.0; 4], &[1.0; 4], true);
    assert_eq!(clipped, [23.0 / 3.0, 1.0, 2.0, 20.0]);
    assert_eq!(
        instance_costs(&[0.0, 1e-9], &[1.0, 1.0], &[1.0; 2], false),
        [1.0, 1.0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Zero one-sided loss means that the best decision stays best: no regret.
    #[test]
    fn no_one_sided_loss_means_no_regret(
        costs in prop::collection::vec(-5.0..5.0_f64, 6),
        moves in prop::collection::vec(0.0..3.0_f64, 6),
        k in 1_usize..6,
    ) {
        let problem = TopK::new(6, k, Sense::Minimize).unwrap();
        let oracle = Oracle::new(Arc::new(problem));
        let best = oracle.worker().solve(&costs).unwrap().decision;
        // Chosen items become cheaper, the others dearer.
        let mut prediction = costs.clone();
        for (j, cost) in prediction.iter_mut().enumerate() {
            *cost += if best.value(j) == 1.0 { -moves[j] } else { moves[j] };
        }
        let spec = CostSensitiveSpec {
            side: ErrorSide::OneSided,
            ..CostSensitiveSpec::plain(BaseError::Squared)
        };
        prop_assert!(value(&binary(spec), &costs, &prediction, &best) == 0.0);
        let chosen = oracle.worker().solve(&prediction).unwrap().decision;
        prop_assert!((chosen.dot(&costs) - best.dot(&costs)).abs() < 1e-12);
    }

    /// Normalized squared error is the cosine distance times 2/d.
    #[test]
    fn normalized_squared_error_is_the_cosine_distance(
        costs in prop::collection::vec(-5.0..5.0_f64, 4),
        prediction in prop::collection::vec(-5.0..5.0_f64, 4),
    ) {
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        proptest::prop_assume!(norm(&costs) > 1e-3 && norm(&prediction) > 1e-3);
        let product: f64 = costs.iter().zip(&prediction).map(|(a, b)| a * b).sum();
        let cosine = product / norm(&costs) / norm(&prediction);
        let spec = CostSensitiveSpec {
            scale_invariant: true,
            ..CostSensitiveSpec::plain(BaseError::Squared)
        };
        let found = value(&binary(spec), &costs, &prediction, &Decision::default());
        prop_assert!((found - 0.5 * (1.0 - cosine)).abs() < 1e-12);
    }

    /// Under S, the length of a prediction changes nothing.
    #[test]
    fn scale_invariant_losses_ignore_the_scale(
        prediction in prop::collection::vec(0.1..5.0_f64, 4),
        factor in 0.01..100.0_f64,
    ) {
        let costs = [1.0, -2.0, 3.0, 0.5];
        let best = Decision::from_indices([1]);
        let longer: Vec<f64> = prediction.iter().map(|p| p * factor).collect();
        for spec in LossSpec::examples().unwrap() {
            let Some(cost_sensitive) = spec.downcast_ref::<CostSensitiveSpec>() else { continue };
            if cost_sensitive.scale_invariant {
                let loss = binary(cost_sensitive.clone());
                let unscaled = value(&loss, &costs, &prediction, &best);
                let scaled = value(&loss, &costs, &longer, &best);
                prop_assert!((unscaled - scaled).abs() < 1e-10);
            }
        }
    }
}
