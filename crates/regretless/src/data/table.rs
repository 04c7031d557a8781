//! A table by its files, with the reader of each format.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Dataset, Features, Layout, WideColumns, csv, npy};
use crate::error::Result;

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
            Self::Csv { file, layout } => csv::read(file, layout),
            Self::CsvPair {
                features,
                costs,
                columns,
            } => csv::read_pair(features, costs, columns),
            Self::Npy { features, costs } => npy::read(features, costs),
        }
    }

    /// Reads the features that a model expects, in its order; the table need not have costs.
    ///
    /// # Errors
    /// When a column is missing or the table is invalid; the error has the place.
    pub fn read_features(&self, wanted: &[String]) -> Result<Features> {
        match self {
            Self::Csv { file, layout } => csv::read_features(file, layout, wanted),
            Self::CsvPair {
                features, columns, ..
            } => csv::read_features(features, &Layout::Wide(columns.clone()), wanted),
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
}
