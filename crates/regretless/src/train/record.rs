//! The record of a training in its model: rows, split, settings, and the problem's file.

use super::TrainingContext;
use crate::data::{Features, SplitIndices};
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::predict::{
    CostModel, CostScaler, EmbeddedFile, RecordedRegret, RowSketch, TrainingRecord, row_digest,
    row_hash,
};
use crate::problem::ProblemSpec;
use crate::settings::TrainingSettings;

impl TrainingContext<'_> {
    /// A scaler of minimized costs for costs in the user's sense, or the other way round.
    pub(super) fn turned_scaler(&self, scaler: CostScaler) -> CostScaler {
        self.data.sense().convert_scaler(scaler)
    }

    /// The problem as a model stores it: with the names of the table's parameter columns.
    ///
    /// # Errors
    /// When the problem is invalid.
    pub(crate) fn named_problem(&self, problem: &ProblemSpec) -> Result<ProblemSpec> {
        let parameters = self.data.data().parameters();
        problem
            .clone()
            .with_named_columns(parameters.map(AsRef::as_ref), self.data.data().cost_names())
    }

    /// Records in a model what it was trained on, and how; the model then holds the file of its
    /// problem too.
    ///
    /// # Errors
    /// When the settings cannot be stored.
    pub(crate) fn record_in(
        &self,
        model: &mut CostModel,
        settings: &TrainingSettings,
    ) -> Result<()> {
        let failed = |error| Error::setting(format!("the settings cannot be stored: {error}"));
        let settings = serde_json::to_value(settings).map_err(failed)?;
        let limits = serde_json::to_value(self.oracle.limits()).map_err(failed)?;
        // Target statistics of training rows differ from those that new rows get.
        let features = model.encoded(self.data.data().features())?;
        let (data_hash, sketch) = self.hash_rows(&features);
        model.metadata.record = Some(TrainingRecord {
            program_version: env!("CARGO_PKG_VERSION").into(),
            data_hash,
            has_row_weights: self.data.data().row_weights().is_some(),
            rows: self.split.counts(),
            split: describe_split(self.split),
            settings,
            limits,
            heuristic: self
                .oracle
                .heuristic()
                .map(|heuristic| heuristic.to_string()),
            validation: None,
            test: None,
            sketch_is_complete: sketch.is_complete(),
        });
        model.sketch = Some(sketch);
        let content = self.oracle.problem().model_parts().file_content();
        model.problem_file = content.and_then(EmbeddedFile::compress);
        Ok(())
    }

    /// The hash of all rows, in the order of the split, and the sketch of those for training and
    /// validation.
    fn hash_rows(&self, features: &Features) -> (String, RowSketch) {
        let data = self.data.data();
        let seen = self.split.train.len() + self.split.validation.len();
        let rows = [&self.split.train, &self.split.validation, &self.split.test];
        let (mut hasher, mut buffer) = (blake3::Hasher::new(), Vec::new());
        let mut hashes = Vec::with_capacity(seen);
        for row in rows.into_iter().flatten() {
            let costs = data.costs().row(*row).iter().copied();
            let digest = row_digest(features.instance(*row), costs, &mut buffer);
            hasher.update(digest.as_bytes());
            if let Some(weights) = data.row_weights() {
                hasher.update(&weights[*row].to_le_bytes());
            }
            if hashes.len() < seen {
                hashes.push(row_hash(&digest));
            }
        }
        (
            hasher.finalize().to_hex().to_string(),
            RowSketch::new(hashes),
        )
    }
}

impl CostModel {
    /// Records regret that was measured after the training.
    pub(crate) fn record_regret(
        &mut self,
        validation: Option<&Evaluation>,
        test: Option<&Evaluation>,
    ) {
        let recorded = |evaluation: &Evaluation| RecordedRegret {
            instances: evaluation.instances,
            regret: evaluation.regret,
            normalized_regret: evaluation.normalized_regret,
        };
        if let Some(record) = &mut self.metadata.record {
            record.validation = validation.map(recorded);
            record.test = test.map(recorded);
        }
    }
}

/// How rows were divided: in words, or as far as their numbers say it.
fn describe_split(split: &SplitIndices) -> String {
    if !split.rule.is_empty() {
        return split.rule.clone();
    }
    let parts = [&split.train, &split.validation, &split.test];
    let in_order = parts.into_iter().flatten().is_sorted();
    if in_order {
        "in the order of the table".into()
    } else {
        "not in the order of the table".into()
    }
}
