//! Explanations of decisions with quantities and set-ups: ranges against solves of moved costs,
//! other decisions against a linear program for every pattern of the integer columns.

use std::sync::Arc;

use regretless::data::RowParameters;
use regretless::explain::{ChoiceAnswer, RangeMethod};
use regretless::problem::{LinearBuilder, ProblemSpec, VariableDomain};
use regretless::random::{Purpose, RandomStream};
use regretless::{Decision, ExplainSettings, Problem, Row, Sense};

use super::{DrawnCase, TestedKind, predicting, without_alternatives};

/// Difference of two objectives that counts as rounding.
const PRICE_TOLERANCE: f64 = 1e-6;

/// Lots of products: each needs a set-up, and all need trucks.
#[derive(Debug, Clone)]
pub struct Lots {
    sense: Sense,
    capacity: Vec<f64>,
    set_up_cost: Vec<f64>,
    /// Least amount of all products, most of them for gains.
    demand: f64,
    /// Load of a truck; trucks are a general integer column.
    truck: Option<f64>,
    /// Whether the costs of set-ups are predicted, too.
    predicts_set_ups: bool,
}

impl Lots {
    fn draw(stream: &mut RandomStream, sense: Sense) -> Self {
        let products = 2 + stream.index_below(3);
        let capacity: Vec<f64> = (0..products).map(|_| stream.uniform(2.0, 6.0)).collect();
        let set_up_cost = (0..products)
            // Some set-ups cost nothing.
            .map(|_| (stream.uniform(-2.0, 6.0)).max(0.0))
            .collect();
        let demand = stream.uniform(0.3, 0.8) * capacity.iter().sum::<f64>();
        Self {
            sense,
            capacity,
            set_up_cost,
            demand,
            truck: None,
            predicts_set_ups: false,
        }
    }

    /// The problem; with `pattern`, its integer columns have these values: set-ups, then trucks.
    fn problem(&self, pattern: Option<&[f64]>) -> Problem {
        let integer = |place: usize, upper: f64| match pattern {
            Some(values) => VariableDomain::Integer([values[place]; 2]),
            None => VariableDomain::Integer([0.0, upper]),
        };
        let mut build = LinearBuilder::new("lots", self.sense);
        let mut total = Vec::new();
        let sign = self.sense.convert(1.0);
        for (product, capacity) in self.capacity.iter().enumerate() {
            let amount = VariableDomain::Continuous([0.0, f64::INFINITY]);
            let amount = build.predicted(format!("lot{product}"), amount);
            let name = format!("set_up{product}");
            let set_up = if self.predicts_set_ups {
                build.predicted(name, integer(product, 1.0))
            } else {
                let cost = sign * self.set_up_cost[product];
                build.auxiliary(name, integer(product, 1.0), cost)
            };
            let entries = [(amount, 1.0), (set_up, -capacity)];
            build.row([f64::NEG_INFINITY, 0.0], entries);
            total.push((amount, 1.0));
        }
        build.row(
            match self.sense {
                Sense::Minimize => [self.demand, f64::INFINITY],
                Sense::Maximize => [f64::NEG_INFINITY, self.demand],
            },
            total.clone(),
        );
        if let Some(load) = self.truck {
            let trucks = build.auxiliary("trucks", integer(self.capacity.len(), 9.0), sign * 1.5);
            total.push((trucks, -load));
            build.row([f64::NEG_INFINITY, 0.0], total);
        }
        Problem::from_kind(build.build().unwrap())
    }

    /// All patterns of the integer columns.
    fn patterns(&self) -> Vec<Vec<f64>> {
        let products = self.capacity.len();
        let trucks = if self.truck.is_some() { 0..10 } else { 0..1 };
        let mut patterns = Vec::new();
        for set_ups in 0_u32..1 << products {
            for trucks in trucks.clone() {
                let mut pattern: Vec<f64> = (0..products)
                    .map(|product| f64::from(set_ups >> product & 1))
                    .collect();
                pattern.push(f64::from(trucks));
                patterns.push(pattern);
            }
        }
        patterns
    }

    /// The best decision of every pattern under minimized costs, the best first, without those
    /// whose columns of predicted cost have the values of a better one.
    fn best_of_patterns(&self, minimized: &[f64]) -> Vec<Decision> {
        let mut costs = minimized.to_vec();
        self.sense.convert_slice(&mut costs);
        let mut found: Vec<Decision> = Vec::new();
        for pattern in self.patterns() {
            if let Ok(solved) = self.problem(Some(&pattern)).solve(&costs) {
                found.push(solved.decision);
            }
        }
        found.sort_by(|a, b| a.dot(minimized).total_cmp(&b.dot(minimized)));
        let mut distinct: Vec<Decision> = Vec::new();
        for decision in found {
            let has_values = |other: &Decision| {
                (0..costs.len()).all(|cost| (other.value(cost) - decision.value(cost)).abs() < 1e-6)
            };
            if !distinct.iter().any(has_values) {
                distinct.push(decision);
            }
        }
        distinct
    }
}

fn cheap_lots(stream: &mut RandomStream) -> Problem {
    Lots::draw(stream, Sense::Minimize).problem(None)
}

fn gainful_lots(stream: &mut RandomStream) -> Problem {
    Lots::draw(stream, Sense::Maximize).problem(None)
}

fn lots_on_trucks(stream: &mut RandomStream) -> Problem {
    let truck = Some(stream.uniform(2.0, 4.0));
    let lots = Lots::draw(stream, Sense::Minimize);
    Lots { truck, ..lots }.problem(None)
}

fn lots_with_predicted_set_ups(stream: &mut RandomStream) -> Problem {
    let lots = Lots::draw(stream, Sense::Minimize);
    let predicts_set_ups = true;
    Lots {
        predicts_set_ups,
        ..lots
    }
    .problem(None)
}

/// Whole lots, whose number is a general integer column of predicted cost, without lower bound.
fn whole_lots(stream: &mut RandomStream) -> Problem {
    let mut build = LinearBuilder::new("whole lots", Sense::Minimize);
    let mut total = Vec::new();
    for lot in 0..3 {
        let number = VariableDomain::Integer([-2.0, 5.0]);
        let number = build.predicted(format!("number{lot}"), number);
        total.push((number, stream.uniform(1.0, 3.0)));
    }
    // Without an upper bound: there is no optimum if its cost is negative.
    let rest = VariableDomain::Continuous([0.0, f64::INFINITY]);
    total.push((build.predicted("rest", rest), 1.0));
    build.row([stream.uniform(4.0, 9.0), f64::INFINITY], total);
    Problem::from_kind(build.build().unwrap())
}

/// Kinds of mixed-integer problems with quantities.
pub fn kinds_with_quantities() -> Vec<TestedKind> {
    vec![
        TestedKind::new("cheap lots", cheap_lots, [-0.5, 4.0]),
        TestedKind::new("gainful lots", gainful_lots, [-0.5, 6.0]),
        TestedKind::new("lots on trucks", lots_on_trucks, [0.1, 4.0]),
        TestedKind::new("predicted set-ups", lots_with_predicted_set_ups, [0.0, 4.0]),
        TestedKind::new("whole lots", whole_lots, [0.2, 4.0]),
        TestedKind::new("set-ups", super::set_ups, [-4.0, 0.5]),
    ]
}

#[test]
fn ranges_of_quantities_are_right_on_both_sides() {
    for kind in kinds_with_quantities() {
        super::ranges::check_kind(&kind, &[RangeMethod::Solves]);
    }
}

/// A case of lots with its costs.
fn drawn_lots(case: u64, lots: impl Fn(&mut RandomStream) -> Lots) -> (Lots, DrawnCase) {
    let mut stream = RandomStream::new(Purpose::Benchmark, 91, [case, 3]);
    let lots = lots(&mut stream);
    let problem = lots.problem(None);
    let costs = (0..problem.num_costs()).map(|_| stream.uniform(0.1, 4.0));
    let drawn = DrawnCase {
        predicted: costs.collect(),
        true_costs: Vec::new(),
        context: format!("lots {case}"),
        problem,
    };
    (lots, drawn)
}

/// Compares the list of other decisions with those of all patterns.
fn check_list(lots: &Lots, drawn: &DrawnCase) -> usize {
    let wanted = 5;
    let mut minimized = drawn.predicted.clone();
    lots.sense.convert_slice(&mut minimized);
    let solved = drawn.problem.solve(&drawn.predicted).unwrap();
    let best = &lots.best_of_patterns(&minimized)[0];
    let excess = solved.decision.dot(&minimized) - best.dot(&minimized);
    assert!(
        excess.abs() < PRICE_TOLERANCE,
        "{}: {excess} {lots:?} {solved:?} {best:?} {:?}",
        drawn.context,
        drawn.predicted
    );
    let explanation = drawn.explain(&ExplainSettings {
        alternatives: Some(wanted),
        ..ExplainSettings::default()
    });
    let costs = drawn.minimized(&explanation);
    let expected = lots.best_of_patterns(&costs);
    let own = expected[0].dot(&costs);
    let found = &explanation.alternatives;
    let context = &drawn.context;
    assert!((lots.sense.convert(explanation.objective) - own).abs() < PRICE_TOLERANCE);
    let count = wanted.min(expected.len() - 1);
    // A list ends where many numbers of trucks have the same quantities, and says so.
    let reason = found.reason.as_deref().unwrap_or_default();
    if !reason.contains("the same quantities") {
        assert_eq!(found.decisions.len(), count, "{context}: {found:?}");
    }
    for (ranked, expected) in found.decisions.iter().zip(&expected[1..]) {
        let objective = expected.dot(&costs);
        let difference = lots.sense.convert(ranked.objective) - objective;
        assert!(
            difference.abs() < PRICE_TOLERANCE,
            "{context}: {difference}"
        );
        assert!((ranked.price - (objective - own)).abs() < PRICE_TOLERANCE);
    }
    found.decisions.len()
}

#[test]
fn other_decisions_are_the_best_of_the_other_patterns_in_order() {
    let kinds: [fn(&mut RandomStream) -> Lots; 4] = [
        |stream| Lots::draw(stream, Sense::Minimize),
        |stream| Lots::draw(stream, Sense::Maximize),
        |stream| Lots {
            truck: Some(2.5),
            ..Lots::draw(stream, Sense::Minimize)
        },
        |stream| Lots {
            predicts_set_ups: true,
            ..Lots::draw(stream, Sense::Minimize)
        },
    ];
    for draw in kinds {
        let mut listed = 0;
        for case in 0..25 {
            let (lots, drawn) = drawn_lots(case, draw);
            listed += check_list(&lots, &drawn);
        }
        assert!(listed > 25, "{listed}");
    }
}

#[test]
fn a_set_up_of_known_cost_has_the_price_that_its_patterns_say() {
    let mut possible = 0;
    for case in 0..20 {
        let (lots, drawn) = drawn_lots(case, |stream| Lots::draw(stream, Sense::Minimize));
        let plain = drawn.explain(&ExplainSettings::default());
        let costs = drawn.minimized(&plain);
        for product in 0..lots.capacity.len() {
            let name = format!("set_up{product}");
            let is_on = plain.other_columns.iter().any(|column| column.name == name);
            let names = vec![name];
            let (force, forbid) = if is_on {
                (Vec::new(), names)
            } else {
                (names, Vec::new())
            };
            let explanation = drawn.explain(&ExplainSettings {
                force,
                forbid,
                ..ExplainSettings::default()
            });
            let flipped = if is_on { 0.0 } else { 1.0 };
            let objectives = lots.patterns().into_iter().filter_map(|pattern| {
                let solved = lots.problem(Some(&pattern)).solve(&costs).ok()?;
                (pattern[product] == flipped).then_some(solved.objective)
            });
            let best = objectives.min_by(f64::total_cmp);
            let effect = &explanation.choices[0];
            match best {
                Some(best) => {
                    assert_eq!(effect.answer, ChoiceAnswer::Possible);
                    let price = effect.price.unwrap();
                    let expected = best - plain.objective;
                    assert!(
                        (price - expected).abs() < PRICE_TOLERANCE,
                        "{}",
                        drawn.context
                    );
                    possible += 1;
                }
                None => assert_eq!(effect.answer, ChoiceAnswer::Infeasible),
            }
        }
    }
    assert!(possible > 20, "{possible}");
}

#[test]
fn a_quantity_that_is_left_out_has_the_price_of_the_best_decision_without_it() {
    let (lots, drawn) = drawn_lots(3, |stream| Lots::draw(stream, Sense::Minimize));
    let plain = drawn.explain(&ExplainSettings::default());
    let used = plain.costs.iter().find(|cost| cost.value > 0.0).unwrap();
    let unused = plain.costs.iter().find(|cost| cost.value == 0.0).unwrap();
    let explanation = drawn.explain(&ExplainSettings {
        forbid: vec![used.name.clone(), unused.name.clone()],
        ..ExplainSettings::default()
    });
    let costs = drawn.minimized(&plain);
    let mut without = lots;
    without.capacity[used.index] = 0.0;
    let expected = without.problem(None).solve(&costs);
    let effect = &explanation.choices[0];
    match expected {
        Ok(solved) => {
            let expected = solved.objective - plain.objective;
            assert!((effect.price.unwrap() - expected).abs() < PRICE_TOLERANCE);
        }
        Err(_) => assert_eq!(effect.answer, ChoiceAnswer::Infeasible),
    }
    assert_eq!(explanation.choices[1].answer, ChoiceAnswer::AlreadyDecided);
    // An amount above 0 may be as small as one likes: there is no best decision with it.
    let model = predicting(&drawn.problem, &drawn.predicted);
    let settings = ExplainSettings {
        force: vec![unused.name.clone()],
        ..ExplainSettings::default()
    };
    let refused = model.explain([0.0].as_slice(), &settings).unwrap_err();
    assert!(refused.to_string().contains("smallest"), "{refused}");
}

#[test]
fn ends_that_the_limit_of_solves_leaves_open_are_safe() {
    let (mut open, mut exact) = (0, 0);
    for kind in kinds_with_quantities() {
        for case in 0..12 {
            let drawn = kind.draw(case);
            for limit in 0..14 {
                let explanation = drawn.explain(&ExplainSettings {
                    max_solves: Some(limit),
                    ..without_alternatives()
                });
                let ranges = &explanation.ranges;
                let context = format!("{}, {limit} solves", drawn.context);
                assert!(ranges.method != Some(RangeMethod::Solves) || ranges.solves <= limit);
                if ranges.method.is_some() {
                    super::ranges::check(&drawn, &explanation);
                }
                if ranges.method != Some(RangeMethod::Solves) {
                    assert!(ranges.reason.is_some(), "{context}");
                    continue;
                }
                let ends = explanation.costs.iter().filter_map(|cost| cost.range);
                let ends: Vec<bool> = ends
                    .flat_map(|ends| [ends.lower_is_exact, ends.upper_is_exact])
                    .collect();
                let is_partial = ends.contains(&false);
                assert_eq!(is_partial, ranges.reason.is_some(), "{context}: {ranges:?}");
                open += usize::from(is_partial);
                exact += usize::from(!is_partial);
            }
        }
    }
    assert!(open > 50 && exact > 50, "{open} open, {exact} exact");
}

#[test]
fn a_list_of_patterns_takes_no_more_solves_than_the_limit() {
    for case in 0..10 {
        let (lots, drawn) = drawn_lots(case, |stream| Lots {
            truck: Some(2.5),
            ..Lots::draw(stream, Sense::Minimize)
        });
        for limit in 0..9 {
            let explanation = drawn.explain(&ExplainSettings {
                alternatives: Some(8),
                max_solves: Some(limit),
                ..ExplainSettings::default()
            });
            let found = &explanation.alternatives;
            assert!(
                found.solves <= limit,
                "{} is more than {limit}",
                found.solves
            );
            assert!(found.reason.as_ref().unwrap().contains("max_solves"));
            let costs = drawn.minimized(&explanation);
            for (ranked, best) in found
                .decisions
                .iter()
                .zip(&lots.best_of_patterns(&costs)[1..])
            {
                assert!((ranked.objective - best.dot(&costs)).abs() < PRICE_TOLERANCE);
            }
        }
    }
}

#[test]
fn explanations_of_quantities_are_the_same_on_any_number_of_threads() {
    let (_, drawn) = drawn_lots(4, |stream| Lots::draw(stream, Sense::Maximize));
    let explain = |threads: usize| {
        let model = predicting(&drawn.problem, &drawn.predicted);
        let model = model.with_threads(threads).unwrap();
        let settings = ExplainSettings {
            forbid: vec!["set_up0".into()],
            ..ExplainSettings::default()
        };
        model.explain([0.0].as_slice(), &settings).unwrap()
    };
    assert_eq!(explain(1), explain(3));
}

/// Two products of the same costs: whichever is chosen, the other one is as good.
#[test]
fn a_tie_is_the_end_of_a_range_and_another_decision_without_a_price() {
    let lots = Lots {
        sense: Sense::Minimize,
        capacity: vec![5.0, 5.0],
        set_up_cost: vec![2.0, 2.0],
        demand: 4.0,
        truck: None,
        predicts_set_ups: false,
    };
    let drawn = DrawnCase {
        problem: lots.problem(None),
        predicted: vec![1.5, 1.5],
        true_costs: Vec::new(),
        context: "tie".into(),
    };
    let explanation = drawn.explain(&ExplainSettings::default());
    let best = &explanation.alternatives.decisions[0];
    assert_eq!(best.price, 0.0);
    assert_eq!((best.added.len(), best.removed.len()), (2, 2));
    for cost in &explanation.costs {
        let range = cost.range.unwrap();
        let end = if cost.value > 0.0 {
            range.upper
        } else {
            range.lower
        };
        assert_eq!(end, Some(1.5), "{cost:?}");
        assert!(range.upper_is_exact && range.lower_is_exact);
    }
}

/// Identical machines, and which of them works has no cost.
#[test]
fn a_list_of_very_many_patterns_with_the_same_quantities_ends() {
    let mut build = LinearBuilder::new("machines", Sense::Minimize);
    let energy = VariableDomain::Continuous([0.0, f64::INFINITY]);
    let energy = build.predicted("energy", energy);
    let mut work = vec![(energy, 1.0)];
    let mut running = Vec::new();
    for machine in 0..12 {
        let column = build.auxiliary(format!("machine{machine}"), VariableDomain::Binary, 0.0);
        work.push((column, -1.0));
        running.push((column, 1.0));
    }
    build.row([0.0, 0.0], work);
    build.row([4.0, f64::INFINITY], running);
    let problem = Problem::from_kind(build.build().unwrap());
    let model = predicting(&problem, &[1.0]);
    let explained = model.explain([0.0].as_slice(), &ExplainSettings::default());
    let found = explained.unwrap().alternatives;
    assert!(found.decisions.is_empty() && !found.are_all);
    assert!(found.solves < 30, "{}", found.solves);
    assert!(found.reason.unwrap().contains("the same quantities"));
}

#[test]
fn a_row_with_its_own_demand_and_known_costs_is_explained_as_the_problem_of_its_numbers() {
    let columns = |known: f64| {
        serde_json::json!([
            {"lower": 0.0}, {"lower": 0.0},
            {"integer": true, "lower": 0.0, "upper": 1.0, "cost": known},
            {"integer": true, "lower": 0.0, "upper": 1.0, "cost": 3.0},
        ])
    };
    let template = |demand: serde_json::Value| {
        serde_json::json!({
            "kind": "linear_arrays", "name": "own demand", "sense": "minimize",
            "columns": columns(5.0),
            "rows": [
                {"lower": demand, "entries": [[0, 1.0], [1, 1.0]]},
                {"upper": 0.0, "entries": [[0, 1.0], [2, -9.0]]},
                {"upper": 0.0, "entries": [[1, 1.0], [3, -4.0]]},
            ],
        })
    };
    let mut own = template(serde_json::json!({"column": "demand"}));
    own["known"] = serde_json::json!({"columns": "freight*"});
    let own = Problem::from_spec(ProblemSpec::Parametric { template: own }).unwrap();
    let parameters = RowParameters::new(1)
        .with_column("demand", 1, Arc::new(vec![3.5]))
        .and_then(|table| table.with_column("freight*", 2, Arc::new(vec![0.5, 0.25])))
        .unwrap();
    let settings = ExplainSettings::default();
    let row = Row::with_parameters(&[0.0], &parameters);
    let model = predicting(&own, &[1.0, 1.5]);
    let explained = model.explain(row, &settings).unwrap();
    let fixed = serde_json::from_value(template(serde_json::json!(3.5))).unwrap();
    let fixed = Problem::from_spec(fixed).unwrap();
    let expected = predicting(&fixed, &[1.5, 1.75]).explain([0.0].as_slice(), &settings);
    let expected = expected.unwrap();
    assert_eq!(explained.ranges, expected.ranges);
    assert_eq!(explained.alternatives, expected.alternatives);
    assert_eq!(explained.alternatives.decisions.len(), 1);
    for (own, fixed) in explained.costs.iter().zip(&expected.costs) {
        let (range, total) = (own.range.unwrap(), fixed.range.unwrap());
        let is_moved = |end: Option<f64>, total: Option<f64>| match (end, total) {
            (Some(end), Some(total)) => (end + own.known - total).abs() < 1e-9,
            (end, total) => end == total,
        };
        assert!(is_moved(range.lower, total.lower) && is_moved(range.upper, total.upper));
    }
}

/// A function whose decisions are amounts: up to 3 of the best of two goods, the rest of the other.
#[test]
fn quantities_of_a_function_have_ranges_and_no_list() {
    let solve = |costs: &[f64]| {
        let mut amounts = vec![0.0; 2];
        let best = usize::from(costs[1] < costs[0]);
        (amounts[best], amounts[1 - best]) = (3.0, 1.5);
        Some(amounts)
    };
    let problem = Problem::from_solver("two goods", Sense::Minimize, 2, solve).unwrap();
    let model = predicting(&problem, &[1.0, 2.5]);
    let explained = model.explain([0.0].as_slice(), &ExplainSettings::default());
    let explained = explained.unwrap();
    assert_eq!(explained.ranges.method, Some(RangeMethod::Solves));
    let ends = |cost: usize| {
        let range = explained.costs[cost].range.unwrap();
        (range.lower, range.upper)
    };
    assert_eq!(ends(0), (None, Some(2.5)));
    assert_eq!(ends(1), (Some(1.0), None));
    assert!(
        explained
            .alternatives
            .reason
            .unwrap()
            .contains("binary decisions")
    );
}
