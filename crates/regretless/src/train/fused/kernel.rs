//! The two passes of a fused step, over tiles of sixteen costs.
//!
//! Pass A predicts a tile for all rows of a batch, compares with the true costs, and leaves the local
//! gradient of the tile's parameters and two sums per row; predictions never reach memory. Pass B adds
//! what only the sums of all tiles can tell, takes the Adam step, and gathers the Gram matrix of the new
//! parameters, from which the lengths of the next predictions follow.
//!
//! Within a block of tiles lanes are summed in single precision, across blocks in double precision and
//! in a fixed order.

#![allow(clippy::needless_range_loop, reason = "loops over lanes with a fixed end are what the compiler vectorises")]
#![allow(unsafe_code, reason = "functions compiled for AVX2 and FMA are called after asking the processor for them")]

/// Costs handled together.
pub(super) const LANES: usize = 16;
/// One number for each cost of a tile.
pub(super) type Lane = [f32; LANES];

/// Which errors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// All of them.
    Both,
    /// Those that can mislead, by the bits of the best decision.
    OneSided,
    /// Under- and over-prediction with weights of their own, per cost.
    Pinball,
    /// Those beyond the end of a cost's range.
    Sensitive,
}

/// What is added to and multiplies the outputs of a tile, and the weight of under-prediction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Map {
    pub(super) offset: Lane,
    pub(super) scale: Lane,
    pub(super) tau: Lane,
}

/// Parameters of a tile (the bias last) and the local gradient.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile<const P: usize> {
    pub(super) weights: [Lane; P],
    pub(super) gradient: [Lane; P],
}

/// Running means of gradients and of their squares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments<const P: usize> {
    pub(super) mean: [Lane; P],
    pub(super) square: [Lane; P],
}

/// One row of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a, const P: usize> {
    /// Features and a 1.
    pub(super) features: &'a [f32; P],
    /// Predictions are multiplied by this before they are compared.
    pub(super) stretch: f32,
    /// Factor of the row's gradient.
    pub(super) factor: f32,
    pub(super) costs: &'a [f32],
    /// One bit per cost: whether the best decision chooses it.
    pub(super) chosen: &'a [u16],
    /// Ends of ranges; empty unless they aim.
    pub(super) limits: &'a [f32],
}

/// Sums of a row over the tiles of a block: its errors, and its gradient times its prediction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    pub(super) loss: Lane,
    pub(super) dot: Lane,
}

impl Sums {
    pub(super) const ZERO: Self = Self { loss: [0.0; LANES], dot: [0.0; LANES] };
}

/// A block of tiles.
pub(super) struct Block<'a, const P: usize> {
    /// Number of its first tile.
    pub(super) first: usize,
    pub(super) tiles: &'a mut [Tile<P>],
    pub(super) moments: &'a mut [Moments<P>],
    pub(super) maps: &'a [Map],
}

/// Numbers of one Adam step.
#[derive(Debug, Clone, Copy)]
pub(super) struct AdamStep {
    pub(super) rate: f32,
    pub(super) root: f32,
    pub(super) beta1: f32,
    pub(super) beta2: f32,
    pub(super) epsilon: f32,
    pub(super) keep: f32,
}

/// Whether this processor has the instructions the kernel is compiled for.
pub(super) fn runs_here() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// Defines a pass, compiled for AVX2 and FMA where the processor family has them.
macro_rules! pass {
    ($(#[$doc:meta])* $name:ident = $body:ident [$($const:ident: $kind:ty),*] ($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub(super) fn $name<const P: usize, $(const $const: $kind),*>($($arg: $type),*) {
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
            fn compiled<const P: usize, $(const $const: $kind),*>($($arg: $type),*) {
                $body::<P, $($const),*>($($arg),*);
            }
            // SAFETY: fused training is chosen only where `runs_here` says that the instructions exist.
            #[allow(unused_unsafe, reason = "other processors need no promise")]
            unsafe {
                compiled::<P, $($const),*>($($arg),*);
            }
        }
    };
}

pass! {
    /// Local gradients and sums of a block.
    pass_a = pass_a_body [ABSOLUTE: bool, AIM: u8] (block: &mut Block<'_, P>, rows: &[Row<'_, P>], sums: &mut [Sums])
}

pass! {
    /// The Adam step of a block, given the correction that normalisation asks for, and its part of the
    /// Gram matrix.
    pass_b = pass_b_body [] (block: &mut Block<'_, P>, correction: &[[f32; P]; P], step: &AdamStep, gram: &mut [[f64; P]; P])
}

pass! {
    /// Adds a block's part of the Gram matrix.
    pass_gram = gather [] (block: &mut Block<'_, P>, gram: &mut [[f64; P]; P])
}

#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// Parameters as they act on features: scaled, the offset added to the bias.
#[inline(always)]
fn effective<const P: usize>(tile: &Tile<P>, map: &Map) -> [Lane; P] {
    let mut out = [[0.0; LANES]; P];
    for q in 0..P {
        for l in 0..LANES {
            out[q][l] = map.scale[l] * tile.weights[q][l];
        }
    }
    for l in 0..LANES {
        out[P - 1][l] += map.offset[l];
    }
    out
}

/// The numbers of one tile of a row; zeros beyond the end.
#[inline(always)]
fn load(values: &[f32], tile: usize) -> Lane {
    match values.get(tile * LANES..tile * LANES + LANES) {
        Some(full) => {
            let mut out = [0.0; LANES];
            out.copy_from_slice(full);
            out
        }
        None => {
            let mut out = [0.0; LANES];
            let rest = values.get(tile * LANES..).unwrap_or_default();
            out[..rest.len()].copy_from_slice(rest);
            out
        }
    }
}

/// Value and slope of every error of a tile.
#[inline(always)]
fn judge<const ABSOLUTE: bool, const AIM: u8>(errors: &Lane, signs: &Lane, free: &Lane, tau: &Lane) -> (Lane, Lane) {
    let (mut value, mut slope) = ([0.0; LANES], [0.0; LANES]);
    for l in 0..LANES {
        let e = errors[l];
        let share = match AIM {
            0 => 1.0,
            1 => f32::from(u8::from(signs[l] * e > 0.0)),
            2 => {
                if e <= 0.0 {
                    tau[l]
                } else {
                    1.0 - tau[l]
                }
            }
            _ => f32::from(u8::from(signs[l] * (e - free[l]) > 0.0)),
        };
        let (v, s) =
            if ABSOLUTE { (e.abs(), if e == 0.0 { 0.0 } else { 1.0_f32.copysign(e) }) } else { (e * e, 2.0 * e) };
        value[l] = share * v;
        slope[l] = share * s;
    }
    (value, slope)
}

/// +1 where the best decision chooses a cost, −1 elsewhere.
#[inline(always)]
fn signs(bits: u16) -> Lane {
    let mut out = [0.0; LANES];
    for (l, sign) in out.iter_mut().enumerate() {
        let negative = u32::from(bits >> l & 1 == 0);
        *sign = f32::from_bits(0x3f80_0000 | negative << 31);
    }
    out
}

/// Predicts and judges one tile of `R` rows; returns predictions and slopes.
#[inline(always)]
fn judge_rows<const P: usize, const R: usize, const ABSOLUTE: bool, const AIM: u8>(
    weights: &[Lane; P],
    tau: &Lane,
    rows: &[Row<'_, P>; R],
    tile: usize,
    sums: &mut [Sums; R],
) -> [Lane; R] {
    let mut predictions = [[0.0; LANES]; R];
    for q in 0..P {
        for (i, row) in rows.iter().enumerate() {
            let z = row.features[q];
            for l in 0..LANES {
                predictions[i][l] = fused(z, weights[q][l], predictions[i][l]);
            }
        }
    }
    let mut slopes = [[0.0; LANES]; R];
    for (i, row) in rows.iter().enumerate() {
        let costs = load(row.costs, tile);
        let mut errors = [0.0; LANES];
        for l in 0..LANES {
            errors[l] = fused(row.stretch, predictions[i][l], -costs[l]);
        }
        let signs = if AIM == 1 || AIM == 3 { signs(row.chosen[tile]) } else { [0.0; LANES] };
        let mut free = [0.0; LANES];
        if AIM == 3 {
            let limits = load(row.limits, tile);
            for l in 0..LANES {
                free[l] = limits[l] - costs[l];
            }
        }
        let (value, slope) = judge::<ABSOLUTE, AIM>(&errors, &signs, &free, tau);
        for l in 0..LANES {
            sums[i].loss[l] += value[l];
            sums[i].dot[l] = fused(slope[l], predictions[i][l], sums[i].dot[l]);
            slopes[i][l] = row.factor * slope[l];
        }
    }
    slopes
}

#[inline(always)]
fn pass_a_rows<const P: usize, const R: usize, const ABSOLUTE: bool, const AIM: u8>(
    (weights, tau): (&[Lane; P], &Lane),
    rows: &[Row<'_, P>; R],
    tile: usize,
    (gradient, sums): (&mut [Lane; P], &mut [Sums; R]),
) {
    let slopes = judge_rows::<P, R, ABSOLUTE, AIM>(weights, tau, rows, tile, sums);
    for q in 0..P {
        let mut total = gradient[q];
        for (i, row) in rows.iter().enumerate() {
            for l in 0..LANES {
                total[l] = fused(row.features[q], slopes[i][l], total[l]);
            }
        }
        gradient[q] = total;
    }
}

#[inline(always)]
fn pass_a_body<const P: usize, const ABSOLUTE: bool, const AIM: u8>(
    block: &mut Block<'_, P>,
    rows: &[Row<'_, P>],
    sums: &mut [Sums],
) {
    for (t, (tile, map)) in (block.first..).zip(block.tiles.iter_mut().zip(block.maps)) {
        let weights = effective::<P>(tile, map);
        let mut gradient = [[0.0; LANES]; P];
        let (fours, rest) = rows.as_chunks::<4>();
        let (four_sums, rest_sums) = sums.as_chunks_mut::<4>();
        for (rows, sums) in fours.iter().zip(four_sums) {
            pass_a_rows::<P, 4, ABSOLUTE, AIM>((&weights, &map.tau), rows, t, (&mut gradient, sums));
        }
        for (row, sum) in rest.iter().zip(rest_sums) {
            let (row, sum) = (std::array::from_ref(row), std::array::from_mut(sum));
            pass_a_rows::<P, 1, ABSOLUTE, AIM>((&weights, &map.tau), row, t, (&mut gradient, sum));
        }
        tile.gradient = gradient;
    }
}

#[inline(always)]
fn pass_b_body<const P: usize>(
    block: &mut Block<'_, P>,
    correction: &[[f32; P]; P],
    step: &AdamStep,
    gram: &mut [[f64; P]; P],
) {
    for ((tile, moments), map) in block.tiles.iter_mut().zip(block.moments.iter_mut()).zip(block.maps) {
        let weights = effective::<P>(tile, map);
        for q in 0..P {
            let mut gradient = tile.gradient[q];
            for (r, weights) in weights.iter().enumerate() {
                let share = -correction[r][q];
                for l in 0..LANES {
                    gradient[l] = fused(share, weights[l], gradient[l]);
                }
            }
            for l in 0..LANES {
                gradient[l] *= map.scale[l];
            }
            adam(&mut tile.weights[q], &gradient, (&mut moments.mean[q], &mut moments.square[q]), step);
        }
    }
    gather::<P>(block, gram);
}

#[inline(always)]
fn adam(weights: &mut Lane, gradient: &Lane, (mean, square): (&mut Lane, &mut Lane), step: &AdamStep) {
    for l in 0..LANES {
        let g = gradient[l];
        mean[l] += (1.0 - step.beta1) * (g - mean[l]);
        square[l] = step.beta2 * square[l] + (1.0 - step.beta2) * g * g;
        let change = step.rate * mean[l] / (square[l].sqrt() / step.root + step.epsilon);
        weights[l] = weights[l] * step.keep - change;
    }
}

/// Adds the Gram matrix of the block's effective parameters, upper half, in double precision.
#[inline(always)]
fn gather<const P: usize>(block: &mut Block<'_, P>, gram: &mut [[f64; P]; P]) {
    for a in 0..P {
        for b in a..P {
            let mut lanes = [0.0_f64; LANES];
            for (tile, map) in block.tiles.iter().zip(block.maps) {
                let bias = |q: usize, l: usize| if q == P - 1 { map.offset[l] } else { 0.0 };
                for l in 0..LANES {
                    let x = map.scale[l] * tile.weights[a][l] + bias(a, l);
                    let y = map.scale[l] * tile.weights[b][l] + bias(b, l);
                    lanes[l] += f64::from(x) * f64::from(y);
                }
            }
            gram[a][b] += lanes.iter().sum::<f64>();
        }
    }
}
