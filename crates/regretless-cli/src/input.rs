//! Reads the tables, problems and models that options name.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use regretless::data::{Dataset, Features, InstanceKeys, Layout, Matrix, TableSource, WideColumns};
use regretless::predict::CostModel;
use regretless::problem::ProblemSpec;
use regretless::{Error, Model, Problem, Result};

use crate::args::{CsvOptions, DataOptions, ProblemSource, ResultFormat};
use crate::output::is_stream;

mod model_rows;

pub use model_rows::{NewRows, dataset_for_model, table_source_for_model};

/// Kinds of table files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Text with values separated by commas; Parquet files, which are read in the same way.
    Csv,
    /// numpy's arrays.
    Npy,
}

impl TableFormat {
    /// The format of a file, by its extension.
    pub fn of(path: &Path) -> Result<Self> {
        match path
            .extension()
            .map(|extension| extension.to_string_lossy().to_ascii_lowercase())
            .as_deref()
        {
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            _ => Err(
                Error::setting(format!("{}: unknown kind of table", path.display()))
                    .with_remedy("files end in .csv or .npy"),
            ),
        }
    }

    /// The format of a file to read, by its extension. CSV files may be compressed (.csv.gz,
    /// .csv.bz2); cells of .tsv files are separated by tabs; .parquet files have cells like CSV
    /// files.
    pub fn of_input(path: &Path) -> Result<Self> {
        let has_extension = |path: &Path, names: &[&str]| {
            let extension = path.extension().unwrap_or_default();
            names
                .iter()
                .any(|name| extension.eq_ignore_ascii_case(name))
        };
        let is_compressed = has_extension(path, &["gz", "bz2"]);
        let content = if is_compressed {
            &path.with_extension("")
        } else {
            path
        };
        if has_extension(content, &["tsv"]) || has_extension(path, &["parquet"]) {
            return Ok(Self::Csv);
        }
        match Self::of(content) {
            Ok(Self::Npy) if is_compressed => Err(Error::setting(format!(
                "{}: arrays are read uncompressed",
                path.display()
            ))
            .with_remedy("decompress the file first")),
            Err(_) => Self::of(path),
            known => known,
        }
    }
}

/// A table that was read from standard input into a temporary file, so errors can name its rows and
/// its keys can be read too.
pub struct InputFile {
    path: PathBuf,
    /// Removes the temporary file when dropped.
    temporary: Option<tempfile::TempPath>,
}

/// The first bytes of every NPY file; no text in UTF-8 begins with them.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";
/// The first bytes of every Parquet file, followed by a byte that no text has.
const PARQUET_MAGIC: &[u8] = b"PAR1\x15";

impl InputFile {
    /// The file of a path; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self> {
        if !is_stream(path) {
            return Ok(Self {
                path: path.to_path_buf(),
                temporary: None,
            });
        }
        let failed = Error::io(Path::new(STANDARD_INPUT));
        let temporary = Self::copy_standard_input().map_err(failed)?;
        Ok(Self {
            path: temporary.to_path_buf(),
            temporary: Some(temporary),
        })
    }

    fn copy_standard_input() -> io::Result<tempfile::TempPath> {
        let mut input = io::stdin().lock();
        let mut beginning = Vec::new();
        // A stream has no extension, by which files are told apart, and cannot be rewound: its
        // first bytes are read, then written before the others.
        let magic_bytes = NPY_MAGIC.len() as u64;
        input
            .by_ref()
            .take(magic_bytes)
            .read_to_end(&mut beginning)?;
        let suffix = if beginning == NPY_MAGIC {
            ".npy"
        } else if beginning.starts_with(PARQUET_MAGIC) {
            ".parquet"
        } else {
            ".csv"
        };
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile()?;
        file.write_all(&beginning)?;
        io::copy(&mut input, &mut file)?;
        Ok(file.into_temp_path())
    }

    /// The file to read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error in this file; one in standard input does not name the temporary file.
    pub fn error(&self, error: Error) -> Error {
        if self.temporary.is_none() {
            return error.in_file(&self.path);
        }
        let stream = Path::new(STANDARD_INPUT);
        match error {
            Error::Input {
                mut place,
                message,
                remedy,
            } => {
                // The temporary file is gone when the user reads the message.
                place.file = Some(stream.to_path_buf());
                Error::Input {
                    place,
                    message,
                    remedy,
                }
            }
            Error::Io { source, .. } => Error::io(stream)(source),
            other => other,
        }
    }
}

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// A required setting.
pub fn require<T: Clone>(value: Option<&T>, flag: &str) -> Result<T> {
    value.cloned().ok_or_else(|| {
        Error::setting(format!("{flag} is missing")).with_remedy("see --help for an example")
    })
}

/// Adds the file to an error in data that names no file.
pub fn in_file(path: &Path) -> impl Fn(Error) -> Error + '_ {
    move |error| error.in_file(path)
}

/// The problem of a file, or of a table in the settings.
pub fn load_problem(source: &ProblemSource) -> Result<Problem> {
    Problem::from_spec(load_spec(source)?).map_err(|error| in_problem_file(source, error))
}

/// The problem as it is written; the number of its items may depend on the table.
pub fn load_spec(source: &ProblemSource) -> Result<ProblemSpec> {
    match source {
        ProblemSource::Inline(spec) => Ok(ProblemSpec::clone(spec)),
        // Errors of reading name the file already.
        ProblemSource::File(path) => ProblemSpec::read(path),
    }
}

/// The same for a problem that is complete without a table, whose errors name the file.
pub fn checked_spec(source: &ProblemSource) -> Result<ProblemSpec> {
    let spec = load_spec(source)?;
    if !spec.has_open_items() {
        Problem::from_spec(spec.clone()).map_err(|error| in_problem_file(source, error))?;
    }
    Ok(spec)
}

fn in_problem_file(source: &ProblemSource, error: Error) -> Error {
    match (source, error) {
        (ProblemSource::File(path), Error::Setting { message, remedy }) => Error::Setting {
            message: format!("{}: {message}", path.display()),
            remedy,
        },
        (
            ProblemSource::File(path),
            Error::Io {
                path: named,
                source,
            },
        ) if named != *path => {
            let message = format!("{source}; {} names this file", path.display());
            Error::io(&named)(io::Error::new(source.kind(), message))
        }
        (_, other) => other,
    }
}

/// A table and its problem, which may depend on each other: rows have parameters of the problem,
/// and the table may have the number of its items.
pub fn table_and_problem(
    source: &TableSource,
    problem: &ProblemSource,
) -> Result<(Problem, Dataset)> {
    let spec = load_spec(problem)?;
    if spec.has_open_items() {
        // The number of items is that of the costs, so the table is read first.
        return source.read_for(spec);
    }
    let problem = Problem::from_spec(spec).map_err(|error| in_problem_file(problem, error))?;
    source.read_for_problem(&problem)
}

/// The model of a file with this problem, or else with the one it was trained for.
pub fn load_model(file: &Path, problem: Option<&ProblemSource>) -> Result<Model> {
    match problem {
        Some(source) => {
            let predictor = CostModel::load(file)?;
            Model::new(predictor, load_problem(source)?).map_err(in_file(file))
        }
        None => Model::load(file),
    }
}

/// The files and the layout of a table.
pub fn table_source(options: &DataOptions) -> Result<TableSource> {
    let data = require(options.data.as_ref(), "--data")?;
    let layout = options.layout()?;
    let dialect = options.csv.dialect(&data)?;
    let parameters = options.parameter_files.files();
    if options.encoding.is_given() && TableFormat::of_input(&data)? == TableFormat::Npy {
        return Err(Error::setting("an array holds numbers only, no categories, dates or gaps")
            .with_remedy(
                "leave --categories, --target-statistics, --dates, --holidays and --missing out",
            ));
    }
    match (TableFormat::of_input(&data)?, &options.cost_data) {
        (TableFormat::Csv, None) => Ok(TableSource::Csv {
            file: data,
            layout,
            dialect,
            parameters,
        }),
        // An array has no header that could tell costs from features.
        (TableFormat::Npy, None) => Err(Error::setting(format!(
            "{} holds features only",
            data.display()
        ))
        .with_remedy("give --cost-data costs.npy too")),
        (kind, Some(costs)) if kind != TableFormat::of_input(costs)? => {
            Err(Error::setting("--data and --cost-data must be of one kind")
                .with_remedy("both CSV or both NPY"))
        }
        (TableFormat::Npy, Some(costs)) => Ok(TableSource::Npy {
            features: data,
            costs: costs.clone(),
            parameters,
        }),
        (TableFormat::Csv, Some(costs)) => match layout {
            Layout::Wide(columns) => Ok(TableSource::CsvPair {
                features: data,
                costs: costs.clone(),
                columns,
                dialect,
                parameters,
            }),
            Layout::Long(_) => Err(Error::setting("a long table holds its costs itself")
                .with_remedy("drop --cost-data")),
        },
    }
}

/// The keys of a table: the cells of a column, the instances of a long table, or row numbers.
pub fn keys_of_table(
    source: &TableSource,
    key: Option<&str>,
    instances: usize,
) -> Result<InstanceKeys> {
    let keys = match source {
        TableSource::Csv { .. } | TableSource::CsvPair { .. } => source.read_keys(key)?,
        TableSource::Npy { features, .. } => refuse_key(features, key)?,
    };
    // The file is read a second time for its keys, and may have changed in between.
    checked_keys(keys, instances)
}

fn checked_keys(keys: Option<InstanceKeys>, instances: usize) -> Result<InstanceKeys> {
    let keys = keys.unwrap_or_else(|| InstanceKeys::numbered(instances));
    keys.check_count(instances)?;
    Ok(keys)
}

/// Arrays have no columns with names.
fn refuse_key(path: &Path, key: Option<&str>) -> Result<Option<InstanceKeys>> {
    match key {
        None => Ok(None),
        Some(_) => Err(Error::setting(format!(
            "{}: an array has no column for --key",
            path.display()
        ))
        .with_remedy("leave it out, or give a CSV file")),
    }
}

impl ResultFormat {
    /// The format of a file of results: the given one, or that of the extension; standard output
    /// is CSV by default.
    pub fn of(path: &Path, given: Option<Self>) -> Result<Self> {
        if let Some(format) = given {
            return Ok(format);
        }
        if is_stream(path) {
            return Ok(Self::Csv);
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "npy" => Ok(Self::Npy),
            "jsonl" | "ndjson" => Ok(Self::Jsonl),
            _ => Err(
                Error::setting(format!("{}: unknown kind of results", path.display()))
                    .with_remedy("files end in .csv, .npy or .jsonl, or give --format"),
            ),
        }
    }
}

/// A table of which only costs and parameters are used, with its problem.
pub struct CostTable {
    /// Its files.
    pub source: TableSource,
    /// The problem for this table.
    pub problem: Problem,
    /// Its features are placeholders.
    pub data: Dataset,
}

/// A table of which only costs and parameters are used.
pub fn costs_only(options: &DataOptions, problem: &ProblemSource) -> Result<CostTable> {
    let missing = || {
        Error::setting("--data with --costs, or --cost-data, is missing")
            .with_remedy("see --help for an example")
    };
    let path = options
        .cost_data
        .as_ref()
        .or(options.data.as_ref())
        .ok_or_else(missing)?;
    let dialect = options.csv.dialect(path)?;
    let parameters = options.parameter_files.files();
    let spec = load_spec(problem)?;
    // The file of features may have parameters.
    let features = match &options.data {
        Some(data)
            if matches!(spec, ProblemSpec::Parametric { .. })
                && TableFormat::of_input(data).ok() == Some(TableFormat::Csv) =>
        {
            data
        }
        _ => path,
    };
    let source = match (TableFormat::of_input(path)?, options.layout()?) {
        (TableFormat::Npy, _) => TableSource::Npy {
            features: path.clone(),
            costs: path.clone(),
            parameters,
        },
        (TableFormat::Csv, layout @ Layout::Long(_)) => TableSource::Csv {
            file: path.clone(),
            layout,
            dialect,
            parameters,
        },
        (TableFormat::Csv, Layout::Wide(columns)) => TableSource::CsvPair {
            features: features.clone(),
            costs: path.clone(),
            columns,
            dialect,
            parameters,
        },
    };
    let read = source.read_costs_for(spec);
    let (problem, data) = read.map_err(|error| match &error {
        Error::Setting { message, .. } if options.parameter_files.is_named_in(message) => error,
        _ => in_problem_file(problem, error),
    })?;
    Ok(CostTable {
        source,
        problem,
        data,
    })
}

/// Predicted costs, one row per instance.
pub fn predictions(path: &Path, names: &[String], csv: &CsvOptions) -> Result<Matrix> {
    let layout = Layout::Wide(WideColumns::default());
    let table = match TableFormat::of_input(path)? {
        TableFormat::Csv => Features::read_csv(path, &layout, names, csv.dialect(path)?)?,
        TableFormat::Npy => Features::read_npy(path, names)?,
    };
    Ok(table.values().clone())
}
