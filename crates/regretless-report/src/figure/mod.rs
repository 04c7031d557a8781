//! One file per kind of figure; each draws one problem.

mod bars;
mod components;
mod curves;
mod examples;
mod pareto;
mod solves;
mod weighting;

use regretless::experiment::{
    ExperimentResults, FigureKind as Kind, MethodResults, ProblemResults,
};

use crate::svg::{Anchor, Point, Rect, Svg, TEXT_HEIGHT};
use crate::text::{clipped, file_name, pluralize, ratio, short, width};

/// A drawn figure with its caption.
pub(crate) struct RenderedFigure {
    pub(crate) kind: Kind,
    /// Index of the problem.
    pub(crate) problem: usize,
    /// Whether its time axis is linear; shown on the page only.
    pub(crate) has_linear_time_axis: bool,
    pub(crate) name: String,
    /// Text below the figure.
    pub(crate) caption: String,
    pub(crate) svg: Svg,
}

/// Data of a figure.
#[derive(Clone, Copy)]
pub(crate) struct FigureContext<'a> {
    pub(crate) results: &'a ExperimentResults,
    pub(crate) problem: &'a ProblemResults,
}

/// A figure and its caption.
type FigureWithCaption = Option<(Svg, String)>;

impl<'a> FigureContext<'a> {
    /// Methods with results, each with its index among all methods.
    fn measured(&self) -> impl Iterator<Item = (usize, &'a MethodResults, f64)> + use<'a> {
        let all = self.problem.methods.iter().enumerate();
        all.filter_map(|(index, method)| {
            Some((
                index,
                method,
                method.ratio.mean.filter(|mean| mean.is_finite())?,
            ))
        })
    }

    fn reference(&self) -> Option<&'a MethodResults> {
        self.problem
            .methods
            .iter()
            .find(|method| method.name == self.results.reference)
    }

    /// `TSP20 · mean of 20 seeds · 600 test rows`.
    fn heading(&self, svg: &mut Svg) {
        self.heading_with(svg, &self.seeds());
    }

    fn heading_with(&self, svg: &mut Svg, seeds: &str) {
        let (name, problem) = (clipped(&self.problem.name), self.problem);
        let details = format!(
            "{seeds} · {} · {}",
            pluralize(problem.costs, "cost"),
            pluralize(problem.rows[2], "test row")
        );
        svg.text((12.0, 21.0), Anchor::Start, "head", &name);
        svg.text(
            (12.0 + width(&name) * 14.5 + 8.0, 21.0),
            Anchor::Start,
            "small faint",
            &details,
        );
    }

    fn seeds(&self) -> String {
        let counts = || {
            self.problem
                .methods
                .iter()
                .map(|method| method.ratio.count)
                .filter(|count| *count > 0)
        };
        match (counts().min(), counts().max()) {
            (Some(min), Some(max)) if min < max => format!("{min} to {max} seeds"),
            (Some(_), Some(max)) => pluralize(max, "seed"),
            _ => "no results yet".into(),
        }
    }
}

/// All figures of an experiment, in its order.
pub(crate) fn all(results: &ExperimentResults) -> Vec<RenderedFigure> {
    let mut out = Vec::new();
    for kind in &results.figures {
        for (index, problem) in results.problems.iter().enumerate() {
            let context = FigureContext { results, problem };
            let mut add = |drawn: FigureWithCaption, has_linear_time_axis: bool| {
                let name = format!("{}-{}", word(*kind), file_name(&problem.name));
                let rendered = |(svg, caption)| RenderedFigure {
                    kind: *kind,
                    problem: index,
                    has_linear_time_axis,
                    name,
                    caption,
                    svg,
                };
                out.extend(drawn.map(rendered));
            };
            add(draw(&context, *kind), false);
            if *kind == Kind::Pareto {
                add(pareto::draw(&context, true), true);
            }
        }
    }
    out
}

fn draw(context: &FigureContext<'_>, kind: Kind) -> FigureWithCaption {
    match kind {
        Kind::Bars => bars::draw(context),
        Kind::Components => components::draw(context),
        Kind::Weighting => weighting::draw(context),
        Kind::Pareto => pareto::draw(context, false),
        Kind::Curves => curves::draw(context),
        Kind::Solves => solves::draw(context),
        Kind::Examples => examples::draw(context),
    }
}

/// The kind as part of a name.
pub(crate) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Bars => "bars",
        Kind::Components => "components",
        Kind::Weighting => "weighting",
        Kind::Pareto => "pareto",
        Kind::Curves => "curves",
        Kind::Solves => "solves",
        Kind::Examples => "examples",
    }
}

/// Tooltip of a method's mark.
fn tip(method: &MethodResults) -> String {
    let mut out = method.name.clone();
    if let Some(mean) = method.ratio.mean {
        out += &format!("\nratio {mean:.4}");
        out += &method
            .ratio
            .sd
            .map(|sd| format!(" ± {sd:.4}"))
            .unwrap_or_default();
        out += &format!(" ({})", pluralize(method.ratio.count, "seed"));
    }
    if let Some(seconds) = method.seconds.mean {
        out += &format!("\n{} s of training", short(seconds));
    }
    if let Some(published) = method.published {
        out += &format!("\npublished {}", ratio(published.ratio));
        out += &published
            .sd
            .map(|sd| format!(" ± {}", ratio(sd)))
            .unwrap_or_default();
        out += &published
            .seconds
            .map(|seconds| format!(", {} s there", short(seconds)))
            .unwrap_or_default();
    }
    out
}

/// A group of a method, which the legend hides and shows.
fn open_group<'a>(svg: &'a mut Svg, index: usize, class: &str) -> &'a mut Svg {
    let class = format!("{} {class}", crate::style::hue(index));
    svg.group(class.trim())
        .num("data-method", index as f64)
        .open()
}

/// Width of the longest label.
fn widest<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    labels
        .map(|name| width(&clipped(name)) * TEXT_HEIGHT)
        .fold(40.0, f64::max)
}

/// A vertical or horizontal error bar.
fn draw_error_bar(svg: &mut Svg, from: Point, to: Point) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let (dx, dy) = if x1 == x2 { (3.0, 0.0) } else { (0.0, 3.0) };
    svg.line(from, to, "whisker");
    svg.line((x1 - dx, y1 - dy), (x1 + dx, y1 + dy), "whisker");
    svg.line((x2 - dx, y2 - dy), (x2 + dx, y2 + dy), "whisker");
}

/// A legend in one row: color swatches with text.
fn draw_legend_row(svg: &mut Svg, start: Point, entries: &[(&str, &str)]) {
    let (mut x, y) = start;
    for (class, text) in entries {
        svg.group(class).open();
        svg.rect(Rect::new(x, y - 9.0, 10.0, 10.0), "soft");
        svg.end();
        svg.text((x + 15.0, y), Anchor::Start, "small", text);
        x += 15.0 + width(text) * crate::svg::SMALL_TEXT_HEIGHT + 18.0;
    }
}
