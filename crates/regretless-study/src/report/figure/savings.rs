//! Money over time: what methods have saved so far, period by period.

use crate::backtest::{BacktestResults, MethodHistory};
use crate::review::DecisionReview;

use super::lines::{LineSeries, draw_named_axis, draw_series, label_width};
use super::{Drawing, FigureWidth};
use crate::report::axes::Axes;
use crate::report::scale::AxisScale;
use crate::report::style::MethodStyle;
use crate::report::svg::{Anchor, Rect, Svg};
use crate::report::text::{short, with_unit};
use crate::text::saved_or_gained;

/// Number of methods shown. Untuned: more lines are hard to distinguish.
const MAX_LINES: usize = 4;

/// The method that savings are measured against: the decisions that were made, if they are known,
/// or else least squares.
fn baseline(history: &BacktestResults) -> Option<&MethodHistory> {
    let given = history.methods.iter().find(|method| method.is_given);
    given.or(history.methods.first())
}

/// What a method saves against another one, summed up from the first period on.
fn cumulated(history: &BacktestResults, method: &MethodHistory, base: &MethodHistory) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = Vec::with_capacity(method.costs.len());
    for (cost, base) in method.costs.iter().zip(&base.costs) {
        sum += history.saving(*base, *cost);
        sums.push(sum);
    }
    sums
}

/// The reviewed method, least squares, and the best others.
fn shown_methods(review: &DecisionReview, history: &BacktestResults, base: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..history.methods.len()).collect();
    let regret = |index: usize| history.methods[index].total_regret();
    let is_main = |index: usize| index == 0 || history.methods[index].name == review.method;
    order.retain(|index| history.methods[*index].name != base);
    order.sort_by(|a, b| {
        is_main(*b)
            .cmp(&is_main(*a))
            .then(regret(*a).total_cmp(&regret(*b)))
    });
    order.truncate(MAX_LINES);
    order
}

pub(crate) fn draw(review: &DecisionReview, figure_width: FigureWidth) -> Option<Drawing> {
    let history = review.history.as_ref()?;
    let base = baseline(history)?;
    let problem = review.results.problems.first()?;
    let methods = shown_methods(review, history, &base.name);
    // Rows without times have no order in which amounts add up.
    if methods.is_empty() || history.periods.len() < 2 || !history.are_ordered {
        return None;
    }
    let drawing_width = figure_width.units();
    let unit = review.unit.as_deref().unwrap_or_default();
    let mut svg = Svg::new(drawing_width);
    let names = methods
        .iter()
        .map(|index| history.methods[*index].name.as_str());
    let label_width = label_width(names, drawing_width);
    let left = 66.0;
    let height = if figure_width == FigureWidth::Narrow {
        220.0
    } else {
        270.0
    };
    let area = Rect::new(
        left,
        34.0,
        drawing_width - left - label_width - 24.0,
        height,
    );
    let title = match unit {
        "" => "summed up".to_owned(),
        unit => format!("{unit}, summed up"),
    };
    svg.text((12.0, 20.0), Anchor::Start, "small faint", &title);
    let mut series = Vec::with_capacity(methods.len());
    for index in methods {
        let style = MethodStyle::of(&review.results, problem, index);
        let sums = cumulated(history, &history.methods[index], base);
        series.push(savings_line(review, history, index, style, sums));
    }
    let values = series.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let last = history.periods.len() as f64 - 1.0;
    let frame = Axes {
        area,
        x: AxisScale::integer([0.0, last], area.left, area.right()),
        y: AxisScale::linear(values.chain([0.0]), area.bottom(), area.top),
    };
    frame.draw_heights(&mut svg);
    let zero = frame.y.at(0.0);
    svg.line((area.left, zero), (area.right(), zero), "reference-line");
    let names: Vec<&str> = history.periods.iter().map(String::as_str).collect();
    draw_named_axis(&mut svg, &area, &names, "");
    draw_series(&mut svg, &frame, &series, label_width);
    let verb = saved_or_gained(history.sense);
    Some(Drawing {
        svg: svg.finish(area.bottom() + 28.0),
        explanation: vec![format!(
            "What each method would have {verb} since the first decided period, against {} \
                (dashed line at 0). A line that rises {verb} money in that period; every period is \
                decided by models that saw earlier periods only.",
            base.name
        )],
        finding: finding(review, history, base, verb),
    })
}

/// The line of a method; that of the reviewed one is solid and stronger.
fn savings_line(
    review: &DecisionReview,
    history: &BacktestResults,
    index: usize,
    style: MethodStyle,
    sums: Vec<f64>,
) -> LineSeries {
    let name = &history.methods[index].name;
    let total = sums.last().copied().unwrap_or(0.0);
    let unit = review.unit.as_deref().unwrap_or_default();
    LineSeries {
        method: index,
        name: name.clone(),
        color: style.color,
        dash: if *name == review.method {
            "dash0 strong-line".into()
        } else {
            style.dash
        },
        points: (0..).map(f64::from).zip(sums).collect(),
        tip: format!("{name}\n{} in all", with_unit(&short(total), unit)),
    }
}

fn finding(
    review: &DecisionReview,
    history: &BacktestResults,
    base: &MethodHistory,
    verb: &str,
) -> String {
    let mut methods = history.methods.iter();
    let Some(method) = methods.find(|method| method.name == review.method) else {
        return String::new();
    };
    if method.name == base.name {
        return String::new();
    }
    let total = cumulated(history, method, base)
        .last()
        .copied()
        .unwrap_or(0.0);
    let unit = review.unit.as_deref().unwrap_or_default();
    format!(
        "{} would have {verb} {} over {} periods, against {}.",
        method.name,
        with_unit(&short(total), unit),
        history.periods.len(),
        base.name
    )
}
