//! Several tables of the same columns as one.

use std::path::{Path, PathBuf};

use regretless::data::{CsvDialect, Layout, TableSource, WideColumns};
use regretless_base::error::{Error, InputPlace, Result};
use regretless_base::text::first_names;

use super::table_copy::write_copy;
use crate::text::{CsvText, write_text};

/// The name of the table that several others were joined to.
pub const JOINED_TABLE_FILE_NAME: &str = "table.csv";

/// A file of rows and how it is written.
#[derive(Debug, Clone)]
pub struct RowFile {
    /// The file.
    pub file: PathBuf,
    /// How it is written.
    pub dialect: CsvDialect,
}

impl RowFile {
    fn source(&self) -> TableSource {
        TableSource::Csv {
            file: self.file.clone(),
            layout: Layout::Wide(WideColumns::default()),
            dialect: self.dialect,
            parameters: Vec::new(),
        }
    }

    /// Writes the rows of several files, one file after the other, as a table in a folder, with
    /// commas and decimal points. The columns may be in another order in each file.
    ///
    /// # Errors
    /// When a file cannot be read or lacks a column of the first one, or has one more, and when the
    /// table exists with other rows, unless it may be replaced.
    pub fn join(files: &[Self], folder: &Path, may_replace: bool) -> Result<PathBuf> {
        let text = Self::joined(files)?;
        let path = folder.join(JOINED_TABLE_FILE_NAME);
        let known = std::fs::read_to_string(&path).ok();
        if known.as_ref() == Some(&text) {
            return Ok(path);
        }
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        write_text(&path, &text, may_replace)?;
        Ok(path)
    }

    /// The same among the intermediate results, beside the table of results that are there.
    ///
    /// # Errors
    /// When a file cannot be read or has other columns.
    pub fn join_longer(files: &[Self], folder: &Path) -> Result<PathBuf> {
        write_copy(&Self::joined(files)?, "table", folder)
    }

    fn joined(files: &[Self]) -> Result<String> {
        let Some(first) = files.first() else {
            return Err(Error::setting("no table is given"));
        };
        let columns = first.source().matching_columns(&["*".to_owned()])?;
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut joined = CsvText::new(&names)?;
        for file in files {
            file.check_columns(&columns, &first.file)?;
            let source = file.source();
            source.visit_rows(&columns, &mut |cells| joined.row(cells))?;
        }
        joined.finish()
    }

    fn check_columns(&self, expected: &[String], first: &Path) -> Result<()> {
        let own = self.source().matching_columns(&["*".to_owned()])?;
        let without = |names: &[String], others: &[String]| -> Vec<String> {
            let names = names.iter().filter(|name| !others.contains(name));
            names.cloned().collect()
        };
        let (missing, more) = (without(expected, &own), without(&own, expected));
        let difference = match (missing.as_slice(), more.as_slice()) {
            ([], []) => return Ok(()),
            ([], more) => format!(
                "{} lacks the columns {}",
                first.display(),
                first_names(more)
            ),
            (missing, _) => format!(
                "the columns {} of {} are missing",
                first_names(missing),
                first.display()
            ),
        };
        Err(
            Error::input(InputPlace::file(&self.file).row(1), difference)
                .with_remedy("tables of one fit have the same columns"),
        )
    }
}
