//! Synthetic tables, bit-identical to those of PyEPO's generators (Tang and Khalil 2022), which
//! follow Elmachtoub and Grigas (2022).
//!
//! Features x ∈ ℝᵖ are standard normal. With a random matrix B, the base of cost j is
//! b_j = (Bx)_j / √p + 3, and with the polynomial degree δ and noise ε_j uniform on
//! [1 − w, 1 + w] the costs are
//!
//! ```text
//! grid path   c_j = (b_j^δ + 1) / 3.5^δ · ε_j                     B of zeros and ones
//! knapsack    c_j = ⌈5 (b_j^δ + 1) / 3.5^δ · ε_j⌉                 B of zeros and ones
//! TSP, CVRP   c_j = distance_j + b_j^δ / 3^(δ−1) · ε_j            B of zeros and uniform [−2, 2]
//! ```
//!
//! Edge costs are rounded to four decimals. For δ > 1 a linear predictor cannot be exact, so it
//! matters which errors it makes. The constants are PyEPO's and cannot be changed without changing
//! the published benchmarks. Random numbers are drawn from numpy's legacy generator in PyEPO's
//! order, in double precision, and rounded at the end. The noise is drawn last, row by row: rows
//! can be generated one at a time ([`SyntheticGenerator`]) and written at once.

use super::{Dataset, FeatureShape, Features, Matrix};
use crate::error::{Error, Result};
use crate::observer::{NoopObserver, Observer};
use crate::random::NumpyRandomState;
use crate::size_limits::{self, MAX_COSTS, MAX_TABLE_VALUES};

/// Added to the mixture of features, so the base of the power is rarely negative.
const BASE_OFFSET: f64 = 3.0;
/// Scale of the costs of grid paths and knapsacks, raised to the degree.
const POLYNOMIAL_SCALE: f64 = 3.5;
/// Scale of the random part of edge costs, raised to the degree minus 1.
const EDGE_COST_SCALE: f64 = 3.0;
/// Factor of knapsack values before they are rounded up to integers.
const VALUE_SCALE: f64 = 5.0;
/// Edge costs are rounded to multiples of 1 / 10,000.
const EDGE_COST_DECIMALS: f64 = 10_000.0;
/// Half the side of the square with the nodes, and the largest weight of a feature in edge costs.
const HALF_SIDE: f64 = 2.0;
/// Knapsack weights are integers from 300 to 799, divided by 100.
const MIN_WEIGHT_HUNDREDTHS: u32 = 300;
const WEIGHT_RANGE_HUNDREDTHS: u32 = 500;

/// Size, difficulty and seed of a synthetic table.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SyntheticSpec {
    /// Instances.
    pub instances: usize,
    /// Features per instance.
    pub features: usize,
    /// Degree δ of the polynomial; 1 is linear.
    pub degree: u32,
    /// Half-width w of the multiplicative noise around 1.
    pub noise: f64,
    /// Seed of numpy's generator.
    pub seed: u32,
}

impl SyntheticSpec {
    /// The settings of the cost-sensitive paper (Schutte et al. 2026): 5 features, degree 6, noise
    /// 0.5.
    pub fn paper(instances: usize, seed: u32) -> Self {
        Self {
            instances,
            features: 5,
            degree: 6,
            noise: 0.5,
            seed,
        }
    }

    fn validate(self) -> Result<Self> {
        if self.instances == 0 || self.features == 0 || self.degree == 0 {
            return Err(Error::setting(
                "synthetic data need at least one instance, one feature and degree 1",
            ));
        }
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::setting(format!(
                "noise is a half-width from 0 to 1, not {}",
                self.noise
            )));
        }
        Ok(self)
    }

    /// Checks that a table with this number of costs per row fits into memory: its features and the
    /// weights of the features in each cost are stored in double precision, the features also in
    /// single precision.
    fn check_memory_for(&self, costs: usize) -> Result<()> {
        size_limits::checked_product("costs of a row", &[costs], MAX_COSTS)?;
        let features = size_limits::checked_product(
            "features of a table",
            &[self.instances, self.features],
            MAX_TABLE_VALUES,
        )?;
        let mixing = size_limits::checked_product(
            "weights of features",
            &[costs, self.features],
            MAX_TABLE_VALUES,
        )?;
        let doubles = features.saturating_add(mixing).saturating_add(costs);
        let bytes = doubles
            .saturating_mul(size_of::<f64>())
            .saturating_add(features.saturating_mul(size_of::<f32>()));
        size_limits::check_memory("the table to be generated", bytes)
    }

    fn degree(&self) -> f64 {
        f64::from(self.degree)
    }

    /// `count × features` zeros and ones.
    fn draw_bernoulli(&self, stream: &mut NumpyRandomState, count: usize) -> Vec<f64> {
        stream.draw_many(count * self.features, NumpyRandomState::bernoulli_half)
    }

    /// The generator of a table; its features are drawn now, after everything else of the problem.
    fn generator(
        self,
        mut stream: NumpyRandomState,
        mixing: Vec<f64>,
        kind: SyntheticKind,
    ) -> SyntheticGenerator {
        let count = self.instances * self.features;
        SyntheticGenerator {
            features: stream.draw_many(count, NumpyRandomState::normal),
            spec: self,
            stream,
            mixing,
            kind,
            generated: 0,
        }
    }
}

/// Generates the rows of a synthetic table one by one.
#[derive(Debug, Clone)]
pub struct SyntheticGenerator {
    spec: SyntheticSpec,
    stream: NumpyRandomState,
    /// The matrix B: weights of the features in each cost.
    mixing: Vec<f64>,
    features: Vec<f64>,
    kind: SyntheticKind,
    /// Rows generated so far.
    generated: usize,
}

/// The function from base and noise to a cost.
#[derive(Debug, Clone)]
enum SyntheticKind {
    /// With a factor of each cost, such as the length of an arc; none if all are 1.
    GridPath(Vec<f64>),
    Knapsack,
    /// With the distances of all pairs of nodes.
    Tsp(Vec<f64>),
}

impl SyntheticGenerator {
    /// Rows of the table.
    pub fn rows(&self) -> usize {
        self.spec.instances
    }

    /// Costs per row.
    pub fn num_costs(&self) -> usize {
        self.mixing.len() / self.spec.features
    }

    /// The features of all rows.
    ///
    /// # Errors
    /// Never for a valid specification.
    pub fn features(&self) -> Result<Features> {
        let values = Matrix::from_f64(self.spec.instances, self.spec.features, &self.features)?;
        Features::new(values, FeatureShape::Wide, None)
    }

    /// Appends the costs of the next row; does nothing after the last row.
    pub fn next_row(&mut self, out: &mut Vec<f32>) {
        let degree = self.spec.degree();
        match &self.kind {
            SyntheticKind::GridPath(lengths) if lengths.is_empty() => {
                let scale = POLYNOMIAL_SCALE.powf(degree);
                self.append_costs(out, |_, base, noise| {
                    (base.powf(degree) + 1.0) / scale * noise
                });
            }
            SyntheticKind::GridPath(_) => {
                let scale = POLYNOMIAL_SCALE.powf(degree);
                self.append_costs(out, |length, base, noise| {
                    length * (base.powf(degree) + 1.0) / scale * noise
                });
            }
            SyntheticKind::Knapsack => {
                let scale = POLYNOMIAL_SCALE.powf(degree);
                self.append_costs(out, |_, base, noise| {
                    ((base.powf(degree) + 1.0) * VALUE_SCALE / scale * noise).ceil()
                });
            }
            SyntheticKind::Tsp(_) => {
                let scale = EDGE_COST_SCALE.powf(degree - 1.0);
                self.append_costs(out, |distance, base, noise| {
                    let cost = distance + base.powf(degree) / scale * noise;
                    // Half to even, as numpy rounds.
                    (cost * EDGE_COST_DECIMALS).round_ties_even() / EDGE_COST_DECIMALS
                });
            }
        }
    }

    /// Multiplies the costs of a path by the lengths of its arcs.
    pub(crate) fn with_lengths(self, lengths: Vec<f64>) -> Self {
        Self {
            kind: SyntheticKind::GridPath(lengths),
            ..self
        }
    }

    /// Appends `cost(length, base, noise)` for each cost of the next row; the length is 0 if there
    /// is none.
    fn append_costs(&mut self, out: &mut Vec<f32>, cost: impl Fn(f64, f64, f64) -> f64) {
        let p = self.spec.features;
        let (root, half_width) = ((p as f64).sqrt(), self.spec.noise);
        let Some(x) = self
            .features
            .get(self.generated * p..(self.generated + 1) * p)
        else {
            return;
        };
        let lengths: &[f64] = match &self.kind {
            SyntheticKind::Tsp(lengths) | SyntheticKind::GridPath(lengths) => lengths,
            SyntheticKind::Knapsack => &[],
        };
        let stream = &mut self.stream;
        for (j, weights) in self.mixing.chunks_exact(p).enumerate() {
            let product: f64 = weights.iter().zip(x).map(|(weight, x)| weight * x).sum();
            // Drawn cost by cost, in the order of the published generator: another order would give
            // another table.
            let noise = stream.uniform(1.0 - half_width, 1.0 + half_width);
            let length = lengths.get(j).copied().unwrap_or(0.0);
            out.push(cost(length, product / root + BASE_OFFSET, noise) as f32);
        }
        self.generated += 1;
    }

    /// The whole table in memory.
    ///
    /// # Errors
    /// When a number is not finite, or there is not enough memory.
    pub fn dataset(mut self) -> Result<Dataset> {
        let (rows, cols) = (self.rows(), self.num_costs());
        let costs = self.costs(&NoopObserver)?;
        Dataset::new(self.features()?, Matrix::new(rows, cols, costs)?, None)
    }

    /// The costs of all rows, one after another.
    ///
    /// # Errors
    /// When there is not enough memory, or the observer interrupts.
    pub fn costs(&mut self, observer: &dyn Observer) -> Result<Vec<f32>> {
        let (rows, cols) = (self.rows(), self.num_costs());
        let count =
            size_limits::checked_product("costs of a table", &[rows, cols], MAX_TABLE_VALUES)?;
        let mut costs = size_limits::try_with_capacity("the table of costs", count)?;
        for _ in 0..rows {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            self.next_row(&mut costs);
        }
        Ok(costs)
    }
}

/// Costs of the arcs of a grid.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn grid_path(spec: SyntheticSpec, arcs: usize) -> Result<SyntheticGenerator> {
    let spec = spec.validate()?;
    spec.check_memory_for(arcs)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let mixing = spec.draw_bernoulli(&mut stream, arcs);
    Ok(spec.generator(stream, mixing, SyntheticKind::GridPath(Vec::new())))
}

/// Weights (one row per dimension) and values of knapsack items.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn knapsack(
    spec: SyntheticSpec,
    items: usize,
    dimensions: usize,
) -> Result<(Vec<Vec<f64>>, SyntheticGenerator)> {
    let spec = spec.validate()?;
    spec.check_memory_for(items)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let weight = |stream: &mut NumpyRandomState| {
        let hundredths = MIN_WEIGHT_HUNDREDTHS + stream.index(WEIGHT_RANGE_HUNDREDTHS);
        f64::from(hundredths) / 100.0
    };
    let weights = (0..dimensions)
        .map(|_| stream.draw_many(items, weight))
        .collect();
    let mixing = spec.draw_bernoulli(&mut stream, items);
    let generator = spec.generator(stream, mixing, SyntheticKind::Knapsack);
    Ok((weights, generator))
}

/// Costs of the edges (i < j, in lexicographic order) of a complete graph.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn tsp(spec: SyntheticSpec, nodes: usize) -> Result<SyntheticGenerator> {
    let spec = spec.validate()?;
    let edges = size_limits::pairs("edges", nodes)?;
    spec.check_memory_for(edges)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let positions = draw_positions(&mut stream, nodes);
    let mut mixing = spec.draw_bernoulli(&mut stream, edges);
    for weight in &mut mixing {
        *weight *= stream.uniform(-HALF_SIDE, HALF_SIDE);
    }
    let kind = SyntheticKind::Tsp(distances(&positions));
    Ok(spec.generator(stream, mixing, kind))
}

/// The positions of the nodes of [`tsp`].
pub(crate) fn node_positions(nodes: usize, seed: u32) -> Vec<[f64; 2]> {
    draw_positions(&mut NumpyRandomState::new(seed), nodes)
}

/// Positions of nodes, half of them uniform on a square, the others normal around its center.
fn draw_positions(stream: &mut NumpyRandomState, nodes: usize) -> Vec<[f64; 2]> {
    let mut coordinates = stream.draw_many(nodes / 2 * 2, |stream| {
        stream.uniform(-HALF_SIDE, HALF_SIDE)
    });
    coordinates.extend(stream.draw_many((nodes - nodes / 2) * 2, NumpyRandomState::normal));
    let pairs = coordinates.chunks_exact(2);
    pairs.map(|pair| [pair[0], pair[1]]).collect()
}

/// Euclidean distances of all pairs i < j.
fn distances(positions: &[[f64; 2]]) -> Vec<f64> {
    let mut distances = Vec::new();
    for (i, a) in positions.iter().enumerate() {
        for b in &positions[i + 1..] {
            distances.push(((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt());
        }
    }
    distances
}
