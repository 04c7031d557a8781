//! Reviews of decisions on one's own data: what they lose and when, which costs the regret comes
//! from, what decisions look like, and one of them explained. A report page is a pure function of a
//! [`DecisionReview`].
//!
//! * `history`: the review of a backtest.
//! * `training`: the review of a training by its test rows.
//! * `sources`: regret by cost.
//! * `importance`: which features decisions depend on.

mod history;
mod importance;
mod sources;
mod training;

use std::path::Path;
use std::sync::Arc;

pub use sources::{CostSource, RegretSources};

use crate::backtest::BacktestResults;
use crate::experiment::{
    DecisionLayout, ExperimentResults, ExperimentRunner, MeanAndDeviation, MethodResults,
    ProblemResults, examples,
};
use regretless::data::{CostNames, InstanceKeys};
use regretless::evaluate::Evaluation;
use regretless::explain::{DEFAULT_MAX_SOLVES, ExplainSettings, Explanation};
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;
use regretless_base::text::amount;

/// Estimated work, in nanoseconds, that each part of an explanation and the importance of features
/// may take: some seconds.
const MAX_WORK: f64 = 5e9;

/// What a page says about decisions on rows whose true costs are known.
#[derive(Debug, Clone)]
pub struct DecisionReview {
    /// The conclusion in one sentence, then what limits it.
    pub verdict: Vec<String>,
    /// The main numbers.
    pub key_figures: Vec<KeyFigure>,
    /// The unit of costs.
    pub unit: Option<String>,
    /// The method that the review is about; it is compared with least squares.
    pub method: String,
    /// Some rows with the decisions of all methods, of which the first is least squares.
    pub results: ExperimentResults,
    /// Costs by period; none for a training.
    pub history: Option<BacktestResults>,
    /// The regrets of all periods or, for a training, test rows.
    pub regrets: Vec<ReviewedRegret>,
    /// Where the regret of the method comes from.
    pub sources: Option<RegretSources>,
    /// One decision of the method.
    pub explained: Option<ExplainedRow>,
    /// How much the method's decisions depend on each feature, the most important one first; empty
    /// if that was not measured.
    pub importance: Vec<FeatureImportance>,
    /// On what rows the importance was measured, or why it was not; empty for a method that uses no
    /// features.
    pub importance_basis: String,
}

/// A number that matters, with its unit, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFigure {
    /// What it is.
    pub label: String,
    /// The number.
    pub value: String,
    /// Its interval, or what it relates to.
    pub detail: String,
}

/// The regrets of one period or row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewedRegret {
    /// How the user calls it.
    pub name: String,
    /// The regret of least squares.
    pub reference: f64,
    /// The regret of the method.
    pub method: f64,
}

/// A decision with its explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRow {
    /// How the user calls the row.
    pub name: String,
    /// Why this row is explained.
    pub choice: String,
    /// The explanation, with the regret.
    pub explanation: Explanation,
    /// All true costs in the order of the problem, without known parts.
    pub true_costs: Vec<f64>,
}

impl ExplainedRow {
    /// Explains the decision of a method of a comparison: the test row of the first seed with the
    /// largest regret. The method is trained again. `None` for methods without a model.
    ///
    /// # Errors
    /// When training or an explanation fails, or the user interrupts.
    pub fn of_comparison(
        comparison: &ExperimentRunner,
        method: &str,
        options: &ReviewOptions<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let Some(fitted) = comparison.fit_again(method, observer)? else {
            return Ok(None);
        };
        let (model, oracle, data) = (&fitted.model, &fitted.oracle, &fitted.data.data);
        let rows = &fitted.data.split.test;
        let test = Evaluation::of_model(model, data, rows, oracle, observer)?;
        let Some(position) = worst_position(&test.regrets) else {
            return Ok(None);
        };
        let row = rows[position];
        let mut explained = explain_row(model, data, row, oracle, options, observer)?;
        explained.name = options.row_name(row);
        let choice = if test.regrets[position] > 0.0 {
            "the test row with the largest regret"
        } else {
            "the last test row"
        };
        explained.choice = format!("{choice} of the first seed, decided by {method}");
        Ok(Some(explained))
    }
}

/// How much the decisions of a model depend on a feature.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureImportance {
    /// The feature.
    pub feature: String,
    /// By how much the mean regret rises when its values are shuffled among the rows.
    pub increase: MeanAndDeviation,
}

/// What a review needs besides the results.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReviewOptions<'a> {
    /// The unit of costs.
    pub unit: Option<&'a str>,
    /// How the user calls the rows of the table; by default they are numbered.
    pub keys: Option<&'a InstanceKeys>,
    /// What people call the costs, in the order of the problem; by default as the table does.
    pub cost_names: Option<&'a CostNames>,
    /// A file with the coordinates of nodes, for drawings.
    pub coordinates: Option<&'a Path>,
}

impl ReviewOptions<'_> {
    /// How the user calls a row.
    fn row_name(&self, row: usize) -> String {
        let key = self.keys.and_then(|keys| keys.values().get(row));
        key.map_or_else(|| format!("row {row}"), Clone::clone)
    }
}

/// The rows and methods that a page draws.
struct ReviewedRows<'a> {
    data: &'a LabeledDataset,
    oracle: &'a Oracle,
    /// Rows with decisions of all methods.
    rows: Vec<usize>,
    methods: Vec<MethodResults>,
    layout: Option<DecisionLayout>,
    counts: [usize; 3],
}

impl ReviewedRows<'_> {
    fn results(self, options: &ReviewOptions<'_>) -> ExperimentResults {
        let Self {
            data,
            oracle,
            rows,
            mut methods,
            layout,
            counts,
        } = self;
        let reference = methods.first().and_then(|method| method.regret.mean);
        for method in &mut methods {
            let ratio = method.regret.mean.zip(reference);
            let ratio = ratio.filter(|(_, reference)| *reference > 0.0);
            method.ratio.mean = ratio.map(|(mean, reference)| mean / reference);
        }
        let names = options.cost_names.unwrap_or(data.data().cost_names());
        let mut stored = examples(data, &rows);
        for example in &mut stored {
            example.key = options.row_name(example.row);
        }
        let mut problem = ProblemResults {
            name: oracle.problem().name(),
            rows: counts,
            costs: names.len(),
            seeds: 1,
            label_seconds: MeanAndDeviation::default(),
            equal_seconds: 0.0,
            sense: Some(data.sense()),
            cost_names: if names.are_numbered() {
                Vec::new()
            } else {
                names.to_vec()
            },
            auxiliary_names: Vec::new(),
            published_regrets: Default::default(),
            methods,
            layout,
            examples: stored,
        };
        let reference = problem.methods.first().map(|method| method.name.clone());
        problem.add_auxiliary_columns(&reference.unwrap_or_default(), data, oracle);
        ExperimentResults::of_problem(problem)
    }
}

/// A number of three digits.
fn three_digits(value: f64) -> String {
    amount(value, value.abs() / 10.0)
}

/// Most solves, up to a number, whose estimated work is affordable.
fn affordable_solves(data: &LabeledDataset, rows: &[usize], max: usize) -> usize {
    match data.mean_work(rows) {
        Some(work) if work > 0.0 => max.min((MAX_WORK / work) as usize),
        Some(_) | None => max,
    }
}

/// Explains the decision of a row, whose name and choice the result has; the oracle has the
/// parameters of all rows.
fn explain_row(
    model: &CostModel,
    data: &LabeledDataset,
    row: usize,
    oracle: &Oracle,
    options: &ReviewOptions<'_>,
    observer: &dyn Observer,
) -> Result<ExplainedRow> {
    let features = data.data().features().select_rows(&[row]);
    let parameters = data.data().parameters();
    let parameters = parameters.map(|parameters| Arc::new(parameters.select_rows(&[row])));
    let row_oracle = Oracle::new(oracle.problem().clone())
        .with_threads(oracle.threads().clone())
        .with_limits(*oracle.limits())
        .with_heuristic(oracle.heuristic())?
        .with_parameters(parameters.as_ref())?;
    let true_costs = data.stated_predicted_part(row);
    let settings = ExplainSettings {
        costs: Some(true_costs.clone()),
        max_solves: Some(affordable_solves(data, &[row], DEFAULT_MAX_SOLVES)),
        cost_names: options.cost_names.cloned(),
        ..ExplainSettings::default()
    };
    Ok(ExplainedRow {
        name: String::new(),
        choice: String::new(),
        explanation: model.explain(&features, &row_oracle, &settings, observer)?,
        true_costs,
    })
}

/// The explanation, or the reason why there is none as a remark; an interruption is an error.
fn explained_or_remark(
    explained: Result<ExplainedRow>,
    remarks: &mut Vec<String>,
) -> Result<Option<ExplainedRow>> {
    match explained {
        Ok(explained) => Ok(Some(explained)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            remarks.push(format!("no decision is explained: {error}"));
            Ok(None)
        }
    }
}

/// The position of the largest regret; the last one if no decision has any.
fn worst_position(regrets: &[f64]) -> Option<usize> {
    let last = regrets.len().checked_sub(1)?;
    let mut worst = last;
    for (position, regret) in regrets.iter().enumerate() {
        if *regret > regrets[worst] {
            worst = position;
        }
    }
    Some(worst)
}
