//! Amounts over the steps of a time axis, such as the energy that a storage buys and sells, below
//! the prices of the steps.

use super::panels::{draw_ticks, write_description};
use super::{DecisionView, ExampleInput, LINE_HEIGHT};
use crate::report::figure::FigureContext;
use crate::report::figure::lines::draw_named_axis;
use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Point, Rect, Svg};
use crate::report::text::trimmed;

const PRICE_HEIGHT: f64 = 70.0;
const PANEL_HEIGHT: f64 = 74.0;

/// Draws the prices, then a panel for each decision, and finishes the figure.
pub(super) fn draw(
    mut svg: Svg,
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    top: f64,
) -> Svg {
    let (left, wide) = (58.0, context.width - 72.0);
    let steps = case.example.costs.len();
    let spacing = wide / steps.max(1) as f64;
    let mut top = top + 14.0;
    svg.text((12.0, top), Anchor::Start, "strong", "True prices");
    let area = Rect::new(left, top + 12.0, wide, PRICE_HEIGHT);
    draw_prices(&mut svg, case, &area, spacing);
    top = area.bottom() + 26.0;
    let amounts = case.views.iter().flat_map(|view| view.amounts.values());
    let y = AxisScale::linear(amounts.copied().chain([0.0]), PANEL_HEIGHT, 0.0);
    for view in &case.views {
        svg.text((12.0, top), Anchor::Start, "strong", &view.title);
        let area = Rect::new(left, top + 12.0, wide, PANEL_HEIGHT);
        draw_amounts(&mut svg, case, view, &area, &y);
        let at = (left, area.bottom() + 18.0);
        let lines = write_description(&mut svg, at, &case.description(view), wide);
        top = at.1 + LINE_HEIGHT * lines as f64 + 16.0;
    }
    let names: Vec<String> = (0..steps as u32)
        .map(|step| case.name(step, &format!("{step}")))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let axis = Rect::new(left + spacing / 2.0, top - 16.0, wide - spacing, 0.0);
    draw_named_axis(&mut svg, &axis, &names, "");
    svg.finish(top + 10.0)
}

fn draw_prices(svg: &mut Svg, case: &ExampleInput<'_>, area: &Rect, spacing: f64) {
    let prices = case.example.costs.iter().copied().map(f64::from);
    let y = AxisScale::linear(prices.clone(), area.height, 0.0);
    draw_ticks(svg, area, &y);
    let mut points: Vec<Point> = Vec::new();
    for (step, price) in prices.enumerate() {
        let (from, height) = (area.left + spacing * step as f64, area.top + y.at(price));
        points.extend([(from, height), (from + spacing, height)]);
    }
    svg.group("text-color").open();
    svg.path(&points, "line");
    svg.end();
}

/// The amounts of a decision; if they differ from the optimal ones, those are outlined.
fn draw_amounts(
    svg: &mut Svg,
    case: &ExampleInput<'_>,
    view: &DecisionView,
    area: &Rect,
    y: &AxisScale,
) {
    draw_ticks(svg, area, y);
    let spacing = area.width / case.example.costs.len().max(1) as f64;
    let zero = area.top + y.at(0.0);
    svg.line((area.left, zero), (area.right(), zero), "axis");
    let optimal = &case.views[0].amounts;
    for step in 0..case.example.costs.len() as u32 {
        let own = view.amounts.get(&step).copied().unwrap_or(0.0);
        let best = optimal.get(&step).copied().unwrap_or(0.0);
        let differs = view.differences.iter().any(|(entry, _)| *entry == step);
        let left = area.left + spacing * f64::from(step) + spacing * 0.12;
        let bar = |amount: f64| {
            let height = area.top + y.at(amount);
            Rect::new(
                left,
                height.min(zero),
                spacing * 0.76,
                (height - zero).abs(),
            )
        };
        let class = if differs { "wrong" } else { "text-color" };
        svg.group(&format!("{class} mark")).open();
        let role = if differs {
            format!("amount {}, optimal {}", trimmed(own), trimmed(best))
        } else {
            format!("amount {}", trimmed(own))
        };
        svg.tip(&case.tip(step, &format!("step {step}"), &role));
        svg.rect(bar(own), "soft item");
        svg.end();
        if differs {
            svg.group("missed").open();
            svg.rect(bar(best), "outline");
            svg.end();
        }
    }
}
