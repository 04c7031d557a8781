//! Comparisons of methods.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;

const SMALL: &str = "compare --benchmark SP4x4 --seeds 2 --split 60,20,20 --epochs 3";

/// The lines of a CSV file without the last column, which is seconds.
fn without_seconds(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.rsplit_once(',').unwrap().0)
        .collect()
}

/// The lines of results.jsonl without seconds, sorted.
fn runs(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut run: serde_json::Value = serde_json::from_str(line).unwrap();
            let metrics = &mut run["outcome"]["done"];
            assert!(metrics["seconds"].is_number());
            (metrics["seconds"], metrics["cpu_seconds"]) = (0.into(), 0.into());
            for epoch in metrics["curve"].as_array_mut().unwrap() {
                epoch["seconds"] = 0.into();
            }
            run.to_string()
        })
        .collect();
    lines.sort();
    lines
}

/// Fails unless two comparisons in these folders differ in seconds only.
fn assert_same_results(workspace: &TestWorkspace, one: &str, other: &str) {
    let read = |folder: &str, file: &str| workspace.read(&format!("{folder}/{file}"));
    for file in ["results.csv", "summary.csv"] {
        let (one, other) = (read(one, file), read(other, file));
        assert!(one.lines().next().unwrap().ends_with(",seconds"));
        assert_eq!(without_seconds(&one), without_seconds(&other));
    }
    let file = "results.jsonl";
    assert_eq!(runs(&read(one, file)), runs(&read(other, file)));
}

#[test]
fn two_losses_on_two_seeds_are_compared() {
    let workspace = TestWorkspace::new();
    let output = workspace
        .run(&format!("{SMALL} --methods MSE;MAE(O,S) --out cmp"))
        .succeeded();
    assert!(
        output.out.contains("1.000 ± 0.000") && output.out.contains("MAE(O,S)"),
        "{}",
        output.out
    );
    // Two losses and three baselines: the split is in table order.
    assert_eq!(runs(&workspace.read("cmp/results.jsonl")).len(), 10);
    assert_eq!(workspace.read("cmp/results.csv").lines().count(), 11);
    let summary = workspace.read("cmp/summary.csv");
    for line in ["\nMSE,2,1,0,", "\n\"MAE(O,S)\",2,"] {
        assert!(summary.contains(line), "{summary}");
    }
}

#[test]
fn the_ratio_is_the_mean_over_seeds_of_regret_over_that_of_mse() {
    let workspace = TestWorkspace::new();
    let found = workspace
        .run(&format!("{SMALL} --methods MAE --out cmp --json"))
        .json();
    let runs = workspace.read("cmp/results.jsonl");
    let runs: Vec<serde_json::Value> = runs
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let regret = |loss: &str, seed: u64| {
        let run = runs
            .iter()
            .find(|run| run["name"] == loss && run["seed"] == seed)
            .unwrap();
        run["outcome"]["done"]["regret"].as_f64().unwrap()
    };
    let ratios = [0, 1].map(|seed| regret("MAE", seed) / regret("MSE", seed));
    let mean = (ratios[0] + ratios[1]) / 2.0;
    let deviation = (ratios[0] - ratios[1]).abs() / 2.0_f64.sqrt();
    let line = &found["methods"][1];
    assert_eq!(line["method"], "MAE");
    assert!((line["ratio"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!((line["ratio_sd"].as_f64().unwrap() - deviation).abs() < 1e-12);
    let summary = workspace.read("cmp/summary.csv");
    let mut lines = summary.lines();
    let header = "method,runs,ratio,ratio_sd,difference,lower,upper,test_regret,\
                  test_normalized_regret,test_normalized_regret_sd,solves,seconds";
    assert_eq!(lines.next().unwrap(), header);
    let cells: Vec<&str> = lines.nth(1).unwrap().split(',').collect();
    let number = |cell: usize| cells[cell].parse::<f64>().unwrap();
    assert!((number(4) - (mean - 1.0)).abs() < 1e-12, "{summary}");
    assert!(
        number(5) <= number(4) && number(4) <= number(6),
        "{summary}"
    );
    let runs = workspace.read("cmp/results.csv");
    let normalized: Vec<f64> = runs
        .lines()
        .filter(|line| line.starts_with("MAE,"))
        .map(|line| line.split(',').nth(6).unwrap().parse().unwrap())
        .collect();
    let [first, second] = normalized[..] else {
        panic!("{runs}");
    };
    assert!((number(8) - (first + second) / 2.0).abs() < 1e-12);
    let deviation = (first - second).abs() / 2.0_f64.sqrt();
    assert!(
        deviation > 0.0 && (number(9) - deviation).abs() < 1e-12,
        "{summary}"
    );
    let field = line["test_normalized_regret_sd"].as_f64().unwrap();
    assert!((field - deviation).abs() < 1e-12);
}

#[test]
fn mse_runs_as_the_reference_even_when_it_is_not_listed() {
    let workspace = TestWorkspace::new();
    let output = workspace
        .run(&format!("{SMALL} --methods MAE --methods MAE(S) --out cmp"))
        .succeeded();
    assert!(output.err.contains("MSE runs too"), "{}", output.err);
    assert_eq!(
        runs(&workspace.read("cmp/results.jsonl")).len(),
        2 * (3 + 3)
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let workspace = TestWorkspace::new();
    for threads in [1, 3] {
        let words =
            format!("{SMALL} --methods MSE;MSE(C,O);MAE(S) --threads {threads} --out t{threads}");
        workspace.run(&words).succeeded();
    }
    assert_same_results(&workspace, "t1", "t3");
}

#[test]
fn a_settings_file_repeats_its_comparison() {
    let workspace = TestWorkspace::new();
    workspace
        .run(&format!(
            "{SMALL} --methods MSE;MAE(O) --learning-rate 0.02 --out a"
        ))
        .succeeded();
    workspace
        .run("compare --config a/settings.toml --out b")
        .succeeded();
    assert_eq!(
        without_seconds(&workspace.read("a/results.csv")),
        without_seconds(&workspace.read("b/results.csv"))
    );
}

#[test]
fn a_users_table_is_compared_on_a_split_per_seed() {
    let workspace = TestWorkspace::with_knapsack();
    let words = "compare --data table.csv --costs c* --problem problem.toml --methods MSE;MAE \
        --seeds 3 --epochs 2";
    let found = workspace.run(&format!("{words} --out cmp --json")).json();
    assert_eq!(found["methods"][0]["runs"], 3);
    let runs = workspace.read("cmp/results.csv");
    let regrets: Vec<&str> = runs
        .lines()
        .filter(|l| l.starts_with("MSE,"))
        .map(|l| l.split(',').nth(5).unwrap())
        .collect();
    assert!(
        regrets[0] != regrets[1] && regrets[1] != regrets[2],
        "{regrets:?}"
    );
}

#[test]
fn without_out_the_first_unused_folder_is_used() {
    let workspace = TestWorkspace::new();
    let words = format!("{SMALL} --methods MSE");
    workspace.run(&words).succeeded();
    workspace.run(&words).succeeded();
    assert_eq!(
        workspace.read("runs/SP4x4-1/summary.csv").lines().count(),
        5
    );
    assert_eq!(
        workspace.read("runs/SP4x4-2/summary.csv").lines().count(),
        5
    );
}

#[test]
fn results_that_exist_are_kept_unless_forced() {
    let workspace = TestWorkspace::new();
    let words = format!("{SMALL} --methods MSE --out cmp");
    workspace.run(&words).succeeded();
    let before = workspace.read("cmp/results.csv");
    let again = workspace.run(&words).succeeded();
    assert!(again.err.contains("was complete"), "{}", again.err);
    workspace
        .run(&format!("{SMALL} --methods MAE --out cmp"))
        .failed(3, &["cmp/results.jsonl", "--force"]);
    workspace
        .run(&words.replace("--epochs 3", "--epochs 4"))
        .failed(3, &["cmp/results.jsonl"]);
    assert_eq!(workspace.read("cmp/results.csv"), before);
    workspace.run(&format!("{words} --force")).succeeded();
}

#[test]
fn a_refused_comparison_writes_nothing() {
    let workspace = TestWorkspace::new();
    workspace
        .run(&format!("{SMALL} --methods MSE --batch-size 0 --out cmp"))
        .failed(2, &["batch"]);
    workspace
        .run("compare --benchmark SP4x4 --methods MSE --split 0.2,0 --out cmp")
        .failed(2, &["test"]);
    workspace
        .run("compare --benchmark SP4x4 --seeds 0 --out cmp")
        .failed(2, &["seeds"]);
    assert!(workspace.files().is_empty());
}

/// Turns the folder of a finished comparison into that of an interrupted one: some runs, the last
/// line truncated, no tables.
fn interrupt(workspace: &TestWorkspace, folder: &str, finished: usize) {
    let path = workspace.path(folder);
    let text = workspace.read(&format!("{folder}/results.jsonl"));
    let mut remaining: String = text
        .lines()
        .take(finished)
        .map(|line| format!("{line}\n"))
        .collect();
    remaining.push_str(&text.lines().nth(finished).unwrap()[..40]);
    std::fs::write(path.join("results.jsonl"), remaining).unwrap();
    std::fs::remove_file(path.join("results.csv")).unwrap();
    std::fs::remove_file(path.join("summary.csv")).unwrap();
}

#[test]
fn the_same_command_resumes_an_interrupted_comparison() {
    let workspace = TestWorkspace::new();
    let words = format!("{SMALL} --methods MSE;MAE(O,S);SPO+");
    workspace.run(&format!("{words} --out whole")).succeeded();
    workspace.run(&format!("{words} --out cut")).succeeded();
    for finished in [0, 1, 5] {
        let before = workspace.read("cut/results.jsonl");
        interrupt(&workspace, "cut", finished);
        let output = workspace.run(&format!("{words} --out cut")).succeeded();
        assert_eq!(
            output.err.contains(&format!("{finished} of 12 runs")),
            finished > 0,
            "{}",
            output.err
        );
        let after = workspace.read("cut/results.jsonl");
        let taken = |text: &str| {
            text.lines()
                .take(finished)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            taken(&before),
            taken(&after),
            "finished runs are not done again"
        );
        assert_same_results(&workspace, "cut", "whole");
    }
}

#[test]
fn without_out_an_interrupted_comparison_is_resumed() {
    let workspace = TestWorkspace::new();
    let words = format!("{SMALL} --methods MSE;MAE");
    workspace.run(&words).succeeded();
    interrupt(&workspace, "runs/SP4x4-1", 3);
    workspace.run(&format!("{SMALL} --methods MSE")).succeeded();
    assert!(
        workspace.path("runs/SP4x4-2/summary.csv").exists(),
        "other losses have a folder of their own"
    );
    std::fs::remove_dir_all(workspace.path("runs/SP4x4-2")).unwrap();
    let output = workspace.run(&words).succeeded();
    assert!(output.err.contains("3 of 10 runs"), "{}", output.err);
    assert!(
        workspace.path("runs/SP4x4-1/summary.csv").exists()
            && !workspace.path("runs/SP4x4-2").exists()
    );
}

#[test]
fn runs_of_a_table_that_has_changed_are_not_reused() {
    let workspace = TestWorkspace::with_knapsack();
    let words = "compare --data table.csv --costs c* --problem problem.toml --methods MSE --seeds \
        2 \
        --epochs 2 --out cmp";
    workspace.run(words).succeeded();
    interrupt(&workspace, "cmp", 2);
    let text = workspace.read("table.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let (first, rest) = rows.split_once('\n').unwrap();
    std::fs::write(
        workspace.path("table.csv"),
        format!("{header}\n{rest}{first}\n"),
    )
    .unwrap();
    workspace
        .run(words)
        .failed(3, &["cmp/results.jsonl", "--force"]);
}

#[test]
fn a_killed_comparison_resumes_and_finishes_with_the_same_results() {
    let workspace = TestWorkspace::new();
    let words = format!("{SMALL} --methods MSE;MAE;SPO+ --epochs 60").replace("--epochs 3 ", "");
    workspace.run(&format!("{words} --out whole")).succeeded();
    let cut: Vec<String> = format!("{words} --out cut")
        .split(' ')
        .map(str::to_owned)
        .collect();
    for kill in 0..4 {
        common::killed_after(&workspace, &cut, common::moment(kill + 3, 150));
    }
    if !workspace.path("cut/summary.csv").exists() {
        workspace.run_words(&cut).succeeded();
    }
    assert_same_results(&workspace, "cut", "whole");
}

/// A table whose two costs are linear in features that are not standardized; the cheaper one is
/// chosen.
fn linear_table(workspace: &TestWorkspace, rows: usize) {
    write_linear_table(workspace, rows, 1.0);
}

fn write_linear_table(workspace: &TestWorkspace, rows: usize, spread: f64) {
    let mut text = String::from("temperature,pressure,a,b\n");
    for row in 0..rows {
        let (x, y) = (
            (row * 37 % 101) as f64 / 10.0,
            1000.0 + (row * 53 % 89) as f64,
        );
        // A little noise, so no regret is exactly 0.
        let noise = spread * (((row * 7919) % 13) as f64 / 13.0 - 0.5);
        text += &format!(
            "{x},{y},{},{}\n",
            300.0 + 4.0 * x + noise,
            850.0 - 0.5 * y + 3.0 * x - noise
        );
    }
    std::fs::write(workspace.path("table.csv"), text).unwrap();
    std::fs::write(
        workspace.path("problem.toml"),
        "kind = 'top_k'\nk = 1\nitems = 2\nsense = 'minimize'\n",
    )
    .unwrap();
}

const TABLE: &str =
    "compare --data table.csv --costs a,b --problem problem.toml --methods MSE;MAE(O,S)";

#[test]
fn the_verdict_says_where_least_squares_is_enough() {
    let workspace = TestWorkspace::new();
    write_linear_table(&workspace, 200, 0.0);
    let settled = "--epochs 100 --learning-rate 0.05 --lr-decay";
    let output = workspace
        .run(&format!("{TABLE} --seeds 3 {settled} --out cmp").replace(";MAE(O,S)", ""))
        .succeeded();
    output.says("; compared with these, a linear regression is enough");
    output.says("profile default");
    // A method that has not converged proves nothing about the baseline.
    let output = workspace
        .run(&format!("{TABLE} --seeds 3 --epochs 3 --out early"))
        .succeeded();
    output.says("no compared decision-focused method is certain to beat least squares: ");
    assert!(!output.out.contains("is enough"), "{}", output.out);
}

#[test]
fn the_baselines_are_always_in_the_table() {
    let workspace = TestWorkspace::new();
    linear_table(&workspace, 100);
    let compared = |words: &str| {
        let output = workspace.run(&format!("{TABLE} --seeds 1 {words} --json"));
        output.json()
    };
    let in_order = compared("--split 60,20,20 --out a");
    let names = |found: &serde_json::Value| -> Vec<String> {
        let lines = found["methods"].as_array().unwrap();
        lines
            .iter()
            .map(|line| line["method"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&in_order),
        [
            "MSE",
            "MAE(O,S)",
            "least squares",
            "training mean",
            "previous row"
        ]
    );
    assert_eq!(
        names(&compared("--out b")),
        ["MSE", "MAE(O,S)", "least squares", "training mean"]
    );
    // The mean costs differ clearly: the mean of the history always chooses the same one.
    let regret = |name: &str| {
        let lines = in_order["methods"].as_array().unwrap();
        lines.iter().find(|line| line["method"] == name).unwrap()["test_regret"]
            .as_f64()
            .unwrap()
    };
    let text = workspace.read("table.csv");
    let costs: Vec<[f64; 2]> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            [cells[2], cells[3]]
        })
        .collect();
    let pay = |row: usize, guess: [f64; 2]| {
        let taken = usize::from(guess[1] < guess[0]);
        costs[row][taken] - costs[row][0].min(costs[row][1])
    };
    let mean = |item: usize| costs[..60].iter().map(|row| row[item]).sum::<f64>() / 60.0;
    let expected: f64 = (80..100)
        .map(|row| pay(row, [mean(0), mean(1)]))
        .sum::<f64>()
        / 20.0;
    assert!(
        (regret("training mean") - expected).abs() < 1e-4 * (1.0 + expected),
        "{expected}"
    );
    let expected: f64 = (80..100).map(|row| pay(row, costs[row - 1])).sum::<f64>() / 20.0;
    assert!(
        (regret("previous row") - expected).abs() < 1e-4 * (1.0 + expected),
        "{expected}"
    );
}

#[test]
fn an_undertrained_reference_is_reported() {
    let workspace = TestWorkspace::new();
    linear_table(&workspace, 200);
    let output = workspace
        .run(&format!(
            "{TABLE} --seeds 2 --epochs 5 --profile paper --out cmp"
        ))
        .succeeded();
    output.says("profile paper");
    output.says("MSE predicts worse than least squares although it minimizes the squared");
    let few = workspace
        .run(&format!(
            "{TABLE} --seeds 1 --epochs 5 --learning-rate 0.0001 --out slow"
        ))
        .succeeded();
    few.says("not converged: MSE; MAE(O,S)");
}

#[test]
fn a_reference_whose_epoch_is_selected_by_regret_is_reported_and_the_last_epoch_cures_it() {
    let workspace = TestWorkspace::new();
    linear_table(&workspace, 200);
    // Four validation rows are decided well long before the error is at its lowest.
    let options = "--seeds 2 --epochs 200 --split 100,4,96";
    let output = workspace
        .run(&format!("{TABLE} {options} --out cmp"))
        .succeeded();
    output.says("try more epochs, and select the last");
    let output = workspace
        .run(&format!("{TABLE} {options} --select last --out last"))
        .succeeded();
    assert!(!output.out.contains("predicts worse"), "{}", output.out);
}

#[test]
fn what_columns_become_names_its_seed_where_training_rows_differ() {
    let workspace = TestWorkspace::new();
    linear_table(&workspace, 100);
    let table = workspace.read("table.csv");
    let with_gaps: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(number, line)| match line.split_once(',') {
            Some((_, rest)) if number % 10 == 1 => format!(",{rest}"),
            _ => line.to_owned(),
        })
        .collect();
    workspace.write("table.csv", &with_gaps.join("\n"));
    let run = |options: &str| workspace.run(&format!("{TABLE} --epochs 2 {options}"));
    let text = |options: &str| run(options).succeeded().out;
    let of_two = text("--seeds 2 --out two");
    assert!(of_two.contains("filled with the median"));
    for line in of_two.lines() {
        assert_eq!(
            line.contains("filled with the median"),
            line.ends_with("(seed 0)"),
            "{line}"
        );
    }
    assert!(!text("--seeds 1 --out one").contains("(seed 0)"));
    let json = run("--seeds 2 --out json --json").json();
    assert!(!json["encoding"].to_string().contains("(seed 0)"));
}

#[test]
fn auto_can_be_compared() {
    let workspace = TestWorkspace::new();
    let words: Vec<String> = SMALL
        .split(' ')
        .chain(["--methods", "MSE;auto 2s", "--out", "cmp", "--json"])
        .map(str::to_owned)
        .collect();
    let found = workspace.run_words(&words).json();
    assert_eq!(found["methods"][1]["method"], "auto 2s");
    assert!(
        found["methods"][1]["solves"].as_f64().unwrap() > 0.0,
        "{found}"
    );
}

#[test]
fn fewer_than_ten_rows_cause_a_warning() {
    let workspace = TestWorkspace::new();
    linear_table(&workspace, 3);
    let common = "--data table.csv --costs a,b --problem problem.toml";
    let output = workspace.run(&format!("train {common}")).succeeded();
    output.says("that of 1 test row: nothing can be concluded");
    let output = workspace
        .run(&format!("evaluate --model model.safetensors {common}"))
        .succeeded();
    output.says("that of 3 evaluated rows: nothing can be concluded");
    let output = workspace
        .run(&format!(
            "compare {common} --methods MSE --seeds 1 --out cmp"
        ))
        .succeeded();
    output.says("that of 1 test row: nothing can be concluded");
}

#[test]
fn seeds_that_share_their_test_rows_claim_no_significance() {
    let workspace = TestWorkspace::new();
    // Costs that no linear model predicts well, so some method beats the baselines.
    let mut text = String::from("x,y,a,b\n");
    for row in 0..120_i32 {
        let (x, y) = (
            f64::from(row * 37 % 101) / 50.0 - 1.0,
            f64::from(row * 53 % 89) / 44.0 - 1.0,
        );
        text += &format!(
            "{x},{y},{},{}\n",
            5.0 + (3.0 * x).exp(),
            5.0 + (2.0 * x + y).exp()
        );
    }
    std::fs::write(workspace.path("table.csv"), text).unwrap();
    std::fs::write(
        workspace.path("problem.toml"),
        "kind = 'top_k'\nk = 1\nitems = 2\nsense = 'minimize'\n",
    )
    .unwrap();
    for (split, out) in [("60,20,40", "a"), ("0.2,0.3", "b")] {
        let output = workspace
            .run(&format!(
                "{TABLE} --seeds 3 --epochs 30 --split {split} --out {out}"
            ))
            .succeeded();
        let shares = output
            .out
            .contains("3 seeds that are tested on the same rows do not tell");
        let has_interval = output.out.contains("; 3 seeds, 36 test rows each)");
        assert_eq!(
            [shares, has_interval],
            [out == "a", out == "b"],
            "{}",
            output.out
        );
    }
}

#[test]
fn two_comparisons_do_not_share_a_folder() {
    let workspace = TestWorkspace::new();
    std::fs::create_dir(workspace.path("cmp")).unwrap();
    let held = std::fs::File::create(workspace.path("cmp/lock")).unwrap();
    held.lock().unwrap();
    let words = format!("{SMALL} --methods MSE --out cmp");
    workspace
        .run(&words)
        .failed(3, &["cmp", "another comparison"]);
    drop(held);
    workspace.run(&words).succeeded();
    assert!(!workspace.path("cmp/lock").exists());
}

#[test]
fn auto_without_validation_rows_is_refused_before_anything_runs() {
    let workspace = TestWorkspace::new();
    let words = [
        "compare",
        "--benchmark",
        "SP4x4",
        "--seeds",
        "1",
        "--split",
        "60,0,20",
        "--select",
        "last",
    ];
    let words: Vec<String> = words
        .into_iter()
        .chain(["--methods", "MSE;auto 2s", "--out", "cmp"])
        .map(str::to_owned)
        .collect();
    workspace.run_words(&words).failed(2, &["validation rows"]);
    assert!(workspace.files().is_empty());
}

#[test]
fn one_seed_asks_for_more_seeds_and_seeds_on_the_same_rows_do_not() {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark KS8 --instances 400 --out .")
        .succeeded();
    let command = "compare --data table.csv --costs c* --problem problem.toml --epochs 20 \
        --methods MAE(O,S)";
    for (options, words) in [
        (
            "--seeds 1 --out one",
            "one seed does not tell whether `MAE(O,S)` decides better than MSE on 80 test rows",
        ),
        (
            "--seeds 2 --split order:0.2,0.2 --out order",
            "2 seeds that are tested on the same rows do not tell whether `MAE(O,S)`",
        ),
    ] {
        let output = workspace.run(&format!("{command} {options}")).succeeded();
        assert!(output.out.contains(words), "{}", output.out);
    }
}
