//! A temporary folder for each test, in which the program runs.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "every test file uses some of this, and a test may panic"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// An experiment of a moment: two methods on one small problem.
pub const SMALL_EXPERIMENT: &str = r#"
name = "small"
title = "Two methods"
seeds = 1
methods = ["MSE", "SPO+"]
problems = [{ name = "KS8", split = [20, 10, 10] }]
[training]
epochs = 2
"#;

/// A pseudo-random number in [0, 1) of two numbers.
pub fn noise(a: u64, b: u64) -> f64 {
    let mut state = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xD1B5_4A32_D192_ED03);
    state ^= state >> 29;
    state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^= state >> 32;
    (state % 1_000_000) as f64 / 1e6
}

/// Everything under a folder by its path: files with their bytes, folders, whose names end with a
/// slash, with none.
pub fn folder_content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            for (inner, bytes) in folder_content(&path) {
                found.insert(format!("{name}/{inner}"), bytes);
            }
            found.insert(format!("{name}/"), Vec::new());
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// A temporary folder in which commands run.
pub struct TestWorkspace(TempDir);

/// Exit code and output of a command.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl TestWorkspace {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A folder with `table.csv` and `problem.toml` of a small knapsack.
    pub fn with_knapsack() -> Self {
        let workspace = Self::new();
        workspace
            .run("generate --benchmark KS8 --instances 60 --out .")
            .succeeded();
        workspace
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes a problem file whose items are present in the rows that these columns say.
    pub fn write_with_presence(&self, name: &str, problem: &str, columns: &str) {
        let present = format!("present = {{ columns = '{columns}' }}\n");
        self.write(name, &format!("{problem}{present}"));
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Fills in the empty cells of a table with one word.
    pub fn fill_in(&self, file: &str, word: &str) {
        let text = self.read(file);
        let fill = |cell: &str| if cell.is_empty() { word } else { cell }.to_owned();
        let lines = text.lines().map(|line| {
            let cells: Vec<String> = line.split(',').map(fill).collect();
            cells.join(",") + "\n"
        });
        self.write(file, &lines.collect::<String>());
    }

    /// Names of everything in the folder but labels, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| !name.ends_with(".labels"));
        names.sort();
        names
    }

    /// Runs the program with words separated by spaces.
    pub fn run(&self, words: &str) -> CommandOutput {
        self.run_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with these words.
    pub fn run_words(&self, words: &[impl AsRef<std::ffi::OsStr>]) -> CommandOutput {
        let mut command = Command::cargo_bin("regretless").unwrap();
        let output = command
            .current_dir(self.0.path())
            .args(words)
            .output()
            .unwrap();
        CommandOutput::new(output)
    }

    /// Runs the program after a command of the shell that limits it, such as `ulimit -v 1000000`.
    pub fn run_limited(&self, limits: &str, words: &str) -> CommandOutput {
        let output = Process::new("sh")
            .current_dir(self.0.path())
            .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
            .arg(assert_cmd::cargo::cargo_bin!("regretless"))
            .args(words.split_whitespace())
            .output()
            .unwrap();
        CommandOutput::new(output)
    }
}

impl CommandOutput {
    fn new(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }

    /// The result that was printed has these words.
    pub fn says(&self, words: &str) {
        assert!(
            self.out.contains(words),
            "'{words}' is not in: {}",
            self.out
        );
    }

    /// The command failed with this code, said all these words, and printed no result.
    pub fn failed(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(
            self.err.lines().any(|line| line.starts_with("error: ")),
            "{}",
            self.err
        );
        assert!(self.out.is_empty(), "{}", self.out);
        for word in words {
            assert!(self.err.contains(word), "'{word}' is not in: {}", self.err);
        }
    }

    /// The command ended with this code and said all these words, whatever it printed before.
    pub fn refused(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(
                self.out.contains(word) || self.err.contains(word),
                "'{word}' is not in: {}{}",
                self.out,
                self.err
            );
        }
    }

    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.succeeded().out).unwrap()
    }
}

/// Kills per test; `REGRETLESS_KILLS=200` for a long run.
pub fn kills() -> u64 {
    std::env::var("REGRETLESS_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(20)
}

/// A time before a kill: different for each kill, the same in every test run.
pub fn moment(kill: u64, max: u64) -> Duration {
    Duration::from_micros(kill.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (max * 1000))
}

/// Starts the program and kills it after `life`; whether it was still running.
pub fn killed_after(workspace: &TestWorkspace, words: &[String], life: Duration) -> bool {
    let mut command = Process::new(assert_cmd::cargo::cargo_bin!("regretless"));
    command.current_dir(workspace.path(".")).args(words);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(life);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}
