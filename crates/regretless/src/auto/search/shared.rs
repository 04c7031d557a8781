//! Predictors that all costs share, as candidates of the search.

use super::super::candidate;
use super::super::training_time::TrainingTime;
use super::AutoSearch;
use crate::data::CostColumnGroups;
use crate::error::Result;
use crate::predict::PredictorSpec;
use crate::train::{SharedView, TrainingContext};

/// The long tables of shared predictors.
pub(super) struct SharedSearch {
    columns: CostColumnGroups,
    /// By fold, as soon as they are needed: training rows center them.
    views: Vec<Option<SharedView>>,
    time: TrainingTime,
}

impl AutoSearch<'_> {
    /// Closed forms and losses without solves, where columns belong to one cost each.
    pub(super) fn try_shared(&mut self) -> Result<()> {
        let data = self.context.data.data();
        let Some(columns) = CostColumnGroups::of(data, &self.context.split.train) else {
            return Ok(());
        };
        let context = self.fold_context(0);
        // A table that is too large for the long copy has no such candidates.
        let Ok(first) = SharedView::new(&context, &columns) else {
            return Ok(());
        };
        let time = TrainingTime::new(first.data().data(), self.time.times);
        let mut views: Vec<Option<SharedView>> = self.folds.iter().map(|_| None).collect();
        views[0] = Some(first);
        self.shared = Some(SharedSearch {
            columns,
            views,
            time,
        });
        let mut candidates = candidate::closed_forms();
        if !self.has_few_candidates {
            candidates.extend(candidate::trained(
                &candidate::LOSSES_WITHOUT_SOLVES,
                self.context.oracle,
                &[PredictorSpec::Linear],
                self.schedule,
                &time,
                self.num_training_rows(),
            )?);
        }
        let shared = candidates.into_iter().map(candidate::Candidate::shared);
        self.try_all(shared.collect())
    }

    fn fold_context(&self, fold: usize) -> TrainingContext<'_> {
        TrainingContext {
            split: &self.folds[fold].split,
            ..*self.context
        }
    }

    /// Makes the long table of a fold.
    pub(super) fn prepare_view(&mut self, fold: usize) -> Result<()> {
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        if shared.views[fold].is_none() {
            let view = SharedView::new(&self.fold_context(fold), &shared.columns)?;
            if let Some(shared) = &mut self.shared {
                shared.views[fold] = Some(view);
            }
        }
        Ok(())
    }

    pub(super) fn view_of(&self, fold: usize) -> Option<&SharedView> {
        self.shared.as_ref()?.views[fold].as_ref()
    }

    /// What training takes: of a shared predictor that of the long table.
    pub(super) fn time_of(&self, is_shared: bool) -> &TrainingTime {
        match &self.shared {
            Some(shared) if is_shared => &shared.time,
            Some(_) | None => &self.time,
        }
    }
}
