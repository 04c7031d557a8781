//! One file per kind of figure; each draws one problem, at the width it is asked for.

mod bars;
mod components;
pub(crate) mod critical_difference;
mod curves;
pub(crate) mod edges;
pub(crate) mod examples;
mod labels;
mod lines;
mod pareto;
pub(crate) mod row_regrets;
pub(crate) mod savings;
mod solves;
pub(crate) mod sources;
mod weighting;

use crate::experiment::{ExperimentResults, FigureKind as Kind, MethodResults, ProblemResults};
use regretless::baseline::Baseline;

use crate::report::style::MethodStyle;
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, file_name, pluralize, ratio, short, width};
use examples::ExampleRow;

/// Width of a drawing in units, which are pixels if it has its natural size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FigureWidth {
    /// A telephone, or one of three figures side by side.
    Narrow,
    /// One of two figures side by side.
    Medium,
    /// Alone: on a page, and in a paper.
    Wide,
}

impl FigureWidth {
    fn units(self) -> f64 {
        match self {
            Self::Narrow => 350.0,
            Self::Medium => 570.0,
            Self::Wide => 760.0,
        }
    }
}

/// Which figure of a kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The only one, or the one that is also a file.
    Standard,
    /// With a linear time axis; shown on the page only.
    LinearTime,
    /// Of the row with the median regret.
    TypicalRow,
}

/// A drawn figure with its captions.
pub(crate) struct RenderedFigure {
    pub(crate) kind: Kind,
    /// Index of the problem.
    pub(crate) problem: usize,
    pub(crate) variant: Variant,
    pub(crate) name: String,
    /// How to read it, in sentences that are the same for all problems with such a figure.
    pub(crate) explanation: Vec<String>,
    /// What it shows of this problem; may be empty.
    pub(crate) finding: String,
    /// One drawing per width.
    pub(crate) drawings: Vec<Svg>,
}

impl RenderedFigure {
    /// Explanation and finding, for a figure alone.
    pub(crate) fn caption(&self) -> String {
        caption(&self.explanation, &self.finding)
    }
}

/// Explanation and finding of a figure in one text.
pub(crate) fn caption(explanation: &[String], finding: &str) -> String {
    let mut caption = explanation.join(" ");
    if !finding.is_empty() {
        caption += " ";
        caption += finding;
    }
    caption
}

/// Data of a figure.
#[derive(Clone, Copy)]
pub(crate) struct FigureContext<'a> {
    pub(crate) results: &'a ExperimentResults,
    pub(crate) problem: &'a ProblemResults,
    /// Width of the drawing.
    pub(crate) width: f64,
}

/// A figure and its captions.
pub(crate) struct Drawing {
    pub(crate) svg: Svg,
    pub(crate) explanation: Vec<String>,
    pub(crate) finding: String,
}

impl<'a> FigureContext<'a> {
    /// Methods with ratios, each with its index among all methods.
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

    /// Methods that were run, also those of a smoke test, which has no ratios.
    fn run(&self) -> impl Iterator<Item = (usize, &'a MethodResults)> + use<'a> {
        let all = self.problem.methods.iter().enumerate();
        all.filter(|(_, method)| method.regret.mean.is_some())
    }

    fn is_reference(&self, method: &MethodResults) -> bool {
        method.name == self.results.reference
    }

    fn style(&self, index: usize) -> MethodStyle {
        MethodStyle::of(self.results, self.problem, index)
    }

    /// Whether the drawing is one of several side by side, or on a telephone.
    fn is_narrow(&self) -> bool {
        self.width < FigureWidth::Medium.units()
    }

    /// `TSP20 20 seeds · 190 costs · 600 test rows`; returns the height below it.
    fn heading(&self, svg: &mut Svg) -> f64 {
        self.heading_with(svg, &self.seeds())
    }

    fn heading_with(&self, svg: &mut Svg, seeds: &str) -> f64 {
        const HEAD_HEIGHT: f64 = 13.0;
        let problem = self.problem;
        let name = clipped_to(&problem.name, (self.width - 24.0) / HEAD_HEIGHT / 1.1);
        let mut details = format!(
            "{seeds} · {} · {}",
            pluralize(problem.costs, "cost"),
            pluralize(problem.rows[2], "test row")
        );
        if self.results.is_smoke_test {
            details = format!("SMOKE TEST · {details}");
        }
        svg.text((12.0, 21.0), Anchor::Start, "head", &name);
        // Bold type is a tenth wider.
        let end_of_name = 12.0 + width(&name) * HEAD_HEIGHT * 1.1 + 8.0;
        // Drawings side by side have the same height.
        let fits = !self.is_narrow()
            && end_of_name + width(&details) * SMALL_TEXT_HEIGHT <= self.width - 8.0;
        let (at, bottom) = if fits {
            ((end_of_name, 21.0), 32.0)
        } else {
            ((12.0, 37.0), 46.0)
        };
        let details = clipped_to(&details, (self.width - at.0 - 4.0) / SMALL_TEXT_HEIGHT);
        svg.text(at, Anchor::Start, "small faint", &details);
        bottom
    }

    fn seeds(&self) -> String {
        let counts = || {
            self.problem
                .methods
                .iter()
                .map(|method| method.regret.count)
                .filter(|count| *count > 0)
        };
        match (counts().min(), counts().max()) {
            (Some(min), Some(max)) if min < max => format!("{min} to {max} seeds"),
            (Some(_), Some(max)) => pluralize(max, "seed"),
            _ => "no results yet".into(),
        }
    }
}

/// All figures of an experiment, in its order, each in the widths that are asked for its kind.
pub(crate) fn all(
    results: &ExperimentResults,
    widths: impl Fn(Kind) -> &'static [FigureWidth],
) -> Vec<RenderedFigure> {
    let mut out = Vec::new();
    for kind in &results.figures {
        for index in 0..results.problems.len() {
            for variant in variants(*kind) {
                out.extend(render(results, index, *kind, *variant, widths(*kind)));
            }
        }
    }
    out
}

fn variants(kind: Kind) -> &'static [Variant] {
    match kind {
        Kind::Pareto => &[Variant::Standard, Variant::LinearTime],
        Kind::Examples => &[Variant::TypicalRow, Variant::Standard],
        Kind::Bars | Kind::Components | Kind::Weighting | Kind::Curves | Kind::Solves => {
            &[Variant::Standard]
        }
    }
}

fn render(
    results: &ExperimentResults,
    problem: usize,
    kind: Kind,
    variant: Variant,
    widths: &[FigureWidth],
) -> Option<RenderedFigure> {
    let name = file_name(&results.problems[problem].name);
    let prefix = match variant {
        Variant::Standard | Variant::LinearTime => word(kind),
        Variant::TypicalRow => "typical",
    };
    let mut rendered: Option<RenderedFigure> = None;
    for figure_width in widths {
        let context = FigureContext {
            results,
            problem: &results.problems[problem],
            width: figure_width.units(),
        };
        let drawing = draw(&context, kind, variant)?;
        rendered
            .get_or_insert_with(|| RenderedFigure {
                kind,
                problem,
                variant,
                name: format!("{prefix}-{name}"),
                explanation: drawing.explanation,
                finding: drawing.finding,
                drawings: Vec::new(),
            })
            .drawings
            .push(drawing.svg);
    }
    rendered
}

fn draw(context: &FigureContext<'_>, kind: Kind, variant: Variant) -> Option<Drawing> {
    match kind {
        Kind::Bars => bars::draw(context),
        Kind::Components => components::draw(context),
        Kind::Weighting => weighting::draw(context),
        Kind::Pareto => pareto::draw(context, variant == Variant::LinearTime),
        Kind::Curves => curves::draw(context),
        Kind::Solves => solves::draw(context),
        Kind::Examples => {
            let row = match variant {
                Variant::TypicalRow => ExampleRow::Typical,
                Variant::Standard | Variant::LinearTime => ExampleRow::Worst,
            };
            examples::draw(context, row)
        }
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

/// Whether a method of this name is a baseline, which is not trained.
pub(crate) fn is_baseline(name: &str) -> bool {
    Baseline::ALL
        .iter()
        .any(|baseline| baseline.to_string() == name)
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

/// A group of a method in its color, which the legend hides and shows.
fn open_group<'a>(
    svg: &'a mut Svg,
    context: &FigureContext<'_>,
    index: usize,
    class: &str,
) -> &'a mut Svg {
    let class = format!("{} {class}", context.style(index).color);
    svg.group(class.trim())
        .num("data-method", index as f64)
        .open()
}

/// A vertical or horizontal error bar.
fn draw_error_bar(svg: &mut Svg, from: Point, to: Point) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let (dx, dy) = if x1 == x2 { (3.0, 0.0) } else { (0.0, 3.0) };
    svg.line(from, to, "whisker");
    svg.line((x1 - dx, y1 - dy), (x1 + dx, y1 + dy), "whisker");
    svg.line((x2 - dx, y2 - dy), (x2 + dx, y2 + dy), "whisker");
}

/// A legend: color swatches with text, in as many lines as it needs from `top` on. Returns the
/// height below it.
fn draw_legend(svg: &mut Svg, left: f64, top: f64, right: f64, entries: &[(&str, &str)]) -> f64 {
    const LINE: f64 = 16.0;
    let (mut x, mut y) = (left, top + 12.0);
    for (class, text) in entries {
        let wide = 15.0 + width(text) * SMALL_TEXT_HEIGHT;
        if x > left && x + wide > right {
            (x, y) = (left, y + LINE);
        }
        svg.group(class).open();
        svg.rect(Rect::new(x, y - 9.0, 10.0, 10.0), "soft");
        svg.end();
        let text = clipped_to(text, (right - x - 15.0) / SMALL_TEXT_HEIGHT);
        svg.text((x + 15.0, y), Anchor::Start, "small", &text);
        x += wide + 14.0;
    }
    y + 6.0
}
