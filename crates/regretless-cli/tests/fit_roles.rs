//! `fit` has the right roles or refuses: columns that look like something else, dates in other
//! forms, rows that are to be decided.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{TestWorkspace, noise};

/// The date of a day counted from the first of January 2024, within the first two months.
fn date(day: u64) -> String {
    let (month, day) = if day < 31 {
        (1, day + 1)
    } else {
        (2, day - 30)
    };
    format!("2024-{month:02}-{day:02}")
}

const DAYS: u64 = 60;
const ITEMS: [char; 3] = ['a', 'b', 'c'];
const ONE_OF_THREE: &str = "kind = \"top_k\"\nitems = 3\nk = 1\nsense = \"minimize\"\n";

/// The cell of a day and an item.
type CellOf<'a> = dyn Fn(u64, u64) -> String + 'a;
/// A date of ISO 8601 in another form.
type DateForm<'a> = dyn Fn(&str) -> String + 'a;

/// A table of daily rows: date, a feature, and some groups of columns with a cell for each item.
fn table(groups: &[(&str, &CellOf<'_>)]) -> String {
    let mut text = String::from("date,x");
    for (name, _) in groups {
        for item in ITEMS {
            write!(text, ",{name}_{item}").unwrap();
        }
    }
    text.push('\n');
    for day in 0..DAYS {
        write!(text, "{},{:.3}", date(day), noise(day, 1)).unwrap();
        for (_, cell) in groups {
            for item in 0..3 {
                write!(text, ",{}", cell(day, item)).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

fn price(day: u64, item: u64) -> String {
    format!("{:.3}", 10.0 + 3.0 * noise(day, 10 + item))
}

fn workspace(table: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", table);
    workspace.write("problem.toml", ONE_OF_THREE);
    workspace
}

const COMMAND: &str = "fit table.csv --problem problem.toml --method MSE --lags none --out result";

#[test]
fn sales_that_are_mostly_0_are_not_taken_for_decisions() {
    let revenue = |day: u64, item: u64| match noise(day, 30 + item) {
        high if high > 0.7 => format!("{:.2}", 10.0 * high),
        _ => "0".into(),
    };
    let workspace = workspace(&table(&[("revenue", &revenue), ("forecast", &price)]));
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for flag in ["--costs 'revenue_*'", "--costs 'forecast_*'"] {
        assert!(refused.err.contains(flag), "{}", refused.err);
    }
    // The same for demands, which are predicted themselves.
    let shop = "kind = 'newsvendor'\nitems = ['a', 'b', 'c']\nunder_cost = [1.0, 1.0, 1.0]\n\
        over_cost = [1.0, 1.0, 1.0]\n";
    workspace.write("problem.toml", shop);
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 2, "{}", refused.err);
    let stated = workspace.run(&format!("{COMMAND} --costs revenue_*"));
    let stated = stated.succeeded();
    assert!(
        stated
            .err
            .contains("columns forecast_* are not compared: they are on another scale"),
        "{}",
        stated.err
    );
}

#[test]
fn flags_of_items_are_features_and_infeasible_rows_are_named() {
    let flag = |day: u64, item: u64| u8::from(noise(day, 50 + item) > 0.6).to_string();
    let workspace = workspace(&table(&[("price", &price), ("promo", &flag)]));
    let output = workspace.run(&format!("{COMMAND} --json"));
    let json = output.json();
    let promo = ["date", "x", "promo_a", "promo_b", "promo_c"];
    assert_eq!(json["roles"]["features"], serde_json::json!(promo));
    assert_eq!(json["roles"]["decisions"], serde_json::json!([]));
    let printed = workspace.run(&format!("{COMMAND} --force")).succeeded();
    let note = "columns promo_* are features, not past decisions";
    assert!(printed.err.contains(note), "{}", printed.err);
    // What was chosen is a decision of its row, and it is said.
    let chosen = |day: u64, item: u64| u8::from(day % 3 == item).to_string();
    workspace.write("table.csv", &table(&[("price", &price), ("was", &chosen)]));
    let output = workspace.run(&format!("{COMMAND} --force")).succeeded();
    let line = "was_a, was_b, was_c, taken as decided in the same row";
    assert!(output.err.contains(line), "{}", output.err);
    assert!(output.err.starts_with("problem: "), "{}", output.err);
}

#[test]
fn decisions_of_the_day_before_are_refused() {
    let drivers = |day: u64| 1 + day % 2;
    let before = |day: u64, item: u64| u8::from(item < drivers(day.saturating_sub(1))).to_string();
    let workspace = workspace("");
    let mut text = String::new();
    for (row, line) in table(&[("price", &price), ("was", &before)])
        .lines()
        .enumerate()
    {
        let drivers = match row {
            0 => "drivers".to_owned(),
            row => drivers(row as u64 - 1).to_string(),
        };
        writeln!(text, "{line},{drivers}").unwrap();
    }
    workspace.write("table.csv", &text);
    let problem = ONE_OF_THREE.replace("k = 1", "k = { column = \"drivers\" }");
    workspace.write("problem.toml", &problem);
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for part in ["decisions of the row before", "row 3", "--decisions 'none'"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
    workspace
        .run(&format!("{COMMAND} --decisions none"))
        .succeeded();
}

#[test]
fn ignored_columns_and_disguised_costs_are_not_compared() {
    let near = |day: u64, item: u64| {
        let price: f64 = price(day, item).parse().unwrap();
        format!("{:.4}", price + 0.001 * noise(day, 70 + item))
    };
    let paid = |day: u64, item: u64| {
        let price: f64 = price(day, item).parse().unwrap();
        format!("{:.2}", 1.19 * price)
    };
    let workspace = workspace(&table(&[("price", &price), ("old", &near)]));
    let ignored = format!("{COMMAND} --costs price_* --ignore old_*");
    let output = workspace.run(&ignored).succeeded();
    assert!(!output.out.contains("columns old_*"), "{}", output.out);
    let both = workspace.run(&format!("{ignored} --forecasts old_* --force"));
    assert_eq!(both.code, 2, "{}", both.err);
    assert!(both.err.contains("'old_a' is ignored, too"), "{}", both.err);
    workspace.write("table.csv", &table(&[("price", &price), ("paid", &paid)]));
    let command = format!("{COMMAND} --costs price_* --force");
    let output = workspace.run(&command).succeeded();
    assert!(!output.out.contains("columns paid_*"), "{}", output.out);
    assert!(
        output
            .err
            .contains("columns paid_* are not compared: they are almost"),
        "{}",
        output.err
    );
    let stated = workspace
        .run(&format!("{command} --forecasts paid_*"))
        .succeeded();
    assert!(
        stated.err.contains("leave them out if they are known only"),
        "{}",
        stated.err
    );
    assert!(
        workspace
            .read("result/summary.json")
            .contains("columns paid_*")
    );
}

#[test]
fn an_empty_cell_takes_no_role_silently() {
    let chosen = |day: u64, item: u64| match (day, item) {
        (20, 1) => String::new(),
        (day, item) => u8::from(day % 3 == item).to_string(),
    };
    let workspace = workspace(&table(&[("price", &price), ("was", &chosen)]));
    let output = workspace.run(COMMAND).succeeded();
    let note = "columns was_* are not compared, as was_b is empty in row 22";
    assert!(output.err.contains(note), "{}", output.err);
    let json = workspace.run(&format!("{COMMAND} --json --force")).json();
    assert_eq!(json["roles"]["features"], serde_json::json!(["date", "x"]));
}

#[test]
fn dates_in_other_forms_and_empty_dates_are_refused_with_their_row() {
    let clean = table(&[("price", &price)]);
    let german = |text: &str| {
        let [year, month, day] = [&text[..4], &text[5..7], &text[8..10]];
        format!("{day}.{month}.{year}")
    };
    let compact = |text: &str| text.replace('-', "");
    let forms: [(&DateForm<'_>, &str); 2] = [
        (&german, "'01.01.2024' looks like"),
        (&compact, "'20240101' looks like"),
    ];
    let changed = |form: &dyn Fn(&str) -> String| -> String {
        let line = |line: &str| match line.split_once(',') {
            Some((date, rest)) if date.starts_with("20") => format!("{},{rest}\n", form(date)),
            _ => format!("{line}\n"),
        };
        clean.lines().map(line).collect()
    };
    for (form, message) in forms {
        let workspace = workspace(&changed(form));
        let refused = workspace.run(COMMAND);
        assert_eq!(refused.code, 3, "{}", refused.err);
        for part in ["table.csv, row 2, column date", message, "--time 'none'"] {
            assert!(refused.err.contains(part), "{}", refused.err);
        }
        let output = workspace.run(&format!("{COMMAND} --time none")).succeeded();
        assert!(
            output.err.contains("rows are split at random"),
            "{}",
            output.err
        );
    }
    let workspace = workspace(&clean.replace("2024-01-20,", ","));
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 3, "{}", refused.err);
    for part in ["row 21, column date", "--time 'none'"] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
}

#[test]
fn rows_without_costs_at_the_end_are_those_to_decide() {
    let tomorrow = |day: u64, item: u64| match day {
        58.. => String::new(),
        _ => price(day, item),
    };
    let workspace = workspace(&table(&[("price", &tomorrow)]));
    let lags = COMMAND.replace("--lags none", "--lags 1,7");
    for (command, rows) in [(COMMAND, 2), (lags.as_str(), 1)] {
        let output = workspace.run(&format!("{command} --force")).succeeded();
        assert!(
            output.err.contains("the last 2 rows are without costs"),
            "{}",
            output.err
        );
        assert!(output.err.contains("table.csv: "), "{}", output.err);
        assert!(output.out.contains("\nnext:\n"), "{}", output.out);
        let new = workspace.read("result/new-rows.csv");
        assert_eq!(new.lines().count(), 1 + rows, "{new}");
        assert!(
            new.lines().nth(1).unwrap().starts_with("2024-02-28,0."),
            "{new}"
        );
        let next = output
            .out
            .lines()
            .find_map(|line| line.strip_prefix("  regretless decide"));
        workspace
            .run(&format!("decide{}", next.unwrap()))
            .succeeded();
    }
    // The same model as that of a table without these rows.
    let model = workspace.bytes("result/model.safetensors");
    let text = workspace.read("table.csv");
    let known: String = text
        .lines()
        .take(59)
        .map(|line| format!("{line}\n"))
        .collect();
    workspace.write("table.csv", &known);
    workspace.run(&format!("{lags} --force")).succeeded();
    assert!(workspace.bytes("result/model.safetensors") == model);
}

#[test]
fn errors_of_a_table_with_lags_name_the_row_of_the_user() {
    let gap = |day: u64, item: u64| match (day, item) {
        (40, 1) => "many".into(),
        (day, item) => price(day, item),
    };
    let lags = COMMAND.replace("--lags none", "--lags 1,7 --costs price_*");
    let workspace = workspace(&table(&[("price", &gap)]));
    let refused = workspace.run(&lags);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("table.csv, row 42"), "{}", refused.err);
    assert!(!refused.err.contains("lagged"), "{}", refused.err);
}

#[test]
fn decisions_of_a_table_with_lags_have_the_rows_of_the_user() {
    let workspace = workspace(&table(&[("price", &price)]));
    let lags = COMMAND.replace("--lags none", "--lags 1,7");
    workspace.run(&lags).succeeded();
    let decisions = workspace.read("result/decisions.csv");
    assert!(decisions.lines().count() > 30, "{decisions}");
    for line in decisions.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], date(cells[1].parse().unwrap()), "{line}");
    }
    // Rows of a user's own lack the earlier costs, and the error says where they come from.
    workspace.write("own.csv", "date,x,price_a\n2024-03-01,0.5,1\n");
    let decide = "decide --model result/model.safetensors --data own.csv --out d.csv";
    let refused = workspace.run(decide);
    assert_eq!(refused.code, 3, "{}", refused.err);
    for part in [
        "price_a_lag1",
        "the costs of 1 period before",
        "--rows-only",
    ] {
        assert!(refused.err.contains(part), "{}", refused.err);
    }
}

#[test]
fn a_misspelled_category_is_noted_with_the_one_that_was_meant() {
    let mut text = String::new();
    for (row, line) in table(&[("price", &price)]).lines().enumerate() {
        let region = match row {
            0 => "region",
            row => ["north", "south", "west"][row % 3],
        };
        writeln!(text, "{line},{region}").unwrap();
    }
    let workspace = workspace(&text);
    workspace.run(COMMAND).succeeded();
    workspace.write("own.csv", "date,x,region\n2024-03-01,0.5,North\n");
    let decide = "decide --model result/model.safetensors --data own.csv --out d.csv";
    let decided = workspace.run(decide).succeeded();
    assert!(
        decided.err.contains("did you mean 'north'?"),
        "{}",
        decided.err
    );
}

#[test]
fn errors_of_problem_files_name_the_file_and_the_way_out() {
    let workspace = workspace(&table(&[("price", &price)]));
    let van = "kind = \"knapsack\"\nitems = [\"a\", \"b\", \"c\"]\nweights = [[1, 1, 1]]\n";
    for (capacity, parts) in [
        ("\"minutes\"", ["problem.toml: ", "{ column = \"name\" }"]),
        ("[1.0, 2.0]", ["problem.toml", "capacit"]),
    ] {
        workspace.write("problem.toml", &format!("{van}capacity = {capacity}\n"));
        let refused = workspace.run(COMMAND);
        assert_eq!(refused.code, 2, "{}", refused.err);
        for part in parts {
            assert!(refused.err.contains(part), "{}", refused.err);
        }
    }
}

#[test]
fn steps_in_time_are_in_their_order() {
    let workspace = TestWorkspace::new();
    let mut text = String::from("x,price_h0,price_h1,price_h10,price_h2\n");
    for row in 0..40 {
        let cells: Vec<String> = (0..5)
            .map(|column| format!("{:.3}", noise(row, column)))
            .collect();
        text += &(cells.join(",") + "\n");
    }
    workspace.write("table.csv", &text);
    workspace.write(
        "problem.toml",
        "kind = \"storage\"\nsteps = 4\ncapacity = 2.0\ncharge_limit = 1.0\n\
         discharge_limit = 1.0\n",
    );
    let refused = workspace.run(COMMAND);
    assert_eq!(refused.code, 2, "{}", refused.err);
    let ordered = "--costs price_h0,price_h1,price_h2,price_h10";
    assert!(
        refused.err.replace('\'', "").contains(ordered),
        "{}",
        refused.err
    );
    let listed = workspace.run(&format!("{COMMAND} {ordered} --json"));
    let costs = ["price_h0", "price_h1", "price_h2", "price_h10"];
    assert_eq!(listed.json()["roles"]["costs"], serde_json::json!(costs));
}

#[test]
fn cells_that_were_filled_in_stay_until_another_period_is_next() {
    let workspace = workspace(&table(&[("price", &price)]));
    workspace.run(COMMAND).succeeded();
    let rows = "result/new-rows.csv";
    workspace.fill_in(rows, "0.5");
    let filled_in = workspace.read(rows);
    assert!(filled_in.contains("0.5"), "{filled_in}");
    workspace.run(COMMAND).succeeded();
    assert_eq!(workspace.read(rows), filled_in);
    // Without the last row, another period is next.
    let text = workspace.read("table.csv");
    let rows_before = text.lines().count() - 1;
    let shorter: Vec<&str> = text.lines().take(rows_before).collect();
    workspace.write("table.csv", &(shorter.join("\n") + "\n"));
    workspace.run(&format!("{COMMAND} --force")).succeeded();
    let next = workspace.read(rows);
    assert!(!next.contains("0.5"), "{next}");
}
