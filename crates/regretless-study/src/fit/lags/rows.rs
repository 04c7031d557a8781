//! The rows of a table as series of periods, and the table with the costs of earlier periods.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use regretless::data::{TableProfile, TableSource, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::first_names;

use super::lag_names;
use super::steps::{PeriodNumbers, PeriodStep};
use crate::fit::{FitSettings, TableRoles};
use crate::text::{CsvText, write_text};

/// A table with lags as it is read.
pub(in crate::fit) struct LaggedTable {
    /// Its file, among the intermediate results.
    pub file: PathBuf,
    /// The same for the folder of the results.
    pub text: String,
    /// Rows without history.
    pub left_out: usize,
    /// The column that names the series of a row.
    pub key: Option<String>,
    /// What the next decisions are made by: one row for each series.
    pub next: String,
}

/// The rows of a table by series and period.
pub(super) struct SeriesRows<'a> {
    profile: &'a TableProfile,
    periods: PeriodNumbers,
    /// The number of the column of times, and of the one that names the series.
    time: usize,
    key: Option<usize>,
    /// The cells of the table, column by column.
    cells: Vec<Vec<String>>,
    series: HashMap<SeriesPeriod, usize>,
}

/// A period of a series.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SeriesPeriod {
    series: String,
    period: i64,
}

impl<'a> SeriesRows<'a> {
    /// The rows of a table; the reason where they are no periods.
    pub fn read(
        source: &TableSource,
        profile: &'a TableProfile,
        roles: &TableRoles,
        time: &str,
    ) -> Result<std::result::Result<Self, String>> {
        let times = source.read_times(time)?;
        let Some(periods) = PeriodNumbers::of(&times, profile.rows) else {
            return Ok(Err(format!("the times in '{time}' are not regular")));
        };
        let column = |name: &str| {
            profile
                .columns
                .iter()
                .position(|column| column.name == name)
        };
        let mut rows = Self {
            profile,
            periods,
            time: column(time).unwrap_or_default(),
            key: None,
            cells: source.read_texts()?,
            series: HashMap::new(),
        };
        if rows.cells.first().map_or(0, Vec::len) != profile.rows {
            let message = "the table changed while it was read";
            return Err(Error::data(message).with_remedy("run the command again"));
        }
        if !rows.names_periods(None) {
            match rows.find_key(roles) {
                Ok(key) => rows.key = Some(key),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        rows.series = (0..profile.rows)
            .map(|row| (rows.place(row), row))
            .collect();
        Ok(Ok(rows))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.profile.rows
    }

    /// Number of periods from the first to the last.
    pub fn periods(&self) -> usize {
        let last = self.periods.numbers.iter().max().copied().unwrap_or(-1);
        usize::try_from(last + 1).unwrap_or(0)
    }

    pub fn step(&self) -> PeriodStep {
        self.periods.step
    }

    /// Whether no two rows have the same period, within the series of a column.
    fn names_periods(&self, key: Option<usize>) -> bool {
        let mut seen = HashSet::new();
        let series = |row: usize| key.map(|column| self.cells[column][row].as_str());
        (0..self.len()).all(|row| seen.insert((series(row), self.periods.numbers[row])))
    }

    /// The column that names the series of each row: text, or else whole numbers, with about as
    /// many values as there are rows of one time.
    fn find_key(&self, roles: &TableRoles) -> std::result::Result<usize, String> {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for number in &self.periods.numbers {
            *counts.entry(*number).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or_default();
        let may_be_key = |column: &usize| {
            let profile = &self.profile.columns[*column];
            let is_name = match profile.kind {
                ValueKind::Text => true,
                ValueKind::Number => profile.is_integral,
                ValueKind::Date | ValueKind::Empty => false,
            };
            let is_other =
                roles.costs.contains(&profile.name) || roles.decisions.contains(&profile.name);
            let is_usual_number = (most..=2 * most).contains(&profile.distinct);
            is_name && !is_other && is_usual_number && self.names_periods(Some(*column))
        };
        let keys: Vec<usize> = (0..self.profile.columns.len()).filter(may_be_key).collect();
        let is_text = |column: &&usize| self.profile.columns[**column].kind == ValueKind::Text;
        let texts: Vec<usize> = keys.iter().filter(is_text).copied().collect();
        match (texts.as_slice(), keys.as_slice()) {
            ([key], _) | ([], [key]) => Ok(*key),
            ([], []) => Err(
                "several rows have the same time, and no column names the series that \
                             each belongs to"
                    .into(),
            ),
            _ => {
                let names = keys
                    .iter()
                    .map(|key| self.profile.columns[*key].name.as_str());
                Err(format!(
                    "several rows have the same time, and several columns could name their series: \
                     {}",
                    first_names(names)
                ))
            }
        }
    }

    fn place(&self, row: usize) -> SeriesPeriod {
        SeriesPeriod {
            series: self
                .key
                .map_or_else(String::new, |key| self.cells[key][row].clone()),
            period: self.periods.numbers[row],
        }
    }

    /// The row some periods before a period of a series.
    fn before(&self, place: &SeriesPeriod, lag: usize) -> Option<usize> {
        let earlier = SeriesPeriod {
            series: place.series.clone(),
            period: place.period.checked_sub(i64::try_from(lag).ok()?)?,
        };
        self.series.get(&earlier).copied()
    }

    /// Writes the table with the costs of earlier periods.
    pub fn lagged(
        &self,
        lags: &[usize],
        roles: &TableRoles,
        settings: &FitSettings,
    ) -> Result<LaggedTable> {
        let mut header: Vec<&str> = Vec::with_capacity(self.cells.len());
        header.extend(
            self.profile
                .columns
                .iter()
                .map(|column| column.name.as_str()),
        );
        let names = lag_names(&roles.costs, lags);
        header.extend(names.iter().map(String::as_str));
        let mut text = CsvText::new(&header)?;
        let mut left_out = 0;
        for row in 0..self.len() {
            let place = self.place(row);
            let sources: Option<Vec<usize>> =
                lags.iter().map(|lag| self.before(&place, *lag)).collect();
            let Some(sources) = sources else {
                left_out += 1;
                continue;
            };
            let mut cells: Vec<&str> = self.cells.iter().map(|cells| cells[row].as_str()).collect();
            for source in sources {
                cells.extend(self.costs_of(source, roles));
            }
            text.row(&cells)?;
        }
        let text = text.finish()?;
        // The name has the content, so no table of another run is overwritten.
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let folder = settings.folder.join("cells");
        std::fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let file = folder.join(format!("lagged-{}.csv", &hash[..16]));
        write_text(&file, &text, true)?;
        Ok(LaggedTable {
            file,
            left_out,
            key: self.key.map(|key| self.profile.columns[key].name.clone()),
            next: self.next(lags, roles, settings.horizon)?,
            text,
        })
    }

    fn costs_of<'s>(
        &'s self,
        row: usize,
        roles: &'s TableRoles,
    ) -> impl Iterator<Item = &'s str> + 's {
        roles.costs.iter().map(move |cost| {
            let mut columns = self.profile.columns.iter();
            let column = columns.position(|column| column.name == *cost);
            column.map_or("", |column| self.cells[column][row].as_str())
        })
    }

    /// What deciding needs of the next period: its time, the features of the last row of each
    /// series, to be replaced, and the costs of earlier periods.
    fn next(&self, lags: &[usize], roles: &TableRoles, horizon: usize) -> Result<String> {
        let is_needed = |column: &usize| {
            let name = &self.profile.columns[*column].name;
            *column != self.time
                && (roles.features.contains(name) || roles.parameters.contains(name))
        };
        let mut columns = vec![self.time];
        columns.extend(self.key);
        let others = (0..self.cells.len()).filter(is_needed);
        columns.extend(others.filter(|column| Some(*column) != self.key));
        let names = lag_names(&roles.costs, lags);
        let known = columns
            .iter()
            .map(|column| self.profile.columns[*column].name.as_str());
        let header: Vec<&str> = known.chain(names.iter().map(String::as_str)).collect();
        let mut text = CsvText::new(&header)?;
        let latest = self.periods.numbers.iter().max().copied().unwrap_or(0);
        let last_rows = (0..self.len()).filter(|row| self.periods.numbers[*row] == latest);
        for row in last_rows {
            let mut place = self.place(row);
            place.period = latest + i64::try_from(horizon).unwrap_or(i64::MAX - latest);
            let time = &self.cells[self.time][row];
            let time = self.step().later(time, horizon).unwrap_or_default();
            let mut cells = vec![time.as_str()];
            cells.extend(
                columns[1..]
                    .iter()
                    .map(|column| self.cells[*column][row].as_str()),
            );
            for lag in lags {
                match self.before(&place, *lag) {
                    Some(source) => cells.extend(self.costs_of(source, roles)),
                    None => cells.extend(roles.costs.iter().map(|_| "")),
                }
            }
            text.row(&cells)?;
        }
        text.finish()
    }
}
