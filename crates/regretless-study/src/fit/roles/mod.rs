//! What each column of a table is: a cost, the time, a decision that was made, a feature.
//!
//! Roles follow from the names that the problem has, from names that are alike (`eur_1`, `was_1`)
//! and from values. If the table allows two readings, nothing is guessed: the error shows a flag
//! for each of them.

pub(super) mod feasibility;
mod finder;
mod given;
mod incomplete;
mod keys;
mod names;
#[cfg(test)]
mod tests;
pub(super) mod time;

use std::collections::{BTreeMap, HashMap, HashSet};

use regretless::data::{LongColumns, TableProfile};
use regretless_base::error::{Error, Result};
use regretless_base::text::{first_names, plural};
use serde::Serialize;

use super::FitCommand;
use super::per_cost::group_patterns;
use super::table::common_pattern;
use feasibility::DecisionTest;
use finder::RoleFinder;
use given::RoleRemarks;

/// What the problem says about the columns of its table.
#[derive(Debug, Clone, Default)]
pub struct ProblemColumnNames {
    /// The names of its costs, if it has names.
    pub costs: Option<Vec<String>>,
    /// The number of its costs, if it does not depend on the table.
    pub num_costs: Option<usize>,
    /// Names and patterns of the columns of row parameters and known costs.
    pub parameters: Vec<String>,
    /// Whether quantities such as demands are predicted, not costs.
    pub predicts_quantities: bool,
    /// Whether costs are those of steps in time, so the order of their columns matters.
    pub costs_are_steps: bool,
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
    /// Names or patterns of columns that name the rows, or `none`.
    pub keys: Vec<String>,
    /// The columns of a table with one row per instance and cost.
    pub long: Option<LongColumns>,
}

/// The word by which a user says that a table has no column of a role.
pub const NO_COLUMN: &str = "none";

/// Where a user who does not find a role is led on, for errors.
pub(super) const WHICH_PROBLEM_PAGE: &str =
    "the page \"Which problem do I have?\" (docs/start/which-problem.md) leads on";

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
    /// What the column of times becomes as a feature, or why it is none.
    pub calendar: Option<String>,
    /// Which costs of earlier periods are features, or why none are.
    pub history: Option<String>,
    /// Columns with costs of earlier periods, which are features beside the others.
    pub lags: Vec<String>,
    /// How many periods before.
    pub lag_periods: Vec<usize>,
    /// Decisions that were made, one for each cost, in the order of the costs.
    pub decisions: Vec<String>,
    /// Columns that may be forecasts of the costs: a group after the other, each with a column for
    /// each cost in the order of the costs.
    pub forecasts: Vec<String>,
    /// Of a long table, the columns that name the instance and the item of a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<String>,
    /// Columns that name the rows: each has another value in every row.
    pub keys: Vec<String>,
    /// Groups of features with a column for each cost, in the order of the costs.
    pub cost_columns: Vec<Vec<String>>,
    /// Columns that the problem file names.
    pub parameters: Vec<String>,
    /// What is predicted from.
    pub features: Vec<String>,
    /// Columns without a role, and why.
    pub unused: Vec<UnusedColumn>,
    /// What the user should know about columns that could have had another role.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The costs of a table whose problem is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCosts {
    /// The columns in the order of the table.
    pub columns: Vec<String>,
    /// What selects them: their pattern, or else their names.
    pub selection: Vec<String>,
}

impl FoundCosts {
    /// The only group of numbers with names that are alike.
    ///
    /// # Errors
    /// When there is none, or there are several; the remedy has a command for each.
    pub fn of(table: &TableProfile, command: &FitCommand) -> Result<Self> {
        let finder = RoleFinder {
            table,
            problem: &ProblemColumnNames::default(),
            stated: &StatedRoles::default(),
            command,
            // Without a problem, no decision can be tested.
            test: &|_| None,
        };
        let costs = finder.costs()?;
        let names = costs
            .columns
            .iter()
            .map(|column| &table.columns[*column].name);
        let columns: Vec<String> = names.cloned().collect();
        let pattern = vec![costs.pattern()];
        let is_exact = finder.selected(&pattern) == costs.columns;
        Ok(Self {
            selection: if is_exact { pattern } else { columns.clone() },
            columns,
        })
    }
}

/// A column without a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedColumn {
    /// Its name.
    pub name: String,
    /// Why it is not used.
    pub reason: String,
}

impl TableRoles {
    /// The roles of the columns of a table.
    ///
    /// # Errors
    /// When the costs or the time could be different columns, or no column can be a cost; the
    /// remedy has a flag for each reading.
    pub(super) fn of(
        table: &TableProfile,
        problem: &ProblemColumnNames,
        stated: &StatedRoles,
        command: &FitCommand,
        test: &DecisionTest<'_>,
    ) -> Result<Self> {
        let finder = RoleFinder {
            table,
            problem,
            stated,
            command,
            test,
        };
        finder.check_stated()?;
        let costs = finder.costs()?;
        let mut taken: HashSet<usize> = costs.columns.iter().copied().collect();
        let parameters = finder.parameters();
        let mut remarks = RoleRemarks::default();
        let decisions = finder.decisions(&costs, &taken, &mut remarks)?;
        taken.extend(&decisions);
        taken.extend(remarks.unused.iter().map(|(column, _)| column));
        let time = finder.time(&taken)?;
        taken.extend(time);
        let instances = finder.instances()?;
        taken.extend(&instances);
        let keys = finder.keys(&taken)?;
        taken.extend(&keys);
        let forecasts = finder.forecasts(&costs, &taken, &mut remarks)?;
        let names = |columns: &[usize]| -> Vec<String> {
            let names = columns.iter().map(|column| &table.columns[*column].name);
            names.cloned().collect()
        };
        let mut roles = Self {
            cost_names: finder.problem_names(&costs),
            costs: names(&costs.columns),
            time: time.map(|column| table.columns[column].name.clone()),
            calendar: None,
            history: None,
            lags: Vec::new(),
            lag_periods: Vec::new(),
            decisions: names(&decisions),
            forecasts: names(&forecasts),
            instances: names(&instances),
            keys: names(&keys),
            cost_columns: Vec::new(),
            parameters: names(&parameters),
            features: Vec::new(),
            unused: Vec::new(),
            notes: remarks.notes,
        };
        for (column, reason) in remarks.unused {
            roles.unused.push(UnusedColumn {
                name: table.columns[column].name.clone(),
                reason,
            });
        }
        roles.assign_features(&finder, &taken, time);
        if roles.features.is_empty() {
            return Err(Error::setting("no column is left for the features")
                .with_remedy(format!("{}; {WHICH_PROBLEM_PAGE}", described(&roles))));
        }
        Ok(roles)
    }
}

impl TableRoles {
    /// What is left becomes features, or unused for a reason.
    fn assign_features(
        &mut self,
        finder: &RoleFinder<'_>,
        taken: &HashSet<usize>,
        time: Option<usize>,
    ) {
        let parameters = self.parameters.clone();
        let is_parameter = |name: &String| parameters.contains(name);
        // Of equal columns the first is a feature; one that is equal to a cost is none at all.
        let mut known: HashMap<u64, &str> = HashMap::new();
        for (position, column) in finder.table.columns.iter().enumerate() {
            if taken.contains(&position) {
                known.entry(column.content).or_insert(&column.name);
            }
        }
        let calendar = time.filter(|column| finder.is_calendar(*column));
        for (position, column) in finder.table.columns.iter().enumerate() {
            if calendar == Some(position) {
                self.features.push(column.name.clone());
                continue;
            }
            // A time that is named as a feature is one, too; other roles have one only.
            let is_named_time = time == Some(position) && finder.is_named_feature(&column.name);
            if taken.contains(&position) && !is_named_time {
                continue;
            }
            let equal = known.get(&column.content);
            let equal = equal.filter(|_| finder.stated.features.is_empty());
            let reason = finder
                .reason_against_feature(column)
                .or_else(|| equal.map(|first| format!("equal to {first}")));
            match reason {
                None => {
                    known.insert(column.content, &column.name);
                    self.features.push(column.name.clone());
                }
                // A parameter that is no feature has its role.
                Some(_) if is_parameter(&column.name) => {}
                Some(reason) => self.unused.push(UnusedColumn {
                    name: column.name.clone(),
                    reason,
                }),
            }
        }
    }

    /// Leaves features out for a reason.
    pub(super) fn leave_out(&mut self, columns: &[String], reason: &str) {
        self.features.retain(|name| !columns.contains(name));
        let unused = columns.iter().map(|name| UnusedColumn {
            name: name.clone(),
            reason: reason.to_owned(),
        });
        self.unused.extend(unused);
    }

    /// Forecasts of which a column is almost a cost: they are not compared unless the user named
    /// them, because they may be known only after the decision.
    pub(super) fn suspect_forecasts(&mut self, leaking: &[String], are_stated: bool) {
        let costs = self.costs.len().max(1);
        let groups: Vec<Vec<String>> = self.forecasts.chunks(costs).map(<[_]>::to_vec).collect();
        for group in groups {
            if !group.iter().any(|name| leaking.contains(name)) {
                continue;
            }
            let pattern = common_pattern(&group);
            if are_stated {
                self.notes.push(format!(
                    "forecasts: columns {pattern} are almost perfectly correlated with the costs: \
                     leave them out if they are known only after the decision"
                ));
            } else {
                self.forecasts.retain(|name| !group.contains(name));
                self.notes.push(format!(
                    "forecasts: columns {pattern} are not compared: they are almost perfectly \
                     correlated with the costs, so they may be known only after the decision"
                ));
            }
        }
    }

    /// The columns of a table to decide on, each once: instances, the time, a key of the rows that
    /// are printed, parameters and features.
    pub(super) fn columns_to_decide(&self, key: Option<&str>) -> Vec<String> {
        let key: Vec<String> = key.map(str::to_owned).into_iter().collect();
        let mut columns: Vec<String> = Vec::new();
        let lists = [
            &self.instances,
            self.time.as_slice(),
            &key,
            &self.parameters,
            &self.features,
        ];
        for name in lists.into_iter().flatten() {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        columns
    }

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
        add("instances", &self.instances);
        add("keys", &self.keys);
        add("calendar", self.calendar.as_slice());
        let past = [format!(
            "{}, taken as decided in the same row",
            counted_names(&self.decisions)
        )];
        add(
            "past decisions",
            if self.decisions.is_empty() {
                &[]
            } else {
                &past
            },
        );
        add("forecasts", &self.forecasts);
        add("row parameters", &self.parameters);
        add("features", &self.features);
        add("lags", self.history.as_slice());
        add(
            "of each cost",
            group_patterns(&self.cost_columns).as_slice(),
        );
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

/// The roles in one line, for an error.
fn described(roles: &TableRoles) -> String {
    let lines = roles.lines().into_iter();
    let lines: Vec<String> = lines
        .map(|(role, columns)| format!("{role}: {columns}"))
        .collect();
    format!("the columns are {}", lines.join("; "))
}

/// `a, b and c`, or `35 columns: a, b, … and 27 more`.
fn counted_names(names: &[String]) -> String {
    match names.len() {
        0 => String::new(),
        1 => names[0].clone(),
        count => format!("{count} column{}: {}", plural(count), first_names(names)),
    }
}
