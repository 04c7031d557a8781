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
//! S needs all costs, hence a barrier of all workers before Y. Tiles have one vector of sixteen
//! costs per parameter; for sums over costs they are transposed to one vector of parameters per
//! cost, eight parameters (a chunk) at a time.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use std::ops::Range;

use super::kernel::TileBlock;
use super::tile_values;
use super::worker_columns::PartialSums;
use crate::loss::NormalizingProjection;
use crate::problem::{EqualityProjection, Incidence, ProjectionScratch, VariableRun};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, SimdToken, dispatch_simd};

/// Parameters that are summed together.
const CHUNK: usize = 8;

/// The projection, and the projected offset of the cost scaler.
pub(super) struct FusedProjection<'a> {
    projection: &'a EqualityProjection,
    incidence: TileIncidence,
    /// Per tile.
    offsets: Vec<AlignedF32x16>,
}

/// Which rows of A each cost is in; the sums of a row are in its slot.
enum TileIncidence {
    /// Factors of 1.
    Segments {
        /// The first segment of each tile, then the number of all.
        starts: Vec<usize>,
        segments: Vec<TileSegment>,
    },
    /// Any factors.
    Sparse {
        /// The first entry of each cost, then the number of all.
        starts: Vec<usize>,
        entries: Vec<IncidenceEntry>,
    },
}

/// Consecutive costs of a tile that have a row in common.
struct TileSegment {
    lanes: Range<usize>,
    common: usize,
    /// The slot of the second row of the first cost; those of the others follow.
    first_own: Option<usize>,
}

#[derive(Clone, Copy)]
struct IncidenceEntry {
    slot: usize,
    factor: f32,
}

impl TileIncidence {
    fn new(incidence: &Incidence, num_costs: usize) -> Self {
        match incidence {
            Incidence::Runs(runs) => Self::of_runs(runs, num_costs),
            Incidence::Sparse(sparse) => {
                let (mut starts, mut entries) = (vec![0], Vec::new());
                for cost in 0..num_costs {
                    for (slot, factor) in sparse.entries(cost) {
                        let factor = factor as f32;
                        entries.push(IncidenceEntry { slot, factor });
                    }
                    starts.push(entries.len());
                }
                Self::Sparse { starts, entries }
            }
        }
    }

    fn of_runs(runs: &[VariableRun], num_costs: usize) -> Self {
        let (mut starts, mut segments) = (vec![0], Vec::new());
        let mut first_run = 0;
        for first in (0..num_costs).step_by(F32_LANES) {
            let end = num_costs.min(first + F32_LANES);
            for run in &runs[first_run..] {
                let (from, to) = (run.variables.start.max(first), run.variables.end.min(end));
                if run.variables.start >= end {
                    break;
                }
                if from < to {
                    segments.push(TileSegment {
                        lanes: from - first..to - first,
                        common: run.common,
                        first_own: run.first_own.map(|own| own + from - run.variables.start),
                    });
                }
                // The last run may continue in the next tile.
                first_run += usize::from(run.variables.end <= end);
            }
            starts.push(segments.len());
        }
        Self::Segments { starts, segments }
    }
}

impl<'a> FusedProjection<'a> {
    /// The projection of parameters whose outputs have these offsets; `None` where some costs are
    /// absent.
    pub(super) fn new(projection: &'a NormalizingProjection, offset: &[f64]) -> Option<Self> {
        let mut offset = offset.to_vec();
        let num_costs = offset.len();
        let (equalities, incidence) = projection.equalities()?;
        projection.project(&mut offset, &mut ProjectionScratch::default());
        let tiles = 0..num_costs.div_ceil(F32_LANES);
        Some(Self {
            projection: equalities,
            incidence: TileIncidence::new(incidence, num_costs),
            offsets: tiles
                .map(|tile| tile_values(tile, num_costs, |j| offset[j]))
                .collect(),
        })
    }

    /// Numbers of the sums S, for `width` parameters per cost.
    pub(super) fn num_sums(&self, width: usize) -> usize {
        self.projection.num_slots() * CHUNK * width.div_ceil(CHUNK)
    }
}

/// One worker's sums and solution.
pub(super) struct ProjectionWorker {
    /// S of the current group: for each chunk of parameters, one vector per slot.
    sums: Vec<AlignedF32x8>,
    /// S of all groups, then Y.
    system: Vec<[f64; CHUNK]>,
    /// Y, ordered as the sums.
    solution: Vec<AlignedF32x8>,
    scratch: TransposedTile,
}

/// A chunk of a tile: by parameters, and by costs in the first eight lanes. Parameters beyond the
/// width of W are not written to tiles, and have any values.
struct TransposedTile {
    parameters: [AlignedF32x16; CHUNK],
    costs: [AlignedF32x16; F32_LANES],
}

/// Which vectors of a block are projected.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockVectors {
    /// The local gradient, in place.
    Gradient,
    /// Parameters as they act on features, to the projected parameters.
    Parameters,
}

impl ProjectionWorker {
    pub(super) fn new(projection: &FusedProjection<'_>, width: usize) -> Self {
        let vectors = projection.num_sums(width) / CHUNK;
        Self {
            sums: vec![AlignedF32x8::ZERO; vectors],
            system: vec![[0.0; CHUNK]; vectors],
            solution: vec![AlignedF32x8::ZERO; vectors],
            scratch: TransposedTile {
                parameters: [AlignedF32x16::ZERO; CHUNK],
                costs: [AlignedF32x16::ZERO; F32_LANES],
            },
        }
    }

    /// Adds a block to the sums.
    pub(super) fn add_block(
        &mut self,
        simd: SimdToken,
        projection: &FusedProjection<'_>,
        block: &TileBlock<'_>,
        vectors: BlockVectors,
    ) {
        let (sums, scratch) = (&mut self.sums, &mut self.scratch);
        add_sums(simd, projection, block, vectors, sums, scratch);
    }

    /// Stores the sums of a group and clears them for the next. The sums of a single group stay
    /// with its only worker.
    pub(super) fn store_group_sums(&mut self, sums: &PartialSums, group: usize) {
        if sums.num_groups() > 1 {
            let values = self.sums.iter().flat_map(|sum| sum.0).map(f64::from);
            sums.store(group, 0, values);
            self.sums.fill(AlignedF32x8::ZERO);
        }
    }

    /// Solves for Y, given the sums of all groups.
    pub(super) fn solve(
        &mut self,
        simd: SimdToken,
        projection: &FusedProjection<'_>,
        sums: &PartialSums,
    ) {
        if sums.num_groups() > 1 {
            sums.sum_groups(self.system.as_flattened_mut());
        } else {
            for (system, sum) in self.system.iter_mut().zip(&self.sums) {
                *system = sum.0.map(f64::from);
            }
            self.sums.fill(AlignedF32x8::ZERO);
        }
        solve_system(simd, projection.projection, &mut self.system);
        for (solution, system) in self.solution.iter_mut().zip(&self.system) {
            solution.0 = system.map(|value| value as f32);
        }
    }

    /// Projects a block, after Y is known.
    pub(super) fn project_block(
        &mut self,
        simd: SimdToken,
        projection: &FusedProjection<'_>,
        block: &mut TileBlock<'_>,
        vectors: BlockVectors,
    ) {
        let (solution, scratch) = (&self.solution, &mut self.scratch);
        subtract(simd, projection, block, vectors, solution, scratch);
    }
}

dispatch_simd! {
    /// Adds A V for a block.
    add_sums = add_sums_body [] (
        projection: &FusedProjection<'_>,
        block: &TileBlock<'_>,
        vectors: BlockVectors,
        sums: &mut [AlignedF32x8],
        scratch: &mut TransposedTile,
    )
}

dispatch_simd! {
    /// V − Aᵀ Y for a block.
    subtract = subtract_body [] (
        projection: &FusedProjection<'_>,
        block: &mut TileBlock<'_>,
        vectors: BlockVectors,
        solution: &[AlignedF32x8],
        scratch: &mut TransposedTile,
    )
}

dispatch_simd! {
    /// Solves A Aᵀ Y = S for all chunks.
    solve_system = solve_system_body [] (
        projection: &EqualityProjection,
        system: &mut [[f64; CHUNK]],
    )
}

#[inline(always)]
fn solve_system_body(_: SimdToken, projection: &EqualityProjection, system: &mut [[f64; CHUNK]]) {
    for chunk in system.chunks_exact_mut(projection.num_slots()) {
        projection.solve(chunk);
    }
}

#[inline(always)]
fn add_sums_body(
    simd: SimdToken,
    projection: &FusedProjection<'_>,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [AlignedF32x8],
    scratch: &mut TransposedTile,
) {
    let (width, slots) = (block.width(), projection.projection.num_slots());
    let tiles = block.tiles.chunks_exact(2 * width);
    for (t, (tile, map)) in tiles.zip(block.output_maps).enumerate() {
        let (weights, gradient) = tile.split_at(width);
        let scale = simd.load(&map.scale.0);
        for (chunk, sums) in sums.chunks_exact_mut(slots).enumerate() {
            let range = chunk * CHUNK..width.min((chunk + 1) * CHUNK);
            match vectors {
                BlockVectors::Gradient => {
                    for (out, vector) in scratch.parameters.iter_mut().zip(&gradient[range]) {
                        simd.load(&vector.0).store(out);
                    }
                }
                BlockVectors::Parameters => {
                    for (out, vector) in scratch.parameters.iter_mut().zip(&weights[range]) {
                        scale.mul(simd.load(&vector.0)).store(out);
                    }
                }
            }
            simd.transpose_to_rows(&scratch.parameters, &mut scratch.costs);
            add_tile(
                &projection.incidence,
                block.first_tile + t,
                &scratch.costs,
                sums,
            );
        }
    }
}

/// Adds the costs of a tile to the sums of their rows.
#[inline(always)]
fn add_tile(
    incidence: &TileIncidence,
    tile: usize,
    costs: &[AlignedF32x16; F32_LANES],
    sums: &mut [AlignedF32x8],
) {
    match incidence {
        TileIncidence::Segments { starts, segments } => {
            for segment in &segments[starts[tile]..starts[tile + 1]] {
                let costs = &costs[segment.lanes.clone()];
                let mut common = sums[segment.common];
                match segment.first_own {
                    Some(first) => {
                        for (cost, own) in costs.iter().zip(&mut sums[first..]) {
                            add(&mut common, cost, 1.0);
                            add(own, cost, 1.0);
                        }
                    }
                    None => {
                        for cost in costs {
                            add(&mut common, cost, 1.0);
                        }
                    }
                }
                sums[segment.common] = common;
            }
        }
        TileIncidence::Sparse { starts, entries } => {
            let starts = &starts[tile * F32_LANES..];
            for (cost, range) in costs.iter().zip(starts.windows(2)) {
                for entry in &entries[range[0]..range[1]] {
                    add(&mut sums[entry.slot], cost, entry.factor);
                }
            }
        }
    }
}

/// Adds the first eight lanes times a factor.
#[inline(always)]
fn add(sum: &mut AlignedF32x8, cost: &AlignedF32x16, factor: f32) {
    for lane in 0..CHUNK {
        sum.0[lane] += factor * cost.0[lane];
    }
}

#[inline(always)]
fn subtract_body(
    simd: SimdToken,
    projection: &FusedProjection<'_>,
    block: &mut TileBlock<'_>,
    vectors: BlockVectors,
    solution: &[AlignedF32x8],
    scratch: &mut TransposedTile,
) {
    let (width, slots) = (block.width(), projection.projection.num_slots());
    let tiles = block.tiles.chunks_exact_mut(2 * width);
    let tiles = tiles.zip(block.projected.chunks_exact_mut(width));
    for (t, ((tile, projected), map)) in tiles.zip(block.output_maps).enumerate() {
        let (weights, gradient) = tile.split_at_mut(width);
        let (tile, scale) = (block.first_tile + t, simd.load(&map.scale.0));
        for (chunk, solution) in solution.chunks_exact(slots).enumerate() {
            write_products(&projection.incidence, tile, solution, &mut scratch.costs);
            simd.transpose_to_vectors(&scratch.costs, &mut scratch.parameters);
            let range = chunk * CHUNK..width.min((chunk + 1) * CHUNK);
            match vectors {
                BlockVectors::Gradient => {
                    for (vector, product) in gradient[range].iter_mut().zip(&scratch.parameters) {
                        let product = simd.load(&product.0);
                        simd.load(&vector.0).sub(product).store(vector);
                    }
                }
                BlockVectors::Parameters => {
                    let parameters = weights[range.clone()].iter().zip(&mut projected[range]);
                    for ((weight, out), product) in parameters.zip(&scratch.parameters) {
                        let scaled = scale.mul(simd.load(&weight.0));
                        scaled.sub(simd.load(&product.0)).store(out);
                    }
                }
            }
        }
        if let (BlockVectors::Parameters, Some(bias)) = (vectors, projected.last_mut()) {
            let offset = simd.load(&projection.offsets[tile].0);
            simd.load(&bias.0).add(offset).store(bias);
        }
    }
}

/// Aᵀ Y for the costs of a tile; 0 beyond the last cost.
#[inline(always)]
fn write_products(
    incidence: &TileIncidence,
    tile: usize,
    solution: &[AlignedF32x8],
    costs: &mut [AlignedF32x16; F32_LANES],
) {
    match incidence {
        TileIncidence::Segments { starts, segments } => {
            let mut end = 0;
            for segment in &segments[starts[tile]..starts[tile + 1]] {
                let common = solution[segment.common];
                let costs = &mut costs[segment.lanes.clone()];
                match segment.first_own {
                    Some(first) => {
                        for (cost, own) in costs.iter_mut().zip(&solution[first..]) {
                            for lane in 0..CHUNK {
                                cost.0[lane] = common.0[lane] + own.0[lane];
                            }
                        }
                    }
                    None => {
                        for cost in costs {
                            cost.0[..CHUNK].copy_from_slice(&common.0);
                        }
                    }
                }
                end = segment.lanes.end;
            }
            costs[end..].fill(AlignedF32x16::ZERO);
        }
        TileIncidence::Sparse { starts, entries } => {
            costs.fill(AlignedF32x16::ZERO);
            let starts = &starts[tile * F32_LANES..];
            for (cost, range) in costs.iter_mut().zip(starts.windows(2)) {
                for entry in &entries[range[0]..range[1]] {
                    for lane in 0..CHUNK {
                        cost.0[lane] += entry.factor * solution[entry.slot].0[lane];
                    }
                }
            }
        }
    }
}
