//! Candidates that call the solver in every step, and the oracle settings they are trained with.

use super::super::candidate::{self, Candidate, LearningSchedule};
use super::plan::MIN_SOLVER_EPOCHS;
use super::{AutoSearch, MAX_EPOCHS};
use crate::error::Result;
use crate::method::TrainingStage;
use crate::oracle::{CacheSettings, Heuristic, OracleSettings};
use crate::predict::PredictorSpec;
use crate::solve::relaxation::Relaxation;

/// Solve ratio of the cache, which is used if nothing else is affordable. Trades the accuracy of
/// decisions against solves.
const CACHE_SOLVE_RATIO: f64 = 0.05;
/// The batch size of these candidates.
const SMALL_BATCH_SIZE: usize = 8;
/// Candidates of fewer epochs have small batches, which halve the solver calls that are needed
/// (measured on TSP100).
const MAX_SMALL_BATCH_EPOCHS: usize = 10;

impl AutoSearch<'_> {
    /// Losses that call the solver in every step.
    pub(super) fn try_solver_losses(&mut self) -> Result<()> {
        let mut candidates = Vec::new();
        for predictor in self.competitive_predictors() {
            let ranking = self.ranking(1);
            let mut of_predictor = ranking.into_iter().filter(|index| {
                let candidate = &self.candidates[*index];
                candidate.predictor == predictor && !candidate.is_closed_form()
            });
            let best = of_predictor.next();
            let losses: &[&str] = if self.has_few_candidates {
                &["SPO+"]
            } else {
                &["SPO+", "PFYL"]
            };
            for loss in losses {
                // From the best model without solves, which needs fewer steps, and from an
                // untrained one, which is not biased towards it.
                let stage: TrainingStage = loss.parse()?;
                candidates.extend(self.solver_candidate(&stage, best, &predictor));
                if self.folds.len() > 1 {
                    candidates.extend(self.solver_candidate(&stage, None, &predictor));
                }
            }
            let cave: TrainingStage = "CaVE(inner)".parse()?;
            // Projections are cheap compared to slow solves only.
            let tries_projections = self.has_slow_solves() && !self.has_few_candidates;
            if tries_projections && cave.check_problem(self.context.oracle).is_ok() {
                candidates.extend(self.solver_candidate(&cave, best, &predictor));
            }
        }
        self.try_all(candidates)
    }

    /// A candidate of a loss that calls the solver, with the most accurate oracle settings that
    /// allow enough epochs; `None` if none do.
    fn solver_candidate(
        &self,
        stage: &TrainingStage,
        start: Option<usize>,
        predictor: &PredictorSpec,
    ) -> Option<Candidate> {
        let (rows, seconds) = (
            self.num_training_rows(),
            self.solver_seconds_per_candidate(),
        );
        // The most accurate settings first; the first ones with enough epochs are taken.
        for settings in self.oracle_settings(stage) {
            let mut stage = stage.clone();
            stage.oracle = settings;
            if stage.check_problem(self.context.oracle).is_err() {
                continue;
            }
            let epochs = seconds / self.time.epoch(&stage, predictor, rows);
            if epochs < MIN_SOLVER_EPOCHS {
                continue;
            }
            let epochs = (epochs as usize).min(MAX_EPOCHS);
            let batch_size = if epochs <= MAX_SMALL_BATCH_EPOCHS {
                self.schedule.batch_size.min(SMALL_BATCH_SIZE)
            } else {
                self.schedule.batch_size
            };
            let schedule = LearningSchedule {
                epochs,
                batch_size,
                ..self.schedule
            };
            let stage = schedule.apply_to(stage);
            let start = start.map(|index| (index, &self.candidates[index]));
            return Some(candidate::from_stage(
                stage, start, predictor, &self.time, rows,
            ));
        }
        None
    }

    /// Oracle settings that the problem offers, the most accurate ones first.
    fn oracle_settings(&self, stage: &TrainingStage) -> Vec<OracleSettings> {
        let exact = OracleSettings::default();
        // Relaxations and heuristics replace solver calls, of which this loss has none.
        if !stage.loss.properties().calls_solver {
            return vec![exact];
        }
        let times = &self.time.times;
        let relaxed = |kind: Relaxation| OracleSettings {
            relaxation: Some(kind),
            ..exact
        };
        let heuristic = |heuristic: Heuristic| OracleSettings {
            heuristic: Some(heuristic),
            ..exact
        };
        let mut settings = vec![exact];
        if times.tight.is_some() {
            settings.push(relaxed(Relaxation::Tight));
        }
        if times.fast_local_search.is_some() {
            settings.push(heuristic(Heuristic::FastLocalSearch));
            settings.push(heuristic(Heuristic::LocalSearchFromLabel));
        }
        if times.plain.is_some() {
            settings.push(relaxed(Relaxation::Plain));
        }
        // A cache offers decisions of other rows, which must be checked.
        if self.context.oracle.require_checks().is_ok() {
            settings.push(OracleSettings {
                cache: Some(CacheSettings::new(CACHE_SOLVE_RATIO)),
                ..exact
            });
        }
        settings
    }
}
