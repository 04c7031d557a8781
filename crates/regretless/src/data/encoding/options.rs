//! What users say about the columns that become features.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::matches_pattern;

use super::calendar::day_of_text;

/// How columns of text, dates and gaps become features. Without a word of the user, text with few
/// values becomes categories, dates become weekdays and seasons, and gaps are filled.
///
/// ```
/// use regretless::data::FeatureOptions;
///
/// let options = FeatureOptions {
///     categories: vec!["weekday".into()],
///     dates: vec!["date=season+trend".into()],
///     ..FeatureOptions::default()
/// };
/// options.check()?;
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeatureOptions {
    /// Names or patterns of columns whose values are categories, even if they are numbers.
    pub categories: Vec<String>,
    /// Names or patterns of columns whose values are replaced by the mean cost of the training rows
    /// that have the same value.
    pub target_statistics: Vec<String>,
    /// Columns of dates, by name, with the parts to use behind `=`: any of `weekday`, `season`,
    /// `hour`, `trend` and `holiday`, joined by `+`. Without parts, those that the training rows
    /// support.
    pub dates: Vec<String>,
    /// Holidays, as dates such as `2026-12-25`.
    pub holidays: Vec<String>,
    /// Whether a gap (an empty cell, or a word such as NA) is an error instead of being filled.
    pub refuse_gaps: bool,
}

/// What a column of dates becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DateParts {
    pub weekday: bool,
    pub season: bool,
    pub hour: bool,
    pub trend: bool,
    pub holiday: bool,
}

impl FeatureOptions {
    /// Checks what can be checked without a table.
    ///
    /// # Errors
    /// When a part of a date is unknown, a holiday is no date, or holidays are asked for without
    /// any.
    pub fn check(&self) -> Result<()> {
        // Later readers skip entries that are invalid: they are refused here, once.
        for entry in &self.dates {
            let parts = parse_date_entry(entry)?.parts;
            if parts.is_some_and(|parts| parts.holiday) && self.holidays.is_empty() {
                return Err(
                    Error::setting(format!("'{entry}' needs a list of holidays"))
                        .with_remedy("give their dates in `holidays`"),
                );
            }
        }
        self.holiday_days().map(drop)
    }

    /// Whether one of the lists has exactly this name: the column is a feature then, even if it
    /// names instances or items too.
    pub(crate) fn lists_column(&self, name: &str) -> bool {
        self.patterns().any(|pattern| pattern == name)
    }

    /// Whether the column is named in one of the lists, by name or pattern.
    pub fn names_column(&self, name: &str) -> bool {
        self.is_text(name) || self.is_date(name)
    }

    pub(crate) fn is_category(&self, name: &str) -> bool {
        is_listed(&self.categories, name)
    }

    pub(crate) fn has_target_statistics(&self, name: &str) -> bool {
        is_listed(&self.target_statistics, name)
    }

    /// Whether the values are texts, whatever they look like.
    pub fn is_text(&self, name: &str) -> bool {
        self.is_category(name) || self.has_target_statistics(name)
    }

    pub(crate) fn is_date(&self, name: &str) -> bool {
        self.date_entries().any(|entry| entry.column == name)
    }

    /// The parts that the user chose for a column; `None` if the training rows decide.
    pub(super) fn date_parts(&self, name: &str) -> Option<DateParts> {
        let mut entries = self.date_entries().filter(|entry| entry.column == name);
        entries.next().and_then(|entry| entry.parts)
    }

    /// Days since 1970 of the holidays, sorted.
    pub(super) fn holiday_days(&self) -> Result<Vec<i64>> {
        let mut days = Vec::with_capacity(self.holidays.len());
        for text in &self.holidays {
            let day = day_of_text(text);
            days.push(day.ok_or_else(|| {
                Error::setting(format!("the holiday '{text}' is no date"))
                    .with_remedy("write dates such as 2026-12-25")
            })?);
        }
        // Sorted, as each date is looked up by binary search.
        days.sort_unstable();
        days.dedup();
        Ok(days)
    }

    /// Patterns and names that must match a column of the table, with the name of their list.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        let texts = self.categories.iter().chain(&self.target_statistics);
        let texts = texts.map(String::as_str);
        texts.chain(self.date_entries().map(|entry| entry.column))
    }

    fn date_entries(&self) -> impl Iterator<Item = DateEntry<'_>> {
        self.dates
            .iter()
            .filter_map(|entry| parse_date_entry(entry).ok())
    }
}

fn is_listed(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}

/// A column of dates as users write it: `date` or `date=weekday+season`.
struct DateEntry<'a> {
    column: &'a str,
    parts: Option<DateParts>,
}

fn parse_date_entry(entry: &str) -> Result<DateEntry<'_>> {
    let Some((column, words)) = entry.split_once('=') else {
        let column = entry.trim();
        return Ok(DateEntry {
            column,
            parts: None,
        });
    };
    let mut parts = DateParts::default();
    for word in words.split('+') {
        match word.trim() {
            "weekday" => parts.weekday = true,
            "season" => parts.season = true,
            "hour" => parts.hour = true,
            "trend" => parts.trend = true,
            "holiday" => parts.holiday = true,
            other => {
                return Err(
                    Error::setting(format!("'{other}' is no part of a date in '{entry}'"))
                        .with_remedy(
                            "choose of weekday, season, hour, trend and holiday, joined by +",
                        ),
                );
            }
        }
    }
    Ok(DateEntry {
        column: column.trim(),
        parts: Some(parts),
    })
}

#[cfg(test)]
mod tests {
    use super::FeatureOptions;

    fn with_dates(entry: &str) -> FeatureOptions {
        FeatureOptions {
            dates: vec![entry.into()],
            ..FeatureOptions::default()
        }
    }

    #[test]
    fn parts_of_dates_are_read_and_unknown_ones_refused() {
        let options = with_dates("day = weekday + trend");
        options.check().unwrap();
        let parts = options.date_parts("day").unwrap();
        assert!(parts.weekday && parts.trend && !parts.season && !parts.holiday);
        assert!(options.is_date("day") && !options.is_date("days"));
        assert!(with_dates("day").date_parts("day").is_none());
        for wrong in ["day=weekdays", "day=", "day=holiday"] {
            assert!(with_dates(wrong).check().is_err(), "{wrong}");
        }
        let mut options = with_dates("day=holiday");
        options.holidays = vec!["2026-12-25".into()];
        options.check().unwrap();
        options.holidays = vec!["25.12.2026".into()];
        assert!(options.check().is_err());
    }
}
