//! Ratios of all methods as bars, the lowest first, with standard deviations and published means.

use crate::experiment::MethodResults;

use super::labels::{LabeledRows, MethodRow};
use super::{Drawing, FigureContext, draw_error_bar, draw_legend, is_baseline, tip};
use crate::report::axes::bottom_axis;
use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{ratio, width};

/// Ratios above are truncated: one bad method would compress all others. Untuned: above 1 all
/// methods are worse than the reference anyway.
const MAX_RATIO_SHOWN: f64 = 2.0;

/// Methods with their indices, the lowest ratio first; those without one come last.
fn sorted_methods<'a>(context: &FigureContext<'a>) -> Vec<(usize, &'a MethodResults)> {
    let mut methods: Vec<_> = context.problem.methods.iter().enumerate().collect();
    let key = |method: &MethodResults| method.ratio.mean.unwrap_or(f64::INFINITY);
    methods.sort_by(|(_, a), (_, b)| key(a).total_cmp(&key(b)));
    methods
}

pub(super) fn draw(context: &FigureContext<'_>) -> Option<Drawing> {
    context.measured().next()?;
    let methods = sorted_methods(context);
    let mut svg = Svg::new(context.width);
    let top = context.heading(&mut svg);
    let top = legend(&mut svg, context, &methods, top);
    let numbers = methods
        .iter()
        .map(|(_, method)| width(&number(method)) * SMALL_TEXT_HEIGHT);
    let right = numbers.fold(0.0, f64::max) + 20.0;
    let names = methods.iter().map(|(_, method)| method.name.as_str());
    let rows = LabeledRows::new(context.width, names, top + 4.0, right);
    let ends = methods.iter().flat_map(|(_, method)| {
        let published = method.published.map(|published| published.ratio);
        let mean = method.ratio.mean;
        [
            mean.map(|mean| mean + method.ratio.sd.unwrap_or(0.0)),
            published,
        ]
    });
    let longest = ends.flatten().fold(1.05, f64::max).min(MAX_RATIO_SHOWN);
    let area = rows.area;
    let x = AxisScale::linear([0.0, longest], area.left, area.right());
    let title = format!("test regret relative to {}", context.results.reference);
    bottom_axis(&mut svg, &area, &x, &title);
    for shown in MethodRow::all(&rows, &methods) {
        draw_row(&mut svg, context, shown, &x);
    }
    svg.line(
        (x.at(1.0), area.top),
        (x.at(1.0), area.bottom()),
        "reference-line",
    );
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation: explanation(context),
        finding: finding(context),
    })
}

/// The class of a bar's color: names identify the methods.
fn color(context: &FigureContext<'_>, method: &MethodResults) -> &'static str {
    if context.is_reference(method) {
        "neutral"
    } else if method.is_best {
        "missed"
    } else if is_baseline(&method.name) {
        "quiet"
    } else {
        "c0"
    }
}

/// What the colors mean.
fn legend(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    methods: &[(usize, &MethodResults)],
    top: f64,
) -> f64 {
    let used = |class: &str| {
        methods
            .iter()
            .any(|(_, method)| color(context, method) == class)
    };
    let reference = format!("{}, the reference", context.results.reference);
    let entries = [
        ("missed", "lowest"),
        ("neutral", reference.as_str()),
        ("quiet", "not trained"),
    ];
    let entries: Vec<(&str, &str)> = entries
        .into_iter()
        .filter(|(class, _)| used(class))
        .collect();
    draw_legend(svg, 12.0, top, context.width - 8.0, &entries)
}

/// The number next to a bar.
fn number(method: &MethodResults) -> String {
    let Some(mean) = method.ratio.mean else {
        return "*".into();
    };
    let sd = method.ratio.sd.map(|sd| format!(" ± {}", ratio(sd)));
    format!("{}{}", ratio(mean), sd.unwrap_or_default())
}

fn draw_row(svg: &mut Svg, context: &FigureContext<'_>, shown: MethodRow<'_>, x: &AxisScale) {
    let (area, method, middle) = (&shown.rows.area, shown.method, shown.middle());
    svg.group(&format!("{} mark", color(context, method)))
        .num("data-method", shown.index as f64)
        .open();
    svg.tip(&tip(method));
    let strong = if method.is_best || context.is_reference(method) {
        "strong"
    } else {
        ""
    };
    shown.rows.write(svg, shown.row, strong, &method.name);
    if let Some(mean) = method.ratio.mean {
        let end = x.at(mean);
        svg.rect(
            Rect::new(area.left, middle - 6.5, end - area.left, 13.0),
            "soft bar",
        );
        if mean > x.high() {
            svg.path(
                &[
                    (end + 2.0, middle - 6.0),
                    (end + 8.0, middle),
                    (end + 2.0, middle + 6.0),
                ],
                "line",
            );
        }
        deviation(svg, method, mean, middle, x);
    }
    svg.text(
        (area.right() + 12.0, middle + 4.0),
        Anchor::Start,
        &format!("small {strong}"),
        &number(method),
    );
    if let Some(published) = method.published {
        let position = x.at(published.ratio);
        svg.line(
            (position, middle - 8.5),
            (position, middle + 8.5),
            "tick published",
        );
    }
    svg.end();
}

fn deviation(svg: &mut Svg, method: &MethodResults, mean: f64, middle: f64, x: &AxisScale) {
    if let Some(sd) = method
        .ratio
        .sd
        .filter(|sd| *sd > 0.0 && mean - sd < x.high())
    {
        draw_error_bar(svg, (x.at(mean - sd), middle), (x.at(mean + sd), middle));
    }
}

fn explanation(context: &FigureContext<'_>) -> Vec<String> {
    let reference = &context.results.reference;
    let mut sentences = vec![format!(
        "Test regret as a multiple of that of {reference}, the lowest first: shorter is better, \
            below 1 (dashed) beats {reference}."
    )];
    let methods = &context.problem.methods;
    if methods.iter().any(|method| method.ratio.sd.is_some()) {
        sentences.push("Error bars are standard deviations over seeds.".into());
    }
    if methods.iter().any(|method| method.published.is_some()) {
        sentences.push("Vertical ticks are published means.".into());
    }
    if context
        .measured()
        .any(|(_, _, mean)| mean > MAX_RATIO_SHOWN)
    {
        sentences.push("Arrows: the bar continues to the number at its right.".into());
    }
    sentences
}

fn finding(context: &FigureContext<'_>) -> String {
    let best = context.measured().find(|(_, method, _)| method.is_best);
    best.map(|(_, method, mean)| format!("Lowest: {} with {}.", method.name, ratio(mean)))
        .unwrap_or_default()
}
