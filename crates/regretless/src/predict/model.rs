//! A trained model: networks, scalers and metadata.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CostScaler, EmbeddedFile, FeatureScaler, Network, RowSketch, Tape, TrainingRecord};
use crate::data::{
    CostMatching, CostNames, Dataset, FeatureEncoding, FeatureOptions, FeatureShape, Features,
    Matrix, NamedCosts,
};
use crate::error::{Error, Result};

/// The origin of a model, and what it expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelMetadata {
    /// Name of the method it was trained with.
    pub method: String,
    /// The problem it was trained for, serialized.
    pub problem: serde_json::Value,
    /// BLAKE3 of the file that the problem was read from, in hexadecimal digits; none for other
    /// problems. Code that reads the file again compares the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_file_hash: Option<String>,
    /// Seed of the training.
    pub seed: u64,
    /// Names of the features it expects, in order.
    pub features: Vec<String>,
    /// Names of the costs it predicts: those of the problem if it has names, else of the table; c0,
    /// c1, … if neither has any.
    pub costs: CostNames,
    /// Wide or long.
    pub shape: FeatureShape,
    /// How the columns of a table become these features; none if they are the features.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "shared_encoding"
    )]
    pub encoding: Option<Arc<FeatureEncoding>>,
    /// The costs that no training row has, in increasing order: they have no prediction. Empty for
    /// most models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unobserved: Vec<u32>,
    /// What it was trained on and how; none for models of earlier versions and for baselines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<TrainingRecord>,
}

/// Encodings in files.
mod shared_encoding {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::data::FeatureEncoding;

    pub(super) fn serialize<S: Serializer>(
        encoding: &Option<Arc<FeatureEncoding>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        encoding.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<FeatureEncoding>>, D::Error> {
        Ok(Option::<FeatureEncoding>::deserialize(deserializer)?.map(Arc::new))
    }
}

/// One network, or an ensemble whose predictions are averaged, with its scalers.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// The networks, with the same features and outputs.
    pub(crate) networks: Vec<Network>,
    /// Applied to features first, if any.
    pub(crate) input: Option<FeatureScaler>,
    /// Applied to outputs last; the resulting costs are in the user's objective sense.
    pub(crate) output: CostScaler,
    /// Its origin, and what it expects.
    pub metadata: ModelMetadata,
    /// The file of its problem, if that was read from one. Models of earlier versions have only its
    /// path and hash.
    pub(crate) problem_file: Option<EmbeddedFile>,
    /// The rows it was trained on; none for models of earlier versions and for baselines.
    pub(crate) sketch: Option<RowSketch>,
}

/// Maximum number of rows predicted at a time. Untuned: large enough for the matrix product, small
/// enough that the tape is small compared to the result.
const MAX_ROWS_PER_CHUNK: usize = 1024;
/// Maximum number of outputs predicted at a time: bounds their memory to 128 MB.
const MAX_OUTPUTS_PER_CHUNK: usize = 1 << 25;

impl CostModel {
    /// The model without the record of its training: what it predicts by.
    #[must_use]
    pub fn without_record(&self) -> Self {
        let mut fitted = self.clone();
        fitted.metadata.record = None;
        fitted.sketch = None;
        fitted
    }

    /// Predicted costs, one row per instance, in the objective sense of the user; NaN if no
    /// training row has the cost, which then has no prediction.
    ///
    /// # Errors
    /// When the features are not those the model was trained on.
    pub fn predict(&self, features: &Features) -> Result<Matrix> {
        let features = self.encoded(features)?;
        self.check_encoded(&features)?;
        let mut features = features.into_owned();
        if let Some(scaler) = &self.input {
            scaler.apply(&mut features);
        }
        // The networks share scalers, so features are scaled once.
        let width = features.names().len();
        let mut costs = Vec::with_capacity(features.values().rows() * self.output.scale.len());
        let mut tape = Tape::default();
        let rows_per_chunk =
            (MAX_OUTPUTS_PER_CHUNK / self.output.scale.len().max(1)).clamp(1, MAX_ROWS_PER_CHUNK);
        // In parts, so the tape of a network stays small.
        for rows in features.values().as_slice().chunks(rows_per_chunk * width) {
            self.predict_rows(rows, &mut tape, &mut costs);
        }
        self.clear_unobserved(&mut costs);
        Matrix::new(
            features.instances(),
            costs.len() / features.instances().max(1),
            costs,
        )
    }

    /// Sets the costs that no training row has to NaN, and others that are NaN, where numbers
    /// overflowed, to infinity, which is an error wherever costs are used.
    fn clear_unobserved(&self, costs: &mut [f32]) {
        let unobserved = &self.metadata.unobserved;
        if unobserved.is_empty() {
            return;
        }
        // In a long table, an instance has the outputs of several items.
        for row in costs.chunks_exact_mut(self.metadata.costs.len()) {
            // NaN is the mark of a cost without a prediction: an overflow must not look like one.
            for cost in row.iter_mut().filter(|cost| cost.is_nan()) {
                *cost = f32::INFINITY;
            }
            for cost in unobserved {
                row[*cost as usize] = f32::NAN;
            }
        }
    }

    /// Whether some costs have no prediction, since no training row has them.
    pub fn has_unobserved_costs(&self) -> bool {
        !self.metadata.unobserved.is_empty()
    }

    /// The names of the costs without a prediction.
    pub(super) fn unobserved_names(&self) -> Vec<String> {
        let costs = self.metadata.unobserved.iter();
        let name = |cost: &u32| self.metadata.costs.get(*cost as usize).into_owned();
        costs.map(name).collect()
    }

    /// Names the costs without a prediction; `None` if all have one.
    pub fn unobserved_note(&self) -> Option<String> {
        self.metadata
            .costs
            .unobserved_note(&self.metadata.unobserved)
    }

    /// Whether the model names a file of its problem that it does not hold, as models of earlier
    /// versions do: the file may change between two calls.
    pub fn needs_problem_file(&self) -> bool {
        self.metadata.problem_file_hash.is_some() && self.problem_file.is_none()
    }

    /// The content of the problem's file that the model holds; `None` for models without one.
    ///
    /// # Errors
    /// When it is damaged, or is not the file whose hash the model has.
    pub fn problem_file(&self) -> Result<Option<Vec<u8>>> {
        let Some(file) = &self.problem_file else {
            return Ok(None);
        };
        let hash = self.metadata.problem_file_hash.as_deref();
        let content = hash.and_then(|hash| file.content(hash));
        content.map(Some).ok_or_else(|| {
            Error::data("the problem's file in the model is damaged, or too large")
                .with_remedy("pass the problem, for example as a problem file")
        })
    }

    /// The matching of the costs this model predicts with the expected ones.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn matching(&self, expected: NamedCosts<'_>) -> Result<CostMatching> {
        CostMatching::new(self.named_costs(expected.cost_names), expected)
    }

    /// The costs this model predicts, compared with others. A model file does not record whether
    /// c0, c1, c2, … are names or placeholders: they are names if the others have the same.
    pub fn named_costs(&self, others: Option<&CostNames>) -> NamedCosts<'_> {
        let names = &self.metadata.costs;
        // Names like c0, c1 are taken for names only if the other side has the same.
        let are_names =
            !names.are_numbered() || others.is_some_and(|o| o.are_explicit() && o.same_set(names));
        NamedCosts {
            name: "the model",
            cost_names: are_names.then_some(names),
            warn_if_unnamed: true,
        }
    }

    /// Predicted costs in the order of a matching.
    ///
    /// # Errors
    /// When the features are not those the model was trained on.
    pub fn predict_matched(&self, features: &Features, matching: &CostMatching) -> Result<Matrix> {
        let mut costs = self.predict(features)?;
        if let Some(order) = matching.order() {
            costs.reorder_columns(order)?;
        }
        Ok(costs)
    }

    /// Mean prediction of all networks.
    fn predict_rows(&self, rows: &[f32], tape: &mut Tape, costs: &mut Vec<f32>) {
        let mut sums: Vec<f64> = Vec::new();
        for network in &self.networks {
            network.predict(rows, tape);
            sums.resize(tape.outputs().len(), 0.0);
            for (sum, cost) in sums.iter_mut().zip(self.output.apply(tape.outputs())) {
                *sum += cost;
            }
        }
        // Divided after the sum in double precision, then rounded once.
        let networks = self.networks.len() as f64;
        costs.extend(sums.into_iter().map(|sum| (sum / networks) as f32));
    }

    /// Names of the columns of a table that the model needs, in order.
    pub fn column_names(&self) -> Vec<String> {
        match &self.metadata.encoding {
            None => self.metadata.features.clone(),
            Some(encoding) => encoding.column_names(),
        }
    }

    /// How the columns of a table are read for the model, so numbers that are categories stay as
    /// they are written.
    pub fn reading_options(&self) -> FeatureOptions {
        let encoding = self.metadata.encoding.as_ref();
        encoding.map_or_else(FeatureOptions::default, |encoding| {
            encoding.reading_options()
        })
    }

    /// The features of these columns as the model expects them.
    ///
    /// # Errors
    /// When a column is missing or holds something else; the error has the place.
    pub fn encode(&self, features: &Features) -> Result<Features> {
        self.encoded(features).map(Cow::into_owned)
    }

    /// The same table with the features that the model expects.
    ///
    /// # Errors
    /// As [`CostModel::encode`].
    pub fn encode_table(&self, data: Dataset) -> Result<Dataset> {
        let features = self.encode(data.features())?;
        Ok(data.with_features(features))
    }

    pub(crate) fn encoded<'f>(&self, features: &'f Features) -> Result<Cow<'f, Features>> {
        features.encoded_for(self.metadata.encoding.as_ref())
    }

    /// Checks that these are the features the model was trained on, or columns they are made of.
    ///
    /// # Errors
    /// When names or shape differ.
    pub fn check(&self, features: &Features) -> Result<()> {
        self.check_encoded(&*self.encoded(features)?)
    }

    fn check_encoded(&self, features: &Features) -> Result<()> {
        if features.names() != self.metadata.features {
            let (expected, found) = (
                self.metadata.features.join(", "),
                features.names().join(", "),
            );
            return Err(
                Error::data(format!("the model expects the features {expected}"))
                    .with_remedy(format!("the table has {found}")),
            );
        }
        // Numbered costs of a long table are items of any number.
        let fits = match (features.shape(), self.metadata.shape) {
            // The predictor serves any number of items that have no names.
            (FeatureShape::Long { .. }, FeatureShape::Long { .. })
                if self.metadata.costs.are_numbered() =>
            {
                true
            }
            (shape, expected) => shape == expected,
        };
        if !fits {
            let [expected, found] = [self.metadata.shape, features.shape()].map(described);
            let message = format!("the model expects {expected}, but this is {found}");
            return Err(Error::data(message));
        }
        Ok(())
    }
}

/// A table with features of this shape, for people.
fn described(shape: FeatureShape) -> String {
    match shape {
        FeatureShape::Wide => "a table with one row per instance".into(),
        FeatureShape::Long { items: 1 } => "a long table with one item per instance".into(),
        FeatureShape::Long { items } => format!("a long table with {items} items per instance"),
    }
}
