//! Predicted and true costs of one decision, and how far each could have moved before the decision
//! changes: the edge.

use std::collections::BTreeMap;

use crate::review::ExplainedRow;
use regretless::explain::ExplainedCost;

use super::labels::LabeledRows;
use super::{Drawing, FigureWidth, draw_legend};
use crate::report::axes::bottom_axis;
use crate::report::scale::AxisScale;
use crate::report::svg::{Rect, Svg};
use crate::report::text::{pluralize, short, with_unit};

/// Most costs. Untuned: more are not read.
const MAX_COSTS: usize = 14;

/// How the decision about a cost turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The decision has more of it than the best one.
    Wrong,
    /// The decision has less of it.
    Missed,
    /// In both decisions.
    Taken,
    /// In none of them.
    Left,
}

impl Outcome {
    fn class(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Missed => "missed",
            Self::Taken => "text-color",
            Self::Left => "quiet",
        }
    }

    fn words(self, are_amounts: bool) -> &'static str {
        match (self, are_amounts) {
            (Self::Wrong, false) => "chosen, and should not have been",
            (Self::Missed, false) => "not chosen, and should have been",
            (Self::Taken, false) => "chosen, rightly",
            (Self::Left, false) => "not chosen, rightly",
            (Self::Wrong, true) => "more than would have been best",
            (Self::Missed, true) => "less than would have been best",
            (Self::Taken, true) => "the best amount",
            (Self::Left, true) => "none, which was best",
        }
    }
}

/// Whether decisions are amounts, not only yes or no.
fn are_amounts(explained: &ExplainedRow) -> bool {
    let explanation = &explained.explanation;
    let own = explanation.costs.iter().map(|cost| cost.value);
    let shares = explanation.regret.iter().flat_map(|split| &split.shares);
    let best = shares.flat_map(|share| [share.value, share.best_value]);
    own.chain(best).any(|value| value != 0.0 && value != 1.0)
}

/// A cost of the figure.
struct EdgeRow<'a> {
    cost: &'a ExplainedCost,
    true_cost: f64,
    outcome: Outcome,
    words: &'static str,
}

/// Costs on which the decision differs from the best one, then those nearest to their edge.
fn shown_rows(explained: &ExplainedRow) -> Vec<EdgeRow<'_>> {
    let explanation = &explained.explanation;
    let are_amounts = are_amounts(explained);
    let shares = explanation.regret.iter().flat_map(|split| &split.shares);
    let differences: BTreeMap<usize, f64> = shares
        .map(|share| (share.index, share.value - share.best_value))
        .collect();
    let mut rows = Vec::new();
    for cost in &explanation.costs {
        let outcome = match differences.get(&cost.index) {
            Some(difference) if *difference > 0.0 => Outcome::Wrong,
            Some(_) => Outcome::Missed,
            None if cost.value == 0.0 => Outcome::Left,
            None => Outcome::Taken,
        };
        let true_cost = explained.true_costs.get(cost.index).copied();
        rows.extend(true_cost.map(|true_cost| EdgeRow {
            cost,
            true_cost,
            outcome,
            words: outcome.words(are_amounts),
        }));
    }
    let differs = |row: &EdgeRow<'_>| matches!(row.outcome, Outcome::Wrong | Outcome::Missed);
    rows.sort_by(|a, b| {
        let near = edge_distance(a.cost).total_cmp(&edge_distance(b.cost));
        differs(b).cmp(&differs(a)).then(near)
    });
    rows.truncate(MAX_COSTS);
    rows.sort_by(|a, b| a.cost.predicted.total_cmp(&b.cost.predicted));
    rows
}

/// How far the predicted cost may move to its nearer edge.
fn edge_distance(cost: &ExplainedCost) -> f64 {
    let ends = cost
        .range
        .map_or([None, None], |range| [range.lower, range.upper]);
    let distances = ends
        .into_iter()
        .flatten()
        .map(|end| (end - cost.predicted).abs());
    distances.fold(f64::INFINITY, f64::min)
}

pub(crate) fn draw(
    explained: &ExplainedRow,
    unit: &str,
    figure_width: FigureWidth,
) -> Option<Drawing> {
    let rows = shown_rows(explained);
    if rows.is_empty() {
        return None;
    }
    let drawing_width = figure_width.units();
    let mut svg = Svg::new(drawing_width);
    let mut legend: Vec<(&str, &str)> = Vec::new();
    for outcome in [
        Outcome::Wrong,
        Outcome::Missed,
        Outcome::Taken,
        Outcome::Left,
    ] {
        if let Some(row) = rows.iter().find(|row| row.outcome == outcome) {
            legend.push((outcome.class(), row.words));
        }
    }
    let top = draw_legend(&mut svg, 12.0, 6.0, drawing_width - 8.0, &legend);
    let names = rows.iter().map(|row| row.cost.name.as_str());
    let lines = LabeledRows::new(drawing_width, names, top + 8.0, 22.0);
    let area = lines.area;
    let mut values: Vec<f64> = Vec::new();
    for row in &rows {
        values.extend([row.cost.predicted, row.true_cost]);
    }
    let x = AxisScale::linear(values, area.left, area.right());
    bottom_axis(&mut svg, &area, &x, unit);
    for (position, row) in rows.iter().enumerate() {
        draw_row(&mut svg, &lines, position, row, &x, unit);
    }
    let hidden = explained.explanation.costs.len() - rows.len();
    let finding = match hidden {
        0 => String::new(),
        1 => "The nearest to their edge are shown; 1 cost is farther from it.".into(),
        count => format!(
            "The nearest to their edge are shown; {} are farther from it.",
            pluralize(count, "cost")
        ),
    };
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation: vec![
            "Open circles are predicted costs, filled ones the true costs.".into(),
            "The shaded range ends at the edge (tick) beyond which a prediction, with all others \
                as they are, leads to another decision; without a tick it may stay. If a true \
                cost lies beyond its edge, the decision was wrong or lucky."
                .into(),
        ],
        finding,
    })
}

fn draw_row(
    svg: &mut Svg,
    lines: &LabeledRows,
    position: usize,
    row: &EdgeRow<'_>,
    x: &AxisScale,
    unit: &str,
) {
    let (area, middle) = (&lines.area, lines.middle(position));
    let EdgeRow {
        cost,
        true_cost,
        outcome,
        ..
    } = row;
    svg.group(&format!("{} mark", outcome.class())).open();
    svg.tip(&tip(row, unit));
    svg.rect(
        Rect::new(area.left, middle - 10.0, area.width, 20.0),
        "ghost",
    );
    lines.write(svg, position, "", &cost.name);
    if let Some(range) = cost.range {
        let end = |end: Option<f64>, otherwise: f64| end.map_or(otherwise, |end| x.at(end));
        let (left, right) = (end(range.lower, area.left), end(range.upper, area.right()));
        svg.rect(Rect::new(left, middle - 6.0, right - left, 12.0), "pale");
        // Beyond other ends the decision may stay as it is.
        let lower = range.lower.filter(|_| range.lower_is_exact);
        let upper = range.upper.filter(|_| range.upper_is_exact);
        for end in [lower, upper].into_iter().flatten() {
            if x.contains(end) {
                svg.line((x.at(end), middle - 8.0), (x.at(end), middle + 8.0), "tick");
            }
        }
    }
    let (predicted, truth) = (x.at(cost.predicted), x.at(*true_cost));
    svg.line((predicted, middle), (truth, middle), "thin");
    for (center, class) in [(predicted, "hollow"), (truth, "fill")] {
        svg.tag("circle")
            .num("cx", center)
            .num("cy", middle)
            .num("r", 4.4)
            .set("class", class)
            .done();
    }
    svg.end();
}

fn tip(row: &EdgeRow<'_>, unit: &str) -> String {
    let cost = row.cost;
    let [predicted, truth] =
        [cost.predicted, row.true_cost].map(|value| with_unit(&short(value), unit));
    let mut text = format!(
        "{}: {}\npredicted {predicted}, true {truth}",
        cost.name, row.words
    );
    if let Some(range) = cost.range {
        let end = |end: Option<f64>, none: &str| end.map_or_else(|| none.to_owned(), short);
        text += &format!(
            "\ndecision stays from {} to {}",
            end(range.lower, "any"),
            end(range.upper, "any")
        );
    }
    text
}
