//! Row parameters: known numbers of each row that its feasible set and its known costs depend on.
//!
//! A parameter column has one number per row (a capacity, a right-hand side) or several (one per
//! item of a long table, or an array). Problems name the columns they need
//! ([`ParameterColumns`]); the numbers of one row are then the input of the row's own problem.

use std::sync::Arc;

use super::{Dataset, NodeNames, SharedArray};
use crate::error::{Error, InputPlace, Result};
use crate::text::{first_names, matches_pattern};

/// Known numbers of each row, by column.
///
/// ```
/// use std::sync::Arc;
///
/// use regretless::data::RowParameters;
///
/// // Three days: the capacity of the truck, and the weights of two items.
/// let parameters = RowParameters::new(3)
///     .with_column("capacity", 1, Arc::new(vec![10.0, 12.0, 9.0]))?
///     .with_column("weights", 2, Arc::new(vec![4.0, 7.0, 4.0, 7.5, 5.0, 7.0]))?;
/// assert_eq!(parameters.rows(), 3);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowParameters {
    rows: usize,
    columns: Vec<ParameterColumn>,
    /// Names of the items of each row, if rows have different ones.
    item_names: Option<Arc<ItemNames>>,
}

/// Names of the items of each row of a long table.
#[derive(Debug, Clone, PartialEq)]
struct ItemNames {
    names: Vec<String>,
    /// Items per row.
    items: usize,
    /// Index of the name of every row and item; [`ItemNames::NO_ROW`] if there is no item.
    indices: Vec<u32>,
}

impl ItemNames {
    const NO_ROW: u32 = u32::MAX;
}

#[derive(Debug, Clone)]
struct ParameterColumn {
    name: String,
    /// Numbers per row.
    width: usize,
    /// Whether there is one number per item of a long table: they are reordered with the items.
    is_per_item: bool,
    values: Arc<dyn SharedArray<f64>>,
}

impl PartialEq for ParameterColumn {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.width == other.width
            && self.is_per_item == other.is_per_item
            && self.values.values() == other.values.values()
    }
}

impl ParameterColumn {
    fn row(&self, row: usize) -> &[f64] {
        &self.values.values()[row * self.width..][..self.width]
    }
}

/// The columns that one parameter of a problem is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterColumns {
    /// Name of a column, or a pattern in which `*` matches any characters.
    pub pattern: String,
    /// Numbers that the parameter has.
    pub count: usize,
    /// The nodes of which the parameter is one, if it is the name of a node: cells of a table hold
    /// names, and the numbers are those of `NodeNames`.
    pub names: Option<Arc<NodeNames>>,
}

/// The columns of a problem's parameters in a table.
#[derive(Debug, Clone)]
pub(crate) struct BoundParameters {
    table: Arc<RowParameters>,
    /// Indices of columns, in the order of the parameters.
    columns: Vec<usize>,
}

impl RowParameters {
    /// The column that says which items of a long table a row has. No header can have this name
    /// by accident.
    pub(crate) const PRESENT_ITEMS: &'static str = "#present";

    /// Parameters of this many rows, no column yet.
    pub fn new(rows: usize) -> Self {
        Self {
            rows,
            columns: Vec::new(),
            item_names: None,
        }
    }

    /// The same with a column of `width` numbers per row, row by row.
    ///
    /// # Errors
    /// When the number of values is not rows × width, a value is no number, or the name exists.
    pub fn with_column(
        self,
        name: impl Into<String>,
        width: usize,
        values: Arc<dyn SharedArray<f64>>,
    ) -> Result<Self> {
        self.with(ParameterColumn {
            name: name.into(),
            width,
            is_per_item: false,
            values,
        })
    }

    /// The same with a column of a long table: one number per item. They are reordered if the costs
    /// are.
    ///
    /// # Errors
    /// As [`RowParameters::with_column`].
    pub fn with_item_column(
        self,
        name: impl Into<String>,
        items: usize,
        values: Arc<dyn SharedArray<f64>>,
    ) -> Result<Self> {
        self.with(ParameterColumn {
            name: name.into(),
            width: items,
            is_per_item: true,
            values,
        })
    }

    fn with(mut self, column: ParameterColumn) -> Result<Self> {
        let (name, width) = (&column.name, column.width);
        let values = column.values.values();
        if self.rows.checked_mul(width) != Some(values.len()) || width == 0 {
            return Err(Error::data(format!(
                "parameter {name}: {} values do not make {} rows of {width}",
                values.len(),
                self.rows
            )));
        }
        if let Some(position) = values.iter().position(|value| value.is_nan()) {
            let place = InputPlace::default().row((position / width) as u64);
            return Err(Error::input(
                place.column(name),
                "the parameter is not a number (rows counted from 0)",
            ));
        }
        if self.columns.iter().any(|other| other.name == *name) {
            return Err(Error::data(format!("two parameters are called '{name}'")));
        }
        self.columns.push(column);
        Ok(self)
    }

    /// The same with names of the items of each row: `indices` has the index of a name for every
    /// row and item, `None` if the item does not exist.
    pub(crate) fn with_item_names(
        mut self,
        names: Vec<String>,
        items: usize,
        indices: impl Iterator<Item = Option<usize>>,
    ) -> Self {
        let index = |index: Option<usize>| index.map_or(ItemNames::NO_ROW, |index| index as u32);
        self.item_names = Some(Arc::new(ItemNames {
            names,
            items,
            indices: indices.map(index).collect(),
        }));
        self
    }

    /// The name of an item of a row; `None` if rows do not name their own items, or the row has no
    /// such item.
    pub fn item_name(&self, row: usize, item: usize) -> Option<&str> {
        let items = self.item_names.as_ref()?;
        let index = items.indices.get(row * items.items..)?.get(item)?;
        items.names.get(*index as usize).map(String::as_str)
    }

    /// Whether a row has an item: all items exist if rows do not say so.
    pub fn has_item(&self, row: usize, item: usize) -> bool {
        let mut columns = self.columns.iter();
        match columns.find(|column| column.name == Self::PRESENT_ITEMS) {
            Some(present) => present
                .row(row)
                .get(item)
                .is_none_or(|exists| *exists > 0.0),
            None => true,
        }
    }

    /// Whether some rows may lack items that others have.
    pub fn may_lack_items(&self) -> bool {
        self.width(Self::PRESENT_ITEMS).is_some()
    }

    /// The rows that lack items which others have.
    pub fn rows_lacking_items(&self) -> Vec<usize> {
        let items = self.width(Self::PRESENT_ITEMS).unwrap_or(0);
        let lacks_items = |row: &usize| (0..items).any(|item| !self.has_item(*row, item));
        (0..self.rows).filter(lacks_items).collect()
    }

    /// Whether every row names its own items ([`RowParameters::item_name`]).
    pub fn name_items(&self) -> bool {
        self.item_names.is_some()
    }

    /// Checks that memory-mapped parameters have not changed.
    ///
    /// # Errors
    /// When another program wrote to their file or truncated it.
    pub fn check_unchanged(&self) -> Result<()> {
        let mut columns = self.columns.iter();
        columns.try_for_each(|column| column.values.check_unchanged())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Numbers per row of a column, if it exists.
    pub fn width(&self, name: &str) -> Option<usize> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map(|column| column.width)
    }

    /// The parameters of the listed rows, in the order of the list.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let select = |column: &ParameterColumn| {
            let mut values = Vec::with_capacity(rows.len() * column.width);
            for row in rows {
                values.extend_from_slice(column.row(*row));
            }
            ParameterColumn {
                values: Arc::new(values),
                ..column.clone()
            }
        };
        let item_names = self.item_names.as_ref().map(|known| {
            let mut indices = Vec::with_capacity(rows.len() * known.items);
            for row in rows {
                indices.extend_from_slice(&known.indices[row * known.items..][..known.items]);
            }
            Arc::new(ItemNames {
                names: known.names.clone(),
                items: known.items,
                indices,
            })
        });
        Self {
            rows: rows.len(),
            columns: self.columns.iter().map(select).collect(),
            item_names,
        }
    }

    /// Reorders the columns with one number per item: the new item j is the old item `order[j]`.
    pub(crate) fn reorder_items(&mut self, order: &[usize]) {
        for column in &mut self.columns {
            if column.is_per_item && column.width == order.len() {
                let mut values = Vec::with_capacity(self.rows * column.width);
                for row in 0..self.rows {
                    let items = column.row(row);
                    values.extend(order.iter().map(|item| items[*item]));
                }
                column.values = Arc::new(values);
            }
        }
        if let Some(known) = &self.item_names
            && known.items == order.len()
        {
            let mut indices = Vec::with_capacity(known.indices.len());
            for row in known.indices.chunks_exact(known.items) {
                indices.extend(order.iter().map(|item| row[*item]));
            }
            self.item_names = Some(Arc::new(ItemNames {
                names: known.names.clone(),
                items: known.items,
                indices,
            }));
        }
    }

    /// Finds the columns of a problem's parameters.
    ///
    /// # Errors
    /// When a column is missing, or columns have another number of values than the parameter.
    pub(crate) fn bind(
        self: &Arc<Self>,
        parameters: &[ParameterColumns],
    ) -> Result<BoundParameters> {
        let mut columns = Vec::new();
        for parameter in parameters {
            let ParameterColumns { pattern, count, .. } = parameter;
            let matches = |column: &ParameterColumn| {
                // The column of present items has a name that no pattern of a user means.
                column.name == *pattern
                    || (column.name != Self::PRESENT_ITEMS
                        && matches_pattern(pattern, &column.name))
            };
            let found: Vec<usize> = (0..self.columns.len())
                .filter(|index| matches(&self.columns[*index]))
                .collect();
            // The column of this name, or else all that match the pattern.
            let exact = found
                .iter()
                .find(|index| self.columns[**index].name == *pattern);
            let found = exact.map_or(found.clone(), |index| vec![*index]);
            if found.is_empty() {
                return Err(self.missing(pattern));
            }
            let width: usize = found.iter().map(|index| self.columns[*index].width).sum();
            if width != *count {
                let (numbers, are) = if *count == 1 {
                    ("number", "is")
                } else {
                    ("numbers", "are")
                };
                return Err(Error::data(format!(
                    "'{pattern}' has {width} numbers per row, but {count} {numbers} {are} needed"
                )));
            }
            columns.extend(found);
        }
        Ok(BoundParameters {
            table: Arc::clone(self),
            columns,
        })
    }

    fn missing(&self, pattern: &str) -> Error {
        let error = Error::data(format!(
            "the problem needs the parameter '{pattern}', which the table does not have"
        ));
        let visible = self.names().filter(|name| *name != Self::PRESENT_ITEMS);
        let visible = first_names(visible);
        if visible.is_empty() {
            error.with_remedy("no parameters were given")
        } else {
            error.with_remedy(format!("the parameters are {visible}"))
        }
    }
}

impl BoundParameters {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.table.rows
    }

    /// The table that the columns belong to.
    pub(crate) fn table(&self) -> &Arc<RowParameters> {
        &self.table
    }

    /// Overwrites `out` with the numbers of a row, in the order of the problem's parameters.
    pub(crate) fn read(&self, row: usize, out: &mut Vec<f64>) {
        out.clear();
        for column in &self.columns {
            out.extend_from_slice(self.table.columns[*column].row(row));
        }
    }
}

impl Dataset {
    /// The same table with parameters of its rows.
    ///
    /// # Errors
    /// When there is not one row of parameters per instance.
    pub fn with_parameters(mut self, parameters: RowParameters) -> Result<Self> {
        if parameters.rows() != self.len() {
            return Err(Error::data(format!(
                "parameters of {} rows for a table of {} instances",
                parameters.rows(),
                self.len()
            )));
        }
        self.parameters = Some(Arc::new(parameters));
        Ok(self)
    }

    /// The parameters of the rows, if there are any.
    pub fn parameters(&self) -> Option<&Arc<RowParameters>> {
        self.parameters.as_ref()
    }

    /// The same with parameters, if there are any.
    pub(super) fn with_any_parameters(self, parameters: RowParameters) -> Result<Self> {
        if parameters.is_empty() && !parameters.name_items() {
            return Ok(self);
        }
        self.with_parameters(parameters)
    }

    pub(super) fn reorder_parameters(&mut self, order: &[usize]) {
        if let Some(parameters) = &mut self.parameters {
            Arc::make_mut(parameters).reorder_items(order);
        }
    }
}

#[cfg(test)]
mod tests;
