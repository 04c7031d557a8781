//! The readers under test, each with the files its mutants are made of.

use std::path::{Path, PathBuf};

use crate::checkpoint::file::fuzzing as checkpoint_file;
use crate::data::csv;
use crate::data::npy;
use crate::data::{
    CsvDialect, Dataset, Layout, LongColumns, ParameterColumns, ProblemColumns, RowParameters,
    Split, SplitIndices, TableSource, WideColumns,
};
use crate::label::file::fuzzing as label_file;
use crate::predict::CostModel;
use crate::predict::file::fuzzing as model_file;
use crate::problem::Problem;
use crate::problem::formats::orlib;
use crate::settings::TrainingSettings;

/// An obvious way to read a file; `None` if it does not apply.
type SlowReading = fn(&[u8]) -> Option<String>;

/// A reader of files.
pub struct Reader {
    /// Its name, and that of its corpus folder.
    pub name: &'static str,
    /// Extension of the mutants, by which some readers detect the format.
    pub extension: &'static str,
    /// Files of `testdata` from which mutants are made, beside those in the folder of the reader.
    pub published: &'static [&'static str],
    /// What the content of a file is.
    pub content: Content,
    /// Reads a file; the text is what was read, or the error.
    pub read: fn(&Path) -> Result<String, String>,
    /// What an obvious reading of the bytes gives in the form of `read`; `None` if it does not
    /// apply.
    pub slow_reading: Option<SlowReading>,
    /// Whether errors have to name the file.
    pub errors_name_the_file: bool,
}

/// How mutants of a file are made.
#[derive(Clone, Copy)]
pub enum Content {
    /// Mutations of lines, words and bytes.
    Text,
    /// Mutations of bytes.
    Binary,
    /// Mutations of bytes, of the footer and of the headers of pages.
    Parquet,
    /// Mutations of bytes, or of the header's words with a checksum that matches again.
    Checksummed {
        /// Files that mutants are made of.
        examples: fn() -> Vec<Vec<u8>>,
        /// Writes a mutant with a matching checksum; `None` when the mutant is no such file.
        with_matching_checksum: fn(&[u8]) -> Option<Vec<u8>>,
    },
}

/// What readers of problems written as text have in common.
const PROBLEM_FILE: Reader = Reader {
    name: "",
    extension: "",
    published: &[],
    content: Content::Text,
    read: problem,
    slow_reading: None,
    errors_name_the_file: true,
};

/// Every reader.
pub const READERS: [Reader; 21] = [
    Reader {
        name: "csv_wide",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_wide,
        slow_reading: Some(slow_csv_wide),
        errors_name_the_file: true,
    },
    Reader {
        name: "csv_long",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_long,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "csv_parameters",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_parameters,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "csv_arcs",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_arcs,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "csv_different_items",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_different_items,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "csv_dialect",
        extension: "csv",
        published: &[],
        content: Content::Text,
        read: csv_dialect,
        slow_reading: None,
        errors_name_the_file: false,
    },
    // The files of its folder were written for this test, with random numbers: by polars 2.1
    // (`polars_lz4`) and by pyarrow 26 (the others).
    Reader {
        name: "parquet",
        extension: "parquet",
        published: &[],
        content: Content::Parquet,
        read: csv_wide,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "npy",
        extension: "npy",
        published: &[],
        content: Content::Binary,
        read: |path| {
            npy::read_costs(path, npy::Storage::Memory)
                .map(|data| costs(&data))
                .map_err(message)
        },
        slow_reading: Some(slow_npy),
        errors_name_the_file: true,
    },
    Reader {
        name: "problem_toml",
        extension: "toml",
        ..PROBLEM_FILE
    },
    Reader {
        name: "settings_toml",
        extension: "toml",
        published: &[],
        content: Content::Text,
        read: settings,
        slow_reading: None,
        errors_name_the_file: false,
    },
    Reader {
        name: "mps",
        extension: "mps",
        published: &[
            "mps/afiro.mps",
            "mps/sc50b.mps",
            "mps/flugpl.mps",
            "mps/p0033.mps",
        ],
        ..PROBLEM_FILE
    },
    Reader {
        name: "mps_fixed",
        extension: "mps",
        ..PROBLEM_FILE
    },
    Reader {
        name: "lp",
        extension: "lp",
        ..PROBLEM_FILE
    },
    Reader {
        name: "tsplib",
        extension: "tsp",
        published: &[
            "tsplib/gr17.tsp",
            "tsplib/ulysses16.tsp",
            "tsplib/att48.tsp",
        ],
        ..PROBLEM_FILE
    },
    Reader {
        name: "cvrplib",
        extension: "vrp",
        published: &["cvrp/E-n13-k4.vrp", "cvrp/P-n16-k8.vrp"],
        ..PROBLEM_FILE
    },
    Reader {
        name: "compressed",
        extension: "tsp",
        published: &[],
        content: Content::Binary,
        ..PROBLEM_FILE
    },
    Reader {
        name: "orlib",
        extension: "txt",
        published: &[],
        content: Content::Text,
        read: knapsacks,
        slow_reading: Some(slow_knapsacks),
        errors_name_the_file: true,
    },
    Reader {
        name: "mknap2",
        extension: "txt",
        published: &[],
        content: Content::Text,
        read: knapsacks,
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "model",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            examples: model_file::examples,
            with_matching_checksum: model_file::with_matching_checksum,
        },
        read: |path| {
            CostModel::load(path)
                .map(|model| model.metadata.method)
                .map_err(message)
        },
        slow_reading: None,
        errors_name_the_file: true,
    },
    Reader {
        name: "labels",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            examples: label_file::examples,
            with_matching_checksum: label_file::with_matching_checksum,
        },
        read: |path| label_file::read(&bytes(path)?),
        slow_reading: None,
        errors_name_the_file: false,
    },
    Reader {
        name: "checkpoint",
        extension: "safetensors",
        published: &[],
        content: Content::Checksummed {
            examples: checkpoint_file::examples,
            with_matching_checksum: checkpoint_file::with_matching_checksum,
        },
        read: |path| checkpoint_file::read(&bytes(path)?),
        slow_reading: None,
        errors_name_the_file: false,
    },
];

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn message(error: crate::Error) -> String {
    error.to_string()
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| error.to_string())
}

fn problem(path: &Path) -> Result<String, String> {
    Problem::from_file(path)
        .map(|problem| problem.name())
        .map_err(message)
}

fn csv_wide(path: &Path) -> Result<String, String> {
    let columns = WideColumns {
        costs: vec!["cost*".into()],
        ..WideColumns::default()
    };
    csv::read(path, &Layout::Wide(columns), CsvDialect::default())
        .map(|data| costs(&data))
        .map_err(message)
}

fn csv_long(path: &Path) -> Result<String, String> {
    let columns = LongColumns {
        item: Some("item".into()),
        ..LongColumns::default()
    };
    csv::read(path, &Layout::Long(columns), CsvDialect::default())
        .map(|data| costs(&data))
        .map_err(message)
}

/// The arcs of a network.
fn csv_arcs(path: &Path) -> Result<String, String> {
    let columns = csv::ArcColumns {
        from: "from".into(),
        to: "to".into(),
        name: Some("name".into()),
        numbers: vec!["capacity".into()],
    };
    let rows = csv::read_arcs(path, &columns, CsvDialect::default(), "arc").map_err(message)?;
    assert_eq!(rows.ends.len(), rows.numbers[0].len());
    assert!(rows.ends.iter().flatten().all(|node| !node.is_empty()));
    assert!(!rows.numbers[0].iter().any(|number| number.is_nan()));
    Ok(format!("{:?}", rows.ends))
}

/// A wide table with row parameters, in which costs may be absent.
fn csv_parameters(path: &Path) -> Result<String, String> {
    let layout = Layout::Wide(WideColumns {
        costs: vec!["cost*".into()],
        ..WideColumns::default()
    });
    let asked = [parameter("capacity", 1), parameter("w_*", 2)];
    let data = csv_with_absent_costs(path, layout, &asked)?;
    let parameters = data.parameters().ok_or("no parameters")?;
    assert_eq!(
        (parameters.rows(), parameters.names().count()),
        (data.len(), 3)
    );
    let bound = parameters.bind(&asked).map_err(message)?;
    let mut numbers = Vec::new();
    for row in 0..data.len() {
        bound.read(row, &mut numbers);
        assert!(numbers.iter().all(|number| !number.is_nan()));
    }
    Ok(format!("{} {numbers:?}", costs(&data)))
}

/// A long table whose instances may have different items.
fn csv_different_items(path: &Path) -> Result<String, String> {
    let layout = Layout::Long(LongColumns {
        item: Some("item".into()),
        ..LongColumns::default()
    });
    let asked = [parameter("weight", 0), parameter("budget", 1)];
    let data = csv_with_absent_costs(path, layout, &asked)?;
    let parameters = data.parameters().ok_or("no parameters")?;
    let items = data.costs().cols();
    let present = parameter(RowParameters::PRESENT_ITEMS, items);
    let Ok(bound) = parameters.bind(&[present]) else {
        return Ok(costs(&data));
    };
    let num_features = data.features().names().len();
    if num_features == 0 {
        // A gap: features are made of the raw columns when rows are divided.
        let rows: Vec<usize> = (0..data.len()).collect();
        return data
            .encoded(&rows)
            .map(|data| costs(&data))
            .map_err(message);
    }
    let mut exists = Vec::new();
    for row in 0..data.len() {
        bound.read(row, &mut exists);
        assert!(exists.contains(&1.0), "every instance has an item");
        let features = data.features().instance(row).chunks(num_features);
        for (item, features) in features.enumerate() {
            let is_absent = exists[item] == 0.0;
            if parameters.name_items() {
                assert_eq!(is_absent, parameters.item_name(row, item).is_none());
            } else {
                // Slots are items, which have the names of costs.
                assert!(!is_absent || data.cost_names().are_explicit());
            }
            let is_empty = data.costs().row(row)[item] == 0.0 && features.iter().all(|x| *x == 0.0);
            assert!(!is_absent || is_empty, "an absent item has no numbers");
        }
    }
    Ok(costs(&data))
}

fn parameter(pattern: &str, count: usize) -> ParameterColumns {
    ParameterColumns {
        pattern: pattern.into(),
        count,
        names: None,
    }
}

/// Reads a table whose instances may have different items and lack costs.
fn csv_with_absent_costs(
    path: &Path,
    layout: Layout,
    parameters: &[ParameterColumns],
) -> Result<Dataset, String> {
    let source = TableSource::Csv {
        file: path.to_path_buf(),
        layout,
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let columns = ProblemColumns {
        parameters,
        may_have_absent_costs: true,
        items_may_differ: true,
        ..ProblemColumns::default()
    };
    source.read_columns(&columns).map_err(message)
}

/// A table with semicolons and decimal commas, split by its dates.
fn csv_dialect(path: &Path) -> Result<String, String> {
    let source = TableSource::Csv {
        file: path.to_path_buf(),
        layout: Layout::Wide(WideColumns {
            costs: vec!["cost*".into()],
            ..WideColumns::default()
        }),
        dialect: CsvDialect::new(";", ",").map_err(message)?,
        parameters: Vec::new(),
    };
    let data = source.read().map_err(message)?;
    let unused = source.unused_columns(&data).map_err(message)?;
    let split = source
        .split(&Split::by_time("date"), data.len())
        .map_err(message)?;
    let rows: usize = split.counts().iter().sum();
    assert_eq!(rows, data.len(), "every row is in one part");
    Ok(format!("{} {split} {unused:?}", costs(&data)))
}

fn settings(path: &Path) -> Result<String, String> {
    let text = String::from_utf8(bytes(path)?).map_err(|error| error.to_string())?;
    let settings: TrainingSettings = toml::from_str(&text).map_err(|error| error.to_string())?;
    let split = SplitIndices::in_order(100, [60, 20, 20]).map_err(|error| error.to_string())?;
    settings
        .check(&split)
        .map(|()| format!("{settings:?}"))
        .map_err(message)
}

/// The costs of a table, row by row.
fn costs(data: &Dataset) -> String {
    let costs = data.costs();
    let rows = (0..costs.rows()).map(|row| costs.row(row).to_vec());
    format!("{:?}", rows.collect::<Vec<Vec<f32>>>())
}

/// The columns whose names begin with `cost`, each cell parsed by the standard library.
fn slow_csv_wide(bytes: &[u8]) -> Option<String> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader = ::csv::Reader::from_reader(text);
    let header = reader.headers().ok()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.ok()?;
        let mut row = Vec::new();
        for (name, cell) in header.iter().zip(&record) {
            if name.trim().starts_with("cost") {
                row.push(cell.trim().parse::<f64>().ok()? as f32);
            }
        }
        rows.push(row);
    }
    Some(format!("{rows:?}"))
}

/// The array as the crate `npyz` reads it, for numbers in double or single precision in C order.
fn slow_npy(bytes: &[u8]) -> Option<String> {
    let file = npyz::NpyFile::new(bytes).ok()?;
    let [rows, cols] = file.shape()[..] else {
        return None;
    };
    if file.order() != npyz::Order::C {
        return None;
    }
    let values: Vec<f32> = file.into_vec().ok()?;
    let cols = usize::try_from(cols).ok()?;
    let rows = (0..usize::try_from(rows).ok()?).map(|row| values[row * cols..][..cols].to_vec());
    Some(format!("{:?}", rows.collect::<Vec<Vec<f32>>>()))
}

fn knapsacks(path: &Path) -> Result<String, String> {
    let knapsacks = orlib::read(path).map_err(|error| error.to_string())?;
    let numbers = knapsacks.iter().flat_map(|knapsack| {
        let size = [knapsack.values.len(), knapsack.weights.len()].map(|number| number as f64);
        let best_known = knapsack.best_known.unwrap_or(0.0);
        let weights = knapsack.weights.iter().flatten();
        (size.into_iter().chain([best_known]))
            .chain(knapsack.values.iter().copied())
            .chain(weights.copied())
            .chain(knapsack.capacity.iter().copied())
            .map(|number| number + 0.0)
            .collect::<Vec<f64>>()
    });
    Ok(format!("{:?}", numbers.collect::<Vec<f64>>()))
}

/// All numbers of the text after the first, which is the number of problems.
fn slow_knapsacks(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    if orlib::looks_annotated(text) {
        return None;
    }
    let words = text.split_whitespace().skip(1);
    // Adding zero makes -0 the same as 0, which is how an unknown optimum is written.
    let number = |word: &str| word.parse::<f64>().ok().map(|number| number + 0.0);
    let numbers: Option<Vec<f64>> = words.map(number).collect();
    Some(format!("{:?}", numbers?))
}

impl Reader {
    /// The files that mutants are made of.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        let mut paths: Vec<PathBuf> = (self.published.iter())
            .map(|path| testdata.join(path))
            .collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/fuzz/corpus");
        if let Ok(entries) = std::fs::read_dir(folder.join(self.name)) {
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        }
        paths.sort();
        let files = paths.iter().map(|path| std::fs::read(path).unwrap());
        let mut corpus: Vec<Vec<u8>> = files.collect();
        if let Content::Checksummed { examples, .. } = self.content {
            corpus.extend(examples());
        }
        assert!(!corpus.is_empty(), "{}: the corpus is empty", self.name);
        corpus
    }
}
