//! Epochs of fused training, on as many threads as the work is worth; rows are judged in the same
//! go.

use std::sync::atomic::{AtomicBool, Ordering};

use super::adam::AdamCoefficients;
use super::barrier::Barrier;
use super::column_block::{BlockPosition, ColumnBlock, PartialSums};
use super::expanded_squares;
use super::kernel::{self, ROWS_PER_QUAD, RowBatch, RowSums, TileBlock, TileScratch};
use super::row_constants::{NormalizationCorrection, PredictionNorm, RowCoefficients};
use super::slope::{ErrorMask, dispatch_loss_kind};
use super::tiled_targets::BatchPlan;
use super::{EpochRunner, FusedContext, FusedLinear, FusedState, not_finite, store};
use crate::error::{Error, Result};
use crate::parallel::Threads;
use crate::predict::Network;
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, F64_LANES};
use crate::train::epoch_runner::EpochResult;
use crate::train::epoch_runner::TrainerState;
use crate::train::optimizer::Moments;

/// Numbers per step below which one thread is faster than several that wait for each other.
const MIN_PARALLEL_VALUES: usize = 40_000;
/// Rows judged at a time outside training.
const EVALUATION_ROWS_PER_CHUNK: usize = 32;
/// Tiles of a block of pass A, whose costs are asked for while the block before is judged; of pass
/// B, and of a block that runs a whole epoch by itself.
const PASS_A_TILES: usize = 12;
const PASS_B_TILES: usize = 16;
const SEPARABLE_TILES: usize = 16;

impl FusedContext<'_> {
    fn workers(&self, rows: usize) -> usize {
        self.workers_for(rows * self.num_costs())
            .min(self.groups.len())
    }

    /// Threads that so many numbers per step are worth.
    pub(super) fn workers_for(&self, numbers: usize) -> usize {
        if numbers >= MIN_PARALLEL_VALUES {
            self.prepared.task.oracle.threads().count()
        } else {
            1
        }
    }

    /// Threads for so many workers.
    pub(super) fn threads(&self, workers: usize) -> Threads {
        if workers == 1 {
            Threads::single_threaded()
        } else {
            self.prepared.task.oracle.threads().clone()
        }
    }

    pub(super) fn interrupted(&self) -> bool {
        self.prepared.task.observer.interrupted()
    }

    /// Numbers of all steps of a plan, all lengths by this Gram matrix.
    fn numbers(&self, plan: &BatchPlan<'_>, gram: &[f64]) -> RowCoefficients {
        let (mut numbers, mut norms, mut norm_sums) =
            (RowCoefficients::default(), Vec::new(), Vec::new());
        for step in 0..plan.steps() {
            self.row_constants.prediction_norms(
                self.simd,
                plan.rows(step),
                gram,
                (&mut norms, &mut norm_sums),
            );
            numbers.push(&self.row_constants, plan.rows(step), &norms);
        }
        numbers
    }

    /// Products of the features of each step's rows; none unless squares are multiplied out.
    fn products(&self, plan: &BatchPlan<'_>) -> Vec<NormalizationCorrection> {
        let products = |step: usize| {
            let (rows, mut out) = (plan.rows(step), NormalizationCorrection::default());
            let factor = |row: &usize| {
                (
                    *row,
                    self.row_constants.backward_coefficient(
                        *row,
                        rows.len(),
                        PredictionNorm::UNNORMALIZED,
                    ),
                )
            };
            self.row_constants
                .products(self.simd, rows.iter().map(factor), &mut out);
            out
        };
        (0..plan.steps()).map(products).collect()
    }
}

/// One worker's room.
struct WorkerScratch {
    tile: TileScratch,
    /// Sums of rows over the blocks of a group, in double precision: errors, then errors times
    /// costs.
    totals: Vec<[f64; F64_LANES]>,
    expanded: expanded_squares::ExpandedScratch,
}

impl WorkerScratch {
    fn new(setup: &FusedContext<'_>, quads: usize, totals: usize) -> Self {
        let (width, totals) = (setup.width(), vec![[0.0; F64_LANES]; totals]);
        Self {
            tile: TileScratch::new(width, quads),
            totals,
            expanded: expanded_squares::ExpandedScratch::new(width),
        }
    }

    /// Adds the errors of so many rows of a block to their totals.
    fn add_losses(&mut self, place: usize, rows: usize) {
        let sums = self.tile.sums.as_flattened();
        self.totals[place..]
            .iter_mut()
            .zip(sums)
            .take(rows)
            .for_each(|(total, sum)| sum.loss.add_to(total));
    }

    /// Adds what the way back needs; comes after the errors of `batch` rows.
    fn add_projections(&mut self, batch: usize, rows: usize) {
        let sums = self.tile.sums.as_flattened();
        self.totals[batch..]
            .iter_mut()
            .zip(sums)
            .take(rows)
            .for_each(|(total, sum)| sum.projection.add_to(total));
    }

    /// Leaves the totals of a group and begins the next.
    fn store_group_sums(&mut self, slots: &PartialSums, group: usize) {
        slots.store(
            group,
            0,
            self.totals.iter().map(|[a, b, c, d]| (a + b) + (c + d)),
        );
        self.totals.fill([0.0; F64_LANES]);
    }

    /// Judges rows by a block; their totals begin at a place.
    fn evaluate(
        &mut self,
        setup: &FusedContext<'_>,
        (at, block): (BlockPosition, &mut TileBlock<'_>),
        rows: (&BatchPlan<'_>, &RowCoefficients),
        place: usize,
    ) {
        let (plan, numbers) = rows;
        for step in 0..plan.steps() {
            let targets = plan.step_targets(step, at.tail);
            let mut batch = numbers.batch(
                step * EVALUATION_ROWS_PER_CHUNK / ROWS_PER_QUAD,
                targets,
                setup.width(),
            );
            batch.prefetch_targets = plan.step_targets(step + 1, at.tail);
            self.tile.sums.fill([RowSums::ZERO; ROWS_PER_QUAD]);
            dispatch_loss_kind!(
                setup.kind,
                kernel::pass_loss,
                setup.simd,
                block,
                &batch,
                &mut self.tile
            );
            self.add_losses(
                place + step * EVALUATION_ROWS_PER_CHUNK,
                plan.rows(step).len(),
            );
        }
    }
}

impl FusedState {
    /// Cuts the parameters into shares of whole groups and runs `work` on each, all at once.
    fn run_on_column_blocks(
        &mut self,
        setup: &FusedContext<'_>,
        workers: usize,
        work: impl Fn(usize, &mut ColumnBlock<'_>) + Sync + Send,
    ) {
        let (count, lanes) = (setup.groups.len(), 2 * setup.width());
        let (mut tiles, mut moments) = (self.tiles.as_mut_slice(), self.moments.as_mut_slice());
        let mut shares = Vec::with_capacity(workers);
        for worker in 0..workers {
            let groups = worker * count / workers..(worker + 1) * count / workers;
            let whole = setup.groups[groups.end - 1].end - setup.groups[groups.start].start;
            let size = if worker + 1 == workers {
                tiles.len()
            } else {
                whole * lanes
            };
            let (own_tiles, own_moments);
            (own_tiles, tiles) = tiles.split_at_mut(size);
            (own_moments, moments) = moments.split_at_mut(size);
            shares.push(ColumnBlock {
                groups,
                tiles: own_tiles,
                moments: own_moments,
            });
        }
        setup.threads(workers).run_on_each(shares, work);
    }

    /// Finds the Gram matrix of the present parameters.
    pub(super) fn compute_gram(&mut self, setup: &FusedContext<'_>) {
        let (groups, width) = (setup.groups.len(), setup.width());
        let slots = PartialSums::new(groups, width * width);
        self.run_on_column_blocks(setup, 1, |_, share| {
            let mut scratch = TileScratch::new(width, 0);
            share.blocks(setup, PASS_B_TILES, |place, block| {
                kernel::pass_gram(setup.simd, block, &mut scratch);
                store_group_gram(&mut scratch, &slots, place);
            });
        });
        self.gram = vec![0.0; width * width];
        slots.sum_groups(&mut self.gram);
    }

    /// An epoch without normalisation: no cost knows of another, and each block runs through all
    /// steps and judges while it is in cache. Returns the sums of all rows trained on, each at its
    /// own step, or of all steps where squares are multiplied out; then those of the rows judged.
    fn epoch_separable(
        &mut self,
        setup: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        evaluated_rows: &BatchPlan<'_>,
    ) -> Result<Vec<f64>> {
        let squares = self.uses_expanded_squares(setup);
        let trained = if squares { plan.steps() } else { plan.len() };
        let all = trained + evaluated_rows.len();
        let products = if squares {
            setup.products(plan)
        } else {
            Vec::new()
        };
        let slots = PartialSums::new(setup.groups.len(), all);
        let stop = AtomicBool::new(false);
        let numbers = (setup.numbers(plan, &[]), setup.numbers(evaluated_rows, &[]));
        let steps: Vec<AdamCoefficients> = (1..=plan.steps())
            .map(|step| setup.adam(self.steps + step as i32))
            .collect();
        let workers = setup.workers(plan.batch().max(evaluated_rows.len()));
        self.run_on_column_blocks(setup, workers, |_, share| {
            let mut scratch =
                WorkerScratch::new(setup, plan.max_quads().max(evaluated_rows.max_quads()), all);
            share.blocks(
                setup,
                if squares {
                    expanded_squares::TILES_PER_BLOCK
                } else {
                    SEPARABLE_TILES
                },
                |place, block| {
                    if stop.load(Ordering::Relaxed) || setup.interrupted() {
                        return stop.store(true, Ordering::Relaxed);
                    }
                    for (step, adam) in steps.iter().enumerate() {
                        let rows = (plan, &numbers.0, step);
                        match products.get(step) {
                            Some(products) => scratch.step_expanded(
                                setup,
                                (place, &mut *block),
                                rows,
                                (products, adam),
                            ),
                            None => scratch.step(setup, (place, &mut *block), rows, adam),
                        }
                    }
                    scratch.evaluate(setup, (place, block), (evaluated_rows, &numbers.1), trained);
                    if place.last {
                        scratch.store_group_sums(&slots, place.group);
                    }
                },
            );
        });
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        self.steps += plan.steps() as i32;
        let mut sums = vec![0.0; all];
        slots.sum_groups(&mut sums);
        Ok(sums)
    }

    /// Whether squares are multiplied out.
    fn uses_expanded_squares(&self, setup: &FusedContext<'_>) -> bool {
        self.resolved && setup.squares.is_some()
    }

    /// An epoch with normalisation: two passes a step, all workers meeting after each.
    fn epoch_normalized(
        &mut self,
        setup: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        evaluated_rows: &BatchPlan<'_>,
    ) -> Result<Vec<f64>> {
        let workers = setup.workers(plan.batch().max(evaluated_rows.len()));
        let meeting = ParallelEpoch::new(
            setup,
            workers,
            (plan, evaluated_rows),
            (self.gram.clone(), self.steps),
        );
        self.run_on_column_blocks(setup, workers, |worker, share| {
            meeting.run_worker(worker, share, setup)
        });
        self.steps += plan.steps() as i32;
        if plan.steps() > 0 {
            meeting.grams.sum_groups(&mut self.gram);
        }
        let mut sums = vec![0.0; plan.len()];
        meeting.losses.sum_groups(&mut sums);
        if meeting.stop.load(Ordering::Relaxed) && sums.iter().all(|sum| sum.is_finite()) {
            return Err(Error::Interrupted);
        }
        let mut evaluation_sums = vec![0.0; evaluated_rows.len()];
        meeting.evaluation_sums.sum_groups(&mut evaluation_sums);
        sums.append(&mut evaluation_sums);
        Ok(sums)
    }
}

impl FusedLinear<'_> {
    /// Names the first row whose loss is not a number, and the output to blame where there is one.
    fn not_finite(&self, epoch: usize, row: usize) -> Error {
        let (z, width) = (self.setup.row_constants.features(row), self.setup.width());
        let finite = |j: usize| {
            let tile = &self.state.tiles[j / F32_LANES * 2 * width..][..width];
            tile.iter()
                .zip(z)
                .map(|(lane, z)| lane.0[j % F32_LANES] * *z as f32)
                .sum::<f32>()
                .is_finite()
        };
        not_finite(
            (epoch, row),
            (0..self.setup.num_costs()).find(|j| !finite(*j)),
        )
    }

    fn check(&self, epoch: usize, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>> {
        let value = |(row, sum): (&usize, &f64)| {
            let value = self.setup.row_constants.loss(*row, *sum);
            if value.is_finite() {
                Ok(value)
            } else {
                Err(self.not_finite(epoch, *row))
            }
        };
        rows.iter().zip(sums).map(value).collect()
    }
}

impl WorkerScratch {
    /// One step of a block by itself.
    fn step(
        &mut self,
        setup: &FusedContext<'_>,
        (at, block): (BlockPosition, &mut TileBlock<'_>),
        rows: (&BatchPlan<'_>, &RowCoefficients, usize),
        adam: &AdamCoefficients,
    ) {
        let (plan, _, step) = rows;
        let batch = batch(setup, (at, block), rows);
        self.tile.sums.fill([RowSums::ZERO; ROWS_PER_QUAD]);
        dispatch_loss_kind!(
            setup.kind,
            kernel::step_alone,
            setup.simd,
            block,
            &batch,
            adam,
            &mut self.tile
        );
        self.add_losses(step * plan.batch(), plan.rows(step).len());
    }

    /// The same where squares are multiplied out.
    fn step_expanded(
        &mut self,
        setup: &FusedContext<'_>,
        (at, block): (BlockPosition, &mut TileBlock<'_>),
        rows: (&BatchPlan<'_>, &RowCoefficients, usize),
        (products, adam): (&NormalizationCorrection, &AdamCoefficients),
    ) {
        let (_, _, step) = rows;
        let batch = batch(setup, (at, block), rows);
        let mut sum = AlignedF32x8::ZERO;
        let about = expanded_squares::ExpandedStep {
            batch,
            products,
            adam,
        };
        expanded_squares::step_squares(setup.simd, block, &about, &mut self.expanded, &mut sum);
        sum.add_to(&mut self.totals[step]);
    }
}

/// The rows of a step of a block by itself, and those that come next.
fn batch<'b>(
    setup: &FusedContext<'_>,
    (at, block): (BlockPosition, &TileBlock<'_>),
    (plan, numbers, step): (&'b BatchPlan<'_>, &'b RowCoefficients, usize),
) -> RowBatch<'b> {
    let targets = plan.step_targets(step, at.tail);
    let next = if step + 1 < plan.steps() {
        (step + 1, 0)
    } else {
        (0, block.maps.len())
    };
    let (prefetch_targets, prefetch_distance) = (plan.step_targets(next.0, at.tail), next.1);
    RowBatch {
        prefetch_targets,
        prefetch_distance,
        ..numbers.batch(plan.first_quad(step), targets, setup.width())
    }
}

/// Leaves the Gram matrix of a group, once it is complete, and begins the next.
fn store_group_gram(scratch: &mut TileScratch, slots: &PartialSums, place: BlockPosition) {
    if place.last {
        slots.store(place.group, 0, scratch.gram.values());
        scratch.gram.clear();
    }
}

/// An epoch in which all workers meet twice a step.
struct ParallelEpoch<'a> {
    plan: &'a BatchPlan<'a>,
    evaluated_rows: &'a BatchPlan<'a>,
    barrier: Barrier,
    stop: AtomicBool,
    /// The Gram matrix and the number of steps before the epoch.
    before: (Vec<f64>, i32),
    /// Sums of the rows of a step, and Gram matrices, per group.
    rows: PartialSums,
    grams: PartialSums,
    /// Sums of all rows trained on, and of those judged, per group.
    losses: PartialSums,
    evaluation_sums: PartialSums,
}

impl<'a> ParallelEpoch<'a> {
    fn new(
        setup: &FusedContext<'_>,
        workers: usize,
        plans: (&'a BatchPlan<'a>, &'a BatchPlan<'a>),
        before: (Vec<f64>, i32),
    ) -> Self {
        let ((plan, evaluated_rows), groups) = (plans, setup.groups.len());
        Self {
            plan,
            evaluated_rows,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            before,
            rows: PartialSums::new(groups, 2 * plan.batch()),
            grams: PartialSums::new(groups, setup.width() * setup.width()),
            losses: PartialSums::new(1, plan.len()),
            evaluation_sums: PartialSums::new(groups, evaluated_rows.len()),
        }
    }

    /// What one worker does.
    fn run_worker(&self, worker: usize, share: &mut ColumnBlock<'_>, setup: &FusedContext<'_>) {
        let _guard = self.barrier.guard();
        let (plan, batch) = (self.plan, self.plan.batch());
        let mut gram = self.before.0.clone();
        let mut scratch = WorkerScratch::new(setup, plan.max_quads(), 2 * batch);
        let (mut numbers, mut norms, mut correction) = (
            RowCoefficients::default(),
            Vec::new(),
            NormalizationCorrection::default(),
        );
        let (mut totals, mut norm_sums) = (vec![0.0; 2 * batch], Vec::new());
        for step in 0..plan.steps() {
            let rows = plan.rows(step);
            setup.row_constants.prediction_norms(
                setup.simd,
                rows,
                &gram,
                (&mut norms, &mut norm_sums),
            );
            numbers.clear();
            numbers.push(&setup.row_constants, rows, &norms);
            self.pass_a(share, setup, (step, &numbers), &mut scratch);
            self.barrier.wait();
            self.rows.sum_groups(&mut totals);
            setup
                .row_constants
                .correction(setup.simd, (rows, &norms), &totals, &mut correction);
            let adam = setup.adam(self.before.1 + 1 + step as i32);
            share.blocks(setup, PASS_B_TILES, |place, block| {
                kernel::pass_b(
                    setup.simd,
                    block,
                    &correction.quads,
                    &adam,
                    &mut scratch.tile,
                );
                store_group_gram(&mut scratch.tile, &self.grams, place);
            });
            if worker == 0 {
                self.record_losses(setup, step, &totals[..rows.len()]);
            }
            self.barrier.wait();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.grams.sum_groups(&mut gram);
        }
        self.evaluate(share, setup, &gram);
    }

    fn pass_a(
        &self,
        share: &mut ColumnBlock<'_>,
        setup: &FusedContext<'_>,
        (step, numbers): (usize, &RowCoefficients),
        scratch: &mut WorkerScratch,
    ) {
        let (rows, first) = (self.plan.rows(step).len(), share.first(setup));
        share.blocks(setup, PASS_A_TILES, |place, block| {
            let targets = self.plan.step_targets(step, place.tail);
            let mut batch = numbers.batch(0, targets, setup.width());
            (batch.prefetch_targets, batch.prefetch_distance) = (targets, PASS_A_TILES);
            if place.end {
                (batch.prefetch_targets, batch.prefetch_distance) = (
                    self.plan.step_targets(step + 1, false),
                    first.wrapping_sub(block.first),
                );
            }
            scratch.tile.sums.fill([RowSums::ZERO; ROWS_PER_QUAD]);
            dispatch_loss_kind!(
                setup.kind,
                kernel::pass_a,
                setup.simd,
                block,
                &batch,
                &mut scratch.tile
            );
            scratch.add_losses(0, rows);
            scratch.add_projections(self.plan.batch(), rows);
            if place.last {
                scratch.store_group_sums(&self.rows, place.group);
            }
        });
    }

    /// Keeps the sums of a step; asks whether to go on.
    fn record_losses(&self, setup: &FusedContext<'_>, step: usize, sums: &[f64]) {
        self.losses
            .store(0, step * self.plan.batch(), sums.iter().copied());
        let finite = sums.iter().all(|sum| sum.is_finite());
        self.stop
            .fetch_or(!finite || setup.interrupted(), Ordering::Relaxed);
    }

    fn evaluate(&self, share: &mut ColumnBlock<'_>, setup: &FusedContext<'_>, gram: &[f64]) {
        let numbers = setup.numbers(self.evaluated_rows, gram);
        let mut scratch = WorkerScratch::new(
            setup,
            self.evaluated_rows.max_quads(),
            self.evaluated_rows.len(),
        );
        share.blocks(setup, PASS_A_TILES, |place, block| {
            scratch.evaluate(setup, (place, block), (self.evaluated_rows, &numbers), 0);
            if place.last {
                scratch.store_group_sums(&self.evaluation_sums, place.group);
            }
        });
    }
}

impl EpochRunner for FusedLinear<'_> {
    fn epoch(
        &mut self,
        epoch: usize,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Result<EpochResult> {
        let Self { setup, state, .. } = self;
        let plan = BatchPlan::new(&setup.table, order, setup.prepared.settings().batch_size);
        let verdict = BatchPlan::new(&setup.table, evaluated_rows, EVALUATION_ROWS_PER_CHUNK);
        let sums = if setup.scale_invariant {
            state.epoch_normalized(setup, &plan, &verdict)?
        } else {
            state.epoch_separable(setup, &plan, &verdict)?
        };
        let trained = match &setup.squares {
            Some(squares) if state.resolved => {
                let (losses, resolved) = squares.losses(setup, &plan, &sums[..plan.steps()]);
                state.resolved = resolved || order.is_empty();
                if let Some(step) = losses.iter().position(|loss| !loss.is_finite()) {
                    let row = plan.rows(step)[0];
                    return Err(self.not_finite(epoch, row));
                }
                losses
            }
            _ => self.check(epoch, order, &sums)?,
        };
        let evaluation_sums = &sums[sums.len() - evaluated_rows.len()..];
        let evaluated_losses = self.check(epoch, evaluated_rows, evaluation_sums)?;
        Ok(EpochResult {
            loss: trained.iter().sum::<f64>() / order.len() as f64,
            evaluated_losses,
        })
    }

    fn network(&mut self) -> &Network {
        let width = self.setup.width();
        store(&mut self.network, &self.state.tiles, (width, 2 * width));
        &self.network
    }

    fn save_best(&mut self) {
        let width = self.setup.width();
        let best_parameters = self
            .best_parameters
            .get_or_insert_with(|| vec![AlignedF32x16::ZERO; self.state.tiles.len() / 2]);
        let tiles = self.state.tiles.chunks_exact(2 * width);
        best_parameters
            .chunks_exact_mut(width)
            .zip(tiles)
            .for_each(|(best_parameters, tile)| best_parameters.copy_from_slice(&tile[..width]));
    }

    fn finish(mut self: Box<Self>) -> Network {
        let width = self.setup.width();
        match &self.best_parameters {
            Some(best_parameters) => store(&mut self.network, best_parameters, (width, width)),
            None => store(&mut self.network, &self.state.tiles, (width, 2 * width)),
        }
        self.network
    }

    fn state(&mut self) -> TrainerState {
        let FusedState {
            tiles,
            moments,
            gram,
            steps,
            resolved,
        } = &self.state;
        TrainerState {
            parameters: flatten(tiles),
            best_parameters: self.best_parameters.as_deref().map(flatten),
            moments: Moments {
                steps: *steps,
                mean: flatten(moments),
                square: Vec::new(),
            },
            pool: None,
            sums: gram
                .iter()
                .copied()
                .chain((!resolved).then_some(0.0))
                .collect(),
        }
    }

    fn restore(&mut self, state: TrainerState) -> bool {
        let FusedState {
            tiles,
            moments,
            gram,
            ..
        } = &self.state;
        let unresolved = usize::from(self.setup.squares.is_some() && state.sums.len() == 1);
        let best_parameters = state
            .best_parameters
            .as_ref()
            .is_none_or(|best_parameters| 2 * best_parameters.len() == F32_LANES * tiles.len());
        let sizes = [
            state.parameters.len(),
            state.moments.mean.len(),
            state.sums.len(),
        ];
        if sizes
            != [
                F32_LANES * tiles.len(),
                F32_LANES * moments.len(),
                gram.len() + unresolved,
            ]
            || !best_parameters
        {
            return false;
        }
        self.best_parameters = state
            .best_parameters
            .map(|best_parameters| unflatten(&best_parameters));
        self.state = FusedState {
            tiles: unflatten(&state.parameters),
            moments: unflatten(&state.moments.mean),
            resolved: unresolved == 0,
            gram: if unresolved == 0 {
                state.sums
            } else {
                Vec::new()
            },
            steps: state.moments.steps,
        };
        true
    }
}

/// Lanes one after the other, as a checkpoint holds them.
fn flatten(lanes: &[AlignedF32x16]) -> Vec<f32> {
    lanes.iter().flat_map(|lane| lane.0).collect()
}

fn unflatten(flat: &[f32]) -> Vec<AlignedF32x16> {
    flat.chunks_exact(F32_LANES)
        .map(|lane| AlignedF32x16(std::array::from_fn(|at| lane[at])))
        .collect()
}
