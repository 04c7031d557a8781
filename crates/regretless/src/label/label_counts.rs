//! Labels by their proven quality.

use super::LabeledDataset;
use crate::solve::SolveStatus;

/// Labels by their proven quality.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct LabelCounts {
    /// Optimal decisions.
    pub optimal: usize,
    /// Decisions within a gap that the limits allow.
    pub within_gap: usize,
    /// Incumbents of searches that stopped at a limit of nodes or seconds, and decisions of
    /// heuristics.
    pub limit_reached: usize,
    /// The largest relative gap between the objective of a label and its dual bound; `None` if a
    /// label has no bound.
    pub max_gap: Option<f64>,
}

impl LabelCounts {
    /// Whether all labels are optimal.
    pub fn are_optimal(&self) -> bool {
        self.within_gap + self.limit_reached == 0
    }
}

impl std::fmt::Display for LabelCounts {
    /// `250 optimal, 50 within a gap; at most 0.93 % from the optimum`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} optimal", self.optimal)?;
        if self.within_gap > 0 {
            write!(f, ", {} within a gap", self.within_gap)?;
        }
        if self.limit_reached > 0 {
            write!(f, ", {} stopped at a limit", self.limit_reached)?;
        }
        match self.max_gap {
            _ if self.are_optimal() => Ok(()),
            Some(gap) => write!(f, "; at most {:.2} % from the optimum", 100.0 * gap),
            None => write!(f, "; not all have a bound"),
        }
    }
}

impl LabeledDataset {
    /// The labels of these rows by their proven quality.
    pub fn label_counts(&self, rows: &[usize]) -> LabelCounts {
        let mut counts = LabelCounts {
            max_gap: Some(0.0),
            ..LabelCounts::default()
        };
        for row in rows.iter().filter(|row| self.has_label(**row)) {
            let label = &self.labels[*row];
            let gap = match label.status {
                SolveStatus::Optimal => {
                    counts.optimal += 1;
                    continue;
                }
                SolveStatus::WithinGap(gap) => {
                    counts.within_gap += 1;
                    gap
                }
                SolveStatus::LimitReached => {
                    counts.limit_reached += 1;
                    // A bound above the objective is rounding.
                    let difference = (label.objective - label.bound).max(0.0);
                    difference / label.objective.abs().max(f64::MIN_POSITIVE)
                }
            };
            let larger = counts.max_gap.map(|max| max.max(gap));
            // An infinite gap means that nothing is known about one label, and so about the worst.
            counts.max_gap = larger.filter(|_| gap.is_finite());
        }
        counts
    }
}
