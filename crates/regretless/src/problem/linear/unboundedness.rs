//! Why the objective of a linear problem is unbounded: columns that can change without limit in the
//! direction that their costs favor.

use super::LinearProblem;
use crate::problem::{ProblemKind, Sense};
use crate::text::first_names;

/// A direction of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnDirection {
    Up,
    Down,
}

impl ColumnDirection {
    /// The direction that lowers the objective; none if the cost is 0.
    fn favored_by(cost: f64) -> Option<Self> {
        if cost < 0.0 {
            Some(Self::Up)
        } else if cost > 0.0 {
            Some(Self::Down)
        } else {
            None
        }
    }

    /// The bound that ends it.
    fn bound_name(self) -> &'static str {
        match self {
            Self::Up => "upper",
            Self::Down => "lower",
        }
    }
}

impl LinearProblem {
    /// The columns that can change without limit under these minimized costs, as a sentence; `None`
    /// if every column has a bound on the side that its cost favors.
    pub(super) fn explain_unboundedness(&self, costs: &[f64]) -> Option<String> {
        let model = self.model();
        let mut all_costs = model.cost.clone();
        for (column, cost) in self.predicted().iter().zip(costs) {
            if !self.is_absent(*column) {
                all_costs[*column] = *cost;
            }
        }
        let open: Vec<(usize, ColumnDirection)> = all_costs
            .iter()
            .enumerate()
            .filter_map(|(column, cost)| Some((column, ColumnDirection::favored_by(*cost)?)))
            .filter(|(column, direction)| self.has_no_bound(*column, *direction))
            .collect();
        let blocked = self.blocked_directions();
        let alone = open.iter().find(|(column, direction)| {
            !blocked[*column][usize::from(*direction == ColumnDirection::Down)]
        });
        if let Some((column, direction)) = alone {
            let (name, bound) = (&model.column_names[*column], direction.bound_name());
            let cost = self.sense().convert(all_costs[*column]);
            return Some(format!(
                "column {name} has the cost {cost} and no {bound} bound"
            ));
        }
        let names: Vec<String> = open
            .iter()
            .map(|(column, _)| model.column_names[*column].clone())
            .collect();
        let which = match names.as_slice() {
            [] => return None,
            [only] => format!("{only}, which has no bound on the side that its cost favors"),
            several => format!(
                "one or more of {}, which have no bound on the side that their costs favor",
                first_names(several)
            ),
        };
        Some(format!(
            "columns can change together without limit, among them {which}"
        ))
    }

    /// Predicted columns that have no bound and that no row stops, as a sentence.
    pub(super) fn note_unbounded_columns(&self) -> Option<String> {
        let model = self.model();
        let blocked = self.blocked_directions();
        let mut sentences = Vec::new();
        for (direction, side) in [(ColumnDirection::Up, 0), (ColumnDirection::Down, 1)] {
            let names: Vec<String> = self
                .predicted()
                .iter()
                .filter(|column| !self.is_absent(**column) && !blocked[**column][side])
                .filter(|column| self.has_no_bound(**column, direction))
                .map(|column| model.column_names[*column].clone())
                .collect();
            if names.is_empty() {
                continue;
            }
            let grows = direction == ColumnDirection::Up;
            let sign = if grows == (self.sense() == Sense::Minimize) {
                "negative"
            } else {
                "positive"
            };
            let (word, has, them) = if names.len() == 1 {
                ("column", "has", "it")
            } else {
                ("columns", "have", "them")
            };
            let bound = direction.bound_name();
            sentences.push(format!(
                "{word} {} {has} no {bound} bound, and no row limits {them}: a {sign} predicted \
                 cost makes the objective unbounded, which ends the training; give {them} a bound \
                 in the model, or in a problem file: {bound} = {{ {} = ... }}",
                first_names(&names),
                toml_key(&names[0])
            ));
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    fn has_no_bound(&self, column: usize, direction: ColumnDirection) -> bool {
        let [lower, upper] = self.model().column_bounds[column];
        match direction {
            ColumnDirection::Up => upper == f64::INFINITY,
            ColumnDirection::Down => lower == f64::NEG_INFINITY,
        }
    }

    /// Whether some row limits the change of each column alone, up and down.
    fn blocked_directions(&self) -> Vec<[bool; 2]> {
        let model = self.model();
        let mut blocked = vec![[false; 2]; model.cost.len()];
        for (row, [lower, upper]) in model.row_bounds.iter().enumerate() {
            let (has_lower, has_upper) = (lower.is_finite(), upper.is_finite());
            for (column, entry) in model.rows.entries(row) {
                let [up, down] = &mut blocked[column];
                if entry > 0.0 {
                    *up |= has_upper;
                    *down |= has_lower;
                } else if entry < 0.0 {
                    *up |= has_lower;
                    *down |= has_upper;
                }
            }
        }
        blocked
    }
}

/// A name as a key of TOML: in quotes if it has other characters than letters, digits, `_` and `-`.
fn toml_key(name: &str) -> String {
    let is_bare = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        toml::Value::from(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::toml_key;
    use crate::problem::{LinearBuilder, ProblemKind, Sense, VariableDomain};

    const OPEN: VariableDomain = VariableDomain::Continuous([0.0, f64::INFINITY]);

    #[test]
    fn the_column_without_a_bound_is_named() {
        let mut build = LinearBuilder::new("covering", Sense::Minimize);
        let x = build.predicted("x", VariableDomain::Continuous([0.0, 3.0]));
        let y = build.predicted("y", OPEN);
        build.row([2.0, f64::INFINITY], [(x, 1.0), (y, 1.0)]);
        let problem = build.build().unwrap();
        assert_eq!(
            problem
                .capabilities()
                .failure_reasons
                .unboundedness(&[-1.0, -0.5])
                .as_deref(),
            Some("column y has the cost -0.5 and no upper bound")
        );
        assert_eq!(
            problem
                .capabilities()
                .failure_reasons
                .unboundedness(&[-1.0, 0.5]),
            None
        );
        let note = problem
            .capabilities()
            .failure_reasons
            .unboundedness_note()
            .unwrap();
        assert!(
            note.starts_with("column y has no upper bound, and no row limits it: a negative"),
            "{note}"
        );
        assert!(note.ends_with("upper = { y = ... }"), "{note}");
    }

    #[test]
    fn names_with_brackets_are_quoted_keys() {
        assert_eq!(toml_key("x_1"), "x_1");
        assert_eq!(toml_key("x[south]"), "\"x[south]\"");
    }

    #[test]
    fn rows_limit_columns_alone_but_not_together() {
        let mut build = LinearBuilder::new("difference", Sense::Maximize);
        let x = build.predicted("x", OPEN);
        let y = build.predicted("y", OPEN);
        build.row([-1.0, 1.0], [(x, 1.0), (y, -1.0)]);
        let problem = build.build().unwrap();
        // Costs of solvers are minimized: gains of 2 and 1.
        let reason = problem
            .capabilities()
            .failure_reasons
            .unboundedness(&[-2.0, -1.0])
            .unwrap();
        assert!(
            reason.contains("together") && reason.contains("x, y"),
            "{reason}"
        );
        assert_eq!(
            problem.capabilities().failure_reasons.unboundedness_note(),
            None
        );
    }
}
