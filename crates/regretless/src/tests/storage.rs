//! Storage, against dynamic programming on whole levels: with whole limits of levels and changes
//! there is an optimum on whole levels, because the levels of fixed modes are a system of
//! differences.

use crate::tests::common::{below, build};
use regretless::Decision;
use regretless::problem::ProblemSpec;
use regretless::random::{Purpose, RandomStream};
use regretless::solve::SearchLimits;
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use serde_json::{Value, json};

/// A storage whose levels change by whole numbers.
struct Case {
    min_level: i64,
    capacity: i64,
    initial: i64,
    final_min: i64,
    /// Most changes of the level per step.
    up: Vec<i64>,
    down: Vec<i64>,
    inflow: Vec<i64>,
    charge_efficiency: f64,
    discharge_efficiency: f64,
}

impl Case {
    fn draw(stream: &mut RandomStream, number: usize) -> Self {
        let steps = 1 + below(stream, 7);
        let min_level = below(stream, 2) as i64;
        let range = 1 + below(stream, 8);
        let has_inflow = number.is_multiple_of(3);
        let efficiencies = [1.0, 0.5, 0.8, 0.9];
        let mut whole = |least: i64, count: usize| least + below(stream, count) as i64;
        let initial = whole(min_level, range + 1);
        let final_min = whole(min_level, range + 1);
        let up = (0..steps).map(|_| whole(0, 5)).collect();
        let down = (0..steps).map(|_| whole(0, 5)).collect();
        let inflow = |_| if has_inflow { whole(-1, 5) } else { 0 };
        let inflow = (0..steps).map(inflow).collect();
        Self {
            min_level,
            capacity: min_level + range as i64,
            initial,
            final_min,
            up,
            down,
            inflow,
            charge_efficiency: efficiencies[below(stream, 4)],
            discharge_efficiency: efficiencies[below(stream, 4)],
        }
    }

    fn spec(&self) -> Value {
        let charge = |change: &i64| *change as f64 / self.charge_efficiency;
        let discharge = |change: &i64| *change as f64 * self.discharge_efficiency;
        json!({"kind": "storage", "steps": self.up.len(), "capacity": self.capacity,
            "initial": self.initial, "final_min": self.final_min, "min_level": self.min_level,
            "charge_limit": self.up.iter().map(charge).collect::<Vec<f64>>(),
            "discharge_limit": self.down.iter().map(discharge).collect::<Vec<f64>>(),
            "charge_efficiency": self.charge_efficiency,
            "discharge_efficiency": self.discharge_efficiency, "inflow": self.inflow})
    }

    /// The amount that is bought for a change of the level.
    fn amount(&self, change: i64) -> f64 {
        if change >= 0 {
            change as f64 / self.charge_efficiency
        } else {
            change as f64 * self.discharge_efficiency
        }
    }

    /// The least cost over all whole levels.
    fn best(&self, prices: &[f64]) -> f64 {
        let levels: Vec<i64> = (self.min_level..=self.capacity).collect();
        let last = |level: &i64| {
            if *level >= self.final_min {
                0.0
            } else {
                f64::INFINITY
            }
        };
        let mut after: Vec<f64> = levels.iter().map(last).collect();
        for step in (0..prices.len()).rev() {
            let inflow = self.inflow[step];
            let mut before = vec![f64::INFINITY; levels.len()];
            for (place, level) in levels.iter().enumerate() {
                for change in -self.down[step]..=self.up[step] {
                    for kept in inflow.min(0)..=inflow {
                        let next = level + change + kept - self.min_level;
                        let is_loss = inflow < 0 && kept != inflow;
                        if is_loss || next < 0 || next >= levels.len() as i64 {
                            continue;
                        }
                        let cost = prices[step] * self.amount(change) + after[next as usize];
                        before[place] = before[place].min(cost);
                    }
                }
            }
            after = before;
        }
        after[(self.initial - self.min_level) as usize]
    }
}

#[test]
fn decisions_and_ranges_agree_with_all_whole_levels() {
    let mut stream = RandomStream::new(Purpose::Importance, 25, [0, 0]);
    let limits = SearchLimits::default();
    let (mut solved, mut infeasible, mut relaxed) = (0, 0, 0);
    for number in 0..2000 {
        let case = Case::draw(&mut stream, number);
        let draw = |_| match number % 4 {
            0 => stream.uniform(0.0, 10.0),
            1 => below(&mut stream, 4) as f64,
            2 => stream.uniform(-5.0, 5.0),
            _ => below(&mut stream, 5) as f64 - 2.0,
        };
        let prices: Vec<f64> = (0..case.up.len()).map(draw).collect();
        let best = case.best(&prices);
        let problem = match build(case.spec()) {
            Ok(problem) => problem,
            Err(message) => {
                assert_eq!(best, f64::INFINITY, "case {number}: {message}");
                infeasible += 1;
                continue;
            }
        };
        solved += 1;
        let solution = problem.solver(&limits).solve(&prices).unwrap();
        problem.check(&solution.decision).unwrap();
        let difference = (solution.objective - best).abs();
        assert!(
            difference < 1e-9,
            "case {number}: {} and {best}",
            solution.objective
        );

        let mut relaxation = problem
            .sensitivity()
            .relaxation_solver(Relaxation::Plain, &limits)
            .unwrap();
        let bound = relaxation.relax(&prices).unwrap().objective;
        assert!(bound <= best + 1e-9, "case {number}: {bound} and {best}");
        if prices.iter().all(|price| *price >= 0.0) {
            assert!(
                (bound - best).abs() < 1e-9,
                "case {number}: {bound} and {best}"
            );
        }
        relaxed += usize::from(bound < best - 1e-9);

        if number % 4 != 0 {
            continue;
        }
        let mut ranging = problem
            .sensitivity()
            .cost_ranging(CostRangeKind::Exact, &limits)
            .unwrap();
        let ranges = ranging.ranges(&prices).unwrap();
        for step in 0..prices.len() {
            let is_optimal = |price: f64| {
                let mut changed = prices.clone();
                changed[step] = price;
                solution.decision.dot(&changed) <= case.best(&changed) + 1e-7
            };
            let (lower, upper) = (ranges.lower[step], ranges.upper[step]);
            let inside = [
                lower.max(prices[step] - 60.0),
                upper.min(prices[step] + 60.0),
            ];
            assert!(
                inside.into_iter().all(is_optimal),
                "case {number}, step {step}"
            );
            assert!(
                lower == f64::NEG_INFINITY || !is_optimal(lower - 1e-4),
                "case {number}"
            );
            assert!(
                upper == f64::INFINITY || !is_optimal(upper + 1e-4),
                "case {number}"
            );
        }
    }
    let counts = [solved, infeasible, relaxed];
    assert!(
        solved > 1500 && infeasible > 40 && relaxed > 100,
        "{counts:?}"
    );
}

#[test]
fn charging_and_discharging_exclude_each_other() {
    // At a negative price the relaxation buys 2 and sells 1 at once to lose energy.
    let spec = json!({"kind": "storage", "steps": 1, "capacity": 1.0, "initial": 0.0,
        "charge_limit": 2.0, "discharge_limit": 2.0, "charge_efficiency": 0.5});
    let problem = build(spec).unwrap();
    let limits = SearchLimits::default();
    let solution = problem.solver(&limits).solve(&[-3.0]).unwrap();
    assert_eq!(solution.decision, Decision::from_dense(&[2.0]));
    let full = json!({"kind": "storage", "steps": 1, "capacity": 1.0, "initial": 1.0,
        "charge_limit": 2.0, "discharge_limit": 2.0, "charge_efficiency": 0.5});
    let problem = build(full).unwrap();
    let solution = problem.solver(&limits).solve(&[-3.0]).unwrap();
    assert_eq!(
        solution.decision,
        Decision::from_dense(&[0.0]),
        "the storage is full"
    );
    let mut relaxation = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &limits)
        .unwrap();
    assert_eq!(
        relaxation.relax(&[-3.0]).unwrap().objective,
        -3.0,
        "buys 2, sells 1"
    );
}

#[test]
fn all_numbers_may_differ_per_row() {
    let spec = json!({"kind": "storage", "steps": 3, "capacity": {"column": "capacity"},
        "initial": {"column": "initial"}, "final_min": {"column": "final"},
        "min_level": {"column": "least"}, "charge_limit": {"column": "charge"},
        "discharge_limit": {"columns": "discharge"},
        "charge_efficiency": {"column": "in"}, "discharge_efficiency": {"column": "out"},
        "inflow": [0.5, {"column": "rain"}, 0.0]});
    let problem = build(spec).unwrap();
    let limits = SearchLimits::default();
    let mut moving = problem.solver(&limits);
    let mut stream = RandomStream::new(Purpose::Importance, 27, [0, 0]);
    for row in 0..50 {
        let capacity = stream.uniform(4.0, 9.0);
        let mut number = |column: &str| match column {
            "capacity" => capacity,
            "least" => 0.5,
            "initial" | "final" => stream.uniform(0.5, 4.0),
            "in" | "out" => stream.uniform(0.7, 1.0),
            _ => stream.uniform(2.0, 5.0),
        };
        let mut values = Vec::new();
        let mut by_name = std::collections::BTreeMap::new();
        for columns in problem.row_problems().parameters() {
            let numbers: Vec<f64> = (0..columns.count)
                .map(|_| number(&columns.pattern))
                .collect();
            values.extend_from_slice(&numbers);
            by_name.insert(columns.pattern.clone(), numbers);
        }
        let one = |name: &str| by_name[name][0];
        let by_hand = build(
            json!({"kind": "storage", "steps": 3, "capacity": one("capacity"),
            "initial": one("initial"), "final_min": one("final"), "min_level": one("least"),
            "charge_limit": one("charge"), "discharge_limit": by_name["discharge"],
            "charge_efficiency": one("in"), "discharge_efficiency": one("out"),
            "inflow": [0.5, one("rain"), 0.0]}),
        );
        let (row_problem, by_hand) = match (problem.row_problems().row_problem(&values), by_hand) {
            (Ok(row_problem), Ok(by_hand)) => (row_problem, by_hand),
            (Err(_), Err(_)) => continue,
            (found, expected) => panic!("row {row}: {found:?} and {expected:?}"),
        };
        assert!(row_problem.reuse_solver(moving.as_mut()));
        let prices = [0, 1, 2].map(|_| stream.uniform(-1.0, 4.0));
        let expected = by_hand.solver(&limits).solve(&prices).unwrap();
        assert_eq!(moving.solve(&prices).unwrap(), expected, "row {row}");
        row_problem.check(&expected.decision).unwrap();
    }
    let columns = problem.row_problems().parameters().iter();
    let capacity_below_least: Vec<f64> = columns
        .flat_map(|columns| {
            let number = if columns.pattern == "capacity" {
                0.2
            } else {
                0.5
            };
            vec![number; columns.count]
        })
        .collect();
    let message = problem
        .row_problems()
        .row_problem(&capacity_below_least)
        .unwrap_err();
    let names_both = message.contains("above capacity = 0.2") && message.contains("column");
    assert!(names_both, "{message}");
}

#[test]
fn bad_numbers_and_decisions_are_refused() {
    let plain = json!({"kind": "storage", "steps": 2, "capacity": 4.0, "initial": 2.0,
        "charge_limit": 1.0, "discharge_limit": [1.0, 2.0]});
    for (field, value, expected) in [
        ("steps", json!(0), "one step or more"),
        (
            "charge_limit",
            json!([1.0, 1.0, 1.0]),
            "charge_limit has 3 numbers for 2 steps",
        ),
        (
            "discharge_limit",
            json!(-1.0),
            "discharge_limit = -1 is negative",
        ),
        (
            "charge_efficiency",
            json!(1.5),
            "charge_efficiency = 1.5 is not above 0 and up to 1",
        ),
        (
            "discharge_efficiency",
            json!(0.0),
            "discharge_efficiency = 0 is not above 0",
        ),
        (
            "initial",
            json!(5.0),
            "initial = 5 is not between min_level = 0 and capacity = 4",
        ),
        (
            "min_level",
            json!(4.5),
            "min_level = 4.5 is above capacity = 4",
        ),
        ("final_min", json!(4.0), ""),
        ("inflow", json!([-4.0, 0.0]), "can be reached after step 0"),
    ] {
        let mut spec = plain.clone();
        spec[field] = value;
        if expected.is_empty() {
            build(spec).unwrap();
        } else {
            let message = build(spec).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
    let mut unreachable = plain.clone();
    unreachable["final_min"] = json!(4.0);
    unreachable["charge_limit"] = json!(0.5);
    let message = build(unreachable).unwrap_err();
    assert!(
        message.contains("cannot have the level final_min = 4"),
        "{message}"
    );

    let problem = build(plain.clone()).unwrap();
    for (amounts, expected) in [
        ([1.0, -1.0], None),
        ([0.0, -1.0], Some("the level after step 1")),
        (
            [1.5, 0.0],
            Some("the amount 1.5 of step 0 is not between -1 and 1"),
        ),
        (
            [1.0, -2.5],
            Some("the amount -2.5 of step 1 is not between -2 and 1"),
        ),
    ] {
        let checked = problem.check(&Decision::from_dense(&amounts));
        match expected {
            None => assert_eq!(checked, Ok(())),
            Some(expected) => assert!(checked.unwrap_err().contains(expected), "{amounts:?}"),
        }
    }
    let limits = SearchLimits::default();
    assert!(
        problem.sensitivity().adjacent_vertices(&limits).is_none()
            && !problem.geometry().has_cones()
    );
    let spec = ProblemSpec::from_json(plain).unwrap();
    let written = serde_json::to_value(&spec).unwrap();
    assert_eq!(
        serde_json::from_value::<ProblemSpec>(written).unwrap(),
        spec
    );
}
