//! Tables with one row per instance and cost.
//!
//! Instances are in the order of their first rows. With a column that names the item, rows may be
//! in any order and every instance has the same items; without one, the rows of an instance are
//! contiguous and every instance has equally many. If the problem allows it, instances may have
//! different items (`item_slots.rs`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::CsvInput;
use super::feature_cells::FeatureCells;
use super::item_slots::{ItemSlots, SlotRule};
use super::number::quoted;
use super::table::CsvTable;
use crate::data::encoding::RawTable;
use crate::data::layout::{ColumnSelection, CsvHeader, LongColumns, WantedFeatures};
use crate::data::problem_columns::ProblemColumns;
use crate::data::row_times::RowTimes;
use crate::data::{
    CsvDialect, Dataset, FeatureShape, Features, InstanceKeys, Matrix, RowParameters,
};
use crate::error::{Error, InputPlace, Result};

/// Features and costs.
pub(super) fn read(path: &Path, columns: &LongColumns, input: CsvInput<'_>) -> Result<Dataset> {
    let problem = input.problem;
    let mut table = input.open(path)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let keys = KeyColumns::find(header, columns)?;
    let cost = header.column(&columns.cost)?;
    let parameters = LongParameters::find(header, problem)?;
    header.check_known(&[cost], &parameters.columns)?;
    // A column that names instances or items may be a feature too, if it is named as one.
    let is_key_only = |column: &usize| !columns.options.lists_column(&header.names[*column]);
    let keys_only = [keys.instance]
        .into_iter()
        .chain(keys.item)
        .filter(is_key_only);
    let taken: Vec<usize> = keys_only.chain([cost]).collect();
    let features = header.features(&columns.features, &columns.ignore, &taken)?;
    let chosen = ColumnSelection {
        features,
        costs: vec![cost],
        cells: FeatureCells::Inferred(columns.options.clone()),
        parameters: parameters.columns.clone(),
        costs_may_be_empty: problem.may_have_absent_costs,
    };
    let rule = SlotRule {
        wanted: &columns.items,
        cost_names: problem.cost_names,
        may_differ: problem.items_may_differ,
        keep_names: false,
    };
    let table = LongTable::read(&mut table, keys, chosen, &rule, &parameters)?;
    let costs = Matrix::new(table.instances, table.items, table.costs)?;
    let names = table.item_names.map(Into::into);
    Dataset::from_finite_parts(table.features, costs, names)?.with_any_parameters(table.parameters)
}

/// The wanted features, in the wanted order, and the parameters.
pub(super) fn read_features(
    path: &Path,
    columns: &LongColumns,
    wanted: &WantedFeatures<'_>,
    input: CsvInput<'_>,
) -> Result<(Features, RowParameters)> {
    let problem = input.problem;
    let mut table = input.open(path)?;
    let header = table.header();
    let keys = KeyColumns::find(header, columns)?;
    let parameters = LongParameters::find(header, problem)?;
    let mut chosen = wanted.selection(header)?;
    chosen.parameters.clone_from(&parameters.columns);
    let rule = SlotRule {
        wanted: &columns.items,
        cost_names: problem.cost_names,
        may_differ: problem.items_may_differ,
        keep_names: problem.items_may_differ,
    };
    let table = LongTable::read(&mut table, keys, chosen, &rule, &parameters)?;
    Ok((table.features, table.parameters))
}

/// The time of every instance, in the order of their first rows.
pub(super) fn read_times(
    path: &Path,
    columns: &LongColumns,
    column: &str,
    dialect: CsvDialect,
) -> Result<RowTimes> {
    let mut table = CsvTable::open(path, dialect)?;
    let instance_column = table.header().column(&columns.instance)?;
    let column = table.header().column(column)?;
    let mut instances = NameIndex::default();
    let mut texts: Vec<String> = Vec::new();
    let mut times = RowTimes::default();
    table.read(ColumnSelection::default(), |table| {
        let instance = instances.number(key(table, instance_column, "instance")?);
        let time = table.time(column)?;
        // The first row of an instance has its time; the others must agree.
        match texts.get(instance) {
            Some(first) if *first == time => Ok(()),
            Some(first) => {
                let name = quoted(&instances.list[instance]);
                let message = format!(
                    "instance {name} has the times {} and {}; one is needed",
                    quoted(first),
                    quoted(&time)
                );
                Err(table.cell_error(column, message))
            }
            None => {
                let pushed = times.push(&time);
                texts.push(time.into_owned());
                pushed.map_err(|message| table.cell_error(column, message))
            }
        }
    })?;
    Ok(times)
}

/// The key of each instance: its name, or its cell of another column, which must be the same in all
/// of its rows.
pub(super) fn read_keys(
    path: &Path,
    columns: &LongColumns,
    column: Option<&str>,
    dialect: CsvDialect,
) -> Result<InstanceKeys> {
    let name = column.unwrap_or(&columns.instance);
    let mut table = CsvTable::open(path, dialect)?;
    let instance_column = table.header().column(&columns.instance)?;
    let key_column = table.header().column(name)?;
    let mut instances = NameIndex::default();
    let mut keys: Vec<String> = Vec::new();
    table.read(ColumnSelection::default(), |table| {
        let instance = instances.number(key(table, instance_column, "instance")?);
        let cell = table.text(key_column)?;
        match keys.get(instance) {
            None => keys.push(cell.to_owned()),
            Some(known) if known == cell => {}
            Some(known) => {
                let (instance, known) = (quoted(&instances.list[instance]), quoted(known));
                let message = format!(
                    "instance {instance} has the keys {known} and {}; all its rows need the same",
                    quoted(cell)
                );
                return Err(table.cell_error(key_column, message));
            }
        }
        Ok(())
    })?;
    Ok(InstanceKeys::new(name, keys))
}

/// The columns with the keys of a row: instance and item.
#[derive(Clone, Copy)]
pub(super) struct KeyColumns {
    pub instance: usize,
    pub item: Option<usize>,
}

impl KeyColumns {
    fn find(header: CsvHeader<'_>, columns: &LongColumns) -> Result<Self> {
        let item = columns
            .item
            .as_deref()
            .map(|name| header.column(name))
            .transpose()?;
        let instance = header.column(&columns.instance)?;
        if item == Some(instance) || (item.is_none() && !columns.items.is_empty()) {
            return Err(Error::setting(
                "the column of the items must be named, and not be that of the instances",
            ));
        }
        Ok(Self { instance, item })
    }
}

/// Names in order of first appearance.
#[derive(Default)]
pub(super) struct NameIndex {
    pub list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl NameIndex {
    /// The number of a known name.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.list.len();
        self.numbers.insert(name.to_string(), number);
        self.list.push(name.to_string());
        number
    }
}

/// Indices of the instance and the item of a row; the item is 0 if none is named.
#[derive(Clone, Copy)]
pub(super) struct RowKey {
    pub instance: usize,
    pub item: usize,
}

/// The keys of all rows.
#[derive(Default)]
pub(super) struct RowKeys {
    pub instances: NameIndex,
    pub items: NameIndex,
    pub rows: Vec<RowKey>,
}

impl RowKeys {
    fn add(&mut self, table: &CsvTable, columns: KeyColumns) -> Result<()> {
        let instance = self
            .instances
            .number(key(table, columns.instance, "instance")?);
        let item = match columns.item {
            Some(column) => self.items.number(key(table, column, "item")?),
            None => {
                self.check_contiguous(table, columns.instance, instance)?;
                0
            }
        };
        self.rows.push(RowKey { instance, item });
        Ok(())
    }

    fn check_contiguous(&self, table: &CsvTable, column: usize, instance: usize) -> Result<()> {
        // Indices are assigned in order: only the last instance may have another row.
        // With names of items rows may be in any order, as slots are found by name.
        if instance + 1 == self.instances.list.len() {
            return Ok(());
        }
        let name = quoted(&self.instances.list[instance]);
        let message = format!(
            "instance {name} continues after another; keep its rows together or name the items"
        );
        Err(table.cell_error(column, message))
    }
}

fn key<'a>(table: &'a CsvTable, column: usize, what: &str) -> Result<&'a str> {
    match table.text(column)? {
        "" => Err(table.cell_error(
            column,
            format!("the cell is empty; it must name the {what}"),
        )),
        name => Ok(name),
    }
}

/// The columns of row parameters in a long table.
struct LongParameters {
    columns: Vec<usize>,
    /// Whether each column has a number per item; otherwise it has one per instance, in all its
    /// rows.
    are_per_item: Vec<bool>,
    /// Whether the problem asks which items are present.
    include_presence: bool,
}

impl LongParameters {
    fn find(header: CsvHeader<'_>, problem: &ProblemColumns<'_>) -> Result<Self> {
        let mut found = Self {
            columns: Vec::new(),
            are_per_item: Vec::new(),
            include_presence: problem.asks_for_present_items(),
        };
        for parameter in problem.parameters_in_files() {
            let columns = header.parameter(&parameter.pattern);
            let is_per_item = parameter.count != 1 && columns.len() == 1;
            let is_per_instance = columns.len() == parameter.count;
            if columns.is_empty() {
                return Err(header.missing_parameter(&parameter.pattern));
            }
            if !is_per_item && !is_per_instance {
                let message = format!(
                    "'{}' matches {} columns, but a long table has one column for the numbers of \
                     the items",
                    parameter.pattern,
                    columns.len()
                );
                return Err(Error::input(InputPlace::file(header.path).row(1), message)
                    .with_remedy("name one column"));
            }
            for column in columns {
                if !found.columns.contains(&column) {
                    found.columns.push(column);
                    found.are_per_item.push(is_per_item);
                }
            }
        }
        Ok(found)
    }
}

/// A table sorted by instance, then by item.
struct LongTable {
    features: Features,
    costs: Vec<f32>,
    instances: usize,
    items: usize,
    item_names: Option<Vec<String>>,
    parameters: RowParameters,
}

impl LongTable {
    fn read(
        table: &mut CsvTable,
        columns: KeyColumns,
        chosen: ColumnSelection,
        rule: &SlotRule<'_>,
        parameters: &LongParameters,
    ) -> Result<Self> {
        let mut keys = RowKeys::default();
        // Wanted items get the first numbers, in their order.
        for name in rule.wanted {
            keys.items.number(name);
        }
        let mut numbers = table.read(chosen, |table| keys.add(table, columns))?;
        let slots = ItemSlots::find(table, columns, &keys, rule)?;
        let instances = keys.instances.list.len();
        let values = std::mem::take(&mut numbers.parameters);
        let parameters = slots.parameters(table, &keys, parameters, values)?;
        let costs = if numbers.costs.is_empty() {
            Vec::new()
        } else {
            slots.arranged(numbers.costs, 1)
        };
        let items = slots.items;
        let features = slots.features(numbers.features)?;
        let parameters = slots.named(parameters, keys.items.list, &keys.rows);
        Ok(Self {
            features,
            costs,
            instances,
            items,
            item_names: slots.names,
            parameters,
        })
    }
}

impl ItemSlots {
    /// The features of all items; those of absent ones are 0.
    fn features(&self, table: RawTable) -> Result<Features> {
        let shape = FeatureShape::Long { items: self.items };
        let rows = table.rows;
        // The shape of the file: one row each.
        let features = Features::from_raw_table(table, FeatureShape::Long { items: 1 })?;
        match features.into_raw_rows() {
            Ok(rows) => Ok(Features::from_raw_rows(rows.arranged(&self.rows), shape)),
            Err(plain) => {
                let names = plain.names().to_vec();
                let values = plain.into_values().into_vec();
                debug_assert_eq!(values.len(), rows * names.len());
                let values = self.arranged(values, names.len());
                let values = Matrix::new(self.rows.len(), names.len(), values)?;
                Features::new(values, shape, Some(names))
            }
        }
    }

    /// The parameters of the instances; an absent item has the number 0.
    fn parameters(
        &self,
        table: &CsvTable,
        keys: &RowKeys,
        columns: &LongParameters,
        values: Vec<Vec<f64>>,
    ) -> Result<RowParameters> {
        let instances = keys.instances.list.len();
        let mut parameters = RowParameters::new(instances);
        let kinds = columns.columns.iter().zip(&columns.are_per_item);
        for ((column, is_per_item), values) in kinds.zip(values) {
            let name = table.header().names[*column].clone();
            parameters = if *is_per_item {
                let values = self.arranged(values, 1);
                parameters.with_item_column(name, self.items, Arc::new(values))?
            } else {
                let values = one_per_instance(table, keys, *column, &values)?;
                parameters.with_column(name, 1, Arc::new(values))?
            };
        }
        if self.has_absent() || columns.include_presence {
            let present = self.present();
            // Presence is a parameter like others, so it is reordered and selected with them.
            let name = RowParameters::PRESENT_ITEMS;
            parameters = parameters.with_item_column(name, self.items, Arc::new(present))?;
        }
        Ok(parameters)
    }

    /// The same parameters with the names of the items of each instance, if they differ.
    fn named(
        &self,
        parameters: RowParameters,
        names: Vec<String>,
        keys: &[RowKey],
    ) -> RowParameters {
        if !self.have_own_names {
            return parameters;
        }
        let index = |row: &Option<usize>| row.map(|row| keys[row].item);
        parameters.with_item_names(names, self.items, self.rows.iter().map(index))
    }
}

/// The number of every instance, which all its rows have.
fn one_per_instance(
    table: &CsvTable,
    keys: &RowKeys,
    column: usize,
    values: &[f64],
) -> Result<Vec<f64>> {
    let mut numbers: Vec<f64> = Vec::with_capacity(keys.instances.list.len());
    for (row, (key, value)) in keys.rows.iter().zip(values).enumerate() {
        match numbers.get(key.instance) {
            None => numbers.push(*value),
            Some(known) if known == value => {}
            Some(known) => {
                let name = quoted(&keys.instances.list[key.instance]);
                let message = format!(
                    "instance {name} has {known} and {value}, but the problem needs one number per \
                     instance; all its rows need the same"
                );
                return Err(table.cell_error_at(row as u64 + 1, column, message));
            }
        }
    }
    Ok(numbers)
}
