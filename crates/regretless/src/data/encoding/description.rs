//! Names of the features of a column, and what happens to the column, for people.

use super::calendar::WEEKDAY_NAMES;
use super::{ColumnCode, ColumnEncoding, DatesCode, NumberCode};
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
            ColumnCode::Numbers(code) | ColumnCode::Booleans(code) => {
                with_indicator(vec![name.clone()], code.gaps)
            }
            ColumnCode::Categories { values, gaps } => {
                let names = values.iter().map(|value| format!("{name}={value}"));
                with_indicator(names.collect(), *gaps)
            }
            ColumnCode::TargetStatistics(_) => vec![format!("{name} mean cost")],
            ColumnCode::Dates(code) => with_indicator(code.feature_names(name), code.gaps),
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
            ColumnCode::Numbers(NumberCode { gaps: 0, .. }) => return None,
            ColumnCode::Numbers(code) => filled(code.gaps, &format!("the median {}", code.fill)),
            ColumnCode::Booleans(code) => {
                let word = if code.fill > 0.5 { "true" } else { "false" };
                joined(&["true or false", &filled(code.gaps, word)])
            }
            ColumnCode::Categories { values, gaps } => {
                let missing = if *gaps > 0 { " and one for gaps" } else { "" };
                format!("one-hot, {} values{missing}", values.len())
            }
            ColumnCode::TargetStatistics(code) => format!(
                "mean cost of the training rows by value, {} values",
                code.values.len()
            ),
            ColumnCode::Dates(code) => code.description(),
        })
    }
}

impl DatesCode {
    /// The features of the parts, without the indicator of gaps.
    fn feature_names(&self, name: &str) -> Vec<String> {
        let days = self.weekdays.iter();
        let mut names: Vec<String> = days
            .map(|day| format!("{name} weekday={}", WEEKDAY_NAMES[usize::from(*day)]))
            .collect();
        if self.season {
            names.extend(["sin", "cos"].map(|part| format!("{name} season {part}")));
        }
        names.extend(self.hours.iter().map(|hour| format!("{name} hour={hour}")));
        if self.trend_from.is_some() {
            names.push(format!("{name} trend"));
        }
        if self.holidays.is_some() {
            names.push(format!("{name} holiday"));
        }
        names
    }

    fn description(&self) -> String {
        let mut parts = Vec::new();
        if !self.weekdays.is_empty() {
            parts.push(format!("weekday ({} values)", self.weekdays.len()));
        }
        if self.season {
            parts.push("season".into());
        }
        if !self.hours.is_empty() {
            parts.push(format!("hour ({} values)", self.hours.len()));
        }
        if self.trend_from.is_some() {
            parts.push("trend".into());
        }
        if let Some(holidays) = &self.holidays {
            parts.push(format!("holiday ({} dates)", holidays.len()));
        }
        let parts = parts.join(", ");
        let gaps = match self.gaps {
            0 => String::new(),
            gaps => format!("{gaps} gap{} in the training rows, indicated", plural(gaps)),
        };
        let short = if self.season {
            String::new()
        } else {
            format!("no season, as the training rows span {} days", self.days)
        };
        joined(&[&parts, &gaps, &short])
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
