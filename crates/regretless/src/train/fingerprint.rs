//! Hashes that identify a training: the key of its checkpoints.

use super::{StagedTraining, TrainingContext};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::predict::CostModel;
use crate::problem::ProblemSpec;

/// Numbers that are converted to bytes at a time: bounds the memory of the conversion.
const NUMBERS_PER_CHUNK: usize = 1 << 16;

impl StagedTraining<'_> {
    /// A hash over everything the training depends on.
    pub(super) fn key(&self, context: &TrainingContext<'_>) -> Result<String> {
        let method = Method::Stages(self.stages.to_vec());
        let settings = serde_json::to_vec(&(method.to_string(), self.predictor, self.settings));
        let settings = settings
            .map_err(|error| Error::setting(format!("the training cannot be stored: {error}")))?;
        let start = match self.start {
            Some(model) => CostModel::to_bytes(model)?,
            None => Vec::new(),
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(context.fingerprint(self.problem)?.as_bytes());
        for bytes in [&settings, &start] {
            hasher
                .update(&(bytes.len() as u64).to_le_bytes())
                .update(bytes);
        }
        for fingerprint in method.loss_fingerprints() {
            hasher.update(fingerprint.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

impl TrainingContext<'_> {
    /// A hash over rows, labels, split and problem: the same hash means the same trained models.
    ///
    /// # Errors
    /// When the problem cannot be stored.
    pub fn fingerprint(&self, problem: &ProblemSpec) -> Result<String> {
        let data = self.data.data();
        let header = serde_json::to_vec(&(
            (
                problem,
                self.oracle.problem().model_parts().fingerprint(),
                self.oracle.limits(),
                self.oracle.heuristic(),
            ),
            self.split,
            (
                data.features().names(),
                data.features().shape(),
                data.len(),
                data.cost_names().len(),
            ),
        ));
        let encoding = match data.features().encoding() {
            None => Ok(Vec::new()),
            Some(encoding) => serde_json::to_vec(encoding.as_ref()),
        };
        let encoding = encoding
            .map_err(|error| Error::setting(format!("the encoding cannot be stored: {error}")))?;
        let header = header
            .map_err(|error| Error::setting(format!("the problem cannot be stored: {error}")))?;
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(&(header.len() as u64).to_le_bytes())
            .update(&header)
            .update(&encoding);
        for numbers in [data.features().values().as_slice(), data.costs().as_slice()] {
            let mut bytes = Vec::new();
            for chunk in numbers.chunks(NUMBERS_PER_CHUNK) {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|number| number.to_le_bytes()));
                hasher.update(&bytes);
            }
        }
        for weight in data.row_weights().unwrap_or_default() {
            hasher.update(&weight.to_le_bytes());
        }
        let mut parameters = Vec::new();
        for row in self.data.rows() {
            if self.oracle.read_parameters(row, &mut parameters).is_ok() {
                for value in &parameters {
                    hasher.update(&value.to_le_bytes());
                }
            }
            hasher.update(&self.data.optimal_objective(row).to_le_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}
