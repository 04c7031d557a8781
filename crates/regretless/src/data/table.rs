//! A table by its files: which reader serves which kind.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Dataset, Features, Layout, WideColumns, csv, npy};
use crate::error::Result;

/// Where a table is and how it is laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum TableSource {
    /// One CSV file with features and costs.
    Csv {
        /// The file.
        file: PathBuf,
        /// Which column is what.
        layout: Layout,
    },
    /// Two CSV files with a row per instance each.
    CsvPair {
        /// The file of the features.
        features: PathBuf,
        /// The file of the costs.
        costs: PathBuf,
        /// Which columns to take.
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
    /// When the table cannot be used; the error names the place.
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

    /// Reads the features a model wants, in its order; costs need not be there.
    ///
    /// # Errors
    /// When a column is missing or the table cannot be used; the error names the place.
    pub fn read_features(&self, wanted: &[String]) -> Result<Features> {
        match self {
            Self::Csv { file, layout } => csv::read_features(file, layout, wanted),
            Self::CsvPair {
                features, columns, ..
            } => csv::read_features(features, &Layout::Wide(columns.clone()), wanted),
            Self::Npy { features, .. } => npy::read_features(features, Some(wanted)),
        }
    }

    /// The file that stands for the table; its labels are kept beside it.
    pub fn costs_file(&self) -> &Path {
        match self {
            Self::Csv { file, .. } => file,
            Self::CsvPair { costs, .. } | Self::Npy { costs, .. } => costs,
        }
    }
}
