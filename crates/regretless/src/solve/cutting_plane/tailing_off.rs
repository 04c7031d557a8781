//! When rounds of cuts no longer raise the objective enough.

/// Counts rounds that gained little, one after the other.
#[derive(Debug)]
pub(in crate::solve) struct TailingOff {
    last: f64,
    flat: u32,
    patience: u32,
}

impl TailingOff {
    /// Begins at an objective; so many rounds in a row may gain little.
    pub(in crate::solve) fn new(objective: f64, patience: u32) -> Self {
        Self {
            last: objective,
            flat: 0,
            patience,
        }
    }

    /// Whether too many rounds in a row each gained less than this.
    pub(in crate::solve) fn is_tailing_off(&mut self, objective: f64, little: f64) -> bool {
        self.flat = if objective - self.last < little {
            self.flat + 1
        } else {
            0
        };
        self.last = objective;
        self.flat > self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::TailingOff;

    #[test]
    fn only_rounds_in_a_row_count() {
        let mut tail = TailingOff::new(0.0, 1);
        let flat = [0.1, 2.0, 2.1, 2.2, 2.3].map(|objective| tail.is_tailing_off(objective, 1.0));
        assert_eq!(flat, [false, false, false, true, true]);
    }
}
