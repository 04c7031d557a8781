//! Names and cells from untrusted files: they cannot leave their folder, and are escaped for
//! terminals and spreadsheets.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;

/// A minimal experiment with this name and this name of its second method.
fn experiment(name: &str, method_name: &str) -> String {
    // JSON escapes of strings are escapes of TOML too.
    let [name, method_name] = [name, method_name].map(|text| serde_json::to_string(text).unwrap());
    format!(
        r#"
name = {name}
title = "t"
seeds = 1
methods = ["MSE", {{ name = {method_name}, method = "MAE" }}]
problems = [{{ name = "KS8", split = [20, 10, 10] }}]
[training]
epochs = 1
"#
    )
}

#[test]
fn an_experiment_whose_name_leaves_the_folder_is_refused_before_anything_is_written() {
    let workspace = TestWorkspace::new();
    std::fs::create_dir(workspace.path("victim")).unwrap();
    workspace.write("victim/report.html", "mine");
    let absolute = workspace.path("victim").to_str().unwrap().to_owned();
    for name in [
        "../victim",
        absolute.as_str(),
        "..",
        ".",
        "",
        "a/b",
        "a\\b",
        "a\u{0}b",
        "a\u{1b}[31m",
        "a\nb",
        &"n".repeat(10_000),
    ] {
        workspace.write("e.toml", &experiment(name, "x"));
        workspace
            .run("reproduce e.toml --out runs")
            .failed(2, &["the experiment", "folder"]);
    }
    assert_eq!(workspace.read("victim/report.html"), "mine");
    assert_eq!(
        workspace.files(),
        ["e.toml", "victim"],
        "no folder was made"
    );
}

#[test]
fn a_long_method_name_is_run_and_reported() {
    let workspace = TestWorkspace::new();
    workspace.write("e.toml", &experiment("e", &"l".repeat(10_000)));
    workspace.run("reproduce e.toml --out runs").succeeded();
    assert_eq!(
        std::fs::read_dir(workspace.path("runs/e/cells/KS8"))
            .unwrap()
            .count(),
        3,
        "two cells and the context of their problem"
    );
}

#[test]
fn method_names_that_look_like_formulas_are_escaped_in_tables() {
    let workspace = TestWorkspace::new();
    workspace.write("e.toml", &experiment("e", "=cmd|' /c calc'!A1"));
    workspace.run("reproduce e.toml --out runs").succeeded();
    for file in ["runs/e/cells.csv", "runs/e/summary.csv"] {
        let text = workspace.read(file);
        assert!(text.contains("KS8,'=cmd|"), "{file}: {text}");
        assert!(!text.contains(",=cmd"), "{file}: {text}");
    }
}

/// No control character except line breaks.
fn assert_plain(text: &str) {
    let wrong = text
        .chars()
        .find(|c| *c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(c)));
    assert_eq!(wrong, None, "{text:?}");
}

const ESCAPE: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}";

#[test]
fn cells_columns_files_and_method_names_are_printed_escaped() {
    let workspace = TestWorkspace::new();
    workspace.write(
        "problem.toml",
        "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n",
    );
    let train = [
        "train",
        "--costs",
        "c*",
        "--problem",
        "problem.toml",
        "--data",
    ];
    let refused = |table: &str, file: &str, words: &[&str]| {
        workspace.write(file, table);
        let mut line = train.to_vec();
        line.push(file);
        let output = workspace.run_words(&line);
        assert_plain(&output.err);
        output.failed(3, words);
    };
    refused(
        &format!("x,c0,c1\n1,2,3\n1,{ESCAPE},3\n"),
        "t.csv",
        &["\\u{1b}]0;owned\\u{7}"],
    );
    refused(
        &format!("x,c0,c{ESCAPE}\n1,2,3\n1,2,high\n"),
        "t.csv",
        &["column c\\u{1b}"],
    );
    refused(
        "x,c0,c1\n1,2,3\n1,\"high\nerror: all is lost\",3\n",
        "t.csv",
        &["high\\nerror"],
    );
    refused(
        "x,c0,c1\n1,2,3\n1,high,3\n",
        &format!("t{ESCAPE}\nx.csv"),
        &["t\\u{1b}", "\\nx.csv"],
    );

    workspace.write("e.toml", &experiment("e", &format!("m{ESCAPE}\nfake line")));
    let output = workspace.run("reproduce e.toml --out runs").succeeded();
    assert_plain(&output.out);
    assert!(
        output.out.contains("m\\u{1b}") && output.out.contains("\\nfake line"),
        "{}",
        output.out
    );
    let json = workspace
        .run("reproduce e.toml --out runs --json")
        .succeeded();
    assert_plain(&json.out);
    let output: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let name = &output[0]["results"]["problems"][0]["methods"][1]["name"];
    assert_eq!(
        name.as_str().unwrap(),
        format!("m{ESCAPE}\nfake line"),
        "JSON keeps the label itself"
    );
}

#[test]
fn sizes_that_no_machine_has_are_refused() {
    let workspace = TestWorkspace::new();
    let train = "train --benchmark KS8 --split 20,10,10 --epochs 1 --method MAE(O,S)";
    workspace
        .run("train --benchmark KS8 --epochs 1 --split 18446744073709551615,1,1")
        .failed(2, &["more than"]);
    workspace
        .run(&format!("{train} --predictor mlp:100000,100000"))
        .failed(2, &["parameters", "hidden layers"]);
    workspace
        .run(&format!("{train} --predictor mlp:1000000000000"))
        .failed(2, &["parameters", "hidden layers"]);
    for threads in ["65536", "1000000000000000000"] {
        workspace
            .run(&format!("{train} --threads {threads}"))
            .failed(2, &["threads", "allowed"]);
    }
    for benchmark in [
        "SP100000x100000",
        "TSP65535",
        "CVRP65535",
        "KS18446744073709551615",
        "SP4294967296x4294967296",
    ] {
        let what = if benchmark.starts_with("KS") {
            "items"
        } else {
            "nodes"
        };
        workspace
            .run(&format!(
                "generate --benchmark {benchmark} --instances 1 --out d"
            ))
            .failed(2, &[what]);
    }
    workspace
        .run("generate --benchmark KS8 --instances 9223372036854775808 --out d")
        .failed(2, &["allowed"]);
    workspace
        .run("generate --benchmark KS8 --instances 1000000000000 --out d")
        .failed(2, &["allowed"]);
    workspace
        .run("generate --benchmark KS8 --instances 2 --features 1000000000000 --out d")
        .failed(2, &["allowed"]);
    assert!(workspace.files().is_empty(), "{:?}", workspace.files());
}

#[test]
fn a_batch_has_at_most_all_rows() {
    let workspace = TestWorkspace::new();
    for batch in ["20", "100000000000", "1000000000000000000"] {
        for (name, loss) in [("fused", "MAE(O,S)"), ("plain", "SPO+")] {
            let train = "train --benchmark KS8 --split 20,10,10 --epochs 2";
            workspace
                .run(&format!(
                    "{train} --method {loss} --batch-size {batch} --out {name}-{batch}.safetensors"
                ))
                .succeeded();
            // The arrays behind the header, which records the batch size.
            let arrays = |batch: &str| {
                let bytes = workspace.bytes(&format!("{name}-{batch}.safetensors"));
                let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                bytes[8 + header as usize..].to_vec()
            };
            assert_eq!(
                arrays(batch),
                arrays("20"),
                "{name} with batches of {batch}"
            );
        }
    }
}

#[test]
fn a_short_routing_file_cannot_request_much_memory() {
    let workspace = TestWorkspace::new();
    let head = "NAME: t\nTYPE: TSP\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n";
    workspace.write(
        "big.tsp",
        &format!("{head}DIMENSION: 65535\nEDGE_WEIGHT_SECTION\n1 2 3\nEOF\n"),
    );
    workspace
        .run("solve big.tsp")
        .refused(3, &["big.tsp, row 5", "20000"]);
    workspace.write(
        "large.tsp",
        &format!("{head}DIMENSION: 20000\nEDGE_WEIGHT_SECTION\n1 2 3\n"),
    );
    workspace
        .run("solve large.tsp")
        .refused(3, &["large.tsp, row 6", "3 of 400000000 weights"]);
}

const LABEL: &str = "label --data table.csv --costs c* --problem problem.toml";

#[test]
fn invalid_times_are_refused() {
    let workspace = TestWorkspace::with_knapsack();
    for time in ["nan", "inf", "-1", "1e300"] {
        workspace
            .run(&format!("{LABEL} --checkpoint-interval={time}"))
            .refused(2, &["checkpoint-interval", "seconds from 0"]);
        workspace.write("s.toml", &format!("checkpoint_interval = {time}\n"));
        workspace
            .run(&format!("{LABEL} --config s.toml"))
            .failed(2, &["s.toml", "checkpoint_interval", "seconds from 0"]);
    }
    workspace
        .run(&format!("{LABEL} --checkpoint-interval 0"))
        .succeeded();
}

#[test]
fn labels_that_could_not_be_stored_are_a_failure() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.write("table.csv.labels", "a file in the folder's place");
    let output = workspace.run(&format!("{LABEL} --json"));
    assert_eq!(output.code, 3, "{}", output.err);
    assert!(
        output.err.contains("table.csv.labels") && output.err.contains("could not be written"),
        "{}",
        output.err
    );
    let output: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert!(
        output["labels"].is_null() && output["rows"] == 60,
        "{output}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_utf8_is_labeled_but_refused_for_training() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let workspace = TestWorkspace::with_knapsack();
    let name = OsString::from_vec(b"bad\xff.csv".to_vec());
    let folder = workspace.path(".");
    std::fs::rename(workspace.path("table.csv"), folder.join(&name)).unwrap();
    let words = |command: &str| -> Vec<OsString> {
        let mut words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        words.push(name.clone());
        words
    };
    let output = workspace
        .run_words(&words(
            "label --json --costs c* --problem problem.toml --data",
        ))
        .json();
    assert!(
        output["labels"].as_str().unwrap().contains("bad"),
        "{output}"
    );
    let train = words("train --method MAE(O,S) --costs c* --problem problem.toml --data");
    workspace.run_words(&train).failed(3, &["bad", "not UTF-8"]);
}

#[test]
fn an_error_in_a_problem_file_names_the_file_once() {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", "x,c1,c2\n1,2,3\n");
    // A syntax error, and a problem that cannot be built.
    let no_toml = "Minimize\n obj: c1 + c2\nEnd\n";
    let too_many = "kind = \"top_k\"\nitems = 2\nk = 6\nsense = \"minimize\"\n";
    for content in [no_toml, too_many] {
        workspace.write("problem.toml", content);
        let output = workspace.run(
            "train --data table.csv --costs c* --problem problem.toml --method MSE --out m.st",
        );
        assert_eq!(output.code, 2, "{}", output.err);
        let mentions = output.err.matches("problem.toml").count();
        assert_eq!(mentions, 1, "{}", output.err);
    }
}
