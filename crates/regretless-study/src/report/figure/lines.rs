//! Lines of several methods over a common axis, each with its name at its end.

use crate::report::axes::{Axes, spread_out};
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, width};

/// One line.
pub(super) struct LineSeries {
    /// Index of the method, by which a legend hides it.
    pub(super) method: usize,
    pub(super) name: String,
    /// Class of its color.
    pub(super) color: String,
    /// Class of its dashes.
    pub(super) dash: String,
    pub(super) points: Vec<Point>,
    pub(super) tip: String,
}

/// Space for the longest name to the right of the plot.
pub(super) fn label_width<'a>(names: impl Iterator<Item = &'a str>, drawing_width: f64) -> f64 {
    let widths = names.map(|name| width(name) * SMALL_TEXT_HEIGHT);
    widths.fold(30.0, f64::max).min(0.3 * drawing_width)
}

/// Draws the lines and their names.
pub(super) fn draw_series(svg: &mut Svg, frame: &Axes, series: &[LineSeries], label_width: f64) {
    let area = &frame.area;
    let ends: Vec<f64> = series
        .iter()
        .map(|line| {
            line.points
                .last()
                .map_or(area.bottom(), |(_, y)| frame.y.at(*y))
        })
        .collect();
    let heights = spread_out(&ends, 14.0, area.top, area.bottom());
    for (line, height) in series.iter().zip(heights) {
        let points: Vec<Point> = line.points.iter().map(|(x, y)| frame.at(*x, *y)).collect();
        svg.group(&format!("{} mark", line.color))
            .num("data-method", line.method as f64)
            .open();
        svg.tip(&line.tip);
        svg.path(&points, &format!("line curve {}", line.dash));
        if let Some(last) = points.last() {
            svg.line(*last, (area.right() + 7.0, height), "thin");
            svg.line(
                (area.right() + 7.0, height),
                (area.right() + 15.0, height),
                "thick",
            );
        }
        let name = clipped_to(&line.name, label_width / SMALL_TEXT_HEIGHT);
        svg.text(
            (area.right() + 19.0, height + 4.0),
            Anchor::Start,
            "small",
            &name,
        );
        svg.end();
    }
}

/// Names of some evenly spread positions below an area whose left end is position 0; as many as
/// have space.
pub(super) fn draw_named_axis(svg: &mut Svg, area: &Rect, names: &[&str], title: &str) {
    const NAME_SPACING: f64 = 16.0;
    svg.line(
        (area.left, area.bottom()),
        (area.right(), area.bottom()),
        "axis",
    );
    let widest = names.iter().map(|name| width(name)).fold(1.0, f64::max) * SMALL_TEXT_HEIGHT;
    // The first name begins at its position, the next one is centered.
    let fitting = (area.width / (1.5 * widest + NAME_SPACING)) as usize;
    let fitting = fitting.clamp(1, 6);
    let last = names.len().saturating_sub(1);
    let parts = fitting.min(last.max(1));
    for part in 0..=parts {
        let position = last * part / parts;
        let share = position as f64 / last.max(1) as f64;
        let x = area.left + share * area.width;
        svg.line((x, area.bottom()), (x, area.bottom() + 4.0), "axis");
        let anchor = match part {
            0 => Anchor::Start,
            _ if part == parts => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text(
            (x, area.bottom() + 17.0),
            anchor,
            "small faint",
            names[position],
        );
        if last == 0 {
            break;
        }
    }
    let middle = (area.left + area.width / 2.0, area.bottom() + 34.0);
    svg.text(middle, Anchor::Middle, "small faint", title);
}
