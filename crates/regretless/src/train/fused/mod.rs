//! Fused training of a linear predictor on the cost-sensitive family: the same steps as the plain
//! machinery, at the speed of memory.
//!
//! Costs are handled in tiles of sixteen, tiles in blocks that stay in cache, blocks in groups
//! whose sums are added in a fixed order, so that results do not depend on the number of threads.
//! Without normalisation no cost knows of another, and every block runs through a whole epoch by
//! itself. With it, a step has two passes: the lengths of the predictions follow from the Gram
//! matrix of the parameters, ‖W z‖² = zᵀ(WᵀW)z, and the way back through the normalisation is one
//! small matrix.

use std::ops::Range;

use self::adam::AdamCoefficients;
use self::expanded_squares::ExpandedSquares;
use self::kernel::TileAffine;
use self::layers::FusedNetwork;
use self::row_constants::RowConstants;
use self::slope::ErrorMask;
use self::tiled_targets::TiledTargets;
use super::epoch_runner::EpochRunner;
use super::{Optimizer, PreparedData, WeightedLoss};
use crate::data::FeatureShape;
use crate::error::Error;
use crate::loss::{BaseError, ErrorSide, SeparableLoss};
use crate::predict::{Network, Predictor};
use crate::problem::VariableBounds;
use crate::simd::{AlignedF32x16, Avx2Fma, F32_LANES};

mod adam;
mod barrier;
mod column_block;
mod epoch;
mod expanded_squares;
mod gram;
mod kernel;
mod layers;
mod row_constants;
mod slope;
mod tiled_targets;

/// With more features the Gram matrix would cost more than the rest, and matrix products do better.
const MAX_GRAM_FEATURES: usize = 64;

/// The fused machinery, if predictor, loss and optimiser allow it.
pub(super) fn fused<'a>(
    prepared: &'a PreparedData<'a>,
    objective: WeightedLoss<'a>,
    network: &Network,
) -> Option<Box<dyn EpochRunner + 'a>> {
    let settings = prepared.settings();
    let separable = objective.loss.separable()?;
    let simd = Avx2Fma::detect()?;
    let fits = (!needs_decision_bits(separable.side) || has_binary_labels(prepared))
        && settings.optimizer.is_scale_invariant()
        && settings.fused;
    let linear = network.is_linear()
        && network.num_features() <= MAX_GRAM_FEATURES
        && prepared.features.shape() == FeatureShape::Wide;
    let setup = || FusedContext::new(simd, prepared, objective, separable);
    fits.then(|| -> Box<dyn EpochRunner + 'a> {
        if linear {
            Box::new(FusedLinear::new(setup().with_features(), network))
        } else {
            Box::new(FusedNetwork::new(setup(), network))
        }
    })
}

/// Whether it matters which costs the best decision chooses.
fn needs_decision_bits(side: &ErrorSide) -> bool {
    matches!(side, ErrorSide::OneSided | ErrorSide::Sensitive(_))
}

/// Whether all best decisions take each variable wholly or not at all, and nothing else is
/// possible.
fn has_binary_labels(prepared: &PreparedData<'_>) -> bool {
    let data = prepared.task.data;
    prepared.task.oracle.problem().bounds() == VariableBounds::Binary
        && (0..data.len()).all(|row| data.optimal_decision(row).is_binary())
}

/// What stays the same throughout fused training.
struct FusedContext<'a> {
    simd: Avx2Fma,
    prepared: &'a PreparedData<'a>,
    /// Whether errors are absolute, and which of them count.
    kind: (bool, ErrorMask),
    scale_invariant: bool,
    row_constants: RowConstants,
    /// Where squared errors of all costs can be multiplied out.
    squares: Option<ExpandedSquares>,
    table: TiledTargets<'a>,
    maps: Vec<TileAffine>,
    /// Weights of under-prediction; empty unless they aim.
    quantile_weights: Vec<AlignedF32x16>,
    /// Ranges of whole tiles that are summed by themselves.
    groups: Vec<Range<usize>>,
}

/// What changes from step to step.
struct FusedState {
    /// For each tile the parameters, the bias last, and the local gradient.
    tiles: Vec<AlignedF32x16>,
    /// For each tile the running means of gradients and of their squares.
    moments: Vec<AlignedF32x16>,
    /// The Gram matrix of the parameters as they act on features, row after row; normalisation asks
    /// for it.
    gram: Vec<f64>,
    /// Whether squares that are multiplied out still tell how large errors are.
    resolved: bool,
    steps: i32,
}

/// Fused training.
struct FusedLinear<'a> {
    setup: FusedContext<'a>,
    state: FusedState,
    network: Network,
    /// Parameters of the best epoch, tile after tile.
    best_parameters: Option<Vec<AlignedF32x16>>,
}

impl<'a> FusedContext<'a> {
    fn new(
        simd: Avx2Fma,
        prepared: &'a PreparedData<'a>,
        objective: WeightedLoss<'a>,
        separable: SeparableLoss<'a>,
    ) -> Self {
        let data = prepared.task.data;
        let costs = data.data().costs();
        let aim = match separable.side {
            ErrorSide::Both => ErrorMask::All,
            ErrorSide::OneSided => ErrorMask::OneSided,
            ErrorSide::Pinball(_) => ErrorMask::Pinball,
            ErrorSide::Sensitive(_) => ErrorMask::Sensitive,
        };
        let table = TiledTargets::new(data, aim, separable.limits);
        let row_constants = RowConstants::new(
            prepared,
            objective,
            (separable.error, separable.scale_invariant),
        );
        Self {
            simd,
            prepared,
            kind: (separable.error == BaseError::Absolute, aim),
            scale_invariant: separable.scale_invariant,
            row_constants,
            squares: None,
            maps: maps(prepared, costs.cols()),
            quantile_weights: taus(separable.side, costs.cols()),
            groups: column_block::groups(table.full_tiles()),
            table,
        }
    }

    fn with_features(self) -> Self {
        let offset = &self.prepared.output.offset;
        let plain = self.kind == (false, ErrorMask::All) && !self.scale_invariant;
        let squares = plain.then(|| {
            ExpandedSquares::new(
                self.table.costs(),
                offset,
                self.prepared.task.oracle.threads(),
            )
        });
        Self {
            row_constants: self.row_constants.with_features(self.prepared),
            squares,
            ..self
        }
    }

    fn num_costs(&self) -> usize {
        self.prepared.task.data.data().costs().cols()
    }

    /// Parameters per cost.
    fn width(&self) -> usize {
        self.row_constants.width()
    }

    /// The numbers of the Adam step with this number.
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
        let rate = settings.learning_rate_at(step, self.prepared.task.split.train.len());
        AdamCoefficients {
            rate: (rate / (1.0 - beta1.powi(step))) as f32,
            unroot: (1.0 / (1.0 - beta2.powi(step)).sqrt()) as f32,
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            keep: (1.0 - rate * weight_decay) as f32,
        }
    }
}

impl<'a> FusedLinear<'a> {
    fn new(setup: FusedContext<'a>, network: &Network) -> Self {
        let lanes = setup.maps.len() * 2 * setup.width();
        let (mut tiles, moments) = (
            vec![AlignedF32x16::ZERO; lanes],
            vec![AlignedF32x16::ZERO; lanes],
        );
        load(network, &mut tiles, setup.width());
        let mut state = FusedState {
            tiles,
            moments,
            gram: Vec::new(),
            resolved: true,
            steps: 0,
        };
        if setup.scale_invariant {
            state.compute_gram(&setup);
        }
        Self {
            setup,
            state,
            network: network.clone(),
            best_parameters: None,
        }
    }
}

/// Names a row whose loss is not a number, and the output to blame where there is one.
fn not_finite((epoch, instance): (usize, usize), output: Option<usize>) -> Error {
    let what = if output.is_some() {
        "prediction"
    } else {
        "loss"
    };
    Error::NonFinite {
        what,
        epoch,
        instance,
        output,
    }
}

/// Takes a network's parameters over into tiles.
fn load(network: &Network, tiles: &mut [AlignedF32x16], width: usize) {
    let (weights, biases) = network
        .parameters()
        .split_at(network.num_outputs() * (width - 1));
    for (j, bias) in biases.iter().enumerate() {
        let tile = &mut tiles[j / F32_LANES * 2 * width..][..width];
        let row = weights[j * (width - 1)..][..width - 1].iter().chain([bias]);
        tile.iter_mut()
            .zip(row)
            .for_each(|(lane, weight)| lane.0[j % F32_LANES] = *weight);
    }
}

/// Gives a network its parameters back from tiles that lie at this distance from each other.
fn store(network: &mut Network, tiles: &[AlignedF32x16], (width, row_stride): (usize, usize)) {
    let costs = network.num_outputs();
    let (weights, biases) = network.parameters_mut().split_at_mut(costs * (width - 1));
    for (j, bias) in biases.iter_mut().enumerate() {
        let tile = &tiles[j / F32_LANES * row_stride..][..width];
        let row = weights[j * (width - 1)..][..width - 1]
            .iter_mut()
            .chain([bias]);
        row.zip(tile)
            .for_each(|(weight, lane)| *weight = lane.0[j % F32_LANES]);
    }
}

/// A value for every cost in tiles; zero beyond the last.
fn tile_values(tile: usize, costs: usize, value: impl Fn(usize) -> f64) -> AlignedF32x16 {
    AlignedF32x16(std::array::from_fn(|l| {
        if tile * F32_LANES + l < costs {
            value(tile * F32_LANES + l) as f32
        } else {
            0.0
        }
    }))
}

/// Offsets and scales in tiles; costs beyond the last are multiplied by zero.
fn maps(prepared: &PreparedData<'_>, costs: usize) -> Vec<TileAffine> {
    let output = &prepared.output;
    // A shared predictor has one output for all costs.
    let of = |values: &[f64], t: usize| tile_values(t, costs, |j| values[j % values.len()]);
    let map = |t| TileAffine {
        offset: of(&output.offset, t),
        scale: of(&output.scale, t),
    };
    (0..costs.div_ceil(F32_LANES)).map(map).collect()
}

/// Weights of under-prediction in tiles, where there are any.
fn taus(side: &ErrorSide, costs: usize) -> Vec<AlignedF32x16> {
    let ErrorSide::Pinball(quantile_weights) = side else {
        return Vec::new();
    };
    let tau = |j: usize| {
        if quantile_weights.len() == 1 {
            quantile_weights[0]
        } else {
            quantile_weights[j]
        }
    };
    (0..costs.div_ceil(F32_LANES))
        .map(|t| tile_values(t, costs, tau))
        .collect()
}
