//! The house in order: who may know whom.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// What every room may use.
const COMMON: [&str; 10] = [
    "cancel", "decision", "error", "lanes", "parallel", "random", "sealed", "sizes", "text",
    "watch",
];

/// Each room and the other rooms it may use.
const ARROWS: [(&str, &[&str]); 14] = [
    ("decision", &[]),
    ("error", &["solve"]),
    ("data", &[]),
    ("solve", &[]),
    ("problem", &["solve", "data"]),
    ("oracle", &["problem", "solve", "data"]),
    ("label", &["oracle", "problem", "solve", "data"]),
    ("loss", &["label", "oracle", "problem", "solve", "data"]),
    ("predict", &["data"]),
    (
        "evaluate",
        &["predict", "label", "oracle", "problem", "data"],
    ),
    (
        "train",
        &[
            "loss", "predict", "evaluate", "label", "oracle", "problem", "solve", "data",
        ],
    ),
    (
        "experiment",
        &[
            "train", "loss", "predict", "evaluate", "label", "oracle", "problem", "data",
        ],
    ),
    ("sealed", &[]),
    ("lib", &[]),
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Rooms named by `crate::room` outside the tests at the end of a file.
fn rooms_used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let names = code.split("crate::").skip(1);
    let name = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '_')
            .collect::<String>()
    };
    names.map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_room_knows_a_room_it_should_not_know() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 20, "found only {} files", files.len());
    for file in files {
        let place = file.strip_prefix(&root).unwrap();
        let first = place
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap();
        let room = first.trim_end_matches(".rs");
        let text = fs::read_to_string(&file).unwrap();
        for used in rooms_used(&text) {
            let allowed = ARROWS
                .iter()
                .find(|(name, _)| *name == room)
                .map_or(&[][..], |(_, rooms)| rooms);
            let fine =
                used == room || COMMON.contains(&used.as_str()) || allowed.contains(&used.as_str());
            assert!(
                fine,
                "{}: the room '{room}' must not use '{used}'",
                place.display()
            );
        }
    }
}
