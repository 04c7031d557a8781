//! What an explanation refuses, and what it leaves out with a reason.

use std::sync::Arc;

use regretless::data::RowParameters;
use regretless::oracle::Heuristic;
use regretless::problem::ProblemSpec;
use regretless::solve::SearchLimits;
use regretless::{Error, ErrorKind, ExplainSettings, Model, Problem, Row, Sense};

use super::{other_kinds, predicting};

fn error(model: &Model, settings: &ExplainSettings) -> Error {
    model.explain([0.0].as_slice(), settings).unwrap_err()
}

fn choice(name: &str) -> ExplainSettings {
    ExplainSettings {
        force: vec![name.into()],
        ..ExplainSettings::default()
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_names_there_are() {
    let problem = Problem::top_k(3, 1, Sense::Maximize).unwrap();
    let model = predicting(&problem, &[1.0, 5.0, 2.0]);
    let error = error(&model, &choice("c7"));
    assert_eq!(error.kind(), ErrorKind::Setting);
    let text = error.to_string();
    assert!(
        text.contains("'c7'") && text.contains("c0, c1, c2"),
        "{text}"
    );
}

#[test]
fn true_costs_that_are_too_few_or_not_finite_are_refused() {
    let problem = Problem::top_k(3, 1, Sense::Maximize).unwrap();
    let model = predicting(&problem, &[1.0, 5.0, 2.0]);
    for (costs, word) in [
        (vec![1.0, 2.0], "2 true costs"),
        (vec![1.0, f64::NAN, 2.0], "'c1'"),
    ] {
        let settings = ExplainSettings {
            costs: Some(costs),
            ..ExplainSettings::default()
        };
        let error = error(&model, &settings);
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn decisions_that_are_not_binary_have_no_list_and_no_choices() {
    for kind in other_kinds() {
        let drawn = kind.draw(0);
        if kind.name == "sites with aux" {
            continue;
        }
        let model = predicting(&drawn.problem, &drawn.predicted);
        let explanation = drawn.explain(&ExplainSettings::default());
        let alternatives = &explanation.alternatives;
        assert!(alternatives.decisions.is_empty() && alternatives.reason.is_some());
        let settings = ExplainSettings {
            alternatives: Some(2),
            ..ExplainSettings::default()
        };
        let refused = error(&model, &settings);
        assert_eq!(
            refused.kind(),
            ErrorKind::Problem,
            "{}: {refused}",
            kind.name
        );
        if kind.name == "linear program" {
            // Its columns can be left out, and used ones are used already.
            continue;
        }
        let refused = error(&model, &choice(&explanation.costs[0].name));
        assert_eq!(
            refused.kind(),
            ErrorKind::Problem,
            "{}: {refused}",
            kind.name
        );
    }
}

#[test]
fn a_decision_that_is_not_proven_has_no_ranges_and_no_prices() {
    let problem = Problem::tsp(6).unwrap();
    let costs: Vec<f64> = (0..15).map(|edge| f64::from(edge * 7 % 11)).collect();
    let heuristic: Heuristic = "local-search".parse().unwrap();
    let model = predicting(&problem, &costs).with_heuristic(Some(heuristic));
    let settings = ExplainSettings {
        costs: Some(costs.iter().rev().copied().collect()),
        ..ExplainSettings::default()
    };
    let explanation = model.explain([0.0].as_slice(), &settings).unwrap();
    assert!(!explanation.is_proven);
    assert_eq!(explanation.ranges.method, None);
    assert!(explanation.ranges.reason.unwrap().contains("not proven"));
    assert!(
        explanation
            .alternatives
            .reason
            .unwrap()
            .contains("not proven")
    );
    assert!(explanation.regret.unwrap().reason.is_some());
    let refused = error(&model, &choice("c0"));
    assert_eq!(refused.kind(), ErrorKind::Solver, "{refused}");
}

/// A function that does not know the value of its last item: its decisions are not optimal.
#[test]
fn a_function_whose_decisions_contradict_each_other_is_reported() {
    let solve = |costs: &[f64]| {
        let best = usize::from(costs[1] > costs[0]);
        // Changed costs let it discover the third item.
        let found = if costs[2] > 10.0 || costs[best] < 0.0 {
            2
        } else {
            best
        };
        Some(
            (0..3)
                .map(|item| f64::from(u8::from(item == found)))
                .collect(),
        )
    };
    let problem = Problem::from_solver("careless", Sense::Maximize, 3, solve).unwrap();
    let model = predicting(&problem, &[1.0, 2.0, 9.0]);
    let explanation = model
        .explain([0.0].as_slice(), &ExplainSettings::default())
        .unwrap();
    assert!(!explanation.is_proven);
    assert_eq!(explanation.status, "not optimal");
    assert!(explanation.ranges.reason.unwrap().contains("not optimal"));
    assert!(
        explanation
            .alternatives
            .reason
            .unwrap()
            .contains("not optimal")
    );
    let refused = error(&model, &choice("c2"));
    assert_eq!(refused.kind(), ErrorKind::Solver);
    assert!(refused.to_string().contains("not optimal"), "{refused}");
}

#[test]
fn a_path_with_a_negative_cycle_has_no_ranges_and_no_regret() {
    let arcs = [["a", "b"], ["b", "c"], ["c", "b"], ["c", "d"]];
    let problem = Problem::graph_path(arcs, "a", "d").unwrap();
    let model = predicting(&problem, &[1.0, -2.0, 1.0, 1.0]);
    let explanation = model
        .explain([0.0].as_slice(), &ExplainSettings::default())
        .unwrap();
    assert!(!explanation.is_proven);
    assert!(explanation.costs.iter().all(|cost| cost.range.is_none()));
    let model = predicting(&problem, &[1.0, 2.0, 1.0, 1.0]);
    let settings = ExplainSettings {
        costs: Some(vec![1.0, -2.0, 1.0, 1.0]),
        ..ExplainSettings::default()
    };
    let refused = error(&model, &settings);
    assert_eq!(refused.kind(), ErrorKind::Solver);
    assert!(refused.to_string().contains("cycle"), "{refused}");
}

#[test]
fn several_rows_are_refused() {
    let problem = Problem::top_k(2, 1, Sense::Maximize).unwrap();
    let model = predicting(&problem, &[1.0, 5.0]);
    let refused = error_of_values(&model, &[0.0, 1.0]);
    assert_eq!(refused.kind(), ErrorKind::Data);
}

fn error_of_values(model: &Model, values: &[f64]) -> Error {
    let settings = ExplainSettings::default();
    model.explain(values, &settings).unwrap_err()
}

/// A knapsack whose capacity, items and a part of the costs come from the row.
#[test]
fn a_row_with_its_own_problem_and_known_costs_is_explained_by_them() {
    let template = serde_json::json!({
        "kind": "knapsack",
        "weights": [[2.0, 3.0, 4.0]],
        "capacity": [{ "column": "capacity" }],
        "known": { "columns": "bonus*" },
        "present": { "columns": "exists*" },
    });
    let problem = Problem::from_spec(ProblemSpec::Parametric { template }).unwrap();
    let model = predicting(&problem, &[1.0, 2.0, 2.5]).with_limits(SearchLimits::default());
    let parameters = RowParameters::new(1)
        .with_column("capacity", 1, Arc::new(vec![5.0]))
        .and_then(|table| table.with_column("bonus*", 3, Arc::new(vec![0.5, 0.0, 9.0])))
        .and_then(|table| table.with_column("exists*", 3, Arc::new(vec![1.0, 1.0, 0.0])))
        .unwrap();
    let settings = ExplainSettings {
        forbid: vec!["c0".into()],
        costs: Some(vec![4.0, 1.0, 0.0]),
        ..ExplainSettings::default()
    };
    let row = Row::with_parameters(&[0.0], &parameters);
    let explanation = model.explain(row, &settings).unwrap();
    // The third item does not exist; both others fit.
    assert_eq!(explanation.costs.len(), 2);
    assert_eq!(explanation.objective, 3.5);
    assert_eq!(explanation.choices[0].price, Some(1.5));
    // The gain 1 of the first item, with 0.5 known, may fall to -0.5.
    let range = explanation.costs[0].range.unwrap();
    assert_eq!((range.lower, range.upper), (Some(-0.5), None));
    assert_eq!(
        (explanation.costs[0].known, explanation.costs[0].predicted),
        (0.5, 1.0)
    );
    let split = explanation.regret.unwrap();
    assert_eq!((split.regret, split.objective), (0.0, 5.5));
    assert_eq!(explanation.alternatives.decisions.len(), 3);
    assert!(explanation.alternatives.reason.is_none());
}
