//! The table of a fit: its roles, its rows, and what the user already has.

use std::collections::HashSet;
use std::path::PathBuf;

use regretless::Problem;
use regretless::data::{
    ColumnProfile, CostNames, CsvDialect, DataCheck, Dataset, FindingKind, Layout, LongColumns,
    TableProfile, TableSource, WideColumns,
};
use regretless::job::{LabeledTable, MatchedTable, RowLabels};
use regretless::label::LabelStore;
use regretless::notes::{Note, NoteKind};
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::sense::Sense;
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;
use regretless_base::text::{common_ends, first_names};

use super::lags::{LaggedTable, add_lags};
use super::next_rows::{NextRows, NextRowsFinder};
use super::past::find_decisions;
use super::per_cost::columns_of_costs;
use super::roles::WHICH_PROBLEM_PAGE;
use super::roles::feasibility::{DecisionColumns, DecisionFit};
use super::roles::time::dates_without_role;
use super::table_copy::{UserRows, known_rows, without_later_rows};
use super::{FitSettings, ProblemColumnNames, TableRoles};
use crate::backtest::Periods;
use crate::table_report::NamesFile;

/// Why a leaking feature is left out, and what keeps it.
const LEAKAGE: &str = "target leakage: almost perfectly correlated with a cost; name the features \
    to keep them";

/// A table whose columns have roles, read for its problem.
pub struct FitTable {
    /// What each column is.
    pub roles: TableRoles,
    /// The problem of the table.
    pub problem: Problem,
    /// What the user should know about the table.
    pub notes: Vec<Note>,
    /// What people call the costs, if it is something else than the table does.
    pub(super) cost_names: Option<CostNames>,
    pub(super) source: TableSource,
    pub(super) table: MatchedTable,
    pub(super) periods: Periods,
    /// The table with the costs of earlier periods, if it has some.
    pub(super) lagged: Option<String>,
    /// What the next decision needs.
    pub next_rows: NextRows,
    /// Where the rows are in the file of the user.
    pub(super) user: UserRows,
    /// The file of the rows: that of the user, or a copy.
    pub(super) data_file: PathBuf,
}

/// The rows of a table, of which the first ones have costs.
struct RowsOfTable {
    original: TableSource,
    /// That of the columns of the rows with costs, with the number of all rows.
    profile: TableProfile,
    known: usize,
    user: UserRows,
}

/// A table that was read with its features and costs.
struct ReadTable {
    problem: Problem,
    source: TableSource,
    table: MatchedTable,
    /// The table as encoded by all of its rows.
    encoded: Dataset,
    notes: Vec<Note>,
}

impl ReadTable {
    fn read(
        settings: &FitSettings,
        profile: &TableProfile,
        roles: &mut TableRoles,
        lagged: Option<&LaggedTable>,
    ) -> Result<Self> {
        let in_file = |error: Error| error.in_file(&settings.file);
        let stated = &settings.roles;
        let mut source = source_of(settings, roles, lagged);
        let read = source.read_for(settings.problem.clone());
        let (problem, mut data) = read.map_err(|error| led_on(error, profile, roles))?;
        let all: Vec<usize> = (0..data.len()).collect();
        let mut encoded = data.clone().encoded(&all).map_err(in_file)?;
        let read_features = roles.features.clone();
        find_decisions(&source, profile, &problem, &data, roles, settings)?;
        roles.describe_calendar(&encoded);
        let mut leaking = leaking_features(&source, &encoded, roles.time.as_deref())?;
        // Costs of earlier periods are known, however similar they are.
        leaking.retain(|column| !roles.lags.contains(column));
        roles.suspect_forecasts(&leaking, !stated.forecasts.is_empty());
        // Features that the user named are known when the decision is made.
        if stated.features.is_empty() {
            roles.leave_out(&leaking, LEAKAGE);
            if roles.features.is_empty() {
                return Err(in_file(no_feature_left(&leaking, settings)));
            }
        }
        if roles.features != read_features {
            source = source_of(settings, roles, lagged);
            data = source.read_for(settings.problem.clone())?.1;
            encoded = data.clone().encoded(&all).map_err(in_file)?;
        }
        if let Some(names) = &roles.cost_names {
            data.rename_costs(names.clone().into()).map_err(in_file)?;
        }
        let table = MatchedTable::open(problem.kind().as_ref(), data, "the table");
        let table = table.map_err(in_file)?;
        let mut notes = table.notes().to_vec();
        notes.extend(roles.notes.iter().map(|text| Note {
            kind: NoteKind::UnusedColumn,
            text: text.clone(),
        }));
        let dates = dates_without_role(&profile.columns);
        if let Some(column) = dates.filter(|_| roles.time.is_none()) {
            let command = settings.command.with_role("time", column);
            notes.push(Note::of_random_split(&command));
        }
        Ok(Self {
            problem,
            source,
            table,
            encoded,
            notes,
        })
    }
}

impl FitTable {
    /// Reads the table; its columns get their roles first.
    ///
    /// # Errors
    /// When a role cannot be told (the remedy has a flag for each reading), or the table does not
    /// fit the problem.
    pub fn read(settings: &FitSettings) -> Result<Self> {
        let original = source(settings, Layout::Wide(WideColumns::default()));
        let profile = original.profile()?;
        let names = problem_columns(settings)?;
        let roles = roles_of(&profile, &names, settings)?;
        let known = known_rows(&original, &profile, &roles, settings)?;
        let mut rows = RowsOfTable {
            user: UserRows {
                source: original.clone(),
                file: settings.file.clone(),
                rows: None,
            },
            original,
            profile,
            known,
        };
        let profile_rows = rows.profile.rows;
        if known == profile_rows {
            return Self::with_roles(settings, roles, rows);
        }
        // Rows at the end without any cost are those to decide.
        let copied = without_later_rows(&rows.original, &rows.profile, known, settings)?;
        let copy = source(&copied, Layout::Wide(WideColumns::default()));
        let user = rows.user.clone();
        let in_user_file = |error| user.place_error(&copied.file, error);
        let known_profile = copy.profile().map_err(in_user_file)?;
        let roles = roles_of(&known_profile, &names, &copied).map_err(in_user_file)?;
        rows.profile.columns = known_profile.columns;
        let read = Self::with_roles(&copied, roles, rows);
        let mut table = read.map_err(in_user_file)?;
        let later = profile_rows - known;
        let text = format!(
            "the last {later} row{} without costs, to be decided, as far as the costs before are \
             known: see {}",
            if later == 1 { " is" } else { "s are" },
            super::NEW_ROWS_FILE_NAME,
        );
        let kind = NoteKind::UnusedColumn;
        table.notes.insert(0, Note { kind, text });
        Ok(table)
    }

    /// Reads the rows with costs of a table whose columns have roles.
    fn with_roles(
        settings: &FitSettings,
        mut roles: TableRoles,
        rows: RowsOfTable,
    ) -> Result<Self> {
        let RowsOfTable {
            original,
            profile,
            known,
            mut user,
        } = rows;
        let lagged = add_lags(&original, &profile, &mut roles, settings, known)?;
        let data_file = match &lagged {
            Some(lagged) => {
                user.rows = Some(lagged.rows.clone());
                lagged.file.clone()
            }
            None => settings.file.clone(),
        };
        let lagged = lagged.as_ref();
        let read = ReadTable::read(settings, &profile, &mut roles, lagged);
        let read = read.map_err(|error| user.place_error(&data_file, error))?;
        let ReadTable {
            problem,
            source,
            table,
            encoded,
            notes,
        } = read;
        let in_user_file = |error| user.place_error(&data_file, error);
        let periods = periods_of(&source, &roles, table.data().len(), settings);
        let periods = periods.map_err(in_user_file)?;
        roles.cost_columns = columns_of_costs(&encoded, &periods);
        let key = key_of(&roles, &periods, table.data().len());
        let named_by = key.or(roles.instances.first().map(String::as_str));
        let periods = match named_by.filter(|_| !periods.are_ordered()) {
            Some(column) => periods.with_row_names(&row_names(settings, &source, column, &roles)?),
            None => periods,
        };
        let cost_names = NamesFile::names_in(settings.files.names.as_deref(), table.data())?;
        let next_rows = NextRowsFinder {
            source: &original,
            profile: &profile,
            roles: &roles,
            periods: &periods,
            key,
            known,
        };
        let mut table = Self {
            next_rows: next_rows.find(&table, settings)?,
            lagged: lagged.map(|lagged| lagged.text.clone()),
            cost_names,
            roles,
            problem,
            notes,
            source,
            table,
            periods,
            user,
            data_file,
        };
        table.keep_forecasts_of_costs(&settings.roles)?;
        Ok(table)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.data().len()
    }

    /// The problem, and whether it is minimized or maximized.
    pub fn problem_in_words(&self) -> String {
        let problem = self.problem.kind();
        let sense = match problem.sense() {
            Sense::Minimize => "minimize",
            Sense::Maximize => "maximize",
        };
        format!("{}, {sense}", problem.name())
    }

    /// The column by which a row is found in decisions; those of a long table have their instance.
    pub fn key(&self) -> Option<&str> {
        self.next_rows.key.as_deref()
    }

    /// The periods of the rows; rows without times are periods in random order.
    pub fn periods(&self) -> &Periods {
        &self.periods
    }

    /// Solves every row; labels that are stored next to the table are used.
    pub(super) fn label(
        &self,
        settings: &FitSettings,
        observer: &dyn Observer,
    ) -> Result<(LabeledTable, Oracle)> {
        let in_file = |error: Error| error.in_file(&settings.file);
        let oracle = Oracle::new(self.problem.kind().clone())
            .with_threads(Threads::new(settings.threads)?)
            .with_limits(settings.limits)
            .with_heuristic(settings.heuristic)
            .and_then(|oracle| oracle.with_parameters(self.table.data().parameters()))
            .map_err(in_file)?;
        let store = LabelStore::for_table(&self.data_file);
        let table = MatchedTable::new(self.table.data().clone());
        let labels = RowLabels::Stored(&store);
        let labeled = table.label(&self.problem, &oracle, labels, observer);
        Ok((labeled.map_err(in_file)?, oracle))
    }

    /// Puts columns that belong to the costs of the table, one each, in the order of the problem.
    pub(super) fn in_order_of_problem(&self) -> impl Fn(&[String]) -> Vec<String> + '_ {
        let ordered = self.table.data().cost_names().to_vec();
        move |columns| {
            let mut found = Vec::with_capacity(columns.len());
            for (position, cost) in ordered.iter().enumerate() {
                let place = self.roles.costs.iter().position(|name| name == cost);
                found.push(columns[place.unwrap_or(position)].clone());
            }
            found
        }
    }
}

/// The times of the rows; without them, rows are periods in random order.
fn periods_of(
    source: &TableSource,
    roles: &TableRoles,
    rows: usize,
    settings: &FitSettings,
) -> Result<Periods> {
    match &roles.time {
        Some(time) => Periods::read(source, time),
        None => Periods::without_times(rows, u64::from(settings.seed)),
    }
}

/// The time, where no two rows have the same one, or else the first key.
fn key_of<'r>(roles: &'r TableRoles, periods: &Periods, rows: usize) -> Option<&'r str> {
    if !roles.instances.is_empty() {
        return None;
    }
    let time = roles.time.as_deref().filter(|_| periods.len() == rows);
    time.or_else(|| roles.keys.first().map(String::as_str))
}

/// What the rows are called by a column: by its cells, of a long table by its name and the cell of
/// each instance, since these are often numbers.
fn row_names(
    settings: &FitSettings,
    source: &TableSource,
    column: &str,
    roles: &TableRoles,
) -> Result<Vec<String>> {
    let is_long = !roles.instances.is_empty();
    let mut known: HashSet<String> = HashSet::new();
    let mut names = Vec::new();
    let read = source.visit_rows(&[column.to_owned()], &mut |cells| {
        let cell = &cells[0];
        if !is_long {
            names.push(cell.clone());
        } else if known.insert(cell.clone()) {
            names.push(format!("{column} {cell}"));
        }
        Ok(())
    });
    read.map_err(|error| error.in_file(&settings.file))?;
    Ok(names)
}

/// The roles of the columns of a table.
fn roles_of(
    profile: &TableProfile,
    names: &ProblemColumnNames,
    settings: &FitSettings,
) -> Result<TableRoles> {
    let test = |columns: &DecisionColumns| DecisionFit::of(settings, columns);
    TableRoles::of(profile, names, &settings.roles, &settings.command, &test)
        .map_err(|error| error.in_file(&settings.file))
}

/// The features that look like costs in disguise; the table is encoded by all rows.
fn leaking_features(
    source: &TableSource,
    encoded: &Dataset,
    time: Option<&str>,
) -> Result<Vec<String>> {
    let findings = source.check(DataCheck::new(encoded), time)?;
    let leaks = findings
        .into_iter()
        .filter(|finding| finding.kind == FindingKind::Leak);
    let mut columns: Vec<String> = leaks.flat_map(|leak| leak.columns).collect();
    // Names of values of categories are no columns of the table.
    let of_table = encoded.features().column_names();
    columns.retain(|name| of_table.contains(name));
    Ok(columns)
}

/// The error of a table whose costs have gaps, with what can be done about them.
fn led_on(error: Error, profile: &TableProfile, roles: &TableRoles) -> Error {
    let has_gaps = |column: &&ColumnProfile| column.gaps > 0 && roles.costs.contains(&column.name);
    if !profile.columns.iter().any(|column| has_gaps(&column)) {
        return error;
    }
    let remedy = error.remedy().unwrap_or_else(|| "fill them in".into());
    error.with_remedy(format!(
        "{remedy}; where costs are missing by chance, leave these rows out; {WHICH_PROBLEM_PAGE}"
    ))
}

/// The error where every feature leaks.
fn no_feature_left(leaking: &[String], settings: &FitSettings) -> Error {
    let error = match leaking {
        [] => Error::setting("no column is left for the features"),
        leaking => Error::setting(format!(
            "every feature is almost perfectly correlated with a cost: {}",
            first_names(leaking)
        )),
    };
    error.with_remedy(format!(
        "if they are known when the decision is made: {}",
        settings.command.with_role("features", "*")
    ))
}

/// The table with the columns of its costs and features.
fn source_of(
    settings: &FitSettings,
    roles: &TableRoles,
    lagged: Option<&LaggedTable>,
) -> TableSource {
    let options = settings.features.clone();
    let layout = match &settings.roles.long {
        Some(long) => Layout::Long(LongColumns {
            features: roles.features.clone(),
            options,
            ..long.clone()
        }),
        None => Layout::Wide(WideColumns {
            features: [roles.features.as_slice(), &roles.lags].concat(),
            costs: roles.costs.clone(),
            ignore: Vec::new(),
            options,
        }),
    };
    match lagged {
        None => source(settings, layout),
        Some(lagged) => TableSource::Csv {
            file: lagged.file.clone(),
            layout,
            dialect: CsvDialect::default(),
            parameters: Vec::new(),
        },
    }
}

/// The pattern of names that are alike.
pub(super) fn common_pattern(names: &[String]) -> String {
    let (start, end) = common_ends(names);
    let first = &names[0];
    format!("{}*{}", &first[..start], &first[first.len() - end..])
}

fn source(settings: &FitSettings, layout: Layout) -> TableSource {
    TableSource::Csv {
        file: settings.file.clone(),
        layout,
        dialect: settings.dialect,
        parameters: settings.parameters.clone(),
    }
}

/// What the problem says about columns. The costs of a problem with open items are those of the
/// table.
fn problem_columns(settings: &FitSettings) -> Result<ProblemColumnNames> {
    let spec = &settings.problem;
    let parameters = spec.parameter_columns()?;
    let parameters = parameters.into_iter().map(|parameter| parameter.pattern);
    let mut names = ProblemColumnNames {
        parameters: parameters.collect(),
        costs_are_steps: spec.has_costs_of_steps(),
        predicts_quantities: spec.predicts_quantities(),
        ..ProblemColumnNames::default()
    };
    if !spec.has_open_items() {
        let problem = Problem::from_spec(spec.clone())?;
        names.num_costs = Some(problem.kind().num_costs());
        let costs = problem.kind().names().cost_names();
        names.costs = costs
            .filter(|names| names.are_explicit())
            .map(|names| names.to_vec());
    }
    Ok(names)
}
