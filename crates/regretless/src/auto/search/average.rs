//! The result of the search: the average of the best candidates.

use std::collections::BTreeSet;

use super::super::candidate::{Candidate, CandidateKind};
use super::super::ensemble::{
    self, AVERAGED_CANDIDATES, Average, LEAST_SQUARES_TOLERANCE, PairedDifference,
};
use super::super::scoring::RegretScorer;
use super::AutoSearch;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, MissingPredictions};
use crate::predict::{CostModel, PredictorSpec};
use crate::report::TrainReport;
use crate::train::TrainingContext;

impl AutoSearch<'_> {
    /// The average of the best candidates.
    pub(super) fn result(mut self, num_folds: usize) -> Result<(CostModel, TrainReport)> {
        let ranking = self.ranking(num_folds);
        let Some(best) = ranking.first().copied() else {
            // The reason of the last failure, if all candidates failed.
            return Err(self.failure.take().unwrap_or(Error::Interrupted));
        };
        let chosen = self.choose_average(&ranking, num_folds)?;
        let least_squares = self.least_squares(num_folds);
        let members = match least_squares {
            // A simple model is preferred if it is as good, since the search chose the other one on
            // the same rows.
            Some(index) if self.is_as_good(index, &chosen, num_folds) => vec![index],
            Some(_) | None => chosen.members.clone(),
        };
        let is_least_squares = least_squares.is_some_and(|index| members == [index]);
        let models: Vec<&Candidate> = members.iter().map(|i| &self.candidates[*i]).collect();
        let regrets = if is_least_squares {
            models[0].regrets(num_folds)
        } else {
            chosen.regrets
        };
        let factor = self.cost_factor(&models, num_folds)?;
        let mut model = ensemble::average_of_folds(&models, num_folds, factor)?;
        model.metadata.seed = self.settings.seed;
        model.metadata.method = method_name(&models);
        let validation = self.held_out_evaluation(&models, factor, num_folds)?;
        let rounds = self.candidates[members[0]].folds[0].rounds.clone();
        let solves = self.context.oracle.counts() - self.initial_counts;
        let report = TrainReport {
            timed_solve_seconds: self.timed_solve_seconds(),
            candidates: self.candidate_reports(best, &members, num_folds),
            search: self.search_report(regrets, is_least_squares, num_folds),
            held_out: validation,
            ..TrainReport::new(rounds, solves, &self.timer)
        };
        Ok((model, report))
    }

    /// The average of the best candidates that has the lowest regret, or nearly so.
    fn choose_average(&self, ranking: &[usize], num_folds: usize) -> Result<Average> {
        let mut averages = vec![Average {
            members: vec![ranking[0]],
            regrets: self.candidates[ranking[0]].regrets(num_folds),
        }];
        let is_scored = !matches!(self.scorer, RegretScorer::None);
        for count in AVERAGED_CANDIDATES {
            // Unscored candidates have no regrets to compare averages by.
            if count < 2 || count > ranking.len() || !is_scored {
                continue;
            }
            let members = ranking[..count].to_vec();
            let models: Vec<&Candidate> = members.iter().map(|i| &self.candidates[*i]).collect();
            let mut regrets = Vec::new();
            for (number, fold) in self.folds[..num_folds].iter().enumerate() {
                let average = ensemble::average_of_fold(&models, number, 1.0)?;
                let predictions = average.predict_instances(self.context.data, &fold.scored)?;
                let missing = average.missing_predictions();
                let scored = &fold.scored;
                let of_fold = self
                    .scorer
                    .regrets(self.context, &predictions, missing, scored)?;
                regrets.extend(of_fold);
            }
            self.count_by_weight(&mut regrets, num_folds);
            averages.push(Average { members, regrets });
        }
        ensemble::choose(averages).ok_or(Error::Interrupted)
    }

    /// The candidate of least squares.
    pub(super) fn least_squares(&self, num_folds: usize) -> Option<usize> {
        self.candidates.iter().position(|candidate| {
            candidate.kind == CandidateKind::ClosedForm { penalty: 0.0 }
                && !candidate.is_shared
                && candidate.folds.len() >= num_folds
        })
    }

    fn is_as_good(&self, index: usize, chosen: &Average, num_folds: usize) -> bool {
        let regrets = self.candidates[index].regrets(num_folds);
        PairedDifference::of(&regrets, &chosen.regrets).is_within(LEAST_SQUARES_TOLERANCE)
    }

    /// What averaged predictions are multiplied by, so their squared error is least; decisions do
    /// not change. 1 if they would.
    fn cost_factor(&self, models: &[&Candidate], num_folds: usize) -> Result<f64> {
        // Decisions depend on the scale: it must not change.
        if !self.is_scale_invariant {
            return Ok(1.0);
        }
        let costs = self.context.data.data().costs();
        let (mut product, mut square) = (0.0, 0.0);
        for (number, fold) in self.folds[..num_folds].iter().enumerate() {
            let average = ensemble::average_of_fold(models, number, 1.0)?;
            let predictions = average.predict_instances(self.context.data, &fold.scored)?;
            let weights = self.row_weights(&fold.scored);
            for (position, row) in fold.scored.iter().enumerate() {
                let weight = weights.as_ref().map_or(1.0, |weights| weights[position]);
                let pairs = predictions.row(position).iter().zip(costs.row(*row));
                // A cost without prediction has no error.
                for (predicted, cost) in pairs.filter(|(predicted, _)| !predicted.is_nan()) {
                    product += weight * f64::from(*predicted) * f64::from(*cost);
                    square += weight * f64::from(*predicted).powi(2);
                }
            }
        }
        Ok(if product > 0.0 && square > 0.0 {
            product / square
        } else {
            1.0
        })
    }

    /// The evaluation of the validation rows by models that were not trained on them, if the result
    /// was trained on them. If the budget ended before all folds, the validation rows that every
    /// model was trained on are left out.
    fn held_out_evaluation(
        &self,
        models: &[&Candidate],
        factor: f64,
        num_folds: usize,
    ) -> Result<Option<Evaluation>> {
        if self.folds.len() < 2 {
            return Ok(None);
        }
        let is_validation: BTreeSet<usize> =
            self.context.split.validation.iter().copied().collect();
        let mut rows_by_fold = Vec::with_capacity(num_folds);
        for fold in &self.folds[..num_folds] {
            let mut rows = fold.held_out.clone();
            rows.retain(|row| is_validation.contains(row));
            rows_by_fold.push(rows);
        }
        // No fold has validation rows, as with a split without any: all rows that are held out are
        // used.
        if rows_by_fold.iter().all(Vec::is_empty) {
            let folds = self.folds[..num_folds].iter();
            rows_by_fold = folds.map(|fold| fold.held_out.clone()).collect();
        }
        let rows = rows_by_fold.concat();
        let mut values = Vec::with_capacity(rows.len() * self.time.costs());
        let mut missing = MissingPredictions::Refused;
        for (number, rows) in rows_by_fold.iter().enumerate() {
            let average = ensemble::average_of_fold(models, number, factor)?;
            let predictions = average.predict_instances(self.context.data, rows)?;
            values.extend_from_slice(predictions.as_slice());
            if average.has_unobserved_costs() {
                missing = MissingPredictions::LeftOut;
            }
        }
        let predictions = Matrix::new(rows.len(), self.time.costs(), values)?;
        let TrainingContext {
            data,
            oracle,
            observer,
            ..
        } = *self.context;
        let evaluation = Evaluation::of_partial_predictions(
            &predictions,
            missing,
            data,
            &rows,
            oracle,
            observer,
        )?;
        Ok(Some(evaluation))
    }
}

/// The candidates of an average, by name.
fn method_name(models: &[&Candidate]) -> String {
    let mut names: Vec<String> = Vec::new();
    for candidate in models {
        names.push(match &candidate.predictor {
            PredictorSpec::Linear => candidate.name.clone(),
            network @ PredictorSpec::Mlp { .. } => format!("{} ({network})", candidate.name),
        });
    }
    match names.as_slice() {
        [name] => name.clone(),
        names => format!("mean of {}: {}", names.len(), names.join("; ")),
    }
}
