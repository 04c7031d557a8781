//! The vectorized single-precision evaluation of cost-sensitive losses, against the evaluation in
//! double precision.

use std::sync::Arc;

use regretless::Decision;
use regretless::loss::cost_sensitive::CostSensitiveLoss;
use regretless::loss::{
    CostSensitiveSpec, ErrorSide, Loss, LossSpec, Normalization, SinglePrecisionInput,
};
use regretless::oracle::Oracle;
use regretless::problem::{Sense, TopK, VariableBounds};

use crate::simd::SimdToken;
use crate::tests::common::{assert_close, exact_numbers, hash_of_bits, loss_input};

/// `count` numbers between −1 and 3. Every 50th does not depend on the seed, so costs and
/// predictions are equal there.
fn row(seed: f64, count: usize) -> Vec<f32> {
    let number = |j: usize| {
        if j % 50 == 7 {
            1.25
        } else {
            1.0 + 2.0 * (seed * (j as f64 + 1.3)).sin() as f32
        }
    };
    (0..count).map(number).collect()
}

/// The examples of cost-sensitive losses.
fn examples() -> Vec<CostSensitiveSpec> {
    let mut specs = Vec::new();
    for spec in LossSpec::examples().unwrap() {
        let name = spec.to_string();
        let spec = spec.downcast_ref::<CostSensitiveSpec>();
        let is_cost_sensitive = name.starts_with("MSE") || name.starts_with("MAE");
        assert_eq!(spec.is_some(), is_cost_sensitive, "{name}");
        specs.extend(spec.cloned());
    }
    assert!(!specs.is_empty());
    specs
}

fn doubles(row: &[f32], sign: f32) -> Vec<f64> {
    row.iter().map(|number| f64::from(sign * number)).collect()
}

/// The value, followed by the gradient in the sense of the user, in single and in double precision;
/// `None` if the loss has no evaluation in single precision for this row.
fn evaluate_both(
    spec: &CostSensitiveSpec,
    prediction: &[f32],
    sign: f32,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let loss = CostSensitiveLoss::new(spec.clone(), VariableBounds::Binary);
    let (count, costs) = (prediction.len(), row(2.1, prediction.len()));
    let label = Decision::from_indices((0..count as u32).filter(|j| j % 3 == 1));
    let mut single_gradient = vec![f32::NAN; count];
    let input = SinglePrecisionInput {
        costs: &costs,
        prediction,
        sign,
        label: &label,
    };
    let value = loss.evaluate_single(&input, &mut single_gradient)?;
    let (costs, prediction) = (doubles(&costs, 1.0), doubles(prediction, sign));
    let input = loss_input(&costs, &prediction, &label);
    let oracle = Oracle::new(Arc::new(TopK::new(count, 1, Sense::Minimize).unwrap()));
    let mut double_gradient = vec![f64::NAN; count];
    let double_value = loss
        .evaluate(&input, &mut oracle.worker(), &mut double_gradient)
        .unwrap();
    let single_result = [vec![value], doubles(&single_gradient, 1.0)].concat();
    let double_result = [
        vec![double_value],
        double_gradient
            .iter()
            .map(|g| f64::from(sign) * g)
            .collect(),
    ]
    .concat();
    Some((single_result, double_result))
}

#[test]
fn single_precision_agrees_with_double_precision() {
    for spec in examples() {
        for count in [3, 15, 16, 40, 2500] {
            for sign in [1.0, -1.0] {
                let Some((single, double)) = evaluate_both(&spec, &row(3.7, count), sign) else {
                    let is_double_precision = matches!(spec.side, ErrorSide::Pinball(_))
                        || spec.normalization == Normalization::EqualityInvariant;
                    assert!(
                        SimdToken::detect().is_none() || is_double_precision,
                        "{spec} is not evaluated in single precision"
                    );
                    continue;
                };
                let context = format!("{spec}, {count} costs, sign {sign}");
                assert_close(&single[..1], &double[..1], 1e-5, &context);
                assert_close(&single[1..], &double[1..], 2e-5, &context);
            }
        }
    }
}

/// The hashes are those of the AVX2 kernels, as for trained parameters in `tests/fused.rs`.
#[test]
fn gradients_in_single_precision_are_the_same_bits_on_every_processor() {
    SimdToken::detect().expect("a processor with AVX2 and FMA, or aarch64, is needed");
    let count = 2501;
    let (costs, prediction) = (exact_numbers(count, 37), exact_numbers(count, 53));
    let label = Decision::from_indices((0..count as u32).filter(|j| j % 3 == 1));
    let found = ["MSE", "MAE(O)", "MSE(O,S)", "MAE(S)"].map(|name| {
        let spec: LossSpec = name.parse().unwrap();
        let spec = spec.downcast_ref::<CostSensitiveSpec>().unwrap().clone();
        let loss = CostSensitiveLoss::new(spec, VariableBounds::Binary);
        let input = SinglePrecisionInput {
            costs: &costs,
            prediction: &prediction,
            sign: 1.0,
            label: &label,
        };
        let mut gradient = vec![f32::NAN; count];
        let value = loss.evaluate_single(&input, &mut gradient).unwrap();
        gradient.push(value as f32);
        hash_of_bits(&gradient)
    });
    let expected = [
        "0ea9ae6879bb1d4b",
        "14b911483cd79bf6",
        "a1e4bcb8093c9b96",
        "c0b84a42e55a45e8",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_prediction_of_zeros_has_a_finite_gradient_in_single_precision_too() {
    for spec in examples() {
        if let Some((single, double)) = evaluate_both(&spec, &[0.0; 40], 1.0) {
            assert_close(&single, &double, 1e-6, &spec.to_string());
        }
    }
}

#[test]
fn non_finite_and_very_large_numbers_are_evaluated_in_double_precision() {
    for spec in examples() {
        for bad in [f32::NAN, f32::INFINITY, 1e30] {
            let mut prediction = row(3.7, 40);
            prediction[20] = bad;
            let result = evaluate_both(&spec, &prediction, 1.0);
            assert!(
                result
                    .is_none_or(|(single, _)| bad == 1e30 && single.iter().all(|g| g.is_finite())),
                "{spec}: {bad}"
            );
        }
    }
}
