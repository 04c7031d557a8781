//! Dependencies between modules point one way.

use std::collections::BTreeSet;
use std::fs;

use crate::{LIBRARY_TESTS, check, files, root, shown};

/// Modules that every module may use.
const COMMON: [&str; 13] = [
    "cancellation",
    "compressed",
    "decision",
    "error",
    "simd",
    "parallel",
    "random",
    "renamed",
    "sense",
    "checksummed_file",
    "size_limits",
    "text",
    "observer",
];

/// Each module and the others it may use.
const ARROWS: [(&str, &[&str]); 31] = [
    ("sense", &["data", "predict", "solve"]),
    (
        "model",
        &[
            "notes", "trainer", "train", "report", "predict", "evaluate", "label", "oracle",
            "problem", "solve", "data",
        ],
    ),
    (
        "notes",
        &[
            "trainer", "baseline", "train", "method", "report", "evaluate", "label", "oracle",
            "problem", "data",
        ],
    ),
    (
        "explain",
        &[
            "model", "method", "evaluate", "predict", "label", "oracle", "problem", "solve", "data",
        ],
    ),
    ("decision", &[]),
    ("error", &[]),
    ("data", &[]),
    ("statistics", &["data"]),
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
    ("parallel_threshold", &[]),
    ("report", &["oracle", "statistics"]),
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
            "parallel_threshold",
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
            "train",
            "method",
            "report",
            "settings",
            "loss",
            "predict",
            "evaluate",
            "oracle",
            "problem",
            "solve",
            "statistics",
            "data",
        ],
    ),
    (
        "trainer",
        &[
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
    (
        "planned_solves",
        &["trainer", "train", "method", "settings", "label", "problem"],
    ),
    (
        "experiment",
        &[
            "notes",
            "trainer",
            "baseline",
            "train",
            "method",
            "report",
            "settings",
            "loss",
            "predict",
            "evaluate",
            "label",
            "oracle",
            "problem",
            "solve",
            "statistics",
            "data",
        ],
    ),
    (
        "backtest",
        &[
            "experiment",
            "notes",
            "report",
            "trainer",
            "baseline",
            "train",
            "method",
            "settings",
            "evaluate",
            "predict",
            "label",
            "oracle",
            "problem",
            "solve",
            "statistics",
            "data",
        ],
    ),
    (
        "review",
        &[
            "backtest",
            "experiment",
            "explain",
            "trainer",
            "baseline",
            "train",
            "evaluate",
            "predict",
            "label",
            "oracle",
            "problem",
            "statistics",
            "data",
        ],
    ),
    ("checksummed_file", &[]),
    ("lib", &[]),
];

/// Modules of `solve` and the others of `solve` that each may use.
const SOLVE_ARROWS: [(&str, &[&str]); 22] = [
    ("mod", &["warm_start"]),
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
    (
        "tsp",
        &[
            "complete_graph",
            "cutting_plane",
            "highs",
            "pruning",
            "relaxation",
            "warm_start",
        ],
    ),
    (
        "cvrp",
        &[
            "complete_graph",
            "cutting_plane",
            "highs",
            "pruning",
            "relaxation",
            "warm_start",
        ],
    ),
];

/// Modules named after a path prefix, outside the tests at the end of a file.
fn modules_used(text: &str, prefix: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let is_name = |c: &char| c.is_ascii_lowercase() || *c == '_';
    code.split(prefix)
        .skip(1)
        .map(|rest| rest.chars().take_while(is_name).collect::<String>())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Uses that are not among the allowed ones, for the modules below a folder.
fn forbidden_uses(folder: &str, prefix: &str, arrows: &[(&str, &[&str])]) -> BTreeSet<String> {
    let base = root().join(folder);
    let sources = files(&base, &["rs"]);
    assert!(sources.len() > 20, "found only {} files", sources.len());
    let mut found = BTreeSet::new();
    for path in sources {
        if shown(&path).starts_with(LIBRARY_TESTS) {
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
        for used in modules_used(&fs::read_to_string(&path).unwrap(), prefix) {
            let fine = used == module
                || (prefix == "crate::" && COMMON.contains(&used.as_str()))
                || allowed.contains(&used.as_str());
            if !fine {
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
        &forbidden_uses("crates/regretless/src", "crate::", &ARROWS),
    );
}

#[test]
fn no_solver_uses_one_that_it_should_not() {
    let found = forbidden_uses(
        "crates/regretless/src/solve",
        "crate::solve::",
        &SOLVE_ARROWS,
    );
    check("solver dependency", &found);
}
