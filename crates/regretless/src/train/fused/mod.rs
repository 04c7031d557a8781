//! Fused training of a linear predictor on the cost-sensitive family: the same steps as the plain
//! machinery, at the speed of memory.
//!
//! Costs are handled in tiles of sixteen, tiles in blocks that stay in cache, blocks in groups whose
//! sums are added in a fixed order, so that results do not depend on the number of threads. Without
//! normalisation no cost knows of another, and every block runs through a whole epoch by itself. With
//! it, a step has two passes: the lengths of the predictions follow from the Gram matrix of the
//! parameters, ‖W z‖² = zᵀ(WᵀW)z, and the way back through the normalisation is one small matrix.

use std::ops::Range;

use self::kernel::{AdamStep, Aim, LANES, Map, Moments, Tile};
use super::engine::{Engine, State};
use super::{Objective, Optimizer, Ready, optimizer};
use crate::data::{Matrix, Shape};
use crate::loss::{BaseError, Separable, Side};
use crate::predict::{Network, Predictor};
use crate::problem::Bounds;

mod barrier;
mod kernel;
mod run;

/// Tiles whose lanes are summed in single precision.
const TILES_PER_BLOCK: usize = 32;
/// Parts of the columns that threads share out among themselves.
const GROUPS: usize = 32;

/// The fused machinery, if predictor, loss and optimiser allow it.
pub(super) fn fused<'a>(
    ready: &'a Ready<'a>,
    objective: Objective<'a>,
    network: &Network,
) -> Option<Box<dyn Engine + 'a>> {
    let settings = ready.settings();
    let separable = objective.loss.separable()?;
    let wide = ready.features.shape() == Shape::Wide;
    let binary = ready.task.oracle.problem().bounds() == Bounds::Binary;
    if !network.is_linear()
        || !wide
        || !binary
        || !settings.optimizer.ignores_scale()
        || !settings.fused
        || !kernel::runs_here()
    {
        return None;
    }
    // The kernel is compiled for a few widths; in between, features of zero fill up.
    macro_rules! for_width {
        ($($p:literal)*) => {
            match network.num_features() + 1 {
                $(..=$p => Some(Box::new(Fused::<'a, $p>::new(Setup::new(ready, objective, separable), network))),)*
                _ => None,
            }
        };
    }
    for_width!(6 9 21)
}

/// What stays the same throughout fused training with P − 1 features.
struct Setup<'a, const P: usize> {
    ready: &'a Ready<'a>,
    objective: Objective<'a>,
    absolute: bool,
    aim: Aim,
    scale_invariant: bool,
    limits: Option<&'a Matrix>,
    /// Features of every row of the table, zeros up to the width, and a 1.
    features: Vec<[f32; P]>,
    /// Length of every row of costs.
    norms: Vec<f64>,
    /// One bit per cost of every row: whether its best decision chooses it; empty where nobody asks.
    chosen: Vec<u16>,
    maps: Vec<Map>,
    /// Ranges of tiles that are summed by themselves.
    groups: Vec<Range<usize>>,
    factor: f64,
}

/// Fused training with P − 1 features.
struct Fused<'a, const P: usize> {
    setup: Setup<'a, P>,
    tiles: Vec<Tile<P>>,
    moments: Vec<Moments<P>>,
    /// Upper half of the Gram matrix of the parameters as they act on features.
    gram: [[f64; P]; P],
    steps: i32,
    network: Network,
}

impl<'a, const P: usize> Setup<'a, P> {
    fn new(ready: &'a Ready<'a>, objective: Objective<'a>, separable: Separable<'a>) -> Self {
        let data = ready.task.data;
        let costs = data.data().costs();
        let tiles = costs.cols().div_ceil(LANES);
        let groups = GROUPS.min(tiles);
        let (aim, bits) = match separable.side {
            Side::Both => (Aim::Both, false),
            Side::OneSided => (Aim::OneSided, true),
            Side::Pinball(_) => (Aim::Pinball, false),
            Side::Sensitive(_) => (Aim::Sensitive, true),
        };
        Self {
            ready,
            objective,
            absolute: separable.error == BaseError::Absolute,
            aim,
            scale_invariant: separable.scale_invariant,
            limits: separable.limits,
            features: (0..data.len()).map(|row| with_one(ready.features.of(row))).collect(),
            norms: (0..data.len()).map(|row| norm(costs.row(row))).collect(),
            chosen: if bits { chosen(data, tiles) } else { Vec::new() },
            maps: maps(ready, separable.side, tiles),
            groups: (0..groups).map(|g| g * tiles / groups..(g + 1) * tiles / groups).collect(),
            factor: ready.rescaling(objective),
        }
    }

    fn num_costs(&self) -> usize {
        self.ready.task.data.data().costs().cols()
    }

    /// The numbers of the Adam step with this number.
    fn adam(&self, step: i32) -> AdamStep {
        let settings = self.ready.settings();
        let (beta1, beta2, epsilon, decay) = match settings.optimizer {
            Optimizer::Adam { beta1, beta2, epsilon, decay } => (beta1, beta2, epsilon, decay),
            Optimizer::Sgd { .. } => (0.0, 0.0, 0.0, 0.0),
        };
        AdamStep {
            rate: (settings.learning_rate / (1.0 - beta1.powi(step))) as f32,
            root: (1.0 - beta2.powi(step)).sqrt() as f32,
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            keep: (1.0 - settings.learning_rate * decay) as f32,
        }
    }
}

impl<'a, const P: usize> Fused<'a, P> {
    fn new(setup: Setup<'a, P>, network: &Network) -> Self {
        let zero = [[0.0; LANES]; P];
        let tiles = setup.maps.len();
        let mut fused = Self {
            setup,
            tiles: vec![Tile { weights: zero, gradient: zero }; tiles],
            moments: vec![Moments { mean: zero, square: zero }; tiles],
            gram: [[0.0; P]; P],
            steps: 0,
            network: network.clone(),
        };
        fused.load(network.parameters());
        fused.gram = fused.gather();
        fused
    }

    /// Takes parameters over into tiles.
    fn load(&mut self, parameters: &[f32]) {
        let features = self.network.num_features();
        let (weights, biases) = parameters.split_at(self.setup.num_costs() * features);
        for (j, bias) in biases.iter().enumerate() {
            let tile = &mut self.tiles[j / LANES];
            for q in 0..features {
                tile.weights[q][j % LANES] = weights[j * features + q];
            }
            tile.weights[P - 1][j % LANES] = *bias;
        }
    }

    /// Gives parameters back from tiles.
    fn store(&mut self) {
        let (costs, features) = (self.setup.num_costs(), self.network.num_features());
        let (weights, biases) = self.network.parameters_mut().split_at_mut(costs * features);
        for (j, bias) in biases.iter_mut().enumerate() {
            let tile = &self.tiles[j / LANES];
            for q in 0..features {
                weights[j * features + q] = tile.weights[q][j % LANES];
            }
            *bias = tile.weights[P - 1][j % LANES];
        }
    }

    /// Tile, feature and lane of every parameter, in the order of the network's.
    fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<P> {
        let (costs, features) = (self.setup.num_costs(), self.network.num_features());
        let weights = (0..costs).flat_map(move |j| (0..features).map(move |q| (j / LANES, q, j % LANES)));
        weights.chain((0..costs).map(|j| (j / LANES, P - 1, j % LANES)))
    }

    fn state_now(&mut self) -> State {
        self.store();
        let moments = |of: fn(&Moments<P>) -> &[[f32; LANES]; P]| {
            self.places().map(|(tile, q, lane)| of(&self.moments[tile])[q][lane]).collect()
        };
        let moments =
            optimizer::Moments { steps: self.steps, mean: moments(|m| &m.mean), square: moments(|m| &m.square) };
        let sums = self.gram.iter().flatten().copied().collect();
        State { parameters: self.network.parameters().to_vec(), moments, pool: None, sums }
    }

    fn go_on_from(&mut self, state: &State) {
        self.load(&state.parameters);
        for (at, (tile, q, lane)) in self.places().enumerate() {
            self.moments[tile].mean[q][lane] = state.moments.mean[at];
            self.moments[tile].square[q][lane] = state.moments.square[at];
        }
        self.steps = state.moments.steps;
        self.gram.iter_mut().flatten().zip(&state.sums).for_each(|(to, sum)| *to = *sum);
    }
}

fn with_one<const P: usize>(features: &[f32]) -> [f32; P] {
    let mut out = [0.0; P];
    out[..features.len()].copy_from_slice(features);
    out[P - 1] = 1.0;
    out
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt()
}

/// Offsets, scales and quantiles in tiles; costs beyond the last are multiplied by zero.
fn maps(ready: &Ready<'_>, side: &Side, tiles: usize) -> Vec<Map> {
    let at = |values: &[f64], j: usize| values.get(j).copied().unwrap_or(0.0) as f32;
    let tau = |j: usize| match side {
        Side::Pinball(taus) if taus.len() == 1 => taus[0] as f32,
        Side::Pinball(taus) => at(taus, j),
        Side::Both | Side::OneSided | Side::Sensitive(_) => 0.0,
    };
    let lane = |t: usize, value: &dyn Fn(usize) -> f32| std::array::from_fn(|l| value(t * LANES + l));
    let map = |t| Map {
        offset: lane(t, &|j| at(&ready.output.offset, j)),
        scale: lane(t, &|j| at(&ready.output.scale, j)),
        tau: lane(t, &tau),
    };
    (0..tiles).map(map).collect()
}

/// The best decisions of all rows as bits.
fn chosen(data: &crate::label::Labelled, tiles: usize) -> Vec<u16> {
    let mut bits = vec![0; data.len() * tiles];
    for row in 0..data.len() {
        for j in data.best(row).indices() {
            let j = *j as usize;
            bits[row * tiles + j / LANES] |= 1 << (j % LANES);
        }
    }
    bits
}
