//! Parts of the page: header, controls, figures, footer.

use regretless::experiment::{ExperimentResults, FigureKind as Kind};

use crate::figure::{RenderedFigure, word};
use crate::style::{hue, mark};
use crate::svg::Svg;
use crate::table::{provenance, winner};
use crate::text::{escaped, pluralize};

/// Title, description and main results.
pub(super) fn header(results: &ExperimentResults) -> String {
    let reference = escaped(&results.reference);
    let winners: String = results
        .problems
        .iter()
        .filter_map(|problem| Some((problem, winner(problem, &results.reference)?)))
        .map(|(problem, text)| {
            format!(
                "<li><b>{}</b>: {}.</li>",
                escaped(&problem.name),
                escaped(&text)
            )
        })
        .collect();
    let methods = results
        .problems
        .first()
        .map_or(0, |problem| problem.methods.len());
    let size = format!(
        "{} · {} · reference {reference}",
        pluralize(results.problems.len(), "problem"),
        pluralize(methods, "method")
    );
    let open = match results.missing() {
        0 => String::new(),
        open => format!(
            "<p class=\"warn\">{} not run yet; results below are of finished runs.</p>",
            pluralize(open, "run")
        ),
    };
    let ratio = if results.is_smoke_test {
        String::new()
    } else {
        format!(
            " The <b>ratio</b> divides it by the regret of {reference} on the same data: 1 is as \
                good as {reference}, 0.5 has half the regret."
        )
    };
    let description = format!(
        "<p{}>{}</p>",
        if results.is_smoke_test {
            " class=\"warn\""
        } else {
            ""
        },
        escaped(&results.description)
    );
    let title = escaped(&results.title);
    let regret = "A model predicts costs, a solver finds the optimal decision for them. \
        <b>Regret</b> is how much worse that decision is than the optimal one under the true \
        costs.";
    [
        format!("<header><h1>{title}</h1><p class=\"size\">{size}</p>"),
        description,
        open,
        format!("<p class=\"faint\">{regret}{ratio}</p>"),
        format!("<ul class=\"winners\">{winners}</ul></header>"),
    ]
    .concat()
}

/// Choice of the problem, the methods and the time axis.
pub(super) fn controls(results: &ExperimentResults) -> String {
    let mut tabs = tab("all", "All problems");
    for (index, problem) in results.problems.iter().enumerate() {
        tabs += &tab(&index.to_string(), &problem.name);
    }
    let time = if results.figures.contains(&Kind::Pareto) {
        TIME_AXIS_BUTTONS
    } else {
        ""
    };
    [
        "<nav class=\"controls\">",
        &format!("<div role=\"tablist\" aria-label=\"problem\">{tabs}</div>"),
        time,
        "<details><summary>Methods ",
        "<span class=\"faint\">(click to hide or show, double-click to see one alone)</span>",
        "</summary>",
        &format!("<div class=\"legend\">{}", legend(results)),
        "<button type=\"button\" data-every=\"show\">show all</button>",
        "</div></details></nav>",
    ]
    .concat()
}

const TIME_AXIS_BUTTONS: &str = "<span class=\"group\">time axis \
    <button type=\"button\" data-time=\"log\" aria-pressed=\"true\">log</button>\
    <button type=\"button\" data-time=\"linear\" aria-pressed=\"false\">linear</button>\
    </span>";

fn tab(id: &str, name: &str) -> String {
    let attributes = format!("type=\"button\" role=\"tab\" data-tab=\"{id}\"");
    let name = escaped(name);
    format!("<button {attributes} aria-selected=\"false\">{name}</button>")
}

fn legend(results: &ExperimentResults) -> String {
    let methods = results
        .problems
        .first()
        .map_or(&[][..], |problem| &problem.methods);
    let mut legend = String::new();
    for (index, method) in methods.iter().enumerate() {
        let mut swatch = Svg::bare(14.0, 14.0);
        swatch.group(&hue(index)).open();
        mark(&mut swatch, index, (7.0, 7.0), 4.5, "fill");
        swatch.end();
        let attributes = format!("type=\"button\" data-legend=\"{index}\" aria-pressed=\"true\"");
        let (swatch, name) = (swatch.inline(""), escaped(&method.name));
        legend += &format!("<button {attributes}>{swatch}<span>{name}</span></button>");
    }
    legend
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Bars => "Regret of every method",
        Kind::Components => "Contribution of each component",
        Kind::Weighting => "Instance weights",
        Kind::Pareto => "Regret against training time",
        Kind::Curves => "Training curves",
        Kind::Solves => "Solver calls",
        Kind::Examples => "Example decisions",
    }
}

/// All figures, kind by kind.
pub(super) fn sections(results: &ExperimentResults, figures: &[RenderedFigure]) -> String {
    let section = |kind: &Kind| {
        let content: String = figures
            .iter()
            .filter(|drawn| drawn.kind == *kind)
            .map(|drawn| figure(results, drawn))
            .collect();
        if content.is_empty() {
            content
        } else {
            format!(
                "<section id=\"{}\"><h2>{}</h2>{content}</section>",
                word(*kind),
                title(*kind)
            )
        }
    };
    results.figures.iter().map(section).collect()
}

fn figure(results: &ExperimentResults, drawn: &RenderedFigure) -> String {
    let time = match (drawn.kind, drawn.has_linear_time_axis) {
        (Kind::Pareto, true) => " data-axis=\"linear\" hidden",
        (Kind::Pareto, false) => " data-axis=\"log\"",
        (
            Kind::Bars
            | Kind::Components
            | Kind::Weighting
            | Kind::Curves
            | Kind::Solves
            | Kind::Examples,
            _,
        ) => "",
    };
    let caption = escaped(&drawn.caption);
    let alt_text = format!(
        "{}: {}",
        title(drawn.kind),
        results.problems[drawn.problem].name
    );
    let name = if drawn.has_linear_time_axis {
        format!("{}-linear", drawn.name)
    } else {
        drawn.name.clone()
    };
    let (problem, svg, name) = (drawn.problem, drawn.svg.inline(&alt_text), escaped(&name));
    let attributes = format!("type=\"button\" class=\"save\" data-save=\"{name}\"");
    [
        format!("<figure data-problem=\"{problem}\"{time}>{svg}"),
        format!("<figcaption>{caption} <button {attributes}>Download SVG</button></figcaption>"),
        "</figure>".to_string(),
    ]
    .concat()
}

/// Origin of the results.
pub(super) fn footer(results: &ExperimentResults) -> String {
    let lines: String = provenance(results)
        .into_iter()
        .map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(text)))
        .collect();
    let name = escaped(&results.name);
    [
        "<footer><h2>Origin of the results</h2>",
        &format!("<dl><dt>experiment</dt><dd>{name}</dd>{lines}</dl>"),
        "<button type=\"button\" id=\"save-numbers\">Download all numbers (JSON)</button>",
        "</footer><div id=\"tip\" role=\"status\" hidden></div>",
    ]
    .concat()
}
