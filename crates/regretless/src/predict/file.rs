//! Model files: networks, scalers and metadata in a checksummed file.

use std::path::Path;

use super::{CostModel, CostScaler, FeatureScaler, ModelMetadata, Network};
use crate::checksummed_file::ChecksummedFile;
use crate::data::atomic_write::write_atomically;
use crate::error::{Error, InputPlace, Result};
use serde::{Deserialize, Serialize};

/// Kind and version of the file.
const MODEL_FILE_FORMAT: &str = "model 2";
/// Maximum number of networks, and of layers of a network. Untuned: far above any trained model;
/// limits the memory that reading a forged file can take.
const MAX_NETWORKS_OR_LAYERS: usize = 4096;

/// The header of a model file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFileHeader {
    /// Features, hidden layers and outputs of every network.
    sizes: Vec<usize>,
    num_networks: usize,
    metadata: ModelMetadata,
}

impl CostModel {
    /// Writes the model; replaces an existing file only with `force`.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn save(&self, path: &Path, force: bool) -> Result<()> {
        let file = self.to_file();
        write_atomically(path, force, |out| file.write_to(out, MODEL_FILE_FORMAT))
    }

    /// Writes the bytes of the model file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_to(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.to_file().write_to(out, MODEL_FILE_FORMAT)
    }

    /// Reads a model; nothing in the file is executed.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is not a model.
    pub fn load(path: &Path) -> Result<Self> {
        let file = ChecksummedFile::read(path, MODEL_FILE_FORMAT)?;
        Self::from_file(file).map_err(|message| Error::input(InputPlace::file(path), message))
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the header cannot be serialized as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_file().to_bytes(MODEL_FILE_FORMAT)
    }

    fn to_file(&self) -> ChecksummedFile<ModelFileHeader> {
        let first = self.networks.first();
        let header = ModelFileHeader {
            sizes: first.map_or_else(Vec::new, |network| network.sizes().to_vec()),
            num_networks: self.networks.len(),
            metadata: self.metadata.clone(),
        };
        let mut file = ChecksummedFile::new(header)
            .with_array("output.offset", self.output.offset.clone())
            .with_array("output.scale", self.output.scale.clone());
        if let Some(input) = &self.input {
            file = file
                .with_array("input.mean", input.mean.clone())
                .with_array("input.deviation", input.deviation.clone());
        }
        for (index, network) in self.networks.iter().enumerate() {
            file = file.with_array(format!("network.{index}"), network.parameters().to_vec());
        }
        file
    }

    /// The model in these bytes.
    ///
    /// # Errors
    /// When they are damaged or not a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        ChecksummedFile::from_bytes(bytes, MODEL_FILE_FORMAT)
            .and_then(Self::from_file)
            .map_err(Error::data)
    }

    fn from_file(mut file: ChecksummedFile<ModelFileHeader>) -> std::result::Result<Self, String> {
        let inconsistent = |reason: &str| format!("the model file is inconsistent: {reason}");
        let ModelFileHeader {
            sizes,
            num_networks,
            metadata,
        } = file.header.clone();
        if num_networks == 0
            || num_networks > MAX_NETWORKS_OR_LAYERS
            || sizes.len() > MAX_NETWORKS_OR_LAYERS
            || sizes.contains(&0)
        {
            return Err(inconsistent("number or size of its networks"));
        }
        let mut networks = Vec::new();
        for index in 0..num_networks {
            let parameters: Vec<f32> = file
                .take_array(&format!("network.{index}"))
                .ok_or_else(|| inconsistent("a network is missing"))?;
            if let Some(bad) = parameters.iter().position(|p| !p.is_finite()) {
                return Err(format!(
                    "parameter {bad} of network {index} is not a finite number"
                ));
            }
            let network = Network::with_parameters(sizes.clone(), parameters);
            networks.push(network.ok_or_else(|| inconsistent("the sizes of its layers"))?);
        }
        let is_scaled = file.has("input.mean") || file.has("input.deviation");
        let mut column = |name: &str, len: usize| {
            file.take_array::<Vec<f64>>(name)
                .filter(|v| v.len() == len && v.iter().all(|x| x.is_finite()))
        };
        let (features, outputs) = (sizes[0], sizes[sizes.len() - 1]);
        let input = match (
            column("input.mean", features),
            column("input.deviation", features),
        ) {
            // Features are divided by their deviation, which must not be zero.
            (Some(mean), Some(deviation)) if deviation.iter().all(|d| *d > 0.0) => {
                Some(FeatureScaler { mean, deviation })
            }
            (None, None) if !is_scaled => None,
            _ => return Err(inconsistent("the scaling of its features")),
        };
        let scaler = column("output.offset", outputs).zip(column("output.scale", outputs));
        let (offset, scale) = scaler.ok_or_else(|| inconsistent("the scaling of its outputs"))?;
        if let Some(name) = file.unused_array() {
            return Err(inconsistent(&format!("unexpected array '{name}'")));
        }
        let costs = metadata.shape.rows_per_instance().checked_mul(outputs);
        if metadata.features.len() != features || Some(metadata.costs.len()) != costs {
            return Err(inconsistent("the names of its features or costs"));
        }
        Ok(Self {
            networks,
            input,
            output: CostScaler { offset, scale },
            metadata,
        })
    }
}

/// Access of the fuzzing tests to this format.
#[cfg(test)]
pub(crate) mod fuzzing {
    use super::tests::model;
    use super::{ChecksummedFile, MODEL_FILE_FORMAT, ModelFileHeader};

    /// Files that mutants are made of.
    pub(crate) fn examples() -> Vec<Vec<u8>> {
        vec![model(2.0).to_bytes().unwrap()]
    }

    pub(crate) fn with_matching_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
        ChecksummedFile::<ModelFileHeader>::with_matching_checksum(bytes, MODEL_FILE_FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::{ChecksummedFile, MODEL_FILE_FORMAT};
    use crate::data::{CostNames, FeatureShape};
    use crate::predict::{CostModel, CostScaler, FeatureScaler, ModelMetadata, Network};

    pub(super) fn model(deviation: f64) -> CostModel {
        let metadata = ModelMetadata {
            method: "MSE".into(),
            problem_file_hash: None,
            problem: serde_json::json!({}),
            seed: 0,
            features: vec!["x".into()],
            costs: CostNames::numbered(2),
            shape: FeatureShape::Wide,
        };
        CostModel {
            networks: vec![Network::new(1, &[], 2, 0)],
            input: Some(FeatureScaler {
                mean: vec![0.0],
                deviation: vec![deviation],
            }),
            output: CostScaler {
                offset: vec![0.0; 2],
                scale: vec![1.0; 2],
            },
            metadata,
        }
    }

    fn refused(bytes: &[u8], word: &str) {
        let error = CostModel::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }

    /// Files with a correct checksum whose content no training writes.
    #[test]
    fn forged_models_are_refused() {
        assert_eq!(
            CostModel::from_bytes(&model(2.0).to_bytes().unwrap()).unwrap(),
            model(2.0)
        );
        for deviation in [0.0, -1.0] {
            refused(&model(deviation).to_bytes().unwrap(), "scaling");
        }
        let more = model(2.0).to_file().with_array("network.1", vec![1.0_f32]);
        refused(&more.to_bytes(MODEL_FILE_FORMAT).unwrap(), "network.1");
        let mut short: ChecksummedFile<_> = model(2.0).to_file();
        let _: Option<Vec<f64>> = short.take_array("input.mean");
        let _: Option<Vec<f64>> = short.take_array("input.deviation");
        let short = short
            .with_array("input.mean", vec![0.0_f64; 3])
            .with_array("input.deviation", vec![1.0_f64; 3]);
        refused(&short.to_bytes(MODEL_FILE_FORMAT).unwrap(), "scaling");
    }
}
