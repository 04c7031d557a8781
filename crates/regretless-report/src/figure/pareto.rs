//! Regret ratio against training time, with the Pareto front.

use super::{FigureContext, FigureWithCaption, open_group, tip};
use crate::axes::{Axes, LabelPlacement};
use crate::scale::AxisScale;
use crate::style::mark;
use crate::svg::{Point, Rect, Svg};
use crate::text::clipped;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 430.0;
/// Ratios above are drawn at the upper edge, as in the bar chart.
const MAX_RATIO_SHOWN: f64 = 2.0;

pub(super) fn draw(context: &FigureContext<'_>, has_linear_time_axis: bool) -> FigureWithCaption {
    let points: Vec<(usize, f64, f64)> = context
        .measured()
        .filter_map(|(index, method, mean)| Some((index, method.seconds.mean?, mean)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let frame = frame(context, &points, has_linear_time_axis);
    let mut svg = Svg::new(WIDTH, HEIGHT);
    context.heading(&mut svg);
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
        let svg = open_group(&mut svg, index, "mark");
        svg.tip(&tip(method));
        let here = frame.at(seconds, ratio);
        mark(svg, index, here, 4.0, "hollow published");
        labels.reserve_point(here, 5.0);
        svg.end();
    }
    marks(&mut svg, context, &frame, &mut labels, &points);
    Some((svg, caption(context)))
}

fn frame(
    context: &FigureContext<'_>,
    points: &[(usize, f64, f64)],
    has_linear_time_axis: bool,
) -> Axes {
    let area = Rect::new(64.0, 40.0, WIDTH - 64.0 - 24.0, HEIGHT - 40.0 - 52.0);
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
    // The front is labeled first, so that its labels have priority.
    let mut order: Vec<_> = points.iter().collect();
    order.sort_by_key(|(index, ..)| !context.problem.methods[*index].on_front);
    for (index, seconds, ratio) in order {
        let (method, here) = (&context.problem.methods[*index], frame.at(*seconds, *ratio));
        let svg = open_group(svg, *index, "mark");
        svg.tip(&tip(method));
        // The class "measured" has no style: tests/report/figures.rs counts its elements.
        let (size, class) = if method.on_front {
            (6.5, "ring measured")
        } else {
            (5.0, "fill measured")
        };
        mark(svg, *index, here, size, class);
        labels.write(svg, &frame.area, here, &clipped(&method.name));
        svg.end();
    }
}

fn caption(context: &FigureContext<'_>) -> String {
    let front: Vec<&str> = context
        .measured()
        .filter(|(_, method, _)| method.on_front)
        .map(|(_, method, _)| method.name.as_str())
        .collect();
    let published = context.problem.methods.iter().any(|method| {
        method
            .published
            .is_some_and(|published| published.seconds.is_some())
    });
    let hollow = if published {
        " Hollow marks are published; their seconds are those of another machine, so compare their \
            heights only."
    } else {
        ""
    };
    let cut = context
        .measured()
        .any(|(_, _, mean)| mean > MAX_RATIO_SHOWN);
    let cut = if cut {
        " Marks at the upper edge are above it."
    } else {
        ""
    };
    format!(
        "Low and left is better. Ringed marks on the line are the Pareto front: no other method \
            has at most their regret in at most their time; times that differ by less than {} \
            seconds count as equal ({}).{hollow}{cut}",
        context.results.equal_seconds,
        front.join(", ")
    )
}
