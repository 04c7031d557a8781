//! Generate, train, evaluate, decide.

mod common;

use common::TestWorkspace;

const TRAIN: &str = "train --method MAE(O,S) \
    --data table.csv --costs c* --problem problem.toml --epochs 3";

#[test]
fn a_csv_table_is_trained_on_evaluated_and_decided() {
    let workspace = TestWorkspace::with_knapsack();
    let trained = workspace.run(TRAIN).succeeded();
    assert!(
        trained.out.contains("test regret") && trained.out.contains("model.safetensors"),
        "{}",
        trained.out
    );
    let beside = [
        "model.epochs.csv",
        "model.epochs.jsonl",
        "model.report.json",
        "model.safetensors",
        "model.settings.toml",
    ];
    assert_eq!(
        workspace.files(),
        [&beside[..], &["problem.toml", "table.csv"]].concat()
    );
    let epochs = workspace.read("model.epochs.csv");
    assert_eq!(epochs.lines().count(), 1 + 4, "{epochs}");
    let lines = workspace.read("model.epochs.jsonl");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["epoch"], lines.lines().count()),
        (&3.into(), 4),
        "{lines}"
    );

    let evaluated = workspace
        .run("evaluate --model model.safetensors --data table.csv --json")
        .json();
    assert_eq!(evaluated["instances"], 60);
    assert!(evaluated["regret"].as_f64().unwrap() >= 0.0);

    workspace
        .run(
            "decide --model model.safetensors --data table.csv --out d.csv --predictions-out p.csv",
        )
        .succeeded();
    let decisions = workspace.read("d.csv");
    assert_eq!(
        decisions.lines().next(),
        Some("instance,objective,status,c0,c1,c2,c3,c4,c5,c6,c7")
    );
    assert_eq!(decisions.lines().count(), 61);
    let words =
        "evaluate --predictions p.csv --data table.csv --costs c* --problem problem.toml --json";
    let again = workspace.run(words).json();
    assert_eq!(again["regret"], evaluated["regret"]);
    assert_eq!(again["mse"], evaluated["mse"]);
}

#[test]
fn arrays_and_tables_lead_to_the_same_model_and_decisions() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run("generate --benchmark KS8 --instances 60 --out arrays --format npy")
        .succeeded();
    workspace.run(TRAIN).succeeded();
    let columns =
        "--data arrays/features.npy --cost-data arrays/costs.npy --problem arrays/problem.toml";
    workspace
        .run(&format!(
            "train {columns} --method MAE(O,S) --epochs 3 --out arrays.safetensors"
        ))
        .succeeded();
    assert_eq!(
        workspace.bytes("model.safetensors"),
        workspace.bytes("arrays.safetensors")
    );

    workspace.run(
        "decide --model model.safetensors --data table.csv --out a.npy --predictions-out pa.npy",
    )
    .succeeded();
    workspace
        .run("decide --model arrays.safetensors --data arrays/features.npy --out b.npy")
        .succeeded();
    assert_eq!(workspace.bytes("a.npy"), workspace.bytes("b.npy"));
    let from_table = workspace
        .run("evaluate --model model.safetensors --data table.csv --json")
        .json();
    let words = "evaluate --model arrays.safetensors --data arrays/features.npy --cost-data \
        arrays/costs.npy --json";
    assert_eq!(workspace.run(words).json(), from_table);
    let words =
        "evaluate --predictions pa.npy --cost-data arrays/costs.npy --problem problem.toml --json";
    assert_eq!(workspace.run(words).json()["regret"], from_table["regret"]);
}

#[test]
fn sparse_decisions_equal_dense_ones() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    workspace
        .run("decide --model model.safetensors --data table.csv --out dense.csv")
        .succeeded();
    workspace
        .run("decide --model model.safetensors --data table.csv --out sparse.csv --sparse")
        .succeeded();
    let dense = workspace.read("dense.csv");
    let mut ones = Vec::new();
    for (instance, line) in dense.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let (beginning, values) = cells.split_at(3);
        assert_eq!(
            (beginning[0], beginning[2]),
            (&*instance.to_string(), "optimal")
        );
        assert!(beginning[1].parse::<f64>().unwrap() > 0.0, "{line}");
        for (item, cell) in values.iter().enumerate() {
            assert!(["0", "1"].contains(cell), "{cell}");
            if *cell == "1" {
                ones.push(format!("{},c{item},1", beginning.join(",")));
            }
        }
    }
    let sparse = workspace.read("sparse.csv");
    assert_eq!(
        sparse.lines().next(),
        Some("instance,objective,status,column,value")
    );
    assert_eq!(sparse.lines().skip(1).collect::<Vec<_>>(), ones);
}

#[test]
fn a_long_table_trains_one_predictor_for_all_items() {
    let workspace = TestWorkspace::new();
    let mut table = String::from("day,house,size,age,price\n");
    for day in 0..40 {
        for house in 0..5 {
            let (size, age) = ((day * 7 + house * 3) % 11, (day + house * house) % 5);
            table.push_str(&format!(
                "d{day},h{house},{size},{age},{}\n",
                2 * size + age + 1
            ));
        }
    }
    workspace.write("long.csv", &table);
    workspace.write(
        "problem.toml",
        "kind = \"top_k\"\nitems = 5\nk = 2\nsense = \"maximize\"\n",
    );
    let columns = "--instance-column day --item-column house";
    let data = format!("--data long.csv {columns} --cost-column price");
    workspace
        .run(&format!(
            "train {data} --problem problem.toml --epochs 300 --method MSE --learning-rate 0.05 \
            --select \
            last"
        ))
        .succeeded();
    let evaluated = workspace
        .run(&format!("evaluate --model model.safetensors {data} --json"))
        .json();
    assert_eq!(evaluated["instances"], 40);
    assert!(evaluated["mse"].as_f64().unwrap() < 1.0, "{evaluated}");
    workspace
        .run(&format!(
            "decide --model model.safetensors --data long.csv {columns} --out d.csv"
        ))
        .succeeded();
    let decisions = workspace.read("d.csv");
    assert_eq!(
        decisions.lines().next(),
        Some("day,objective,status,h0,h1,h2,h3,h4")
    );
    for (day, line) in decisions.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], format!("d{day}"), "the user's own key");
        let chosen = cells[3..].iter().filter(|cell| **cell == "1").count();
        assert_eq!(chosen, 2, "{line}");
    }
}

#[test]
fn the_same_table_is_generated_from_the_same_seed_only() {
    let workspace = TestWorkspace::new();
    for (folder, seed) in [("a", 3), ("b", 3), ("c", 4)] {
        workspace
            .run(&format!(
                "generate --benchmark SP3x3 --instances 20 --seed {seed} --out {folder}"
            ))
            .succeeded();
    }
    assert_eq!(workspace.read("a/table.csv"), workspace.read("b/table.csv"));
    assert_ne!(workspace.read("a/table.csv"), workspace.read("c/table.csv"));
}

#[test]
fn a_generated_table_equals_the_built_in_data_of_its_seed() {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark SP4x4 --instances 50 --seed 2 --out .")
        .succeeded();
    let split = "--split 30,10,10 --epochs 2 --seed 2";
    workspace
        .run(&format!(
            "train --method MAE(O,S) \
                --data table.csv --costs c* --problem problem.toml {split} --out a.safetensors"
        ))
        .succeeded();
    workspace
        .run(&format!(
            "train --benchmark SP4x4 {split} --out b.safetensors"
        ))
        .succeeded();
    assert_eq!(
        workspace.bytes("a.safetensors"),
        workspace.bytes("b.safetensors")
    );
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads() {
    let workspace = TestWorkspace::with_knapsack();
    for threads in [1, 3] {
        let train = TRAIN.replace("--method MAE(O,S)", "");
        let loss = "--method MSE(C,O,S)";
        workspace
            .run(&format!(
                "{train} {loss} --threads {threads} --out m{threads}.safetensors"
            ))
            .succeeded();
    }
    assert_eq!(
        workspace.bytes("m1.safetensors"),
        workspace.bytes("m3.safetensors")
    );
}

#[test]
fn unambiguous_regret_is_never_lower() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.run(TRAIN).succeeded();
    let words = "evaluate --model model.safetensors --data table.csv --json";
    let (plain, worst) = (
        workspace.run(words).json(),
        workspace.run(&format!("{words} --unambiguous")).json(),
    );
    assert!(worst["regret"].as_f64().unwrap() >= plain["regret"].as_f64().unwrap());
    assert_eq!(worst["solves"], 120);
}

#[test]
fn arrays_are_written_row_by_row_and_tours_labeled_by_local_search() {
    let workspace = TestWorkspace::new();
    workspace
        .run("generate --benchmark TSP9 --instances 30 --format npy --out .")
        .succeeded();
    assert_eq!(
        workspace.files(),
        ["costs.npy", "features.npy", "problem.toml"]
    );
    let labeled = workspace
        .run("label --cost-data costs.npy --problem problem.toml --heuristic local-search --json")
        .json();
    assert_eq!(
        (&labeled["solved"], &labeled["heuristic"]),
        (&30.into(), &"local-search".into())
    );
    let data = "--data features.npy --cost-data costs.npy --heuristic local-search";
    let trained = workspace
        .run(&format!(
            "train {data} --problem problem.toml --epochs 2 --json"
        ))
        .json();
    assert_eq!(
        (&trained["heuristic"], &trained["solves_by_kind"]["exact"]),
        (&"local-search".into(), &0.into())
    );
    let evaluated = workspace
        .run(&format!("evaluate --model model.safetensors {data} --json"))
        .json();
    assert_eq!(
        (
            &evaluated["heuristic"],
            &evaluated["solves_by_kind"]["heuristic"]
        ),
        (&"local-search".into(), &30.into())
    );
    workspace
        .run(
            "train --method MAE(O,S) \
                --data features.npy --cost-data costs.npy --problem problem.toml --heuristic \
        luck --out m",
        )
        .failed(2, &["luck", "local-search"]);
}

/// A file size limit of the shell simulates a full disk: writing fails in the middle of the costs.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_table() {
    let workspace = TestWorkspace::new();
    let program = assert_cmd::cargo::cargo_bin("regretless");
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; '{}' generate --benchmark TSP100 --instances 50 --format npy \
            --out '{}'",
        program.display(),
        workspace.path("").display()
    );
    let found = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    let words = String::from_utf8(found.stderr).unwrap();
    assert_eq!(found.status.code(), Some(3), "{words}");
    assert!(
        words.contains("costs.npy") && words.contains("990000 bytes, and nothing of it was kept"),
        "{words}"
    );
    assert!(workspace.files().is_empty(), "{:?}", workspace.files());
}
