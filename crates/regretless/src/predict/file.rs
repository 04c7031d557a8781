//! Model files: networks, scalers and metadata in a checksummed file.

use std::path::Path;

use super::{
    CostModel, CostScaler, EmbeddedFile, FeatureScaler, ModelMetadata, Network, RowSketch,
    TrainingRecord,
};
use crate::checksummed_file::ChecksummedFile;
use crate::data::atomic_write::write_atomically;
use crate::error::{Error, InputPlace, Result};
use crate::size_limits::read_file;
use serde::{Deserialize, Serialize};

/// Kind and version of the file.
const MODEL_FILE_FORMAT: &str = "model 3";
/// The format of earlier versions, which is still read: without the problem's file, the record of
/// the training and the sketch of its rows.
const EARLIER_MODEL_FILE_FORMAT: &str = "model 2";
/// The array of the problem's file.
const PROBLEM_FILE: &str = "problem.file";
/// The array of the sketch of the training rows.
const SKETCH: &str = "training.sketch";
/// Maximum number of networks, and of layers of a network. Untuned: far above any trained model;
/// limits the memory that reading a forged file can take.
const MAX_NETWORKS_OR_LAYERS: usize = 4096;

/// The header of a model file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFileHeader {
    /// Features, hidden layers and outputs of every network, or of the first one.
    sizes: Vec<usize>,
    /// Those of every network, if their hidden layers differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes_by_network: Vec<Vec<usize>>,
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
        let bytes = read_file(path)?;
        Self::parse(&bytes).map_err(|message| Error::input(InputPlace::file(path), message))
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the header cannot be serialized as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_file().to_bytes(MODEL_FILE_FORMAT)
    }

    fn to_file(&self) -> ChecksummedFile<ModelFileHeader> {
        let all_sizes: Vec<Vec<usize>> = self
            .networks
            .iter()
            .map(|network| network.sizes().to_vec())
            .collect();
        let sizes = all_sizes.first().cloned().unwrap_or_default();
        let are_equal = all_sizes.iter().all(|other| *other == sizes);
        let header = ModelFileHeader {
            sizes,
            sizes_by_network: if are_equal { Vec::new() } else { all_sizes },
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
        if let Some(problem_file) = &self.problem_file {
            file = file.with_array(PROBLEM_FILE, problem_file.compressed().to_vec());
        }
        if let Some(sketch) = &self.sketch {
            file = file.with_array(SKETCH, sketch.hashes().to_vec());
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
        Self::parse(bytes).map_err(Error::data)
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let is_earlier =
            ChecksummedFile::<ModelFileHeader>::has_format(bytes, EARLIER_MODEL_FILE_FORMAT);
        if !is_earlier {
            return ChecksummedFile::from_bytes(bytes, MODEL_FILE_FORMAT).and_then(Self::from_file);
        }
        let file = ChecksummedFile::from_bytes(bytes, EARLIER_MODEL_FILE_FORMAT)?;
        let model = Self::from_file(file)?;
        let has_later_parts = model.problem_file.is_some()
            || model.sketch.is_some()
            || model.metadata.record.is_some()
            || model.has_unobserved_costs()
            || model.metadata.encoding.is_some();
        if has_later_parts {
            return Err(inconsistent("it has parts of a later format"));
        }
        Ok(model)
    }

    fn from_file(mut file: ChecksummedFile<ModelFileHeader>) -> std::result::Result<Self, String> {
        let metadata = file.header.metadata.clone();
        let networks = take_networks(&mut file)?;
        let sizes = &file.header.sizes;
        let (features, outputs) = (sizes[0], sizes[sizes.len() - 1]);
        let input = take_feature_scaler(&mut file, features)?;
        let output = take_cost_scaler(&mut file, outputs)?;
        let problem_file = take_bytes(&mut file, PROBLEM_FILE)?.map(EmbeddedFile::from_compressed);
        if problem_file.is_some() && metadata.problem_file_hash.is_none() {
            return Err(inconsistent("the hash of its problem's file is missing"));
        }
        let sketch = take_sketch(&mut file, metadata.record.as_ref())?;
        if let Some(name) = file.unused_array() {
            return Err(inconsistent(&format!("unexpected array '{name}'")));
        }
        check_metadata(&metadata, features, outputs)?;
        Ok(Self {
            networks,
            input,
            output,
            metadata,
            problem_file,
            sketch,
        })
    }
}

/// The networks, with the sizes of the header.
fn take_networks(
    file: &mut ChecksummedFile<ModelFileHeader>,
) -> std::result::Result<Vec<Network>, String> {
    let ModelFileHeader {
        sizes,
        sizes_by_network,
        num_networks,
        ..
    } = file.header.clone();
    if num_networks == 0 || num_networks > MAX_NETWORKS_OR_LAYERS {
        return Err(inconsistent("the number of its networks"));
    }
    let all_sizes = if sizes_by_network.is_empty() {
        vec![sizes.clone(); num_networks]
    } else {
        sizes_by_network
    };
    if all_sizes.len() != num_networks || !are_valid_sizes(&sizes, &all_sizes) {
        return Err(inconsistent("the sizes of its networks"));
    }
    let mut networks = Vec::new();
    for (index, sizes) in all_sizes.into_iter().enumerate() {
        let parameters: Vec<f32> = file
            .take_array(&format!("network.{index}"))
            .ok_or_else(|| inconsistent("a network is missing"))?;
        if let Some(bad) = parameters.iter().position(|p| !p.is_finite()) {
            return Err(format!(
                "parameter {bad} of network {index} is not a finite number"
            ));
        }
        let network = Network::with_parameters(sizes, parameters);
        networks.push(network.ok_or_else(|| inconsistent("the sizes of its layers"))?);
    }
    Ok(networks)
}

/// An array of finite numbers of this length.
fn take_column(
    file: &mut ChecksummedFile<ModelFileHeader>,
    name: &str,
    len: usize,
) -> Option<Vec<f64>> {
    file.take_array::<Vec<f64>>(name)
        .filter(|values| values.len() == len && values.iter().all(|value| value.is_finite()))
}

fn take_feature_scaler(
    file: &mut ChecksummedFile<ModelFileHeader>,
    features: usize,
) -> std::result::Result<Option<FeatureScaler>, String> {
    let is_scaled = file.has("input.mean") || file.has("input.deviation");
    let mean = take_column(file, "input.mean", features);
    let deviation = take_column(file, "input.deviation", features);
    match (mean, deviation) {
        // Features are divided by their deviation, which must not be zero.
        (Some(mean), Some(deviation)) if deviation.iter().all(|d| *d > 0.0) => {
            Ok(Some(FeatureScaler { mean, deviation }))
        }
        // Arrays that exist but were refused are not a model without scaling.
        (None, None) if !is_scaled => Ok(None),
        _ => Err(inconsistent("the scaling of its features")),
    }
}

fn take_cost_scaler(
    file: &mut ChecksummedFile<ModelFileHeader>,
    outputs: usize,
) -> std::result::Result<CostScaler, String> {
    let offset = take_column(file, "output.offset", outputs);
    let scale = take_column(file, "output.scale", outputs);
    let (offset, scale) = offset
        .zip(scale)
        .ok_or_else(|| inconsistent("the scaling of its outputs"))?;
    Ok(CostScaler { offset, scale })
}

/// The sketch of the training rows, which belongs to the record of the training.
fn take_sketch(
    file: &mut ChecksummedFile<ModelFileHeader>,
    record: Option<&TrainingRecord>,
) -> std::result::Result<Option<RowSketch>, String> {
    match (record, file.has(SKETCH)) {
        (Some(record), true) => {
            let hashes: Option<Vec<u64>> = file.take_array(SKETCH);
            let sketch = hashes.and_then(|h| RowSketch::from_hashes(h, record.sketch_is_complete));
            let sketch = sketch.ok_or_else(|| inconsistent("the sketch of its rows"))?;
            Ok(Some(sketch))
        }
        (None, false) => Ok(None),
        (Some(_), false) | (None, true) => Err(inconsistent("the record of its training")),
    }
}

/// Checks what the metadata says about features and costs.
fn check_metadata(
    metadata: &ModelMetadata,
    features: usize,
    outputs: usize,
) -> std::result::Result<(), String> {
    let costs = metadata.shape.rows_per_instance().checked_mul(outputs);
    if metadata.features.len() != features || Some(metadata.costs.len()) != costs {
        return Err(inconsistent("the names of its features or costs"));
    }
    let unobserved = &metadata.unobserved;
    let are_costs = unobserved
        .iter()
        .all(|cost| (*cost as usize) < metadata.costs.len());
    if !are_costs || !unobserved.is_sorted_by(|a, b| a < b) {
        return Err(inconsistent("its costs without training rows"));
    }
    if let Some(encoding) = &metadata.encoding {
        encoding.check().map_err(|reason| inconsistent(&reason))?;
        if encoding.feature_names() != metadata.features {
            return Err(inconsistent("the encoding of its features"));
        }
    }
    Ok(())
}

/// Whether all networks have the features and outputs of the first one, and no empty layer.
fn are_valid_sizes(first: &[usize], all: &[Vec<usize>]) -> bool {
    all.iter().all(|sizes| {
        (2..=MAX_NETWORKS_OR_LAYERS).contains(&sizes.len())
            && !sizes.contains(&0)
            && sizes.first() == first.first()
            && sizes.last() == first.last()
    })
}

fn inconsistent(reason: &str) -> String {
    format!("the model file is inconsistent: {reason}")
}

/// An array of bytes; an array of this name that holds other numbers is an error.
fn take_bytes(
    file: &mut ChecksummedFile<ModelFileHeader>,
    name: &str,
) -> std::result::Result<Option<Vec<u8>>, String> {
    if !file.has(name) {
        return Ok(None);
    }
    let bytes = file.take_array(name);
    bytes.map(Some).ok_or_else(|| inconsistent(name))
}

#[cfg(test)]
pub(super) use tests::model as example_model;

/// Access of the fuzzing tests to this format.
#[cfg(test)]
pub(crate) mod fuzzing {
    use super::tests::{complete_model, model, model_without_a_cost};
    use super::{ChecksummedFile, EARLIER_MODEL_FILE_FORMAT, MODEL_FILE_FORMAT, ModelFileHeader};

    /// Files that mutants are made of.
    pub(crate) fn examples() -> Vec<Vec<u8>> {
        let earlier = model(2.0).to_file();
        vec![
            model(2.0).to_bytes().unwrap(),
            complete_model().to_bytes().unwrap(),
            model_without_a_cost().to_bytes().unwrap(),
            earlier.to_bytes(EARLIER_MODEL_FILE_FORMAT).unwrap(),
        ]
    }

    pub(crate) fn with_matching_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
        type ModelFile = ChecksummedFile<ModelFileHeader>;
        let formats = [MODEL_FILE_FORMAT, EARLIER_MODEL_FILE_FORMAT];
        let mut repaired = formats
            .iter()
            .map(|format| ModelFile::with_matching_checksum(bytes, format));
        repaired.find_map(|bytes| bytes)
    }
}

#[cfg(test)]
mod tests;
