//! Slopes of a loss, per error: the one place where squared, absolute, one-sided, pinball and
//! range-based errors differ.
//!
//! The error of a cost is u = c − ĉ, positive if the prediction is too low. The loss of a tile is Σ
//! slope · u, times a constant of the row, for every kind of loss. The slope is the derivative of
//! the loss with respect to u, for squared errors half of it. If u is 0, so is the slope; if u is
//! NaN, so is slope · u.

#![allow(
    unsafe_code,
    reason = "the innermost loop skips bounds checks that its caller makes once per block"
)]

use crate::loss::BaseError;
use crate::simd::{AlignedF32x16, F32_LANES, F32x16, SimdToken};

/// Which errors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorMask {
    /// All of them.
    All,
    /// Those that can change the decision, by the bits of the label.
    OneSided,
    /// All, with separate weights per cost for under- and over-prediction.
    Pinball,
    /// Those beyond the end of a cost's range.
    Sensitive,
}

impl ErrorMask {
    /// Whether the mask reads the bits of the label.
    pub(super) const fn reads_decision_bits(self) -> bool {
        match self {
            Self::OneSided | Self::Sensitive => true,
            Self::All | Self::Pinball => false,
        }
    }

    /// Whether the mask reads the ends of the cost ranges.
    const fn reads_limits(self) -> bool {
        match self {
            Self::Sensitive => true,
            Self::All | Self::OneSided | Self::Pinball => false,
        }
    }
}

/// How errors are measured, and which of them count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlopeKind {
    pub(super) error: BaseError,
    pub(super) mask: ErrorMask,
}

/// A [`SlopeKind`] as a type: each pass is compiled once per kind, without branches inside.
pub(super) trait StaticSlopeKind {
    const KIND: SlopeKind;
}

/// Marker types, one per value of [`SlopeKind`].
macro_rules! static_slope_kinds {
    ($($name:ident = $error:ident $mask:ident;)*) => {
        $(
            pub(super) struct $name;

            impl StaticSlopeKind for $name {
                const KIND: SlopeKind = SlopeKind {
                    error: BaseError::$error,
                    mask: ErrorMask::$mask,
                };
            }
        )*
    };
}

static_slope_kinds! {
    SquaredAll = Squared All;
    SquaredOneSided = Squared OneSided;
    SquaredPinball = Squared Pinball;
    SquaredSensitive = Squared Sensitive;
    AbsoluteAll = Absolute All;
    AbsoluteOneSided = Absolute OneSided;
    AbsolutePinball = Absolute Pinball;
    AbsoluteSensitive = Absolute Sensitive;
}

/// Calls a function compiled for a [`SlopeKind`] that is known at run time only.
macro_rules! dispatch_slope_kind {
    ($kind:expr, $module:ident::$pass:ident, $($arg:expr),* $(,)?) => {{
        use $crate::loss::BaseError::{Absolute, Squared};
        use $crate::train::fused::slope::{self, ErrorMask};
        let kind = $kind;
        match (kind.error, kind.mask) {
            (Squared, ErrorMask::All) => $module::$pass::<slope::SquaredAll>($($arg),*),
            (Squared, ErrorMask::OneSided) => $module::$pass::<slope::SquaredOneSided>($($arg),*),
            (Squared, ErrorMask::Pinball) => $module::$pass::<slope::SquaredPinball>($($arg),*),
            (Squared, ErrorMask::Sensitive) => $module::$pass::<slope::SquaredSensitive>($($arg),*),
            (Absolute, ErrorMask::All) => $module::$pass::<slope::AbsoluteAll>($($arg),*),
            (Absolute, ErrorMask::OneSided) => $module::$pass::<slope::AbsoluteOneSided>($($arg),*),
            (Absolute, ErrorMask::Pinball) => $module::$pass::<slope::AbsolutePinball>($($arg),*),
            (Absolute, ErrorMask::Sensitive) => {
                $module::$pass::<slope::AbsoluteSensitive>($($arg),*)
            }
        }
    }};
}
pub(super) use dispatch_slope_kind;

/// Targets of one row, in tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowTargets<'a> {
    /// True costs.
    pub(super) costs: &'a [[f32; F32_LANES]],
    /// One bit per cost, two tiles per word: whether the label selects its variable. Empty unless
    /// the mask reads bits.
    pub(super) chosen: &'a [u32],
    /// Ends of cost ranges; empty unless the mask reads them.
    pub(super) limits: &'a [[f32; F32_LANES]],
}

impl RowTargets<'_> {
    /// Whether the first `tiles` tiles exist in everything that this kind of error reads.
    pub(super) fn has_tiles<K: StaticSlopeKind>(&self, tiles: usize) -> bool {
        let mask = K::KIND.mask;
        self.costs.len() >= tiles
            && (!mask.reads_decision_bits() || 2 * self.chosen.len() >= tiles)
            && (!mask.reads_limits() || self.limits.len() >= tiles)
    }
}

/// The slopes of the errors `u` of one tile of a row; `tau` holds the pinball weights of
/// under-prediction.
///
/// # Safety
/// The row must contain the tile ([`RowTargets::has_tiles`]).
#[inline(always)]
pub(super) unsafe fn slopes<K: StaticSlopeKind>(
    simd: SimdToken,
    u: F32x16,
    targets: &RowTargets<'_>,
    tile: usize,
    tau: Option<&AlignedF32x16>,
) -> F32x16 {
    let one = simd.splat(1.0);
    let two_sided = match K::KIND.error {
        BaseError::Absolute => u.sign_bits().or(one).and(u.nonzero_mask()),
        BaseError::Squared => u,
    };
    match K::KIND.mask {
        ErrorMask::All => two_sided,
        ErrorMask::OneSided => {
            // SAFETY: the caller guarantees that the row contains the tile.
            let word = unsafe { targets.chosen.get_unchecked(tile / 2) };
            let chosen_sign = simd.sign_mask(word, tile % 2);
            let misleading = u.xor(chosen_sign);
            match K::KIND.error {
                BaseError::Absolute => one.or(chosen_sign).and(misleading.positive_mask()),
                BaseError::Squared => misleading.max_zero().xor(chosen_sign),
            }
        }
        ErrorMask::Pinball => {
            let tau = simd.load(tau.map_or(&[1.0; F32_LANES], |tau| &tau.0));
            two_sided.mul(tau.select_by_sign(one.sub(tau), u))
        }
        ErrorMask::Sensitive => {
            let margin = simd
                .load(&targets.limits[tile])
                .sub(simd.load(&targets.costs[tile]));
            let beyond = u
                .add(margin)
                .xor(simd.sign_mask(&targets.chosen[tile / 2], tile % 2));
            two_sided.and(beyond.positive_mask())
        }
    }
}
