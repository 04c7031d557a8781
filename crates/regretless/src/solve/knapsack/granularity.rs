//! Numbers with few decimals lie on a grid, and so do all their sums: that closes gaps.

/// Most decimals looked for.
const MAX_DECIMALS: i32 = 6;
/// Largest multiple of the grid step for which sums are still told apart with certainty.
const MAX_GRID_MULTIPLE: f64 = 1e9;

/// The largest step of which all these numbers are multiples, up to rounding in their last digit;
/// `None` when there is no such step among whole numbers and decimals.
pub(in crate::solve) fn step(numbers: &(impl Iterator<Item = f64> + Clone)) -> Option<f64> {
    let total: f64 = numbers.clone().map(f64::abs).sum();
    (0..=MAX_DECIMALS)
        .map(|decimals| 10_f64.powi(decimals))
        .find_map(|factor| {
            if total * factor > MAX_GRID_MULTIPLE {
                return None;
            }
            let divisor = numbers.clone().try_fold(0, |divisor, number| {
                Some(gcd(divisor, as_integer(number * factor)?))
            })?;
            (divisor > 0).then(|| divisor as f64 / factor)
        })
}

/// A number as a whole number, if it is one up to rounding.
fn as_integer(number: f64) -> Option<u64> {
    let size = number.abs();
    let nearest = size.round();
    ((size - nearest).abs() <= 4.0 * f64::EPSILON * size).then_some(nearest as u64)
}

/// The greatest common divisor (Euclid).
fn gcd(mut a: u64, mut b: u64) -> u64 {
    if a == 1 {
        return 1;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn decimals_and_whole_numbers_have_a_step_and_others_do_not() {
        let of = |numbers: &[f64]| step(&numbers.iter().copied());
        assert_eq!(of(&[6.0, -9.0, 0.0]), Some(3.0));
        assert_eq!(of(&[0.3, 0.7, 20.0]), Some(0.1));
        assert_eq!(of(&[0.25, 0.5]), Some(0.25));
        assert_eq!(of(&[1.0 / 3.0, 1.0]), None);
        assert_eq!(of(&[0.0]), None);
        assert_eq!(of(&[f64::from(0.1_f32), 1.0]), None);
    }
}
