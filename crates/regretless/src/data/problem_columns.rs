//! What a problem reads from a table beside features and costs.

use super::layout::CsvHeader;
use super::{CostNames, ParameterColumns, RowParameters};
use crate::error::{Error, InputPlace, Result};

/// What a problem reads from a table beside features and costs; nothing by default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProblemColumns<'a> {
    /// The columns of the row parameters.
    pub parameters: &'a [ParameterColumns],
    /// Names of the costs; they identify the items of a long table.
    pub cost_names: Option<&'a CostNames>,
    /// Whether some costs may not exist in some rows: a cell with a cost may be empty.
    pub may_have_absent_costs: bool,
    /// Whether the instances of a long table may have different items.
    pub items_may_differ: bool,
    /// Whether only costs and parameters are read; features are then placeholders.
    pub without_features: bool,
}

impl<'a> ProblemColumns<'a> {
    /// Whether a parameter is which items of a long table are present.
    pub fn asks_for_present_items(&self) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|parameter| parameter.pattern == RowParameters::PRESENT_ITEMS)
    }

    /// The parameters that columns of a file are needed for: which items are present follows from
    /// the rows of a long table.
    pub fn parameters_in_files(&self) -> impl Iterator<Item = &'a ParameterColumns> {
        let parameters = self.parameters.iter();
        parameters.filter(|parameter| parameter.pattern != RowParameters::PRESENT_ITEMS)
    }
}

impl CsvHeader<'_> {
    /// The columns of the parameters of a problem in a file with one row per instance, each once.
    ///
    /// # Errors
    /// When a column is missing, or a pattern matches another number of columns than the problem
    /// needs.
    pub fn parameters<'p>(
        &self,
        parameters: impl Iterator<Item = &'p ParameterColumns>,
    ) -> Result<Vec<usize>> {
        let mut selected = Vec::new();
        for parameter in parameters {
            let columns = self.parameter(&parameter.pattern);
            if columns.is_empty() {
                return Err(self.missing_parameter(&parameter.pattern));
            }
            parameter.check_count(columns.len(), InputPlace::file(self.path).row(1))?;
            selected.extend(columns);
        }
        let mut seen = vec![false; self.names.len()];
        selected.retain(|column| !std::mem::replace(&mut seen[*column], true));
        // Patterns are read in the order of the table, whatever else names one of their columns.
        selected.sort_unstable();
        Ok(selected)
    }
}

impl ParameterColumns {
    /// Checks that a table has as many numbers per row as the parameter.
    ///
    /// # Errors
    /// When it has more or fewer.
    pub(super) fn check_count(&self, found: usize, place: InputPlace) -> Result<()> {
        let Self { pattern, count, .. } = self;
        if *count == 0 || found == *count {
            return Ok(());
        }
        let plural = |count: usize| if count == 1 { "number" } else { "numbers" };
        let message = format!(
            "'{pattern}' has {found} {} per row, but the problem needs {count}",
            plural(found)
        );
        Err(Error::input(place, message))
    }
}
