//! Synthetic tables with the distribution of PyEPO's generators, equal to them bit for bit.
//!
//! Features are standard normal. Each cost is a polynomial of a random 0/1 combination of the
//! features, times noise: a linear predictor can never be exact, so it matters which errors it makes.
//! Draws follow numpy's legacy stream in PyEPO's order, in double precision, rounded at the end.

use super::{Dataset, Features, Matrix, Shape};
use crate::error::{Error, Result};
use crate::random::NumpyStream;

/// Size, difficulty and seed of a synthetic table.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Recipe {
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

impl Recipe {
    /// The paper's choice: 5 features, degree 6, noise 0.5.
    pub fn paper(instances: usize, seed: u32) -> Self {
        Self { instances, features: 5, degree: 6, noise: 0.5, seed }
    }

    fn checked(self) -> Result<Self> {
        if self.instances == 0 || self.features == 0 || self.degree == 0 {
            return Err(Error::setting("synthetic data need at least one instance, one feature and degree 1"));
        }
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::setting(format!("noise is a half-width from 0 to 1, not {}", self.noise)));
        }
        Ok(self)
    }

    fn degree(&self) -> f64 {
        f64::from(self.degree)
    }

    /// `count × features` zeros and ones.
    fn coins(&self, stream: &mut NumpyStream, count: usize) -> Vec<f64> {
        stream.fill(count * self.features, NumpyStream::coin)
    }

    fn draw_features(&self, stream: &mut NumpyStream) -> Vec<f64> {
        stream.fill(self.instances * self.features, NumpyStream::normal)
    }

    /// Costs `shape(j, (Bx)_j/√p + 3, ε)` of every instance; ε is drawn in that order.
    fn costs(
        &self,
        stream: &mut NumpyStream,
        (mixing, features): (&[f64], &[f64]),
        shape: impl Fn(usize, f64, f64) -> f64,
    ) -> Vec<f64> {
        let p = self.features;
        let root = (p as f64).sqrt();
        let mut costs = Vec::with_capacity(self.instances * mixing.len() / p);
        for x in features.chunks_exact(p) {
            for (j, b) in mixing.chunks_exact(p).enumerate() {
                let product: f64 = b.iter().zip(x).map(|(b, x)| b * x).sum();
                let noise = stream.uniform(1.0 - self.noise, 1.0 + self.noise);
                costs.push(shape(j, product / root + 3.0, noise));
            }
        }
        costs
    }

    fn dataset(&self, features: &[f64], costs: &[f64]) -> Result<Dataset> {
        let features = Matrix::from_f64(self.instances, self.features, features)?;
        let costs = Matrix::from_f64(self.instances, costs.len() / self.instances, costs)?;
        Dataset::new(Features::new(features, Shape::Wide, None)?, costs, None)
    }
}

/// Travel times of the arcs of a grid.
///
/// # Errors
/// When the recipe makes no table.
pub fn shortest_path(recipe: Recipe, arcs: usize) -> Result<Dataset> {
    let recipe = recipe.checked()?;
    let mut stream = NumpyStream::new(recipe.seed);
    let mixing = recipe.coins(&mut stream, arcs);
    let features = recipe.draw_features(&mut stream);
    let (degree, scale) = (recipe.degree(), 3.5_f64.powf(recipe.degree()));
    let costs =
        recipe.costs(&mut stream, (&mixing, &features), |_, base, noise| (base.powf(degree) + 1.0) / scale * noise);
    recipe.dataset(&features, &costs)
}

/// Weights (one row per dimension) and values of knapsack items.
///
/// # Errors
/// When the recipe makes no table.
pub fn knapsack(recipe: Recipe, items: usize, dimensions: usize) -> Result<(Vec<Vec<f64>>, Dataset)> {
    let recipe = recipe.checked()?;
    let mut stream = NumpyStream::new(recipe.seed);
    let weight = |stream: &mut NumpyStream| f64::from(300 + stream.index(500)) / 100.0;
    let weights = (0..dimensions).map(|_| stream.fill(items, weight)).collect();
    let mixing = recipe.coins(&mut stream, items);
    let features = recipe.draw_features(&mut stream);
    let (degree, scale) = (recipe.degree(), 3.5_f64.powf(recipe.degree()));
    let costs = recipe.costs(&mut stream, (&mixing, &features), |_, base, noise| {
        ((base.powf(degree) + 1.0) * 5.0 / scale * noise).ceil()
    });
    Ok((weights, recipe.dataset(&features, &costs)?))
}

/// Travel costs of the edges (i < j, in lexicographic order) of a complete graph.
///
/// # Errors
/// When the recipe makes no table.
pub fn tour(recipe: Recipe, nodes: usize) -> Result<Dataset> {
    let recipe = recipe.checked()?;
    let mut stream = NumpyStream::new(recipe.seed);
    let places = draw_places(&mut stream, nodes);
    let edges = nodes * nodes.saturating_sub(1) / 2;
    let mut mixing = recipe.coins(&mut stream, edges);
    let strengths = stream.fill(edges * recipe.features, |s| s.uniform(-2.0, 2.0));
    mixing.iter_mut().zip(strengths).for_each(|(b, strength)| *b *= strength);
    let features = recipe.draw_features(&mut stream);
    let distances = distances(&places);
    let (degree, scale) = (recipe.degree(), 3.0_f64.powf(recipe.degree() - 1.0));
    let costs = recipe.costs(&mut stream, (&mixing, &features), |edge, base, noise| {
        let cost = distances[edge] + base.powf(degree) / scale * noise;
        (cost * 10_000.0).round_ties_even() / 10_000.0
    });
    recipe.dataset(&features, &costs)
}

/// Where the nodes of [`tour`] are.
pub fn places(nodes: usize, seed: u32) -> Vec<[f64; 2]> {
    let places = draw_places(&mut NumpyStream::new(seed), nodes);
    places.chunks_exact(2).map(|place| [place[0], place[1]]).collect()
}

/// Coordinates of nodes, half of them uniform on a square, the others around its middle.
fn draw_places(stream: &mut NumpyStream, nodes: usize) -> Vec<f64> {
    let mut places = stream.fill(nodes / 2 * 2, |s| s.uniform(-2.0, 2.0));
    places.extend(stream.fill((nodes - nodes / 2) * 2, NumpyStream::normal));
    places
}

/// Euclidean distances of all pairs i < j.
fn distances(places: &[f64]) -> Vec<f64> {
    let nodes = places.len() / 2;
    let place = |i: usize| (places[2 * i], places[2 * i + 1]);
    let distance = |(a, b): ((f64, f64), (f64, f64))| ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt();
    let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
    pairs.map(|(i, j)| distance((place(i), place(j)))).collect()
}
