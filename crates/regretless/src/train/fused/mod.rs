//! Fused training of predictors with the cost-sensitive family of losses: forward pass, loss,
//! backward pass and optimizer step in one pass over data in cache. The steps are those of the
//! minibatch runner; the speed is limited by memory bandwidth.
//!
//! Symbols, in this folder and in the code as `w`, `z`, `gram`, `u`, `slope`:
//!
//! ```text
//! z = (features, 1)    a row of the table; the width is the length of z
//! W                    the parameters, scaled to costs: one row per cost, the bias last
//! ĉ = W z,  c          the predicted and the true costs of the row
//! u = c − ĉ            its errors, after ĉ is scaled to the norm of c if the loss normalizes
//! slope                one factor per error: u for squared errors, ±1 for absolute ones, 0 where
//!                      the error does not count
//! Σ slope · u          the loss sum of a row: its loss up to a constant factor of the row
//! G = WᵀW              the Gram matrix of the parameters
//! ```
//!
//! Terms:
//!
//! * **tile**: sixteen costs, which one SIMD vector holds; the last tile may be partial.
//! * **block**: consecutive tiles that stay in cache while the rows of a step are processed.
//! * **group**: consecutive blocks whose sums are stored separately. The sums of groups are added
//!   in a fixed order, so results do not depend on the number of threads.
//! * **panel**: four rows, which the kernel processes together.
//! * **plan**: the rows of an epoch in the order of its steps.
//!
//! Without normalization the loss is separable over costs: a block runs through all steps of an
//! epoch without waiting for other blocks. With normalization a step has two passes over the
//! costs. The *row-sums pass* computes local gradients and the sums of each row over all costs.
//! The *update pass* adds the gradient of the normalization, which needs these sums and is one
//! small matrix (the normalization correction), and takes the Adam step. The norms of the
//! predictions follow from the Gram matrix, ‖W z‖² = zᵀ G z. With component E both passes project
//! what they read (`projection.rs`), and predictions are those of the projected parameters.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use std::ops::Range;

use self::adam::AdamCoefficients;
use self::expanded_squares::ExpandedSquares;
use self::layers::FusedNetwork;
use self::projection::FusedProjection;
use self::row_constants::RowConstants;
use self::slope::{ErrorMask, SlopeKind};
use self::tile_block::TileAffine;
use self::tiled_targets::{TargetCosts, TiledTargets};
use super::epoch_runner::EpochRunner;
use super::{Optimizer, PreparedData, WeightedLoss};
use crate::data::{FeatureShape, norm};
use crate::error::Error;
use crate::loss::{BaseError, ErrorSide, NormalizingProjection, SeparableLoss};
use crate::predict::Network;
use crate::problem::{ProjectionScratch, VariableBounds};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, SimdToken};

mod adam;
mod barrier;
mod epoch;
mod expanded_squares;
mod gram;
mod kernel;
mod layers;
mod parallel_epoch;
mod projection;
mod row_constants;
mod slope;
mod tile_block;
mod tile_incidence;
mod tiled_targets;
mod worker_columns;
mod worker_scratch;

/// Maximum number of features for the Gram matrix, whose cost is quadratic in them: with more it
/// would take longer than all other work of a step, and matrix products are faster.
const MAX_GRAM_FEATURES: usize = 64;

/// The fused epoch runner, if predictor, loss and optimizer allow it.
pub(super) fn fused<'a>(
    prepared: &'a PreparedData<'a>,
    weighted_loss: WeightedLoss<'a>,
    network: &Network,
) -> Option<Box<dyn EpochRunner + 'a>> {
    let settings = prepared.settings();
    let separable = weighted_loss.loss.separable()?;
    let simd = SimdToken::detect()?;
    // The kernels predict and normalize whole costs.
    if !prepared.context.data.data().has_plain_costs() {
        return None;
    }
    let bits_suffice = !needs_decision_bits(separable.side) || has_binary_labels(prepared);
    if !bits_suffice || !settings.optimizer.is_scale_invariant() || !settings.fused {
        return None;
    }
    let linear = network.is_linear()
        && network.num_features() <= MAX_GRAM_FEATURES
        && prepared.features.shape() == FeatureShape::Wide;
    let projection = match separable.projection {
        // Predictions of networks would be projected one by one, which the minibatch runner does.
        Some(_) if !linear => return None,
        Some(projection) => {
            let num_costs = prepared.context.data.data().costs().cols();
            Some(FusedProjection::new(projection, num_costs)?)
        }
        None => None,
    };
    let context = FusedContext::new(simd, prepared, weighted_loss, separable);
    let context = FusedContext {
        groups: match projection {
            Some(_) => {
                let max_groups = worker_columns::MAX_PROJECTED_GROUPS;
                worker_columns::groups(context.table.full_tiles(), max_groups)
            }
            None => context.groups,
        },
        projection,
        ..context
    };
    // If the constraints absorb all costs, projections in single precision are rounding errors.
    let is_zero = |row: usize| norm(context.table.costs().row(row)) == 0.0;
    if context.projection.is_some() && (0..context.table.costs().rows()).all(is_zero) {
        return None;
    }
    Some(if linear {
        Box::new(FusedLinear::new(context.with_features(), network))
    } else {
        Box::new(FusedNetwork::new(context, network))
    })
}

/// Whether the loss depends on which variables the label selects.
fn needs_decision_bits(side: &ErrorSide) -> bool {
    match side {
        ErrorSide::OneSided | ErrorSide::Sensitive(_) => true,
        ErrorSide::Both | ErrorSide::Pinball(_) | ErrorSide::DualWeighted(_) => false,
    }
}

/// Whether all variables are binary, in the problem and in all labels.
fn has_binary_labels(prepared: &PreparedData<'_>) -> bool {
    let data = prepared.context.data;
    prepared.context.oracle.problem().choices().bounds() == VariableBounds::Binary
        && (0..data.len()).all(|row| data.optimal_decision(row).is_binary())
}

/// Data that is constant throughout fused training.
struct FusedContext<'a> {
    simd: SimdToken,
    prepared: &'a PreparedData<'a>,
    slope_kind: SlopeKind,
    scale_invariant: bool,
    row_constants: RowConstants,
    /// Present if the squared errors of all costs can be expanded.
    squares: Option<ExpandedSquares>,
    table: TiledTargets<'a>,
    /// The projection that predictions and costs are compared after; linear predictors only.
    projection: Option<FusedProjection<'a>>,
    /// The affine map from outputs to costs, per tile.
    output_maps: Vec<TileAffine>,
    /// Pinball weights of under-prediction, per tile; empty for other losses.
    quantile_weights: Vec<AlignedF32x16>,
    /// Ranges of full tiles whose sums are stored separately.
    groups: Vec<Range<usize>>,
}

/// State that changes from step to step.
struct FusedState {
    /// For each tile the parameters, the bias last, then the local gradient.
    tiles: Vec<AlignedF32x16>,
    /// For each tile Adam's first moments, then its second moments.
    moments: Vec<AlignedF32x16>,
    /// The solution from which projected parameters follow (`projection.rs`); empty without a
    /// projection.
    projection_solution: Vec<AlignedF32x8>,
    /// The Gram matrix G = WᵀW, of projected parameters if there is a projection, row by row; empty
    /// without normalization.
    gram: Vec<f64>,
    /// Whether the loss by expanded squares still has enough digits; once it has not, errors are
    /// computed from predictions.
    expansion_is_accurate: bool,
    steps: i32,
}

/// Fused training of a linear predictor.
struct FusedLinear<'a> {
    context: FusedContext<'a>,
    state: FusedState,
    network: Network,
    /// Parameters of the best epoch, tile by tile.
    best_parameters: Option<Vec<AlignedF32x16>>,
}

impl<'a> FusedContext<'a> {
    fn new(
        simd: SimdToken,
        prepared: &'a PreparedData<'a>,
        weighted_loss: WeightedLoss<'a>,
        separable: SeparableLoss<'a>,
    ) -> Self {
        let data = prepared.context.data;
        let costs = data.data().costs();
        let targets = match separable.projection {
            Some(projection) => TargetCosts::projected(costs, separable.limits, projection),
            None => TargetCosts::plain(costs, separable.limits),
        };
        let mask = match separable.side {
            // Losses with weights of their own per row are not separable.
            ErrorSide::Both | ErrorSide::DualWeighted(_) => ErrorMask::All,
            ErrorSide::OneSided => ErrorMask::OneSided,
            ErrorSide::Pinball(_) => ErrorMask::Pinball,
            ErrorSide::Sensitive(_) => ErrorMask::Sensitive,
        };
        let table = TiledTargets::new(data, mask, targets);
        Self {
            simd,
            prepared,
            slope_kind: SlopeKind {
                error: separable.error,
                mask,
            },
            scale_invariant: separable.scale_invariant,
            row_constants: RowConstants::new(prepared, weighted_loss, &separable, table.costs()),
            squares: None,
            projection: None,
            output_maps: output_maps(prepared, costs.cols(), separable.projection),
            quantile_weights: quantile_weights(separable.side, costs.cols()),
            groups: worker_columns::groups(table.full_tiles(), worker_columns::MAX_GROUPS),
            table,
        }
    }

    /// The same with the features of every row, as a linear predictor needs them.
    fn with_features(self) -> Self {
        let all_squares = SlopeKind {
            error: BaseError::Squared,
            mask: ErrorMask::All,
        };
        let squares = (self.slope_kind == all_squares && !self.scale_invariant).then(|| {
            let threads = self.prepared.context.oracle.threads();
            ExpandedSquares::new(self.table.costs(), &self.prepared.output.offset, threads)
        });
        Self {
            row_constants: self.row_constants.with_features(self.prepared),
            squares,
            ..self
        }
    }

    fn num_costs(&self) -> usize {
        self.prepared.context.data.data().costs().cols()
    }

    /// Parameters per cost.
    fn width(&self) -> usize {
        self.row_constants.width()
    }

    /// The coefficients of the Adam step with this number, from 1.
    fn adam(&self, step: i32) -> AdamCoefficients {
        let settings = self.prepared.settings();
        let (beta1, beta2, epsilon, weight_decay) = match settings.optimizer {
            Optimizer::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => (beta1, beta2, epsilon, weight_decay),
            Optimizer::Sgd { .. } => (0.0, 0.0, 0.0, 0.0),
        };
        let rate = settings.learning_rate_at(step, self.prepared.context.split.train.len());
        AdamCoefficients {
            learning_rate: (rate / (1.0 - beta1.powi(step))) as f32,
            second_correction: (1.0 / (1.0 - beta2.powi(step)).sqrt()) as f32,
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            decay_factor: (1.0 - rate * weight_decay) as f32,
        }
    }
}

impl<'a> FusedLinear<'a> {
    fn new(context: FusedContext<'a>, network: &Network) -> Self {
        let vectors = context.output_maps.len() * 2 * context.width();
        let mut state = FusedState {
            tiles: vec![AlignedF32x16::ZERO; vectors],
            moments: vec![AlignedF32x16::ZERO; vectors],
            projection_solution: Vec::new(),
            gram: Vec::new(),
            expansion_is_accurate: true,
            steps: 0,
        };
        load(network, &mut state.tiles, context.width());
        state.solve_projection(&context);
        if context.scale_invariant {
            state.compute_gram(&context);
        }
        Self {
            context,
            state,
            network: network.clone(),
            best_parameters: None,
        }
    }
}

/// The error for a row whose loss is not finite, with the first output that is not finite.
fn not_finite(epoch: usize, instance: usize, output: Option<usize>) -> Error {
    let what = if output.is_some() {
        "prediction"
    } else {
        "loss"
    };
    Error::NonFinite {
        quantity: what,
        epoch,
        instance,
        output,
    }
}

/// Copies the parameters of a network into tiles.
fn load(network: &Network, tiles: &mut [AlignedF32x16], width: usize) {
    let features = width - 1;
    let (weights, biases) = network
        .parameters()
        .split_at(network.num_outputs() * features);
    for (j, bias) in biases.iter().enumerate() {
        let tile = &mut tiles[j / F32_LANES * 2 * width..][..width];
        let lane = j % F32_LANES;
        for (vector, weight) in tile.iter_mut().zip(&weights[j * features..][..features]) {
            vector.0[lane] = *weight;
        }
        tile[features].0[lane] = *bias;
    }
}

/// Copies parameters from tiles that begin every `stride` vectors into a network.
fn store(network: &mut Network, tiles: &[AlignedF32x16], width: usize, stride: usize) {
    let (costs, features) = (network.num_outputs(), width - 1);
    let (weights, biases) = network.parameters_mut().split_at_mut(costs * features);
    for (j, bias) in biases.iter_mut().enumerate() {
        let tile = &tiles[j / F32_LANES * stride..][..width];
        let lane = j % F32_LANES;
        for (weight, vector) in weights[j * features..][..features].iter_mut().zip(tile) {
            *weight = vector.0[lane];
        }
        *bias = tile[features].0[lane];
    }
}

/// One value per cost of a tile; zeros beyond the last cost.
fn tile_values(tile: usize, costs: usize, value: impl Fn(usize) -> f64) -> AlignedF32x16 {
    AlignedF32x16(std::array::from_fn(|lane| {
        let j = tile * F32_LANES + lane;
        if j < costs { value(j) as f32 } else { 0.0 }
    }))
}

/// The output scaler in tiles; lanes beyond the last cost are multiplied by zero. With a projection
/// the offsets are projected: parameters then are, up to what training has changed.
fn output_maps(
    prepared: &PreparedData<'_>,
    costs: usize,
    projection: Option<&NormalizingProjection>,
) -> Vec<TileAffine> {
    let output = &prepared.output;
    let mut offset = output.offset.clone();
    if let Some(projection) = projection {
        projection.project(&mut offset, &mut ProjectionScratch::default());
    }
    // A shared predictor has one output for all costs.
    let in_tile = |values: &[f64], t: usize| tile_values(t, costs, |j| values[j % values.len()]);
    let map = |t| TileAffine {
        offset: in_tile(&offset, t),
        scale: in_tile(&output.scale, t),
    };
    (0..costs.div_ceil(F32_LANES)).map(map).collect()
}

/// Pinball weights of under-prediction in tiles; empty for other losses.
fn quantile_weights(side: &ErrorSide, costs: usize) -> Vec<AlignedF32x16> {
    let ErrorSide::Pinball(weights) = side else {
        return Vec::new();
    };
    // One weight for all costs, or one per cost.
    let tau = |j: usize| weights[j % weights.len()];
    (0..costs.div_ceil(F32_LANES))
        .map(|t| tile_values(t, costs, tau))
        .collect()
}
