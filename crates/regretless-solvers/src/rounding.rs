//! Costs of tables are stored in single precision. A cycle whose costs add up to 0 in the table
//! (0.1, 0.2 and -0.3) may then be slightly negative, as if going around it paid.

/// Half the distance of a number to the next one in single precision, relative to the number: what
/// rounding changes at most.
const SINGLE_PRECISION_ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// Costs, each raised by what rounding may have taken off it: a cycle that is still negative is so
/// in the table too.
pub(super) fn raised_by_rounding(costs: &[f64]) -> Vec<f64> {
    let raised = costs
        .iter()
        .map(|cost| cost + SINGLE_PRECISION_ROUNDING * cost.abs());
    raised.collect()
}

#[cfg(test)]
mod tests {
    use super::raised_by_rounding;

    #[test]
    fn sums_that_rounding_made_negative_are_so_no_more() {
        let rounded = [0.1_f32, 0.2, -0.3].map(f64::from);
        assert!(rounded.iter().sum::<f64>() < 0.0);
        assert!(raised_by_rounding(&rounded).iter().sum::<f64>() >= 0.0);
        let negative = [0.1_f32, 0.2, -0.300_001].map(f64::from);
        assert!(raised_by_rounding(&negative).iter().sum::<f64>() < 0.0);
    }
}
