//! Settings files: the same names as the flags, flags override them, unknown names are refused.

mod common;

use common::TestWorkspace;

#[test]
fn a_settings_file_equals_its_flags() {
    let workspace = TestWorkspace::with_knapsack();
    let flags = "--data table.csv --costs c* --problem problem.toml --method MSE(O) --epochs 4 \
        --batch-size 8 \
                 --learning-rate 0.01 --optimizer sgd:momentum=0.5 --select last --patience 3 \
                 --standardize false \
                 --scale-costs true --rescale-loss false --split 0.3,0.1 --seed 7 --predictor \
                 mlp:4,3";
    workspace
        .run(&format!("train {flags} --out flags.safetensors"))
        .succeeded();
    workspace.write(
        "run.toml",
        "data = 'table.csv'\ncosts = ['c*']\nproblem = 'problem.toml'\nmethod = 'MSE(O)'\nepochs = \
            4\nbatch_size = 8\n\
         learning_rate = 0.01\noptimizer = 'sgd:momentum=0.5'\nselect = 'last'\npatience = \
         3\nstandardize = false\n\
         scale_costs = true\nrescale_loss = false\nsplit = [0.3, 0.1]\nseed = 7\npredictor = \
         'mlp:4,3'\n",
    );
    workspace
        .run("train --config run.toml --out file.safetensors")
        .succeeded();
    assert_eq!(
        workspace.bytes("flags.safetensors"),
        workspace.bytes("file.safetensors")
    );
    let settings = |name: &str| {
        workspace
            .read(name)
            .replace("flags.safetensors", "")
            .replace("file.safetensors", "")
    };
    assert_eq!(
        settings("flags.settings.toml"),
        settings("file.settings.toml")
    );
}

#[test]
fn the_settings_next_to_a_model_reproduce_it() {
    let workspace = TestWorkspace::with_knapsack();
    workspace
        .run(
            "train --method MAE(O,S) \
            --data table.csv --costs c* --problem problem.toml --epochs 3 --out a.safetensors",
        )
        .succeeded();
    workspace
        .run("train --config a.settings.toml --out b.safetensors")
        .succeeded();
    assert_eq!(
        workspace.bytes("a.safetensors"),
        workspace.bytes("b.safetensors")
    );
}

#[test]
fn the_unit_is_a_setting_that_changes_no_result() {
    let workspace = TestWorkspace::with_knapsack();
    let table = "--data table.csv --costs c* --problem problem.toml --epochs 2";
    workspace
        .run(&format!("train {table} --unit EUR --out a.safetensors"))
        .succeeded();
    assert!(workspace.read("a.settings.toml").contains("unit = \"EUR\""));
    workspace
        .run("train --config a.settings.toml --report page.html --out b.safetensors")
        .succeeded();
    let page = workspace.read("page.html");
    let verdict = page.split("class=\"verdict\">").nth(1).unwrap();
    let verdict = verdict.split("</p>").next().unwrap();
    assert!(verdict.contains(" EUR "), "{verdict}");
    assert_eq!(
        workspace.bytes("a.safetensors"),
        workspace.bytes("b.safetensors")
    );
    let compare = format!("compare {table} --seeds 1 --methods MSE --out cmp");
    workspace.run(&format!("{compare} --unit EUR")).succeeded();
    assert!(
        workspace
            .read("cmp/settings.toml")
            .contains("unit = \"EUR\"")
    );
    // A comparison without its summary is resumed.
    std::fs::remove_file(workspace.path("cmp/summary.csv")).unwrap();
    let output = workspace.run(&format!("{compare} --unit USD")).succeeded();
    assert!(output.err.contains("resuming; 3 of 3"), "{}", output.err);
    assert!(
        workspace
            .read("cmp/settings.toml")
            .contains("unit = \"USD\"")
    );
}

#[test]
fn flags_override_the_file() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.write(
        "run.toml",
        "data = 'table.csv'\ncosts = 'c*'\nproblem = 'problem.toml'\nepochs = 9\nmethod = 'MSE'\n",
    );
    workspace
        .run("train --config run.toml --epochs 2 --method MAE")
        .succeeded();
    let settings = workspace.read("model.settings.toml");
    assert!(
        settings.contains("epochs = 2\n") && settings.contains("method = \"MAE\"\n"),
        "{settings}"
    );
}

#[test]
fn one_file_serves_several_commands_and_holds_the_problem() {
    let workspace = TestWorkspace::with_knapsack();
    let problem = workspace
        .read("problem.toml")
        .replace("kind", "[problem]\nkind");
    let shared = "data = 'table.csv'\ncosts = 'c*'\n[train]\nepochs = 2\n[compare]\nseeds = \
        1\nmethods = 'MSE;MAE'\nepochs = 1\n";
    workspace.write("all.toml", &format!("{shared}{problem}"));
    workspace.run("train --config all.toml").succeeded();
    assert_eq!(workspace.read("model.epochs.csv").lines().count(), 1 + 3);
    workspace
        .run("compare --config all.toml --out cmp")
        .succeeded();
    assert_eq!(
        workspace.read("cmp/results.csv").lines().count(),
        1 + 2 + 2,
        "two losses and two baselines"
    );
    workspace
        .run("train --config model.settings.toml --out again.safetensors")
        .succeeded();
    assert_eq!(
        workspace.bytes("model.safetensors"),
        workspace.bytes("again.safetensors")
    );
}

#[test]
fn unknown_settings_are_named_with_the_choices() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.write("run.toml", "epoch = 9\n");
    workspace
        .run("train --config run.toml")
        .failed(2, &["run.toml", "'epoch'", "epochs", "learning_rate"]);
    workspace.write("run.toml", "[train]\nlearning-rate = 9\n");
    workspace
        .run("train --config run.toml")
        .failed(2, &["run.toml", "'learning-rate'", "learning_rate"]);
}

#[test]
fn settings_of_the_wrong_kind_are_named() {
    let workspace = TestWorkspace::with_knapsack();
    for (text, words) in [
        ("epochs = 'many'", ["epochs", "many"]),
        ("epochs = -1", ["epochs", "-1"]),
        ("method = 'RMSE'", ["method", "RMSE"]),
        ("select = 'best'", ["select", "validation-regret"]),
        ("optimizer = 'lion'", ["optimizer", "adamw"]),
        ("profile = 'mine'", ["profile", "paper"]),
        ("benchmark = 'ABC20'", ["benchmark", "KS32"]),
        ("split = '2,2'", ["split", "1000,400,600"]),
        ("[problem]\nkind = 'tour'", ["problem", "knapsack"]),
    ] {
        workspace.write("run.toml", text);
        workspace
            .run("train --config run.toml")
            .failed(2, &[&["run.toml"], &words[..]].concat());
    }
    workspace.write("run.toml", "a = 1\nepochs =\n");
    workspace
        .run("train --config run.toml")
        .failed(2, &["run.toml", "line 2"]);
    workspace
        .run("train --config missing.toml")
        .failed(3, &["missing.toml"]);
}

#[test]
fn json_prints_results_as_json() {
    let workspace = TestWorkspace::with_knapsack();
    let made = workspace
        .run("generate --benchmark SP3x3 --instances 9 --out sp --json")
        .json();
    assert_eq!(made["costs"], 12);
    let trained = workspace
        .run(
            "train --method MAE(O,S) \
            --data table.csv --costs c* --problem problem.toml --epochs 1 --json",
        )
        .json();
    assert!(
        trained["test"]["regret"].is_number() && trained["solves"].is_number(),
        "{trained}"
    );
    let built = workspace
        .run("decide --model model.safetensors --data table.csv --out d.csv --json")
        .json();
    assert_eq!(built["instances"], 60);
}

#[test]
fn methods_with_oracle_settings_and_a_second_stage_are_trained_and_reported() {
    let workspace = TestWorkspace::with_knapsack();
    workspace.write(
        "run.toml",
        "data = 'table.csv'\ncosts = 'c*'\nproblem = 'problem.toml'\nmethod = 'MAE(O,S) then SPO+ \
            cache 50%'\n\
         epochs = 2\nthen_epochs = 3\nselect = 'last'\n",
    );
    let trained = workspace.run("train --config run.toml --json").json();
    assert_eq!(trained["method"], "MAE(O,S) then SPO+ cache 50%");
    let kinds = &trained["solves_by_kind"];
    assert_eq!(trained["solves"], kinds["exact"]);
    let asked = kinds["exact"].as_u64().unwrap() + kinds["cache_hits"].as_u64().unwrap();
    let rows = asked / 3;
    assert!(
        asked.is_multiple_of(3) && (30..60).contains(&rows),
        "{trained}"
    );
    workspace.write("run.toml", "method = 'SPO+ fast'");
    workspace
        .run("train --config run.toml")
        .failed(2, &["run.toml", "relax tight", "cache 5%"]);
}

#[test]
fn a_trained_model_is_fine_tuned_with_another_learning_rate_and_epochs() {
    let workspace = TestWorkspace::with_knapsack();
    let table =
        "data = 'table.csv'\ncosts = 'c*'\nproblem = 'problem.toml'\nseed = 4\nselect = 'last'\n";
    workspace.write(
        "first.toml",
        &format!("{table}method = 'MAE(O,S)'\nepochs = 3\n"),
    );
    workspace
        .run("train --config first.toml --out first.safetensors")
        .succeeded();
    workspace.write(
        "tune.toml",
        &format!("{table}method = 'SPO+'\ninit_model = 'first.safetensors'\n"),
    );
    workspace
        .run("train --config tune.toml --learning-rate 0.001 --epochs 2 --out two.safetensors")
        .succeeded();
    workspace.write(
        "both.toml",
        &format!("{table}method = 'MAE(O,S) then SPO+ lr 0.001 epochs 2'\nepochs = 3\n"),
    );
    let whole = workspace
        .run("train --config both.toml --out one.safetensors --json")
        .json();
    assert_eq!(whole["method"], "MAE(O,S) then SPO+ lr 0.001 epochs 2");
    let evaluated = |model: &str| {
        workspace
            .run(&format!("evaluate --model {model} --data table.csv --json"))
            .json()
    };
    assert_eq!(evaluated("one.safetensors"), evaluated("two.safetensors"));
    assert_ne!(
        evaluated("one.safetensors")["mse"],
        evaluated("first.safetensors")["mse"]
    );
    assert!(
        workspace
            .read("two.settings.toml")
            .contains("init_model = \"first.safetensors\"")
    );
    workspace
        .run("train --config tune.toml --init-model none.safetensors --out x.safetensors")
        .failed(3, &["none.safetensors"]);
    workspace
        .run(
            "train --benchmark SP3x3 --split 20,10,10 --init-model first.safetensors --out \
        x.safetensors",
        )
        .failed(2, &["the model to start from predicts 8 costs", "12"]);
}

/// The examples of each command are checked where the commands are defined.
#[test]
fn the_general_help_lists_the_exit_codes() {
    let workspace = TestWorkspace::new();
    let help = workspace.run("--help").succeeded().out;
    assert!(
        ["  2 ", "  3 ", "  4 ", "  130 "]
            .iter()
            .all(|code| help.contains(code)),
        "{help}"
    );
}

#[test]
fn old_words_are_refused_with_the_new_one() {
    let workspace = TestWorkspace::with_knapsack();
    for (call, new) in [
        ("train --loss MSE", "--method"),
        ("compare --loss MSE", "--methods"),
        ("compare --losses MSE", "--methods"),
        ("train --batch 8", "--batch-size"),
        ("train --decay", "--lr-decay"),
        ("label --keep-every 0", "--checkpoint-interval"),
        ("evaluate --decide-by local-search", "--heuristic"),
        ("solve a.tsp --node-limit=5", "--nodes"),
        ("reproduce --budget 30m", "--time-budget"),
    ] {
        workspace.run(call).failed(2, &[new, "now"]);
    }
    for (line, new) in [
        ("loss = 'MSE'", "'method'"),
        ("output_map = true", "'scale_costs'"),
        ("optimizer = 'adamw:decay=0.1'", "'weight_decay'"),
        (
            "problem = { kind = 'shortest_path', grid = [3, 3] }",
            "'grid_path'",
        ),
    ] {
        workspace.write("old.toml", line);
        workspace
            .run("train --config old.toml")
            .failed(2, &["old.toml", new, "now"]);
    }
    workspace.run("generate --loss MSE").refused(2, &["--loss"]);
}
