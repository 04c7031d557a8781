//! Which rows are decided by models of which others, and what is compared on them.

use regretless::method::Method;
use regretless_base::error::{Error, Result};

use super::{FitSettings, FitTable};
use crate::backtest::{
    Backtest, BacktestFold, Periods, RepeatedCosts, RollingOrigin, TrainingWindow, cross_validation,
};

/// Trainings of each method on a history, and folds of a cross-validation. Few, because each of
/// them is a search; five are the usual number of folds.
const TRAININGS: usize = 5;
/// Fewest rows with which folds leave something to learn from and to decide.
const MIN_ROWS: usize = 10;

/// The folds and methods of a fit.
#[derive(Debug, Clone)]
pub struct FitPlan {
    /// Trainings and the rows that they decide.
    pub folds: Vec<BacktestFold>,
    /// The methods and their settings.
    pub backtest: Backtest,
    /// The method that is compared with the baselines.
    pub method: Method,
    /// How rows are divided, in words.
    pub description: String,
}

impl FitPlan {
    /// The plan for a table.
    ///
    /// # Errors
    /// When there are too few rows.
    pub fn new(table: &FitTable, settings: &FitSettings) -> Result<Self> {
        Self::of_periods(table.periods(), settings)
    }

    pub(super) fn of_periods(periods: &Periods, settings: &FitSettings) -> Result<Self> {
        let count = periods.len();
        if count < MIN_ROWS {
            return Err(Error::data(format!(
                "the table has {count} periods or rows, at least {MIN_ROWS} are needed"
            ))
            .with_remedy("add rows: so few do not show which method is better")
            .in_file(&settings.file));
        }
        let (folds, description) = if periods.are_ordered() {
            let first = count / 2;
            let step = (count - first).div_ceil(TRAININGS);
            let origin = RollingOrigin {
                window: TrainingWindow::Expanding(Some(first)),
                step: Some(step),
                horizon: None,
                gap: settings.horizon.saturating_sub(1),
            };
            let folds = origin.folds(periods)?;
            let description = format!(
                "{} trainings, each on all earlier periods{}; {} of {count} periods are decided",
                folds.len(),
                match origin.gap {
                    0 => String::new(),
                    gap => format!(" but the last {gap}"),
                },
                (count - first).saturating_sub(origin.gap)
            );
            (folds, description)
        } else {
            let folds = cross_validation(periods, TRAININGS)?;
            let description = format!(
                "cross-validation of {TRAININGS} folds: each of {count} rows is decided by models \
                 of the others"
            );
            (folds, description)
        };
        if settings.budget.is_nan() || settings.budget <= 0.0 {
            return Err(
                Error::setting(format!("a budget of {} seconds", settings.budget))
                    .with_remedy("it must be above 0"),
            );
        }
        let method = match &settings.method {
            // The predictor is linear, so its MSE is least where least squares are.
            Some(method) if *method == Method::mse().into() => Method::least_squares(),
            Some(method) => method.clone(),
            None => Backtest::shared_search(folds.len(), settings.budget),
        };
        let mut methods = vec![method.clone()];
        methods.retain(|method| *method != Method::least_squares());
        let mut backtest = Backtest::new(methods);
        backtest.training.seed = u64::from(settings.seed);
        backtest.season = settings.season;
        if periods.are_ordered() {
            backtest.repeated = RepeatedCosts::Known(settings.horizon.max(1));
        }
        backtest.unit.clone_from(&settings.unit);
        backtest.folder = Some(settings.folder.clone());
        Ok(Self {
            folds,
            backtest,
            method,
            description,
        })
    }

    /// What will be done, in one line: the folds, and the number of searches or trainings with the
    /// most that a search may take. Candidates that are trained early leave some of a budget.
    pub fn announcement(&self) -> String {
        let folds = self.folds.len();
        let work = match &self.method {
            Method::Auto { budget, .. } => format!(
                "{} searches of at most {} CPU seconds each, counted by work: {folds}, and one \
                 for the model",
                folds + 1,
                budget.seconds
            ),
            Method::Stages(_) => format!("{} trainings: {folds}, and one for the model", folds + 1),
            // In closed form: done at once.
            Method::LeastSquares { .. } | Method::InvalidCombination(_) => {
                return format!("{}: {}", self.method, self.description);
            }
        };
        format!("{}: {}; {work}", self.method, self.description)
    }
}
