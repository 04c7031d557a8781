//! Names of the features of a column, and what happens to the column, for people.

use super::calendar::WEEKDAY_NAMES;
use super::{ColumnCode, ColumnEncoding};
use crate::text::plural;

impl ColumnEncoding {
    pub(super) fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let with_indicator = |mut names: Vec<String>, gaps: usize| {
            if gaps > 0 {
                names.push(format!("{name} is missing"));
            }
            names
        };
        match &self.code {
            ColumnCode::Numbers { gaps, .. } | ColumnCode::Booleans { gaps, .. } => {
                with_indicator(vec![name.clone()], *gaps)
            }
            ColumnCode::Categories { values, gaps } => {
                let names = values.iter().map(|value| format!("{name}={value}"));
                with_indicator(names.collect(), *gaps)
            }
            ColumnCode::TargetStatistics { .. } => vec![format!("{name} mean cost")],
            ColumnCode::Dates {
                weekdays,
                season,
                hours,
                trend_from,
                holidays,
                gaps,
                ..
            } => {
                let days = weekdays.iter();
                let mut names: Vec<String> = days
                    .map(|day| format!("{name} weekday={}", WEEKDAY_NAMES[usize::from(*day)]))
                    .collect();
                if *season {
                    names.extend(["sin", "cos"].map(|part| format!("{name} season {part}")));
                }
                names.extend(hours.iter().map(|hour| format!("{name} hour={hour}")));
                if trend_from.is_some() {
                    names.push(format!("{name} trend"));
                }
                if holidays.is_some() {
                    names.push(format!("{name} holiday"));
                }
                with_indicator(names, *gaps)
            }
        }
    }

    /// What happens to the column, for people; `None` if its numbers are used as they are.
    pub(super) fn description(&self) -> Option<String> {
        let filled = |gaps: usize, value: &str| match gaps {
            0 => String::new(),
            gaps => format!(
                "{gaps} gap{} in the training rows, filled with {value} and indicated",
                plural(gaps)
            ),
        };
        Some(match &self.code {
            ColumnCode::Numbers { gaps: 0, .. } => return None,
            ColumnCode::Numbers { fill, gaps } => filled(*gaps, &format!("the median {fill}")),
            ColumnCode::Booleans { fill, gaps } => {
                let word = if *fill > 0.5 { "true" } else { "false" };
                joined(&["true or false", &filled(*gaps, word)])
            }
            ColumnCode::Categories { values, gaps } => {
                let missing = if *gaps > 0 { " and one for gaps" } else { "" };
                format!("one-hot, {} values{missing}", values.len())
            }
            ColumnCode::TargetStatistics { values, .. } => {
                format!(
                    "mean cost of the training rows by value, {} values",
                    values.len()
                )
            }
            ColumnCode::Dates {
                weekdays,
                season,
                hours,
                trend_from,
                holidays,
                days,
                gaps,
            } => {
                let mut parts = Vec::new();
                if !weekdays.is_empty() {
                    parts.push(format!("weekday ({} values)", weekdays.len()));
                }
                if *season {
                    parts.push("season".into());
                }
                if !hours.is_empty() {
                    parts.push(format!("hour ({} values)", hours.len()));
                }
                if trend_from.is_some() {
                    parts.push("trend".into());
                }
                if let Some(holidays) = holidays {
                    parts.push(format!("holiday ({} dates)", holidays.len()));
                }
                let parts = parts.join(", ");
                let gaps = match gaps {
                    0 => String::new(),
                    gaps => format!(
                        "{gaps} gap{} in the training rows, indicated",
                        plural(*gaps)
                    ),
                };
                let short = if *season {
                    String::new()
                } else {
                    format!("no season, as the training rows span {days} days")
                };
                joined(&[&parts, &gaps, &short])
            }
        })
    }
}

/// The parts that are not empty.
fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("; ")
}
