//! Patterns of names in problem files: in every field that takes names, one entry with `*` is the
//! same as an entry for each name.

use std::sync::Arc;

use regretless::problem::ProblemKind;
use regretless::solve::SearchLimits;
use serde_json::{Value, json};

use crate::problem::ProblemSpec;

/// A field with names, and the same with patterns.
struct Case {
    field: &'static str,
    named: Value,
    pattern: Value,
}

fn column(name: &str) -> Value {
    json!({ "column": name })
}

fn build(spec: Value) -> Arc<dyn ProblemKind> {
    let spec: ProblemSpec = ProblemSpec::from_json(spec).unwrap();
    spec.build().unwrap()
}

/// The names of the columns that a problem needs, sorted.
fn needed(problem: &Arc<dyn ProblemKind>) -> Vec<String> {
    let columns = problem.row_problems().parameters().iter();
    let mut names: Vec<String> = columns.map(|column| column.pattern.clone()).collect();
    names.sort();
    names
}

/// The value of a column: different ones for different columns.
fn value(field: &str, column: &str) -> f64 {
    let is_first = column.ends_with('a');
    match (field, is_first) {
        ("present", is_first) => f64::from(u8::from(is_first)),
        ("row_upper", _) => 8.0,
        ("supply", true) => 3.0,
        ("supply", false) => -3.0,
        (_, true) => 2.0,
        (_, false) => 1.0,
    }
}

/// The optimum of the row, known costs included.
fn objective(problem: &Arc<dyn ProblemKind>, field: &str, costs: &[f64]) -> f64 {
    let columns = problem.row_problems().parameters().iter();
    let values: Vec<f64> = columns
        .map(|column| value(field, &column.pattern))
        .collect();
    let mut totals = costs.to_vec();
    for (total, known) in totals.iter_mut().zip(
        problem
            .row_problems()
            .known_costs(&values)
            .unwrap_or_default(),
    ) {
        *total += known;
    }
    let row = problem.row_problems().row_problem(&values).unwrap();
    let mut solver = row.solver(&SearchLimits::default());
    solver.solve(&totals).unwrap().objective
}

fn assert_same(case: &Case, base: &Value, costs: &[f64]) {
    let [named, pattern] = [&case.named, &case.pattern].map(|content| {
        let mut spec = base.clone();
        spec[case.field] = content.clone();
        build(spec)
    });
    assert_eq!(needed(&named), needed(&pattern), "{}", case.field);
    assert!(!needed(&pattern).is_empty(), "{}", case.field);
    let [named, pattern] = [named, pattern].map(|problem| objective(&problem, case.field, costs));
    assert!(
        (named - pattern).abs() < 1e-9,
        "{}: {named} {pattern}",
        case.field
    );
}

#[cfg(feature = "highs")]
#[test]
fn a_pattern_is_the_same_as_every_name_in_all_fields_of_linear_problems() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.lp");
    let model = "Minimize\n cost: buy_a + buy_b + 3 late\nSubject To\n \
                 need_a: buy_a + late >= 3\n need_b: buy_b + late >= 4\nBounds\n buy_a <= 9\n \
                 buy_b <= 9\n late <= 9\nEnd\n";
    std::fs::write(&path, model).unwrap();
    let base = json!({"kind": "linear", "file": path, "costs": ["buy_*"]});
    let names = |prefix: &str| {
        let entry = |end: &str| (format!("{prefix}{end}"), column(&format!("v_{end}")));
        Value::Object([entry("a"), entry("b")].into_iter().collect())
    };
    let mut cases = Vec::new();
    for field in ["rhs", "row_lower", "row_upper"] {
        cases.push(Case {
            field,
            named: names("need_"),
            pattern: json!({ "need_*": column("v_*") }),
        });
    }
    for field in ["lower", "upper", "fixed", "present", "known"] {
        cases.push(Case {
            field,
            named: names("buy_"),
            pattern: json!({ "buy_*": column("v_*") }),
        });
    }
    let coefficients = [
        // Rows, columns, and both with the same part in place of `*`.
        (
            json!({"need_a": {"late": column("v_a")}, "need_b": {"late": column("v_b")}}),
            json!({"need_*": {"late": column("v_*")}}),
        ),
        (
            json!({"need_a": {"buy_a": column("v_a"), "buy_b": column("v_b")}}),
            json!({"need_a": {"buy_*": column("v_*")}}),
        ),
        (
            json!({"need_a": {"buy_a": column("v_a")}, "need_b": {"buy_b": column("v_b")}}),
            json!({"need_*": {"buy_*": column("v_*")}}),
        ),
    ];
    cases.extend(coefficients.map(|(named, pattern)| Case {
        field: "coefficients",
        named,
        pattern,
    }));
    for case in &cases {
        assert_same(case, &base, &[1.5, 2.5]);
    }
}

#[test]
fn a_pattern_is_the_same_as_every_name_in_networks_and_in_known_costs() {
    let network = json!({"kind": "min_cost_flow",
        "arcs": [["node_a", "hub"], ["hub", "node_b"], ["node_a", "node_b"]]});
    let supply = Case {
        field: "supply",
        named: json!({"node_a": column("s_a"), "node_b": column("s_b")}),
        pattern: json!({"node_*": column("s_*")}),
    };
    assert_same(&supply, &network, &[1.0, 2.0, 4.0]);
    let knapsack = json!({"kind": "knapsack", "weights": [2.0, 3.0], "capacity": 4.0,
        "items": ["gain_a", "gain_b"]});
    let known = Case {
        field: "known",
        named: json!({"gain_a": {"column": "k_a", "factor": -1}, "gain_b": {"column": "k_b",
            "factor": -1}}),
        pattern: json!({"gain_*": {"column": "k_*", "factor": -1}}),
    };
    assert_same(&known, &knapsack, &[-4.0, -5.0]);
}

#[test]
fn patterns_without_a_match_and_costs_that_are_stated_twice_are_refused() {
    let refused = |known: Value| {
        let spec = json!({"kind": "knapsack", "weights": [2.0, 3.0], "capacity": 4.0,
            "items": ["gain_a", "gain_b"], "known": known});
        let spec = ProblemSpec::from_json(spec).unwrap();
        spec.build().unwrap_err().to_string()
    };
    let message = refused(json!({"loss_*": column("k_*")}));
    assert!(message.contains("matches no name"), "{message}");
    assert!(message.contains("gain_a, gain_b"), "{message}");
    let message = refused(json!({"gain_*": column("fee")}));
    assert!(message.contains("need one * each"), "{message}");
    let message = refused(json!({"gain_*": column("k_*"), "gain_a": column("fee")}));
    assert!(message.contains("'gain_a' is stated twice"), "{message}");
    let message = refused(json!({"gain_*": 3.0}));
    assert!(
        message.contains("'known.gain_*' is a pattern, and its value is no column"),
        "{message}"
    );
}
