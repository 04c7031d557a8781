//! `reproduce`: cells are run once, resumed and sharded, and failures are reported.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{TestWorkspace, killed_after, kills, moment};
use serde_json::Value;

const SMALL: &str = r#"
name = "small"
title = "Two methods, two problems"
seeds = 2
side_by_side = true
methods = [
    "MSE",
    "MAE(O,S)",
    "LAVA",
    { name = "fast", method = "SPO+ lr 0.1", training = { epochs = 2 } },
]
problems = [
    { name = "KS8", split = [30, 10, 10] },
    { name = "TSP6", split = [30, 10, 10], seeds = 1 },
]
[training]
epochs = 3
[published.KS8]
"MAE(O,S)" = { ratio = 0.5, sd = 0.1 }
"#;

/// Every cell's file by name, without seconds, which differ between runs.
fn cells(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for problem in fs::read_dir(folder.join("cells")).unwrap() {
        for file in fs::read_dir(problem.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            // A run that is killed while it writes leaves its temporary file.
            if path.extension().is_some_and(|extension| extension == "tmp") {
                continue;
            }
            let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            forget_seconds(&mut value);
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_string();
            found.insert(name, value.to_string());
        }
    }
    found
}

fn forget_seconds(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // The Pareto front depends on measured times.
            map.retain(|name, _| !name.ends_with("seconds") && name != "on_front");
            map.values_mut().for_each(forget_seconds);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_seconds),
        _ => {}
    }
}

#[test]
fn an_experiment_runs_every_cell_once() {
    let workspace = TestWorkspace::new();
    workspace.write("small.toml", SMALL);
    let output = workspace.run("reproduce small.toml --json").succeeded();
    let output: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(output[0]["missing"], 0);
    let problems = output[0]["results"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2);
    let (sack, tour) = (&problems[0]["methods"], &problems[1]["methods"]);
    assert_eq!(sack[1]["seeds"].as_array().unwrap().len(), 2);
    assert_eq!(sack[1]["published"]["ratio"], 0.5);
    assert_eq!(sack[0]["ratio"]["mean"], 1.0);
    assert!(
        tour[2]["note"]
            .as_str()
            .unwrap()
            .contains("adjacent vertices"),
        "{}",
        tour[2]["note"]
    );
    assert_eq!(
        problems[1]["layout"]["positions"].as_array().unwrap().len(),
        6
    );
    let (first, times) = (
        cells(&workspace.path("runs/small")),
        modified(&workspace.path("runs/small")),
    );
    assert_eq!(
        first.len(),
        4 * 3 + 3,
        "a file per cell and one per problem and seed"
    );
    workspace.run("reproduce small.toml").succeeded();
    assert_eq!(
        modified(&workspace.path("runs/small")),
        times,
        "nothing was run again"
    );
}

fn modified(folder: &Path) -> Vec<std::time::SystemTime> {
    let problems = fs::read_dir(folder.join("cells")).unwrap();
    let files = problems.flat_map(|problem| fs::read_dir(problem.unwrap().path()).unwrap());
    let mut times: Vec<_> = files
        .map(|file| file.unwrap().metadata().unwrap().modified().unwrap())
        .collect();
    times.sort();
    times
}

#[test]
fn shards_threads_and_damaged_cells_do_not_change_the_cells() {
    let (whole, parts) = (TestWorkspace::new(), TestWorkspace::new());
    for workspace in [&whole, &parts] {
        workspace.write("small.toml", SMALL);
    }
    whole.run("reproduce small.toml --threads 1").succeeded();
    parts
        .run("reproduce small.toml --shard 1/2 --threads 2")
        .succeeded();
    parts.run("reproduce small.toml --shard 2/2").succeeded();
    let expected = cells(&whole.path("runs/small"));
    assert_eq!(cells(&parts.path("runs/small")), expected);
    for (number, name) in expected.keys().enumerate() {
        let file = parts.path("runs/small").join(name);
        if name.contains("context-") {
            continue;
        }
        if number % 2 == 0 {
            fs::remove_file(&file).unwrap();
        } else {
            fs::write(&file, "{\"key\": 3").unwrap();
        }
    }
    parts.run("reproduce small.toml").succeeded();
    assert_eq!(cells(&parts.path("runs/small")), expected);
}

fn results(folder: &Path) -> Value {
    let mut value =
        serde_json::from_slice(&fs::read(folder.join("results.json")).unwrap()).unwrap();
    forget_seconds(&mut value);
    value
}

#[test]
fn an_experiment_killed_repeatedly_finishes_with_the_same_results() {
    let (whole, killed) = (TestWorkspace::new(), TestWorkspace::new());
    let words = "reproduce small.toml --threads 2";
    for workspace in [&whole, &killed] {
        workspace.write("small.toml", &SMALL.replace("epochs = 3", "epochs = 40"));
    }
    let begun = std::time::Instant::now();
    whole.run(words).succeeded();
    let max = u64::try_from(begun.elapsed().as_millis()).unwrap().max(20);
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let (folder, expected) = (killed.path("runs/small"), cells(&whole.path("runs/small")));
    let mut interrupted = 0;
    for kill in 0..kills() {
        interrupted += u64::from(killed_after(&killed, &words, moment(kill + 1, max)));
        if kill % 5 == 4 {
            killed.run_words(&words).succeeded();
            assert_eq!(cells(&folder), expected);
            assert_eq!(results(&folder), results(&whole.path("runs/small")));
            fs::remove_dir_all(killed.path("runs")).unwrap();
        }
    }
    killed.run_words(&words).succeeded();
    assert_eq!(cells(&folder), expected);
    assert_eq!(results(&folder), results(&whole.path("runs/small")));
    assert!(
        interrupted > kills() / 4,
        "only {interrupted} runs were killed at work"
    );
}

#[test]
fn a_changed_setting_is_a_new_cell_and_a_time_budget_leaves_cells_missing() {
    let workspace = TestWorkspace::new();
    workspace.write("small.toml", SMALL);
    let output = workspace
        .run("reproduce small.toml --time-budget 0s --json")
        .succeeded();
    let output: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(output[0]["missing"], 12);
    workspace
        .run("reproduce small.toml --only KS8;MAE(O,S) --seeds 1")
        .succeeded();
    assert_eq!(cells(&workspace.path("runs/small")).len(), 2 + 1);
    workspace.write("small.toml", &SMALL.replace("epochs = 3", "epochs = 4"));
    workspace
        .run("reproduce small.toml --only KS8;MAE(O,S) --seeds 1")
        .succeeded();
    assert_eq!(cells(&workspace.path("runs/small")).len(), 4 + 1);
}

#[test]
fn errors_in_an_experiment_are_reported() {
    let workspace = TestWorkspace::new();
    let output = |from: &str, to: &str| {
        workspace.write("bad.toml", &SMALL.replace(from, to));
        let output = workspace.run("reproduce bad.toml");
        assert_eq!(output.code, 2, "{}", output.err);
        output.err
    };
    assert!(output("\"MSE\",\n    ", "").contains("reference"));
    assert!(
        output("\"LAVA\"", "\"LAVE\"").contains("LAV"),
        "{}",
        output("\"LAVA\"", "\"LAVE\"")
    );
    assert!(output("\"LAVA\"", "\"MSE\"").contains("twice"));
    assert!(output("epochs = 3", "epoch = 3").contains("epoch"));
    assert!(output("\"KS8\", split", "\"QAP8\", split").contains("QAP8"));
    assert!(output("seeds = 2", "seed = 2").contains("seed"));
    assert!(output("seeds = 2\n", "seeds = 2\nequal_seconds = -1\n").contains("equal_seconds"));
    let named = output("seeds = 1 }", "seeds = 1, methods = [\"MSE\", \"quick\"] }");
    assert!(
        named.contains("TSP6") && named.contains("quick") && named.contains("fast"),
        "{named}"
    );
    let output = workspace.run("reproduce nothing");
    assert!(
        output.code == 2 && output.err.contains("components"),
        "{}",
        output.err
    );
    let output = workspace.run("reproduce components --only TSP99");
    assert!(
        output.code == 2 && output.err.contains("SP5x5"),
        "{}",
        output.err
    );
}

#[test]
fn a_problem_runs_the_methods_it_names_and_experiments_share_labels() {
    let workspace = TestWorkspace::new();
    let named = SMALL.replace("seeds = 1 }", "seeds = 1, methods = [\"fast\"] }");
    workspace.write("small.toml", &named);
    let output: Value =
        serde_json::from_str(&workspace.run("reproduce small.toml --json").succeeded().out)
            .unwrap();
    let methods = output[0]["results"]["problems"][1]["methods"]
        .as_array()
        .unwrap();
    let labels: Vec<&str> = methods
        .iter()
        .map(|method| method["name"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["MSE", "fast"], "the reference and what is named");
    let written = || fs::read_dir(workspace.path("runs/labels")).unwrap().count();
    assert_eq!(written(), 3);
    let times = |name: &str| {
        let folder = fs::read_dir(workspace.path("runs/labels").join(name)).unwrap();
        folder
            .map(|file| file.unwrap().metadata().unwrap().modified().unwrap())
            .collect::<Vec<_>>()
    };
    let before = times("KS8-0.labels");
    workspace.write(
        "other.toml",
        &named.replace("name = \"small\"", "name = \"other\""),
    );
    workspace.run("reproduce other.toml").succeeded();
    assert_eq!(
        (written(), times("KS8-0.labels")),
        (3, before),
        "nothing was labeled again"
    );
}

#[test]
fn experiments_that_are_built_in_can_be_shown() {
    let workspace = TestWorkspace::new();
    let text = workspace.run("reproduce scale --show").succeeded().out;
    assert!(text.contains("CAKS1000") && text.contains("[published.TSP1000]"));
}

/// Names of the smoke tests of all experiment files of the library, sorted.
fn built_in_smoke_tests() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../regretless-study/experiments");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .map(|path| format!("{}-smoke", path.file_stem().unwrap().to_str().unwrap()))
        .collect();
    names.sort();
    names
}

/// A path of the repository's reference data.
fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(name);
    assert!(path.exists(), "{} is missing", path.display());
    path.to_str().unwrap().to_owned()
}

/// Tours and routes of the experiments have none; all others are knapsacks.
fn has_adjacent_vertices(problem: &str) -> bool {
    !problem.starts_with("TSP") && !problem.starts_with("CVRP")
}

#[test]
fn data_of_a_clone_are_found_from_any_of_its_folders() {
    let workspace = TestWorkspace::new();
    let words = [
        "reproduce",
        "energy",
        "--smoke",
        "--seeds",
        "1",
        "--only",
        "ENERGYKS60;MSE",
    ];
    let mut command = assert_cmd::Command::cargo_bin("regretless").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(words).arg("--out").arg(workspace.path("runs"));
    command.assert().success();
}

#[test]
fn an_experiment_whose_data_are_missing_says_so_once_per_problem() {
    let workspace = TestWorkspace::new();
    let output = workspace.run("reproduce energy --smoke --seeds 1 --only ENERGYKS60");
    assert_eq!(output.code, 2, "{}{}", output.out, output.err);
    assert_eq!(
        output.out.matches("testdata/energy").count(),
        1,
        "{}",
        output.out
    );
    assert!(output.err.contains("testdata/energy"), "{}", output.err);
}

/// Runs the scoreboard with the tasks of the repository.
fn run_scoreboard(workspace: &TestWorkspace, words: &[&str]) -> common::CommandOutput {
    let folder = testdata("scoreboard");
    let fixed = [
        "reproduce",
        "scoreboard",
        "--seeds",
        "1",
        "--scoreboard",
        &folder,
    ];
    workspace.run_words(&[&fixed, words].concat())
}

#[test]
fn the_scoreboard_has_published_results_next_to_ours() {
    let workspace = TestWorkspace::new();
    let words = ["--only", "cubic;knapsack", "--methods", "MSE;MAE(O,S)"];
    let text = run_scoreboard(&workspace, &words).succeeded().out;
    assert!(text.contains("Mean ranks over 2 tasks"), "{text}");
    let folder = workspace.path("runs/scoreboard");
    let csv = fs::read_to_string(folder.join("scoreboard.csv")).unwrap();
    assert!(
        csv.contains("knapsack,mse,0,0.053696819496076006,published\n"),
        "{csv}"
    );
    let ours: Vec<&str> = csv.lines().filter(|line| line.ends_with(",ours")).collect();
    assert_eq!(ours.len(), 2 * 4, "two tasks, two methods, two predictors");
    // A network learns the cubic function, a linear predictor does not.
    let regret = |method: &str| {
        let start = format!("cubic,\"{method}\",0,");
        let mut lines = ours.iter();
        let rest = lines.find_map(|line| line.strip_prefix(&start)).unwrap();
        rest.strip_suffix(",ours").unwrap().parse::<f64>().unwrap()
    };
    assert!(regret("MSE, mlp:64") < 0.1 * regret("MSE, linear"), "{csv}");
    let page = workspace.read("runs/scoreboard/report.html");
    for part in [
        "Which methods differ",
        "Mean ranks over 2 tasks",
        "data-problem=\"1\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(folder.join("figures/critical-difference.svg").exists());
    let times = modified(&folder);
    run_scoreboard(&workspace, &words).succeeded();
    assert_eq!(modified(&folder), times, "nothing was run again");
}

#[test]
fn a_task_without_data_is_reported_and_the_others_run() {
    let workspace = TestWorkspace::new();
    let words = ["--only", "asurv;cubic", "--methods", "MSE"];
    let output = run_scoreboard(&workspace, &words).succeeded();
    assert_eq!(
        output.out.matches("asurv needs asurv/features.npy").count(),
        1,
        "{}",
        output.out
    );
    assert!(output.out.contains("openpto/data/asurv"), "{}", output.out);
    let csv = workspace.read("runs/scoreboard/scoreboard.csv");
    assert!(
        csv.lines()
            .any(|line| line.starts_with("cubic") && line.ends_with(",ours"))
    );
    let page = workspace.read("runs/scoreboard/report.html");
    assert!(page.contains("asurv needs asurv/features.npy"));
}

#[test]
fn all_built_in_experiments_pass_the_smoke_test() {
    let workspace = TestWorkspace::new();
    let [california, energy, scoreboard] =
        ["california/cal_housing.csv", "energy", "scoreboard"].map(testdata);
    let output = workspace
        .run_words(&[
            "reproduce",
            "--scoreboard",
            &scoreboard,
            "--smoke",
            "--seeds",
            "1",
            "--json",
            "--california",
            &california,
            "--energy",
            &energy,
        ])
        .succeeded();
    let output: Value = serde_json::from_str(&output.out).unwrap();
    let experiments = output.as_array().unwrap();
    let mut names: Vec<&str> = experiments
        .iter()
        .map(|experiment| experiment["results"]["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, built_in_smoke_tests());
    for experiment in experiments {
        assert_eq!(experiment["results"]["is_smoke_test"], true);
        let folder = format!("runs/{}", experiment["results"]["name"].as_str().unwrap());
        let page = workspace.read(&format!("{folder}/report.html"));
        assert!(
            page.contains("<h1>Smoke test: ") && page.contains("Nothing is learned"),
            "{folder}"
        );
        assert!(
            !page.contains("<ul class=\"winners\"><li>") && !page.contains("id=\"overview\""),
            "{folder}"
        );
        assert!(
            !page.contains("beats MSE") && !page.contains("50 epochs on 1000 rows"),
            "{folder}"
        );
        for problem in experiment["results"]["problems"].as_array().unwrap() {
            for method in problem["methods"].as_array().unwrap() {
                let (problem_name, name) = (
                    problem["name"].as_str().unwrap(),
                    method["name"].as_str().unwrap(),
                );
                let is_impossible = name == "LAVA" && !has_adjacent_vertices(problem_name);
                assert_eq!(
                    method["note"].is_null(),
                    !is_impossible,
                    "{name} on {problem_name}: {}",
                    method["note"]
                );
                assert!(
                    method["ratio"]["mean"].is_null(),
                    "{name} on {problem_name} has a ratio"
                );
            }
        }
    }
}
