//! Permutation importance of features.

use super::Evaluation;
use crate::data::{FeatureShape, Features, Matrix, NamedCosts};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::predict::CostModel;
use crate::random::{Purpose, RandomStream};

/// A feature whose values are exchanged among rows.
struct FeatureShuffle {
    feature: usize,
    /// For each row of the table the row whose values it gets.
    source: Vec<usize>,
}

impl FeatureShuffle {
    /// Shuffles the listed rows of a table of this length.
    fn draw(feature: usize, length: usize, rows: &[usize], stream: &mut RandomStream) -> Self {
        let mut shuffled = rows.to_vec();
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, stream.index_below(last + 1));
        }
        let mut source: Vec<usize> = (0..length).collect();
        for (row, from) in rows.iter().zip(shuffled) {
            source[*row] = from;
        }
        Self { feature, source }
    }

    /// Exchanges the values in the features of some rows of the table.
    pub(super) fn apply(&self, table: &Features, rows: &[usize], features: &mut Features) {
        let width = table.names().len();
        let per_instance = table.shape().rows_per_instance();
        let values = features.values_mut().as_mut_slice();
        let instances = values.chunks_exact_mut(width * per_instance);
        for (row, instance) in rows.iter().zip(instances) {
            let from = table.instance(self.source[*row]);
            for item in 0..per_instance {
                let position = item * width + self.feature;
                instance[position] = from[position];
            }
        }
    }
}

impl CostModel {
    /// Permutation importance of every feature (Breiman 2001): by how much the mean regret of the
    /// listed rows rises when the feature's values are shuffled among them, one entry per repeat.
    /// In a long table the values of whole instances are exchanged. The shuffles depend on seed,
    /// feature and repeat only.
    ///
    /// # Errors
    /// When the table does not match the model, an instance has no decision, or the user
    /// interrupts.
    pub fn permutation_importance(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
        repeats: usize,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<f64>>> {
        let table = data.data();
        if table.features().shape() != FeatureShape::Wide && table.has_absent_costs() {
            return Err(Error::data(
                "the instances have different items, whose features cannot be exchanged",
            )
            .with_remedy("importance needs a table whose instances have the same items"));
        }
        let matching = self.matching(NamedCosts::new("the table", table.cost_names()))?;
        let encoded = self.encoded(table.features())?;
        let mean_regret = |shuffle: Option<&FeatureShuffle>| -> Result<f64> {
            let predict = |part: &[usize]| -> Result<Matrix> {
                let mut features = encoded.select_rows(part);
                if let Some(shuffle) = shuffle {
                    shuffle.apply(&encoded, part, &mut features);
                }
                data.minimized_predictions(part, self.predict_matched(&features, &matching)?)
            };
            let missing = self.missing_predictions();
            Ok(Evaluation::in_chunks(predict, missing, data, rows, oracle, observer)?.regret)
        };
        let num_features = self.metadata.features.len();
        let solves = rows.len() * (1 + num_features * repeats);
        observer.begin("shuffling features", solves as u64);
        let baseline = mean_regret(None)?;
        let mut importance = Vec::with_capacity(num_features);
        for feature in 0..num_features {
            let mut increases = Vec::with_capacity(repeats);
            for repeat in 0..repeats {
                let position = [feature as u64, repeat as u64];
                let mut stream = RandomStream::new(Purpose::Importance, seed, position);
                let shuffle = FeatureShuffle::draw(feature, table.len(), rows, &mut stream);
                increases.push(mean_regret(Some(&shuffle))? - baseline);
            }
            importance.push(increases);
        }
        observer.end();
        Ok(importance)
    }
}
