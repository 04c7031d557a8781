//! Runs the plan of a fit: labels, folds, verdict, model and page.

use std::collections::HashMap;
use std::path::PathBuf;

use regretless::Model;
use regretless::data::{DataCheck, Finding, SplitIndices, SplitRule};
use regretless::label::LabelReport;
use regretless::notes::{Note, NoteKind};
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;
use regretless_base::text::first_names;

use super::per_cost::shared_least_squares;
use super::{FitPlan, FitSettings, FitTable, FitVerdict, SETTINGS_FILE_NAME};
use crate::backtest::{BacktestHistory, BacktestResults, BacktestTable, GivenMethod, Periods};
use crate::decision_page::{BacktestFacts, BacktestPage, DecisionPage};
use crate::table_report::UnusedColumns;
use crate::text::{grouped, write_text};

/// Fraction of rows that may equal another one in features and costs. Untuned: what models have
/// seen of so few rows they decide is less than what intervals allow for.
const MAX_REPEATED_ROWS: f64 = 0.05;

/// Everything that a fit finds.
pub struct FitResults {
    /// What follows from it.
    pub verdict: FitVerdict,
    /// Costs, regrets and decisions of all methods.
    pub results: BacktestResults,
    /// The model of all rows.
    pub model: Model,
    /// Epochs of its training, if it has some.
    pub epochs: Option<usize>,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// What the data check found.
    pub findings: Vec<Finding>,
    /// How rows were labeled.
    pub labels: LabelReport,
    /// The page.
    pub page: DecisionPage,
}

/// Files in the folder of the results, besides those of the backtest.
pub const MODEL_FILE_NAME: &str = "model.safetensors";
/// The last row of the table without its costs: what a table to decide on looks like.
pub const NEW_ROWS_FILE_NAME: &str = "new-rows.csv";
/// The table with the costs of earlier periods.
pub const LAGGED_FILE_NAME: &str = "lagged.csv";
/// What the model is, for people.
pub const CARD_FILE_NAME: &str = "model-card.md";
/// Results that show whether those of an earlier run are the same. The page, which is written last,
/// has the time of the run.
const COMPARED_FILES: [&str; 3] = ["summary.json", MODEL_FILE_NAME, CARD_FILE_NAME];
/// The page.
pub const PAGE_FILE_NAME: &str = "report.html";

impl FitResults {
    /// Writes model, card, page, settings and the results of the comparison. Those of an earlier
    /// run are replaced. Returns whether that run was complete and had the same results.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, table: &FitTable, settings: &FitSettings) -> Result<bool> {
        let folder = &settings.folder;
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        // First: a folder with results of a run that was killed is not taken by other settings.
        let text = settings.file_text(&table.roles)?;
        write_text(&folder.join(SETTINGS_FILE_NAME), &text, true)?;
        let contents = || COMPARED_FILES.map(|name| std::fs::read(folder.join(name)).ok());
        let earlier = contents();
        let is_complete =
            earlier.iter().all(Option::is_some) && folder.join(PAGE_FILE_NAME).exists();
        self.results.write(folder)?;
        self.model
            .predictor()
            .save(&folder.join(MODEL_FILE_NAME), true)?;
        table.write_new_rows(settings)?;
        if let Some(lagged) = &table.lagged {
            write_text(&folder.join(LAGGED_FILE_NAME), lagged, true)?;
        }
        let card = self.model_card(table, settings);
        write_text(&folder.join(CARD_FILE_NAME), &card, true)?;
        write_text(&folder.join(PAGE_FILE_NAME), &self.page.html, true)?;
        Ok(is_complete && earlier == contents())
    }
}

/// Why baselines are not compared; without the method of the plan there is no verdict.
fn reasons_of_failures(results: &BacktestResults, plan: &FitPlan) -> Result<Vec<String>> {
    let method = plan.method.to_string();
    let mut reasons = Vec::with_capacity(results.failures.len());
    for failed in &results.failures {
        if failed.name == method {
            return Err(Error::setting(failed.error.clone()).for_method(&failed.name));
        }
        reasons.push(format!("not compared: {}: {}", failed.name, failed.error));
    }
    Ok(reasons)
}

impl FitTable {
    /// Writes what the next decision needs, and returns the file. Cells that the user has filled in
    /// stay if the other ones are the same.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_new_rows(&self, settings: &FitSettings) -> Result<PathBuf> {
        let folder = &settings.folder;
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let file = folder.join(NEW_ROWS_FILE_NAME);
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        if !self.next_rows.are_filled_in(&written) {
            write_text(&file, &self.next_rows.text, true)?;
        }
        Ok(file)
    }

    /// Labels the rows, compares the methods of a plan, and fits the one that the verdict is about.
    ///
    /// # Errors
    /// As [`Backtest::run`](crate::backtest::Backtest::run).
    pub fn fit(
        &self,
        plan: &FitPlan,
        settings: &FitSettings,
        observer: &dyn Observer,
    ) -> Result<FitResults> {
        self.fit_rows(plan, settings, observer)
            .map_err(|error| self.user.place_error(&self.data_file, error))
    }

    fn fit_rows(
        &self,
        plan: &FitPlan,
        settings: &FitSettings,
        observer: &dyn Observer,
    ) -> Result<FitResults> {
        let (mut labeled, oracle) = self.label(settings, observer)?;
        for (row, _) in &mut labeled.report.failed {
            *row = self.user.row(*row);
        }
        let mut notes = labeled.notes;
        // Rows without a label are in no fold.
        let mut plan = plan.clone();
        let divide = |periods: &Periods| {
            plan = FitPlan::of_periods(periods, settings)?;
            Ok(plan.folds.clone())
        };
        let history = BacktestHistory::new(
            self.problem.clone(),
            labeled.rows,
            self.periods.clone(),
            self.halves(settings)?,
            divide,
        )?;
        let table = history.table(&oracle);
        let time = self.roles.time.as_deref();
        let check = |check: DataCheck<'_>| self.source.check(check, time);
        let mut backtest = plan.backtest.clone();
        backtest.repeated_rows = self.repeated_rows()?;
        plan.method.check_problem(&oracle)?;
        let shared = shared_least_squares();
        if !self.roles.cost_columns.is_empty() && !backtest.methods.contains(&shared) {
            backtest.methods.push(shared);
        }
        let prepared = backtest.prepare(&history, &oracle, false, check)?;
        notes.extend(prepared.notes);
        let (given, mut reasons) = self.given(&settings.file)?;
        let given = comparable(given, &table, &mut reasons);
        let mut results = backtest.run(&table, &given, observer)?;
        results.rows_of_table.clone_from(&self.user.rows);
        reasons.extend(reasons_of_failures(&results, &plan)?);
        results.remarks.extend(reasons);
        let verdict = FitVerdict::of(&results, &plan);
        results.stated_verdict = Some(verdict.sentence.clone());
        results.remarks.clone_from(&verdict.remarks);
        results.delivered = Some(verdict.chosen.clone());
        let production = backtest.fit_history(&table, &results, &verdict.chosen, observer)?;
        notes.extend(skipped_rows(&labeled.report, self.rows()));
        notes.extend(new_features(&production.new_features));
        let model = Model::new(production.model, self.problem.clone())?;
        let page = BacktestPage {
            results: &results,
            backtest: &backtest,
            table,
            findings: &prepared.findings,
            facts: self.facts(settings),
        };
        Ok(FitResults {
            page: page.draw(observer)?,
            verdict,
            model,
            epochs: production.epochs,
            notes,
            findings: prepared.findings,
            labels: labeled.report,
            results,
        })
    }

    /// The earlier and the later half of the rows, which the data check compares; two random ones
    /// if rows have no order.
    fn halves(&self, settings: &FitSettings) -> Result<SplitIndices> {
        let fractions = [0.0, 0.5];
        let rule = match &self.roles.time {
            Some(time) => SplitRule::Time {
                column: time.clone(),
                fractions,
            },
            None => SplitRule::Fractions(fractions),
        };
        let split = rule.with_seed(u64::from(settings.seed));
        self.source.split(&split, self.rows())
    }

    /// Rows without times that equal another one, if models of the others have seen so many of the
    /// rows that they decide.
    fn repeated_rows(&self) -> Result<usize> {
        if self.roles.time.is_some() || !self.roles.instances.is_empty() {
            return Ok(0);
        }
        let roles = &self.roles;
        let columns = [roles.features.as_slice(), &roles.costs].concat();
        let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
        self.source.visit_rows(&columns, &mut |cells| {
            *counts.entry(cells.to_vec()).or_default() += 1;
            Ok(())
        })?;
        let repeated: usize = counts.values().filter(|count| **count > 1).sum();
        let is_much = repeated as f64 > MAX_REPEATED_ROWS * self.rows() as f64;
        Ok(if is_much { repeated } else { 0 })
    }

    fn facts(&self, settings: &FitSettings) -> BacktestFacts {
        let file = settings.file.file_name();
        let name = file.map(|name| name.to_string_lossy().into_owned());
        let origin = self.roles.lines().into_iter();
        let unused = self.roles.unused.iter();
        let unused = unused.map(|column| (column.name.clone(), column.reason.clone()));
        BacktestFacts {
            table: name,
            cost_names: self.cost_names.clone(),
            // The page lists the features as they are encoded.
            origin: origin.filter(|(role, _)| role != "features").collect(),
            time_column: self.roles.time.clone(),
            commands: vec![settings.command.text()],
            title: settings.title.clone(),
            unused_columns: UnusedColumns::new(unused.collect()),
            ..BacktestFacts::default()
        }
    }
}

/// Rows that are left out because they have no label.
fn skipped_rows(labels: &LabelReport, rows: usize) -> Option<Note> {
    let (row, failure) = labels.failed.first()?;
    let count = labels.failed.len();
    let first = if count == 1 { "it" } else { "the first" };
    Some(Note {
        kind: NoteKind::Labels,
        text: format!(
            "{} of {} rows {} left out, as no decision is best for them; {first} is row {row} \
             (counted from 0): {failure}",
            grouped(count as u64),
            grouped(rows as u64),
            if count == 1 { "is" } else { "are" }
        ),
    })
}

/// Features of the model that no training that was compared had.
fn new_features(names: &[String]) -> Option<Note> {
    (!names.is_empty()).then(|| Note {
        kind: NoteKind::Encoding,
        text: format!(
            "all rows together allow for features that no training of the comparison had; the \
             model has them: {}",
            first_names(names)
        ),
    })
}

/// What the user has, without what cannot be compared; the reasons are added to the others.
fn comparable(
    given: Vec<GivenMethod>,
    table: &BacktestTable<'_>,
    reasons: &mut Vec<String>,
) -> Vec<GivenMethod> {
    let mut kept = Vec::new();
    for method in given {
        match method.check(table) {
            Ok(()) => kept.push(method),
            Err(error) => reasons.push(format!("not compared: {error}")),
        }
    }
    kept
}
