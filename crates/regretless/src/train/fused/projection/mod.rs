//! The projection of component E in fused training. Tiles, blocks, groups, W and z are defined in
//! the header of [`super`].
//!
//! Predictions are linear in the parameters, P (W z) = (P W) z, so the columns of W are projected
//! once per step instead of every prediction, with P = I − A⁺A for the equality constraints A. The
//! gradient with respect to W is P times that with respect to P W. Both take
//!
//! ```text
//! S = A V          sums over costs, one vector of the width of W per row of A
//! A Aᵀ Y = S       the system of the projection
//! P V = V − Aᵀ Y
//! ```
//!
//! S needs all costs, hence a barrier of all workers before Y. There are no passes over the costs
//! but those of a normalized loss without projection:
//!
//! * The row-sums pass projects the parameters of a block when it predicts with them, and adds the
//!   local gradient V to its sums.
//! * The update pass needs P V + P W C, with C the correction of the normalization. With Y of V and
//!   Y′ of W that is V + W C − Aᵀ (Y + Y′ C): it subtracts a product from the local gradient and
//!   goes on with parameters that are not projected, which it adds to their sums.
//! * The Gram matrix of the projected parameters follows from that of W: WᵀP W = WᵀW − Sᵀ Y. If
//!   little of W is left, the difference loses digits, and the matrix is computed by a pass over
//!   the projected parameters.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use std::ops::Range;

use self::system::{
    add_group, solve_system, subtract_gram, update_windows, write_gradient_solution,
    write_parameter_solution,
};
use super::kernel::scaled_parameters;
use super::tile_block::{ROWS_PER_PANEL, TileAffine};
use super::tile_incidence::{
    CHUNK, SlotValues, TileIncidence, TileSegments, add_entry_products, add_entry_sums,
    add_segment_products, add_segment_sums, write_segment_parameters,
};
use super::worker_columns::{BlockPosition, PartialSums};
use crate::loss::NormalizingProjection;
use crate::problem::EqualityProjection;
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, SimdToken, dispatch_simd};

mod system;

/// The fraction of a diagonal entry of WᵀW below which that of WᵀP W is not computed as a
/// difference. Sums in single precision have relative errors of about 1e-7, the difference then
/// about 1e-5. In the benchmarks of `benches/equality.rs` the fraction is above 0.3 at all steps.
const MIN_PROJECTED_FRACTION: f64 = 0.01;
const CACHE_LINE_BYTES: usize = 64;

/// The projection of the parameters of a linear predictor.
pub(super) struct FusedProjection<'a> {
    projection: &'a EqualityProjection,
    incidence: TileIncidence,
}

impl<'a> FusedProjection<'a> {
    /// The projection of parameters for this number of costs; `None` if some of them are absent.
    pub(super) fn new(projection: &'a NormalizingProjection, num_costs: usize) -> Option<Self> {
        let (projection, incidence) = projection.equalities()?;
        Some(Self {
            projection,
            incidence: TileIncidence::new(incidence, num_costs),
        })
    }

    /// Storage for the sums of all groups, for `width` parameters per cost. A single worker needs
    /// none.
    pub(super) fn partial_sums(&self, workers: usize, groups: usize, width: usize) -> PartialSums {
        let groups = if workers == 1 { 0 } else { groups };
        let chunks = width.div_ceil(CHUNK);
        PartialSums::new(groups, self.projection.num_slots() * CHUNK * chunks)
    }
}

/// One vector per slot and chunk of parameters, each in one cache line: when vectors crossed lines,
/// the solution of the system of SP20x20 took 8.3 µs instead of 6.0 µs.
struct SystemVectors {
    values: Vec<f64>,
    range: Range<usize>,
}

impl SystemVectors {
    /// Zeros.
    fn new(vectors: usize) -> Self {
        // One vector more than needed: the first one may begin up to a cache line after the start.
        // If the alignment cannot be found out (`usize::MAX`), vectors cross lines, which costs
        // only time.
        let values = vec![0.0; (vectors + 1) * CHUNK];
        let start = values.as_ptr().align_offset(CACHE_LINE_BYTES).min(CHUNK);
        Self {
            values,
            range: start..start + vectors * CHUNK,
        }
    }

    fn get(&self) -> &[[f64; CHUNK]] {
        self.values[self.range.clone()].as_chunks().0
    }

    fn get_mut(&mut self) -> &mut [[f64; CHUNK]] {
        self.values[self.range.clone()].as_chunks_mut().0
    }
}

/// Sums, solutions and scratch of one worker.
pub(super) struct ProjectionWorker<'a> {
    simd: SimdToken,
    fused: &'a FusedProjection<'a>,
    width: usize,
    /// Whether there are no other workers: the sums of groups are then added as they come.
    is_alone: bool,
    /// S of the current group.
    sums: SlotValues,
    /// S of all groups, then Y: for each chunk of parameters, one vector per slot.
    system: SystemVectors,
    /// S, where Y is in its place.
    right_hand_side: SystemVectors,
    /// −Y of the parameters.
    parameter_solution: SlotValues,
    /// −Y of the gradient, then −(Y + Y′ C).
    gradient_solution: SlotValues,
    /// One chunk of a tile, by costs.
    costs: [AlignedF32x8; F32_LANES],
    /// C, in squares of eight rows and columns, padded with zeros.
    correction: Vec<[AlignedF32x8; CHUNK]>,
    /// The diagonal of the Gram matrix before the projection.
    diagonal: Vec<f64>,
}

impl<'a> ProjectionWorker<'a> {
    /// One of `workers` workers; `solution` is that of the parameters, if it is known.
    pub(super) fn new(
        simd: SimdToken,
        fused: &'a FusedProjection<'a>,
        width: usize,
        workers: usize,
        solution: &[AlignedF32x8],
    ) -> Self {
        let zeros = || fused.incidence.zeros(fused.projection.num_slots(), width);
        let mut parameter_solution = zeros();
        if !solution.is_empty() {
            parameter_solution.by_slot.copy_from_slice(solution);
            update_windows(simd, &mut parameter_solution);
        }
        let sums = zeros();
        let vectors = sums.by_slot.len();
        Self {
            simd,
            fused,
            width,
            is_alone: workers == 1,
            sums,
            system: SystemVectors::new(vectors),
            right_hand_side: SystemVectors::new(vectors),
            parameter_solution,
            gradient_solution: zeros(),
            costs: [AlignedF32x8::ZERO; F32_LANES],
            correction: vec![[AlignedF32x8::ZERO; CHUNK]; width.div_ceil(CHUNK).pow(2)],
            diagonal: Vec::with_capacity(width),
        }
    }

    /// −Y of the parameters.
    pub(super) fn into_parameter_solution(self) -> Vec<AlignedF32x8> {
        self.parameter_solution.by_slot
    }

    /// Adds the local gradient of a tile to the sums.
    #[inline(always)]
    pub(super) fn add_gradient(&mut self, tile: usize, gradient: &[AlignedF32x16]) {
        self.add_tile::<false>(tile, gradient, &AlignedF32x16::ZERO);
    }

    /// Adds parameters of a tile, times the scales of their outputs, to the sums.
    #[inline(always)]
    pub(super) fn add_parameters(
        &mut self,
        tile: usize,
        weights: &[AlignedF32x16],
        scales: &AlignedF32x16,
    ) {
        self.add_tile::<true>(tile, weights, scales);
    }

    #[inline(always)]
    fn add_tile<const SCALED: bool>(
        &mut self,
        tile: usize,
        vectors: &[AlignedF32x16],
        scales: &AlignedF32x16,
    ) {
        let (simd, sums, costs) = (self.simd, &mut self.sums, &mut self.costs);
        match &self.fused.incidence {
            TileIncidence::Segments(segments) => {
                sum_segments::<SCALED>(simd, segments, tile, vectors, scales, sums, costs);
            }
            incidence @ (TileIncidence::Pairs(_) | TileIncidence::Sparse { .. }) => {
                sum_entries::<SCALED>(simd, incidence, tile, vectors, scales, sums, costs);
            }
        }
    }

    /// Stores the sums of a group after its last block, and clears them for the next.
    pub(super) fn store_group_sums(&mut self, sums: &PartialSums, position: BlockPosition) {
        if !position.is_last_of_group {
            return;
        }
        let group_sums = &mut self.sums.by_slot;
        if self.is_alone {
            // A single worker visits the groups in their order, so sums that are added as they come
            // have the bits of those that several workers store and add afterwards.
            let is_first = position.group == 0;
            add_group(self.simd, group_sums, is_first, self.system.get_mut());
        } else {
            let values = group_sums.iter().flat_map(|vector| vector.0);
            sums.store(position.group, 0, values.map(f64::from));
            group_sums.fill(AlignedF32x8::ZERO);
        }
    }

    /// Solves for Y of the gradient, given the sums of all groups, and adds the product of Y of the
    /// parameters and the correction of the normalization, interleaved as the kernel reads it.
    pub(super) fn solve_gradient(
        &mut self,
        sums: &PartialSums,
        interleaved_correction: &[[f32; ROWS_PER_PANEL]],
    ) {
        self.sum_groups(sums);
        let chunks = self.width.div_ceil(CHUNK);
        for (i, columns) in interleaved_correction.chunks_exact(self.width).enumerate() {
            let first = ROWS_PER_PANEL * i;
            for (row, entries) in columns.iter().enumerate() {
                let square = &mut self.correction[row / CHUNK * chunks + first / CHUNK];
                let halves = square[row % CHUNK].0.as_chunks_mut().0;
                halves[first % CHUNK / ROWS_PER_PANEL] = *entries;
            }
        }
        solve_system(self.simd, self.fused.projection, self.system.get_mut());
        write_gradient_solution(
            self.simd,
            self.system.get(),
            &self.parameter_solution,
            &self.correction,
            &mut self.gradient_solution,
        );
    }

    /// Solves for Y of the parameters, given the sums of all groups, and makes the Gram matrix of
    /// the parameters that of the projected ones. Returns whether it has enough digits.
    pub(super) fn solve_parameters(&mut self, sums: &PartialSums, gram: &mut [f64]) -> bool {
        self.sum_groups(sums);
        self.right_hand_side
            .get_mut()
            .copy_from_slice(self.system.get());
        let (simd, width) = (self.simd, self.width);
        solve_system(simd, self.fused.projection, self.system.get_mut());
        write_parameter_solution(simd, self.system.get(), &mut self.parameter_solution);
        // The Gram matrix is overwritten; how much of its diagonal is left tells how many digits
        // are.
        self.diagonal.clear();
        self.diagonal.extend(gram.iter().step_by(width + 1));
        let slots = self.fused.projection.num_slots();
        subtract_gram(
            simd,
            slots,
            self.right_hand_side.get(),
            self.system.get(),
            width,
            gram,
        );
        let mut diagonal = gram.iter().step_by(width + 1).zip(&self.diagonal);
        diagonal.all(|(after, before)| *after >= MIN_PROJECTED_FRACTION * before)
    }

    fn sum_groups(&mut self, sums: &PartialSums) {
        if !self.is_alone {
            sums.sum_groups(self.system.get_mut().as_flattened_mut());
        }
    }

    /// Projects the local gradient of a tile, after [`Self::solve_gradient`].
    #[inline(always)]
    pub(super) fn project_gradient(&mut self, tile: usize, gradient: &mut [AlignedF32x16]) {
        let (simd, values) = (self.simd, &self.gradient_solution);
        match &self.fused.incidence {
            TileIncidence::Segments(segments) => {
                add_segments(simd, segments, tile, values, gradient);
            }
            incidence @ (TileIncidence::Pairs(_) | TileIncidence::Sparse { .. }) => {
                add_entries(simd, incidence, tile, values, gradient, &mut self.costs);
            }
        }
    }

    /// Writes the projected W of a tile, after [`Self::solve_parameters`].
    #[inline(always)]
    pub(super) fn project_parameters(
        &mut self,
        tile: usize,
        weights: &[AlignedF32x16],
        map: &TileAffine,
        w: &mut [AlignedF32x16],
    ) {
        let (simd, values) = (self.simd, &self.parameter_solution);
        match &self.fused.incidence {
            TileIncidence::Segments(segments) => {
                write_parameters(simd, segments, tile, values, weights, map, w);
            }
            incidence @ (TileIncidence::Pairs(_) | TileIncidence::Sparse { .. }) => {
                scaled_parameters(simd, weights, map, w);
                add_entries(simd, incidence, tile, values, w, &mut self.costs);
            }
        }
    }
}

dispatch_simd! {
    /// W + Aᵀ Y for a tile with segments.
    write_parameters = write_segment_parameters [] (
        segments: &TileSegments,
        tile: usize,
        values: &SlotValues,
        weights: &[AlignedF32x16],
        map: &TileAffine,
        w: &mut [AlignedF32x16],
    )
}

dispatch_simd! {
    /// Adds A V for a tile with segments.
    sum_segments = add_segment_sums [SCALED: bool] (
        segments: &TileSegments,
        tile: usize,
        vectors: &[AlignedF32x16],
        scales: &AlignedF32x16,
        sums: &mut SlotValues,
        costs: &mut [AlignedF32x8; F32_LANES],
    )
}

dispatch_simd! {
    /// The same with entries.
    sum_entries = add_entry_sums [SCALED: bool] (
        incidence: &TileIncidence,
        tile: usize,
        vectors: &[AlignedF32x16],
        scales: &AlignedF32x16,
        sums: &mut SlotValues,
        costs: &mut [AlignedF32x8; F32_LANES],
    )
}

dispatch_simd! {
    /// Adds Aᵀ Y to the vectors of a tile with segments.
    add_segments = add_segment_products [] (
        segments: &TileSegments,
        tile: usize,
        values: &SlotValues,
        vectors: &mut [AlignedF32x16],
    )
}

dispatch_simd! {
    /// The same with entries.
    add_entries = add_entry_products [] (
        incidence: &TileIncidence,
        tile: usize,
        values: &SlotValues,
        vectors: &mut [AlignedF32x16],
        costs: &mut [AlignedF32x8; F32_LANES],
    )
}
