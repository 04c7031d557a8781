//! The best other decisions of a problem with quantities: those that differ in an integer column.
//!
//! Two quantities have others between them, so no decision is next to another one. The values of
//! the integer columns, their *pattern*, can be told apart: the list has the best decision of each
//! pattern, in order. Of several patterns with the same values in all columns of predicted cost,
//! such as a set-up that is paid and not used, only the best is listed.
//!
//! The patterns that are not listed yet are divided into parts, as in `ranking`, and the best
//! decision of each part is known. A part is divided by its best decision: where all other integer
//! columns are as they are, a row excludes the values of the binary columns; each other integer
//! column in turn is at least 1 smaller or larger. Binary columns alone thus take one solve for
//! each decision.

use super::choices::ChoiceSolver;
use super::restricted::{CompleteSolution, differ};
use crate::decision::Decision;
use crate::error::Result;
use crate::problem::{ColumnBounds, ExcludedPattern, Restriction};

/// Patterns with the quantities of a listed decision, one after the other, at which a list ends.
/// Untuned: identical machines have so many that their number says nothing.
const MAX_REPEATED_PATTERNS: usize = 20;

/// A part of the patterns, and the best of it.
struct PatternPart {
    restriction: Restriction,
    best: CompleteSolution,
}

/// Why a list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// There are no further patterns.
    NoFurther,
    /// The next decision takes more solves than the limit.
    Limit,
    /// Very many patterns have the quantities of listed decisions.
    Repeated,
}

/// Lists decisions in order.
pub(super) struct PatternRanking<'a> {
    solver: &'a ChoiceSolver<'a>,
    /// Columns with the values 0 and 1.
    binary: Vec<u32>,
    /// Other integer columns with several values.
    integer: Vec<u32>,
    parts: Vec<PatternPart>,
    /// The part of the last decision, which is divided before the next one is found.
    last: Option<PatternPart>,
    /// The decisions that were found, the explained one included.
    seen: Vec<Decision>,
    last_objective: f64,
    solved_parts: usize,
}

impl<'a> PatternRanking<'a> {
    /// All decisions except for the explained one.
    pub(super) fn new(solver: &'a ChoiceSolver<'a>) -> Self {
        let case = solver.case();
        let (mut binary, mut integer) = (Vec::new(), Vec::new());
        for (column, domain) in (0..).zip(&case.domains) {
            if domain.is_binary() {
                binary.push(column);
            } else if domain.is_choice() {
                integer.push(column);
            }
        }
        Self {
            solver,
            binary,
            integer,
            parts: Vec::new(),
            last: Some(PatternPart {
                restriction: Restriction::default(),
                best: CompleteSolution {
                    solution: case.solution.clone(),
                    complete: case.complete.clone(),
                },
            }),
            seen: vec![case.solution.decision.clone()],
            last_objective: case.solution.objective,
            solved_parts: 0,
        }
    }

    /// The next decision, or why there is none.
    ///
    /// # Errors
    /// When a solve fails or the user interrupts.
    pub(super) fn next(&mut self) -> Result<std::result::Result<CompleteSolution, ListEnd>> {
        for _ in 0..MAX_REPEATED_PATTERNS {
            let found = match self.next_of_parts()? {
                Ok(found) => found,
                Err(end) => return Ok(Err(end)),
            };
            let decision = &found.solution.decision;
            if !self.seen.iter().any(|seen| are_equal(seen, decision)) {
                self.seen.push(decision.clone());
                return Ok(Ok(found));
            }
        }
        Ok(Err(ListEnd::Repeated))
    }

    /// The best decision of all parts, whose part is the last one from then on.
    fn next_of_parts(&mut self) -> Result<std::result::Result<CompleteSolution, ListEnd>> {
        if let Some(part) = &self.last {
            let divided = self.divide(part);
            if self.solved_parts + divided.len() > self.solver.case().limit.solves {
                return Ok(Err(ListEnd::Limit));
            }
            self.solved_parts += divided.len();
            let found = self.solver.solve_restricted(&divided)?;
            self.last = None;
            for (restriction, best) in divided.into_iter().zip(found) {
                if let Some(best) = best {
                    self.parts.push(PatternPart { restriction, best });
                }
            }
        }
        // Ties go to the part that was found first.
        let parts = self.parts.iter().enumerate();
        let objective = |part: &PatternPart| part.best.solution.objective;
        let best = parts.min_by(|(_, a), (_, b)| objective(a).total_cmp(&objective(b)));
        let Some((place, _)) = best else {
            return Ok(Err(ListEnd::NoFurther));
        };
        let part = self.parts.remove(place);
        let found = part.best.clone();
        let tolerance = self.solver.case().price_tolerance();
        if found.solution.objective < self.last_objective - tolerance {
            return Err(self.solver.contradiction());
        }
        self.last_objective = found.solution.objective;
        self.last = Some(part);
        Ok(Ok(found))
    }

    /// Divides the patterns of a part other than that of its best decision.
    fn divide(&self, part: &PatternPart) -> Vec<Restriction> {
        let complete = &part.best.complete;
        let mut divided = Vec::new();
        let mut same = part.restriction.clone();
        for column in &self.integer {
            let (column, value) = (*column, complete.value(*column as usize));
            let [lower, upper] = self.bounds_of(column, &part.restriction);
            let below = (lower < value).then_some([lower, value - 1.0]);
            let above = (upper > value).then_some([value + 1.0, upper]);
            for bounds in [below, above].into_iter().flatten() {
                let mut other = same.clone();
                other.bounds.push(ColumnBounds { column, bounds });
                divided.push(other);
            }
            let bounds = [value, value];
            same.bounds.push(ColumnBounds { column, bounds });
        }
        if !self.binary.is_empty() {
            same.excluded
                .push(ExcludedPattern::of(&self.binary, complete));
            divided.push(same);
        }
        divided
    }

    /// The bounds of a column in a part.
    fn bounds_of(&self, column: u32, restriction: &Restriction) -> [f64; 2] {
        let mut bounds = self.solver.case().domains[column as usize].bounds;
        for narrower in &restriction.bounds {
            if narrower.column == column {
                bounds[0] = bounds[0].max(narrower.bounds[0]);
                bounds[1] = bounds[1].min(narrower.bounds[1]);
            }
        }
        bounds
    }
}

/// Whether two decisions have the same values, up to rounding.
fn are_equal(a: &Decision, b: &Decision) -> bool {
    let has_values = |of: &Decision, other: &Decision| {
        let mut entries = of.iter();
        entries.all(|(cost, value)| !differ(value, other.value(cost)))
    };
    has_values(a, b) && has_values(b, a)
}
