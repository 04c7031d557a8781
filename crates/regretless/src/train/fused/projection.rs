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
    /// At most two rows per cost, as for arcs of a network.
    Pairs(Vec<[IncidenceEntry; 2]>),
    /// Any number of rows.
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
    slot: u32,
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
                        let (slot, factor) = (slot as u32, factor as f32);
                        entries.push(IncidenceEntry { slot, factor });
                    }
                    starts.push(entries.len());
                }
                if starts.windows(2).any(|range| range[1] - range[0] > 2) {
                    return Self::Sparse { starts, entries };
                }
                let none = IncidenceEntry {
                    slot: 0,
                    factor: 0.0,
                };
                let pair = |range: &[usize]| {
                    let entry = |i: usize| if i < range[1] { entries[i] } else { none };
                    [entry(range[0]), entry(range[0] + 1)]
                };
                Self::Pairs(starts.windows(2).map(pair).collect())
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

/// A chunk of a tile, by parameters and by costs. Parameters beyond the width of W are not written
/// to tiles, and have any values.
struct TransposedTile {
    parameters: [AlignedF32x16; CHUNK],
    costs: [AlignedF32x8; F32_LANES],
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
                costs: [AlignedF32x8::ZERO; F32_LANES],
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
            sums.store_vectors(group, &self.sums);
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
                for lane in 0..CHUNK {
                    system[lane] = f64::from(sum.0[lane]);
                }
            }
            self.sums.fill(AlignedF32x8::ZERO);
        }
        solve_system(simd, projection.projection, &mut self.system);
        for (solution, system) in self.solution.iter_mut().zip(&self.system) {
            for lane in 0..CHUNK {
                solution.0[lane] = system[lane] as f32;
            }
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
            let tile = block.first_tile + t;
            add_tile(simd, &projection.incidence, tile, &scratch.costs, sums);
        }
    }
}

/// Adds the costs of a tile to the sums of their rows.
#[inline(always)]
fn add_tile(
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    costs: &[AlignedF32x8; F32_LANES],
    sums: &mut [AlignedF32x8],
) {
    match incidence {
        TileIncidence::Segments { starts, segments } => {
            for segment in &segments[starts[tile]..starts[tile + 1]] {
                let costs = &costs[segment.lanes.clone()];
                let mut common = simd.load_f32x8(&sums[segment.common]);
                if let Some(first) = segment.first_own {
                    let own = &mut sums[first..first + costs.len()];
                    for i in 0..costs.len() {
                        let cost = simd.load_f32x8(&costs[i]);
                        common = common.add(cost);
                        simd.load_f32x8(&own[i]).add(cost).store(&mut own[i]);
                    }
                } else {
                    for i in 0..costs.len() {
                        common = common.add(simd.load_f32x8(&costs[i]));
                    }
                }
                common.store(&mut sums[segment.common]);
            }
        }
        TileIncidence::Pairs(pairs) => {
            let first = tile * F32_LANES;
            let pairs = &pairs[first..pairs.len().min(first + F32_LANES)];
            for i in 0..pairs.len() {
                let cost = simd.load_f32x8(&costs[i]);
                for entry in pairs[i] {
                    let sum = &mut sums[entry.slot as usize];
                    let factor = simd.splat_f32x8(entry.factor);
                    cost.mul_add(factor, simd.load_f32x8(sum)).store(sum);
                }
            }
        }
        TileIncidence::Sparse { starts, entries } => {
            let first = tile * F32_LANES;
            for i in 0..F32_LANES.min(starts.len() - 1 - first) {
                let cost = simd.load_f32x8(&costs[i]);
                for entry in &entries[starts[first + i]..starts[first + i + 1]] {
                    let sum = &mut sums[entry.slot as usize];
                    let factor = simd.splat_f32x8(entry.factor);
                    cost.mul_add(factor, simd.load_f32x8(sum)).store(sum);
                }
            }
        }
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
            write_products(
                simd,
                &projection.incidence,
                tile,
                solution,
                &mut scratch.costs,
            );
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
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    solution: &[AlignedF32x8],
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    let mut count = 0;
    match incidence {
        TileIncidence::Segments { starts, segments } => {
            for segment in &segments[starts[tile]..starts[tile + 1]] {
                let common = simd.load_f32x8(&solution[segment.common]);
                let costs = &mut costs[segment.lanes.clone()];
                if let Some(first) = segment.first_own {
                    let own = &solution[first..first + costs.len()];
                    for i in 0..costs.len() {
                        common.add(simd.load_f32x8(&own[i])).store(&mut costs[i]);
                    }
                } else {
                    for i in 0..costs.len() {
                        common.store(&mut costs[i]);
                    }
                }
                count = segment.lanes.end;
            }
        }
        TileIncidence::Pairs(pairs) => {
            let first = tile * F32_LANES;
            let pairs = &pairs[first..pairs.len().min(first + F32_LANES)];
            for i in 0..pairs.len() {
                let mut sum = simd.splat_f32x8(0.0);
                for entry in pairs[i] {
                    let value = simd.load_f32x8(&solution[entry.slot as usize]);
                    sum = value.mul_add(simd.splat_f32x8(entry.factor), sum);
                }
                sum.store(&mut costs[i]);
            }
            count = pairs.len();
        }
        TileIncidence::Sparse { starts, entries } => {
            let first = tile * F32_LANES;
            count = F32_LANES.min(starts.len() - 1 - first);
            for i in 0..count {
                let mut sum = simd.splat_f32x8(0.0);
                for entry in &entries[starts[first + i]..starts[first + i + 1]] {
                    let value = simd.load_f32x8(&solution[entry.slot as usize]);
                    sum = value.mul_add(simd.splat_f32x8(entry.factor), sum);
                }
                sum.store(&mut costs[i]);
            }
        }
    }
    costs[count..].fill(AlignedF32x8::ZERO);
}
