//! The slot of every item of a long table: its place among the costs of its instance.
//!
//! Every instance has equally many slots. If all instances have the same items, a slot is an item.
//! Otherwise the problem must allow different items. If the problem or the model names its costs,
//! slots are these costs, and an item without a row is absent; likewise if an instance has all
//! items of the table, since the others then lack a row here and there. Elsewhere slots are
//! positions within the instance, and instances with fewer items than others end with absent ones.

use super::long::{KeyColumns, RowKeys};
use super::number::quoted;
use super::table::CsvTable;
use crate::data::CostNames;
use crate::error::{Error, InputPlace, Result};

/// Slots per row of a file beyond which instances are too different to be filled up to the same
/// size, if there are more than [`MIN_REFUSED_SLOTS`]. Untuned: memory is then used for items that
/// do not exist.
const MAX_SLOTS_PER_ROW: usize = 100;
/// Tables with fewer slots are read, however different their instances: they take some hundred MB.
const MIN_REFUSED_SLOTS: usize = 1 << 24;

/// What is known about the items before the table is read.
pub(super) struct SlotRule<'a> {
    /// The items in their order, from the user or a model; empty if they are unknown.
    pub wanted: &'a [String],
    /// The names of the problem's costs.
    pub cost_names: Option<&'a CostNames>,
    /// Whether instances may have different items.
    pub may_differ: bool,
    /// Whether the names of unknown items are kept even if all instances have the same.
    pub keep_names: bool,
}

/// The row of every instance and slot.
pub(super) struct ItemSlots {
    /// Rows of the file; `None` if an instance has no such item.
    pub rows: Vec<Option<usize>>,
    /// Slots per instance.
    pub items: usize,
    /// The names of the slots, if they are items.
    pub names: Option<Vec<String>>,
    /// Whether instances have their own names of items.
    pub have_own_names: bool,
}

impl ItemSlots {
    /// Finds the slots of all rows.
    ///
    /// # Errors
    /// When an item is unknown, is twice in an instance, or is missing where none may be absent.
    pub fn find(
        table: &CsvTable,
        columns: KeyColumns,
        keys: &RowKeys,
        rule: &SlotRule<'_>,
    ) -> Result<Self> {
        let rows = RowsOfInstances::new(table, columns, keys, rule);
        let Some(item_column) = columns.item else {
            return rows.by_count();
        };
        let named = NamedItems {
            rows: &rows,
            item_column,
        };
        if !rule.may_differ {
            return named.same_in_all(&named.required(rule.wanted));
        }
        named.check_unique()?;
        let cost_names = rule.cost_names.filter(|names| names.are_explicit());
        if named.are_identified_by(rule.wanted) {
            let wanted = named.names_of(&named.required(rule.wanted));
            return named.by_name(wanted, "among those that the model knows");
        }
        let first = named.required(&[]);
        match cost_names {
            Some(names) if named.are(&first, names) && named.all_have(&first) => {
                named.same_in_all(&first)
            }
            Some(names) => named.by_name(names.to_vec(), "among the costs of the problem"),
            None if named.all_have(&first) => {
                let mut slots = named.same_in_all(&first)?;
                slots.have_own_names = rule.keep_names;
                Ok(slots)
            }
            None if rule.wanted.is_empty() && named.one_has_all() => {
                named.by_name(keys.items.list.clone(), "among those of the table")
            }
            None => {
                let mut slots = rows.by_position()?;
                slots.have_own_names = true;
                Ok(slots)
            }
        }
    }

    /// Whether an instance lacks an item.
    pub fn has_absent(&self) -> bool {
        self.rows.contains(&None)
    }

    /// 1 for every item that exists, 0 for others.
    pub fn present(&self) -> Vec<f64> {
        let rows = self.rows.iter();
        rows.map(|row| if row.is_some() { 1.0 } else { 0.0 })
            .collect()
    }

    /// Rows of `width` values, instance by instance; those of absent items are 0.
    pub fn arranged<T: Copy + Default>(&self, values: Vec<T>, width: usize) -> Vec<T> {
        let is_sorted = (self.rows.iter().enumerate()).all(|(slot, row)| *row == Some(slot));
        if is_sorted {
            return values;
        }
        let mut arranged = Vec::with_capacity(self.rows.len() * width);
        for row in &self.rows {
            match row {
                Some(row) => arranged.extend_from_slice(&values[row * width..][..width]),
                None => arranged.extend(std::iter::repeat_n(T::default(), width)),
            }
        }
        arranged
    }
}

/// The rows of each instance.
struct RowsOfInstances<'a> {
    table: &'a CsvTable,
    instance_column: usize,
    keys: &'a RowKeys,
    rule: &'a SlotRule<'a>,
    /// Rows sorted by instance, those of an instance in the order of the file.
    sorted: Vec<usize>,
}

impl<'a> RowsOfInstances<'a> {
    fn new(
        table: &'a CsvTable,
        columns: KeyColumns,
        keys: &'a RowKeys,
        rule: &'a SlotRule<'a>,
    ) -> Self {
        let mut sorted: Vec<usize> = (0..keys.rows.len()).collect();
        // A stable sort keeps the rows of an instance in the order of the file.
        sorted.sort_by_key(|row| keys.rows[*row].instance);
        Self {
            table,
            instance_column: columns.instance,
            keys,
            rule,
            sorted,
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let rows = &self.keys.rows;
        self.sorted
            .chunk_by(|a, b| rows[*a].instance == rows[*b].instance)
    }

    fn instance_name(&self, row: usize) -> String {
        quoted(&self.keys.instances.list[self.keys.rows[row].instance])
    }

    /// Slots of rows without names of items.
    fn by_count(&self) -> Result<ItemSlots> {
        let first = self.iter().next().map_or(0, <[usize]>::len);
        let different = self.iter().find(|rows| rows.len() != first);
        match different {
            None => self.by_position(),
            Some(_) if self.rule.may_differ => self.by_position(),
            Some(rows) => {
                let message = format!(
                    "instance {} has {} rows, but the first instance {} has {first}; all must have \
                     equally many",
                    self.instance_name(rows[0]),
                    rows.len(),
                    self.instance_name(0)
                );
                let record = rows[0] as u64 + 1;
                Err(self
                    .table
                    .cell_error_at(record, self.instance_column, message))
            }
        }
    }

    /// Slots in the order of the rows of each instance.
    fn by_position(&self) -> Result<ItemSlots> {
        let items = self.iter().map(<[usize]>::len).max().unwrap_or(0);
        let mut slots = Vec::with_capacity(self.checked_slots(items)?);
        for rows in self.iter() {
            slots.extend(rows.iter().map(|row| Some(*row)));
            slots.extend(std::iter::repeat_n(None, items - rows.len()));
        }
        Ok(ItemSlots {
            rows: slots,
            items,
            names: None,
            have_own_names: false,
        })
    }

    /// The number of slots of the table. A short file may name many instances and many items.
    fn checked_slots(&self, items: usize) -> Result<usize> {
        let instances = self.keys.instances.list.len();
        let slots = instances.saturating_mul(items);
        // Checked before anything is allocated: a short file may name many instances with one huge
        // one among them.
        if slots > MIN_REFUSED_SLOTS && slots / MAX_SLOTS_PER_ROW > self.sorted.len() {
            let rows = self.sorted.len();
            let message = format!(
                "{instances} instances of up to {items} items, but only {rows} rows: instances of \
                 so different sizes do not make one table"
            );
            let place = InputPlace::file(self.table.header().path);
            return Err(Error::input(place, message)
                .with_remedy("divide the table into instances of similar size"));
            // The quotient avoids an overflow of the product.
        }
        Ok(slots)
    }
}

/// Rows whose items have names.
struct NamedItems<'a> {
    rows: &'a RowsOfInstances<'a>,
    item_column: usize,
}

impl NamedItems<'_> {
    fn keys(&self) -> &RowKeys {
        self.rows.keys
    }

    fn item_name(&self, item: usize) -> String {
        quoted(&self.keys().items.list[item])
    }

    fn error(&self, row: usize, problem: &str) -> Error {
        let message = format!("instance {} {problem}", self.rows.instance_name(row));
        let table = self.rows.table;
        table.cell_error_at(row as u64 + 1, self.item_column, message)
    }

    fn twice(&self, row: usize) -> Error {
        let name = self.item_name(self.keys().rows[row].item);
        self.error(row, &format!("has item {name} twice; once is right"))
    }

    /// The items that every instance must have: the wanted ones, or those of the first instance.
    fn required(&self, wanted: &[String]) -> Vec<usize> {
        let keys = self.keys();
        let mut items: Vec<usize> = if wanted.is_empty() {
            let first = keys.rows.iter().filter(|row| row.instance == 0);
            first.map(|row| row.item).collect()
        } else {
            let numbers = wanted.iter().filter_map(|name| keys.items.get(name));
            numbers.collect()
        };
        let mut seen = vec![false; keys.items.list.len()];
        // Each item once, in the order of its first row.
        items.retain(|item| !std::mem::replace(&mut seen[*item], true));
        items
    }

    /// Whether the items are those of a list. A model that was trained on positions has numbered
    /// names (c0, c1, …), which no item has.
    fn are_identified_by(&self, wanted: &[String]) -> bool {
        let keys = self.keys();
        // Wanted names are numbered before those of the table.
        let is_wanted = |item: usize| item < wanted.len();
        !wanted.is_empty()
            && (!CostNames::from(wanted.to_vec()).are_numbered()
                || keys.rows.iter().any(|row| is_wanted(row.item)))
    }

    fn names_of(&self, items: &[usize]) -> Vec<String> {
        let names = &self.keys().items.list;
        items.iter().map(|item| names[*item].clone()).collect()
    }

    /// Whether items, each listed once, are the costs of a problem.
    fn are(&self, items: &[usize], names: &CostNames) -> bool {
        let mut is_listed = vec![false; self.keys().items.list.len()];
        for item in items {
            is_listed[*item] = true;
        }
        let is_known = |name: &str| {
            self.keys()
                .items
                .get(name)
                .is_some_and(|item| is_listed[item])
        };
        items.len() == names.len() && names.iter().all(|name| is_known(&name))
    }

    /// Whether every instance has these items and no others; no instance has one twice.
    fn all_have(&self, items: &[usize]) -> bool {
        let keys = self.keys();
        let mut is_known = vec![false; keys.items.list.len()];
        for item in items {
            is_known[*item] = true;
        }
        self.rows.iter().all(|rows| rows.len() == items.len())
            && keys.rows.iter().all(|row| is_known[row.item])
    }

    /// Whether an instance has all items of the table; no instance has one twice.
    fn one_has_all(&self) -> bool {
        let items = self.keys().items.list.len();
        self.rows.iter().any(|rows| rows.len() == items)
    }

    fn check_unique(&self) -> Result<()> {
        let keys = self.keys();
        // The instance in which an item was last seen.
        let mut last = vec![usize::MAX; keys.items.list.len()];
        for row in &self.rows.sorted {
            let key = keys.rows[*row];
            // Rows are sorted by instance, so an item that was last seen in this one is there
            // twice.
            if std::mem::replace(&mut last[key.item], key.instance) == key.instance {
                return Err(self.twice(*row));
            }
        }
        Ok(())
    }

    /// Slots of items that every instance has. Allocates no more than there are rows: a short file
    /// may name many instances and many items.
    fn same_in_all(&self, items: &[usize]) -> Result<ItemSlots> {
        let keys = self.keys();
        let mut positions = vec![None; keys.items.list.len()];
        for (position, item) in items.iter().enumerate() {
            positions[*item] = Some(position);
        }
        let mut order = Vec::with_capacity(keys.rows.len());
        let mut slots = vec![None; items.len()];
        for rows in self.rows.iter() {
            slots.fill(None);
            for row in rows {
                let item = keys.rows[*row].item;
                let Some(position) = positions[item] else {
                    let name = self.item_name(item);
                    let problem = format!(
                        "has an item {name}, which is not among those of the first instance"
                    );
                    return Err(self.error(*row, &problem));
                };
                if slots[position].replace(*row).is_some() {
                    return Err(self.twice(*row));
                }
            }
            if let Some(position) = slots.iter().position(Option::is_none) {
                let name = self.item_name(items[position]);
                let problem =
                    format!("has no item {name}; every instance must have the same items");
                return Err(self.error(rows[0], &problem));
            }
            order.extend_from_slice(&slots);
        }
        Ok(ItemSlots {
            rows: order,
            items: items.len(),
            names: Some(self.names_of(items)),
            have_own_names: false,
        })
    }

    /// Slots of known items, which instances may lack.
    fn by_name(&self, names: Vec<String>, known: &str) -> Result<ItemSlots> {
        let keys = self.keys();
        let mut positions = vec![None; keys.items.list.len()];
        for (position, name) in names.iter().enumerate() {
            if let Some(item) = keys.items.get(name) {
                positions[item] = Some(position);
            }
        }
        let mut slots = vec![None; self.rows.checked_slots(names.len())?];
        for (row, key) in keys.rows.iter().enumerate() {
            let Some(position) = positions[key.item] else {
                let name = self.item_name(key.item);
                return Err(self.error(row, &format!("has an item {name}, which is not {known}")));
            };
            slots[key.instance * names.len() + position] = Some(row);
        }
        Ok(ItemSlots {
            rows: slots,
            items: names.len(),
            names: Some(names),
            have_own_names: false,
        })
    }
}
