//! Invalid input: exit code, a message with the place, and no partial output.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::TestWorkspace;

const TRAIN: &str = "train --data table.csv --costs c* --problem problem.toml ";

/// Trains on this table and problem, which must fail without writing a file.
fn refused(table: &str, problem: &str, code: i32, words: &[&str]) {
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", table);
    workspace.write("problem.toml", problem);
    workspace.run(TRAIN).failed(code, words);
    assert_eq!(workspace.files(), ["problem.toml", "table.csv"]);
}

const TOP: &str = "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n";

#[test]
fn ragged_rows_are_refused_with_their_place() {
    refused(
        "x,c0,c1\n1,2,3\n1,2\n",
        TOP,
        3,
        &["table.csv", "row 3", "2 cells"],
    );
}

#[test]
fn text_in_a_column_of_numbers_is_refused_with_its_place() {
    refused(
        "x,c0,c1\n1,2,3\n1,high,3\n",
        TOP,
        3,
        &["table.csv", "row 3", "column c0", "high"],
    );
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_place() {
    for bad in ["NaN", "inf", "1e99"] {
        refused(
            &format!("x,c0,c1\n1,2,3\n1,2,{bad}\n"),
            TOP,
            3,
            &["table.csv", "row 3", "column c1"],
        );
    }
}

#[test]
fn missing_columns_are_refused_by_name() {
    refused("x,d0,d1\n1,2,3\n", TOP, 3, &["table.csv", "c*", "d0"]);
}

#[test]
fn duplicate_columns_are_refused_by_name() {
    refused(
        "x,c0,c0\n1,2,3\n",
        TOP,
        3,
        &["table.csv", "row 1", "c0", "same name"],
    );
}

#[test]
fn empty_tables_are_refused() {
    refused("", TOP, 3, &["table.csv", "empty"]);
    refused("x,c0,c1\n", TOP, 3, &["table.csv", "no row"]);
}

#[test]
fn tables_too_short_to_be_split_are_refused() {
    refused("x,c0,c1\n1,2,3\n", TOP, 2, &["validat"]);
}

#[test]
fn tables_of_another_width_than_the_problem_are_refused() {
    refused(
        "x,c0\n1,2\n1,2\n1,2\n1,2\n1,2\n",
        TOP,
        3,
        &["table.csv", "1 cost", "needs 2"],
    );
}

/// The costs of two instances in `c.csv`, their problem, and another file.
fn with_two_rows_of_costs(file: &str, text: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.write(file, text);
    workspace.write("c.csv", "c0,c1\n1,2\n3,4\n");
    workspace.write("problem.toml", TOP);
    workspace
}

#[test]
fn features_and_costs_must_have_as_many_rows() {
    let workspace = with_two_rows_of_costs("x.csv", "x\n1\n2\n3\n");
    let words = "train --method MAE(O,S) --data x.csv --cost-data c.csv --problem problem.toml";
    workspace
        .run(words)
        .failed(3, &["c.csv", "2 rows", "x.csv has 3"]);
    assert_eq!(workspace.files(), ["c.csv", "problem.toml", "x.csv"]);
}

#[test]
fn predictions_must_have_as_many_rows_as_the_table() {
    let workspace = with_two_rows_of_costs("p.csv", "c0,c1\n1,2\n");
    let words = "evaluate --predictions p.csv --cost-data c.csv --problem problem.toml";
    workspace
        .run(words)
        .failed(3, &["p.csv", "1 row", "2 instances"]);
    workspace.write("p.csv", "c0,c2\n1,2\n3,4\n");
    workspace.run(words).failed(3, &["p.csv", "c1"]);
}

#[test]
fn unknown_names_are_refused_with_the_choices() {
    let workspace = TestWorkspace::with_knapsack();
    let before = workspace.files();
    workspace
        .run(&format!("{TRAIN} --method MSE(Q)"))
        .failed(2, &["MSE(Q)", "EIC(k)"]);
    workspace
        .run(&format!("{TRAIN} --predictor forest"))
        .failed(2, &["forest", "mlp"]);
    workspace
        .run(&format!("{TRAIN} --select best"))
        .failed(2, &["best", "validation-loss"]);
    workspace
        .run("train --benchmark KS")
        .failed(2, &["KS", "SP5x5"]);
    workspace
        .run("train --method MAE(O,S) --data table.xls --problem problem.toml")
        .failed(2, &["table.xls", ".csv or .npy"]);
    assert_eq!(workspace.files(), before);
}

#[test]
fn contradictory_options_are_refused_with_a_remedy() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run("train")
        .failed(2, &["no data", "--benchmark KS32"]);
    workspace
        .run("train --method MAE(O,S) --data table.csv --costs c*")
        .failed(2, &["--problem is missing"]);
    workspace
        .run("train --method MAE(O,S) --data table.csv --problem problem.toml")
        .failed(2, &["cost columns"]);
    workspace
        .run(&format!("{TRAIN} --benchmark KS8"))
        .failed(2, &["--benchmark brings its own data"]);
    workspace
        .run(&format!("{TRAIN} --learning-rate 0"))
        .failed(2, &["learning_rate"]);
    workspace
        .run(&format!("{TRAIN} --split 10,0,10"))
        .failed(2, &["validation rows"]);
    workspace
        .run("evaluate --data table.csv")
        .failed(2, &["--model or --predictions"]);
    workspace
        .run("decide --model model.safetensors")
        .failed(2, &["--data is missing"]);
    workspace
        .run("generate --benchmark KS8")
        .failed(2, &["--out is missing"]);
    workspace
        .run("generate --benchmark KS8 --noise 2 --out x")
        .failed(2, &["noise"]);
    assert_eq!(workspace.files(), ["problem.toml", "table.csv"]);
}

#[test]
fn invalid_problems_are_refused() {
    let table = "x,c0,c1\n1,2,3\n";
    refused(
        table,
        "kind = 'tour'\n",
        2,
        &["problem.toml", "tour", "knapsack"],
    );
    refused(table, "items = 2\n", 2, &["problem.toml", "kind"]);
    refused(
        table,
        "kind = 'knapsack'\nweights = [[1.0, 2.0]]\ncapacity = [-1.0]\n",
        2,
        &["problem.toml", "capacity -1"],
    );
    refused(
        table,
        "kind = 'knapsack'\nweights = [[1.0], [2.0]]\ncapacity = [1.0]\n",
        2,
        &["problem.toml", "1 capacities"],
    );
    refused(
        table,
        "kind = 'knapsack'\nweights = [[1.0]]\ncapacity = [1.0]\nsize = 3\n",
        2,
        &["problem.toml", "size"],
    );
    refused(
        table,
        "kind = 'top_k'\nitems = 2\nk = 3\nsense = 'minimize'\n",
        2,
        &["problem.toml", "k = 3"],
    );
    refused(
        table,
        "kind = 'grid_path'\ngrid = [0, 4]\n",
        2,
        &["problem.toml", "0x4"],
    );
    refused(table, "kind = \n", 2, &["problem.toml", "line 1"]);
    let workspace = TestWorkspace::new();
    workspace.write("table.csv", table);
    workspace.run(TRAIN).failed(3, &["problem.toml"]);
}

#[test]
fn damaged_models_are_refused() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let whole = workspace.bytes("model.safetensors");
    let evaluate = "evaluate --model bad.safetensors --data table.csv";
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &flipped, b"", b"x,c0\n1,2\n"] {
        std::fs::write(workspace.path("bad.safetensors"), bytes).unwrap();
        workspace.run(evaluate).failed(3, &["bad.safetensors"]);
        workspace
            .run("decide --model bad.safetensors --data table.csv --out d.csv")
            .failed(3, &["bad.safetensors"]);
    }
    assert!(!workspace.path("d.csv").exists());
    workspace
        .run("evaluate --model missing.safetensors --data table.csv")
        .failed(3, &["missing.safetensors"]);
}

#[test]
fn models_of_other_features_are_refused() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    workspace.write("other.csv", "x0,x1,y\n1,2,3\n");
    workspace
        .run("decide --model model.safetensors --data other.csv --out d.csv")
        .failed(3, &["other.csv", "x2"]);
    workspace
        .run("evaluate --model model.safetensors --data other.csv")
        .failed(3, &["other.csv"]);
    workspace
        .run("generate --benchmark KS8 --features 4 --instances 9 --out arrays --format npy")
        .succeeded();
    let words = "decide --model model.safetensors --data arrays/features.npy --out d.csv";
    workspace.run(words).failed(3, &["features.npy", "5"]);
    let words = "evaluate --model model.safetensors --data arrays/features.npy --cost-data \
        arrays/costs.npy";
    workspace.run(words).failed(3, &["features.npy", "5"]);
    assert!(!workspace.path("d.csv").exists());
}

#[test]
fn outputs_that_exist_are_kept_unless_forced() {
    let workspace = TestWorkspace::with_knapsack();
    let table = workspace.read("table.csv");
    workspace
        .run("generate --benchmark KS9 --out .")
        .failed(3, &["table.csv", "exists", "--force"]);
    assert_eq!(workspace.read("table.csv"), table);

    workspace.write("model.settings.toml", "mine");
    workspace
        .run(TRAIN)
        .failed(3, &["model.settings.toml", "exists"]);
    assert_eq!(workspace.read("model.settings.toml"), "mine");
    assert!(!workspace.path("model.safetensors").exists());
    workspace.run(&format!("{TRAIN} --force")).succeeded();

    workspace.write("d.csv", "mine");
    let decide =
        "decide --model model.safetensors --data table.csv --out d.csv --predictions-out p.csv";
    workspace.run(decide).failed(3, &["d.csv", "exists"]);
    assert_eq!(workspace.read("d.csv"), "mine");
    assert!(!workspace.path("p.csv").exists());
    workspace.run(&format!("{decide} --force")).succeeded();
    assert!(workspace.read("d.csv").starts_with("instance,objective,"));
}

#[test]
fn missing_output_folders_are_refused_before_any_work() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run(&format!("{TRAIN} --out no/model.safetensors"))
        .failed(3, &["no/model.safetensors", "does not exist"]);
}

#[test]
fn costs_too_large_to_train_on_are_reported_with_the_instance() {
    let workspace = TestWorkspace::with_knapsack();
    let words = "--optimizer sgd --learning-rate 1e30 --method MSE --epochs 9 --select last";
    workspace
        .run(&format!("{TRAIN} {words}"))
        .failed(4, &["epoch", "of row", "learning rate"]);
    assert!(!workspace.path("model.safetensors").exists());
}

const CHOICE: &str =
    "Minimize\n obj: c0 + c1\nSubject To\n one: c0 + c1 >= BOUND\nBinary\n c0 c1\nEnd\n";

/// A folder with a table of two costs and a linear problem in a folder inside it.
fn with_linear(bound: &str) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let rows: String = (0..20)
        .map(|i| format!("{i},{},{}\n", 1 + i % 3, 2 + i % 5))
        .collect();
    workspace.write("table.csv", &format!("x,c0,c1\n{rows}"));
    std::fs::create_dir(workspace.path("problem")).unwrap();
    workspace.write("problem/choice.lp", &CHOICE.replace("BOUND", bound));
    workspace.write(
        "problem/problem.toml",
        "kind = 'linear'\nfile = 'choice.lp'\n",
    );
    workspace
}

/// The same folder with a trained model.
fn with_linear_model() -> TestWorkspace {
    let workspace = with_linear("1");
    workspace
        .run(
            "train --method MAE(O,S) \
            --data table.csv --costs c* --problem problem/problem.toml --epochs 2",
        )
        .succeeded();
    workspace
}

#[test]
fn a_model_file_is_found_next_to_its_problem() {
    let workspace = with_linear_model();
    workspace
        .run("evaluate --model model.safetensors --data table.csv")
        .succeeded();
    workspace
        .run("decide --model model.safetensors --data table.csv --out d.csv")
        .succeeded();
    assert!(
        workspace
            .read("d.csv")
            .lines()
            .skip(1)
            .all(|line| line.ends_with("optimal,0,1") || line.ends_with("optimal,1,0"))
    );
    // The file named by the problem is needed for training, not any more for its model.
    std::fs::remove_file(workspace.path("problem/choice.lp")).unwrap();
    workspace
        .run("evaluate --model model.safetensors --data table.csv")
        .succeeded();
    workspace
        .run("evaluate --model model.safetensors --data table.csv --problem problem/problem.toml")
        .failed(3, &["choice.lp"]);
}

#[test]
fn rows_without_a_decision_are_reported_with_the_instance() {
    let workspace = with_linear("3");
    let words = "train --method MAE(O,S) \
        --data table.csv --costs c* --problem problem/problem.toml";
    let conflict = "one, the bounds of c0 and c1 cannot hold together";
    workspace
        .run(words)
        .failed(4, &["none of the 20 rows has a decision", conflict]);
    assert_eq!(workspace.files(), ["problem", "table.csv"]);
    // A file has no rows.
    let run = workspace.run("solve problem/choice.lp");
    assert!(
        run.err.starts_with("error: no decision is feasible: one"),
        "{}",
        run.err
    );
}

#[test]
fn a_prediction_that_makes_the_objective_unbounded_names_the_column() {
    let workspace = TestWorkspace::new();
    let rows: String = (0..40)
        .map(|i| {
            let x = f64::from(i) / 20.0 - 1.0;
            format!("{x},1,{}\n", x.max(0.05))
        })
        .collect();
    workspace.write("table.csv", &format!("x,c0,c1\n{rows}"));
    workspace.write(
        "cover.lp",
        "Minimize\n obj: c0 + c1\nSubject To\n one: c0 + c1 >= 2\nBounds\n c0 <= 3\nEnd\n",
    );
    workspace.write("problem.toml", "kind = 'linear'\nfile = 'cover.lp'\n");
    let words = "train --data table.csv --costs c* --problem problem.toml --method SPO+ --epochs 3";
    workspace.run(words).failed(
        4,
        &[
            "note: column c1 has no upper bound",
            "(counted from 0): the objective is unbounded",
            "column c1 has the cost -",
            "upper = { NAME = ... }",
        ],
    );
    workspace.write(
        "problem.toml",
        "kind = 'linear'\nfile = 'cover.lp'\nupper = { c1 = 9.0 }\n",
    );
    let run = workspace.run(words).succeeded();
    assert!(!run.err.contains("no upper bound"), "{}", run.err);
}

#[test]
fn names_of_a_linear_problem_are_suggested_and_its_file_is_named() {
    let workspace = with_linear("1");
    let train = "train --method MAE(O,S) \
        --data table.csv --costs c* --problem problem/problem.toml";
    let problem = "problem/problem.toml";
    workspace.write(
        problem,
        "kind = 'linear'\nfile = 'choice.lp'\nrhs = { onne = 1.0 }\n",
    );
    workspace.run(train).failed(2, &["did you mean 'one'?"]);
    workspace.write(
        problem,
        "kind = 'linear'\nfile = 'choice.lp'\ncosts = ['c0', 'cc1']\n",
    );
    workspace.run(train).failed(3, &["did you mean 'c1'?"]);
    workspace.write(problem, "kind = 'linear'\nfile = 'moved.lp'\n");
    workspace
        .run(train)
        .failed(3, &["moved.lp", "problem.toml names this file"]);
}

#[test]
fn a_problem_of_the_other_sense_is_refused() {
    let workspace = with_linear_model();
    workspace.write(
        "problem/problem.toml",
        "kind = 'linear'\nfile = 'choice.lp'\nsense = 'max'\n",
    );
    workspace
        .run(
            "decide --model model.safetensors --data table.csv --problem problem/problem.toml \
             --out -",
        )
        .failed(2, &["maximizes", "trained for a problem that minimizes"]);
}
