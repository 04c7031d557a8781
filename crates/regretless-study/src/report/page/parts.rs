//! Parts of the page: header, controls, figures, footer.

use crate::experiment::{ExperimentResults, FigureKind as Kind};

use super::PageSummary;
use super::decisions;
use crate::report::figure::{RenderedFigure, Variant, word};
use crate::report::style::{MethodStyle, mark};
use crate::report::svg::Svg;
use crate::report::table::{NOT_RECORDED, provenance, winner};
use crate::report::text::{coded, escaped, pluralize, sentence};

/// A sentence about regret, for readers of any page.
pub(super) const REGRET: &str = "A model predicts costs, a solver finds the optimal decision for \
    them. <b>Regret</b> is how much worse that decision is than the optimal one under the true \
    costs.";

/// A line above the page of a smoke test, which stays visible.
pub(super) fn smoke_banner(results: &ExperimentResults) -> String {
    if !results.is_smoke_test {
        return String::new();
    }
    "<p class=\"smoke-banner\">Smoke test: every part runs, nothing is learned. The numbers on \
        this page mean nothing.</p>"
        .into()
}

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
    let ratio = if results.is_smoke_test {
        String::new()
    } else {
        format!(
            " The <b>ratio</b> divides it by the regret of {reference} on the same data: 1 is as \
                good as {reference}, 0.5 has half the regret."
        )
    };
    let (title, description) = (escaped(&results.title), escaped(&results.description));
    [
        format!("<header><h1>{title}</h1><p class=\"size\">{size}</p>"),
        format!("<p>{description}</p>"),
        not_run(results),
        format!("<p class=\"faint aside\">{REGRET}{ratio}</p>"),
        format!("<ul class=\"winners\">{winners}</ul></header>"),
    ]
    .concat()
}

/// A warning if runs are missing.
pub(super) fn not_run(results: &ExperimentResults) -> String {
    match results.missing() {
        0 => String::new(),
        open => format!(
            "<p class=\"warn\">{} not run yet; results below are of finished runs.</p>",
            pluralize(open, "run")
        ),
    }
}

/// Title and verdict of a comparison.
pub(super) fn verdict(results: &ExperimentResults, summary: &PageSummary) -> String {
    [
        title_and_verdict(&results.title, &results.description, &summary.verdict),
        remarks(&summary.verdict),
        not_run(results),
        format!(
            "<p class=\"faint aside\">{REGRET} It is measured on test rows, which no method was \
            trained on.</p></header>"
        ),
    ]
    .concat()
}

/// The open header: title, description, and the first sentence of a verdict.
pub(super) fn title_and_verdict(title: &str, description: &str, verdict: &[String]) -> String {
    let (title, description) = (escaped(title), escaped(description));
    let first = verdict.first().map(|first| coded(&sentence(first)));
    let first = first.map(|first| format!("<p class=\"verdict\">{first}</p>"));
    format!(
        "<header><h1>{title}</h1><p class=\"size\">{description}</p>{}",
        first.unwrap_or_default()
    )
}

/// The other sentences of a verdict.
pub(super) fn remarks(verdict: &[String]) -> String {
    let mut lines = String::new();
    for remark in verdict.iter().skip(1) {
        lines += &format!("<li>{}</li>", coded(&sentence(remark)));
    }
    if lines.is_empty() {
        return lines;
    }
    format!("<ul class=\"winners\">{lines}</ul>")
}

/// Choice of the problem, the methods and the time axis.
pub(super) fn controls(results: &ExperimentResults) -> String {
    let tabs = tab_list(results, "All problems");
    let time = if results.figures.contains(&Kind::Pareto) {
        TIME_AXIS_BUTTONS
    } else {
        ""
    };
    [
        "<nav class=\"controls\">",
        &tabs,
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

/// Choice of the problem; empty for a single one.
pub(super) fn tab_list(results: &ExperimentResults, all: &str) -> String {
    if results.problems.len() < 2 {
        return String::new();
    }
    let mut tabs = tab("all", all);
    for (index, problem) in results.problems.iter().enumerate() {
        tabs += &tab(&index.to_string(), &problem.name);
    }
    format!("<div role=\"tablist\" aria-label=\"problem\">{tabs}</div>")
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
    let mut legend = String::new();
    let Some(problem) = results.problems.first() else {
        return legend;
    };
    for (index, method) in problem.methods.iter().enumerate() {
        let style = MethodStyle::of(results, problem, index);
        let mut swatch = Svg::bare(14.0, 14.0);
        swatch.group(&style.color).open();
        mark(&mut swatch, style.shape, (7.0, 7.0), 4.5, "fill");
        swatch.end();
        let attributes = format!("type=\"button\" data-legend=\"{index}\" aria-pressed=\"true\"");
        let (swatch, name) = (swatch.inline("", ""), escaped(&method.name));
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
        Kind::Curves => "Regret during training",
        Kind::Solves => "Solver calls",
        Kind::Examples => "What decisions look like",
    }
}

/// All figures, kind by kind: how to read them once, then the problems side by side.
pub(super) fn sections(results: &ExperimentResults, figures: &[RenderedFigure]) -> String {
    let mut sections = String::new();
    for kind in &results.figures {
        let of_kind: Vec<&RenderedFigure> = figures
            .iter()
            .filter(|rendered| rendered.kind == *kind)
            .collect();
        sections += &section(results, *kind, &of_kind);
    }
    sections
}

fn section(results: &ExperimentResults, kind: Kind, figures: &[&RenderedFigure]) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for sentence in figures.iter().flat_map(|rendered| &rendered.explanation) {
        if !sentences.contains(&sentence.as_str()) {
            sentences.push(sentence);
        }
    }
    let drawn: String = figures
        .iter()
        .map(|rendered| figure(results, rendered))
        .collect();
    let tables = match kind {
        Kind::Examples => decisions::tables(results),
        Kind::Bars
        | Kind::Components
        | Kind::Weighting
        | Kind::Pareto
        | Kind::Curves
        | Kind::Solves => String::new(),
    };
    if drawn.is_empty() && tables.is_empty() {
        return String::new();
    }
    let layout = match (kind, results.problems.len()) {
        (Kind::Examples, _) | (_, 2) => "two",
        (_, 0 | 1) => "one",
        _ => "three",
    };
    let (id, title, explanation) = (word(kind), title(kind), escaped(&sentences.join(" ")));
    let figures = if drawn.is_empty() {
        drawn
    } else {
        format!("<div class=\"multiples\">{drawn}</div>")
    };
    let explanation = if explanation.is_empty() {
        explanation
    } else {
        format!("<p class=\"faint explanation\">{explanation}</p>")
    };
    [
        format!("<section id=\"{id}\" class=\"{layout}\"><h2>{title}</h2>"),
        explanation,
        figures,
        tables,
        "</section>".to_string(),
    ]
    .concat()
}

fn figure(results: &ExperimentResults, rendered: &RenderedFigure) -> String {
    let time = match (rendered.kind, rendered.variant) {
        (Kind::Pareto, Variant::LinearTime) => " data-axis=\"linear\" hidden",
        (Kind::Pareto, Variant::Standard | Variant::TypicalRow) => " data-axis=\"log\"",
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
    let alt_text = format!(
        "{}: {}",
        title(rendered.kind),
        results.problems[rendered.problem].name
    );
    let name = match rendered.variant {
        Variant::LinearTime => format!("{}-linear", rendered.name),
        Variant::Standard | Variant::TypicalRow => rendered.name.clone(),
    };
    let attributes = format!(" data-problem=\"{}\"{time}", rendered.problem);
    let drawings = rendered.drawings.iter();
    figure_element(&attributes, &alt_text, &name, &rendered.finding, drawings)
}

/// A figure: the first drawing is for wide screens; a second one replaces it on narrow ones.
pub(super) fn figure_element<'a>(
    attributes: &str,
    alt_text: &str,
    name: &str,
    finding: &str,
    drawings: impl ExactSizeIterator<Item = &'a Svg>,
) -> String {
    let count = drawings.len();
    let mut drawn = String::new();
    for (index, drawing) in drawings.enumerate() {
        let class = match (count, index) {
            (1, _) => "",
            (_, 0) => "on-wide",
            _ => "on-narrow",
        };
        drawn += &drawing.inline(alt_text, class);
    }
    let (name, finding) = (escaped(name), escaped(finding));
    let button = format!("type=\"button\" class=\"save\" data-save=\"{name}\"");
    [
        format!("<figure{attributes}>{drawn}"),
        format!("<figcaption>{finding} <button {button}>Download SVG</button></figcaption>"),
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
        END_OF_PAGE,
    ]
    .concat()
}

/// Findings of the data check.
pub(super) fn data_check(summary: &PageSummary) -> String {
    let Some(findings) = &summary.data_check else {
        return String::new();
    };
    let content = if findings.is_empty() {
        let [compared, earlier] = if summary.checks_halves {
            ["the later half of the rows", "the earlier one"]
        } else {
            ["test rows", "training rows"]
        };
        let verb = if summary.checks_halves {
            "looks"
        } else {
            "look"
        };
        format!(
            "<p>No findings: no feature is constant, a duplicate or a cost in disguise, no row \
                dominates the costs, and {compared} {verb} like {earlier}.</p>"
        )
    } else {
        let lines: String = findings
            .iter()
            .map(|finding| format!("<li>{}</li>", escaped(finding)))
            .collect();
        format!("<ul class=\"winners\">{lines}</ul>")
    };
    format!("<section id=\"data-check\"><h2>Data check</h2>{content}</section>")
}

/// Data, split and settings of a comparison, and how to repeat it.
pub(super) fn facts(results: &ExperimentResults, summary: &PageSummary) -> String {
    let mut lines = String::new();
    for (name, text) in &summary.facts {
        lines += &format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(text));
    }
    // The command is below, on its own.
    for (name, text) in provenance(results) {
        if name != "command" && text != NOT_RECORDED {
            lines += &format!("<dt>{name}</dt><dd>{}</dd>", escaped(text));
        }
    }
    let commands = escaped(&summary.commands.join("\n"));
    [
        "<footer><h2>Data and settings</h2>",
        &format!("<dl>{lines}</dl><h3>Run it again</h3><pre>{commands}</pre>"),
        END_OF_PAGE,
    ]
    .concat()
}

const END_OF_PAGE: &str = "<button type=\"button\" id=\"save-numbers\">\
    Download all numbers (JSON)</button></footer><div id=\"tip\" role=\"status\" hidden></div>";
