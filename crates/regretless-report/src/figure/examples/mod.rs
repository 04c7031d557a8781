//! Example decisions: the optimal one, that of the reference and that of the best method, on the
//! test row with the largest regret of the reference.
//!
//! What a decision shares with the optimal one is gray; what it adds and what it lacks are colored,
//! with their true costs: the difference of their sums is the regret.

mod graph;
mod grid;
mod items;

use regretless::experiment::{DecisionLayout, Example, MethodResults};

use super::{FigureContext, FigureWithCaption, key_row};
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

/// Nouns of a problem.
struct Terms {
    thing: &'static str,
    whole: &'static str,
    /// Whether the problem is a maximization.
    worth: bool,
}

impl Terms {
    fn of(drawing: &DecisionLayout) -> Self {
        match drawing {
            DecisionLayout::Graph { depot: false, .. } => Self {
                thing: "edge",
                whole: "tour",
                worth: false,
            },
            DecisionLayout::Graph { depot: true, .. } => Self {
                thing: "edge",
                whole: "routes",
                worth: false,
            },
            DecisionLayout::Grid { .. } => Self {
                thing: "arc",
                whole: "path",
                worth: false,
            },
            DecisionLayout::Items { .. } => Self {
                thing: "item",
                whole: "choice",
                worth: true,
            },
        }
    }
}

impl<'a> ExampleInput<'a> {
    fn of(context: &FigureContext<'a>, drawing: &DecisionLayout) -> Option<Self> {
        let reference = context.reference()?;
        let worst = reference
            .shown
            .iter()
            .max_by(|a, b| a.regret.total_cmp(&b.regret))?;
        let example = context
            .problem
            .examples
            .iter()
            .find(|example| example.row == worst.row)?;
        let text = Terms::of(drawing);
        let best = DecisionView {
            title: format!("Best {}", text.whole),
            shared: example.best.clone(),
            wrong: Vec::new(),
            missed: Vec::new(),
            regret: None,
        };
        let rival = rival(context, example);
        let others = [Some(reference), rival]
            .into_iter()
            .flatten()
            .filter_map(|method| DecisionView::of(method, example));
        let mut case = Self {
            example,
            views: std::iter::once(best).chain(others).collect(),
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
    fn story(&self, view: &DecisionView) -> String {
        let Terms {
            thing,
            whole,
            worth,
        } = self.text;
        let total = trimmed(self.objective(view));
        let Some(regret) = view.regret else {
            let (what, end) = if worth {
                ("Worth", "the most possible")
            } else {
                ("Costs", "the least possible")
            };
            return format!("{what} {total}, {end}.");
        };
        if view.wrong.is_empty() && view.missed.is_empty() {
            return format!("The best {whole} itself: no regret.");
        }
        let share = 100.0 * regret / self.example.objective.abs().max(f64::MIN_POSITIVE);
        let (regret, share) = (trimmed(regret), trimmed(share));
        let (wrong, missed) = (self.sum(&view.wrong), self.sum(&view.missed));
        let (wrong, missed) = (
            (pluralize(view.wrong.len(), thing), trimmed(wrong)),
            (pluralize(view.missed.len(), thing), trimmed(missed)),
        );
        if worth {
            let left = format!(
                "it leaves {} worth {} for {} worth {}",
                missed.0, missed.1, wrong.0, wrong.1
            );
            format!("Worth {total}, {regret} too little ({share} %): {left}.")
        } else {
            let taken = format!(
                "it takes {} that cost {} instead of {} that cost {}",
                wrong.0, wrong.1, missed.0, missed.1
            );
            format!("Costs {total}, {regret} too much ({share} %): {taken}.")
        }
    }

    fn objective(&self, view: &DecisionView) -> f64 {
        let regret = view.regret.unwrap_or(0.0);
        if self.text.worth {
            self.example.objective - regret
        } else {
            self.example.objective + regret
        }
    }

    /// Tooltip of an item.
    fn tip(&self, entry: u32, name: &str, role: &str) -> String {
        let noun = if self.text.worth { "value" } else { "cost" };
        format!("{name}\ntrue {noun} {}\n{role}", trimmed(self.cost(entry)))
    }
}

/// The best method besides the reference that has a decision for the row.
fn rival<'a>(context: &FigureContext<'a>, example: &Example) -> Option<&'a MethodResults> {
    let others = context
        .measured()
        .filter(|(_, method, _)| method.name != context.results.reference);
    let drawn =
        others.filter(|(_, method, _)| method.shown.iter().any(|shown| shown.row == example.row));
    drawn
        .min_by(|a, b| a.2.total_cmp(&b.2))
        .map(|(_, method, _)| method)
}

impl DecisionView {
    fn of(method: &MethodResults, example: &Example) -> Option<Self> {
        let shown = method.shown.iter().find(|shown| shown.row == example.row)?;
        let (chosen, best) = (&shown.chosen, &example.best);
        let (shared, wrong) = chosen.iter().partition(|entry| best.contains(entry));
        let missed = best
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
    let drawing = context.problem.drawing.as_ref()?;
    let case = ExampleInput::of(context, drawing)?;
    let svg = match drawing {
        DecisionLayout::Graph { places, depot } => {
            side_by_side(context, &case, graph::aspect(places), |svg, view, area| {
                graph::draw(svg, &case, view, places, *depot, area);
            })
        }
        DecisionLayout::Grid { rows, cols } => {
            side_by_side(context, &case, 1.0, |svg, view, area| {
                grid::draw(svg, &case, view, *rows, *cols, area);
            })
        }
        DecisionLayout::Items { weights, capacity } => {
            items::draw(context, &case, weights, capacity)
        }
    };
    Some((svg, caption(context, &case, drawing)))
}

/// One panel per decision, each with its description below.
fn side_by_side(
    context: &FigureContext<'_>,
    case: &ExampleInput<'_>,
    tall: f64,
    panel: impl Fn(&mut Svg, &DecisionView, Rect),
) -> Svg {
    let share = (WIDTH - 24.0) / case.views.len().max(2) as f64;
    let side = (share - 34.0).min(300.0);
    let mut svg = Svg::new(WIDTH, 94.0 + side * tall + 74.0);
    context.heading_with(&mut svg, "first seed");
    key(&mut svg, case);
    for (place, view) in case.views.iter().enumerate() {
        let left = 12.0 + share * place as f64;
        svg.text((left, 68.0), Anchor::Start, "strong", &view.title);
        panel(
            &mut svg,
            view,
            Rect::new(left + 8.0, 94.0, side, side * tall),
        );
        write_story(
            &mut svg,
            (left, 94.0 + side * tall + 28.0),
            &case.story(view),
            share - 18.0,
        );
    }
    svg
}

fn write_story(svg: &mut Svg, at: Point, text: &str, wide: f64) {
    let (left, top) = at;
    for (place, line) in lines(text, wide / 10.5).iter().enumerate() {
        svg.text(
            (left, top + 14.0 * place as f64),
            Anchor::Start,
            "small",
            line,
        );
    }
}

/// Legend of the colors.
fn key(svg: &mut Svg, case: &ExampleInput<'_>) {
    let thing = case.text.thing;
    let not = if case.text.whole.ends_with('s') {
        "do not"
    } else {
        "does not"
    };
    let extra = format!("{thing}s the best {} {not} have", case.text.whole);
    let lacking = format!("{thing}s it lacks");
    let shared = format!("{thing}s of the best {}", case.text.whole);
    key_row(
        svg,
        (12.0, 44.0),
        &[("ink", &shared), ("wrong", &extra), ("missed", &lacking)],
    );
}

/// Whether every difference is labeled with its cost.
fn all_written(case: &ExampleInput<'_>, drawing: &DecisionLayout) -> bool {
    match drawing {
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
    drawing: &DecisionLayout,
) -> String {
    let (reference, noun) = (
        &context.results.reference,
        if case.text.worth { "values" } else { "costs" },
    );
    format!(
        "One test row (row {} of the table, first seed): the one of the {} stored on which \
            {reference} has the largest regret. Every decision is optimal for predicted {noun}; \
            the true {noun} count. Where a decision differs from the optimal one, numbers are \
            true {noun}{}; their difference is the regret.",
        case.example.row,
        context.problem.examples.len(),
        if all_written(case, drawing) {
            ""
        } else {
            " (where there is space; on the page hover over others)"
        }
    )
}
