//! Writing of tables and predictions as CSV.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::number::shortest;
use crate::data::atomic_write::write_atomically;
use crate::data::{CostNames, Dataset, FeatureShape, Matrix};
use crate::error::{Error, Result};
use crate::text::escape_formula;

/// Writes a table: a wide one with its features and then its costs, a long one with the columns
/// `instance` (counted from 0), `item`, the features and `cost`.
///
/// # Errors
/// When two columns would have the same name, the file exists and `force` is false, or writing
/// fails.
pub fn write(path: &Path, data: &Dataset, force: bool) -> Result<()> {
    match data.features().shape() {
        FeatureShape::Wide => write_wide(path, data, force),
        FeatureShape::Long { items } => write_long(path, data, items, force),
    }
}

/// Writes one row of costs per instance under their names; the cell of a cost without a prediction
/// (NaN) is empty.
///
/// # Errors
/// When the number of names differs, the file exists and `force` is false, or writing fails.
pub fn write_predictions(
    path: &Path,
    names: &CostNames,
    costs: &Matrix,
    force: bool,
) -> Result<()> {
    check_width(names, costs.cols())?;
    let header = header(names.iter())?;
    let cell = |cost: &f32| {
        if cost.is_nan() {
            String::new()
        } else {
            shortest(*cost)
        }
    };
    let row = |row| costs.row(row).iter().map(cell).collect();
    write_rows(path, force, header, (0..costs.rows()).map(row))
}

fn write_wide(path: &Path, data: &Dataset, force: bool) -> Result<()> {
    let features = data.features().values();
    let header = header(borrowed(data.features().names()).chain(data.cost_names().iter()))?;
    let row = |i| {
        cells(features.row(i))
            .chain(cells(data.costs().row(i)))
            .collect()
    };
    write_rows(path, force, header, (0..data.len()).map(row))
}

fn write_long(path: &Path, data: &Dataset, items: usize, force: bool) -> Result<()> {
    let features = data.features().values();
    let keys = ["instance", "item"].map(Cow::from).into_iter();
    let header = header(
        keys.chain(borrowed(data.features().names()))
            .chain(["cost".into()]),
    )?;
    let row = |row: usize| {
        let (instance, item) = (row / items, row % items);
        let keys = [
            instance.to_string(),
            data.cost_names().get(item).into_owned(),
        ];
        keys.into_iter()
            .chain(cells(features.row(row)))
            .chain(cells(&data.costs().row(instance)[item..=item]))
            .collect()
    };
    write_rows(path, force, header, (0..features.rows()).map(row))
}

fn cells<T: Copy + std::fmt::Debug>(values: &[T]) -> impl Iterator<Item = String> + '_ {
    values.iter().map(|value| shortest(*value))
}

/// A name or a key in a file of results. These files are for spreadsheets and never read back, so a
/// text that looks like a formula is quoted; tables and predictions are read back and keep their
/// names.
pub fn name_cell(name: &str) -> String {
    escape_formula(name).into_owned()
}

fn borrowed(names: &[String]) -> impl Iterator<Item = Cow<'_, str>> {
    names.iter().map(|name| name.as_str().into())
}

fn header<'a>(names: impl Iterator<Item = Cow<'a, str>>) -> Result<Vec<String>> {
    let names: Vec<String> = names.map(Cow::into_owned).collect();
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(duplicate) => Err(
            Error::data(format!("two columns would be named '{duplicate}'"))
                .with_remedy("rename one"),
        ),
        None => Ok(names),
    }
}

fn check_width(names: &CostNames, width: usize) -> Result<()> {
    if names.len() == width {
        return Ok(());
    }
    Err(Error::data(format!(
        "{} names for {width} columns",
        names.len()
    )))
}

fn write_rows(
    path: &Path,
    force: bool,
    header: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<()> {
    write_atomically(path, force, |out| write_all(out, header, rows))
}

fn write_all(
    out: &mut dyn Write,
    header: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in std::iter::once(header).chain(rows) {
        writer.write_record(row)?;
    }
    writer.flush()
}
