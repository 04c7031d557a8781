//! Loss and regret over epochs, of the reference and the best methods.

use regretless::experiment::{CurvePoint, MethodResults};

use super::{FigureContext, FigureWithCaption, open_group};
use crate::axes::{Axes, spread_out};
use crate::scale::AxisScale;
use crate::style::dash;
use crate::svg::{Anchor, Point, Rect, Svg};
use crate::text::clipped;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
/// Number of methods shown. Untuned: more lines are hard to distinguish.
const MAX_CURVES: usize = 6;

type CurveEntry<'a> = (usize, &'a MethodResults);
type CurveValue = fn(&CurvePoint) -> Option<f64>;

/// A panel of the figure.
struct Panel {
    /// The value of an epoch.
    value: CurveValue,
    /// Whether values are divided by the first one.
    is_relative: bool,
    /// Title of the axis.
    title: &'static str,
}

const PANELS: [Panel; 2] = [
    Panel {
        value: |point| point.validation_regret,
        is_relative: false,
        title: "validation regret",
    },
    Panel {
        value: |point| point.validation_loss.or(point.training_loss),
        is_relative: true,
        title: "loss relative to its first value",
    },
];

/// The reference, then the lowest ratios.
fn shown_methods<'a>(context: &FigureContext<'a>) -> Vec<CurveEntry<'a>> {
    let mut all: Vec<(CurveEntry<'a>, f64)> = context
        .measured()
        .filter(|(_, method, _)| method.curve.len() > 1)
        .map(|(index, method, mean)| ((index, method), mean))
        .collect();
    let is_reference =
        |((_, method), _): &(CurveEntry<'a>, f64)| method.name == context.results.reference;
    all.sort_by(|a, b| {
        is_reference(b)
            .cmp(&is_reference(a))
            .then(a.1.total_cmp(&b.1))
    });
    all.into_iter()
        .take(MAX_CURVES)
        .map(|(entry, _)| entry)
        .collect()
}

/// Epochs and values; epoch 0 is the untrained model.
fn line(method: &MethodResults, panel: &Panel) -> Vec<(f64, f64)> {
    let mut line = Vec::new();
    for (epoch, point) in method.curve.iter().enumerate() {
        if let Some(value) = (panel.value)(point).filter(|value| value.is_finite()) {
            line.push((epoch as f64, value));
        }
    }
    let first = line.first().map_or(1.0, |(_, value)| value.abs());
    if panel.is_relative && first > 0.0 {
        for (_, value) in &mut line {
            *value /= first;
        }
    }
    line
}

pub(super) fn draw(context: &FigureContext<'_>) -> FigureWithCaption {
    let methods = shown_methods(context);
    let has = |panel: &&Panel| {
        methods
            .iter()
            .any(|(_, method)| line(method, panel).len() > 1)
    };
    let panels: Vec<&Panel> = PANELS.iter().filter(has).collect();
    if panels.is_empty() {
        return None;
    }
    let mut svg = Svg::new(WIDTH, HEIGHT);
    context.heading_with(&mut svg, "first seed");
    let panel_width = WIDTH / panels.len() as f64;
    for (index, panel) in panels.iter().enumerate() {
        let area = Rect::new(
            panel_width * index as f64 + 62.0,
            40.0,
            panel_width - 62.0 - 104.0,
            HEIGHT - 40.0 - 52.0,
        );
        draw_panel(&mut svg, &methods, panel, area);
    }
    Some((
        svg,
        caption(context, panels.len() == 2 || !panels[0].is_relative),
    ))
}

fn draw_panel(svg: &mut Svg, methods: &[CurveEntry<'_>], panel: &Panel, area: Rect) {
    let lines = methods
        .iter()
        .map(|(index, method)| (*index, *method, line(method, panel)));
    let lines: Vec<_> = lines.filter(|(.., line)| !line.is_empty()).collect();
    let all = || lines.iter().flat_map(|(.., line)| line.iter());
    let frame = Axes {
        area,
        x: AxisScale::integer(all().map(|(epoch, _)| *epoch), area.left, area.right()),
        y: AxisScale::linear(
            all().map(|(_, value)| *value).chain([0.0]),
            area.bottom(),
            area.top,
        ),
    };
    frame.draw(svg, "epoch", panel.title);
    let ends: Vec<f64> = lines
        .iter()
        .filter_map(|(.., line)| line.last())
        .map(|(_, value)| frame.y.at(*value))
        .collect();
    let heights = spread_out(&ends, 13.0, area.top, area.bottom());
    for ((index, method, line), height) in lines.iter().zip(heights) {
        let points: Vec<Point> = line
            .iter()
            .map(|(epoch, value)| frame.at(*epoch, *value))
            .collect();
        let lowest = line
            .iter()
            .map(|(_, value)| *value)
            .fold(f64::INFINITY, f64::min);
        let last = line.last().map_or(0.0, |(epoch, _)| *epoch);
        let svg = open_group(svg, *index, "mark");
        svg.tip(&format!(
            "{}\nlowest {lowest:.4} in {last} epochs",
            method.name
        ));
        svg.path(&points, &format!("line curve {}", dash(*index)));
        if let Some((x, y)) = points.last() {
            svg.line((*x, *y), (area.right() + 7.0, height), "thin");
        }
        svg.text(
            (area.right() + 10.0, height + 4.0),
            Anchor::Start,
            "small tinted",
            &clipped(&method.name),
        );
        svg.end();
    }
}

fn caption(context: &FigureContext<'_>, regret: bool) -> String {
    let left = if regret {
        " Validation regret measures the quality of decisions."
    } else {
        ""
    };
    format!(
        "The first seed, epoch by epoch: {} and the methods with the lowest ratios.{left} Losses \
            of different methods have different units, so each is divided by its own first value.",
        context.results.reference
    )
}
