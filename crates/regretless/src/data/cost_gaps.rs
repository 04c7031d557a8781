//! Gaps in the costs of a table. What helps depends on how many rows have them: a few rows can be
//! left out, while gaps in many rows mean that costs were observed only for what was chosen.

use super::Matrix;
use crate::error::Error;

/// Share of rows with gaps up to which they are mistakes. Untuned: without one row in twenty a
/// table is nearly as good; if costs are observed only for what was chosen, nearly all rows have
/// gaps.
const MAX_RARE_SHARE: f64 = 0.05;

/// How many rows of a table have gaps in their costs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CostGaps {
    pub rows_with_gaps: usize,
    pub rows: usize,
}

impl CostGaps {
    /// Those of costs that are NaN.
    pub fn of(costs: &Matrix) -> Self {
        let mut gaps = Self::default();
        for row in 0..costs.rows() {
            gaps.add(costs.row(row).iter().any(|cost| cost.is_nan()));
        }
        gaps
    }

    /// Counts a row.
    pub fn add(&mut self, has_gap: bool) {
        self.rows += 1;
        self.rows_with_gaps += usize::from(has_gap);
    }

    /// Whether so few rows have gaps that they can be left out.
    pub fn are_rare(self) -> bool {
        // Rows with rare gaps are reported one by one instead.
        self.rows_with_gaps as f64 <= MAX_RARE_SHARE * self.rows as f64
    }

    /// The error of the first gap, with what helps if many rows have gaps.
    pub fn explain(self, error: Error) -> Error {
        if self.are_rare() {
            return error;
        }
        error.with_remedy(format!(
            "{} of {} rows have gaps in their costs; if costs were observed only for what was \
             chosen, do not fill in numbers, which would be learned: mark what was not available \
             in a row with `present`; there is no training for costs of available items that were \
             not observed",
            self.rows_with_gaps, self.rows
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::CostGaps;
    use crate::error::Error;

    #[test]
    fn gaps_in_many_rows_have_another_remedy_than_rare_ones() {
        let explained = |rows_with_gaps: usize| {
            let gaps = CostGaps {
                rows_with_gaps,
                rows: 100,
            };
            gaps.explain(Error::data("a gap")).to_string()
        };
        assert!(!explained(5).contains("present"));
        let many = explained(6);
        assert!(
            many.contains("6 of 100 rows") && many.contains("`present`"),
            "{many}"
        );
    }
}
