//! Labeled rows of one problem and seed, shared by its cells.

use std::path::Path;
use std::time::Instant;

use super::example::DecisionLayout;
use super::problem_source::{DataFiles, ProblemSource};
use super::spec::ExperimentProblem;
use crate::data::SplitIndices;
use crate::error::Result;
use crate::label::{LabelStore, LabeledDataset};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::ProblemSpec;

/// Labeled rows of one seed.
pub(super) struct CellData {
    pub(super) problem: ProblemSpec,
    pub(super) data: LabeledDataset,
    pub(super) split: SplitIndices,
    /// Seconds of labeling; about 0 where stored labels were found.
    pub(super) label_seconds: f64,
}

impl CellData {
    /// Generates or reads the rows and labels them, from stored labels where they exist.
    pub(super) fn generate(
        problem: &ExperimentProblem,
        seed: u32,
        files: &DataFiles,
        labels: &Path,
        oracle: impl FnOnce(&ProblemSpec) -> Result<Oracle>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (spec, data, split) = problem.name.generate(problem.split, seed, files)?;
        let store = LabelStore::for_table(&labels.join(format!("{}-{seed}", problem.name)));
        let started = Instant::now();
        let (data, _) = store.label(data, &spec, &oracle(&spec)?, observer)?;
        let split = split.restrict_to(&data.rows())?;
        Ok(Self {
            problem: spec,
            data,
            split,
            label_seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// How decisions can be drawn, if they can be.
    pub(super) fn drawing(&self, problem: ProblemSource, seed: u32) -> Option<DecisionLayout> {
        DecisionLayout::of(&self.problem, problem, seed)
    }
}
