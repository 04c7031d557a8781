//! Medians, means and ratios of times.

/// Times of one program, in seconds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Times(pub Vec<f64>);

impl Times {
    /// The minimum.
    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The average.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The median; of an even number of times the mean of the middle two.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        }
    }
}

/// Seconds as milliseconds, to three significant digits.
pub fn milliseconds(seconds: f64) -> String {
    digits(seconds * 1e3)
}

/// Smaller numbers are printed as 0; avoids the logarithm of 0.
const SMALLEST_SHOWN: f64 = 1e-9;

/// A number to three significant digits.
pub fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let exponent = value.abs().max(SMALLEST_SHOWN).log10().floor() as i32;
    let decimals = usize::try_from(2 - exponent).unwrap_or(0).min(6);
    format!("{value:.decimals$}")
}

/// The speedup: their time divided by ours.
pub fn ratio(theirs: f64, ours: f64) -> String {
    let ratio = theirs / ours;
    if ratio.is_finite() {
        format!("{}×", digits(ratio))
    } else {
        "–".into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Times, digits};

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert_eq!(Times(vec![4.0, 1.0, 3.0, 100.0]).median(), 3.5);
        assert_eq!(Times(vec![4.0, 1.0, 3.0]).median(), 3.0);
    }

    #[test]
    fn three_digits_are_shown_whatever_the_size() {
        let shown = [0.001_234, 0.1, 1.5, 31.25, 1234.5].map(digits);
        assert_eq!(shown, ["0.00123", "0.100", "1.50", "31.2", "1234"]);
        assert_eq!(digits(f64::NAN), "–");
    }
}
