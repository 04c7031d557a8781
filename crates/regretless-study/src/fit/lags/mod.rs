//! Costs of earlier periods as features, where rows are periods at regular times.
//!
//! A decision is made `horizon` periods after the last period whose costs are known, so the costs
//! of `lag` periods before are known where `lag` is not below the horizon. They are columns of
//! their own, named `COST_lagN`, in a copy of the table next to the results; rows without history
//! are not in it. Where several rows have one time, another column names the series that each
//! belongs to.

mod rows;
mod steps;

use regretless::data::{TableProfile, TableSource};
use regretless_base::error::{Error, Result};
use regretless_base::text::plural;

use super::{FitSettings, NO_COLUMN, TableRoles};
pub(super) use rows::{LaggedTable, SeriesRows};

/// Rows for each feature column from which lags are added without being asked for. Untuned: the
/// usual rule of thumb for a linear regression.
const MIN_ROWS_PER_COLUMN: usize = 10;
/// Periods for each period of the longest usual lag: fewer would lose too many rows.
const MIN_PERIODS_PER_LAG: usize = 8;

impl FitSettings {
    /// The lags that a user wrote: numbers of periods, or `none`.
    ///
    /// # Errors
    /// When a word is no number.
    pub fn lags_of(words: &[String]) -> Result<Option<Vec<usize>>> {
        match words {
            [] => Ok(None),
            [none] if none == NO_COLUMN => Ok(Some(Vec::new())),
            words => {
                let mut lags = Vec::with_capacity(words.len());
                for word in words {
                    let lag = word.trim().parse::<usize>().ok();
                    lags.push(lag.filter(|lag| *lag > 0).ok_or_else(|| {
                        Error::setting(format!("the lag '{word}' is not a number of periods"))
                            .with_remedy("write numbers such as 1,7, or none")
                    })?);
                }
                lags.sort_unstable();
                lags.dedup();
                Ok(Some(lags))
            }
        }
    }

    /// Checks what can be checked without a table.
    pub(super) fn check_horizon(&self) -> Result<()> {
        if self.horizon == 0 {
            return Err(Error::setting("a horizon of 0 periods")
                .with_remedy("1 is that of decisions for the period after the last known one"));
        }
        let early = self.lags.iter().flatten().find(|lag| **lag < self.horizon);
        match early {
            None => Ok(()),
            Some(lag) => {
                let horizon = self.horizon;
                Err(Error::setting(format!(
                    "the costs of {lag} period{} before are not known when the decision is made: \
                     the horizon is {horizon} periods",
                    plural(*lag)
                ))
                .with_remedy(format!(
                    "choose lags of at least {horizon}, or a shorter horizon"
                )))
            }
        }
    }
}

/// Adds the costs of earlier periods to the roles of a table; none where rows are no periods, or
/// the user wants none. Only the first `known` rows have costs.
pub(super) fn add_lags(
    source: &TableSource,
    profile: &TableProfile,
    roles: &mut TableRoles,
    settings: &FitSettings,
    known: usize,
) -> Result<Option<LaggedTable>> {
    settings.check_horizon()?;
    let stated = settings.lags.as_deref();
    let refuse = |reason: String| {
        Error::setting(format!("there are no lags: {reason}"))
            .with_remedy(format!(
                "leave them out: {}",
                settings.command.with_role("lags", "none")
            ))
            .in_file(&settings.file)
    };
    let Some(time) = roles.time.clone() else {
        return match stated {
            None | Some([]) if settings.horizon == 1 => Ok(None),
            None | Some(_) => Err(refuse("the table has no column of times".into())),
        };
    };
    // Where the user names the features, only these are features.
    let is_unwanted = stated.is_none() && !settings.roles.features.is_empty();
    if is_unwanted || stated == Some(&[]) {
        return Ok(None);
    }
    if settings.roles.long.is_some() {
        return none_because(roles, stated, "the table is long".into(), refuse);
    }
    if !settings.parameters.is_empty() {
        let reason = "row parameters in files of their own have all rows";
        return none_because(roles, stated, reason.into(), refuse);
    }
    let rows = match SeriesRows::read(source, profile, roles, &time, known)? {
        Ok(rows) => rows,
        Err(reason) => return none_because(roles, stated, reason, refuse),
    };
    let lags = match stated {
        Some(lags) => lags.to_vec(),
        None => {
            let usual = usual_lags(&rows, settings);
            match affordable(&usual, &rows, roles) {
                Ok(lags) => lags,
                Err(reason) => return none_because(roles, stated, reason, refuse),
            }
        }
    };
    let names = lag_names(&roles.costs, &lags);
    let mut columns = profile.columns.iter();
    if let Some(known) = columns.find(|column| names.contains(&column.name)) {
        let reason = format!("the table has a column '{}'", known.name);
        return none_because(roles, stated, reason, refuse);
    }
    let table = rows.lagged(&lags, roles, settings)?;
    roles.history = Some(described(&lags, names.len(), &table, settings.horizon));
    roles.lags = names;
    roles.lag_periods = lags;
    Ok(Some(table))
}

/// The names of the lag columns, lag by lag, those of a lag in the order of the costs.
pub(super) fn lag_names(costs: &[String], lags: &[usize]) -> Vec<String> {
    let of_lag = |lag: &usize| {
        let lag = *lag;
        costs.iter().map(move |cost| format!("{cost}_lag{lag}"))
    };
    lags.iter().flat_map(of_lag).collect()
}

/// No lags, and why: an error where the user asked for some.
fn none_because(
    roles: &mut TableRoles,
    stated: Option<&[usize]>,
    reason: String,
    refuse: impl Fn(String) -> Error,
) -> Result<Option<LaggedTable>> {
    if stated.is_some() {
        return Err(refuse(reason));
    }
    roles.history = Some(format!("none: {reason}"));
    Ok(None)
}

/// The period before, a season before and what the user calls a season, as soon as it is known.
fn usual_lags(rows: &SeriesRows<'_>, settings: &FitSettings) -> Vec<usize> {
    let horizon = settings.horizon;
    let seasons = [rows.step().usual_season(), settings.season];
    let seasons = seasons.into_iter().flatten().filter(|season| *season > 0);
    let mut lags = vec![horizon];
    lags.extend(seasons.map(|season| season * horizon.div_ceil(season)));
    lags.retain(|lag| lag * MIN_PERIODS_PER_LAG <= rows.periods());
    lags.sort_unstable();
    lags.dedup();
    lags
}

/// The lags for which there are enough rows: all, or the first.
fn affordable(
    lags: &[usize],
    rows: &SeriesRows<'_>,
    roles: &TableRoles,
) -> std::result::Result<Vec<usize>, String> {
    for count in [lags.len(), 1] {
        let columns = roles.features.len() + count * roles.costs.len();
        if (1..=lags.len()).contains(&count) && columns * MIN_ROWS_PER_COLUMN <= rows.len() {
            return Ok(lags[..count].to_vec());
        }
    }
    Err(format!(
        "{} rows are few for {} more columns",
        rows.len(),
        roles.costs.len()
    ))
}

/// The lags for people.
fn described(lags: &[usize], columns: usize, table: &LaggedTable, horizon: usize) -> String {
    let numbers: Vec<String> = lags.iter().map(usize::to_string).collect();
    let mut text = format!(
        "{columns} columns with the costs of {} period{} before",
        numbers.join(" and "),
        plural(lags.iter().sum())
    );
    if let Some(key) = &table.key {
        text += &format!(" in the same series ({key})");
    }
    if horizon > 1 {
        text += &format!(", known {horizon} periods ahead");
    }
    let left_out = table.left_out;
    if left_out > 0 {
        text += &format!(
            "; {left_out} row{} without history left out",
            plural(left_out)
        );
    }
    text
}
