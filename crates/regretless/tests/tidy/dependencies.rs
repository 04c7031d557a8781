//! Dependencies between modules point one way.

use std::collections::BTreeSet;
use std::fs;

use crate::{LIBRARY_TESTS, check, files, root, shown};

/// Modules that every module may use.
const COMMON: [&str; 2] = ["sense", "simd"];

/// Each module and the others it may use.
const ARROWS: [(&str, &[&str]); 24] = [
    ("sense", &["data", "predict", "solve"]),
    (
        "model",
        &[
            "job", "notes", "trainer", "train", "report", "predict", "evaluate", "label", "oracle",
            "problem", "solve", "data",
        ],
    ),
    ("note", &["baseline", "data"]),
    (
        "job",
        &[
            "notes",
            "trainer",
            "train",
            "checkpoint",
            "method",
            "label",
            "oracle",
            "problem",
            "solve",
            "data",
        ],
    ),
    (
        "notes",
        &[
            "note", "trainer", "baseline", "train", "method", "report", "evaluate", "label",
            "oracle", "problem", "data",
        ],
    ),
    (
        "explain",
        &[
            "model", "method", "evaluate", "predict", "label", "oracle", "problem", "solve", "data",
        ],
    ),
    ("data", &[]),
    ("solve", &[]),
    ("problem", &["solve", "data"]),
    ("oracle", &["problem", "solve", "data"]),
    ("label", &["oracle", "problem", "solve", "data"]),
    ("loss", &["label", "oracle", "problem", "solve", "data"]),
    ("predict", &["data"]),
    (
        "evaluate",
        &["predict", "label", "oracle", "problem", "solve", "data"],
    ),
    ("method", &["loss", "label", "oracle", "solve"]),
    ("optimizer", &[]),
    ("report", &["evaluate", "oracle"]),
    ("settings", &["method", "optimizer", "data"]),
    (
        "checkpoint",
        &["optimizer", "report", "oracle", "predict", "data"],
    ),
    (
        "train",
        &[
            "checkpoint",
            "method",
            "optimizer",
            "report",
            "settings",
            "loss",
            "predict",
            "evaluate",
            "label",
            "oracle",
            "problem",
            "solve",
            "data",
        ],
    ),
    (
        "baseline",
        &["train", "evaluate", "predict", "problem", "data"],
    ),
    (
        "auto",
        &[
            "train", "method", "report", "settings", "loss", "predict", "evaluate", "oracle",
            "problem", "solve", "data",
        ],
    ),
    (
        "trainer",
        &[
            "note",
            "auto",
            "baseline",
            "train",
            "checkpoint",
            "method",
            "report",
            "settings",
            "predict",
            "evaluate",
            "label",
            "oracle",
            "problem",
        ],
    ),
    ("lib", &[]),
];

/// What the solvers of tours and of routes may use.
const ROUTING_ARROWS: [&str; 6] = [
    "complete_graph",
    "cutting_plane",
    "highs",
    "pruning",
    "relaxation",
    "warm_start",
];

/// Modules of the solvers and the others that each may use.
const SOLVE_ARROWS: [(&str, &[&str]); 22] = [
    ("lib", &["warm_start"]),
    ("warm_start", &[]),
    ("complete_graph", &[]),
    ("pruning", &["complete_graph"]),
    ("relaxation", &["warm_start"]),
    ("simplex_dictionary", &["relaxation"]),
    ("dense_tableau", &[]),
    ("cone", &[]),
    ("highs", &["relaxation"]),
    ("cutting_plane", &["highs", "pruning"]),
    ("top_k", &["relaxation"]),
    ("assignment", &["relaxation"]),
    ("multiple_choice", &["relaxation"]),
    ("network_flow", &["relaxation", "rounding"]),
    ("grid_path", &["highs", "relaxation"]),
    ("graph_path", &["network_flow", "relaxation", "rounding"]),
    ("spanning_tree", &["relaxation"]),
    ("storage", &["relaxation"]),
    (
        "knapsack",
        &[
            "dense_tableau",
            "relaxation",
            "simplex_dictionary",
            "warm_start",
        ],
    ),
    (
        "linear",
        &[
            "dense_tableau",
            "highs",
            "relaxation",
            "simplex_dictionary",
            "warm_start",
        ],
    ),
    ("tsp", &ROUTING_ARROWS),
    ("cvrp", &ROUTING_ARROWS),
];

/// Names after `crate::`, outside the tests at the end of a file.
fn modules_used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let is_name = |c: &char| c.is_ascii_lowercase() || *c == '_';
    code.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(is_name).collect::<String>())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Uses that are not among the allowed ones, for the modules below a folder.
fn forbidden_uses(folder: &str, arrows: &[(&str, &[&str])]) -> BTreeSet<String> {
    let base = root().join(folder);
    let sources = files(&base, &["rs"]);
    assert!(sources.len() > 20, "found only {} files", sources.len());
    let mut found = BTreeSet::new();
    for path in sources {
        if shown(&path).contains(LIBRARY_TESTS) {
            continue;
        }
        let place = path.strip_prefix(&base).unwrap();
        let first = place
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap();
        let module = first.trim_end_matches(".rs");
        let allowed = arrows
            .iter()
            .find(|(name, _)| *name == module)
            .map_or(&[][..], |(_, modules)| modules);
        for used in modules_used(&fs::read_to_string(&path).unwrap()) {
            let is_module = base.join(&used).exists() || base.join(format!("{used}.rs")).exists();
            let may_use = used == module
                || COMMON.contains(&used.as_str())
                || allowed.contains(&used.as_str());
            if is_module && !may_use {
                found.insert(format!("{}: {module} must not use {used}", shown(&path)));
            }
        }
    }
    found
}

#[test]
fn no_module_uses_one_that_it_should_not() {
    check(
        "dependency",
        &forbidden_uses("crates/regretless/src", &ARROWS),
    );
}

/// Modules of the studies and the others that each may use.
const STUDY_ARROWS: [(&str, &[&str]); 12] = [
    ("lib", &[]),
    (
        "fit",
        &[
            "backtest",
            "decision_page",
            "table_report",
            "text",
            "verdict",
        ],
    ),
    ("experiment", &[]),
    ("text", &[]),
    ("verdict", &[]),
    ("table_report", &["text"]),
    ("explanation", &["text"]),
    ("backtest", &["experiment", "text", "verdict"]),
    ("review", &["backtest", "experiment", "text", "verdict"]),
    ("report", &["backtest", "experiment", "review", "text"]),
    (
        "decision_page",
        &[
            "backtest",
            "explanation",
            "report",
            "review",
            "table_report",
            "text",
        ],
    ),
    (
        "comparison",
        &[
            "decision_page",
            "experiment",
            "explanation",
            "report",
            "review",
            "table_report",
            "text",
            "verdict",
        ],
    ),
];

#[test]
fn no_study_uses_one_that_it_should_not() {
    let found = forbidden_uses("crates/regretless-study/src", &STUDY_ARROWS);
    check("study dependency", &found);
}

#[test]
fn no_solver_uses_one_that_it_should_not() {
    let found = forbidden_uses("crates/regretless-solvers/src", &SOLVE_ARROWS);
    check("solver dependency", &found);
}

/// Each crate and the others of the workspace that it may use.
const CRATE_ARROWS: [(&str, &[&str]); 6] = [
    ("regretless-base", &[]),
    ("regretless-solvers", &["regretless-base"]),
    ("regretless", &["regretless-base", "regretless-solvers"]),
    ("regretless-study", &["regretless-base", "regretless"]),
    ("regretless-cli", &["regretless", "regretless-study"]),
    (
        "regretless-python",
        &["regretless", "regretless-cli", "regretless-study"],
    ),
];

#[test]
fn no_crate_uses_one_that_it_should_not() {
    let mut found = BTreeSet::new();
    for (name, allowed) in CRATE_ARROWS {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let dependencies = manifest["dependencies"].as_table().unwrap();
        for used in dependencies
            .keys()
            .filter(|used| used.starts_with("regretless"))
        {
            if !allowed.contains(&used.as_str()) {
                found.insert(format!("{name} must not use {used}"));
            }
        }
    }
    check("crate dependency", &found);
    let crates = fs::read_dir(root().join("crates")).unwrap().count();
    assert_eq!(crates, CRATE_ARROWS.len(), "every crate has a line above");
}
