//! Forced and forbidden choices, and the best decisions in order, against brute force.

use regretless::explain::ChoiceAnswer;
use regretless::random::{Purpose, RandomStream};
use regretless::{Decision, ErrorKind, ExplainSettings, Problem, Sense};

use super::{DrawnCase, all_decisions, binary_kinds, predicting, without_alternatives};

const PRICE_TOLERANCE: f64 = 1e-6;

/// Checks what every choice costs when it is flipped.
fn check_choices(drawn: &DrawnCase) -> [usize; 2] {
    let plain = drawn.explain(&without_alternatives());
    let costs = drawn.minimized(&plain);
    let all = all_decisions(drawn.problem.kind().as_ref(), &costs);
    let best = all[0].dot(&costs);
    let [mut possible, mut infeasible] = [0, 0];
    for cost in &plain.costs {
        let (force, forbid) = if cost.value == 0.0 {
            (vec![cost.name.clone()], Vec::new())
        } else {
            (Vec::new(), vec![cost.name.clone()])
        };
        let explanation = drawn.explain(&ExplainSettings {
            force,
            forbid,
            max_solves: Some(10_000),
            ..without_alternatives()
        });
        let effect = &explanation.choices[0];
        let context = format!("{}, {}", drawn.context, cost.name);
        assert_eq!(
            (&effect.name, effect.is_forced),
            (&cost.name, cost.value == 0.0)
        );
        let is_flipped = |decision: &&Decision| decision.value(cost.index) != cost.value;
        match all.iter().find(is_flipped) {
            Some(expected) => {
                assert_eq!(effect.answer, ChoiceAnswer::Possible, "{context}");
                let price = expected.dot(&costs) - best;
                let found = effect.price.unwrap();
                assert!(
                    (found - price).abs() <= PRICE_TOLERANCE,
                    "{context}: {found}, not {price}"
                );
                let flipped = if effect.is_forced {
                    &effect.added
                } else {
                    &effect.removed
                };
                assert!(flipped.contains(&cost.name), "{context}");
                possible += 1;
            }
            None => {
                assert_eq!(effect.answer, ChoiceAnswer::Infeasible, "{context}");
                assert_eq!((effect.price, effect.objective), (None, None), "{context}");
                infeasible += 1;
            }
        }
    }
    [possible, infeasible]
}

#[test]
fn a_flipped_choice_costs_what_brute_force_says() {
    let mut infeasible = 0;
    for kind in binary_kinds() {
        if kind.name == "user's function" {
            // Its check accepts everything: it has a test of its own.
            continue;
        }
        let mut possible = 0;
        for case in 0..12 {
            let counts = check_choices(&kind.draw(case));
            possible += counts[0];
            infeasible += counts[1];
        }
        assert!(possible > 10, "{}: {possible}", kind.name);
    }
    assert!(infeasible > 10, "{infeasible}");
}

/// Checks the list of decisions against all feasible ones.
fn check_ranking(drawn: &DrawnCase, all: &dyn Fn(&[f64]) -> Vec<Decision>) -> usize {
    let wanted = 6;
    let explanation = drawn.explain(&ExplainSettings {
        alternatives: Some(wanted),
        max_solves: Some(10_000),
        ..ExplainSettings::default()
    });
    let costs = drawn.minimized(&explanation);
    let all = all(&costs);
    let sense = explanation.sense;
    let found = &explanation.alternatives;
    assert_eq!(
        found.decisions.len(),
        wanted.min(all.len() - 1),
        "{}",
        drawn.context
    );
    assert_eq!(found.are_all, all.len() <= wanted, "{}", drawn.context);
    assert_eq!(
        all[0].indices(),
        drawn.decision(&explanation).indices(),
        "{}",
        drawn.context
    );
    let mut seen = vec![all[0].indices().to_vec()];
    for (ranked, expected) in found.decisions.iter().zip(&all[1..]) {
        let objective = expected.dot(&costs);
        assert!(
            (sense.convert(ranked.objective) - objective).abs() <= PRICE_TOLERANCE,
            "{}: {}, not {objective}",
            drawn.context,
            ranked.objective
        );
        assert!((ranked.price - (objective - all[0].dot(&costs))).abs() <= PRICE_TOLERANCE);
        let index = |name: &String| {
            let cost = explanation.costs.iter().find(|cost| cost.name == *name);
            cost.unwrap().index as u32
        };
        let chosen = ranked.choices.iter().map(|choice| index(&choice.name));
        let chosen = Decision::from_indices(chosen);
        assert!(
            drawn.problem.kind().check(&chosen).is_ok(),
            "{}",
            drawn.context
        );
        assert!(
            !seen.contains(&chosen.indices().to_vec()),
            "{}",
            drawn.context
        );
        assert!(ranked.added.len() + ranked.removed.len() > 0);
        seen.push(chosen.indices().to_vec());
    }
    found.decisions.len()
}

#[test]
fn the_best_decisions_are_those_of_brute_force_in_order() {
    for kind in binary_kinds() {
        if kind.name == "user's function" {
            continue;
        }
        let mut listed = 0;
        for case in 0..15 {
            let drawn = kind.draw(case);
            let problem = drawn.problem.kind().clone();
            listed += check_ranking(&drawn, &|costs| all_decisions(problem.as_ref(), costs));
        }
        assert!(listed > 15, "{}: {listed}", kind.name);
    }
}

#[test]
fn a_function_of_the_user_is_asked_with_changed_costs() {
    let kinds = binary_kinds();
    let kind = kinds.iter().find(|kind| kind.name == "user's function");
    for case in 0..15 {
        let drawn = kind.unwrap().draw(case);
        let pairs = drawn.problem.num_costs() / 2;
        let all = |costs: &[f64]| {
            let subsets = 0_u32..1 << pairs;
            let mut all: Vec<Decision> = subsets
                .map(|subset| {
                    (0..pairs as u32)
                        .map(|pair| 2 * pair + (subset >> pair & 1))
                        .collect()
                })
                .map(|chosen: Vec<u32>| Decision::from_indices(chosen))
                .collect();
            all.sort_by(|a, b| a.dot(costs).total_cmp(&b.dot(costs)));
            all
        };
        check_ranking(&drawn, &all);
    }
}

/// Linear problems with auxiliary columns: the price includes what these columns cost.
#[test]
#[cfg(feature = "highs")]
fn prices_include_the_cost_of_auxiliary_columns() {
    let kinds = super::other_kinds();
    let kind = kinds
        .iter()
        .find(|kind| kind.name == "sites with aux")
        .unwrap();
    for case in 0..20 {
        let drawn = kind.draw(case);
        let explanation = drawn.explain(&ExplainSettings {
            alternatives: Some(4),
            max_solves: Some(10_000),
            ..ExplainSettings::default()
        });
        let costs = drawn.minimized(&explanation);
        let all = all_decisions(drawn.problem.kind().as_ref(), &costs);
        // The best objective of each choice of sites, with the columns that follow from it.
        let with_fixed = |decision: &Decision| {
            let mut lured = costs.clone();
            for (cost, value) in lured.iter_mut().enumerate() {
                *value += if decision.value(cost) == 1.0 {
                    -1e3
                } else {
                    1e3
                };
            }
            let solved = drawn.problem.solve(&lured).unwrap().decision;
            assert_eq!(solved.indices(), decision.indices());
            solved.dot(&costs)
        };
        let mut objectives: Vec<f64> = all.iter().map(with_fixed).collect();
        objectives.sort_by(f64::total_cmp);
        assert!((objectives[0] - explanation.objective).abs() <= PRICE_TOLERANCE);
        let found = explanation.alternatives.decisions.iter();
        for (ranked, expected) in found.zip(&objectives[1..]) {
            assert!(
                (ranked.objective - expected).abs() <= PRICE_TOLERANCE,
                "{}: {} is not {expected}",
                drawn.context,
                ranked.objective
            );
        }
    }
}

/// Larger problems, which brute force cannot solve: the best other decision differs in some cost,
/// whose range ends at its price.
#[test]
fn the_nearest_end_of_a_range_is_the_price_of_the_best_other_decision() {
    let mut names = vec!["KS25", "SP5x5", "TSP10", "AP5", "MCK6x4", "MST8"];
    if cfg!(feature = "highs") {
        names.push("CVRP10");
    }
    for name in names {
        let problem = Problem::benchmark(name).unwrap();
        for case in 0..3 {
            let mut stream = RandomStream::new(Purpose::Benchmark, 77, [case, 2]);
            let mut costs = || {
                let draw = |_| 8.0 * stream.uniform(-1.0, 2.5).powi(3);
                (0..problem.num_costs()).map(draw).collect()
            };
            let drawn = DrawnCase {
                predicted: costs(),
                true_costs: Vec::new(),
                context: format!("{name} {case}"),
                problem: problem.clone(),
            };
            let explanation = drawn.explain(&ExplainSettings::default());
            let mut nearest = f64::INFINITY;
            for cost in &explanation.costs {
                let range = cost.range.unwrap();
                for end in [range.lower, range.upper].into_iter().flatten() {
                    nearest = nearest.min((end - cost.predicted).abs());
                }
            }
            let prices = explanation.alternatives.decisions.iter();
            let prices: Vec<f64> = prices.map(|ranked| ranked.price).collect();
            assert_eq!(prices.len(), 3, "{}", drawn.context);
            assert!(prices.is_sorted(), "{}: {prices:?}", drawn.context);
            assert!(
                (prices[0] - nearest).abs() <= PRICE_TOLERANCE * nearest.max(1.0),
                "{}: {} is not {nearest}",
                drawn.context,
                prices[0]
            );
        }
    }
}

#[test]
fn a_choice_that_was_made_costs_nothing_to_force() {
    let problem = Problem::top_k(3, 1, Sense::Maximize).unwrap();
    let model = predicting(&problem, &[1.0, 5.0, 2.0]);
    let settings = ExplainSettings {
        force: vec!["c1".into(), "c2".into()],
        forbid: vec!["c0".into()],
        ..ExplainSettings::default()
    };
    let explanation = model.explain([0.0].as_slice(), &settings).unwrap();
    let found: Vec<(ChoiceAnswer, Option<f64>)> = explanation
        .choices
        .iter()
        .map(|effect| (effect.answer, effect.price))
        .collect();
    let expected = [
        (ChoiceAnswer::AlreadyDecided, Some(0.0)),
        (ChoiceAnswer::Possible, Some(3.0)),
        (ChoiceAnswer::AlreadyDecided, Some(0.0)),
    ];
    assert_eq!(found, expected);
    assert_eq!(explanation.objective, 5.0);
    assert_eq!(explanation.choices[1].objective, Some(2.0));
    assert_eq!(explanation.choices[1].added, ["c2"]);
    assert_eq!(explanation.choices[1].removed, ["c1"]);
}

#[test]
fn a_list_that_takes_too_many_solves_says_where_it_ends() {
    let kind = &binary_kinds()[0];
    let drawn = kind.draw(3);
    let explanation = drawn.explain(&ExplainSettings {
        alternatives: Some(5),
        max_solves: Some(drawn.problem.num_costs()),
        ..ExplainSettings::default()
    });
    let found = &explanation.alternatives;
    assert_eq!((found.decisions.len(), found.are_all), (1, false));
    assert!(found.reason.as_ref().unwrap().contains("1 of 5"));
}

#[test]
fn a_forced_arc_of_a_graph_with_cycles_is_looked_for_within_a_limit() {
    let arcs = [["a", "b"], ["b", "c"], ["c", "d"], ["a", "d"], ["c", "b"]];
    let problem = Problem::graph_path(arcs, "a", "d").unwrap();
    let model = predicting(&problem, &[1.0, 1.0, 1.0, 0.5, 1.0]);
    let explain = |name: &str, max_solves: usize| {
        let settings = ExplainSettings {
            force: vec![name.into()],
            alternatives: Some(0),
            max_solves: Some(max_solves),
            ..ExplainSettings::default()
        };
        model.explain([0.0].as_slice(), &settings)
    };
    let names = problem.cost_names().unwrap().to_vec();
    let effect = &explain(&names[1], 100).unwrap().choices[0];
    assert_eq!(
        (effect.answer, effect.price),
        (ChoiceAnswer::Possible, Some(2.5))
    );
    // No path from a to d leads from c back to b.
    let effect = &explain(&names[4], 100).unwrap().choices[0];
    assert_eq!(effect.answer, ChoiceAnswer::Infeasible);
    let error = explain(&names[1], 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setting);
    assert!(error.to_string().contains("NP-hard"), "{error}");
}
