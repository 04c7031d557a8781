//! Shortest paths in directed graphs and over the nodes of grids, against all simple paths.

use std::sync::Arc;

use crate::tests::common::{below, build};
use regretless::data::{Dataset, FeatureShape, Features, Matrix, RowParameters};
use regretless::label::LabeledDataset;
use regretless::loss::LossSpec;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{SearchLimits, SolveStatus};
use regretless::{Decision, Error, Problem, SolvePlace};
use serde_json::{Value, json};

/// A graph with all its paths between two nodes.
struct Case {
    spec: Value,
    /// Costs of all paths, as lists of cost numbers in increasing order.
    paths: Vec<Vec<u32>>,
    costs: Vec<f64>,
    open: Vec<bool>,
}

impl Case {
    fn best(&self, costs: &[f64]) -> f64 {
        let length = |path: &Vec<u32>| path.iter().map(|cost| costs[*cost as usize]).sum::<f64>();
        self.paths.iter().map(length).fold(f64::INFINITY, f64::min)
    }
}

/// The message of the only row without a label.
fn message_of_row(data: Dataset, oracle: &Oracle, row: usize) -> String {
    let error = LabeledDataset::solve(data, oracle, &NoopObserver).unwrap_err();
    let is_of_row = matches!(
        error,
        Error::Solver { place: SolvePlace::Row(failed), .. } if failed == row
    );
    assert!(is_of_row, "{error}");
    error.to_string()
}

/// All simple paths: `steps` has the next nodes of each node with the cost of each step.
fn simple_paths(steps: &[Vec<(usize, u32)>], source: usize, target: usize) -> Vec<Vec<u32>> {
    fn extend(
        steps: &[Vec<(usize, u32)>],
        target: usize,
        way: &mut Vec<usize>,
        paid: &mut Vec<u32>,
        found: &mut Vec<Vec<u32>>,
    ) {
        let node = way[way.len() - 1];
        if node == target {
            let mut path = paid.clone();
            path.sort_unstable();
            found.push(path);
            return;
        }
        for (next, cost) in &steps[node] {
            if !way.contains(next) {
                way.push(*next);
                paid.push(*cost);
                extend(steps, target, way, paid, found);
                way.pop();
                paid.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(
        steps,
        target,
        &mut vec![source],
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn draw_costs(stream: &mut RandomStream, count: usize, rule: usize) -> Vec<f64> {
    let mut draw = || match rule {
        // Ties.
        0 => below(stream, 4) as f64,
        1 => stream.standard_uniform(),
        // Some negative ones.
        2 => stream.uniform(-2.0, 8.0),
        _ => below(stream, 7) as f64 - 1.0,
    };
    (0..count).map(|_| draw()).collect()
}

fn draw_open(stream: &mut RandomStream, count: usize) -> Vec<bool> {
    let has_closed = below(stream, 3) == 0;
    let mut open = |_| !has_closed || below(stream, 6) > 0;
    (0..count).map(&mut open).collect()
}

/// Draws a directed graph; every third one has no cycle.
fn arc_case(stream: &mut RandomStream, number: usize) -> Case {
    let nodes = 3 + below(stream, 4);
    let count = 2 + below(stream, 3 * nodes);
    let mut ends = Vec::new();
    while ends.len() < count {
        let (from, to) = (below(stream, nodes), below(stream, nodes));
        let is_backward = from > to && number.is_multiple_of(3);
        if from != to {
            ends.push(if is_backward { (to, from) } else { (from, to) });
        }
    }
    let open = draw_open(stream, count);
    let (source, target) = (ends[0].0, ends[below(stream, count)].1);
    let mut steps = vec![Vec::new(); nodes];
    for (arc, (from, to)) in ends.iter().enumerate() {
        if open[arc] {
            steps[*from].push((*to, arc as u32));
        }
    }
    let names: Vec<[String; 2]> = (ends.iter())
        .map(|(from, to)| [format!("n{from}"), format!("n{to}")])
        .collect();
    let present: Vec<u8> = open.iter().copied().map(u8::from).collect();
    Case {
        spec: json!({"kind": "graph_path", "arcs": names, "source": format!("n{source}"),
            "target": format!("n{target}"), "present": present}),
        paths: simple_paths(&steps, source, target),
        costs: draw_costs(stream, count, number % 4),
        open,
    }
}

/// Draws a grid with costs on nodes.
fn grid_case(stream: &mut RandomStream, number: usize) -> Case {
    let (rows, cols) = (1 + below(stream, 3), 2 + below(stream, 2));
    let neighbors = if number.is_multiple_of(2) { 4 } else { 8 };
    let count = rows * cols;
    let open = draw_open(stream, count);
    let (source, target) = (below(stream, count), below(stream, count));
    let mut steps = vec![Vec::new(); count];
    for from in 0..count {
        for to in 0..count {
            let row_steps = (from / cols).abs_diff(to / cols);
            let col_steps = (from % cols).abs_diff(to % cols);
            let is_near = row_steps.max(col_steps) == 1;
            let is_straight = row_steps + col_steps == 1;
            if is_near && (neighbors == 8 || is_straight) && open[from] && open[to] {
                steps[from].push((to, to as u32));
            }
        }
    }
    let mut paths = Vec::new();
    if open[source] && open[target] {
        paths = simple_paths(&steps, source, target);
        for path in &mut paths {
            path.push(source as u32);
            path.sort_unstable();
        }
    }
    let present: Vec<u8> = open.iter().copied().map(u8::from).collect();
    Case {
        spec: json!({"kind": "graph_path", "grid": [rows, cols], "neighbors": neighbors,
            "source": source, "target": [target / cols, target % cols], "present": present}),
        paths,
        costs: draw_costs(stream, count, number % 4),
        open,
    }
}

/// Compares the solver of a case with all its paths; returns whether it is proven optimal, `None`
/// without a path.
fn check_case(case: &Case, number: usize) -> Option<bool> {
    if case.paths.is_empty() || !case.open.contains(&true) {
        let message = build(case.spec.clone()).unwrap_err();
        let is_expected = message.contains("cannot be reached") || message.contains("is present");
        assert!(is_expected, "case {number}: {message}");
        return None;
    }
    let problem = build(case.spec.clone()).unwrap();
    let limits = SearchLimits::default();
    // The costs of closed arcs are never read.
    let mut costs = case.costs.clone();
    for (cost, open) in costs.iter_mut().zip(&case.open) {
        if !open {
            *cost = f64::NAN;
        }
    }
    let solution = problem.solver(&limits).solve(&costs).unwrap();
    let best = case.best(&costs);
    let chosen = solution.decision.indices().to_vec();
    assert!(case.paths.contains(&chosen), "case {number}: no path");
    problem.check(&solution.decision).unwrap();
    assert!(solution.bound <= best + 1e-9, "case {number}: bound");
    let mut relaxation = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &limits)
        .unwrap();
    let relaxed = relaxation.relax(&costs).unwrap();
    if solution.status != SolveStatus::Optimal {
        assert!(
            problem.failure_reasons().unusable_costs(&costs).is_some(),
            "case {number}: a cycle"
        );
        assert_eq!(relaxed.status, SolveStatus::Optimal);
        assert!(
            relaxed.objective <= best + 1e-9 && relaxed.objective >= solution.bound - 1e-9,
            "case {number}: the flow costs {}, the best path {best}",
            relaxed.objective
        );
        assert!(relaxed.decision.iter().all(|(_, flow)| flow <= 1.0));
        return Some(false);
    }
    assert!(
        problem.failure_reasons().unusable_costs(&costs).is_none(),
        "case {number}: no cycle"
    );
    assert!(
        (solution.objective - best).abs() < 1e-9,
        "case {number}: {} and {best}",
        solution.objective
    );
    assert_eq!(relaxed, solution);
    let mut ranging = problem
        .sensitivity()
        .cost_ranging(CostRangeKind::Exact, &limits)
        .unwrap();
    let ranges = ranging.ranges(&costs).unwrap();
    for cost in 0..costs.len() {
        let (lower, upper) = (ranges.lower[cost], ranges.upper[cost]);
        if !case.open[cost] {
            assert_eq!((lower, upper), (f64::NEG_INFINITY, f64::INFINITY));
            continue;
        }
        assert!(lower <= costs[cost] && costs[cost] <= upper);
        let changed = |value: f64| {
            let mut changed = costs.clone();
            changed[cost] = value;
            changed
        };
        let is_optimal = |value: f64| {
            let changed = changed(value);
            solution.decision.dot(&changed) <= case.best(&changed) + 1e-9
        };
        // Ends within a distance of which all costs are tested.
        let inside = [lower.max(costs[cost] - 40.0), upper.min(costs[cost] + 40.0)];
        assert!(
            inside.into_iter().all(is_optimal),
            "case {number}: inside the range of {cost}"
        );
        if upper < f64::INFINITY {
            assert!(
                !is_optimal(upper + 1e-6),
                "case {number}: above the range of {cost}"
            );
        }
        if lower > f64::NEG_INFINITY {
            // A cycle is negative if its length is below 0 by more than the rounding of single
            // precision.
            let below = changed(lower - 1e-4);
            let is_unusable = problem.failure_reasons().unusable_costs(&below).is_some();
            let is_left = is_unusable || !is_optimal(lower - 1e-6);
            assert!(is_left, "case {number}: below the range of {cost}");
        }
    }
    Some(true)
}

#[test]
fn paths_and_ranges_agree_with_all_simple_paths() {
    let mut stream = RandomStream::new(Purpose::Importance, 5, [0, 0]);
    for (draw, least) in [
        (
            arc_case as fn(&mut RandomStream, usize) -> Case,
            [1200, 80, 100],
        ),
        (grid_case, [600, 100, 50]),
    ] {
        let mut counts = [0; 3];
        for number in 0..2000 {
            let case = draw(&mut stream, number);
            match check_case(&case, number) {
                Some(true) => counts[0] += 1,
                Some(false) => counts[1] += 1,
                None => counts[2] += 1,
            }
        }
        let enough = counts
            .iter()
            .zip(least)
            .all(|(count, least)| *count >= least);
        assert!(enough, "{counts:?}");
    }
}

#[test]
fn adjacent_vertices_are_the_paths_with_one_detour() {
    let mut stream = RandomStream::new(Purpose::Importance, 6, [0, 0]);
    let limits = SearchLimits::default();
    let mut listed = 0;
    for number in 0..800 {
        let case = arc_case(&mut stream, number);
        if case.paths.is_empty() {
            continue;
        }
        let problem = build(case.spec.clone()).unwrap();
        let ends: Vec<[String; 2]> = serde_json::from_value(case.spec["arcs"].clone()).unwrap();
        let mut search = problem.sensitivity().adjacent_vertices(&limits).unwrap();
        let (solution, deltas) = search.adjacent_vertices(&case.costs).unwrap();
        let own = solution.decision.indices();
        let mut found: Vec<Vec<u32>> = Vec::new();
        for delta in &deltas {
            let mut values = vec![0.0; case.costs.len()];
            solution.decision.add_to(1.0, &mut values);
            delta.add_to(1.0, &mut values);
            let vertex = Decision::from_dense(&values);
            problem.check(&vertex).unwrap();
            found.push(vertex.indices().to_vec());
        }
        // The arcs by which another path differs form one cycle: they are connected, and there are
        // as many of them as nodes.
        let is_adjacent = |path: &&Vec<u32>| {
            let only = |first: &[u32], second: &[u32]| -> Vec<u32> {
                let others = first.iter().filter(|arc| !second.contains(arc));
                others.copied().collect()
            };
            let differing = [only(path, own), only(own, path)].concat();
            let Some(first) = differing.first() else {
                return false;
            };
            let mut nodes: Vec<&String> = ends[*first as usize].iter().collect();
            for _ in 0..differing.len() {
                for arc in &differing {
                    let [from, to] = &ends[*arc as usize];
                    if nodes.contains(&from) || nodes.contains(&to) {
                        nodes.extend([from, to]);
                    }
                }
                nodes.sort_unstable();
                nodes.dedup();
            }
            let is_reached = |arc: &u32| nodes.contains(&&ends[*arc as usize][0]);
            differing.iter().all(is_reached) && nodes.len() == differing.len()
        };
        let mut expected: Vec<Vec<u32>> = case.paths.iter().filter(is_adjacent).cloned().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "case {number}");
        listed += found.len();
    }
    assert!(listed > 500, "{listed}");
}

#[test]
fn a_negative_cycle_is_searched_around_for_predictions_and_refused_for_labels() {
    // From a to c at cost 3; b and d form a cycle of length -1.
    let spec = json!({"kind": "graph_path", "source": "a", "target": "c",
        "arcs": [["a", "b"], ["b", "c"], ["b", "d"], ["d", "b"], ["e", "f"], ["f", "e"]]});
    let problem = build(spec).unwrap();
    let limits = SearchLimits::default();
    let costs = [1.0, 2.0, -2.0, 1.0, 1.0, 1.0];
    let solution = problem.solver(&limits).solve(&costs).unwrap();
    assert_eq!(solution.decision.indices(), [0, 1]);
    assert_eq!(
        (solution.objective, solution.status),
        (3.0, SolveStatus::LimitReached)
    );
    assert_eq!(solution.bound, 1.0, "3 less than the negative cost");
    let mut relaxation = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &limits)
        .unwrap();
    let relaxed = relaxation.relax(&costs).unwrap();
    assert_eq!(relaxed.decision.indices(), [0, 1, 2, 3]);
    assert_eq!(relaxed.objective, 2.0, "the path and the cycle once");
    // The cycle of e and f is on no way from a to c.
    let elsewhere = [1.0, 2.0, 2.0, 1.0, -5.0, 1.0];
    let solution = problem.solver(&limits).solve(&elsewhere).unwrap();
    assert_eq!(solution.status, SolveStatus::Optimal);

    let features = Matrix::from_f64(2, 1, &[0.0, 1.0]).unwrap();
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let table = [elsewhere, costs].concat();
    let data = Dataset::new(features, Matrix::from_f64(2, 6, &table).unwrap(), None).unwrap();
    let oracle = Oracle::new(Arc::clone(&problem));
    let message = message_of_row(data.clone(), &oracle, 1);
    let names_both = message.contains("node 'b'") && message.contains("node 'd'");
    assert!(names_both && message.contains("less than 0"), "{message}");
    let (labels, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
    assert_eq!((labels.len(), failed.len()), (2, 1));
}

/// 0.1 + 0.2 - 0.3 is negative in single precision, in which costs of tables are stored.
#[test]
fn a_path_is_optimal_beside_a_cycle_that_is_negative_by_rounding_only() {
    let arcs = json!([["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"]]);
    let spec = json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "d"});
    let problem = build(spec).unwrap();
    let solve = |costs: [f32; 4]| {
        let mut solver = problem.solver(&SearchLimits::default());
        solver.solve(&costs.map(f64::from)).unwrap()
    };
    let solution = solve([0.1, 0.2, -0.3, 1.0]);
    assert_eq!(solution.decision.indices(), [0, 1, 3]);
    assert_eq!(solution.status, SolveStatus::Optimal);
    let negative = solve([0.1, 0.2, -0.300_001, 1.0]);
    assert_eq!(negative.status, SolveStatus::LimitReached);
}

#[test]
fn losses_with_a_bound_keep_it_where_their_costs_have_a_negative_cycle() {
    let two_ways = |ends: [usize; 2]| [ends, [ends[1], ends[0]]];
    let streets = [
        [0, 1],
        [1, 2],
        [2, 3],
        [0, 4],
        [4, 5],
        [5, 3],
        [1, 4],
        [2, 5],
    ];
    let arcs: Vec<[usize; 2]> = streets.into_iter().flat_map(two_ways).collect();
    let count = arcs.len();
    let graph = json!({"kind": "graph_path", "source": 0, "target": 3, "arcs": arcs});
    let grid = json!({"kind": "graph_path", "grid": [4, 4]});
    let mut stream = RandomStream::new(Purpose::Importance, 7, [0, 0]);
    for (spec, count) in [(graph, count), (grid, 16)] {
        let problem = Problem::from_spec(ProblemSpec::from_json(spec).unwrap()).unwrap();
        let mut above = 0;
        for _ in 0..200 {
            let costs: Vec<f64> = (0..count).map(|_| stream.uniform(1.0, 4.0)).collect();
            // Below half the costs, where SPO+ solves for negative ones.
            let mut draw =
                || -> Vec<f64> { (0..count).map(|_| stream.uniform(0.1, 1.5)).collect() };
            let (first, second) = (draw(), draw());
            let spo = |prediction: &[f64]| {
                let loss: LossSpec = "SPO+".parse().unwrap();
                loss.evaluate(&problem, prediction, &costs).unwrap()
            };
            let (at_first, at_second) = (spo(&first), spo(&second));
            let decided = problem.solve(&first).unwrap().decision;
            let best = problem.solve(&costs).unwrap().objective;
            let regret = decided.dot(&costs) - best;
            assert!(at_first.value >= regret - 1e-9, "an upper bound of regret");
            above += usize::from(regret > 1e-9);
            let steps = second.iter().zip(&first).map(|(to, from)| to - from);
            let slope: f64 = steps
                .zip(&at_first.gradient)
                .map(|(step, g)| step * g)
                .sum();
            assert!(at_second.value >= at_first.value + slope - 1e-9, "convex");
        }
        assert!(above > 50, "{above} of 200 rows have regret");
    }
}

#[test]
fn rows_name_their_ends_by_numbers_or_names() {
    let arcs = json!([["a", "b"], ["b", "c"], ["a", "c"], ["c", "a"]]);
    let spec = json!({"kind": "graph_path", "arcs": arcs, "source": {"column": "from"},
        "target": "c"});
    let problem = build(spec).unwrap();
    let names = problem.row_problems().parameters()[0]
        .names
        .clone()
        .unwrap();
    assert_eq!(names.number("b"), Some(1.0));
    let costs = [2.0, 2.0, 3.0, 1.0];
    let limits = SearchLimits::default();
    for (name, expected) in [("a", vec![2]), ("b", vec![1]), ("c", vec![])] {
        let row = problem
            .row_problems()
            .row_problem(&[names.number(name).unwrap()])
            .unwrap();
        let solution = row.solver(&limits).solve(&costs).unwrap();
        assert_eq!(solution.decision.indices(), expected, "{name}");
        row.check(&solution.decision).unwrap();
    }
    let message = problem.row_problems().row_problem(&[7.0]).unwrap_err();
    assert!(message.contains("the nodes are a, b, c"), "{message}");
    // Whole numbers are their own names, and arrays need no translation.
    let spec = json!({"kind": "graph_path", "arcs": [[10, 20], [20, -5]],
        "source": {"column": "from"}, "target": {"column": "to"}});
    let problem = build(spec).unwrap();
    let row = problem.row_problems().row_problem(&[10.0, -5.0]).unwrap();
    let solution = row.solver(&limits).solve(&[1.0, 1.0]).unwrap();
    assert_eq!(solution.decision.indices(), [0, 1]);
    let unreachable = problem.row_problems().row_problem(&[-5.0, 10.0]).unwrap();
    let reason = unreachable.failure_reasons().infeasibility().unwrap();
    assert_eq!(reason, "node '10' cannot be reached from node '-5'");
}

#[test]
fn a_row_without_a_path_fails_with_its_nodes() {
    let spec = json!({"kind": "graph_path", "arcs": [["a", "b"], ["b", "c"]],
        "source": {"column": "from"}, "target": "c", "present": {"columns": "open"}});
    let problem = build(spec).unwrap();
    let features = Matrix::from_f64(2, 1, &[0.0, 1.0]).unwrap();
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let parameters = RowParameters::new(2)
        .with_column("from", 1, Arc::new(vec![0.0, 0.0]))
        .unwrap()
        .with_column("open", 2, Arc::new(vec![1.0, 1.0, 0.0, 1.0]))
        .unwrap();
    let costs = Matrix::from_f64(2, 2, &[1.0, 2.0, 1.0, 2.0]).unwrap();
    let data = Dataset::new(features, costs, None).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let oracle = Oracle::new(problem).for_dataset(&data).unwrap();
    let message = message_of_row(data, &oracle, 1);
    let expected = "node 'c' cannot be reached from node 'a' along the arcs that are open";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn decisions_that_are_no_path_are_refused() {
    let spec = json!({"kind": "graph_path", "source": "a", "target": "c", "arcs":
        [["a", "b"], ["b", "c"], ["a", "c"], ["c", "a"], ["d", "e"], ["e", "d"]]});
    let problem = build(spec).unwrap();
    for (arcs, expected) in [
        (vec![0], "the path ends at node 'b', not at node 'c'"),
        (vec![1], "the path ends at node 'a', not at node 'c'"),
        (vec![0, 1, 2], "two arcs leave node 'a'"),
        (vec![2, 3], "1 of the arcs are not on the path"),
        (vec![2, 4, 5], "2 of the arcs are not on the path"),
        (vec![], "the path ends at node 'a'"),
    ] {
        let message = problem.check(&Decision::from_indices(arcs)).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let grid = build(json!({"kind": "graph_path", "grid": [2, 3]})).unwrap();
    for (nodes, expected) in [
        (vec![0, 1, 2, 5], None),
        (vec![0, 1, 2, 3, 4, 5], None),
        (vec![0, 1, 5], Some("no path visits these nodes")),
        (vec![0, 1, 3, 4, 5], Some("no path visits these nodes")),
        (
            vec![0, 1, 2],
            Some("does not visit node 5 (row 1, column 2)"),
        ),
        (vec![0, 1, 2, 3, 5], Some("no path visits these nodes")),
    ] {
        let checked = grid.check(&Decision::from_indices(nodes.clone()));
        match expected {
            None => assert_eq!(checked, Ok(()), "{nodes:?}"),
            Some(expected) => assert!(checked.unwrap_err().contains(expected), "{nodes:?}"),
        }
    }
}

#[test]
fn specifications_read_back_and_bad_ones_are_refused() {
    for spec in [
        json!({"kind": "graph_path", "arcs": [["a", "b"], ["b", "c"]], "source": "a",
            "target": "c"}),
        json!({"kind": "graph_path", "arcs": [[1, 2], [2, 3], [1, 3]], "source": 1, "target": 3,
            "present": [1, 1, 0]}),
        json!({"kind": "graph_path", "grid": [3, 4], "neighbors": 8, "source": 0, "target": 11}),
    ] {
        let parsed = ProblemSpec::from_json(spec.clone()).unwrap();
        assert_eq!(serde_json::to_value(&parsed).unwrap(), spec);
    }
    let arcs = json!([["a", "b"], ["b", "c"]]);
    for (fields, expected) in [
        (
            json!({"source": "a", "target": "c"}),
            "has `arcs` or `grid`",
        ),
        (json!({"arcs": arcs, "target": "c"}), "`source` is missing"),
        (
            json!({"arcs": arcs, "source": "a", "target": "x"}),
            "target is 'x', which is a node of no arc",
        ),
        (
            json!({"arcs": arcs, "source": "c", "target": "a"}),
            "node 'a' cannot be reached from node 'c'",
        ),
        (
            json!({"arcs": arcs, "source": "a", "target": "c", "present": [1, 0]}),
            "node 'c' cannot be reached from node 'a' along the arcs that are open",
        ),
        (
            json!({"arcs": arcs, "source": "a", "target": "c", "neighbors": 4}),
            "belongs to `grid`",
        ),
        (
            json!({"grid": [2, 2], "neighbors": 6}),
            "neighbors = 6 is neither 4 nor 8",
        ),
        (
            json!({"grid": [2, 2], "target": [0, 2]}),
            "target is [0, 2], which is no node of a 2x2 grid",
        ),
        (
            json!({"grid": [2, 2], "source": 4}),
            "source is 4, which is no node of a 2x2 grid",
        ),
        (json!({"grid": [2, 0]}), "a 2x0 grid has no node"),
        (
            json!({"grid": [2, 2], "present": [1, 1, 1]}),
            "`present` has 3 values for 4 nodes",
        ),
    ] {
        let mut spec = fields;
        spec["kind"] = json!("graph_path");
        let message = build(spec).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_grid_of_nodes_has_no_adjacent_vertices_and_says_so() {
    let problem = Problem::node_grid_path(3, 3, 4).unwrap();
    assert!(
        problem
            .kind()
            .sensitivity()
            .adjacent_vertices(&SearchLimits::default())
            .is_none()
    );
    let oracle = Oracle::new(Arc::clone(problem.kind()));
    let message = oracle.require_adjacent_vertices().unwrap_err().to_string();
    let names_both = message.contains("adjacent vertices") && message.contains("3x3 grid");
    assert!(names_both, "{message}");
}

#[test]
fn a_solver_that_moves_to_another_row_returns_what_a_new_one_does() {
    let mut stream = RandomStream::new(Purpose::Importance, 8, [0, 0]);
    let side = 6;
    let mut arcs = Vec::new();
    for node in 0..side * side {
        for next in [node + 1, node + side] {
            let is_in_row = next == node + side || next % side != 0;
            if next < side * side && is_in_row {
                arcs.extend([[node, next], [next, node]]);
            }
        }
    }
    let spec = json!({"kind": "graph_path", "arcs": arcs, "source": {"column": "from"},
        "target": {"column": "to"}, "present": {"columns": "open"}});
    let problem = build(spec).unwrap();
    let limits = SearchLimits::default();
    let mut moving = problem.solver(&limits);
    let mut statuses = [0; 3];
    for case in 0..300 {
        // In the order of the parameters: open arcs, source, target.
        let is_open = |_| if below(&mut stream, 10) > 0 { 1.0 } else { 0.0 };
        let mut values: Vec<f64> = (0..arcs.len()).map(is_open).collect();
        values.extend([below(&mut stream, 36) as f64, below(&mut stream, 36) as f64]);
        let low = if case % 2 == 0 { 0.0 } else { -0.2 };
        let costs: Vec<f64> = (0..arcs.len()).map(|_| stream.uniform(low, 2.0)).collect();
        let row = problem.row_problems().row_problem(&values).unwrap();
        assert!(row.reuse_solver(moving.as_mut()));
        let expected = row.solver(&limits).solve(&costs);
        assert_eq!(moving.solve(&costs), expected, "case {case}");
        statuses[match expected {
            Ok(solution) if solution.status == SolveStatus::Optimal => 0,
            Ok(_) => 1,
            Err(_) => 2,
        }] += 1;
    }
    assert!(statuses[0] > 150 && statuses[1] > 5, "{statuses:?}");
    let other = Problem::graph_path([["a", "b"]], "a", "b").unwrap();
    assert!(!other.kind().reuse_solver(moving.as_mut()));
}
