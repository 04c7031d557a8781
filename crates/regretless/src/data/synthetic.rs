//! Synthetic tables, bit-identical to those of PyEPO's generators.
//!
//! Features are standard normal. Each cost is a polynomial of a random 0/1 combination of the
//! features, times noise: a linear predictor cannot be exact, so it matters which errors it makes.
//! Random numbers are drawn from numpy's legacy generator in PyEPO's order, in double precision,
//! and rounded at the end. The noise of the costs is drawn last, row by row: rows can be generated
//! one at a time ([`SyntheticGenerator`]) and written at once.

use super::{Dataset, FeatureShape, Features, Matrix};
use crate::error::{Error, Result};
use crate::random::NumpyRandomState;
use crate::size_limits::{self, MAX_COSTS, MAX_TABLE_VALUES};

/// Size, difficulty and seed of a synthetic table.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SyntheticSpec {
    /// Instances.
    pub instances: usize,
    /// Features per instance.
    pub features: usize,
    /// Degree of the polynomial; 1 is linear.
    pub degree: u32,
    /// Half-width of the multiplicative noise around 1.
    pub noise: f64,
    /// Seed of numpy's stream.
    pub seed: u32,
}

impl SyntheticSpec {
    /// The paper's settings: 5 features, degree 6, noise 0.5.
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
        size_limits::check_memory("the table to be made", bytes)
    }

    fn degree(&self) -> f64 {
        f64::from(self.degree)
    }

    /// `count × features` zeros and ones.
    fn draw_bernoulli(&self, stream: &mut NumpyRandomState, count: usize) -> Vec<f64> {
        stream.fill(count * self.features, NumpyRandomState::bernoulli_half)
    }

    fn draw_features(&self, stream: &mut NumpyRandomState) -> Vec<f64> {
        stream.fill(self.instances * self.features, NumpyRandomState::normal)
    }
}

/// Generates the rows of a synthetic table one by one.
#[derive(Debug, Clone)]
pub struct SyntheticGenerator {
    spec: SyntheticSpec,
    stream: NumpyRandomState,
    /// Weights of the features in each cost.
    mixing: Vec<f64>,
    features: Vec<f64>,
    kind: SyntheticKind,
    /// Rows generated so far.
    generated: usize,
}

/// The function from the mixture of features and the noise to a cost.
#[derive(Debug, Clone)]
enum SyntheticKind {
    GridPath,
    Knapsack,
    /// Distances of all pairs of nodes.
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

    /// Appends the costs of the next row, `shape((Bx)_j/√p + 3, ε)` with a separate ε for each;
    /// does nothing after the last row.
    pub fn next_row(&mut self, out: &mut Vec<f32>) {
        match &self.kind {
            SyntheticKind::GridPath => {
                let (degree, scale) = (self.spec.degree(), 3.5_f64.powf(self.spec.degree()));
                self.row(out, |_, base, noise| {
                    (base.powf(degree) + 1.0) / scale * noise
                });
            }
            SyntheticKind::Knapsack => {
                let (degree, scale) = (self.spec.degree(), 3.5_f64.powf(self.spec.degree()));
                self.row(out, |_, base, noise| {
                    ((base.powf(degree) + 1.0) * 5.0 / scale * noise).ceil()
                });
            }
            SyntheticKind::Tsp(_) => {
                let (degree, scale) = (self.spec.degree(), 3.0_f64.powf(self.spec.degree() - 1.0));
                self.row(out, |distance, base, noise| {
                    let cost = distance + base.powf(degree) / scale * noise;
                    (cost * 10_000.0).round_ties_even() / 10_000.0
                });
            }
        }
    }

    /// `shape` receives the distance of a cost, 0 where there is none, its base and its noise.
    fn row(&mut self, out: &mut Vec<f32>, shape: impl Fn(f64, f64, f64) -> f64) {
        let p = self.spec.features;
        let (root, noise) = ((p as f64).sqrt(), self.spec.noise);
        let Some(x) = self
            .features
            .get(self.generated * p..(self.generated + 1) * p)
        else {
            return;
        };
        let distances: &[f64] = if let SyntheticKind::Tsp(distances) = &self.kind {
            distances
        } else {
            &[]
        };
        let stream = &mut self.stream;
        out.extend(self.mixing.chunks_exact(p).enumerate().map(|(j, b)| {
            let product: f64 = b.iter().zip(x).map(|(b, x)| b * x).sum();
            let noise = stream.uniform(1.0 - noise, 1.0 + noise);
            shape(
                distances.get(j).copied().unwrap_or(0.0),
                product / root + 3.0,
                noise,
            ) as f32
        }));
        self.generated += 1;
    }

    /// The whole table in memory.
    ///
    /// # Errors
    /// When a number is not finite, or there is not enough memory.
    pub fn dataset(mut self) -> Result<Dataset> {
        let (rows, cols) = (self.rows(), self.num_costs());
        let count =
            size_limits::checked_product("costs of a table", &[rows, cols], MAX_TABLE_VALUES)?;
        let mut costs = size_limits::try_with_capacity("the table of costs", count)?;
        for _ in 0..rows {
            self.next_row(&mut costs);
        }
        Dataset::new(self.features()?, Matrix::new(rows, cols, costs)?, None)
    }
}

/// Travel times of the arcs of a grid.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn shortest_path(spec: SyntheticSpec, arcs: usize) -> Result<Dataset> {
    shortest_path_rows(spec, arcs)?.dataset()
}

/// The same, row by row.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn shortest_path_rows(spec: SyntheticSpec, arcs: usize) -> Result<SyntheticGenerator> {
    let spec = spec.validate()?;
    spec.check_memory_for(arcs)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let mixing = spec.draw_bernoulli(&mut stream, arcs);
    let features = spec.draw_features(&mut stream);
    Ok(SyntheticGenerator {
        spec,
        stream,
        mixing,
        features,
        kind: SyntheticKind::GridPath,
        generated: 0,
    })
}

/// Weights (one row per dimension) and values of knapsack items.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn knapsack(
    spec: SyntheticSpec,
    items: usize,
    dimensions: usize,
) -> Result<(Vec<Vec<f64>>, Dataset)> {
    let (weights, rows) = knapsack_rows(spec, items, dimensions)?;
    Ok((weights, rows.dataset()?))
}

/// The same, values row by row.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn knapsack_rows(
    spec: SyntheticSpec,
    items: usize,
    dimensions: usize,
) -> Result<(Vec<Vec<f64>>, SyntheticGenerator)> {
    let spec = spec.validate()?;
    spec.check_memory_for(items)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let weight = |stream: &mut NumpyRandomState| f64::from(300 + stream.index(500)) / 100.0;
    let weights = (0..dimensions)
        .map(|_| stream.fill(items, weight))
        .collect();
    let mixing = spec.draw_bernoulli(&mut stream, items);
    let features = spec.draw_features(&mut stream);
    Ok((
        weights,
        SyntheticGenerator {
            spec,
            stream,
            mixing,
            features,
            kind: SyntheticKind::Knapsack,
            generated: 0,
        },
    ))
}

/// Travel costs of the edges (i < j, in lexicographic order) of a complete graph.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn tsp(spec: SyntheticSpec, nodes: usize) -> Result<Dataset> {
    tsp_rows(spec, nodes)?.dataset()
}

/// The same, row by row.
///
/// # Errors
/// When the specification is invalid or the table too large.
pub fn tsp_rows(spec: SyntheticSpec, nodes: usize) -> Result<SyntheticGenerator> {
    let spec = spec.validate()?;
    let edges = size_limits::pairs("edges", nodes)?;
    spec.check_memory_for(edges)?;
    let mut stream = NumpyRandomState::new(spec.seed);
    let positions = draw_positions(&mut stream, nodes);
    let mut mixing = spec.draw_bernoulli(&mut stream, edges);
    for b in &mut mixing {
        *b *= stream.uniform(-2.0, 2.0);
    }
    let features = spec.draw_features(&mut stream);
    Ok(SyntheticGenerator {
        spec,
        stream,
        mixing,
        features,
        kind: SyntheticKind::Tsp(distances(&positions)),
        generated: 0,
    })
}

/// The positions of the nodes of [`tsp`].
pub fn node_positions(nodes: usize, seed: u32) -> Vec<[f64; 2]> {
    draw_positions(&mut NumpyRandomState::new(seed), nodes)
}

/// Positions of nodes, half of them uniform on a square, the others normal around its center.
fn draw_positions(stream: &mut NumpyRandomState, nodes: usize) -> Vec<[f64; 2]> {
    let mut coordinates = stream.fill(nodes / 2 * 2, |s| s.uniform(-2.0, 2.0));
    coordinates.extend(stream.fill((nodes - nodes / 2) * 2, NumpyRandomState::normal));
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
