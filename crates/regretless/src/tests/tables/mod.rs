//! Tables are read back bit for bit as they were written, and errors name the position of invalid
//! input.

mod arrays;
mod bad_csv;
mod different_items;
mod encoding;
mod energy;
mod good_csv;
mod housing;
mod larger_than_memory;
#[cfg(feature = "parquet")]
mod parquet;
mod properties;
mod row_parameters;

use std::fs;
use std::path::PathBuf;

use regretless::Error;
use regretless::data::{
    CsvDialect, Dataset, FeatureShape, Features, Layout, LongColumns, Matrix, WideColumns, csv,
};
use tempfile::TempDir;

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

fn wide(features: &[&str], costs: &[&str], ignore: &[&str]) -> Layout {
    Layout::Wide(WideColumns {
        features: strings(features),
        costs: strings(costs),
        ignore: strings(ignore),
        ..WideColumns::default()
    })
}

fn long(item: Option<&str>) -> Layout {
    Layout::Long(LongColumns {
        item: item.map(String::from),
        ..LongColumns::default()
    })
}

/// A temporary folder for the files of a test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// The message of an error, without the path of the folder.
    fn message(&self, error: &Error) -> String {
        error
            .to_string()
            .replace(&format!("{}/", self.0.path().display()), "")
    }

    fn csv(&self, content: impl AsRef<[u8]>, layout: &Layout) -> Result<Dataset, String> {
        csv::read(&self.file("t.csv", content), layout, CsvDialect::default())
            .map_err(|error| self.message(&error))
    }
}

fn bits(matrix: &Matrix) -> Vec<u32> {
    matrix
        .as_slice()
        .iter()
        .map(|value| value.to_bits())
        .collect()
}

fn assert_same(left: &Dataset, right: &Dataset) {
    assert_eq!(left, right);
    assert_eq!(
        bits(left.features().values()),
        bits(right.features().values())
    );
    assert_eq!(bits(left.costs()), bits(right.costs()));
}

/// Numbers that are hard to write and read without a change.
const HARD_NUMBERS: [f32; 12] = [
    0.1,
    -0.0,
    1e-45,
    f32::MAX,
    f32::MIN,
    1e30,
    16_777_217.0,
    -1.0,
    3.0,
    0.0,
    f32::MIN_POSITIVE,
    1.0 / 3.0,
];

fn wide_data() -> Dataset {
    let features = Features::new(
        Matrix::new(2, 3, HARD_NUMBERS[..6].to_vec()).unwrap(),
        FeatureShape::Wide,
        None,
    )
    .unwrap();
    Dataset::new(
        features,
        Matrix::new(2, 2, HARD_NUMBERS[6..10].to_vec()).unwrap(),
        None,
    )
    .unwrap()
}

fn long_data() -> Dataset {
    let values = Matrix::new(6, 2, HARD_NUMBERS.to_vec()).unwrap();
    let features = Features::new(
        values,
        FeatureShape::Long { items: 3 },
        Some(strings(&["rooms", "age"])),
    )
    .unwrap();
    Dataset::new(
        features,
        Matrix::new(2, 3, HARD_NUMBERS[3..9].to_vec()).unwrap(),
        Some(strings(&["a", "b", "c, d"]).into()),
    )
    .unwrap()
}
