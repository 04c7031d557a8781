//! Ratios of all methods as bars, with standard deviations and published means.

use regretless::experiment::MethodResults;

use super::{FigureContext, FigureWithCaption, draw_error_bar, tip, widest};
use crate::axes::bottom_axis;
use crate::scale::AxisScale;
use crate::svg::{Anchor, Rect, Svg};
use crate::text::{clipped, ratio};

const WIDTH: f64 = 760.0;
const ROW_HEIGHT: f64 = 20.0;
const TOP: f64 = 36.0;
/// Ratios above are truncated: one bad method would compress all others. Untuned: above 1 all
/// methods are worse than the reference anyway.
const MAX_RATIO_SHOWN: f64 = 2.0;

pub(super) fn draw(context: &FigureContext<'_>) -> FigureWithCaption {
    context.measured().next()?;
    let methods = &context.problem.methods;
    let left = widest(methods.iter().map(|method| method.name.as_str())) + 24.0;
    let area = Rect::new(
        left,
        TOP,
        WIDTH - left - 110.0,
        ROW_HEIGHT * methods.len() as f64,
    );
    let ends = methods.iter().flat_map(|method| {
        let published = method.published.map(|published| published.ratio);
        [
            method
                .ratio
                .mean
                .map(|mean| mean + method.ratio.sd.unwrap_or(0.0)),
            published,
        ]
    });
    let longest = ends.flatten().fold(1.05, f64::max).min(MAX_RATIO_SHOWN);
    let x = AxisScale::linear([0.0, longest], area.left, area.right());
    let mut svg = Svg::new(WIDTH, area.bottom() + 44.0);
    context.heading(&mut svg);
    let title = format!("test regret relative to {}", context.results.reference);
    bottom_axis(&mut svg, &area, &x, &title);
    for (index, method) in methods.iter().enumerate() {
        row(&mut svg, index, method, &area, &x);
    }
    svg.line(
        (x.at(1.0), area.top),
        (x.at(1.0), area.bottom()),
        "reference-line",
    );
    Some((svg, caption(context)))
}

fn row(svg: &mut Svg, index: usize, method: &MethodResults, area: &Rect, x: &AxisScale) {
    let middle = area.top + (index as f64 + 0.5) * ROW_HEIGHT;
    // One color for all: names identify the methods.
    let color = if method.is_best {
        "missed mark"
    } else {
        "c0 mark"
    };
    svg.group(color).num("data-method", index as f64).open();
    svg.tip(&tip(method));
    let strong = if method.is_best { "strong" } else { "" };
    svg.text(
        (area.left - 8.0, middle + 4.0),
        Anchor::End,
        strong,
        &clipped(&method.name),
    );
    let label = match method.ratio.mean {
        Some(mean) => {
            let end = x.at(mean);
            svg.rect(
                Rect::new(area.left, middle - 6.5, end - area.left, 13.0),
                "soft bar",
            );
            if mean > x.high() {
                svg.path(
                    &[
                        (end + 2.0, middle - 6.0),
                        (end + 8.0, middle),
                        (end + 2.0, middle + 6.0),
                    ],
                    "line",
                );
            }
            deviation(svg, method, mean, middle, x);
            let sd = method
                .ratio
                .sd
                .map(|sd| format!(" ± {}", ratio(sd)))
                .unwrap_or_default();
            format!("{}{sd}", ratio(mean))
        }
        None => "*".into(),
    };
    svg.text(
        (area.right() + 14.0, middle + 4.0),
        Anchor::Start,
        strong,
        &label,
    );
    if let Some(published) = method.published {
        let position = x.at(published.ratio);
        svg.line(
            (position, middle - 8.5),
            (position, middle + 8.5),
            "tick published",
        );
    }
    svg.end();
}

fn deviation(svg: &mut Svg, method: &MethodResults, mean: f64, middle: f64, x: &AxisScale) {
    if let Some(sd) = method
        .ratio
        .sd
        .filter(|sd| *sd > 0.0 && mean - sd < x.high())
    {
        draw_error_bar(svg, (x.at(mean - sd), middle), (x.at(mean + sd), middle));
    }
}

fn caption(context: &FigureContext<'_>) -> String {
    let reference = &context.results.reference;
    let best = context.measured().find(|(_, method, _)| method.is_best);
    let best =
        best.map(|(_, method, mean)| format!(" Lowest: {} with {}.", method.name, ratio(mean)));
    let published = context
        .problem
        .methods
        .iter()
        .any(|method| method.published.is_some());
    let ticks = if published {
        " Vertical ticks are published means."
    } else {
        ""
    };
    let cut = context
        .measured()
        .any(|(_, _, mean)| mean > MAX_RATIO_SHOWN);
    let cut = if cut {
        " Arrows: the bar continues to the number at its right."
    } else {
        ""
    };
    format!(
        "Test regret, as a multiple of that of {reference}; shorter is better, below 1 beats \
            {reference}. Error bars are standard deviations over seeds.{ticks}{cut}{}",
        best.unwrap_or_default()
    )
}
