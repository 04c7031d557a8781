//! Example decisions: the optimal one, that of the reference and that of the best method, on the
//! test row with the largest regret of the reference.
//!
//! What a decision shares with the optimal one is gray; what it adds and what it lacks are colored,
//! with their true costs: the difference of their sums is the regret.

mod graph;
mod grid;
mod items;

use regretless::experiment::{DecisionLayout, Example, MethodResults};

use super::{FigureContext, FigureWithCaption, draw_legend_row};
use crate::svg::{Anchor, Point, Rect, Svg};
use crate::text::{lines, pluralize, trimmed};

const WIDTH: f64 = 760.0;

/// A decision and its differences from the optimal one.
struct DecisionView {
    title: String,
    shared: Vec<u32>,
    wrong: Vec<u32>,
    missed: Vec<u32>,
    /// Its regret; none for the optimal decision.
    regret: Option<f64>,
}

/// Data of the figure.
struct ExampleInput<'a> {
    example: &'a Example,
    views: Vec<DecisionView>,
    text: Terms,
}

/// Nouns of a problem in texts.
struct Terms {
    /// What a cost belongs to, such as "edge".
    element: &'static str,
    /// What a decision is, such as "tour".
    decision: &'static str,
    is_maximization: bool,
}

impl Terms {
    fn of(layout: &DecisionLayout) -> Self {
        match layout {
            DecisionLayout::Graph { depot: false, .. } => Self {
                element: "edge",
                decision: "tour",
                is_maximization: false,
            },
            DecisionLayout::Graph { depot: true, .. } => Self {
                element: "edge",
                decision: "routes",
                is_maximization: false,
            },
            DecisionLayout::Grid { .. } => Self {
                element: "arc",
                decision: "path",
                is_maximization: false,
            },
            DecisionLayout::Items { .. } => Self {
                element: "item",
                decision: "choice",
                is_maximization: true,
            },
        }
    }
}

impl<'a> ExampleInput<'a> {
    fn of(context: &FigureContext<'a>, layout: &DecisionLayout) -> Option<Self> {
        let reference = context.reference()?;
        let worst = reference
            .examples
            .iter()
            .max_by(|a, b| a.regret.total_cmp(&b.regret))?;
        let example = context
            .problem
            .examples
            .iter()
            .find(|example| example.row == worst.row)?;
        let text = Terms::of(layout);
        let optimal = DecisionView {
            title: format!("Optimal {}", text.decision),
            shared: example.optimal.clone(),
            wrong: Vec::new(),
            missed: Vec::new(),
            regret: None,
        };
        let other = best_other_method(context, example);
        let others = [Some(reference), other]
            .into_iter()
            .flatten()
            .filter_map(|method| DecisionView::of(method, example));
        let mut case = Self {
            example,
            views: std::iter::once(optimal).chain(others).collect(),
            text,
        };
        let known = |entry: &u32| (*entry as usize) < example.costs.len();
        case.views.iter_mut().for_each(|view| view.keep(known));
        Some(case)
    }

    fn cost(&self, entry: u32) -> f64 {
        f64::from(self.example.costs[entry as usize])
    }

    fn sum(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|entry| self.cost(*entry)).sum()
    }

    /// The objective of a decision, and where its regret comes from.
    fn description(&self, view: &DecisionView) -> String {
        let Terms {
            element,
            decision,
            is_maximization,
        } = self.text;
        let total = trimmed(self.objective(view));
        let Some(regret) = view.regret else {
            let (what, end) = if is_maximization {
                ("Worth", "the most possible")
            } else {
                ("Costs", "the least possible")
            };
            return format!("{what} {total}, {end}.");
        };
        if view.wrong.is_empty() && view.missed.is_empty() {
            return format!("The optimal {decision}: no regret.");
        }
        let percent = 100.0 * regret / self.example.objective.abs().max(f64::MIN_POSITIVE);
        let (regret, percent) = (trimmed(regret), trimmed(percent));
        let (wrong, missed) = (self.sum(&view.wrong), self.sum(&view.missed));
        let (wrong, missed) = (
            (pluralize(view.wrong.len(), element), trimmed(wrong)),
            (pluralize(view.missed.len(), element), trimmed(missed)),
        );
        if is_maximization {
            let left = format!(
                "it leaves {} worth {} for {} worth {}",
                missed.0, missed.1, wrong.0, wrong.1
            );
            format!("Worth {total}, {regret} too little ({percent} %): {left}.")
        } else {
            let taken = format!(
                "it takes {} that cost {} instead of {} that cost {}",
                wrong.0, wrong.1, missed.0, missed.1
            );
            format!("Costs {total}, {regret} too much ({percent} %): {taken}.")
        }
    }

    fn objective(&self, view: &DecisionView) -> f64 {
        let regret = view.regret.unwrap_or(0.0);
        if self.text.is_maximization {
            self.example.objective - regret
        } else {
            self.example.objective + regret
        }
    }

    /// Tooltip of an item.
    fn tip(&self, entry: u32, name: &str, role: &str) -> String {
        let noun = if self.text.is_maximization {
            "value"
        } else {
            "cost"
        };
        format!("{name}\ntrue {noun} {}\n{role}", trimmed(self.cost(entry)))
    }
}

/// The method with the lowest ratio besides the reference that has a decision for the row.
fn best_other_method<'a>(
    context: &FigureContext<'a>,
    example: &Example,
) -> Option<&'a MethodResults> {
    let others = context
        .measured()
        .filter(|(_, method, _)| method.name != context.results.reference);
    let drawn = others
        .filter(|(_, method, _)| method.examples.iter().any(|shown| shown.row == example.row));
    drawn
        .min_by(|a, b| a.2.total_cmp(&b.2))
        .map(|(_, method, _)| method)
}

impl DecisionView {
    fn of(method: &MethodResults, example: &Example) -> Option<Self> {
        let shown = method
            .examples
            .iter()
            .find(|shown| shown.row == example.row)?;
        let (chosen, optimal) = (&shown.chosen, &example.optimal);
        let (shared, wrong) = chosen.iter().partition(|entry| optimal.contains(entry));
        let missed = optimal
            .iter()
            .filter(|entry| !chosen.contains(entry))
            .copied()
            .collect();
        Some(Self {
            title: format!("Under {}", method.name),
            shared,
            wrong,
            missed,
            regret: Some(shown.regret),
        })
    }

    fn keep(&mut self, known: impl Fn(&u32) -> bool) {
        for entries in [&mut self.shared, &mut self.wrong, &mut self.missed] {
            entries.retain(&known);
        }
    }
}

pub(super) fn draw(context: &FigureContext<'_>) -> FigureWithCaption {
    let layout = context.problem.layout.as_ref()?;
    let case = ExampleInput::of(context, layout)?;
    let svg = match layout {
        DecisionLayout::Graph { positions, depot } => side_by_side(
            context,
            &case,
            graph::aspect(positions),
            |svg, view, area| {
                graph::draw(svg, &case, view, positions, *depot, area);
            },
        ),
        DecisionLayout::Grid { rows, cols } => {
            side_by_side(context, &case, 1.0, |svg, view, area| {
                grid::draw(svg, &case, view, *rows, *cols, area);
            })
        }
        DecisionLayout::Items { weights, capacity } => {
            items::draw(context, &case, weights, capacity)
        }
    };
    Some((svg, caption(context, &case, layout)))
}

/// One panel per decision, each with its description below.
fn side_by_side(
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    tall: f64,
    panel: impl Fn(&mut Svg, &DecisionView, Rect),
) -> Svg {
    let panel_width = (WIDTH - 24.0) / case.views.len().max(2) as f64;
    let side = (panel_width - 34.0).min(300.0);
    let mut svg = Svg::new(WIDTH, 94.0 + side * tall + 74.0);
    context.heading_with(&mut svg, "first seed");
    draw_legend(&mut svg, case);
    for (index, view) in case.views.iter().enumerate() {
        let left = 12.0 + panel_width * index as f64;
        svg.text((left, 68.0), Anchor::Start, "strong", &view.title);
        panel(
            &mut svg,
            view,
            Rect::new(left + 8.0, 94.0, side, side * tall),
        );
        write_description(
            &mut svg,
            (left, 94.0 + side * tall + 28.0),
            &case.description(view),
            panel_width - 18.0,
        );
    }
    svg
}

fn write_description(svg: &mut Svg, at: Point, text: &str, wide: f64) {
    let (left, top) = at;
    for (index, line) in lines(text, wide / 10.5).iter().enumerate() {
        svg.text(
            (left, top + 14.0 * index as f64),
            Anchor::Start,
            "small",
            line,
        );
    }
}

/// Legend of the colors.
fn draw_legend(svg: &mut Svg, case: &ExampleInput<'_>) {
    let element = case.text.element;
    let not = if case.text.decision.ends_with('s') {
        "do not"
    } else {
        "does not"
    };
    let extra = format!("{element}s the optimal {} {not} have", case.text.decision);
    let lacking = format!("{element}s it lacks");
    let shared = format!("{element}s of the optimal {}", case.text.decision);
    draw_legend_row(
        svg,
        (12.0, 44.0),
        &[
            ("text-color", &shared),
            ("wrong", &extra),
            ("missed", &lacking),
        ],
    );
}

/// Whether every difference is labeled with its cost.
fn are_all_labeled(case: &ExampleInput<'_>, layout: &DecisionLayout) -> bool {
    match layout {
        DecisionLayout::Graph { .. } => case
            .views
            .iter()
            .all(|view| view.wrong.len() <= graph::MAX_EDGE_LABELS),
        DecisionLayout::Grid { cols, .. } => *cols <= grid::MAX_LABELED_COLUMNS,
        DecisionLayout::Items { .. } => case.example.costs.len() <= items::MAX_LABELED_ITEMS,
    }
}

fn caption(
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    layout: &DecisionLayout,
) -> String {
    let (reference, noun) = (
        &context.results.reference,
        if case.text.is_maximization {
            "values"
        } else {
            "costs"
        },
    );
    format!(
        "One test row (row {} of the table, first seed): the one of the {} stored on which \
            {reference} has the largest regret. Every decision is optimal for predicted {noun}; \
            the true {noun} count. Where a decision differs from the optimal one, numbers are \
            true {noun}{}; their difference is the regret.",
        case.example.row,
        context.problem.examples.len(),
        if are_all_labeled(case, layout) {
            ""
        } else {
            " (where there is space; on the page hover over others)"
        }
    )
}
