//! Notes about the outcome of a training.

use super::{Note, NoteKind, add};
use crate::baseline::Baseline;
use crate::evaluate::Evaluation;
use crate::label::LabeledDataset;
use crate::problem::ProblemKind;
use crate::report::SearchReport;
use crate::sense::Sense;
use crate::train::{FitResult, TrainingContext};
use crate::trainer::{Trainer, TrainingOutcome};

/// Relative regret below 0 that is more than rounding of objectives.
const NEGATIVE_REGRET_TOLERANCE: f64 = 1e-6;
/// Share of negative regrets among all that are not 0 from which on the sense of the problem is
/// questioned. Untuned: a heuristic has regrets of both signs.
const MIN_WRONG_SENSE_RATIO: f64 = 0.9;

/// A training that has ended.
#[derive(Clone, Copy)]
pub struct FinishedTraining<'a> {
    /// What was trained, and how.
    pub trainer: &'a Trainer,
    /// The model and the report of its training.
    pub fit: &'a FitResult,
    /// Its evaluation; none where only a model was wanted.
    pub outcome: Option<&'a TrainingOutcome>,
    /// The rows that it had, and the solver.
    pub context: &'a TrainingContext<'a>,
    /// What the user calls the number of epochs.
    pub epochs_setting: &'a str,
}

impl FinishedTraining<'_> {
    /// What the user should know about its outcome.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        add(&mut notes, NoteKind::Epochs, self.epochs());
        add(&mut notes, NoteKind::Auto, self.auto());
        add(&mut notes, NoteKind::FewTestRows, self.few_test_rows());
        add(&mut notes, NoteKind::ZeroObjectives, self.zero_objectives());
        add(
            &mut notes,
            NoteKind::NegativeRegret,
            self.negative_regrets(),
        );
        for baseline in Baseline::ALL {
            let text = self.better_baseline(baseline);
            add(&mut notes, NoteKind::BetterBaseline(baseline), text);
        }
        notes
    }

    fn test_evaluation(&self) -> Option<&Evaluation> {
        self.outcome?.test.as_ref()
    }

    fn epochs(&self) -> Option<String> {
        self.trainer
            .epoch_remark(&self.fit.report, self.epochs_setting)
    }

    fn auto(&self) -> Option<String> {
        self.fit.search.as_ref().and_then(SearchReport::note)
    }

    fn few_test_rows(&self) -> Option<String> {
        Evaluation::few_rows_warning("test", self.test_evaluation()?.instances)
    }

    fn zero_objectives(&self) -> Option<String> {
        self.test_evaluation()?.normalized_regret.is_nan().then(|| {
            "the best objective of every test row is 0, so that regret cannot be divided by it; is \
             the problem to be minimized or maximized?"
                .into()
        })
    }

    fn negative_regrets(&self) -> Option<String> {
        let TrainingContext {
            data,
            split,
            oracle,
            ..
        } = *self.context;
        let regrets = &self.test_evaluation()?.regrets;
        negative_regret_text(regrets, data, &split.test, oracle.problem().as_ref())
    }

    /// Least squares, the training mean and the previous row, where they decide better.
    fn better_baseline(&self, baseline: Baseline) -> Option<String> {
        let outcome = self.outcome?;
        let better = outcome.better_baseline(baseline)?;
        let model = outcome.test.as_ref()?;
        let percent = |evaluation: &Evaluation| 100.0 * evaluation.normalized_regret;
        Some(format!(
            "{baseline} has the test regret {:.5} (normalized {:.2} %), the model {:.5} ({:.2} %): \
             {}",
            better.regret,
            percent(better),
            model.regret,
            percent(model),
            baseline.implication()
        ))
    }
}

impl Note {
    /// Where decisions of the user's solver under predicted costs are better than the labels that
    /// it found, though it is said to be exact. `rows` are those of the regrets.
    pub fn of_regrets(
        regrets: &[f64],
        data: &LabeledDataset,
        rows: &[usize],
        problem: &dyn ProblemKind,
    ) -> Option<Self> {
        let text = negative_regret_text(regrets, data, rows, problem)?;
        Some(Self::new(NoteKind::NegativeRegret, text))
    }
}

/// The text of [`Note::of_regrets`].
fn negative_regret_text(
    regrets: &[f64],
    data: &LabeledDataset,
    rows: &[usize],
    problem: &dyn ProblemKind,
) -> Option<String> {
    let signs = RegretSigns::count(regrets, data, rows, problem);
    let mut text = negative_regret_sentence(signs.negative, problem)?;
    let counted = (signs.negative + signs.positive) as f64;
    if signs.negative as f64 >= MIN_WRONG_SENSE_RATIO * counted {
        let [verb, other] = match data.sense() {
            Sense::Minimize => ["minimize", "maximize"],
            Sense::Maximize => ["maximize", "minimize"],
        };
        text += &format!(
            "; hardly any row has positive regret: does the function really {verb}, or is the \
             sense \"{other}\"?"
        );
    }
    if signs.has_extra_costs {
        text += "; it returns objectives that are more than costs times decision: the difference \
                 may depend on the decision and the row's parameters, not on the costs";
    }
    Some(text)
}

/// The sentence for a number of rows with negative regret; none without such rows or for solvers of
/// our own.
pub(crate) fn negative_regret_sentence(rows: usize, problem: &dyn ProblemKind) -> Option<String> {
    let remedy = problem.heuristic_remedy()?;
    let subject = match rows {
        0 => return None,
        1 => "row has",
        _ => "rows have",
    };
    Some(format!(
        "{rows} {subject} negative regret: the function is not optimal there; regret is relative \
         to its own decisions; {remedy}"
    ))
}

/// How many rows have negative regret, although the user's solver is said to be exact.
pub(crate) fn negative_regrets(
    regrets: &[f64],
    data: &LabeledDataset,
    rows: &[usize],
    problem: &dyn ProblemKind,
) -> usize {
    RegretSigns::count(regrets, data, rows, problem).negative
}

/// Rows with regrets that are not 0 but for rounding; none for solvers of our own.
#[derive(Default)]
struct RegretSigns {
    negative: usize,
    positive: usize,
    /// Whether decisions have known costs that only the user's solver knows.
    has_extra_costs: bool,
}

impl RegretSigns {
    fn count(
        regrets: &[f64],
        data: &LabeledDataset,
        rows: &[usize],
        problem: &dyn ProblemKind,
    ) -> Self {
        let mut signs = Self::default();
        if problem.heuristic_remedy().is_none() {
            return signs;
        }
        for (regret, row) in regrets.iter().zip(rows) {
            // Not a quotient, which an objective of 0 does not have.
            let tolerance = NEGATIVE_REGRET_TOLERANCE * data.optimal_objective(*row).abs();
            signs.negative += usize::from(*regret < -tolerance);
            signs.positive += usize::from(*regret > tolerance);
            signs.has_extra_costs |= data.solution(*row).decision.fixed() != 0.0;
        }
        signs
    }
}
