//! Tables of the page: all problems side by side, then each problem with all its numbers.

use regretless::experiment::{ExperimentResults, MethodResults, ProblemResults};

use crate::table::{MISSING_VALUE, columns, gap, notes, spread};
use crate::text::{change, count, escaped, pluralize, ratio};

/// A title that sorts its column.
fn head(title: &str, hint: &str) -> String {
    let (title, hint) = (escaped(title), escaped(hint));
    format!(
        "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" \
            title=\"{hint}\">{title}</button></th>"
    )
}

/// A cell that sorts by a number; without one it comes last.
fn cell(key: Option<f64>, tip: &str, inside: &str) -> String {
    let key = key
        .map(|key| format!(" data-key=\"{key}\""))
        .unwrap_or_default();
    let tip = if tip.is_empty() {
        String::new()
    } else {
        format!(" title=\"{}\"", escaped(tip))
    };
    format!("<td{key}{tip}>{inside}</td>")
}

/// A row whose head is a method; `place` sorts back to the experiment's order.
fn row(place: usize, method: &MethodResults, cells: &str) -> String {
    let name = escaped(&method.name);
    format!(
        "<tr data-method=\"{place}\"><th scope=\"row\" \
            data-key=\"{place}\">{name}</th>{cells}</tr>"
    )
}

/// Method × problem.
pub(super) fn overview(results: &ExperimentResults) -> String {
    let problems = &results.problems;
    let title = |problem: &ProblemResults| {
        let hint = format!(
            "{}; click to sort",
            pluralize(problem.seeds as usize, "seed")
        );
        head(&problem.name, &hint)
    };
    let seeds = |problem: &ProblemResults| {
        format!("<td>{}</td>", pluralize(problem.seeds as usize, "seed"))
    };
    let methods = problems.first().map_or(&[][..], |problem| &problem.methods);
    let rows: String = methods
        .iter()
        .enumerate()
        .map(|(place, method)| {
            let cells: String = problems
                .iter()
                .filter_map(|problem| problem.methods.get(place))
                .map(summary)
                .collect();
            row(place, method, &cells)
        })
        .collect();
    format!(
        "<section id=\"overview\"><h2>All methods on all problems</h2><p class=\"faint\">Test \
            regret relative to {}, \
        mean ± standard deviation over seeds; lower is better, the lowest of a column is bold. \
        Small print: the \
        published ratio and our difference to it. {MISSING_VALUE}: no number or fewer seeds than asked for; \
        the reason is \
        shown on hover and listed below. Click a title to sort.</p><div class=\"wide\"><table \
        class=\"sortable{}\"><thead><tr>{}{}</tr></thead><tbody>{rows}</tbody><tfoot><tr><th \
        scope=\"row\">asked \
        for</th>{}</tr></tfoot></table></div></section>",
        escaped(&results.reference),
        if problems.len() > 3 { " many" } else { "" },
        head("method", "click for the order of the experiment"),
        problems.iter().map(title).collect::<String>(),
        problems.iter().map(seeds).collect::<String>()
    )
}

/// Ratio, published ratio and difference in one cell.
fn summary(method: &MethodResults) -> String {
    let note = method.note.as_deref().unwrap_or_default();
    let Some(text) = spread(&method.ratio, ratio) else {
        let said = method
            .published
            .map(|said| format!("<small>published {}</small>", ratio(said.ratio)));
        let reason = if note.is_empty() { "no numbers" } else { note };
        return cell(
            None,
            reason,
            &format!("{MISSING_VALUE}{}", said.unwrap_or_default()),
        );
    };
    let star = if note.is_empty() { "" } else { MISSING_VALUE };
    let text = if method.is_best {
        format!("<b>{text}</b>")
    } else {
        text
    };
    let said = method.published.zip(gap(method));
    let said = said.map(|(said, gap)| {
        format!(
            "<small>published {} ({})</small>",
            ratio(said.ratio),
            change(gap)
        )
    });
    let counted = pluralize(method.ratio.count, "seed");
    let tip = if note.is_empty() {
        counted
    } else {
        format!("{counted}; {note}")
    };
    cell(
        method.ratio.mean,
        &tip,
        &format!("{text}{star}{}", said.unwrap_or_default()),
    )
}

/// One table per problem.
pub(super) fn details(results: &ExperimentResults) -> String {
    let tables: String = results
        .problems
        .iter()
        .enumerate()
        .map(|(place, problem)| detail(place, problem, results))
        .collect();
    format!("<section id=\"details\"><h2>All numbers</h2>{tables}</section>")
}

fn detail(place: usize, problem: &ProblemResults, results: &ExperimentResults) -> String {
    let [train, validation, test] = problem.rows;
    let labels = spread(&problem.label_seconds, crate::text::short);
    let labels = labels
        .map(|time| format!(" Finding the best decisions took {time} s per seed."))
        .unwrap_or_default();
    let titles: String = columns(problem)
        .map(|column| head(column.title, column.hint))
        .collect();
    let rows: String = problem
        .methods
        .iter()
        .enumerate()
        .map(|(place, method)| {
            let cells: String = columns(problem)
                .map(|column| {
                    let text = (column.text)(method)
                        .map_or_else(|| MISSING_VALUE.to_string(), |text| escaped(&text));
                    let text = if method.is_best && column.title == "ratio" {
                        format!("<b>{text}</b>")
                    } else {
                        text
                    };
                    cell((column.key)(method), &tip(method, column.title), &text)
                })
                .collect();
            row(place, method, &cells)
        })
        .collect();
    format!(
        "<div class=\"detail\" data-problem=\"{place}\"><h3>{}</h3><p class=\"faint\">{train} rows \
            to train on, \
        {validation} to validate, {test} to test; {}; {} asked for. Reference: {}.{labels}</p><div \
        class=\"wide\"><table \
        class=\"sortable\"><thead><tr>{}{titles}</tr></thead><tbody>{rows}</tbody></table></div></div>",
        escaped(&problem.name),
        pluralize(problem.costs, "cost"),
        pluralize(problem.seeds as usize, "seed"),
        escaped(&results.reference),
        head("method", "click for the order of the experiment")
    )
}

/// Why a number is missing, or what a count is made of.
fn tip(method: &MethodResults, column: &str) -> String {
    if let Some(note) = &method.note {
        return note.clone();
    }
    if column != "solves" {
        return String::new();
    }
    let kinds = method.solves.iter().filter(|(_, number)| *number > 0.0);
    kinds
        .map(|(kind, number)| format!("{} {kind}", count(*number)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Every star and its reason.
pub(super) fn missing(results: &ExperimentResults) -> String {
    let line = |(problem, methods, reason): (&str, String, &str)| {
        format!(
            "<li><b>{}</b>, {}: {}</li>",
            escaped(problem),
            escaped(&methods),
            escaped(reason)
        )
    };
    let lines: String = notes(results).into_iter().map(line).collect();
    if lines.is_empty() {
        lines
    } else {
        format!(
            "<section id=\"missing\"><h2>Missing numbers ({MISSING_VALUE})</h2><ul>{lines}</ul></section>"
        )
    }
}
