//! `compare`: several methods and the baselines, several seeds, one problem.
//!
//! A comparison is an experiment with one problem. Every pair of method and seed is a cell of
//! it, here called a run, on one thread. Runs are distributed over threads, and results do not
//! depend on their number. Each run is written to disk as it finishes; after an interruption the
//! same command resumes with the missing runs. At the end the results are written as tables and as
//! a page.

use std::path::{Path, PathBuf};

use regretless::job::TrainingJob;
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::parallel::Threads;
use regretless::problem::Benchmark;
use regretless::{Error, Result, Trainer};
use regretless_study::comparison::{
    Comparison, ComparisonFacts, ComparisonInput, ComparisonKey, ComparisonPage, ComparisonResult,
    Conclusion, FailedRun, ResultFolder, RunLog, default_methods, paper_methods, reference,
};
use regretless_study::experiment::{CellId, DecisionLayout};
use regretless_study::table_report::TableReport;
use regretless_study::text::first_columns;
use serde_json::Value;

use super::data_split::{DataSource, LabeledSplits, standard_split};
use super::train::check_utf8;
use super::{CommandContext, GivenOptions, decision_page, encoding, json, oracle};
use crate::args::{CompareOptions, Profile};
use crate::output::CommandReport;
use crate::settings;
use crate::shell::{command_line, quoted};

/// Runs all methods on all seeds and reports.
pub fn run(options: &CompareOptions, context: &CommandContext) -> Result<CommandReport> {
    check_utf8([&options.data.data, &options.data.cost_data, &options.out])?;
    let given = GivenOptions {
        method: options.methods.is_some(),
        selection: options.training.select.is_some()
            || options.training.profile.is_some()
            || !options.data.is_given(),
        split: options.split.split.is_some(),
    };
    let mut options = resolved(options.clone(), context)?;
    // It changes no result and is no setting of it.
    let page_options = std::mem::take(&mut options.page);
    // That of a complete comparison is compared with what would be written.
    let has_results = |out: &PathBuf| out.join("summary.csv").exists();
    let may_be_same = options.out.as_ref().is_some_and(has_results);
    let unit = options.unit.as_deref();
    decision_page::check(&page_options, unit, may_be_same, context)?;
    let comparison = comparison_of(&mut options, given, context)?;
    let spec = comparison.data[0].problem.spec();
    let layout = DecisionLayout::for_problem(spec, page_options.coordinates.as_deref())?;
    let runs = comparison.runner.cell_ids()?;
    let (folder, log) = result_folder(&options, &runs, context)?;
    let lock = folder.lock()?;
    let result = comparison.run(&context.progress, &runs, log)?;
    let is_complete = result.failures.is_empty() && !context.progress.interrupted();
    let conclusion = comparison.conclude(&result, is_complete, &context.progress)?;
    let explained = comparison.explain(&conclusion, &context.progress)?;
    let page = ComparisonPage {
        layout,
        comparison: &comparison,
        result: &result,
        conclusion: &conclusion,
        explained: &explained,
        commands: commands(folder.path(), context),
        settings_file: Some(format!("{}/settings.toml", folder.path().display())),
    };
    let page = page.draw();
    folder.finish(&result.runs, &conclusion.summary, &page.html)?;
    if let Some(path) = &page_options.report {
        decision_page::write_page(path, &page.html, context.force)?;
    }
    let mut report = report(&comparison, &result, &conclusion, &folder)?;
    decision_page::write_page_figures(&page, &page_options, &mut report)?;
    let written = page_options.report.unwrap_or_else(|| folder.report_file());
    decision_page::mention(&written, &mut report);
    let finished = result.runs.len();
    let first_failure = result.failures.into_iter().next();
    report.failure = first_failure.map(|failure| failure.error);
    if context.progress.interrupted() {
        report.line(format!(
            "interrupted after {finished} of {} runs; the same command resumes",
            runs.len()
        ));
        report.failure = Some(Error::Interrupted);
    }
    report.end = Some(Box::new(move || {
        drop(lock);
        Ok(())
    }));
    Ok(report)
}

/// The folder of the results and its log of runs, which has those of an earlier call.
fn result_folder(
    options: &CompareOptions,
    runs: &[CellId],
    context: &CommandContext,
) -> Result<(ResultFolder, RunLog)> {
    let key = ComparisonKey {
        runs,
        settings: &settings::text(options, "compare")?,
    };
    let (folder, earlier) =
        ResultFolder::choose(options.out.as_deref(), &name(options), &key, context.force)?;
    if earlier.len() == runs.len() && folder.has_summary() {
        context.warn("note: this comparison was complete; its results are unchanged");
    } else if !earlier.is_empty() {
        context.warn(&format!(
            "note: resuming; {} of {} runs are finished",
            earlier.len(),
            runs.len()
        ));
    }
    let written = CompareOptions {
        out: Some(folder.path().into()),
        ..options.clone()
    };
    let settings = settings::text(&written, "compare")?;
    let log = folder.runs(settings, earlier)?;
    Ok((folder, log))
}

/// The results without the page.
fn report(
    comparison: &Comparison,
    result: &ComparisonResult,
    conclusion: &Conclusion,
    folder: &ResultFolder,
) -> Result<CommandReport> {
    let summary = &conclusion.summary;
    let mut report = CommandReport {
        json: summary.json(folder.path(), &folder.report_file(), &result.failures),
        ..CommandReport::default()
    };
    if let (Some(report), Value::Object(details)) =
        (report.json.as_object_mut(), comparison.json(conclusion))
    {
        report.extend(details);
    }
    if let Some(findings) = &comparison.table.findings {
        report.json["data_check"] = json(findings)?;
    }
    report.line(comparison.title());
    let features = comparison.features();
    let plural = if features.len() == 1 { "" } else { "s" };
    report.line(format!(
        "{} feature{plural}: {}",
        features.len(),
        first_columns(features)
    ));
    encoding::print(&comparison.encoding(), &mut report);
    report.line("");
    report.text.push_str(&summary.text(&comparison.facts.unit));
    for sentence in conclusion.sentences() {
        report.line(sentence);
    }
    for line in failure_lines(&result.failures) {
        report.line(line);
    }
    report.line(format!("\nresults in {}", folder.path().display()));
    Ok(report)
}

/// The failed runs, those of one method with the same error in one line.
fn failure_lines(failures: &[FailedRun]) -> Vec<String> {
    let mut groups: Vec<(&str, String, Vec<String>)> = Vec::new();
    for failure in failures {
        let (name, error) = (failure.run.name.as_str(), failure.error.to_string());
        let seed = failure.run.seed.to_string();
        match groups
            .iter_mut()
            .find(|(known, message, _)| *known == name && *message == error)
        {
            Some((_, _, seeds)) => seeds.push(seed),
            None => groups.push((name, error, vec![seed])),
        }
    }
    let line = |(name, error, seeds): (&str, String, Vec<String>)| {
        let noun = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("failed: {name}, {noun} {}: {error}", seeds.join(", "))
    };
    groups.into_iter().map(line).collect()
}

/// The options with every default filled in, except for methods that depend on the table.
fn resolved(mut options: CompareOptions, context: &CommandContext) -> Result<CompareOptions> {
    if !options.data.is_given() && options.problem.problem.is_none() {
        options
            .problem
            .benchmark
            .get_or_insert(Benchmark::Knapsack { items: 32 });
    }
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    options.seeds.get_or_insert(5);
    options.seed.get_or_insert(0);
    options.training = options.training.resolved(standard_profile(&options));
    if options.methods.is_none() && options.problem.benchmark.is_some() {
        options.methods = Some(paper_methods());
        context.warn("note: the methods are those of the paper for its benchmarks");
    }
    if let Some(listed) = options.methods.take() {
        options.methods = Some(with_reference(listed, context));
    }
    if options.seeds == Some(0) {
        return Err(Error::setting("seeds must be at least 1"));
    }
    Ok(options)
}

/// Each method once, and the reference.
fn with_reference(listed: Vec<Method>, context: &CommandContext) -> Vec<Method> {
    let mut methods: Vec<Method> = Vec::new();
    for method in listed {
        // Least squares is always compared.
        if !methods.contains(&method) && method != Method::least_squares() {
            methods.push(method);
        }
    }
    if !methods.contains(&reference()) {
        context.warn("note: MSE runs too, as the reference of the ratios");
        methods.insert(0, reference());
    }
    methods
}

/// The default profile: `paper` for built-in data, where it reproduces the paper's tables, and
/// `default` for the user's tables, on which `paper` leaves MSE undertrained, as it does not
/// standardize features.
fn standard_profile(options: &CompareOptions) -> Profile {
    if options.problem.benchmark.is_some() {
        Profile::Paper
    } else {
        Profile::Default
    }
}

/// The name of the profile of a comparison.
fn profile_name(options: &CompareOptions) -> &'static str {
    let profile = options.training.profile;
    match profile.unwrap_or(standard_profile(options)) {
        Profile::Default => "default",
        Profile::Paper => "paper",
    }
}

/// Name of the comparison: the benchmark or the table.
fn name(options: &CompareOptions) -> String {
    match (options.problem.benchmark, &options.data.data) {
        (Some(benchmark), _) => benchmark.to_string(),
        (None, Some(path)) => path
            .file_stem()
            .map_or("table".into(), |stem| stem.to_string_lossy().into_owned()),
        (None, None) => "table".into(),
    }
}

/// Commands that repeat a comparison.
fn commands(folder: &Path, context: &CommandContext) -> Vec<String> {
    let folder = folder.display().to_string();
    let (settings, again) = (format!("{folder}/settings.toml"), format!("{folder}-again"));
    vec![
        command_line(&context.arguments),
        format!(
            "regretless compare --config {} --out {}   # the same settings in a new folder",
            quoted(&settings),
            quoted(&again)
        ),
    ]
}

/// Names and origin of the rows.
fn facts(options: &CompareOptions) -> ComparisonFacts {
    let name = name(options);
    let mut origin = decision_page::origin(&options.data);
    if options.problem.benchmark.is_some() {
        origin.push(("data".into(), format!("{name}, generated for each seed")));
    }
    ComparisonFacts {
        table: decision_page::table_name(&options.data).unwrap_or_else(|| name.clone()),
        name,
        origin,
        first_seed: options.seed.unwrap_or(0),
        profile: profile_name(options).into(),
        unit: options.unit.clone().unwrap_or_default(),
    }
}

/// Reads and labels the data. Where the user did not choose the methods or how epochs are selected,
/// the options get what is affordable. They also get the names of the features, so the
/// settings that are written do not depend on the columns of the table.
fn comparison_of(
    options: &mut CompareOptions,
    given: GivenOptions,
    context: &CommandContext,
) -> Result<Comparison> {
    let (first, count) = (options.seed.unwrap_or(0), options.seeds.unwrap_or(1));
    let past = first
        .checked_add(count)
        .ok_or_else(|| Error::setting("seeds must stay below 4294967296"))?;
    let source = DataSource::open(
        &options.data,
        &options.problem,
        options.split.split.clone(),
        &options.execution,
        context,
    )?;
    let time_split = if given.split {
        None
    } else {
        source.time_split()?
    };
    if options.data.features.is_none() {
        options.data.features = source.feature_names();
    }
    let unused_columns = source.unused_columns();
    let keys = source.row_keys()?;
    let splits = source.data_splits(first..past)?;
    let data = &splits.cells[0];
    let oracle = oracle(&data.problem, data.data.data(), &options.execution)?;
    let training = options.training.settings(standard_profile(options), 0);
    for data in &splits.cells {
        training.check(&data.split)?;
    }
    let context_of_rows = TrainingJob::new(data, &oracle, &[], &context.progress).context();
    let default = || default_methods(&training, &context_of_rows);
    let methods = options.methods.get_or_insert_with(default).clone();
    let job = TrainingJob {
        time_split: time_split.as_deref(),
        ..TrainingJob::new(data, &oracle, &methods, &context.progress)
    };
    let mut reference = Trainer::new(reference()).settings(training);
    let select = (!given.selection).then_some(&mut reference);
    let prepared = job.prepare(select, |check| splits.check(check))?;
    context.print_notes(&prepared.notes);
    let training = reference.settings;
    options.training.select = Some(training.select);
    let findings = splits.findings(prepared.findings);
    let LabeledSplits {
        cells: data,
        skipped_rows,
        ..
    } = splits;
    Comparison::new(ComparisonInput {
        data,
        oracle: &oracle,
        methods,
        given: Vec::new(),
        predictor: options.split.predictor.clone(),
        training,
        threads: Threads::new(options.execution.threads.unwrap_or(0))?,
        facts: facts(options),
        table: TableReport {
            unused_columns,
            skipped_rows,
            findings,
            keys,
        },
    })
}
