//! Tables with one row per instance and cost.
//!
//! Instances keep the order in which they first appear. With a column that names the item, rows may
//! come in any order and every instance has the same items; without one, rows of an instance follow
//! each other and every instance has equally many.

use std::collections::HashMap;
use std::path::Path;

use super::number::quoted;
use super::table::CsvTable;
use crate::data::layout::{ColumnSelection, CsvHeader, LongColumns};
use crate::data::{Dataset, FeatureShape, Features, Matrix};
use crate::error::{Error, Result};

/// Features and costs.
pub(super) fn read(path: &Path, columns: &LongColumns) -> Result<Dataset> {
    let mut table = CsvTable::open(path)?;
    let header = table.header();
    CsvHeader::check_ignored(&[header], &columns.ignore)?;
    let keys = KeyColumns::find(header, columns)?;
    let cost = header.column(&columns.cost)?;
    let taken: Vec<usize> = [cost, keys.instance].into_iter().chain(keys.item).collect();
    let features = header.features(&columns.features, &columns.ignore, &taken)?;
    let chosen = ColumnSelection {
        features,
        costs: vec![cost],
        leftover: columns.features.is_empty(),
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
) -> Result<Features> {
    let mut table = CsvTable::open(path)?;
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

/// The columns that say what a row is about.
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

/// What each row is about.
#[derive(Default)]
struct RowKeys {
    instances: NameIndex,
    items: NameIndex,
    /// Numbers of instance and item, row by row; the item is 0 where none is named.
    rows: Vec<(usize, usize)>,
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
        self.rows.push((instance, item));
        Ok(())
    }

    fn check_contiguous(&self, table: &CsvTable, column: usize, instance: usize) -> Result<()> {
        // Numbers are given out in order, so the latest instance is the only one that may go on.
        if instance + 1 == self.instances.list.len() {
            return Ok(());
        }
        let name = quoted(&self.instances.list[instance]);
        let message = format!(
            "instance {name} goes on after another; keep its rows together or name the items"
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

/// A table in order: instance after instance, in each of them item after item.
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
            None => (rows_of_each(table, columns.instance, &keys)?, None),
            Some(column) => {
                let items = items_of_each(&keys, wanted);
                let order = in_order(table, column, &keys, &items)?;
                numbers.features = permuted(&numbers.features, &order);
                numbers.costs = permuted(&numbers.costs, &order);
                (
                    items.len(),
                    Some(
                        items
                            .iter()
                            .map(|item| keys.items.list[*item].clone())
                            .collect(),
                    ),
                )
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

/// How many rows every instance has.
fn rows_of_each(table: &CsvTable, column: usize, keys: &RowKeys) -> Result<usize> {
    let mut counts = vec![0; keys.instances.list.len()];
    keys.rows.iter().for_each(|row| counts[row.0] += 1);
    let Some(odd) = counts.iter().position(|count| *count != counts[0]) else {
        return Ok(counts[0]);
    };
    let first_row = keys
        .rows
        .iter()
        .position(|row| row.0 == odd)
        .unwrap_or_default();
    let (name, first) = (
        quoted(&keys.instances.list[odd]),
        quoted(&keys.instances.list[0]),
    );
    let message = format!(
        "instance {name} has {} rows, but the first instance {first} has {}; all must have equally \
            many",
        counts[odd], counts[0]
    );
    Err(table.cell_error_at(first_row as u64 + 1, column, message))
}

/// The items that every instance must have: the wanted ones, or those of the first instance.
fn items_of_each(keys: &RowKeys, wanted: usize) -> Vec<usize> {
    if wanted > 0 {
        return (0..wanted).collect();
    }
    let mut seen = vec![false; keys.items.list.len()];
    let first = keys.rows.iter().filter(|row| row.0 == 0).map(|row| row.1);
    first
        .filter(|item| !std::mem::replace(&mut seen[*item], true))
        .collect()
}

/// The row of every instance and item, in order. No more is allocated than there are rows: a file
/// may claim many instances of many items and yet be short.
fn in_order(
    table: &CsvTable,
    column: usize,
    keys: &RowKeys,
    items: &[usize],
) -> Result<Vec<usize>> {
    let mut places = vec![None; keys.items.list.len()];
    items
        .iter()
        .enumerate()
        .for_each(|(place, item)| places[*item] = Some(place));
    let wrong = |row: usize, item: usize, what: [&str; 2]| {
        let instance = quoted(&keys.instances.list[keys.rows[row].0]);
        let message = format!(
            "instance {instance} {} {}{}",
            what[0],
            quoted(&keys.items.list[item]),
            what[1]
        );
        Err(table.cell_error_at(row as u64 + 1, column, message))
    };
    let mut by_instance: Vec<usize> = (0..keys.rows.len()).collect();
    by_instance.sort_by_key(|row| keys.rows[*row].0);
    let mut order = Vec::with_capacity(keys.rows.len());
    let mut slots = vec![None; items.len()];
    for rows in by_instance.chunk_by(|a, b| keys.rows[*a].0 == keys.rows[*b].0) {
        slots.fill(None);
        for row in rows {
            let item = keys.rows[*row].1;
            let Some(place) = places[item] else {
                return wrong(
                    *row,
                    item,
                    [
                        "has an item",
                        ", which is not among those of the first instance",
                    ],
                );
            };
            if slots[place].replace(*row).is_some() {
                return wrong(*row, item, ["has item", " twice; once is right"]);
            }
        }
        if let Some(place) = slots.iter().position(Option::is_none) {
            return wrong(
                rows[0],
                items[place],
                ["has no item", "; every instance must have the same items"],
            );
        }
        order.extend(slots.iter().flatten());
    }
    Ok(order)
}

/// Rows of numbers in another order.
fn permuted(numbers: &[f32], order: &[usize]) -> Vec<f32> {
    let width = numbers.len() / order.len();
    order
        .iter()
        .flat_map(|row| &numbers[row * width..][..width])
        .copied()
        .collect()
}
