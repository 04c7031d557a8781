//! Notes about a custom solver that is said to be exact, but whose decisions are not optimal or
//! whose objective has terms that it does not return.

use super::{Note, NoteKind};
use crate::label::LabeledDataset;
use crate::oracle::Oracle;
use crate::problem::ProblemKind;
use crate::sense::Sense;

/// Relative regret below 0 that is more than rounding of objectives.
const NEGATIVE_REGRET_TOLERANCE: f64 = 1e-6;
/// Share of negative regrets among all that are not 0, or of better labels of other rows among all
/// that are not equal, from which on the sense of the problem is questioned. Untuned: a heuristic,
/// and a function with further terms, has both.
const MIN_WRONG_SENSE_RATIO: f64 = 0.9;

impl Note {
    /// When decisions of the user's solver under predicted costs are better than the labels that it
    /// found, though it is said to be exact. `rows` are those of the regrets.
    pub fn of_regrets(
        regrets: &[f64],
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
    ) -> Option<Self> {
        let text = negative_regret_text(regrets, data, rows, oracle)?;
        Some(Self::new(NoteKind::NegativeRegret, text))
    }

    /// When a label of a solver that is said to be exact is worse, by the row's own costs, than
    /// that of another row.
    pub fn of_worse_labels(data: &LabeledDataset, oracle: &Oracle) -> Option<Self> {
        let not_optimal = not_optimal(oracle.problem().as_ref())?;
        let compared = data.compare_labels(oracle);
        let [row, other] = compared.worse_rows.first()?;
        let mut text = format!(
            "in {} of {} compared rows, costs times decision is better for the decision of another \
             row (in row {row} for that of row {other}): {not_optimal}",
            compared.worse_rows.len(),
            compared.rows
        );
        if is_sense_doubtful(compared.better_pairs, compared.worse_pairs) {
            text += &format!(
                "; hardly any decision of another row is worse: {}",
                question_of_sense(data.sense())
            );
        }
        text += remark_on_known_costs(data, &data.rows());
        Some(Self::new(NoteKind::WorseLabels, text))
    }
}

/// What negative regret, and a label that is worse than that of another row, say of the user's
/// solver; none for solvers of our own and for heuristics.
fn not_optimal(problem: &dyn ProblemKind) -> Option<String> {
    let remedy = problem.solver_traits().heuristic_remedy()?;
    Some(format!(
        "either the function is not optimal there ({remedy}), or its objective has terms besides \
         costs times decision, such as quadratic or fixed ones (then return the pair (decision, \
         objective), or regret leaves them out)"
    ))
}

/// The text of [`Note::of_regrets`]; none if [`Note::of_worse_labels`] is, which has the same
/// cause.
pub(super) fn negative_regret_text(
    regrets: &[f64],
    data: &LabeledDataset,
    rows: &[usize],
    oracle: &Oracle,
) -> Option<String> {
    let problem = oracle.problem().as_ref();
    let signs = RegretSigns::count(regrets, data, rows, problem);
    let mut text = negative_regret_sentence(signs.negative, problem)?;
    if Note::of_worse_labels(data, oracle).is_some() {
        return None;
    }
    if is_sense_doubtful(signs.negative, signs.positive) {
        text += &format!(
            "; hardly any row has positive regret: {}",
            question_of_sense(data.sense())
        );
    }
    text += remark_on_known_costs(data, rows);
    Some(text)
}

/// The sentence for a number of rows with negative regret; none without such rows or for solvers of
/// our own.
pub fn negative_regret_sentence(rows: usize, problem: &dyn ProblemKind) -> Option<String> {
    let not_optimal = not_optimal(problem)?;
    let subject = match rows {
        0 => return None,
        1 => "row has",
        _ => "rows have",
    };
    Some(format!("{rows} {subject} negative regret: {not_optimal}"))
}

/// How many rows have negative regret, although the user's solver is said to be exact.
pub fn negative_regrets(
    regrets: &[f64],
    data: &LabeledDataset,
    rows: &[usize],
    problem: &dyn ProblemKind,
) -> usize {
    RegretSigns::count(regrets, data, rows, problem).negative
}

/// Whether a solver is wrong nearly as often as one of the other sense.
fn is_sense_doubtful(wrong: usize, right: usize) -> bool {
    wrong as f64 >= MIN_WRONG_SENSE_RATIO * (wrong + right) as f64
}

fn question_of_sense(sense: Sense) -> String {
    let [verb, other] = match sense {
        Sense::Minimize => ["minimize", "maximize"],
        Sense::Maximize => ["maximize", "minimize"],
    };
    format!("does the function really {verb}, or is the sense \"{other}\"?")
}

/// What else may be wrong with a function that returns pairs of decision and objective.
fn remark_on_known_costs(data: &LabeledDataset, rows: &[usize]) -> &'static str {
    let has_known_costs = |row: &usize| data.solution(*row).decision.fixed() != 0.0;
    if !rows.iter().any(has_known_costs) {
        return "";
    }
    "; it returns objectives that are more than costs times decision: the difference may depend on \
     the decision and the row's parameters, not on the costs"
}

/// Rows with regrets that are not 0 but for rounding; none for solvers of our own.
#[derive(Default)]
struct RegretSigns {
    negative: usize,
    positive: usize,
}

impl RegretSigns {
    fn count(
        regrets: &[f64],
        data: &LabeledDataset,
        rows: &[usize],
        problem: &dyn ProblemKind,
    ) -> Self {
        let mut signs = Self::default();
        if problem.solver_traits().heuristic_remedy().is_none() {
            return signs;
        }
        for (regret, row) in regrets.iter().zip(rows) {
            // Not a quotient, which an objective of 0 does not have.
            let tolerance = NEGATIVE_REGRET_TOLERANCE * data.optimal_objective(*row).abs();
            signs.negative += usize::from(*regret < -tolerance);
            signs.positive += usize::from(*regret > tolerance);
        }
        signs
    }
}
