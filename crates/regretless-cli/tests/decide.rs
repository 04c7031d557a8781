//! Complete decisions: every column, keys, objectives, formats, standard input and output.
#![cfg(feature = "highs")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

mod common;

use common::{CommandOutput, TestWorkspace};

/// Two depots with fixed costs serve two towns; the costs of shipping are predicted.
const LP: &str = "minimize
 obj: ship_a1 + ship_a2 + ship_b1 + ship_b2 + 30 open_a + 25.5 open_b + 100 constant
subject to
 town1: ship_a1 + ship_b1 >= 3
 town2: ship_a2 + ship_b2 >= 4.5
 depot_a: ship_a1 + ship_a2 - 9 open_a <= 0
 depot_b: ship_b1 + ship_b2 - 8 open_b <= 0
 fixed: constant = 1
bounds
 constant free
binary
 open_a open_b
end
";

const SHIPS: [&str; 4] = ["ship_a1", "ship_a2", "ship_b1", "ship_b2"];
const ROWS: usize = 40;

fn date(row: usize) -> String {
    format!("2026-{:02}-{:02}", 1 + row / 28, 1 + row % 28)
}

/// A folder with a trained model and its table, keyed by date.
fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write("model.lp", LP);
    workspace.write(
        "problem.toml",
        "kind = 'linear'\nfile = 'model.lp'\ncosts = ['ship_*']\n",
    );
    let mut table = String::from("date,heat,ship_b2,ship_b1,ship_a2,ship_a1\n");
    for row in 0..ROWS {
        let heat = (row * 7 % 11) as f64;
        let costs = [2.0 + heat, 9.0, 5.0 + 0.5 * heat, 12.0 - heat];
        let cells: Vec<String> = costs.iter().map(f64::to_string).collect();
        table.push_str(&format!("{},{heat},{}\n", date(row), cells.join(",")));
    }
    workspace.write("table.csv", &table);
    workspace
        .run(
            "train --data table.csv --features heat --costs ship_* --problem problem.toml \
             --epochs 30 --method MSE --learning-rate 0.1 --out m.safetensors",
        )
        .succeeded();
    workspace
}

const DECIDE: &str = "decide --model m.safetensors --data table.csv";

type Row = BTreeMap<String, String>;

fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    let row = |line: &str| {
        let cells = line.split(',').map(String::from);
        names.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

fn value(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

/// Checks a complete decision against the constraints, and its objective against the costs.
fn check(decision: &Row, costs: &Row) {
    let [a1, a2, b1, b2] = SHIPS.map(|name| value(decision, name));
    let (open_a, open_b) = (value(decision, "open_a"), value(decision, "open_b"));
    let tolerance = 1e-6;
    assert!(
        a1 + b1 >= 3.0 - tolerance && a2 + b2 >= 4.5 - tolerance,
        "{decision:?}"
    );
    assert!(a1 + a2 <= 9.0 * open_a + tolerance, "{decision:?}");
    assert!(b1 + b2 <= 8.0 * open_b + tolerance, "{decision:?}");
    assert_eq!(decision["constant"], "1");
    let shipping: f64 = SHIPS
        .iter()
        .map(|name| value(decision, name) * value(costs, name))
        .sum();
    let objective = shipping + 30.0 * open_a + 25.5 * open_b + 100.0;
    assert!(
        (objective - value(decision, "objective")).abs() < 1e-4,
        "{decision:?}"
    );
    assert_eq!(decision["status"], "optimal");
}

#[test]
fn every_column_is_written_with_key_and_objective() {
    let workspace = workspace();
    workspace
        .run(&format!(
            "{DECIDE} --key date --out d.csv --predictions-out p.csv"
        ))
        .succeeded();
    let text = workspace.read("d.csv");
    let header = "date,objective,status,ship_a1,ship_a2,ship_b1,ship_b2,open_a,open_b,constant\n";
    assert!(text.starts_with(header), "{text}");
    let (decisions, costs) = (rows(&text), rows(&workspace.read("p.csv")));
    assert_eq!(decisions.len(), ROWS);
    for (number, (decision, costs)) in decisions.iter().zip(&costs).enumerate() {
        assert_eq!(decision["date"], date(number));
        check(decision, costs);
    }
    let opened = |name: &str| decisions.iter().filter(|row| row[name] == "1").count();
    assert!(opened("open_a") > 0 && opened("open_b") > 0, "{text}");
    // Without --key, rows are numbered.
    workspace.run(&format!("{DECIDE} --out n.csv")).succeeded();
    assert_eq!(rows(&workspace.read("n.csv"))[39]["instance"], "39");
}

#[test]
fn all_formats_hold_the_same_values() {
    let workspace = workspace();
    for out in [
        "d.csv",
        "d.jsonl --key date",
        "s.jsonl --sparse",
        "s.csv --sparse",
        "d.npy",
    ] {
        workspace.run(&format!("{DECIDE} --out {out}")).succeeded();
    }
    let dense = rows(&workspace.read("d.csv"));
    let names: Vec<&str> = SHIPS
        .into_iter()
        .chain(["open_a", "open_b", "constant"])
        .collect();
    let lines = |file: &str| -> Vec<serde_json::Value> {
        let text = workspace.read(file);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let sparse_rows = rows(&workspace.read("s.csv"));
    let (objects, sparse) = (lines("d.jsonl"), lines("s.jsonl"));
    let array = workspace.bytes("d.npy");
    let numbers: Vec<f64> = array[array.len() - 8 * ROWS * names.len()..]
        .chunks(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    for (number, row) in dense.iter().enumerate() {
        assert_eq!(objects[number]["key"], date(number));
        assert_eq!(objects[number]["objective"], value(row, "objective"));
        assert_eq!(objects[number]["bound"], objects[number]["objective"]);
        let mut nonzero = 0;
        for (column, name) in names.iter().enumerate() {
            let expected = value(row, name);
            assert_eq!(objects[number]["values"][name], expected);
            assert_eq!(numbers[number * names.len() + column], expected);
            if expected == 0.0 {
                assert!(sparse[number]["values"].get(name).is_none());
                continue;
            }
            nonzero += 1;
            assert_eq!(sparse[number]["values"][name], expected);
            let entry = sparse_rows
                .iter()
                .find(|entry| entry["instance"] == number.to_string() && entry["column"] == *name);
            assert_eq!(entry.unwrap()["value"], row[*name]);
        }
        let found = sparse_rows
            .iter()
            .filter(|entry| entry["instance"] == number.to_string());
        assert_eq!(found.count(), nonzero);
    }
}

/// Runs the program with this standard input.
fn piped(workspace: &TestWorkspace, words: &str, input: &[u8]) -> (CommandOutput, Vec<u8>) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(workspace.path("."))
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // The program may end before it has read everything.
    let _ = writer.join().unwrap();
    let found = CommandOutput {
        code: output.status.code().unwrap_or(-1),
        out: String::new(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    (found, output.stdout)
}

#[test]
fn standard_input_and_output_are_files_called_dash() {
    let workspace = workspace();
    let table = workspace.bytes("table.csv");
    for format in ["csv", "jsonl", "npy"] {
        let key = if format == "npy" { "" } else { "--key date" };
        workspace
            .run(&format!("{DECIDE} {key} --out d.{format}"))
            .succeeded();
        let words =
            format!("decide --model m.safetensors --data - {key} --out - --format {format} --json");
        let (output, out) = piped(&workspace, &words, &table);
        assert_eq!(output.code, 0, "{}", output.err);
        assert_eq!(out, workspace.bytes(&format!("d.{format}")), "{format}");
        let report: serde_json::Value = serde_json::from_str(&output.err).unwrap();
        assert_eq!(report["instances"], ROWS, "the report is on standard error");
    }
    // CSV is the default, and an array is recognized.
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, 1), }}");
    array.extend(format!("{header:<117}\n").bytes());
    for row in rows(&workspace.read("table.csv")) {
        array.extend((value(&row, "heat") as f32).to_le_bytes());
    }
    let words = "decide --model m.safetensors --data - --out -";
    let (output, out) = piped(&workspace, words, &array);
    assert_eq!(output.code, 0, "{}", output.err);
    workspace.run(&format!("{DECIDE} --out n.csv")).succeeded();
    assert_eq!(out, workspace.bytes("n.csv"));
    assert!(
        output
            .err
            .contains("40 decisions written to standard output"),
        "{}",
        output.err
    );
    let (quiet, _) = piped(&workspace, &format!("{words} --quiet"), &table);
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
}

#[test]
fn errors_of_standard_input_name_it_and_write_nothing() {
    let workspace = workspace();
    let words = "decide --model m.safetensors --data - --out -";
    for (input, expected) in [
        ("heat\n1\nwarm\n", "standard input, row 3, column heat"),
        ("cold\n1\n", "standard input, row 1, column heat"),
        ("", "standard input: the file is empty"),
    ] {
        let (output, out) = piped(&workspace, words, input.as_bytes());
        assert_eq!((output.code, out), (3, Vec::new()), "{}", output.err);
        assert!(output.err.contains(expected), "{}", output.err);
    }
    let (output, out) = piped(&workspace, &format!("{words} --key day"), b"heat\n1\n");
    assert_eq!((output.code, out), (3, Vec::new()), "{}", output.err);
    assert!(output.err.contains("column day"), "{}", output.err);
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let workspace = workspace();
    // More than a pipe holds.
    let mut table = String::from("heat\n");
    for row in 0..3_000 {
        table.push_str(&format!("{}\n", row % 10));
    }
    workspace.write("long.csv", &table);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("regretless"))
        .current_dir(workspace.path("."))
        .args("decide --model m.safetensors --data long.csv --out -".split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (&first, output.status.code()),
        (b"instance,o", Some(0)),
        "{err}"
    );
    assert!(!err.contains("error"), "{err}");
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let workspace = workspace();
    let refuse = |words: &str, expected: &[&str]| {
        workspace
            .run(&format!("{DECIDE} {words}"))
            .failed(2, expected);
    };
    refuse("--out d.npy --sparse", &["--sparse"]);
    refuse("--out d.npy --key date", &["numbers only"]);
    refuse("--out d.txt", &[".csv, .npy or .jsonl", "--format"]);
    refuse(
        "--out d.csv --predictions-out -",
        &["--predictions-out needs a file"],
    );
    workspace
        .run(&format!("{DECIDE} --out d.csv --key day"))
        .failed(3, &["table.csv", "column day", "no such column"]);
    workspace
        .run(&format!("{DECIDE} --out d.txt --format jsonl"))
        .succeeded();
    assert!(workspace.read("d.txt").starts_with("{\"key\":\"0\""));
    workspace
        .run(&format!("{DECIDE} --out d.txt --format jsonl"))
        .failed(3, &["d.txt", "exists"]);
}

#[test]
fn several_rows_of_one_key_are_kept_with_a_note() {
    let workspace = workspace();
    let twice = workspace.read("table.csv").replace(&date(1), &date(0));
    workspace.write("twice.csv", &twice);
    let output = workspace
        .run("decide --model m.safetensors --data twice.csv --key date --out d.csv")
        .succeeded();
    assert!(
        output.err.contains("2 instances have the key '2026-01-01'"),
        "{}",
        output.err
    );
    let keys: Vec<String> = rows(&workspace.read("d.csv"))
        .into_iter()
        .map(|row| row["date"].clone())
        .collect();
    assert_eq!((keys.len(), &keys[0], &keys[1]), (ROWS, &keys[1], &keys[0]));
}

#[test]
fn an_evaluation_writes_its_rows() {
    let workspace = workspace();
    let evaluate = "evaluate --model m.safetensors --data table.csv --json";
    let report = workspace
        .run(&format!("{evaluate} --rows-out r.csv --key date"))
        .json();
    workspace.run(&format!("{DECIDE} --out d.csv")).succeeded();
    let (found, decisions) = (
        rows(&workspace.read("r.csv")),
        rows(&workspace.read("d.csv")),
    );
    let truth = rows(&workspace.read("table.csv"));
    let (mut regret, mut relative) = (0.0, 0.0);
    for (number, row) in found.iter().enumerate() {
        assert_eq!(row["date"], date(number));
        let (objective, best) = (value(row, "objective"), value(row, "optimal_objective"));
        let decision = &decisions[number];
        let fixed = 30.0 * value(decision, "open_a") + 25.5 * value(decision, "open_b") + 100.0;
        let shipping: f64 = SHIPS
            .iter()
            .map(|name| value(decision, name) * value(&truth[number], name))
            .sum();
        assert!((objective - shipping - fixed).abs() < 1e-6, "{row:?}");
        assert!(
            (value(row, "regret") - (objective - best)).abs() < 1e-9 * best,
            "{row:?}"
        );
        assert!((value(row, "relative_regret") - value(row, "regret") / best).abs() < 1e-12);
        assert_eq!(
            (&*row["decision_status"], &*row["label_status"]),
            ("optimal", "optimal")
        );
        regret += value(row, "regret") / ROWS as f64;
        relative += value(row, "relative_regret") / ROWS as f64;
    }
    assert!(
        (regret - report["regret"].as_f64().unwrap()).abs() < 1e-9,
        "{report}"
    );
    assert!(
        (relative - report["relative_regret"].as_f64().unwrap()).abs() < 1e-9,
        "{report}"
    );
    assert_eq!(report["rows"], "r.csv");
    let output = workspace
        .run("evaluate --model m.safetensors --data table.csv --rows-out - --key date")
        .succeeded();
    assert_eq!(output.out, workspace.read("r.csv"));
    assert!(output.err.contains("mean regret"), "{}", output.err);
    workspace
        .run(&format!("{evaluate} --rows-out r.jsonl"))
        .succeeded();
    let lines = workspace.read("r.jsonl");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["key"], &last["label_status"]),
        (&"39".into(), &"optimal".into())
    );
    assert_eq!(last["regret"], value(&found[39], "regret"));
    workspace
        .run("evaluate --model m.safetensors --data table.csv --rows-out r.npy")
        .failed(2, &["numbers only"]);
    workspace
        .run("evaluate --model m.safetensors --data table.csv --key date")
        .failed(2, &["--rows-out"]);
}
