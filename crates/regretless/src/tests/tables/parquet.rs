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

/// The bytes of a Parquet file in front of its footer, and the footer.
fn pages_and_footer(file: &[u8]) -> (&[u8], &[u8]) {
    let (content, tail) = file.split_last_chunk::<8>().unwrap();
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    content.split_at(content.len() - length)
}

/// Reads a file with this footer; the error names the file.
fn read_crafted(pages: &[u8], footer: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crafted.parquet");
    let length = (footer.len() as u32).to_le_bytes();
    fs::write(&file, [pages, footer, &length, b"PAR1"].concat()).unwrap();
    let costs = layout(&["visitors", "share"]);
    let read = csv::read(&file, &costs, CsvDialect::default());
    read.map(|_| ()).map_err(|error| {
        let message = error.to_string();
        assert!(message.contains("crafted.parquet"), "{message}");
        message
    })
}

/// Why a file with this footer is refused.
fn refusal(pages: &[u8], footer: &[u8]) -> String {
    read_crafted(pages, footer).unwrap_err()
}

/// An integer in the footer: seven bits per byte, the lowest first.
fn unsigned(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A footer with another field in front of the others, as the decoder skips it: `value` has the
/// type of this code. The first field of a footer is an integer; it gets its number again.
fn with_unknown_field(footer: &[u8], code: u8, value: &[u8]) -> Vec<u8> {
    assert_eq!(footer[0], 0x15);
    let field = [&[code][..], &unsigned(2 * 100), value].concat();
    [&field, &[0x05, 2][..], &footer[1..]].concat()
}

/// The decoder skips lists of booleans, and maps of them, without reading a byte for each.
#[test]
fn a_footer_that_states_more_elements_than_bytes_is_refused_at_once() {
    let bytes = fs::read(table(PARQUET_FILES[0])).unwrap();
    let (pages, footer) = pages_and_footer(&bytes);
    let huge = unsigned(i32::MAX as u64);
    let hundred = |code: u8, element: &[u8]| [&[0xf0 | code, 100], &*element.repeat(100)].concat();
    let booleans = hundred(9, &[&[0xf1], &*huge].concat());
    let maps = hundred(11, &[&*huge, &[0x11]].concat());
    let nested = [0x19; 100];
    for (code, value) in [
        (9, &booleans[..]),
        (9, &maps),
        (11, &maps[2..]),
        (9, &nested),
    ] {
        let message = refusal(pages, &with_unknown_field(footer, code, value));
        assert!(message.contains("its metadata"), "{message}");
    }
    // A field that the format may get in the future is no reason to refuse a file.
    let list = [0x25, 1, 2];
    let read = |footer: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("newer.parquet");
        let length = (footer.len() as u32).to_le_bytes();
        fs::write(&file, [pages, footer, &length, b"PAR1"].concat()).unwrap();
        csv::read(&file, &layout(&["visitors"]), CsvDialect::default()).unwrap()
    };
    assert_eq!(
        read(&with_unknown_field(footer, 9, &list)),
        read(footer),
        "an unknown field"
    );
}

/// The lowest bit of an integer in the footer is its sign: every byte of the footer gets it. The
/// decoder panics at a negative offset ("column start and length should not be negative").
#[test]
fn a_footer_with_a_negative_offset_is_refused() {
    let mut refused = 0;
    for name in PARQUET_FILES {
        let bytes = fs::read(table(name)).unwrap();
        let (pages, footer) = pages_and_footer(&bytes);
        for place in 0..footer.len() {
            let mut damaged = footer.to_vec();
            damaged[place] |= 1;
            let message = read_crafted(pages, &damaged).err().unwrap_or_default();
            refused += usize::from(message.contains("a column has a negative place or size"));
        }
    }
    assert!(refused >= 80, "{refused}");
}

/// The list of columns begins with the table itself, whose fifth field is their number.
#[test]
fn a_schema_that_states_more_columns_than_it_has_is_refused() {
    let bytes = fs::read(table(PARQUET_FILES[1])).unwrap();
    let (pages, footer) = pages_and_footer(&bytes);
    let children = footer
        .windows(6)
        .position(|bytes| bytes == b"schema")
        .unwrap()
        + 6;
    assert_eq!(footer[children..children + 2], [0x15, 2 * 10]);
    for (columns, expected) in [(11, "Index out of bound"), (1 << 40, "number of columns")] {
        let stated = unsigned(2 * columns);
        let footer = [&footer[..=children], &stated, &footer[children + 2..]].concat();
        let message = refusal(pages, &footer);
        assert!(message.contains(expected), "{message}");
    }
    let footer = [
        &footer[..=children],
        &unsigned(2 << 30),
        &footer[children + 2..],
    ]
    .concat();
    assert!(refusal(pages, &footer).contains("fewer columns than it states"));
}
