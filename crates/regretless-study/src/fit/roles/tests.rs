//! Roles of tables with and without second readings.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

use super::{ProblemColumnNames, StatedRoles, TableRoles};
use regretless::data::{ColumnProfile, TableProfile, ValueKind};

fn number(name: &str) -> ColumnProfile {
    ColumnProfile {
        name: name.to_owned(),
        kind: ValueKind::Number,
        gaps: 0,
        distinct: 90,
        names_rows: false,
        zero_share: 0.0,
        is_binary: false,
        is_integral: false,
        has_negatives: false,
    }
}

fn decision(name: &str) -> ColumnProfile {
    ColumnProfile {
        distinct: 2,
        zero_share: 0.7,
        is_binary: true,
        is_integral: true,
        ..number(name)
    }
}

fn of_kind(name: &str, kind: ValueKind) -> ColumnProfile {
    ColumnProfile {
        kind,
        names_rows: true,
        ..number(name)
    }
}

fn table(columns: &[ColumnProfile]) -> TableProfile {
    TableProfile {
        rows: 100,
        columns: columns.to_vec(),
    }
}

fn items(count: usize) -> ProblemColumnNames {
    ProblemColumnNames {
        num_costs: Some(count),
        ..ProblemColumnNames::default()
    }
}

#[test]
fn a_history_with_past_decisions_a_date_and_a_forecast_needs_no_flag() {
    let mut columns = vec![of_kind("date", ValueKind::Date), number("temperature")];
    for item in ["bread", "rolls", "cake"] {
        columns.push(number(&format!("eur_{item}")));
    }
    for item in ["rolls", "bread", "cake"] {
        columns.push(decision(&format!("was_{item}")));
    }
    columns.push(number("minutes"));
    columns.push(of_kind("store_id", ValueKind::Text));
    let problem = ProblemColumnNames {
        parameters: vec!["minutes".into()],
        ..items(3)
    };
    let roles = TableRoles::of(&table(&columns), &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["eur_bread", "eur_rolls", "eur_cake"]);
    assert_eq!(roles.decisions, ["was_bread", "was_rolls", "was_cake"]);
    assert_eq!(roles.time.as_deref(), Some("date"));
    assert_eq!(roles.parameters, ["minutes"]);
    assert_eq!(roles.features, ["temperature", "minutes"]);
    assert_eq!(roles.unused[0].reason, "names the rows");
}

#[test]
fn two_groups_of_numbers_are_refused_with_a_flag_for_each() {
    let columns = [
        number("price_1"),
        number("price_2"),
        number("cost_1"),
        number("cost_2"),
    ];
    let refused = TableRoles::of(&table(&columns), &items(2), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    for flag in ["--costs 'price_*'", "--costs 'cost_*'"] {
        assert!(message.contains(flag), "{message}");
    }
    let stated = StatedRoles {
        costs: vec!["cost_*".into()],
        ..StatedRoles::default()
    };
    let roles = TableRoles::of(&table(&columns), &items(2), &stated).unwrap();
    assert_eq!(roles.costs, ["cost_1", "cost_2"]);
    assert_eq!(roles.forecasts, ["price_1", "price_2"]);
}

#[test]
fn costs_have_the_names_of_the_problem_in_its_order() {
    let columns = [
        number("c_a"),
        number("x"),
        number("c_b"),
        number("b"),
        number("a"),
    ];
    let problem = ProblemColumnNames {
        costs: Some(vec!["b".into(), "a".into()]),
        ..ProblemColumnNames::default()
    };
    let roles = TableRoles::of(&table(&columns), &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["b", "a"]);
    let without = [number("c_a"), number("x"), number("c_b")];
    let roles = TableRoles::of(&table(&without), &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["c_b", "c_a"]);
    assert_eq!(roles.cost_names, problem.costs);
    let stated = StatedRoles {
        costs: vec!["c_*".into()],
        ..StatedRoles::default()
    };
    let roles = TableRoles::of(&table(&without), &problem, &stated).unwrap();
    assert_eq!(roles.costs, ["c_b", "c_a"]);
}

#[test]
fn two_columns_of_dates_are_refused_unless_one_is_named() {
    let columns = [
        of_kind("ordered", ValueKind::Date),
        of_kind("shipped", ValueKind::Date),
        number("c1"),
        number("c2"),
    ];
    let refused = TableRoles::of(&table(&columns), &items(2), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("--time ordered, or --time shipped"),
        "{message}"
    );
    for (time, expected) in [("ordered", Some("ordered")), ("none", None)] {
        let stated = StatedRoles {
            time: Some(time.into()),
            ..StatedRoles::default()
        };
        let roles = TableRoles::of(&table(&columns), &items(2), &stated).unwrap();
        assert_eq!(roles.time.as_deref(), expected);
    }
}

#[test]
fn a_table_without_costs_is_refused_with_a_way_out() {
    let columns = [number("x"), number("c1"), number("c2")];
    let refused = TableRoles::of(&table(&columns), &items(5), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("no columns are 5 numbers"), "{message}");
    assert!(message.contains("--costs"), "{message}");
}
