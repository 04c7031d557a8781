//! Example decisions: the optimal one, that of the reference and that of the best method, on two
//! test rows: the one with the largest regret of the reference, and one with its median regret.
//!
//! What a decision shares with the optimal one is gray; what it adds and what it lacks are colored,
//! with their true costs: the difference of their sums is the regret.

mod graph;
mod grid;
mod items;
mod lanes;
mod panels;
mod sentences;
mod steps;

use panels::{Panels, panel_columns};
use sentences::{candidates, explanation, finding};

use std::collections::BTreeMap;

use crate::experiment::{
    DecisionLayout, Example, ExampleDecision, ExperimentResults, MethodResults, ProblemResults,
};

use super::{Drawing, FigureContext};
use crate::report::svg::Svg;
use crate::report::text::{pluralize, trimmed};

/// Height of a line of a description.
const LINE_HEIGHT: f64 = 14.0;

/// Which test row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExampleRow {
    /// The row with the median regret of the reference.
    Typical,
    /// The row with its largest regret.
    Worst,
}

/// A test row with the decisions that are shown of it.
pub(crate) struct ExampleCase<'a> {
    pub(crate) example: &'a Example,
    /// The reference, and the best other method if it has a decision for the row.
    pub(crate) decisions: Vec<(&'a MethodResults, &'a ExampleDecision)>,
    /// Rows from which it was selected, such as `75 of 150 test rows`.
    pub(crate) candidates: String,
    /// Number of these rows on which the decision of the reference is optimal.
    pub(crate) optimal_rows: usize,
}

impl<'a> ExampleCase<'a> {
    /// The typical or the worst row of a problem. There is no typical one if it is the same.
    pub(crate) fn select(
        results: &'a ExperimentResults,
        problem: &'a ProblemResults,
        row: ExampleRow,
    ) -> Option<Self> {
        let is_reference = |method: &&MethodResults| method.name == results.reference;
        let reference = problem.methods.iter().find(is_reference)?;
        let rows = problem.rows_by_regret(&results.reference);
        let worst = *rows.last()?;
        let shown_row = match row {
            ExampleRow::Worst => worst,
            ExampleRow::Typical => rows[(rows.len() - 1) / 2],
        };
        if row == ExampleRow::Typical && shown_row == worst {
            return None;
        }
        let decision_of = |row: usize| reference.examples.iter().find(|it| it.row == row);
        let decision = decision_of(shown_row)?;
        let mut examples = problem.examples.iter();
        let example = examples.find(|example| example.row == decision.row)?;
        let mut shown = vec![(reference, decision)];
        shown.extend(best_other_method(results, problem, decision.row));
        Some(Self {
            example,
            decisions: shown,
            candidates: candidates(rows.len(), problem.rows[2]),
            optimal_rows: rows
                .iter()
                .filter_map(|row| decision_of(*row))
                .filter(|decision| is_optimal(decision, problem))
                .count(),
        })
    }
}

impl ExampleCase<'_> {
    /// How a reader finds the row.
    pub(crate) fn row_name(&self) -> String {
        let (row, key) = (self.example.row, &self.example.key);
        if key.is_empty() {
            format!("Row {row} of the table, counted from 0")
        } else {
            format!("{key} (row {row} of the table, counted from 0)")
        }
    }
}

/// Whether a decision has no regret but rounding errors.
fn is_optimal(decision: &ExampleDecision, problem: &ProblemResults) -> bool {
    /// Regret relative to the objective up to which it is rounding error of single precision.
    const ROUNDING_TOLERANCE: f64 = 1e-6;
    let mut examples = problem.examples.iter();
    let example = examples.find(|example| example.row == decision.row);
    let objective = example.map_or(0.0, |example| example.objective.abs());
    decision.regret <= ROUNDING_TOLERANCE * objective
}

/// The method with the lowest ratio besides the reference that has a decision for the row, and this
/// decision.
fn best_other_method<'a>(
    results: &ExperimentResults,
    problem: &'a ProblemResults,
    row: usize,
) -> Option<(&'a MethodResults, &'a ExampleDecision)> {
    let others = problem
        .methods
        .iter()
        .filter(|method| method.name != results.reference);
    let with_decision = others.filter_map(|method| {
        let decision = method.examples.iter().find(|shown| shown.row == row)?;
        Some((method, decision))
    });
    let ratio = |method: &MethodResults| method.ratio.mean.unwrap_or(f64::INFINITY);
    with_decision.min_by(|(a, _), (b, _)| ratio(a).total_cmp(&ratio(b)))
}

/// A decision and its differences from the optimal one.
struct DecisionView {
    title: String,
    shared: Vec<u32>,
    wrong: Vec<u32>,
    missed: Vec<u32>,
    /// Its value minus that of the optimal decision, if they differ.
    differences: Vec<(u32, f64)>,
    /// Its values that are not 0.
    amounts: BTreeMap<u32, f64>,
    /// Its regret; none for the optimal decision.
    regret: Option<f64>,
}

/// Data of the figure.
struct ExampleInput<'a> {
    example: &'a Example,
    views: Vec<DecisionView>,
    text: Terms,
    cost_names: &'a [String],
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
    fn of(layout: &DecisionLayout, problem: &ProblemResults) -> Self {
        let (element, decision) = match layout {
            DecisionLayout::Graph { depot: true, .. } => ("edge", "routes"),
            DecisionLayout::Graph { arcs, .. } if !arcs.is_empty() => ("arc", "choice"),
            DecisionLayout::Graph { .. } => ("edge", "tour"),
            DecisionLayout::Grid { .. } => ("arc", "path"),
            DecisionLayout::Items { .. } => ("item", "choice"),
            DecisionLayout::Lanes { .. } => ("lane", "plan"),
            DecisionLayout::Steps => ("step", "schedule"),
        };
        // Results of earlier versions have no sense; items were knapsacks.
        let is_maximization = match problem.sense {
            Some(sense) => sense.is_maximize(),
            None => element == "item",
        };
        Self {
            element,
            decision,
            is_maximization,
        }
    }

    /// What an entry has: a value or a cost.
    fn cost(&self) -> &'static str {
        if self.is_maximization {
            "value"
        } else {
            "cost"
        }
    }
}

/// Entries of a decision by index; without values all are 1.
pub(crate) fn entries(indices: &[u32], values: &[f64]) -> Vec<(u32, f64)> {
    let value = |position: usize| values.get(position).copied().unwrap_or(1.0);
    let entries = indices.iter().enumerate();
    entries
        .map(|(position, entry)| (*entry, value(position)))
        .collect()
}

impl<'a> ExampleInput<'a> {
    fn of(case: &ExampleCase<'a>, layout: &DecisionLayout, problem: &'a ProblemResults) -> Self {
        let (example, text) = (case.example, Terms::of(layout, problem));
        let known = |entry: &u32| (*entry as usize) < example.costs.len();
        let optimal = DecisionView {
            title: format!("Optimal {}", text.decision),
            shared: example.optimal.iter().copied().filter(known).collect(),
            wrong: Vec::new(),
            missed: Vec::new(),
            differences: Vec::new(),
            amounts: entries(&example.optimal, &example.values)
                .into_iter()
                .collect(),
            regret: None,
        };
        let mut views = vec![optimal];
        for (method, decision) in &case.decisions {
            views.push(DecisionView::of(method, decision, example));
        }
        Self {
            example,
            views,
            text,
            cost_names: &problem.cost_names,
        }
    }

    fn cost(&self, entry: u32) -> f64 {
        f64::from(self.example.costs[entry as usize])
    }

    /// The cost of the entries of one list by which a decision differs from the optimal one.
    fn cost_of_difference(&self, view: &DecisionView, list: &[u32]) -> f64 {
        let differences = view.differences.iter();
        differences
            .filter(|(entry, _)| list.contains(entry))
            .map(|(entry, difference)| difference.abs() * self.cost(*entry))
            .sum()
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
        let list = |entries: &[u32]| {
            (
                pluralize(entries.len(), element),
                trimmed(self.cost_of_difference(view, entries)),
            )
        };
        let (wrong, missed) = (list(&view.wrong), list(&view.missed));
        if element == "step" {
            // Amounts of steps are no choices that could be counted.
            let loss = if is_maximization {
                "too little"
            } else {
                "too much"
            };
            return format!("{total} in all: {regret} {loss} ({percent}\u{a0}%).");
        }
        if element == "lane" {
            let (loss, verb) = if is_maximization {
                ("too little", "is worth")
            } else {
                ("too much", "costs")
            };
            return format!(
                "{total} in all, {regret} {loss} ({percent}\u{a0}%): what it ships more, on {}, \
                    {verb} {}; what it ships less, on {}, {verb} {}.",
                wrong.0, wrong.1, missed.0, missed.1
            );
        }
        if is_maximization {
            let left = format!(
                "it leaves {} worth {} for {} worth {}",
                missed.0, missed.1, wrong.0, wrong.1
            );
            format!("Worth {total}, {regret} too little ({percent}\u{a0}%): {left}.")
        } else {
            let taken = format!(
                "it takes {} that cost {} instead of {} that cost {}",
                wrong.0, wrong.1, missed.0, missed.1
            );
            format!("Costs {total}, {regret} too much ({percent}\u{a0}%): {taken}.")
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

    /// The name of an entry's column, if costs have names, or else what it is.
    fn name(&self, entry: u32, otherwise: &str) -> String {
        let name = self.cost_names.get(entry as usize);
        name.map_or_else(|| otherwise.to_string(), Clone::clone)
    }

    /// Tooltip of an item.
    fn tip(&self, entry: u32, name: &str, role: &str) -> String {
        let (name, noun) = (self.name(entry, name), self.text.cost());
        format!("{name}\ntrue {noun} {}\n{role}", trimmed(self.cost(entry)))
    }
}

impl DecisionView {
    fn of(method: &MethodResults, decision: &ExampleDecision, example: &Example) -> Self {
        /// Difference of values that is rounding error of a solver.
        const VALUE_TOLERANCE: f64 = 1e-6;
        let optimal = entries(&example.optimal, &example.values);
        let chosen = entries(&decision.chosen, &decision.values);
        let value = |entries: &[(u32, f64)], entry: u32| {
            let found = entries.iter().find(|(known, _)| *known == entry);
            found.map_or(0.0, |(_, value)| *value)
        };
        let mut all: Vec<u32> = [&decision.chosen[..], &example.optimal[..]].concat();
        all.sort_unstable();
        all.dedup();
        all.retain(|entry| (*entry as usize) < example.costs.len());
        let mut view = Self {
            title: format!("Under {}", method.name),
            shared: Vec::new(),
            wrong: Vec::new(),
            missed: Vec::new(),
            differences: Vec::new(),
            amounts: chosen.iter().copied().collect(),
            regret: Some(decision.regret),
        };
        for entry in all {
            let difference = value(&chosen, entry) - value(&optimal, entry);
            let list = if difference > VALUE_TOLERANCE {
                &mut view.wrong
            } else if difference < -VALUE_TOLERANCE {
                &mut view.missed
            } else {
                &mut view.shared
            };
            list.push(entry);
            if difference.abs() > VALUE_TOLERANCE {
                view.differences.push((entry, difference));
            }
        }
        view
    }
}

pub(super) fn draw(context: &FigureContext<'_>, row: ExampleRow) -> Option<Drawing> {
    let layout = context.problem.layout.as_ref()?;
    let case = ExampleCase::select(context.results, context.problem, row)?;
    let input = ExampleInput::of(&case, layout, context.problem);
    let mut svg = Svg::new(context.width);
    let top = context.heading_with(&mut svg, &row_name(context, row));
    let top = draw_colors(&mut svg, context, &input, top);
    let svg = match layout {
        DecisionLayout::Graph { positions, .. } => {
            let panels = Panels {
                columns: panel_columns(context, positions.len()),
                aspect: graph::aspect(positions),
                top,
            };
            panels.draw(svg, context, &input, |svg, view, area| {
                graph::draw(svg, &input, view, layout, area);
            })
        }
        DecisionLayout::Grid { rows, cols } => {
            let panels = Panels {
                columns: panel_columns(context, rows * cols),
                aspect: 1.0,
                top,
            };
            panels.draw(svg, context, &input, |svg, view, area| {
                grid::draw(svg, &input, view, *rows, *cols, area);
            })
        }
        DecisionLayout::Items { weights, capacity } => {
            let weights = items::Weights { weights, capacity };
            items::draw(svg, context, &input, &weights, top)
        }
        DecisionLayout::Lanes {
            sources,
            destinations,
        } => {
            let lanes = lanes::Lanes::new(&input, sources, destinations);
            let panels = Panels {
                columns: if context.is_narrow() {
                    1
                } else {
                    lanes.columns(context.width)
                },
                aspect: lanes.aspect(),
                top,
            };
            panels.draw(svg, context, &input, |svg, view, area| {
                lanes.draw(svg, &input, view, area);
            })
        }
        DecisionLayout::Steps => steps::draw(svg, context, &input, top),
    };
    Some(Drawing {
        svg,
        explanation: explanation(context, layout),
        finding: finding(context, &case, row),
    })
}

fn row_name(context: &FigureContext<'_>, row: ExampleRow) -> String {
    let name = match row {
        ExampleRow::Typical => "a typical row",
        ExampleRow::Worst => "the worst row",
    };
    match context.problem.seeds {
        1 => name.into(),
        _ => format!("{name} · first seed"),
    }
}

/// Legend of the colors; returns the height below it.
fn draw_colors(
    svg: &mut Svg,
    context: &FigureContext<'_>,
    input: &ExampleInput<'_>,
    top: f64,
) -> f64 {
    let element = input.text.element;
    let amounts = match element {
        "step" => Some([
            ("text-color", "amount as in the optimal schedule"),
            ("wrong", "another amount"),
            ("missed", "the optimal amount instead (dashed)"),
        ]),
        "lane" => Some([
            ("text-color", "amount as in the optimal plan"),
            ("wrong", "more than that"),
            ("missed", "what is missing (dashed)"),
        ]),
        _ => None,
    };
    if let Some(entries) = amounts {
        return super::draw_legend(svg, 12.0, top, context.width - 8.0, &entries);
    }
    let shared = format!("{element}s of the optimal {}", input.text.decision);
    let extra = format!("{element}s it does not have");
    let lacking = format!("{element}s that are missing");
    let entries = [
        ("text-color", shared.as_str()),
        ("wrong", &extra),
        ("missed", &lacking),
    ];
    super::draw_legend(svg, 12.0, top, context.width - 8.0, &entries)
}
