//! The rows of a table as series of periods, and the table with the costs of earlier periods.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use regretless::data::{TableProfile, TableSource, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::first_names;

use super::lag_names;
use super::steps::{PeriodNumbers, PeriodStep};
use crate::fit::next_rows::{NextRows, NextRowsBuilder};
use crate::fit::table_copy::write_copy;
use crate::fit::{FitSettings, TableRoles};
use crate::text::CsvText;

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
    /// Its rows in the table of the user, counted from 0.
    pub rows: Vec<usize>,
}

/// The rows of a table by series and period.
pub(in crate::fit) struct SeriesRows<'a> {
    profile: &'a TableProfile,
    periods: PeriodNumbers,
    /// Rows with costs; those after them are to be decided.
    known: usize,
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
        known: usize,
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
            known,
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
        rows.series = (0..known).map(|row| (rows.place(row), row)).collect();
        Ok(Ok(rows))
    }

    /// Number of rows with costs.
    pub fn len(&self) -> usize {
        self.known
    }

    /// The last period with costs.
    fn last_period(&self) -> i64 {
        let known = &self.periods.numbers[..self.known];
        known.iter().max().copied().unwrap_or(-1)
    }

    /// Number of periods from the first to the last.
    pub fn periods(&self) -> usize {
        usize::try_from(self.last_period() + 1).unwrap_or(0)
    }

    pub(super) fn step(&self) -> PeriodStep {
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
        for number in &self.periods.numbers[..self.known] {
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
        let (mut left_out, mut rows) = (0, Vec::with_capacity(self.len()));
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
            rows.push(row);
        }
        let text = text.finish()?;
        let file = write_copy(&text, "lagged", &settings.folder)?;
        Ok(LaggedTable {
            file,
            left_out,
            key: self.key_name(),
            rows,
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

    fn key_name(&self) -> Option<String> {
        self.key.map(|key| self.profile.columns[key].name.clone())
    }

    /// What deciding needs of the rows without costs or, if there are none, of the next period: its
    /// time, the series, and the costs of earlier periods. Other cells are not known: they are
    /// empty, so no decision is made by those of another period.
    pub(in crate::fit) fn next(
        &self,
        lags: &[usize],
        roles: &TableRoles,
        horizon: usize,
    ) -> Result<NextRows> {
        let is_needed = |column: &usize| {
            let name = &self.profile.columns[*column].name;
            let is_feature = roles.features.contains(name) || roles.parameters.contains(name);
            is_feature && *column != self.time && Some(*column) != self.key
        };
        let mut columns = vec![self.time];
        columns.extend(self.key);
        let named = columns.len();
        columns.extend((0..self.cells.len()).filter(is_needed));
        let names = lag_names(&roles.costs, lags);
        let name = |column: &usize| self.profile.columns[*column].name.as_str();
        let header = columns
            .iter()
            .map(name)
            .chain(names.iter().map(String::as_str));
        let mut next = NextRowsBuilder::new(&header.collect::<Vec<_>>(), named..columns.len())?;
        for row in self.known..self.profile.rows {
            let place = self.place(row);
            let history = self.history(&place, lags, roles);
            // Rows of periods after the next one have no history yet.
            if history.iter().any(Option::is_none) {
                continue;
            }
            let cells = columns
                .iter()
                .map(|column| self.cells[*column][row].as_str());
            next.row(cells.chain(history.into_iter().flatten().flatten()))?;
        }
        let latest = self.last_period();
        let is_last = |row: &usize| self.periods.numbers[*row] == latest;
        let last_rows = (0..self.known).filter(|row| next.is_empty() && is_last(row));
        for row in last_rows.collect::<Vec<usize>>() {
            let mut place = self.place(row);
            place.period = latest + i64::try_from(horizon).unwrap_or(i64::MAX - latest);
            let time = &self.cells[self.time][row];
            let time = self.step().later(time, horizon).unwrap_or_default();
            let key = self.key.map(|key| self.cells[key][row].as_str());
            let unknown = columns[named..].iter().map(|_| "");
            let cells = std::iter::once(time.as_str()).chain(key).chain(unknown);
            let empty = || roles.costs.iter().map(|_| "").collect();
            let history = self.history(&place, lags, roles).into_iter();
            let history = history.flat_map(|cells| cells.unwrap_or_else(empty));
            next.row(cells.chain(history))?;
        }
        let time = name(&self.time).to_owned();
        next.finish(self.key_name().unwrap_or(time))
    }

    /// The costs of earlier periods, lag by lag; `None` where a period has no row.
    fn history<'s>(
        &'s self,
        place: &SeriesPeriod,
        lags: &[usize],
        roles: &'s TableRoles,
    ) -> Vec<Option<Vec<&'s str>>> {
        let costs = |lag: &usize| {
            let row = self.before(place, *lag)?;
            Some(self.costs_of(row, roles).collect())
        };
        lags.iter().map(costs).collect()
    }
}
