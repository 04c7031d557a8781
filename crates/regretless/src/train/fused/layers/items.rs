//! A linear predictor that all items share: an instance is predicted, judged and sent back in one
//! pass.
//!
//! Features lie sixteen items beside each other. With z = (features, 1) and v the parameters as
//! they act on them, the length of a prediction follows from the Gram matrix of the instance's
//! items, ‖Z v‖² = vᵀ(ZᵀZ)v, and so does the way back through the normalisation, which is a
//! multiple of ZᵀZ v: no prediction is looked at twice, or kept.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::super::FusedContext;
use super::super::row_constants::PredictionNorm;
use super::super::slope::{ErrorMask, RowTargets, dispatch_loss_kind, slopes};
use super::predictions::{TILES_PER_STRIP, total};
use crate::simd::{AlignedF32x8, AlignedF32x16, Avx2Fma, F32_LANES, dispatch_avx2};

/// Features of all instances as the pass reads them.
pub(super) struct ItemFeatures {
    features: usize,
    /// For each instance and sixteen of its items, a lane per feature; zeros beyond the last item.
    tiles: Vec<AlignedF32x16>,
    /// For each instance ZᵀZ, row after row; none without normalisation.
    grams: Vec<f64>,
}

/// One worker's room.
#[derive(Debug, Clone)]
pub(super) struct ItemScratch {
    /// Parameters as they act on features, the bias last.
    parameters: Vec<f64>,
    /// The same times what makes minus the prediction, at the length of the truth.
    ahead: Vec<f32>,
    /// ZᵀZ times the parameters.
    moved: Vec<f64>,
    /// Slopes times features, summed over a few tiles.
    lines: Vec<AlignedF32x8>,
    /// The same over all of an instance.
    blame: Vec<f64>,
}

impl ItemScratch {
    pub(super) fn new(features: usize) -> Self {
        let (zeros, lines) = (
            vec![0.0; features + 1],
            vec![AlignedF32x8::ZERO; features + 1],
        );
        Self {
            parameters: zeros.clone(),
            ahead: Vec::new(),
            moved: zeros.clone(),
            lines,
            blame: zeros,
        }
    }

    /// Takes parameters over as they act on features; call it after every step.
    pub(super) fn load_parameters(&mut self, setup: &FusedContext<'_>, parameters: &[f32]) {
        let [scale, offset] = map(setup);
        self.parameters.clear();
        self.parameters
            .extend(parameters.iter().map(|p| scale * f64::from(*p)));
        self.parameters
            .iter_mut()
            .next_back()
            .into_iter()
            .for_each(|bias| *bias += offset);
    }
}

/// What multiplies and is added to the one output.
fn map(setup: &FusedContext<'_>) -> [f64; 2] {
    let output = &setup.prepared.output;
    [output.scale[0], output.offset[0]]
}

impl ItemFeatures {
    pub(super) fn new(setup: &FusedContext<'_>) -> Self {
        let features = setup.prepared.features.names().len();
        let (instances, lanes) = (setup.prepared.task.data.len(), setup.maps.len() * features);
        let mut tiles = vec![AlignedF32x16::ZERO; instances * lanes];
        let mut grams = vec![
            0.0;
            if setup.scale_invariant {
                instances * (features + 1) * (features + 1)
            } else {
                0
            }
        ];
        for row in 0..instances {
            let values = setup.prepared.features.instance(row);
            let tiles = tiles[row * lanes..][..lanes].chunks_exact_mut(features.max(1));
            for (items, tile) in values.chunks(F32_LANES * features.max(1)).zip(tiles) {
                setup
                    .simd
                    .load_transposed(items, (items.len() / features.max(1), features), tile);
            }
            if setup.scale_invariant {
                let size = (features + 1) * (features + 1);
                add_products(values, features, &mut grams[row * size..][..size]);
            }
        }
        Self {
            features,
            tiles,
            grams,
        }
    }

    /// The length of the prediction of a row; leaves ZᵀZ times the parameters.
    fn prediction_norm(
        &self,
        setup: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> PredictionNorm {
        let width = self.features + 1;
        let Some(gram) = self
            .grams
            .get(row * width * width..(row + 1) * width * width)
        else {
            return PredictionNorm::UNNORMALIZED;
        };
        let dot = |line: &[f64]| -> f64 {
            line.iter()
                .zip(&scratch.parameters)
                .map(|(a, b)| a * b)
                .sum()
        };
        scratch.moved.clear();
        scratch.moved.extend(gram.chunks_exact(width).map(dot));
        setup.row_constants.norm_from_square(
            row,
            scratch
                .moved
                .iter()
                .zip(&scratch.parameters)
                .map(|(a, b)| a * b)
                .sum(),
        )
    }

    /// Predicts and judges a row: its slopes times errors, and times costs; with `BACK` also times
    /// features.
    fn evaluate<const BACK: bool>(
        &self,
        setup: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> (PredictionNorm, [f64; 2]) {
        let length = self.prediction_norm(setup, row, scratch);
        scratch.ahead.clear();
        scratch.ahead.extend(
            scratch
                .parameters
                .iter()
                .map(|p| (-length.norm_ratio * p) as f32),
        );
        scratch.blame.fill(0.0);
        let (lanes, mut sums) = (setup.maps.len() * self.features, [0.0; 2]);
        let (tiles, whole) = (
            &self.tiles[row * lanes..][..lanes],
            setup.table.full_tiles(),
        );
        let mut strip = |first: usize, end: usize, targets: RowTargets<'_>, place: usize| {
            let quantile_weights = setup.quantile_weights.get(first..end).unwrap_or_default();
            let tiles = &tiles[first * self.features..end * self.features];
            let there = (setup.num_costs() - first * F32_LANES).min(F32_LANES);
            let strip = ItemStrip {
                tiles,
                count: end - first,
                quantile_weights,
                targets,
                first: place,
                there,
            };
            if BACK {
                dispatch_loss_kind!(
                    setup.kind,
                    self::send_strip,
                    setup.simd,
                    &strip,
                    scratch,
                    &mut sums
                );
            } else {
                dispatch_loss_kind!(
                    setup.kind,
                    self::judge_strip,
                    setup.simd,
                    &strip,
                    scratch,
                    &mut sums
                );
            }
        };
        for first in (0..whole).step_by(TILES_PER_STRIP) {
            strip(
                first,
                (first + TILES_PER_STRIP).min(whole),
                setup.table.targets(row),
                first,
            );
        }
        if whole < setup.maps.len() {
            strip(whole, whole + 1, setup.table.partial_tile(row), 0);
        }
        (length, sums)
    }

    /// The sum of errors of a row.
    pub(super) fn errors(
        &self,
        setup: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> f64 {
        self.evaluate::<false>(setup, row, scratch).1[0]
    }

    /// Adds the gradient of a row in a batch of so many to the sums; returns the sum of its errors.
    pub(super) fn backward(
        &self,
        setup: &FusedContext<'_>,
        (row, batch): (usize, usize),
        scratch: &mut ItemScratch,
        sums: &mut [f64],
    ) -> f64 {
        let (length, found) = self.evaluate::<true>(setup, row, scratch);
        let [scale, _] = map(setup);
        let back = scale * setup.row_constants.backward_coefficient(row, batch, length);
        let share = scale
            * setup
                .row_constants
                .projection_coefficient(row, batch, length, found);
        for ((sum, blame), moved) in sums.iter_mut().zip(&scratch.blame).zip(&scratch.moved) {
            *sum += share * moved - back * blame;
        }
        found[0]
    }
}

/// Adds z zᵀ of every item.
fn add_products(values: &[f32], features: usize, gram: &mut [f64]) {
    let mut z = vec![1.0; features + 1];
    for item in values.chunks_exact(features.max(1)) {
        z.iter_mut()
            .zip(item)
            .for_each(|(z, value)| *z = f64::from(*value));
        for (line, a) in gram.chunks_exact_mut(features + 1).zip(&z) {
            line.iter_mut().zip(&z).for_each(|(sum, b)| *sum += a * b);
        }
    }
}

/// A few tiles of one row.
struct ItemStrip<'a> {
    tiles: &'a [AlignedF32x16],
    count: usize,
    quantile_weights: &'a [AlignedF32x16],
    targets: RowTargets<'a>,
    /// Number of the first tile in the truth.
    first: usize,
    /// Items of each tile.
    there: usize,
}

dispatch_avx2! {
    send_strip = backward_body [ABSOLUTE: bool, MASK: u8] (strip: &ItemStrip<'_>, scratch: &mut ItemScratch, sums: &mut [f64; 2])
}

dispatch_avx2! {
    judge_strip = evaluate_body [ABSOLUTE: bool, MASK: u8] (strip: &ItemStrip<'_>, scratch: &mut ItemScratch, sums: &mut [f64; 2])
}

#[inline(always)]
fn evaluate_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    strip: &ItemStrip<'_>,
    scratch: &mut ItemScratch,
    sums: &mut [f64; 2],
) {
    pass::<ABSOLUTE, MASK, false>(simd, strip, (&scratch.ahead, &mut scratch.lines), sums);
}

#[inline(always)]
fn backward_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    strip: &ItemStrip<'_>,
    scratch: &mut ItemScratch,
    sums: &mut [f64; 2],
) {
    scratch.lines.fill(AlignedF32x8::ZERO);
    pass::<ABSOLUTE, MASK, true>(simd, strip, (&scratch.ahead, &mut scratch.lines), sums);
    for i in 0..scratch.lines.len() {
        scratch.blame[i] += total(&scratch.lines[i]);
    }
}

#[inline(always)]
fn pass<const ABSOLUTE: bool, const MASK: u8, const BACK: bool>(
    simd: Avx2Fma,
    strip: &ItemStrip<'_>,
    (ahead, lines): (&[f32], &mut [AlignedF32x8]),
    sums: &mut [f64; 2],
) {
    let ItemStrip {
        tiles,
        count,
        quantile_weights,
        targets,
        first,
        there,
    } = strip;
    assert!(
        targets.has_tiles::<MASK>(first + count),
        "the row must cover the strip"
    );
    let features = ahead.len() - 1;
    let (one, mut errors, mut projection) =
        (simd.splat(1.0), AlignedF32x8::ZERO, AlignedF32x8::ZERO);
    let bias = simd.load_partial(&[ahead[features]; F32_LANES][..*there]);
    for t in 0..*count {
        let tile = &tiles[t * features..(t + 1) * features];
        let costs = simd.load(&targets.costs[first + t]);
        let mut under = costs.add(bias);
        for q in 0..features {
            under = simd.load(&tile[q].0).mul_add(simd.splat(ahead[q]), under);
        }
        // SAFETY: the row covers the strip.
        let slope = unsafe {
            slopes::<ABSOLUTE, MASK>(simd, under, targets, first + t, quantile_weights.get(t))
        };
        slope.add_product_to(under, &mut errors);
        slope.add_product_to(costs, &mut projection);
        if BACK {
            for q in 0..features {
                slope.add_product_to(simd.load(&tile[q].0), &mut lines[q]);
            }
            slope.add_product_to(one, &mut lines[features]);
        }
    }
    sums[0] += total(&errors);
    sums[1] += total(&projection);
}
