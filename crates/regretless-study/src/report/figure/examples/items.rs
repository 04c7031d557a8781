//! Items as bars: value, weight, and which decisions contain them.

use super::panels::{draw_ticks, write_description};
use super::{DecisionView, ExampleInput, LINE_HEIGHT};
use crate::report::figure::FigureContext;
use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{pluralize, trimmed, width};

/// Least distance of bars. Narrower bars are hard to see; items on which decisions differ are shown
/// first.
const MIN_BAR_SPACING: f64 = 7.0;
const PANEL_HEIGHT: f64 = 96.0;

/// Weights of the items and capacities; empty if items have none.
pub(super) struct Weights<'a> {
    pub(super) weights: &'a [Vec<f64>],
    pub(super) capacity: &'a [f64],
}

/// Relative weight of an item: the largest fraction of a capacity.
fn relative_weight(item: usize, weights: &[Vec<f64>], capacity: &[f64]) -> f64 {
    let mut max: f64 = 0.0;
    for (row, capacity) in weights.iter().zip(capacity) {
        let weight = row.get(item).copied().unwrap_or(0.0);
        max = max.max(weight / capacity.max(f64::MIN_POSITIVE));
    }
    max
}

/// At most so many items, the largest costs first.
fn shown_items(case: &ExampleInput<'_>, max: usize) -> Vec<u32> {
    let differs = |item: &u32| {
        case.views
            .iter()
            .any(|view| view.wrong.contains(item) || view.missed.contains(item))
    };
    let taken = |item: &u32| case.views.iter().any(|view| view.shared.contains(item));
    let mut items: Vec<u32> = (0..case.example.costs.len() as u32).collect();
    let by_value = |a: &u32, b: &u32| case.cost(*b).total_cmp(&case.cost(*a));
    items.sort_by(|a, b| {
        differs(b)
            .cmp(&differs(a))
            .then(taken(b).cmp(&taken(a)))
            .then(by_value(a, b))
    });
    items.truncate(max);
    items.sort_by(by_value);
    items
}

/// Draws one panel per decision below each other, and finishes the figure.
pub(super) fn draw(
    mut svg: Svg,
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    weights: &Weights<'_>,
    top: f64,
) -> Svg {
    let (left, wide) = (52.0, context.width - 64.0);
    let items = shown_items(case, (wide / MIN_BAR_SPACING) as usize);
    let values = items.iter().map(|item| case.cost(*item)).chain([0.0]);
    let y = AxisScale::linear(values, PANEL_HEIGHT, 0.0);
    let mut top = top + 14.0;
    for view in &case.views {
        svg.text((12.0, top), Anchor::Start, "strong", &view.title);
        let area = Rect::new(left, top + 18.0, wide, PANEL_HEIGHT);
        bars(&mut svg, case, view, &items, &area, &y);
        let at = (left, area.bottom() + 18.0);
        let lines = write_description(&mut svg, at, &case.description(view), wide);
        top = at.1 + LINE_HEIGHT * lines as f64 + 18.0;
    }
    let omitted = case.example.costs.len() - items.len();
    let mut note = format!("Items in the order of their {}s.", case.text.cost());
    if omitted > 0 {
        note += &format!(" {} not shown.", pluralize(omitted, "more item"));
    }
    if !weights.weights.is_empty() {
        let area = Rect::new(left, top - 6.0, wide, 44.0);
        let longest = draw_weights(&mut svg, case, &items, weights, &area);
        top = area.bottom() + 18.0;
        note = format!(
            "Downward bars: weight of an item relative to the capacity of its tightest dimension \
                (longest {} %). {note}",
            trimmed(100.0 * longest)
        );
    }
    let lines = write_description(&mut svg, (left, top), &note, wide);
    svg.finish(top + LINE_HEIGHT * lines as f64)
}

/// Left end and width of the bar of an item.
fn column(area: &Rect, index: usize, count: usize) -> (f64, f64) {
    let spacing = (area.width / count.max(1) as f64).min(40.0);
    (
        area.left + spacing * index as f64 + spacing * 0.14,
        spacing * 0.72,
    )
}

fn bars(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    view: &DecisionView,
    items: &[u32],
    area: &Rect,
    y: &AxisScale,
) {
    svg.vertical_text(
        (area.left - 32.0, area.top + area.height / 2.0),
        "small faint",
        case.text.cost(),
    );
    draw_ticks(svg, area, y);
    // Right end of the last label: labels without space are omitted.
    let mut label_end = area.left - 8.0;
    for (index, item) in items.iter().enumerate() {
        let (left, wide) = column(area, index, items.len());
        let (class, look, role) = if view.wrong.contains(item) {
            ("wrong", "soft", "taken, and not optimal")
        } else if view.missed.contains(item) {
            ("missed", "hollow", "not taken, though optimal")
        } else if view.shared.contains(item) {
            ("text-color", "soft", "taken, as in the optimal choice")
        } else {
            ("quiet", "pale", "not taken, as in the optimal choice")
        };
        let (value, zero) = (area.top + y.at(case.cost(*item)), area.top + y.at(0.0));
        let (top, bottom) = (value.min(zero), value.max(zero));
        svg.group(&format!("{class} mark")).open();
        svg.tip(&case.tip(*item, &format!("item {item}"), role));
        svg.rect(
            Rect::new(left, top, wide, bottom - top),
            &format!("{look} item"),
        );
        if class == "wrong" || class == "missed" {
            let (text, middle) = (trimmed(case.cost(*item)), left + wide / 2.0);
            let half = width(&text) * SMALL_TEXT_HEIGHT / 2.0;
            if middle - half > label_end {
                svg.text(
                    (middle, top - 3.0),
                    Anchor::Middle,
                    "small tinted halo",
                    &text,
                );
                label_end = middle + half;
            }
        }
        svg.end();
    }
}

/// Relative weights of the items, below all panels; returns the largest.
fn draw_weights(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    items: &[u32],
    weights: &Weights<'_>,
    area: &Rect,
) -> f64 {
    let shown: Vec<f64> = items
        .iter()
        .map(|item| relative_weight(*item as usize, weights.weights, weights.capacity))
        .collect();
    let max = shown.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    svg.line((area.left, area.top), (area.right(), area.top), "axis");
    for (index, (item, weight)) in items.iter().zip(&shown).enumerate() {
        let (left, wide) = column(area, index, items.len());
        svg.group("quiet mark").open();
        svg.tip(&format!(
            "{}\nweight {} % of the capacity in its tightest dimension",
            case.name(*item, &format!("item {item}")),
            trimmed(100.0 * weight)
        ));
        svg.rect(
            Rect::new(left, area.top, wide, weight / max * area.height),
            "soft",
        );
        svg.end();
    }
    max
}
