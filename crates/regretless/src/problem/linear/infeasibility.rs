//! Why a linear problem has no solution: constraints that cannot hold together, none of which can
//! be left out (an irreducible infeasible subset, van Loon 1981).
//!
//! A constraint is a row, or the bounds of a column. Prefixes of the list of constraints are tested
//! by bisection: where an infeasible prefix becomes feasible without its last constraint, that one
//! is in every conflict of the prefix. Each constraint of the conflict takes a logarithmic number
//! of linear programs. Rows come before bounds, so bounds are named only if rows need them.

use super::LinearProblem;
use crate::solve::SolveFailure;
use crate::solve::highs::{LinearModel, Lp, LpStatus};

/// Most linear programs: enough for 20 constraints of 10,000. A larger conflict is not reduced
/// further.
const MAX_CHECKS: usize = 300;
/// Most entries, rows and columns of a model times linear programs, which bounds the time to
/// seconds. Untuned.
const MAX_CHECKED_SIZE: usize = 30_000_000;
/// Most names in the sentence. Untuned: keeps messages short.
const MAX_NAMES: usize = 8;

/// A constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Constraint {
    Row(usize),
    /// The bounds of a column.
    Bounds(usize),
}

/// Constraints that cannot hold together.
#[derive(Debug, PartialEq)]
struct Conflict {
    constraints: Vec<Constraint>,
    /// Whether the rest can hold together if any one of them is left out.
    is_irreducible: bool,
}

impl LinearProblem {
    /// Why no point is feasible, as a sentence; `None` if that cannot be found out.
    pub(super) fn explain_infeasibility(&self) -> Option<String> {
        let model = self.model();
        if let Some(column) = model.column_bounds.iter().position(is_empty_range) {
            let ([lower, upper], name) = (model.column_bounds[column], &model.column_names[column]);
            return Some(format!(
                "the bounds of column {name}, {lower} to {upper}, contain no number"
            ));
        }
        if let Some(row) = model.row_bounds.iter().position(is_empty_range) {
            let ([lower, upper], name) = (model.row_bounds[row], &model.row_names[row]);
            return Some(format!(
                "the bounds of row {name}, {lower} to {upper}, contain no number"
            ));
        }
        match Search::new(model).ok()?.run().ok()? {
            Some(conflict) => Some(self.describe(&conflict)),
            None if model.integer.contains(&true) => Some(
                "the constraints do not conflict, but no point that satisfies them is integer"
                    .into(),
            ),
            None => None,
        }
    }

    fn describe(&self, conflict: &Conflict) -> String {
        let model = self.model();
        let (mut rows, mut bounds, mut absences) = (Vec::new(), Vec::new(), Vec::new());
        for constraint in &conflict.constraints {
            match constraint {
                Constraint::Row(row) => rows.push(model.row_names[*row].clone()),
                Constraint::Bounds(column) => {
                    let name = model.column_names[*column].clone();
                    if self.is_absent(*column) {
                        absences.push(name);
                    } else {
                        bounds.push(name);
                    }
                }
            }
        }
        let mut names = rows;
        let groups = [("the bounds of ", bounds), ("the absence of ", absences)];
        for (prefix, group) in groups {
            let starts = std::iter::once(prefix).chain(std::iter::repeat(""));
            names.extend(
                starts
                    .zip(group)
                    .map(|(start, name)| start.to_string() + &name),
            );
        }
        let sentence = match names.as_slice() {
            [only] => format!("{only} cannot be satisfied"),
            _ => format!("{} cannot hold together", enumeration(&names)),
        };
        if conflict.is_irreducible {
            sentence
        } else {
            sentence + " (not reduced further)"
        }
    }
}

fn is_empty_range(bounds: &[f64; 2]) -> bool {
    bounds[0] > bounds[1]
}

/// `a, b and c`, or `a, b and 7 others`.
fn enumeration(names: &[String]) -> String {
    if names.len() > MAX_NAMES {
        let others = names.len() - MAX_NAMES;
        return format!("{} and {others} others", names[..MAX_NAMES].join(", "));
    }
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The search for a conflict of the linear relaxation.
struct Search<'a> {
    model: &'a LinearModel,
    /// Without costs; constraints that are not tested have infinite bounds.
    lp: Lp,
    /// Whether each row, then each column, has its bounds in the LP.
    is_active: Vec<bool>,
    /// Linear programs that may still be solved.
    checks: usize,
}

impl<'a> Search<'a> {
    fn new(model: &'a LinearModel) -> Result<Self, SolveFailure> {
        let mut without_costs = model.clone();
        without_costs.cost.fill(0.0);
        without_costs.integer.fill(false);
        let constraints = model.row_bounds.len() + model.column_bounds.len();
        let lp = Lp::from_model(&without_costs)?;
        let size = lp.num_entries() + constraints;
        Ok(Self {
            model,
            is_active: vec![true; constraints],
            checks: MAX_CHECKS.min(MAX_CHECKED_SIZE / size.max(1)),
            lp,
        })
    }

    /// The conflict; `None` if the constraints can hold together.
    fn run(&mut self) -> Result<Option<Conflict>, SolveFailure> {
        let rows = (0..self.model.row_bounds.len()).map(Constraint::Row);
        let bounds = (0..self.model.column_bounds.len()).map(Constraint::Bounds);
        let mut remaining: Vec<Constraint> = rows.chain(bounds).collect();
        let mut conflict = Vec::new();
        if self.is_feasible(&conflict, &remaining)? {
            return Ok(None);
        }
        while self.is_feasible(&conflict, &[])? {
            // The prefix of `feasible` constraints is feasible, that of `infeasible` is not.
            let (mut feasible, mut infeasible) = (0, remaining.len());
            while infeasible - feasible > 1 {
                if self.checks == 0 {
                    conflict.extend_from_slice(&remaining[..infeasible]);
                    conflict.sort_unstable();
                    return Ok(Some(Conflict {
                        constraints: conflict,
                        is_irreducible: false,
                    }));
                }
                let middle = usize::midpoint(feasible, infeasible);
                if self.is_feasible(&conflict, &remaining[..middle])? {
                    feasible = middle;
                } else {
                    infeasible = middle;
                }
            }
            conflict.push(remaining[infeasible - 1]);
            remaining.truncate(infeasible - 1);
        }
        conflict.sort_unstable();
        Ok(Some(Conflict {
            constraints: conflict,
            is_irreducible: true,
        }))
    }

    /// Whether these constraints can hold together.
    fn is_feasible(
        &mut self,
        conflict: &[Constraint],
        prefix: &[Constraint],
    ) -> Result<bool, SolveFailure> {
        self.checks = self.checks.saturating_sub(1);
        let rows = self.model.row_bounds.len();
        let mut is_active = vec![false; self.is_active.len()];
        for constraint in conflict.iter().chain(prefix) {
            is_active[match constraint {
                Constraint::Row(row) => *row,
                Constraint::Bounds(column) => rows + column,
            }] = true;
        }
        for (number, active) in is_active.iter().enumerate() {
            if *active == self.is_active[number] {
                continue;
            }
            let free = [f64::NEG_INFINITY, f64::INFINITY];
            match number.checked_sub(rows) {
                None => {
                    let bounds = self.model.row_bounds[number];
                    self.lp
                        .set_row_bounds(number, if *active { bounds } else { free })?;
                }
                Some(column) => {
                    let bounds = self.model.column_bounds[column];
                    self.lp
                        .set_column_bounds(column, if *active { bounds } else { free })?;
                }
            }
        }
        self.is_active = is_active;
        self.lp.reset_basis_and_solution()?;
        Ok(self.lp.solve()? != LpStatus::Infeasible)
    }
}

#[cfg(test)]
mod tests {
    use super::{Constraint, Search};
    use crate::problem::{LinearBuilder, ProblemKind, Sense, VariableDomain};
    use crate::random::{Purpose, RandomStream};
    use crate::solve::highs::{LinearModel, Lp, LpStatus};

    /// Whether the given constraints alone can hold together, by a model that has no others.
    fn can_hold(model: &LinearModel, constraints: &[Constraint]) -> bool {
        let mut alone = model.clone();
        alone.integer.fill(false);
        for (row, bounds) in alone.row_bounds.iter_mut().enumerate() {
            if !constraints.contains(&Constraint::Row(row)) {
                *bounds = [f64::NEG_INFINITY, f64::INFINITY];
            }
        }
        for (column, bounds) in alone.column_bounds.iter_mut().enumerate() {
            if !constraints.contains(&Constraint::Bounds(column)) {
                *bounds = [f64::NEG_INFINITY, f64::INFINITY];
            }
        }
        Lp::from_model(&alone).unwrap().solve().unwrap() == LpStatus::Optimal
    }

    #[test]
    fn conflicts_are_infeasible_and_no_constraint_can_be_left_out() {
        let (mut conflicts, mut largest) = (0, 0);
        for case in 0..200 {
            let mut stream = RandomStream::new(Purpose::Benchmark, 191, [case, 0]);
            let columns = 2 + stream.index_below(5);
            let mut build = LinearBuilder::new("random", Sense::Minimize);
            for column in 0..columns {
                let lower = stream.index_below(3) as f64 - 1.0;
                let bounds = [lower, lower + stream.index_below(4) as f64];
                build.predicted(format!("x{column}"), VariableDomain::Continuous(bounds));
            }
            for _ in 0..2 + stream.index_below(7) {
                let entries: Vec<(usize, f64)> = (0..columns)
                    .filter(|_| stream.index_below(2) == 0)
                    .map(|column| (column, 1.0 + column as f64))
                    .collect();
                let side = stream.index_below(25) as f64 - 8.0;
                let bounds = match stream.index_below(3) {
                    0 => [side, side],
                    1 => [side, f64::INFINITY],
                    _ => [f64::NEG_INFINITY, side],
                };
                build.row(bounds, entries);
            }
            let problem = build.build().unwrap();
            let model = problem.model();
            let all: Vec<Constraint> = (0..model.row_bounds.len())
                .map(Constraint::Row)
                .chain((0..columns).map(Constraint::Bounds))
                .collect();
            let found = Search::new(model).unwrap().run().unwrap();
            assert_eq!(found.is_none(), can_hold(model, &all), "case {case}");
            let Some(conflict) = found else { continue };
            assert!(conflict.is_irreducible);
            assert!(!can_hold(model, &conflict.constraints), "case {case}");
            for left_out in &conflict.constraints {
                let mut rest = conflict.constraints.clone();
                rest.retain(|constraint| constraint != left_out);
                assert!(can_hold(model, &rest), "case {case}: without {left_out:?}");
            }
            conflicts += 1;
            largest = largest.max(conflict.constraints.len());
        }
        assert!(
            conflicts > 50 && largest > 3,
            "{conflicts} conflicts, the largest of {largest}"
        );
    }

    #[test]
    fn a_search_at_its_limit_returns_a_larger_conflict() {
        let mut build = LinearBuilder::new("limit", Sense::Minimize);
        let free = VariableDomain::Continuous([f64::NEG_INFINITY, f64::INFINITY]);
        let x = build.predicted("x", free);
        for row in 0..20 {
            let bounds = if row == 3 {
                [f64::NEG_INFINITY, 0.0]
            } else {
                [f64::from(row), f64::INFINITY]
            };
            build.row(bounds, [(x, 1.0)]);
        }
        let problem = build.build().unwrap();
        let mut search = Search::new(problem.model()).unwrap();
        search.checks = 4;
        let conflict = search.run().unwrap().unwrap();
        assert!(!conflict.is_irreducible && conflict.constraints.len() > 2);
        assert!(!can_hold(problem.model(), &conflict.constraints));
        assert!(
            problem
                .describe(&conflict)
                .ends_with("(not reduced further)")
        );
        let conflict = Search::new(problem.model())
            .unwrap()
            .run()
            .unwrap()
            .unwrap();
        assert_eq!(
            conflict.constraints,
            [Constraint::Row(1), Constraint::Row(3)].to_vec()
        );
    }

    fn sentence_of(build: LinearBuilder) -> Option<String> {
        let problem = build.build().unwrap();
        problem.capabilities().failure_reasons.infeasibility()
    }

    #[test]
    fn sentences_name_rows_bounds_and_integrality() {
        let mut build = LinearBuilder::new("sentence", Sense::Minimize);
        let x = build.predicted("x", VariableDomain::Continuous([0.0, 4.0]));
        let y = build.predicted("y", VariableDomain::Continuous([0.0, 4.0]));
        build.row([9.0, f64::INFINITY], [(x, 1.0), (y, 1.0)]);
        let sentence = sentence_of(build);
        assert_eq!(
            sentence.as_deref(),
            Some("r0, the bounds of x and y cannot hold together")
        );

        let mut build = LinearBuilder::new("integer", Sense::Minimize);
        let x = build.predicted("x", VariableDomain::Integer([0.0, 4.0]));
        build.row([3.0, 3.0], [(x, 2.0)]);
        let sentence = sentence_of(build).unwrap();
        assert!(sentence.contains("do not conflict"), "{sentence}");

        let mut build = LinearBuilder::new("many", Sense::Minimize);
        for column in 0..12 {
            build.predicted(format!("x{column}"), VariableDomain::Binary);
        }
        build.row([13.0, f64::INFINITY], (0..12).map(|column| (column, 1.0)));
        let sentence = sentence_of(build).unwrap();
        assert!(
            sentence.starts_with("r0, the bounds of x0, x1") && sentence.contains("and 5 others"),
            "{sentence}"
        );
    }
}
