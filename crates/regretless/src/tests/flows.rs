//! Flows and transports, compared with the list of all whole flows and with HiGHS.

use std::sync::Arc;

use crate::tests::common::{problem, rank, refusal};
use regretless::Problem;
use regretless::cancellation::Cancellation;
use regretless::decision::Decision;
use regretless::problem::{ProblemKind, ProblemSpec, VariableBounds};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{SearchLimits, SolveFailure};
use serde_json::{Value, json};

/// A network with whole numbers and the list of its whole flows. A flow polytope with whole numbers
/// has whole vertices.
struct Case {
    nodes: usize,
    /// Tail and head of each arc.
    arcs: Vec<[usize; 2]>,
    bounds: Vec<[f64; 2]>,
    supply: Vec<f64>,
    present: Vec<bool>,
    kind: Arc<dyn ProblemKind>,
    all: Vec<Vec<f64>>,
    /// Costs of absent arcs must never be read.
    costs: Vec<f64>,
}

/// All whole flows within bounds.
fn whole_flows(arcs: &[[usize; 2]], bounds: &[[f64; 2]], supply: &[f64]) -> Vec<Vec<f64>> {
    let mut partial = vec![Vec::new()];
    for [lower, upper] in bounds {
        let mut longer = Vec::new();
        for flows in partial {
            let mut flow = *lower;
            while flow <= *upper {
                longer.push([flows.clone(), vec![flow]].concat());
                flow += 1.0;
            }
        }
        partial = longer;
    }
    partial.retain(|flows: &Vec<f64>| {
        let mut left = supply.to_vec();
        for (flow, [tail, head]) in flows.iter().zip(arcs) {
            left[*tail] -= flow;
            left[*head] += flow;
        }
        left.iter().all(|left| *left == 0.0)
    });
    partial
}

fn random_case(stream: &mut RandomStream, number: u64) -> Case {
    loop {
        let nodes = 2 + stream.index_below(4);
        let mut arcs = Vec::new();
        for _ in 0..1 + stream.index_below(7) {
            let tail = stream.index_below(nodes);
            let head = (tail + 1 + stream.index_below(nodes - 1)) % nodes;
            arcs.push([tail, head]);
        }
        let present: Vec<bool> = arcs.iter().map(|_| stream.index_below(8) > 0).collect();
        let stated: Vec<[f64; 2]> = arcs
            .iter()
            .map(|_| {
                let lower = f64::from(u8::from(stream.index_below(6) == 0));
                [lower, lower + stream.index_below(3) as f64]
            })
            .collect();
        let bounds: Vec<[f64; 2]> = stated
            .iter()
            .zip(&present)
            .map(|(bounds, present)| if *present { *bounds } else { [0.0, 0.0] })
            .collect();
        // The supply of a random flow, so there is one.
        let mut supply = vec![0.0; nodes];
        for ([tail, head], [lower, upper]) in arcs.iter().zip(&bounds) {
            let flow = lower + stream.index_below(1 + (upper - lower) as usize) as f64;
            supply[*tail] += flow;
            supply[*head] -= flow;
        }
        let is_named = |node: &usize| arcs.iter().any(|ends| ends.contains(node));
        if !present.contains(&true) || !(0..nodes).all(|node| is_named(&node)) {
            continue;
        }
        let all = whole_flows(&arcs, &bounds, &supply);
        let by_name: serde_json::Map<String, Value> = (0..nodes)
            .map(|node| (format!("n{node}"), json!(supply[node])))
            .collect();
        let named: Vec<[String; 2]> = arcs
            .iter()
            .map(|ends| ends.map(|node| format!("n{node}")))
            .collect();
        let lower: Vec<f64> = stated.iter().map(|bounds| bounds[0]).collect();
        let upper: Vec<f64> = stated.iter().map(|bounds| bounds[1]).collect();
        let flags: Vec<u8> = present.iter().map(|present| u8::from(*present)).collect();
        let built = problem(
            json!({"kind": "min_cost_flow", "arcs": named, "supply": by_name,
            "capacity": upper, "lower": lower, "present": flags}),
        );
        let costs = present.iter().map(|present| match number % 2 {
            _ if !present => f64::NAN,
            0 => stream.uniform(-3.0, 5.0),
            _ => stream.index_below(6) as f64 - 2.0,
        });
        return Case {
            nodes,
            costs: costs.collect(),
            arcs,
            bounds,
            supply,
            present,
            kind: Arc::clone(built.kind()),
            all,
        };
    }
}

fn cases(seed: u64, count: u64) -> impl Iterator<Item = Case> {
    (0..count).map(move |number| {
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [number, 0]);
        random_case(&mut stream, number)
    })
}

impl Case {
    fn cost(&self, flows: &[f64]) -> f64 {
        let arcs = flows.iter().zip(&self.costs);
        arcs.filter(|(flow, _)| **flow != 0.0)
            .map(|(flow, cost)| flow * cost)
            .sum()
    }

    fn least(&self) -> f64 {
        let costs = self.all.iter().map(|flows| self.cost(flows));
        costs.fold(f64::INFINITY, f64::min)
    }

    fn dense(&self, decision: &Decision) -> Vec<f64> {
        let mut dense = vec![0.0; self.costs.len()];
        decision.write_dense(&mut dense);
        dense
    }

    /// Rank of the normals of the constraints that bind at two flows: balances, and bounds.
    fn common_rank(&self, first: &[f64], second: &[f64]) -> usize {
        let count = self.costs.len();
        let mut rows: Vec<Vec<f64>> = (0..self.nodes)
            .map(|node| {
                let sign = |ends: &[usize; 2]| match *ends {
                    [tail, _] if tail == node => 1.0,
                    [_, head] if head == node => -1.0,
                    _ => 0.0,
                };
                self.arcs.iter().map(sign).collect()
            })
            .collect();
        for (arc, bounds) in self.bounds.iter().enumerate() {
            if first[arc] == second[arc] && bounds.contains(&first[arc]) {
                let mut row = vec![0.0; count];
                row[arc] = 1.0;
                rows.push(row);
            }
        }
        rank(rows)
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-8
}

#[test]
fn flows_are_optimal_among_all_whole_ones() {
    let limits = SearchLimits::default();
    for case in cases(7201, 3000) {
        let solution = case.kind.solver(&limits).solve(&case.costs).unwrap();
        case.kind.check(&solution.decision).unwrap();
        assert!(case.all.contains(&case.dense(&solution.decision)));
        assert!(close(solution.objective, case.least()));
        for kind in [Relaxation::Plain, Relaxation::Tight] {
            let sensitivity = case.kind.sensitivity();
            let mut relaxation = sensitivity.relaxation_solver(kind, &limits).unwrap();
            assert_eq!(relaxation.relax(&case.costs).unwrap(), solution);
        }
    }
}

#[test]
fn exact_ranges_end_where_another_flow_becomes_optimal() {
    let limits = SearchLimits::default();
    let mut ends = 0;
    for case in cases(7202, 800) {
        let solution = case.kind.solver(&limits).solve(&case.costs).unwrap();
        let own = case.dense(&solution.decision);
        let ranges = |kind: CostRangeKind| {
            let mut ranging = case.kind.sensitivity().cost_ranging(kind, &limits).unwrap();
            ranging.ranges(&case.costs).unwrap()
        };
        let (exact, basis) = (ranges(CostRangeKind::Exact), ranges(CostRangeKind::Basis));
        for arc in 0..case.costs.len() {
            // The cost may change by the largest amount at which no other flow is better.
            let (mut fall, mut rise) = (f64::INFINITY, f64::INFINITY);
            for other in &case.all {
                let (more, loss) = (other[arc] - own[arc], case.cost(other) - case.cost(&own));
                if more > 0.0 {
                    fall = fall.min(loss / more);
                } else if more < 0.0 {
                    rise = rise.min(loss / -more);
                }
            }
            let cost = case.costs[arc];
            for (end, expected) in [
                (cost - exact.lower[arc], fall),
                (exact.upper[arc] - cost, rise),
            ] {
                assert!(!case.present[arc] || end == expected || close(end, expected));
                ends += usize::from(expected.is_finite());
            }
            if case.present[arc] {
                assert!(
                    basis.lower[arc] >= exact.lower[arc] - 1e-8 && basis.lower[arc] <= cost + 1e-9
                );
                assert!(
                    basis.upper[arc] <= exact.upper[arc] + 1e-8 && basis.upper[arc] >= cost - 1e-9
                );
            } else {
                assert_eq!(exact.lower[arc], f64::NEG_INFINITY);
                assert_eq!(exact.upper[arc], f64::INFINITY);
            }
        }
    }
    assert!(ends > 500, "only {ends} ranges have an end");
}

#[test]
fn ranges_of_a_basis_are_exact_where_it_is_the_only_one() {
    // 0 to 2 directly or over 1; flows between their bounds on all arcs of the tree.
    let built = problem(json!({"kind": "min_cost_flow", "supply": {"a": 5, "c": -5},
        "arcs": [["a", "b"], ["b", "c"], ["a", "c"]], "capacity": [3, 9, 9]}));
    let limits = SearchLimits::default();
    let costs = [1.0, 1.0, 4.0];
    for kind in [CostRangeKind::Basis, CostRangeKind::Exact] {
        let sensitivity = built.kind().sensitivity();
        let mut ranging = sensitivity.cost_ranging(kind, &limits).unwrap();
        let ranges = ranging.ranges(&costs).unwrap();
        assert_eq!(ranges.lower, [f64::NEG_INFINITY, f64::NEG_INFINITY, 2.0]);
        assert_eq!(ranges.upper, [3.0, 3.0, f64::INFINITY]);
    }
}

#[test]
fn adjacent_vertices_are_complete() {
    let limits = SearchLimits::default();
    let (mut found_in_all, mut degenerate) = (0, 0);
    for case in cases(7203, 800) {
        let mut search = case.kind.sensitivity().adjacent_vertices(&limits).unwrap();
        let (solution, deltas) = search.adjacent_vertices(&case.costs).unwrap();
        let own = case.dense(&solution.decision);
        let count = case.costs.len();
        let is_vertex = |flows: &&Vec<f64>| case.common_rank(flows, flows) == count;
        let is_adjacent =
            |other: &&Vec<f64>| **other != own && case.common_rank(&own, other) == count - 1;
        let vertices: Vec<&Vec<f64>> = case.all.iter().filter(is_vertex).collect();
        let mut expected: Vec<Vec<f64>> =
            vertices.into_iter().filter(is_adjacent).cloned().collect();
        let mut found: Vec<Vec<f64>> = deltas
            .iter()
            .map(|delta| {
                let mut flows = own.clone();
                delta.add_to(1.0, &mut flows);
                flows
            })
            .collect();
        for flows in [&mut expected, &mut found] {
            flows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        assert_eq!(found, expected, "{own:?}");
        found_in_all += found.len();
        let between = own
            .iter()
            .zip(&case.bounds)
            .filter(|(x, [l, u])| *x > l && *x < u);
        degenerate += usize::from(between.count() + 1 < case.nodes);
    }
    assert!(
        found_in_all > 300 && degenerate > 100,
        "{found_in_all} {degenerate}"
    );
}

#[test]
fn cones_contain_the_costs_under_which_a_flow_is_optimal() {
    let limits = SearchLimits::default();
    for case in cases(7204, 200) {
        let min = case
            .kind
            .solver(&limits)
            .solve(&case.costs)
            .unwrap()
            .objective;
        let negated: Vec<f64> = case
            .costs
            .iter()
            .map(|cost| if cost.is_nan() { 0.0 } else { -cost })
            .collect();
        for flows in case.all.iter().take(20) {
            let decision = Decision::from_dense(flows);
            let cone = case.kind.geometry().cone(&decision).unwrap();
            let projected = cone.project(&negated);
            let squares = projected
                .iter()
                .zip(&negated)
                .map(|(a, b)| (a - b) * (a - b));
            let distance = squares.sum::<f64>().sqrt();
            assert_eq!(distance < 1e-6, case.cost(flows) < min + 1e-9, "{distance}");
        }
    }
}

/// A transport and its costs; some lanes are absent or have a capacity.
#[cfg(feature = "highs")]
fn random_transport(stream: &mut RandomStream) -> (Value, Vec<f64>) {
    let (sources, destinations) = (1 + stream.index_below(5), 1 + stream.index_below(5));
    let mut number = |low: f64, high: f64| stream.uniform(low, high);
    let demand: Vec<f64> = (0..destinations).map(|_| number(0.0, 4.0)).collect();
    let share = number(1.0, 1.5) * demand.iter().sum::<f64>() / sources as f64;
    let supply = vec![share; sources];
    let count = sources * destinations;
    let capacity: Vec<Value> = (0..count)
        .map(|_| match number(0.0, 1.0) {
            chance if chance < 0.3 => json!(number(1.0, 6.0)),
            _ => json!("inf"),
        })
        .collect();
    let present: Vec<u8> = (0..count)
        .map(|_| u8::from(number(0.0, 1.0) > 0.1))
        .collect();
    let costs = (0..count).map(|_| number(-2.0, 6.0)).collect();
    let spec = json!({"kind": "transport", "supply": supply, "demand": demand,
        "capacity": capacity, "present": present});
    (spec, costs)
}

#[cfg(feature = "highs")]
#[test]
fn transports_have_the_optimum_of_their_linear_program() {
    use regretless::Sense;
    use regretless::problem::{LinearBuilder, VariableDomain};

    let limits = SearchLimits::default();
    let (mut feasible, mut infeasible) = (0, 0);
    for number in 0..300 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 7205, [number, 0]);
        let (spec, costs) = random_transport(&mut stream);
        let Ok(built) = ProblemSpec::from_json(spec.clone()) else {
            continue;
        };
        let numbers = |key: &str| -> Vec<f64> {
            let list = spec[key].as_array().unwrap();
            list.iter()
                .map(|value| value.as_f64().unwrap_or(f64::INFINITY))
                .collect()
        };
        let (supply, demand) = (numbers("supply"), numbers("demand"));
        let (capacity, present) = (numbers("capacity"), numbers("present"));
        let mut linear = LinearBuilder::new("transport", Sense::Minimize);
        for lane in 0..costs.len() {
            let upper = if present[lane] == 1.0 {
                capacity[lane]
            } else {
                0.0
            };
            linear.predicted(format!("x{lane}"), VariableDomain::Continuous([0.0, upper]));
        }
        let count = demand.len();
        for (source, supply) in supply.iter().enumerate() {
            let lanes = (0..count).map(|destination| (source * count + destination, 1.0));
            linear.row([f64::NEG_INFINITY, *supply], lanes.collect::<Vec<_>>());
        }
        for (destination, demand) in demand.iter().enumerate() {
            let lanes = (0..supply.len()).map(|source| (source * count + destination, 1.0));
            linear.row([*demand, *demand], lanes.collect::<Vec<_>>());
        }
        let linear = linear.build().unwrap();
        let expected = linear.solver(&limits).solve(&costs);
        match Problem::from_spec(built) {
            Ok(built) => {
                let solution = built.kind().solver(&limits).solve(&costs).unwrap();
                built.kind().check(&solution.decision).unwrap();
                linear.check(&solution.decision).unwrap();
                assert!((solution.objective - expected.unwrap().objective).abs() < 1e-6);
                for kind in [CostRangeKind::Basis, CostRangeKind::Exact] {
                    let sensitivity = built.kind().sensitivity();
                    let mut ranging = sensitivity.cost_ranging(kind, &limits).unwrap();
                    let ranges = ranging.ranges(&costs).unwrap();
                    check_ranges(
                        built.kind().as_ref(),
                        &costs,
                        &solution.decision,
                        &ranges,
                        kind,
                    );
                }
                feasible += 1;
            }
            Err(error) => {
                assert!(expected.is_err(), "{error}");
                assert!(
                    error.to_string().contains("no transport is feasible"),
                    "{error}"
                );
                infeasible += 1;
            }
        }
    }
    assert!(feasible > 150 && infeasible > 20, "{feasible} {infeasible}");
}

/// Checks both ends of all ranges by solving again.
#[cfg(feature = "highs")]
fn check_ranges(
    kind: &dyn ProblemKind,
    costs: &[f64],
    decision: &Decision,
    ranges: &regretless::solve::relaxation::CostRanges,
    range_kind: CostRangeKind,
) {
    let mut solver = kind.solver(&SearchLimits::default());
    let present = kind.present_costs().map(<[bool]>::to_vec);
    for lane in 0..costs.len() {
        if present.as_ref().is_some_and(|present| !present[lane]) {
            continue;
        }
        for (end, step) in [(ranges.lower[lane], -1e-3), (ranges.upper[lane], 1e-3)] {
            if !end.is_finite() {
                continue;
            }
            let mut changed = costs.to_vec();
            changed[lane] = end;
            let best = solver.solve(&changed).unwrap().objective;
            assert!(decision.dot(&changed) < best + 1e-6);
            changed[lane] = end + step;
            let best = solver.solve(&changed).unwrap().objective;
            if range_kind == CostRangeKind::Exact {
                assert!(decision.dot(&changed) > best + 1e-9, "{end}");
            }
        }
    }
}

#[test]
fn networks_without_a_feasible_flow_are_refused_with_the_cut() {
    let arcs = json!([["mine", "mill"], ["mill", "town"], ["mill", "port"]]);
    let supply = json!({"mine": 9, "town": -4, "port": -5});
    let message = refusal(
        json!({"kind": "min_cost_flow", "arcs": arcs, "supply": supply,
        "capacity": [9, 3, 9]}),
    );
    assert!(
        message.contains("no flow is feasible: node town needs 4, but only 3 can reach it"),
        "{message}"
    );
    let message = refusal(json!({"kind": "min_cost_flow", "arcs": arcs,
        "supply": {"mine": 9, "town": -4}}));
    assert!(
        message.contains("supplies sum to 9 and demands to 4"),
        "{message}"
    );
    let message = refusal(json!({"kind": "transport", "supply": [2, 3], "demand": [4, 2]}));
    assert!(
        message.contains("the destinations need 6, more than the 5"),
        "{message}"
    );
    let message = refusal(
        json!({"kind": "transport", "supply": [5, 5], "demand": [4, 2],
        "destinations": ["east", "west"], "capacity": [1, "inf", 2, "inf"]}),
    );
    assert!(
        message.contains("too little can reach the destinations east: 1 is missing"),
        "{message}"
    );
    let arcs = json!([["mine", "mill"], ["mill", "town"], ["mill", "port"]]);
    let message = refusal(json!({"kind": "min_cost_flow", "arcs": arcs,
        "supply": {"mine": 9, "town": -4, "port": -5}, "capacity": [7, "inf", "inf"]}));
    assert!(
        message.contains("the nodes town, port need 9 together, but only 7 can reach them"),
        "{message}"
    );
    // The cut of a random network is one: its nodes need more than its arcs carry.
    let mut infeasible = 0;
    for case in cases(7206, 400) {
        let mut supply = case.supply.clone();
        supply[0] += 2.0;
        supply[case.nodes - 1] -= 2.0;
        let exists = !whole_flows(&case.arcs, &case.bounds, &supply).is_empty();
        let by_name: serde_json::Map<String, Value> = (0..case.nodes)
            .map(|node| (format!("n{node}"), json!(supply[node])))
            .collect();
        let mut spec = serde_json::to_value(case_spec(&case)).unwrap();
        spec["supply"] = Value::Object(by_name);
        let built = ProblemSpec::from_json(spec).and_then(Problem::from_spec);
        assert_eq!(built.is_ok(), exists, "{built:?}");
        infeasible += usize::from(!exists);
    }
    assert!(infeasible > 100, "only {infeasible} networks have no flow");
}

fn case_spec(case: &Case) -> ProblemSpec {
    let named: Vec<[String; 2]> = case
        .arcs
        .iter()
        .map(|ends| ends.map(|node| format!("n{node}")))
        .collect();
    let lower: Vec<f64> = case.bounds.iter().map(|bounds| bounds[0]).collect();
    let upper: Vec<f64> = case.bounds.iter().map(|bounds| bounds[1]).collect();
    let spec = json!({"kind": "min_cost_flow", "arcs": named, "supply": {}, "capacity": upper,
        "lower": lower});
    ProblemSpec::from_json(spec).unwrap()
}

#[test]
fn a_cycle_of_negative_cost_without_a_limit_is_unbounded() {
    let arcs = json!([["a", "b"], ["b", "a"], ["b", "c"]]);
    let supply = json!({"a": 1, "c": -1});
    let open = problem(json!({"kind": "min_cost_flow", "arcs": arcs, "supply": supply}));
    let limits = SearchLimits::default();
    let solve = |kind: &Problem, costs: [f64; 3]| kind.kind().solver(&limits).solve(&costs);
    assert_eq!(solve(&open, [-2.0, 1.0, 1.0]), Err(SolveFailure::Unbounded));
    assert_eq!(solve(&open, [-2.0, 2.0, 1.0]).unwrap().objective, -1.0);
    let limited = json!({"kind": "min_cost_flow", "arcs": arcs, "supply": supply,
        "capacity": ["inf", 4, "inf"]});
    let solution = solve(&problem(limited), [-2.0, 1.0, 1.0]).unwrap();
    assert_eq!(solution.objective, -2.0 * 5.0 + 4.0 + 1.0);
}

/// 0.1 + 0.2 - 0.3 is negative in single precision, in which costs of tables are stored.
#[test]
fn a_cycle_that_is_negative_by_rounding_only_is_not_unbounded() {
    let open = problem(json!({"kind": "min_cost_flow", "supply": {"a": 1, "c": -1},
        "arcs": [["a", "b"], ["b", "c"], ["c", "a"]]}));
    let costs = [0.1_f32, 0.2, -0.3].map(f64::from);
    let solve = |costs: &[f64]| open.kind().solver(&SearchLimits::default()).solve(costs);
    let solution = solve(&costs).unwrap();
    assert_eq!(solution.decision.indices(), [0, 1]);
    assert_eq!(solution.objective, costs[0] + costs[1]);
    let negative = [0.1_f32, 0.2, -0.300_001].map(f64::from);
    assert_eq!(solve(&negative), Err(SolveFailure::Unbounded));
}

#[test]
fn decimal_supplies_give_flows_without_rounding_errors() {
    let built = problem(
        json!({"kind": "transport", "supply": [0.1, 0.2, 0.3], "demand": [0.3, 0.3],
        "sources": ["x", "y", "z"]}),
    );
    let costs = [1.0, 2.0, 1.0, 3.0, 2.0, 1.0];
    let solution = built.solve(&costs).unwrap();
    assert!(close(solution.objective, 0.6));
    assert_eq!(solution.decision.indices(), [0, 2, 5]);
    let names = built.cost_names().unwrap().to_vec();
    assert_eq!(names, ["x-0", "x-1", "y-0", "y-1", "z-0", "z-1"]);
}

#[test]
fn decisions_that_break_a_rule_are_refused_with_the_reason() {
    let flow = problem(json!({"kind": "min_cost_flow", "supply": {"a": 3, "b": -3},
        "arcs": [["a", "b", "low"], ["a", "b", "high"]], "capacity": [2, 5]}));
    let reason = |kind: &Problem, values: &[f64]| {
        kind.kind()
            .check(&Decision::from_dense(values))
            .err()
            .unwrap_or_default()
    };
    assert_eq!(reason(&flow, &[1.0, 2.0]), "");
    assert_eq!(
        reason(&flow, &[3.0, 0.0]),
        "arc low (a to b) carries 3, not 0 to 2"
    );
    assert!(reason(&flow, &[1.0, 1.0]).contains("node a keeps 1"));
    assert!(reason(&flow, &[1.0, 2.0, 1.0]).contains("arc 2 of 2 does not exist"));
    assert_eq!(flow.cost_names().unwrap().to_vec(), ["low", "high"]);
    let transport = problem(json!({"kind": "transport", "supply": [2, 3], "demand": [4],
        "capacity": [1, 9]}));
    assert_eq!(reason(&transport, &[1.0, 3.0]), "");
    assert!(reason(&transport, &[2.0, 2.0]).contains("carries 2, not 0 to 1"));
    assert!(reason(&transport, &[0.0, 4.0]).contains("source 1 sends 4 and has 3"));
    assert!(reason(&transport, &[1.0, 1.0]).contains("destination 0 gets 2 and needs 4"));
    assert!(reason(&transport, &[1.0, 3.0, 1.0]).contains("lane 2 of 2 does not exist"));
    let bounds = VariableBounds::Box {
        lower: vec![0.0; 2],
        upper: vec![1.0, 9.0],
    };
    assert_eq!(transport.kind().choices().bounds(), bounds);
}

#[test]
fn specifications_are_written_as_they_are_read() {
    let flow = json!({"kind": "min_cost_flow", "arcs": [["a", "b"], ["b", "c"]],
        "supply": {"a": 2.0, "c": -2.0}, "capacity": [3.0, "inf"], "lower": [1.0, 0.0],
        "sense": "minimize", "present": [1, 1]});
    let mut expected = flow.clone();
    // All arcs are present.
    expected.as_object_mut().unwrap().remove("present");
    assert_eq!(
        serde_json::to_value(problem(flow).spec()).unwrap(),
        expected
    );
    let transport = json!({"kind": "transport", "supply": [2.0, 3.0], "demand": [4.0],
        "sources": ["x", "y"], "sense": "maximize", "present": [1, 1], "capacity": 4});
    let mut expected = transport.clone();
    expected.as_object_mut().unwrap().remove("present");
    expected["capacity"] = json!([4.0, 4.0]);
    let built = problem(transport);
    assert_eq!(serde_json::to_value(built.spec()).unwrap(), expected);
    assert_eq!(built.name(), "transport 2x1");
    assert_eq!(built.solve(&[5.0, 1.0]).unwrap().objective, 12.0);
    let in_order = problem(json!({"kind": "min_cost_flow", "arcs": [[7, 3], [3, 5]],
        "supply": [0, -2, 2]}));
    // In the order 3, 5, 7.
    assert_eq!(in_order.name(), "flow through 3 nodes and 2 arcs");
    let direct = Problem::min_cost_flow([["7", "3"], ["3", "5"]], &[("7", 2.0), ("5", -2.0)], None);
    assert_eq!(direct.unwrap().spec(), in_order.spec());
    let toml = "kind = 'min_cost_flow'\narcs = [['a', 'b'], ['b', 'c']]\n\
                supply = { a = 2, c = -2 }\ncapacity = [3, inf]\n";
    let built = ProblemSpec::from_toml(toml)
        .and_then(Problem::from_spec)
        .unwrap();
    assert_eq!(built.solve(&[1.0, 1.0]).unwrap().objective, 4.0);
}

#[test]
fn invalid_problem_files_are_refused() {
    let arcs = json!([["a", "b"], ["b", "c"]]);
    let flow = |more: Value| {
        let mut spec = json!({"kind": "min_cost_flow", "arcs": arcs, "supply": {"a": 1, "c": -1}});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        spec
    };
    let transport = |more: Value| {
        let mut spec = json!({"kind": "transport", "supply": [3, 3], "demand": [2, 2]});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        spec
    };
    let cases = [
        (
            flow(json!({"supply": {"a": 1, "z": -1}})),
            "`supply` names 'z', which no arc does",
        ),
        (
            flow(json!({"supply": [1, -1]})),
            "`supply` has 2 values for 3 nodes",
        ),
        (
            flow(json!({"supply": "much"})),
            "a table of nodes and numbers",
        ),
        (
            flow(json!({"capacity": [1]})),
            "`capacity` has 1 values for 2 arcs",
        ),
        (
            flow(json!({"capacity": [1, -2]})),
            "the capacity of arc 1 (b to c) is -2",
        ),
        (
            flow(json!({"capacity": "much"})),
            "'much' is no bound of a flow",
        ),
        (
            flow(json!({"lower": [3, 0], "capacity": 2})),
            "the capacity of arc 0 (a to b) is 2",
        ),
        (flow(json!({"present": [1]})), "1 values for 2 arcs"),
        (
            flow(json!({"present": [1, 0]})),
            "node c needs 1, but only 0",
        ),
        (flow(json!({"costs": 3})), "unknown field"),
        (
            transport(json!({"supply": []})),
            "0 sources and 2 destinations have no lane",
        ),
        (
            transport(json!({"demand": [1, -1]})),
            "the demand of destination 1 is -1",
        ),
        (
            transport(json!({"supply": [1, -1]})),
            "the supply of source 1 is -1",
        ),
        (
            transport(json!({"sources": ["x"]})),
            "`sources` states 1 sources, but 2 have",
        ),
        (transport(json!({"destinations": ["x", "x"]})), "x"),
        (
            transport(json!({"capacity": [1, 2, 3]})),
            "`capacity` has 3 values for 4 lanes",
        ),
        (
            transport(json!({"supply": {"columns": "s_*"}})),
            "does not state the number of sources",
        ),
    ];
    for (spec, expected) in cases {
        let message = refusal(spec);
        assert!(message.contains(expected), "{message}");
    }
    assert!(Problem::transport(vec![1.0], vec![1.0], Some(vec![1.0, 2.0])).is_err());
    let arcs = [["a", "b"]];
    assert!(Problem::min_cost_flow(arcs, &[("a", 1.0), ("b", -1.0)], Some(vec![])).is_err());
}

#[test]
fn a_row_without_a_feasible_flow_says_why() {
    let template = problem(
        json!({"kind": "min_cost_flow", "arcs": [["a", "b"], ["b", "c"]],
        "supply": {"a": {"column": "sent"}, "c": {"column": "needed"}}, "capacity": [3, 9]}),
    );
    let row = |values: &[f64]| template.kind().row_problems().row_problem(values);
    let limits = SearchLimits::default();
    let good = row(&[2.0, -2.0]).unwrap();
    let mut solver = good.solver(&limits);
    assert_eq!(solver.solve(&[1.0, 1.0]).unwrap().objective, 4.0);
    let much = row(&[5.0, -5.0]).unwrap();
    assert!(much.reuse_solver(solver.as_mut()));
    assert_eq!(solver.solve(&[1.0, 1.0]), Err(SolveFailure::Infeasible));
    let reason = much.failure_reasons().infeasibility().unwrap();
    assert!(
        reason.contains("node c needs 5, but only 3 can reach it"),
        "{reason}"
    );
    let unbalanced = row(&[5.0, -4.0]).unwrap();
    assert!(
        unbalanced
            .failure_reasons()
            .infeasibility()
            .unwrap()
            .contains("supplies sum to 5")
    );
    assert!(good.reuse_solver(solver.as_mut()));
    assert_eq!(solver.solve(&[1.0, 1.0]).unwrap().objective, 4.0);
    let other = Problem::transport(vec![1.0], vec![1.0], None).unwrap();
    assert!(!other.kind().reuse_solver(solver.as_mut()));
}

#[test]
fn long_solves_end_when_they_are_canceled() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 7207, [0, 0]);
    let amounts: Vec<f64> = (0..100)
        .map(|_| 5.0 + stream.index_below(20) as f64)
        .collect();
    let costs: Vec<f64> = (0..10_000).map(|_| stream.uniform(0.0, 1.0)).collect();
    let limits = SearchLimits::default();
    for built in [
        Problem::transport(
            amounts.clone(),
            amounts.iter().rev().copied().collect(),
            None,
        ),
        Problem::assignment(100, 100, &[], regretless::Sense::Minimize),
        Problem::multiple_choice_knapsack(&vec![amounts.clone(); 100], 900.0, false),
    ] {
        let built = built.unwrap();
        let cancellation = Cancellation::new();
        cancellation.request();
        let scope = cancellation.enter();
        let canceled = built.kind().solver(&limits).solve(&costs);
        drop(scope);
        assert_eq!(canceled, Err(SolveFailure::Interrupted), "{}", built.name());
        assert!(built.kind().solver(&limits).solve(&costs).is_ok());
    }
}
