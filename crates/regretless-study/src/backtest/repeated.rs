//! Baselines that repeat the costs of an earlier period.

use std::borrow::Cow;

use super::fold_data::FoldData;
use super::method::RepeatedCosts;
use super::runner::BacktestTable;
use regretless::data::{Dataset, FeatureShape, Matrix};
use regretless_base::error::{Error, Result};

/// Repeats earlier costs for the rows that a fold decides.
pub(super) struct Repetition<'a> {
    pub table: &'a BacktestTable<'a>,
    pub data: &'a FoldData,
    pub costs: RepeatedCosts,
}

impl Repetition<'_> {
    /// The mean costs of the last period, or of the last one that is a multiple of a season before
    /// the decided one, for every decided row, minimized.
    pub fn predictions(&self, season: usize) -> Result<Matrix> {
        let test = self.data.test.data();
        let earlier = match self.costs {
            RepeatedCosts::OfHistory => self.data.whole.data.data(),
            RepeatedCosts::Known(_) => self.table.data.data(),
        };
        let has_absent_costs = earlier.has_absent_costs() || test.has_absent_costs();
        // Positions of a long table without names are other items in every row.
        let is_wide = earlier.features().shape() == FeatureShape::Wide;
        let has_positions = !is_wide && !earlier.cost_names().are_explicit();
        if has_absent_costs && has_positions {
            return Err(no_earlier_costs());
        }
        let costs = earlier.predicted_part();
        let mut values = Vec::with_capacity(test.len() * costs.cols());
        for (row, period) in self.data.test_periods.iter().enumerate() {
            let rows = self.rows_before(*period, season).ok_or_else(|| {
                Error::setting("the history of a fold is shorter than a season")
                    .with_remedy("choose a longer training window or a shorter season")
            })?;
            let exists = test.present_costs(row);
            let means = mean_of_rows(earlier, &costs, &rows);
            for (column, mean) in means.into_iter().enumerate() {
                let is_needed = exists.is_none_or(|exists| exists[column]);
                match mean {
                    Some(mean) => values.push(mean),
                    None if is_needed => return Err(no_earlier_costs()),
                    None => values.push(0.0),
                }
            }
        }
        let costs = Matrix::from_f64(test.len(), costs.cols(), &values)?;
        let rows = self.data.test_rows();
        self.data.test.data().complete_predictions(&rows, costs)
    }

    /// The rows whose costs are repeated for a period, by their position in the history or in the
    /// table.
    fn rows_before(&self, period: usize, season: usize) -> Option<Cow<'_, [usize]>> {
        let latest = match self.costs {
            RepeatedCosts::OfHistory => self.data.history.keys().next_back().copied()?,
            RepeatedCosts::Known(distance) => period.checked_sub(distance)?,
        };
        let seasons = (period - latest).div_ceil(season);
        let source = period.checked_sub(seasons.checked_mul(season)?)?;
        match self.costs {
            RepeatedCosts::OfHistory => self.data.history.get(&source).map(|rows| rows.into()),
            RepeatedCosts::Known(_) => Some(self.table.periods.rows(source).into()),
        }
    }

    /// Hash of the costs that are not part of the history of the fold: they are those of periods
    /// after it. None if all are.
    pub fn hash(&self, season: usize) -> Option<String> {
        if self.costs == RepeatedCosts::OfHistory {
            return None;
        }
        // A cell that cannot be run has no outcome to store.
        let predicted = self.predictions(season).ok()?;
        let mut hasher = blake3::Hasher::new();
        for row in 0..predicted.rows() {
            for value in predicted.row(row) {
                hasher.update(&value.to_le_bytes());
            }
        }
        Some(hasher.finalize().to_hex().to_string())
    }
}

fn no_earlier_costs() -> Error {
    Error::setting("an item need not exist in an earlier period: earlier costs cannot be repeated")
}

/// The mean of each cost over the rows in which it exists; `None` if it exists in none.
fn mean_of_rows(data: &Dataset, costs: &Matrix, rows: &[usize]) -> Vec<Option<f64>> {
    let mut sums = vec![0.0; costs.cols()];
    let mut counts = vec![0_usize; costs.cols()];
    for row in rows {
        let exists = data.present_costs(*row);
        for (column, cost) in costs.row(*row).iter().enumerate() {
            if exists.is_none_or(|exists| exists[column]) {
                sums[column] += f64::from(*cost);
                counts[column] += 1;
            }
        }
    }
    let means = sums.iter().zip(counts);
    means
        .map(|(sum, count)| (count > 0).then(|| sum / count as f64))
        .collect()
}
