//! Where regret comes from: the share of each cost, the largest first.

use crate::review::{CostSource, RegretSources};

use super::labels::LabeledRows;
use super::{Drawing, FigureWidth, draw_legend};
use crate::report::axes::bottom_axis;
use crate::report::scale::AxisScale;
use crate::report::svg::{Anchor, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{pluralize, short, width, with_unit};

/// Most bars. Untuned: more are not read.
const MAX_BARS: usize = 10;

/// The method, its regret by cost, and the unit.
#[derive(Clone, Copy)]
pub(crate) struct SourcesInput<'a> {
    pub(crate) method: &'a str,
    pub(crate) sources: &'a RegretSources,
    pub(crate) unit: &'a str,
    /// Whether its predicted costs are correct only up to a per-row scale factor.
    pub(crate) is_up_to_factor: bool,
    /// What a row is called.
    pub(crate) noun: &'a str,
}

impl SourcesInput<'_> {
    /// The unit of what depends on predicted costs.
    fn predicted_unit(&self) -> &str {
        if self.is_up_to_factor { "" } else { self.unit }
    }
}

pub(crate) fn draw(input: &SourcesInput<'_>, figure_width: FigureWidth) -> Option<Drawing> {
    let sources = input.sources;
    let shown = &sources.costs[..sources.costs.len().min(MAX_BARS)];
    if shown.is_empty() || sources.regret <= 0.0 {
        return None;
    }
    let drawing_width = figure_width.units();
    let mut svg = Svg::new(drawing_width);
    let mut legend = vec![("wrong", "predicted too favorably: adds to the regret")];
    if shown.iter().any(|cost| cost.share < 0.0) {
        legend.push(("missed", "error that kept the decision right: takes away"));
    }
    let top = draw_legend(&mut svg, 12.0, 6.0, drawing_width - 8.0, &legend);
    let numbers = shown.iter().map(|cost| width(&short(cost.share)));
    let right = numbers.fold(0.0, f64::max) * SMALL_TEXT_HEIGHT + 22.0;
    let names = shown.iter().map(|cost| cost.name.as_str());
    let rows = LabeledRows::new(drawing_width, names, top + 8.0, right);
    let area = rows.area;
    let shares = shown.iter().map(|cost| cost.share);
    let x = AxisScale::linear(shares.chain([0.0]), area.left, area.right());
    bottom_axis(&mut svg, &area, &x, input.predicted_unit());
    for (row, cost) in shown.iter().enumerate() {
        let (middle, zero, end) = (rows.middle(row), x.at(0.0), x.at(cost.share));
        let class = if cost.share < 0.0 { "missed" } else { "wrong" };
        svg.group(&format!("{class} mark")).open();
        svg.tip(&tip(cost, input));
        rows.write(&mut svg, row, "", &cost.name);
        let bar = Rect::new(zero.min(end), middle - 6.5, (end - zero).abs(), 13.0);
        svg.rect(bar, "soft bar");
        let at = (area.right() + 10.0, middle + 4.0);
        svg.text(at, Anchor::Start, "small", &short(cost.share));
        svg.end();
    }
    let finding = finding(input, shown);
    let mut explanation = vec![
        "An error costs money only if it changes the decision. The share of an item is its \
            prediction error times how much the decision differs from the best one in hindsight."
            .to_owned(),
    ];
    if input.is_up_to_factor {
        explanation.push(format!(
            "With {} predicted costs are correct up to a per-row scale factor: shares, and how \
                much worse the best decisions looked, are not amounts in the unit of the costs.",
            input.method
        ));
    }
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation,
        finding,
    })
}

fn tip(cost: &CostSource, input: &SourcesInput<'_>) -> String {
    let share = with_unit(&short(cost.share), input.predicted_unit());
    let noun = input.noun;
    let [wrong, missed] = [cost.wrong, cost.missed].map(|count| pluralize(count, noun));
    format!(
        "{}\nshare {share}\ntoo much of it in {wrong}, too little in {missed}",
        cost.name
    )
}

fn finding(input: &SourcesInput<'_>, shown: &[CostSource]) -> String {
    let SourcesInput {
        sources,
        unit,
        noun,
        ..
    } = *input;
    let hidden = sources.costs.len() - shown.len();
    let more = match hidden {
        0 => String::new(),
        count => format!(" {} not shown.", pluralize(count, "more cost")),
    };
    let total: f64 = sources.costs.iter().map(|cost| cost.share).sum();
    let [total, gap] =
        [total, sources.gap].map(|value| with_unit(&short(value), input.predicted_unit()));
    let regret = with_unit(&short(sources.regret), unit);
    format!(
        "{}: all shares add up to {total}; the best decisions looked worse by {gap} under the \
            predictions, and the difference is the regret of {}, {regret}.{more}",
        input.method,
        pluralize(sources.rows, noun)
    )
}
