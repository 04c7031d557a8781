//! Columns with a value for each cost that are compared as they are: decisions that were made, and
//! forecasts.

use std::collections::HashSet;

use regretless::data::ColumnProfile;
use regretless_base::error::{Error, Result};
use regretless_base::text::{first_names, plural};

use super::feasibility::{DecisionColumns, DecisionFit};
use super::finder::{RoleFinder, are_same};
use super::names::NameGroup;
use super::{NO_COLUMN, WHICH_PROBLEM_PAGE};

/// Share of feasible rows from which columns may be decisions in spite of the others: inputs with
/// zeros and ones are feasible in some rows by chance.
const MIN_FEASIBLE_SHARE: f64 = 0.9;

/// What the user should know about columns that could have had a role.
#[derive(Default)]
pub(super) struct RoleRemarks {
    pub notes: Vec<String>,
    /// Columns that are not used, and why.
    pub unused: Vec<(usize, String)>,
}

impl RoleFinder<'_> {
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

    /// Decisions that were made. Columns that only look like decisions are none unless every row is
    /// feasible: inputs of each item may have zeros and ones, too.
    pub fn decisions(
        &self,
        costs: &NameGroup,
        taken: &HashSet<usize>,
        remarks: &mut RoleRemarks,
    ) -> Result<Vec<usize>> {
        match self.stated.decisions.as_slice() {
            [none] if none == NO_COLUMN => Ok(Vec::new()),
            [] => {
                let mut groups = Vec::new();
                for group in self.named_after(costs, taken) {
                    if self.are_decisions(&group.columns)
                        && self.is_feasible(&group, costs, remarks)?
                    {
                        groups.push(group);
                    }
                }
                self.only_group("decisions", "decisions that were made", &groups)
            }
            patterns => self.stated_for_each_cost("decisions", patterns, costs),
        }
    }

    /// Whether columns that look like decisions are those of their rows.
    fn is_feasible(
        &self,
        group: &NameGroup,
        costs: &NameGroup,
        remarks: &mut RoleRemarks,
    ) -> Result<bool> {
        let pattern = group.pattern();
        if let Some(gap) = self.first_gap(&group.columns) {
            let reason = format!("looks like past decisions, which are not compared, as {gap}");
            let columns = group.columns.iter();
            remarks
                .unused
                .extend(columns.map(|column| (*column, reason.clone())));
            remarks.notes.push(format!(
                "past decisions: columns {pattern} are not compared, as {gap}; fill it in"
            ));
            return Ok(false);
        }
        let found = (self.test)(&self.decision_columns(group, costs));
        let Some(fit) = found.filter(|fit| fit.infeasible > 0) else {
            return Ok(true);
        };
        let DecisionFit {
            rows, infeasible, ..
        } = fit;
        let first = fit.first.unwrap_or_default();
        let readings = [pattern.clone(), NO_COLUMN.to_owned()];
        let commands = readings.map(|value| self.command.with_role("decisions", &value));
        if fit.fits_row_before {
            return Err(Error::setting(format!(
                "columns {pattern} look like the decisions of the row before: {infeasible} of \
                 {rows} rows are infeasible, the first in {first}; all are feasible with the \
                 numbers of the row before"
            ))
            .with_remedy(
                "move them up by one row, so each row has its own decision, or compare none:",
            )
            .with_commands(commands.into_iter().skip(1)));
        }
        if (rows - infeasible) as f64 >= MIN_FEASIBLE_SHARE * rows as f64 {
            return Err(Error::setting(format!(
                "columns {pattern} look like decisions that were made, but {infeasible} of {rows} \
                 rows are infeasible, the first in {first}"
            ))
            .with_remedy("correct these rows, or say what the columns are:")
            .with_commands(commands));
        }
        remarks.notes.push(format!(
            "columns {pattern} are features, not past decisions: {infeasible} of {rows} rows would \
             be infeasible, the first in {first}"
        ));
        Ok(false)
    }

    pub(super) fn decision_columns(&self, group: &NameGroup, costs: &NameGroup) -> DecisionColumns {
        let names = |columns: &[usize]| -> Vec<String> {
            let names = columns.iter().map(|column| self.name(*column).to_owned());
            names.collect()
        };
        DecisionColumns {
            costs: names(&costs.columns),
            cost_names: self.problem_names(costs),
            decisions: names(&group.columns),
        }
    }

    /// `was_a is empty in row 5`, if a column has a gap.
    fn first_gap(&self, columns: &[usize]) -> Option<String> {
        let profiles = columns.iter().map(|column| &self.table.columns[*column]);
        let gaps = profiles.filter_map(|column| Some((column.first_gap?, &column.name)));
        let (row, name) = gaps.min()?;
        Some(format!("{name} is empty in row {row}"))
    }

    pub fn forecasts(
        &self,
        costs: &NameGroup,
        taken: &HashSet<usize>,
        remarks: &mut RoleRemarks,
    ) -> Result<Vec<usize>> {
        match self.stated.forecasts.as_slice() {
            [none] if none == NO_COLUMN => Ok(Vec::new()),
            [] => {
                let mut columns: Vec<usize> = Vec::new();
                for group in self.named_after(costs, taken) {
                    if self.are_decisions(&group.columns)
                        || group.columns.iter().any(|column| columns.contains(column))
                    {
                        continue;
                    }
                    match self.first_gap(&group.columns) {
                        None => columns.extend(group.columns),
                        Some(gap) => remarks.notes.push(format!(
                            "forecasts: columns {} are not compared, as {gap}",
                            group.pattern()
                        )),
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

    /// Whether values are 0 and 1, or amounts that are mostly 0. Where quantities are predicted,
    /// amounts are demands or orders, and no value tells them apart.
    pub(super) fn are_decisions(&self, columns: &[usize]) -> bool {
        let profiles = || columns.iter().map(|column| &self.table.columns[*column]);
        let has_choice = profiles().any(|column| column.zero_share < 1.0);
        let zeros: f64 = profiles().map(|column| column.zero_share).sum();
        let is_amount = |column: &ColumnProfile| column.is_number() && !column.has_negatives;
        !self.problem.predicts_quantities
            && profiles().all(is_amount)
            && has_choice
            && (profiles().all(|column| column.is_binary)
                || zeros >= super::finder::MIN_ZERO_SHARE * columns.len() as f64)
    }
}
