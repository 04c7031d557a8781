//! Parquet files are read as the CSV file with the same content; damaged ones are refused.

use std::fs;
use std::path::{Path, PathBuf};

use regretless::data::{CsvDialect, Layout, TableSource, WideColumns};

use crate::data::csv;
use crate::tests::common::reference_data;

fn table(name: &str) -> PathBuf {
    reference_data().join("tables").join(name)
}

fn layout(features: &[&str]) -> Layout {
    let columns = WideColumns {
        features: features.iter().map(|name| (*name).to_owned()).collect(),
        costs: vec!["c*".into()],
        ..WideColumns::default()
    };
    Layout::Wide(columns)
}

/// Written by polars with zstd in row groups of 50, and by pyarrow with snappy, text in
/// dictionaries and times in nanoseconds.
const PARQUET_FILES: [&str; 2] = ["shops-zstd.parquet", "shops-snappy.parquet"];

#[test]
fn parquet_files_have_the_cells_of_the_csv_file() {
    let dialect = CsvDialect::default();
    let numbers = layout(&["visitors", "share"]);
    let expected = csv::read(&table("shops.csv"), &numbers, dialect).unwrap();
    for name in PARQUET_FILES {
        let file = table(name);
        assert_eq!(
            csv::read(&file, &numbers, dialect).unwrap(),
            expected,
            "{name}"
        );
        for column in ["day", "at", "shop", "temperature", "open"] {
            let [found, wanted] = [&file, &table("shops.csv")].map(|file| {
                csv::read_keys(file, &numbers, Some(column), dialect)
                    .unwrap()
                    .unwrap()
                    .values()
                    .to_vec()
            });
            assert_eq!(found.len(), wanted.len(), "{name}, {column}");
            for (found, wanted) in found.iter().zip(&wanted) {
                let same_number = found.parse::<f64>().ok() == wanted.parse().ok();
                assert!(
                    found == wanted || same_number && !found.is_empty(),
                    "{found} {wanted}"
                );
            }
        }
    }
}

#[test]
fn errors_in_parquet_files_have_row_and_column() {
    let source = TableSource::Csv {
        file: table(PARQUET_FILES[0]),
        layout: layout(&["shop", "visitors", "missing"]),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let message = source.read().unwrap_err().to_string();
    assert!(message.contains("missing"), "{message}");
    let absent = Path::new("absent.parquet");
    assert!(csv::read(absent, &layout(&[]), CsvDialect::default()).is_err());
}

/// Any change of a byte gives an error or other cells, never a panic.
#[test]
fn damaged_parquet_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("damaged.parquet");
    let mut refused = 0;
    for name in PARQUET_FILES {
        let bytes = fs::read(table(name)).unwrap();
        for step in 0..600_usize {
            let mut damaged = bytes.clone();
            let at = step * 7919 % bytes.len();
            damaged[at] ^= 1 << (step % 8);
            if step % 10 == 0 {
                damaged.truncate(at);
            }
            fs::write(&file, &damaged).unwrap();
            let read = csv::read(
                &file,
                &layout(&["visitors", "share"]),
                CsvDialect::default(),
            );
            refused += usize::from(read.is_err());
        }
    }
    assert!(refused > 200, "only {refused} of 1200 were refused");
}
