//! Training with keyword settings, the same as on the command line.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use regretless::checkpoint::CheckpointFolder;
use regretless::data::{
    CostNames, DataCheck, Dataset, FeatureOptions, Finding, Split, SplitIndices, SplitRule,
};
use regretless::evaluate::Evaluation;
use regretless::loss::InstanceWeighting;
use regretless::method::{Method, TrainingStage};
use regretless::notes::{FinishedTraining, PlannedTraining, findings_of_split};
use regretless::optimizer::Optimizer;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;
use serde::Serialize;
use serde_json::Value;

use crate::arrays::{ArrayOwnership, matrix, row_numbers, vector};
use crate::call_observer::PyCall;
use crate::columns::{in_features, training_features};
use crate::error::to_py_err;
use crate::keywords::{refuse_renamed, search_limits, seed_number};
use crate::label::{check_same_rows, given_labels, with_labels, with_parameters};
use crate::loss::parse_method;
use crate::names::{column_names, match_table};
use crate::notes::raise_notes;
use crate::parameters::{ParameterArgs, given_parameters};
use crate::predict::Model;
use crate::problem::Problem;
use crate::results::{result_object, to_python};

/// The settings of a profile, overridden by keywords.
pub fn parse_settings(
    keywords: Option<&Bound<'_, PyDict>>,
    profile: &str,
    seed: u64,
) -> PyResult<TrainingSettings> {
    let defaults = match profile {
        "default" => TrainingSettings {
            seed,
            ..TrainingSettings::default()
        },
        "paper" => TrainingSettings::paper(seed),
        _ => {
            return Err(to_py_err(regretless::Error::unknown(
                "profile",
                profile,
                &["default", "paper"],
            )));
        }
    };
    refuse_renamed("train", keywords)?;
    let invalid = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
    let mut table = serde_json::to_value(defaults).map_err(invalid)?;
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        let names = table
            .as_object()
            .map(|settings| settings.keys().cloned().collect::<Vec<_>>())
            .unwrap_or_default();
        if !names.contains(&name) || name == "seed" {
            let is_setting = |word: &str| names.iter().any(|known| known == word);
            let message = match regretless::Error::renamed_word(&name, is_setting) {
                Some(new) => format!("train() got '{name}'; it is called '{new}' now"),
                None if name == "ignore" => "there is no setting 'ignore' in Python: leave the \
                     columns out of X"
                    .into(),
                None => {
                    let choices = names.join(", ");
                    format!("train() has no setting '{name}'; choose one of: {choices}")
                }
            };
            return Err(PyTypeError::new_err(message));
        }
        table[&name] = setting_value(&name, &value)?;
        serde_json::from_value::<TrainingSettings>(table.clone()).map_err(|error| {
            let text = in_plain_words(&error.to_string());
            let text = regretless::Error::explain_renamed(&text);
            PyValueError::new_err(format!("{name}: {text}"))
        })?;
    }
    serde_json::from_value(table).map_err(invalid)
}

/// A message of serde without names of Rust's types.
fn in_plain_words(message: &str) -> String {
    message
        .replace("expected usize", "expected an integer of at least 0")
        .replace("expected u64", "expected an integer of at least 0")
        .replace("expected f64", "expected a number")
}

/// The default settings of `train` as JSON; the type stub lists them, and a test compares.
#[pyfunction]
#[pyo3(name = "_default_settings")]
pub fn default_settings() -> PyResult<String> {
    serde_json::to_string(&TrainingSettings::default())
        .map_err(|error| PyValueError::new_err(format!("settings: {error}")))
}

fn setting_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let invalid = |error: serde_json::Error| PyValueError::new_err(format!("{name}: {error}"));
    if name == "optimizer" && value.is_instance_of::<PyString>() {
        let optimizer: Optimizer = value.extract::<String>()?.parse().map_err(to_py_err)?;
        return serde_json::to_value(optimizer).map_err(invalid);
    }
    // numpy scalars become Python numbers.
    let plain = if value.hasattr("item")? {
        value.call_method0("item")?
    } else {
        value.clone()
    };
    serde_json::from_str(&json_text(&plain, name)?).map_err(invalid)
}

/// A Python value as JSON, which has finite numbers only; `what` is its name in messages.
pub fn json_text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("allow_nan", false)?;
    let text = py
        .import("json")?
        .call_method("dumps", (value,), Some(&options));
    let text = text.map_err(|error| {
        if !error.is_instance_of::<PyValueError>(py) {
            return error;
        }
        if value.extract::<f64>().is_ok() {
            return PyValueError::new_err(format!("{what}: {value} is not a finite number"));
        }
        PyValueError::new_err(format!(
            "{what} holds a number that is not finite: {}",
            error.value(py)
        ))
    })?;
    text.extract()
}

/// Tables without the column of times, and their split by it.
pub struct TimeSplit<'py> {
    pub x: Bound<'py, PyAny>,
    pub c: Bound<'py, PyAny>,
    split: Split,
    times: Vec<String>,
}

impl<'py> TimeSplit<'py> {
    /// A split by time: "time:date" with a column of `X` or `C`, or ("time", values) with fractions
    /// behind it; `None` for any other split. A column of `X` stays a feature.
    pub fn parse(
        split: Option<&Bound<'py, PyAny>>,
        x: &Bound<'py, PyAny>,
        c: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Self>> {
        let Some(split) = split else {
            return Ok(None);
        };
        let module = split.py().import("regretless.tables.times")?;
        let (x, mut c) = (x.clone(), c.clone());
        if let Ok(text) = split.extract::<String>() {
            if text.trim() == "time" {
                return Err(PyValueError::new_err(
                    "split: name the column of the times, \"time:date\", or give the times, \
                     (\"time\", times)",
                ));
            }
            let Ok(rule @ SplitRule::Time { .. }) = text.parse::<SplitRule>() else {
                return Ok(None);
            };
            let rule = rule.with_seed(0);
            let column = rule.time_column().unwrap_or_default();
            let values = |table: &Bound<'py, PyAny>| {
                let values = module.call_method1("time_column", (table, column))?;
                Ok::<_, PyErr>((!values.is_none()).then_some(values))
            };
            let found = if let Some(found) = values(&x)? {
                found
            } else if let Some(found) = values(&c)? {
                c = module.call_method1("without_column", (&c, column))?;
                found
            } else {
                return Err(PyValueError::new_err(format!(
                    "split: neither X nor C is a DataFrame with a column '{column}'; give the \
                     times as (\"time\", times)"
                )));
            };
            let times = module.call_method1("time_texts", (found,))?.extract()?;
            return Ok(Some(Self {
                x,
                c,
                split: rule,
                times,
            }));
        }
        let Ok(parts) = split.extract::<Vec<Bound<'py, PyAny>>>() else {
            return Ok(None);
        };
        let Some((first, rest)) = parts.split_first() else {
            return Ok(None);
        };
        if first.extract::<String>().ok().as_deref() != Some("time") {
            return Ok(None);
        }
        let Some((values, fractions)) = rest.split_first() else {
            return Err(PyValueError::new_err(
                "split: (\"time\", times) needs the time of every row",
            ));
        };
        let mut split = Split::by_time("time");
        match fractions {
            [] => {}
            [both] => split = split.validation(both.extract()?).test(both.extract()?),
            [validation, test] => {
                split = split
                    .validation(validation.extract()?)
                    .test(test.extract()?);
            }
            _ => {
                return Err(PyValueError::new_err(
                    "split: (\"time\", times) takes fractions for validation and test behind it",
                ));
            }
        }
        let times = module.call_method1("time_texts", (values,))?.extract()?;
        Ok(Some(Self { x, c, split, times }))
    }

    /// The time of every row.
    pub fn times(&self) -> &[String] {
        &self.times
    }

    /// The rows of each part.
    pub fn apply(&self, rows: usize) -> PyResult<SplitIndices> {
        if self.times.len() != rows {
            return Err(PyValueError::new_err(format!(
                "split: {} times for {rows} rows",
                self.times.len()
            )));
        }
        self.split.apply_to_times(&self.times).map_err(to_py_err)
    }
}

/// The findings of a table, with the order of its rows where their times are known.
pub fn check_table(
    times: Option<&[String]>,
    check: DataCheck<'_>,
) -> regretless::Result<Vec<Finding>> {
    match times {
        Some(times) => check.run_with_times(times),
        None => Ok(check.run()),
    }
}

/// A split by fractions, numbers of rows, or lists of rows.
pub fn parse_split(
    split: Option<&Bound<'_, PyAny>>,
    rows: usize,
    seed: u64,
) -> PyResult<SplitIndices> {
    let Some(split) = split else {
        return SplitRule::DEFAULT
            .with_seed(seed)
            .apply(rows)
            .map_err(to_py_err);
    };
    let apply = |text: &str| {
        text.parse::<SplitRule>()
            .and_then(|rule| rule.with_seed(seed).apply(rows))
            .map_err(to_py_err)
    };
    if let Ok(text) = split.extract::<String>() {
        return apply(&text);
    }
    if split.extract::<f64>().is_ok() {
        return apply(&split.str()?.to_string());
    }
    let parts: Vec<Bound<'_, PyAny>> = split.try_iter()?.collect::<PyResult<_>>()?;
    if parts.iter().all(|part| part.extract::<f64>().is_ok()) {
        let mut numbers = Vec::with_capacity(parts.len());
        for part in &parts {
            numbers.push(part.str()?.to_string());
        }
        return apply(&numbers.join(","));
    }
    split_by_rows(&parts, rows)
}

/// A split by lists of rows for training, validation and test.
pub fn split_by_rows(parts: &[Bound<'_, PyAny>], rows: usize) -> PyResult<SplitIndices> {
    if parts.len() > 3 {
        return Err(PyValueError::new_err(
            "split has rows for training, validation and test; there are more than three lists",
        ));
    }
    let list = |number: usize| match parts.get(number) {
        Some(part) => split_part(part, rows),
        None => Ok(Vec::new()),
    };
    let split = SplitIndices {
        train: list(0)?,
        validation: list(1)?,
        test: list(2)?,
        rule: "given by row numbers".into(),
        is_chronological: false,
    };
    check_disjoint(&split.train, &split.validation, "training and validation")?;
    check_disjoint(&split.train, &split.test, "training and test")?;
    check_disjoint(&split.validation, &split.test, "validation and test")?;
    Ok(split)
}

fn split_part(part: &Bound<'_, PyAny>, rows: usize) -> PyResult<Vec<usize>> {
    let list = row_numbers(part, "split")?;
    match list.iter().find(|row| **row >= rows) {
        Some(row) => Err(PyValueError::new_err(format!(
            "split: row {row} does not exist; the table has {rows}"
        ))),
        None => Ok(list),
    }
}

fn check_disjoint(first: &[usize], second: &[usize], names: &str) -> PyResult<()> {
    let first: HashSet<&usize> = first.iter().collect();
    match second.iter().find(|row| first.contains(row)) {
        None => Ok(()),
        Some(row) => Err(PyValueError::new_err(format!(
            "split: row {row} is among the rows for {names}; results measured on rows of both \
             are biased"
        ))),
    }
}

/// A checked data set.
pub fn dataset(
    problem: &Problem,
    x: &Bound<'_, PyAny>,
    c: &Bound<'_, PyAny>,
    feature_names: Option<Vec<String>>,
    cost_names: Option<Vec<String>>,
    options: FeatureOptions,
) -> PyResult<Dataset> {
    let costs = matrix(c, "C", ArrayOwnership::Borrow)?;
    let names = cost_names
        .map_or_else(|| column_names(c), |names| Ok(Some(names)))?
        .map(CostNames::from);
    if let Some(names) = &names {
        warn_about_costs_among_features(problem, x, names)?;
    }
    let features = training_features(x, feature_names, options)?;
    let data = if problem.problem.may_have_absent_costs() {
        Dataset::with_missing_costs(features, costs, names)
    } else {
        Dataset::new(features, costs, names)
    };
    data.map_err(|error| match error {
        regretless::Error::Input { ref place, .. } if place.row.is_some() => {
            PyValueError::new_err(format!("C: {error}"))
        }
        other => to_py_err(other),
    })
}

/// Warns where columns of the costs are among the features.
fn warn_about_costs_among_features(
    problem: &Problem,
    x: &Bound<'_, PyAny>,
    cost_names: &CostNames,
) -> PyResult<()> {
    let feature_names: HashSet<String> = column_names(x)?.into_iter().flatten().collect();
    let shared: Vec<String> = cost_names
        .iter()
        .filter(|name| feature_names.contains(name.as_ref()))
        .map(|name| format!("'{name}'"))
        .collect();
    if shared.is_empty() {
        return Ok(());
    }
    let warning = format!(
        "X has columns that C has too ({}): the true costs are not known when decisions are made; \
         leave them out of X",
        shared.join(", ")
    );
    problem.warn_once(x.py(), &warning)
}

/// How columns become features, as the keywords of `train` say it.
fn feature_options(
    categories: Option<&Bound<'_, PyAny>>,
    target_statistics: Option<&Bound<'_, PyAny>>,
    dates: Option<&Bound<'_, PyAny>>,
    holidays: Option<&Bound<'_, PyAny>>,
    missing: &str,
) -> PyResult<FeatureOptions> {
    let list = |value: Option<&Bound<'_, PyAny>>| match value {
        None => Ok(Vec::new()),
        Some(text) if text.is_instance_of::<PyString>() => Ok(vec![text.extract()?]),
        Some(values) => values.extract::<Vec<String>>(),
    };
    let refuse_gaps = match missing {
        "impute" => false,
        "error" => true,
        other => {
            let choices = ["impute", "error"];
            return Err(to_py_err(regretless::Error::unknown(
                "missing", other, &choices,
            )));
        }
    };
    let holidays = match holidays {
        None => Vec::new(),
        Some(dates) => {
            let module = dates.py().import("regretless.tables.columns")?;
            module.call_method1("holiday_texts", (dates,))?.extract()?
        }
    };
    let options = FeatureOptions {
        categories: list(categories)?,
        target_statistics: list(target_statistics)?,
        dates: list(dates)?,
        holidays,
        refuse_gaps,
    };
    options.check().map_err(to_py_err)?;
    Ok(options)
}

/// What the encoding of a table does to columns, and which it does not use, by name.
struct EncodingSummary {
    encoded: BTreeMap<String, String>,
    unused: BTreeMap<String, String>,
}

impl EncodingSummary {
    fn of(data: &Dataset) -> Self {
        let encoding = data.features().encoding();
        let encoded = encoding.map(|encoding| encoding.descriptions());
        let mut unused = BTreeMap::new();
        for (name, reason) in encoding
            .iter()
            .flat_map(|encoding| encoding.unused_columns())
        {
            unused.insert(name.to_owned(), reason.to_owned());
        }
        Self {
            encoded: encoded.into_iter().flatten().collect(),
            unused,
        }
    }
}

/// The table with row weights.
fn with_row_weights(data: Dataset, weights: &Bound<'_, PyAny>) -> PyResult<Dataset> {
    let weights = vector(weights, "weights")?;
    data.with_row_weights(weights).map_err(|error| match error {
        regretless::Error::Input { .. } => PyValueError::new_err(format!("weights: {error}")),
        other => to_py_err(other),
    })
}

/// The stages, settings and split of a training, for predictors of the user's own.
#[pyfunction]
#[pyo3(name = "_training_plan")]
pub fn training_plan<'py>(
    py: Python<'py>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    method: Option<&Bound<'py, PyAny>>,
    split: Option<&Bound<'py, PyAny>>,
    seed: u32,
    profile: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let method = parse_method(method)?;
    let settings = parse_settings(settings, profile, u64::from(seed))?;
    check_same_rows(X, C, "X", "C")?;
    let num_rows = C.len()?;
    let given_split = split;
    let split = match TimeSplit::parse(split, X, C)? {
        Some(by_time) => by_time.apply(num_rows)?,
        None => parse_split(given_split, num_rows, u64::from(seed))?,
    };
    settings.check(&split).map_err(to_py_err)?;
    let Method::Stages(method_stages) = &method else {
        return Err(PyValueError::new_err(format!(
            "'{method}' chooses among trainings of our own predictors; name a method such as \
             \"MAE(O,S)\" for a predictor of your own"
        )));
    };
    let mut stages = Vec::new();
    for (index, stage) in method_stages.iter().enumerate() {
        if stage.loss.properties().weighting != InstanceWeighting::Equal {
            return Err(PyValueError::new_err(format!(
                "{} weights instances by the regret of a trained baseline, which only our own \
                 predictors have; leave the weighting out, or train predictor=\"linear\" or \
                 predictor=\"mlp\"",
                stage.loss
            )));
        }
        stages.push(StagePlan {
            name: stage.to_string(),
            settings: settings.for_stage(stage, index, split.train.len()),
        });
    }
    to_python(
        py,
        &TrainingPlan {
            method: &method,
            stages,
            split_text: split.to_string(),
            split: [&split.train, &split.validation, &split.test],
        },
    )
}

/// A training as Python sees it.
#[derive(Serialize)]
struct TrainingPlan<'a> {
    method: &'a Method,
    stages: Vec<StagePlan>,
    split_text: String,
    /// Rows for training, validation and test.
    split: [&'a [usize]; 3],
}

/// A stage with its settings.
#[derive(Serialize)]
struct StagePlan {
    name: String,
    settings: TrainingSettings,
}

/// What training says about the epoch that it kept, for predictors of the user's own.
#[pyfunction]
#[pyo3(name = "_epoch_remark")]
pub fn epoch_remark(select: &str, best: usize, last: usize) -> PyResult<Option<String>> {
    let criterion: SelectionCriterion = select.parse().map_err(to_py_err)?;
    Ok(criterion.epoch_remark(best, last, "initial model", "epochs"))
}

/// What training says about the regret of few rows, for predictors of the user's own.
#[pyfunction]
#[pyo3(name = "_few_rows_warning")]
pub fn few_rows_warning(rows: usize) -> Option<String> {
    Evaluation::few_rows_warning("test", rows)
}

/// The training rows of an epoch, in the order in which training visits them.
#[pyfunction]
#[pyo3(name = "_epoch_rows")]
pub fn epoch_rows(
    mut rows: Vec<usize>,
    seed: u64,
    epoch: usize,
    rows_per_epoch: Option<usize>,
) -> Vec<usize> {
    let settings = TrainingSettings {
        seed,
        rows_per_epoch,
        ..TrainingSettings::default()
    };
    settings.shuffle_rows(&mut rows, epoch);
    rows.truncate(settings.rows_of_epoch(rows.len()));
    rows
}

/// Train a model for the decisions that follow from its predictions.
///
/// Parameters
/// ----------
/// problem : Problem
///     The problem.
/// X : array_like or DataFrame of shape (n, p) or (n, d, p)
///     Features, one row per instance, or one row per instance and cost.
/// C : array_like or DataFrame of shape (n, d)
///     True costs. Columns with names (a DataFrame, or `cost_names`) are matched to the problem's
///     costs by name, arrays by position.
/// method : str or loss of one's own, optional
///     A method's name such as "MAE(O,S)", "SPO+", "MAE(O,S) then SPO+ lr 0.001 epochs 5", or
///     "auto", which races several methods; or a loss made with `loss`. By default MAE(O,S), or
///     MAE(O) where other columns of a linear problem have known costs.
/// labels : Labels, optional
///     Optimal decisions of the rows; solved here by default.
/// parameters : mapping, DataFrame or list of str, optional
///     Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`, which stay
///     features. By default the columns of a DataFrame `X` that the problem reads, which stay
///     features, too, as on the command line.
/// weights : array_like of shape (n,), optional
///     How much each row counts in training: the weighted mean of the losses is minimized, and the
///     epoch with the best weighted mean over the validation rows is kept; "auto" chooses by
///     weighted regrets. Rows of weight 0 are left out. Only ratios matter, except that whole
///     numbers are numbers of observations where the deviation of costs is estimated. The results
///     in the report count every row alike.
/// split : optional
///     Fractions for validation and test, drawn at random, or one number for both: 0.3 is 30 % of
///     the rows for each; (0.2, 0.2) by default. "order:0.2,0.1" takes them from the end of the
///     table. "time:date" or "time:date,0.2,0.1" takes the latest
///     rows by the times in a column of `X` or `C`, ("time", times) or ("time", times, 0.2, 0.1) by
///     an array of times: dates, date-times or numbers. Rows of one time stay in one part. Or
///     numbers of rows (1000, 400, 600) in the order of the
///     table, or lists of rows (training, validation) or (training, validation, test).
/// predictor : str, torch module, scikit-learn regressor or function, optional
///     "linear", "mlp" or "mlp:64,32"; by default linear, and for "auto" the best of several. A
///     torch module from features to costs is trained by the same method, batches and selection of
///     the epoch. Training starts from its present parameters and changes the module itself, which
///     has those of the best epoch afterwards. `lambda: Net()` is called for each training, after
///     torch is seeded with `seed`: trainings of several seeds then start anew. A scikit-learn
///     regressor is fitted by its own `fit`, without a method, and evaluated as the others. All
///     result in a model of `regretless.OwnModel`.
/// candidates : list, optional
///     What "auto" compares next to its own candidates: methods by name, losses made with `loss`,
///     scikit-learn regressors, torch modules, and pairs of a method and a torch module (MAE(O,S)
///     by default) or a function that makes one. Methods and losses become part of the search and
///     of its average. A predictor of your own is trained on the training rows, and is the model if
///     its regret on the validation rows is lower than that of the search; the model is then an
///     `regretless.OwnModel`.
/// init_model : Model, optional
///     A trained model to start from.
/// seed : int, default 0
///     Seed of the split, the initial parameters, the batches and the noise.
/// profile : {"default", "paper"}
///     The defaults of all settings.
/// categories, target_statistics, dates : str or list of str, optional
///     Columns of a DataFrame `X`, by name or pattern. Each value of `categories` is a feature,
///     also numbers. Values of `target_statistics`, such as customers, become the mean cost of the
///     training rows that have them. `dates` become weekday, season and hour, as far as the
///     training rows support them, or the parts that are given: "date=weekday+season+trend". By
///     default, texts with few values and columns of type category are categories, and columns of
///     dates are dates; everything is fitted on the training rows alone.
/// holidays : sequence of dates, optional
///     Whether a date is one of them becomes a feature.
/// missing : {"impute", "error"}
///     Gaps in a DataFrame `X` are filled with the median of the training rows and indicated, or
///     refused. Gaps in arrays and in costs are always refused.
/// feature_names, cost_names : sequence of str, optional
///     Names of the columns, unless `X` and `C` have their own.
/// checkpoint : path, optional
///     Path of the model file. Checkpoints are stored next to it; an interrupted training resumes
///     with the same call and returns the same model.
/// threads, progress, heuristic, gap, nodes, seconds : optional
///     As in `Problem.solve_all`.
/// epochs : int, default 50
///     Number of epochs.
/// rows_per_epoch : int, optional
///     Training rows of one epoch, drawn again for each; all by default.
/// batch_size : int, default 32
///     Rows of one gradient step.
/// learning_rate : float, default 0.005
///     Learning rate.
/// lr_decay : bool, default False
///     Whether the learning rate decays linearly to 0 over the epochs.
/// optimizer : str, default "adam"
///     "adam", "adamw:weight_decay=0.01" or "sgd:momentum=0.9".
/// select : str, default "validation-regret"
///     Criterion for the best epoch: "validation-regret", "validation-loss", "training-loss" or
///     "last". Where the solves for validation regret would take more than a minute and longer
///     than all labels, the default is "validation-loss", and a warning says so; with a solver
///     function of one's own the default stays, with a warning.
/// train_on_validation : bool, default False
///     Whether validation rows are training rows too.
/// patience : int, optional
///     Epochs without improvement before training stops.
/// patience_seconds, time_limit : float, optional
///     Seconds without improvement, and in total, before training stops.
/// standardize : bool, default True
///     Whether features are standardized.
/// scale_costs : bool, default True
///     Whether predicted costs are mean + deviation · output.
/// rescale_loss : bool, default True
///     Whether the loss is rescaled so that gradients have a size of about 1.
/// retrain_from_baseline : bool, optional
///     Whether later rounds of weighted losses start from the baseline's parameters.
/// clip_instance_costs : bool, default True
///     With O_S: whether instance costs are limited to ten times their median.
/// then_learning_rate, then_epochs : optional
///     Learning rate and epochs of the stages after "then".
/// fused : bool, default True
///     Whether the fused kernels are used where they apply.
///
/// Returns
/// -------
/// model : Model
///     The model of the best epoch.
/// report : TrainingReport
///     What happened during training, as the command line reports it in JSON, with every epoch in
///     `rounds`.
///
/// Raises
/// ------
/// TypeError
///     For an unknown setting; for a renamed one the message gives the new name.
/// ValueError
///     For an invalid setting or table.
///
/// Notes
/// -----
/// The same settings give the same model, byte for byte, as `regretless train`, for any number of
/// threads.
///
/// A warning says where the untrained model was best, or the last epoch: another learning rate, or
/// more epochs, may help.
///
/// Examples
/// --------
/// >>> model, report = rl.train(problem, X, C, method="MAE(O,S)", epochs=20)
/// >>> report.test.normalized_regret
#[pyfunction]
#[pyo3(signature = (
    problem, X, C, method=None, *, labels=None, parameters=None, weights=None, split=None,
    predictor=None, candidates=None, init_model=None, seed=0, profile="default",
    feature_names=None, cost_names=None, categories=None, target_statistics=None, dates=None,
    holidays=None,
    missing="impute", checkpoint=None, threads=None, progress=false, heuristic=None, gap=None,
    nodes=None, seconds=None, **settings
))]
pub fn train<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    method: Option<&Bound<'py, PyAny>>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<&Bound<'py, PyAny>>,
    weights: Option<&Bound<'py, PyAny>>,
    split: Option<&Bound<'py, PyAny>>,
    predictor: Option<&Bound<'py, PyAny>>,
    candidates: Option<&Bound<'py, PyAny>>,
    init_model: Option<&Bound<'py, Model>>,
    #[pyo3(from_py_with = seed_number)] seed: u32,
    profile: &str,
    feature_names: Option<Vec<String>>,
    cost_names: Option<Vec<String>>,
    categories: Option<&Bound<'py, PyAny>>,
    target_statistics: Option<&Bound<'py, PyAny>>,
    dates: Option<&Bound<'py, PyAny>>,
    holidays: Option<&Bound<'py, PyAny>>,
    missing: &str,
    checkpoint: Option<PathBuf>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let labels = given_labels(labels)?;
    let parameters = given_parameters(problem.get(), X, parameters)?;
    let parameters = parameters.as_ref();
    let own_predictor = predictor.filter(|predictor| !predictor.is_instance_of::<PyString>());
    let Candidates {
        methods: candidate_methods,
        predictors: candidate_predictors,
    } = Candidates::parse(candidates)?;
    let mut own_options = None;
    if own_predictor.is_some() || !candidate_predictors.is_empty() {
        let unsupported = [
            ("weights", weights.is_some()),
            ("init_model", init_model.is_some()),
            ("checkpoint", checkpoint.is_some()),
            ("categories", categories.is_some()),
            ("target_statistics", target_statistics.is_some()),
            ("dates", dates.is_some()),
            ("holidays", holidays.is_some()),
            ("heuristic", heuristic.is_some()),
            ("gap", gap.is_some()),
            ("nodes", nodes.is_some()),
            ("seconds", seconds.is_some()),
        ];
        if let Some((name, _)) = unsupported.into_iter().find(|(_, is_given)| *is_given) {
            return Err(PyTypeError::new_err(format!(
                "train() does not take '{name}' together with a predictor of your own"
            )));
        }
        let options = PyDict::new(py);
        options.set_item("labels", labels)?;
        options.set_item("parameters", parameters)?;
        options.set_item("split", split)?;
        options.set_item("seed", seed)?;
        options.set_item("profile", profile)?;
        options.set_item("threads", threads)?;
        options.set_item("feature_names", feature_names.clone())?;
        options.set_item("cost_names", cost_names.clone())?;
        options.set_item("settings", settings)?;
        own_options = Some(options);
    }
    if let Some(own) = own_predictor {
        if candidates.is_some() {
            return Err(PyTypeError::new_err(
                "candidates are compared by \"auto\", which has predictors of its own: leave out \
                 predictor, or put it among the candidates",
            ));
        }
        let module = py.import("regretless.training.custom_predictor")?;
        let result =
            module.call_method("train", (problem, X, C, method, own), own_options.as_ref())?;
        return Ok(result.cast_into::<PyTuple>()?);
    }
    let (python_problem, given_features, given_costs) = (problem, X, C);
    let is_method_default = method.is_none() && candidates.is_none();
    let problem = problem.get();
    let mut method = match (method, candidates) {
        (None, Some(_)) => Method::auto(),
        (None, None) => Method::default_for(problem.problem.as_ref()),
        (Some(method), _) => parse_method(Some(method))?,
    };
    let planned_method = method.clone();
    match &mut method {
        Method::Auto { candidates, .. } => candidates.extend(candidate_methods),
        Method::Stages(_) | Method::LeastSquares { .. } | Method::InvalidCombination(_)
            if candidates.is_some() =>
        {
            return Err(PyTypeError::new_err(format!(
                "candidates are compared by \"auto\", not by '{method}'"
            )));
        }
        Method::Stages(_) | Method::LeastSquares { .. } | Method::InvalidCombination(_) => {}
    }
    let predictor = match predictor {
        Some(name) => Some(name.extract::<String>()?.parse().map_err(to_py_err)?),
        None => None,
    };
    let is_selection_given = profile != "default"
        || settings.is_some_and(|settings| settings.contains("select").unwrap_or(false));
    let mut trainer = Trainer {
        method,
        predictor,
        settings: parse_settings(settings, profile, u64::from(seed))?,
        start: init_model.map(|model| model.get().model.clone()),
        threads: threads.unwrap_or(0),
    };
    check_same_rows(X, C, "X", "C")?;
    let time_split = TimeSplit::parse(split, X, C)?;
    let (X, C) = match &time_split {
        Some(by_time) => (&by_time.x, &by_time.c),
        None => (X, C),
    };
    let options = feature_options(categories, target_statistics, dates, holidays, missing)?;
    let mut data = dataset(problem, X, C, feature_names, cost_names, options)?;
    let parameters = ParameterArgs::of_features(parameters, X);
    let parameters = parameters.read(problem, data.len(), ArrayOwnership::Borrow)?;
    data = with_parameters(data, parameters)?;
    match_table(py, problem, &mut data)?;
    if let Some(weights) = weights {
        data = with_row_weights(data, weights)?;
    }
    let is_split_given = split.is_some();
    let by_time = time_split.as_ref();
    let split = match by_time {
        Some(by_time) => by_time.apply(data.len())?,
        None => parse_split(split, data.len(), u64::from(seed))?,
    };
    problem.check_width(data.costs().cols())?;
    data = data.encoded(&split.train).map_err(in_features)?;
    let encoding = EncodingSummary::of(&data);
    let call = PyCall::new(progress);
    let oracle = problem
        .oracle(
            &call,
            threads,
            heuristic,
            search_limits(gap, nodes, seconds)?,
            data.parameters(),
        )
        .map_err(to_py_err)?;
    trainer.method.check_problem(&oracle).map_err(to_py_err)?;
    let data = with_labels(py, problem, &call, &oracle, data, labels)?;
    let split = split.restrict_to(&data.rows()).map_err(to_py_err)?;
    let date_column = if is_split_given {
        None
    } else {
        data.data().features().date_column()
    };
    let time_split = date_column.map(|column| format!("split=\"time:{column}\""));
    let times = by_time.map(TimeSplit::times);
    let notes = call.run(py, |_| {
        let check = |check: DataCheck<'_>| check_table(times, check);
        let findings = findings_of_split(&data, &split, check)?;
        let methods = std::slice::from_ref(&planned_method);
        let planned = PlannedTraining {
            method_setting: is_method_default.then_some("method="),
            time_split: time_split.as_deref(),
            ..PlannedTraining::new(methods, &data, &oracle, &findings)
        };
        Ok(planned.notes())
    })?;
    raise_notes(py, problem, &notes)?;
    let (outcome, notes) = call.run(py, |observer| {
        let context = TrainingContext {
            data: &data,
            split: &split,
            oracle: &oracle,
            observer,
        };
        if !is_selection_given && let Some(note) = trainer.avoid_expensive_validation(&context) {
            observer.warn(&note);
        }
        let checkpoints = checkpoint.as_deref().map(CheckpointFolder::for_model);
        let lock = checkpoints
            .as_ref()
            .map(CheckpointFolder::lock)
            .transpose()?;
        let outcome = trainer.fit_and_evaluate(&context, &problem.spec, checkpoints.as_ref())?;
        if let (Some(checkpoints), Some(lock)) = (checkpoints, lock) {
            checkpoints.remove(lock)?;
        }
        let finished = FinishedTraining {
            trainer: &trainer,
            fit: &outcome.trained,
            outcome: Some(&outcome),
            context: &context,
            epochs_setting: "epochs",
        };
        let notes = finished.notes();
        Ok((outcome, notes))
    })?;
    raise_notes(py, problem, &notes)?;
    let fields = to_python(py, &trainer.summary(&outcome))?;
    fields.set_item("rounds", to_python(py, &outcome.trained.report.rounds)?)?;
    fields.set_item("encoding", encoding.encoded)?;
    fields.set_item("unused_columns", encoding.unused)?;
    let report = result_object("TrainingReport", &fields)?;
    let model = Bound::new(py, Model::new(outcome.trained.model))?;
    if candidate_predictors.is_empty() {
        return (model, report).into_pyobject(py);
    }
    let module = py.import("regretless.training.custom_predictor")?;
    let table = (python_problem, given_features, given_costs);
    let found = (model, report);
    let arguments = (table, found, candidate_predictors);
    let result = module.call_method("choose", arguments, own_options.as_ref())?;
    Ok(result.cast_into::<PyTuple>()?)
}

/// What `auto` compares next to its own candidates.
#[derive(Default)]
struct Candidates<'py> {
    /// Methods, each as its stages.
    methods: Vec<Vec<TrainingStage>>,
    /// Predictors of the user's own, or pairs of a method and a torch module.
    predictors: Vec<Bound<'py, PyAny>>,
}

impl<'py> Candidates<'py> {
    /// Divides candidates into methods and predictors.
    fn parse(candidates: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let mut parsed = Self::default();
        let Some(candidates) = candidates else {
            return Ok(parsed);
        };
        if candidates.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(
                "candidates is a list of methods, losses and predictors",
            ));
        }
        for candidate in candidates.try_iter()? {
            let candidate = candidate?;
            let is_predictor = candidate.hasattr("predict")?
                || candidate.hasattr("state_dict")?
                || candidate.is_instance_of::<PyTuple>();
            if is_predictor {
                parsed.predictors.push(candidate);
                continue;
            }
            let is_function = candidate.is_callable() && !candidate.hasattr("_evaluate")?;
            if is_function {
                return Err(PyTypeError::new_err(
                    "a function alone is no candidate: put a function that makes a module into a \
                     pair with its method, (\"MAE(O,S)\", lambda: Net()), give the module itself, \
                     or write @regretless.loss in front of a loss",
                ));
            }
            match parse_method(Some(&candidate))? {
                Method::Stages(stages) => parsed.methods.push(stages),
                Method::LeastSquares { .. } => {
                    return Err(PyValueError::new_err(
                        "least squares and ridge regression are always candidates of \"auto\"",
                    ));
                }
                Method::Auto { .. } | Method::InvalidCombination(_) => {
                    return Err(PyValueError::new_err(
                        "\"auto\" is not a candidate of itself: name methods such as \"MSE(O_S)\"",
                    ));
                }
            }
        }
        Ok(parsed)
    }
}
