//! The projection of component E in fused training. Tiles, blocks, groups, W and z are defined in
//! the header of [`super`].
//!
//! Predictions are linear in the parameters, P (W z) = (P W) z, so that the columns of W are
//! projected once per step instead of every prediction, with P = I − A⁺A for the equality
//! constraints A. The gradient with respect to W is P times that with respect to P W. Both take
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
//! * The Gram matrix of the projected parameters follows from that of W: WᵀP W = WᵀW − Sᵀ Y.
//!   Where little of W is left, the difference loses digits, and the matrix is computed by a pass
//!   over the projected parameters.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::kernel::{ROWS_PER_PANEL, TileBlock};
use super::tile_incidence::{
    BlockVectors, CHUNK, IncidenceScratch, SlotLayout, TileIncidence, add_products_to_gradient,
    add_sums, write_projected_parameters,
};
use super::worker_columns::{BlockPosition, PartialSums};
use crate::loss::NormalizingProjection;
use crate::problem::EqualityProjection;
use crate::simd::{AlignedF32x16, SimdToken, dispatch_lanes, dispatch_simd};

/// The fraction of a diagonal entry of WᵀW below which that of WᵀP W is not computed as a
/// difference. Sums in single precision have relative errors of about 1e-7, the difference then
/// about 1e-5. In the benchmarks of `benches/equality.rs` the fraction is above 0.3 at all steps.
const MIN_PROJECTED_FRACTION: f64 = 0.01;

/// The projection of the parameters of a linear predictor.
pub(super) struct FusedProjection<'a> {
    projection: &'a EqualityProjection,
    incidence: TileIncidence,
}

impl<'a> FusedProjection<'a> {
    /// The projection of parameters for this number of costs; `None` where some of them are
    /// absent.
    pub(super) fn new(projection: &'a NormalizingProjection, num_costs: usize) -> Option<Self> {
        let (projection, incidence) = projection.equalities()?;
        Some(Self {
            projection,
            incidence: TileIncidence::new(incidence, num_costs),
        })
    }

    fn layout(&self, width: usize) -> SlotLayout {
        self.incidence.layout(self.projection.num_slots(), width)
    }

    /// Storage for the sums of all groups, for `width` parameters per cost. A single worker needs
    /// none.
    pub(super) fn partial_sums(&self, workers: usize, groups: usize, width: usize) -> PartialSums {
        let groups = if workers == 1 { 0 } else { groups };
        PartialSums::new(groups, self.layout(width).num_values())
    }
}

/// Sums, solutions and scratch of one worker.
pub(super) struct ProjectionWorker<'a> {
    simd: SimdToken,
    fused: &'a FusedProjection<'a>,
    layout: SlotLayout,
    width: usize,
    /// Whether there are no other workers: the sums of groups are then added as they come.
    is_alone: bool,
    /// S of the current group.
    sums: Vec<f32>,
    /// S of all groups, then Y.
    system: Vec<f64>,
    /// S, where Y is in its place.
    right_hand_side: Vec<f64>,
    /// −Y of the parameters.
    parameter_solution: Vec<f32>,
    /// −Y of the gradient, then −(Y + Y′ C).
    gradient_solution: Vec<f32>,
    /// C, its rows padded to a multiple of eight.
    correction: Vec<f32>,
    /// The diagonal of the Gram matrix before the projection.
    diagonal: Vec<f64>,
    scratch: IncidenceScratch,
}

impl<'a> ProjectionWorker<'a> {
    /// One of `workers` workers; `solution` is that of the parameters, if it is known.
    pub(super) fn new(
        simd: SimdToken,
        fused: &'a FusedProjection<'a>,
        width: usize,
        workers: usize,
        solution: &[f32],
    ) -> Self {
        let layout = fused.layout(width);
        let mut parameter_solution = layout.zeros();
        if !solution.is_empty() {
            parameter_solution.copy_from_slice(solution);
        }
        Self {
            simd,
            fused,
            layout,
            width,
            is_alone: workers == 1,
            sums: layout.zeros(),
            system: vec![0.0; layout.num_values()],
            right_hand_side: vec![0.0; layout.num_values()],
            parameter_solution,
            gradient_solution: layout.zeros(),
            correction: vec![0.0; width * width.next_multiple_of(CHUNK)],
            diagonal: Vec::with_capacity(width),
            scratch: IncidenceScratch::new(width),
        }
    }

    /// −Y of the parameters.
    pub(super) fn into_parameter_solution(self) -> Vec<f32> {
        self.parameter_solution
    }

    /// Adds a block to the sums of its group, and stores these after the last block.
    pub(super) fn add_block(
        &mut self,
        block: &TileBlock<'_>,
        vectors: BlockVectors,
        sums: &PartialSums,
        position: BlockPosition,
    ) {
        let (incidence, layout) = (&self.fused.incidence, self.layout);
        add_block_sums(
            self.simd,
            incidence,
            layout,
            block,
            vectors,
            &mut self.sums,
            &mut self.scratch,
        );
        if !position.is_last_of_group {
            return;
        }
        if self.is_alone {
            if position.group == 0 {
                self.system.fill(0.0);
            }
            add_group(self.simd, layout, &self.sums, &mut self.system);
        } else {
            let values = layout.rows(&self.sums).flatten();
            sums.store(position.group, 0, values.map(|value| f64::from(*value)));
        }
        self.sums.fill(0.0);
    }

    /// Solves for Y of the gradient, given the sums of all groups, and adds the product of Y of the
    /// parameters and the correction of the normalization, interleaved as the kernel reads it.
    pub(super) fn solve_gradient(
        &mut self,
        sums: &PartialSums,
        interleaved_correction: &[[f32; ROWS_PER_PANEL]],
    ) {
        self.sum_groups(sums);
        let (simd, layout, width) = (self.simd, self.layout, self.width);
        let out = &mut self.gradient_solution;
        solve_system(simd, self.fused, layout, &mut self.system, out);
        let stride = width.next_multiple_of(CHUNK);
        for (i, columns) in interleaved_correction.chunks_exact(width).enumerate() {
            for (row, entries) in columns.iter().enumerate() {
                let row = &mut self.correction[row * stride..(row + 1) * stride];
                row[ROWS_PER_PANEL * i..][..ROWS_PER_PANEL].copy_from_slice(entries);
            }
        }
        let parameters = &self.parameter_solution;
        let incidence = &self.fused.incidence;
        add_corrected(simd, incidence, layout, parameters, &self.correction, out);
    }

    /// Solves for Y of the parameters, given the sums of all groups, and makes the Gram matrix of
    /// the parameters that of the projected ones. Returns whether it has enough digits.
    pub(super) fn solve_parameters(&mut self, sums: &PartialSums, gram: &mut [f64]) -> bool {
        self.sum_groups(sums);
        self.right_hand_side.copy_from_slice(&self.system);
        let (simd, width) = (self.simd, self.width);
        let solution = &mut self.parameter_solution;
        solve_system(simd, self.fused, self.layout, &mut self.system, solution);
        self.diagonal.clear();
        self.diagonal.extend(gram.iter().step_by(width + 1));
        subtract_gram(
            simd,
            &self.fused.incidence,
            width,
            self.layout.row_length,
            &self.right_hand_side,
            &self.system,
            gram,
        );
        let mut diagonal = gram.iter().step_by(width + 1).zip(&self.diagonal);
        diagonal.all(|(after, before)| *after >= MIN_PROJECTED_FRACTION * before)
    }

    fn sum_groups(&mut self, sums: &PartialSums) {
        if !self.is_alone {
            sums.sum_groups(&mut self.system);
        }
    }

    /// Projects the local gradient of a block, after [`Self::solve_gradient`].
    pub(super) fn project_gradient(&mut self, block: &mut TileBlock<'_>) {
        project_gradient(
            self.simd,
            &self.fused.incidence,
            self.layout,
            &self.gradient_solution,
            block,
            &mut self.scratch,
        );
    }

    /// Writes the projected parameters of a block, after [`Self::solve_parameters`].
    pub(super) fn project_parameters(
        &mut self,
        block: &TileBlock<'_>,
        out: &mut Vec<AlignedF32x16>,
    ) {
        out.resize(block.num_tiles() * self.width, AlignedF32x16::ZERO);
        project_parameters(
            self.simd,
            &self.fused.incidence,
            self.layout,
            &self.parameter_solution,
            block,
            &mut self.scratch,
            out,
        );
    }
}

dispatch_lanes! {
    /// Adds A V for a block.
    add_block_sums = add_sums (
        incidence: &TileIncidence,
        layout: SlotLayout,
        block: &TileBlock<'_>,
        vectors: BlockVectors,
        sums: &mut [f32],
        scratch: &mut IncidenceScratch,
    )
}

dispatch_simd! {
    /// Adds the sums of a group to those of all.
    add_group = add_group_body [] (layout: SlotLayout, sums: &[f32], system: &mut [f64])
}

dispatch_simd! {
    /// Solves A Aᵀ Y = S in place, and writes −Y.
    solve_system = solve_system_body [] (
        fused: &FusedProjection<'_>,
        layout: SlotLayout,
        system: &mut [f64],
        negated: &mut [f32],
    )
}

dispatch_simd! {
    /// Adds Y C.
    add_corrected = add_corrected_body [] (
        incidence: &TileIncidence,
        layout: SlotLayout,
        solution: &[f32],
        correction: &[f32],
        out: &mut [f32],
    )
}

dispatch_simd! {
    /// Subtracts Sᵀ Y, which is symmetric.
    subtract_gram = subtract_gram_body [] (
        incidence: &TileIncidence,
        width: usize,
        row_length: usize,
        sums: &[f64],
        solution: &[f64],
        gram: &mut [f64],
    )
}

dispatch_lanes! {
    /// Adds Aᵀ V to the local gradient of a block.
    project_gradient = add_products_to_gradient (
        incidence: &TileIncidence,
        layout: SlotLayout,
        values: &[f32],
        block: &mut TileBlock<'_>,
        scratch: &mut IncidenceScratch,
    )
}

dispatch_lanes! {
    /// Writes W + Aᵀ V for a block.
    project_parameters = write_projected_parameters (
        incidence: &TileIncidence,
        layout: SlotLayout,
        values: &[f32],
        block: &TileBlock<'_>,
        scratch: &mut IncidenceScratch,
        out: &mut [AlignedF32x16],
    )
}

#[inline(always)]
fn add_group_body(_: SimdToken, layout: SlotLayout, sums: &[f32], system: &mut [f64]) {
    let rows = system.chunks_exact_mut(layout.row_length);
    for (system, sums) in rows.zip(layout.rows(sums)) {
        for (total, sum) in system.iter_mut().zip(sums) {
            *total += f64::from(*sum);
        }
    }
}

#[inline(always)]
fn solve_system_body(
    _: SimdToken,
    fused: &FusedProjection<'_>,
    layout: SlotLayout,
    system: &mut [f64],
    negated: &mut [f32],
) {
    let rows = system.chunks_exact_mut(layout.row_length);
    for (row, negated) in rows.zip(layout.rows_mut(negated)) {
        match &fused.incidence {
            TileIncidence::Runs(_) => fused.projection.solve::<1>(row.as_chunks_mut().0),
            TileIncidence::Pairs(_) | TileIncidence::Sparse { .. } => {
                fused.projection.solve::<CHUNK>(row.as_chunks_mut().0);
            }
        }
        for (negated, value) in negated.iter_mut().zip(row) {
            *negated = -*value as f32;
        }
    }
}

#[inline(always)]
fn add_corrected_body(
    simd: SimdToken,
    incidence: &TileIncidence,
    layout: SlotLayout,
    solution: &[f32],
    correction: &[f32],
    out: &mut [f32],
) {
    if let TileIncidence::Runs(_) = incidence {
        let stride = layout.rows.next_multiple_of(CHUNK);
        for (q, out) in layout.padded_rows_mut(out).enumerate() {
            for (i, out) in out.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
                let mut sum = simd.load_f32x8(out);
                for (row, entries) in layout.padded_rows(solution).zip(correction.chunks(stride)) {
                    let value = simd.load_f32x8(&row.as_chunks().0[i]);
                    sum = value.mul_add(simd.splat_f32x8(entries[q]), sum);
                }
                sum.store(out);
            }
        }
        return;
    }
    let stride = CHUNK * layout.rows;
    for (chunk, out) in layout.padded_rows_mut(out).enumerate() {
        for (slot, out) in out.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
            let mut sum = simd.load_f32x8(out);
            let rows = layout.padded_rows(solution);
            for (row, correction) in rows.zip(correction.chunks(CHUNK * stride)) {
                let values = &row.as_chunks::<CHUNK>().0[slot];
                for (value, entries) in values.iter().zip(correction.chunks_exact(stride)) {
                    let entries = simd.load_f32x8(&entries.as_chunks().0[chunk]);
                    sum = simd.splat_f32x8(*value).mul_add(entries, sum);
                }
            }
            sum.store(out);
        }
    }
}

#[inline(always)]
fn subtract_gram_body(
    _: SimdToken,
    incidence: &TileIncidence,
    width: usize,
    row_length: usize,
    sums: &[f64],
    solution: &[f64],
    gram: &mut [f64],
) {
    for a in 0..width {
        if let TileIncidence::Runs(_) = incidence {
            let sums = &sums[a * row_length..(a + 1) * row_length];
            let rows = solution.chunks_exact(row_length).enumerate();
            for (b, solution) in rows.skip(a) {
                gram[a * width + b] -= dot(sums, solution);
                gram[b * width + a] = gram[a * width + b];
            }
            continue;
        }
        let sums = sums[a / CHUNK * row_length..][..row_length].as_chunks::<CHUNK>();
        let rows = solution.chunks_exact(row_length).enumerate();
        for (chunk, solution) in rows.skip(a / CHUNK) {
            let mut products = [0.0; CHUNK];
            for (sums, values) in sums.0.iter().zip(solution.as_chunks::<CHUNK>().0) {
                let factor = sums[a % CHUNK];
                for lane in 0..CHUNK {
                    products[lane] = factor.mul_add(values[lane], products[lane]);
                }
            }
            let first = chunk * CHUNK;
            for b in a.max(first)..width.min(first + CHUNK) {
                gram[a * width + b] -= products[b - first];
                gram[b * width + a] = gram[a * width + b];
            }
        }
    }
}

/// The inner product.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, a_rest) = a.as_chunks::<CHUNK>();
    let (b_chunks, b_rest) = b.as_chunks::<CHUNK>();
    let mut products = [0.0; CHUNK];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..CHUNK {
            products[lane] = a[lane].mul_add(b[lane], products[lane]);
        }
    }
    let mut rest = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += a * b;
    }
    for product in products {
        rest += product;
    }
    rest
}
