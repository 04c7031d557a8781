//! Time of sensitivity analysis: cost ranges, adjacent vertices and projections, one thread,
//! medians.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

use std::hint::black_box;
use std::sync::Arc;

mod measure;

use measure::random::SplitMix64;
use measure::{median, timed, wanted};

use regretless::Decision;
use regretless::data::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemKind, Tsp};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{NormalCone, SearchLimits};

/// Calls timed together, so the time of the clock is negligible.
const TOGETHER: usize = 20;

fn main() {
    for (name, instances) in [
        ("SP5x5", 1000),
        ("SP50x50", 20),
        ("KS32", 1000),
        ("KS500", 100),
        ("CVRP20", 40),
        ("CVRP40", 10),
    ] {
        if wanted(name) {
            benchmark(name, instances);
        }
    }
    for nodes in [20, 50, 100, 250]
        .into_iter()
        .filter(|nodes| wanted(&format!("TSP{nodes}")))
    {
        tours(nodes);
    }
}

fn benchmark(name: &str, instances: usize) {
    let (spec, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(instances, 135))
        .unwrap();
    let problem: Arc<dyn ProblemKind> = spec.build().unwrap();
    let sense = problem.sense();
    let row = |i: usize| {
        data.costs()
            .row(i)
            .iter()
            .map(|cost| sense.convert(f64::from(*cost)))
            .collect()
    };
    let costs: Vec<Vec<f64>> = (0..instances).map(row).collect();
    let limits = SearchLimits::default();
    if let Some(mut relaxation_solver) = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &limits)
    {
        report(&format!("{name} relaxed"), &costs, |costs| {
            drop(black_box(relaxation_solver.relax(costs)));
        });
    }
    for kind in [CostRangeKind::Basis, CostRangeKind::Exact] {
        if let Some(mut ranger) = problem.sensitivity().cost_ranging(kind, &limits) {
            report(&format!("{name} ranges {kind:?}"), &costs, |costs| {
                drop(black_box(ranger.ranges(costs)));
            });
        }
    }
    if let Some(mut neighbors) = problem.sensitivity().adjacent_vertices(&limits) {
        report(&format!("{name} neighbors"), &costs, |costs| {
            drop(black_box(neighbors.adjacent_vertices(costs)));
        });
    }
    let mut solver = problem.solver(&limits);
    let cones: Vec<(NormalCone, Vec<f64>)> = costs
        .iter()
        .take(100)
        .filter_map(|costs| {
            let cone = problem
                .geometry()
                .cone(&solver.solve(costs).unwrap().decision)?;
            Some((
                cone,
                costs
                    .iter()
                    .enumerate()
                    .map(|(j, cost)| -cost * (1.0 + 0.5 * (j as f64).sin()))
                    .collect(),
            ))
        })
        .collect();
    if name != "SP50x50" {
        report(&format!("{name} projection"), &cones, |(cone, vector)| {
            drop(black_box(cone.project(vector)));
        });
    }
}

/// Tours through all nodes in order, and perturbed costs under which another tour would be better.
fn tours(nodes: usize) {
    let tour = Decision::from_indices(
        (0..nodes).map(|node| edge_index(nodes, node, (node + 1) % nodes) as u32),
    );
    let problem = Tsp::new(nodes).unwrap();
    let cone = problem.capabilities().geometry.cone(&tour).unwrap();
    let mut stream = SplitMix64::new(nodes as u64);
    let costs = |stream: &mut SplitMix64| -> Vec<f64> {
        (0..problem.num_costs())
            .map(|j| tour.value(j) * 3.0 - 5.0 + 2.0 * stream.normal())
            .collect()
    };
    let vectors: Vec<Vec<f64>> = (0..50).map(|_| costs(&mut stream)).collect();
    report(&format!("TSP{nodes} projection"), &vectors, |vector| {
        drop(black_box(cone.project(vector)));
    });
}

/// The index of edge {i, j} among all edges in lexicographic order.
fn edge_index(nodes: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * nodes - i * (i + 1) / 2 + j - i - 1
}

fn report<T>(name: &str, cases: &[T], mut run: impl FnMut(&T)) {
    let mut times: Vec<f64> = Vec::new();
    for chunk in cases.chunks(TOGETHER) {
        let (time, ()) = timed(|| chunk.iter().for_each(&mut run));
        times.push(time * 1e3 / chunk.len() as f64);
    }
    println!(
        "{name:24} median {:10.2} µs, least {:10.2}",
        median(&mut times),
        times[0]
    );
}
