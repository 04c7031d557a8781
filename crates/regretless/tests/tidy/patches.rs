//! The patches of `docs/extend` extend the tree as it is, in few files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;

/// A patch and the most files that it may touch.
const PATCHES: [(&str, usize); 3] = [("problem", 4), ("loss", 3), ("command", 3)];

fn patch(name: &str) -> PathBuf {
    root().join(format!("docs/extend/patches/{name}.patch"))
}

/// Runs a program in a folder; returns what it printed.
fn run<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S]) -> String {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments);
    // The folder is no repository, even where one is above it.
    command.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap());
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program}: {errors}");
    String::from_utf8(done.stdout).unwrap()
}

/// The files that a patch touches.
fn touched(name: &str) -> Vec<String> {
    let path = patch(name);
    let text = fs::read_to_string(path).unwrap();
    let files = text.lines().filter_map(|line| line.strip_prefix("+++ b/"));
    files.map(str::to_owned).collect()
}

/// Copies a file to the same place below another folder.
fn copy(file: &str, folder: &Path) {
    let target = folder.join(file);
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::copy(root().join(file), target).unwrap();
}

#[test]
fn patches_apply_to_the_tree_in_few_files() {
    for (name, most) in PATCHES {
        let folder = tempfile::tempdir().unwrap();
        let files = touched(name);
        assert!(files.len() <= most, "{name}: {files:?}");
        for file in files.iter().filter(|file| root().join(file).exists()) {
            copy(file, folder.path());
        }
        run(
            folder.path(),
            "git",
            &[OsStr::new("apply"), patch(name).as_os_str()],
        );
        for file in &files {
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
            let too_long = text
                .lines()
                .find(|line| file.ends_with(".rs") && line.chars().count() > 100);
            assert_eq!(too_long, None, "{file}");
        }
    }
}

/// The page of each patch quotes its new files.
#[test]
fn pages_quote_the_patches() {
    for (name, _) in PATCHES {
        let page = fs::read_to_string(root().join(format!("docs/extend/{name}.md"))).unwrap();
        let text = fs::read_to_string(patch(name)).unwrap();
        let added: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix('+'))
            .collect();
        let quoted = page.split("```rust\n").skip(1);
        let blocks: Vec<&str> = quoted.filter_map(|rest| rest.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{name}");
        for block in blocks {
            for line in block.lines().filter(|line| *line != "// …") {
                assert!(added.contains(&line), "{name}.md quotes '{line}'");
            }
        }
        assert!(
            page.split_whitespace().count() <= 400 + blocks_words(&page),
            "{name}"
        );
    }
}

/// The number of words in code blocks.
fn blocks_words(page: &str) -> usize {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.map(|block| block.split_whitespace().count()).sum()
}

/// Builds the program with all patches and uses each: minutes, so only nightly runs do it.
#[test]
#[ignore = "builds the program"]
#[allow(clippy::print_stdout, reason = "scripts/nightly reads the summary")]
fn the_patched_program_has_the_problem_the_loss_and_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path();
    let listed = run(&root(), "git", &["ls-files"]);
    for file in listed.lines().filter(|file| root().join(file).is_file()) {
        copy(file, tree);
    }
    for (name, _) in PATCHES {
        run(tree, "git", &[OsStr::new("apply"), patch(name).as_os_str()]);
    }
    run(
        tree,
        "cargo",
        &["build", "--package", "regretless-cli", "--offline"],
    );
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| tree.join("target"), PathBuf::from);
    let program = target.join("debug/regretless");
    let program = program.to_str().unwrap();
    let kinds = run(tree, program, &["kinds", "--filter", "window"]);
    assert_eq!(kinds, "window: The cheapest run of consecutive steps.\n");
    let mut table = String::from("x,hours,c_0,c_1,c_2,c_3\n");
    for row in 0..40 {
        let x = f64::from(row % 7);
        let hours = 1 + row % 3;
        table += &format!(
            "{x},{hours},{},{},2.5,{}\n",
            1.0 + x,
            5.0 - x,
            3.0 + x / 2.0
        );
    }
    fs::write(tree.join("table.csv"), table).unwrap();
    let problem = "kind = \"window\"\nsteps = 4\nlength = { column = \"hours\" }\n";
    fs::write(tree.join("problem.toml"), problem).unwrap();
    let arguments = "train --data table.csv --costs c_* --problem problem.toml \
                     --method log-cosh --epochs 3 --out model.safetensors --json";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let report = run(tree, program, &arguments);
    assert!(report.contains("\"regret\""), "{report}");
    println!("suite summary: {} instances, - optimal", PATCHES.len());
}
