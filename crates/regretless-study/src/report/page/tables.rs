//! Tables of the page: an overview of all problems, then each problem in detail.

use crate::experiment::{ExperimentResults, MethodResults, ProblemResults};

use crate::report::figure::is_baseline;
use crate::report::table::{
    MISSING_VALUE, columns, difference_to_published, mean_and_deviation_text, notes,
};
use crate::report::text::{change, count, escaped, pluralize, ratio, short, with_unit};

/// The beginning of a table that scrolls sideways if it is wider than the page, and says so.
pub(super) const SCROLLING: &str = "<p class=\"scroll-hint\">\
    Scroll sideways for all columns →</p><div class=\"wide\" tabindex=\"0\">";

/// A column title; a click sorts the column.
pub(super) fn head(title: &str, hint: &str) -> String {
    let (title, hint) = (escaped(title), escaped(hint));
    let button = format!("<button type=\"button\" title=\"{hint}\">{title}</button>");
    format!("<th scope=\"col\" aria-sort=\"none\">{button}</th>")
}

/// A cell with its sort key; cells without one come last.
pub(super) fn cell(key: Option<f64>, tip: &str, inside: &str) -> String {
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

/// A row of a method; sorting by `index` restores the order of the experiment.
fn row(index: usize, method: &MethodResults, cells: &str) -> String {
    let name = escaped(&method.name);
    let head = format!("<th scope=\"row\" data-key=\"{index}\">{name}</th>");
    format!("<tr data-method=\"{index}\">{head}{cells}</tr>")
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
        .map(|(index, method)| {
            let cells: String = problems
                .iter()
                .filter_map(|problem| problem.methods.get(index))
                .map(summary)
                .collect();
            row(index, method, &cells)
        })
        .collect();
    let reference = escaped(&results.reference);
    let explanation = format!(
        "Test regret relative to {reference}, mean ± standard deviation over seeds; lower is \
            better, the lowest of a column is bold. Small print: the published ratio and our \
            difference to it. {MISSING_VALUE}: no result or missing seeds; the reason is shown on \
            hover and listed below. Click a title to sort."
    );
    let many = if problems.len() > 3 { " many" } else { "" };
    let method_title = head("method", "click for the order of the experiment");
    let titles: String = problems.iter().map(title).collect();
    let seeds: String = problems.iter().map(seeds).collect();
    [
        "<section id=\"overview\" class=\"beside\"><h2>All methods on all problems</h2>"
            .to_string(),
        format!("<p class=\"faint explanation\">{explanation}</p>"),
        format!("<div>{SCROLLING}<table class=\"sortable{many}\">"),
        format!("<thead><tr>{method_title}{titles}</tr></thead><tbody>{rows}</tbody>"),
        format!("<tfoot><tr><th scope=\"row\">seeds</th>{seeds}</tr></tfoot>"),
        "</table></div></div></section>".to_string(),
    ]
    .concat()
}

/// Ratio, published ratio and difference in one cell.
fn summary(method: &MethodResults) -> String {
    let note = method.note.as_deref().unwrap_or_default();
    let Some(text) = mean_and_deviation_text(&method.ratio, ratio) else {
        let published = method
            .published
            .map(|published| format!("<small>published {}</small>", ratio(published.ratio)));
        let reason = if note.is_empty() { "no results" } else { note };
        return cell(
            None,
            reason,
            &format!("{MISSING_VALUE}{}", published.unwrap_or_default()),
        );
    };
    let star = if note.is_empty() { "" } else { MISSING_VALUE };
    let text = if method.is_best {
        format!("<b>{text}</b>")
    } else {
        text
    };
    let published = method.published.zip(difference_to_published(method));
    let published = published.map(|(published, difference_to_published)| {
        format!(
            "<small>published {} ({})</small>",
            ratio(published.ratio),
            change(difference_to_published)
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
        &format!("{text}{star}{}", published.unwrap_or_default()),
    )
}

/// What the decisions of every method cost on average, the cheapest first, in plain words; the unit
/// may be empty.
pub(super) fn costs_of_methods(results: &ExperimentResults, unit: &str) -> String {
    let Some(problem) = results.problems.first() else {
        return String::new();
    };
    let mut methods: Vec<(usize, &MethodResults)> = problem.methods.iter().enumerate().collect();
    methods.retain(|(_, method)| method.regret.mean.is_some());
    let regret = |method: &MethodResults| method.regret.mean.unwrap_or(f64::INFINITY);
    methods.sort_by(|(_, a), (_, b)| regret(a).total_cmp(&regret(b)));
    let has_intervals = methods
        .iter()
        .any(|(_, method)| method.difference.is_some());
    let mut rows = String::new();
    for (index, method) in &methods {
        rows += &row(*index, method, &cost_cells(method, unit, has_intervals));
    }
    let reference = escaped(&results.reference);
    let unit = if unit.is_empty() {
        "units of the objective"
    } else {
        unit
    };
    let titles = cost_titles(&results.reference, unit, has_intervals);
    let [_, _, test] = problem.rows;
    let explanation = format!(
        "Mean regret of a decision on {} of each seed: what is lost for not knowing the costs, in \
            {}. 0 would be perfect foresight. {reference} minimizes the prediction error and is \
            the reference.",
        pluralize(test, "test row"),
        escaped(unit)
    );
    [
        "<section id=\"overview\" class=\"beside\"><h2>What decisions lose</h2>".to_string(),
        format!("<p class=\"faint explanation\">{explanation}</p>"),
        format!("<div>{SCROLLING}<table class=\"sortable\">"),
        format!("<thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"),
        "</div></div></section>".to_string(),
    ]
    .concat()
}

/// The numbers of a method, and what kind of method it is.
fn cost_cells(method: &MethodResults, unit: &str, has_intervals: bool) -> String {
    let percent = method.normalized_regret.mean.map(|share| 100.0 * share);
    let interval = method.difference.map(|interval| {
        let (lower, upper) = (interval.lower + 1.0, interval.upper + 1.0);
        format!("{} to {}", ratio(lower), ratio(upper))
    });
    let kind = if ["MSE", "MAE"].contains(&method.name.as_str()) {
        "trained for predictions"
    } else if is_baseline(&method.name) {
        "baseline, not trained"
    } else {
        "trained for decisions"
    };
    let text = |value: Option<f64>, write: fn(f64) -> String| {
        value.map_or_else(|| MISSING_VALUE.to_string(), write)
    };
    let regret = escaped(&with_unit(&text(method.regret.mean, short), unit));
    let mut cells = [
        cell(method.regret.mean, "", &regret),
        cell(
            percent,
            "",
            &text(percent, |percent| format!("{} %", short(percent))),
        ),
        cell(method.ratio.mean, "", &text(method.ratio.mean, ratio)),
    ]
    .concat();
    if has_intervals {
        let key = method.difference.map(|interval| interval.mean);
        cells += &cell(key, "", &interval.unwrap_or_else(|| "–".into()));
    }
    cells += &cell(None, "", kind);
    cells
}

fn cost_titles(reference: &str, unit: &str, has_intervals: bool) -> String {
    let mut titles = [
        head("method", "click for the order of the comparison"),
        head(
            "regret per row",
            &format!("mean over test rows and seeds, in {unit}"),
        ),
        head(
            "of the best objective",
            "sum of regrets divided by the sum of optimal objectives",
        ),
        head(&format!("relative to {reference}"), "mean over seeds"),
    ]
    .concat();
    if has_intervals {
        titles += &head("95 % interval", "of the ratio, over seeds (Student's t)");
    }
    titles += &head("kind", "what the method is");
    titles
}

/// One table per problem.
pub(super) fn details(results: &ExperimentResults) -> String {
    let tables: String = results
        .problems
        .iter()
        .enumerate()
        .map(|(index, problem)| detail(index, problem, results))
        .collect();
    format!("<section id=\"details\"><h2>All numbers</h2>{tables}</section>")
}

fn detail(index: usize, problem: &ProblemResults, results: &ExperimentResults) -> String {
    let [train, validation, test] = problem.rows;
    let labels = mean_and_deviation_text(&problem.label_seconds, short);
    let labels = labels
        .map(|time| format!(" Labeling took {time} s per seed."))
        .unwrap_or_default();
    let titles: String = columns(problem)
        .map(|column| head(column.title, column.hint))
        .collect();
    let rows: String = problem
        .methods
        .iter()
        .enumerate()
        .map(|(index, method)| {
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
            row(index, method, &cells)
        })
        .collect();
    let (name, reference) = (escaped(&problem.name), escaped(&results.reference));
    let size = format!(
        "{train} training, {validation} validation and {test} test rows; {}; {}. Reference: \
            {reference}.{labels}",
        pluralize(problem.costs, "cost"),
        pluralize(problem.seeds as usize, "seed"),
    );
    let method_title = head("method", "click for the order of the experiment");
    [
        format!("<div class=\"detail\" data-problem=\"{index}\"><h3>{name}</h3>"),
        format!("<p class=\"faint\">{size}</p>"),
        format!("{SCROLLING}<table class=\"sortable\">"),
        format!("<thead><tr>{method_title}{titles}</tr></thead><tbody>{rows}</tbody>"),
        "</table></div></div>".to_string(),
    ]
    .concat()
}

/// Why a result is missing, or the parts of a count.
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

/// Missing results and their reasons.
pub(super) fn missing(results: &ExperimentResults) -> String {
    let mut lines = String::new();
    for (problem, methods, reason) in notes(results) {
        let (problem, methods) = (escaped(problem), escaped(&methods));
        lines += &format!("<li><b>{problem}</b>, {methods}: {}</li>", escaped(reason));
    }
    if lines.is_empty() {
        return lines;
    }
    let title = format!("<h2>Missing results ({MISSING_VALUE})</h2>");
    format!("<section id=\"missing\">{title}<ul>{lines}</ul></section>")
}
