//! Tours and routes, drawn at the coordinates of their nodes.

use crate::experiment::DecisionLayout;

use super::{DecisionView, ExampleInput};
use crate::report::axes::LabelPlacement;
use crate::report::svg::{Point, Rect, Svg};
use crate::report::text::trimmed;

/// Edges of each kind with a cost label; others have it in the tooltip. Untuned: more labels
/// overlap.
const MAX_EDGE_LABELS: usize = 6;

/// Smallest width or height of the bounding box: replaces 0 for nodes on one line.
const MIN_EXTENT: f64 = 1e-12;

/// The two nodes of an edge among pairs i < j in lexicographic order.
pub(super) fn ends(edge: u32, nodes: usize) -> Option<(usize, usize)> {
    let mut remaining = edge as usize;
    for first in 0..nodes {
        let row = nodes - first - 1;
        if remaining < row {
            return Some((first, first + 1 + remaining));
        }
        remaining -= row;
    }
    None
}

/// Aspect ratio of the bounding box: height over width.
pub(super) fn aspect(positions: &[[f64; 2]]) -> f64 {
    let ((left, right), (low, high)) = bounding_box(positions);
    ((high - low) / (right - left).max(MIN_EXTENT)).clamp(0.4, 1.2)
}

/// Bounding box: lowest and highest coordinates in both directions.
fn bounding_box(positions: &[[f64; 2]]) -> ((f64, f64), (f64, f64)) {
    let range = |axis: usize| {
        let values = || positions.iter().map(move |position| position[axis]);
        (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    (range(0), range(1))
}

/// Coordinates scaled to an area, by the same factor in both directions.
fn scaled_positions(positions: &[[f64; 2]], area: &Rect) -> Vec<Point> {
    let ((left, right), (low, high)) = bounding_box(positions);
    let factor = (area.width / (right - left).max(MIN_EXTENT))
        .min(area.height / (high - low).max(MIN_EXTENT));
    let at = |position: &[f64; 2]| {
        (
            area.left + (position[0] - left) * factor,
            area.top + (high - position[1]) * factor,
        )
    };
    positions.iter().map(at).collect()
}

pub(super) fn draw(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    view: &DecisionView,
    layout: &DecisionLayout,
    area: Rect,
) {
    let DecisionLayout::Graph {
        positions,
        depot,
        arcs,
        names,
    } = layout
    else {
        return;
    };
    let nodes = scaled_positions(positions, &area);
    let ends = |entry: u32| match arcs.get(entry as usize) {
        Some([from, to]) => Some((*from as usize, *to as usize)),
        None if arcs.is_empty() => ends(entry, nodes.len()),
        None => None,
    };
    let edge = |entry: u32| ends(entry).map(|(a, b)| (nodes[a], nodes[b]));
    if !arcs.is_empty() {
        for (from, to) in (0..arcs.len() as u32).filter_map(edge) {
            svg.line(from, to, "grid");
        }
    }
    let node_name = |node: usize| names.get(node).cloned().unwrap_or_else(|| node.to_string());
    let quiet = if view.regret.is_none() {
        "text-color"
    } else {
        "quiet"
    };
    svg.group(quiet).open();
    for (from, to) in view.shared.iter().filter_map(|entry| edge(*entry)) {
        svg.line(from, to, "line");
    }
    svg.end();
    let thick = if nodes.len() > 40 { "line" } else { "thick" };
    let differing = [
        (&view.missed, "missed", "dashed", "not taken"),
        (&view.wrong, "wrong", thick, "taken, and not optimal"),
    ];
    for (entries, class, stroke, role) in differing {
        for entry in entries {
            let (Some((from, to)), Some((a, b))) = (edge(*entry), ends(*entry)) else {
                continue;
            };
            svg.group(&format!("{class} mark")).open();
            let name = format!("edge {} – {}", node_name(a), node_name(b));
            svg.tip(&case.tip(*entry, &name, role));
            svg.line(from, to, stroke);
            svg.end();
        }
    }
    draw_nodes(svg, &nodes, *depot);
    write_names(svg, &nodes, names, &area);
    write_costs(svg, case, view, &edge, &nodes, area);
}

/// True costs at the middle of the most expensive edges that differ.
fn write_costs(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    view: &DecisionView,
    edge: &dyn Fn(u32) -> Option<(Point, Point)>,
    nodes: &[Point],
    area: Rect,
) {
    let mut labels = LabelPlacement::new(LabelPlacement::TINTED);
    nodes
        .iter()
        .for_each(|node| labels.reserve_point(*node, 3.0));
    for (entries, class) in [(&view.wrong, "wrong"), (&view.missed, "missed")] {
        let mut entries = entries.clone();
        entries.sort_by(|a, b| case.cost(*b).total_cmp(&case.cost(*a)));
        svg.group(class).open();
        for entry in entries.iter().take(MAX_EDGE_LABELS) {
            let Some((from, to)) = edge(*entry) else {
                continue;
            };
            let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
            labels.write(svg, &area, middle, &trimmed(case.cost(*entry)));
        }
        svg.end();
    }
}

/// Names of the nodes of a small graph, if there is space.
fn write_names(svg: &mut Svg, nodes: &[Point], names: &[String], area: &Rect) {
    /// Untuned: more names hide the edges.
    const MAX_NAMED_NODES: usize = 26;
    /// Names that are longer are in tooltips only.
    const MAX_NAME_CHARS: usize = 12;
    if names.len() > MAX_NAMED_NODES {
        return;
    }
    let mut labels = LabelPlacement::new("small faint halo");
    nodes
        .iter()
        .for_each(|node| labels.reserve_point(*node, 3.0));
    for (node, name) in nodes.iter().zip(names) {
        if name.chars().count() <= MAX_NAME_CHARS {
            labels.write(svg, area, *node, name);
        }
    }
}

fn draw_nodes(svg: &mut Svg, nodes: &[Point], depot: bool) {
    let size = if nodes.len() > 60 { 1.8 } else { 3.0 };
    svg.group("text-color").open();
    for (index, (x, y)) in nodes.iter().enumerate() {
        if depot && index == 0 {
            svg.rect(Rect::new(x - 5.0, y - 5.0, 10.0, 10.0), "fill");
        } else {
            svg.tag("circle")
                .num("cx", *x)
                .num("cy", *y)
                .num("r", size)
                .set("class", "fill")
                .done();
        }
    }
    svg.end();
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn edges_are_counted_as_pairs_in_order() {
        let all: Vec<_> = (0..6).filter_map(|edge| ends(edge, 4)).collect();
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(ends(6, 4), None);
    }
}
