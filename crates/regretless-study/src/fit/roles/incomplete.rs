//! Groups of columns that lack one, such as one with a misspelled name.

use std::collections::BTreeMap;

use regretless_base::error::{Error, Result};
use regretless_base::text::{first_names, nearest_name};

use super::finder::RoleFinder;
use super::names::{NameGroup, is_any, is_inside_word};

impl RoleFinder<'_> {
    /// Refuses a group that is the only one of its size because another one lacks a single column,
    /// such as one with a misspelled name.
    pub(super) fn no_incomplete_group(&self, costs: &NameGroup) -> Result<()> {
        let stems = costs.stems(self.table);
        if stems.len() < 3 || stems.iter().any(|stem| stem.is_empty()) {
            return Ok(());
        }
        let numbers = (0..self.table.columns.len()).filter(|column| {
            !costs.columns.contains(column)
                && self.table.columns[*column].is_number()
                && !is_any(&self.stated.ignore, self.name(*column))
        });
        let numbers: BTreeMap<&str, usize> = numbers.map(|at| (self.name(at), at)).collect();
        for name in numbers.keys() {
            // One of the first two exists if a single column is missing.
            for stem in &stems[..2] {
                let Some((prefix, suffix)) = name.split_once(stem) else {
                    continue;
                };
                if is_inside_word(prefix, stem, suffix) {
                    continue;
                }
                let wanted = stems.iter().map(|stem| format!("{prefix}{stem}{suffix}"));
                let (found, missing): (Vec<String>, Vec<String>) =
                    wanted.partition(|name| numbers.contains_key(name.as_str()));
                let columns: Vec<usize> = found.iter().map(|name| numbers[name.as_str()]).collect();
                if let [missing] = missing.as_slice()
                    && !self.are_decisions(&columns)
                {
                    return Err(self.incomplete_group(costs, &[prefix, suffix], missing));
                }
            }
        }
        Ok(())
    }

    fn incomplete_group(&self, costs: &NameGroup, ends: &[&str; 2], missing: &str) -> Error {
        let columns = self.table.columns.iter().map(|column| column.name.as_str());
        let meant = nearest_name(missing, columns.filter(|name| !name.starts_with(ends[0])));
        let meant = meant.map_or_else(String::new, |name| format!("did you mean '{name}'? "));
        let costs = costs.pattern();
        Error::setting(format!(
            "the costs could be {costs}, or {}*{}, of which '{missing}' is missing",
            ends[0], ends[1]
        ))
        .with_remedy(format!("{meant}correct the name, or say which:"))
        .with_commands([self.command.with_role("costs", &costs)])
    }

    /// The error of a table that has columns for most costs.
    pub(super) fn incomplete_costs(&self, names: &[String]) -> Option<Error> {
        let mut best: Option<(usize, Vec<String>)> = None;
        for column in &self.table.columns {
            for name in names {
                let Some(start) = column.name.find(name.as_str()) else {
                    continue;
                };
                let ends = [&column.name[..start], &column.name[start + name.len()..]];
                let wanted = names
                    .iter()
                    .map(|name| format!("{}{name}{}", ends[0], ends[1]));
                let is_missing =
                    |wanted: &String| !self.table.columns.iter().any(|known| known.name == *wanted);
                let missing: Vec<String> = wanted.filter(is_missing).collect();
                let found = names.len() - missing.len();
                if best.as_ref().is_none_or(|(most, _)| found > *most) {
                    best = Some((found, missing));
                }
            }
        }
        let (found, missing) = best.filter(|(found, _)| 2 * found > names.len())?;
        let columns = self.table.columns.iter().map(|column| column.name.as_str());
        let columns = columns.filter(|column| !names.iter().any(|name| name == column));
        let meant = missing.first().and_then(|name| nearest_name(name, columns));
        let meant = meant.map_or_else(String::new, |name| format!("did you mean '{name}'? "));
        Some(
            Error::setting(format!(
                "{found} of {} costs are columns; missing: {}",
                names.len(),
                first_names(&missing)
            ))
            .with_remedy(format!(
                "{meant}the names of costs are in the problem file and in the table"
            )),
        )
    }
}
