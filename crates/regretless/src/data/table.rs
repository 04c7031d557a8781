//! A table by its files, with the reader of each format.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::csv::{ColumnChoice, FirstRow};
use super::row_times::RowTimes;
use super::{CsvDialect, Dataset, Features, Layout, Split, SplitIndices, WideColumns, csv, npy};
use crate::error::{Error, InputPlace, Result};

/// The files of a table and its layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum TableSource {
    /// One CSV file with features and costs.
    Csv {
        /// The file.
        file: PathBuf,
        /// The roles of the columns.
        layout: Layout,
        /// Its delimiter and decimal separator.
        #[serde(default)]
        dialect: CsvDialect,
    },
    /// Two CSV files with a row per instance each.
    CsvPair {
        /// The file of the features.
        features: PathBuf,
        /// The file of the costs.
        costs: PathBuf,
        /// The selected columns.
        #[serde(default)]
        columns: WideColumns,
        /// The delimiter and decimal separator of both.
        #[serde(default)]
        dialect: CsvDialect,
    },
    /// Two NPY files.
    Npy {
        /// The array of the features.
        features: PathBuf,
        /// The array of the costs.
        costs: PathBuf,
    },
}

impl TableSource {
    /// Reads features and costs.
    ///
    /// # Errors
    /// When the table is invalid; the error has the place.
    pub fn read(&self) -> Result<Dataset> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
            } => csv::read(file, layout, *dialect),
            Self::CsvPair {
                features,
                costs,
                columns,
                dialect,
            } => csv::read_pair(features, costs, columns, *dialect),
            Self::Npy { features, costs } => npy::read(features, costs),
        }
    }

    /// Reads the features that a model expects, in its order; the table need not have costs.
    ///
    /// # Errors
    /// When a column is missing or the table is invalid; the error has the place.
    pub fn read_features(&self, wanted: &[String]) -> Result<Features> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
            } => csv::read_features(file, layout, wanted, *dialect),
            Self::CsvPair {
                features,
                columns,
                dialect,
                ..
            } => {
                let layout = Layout::Wide(columns.clone());
                csv::read_features(features, &layout, wanted, *dialect)
            }
            Self::Npy { features, .. } => npy::read_features(features, Some(wanted)),
        }
    }

    /// The file with the costs; the labels of the table are stored next to it.
    pub fn costs_file(&self) -> &Path {
        match self {
            Self::Csv { file, .. } => file,
            Self::CsvPair { costs, .. } | Self::Npy { costs, .. } => costs,
        }
    }

    /// Divides the rows; a split by time reads the times from their column.
    ///
    /// # Errors
    /// As [`Split::apply_to_times`], with the place of a cell that is no time, and when the table
    /// is an array, which has no columns of times.
    pub fn split(&self, split: &Split, rows: usize) -> Result<SplitIndices> {
        match split.time_column() {
            None => split.apply(rows),
            Some(column) => {
                let times = self.read_times(column)?;
                // The file is read again for its times and may have changed meanwhile.
                if times.len() != rows {
                    let message = format!("{} times for {rows} instances", times.len());
                    return Err(Error::input(InputPlace::file(self.costs_file()), message)
                        .with_remedy("run the command again when the file does not change"));
                }
                split.apply_to_parsed(&times)
            }
        }
    }

    fn read_times(&self, column: &str) -> Result<RowTimes> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
            } => csv::read_times(file, layout, column, *dialect),
            Self::CsvPair {
                features,
                costs,
                columns,
                dialect,
            } => {
                // The times are with the features or else with the costs.
                let layout = Layout::Wide(columns.clone());
                let has_column = FirstRow::read(costs, *dialect)?.has_column(column)
                    && !FirstRow::read(features, *dialect)?.has_column(column);
                let file = if has_column { costs } else { features };
                csv::read_times(file, &layout, column, *dialect)
            }
            Self::Npy { .. } => Err(Error::setting("arrays have no column of times to split by")
                .with_remedy("sort their rows by time and split in table order")),
        }
    }

    /// Names and reasons of the columns that are neither features nor costs nor name instances or
    /// items, in the order of the table; `data` is the table as it was read. The reasons are
    /// "dates", "text", "ignored" and "not selected".
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unused_columns(&self, data: &Dataset) -> Result<Vec<(String, String)>> {
        let cost_names = data.cost_names().to_vec();
        let features = data.features().names();
        let mut used: HashSet<&str> = features.iter().map(String::as_str).collect();
        match self {
            Self::Npy { .. } => Ok(Vec::new()),
            Self::Csv {
                file,
                layout,
                dialect,
            } => {
                let ignore = match layout {
                    Layout::Wide(columns) => {
                        used.extend(cost_names.iter().map(String::as_str));
                        &columns.ignore
                    }
                    Layout::Long(columns) => {
                        used.extend([columns.cost.as_str(), &columns.instance]);
                        used.extend(columns.item.as_deref());
                        &columns.ignore
                    }
                };
                let choice = ColumnChoice {
                    used: &used,
                    ignore,
                };
                FirstRow::read(file, *dialect)?.unused(&choice)
            }
            Self::CsvPair {
                features,
                costs,
                columns,
                dialect,
            } => {
                let mut choice = ColumnChoice {
                    used: &used,
                    ignore: &columns.ignore,
                };
                let mut unused = FirstRow::read(features, *dialect)?.unused(&choice)?;
                if costs != features {
                    let used: HashSet<&str> = cost_names.iter().map(String::as_str).collect();
                    choice.used = &used;
                    unused.extend(FirstRow::read(costs, *dialect)?.unused(&choice)?);
                }
                Ok(unused)
            }
        }
    }

    /// The first column whose first cell is a date, which suggests a split by time.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn date_column(&self) -> Result<Option<String>> {
        match self {
            Self::Csv { file, dialect, .. } => Ok(FirstRow::read(file, *dialect)?.date_column()),
            Self::CsvPair {
                features, dialect, ..
            } => Ok(FirstRow::read(features, *dialect)?.date_column()),
            Self::Npy { .. } => Ok(None),
        }
    }
}
