//! The tables as Markdown.

use crate::experiment::{ExperimentResults, MethodResults, ProblemResults};

use crate::report::scoreboard::{BoardTable, Scoreboard};
use crate::report::table::{
    MISSING_VALUE, columns, difference_to_published, mean_and_deviation_text, notes, provenance,
    winner,
};
use crate::report::text::{change, plain_markdown, pluralize, ratio};

/// The tables of an experiment as Markdown: an overview of all problems, then each in detail.
pub fn markdown(results: &ExperimentResults) -> String {
    let mut out = format!("## {}\n\n", plain_markdown(&results.title));
    if !results.description.is_empty() {
        out += &format!("{}\n\n", plain_markdown(&results.description));
    }
    if let Some(board) = Scoreboard::new(results) {
        for sentence in board.conclusions() {
            out += &format!("* {}\n", plain_markdown(&sentence));
        }
        for table in board.tables() {
            out += &board_table(&table);
        }
    } else {
        if !results.is_smoke_test {
            out += &comparison(results);
        }
        for problem in &results.problems {
            out += &detail(problem, &results.reference);
        }
    }
    let notes = notes(results);
    if !notes.is_empty() {
        out += "\n### Missing results\n\n";
        for (problem, methods, reason) in notes {
            out += &format!(
                "* {}, {}: {}\n",
                plain_markdown(problem),
                plain_markdown(&methods),
                plain_markdown(reason)
            );
        }
    }
    out += "\n### Origin of the results\n\n";
    for (name, text) in provenance(results) {
        out += &format!("* {name}: {}\n", plain_markdown(text));
    }
    out
}

/// All problems side by side, with a line on how to read it.
fn comparison(results: &ExperimentResults) -> String {
    let reference = plain_markdown(&results.reference);
    let mut out = format!(
        "Test regret relative to {reference}, mean ± standard deviation over seeds; the lowest is \
            bold. In parentheses the published ratio and our difference to it. \
            `{MISSING_VALUE}`: no result, or \
            results of some seeds only; see below.\n\n"
    );
    out += &overview(results);
    out
}

/// A table of a scoreboard; our methods are bold.
fn board_table(table: &BoardTable) -> String {
    let mut out = format!(
        "\n### {}\n\n{}\n\n",
        plain_markdown(&table.title),
        plain_markdown(&table.explanation)
    );
    let titles = table.columns.iter().map(|column| column.title.clone());
    out += &row(std::iter::once("method".into()).chain(titles));
    out += &rule(table.columns.len());
    for entry in &table.rows {
        let name = plain_markdown(&entry.method);
        let name = if entry.is_ours {
            format!("**{name}**")
        } else {
            name
        };
        let cells = entry.cells.iter().map(|cell| plain_markdown(&cell.text));
        out += &row(std::iter::once(name).chain(cells));
    }
    out
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The line below the titles: the first column to the left, numbers to the right.
fn rule(columns: usize) -> String {
    format!("|---|{}\n", "---:|".repeat(columns))
}

fn overview(results: &ExperimentResults) -> String {
    let head = |problem: &ProblemResults| {
        format!(
            "{} ({})",
            plain_markdown(&problem.name),
            pluralize(problem.seeds as usize, "seed")
        )
    };
    let mut out = row(std::iter::once("method".into()).chain(results.problems.iter().map(head)));
    out += &rule(results.problems.len());
    let methods = results
        .problems
        .first()
        .map_or(&[][..], |problem| &problem.methods);
    for (index, method) in methods.iter().enumerate() {
        let cells = results
            .problems
            .iter()
            .map(|problem| problem.methods.get(index).map_or(String::new(), cell));
        out += &row(std::iter::once(plain_markdown(&method.name)).chain(cells));
    }
    out
}

fn cell(method: &MethodResults) -> String {
    let Some(text) = mean_and_deviation_text(&method.ratio, ratio) else {
        return format!("\\{MISSING_VALUE}");
    };
    let text = if method.is_best {
        format!("**{text}**")
    } else {
        text
    };
    let missing_seeds_mark = if method.note.is_some() {
        format!("\\{MISSING_VALUE}")
    } else {
        String::new()
    };
    let published = method.published.zip(difference_to_published(method));
    let published = published.map(|(published, difference_to_published)| {
        format!(
            " ({}, {})",
            ratio(published.ratio),
            change(difference_to_published)
        )
    });
    format!(
        "{text}{missing_seeds_mark}{}",
        published.unwrap_or_default()
    )
}

fn detail(problem: &ProblemResults, reference: &str) -> String {
    let [train, validation, test] = problem.rows;
    let mut out = format!("\n### {}\n\n", plain_markdown(&problem.name));
    out += &format!(
        "{train} training, {validation} validation and {test} test rows; {}.",
        pluralize(problem.seeds as usize, "seed")
    );
    if let Some(winner) = winner(problem, reference) {
        out += &format!(" {}.", plain_markdown(&winner));
    }
    out += "\n\n";
    let shown: Vec<_> = columns(problem).collect();
    out +=
        &row(std::iter::once("method".into())
            .chain(shown.iter().map(|column| column.title.to_string())));
    out += &rule(shown.len());
    for method in &problem.methods {
        let text = |column: &&&crate::report::table::Column| {
            (column.text)(method).unwrap_or_else(|| format!("\\{MISSING_VALUE}"))
        };
        let name = plain_markdown(&method.name);
        let name = if method.is_best {
            format!("**{name}**")
        } else {
            name
        };
        out += &row(std::iter::once(name).chain(shown.iter().map(|column| text(&column))));
    }
    out
}
