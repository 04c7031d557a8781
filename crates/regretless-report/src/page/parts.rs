//! Everything on the page that is no table.

use regretless::experiment::{ExperimentResults, FigureKind as Kind};

use crate::figure::{RenderedFigure, word};
use crate::style::{hue, mark};
use crate::svg::Svg;
use crate::table::{provenance, winner};
use crate::text::{escaped, pluralize};

/// What it is about, and what came of it.
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
            "<p class=\"warn\">{} asked for and not made yet; numbers below are of what is \
                there.</p>",
            pluralize(open, "run")
        ),
    };
    let ratio = if results.smoke {
        String::new()
    } else {
        format!(
            " The <b>ratio</b> divides it by the regret of {reference} on the same data: 1 is as \
                good as {reference}, \
            0.5 loses half as much."
        )
    };
    let about = format!(
        "<p{}>{}</p>",
        if results.smoke { " class=\"warn\"" } else { "" },
        escaped(&results.about)
    );
    format!(
        "<header><h1>{}</h1><p class=\"size\">{size}</p>{about}{open}<p class=\"faint\">A model \
            predicts costs, a \
        solver finds the best decision for them. <b>Regret</b> is what that decision truly costs \
        beyond the best \
        one.{ratio}</p><ul class=\"winners\">{winners}</ul></header>",
        escaped(&results.title)
    )
}

/// Which problem, which methods, which time axis.
pub(super) fn controls(results: &ExperimentResults) -> String {
    let tab = |(place, name): (String, &str)| {
        format!(
            "<button type=\"button\" role=\"tab\" data-tab=\"{place}\" \
                aria-selected=\"false\">{}</button>",
            escaped(name)
        )
    };
    let names = results
        .problems
        .iter()
        .enumerate()
        .map(|(place, problem)| (place.to_string(), problem.name.as_str()));
    let tabs: String = std::iter::once(("all".to_string(), "All problems"))
        .chain(names)
        .map(tab)
        .collect();
    let time = if results.figures.contains(&Kind::Pareto) {
        "<span class=\"group\">time axis <button type=\"button\" data-time=\"log\" \
        aria-pressed=\"true\">log</button><button type=\"button\" data-time=\"even\" \
        aria-pressed=\"false\">linear</button></span>"
    } else {
        ""
    };
    format!(
        "<nav class=\"controls\"><div role=\"tablist\" \
        aria-label=\"problem\">{tabs}</div>{time}<details><summary>Methods <span \
        class=\"faint\">(click to hide or \
        show, double-click to see one alone)</span></summary><div class=\"legend\">{}<button \
        type=\"button\" \
        data-every=\"show\">show all</button></div></details></nav>",
        legend(results)
    )
}

fn legend(results: &ExperimentResults) -> String {
    let methods = results
        .problems
        .first()
        .map_or(&[][..], |problem| &problem.methods);
    let one = |(place, name): (usize, &str)| {
        let mut swatch = Svg::bare(14.0, 14.0);
        swatch.group(&hue(place)).open();
        mark(&mut swatch, place, (7.0, 7.0), 4.5, "fill");
        swatch.end();
        let name = escaped(name);
        format!(
            "<button type=\"button\" data-legend=\"{place}\" \
                aria-pressed=\"true\">{}<span>{name}</span></button>",
            swatch.inline("")
        )
    };
    methods
        .iter()
        .map(|method| method.name.as_str())
        .enumerate()
        .map(one)
        .collect()
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Bars => "Regret of every method",
        Kind::Components => "What each component brings",
        Kind::Weighting => "Weights of instances",
        Kind::Pareto => "Regret against training time",
        Kind::Curves => "How training goes",
        Kind::Solves => "Questions to the solver",
        Kind::Examples => "What decisions look like",
    }
}

/// All figures, kind by kind.
pub(super) fn sections(results: &ExperimentResults, figures: &[RenderedFigure]) -> String {
    let section = |kind: &Kind| {
        let own: String = figures
            .iter()
            .filter(|drawn| drawn.kind == *kind)
            .map(|drawn| figure(results, drawn))
            .collect();
        if own.is_empty() {
            own
        } else {
            format!(
                "<section id=\"{}\"><h2>{}</h2>{own}</section>",
                word(*kind),
                title(*kind)
            )
        }
    };
    results.figures.iter().map(section).collect()
}

fn figure(results: &ExperimentResults, drawn: &RenderedFigure) -> String {
    let time = match (drawn.kind, drawn.even_time) {
        (Kind::Pareto, true) => " data-axis=\"even\" hidden",
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
    let name = if drawn.even_time {
        format!("{}-linear", drawn.name)
    } else {
        drawn.name.clone()
    };
    format!(
        "<figure data-problem=\"{}\"{time}>{}<figcaption>{caption} <button type=\"button\" \
            class=\"save\" \
        data-save=\"{}\">Download SVG</button></figcaption></figure>",
        drawn.problem,
        drawn.svg.inline(&alt_text),
        escaped(&name)
    )
}

/// Where the numbers come from.
pub(super) fn footer(results: &ExperimentResults) -> String {
    let lines: String = provenance(results)
        .into_iter()
        .map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(text)))
        .collect();
    let name = escaped(&results.name);
    format!(
        "<footer><h2>Where the numbers come \
            from</h2><dl><dt>experiment</dt><dd>{name}</dd>{lines}</dl><button \
        type=\"button\" id=\"save-numbers\">Download all numbers (JSON)</button></footer><div \
        id=\"tip\" \
        role=\"status\" hidden></div>"
    )
}
