//! Tables of users: columns that are not used, splits by time, and dialects of CSV.

#![allow(clippy::unwrap_used, reason = "a failed step should show where")]

mod common;

use common::TestWorkspace;
use serde_json::Value;

const ROWS: usize = 50;

/// A date in 2026 by its number from 0.
fn date(day: usize) -> String {
    format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28)
}

/// Cells of one row: date, name of the day, wind, load and three costs.
fn cells(day: usize) -> Vec<String> {
    let wind = (day % 7) as f64 + 0.5;
    let load = ((day * 5) % 11) as f64 + 0.25;
    let mut cells = vec![date(day), ["Mon", "Tue", "Wed"][day % 3].to_owned()];
    cells.extend([wind, load].map(|number| number.to_string()));
    let costs = [wind + 1.5, 2.5 * load, 9.75 - wind];
    cells.extend(costs.map(|cost| cost.to_string()));
    cells
}

const HEADER: &str = "date,dayname,wind,load,c0,c1,c2";

/// A folder with the rows in reverse order of time and a problem.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let mut table = format!("{HEADER}\n");
    for day in (0..ROWS).rev() {
        table += &(cells(day).join(",") + "\n");
    }
    workspace.write("table.csv", &table);
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 3\nk = 1\nsense = 'minimize'\n",
    );
    workspace
}

const TRAIN: &str = "train --method MAE(O,S) \
    --data table.csv --costs c* --problem problem.toml --epochs 2 --force";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn columns_that_are_not_used_are_named_with_the_reason() {
    let workspace = workspace();
    let run = workspace
        .run(&format!("{TRAIN} --ignore load,date"))
        .succeeded();
    let note = "table.csv: columns that are not used: date (ignored), load (ignored)";
    assert!(run.err.contains(note), "{}", run.err);
    let features = "features           4: dayname=Mon, dayname=Tue, dayname=Wed, wind\n    \
        dayname: one-hot, 3 values\n";
    assert!(run.out.contains(features), "{}", run.out);
    let report = json(&workspace.read("model.report.json"));
    assert_eq!(
        report["features"],
        serde_json::json!(["dayname=Mon", "dayname=Tue", "dayname=Wed", "wind"])
    );
    assert_eq!(
        report["encoding"]["columns"],
        serde_json::json!([{"column": "dayname", "encoding": "one-hot, 3 values"}])
    );
    assert_eq!(
        report["unused_columns"],
        serde_json::json!([
            {"column": "date", "reason": "ignored"},
            {"column": "load", "reason": "ignored"},
        ])
    );
    let settings = workspace.read("model.settings.toml");
    assert!(
        settings.contains("features = [\"dayname\", \"wind\"]"),
        "{settings}"
    );

    let run = workspace
        .run(&format!("{TRAIN} --features load --split time:date"))
        .succeeded();
    assert!(
        run.err
            .contains("not used: dayname (text), wind (not selected)\n"),
        "{}",
        run.err
    );

    let evaluated = workspace
        .run("evaluate --model model.safetensors --data table.csv --json")
        .succeeded();
    let unused = &json(&evaluated.out)["unused_columns"];
    assert_eq!(
        unused.as_array().unwrap().len(),
        3,
        "date, dayname, wind: {unused}"
    );

    let labeled = workspace
        .run("label --data table.csv --costs c* --problem problem.toml --json")
        .succeeded();
    let unused = &json(&labeled.out)["unused_columns"];
    assert_eq!(unused.as_array().unwrap().len(), 4, "{unused}");
}

#[test]
fn a_split_by_time_tests_on_the_latest_rows_and_says_so() {
    let workspace = workspace();
    let run = workspace
        .run(&format!("{TRAIN} --split time:date"))
        .succeeded();
    let text = format!(
        "30/10/10 rows, split by date: training until {}, validation from {}, test from {}",
        date(29),
        date(30),
        date(40)
    );
    assert!(run.out.contains(&text), "{}", run.out);
    assert!(!run.err.contains("at random"), "{}", run.err);
    assert_eq!(json(&workspace.read("model.report.json"))["split"], text);
    let inspected = workspace
        .run("inspect model.safetensors --json")
        .succeeded();
    let recorded = json(&inspected.out)["training"]["split"].clone();
    assert!(text.ends_with(recorded.as_str().unwrap()), "{recorded}");
    let settings = workspace.read("model.settings.toml");
    assert!(
        settings.contains("split = \"time:date,0.2,0.2\""),
        "{settings}"
    );

    // The same rows in order of time give the same model with a split in table order.
    let mut sorted = format!("{HEADER}\n");
    for day in 0..ROWS {
        sorted += &(cells(day).join(",") + "\n");
    }
    // Everything in the model but the words for the split.
    let model = || {
        let mut found = json(
            &workspace
                .run("inspect model.safetensors --json")
                .succeeded()
                .out,
        );
        found["training"]["split"].take();
        found
    };
    let by_time = model();
    workspace.write("table.csv", &sorted);
    for split in ["time:date", "order", "30,10,10"] {
        workspace
            .run(&format!("{TRAIN} --split {split}"))
            .succeeded();
        assert_eq!(model(), by_time, "{split}");
    }
    workspace.run(TRAIN).succeeded();
    assert_ne!(model(), by_time);
}

#[test]
fn a_date_column_suggests_a_split_by_time() {
    let workspace = workspace();
    let run = workspace.run(TRAIN).succeeded();
    assert!(run.err.contains("--split 'time:date'"), "{}", run.err);
    assert!(
        run.out.contains("30/10/10 rows, split at random"),
        "{}",
        run.out
    );
    let run = workspace
        .run(&format!("{TRAIN} --split 0.2,0.2"))
        .succeeded();
    assert!(!run.err.contains("time:date"), "{}", run.err);
}

#[test]
fn times_that_cannot_be_read_are_refused_with_their_place() {
    let workspace = workspace();
    let good = workspace.read("table.csv");
    for (cell, message) in [
        ("", "the cell is empty"),
        ("05.02.2026", "is no date"),
        ("2026-02-05T10:00Z", "cannot be compared"),
    ] {
        workspace.write("table.csv", &good.replace(&date(10), cell));
        let run = workspace.run(&format!("{TRAIN} --split time:date"));
        assert_eq!(run.code, 3, "{}", run.err);
        assert!(run.err.contains("row 41, column date"), "{}", run.err);
        assert!(run.err.contains(message), "{}", run.err);
    }
    workspace.write("table.csv", &good);
    let run = workspace.run(&format!("{TRAIN} --split time:day"));
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("column day: there is no such column"),
        "{}",
        run.err
    );
}

#[test]
fn compare_says_how_rows_were_split_and_shares_them_between_seeds() {
    let workspace = workspace();
    let command = "compare --data table.csv --costs c* --problem problem.toml --epochs 2 --seeds 2 \
        --methods MSE --split time:date --json --out";
    let run = workspace.run(&format!("{command} results")).succeeded();
    let report = json(&run.out);
    assert!(
        report["split"].as_str().unwrap().contains("split by date"),
        "{report}"
    );
    let features = report["features"].as_array().unwrap();
    assert_eq!(
        features.len(),
        7 + 3 + 2,
        "weekdays, names, wind and load: {report}"
    );
    let methods = report["methods"].as_array().unwrap();
    let is_previous_row = |method: &Value| method["method"] == "previous row";
    // The table is sorted from the latest row to the earliest: the row before is a later one.
    assert!(!methods.iter().any(is_previous_row), "{report}");
    let text = workspace
        .run(&format!("{} results2", command.replace("--json ", "")))
        .succeeded();
    assert!(
        text.out.contains("split by date: training until"),
        "{}",
        text.out
    );
    assert!(!text.out.contains("95 %:"), "{}", text.out);

    let sorted: Vec<String> = workspace
        .read("table.csv")
        .lines()
        .map(String::from)
        .collect();
    let mut lines = vec![sorted[0].clone()];
    lines.extend(sorted[1..].iter().rev().cloned());
    workspace.write("table.csv", &(lines.join("\n") + "\n"));
    let run = workspace.run(&format!("{command} results3")).succeeded();
    let report = json(&run.out);
    assert!(
        report["methods"]
            .as_array()
            .unwrap()
            .iter()
            .any(is_previous_row),
        "{report}"
    );
}

#[test]
fn a_long_table_is_split_by_the_time_of_its_instances() {
    let workspace = workspace();
    let mut long = String::from("day,item,wind,cost\n");
    for day in (0..ROWS).rev() {
        for item in 0..3 {
            let row = cells(day);
            long += &format!("{},c{item},{},{}\n", row[0], row[2], row[4 + item]);
        }
    }
    workspace.write("long.csv", &long);
    let command = "train --method MAE(O,S) \
        --data long.csv --instance-column day --item-column item \
        --problem problem.toml --epochs 2 --force --split";
    let run = workspace.run(&format!("{command} time:day")).succeeded();
    let text = format!("validation from {}, test from {}", date(30), date(40));
    assert!(run.out.contains(&text), "{}", run.out);
    assert!(!run.err.contains("not used"), "{}", run.err);
    workspace.run(&format!("{command} time:wind")).succeeded();
    workspace.write("long.csv", &long.replacen(",2.5,", ",3.5,", 1));
    let run = workspace.run(&format!("{command} time:wind"));
    assert_eq!(run.code, 3);
    assert!(run.err.contains("has the times"), "{}", run.err);
}

#[test]
fn the_dialect_of_a_table_changes_nothing_but_its_text() {
    let workspace = workspace();
    workspace
        .run(&format!(
            "{TRAIN} --split time:date --out point.safetensors"
        ))
        .succeeded();
    let text = workspace.read("table.csv");
    for (delimiter, flags) in [
        (";", "--delimiter ; --decimal ,"),
        ("\t", "--delimiter tab --decimal ,"),
    ] {
        workspace.write(
            "table.csv",
            &text
                .replace('.', "DECIMAL")
                .replace(',', delimiter)
                .replace("DECIMAL", ","),
        );
        let run = workspace
            .run(&format!(
                "{TRAIN} --split time:date {flags} --out other.safetensors"
            ))
            .succeeded();
        let found = "labels of 50 of 50 rows read from table.csv.labels, 0 solved now";
        assert!(run.err.contains(found), "{}", run.err);
        assert_eq!(
            workspace.bytes("point.safetensors"),
            workspace.bytes("other.safetensors")
        );
        let settings = workspace.read("other.settings.toml");
        assert!(settings.contains("decimal = \",\""), "{settings}");
        for command in [
            "evaluate --model point.safetensors --data table.csv",
            "decide --model point.safetensors --data table.csv --out decisions.csv --force",
        ] {
            workspace.run(&format!("{command} {flags}")).succeeded();
            assert_eq!(workspace.run(command).code, 3, "{command}");
        }
    }
}

#[test]
fn other_dialects_are_refused_with_the_setting_that_reads_them() {
    let workspace = workspace();
    let good = workspace.read("table.csv");
    workspace.write("table.csv", &good.replace(',', ";"));
    let run = workspace.run(TRAIN);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("set `delimiter` to ';'"), "{}", run.err);
    workspace.write("table.csv", &good.replace(',', ";").replace('.', ","));
    let run = workspace.run(&format!("{TRAIN} --delimiter ;"));
    assert_eq!(run.code, 3);
    assert!(run.err.contains("set `decimal` to ','"), "{}", run.err);
    let run = workspace.run(&format!("{TRAIN} --decimal ,"));
    assert_eq!(run.code, 2);
    assert!(run.err.contains("cannot both be a comma"), "{}", run.err);
    workspace.write(
        "table.csv",
        &good.replace(',', ";").replace(";0.25;", ";1.000,25;"),
    );
    let run = workspace.run(&format!("{TRAIN} --delimiter ; --decimal ,"));
    assert_eq!(run.code, 3);
    assert!(run.err.contains("no thousands separators"), "{}", run.err);
    workspace.write("table.csv", &good.replace(",0.25,", ",\"3,950\","));
    let run = workspace.run(TRAIN);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("thousands separators; write 3950, or set"),
        "{}",
        run.err
    );
    for (cell, words) in [
        ("1,234.5", "thousands separators; write 1234.5\n"),
        ("0,125", "write a decimal point and no thousands separators"),
        (
            "-0,500",
            "write a decimal point and no thousands separators",
        ),
    ] {
        workspace.write(
            "table.csv",
            &good.replace(",0.25,", &format!(",\"{cell}\",")),
        );
        let run = workspace.run(TRAIN);
        assert_eq!(run.code, 3);
        assert!(run.err.contains(words), "{cell}: {}", run.err);
    }
}

/// A column of whole numbers with gaps is written with decimals.
#[test]
fn nodes_may_be_written_with_decimals_of_zero() {
    let workspace = TestWorkspace::new();
    let problem = "kind = 'graph_path'\narcs = [[0, 1], [1, 2], [0, 2]]\ntarget = 2\n\
        source = { column = 'start' }\n";
    workspace.write("paths.toml", problem);
    workspace.write("point.csv", "start,0-1,1-2,0-2\n0.0,1.5,2,3\n1.0,1,2,4\n");
    workspace.write("comma.csv", "start;0-1;1-2;0-2\n0,0;1,5;2;3\n1,0;1;2;4\n");
    for dialect in ["point.csv", "comma.csv --delimiter ; --decimal ,"] {
        let label = "label --problem paths.toml --costs 0-1,1-2,0-2 --data";
        let run = workspace.run(&format!("{label} {dialect}")).succeeded();
        assert!(
            run.out.contains("optimal decisions of 2 rows"),
            "{}",
            run.out
        );
    }
}

#[test]
fn costs_of_forbidden_pairs_may_be_empty_beside_known_costs_too() {
    let workspace = TestWorkspace::new();
    let problem = "kind = 'assignment'\nagents = 2\ntasks = 2\nforbidden = [[0, 1]]\n";
    workspace.write("pairs.csv", "c0,c1,c2,c3\n1,,2,3\n4,,1,1\n");
    for known in ["", "known = [1, 2, 3, 4]\n"] {
        workspace.write("pairs.toml", &format!("{problem}{known}"));
        let label = "label --problem pairs.toml --costs c* --data pairs.csv --force";
        let run = workspace.run(label).succeeded();
        assert!(
            run.out.contains("optimal decisions of 2 rows"),
            "{}",
            run.out
        );
    }
}

#[test]
fn times_with_points_are_not_misread_where_the_decimal_mark_is_a_comma() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "p.toml",
        "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n",
    );
    let command = "train --method MAE(O,S) \
        --data t.csv --features x --costs c* --problem p.toml --split time:t \
        --delimiter ; --decimal ,";
    // The fourth time is a thousand and one, written with a thousands separator, or a date of
    // another format.
    for (time, words) in [
        ("1.001", "thousands separators; write 1001"),
        ("31.01.2026", "is no time"),
    ] {
        let rows = format!("t;x;c0;c1\n998;1;2;1\n999;2;1;2\n1000;3;2;3\n{time};4;1;1\n");
        workspace.write("t.csv", &rows);
        workspace
            .run(command)
            .failed(3, &["t.csv, row 5, column t", words]);
    }
}

#[test]
fn a_compressed_table_trains_the_same_model() {
    use std::io::Write;
    let workspace = workspace();
    workspace
        .run(&format!("{TRAIN} --out plain.safetensors"))
        .succeeded();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text = workspace.read("table.csv");
    gzip.write_all(text.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    let command = TRAIN.replace("table.csv", "packed.csv.gz");
    std::fs::write(workspace.path("packed.csv.gz"), &bytes).unwrap();
    workspace
        .run(&format!("{command} --out packed.safetensors"))
        .succeeded();
    assert_eq!(
        workspace.bytes("plain.safetensors"),
        workspace.bytes("packed.safetensors")
    );
    std::fs::write(workspace.path("packed.csv.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let run = workspace.run(&command);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("damaged or incomplete"), "{}", run.err);
}
