//! Reports of the search: expected regret, and the regrets of all candidates.

use super::super::ensemble::PairedDifference;
use super::super::scoring::RegretScorer;
use super::super::selection;
use super::super::solve_times::SolveTimeSource;
use super::AutoSearch;
use crate::report::{CandidateReport, ScoredRegrets, ScoringKind, SearchReport};

impl AutoSearch<'_> {
    /// Warns if the plan is based on a measured time.
    pub(super) fn timed_solve_seconds(&self) -> Option<f64> {
        if self.time.times.source != SolveTimeSource::Timed {
            return None;
        }
        let seconds = self.time.times.exact;
        self.context.observer.warn(&format!(
            "auto measured {seconds} s for a solve and planned with it, so another run may give \
             another model; 'solve {seconds}s' after auto makes runs reproducible"
        ));
        Some(seconds)
    }

    pub(super) fn search_report(
        &self,
        mut regrets: Vec<f64>,
        is_least_squares: bool,
        num_folds: usize,
    ) -> Option<SearchReport> {
        if matches!(self.scorer, RegretScorer::None) {
            return None;
        }
        // Least squares is not chosen for its regret, but in spite of it.
        if !is_least_squares {
            for (regret, optimism) in regrets.iter_mut().zip(self.optimism(num_folds)) {
                *regret += optimism;
            }
        }
        // What regrets are relative to.
        let mut objectives = Vec::with_capacity(regrets.len());
        for fold in &self.folds[..num_folds] {
            for row in &fold.scored {
                objectives.push(self.context.data.optimal_objective(*row).abs());
            }
        }
        self.count_by_weight(&mut objectives, num_folds);
        let least_squares = self.least_squares(num_folds);
        let baseline = least_squares.map(|index| self.candidates[index].regrets(num_folds));
        let scored = ScoredRegrets {
            model: &regrets,
            // Compared with itself, least squares has no difference.
            least_squares: baseline.as_deref().filter(|_| !is_least_squares),
            objectives: &objectives,
            order: self.context.split.row_order(),
        };
        let used_seconds = self.used_seconds();
        Some(SearchReport::new(
            &scored,
            is_least_squares,
            num_folds,
            used_seconds,
        ))
    }

    /// What the choice among the candidates with these folds adds to the regret of each scored row.
    fn optimism(&self, num_folds: usize) -> Vec<f64> {
        let mut complete = self.ranking(num_folds);
        // In order of simplicity, as ties are decided.
        complete.sort_unstable();
        let regrets: Vec<Vec<f64>> = complete
            .iter()
            .map(|index| self.candidates[*index].regrets(num_folds))
            .collect();
        let folds = self.folds[..num_folds].iter();
        let rows_of_folds: Vec<usize> = folds.map(|fold| fold.scored.len()).collect();
        selection::optimism(&regrets, &selection::parts(&rows_of_folds))
    }

    pub(super) fn candidate_reports(
        &self,
        best: usize,
        members: &[usize],
        num_folds: usize,
    ) -> Vec<CandidateReport> {
        let best = &self.candidates[best];
        let mut reports = Vec::with_capacity(self.candidates.len());
        for (index, candidate) in self.candidates.iter().enumerate() {
            let folds = candidate.folds.len();
            let regrets = candidate.regrets(folds);
            let is_scored = !candidate.has_failed && !regrets.is_empty();
            let mean = candidate.mean_regret(folds);
            // Folds that only one of both has cannot be paired.
            let common = folds.min(num_folds);
            let difference =
                PairedDifference::of(&candidate.regrets(common), &best.regrets(common));
            let scoring = if candidate.has_failed {
                ScoringKind::Failed
            } else {
                self.scorer.kind()
            };
            reports.push(CandidateReport {
                method: candidate.name.clone(),
                predictor: candidate.predictor.to_string(),
                folds,
                regret: is_scored.then_some(mean),
                difference: is_scored.then_some(difference.mean),
                standard_error: is_scored.then_some(difference.standard_error),
                is_chosen: members.contains(&index),
                scoring,
                seconds: candidate.seconds,
            });
        }
        reports
    }
}
