//! Parameters from columns that are matched by their names.

#[cfg(feature = "highs")]
use super::plan_file;
use super::{Fixture, table};
use regretless::Decision;
use regretless::data::{Dataset, FeatureShape, Features, Matrix, RowParameters, SplitIndices};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::trainer::Trainer;
use serde_json::{Value, json};
use std::sync::Arc;

/// A table of one row with these costs and numbers in columns.
fn named_row(costs: &[(&str, f32)], columns: &[(&str, f64)]) -> Dataset {
    let names: Vec<String> = costs.iter().map(|(name, _)| (*name).into()).collect();
    let values = costs.iter().map(|(_, cost)| *cost).collect();
    let values = Matrix::new(1, costs.len(), values).unwrap();
    let features = Matrix::new(1, 1, vec![0.0]).unwrap();
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let data = Dataset::new(features, values, Some(names.into())).unwrap();
    let mut parameters = RowParameters::new(1);
    for (name, value) in columns {
        let values = Arc::new(vec![*value]);
        parameters = parameters.with_column(*name, 1, values).unwrap();
    }
    data.with_parameters(parameters).unwrap()
}

/// The costs of the chosen items of the only row.
fn chosen_items(spec: &Value, data: Dataset) -> Vec<String> {
    let spec = ProblemSpec::from_json(spec.clone()).unwrap();
    let problem = spec.for_table(&data).unwrap().build().unwrap();
    let oracle = Oracle::new(problem).for_dataset(&data).unwrap();
    let labeled = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    let names = labeled.data().cost_names();
    let chosen = labeled.optimal_decision(0).indices().iter();
    chosen
        .map(|item| names.get(*item as usize).into())
        .collect()
}

#[test]
fn named_items_of_a_knapsack_have_their_weights_in_any_order_of_the_table() {
    let named = json!({"kind": "knapsack", "weights": [12.0, 10.0, 3.0], "capacity": 13.0,
        "items": ["beer", "water", "cola"]});
    let by_day = json!({"kind": "knapsack", "weights": [12.0, 10.0, 3.0],
        "capacity": {"column": "truck"}, "items": ["beer", "water", "cola"]});
    let table = [("cola", 4.0), ("beer", 5.0), ("water", 3.0)];
    for spec in [&named, &by_day] {
        let data = named_row(&table, &[("truck", 13.0)]);
        assert_eq!(chosen_items(spec, data), ["water", "cola"]);
    }
    let spec = ProblemSpec::from_json(named.clone()).unwrap();
    let text = serde_json::to_value(&spec).unwrap();
    assert_eq!(text["items"], named["items"]);
    assert_eq!(ProblemSpec::from_json(text).unwrap(), spec);
    let problem = spec.build().unwrap();
    let names = problem.names().cost_names().unwrap();
    assert_eq!(problem.names().position_note(names), None);
    for (items, expected) in [
        (json!(["beer", "water"]), "2 items"),
        (
            json!(["beer", "water", "beer"]),
            "two items are named 'beer'",
        ),
        (json!(4), "4 items"),
    ] {
        let mut wrong = named.clone();
        wrong["items"] = items;
        let message = ProblemSpec::from_json(wrong).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn weights_from_columns_belong_to_the_costs_whose_names_they_have() {
    let spec = json!({"kind": "knapsack", "weights": {"columns": "w_*"}, "capacity": 13.0,
        "items": 3});
    let costs = [
        ("profit_cola", 4.0),
        ("profit_beer", 5.0),
        ("profit_water", 3.0),
    ];
    let weights = [("w_beer", 12.0), ("w_water", 10.0), ("w_cola", 3.0)];
    let data = named_row(&costs, &weights);
    assert_eq!(chosen_items(&spec, data), ["profit_cola", "profit_water"]);
    // Names that do not agree are matched by position, which a note says.
    let note = |weights: &[(&str, f64)]| {
        let spec = ProblemSpec::from_json(spec.clone()).unwrap();
        let data = named_row(&costs, weights);
        let problem = spec.for_table(&data).unwrap().build().unwrap();
        problem.names().position_note(data.cost_names())
    };
    assert_eq!(note(&weights), None);
    let other = [("w_1", 12.0), ("w_2", 10.0), ("w_3", 3.0)];
    let note = note(&other).unwrap();
    assert!(
        note.contains("profit_cola from w_1, profit_beer from w_2"),
        "{note}"
    );
}

#[test]
fn a_table_names_the_columns_of_its_patterns() {
    let template = json!({"kind": "knapsack", "weights": [{"columns": "w_*"}],
        "capacity": [{"column": "w_c"}], "items": 2, "known": {"columns": "k_*", "factor": -1}});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = Dataset::from_arrays(&[[0.0]], &[[3.0, 4.0]]).unwrap();
    let column = |parameters: RowParameters, name: &str, value: f64| {
        parameters
            .with_column(name, 1, Arc::new(vec![value]))
            .unwrap()
    };
    let mut parameters = RowParameters::new(1);
    for (name, value) in [("w_b", 2.0), ("w_a", 1.0), ("k_b", 5.0), ("k_a", 6.0)] {
        parameters = column(parameters, name, value);
    }
    let spec = spec
        .for_table(&data.with_parameters(parameters).unwrap())
        .unwrap();
    let ProblemSpec::Parametric { template } = &spec else {
        panic!("{spec:?}")
    };
    assert_eq!(
        template["weights"],
        json!([[{"column": "w_b"}, {"column": "w_a"}]])
    );
    let known = json!([{"column": "k_b", "factor": -1}, {"column": "k_a", "factor": -1}]);
    assert_eq!(template["known"], known);
    // Another table may have the columns in another order.
    let mut parameters = RowParameters::new(1);
    for (name, value) in [
        ("k_a", 6.0),
        ("w_c", 2.0),
        ("w_a", 1.0),
        ("k_b", 5.0),
        ("w_b", 2.0),
    ] {
        parameters = column(parameters, name, value);
    }
    let problem = spec.build().unwrap();
    let bound = Arc::new(parameters)
        .bind(problem.row_problems().parameters())
        .unwrap();
    let mut values = Vec::new();
    bound.read(0, &mut values);
    assert_eq!(
        problem.row_problems().known_costs(&values),
        Some(vec![-5.0, -6.0])
    );
    let load = |items: &[u32]| Decision::from_indices(items.iter().copied());
    let row = problem.row_problems().row_problem(&values).unwrap();
    assert!(row.check(&load(&[0])).is_ok() && row.check(&load(&[0, 1])).is_err());
}

#[cfg(feature = "highs")]
#[test]
fn patterns_of_named_costs_are_matched_by_name() {
    let template = json!({"kind": "linear", "file": plan_file(), "costs": ["a*", "b*"],
        "known": {"columns": "fee_*"}, "present": {"columns": "on_*"}});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let columns: Vec<&str> = problem
        .row_problems()
        .parameters()
        .iter()
        .map(|c| c.pattern.as_str())
        .collect();
    let names = ["a1", "a2", "a3", "b1", "b2", "b3"];
    let expected: Vec<String> = ["on", "fee"]
        .iter()
        .flat_map(|kind| names.iter().map(move |name| format!("{kind}_{name}")))
        .collect();
    assert_eq!(columns, expected);
    let mut values = vec![1.0; 12];
    values[0] = 0.0;
    values[6] = 9.0;
    let row = problem.row_problems().row_problem(&values).unwrap();
    assert_eq!(
        row.present_costs().unwrap(),
        [false, true, true, true, true, true]
    );
    assert_eq!(problem.row_problems().known_costs(&values).unwrap()[0], 9.0);
}

#[cfg(feature = "highs")]
#[test]
fn an_infinite_bound_of_the_other_sign_is_refused() {
    let template = json!({"kind": "linear_arrays", "name": "plan", "sense": "minimize",
        "columns": [{"lower": 0.0, "upper": {"column": "most"}}],
        "rows": [{"lower": {"column": "least"}, "entries": [[0, 1.0]]}]});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let infinity = f64::INFINITY;
    for (values, is_right) in [
        ([infinity, -infinity], true),
        ([-infinity, 1.0], false),
        ([5.0, infinity], false),
    ] {
        let built = problem.row_problems().row_problem(&values);
        assert_eq!(built.is_ok(), is_right, "{values:?} {:?}", built.err());
    }
}

#[test]
fn as_many_items_as_dimensions_and_huge_counts() {
    // Two dimensions, two items: columns of the items, not one weight per item.
    let template = json!({"kind": "knapsack", "items": 2,
        "weights": [{"column": "kg"}, {"column": "liters"}], "capacity": [3.0, 4.0]});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let counts: Vec<usize> = problem
        .row_problems()
        .parameters()
        .iter()
        .map(|c| c.count)
        .collect();
    assert_eq!(counts, [2, 2]);
    for template in [
        json!({"kind": "knapsack", "items": 1_000_000_000_000_u64,
            "weights": [{"columns": "w*"}], "capacity": [1.0]}),
        json!({"kind": "tsp", "nodes": 4_000_000_000_u64, "present": {"columns": "v*"}}),
        json!({"kind": "grid_path", "grid": [1_000_000, 1_000_000], "present": {"columns": "v*"}}),
        json!({"kind": "knapsack", "items": 3, "weights": [[1.0, 2.0]],
            "capacity": [{"column": "c"}]}),
    ] {
        let refused = ProblemSpec::from_json(template).and_then(|spec| spec.build());
        assert!(refused.is_err());
    }
}

#[test]
fn ranges_and_adjacent_vertices_leave_out_rows_without_a_label() {
    let template = json!({"kind": "knapsack", "weights": [[1.0, 2.0, 3.0]],
        "capacity": [{"column": "cap"}]});
    let spec = ProblemSpec::from_json(template).unwrap();
    let costs: Vec<[f64; 3]> = (0..10).map(|row| [1.0, f64::from(row), 4.0]).collect();
    let features: Vec<[f64; 1]> = (0..10).map(|row| [f64::from(row)]).collect();
    let mut capacities = vec![3.0; 10];
    capacities[4] = -1.0;
    let parameters = RowParameters::new(10)
        .with_column("cap", 1, Arc::new(capacities))
        .unwrap();
    let data = table(&features, &costs)
        .with_parameters(parameters)
        .unwrap();
    let oracle = Oracle::new(spec.build().unwrap())
        .for_dataset(&data)
        .unwrap();
    let (data, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
    assert_eq!(failed.len(), 1);
    let words = "capacity -1 must be 0 or more; the row has capacity[0] = -1 (column cap)";
    assert!(failed[0].1.to_string().contains(words), "{}", failed[0].1);
    let split = SplitIndices::in_order(10, [6, 2, 2]).unwrap();
    let fixture = Fixture {
        spec,
        split: split.restrict_to(&data.rows()).unwrap(),
        data,
        oracle,
    };
    for method in ["MAE(O_S,S)", "LAVA"] {
        fixture.train(method);
    }
}

#[test]
fn a_model_finds_its_parameter_columns_by_name() {
    let template = json!({"kind": "knapsack", "items": 2, "weights": [{"columns": "w_*"}],
        "capacity": [3.0]});
    let spec = ProblemSpec::from_json(template).unwrap();
    let problem = regretless::Problem::from_spec(spec).unwrap();
    let parameters = |rows: usize, names: [&str; 2]| {
        let weights = |name: &str| if name == "w_a" { 1.0 } else { 3.0 };
        let mut parameters = RowParameters::new(rows);
        for name in names {
            let values = vec![weights(name); rows];
            parameters = parameters.with_column(name, 1, Arc::new(values)).unwrap();
        }
        parameters
    };
    let features: Vec<[f64; 1]> = (0..20).map(|row| [f64::from(row)]).collect();
    let costs: Vec<[f64; 2]> = (0..20).map(|row| [2.0 + f64::from(row % 3), 1.0]).collect();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    let data = data
        .with_parameters(parameters(20, ["w_a", "w_b"]))
        .unwrap();
    let data = data.split(regretless::Split::random(0)).unwrap();
    let model = Trainer::new(Method::mse())
        .epochs(2)
        .fit(&problem, &data)
        .unwrap();
    assert_eq!(
        model.evaluate(data.test()).unwrap().instances,
        data.test().len()
    );
    for names in [["w_a", "w_b"], ["w_b", "w_a"]] {
        let today = parameters(1, names);
        let decision = model.decide(regretless::Row::with_parameters(&[1.0], &today));
        // The first item weighs 1 and is the more valuable one; the second fills the capacity.
        assert_eq!(decision.unwrap().indices(), [0], "{names:?}");
    }
    let renamed = parameters(1, ["w_a", "w_x"]);
    let row = regretless::Row::with_parameters(&[1.0], &renamed);
    assert!(model.decide(row).unwrap_err().to_string().contains("w_b"));
}
