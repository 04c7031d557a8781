//! Columns that belong to one cost each: forecasts that are compared as they are, and inputs of
//! predictors that all costs share.

use std::sync::Arc;

use regretless::data::{Dataset, Matrix};
use regretless::method::Method;
use regretless::notes::{Note, NoteKind};
use regretless_base::error::Result;

use super::table::common_pattern;
use super::{FitTable, StatedRoles};
use crate::backtest::{GivenMethod, Periods};

/// Root mean squared error of a forecast in standard deviations of the costs, from which a group of
/// columns is no forecast but another quantity. Costs at random have the square root of two.
const MAX_FORECAST_ERROR: f64 = 2.0;

/// Why a group of columns that is named like the costs is no forecast of them.
const OTHER_SCALE: &str = "are not compared: they are on another scale than the costs";

/// The groups of a table that was encoded, as the first training of a history sees them.
pub(super) fn columns_of_costs(encoded: &Dataset, periods: &Periods) -> Vec<Vec<String>> {
    encoded.columns_of_costs(&first_rows(periods))
}

/// The rows that the first training of a history sees; all rows without times.
fn first_rows(periods: &Periods) -> Vec<usize> {
    let known = if periods.are_ordered() {
        periods.len() / 2
    } else {
        periods.len()
    };
    let rows = (0..known).flat_map(|period| periods.rows(period).to_vec());
    rows.collect()
}

/// The patterns of groups, for people.
pub(super) fn group_patterns(groups: &[Vec<String>]) -> Option<String> {
    let patterns: Vec<String> = groups.iter().map(|group| common_pattern(group)).collect();
    (!patterns.is_empty()).then(|| format!("a column each in {}", patterns.join(", ")))
}

/// The least squares that all costs share.
pub(super) fn shared_least_squares() -> Method {
    Method::LeastSquares {
        penalty: 0.0,
        is_shared: true,
    }
}

impl FitTable {
    /// The columns that are forecasts of the costs, and the costs of earlier periods: decisions by
    /// them are compared. Of several groups those on another scale than the costs are left out, for
    /// the reasons in the second list.
    pub(super) fn given_forecasts(&self) -> Result<(Vec<GivenMethod>, Vec<String>)> {
        let costs = self.roles.costs.len().max(1);
        let forecasts: Vec<&[String]> = self.roles.forecasts.chunks(costs).collect();
        let is_only = forecasts.len() == 1;
        let in_order = self.in_order_of_problem();
        let (mut given, mut reasons) = (Vec::new(), Vec::new());
        let lags = self.roles.lags.chunks(costs);
        for (position, group) in forecasts.iter().copied().chain(lags).enumerate() {
            let values = self.source.read_features(&in_order(group));
            let values = match values {
                Ok(values) => values.values().clone(),
                // Earlier costs may be gaps.
                Err(_) if position >= forecasts.len() => continue,
                Err(error) => return Err(error),
            };
            let name = format!("columns {}", common_pattern(group));
            if is_only || position >= forecasts.len() || self.has_scale_of_costs(&values) {
                given.push(GivenMethod::Predictions {
                    name,
                    costs: Arc::new(values),
                });
            } else {
                reasons.push(format!("{name} {OTHER_SCALE}"));
            }
        }
        Ok((given, reasons))
    }

    /// Leaves groups of columns that were found by their names without the role of forecasts if
    /// they are another quantity, such as numbers of orders beside their amounts.
    pub(super) fn keep_forecasts_of_costs(&mut self, stated: &StatedRoles) -> Result<()> {
        if !stated.forecasts.is_empty() {
            return Ok(());
        }
        let costs = self.roles.costs.len().max(1);
        let mut kept = Vec::new();
        for group in self.roles.forecasts.chunks(costs) {
            let values = self
                .source
                .read_features(&self.in_order_of_problem()(group));
            if values.is_ok_and(|values| self.has_scale_of_costs(values.values())) {
                kept.extend_from_slice(group);
            } else {
                let text = format!("columns {} {OTHER_SCALE}", common_pattern(group));
                let kind = NoteKind::UnusedColumn;
                self.notes.push(Note { kind, text });
            }
        }
        self.roles.forecasts = kept;
        Ok(())
    }

    /// Looks at the rows that the first training of a history sees.
    fn has_scale_of_costs(&self, forecast: &Matrix) -> bool {
        let costs = self.table.data().costs();
        let (mut sum, mut square, mut error, mut count) = (0.0, 0.0, 0.0, 0.0);
        for row in first_rows(&self.periods) {
            for (predicted, cost) in forecast.row(row).iter().zip(costs.row(row)) {
                let (predicted, cost) = (f64::from(*predicted), f64::from(*cost));
                if cost.is_finite() {
                    sum += cost;
                    square += cost * cost;
                    error += (predicted - cost).powi(2);
                    count += 1.0;
                }
            }
        }
        let variance = square / count - (sum / count).powi(2);
        error / count <= MAX_FORECAST_ERROR.powi(2) * variance
    }
}
