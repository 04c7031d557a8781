//! Panels of decisions, each with its description below.

use super::{DecisionView, ExampleInput, LINE_HEIGHT};
use crate::report::figure::FigureContext;
use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Point, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, lines};

/// Panels side by side: fewer in a narrow drawing, and one below the other there if a panel with so
/// many nodes would be too small.
pub(super) fn panel_columns(context: &FigureContext<'_>, nodes: usize) -> usize {
    /// Untuned: more nodes, with labels at their edges, need the whole width of a telephone.
    const MAX_NODES_OF_HALF_WIDTH: usize = 16;
    match (context.is_narrow(), nodes <= MAX_NODES_OF_HALF_WIDTH) {
        (false, _) => 3,
        (true, true) => 2,
        (true, false) => 1,
    }
}

/// One panel per decision, each with its description below.
pub(super) struct Panels {
    pub(super) columns: usize,
    /// Height of a panel divided by its width.
    pub(super) aspect: f64,
    pub(super) top: f64,
}

impl Panels {
    pub(super) fn draw(
        &self,
        mut svg: Svg,
        context: &FigureContext<'_>,
        input: &ExampleInput<'_>,
        panel: impl Fn(&mut Svg, &DecisionView, Rect),
    ) -> Svg {
        const MAX_SIDE: f64 = 260.0;
        let panel_width = (context.width - 24.0) / self.columns as f64;
        let side = (panel_width - 34.0).min(MAX_SIDE);
        let mut top = self.top + 14.0;
        for row in input.views.chunks(self.columns) {
            let mut lines_below = 0;
            for (index, view) in row.iter().enumerate() {
                let left = 12.0 + panel_width * index as f64;
                let title = clipped_to(&view.title, (panel_width - 8.0) / 12.0 / 1.05);
                svg.text((left, top), Anchor::Start, "strong", &title);
                let area = Rect::new(left + 12.0, top + 20.0, side, side * self.aspect);
                panel(&mut svg, view, area);
                let at = (left, area.bottom() + 26.0);
                let text = input.description(view);
                let written = write_description(&mut svg, at, &text, panel_width - 14.0);
                lines_below = lines_below.max(written);
            }
            top += 20.0 + side * self.aspect + 26.0 + LINE_HEIGHT * lines_below as f64 + 14.0;
        }
        svg.finish(top - 16.0)
    }
}

/// Writes lines from a point down and returns their number.
pub(super) fn write_description(svg: &mut Svg, at: Point, text: &str, wide: f64) -> usize {
    let (left, top) = at;
    let lines = lines(text, wide / SMALL_TEXT_HEIGHT);
    for (index, line) in lines.iter().enumerate() {
        svg.text(
            (left, top + LINE_HEIGHT * index as f64),
            Anchor::Start,
            "small",
            line,
        );
    }
    lines.len()
}

/// Grid lines with numbers, every second tick.
pub(super) fn draw_ticks(svg: &mut Svg, area: &Rect, y: &AxisScale) {
    for (value, text) in y.ticks().into_iter().step_by(2) {
        let height = area.top + y.at(value);
        svg.line((area.left, height), (area.right(), height), "grid");
        svg.text(
            (area.left - 5.0, height + 3.8),
            Anchor::End,
            "small faint",
            &text,
        );
    }
}
