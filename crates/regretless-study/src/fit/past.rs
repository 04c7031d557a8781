//! Decisions that were made: where a table has them, and as a method that is compared.
//!
//! A wide table has a column for each cost, named after it (`roles/finder.rs`). A long table has
//! one column, which is found by its values: zeros and ones that are a feasible decision in every
//! instance. It is known only after the decision, so it must not be a feature.

use std::path::Path;
use std::sync::Arc;

use regretless::data::{Dataset, Layout, TableProfile, TableSource};
use regretless::oracle::Oracle;
use regretless::{Decision, Problem};
use regretless_base::error::{Error, Result};

use super::roles::WHICH_PROBLEM_PAGE;
use super::{FitSettings, FitTable, NO_COLUMN, TableRoles};
use crate::backtest::GivenMethod;

/// The name of the user's decisions in tables.
const DECISIONS_NAME: &str = "past decisions";

/// Moves the column of a long table that has the decisions that were made from the features to its
/// role, unless the user said which columns are decisions or features.
pub(super) fn find_decisions(
    source: &TableSource,
    profile: &TableProfile,
    problem: &Problem,
    data: &Dataset,
    roles: &mut TableRoles,
    settings: &FitSettings,
) -> Result<()> {
    let stated = &settings.roles;
    if stated.long.is_none() || !stated.decisions.is_empty() || !stated.features.is_empty() {
        return Ok(());
    }
    let is_choice = |name: &str| {
        let mut columns = profile.columns.iter();
        columns.any(|column| {
            column.name == name
                && column.is_binary
                && column.gaps == 0
                && 0.0 < column.zero_share
                && column.zero_share < 1.0
        })
    };
    let mut found: Vec<String> = Vec::new();
    for name in &roles.features {
        let is_free = !roles.parameters.contains(name) && is_choice(name);
        if is_free && are_feasible(source, name, problem, data)? {
            found.push(name.clone());
        }
    }
    match found.as_slice() {
        [] => Ok(()),
        [only] => {
            roles.features.retain(|name| name != only);
            roles.decisions = found;
            Ok(())
        }
        several => {
            let values = several.iter().map(String::as_str).chain([NO_COLUMN]);
            let commands = values.map(|value| settings.command.with_role("decisions", value));
            Err(
                Error::setting("several columns could be decisions that were made")
                    .with_remedy(format!("say which ({WHICH_PROBLEM_PAGE}):"))
                    .with_commands(commands)
                    .in_file(&settings.file),
            )
        }
    }
}

/// Whether a column is a feasible decision in every instance.
fn are_feasible(
    source: &TableSource,
    column: &str,
    problem: &Problem,
    data: &Dataset,
) -> Result<bool> {
    if !problem.kind().model_parts().auxiliary_names().is_empty() {
        return Ok(false);
    }
    // Where items differ between instances, columns of zeros and ones are not read.
    let Ok(decisions) = decisions_of(source, &[column.to_owned()], data) else {
        return Ok(false);
    };
    let oracle = Oracle::new(problem.kind().clone()).with_parameters(data.parameters())?;
    for (row, decision) in decisions.iter().enumerate() {
        let Ok(problem) = oracle.row_problem(row) else {
            return Ok(false);
        };
        if problem.check(decision).is_err() {
            return Ok(false);
        }
    }
    Ok(decisions.len() == data.len())
}

/// The decisions in these columns: one for each cost in the order of the problem or, in a long
/// table, one column.
fn decisions_of(source: &TableSource, columns: &[String], data: &Dataset) -> Result<Vec<Decision>> {
    let features = of_items(source, data).read_features(columns)?;
    let items = features.shape().rows_per_instance();
    let values = features.values();
    let mut decisions = Vec::with_capacity(values.rows() / items.max(1));
    let mut dense: Vec<f64> = Vec::new();
    for row in 0..values.rows() {
        dense.extend(values.row(row).iter().copied().map(f64::from));
        if (row + 1) % items == 0 {
            decisions.push(Decision::from_dense(&dense));
            dense.clear();
        }
    }
    Ok(decisions)
}

/// The table with its items in the order of the data, which may be that of the problem.
fn of_items(source: &TableSource, data: &Dataset) -> TableSource {
    let mut source = source.clone();
    if let TableSource::Csv {
        layout: Layout::Long(columns),
        ..
    } = &mut source
        && columns.item.is_some()
    {
        columns.items = data.cost_names().to_vec();
    }
    source
}

impl FitTable {
    /// What the user already has: decisions that were made, and columns that are forecasts. Reasons
    /// why some cannot be compared are in the second list.
    pub(super) fn given(&self, file: &Path) -> Result<(Vec<GivenMethod>, Vec<String>)> {
        let (mut given, mut reasons) = self.given_forecasts()?;
        if self.roles.decisions.is_empty() {
            return Ok((given, reasons));
        }
        let auxiliary = self.problem.kind().model_parts().auxiliary_names();
        if !auxiliary.is_empty() {
            reasons.push(format!(
                "{DECISIONS_NAME} are not compared: the table lacks the columns with known costs; \
                 give all of them to a backtest"
            ));
            return Ok((given, reasons));
        }
        let is_long = !self.roles.instances.is_empty();
        let columns = if is_long {
            self.roles.decisions.clone()
        } else {
            self.in_order_of_problem()(&self.roles.decisions)
        };
        let data = self.table.data();
        let decisions = decisions_of(&self.source, &columns, data);
        let decisions = decisions.map_err(|error| error.in_file(file))?;
        given.push(GivenMethod::Decisions {
            name: DECISIONS_NAME.into(),
            columns: if is_long {
                data.costs().cols()
            } else {
                columns.len()
            },
            decisions: Arc::new(decisions.into_iter().map(Some).collect()),
        });
        Ok((given, reasons))
    }
}
