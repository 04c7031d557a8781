//! What the cells of one problem and seed share: rows with their best decisions.

use std::path::Path;
use std::time::Instant;

use super::example::Drawing;
use super::named_problem::{DataFiles, NamedProblem};
use super::spec::ExperimentProblem;
use crate::data::SplitIndices;
use crate::error::Result;
use crate::label::{LabelStore, LabeledDataset};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::ProblemSpec;

/// Labelled rows of one seed.
pub(super) struct DataSplit {
    pub(super) problem: ProblemSpec,
    pub(super) data: LabeledDataset,
    pub(super) split: SplitIndices,
    /// Seconds the best decisions took; 0 where they were known.
    pub(super) label_seconds: f64,
}

impl DataSplit {
    /// Makes the rows and finds their best decisions, or takes them from the folder.
    pub(super) fn generate(
        (problem, seed): (&ExperimentProblem, u32),
        (files, labels): (&DataFiles, &Path),
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

    /// The picture on which decisions can be drawn, if there is one.
    pub(super) fn drawing(&self, problem: NamedProblem, seed: u32) -> Option<Drawing> {
        Drawing::of(&self.problem, problem, seed)
    }
}
