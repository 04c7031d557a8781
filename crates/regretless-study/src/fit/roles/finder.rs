//! Finds the roles of columns one after the other: costs first, then what is named after them.

use std::collections::{BTreeMap, HashSet};

use regretless::data::{ColumnProfile, TableProfile, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::{common_ends, distinct_parts, first_names, matches_pattern, plural};

use super::names::{NameGroup, ends_of, is_any, with_one_separator};
use super::{NO_COLUMN, ProblemColumnNames, StatedRoles, WHICH_PROBLEM_PAGE};
use crate::fit::FitCommand;

/// Share of zeros from which amounts look like decisions: most items are not chosen. As in the data
/// check.
const MIN_ZERO_SHARE: f64 = 0.5;

/// Most groups of costs that an error shows. Untuned: keeps messages short.
const MAX_READINGS: usize = 6;

/// Finds roles one after the other.
pub(super) struct RoleFinder<'a> {
    pub table: &'a TableProfile,
    pub problem: &'a ProblemColumnNames,
    pub stated: &'a StatedRoles,
    pub command: &'a FitCommand,
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

    /// The columns that the user named for a role that has one column for each cost, in the order
    /// of the costs.
    fn stated_for_each_cost(
        &self,
        role: &str,
        patterns: &[String],
        costs: &NameGroup,
    ) -> Result<Vec<usize>> {
        let selected = self.selected(patterns);
        let [found, wanted] = [selected.len(), costs.columns.len()];
        if found != wanted {
            return Err(Error::setting(format!(
                "{role}: {found} column{} for {wanted} costs",
                plural(found)
            ))
            .with_remedy(format!(
                "name one column for each cost, or none; {WHICH_PROBLEM_PAGE}"
            )));
        }
        let named = self.groups_like(costs).into_iter();
        let mut named = named.filter(|group| are_same(&group.columns, &selected));
        if let Some(group) = named.next() {
            return Ok(group.columns);
        }
        // Names do not say which column belongs to which cost, but a list of them does.
        if patterns.len() == found {
            return Ok(selected);
        }
        Err(Error::setting(format!(
            "{role}: the names of the columns do not say which cost each belongs to"
        ))
        .with_remedy(format!(
            "list the columns one by one, in the order of the costs: {}",
            first_names(costs.columns.iter().map(|column| self.name(*column)))
        )))
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
            return Ok(self
                .as_named(&selected)
                .unwrap_or_else(|| self.group_of(selected)));
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
            // Zeros and ones beside numbers are the decisions of the past, not their costs.
            let decisions: Vec<&NameGroup> = candidates
                .iter()
                .filter(|group| self.are_decisions(&group.columns))
                .collect();
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
            [only] => Ok(only.clone()),
            [] => Err(self.no_costs()),
            several => Err(self.ambiguous(
                "the costs could be several groups of columns",
                "costs",
                several.iter().take(MAX_READINGS).map(NameGroup::pattern),
            )),
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
            (Some(names), _) => format!("are named after the costs {}", first_names(names)),
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
    fn groups_named(&self, names: &[String]) -> Vec<NameGroup> {
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
                let place = |stem: &String| {
                    let found = positions.get(&format!("{prefix}{stem}{suffix}"));
                    found.and_then(|columns| match columns.as_slice() {
                        [only] => Some(*only),
                        // Two columns whose names differ in separators alone.
                        _ => None,
                    })
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

    /// Whether values are 0 and 1, or amounts that are mostly 0.
    fn are_decisions(&self, columns: &[usize]) -> bool {
        let profiles = || columns.iter().map(|column| &self.table.columns[*column]);
        let has_choice = profiles().any(|column| column.zero_share < 1.0);
        let zeros: f64 = profiles().map(|column| column.zero_share).sum();
        let is_amount = |column: &ColumnProfile| {
            column.kind == ValueKind::Number && column.gaps == 0 && !column.has_negatives
        };
        profiles().all(is_amount)
            && has_choice
            && (profiles().all(|column| column.is_binary)
                || zeros >= MIN_ZERO_SHARE * columns.len() as f64)
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
    fn named_after(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Vec<NameGroup> {
        let mut groups = self.groups_like(costs);
        groups.retain(|group| !group.columns.iter().any(|column| taken.contains(column)));
        groups
    }

    /// Groups that are named after the costs, themselves among them: by the names that the problem
    /// has or, where these have a common beginning such as `margin_`, by what follows it.
    fn groups_like(&self, costs: &NameGroup) -> Vec<NameGroup> {
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

    pub fn decisions(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Result<Vec<usize>> {
        match self.stated.decisions.as_slice() {
            [none] if none == NO_COLUMN => Ok(Vec::new()),
            [] => {
                let mut groups = self.named_after(costs, taken);
                groups.retain(|group| self.are_decisions(&group.columns));
                self.only_group("decisions", "decisions that were made", &groups)
            }
            patterns => self.stated_for_each_cost("decisions", patterns, costs),
        }
    }

    pub fn forecasts(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Result<Vec<usize>> {
        match self.stated.forecasts.as_slice() {
            [none] if none == NO_COLUMN => Ok(Vec::new()),
            [] => {
                let mut groups = self.named_after(costs, taken);
                let has_gaps = |group: &NameGroup| {
                    let mut columns = group.columns.iter();
                    columns.any(|column| self.table.columns[*column].gaps > 0)
                };
                groups.retain(|group| !self.are_decisions(&group.columns) && !has_gaps(group));
                let mut columns: Vec<usize> = Vec::new();
                for group in groups {
                    if !group.columns.iter().any(|column| columns.contains(column)) {
                        columns.extend(group.columns);
                    }
                }
                Ok(columns)
            }
            patterns => self.stated_forecasts(patterns, costs),
        }
    }

    /// The columns of one or several forecasts that the user named: a pattern for each, or as many
    /// names.
    fn stated_forecasts(&self, patterns: &[String], costs: &NameGroup) -> Result<Vec<usize>> {
        let count = costs.columns.len();
        let of_pattern = |pattern: &String| self.selected(std::slice::from_ref(pattern)).len();
        let size = if patterns.iter().all(|pattern| of_pattern(pattern) == count) {
            1
        } else {
            count
        };
        let mut columns = Vec::new();
        for group in patterns.chunks(size) {
            columns.extend(self.stated_for_each_cost("forecasts", group, costs)?);
        }
        Ok(columns)
    }

    /// The columns of the only group that can have a role.
    fn only_group(&self, role: &str, what: &str, groups: &[NameGroup]) -> Result<Vec<usize>> {
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

    pub fn time(&self, taken: &HashSet<usize>) -> Result<Option<usize>> {
        match self.stated.time.as_deref() {
            Some(NO_COLUMN) => return Ok(None),
            Some(name) => return self.column("time", name).map(Some),
            None => {}
        }
        let is_time = |column: &usize| {
            let profile = &self.table.columns[*column];
            // The only date is the time although it may be named as a feature, too: without a time,
            // rows would be cross-validated, so later rows are known to models of earlier ones.
            !taken.contains(column)
                && !is_any(&self.stated.ignore, &profile.name)
                && profile.kind == ValueKind::Date
                && profile.gaps == 0
                && profile.distinct > 1
        };
        let times: Vec<usize> = (0..self.table.columns.len()).filter(is_time).collect();
        match times.as_slice() {
            [] => self.refuse_other_dates(taken).map(|()| None),
            [only] => Ok(Some(*only)),
            several => {
                let names = several.iter().map(|column| self.name(*column).to_owned());
                Err(self.ambiguous(
                    "the time of a row could be in several columns",
                    "time",
                    names.chain([NO_COLUMN.to_owned()]),
                ))
            }
        }
    }

    /// Without a time, rows are cross-validated: models of earlier rows know later ones. A column of
    /// dates that are not read must not lead there silently.
    fn refuse_other_dates(&self, taken: &HashSet<usize>) -> Result<()> {
        let lists = [
            &self.stated.ignore,
            &self.stated.keys,
            &self.stated.features,
        ];
        let is_free = |position: usize, name: &str| {
            !taken.contains(&position) && !lists.into_iter().any(|names| is_any(names, name))
        };
        let mut columns = self.table.columns.iter().enumerate();
        let found = columns.find(|(position, column)| {
            column.has_other_dates && column.distinct > 1 && is_free(*position, &column.name)
        });
        let Some((_, column)) = found else {
            return Ok(());
        };
        Err(Error::setting(format!(
            "the cells of '{}' look like dates in a notation that is not read",
            column.name
        ))
        .with_remedy(
            "write them as 2026-01-31, so models are compared on later rows than those they were \
             trained on; if they are no times:",
        )
        .with_commands([self.command.with_role("time", NO_COLUMN)]))
    }

    /// Whether the column of times becomes features, too: dates do, unless the user says which
    /// columns are features, or to ignore this one.
    pub fn is_calendar(&self, time: usize) -> bool {
        let column = &self.table.columns[time];
        column.kind == ValueKind::Date && self.reason_against_feature(column).is_none()
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
    fn ambiguous(&self, what: &str, role: &str, values: impl Iterator<Item = String>) -> Error {
        let commands = values.map(|value| self.command.with_role(role, &value));
        Error::setting(what.to_owned())
            .with_remedy(format!("say which ({WHICH_PROBLEM_PAGE}):"))
            .with_commands(commands)
    }
}

/// Whether two lists have the same columns.
fn are_same(first: &[usize], second: &[usize]) -> bool {
    first.len() == second.len() && first.iter().all(|column| second.contains(column))
}
