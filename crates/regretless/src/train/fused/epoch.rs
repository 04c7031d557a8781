//! Epochs of fused linear training, on one thread or, if a step has enough work, on several, with
//! the evaluation of rows in the same call. A tile is sixteen costs, a block some tiles that stay
//! in cache.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::adam::AdamCoefficients;
use super::expanded_squares;
use super::kernel;
use super::parallel_epoch::{NormalizedParameters, ParallelEpoch};
use super::projection::ProjectionWorker;
use super::row_constants::{OuterProductSum, RowCoefficients};
use super::tile_block::TileScratch;
use super::tiled_targets::BatchPlan;
use super::worker_columns::{PartialSums, WorkerColumns};
use super::worker_scratch::{EvaluatedRows, StepRows, WorkerScratch, store_group_gram};
use super::{EpochRunner, FusedContext, FusedLinear, FusedState, not_finite, store};
use crate::error::{Error, Result};
use crate::parallel::Threads;
use crate::predict::Network;
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES};
use crate::train::epoch_runner::{EpochResult, EpochRows, EpochRunnerState};
use crate::train::optimizer::Moments;

/// Values per step below which one thread is faster than several: the barriers of a step would
/// cost more than the threads save.
const MIN_PARALLEL_VALUES: usize = 40_000;
/// Rows evaluated together outside training: the default batch size. A multiple of four.
pub(super) const EVALUATION_ROWS_PER_CHUNK: usize = 32;
/// Tiles of a block of the update pass: with five features, parameters, gradients and moments are
/// 24 KB, which fit into the first-level cache.
pub(super) const UPDATE_BLOCK_TILES: usize = 16;
/// Tiles of a block that runs through all steps of an epoch independently: with five features,
/// parameters, gradients and moments are 24 KB, which stay in cache.
const SEPARABLE_TILES: usize = 16;

impl FusedContext<'_> {
    fn workers(&self, rows: usize) -> usize {
        self.workers_for(rows * self.num_costs())
            // A worker without a group would have nothing to do but wait.
            .min(self.groups.len())
    }

    /// Number of threads for this number of values per step: one, unless the work is enough for
    /// all.
    pub(super) fn workers_for(&self, values: usize) -> usize {
        // Either one thread or all: a number in between gains little, as all of them share the same
        // memory.
        if values >= MIN_PARALLEL_VALUES {
            self.prepared.context.oracle.threads().count()
        } else {
            1
        }
    }

    /// The thread pool for a number of workers.
    pub(super) fn threads(&self, workers: usize) -> Threads {
        if workers == 1 {
            Threads::single_threaded()
        } else {
            self.prepared.context.oracle.threads().clone()
        }
    }

    pub(super) fn interrupted(&self) -> bool {
        self.prepared.context.observer.interrupted()
    }

    /// Coefficients of all steps of a plan, all norms by the same Gram matrix.
    pub(super) fn row_coefficients(&self, plan: &BatchPlan<'_>, gram: &[f64]) -> RowCoefficients {
        let mut coefficients = RowCoefficients::default();
        let (mut norms, mut gram_rows) = (Vec::new(), Vec::new());
        for step in 0..plan.steps() {
            let rows = plan.rows(step);
            self.row_constants
                .prediction_norms(self.simd, rows, gram, &mut norms, &mut gram_rows);
            coefficients.push(&self.row_constants, rows, &norms);
        }
        coefficients
    }

    /// One of several workers of the projection, if there is one.
    pub(super) fn projection_worker(
        &self,
        workers: usize,
        solution: &[AlignedF32x8],
    ) -> Option<ProjectionWorker<'_>> {
        let projection = self.projection.as_ref()?;
        let (simd, width) = (self.simd, self.width());
        Some(ProjectionWorker::new(
            simd, projection, width, workers, solution,
        ))
    }

    /// Products of the features of each step's rows, for expanded squares.
    fn products(&self, plan: &BatchPlan<'_>) -> Vec<OuterProductSum> {
        (0..plan.steps())
            .map(|step| {
                self.row_constants
                    .weighted_products(self.simd, plan.rows(step))
            })
            .collect()
    }
}

impl FusedState {
    /// Splits the parameters into one block of columns per worker and runs `work` on all of them in
    /// parallel.
    fn run_on_worker_columns(
        &mut self,
        context: &FusedContext<'_>,
        workers: usize,
        work: impl Fn(usize, &mut WorkerColumns<'_>) + Sync + Send,
    ) {
        let (count, vectors) = (context.groups.len(), 2 * context.width());
        let (mut tiles, mut moments) = (self.tiles.as_mut_slice(), self.moments.as_mut_slice());
        let mut blocks = Vec::with_capacity(workers);
        for worker in 0..workers {
            // Groups are divided by number, so their sums, and the order of these, do not depend on
            // the number of workers.
            let groups = worker * count / workers..(worker + 1) * count / workers;
            let full_tiles =
                context.groups[groups.end - 1].end - context.groups[groups.start].start;
            // The last worker has the partial tile too.
            let size = if worker + 1 == workers {
                tiles.len()
            } else {
                full_tiles * vectors
            };
            let (block_tiles, block_moments);
            (block_tiles, tiles) = tiles.split_at_mut(size);
            (block_moments, moments) = moments.split_at_mut(size);
            blocks.push(WorkerColumns {
                groups,
                tiles: block_tiles,
                moments: block_moments,
            });
        }
        context.threads(workers).run_on_each(blocks, work);
    }

    /// Solves for the projection of the current parameters, if there is one: as in a step, bit for
    /// bit.
    pub(super) fn solve_projection(&mut self, context: &FusedContext<'_>) {
        let Some(projection) = &context.projection else {
            return;
        };
        let (width, groups) = (context.width(), context.groups.len());
        let sums = projection.partial_sums(1, groups, width);
        let solution = OnceLock::new();
        // A single worker: bits are those of any number, since sums are stored per group.
        self.run_on_worker_columns(context, 1, |_, columns| {
            let mut worker = ProjectionWorker::new(context.simd, projection, width, 1, &[]);
            columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
                let tiles = block.tiles.chunks_exact(2 * width);
                for (t, (tile, map)) in tiles.zip(block.output_maps).enumerate() {
                    worker.add_parameters(block.first_tile + t, &tile[..width], &map.scale);
                }
                worker.store_group_sums(&sums, position);
            });
            // The Gram matrix is known, or computed from the projected parameters.
            worker.solve_parameters(&sums, &mut vec![0.0; width * width]);
            // Set once: there is one worker.
            let _ = solution.set(worker.into_parameter_solution());
        });
        self.projection_solution = solution.into_inner().unwrap_or_default();
    }

    /// Computes the Gram matrix of the current parameters.
    pub(super) fn compute_gram(&mut self, context: &FusedContext<'_>) {
        let (groups, width) = (context.groups.len(), context.width());
        let grams = PartialSums::new(groups, width * width);
        let solution = std::mem::take(&mut self.projection_solution);
        self.run_on_worker_columns(context, 1, |_, columns| {
            let mut scratch = TileScratch::new(width, 0);
            let mut projection = context.projection_worker(1, &solution);
            columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
                kernel::gram_pass(context.simd, block, projection.as_mut(), &mut scratch);
                store_group_gram(&mut scratch, &grams, position);
            });
        });
        self.projection_solution = solution;
        self.gram = vec![0.0; width * width];
        grams.sum_groups(&mut self.gram);
    }

    /// An epoch without normalization: the loss is separable over costs, and each block runs
    /// through all steps and the evaluation while it is in cache. Returns the sums of all training
    /// rows, each at its own step, or of all steps if squares are expanded; then those of the
    /// evaluated rows.
    fn epoch_separable(
        &mut self,
        context: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        evaluated_rows: &BatchPlan<'_>,
    ) -> Result<Vec<f64>> {
        // The choice is made once per epoch, so all of its steps are summed in the same way.
        let expanded = self.uses_expanded_squares(context);
        let (products, training_sums, block_tiles) = if expanded {
            let products = context.products(plan);
            (products, plan.steps(), expanded_squares::TILES_PER_BLOCK)
        } else {
            (Vec::new(), plan.len(), SEPARABLE_TILES)
        };
        let num_sums = training_sums + evaluated_rows.len();
        let partial_sums = PartialSums::new(context.groups.len(), num_sums);
        let stop = AtomicBool::new(false);
        let coefficients = context.row_coefficients(plan, &[]);
        let evaluation_coefficients = context.row_coefficients(evaluated_rows, &[]);
        // Coefficients depend on the step's number alone: they are shared by all blocks.
        let steps: Vec<AdamCoefficients> = (1..=plan.steps())
            .map(|step| context.adam(self.steps + step as i32))
            .collect();
        let workers = context.workers(plan.batch_size().max(evaluated_rows.len()));
        let max_panels = plan.max_panels().max(evaluated_rows.max_panels());
        self.run_on_worker_columns(context, workers, |_, columns| {
            let mut scratch = WorkerScratch::new(context, max_panels, num_sums);
            columns.for_each_block(context, block_tiles, |position, block| {
                // Polled per block: a block runs through the whole epoch.
                if stop.load(Ordering::Relaxed) || context.interrupted() {
                    return stop.store(true, Ordering::Relaxed);
                }
                for (step, adam) in steps.iter().enumerate() {
                    let rows = StepRows {
                        plan,
                        coefficients: &coefficients,
                        step,
                    };
                    match products.get(step) {
                        Some(products) => {
                            scratch.step_expanded(context, position, block, rows, products, adam);
                        }
                        None => scratch.step(context, position, block, rows, adam),
                    }
                }
                let rows = EvaluatedRows {
                    plan: evaluated_rows,
                    coefficients: &evaluation_coefficients,
                    first: training_sums,
                };
                scratch.evaluate(context, position, block, rows, None);
                if position.is_last_of_group {
                    scratch.store_group_sums(&partial_sums, position.group);
                }
            });
        });
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        self.steps += plan.steps() as i32;
        let mut sums = vec![0.0; num_sums];
        partial_sums.sum_groups(&mut sums);
        Ok(sums)
    }

    /// Whether squares are expanded.
    fn uses_expanded_squares(&self, context: &FusedContext<'_>) -> bool {
        self.expansion_is_accurate && context.squares.is_some()
    }

    /// An epoch with normalization: two passes and two barriers per step. Returns the sums of the
    /// training rows, then of the evaluated rows.
    fn epoch_normalized(
        &mut self,
        context: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        evaluated_rows: &BatchPlan<'_>,
    ) -> Result<Vec<f64>> {
        let workers = context.workers(plan.batch_size().max(evaluated_rows.len()));
        let initial = NormalizedParameters {
            gram: std::mem::take(&mut self.gram),
            projection_solution: std::mem::take(&mut self.projection_solution),
        };
        let epoch =
            ParallelEpoch::new(context, workers, plan, evaluated_rows, &initial, self.steps);
        self.run_on_worker_columns(context, workers, |worker, columns| {
            epoch.run_worker(worker, columns, context);
        });
        self.steps += plan.steps() as i32;
        let (sums, last) = epoch.finish();
        let last = last.unwrap_or(initial);
        self.gram = last.gram;
        self.projection_solution = last.projection_solution;
        sums.ok_or(Error::Interrupted)
    }
}

impl FusedLinear<'_> {
    /// The error for a row whose loss is not finite, with the first output that is not finite.
    fn not_finite(&self, epoch: usize, row: usize) -> Error {
        let (z, width) = (
            self.context.row_constants.features(row),
            self.context.width(),
        );
        // The first output that is not finite, for the message; computed only after a failure.
        let is_finite = |j: usize| {
            let tile = &self.state.tiles[j / F32_LANES * 2 * width..][..width];
            let mut output = 0.0_f32;
            for (weight, z) in tile.iter().zip(z) {
                output += weight.0[j % F32_LANES] * *z as f32;
            }
            output.is_finite()
        };
        let output = (0..self.context.num_costs()).find(|j| !is_finite(*j));
        not_finite(epoch, row, output)
    }

    /// Losses of rows from their sums.
    ///
    /// # Errors
    /// When a loss is not finite.
    fn losses(&self, epoch: usize, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>> {
        let losses = self.context.row_constants.finite_losses(rows, sums);
        losses.map_err(|row| self.not_finite(epoch, row))
    }
}

impl EpochRunner for FusedLinear<'_> {
    fn epoch(&mut self, epoch: usize, rows: EpochRows<'_>) -> Result<EpochResult> {
        let Self { context, state, .. } = self;
        let batch_size = context.prepared.settings().batch_size;
        let plan = BatchPlan::new(&context.table, rows.order, batch_size);
        let evaluation = BatchPlan::new(&context.table, rows.evaluated, EVALUATION_ROWS_PER_CHUNK);
        let sums = if context.scale_invariant {
            state.epoch_normalized(context, &plan, &evaluation)?
        } else {
            state.epoch_separable(context, &plan, &evaluation)?
        };
        let training_losses = match &context.squares {
            Some(squares) if state.expansion_is_accurate => {
                let losses = squares.losses(context, &plan, &sums[..plan.steps()]);
                // An epoch without rows says nothing about accuracy.
                state.expansion_is_accurate = losses.expansion_is_accurate || rows.order.is_empty();
                let not_finite = |loss: &f64| !loss.is_finite();
                if let Some(step) = losses.per_step.iter().position(not_finite) {
                    // Sums are those of the step, so its first row stands for it.
                    let row = plan.rows(step)[0];
                    return Err(self.not_finite(epoch, row));
                }
                losses.per_step
            }
            Some(_) | None => self.losses(epoch, rows.order, &sums)?,
        };
        // The sums of the evaluated rows are last, whatever the number before.
        let evaluation_sums = &sums[sums.len() - rows.evaluated.len()..];
        let evaluated_losses = self.losses(epoch, rows.evaluated, evaluation_sums)?;
        Ok(EpochResult {
            loss: training_losses.iter().sum::<f64>() / rows.order.len() as f64,
            evaluated_losses,
        })
    }

    fn network(&mut self) -> &Network {
        let width = self.context.width();
        store(&mut self.network, &self.state.tiles, width, 2 * width);
        &self.network
    }

    fn save_best(&mut self) {
        let width = self.context.width();
        let best_parameters = self
            .best_parameters
            .get_or_insert_with(|| vec![AlignedF32x16::ZERO; self.state.tiles.len() / 2]);
        let tiles = self.state.tiles.chunks_exact(2 * width);
        for (best, tile) in best_parameters.chunks_exact_mut(width).zip(tiles) {
            best.copy_from_slice(&tile[..width]);
        }
    }

    fn finish(mut self: Box<Self>) -> Network {
        let width = self.context.width();
        match &self.best_parameters {
            Some(best_parameters) => store(&mut self.network, best_parameters, width, width),
            None => store(&mut self.network, &self.state.tiles, width, 2 * width),
        }
        self.network
    }

    fn state(&mut self) -> EpochRunnerState {
        let width = self.context.width();
        let (first_moments, second_moments) = split_moments(&self.state.moments, width);
        EpochRunnerState {
            parameters: flatten(&self.state.tiles),
            best_parameters: self.best_parameters.as_deref().map(flatten),
            moments: Moments {
                steps: self.state.steps,
                mean: first_moments,
                square: second_moments,
            },
            pool: None,
            gram: self.state.gram.clone(),
            expansion_is_accurate: self.state.expansion_is_accurate,
        }
    }

    fn restore(&mut self, state: EpochRunnerState) -> bool {
        let values = F32_LANES * self.state.tiles.len();
        // A checkpoint of another layout is refused with nothing changed.
        let fits = state.parameters.len() == values
            && 2 * state.moments.mean.len() == values
            && 2 * state.moments.square.len() == values
            && state.gram.len() == self.state.gram.len()
            && (state.expansion_is_accurate || self.context.squares.is_some())
            && state
                .best_parameters
                .as_ref()
                .is_none_or(|best| 2 * best.len() == values);
        if !fits {
            return false;
        }
        let width = self.context.width();
        self.best_parameters = state.best_parameters.as_deref().map(unflatten);
        self.state = FusedState {
            tiles: unflatten(&state.parameters),
            moments: join_moments(&state.moments.mean, &state.moments.square, width),
            projection_solution: Vec::new(),
            gram: state.gram,
            expansion_is_accurate: state.expansion_is_accurate,
            steps: state.moments.steps,
        };
        // The solution is not stored: it follows from the parameters bit for bit.
        self.state.solve_projection(&self.context);
        true
    }
}

/// Vectors in sequence, as a checkpoint stores them.
fn flatten(vectors: &[AlignedF32x16]) -> Vec<f32> {
    vectors.iter().flat_map(|vector| vector.0).collect()
}

fn unflatten(flat: &[f32]) -> Vec<AlignedF32x16> {
    flat.as_chunks::<F32_LANES>()
        .0
        .iter()
        .map(|vector| AlignedF32x16(*vector))
        .collect()
}

/// First and second moments, each tile by tile, as a checkpoint stores them.
fn split_moments(moments: &[AlignedF32x16], width: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for tile in moments.chunks_exact(2 * width) {
        first.extend(flatten(&tile[..width]));
        second.extend(flatten(&tile[width..]));
    }
    (first, second)
}

fn join_moments(first: &[f32], second: &[f32], width: usize) -> Vec<AlignedF32x16> {
    let values = F32_LANES * width;
    let mut moments = Vec::with_capacity(2 * first.len() / F32_LANES);
    for (first, second) in first.chunks_exact(values).zip(second.chunks_exact(values)) {
        moments.extend(unflatten(first));
        moments.extend(unflatten(second));
    }
    moments
}
