//! The cost-sensitive family on rows in single precision, against the plain way in double
//! precision.

use std::sync::Arc;

use regretless::Decision;
use regretless::loss::cost_sensitive::CostSensitiveLoss;
use regretless::loss::{
    CostSensitiveSpec, ErrorSide, Loss, LossInput, LossSpec, NoiseKey, SinglePrecisionInput,
};
use regretless::oracle::Oracle;
use regretless::problem::{Sense, TopK, VariableBounds};

use crate::tests::common::assert_close;

/// A row of this many numbers between −1 and 3, every 50th of them the same whatever the seed.
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

/// The examples of the cost-sensitive family.
fn examples() -> Vec<CostSensitiveSpec> {
    let mut found = Vec::new();
    for spec in LossSpec::examples().unwrap() {
        found.extend(spec.downcast_ref::<CostSensitiveSpec>().cloned());
    }
    assert_eq!(found.len(), 12);
    found
}

fn doubles(row: &[f32], sign: f32) -> Vec<f64> {
    row.iter().map(|number| f64::from(sign * number)).collect()
}

/// Both ways on the same row, value first, gradients in the sense of the user.
fn both(spec: &CostSensitiveSpec, prediction: &[f32], sign: f32) -> Option<(Vec<f64>, Vec<f64>)> {
    let loss = CostSensitiveLoss::new(spec.clone(), VariableBounds::Binary);
    let (count, costs) = (prediction.len(), row(2.1, prediction.len()));
    let best = Decision::from_indices((0..count as u32).filter(|j| j % 3 == 1));
    let mut single = vec![f32::NAN; count];
    let query = SinglePrecisionInput {
        costs: &costs,
        prediction,
        sign,
        label: &best,
    };
    let value = loss.evaluate_single(&query, &mut single)?;
    let (costs, prediction) = (doubles(&costs, 1.0), doubles(prediction, sign));
    let query = LossInput {
        instance: 0,
        costs: &costs,
        prediction: &prediction,
        label: &best,
        noise: NoiseKey::default(),
    };
    let oracle = Oracle::new(Arc::new(TopK::new(count, 1, Sense::Minimize).unwrap()));
    let mut plain = vec![f64::NAN; count];
    let plain_value = loss
        .evaluate(&query, &mut oracle.worker(), &mut plain)
        .unwrap();
    let of_single = [vec![value], doubles(&single, 1.0)].concat();
    let of_plain = [
        vec![plain_value],
        plain.iter().map(|g| f64::from(sign) * g).collect(),
    ]
    .concat();
    Some((of_single, of_plain))
}

#[test]
fn rows_in_single_precision_agree_with_the_plain_way() {
    for spec in examples() {
        for count in [3, 15, 16, 40, 2500] {
            for sign in [1.0, -1.0] {
                let Some((single, plain)) = both(&spec, &row(3.7, count), sign) else {
                    let here =
                        cfg!(not(target_arch = "x86_64")) || is_x86_feature_detected!("avx2");
                    assert!(
                        !here || matches!(spec.side, ErrorSide::Pinball(_)),
                        "{spec} has no fast way"
                    );
                    continue;
                };
                let what = format!("{spec}, {count} costs, sign {sign}");
                assert_close(&single[..1], &plain[..1], 1e-5, &what);
                assert_close(&single[1..], &plain[1..], 2e-5, &what);
            }
        }
    }
}

#[test]
fn a_prediction_of_zeros_has_a_finite_gradient_in_single_precision_too() {
    for spec in examples() {
        if let Some((single, plain)) = both(&spec, &[0.0; 40], 1.0) {
            assert_close(&single, &plain, 1e-6, &spec.to_string());
        }
    }
}

#[test]
fn numbers_that_are_none_or_too_large_are_left_to_the_plain_way() {
    for spec in examples() {
        for bad in [f32::NAN, f32::INFINITY, 1e30] {
            let mut prediction = row(3.7, 40);
            prediction[20] = bad;
            let taken = both(&spec, &prediction, 1.0);
            assert!(
                taken.is_none_or(|(single, _)| bad == 1e30 && single.iter().all(|g| g.is_finite())),
                "{spec}: {bad}"
            );
        }
    }
}
