//! `evaluate`: the regret of a model, or of given predictions.

use std::path::Path;

use regretless::data::{CostMatching, CostNames, CostOwner, Matrix};
use regretless::error::InputPlace;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::{Error, Model, Result};
use serde_json::json;

use super::{CommandContext, json, labeled, oracle, store};
use crate::args::EvaluateOptions;
use crate::input::{
    TableFormat, costs_only, dataset_for_model, in_file, load_model, load_problem,
    options_for_model, predictions, table_source,
};
use crate::output::{CommandReport, grouped, number, percent};

/// Predictions, and the labeled rows they are evaluated on.
struct EvaluationInput {
    predictions: PredictionSource,
    data: LabeledDataset,
    oracle: Oracle,
}

/// Source of the predictions.
enum PredictionSource {
    Model(Box<Model>),
    /// Given for all rows, in the problem's sense.
    Known(Matrix),
}

/// Predicts or reads predictions, solves, and measures the regret.
pub fn run(options: &EvaluateOptions, session: &CommandContext) -> Result<CommandReport> {
    let case = match (&options.model, &options.predictions) {
        (Some(model), None) => EvaluationInput::of_model(model, options, session)?,
        (None, Some(file)) => EvaluationInput::of_predictions(file, options, session)?,
        _ => {
            return Err(Error::setting("nothing to evaluate")
                .with_remedy("give either --model or --predictions"));
        }
    };
    let before = case.oracle.counts();
    let found = case.measure(options.unambiguous.unwrap_or(false), session)?;
    let counts = case.oracle.counts() - before;
    let solves = counts.total();
    let mut shown = json(&found)?;
    shown["solves"] = json!(solves);
    shown["solves_by_kind"] = json!(counts);
    shown["heuristic"] = json!(case.oracle.heuristic());
    shown["problem"] = json!(case.oracle.problem().name());
    let mut report = CommandReport {
        json: shown,
        ..CommandReport::default()
    };
    report_evaluation(&found, solves, &mut report);
    Ok(report)
}

impl EvaluationInput {
    fn of_model(file: &Path, options: &EvaluateOptions, session: &CommandContext) -> Result<Self> {
        let model = load_model(file, options.problem.as_ref())?;
        let (predictor, problem) = (model.predictor(), model.problem());
        let oracle = oracle(problem, &options.execution)?;
        let source = table_source(&options_for_model(&options.data, predictor))?;
        let mut table = dataset_for_model(&source, predictor)?;
        predictor
            .check(table.features())
            .map_err(in_file(source.costs_file()))?;
        let notices = predictor
            .match_table(&mut table, problem.kind().as_ref())
            .map_err(in_file(source.costs_file()))?;
        for notice in notices {
            session.warn(&format!(
                "note: {}: {notice}",
                source.costs_file().display()
            ));
        }
        let labels = store(source.costs_file(), &options.execution);
        let found = labeled(table, &labels, problem, &oracle, session);
        let (data, _) = found.map_err(in_file(source.costs_file()))?;
        Ok(Self {
            predictions: PredictionSource::Model(Box::new(model)),
            data,
            oracle,
        })
    }

    fn of_predictions(
        file: &Path,
        options: &EvaluateOptions,
        session: &CommandContext,
    ) -> Result<Self> {
        let missing =
            || Error::setting("--problem is missing").with_remedy("predictions do not name one");
        let problem = load_problem(options.problem.as_ref().ok_or_else(missing)?)?;
        let oracle = oracle(&problem, &options.execution)?;
        let (costs_file, mut table) = costs_only(&options.data)?;
        session.match_table(&mut table, &costs_file, &problem)?;
        if TableFormat::of(file)? == TableFormat::Npy {
            let unnamed = CostNames::numbered(table.costs().cols());
            let (found, wanted) = (
                CostOwner::new("the array", &unnamed),
                CostOwner::new("the table", table.cost_names()),
            );
            session.warn_about_matching(file, &CostMatching::new(found, wanted)?);
        }
        let predictions = predictions(file, &table.cost_names().to_vec())?;
        if predictions.rows() != table.len() {
            let message = format!(
                "{} rows of predictions for {} instances",
                predictions.rows(),
                table.len()
            );
            return Err(Error::input(InputPlace::file(file), message));
        }
        let labels = store(&costs_file, &options.execution);
        let (data, _) =
            labeled(table, &labels, &problem, &oracle, session).map_err(in_file(&costs_file))?;
        Ok(Self {
            predictions: PredictionSource::Known(predictions),
            data,
            oracle,
        })
    }

    /// Predictions for some rows, to be minimized.
    fn predicted(&self, rows: &[usize]) -> Result<Matrix> {
        match &self.predictions {
            PredictionSource::Model(model) => model.predictor().predict_instances(&self.data, rows),
            PredictionSource::Known(all) => self.data.select_predictions(all, rows),
        }
    }

    fn measure(&self, unambiguous: bool, session: &CommandContext) -> Result<Evaluation> {
        let Self { data, oracle, .. } = self;
        let rows = data.rows();
        let observer = &session.progress;
        observer.begin("deciding", rows.len() as u64);
        let found = if unambiguous {
            let predictions = self.predicted(&rows)?;
            Evaluation::unambiguous(&predictions, data, &rows, oracle, observer)?
        } else {
            Evaluation::in_chunks(|part| self.predicted(part), data, &rows, oracle, observer)?
        };
        observer.end();
        Ok(found)
    }
}

fn report_evaluation(found: &Evaluation, solves: u64, report: &mut CommandReport) {
    let lines = [
        ("instances", grouped(found.instances as u64)),
        ("mean regret", number(found.regret)),
        ("normalized regret", percent(found.normalized_regret)),
        ("relative regret", percent(found.relative_regret)),
        ("decisions optimal", percent(found.optimal_fraction)),
        ("mean squared error", number(found.mse)),
        ("mean absolute error", number(found.mae)),
        ("solves", grouped(solves)),
    ];
    lines
        .iter()
        .for_each(|(name, value)| report.line(format!("{name:<20} {value}")));
    if let Some(warning) = Evaluation::few_rows_warning("evaluated", found.instances) {
        report.line(warning);
    }
}
