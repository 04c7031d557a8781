//! Number of solves by kind on a logarithmic axis, next to the formulas of the paper.

use crate::experiment::MethodResults;

use super::labels::{LabeledRows, MethodRow};
use super::{Drawing, FigureContext, draw_legend, tip};
use crate::report::axes::bottom_axis;
use crate::report::scale::AxisScale;
use crate::report::style::{CIRCLE_SHAPE, METHOD_COLORS, hue, mark};
use crate::report::svg::{Anchor, Rect, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{clipped_to, count, width};

/// Width of the column with the number of solves.
const NUMBER_WIDTH: f64 = 66.0;

/// Methods with their indices, the fewest solves first.
fn sorted_methods<'a>(context: &FigureContext<'a>) -> Vec<(usize, &'a MethodResults)> {
    let mut methods: Vec<_> = context
        .run()
        .filter(|(_, method)| method.seconds.mean.is_some())
        .collect();
    methods.sort_by(|(_, a), (_, b)| solves(a).total_cmp(&solves(b)));
    methods
}

pub(super) fn draw(context: &FigureContext<'_>) -> Option<Drawing> {
    let methods = sorted_methods(context);
    let first = methods.first()?.1;
    let formulas = methods
        .iter()
        .filter_map(|(_, method)| method.published_solves.as_deref())
        .map(|formula| width(formula) * SMALL_TEXT_HEIGHT);
    // A narrow drawing has no space for formulas; the tooltip has them.
    let formula_width = if context.is_narrow() {
        0.0
    } else {
        formulas.fold(0.0, f64::max).min(0.3 * context.width)
    };
    let mut svg = Svg::new(context.width);
    let top = context.heading(&mut svg);
    let used = |kind: usize| {
        methods
            .iter()
            .any(|(_, method)| method.solves[kind].1 > 0.0)
    };
    let kinds: Vec<(String, &str)> = (0..first.solves.len())
        .filter(|kind| used(*kind))
        .map(|kind| (kind_color(kind), first.solves[kind].0.as_str()))
        .collect();
    let entries: Vec<(&str, &str)> = kinds
        .iter()
        .map(|(color, name)| (color.as_str(), *name))
        .collect();
    let top = draw_legend(&mut svg, 12.0, top, context.width - 8.0, &entries);
    let names = methods.iter().map(|(_, method)| method.name.as_str());
    let right = NUMBER_WIDTH + 12.0 + formula_width;
    let rows = LabeledRows::new(context.width, names, top + 16.0, right);
    let area = rows.area;
    let columns = area.right() + NUMBER_WIDTH;
    svg.text(
        (columns, area.top - 4.0),
        Anchor::End,
        "small faint",
        "solves",
    );
    if formula_width > 0.0 {
        svg.text(
            (columns + 12.0, area.top - 4.0),
            Anchor::Start,
            "small faint",
            "formula",
        );
    }
    let counts = methods.iter().flat_map(|(_, method)| &method.solves);
    let x = AxisScale::log(
        counts.map(|(_, number)| *number),
        area.left + 6.0,
        area.right() - 6.0,
    );
    let title = "solver calls in training, log scale";
    bottom_axis(&mut svg, &area, &x, title);
    for shown in MethodRow::all(&rows, &methods) {
        draw_row(&mut svg, shown, &x);
        if let (Some(formula), true) = (&shown.method.published_solves, formula_width > 0.0) {
            let formula = clipped_to(formula, formula_width / SMALL_TEXT_HEIGHT);
            let at = (columns + 12.0, shown.middle() + 4.0);
            svg.text(at, Anchor::Start, "small faint", &formula);
        }
    }
    Some(Drawing {
        svg: svg.finish(area.bottom() + 44.0),
        explanation: explanation(),
        finding: finding(context),
    })
}

/// The color of a kind of solves; cache hits, the last kind, are gray.
fn kind_color(kind: usize) -> String {
    if kind < METHOD_COLORS {
        hue(kind)
    } else {
        "quiet".into()
    }
}

/// Solver calls that were solved: the first four kinds.
fn solves(method: &MethodResults) -> f64 {
    method.solves.iter().take(4).map(|(_, number)| number).sum()
}

fn draw_row(svg: &mut Svg, shown: MethodRow<'_>, x: &AxisScale) {
    let (area, method, middle) = (&shown.rows.area, shown.method, shown.middle());
    svg.group("mark")
        .num("data-method", shown.index as f64)
        .open();
    let used = || {
        let kinds = method.solves.iter().enumerate();
        kinds.filter(|(_, (_, number))| *number > 0.0)
    };
    let kinds: Vec<String> = used()
        .map(|(_, (kind, number))| format!("{} {kind}", count(*number)))
        .collect();
    let kinds = if kinds.is_empty() {
        "no solver calls".into()
    } else {
        kinds.join(", ")
    };
    let formula = method.published_solves.as_deref();
    let formula = formula.map(|formula| format!("\nformula {formula}"));
    svg.tip(&format!(
        "{}\n{kinds}{}",
        tip(method),
        formula.unwrap_or_default()
    ));
    // An invisible area, so the whole row has the tooltip.
    svg.rect(
        Rect::new(area.left, middle - 9.0, area.width, 18.0),
        "ghost",
    );
    shown.rows.write(svg, shown.row, "", &method.name);
    svg.group("quiet").open();
    let most = used().map(|(_, (_, number))| *number).fold(0.0, f64::max);
    if most > 0.0 {
        svg.line((area.left, middle), (x.at(most), middle), "thin");
    }
    svg.end();
    for (kind, (_, number)) in used() {
        svg.group(&kind_color(kind)).open();
        mark(
            svg,
            CIRCLE_SHAPE + kind,
            (x.at(*number), middle),
            5.0,
            "fill dot",
        );
        svg.end();
    }
    svg.text(
        (area.right() + NUMBER_WIDTH, middle + 4.0),
        Anchor::End,
        "small",
        &count(solves(method)),
    );
    svg.end();
}

fn explanation() -> Vec<String> {
    vec![
        "Solver calls of one training by kind, mean over seeds, on a logarithmic axis; the number \
            counts those that were solved."
            .into(),
        "Exact solves, solves of the relaxation, heuristics and projections onto a cone; certified \
            (the old decision is proven optimal) and cache hits (from the solution pool) need no \
            solve."
            .into(),
        "Labeling is not counted.".into(),
    ]
}

fn finding(context: &FigureContext<'_>) -> String {
    let [train, validation, _] = context.problem.rows;
    format!("{train} training and {validation} validation rows.")
}
