//! Absent items, nodes and customers: every result is that of the smaller problem built by hand.

use regretless::Decision;
use regretless::problem::{Knapsack, ProblemKind, ProblemSpec, Sense, TopK, Tsp};
use regretless::random::{Purpose, RandomStream};
#[cfg(feature = "highs")]
use regretless::solve::SolveFailure;
use regretless::solve::relaxation::{CostRangeKind, Relaxation, RelaxationSolver};
use regretless::solve::warm_start::WarmStart;
use regretless::solve::{SearchLimits, Solution, Solver};
use serde_json::{Value, json};
use std::sync::Arc;

mod brute_force;
mod fields;

/// A problem with absent items, and the problem of the present ones.
struct Case {
    full: Arc<dyn ProblemKind>,
    smaller: Arc<dyn ProblemKind>,
    /// The costs of the smaller problem as indices of those of the full one.
    indices: Vec<usize>,
}

/// An absent cost: whatever it belonged to would be chosen if it could.
const ABSENT_COST: f64 = -1000.0;

fn stream(seed: u64) -> RandomStream {
    RandomStream::new(Purpose::Benchmark, seed, [0, 0])
}

fn build(spec: Value) -> Arc<dyn ProblemKind> {
    let spec: ProblemSpec = serde_json::from_value(spec).unwrap();
    spec.build().unwrap()
}

/// Flags of which at least `min` are set and at least one is not.
fn draw_present(count: usize, min: usize, stream: &mut RandomStream) -> Vec<bool> {
    let mut present = vec![true; count];
    let absent = 1 + stream.index_below(count - min);
    for _ in 0..absent {
        present[stream.index_below(count)] = false;
    }
    present
}

fn zeros_and_ones(present: &[bool]) -> Vec<u8> {
    present.iter().copied().map(u8::from).collect()
}

fn kept<T: Clone>(values: &[T], present: &[bool]) -> Vec<T> {
    (0..values.len())
        .filter(|i| present[*i])
        .map(|i| values[i].clone())
        .collect()
}

/// The edges between present nodes, in lexicographic order.
fn present_edges(present: &[bool]) -> Vec<usize> {
    let (mut edges, mut edge) = (Vec::new(), 0);
    for i in 0..present.len() {
        for j in i + 1..present.len() {
            if present[i] && present[j] {
                edges.push(edge);
            }
            edge += 1;
        }
    }
    edges
}

fn present_items(present: &[bool]) -> Vec<usize> {
    (0..present.len()).filter(|item| present[*item]).collect()
}

fn knapsack_case(items: usize, dimensions: usize, stream: &mut RandomStream) -> Case {
    let mut weights = || (0..items).map(|_| stream.uniform(1.0, 8.0)).collect();
    let weights: Vec<Vec<f64>> = (0..dimensions).map(|_| weights()).collect();
    let capacity = vec![1.8 * items as f64; dimensions];
    let present = draw_present(items, 2, stream);
    let smaller = weights.iter().map(|row| kept(row, &present)).collect();
    Case {
        full: build(json!({
            "kind": "knapsack",
            "weights": weights,
            "capacity": capacity,
            "present": zeros_and_ones(&present),
        })),
        smaller: Arc::new(Knapsack::new(smaller, capacity).unwrap()),
        indices: present_items(&present),
    }
}

fn top_k_case(items: usize, at_most: bool, sense: Sense, stream: &mut RandomStream) -> Case {
    // At most 3 items may be chosen even if fewer are present.
    let present = if at_most && sense == Sense::Maximize {
        (0..items).map(|item| item % 5 == 1).collect()
    } else {
        draw_present(items, 3, stream)
    };
    let indices = present_items(&present);
    let count = indices.len();
    let full = json!({
        "kind": "top_k",
        "items": items,
        "k": 3,
        "at_most": at_most,
        "sense": sense,
        "present": present,
    });
    let smaller = if at_most {
        TopK::at_most(count, 3.min(count), sense)
    } else {
        TopK::new(count, 3, sense)
    };
    Case {
        full: build(full),
        smaller: Arc::new(smaller.unwrap()),
        indices,
    }
}

fn tsp_case(nodes: usize, min: usize, stream: &mut RandomStream) -> Case {
    let present = draw_present(nodes, min, stream);
    let count = present_items(&present).len();
    let spec = json!({"kind": "tsp", "nodes": nodes, "present": zeros_and_ones(&present)});
    Case {
        full: build(spec),
        smaller: Arc::new(Tsp::new(count).unwrap()),
        indices: present_edges(&present),
    }
}

#[cfg(feature = "highs")]
fn cvrp_case(customers: usize, single: bool, stream: &mut RandomStream) -> Case {
    use regretless::problem::Cvrp;
    let mut demands: Vec<f64> = (0..customers).map(|_| stream.uniform(1.0, 5.0)).collect();
    let present = draw_present(customers, 4, stream);
    let smaller = Cvrp::new(kept(&demands, &present), 12.0, 3).unwrap();
    // Demands of absent customers do not count, not even above the capacity.
    for (demand, present) in demands.iter_mut().zip(&present) {
        if !present {
            *demand = 1e6;
        }
    }
    let nodes = [&[true], &present[..]].concat();
    Case {
        full: build(json!({
            "kind": "cvrp",
            "demands": demands,
            "capacity": 12.0,
            "vehicles": 3,
            "single_customer_routes": single,
            "present": zeros_and_ones(&present),
        })),
        smaller: Arc::new(smaller.with_single_customer_routes(single)),
        indices: present_edges(&nodes),
    }
}

fn cases() -> Vec<Case> {
    let mut stream = stream(1);
    let mut cases = Vec::new();
    for round in 0..6 {
        cases.push(knapsack_case(14, 1 + round % 3, &mut stream));
        for sense in [Sense::Minimize, Sense::Maximize] {
            cases.push(top_k_case(9, round % 2 == 0, sense, &mut stream));
        }
        cases.push(tsp_case(6 + 2 * round, 3, &mut stream));
        #[cfg(feature = "highs")]
        cases.push(cvrp_case(7, round % 2 == 0, &mut stream));
    }
    // Above 64 nodes tours are found by branch and cut, if these are present.
    cases.push(tsp_case(72, 66, &mut stream));
    cases.push(tsp_case(66, 3, &mut stream));
    cases
}

impl Case {
    /// Costs of the smaller problem, and those of the full one.
    fn draw_costs(&self, stream: &mut RandomStream) -> [Vec<f64>; 2] {
        let shift = if self.smaller.sense() == Sense::Maximize {
            -6.0
        } else {
            4.0
        };
        let smaller: Vec<f64> = self
            .indices
            .iter()
            .map(|_| shift + 5.0 * stream.standard_uniform())
            .collect();
        let full = self.to_full(&smaller, ABSENT_COST);
        [smaller, full]
    }

    fn to_full(&self, values: &[f64], absent: f64) -> Vec<f64> {
        let mut full = vec![absent; self.full.num_costs()];
        for (index, value) in self.indices.iter().zip(values) {
            full[*index] = *value;
        }
        full
    }

    fn decision_to_full(&self, decision: &Decision) -> Decision {
        let entries = decision.iter();
        let renumbered = entries.map(|(j, value)| (self.indices[j] as u32, value));
        Decision::from_entries(renumbered).with_fixed(decision.fixed())
    }

    fn assert_same(&self, actual: &Solution, expected: &Solution, what: &str) {
        let name = self.full.name();
        let decision = self.decision_to_full(&expected.decision);
        assert_eq!(actual.decision, decision, "{name}: {what}");
        let numbers = |solution: &Solution| {
            let bits = [solution.objective.to_bits(), solution.bound.to_bits()];
            (bits, solution.status, solution.work)
        };
        assert_eq!(numbers(actual), numbers(expected), "{name}: {what}");
    }
}

/// Solves the same costs with both solvers in every way and compares the results.
fn compare_solvers(
    case: &Case,
    what: &str,
    mut full: Box<dyn Solver>,
    mut smaller: Box<dyn Solver>,
) {
    let mut stream = stream(2);
    let mut reused = Solution::empty();
    let mut start = None;
    for _ in 0..3 {
        let [costs, full_costs] = case.draw_costs(&mut stream);
        let expected = smaller.solve(&costs).unwrap();
        let solution = full.solve(&full_costs).unwrap();
        case.assert_same(&solution, &expected, what);
        case.full.check(&solution.decision).unwrap();
        assert_eq!(
            (full.nodes(), full.work()),
            (smaller.nodes(), smaller.work())
        );
        assert_eq!(full.auxiliary_values(), smaller.auxiliary_values());
        // Absent costs are not read.
        for absent in [ABSENT_COST, f64::NAN] {
            let full_costs = case.to_full(&costs, absent);
            full.solve_into(&full_costs, &mut reused).unwrap();
            case.assert_same(&reused, &expected, what);
        }
        if let Some(start) = start.replace(expected.decision.clone()) {
            let expected = smaller.solve_from(&costs, &start).unwrap();
            let full_start = case.decision_to_full(&start);
            let solution = full.solve_from(&full_costs, &full_start).unwrap();
            case.assert_same(&solution, &expected, what);
        }
    }
    let too_few = vec![1.0; case.indices.len()];
    assert!(full.solve(&too_few).is_err());
}

#[test]
fn solutions_are_those_of_the_smaller_problem() {
    let limits = SearchLimits::default();
    for case in cases() {
        let (full, smaller) = (&case.full, &case.smaller);
        compare_solvers(
            &case,
            "solver",
            full.solver(&limits),
            smaller.solver(&limits),
        );
        let searches = [
            (
                full.solver_traits().local_search(&limits),
                smaller.solver_traits().local_search(&limits),
            ),
            (
                full.solver_traits().fast_local_search(&limits),
                smaller.solver_traits().fast_local_search(&limits),
            ),
        ];
        for (full, smaller) in searches {
            assert_eq!(full.is_some(), smaller.is_some());
            if let (Some(full), Some(smaller)) = (full, smaller) {
                compare_solvers(&case, "local search", full, smaller);
            }
        }
    }
}

#[test]
fn a_search_from_another_decision_is_that_of_the_smaller_problem() {
    // From the reversed order a local search ends at another tour than from its own start.
    let mut stream = stream(7);
    let limits = SearchLimits::default();
    let case = tsp_case(40, 30, &mut stream);
    let mut full = case
        .full
        .solver_traits()
        .fast_local_search(&limits)
        .unwrap();
    let mut smaller = case
        .smaller
        .solver_traits()
        .fast_local_search(&limits)
        .unwrap();
    let mut differs = false;
    for _ in 0..20 {
        let [other, _] = case.draw_costs(&mut stream);
        let start = smaller.solve(&other).unwrap().decision;
        let [costs, full_costs] = case.draw_costs(&mut stream);
        let expected = smaller.solve_from(&costs, &start).unwrap();
        let full_start = case.decision_to_full(&start);
        let solution = full.solve_from(&full_costs, &full_start).unwrap();
        case.assert_same(&solution, &expected, "from a start");
        differs |= smaller.solve(&costs).unwrap() != expected;
    }
    assert!(differs, "the start is ignored");
}

/// The smaller costs moved a little.
fn drifted(costs: &[f64], stream: &mut RandomStream) -> Vec<f64> {
    let moved = costs.iter();
    moved
        .map(|cost| cost * stream.uniform(0.995, 1.005))
        .collect()
}

#[test]
fn warm_starts_are_those_of_the_smaller_problem() {
    let limits = SearchLimits::default();
    let mut certified = 0;
    for case in cases() {
        let mut stream = stream(3);
        let mut full = case.full.solver(&limits);
        let mut smaller = case.smaller.solver(&limits);
        let mut states = [WarmStart::new(true), WarmStart::new(true)];
        let [mut costs, _] = case.draw_costs(&mut stream);
        for step in 0..6 {
            let full_costs = case.to_full(&costs, ABSENT_COST);
            let expected = smaller.certify(&costs, &states[0]);
            let certificate = full.certify(&full_costs, &states[1]);
            assert_eq!(certificate.is_some(), expected.is_some());
            if let (Some(certificate), Some(expected)) = (certificate, expected) {
                case.assert_same(&certificate, &expected, "certificate");
                certified += 1;
            }
            let expected = smaller.solve_warm(&costs, &mut states[0]).unwrap();
            let solution = full.solve_warm(&full_costs, &mut states[1]).unwrap();
            case.assert_same(&solution, &expected, &format!("warm, step {step}"));
            assert_eq!(full.nodes(), smaller.nodes());
            assert_eq!(states[0].is_empty(), states[1].is_empty());
            assert_eq!(states[0].bytes(), states[1].bytes());
            costs = drifted(&costs, &mut stream);
        }
    }
    assert!(certified > 10, "{certified} certificates");
}

/// The relaxations of both problems, if they have this one.
fn relaxations(case: &Case, kind: Relaxation) -> Option<[Box<dyn RelaxationSolver>; 2]> {
    let limits = SearchLimits::default();
    let full = case.full.sensitivity().relaxation_solver(kind, &limits);
    let smaller = case.smaller.sensitivity().relaxation_solver(kind, &limits);
    assert_eq!(full.is_some(), smaller.is_some());
    Some([full?, smaller?])
}

#[test]
fn relaxations_are_those_of_the_smaller_problem() {
    let mut compared = 0;
    for case in cases() {
        for kind in [Relaxation::Plain, Relaxation::Tight] {
            let Some([mut full, mut smaller]) = relaxations(&case, kind) else {
                continue;
            };
            let mut stream = stream(4);
            let mut states = [WarmStart::new(true), WarmStart::new(true)];
            let [mut costs, _] = case.draw_costs(&mut stream);
            for _ in 0..4 {
                let full_costs = case.to_full(&costs, ABSENT_COST);
                let expected = smaller.relax(&costs).unwrap();
                let solution = full.relax(&full_costs).unwrap();
                case.assert_same(&solution, &expected, &format!("{kind:?}"));
                assert_eq!(full.work(), smaller.work());
                let expected = smaller.certify(&costs, &states[0]);
                let certificate = full.certify(&full_costs, &states[1]);
                assert_eq!(certificate.is_some(), expected.is_some());
                if let (Some(certificate), Some(expected)) = (certificate, expected) {
                    case.assert_same(&certificate, &expected, "certificate");
                }
                let expected = smaller.relax_warm(&costs, &mut states[0]).unwrap();
                let solution = full.relax_warm(&full_costs, &mut states[1]).unwrap();
                case.assert_same(&solution, &expected, &format!("{kind:?}, warm"));
                assert_eq!(states[0].bytes(), states[1].bytes());
                costs = drifted(&costs, &mut stream);
                compared += 1;
            }
        }
    }
    assert!(compared >= 100, "{compared}");
}

#[test]
fn ranges_are_those_of_the_smaller_problem_and_unbounded_for_absent_costs() {
    let (limits, mut compared) = (SearchLimits::default(), 0);
    for case in cases() {
        for kind in [CostRangeKind::Basis, CostRangeKind::Exact] {
            let full = case.full.sensitivity().cost_ranging(kind, &limits);
            let smaller = case.smaller.sensitivity().cost_ranging(kind, &limits);
            assert_eq!(full.is_some(), smaller.is_some());
            let (Some(mut full), Some(mut smaller)) = (full, smaller) else {
                continue;
            };
            let [costs, full_costs] = case.draw_costs(&mut stream(5));
            let expected = smaller.ranges(&costs).unwrap();
            let ranges = full.ranges(&full_costs).unwrap();
            let lower = case.to_full(&expected.lower, f64::NEG_INFINITY);
            let upper = case.to_full(&expected.upper, f64::INFINITY);
            assert_eq!((ranges.lower, ranges.upper), (lower, upper));
            compared += 1;
        }
    }
    assert!(compared >= 18, "{compared}");
}

#[test]
fn adjacent_vertices_are_those_of_the_smaller_problem() {
    let (limits, mut compared) = (SearchLimits::default(), 0);
    for case in cases() {
        let full = case.full.sensitivity().adjacent_vertices(&limits);
        let smaller = case.smaller.sensitivity().adjacent_vertices(&limits);
        assert_eq!(full.is_some(), smaller.is_some());
        let (Some(mut full), Some(mut smaller)) = (full, smaller) else {
            continue;
        };
        let [costs, full_costs] = case.draw_costs(&mut stream(6));
        let (expected, deltas) = smaller.adjacent_vertices(&costs).unwrap();
        let (solution, full_deltas) = full.adjacent_vertices(&full_costs).unwrap();
        case.assert_same(&solution, &expected, "vertex");
        let deltas: Vec<_> = deltas.iter().map(|d| case.decision_to_full(d)).collect();
        assert_eq!(full_deltas, deltas);
        compared += deltas.len();
    }
    assert!(compared >= 50, "{compared}");
}

#[test]
fn cones_are_those_of_the_smaller_problem_and_hold_any_absent_cost() {
    for case in cases() {
        assert_eq!(
            case.full.geometry().has_cones(),
            case.smaller.geometry().has_cones()
        );
        let is_vertex = case.full.geometry().has_vertex_decisions();
        assert_eq!(is_vertex, case.smaller.geometry().has_vertex_decisions());
        let mut stream = stream(8);
        let [costs, _] = case.draw_costs(&mut stream);
        let limits = SearchLimits::default();
        let decision = case.smaller.solver(&limits).solve(&costs).unwrap().decision;
        let smaller = case.smaller.geometry().cone(&decision).unwrap();
        let full = case
            .full
            .geometry()
            .cone(&case.decision_to_full(&decision))
            .unwrap();
        assert_eq!(full.num_rows(), smaller.num_rows());
        assert_eq!(
            full.mean_normal(),
            case.to_full(&smaller.mean_normal(), 0.0)
        );
        let [vector, _] = case.draw_costs(&mut stream);
        let full_vector = case.to_full(&vector, 17.0);
        let expected = case.to_full(&smaller.project(&vector), 17.0);
        assert_eq!(full.project(&full_vector), expected, "{}", case.full.name());
        #[cfg(feature = "clarabel")]
        for steps in [3, 100] {
            let expected = smaller.project_interior(&vector, steps).unwrap();
            let point = full.project_interior(&full_vector, steps).unwrap();
            assert_eq!(point, case.to_full(&expected, 17.0));
        }
    }
}

#[test]
fn a_subtour_of_a_cone_counts_the_present_nodes() {
    let present = [true, false, true, true, true, false, true];
    let full = Tsp::new(7).unwrap().with_present(present.to_vec()).unwrap();
    let case = Case {
        full: Arc::new(full.clone()),
        smaller: Arc::new(Tsp::new(5).unwrap()),
        indices: present_edges(&present),
    };
    let smaller = Tsp::new(5).unwrap();
    let tour = Decision::from_indices([0, 3, 4, 7, 9]);
    smaller.check(&tour).unwrap();
    let expected = smaller.cone_with_subtours(&tour, &[vec![0, 1, 2]]);
    // Nodes 0, 2 and 3 are the first three present ones.
    let cone = full.cone_with_subtours(&case.decision_to_full(&tour), &[vec![0, 1, 2, 3, 5]]);
    assert_eq!((cone.num_rows(), expected.num_rows()), (6, 6));
    let normal: Vec<_> = cone.normal(5).0.collect();
    let renumbered = expected.normal(5).0;
    let renumbered: Vec<_> = renumbered.map(|(j, v)| (case.indices[j], v)).collect();
    assert_eq!(normal, renumbered);
}

#[test]
fn descriptions_of_a_problem_are_those_of_the_full_one_without_the_absent() {
    for case in cases() {
        let present = case.full.present_costs().unwrap();
        assert_eq!(present_items(present), case.indices);
        assert_eq!(present.len(), case.full.num_costs());
        assert!(case.full.may_have_absent_costs());
        assert_eq!(case.full.sense(), case.smaller.sense());
        assert_eq!(
            case.full.model_parts().fixed_cost(),
            case.smaller.model_parts().fixed_cost()
        );
        assert_eq!(case.full.solve_cost_hint(), case.smaller.solve_cost_hint());
        assert!(case.full.name().ends_with(" present)"));
        assert_eq!(case.smaller.present_costs(), None);
    }
    let tour = build(json!({"kind": "tsp", "nodes": 5, "present": [1, 0, 1, 1, 1]}));
    assert_eq!(tour.name(), "TSP5 (4 of 5 nodes present)");
}

#[cfg(feature = "highs")]
#[test]
fn an_absent_edge_is_not_used_even_once() {
    use regretless::problem::VariableBounds;
    let routes = build(json!({
        "kind": "cvrp", "demands": [1, 1, 1], "capacity": 3, "vehicles": 2,
        "single_customer_routes": true, "present": [1, 0, 1],
    }));
    let upper = vec![2.0, 0.0, 2.0, 0.0, 1.0, 0.0];
    let lower = vec![0.0; 6];
    assert_eq!(
        routes.choices().bounds(),
        VariableBounds::Box { lower, upper }
    );
}

#[cfg(feature = "highs")]
#[test]
fn routes_that_cannot_exist_are_infeasible_for_a_reason() {
    let routes = |present: [u8; 4]| {
        build(json!({
            "kind": "cvrp", "demands": [4, 5, 6, 7], "capacity": 8, "vehicles": 2,
            "present": present,
        }))
    };
    let refused = |present: [u8; 4], reason: &str| {
        let problem = routes(present);
        let solved = problem.solver(&SearchLimits::default()).solve(&[1.0; 10]);
        assert_eq!(solved.unwrap_err(), SolveFailure::Infeasible);
        assert!(
            problem
                .failure_reasons()
                .infeasibility()
                .unwrap()
                .contains(reason)
        );
    };
    refused(
        [0, 1, 1, 1],
        "demand 18, and 2 vehicles of capacity 8 carry 16",
    );
    refused([0, 1, 0, 0], "there is one customer");
    assert_eq!(routes([1, 0, 1, 0]).failure_reasons().infeasibility(), None);
}
