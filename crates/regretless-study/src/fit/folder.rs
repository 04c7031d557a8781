//! The folder of a fit, and what its results are of: settings, table and problem.

use std::path::{Path, PathBuf};

use regretless::data::CsvDialect;
use regretless::method::Method;
use regretless::oracle::Heuristic;
use regretless::problem::ProblemSpec;
use regretless::solve::SearchLimits;
use regretless_base::error::{Error, Result};
use serde::Serialize;

use super::{FitSettings, NO_COLUMN, RowFile, TableRoles};
use crate::text::{path_from, settings_text, with_path};

/// The settings of a fit, with every role.
pub const SETTINGS_FILE_NAME: &str = "settings.toml";

/// Settings that change how results are shown, and no number.
const PRESENTATION: [&str; 4] = ["out", "title", "unit", "names"];
/// Begins the line of the settings file that has the hash of table and problem.
const INPUTS: &str = "# table and problem: ";

/// The files of a fit as the user named them, which the settings file names again.
#[derive(Debug, Clone, Default)]
pub struct FitFiles {
    /// The tables.
    pub tables: Vec<PathBuf>,
    /// What separates their cells.
    pub delimiter: Option<String>,
    /// What precedes their decimals.
    pub decimal: Option<String>,
    /// The problem file; without one, the settings hold the problem.
    pub problem: Option<PathBuf>,
    /// The list of holidays.
    pub holidays: Option<PathBuf>,
    /// The list of names for people.
    pub names: Option<PathBuf>,
}

impl FitFiles {
    /// The table and how it is written. Several tables are joined to one in the folder, which
    /// replaces another one there if it may; for the next rows only, beside the one that is there.
    ///
    /// # Errors
    /// When there is no table, or several ones cannot be joined.
    pub fn table(
        &self,
        folder: &Path,
        may_replace: bool,
        rows_only: bool,
    ) -> Result<(PathBuf, CsvDialect)> {
        let mut tables = Vec::with_capacity(self.tables.len());
        for file in &self.tables {
            let (delimiter, decimal) = (self.delimiter.as_deref(), self.decimal.as_deref());
            tables.push(RowFile {
                file: file.clone(),
                dialect: CsvDialect::of_file(file, delimiter, decimal)?,
            });
        }
        match tables.as_slice() {
            [only] => Ok((only.file.clone(), only.dialect)),
            several => {
                let joined = if rows_only {
                    RowFile::join_longer(several, folder)?
                } else {
                    RowFile::join(several, folder, may_replace)?
                };
                Ok((joined, CsvDialect::default()))
            }
        }
    }
}

/// A settings file: the flags of `fit` by their names.
#[derive(Serialize)]
struct SettingsFile<'a> {
    table: &'a [PathBuf],
    costs: Option<&'a [String]>,
    time: &'a str,
    keys: &'a [String],
    decisions: &'a [String],
    forecasts: &'a [String],
    features: Option<&'a [String]>,
    lags: Vec<String>,
    ignore: Option<&'a [String]>,
    categories: Option<&'a [String]>,
    target_statistics: Option<&'a [String]>,
    dates: Option<&'a [String]>,
    holidays: Option<PathBuf>,
    missing: Option<&'a str>,
    instance_column: Option<&'a str>,
    item_column: Option<&'a str>,
    cost_column: Option<&'a str>,
    parameters: Option<&'a [String]>,
    delimiter: Option<&'a str>,
    decimal: Option<&'a str>,
    method: Option<&'a Method>,
    budget: f64,
    season: Option<usize>,
    horizon: usize,
    seed: u32,
    heuristic: Option<Heuristic>,
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    unit: Option<&'a str>,
    title: Option<&'a str>,
    names: Option<PathBuf>,
    out: &'a Path,
    problem: SettingsProblem<'a>,
}

/// A problem in a file of its own or in the settings file.
#[derive(Serialize)]
#[serde(untagged)]
enum SettingsProblem<'a> {
    File(PathBuf),
    Inline(&'a ProblemSpec),
}

/// A list, if it has entries.
fn given(list: &[String]) -> Option<&[String]> {
    (!list.is_empty()).then_some(list)
}

impl FitSettings {
    /// The text of the settings file, with every role as it was found: another table with more
    /// columns has the same ones.
    ///
    /// # Errors
    /// When the problem cannot be written.
    fn text(&self, roles: &TableRoles) -> Result<String> {
        let none = [NO_COLUMN.to_owned()];
        let periods: Vec<String> = roles.lag_periods.iter().map(usize::to_string).collect();
        let long = self.roles.long.as_ref();
        let (files, standard) = (&self.files, SearchLimits::default());
        let from_folder = |file: &PathBuf| path_from(&self.folder, file);
        let tables: Vec<PathBuf> = files.tables.iter().map(from_folder).collect();
        let parameters = self.parameters.iter();
        let parameters: Vec<String> = parameters
            .map(|named| with_path(named, |file| path_from(&self.folder, file)))
            .collect();
        let file = SettingsFile {
            table: &tables,
            // That of a long table is its cost column.
            costs: given(&roles.costs).filter(|_| roles.instances.is_empty()),
            time: roles.time.as_deref().unwrap_or(NO_COLUMN),
            keys: given(&roles.keys).unwrap_or(&none),
            decisions: given(&roles.decisions).unwrap_or(&none),
            forecasts: given(&roles.forecasts).unwrap_or(&none),
            features: given(&roles.features),
            lags: given(&periods).unwrap_or(&none).to_vec(),
            ignore: given(&self.roles.ignore),
            categories: given(&self.features.categories),
            target_statistics: given(&self.features.target_statistics),
            dates: given(&self.features.dates),
            holidays: files.holidays.as_ref().map(from_folder),
            missing: self.features.refuse_gaps.then_some("error"),
            instance_column: long.map(|long| long.instance.as_str()),
            item_column: long.and_then(|long| long.item.as_deref()),
            cost_column: long.map(|long| long.cost.as_str()),
            parameters: given(&parameters),
            delimiter: files.delimiter.as_deref(),
            decimal: files.decimal.as_deref(),
            method: self.method.as_ref(),
            budget: self.budget,
            season: self.season,
            horizon: self.horizon,
            seed: self.seed,
            heuristic: self.heuristic,
            gap: Some(self.limits.gap).filter(|gap| *gap != standard.gap),
            nodes: Some(self.limits.nodes).filter(|nodes| *nodes != standard.nodes),
            seconds: self.limits.seconds,
            unit: self.unit.as_deref(),
            title: self.title.as_deref(),
            names: files.names.as_ref().map(from_folder),
            // That of this file, wherever it is moved.
            out: Path::new("."),
            problem: match &files.problem {
                Some(path) => SettingsProblem::File(from_folder(path)),
                None => SettingsProblem::Inline(&self.problem),
            },
        };
        settings_text(&file, "fit")
    }

    /// Adds a line to the text of settings by which [`Self::check_folder`] knows the table
    /// and the problem again.
    ///
    /// # Errors
    /// When the table cannot be read.
    fn with_inputs(&self, text: &str) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        let file = std::fs::File::open(&self.file).map_err(Error::io(&self.file))?;
        hasher.update_reader(file).map_err(Error::io(&self.file))?;
        for named in &self.parameters {
            // A table of parameters may have a name in front of its file.
            let path = Path::new(named.rsplit('=').next().unwrap_or(named));
            if let Ok(file) = std::fs::File::open(path) {
                hasher.update_reader(file).map_err(Error::io(path))?;
            }
        }
        let problem = serde_json::to_string(&self.problem);
        let problem = problem.map_err(|error| Error::setting(error.to_string()))?;
        hasher.update(problem.as_bytes());
        Ok(format!("{INPUTS}{}\n{text}", hasher.finalize().to_hex()))
    }

    /// Refuses a folder with results of other settings, another table or another problem, unless
    /// they may be replaced: what changes numbers replaces nothing unasked. A longer table has
    /// another next row, which a model that is there decides.
    ///
    /// # Errors
    /// When it is a file, or has results of something else.
    pub fn check_folder(
        &self,
        roles: &TableRoles,
        may_replace: bool,
        is_rows_only: bool,
    ) -> Result<()> {
        let folder = &self.folder;
        if folder.exists() && !folder.is_dir() {
            return Err(Error::Exists(folder.clone()));
        }
        let path = folder.join(SETTINGS_FILE_NAME);
        if may_replace || !path.exists() {
            return Ok(());
        }
        let written = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let mut own = self.text(roles)?;
        if !is_rows_only {
            own = self.with_inputs(&own)?;
        }
        let settings = relevant(&written);
        let has_other_inputs = match (inputs_of(&written), inputs_of(&own)) {
            (Some(written), Some(own)) => written != own,
            (None, _) | (_, None) => false,
        };
        if settings.is_none() || settings != relevant(&own) || has_other_inputs {
            return Err(Error::Exists(path));
        }
        Ok(())
    }

    /// The text of the settings file of a fit.
    ///
    /// # Errors
    /// When the table cannot be read, or the problem cannot be written.
    pub(super) fn file_text(&self, roles: &TableRoles) -> Result<String> {
        self.with_inputs(&self.text(roles)?)
    }
}

/// The settings that decide about results.
fn relevant(text: &str) -> Option<toml::Table> {
    let mut table = text.parse::<toml::Table>().ok()?;
    for name in PRESENTATION {
        table.remove(name);
    }
    Some(table)
}

fn inputs_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(INPUTS))
}
