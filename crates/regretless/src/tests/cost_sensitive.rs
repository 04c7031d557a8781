//! Values and gradients of the cost-sensitive losses, against golden values and the propositions of
//! the paper.

use std::sync::Arc;

use crate::tests::common::{CostSensitiveCase, assert_close, golden, loss_input, numbers, rows};
use proptest::prelude::{ProptestConfig, prop, prop_assert, proptest};
use regretless::Decision;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, Loss, LossSpec, Normalization};
use regretless::oracle::Oracle;
use regretless::problem::{Sense, TopK, VariableBounds};
use regretless::train::instance_costs;

const CASES: [&str; 3] = [
    "components_sp4x5_min",
    "components_ks10_max",
    "components_tsp7_min",
];

/// Any subset of the items may be chosen.
fn unconstrained_choice(items: usize) -> Oracle {
    Oracle::new(Arc::new(
        TopK::at_most(items, items, Sense::Minimize).unwrap(),
    ))
}

/// A cost-sensitive loss of binary decisions.
fn binary_loss(spec: CostSensitiveSpec) -> regretless::loss::cost_sensitive::CostSensitiveLoss {
    regretless::loss::cost_sensitive::CostSensitiveLoss::new(spec, VariableBounds::Binary)
}

fn value(loss: &dyn Loss, costs: &[f64], prediction: &[f64], label: &Decision) -> f64 {
    let oracle = unconstrained_choice(costs.len());
    let mut gradient = vec![0.0; costs.len()];
    let input = loss_input(costs, prediction, label);
    loss.evaluate(&input, &mut oracle.worker(), &mut gradient)
        .unwrap()
}

#[test]
fn values_gradients_and_instance_costs_equal_the_golden_vectors() {
    for name in CASES {
        let file = golden(name);
        let case = CostSensitiveCase::new(&file["inputs"], &file["sense"]);
        let regrets = numbers(&file["baseline_regret"]);
        for (loss_name, expected) in file["components"].as_object().unwrap() {
            let loss = binary_loss(loss_name.replace("Os", "O_S").parse().unwrap())
                .with_limits(case.limits(&file["inputs"]));
            let context = format!("{name} {loss_name}");
            let (values, gradients) = case.evaluate(&loss, &case.predictions);
            case.assert_equal(&expected["plain"], &values, &gradients, &context);
            let costs = instance_costs(
                &regrets,
                &values,
                &case.optimal_objectives(),
                &vec![1.0; regrets.len()],
                false,
            );
            assert_close(
                &costs,
                &numbers(&expected["instance_costs"]),
                1e-8,
                &format!("{context} instance costs"),
            );
            let other_predictions = case.to_minimization(&rows(&expected["with_costs"]["pred"]));
            let (values, gradients) = case.evaluate(&loss, &other_predictions);
            let weight = |values: Vec<f64>| {
                values
                    .iter()
                    .zip(&costs)
                    .map(|(v, c)| v * c)
                    .collect::<Vec<f64>>()
            };
            let weighted_gradients: Vec<Vec<f64>> = gradients
                .iter()
                .zip(&costs)
                .map(|(g, c)| g.iter().map(|x| x * c).collect())
                .collect();
            case.assert_equal(
                &expected["with_costs"],
                &weight(values),
                &weighted_gradients,
                &format!("{context} weighted"),
            );
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    let costs = [1.0, -2.0, 0.5, 3.0, -0.7];
    let prediction = [0.8, -1.5, 0.9, 2.2, -1.3];
    let label = Decision::from_indices([1, 4]);
    let oracle = unconstrained_choice(5);
    for spec in LossSpec::examples().unwrap() {
        let Some(cost_sensitive) = spec.downcast_ref::<CostSensitiveSpec>() else {
            continue;
        };
        let loss = binary_loss(cost_sensitive.clone());
        let mut gradient = [0.0; 5];
        let input = loss_input(&costs, &prediction, &label);
        loss.evaluate(&input, &mut oracle.worker(), &mut gradient)
            .unwrap();
        for j in 0..5 {
            let value_at = |step: f64| {
                let mut shifted = prediction;
                shifted[j] += step;
                value(&loss, &costs, &shifted, &label)
            };
            let slope = (value_at(1e-6) - value_at(-1e-6)) / 2e-6;
            assert!(
                (slope - gradient[j]).abs() < 1e-7,
                "{spec}, output {j}: {slope} and {}",
                gradient[j]
            );
        }
    }
}

#[test]
fn a_variable_between_its_bounds_is_always_penalized() {
    let bounds = VariableBounds::Box {
        lower: vec![0.0, -1.0, 0.0, 2.0],
        upper: vec![2.0, 5.0, 3.0, 2.0],
    };
    let spec = CostSensitiveSpec {
        side: ErrorSide::OneSided,
        ..CostSensitiveSpec::plain(BaseError::Absolute)
    };
    let loss = regretless::loss::cost_sensitive::CostSensitiveLoss::new(spec, bounds);
    // At the upper bound, at the lower bound, between them, and fixed.
    let label = Decision::from_dense(&[2.0, -1.0, 1.5, 2.0]);
    let costs = [1.0; 4];
    let oracle = unconstrained_choice(4);
    let penalized = |shift: f64| {
        let mut gradient = [0.0; 4];
        let prediction = costs.map(|c| c + shift);
        let input = loss_input(&costs, &prediction, &label);
        loss.evaluate(&input, &mut oracle.worker(), &mut gradient)
            .unwrap();
        gradient.map(|g| g != 0.0)
    };
    assert_eq!(penalized(0.5), [true, false, true, false]);
    assert_eq!(penalized(-0.5), [false, true, true, false]);
}

#[test]
fn mean_squared_error_is_recovered_from_the_general_form() {
    let (costs, prediction, nothing_chosen) =
        ([1.0, 2.0, 3.0], [1.5, 1.0, 3.0], Decision::default());
    let half = CostSensitiveSpec {
        side: ErrorSide::Pinball(vec![0.5]),
        ..CostSensitiveSpec::plain(BaseError::Squared)
    };
    let general = 2.0 * value(&binary_loss(half), &costs, &prediction, &nothing_chosen);
    assert_eq!(
        general,
        value(
            &binary_loss(CostSensitiveSpec::plain(BaseError::Squared)),
            &costs,
            &prediction,
            &nothing_chosen
        )
    );
}

#[test]
fn each_output_can_have_its_own_quantile() {
    let quantiles = CostSensitiveSpec {
        side: ErrorSide::Pinball(vec![0.1, 0.9]),
        ..CostSensitiveSpec::plain(BaseError::Absolute)
    };
    let nothing_chosen = Decision::default();
    let low = value(
        &binary_loss(quantiles.clone()),
        &[0.0, 0.0],
        &[-1.0, -1.0],
        &nothing_chosen,
    );
    let high = value(
        &binary_loss(quantiles),
        &[0.0, 0.0],
        &[1.0, 1.0],
        &nothing_chosen,
    );
    assert_close(
        &[low, high],
        &[(0.1 + 0.9) / 2.0, (0.9 + 0.1) / 2.0],
        1e-15,
        "pinball",
    );
}

#[test]
fn a_zero_prediction_has_a_finite_gradient_under_normalization() {
    let oracle = unconstrained_choice(3);
    for error in [BaseError::Squared, BaseError::Absolute] {
        let loss = binary_loss(CostSensitiveSpec {
            normalization: Normalization::UnitNorm,
            ..CostSensitiveSpec::plain(error)
        });
        let mut gradient = [0.0; 3];
        let nothing_chosen = Decision::default();
        let input = loss_input(&[3.0, 4.0, 0.0], &[0.0; 3], &nothing_chosen);
        let value = loss
            .evaluate(&input, &mut oracle.worker(), &mut gradient)
            .unwrap();
        assert!(
            value.is_finite() && gradient.iter().all(|g| g.abs() < 1.0),
            "{gradient:?}"
        );
        assert!(
            gradient[0] < 0.0 && gradient[1] < 0.0,
            "a gradient step must increase these two outputs"
        );
    }
}

#[test]
fn weights_by_regret_over_loss_make_the_baseline_loss_equal_its_regret() {
    let (regrets, losses, label) = ([2.0, 0.5, 3.0], [0.1, 0.2, 4.0], [10.0; 3]);
    let weights = instance_costs(&regrets, &losses, &label, &[1.0; 3], false);
    let weighted: f64 = weights.iter().zip(losses).map(|(w, l)| w * l).sum();
    assert!((weighted - regrets.iter().sum::<f64>()).abs() < 1e-12);
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows_in_mean_and_median() {
    let weighted = instance_costs(
        &[0.0, 1.0, 3.0, 90.0],
        &[1.0; 4],
        &[1.0; 4],
        &[1.0, 2.0, 1.0, 1.0],
        true,
    );
    let repeated = instance_costs(
        &[0.0, 1.0, 1.0, 3.0, 90.0],
        &[1.0; 5],
        &[1.0; 5],
        &[1.0; 5],
        true,
    );
    assert_eq!(weighted, [repeated[0], 1.0, 3.0, repeated[4]]);
    assert_eq!(repeated[4], 30.0);
}

#[test]
fn instances_without_regret_or_without_loss_get_the_mean_weight() {
    assert_eq!(
        instance_costs(
            &[0.0, 2.0, 6.0, 1.0],
            &[1.0, 1.0, 2.0, 0.0],
            &[1.0; 4],
            &[1.0; 4],
            false
        ),
        [2.5, 2.0, 3.0, 2.5]
    );
    let clipped = instance_costs(
        &[0.0, 1.0, 2.0, 100.0],
        &[1.0; 4],
        &[1.0; 4],
        &[1.0; 4],
        true,
    );
    assert_eq!(clipped, [23.0 / 3.0, 1.0, 2.0, 20.0]);
    assert_eq!(
        instance_costs(&[0.0, 1e-9], &[1.0, 1.0], &[1.0; 2], &[1.0; 2], false),
        [1.0, 1.0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// If the one-sided loss is zero, the optimal decision stays optimal: zero regret.
    #[test]
    fn zero_one_sided_loss_implies_zero_regret(
        costs in prop::collection::vec(-5.0..5.0_f64, 6),
        shifts in prop::collection::vec(0.0..3.0_f64, 6),
        k in 1_usize..6,
    ) {
        let problem = TopK::new(6, k, Sense::Minimize).unwrap();
        let oracle = Oracle::new(Arc::new(problem));
        let label = oracle.worker().solve(&costs).unwrap().decision;
        // Chosen items become cheaper, the others more expensive.
        let mut prediction = costs.clone();
        for (j, cost) in prediction.iter_mut().enumerate() {
            *cost += if label.value(j) == 1.0 { -shifts[j] } else { shifts[j] };
        }
        let spec = CostSensitiveSpec {
            side: ErrorSide::OneSided,
            ..CostSensitiveSpec::plain(BaseError::Squared)
        };
        prop_assert!(value(&binary_loss(spec), &costs, &prediction, &label) == 0.0);
        let chosen = oracle.worker().solve(&prediction).unwrap().decision;
        prop_assert!((chosen.dot(&costs) - label.dot(&costs)).abs() < 1e-12);
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
            normalization: Normalization::UnitNorm,
            ..CostSensitiveSpec::plain(BaseError::Squared)
        };
        let loss = value(&binary_loss(spec), &costs, &prediction, &Decision::default());
        prop_assert!((loss - 0.5 * (1.0 - cosine)).abs() < 1e-12);
    }

    /// With S, the norm of a prediction has no effect.
    #[test]
    fn scale_invariant_losses_ignore_the_scale(
        prediction in prop::collection::vec(0.1..5.0_f64, 4),
        factor in 0.01..100.0_f64,
    ) {
        let costs = [1.0, -2.0, 3.0, 0.5];
        let label = Decision::from_indices([1]);
        let scaled_prediction: Vec<f64> = prediction.iter().map(|p| p * factor).collect();
        for spec in LossSpec::examples().unwrap() {
            let Some(cost_sensitive) = spec.downcast_ref::<CostSensitiveSpec>() else { continue };
            if cost_sensitive.normalization == Normalization::UnitNorm {
                let loss = binary_loss(cost_sensitive.clone());
                let unscaled = value(&loss, &costs, &prediction, &label);
                let scaled = value(&loss, &costs, &scaled_prediction, &label);
                prop_assert!((unscaled - scaled).abs() < 1e-10);
            }
        }
    }
}
