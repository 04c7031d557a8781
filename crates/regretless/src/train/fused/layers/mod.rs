//! Fused training of networks with hidden layers, and of predictors that all items share.
//!
//! Predictions of a batch stay in single precision and are evaluated sixteen at a time. For wide
//! tables threads share the outputs of the last layer ([`wide`]); its gradient never reaches
//! memory, since every block of outputs takes its Adam step at once. For long tables threads share
//! the instances ([`long`]); a linear predictor needs no predictions in memory ([`items`]), and one
//! hidden layer no activations ([`item_network`]).
//! Small layers are not shared: every worker computes all of them.

use std::sync::atomic::{AtomicBool, Ordering};

use self::hidden::{AdamMoments, HiddenLayers};
use self::item_network::TiledItems;
use self::items::ItemFeatures;
use super::worker_columns::PartialSums;
use super::{FusedContext, not_finite};
use crate::data::FeatureShape;
use crate::error::{Error, Result};
use crate::predict::Network;
use crate::train::epoch_runner::{EpochResult, EpochRows, EpochRunner, EpochRunnerState};
use crate::train::optimizer::Moments;

mod hidden;
mod item_network;
mod items;
mod long;
mod output_block;
mod predictions;
mod wide;

/// Fused training of a network.
pub(super) struct FusedNetwork<'a> {
    context: FusedContext<'a>,
    network: Network,
    moments: AdamMoments,
    steps: i32,
    /// Scratch for predictions.
    predictions: Vec<f32>,
    best_parameters: Option<Vec<f32>>,
    items: ItemKernel,
}

/// What computes the predictions and gradients of a long table.
enum ItemKernel {
    /// One linear predictor for all items.
    Linear(ItemFeatures),
    /// One network with one hidden layer for all items.
    OneHiddenLayer(TiledItems),
    /// Matrix products: more hidden layers; also if the table is wide.
    Products,
}

/// Loss sums of the rows of an epoch.
struct EpochSums {
    training: Vec<f64>,
    evaluation: Vec<f64>,
}

impl EpochSums {
    /// The sums of the rows for training and for evaluation; `None` if the epoch was interrupted.
    fn of(
        training: &PartialSums,
        evaluation: &PartialSums,
        stop: &AtomicBool,
        rows: [&[usize]; 2],
    ) -> Option<Self> {
        let [trained_rows, evaluated_rows] = rows;
        let mut sums = Self {
            training: vec![0.0; trained_rows.len()],
            evaluation: vec![0.0; evaluated_rows.len()],
        };
        training.sum_groups(&mut sums.training);
        evaluation.sum_groups(&mut sums.evaluation);
        // A loss that is not finite stops an epoch too, and is reported by the caller.
        let finite = sums.training.iter().all(|sum| sum.is_finite());
        let interrupted = stop.load(Ordering::Relaxed) && finite;
        (!interrupted).then_some(sums)
    }
}

impl<'a> FusedNetwork<'a> {
    pub(super) fn new(context: FusedContext<'a>, network: &Network) -> Self {
        let is_long = matches!(context.prepared.features.shape(), FeatureShape::Long { .. });
        let items = match (is_long, network.sizes().len()) {
            (true, 2) => ItemKernel::Linear(ItemFeatures::new(&context)),
            (true, 3) => ItemKernel::OneHiddenLayer(TiledItems::new(&context)),
            _ => ItemKernel::Products,
        };
        Self {
            context,
            network: network.clone(),
            moments: AdamMoments::zeros(network.parameters().len()),
            steps: 0,
            predictions: Vec::new(),
            best_parameters: None,
            items,
        }
    }

    /// Losses of rows from their sums.
    ///
    /// # Errors
    /// When a loss is not finite.
    fn losses(&self, epoch: usize, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>> {
        let losses = self.context.row_constants.finite_losses(rows, sums);
        losses.map_err(|row| self.not_finite(epoch, row))
    }

    /// The error for a row whose loss is not finite, with the first output that is not finite.
    fn not_finite(&self, epoch: usize, row: usize) -> Error {
        let mut layers = HiddenLayers::new(self.network.clone(), AdamMoments::default());
        let features = self.context.prepared.features.instance(row);
        layers.network.predict(features, &mut layers.tape);
        let output = layers.tape.outputs().iter().position(|o| !o.is_finite());
        not_finite(epoch, row, output)
    }
}

impl EpochRunner for FusedNetwork<'_> {
    fn epoch(&mut self, epoch: usize, rows: EpochRows<'_>) -> Result<EpochResult> {
        let sums = match self.context.prepared.features.shape() {
            FeatureShape::Wide => self.wide_epoch(rows.order, rows.evaluated),
            FeatureShape::Long { .. } => self.long_epoch(rows.order, rows.evaluated),
        };
        let sums = sums.ok_or(Error::Interrupted)?;
        let training_losses = self.losses(epoch, rows.order, &sums.training)?;
        let evaluated_losses = self.losses(epoch, rows.evaluated, &sums.evaluation)?;
        Ok(EpochResult {
            loss: training_losses.iter().sum::<f64>() / rows.order.len() as f64,
            evaluated_losses,
        })
    }

    fn network(&mut self) -> &Network {
        &self.network
    }

    fn save_best(&mut self) {
        let best_parameters = self.best_parameters.get_or_insert_default();
        best_parameters.clear();
        best_parameters.extend_from_slice(self.network.parameters());
    }

    fn finish(mut self: Box<Self>) -> Network {
        if let Some(best_parameters) = &self.best_parameters {
            self.network
                .parameters_mut()
                .copy_from_slice(best_parameters);
        }
        self.network
    }

    fn state(&mut self) -> EpochRunnerState {
        EpochRunnerState {
            parameters: self.network.parameters().to_vec(),
            best_parameters: self.best_parameters.clone(),
            moments: Moments {
                steps: self.steps,
                mean: self.moments.first.clone(),
                square: self.moments.second.clone(),
            },
            pool: None,
            gram: Vec::new(),
            expansion_is_accurate: true,
        }
    }

    fn restore(&mut self, state: EpochRunnerState) -> bool {
        let EpochRunnerState {
            parameters,
            best_parameters,
            moments:
                Moments {
                    steps,
                    mean,
                    square,
                },
            ..
        } = state;
        let current = self.network.parameters_mut();
        let sizes = [
            parameters.len(),
            mean.len(),
            square.len(),
            best_parameters.as_ref().map_or(current.len(), Vec::len),
        ];
        if sizes != [current.len(); 4] {
            return false;
        }
        current.copy_from_slice(&parameters);
        self.moments = AdamMoments {
            first: mean,
            second: square,
        };
        self.steps = steps;
        self.best_parameters = best_parameters;
        true
    }
}
