//! The frame of a plot: axes, ticks, grid lines, titles of axes, and labels that do not run into
//! each other.

use crate::scale::AxisScale;
use crate::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg, space};

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

    /// Grid lines, ticks and what the axes show.
    pub(crate) fn draw(&self, svg: &mut Svg, (x_title, y_title): (&str, &str)) {
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
        let place = x.at(value);
        svg.line((place, area.top), (place, area.bottom()), "grid");
        svg.text(
            (place, area.bottom() + 15.0),
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

/// Places for labels: each beside its point, none on another.
#[derive(Debug)]
pub(crate) struct LabelPlacement {
    taken: Vec<Rect>,
    class: &'static str,
}

impl LabelPlacement {
    /// Labels in the colour of the text.
    pub(crate) const PLAIN: &'static str = "small halo";
    /// Labels in the colour of what they belong to.
    pub(crate) const TINTED: &'static str = "small halo tinted";

    pub(crate) fn new(class: &'static str) -> Self {
        Self {
            taken: Vec::new(),
            class,
        }
    }

    /// Keeps labels away from a mark.
    pub(crate) fn reserve_point(&mut self, (x, y): Point, size: f64) {
        self.taken
            .push(Rect::new(x - size, y - size, 2.0 * size, 2.0 * size));
    }

    /// Keeps labels away from a line across or up the figure.
    pub(crate) fn reserve_line(&mut self, (x1, y1): Point, (x2, y2): Point) {
        self.taken.push(Rect::new(
            x1.min(x2),
            y1.min(y2) - 1.0,
            (x1 - x2).abs(),
            (y1 - y2).abs() + 2.0,
        ));
    }

    /// Writes a small text near a point, where there is room within the area; else nothing.
    pub(crate) fn write(
        &mut self,
        svg: &mut Svg,
        within: &Rect,
        (x, y): Point,
        text: &str,
    ) -> bool {
        let beside = [
            ((x + 9.0, y + 3.5), Anchor::Start),
            ((x - 9.0, y + 3.5), Anchor::End),
            ((x, y - 9.0), Anchor::Middle),
            ((x, y + 17.0), Anchor::Middle),
            ((x + 8.0, y - 7.0), Anchor::Start),
            ((x + 8.0, y + 14.0), Anchor::Start),
            ((x - 8.0, y - 7.0), Anchor::End),
            ((x - 8.0, y + 14.0), Anchor::End),
        ];
        for (place, anchor) in beside {
            let room = space(place, anchor, SMALL_TEXT_HEIGHT, text);
            let inside = room.left >= within.left && room.right() <= within.right() + 6.0;
            let inside = inside && room.top >= within.top - 4.0 && room.bottom() <= within.bottom();
            if inside && !self.taken.iter().any(|other| other.intersects(&room)) {
                self.taken.push(room);
                draw_halo(svg, place, anchor, text);
                svg.text(place, anchor, self.class, text);
                return true;
            }
        }
        false
    }
}

/// Lets what lies below a small text fade, so that it can be read.
pub(crate) fn draw_halo(svg: &mut Svg, place: Point, anchor: Anchor, text: &str) {
    let room = space(place, anchor, SMALL_TEXT_HEIGHT, text);
    svg.rect(
        Rect::new(
            room.left - 1.0,
            room.top - 1.0,
            room.width * 0.94,
            room.height + 2.0,
        ),
        "veil",
    );
}

/// Heights near the wanted ones, in order, at least a gap apart and within limits.
pub(crate) fn spread_out(wanted: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted.to_vec();
    let mut least = top;
    for place in &order {
        places[*place] = places[*place].max(least);
        least = places[*place] + gap;
    }
    let mut max = bottom;
    for place in order.iter().rev() {
        places[*place] = places[*place].min(max);
        max = places[*place] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::{LabelPlacement, spread_out};
    use crate::svg::{Rect, Svg};

    #[test]
    fn crowded_heights_are_moved_apart_and_keep_their_order() {
        let places = spread_out(&[50.0, 10.0, 51.0, 49.0], 10.0, (0.0, 60.0));
        assert_eq!(places, [50.0, 10.0, 60.0, 40.0]);
    }

    #[test]
    fn labels_that_find_no_room_are_left_out() {
        let (mut svg, mut labels) = (
            Svg::new(100.0, 40.0),
            LabelPlacement::new(LabelPlacement::PLAIN),
        );
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
