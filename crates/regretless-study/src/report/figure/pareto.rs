//! Regret ratio against training time, with the Pareto front.

use super::{Drawing, FigureContext, open_group, tip};
use crate::report::axes::{Axes, LabelPlacement};
use crate::report::scale::AxisScale;
use crate::report::style::mark;
use crate::report::svg::{Point, Rect, Svg};
use crate::report::text::{clipped, short};

/// Ratios above are drawn at the upper edge, as in the bar chart.
const MAX_RATIO_SHOWN: f64 = 2.0;

pub(super) fn draw(context: &FigureContext<'_>, has_linear_time_axis: bool) -> Option<Drawing> {
    let points: Vec<(usize, f64, f64)> = context
        .measured()
        .filter_map(|(index, method, mean)| Some((index, method.seconds.mean?, mean)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let mut svg = Svg::new(context.width);
    let top = context.heading(&mut svg);
    let height = if context.is_narrow() { 230.0 } else { 330.0 };
    let area = Rect::new(54.0, top + 8.0, context.width - 54.0 - 14.0, height);
    let frame = frame(context, &points, has_linear_time_axis, area);
    let scale = if has_linear_time_axis {
        ""
    } else {
        ", log scale"
    };
    let x_title = format!("training time in seconds{scale}");
    let y_title = format!("test regret relative to {}", context.results.reference);
    frame.draw(&mut svg, &x_title, &y_title);
    let steps = front_line(&mut svg, context, &frame);
    let mut labels = LabelPlacement::new(LabelPlacement::PLAIN);
    steps
        .windows(2)
        .for_each(|pair| labels.reserve_line(pair[0], pair[1]));
    for (index, method) in context.problem.methods.iter().enumerate() {
        let Some((seconds, ratio)) = method
            .published
            .and_then(|published| Some((published.seconds?, published.ratio)))
        else {
            continue;
        };
        let shape = context.style(index).shape;
        let svg = open_group(&mut svg, context, index, "mark");
        svg.tip(&tip(method));
        let here = frame.at(seconds, ratio);
        mark(svg, shape, here, 4.0, "hollow published");
        labels.reserve_point(here, 5.0);
        svg.end();
    }
    marks(&mut svg, context, &frame, &mut labels, &points);
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation: explanation(context),
        finding: finding(context),
    })
}

fn frame(
    context: &FigureContext<'_>,
    points: &[(usize, f64, f64)],
    has_linear_time_axis: bool,
    area: Rect,
) -> Axes {
    let published = || {
        context
            .problem
            .methods
            .iter()
            .filter_map(|method| method.published)
            .filter(|published| published.seconds.is_some())
    };
    let times = points
        .iter()
        .map(|(_, seconds, _)| *seconds)
        .chain(published().filter_map(|published| published.seconds));
    let ratios = points
        .iter()
        .map(|(_, _, ratio)| *ratio)
        .chain(published().map(|published| published.ratio));
    let (left, right) = (area.left + 8.0, area.right() - 8.0);
    let x = if has_linear_time_axis {
        AxisScale::linear(times.chain([0.0]), left, right)
    } else {
        AxisScale::log(times, left, right)
    };
    let y = AxisScale::linear(
        ratios.map(|ratio| ratio.min(MAX_RATIO_SHOWN)).chain([1.0]),
        area.bottom(),
        area.top,
    );
    Axes { area, x, y }
}

/// Step function along the Pareto front.
fn front_line(svg: &mut Svg, context: &FigureContext<'_>, frame: &Axes) -> Vec<Point> {
    let front = context.measured().filter(|(_, method, _)| method.on_front);
    let mut front: Vec<(f64, f64)> = front
        .filter_map(|(_, method, mean)| Some((method.seconds.mean?, mean)))
        .collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<Point> = Vec::new();
    for (seconds, ratio) in front {
        let here = frame.at(seconds, ratio);
        if let Some((_, before)) = steps.last().copied() {
            steps.push((here.0, before));
        }
        steps.push(here);
    }
    if let Some((_, last)) = steps.last().copied() {
        steps.push((frame.area.right(), last));
        svg.path(&steps, "front");
    }
    steps
}

fn marks(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    frame: &Axes,
    labels: &mut LabelPlacement,
    points: &[(usize, f64, f64)],
) {
    points
        .iter()
        .for_each(|(_, seconds, ratio)| labels.reserve_point(frame.at(*seconds, *ratio), 6.0));
    // The front is labeled first, so its labels have priority.
    let mut order: Vec<_> = points.iter().collect();
    order.sort_by_key(|(index, ..)| !context.problem.methods[*index].on_front);
    for (index, seconds, ratio) in order {
        let (method, here) = (&context.problem.methods[*index], frame.at(*seconds, *ratio));
        let shape = context.style(*index).shape;
        let svg = open_group(svg, context, *index, "mark");
        svg.tip(&tip(method));
        // The class "measured" has no style: tests/report/figures.rs counts its elements.
        let (size, class) = if method.on_front {
            (6.5, "ring measured")
        } else {
            (5.0, "fill measured")
        };
        mark(svg, shape, here, size, class);
        labels.write(svg, &frame.area, here, &clipped(&method.name));
        svg.end();
    }
}

fn explanation(context: &FigureContext<'_>) -> Vec<String> {
    let mut sentences = vec![
        "Low and left is better. Ringed marks on the line are the Pareto front: no other method \
            has at most their regret in at most their time."
            .to_string(),
    ];
    sentences.push(match context.results.equal_seconds {
        Some(seconds) => format!(
            "Times count as equal if they differ by less than {} s, as the experiment sets it, or \
                by less than twice the standard error of their difference over seeds.",
            short(seconds)
        ),
        None => "Times count as equal if they differ by less than 1 % of the longest training of \
            the problem, or by less than twice the standard error of their difference over seeds."
            .into(),
    });
    let has_published = context.problem.methods.iter().any(|method| {
        method
            .published
            .is_some_and(|published| published.seconds.is_some())
    });
    if has_published {
        sentences.push(
            "Hollow marks are published; their seconds are those of another machine, so compare \
                their heights only."
                .into(),
        );
    }
    if context
        .measured()
        .any(|(_, _, mean)| mean > MAX_RATIO_SHOWN)
    {
        sentences.push("Marks at the upper edge are above it.".into());
    }
    sentences
}

fn finding(context: &FigureContext<'_>) -> String {
    let front: Vec<&str> = context
        .measured()
        .filter(|(_, method, _)| method.on_front)
        .map(|(_, method, _)| method.name.as_str())
        .collect();
    let equal = if context.results.equal_seconds.is_none() {
        format!(
            " (1 % of the longest training: {} s)",
            short(context.problem.equal_seconds)
        )
    } else {
        String::new()
    };
    format!("Pareto front{equal}: {}.", front.join(", "))
}
