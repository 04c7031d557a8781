//! Time of an epoch of training, and the fraction of the machine's memory bandwidth and peak
//! arithmetic.
//!
//! `cargo bench --bench train -- [threads=2] [epochs=30] [d=31125] [loss=MSE]` prints the best
//! epoch in wall-clock time and, on one thread, in CPU time (which other programs disturb less).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

#[path = "../../../bench/src/machine.rs"]
mod machine;

#[path = "../../../bench/src/epoch_clock.rs"]
mod epoch_clock;

#[path = "measure/options.rs"]
mod options;

#[path = "measure/random.rs"]
#[allow(dead_code, reason = "each benchmark uses its own part")]
mod random;

use std::sync::Arc;

use epoch_clock::train_on_all_rows;
use machine::Machine;
use options::option;
use random::SplitMix64;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::{Problem, Sense};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::trainer::Trainer;

/// Costs and training rows of the sizes measured.
const SIZES: [(usize, usize); 6] = [
    (40, 1000),
    (190, 1000),
    (4_950, 900),
    (31_125, 900),
    (124_750, 450),
    (499_500, 200),
];
const FEATURES: usize = 5;
const BATCH: usize = 32;
/// The triad counts 12 bytes per element; a cache reads 4 more before it writes, as it does for the
/// bytes that are counted here.
const WRITE_ALLOCATE_FACTOR: f64 = 16.0 / 12.0;

fn main() {
    let number =
        |name: &str, default: usize| option(name).map_or(default, |text| text.parse().unwrap());
    let (threads, epochs) = (number("threads", 2), number("epochs", 30));
    let machine = Machine::measure(threads, false);
    println!("{}", machine.describe());
    for (costs, rows) in SIZES
        .iter()
        .filter(|(costs, _)| option("d").is_none_or(|d| d == costs.to_string()))
    {
        let case = Case::new(*costs, *rows, threads);
        let losses = match option("loss") {
            Some(loss) => vec![loss],
            None => ["MSE", "MAE(O,S)"].map(String::from).to_vec(),
        };
        for loss in losses {
            case.measure(&loss, epochs, &machine);
        }
    }
}

struct Case {
    data: LabeledDataset,
    oracle: Oracle,
    problem: Problem,
    threads: usize,
}

impl Case {
    /// Costs that depend on the features nonlinearly, with noise; decisions as sparse as tours.
    fn new(costs: usize, rows: usize, threads: usize) -> Self {
        let mut stream = SplitMix64::new(1);
        let features: Vec<f32> = (0..rows * FEATURES)
            .map(|_| stream.normal() as f32)
            .collect();
        let mixing: Vec<f32> = (0..costs * FEATURES)
            .map(|_| stream.normal() as f32)
            .collect();
        let mut values = Vec::with_capacity(rows * costs);
        for x in features.chunks(FEATURES) {
            for b in mixing.chunks(FEATURES) {
                let inner: f32 = x.iter().zip(b).map(|(x, b)| x * b).sum();
                values.push(3.0 + inner.abs() + stream.standard_uniform() as f32);
            }
        }
        let features = Features::new(
            Matrix::new(rows, FEATURES, features).unwrap(),
            FeatureShape::Wide,
            None,
        )
        .unwrap();
        let data = Dataset::new(features, Matrix::new(rows, costs, values).unwrap(), None).unwrap();
        let k = ((2 * costs) as f64).sqrt() as usize;
        let problem = Problem::top_k(costs, k, Sense::Minimize).unwrap();
        let oracle =
            Oracle::new(Arc::clone(problem.kind())).with_threads(Threads::new(threads).unwrap());
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            data,
            oracle,
            problem,
            threads,
        }
    }

    fn measure(&self, loss: &str, epochs: usize, machine: &Machine) {
        let rows = self.data.len();
        let settings = TrainingSettings {
            epochs,
            batch_size: BATCH,
            learning_rate: 0.01,
            select: SelectionCriterion::Last,
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new(loss.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let spec = self.problem.spec();
        let trained = train_on_all_rows(&self.data, &self.oracle, &trainer, spec);
        let (epochs, _) = trained.unwrap();
        let wall = best(epochs.iter().map(|epoch| epoch.wall));
        let own = best(epochs.iter().map(|epoch| epoch.cpu));
        let seconds = if self.threads == 1 { own } else { wall };
        let work = Work::of(loss, rows, self.problem.num_costs());
        let (bytes, arithmetic) = (
            work.bytes / (machine.triad * WRITE_ALLOCATE_FACTOR),
            work.flops / machine.flops,
        );
        println!(
            "{loss:9} d {:6} n {rows:4}: {:9.4} ms an epoch (wall {:9.4}), {:7.1} MB = {:5.1} \
                GB/s, {:7.1} MFLOP = {:5.1} GFLOP/s, \
             memory bound {:.4} ms, arithmetic bound {:.4} ms, {:.0} % of the roofline",
            self.problem.num_costs(),
            seconds * 1e3,
            wall * 1e3,
            work.bytes / 1e6,
            work.bytes / seconds / 1e9,
            work.flops / 1e6,
            work.flops / seconds / 1e9,
            bytes * 1e3,
            arithmetic * 1e3,
            100.0 * bytes.max(arithmetic) / seconds,
        );
    }
}

fn best(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

/// Least memory traffic and arithmetic of an epoch.
struct Work {
    bytes: f64,
    flops: f64,
}

impl Work {
    /// Bytes between memory and CPU when only a block of columns stays in cache, and
    /// multiplications and additions. With caches larger than the whole state there is less
    /// traffic.
    fn of(loss: &str, rows: usize, costs: usize) -> Self {
        let (n, d, p) = (rows as f64, costs as f64, (FEATURES + 1) as f64);
        let steps = (n / BATCH as f64).ceil();
        let normalized = loss.contains('S') && loss.contains('(');
        let bits = if loss.contains('O') { 1.0 / 8.0 } else { 0.0 };
        // Parameters, local gradient and two moments: the row-sums pass reads and writes 2, the
        // update pass reads 4 and writes 3.
        let state = if normalized {
            9.0 * 4.0 * p * steps
        } else {
            6.0 * 4.0 * p
        };
        let bytes = d * (n * (4.0 + bits) + state);
        // Forward pass, error, loss, slope and backward pass for every cost; Adam about 12 per
        // parameter; Gram matrix 2 per pair.
        let gram = if normalized { p * (p + 1.0) } else { 0.0 };
        let flops = d * (n * (4.0 * p + 6.0) + steps * (12.0 * p + gram + 2.0 * p * p));
        Self { bytes, flops }
    }
}
