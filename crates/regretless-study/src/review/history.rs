//! The review of a backtest: the method that the verdict is about, period by period.

use super::importance::{MIN_SHUFFLED_ROWS, MeasuredImportance, ShuffledRows};
use super::sources::SourceSums;
use super::{
    DecisionReview, ExplainedRow, KeyFigure, ReviewOptions, ReviewedRegret, ReviewedRows,
    explain_row, explained_or_remark, three_digits, worst_position,
};
use crate::backtest::{
    Backtest, BacktestDecision, BacktestResults, BacktestTable, LatestFit, MethodHistory,
};
use crate::experiment::{
    DecisionLayout, ExampleDecision, MethodResults, auxiliary_entries, example_rows,
};
use crate::text::saved_or_gained;
use crate::verdict::{Significance, range_text};
use regretless::data::InstanceKeys;
use regretless::label::LabeledDataset;
use regretless_base::error::Result;
use regretless_base::observer::Observer;

impl DecisionReview {
    /// Reviews a backtest: the method that saves most, or else the best one that predicts. Rows
    /// have the names of their periods; the keys of the options are not used.
    ///
    /// # Errors
    /// When the file of coordinates does not fit the problem, the method cannot be fitted again, or
    /// the user interrupts.
    pub fn of_backtest(
        results: &BacktestResults,
        backtest: &Backtest,
        table: &BacktestTable<'_>,
        options: &ReviewOptions<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let layout = DecisionLayout::for_problem(table.spec, options.coordinates)?;
        let fitted = backtest.fitted_methods(table)?;
        let method = shown_method(results, &fitted);
        let mut verdict = Vec::new();
        let against_present = results.verdict_against_present(method);
        verdict.extend(
            against_present
                .filter(|verdict| verdict.significance() == Significance::Better)
                .map(|verdict| verdict.sentence())
                .filter(|_| results.stated_verdict.is_none()),
        );
        verdict.push(results.sentence());
        for remark in &results.remarks {
            if !verdict.contains(remark) {
                verdict.push(remark.clone());
            }
        }
        let reviewed = reviewed_rows(results, table, layout);
        let sources = sources(method, results, table.data, options);
        let fits = backtest.latest_fits(table, &method.name, MIN_SHUFFLED_ROWS, observer)?;
        let explained = match fits.first() {
            Some(latest) => {
                let what = LatestDecisions {
                    latest,
                    method,
                    results,
                };
                what.explain(options, &mut verdict, observer)?
            }
            None => None,
        };
        let measured = importance(&fits, observer)?;
        let reference = results.methods.first();
        let mut regrets = Vec::with_capacity(results.periods.len());
        for (period, name) in results.periods.iter().enumerate() {
            regrets.push(ReviewedRegret {
                name: name.clone(),
                reference: reference.map_or(0.0, |reference| reference.regrets[period]),
                method: method.regrets[period],
            });
        }
        let keys = period_keys(results, table.data.len());
        let by_period = ReviewOptions {
            keys: Some(&keys),
            ..*options
        };
        Ok(Self {
            verdict,
            key_figures: key_figures(results, method),
            unit: results.unit.clone(),
            method: method.name.clone(),
            results: reviewed.results(&by_period),
            history: Some(results.clone()),
            regrets,
            sources,
            explained,
            importance: measured.importance,
            importance_basis: measured.basis,
        })
    }
}

/// The method of the model that follows; without one, the method that the verdict is about or, if
/// it claims nothing, the one with the least regret of those that are fitted.
fn shown_method<'a>(results: &'a BacktestResults, fitted: &[String]) -> &'a MethodHistory {
    let claimed = results.proven_savings();
    let claimed = claimed.max_by(|a, b| a.per_period.total_cmp(&b.per_period));
    let find = |name: &str| results.methods.iter().find(|method| method.name == name);
    let fitted = results
        .methods
        .iter()
        .filter(|method| fitted.contains(&method.name));
    let best = fitted.min_by(|a, b| a.total_regret().total_cmp(&b.total_regret()));
    let claimed = claimed.and_then(|saving| find(&saving.name));
    let delivered = results.delivered.as_deref().and_then(find);
    delivered
        .or(claimed)
        .or(best)
        .unwrap_or(&results.methods[0])
}

/// The periods of all rows that were decided; rows of a period with several have their number too.
fn period_keys(results: &BacktestResults, rows: usize) -> InstanceKeys {
    let decisions = results.methods.first().map(|method| &method.decisions);
    let mut names = vec![String::new(); rows];
    let mut counts = vec![0_usize; results.periods.len()];
    for decision in decisions.into_iter().flatten() {
        counts[decision.period] += 1;
    }
    for decision in decisions.into_iter().flatten() {
        let period = &results.periods[decision.period];
        names[decision.row] = match counts[decision.period] {
            1 => period.clone(),
            _ => format!("{period}, row {}", decision.row),
        };
    }
    InstanceKeys::new("period", names)
}

/// A decision as pages show it.
fn example_decision(
    decision: &BacktestDecision,
    data: &LabeledDataset,
    columns: usize,
) -> ExampleDecision {
    let value = |position: usize| {
        decision
            .values
            .as_ref()
            .map_or(1.0, |values| values[position])
    };
    let entries = decision.columns.iter().enumerate();
    let complete = regretless::Decision::from_entries(
        entries.map(|(position, column)| (*column, value(position))),
    );
    let predicted = complete.iter().filter(|(column, _)| *column < columns);
    let chosen =
        regretless::Decision::from_entries(predicted.map(|(column, value)| (column as u32, value)));
    let auxiliary = auxiliary_entries(&complete, columns);
    let row = decision.row;
    // The cost of columns with known costs is what is left of the objective.
    let fixed = if auxiliary.is_empty() {
        0.0
    } else {
        let objective = data.stated_objective_with_regret(row, decision.regret);
        objective - data.stated_objective(&chosen, row)
    };
    ExampleDecision {
        row,
        regret: decision.regret,
        chosen: chosen.indices().to_vec(),
        values: chosen.values().unwrap_or_default().to_vec(),
        fixed,
        predicted: decision.predicted.clone(),
        auxiliary,
    }
}

/// Rows that are drawn, with the decisions of all methods. Of many rows a part is stored: evenly
/// spread over the regrets of the reference, the largest among them.
fn reviewed_rows<'a>(
    results: &BacktestResults,
    table: &BacktestTable<'a>,
    layout: Option<DecisionLayout>,
) -> ReviewedRows<'a> {
    let data = table.data;
    let columns = data.data().costs().cols();
    let reference = results.methods.first().map(|method| &method.decisions);
    let mut by_regret: Vec<&BacktestDecision> = reference.into_iter().flatten().collect();
    by_regret.sort_by(|a, b| b.regret.total_cmp(&a.regret));
    let all: Vec<usize> = by_regret.iter().map(|decision| decision.row).collect();
    let stored = example_rows(data, &all).len();
    let step = all.len().div_ceil(stored.max(1)).max(1);
    let mut rows: Vec<usize> = all.into_iter().step_by(step).collect();
    rows.sort_unstable();
    let mut methods = Vec::with_capacity(results.methods.len());
    for method in &results.methods {
        let shown = method.decisions.iter();
        let shown = shown.filter(|decision| rows.binary_search(&decision.row).is_ok());
        let decisions = shown
            .map(|decision| example_decision(decision, data, columns))
            .collect();
        let name = &method.name;
        methods.push(MethodResults::of_decisions(
            name,
            &method.regrets,
            decisions,
        ));
    }
    let decided = results
        .methods
        .first()
        .map_or(0, |method| method.decisions.len());
    ReviewedRows {
        data,
        oracle: table.oracle,
        rows,
        methods,
        layout,
        counts: [0, 0, decided],
    }
}

/// Regret by cost, over all decided rows; none where quantities are predicted, whose regret is no
/// sum over them.
fn sources(
    method: &MethodHistory,
    results: &BacktestResults,
    data: &LabeledDataset,
    options: &ReviewOptions<'_>,
) -> Option<super::RegretSources> {
    if data.has_quantities() {
        return None;
    }
    let costs = data.data().costs();
    let mut sums = SourceSums::new(results.sense);
    for decision in &method.decisions {
        let row = decision.row;
        sums.add(
            &example_decision(decision, data, costs.cols()),
            data.optimal_decision(row),
            |cost| data.stated_cost(row, cost),
            |cost| match options.cost_names {
                Some(names) => names.get(cost).into_owned(),
                None => results.column_name(row, cost).into_owned(),
            },
        );
    }
    sums.finish()
}

/// The decisions of the model that decided the latest periods.
struct LatestDecisions<'a> {
    latest: &'a LatestFit,
    method: &'a MethodHistory,
    results: &'a BacktestResults,
}

impl LatestDecisions<'_> {
    /// Explains the one with the largest regret.
    fn explain(
        &self,
        options: &ReviewOptions<'_>,
        verdict: &mut Vec<String>,
        observer: &dyn Observer,
    ) -> Result<Option<ExplainedRow>> {
        let latest = self.latest;
        let all = &self.method.decisions;
        let mut decisions = Vec::with_capacity(latest.rows.len());
        for row in &latest.rows {
            decisions.extend(all.iter().find(|decision| decision.row == *row));
        }
        let regrets: Vec<f64> = decisions.iter().map(|decision| decision.regret).collect();
        let Some(position) = worst_position(&regrets) else {
            return Ok(None);
        };
        let (data, oracle) = (&latest.data, &latest.oracle);
        let explained = explain_row(&latest.model, data, position, oracle, options, observer);
        let mut explained = explained_or_remark(explained, verdict)?;
        if let Some(explained) = &mut explained {
            explained.name = self.results.periods[decisions[position].period].clone();
            let periods = decisions.len();
            explained.choice = if regrets[position] > 0.0 {
                match periods {
                    1 => "the decision of the latest model".into(),
                    _ => format!(
                        "the largest regret among the {periods} decisions of the latest model"
                    ),
                }
            } else {
                "the latest decision".into()
            };
        }
        Ok(explained)
    }
}

/// The importance of features for the decisions of the latest models.
fn importance(fits: &[LatestFit], observer: &dyn Observer) -> Result<MeasuredImportance> {
    let rows: Vec<Vec<usize>> = fits.iter().map(|fit| fit.data.rows()).collect();
    let mut parts = Vec::with_capacity(fits.len());
    for (fit, rows) in fits.iter().zip(&rows) {
        parts.push(ShuffledRows {
            model: &fit.model,
            data: &fit.data,
            rows,
            oracle: &fit.oracle,
        });
    }
    let decided = match fits {
        [_] => "decisions of the latest model",
        _ => "decisions of the latest models",
    };
    let remedy = "more periods from one training to the next give more";
    MeasuredImportance::of(&parts, decided, remedy, observer)
}

/// What a manager asks: what is saved, against what, how often, and what is left.
fn key_figures(results: &BacktestResults, method: &MethodHistory) -> Vec<KeyFigure> {
    let verb = saved_or_gained(results.sense);
    let reference = results.methods.first();
    let present = results.present_decisions();
    let unit = results.amount_unit();
    let mut figures = Vec::new();
    let mut won = None;
    for other in [present, reference].into_iter().flatten() {
        let saving = results.saving_against(&other.name, &method.name);
        let Some(saving) = saving.filter(|_| other.name != method.name) else {
            continue;
        };
        let [value, detail] = match saving.interval {
            Some(interval) => {
                let value = unit.rate(interval.mean, interval.upper - interval.lower);
                let range = range_text(interval);
                if interval.lower <= 0.0 && interval.upper >= 0.0 {
                    [value, format!("not certain ({range})")]
                } else {
                    [value, range]
                }
            }
            None => [
                unit.rate(saving.per_period, 0.0),
                format!("too few {}s for an interval", results.noun()),
            ],
        };
        won.get_or_insert_with(|| (other.name.clone(), saving.won, saving.lost));
        figures.push(KeyFigure {
            label: format!("{verb} against {}", other.name),
            value,
            detail,
        });
    }
    let periods = results.periods.len().max(1) as f64;
    let best: f64 = results.best.iter().sum();
    let lost = method.total_regret() / periods;
    let share = 100.0 * method.total_regret() / best.abs();
    figures.push(KeyFigure {
        label: "lost for not knowing the costs in advance".into(),
        value: unit.rate(lost, lost.abs() / 10.0),
        detail: if share.is_finite() && share < 1e4 {
            format!("{} % of the best possible", three_digits(share))
        } else {
            String::new()
        },
    });
    if let Some((other, won, lost)) = won {
        let percent = |fraction: f64| format!("{:.0} %", 100.0 * fraction);
        figures.push(KeyFigure {
            label: format!(
                "of {} {}s better than {other}",
                results.periods.len(),
                results.noun()
            ),
            value: percent(won),
            detail: format!("worse in {}, else equal", percent(lost)),
        });
    }
    figures
}
