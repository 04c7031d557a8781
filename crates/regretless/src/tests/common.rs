//! Helpers of several tests: golden files, reference data, and comparison of numbers.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::data::Matrix;
use regretless::loss::{Loss, LossInput, NoiseKey};
use regretless::oracle::Oracle;
use regretless::problem::{ProblemKind, ProblemSpec, Sense, TopK};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::complete_graph::edge_ends;
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{SearchLimits, Solution};
use regretless::{Decision, Problem};

use serde_json::Value;

/// The folder with golden files, published instances and real data. A test whose file is missing
/// fails.
pub fn reference_data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A golden file by name.
pub fn golden(name: &str) -> Value {
    let path = reference_data().join(format!("golden/{name}.json"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// A list of numbers; `"inf"` and `"-inf"` count as numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    let number = |v: &Value| {
        v.as_f64()
            .unwrap_or_else(|| v.as_str().unwrap().parse().unwrap())
    };
    value.as_array().unwrap().iter().map(number).collect()
}

/// A list of lists of numbers.
pub fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// Numbers between -1 and 1 made by exact operations only, hence equal on all machines.
pub fn exact_numbers(count: usize, factor: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * factor + 11) % 101) as f32 / 50.0 - 1.0)
        .collect()
}

/// A short hash of the bits of some numbers.
pub fn hash_of_bits(numbers: &[f32]) -> String {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    blake3::hash(&bytes).to_hex()[..16].to_string()
}

/// Fails unless two lists agree to a tolerance relative to the largest number in the expected one.
/// `context` begins the message.
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64, context: &str) {
    assert_eq!(actual.len(), expected.len(), "{context}: lengths differ");
    let largest = expected
        .iter()
        .filter(|b| b.is_finite())
        .fold(0.0_f64, |max, b| max.max(b.abs()));
    for (index, (a, b)) in actual.iter().zip(expected).enumerate() {
        let close = a == b || (a - b).abs() <= tolerance * largest;
        assert!(close, "{context}[{index}]: actual {a}, expected {b}");
    }
}

/// The node sets of the subtour constraints among the normals of a golden tour. These normals have
/// several entries, and unlike those of equations their negatives are not in the list.
pub fn subtour_sets(nodes: usize, normals: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let edges = |row: &[f64]| {
        (0..row.len() as u32)
            .filter(|j| row[*j as usize] != 0.0)
            .collect::<Vec<_>>()
    };
    let is_subtour = |row: &&Vec<f64>| {
        let opposite: Vec<f64> = row.iter().map(|x| 0.0 - x).collect();
        edges(row).len() > 1 && !normals.contains(&opposite)
    };
    let node_set = |row: &Vec<f64>| {
        let mut set: Vec<usize> = edge_ends(nodes, &edges(row))
            .flat_map(|(i, j)| [i, j])
            .collect();
        set.sort_unstable();
        set.dedup();
        set
    };
    normals.iter().filter(is_subtour).map(node_set).collect()
}

/// Inputs of a golden file of cost-sensitive losses. Costs and predictions are in minimization
/// form: negated if the problem is a maximization.
pub struct CostSensitiveCase {
    sign: f64,
    pub predictions: Vec<Vec<f64>>,
    pub costs: Vec<Vec<f64>>,
    pub labels: Vec<Decision>,
    oracle: Oracle,
}

impl CostSensitiveCase {
    pub fn new(inputs: &Value, sense: &Value) -> Self {
        let sign = if sense == "max" { -1.0 } else { 1.0 };
        let to_minimization = |rows: Vec<Vec<f64>>| {
            rows.iter()
                .map(|r| r.iter().map(|v| sign * v).collect())
                .collect()
        };
        let costs: Vec<Vec<f64>> = to_minimization(rows(&inputs["true_cost"]));
        let labels = rows(&inputs["true_sol"])
            .iter()
            .map(|x| Decision::from_dense(x))
            .collect();
        let items = costs[0].len();
        let unconstrained = TopK::at_most(items, items, Sense::Minimize).unwrap();
        let predictions = to_minimization(rows(&inputs["pred"]));
        Self {
            sign,
            predictions,
            costs,
            labels,
            oracle: Oracle::new(Arc::new(unconstrained)),
        }
    }

    /// Converts numbers in the sense of the user to minimization form.
    pub fn to_minimization(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        rows.iter()
            .map(|row| row.iter().map(|v| self.sign * v).collect())
            .collect()
    }

    /// For each cost, the end of its golden range beyond which the decision changes: the upper end
    /// if the item is chosen, the lower one if not.
    pub fn limits(&self, inputs: &Value) -> Matrix {
        let ends = [rows(&inputs["bounds_lower"]), rows(&inputs["bounds_upper"])]
            .map(|ends| self.to_minimization(&ends));
        let [lower, upper] = if self.sign > 0.0 {
            ends
        } else {
            // Negation exchanges the ends.
            let [upper, lower] = ends;
            [lower, upper]
        };
        let mut limits = Vec::new();
        for (instance, label) in self.labels.iter().enumerate() {
            let limit = |j| {
                if label.value(j) == 1.0 {
                    upper[instance][j]
                } else {
                    lower[instance][j]
                }
            };
            limits.extend((0..lower[0].len()).map(limit));
        }
        Matrix::from_f64(self.labels.len(), lower[0].len(), &limits).unwrap()
    }

    pub fn optimal_objectives(&self) -> Vec<f64> {
        self.labels
            .iter()
            .zip(&self.costs)
            .map(|(x, c)| x.dot(c))
            .collect()
    }

    /// Values and gradients of all rows.
    pub fn evaluate(&self, loss: &dyn Loss, predictions: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let results = predictions
            .iter()
            .enumerate()
            .map(|(instance, prediction)| {
                let mut gradient = vec![0.0; prediction.len()];
                let input = LossInput {
                    instance,
                    costs: &self.costs[instance],
                    prediction,
                    label: &self.labels[instance],
                    noise: NoiseKey::default(),
                };
                let value = loss
                    .evaluate(&input, &mut self.oracle.worker(), &mut gradient)
                    .unwrap();
                (value, gradient)
            });
        results.unzip()
    }

    /// Compares with the golden `per_instance` and `grad_of_mean`, which are in the sense of the
    /// user.
    pub fn assert_equal(
        &self,
        expected: &Value,
        values: &[f64],
        gradients: &[Vec<f64>],
        context: &str,
    ) {
        assert_close(values, &numbers(&expected["per_instance"]), 1e-8, context);
        let count = values.len() as f64;
        let mean: Vec<f64> = gradients
            .concat()
            .iter()
            .map(|g| self.sign * g / count)
            .collect();
        assert_close(
            &mean,
            &rows(&expected["grad_of_mean"]).concat(),
            1e-8,
            &format!("{context} gradient"),
        );
    }
}

/// What a loss gets for a row without noise.
pub fn loss_input<'a>(
    costs: &'a [f64],
    prediction: &'a [f64],
    label: &'a Decision,
) -> LossInput<'a> {
    LossInput {
        instance: 0,
        costs,
        prediction,
        label,
        noise: NoiseKey::default(),
    }
}

/// Prints what a suite has checked; `scripts/nightly` reads it. `optimal` counts instances whose
/// optimum was proven, if there is one.
pub fn print_suite_summary(instances: usize, optimal: Option<usize>) {
    let optimal = optimal.map_or("-".to_owned(), |count| count.to_string());
    eprintln!("suite summary: {instances} instances, {optimal} optimal");
}

/// The problem of a problem file.
pub fn problem(spec: Value) -> Problem {
    Problem::from_spec(ProblemSpec::from_json(spec).unwrap()).unwrap()
}

/// Why a problem file is refused.
pub fn refusal(spec: Value) -> String {
    let built = ProblemSpec::from_json(spec).and_then(Problem::from_spec);
    built.unwrap_err().to_string()
}

/// The feasible set of a problem file.
pub fn build(spec: Value) -> Result<Arc<dyn ProblemKind>, String> {
    ProblemSpec::from_json(spec)
        .and_then(|spec| spec.build())
        .map_err(|error| error.to_string())
}

/// Cases that `draw` makes, each from a random stream of its own and its number.
pub fn random_cases<C>(
    seed: u64,
    count: u64,
    draw: fn(&mut RandomStream, u64) -> C,
) -> impl Iterator<Item = C> {
    (0..count).map(move |number| {
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [number, 0]);
        draw(&mut stream, number)
    })
}

/// Solves a problem whose decisions are listed; fails unless the result is one of them.
pub fn solved(kind: &dyn ProblemKind, costs: &[f64], all: &[Vec<u32>]) -> Solution {
    let solution = kind.solver(&SearchLimits::default()).solve(costs).unwrap();
    kind.check(&solution.decision).unwrap();
    assert!(all.contains(&solution.decision.indices().to_vec()));
    solution
}

/// Solves a relaxation.
pub fn relaxed(kind: &dyn ProblemKind, relaxation: Relaxation, costs: &[f64]) -> Solution {
    let limits = SearchLimits::default();
    let solver = kind.sensitivity().relaxation_solver(relaxation, &limits);
    solver.unwrap().relax(costs).unwrap()
}

/// Bounds of a row that a point with this activity satisfies: one side, both sides or an equation.
#[cfg(feature = "highs")]
pub fn row_bounds(stream: &mut RandomStream, activity: f64, slack: f64) -> [f64; 2] {
    match stream.index_below(4) {
        0 => [f64::NEG_INFINITY, activity + slack],
        1 => [activity - slack, f64::INFINITY],
        2 => [activity - slack, activity + slack],
        _ => [activity, activity],
    }
}

/// How far negated costs are from the normal cone of a choice, which contains them if it is
/// optimal; missing costs count as 0.
pub fn distance_from_cone(kind: &dyn ProblemKind, chosen: &[u32], costs: &[f64]) -> f64 {
    let negate = |cost: &f64| if cost.is_nan() { 0.0 } else { -cost };
    let negated: Vec<f64> = costs.iter().map(negate).collect();
    let decision = Decision::from_indices(chosen.iter().copied());
    let projected = kind.geometry().cone(&decision).unwrap().project(&negated);
    let squares = projected
        .iter()
        .zip(&negated)
        .map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

/// A random number below `count`.
pub fn below(stream: &mut RandomStream, count: usize) -> usize {
    (stream.standard_uniform() * count as f64) as usize
}

/// The rank of a matrix, by Gaussian elimination.
pub fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let mut rank = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let largest = (rank..rows.len())
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()));
        let Some(pivot) = largest.filter(|row| rows[*row][column].abs() > 1e-9) else {
            continue;
        };
        rows.swap(rank, pivot);
        let pivot_row = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column] / pivot_row[column];
            for (entry, pivot) in row.iter_mut().zip(&pivot_row) {
                *entry -= factor * pivot;
            }
        }
        rank += 1;
    }
    rank
}
