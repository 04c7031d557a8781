//! A table by its files, with the reader of each format.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::csv::{ColumnChoice, CsvInput, FirstRow};
use super::layout::WantedFeatures;
use super::parameter_files::ParameterFiles;
use super::problem_columns::ProblemColumns;
use super::row_times::RowTimes;
use super::{
    CsvDialect, DataCheck, Dataset, FeatureOptions, Features, Finding, InstanceKeys, Layout,
    LongColumns, RowParameters, Split, SplitIndices, WideColumns, csv, npy,
};
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
        /// Files of row parameters: CSV files with one row per instance, which may be named in
        /// the column of the instances, or arrays under their names (`capacity=file.npy`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parameters: Vec<String>,
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
        /// Files of row parameters, as above.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parameters: Vec<String>,
    },
    /// Two NPY files.
    Npy {
        /// The array of the features.
        features: PathBuf,
        /// The array of the costs.
        costs: PathBuf,
        /// Files of row parameters, as above.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parameters: Vec<String>,
    },
}

impl TableSource {
    /// Reads features and costs.
    ///
    /// # Errors
    /// When the table is invalid; the error has the place.
    pub fn read(&self) -> Result<Dataset> {
        self.read_table(&ProblemColumns::default())
    }

    /// The table with what a problem reads from it.
    pub(crate) fn read_columns(&self, problem: &ProblemColumns<'_>) -> Result<Dataset> {
        let files = self.parameter_files(problem)?;
        let data = self.read_table(&ProblemColumns {
            parameters: &files.others,
            ..*problem
        })?;
        let rows = data.len();
        let parameters = data.parameters().map(|known| RowParameters::clone(known));
        let parameters = parameters.unwrap_or_else(|| RowParameters::new(rows));
        data.with_any_parameters(self.with_files(parameters, files)?)
    }

    /// Without the files of parameters.
    fn read_table(&self, problem: &ProblemColumns<'_>) -> Result<Dataset> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
                ..
            } => csv::read_for(file, layout, CsvInput::new(*dialect, problem)),
            Self::CsvPair {
                features,
                costs,
                columns,
                dialect,
                ..
            } => csv::read_pair(features, costs, columns, CsvInput::new(*dialect, problem)),
            Self::Npy {
                features, costs, ..
            } => {
                Self::check_named(features, problem)?;
                if problem.without_features {
                    npy::read_costs(costs, npy::Storage::BySize)
                } else {
                    npy::read(features, costs)
                }
            }
        }
    }

    /// Reads the features that a model expects, in its order; the table need not have costs.
    ///
    /// # Errors
    /// When a column is missing or the table is invalid; the error has the place.
    pub fn read_features(&self, wanted: &[String]) -> Result<Features> {
        let wanted = WantedFeatures::numbers(wanted);
        let (features, _) = self.read_feature_table(&wanted, &ProblemColumns::default())?;
        Ok(features)
    }

    /// The same with the parameters that a problem has per row.
    pub(crate) fn read_feature_columns(
        &self,
        wanted: &WantedFeatures<'_>,
        problem: &ProblemColumns<'_>,
    ) -> Result<(Features, RowParameters)> {
        let files = self.parameter_files(problem)?;
        let in_table = ProblemColumns {
            parameters: &files.others,
            ..*problem
        };
        let (features, parameters) = self.read_feature_table(wanted, &in_table)?;
        Ok((features, self.with_files(parameters, files)?))
    }

    /// Without the files of parameters.
    fn read_feature_table(
        &self,
        wanted: &WantedFeatures<'_>,
        problem: &ProblemColumns<'_>,
    ) -> Result<(Features, RowParameters)> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
                ..
            } => csv::read_features_for(file, layout, wanted, CsvInput::new(*dialect, problem)),
            Self::CsvPair {
                features,
                columns,
                dialect,
                ..
            } => {
                let layout = Layout::Wide(columns.clone());
                csv::read_features_for(features, &layout, wanted, CsvInput::new(*dialect, problem))
            }
            Self::Npy { features, .. } => {
                Self::check_named(features, problem)?;
                let features = npy::read_features(features, Some(wanted.feature_names()))?;
                let parameters = RowParameters::new(features.instances());
                Ok((features, parameters))
            }
        }
    }

    /// Arrays have no columns with names.
    fn check_named(features: &Path, problem: &ProblemColumns<'_>) -> Result<()> {
        match problem.parameters_in_files().next() {
            None => Ok(()),
            Some(parameter) => {
                let message = format!("the problem needs the parameter '{}'", parameter.pattern);
                Err(Error::input(InputPlace::file(features), message)
                    .with_remedy("arrays have no columns with names; give it in a file of its own"))
            }
        }
    }

    /// The parameters of the problem that are in files of their own.
    fn parameter_files(&self, problem: &ProblemColumns<'_>) -> Result<ParameterFiles> {
        let (files, dialect) = match self {
            Self::Csv {
                parameters,
                dialect,
                ..
            }
            | Self::CsvPair {
                parameters,
                dialect,
                ..
            } => (parameters, *dialect),
            Self::Npy { parameters, .. } => (parameters, CsvDialect::default()),
        };
        let instance_column = self.long_columns().map(|columns| columns.instance.as_str());
        ParameterFiles::read(files, problem.parameters, dialect, instance_column)
    }

    fn long_columns(&self) -> Option<&LongColumns> {
        match self {
            Self::Csv {
                layout: Layout::Long(columns),
                ..
            } => Some(columns),
            Self::Csv { .. } | Self::CsvPair { .. } | Self::Npy { .. } => None,
        }
    }

    /// The parameters of the table with those of the files.
    fn with_files(
        &self,
        parameters: RowParameters,
        files: ParameterFiles,
    ) -> Result<RowParameters> {
        let instances = match self {
            Self::Csv {
                file,
                layout,
                dialect,
                ..
            } if files.name_instances() => csv::read_keys(file, layout, None, *dialect)?,
            Self::Csv { .. } | Self::CsvPair { .. } | Self::Npy { .. } => None,
        };
        files.add_to(parameters, instances.as_ref())
    }

    /// Reads features as a model expects them.
    pub fn read_features_as(&mut self, options: FeatureOptions) {
        match self {
            Self::Csv {
                layout: Layout::Wide(columns),
                ..
            }
            | Self::CsvPair { columns, .. } => columns.options = options,
            Self::Csv {
                layout: Layout::Long(columns),
                ..
            } => columns.options = options,
            Self::Npy { .. } => {}
        }
    }

    /// The file with the costs; the labels of the table are stored next to it.
    pub fn costs_file(&self) -> &Path {
        match self {
            Self::Csv { file, .. } => file,
            Self::CsvPair { costs, .. } | Self::Npy { costs, .. } => costs,
        }
    }

    fn features_file(&self) -> &Path {
        match self {
            Self::Csv { file, .. } => file,
            Self::CsvPair { features, .. } | Self::Npy { features, .. } => features,
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

    /// Runs a check of the table that was read from these files, with the times in a column, or
    /// else in the first column of dates, if there is one and all rows have a date.
    ///
    /// # Errors
    /// When a file cannot be read any more or a cell of the given column is no time.
    pub fn check(&self, check: DataCheck<'_>, time_column: Option<&str>) -> Result<Vec<Finding>> {
        if let Some(column) = time_column {
            return Ok(check.with_times(&self.read_times(column)?).run());
        }
        let Some(column) = self.date_column()? else {
            return Ok(check.run());
        };
        // Nobody said that the column has the times of the rows: it may have gaps, as any feature.
        match self.read_times(&column) {
            Ok(times) => Ok(check.with_times(&times).run()),
            Err(Error::Input { .. }) => Ok(check.run()),
            Err(error) => Err(error),
        }
    }

    /// Reads the times of the rows.
    ///
    /// # Errors
    /// When the column does not exist or a cell is no time.
    pub fn read_times(&self, column: &str) -> Result<RowTimes> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
                ..
            } => csv::read_times(file, layout, column, *dialect),
            Self::CsvPair {
                columns, dialect, ..
            } => {
                let (features, costs) = (self.features_file(), self.costs_file());
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

    /// Reads the keys of the rows, as [`InstanceKeys::read_csv`] does; arrays have none. Of two
    /// files, the first with the column counts.
    ///
    /// # Errors
    /// When no file has the column, or it names no keys.
    pub fn read_keys(&self, column: Option<&str>) -> Result<Option<InstanceKeys>> {
        match self {
            Self::Csv {
                file,
                layout,
                dialect,
                ..
            } => csv::read_keys(file, layout, column, *dialect),
            Self::CsvPair {
                columns, dialect, ..
            } => {
                // The keys are with the features or else with the costs.
                let layout = Layout::Wide(columns.clone());
                let read = |file: &Path| csv::read_keys(file, &layout, column, *dialect);
                read(self.features_file())
                    .or_else(|error| read(self.costs_file()).map_err(|_| error))
            }
            Self::Npy { .. } => Ok(None),
        }
    }

    /// The columns of the file with the features that names or patterns select: in the order of the
    /// patterns, the matches of one pattern in the order of the file, each column once.
    ///
    /// # Errors
    /// When the file cannot be read, no column has a name or matches a pattern, and for arrays,
    /// whose columns have no names.
    pub fn matching_columns(&self, patterns: &[String]) -> Result<Vec<String>> {
        let (file, dialect) = match self {
            Self::Csv { file, dialect, .. } => (file, dialect),
            Self::CsvPair {
                features, dialect, ..
            } => (features, dialect),
            Self::Npy { .. } => return Err(Error::setting("the columns of arrays have no names")),
        };
        FirstRow::read(file, *dialect)?.matching(patterns)
    }

    /// Names and reasons of the columns that are neither features, costs nor parameters, nor name
    /// instances or items, in the order of the table; `data` is the table as it was read. The
    /// reasons are "dates", "text", "ignored" and "not selected".
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unused_columns(&self, data: &Dataset) -> Result<Vec<(String, String)>> {
        let cost_names = data.cost_names().to_vec();
        let features = data.features().column_names();
        let parameters = data.parameters().into_iter();
        let parameters: Vec<&str> = parameters.flat_map(|known| known.names()).collect();
        let mut used: HashSet<&str> = features.iter().map(String::as_str).collect();
        used.extend(&parameters);
        match self {
            Self::Npy { .. } => Ok(Vec::new()),
            Self::Csv {
                file,
                layout,
                dialect,
                ..
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
                ..
            } => {
                if costs == features {
                    used.extend(cost_names.iter().map(String::as_str));
                }
                let mut choice = ColumnChoice {
                    used: &used,
                    ignore: &columns.ignore,
                };
                let mut unused = if costs != features && csv::are_placeholders(data.features()) {
                    // Its features were not asked for.
                    Vec::new()
                } else {
                    FirstRow::read(features, *dialect)?.unused(&choice)?
                };
                if costs != features {
                    let mut used: HashSet<&str> = cost_names.iter().map(String::as_str).collect();
                    used.extend(&parameters);
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
