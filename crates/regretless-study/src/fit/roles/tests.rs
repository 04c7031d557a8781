//! Roles of tables with and without second readings.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

use std::hash::{DefaultHasher, Hash, Hasher};

use super::feasibility::{DecisionColumns, DecisionFit};
use super::{FitCommand, ProblemColumnNames, StatedRoles, TableRoles};
use regretless::data::{ColumnProfile, LongColumns, TableProfile, ValueKind};
use regretless_base::error::Result;

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
        content: hash_of(name),
        first_gap: None,
        unread_date: None,
    }
}

/// Columns of other names have other cells.
fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
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

fn roles_of(
    columns: &[ColumnProfile],
    problem: &ProblemColumnNames,
    stated: &StatedRoles,
) -> Result<TableRoles> {
    let feasible = DecisionFit {
        rows: 100,
        ..DecisionFit::default()
    };
    roles_with(columns, problem, stated, &feasible)
}

/// The roles where this many rows of every group of decisions are feasible.
fn roles_with(
    columns: &[ColumnProfile],
    problem: &ProblemColumnNames,
    stated: &StatedRoles,
    fit: &DecisionFit,
) -> Result<TableRoles> {
    let test = |_: &DecisionColumns| Some(fit.clone());
    let table = TableProfile {
        rows: 100,
        columns: columns.to_vec(),
    };
    let command = FitCommand::Shell("regretless fit t.csv --problem p.toml".into());
    TableRoles::of(&table, problem, stated, &command, &test)
}

fn names(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|name| (*name).to_owned()).collect()
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
    let roles = roles_of(&columns, &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["eur_bread", "eur_rolls", "eur_cake"]);
    assert_eq!(roles.decisions, ["was_bread", "was_rolls", "was_cake"]);
    assert_eq!(roles.time.as_deref(), Some("date"));
    assert_eq!(roles.parameters, ["minutes"]);
    assert_eq!(roles.features, ["date", "temperature", "minutes"]);
    assert_eq!(roles.keys, ["store_id"]);
    assert!(roles.unused.is_empty());
}

#[test]
fn two_groups_of_numbers_are_refused_with_a_flag_for_each() {
    let columns = [
        number("x"),
        number("price_1"),
        number("price_2"),
        number("cost_1"),
        number("cost_2"),
    ];
    let refused = roles_of(&columns, &items(2), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    for flag in ["--costs 'price_*'", "--costs 'cost_*'"] {
        let command = format!("regretless fit t.csv --problem p.toml {flag}");
        assert!(message.contains(&command), "{message}");
    }
    let stated = StatedRoles {
        costs: vec!["cost_*".into()],
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &stated).unwrap();
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
    let roles = roles_of(&columns, &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["b", "a"]);
    let without = [number("c_a"), number("x"), number("c_b")];
    let roles = roles_of(&without, &problem, &StatedRoles::default()).unwrap();
    assert_eq!(roles.costs, ["c_b", "c_a"]);
    assert_eq!(roles.cost_names, problem.costs);
    let stated = StatedRoles {
        costs: vec!["c_*".into()],
        ..StatedRoles::default()
    };
    let roles = roles_of(&without, &problem, &stated).unwrap();
    assert_eq!(roles.costs, ["c_b", "c_a"]);
}

#[test]
fn two_columns_of_dates_are_refused_unless_one_is_named() {
    let columns = [
        of_kind("ordered", ValueKind::Date),
        of_kind("shipped", ValueKind::Date),
        number("x"),
        number("c1"),
        number("c2"),
    ];
    let refused = roles_of(&columns, &items(2), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    for flag in ["--time 'ordered'", "--time 'shipped'", "--time 'none'"] {
        assert!(message.contains(flag), "{message}");
    }
    for (time, expected) in [("ordered", Some("ordered")), ("none", None)] {
        let stated = StatedRoles {
            time: Some(time.into()),
            ..StatedRoles::default()
        };
        let roles = roles_of(&columns, &items(2), &stated).unwrap();
        assert_eq!(roles.time.as_deref(), expected);
    }
}

#[test]
fn a_table_without_costs_is_refused_with_a_way_out() {
    let columns = [number("x"), number("c1"), number("c2")];
    let refused = roles_of(&columns, &items(5), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("no columns are 5 numbers"), "{message}");
    assert!(message.contains("--costs"), "{message}");
}

/// Costs of a, b and c; their decisions in another order.
fn shuffled_decisions() -> Vec<ColumnProfile> {
    let mut columns = vec![number("x")];
    columns.extend(["eur_a", "eur_b", "eur_c"].map(number));
    columns.extend(["was_c", "was_a", "was_b"].map(decision));
    columns
}

fn stated_decisions(decisions: &[&str]) -> StatedRoles {
    StatedRoles {
        costs: names(&["eur_*"]),
        decisions: names(decisions),
        ..StatedRoles::default()
    }
}

#[test]
fn named_decisions_are_in_the_order_of_the_costs() {
    let columns = shuffled_decisions();
    for decisions in [&["was_*"][..], &["was_b", "was_c", "was_a"]] {
        let roles = roles_of(&columns, &items(3), &stated_decisions(decisions)).unwrap();
        assert_eq!(
            roles.decisions,
            ["was_a", "was_b", "was_c"],
            "{decisions:?}"
        );
    }
}

#[test]
fn columns_of_a_role_that_are_too_few_or_cannot_be_ordered_are_refused() {
    let mut columns = shuffled_decisions();
    let few = roles_of(&columns, &items(3), &stated_decisions(&["was_a", "was_b"]));
    let message = few.unwrap_err().to_string();
    assert!(
        message.contains("decisions: 2 columns for 3 costs"),
        "{message}"
    );
    columns.extend(["did_1", "did_2", "did_3"].map(decision));
    let unordered = roles_of(&columns, &items(3), &stated_decisions(&["did_*"]));
    let message = unordered.unwrap_err().to_string();
    assert!(
        message.contains("in the order of the costs: eur_a"),
        "{message}"
    );
    let listed = stated_decisions(&["did_2", "did_1", "did_3"]);
    let roles = roles_of(&columns, &items(3), &listed).unwrap();
    assert_eq!(roles.decisions, ["did_2", "did_1", "did_3"]);
}

#[test]
fn two_groups_of_decisions_are_refused_and_two_of_forecasts_are_both_compared() {
    let mut columns = shuffled_decisions();
    columns.extend(["plan_a", "plan_b", "plan_c"].map(decision));
    let stated = StatedRoles {
        costs: names(&["eur_*"]),
        ..StatedRoles::default()
    };
    let message = roles_of(&columns, &items(3), &stated)
        .unwrap_err()
        .to_string();
    for flag in [
        "--decisions 'was_*'",
        "--decisions 'plan_*'",
        "--decisions 'none'",
    ] {
        assert!(message.contains(flag), "{message}");
    }
    let mut columns = shuffled_decisions();
    columns.extend(["low_a", "low_b", "low_c", "high_a", "high_b", "high_c"].map(number));
    let roles = roles_of(&columns, &items(3), &stated).unwrap();
    let mut groups: Vec<&[String]> = roles.forecasts.chunks(3).collect();
    groups.sort();
    assert_eq!(groups[0][0].split_once('_').unwrap().0, "high");
    assert_eq!(groups[1][0].split_once('_').unwrap().0, "low");
    // Named in full, as in a settings file, or by patterns.
    for forecasts in [roles.forecasts.clone(), names(&["low_*", "high_*"])] {
        let stated = StatedRoles {
            forecasts,
            ..stated.clone()
        };
        let mut found = roles_of(&columns, &items(3), &stated).unwrap().forecasts;
        let mut expected = roles.forecasts.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn columns_that_are_equal_to_another_one_are_no_features() {
    let equal = |name: &str, other: &str| ColumnProfile {
        content: hash_of(other),
        ..number(name)
    };
    let columns = [
        number("x"),
        equal("again", "x"),
        number("c1"),
        number("c2"),
        equal("leak", "c2"),
    ];
    let roles = roles_of(&columns, &items(2), &StatedRoles::default()).unwrap();
    assert_eq!(roles.features, ["x"]);
    let reasons: Vec<&str> = roles
        .unused
        .iter()
        .map(|column| column.reason.as_str())
        .collect();
    assert_eq!(reasons, ["equal to x", "equal to c2"]);
    let stated = StatedRoles {
        features: names(&["again", "x"]),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &stated).unwrap();
    assert_eq!(roles.features, ["x", "again"]);
}

#[test]
fn a_table_without_features_is_refused() {
    let constant = ColumnProfile {
        distinct: 1,
        ..number("x")
    };
    let columns = [constant, number("c1"), number("c2")];
    let refused = roles_of(&columns, &items(2), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("no column is left for the features"),
        "{message}"
    );
    assert!(message.contains("not used: x: constant"), "{message}");
}

#[test]
fn decisions_are_found_although_the_names_of_items_have_the_beginning_of_the_costs() {
    let columns = [
        number("x"),
        number("margin_fish"),
        number("margin_milk"),
        decision("loaded_milk"),
        decision("loaded_fish"),
    ];
    let problem = ProblemColumnNames {
        costs: Some(names(&["margin_fish", "margin_milk"])),
        ..ProblemColumnNames::default()
    };
    for decisions in [&[][..], &["loaded_*"]] {
        let stated = StatedRoles {
            decisions: names(decisions),
            ..StatedRoles::default()
        };
        let roles = roles_of(&columns, &problem, &stated).unwrap();
        assert_eq!(roles.decisions, ["loaded_fish", "loaded_milk"]);
        assert_eq!(roles.features, ["x"]);
    }
}

#[test]
fn the_only_date_is_the_time_although_it_is_named_as_a_feature() {
    let columns = [
        of_kind("day", ValueKind::Date),
        number("x"),
        number("c1"),
        number("c2"),
    ];
    let stated = |features: &[&str], time: Option<&str>| StatedRoles {
        features: names(features),
        time: time.map(str::to_owned),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &stated(&["x", "day"], None)).unwrap();
    assert_eq!(roles.time.as_deref(), Some("day"));
    assert_eq!(roles.features, ["day", "x"]);
    let roles = roles_of(&columns, &items(2), &stated(&["day"], Some("none"))).unwrap();
    assert_eq!((roles.time, roles.features), (None, names(&["day"])));
}

#[test]
fn names_with_quotes_stay_within_the_words_of_a_command() {
    let shell = FitCommand::Shell("regretless fit t.csv".into());
    assert_eq!(
        shell.with_role("time", "it's"),
        r"regretless fit t.csv --time 'it'\''s'"
    );
    // A flag of a list may not be repeated: its columns would be those of both.
    let stated = FitCommand::Shell("regretless fit t.csv --costs 'a b' --out=r".into());
    assert_eq!(
        stated.with_role("costs", "b,a"),
        "regretless fit t.csv --out=r --costs 'b,a'"
    );
    assert_eq!(
        stated.with_role("out", "s"),
        "regretless fit t.csv --costs 'a b' --out 's'"
    );
    let python = FitCommand::Python("regretless.fit(problem, table".into());
    assert_eq!(
        python.with_role("time", "a\"b"),
        r#"regretless.fit(problem, table, time="a\"b")"#
    );
}

#[test]
fn named_keys_are_no_features_and_have_another_value_in_every_row() {
    let unique = ColumnProfile {
        names_rows: true,
        ..number("ticket")
    };
    let columns = [unique, number("x"), number("c1"), number("c2")];
    let stated = |keys: &[&str]| StatedRoles {
        keys: names(keys),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &StatedRoles::default()).unwrap();
    assert_eq!(roles.features, ["ticket", "x"]);
    let roles = roles_of(&columns, &items(2), &stated(&["ticket"])).unwrap();
    assert_eq!(
        (roles.keys, roles.features),
        (names(&["ticket"]), names(&["x"]))
    );
    let refused = roles_of(&columns, &items(2), &stated(&["x"])).unwrap_err();
    assert!(refused.to_string().contains("same value of x"), "{refused}");
}

#[test]
fn a_long_table_has_a_column_of_instances_of_items_and_of_costs() {
    let columns = [
        of_kind("order", ValueKind::Text),
        of_kind("item", ValueKind::Text),
        number("x"),
        number("eur"),
    ];
    let stated = |forecasts: &[&str]| StatedRoles {
        forecasts: names(forecasts),
        long: Some(LongColumns {
            instance: "order".into(),
            item: Some("item".into()),
            cost: "eur".into(),
            ..LongColumns::default()
        }),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(5), &stated(&[])).unwrap();
    assert_eq!(roles.costs, ["eur"]);
    assert_eq!(roles.instances, ["order", "item"]);
    assert_eq!(roles.features, ["x"]);
    let mut numbered = columns.clone();
    numbered[0].unread_date = Some((2, "20240101".into()));
    assert!(roles_of(&numbered, &items(5), &stated(&[])).is_ok());
    let refused = roles_of(&columns, &items(5), &stated(&["x"])).unwrap_err();
    assert!(refused.to_string().contains("a long table"), "{refused}");
}

#[test]
fn a_decision_of_a_long_table_has_one_column() {
    let columns = [
        number("day"),
        number("item"),
        number("x"),
        decision("chosen"),
        number("eur"),
    ];
    let stated = StatedRoles {
        decisions: vec!["chosen".into()],
        long: Some(LongColumns {
            instance: "day".into(),
            item: Some("item".into()),
            cost: "eur".into(),
            ..LongColumns::default()
        }),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(3), &stated).unwrap();
    assert_eq!(roles.decisions, ["chosen"]);
    assert_eq!(roles.features, ["x"]);
}

#[test]
fn a_table_with_a_row_per_item_is_led_to_its_flags() {
    let of_values = |name: &str, distinct: usize| ColumnProfile {
        distinct,
        ..of_kind(name, ValueKind::Text)
    };
    let columns = [
        of_values("trip", 25),
        of_values("mode", 4),
        number("minutes"),
    ];
    let refused = roles_of(&columns, &items(4), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    let flags = "--instance-column 'trip' --item-column 'mode' --cost-column 'COSTS'";
    assert!(message.contains(flags), "{message}");
}

#[test]
fn names_of_pairs_may_have_other_separators() {
    let names = ["min_Ann_0", "min_Ann_1", "min_Ben_0", "min_Ben_1"];
    let mut columns: Vec<ColumnProfile> = names.map(number).to_vec();
    columns.push(number("x"));
    let problem = ProblemColumnNames {
        costs: Some(
            ["Ben-0", "Ben-1", "Ann-0", "Ann-1"]
                .map(str::to_owned)
                .to_vec(),
        ),
        ..ProblemColumnNames::default()
    };
    let roles = roles_of(&columns, &problem, &StatedRoles::default()).unwrap();
    assert_eq!(
        roles.costs,
        ["min_Ben_0", "min_Ben_1", "min_Ann_0", "min_Ann_1"]
    );
    assert_eq!(roles.cost_names, problem.costs);
    // Which of two columns is meant cannot be told.
    columns.push(number("min_Ann-0"));
    assert!(roles_of(&columns, &problem, &StatedRoles::default()).is_err());
}

/// Amounts that are mostly 0.
fn sparse(name: &str) -> ColumnProfile {
    ColumnProfile {
        zero_share: 0.6,
        ..number(name)
    }
}

fn infeasible(rows: usize) -> DecisionFit {
    DecisionFit {
        rows: 100,
        infeasible: rows,
        first: Some("row 4: two of one are chosen".into()),
        fits_row_before: false,
    }
}

#[test]
fn amounts_that_are_mostly_0_are_no_past_decisions_unless_they_are_feasible() {
    let mut columns = vec![number("x")];
    columns.extend(["revenue_a", "revenue_b", "revenue_c"].map(sparse));
    columns.extend(["forecast_a", "forecast_b", "forecast_c"].map(number));
    let stated = StatedRoles::default();
    let refused = roles_with(&columns, &items(3), &stated, &infeasible(97));
    let message = refused.unwrap_err().to_string();
    for flag in ["--costs 'revenue_*'", "--costs 'forecast_*'"] {
        assert!(message.contains(flag), "{message}");
    }
    let feasible = roles_of(&columns, &items(3), &stated).unwrap();
    assert_eq!(feasible.decisions, ["revenue_a", "revenue_b", "revenue_c"]);
    // Where quantities are predicted, they may be demands.
    let demands = ProblemColumnNames {
        predicts_quantities: true,
        ..items(3)
    };
    let message = roles_of(&columns, &demands, &stated)
        .unwrap_err()
        .to_string();
    assert!(message.contains("--costs 'revenue_*'"), "{message}");
    let demand = StatedRoles {
        costs: names(&["revenue_*"]),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &demands, &demand).unwrap();
    assert_eq!(roles.forecasts, ["forecast_a", "forecast_b", "forecast_c"]);
    assert!(roles.decisions.is_empty());
}

#[test]
fn flags_of_items_that_are_infeasible_decisions_are_features() {
    let mut columns = vec![number("x")];
    columns.extend(["price_a", "price_b", "price_c"].map(number));
    columns.extend(["promo_a", "promo_b", "promo_c"].map(decision));
    let stated = StatedRoles::default();
    let roles = roles_with(&columns, &items(3), &stated, &infeasible(60)).unwrap();
    assert_eq!(roles.costs, ["price_a", "price_b", "price_c"]);
    assert!(roles.decisions.is_empty());
    assert_eq!(roles.features, ["x", "promo_a", "promo_b", "promo_c"]);
    assert!(
        roles.notes[0].contains("60 of 100 rows"),
        "{:?}",
        roles.notes
    );
    // A few errors among decisions are for the user to correct.
    let refused = roles_with(&columns, &items(3), &stated, &infeasible(2));
    let message = refused.unwrap_err().to_string();
    for part in ["row 4", "--decisions 'promo_*'", "--decisions 'none'"] {
        assert!(message.contains(part), "{message}");
    }
    let before = DecisionFit {
        fits_row_before: true,
        ..infeasible(60)
    };
    let refused = roles_with(&columns, &items(3), &stated, &before);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("of the row before"), "{message}");
    assert!(message.contains("--decisions 'none'"), "{message}");
}

#[test]
fn ignored_columns_have_no_role() {
    let mut columns = vec![number("x")];
    columns.extend(["price_a", "price_b", "old_a", "old_b"].map(number));
    columns.extend(["was_a", "was_b"].map(decision));
    let stated = |decisions: &[&str]| StatedRoles {
        costs: names(&["price_*"]),
        decisions: names(decisions),
        ignore: names(&["old_*", "was_*"]),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &stated(&[])).unwrap();
    assert!(roles.forecasts.is_empty() && roles.decisions.is_empty());
    assert_eq!(roles.features, ["x"]);
    let refused = roles_of(&columns, &items(2), &stated(&["was_*"]));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("'was_a' is ignored, too"), "{message}");
}

#[test]
fn an_empty_cell_takes_a_role_from_its_columns_and_is_named() {
    let gap = |column: ColumnProfile| ColumnProfile {
        gaps: 1,
        first_gap: Some(5),
        ..column
    };
    let columns = [
        number("x"),
        number("price_a"),
        number("price_b"),
        number("forecast_a"),
        gap(number("forecast_b")),
        decision("was_a"),
        gap(decision("was_b")),
    ];
    let stated = StatedRoles {
        costs: names(&["price_*"]),
        ..StatedRoles::default()
    };
    let roles = roles_of(&columns, &items(2), &stated).unwrap();
    assert!(roles.forecasts.is_empty() && roles.decisions.is_empty());
    assert_eq!(roles.features, ["x", "forecast_a", "forecast_b"]);
    for part in ["was_b is empty in row 5", "forecast_b is empty in row 5"] {
        assert!(
            roles.notes.iter().any(|note| note.contains(part)),
            "{:?}",
            roles.notes
        );
    }
}

#[test]
fn a_time_is_not_lost_by_one_cell_or_another_form_of_dates() {
    let costs = [number("x"), number("c1"), number("c2")];
    let gap = ColumnProfile {
        gaps: 1,
        first_gap: Some(57),
        ..of_kind("day", ValueKind::Date)
    };
    let german = ColumnProfile {
        unread_date: Some((2, "31.12.2024".into())),
        ..of_kind("day", ValueKind::Text)
    };
    for (column, parts) in [
        (gap, ["row 57", "is empty in a column of dates"]),
        (german, ["row 2", "'31.12.2024' looks like a date"]),
    ] {
        let mut columns = costs.to_vec();
        columns.push(column);
        let stated = StatedRoles::default();
        let message = roles_of(&columns, &items(2), &stated)
            .unwrap_err()
            .to_string();
        for part in parts.iter().chain(&["--time 'none'"]) {
            assert!(message.contains(part), "{message}");
        }
        let none = StatedRoles {
            time: Some("none".into()),
            ..StatedRoles::default()
        };
        assert!(roles_of(&columns, &items(2), &none).is_ok());
    }
}

#[test]
fn costs_of_steps_are_in_the_order_of_their_numbers_unless_they_are_listed() {
    let sorted_as_text = ["price_h0", "price_h1", "price_h10", "price_h2"];
    let mut columns = vec![number("x")];
    columns.extend(sorted_as_text.map(number));
    let steps = ProblemColumnNames {
        costs_are_steps: true,
        ..items(4)
    };
    let stated = |costs: &[&str]| StatedRoles {
        costs: names(costs),
        ..StatedRoles::default()
    };
    for costs in [&[][..], &["price_*"]] {
        let message = roles_of(&columns, &steps, &stated(costs))
            .unwrap_err()
            .to_string();
        let ordered = "--costs 'price_h0,price_h1,price_h2,price_h10'";
        assert!(message.contains(ordered), "{message}");
        assert!(roles_of(&columns, &items(4), &stated(costs)).is_ok());
    }
    let listed = roles_of(&columns, &steps, &stated(&sorted_as_text)).unwrap();
    assert_eq!(listed.costs, sorted_as_text);
}

#[test]
fn another_group_is_not_taken_for_one_with_a_misspelled_column() {
    let mut columns = vec![number("x")];
    columns.extend(["price_h1", "preis_h2", "price_h3", "price_h4"].map(number));
    columns.extend(["forecast_h1", "forecast_h2", "forecast_h3", "forecast_h4"].map(number));
    let refused = roles_of(&columns, &items(4), &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    for part in [
        "'price_h2' is missing",
        "did you mean 'preis_h2'?",
        "--costs 'forecast_*'",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_cost_that_is_missing_is_named() {
    let columns = [number("x"), number("margin_a1"), number("margn_b2")];
    let problem = ProblemColumnNames {
        costs: Some(names(&["margin_a1", "margin_b2", "margin_c3"])),
        ..ProblemColumnNames::default()
    };
    let mut columns = columns.to_vec();
    columns.push(number("margin_c3"));
    let refused = roles_of(&columns, &problem, &StatedRoles::default());
    let message = refused.unwrap_err().to_string();
    for part in ["2 of 3 costs are columns; missing: margin_b2", "'margn_b2'"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_name_within_a_word_is_no_cost() {
    let columns = [number("x"), number("demand_a"), number("forecast_a")];
    let problem = ProblemColumnNames {
        costs: Some(names(&["a"])),
        ..ProblemColumnNames::default()
    };
    let message = roles_of(&columns, &problem, &StatedRoles::default());
    let message = message.unwrap_err().to_string();
    assert!(message.contains("--costs 'demand_*'"), "{message}");
    assert!(!message.contains("dem*nd"), "{message}");
}
