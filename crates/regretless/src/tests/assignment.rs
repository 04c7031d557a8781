//! Assignments, compared with the list of all of them.

use std::collections::BTreeSet;

use crate::tests::common::{distance_from_cone, problem, random_cases, refusal, relaxed, solved};
use regretless::decision::Decision;
use regretless::problem::{ProblemKind, ProblemSpec};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::SearchLimits;
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::{Problem, Sense};
use serde_json::{Value, json};

/// An assignment with its list of all assignments, as increasing lists of pairs.
struct Case {
    tasks: usize,
    kind: std::sync::Arc<dyn ProblemKind>,
    all: Vec<Vec<u32>>,
    costs: Vec<f64>,
}

/// All ways to give each agent another task or, if there are more agents, none.
fn assignments(agents: usize, tasks: usize, allowed: &[bool]) -> Vec<Vec<u32>> {
    let mut partial = vec![Vec::new()];
    for agent in 0..agents {
        let mut longer = Vec::new();
        for pairs in partial {
            for task in 0..tasks {
                let pair = agent * tasks + task;
                let is_taken = pairs
                    .iter()
                    .any(|other: &u32| *other as usize % tasks == task);
                if allowed[pair] && !is_taken {
                    longer.push([pairs.clone(), vec![pair as u32]].concat());
                }
            }
            if agents > tasks {
                longer.push(pairs);
            }
        }
        partial = longer;
    }
    partial.retain(|pairs| pairs.len() == agents.min(tasks));
    partial
}

/// A problem of random size and forbidden pairs, and costs: real, or integers with many ties. The
/// costs of forbidden pairs must never be read.
fn random_case(stream: &mut RandomStream, number: u64) -> Case {
    loop {
        let (agents, tasks) = (1 + stream.index_below(5), 1 + stream.index_below(5));
        let forbids = stream.index_below(3) > 0;
        let mut allowed: Vec<bool> = (0..agents * tasks)
            .map(|_| !forbids || stream.index_below(4) > 0)
            .collect();
        let all = assignments(agents, tasks, &allowed);
        if all.is_empty() {
            continue;
        }
        let mut forbidden = Vec::new();
        let mut present = vec![1; agents * tasks];
        for pair in 0..agents * tasks {
            // Half of the pairs are forbidden, the other half absent.
            match (allowed[pair], pair % 2) {
                (true, _) => {}
                (false, 0) => forbidden.push([pair / tasks, pair % tasks]),
                (false, _) => present[pair] = 0,
            }
        }
        let spec = json!({"kind": "assignment", "agents": agents, "tasks": tasks,
            "forbidden": forbidden, "present": present});
        let costs = allowed.drain(..).map(|allowed| match number % 3 {
            _ if !allowed => f64::NAN,
            2 => stream.index_below(5) as f64 - 2.0,
            _ => stream.uniform(-3.0, 5.0),
        });
        let costs = costs.collect();
        let kind = std::sync::Arc::clone(problem(spec).kind());
        return Case {
            tasks,
            kind,
            all,
            costs,
        };
    }
}

fn total(pairs: &[u32], costs: &[f64]) -> f64 {
    pairs.iter().map(|pair| costs[*pair as usize]).sum()
}

fn least<'a>(all: impl Iterator<Item = &'a Vec<u32>>, costs: &[f64]) -> f64 {
    all.map(|pairs| total(pairs, costs))
        .fold(f64::INFINITY, f64::min)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn assignments_are_optimal_among_all_of_them() {
    for case in random_cases(7001, 2000, random_case) {
        let solution = solved(&*case.kind, &case.costs, &case.all);
        assert!(close(
            solution.objective,
            least(case.all.iter(), &case.costs)
        ));
        for kind in [Relaxation::Plain, Relaxation::Tight] {
            assert_eq!(relaxed(&*case.kind, kind, &case.costs), solution);
        }
    }
}

#[test]
fn larger_assignments_have_a_proof_of_optimality() {
    let limits = SearchLimits::default();
    for (number, [agents, tasks]) in (0..).zip([[40, 40], [30, 55], [55, 30], [61, 61]]) {
        let mut stream = RandomStream::new(Purpose::Benchmark, 7002, [number, 0]);
        let factors: Vec<f64> = (0..3 * (agents + tasks))
            .map(|_| stream.uniform(-1.0, 1.0))
            .collect();
        // Costs of rank 3, as linear predictions have them.
        let cost = |pair: usize| {
            let (agent, task) = (3 * (pair / tasks), 3 * (agents + pair % tasks));
            (0..3)
                .map(|factor| factors[agent + factor] * factors[task + factor])
                .sum()
        };
        let costs: Vec<f64> = (0..agents * tasks).map(cost).collect();
        let kind = problem(json!({"kind": "assignment", "agents": agents, "tasks": tasks}));
        let mut ranging = kind
            .kind()
            .sensitivity()
            .cost_ranging(CostRangeKind::Exact, &limits)
            .unwrap();
        let ranges = ranging.ranges(&costs).unwrap();
        let solution = kind.kind().solver(&limits).solve(&costs).unwrap();
        kind.kind().check(&solution.decision).unwrap();
        // An assignment is optimal if no cost is outside its range.
        for (pair, cost) in costs.iter().enumerate() {
            assert!(ranges.lower[pair] <= cost + 1e-9 && *cost <= ranges.upper[pair] + 1e-9);
        }
        let cone = kind.kind().geometry().cone(&solution.decision).unwrap();
        let negated: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        let projected = cone.project(&negated);
        for (projected, negated) in projected.iter().zip(&negated) {
            assert!((projected - negated).abs() < 1e-6, "not optimal");
        }
    }
}

#[test]
fn ranges_end_where_another_assignment_becomes_optimal() {
    let limits = SearchLimits::default();
    for case in random_cases(7003, 600, random_case) {
        let solution = case.kind.solver(&limits).solve(&case.costs).unwrap();
        let decision = solution.decision.indices();
        for kind in [CostRangeKind::Exact, CostRangeKind::Basis] {
            let mut ranging = case.kind.sensitivity().cost_ranging(kind, &limits).unwrap();
            let ranges = ranging.ranges(&case.costs).unwrap();
            for pair in 0..case.costs.len() as u32 {
                let index = pair as usize;
                let [lower, upper] = [ranges.lower[index], ranges.upper[index]];
                let with = least(
                    case.all.iter().filter(|all| all.contains(&pair)),
                    &case.costs,
                );
                let without = least(
                    case.all.iter().filter(|all| !all.contains(&pair)),
                    &case.costs,
                );
                if decision.contains(&pair) {
                    let room = without - solution.objective;
                    assert_eq!(lower, f64::NEG_INFINITY);
                    assert!(upper == without || close(upper - case.costs[index], room));
                } else {
                    let room = with - solution.objective;
                    assert_eq!(upper, f64::INFINITY);
                    assert!(lower == -with || close(case.costs[index] - lower, room));
                }
            }
        }
    }
}

/// Whether pairs are connected by common agents and tasks.
fn is_connected(pairs: &[u32], tasks: usize) -> bool {
    let Some((first, rest)) = pairs.split_first() else {
        return false;
    };
    let mut reached = vec![*first as usize];
    let mut left: Vec<usize> = rest.iter().map(|pair| *pair as usize).collect();
    while let Some(position) = left.iter().position(|pair| {
        let touches =
            |other: &usize| pair / tasks == other / tasks || pair % tasks == other % tasks;
        reached.iter().any(touches)
    }) {
        reached.push(left.remove(position));
    }
    left.is_empty()
}

#[test]
fn adjacent_vertices_are_those_that_differ_in_one_cycle_or_path() {
    let limits = SearchLimits::default();
    let mut most = 0;
    for case in random_cases(7004, 300, random_case) {
        let mut search = case.kind.sensitivity().adjacent_vertices(&limits).unwrap();
        let (solution, deltas) = search.adjacent_vertices(&case.costs).unwrap();
        let own: BTreeSet<u32> = solution.decision.indices().iter().copied().collect();
        let expected: BTreeSet<Vec<u32>> = case
            .all
            .iter()
            .filter(|other| {
                let other: BTreeSet<u32> = other.iter().copied().collect();
                let difference: Vec<u32> = own.symmetric_difference(&other).copied().collect();
                is_connected(&difference, case.tasks)
            })
            .cloned()
            .collect();
        let mut found = BTreeSet::new();
        for delta in &deltas {
            let mut dense = vec![0.0; case.costs.len()];
            solution.decision.write_dense(&mut dense);
            delta.add_to(1.0, &mut dense);
            let neighbor = Decision::from_dense(&dense);
            case.kind.check(&neighbor).unwrap();
            found.insert(neighbor.indices().to_vec());
        }
        assert_eq!(found.len(), deltas.len(), "a vertex is listed twice");
        assert_eq!(found, expected);
        most = most.max(found.len());
    }
    assert!(most > 50, "at most {most} adjacent vertices");
}

#[test]
fn cones_contain_the_costs_under_which_an_assignment_is_optimal() {
    let limits = SearchLimits::default();
    for case in random_cases(7005, 200, random_case) {
        let optimal = case.kind.solver(&limits).solve(&case.costs).unwrap();
        let min = optimal.objective;
        for pairs in case.all.iter().take(20) {
            let distance = distance_from_cone(&*case.kind, pairs, &case.costs);
            let is_optimal = total(pairs, &case.costs) < min + 1e-9;
            assert_eq!(distance < 1e-6, is_optimal, "{distance}");
        }
    }
}

#[test]
fn decisions_that_are_no_assignments_are_refused_with_the_reason() {
    let spec = json!({"kind": "assignment", "agents": ["Ann", "Ben"], "tasks": ["wash", "cook", 7],
        "forbidden": [["Ann", 7]]});
    let kind = problem(spec);
    let reason = |pairs: &[u32]| {
        let decision = Decision::from_indices(pairs.iter().copied());
        kind.kind().check(&decision).err()
    };
    assert_eq!(reason(&[0, 4]), None);
    for (pairs, expected) in [
        (
            &[2, 3][..],
            "agent Ann and task 7 are assigned, but the pair is forbidden",
        ),
        (&[0, 1], "agent Ann has two tasks"),
        (&[0, 3], "task wash has two agents"),
        (&[0], "1 pairs are assigned, 2 needed"),
        (&[0, 6], "variable 6 of 6 does not exist"),
    ] {
        assert_eq!(reason(pairs).as_deref(), Some(expected));
    }
    let half = Decision::from_dense(&[0.5, 0.5, 0.0, 0.5, 0.5, 0.0]);
    assert_eq!(
        kind.kind().check(&half),
        Err("a variable is neither 0 nor 1".into())
    );
}

#[test]
fn names_are_those_of_agents_and_tasks() {
    let named = problem(json!({"kind": "assignment", "agents": ["Ann", "Ben"], "tasks": 2}));
    let names = named.cost_names().unwrap().to_vec();
    assert_eq!(names, ["Ann-0", "Ann-1", "Ben-0", "Ben-1"]);
    let numbered = problem(json!({"kind": "assignment", "agents": 2, "tasks": 2}));
    assert!(numbered.cost_names().is_none());
    // a-b with c is named like a with b-c.
    let doubled = json!({"kind": "assignment", "agents": ["a", "a-b"], "tasks": ["b-c", "c"]});
    assert!(problem(doubled).cost_names().is_none());
    assert_eq!(named.name(), "assignment 2x2");
}

#[test]
fn specifications_are_written_as_they_are_read() {
    let spec = json!({"kind": "assignment", "agents": ["Ann", "Ben"], "tasks": 3,
        "sense": "maximize", "forbidden": [["Ben", 2]], "present": [1, 1, 0, 1, 1, 1]});
    let built = problem(spec.clone());
    assert_eq!(serde_json::to_value(built.spec()).unwrap(), spec);
    assert_eq!(built.name(), "assignment 2x3 (4 of 6 pairs allowed)");
    assert_eq!(built.sense(), Sense::Maximize);
    let costs = [1.0, 2.0, 9.0, 5.0, 4.0, 9.0];
    assert_eq!(built.solve(&costs).unwrap().decision.indices(), [1, 3]);
    let plain = json!({"kind": "assignment", "agents": 2, "tasks": 3, "sense": "minimize"});
    assert_eq!(
        serde_json::to_value(problem(plain.clone()).spec()).unwrap(),
        plain
    );
    let direct = Problem::assignment(2, 3, &[], Sense::Minimize).unwrap();
    assert_eq!(*direct.spec(), *problem(plain).spec());
}

#[test]
fn an_assignment_that_does_not_exist_is_refused_with_those_who_have_too_few_choices() {
    let spec = json!({"kind": "assignment", "agents": ["Ann", "Ben", "Cem"],
        "tasks": ["wash", "cook", "iron"],
        "forbidden": [["Ann", "wash"], ["Ann", "iron"], ["Cem", "wash"], ["Cem", "iron"]]});
    let message = refusal(spec);
    assert!(
        message.contains("no assignment is left: agents Ann, Cem may do only task cook"),
        "{message}"
    );
    let message = refusal(json!({"kind": "assignment", "agents": 3, "tasks": 2,
        "present": [0, 1, 0, 1, 0, 1]}));
    assert!(
        message.contains("task 0 can be done by no agent"),
        "{message}"
    );
    let message = refusal(json!({"kind": "assignment", "agents": 3, "tasks": 2,
        "present": [1, 1, 0, 0, 0, 0]}));
    assert!(
        message.contains("tasks 0, 1 can be done only by agent 0"),
        "{message}"
    );
    // Every set of agents that is named has fewer tasks than agents, and all their tasks are named.
    for number in 0..300 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 7006, [number, 0]);
        let (agents, tasks) = (1 + stream.index_below(4), 4);
        let present: Vec<u8> = (0..agents * tasks)
            .map(|_| u8::from(stream.index_below(3) == 0))
            .collect();
        if !present.contains(&1) {
            continue;
        }
        let allowed: Vec<bool> = present.iter().map(|flag| *flag == 1).collect();
        let spec = json!({"kind": "assignment", "agents": agents, "tasks": tasks,
            "present": present});
        let built = ProblemSpec::from_json(spec).and_then(Problem::from_spec);
        let exists = !assignments(agents, tasks, &allowed).is_empty();
        assert_eq!(built.is_ok(), exists);
    }
}

#[test]
fn invalid_problem_files_are_refused() {
    let cases = [
        (
            json!({"agents": 0, "tasks": 3}),
            "0 agents and 3 tasks have no assignment",
        ),
        (json!({"agents": ["a", "a"], "tasks": 3}), "a"),
        (
            json!({"agents": "many", "tasks": 3}),
            "a number, or a list of names",
        ),
        (
            json!({"agents": 1_000_000, "tasks": 1_000_000}),
            "are more than the 200000000 allowed",
        ),
        (
            json!({"agents": 2, "tasks": 2, "forbidden": [[0, 2]]}),
            "names the task 2, which does not exist",
        ),
        (
            json!({"agents": ["x", "y"], "tasks": 2, "forbidden": [["z", 1]]}),
            "names the agent z, which does not exist",
        ),
        (
            json!({"agents": 2, "tasks": 2, "present": [1, 0]}),
            "2 values for 4 pairs",
        ),
        (
            json!({"agents": 2, "tasks": 2, "present": [0, 0, 0, 0]}),
            "no pair is present",
        ),
        (
            json!({"agents": 2, "tasks": 2, "costs": 4}),
            "unknown field",
        ),
    ];
    for (mut spec, expected) in cases {
        spec["kind"] = json!("assignment");
        let message = refusal(spec);
        assert!(message.contains(expected), "{message}");
    }
    let direct = Problem::assignment(2, 2, &[[2, 0]], Sense::Minimize).unwrap_err();
    assert!(direct.to_string().contains("names the agent 2"));
}

#[test]
fn a_solver_moves_to_the_problem_of_another_row() {
    let limits = SearchLimits::default();
    let spec = |present: Value| {
        problem(json!({"kind": "assignment", "agents": 2, "tasks": 2, "present": present}))
    };
    let (all, some) = (spec(json!([1, 1, 1, 1])), spec(json!([0, 1, 1, 1])));
    let costs = [1.0, 5.0, 5.0, 1.0];
    let mut moving = all.kind().solver(&limits);
    assert_eq!(moving.solve(&costs).unwrap().objective, 2.0);
    assert!(some.kind().reuse_solver(moving.as_mut()));
    assert_eq!(moving.solve(&costs).unwrap().objective, 10.0);
    assert!(all.kind().reuse_solver(moving.as_mut()));
    assert_eq!(moving.solve(&costs).unwrap().objective, 2.0);
    let other = Problem::assignment(2, 3, &[], Sense::Minimize).unwrap();
    assert!(!other.kind().reuse_solver(moving.as_mut()));
}
