//! Bad input: the right exit code, a message that names the place, and nothing half-written.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::Workshop;

const TRAIN: &str = "train --data table.csv --costs c* --problem problem.toml ";

/// Trains on a table and a problem of the test's own, which must fail and leave nothing new.
fn refused(table: &str, problem: &str, code: i32, words: &[&str]) {
    let shop = Workshop::new();
    shop.write("table.csv", table);
    shop.write("problem.toml", problem);
    shop.run(TRAIN).failed(code, words);
    assert_eq!(shop.files(), ["problem.toml", "table.csv"]);
}

const TOP: &str = "kind = 'top_k'\nitems = 2\nk = 1\nsense = 'minimize'\n";

#[test]
fn ragged_rows_are_named() {
    refused(
        "x,c0,c1\n1,2,3\n1,2\n",
        TOP,
        3,
        &["table.csv", "row 3", "2 cells"],
    );
}

#[test]
fn text_in_a_column_of_numbers_is_named() {
    refused(
        "x,c0,c1\n1,2,3\n1,high,3\n",
        TOP,
        3,
        &["table.csv", "row 3", "column c0", "high"],
    );
}

#[test]
fn numbers_that_are_not_finite_are_named() {
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
fn missing_columns_are_named() {
    refused("x,d0,d1\n1,2,3\n", TOP, 3, &["table.csv", "c*", "d0"]);
}

#[test]
fn columns_named_twice_are_named() {
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

#[test]
fn features_and_costs_must_have_as_many_rows() {
    let shop = Workshop::new();
    shop.write("x.csv", "x\n1\n2\n3\n");
    shop.write("c.csv", "c0,c1\n1,2\n3,4\n");
    shop.write("problem.toml", TOP);
    let words = "train --data x.csv --cost-data c.csv --problem problem.toml";
    shop.run(words)
        .failed(3, &["c.csv", "2 rows", "x.csv has 3"]);
    assert_eq!(shop.files(), ["c.csv", "problem.toml", "x.csv"]);
}

#[test]
fn predictions_must_have_as_many_rows_as_the_table() {
    let shop = Workshop::new();
    shop.write("p.csv", "c0,c1\n1,2\n");
    shop.write("c.csv", "c0,c1\n1,2\n3,4\n");
    shop.write("problem.toml", TOP);
    let words = "evaluate --predictions p.csv --cost-data c.csv --problem problem.toml";
    shop.run(words)
        .failed(3, &["p.csv", "1 row", "2 instances"]);
    shop.write("p.csv", "c0,c2\n1,2\n3,4\n");
    shop.run(words).failed(3, &["p.csv", "c1"]);
}

#[test]
fn unknown_names_are_answered_with_the_choices() {
    let shop = Workshop::with_knapsack();
    let before = shop.files();
    shop.run(&format!("{TRAIN} --method MSE(Q)"))
        .failed(2, &["MSE(Q)", "EIC(k)"]);
    shop.run(&format!("{TRAIN} --predictor forest"))
        .failed(2, &["forest", "mlp"]);
    shop.run(&format!("{TRAIN} --select best"))
        .failed(2, &["best", "validation-loss"]);
    shop.run("train --benchmark KS").failed(2, &["KS", "SP5x5"]);
    shop.run("train --data table.xls --problem problem.toml")
        .failed(2, &["table.xls", ".csv or .npy"]);
    assert_eq!(shop.files(), before);
}

#[test]
fn contradictions_are_refused_with_a_way_out() {
    let shop = Workshop::with_knapsack();
    shop.run("train")
        .failed(2, &["no data", "--benchmark KS32"]);
    shop.run("train --data table.csv --costs c*")
        .failed(2, &["--problem is missing"]);
    shop.run("train --data table.csv --problem problem.toml")
        .failed(2, &["cost columns"]);
    shop.run(&format!("{TRAIN} --benchmark KS8"))
        .failed(2, &["--benchmark brings its own data"]);
    shop.run(&format!("{TRAIN} --learning-rate 0"))
        .failed(2, &["learning_rate"]);
    shop.run(&format!("{TRAIN} --split 10,0,10"))
        .failed(2, &["validation rows"]);
    shop.run("evaluate --data table.csv")
        .failed(2, &["--model or --predictions"]);
    shop.run("decide --model model.safetensors")
        .failed(2, &["--data is missing"]);
    shop.run("generate --benchmark KS8")
        .failed(2, &["--out is missing"]);
    shop.run("generate --benchmark KS8 --noise 2 --out x")
        .failed(2, &["noise"]);
    assert_eq!(shop.files(), ["problem.toml", "table.csv"]);
}

#[test]
fn problems_that_are_none_are_refused() {
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
    let shop = Workshop::new();
    shop.write("table.csv", table);
    shop.run(TRAIN).failed(3, &["problem.toml"]);
}

#[test]
fn damaged_models_are_refused() {
    let shop = Workshop::with_knapsack();
    shop.run(TRAIN).succeeded();
    let whole = shop.bytes("model.safetensors");
    let evaluate = "evaluate --model bad.safetensors --data table.csv";
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &flipped, b"", b"x,c0\n1,2\n"] {
        std::fs::write(shop.path("bad.safetensors"), bytes).unwrap();
        shop.run(evaluate).failed(3, &["bad.safetensors"]);
        shop.run("decide --model bad.safetensors --data table.csv --out d.csv")
            .failed(3, &["bad.safetensors"]);
    }
    assert!(!shop.path("d.csv").exists());
    shop.run("evaluate --model missing.safetensors --data table.csv")
        .failed(3, &["missing.safetensors"]);
}

#[test]
fn models_of_other_features_are_refused() {
    let shop = Workshop::with_knapsack();
    shop.run(TRAIN).succeeded();
    shop.write("other.csv", "x0,x1,y\n1,2,3\n");
    shop.run("decide --model model.safetensors --data other.csv --out d.csv")
        .failed(3, &["other.csv", "x2"]);
    shop.run("evaluate --model model.safetensors --data other.csv")
        .failed(3, &["other.csv"]);
    shop.run("generate --benchmark KS8 --features 4 --instances 9 --out arrays --format npy")
        .succeeded();
    let words = "decide --model model.safetensors --data arrays/features.npy --out d.csv";
    shop.run(words).failed(3, &["features.npy", "5"]);
    let words = "evaluate --model model.safetensors --data arrays/features.npy --cost-data \
        arrays/costs.npy";
    shop.run(words).failed(3, &["features.npy", "5"]);
    assert!(!shop.path("d.csv").exists());
}

#[test]
fn outputs_that_exist_are_kept_unless_forced() {
    let shop = Workshop::with_knapsack();
    let table = shop.read("table.csv");
    shop.run("generate --benchmark KS9 --out .")
        .failed(3, &["table.csv", "exists", "--force"]);
    assert_eq!(shop.read("table.csv"), table);

    shop.write("model.settings.toml", "mine");
    shop.run(TRAIN)
        .failed(3, &["model.settings.toml", "exists"]);
    assert_eq!(shop.read("model.settings.toml"), "mine");
    assert!(!shop.path("model.safetensors").exists());
    shop.run(&format!("{TRAIN} --force")).succeeded();

    shop.write("d.csv", "mine");
    let decide =
        "decide --model model.safetensors --data table.csv --out d.csv --predictions-out p.csv";
    shop.run(decide).failed(3, &["d.csv", "exists"]);
    assert_eq!(shop.read("d.csv"), "mine");
    assert!(!shop.path("p.csv").exists());
    shop.run(&format!("{decide} --force")).succeeded();
    assert!(shop.read("d.csv").starts_with("c0,"));
}

#[test]
fn folders_that_do_not_exist_are_named_before_any_work() {
    let shop = Workshop::with_knapsack();
    shop.run(&format!("{TRAIN} --out no/model.safetensors"))
        .failed(3, &["no/model.safetensors", "does not exist"]);
}

#[test]
fn costs_too_large_to_train_on_stop_with_the_instance() {
    let shop = Workshop::with_knapsack();
    let words = "--optimizer sgd --learning-rate 1e30 --method MSE --epochs 9 --select last";
    shop.run(&format!("{TRAIN} {words}"))
        .failed(4, &["epoch", "instance", "learning rate"]);
    assert!(!shop.path("model.safetensors").exists());
}

const CHOICE: &str =
    "Minimize\n obj: c0 + c1\nSubject To\n one: c0 + c1 >= BOUND\nBinary\n c0 c1\nEnd\n";

/// A folder with a table of two costs and a linear problem in a folder of its own.
fn with_linear(bound: &str) -> Workshop {
    let shop = Workshop::new();
    let rows: String = (0..20)
        .map(|i| format!("{i},{},{}\n", 1 + i % 3, 2 + i % 5))
        .collect();
    shop.write("table.csv", &format!("x,c0,c1\n{rows}"));
    std::fs::create_dir(shop.path("problem")).unwrap();
    shop.write("problem/choice.lp", &CHOICE.replace("BOUND", bound));
    shop.write(
        "problem/problem.toml",
        "kind = 'linear'\nfile = 'choice.lp'\n",
    );
    shop
}

#[test]
fn a_model_file_is_found_next_to_its_problem() {
    let shop = with_linear("1");
    shop.run("train --data table.csv --costs c* --problem problem/problem.toml --epochs 2")
        .succeeded();
    shop.run("evaluate --model model.safetensors --data table.csv")
        .succeeded();
    shop.run("decide --model model.safetensors --data table.csv --out d.csv")
        .succeeded();
    assert!(
        shop.read("d.csv")
            .lines()
            .skip(1)
            .all(|line| ["0,1", "1,0"].contains(&line))
    );
    std::fs::remove_file(shop.path("problem/choice.lp")).unwrap();
    shop.run("evaluate --model model.safetensors --data table.csv")
        .failed(3, &["choice.lp"]);
}

#[test]
fn problems_without_a_decision_stop_with_the_instance() {
    let shop = with_linear("3");
    let words = "train --data table.csv --costs c* --problem problem/problem.toml";
    shop.run(words).failed(4, &["instance 0", "feasible"]);
    assert_eq!(shop.files(), ["problem", "table.csv"]);
}
