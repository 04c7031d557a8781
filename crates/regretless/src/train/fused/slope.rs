//! Which errors of a tile count, and how steep the loss is at them: the one place where squared,
//! absolute, one-sided, pinball and range-based errors differ.
//!
//! Errors are measured as by how much a cost is predicted too low, u = c − ĉ. The loss of a tile is
//! the sum of slope · u, whatever the kind; for squared errors the slope is half the derivative.
//! Where u is 0, so is the slope; where u is no number, slope · u is none either.

#![allow(
    unsafe_code,
    reason = "the innermost loop leaves a check of bounds to its caller, who asks once per block"
)]

use crate::simd::{AlignedF32x16, Avx2Fma, F32_LANES, F32x16};

/// Which errors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorMask {
    /// All of them.
    All,
    /// Those that can mislead, by the bits of the best decision.
    OneSided,
    /// Under- and over-prediction with weights of their own, per cost.
    Pinball,
    /// Those beyond the end of a cost's range.
    Sensitive,
}

/// What is known about a row, in tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowTargets<'a> {
    pub(super) costs: &'a [[f32; F32_LANES]],
    /// One bit per cost, two tiles to a word: whether the best decision chooses it. Empty unless
    /// bits aim.
    pub(super) chosen: &'a [u32],
    /// Ends of ranges; empty unless they aim.
    pub(super) limits: &'a [[f32; F32_LANES]],
}

impl RowTargets<'_> {
    /// Whether these tiles are there as far as the aim looks at them.
    pub(super) fn has_tiles<const MASK: u8>(&self, tiles: usize) -> bool {
        let bits = MASK == ErrorMask::OneSided as u8 || MASK == ErrorMask::Sensitive as u8;
        self.costs.len() >= tiles
            && (!bits || 2 * self.chosen.len() >= tiles)
            && (MASK != ErrorMask::Sensitive as u8 || self.limits.len() >= tiles)
    }
}

/// Calls a function with the constants that fit a loss: whether errors are absolute, and its
/// [`ErrorMask`].
macro_rules! dispatch_loss_kind {
    ($kind:expr, $module:ident::$pass:ident, $($arg:expr),* $(,)?) => {
        match $kind {
            (false, ErrorMask::All) => $module::$pass::<false, 0>($($arg),*),
            (false, ErrorMask::OneSided) => $module::$pass::<false, 1>($($arg),*),
            (false, ErrorMask::Pinball) => $module::$pass::<false, 2>($($arg),*),
            (false, ErrorMask::Sensitive) => $module::$pass::<false, 3>($($arg),*),
            (true, ErrorMask::All) => $module::$pass::<true, 0>($($arg),*),
            (true, ErrorMask::OneSided) => $module::$pass::<true, 1>($($arg),*),
            (true, ErrorMask::Pinball) => $module::$pass::<true, 2>($($arg),*),
            (true, ErrorMask::Sensitive) => $module::$pass::<true, 3>($($arg),*),
        }
    };
}
pub(super) use dispatch_loss_kind;

/// The slope of every error of a tile of a row.
///
/// # Safety
/// The row must cover the tile ([`RowTargets::covers`]).
#[inline(always)]
pub(super) unsafe fn slopes<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    under: F32x16,
    targets: &RowTargets<'_>,
    tile: usize,
    tau: Option<&AlignedF32x16>,
) -> F32x16 {
    let one = simd.splat(1.0);
    let signed = if ABSOLUTE {
        under.sign_bits().or(one).and(under.nonzero_mask())
    } else {
        under
    };
    match MASK {
        0 => signed,
        1 => {
            // SAFETY: the caller's promise.
            let turn = simd.sign_mask(unsafe { targets.chosen.get_unchecked(tile / 2) }, tile % 2);
            let turned = under.xor(turn);
            if ABSOLUTE {
                one.or(turn).and(turned.positive_mask())
            } else {
                turned.max_zero().xor(turn)
            }
        }
        2 => {
            let tau = simd.load(tau.map_or(&[1.0; F32_LANES], |tau| &tau.0));
            signed.mul(tau.select_by_sign(one.sub(tau), under))
        }
        _ => {
            let free = simd
                .load(&targets.limits[tile])
                .sub(simd.load(&targets.costs[tile]));
            let beyond = under
                .add(free)
                .xor(simd.sign_mask(&targets.chosen[tile / 2], tile % 2));
            signed.and(beyond.positive_mask())
        }
    }
}
