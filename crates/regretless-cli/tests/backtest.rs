//! `backtest`: results, resuming, and input that cannot be used.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;

use common::{TestWorkspace, folder_content, noise};

/// Two of four sites are chosen each day; the features predict their costs.
const PROBLEM: &str = "kind = \"top_k\"\nitems = 4\nk = 2\nsense = \"minimize\"\n";

/// How the dates of a table are written.
#[derive(Clone, Copy, PartialEq)]
enum Dates {
    Ordered,
    /// The first two rows are exchanged.
    Unordered,
    /// Two rows per date.
    Twice,
    /// Ten days are missing.
    WithGap,
}

/// A day of 2024.
fn date(mut day: u64) -> String {
    for (month, days) in (1..).zip([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
        if day < days {
            return format!("2024-{month:02}-{:02}", day + 1);
        }
        day -= days;
    }
    panic!("the year is over");
}

/// A table of some days with two features, a decision that was made, and four costs.
fn table(days: u64, dates: Dates) -> String {
    let mut lines = Vec::new();
    for day in 0..days {
        let named = match dates {
            Dates::Ordered | Dates::Unordered => day,
            Dates::Twice => day / 2,
            Dates::WithGap => day + if day >= 20 { 10 } else { 0 },
        };
        let (load, wind) = (noise(day, 1), noise(day, 2));
        let mut line = format!("{},{load:.4},{wind:.4}", date(named));
        for site in 0..4_u32 {
            let chosen = u8::from(site < 2);
            write!(line, ",{chosen}").unwrap();
        }
        for site in 0..4_u32 {
            let mean = 10.0 + f64::from(site) * load - 4.0 * wind * f64::from(site % 2);
            write!(line, ",{:.4}", mean + noise(day, 10 + u64::from(site))).unwrap();
        }
        lines.push(line);
    }
    if dates == Dates::Unordered {
        lines.swap(0, 1);
    }
    let header = "date,load,wind,was_a,was_b,was_c,was_d,c_a,c_b,c_c,c_d";
    format!("{header}\n{}\n", lines.join("\n"))
}

fn workspace(days: u64, dates: Dates) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", &table(days, dates));
    workspace.write("problem.toml", PROBLEM);
    workspace
}

const COMMAND: &str = "backtest --data table.csv --costs c_* --problem problem.toml --time date \
    --ignore was_* --epochs 2 --methods MSE;MAE(O,S)";
/// The same with the decisions that were made.
const WITH_DECISIONS: &str = "backtest --data table.csv --costs c_* --problem problem.toml --time \
    date --decisions was_* --epochs 2 --methods MSE";

#[test]
fn a_history_is_decided_period_by_period_and_the_verdict_comes_first() {
    let workspace = workspace(160, Dates::Ordered);
    let output = workspace
        .run(&format!(
            "{COMMAND} --season 7 --unit EUR --step 20 --out result"
        ))
        .succeeded();
    let first = output.out.lines().next().unwrap();
    assert!(
        first.starts_with("no compared method ") || first.contains(" EUR a day against"),
        "{first}"
    );
    for method in [
        "least squares",
        "MAE(O,S)",
        "seasonal naive 7",
        "last period",
    ] {
        assert!(output.out.contains(method), "{}", output.out);
    }
    let periods = workspace.read("result/periods.csv");
    // 80 days, least squares, two methods and three other baselines.
    assert_eq!(periods.lines().count(), 1 + 80 * 6);
    let decisions = workspace.read("result/decisions.csv");
    assert_eq!(decisions.lines().count(), 1 + 80 * 6 * 2, "two sites each");
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("result/summary.json")).unwrap();
    assert_eq!(summary["verdict"], first);
    assert_eq!(
        (&summary["periods"], &summary["unit"]),
        (&80.into(), &"EUR".into())
    );
    let mse = &summary["methods"][1];
    assert_eq!(mse["name"], "MSE");
    let [per_day, per_year] =
        ["per_day", "per_year"].map(|name| mse["saving"][name].as_f64().unwrap());
    assert!((per_year - 365.2425 * per_day).abs() < 1e-9 * per_year.abs());
    // The costs of a method are those of its rows.
    let mut total = 0.0;
    for line in periods.lines().filter(|line| line.contains(",MSE,")) {
        total += line.split(',').nth(2).unwrap().parse::<f64>().unwrap();
    }
    assert!((total - mse["total_cost"].as_f64().unwrap()).abs() < 1e-6);
}

#[test]
fn few_periods_have_no_verdict_and_json_has_the_same_sentence() {
    let workspace = workspace(60, Dates::Ordered);
    let output = workspace.run(&format!("{COMMAND} --json --out result"));
    let json = output.json();
    let verdict = json["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("too few periods to tell: 30 were decided"),
        "{verdict}"
    );
    assert!(json["methods"][1]["saving"]["interval"].is_null());
}

#[test]
fn shards_and_a_second_run_give_the_same_bytes() {
    let workspace = workspace(80, Dates::Ordered);
    let expected = {
        workspace
            .run(&format!("{COMMAND} --step 10 --threads 1 --out whole"))
            .succeeded();
        folder_content(&workspace.path("whole"))
    };
    for shard in ["2/2", "1/2"] {
        let command = format!("{COMMAND} --step 10 --threads 2 --out parts --shard {shard}");
        let output = workspace.run(&command).succeeded();
        assert!(output.out.contains("is finished"), "{}", output.out);
        assert!(!workspace.path("parts/summary.json").exists());
    }
    let command = format!("{COMMAND} --step 10 --threads 2 --out parts");
    for run in 0..2 {
        let output = workspace.run(&command).succeeded();
        let is_complete = output.err.contains("this backtest was complete");
        assert_eq!(is_complete, run == 1, "{}", output.err);
        let mut parts = folder_content(&workspace.path("parts"));
        let mut whole = expected.clone();
        for folder in [&mut parts, &mut whole] {
            // The settings name folder and threads.
            folder.remove("settings.toml");
        }
        assert!(parts == whole);
    }
    // New rows at the end of the table leave earlier trainings valid.
    workspace.write("table.csv", &table(90, Dates::Ordered));
    workspace
        .run(&format!(
            "{COMMAND} --initial 40 --step 10 --threads 2 --out more"
        ))
        .succeeded();
    let more = folder_content(&workspace.path("more"));
    let cells = |content: &str| content.starts_with("cells/") && content.ends_with(".json");
    for (name, bytes) in expected.iter().filter(|(name, _)| cells(name)) {
        assert!(more.get(name) == Some(bytes), "{name}");
    }
}

#[test]
fn a_folder_with_other_settings_is_not_overwritten() {
    let workspace = workspace(40, Dates::Ordered);
    workspace
        .run(&format!("{COMMAND} --out result"))
        .succeeded();
    let other = format!("{COMMAND} --gap-periods 1 --out result");
    workspace.run(&other).failed(3, &["settings.toml"]);
    workspace.run(&format!("{other} --force")).succeeded();
}

#[test]
fn unordered_repeated_and_missing_dates_are_counted() {
    for (dates, note) in [
        (Dates::Unordered, "1 row is earlier than the row before"),
        (Dates::Twice, "20 of 20 periods have several rows (40 rows"),
        (Dates::WithGap, "about 10 periods between 2024-01-01 and"),
    ] {
        let workspace = workspace(40, dates);
        let output = workspace
            .run(&format!("{COMMAND} --out result"))
            .succeeded();
        assert!(output.err.contains(note), "{}", output.err);
    }
    let ordered = workspace(40, Dates::Ordered);
    let output = ordered.run(&format!("{COMMAND} --out result")).succeeded();
    assert!(!output.err.contains("periods"), "{}", output.err);
    // Sorting is all that happens to unordered rows.
    let unordered = workspace(40, Dates::Unordered);
    unordered
        .run(&format!("{COMMAND} --out result"))
        .succeeded();
    let [a, b] = [&ordered, &unordered].map(|folder| folder.read("result/periods.csv"));
    assert_eq!(a, b);
}

#[test]
fn decisions_that_were_made_are_compared_and_infeasible_ones_refused() {
    let workspace = workspace(40, Dates::Ordered);
    let output = workspace
        .run(&format!("{WITH_DECISIONS} --out result"))
        .succeeded();
    assert!(output.out.contains("present decisions"), "{}", output.out);
    let decisions = workspace.read("result/decisions.csv");
    let own = decisions
        .lines()
        .filter(|line| line.contains("present decisions"));
    assert!(own.clone().count() == 40 && own.clone().all(|line| !line.contains("c_c")));
    // The decisions are no features.
    let without = format!("{COMMAND} --methods MSE --out without");
    workspace.run(&without).succeeded();
    let costs = |folder: &str| {
        let text = workspace.read(&format!("{folder}/periods.csv"));
        let lines = text.lines().filter(|line| line.contains(",MSE,"));
        lines.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(costs("result"), costs("without"));
    // The same decisions in a file with the dates, in another order.
    let mut rows: Vec<String> = (0..40)
        .map(|day| format!("{},0,1,1,0", date(day)))
        .collect();
    rows.reverse();
    let file = format!("date,c_b,c_a,c_d,c_c\n{}\n", rows.join("\n"));
    workspace.write("made.csv", &file);
    let by_file = WITH_DECISIONS.replace("was_*", "made.csv") + " --ignore was_*";
    workspace.run(&format!("{by_file} --out file")).succeeded();
    let decisions = workspace.read("file/decisions.csv");
    let own = decisions
        .lines()
        .filter(|line| line.contains("present decisions"));
    assert!(own.clone().count() == 40 && own.clone().all(|line| !line.contains("c_b")));
    // One day has a third site.
    workspace.write(
        "table.csv",
        &table(40, Dates::Ordered).replacen("1,1,0,0", "1,1,1,0", 33),
    );
    workspace
        .run(&format!("{WITH_DECISIONS} --out third"))
        .failed(
            3,
            &["13 of the decided rows cannot be used; the first is 2024-01-21"],
        );
}

/// The table with the decision of the two cheapest sites in hindsight.
fn with_best_decisions(table: &str) -> String {
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        let costs: Vec<f64> = cells[7..]
            .iter()
            .map(|cell| cell.parse().unwrap())
            .collect();
        for site in 0..4 {
            let cheaper = costs.iter().filter(|cost| **cost < costs[site]).count();
            cells[3 + site] = u8::from(cheaper < 2).to_string();
        }
        text += &format!("{}\n", cells.join(","));
    }
    text
}

#[test]
fn the_best_method_is_compared_with_present_decisions_whatever_the_result() {
    let workspace = workspace(240, Dates::Ordered);
    let out = |folder: &str| {
        let command = format!("{WITH_DECISIONS} --unit EUR --out {folder}");
        workspace.run(&command).succeeded().out
    };
    let found = out("saved");
    assert!(
        found.contains(" EUR a day against present decisions (95 %: "),
        "{found}"
    );
    workspace.write("problem.toml", &PROBLEM.replace("minimize", "maximize"));
    let found = out("gained");
    assert!(
        found.contains(" EUR a day more than present decisions (95 %: "),
        "{found}"
    );
    workspace.write("problem.toml", PROBLEM);
    workspace.write(
        "table.csv",
        &with_best_decisions(&workspace.read("table.csv")),
    );
    let found = out("best");
    assert!(found.contains("`present decisions` saves "), "{found}");
}

/// The present decisions in `decisions.csv`, without the method.
fn present_decisions(workspace: &TestWorkspace, folder: &str) -> Vec<String> {
    let text = workspace.read(&format!("{folder}/decisions.csv"));
    let own = text
        .lines()
        .filter(|line| line.contains("present decisions"));
    own.map(String::from).collect()
}

#[test]
fn columns_of_decisions_are_matched_with_costs_by_name_in_any_order() {
    let workspace = workspace(40, Dates::Ordered);
    workspace
        .run(&format!("{WITH_DECISIONS} --out pattern"))
        .succeeded();
    let expected = present_decisions(&workspace, "pattern");
    for (folder, columns) in [
        ("listed", "was_d,was_b,was_a,was_c"),
        ("patterns", "was_d*,was_c*,was_b*,was_a*"),
    ] {
        let command = WITH_DECISIONS.replace("was_*", columns);
        let output = workspace
            .run(&format!("{command} --out {folder}"))
            .succeeded();
        assert!(!output.err.contains("by position"), "{}", output.err);
        assert_eq!(present_decisions(&workspace, folder), expected);
    }
    // Costs by several patterns.
    let command = WITH_DECISIONS
        .replace("c_*", "c_b,c_a,c_d*,c_c*")
        .replace("was_*", "was_a,was_b,was_c*,was_d*");
    workspace
        .run(&format!("{command} --out several"))
        .succeeded();
    let mut several = present_decisions(&workspace, "several");
    let mut expected = expected;
    for rows in [&mut several, &mut expected] {
        rows.sort();
    }
    assert_eq!(several, expected);
}

#[test]
fn columns_of_decisions_with_other_names_are_matched_by_position_with_a_note() {
    let workspace = workspace(40, Dates::Ordered);
    let table = table(40, Dates::Ordered).replace("was_a,was_b,was_c,was_d", "x_d,x_c,x_b,x_z");
    workspace.write("table.csv", &table);
    for (folder, columns) in [
        ("listed", "x_d,x_c,x_b,x_z"),
        ("patterns", "x_d,x_c,x_b*,x_z*"),
    ] {
        let command = WITH_DECISIONS.replace("was_*", columns);
        let output = workspace
            .run(&format!("{command} --out {folder}"))
            .succeeded();
        let note = "table.csv: decisions are matched to costs by position: c_a from x_d, c_b from \
                    x_c, c_c from x_b, c_d from x_z;";
        assert!(output.err.contains(note), "{}", output.err);
        let own = present_decisions(&workspace, folder);
        assert!(
            own.iter()
                .all(|line| line.contains("c_a") || line.contains("c_b"))
        );
    }
    // A pattern says that cost c_a has the column x_a.
    let command = WITH_DECISIONS.replace("was_*", "x_*");
    workspace
        .run(&format!("{command} --out missing"))
        .failed(3, &["x_a", "no such column"]);
}

#[test]
fn columns_of_decisions_are_not_among_those_that_are_not_used() {
    let workspace = workspace(40, Dates::Ordered);
    let output = workspace
        .run(&format!("{WITH_DECISIONS} --report page.html --out result"))
        .succeeded();
    assert!(!output.err.contains("not used"), "{}", output.err);
    assert!(!workspace.read("page.html").contains("columns not used"));
    let table = table(40, Dates::Ordered).replace("was_d", "was_d,was_total");
    let table = table.replace("1,1,0,0,", "1,1,0,0,2,");
    workspace.write("table.csv", &table);
    let output = workspace
        .run(&format!("{WITH_DECISIONS} --out total --json"))
        .succeeded();
    let unused = "columns that are not used: was_total (ignored)\n";
    assert!(output.err.contains(unused), "{}", output.err);
    let expected = serde_json::json!([{"column": "was_total", "reason": "ignored"}]);
    assert_eq!(output.json()["unused_columns"], expected);
}

#[test]
fn costs_of_earlier_periods_are_repeated_where_some_items_never_exist() {
    let workspace = workspace(60, Dates::Ordered);
    for (folder, problem, absent) in [
        (
            "assignment",
            "kind = 'assignment'\nagents = 1\ntasks = 4\nforbidden = [[0, 1]]\n",
            "c_b",
        ),
        (
            "knapsack",
            "kind = 'knapsack'\nweights = [3, 2, 4, 1]\ncapacity = 5\n\
             present = [1, 0, 1, 1]\n",
            "c_b",
        ),
        (
            "top_k",
            "kind = 'top_k'\nitems = 4\nk = 2\nsense = 'minimize'\n\
             present = [true, true, false, true]\n",
            "c_c",
        ),
    ] {
        workspace.write("problem.toml", problem);
        let output = workspace
            .run(&format!(
                "{COMMAND} --season 7 --initial 30 --step 30 --report {folder}.html --out {folder}"
            ))
            .succeeded();
        assert!(!output.out.contains("failed"), "{}", output.out);
        let page = workspace.read(&format!("{folder}.html"));
        assert!(page.contains("Measured on 30 decisions"), "{folder}");
        let decisions = workspace.read(&format!("{folder}/decisions.csv"));
        for baseline in ["last period", "seasonal naive 7"] {
            let mut own = decisions.lines().filter(|line| line.contains(baseline));
            assert!(own.clone().count() >= 30, "{folder}: {decisions}");
            assert!(own.all(|line| !line.contains(absent)), "{folder}");
        }
    }
}

#[test]
fn costs_of_earlier_periods_are_not_repeated_for_items_that_they_lack() {
    let workspace = workspace(60, Dates::Ordered);
    let mut lines = vec!["date,load,in_a,in_b,in_c,in_d,c_a,c_b,c_c,c_d".to_owned()];
    for day in 0..60_u64 {
        // The first two items alternate.
        let first = day % 2;
        let costs = [3, 4, 5, 6]
            .map(|cost| f64::from(cost) + noise(day, 1))
            .map(|c| c.to_string());
        let present = format!("{first},{},1,1", 1 - first);
        lines.push(format!(
            "{},{},{present},{}",
            date(day),
            noise(day, 2),
            costs.join(",")
        ));
    }
    workspace.write("table.csv", &lines.join("\n"));
    let problem = PROBLEM.to_owned() + "present = { columns = 'in_*' }\n";
    workspace.write("problem.toml", &problem);
    let command = COMMAND.replace("--ignore was_*", "--ignore in_*");
    workspace
        .run(&format!("{command} --step 1 --out day"))
        .refused(
            2,
            &["last period failed", "earlier costs cannot be repeated"],
        );
    // Two days before, the items were the same.
    let output = workspace.run(&format!("{command} --step 1 --season 2 --out days"));
    assert!(
        !output.out.contains("seasonal naive 2 failed"),
        "{}",
        output.out
    );
    assert!(output.out.contains("seasonal naive 2"), "{}", output.out);
}

#[test]
fn predictions_of_others_are_compared_by_their_times() {
    let workspace = workspace(40, Dates::Ordered);
    let text = table(40, Dates::Ordered);
    let mut file = "date,c_a,c_b,c_c,c_d\n".to_owned();
    for line in text.lines().collect::<Vec<_>>()[1..].iter().rev() {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(file, "{},{}", cells[0], cells[7..].join(",")).unwrap();
    }
    workspace.write("oracle.csv", &file);
    let command = format!("{COMMAND} --predictions oracle=oracle.csv --out result");
    workspace.run(&command).succeeded();
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("result/summary.json")).unwrap();
    let methods = summary["methods"].as_array().unwrap();
    let oracle = methods
        .iter()
        .find(|method| method["name"] == "oracle")
        .unwrap();
    assert!(oracle["total_regret"].as_f64().unwrap().abs() < 1e-4);
    // The last day is missing, which is the second line.
    let mut lines: Vec<&str> = file.lines().collect();
    lines.remove(1);
    workspace.write("oracle.csv", &lines.join("\n"));
    workspace
        .run(&format!("{command} --force"))
        .failed(3, &["'oracle': 1 of the decided rows cannot be used"]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let workspace = workspace(40, Dates::Ordered);
    for (options, code, message) in [
        ("--window 40", 2, "leave none to decide"),
        ("--window 39 --gap-periods 1", 2, "leave none to decide"),
        ("--window 20 --initial 10", 2, "--initial"),
        ("--step 2 --horizon 3", 2, "decided more than once"),
        ("--step 0", 2, "the step is 0"),
        ("--season 0", 2, "season"),
        ("--validation 1", 2, "validation fraction"),
        ("--window soon", 2, "no training window"),
        ("--shard 3/2", 2, "not a shard"),
        ("--predictions oracle.csv", 2, "NAME=FILE"),
        ("--decisions other_*", 3, "no column matches 'other_*'"),
        (
            "--decisions was_a,was_b",
            2,
            "2 columns of decisions for 4 costs",
        ),
    ] {
        let command = format!("{COMMAND} {options} --out result");
        workspace.run(&command).failed(code, &[message]);
    }
    let unit = "E\u{7}UR";
    let words: Vec<&str> = COMMAND.split_whitespace().chain(["--unit", unit]).collect();
    workspace
        .run_words(&words)
        .failed(2, &["control characters"]);
    let without_time = COMMAND.replace("--time date ", "");
    workspace
        .run(&without_time)
        .failed(2, &["--time is missing"]);
    let unknown = COMMAND.replace("--time date", "--time day");
    workspace.run(&unknown).failed(3, &["day"]);
    // A window of all periods but one decides that one.
    workspace
        .run(&format!("{COMMAND} --window 39 --out one"))
        .succeeded();
}

#[test]
fn models_can_be_kept_or_continued() {
    let workspace = workspace(60, Dates::Ordered);
    let kept = workspace
        .run(&format!("{COMMAND} --no-refit --step 10 --json --out kept"))
        .json();
    assert_eq!(kept["trainings"], 1);
    workspace
        .run(&format!("{COMMAND} --warm-start --step 10 --out warm"))
        .succeeded();
    workspace
        .run(&format!("{COMMAND} --step 10 --out cold"))
        .succeeded();
    let read = |folder: &str| workspace.read(&format!("{folder}/periods.csv"));
    assert_ne!(read("warm"), read("cold"));
    assert_ne!(read("kept"), read("cold"));
    workspace
        .run("backtest --config cold/settings.toml --out again")
        .succeeded();
    assert_eq!(read("again"), read("cold"));
}

/// A customer is supplied from two depots; shipping costs are predicted, opening costs and the
/// constant of the objective are known.
#[cfg(feature = "highs")]
fn depots() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write(
        "model.lp",
        "Minimize\n cost: 5 open_a + 4 open_b + ship_a + ship_b + 7\nSubject To\n\
         demand: ship_a + ship_b >= 3\n a: ship_a - 6 open_a <= 0\n b: ship_b - 6 open_b <= 0\n\
         Binary\n open_a open_b\nEnd\n",
    );
    workspace.write(
        "problem.toml",
        "kind = 'linear'\nfile = 'model.lp'\ncosts = ['ship_*']\n",
    );
    let mut table =
        "date,load,ship_a,ship_b,was_ship_a,was_ship_b,was_open_a,was_open_b\n".to_owned();
    for day in 0..40 {
        let (load, a) = (noise(day, 1), 1.0 + noise(day, 2));
        // Always the first depot.
        writeln!(table, "{},{load:.4},{a:.4},2.5,3,0,1,0", date(day)).unwrap();
    }
    workspace.write("table.csv", &table);
    workspace
}

#[cfg(feature = "highs")]
#[test]
fn decisions_with_the_values_of_columns_with_known_costs_cost_the_full_objective() {
    let workspace = depots();
    let command = "backtest --data table.csv --costs ship_* --problem problem.toml --time date \
        --methods MSE --epochs 1";
    let listed = "--decisions was_open_b,was_ship_b,was_open_a,was_ship_a --ignore was_*";
    workspace
        .run(&format!("{command} {listed} --out result"))
        .succeeded();
    let periods = workspace.read("result/periods.csv");
    let table = workspace.read("table.csv");
    let mut rows = 0;
    for line in periods
        .lines()
        .filter(|line| line.contains("present decisions"))
    {
        let cells: Vec<&str> = line.split(',').collect();
        let day = table.lines().find(|row| row.starts_with(cells[0])).unwrap();
        let shipping: f64 = day.split(',').nth(2).unwrap().parse().unwrap();
        let cost: f64 = cells[2].parse().unwrap();
        assert!((cost - (3.0 * shipping + 5.0 + 7.0)).abs() < 1e-5, "{line}");
        let regret: f64 = cells[3].parse().unwrap();
        assert!(regret > -1e-6, "{line}");
        rows += 1;
    }
    assert_eq!(rows, 20);
    let decisions = workspace.read("result/decisions.csv");
    let own = decisions
        .lines()
        .filter(|line| line.contains("present decisions"));
    assert!(
        own.clone().any(|line| line.contains("open_a")),
        "{decisions}"
    );
    workspace
        .run(&format!("{command} --decisions was_* --out pattern"))
        .succeeded();
    assert_eq!(workspace.read("pattern/periods.csv"), periods);
    // Values of the columns with known costs are needed, and they must fit.
    let missing = "--decisions was_ship_a,was_ship_b --ignore was_*";
    workspace
        .run(&format!("{command} {missing} --out missing"))
        .failed(
            2,
            &[
                "2 columns of decisions for 2 costs and 2 columns with known costs",
                "open_a",
            ],
        );
    workspace.write("table.csv", &table.replacen(",3,0,1,0", ",3,0,0,1", 35));
    workspace
        .run(&format!("{command} {listed} --out closed"))
        .failed(3, &["15 of the decided rows cannot be used", "row a is 3"]);
    // A file with the dates must have all columns, too.
    let mut made = "date,ship_a,ship_b\n".to_owned();
    for day in 0..40 {
        writeln!(made, "{},3,0", date(day)).unwrap();
    }
    workspace.write("made.csv", &made);
    let by_file = format!("{command} --decisions made.csv --ignore was_* --out file");
    workspace
        .run(&by_file)
        .failed(3, &["open_a", "column of the problem with a known cost"]);
    let complete = made
        .replace("ship_b\n", "ship_b,open_b,open_a\n")
        .replace(",3,0\n", ",3,0,0,1\n");
    workspace.write("made.csv", &complete);
    workspace.run(&by_file).succeeded();
    assert_eq!(workspace.read("file/periods.csv"), periods);
}

#[test]
fn the_page_says_which_features_matter_and_its_figures_are_files_on_request() {
    let workspace = workspace(90, Dates::Ordered);
    let command = "backtest --data table.csv --costs c_* --problem problem.toml --time date \
                   --ignore was_* --methods MAE(O,S) --epochs 3 --initial 50 --out result";
    let pages = "--report page.html --figures drawn";
    workspace
        .run(&format!("{command} --step 10 {pages}"))
        .succeeded();
    let page = workspace.read("page.html");
    assert!(
        page.contains("Measured on 20 decisions of the latest models"),
        "the last two models decided ten days each"
    );
    for name in ["money", "regrets", "explained"] {
        let file = workspace.read(&format!("drawn/{name}.svg"));
        assert!(file.starts_with("<svg"), "{file:.80}");
    }
    let few = workspace.run(&format!(
        "{command}-few --step 3 --report few.html --figures drawn --force"
    ));
    few.succeeded();
    assert!(workspace.read("few.html").contains(
        "Not measured: there are 7 decisions of the latest models, and fewer than 20 say nothing; \
         more periods from one training to the next give more."
    ));
    for (arguments, code, message) in [
        ("--figures drawn", 3, "drawn: exists already"),
        ("--figures table.csv", 3, "table.csv: exists already"),
        ("--figures new --shard 1/2", 2, "one shard has no report"),
    ] {
        workspace
            .run(&format!("{command}-refused --step 10 {arguments}"))
            .failed(code, &[message]);
    }
}
