//! Solve times of the TSP solvers and quality of the local search on the paper's synthetic data.
//!
//! These benchmarks choose among solvers that a problem otherwise chooses itself, so they are
//! ignored tests inside the crate and not programs in `benches/`. `cargo test --release -p
//! regretless --lib -- tsp_benchmark --ignored --nocapture --test-threads 1` runs them; names such
//! as `tsp_benchmark::branch_and_cut_100` select some. Costs are true (c), predicted by ordinary
//! least squares (ĉ), and 2ĉ − c as in the SPO+ loss. Times are CPU times of the thread.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]

use regretless::problem::Benchmark;
use regretless::solve::complete_graph::EdgeCostMatrix;
#[cfg(feature = "highs")]
use regretless::solve::relaxation::Relaxation;
use regretless::solve::tsp::TspBranchAndBound;
#[cfg(feature = "highs")]
use regretless::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use regretless::solve::tsp::candidates::CandidateEdges;
use regretless::solve::tsp::greedy::GreedyTour;
use regretless::solve::tsp::lin_kernighan::LinKernighan;
use regretless::solve::tsp::one_tree::OneTree;
use regretless::solve::tsp::sparse_ascent::SparseAscent;
use regretless::solve::tsp::subgradient::{AscentSchedule, AscentTarget};
use regretless::solve::{SearchLimits, SolveStatus, Solver};

use super::measure::{self, median, timed};

/// Branch-and-bound nodes after which a search stops without a proof.
const MAX_BRANCH_AND_BOUND_NODES: u64 = 200_000;

fn measure_branch_and_bound(nodes: usize, instances: usize) {
    let limits = SearchLimits {
        nodes: MAX_BRANCH_AND_BOUND_NODES,
        gap: 0.0,
        ..SearchLimits::default()
    };
    let mut solver = TspBranchAndBound::new(nodes, limits);
    measure_exact("TSP", nodes, instances, &mut solver);
}

/// `max_nodes` is the number of search tree nodes after which a search stops without a proof.
#[cfg(feature = "highs")]
fn measure_branch_and_cut(nodes: usize, instances: usize, max_nodes: u64) {
    let limits = SearchLimits {
        nodes: max_nodes,
        gap: 0.0,
        ..SearchLimits::default()
    };
    let mut solver = TspBranchAndCut::new(nodes, limits);
    measure_exact("CUT", nodes, instances, &mut solver);
}

fn measure_exact(name: &str, nodes: usize, instances: usize, solver: &mut dyn Solver) {
    let (_, costs_by_kind) = measure::kinds(Benchmark::Tsp { nodes }, instances);
    for (kind, rows) in costs_by_kind {
        let mut unproven = 0;
        let (mut times, mut firsts): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut total = 0.0;
        for costs in &rows {
            let (mut min, mut solution) = timed(|| solver.solve(costs).unwrap());
            firsts.push(min);
            // The minimum of several runs: other processes only add time, through shared caches.
            let repetitions = match nodes {
                0..=64 => 9,
                65..=100 => 2,
                _ => 0,
            };
            for _ in 0..repetitions {
                let (time, again) = timed(|| solver.solve(costs).unwrap());
                (min, solution) = (min.min(time), again);
            }
            times.push(min);
            unproven += usize::from(solution.status != SolveStatus::Optimal);
            total += solution.objective;
        }
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let max = times.iter().copied().fold(0.0, f64::max);
        println!(
            "{name}{nodes:<4} {kind:<5} median {:8.4} ms (first run {:8.4})  mean {mean:8.4}  max \
                {max:9.3}  unproven {unproven}  mean cost {:.4}",
            median(&mut times),
            median(&mut firsts),
            total / rows.len() as f64
        );
    }
}

/// Both relaxations, and cost ranging of each.
#[cfg(feature = "highs")]
fn measure_relaxations(nodes: usize, instances: usize) {
    let (_, costs_by_kind) = measure::kinds(Benchmark::Tsp { nodes }, instances);
    for (kind, rows) in costs_by_kind {
        for relaxation in [Relaxation::Plain, Relaxation::Tight] {
            let mut solver = TspRelaxation::new(nodes, relaxation);
            let (mut solving, mut ranging, mut total) = (Vec::new(), Vec::new(), 0.0);
            for costs in &rows {
                let (time, relaxed) = timed(|| solver.solve(costs).unwrap());
                total += relaxed.solution.objective;
                solving.push(time);
                ranging.push(timed(|| solver.ranges().unwrap()).0);
            }
            println!(
                "RELAX{nodes:<4} {kind:<5} {relaxation:?} median {:8.3} ms, ranging {:8.3} ms, \
                    mean value {:.4}",
                median(&mut solving),
                median(&mut ranging),
                total / rows.len() as f64
            );
        }
    }
}

/// Local search from a greedy tour, its candidates ordered by a 1-tree.
fn measure_local_search(nodes: usize, instances: usize) {
    let (_, costs_by_kind) = measure::kinds(Benchmark::Tsp { nodes }, instances);
    for (kind, rows) in costs_by_kind {
        let mut means = [StageResult::default(); 4];
        for costs in &rows {
            for (mean, stage) in means.iter_mut().zip(measure_stages(nodes, costs)) {
                mean.gap_percent += stage.gap_percent / rows.len() as f64;
                mean.milliseconds += stage.milliseconds / rows.len() as f64;
            }
        }
        print!("LK{nodes:<5} {kind:<5}");
        for (name, mean) in ["ascent", "pass", "n kicks", "3n kicks"].iter().zip(means) {
            print!(
                "  {name}: {:.2} ms {:.3} %",
                mean.milliseconds, mean.gap_percent
            );
        }
        println!();
    }
}

/// Result of a stage of the local search.
#[derive(Debug, Clone, Copy, Default)]
struct StageResult {
    /// Gap of the tour to the 1-tree bound.
    gap_percent: f64,
    milliseconds: f64,
}

/// Stages: the ascent (with the tour of a local search on the original costs), one pass of local
/// search, n kicks, and 3n kicks. A kick is a random double-bridge move.
fn measure_stages(nodes: usize, costs: &[f64]) -> [StageResult; 4] {
    let edge_costs = EdgeCostMatrix::new(nodes, costs);
    let (mut tree, mut candidates) = (OneTree::default(), CandidateEdges::default());
    let (mut greedy, mut local) = (GreedyTour::default(), LinKernighan::default());
    let mut multipliers = vec![0.0; nodes];
    candidates.fill_by_cost(&edge_costs, 6);
    let mut order = greedy.tour(&edge_costs, &candidates).to_vec();
    let first = local.improve(&edge_costs, &candidates, &mut order, 0);
    let ascent_target = |tour_cost: f64, max_steps: usize| AscentTarget {
        tour_cost,
        cutoff: f64::INFINITY,
        schedule: AscentSchedule {
            max_steps,
            step_factor: 1.0,
            patience: 5,
        },
    };
    let mut reduced_costs = EdgeCostMatrix::default();
    let (ascent, _) = timed(|| {
        tree.ascend(&edge_costs, &mut multipliers, &ascent_target(first, 10));
        reduced_costs.reduce(&edge_costs, &multipliers);
        candidates.fill_by_alpha_value(&reduced_costs, &tree, 6);
        SparseAscent::default().run(
            &edge_costs,
            &candidates,
            &mut tree,
            &mut multipliers,
            &ascent_target(first, 120),
        );
    });
    let (ordering, start) = timed(|| {
        reduced_costs.reduce(&edge_costs, &multipliers);
        candidates.fill_by_alpha_value(&reduced_costs, &tree, 6);
        greedy.tour(&reduced_costs, &candidates).to_vec()
    });
    let [pass, n_kicks, three_n_kicks] = [0, nodes, 3 * nodes].map(|kicks| {
        let mut order = start.clone();
        let (time, _) = timed(|| local.improve(&reduced_costs, &candidates, &mut order, kicks));
        (edge_costs.tour_cost(&order), ordering + time)
    });
    let target = ascent_target(three_n_kicks.0, 300);
    let bound = tree.ascend(&edge_costs, &mut multipliers, &target);
    [(first, ascent), pass, n_kicks, three_n_kicks].map(|(cost, milliseconds)| StageResult {
        gap_percent: 100.0 * (cost - bound) / cost.abs(),
        milliseconds,
    })
}

#[test]
#[ignore = "a benchmark"]
fn branch_and_bound_20() {
    measure_branch_and_bound(20, 300);
}

#[test]
#[ignore = "a benchmark"]
fn branch_and_bound_50() {
    measure_branch_and_bound(50, 100);
}

#[test]
#[ignore = "a benchmark"]
fn branch_and_bound_64() {
    measure_branch_and_bound(64, 60);
}

#[test]
#[ignore = "a benchmark"]
fn branch_and_bound_100() {
    measure_branch_and_bound(100, 30);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn branch_and_cut_50() {
    measure_branch_and_cut(50, 60, 20_000);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn branch_and_cut_100() {
    measure_branch_and_cut(100, 60, 20_000);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn branch_and_cut_250() {
    measure_branch_and_cut(250, 30, 20_000);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn branch_and_cut_500() {
    measure_branch_and_cut(500, 20, 20_000);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn branch_and_cut_1000() {
    measure_branch_and_cut(1000, 10, 400);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn relaxations_20() {
    measure_relaxations(20, 60);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn relaxations_100() {
    measure_relaxations(100, 40);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn relaxations_250() {
    measure_relaxations(250, 20);
}

#[test]
#[ignore = "a benchmark"]
#[cfg(feature = "highs")]
fn relaxations_1000() {
    measure_relaxations(1000, 5);
}

#[test]
#[ignore = "a benchmark"]
fn local_search_100() {
    measure_local_search(100, 10);
}

#[test]
#[ignore = "a benchmark"]
fn local_search_250() {
    measure_local_search(250, 5);
}

#[test]
#[ignore = "a benchmark"]
fn local_search_1000() {
    measure_local_search(1000, 2);
}
