//! Time of the knapsack solver: medians over benchmark instances, one thread.
//!
//! `c` are true costs, `h` the predictions of a linear model fitted by least squares. Lines
//! with "general" solve the same problems as general mixed-integer programs, each instance several
//! times with the minimum reported, the time of an undisturbed thread.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

use std::time::Instant;

use regretless::data::Matrix;
use regretless::data::SyntheticSpec;
use regretless::problem::{Benchmark, Knapsack, ProblemKind, ProblemSpec};
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{SearchLimits, SolveStatus};

fn main() {
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    for (name, instances) in [("KS32", 1000), ("KS100", 300), ("KS500", 60)] {
        if only.as_ref().is_none_or(|only| only == name) {
            measure(name, instances);
        }
    }
}

fn measure(name: &str, instances: usize) {
    let (spec, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(instances, 135))
        .unwrap();
    let ProblemSpec::Knapsack(problem) = spec else {
        return;
    };
    let truth: Vec<Vec<f64>> = (0..instances)
        .map(|i| negated(data.costs().row(i)))
        .collect();
    let predicted = least_squares(data.features().values(), &truth);
    for (kind, costs) in [("c", &truth), ("h", &predicted)] {
        report(&format!("{name} {kind}"), &problem, costs);
        #[cfg(feature = "highs")]
        general(
            &format!("{name} {kind} general"),
            &problem,
            &costs[..costs.len().min(GENERAL)],
        );
    }
    relaxations(name, &problem, &truth);
}

fn negated(row: &[f32]) -> Vec<f64> {
    row.iter().map(|value| -f64::from(*value)).collect()
}

fn report(name: &str, problem: &Knapsack, costs: &[Vec<f64>]) {
    let mut solver = problem.solver(&SearchLimits::default());
    let (mut total, mut nodes) = (0.0, 0);
    let mut times: Vec<f64> = Vec::new();
    for costs in costs {
        let started = Instant::now();
        let solution = solver.solve(costs).unwrap();
        times.push(started.elapsed().as_secs_f64() * 1e3);
        assert_eq!(solution.status, SolveStatus::Optimal);
        total += solution.objective;
        nodes += solver.nodes().unwrap_or(0);
    }
    print(name, &mut times);
    println!(
        "{:14} objectives sum to {total:.9}, {} nodes each",
        "",
        nodes / costs.len() as u64
    );
}

/// Instances solved as general mixed-integer programs.
#[cfg(feature = "highs")]
const GENERAL: usize = 100;
/// Runs of each of them.
#[cfg(feature = "highs")]
const OFTEN: usize = 5;

#[cfg(feature = "highs")]
fn general(name: &str, problem: &Knapsack, costs: &[Vec<f64>]) {
    use regretless::problem::{LinearBuilder, Sense, VariableDomain};

    let mut build = LinearBuilder::new(name, Sense::Minimize);
    (0..problem.num_costs())
        .for_each(|item| _ = build.predicted(format!("x{item}"), VariableDomain::Binary));
    for (weights, capacity) in problem.weights().iter().zip(problem.capacity()) {
        build.row(
            [f64::NEG_INFINITY, *capacity],
            weights.iter().copied().enumerate(),
        );
    }
    let mut solver = build.build().unwrap().solver(&SearchLimits::default());
    let (mut total, mut nodes) = (0.0, 0);
    let timed = |costs: &Vec<f64>| {
        let one = |_| {
            let started = Instant::now();
            let solution = solver.solve(costs).unwrap();
            (started.elapsed().as_secs_f64() * 1e3, solution)
        };
        let tries: Vec<_> = (0..OFTEN).map(one).collect();
        total += tries[0].1.objective;
        nodes += solver.nodes().unwrap_or(0);
        tries
            .iter()
            .map(|(time, _)| *time)
            .fold(f64::INFINITY, f64::min)
    };
    let mut times: Vec<f64> = costs.iter().map(timed).collect();
    print(name, &mut times);
    println!(
        "{:14} objectives sum to {total:.9}, {} nodes each",
        "",
        nodes / costs.len() as u64
    );
}

fn relaxations(name: &str, problem: &Knapsack, costs: &[Vec<f64>]) {
    let mut relaxation_solver = problem
        .capabilities()
        .sensitivity
        .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
        .unwrap();
    let timed = |costs: &Vec<f64>| {
        let started = Instant::now();
        relaxation_solver.relax(costs).unwrap();
        started.elapsed().as_secs_f64() * 1e3
    };
    let mut times: Vec<f64> = costs.iter().map(timed).collect();
    print(&format!("{name} relaxed"), &mut times);
}

fn print(name: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let (median, max) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{name:14} median {median:.4} ms, mean {mean:.4}, most {max:.3}");
}

/// Predictions of the linear model with intercept that fits best, by normal equations.
fn least_squares(features: &Matrix, costs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |i: usize| -> Vec<f64> {
        let values = features.row(i).iter().map(|x| f64::from(*x));
        values.chain([1.0]).collect()
    };
    let (size, outputs) = (features.cols() + 1, costs[0].len());
    let mut system = vec![vec![0.0; size + outputs]; size];
    for (i, costs) in costs.iter().enumerate() {
        let x = row(i);
        for (a, line) in system.iter_mut().enumerate() {
            let right = x.iter().chain(costs);
            line.iter_mut()
                .zip(right)
                .for_each(|(entry, value)| *entry += x[a] * value);
        }
    }
    eliminate(&mut system);
    let predict = |i: usize| {
        let x = row(i);
        (0..outputs)
            .map(|j| (0..size).map(|a| x[a] * system[a][size + j]).sum())
            .collect()
    };
    (0..costs.len()).map(predict).collect()
}

/// Gauss–Jordan elimination; the system is positive definite.
fn eliminate(system: &mut [Vec<f64>]) {
    for column in 0..system.len() {
        let pivot = system[column][column];
        system[column].iter_mut().for_each(|entry| *entry /= pivot);
        let own = system[column].clone();
        for (_, line) in system.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = line[column];
            line.iter_mut()
                .zip(&own)
                .for_each(|(entry, value)| *entry -= factor * value);
        }
    }
}
