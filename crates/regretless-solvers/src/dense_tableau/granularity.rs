//! Granularity of objectives: the largest number of which all costs are multiples. All differences
//! of objectives of integral points are multiples of it, too. That raises the improvement an
//! incumbent needs and prunes nodes.

/// Maximum number of decimals of a granularity. Data files rarely have more; each one takes a pass
/// over the costs.
const MAX_DECIMALS: i32 = 6;
/// Largest sum of costs, in multiples of the granularity. Rounding errors of such sums stay below
/// 1e-6 of the granularity, so objectives remain distinguishable.
const MAX_SUM_IN_GRANULARITIES: f64 = 1e9;
/// Relative distance below which a number counts as an integer: the rounding errors of reading a
/// decimal number and of one multiplication.
const INTEGER_TOLERANCE: f64 = 4.0 * f64::EPSILON;
/// Fraction of the granularity reserved for rounding errors.
const ROUNDING_FRACTION: f64 = 1e-3;

/// The difference by which an objective must improve on one of this magnitude: almost the
/// granularity if objectives have one, otherwise the relative `tolerance`.
#[inline]
pub(crate) fn min_improvement(magnitude: f64, granularity: f64, tolerance: f64) -> f64 {
    if granularity > 0.0 {
        granularity * (1.0 - ROUNDING_FRACTION)
    } else {
        tolerance * magnitude
    }
}

/// The largest number of which all these numbers are multiples, up to rounding in their last digit;
/// `None` if it is not among the integers and the decimals with at most [`MAX_DECIMALS`] digits.
pub(crate) fn find_granularity(numbers: &(impl Iterator<Item = f64> + Clone)) -> Option<f64> {
    let total: f64 = numbers.clone().map(f64::abs).sum();
    for decimals in 0..=MAX_DECIMALS {
        let factor = 10_f64.powi(decimals);
        if total * factor > MAX_SUM_IN_GRANULARITIES {
            return None;
        }
        let divisor = common_divisor(numbers.clone().map(|number| number * factor));
        if let Some(divisor) = divisor.filter(|divisor| *divisor > 0) {
            return Some(divisor as f64 / factor);
        }
    }
    None
}

/// The greatest common divisor of these numbers, if all are integers.
fn common_divisor(mut numbers: impl Iterator<Item = f64>) -> Option<u64> {
    numbers.try_fold(0, |divisor, number| Some(gcd(divisor, as_integer(number)?)))
}

/// The absolute value as an integer, if it is one up to rounding.
fn as_integer(number: f64) -> Option<u64> {
    let magnitude = number.abs();
    let nearest = magnitude.round();
    ((magnitude - nearest).abs() <= INTEGER_TOLERANCE * magnitude).then_some(nearest as u64)
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
    use super::find_granularity;

    #[test]
    fn integers_and_decimals_have_a_granularity_and_other_numbers_do_not() {
        let granularity = |numbers: &[f64]| find_granularity(&numbers.iter().copied());
        assert_eq!(granularity(&[6.0, -9.0, 0.0]), Some(3.0));
        assert_eq!(granularity(&[0.3, 0.7, 20.0]), Some(0.1));
        assert_eq!(granularity(&[0.25, 0.5]), Some(0.25));
        assert_eq!(granularity(&[1.0 / 3.0, 1.0]), None);
        assert_eq!(granularity(&[0.0]), None);
        assert_eq!(granularity(&[f64::from(0.1_f32), 1.0]), None);
    }
}
