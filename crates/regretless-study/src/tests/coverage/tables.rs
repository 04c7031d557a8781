//! Simulated tables of a known distribution, so the true regret of a model is known.
//!
//! Every row chooses among eight items by four features. A cost is its expectation, given the
//! features, plus noise of a skewed or normal distribution. In order of time, noise and features
//! are autocorrelated and costs have a weekly pattern, whose mean over a week is 0.

use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
pub use regretless::problem::{Knapsack, ProblemSpec, Sense, TopK};

use regretless_base::random::{Purpose, RandomStream};

pub(super) const ITEMS: usize = 8;
const FEATURES: usize = 4;
/// Mean of all costs, so large that hardly one is negative.
const MEAN_COST: f64 = 5.0;
/// Autocorrelation of noise and features in order of time.
const AUTOCORRELATION: f64 = 0.5;
/// Amplitude of the weekly pattern, in standard deviations of the noise.
const WEEKLY_AMPLITUDE: f64 = 0.5;
/// Steps of a series until its start is forgotten.
const BURN_IN: usize = 50;
/// Rows with expected costs that a model's true regret is the mean of.
const FRESH_ROWS: usize = 2000;
/// Rows that the mean of the optimal objective is computed from.
const OPTIMUM_ROWS: usize = 20_000;

/// How the rows of a table relate to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RowRelation {
    Independent,
    InTime,
}

/// The distribution of noise.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Gamma,
    Normal,
    Lognormal,
}

impl Noise {
    /// A draw of mean 0 and standard deviation 1.
    fn draw(self, stream: &mut RandomStream) -> f64 {
        match self {
            Self::Gamma => (stream.gamma(2.0) - 2.0) / 2.0_f64.sqrt(),
            Self::Normal => stream.normal(),
            Self::Lognormal => {
                let variance: f64 = 0.64;
                let mean = (variance / 2.0).exp();
                let deviation = mean * (variance.exp() - 1.0).sqrt();
                ((variance.sqrt() * stream.normal()).exp() - mean) / deviation
            }
        }
    }
}

/// A distribution of tables.
pub(super) struct World {
    pub(super) problem: ProblemSpec,
    pub(super) oracle: Oracle,
    pub(super) relation: RowRelation,
    noise: Noise,
    /// Standard deviation of the noise.
    noise_size: f64,
    /// Coefficients of the features of each item.
    weights: Vec<[f64; FEATURES]>,
    /// How far expected costs depend on the features.
    signal: f64,
    /// How far the items differ in their mean.
    spread: f64,
    number: u64,
    /// Rows whose costs are the expected ones.
    fresh: LabeledDataset,
    /// Mean absolute optimal objective of a row.
    mean_optimum: f64,
    /// By how much regrets under the expected costs are lower than under costs with noise, on
    /// average: knowing the noise makes the optimum better.
    regret_of_noise: f64,
}

/// Numbers of distributions.
pub(super) const WORLDS: u64 = 12;

impl World {
    /// The distribution of this number below [`WORLDS`]: noise, problem, and whether items have the
    /// same mean. With a signal, methods differ in truth.
    pub(super) fn new(number: u64, relation: RowRelation, has_signal: bool) -> Self {
        let noise = [Noise::Gamma, Noise::Normal, Noise::Lognormal][number as usize % 3];
        let problem = if (number / 3).is_multiple_of(2) {
            let weights = vec![vec![3.0, 5.0, 2.0, 4.0, 6.0, 3.0, 5.0, 4.0]];
            ProblemSpec::Knapsack(Knapsack::with_capacity_fraction(weights, 0.4).unwrap())
        } else {
            ProblemSpec::TopK(TopK::new(ITEMS, 2, Sense::Minimize).unwrap())
        };
        let mut stream = RandomStream::new(Purpose::Benchmark, 70, [number, 0]);
        let mut weights = Vec::new();
        for _ in 0..ITEMS {
            let mut of_item = [0.0; FEATURES];
            stream.fill_normal(&mut of_item);
            let norm = of_item
                .iter()
                .map(|weight| weight * weight)
                .sum::<f64>()
                .sqrt();
            weights.push(of_item.map(|weight| weight / norm));
        }
        let oracle = Oracle::new(problem.build().unwrap());
        let empty = Dataset::new(
            Features::new(
                Matrix::new(1, FEATURES, vec![0.0; FEATURES]).unwrap(),
                FeatureShape::Wide,
                None,
            )
            .unwrap(),
            Matrix::new(1, ITEMS, vec![1.0; ITEMS]).unwrap(),
            None,
        )
        .unwrap();
        let mut world = Self {
            fresh: LabeledDataset::solve(empty, &oracle, &NoopObserver).unwrap(),
            problem,
            oracle,
            relation,
            noise,
            noise_size: if has_signal { 0.7 } else { 1.5 },
            weights,
            signal: if has_signal { 1.0 } else { 0.0 },
            spread: if (number / 6).is_multiple_of(2) {
                0.0
            } else {
                0.5
            },
            number,
            mean_optimum: 0.0,
            regret_of_noise: 0.0,
        };
        world.find_truth();
        world
    }

    /// Draws the fresh rows and the mean optimum.
    fn find_truth(&mut self) {
        let independent = |rows: usize, has_noise: bool| Rows {
            rows,
            has_noise,
            relation: RowRelation::Independent,
        };
        self.fresh = self.labeled(&[&self.draw(u64::MAX, independent(FRESH_ROWS, false))]);
        // The stationary distribution of a series is that of its rows alone, but for the weekly
        // pattern.
        let long = Rows {
            relation: self.relation,
            ..independent(OPTIMUM_ROWS, true)
        };
        let long = self.labeled(&[&self.draw(u64::MAX - 1, long)]);
        let expected = self.labeled(&[&self.draw(u64::MAX - 1, independent(OPTIMUM_ROWS, false))]);
        let mean = |data: &LabeledDataset, size: fn(f64) -> f64| {
            let rows = data.rows();
            let optima = rows.iter().map(|row| size(data.optimal_objective(*row)));
            optima.sum::<f64>() / rows.len() as f64
        };
        self.mean_optimum = mean(&long, f64::abs);
        self.regret_of_noise = mean(&expected, |value| value) - mean(&long, |value| value);
    }

    /// Expected costs of a row.
    fn expected(&self, features: &[f64; FEATURES]) -> [f64; ITEMS] {
        let mut costs = [MEAN_COST; ITEMS];
        for (item, (cost, weights)) in costs.iter_mut().zip(&self.weights).enumerate() {
            let sum: f64 = features.iter().zip(weights).map(|(x, w)| x * w).sum();
            // Far from linear, so least squares is not the best linear model.
            *cost += self.signal * (1.5 * (0.8 * sum).exp() - 2.0);
            *cost += self.spread * (item as f64 / (ITEMS - 1) as f64 - 0.5);
        }
        costs
    }

    /// Draws rows: features and costs of each.
    fn draw(&self, table: u64, drawn: Rows) -> Vec<DrawnRow> {
        let mut stream = RandomStream::new(Purpose::Benchmark, 71 + self.number, [table, 0]);
        let keeps = match drawn.relation {
            RowRelation::Independent => 0.0,
            RowRelation::InTime => AUTOCORRELATION,
        };
        let step = (1.0_f64 - keeps * keeps).sqrt();
        let mut features = [0.0; FEATURES];
        let mut noise = [0.0; ITEMS];
        let mut rows = Vec::with_capacity(drawn.rows);
        for time in 0..drawn.rows + BURN_IN {
            for value in &mut features {
                *value = keeps * *value + step * stream.normal();
            }
            for value in &mut noise {
                *value = keeps * *value + step * self.noise.draw(&mut stream);
            }
            if time < BURN_IN {
                continue;
            }
            let mut costs = self.expected(&features);
            if drawn.has_noise {
                for (item, cost) in costs.iter_mut().enumerate() {
                    let weekly = if drawn.relation == RowRelation::InTime {
                        let phase = (time % 7) as f64 / 7.0 + item as f64 / ITEMS as f64;
                        WEEKLY_AMPLITUDE * (std::f64::consts::TAU * phase).sin()
                    } else {
                        0.0
                    };
                    *cost += self.noise_size * (noise[item] + weekly);
                }
            }
            rows.push(DrawnRow {
                features: features.map(|value| value as f32),
                costs: costs.map(|value| value as f32),
            });
        }
        rows
    }

    fn labeled(&self, parts: &[&[DrawnRow]]) -> LabeledDataset {
        let rows: Vec<DrawnRow> = parts.concat();
        let features = rows.iter().flat_map(|row| row.features).collect();
        let costs = rows.iter().flat_map(|row| row.costs).collect();
        let features = Matrix::new(rows.len(), FEATURES, features).unwrap();
        let features = Features::new(features, FeatureShape::Wide, None).unwrap();
        let costs = Matrix::new(rows.len(), ITEMS, costs).unwrap();
        let data = Dataset::new(features, costs, None).unwrap();
        LabeledDataset::solve(data, &self.oracle, &NoopObserver).unwrap()
    }

    /// A table of so many rows.
    pub(super) fn table(&self, number: u64, rows: usize) -> LabeledDataset {
        self.labeled(&[&self.draw(number, self.rows(rows))])
    }

    /// A table followed by fresh rows, whose costs are the expected ones.
    pub(super) fn table_with_fresh_rows(
        &self,
        number: u64,
        rows: usize,
        fresh: usize,
    ) -> LabeledDataset {
        let independent = Rows {
            rows: fresh,
            has_noise: false,
            relation: RowRelation::Independent,
        };
        let table = self.draw(number, self.rows(rows));
        self.labeled(&[&table, &self.draw(u64::MAX, independent)])
    }

    fn rows(&self, rows: usize) -> Rows {
        Rows {
            rows,
            has_noise: true,
            relation: self.relation,
        }
    }

    /// The mean regret of a model on fresh rows under expected costs: differences of it between
    /// models are those under costs with noise.
    pub(super) fn expected_regret(&self, model: &CostModel) -> f64 {
        let rows = self.fresh.rows();
        let evaluation =
            Evaluation::of_model(model, &self.fresh, &rows, &self.oracle, &NoopObserver);
        evaluation.unwrap().regret
    }

    /// The same for a constant prediction, converted to minimization.
    pub(super) fn expected_regret_of_constant(&self, prediction: &[f32]) -> f64 {
        let rows = self.fresh.rows();
        let evaluation =
            Evaluation::of_constant(prediction, &self.fresh, &rows, &self.oracle, &NoopObserver);
        evaluation.unwrap().regret
    }

    /// A regret under expected costs as normalized regret under costs with noise.
    pub(super) fn normalized(&self, expected_regret: f64) -> f64 {
        (expected_regret + self.regret_of_noise) / self.mean_optimum
    }

    /// A difference of regrets as difference of normalized regrets.
    pub(super) fn normalized_difference(&self, difference: f64) -> f64 {
        difference / self.mean_optimum
    }
}

/// Which rows are drawn.
#[derive(Clone, Copy)]
struct Rows {
    rows: usize,
    has_noise: bool,
    relation: RowRelation,
}

#[derive(Debug, Clone, Copy)]
struct DrawnRow {
    features: [f32; FEATURES],
    costs: [f32; ITEMS],
}
