//! Multiple-choice knapsacks, compared with the list of all selections.

use std::sync::Arc;

use crate::tests::common::{
    distance_from_cone, problem, random_cases, rank, refusal, relaxed, solved,
};
use regretless::decision::Decision;
use regretless::oracle::Oracle;
use regretless::problem::ProblemKind;
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::{CostRangeKind, Relaxation, RelaxationSolver};
use regretless::solve::{SearchLimits, SolveStatus};
use regretless::{Problem, Sense};
use serde_json::json;

/// A knapsack with the list of its selections, as increasing lists of offers.
struct Case {
    groups: Vec<Vec<usize>>,
    weights: Vec<f64>,
    capacity: f64,
    is_optional: bool,
    present: Vec<bool>,
    kind: Arc<dyn ProblemKind>,
    all: Vec<Vec<u32>>,
    /// Minimized.
    costs: Vec<f64>,
}

impl Case {
    fn weight(&self, offers: &[u32]) -> f64 {
        offers
            .iter()
            .map(|offer| self.weights[*offer as usize])
            .sum()
    }

    fn cost(&self, offers: &[u32]) -> f64 {
        offers.iter().map(|offer| self.costs[*offer as usize]).sum()
    }

    /// What may be chosen of a group; `None` is no offer.
    fn options(&self, offers: &[usize]) -> Vec<Option<usize>> {
        let present = offers.iter().filter(|offer| self.present[**offer]);
        let mut options: Vec<Option<usize>> = present.map(|offer| Some(*offer)).collect();
        if self.is_optional {
            options.push(None);
        }
        options
    }

    fn relaxation(&self, limits: &SearchLimits) -> Box<dyn RelaxationSolver> {
        let sensitivity = self.kind.sensitivity();
        sensitivity
            .relaxation_solver(Relaxation::Plain, limits)
            .unwrap()
    }

    fn least(&self) -> f64 {
        let costs = self.all.iter().map(|offers| self.cost(offers));
        costs.fold(f64::INFINITY, f64::min)
    }

    /// The relaxed optimum: at the best price of the capacity every group has its cheapest offer.
    fn relaxed(&self) -> f64 {
        let dual = |price: f64| {
            let group = |offers: &Vec<usize>| {
                let costs = offers
                    .iter()
                    .filter(|offer| self.present[**offer])
                    .map(|offer| self.costs[*offer] + price * self.weights[*offer]);
                let none = if self.is_optional { 0.0 } else { f64::INFINITY };
                costs.fold(none, f64::min)
            };
            self.groups.iter().map(group).sum::<f64>() - price * self.capacity
        };
        // The dual bound is concave in the price, with a kink at the price of a pair of offers.
        let mut best = dual(0.0);
        for offers in &self.groups {
            let mut points: Vec<(f64, f64)> = offers
                .iter()
                .filter(|offer| self.present[**offer])
                .map(|offer| (self.weights[*offer], self.costs[*offer]))
                .collect();
            if self.is_optional {
                points.push((0.0, 0.0));
            }
            for first in &points {
                for second in points.iter().filter(|second| second.0 > first.0) {
                    let price = (first.1 - second.1) / (second.0 - first.0);
                    if price > 0.0 {
                        best = best.max(dual(price));
                    }
                }
            }
        }
        best
    }
}

/// Random groups, weights and costs: real numbers, or integers with many ties; the cost of an
/// absent offer must never be read.
fn random_case(stream: &mut RandomStream, number: u64) -> Case {
    loop {
        let is_integer = number % 2 == 1;
        let is_optional = stream.index_below(3) == 0;
        let mut groups = Vec::new();
        let mut weights = Vec::new();
        for _ in 0..1 + stream.index_below(4) {
            let mut offers = Vec::new();
            for _ in 0..1 + stream.index_below(4) {
                offers.push(weights.len());
                weights.push(if is_integer {
                    stream.index_below(6) as f64
                } else {
                    stream.uniform(0.0, 5.0)
                });
            }
            groups.push(offers);
        }
        let mut capacity = stream.uniform(0.0, 4.0 * groups.len() as f64);
        if is_integer {
            capacity = capacity.floor();
        }
        let hides = stream.index_below(3) == 0;
        let present: Vec<bool> = weights
            .iter()
            .map(|_| !hides || stream.index_below(4) > 0)
            .collect();
        let mut all = vec![Vec::new()];
        for offers in &groups {
            let mut longer = Vec::new();
            for selection in all {
                for offer in offers.iter().filter(|offer| present[**offer]) {
                    longer.push([selection.clone(), vec![*offer as u32]].concat());
                }
                if is_optional {
                    longer.push(selection);
                }
            }
            all = longer;
        }
        let weight = |offers: &Vec<u32>| offers.iter().map(|offer| weights[*offer as usize]).sum();
        all.retain(|offers| -> bool { f64::le(&weight(offers), &(capacity + 1e-9)) });
        if all.is_empty() || !present.contains(&true) {
            continue;
        }
        let costs = present.iter().map(|present| match number % 3 {
            _ if !present => f64::NAN,
            2 => stream.index_below(9) as f64 - 6.0,
            _ => stream.uniform(-6.0, 3.0),
        });
        let costs: Vec<f64> = costs.collect();
        let listed: Vec<Vec<f64>> = groups
            .iter()
            .map(|offers| offers.iter().map(|offer| weights[*offer]).collect())
            .collect();
        let flags: Vec<u8> = present.iter().map(|present| u8::from(*present)).collect();
        let built = problem(
            json!({"kind": "multiple_choice_knapsack", "weights": listed,
            "capacity": capacity, "optional": is_optional, "present": flags}),
        );
        let kind = Arc::clone(built.kind());
        return Case {
            groups,
            weights,
            capacity,
            is_optional,
            present,
            kind,
            all,
            costs,
        };
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-8
}

#[test]
fn selections_are_optimal_among_all_of_them() {
    for case in random_cases(7101, 4000, random_case) {
        let solution = solved(&*case.kind, &case.costs, &case.all);
        assert!(close(solution.objective, case.least()));
        assert_eq!(solution.status, SolveStatus::Optimal);
    }
}

/// Whether a point satisfies the constraints of the relaxation.
fn is_relaxed_point(case: &Case, point: &[f64]) -> bool {
    let load: f64 = point.iter().zip(&case.weights).map(|(x, w)| x * w).sum();
    let sums = case.groups.iter().map(|offers| {
        let sum: f64 = offers.iter().map(|offer| point[*offer]).sum();
        sum <= 1.0 + 1e-9 && (case.is_optional || sum >= 1.0 - 1e-9)
    });
    load <= case.capacity + 1e-8
        && sums.into_iter().all(|fits| fits)
        && point.iter().all(|x| *x >= -1e-9)
        && case
            .present
            .iter()
            .zip(point)
            .all(|(present, x)| *present || *x == 0.0)
}

#[test]
fn relaxations_have_the_bound_of_the_dual() {
    for case in random_cases(7102, 3000, random_case) {
        for kind in [Relaxation::Plain, Relaxation::Tight] {
            let solution = relaxed(&*case.kind, kind, &case.costs);
            let mut point = vec![0.0; case.costs.len()];
            solution.decision.write_dense(&mut point);
            assert!(is_relaxed_point(&case, &point), "{point:?}");
            assert!(close(solution.objective, case.relaxed()));
        }
    }
}

#[test]
fn large_knapsacks_are_optimal_within_their_relaxation() {
    let limits = SearchLimits::default();
    let mut stream = RandomStream::new(Purpose::Benchmark, 7103, [0, 0]);
    let weights: Vec<Vec<f64>> = (0..400)
        .map(|_| (0..6).map(|_| stream.uniform(1.0, 9.0)).collect())
        .collect();
    let kind = Problem::multiple_choice_knapsack(&weights, 1200.0, false).unwrap();
    for _ in 0..5 {
        let costs: Vec<f64> = (0..2400).map(|_| stream.uniform(-5.0, 1.0)).collect();
        let solution = kind.kind().solver(&limits).solve(&costs).unwrap();
        kind.kind().check(&solution.decision).unwrap();
        let mut relaxation = kind
            .kind()
            .sensitivity()
            .relaxation_solver(Relaxation::Plain, &limits)
            .unwrap();
        let bound = relaxation.relax(&costs).unwrap().objective;
        // The gap of so many groups is small; loads may exceed the capacity by its tolerance.
        let gap = solution.objective - bound;
        assert!(gap > -1e-5 && gap < 0.2, "{gap}");
        // A search that stops early says so and has a bound.
        let few = SearchLimits { nodes: 0, ..limits };
        let stopped = kind.kind().solver(&few).solve(&costs).unwrap();
        kind.kind().check(&stopped.decision).unwrap();
        assert_eq!(stopped.status, SolveStatus::LimitReached);
        assert!(stopped.bound <= solution.objective && stopped.objective >= solution.objective);
        let gap = SearchLimits { gap: 0.5, ..limits };
        let near = kind.kind().solver(&gap).solve(&costs).unwrap();
        assert_eq!(near.status, SolveStatus::WithinGap(0.5));
        assert!(near.bound <= solution.objective);
    }
}

#[cfg(feature = "highs")]
#[test]
fn knapsacks_of_some_size_have_the_optimum_of_their_integer_program() {
    use regretless::problem::{LinearBuilder, VariableDomain};

    let limits = SearchLimits::default();
    for number in 0..6 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 7107, [number, 0]);
        let weights: Vec<Vec<f64>> = (0..60)
            .map(|_| (0..5).map(|_| stream.uniform(1.0, 9.0)).collect())
            .collect();
        let is_optional = number % 2 == 0;
        let built = Problem::multiple_choice_knapsack(&weights, 180.0, is_optional).unwrap();
        let mut linear = LinearBuilder::new("offers", Sense::Minimize);
        let weights = weights.concat();
        for offer in 0..weights.len() {
            linear.predicted(format!("x{offer}"), VariableDomain::Binary);
        }
        let fewest = if is_optional { 0.0 } else { 1.0 };
        for group in 0..60 {
            let offers: Vec<(usize, f64)> = (5 * group..5 * group + 5).map(|j| (j, 1.0)).collect();
            linear.row([fewest, 1.0], offers);
        }
        linear.row(
            [f64::NEG_INFINITY, 180.0],
            weights.into_iter().enumerate().collect::<Vec<_>>(),
        );
        let linear = linear.build().unwrap();
        let costs: Vec<f64> = (0..300).map(|_| stream.uniform(-5.0, 1.0)).collect();
        let solution = built.kind().solver(&limits).solve(&costs).unwrap();
        linear.check(&solution.decision).unwrap();
        let expected = linear.solver(&limits).solve(&costs).unwrap();
        assert!((solution.objective - expected.objective).abs() < 1e-5);
    }
}

#[test]
fn ranges_contain_the_costs_under_which_the_relaxed_optimum_stays_optimal() {
    let limits = SearchLimits::default();
    let mut moved = 0;
    for case in random_cases(7104, 400, random_case) {
        let mut relaxation = case.relaxation(&limits);
        let point = relaxation.relax(&case.costs).unwrap().decision;
        assert!(
            case.kind
                .sensitivity()
                .cost_ranging(CostRangeKind::Exact, &limits)
                .is_none()
        );
        let mut ranging = case
            .kind
            .sensitivity()
            .cost_ranging(CostRangeKind::Basis, &limits)
            .unwrap();
        let ranges = ranging.ranges(&case.costs).unwrap();
        for offer in 0..case.costs.len() {
            let [lower, upper] = [ranges.lower[offer], ranges.upper[offer]];
            if !case.present[offer] {
                assert_eq!([lower, upper], [f64::NEG_INFINITY, f64::INFINITY]);
                continue;
            }
            assert!(lower <= case.costs[offer] + 1e-9 && case.costs[offer] <= upper + 1e-9);
            let mut changed = case.costs.clone();
            for end in [lower.max(-50.0), upper.min(50.0)] {
                changed[offer] = end;
                let best = relaxation.relax(&changed).unwrap().objective;
                assert!(close(
                    point.dot_by(|j| if changed[j].is_nan() { 0.0 } else { changed[j] }),
                    best
                ));
            }
            // Outside of its range another point is better, unless the vertex is degenerate.
            for (end, step) in [(lower, -0.01), (upper, 0.01)] {
                if end.is_finite() && number_of_parts(&point) > 0 {
                    changed[offer] = end + step;
                    let best = relaxation.relax(&changed).unwrap().objective;
                    let own = point.dot_by(|j| if changed[j].is_nan() { 0.0 } else { changed[j] });
                    assert!(best < own - 1e-9, "{lower} {upper}");
                    moved += 1;
                }
            }
        }
    }
    assert!(moved > 500, "only {moved} ranges have an end");
}

/// Number of fractional values.
fn number_of_parts(point: &Decision) -> usize {
    point
        .iter()
        .filter(|(_, value)| *value > 1e-9 && *value < 1.0 - 1e-9)
        .count()
}

/// The rank of the normals of the constraints that bind at both of two points.
fn common_rank(case: &Case, points: [&[f64]; 2]) -> usize {
    let binds = |row: &[f64], side: f64| {
        points.iter().all(|point| {
            let activity: f64 = point.iter().zip(row).map(|(x, a)| x * a).sum();
            (activity - side).abs() < 1e-7
        })
    };
    let count = case.costs.len();
    let unit = |offers: &[usize]| {
        let mut row = vec![0.0; count];
        offers.iter().for_each(|offer| row[*offer] = 1.0);
        row
    };
    let mut rows: Vec<(Vec<f64>, f64)> = vec![(case.weights.clone(), case.capacity)];
    rows.extend(case.groups.iter().map(|offers| (unit(offers), 1.0)));
    rows.extend((0..count).map(|offer| (unit(&[offer]), 0.0)));
    let rows: Vec<Vec<f64>> = rows
        .into_iter()
        .filter(|(row, side)| binds(row, *side))
        .map(|(row, _)| row)
        .collect();
    rank(rows)
}

/// All vertices of the relaxation: selections that fit, and pairs of offers in one group that fill
/// the capacity.
fn vertices(case: &Case) -> Vec<Vec<f64>> {
    let count = case.costs.len();
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut add = |point: Vec<f64>| {
        let is_known =
            |other: &Vec<f64>| other.iter().zip(&point).all(|(a, b)| (a - b).abs() < 1e-9);
        if !found.iter().any(is_known) {
            found.push(point);
        }
    };
    // Choices of all groups without regard to the capacity; `None` is no offer.
    let mut choices: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for offers in &case.groups {
        let options = case.options(offers);
        choices = choices
            .iter()
            .flat_map(|chosen| {
                options
                    .iter()
                    .map(move |offer| [chosen.clone(), vec![*offer]].concat())
            })
            .collect();
    }
    let weight_of = |offer: Option<usize>| offer.map_or(0.0, |offer| case.weights[offer]);
    for chosen in &choices {
        let load: f64 = chosen.iter().map(|offer| weight_of(*offer)).sum();
        let mut point = vec![0.0; count];
        chosen
            .iter()
            .flatten()
            .for_each(|offer| point[*offer] = 1.0);
        if load <= case.capacity {
            add(point.clone());
        }
        for (group, own) in chosen.iter().enumerate() {
            for other in case.options(&case.groups[group]) {
                let step = weight_of(other) - weight_of(*own);
                let share = (case.capacity - load) / step;
                if step > 0.0 && share > 1e-9 && share < 1.0 - 1e-9 {
                    let mut point = point.clone();
                    own.iter().for_each(|own| point[*own] = 1.0 - share);
                    other.iter().for_each(|other| point[*other] = share);
                    add(point);
                }
            }
        }
    }
    found
}

#[test]
fn adjacent_vertices_are_complete() {
    let limits = SearchLimits::default();
    let (mut partial, mut full) = (0, 0);
    for case in random_cases(7105, 600, random_case) {
        // Absent offers have no dimension.
        if case.present.contains(&false) {
            continue;
        }
        let mut search = case.kind.sensitivity().adjacent_vertices(&limits).unwrap();
        let (solution, deltas) = search.adjacent_vertices(&case.costs).unwrap();
        let mut own = vec![0.0; case.costs.len()];
        solution.decision.write_dense(&mut own);
        let dimension = case.costs.len();
        let expected: Vec<Vec<f64>> = vertices(&case)
            .into_iter()
            .filter(|other| common_rank(&case, [&own, other]) == dimension - 1)
            .filter(|other| other.iter().zip(&own).any(|(a, b)| (a - b).abs() > 1e-9))
            .collect();
        let found: Vec<Vec<f64>> = deltas
            .iter()
            .map(|delta| {
                let mut point = own.clone();
                delta.add_to(1.0, &mut point);
                point
            })
            .collect();
        for point in &found {
            assert!(is_relaxed_point(&case, point), "{point:?}");
            let is_known =
                |other: &&Vec<f64>| other.iter().zip(point).all(|(a, b)| (a - b).abs() < 1e-8);
            assert!(
                expected.iter().any(|other| is_known(&other)),
                "{own:?} {point:?}"
            );
        }
        assert_eq!(
            found.len(),
            expected.len(),
            "{own:?} {found:?} {expected:?}"
        );
        match number_of_parts(&solution.decision) {
            0 if (case.weight(solution.decision.indices()) - case.capacity).abs() < 1e-9 => {
                full += 1;
            }
            0 => {}
            _ => partial += 1,
        }
    }
    assert!(partial > 30 && full > 5, "{partial} {full}");
}

#[test]
fn cones_contain_the_costs_under_which_a_selection_is_optimal() {
    let mut inside = 0;
    for case in random_cases(7106, 300, random_case) {
        let mut relaxation = case.relaxation(&SearchLimits::default());
        let min = relaxation.relax(&case.costs).unwrap().objective;
        for offers in case.all.iter().take(30) {
            let distance = distance_from_cone(&*case.kind, offers, &case.costs);
            let is_optimal = case.cost(offers) < min + 1e-9;
            assert_eq!(distance < 1e-6, is_optimal, "{distance}");
            inside += usize::from(is_optimal);
        }
    }
    assert!(inside > 50, "only {inside} selections are relaxed optima");
}

#[test]
fn decisions_that_break_a_rule_are_refused_with_the_reason() {
    let built = problem(json!({"kind": "multiple_choice_knapsack",
        "weights": [[1.0, 3.0], [2.0, 4.0, 5.0]], "capacity": 5.0, "present": [1, 1, 1, 0, 1]}));
    let reason = |offers: &[u32]| {
        let decision = Decision::from_indices(offers.iter().copied());
        built.kind().check(&decision).err()
    };
    assert_eq!(reason(&[1, 2]), None);
    for (offers, expected) in [
        (&[0, 1][..], "group 0 has two offers"),
        (&[2], "group 0 has no offer"),
        (&[0, 3], "offer 3 is chosen, but it is absent"),
        (&[0, 4], "load 6 exceeds capacity 5"),
        (&[0, 5], "variable 5 of 5 does not exist"),
    ] {
        assert_eq!(reason(offers).as_deref(), Some(expected));
    }
}

#[test]
fn specifications_are_written_as_they_are_read() {
    let spec = json!({"kind": "multiple_choice_knapsack", "weights": [[1.0, 3.0], [2.0]],
        "capacity": 4.0, "optional": true, "sense": "minimize", "present": [1, 0, 1]});
    let built = problem(spec.clone());
    assert_eq!(serde_json::to_value(built.spec()).unwrap(), spec);
    assert_eq!(
        built.name(),
        "multiple-choice knapsack of 2 groups with 3 offers (2 of 3 offers present)"
    );
    assert_eq!(
        built.solve(&[-1.0, -9.0, 2.0]).unwrap().decision.indices(),
        [0]
    );
    let flat = json!({"kind": "multiple_choice_knapsack", "weights": [1.0, 3.0, 2.0],
        "groups": [2, 1], "capacity": 4.0});
    let nested = Problem::multiple_choice_knapsack(&[vec![1.0, 3.0], vec![2.0]], 4.0, false);
    assert_eq!(problem(flat).spec(), nested.unwrap().spec());
    let maximized = problem(
        json!({"kind": "multiple_choice_knapsack", "weights": [[1.0, 3.0]],
        "capacity": 4.0}),
    );
    assert_eq!(maximized.sense(), Sense::Maximize);
}

#[test]
fn invalid_problem_files_are_refused() {
    let cases = [
        (
            json!({"weights": [[2.0, 3.0], [4.0]], "capacity": 5.5}),
            "the lightest offers of all groups weigh 6, more than the capacity 5.5",
        ),
        (
            json!({"weights": [[2.0, 3.0], [4.0]], "capacity": 9.0, "present": [1, 1, 0]}),
            "group 1 has no offer",
        ),
        (
            json!({"weights": [[1.0], []], "capacity": 9.0}),
            "group 1 has no offer",
        ),
        (json!({"weights": [], "capacity": 9.0}), "without offers"),
        (
            json!({"weights": [1.0, 2.0], "capacity": 9.0}),
            "one list per group",
        ),
        (
            json!({"weights": [[-1.0]], "capacity": 9.0}),
            "the weight -1 of offer 0",
        ),
        (
            json!({"weights": [[1.0]], "capacity": -1.0}),
            "the capacity -1 is not a number >= 0",
        ),
        (
            json!({"weights": [1.0, 2.0], "groups": [1], "capacity": 9.0}),
            "other sizes than the 2 weights",
        ),
        (
            json!({"weights": [[1.0]], "groups": [2], "capacity": 9.0}),
            "other sizes than the lists",
        ),
        (
            json!({"weights": "w", "capacity": 9.0}),
            "one list of numbers per group",
        ),
        (
            json!({"weights": [[1.0]], "capacity": 9.0, "present": [1, 1]}),
            "2 values for 1 offers",
        ),
    ];
    for (mut spec, expected) in cases {
        spec["kind"] = json!("multiple_choice_knapsack");
        let message = refusal(spec);
        assert!(message.contains(expected), "{message}");
    }
    let sizes = json!({"kind": "multiple_choice_knapsack", "weights": {"columns": "w*"},
        "capacity": 3.0});
    assert!(refusal(sizes).contains("does not state the number of items"));
}

#[test]
fn a_solver_moves_to_the_problem_of_another_row() {
    let limits = SearchLimits::default();
    let within = |capacity: f64| {
        problem(
            json!({"kind": "multiple_choice_knapsack", "weights": [[1.0, 3.0], [2.0, 4.0]],
            "capacity": capacity}),
        )
    };
    let (large, small) = (within(7.0), within(5.0));
    let costs = [-1.0, -6.0, -2.0, -5.0];
    let mut moving = large.kind().solver(&limits);
    assert_eq!(moving.solve(&costs).unwrap().objective, -11.0);
    assert!(small.kind().reuse_solver(moving.as_mut()));
    assert_eq!(moving.solve(&costs).unwrap().objective, -8.0);
    let top = Problem::top_k(3, 1, Sense::Minimize).unwrap();
    assert!(
        !small
            .kind()
            .reuse_solver(top.kind().solver(&limits).as_mut())
    );
}

#[test]
fn exact_ranges_are_refused_with_the_name_of_the_problem() {
    let built = Problem::multiple_choice_knapsack(&[vec![1.0, 2.0]], 2.0, false).unwrap();
    let oracle = Oracle::new(Arc::clone(built.kind()));
    oracle.require_ranges(CostRangeKind::Basis).unwrap();
    let error = oracle
        .require_ranges(CostRangeKind::Exact)
        .unwrap_err()
        .to_string();
    for words in [
        "multiple-choice knapsack of 1 groups",
        "exact cost ranges",
        "use O_S instead",
    ] {
        assert!(error.contains(words), "{error}");
    }
}
