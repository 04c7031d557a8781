//! `inspect`: what a model is, what it was trained on, its coefficients, and the importance of its
//! features.

use std::path::Path;

use regretless::job::MatchedTable;
use regretless::predict::CostModel;
use regretless::{Error, Model, Result};
use regretless_study::experiment::MeanAndDeviation;
use regretless_study::text::{TextTable, grouped, number, percent};
use serde_json::{Value, json};

use super::{CommandContext, LabeledRows, json, labeled};
use crate::args::InspectOptions;
use crate::input::{dataset_for_model, in_file, load_model, require, table_source_for_model};
use crate::output::CommandReport;

/// Shuffles of a feature unless `--repeats` is given: as scikit-learn.
const DEFAULT_REPEATS: usize = 5;
/// Costs whose coefficients are printed; `--json` has all of them. Untuned: fits a screen.
const MAX_PRINTED_COSTS: usize = 20;
/// Features whose coefficients are printed side by side; with more, one line each. Untuned: fits a
/// line.
const MAX_PRINTED_FEATURES: usize = 6;
/// What older models do not say.
const NOT_RECORDED: &str = "not recorded";

/// Prints what a model file contains and, if a table is given, measures the importance of features.
pub fn run(options: &InspectOptions, context: &CommandContext) -> Result<CommandReport> {
    let file = require(options.model.as_ref(), "the model file")?;
    let model = CostModel::load(&file)?;
    let mut content = json(&model.inspection())?;
    let mut report = CommandReport::default();
    describe(&content, &file, &mut report);
    print_training(&content["training"], &mut report);
    print_coefficients(&content, &mut report);
    if options.data.is_given() {
        let model = load_model(&file, options.problem.as_ref())?;
        let importance = importance(&model, options, context)?;
        print_importance(&importance, &mut report);
        content["importance"] = importance;
    }
    report.json = content;
    Ok(report)
}

fn describe(content: &Value, file: &Path, report: &mut CommandReport) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => NOT_RECORDED.into(),
        other => other.to_string(),
    };
    let mut problem = &content["problem"];
    let differs_by_row = problem["kind"] == "parametric";
    if differs_by_row {
        problem = &problem["template"];
    }
    let mut name = text(&problem["kind"]);
    if differs_by_row {
        name += ", with numbers that differ by row";
    }
    if let Some(path) = problem["file"].as_str() {
        let place = if content["holds_problem_file"] == true {
            "held by the model"
        } else {
            "must exist"
        };
        name = format!("{name}, file {path} ({place})");
    } else if let Some(given) = problem["name"].as_str() {
        name = format!("{name} '{given}'");
    }
    let networks = content["networks"].as_u64().unwrap_or(1);
    let mut predictor = text(&content["predictor"]);
    if networks > 1 {
        predictor = format!("{predictor}, mean of {networks} networks");
    }
    let parameters = grouped(content["parameters"].as_u64().unwrap_or(0));
    let features: Vec<String> = array(&content["features"])
        .iter()
        .map(|feature| text(&feature["name"]))
        .collect();
    let costs = array(&content["costs"]);
    for (name, value) in [
        ("model", file.display().to_string()),
        ("problem", name),
        ("method", text(&content["method"])),
        ("predictor", format!("{predictor}, {parameters} parameters")),
        ("seed", text(&content["seed"])),
        (
            "features",
            format!("{}: {}", features.len(), shortened(&features)),
        ),
        (
            "costs",
            format!(
                "{}: {}",
                costs.len(),
                shortened(&costs.iter().map(text).collect::<Vec<_>>())
            ),
        ),
        ("table", format!("{} layout", text(&content["layout"]))),
    ] {
        report.line(format!("{name:<18} {value}"));
    }
}

/// The first names of a list, and the number of the others.
fn shortened(names: &[String]) -> String {
    let shown = names[..names.len().min(MAX_PRINTED_COSTS)].join(", ");
    match names.len().saturating_sub(MAX_PRINTED_COSTS) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more as u64)),
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn print_training(training: &Value, report: &mut CommandReport) {
    if training.is_null() {
        report.line(format!("{:<18} {NOT_RECORDED}", "training"));
        return;
    }
    let text = |value: &Value| value.as_str().unwrap_or(NOT_RECORDED).to_owned();
    let rows: Vec<String> = array(&training["rows"])
        .iter()
        .map(|count| grouped(count.as_u64().unwrap_or(0)))
        .collect();
    let mut lines = vec![
        ("program version", text(&training["program_version"])),
        ("data hash", text(&training["data_hash"])),
        (
            "rows",
            format!("{} for training, validation and test", rows.join("/")),
        ),
        ("split", text(&training["split"])),
    ];
    if training["has_row_weights"] == true {
        lines.push(("row weights", "rows counted by weights".into()));
    }
    if let Some(heuristic) = training["heuristic"].as_str() {
        lines.push(("heuristic", heuristic.into()));
    }
    for (name, part) in [("validation regret", "validation"), ("test regret", "test")] {
        let found = &training[part];
        let value = match (
            found["regret"].as_f64(),
            found["normalized_regret"].as_f64(),
        ) {
            (Some(regret), Some(normalized)) => format!(
                "{} (normalized {}) on {} rows",
                number(regret),
                percent(normalized),
                found["instances"]
            ),
            _ => "not measured".into(),
        };
        lines.push((name, value));
    }
    lines.push(("settings", training["settings"].to_string()));
    lines.push(("limits", training["limits"].to_string()));
    for (name, value) in lines {
        report.line(format!("{name:<18} {value}"));
    }
}

fn print_coefficients(content: &Value, report: &mut CommandReport) {
    let Some(coefficients) = content["coefficients"].as_array() else {
        report.line(format!(
            "{:<18} none: the predictor has hidden layers",
            "coefficients"
        ));
        return;
    };
    let are_standardized = array(&content["features"])
        .iter()
        .any(|feature| feature["mean"].is_number());
    let note = if are_standardized {
        "in units of the original features, which training standardized"
    } else {
        "in units of the features"
    };
    report.line(format!("\ncoefficients {note}"));
    let features = array(&content["features"]).len();
    if features <= MAX_PRINTED_FEATURES {
        print_side_by_side(coefficients, report);
    } else {
        let mut table = TextTable::new(["cost", "feature", "coefficient"]);
        for entry in coefficients.iter().take(MAX_PRINTED_COSTS) {
            table.row([
                cost_name(entry),
                "intercept".into(),
                coefficient(&entry["intercept"]),
            ]);
            for feature in array(&entry["features"]) {
                let name = feature["feature"].as_str().unwrap_or_default().to_owned();
                table.row([cost_name(entry), name, coefficient(&feature["coefficient"])]);
            }
        }
        report.text.push_str(&table.text());
    }
    let more = coefficients.len().saturating_sub(MAX_PRINTED_COSTS);
    if more > 0 {
        report.line(format!(
            "and {} more costs; see --json",
            grouped(more as u64)
        ));
    }
}

/// One line per cost with a column per feature.
fn print_side_by_side(coefficients: &[Value], report: &mut CommandReport) {
    let Some(first) = coefficients.first() else {
        return;
    };
    let names = array(&first["features"])
        .iter()
        .map(|feature| feature["feature"].as_str().unwrap_or_default().to_owned());
    let heading: Vec<String> = ["cost".to_owned(), "intercept".to_owned()]
        .into_iter()
        .chain(names)
        .collect();
    let mut table = TextTable::new(heading.iter().map(String::as_str));
    for entry in coefficients.iter().take(MAX_PRINTED_COSTS) {
        let mut cells = vec![cost_name(entry), coefficient(&entry["intercept"])];
        for feature in array(&entry["features"]) {
            cells.push(coefficient(&feature["coefficient"]));
        }
        table.row(cells);
    }
    report.text.push_str(&table.text());
}

fn cost_name(entry: &Value) -> String {
    entry["cost"].as_str().unwrap_or("every cost").to_owned()
}

fn coefficient(value: &Value) -> String {
    value.as_f64().map(number).unwrap_or_default()
}

/// Mean and deviation over repeats of the rise in mean regret, per feature.
fn importance(model: &Model, options: &InspectOptions, context: &CommandContext) -> Result<Value> {
    let repeats = options.repeats.unwrap_or(DEFAULT_REPEATS);
    if repeats == 0 {
        return Err(Error::setting("--repeats is 0").with_remedy("at least 1 is needed"));
    }
    let seed = options.seed.unwrap_or(0);
    let predictor = model.predictor();
    let source = table_source_for_model(&options.data, model)?;
    let (problem, mut table) = dataset_for_model(&source, model)?;
    let in_table = in_file(source.costs_file());
    predictor.check(table.features()).map_err(&in_table)?;
    predictor
        .match_table(&mut table, problem.kind().as_ref())
        .map_err(&in_table)?;
    let LabeledRows { table, oracle, .. } = labeled(
        MatchedTable::new(table),
        &source,
        &problem,
        &options.execution,
        context,
    )?;
    let data = table.rows;
    let rows = data.rows();
    context.warn_about_overlap(predictor, &data, &rows);
    let before = oracle.counts();
    let found = predictor.permutation_importance(
        &data,
        &rows,
        &oracle,
        repeats,
        u64::from(seed),
        &context.progress,
    )?;
    let mut features: Vec<Value> = Vec::new();
    for (feature, increases) in predictor.metadata.features.iter().zip(found) {
        let spread = MeanAndDeviation::of(&increases);
        features.push(json!({
            "feature": feature,
            "regret_increase": spread.mean,
            // Of a single repeat, too.
            "deviation": spread.sd.unwrap_or(0.0),
            "repeats": increases,
        }));
    }
    Ok(json!({
        "rows": rows.len(),
        "seed": seed,
        "solves": (oracle.counts() - before).total(),
        "features": features,
    }))
}

fn print_importance(importance: &Value, report: &mut CommandReport) {
    report.line(format!(
        "\nimportance: increase of the mean regret when a feature is shuffled ({} rows, {} solves)",
        grouped(importance["rows"].as_u64().unwrap_or(0)),
        grouped(importance["solves"].as_u64().unwrap_or(0))
    ));
    let mut features: Vec<&Value> = array(&importance["features"]).iter().collect();
    let increase = |feature: &Value| feature["regret_increase"].as_f64().unwrap_or(0.0);
    features.sort_by(|a, b| increase(b).total_cmp(&increase(a)));
    let mut table = TextTable::new(["feature", "regret increase", "deviation"]);
    for feature in features {
        table.row([
            feature["feature"].as_str().unwrap_or_default().to_owned(),
            number(increase(feature)),
            number(feature["deviation"].as_f64().unwrap_or(0.0)),
        ]);
    }
    report.text.push_str(&table.text());
}
