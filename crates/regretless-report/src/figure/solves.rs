//! Number of solves by kind, next to the formulas of the paper.

use regretless::experiment::MethodResults;

use super::{FigureContext, FigureWithCaption, draw_legend_row, tip, widest};
use crate::axes::bottom_axis;
use crate::scale::AxisScale;
use crate::style::hue;
use crate::svg::{Anchor, Rect, Svg};
use crate::text::{clipped, count, width};

const WIDTH: f64 = 760.0;
const ROW_HEIGHT: f64 = 20.0;
const TOP: f64 = 60.0;

pub(super) fn draw(context: &FigureContext<'_>) -> FigureWithCaption {
    let methods: Vec<(usize, &MethodResults)> = context
        .measured()
        .map(|(index, method, _)| (index, method))
        .collect();
    let first = methods.first()?.1;
    let published = methods
        .iter()
        .filter_map(|(_, method)| method.published_solves.as_deref())
        .map(|published| width(published) * 10.5);
    let right = 76.0 + published.fold(0.0, f64::max).min(220.0);
    let left = widest(methods.iter().map(|(_, method)| method.name.as_str())) + 24.0;
    let area = Rect::new(
        left,
        TOP,
        WIDTH - left - right,
        ROW_HEIGHT * methods.len() as f64,
    );
    let max = methods
        .iter()
        .map(|(_, method)| total(method))
        .fold(1.0, f64::max);
    let x = AxisScale::linear([0.0, max], area.left, area.right());
    let mut svg = Svg::new(WIDTH, area.bottom() + 44.0);
    context.heading(&mut svg);
    let used = |kind: usize| {
        methods
            .iter()
            .any(|(_, method)| method.solves[kind].1 > 0.0)
    };
    let hues: Vec<(String, &str)> = (0..first.solves.len())
        .filter(|kind| used(*kind))
        .map(|kind| (hue(kind), first.solves[kind].0.as_str()))
        .collect();
    let key: Vec<(&str, &str)> = hues
        .iter()
        .map(|(hue, name)| (hue.as_str(), *name))
        .collect();
    draw_legend_row(&mut svg, (area.left, 44.0), &key);
    svg.text(
        (area.right() + 66.0, 44.0),
        Anchor::End,
        "small faint",
        "solves",
    );
    if methods
        .iter()
        .any(|(_, method)| method.published_solves.is_some())
    {
        svg.text(
            (area.right() + 78.0, 44.0),
            Anchor::Start,
            "small faint",
            "formula",
        );
    }
    bottom_axis(
        &mut svg,
        &area,
        &x,
        "solver calls during training, mean over seeds",
    );
    for (row, (index, method)) in methods.iter().enumerate() {
        let middle = area.top + (row as f64 + 0.5) * ROW_HEIGHT;
        draw_row(&mut svg, *index, method, middle, &area, &x);
    }
    Some((svg, caption(context)))
}

fn total(method: &MethodResults) -> f64 {
    method.solves.iter().map(|(_, number)| number).sum()
}

/// Solver calls that were solved: the first four kinds.
fn solves(method: &MethodResults) -> f64 {
    method.solves.iter().take(4).map(|(_, number)| number).sum()
}

fn draw_row(
    svg: &mut Svg,
    index: usize,
    method: &MethodResults,
    middle: f64,
    area: &Rect,
    x: &AxisScale,
) {
    svg.group("mark").num("data-method", index as f64).open();
    let kinds = method.solves.iter().filter(|(_, number)| *number > 0.0);
    let kinds: Vec<String> = kinds
        .map(|(kind, number)| format!("{} {kind}", count(*number)))
        .collect();
    let kinds = if kinds.is_empty() {
        "no solver calls".into()
    } else {
        kinds.join(", ")
    };
    svg.tip(&format!("{}\n{kinds}", tip(method)));
    svg.text(
        (area.left - 8.0, middle + 4.0),
        Anchor::End,
        "",
        &clipped(&method.name),
    );
    let mut before = 0.0;
    for (kind, (_, number)) in method
        .solves
        .iter()
        .enumerate()
        .filter(|(_, (_, number))| *number > 0.0)
    {
        let (from, to) = (x.at(before), x.at(before + number));
        svg.group(&hue(kind)).open();
        svg.rect(
            Rect::new(from, middle - 6.5, (to - from).max(0.8), 13.0),
            "soft bar",
        );
        svg.end();
        before += number;
    }
    svg.text(
        (area.right() + 66.0, middle + 4.0),
        Anchor::End,
        "",
        &count(solves(method)),
    );
    if let Some(published) = &method.published_solves {
        svg.text(
            (area.right() + 78.0, middle + 4.0),
            Anchor::Start,
            "small faint",
            published,
        );
    }
    svg.end();
}

fn caption(context: &FigureContext<'_>) -> String {
    let [train, validation, _] = context.problem.rows;
    format!(
        "Solver calls of a method during training on {train} rows ({validation} for validation), \
            by kind: exact solves, solves of the relaxation, heuristics, projections onto a cone, \
            and calls without a solve (certified: the old decision is proven optimal; cache hits: \
            from the solution pool). The number counts the solves. Labeling is not counted."
    )
}
