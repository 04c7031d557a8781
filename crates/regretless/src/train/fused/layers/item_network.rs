//! A network with one hidden layer that all items share: sixteen items in the lanes of a vector.
//!
//! With z = (features, 1) of an item, W the weights of the hidden layer with its biases, v the
//! weights of the output and leaky ReLU of slope λ, hidden unit h of item i has the sum
//! s_ih = W_h · z_i and the activation a_ih = m_ih s_ih, with m_ih = 1 where s_ih is positive and λ
//! elsewhere. Given the gradient g_i of the output of every item, all gradients follow from
//!
//! ```text
//! Q_h = Σ g_i m_ih z_i = λ Σ g_i z_i + (1 − λ) Σ over positive s_ih of g_i z_i
//! gradient of W_h = v_h Q_h
//! gradient of v_h = Σ g_i a_ih = W_h · Q_h
//! ```
//!
//! so the backward pass only needs the signs of the sums, and no second product.

#![allow(
    unsafe_code,
    reason = "the innermost loops work on pointers; all lengths are checked before"
)]

use super::super::FusedContext;
use crate::predict::{LEAKY_RELU_SLOPE, Network};
use crate::simd::{AlignedF32x16, F32_LANES, Lanes, SimdToken, dispatch_lanes};

/// Most tiles whose lanes are summed in single precision: bounds the rounding error of a sum.
/// Shorter chunks would sum lanes more often. Untuned.
const TILES_PER_CHUNK: usize = 64;

/// Features of all instances as the kernel reads them.
pub(super) struct TiledItems {
    /// Length of z.
    width: usize,
    /// Tiles of an instance.
    tiles_per_instance: usize,
    /// For each instance and sixteen of its items, one vector per entry of z; zeros beyond the last
    /// item.
    tiles: Vec<AlignedF32x16>,
}

impl TiledItems {
    pub(super) fn new(context: &FusedContext<'_>) -> Self {
        let features = context.prepared.features.names().len();
        let instances = context.prepared.context.data.len();
        let (width, tiles_per_instance) = (features + 1, context.output_maps.len());
        let vectors = tiles_per_instance * width;
        let mut tiles = vec![AlignedF32x16::ZERO; instances * vectors];
        for row in 0..instances {
            let values = context.prepared.features.instance(row);
            let tiles = tiles[row * vectors..][..vectors].chunks_exact_mut(width);
            for (t, tile) in tiles.enumerate() {
                // The last tile of an instance may have fewer items.
                let count = (context.num_costs() - t * F32_LANES).min(F32_LANES);
                let items = &values[t * F32_LANES * features..][..count * features];
                let (z, ones) = tile.split_at_mut(features);
                context.simd.load_transposed(items, count, features, z);
                // Zeros beyond the last item: padding has no bias either, so its outputs are 0.
                ones[0].0[..count].fill(1.0);
            }
        }
        Self {
            width,
            tiles_per_instance,
            tiles,
        }
    }

    /// The tiles of an instance.
    fn instance(&self, row: usize) -> &[AlignedF32x16] {
        let vectors = self.tiles_per_instance * self.width;
        &self.tiles[row * vectors..][..vectors]
    }
}

/// One worker's copy of the parameters and scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemNetworkScratch {
    width: usize,
    /// For each hidden unit its weights, then its bias.
    weights: Vec<f32>,
    output_weights: Vec<f32>,
    output_bias: f32,
    /// For each hidden unit its sums, before activation, one vector per tile.
    sums: Vec<AlignedF32x16>,
    /// Σ g z over the items of a chunk, then for each hidden unit that over its positive sums.
    lane_sums: Vec<AlignedF32x16>,
    /// The same, summed over lanes.
    chunk_sums: Vec<AlignedF32x16>,
    /// The same over all chunks.
    totals: Vec<f64>,
}

impl ItemNetworkScratch {
    /// Copies the parameters; to be called after every step.
    pub(super) fn load_parameters(&mut self, network: &Network) {
        let features = network.num_features();
        let hidden = network.sizes()[1];
        let parameters = network.parameters();
        let (weights, rest) = parameters.split_at(hidden * features);
        let (biases, rest) = rest.split_at(hidden);
        let (output_weights, output_bias) = rest.split_at(hidden);
        self.width = features + 1;
        self.weights.clear();
        for (h, bias) in biases.iter().enumerate() {
            self.weights
                .extend_from_slice(&weights[h * features..][..features]);
            self.weights.push(*bias);
        }
        self.output_weights.clear();
        self.output_weights.extend_from_slice(output_weights);
        self.output_bias = output_bias[0];
    }

    fn hidden(&self) -> usize {
        self.output_weights.len()
    }

    /// Overwrites `outputs`, in tiles, with the outputs of the items of an instance; keeps the sums
    /// of the hidden units.
    pub(super) fn forward(
        &mut self,
        simd: SimdToken,
        items: &TiledItems,
        row: usize,
        outputs: &mut [f32],
    ) {
        let tiles = items.instance(row);
        let outputs = outputs.as_chunks_mut().0;
        let count = sums_stride(outputs.len()) * self.hidden();
        self.sums.resize(count, AlignedF32x16::ZERO);
        forward_pass(simd, tiles, self, outputs);
    }

    /// Adds the gradient of the parameters to the sums, given that of the outputs predicted last.
    pub(super) fn backward(
        &mut self,
        simd: SimdToken,
        items: &TiledItems,
        row: usize,
        output_gradient: &[f32],
        gradient_sums: &mut [f64],
    ) {
        let (width, hidden) = (self.width, self.hidden());
        let tiles = items.instance(row);
        // The sums are padded, as sixteen of them are transposed together.
        let output_gradient = output_gradient.as_chunks().0;
        self.totals.clear();
        self.totals.resize((hidden + 1) * width, 0.0);
        // Padded to sixteen, which are summed together.
        let vectors = ((hidden + 1) * width).next_multiple_of(F32_LANES);
        self.lane_sums.resize(vectors, AlignedF32x16::ZERO);
        // In chunks, so lanes are summed in single precision over few tiles only.
        self.chunk_sums
            .resize(vectors / F32_LANES, AlignedF32x16::ZERO);
        for first in (0..output_gradient.len()).step_by(TILES_PER_CHUNK) {
            backward_pass(simd, tiles, self, output_gradient, first);
            let chunk_sums = self.chunk_sums.iter().flat_map(|vector| vector.0);
            for (total, sum) in self.totals.iter_mut().zip(chunk_sums) {
                *total += f64::from(sum);
            }
        }
        let features = width - 1;
        let slope = f64::from(LEAKY_RELU_SLOPE);
        let (weights, rest) = gradient_sums.split_at_mut(hidden * features);
        let (biases, rest) = rest.split_at_mut(hidden);
        let (output_weights, output_bias) = rest.split_at_mut(hidden);
        let (all, positive) = self.totals.split_at(width);
        for h in 0..hidden {
            let output_weight = f64::from(self.output_weights[h]);
            // The derivative is 1 for positive sums and the slope for the others: all · slope +
            // positive · (1 − slope).
            let mut output_gradient = 0.0;
            // Σ q · w is the sum of the activated values times the gradient, so activations are not
            // stored.
            for k in 0..width {
                let q = slope * all[k] + (1.0 - slope) * positive[h * width + k];
                output_gradient += q * f64::from(self.weights[h * width + k]);
                let sum = if k < features {
                    &mut weights[h * features + k]
                } else {
                    &mut biases[h]
                };
                *sum += output_weight * q;
            }
            output_weights[h] += output_gradient;
        }
        output_bias[0] += all[features];
    }
}

/// Vectors from the sums of one hidden unit to those of the next: odd, so those of several units do
/// not fall into the same set of the cache.
fn sums_stride(tiles: usize) -> usize {
    tiles | 1
}

dispatch_lanes! {
    forward_pass = forward_body (
        tiles: &[AlignedF32x16],
        scratch: &mut ItemNetworkScratch,
        outputs: &mut [[f32; F32_LANES]],
    )
}

#[inline(always)]
fn forward_body<V: Lanes>(
    token: V::Token,
    tiles: &[AlignedF32x16],
    scratch: &mut ItemNetworkScratch,
    outputs: &mut [[f32; F32_LANES]],
) {
    let hidden = scratch.output_weights.len();
    assert!(
        tiles.len() == outputs.len() * scratch.width
            && scratch.weights.len() == hidden * scratch.width
            && scratch.sums.len() == hidden * sums_stride(outputs.len()),
        // Two tiles at once with 32 registers, which hold the sums of eight units for both.
        "parameters and scratch memory must fit the items"
    );
    let mut first = 0;
    while first < outputs.len() {
        // SAFETY: there are so many tiles, by the assertion.
        unsafe {
            if V::HAS_32_REGISTERS && outputs.len() - first >= 2 {
                forward_tiles::<V, 8, 2>(token, tiles, scratch, outputs, first);
                first += 2;
            } else {
                forward_tiles::<V, 4, 1>(token, tiles, scratch, outputs, first);
                first += 1;
            }
        }
    }
}

/// The forward pass of `C` tiles, `R` hidden units at a time.
///
/// # Safety
/// Tiles `first` to `first + C` must exist, and lengths must be as [`forward_body`] asserts.
#[inline(always)]
unsafe fn forward_tiles<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    tiles: &[AlignedF32x16],
    scratch: &mut ItemNetworkScratch,
    outputs: &mut [[f32; F32_LANES]],
    first: usize,
) {
    let hidden = scratch.output_weights.len();
    let mut totals = [V::splat(token, 0.0); C];
    let full = hidden / R * R;
    // SAFETY: guaranteed by the caller.
    unsafe {
        for h in (0..full).step_by(R) {
            hidden_units::<V, R, C>(token, tiles, scratch, outputs.len(), first, h, &mut totals);
        }
        for h in full..hidden {
            hidden_units::<V, 1, C>(token, tiles, scratch, outputs.len(), first, h, &mut totals);
        }
    }
    // The bias last: the order of the sum does not depend on the number of units at once.
    let bias = V::splat(token, scratch.output_bias);
    for c in 0..C {
        bias.add(totals[c]).store(&mut outputs[first + c]);
    }
}

/// Sums of hidden units `h` to `h + R` of `C` tiles; adds to the outputs.
///
/// # Safety
/// As for [`forward_tiles`]; the hidden units must exist.
#[inline(always)]
unsafe fn hidden_units<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    tiles: &[AlignedF32x16],
    scratch: &mut ItemNetworkScratch,
    num_tiles: usize,
    first: usize,
    h: usize,
    outputs: &mut [V; C],
) {
    let width = scratch.width;
    let slope = V::splat(token, LEAKY_RELU_SLOPE);
    let mut sums = [[V::splat(token, 0.0); C]; R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let z = tiles.as_ptr().add(first * width);
        let weights = scratch.weights.as_ptr().add(h * width);
        for k in 0..width {
            let mut vectors = [slope; C];
            for c in 0..C {
                vectors[c] = V::load(token, &(*z.add(c * width + k)).0);
            }
            for r in 0..R {
                let weight = V::splat(token, *weights.add(r * width + k));
                for c in 0..C {
                    sums[r][c] = vectors[c].mul_add(weight, sums[r][c]);
                }
            }
        }
        let stride = sums_stride(num_tiles);
        let stored = scratch.sums.as_mut_ptr().add(h * stride + first);
        for r in 0..R {
            // The sums are kept for the backward pass, which needs their signs.
            let weight = V::splat(token, *scratch.output_weights.get_unchecked(h + r));
            for c in 0..C {
                sums[r][c].store(&mut (*stored.add(r * stride + c)).0);
                outputs[c] = sums[r][c].leaky_relu(slope).mul_add(weight, outputs[c]);
            }
        }
    }
}

dispatch_lanes! {
    /// Sums over the chunk of tiles that begins at `first`.
    backward_pass = backward_body (
        tiles: &[AlignedF32x16],
        scratch: &mut ItemNetworkScratch,
        output_gradient: &[[f32; F32_LANES]],
        first: usize,
    )
}

#[inline(always)]
fn backward_body<V: Lanes>(
    token: V::Token,
    tiles: &[AlignedF32x16],
    scratch: &mut ItemNetworkScratch,
    output_gradient: &[[f32; F32_LANES]],
    first: usize,
) {
    let (width, hidden) = (scratch.width, scratch.output_weights.len());
    let stride = sums_stride(output_gradient.len());
    assert!(
        tiles.len() == output_gradient.len() * width
            && scratch.sums.len() == hidden * stride
            && scratch.lane_sums.len() >= (hidden + 1) * width
            && scratch.lane_sums.len() == F32_LANES * scratch.chunk_sums.len(),
        "scratch memory must fit the items"
    );
    let chunk = ItemChunk {
        tiles,
        width,
        output_gradient,
        first,
        end: (first + TILES_PER_CHUNK).min(output_gradient.len()),
    };
    let (all, positive) = scratch.lane_sums.split_at_mut(width);
    // SAFETY: sums of all hidden units and tiles exist, by the assertion.
    unsafe {
        sum_entries::<V, 0>(token, &chunk, [], all);
        let mut h = 0;
        while h < hidden {
            let sums = |h: usize| scratch.sums.as_ptr().add(h * stride);
            let out = &mut positive[h * width..];
            if V::HAS_32_REGISTERS && h + 2 <= hidden {
                sum_entries::<V, 2>(token, &chunk, [sums(h), sums(h + 1)], out);
                h += 2;
            } else {
                sum_entries::<V, 1>(token, &chunk, [sums(h)], out);
                h += 1;
            }
            // Sums over lanes: sixteen vectors are transposed, and then added as columns.
        }
    }
    let simd = V::simd(token);
    let vectors = scratch.lane_sums.as_chunks::<F32_LANES>().0;
    for (vectors, out) in vectors.iter().zip(&mut scratch.chunk_sums) {
        let mut columns = [AlignedF32x16::ZERO; F32_LANES];
        let mut rows = [0.0; F32_LANES * F32_LANES];
        for i in 0..F32_LANES {
            rows[i * F32_LANES..][..F32_LANES].copy_from_slice(&vectors[i].0);
        }
        simd.load_transposed(&rows, F32_LANES, F32_LANES, &mut columns);
        let mut sum = simd.load(&columns[0].0);
        for i in 1..F32_LANES {
            sum = sum.add(simd.load(&columns[i].0));
        }
        sum.store(out);
    }
}

/// A few tiles of the items of an instance.
struct ItemChunk<'a> {
    tiles: &'a [AlignedF32x16],
    width: usize,
    output_gradient: &'a [[f32; F32_LANES]],
    /// The first tile.
    first: usize,
    /// The tile after the last one.
    end: usize,
}

/// Σ g z over the items of a chunk, for each of `H` hidden units over the items whose sum is
/// positive; with `H` = 0 over all items. As many entries of z at once as registers hold sums.
///
/// # Safety
/// The pointers must be to the sums of all tiles of a hidden unit.
#[inline(always)]
unsafe fn sum_entries<V: Lanes, const H: usize>(
    token: V::Token,
    chunk: &ItemChunk<'_>,
    sums: [*const AlignedF32x16; H],
    // As many entries as sums fit in registers beside the gradient and a factor.
    out: &mut [AlignedF32x16],
    // Parts of equal size, so none is left with few entries.
) {
    let most = if V::HAS_32_REGISTERS { 9 } else { 5 };
    let parts = chunk.width.div_ceil(most);
    for part in 0..parts {
        let begin = part * chunk.width / parts;
        // SAFETY: the entries exist; the rest is guaranteed by the caller.
        unsafe {
            match (part + 1) * chunk.width / parts - begin {
                1 => sum_part::<V, H, 1>(token, chunk, sums, begin, out),
                2 => sum_part::<V, H, 2>(token, chunk, sums, begin, out),
                3 => sum_part::<V, H, 3>(token, chunk, sums, begin, out),
                4 => sum_part::<V, H, 4>(token, chunk, sums, begin, out),
                5 => sum_part::<V, H, 5>(token, chunk, sums, begin, out),
                6 => sum_part::<V, H, 6>(token, chunk, sums, begin, out),
                7 => sum_part::<V, H, 7>(token, chunk, sums, begin, out),
                8 => sum_part::<V, H, 8>(token, chunk, sums, begin, out),
                _ => sum_part::<V, H, 9>(token, chunk, sums, begin, out),
            }
        }
    }
}

/// [`sum_entries`] for entries `begin` to `begin + N` of z.
///
/// # Safety
/// As for [`sum_entries`]; the entries must exist.
#[inline(always)]
unsafe fn sum_part<V: Lanes, const H: usize, const N: usize>(
    token: V::Token,
    chunk: &ItemChunk<'_>,
    sums: [*const AlignedF32x16; H],
    begin: usize,
    out: &mut [AlignedF32x16],
) {
    let zero = V::splat(token, 0.0);
    let mut all = [zero; N];
    let mut positive = [[zero; N]; H];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut z = chunk.tiles.as_ptr().add(chunk.first * chunk.width + begin);
        for t in chunk.first..chunk.end {
            let gradient = V::load(token, chunk.output_gradient.get_unchecked(t));
            if H == 0 {
                for n in 0..N {
                    all[n] = V::load(token, &(*z.add(n)).0).mul_add(gradient, all[n]);
                }
            }
            // Negative sums contribute through the slope, from the sum over all items.
            for h in 0..H {
                let sum = V::load(token, &(*sums[h].add(t)).0);
                let kept = gradient.keep_where_positive(sum);
                for n in 0..N {
                    let entry = V::load(token, &(*z.add(n)).0);
                    positive[h][n] = entry.mul_add(kept, positive[h][n]);
                }
            }
            z = z.wrapping_add(chunk.width);
        }
    }
    for n in 0..N {
        if H == 0 {
            all[n].store(&mut out[begin + n].0);
        }
        for h in 0..H {
            positive[h][n].store(&mut out[h * chunk.width + begin + n].0);
        }
    }
}
