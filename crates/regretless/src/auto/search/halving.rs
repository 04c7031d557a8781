//! Training and scoring of candidates: on the first fold, then the better ones on the others.

use std::time::Instant;

use super::super::candidate::{self, Candidate, CandidateKind, FoldResult};
use super::super::solve_times::{SECONDS_PER_WORK_UNIT, SolveTimeSource};
use super::AutoSearch;
use super::plan::KEPT_CANDIDATES;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::train::{StagedTraining, TrainingContext, linear_fit};

impl AutoSearch<'_> {
    /// Trains and scores candidates on the first fold, as far as the budget goes.
    pub(super) fn try_all(&mut self, candidates: Vec<Candidate>) -> Result<()> {
        for candidate in candidates {
            // At least one candidate is trained, whatever the budget is, or there would be no
            // result.
            if self.candidates.iter().any(|known| !known.folds.is_empty()) && self.is_budget_used()
            {
                break;
            }
            self.candidates.push(candidate);
            self.train(self.candidates.len() - 1, 0)?;
        }
        Ok(())
    }

    /// Trains and scores the better candidates on the other folds, and returns the number of folds
    /// that are complete.
    pub(super) fn halve_over_folds(&mut self) -> Result<usize> {
        let mut kept = self.ranking(1);
        for fold in 1..self.folds.len() {
            // All of them if that is affordable, else fewer from fold to fold.
            let affordable = self.affordable_candidates(self.folds.len() - fold);
            kept.truncate(affordable.max(KEPT_CANDIDATES));
            // The result is compared with least squares, which is on all folds therefore.
            if let Some(index) = self.least_squares(fold)
                && !self.is_budget_used()
            {
                self.train(index, fold)?;
            }
            for (position, index) in kept.iter().enumerate() {
                if self.is_budget_used() {
                    // The best candidates go first: those that are missing are left out, unless the
                    // best one is among them.
                    if position == 0 {
                        return Ok(fold);
                    }
                    break;
                }
                self.train(*index, fold)?;
            }
            // Candidates that lack this fold cannot be compared with those that have it.
            kept.retain(|index| self.candidates[*index].folds.len() > fold);
            kept.sort_by(|a, b| self.compare(*a, *b, fold + 1));
        }
        Ok(self.folds.len())
    }

    pub(super) fn compare(&self, a: usize, b: usize, num_folds: usize) -> std::cmp::Ordering {
        let [first, second] = [a, b].map(|index| self.candidates[index].mean_regret(num_folds));
        // Candidates are in order of simplicity: ties go to the earlier one.
        first.total_cmp(&second).then(a.cmp(&b))
    }

    /// Candidates with these folds, those of the lowest regret first.
    pub(super) fn ranking(&self, num_folds: usize) -> Vec<usize> {
        let is_complete = |index: &usize| {
            let candidate = &self.candidates[*index];
            !candidate.has_failed && candidate.folds.len() >= num_folds
        };
        let mut order: Vec<usize> = (0..self.candidates.len()).filter(is_complete).collect();
        order.sort_by(|a, b| self.compare(*a, *b, num_folds));
        order
    }

    /// Trains and scores a candidate on a fold, after the one it starts from.
    pub(super) fn train(&mut self, index: usize, fold: usize) -> Result<()> {
        if self.candidates[index].has_failed || self.candidates[index].folds.len() > fold {
            return Ok(());
        }
        let start = match &self.candidates[index].kind {
            CandidateKind::Trained { start, .. } => *start,
            CandidateKind::ClosedForm { .. } => None,
        };
        if let Some(start) = start {
            self.train(start, fold)?;
            // A candidate that starts from one without a model has none either.
            if self.candidates[start].has_failed {
                self.candidates[index].has_failed = true;
                return Ok(());
            }
        }
        // Measured for the reports only: no decision of the search depends on it.
        let started = Instant::now();
        let result = self.fold_result(index, fold);
        let candidate = &mut self.candidates[index];
        candidate.seconds += started.elapsed().as_secs_f64();
        match result {
            Ok(result) => candidate.folds.push(result),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // A failed candidate is left out; its error is kept in case all of them fail.
            Err(error) => {
                candidate.has_failed = true;
                self.failure = Some(error);
            }
        }
        // Checked here, too: a training that was interrupted may return what it has.
        if self.context.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    fn fold_result(&mut self, index: usize, fold: usize) -> Result<FoldResult> {
        let is_shared = self.candidates[index].is_shared;
        if is_shared {
            self.prepare_view(fold)?;
        }
        let view = self.view_of(fold).filter(|_| is_shared);
        let candidate = &self.candidates[index];
        let context = TrainingContext {
            split: &self.folds[fold].split,
            ..*self.context
        };
        let (model, rounds) = match &candidate.kind {
            CandidateKind::ClosedForm { penalty } => {
                let model = match view {
                    Some(view) => view.linear_fit(&context, self.problem, *penalty)?,
                    None => linear_fit(&context, self.problem, *penalty)?,
                };
                (model, Vec::new())
            }
            CandidateKind::Trained { stage, start } => {
                let mut settings = self.settings;
                // Models of different folds start from different parameters.
                settings.seed = settings.seed.wrapping_add(fold as u64);
                let source = self.time.times.source;
                if stage.loss.properties().calls_solver && source == SolveTimeSource::Counted {
                    // Solves under predicted costs can take longer than those under the true
                    // costs, which the plan is based on.
                    let work = self.solver_seconds_per_candidate() / SECONDS_PER_WORK_UNIT;
                    settings.work_limit = Some(work as u64);
                }
                let start = start.map(|index| &self.candidates[index].folds[fold].model);
                let training = StagedTraining {
                    stages: std::slice::from_ref(stage),
                    predictor: &candidate.predictor,
                    settings,
                    start,
                    problem: self.problem,
                };
                let (model, report) = match view {
                    Some(view) => view.train(&training, &context)?,
                    None => training.run(&context, None)?,
                };
                (model, report.rounds)
            }
        };
        if let CandidateKind::Trained { stage, .. } = &candidate.kind {
            let rows = context.split.train.len();
            let time = self.time_of(is_shared);
            let arithmetic = time.arithmetic(stage, &candidate.predictor, rows);
            // Counted by the plan and not by the clock, so the same candidates are trained on every
            // machine.
            self.arithmetic_seconds += arithmetic;
        }
        let rows = &self.folds[fold].scored;
        let predictions = model.predict_instances(self.context.data, rows)?;
        let missing = model.missing_predictions();
        let regrets = self
            .scorer
            .regrets(self.context, &predictions, missing, rows)?;
        Ok(FoldResult {
            norm_factor: self.norm_factor(&predictions, rows),
            model,
            regrets,
            row_weights: self.row_weights(rows),
            rounds,
        })
    }

    /// The weights of some rows, if rows have weights.
    pub(super) fn row_weights(&self, rows: &[usize]) -> Option<Vec<f64>> {
        let weights = self.context.data.data().row_weights()?;
        Some(rows.iter().map(|row| weights[*row]).collect())
    }

    /// Multiplies values of the scored rows of the first folds by the weights of the rows.
    pub(super) fn count_by_weight(&self, values: &mut [f64], num_folds: usize) {
        let mut weights = Vec::new();
        for fold in &self.folds[..num_folds] {
            weights.extend(self.row_weights(&fold.scored).into_iter().flatten());
        }
        candidate::times_row_weights(values, &weights);
    }

    /// What predictions are multiplied by, so their mean norm is that of the true costs; 1 if
    /// decisions depend on the scale.
    fn norm_factor(&self, predictions: &Matrix, rows: &[usize]) -> f64 {
        if !self.is_scale_invariant {
            return 1.0;
        }
        let costs = self.context.data.data().costs();
        let weights = self.row_weights(rows);
        let (mut predicted, mut actual) = (0.0, 0.0);
        for (position, row) in rows.iter().enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[position]);
            let (mut predicted_square, mut actual_square) = (0.0, 0.0);
            for (prediction, cost) in predictions.row(position).iter().zip(costs.row(*row)) {
                // A cost that no training row has has no prediction.
                if !prediction.is_nan() {
                    predicted_square += f64::from(*prediction).powi(2);
                    actual_square += f64::from(*cost).powi(2);
                }
            }
            predicted += weight * predicted_square.sqrt();
            actual += weight * actual_square.sqrt();
        }
        // A prediction of norm 0 has no scale.
        if predicted > 0.0 && actual > 0.0 {
            actual / predicted
        } else {
            1.0
        }
    }
}
