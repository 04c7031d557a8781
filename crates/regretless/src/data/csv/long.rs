//! Tables with one row per instance and cost.
//!
//! Instances are in the order of their first rows. With a column that names the item, rows may be
//! in any order and every instance has the same items; without one, the rows of an instance are
//! contiguous and every instance has equally many.

use std::collections::HashMap;
use std::path::Path;

use super::number::quoted;
use super::table::CsvTable;
use crate::data::layout::{ColumnSelection, CsvHeader, LongColumns};
use crate::data::row_times::RowTimes;
use crate::data::{CsvDialect, Dataset, FeatureShape, Features, InstanceKeys, Matrix};
use crate::error::{Error, Result};

/// Features and costs.
pub(super) fn read(path: &Path, columns: &LongColumns, dialect: CsvDialect) -> Result<Dataset> {
    let mut table = CsvTable::open(path, dialect)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let keys = KeyColumns::find(header, columns)?;
    let cost = header.column(&columns.cost)?;
    let taken: Vec<usize> = [cost, keys.instance].into_iter().chain(keys.item).collect();
    let features = header.features(&columns.features, &columns.ignore, &taken)?;
    let chosen = ColumnSelection {
        features,
        costs: vec![cost],
        all_remaining: columns.features.is_empty(),
    };
    let table = LongTable::read(&mut table, keys, chosen, &columns.items)?;
    let costs = Matrix::new(table.instances, table.items, table.costs)?;
    Dataset::new(table.features, costs, table.item_names.map(Into::into))
}

/// The wanted features, in the wanted order.
pub(super) fn read_features(
    path: &Path,
    columns: &LongColumns,
    wanted: &[String],
    dialect: CsvDialect,
) -> Result<Features> {
    let mut table = CsvTable::open(path, dialect)?;
    let keys = KeyColumns::find(table.header(), columns)?;
    let features = wanted
        .iter()
        .map(|name| table.header().column(name))
        .collect::<Result<_>>()?;
    let chosen = ColumnSelection {
        features,
        ..ColumnSelection::default()
    };
    Ok(LongTable::read(&mut table, keys, chosen, &columns.items)?.features)
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
struct KeyColumns {
    instance: usize,
    item: Option<usize>,
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
struct NameIndex {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl NameIndex {
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

/// Indices of the instance and the item of a row; the item is 0 where none is named.
#[derive(Clone, Copy)]
struct RowKey {
    instance: usize,
    item: usize,
}

/// The keys of all rows.
#[derive(Default)]
struct RowKeys {
    instances: NameIndex,
    items: NameIndex,
    rows: Vec<RowKey>,
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

/// A table sorted by instance, then by item.
struct LongTable {
    features: Features,
    costs: Vec<f32>,
    instances: usize,
    items: usize,
    item_names: Option<Vec<String>>,
}

impl LongTable {
    fn read(
        table: &mut CsvTable,
        columns: KeyColumns,
        chosen: ColumnSelection,
        wanted: &[String],
    ) -> Result<Self> {
        let mut keys = RowKeys::default();
        for name in wanted {
            keys.items.number(name);
        }
        let wanted = keys.items.list.len();
        let mut numbers = table.read(chosen, |table| keys.add(table, columns))?;
        let instances = keys.instances.list.len();
        let (items, item_names) = match columns.item {
            None => (rows_per_instance(table, columns.instance, &keys)?, None),
            Some(column) => {
                let items = required_items(&keys, wanted);
                let order = sorted_rows(table, column, &keys, &items)?;
                numbers.features = permuted(&numbers.features, &order);
                numbers.costs = permuted(&numbers.costs, &order);
                let name = |item: &usize| keys.items.list[*item].clone();
                (items.len(), Some(items.iter().map(name).collect()))
            }
        };
        let names = table.names_of(&numbers.feature_columns);
        let values = Matrix::new(numbers.rows, names.len(), numbers.features)?;
        let features = Features::new(values, FeatureShape::Long { items }, Some(names))?;
        Ok(Self {
            features,
            costs: numbers.costs,
            instances,
            items,
            item_names,
        })
    }
}

/// The number of rows of every instance.
fn rows_per_instance(table: &CsvTable, column: usize, keys: &RowKeys) -> Result<usize> {
    let mut counts = vec![0; keys.instances.list.len()];
    for row in &keys.rows {
        counts[row.instance] += 1;
    }
    let Some(different) = counts.iter().position(|count| *count != counts[0]) else {
        return Ok(counts[0]);
    };
    let first_row = keys
        .rows
        .iter()
        .position(|row| row.instance == different)
        .unwrap_or_default();
    let name = quoted(&keys.instances.list[different]);
    let first = quoted(&keys.instances.list[0]);
    let message = format!(
        "instance {name} has {} rows, but the first instance {first} has {}; all must have equally \
         many",
        counts[different], counts[0]
    );
    Err(table.cell_error_at(first_row as u64 + 1, column, message))
}

/// The items that every instance must have: the wanted ones, or those of the first instance.
fn required_items(keys: &RowKeys, wanted: usize) -> Vec<usize> {
    if wanted > 0 {
        return (0..wanted).collect();
    }
    let mut seen = vec![false; keys.items.list.len()];
    let mut items = Vec::new();
    for row in keys.rows.iter().filter(|row| row.instance == 0) {
        if !std::mem::replace(&mut seen[row.item], true) {
            items.push(row.item);
        }
    }
    items
}

/// The row of every instance and item, in order. Allocates no more than there are rows: a short
/// file may name many instances and many items.
fn sorted_rows(
    table: &CsvTable,
    column: usize,
    keys: &RowKeys,
    items: &[usize],
) -> Result<Vec<usize>> {
    let mut positions = vec![None; keys.items.list.len()];
    for (position, item) in items.iter().enumerate() {
        positions[*item] = Some(position);
    }
    let error = |row: usize, problem: String| {
        let instance = quoted(&keys.instances.list[keys.rows[row].instance]);
        let message = format!("instance {instance} {problem}");
        Err(table.cell_error_at(row as u64 + 1, column, message))
    };
    let item_name = |item: usize| quoted(&keys.items.list[item]);
    let mut by_instance: Vec<usize> = (0..keys.rows.len()).collect();
    by_instance.sort_by_key(|row| keys.rows[*row].instance);
    let mut order = Vec::with_capacity(keys.rows.len());
    let mut slots = vec![None; items.len()];
    let same_instance = |a: &usize, b: &usize| keys.rows[*a].instance == keys.rows[*b].instance;
    for rows in by_instance.chunk_by(same_instance) {
        slots.fill(None);
        for row in rows {
            let item = keys.rows[*row].item;
            let Some(position) = positions[item] else {
                let name = item_name(item);
                let problem =
                    format!("has an item {name}, which is not among those of the first instance");
                return error(*row, problem);
            };
            if slots[position].replace(*row).is_some() {
                let name = item_name(item);
                return error(*row, format!("has item {name} twice; once is right"));
            }
        }
        if let Some(position) = slots.iter().position(Option::is_none) {
            let name = item_name(items[position]);
            let problem = format!("has no item {name}; every instance must have the same items");
            return error(rows[0], problem);
        }
        order.extend(slots.iter().flatten());
    }
    Ok(order)
}

/// Rows of values in another order.
fn permuted(values: &[f32], order: &[usize]) -> Vec<f32> {
    let width = values.len() / order.len();
    let mut permuted = Vec::with_capacity(values.len());
    for row in order {
        permuted.extend_from_slice(&values[row * width..][..width]);
    }
    permuted
}
