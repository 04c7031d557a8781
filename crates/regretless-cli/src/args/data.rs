//! Options of the data and the problem.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use regretless::data::{CsvDialect, FeatureOptions, Layout, LongColumns, WideColumns};
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize};

use super::values::{MissingArg, one_or_many};

/// A table and its columns.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Data")]
pub struct DataOptions {
    /// Table: CSV with features and costs, or features only with --cost-data (CSV or NPY); CSV
    /// files may be compressed (.csv.gz, .csv.bz2)
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Costs in a separate file with the rows of --data (CSV or NPY)
    #[arg(long, value_name = "FILE")]
    pub cost_data: Option<PathBuf>,
    /// Feature columns, by name or pattern such as 'x*' [default: all other columns]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub features: Option<Vec<String>>,
    /// Cost columns, by name or pattern such as 'c*'; matched by name to a problem that has names
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub costs: Option<Vec<String>>,
    /// Columns to ignore, by name or pattern
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub ignore: Option<Vec<String>>,
    /// How texts, dates and gaps become features.
    #[command(flatten)]
    #[serde(flatten)]
    pub encoding: EncodingOptions,
    /// Row parameters in files of their own, beside columns of the table.
    #[command(flatten)]
    #[serde(flatten)]
    pub parameter_files: ParameterOptions,
    /// Columns of a long table.
    #[command(flatten)]
    #[serde(flatten)]
    pub columns: ColumnOptions,
    /// Long table: the column with the cost [default: cost]
    #[arg(long, value_name = "COLUMN")]
    pub cost_column: Option<String>,
    /// How CSV files are written.
    #[command(flatten)]
    #[serde(flatten)]
    pub csv: CsvOptions,
}

/// How columns that are no numbers, and gaps, become features.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Data")]
pub struct EncodingOptions {
    /// Columns whose values are categories, also numbers such as weekdays 0 to 6: one feature per
    /// value [default: columns of text with at most 100 values and two training rows for each]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub categories: Option<Vec<String>>,
    /// Columns such as customers whose values are replaced by the mean cost of the training rows
    /// that have them
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub target_statistics: Option<Vec<String>>,
    /// Columns of dates, with the parts to use: weekday, season, hour, trend, holiday, as in
    /// 'date=weekday+trend' [default: columns of dates; weekday, season and hour if the training
    /// rows support them]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub dates: Option<Vec<String>>,
    /// Holidays: a file with a date in each line
    #[arg(long, value_name = "FILE")]
    pub holidays: Option<PathBuf>,
    /// Empty cells and NA, NaN, null, None in features: impute (the median of the training rows, or
    /// a category of its own, with an indicator) or error [default: impute]
    #[arg(long, value_enum, value_name = "RULE", hide_possible_values = true)]
    pub missing: Option<MissingArg>,
}

impl EncodingOptions {
    /// For the library; reads the file of holidays.
    pub fn features(&self) -> Result<FeatureOptions> {
        let list = |names: &Option<Vec<String>>| names.clone().unwrap_or_default();
        let holidays = match &self.holidays {
            Some(file) => FeatureOptions::read_holidays(file)?,
            None => Vec::new(),
        };
        let options = FeatureOptions {
            categories: list(&self.categories),
            target_statistics: list(&self.target_statistics),
            dates: list(&self.dates),
            holidays,
            refuse_gaps: self.missing == Some(MissingArg::Error),
        };
        options.check()?;
        Ok(options)
    }

    /// Whether one of them is given.
    pub fn is_given(&self) -> bool {
        self.categories.is_some()
            || self.target_statistics.is_some()
            || self.dates.is_some()
            || self.holidays.is_some()
            || self.missing.is_some()
    }
}

/// Files of row parameters.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Data")]
pub struct ParameterOptions {
    /// Parameters of the problem per row that are not in the table: CSV with a row per instance, or
    /// NAME=FILE.npy; may be repeated
    #[arg(long, value_name = "FILE")]
    #[serde(default, deserialize_with = "one_or_many")]
    pub parameters: Option<Vec<String>>,
}

impl ParameterOptions {
    /// The files.
    pub fn files(&self) -> Vec<String> {
        self.parameters.clone().unwrap_or_default()
    }

    /// Whether an error message is about one of the files.
    pub fn is_named_in(&self, message: &str) -> bool {
        let names_file = |file: &String| {
            message.starts_with(&format!("{file}: ")) || message.starts_with(&format!("'{file}' "))
        };
        self.parameters.iter().flatten().any(names_file)
    }
}

/// How CSV files separate cells and write decimals.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Data")]
pub struct CsvOptions {
    /// CSV: what separates the cells: one character, such as ';', or tab [default: a comma; tab in
    /// .tsv files]
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<String>,
    /// CSV: what precedes decimals, '.' or ','; thousands separators are not allowed [default: .]
    #[arg(long, value_name = "CHARACTER")]
    pub decimal: Option<String>,
}

impl CsvOptions {
    /// The dialect of a file.
    pub fn dialect(&self, path: &Path) -> Result<CsvDialect> {
        CsvDialect::of_file(path, self.delimiter.as_deref(), self.decimal.as_deref())
    }
}

/// Columns that identify the rows of a long table.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Data")]
pub struct ColumnOptions {
    /// Long table (one row per instance and cost): the column that names the instance
    #[arg(long, value_name = "COLUMN")]
    pub instance_column: Option<String>,
    /// Long table: the column that names the item, matched by name to a problem that has names;
    /// without it an instance's rows follow each other in the order of the costs
    #[arg(long, value_name = "COLUMN")]
    pub item_column: Option<String>,
}

impl DataOptions {
    /// Whether a table is given.
    pub fn is_given(&self) -> bool {
        self.data.is_some() || self.cost_data.is_some()
    }

    /// The layout of a CSV table.
    pub fn layout(&self) -> Result<Layout> {
        let columns = &self.columns;
        if columns.instance_column.is_none()
            && columns.item_column.is_none()
            && self.cost_column.is_none()
        {
            return Ok(Layout::Wide(self.wide()?));
        }
        let standard = LongColumns::default();
        Ok(Layout::Long(LongColumns {
            cost: self.cost_column.clone().unwrap_or(standard.cost),
            features: self.features.clone().unwrap_or_default(),
            ignore: self.ignore.clone().unwrap_or_default(),
            options: self.encoding.features()?,
            ..columns.long(Vec::new())
        }))
    }

    /// The columns of a wide table.
    pub fn wide(&self) -> Result<WideColumns> {
        Ok(WideColumns {
            features: self.features.clone().unwrap_or_default(),
            costs: self.costs.clone().unwrap_or_default(),
            ignore: self.ignore.clone().unwrap_or_default(),
            options: self.encoding.features()?,
        })
    }
}

impl ColumnOptions {
    /// The columns of a long table; with an item column, items are in this order.
    pub fn long(&self, items: Vec<String>) -> LongColumns {
        let standard = LongColumns::default();
        LongColumns {
            instance: self.instance_column.clone().unwrap_or(standard.instance),
            item: self.item_column.clone(),
            items: if self.item_column.is_some() {
                items
            } else {
                Vec::new()
            },
            cost: standard.cost,
            features: standard.features,
            ignore: standard.ignore,
            options: standard.options,
        }
    }
}

/// The problem.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Problem")]
pub struct ProblemOptions {
    /// Problem file, as generate writes it; a settings file may hold it as a table of this name
    #[arg(long, value_name = "FILE.toml")]
    pub problem: Option<ProblemSource>,
    /// Built-in data and problem instead of a table: KS32, SP5x5, TSP20, CVRP20, or another size
    #[arg(long, value_name = "NAME")]
    pub benchmark: Option<Benchmark>,
}

/// A problem in its own file or in the settings file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProblemSource {
    /// Path of a problem file.
    File(PathBuf),
    /// The problem itself.
    Inline(Box<ProblemSpec>),
}

impl FromStr for ProblemSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(Self::File(text.into()))
    }
}

impl<'de> Deserialize<'de> for ProblemSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(path) => Ok(Self::File(path.into())),
            toml::Value::Table(table) => {
                let text = toml::to_string(&table).map_err(serde::de::Error::custom)?;
                let spec = ProblemSpec::from_toml(&text)
                    .map_err(|error| serde::de::Error::custom(error.to_string()))?;
                Ok(Self::Inline(Box::new(spec)))
            }
            other => {
                let message = format!("{other} is neither a problem file nor a problem");
                Err(serde::de::Error::custom(message))
            }
        }
    }
}
