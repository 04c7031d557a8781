//! How candidates are scored: the regret of their decisions on rows that they were not trained on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::folds::Fold;
use super::solve_times::SolveTimes;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::evaluate::{MissingPredictions, regrets};
use crate::report::ScoringKind;
use crate::solve::relaxation::Relaxation;
use crate::train::TrainingContext;

/// Bounds on the number of rows that a candidate is scored on in one fold. Untuned: with fewer than
/// ten rows chance decides the ranking; more than 400 take time and hardly change it.
pub(super) const MAX_SCORED_ROWS: usize = 400;
pub(super) const MIN_SCORED_ROWS: usize = 10;

/// How candidates are scored.
#[derive(Debug)]
pub(super) enum RegretScorer {
    /// By exact decisions.
    Exact,
    /// By decisions of the linear relaxation, compared with the relaxed optimum under the true
    /// costs.
    Relaxed {
        kind: Relaxation,
        /// The relaxed optimum of each scored row under the true costs.
        optimal_objectives: BTreeMap<usize, f64>,
    },
    /// Candidates are not scored: no solver is affordable.
    None,
}

/// Which solver scores candidates, and on how many rows of a fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ScoringPlan {
    /// Exact decisions on at most this many rows.
    Exact(usize),
    /// Decisions of this relaxation on at most this many rows.
    Relaxed(Relaxation, usize),
    /// Nothing is affordable.
    None,
}

impl ScoringPlan {
    /// Exact decisions if they are affordable, else relaxed ones, else none. `seconds` is what
    /// scoring one candidate on one fold of `rows` rows may take.
    pub(super) fn choose(times: &SolveTimes, seconds: f64, rows: usize) -> Self {
        let max_rows = rows.min(MAX_SCORED_ROWS);
        let min_rows = rows.min(MIN_SCORED_ROWS);
        // With fewer rows than the minimum chance would decide.
        let affordable = |solve_seconds: f64| {
            let affordable = (seconds / solve_seconds) as usize;
            (affordable >= min_rows).then(|| affordable.min(max_rows))
        };
        if let Some(rows) = affordable(times.exact) {
            return Self::Exact(rows);
        }
        // The tighter relaxation is closer to the exact decisions.
        for (kind, solve_seconds) in [
            (Relaxation::Tight, times.tight),
            (Relaxation::Plain, times.plain),
        ] {
            if let Some(rows) = solve_seconds.and_then(affordable) {
                return Self::Relaxed(kind, rows);
            }
        }
        Self::None
    }

    /// Most scored rows of a fold.
    pub(super) fn max_rows(self) -> usize {
        match self {
            Self::Exact(rows) | Self::Relaxed(_, rows) => rows,
            Self::None => 0,
        }
    }

    /// Warns if the budget does not allow exact scoring.
    pub(super) fn warn(self, context: &TrainingContext<'_>, times: &SolveTimes) {
        let seconds = times.exact;
        // Small numbers in scientific notation: two decimals would show 0.00.
        let seconds = if seconds < 0.01 {
            format!("{seconds:.1e}")
        } else {
            format!("{seconds:.2}")
        };
        match self {
            Self::Exact(_) => {}
            Self::Relaxed(_, rows) => context.observer.warn(&format!(
                "a solve takes about {seconds} s, too long for scoring; auto scores candidates by \
                 the linear relaxation on {rows} validation rows"
            )),
            Self::None => context.observer.warn(&format!(
                "a solve takes about {seconds} s, too long for scoring within this budget; auto \
                 trains MAE(O,S), which needs no solve, without comparing it"
            )),
        }
    }

    /// The scorer of the rows of these folds.
    ///
    /// # Errors
    /// When a relaxation fails, or the user interrupts.
    pub(super) fn scorer(
        self,
        context: &TrainingContext<'_>,
        folds: &[Fold],
    ) -> Result<RegretScorer> {
        let kind = match self {
            Self::Exact(_) => return Ok(RegretScorer::Exact),
            Self::None => return Ok(RegretScorer::None),
            Self::Relaxed(kind, _) => kind,
        };
        let mut optimal_objectives = BTreeMap::new();
        for fold in folds {
            let rows = &fold.scored;
            let costs = context.data.data().costs();
            let results = context
                .oracle
                .relax_rows(costs, rows, kind, context.observer)
                .map_err(|error| error.for_method("auto"))?;
            for (row, result) in rows.iter().zip(results) {
                let solution = result.map_err(|failure| Error::solver(*row, failure))?;
                optimal_objectives.insert(*row, solution.objective);
            }
        }
        Ok(RegretScorer::Relaxed {
            kind,
            optimal_objectives,
        })
    }
}

impl RegretScorer {
    pub(super) fn kind(&self) -> ScoringKind {
        match self {
            Self::Exact => ScoringKind::Exact,
            Self::Relaxed { .. } => ScoringKind::Relaxed,
            Self::None => ScoringKind::Unscored,
        }
    }

    /// Regret of each row under these predictions; none if candidates are not scored.
    ///
    /// # Errors
    /// When a row has no decision, or the user interrupts.
    pub(super) fn regrets(
        &self,
        context: &TrainingContext<'_>,
        predictions: &Matrix,
        missing: MissingPredictions,
        rows: &[usize],
    ) -> Result<Vec<f64>> {
        let TrainingContext {
            data,
            oracle,
            observer,
            ..
        } = *context;
        match self {
            Self::None => Ok(Vec::new()),
            Self::Exact => regrets(predictions, missing, data, rows, oracle, observer),
            Self::Relaxed {
                kind,
                optimal_objectives,
            } => {
                // The relaxation has no gaps: a prohibitive cost takes their place.
                let predictions = &without_gaps(predictions, missing)?;
                let results = oracle
                    .relax_instances(predictions, rows, *kind, observer)
                    .map_err(|error| error.for_method("auto"))?;
                let mut regrets = Vec::with_capacity(rows.len());
                for (row, result) in rows.iter().zip(results) {
                    let solution = result.map_err(|failure| Error::solver(*row, failure))?;
                    let objective = data.objective_of(&solution.decision, *row);
                    regrets.push(objective - optimal_objectives.get(row).copied().unwrap_or(0.0));
                }
                Ok(regrets)
            }
        }
    }
}

/// Predictions for a relaxation: what has none costs more than everything else of the row together,
/// so a relaxed decision leaves it out if it can.
fn without_gaps(predictions: &Matrix, missing: MissingPredictions) -> Result<Cow<'_, Matrix>> {
    if missing == MissingPredictions::Refused {
        return Ok(Cow::Borrowed(predictions));
    }
    let (mut row, mut values) = (Vec::new(), Vec::new());
    for position in 0..predictions.rows() {
        predictions.read(position, &mut row);
        let known = row.iter().filter(|cost| !cost.is_nan());
        // At least 1, since all known costs may be 0.
        let penalty = 1.0 + known.map(|cost| cost.abs()).sum::<f64>();
        let filled = row
            .iter()
            .map(|cost| if cost.is_nan() { penalty } else { *cost });
        values.extend(filled);
    }
    let filled = Matrix::from_f64(predictions.rows(), predictions.cols(), &values)?;
    Ok(Cow::Owned(filled))
}
