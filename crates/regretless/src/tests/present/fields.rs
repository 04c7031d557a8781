//! The field `present` of problem files: what is refused, and what survives writing.

use super::brute_force::optimum;
use super::build;
use regretless::Decision;
use regretless::problem::{ProblemKind, ProblemSpec};
use serde_json::{Value, json};

fn complaint(problem: &dyn ProblemKind, chosen: &[u32]) -> String {
    let decision = Decision::from_indices(chosen.iter().copied());
    problem.check(&decision).unwrap_err()
}

#[test]
fn decisions_with_absent_items_are_refused_and_items_keep_their_numbers() {
    let knapsack = build(json!({
        "kind": "knapsack", "weights": [2, 3, 4, 5], "capacity": 8, "present": [1, 0, 1, 1],
    }));
    assert_eq!(
        complaint(&*knapsack, &[0, 1]),
        "item 1 is chosen, but it is absent"
    );
    assert!(complaint(&*knapsack, &[2, 3]).contains("load 9 exceeds capacity 8"));
    assert!(knapsack.check(&Decision::from_indices([0, 2])).is_ok());
    assert!(
        knapsack
            .geometry()
            .cone(&Decision::from_indices([1]))
            .is_none()
    );

    let top = build(json!({
        "kind": "top_k", "items": 4, "k": 2, "sense": "minimize", "present": [0, 1, 1, 1],
    }));
    assert_eq!(
        complaint(&*top, &[0, 1]),
        "item 0 is chosen, but it is absent"
    );
    assert!(complaint(&*top, &[1]).contains("2 needed"));
    assert!(top.check(&Decision::from_indices([1, 3])).is_ok());

    // Edges of five nodes: 0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4.
    let tsp = build(json!({"kind": "tsp", "nodes": 5, "present": [0, 1, 1, 1, 1]}));
    assert!(tsp.check(&Decision::from_indices([4, 7, 9, 6])).is_ok());
    assert_eq!(
        complaint(&*tsp, &[0, 3, 4, 7, 9]),
        "the tour visits node 0, which is absent"
    );
    assert_eq!(
        complaint(&*tsp, &[4, 5, 7]),
        "node 4 has fewer than two edges"
    );
    let larger = build(json!({"kind": "tsp", "nodes": 7, "present": [0, 1, 1, 1, 1, 1, 1]}));
    // 1-2 1-3 2-3 and 4-5 4-6 5-6.
    assert_eq!(
        complaint(&*larger, &[6, 7, 11, 18, 19, 20]),
        "the tour of node 1 visits 3 of 6 nodes"
    );
}

#[test]
fn routes_with_absent_customers_are_refused() {
    let routes: regretless::problem::Cvrp = serde_json::from_value(json!({
        "demands": [4, 4, 4, 4], "capacity": 8, "vehicles": 2, "present": [1, 1, 0, 1],
        "single_customer_routes": true,
    }))
    .unwrap();
    // Edges of five nodes: 0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4.
    let check = |dense: [f64; 10]| routes.check_routes(&Decision::from_dense(&dense));
    let served = [1.0, 1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(check(served), Ok(()));
    let absent = [1.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let message = check(absent).unwrap_err();
    assert_eq!(message, "a route serves customer 3, who is absent");
    let without_last = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let message = check(without_last).unwrap_err();
    assert_eq!(message, "customer 4 has degree 0, not 2");
}

/// One problem of each kind as a specification without `present`, and the length of that list.
fn plain_specs() -> Vec<(Value, usize)> {
    vec![
        (
            json!({"kind": "knapsack", "weights": [[2.0, 3.0, 4.0]], "capacity": [5.0]}),
            3,
        ),
        (
            json!({"kind": "top_k", "items": 4, "k": 2, "at_most": false, "sense": "minimize"}),
            4,
        ),
        (json!({"kind": "tsp", "nodes": 5}), 5),
        (
            json!({
                "kind": "cvrp", "demands": [1.0, 2.0, 3.0], "capacity": 6.0, "vehicles": 2,
                "single_customer_routes": true,
            }),
            3,
        ),
    ]
}

fn with_field(spec: &Value, field: &str, value: Value) -> Value {
    let mut spec = spec.clone();
    spec[field] = value;
    spec
}

#[test]
fn a_problem_of_which_everything_is_present_is_the_problem_without_the_field() {
    for (plain, count) in plain_specs() {
        let parsed: ProblemSpec = serde_json::from_value(plain.clone()).unwrap();
        assert_eq!(serde_json::to_value(&parsed).unwrap(), plain);
        let all = with_field(&plain, "present", json!(vec![1; count]));
        let all: ProblemSpec = serde_json::from_value(all).unwrap();
        assert_eq!(all, parsed);
        assert_eq!(serde_json::to_value(&all).unwrap(), plain);
        if !cfg!(feature = "highs") && plain["kind"] == "cvrp" {
            continue;
        }
        assert_eq!(all.build().unwrap().present_costs(), None);
    }
}

#[test]
fn the_field_survives_writing_and_distinguishes_problems() {
    for (plain, count) in plain_specs() {
        let mut flags = vec![1; count];
        flags[1] = 0;
        let spec = with_field(&plain, "present", json!(flags));
        let parsed: ProblemSpec = serde_json::from_value(spec.clone()).unwrap();
        assert_eq!(serde_json::to_value(&parsed).unwrap(), spec);
        let text = toml::to_string(&parsed).unwrap();
        assert_eq!(toml::from_str::<ProblemSpec>(&text).unwrap(), parsed);
        let plain: ProblemSpec = serde_json::from_value(plain).unwrap();
        assert_ne!(parsed, plain);
        for written in [json!(1.0), json!(true)] {
            let mut flags = vec![written.clone(); count];
            flags[1] = if written.is_boolean() {
                json!(false)
            } else {
                json!(0.0)
            };
            let other = with_field(&spec, "present", json!(flags));
            assert_eq!(
                serde_json::from_value::<ProblemSpec>(other).unwrap(),
                parsed
            );
        }
    }
}

fn refusal(spec: Value) -> String {
    serde_json::from_value::<ProblemSpec>(spec)
        .unwrap_err()
        .to_string()
}

#[test]
fn bad_lists_are_refused() {
    for ((plain, count), item) in plain_specs()
        .into_iter()
        .zip(["item", "item", "node", "customer"])
    {
        let refused = |present: Value, expected: &str| {
            let message = refusal(with_field(&plain, "present", present));
            assert!(message.contains(expected), "{message}");
        };
        refused(
            json!(vec![1; count + 1]),
            &format!("`present` has {} values for {count} {item}s", count + 1),
        );
        refused(json!([]), "`present` has 0 values");
        refused(json!(vec![0; count]), &format!("no {item} is present"));
        refused(
            json!(vec![2; count]),
            "a value of `present` is 2; each is 0 or 1",
        );
        refused(json!(vec![0.5; count]), "is 0.5; each is 0 or 1");
        refused(json!(vec![-1; count]), "is -1; each is 0 or 1");
        refused(json!(vec!["yes"; count]), "expected 0 or 1 in `present`");
        refused(json!(1), "invalid type");
    }
    let two = json!({"kind": "tsp", "nodes": 5, "present": [1, 0, 0, 1, 0]});
    assert!(refusal(two).contains("a tour needs 3 present nodes; of 5 nodes, 2 are present"));
    let few = json!({
        "kind": "top_k", "items": 4, "k": 2, "sense": "minimize", "present": [0, 0, 1, 0],
    });
    assert!(refusal(few.clone()).contains("top_k cannot choose k = 2 of 1 present items"));
    build(with_field(&few, "at_most", json!(true)));
}

#[test]
fn weights_of_absent_items_do_not_count() {
    let spec = r#"
        kind = "knapsack"
        weights = [2.0, nan, 4.0, -1.0]
        capacity = 5.0
        present = [1, 0, 1, 0]
    "#;
    let problem: ProblemSpec = toml::from_str(spec).unwrap();
    let problem_again = serde_json::to_string(&problem).unwrap();
    assert_eq!(
        serde_json::from_str::<ProblemSpec>(&problem_again).unwrap(),
        problem
    );
    let value = optimum(&*problem.build().unwrap(), &[-1.0, -9.0, -2.0, -9.0]);
    assert_eq!(value, -2.0);
    let message = toml::from_str::<ProblemSpec>(&spec.replace("[1, 0, 1, 0]", "[1, 0, 1, 1]"));
    let message = message.unwrap_err().to_string();
    assert!(message.contains("weight -1 of item 3"), "{message}");
}

#[test]
fn a_knapsack_of_one_dimension_needs_no_nested_lists() {
    let nested = json!({"kind": "knapsack", "weights": [[2.0, 3.0, 4.0]], "capacity": [5.0]});
    let expected: ProblemSpec = serde_json::from_value(nested.clone()).unwrap();
    for (weights, capacity) in [
        (json!([2, 3.0, 4]), json!(5)),
        (json!([[2, 3, 4]]), json!(5.0)),
        (json!([2.0, 3.0, 4.0]), json!([5])),
    ] {
        let flat = json!({"kind": "knapsack", "weights": weights, "capacity": capacity});
        let flat: ProblemSpec = serde_json::from_value(flat).unwrap();
        assert_eq!(flat, expected);
        assert_eq!(serde_json::to_value(&flat).unwrap(), nested);
    }
    let refused = |weights: Value, capacity: Value, expected: &str| {
        let message = refusal(json!({
            "kind": "knapsack", "weights": weights, "capacity": capacity,
        }));
        assert!(message.contains(expected), "{message}");
    };
    refused(
        json!([2, [3]]),
        json!(5),
        "numbers and lists of numbers are mixed",
    );
    refused(json!("2"), json!(5), "invalid type");
    refused(
        json!([2, "3"]),
        json!(5),
        "expected a number or a list of numbers",
    );
    refused(
        json!([2, 3]),
        json!("5"),
        "expected a number or a list of numbers",
    );
    refused(
        json!([2, 3]),
        json!([5, 6]),
        "2 capacities for 1 rows of weights",
    );
    refused(
        json!([[2, 3], [4, 5]]),
        json!(5),
        "1 capacities for 2 rows of weights",
    );
    refused(json!([]), json!(5), "1 to 30 dimensions, not 0");
}
