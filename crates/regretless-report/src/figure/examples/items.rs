//! Items as bars: value, weight, and which decisions contain them.

use super::{DecisionView, ExampleInput, WIDTH, draw_legend, write_description};
use crate::figure::FigureContext;
use crate::scale::AxisScale;
use crate::svg::{Anchor, Rect, Svg};
use crate::text::{pluralize, trimmed};

/// Items shown; those on which decisions differ come first. Untuned: more bars are too narrow.
const MAX_ITEMS: usize = 90;
/// Items above which bars are too narrow for numbers.
pub(super) const MAX_LABELED_ITEMS: usize = 40;
const PANEL_HEIGHT: f64 = 96.0;
const STEP: f64 = PANEL_HEIGHT + 62.0;

/// Relative weight of an item: the largest fraction of a capacity.
fn relative_weight(item: usize, weights: &[Vec<f64>], capacity: &[f64]) -> f64 {
    let mut max: f64 = 0.0;
    for (row, capacity) in weights.iter().zip(capacity) {
        let weight = row.get(item).copied().unwrap_or(0.0);
        max = max.max(weight / capacity.max(f64::MIN_POSITIVE));
    }
    max
}

/// Items to be shown, the most valuable first.
fn shown_items(case: &ExampleInput<'_>) -> Vec<u32> {
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
    items.truncate(MAX_ITEMS);
    items.sort_by(by_value);
    items
}

pub(super) fn draw(
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    weights: &[Vec<f64>],
    capacity: &[f64],
) -> Svg {
    let items = shown_items(case);
    let height = 64.0 + STEP * case.views.len() as f64 + 96.0;
    let mut svg = Svg::new(WIDTH, height);
    context.heading_with(&mut svg, "first seed");
    draw_legend(&mut svg, case);
    let values = items.iter().map(|item| case.cost(*item)).chain([0.0]);
    let y = AxisScale::linear(values, PANEL_HEIGHT, 0.0);
    for (index, view) in case.views.iter().enumerate() {
        let area = Rect::new(52.0, 84.0 + STEP * index as f64, WIDTH - 64.0, PANEL_HEIGHT);
        svg.text(
            (12.0, area.top - 12.0),
            Anchor::Start,
            "strong",
            &view.title,
        );
        bars(&mut svg, case, view, &items, &area, &y);
        write_description(
            &mut svg,
            (area.left, area.bottom() + 18.0),
            &case.description(view),
            area.width,
        );
    }
    let area = Rect::new(
        52.0,
        70.0 + STEP * case.views.len() as f64,
        WIDTH - 64.0,
        44.0,
    );
    let weights_shown: Vec<f64> = items
        .iter()
        .map(|item| relative_weight(*item as usize, weights, capacity))
        .collect();
    let omitted = case.example.costs.len() - items.len();
    draw_weights(&mut svg, &items, &weights_shown, &area, omitted);
    svg
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
        "value",
    );
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
        let top = area.top + y.at(case.cost(*item));
        svg.group(&format!("{class} mark")).open();
        svg.tip(&case.tip(*item, &format!("item {item}"), role));
        svg.rect(
            Rect::new(left, top, wide, area.bottom() - top),
            &format!("{look} item"),
        );
        if items.len() <= MAX_LABELED_ITEMS && (class == "wrong" || class == "missed") {
            svg.text(
                (left + wide / 2.0, top - 3.0),
                Anchor::Middle,
                "small tinted halo",
                &trimmed(case.cost(*item)),
            );
        }
        svg.end();
    }
}

/// Relative weights of the items, below all panels.
fn draw_weights(svg: &mut Svg, items: &[u32], weights_shown: &[f64], area: &Rect, omitted: usize) {
    let max = weights_shown
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    svg.line((area.left, area.top), (area.right(), area.top), "axis");
    for (index, (item, weight)) in items.iter().zip(weights_shown).enumerate() {
        let (left, wide) = column(area, index, items.len());
        svg.group("c5 mark").open();
        svg.tip(&format!(
            "item {item}\nweight {} % of the capacity in its tightest dimension",
            trimmed(100.0 * weight)
        ));
        svg.rect(
            Rect::new(left, area.top, wide, weight / max * area.height),
            "soft",
        );
        svg.end();
    }
    let note = if omitted > 0 {
        format!(" {} not shown.", pluralize(omitted, "more item"))
    } else {
        String::new()
    };
    let text = format!(
        "Downward bars: weight of an item relative to the capacity of its tightest dimension \
            (longest {} %). Most valuable items first.{note}",
        trimmed(100.0 * max)
    );
    write_description(svg, (area.left, area.bottom() + 18.0), &text, area.width);
}
