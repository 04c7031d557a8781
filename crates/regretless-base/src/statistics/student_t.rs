//! Quantiles of Student's t distribution (1908), from its distribution function for whole degrees
//! of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

/// More degrees of freedom count as this many: a quantile of 97.5 % then differs by 1e-4 from that
/// of the normal distribution.
const MAX_DEGREES_OF_FREEDOM: usize = 10_000;
/// Halvings of the range of a quantile: more do not change a double.
const HALVINGS: usize = 100;

/// The value below which a variable lies with this probability, of at least one half.
pub(super) fn student_t_quantile(probability: f64, degrees_of_freedom: usize) -> f64 {
    let wanted = 2.0 * probability - 1.0;
    let degrees_of_freedom = degrees_of_freedom.clamp(1, MAX_DEGREES_OF_FREEDOM);
    let mut upper = 1.0;
    while central_probability(upper, degrees_of_freedom) < wanted && upper < f64::MAX / 2.0 {
        upper *= 2.0;
    }
    let mut lower = 0.0;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (lower + upper);
        if central_probability(middle, degrees_of_freedom) < wanted {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    upper
}

/// The probability of the range from −t to t.
fn central_probability(t: f64, degrees_of_freedom: usize) -> f64 {
    let angle = (t / (degrees_of_freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // A sum of powers of the cosine, even ones for an even number and odd ones for an odd number.
    let is_even = degrees_of_freedom.is_multiple_of(2);
    let (mut term, mut factor) = if is_even { (1.0, 1.0) } else { (cosine, 2.0) };
    let mut sum = 0.0;
    for _ in 0..degrees_of_freedom / 2 {
        sum += term;
        term *= cosine * cosine * factor / (factor + 1.0);
        factor += 2.0;
    }
    if is_even {
        sine * sum
    } else {
        std::f64::consts::FRAC_2_PI * (angle + sine * sum)
    }
}

#[cfg(test)]
mod tests {
    use super::student_t_quantile;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        let printed = [
            (0.975, 1, 12.706),
            (0.975, 2, 4.303),
            (0.975, 4, 2.776),
            (0.975, 10, 2.228),
            (0.975, 11, 2.201),
            (0.975, 19, 2.093),
            (0.975, 60, 2.000),
            (0.995, 1, 63.657),
            (0.995, 4, 4.604),
            (0.995, 9, 3.250),
            (0.9995, 5, 6.869),
            (0.975, 1_000_000, 1.960),
        ];
        for (probability, freedom, point) in printed {
            let quantile = student_t_quantile(probability, freedom);
            let difference = (quantile - point).abs();
            assert!(difference < 6e-4, "{probability} {freedom}: {quantile}");
        }
    }
}
