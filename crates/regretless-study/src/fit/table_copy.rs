//! Copies of the table in the folder of the results, and the rows of the user's file that theirs
//! are.

use std::path::{Path, PathBuf};

use regretless::data::{CsvDialect, TableProfile, TableSource};
use regretless_base::error::{Error, Result};

use super::{FitSettings, TableRoles};
use crate::text::{CsvText, write_text};

/// Writes a table among the intermediate results. The name has a hash of the content, so no table
/// of another run is overwritten.
pub(super) fn write_copy(text: &str, name: &str, folder: &Path) -> Result<PathBuf> {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let folder = folder.join("cells");
    std::fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    let file = folder.join(format!("{name}-{}.csv", &hash[..16]));
    write_text(&file, text, true)?;
    Ok(file)
}

/// Number of rows up to the last one with a cost. Rows after it are to be decided: they are the
/// last ones of the file and, if there are times, the latest.
pub(super) fn known_rows(
    source: &TableSource,
    profile: &TableProfile,
    roles: &TableRoles,
    settings: &FitSettings,
) -> Result<usize> {
    let has_gaps = |name: &String| {
        let mut columns = profile.columns.iter();
        columns.any(|column| column.name == *name && column.gaps > 0)
    };
    let is_complete = !roles.costs.iter().all(has_gaps);
    if is_complete || settings.roles.long.is_some() || !settings.parameters.is_empty() {
        return Ok(profile.rows);
    }
    let known = source.rows_with_values(&roles.costs)?;
    let Some(time) = roles.time.as_ref().filter(|_| known < profile.rows) else {
        return Ok(if known == 0 { profile.rows } else { known });
    };
    let times = source.read_times(time)?;
    let latest = (0..known)
        .map(|row| times.number(row))
        .fold(f64::MIN, f64::max);
    let are_later = (known..profile.rows).all(|row| times.number(row) > latest);
    Ok(if are_later && known > 0 {
        known
    } else {
        profile.rows
    })
}

/// The settings for a copy that has the first rows of the table only.
pub(super) fn without_later_rows(
    source: &TableSource,
    profile: &TableProfile,
    known: usize,
    settings: &FitSettings,
) -> Result<FitSettings> {
    let cells = source.read_texts()?;
    let header = profile.columns.iter().map(|column| column.name.as_str());
    let mut text = CsvText::new(&header.collect::<Vec<_>>())?;
    for row in 0..known {
        let cells = cells.iter().map(|column| column[row].as_str());
        text.row(&cells.collect::<Vec<_>>())?;
    }
    Ok(FitSettings {
        file: write_copy(&text.finish()?, "table", &settings.folder)?,
        dialect: CsvDialect::default(),
        ..settings.clone()
    })
}

/// Where the rows of a copy are in the file of the user.
#[derive(Debug, Clone)]
pub(super) struct UserRows {
    pub source: TableSource,
    pub file: PathBuf,
    /// By row of the copy; `None` where they are the same.
    pub rows: Option<Vec<usize>>,
}

impl UserRows {
    /// The row of the user's table.
    pub fn row(&self, row: usize) -> usize {
        match &self.rows {
            None => row,
            Some(rows) => rows.get(row).copied().unwrap_or(row),
        }
    }

    /// The same error with the place in the user's file instead of one in a copy.
    pub fn place_error(&self, copy: &Path, mut error: Error) -> Error {
        if let Error::Input { place, .. } = &mut error
            && place.file.as_deref() == Some(copy)
        {
            place.file = Some(self.file.clone());
            // Copies have a header in row 1 and a line per row.
            let row = place.row.and_then(|number| number.checked_sub(2));
            if let Some(row) = row {
                place.row = Some(self.source.row_number(self.row(row as usize)));
            }
        }
        error
    }
}
