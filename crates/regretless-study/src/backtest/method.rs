//! What is compared in a backtest: trained methods, baselines, and what the user already has.

use std::fmt;
use std::sync::Arc;

use super::periods::Periods;
use super::runner::BacktestTable;
use regretless::data::Matrix;
use regretless::method::Method;
use regretless::problem::ProblemKind;
use regretless_base::decision::Decision;
use regretless_base::error::{Error, Result};
use regretless_base::text::first_names;

/// Difference of known costs, relative to the objective, that is rounding.
const KNOWN_COST_TOLERANCE: f64 = 1e-9;

/// A way to decide that exists outside the backtest.
#[derive(Debug, Clone)]
pub enum GivenMethod {
    /// Costs predicted by another forecaster, in the user's sense: one row for each row of the
    /// table. Rows that are not decided may have any values.
    Predictions {
        /// Its name in tables.
        name: String,
        /// The predicted costs, in the order of the problem.
        costs: Arc<Matrix>,
    },
    /// Decisions that were made, such as those of the present practice: one for each row of the
    /// table, none for rows that are not decided.
    Decisions {
        /// Its name in tables.
        name: String,
        /// The columns that the decisions have values of. They must be all of the problem's.
        columns: usize,
        /// The values of the columns with predicted costs, in the order of the problem, followed by
        /// those of the columns with known costs (`ModelParts::auxiliary_names`).
        decisions: Arc<Vec<Option<Decision>>>,
    },
}

impl GivenMethod {
    /// Checks its rows and, by the problem's own check, that the decisions of all decided rows are
    /// feasible.
    ///
    /// # Errors
    /// When they are not; the message has the first such period and the number of them.
    pub(crate) fn check(&self, table: &BacktestTable<'_>) -> Result<()> {
        let name = self.name();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(Error::setting(format!(
                "the name {name:?} is empty or has control characters"
            )));
        }
        let (rows, costs) = (table.data.len(), table.data.data().costs().cols());
        let auxiliary = table.oracle.problem().model_parts().auxiliary_names();
        let (own_rows, own_columns, columns) = match self {
            Self::Predictions { costs: own, .. } => (own.rows(), own.cols(), costs),
            Self::Decisions {
                decisions, columns, ..
            } => (decisions.len(), *columns, costs + auxiliary.len()),
        };
        if own_rows == rows && own_columns == costs && costs < columns {
            return Err(Error::data(format!(
                "'{name}' has no values of {} columns with known costs: {}",
                auxiliary.len(),
                first_names(auxiliary)
            ))
            .with_remedy(
                "give the values of all columns of the problem, or leave the method out",
            ));
        }
        if [own_rows, own_columns] != [rows, columns] {
            return Err(Error::data(format!(
                "'{name}' has {own_rows} rows of {own_columns} columns; {rows} rows of {columns} \
                 columns are needed"
            )));
        }
        if let Self::Decisions { .. } = self {
            check_known_costs(name, table)?;
        }
        let by_row = table.periods.by_row();
        let mut first: Option<String> = None;
        let mut refused = 0;
        for fold in table.folds {
            let unobserved = table.data.data().unobserved_costs(&fold.history);
            for row in &fold.test {
                if let Err(message) = self.check_row(*row, &unobserved, table) {
                    refused += 1;
                    let period = table.periods.name(by_row[row]);
                    first.get_or_insert(format!("{period} (row {row}, counted from 0): {message}"));
                }
            }
        }
        match first {
            None => Ok(()),
            Some(first) => Err(Error::data(format!(
                "'{name}': {refused} of the decided rows cannot be used; the first is {first}"
            ))
            .with_remedy("correct these rows, or leave the method out")),
        }
    }

    /// Checks a row; costs that no earlier row has, which are in increasing order, need no
    /// prediction.
    fn check_row(
        &self,
        row: usize,
        unobserved: &[u32],
        table: &BacktestTable<'_>,
    ) -> std::result::Result<(), String> {
        match self {
            Self::Predictions { costs, .. } => {
                let mut values = Vec::new();
                costs.read(row, &mut values);
                let present = table.data.data().present_costs(row);
                for ((column, value), cost) in values.iter().enumerate().zip(0_u32..) {
                    let exists = present.is_none_or(|present| present[column]);
                    let is_missing = value.is_nan() && unobserved.binary_search(&cost).is_ok();
                    if exists && !value.is_finite() && !is_missing {
                        let column = table.data.data().cost_names().get(column);
                        return Err(format!("no finite prediction of '{column}'"));
                    }
                }
                Ok(())
            }
            Self::Decisions { decisions, .. } => {
                let decision = decisions[row].as_ref().ok_or("there is no decision")?;
                let problem = table.oracle.row_problem(row);
                let problem = problem.map_err(|failure| failure.to_string())?;
                let (predicted, auxiliary) = divide_columns(decision, problem.as_ref());
                problem
                    .check_complete(&predicted, &auxiliary)
                    .map_err(|message| format!("infeasible: {message}"))
            }
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Predictions { name, .. } | Self::Decisions { name, .. } => name,
        }
    }
}

/// Refuses given decisions if decisions have known costs that only the solver knows, as a function
/// does that returns an objective with each decision: those of other decisions cannot be computed.
fn check_known_costs(name: &str, table: &BacktestTable<'_>) -> Result<()> {
    if !table
        .oracle
        .problem()
        .model_parts()
        .auxiliary_names()
        .is_empty()
    {
        // The values of the columns with known costs are given.
        return Ok(());
    }
    for row in table.folds.iter().flat_map(|fold| &fold.test) {
        let label = table.data.optimal_decision(*row);
        let (computed, _) = divide_columns(label, table.oracle.problem().as_ref());
        // The label is a decision whose known costs the solver has stated: if they follow from its
        // columns, those of given decisions do too.
        let rounding = KNOWN_COST_TOLERANCE * table.data.optimal_objective(*row).abs();
        if (label.fixed() - computed.fixed()).abs() > rounding {
            return Err(Error::data(format!(
                "the costs of '{name}' cannot be computed: decisions have known costs besides the \
                 predicted ones, and only the solver knows them"
            ))
            .with_remedy(
                "write the known costs as columns of a linear problem, or leave the method out",
            ));
        }
    }
    Ok(())
}

/// The part of a complete decision that has predicted costs, with the cost of the other columns as
/// its fixed cost, and the values of those.
pub(super) fn divide_columns(
    complete: &Decision,
    problem: &dyn ProblemKind,
) -> (Decision, Vec<f64>) {
    let costs = problem.num_costs();
    let mut auxiliary = vec![0.0; problem.model_parts().auxiliary_names().len()];
    let mut predicted: Vec<(u32, f64)> = Vec::new();
    for (column, value) in complete.iter() {
        match column.checked_sub(costs) {
            None => predicted.push((column as u32, value)),
            Some(column) => auxiliary[column] = value,
        }
    }
    let fixed = problem.model_parts().auxiliary_cost(&auxiliary);
    let predicted = Decision::from_entries(predicted).with_fixed(fixed);
    (predicted, auxiliary)
}

/// Which earlier costs the last period and the seasonal baseline repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatedCosts {
    /// Those at the end of the history of a fold, for all periods that it decides.
    OfHistory,
    /// For each period those that are known when it is decided: of this many periods before, and
    /// earlier. They may be of periods that the same fold has decided.
    Known(usize),
}

/// One method of a backtest.
#[derive(Debug, Clone)]
pub(super) enum BacktestMethod {
    /// The reference: linear regression on the whole history of a fold.
    LeastSquares,
    /// A method that is trained, or `auto`.
    Trained(Method),
    /// The mean of each cost over the history of a fold.
    HistoryMean,
    /// The costs of the last period of the history, or of the last known one.
    LastPeriod,
    /// The costs of the last such period that is a multiple of this many periods before the decided
    /// one.
    SeasonalNaive(usize),
    /// A custom method.
    Given(GivenMethod),
}

impl fmt::Display for BacktestMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeastSquares => f.write_str("least squares"),
            Self::Trained(method) => method.fmt(f),
            Self::HistoryMean => f.write_str("mean of history"),
            Self::LastPeriod => f.write_str("last period"),
            Self::SeasonalNaive(season) => write!(f, "seasonal naive {season}"),
            Self::Given(given) => f.write_str(given.name()),
        }
    }
}

impl BacktestMethod {
    /// All methods of a backtest: the reference first, baselines after the trained ones, and what
    /// the user has last.
    ///
    /// # Errors
    /// When two have the same name, or a season has no period.
    pub fn all(
        methods: &[Method],
        season: Option<usize>,
        periods: &Periods,
        given: &[GivenMethod],
    ) -> Result<Vec<Self>> {
        if season == Some(0) {
            return Err(Error::setting("a season of 0 periods")
                .with_remedy("7 is the season of daily periods with a weekly pattern"));
        }
        let mut all = vec![Self::LeastSquares];
        all.extend(methods.iter().cloned().map(Self::Trained));
        all.push(Self::HistoryMean);
        if periods.are_ordered() {
            all.push(Self::LastPeriod);
        }
        all.extend(season.map(Self::SeasonalNaive));
        all.extend(given.iter().cloned().map(Self::Given));
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(
                    Error::setting(format!("two methods have the name '{name}'"))
                        .with_remedy("leave one of them out, or give it another name"),
                );
            }
        }
        Ok(all)
    }

    /// Whether it is fitted to a history, so it stays as it is if models are not refitted.
    pub fn is_model(&self) -> bool {
        match self {
            Self::LeastSquares | Self::Trained(_) => true,
            Self::HistoryMean | Self::LastPeriod | Self::SeasonalNaive(_) | Self::Given(_) => false,
        }
    }

    /// Whether the training of a fold can start from the model of the fold before.
    pub fn can_start_warm(&self) -> bool {
        matches!(self, Self::Trained(Method::Stages(_)))
    }
}
