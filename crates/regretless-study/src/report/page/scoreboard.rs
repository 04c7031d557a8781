//! The page of a scoreboard: mean ranks, the critical-difference diagram, then every task.

use crate::experiment::ExperimentResults;

use super::parts::{REGRET, not_run, tab_list};
use super::tables::{SCROLLING, cell, head};
use crate::report::figure::FigureWidth;
use crate::report::figure::critical_difference::CriticalDifferenceFigure;
use crate::report::scoreboard::{BoardRow, BoardTable, ResultSource, Scoreboard};
use crate::report::text::{escaped, pluralize};

/// Title, main results and the choice of the task.
pub(super) fn header(results: &ExperimentResults, board: &Scoreboard) -> String {
    let count = |source: ResultSource| {
        let mut names: Vec<&str> = Vec::new();
        for entry in board.tasks.iter().flat_map(|task| &task.entries) {
            if entry.source == source && !names.contains(&entry.name.as_str()) {
                names.push(&entry.name);
            }
        }
        names.len()
    };
    let size = format!(
        "{} · {} of ours · {} published",
        pluralize(board.tasks.len(), "task"),
        pluralize(count(ResultSource::Ours), "method"),
        count(ResultSource::Published)
    );
    let conclusions: String = board
        .conclusions()
        .iter()
        .map(|sentence| format!("<li>{}</li>", escaped(sentence)))
        .collect();
    let (title, description) = (escaped(&results.title), escaped(&results.description));
    [
        format!("<header><h1>{title}</h1><p class=\"size\">{size}</p>"),
        format!("<p>{description}</p>"),
        not_run(results),
        format!("<p class=\"faint aside\">{REGRET}</p>"),
        format!("<ul class=\"winners\">{conclusions}</ul></header>"),
        format!(
            "<nav class=\"controls\">{}</nav>",
            tab_list(results, "All tasks")
        ),
    ]
    .concat()
}

/// The critical-difference diagram.
pub(super) fn diagram(board: &Scoreboard) -> String {
    let widths = [FigureWidth::Wide, FigureWidth::Narrow];
    let Some(figure) = CriticalDifferenceFigure::draw(board, &widths) else {
        return String::new();
    };
    let mut drawings = String::new();
    for (drawing, class) in figure.drawings.iter().zip(["on-wide", "on-narrow"]) {
        drawings += &drawing.inline("Critical-difference diagram", class);
    }
    let (name, explanation) = (CriticalDifferenceFigure::NAME, escaped(&figure.explanation));
    let save = format!("type=\"button\" class=\"save\" data-save=\"{name}\"");
    [
        format!("<section id=\"{name}\" class=\"one\"><h2>Which methods differ</h2>"),
        format!("<p class=\"faint explanation\">{explanation}</p>"),
        format!("<div class=\"multiples\"><figure>{drawings}"),
        format!("<figcaption>Ours in color. <button {save}>Download SVG</button></figcaption>"),
        "</figure></div></section>".to_string(),
    ]
    .concat()
}

/// A table in a section of its own.
pub(super) fn table(table: &BoardTable) -> String {
    let method_title = head("method", "click a title to sort");
    let mut titles = method_title;
    for column in &table.columns {
        titles += &head(&column.title, &column.hint);
    }
    let rows: String = table
        .rows
        .iter()
        .enumerate()
        .map(|(index, entry)| row(index, entry))
        .collect();
    let part = table
        .problem
        .map(|problem| format!(" data-problem=\"{problem}\""))
        .unwrap_or_default();
    let (title, explanation) = (escaped(&table.title), escaped(&table.explanation));
    [
        format!("<section class=\"beside\"{part}><h2>{title}</h2>"),
        format!("<p class=\"faint explanation\">{explanation}</p>"),
        format!("<div>{SCROLLING}<table class=\"sortable\">"),
        format!("<thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"),
        "</div></div></section>".to_string(),
    ]
    .concat()
}

fn row(index: usize, row: &BoardRow) -> String {
    let class = if row.is_ours { " class=\"ours\"" } else { "" };
    let mut cells = format!(
        "<th scope=\"row\" data-key=\"{index}\">{}</th>",
        escaped(&row.method)
    );
    for content in &row.cells {
        cells += &cell(content.key, "", &escaped(&content.text));
    }
    format!("<tr{class}>{cells}</tr>")
}
