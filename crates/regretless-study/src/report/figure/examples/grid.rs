//! Paths through a grid, from its upper left to its lower right corner.

use super::{DecisionView, ExampleInput};
use crate::report::axes::LabelPlacement;
use crate::report::svg::{Anchor, Point, Rect, Svg};
use crate::report::text::trimmed;

/// Least distance of nodes at which arcs have cost labels; narrower grids have them in tooltips
/// only. A label of four digits has this width.
const MIN_LABELED_CELL_WIDTH: f64 = 26.0;
/// Least distance of nodes at which labels have three digits instead of two.
const MIN_CELL_WIDTH_OF_THREE_DIGITS: f64 = 46.0;

type Node = (usize, usize);

/// The two nodes of an arc: row by row, first those to the right, then those down.
pub(super) fn ends(arc: u32, rows: usize, cols: usize) -> Option<(Node, Node)> {
    let stride = (2 * cols).checked_sub(1).filter(|stride| *stride > 0)?;
    let (row, position) = (arc as usize / stride, arc as usize % stride);
    let right = cols - 1;
    let (from, to) = if position < right {
        ((row, position), (row, position + 1))
    } else {
        ((row, position - right), (row + 1, position - right))
    };
    (to.0 < rows).then_some((from, to))
}

pub(super) fn draw(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    view: &DecisionView,
    rows: usize,
    cols: usize,
    area: Rect,
) {
    let (cell_width, cell_height) = (
        area.width / (cols.max(2) - 1) as f64,
        area.height / (rows.max(2) - 1) as f64,
    );
    let at = |(row, col): Node| {
        (
            area.left + col as f64 * cell_width,
            area.top + row as f64 * cell_height,
        )
    };
    let arc = |entry: u32| ends(entry, rows, cols).map(|(from, to)| (at(from), at(to)));
    for (from, to) in (0..case.example.costs.len() as u32).filter_map(arc) {
        svg.line(from, to, "grid");
    }
    let shared = if view.regret.is_none() {
        "text-color"
    } else {
        "quiet"
    };
    let groups = [
        (&view.shared, shared, "thick", "on the optimal path"),
        (&view.missed, "missed", "dashed", "not taken"),
        (
            &view.wrong,
            "wrong",
            "thick",
            "taken, and not on the optimal path",
        ),
    ];
    for (entries, class, stroke, role) in groups {
        for (entry, (from, to)) in entries
            .iter()
            .filter_map(|entry| Some((*entry, arc(*entry)?)))
        {
            svg.group(&format!("{class} mark")).open();
            svg.tip(&case.tip(entry, &format!("arc {entry}"), role));
            svg.line(from, to, stroke);
            svg.end();
        }
    }
    draw_nodes(
        svg,
        (0..rows)
            .flat_map(|row| (0..cols).map(move |col| (row, col)))
            .map(at),
    );
    if cell_width < MIN_LABELED_CELL_WIDTH {
        return;
    }
    for (entries, class) in labeled_arcs(view) {
        let arcs = entries
            .iter()
            .filter_map(|entry| Some((*entry, arc(*entry)?)));
        let has_three_digits = cell_width >= MIN_CELL_WIDTH_OF_THREE_DIGITS;
        write_costs(svg, case, arcs, class, has_three_digits);
    }
}

/// The arcs with labels, and their class. Costs of shared arcs explain no regret: only the optimal
/// path has them.
fn labeled_arcs(view: &DecisionView) -> [(&[u32], &'static str); 3] {
    let shared: &[u32] = if view.regret.is_none() {
        &view.shared
    } else {
        &[]
    };
    [
        (shared, "text-color"),
        (&view.wrong, "wrong"),
        (&view.missed, "missed"),
    ]
}

fn draw_nodes(svg: &mut Svg, nodes: impl Iterator<Item = Point>) {
    svg.group("text-color").open();
    for (x, y) in nodes {
        svg.tag("circle")
            .num("cx", x)
            .num("cy", y)
            .num("r", 2.6)
            .set("class", "fill")
            .done();
    }
    svg.end();
}

/// True costs at the middle of arcs.
fn write_costs(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    arcs: impl Iterator<Item = (u32, (Point, Point))>,
    class: &str,
    has_three_digits: bool,
) {
    svg.group(class).open();
    for (entry, ((x1, y1), (x2, y2))) in arcs {
        let middle = (
            (x1 + x2) / 2.0,
            (y1 + y2) / 2.0 + if y1 == y2 { -5.0 } else { 3.5 },
        );
        svg.text(
            middle,
            Anchor::Middle,
            LabelPlacement::TINTED,
            &label(case.cost(entry), has_three_digits),
        );
    }
    svg.end();
}

/// A cost with two or three significant digits.
fn label(cost: f64, has_three_digits: bool) -> String {
    if has_three_digits || cost == 0.0 || !cost.is_finite() {
        return trimmed(cost);
    }
    let unit = 10_f64.powf(cost.abs().log10().floor() - 1.0);
    trimmed((cost / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::{ends, label};

    #[test]
    fn labels_have_two_digits_where_there_is_little_space() {
        assert_eq!(label(0.02348, false), "0.023");
        assert_eq!(label(12.51, false), "13");
        assert_eq!(label(-1.25, true), "−1.25");
        assert_eq!(label(0.0, false), "0");
    }

    #[test]
    fn arcs_go_right_and_then_down() {
        let arcs: Vec<_> = (0..5).filter_map(|arc| ends(arc, 2, 2)).collect();
        assert_eq!(
            arcs,
            [
                ((0, 0), (0, 1)),
                ((0, 0), (1, 0)),
                ((0, 1), (1, 1)),
                ((1, 0), (1, 1))
            ]
        );
    }
}
