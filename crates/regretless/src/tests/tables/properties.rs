//! Property tests: tables of arbitrary finite numbers are read back bit for bit; arbitrary bytes
//! are a table or an error.

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert_eq, proptest};
use regretless::data::{CsvDialect, Dataset, FeatureShape, Features, Matrix, csv, npy};

use super::arrays::{npy_file, npy_header};
use super::{Folder, assert_same, long, wide};

fn finite() -> impl Strategy<Value = f32> {
    any::<u32>()
        .prop_map(f32::from_bits)
        .prop_filter("finite", |value| value.is_finite())
}

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    prop::collection::vec(finite(), rows * cols)
        .prop_map(move |values| Matrix::new(rows, cols, values).unwrap())
}

/// Wide and long tables.
fn tables() -> impl Strategy<Value = Dataset> {
    (1_usize..5, 1_usize..5, 1_usize..4, any::<bool>()).prop_flat_map(
        |(instances, items, num_features, is_long)| {
            let (rows, shape) = if is_long {
                (instances * items, FeatureShape::Long { items })
            } else {
                (instances, FeatureShape::Wide)
            };
            (matrix(rows, num_features), matrix(instances, items)).prop_map(
                move |(values, costs)| {
                    Dataset::new(Features::new(values, shape, None).unwrap(), costs, None).unwrap()
                },
            )
        },
    )
}

/// Text of the characters that occur in an NPY header, in any order.
fn header_text() -> impl Strategy<Value = String> {
    let characters: Vec<char> = "{}()[],:'abcdefghijklmnopqrstuvwxyz0123456789 \\"
        .chars()
        .collect();
    prop::collection::vec(prop::sample::select(characters), 0..=60)
        .prop_map(|text| text.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_are_read_back_bit_for_bit(data in tables()) {
        let folder = Folder::new();
        csv::write(&folder.path("t.csv"), &data, false).unwrap();
        let layout = match data.features().shape() {
            FeatureShape::Wide => wide(&["x*"], &["c*"], &[]),
            FeatureShape::Long { .. } => long(Some("item")),
        };
        let read_back = csv::read(&folder.path("t.csv"), &layout, CsvDialect::default()).unwrap();
        assert_same(&read_back, &data);
        npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
        assert_same(&npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap(), &data);
    }

    #[test]
    fn arbitrary_bytes_are_a_table_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        header in header_text(),
    ) {
        let folder = Folder::new();
        let text = [b"x,item,instance,cost\n", &bytes[..]].concat();
        for layout in [wide(&[], &["cost"], &[]), long(Some("item")), long(None)] {
            let _ = folder.csv(&text, &layout);
            let _ = folder.csv(&bytes, &layout);
        }
        let file = npy_file(&header, &bytes);
        prop_assert_eq!(npy::read_features(&folder.file("x.npy", &file), None).is_ok(), false);
        let file = npy_file(&npy_header("<f4", "False", &header), &bytes);
        let _ = npy::read_features(&folder.file("x.npy", &file), None);
    }

    #[test]
    fn the_row_in_an_error_is_its_line_in_the_file(
        empty_line_counts in prop::collection::vec(0_usize..3, 1..6),
    ) {
        let folder = Folder::new();
        let mut text = "note,x,c\n".to_string();
        for count in &empty_line_counts {
            text += &"\n".repeat(*count);
            text += "\"a \"\"b\"\", c\",1,2\n";
        }
        let row = text.lines().count() + 1;
        let message = folder.csv(text + "n,1,bad\n", &wide(&["x"], &["c"], &[])).unwrap_err();
        prop_assert_eq!(message.split(':').next().unwrap(), format!("t.csv, row {row}, column c"));
    }
}
