//! Minimum spanning trees, against all trees.

use crate::tests::common::{below, build};
use regretless::problem::{ProblemSpec, Sense};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{SearchLimits, SolveFailure};
use regretless::{Decision, Problem};
use serde_json::json;

/// All sets of existing edges that connect the nodes without a cycle.
fn all_trees(nodes: usize, ends: &[[usize; 2]], present: &[bool]) -> Vec<Vec<u32>> {
    let mut trees = Vec::new();
    for set in 0_u32..1 << ends.len() {
        let chosen: Vec<u32> = (0..ends.len() as u32)
            .filter(|edge| set >> edge & 1 == 1)
            .collect();
        let mut part: Vec<usize> = (0..nodes).collect();
        let joins_parts = chosen.iter().all(|edge| {
            let [first, second] = ends[*edge as usize].map(|node| part[node]);
            for node in &mut part {
                if *node == second {
                    *node = first;
                }
            }
            first != second && present[*edge as usize]
        });
        if joins_parts && chosen.len() + 1 == nodes {
            trees.push(chosen);
        }
    }
    trees
}

#[test]
fn trees_ranges_and_exchanges_agree_with_all_trees() {
    let mut stream = RandomStream::new(Purpose::Importance, 15, [0, 0]);
    let limits = SearchLimits::default();
    let (mut solved, mut disconnected) = (0, 0);
    for case in 0..1200 {
        let nodes = 2 + below(&mut stream, 4);
        let count = nodes + below(&mut stream, 5);
        let mut ends = Vec::new();
        while ends.len() < count {
            let pair = [below(&mut stream, nodes), below(&mut stream, nodes)];
            // Every node has an edge, and several may join the same nodes.
            let is_first = ends.len() < nodes - 1;
            let pair = if is_first {
                [ends.len(), ends.len() + 1]
            } else {
                pair
            };
            if pair[0] != pair[1] {
                ends.push(pair);
            }
        }
        let has_absent = case % 3 == 0;
        let present: Vec<bool> = (0..count)
            .map(|_| !has_absent || below(&mut stream, 4) > 0)
            .collect();
        let names: Vec<[String; 2]> = (ends.iter())
            .map(|pair| pair.map(|node| format!("n{node}")))
            .collect();
        let flags: Vec<u8> = present.iter().copied().map(u8::from).collect();
        let spec = json!({"kind": "spanning_tree", "edges": names, "present": flags});
        let trees = all_trees(nodes, &ends, &present);
        if trees.is_empty() {
            let message = build(spec).unwrap_err();
            let is_expected = message.contains("connect") || message.contains("no edge is present");
            assert!(is_expected, "{message}");
            disconnected += 1;
            continue;
        }
        solved += 1;
        let problem = build(spec).unwrap();
        let draw = |stream: &mut RandomStream| match case % 3 {
            0 => below(stream, 4) as f64 - 1.0,
            1 => stream.uniform(-1.0, 1.0),
            // 0 and -0 tie.
            _ => [0.0, -0.0][below(stream, 2)],
        };
        let costs: Vec<f64> = (0..count).map(|_| draw(&mut stream)).collect();
        let length = |tree: &Vec<u32>, costs: &[f64]| -> f64 {
            tree.iter().map(|edge| costs[*edge as usize]).sum()
        };
        let best = |costs: &[f64]| {
            let lengths = trees.iter().map(|tree| length(tree, costs));
            lengths.fold(f64::INFINITY, f64::min)
        };
        let solution = problem.solver(&limits).solve(&costs).unwrap();
        let own = solution.decision.indices().to_vec();
        assert!(trees.contains(&own), "case {case}");
        problem.check(&solution.decision).unwrap();
        assert!(
            (solution.objective - best(&costs)).abs() < 1e-12,
            "case {case}"
        );
        let mut relaxation = problem
            .sensitivity()
            .relaxation_solver(Relaxation::Plain, &limits)
            .unwrap();
        assert_eq!(relaxation.relax(&costs).unwrap(), solution);

        let mut ranging = problem
            .sensitivity()
            .cost_ranging(CostRangeKind::Exact, &limits)
            .unwrap();
        let ranges = ranging.ranges(&costs).unwrap();
        for edge in (0..count).filter(|edge| present[*edge]) {
            let is_optimal = |value: f64| {
                let mut changed = costs.clone();
                changed[edge] = value;
                solution.decision.dot(&changed) <= best(&changed) + 1e-12
            };
            let (lower, upper) = (ranges.lower[edge], ranges.upper[edge]);
            assert!(
                is_optimal(lower.max(-9.0)) && is_optimal(upper.min(9.0)),
                "case {case}"
            );
            assert!(
                lower == f64::NEG_INFINITY || !is_optimal(lower - 1e-6),
                "case {case}"
            );
            assert!(
                upper == f64::INFINITY || !is_optimal(upper + 1e-6),
                "case {case}"
            );
        }

        let mut search = problem.sensitivity().adjacent_vertices(&limits).unwrap();
        let (_, deltas) = search.adjacent_vertices(&costs).unwrap();
        let mut found: Vec<Vec<u32>> = Vec::new();
        for delta in &deltas {
            let mut values = vec![0.0; count];
            solution.decision.add_to(1.0, &mut values);
            delta.add_to(1.0, &mut values);
            found.push(Decision::from_dense(&values).indices().to_vec());
        }
        let differs_by_one =
            |tree: &&Vec<u32>| tree.iter().filter(|edge| !own.contains(edge)).count() == 1;
        let mut expected: Vec<Vec<u32>> = trees.iter().filter(differs_by_one).cloned().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "case {case}");
    }
    assert!(
        solved > 800 && disconnected > 30,
        "{solved} and {disconnected}"
    );
}

#[test]
fn a_large_tree_is_that_of_sorting_all_edges() {
    let mut stream = RandomStream::new(Purpose::Importance, 16, [0, 0]);
    let nodes = 150;
    let problem = build(json!({"kind": "spanning_tree", "nodes": nodes})).unwrap();
    let count = nodes * (nodes - 1) / 2;
    assert_eq!(problem.num_costs(), count);
    // Few different costs: ties go to the edge with the lower number.
    let costs: Vec<f64> = (0..count).map(|_| below(&mut stream, 60) as f64).collect();
    let mut ends = Vec::new();
    for first in 0..nodes {
        ends.extend((first + 1..nodes).map(|second| [first, second]));
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|first, second| costs[*first].total_cmp(&costs[*second]));
    let mut part: Vec<usize> = (0..nodes).collect();
    let mut expected = Vec::new();
    for edge in order {
        let [first, second] = ends[edge].map(|node| part[node]);
        if first != second {
            expected.push(edge as u32);
            for node in &mut part {
                if *node == second {
                    *node = first;
                }
            }
        }
    }
    let solution = problem
        .solver(&SearchLimits::default())
        .solve(&costs)
        .unwrap();
    assert_eq!(solution.decision, Decision::from_indices(expected));
}

#[test]
fn rows_have_their_own_edges() {
    let edges = json!([["a", "b"], ["b", "c"], ["a", "c"]]);
    let spec = json!({"kind": "spanning_tree", "edges": edges, "present": {"columns": "open"}});
    let problem = build(spec).unwrap();
    let limits = SearchLimits::default();
    let mut moving = problem.solver(&limits);
    for (open, expected) in [
        ([1.0, 1.0, 1.0], Ok(vec![0, 2])),
        ([1.0, 1.0, 0.0], Ok(vec![0, 1])),
        ([0.0, 1.0, 1.0], Ok(vec![1, 2])),
        ([0.0, 0.0, 1.0], Err(SolveFailure::Infeasible)),
    ] {
        let row = problem.row_problems().row_problem(&open).unwrap();
        assert!(row.reuse_solver(moving.as_mut()));
        let found = moving.solve(&[1.0, 5.0, 2.0]);
        let found = found.map(|solution| solution.decision.indices().to_vec());
        assert_eq!(found, expected);
        if found.is_err() {
            let reason = row.failure_reasons().infeasibility().unwrap();
            assert_eq!(
                reason,
                "no edges that are present connect node 'b' with node 'a'"
            );
        }
    }
    let message = problem
        .row_problems()
        .row_problem(&[0.0, 0.0, 0.0])
        .unwrap_err();
    assert!(message.contains("no edge is present"), "{message}");
}

#[test]
fn the_sense_and_bad_input_are_respected() {
    let spec = json!({"kind": "spanning_tree", "nodes": 3, "sense": "maximize"});
    let problem = Problem::from_spec(ProblemSpec::from_json(spec.clone()).unwrap()).unwrap();
    assert_eq!(problem.sense(), Sense::Maximize);
    assert_eq!(problem.solve(&[1.0, 2.0, 3.0]).unwrap().objective, 5.0);
    assert_eq!(serde_json::to_value(problem.spec()).unwrap(), spec);
    for (fields, expected) in [
        (json!({}), "has `nodes` or `edges`"),
        (json!({"nodes": 1}), "1 nodes have no edge"),
        (
            json!({"nodes": 3, "edges": [["a", "b"]]}),
            "has `nodes` or `edges`",
        ),
        (
            json!({"edges": [["a", "b"], ["c", "d"]]}),
            "no edges connect node 'c' with node 'a'",
        ),
        (
            json!({"nodes": 3, "present": [1, 1]}),
            "`present` has 2 values for 3 edges",
        ),
        (json!({"nodes": 1_000_000}), "more edges than the"),
    ] {
        let mut spec = fields;
        spec["kind"] = json!("spanning_tree");
        let message = build(spec).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let problem = build(json!({"kind": "spanning_tree", "nodes": 4})).unwrap();
    for (edges, expected) in [
        (vec![0, 1], "2 edges are chosen, a tree has 3"),
        (vec![0, 1, 3], "do not connect node 3 with node 0"),
    ] {
        let message = problem.check(&Decision::from_indices(edges)).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}
