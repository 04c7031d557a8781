//! Fused training of networks with hidden layers, and of predictors that all items share.
//!
//! Predictions of a batch stay in single precision and are judged sixteen at a time. In the wide
//! shape threads share the outputs of the last layer ([`wide`]); its gradient never reaches memory,
//! since every block of outputs takes its Adam step at once. In the long shape they share the
//! instances ([`long`]), and a linear predictor needs no predictions in memory ([`items`]). What is
//! small every worker does for itself.

use self::hidden::HiddenLayers;
use self::items::ItemFeatures;
use super::{FusedContext, not_finite};
use crate::data::FeatureShape;
use crate::error::{Error, Result};
use crate::predict::{Network, Predictor};
use crate::train::epoch_runner::{EpochResult, EpochRunner, TrainerState};
use crate::train::optimizer::Moments;

mod hidden;
mod items;
mod long;
mod predictions;
mod wide;

/// Fused training of a network.
pub(super) struct FusedNetwork<'a> {
    setup: FusedContext<'a>,
    network: Network,
    /// Running means of gradients and of their squares.
    moments: [Vec<f32>; 2],
    steps: i32,
    /// Room for predictions.
    predictions: Vec<f32>,
    best_parameters: Option<Vec<f32>>,
    /// Where one linear predictor serves all items.
    items: Option<ItemFeatures>,
}

/// What an epoch leaves: sums of errors of rows trained on and judged; none when it was
/// interrupted.
type EpochSums = Option<[Vec<f64>; 2]>;

impl<'a> FusedNetwork<'a> {
    pub(super) fn new(setup: FusedContext<'a>, network: &Network) -> Self {
        let moments = [(); 2].map(|()| vec![0.0; network.parameters().len()]);
        let shared = network.is_linear()
            && matches!(setup.prepared.features.shape(), FeatureShape::Long { .. });
        let items = shared.then(|| ItemFeatures::new(&setup));
        Self {
            setup,
            network: network.clone(),
            moments,
            steps: 0,
            predictions: Vec::new(),
            best_parameters: None,
            items,
        }
    }

    fn check(&mut self, epoch: usize, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>> {
        let mut losses = Vec::with_capacity(rows.len());
        for (row, sum) in rows.iter().zip(sums) {
            let loss = self.setup.row_constants.loss(*row, *sum);
            if !loss.is_finite() {
                let mut body = HiddenLayers::new(self.network.clone(), Default::default());
                body.network
                    .predict(self.setup.prepared.features.instance(*row), &mut body.tape);
                return Err(not_finite(
                    (epoch, *row),
                    body.tape.outputs().iter().position(|o| !o.is_finite()),
                ));
            }
            losses.push(loss);
        }
        Ok(losses)
    }
}

impl EpochRunner for FusedNetwork<'_> {
    fn epoch(
        &mut self,
        epoch: usize,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Result<EpochResult> {
        let sums = match self.setup.prepared.features.shape() {
            FeatureShape::Wide => self.wide_epoch(order, evaluated_rows),
            FeatureShape::Long { .. } => self.long_epoch(order, evaluated_rows),
        };
        let [trained, evaluation_sums] = sums.ok_or(Error::Interrupted)?;
        let trained = self.check(epoch, order, &trained)?;
        let evaluated_losses = self.check(epoch, evaluated_rows, &evaluation_sums)?;
        Ok(EpochResult {
            loss: trained.iter().sum::<f64>() / order.len() as f64,
            evaluated_losses,
        })
    }

    fn network(&mut self) -> &Network {
        &self.network
    }

    fn save_best(&mut self) {
        self.best_parameters.get_or_insert_default().clear();
        self.best_parameters
            .get_or_insert_default()
            .extend_from_slice(self.network.parameters());
    }

    fn finish(mut self: Box<Self>) -> Network {
        if let Some(best_parameters) = &self.best_parameters {
            self.network
                .parameters_mut()
                .copy_from_slice(best_parameters);
        }
        self.network
    }

    fn state(&mut self) -> TrainerState {
        let [mean, square] = self.moments.clone();
        TrainerState {
            parameters: self.network.parameters().to_vec(),
            best_parameters: self.best_parameters.clone(),
            moments: Moments {
                steps: self.steps,
                mean,
                square,
            },
            pool: None,
            sums: Vec::new(),
        }
    }

    fn restore(&mut self, state: TrainerState) -> bool {
        let TrainerState {
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
        let present = self.network.parameters_mut();
        let sizes = [
            parameters.len(),
            mean.len(),
            square.len(),
            best_parameters.as_ref().map_or(present.len(), Vec::len),
        ];
        if sizes != [present.len(); 4] {
            return false;
        }
        present.copy_from_slice(&parameters);
        (self.moments, self.steps, self.best_parameters) = ([mean, square], steps, best_parameters);
        true
    }
}
