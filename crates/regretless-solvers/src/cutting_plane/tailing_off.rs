//! Tailing off: rounds of cuts that no longer raise the objective enough.

/// Counts consecutive rounds with little gain.
#[derive(Debug)]
pub(crate) struct TailingOff {
    last_objective: f64,
    weak_rounds: u32,
    max_weak_rounds: u32,
}

impl TailingOff {
    /// Starts at an objective; up to `max_weak_rounds` consecutive rounds may gain little.
    pub(crate) fn new(objective: f64, max_weak_rounds: u32) -> Self {
        Self {
            last_objective: objective,
            weak_rounds: 0,
            max_weak_rounds,
        }
    }

    /// Records the objective after a round; whether more than `max_weak_rounds` consecutive rounds
    /// each gained less than `min_gain`.
    pub(crate) fn is_tailing_off(&mut self, objective: f64, min_gain: f64) -> bool {
        self.weak_rounds = if objective - self.last_objective < min_gain {
            self.weak_rounds + 1
        } else {
            0
        };
        self.last_objective = objective;
        self.weak_rounds > self.max_weak_rounds
    }
}

#[cfg(test)]
mod tests {
    use super::TailingOff;

    #[test]
    fn only_consecutive_rounds_count() {
        let mut tailing_off = TailingOff::new(0.0, 1);
        let stops =
            [0.1, 2.0, 2.1, 2.2, 2.3].map(|objective| tailing_off.is_tailing_off(objective, 1.0));
        assert_eq!(stops, [false, false, false, true, true]);
    }
}
