//! Finds the roles of columns one after the other: costs first, then what is named after them.

use std::collections::{BTreeMap, HashSet};

use regretless::data::{ColumnProfile, TableProfile, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::{common_ends, distinct_parts, first_names, matches_pattern};

use super::feasibility::DecisionTest;
use super::names::{
    NameGroup, ends_of, in_order_of_numbers, is_any, is_inside_word, with_one_separator,
};
use super::{NO_COLUMN, ProblemColumnNames, StatedRoles, WHICH_PROBLEM_PAGE};
use crate::fit::FitCommand;

/// Share of zeros from which amounts look like decisions: most items are not chosen. As in the data
/// check.
pub(super) const MIN_ZERO_SHARE: f64 = 0.5;

/// Most groups of costs that an error shows. Untuned: keeps messages short.
const MAX_READINGS: usize = 6;

/// Finds roles one after the other.
pub(super) struct RoleFinder<'a> {
    pub table: &'a TableProfile,
    pub problem: &'a ProblemColumnNames,
    pub stated: &'a StatedRoles,
    pub command: &'a FitCommand,
    /// Whether columns can be the decisions of their rows.
    pub test: &'a DecisionTest<'a>,
}

impl RoleFinder<'_> {
    pub(super) fn name(&self, column: usize) -> &str {
        &self.table.columns[column].name
    }

    /// The columns that names or patterns select: in the order in which they are named, those of a
    /// pattern in the order of the table.
    pub(super) fn selected(&self, patterns: &[String]) -> Vec<usize> {
        let mut selected = Vec::new();
        for pattern in patterns {
            for (position, column) in self.table.columns.iter().enumerate() {
                if matches_pattern(pattern, &column.name) && !selected.contains(&position) {
                    selected.push(position);
                }
            }
        }
        selected
    }

    /// Every stated name or pattern must select a column.
    pub fn check_stated(&self) -> Result<()> {
        let lists = [
            ("costs", &self.stated.costs),
            ("decisions", &self.stated.decisions),
            ("forecasts", &self.stated.forecasts),
            ("features", &self.stated.features),
            ("ignore", &self.stated.ignore),
            ("keys", &self.stated.keys),
        ];
        for (role, patterns) in lists {
            for pattern in patterns {
                let is_found = |column: &ColumnProfile| matches_pattern(pattern, &column.name);
                if pattern != NO_COLUMN && !self.table.columns.iter().any(is_found) {
                    return Err(self.unknown_column(role, pattern));
                }
            }
            // Features are all but the ignored columns.
            if matches!(role, "features" | "ignore") {
                continue;
            }
            let selected = self.selected(patterns);
            let mut names = selected.iter().map(|column| self.name(*column));
            if let Some(name) = names.find(|name| is_any(&self.stated.ignore, name)) {
                return Err(
                    Error::setting(format!("{role}: column '{name}' is ignored, too"))
                        .with_remedy("name it for this role, or ignore it"),
                );
            }
        }
        Ok(())
    }

    pub(super) fn unknown_column(&self, role: &str, name: &str) -> Error {
        let names = self.table.columns.iter().map(|column| &column.name);
        Error::setting(format!("{role}: no column is called '{name}'"))
            .with_remedy(format!("the columns are {}", first_names(names)))
    }

    pub fn parameters(&self) -> Vec<usize> {
        self.selected(&self.problem.parameters)
    }

    pub fn costs(&self) -> Result<NameGroup> {
        if let Some(long) = &self.stated.long {
            return Ok(self.group_of(vec![self.column("cost column", &long.cost)?]));
        }
        if !self.stated.costs.is_empty() {
            let selected = self.selected(&self.stated.costs);
            let is_list = selected.len() == self.stated.costs.len();
            return match self.as_named(&selected) {
                Some(named) => Ok(named),
                // A list has the order that the user wants.
                None if is_list => Ok(self.group_of(selected)),
                None => self.in_order_of_steps(self.group_of(selected)),
            };
        }
        let mut candidates = match &self.problem.costs {
            Some(names) => self.groups_named(names),
            None => self.groups_of_size(self.problem.num_costs),
        };
        // Columns with the problem's own names are the costs, whatever else is named after them.
        if let Some(exact) = candidates
            .iter()
            .position(|group| self.problem.costs.is_some() && group.pattern() == "*")
        {
            return Ok(candidates.swap_remove(exact));
        }
        if let [_, _, ..] = candidates.as_slice() {
            let is_cost = |group: &&NameGroup| !self.are_decisions_of_another(group, &candidates);
            let decisions: Vec<&NameGroup> =
                candidates.iter().filter(|group| !is_cost(group)).collect();
            // Neither are columns that have such a decision beside a cost, as was_a and cost_a.
            let has_decision = |group: &NameGroup| {
                let mut columns = group.columns.iter();
                columns.any(|column| decisions.iter().any(|made| made.columns.contains(column)))
            };
            let values = candidates.iter().filter(|group| !has_decision(group));
            let values: Vec<NameGroup> = values.cloned().collect();
            if !values.is_empty() {
                candidates = values;
            }
        }
        // The largest first: of price_1, price_2, load_1, load_2, … also price_1 and load_1 are a
        // group.
        candidates.sort_by_key(|group| std::cmp::Reverse(group.columns.len()));
        match candidates.as_slice() {
            [only] => {
                self.no_incomplete_group(only)?;
                self.in_order_of_steps(only.clone())
            }
            [] => Err(self.no_costs()),
            several => Err(self.ambiguous(
                "the costs could be several groups of columns",
                "costs",
                several.iter().take(MAX_READINGS).map(NameGroup::pattern),
            )),
        }
    }

    /// Whether a group that could be the costs is the decisions of the past beside another one:
    /// zeros and ones, or amounts that are feasible in every row. That most of them are 0 does not
    /// suffice: revenues of goods that are rarely sold are mostly 0, too.
    fn are_decisions_of_another(&self, group: &NameGroup, candidates: &[NameGroup]) -> bool {
        if !self.are_decisions(&group.columns) {
            return false;
        }
        let mut binary = group.columns.iter();
        if binary.all(|column| self.table.columns[*column].is_binary) {
            return true;
        }
        let mut others = candidates.iter().filter(|other| *other != group);
        let fits = |other: &NameGroup| {
            let fit = (self.test)(&self.decision_columns(group, other));
            fit.is_some_and(|fit| fit.infeasible == 0)
        };
        others.any(fits)
    }

    /// Costs of steps in time must be in their order: columns that were sorted as text are not.
    fn in_order_of_steps(&self, costs: NameGroup) -> Result<NameGroup> {
        if !self.problem.costs_are_steps || self.problem.costs.is_some() {
            return Ok(costs);
        }
        let names: Vec<&str> = costs
            .columns
            .iter()
            .map(|column| self.name(*column))
            .collect();
        match in_order_of_numbers(&names) {
            Some(ordered) if ordered != names => Err(Error::setting(format!(
                "the costs are those of steps in time, but the order of their columns is {}",
                first_names(&names)
            ))
            .with_remedy("name them in the order of the steps:")
            .with_commands([self.command.with_role("costs", &ordered.join(","))])),
            _ => Ok(costs),
        }
    }

    /// The names of the problem's costs, if these columns are named after them.
    pub fn problem_names(&self, costs: &NameGroup) -> Option<Vec<String>> {
        let names = self.problem.costs.as_ref()?;
        let stems = costs.stems(self.table).into_iter().map(with_one_separator);
        let is_same = stems.eq(names.iter().map(|name| with_one_separator(name)));
        is_same.then(|| names.clone())
    }

    /// The same columns as a group named after the problem's costs, in their order.
    fn as_named(&self, columns: &[usize]) -> Option<NameGroup> {
        let groups = self.groups_named(self.problem.costs.as_ref()?);
        let mut groups = groups.into_iter();
        groups.find(|group| are_same(&group.columns, columns))
    }

    fn no_costs(&self) -> Error {
        let wanted = match (&self.problem.costs, self.problem.num_costs) {
            (Some(names), _) => {
                if let Some(error) = self.incomplete_costs(names) {
                    return error;
                }
                format!("are named after the costs {}", first_names(names))
            }
            (None, Some(count)) => format!("are {count} numbers with names that are alike"),
            (None, None) => "are numbers with names that are alike".into(),
        };
        let mut commands = vec![self.command.with_role("costs", "c_*")];
        commands.extend(self.long_command());
        let long = if commands.len() > 1 {
            " (the second line: several rows are the items of one decision)"
        } else {
            ""
        };
        Error::setting(format!("no columns {wanted}"))
            .with_remedy(format!(
                "name them as below{long}; where only decisions were seen, or quantities are \
                 unknown: {WHICH_PROBLEM_PAGE}"
            ))
            .with_commands(commands)
    }

    /// Groups that have a column for each of these names, between the same beginning and end. The
    /// characters that separate parts of names may be others.
    pub(super) fn groups_named(&self, names: &[String]) -> Vec<NameGroup> {
        let names: Vec<String> = names.iter().map(|name| with_one_separator(name)).collect();
        let Some(first) = names.first() else {
            return Vec::new();
        };
        let mut positions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for column in 0..self.table.columns.len() {
            let name = with_one_separator(self.name(column));
            positions.entry(name).or_default().push(column);
        }
        let mut groups: Vec<NameGroup> = Vec::new();
        for column in &self.table.columns {
            let name = with_one_separator(&column.name);
            for (start, _) in name.match_indices(first.as_str()) {
                let [prefix, suffix] = [&name[..start], &name[start + first.len()..]];
                if is_inside_word(prefix, first, suffix) {
                    continue;
                }
                let place = |stem: &String| {
                    let found = positions.get(&format!("{prefix}{stem}{suffix}"));
                    let only = found.and_then(|columns| match columns.as_slice() {
                        [only] => Some(*only),
                        // Two columns whose names differ in separators alone.
                        _ => None,
                    });
                    only.filter(|column| !is_any(&self.stated.ignore, self.name(*column)))
                };
                let found: Option<Vec<usize>> = names.iter().map(place).collect();
                if let Some(columns) = found
                    && self.are_numbers(&columns)
                    && !self.are_parameters(&columns)
                {
                    groups.push(NameGroup {
                        prefix: column.name[..start].to_owned(),
                        suffix: column.name[start + first.len()..].to_owned(),
                        columns,
                    });
                }
            }
        }
        groups
    }

    /// Groups of columns with names that are alike; of this size, if it is known.
    fn groups_of_size(&self, size: Option<usize>) -> Vec<NameGroup> {
        let mut by_ends: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
        for (position, column) in self.table.columns.iter().enumerate() {
            if column.kind != ValueKind::Number || is_any(&self.stated.ignore, &column.name) {
                continue;
            }
            for ends in ends_of(&column.name) {
                by_ends.entry(ends).or_default().push(position);
            }
        }
        let mut groups: Vec<NameGroup> = Vec::new();
        for ([prefix, suffix], columns) in by_ends {
            let fits = size.map_or(columns.len() > 1, |size| columns.len() == size);
            let is_known = groups.iter().any(|group| group.columns == columns);
            if fits && !is_known && !self.are_parameters(&columns) {
                groups.push(NameGroup {
                    prefix,
                    suffix,
                    columns,
                });
            }
        }
        groups
    }

    fn are_numbers(&self, columns: &[usize]) -> bool {
        let kind = |column: &usize| self.table.columns[*column].kind;
        columns
            .iter()
            .all(|column| matches!(kind(column), ValueKind::Number | ValueKind::Empty))
    }

    fn are_parameters(&self, columns: &[usize]) -> bool {
        let is_parameter = |column: &usize| is_any(&self.problem.parameters, self.name(*column));
        columns.iter().any(is_parameter)
    }

    /// Columns as a group: with the beginning and the end that all of their names have.
    fn group_of(&self, columns: Vec<usize>) -> NameGroup {
        let names: Vec<&str> = columns.iter().map(|column| self.name(*column)).collect();
        let (start, end) = common_ends(&names);
        let first = names.first().copied().unwrap_or_default();
        NameGroup {
            prefix: first[..start].to_owned(),
            suffix: first[first.len() - end..].to_owned(),
            columns,
        }
    }

    /// Groups of other columns that have a column for each cost, in the order of the costs.
    pub(super) fn named_after(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Vec<NameGroup> {
        let mut groups = self.groups_like(costs);
        groups.retain(|group| !group.columns.iter().any(|column| taken.contains(column)));
        groups
    }

    /// Groups that are named after the costs, themselves among them: by the names that the problem
    /// has or, where these have a common beginning such as `margin_`, by what follows it.
    pub(super) fn groups_like(&self, costs: &NameGroup) -> Vec<NameGroup> {
        let stems = costs.stems(self.table);
        let mut groups: Vec<NameGroup> = Vec::new();
        for parts in [stems.clone(), distinct_parts(&stems)] {
            if parts.len() < 2 || parts.iter().any(|part| part.is_empty()) {
                continue;
            }
            let parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
            for group in self.groups_named(&parts) {
                if groups.iter().all(|known| known.columns != group.columns) {
                    groups.push(group);
                }
            }
        }
        groups
    }

    /// The columns of the only group that can have a role.
    pub(super) fn only_group(
        &self,
        role: &str,
        what: &str,
        groups: &[NameGroup],
    ) -> Result<Vec<usize>> {
        match groups {
            [] => Ok(Vec::new()),
            [only] => Ok(only.columns.clone()),
            several => {
                let patterns = several.iter().map(NameGroup::pattern);
                Err(self.ambiguous(
                    &format!("several groups of columns could be {what}"),
                    role,
                    patterns.chain([NO_COLUMN.to_owned()]),
                ))
            }
        }
    }

    /// Whether the user named this column as a feature; the pattern of all columns names none.
    pub fn is_named_feature(&self, name: &str) -> bool {
        self.stated.features.iter().any(|feature| feature == name)
    }

    /// Why a column is no feature.
    pub fn reason_against_feature(&self, column: &ColumnProfile) -> Option<String> {
        if is_any(&self.stated.ignore, &column.name) {
            return Some("ignored".into());
        }
        if !self.stated.features.is_empty() {
            let is_selected = is_any(&self.stated.features, &column.name);
            return (!is_selected).then(|| "not selected".into());
        }
        if column.kind == ValueKind::Empty {
            return Some("empty".into());
        }
        if column.is_constant() {
            return Some("constant".into());
        }
        None
    }

    /// The error of a role that several columns could have, with the command of each reading.
    pub(super) fn ambiguous(
        &self,
        what: &str,
        role: &str,
        values: impl Iterator<Item = String>,
    ) -> Error {
        let commands = values.map(|value| self.command.with_role(role, &value));
        Error::setting(what.to_owned())
            .with_remedy(format!("say which ({WHICH_PROBLEM_PAGE}):"))
            .with_commands(commands)
    }
}

/// Whether two lists have the same columns.
pub(super) fn are_same(first: &[usize], second: &[usize]) -> bool {
    first.len() == second.len() && first.iter().all(|column| second.contains(column))
}
