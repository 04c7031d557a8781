//! Scales of axes: positions of values, and ticks.

use crate::report::svg::SMALL_TEXT_HEIGHT;
use crate::report::text::{trimmed, width};

/// An axis that maps values `low..high` to positions `from..to`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisScale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
    /// Whether ticks are integers only.
    integer_ticks: bool,
}

impl AxisScale {
    /// A linear axis that begins and ends at round numbers.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        let step = step(high - low);
        Self {
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            from,
            to,
            log: false,
            integer_ticks: false,
        }
    }

    /// A linear axis with integer ticks from the lowest to the highest value.
    pub(crate) fn integer(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        Self {
            low,
            high: if low < high { high } else { low + 1.0 },
            from,
            to,
            log: false,
            integer_ticks: true,
        }
    }

    /// A logarithmic axis; values of 0 and below are at its low end.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values.into_iter().filter(|value| *value > 0.0));
        let (low, high) = if low > 0.0 && high.is_finite() {
            (low / 1.3, high * 1.3)
        } else {
            (0.1, 10.0)
        };
        Self {
            low,
            high,
            from,
            to,
            log: true,
            integer_ticks: false,
        }
    }

    /// The position of a value; values outside are at the ends.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let fraction = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + fraction.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether a value is between both ends.
    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Values with a tick, and their labels, as many as have space on a horizontal axis.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let label = |value: f64| (value, trimmed(value));
        let candidates = if self.log {
            self.log_ticks()
        } else {
            let all = self.linear_ticks();
            let every = |step: usize| all.iter().copied().step_by(step).collect();
            vec![every(1), every(2), every(4)]
        };
        let mut ticks = Vec::new();
        for values in candidates {
            ticks = values.into_iter().map(label).collect();
            if self.has_space_for(&ticks) {
                break;
            }
        }
        ticks
    }

    /// Whether labels below their ticks do not touch each other.
    fn has_space_for(&self, ticks: &[(f64, String)]) -> bool {
        const LABEL_SPACING: f64 = 6.0;
        ticks.windows(2).all(|pair| {
            let distance = (self.at(pair[1].0) - self.at(pair[0].0)).abs();
            let widths = width(&pair[0].1) + width(&pair[1].1);
            distance >= widths * SMALL_TEXT_HEIGHT / 2.0 + LABEL_SPACING
        })
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let step = step(self.high - self.low);
        let step = if self.integer_ticks {
            step.ceil()
        } else {
            step
        };
        /// Fraction of a step that absorbs rounding: round numbers are rarely exact in binary.
        const STEP_TOLERANCE: f64 = 1e-6;
        let (first, last) = (
            (self.low / step - STEP_TOLERANCE).ceil() as i64,
            (self.high / step + STEP_TOLERANCE).floor() as i64,
        );
        (first..=last).map(|index| index as f64 * step).collect()
    }

    /// Several lists of ticks, each with fewer than the one before.
    fn log_ticks(&self) -> Vec<Vec<f64>> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let within = |digits: &[f64], step: usize| -> Vec<f64> {
            let powers = (first..=last).step_by(step);
            let all = powers.flat_map(|power| digits.iter().map(move |d| d * 10_f64.powi(power)));
            all.filter(|value| (self.low..=self.high).contains(value))
                .collect()
        };
        let mut lists = vec![within(&[1.0], 1), within(&[1.0], 2), within(&[1.0], 3)];
        if last - first <= 3 {
            lists.insert(0, within(&[1.0, 2.0, 5.0], 1));
            // Powers of ten alone may be a single tick.
            lists.insert(1, within(&[1.0, 3.0], 1));
        }
        lists
    }
}

fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// A step of 1, 2, 2.5 or 5 times a power of ten, about six of which make up the length.
fn step(length: f64) -> f64 {
    let rough = length / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .find(|digit| digit * power >= rough * 0.999)
        .unwrap_or(10.0);
    digit * power
}

#[cfg(test)]
mod tests {
    use super::AxisScale;

    fn written(scale: &AxisScale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn linear_axes_begin_and_end_at_round_numbers() {
        let scale = AxisScale::linear([0.0, 1.13], 0.0, 300.0);
        assert_eq!(
            written(&scale),
            ["0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"]
        );
        assert!((scale.at(0.6) - 150.0).abs() < 1e-9);
        assert_eq!((scale.at(-5.0), scale.at(9.0)), (0.0, 300.0));
    }

    #[test]
    fn integer_axes_have_integer_ticks() {
        assert_eq!(
            written(&AxisScale::integer([1.0, 15.0], 0.0, 200.0)),
            ["3", "6", "9", "12", "15"]
        );
        assert_eq!(
            written(&AxisScale::integer([0.0, 2.0], 0.0, 100.0)),
            ["0", "1", "2"]
        );
    }

    #[test]
    fn log_axes_have_ticks_at_powers_of_ten() {
        let scale = AxisScale::log([0.02, 3000.0], 0.0, 300.0);
        assert_eq!(written(&scale), ["0.1", "1", "10", "100", "1,000"]);
        assert!(scale.at(0.0) == 0.0 && scale.at(10.0) > scale.at(1.0));
        assert!((scale.at(10.0) - scale.at(1.0) - scale.at(1.0) + scale.at(0.1)).abs() < 1e-9);
    }

    #[test]
    fn a_short_axis_has_fewer_ticks() {
        let values = [900.0, 60_000.0];
        let (long, short) = (
            AxisScale::log(values, 0.0, 600.0),
            AxisScale::log(values, 0.0, 120.0),
        );
        assert_eq!(written(&long).len(), 6);
        assert_eq!(written(&short), ["1,000", "10,000"]);
        let linear = AxisScale::linear([0.0, 60_000.0], 0.0, 150.0);
        assert_eq!(written(&linear), ["0", "20,000", "40,000", "60,000"]);
    }

    #[test]
    fn an_axis_of_one_value_or_none_still_has_a_length() {
        for scale in [
            AxisScale::linear([3.0], 0.0, 90.0),
            AxisScale::linear([], 0.0, 90.0),
            AxisScale::log([0.0], 0.0, 90.0),
        ] {
            assert!(scale.ticks().len() > 1 && scale.at(1.0).is_finite());
        }
    }
}
