//! What each column of a table is: a cost, the time, a decision that was made, a feature.
//!
//! Roles follow from the names that the problem has, from names that are alike (`eur_1`, `was_1`)
//! and from values. Where the table allows two readings, nothing is guessed: the error shows a flag
//! for each of them.

use std::collections::{BTreeMap, HashSet};

use regretless::data::{ColumnProfile, TableProfile, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::{first_names, matches_pattern, plural};
use serde::Serialize;

/// Share of zeros from which amounts look like decisions: most items are not chosen. As in the data
/// check.
const MIN_ZERO_SHARE: f64 = 0.5;

/// Beginnings and ends of names of columns that count or name rows.
const KEY_WORDS: [&str; 5] = ["id", "key", "index", "row", "number"];

/// What the problem says about the columns of its table.
#[derive(Debug, Clone, Default)]
pub struct ProblemColumnNames {
    /// The names of its costs, if it has names.
    pub costs: Option<Vec<String>>,
    /// The number of its costs, if it does not depend on the table.
    pub num_costs: Option<usize>,
    /// Names and patterns of the columns of row parameters and known costs.
    pub parameters: Vec<String>,
}

/// What the user said about columns.
#[derive(Debug, Clone, Default)]
pub struct StatedRoles {
    /// Names or patterns of the costs.
    pub costs: Vec<String>,
    /// The column of times, or `none`.
    pub time: Option<String>,
    /// Names or patterns of decisions that were made, or `none`.
    pub decisions: Vec<String>,
    /// Names or patterns of forecasts of the costs, or `none`.
    pub forecasts: Vec<String>,
    /// Names or patterns of the features; by default all other columns.
    pub features: Vec<String>,
    /// Names or patterns of columns to leave out.
    pub ignore: Vec<String>,
}

/// The word by which a user says that a table has no column of a role.
pub const NO_COLUMN: &str = "none";

/// The roles of the columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TableRoles {
    /// The costs: in the order of the problem, if it has names, or of the table.
    pub costs: Vec<String>,
    /// What the problem calls them, if it has names.
    #[serde(skip)]
    pub cost_names: Option<Vec<String>>,
    /// The column of times.
    pub time: Option<String>,
    /// Decisions that were made, one for each cost, in the order of the costs.
    pub decisions: Vec<String>,
    /// Columns that may be forecasts of the costs, one for each, in the order of the costs.
    pub forecasts: Vec<String>,
    /// Columns that the problem file names.
    pub parameters: Vec<String>,
    /// What is predicted from.
    pub features: Vec<String>,
    /// Columns without a role, and why.
    pub unused: Vec<UnusedColumn>,
}

/// A column without a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedColumn {
    /// Its name.
    pub name: String,
    /// Why it is not used.
    pub reason: String,
}

/// Columns whose names are alike: the same beginning and end, another part between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NameGroup {
    prefix: String,
    suffix: String,
    /// Positions in the table.
    columns: Vec<usize>,
}

impl NameGroup {
    fn pattern(&self) -> String {
        format!("{}*{}", self.prefix, self.suffix)
    }

    /// The parts of the names that differ.
    fn stems<'t>(&self, table: &'t TableProfile) -> Vec<&'t str> {
        let stem = |column: &usize| {
            let name = table.columns[*column].name.as_str();
            &name[self.prefix.len()..name.len() - self.suffix.len()]
        };
        self.columns.iter().map(stem).collect()
    }
}

impl TableRoles {
    /// The roles of the columns of a table.
    ///
    /// # Errors
    /// When the costs or the time could be different columns, or no column can be a cost; the
    /// remedy has a flag for each reading.
    pub fn of(
        table: &TableProfile,
        problem: &ProblemColumnNames,
        stated: &StatedRoles,
    ) -> Result<Self> {
        let finder = RoleFinder {
            table,
            problem,
            stated,
        };
        finder.check_stated()?;
        let costs = finder.costs()?;
        let mut taken: HashSet<usize> = costs.columns.iter().copied().collect();
        let parameters = finder.parameters();
        let decisions = finder.decisions(&costs, &taken);
        taken.extend(&decisions);
        let time = finder.time(&taken)?;
        taken.extend(time);
        let forecasts = finder.forecasts(&costs, &taken);
        let names = |columns: &[usize]| -> Vec<String> {
            let names = columns.iter().map(|column| &table.columns[*column].name);
            names.cloned().collect()
        };
        let mut roles = Self {
            cost_names: finder.problem_names(&costs),
            costs: names(&costs.columns),
            time: time.map(|column| table.columns[column].name.clone()),
            decisions: names(&decisions),
            forecasts: names(&forecasts),
            parameters: names(&parameters),
            features: Vec::new(),
            unused: Vec::new(),
        };
        for (position, column) in table.columns.iter().enumerate() {
            if taken.contains(&position) {
                continue;
            }
            match finder.reason_against_feature(column) {
                None => roles.features.push(column.name.clone()),
                // A parameter that is no feature has its role.
                Some(_) if parameters.contains(&position) => {}
                Some(reason) => roles.unused.push(UnusedColumn {
                    name: column.name.clone(),
                    reason,
                }),
            }
        }
        Ok(roles)
    }
}

/// Finds roles one after the other.
struct RoleFinder<'a> {
    table: &'a TableProfile,
    problem: &'a ProblemColumnNames,
    stated: &'a StatedRoles,
}

impl RoleFinder<'_> {
    fn name(&self, column: usize) -> &str {
        &self.table.columns[column].name
    }

    /// The columns that names or patterns select, in the order of the table.
    fn selected(&self, patterns: &[String]) -> Vec<usize> {
        let is_selected = |column: &usize| is_any(patterns, self.name(*column));
        (0..self.table.columns.len()).filter(is_selected).collect()
    }

    /// Every stated name or pattern must select a column.
    fn check_stated(&self) -> Result<()> {
        let lists = [
            ("costs", &self.stated.costs),
            ("decisions", &self.stated.decisions),
            ("forecasts", &self.stated.forecasts),
            ("features", &self.stated.features),
            ("ignore", &self.stated.ignore),
        ];
        for (role, patterns) in lists {
            for pattern in patterns {
                let is_found = |column: &ColumnProfile| matches_pattern(pattern, &column.name);
                if pattern != NO_COLUMN && !self.table.columns.iter().any(is_found) {
                    let names = self.table.columns.iter().map(|column| &column.name);
                    return Err(
                        Error::setting(format!("{role}: no column is called '{pattern}'"))
                            .with_remedy(format!("the columns are {}", first_names(names))),
                    );
                }
            }
        }
        Ok(())
    }

    fn parameters(&self) -> Vec<usize> {
        self.selected(&self.problem.parameters)
    }

    fn costs(&self) -> Result<NameGroup> {
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
            let values = candidates
                .iter()
                .filter(|group| !self.are_decisions(&group.columns));
            let values: Vec<NameGroup> = values.cloned().collect();
            if !values.is_empty() {
                candidates = values;
            }
        }
        match candidates.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(self.no_costs()),
            several => Err(ambiguous(
                "the costs could be several groups of columns",
                several
                    .iter()
                    .map(|group| format!("--costs '{}'", group.pattern())),
            )),
        }
    }

    /// The names of the problem's costs, if these columns are named after them.
    fn problem_names(&self, costs: &NameGroup) -> Option<Vec<String>> {
        let names = self.problem.costs.as_ref()?;
        let stems = costs.stems(self.table);
        (stems == *names).then(|| names.clone())
    }

    /// The same columns as a group named after the problem's costs, in their order.
    fn as_named(&self, columns: &[usize]) -> Option<NameGroup> {
        let groups = self.groups_named(self.problem.costs.as_ref()?);
        let wanted: HashSet<usize> = columns.iter().copied().collect();
        groups.into_iter().find(|group| {
            let found: HashSet<usize> = group.columns.iter().copied().collect();
            found == wanted
        })
    }

    fn no_costs(&self) -> Error {
        let wanted = match (&self.problem.costs, self.problem.num_costs) {
            (Some(names), _) => format!("are named after the costs {}", first_names(names)),
            (None, Some(count)) => format!("are {count} numbers with names that are alike"),
            (None, None) => "are numbers with names that are alike".into(),
        };
        Error::setting(format!("no columns {wanted}")).with_remedy(
            "name the columns of the costs: --costs 'c_*'; where only decisions were seen, or \
             quantities are unknown, see the page \"Which problem do I have?\"",
        )
    }

    /// Groups that have a column for each of these names, between the same beginning and end.
    fn groups_named(&self, names: &[String]) -> Vec<NameGroup> {
        let Some(first) = names.first() else {
            return Vec::new();
        };
        let positions: BTreeMap<&str, usize> = (0..self.table.columns.len())
            .map(|column| (self.name(column), column))
            .collect();
        let mut groups = Vec::new();
        for column in &self.table.columns {
            for (start, _) in column.name.match_indices(first.as_str()) {
                let prefix = &column.name[..start];
                let suffix = &column.name[start + first.len()..];
                let place = |name: &String| {
                    let wanted = format!("{prefix}{name}{suffix}");
                    positions.get(wanted.as_str()).copied()
                };
                let found: Option<Vec<usize>> = names.iter().map(place).collect();
                if let Some(columns) = found
                    && self.are_numbers(&columns)
                    && !self.are_parameters(&columns)
                {
                    groups.push(NameGroup {
                        prefix: prefix.to_owned(),
                        suffix: suffix.to_owned(),
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
        let (start, end) = regretless_base::text::common_ends(&names);
        let first = names.first().copied().unwrap_or_default();
        NameGroup {
            prefix: first[..start].to_owned(),
            suffix: first[first.len() - end..].to_owned(),
            columns,
        }
    }

    /// Groups of other columns that have a column for each cost, in the order of the costs.
    fn named_after(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Vec<NameGroup> {
        let stems: Vec<String> = costs
            .stems(self.table)
            .into_iter()
            .map(str::to_owned)
            .collect();
        if stems.len() < 2 || stems.iter().any(String::is_empty) {
            return Vec::new();
        }
        let mut groups = self.groups_named(&stems);
        groups.retain(|group| !group.columns.iter().any(|column| taken.contains(column)));
        groups
    }

    fn decisions(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Vec<usize> {
        match self.stated.decisions.as_slice() {
            [none] if none == NO_COLUMN => Vec::new(),
            [] => {
                let mut groups = self.named_after(costs, taken);
                groups.retain(|group| self.are_decisions(&group.columns));
                // Of two groups neither can be preferred; both then stay features.
                match groups.as_slice() {
                    [only] => only.columns.clone(),
                    _ => Vec::new(),
                }
            }
            patterns => self.selected(patterns),
        }
    }

    fn forecasts(&self, costs: &NameGroup, taken: &HashSet<usize>) -> Vec<usize> {
        match self.stated.forecasts.as_slice() {
            [none] if none == NO_COLUMN => Vec::new(),
            [] => {
                let mut groups = self.named_after(costs, taken);
                let has_gaps = |group: &NameGroup| {
                    let mut columns = group.columns.iter();
                    columns.any(|column| self.table.columns[*column].gaps > 0)
                };
                groups.retain(|group| !self.are_decisions(&group.columns) && !has_gaps(group));
                match groups.as_slice() {
                    [only] => only.columns.clone(),
                    _ => Vec::new(),
                }
            }
            patterns => self.selected(patterns),
        }
    }

    fn time(&self, taken: &HashSet<usize>) -> Result<Option<usize>> {
        match self.stated.time.as_deref() {
            Some(NO_COLUMN) => return Ok(None),
            Some(name) => {
                let mut columns = 0..self.table.columns.len();
                let found = columns.find(|column| self.name(*column) == name);
                return match found {
                    Some(column) => Ok(Some(column)),
                    None => Err(Error::setting(format!(
                        "time: no column is called '{name}'"
                    ))),
                };
            }
            None => {}
        }
        let is_time = |column: &usize| {
            let profile = &self.table.columns[*column];
            let is_left_out = is_any(&self.stated.ignore, &profile.name)
                || is_any(&self.stated.features, &profile.name);
            !taken.contains(column)
                && !is_left_out
                && profile.kind == ValueKind::Date
                && profile.gaps == 0
                && profile.distinct > 1
        };
        let times: Vec<usize> = (0..self.table.columns.len()).filter(is_time).collect();
        match times.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            several => Err(ambiguous(
                "the time of a row could be in several columns",
                several
                    .iter()
                    .map(|column| format!("--time {}", self.name(*column))),
            )),
        }
    }

    /// Why a column is no feature.
    fn reason_against_feature(&self, column: &ColumnProfile) -> Option<String> {
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
        let name = column.name.to_lowercase();
        let is_key = KEY_WORDS
            .iter()
            .any(|word| name == *word || name.ends_with(&format!("_{word}")));
        let may_be_key = match column.kind {
            ValueKind::Text => true,
            ValueKind::Number => column.is_whole && is_key,
            ValueKind::Date | ValueKind::Empty => false,
        };
        if may_be_key && column.names_rows {
            return Some("names the rows".into());
        }
        None
    }
}

/// Whether a name is one of these, or matches one of these patterns.
fn is_any(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}

/// The beginnings and ends that a name may share with others: without its trailing digits, and
/// without one of the parts that underscores separate.
fn ends_of(name: &str) -> Vec<[String; 2]> {
    let mut ends = Vec::new();
    let without_digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if without_digits.len() < name.len() {
        ends.push([without_digits.to_owned(), String::new()]);
    }
    if let Some((prefix, _)) = name.split_once('_') {
        ends.push([format!("{prefix}_"), String::new()]);
    }
    if let Some((_, suffix)) = name.rsplit_once('_') {
        ends.push([String::new(), format!("_{suffix}")]);
    }
    ends.dedup();
    ends
}

/// The error of a role that several columns could have, with a flag for each.
fn ambiguous(what: &str, flags: impl Iterator<Item = String>) -> Error {
    let flags: Vec<String> = flags.collect();
    Error::setting(what.to_owned()).with_remedy(format!("say which: {}", flags.join(", or ")))
}

impl TableRoles {
    /// The roles in lines for people: the role, and the columns that have it.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut add = |role: &str, names: &[String]| {
            if !names.is_empty() {
                lines.push((role.to_owned(), counted_names(names)));
            }
        };
        add("costs", &self.costs);
        add("time", self.time.as_slice());
        add("past decisions", &self.decisions);
        add("forecasts", &self.forecasts);
        add("row parameters", &self.parameters);
        add("features", &self.features);
        let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for column in &self.unused {
            let names = by_reason.entry(&column.reason).or_default();
            names.push(column.name.clone());
        }
        for (reason, names) in by_reason {
            let columns = counted_names(&names);
            lines.push(("not used".into(), format!("{columns}: {reason}")));
        }
        lines
    }
}

/// `a, b and c`, or `35 columns: a, b, … and 27 more`.
fn counted_names(names: &[String]) -> String {
    match names.len() {
        1 => names[0].clone(),
        count => format!("{count} column{}: {}", plural(count), first_names(names)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step should show where")]

    use super::{ProblemColumnNames, StatedRoles, TableRoles};
    use regretless::data::{ColumnProfile, TableProfile, ValueKind};

    fn number(name: &str) -> ColumnProfile {
        ColumnProfile {
            name: name.to_owned(),
            kind: ValueKind::Number,
            gaps: 0,
            distinct: 90,
            names_rows: false,
            zero_share: 0.0,
            is_binary: false,
            is_whole: false,
            has_negatives: false,
        }
    }

    fn decision(name: &str) -> ColumnProfile {
        ColumnProfile {
            distinct: 2,
            zero_share: 0.7,
            is_binary: true,
            is_whole: true,
            ..number(name)
        }
    }

    fn of_kind(name: &str, kind: ValueKind) -> ColumnProfile {
        ColumnProfile {
            kind,
            names_rows: true,
            ..number(name)
        }
    }

    fn table(columns: &[ColumnProfile]) -> TableProfile {
        TableProfile {
            rows: 100,
            columns: columns.to_vec(),
        }
    }

    fn items(count: usize) -> ProblemColumnNames {
        ProblemColumnNames {
            num_costs: Some(count),
            ..ProblemColumnNames::default()
        }
    }

    #[test]
    fn a_history_with_past_decisions_a_date_and_a_forecast_needs_no_flag() {
        let mut columns = vec![of_kind("date", ValueKind::Date), number("temperature")];
        for item in ["bread", "rolls", "cake"] {
            columns.push(number(&format!("eur_{item}")));
        }
        for item in ["rolls", "bread", "cake"] {
            columns.push(decision(&format!("was_{item}")));
        }
        columns.push(number("minutes"));
        columns.push(of_kind("store_id", ValueKind::Text));
        let problem = ProblemColumnNames {
            parameters: vec!["minutes".into()],
            ..items(3)
        };
        let roles = TableRoles::of(&table(&columns), &problem, &StatedRoles::default()).unwrap();
        assert_eq!(roles.costs, ["eur_bread", "eur_rolls", "eur_cake"]);
        assert_eq!(roles.decisions, ["was_bread", "was_rolls", "was_cake"]);
        assert_eq!(roles.time.as_deref(), Some("date"));
        assert_eq!(roles.parameters, ["minutes"]);
        assert_eq!(roles.features, ["temperature", "minutes"]);
        assert_eq!(roles.unused[0].reason, "names the rows");
    }

    #[test]
    fn two_groups_of_numbers_are_refused_with_a_flag_for_each() {
        let columns = [
            number("price_1"),
            number("price_2"),
            number("cost_1"),
            number("cost_2"),
        ];
        let refused = TableRoles::of(&table(&columns), &items(2), &StatedRoles::default());
        let message = refused.unwrap_err().to_string();
        for flag in ["--costs 'price_*'", "--costs 'cost_*'"] {
            assert!(message.contains(flag), "{message}");
        }
        let stated = StatedRoles {
            costs: vec!["cost_*".into()],
            ..StatedRoles::default()
        };
        let roles = TableRoles::of(&table(&columns), &items(2), &stated).unwrap();
        assert_eq!(roles.costs, ["cost_1", "cost_2"]);
        assert_eq!(roles.forecasts, ["price_1", "price_2"]);
    }

    #[test]
    fn costs_have_the_names_of_the_problem_in_its_order() {
        let columns = [
            number("c_a"),
            number("x"),
            number("c_b"),
            number("b"),
            number("a"),
        ];
        let problem = ProblemColumnNames {
            costs: Some(vec!["b".into(), "a".into()]),
            ..ProblemColumnNames::default()
        };
        let roles = TableRoles::of(&table(&columns), &problem, &StatedRoles::default()).unwrap();
        assert_eq!(roles.costs, ["b", "a"]);
        let without = [number("c_a"), number("x"), number("c_b")];
        let roles = TableRoles::of(&table(&without), &problem, &StatedRoles::default()).unwrap();
        assert_eq!(roles.costs, ["c_b", "c_a"]);
        assert_eq!(roles.cost_names, problem.costs);
        let stated = StatedRoles {
            costs: vec!["c_*".into()],
            ..StatedRoles::default()
        };
        let roles = TableRoles::of(&table(&without), &problem, &stated).unwrap();
        assert_eq!(roles.costs, ["c_b", "c_a"]);
    }

    #[test]
    fn two_columns_of_dates_are_refused_unless_one_is_named() {
        let columns = [
            of_kind("ordered", ValueKind::Date),
            of_kind("shipped", ValueKind::Date),
            number("c1"),
            number("c2"),
        ];
        let refused = TableRoles::of(&table(&columns), &items(2), &StatedRoles::default());
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains("--time ordered, or --time shipped"),
            "{message}"
        );
        for (time, expected) in [("ordered", Some("ordered")), ("none", None)] {
            let stated = StatedRoles {
                time: Some(time.into()),
                ..StatedRoles::default()
            };
            let roles = TableRoles::of(&table(&columns), &items(2), &stated).unwrap();
            assert_eq!(roles.time.as_deref(), expected);
        }
    }

    #[test]
    fn a_table_without_costs_is_refused_with_a_way_out() {
        let columns = [number("x"), number("c1"), number("c2")];
        let refused = TableRoles::of(&table(&columns), &items(5), &StatedRoles::default());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("no columns are 5 numbers"), "{message}");
        assert!(message.contains("--costs"), "{message}");
    }
}
