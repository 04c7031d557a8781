//! The critical-difference diagram of a scoreboard (Demšar 2006), one row per method: a mark at the
//! mean rank, and a bar beside every group of methods that do not differ significantly.

use super::FigureWidth;
use super::labels::LabeledRows;
use crate::report::axes::bottom_axis;
use crate::report::scale::AxisScale;
use crate::report::scoreboard::{RankedMethod, ResultSource, Scoreboard};
use crate::report::style::{CIRCLE_SHAPE, mark};
use crate::report::svg::{Anchor, SMALL_TEXT_HEIGHT, Svg};
use crate::report::text::{pluralize, width};

/// Distance between the bars of two groups.
const GROUP_DISTANCE: f64 = 8.0;

/// The diagram, and how to read it.
pub(crate) struct CriticalDifferenceFigure {
    pub(crate) explanation: String,
    /// One drawing per width.
    pub(crate) drawings: Vec<Svg>,
}

impl CriticalDifferenceFigure {
    /// Name of its file, without extension.
    pub(crate) const NAME: &'static str = "critical-difference";

    /// The figure in these widths; none for a single task.
    pub(crate) fn draw(board: &Scoreboard, widths: &[FigureWidth]) -> Option<Self> {
        let difference = board.critical_difference?;
        let drawings = widths
            .iter()
            .map(|width| draw(board, difference, width.units()))
            .collect();
        let tasks = pluralize(board.ranked_tasks(), "task");
        let explanation = format!(
            "Mean rank of each method over {tasks}, all methods ranked together; 1 is the best \
             rank. Two methods differ significantly if their mean ranks are further apart than \
             the critical difference, {difference:.1} (Nemenyi's test at 95 %, Demšar 2006). A bar \
             at the right joins methods that do not differ significantly. For such a test {tasks} \
             are few, and it ignores how large differences in regret are: the tables below have \
             intervals for each task."
        );
        Some(Self {
            explanation,
            drawings,
        })
    }
}

fn color(method: &RankedMethod) -> &'static str {
    match method.source {
        ResultSource::Ours => "c0",
        ResultSource::Published => "neutral",
    }
}

fn number(method: &RankedMethod) -> String {
    format!("{:.2}", method.mean_rank)
}

fn draw(board: &Scoreboard, difference: f64, units: f64) -> Svg {
    const RULER_TOP: f64 = 50.0;
    let methods = &board.ranking;
    let groups = board.groups();
    let mut svg = Svg::new(units);
    let tasks = pluralize(board.ranked_tasks(), "task");
    let title = format!("Mean rank over {tasks}");
    svg.text((12.0, 21.0), Anchor::Start, "head", &title);
    let numbers = methods
        .iter()
        .map(|method| width(&number(method)) * SMALL_TEXT_HEIGHT);
    let numbers = numbers.fold(0.0, f64::max);
    let right = numbers + GROUP_DISTANCE * (groups.len() as f64 + 1.0) + 16.0;
    let names = methods.iter().map(|method| method.name.as_str());
    let rows = LabeledRows::new(units, names, RULER_TOP + 16.0, right);
    let area = rows.area;
    let x = AxisScale::integer([1.0, methods.len() as f64], area.left, area.right());
    bottom_axis(&mut svg, &area, &x, "mean rank");
    ruler(&mut svg, &x, difference, RULER_TOP, area.left);
    for (row, method) in methods.iter().enumerate() {
        draw_row(&mut svg, &rows, row, method, &x);
    }
    for (index, group) in groups.iter().enumerate() {
        let position = area.right() + numbers + 20.0 + GROUP_DISTANCE * index as f64;
        let (top, bottom) = (rows.middle(group.start), rows.middle(group.end - 1));
        svg.group("text-color").open();
        svg.line((position, top - 5.0), (position, bottom + 5.0), "thick");
        svg.end();
    }
    svg.finish(area.bottom() + 44.0)
}

/// A ruler of the length of the critical difference, above the rows.
fn ruler(svg: &mut Svg, x: &AxisScale, difference: f64, top: f64, left: f64) {
    // It may be longer than the axis, which it then spans.
    let end = x.at(1.0 + difference);
    svg.line((left, top), (end, top), "tick");
    for position in [left, end] {
        svg.line((position, top - 4.0), (position, top + 4.0), "tick");
    }
    let text = format!("critical difference {difference:.1}");
    svg.text((left, top - 8.0), Anchor::Start, "small", &text);
}

fn draw_row(svg: &mut Svg, rows: &LabeledRows, row: usize, method: &RankedMethod, x: &AxisScale) {
    let middle = rows.middle(row);
    svg.group(&format!("{} mark", color(method))).open();
    svg.tip(&format!(
        "{} ({})\nmean rank {:.2}",
        method.name,
        method.source.word(),
        method.mean_rank
    ));
    let class = match method.source {
        ResultSource::Ours => "strong tinted",
        ResultSource::Published => "",
    };
    rows.write(svg, row, class, &method.name);
    svg.line(
        (rows.area.left, middle),
        (x.at(method.mean_rank), middle),
        "thin",
    );
    mark(
        svg,
        CIRCLE_SHAPE,
        (x.at(method.mean_rank), middle),
        4.5,
        "fill",
    );
    svg.text(
        (rows.area.right() + 12.0, middle + 4.0),
        Anchor::Start,
        "small",
        &number(method),
    );
    svg.end();
}
