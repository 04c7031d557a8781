//! Valid CSV tables, their keys, and writing of predictions.

use std::fs;

use regretless::Error;
use regretless::data::csv;
use regretless::data::{
    CostNames, CsvDialect, Dataset, FeatureShape, Features, Layout, LongColumns, Matrix,
    TableSource, WideColumns, npy,
};

use super::{Folder, assert_same, bits, long, long_data, strings, wide, wide_data};
use crate::tests::common::reference_data;

#[test]
fn a_wide_table_is_read_back_bit_for_bit_from_csv_and_npy() {
    let (folder, data) = (Folder::new(), wide_data());
    csv::write(&folder.path("t.csv"), &data, false).unwrap();
    let read_back = csv::read(
        &folder.path("t.csv"),
        &wide(&["x*"], &["c*"], &[]),
        CsvDialect::default(),
    )
    .unwrap();
    assert_same(&read_back, &data);
    npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
    assert_same(
        &npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap(),
        &read_back,
    );
}

#[test]
fn a_long_table_is_read_back_bit_for_bit_from_csv_and_npy() {
    let (folder, data) = (Folder::new(), long_data());
    csv::write(&folder.path("t.csv"), &data, false).unwrap();
    assert_same(
        &csv::read(
            &folder.path("t.csv"),
            &long(Some("item")),
            CsvDialect::default(),
        )
        .unwrap(),
        &data,
    );
    npy::write(&folder.path("x.npy"), &folder.path("c.npy"), &data, false).unwrap();
    let read_back = npy::read(&folder.path("x.npy"), &folder.path("c.npy")).unwrap();
    assert_eq!(
        read_back.features().shape(),
        FeatureShape::Long { items: 3 }
    );
    assert_eq!(
        bits(read_back.features().values()),
        bits(data.features().values())
    );
    assert_eq!(bits(read_back.costs()), bits(data.costs()));
}

#[test]
fn byte_order_marks_line_ends_quotes_and_spaces_make_no_difference() {
    let folder = Folder::new();
    let layout = wide(&[], &["c"], &[]);
    let plain = folder.csv("x,y,c\n1.5,2,3\n-4,5e1,6\n", &layout).unwrap();
    for equivalent in [
        "\u{feff}x,y,c\n1.5,2,3\n-4,5e1,6\n",
        "x,y,c\r\n1.5,2,3\r\n-4,5e1,6\r\n",
        "x,y,c\r1.5,2,3\r-4,5e1,6",
        "\"x\",\"y\",\"c\"\n\"1.5\",\"2\",\"3\"\n-4,\"5e1\",6",
        " x , y,c \n 1.5, 2 ,3\n\n -4 ,+50.0,6.\n\n",
    ] {
        assert_same(&folder.csv(equivalent, &layout).unwrap(), &plain);
    }
}

#[test]
fn remaining_columns_are_features() {
    let folder = Folder::new();
    let text = "date,id,x,price 1,price 2,y\n2024-01-01,7,1,2,3,4\n2024-01-02,8,5,6,7,8\n";
    let data = folder.csv(text, &wide(&[], &["price *"], &["id"])).unwrap();
    assert_eq!(data.features().column_names(), ["date", "x", "y"]);
    assert!(
        data.features().are_raw(),
        "dates are encoded by training rows"
    );
    let data = folder
        .csv(text, &wide(&[], &["price *"], &["id", "date"]))
        .unwrap();
    assert_eq!(data.features().names(), ["x", "y"]);
    assert_eq!(data.cost_names().to_vec(), ["price 1", "price 2"]);
    assert_eq!(data.features().values().as_slice(), [1.0, 4.0, 5.0, 8.0]);
    assert_eq!(data.costs().as_slice(), [2.0, 3.0, 6.0, 7.0]);
}

#[test]
fn listed_columns_are_in_the_order_of_the_list_without_duplicates() {
    let folder = Folder::new();
    let layout = wide(&["y", "x*", "y"], &["c2", "c*"], &["x9"]);
    let data = folder
        .csv("c1,x2,x9,c2,y,x1\n1,2,3,4,5,6\n", &layout)
        .unwrap();
    assert_eq!(data.features().names(), ["y", "x2", "x1"]);
    assert_eq!(data.costs().as_slice(), [4.0, 1.0]);
}

#[test]
fn two_files_make_one_table() {
    let folder = Folder::new();
    let (features, costs) = (
        folder.file("x.csv", "day,x\nmon,1\ntue,2\n"),
        folder.file("c.csv", "a,b\n3,4\n5,6\n"),
    );
    let source = TableSource::CsvPair {
        features,
        costs: costs.clone(),
        columns: WideColumns::default(),
        dialect: CsvDialect::default(),
        parameters: Vec::new(),
    };
    let data = source.read().unwrap();
    assert_eq!(
        (data.features().column_names(), data.cost_names().to_vec()),
        (strings(&["day", "x"]), strings(&["a", "b"]))
    );
    assert_eq!(data.costs().as_slice(), [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(source.costs_file(), costs);
    folder.file("c.csv", "a,b\n3,4\n");
    let message =
        "c.csv: 1 rows of costs, but x.csv has 2 rows of features; each row is one instance";
    assert_eq!(folder.message(&source.read().unwrap_err()), message);
}

#[test]
fn rows_of_a_long_table_with_items_may_have_any_order() {
    let folder = Folder::new();
    let sorted = folder
        .csv(
            "instance,item,x,cost\nu,b,1,2\nu,a,3,4\nv,b,5,6\nv,a,7,8\n",
            &long(Some("item")),
        )
        .unwrap();
    assert_eq!(sorted.cost_names().to_vec(), ["b", "a"]);
    assert_eq!(sorted.features().values().as_slice(), [1.0, 3.0, 5.0, 7.0]);
    let mixed = folder
        .csv(
            "instance,item,x,cost\nu,b,1,2\nv,a,7,8\nu,a,3,4\nv,b,5,6\n",
            &long(Some("item")),
        )
        .unwrap();
    assert_same(&mixed, &sorted);
}

#[test]
fn items_can_be_read_in_the_order_of_a_model() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "instance,item,x\nu,b,1\nu,a,3\n");
    let columns = LongColumns {
        item: Some("item".into()),
        items: strings(&["a", "b"]),
        ..LongColumns::default()
    };
    let features = csv::read_features(
        &path,
        &Layout::Long(columns),
        &strings(&["x"]),
        CsvDialect::default(),
    )
    .unwrap();
    assert_eq!(features.values().as_slice(), [3.0, 1.0]);
    assert_eq!(features.shape(), FeatureShape::Long { items: 2 });
}

#[test]
fn without_an_item_column_items_have_the_order_of_the_rows() {
    let folder = Folder::new();
    let data = folder
        .csv("cost,instance,x\n1,7,2\n3,7,4\n5,6,6\n7,6,8\n", &long(None))
        .unwrap();
    assert_eq!(data.costs().as_slice(), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(data.features().names(), ["x"]);
}

#[test]
fn features_are_read_by_name_in_the_order_of_the_model() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "note,b,a,extra\nhello,1,2,3\nworld,4,5,6\n");
    let layout = wide(&[], &[], &[]);
    let features =
        csv::read_features(&path, &layout, &strings(&["a", "b"]), CsvDialect::default()).unwrap();
    assert_eq!(features.values().as_slice(), [2.0, 1.0, 5.0, 4.0]);
    let error = csv::read_features(&path, &layout, &strings(&["a", "z"]), CsvDialect::default())
        .unwrap_err();
    let message =
        "t.csv, row 1, column z: there is no such column; the file has: note, b, a, extra";
    assert_eq!(folder.message(&error), message);
}

#[test]
fn predictions_are_written_with_the_names_of_the_costs() {
    let folder = Folder::new();
    let names = CostNames::from(strings(&["a", "b, c"]));
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let costs = Matrix::new(2, 2, vec![0.1, 2.0, -3.5, 1e-9]).unwrap();
    csv::write_predictions(&folder.path("p.csv"), &names, &costs, false).unwrap();
    assert_eq!(read("p.csv"), "a,\"b, c\"\n0.1,2\n-3.5,1e-9\n");
    assert!(
        csv::write_predictions(&folder.path("n"), &CostNames::numbered(1), &costs, false).is_err()
    );
    assert!(!folder.path("n").exists());
}

#[test]
fn names_that_look_like_formulas_stay_in_predictions() {
    let folder = Folder::new();
    let names = CostNames::from(strings(&["=1+2", "-1.5"]));
    let costs = Matrix::new(1, 2, vec![1.0, 2.0]).unwrap();
    csv::write_predictions(&folder.path("p.csv"), &names, &costs, false).unwrap();
    assert_eq!(
        fs::read_to_string(folder.path("p.csv")).unwrap(),
        "=1+2,-1.5\n1,2\n",
        "predictions are read back by their names"
    );
}

#[test]
fn keys_are_the_cells_of_a_column_or_the_instances_of_a_long_table() {
    let folder = Folder::new();
    let path = folder.file("w.csv", "date,x\n2026-01-02,1\n\"a, b\",2\n2026-01-02,3\n");
    let layout = wide(&["x"], &[], &[]);
    assert_eq!(
        csv::read_keys(&path, &layout, None, CsvDialect::default()).unwrap(),
        None
    );
    let keys = csv::read_keys(&path, &layout, Some("date"), CsvDialect::default())
        .unwrap()
        .unwrap();
    assert_eq!(keys.name(), "date");
    assert_eq!(keys.values(), ["2026-01-02", "a, b", "2026-01-02"]);
    assert_eq!(keys.first_duplicate(), Some(("2026-01-02", 2)));
    let error = csv::read_keys(&path, &layout, Some("day"), CsvDialect::default()).unwrap_err();
    assert!(error.to_string().contains("no such column"), "{error}");

    let text = "day,item,week,x\nmo,a,1,1\ntu,a,1,2\nmo,b,1,3\ntu,b,1,4\n";
    let path = folder.file("l.csv", text);
    let layout = Layout::Long(LongColumns {
        instance: "day".into(),
        item: Some("item".into()),
        ..LongColumns::default()
    });
    let keys = csv::read_keys(&path, &layout, None, CsvDialect::default())
        .unwrap()
        .unwrap();
    assert_eq!(
        (keys.name(), keys.values()),
        ("day", &strings(&["mo", "tu"])[..])
    );
    let keys = csv::read_keys(&path, &layout, Some("week"), CsvDialect::default())
        .unwrap()
        .unwrap();
    assert_eq!(keys.values(), ["1", "1"]);
    let error = csv::read_keys(&path, &layout, Some("x"), CsvDialect::default()).unwrap_err();
    assert_eq!(
        folder.message(&error),
        "l.csv, row 4, column x: instance 'mo' has the keys '1' and '3'; all its rows need the same"
    );
}

#[test]
fn an_existing_file_is_not_overwritten_and_nothing_is_written() {
    let (folder, data) = (Folder::new(), wide_data());
    let existing = folder.file("c.npy", "mine");
    let absent = folder.path("x.npy");
    let result = npy::write(&absent, &existing, &data, false);
    assert!(matches!(result, Err(Error::Exists(path)) if path == existing));
    assert!(!absent.exists());
    assert!(matches!(
        csv::write(&existing, &data, false),
        Err(Error::Exists(_))
    ));
    assert_eq!(fs::read(&existing).unwrap(), b"mine");
    npy::write(&absent, &existing, &data, true).unwrap();
    assert_same(&npy::read(&absent, &existing).unwrap(), &data);
}

#[test]
fn a_table_with_two_columns_of_the_same_name_is_not_written() {
    let folder = Folder::new();
    let features = Features::new(
        Matrix::zeros(1, 1),
        FeatureShape::Wide,
        Some(strings(&["c0"])),
    )
    .unwrap();
    let data = Dataset::new(features, Matrix::zeros(1, 1), None).unwrap();
    let error = csv::write(&folder.path("t.csv"), &data, false).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("two columns would be named 'c0'"),
        "{error}"
    );
}

#[test]
fn the_housing_table_is_read_as_published() {
    let folder = reference_data();
    let path = folder.join("california/cal_housing.csv");
    let data = csv::read(
        &path,
        &wide(&[], &["medianHouseValue"], &[]),
        CsvDialect::default(),
    )
    .unwrap();
    assert_eq!((data.len(), data.features().names().len()), (20_640, 8));
    assert_eq!(
        data.costs()
            .as_slice()
            .iter()
            .filter(|value| **value == 500_001.0)
            .count(),
        965
    );
    let column = data
        .features()
        .names()
        .iter()
        .position(|name| name == "population")
        .unwrap();
    let mean = (0..data.len())
        .map(|i| f64::from(data.features().values().row(i)[column]))
        .sum::<f64>()
        / 20_640.0;
    assert!((mean - 1_425.476_744).abs() < 1e-6, "{mean}");
}
