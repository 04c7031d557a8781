//! Decisions of a typical and of the worst row as tables, for problems that cannot be drawn: the
//! columns that a decision chooses and the optimal one does not, those it misses, and their costs.

use std::collections::BTreeMap;

use crate::experiment::{ExampleDecision, ExperimentResults, ProblemResults};

use super::tables::SCROLLING;
use crate::report::figure::examples::{ExampleCase, ExampleRow, entries};
use crate::report::text::{escaped, pluralize, trimmed};

/// Most rows of a table; the columns with the largest differences come first. Untuned: more are not
/// read.
const MAX_ROWS: usize = 24;

/// Differences of values and costs that are rounding errors of a solver.
const VALUE_TOLERANCE: f64 = 1e-6;

/// Both rows of every problem that has decisions and no drawing.
pub(super) fn tables(results: &ExperimentResults) -> String {
    let mut out = String::new();
    for (index, problem) in results.problems.iter().enumerate() {
        if problem.layout.is_some() {
            continue;
        }
        for row in [ExampleRow::Typical, ExampleRow::Worst] {
            if let Some(case) = ExampleCase::select(results, problem, row) {
                out += &DecisionTable::new(&case, problem, &results.reference).html(index, row);
            }
        }
    }
    out
}

/// The decisions of one row of the user's table.
struct DecisionTable<'a> {
    case: &'a ExampleCase<'a>,
    problem: &'a ProblemResults,
    reference: &'a str,
    /// Values by index, of the optimal decision and then of each method.
    values: Vec<BTreeMap<u32, f64>>,
    is_maximization: bool,
}

impl<'a> DecisionTable<'a> {
    fn new(case: &'a ExampleCase<'a>, problem: &'a ProblemResults, reference: &'a str) -> Self {
        let example = case.example;
        let mut values: Vec<BTreeMap<u32, f64>> = vec![
            entries(&example.optimal, &example.values)
                .into_iter()
                .collect(),
        ];
        for (_, decision) in &case.decisions {
            let chosen = entries(&decision.chosen, &decision.values);
            values.push(chosen.into_iter().collect());
        }
        for decision in &mut values {
            decision.retain(|entry, _| (*entry as usize) < example.costs.len());
        }
        Self {
            case,
            problem,
            reference,
            values,
            is_maximization: problem.sense.is_some_and(|sense| sense.is_maximize()),
        }
    }

    fn value(&self, decision: usize, entry: u32) -> f64 {
        self.values[decision].get(&entry).copied().unwrap_or(0.0)
    }

    fn cost(&self, entry: u32) -> f64 {
        f64::from(self.case.example.costs[entry as usize])
    }

    /// The largest difference of a decision's value from the optimal one.
    fn difference(&self, entry: u32) -> f64 {
        let optimal = self.value(0, entry);
        let differences = (1..self.values.len()).map(|index| self.value(index, entry) - optimal);
        differences.map(f64::abs).fold(0.0, f64::max)
    }

    /// The entries of all decisions: those that differ, by what the difference costs, and the
    /// number of the others.
    fn differing(&self) -> (Vec<u32>, usize) {
        let mut all: Vec<u32> = self
            .values
            .iter()
            .flat_map(BTreeMap::keys)
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        let total = all.len();
        all.retain(|entry| self.difference(*entry) > VALUE_TOLERANCE);
        let effect = |entry: u32| (self.difference(entry) * self.cost(entry)).abs();
        all.sort_by(|a, b| effect(*b).total_cmp(&effect(*a)));
        let shared = total - all.len();
        (all, shared)
    }

    fn name(&self, entry: u32) -> String {
        let name = self.problem.cost_names.get(entry as usize);
        name.map_or_else(|| format!("c{entry}"), Clone::clone)
    }

    fn html(&self, problem: usize, row: ExampleRow) -> String {
        let reference = escaped(self.reference);
        let (title, which) = match row {
            ExampleRow::Typical => ("A typical row", "the median"),
            ExampleRow::Worst => ("The worst row", "the largest"),
        };
        let (differing, shared) = self.differing();
        let mut text = format!(
            "{}: {which} regret of {reference} among {}.",
            escaped(&self.case.row_name()),
            self.case.candidates
        );
        if row == ExampleRow::Typical {
            let optimal = self.case.optimal_rows;
            text += &format!(" On {optimal} of them the decision under {reference} is optimal.");
        }
        let sentences: String = self
            .case
            .decisions
            .iter()
            .map(|(method, decision)| self.sentence(&method.name, decision))
            .collect();
        let table = if differing.is_empty() {
            String::new()
        } else {
            self.table(&differing, shared)
        };
        [
            format!("<div class=\"detail\" data-problem=\"{problem}\"><h3>{title}</h3>"),
            format!("<p class=\"faint\">{text}</p><ul class=\"sentences\">{sentences}</ul>{table}"),
            "</div>".to_string(),
        ]
        .concat()
    }

    /// What a decision loses, in a sentence.
    fn sentence(&self, method: &str, decision: &ExampleDecision) -> String {
        let (best, regret) = (self.case.example.objective, decision.regret);
        let name = escaped(method);
        let (verb, loss) = if self.is_maximization {
            ("is worth", "too little")
        } else {
            ("costs", "too much")
        };
        if regret.abs() <= VALUE_TOLERANCE * best.abs() {
            let best = trimmed(best);
            return format!(
                "<li>The decision under <b>{name}</b> is optimal: it {verb} {best}.</li>"
            );
        }
        let total = if self.is_maximization {
            best - regret
        } else {
            best + regret
        };
        let percent = 100.0 * regret / best.abs().max(f64::MIN_POSITIVE);
        let (total, best) = (trimmed(total), trimmed(best));
        let (regret, percent) = (trimmed(regret), trimmed(percent));
        format!(
            "<li>The decision under <b>{name}</b> {verb} {total}, the optimal one {best}: {regret} \
                {loss} ({percent}\u{a0}%).</li>"
        )
    }

    fn table(&self, differing: &[u32], shared: usize) -> String {
        let noun = if self.is_maximization {
            "value"
        } else {
            "cost"
        };
        let mut groups = "<th scope=\"col\" rowspan=\"2\">column</th>\
            <th scope=\"col\" rowspan=\"2\">optimal</th>"
            .to_string();
        groups += &format!("<th scope=\"col\" rowspan=\"2\">true {noun}</th>");
        let mut titles = String::new();
        for (method, _) in &self.case.decisions {
            let name = escaped(&method.name);
            groups += &format!("<th scope=\"colgroup\" colspan=\"2\">under {name}</th>");
            titles +=
                &format!("<th scope=\"col\">decision</th><th scope=\"col\">predicted {noun}</th>");
        }
        let shown = &differing[..differing.len().min(MAX_ROWS)];
        let mut rows: String = shown.iter().map(|entry| self.row(*entry)).collect();
        rows += &self.auxiliary_rows();
        rows += &self.fixed_row();
        let mut notes = Vec::new();
        if differing.len() > shown.len() {
            let hidden = differing.len() - shown.len();
            notes.push(format!("{} more differ.", pluralize(hidden, "column")));
        }
        if shared > 0 {
            notes.push(format!(
                "{} more, the same in all decisions, not shown.",
                pluralize(shared, "column")
            ));
        }
        notes.push("▲ more than in the optimal decision, ▽ less.".to_string());
        [
            format!("{SCROLLING}<table class=\"decisions\">"),
            format!("<thead><tr>{groups}</tr><tr>{titles}</tr></thead><tbody>{rows}</tbody>"),
            format!("</table></div><p class=\"faint\">{}</p>", notes.join(" ")),
        ]
        .concat()
    }

    /// A column with its values, and its true and predicted costs.
    fn row(&self, entry: u32) -> String {
        let optimal = self.value(0, entry);
        let mut cells = format!(
            "<th scope=\"row\">{}</th><td>{}</td><td>{}</td>",
            escaped(&self.name(entry)),
            amount(optimal),
            trimmed(self.cost(entry))
        );
        for (index, (_, decision)) in self.case.decisions.iter().enumerate() {
            let value = self.value(index + 1, entry);
            let mut predicted = decision.predicted.iter();
            let predicted = predicted.find(|(known, _)| *known == entry);
            let predicted = predicted.map(|(_, cost)| trimmed(f64::from(*cost)));
            cells += &compared_cell(value, optimal);
            cells += &format!("<td>{}</td>", predicted.unwrap_or_else(|| "–".into()));
        }
        format!("<tr>{cells}</tr>")
    }

    /// Columns without predicted costs in which decisions differ, if their values are known.
    fn auxiliary_rows(&self) -> String {
        let Some(optimal) = &self.case.example.auxiliary else {
            return String::new();
        };
        let value = |entries: &[(u32, f64)], column: u32| {
            let found = entries.iter().find(|(known, _)| *known == column);
            found.map_or(0.0, |(_, value)| *value)
        };
        let mut rows = String::new();
        for (column, name) in self.problem.auxiliary_names.iter().enumerate() {
            let best = value(optimal, column as u32);
            let values: Vec<f64> = self
                .case
                .decisions
                .iter()
                .map(|(_, decision)| value(&decision.auxiliary, column as u32))
                .collect();
            if values
                .iter()
                .all(|value| (value - best).abs() <= VALUE_TOLERANCE)
            {
                continue;
            }
            let (name, best_text) = (escaped(name), amount(best));
            rows += &format!("<tr><th scope=\"row\">{name}</th><td>{best_text}</td><td>known</td>");
            for value in values {
                rows += &compared_cell(value, best);
                rows += "<td>known</td>";
            }
            rows += "</tr>";
        }
        rows
    }

    /// Costs of the columns whose costs are known, if decisions differ in them.
    fn fixed_row(&self) -> String {
        let optimal = self.case.example.fixed;
        let fixed = self
            .case
            .decisions
            .iter()
            .map(|(_, decision)| decision.fixed);
        let mut cells = format!(
            "<th scope=\"row\">columns with known costs, in total</th><td></td><td>{}</td>",
            trimmed(optimal)
        );
        let mut differs = false;
        for cost in fixed {
            differs |= (cost - optimal).abs() > VALUE_TOLERANCE * optimal.abs().max(1.0);
            cells += &format!("<td></td><td>{}</td>", trimmed(cost));
        }
        if differs {
            format!("<tr class=\"total\">{cells}</tr>")
        } else {
            String::new()
        }
    }
}

/// A value of a decision, marked if it differs from the optimal one.
fn compared_cell(value: f64, optimal: f64) -> String {
    let (class, mark) = if value > optimal + VALUE_TOLERANCE {
        (" class=\"wrong\"", " ▲")
    } else if value < optimal - VALUE_TOLERANCE {
        (" class=\"missed\"", " ▽")
    } else {
        ("", "")
    };
    format!("<td{class}>{}{mark}</td>", amount(value))
}

/// A value of a decision; a dash for 0.
fn amount(value: f64) -> String {
    if value.abs() <= VALUE_TOLERANCE {
        "–".into()
    } else {
        trimmed(value)
    }
}
