//! Regret by period or row: bars of the reviewed method, a line of least squares.

use crate::review::{DecisionReview, ReviewedRegret};

use super::lines::draw_named_axis;
use super::{Drawing, FigureWidth, draw_legend};
use crate::report::axes::{Axes, LabelPlacement};
use crate::report::scale::AxisScale;
use crate::report::svg::{Point, Rect, Svg};
use crate::report::text::{short, with_unit};

/// Least width of a bar with its gap. Untuned: narrower ones cannot be told apart.
const MIN_BAR_SPACING: f64 = 4.0;
/// Largest bars whose period is written.
const MAX_LABELS: usize = 3;

/// The mean regrets of some consecutive rows.
struct RegretBar {
    name: String,
    method: f64,
    reference: f64,
}

impl RegretBar {
    fn of(rows: &[ReviewedRegret]) -> Self {
        let count = rows.len() as f64;
        let name = match rows {
            [only] => only.name.clone(),
            [first, .., last] => format!("{} to {}", first.name, last.name),
            [] => String::new(),
        };
        Self {
            name,
            method: rows.iter().map(|row| row.method).sum::<f64>() / count,
            reference: rows.iter().map(|row| row.reference).sum::<f64>() / count,
        }
    }
}

pub(crate) fn draw(review: &DecisionReview, figure_width: FigureWidth) -> Option<Drawing> {
    let rows = &review.regrets;
    let noun = review
        .history
        .as_ref()
        .map_or("row", |history| history.noun());
    if rows.len() < 2 {
        return None;
    }
    let drawing_width = figure_width.units();
    let reference = &review.results.reference;
    let mut svg = Svg::new(drawing_width);
    let is_reference = *reference == review.method;
    let mut legend = vec![("c0", review.method.as_str())];
    if !is_reference {
        legend.push(("neutral", reference));
    }
    let top = draw_legend(&mut svg, 12.0, 6.0, drawing_width - 8.0, &legend);
    let area = Rect::new(66.0, top + 12.0, drawing_width - 66.0 - 14.0, 180.0);
    let grouped = rows
        .len()
        .div_ceil((area.width / MIN_BAR_SPACING) as usize)
        .max(1);
    let bars: Vec<RegretBar> = rows.chunks(grouped).map(RegretBar::of).collect();
    let values = bars.iter().flat_map(|bar| [bar.method, bar.reference]);
    let spacing = area.width / bars.len() as f64;
    let frame = Axes {
        area,
        x: AxisScale::integer([0.0, bars.len() as f64], area.left, area.right()),
        y: AxisScale::linear(values.chain([0.0]), area.bottom(), area.top),
    };
    frame.draw_heights(&mut svg);
    draw_bars(&mut svg, &frame, &bars, spacing, review);
    if !is_reference {
        let middle = |position: usize| area.left + spacing * (position as f64 + 0.5);
        let points: Vec<Point> = bars
            .iter()
            .enumerate()
            .map(|(position, bar)| (middle(position), frame.y.at(bar.reference)))
            .collect();
        svg.group("neutral").open();
        svg.path(&points, "thin");
        svg.end();
    }
    label_largest(&mut svg, &frame, &bars, spacing);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    draw_named_axis(&mut svg, &area, &names, "");
    let mut explanation = vec![format!(
        "Regret: how much worse a decision was than the best one in hindsight. Bars at 0 are \
            {noun}s in which the decision could not have been better."
    )];
    if grouped > 1 {
        explanation.push(format!("Each bar is the mean of {grouped} {noun}s."));
    }
    Some(Drawing {
        svg: svg.finish(area.bottom() + 28.0),
        explanation,
        finding: finding(review, noun),
    })
}

/// Draws the bars of the reviewed method. A bar of any height has the tip of its whole column.
fn draw_bars(
    svg: &mut Svg,
    frame: &Axes,
    bars: &[RegretBar],
    spacing: f64,
    review: &DecisionReview,
) {
    let area = &frame.area;
    let zero = frame.y.at(0.0);
    let gap = (0.16 * spacing).min(3.0);
    for (position, bar) in bars.iter().enumerate() {
        let left = area.left + spacing * position as f64;
        let height = frame.y.at(bar.method);
        svg.group("c0 mark").open();
        svg.tip(&tip(bar, review));
        svg.rect(
            Rect::new(
                left + gap,
                height.min(zero),
                spacing - 2.0 * gap,
                (zero - height).abs(),
            ),
            "soft bar",
        );
        svg.rect(Rect::new(left, area.top, spacing, area.height), "ghost");
        svg.end();
    }
}

fn tip(bar: &RegretBar, review: &DecisionReview) -> String {
    let unit = review.unit.as_deref().unwrap_or_default();
    let [method, reference] =
        [bar.method, bar.reference].map(|regret| with_unit(&short(regret), unit));
    let mut text = format!("{}\n{}: {method}", bar.name, review.method);
    if review.method != review.results.reference {
        text += &format!("\n{}: {reference}", review.results.reference);
    }
    text
}

/// Writes the names of the largest bars.
fn label_largest(svg: &mut Svg, frame: &Axes, bars: &[RegretBar], spacing: f64) {
    let mut order: Vec<usize> = (0..bars.len()).collect();
    order.sort_by(|a, b| bars[*b].method.total_cmp(&bars[*a].method));
    let mut labels = LabelPlacement::new(LabelPlacement::PLAIN);
    for position in order.into_iter().take(MAX_LABELS) {
        if bars[position].method <= 0.0 {
            break;
        }
        let left = frame.area.left + spacing * (position as f64 + 0.5);
        let point = (left, frame.y.at(bars[position].method));
        labels.write(svg, &frame.area, point, &bars[position].name);
    }
}

fn finding(review: &DecisionReview, noun: &str) -> String {
    let mut rows: Vec<&ReviewedRegret> = review.regrets.iter().collect();
    rows.sort_by(|a, b| b.method.total_cmp(&a.method));
    let total: f64 = rows.iter().map(|row| row.method).sum();
    let count = rows.len().div_ceil(10);
    let largest: f64 = rows[..count].iter().map(|row| row.method).sum();
    if total <= 0.0 {
        return format!("No {noun} has regret.");
    }
    format!(
        "The {count} {noun}s with the largest regret, a tenth of all, have {:.0}\u{a0}% of it.",
        100.0 * largest / total
    )
}
