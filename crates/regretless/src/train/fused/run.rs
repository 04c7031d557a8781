//! Epochs and validation of fused training, on as many threads as the work is worth.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::barrier::Barrier;
use super::kernel::{self, Aim, Block, LANES, Moments, Row, Sums, Tile};
use super::{Engine, Fused, Setup, State, TILES_PER_BLOCK};
use crate::error::{Error, Result};
use crate::parallel::Threads;
use crate::predict::Network;

/// Shorter predictions have no direction.
const SHORTEST: f64 = 1e-12;
/// Numbers per step below which one thread is faster than several that wait for each other.
const WORTH_SHARING: usize = 40_000;
/// Rows evaluated at a time outside training.
const ROWS_AT_A_TIME: usize = 32;

/// Calls a pass with the constants that fit the loss.
macro_rules! with_kind {
    ($setup:expr, $pass:ident, $($arg:expr),*) => {
        match ($setup.absolute, $setup.aim) {
            (false, Aim::Both) => kernel::$pass::<P, false, 0>($($arg),*),
            (false, Aim::OneSided) => kernel::$pass::<P, false, 1>($($arg),*),
            (false, Aim::Pinball) => kernel::$pass::<P, false, 2>($($arg),*),
            (false, Aim::Sensitive) => kernel::$pass::<P, false, 3>($($arg),*),
            (true, Aim::Both) => kernel::$pass::<P, true, 0>($($arg),*),
            (true, Aim::OneSided) => kernel::$pass::<P, true, 1>($($arg),*),
            (true, Aim::Pinball) => kernel::$pass::<P, true, 2>($($arg),*),
            (true, Aim::Sensitive) => kernel::$pass::<P, true, 3>($($arg),*),
        }
    };
}

/// What normalisation needs to know of a row at one step.
#[derive(Debug, Clone, Copy)]
struct Length {
    /// Length of the prediction, or of the truth where the prediction has none; 1 without normalisation.
    divisor: f64,
    /// What brings the prediction to the length of the truth.
    stretch: f64,
    /// Whether the way back removes the part along the prediction.
    directed: bool,
}

impl<const P: usize> Setup<'_, P> {
    fn length(&self, row: usize, gram: &[[f64; P]; P]) -> Length {
        if !self.scale_invariant {
            return Length { divisor: 1.0, stretch: 1.0, directed: false };
        }
        let z = &self.features[row];
        let mut square = 0.0;
        for a in 0..P {
            let inner: f64 = (0..P).map(|b| gram[a.min(b)][a.max(b)] * f64::from(z[b])).sum();
            square += f64::from(z[a]) * inner;
        }
        let truth = self.norms[row].max(SHORTEST);
        let length = square.max(0.0).sqrt();
        let directed = length >= SHORTEST;
        Length { divisor: if directed { length } else { truth }, stretch: truth / length.max(SHORTEST), directed }
    }

    /// The factor between a raw slope of a batch of `count` rows and the gradient.
    fn slope_factor(&self, row: usize, count: usize) -> f64 {
        let unit = if self.scale_invariant && !self.absolute { self.norms[row].max(SHORTEST) } else { 1.0 };
        self.objective.weight(row) * self.factor / (count as f64 * self.num_costs() as f64 * unit)
    }

    /// The loss of a row, from the raw sum of its errors.
    fn value(&self, row: usize, sum: f64) -> f64 {
        let unit = if self.scale_invariant { self.norms[row].max(SHORTEST) } else { 1.0 };
        let unit = if self.absolute { unit } else { unit * unit };
        self.objective.weight(row) * sum / (self.num_costs() as f64 * unit)
    }

    /// Rows of a batch, ready for the kernel.
    fn fill_rows<'b>(&'b self, rows: &[usize], lengths: &[Length], out: &mut Vec<Row<'b, P>>) {
        let costs = self.ready.task.data.data().costs();
        let tiles = self.maps.len();
        out.clear();
        out.extend(rows.iter().zip(lengths).map(|(row, length)| Row {
            features: &self.features[*row],
            stretch: length.stretch as f32,
            factor: (self.slope_factor(*row, rows.len()) / length.divisor) as f32,
            costs: costs.row(*row),
            chosen: if self.chosen.is_empty() { &[] } else { &self.chosen[row * tiles..][..tiles] },
            limits: self.limits.map_or(&[], |limits| limits.row(*row)),
        }));
    }

    /// The small matrix of the way back through the normalisation.
    fn correction(&self, rows: &[Row<'_, P>], lengths: &[Length], dots: &[f64]) -> [[f32; P]; P] {
        let mut total = [[0.0_f64; P]; P];
        for ((row, length), dot) in rows.iter().zip(lengths).zip(dots).filter(|((_, length), _)| length.directed) {
            let share = f64::from(row.factor) * dot / (length.divisor * length.divisor);
            for (a, line) in total.iter_mut().enumerate() {
                for (b, sum) in line.iter_mut().enumerate() {
                    *sum += share * f64::from(row.features[a]) * f64::from(row.features[b]);
                }
            }
        }
        total.map(|line| line.map(|sum| sum as f32))
    }

    fn workers(&self, rows: usize) -> usize {
        let worth = rows * self.num_costs() >= WORTH_SHARING;
        if worth { self.ready.task.oracle.threads().count().min(self.groups.len()) } else { 1 }
    }

    fn interrupted(&self) -> bool {
        self.ready.task.watch.interrupted()
    }
}

/// The part of the parameters one worker owns: whole groups, one after the other.
struct Share<'a, const P: usize> {
    groups: Range<usize>,
    tiles: &'a mut [Tile<P>],
    moments: &'a mut [Moments<P>],
}

impl<const P: usize> Share<'_, P> {
    /// Calls `work` with each block of each group, and the number of the group.
    fn blocks(&mut self, setup: &Setup<'_, P>, mut work: impl FnMut(usize, &mut Block<'_, P>)) {
        let begin = setup.groups[self.groups.start].start;
        for group in self.groups.clone() {
            let range = setup.groups[group].clone();
            for first in range.clone().step_by(TILES_PER_BLOCK) {
                let tiles = first..(first + TILES_PER_BLOCK).min(range.end);
                let own = tiles.start - begin..tiles.end - begin;
                let block = &mut Block {
                    first,
                    tiles: &mut self.tiles[own.clone()],
                    moments: &mut self.moments[own],
                    maps: &setup.maps[tiles],
                };
                work(group, block);
            }
        }
    }
}

/// Numbers one worker leaves for all: a row of them per group.
struct Slots {
    width: usize,
    values: Vec<AtomicU64>,
}

impl Slots {
    fn new(groups: usize, width: usize) -> Self {
        Self { width, values: (0..groups * width).map(|_| AtomicU64::new(0)).collect() }
    }

    fn put(&self, group: usize, values: impl Iterator<Item = f64>) {
        let slots = &self.values[group * self.width..][..self.width];
        slots.iter().zip(values).for_each(|(slot, value)| slot.store(value.to_bits(), Ordering::Relaxed));
    }

    /// Sums over all groups, in their order.
    fn total(&self, out: &mut [f64]) {
        out.fill(0.0);
        for group in self.values.chunks_exact(self.width) {
            let values = group.iter().map(|slot| f64::from_bits(slot.load(Ordering::Relaxed)));
            out.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
}

fn sum(lanes: &[f32; LANES]) -> f64 {
    lanes.iter().map(|v| f64::from(*v)).sum()
}

impl<const P: usize> Fused<'_, P> {
    /// The upper half of the Gram matrix of the effective parameters, group by group.
    pub(super) fn gather(&mut self) -> [[f64; P]; P] {
        let slots = Slots::new(self.setup.groups.len(), P * P);
        let mut share =
            Share { groups: 0..self.setup.groups.len(), tiles: &mut self.tiles, moments: &mut self.moments };
        let mut parts = vec![[[0.0; P]; P]; self.setup.groups.len()];
        share.blocks(&self.setup, |group, block| kernel::pass_gram(block, &mut parts[group]));
        parts.iter().enumerate().for_each(|(group, part)| slots.put(group, part.iter().flatten().copied()));
        total_gram(&slots)
    }

    /// Cuts the parameters into shares of whole groups and runs `work` on each, all at once.
    fn share_out(&mut self, workers: usize, work: impl Fn(usize, &mut Share<'_, P>, &Setup<'_, P>) + Sync) {
        let setup = &self.setup;
        let count = setup.groups.len();
        let (mut tiles, mut moments) = (self.tiles.as_mut_slice(), self.moments.as_mut_slice());
        let mut shares = Vec::with_capacity(workers);
        for worker in 0..workers {
            let groups = worker * count / workers..(worker + 1) * count / workers;
            let size = setup.groups[groups.end - 1].end - setup.groups[groups.start].start;
            let (own_tiles, own_moments);
            (own_tiles, tiles) = tiles.split_at_mut(size);
            (own_moments, moments) = moments.split_at_mut(size);
            shares.push(Share { groups, tiles: own_tiles, moments: own_moments });
        }
        let threads = if workers == 1 { Threads::one() } else { setup.ready.task.oracle.threads().clone() };
        threads.on_each(shares, |worker, share| work(worker, share, setup));
    }

    /// An epoch without normalisation: no cost knows of another, and each block runs through all steps
    /// while it is in cache. Returns the loss of every row at its own step.
    fn independent_epoch(&mut self, order: &[usize]) -> Result<Vec<f64>> {
        let batch = self.setup.ready.settings().batch;
        let slots = Slots::new(self.setup.groups.len(), order.len());
        let stop = AtomicBool::new(false);
        let before = self.steps;
        let workers = self.setup.workers(batch);
        self.share_out(workers, |_, share, setup| {
            let plain = Length { divisor: 1.0, stretch: 1.0, directed: false };
            let (lengths, mut rows) = (vec![plain; batch], Vec::new());
            let (mut totals, mut last) = (vec![0.0; order.len()], usize::MAX);
            let (mut sums, mut unused) = (vec![Sums::ZERO; batch], [[0.0; P]; P]);
            share.blocks(setup, |group, block| {
                if std::mem::replace(&mut last, group) != group {
                    totals.fill(0.0);
                }
                if stop.load(Ordering::Relaxed) || setup.interrupted() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
                for (step, part) in order.chunks(batch).enumerate() {
                    setup.fill_rows(part, &lengths, &mut rows);
                    sums[..part.len()].fill(Sums::ZERO);
                    with_kind!(setup, pass_a, block, &rows, &mut sums[..part.len()]);
                    let adam = setup.adam(before + 1 + step as i32);
                    kernel::pass_b::<P>(block, &[[0.0; P]; P], &adam, &mut unused);
                    let totals = &mut totals[step * batch..];
                    totals.iter_mut().zip(&sums).take(part.len()).for_each(|(total, s)| *total += sum(&s.loss));
                }
                slots.put(group, totals.iter().copied());
            });
        });
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        self.steps += order.len().div_ceil(batch) as i32;
        self.gram = self.gather();
        let mut values = vec![0.0; order.len()];
        slots.total(&mut values);
        Ok(values)
    }

    /// An epoch with normalisation: two passes a step, all workers meeting after each.
    fn coupled_epoch(&mut self, order: &[usize]) -> Result<Vec<f64>> {
        let batch = self.setup.ready.settings().batch;
        let groups = self.setup.groups.len();
        let workers = self.setup.workers(batch);
        let (barrier, stop) = (Barrier::new(workers), AtomicBool::new(false));
        let (row_slots, gram_slots) = (Slots::new(groups, 2 * batch), Slots::new(groups, P * P));
        let values = Slots::new(1, order.len());
        let (first_gram, before) = (self.gram, self.steps);
        self.share_out(workers, |worker, share, setup| {
            let _guard = barrier.guard();
            let mut gram = first_gram;
            let (mut lengths, mut rows, mut sums) = (Vec::new(), Vec::new(), vec![Sums::ZERO; batch]);
            let (mut totals, mut part_sums) = (vec![0.0; 2 * batch], vec![0.0; 2 * batch]);
            for (step, part) in order.chunks(batch).enumerate() {
                lengths.clear();
                lengths.extend(part.iter().map(|row| setup.length(*row, &gram)));
                setup.fill_rows(part, &lengths, &mut rows);
                let mut last = usize::MAX;
                share.blocks(setup, |group, block| {
                    if std::mem::replace(&mut last, group) != group {
                        part_sums.fill(0.0);
                    }
                    sums.fill(Sums::ZERO);
                    with_kind!(setup, pass_a, block, &rows, &mut sums[..part.len()]);
                    for (i, s) in sums.iter().enumerate() {
                        part_sums[i] += sum(&s.loss);
                        part_sums[batch + i] += sum(&s.dot);
                    }
                    row_slots.put(group, part_sums.iter().copied());
                });
                barrier.wait();
                row_slots.total(&mut totals);
                let correction = setup.correction(&rows, &lengths, &totals[batch..]);
                let adam = setup.adam(before + 1 + step as i32);
                let (mut last, mut part_gram) = (usize::MAX, [[0.0; P]; P]);
                share.blocks(setup, |group, block| {
                    if std::mem::replace(&mut last, group) != group {
                        part_gram = [[0.0; P]; P];
                    }
                    kernel::pass_b::<P>(block, &correction, &adam, &mut part_gram);
                    gram_slots.put(group, part_gram.iter().flatten().copied());
                });
                if worker == 0 {
                    let slots = &values.values[step * batch..];
                    slots
                        .iter()
                        .zip(&totals)
                        .take(part.len())
                        .for_each(|(s, v)| s.store(v.to_bits(), Ordering::Relaxed));
                    let finite = totals[..part.len()].iter().all(|v| v.is_finite());
                    stop.fetch_or(!finite || setup.interrupted(), Ordering::Relaxed);
                }
                barrier.wait();
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                gram = total_gram(&gram_slots);
            }
        });
        let mut found = vec![0.0; order.len()];
        values.total(&mut found);
        if stop.load(Ordering::Relaxed) && found.iter().all(|v| v.is_finite()) {
            return Err(Error::Interrupted);
        }
        self.steps += order.len().div_ceil(batch) as i32;
        self.gram = total_gram(&gram_slots);
        Ok(found)
    }

    /// Names the first row whose loss is not a number, and the output to blame where there is one.
    fn not_finite(&self, epoch: usize, row: usize) -> Error {
        let z = &self.setup.features[row];
        let weight = |j: usize, q: usize| self.tiles[j / LANES].weights[q][j % LANES];
        let output = |j: &usize| !(0..P).map(|q| weight(*j, q) * z[q]).sum::<f32>().is_finite();
        let output = (0..self.setup.num_costs()).find(output);
        let what = if output.is_some() { "prediction" } else { "loss" };
        Error::NonFinite { what, epoch, instance: row, output }
    }

    fn check(&self, epoch: usize, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>> {
        let value = |(row, sum): (&usize, &f64)| {
            let value = self.setup.value(*row, *sum);
            if value.is_finite() { Ok(value) } else { Err(self.not_finite(epoch, *row)) }
        };
        rows.iter().zip(sums).map(value).collect()
    }
}

fn total_gram<const P: usize>(slots: &Slots) -> [[f64; P]; P] {
    let mut flat = vec![0.0; P * P];
    slots.total(&mut flat);
    std::array::from_fn(|a| std::array::from_fn(|b| flat[a * P + b]))
}

impl<const P: usize> Engine for Fused<'_, P> {
    fn epoch(&mut self, epoch: usize, order: &[usize]) -> Result<f64> {
        let coupled = self.setup.scale_invariant;
        let sums = if coupled { self.coupled_epoch(order)? } else { self.independent_epoch(order)? };
        let values = self.check(epoch, order, &sums)?;
        Ok(values.iter().sum::<f64>() / order.len() as f64)
    }

    fn losses(&mut self, epoch: usize, rows: &[usize]) -> Result<Vec<f64>> {
        let slots = Slots::new(self.setup.groups.len(), rows.len());
        let gram = self.gram;
        let workers = self.setup.workers(rows.len());
        self.share_out(workers, |_, share, setup| {
            let lengths: Vec<Length> = rows.iter().map(|row| setup.length(*row, &gram)).collect();
            let (mut all, mut sums, mut totals) = (Vec::new(), vec![Sums::ZERO; rows.len()], vec![0.0; rows.len()]);
            setup.fill_rows(rows, &lengths, &mut all);
            let mut last = usize::MAX;
            share.blocks(setup, |group, block| {
                if std::mem::replace(&mut last, group) != group {
                    totals.fill(0.0);
                }
                for (rows, sums) in all.chunks(ROWS_AT_A_TIME).zip(sums.chunks_mut(ROWS_AT_A_TIME)) {
                    sums.fill(Sums::ZERO);
                    with_kind!(setup, pass_a, block, rows, sums);
                }
                totals.iter_mut().zip(&sums).for_each(|(total, s)| *total += sum(&s.loss));
                slots.put(group, totals.iter().copied());
            });
        });
        let mut sums = vec![0.0; rows.len()];
        slots.total(&mut sums);
        self.check(epoch, rows, &sums)
    }

    fn network(&mut self) -> &Network {
        self.store();
        &self.network
    }

    fn state(&mut self) -> State {
        self.state_now()
    }

    fn restore(&mut self, state: State) {
        self.go_on_from(&state);
    }
}
