//! Tables of an experiment: for people, and as CSV.

use std::fmt::Write as _;

use regretless::Result;
use regretless_study::experiment::{
    ExperimentResults, MeanAndDeviation, MethodResults, ProblemResults,
};
use regretless_study::report::Scoreboard;
use regretless_study::text::{CsvText, TextTable, number, optional_cell};

use crate::text::{escape_formula, escaped};

/// Every problem with its methods.
pub fn text(results: &ExperimentResults) -> String {
    let mut text = format!("{}\n\n", escaped(&results.title));
    if results.is_smoke_test {
        text += &format!("{}\n\n", escaped(&results.description));
    }
    if let Some(board) = Scoreboard::new(results) {
        text += &board_text(&board);
        text += &missing_text(results);
        return text;
    }
    for problem in &results.problems {
        let [train, validation, test] = problem.rows;
        let _ = writeln!(
            text,
            "{}, {train}/{validation}/{test} rows, {} seeds",
            problem.name, problem.seeds
        );
        text.push_str(&problem_text(problem));
        text.push('\n');
    }
    text
}

fn problem_text(problem: &ProblemResults) -> String {
    // Custom experiments have no published results.
    let has_published = problem
        .methods
        .iter()
        .any(|method| method.published.is_some());
    let mut titles = vec!["method", "ratio"];
    if has_published {
        titles.push("published");
    }
    titles.extend(["regret", "relative", "seconds", "solves"]);
    let mut table = TextTable::new(titles);
    for method in &problem.methods {
        let best = if method.is_best { " <" } else { "" };
        // The first four kinds are solver calls; certificates and cache hits are not.
        let solves: f64 = method.solves.iter().take(4).map(|(_, count)| count).sum();
        let counted = if method.regret.count == 0 {
            String::new()
        } else {
            format!("{solves:.0}")
        };
        let mut row = vec![
            method.name.clone(),
            format!("{}{best}", spread(&method.ratio, 3)),
        ];
        if has_published {
            let published = method.published.map(|p| format!("{:.2}", p.ratio));
            row.push(published.unwrap_or_default());
        }
        row.extend([
            method.regret.mean.map(number).unwrap_or_default(),
            method
                .relative_regret
                .mean
                .map(|share| format!("{:.2} %", 100.0 * share))
                .unwrap_or_default(),
            method
                .seconds
                .mean
                .map(|seconds| format!("{seconds:.2}"))
                .unwrap_or_default(),
            counted,
        ]);
        table.row(row);
    }
    table.text() + &notes_text(problem)
}

/// Why results of a problem are missing.
fn notes_text(problem: &ProblemResults) -> String {
    let mut text = String::new();
    if let Some(note) = common_note(problem) {
        let _ = writeln!(text, "  all methods: {}", escaped(note));
        return text;
    }
    for method in &problem.methods {
        if let Some(note) = &method.note {
            let _ = writeln!(text, "  {}: {}", escaped(&method.name), escaped(note));
        }
    }
    text
}

/// Ranks over all tasks, then every task.
fn board_text(board: &Scoreboard) -> String {
    let mut text = String::new();
    for table in board.tables() {
        let _ = writeln!(text, "{}", escaped(&table.title));
        let titles = table.columns.iter().map(|column| column.title.as_str());
        let mut lines = TextTable::new(std::iter::once("method").chain(titles));
        for row in &table.rows {
            let cells = row.cells.iter().map(|cell| cell.text.clone());
            lines.row(std::iter::once(row.method.clone()).chain(cells));
        }
        text += &lines.text();
        text.push('\n');
    }
    text
}

/// Tasks and methods without results, and why.
fn missing_text(results: &ExperimentResults) -> String {
    let mut text = String::new();
    for problem in &results.problems {
        let notes = notes_text(problem);
        if !notes.is_empty() {
            let _ = write!(text, "{} lacks results\n{notes}\n", escaped(&problem.name));
        }
    }
    text
}

/// One line per task, method and seed, published or ours.
pub fn scoreboard_csv(results: &ExperimentResults) -> Result<String> {
    let mut table = CsvText::new(&["task", "method", "seed", "regret", "source"])?;
    for problem in &results.problems {
        let published = problem
            .published_regrets
            .iter()
            .map(|(name, sample)| (name, sample, "published"));
        let ours = problem
            .methods
            .iter()
            .filter_map(|method| Some((&method.name, method.regret_sample.as_ref()?, "ours")));
        for (name, sample, source) in published.chain(ours) {
            for (seed, regret) in &sample.by_seed {
                table.row(&[
                    problem.name.clone(),
                    escape_formula(name).into_owned(),
                    seed.to_string(),
                    regret.to_string(),
                    source.to_string(),
                ])?;
            }
        }
    }
    table.finish()
}

/// The note that all methods of a problem have, such as missing data.
fn common_note(problem: &ProblemResults) -> Option<&str> {
    let note = problem.methods.first()?.note.as_deref()?;
    let is_common = problem
        .methods
        .iter()
        .all(|method| method.note.as_deref() == Some(note));
    is_common.then_some(note)
}

/// The first note of an experiment of which no cell has a result.
pub fn reason_without_results(results: &ExperimentResults) -> Option<&str> {
    let mut methods = results.problems.iter().flat_map(|problem| &problem.methods);
    if methods.clone().any(|method| method.regret.count > 0) {
        return None;
    }
    methods.find_map(|method| method.note.as_deref())
}

fn spread(spread: &MeanAndDeviation, digits: usize) -> String {
    match (spread.mean, spread.sd) {
        (Some(mean), Some(sd)) => format!("{mean:.digits$} ({sd:.digits$})"),
        (Some(mean), None) => format!("{mean:.digits$}"),
        (None, _) if spread.count > 0 => "–".into(),
        (None, _) => "*".into(),
    }
}

/// One line per cell.
pub fn cells_csv(results: &ExperimentResults) -> Result<String> {
    let mut table = CsvText::new(&["problem", "method", "seed", "ratio", "seconds"])?;
    for problem in &results.problems {
        for method in &problem.methods {
            for result in &method.seeds {
                table.row(&[
                    problem.name.clone(),
                    escape_formula(&method.name).into_owned(),
                    result.seed.to_string(),
                    optional_cell(result.ratio),
                    result.seconds.to_string(),
                ])?;
            }
        }
    }
    table.finish()
}

/// One line per problem and method.
pub fn summary_csv(results: &ExperimentResults) -> Result<String> {
    let mut table = CsvText::new(&[
        "problem",
        "method",
        "seeds",
        "ratio_mean",
        "ratio_sd",
        "difference_lower",
        "difference_upper",
        "regret",
        "relative_regret",
        "normalized_regret",
        "normalized_regret_sd",
        "seconds",
        "exact",
        "relaxed",
        "heuristic",
        "projected",
        "certified",
        "cache_hits",
        "published_ratio",
        "published_seconds",
        "on_front",
        "note",
    ])?;
    for problem in &results.problems {
        for method in &problem.methods {
            table.row(&summary_row(problem, method))?;
        }
    }
    table.finish()
}

/// Names and notes may contain text that spreadsheets read as formulas, which is escaped.
fn summary_row(problem: &ProblemResults, method: &MethodResults) -> Vec<String> {
    let mut row = vec![
        problem.name.clone(),
        escape_formula(&method.name).into_owned(),
        method.seeds.len().to_string(),
    ];
    let means = [
        method.ratio.mean,
        method.ratio.sd,
        method.difference.map(|interval| interval.lower),
        method.difference.map(|interval| interval.upper),
        method.regret.mean,
        method.relative_regret.mean,
        method.normalized_regret.mean,
        method.normalized_regret.sd,
        method.seconds.mean,
    ];
    row.extend(means.map(optional_cell));
    for (_, count) in &method.solves {
        row.push(count.to_string());
    }
    row.push(optional_cell(method.published.map(|result| result.ratio)));
    row.push(optional_cell(
        method.published.and_then(|result| result.seconds),
    ));
    row.push(method.on_front.to_string());
    let note = method.note.as_deref().unwrap_or_default();
    row.push(escape_formula(note).into_owned());
    row
}
