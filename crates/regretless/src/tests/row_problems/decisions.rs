//! Labels, regrets and models of rows with parameters, and rows without a problem.

use super::{Case, Fixture, ROWS, cases, numbers, table};
use regretless::data::{Dataset, FeatureShape, Features, Matrix, RowParameters, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::settings::TrainingSettings;
use regretless::trainer::Trainer;
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn labels_are_those_of_problems_built_by_hand() {
    for case in cases() {
        let fixture = Fixture::of(&case, 2);
        let mut distinct = 0;
        for row in 0..ROWS {
            let by_hand = ProblemSpec::from_json((case.by_hand)(&case, row)).unwrap();
            let problem = by_hand.build().unwrap();
            let mut costs = Vec::new();
            fixture.data.data().costs().read(row, &mut costs);
            let mut solver = problem.solver(fixture.oracle.limits());
            let mut expected = solver.solve(&costs).unwrap();
            expected.objective = expected.decision.dot(&costs);
            let label = fixture.data.solution(row);
            assert_eq!(label, &expected, "{}, row {row}", case.name);
            problem.check(&label.decision).unwrap();
            distinct += usize::from(label.decision != *fixture.data.optimal_decision(0));
        }
        assert!(distinct > 0, "{}: all rows have one label", case.name);
    }
}

#[test]
fn regret_is_that_of_problems_built_by_hand() {
    for case in cases() {
        let fixture = Fixture::of(&case, 1);
        for method in ["MAE(O,S)", "SPO+"] {
            let model = fixture.train(method).model;
            let evaluation = fixture.evaluate(&model);
            let rows = &fixture.split.test;
            let predictions = model.predict_instances(&fixture.data, rows).unwrap();
            for (position, row) in rows.iter().enumerate() {
                let by_hand = ProblemSpec::from_json((case.by_hand)(&case, *row)).unwrap();
                let problem = by_hand.build().unwrap();
                let (mut predicted, mut costs) = (Vec::new(), Vec::new());
                predictions.read(position, &mut predicted);
                fixture.data.data().costs().read(*row, &mut costs);
                let solve = |costs: &[f64]| {
                    let mut solver = problem.solver(fixture.oracle.limits());
                    solver.solve(costs).unwrap().decision
                };
                let regret = solve(&predicted).dot(&costs) - solve(&costs).dot(&costs);
                let actual = evaluation.regrets[position];
                assert_eq!(actual, regret, "{} {method}, row {row}", case.name);
            }
        }
    }
}

#[test]
fn equal_parameters_give_the_model_of_the_fixed_problem() {
    for case in cases() {
        let first = (case.by_hand)(&case, 0);
        let equal = Case {
            columns: case
                .columns
                .iter()
                .map(|(name, width, values)| (*name, *width, values[..*width].repeat(ROWS)))
                .collect(),
            ..cases()
                .into_iter()
                .find(|other| other.name == case.name)
                .unwrap()
        };
        let per_row = Fixture::of(&equal, 2);
        let fixed = Fixture::new(ProblemSpec::from_json(first).unwrap(), case.dataset(), 1);
        assert_eq!(
            per_row.data.solutions(),
            fixed.data.solutions(),
            "{}",
            case.name
        );
        for method in ["MAE(O,S)", "MSE(C,O,S)", "SPO+", "MAP cache 50%"] {
            let (a, b) = (per_row.train(method).model, fixed.train(method).model);
            let name = case.name;
            assert_eq!(a.networks, b.networks, "{name} {method}");
            assert_eq!(
                per_row.evaluate(&a).regrets,
                fixed.evaluate(&b).regrets,
                "{name} {method}"
            );
        }
    }
}

#[test]
fn threads_do_not_change_models() {
    for case in cases() {
        let (one, two) = (Fixture::of(&case, 1), Fixture::of(&case, 2));
        for method in [
            "SPO+",
            "PFYL",
            "MAP cache 20%",
            "NCE cache 20%",
            "LTR(pair) cache 20%",
        ] {
            let (a, b) = (one.train(method), two.train(method));
            assert_eq!(a.model.networks, b.model.networks, "{} {method}", case.name);
        }
    }
}

/// A knapsack of three items whose purchase prices are known and whose resale values are predicted.
fn resale(known: &Value) -> ProblemSpec {
    ProblemSpec::from_json(json!({"kind": "knapsack", "weights": [[1.0, 1.0, 1.0]],
        "capacity": [2.0], "known": known}))
    .unwrap()
}

#[test]
fn known_costs_are_part_of_the_objective() {
    let values = [[5.0, 6.0, 7.0], [5.0, 6.0, 7.0]];
    let data = table(&[[0.0], [1.0]], &values);
    let prices = vec![1.0, 5.5, 2.0, 4.5, 0.5, 9.0];
    let parameters = RowParameters::new(2)
        .with_column("price", 3, Arc::new(prices))
        .unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let fixture = Fixture {
        split: SplitIndices::in_order(2, [2, 0, 0]).unwrap(),
        ..Fixture::new_of_rows(resale(&json!({"column": "price", "factor": -1})), data)
    };
    // Margins: 4, 0.5, 5 in the first row; 0.5, 5.5, -2 in the second.
    assert_eq!(fixture.data.optimal_decision(0).indices(), [0, 2]);
    assert_eq!(fixture.data.optimal_decision(1).indices(), [0, 1]);
    let predicted = Matrix::from_f64(2, 3, &[9.0, 0.0, 0.0, 0.0, 0.0, 12.0]).unwrap();
    let rows = [0, 1];
    let totals = fixture.data.select_predictions(&predicted, &rows).unwrap();
    let (oracle, data) = (&fixture.oracle, &fixture.data);
    let evaluation =
        Evaluation::of_predictions(&totals, data, &rows, oracle, &NoopObserver).unwrap();
    // Predicted margins 8, -5.5, -2 and -4.5, -0.5, 3: the first item alone, the third alone.
    assert_eq!(evaluation.regrets, [9.0 - 4.0, 6.0 + 2.0]);
    assert_eq!(evaluation.objectives, [4.0, -2.0]);
    // The error of a prediction is that of the predicted part.
    let errors: f64 = [4.0_f64, 6.0, 7.0, 5.0, 6.0, 5.0].iter().sum();
    assert!((evaluation.mae - errors / 6.0).abs() < 1e-6);
}

/// A path beside a cycle, with known costs of 0.
#[test]
fn what_a_problem_says_of_its_rows_does_not_change_with_known_costs() {
    let arcs = json!([["a", "b"], ["b", "a"], ["b", "c"]]);
    let plain = json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "c"});
    let mut template = plain.clone();
    template["known"] = json!([0.0, 0.0, 0.0]);
    for spec in [plain, template] {
        let problem = ProblemSpec::from_json(spec).unwrap().build().unwrap();
        let oracle = Oracle::new(Arc::clone(&problem));
        let costs = Matrix::from_f64(2, 3, &[1.0, -3.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        let features = Matrix::from_f64(2, 1, &[0.0, 1.0]).unwrap();
        let features = Features::new(features, FeatureShape::Wide, None).unwrap();
        let data = Dataset::new(features, costs, None).unwrap();
        let (_, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
        let [(0, failure)] = failed.as_slice() else {
            panic!("{failed:?}");
        };
        assert!(failure.to_string().contains("node 'b'"), "{failure}");
    }
}

#[test]
fn known_costs_do_not_change_what_plain_losses_learn() {
    let case = &cases()[0];
    let prices = numbers("prices", 4, ROWS * 6, -3.0, 0.0);
    let parameters = case
        .parameters()
        .with_column("price", 6, Arc::new(prices))
        .unwrap();
    let mut template = case.template.clone();
    template["known"] = json!({"columns": "price*"});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = case.dataset().with_parameters(parameters).unwrap();
    let with_known = Fixture::new(spec, data, 1);
    let without = Fixture::of(case, 1);
    let settings = |fixture: &Fixture| {
        let context = fixture.context();
        let settings = TrainingSettings {
            epochs: 3,
            fused: false,
            select: "last".parse().unwrap(),
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new("MSE".parse::<Method>().unwrap()).settings(settings);
        trainer.train(&context, &fixture.spec, None).unwrap().model
    };
    let (a, b) = (settings(&with_known), settings(&without));
    let features = without.data.data().features();
    let (a, b) = (a.predict(features).unwrap(), b.predict(features).unwrap());
    for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
        assert!((a - b).abs() < 1e-3 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn absent_costs_are_left_out_of_losses_scalers_and_errors() {
    let present = vec![1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let costs = [[1.0, 2.0, f64::NAN], [3.0, f64::NAN, 5.0], [2.0, 4.0, 6.0]];
    let features = [[0.0], [1.0], [2.0]];
    let parameters = RowParameters::new(3)
        .with_column("on", 3, Arc::new(present))
        .unwrap();
    let data = Dataset::from_arrays_with_missing_costs(&features, &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let fixture = Fixture::new_of_rows(ProblemSpec::from_json(spec).unwrap(), data);
    let data = fixture.data.data();
    assert_eq!(data.costs().row(0), [1.0, 2.0, 0.0]);
    assert_eq!([0, 1, 2].map(|row| data.num_present_costs(row)), [2, 2, 3]);
    let scaler = regretless::predict::CostScaler::fit(data, &[0, 1, 2], None);
    assert_eq!(scaler.offset, [2.0, 3.0, 5.5]);
    let predictions =
        Matrix::from_f64(3, 3, &[2.0, 0.0, 9.0, 3.0, 9.0, 5.0, 2.0, 4.0, 3.0]).unwrap();
    let predictions = fixture
        .data
        .select_predictions(&predictions, &[0, 1, 2])
        .unwrap();
    assert_eq!(predictions.row(0), [2.0, 0.0, 0.0]);
    let (oracle, rows) = (&fixture.oracle, [0, 1, 2]);
    let evaluation =
        Evaluation::of_predictions(&predictions, &fixture.data, &rows, oracle, &NoopObserver)
            .unwrap();
    // Errors 1 and 2 in the first row, none in the second, 3 in the third: of seven costs.
    assert!((evaluation.mae - 6.0 / 7.0).abs() < 1e-9);
    assert!((evaluation.mse - 14.0 / 7.0).abs() < 1e-9);
    assert_eq!(evaluation.regrets, [1.0, 0.0, 0.0]);
}

#[test]
fn a_missing_cost_of_a_present_item_is_refused_with_its_place() {
    let parameters = RowParameters::new(1)
        .with_column("on", 3, Arc::new(vec![1.0, 0.0, 1.0]))
        .unwrap();
    let costs = [[1.0, f64::NAN, f64::NAN]];
    let data = Dataset::from_arrays_with_missing_costs(&[[0.0]], &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let problem = ProblemSpec::from_json(spec).unwrap().build().unwrap();
    let oracle = Oracle::new(problem).for_dataset(&data).unwrap();
    let error = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!(
        (place.row, place.column.as_deref()),
        (Some(0), Some("c2")),
        "{error}"
    );
}

#[test]
fn rows_without_a_problem_fail_alone_and_say_why() {
    let template = json!({"kind": "top_k", "items": 3, "k": {"column": "k"}, "sense": "minimize"});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = table(&[[0.0]; 4], &[[1.0, 2.0, 3.0]; 4]);
    let parameters = RowParameters::new(4)
        .with_column("k", 1, Arc::new(vec![1.0, 4.0, 1.5, -1.0]))
        .unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let oracle = Oracle::new(spec.build().unwrap())
        .for_dataset(&data)
        .unwrap();
    let (labeled, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
    assert_eq!(labeled.rows(), [0]);
    let words = [
        "cannot choose k = 4 of 3",
        "k = 1.5 (column k)",
        "k = -1 (column k)",
    ];
    for ((row, failure), words) in failed.iter().zip(words) {
        assert!(failure.to_string().contains(words), "row {row}: {failure}");
    }
    assert_eq!(failed.len(), 3);
}

#[test]
fn a_pool_offers_a_row_only_decisions_that_are_feasible_for_it() {
    // Every row chooses another number of items: no decision of another row is feasible unless it
    // has the same k.
    let template = json!({"kind": "top_k", "items": 6, "k": {"column": "k"}, "sense": "minimize"});
    let case = Case {
        name: "pools",
        template,
        costs: 6,
        columns: vec![("k", 1, (0..ROWS).map(|row| (row % 3 + 1) as f64).collect())],
        by_hand: |_, _| Value::Null,
    };
    let fixture = Fixture::of(&case, 1);
    let before = fixture.oracle.counts();
    fixture.train("MAP cache 0%");
    let counts = fixture.oracle.counts() - before;
    // Eight rows have each k, and their labels differ: no row has to be solved for the pool.
    assert_eq!(counts.unpooled_rows, 0, "{counts:?}");
    let lonely = Case {
        columns: vec![(
            "k",
            1,
            (0..ROWS)
                .map(|row| if row == 3 { 5.0 } else { 2.0 })
                .collect(),
        )],
        ..case
    };
    let fixture = Fixture::of(&lonely, 1);
    let before = fixture.oracle.counts();
    let report = fixture.train("SPO+ cache 0%").report;
    let counts = fixture.oracle.counts() - before;
    // Its decision is then in the pool, beside its label.
    assert_eq!(counts.unpooled_rows, 1, "{counts:?}");
    assert_eq!(report.solves.unpooled_rows, counts.unpooled_rows);
}

#[test]
fn references_in_other_places_are_refused() {
    for (template, words) in [
        (
            json!({"kind": "tsp", "nodes": {"column": "n"}}),
            "'nodes' of a tsp problem",
        ),
        (
            json!({"kind": "knapsack", "weights": [{"columns": "w*"}], "capacity": [1.0]}),
            "items",
        ),
        (
            json!({"kind": "knapsack", "weights": [[1.0]], "capacity": [{"columns": "c*"}]}),
            "one number",
        ),
        (
            json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize", "known": [1.0]}),
            "known has 1",
        ),
        (
            json!({"kind": "top_k", "items": 1, "k": 1, "sense": "minimize", "known": ["x"]}),
            "neither",
        ),
    ] {
        let error = ProblemSpec::from_json(template)
            .and_then(|spec| spec.build())
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn an_oracle_without_the_parameters_of_the_table_is_refused() {
    let case = &cases()[0];
    let problem = case.spec().build().unwrap();
    let data = case.dataset();
    assert!(
        Oracle::new(Arc::clone(&problem))
            .for_dataset(&data)
            .is_err()
    );
    let error = LabeledDataset::solve(data, &Oracle::new(Arc::clone(&problem)), &NoopObserver);
    assert!(error.unwrap_err().to_string().contains("'cap'"));
    let data = case.dataset().with_parameters(case.parameters()).unwrap();
    let other = RowParameters::new(ROWS)
        .with_column("cap", 1, Arc::new(vec![3.0; ROWS]))
        .unwrap();
    let oracle = Oracle::new(problem)
        .with_parameters(Some(&Arc::new(other)))
        .unwrap();
    let error = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap_err();
    assert!(error.to_string().contains("another table"), "{error}");
}

#[test]
fn least_squares_of_a_cost_has_the_intercept_of_its_own_rows() {
    // Cost 1 exists where x is above 3 only, and is exactly linear there.
    let features: Vec<[f64; 1]> = (0..8).map(|x| [f64::from(x)]).collect();
    let costs: Vec<[f64; 2]> = (0..8)
        .map(|x| [f64::from(x), 100.0 - 7.0 * f64::from(x)])
        .collect();
    let present: Vec<f64> = (0..8)
        .flat_map(|x| [1.0, f64::from(u8::from(x > 3))])
        .collect();
    let parameters = RowParameters::new(8)
        .with_column("on", 2, Arc::new(present))
        .unwrap();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let fixture = Fixture::new_of_rows(ProblemSpec::from_json(spec).unwrap(), data);
    let rows: Vec<usize> = (4..8).collect();
    let predicted = fixture
        .data
        .data()
        .least_squares_predictions(&rows)
        .unwrap();
    for (row, predicted) in rows.iter().zip(predicted.chunks_exact(2)) {
        for (predicted, cost) in predicted.iter().zip(costs[*row]) {
            assert!(
                (f64::from(*predicted) - cost).abs() < 1e-3,
                "{row}: {predicted} {cost}"
            );
        }
    }
}

#[test]
fn large_known_costs_do_not_disturb_training() {
    let case = &cases()[0];
    let fixture = |size: f64| {
        let fees = numbers("fees", 4, ROWS * 6, 0.0, 1.0);
        let fees = fees.into_iter().map(|fee| size + fee).collect::<Vec<f64>>();
        let parameters = case
            .parameters()
            .with_column("fee", 6, Arc::new(fees))
            .unwrap();
        let mut template = case.template.clone();
        template["known"] = json!({"columns": "fee*"});
        let spec = ProblemSpec::from_json(template).unwrap();
        Fixture::new(spec, case.dataset().with_parameters(parameters).unwrap(), 1)
    };
    let predictions = |fixture: &Fixture| {
        let model = fixture.train("MSE").model;
        let features = fixture.data.data().features();
        model.predict(features).unwrap().as_slice().to_vec()
    };
    let (small, large) = (predictions(&fixture(0.0)), predictions(&fixture(1e8)));
    for (a, b) in small.iter().zip(&large) {
        assert!((a - b).abs() < 1e-2, "{a} {b}");
    }
}
