//! Pages of the documentation, executed: their files are written, their commands run, and what they
//! show of the output is compared.
//!
//! A code block whose language is followed by a name is a file. Every line of a `sh` block is a
//! command that succeeds. A `text` block has lines that the command before it printed; `…` at the
//! end of a line stands for the rest of it.
#![cfg(feature = "highs")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

mod common;

use common::TestWorkspace;

/// A fenced code block: the words after the opening fence, and its lines.
struct CodeBlock {
    language: String,
    file: Option<String>,
    text: String,
}

fn code_blocks(markdown: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<CodeBlock> = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(info), None) => {
                let mut words = info.split_whitespace().map(String::from);
                open = Some(CodeBlock {
                    language: words.next().unwrap_or_default(),
                    file: words.next(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block is not closed");
    blocks
}

/// Words of a command; quotes keep spaces and are removed.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in command.chars() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_page_about_row_parameters_is_true() {
    check_page("tutorials/row-parameters.md", 6, 7);
}

#[test]
fn the_page_about_backtests_is_true() {
    check_page("tutorials/backtest.md", 4, 5);
}

#[test]
fn the_page_about_explanations_is_true() {
    check_page("tutorials/explain.md", 3, 30);
}

/// A journey on one's own data: its commands run on the tables next to the page, and its last
/// section of the report page explains a decision.
fn check_journey(heading: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("tutorials/journeys.md")).unwrap();
    let journey = page.split("\n## ").find(|part| part.starts_with(heading));
    let workspace = TestWorkspace::new();
    for entry in std::fs::read_dir(docs.join("tutorials/journeys")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            workspace.write(&name, &std::fs::read_to_string(&path).unwrap());
        }
    }
    check_blocks(&code_blocks(journey.unwrap()), &workspace, 4, 4);
    let report = workspace.read("report.html");
    for part in [
        "class=\"verdict\"",
        "id=\"money\"",
        "id=\"explained\"",
        "id=\"data-check\"",
    ] {
        assert!(report.contains(part), "{part} is missing");
    }
}

#[test]
fn the_journey_of_a_transport_plan_is_true() {
    check_journey("Transport");
}

#[test]
fn the_journey_of_a_battery_is_true() {
    check_journey("Battery");
}

#[test]
fn the_journey_of_a_choice_of_sites_is_true() {
    check_journey("Sites");
}

#[test]
fn the_journey_of_delivery_tours_is_true() {
    check_journey("Tours");
}

/// Executes a page that has at least these numbers of commands and printed lines.
fn check_page(name: &str, min_commands: usize, min_lines: usize) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = page.join(name);
    let blocks = code_blocks(&std::fs::read_to_string(page).unwrap());
    check_blocks(&blocks, &TestWorkspace::new(), min_commands, min_lines);
}

/// Executes blocks in a folder.
fn check_blocks(
    blocks: &[CodeBlock],
    workspace: &TestWorkspace,
    min_commands: usize,
    min_lines: usize,
) {
    let (mut printed, mut commands, mut compared) = (String::new(), 0, 0);
    for block in blocks {
        match (block.language.as_str(), &block.file) {
            (_, Some(file)) => workspace.write(file, &block.text),
            ("sh", None) => {
                for line in block.text.lines() {
                    let words = words(line);
                    assert_eq!(words[0], "regretless", "{line}");
                    let run = workspace.run_words(&words[1..]).succeeded();
                    printed = format!("{}{}", run.out, run.err);
                    commands += 1;
                }
            }
            ("text", None) => {
                for line in block.text.lines() {
                    let (start, is_open) = match line.strip_suffix('…') {
                        Some(start) => (start, true),
                        None => (line, false),
                    };
                    let matches = |printed: &str| {
                        let printed = printed.trim_end();
                        printed == start || (is_open && printed.starts_with(start))
                    };
                    assert!(
                        printed.lines().any(matches),
                        "'{line}' is not in:\n{printed}"
                    );
                    compared += 1;
                }
            }
            _ => {}
        }
    }
    assert!(
        commands >= min_commands && compared >= min_lines,
        "{commands} commands, {compared} lines"
    );
}
