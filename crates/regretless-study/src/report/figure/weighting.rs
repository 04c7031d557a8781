//! Ratio against the weight w of W(w), with C, IC and EIC as horizontal lines.

use crate::experiment::MethodResults;

use super::{Drawing, FigureContext, draw_error_bar, open_group, tip};
use crate::report::axes::{Axes, spread_out};
use crate::report::scale::AxisScale;
use crate::report::style::{CIRCLE_SHAPE, mark};
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, ratio};

/// The weight of `BASE(W(0.3))`.
fn weight(name: &str) -> Option<f64> {
    name.split_once("(W(")?.1.strip_suffix("))")?.parse().ok()
}

/// Whether a method is a horizontal line: C, IC(k) or EIC(k) is its only component.
fn is_horizontal_line(name: &str) -> bool {
    let has_only = |component: &str| {
        name.split_once(component)
            .and_then(|(_, end)| end.strip_suffix("))"))
            .is_some_and(|rounds| rounds.parse::<usize>().is_ok())
    };
    name.ends_with("(C)") || has_only("(IC(") || has_only("(EIC(")
}

/// Index of a method among all, the method, and its ratio.
type WeightingEntry<'a> = (usize, &'a MethodResults, f64);

pub(super) fn draw(context: &FigureContext<'_>) -> Option<Drawing> {
    let weighted: Vec<(f64, WeightingEntry<'_>)> = context
        .measured()
        .filter_map(|entry| Some((weight(&entry.1.name)?, entry)))
        .collect();
    let horizontal_lines: Vec<WeightingEntry<'_>> = context
        .measured()
        .filter(|(_, method, _)| is_horizontal_line(&method.name))
        .collect();
    if weighted.is_empty() {
        return None;
    }
    let ends = |(_, method, mean): &WeightingEntry<'_>| {
        let sd = method.ratio.sd.unwrap_or(0.0);
        [mean - sd, mean + sd]
    };
    let ratios = weighted
        .iter()
        .map(|(_, entry)| entry)
        .chain(&horizontal_lines)
        .flat_map(ends)
        .chain([1.0]);
    let mut svg = Svg::new(context.width);
    let top = context.heading(&mut svg);
    let (height, label_width) = if context.is_narrow() {
        (230.0, 96.0)
    } else {
        (300.0, 150.0)
    };
    let area = Rect::new(
        54.0,
        top + 8.0,
        context.width - 54.0 - label_width - 20.0,
        height,
    );
    let frame = Axes {
        area,
        x: AxisScale::linear([0.0, 1.0], area.left + 12.0, area.right() - 12.0),
        y: AxisScale::linear(ratios, area.bottom(), area.top),
    };
    let y_label = format!("test regret relative to {}", context.results.reference);
    frame.draw(&mut svg, "weight w in W(w)", &y_label);
    svg.line(
        (area.left, frame.y.at(1.0)),
        (area.right(), frame.y.at(1.0)),
        "reference-line",
    );
    draw_horizontal_lines(&mut svg, context, &horizontal_lines, &frame, label_width);
    draw_weights(&mut svg, &weighted, &frame);
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation: vec![format!(
            "Each dot is a training that weights instances by w times the regret of a baseline \
                plus 1 − w; lower is better, the dashed line is {}. Horizontal lines need no \
                choice of a weight. Error bars are standard deviations over seeds.",
            context.results.reference
        )],
        finding: finding(&weighted, &horizontal_lines),
    })
}

fn draw_horizontal_lines(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    horizontal_lines: &[WeightingEntry<'_>],
    frame: &Axes,
    label_width: f64,
) {
    let area = &frame.area;
    let ideal: Vec<f64> = horizontal_lines
        .iter()
        .map(|(.., mean)| frame.y.at(*mean))
        .collect();
    let label_positions = spread_out(&ideal, 14.0, area.top, area.bottom());
    for ((index, method, mean), label_y) in horizontal_lines.iter().zip(label_positions) {
        let (svg, y) = (open_group(svg, context, *index, "mark"), frame.y.at(*mean));
        svg.tip(&tip(method));
        // The class "method-line" has no style: tests/report/figures.rs counts its elements.
        svg.line((area.left, y), (area.right(), y), "line method-line");
        svg.line((area.right(), y), (area.right() + 10.0, label_y), "thin");
        let text = format!("{} {}", method.name, ratio(*mean));
        let text = clipped_to(&text, label_width / SMALL_TEXT_HEIGHT);
        svg.text(
            (area.right() + 14.0, label_y + 4.0),
            Anchor::Start,
            "small",
            &text,
        );
        svg.end();
    }
}

fn draw_weights(svg: &mut Svg, weighted: &[(f64, WeightingEntry<'_>)], frame: &Axes) {
    let mut points: Vec<(f64, Point)> = weighted
        .iter()
        .map(|(w, (.., mean))| (*w, frame.at(*w, *mean)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points: Vec<Point> = points.into_iter().map(|(_, point)| point).collect();
    svg.group("text-color").open();
    svg.path(&points, "line");
    svg.end();
    for (w, (index, method, mean)) in weighted {
        svg.group("text-color mark")
            .num("data-method", *index as f64)
            .open();
        svg.tip(&tip(method));
        if let Some(sd) = method.ratio.sd.filter(|sd| *sd > 0.0) {
            draw_error_bar(svg, frame.at(*w, mean - sd), frame.at(*w, mean + sd));
        }
        // The class "measured" has no style: tests/report/figures.rs counts its elements.
        mark(svg, CIRCLE_SHAPE, frame.at(*w, *mean), 4.5, "fill measured");
        svg.end();
    }
}

fn finding(
    weighted: &[(f64, WeightingEntry<'_>)],
    horizontal_lines: &[WeightingEntry<'_>],
) -> String {
    let mut finding = String::new();
    if let Some((w, (.., mean))) = weighted.iter().min_by(|a, b| a.1.2.total_cmp(&b.1.2)) {
        finding = format!("The best of these weights is {w} with {}.", ratio(*mean));
    }
    if let Some((_, method, mean)) = horizontal_lines.iter().min_by(|a, b| a.2.total_cmp(&b.2)) {
        let (name, mean) = (&method.name, ratio(*mean));
        finding += &format!(" The lowest horizontal line is {name} with {mean}.");
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::{is_horizontal_line, weight};

    #[test]
    fn weights_and_horizontal_lines_are_read_from_names() {
        assert_eq!(
            (weight("MSE(W(0.3))"), weight("MSE(W(1))"), weight("MSE(C)")),
            (Some(0.3), Some(1.0), None)
        );
        assert!(
            is_horizontal_line("MSE(C)")
                && is_horizontal_line("MSE(IC(3))")
                && is_horizontal_line("MAE(EIC(3))")
        );
        assert!(
            !is_horizontal_line("MSE(IC(3),S)") && !is_horizontal_line("MSE(IC(3),O_S(exact))")
        );
        assert!(!is_horizontal_line("MSE(W(0.5))") && !is_horizontal_line("MSE"));
    }
}
