//! The whole way: generate, train, evaluate, decide.

mod common;

use common::Workshop;

const TRAIN: &str = "train --data table.csv --costs c* --problem problem.toml --epochs 3";

#[test]
fn a_csv_table_goes_all_the_way_to_decisions() {
    let shop = Workshop::with_knapsack();
    let trained = shop.run(TRAIN).succeeded();
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
        shop.files(),
        [&beside[..], &["problem.toml", "table.csv"]].concat()
    );
    let epochs = shop.read("model.epochs.csv");
    assert_eq!(epochs.lines().count(), 1 + 4, "{epochs}");
    let lines = shop.read("model.epochs.jsonl");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["epoch"], lines.lines().count()),
        (&3.into(), 4),
        "{lines}"
    );

    let evaluated = shop
        .run("evaluate --model model.safetensors --data table.csv --json")
        .json();
    assert_eq!(evaluated["instances"], 60);
    assert!(evaluated["regret"].as_f64().unwrap() >= 0.0);

    shop.run(
        "decide --model model.safetensors --data table.csv --out d.csv --predictions-out p.csv",
    )
    .succeeded();
    let decisions = shop.read("d.csv");
    assert_eq!(decisions.lines().next(), Some("c0,c1,c2,c3,c4,c5,c6,c7"));
    assert_eq!(decisions.lines().count(), 61);
    let words =
        "evaluate --predictions p.csv --data table.csv --costs c* --problem problem.toml --json";
    let again = shop.run(words).json();
    assert_eq!(again["regret"], evaluated["regret"]);
    assert_eq!(again["mse"], evaluated["mse"]);
}

#[test]
fn arrays_and_tables_lead_to_the_same_model_and_decisions() {
    let shop = Workshop::with_knapsack();
    shop.run("generate --benchmark KS8 --instances 60 --out arrays --format npy")
        .succeeded();
    shop.run(TRAIN).succeeded();
    let columns =
        "--data arrays/features.npy --cost-data arrays/costs.npy --problem arrays/problem.toml";
    shop.run(&format!(
        "train {columns} --epochs 3 --out arrays.safetensors"
    ))
    .succeeded();
    assert_eq!(
        shop.bytes("model.safetensors"),
        shop.bytes("arrays.safetensors")
    );

    shop.run(
        "decide --model model.safetensors --data table.csv --out a.npy --predictions-out pa.npy",
    )
    .succeeded();
    shop.run("decide --model arrays.safetensors --data arrays/features.npy --out b.npy")
        .succeeded();
    assert_eq!(shop.bytes("a.npy"), shop.bytes("b.npy"));
    let from_table = shop
        .run("evaluate --model model.safetensors --data table.csv --json")
        .json();
    let words = "evaluate --model arrays.safetensors --data arrays/features.npy --cost-data \
        arrays/costs.npy --json";
    assert_eq!(shop.run(words).json(), from_table);
    let words =
        "evaluate --predictions pa.npy --cost-data arrays/costs.npy --problem problem.toml --json";
    assert_eq!(shop.run(words).json()["regret"], from_table["regret"]);
}

#[test]
fn sparse_decisions_say_the_same_as_dense_ones() {
    let shop = Workshop::with_knapsack();
    shop.run(TRAIN).succeeded();
    shop.run("decide --model model.safetensors --data table.csv --out dense.csv")
        .succeeded();
    shop.run("decide --model model.safetensors --data table.csv --out sparse.csv --sparse")
        .succeeded();
    let dense = shop.read("dense.csv");
    let mut ones = Vec::new();
    for (instance, line) in dense.lines().skip(1).enumerate() {
        for (item, cell) in line.split(',').enumerate() {
            assert!(["0", "1"].contains(&cell), "{cell}");
            if cell == "1" {
                ones.push(format!("{instance},c{item},1"));
            }
        }
    }
    let sparse = shop.read("sparse.csv");
    assert_eq!(sparse.lines().next(), Some("instance,item,value"));
    assert_eq!(sparse.lines().skip(1).collect::<Vec<_>>(), ones);
}

#[test]
fn a_long_table_trains_one_predictor_for_all_items() {
    let shop = Workshop::new();
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
    shop.write("long.csv", &table);
    shop.write(
        "problem.toml",
        "kind = \"top_k\"\nitems = 5\nk = 2\nsense = \"maximize\"\n",
    );
    let columns = "--instance-column day --item-column house";
    let data = format!("--data long.csv {columns} --cost-column price");
    shop.run(&format!(
        "train {data} --problem problem.toml --epochs 300 --method MSE --learning-rate 0.05 \
            --select \
            last"
    ))
    .succeeded();
    let evaluated = shop
        .run(&format!("evaluate --model model.safetensors {data} --json"))
        .json();
    assert_eq!(evaluated["instances"], 40);
    assert!(evaluated["mse"].as_f64().unwrap() < 1.0, "{evaluated}");
    shop.run(&format!(
        "decide --model model.safetensors --data long.csv {columns} --out d.csv"
    ))
    .succeeded();
    let decisions = shop.read("d.csv");
    assert_eq!(decisions.lines().next(), Some("h0,h1,h2,h3,h4"));
    assert!(
        decisions
            .lines()
            .skip(1)
            .all(|line| line.matches('1').count() == 2),
        "{decisions}"
    );
}

#[test]
fn the_same_table_is_generated_from_the_same_seed_only() {
    let shop = Workshop::new();
    for (folder, seed) in [("a", 3), ("b", 3), ("c", 4)] {
        shop.run(&format!(
            "generate --benchmark SP3x3 --instances 20 --seed {seed} --out {folder}"
        ))
        .succeeded();
    }
    assert_eq!(shop.read("a/table.csv"), shop.read("b/table.csv"));
    assert_ne!(shop.read("a/table.csv"), shop.read("c/table.csv"));
}

#[test]
fn a_generated_table_equals_the_built_in_data_of_its_seed() {
    let shop = Workshop::new();
    shop.run("generate --benchmark SP4x4 --instances 50 --seed 2 --out .")
        .succeeded();
    let split = "--split 30,10,10 --epochs 2 --seed 2";
    shop.run(&format!(
        "train --data table.csv --costs c* --problem problem.toml {split} --out a.safetensors"
    ))
    .succeeded();
    shop.run(&format!(
        "train --benchmark SP4x4 {split} --out b.safetensors"
    ))
    .succeeded();
    assert_eq!(shop.bytes("a.safetensors"), shop.bytes("b.safetensors"));
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads() {
    let shop = Workshop::with_knapsack();
    for threads in [1, 3] {
        let loss = "--method MSE(C,O,S)";
        shop.run(&format!(
            "{TRAIN} {loss} --threads {threads} --out m{threads}.safetensors"
        ))
        .succeeded();
    }
    assert_eq!(shop.bytes("m1.safetensors"), shop.bytes("m3.safetensors"));
}

#[test]
fn worst_ties_never_lower_the_regret() {
    let shop = Workshop::with_knapsack();
    shop.run(TRAIN).succeeded();
    let words = "evaluate --model model.safetensors --data table.csv --json";
    let (plain, worst) = (
        shop.run(words).json(),
        shop.run(&format!("{words} --unambiguous")).json(),
    );
    assert!(worst["regret"].as_f64().unwrap() >= plain["regret"].as_f64().unwrap());
    assert_eq!(worst["solves"], 120);
}

#[test]
fn arrays_are_written_row_by_row_and_tours_labeled_by_local_search() {
    let shop = Workshop::new();
    shop.run("generate --benchmark TSP9 --instances 30 --format npy --out .")
        .succeeded();
    assert_eq!(shop.files(), ["costs.npy", "features.npy", "problem.toml"]);
    let labeled = shop
        .run("label --cost-data costs.npy --problem problem.toml --heuristic local-search --json")
        .json();
    assert_eq!(
        (&labeled["solved"], &labeled["heuristic"]),
        (&30.into(), &"local-search".into())
    );
    let data = "--data features.npy --cost-data costs.npy --heuristic local-search";
    let trained = shop
        .run(&format!(
            "train {data} --problem problem.toml --epochs 2 --json"
        ))
        .json();
    assert_eq!(
        (&trained["heuristic"], &trained["solves_by_kind"]["exact"]),
        (&"local-search".into(), &0.into())
    );
    let evaluated = shop
        .run(&format!("evaluate --model model.safetensors {data} --json"))
        .json();
    assert_eq!(
        (
            &evaluated["heuristic"],
            &evaluated["solves_by_kind"]["heuristic"]
        ),
        (&"local-search".into(), &30.into())
    );
    shop.run(
        "train --data features.npy --cost-data costs.npy --problem problem.toml --heuristic \
        luck --out m",
    )
    .failed(2, &["luck", "local-search"]);
}

/// The limit of the shell stands for a full disk: writing fails in the middle of the costs.
#[cfg(unix)]
#[test]
fn a_table_that_finds_no_room_leaves_nothing() {
    let shop = Workshop::new();
    let program = assert_cmd::cargo::cargo_bin("regretless");
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; '{}' generate --benchmark TSP100 --instances 50 --format npy \
            --out '{}'",
        program.display(),
        shop.path("").display()
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
    assert!(shop.files().is_empty(), "{:?}", shop.files());
}
