//! `evaluate`: the regret of a model, or of anybody's predictions.

use regretless::data::Matrix;
use regretless::evaluate::{Evaluation, evaluate, summarise, unambiguous_regrets};
use regretless::label::Labelled;
use regretless::oracle::Oracle;
use regretless::predict::Model;
use regretless::watch::Watch;
use regretless::{Error, Result};
use serde_json::json;

use super::{Session, json, label, oracle};
use crate::args::EvaluateOptions;
use crate::input::{Decided, costs_only, dataset_for_model, in_file, options_for_model, predictions, table_source};
use crate::output::{Report, grouped, number, percent};

/// Predicts or reads predictions, decides, and measures.
pub fn run(options: EvaluateOptions, session: &Session) -> Result<Report> {
    let (judged, decided, data, oracle) = match (&options.model, &options.predictions) {
        (Some(path), None) => {
            let model = Model::load(path)?;
            let decided = Decided::of_model(&model, options.problem.as_ref()).map_err(in_file(path))?;
            let oracle = oracle(&decided, options.machine.threads)?;
            let source = table_source(&options_for_model(&options.data, &model))?;
            let table = dataset_for_model(&source, &model)?;
            let judged = model.predict(table.features()).map_err(in_file(source.costs_file()))?;
            let data = label(table, source.costs_file(), (&decided, &oracle), session)?;
            (judged, decided, data, oracle)
        }
        (None, Some(path)) => {
            let source = options.problem.as_ref();
            let source =
                source.ok_or_else(|| Error::setting("--problem is missing; predictions do not know theirs"))?;
            let decided = Decided::load(source)?;
            let oracle = oracle(&decided, options.machine.threads)?;
            let (file, table) = costs_only(&options.data)?;
            let judged = predictions(path, table.cost_names())?;
            check_rows(&judged, table.len(), path)?;
            let data = label(table, &file, (&decided, &oracle), session)?;
            (judged, decided, data, oracle)
        }
        _ => return Err(Error::setting("nothing to judge; give either --model or --predictions")),
    };
    let before = oracle.solves();
    let found = measure(judged, &data, &oracle, options.unambiguous.unwrap_or(false), session)?;
    let solves = oracle.solves() - before;
    let mut shown = json(&found)?;
    shown["solves"] = json!(solves);
    shown["problem"] = json!(decided.problem.name());
    let mut report = Report { json: shown, ..Report::default() };
    lines(&found, solves, &mut report);
    Ok(report)
}

fn check_rows(found: &Matrix, instances: usize, path: &std::path::Path) -> Result<()> {
    if found.rows() == instances {
        return Ok(());
    }
    let place = regretless::error::Place::file(path);
    Err(Error::input(place, format!("{} rows of predictions for {instances} instances", found.rows())))
}

fn measure(
    mut predictions: Matrix,
    data: &Labelled,
    oracle: &Oracle,
    unambiguous: bool,
    session: &Session,
) -> Result<Evaluation> {
    data.sense().flip(predictions.as_mut_slice());
    let rows: Vec<usize> = (0..data.len()).collect();
    let watch = &session.progress;
    watch.begin("deciding", rows.len() as u64);
    let found = if unambiguous {
        let regrets = unambiguous_regrets(&predictions, data, &rows, (oracle, watch))?;
        summarise(regrets, &predictions, data, &rows)
    } else {
        evaluate(&predictions, data, &rows, (oracle, watch))?
    };
    watch.end();
    Ok(found)
}

fn lines(found: &Evaluation, solves: u64, report: &mut Report) {
    let lines = [
        ("instances", grouped(found.instances as u64)),
        ("mean regret", number(found.regret)),
        ("normalised regret", percent(found.normalised_regret)),
        ("relative regret", percent(found.relative_regret)),
        ("decisions optimal", percent(found.optimal_share)),
        ("mean squared error", number(found.mse)),
        ("mean absolute error", number(found.mae)),
        ("solves", grouped(solves)),
    ];
    lines.iter().for_each(|(name, value)| report.line(format!("{name:<20} {value}")));
}
