//! The review of a training: its test rows, decided by the model and by least squares.

use super::importance::{MeasuredImportance, ShuffledRows};
use super::sources::SourceSums;
use super::{
    DecisionReview, ExplainedRow, KeyFigure, ReviewOptions, ReviewedRegret, ReviewedRows,
    explain_row, explained_or_remark, three_digits, worst_position,
};
use crate::experiment::{DecisionLayout, MethodResults, example_decisions, example_rows};
use crate::verdict::{Verdict, range_text};
use regretless::baseline::Baseline;
use regretless::evaluate::{Evaluation, rows_per_chunk};
use regretless::predict::CostModel;
use regretless::problem::Problem;
use regretless::train::{TrainingContext, linear_fit};
use regretless::trainer::TrainingOutcome;
use regretless_base::error::{Error, Result};

impl DecisionReview {
    /// Reviews a training by its test rows.
    ///
    /// # Errors
    /// When there are no test rows, the file of coordinates does not fit the problem, a row has no
    /// decision, or the user interrupts.
    pub fn of_training(
        outcome: &TrainingOutcome,
        context: &TrainingContext<'_>,
        problem: &Problem,
        options: &ReviewOptions<'_>,
    ) -> Result<Self> {
        let (data, split) = (context.data, context.split);
        let (oracle, observer) = (context.oracle, context.observer);
        let method = outcome.method.to_string();
        let rows = &split.test;
        let test = outcome.test.as_ref().filter(|_| !rows.is_empty());
        let test = test.ok_or_else(|| {
            Error::setting("a report needs test rows")
                .with_remedy("give the split a fraction or a number of test rows")
        })?;
        let layout = DecisionLayout::for_problem(problem.spec(), options.coordinates)?;
        let reference_name = Baseline::LeastSquares.to_string();
        let least_squares = linear_fit(context, problem.spec(), 0.0)?;
        let model = &outcome.model;
        let reference = Evaluation::of_model(&least_squares, data, rows, oracle, observer)?;
        let methods = vec![
            test_results(&reference_name, &least_squares, &reference, context)?,
            test_results(&method, model, test, context)?,
        ];
        let evaluations = [test, &reference];
        let comparison = TestComparison::new(outcome, evaluations, context, options.unit)?;
        let mut verdict = comparison.sentences(outcome);
        let explained = explain_worst_row(model, test, context, options, &mut verdict)?;
        let regrets = reviewed_regrets(rows, &reference, test, options);
        let reviewed = ReviewedRows {
            data,
            oracle,
            rows: rows.clone(),
            methods,
            layout,
            counts: split.counts(),
        };
        let measured = MeasuredImportance::of(
            &[ShuffledRows {
                model,
                data,
                rows,
                oracle,
            }],
            "test rows",
            "a larger part of the rows for testing gives more",
            observer,
        )?;
        Ok(Self {
            key_figures: comparison.key_figures(),
            verdict,
            unit: options.unit.map(Into::into),
            method,
            results: reviewed.results(options),
            history: None,
            regrets,
            sources: sources(model, context)?,
            explained,
            importance: measured.importance,
            importance_basis: measured.basis,
        })
    }
}

/// The regrets of least squares and of the method in each test row.
fn reviewed_regrets(
    rows: &[usize],
    reference: &Evaluation,
    test: &Evaluation,
    options: &ReviewOptions<'_>,
) -> Vec<ReviewedRegret> {
    let mut regrets = Vec::with_capacity(rows.len());
    for (position, row) in rows.iter().enumerate() {
        regrets.push(ReviewedRegret {
            name: options.row_name(*row),
            reference: reference.regrets[position],
            method: test.regrets[position],
        });
    }
    regrets
}

/// The decisions of a model in the test rows that a page shows.
fn test_results(
    name: &str,
    model: &CostModel,
    evaluation: &Evaluation,
    context: &TrainingContext<'_>,
) -> Result<MethodResults> {
    let data = context.data;
    let shown = example_rows(data, &context.split.test);
    let predictions = model.predict_instances(data, shown)?;
    let oracle = context.oracle;
    let solutions = oracle.solve_instances_complete(&predictions, shown, context.observer)?;
    let decisions = example_decisions(&solutions, &predictions, data, shown);
    Ok(MethodResults::of_decisions(
        name,
        &evaluation.regrets,
        decisions,
    ))
}

/// Explains the decision of the test row with the largest regret; a row that cannot be explained
/// adds a remark to the verdict.
fn explain_worst_row(
    model: &CostModel,
    test: &Evaluation,
    context: &TrainingContext<'_>,
    options: &ReviewOptions<'_>,
    verdict: &mut Vec<String>,
) -> Result<Option<ExplainedRow>> {
    let Some(position) = worst_position(&test.regrets) else {
        return Ok(None);
    };
    let row = context.split.test[position];
    let (data, oracle) = (context.data, context.oracle);
    let explained = explain_row(model, data, row, oracle, options, context.observer);
    let mut explained = explained_or_remark(explained, verdict)?;
    if let Some(explained) = &mut explained {
        explained.name = options.row_name(row);
        explained.choice = if test.regrets[position] > 0.0 {
            "the test row with the largest regret".into()
        } else {
            "the last test row".into()
        };
    }
    Ok(explained)
}

/// The mean of the best objectives of the test rows, in the user's sense.
fn mean_best(context: &TrainingContext<'_>) -> f64 {
    let rows = &context.split.test;
    let best = rows
        .iter()
        .map(|row| context.data.stated_optimal_objective(*row));
    best.sum::<f64>() / rows.len() as f64
}

/// The regrets of a model and of least squares on the same test rows.
struct TestComparison<'a> {
    verdict: Verdict,
    rows: usize,
    test: &'a Evaluation,
    reference: &'a Evaluation,
    mean_best: f64,
}

impl<'a> TestComparison<'a> {
    fn new(
        outcome: &TrainingOutcome,
        evaluations: [&'a Evaluation; 2],
        context: &TrainingContext<'_>,
        unit: Option<&str>,
    ) -> Result<Self> {
        let [test, reference] = evaluations;
        let rows = context.split.test.len();
        let unit = unit.unwrap_or_default();
        let verdict = outcome.verdict_against(Baseline::LeastSquares, reference, unit);
        let verdict = verdict.ok_or_else(|| Error::setting("no test rows"))?;
        Ok(Self {
            verdict,
            rows,
            test,
            reference,
            mean_best: mean_best(context),
        })
    }

    fn sentences(&self, outcome: &TrainingOutcome) -> Vec<String> {
        let mut sentences = vec![
            self.verdict.sentence(),
            "this is one training and one split; a backtest decides a whole history as if it were \
             the present, by other trainings on other rows"
                .into(),
        ];
        sentences.extend(Evaluation::few_rows_warning("test", self.rows));
        if !outcome.labels.are_optimal() {
            sentences.push(format!(
                "not all best decisions in hindsight are proven optimal: {}",
                outcome.labels
            ));
        }
        if let Some(heuristic) = outcome.heuristic {
            sentences.push(format!(
                "decisions are made by a heuristic, {heuristic}, and need not be optimal"
            ));
        }
        sentences
    }

    fn key_figures(&self) -> Vec<KeyFigure> {
        let Verdict {
            saving,
            interval,
            unit,
            ..
        } = &self.verdict;
        let percent = |regret: f64| {
            let share = 100.0 * regret / self.mean_best.abs();
            if share.is_finite() && share < 1e4 {
                format!("{} % of the best possible", three_digits(share))
            } else {
                String::new()
            }
        };
        let precision = interval.map_or(0.0, |interval| interval.upper - interval.lower);
        let range = interval.map_or_else(|| "too few rows for an interval".into(), range_text);
        let optimal = three_digits(100.0 * self.test.optimal_fraction);
        let lost = |evaluation: &Evaluation| unit.with_name(&three_digits(evaluation.regret));
        [
            (
                if unit.is_maximize {
                    "gained per decision against least squares"
                } else {
                    "saved per decision against least squares"
                },
                unit.amount(*saving, precision),
                range,
            ),
            (
                "lost per decision for not knowing the costs",
                lost(self.test),
                percent(self.test.regret),
            ),
            (
                "lost per decision by least squares",
                lost(self.reference),
                percent(self.reference.regret),
            ),
            (
                "of the decisions are optimal",
                format!("{optimal} %"),
                format!("on {} test rows", self.rows),
            ),
        ]
        .map(|(label, value, detail)| KeyFigure {
            label: label.into(),
            value,
            detail,
        })
        .into()
    }
}

/// Regret by cost, over all test rows; none where quantities are predicted, whose regret is no sum
/// over them.
fn sources(
    model: &CostModel,
    context: &TrainingContext<'_>,
) -> Result<Option<super::RegretSources>> {
    let TrainingContext {
        data,
        oracle,
        observer,
        split,
    } = *context;
    if data.has_quantities() {
        return Ok(None);
    }
    let table = data.data();
    let mut sums = SourceSums::new(data.sense());
    for chunk in split.test.chunks(rows_per_chunk(data, oracle)) {
        let predictions = model.predict_instances(data, chunk)?;
        let solutions = oracle.solve_instances_complete(&predictions, chunk, observer)?;
        for (position, row) in chunk.iter().enumerate() {
            let one = &solutions[position..=position];
            let predicted = predictions.select_rows(&[position]);
            for decision in example_decisions(one, &predicted, data, &[*row]) {
                sums.add(
                    &decision,
                    data.optimal_decision(*row),
                    |cost| data.stated_cost(*row, cost),
                    |cost| table.row_cost_name(*row, cost),
                );
            }
        }
    }
    Ok(sums.finish())
}
