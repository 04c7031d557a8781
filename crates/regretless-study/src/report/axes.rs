//! Axes of a plot: ticks, grid lines, titles, and labels that do not overlap.

use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg, text_extent};

/// A plot area with its two axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes {
    pub(crate) area: Rect,
    pub(crate) x: AxisScale,
    pub(crate) y: AxisScale,
}

impl Axes {
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws the grid lines and ticks of the vertical axis.
    pub(crate) fn draw_heights(&self, svg: &mut Svg) {
        let area = &self.area;
        for (value, text) in self.y.ticks() {
            let y = self.y.at(value);
            svg.line((area.left, y), (area.right(), y), "grid");
            svg.text(
                (area.left - 6.0, y + 3.8),
                Anchor::End,
                "small faint",
                &text,
            );
        }
    }

    /// Draws grid lines, ticks and titles.
    pub(crate) fn draw(&self, svg: &mut Svg, x_title: &str, y_title: &str) {
        let area = &self.area;
        self.draw_heights(svg);
        bottom_axis(svg, area, &self.x, x_title);
        if !y_title.is_empty() {
            svg.vertical_text(
                (area.left - 42.0, area.top + area.height / 2.0),
                "small faint",
                y_title,
            );
        }
    }
}

/// Ticks and a title below an area, with lines through it.
pub(crate) fn bottom_axis(svg: &mut Svg, area: &Rect, x: &AxisScale, title: &str) {
    for (value, text) in x.ticks() {
        let position = x.at(value);
        svg.line((position, area.top), (position, area.bottom()), "grid");
        svg.text(
            (position, area.bottom() + 15.0),
            Anchor::Middle,
            "small faint",
            &text,
        );
    }
    svg.line(
        (area.left, area.bottom()),
        (area.right(), area.bottom()),
        "axis",
    );
    svg.text(
        (area.left + area.width / 2.0, area.bottom() + 32.0),
        Anchor::Middle,
        "small faint",
        title,
    );
}

/// Places labels next to their points without overlaps.
#[derive(Debug)]
pub(crate) struct LabelPlacement {
    taken: Vec<Rect>,
    class: &'static str,
}

impl LabelPlacement {
    /// Class of labels in the color of the text.
    pub(crate) const PLAIN: &'static str = "small halo";
    /// Class of labels in the color of their mark.
    pub(crate) const TINTED: &'static str = "small halo tinted";

    pub(crate) fn new(class: &'static str) -> Self {
        Self {
            taken: Vec::new(),
            class,
        }
    }

    /// Keeps labels away from a mark.
    pub(crate) fn reserve_point(&mut self, point: Point, size: f64) {
        let (x, y) = point;
        self.taken
            .push(Rect::new(x - size, y - size, 2.0 * size, 2.0 * size));
    }

    /// Keeps labels away from a horizontal or vertical line.
    pub(crate) fn reserve_line(&mut self, from: Point, to: Point) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.taken.push(Rect::new(
            x1.min(x2),
            y1.min(y2) - 1.0,
            (x1 - x2).abs(),
            (y1 - y2).abs() + 2.0,
        ));
    }

    /// Writes a small text next to a point if there is space within the area.
    pub(crate) fn write(&mut self, svg: &mut Svg, within: &Rect, point: Point, text: &str) -> bool {
        let (x, y) = point;
        let candidates = [
            ((x + 9.0, y + 3.5), Anchor::Start),
            ((x - 9.0, y + 3.5), Anchor::End),
            ((x, y - 9.0), Anchor::Middle),
            ((x, y + 17.0), Anchor::Middle),
            ((x + 8.0, y - 7.0), Anchor::Start),
            ((x + 8.0, y + 14.0), Anchor::Start),
            ((x - 8.0, y - 7.0), Anchor::End),
            ((x - 8.0, y + 14.0), Anchor::End),
        ];
        for (point, anchor) in candidates {
            let extent = text_extent(point, anchor, SMALL_TEXT_HEIGHT, text);
            let inside = extent.left >= within.left && extent.right() <= within.right() + 6.0;
            let inside =
                inside && extent.top >= within.top - 4.0 && extent.bottom() <= within.bottom();
            if inside && !self.taken.iter().any(|other| other.intersects(&extent)) {
                self.taken.push(extent);
                draw_text_background(svg, point, anchor, text);
                svg.text(point, anchor, self.class, text);
                return true;
            }
        }
        false
    }
}

/// Draws a translucent background behind a small text.
pub(crate) fn draw_text_background(svg: &mut Svg, point: Point, anchor: Anchor, text: &str) {
    let extent = text_extent(point, anchor, SMALL_TEXT_HEIGHT, text);
    svg.rect(
        Rect::new(
            extent.left - 1.0,
            extent.top - 1.0,
            extent.width * 0.94,
            extent.height + 2.0,
        ),
        "veil",
    );
}

/// Heights close to the ideal ones, in the same order, at least `gap` apart, between `top` and
/// `bottom`.
pub(crate) fn spread_out(ideal: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ideal.len()).collect();
    order.sort_by(|a, b| ideal[*a].total_cmp(&ideal[*b]));
    let mut heights = ideal.to_vec();
    let mut min = top;
    for index in &order {
        heights[*index] = heights[*index].max(min);
        min = heights[*index] + gap;
    }
    let mut max = bottom;
    for index in order.iter().rev() {
        heights[*index] = heights[*index].min(max);
        max = heights[*index] - gap;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::{LabelPlacement, spread_out};
    use crate::report::svg::{Rect, Svg};

    #[test]
    fn crowded_heights_are_moved_apart_and_keep_their_order() {
        let heights = spread_out(&[50.0, 10.0, 51.0, 49.0], 10.0, 0.0, 60.0);
        assert_eq!(heights, [50.0, 10.0, 60.0, 40.0]);
    }

    #[test]
    fn labels_without_space_are_omitted() {
        let (mut svg, mut labels) = (Svg::new(100.0), LabelPlacement::new(LabelPlacement::PLAIN));
        let within = Rect::new(0.0, 0.0, 100.0, 40.0);
        assert!(labels.write(&mut svg, &within, (10.0, 20.0), "first"));
        assert!(!labels.write(
            &mut svg,
            &within,
            (10.0, 20.0),
            "a label much wider than the figure is"
        ));
    }
}
