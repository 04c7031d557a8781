//! Validation regret over epochs, of the reference and the best methods.
//!
//! Losses are not shown next to each other: those of different methods have different units.

use crate::experiment::{CurvePoint, MethodResults};

use super::lines::{LineSeries, draw_series, label_width};
use super::{Drawing, FigureContext, is_baseline};
use crate::report::axes::Axes;
use crate::report::scale::AxisScale;
use crate::report::svg::{Rect, Svg};

/// Number of methods shown. Untuned: more lines are hard to distinguish.
const MAX_CURVES: usize = 6;

type CurveEntry<'a> = (usize, &'a MethodResults);

/// Epochs and validation regrets; epoch 0 is the untrained model.
fn line(curve: &[CurvePoint]) -> Vec<(f64, f64)> {
    let mut line = Vec::new();
    for (epoch, point) in curve.iter().enumerate() {
        if let Some(value) = point.validation_regret.filter(|value| value.is_finite()) {
            line.push((epoch as f64, value));
        }
    }
    line
}

fn has_curve(method: &MethodResults) -> bool {
    line(&method.curve).len() > 1
}

/// The reference, then the lowest ratios; in a smoke test, which has none, the first methods.
fn shown_methods<'a>(context: &FigureContext<'a>) -> Vec<CurveEntry<'a>> {
    let mut all: Vec<CurveEntry<'a>> = context
        .run()
        .filter(|(_, method)| has_curve(method))
        .collect();
    let ratio = |method: &MethodResults| method.ratio.mean.unwrap_or(f64::INFINITY);
    all.sort_by(|(_, a), (_, b)| {
        context
            .is_reference(b)
            .cmp(&context.is_reference(a))
            .then(ratio(a).total_cmp(&ratio(b)))
    });
    all.truncate(MAX_CURVES);
    all
}

pub(super) fn draw(context: &FigureContext<'_>) -> Option<Drawing> {
    let methods = shown_methods(context);
    if methods.is_empty() {
        return None;
    }
    let mut svg = Svg::new(context.width);
    let top = context.heading_with(&mut svg, "first seed");
    let names = methods.iter().map(|(_, method)| method.name.as_str());
    let label_width = label_width(names, context.width);
    let height = if context.is_narrow() { 210.0 } else { 250.0 };
    let area = Rect::new(
        58.0,
        top + 10.0,
        context.width - 58.0 - label_width - 22.0,
        height,
    );
    draw_lines(&mut svg, context, &methods, area, label_width);
    Some(Drawing {
        svg: svg.finish(area.bottom() + 46.0),
        explanation: explanation(context),
        finding: finding(context),
    })
}

fn draw_lines(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    methods: &[CurveEntry<'_>],
    area: Rect,
    label_width: f64,
) {
    let mut series = Vec::with_capacity(methods.len());
    for (index, method) in methods {
        let points = line(&method.curve);
        let values = points.iter().map(|(_, value)| *value);
        let lowest = values.fold(f64::INFINITY, f64::min);
        let last = points.last().map_or(0.0, |(epoch, _)| *epoch);
        let style = context.style(*index);
        series.push(LineSeries {
            method: *index,
            name: method.name.clone(),
            color: style.color,
            dash: style.dash,
            points,
            tip: format!("{}\nlowest {lowest:.4} in {last} epochs", method.name),
        });
    }
    let all = || series.iter().flat_map(|line| line.points.iter());
    let frame = Axes {
        area,
        x: AxisScale::integer(all().map(|(epoch, _)| *epoch), area.left, area.right()),
        y: AxisScale::linear(
            all().map(|(_, value)| *value).chain([0.0]),
            area.bottom(),
            area.top,
        ),
    };
    frame.draw(svg, "epoch", "validation regret");
    draw_series(svg, &frame, &series, label_width);
}

fn explanation(context: &FigureContext<'_>) -> Vec<String> {
    let which = if context.results.is_smoke_test {
        "some methods"
    } else {
        "the methods with the lowest ratios"
    };
    vec![format!(
        "Regret on the validation rows after each epoch of the first seed: {} and {which}. The \
            epoch with the lowest one is the model that is tested.",
        context.results.reference
    )]
}

/// Methods that were run and have no curve, with the reason.
fn finding(context: &FigureContext<'_>) -> String {
    let missing: Vec<&str> = context
        .run()
        .filter(|(_, method)| !has_curve(method) && !is_baseline(&method.name))
        .map(|(_, method)| method.name.as_str())
        .collect();
    if missing.is_empty() {
        String::new()
    } else {
        format!(
            "No curve, as there is no validation regret of every epoch: {}.",
            missing.join(", ")
        )
    }
}
